/* Private to asm: the state of one assembly and the pieces that work on it.
 *
 * One pass emits bytes; whatever depends on a symbol is kept as an expression tree in a fixup and evaluated when the text is
 * at its end, so sizes never depend on forward references. Tables are indexed, nothing holds pointers into a growing vector.
 */
#pragma once
#include "asm/asm.h"
#include "base/map.h"

enum {
    FRAMES_MAX = 64,                /* nesting of includes, macros and repeats */
    CONDITIONS_MAX = 64,            /* nesting of .if */
    EXPANSION_BYTES_MAX = 16 << 20, /* text produced by macros and repeats, in all */
    SOURCE_BYTES_MAX = 16 << 20,    /* one source text */
    OBJECT_BYTES_MAX = 1 << 20,     /* a tile has 624 KiB */
    SECTIONS_MAX = 1024,
    LISTED_LINES_MAX = 1 << 20,
    ORIGINS_MAX = 1 << 20,
    ALIGN_MAX = 1 << 16,
    EXPRESSION_NODES_MAX = 1024,
    EXPRESSION_DEPTH_MAX = 64,
    EVALUATION_DEPTH_MAX = 4096,
    EVALUATION_STEPS_MAX = 20000000,
    MACRO_PARAMETERS_MAX = 32,
    MACROS_MAX = 10000,
    SYMBOLS_MAX = 1 << 18, /* numeric labels included */
    NODES_MAX = 1 << 20,   /* of expressions that wait for their symbols */
};

/* Why a text other than the one handed in is read: an include, a macro, a repeat. */
typedef struct Origin {
    Str what, name; /* "macro", "each" */
    Str file;       /* where it was asked for */
    uint32_t line;
    int32_t outer; /* origin of that place */
    Str root_file; /* the place in the text handed in that led here */
    uint32_t root_line;
} Origin;
VEC(Origin);

/* Where a piece of text stands. */
typedef struct Place {
    Str file, source; /* source: the line's text */
    uint32_t line, column;
    int32_t origin; /* index of Asm.origins; 0: the text handed in */
} Place;

typedef enum StatementKind {
    STATEMENT_END,
    STATEMENT_TEXT,
    STATEMENT_OPEN,
    STATEMENT_CLOSE
} StatementKind;
typedef struct Statement {
    StatementKind kind;
    Str text;
    Place place;
} Statement;

/* A text being read: a file, a macro body, or a body repeated `repeat_left` more times. */
typedef struct Frame {
    Str text, original; /* without and with comments, of equal length */
    Str file, first_file;
    isize at, line_start;
    isize line_end, line_end_of; /* end of the line that starts at line_end_of */
    uint32_t line, first_line;
    int32_t origin;
    int64_t repeat_left;
    int condition_count; /* on entry; must be the same on exit */
} Frame;

typedef struct MacroParameter {
    Str name, value;
    bool is_required, is_rest;
} MacroParameter;
typedef struct Macro {
    Str name, body, file;
    uint32_t line; /* of the body's first line */
    MacroParameter parameter[MACRO_PARAMETERS_MAX];
    int parameter_count;
    bool is_purged;
} Macro;
VEC(Macro);

/* Expression tree node. op 0 = number; 'y' = symbol; otherwise the operator's character or a NODE_ code. */
enum {
    NODE_NUMBER = 0,
    NODE_SYMBOL = 'y',
    NODE_SHL = 1,
    NODE_SHR,
    NODE_LE,
    NODE_GE,
    NODE_EQ,
    NODE_NE,
    NODE_AND,
    NODE_OR,
    NODE_NEGATE,
    NODE_NOT,
    NODE_MODIFIED /* left with the relocation kind `number` */
};
typedef struct Node {
    uint8_t op;
    uint32_t column;
    int32_t left, right; /* symbol: left = its index */
    int64_t number;
} Node;
VEC(Node);

/* An evaluated expression: symbol + number, or a plain number when symbol < 0; with a modifier like @abs18@s2 the field that
 * relocation `kind` makes of it. */
typedef struct Value {
    int32_t symbol;
    int64_t number;
    RelocKind kind;
} Value;

/* What Symbol does not hold. */
typedef struct SymbolState {
    bool is_variable; /* .set: may be set again */
    bool is_read;     /* its value already went into a number */
    bool is_visiting;
    bool is_referenced;
    int32_t node; /* .set of something known later: the expression + 1 */
    Place place;  /* of the definition or first use */
} SymbolState;
VEC(SymbolState);

typedef enum ArgKind { ARG_REGISTER, ARG_EXPRESSION, ARG_NAME } ArgKind;
/* A parsed instruction operand. */
typedef struct Arg {
    ArgKind kind;
    char file;            /* register: 'm' or 'a' */
    uint8_t first, count; /* register: 1, 2 or 4 */
    char suffix[3], broadcast[3];
    int32_t node; /* expression */
    Str name;     /* $NAME that is no register */
    uint32_t column;
} Arg;

