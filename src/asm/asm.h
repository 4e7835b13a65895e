/* asm: assembly text <-> relocatable object, listing, disassembler.
 * takes: source text        gives: Object (sections, symbols, relocations), bytes at an address, text
 * uses: base isa
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
typedef struct Symbol {
    Str name;
    int32_t section; /* index of Object.sections, or SYMBOL_ABSOLUTE, SYMBOL_UNDEFINED */
    uint32_t value;  /* offset in the section, or the value */
    bool is_global;
} Symbol;
VEC(Symbol);

/* Field kinds follow isa/assembler.md 3. */
typedef enum RelocKind {
    RELOC_NONE,
    RELOC_8,
    RELOC_16,
    RELOC_20,
    RELOC_32,
    RELOC_19_S2,
    RELOC_18_S2,
    RELOC_20_S2
} RelocKind;
typedef struct Reloc {
    int32_t section;
    uint32_t offset; /* of the word */
    RelocKind kind;
    int32_t symbol; /* index of Object.symbols */
    int32_t addend;
} Reloc;
VEC(Reloc);

/* Where the words of a section come from, for listings and fault messages. */
typedef struct LineMark {
    uint32_t offset;
    uint32_t line;
} LineMark;
VEC(LineMark);

typedef struct Section {
    Str name;
    uint32_t align;
    uint8_t *at;
    isize len, cap;
    LineMarkVec lines;
} Section;
VEC(Section);

typedef struct Object {
    Str file;
    SectionVec sections;
    SymbolVec symbols;
    RelocVec relocs;
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

typedef struct AsmOptions {
    AsmDefineSpan defines;
    const AsmIncludes *includes; /* NULL: no file can be included */
    const IsaFlags *flags;       /* values of flag symbols; NULL: ours */
} AsmOptions;

/* Assembles one file; options NULL: none. Errors name file:line:column and what was expected (the first one). */
bool asm_assemble(Str file, Str text, const AsmOptions *options, Arena *keep, Arena scratch,
                  Object *out, Error *err);
/* Address of every symbol after resolution. */
typedef struct Resolved {
    uint8_t *at; /* bytes of all sections, laid out in order from `base` */
    isize len;
    uint32_t base;
    uint32_t *section_address; /* per section */
} Resolved;
/* Lays out the sections of several objects from `base` (each at its alignment), applies relocations (symbols are looked up in
 * the own object first, then among globals of all). ERROR_INPUT for undefined or duplicate globals and fields that overflow. */
bool object_resolve(const Object *objects, int object_count, uint32_t base, Arena *keep,
                    Arena scratch, Resolved *out, Error *err);
/* Address of a global symbol; false when absent. section addresses are those of `resolved` (sections numbered over all objects). */
bool object_find(const Object *objects, int object_count, const Resolved *resolved, Str symbol,
                 uint32_t *address);
/* Text of [0, len) as code at `base`; words of `context`; each line `address: words  text`; illegal words as `.long`.
 * Bundles are braces. With `plain` only re-assemblable text is printed. Flag values are named by `flags` (NULL: ours). */
void asm_disassemble(Writer *writer, const uint8_t *code, isize len, uint32_t base,
                     InsnContext context, bool plain, const IsaFlags *flags);
