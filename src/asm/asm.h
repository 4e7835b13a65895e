/* asm: assembly text <-> relocatable object, linking, listing, disassembler.
 * takes: source text        gives: Object (sections, symbols, relocations), bytes at an address, text
 * uses: base chip isa
 * never: the graph, the machine
 */
#pragma once
#include "base/error.h"
#include "base/span.h"
#include "base/str.h"
#include "base/writer.h"
#include "isa/isa.h"

/* Symbol.section besides the index of a section. */
enum { SYMBOL_ABSOLUTE = -1, SYMBOL_UNDEFINED = -2 };
typedef enum SymbolKind { SYMBOL_PLAIN, SYMBOL_OBJECT, SYMBOL_FUNCTION } SymbolKind;
typedef struct Symbol {
    Str name;
    int32_t section; /* index of Object.sections, or SYMBOL_ABSOLUTE, SYMBOL_UNDEFINED */
    uint32_t value;  /* offset in the section, or the value */
    uint32_t bytes;  /* of `.size`, 0 when not said */
    SymbolKind kind;
    bool is_global;
} Symbol;
VEC(Symbol);
/* A label of the text alone, in no symbol table: .L names, numeric labels, places of expressions. */
bool symbol_is_hidden(const Symbol *symbol);

/* Numbers of isa/assembler.md 3, as in ELF files. */
typedef enum RelocKind {
    RELOC_NONE = 0,
    RELOC_8 = 1,
    RELOC_16 = 2,
    RELOC_20 = 3,
    RELOC_32 = 4,
    RELOC_64 = 5,
    RELOC_RELATIVE_16_S2 = 6,
    RELOC_18_S2 = 7,
    RELOC_19_S2 = 8,
    RELOC_RUN_INSTR = 9,
    RELOC_RELATIVE_16_S3 = 14,
    RELOC_RELATIVE_16_S4 = 15,
    RELOC_RELATIVE_16_S5 = 16,
    RELOC_21 = 17,
    RELOC_KINDS
} RelocKind;
/* field = (S + A - (is_relative ? start of SRAM : 0)) >> shift, in `bits` low bits of `bytes` bytes; of RUN_INSTR bits 15:12
 * of the field are bits 19:16 of the word. */
typedef struct RelocShape {
    Str name; /* as `.reloc` takes it, e.g. "19_S2" */
    uint8_t bits, shift, bytes;
    bool is_relative;
} RelocShape;
/* NULL for numbers that are no kind; NONE has 0 bits. */
const RelocShape *reloc_shape(int64_t kind);

typedef struct Reloc {
    int32_t section;
    uint32_t offset; /* of the word or datum */
    RelocKind kind;
    int32_t symbol; /* index of Object.symbols */
    int32_t addend;
} Reloc;
VEC(Reloc);

/* Where the bytes of a section come from (offsets ascend), for messages of the linker. */
typedef struct LineMark {
    Str file;
    uint32_t offset, line;
} LineMark;
VEC(LineMark);

/* WRITE, ALLOC and CODE have the values of ELF. Without ALLOC a section is in object files only, never in the image. */
enum { SECTION_WRITE = 1, SECTION_ALLOC = 2, SECTION_CODE = 4, SECTION_NOBITS = 8 };
typedef struct Section {
    Str name;
    uint32_t align; /* a power of two */
    uint32_t flags;
    uint8_t *at; /* of NOBITS too: zeros */
    isize len, cap;
    LineMarkVec lines;
} Section;
VEC(Section);

/* One mistake, or one warning. */
typedef struct AsmMessage {
    Str file, text;
    Str source; /* the line, may be empty */
    Str origin; /* lines that say which macro, repeat or include led here, may be empty */
    uint32_t line, column; /* from 1; line 0: the file as a whole */
    bool is_warning;
} AsmMessage;
VEC(AsmMessage);
enum { ASM_MESSAGES_MAX = 20 };

/* A line of the source as it was read, and the bytes that came from it (a bundle's at its first line). */
typedef struct ListedLine {
    Str file, text;
    uint32_t line, offset, bytes;
    int32_t section;
    bool is_expanded; /* by a macro or a repeat */
} ListedLine;
VEC(ListedLine);

