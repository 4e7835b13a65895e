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
    SECTIONS_MAX = 64,
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

/* Where a piece of text stands; `outer_line` is the line of the file handed in that led to it (listings). */
typedef struct Place {
    Str file, macro; /* macro: name of the macro whose body the line is, or empty */
    uint32_t line, column, outer_line;
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
    Str text, file, macro;
    isize at, line_start;
    uint32_t line, first_line, outer_line;
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
    NODE_NOT
};
typedef struct Node {
    uint8_t op;
    uint32_t column;
    int32_t left, right; /* symbol: left = its index */
    int64_t number;
} Node;
VEC(Node);

/* An evaluated expression: symbol + number, or a plain number when symbol < 0. */
typedef struct Value {
    int32_t symbol;
    int64_t number;
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

/* A repeat whose body is checked when the text is complete. */
typedef struct RepeatMark {
    Place place;
    int32_t section;
    uint32_t word, body; /* offsets */
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
    Error *err;
    const AsmIncludes *includes;
    const IsaFlags *flags;
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
    PendingVec pending; /* labels at the end of their section: padding moves them */
    bool is_code[SECTIONS_MAX];
    int32_t section;
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

/* text.c: scanning helpers shared by all. */
bool fail_at(Asm *as, uint32_t column, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
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

/* expression.c */
/* Index of the node, or -1 after an error. */
int32_t expression_parse(Asm *as, Cursor *cursor);
int32_t expression_number(Asm *as, int64_t number);
int32_t expression_negate(Asm *as, int32_t node);
/* False without an error when it is not known yet and `is_final` is false. */
bool expression_value(Asm *as, int32_t node, bool is_final, Value *value);
/* A number that must be known here. */
bool expression_now(Asm *as, Cursor *cursor, const char *what, int64_t *number);

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
bool section_select(Asm *as, Str name, bool is_code);
uint32_t section_offset(const Asm *as);
bool section_append(Asm *as, const void *bytes, isize len);
bool section_align(Asm *as, uint32_t align, uint32_t fill);
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
/* Words of the line; *reloc gets kind and symbol when an operand is a symbol. False without an error when a symbol is not
 * known yet and `is_final` is false. */
bool line_words(Asm *as, const Line *line, bool is_coissued, bool is_final, uint32_t word[2],
                Reloc *reloc);
/* Both halves of a bundle must not write one register (isa/semantics.md 1.2). */
bool bundle_check(Asm *as, const Line *main, const Line *aux);
/* The rule behind it; of the operands only registers are looked at, `main_count` and all of the aux form. */
bool halves_conflict(const InsnForm *main_form, const Arg *main, int main_count,
                     const InsnForm *aux_form, const Arg *aux);

/* directive.c: `name` starts with a point. */
bool directive_run(Asm *as, Str name, Cursor *cursor);
/* Conditionals are looked at in inactive text too. *is_condition = it was one. */
bool condition_run(Asm *as, Str name, Cursor *cursor, bool *is_condition);
