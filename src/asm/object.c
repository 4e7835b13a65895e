/* Linking: which sections are needed, where they lie, what their relocations become (isa/assembler.md 3).
 *
 * Sections are laid out in the order of the objects. With `drops_unused` only those that the entry reaches through relocations
 * are kept; the assembler leaves every use of another section's address to a relocation, so nothing else can be reached.
 */
#include "asm/parts.h"
#include "base/bits.h"
#include "chip/memory.h"
#include <stdio.h>
#include <string.h>

#define NAME(text)                                                                                 \
    {                                                                                              \
        text, (isize)sizeof text - 1                                                               \
    }
bool symbol_is_hidden(const Symbol *symbol)
{
    return symbol->section >= 0 &&
           (str_starts(symbol->name, S(".L")) || str_find(symbol->name, '#', 0) >= 0 ||
            str_equal(symbol->name, S(".")) || symbol->name.len == 0);
}

static const RelocShape shapes[RELOC_KINDS] = {
    [RELOC_NONE] = {NAME("NONE"), 0, 0, 0, false},
    [RELOC_8] = {NAME("8"), 8, 0, 1, false},
    [RELOC_16] = {NAME("16"), 16, 0, 2, false},
    [RELOC_20] = {NAME("20"), 20, 0, 4, false},
    [RELOC_32] = {NAME("32"), 32, 0, 4, false},
    [RELOC_64] = {NAME("64"), 64, 0, 8, false},
    [RELOC_RELATIVE_16_S2] = {NAME("RELATIVE_16_S2"), 16, 2, 2, true},
    [RELOC_18_S2] = {NAME("18_S2"), 18, 2, 4, false},
    [RELOC_19_S2] = {NAME("19_S2"), 19, 2, 4, false},
    [RELOC_RUN_INSTR] = {NAME("RUN_INSTR"), 16, 2, 4, true},
    [RELOC_RELATIVE_16_S3] = {NAME("RELATIVE_16_S3"), 16, 3, 2, true},
    [RELOC_RELATIVE_16_S4] = {NAME("RELATIVE_16_S4"), 16, 4, 2, true},
    [RELOC_RELATIVE_16_S5] = {NAME("RELATIVE_16_S5"), 16, 5, 2, true},
    [RELOC_21] = {NAME("21"), 21, 0, 4, false},
};
#undef NAME

/* One link; sections and symbols are numbered over all objects, `first_` is the number of an object's first one. */
typedef struct Link {
    const Object *objects;
    int object_count;
    int32_t *first_section, *first_symbol; /* one more than objects: the totals */
    int32_t *definition;                   /* per symbol: the symbol that defines it, or -1 */
    int32_t *object_of;                    /* per section */
    Resolved *out;
    Arena *keep;
    int error_count;
} Link;