typedef struct Object {
    Str file;
    SectionVec sections;
    SymbolVec symbols;
    RelocVec relocs;
    ListedLineVec listing; /* when asked for */
    AsmMessageVec
        messages; /* also after a failure: at most ASM_MESSAGES_MAX errors, and as many warnings */
} Object;

/* Symbols set from outside (`-D NAME=VALUE`). */
typedef struct AsmDefine {
    Str name;
    int64_t value;
} AsmDefine;
SPAN(AsmDefine);

/* Finds the text of an `.include`d file; false with *err when there is none. */
typedef struct AsmIncludes {
    void *context;
    bool (*find)(void *context, Str name, Str *text, Error *err);
} AsmIncludes;

/* Where included files lie: beside the source, then in the other folders. context of asm_find_file. */
typedef struct AsmFolders {
    Str own; /* of the source, with its slash; may be empty */
    const char *const *other;
    int other_count;
    Arena *arena;
} AsmFolders;
enum { ASM_TEXT_BYTES_MAX = 16 << 20 };
/* For AsmIncludes.find; the error is the one about the place beside the source. */
bool asm_find_file(void *folders, Str name, Str *text, Error *err);

typedef struct AsmOptions {
    AsmDefineSpan defines;
    const AsmIncludes *includes; /* NULL: no file can be included */
    const IsaFlags *flags;       /* values of flag symbols; NULL: ours */
    bool has_listing;            /* fill Object.listing */
} AsmOptions;

/* Assembles one text; options NULL: none. After a mistake it goes on with the next statement: out->messages has all of them, *err
 * the first, as file:line:column and what was expected. */
bool asm_assemble(Str file, Str text, const AsmOptions *options, Arena *keep, Arena scratch,
                  Object *out, Error *err);
/* `tessera: file:line:column: text`, the line, a caret, and where it was expanded. */
void asm_print_message(Writer *writer, const AsmMessage *message);

/* Addresses after resolution. Sections are numbered over all objects. */
typedef struct Resolved {
    uint8_t *at; /* bytes of all kept sections, laid out in order from `base` */
    isize len;
    uint32_t base;
    uint32_t *section_address; /* per section */
    bool *is_kept;             /* per section: in the image */
    uint32_t entry;            /* of LinkOptions.entry; else base */
    AsmMessageVec messages;    /* as of Object */
} Resolved;
typedef struct LinkOptions {
    uint32_t base;
    Str entry;         /* a global symbol, or empty */
    bool drops_unused; /* only sections that the entry reaches, which then must be given */
} LinkOptions;
/* Lays out the ALLOC sections of several objects from `base` (each at its alignment), applies relocations (symbols are looked
 * up in the own object first, then among globals of all). ERROR_INPUT for undefined or duplicate globals and fields that
 * overflow: *err has the first, out->messages all. Linear in the size of the objects. */
bool object_link(const Object *objects, int object_count, const LinkOptions *options, Arena *keep,
                 Arena scratch, Resolved *out, Error *err);
/* object_link of everything from `base`. */
bool object_resolve(const Object *objects, int object_count, uint32_t base, Arena *keep,
                    Arena scratch, Resolved *out, Error *err);
/* Address of a global symbol; false when absent. section addresses are those of `resolved` (sections numbered over all objects). */
bool object_find(const Object *objects, int object_count, const Resolved *resolved, Str symbol,
                 uint32_t *address);
/* Text of [0, len) as code at `base`; words of `context`; each line `address: words  text`; illegal words as `.long`.
 * Bundles are braces. With `plain` only re-assemblable text is printed. Flag values are named by `flags` (NULL: ours). */
void asm_disassemble(Writer *writer, const uint8_t *code, isize len, uint32_t base,
                     InsnContext context, bool plain, const IsaFlags *flags);
/* The same of a whole object, with its symbols as labels and its relocations; sections without CODE as data. section_address
 * (of a linked program) may be NULL. Plain text assembles to the same bytes, symbols and relocations. */
void object_print(Writer *writer, const Object *object, const uint32_t *section_address,
                  InsnContext context, bool plain, const IsaFlags *flags, Arena scratch);