typedef enum Wanted { WANT_ANY, WANT_SIGNED, WANT_ZERO } Wanted;
/* A parsed instruction: candidates first..first+count-1, or one form. */
typedef struct Line {
    Str mnemonic;
    InsnCode first;
    int form_count;
    Wanted wanted;
    Arg arg[INSN_OPERANDS_MAX];
    int arg_count;
    InsnContext mode;
    Place place;
} Line;

typedef struct InsnFixup {
    Line line;
    int32_t section;
    uint32_t offset;
    bool is_coissued;
} InsnFixup;
VEC(InsnFixup);

typedef struct DataFixup {
    Place place;
    int32_t section, node;
    uint32_t offset;
    int bytes;
} DataFixup;
VEC(DataFixup);

/* .reloc and .size, evaluated when the text is complete. */
typedef struct RelocFixup {
    Place place;
    int32_t section, offset, node; /* offset, node: expressions */
    RelocKind kind;
} RelocFixup;
VEC(RelocFixup);

typedef struct SizeFixup {
    Place place;
    int32_t symbol, node;
} SizeFixup;
VEC(SizeFixup);

/* What the mode directives say about a rule (isa/assembler.md 2.1): .error_on_X, .warn_on_X, .allow_X. */
typedef enum Rule {
    RULE_OPERANDS,       /* the two destinations of a double load differ (isa/semantics.md 4.2) */
    RULE_BUNDLES,        /* the halves write no register in common (1.2) */
    RULE_EXECUTION_MODE, /* the instruction exists in the mode of the code */
    RULE_REPEAT,         /* a repeat body is aligned and made of bundles (3.1) */
    RULE_COUNT
} Rule;
typedef enum Strictness { RULE_IS_ERROR, RULE_IS_WARNING, RULE_IS_OFF } Strictness;

/* A repeat whose body is checked when the text is complete. */
typedef struct RepeatMark {
    Place place;
    int32_t section;
    uint32_t word, body; /* offsets */
    Strictness strictness;
} RepeatMark;
VEC(RepeatMark);

typedef struct Pending {
    int32_t symbol;
} Pending;
VEC(Pending);

typedef struct Condition {
    bool is_active, was_taken, is_parent_active, had_else;
} Condition;

typedef struct Asm {
    Arena *keep;
    Arena scratch;
    Error *err; /* of the statement or fixup being worked on; its message is recorded already */
    int error_count, warning_count;
    bool is_over; /* going on makes no sense */
    const AsmIncludes *includes;
    const IsaFlags *flags;
    bool has_listing;
    isize listed;        /* index + 1 of the listed line that bytes belong to */
    isize bundle_listed; /* the same for the open bundle */
    OriginVec origins;
    Str kept_file; /* file name of the last LineMark */
    Object *object;
    Frame frame[FRAMES_MAX];
    int frame_count;
    int64_t expanded_bytes, object_bytes;
    uint32_t macro_use_count;
    int evaluation_depth, evaluation_steps;
    Condition condition[CONDITIONS_MAX];
    int condition_count;
    StrMap symbol_index, macro_index, numeric_count; /* values + 1 */
    SymbolStateVec symbol_state;
    MacroVec macros;
    NodeVec nodes;
    isize nodes_kept; /* nodes below belong to fixups */
    InsnFixupVec insn_fixups;
    DataFixupVec data_fixups;
    RepeatMarkVec repeats;
    RelocFixupVec reloc_fixups;
    SizeFixupVec size_fixups;
    PendingVec pending;   /* labels at the end of their section: padding moves them */
    StrMap section_index; /* + 1 */
    int32_t section;
    Strictness strictness[RULE_COUNT];
    bool is_instruction; /* the statement is one: a failed one still takes its space */
    bool is_bundle_bad;
    bool has_mode, may_swap;
    InsnContext mode;
    bool in_bundle;
    Place bundle_place;
    Line bundle[2];
    int bundle_count;
    Place here; /* of the statement or fixup being worked on */
} Asm;

/* A position in the text of one statement. */
typedef struct Cursor {
    Str text;
    isize at;
    uint32_t column; /* of text[0], 1-based */
} Cursor;