static Str reloc_file(const Object *object, const Reloc *reloc, uint32_t *line)
{
    const LineMarkVec *lines = &object->sections.at[reloc->section].lines;
    isize low = 0, high = lines->len; /* the last mark at or before the offset */
    while (low < high) {
        isize middle = (low + high) / 2;
        if (lines->at[middle].offset <= reloc->offset) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    *line = low > 0 ? lines->at[low - 1].line : 0;
    return low > 0 ? lines->at[low - 1].file : object->file;
}

/* A mistake at a relocation (of `object`), or of a whole object when `reloc` is NULL. */
static void complain(Link *link, const Object *object, const Reloc *reloc, Str text)
{
    AsmMessage message = {.file = object->file, .text = str_copy(text, link->keep)};
    if (reloc) {
        message.file = reloc_file(object, reloc, &message.line);
        message.column = 1;
        if (message.line == 0) {
            const Section *section = &object->sections.at[reloc->section];
            message.file = str_format(link->keep, "%.*s(%.*s+0x%x)", STR_ARG(object->file),
                                      STR_ARG(section->name), reloc->offset);
        }
    }
    message_add(&link->out->messages, message, link->keep);
    link->error_count++;
}

static void index_sections(Link *link, Arena *scratch)
{
    int count = link->object_count;
    link->first_section = arena_array(scratch, int32_t, count + 1);
    link->first_symbol = arena_array(scratch, int32_t, count + 1);
    for (int o = 0; o < count; o++) {
        link->first_section[o + 1] =
            link->first_section[o] + (int32_t)link->objects[o].sections.len;
        link->first_symbol[o + 1] = link->first_symbol[o] + (int32_t)link->objects[o].symbols.len;
    }
    link->object_of = arena_array(scratch, int32_t, link->first_section[count] + 1);
    for (int o = 0; o < count; o++) {
        for (int32_t s = link->first_section[o]; s < link->first_section[o + 1]; s++) {
            link->object_of[s] = o;
        }
    }
}

static int object_of_symbol(const Link *link, int32_t symbol)
{
    int low = 0,
        high = link->object_count; /* the last object whose first symbol is not behind it */
    while (high - low > 1) {
        int middle = (low + high) / 2;
        *(link->first_symbol[middle] <= symbol ? &low : &high) = middle;
    }
    return low;
}

static const Symbol *symbol_at(const Link *link, int32_t symbol, int *object)
{
    *object = object_of_symbol(link, symbol);
    return &link->objects[*object].symbols.at[symbol - link->first_symbol[*object]];
}

/* Finds what every symbol stands for: itself, or the global of another object. */
static void define_symbols(Link *link, StrMap *globals, Arena *scratch)
{
    int32_t count = link->first_symbol[link->object_count];
    link->definition = arena_array(scratch, int32_t, count + 1);
    for (int pass = 0; pass < 2; pass++) {
        for (int o = 0; o < link->object_count; o++) {
            const Object *object = &link->objects[o];
            for (int32_t i = 0; i < (int32_t)object->symbols.len; i++) {
                const Symbol *symbol = &object->symbols.at[i];
                int32_t number = link->first_symbol[o] + i;
                bool is_here = symbol->section != SYMBOL_UNDEFINED;
                if (pass == 1) {
                    const uint32_t *slot = is_here ? NULL : str_map_get(globals, symbol->name);
                    link->definition[number] = is_here ? number : slot ? (int32_t)*slot - 1 : -1;
                } else if (is_here && symbol->is_global) {
                    uint32_t *slot = str_map_put(globals, symbol->name, scratch);
                    if (*slot > 0) {
                        int other;
                        symbol_at(link, (int32_t)*slot - 1, &other);
                        Arena text = *scratch;
                        complain(
                            link, object, NULL,
                            str_format(&text, "global symbol %.*s is defined twice, first in %.*s",
                                       STR_ARG(symbol->name), STR_ARG(link->objects[other].file)));
                    } else {
                        *slot = (uint32_t)number + 1;
                    }
                }
            }
        }
    }
}

/* Number of the section that a symbol of object `own` lies in; -1 when it is in none. */
static int32_t section_of(const Link *link, int own, int32_t symbol)
{
    int32_t definition = link->definition[link->first_symbol[own] + symbol];
    if (definition < 0) {
        return -1;
    }
    int object;
    const Symbol *at = symbol_at(link, definition, &object);
    return at->section < 0 ? -1 : link->first_section[object] + at->section;
}

/* Marks what `entry`'s section reaches. */
static void keep_reached(Link *link, int32_t first, Arena scratch)
{
    int32_t count = link->first_section[link->object_count];
    /* The relocations of every section: a list by next index over all objects. */
    int64_t total = 0;
    for (int o = 0; o < link->object_count; o++) {
        total += link->objects[o].relocs.len;
    }
    int32_t *head = arena_array(&scratch, int32_t, count + 1);
    int32_t *next = arena_array(&scratch, int32_t, total + 1);
    int32_t *first_reloc = arena_array(&scratch, int32_t, link->object_count + 1);
    int32_t *pending = arena_array(&scratch, int32_t, count + 1);
    for (int o = 0; o < link->object_count; o++) {
        const Object *object = &link->objects[o];
        first_reloc[o + 1] = first_reloc[o] + (int32_t)object->relocs.len;
        for (int32_t r = 0; r < (int32_t)object->relocs.len; r++) {
            int32_t section = link->first_section[o] + object->relocs.at[r].section;
            next[first_reloc[o] + r + 1] = head[section];
            head[section] = first_reloc[o] + r + 1;
        }
    }
    int32_t pending_count = 0;
    link->out->is_kept[first] = true;
    pending[pending_count++] = first;
    while (pending_count > 0) {
        int32_t section = pending[--pending_count];
        int o = link->object_of[section];
        for (int32_t r = head[section]; r > 0; r = next[r]) {
            const Reloc *reloc = &link->objects[o].relocs.at[r - 1 - first_reloc[o]];
            int32_t reached = section_of(link, o, reloc->symbol);
            if (reached >= 0 && !link->out->is_kept[reached]) {
                link->out->is_kept[reached] = true;
                pending[pending_count++] = reached;
            }
        }
    }
}

/* Which sections are in the image, and the entry's symbol (-1 for none). */
static bool choose_sections(Link *link, const LinkOptions *options, const StrMap *globals,
                            int32_t *entry, Arena scratch, Error *err)
{
    const uint32_t *slot = options->entry.len > 0 ? str_map_get(globals, options->entry) : NULL;
    *entry = slot ? (int32_t)*slot - 1 : -1;
    if (options->entry.len > 0 && *entry < 0) {
        return error_set(err, ERROR_INPUT, NULL, "entry %.*s: expected a global symbol",
                         STR_ARG(options->entry));
    }
    int32_t first = -1;
    if (*entry >= 0) {
        int object;
        const Symbol *symbol = symbol_at(link, *entry, &object);
        first = symbol->section < 0 ? -1 : link->first_section[object] + symbol->section;
    }
    if (options->drops_unused) {
        if (first < 0) {
            return error_set(err, ERROR_INPUT, NULL,
                             "dropping unused sections: expected an entry that is a label");
        }
        keep_reached(link, first, scratch);
    }
    for (int32_t s = 0; s < link->first_section[link->object_count]; s++) {
        int o = link->object_of[s];
        const Section *section = &link->objects[o].sections.at[s - link->first_section[o]];
        link->out->is_kept[s] =
            (section->flags & SECTION_ALLOC) && (!options->drops_unused || link->out->is_kept[s]);
    }
    return true;
}

static bool lay_out(Link *link, Error *err)
{
    Resolved *out = link->out;
    uint64_t at = out->base;
    for (int32_t s = 0; s < link->first_section[link->object_count]; s++) {
        int o = link->object_of[s];
        const Section *section = &link->objects[o].sections.at[s - link->first_section[o]];
        bool is_there = out->is_kept[s] && section->len > 0;
        at = is_there ? (uint64_t)align_up((int64_t)at, section->align) : at;
        out->section_address[s] = (uint32_t)at;
        at += is_there ? (uint64_t)section->len : 0;
        if (at > UINT32_MAX || at - out->base > INT32_MAX) {
            return error_set(err, ERROR_INPUT, NULL,
                             "the code does not fit into 32-bit addresses from 0x%x", out->base);
        }
    }
    out->len = (isize)(at - out->base);
    out->at = arena_alloc(link->keep, out->len + 1, 16);
    for (int32_t s = 0; s < link->first_section[link->object_count]; s++) {
        int o = link->object_of[s];
        const Section *section = &link->objects[o].sections.at[s - link->first_section[o]];
        if (out->is_kept[s] && section->len > 0) {
            memcpy(out->at + (out->section_address[s] - out->base), section->at,
                   (size_t)section->len);
        }
    }
    return true;
}

static uint32_t address_of(const Link *link, int32_t definition)
{
    int object;
    const Symbol *symbol = symbol_at(link, definition, &object);
    return symbol->section < 0
               ? symbol->value
               : link->out->section_address[link->first_section[object] + symbol->section] +
                     symbol->value;
}

static void apply_reloc(Link *link, int own, const Reloc *reloc, Arena scratch)
{
    const Object *object = &link->objects[own];
    const RelocShape *shape = reloc_shape(reloc->kind);
    ASSERT(shape);
    Str name = object->symbols.at[reloc->symbol].name;
    int32_t section = link->first_section[own] + reloc->section;
    if (!link->out->is_kept[section] || reloc->kind == RELOC_NONE) {
        return;
    }
    int32_t definition = link->definition[link->first_symbol[own] + reloc->symbol];
    int32_t target = section_of(link, own, reloc->symbol);
    if (definition < 0 || (target >= 0 && !link->out->is_kept[target])) {
        complain(link, object, reloc,
                 str_format(&scratch,
                            definition < 0
                                ? "%.*s is undefined; expected a label here or a global of "
                                  "another text"
                                : "%.*s is in a section that is not in the image",
                            STR_ARG(name)));
        return;
    }
    /* Addresses have 32 bits and wrap; only the 64-bit datum holds the sum as it is. */
    int64_t value = (int64_t)address_of(link, definition) + reloc->addend;
    value = reloc->kind == RELOC_64 ? value : (int64_t)(uint32_t)value;
    uint64_t field;
    const char *expected;
    if (!reloc_field(reloc->kind, value, &field, &expected)) {
        complain(link, object, reloc,
                 str_format(&scratch, "%.*s (0x%llx) %s", STR_ARG(name), (unsigned long long)value,
                            expected));
        return;
    }
    uint64_t mask = shape->bits == 64 ? UINT64_MAX : (UINT64_C(1) << shape->bits) - 1;
    if (reloc->kind == RELOC_RUN_INSTR) {
        mask = 0xf0fff;
        field = (field & 0xfff) | (field & 0xf000) << 4;
    }
    uint8_t *at =
        link->out->at + (link->out->section_address[section] - link->out->base) + reloc->offset;
    for (int i = 0; i < shape->bytes; i++) {
        uint8_t hole = (uint8_t)(mask >> (8 * i));
        at[i] = (uint8_t)((at[i] & ~hole) | (uint8_t)(field >> (8 * i)));
    }
}

const RelocShape *reloc_shape(int64_t kind)
{
    bool is_kind = kind >= 0 && kind < RELOC_KINDS && shapes[kind].name.len > 0;
    return is_kind ? &shapes[kind] : NULL;
}

bool reloc_field(RelocKind kind, int64_t value, uint64_t *field, const char **expected)
{
    const RelocShape *shape = reloc_shape(kind);
    ASSERT(shape);
    if (shape->is_relative) {
        value -= SRAM_BASE;
        *expected = "is below the tile's memory";
        if (value < 0) {
            return false;
        }
    }
    *expected = shape->shift == 2   ? "expected a multiple of 4"
                : shape->shift == 3 ? "expected a multiple of 8"
                : shape->shift == 4 ? "expected a multiple of 16"
                                    : "expected a multiple of 32";
    if ((uint64_t)value & ((UINT64_C(1) << shape->shift) - 1)) {
        return false;
    }
    *field = (uint64_t)value >> shape->shift;
    *expected = "does not fit the field of the instruction or datum";
    return shape->bits == 64 || *field >> shape->bits == 0;
}

bool object_link(const Object *objects, int object_count, const LinkOptions *options, Arena *keep,
                 Arena scratch, Resolved *out, Error *err)
{
    Link link = {.objects = objects, .object_count = object_count, .out = out, .keep = keep};
    index_sections(&link, &scratch);
    int32_t section_count = link.first_section[object_count];
    *out = (Resolved){.base = options->base,
                      .entry = options->base,
                      .section_address = arena_array(keep, uint32_t, section_count + 1),
                      .is_kept = arena_array(keep, bool, section_count + 1)};
    StrMap globals = {0};
    int32_t entry;
    define_symbols(&link, &globals, &scratch);
    if (!choose_sections(&link, options, &globals, &entry, scratch, err) || !lay_out(&link, err)) {
        return false;
    }
    for (int o = 0; o < object_count; o++) {
        for (isize r = 0; r < objects[o].relocs.len && link.error_count <= ASM_MESSAGES_MAX; r++) {
            apply_reloc(&link, o, &objects[o].relocs.at[r], scratch);
        }
    }
    out->entry = entry >= 0 ? address_of(&link, entry) : out->base;
    return link.error_count == 0 || message_error(&out->messages.at[0], err);
}

bool object_resolve(const Object *objects, int object_count, uint32_t base, Arena *keep,
                    Arena scratch, Resolved *out, Error *err)
{
    LinkOptions options = {.base = base};
    return object_link(objects, object_count, &options, keep, scratch, out, err);
}

bool object_find(const Object *objects, int object_count, const Resolved *resolved, Str symbol,
                 uint32_t *address)
{
    for (int o = 0, first = 0; o < object_count; o++) {
        for (isize i = 0; i < objects[o].symbols.len; i++) {
            const Symbol *candidate = &objects[o].symbols.at[i];
            if (candidate->is_global && candidate->section != SYMBOL_UNDEFINED &&
                str_equal(candidate->name, symbol)) {
                *address = candidate->value +
                           (candidate->section < 0
                                ? 0
                                : resolved->section_address[first + candidate->section]);
                return true;
            }
        }
        first += (int)objects[o].sections.len;
    }
    return false;
}
