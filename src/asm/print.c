/* Objects as text: sections, symbols as labels, code and data by the sections' flags, relocations.
 *
 * Plain text assembles to the same bytes, symbols and relocations. A symbol whose name is no name of the assembler's, or taken
 * already, is called .Lsym and its number (unnamed. and its number where it is not defined here).
 */
#include "asm/disasm.h"
#include "asm/parts.h"
#include "base/sort.h"

/* What lies at which offset of which section: keys are section << 32 | offset, payloads indices. */
typedef struct Marks {
    SortKey *at;
    isize len, next;
} Marks;

typedef struct Printer {
    const Object *object;
    Writer *writer;
    Str *symbol_name;
    Marks labels, relocs;
    int32_t section;
    bool is_plain;
} Printer;

static bool is_good_name(Str name)
{
    bool is_good = name.len > 0 && is_name_start(name.at[0]) && !str_equal(name, S("infh")) &&
                   flag_find(name) < 0;
    for (isize i = 0; i < name.len && is_good; i++) {
        is_good = is_name_char(name.at[i]);
    }
    return is_good;
}

/* The name if it is fit and free; else one of `stem` and number. */
static Str fit_name(StrMap *taken, Str name, bool is_fit, const char *stem, isize number,
                    Arena *arena)
{
    uint32_t *slot = is_fit ? str_map_put(taken, name, arena) : NULL;
    if (slot && *slot == 0) {
        *slot = 1;
        return name;
    }
    return str_format(arena, "%s%td", stem, number);
}

static uint64_t key_of(int32_t section, uint32_t offset)
{
    return (uint64_t)(uint32_t)section << 32 | offset;
}

static bool is_next(const Marks *marks, int32_t section, isize end)
{
    return marks->next < marks->len && marks->at[marks->next].key < key_of(section, (uint32_t)end);
}

/* Symbols without a fit name of their own (of sections, mostly) only when a relocation needs them. */
static Marks sort_labels(const Object *object, const Str *name, Arena *arena)
{
    Marks marks = {.at = arena_array(arena, SortKey, object->symbols.len + 1)};
    bool *is_used = arena_array(arena, bool, object->symbols.len + 1);
    for (isize i = 0; i < object->relocs.len; i++) {
        is_used[object->relocs.at[i].symbol] = true;
    }
    for (isize i = 0; i < object->symbols.len; i++) {
        const Symbol *symbol = &object->symbols.at[i];
        if (symbol->section >= 0 && (is_used[i] || str_equal(name[i], symbol->name))) {
            marks.at[marks.len++] = (SortKey){key_of(symbol->section, symbol->value), (uint32_t)i};
        }
    }
    sort_keys(marks.at, marks.len, *arena);
    return marks;
}

static Marks sort_relocs(const Object *object, Arena *arena)
{
    Marks marks = {.at = arena_array(arena, SortKey, object->relocs.len + 1)};
    for (isize i = 0; i < object->relocs.len; i++) {
        const Reloc *reloc = &object->relocs.at[i];
        marks.at[marks.len++] = (SortKey){key_of(reloc->section, reloc->offset), (uint32_t)i};
    }
    sort_keys(marks.at, marks.len, *arena);
    return marks;
}

static void print_target(const Printer *printer, const Reloc *reloc)
{
    write_fmt(printer->writer, "%.*s", STR_ARG(printer->symbol_name[reloc->symbol]));
    if (reloc->addend != 0) {
        write_fmt(printer->writer, " %c %u", reloc->addend < 0 ? '-' : '+',
                  reloc->addend < 0 ? 0 - (uint32_t)reloc->addend : (uint32_t)reloc->addend);
    }
}

/* Relocations of the line that was just printed. */
static void note_relocs(void *context, Writer *writer, isize begin, isize end)
{
    Printer *printer = context;
    (void)begin;
    while (is_next(&printer->relocs, printer->section, end)) {
        const Reloc *reloc =
            &printer->object->relocs.at[printer->relocs.at[printer->relocs.next++].payload];
        write_fmt(writer, " // %.*s ", STR_ARG(reloc_shape(reloc->kind)->name));
        print_target(printer, reloc);
    }
}