/* message.c: records a message at as->here, in `column`, and returns false. One a statement. */
bool fail_at(Asm *as, uint32_t column, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same, and the rest of the text is not looked at. */
bool stop_at(Asm *as, uint32_t column, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A broken rule: true when the mode directives only want a warning, or nothing. */
bool rule_broken(Asm *as, Rule rule, uint32_t column, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* False for one that is there already, and when the list has its ASM_MESSAGES_MAX and one that says so. */
bool message_is_wanted(const AsmMessageVec *messages, const AsmMessage *message);
/* Adds a copy, if it is wanted. */
void message_add(AsmMessageVec *messages, AsmMessage message, Arena *keep);

/* The message as *err; returns false. */
bool message_error(const AsmMessage *message, Error *err);

/* text.c: scanning helpers shared by all. */
bool is_name_start(char c);
bool is_name_char(char c);
Cursor cursor_of(const Asm *as, Str text);
uint32_t cursor_column(const Cursor *cursor);
void cursor_skip(Cursor *cursor);
bool cursor_is_end(Cursor *cursor);
/* Consumes `c` (after blanks) if it is next. */
bool cursor_take(Cursor *cursor, char c);
/* A name, or an empty string when none is next. */
Str cursor_name(Cursor *cursor);
/* Nothing may follow. */
bool cursor_finish(Asm *as, Cursor *cursor);
/* Bits of the binary16 number nearest to `value`, ties to even. */
uint32_t half_of(double value);
/* Length of the floating-point literal at the cursor (digits, one point, exponent), 0 when there is none. */
isize float_literal(const Cursor *cursor, double *value);

/* source.c */
bool source_push(Asm *as, Str file, Str text);
bool source_push_macro(Asm *as, Macro *macro, Cursor *arguments);
bool source_push_repeat(Asm *as, int64_t count);
bool source_next(Asm *as, Statement *statement);
/* Reads the definition behind `.macro`. */
bool source_define_macro(Asm *as, Cursor *cursor);
/* `.irp name, value, ...`: the body once a value. */
bool source_push_values(Asm *as, Cursor *cursor);

/* expression.c */
/* Index of the node, or -1 after an error. */
int32_t expression_parse(Asm *as, Cursor *cursor);
int32_t expression_number(Asm *as, int64_t number);
int32_t expression_negate(Asm *as, int32_t node);
/* False without an error when it is not known yet and `is_final` is false. */
bool expression_value(Asm *as, int32_t node, bool is_final, Value *value);
/* A number that must be known here. */
bool expression_now(Asm *as, Cursor *cursor, const char *what, int64_t *number);
/* The field that the modifier of a plain number asks for; without modifier the number itself. */
bool expression_field(Asm *as, const Value *value, uint32_t column, int64_t *number);

/* object.c: the field that a relocation makes of a value; else false and what was expected. */
bool reloc_field(RelocKind kind, int64_t value, uint64_t *field, const char **expected);

/* symbols.c */
int32_t symbol_need(Asm *as, Str name);
/* -1 when never mentioned. */
int32_t symbol_find(const Asm *as, Str name);
bool symbol_define_label(Asm *as, Str name, uint32_t column);
/* `1:`; and the symbol meant by 1b / 1f. */
bool symbol_define_numeric(Asm *as, Str digits);
int32_t symbol_numeric(Asm *as, Str digits, bool is_forward);
bool symbol_set(Asm *as, Str name, int32_t node, uint32_t column);
/* An unnamed symbol at the current position, for `.`. */
int32_t symbol_here(Asm *as);
/* Enters a section; flags < 0: those that go with its name. */
bool section_select(Asm *as, Str name, int64_t flags);
uint32_t section_offset(const Asm *as);
bool section_append(Asm *as, const void *bytes, isize len);
bool section_align(Asm *as, uint32_t align, uint32_t fill);
/* The space of an instruction or bundle that could not be assembled. */
void section_stand_in(Asm *as, int bytes);
/* Puts one nop in front of what comes next and moves the labels that stand right here behind it. */
bool section_pad_nop(Asm *as);
uint32_t section_word(const Asm *as, int32_t section, uint32_t offset);
void section_set_word(const Asm *as, int32_t section, uint32_t offset, uint32_t word);
/* Drops the expressions of the statement just done (unless a fixup kept them). */
void nodes_release(Asm *as);
void nodes_keep(Asm *as);

/* operand.c */
bool operand_parse(Asm *as, Cursor *cursor, Arg *arg);

/* line.c: instructions. */
bool line_parse(Asm *as, Str mnemonic, Cursor *cursor);
bool line_finish_bundle(Asm *as);
bool line_fix(Asm *as, const InsnFixup *fixup);
bool repeat_check(Asm *as, const RepeatMark *mark);

/* select.c: from mnemonic and operands to a form. */
bool line_expand(Asm *as, Line *line);
/* First form that the registers of the line fit (immediates not looked at); INSN_NONE after an error. */
InsnCode line_form(Asm *as, const Line *line);
InsnCode line_find_form(const Line *line); /* the same, without an error */
/* Words of the line; *reloc gets kind and symbol when an operand is a symbol. False without an error when a symbol is not
 * known yet and `is_final` is false. */
bool line_words(Asm *as, const Line *line, bool is_coissued, bool is_final, uint32_t word[2],
                Reloc *reloc);
/* Rules that need only the registers: a double load has two destinations (isa/semantics.md 4.2). */
bool line_check(Asm *as, const Line *line);
/* Both halves of a bundle must not write one register (isa/semantics.md 1.2). */
bool bundle_check(Asm *as, const Line *main, const Line *aux);
/* A number as `bytes` little-endian bytes; and whether the modifier of an address is one for such a datum. */
bool data_bytes(Asm *as, const Value *value, int bytes, uint8_t *at);
bool data_kind(Asm *as, const Value *value, int bytes);

/* directive.c: `name` starts with a point. */
bool directive_run(Asm *as, Str name, Cursor *cursor);
/* Conditionals are looked at in inactive text too. *is_condition = it was one. */
bool condition_run(Asm *as, Str name, Cursor *cursor, bool *is_condition);