static void print_symbol(const Printer *printer, isize index)
{
    const Symbol *symbol = &printer->object->symbols.at[index];
    Writer *writer = printer->writer;
    Str name = printer->symbol_name[index];
    if (printer->is_plain && symbol->is_global) {
        write_fmt(writer, ".globl %.*s\n", STR_ARG(name));
    }
    if (printer->is_plain && symbol->kind != SYMBOL_PLAIN) {
        write_fmt(writer, ".type %.*s, @%s\n", STR_ARG(name),
                  symbol->kind == SYMBOL_FUNCTION ? "function" : "object");
    }
    if (printer->is_plain && symbol->bytes > 0) {
        write_fmt(writer, ".size %.*s, %u\n", STR_ARG(name), symbol->bytes);
    }
    if (symbol->section >= 0) {
        write_fmt(writer, "%.*s:\n", STR_ARG(name));
    } else if (symbol->section == SYMBOL_ABSOLUTE) {
        write_fmt(writer, ".set %.*s, 0x%x\n", STR_ARG(name), symbol->value);
    }
}

static void print_section_head(const Printer *printer, const Section *section, Str name)
{
    uint32_t flags = section->flags;
    write_fmt(printer->writer, ".section %.*s, \"%s%s%s\", @%s\n.balign %u\n", STR_ARG(name),
              flags & SECTION_ALLOC ? "a" : "", flags & SECTION_WRITE ? "w" : "",
              flags & SECTION_CODE ? "x" : "", flags & SECTION_NOBITS ? "nobits" : "progbits",
              section->align);
}

/* The bytes of a section, cut at its labels. */
static void print_section(Printer *printer, Code code)
{
    const Section *section = &printer->object->sections.at[printer->section];
    const CodeNotes notes = {printer, note_relocs};
    Marks *labels = &printer->labels;
    for (isize at = 0, end; at <= section->len; at = end) {
        while (is_next(labels, printer->section, at + 1)) {
            print_symbol(printer, (isize)labels->at[labels->next++].payload);
        }
        if (at == section->len) {
            break;
        }
        end = is_next(labels, printer->section, section->len)
                  ? (isize)(uint32_t)labels->at[labels->next].key
                  : section->len;
        if (section->flags & SECTION_NOBITS) {
            write_fmt(printer->writer, ".space %td\n", end - at);
        } else {
            code_print(printer->writer, &code, at, end, printer->is_plain,
                       printer->is_plain ? NULL : &notes);
        }
    }
    while (printer->is_plain && is_next(&printer->relocs, printer->section, section->len)) {
        const Reloc *reloc =
            &printer->object->relocs.at[printer->relocs.at[printer->relocs.next++].payload];
        write_fmt(printer->writer, ".reloc %u, %.*s, ", reloc->offset,
                  STR_ARG(reloc_shape(reloc->kind)->name));
        print_target(printer, reloc);
        write_str(printer->writer, S("\n"));
    }
}

void object_print(Writer *writer, const Object *object, const uint32_t *section_address,
                  InsnContext context, bool plain, const IsaFlags *flags, Arena scratch)
{
    Printer printer = {.object = object,
                       .writer = writer,
                       .is_plain = plain,
                       .symbol_name = arena_array(&scratch, Str, object->symbols.len + 1)};
    StrMap symbols = {0}, sections = {0};
    if (plain) {
        code_print_mode(writer, context);
    }
    for (isize i = 0; i < object->symbols.len; i++) {
        Str name = object->symbols.at[i].name;
        bool is_fit = is_good_name(name) && name.at[0] != '.';
        bool is_here = object->symbols.at[i].section != SYMBOL_UNDEFINED;
        const char *stem = is_here ? ".Lsym" : "unnamed.";
        printer.symbol_name[i] = fit_name(&symbols, name, is_fit, stem, i, &scratch);
        if (plain && object->symbols.at[i].section < 0) {
            print_symbol(&printer, i);
        }
    }
    printer.labels = sort_labels(object, printer.symbol_name, &scratch);
    printer.relocs = sort_relocs(object, &scratch);
    for (isize s = 0; s < object->sections.len; s++) {
        const Section *section = &object->sections.at[s];
        bool is_fit = is_good_name(section->name) && !str_starts(section->name, S(".sec."));
        Str name = fit_name(&sections, section->name, is_fit, ".sec.", s, &scratch);
        printer.section = (int32_t)s;
        print_section_head(&printer, section, name);
        print_section(&printer, (Code){.at = section->at,
                                       .base = section_address ? section_address[s] : 0,
                                       .context = context == CONTEXT_SUPERVISOR ? CONTEXT_SUPERVISOR
                                                                                : CONTEXT_WORKER,
                                       .flags = flags,
                                       .is_data = !(section->flags & SECTION_CODE)});
    }
}
