/* Laying out objects at an address and applying their relocations (isa/assembler.md 3). */
#include "asm/asm.h"
#include "base/bits.h"
#include "base/map.h"
#include <stdio.h>
#include <string.h>

static bool is_defined(const Symbol *symbol)
{
    return symbol->section != SYMBOL_UNDEFINED;
}

/* Sections are numbered over all objects; `first` is the number of the object's first one. */
static uint32_t address_of(const Symbol *symbol, const uint32_t *section_address, int first)
{
    return symbol->section < 0 ? symbol->value
                               : section_address[first + symbol->section] + symbol->value;
}

static int first_section(const Object *objects, int object)
{
    int first = 0;
    for (int i = 0; i < object; i++) {
        first += (int)objects[i].sections.len;
    }
    return first;
}

/* Line of the source that produced the byte at `offset`. */
static uint32_t line_at(const Section *section, uint32_t offset)
{
    uint32_t line = 0;
    for (isize i = 0; i < section->lines.len && section->lines.at[i].offset <= offset; i++) {
        line = section->lines.at[i].line;
    }
    return line;
}

static bool fail_reloc(const Object *object, const Reloc *reloc, const char *what, uint32_t value,
                       Error *err)
{
    char where[256];
    snprintf(where, sizeof where, "%.*s:%u", STR_ARG(object->file),
             line_at(&object->sections.at[reloc->section], reloc->offset));
    Str name = object->symbols.at[reloc->symbol].name;
    return error_set(err, ERROR_INPUT, where, "%.*s (0x%x) %s", STR_ARG(name), value, what);
}

static bool apply_reloc(const Object *object, const Reloc *reloc, uint32_t value, uint8_t *at,
                        Error *err)
{
    static const struct {
        uint8_t bits, shift, bytes;
    } fields[] = {
        [RELOC_8] = {8, 0, 1},      [RELOC_16] = {16, 0, 2},    [RELOC_20] = {20, 0, 4},
        [RELOC_32] = {32, 0, 4},    [RELOC_19_S2] = {19, 2, 4}, [RELOC_18_S2] = {18, 2, 4},
        [RELOC_20_S2] = {20, 2, 4},
    };
    ASSERT(reloc->kind > RELOC_NONE && reloc->kind <= RELOC_20_S2);
    uint32_t bits = fields[reloc->kind].bits, shift = fields[reloc->kind].shift;
    if (value & ((1u << shift) - 1)) {
        return fail_reloc(object, reloc, "expected a multiple of 4", value, err);
    }
    uint32_t field = value >> shift;
    if (bits < 32 && field >> bits) {
        return fail_reloc(object, reloc, "does not fit the field of the instruction or datum",
                          value, err);
    }
    for (int i = 0; i < fields[reloc->kind].bytes; i++) {
        at[i] |= (uint8_t)(field >> (8 * i));
    }
    return true;
}

/* Where the globals are: name -> number over all objects' symbols + 1. */
static bool index_globals(const Object *objects, int object_count, StrMap *map, Arena *scratch,
                          Error *err)
{
    uint32_t number = 0;
    for (int o = 0; o < object_count; o++) {
        for (isize i = 0; i < objects[o].symbols.len; i++, number++) {
            const Symbol *symbol = &objects[o].symbols.at[i];
            if (!symbol->is_global || !is_defined(symbol)) {
                continue;
            }
            uint32_t *slot = str_map_put(map, symbol->name, scratch);
            if (*slot > 0) {
                char where[256];
                snprintf(where, sizeof where, "%.*s", STR_ARG(objects[o].file));
                return error_set(err, ERROR_INPUT, where, "global symbol %.*s is defined twice",
                                 STR_ARG(symbol->name));
            }
            *slot = number + 1;
        }
    }
    return true;
}

static bool symbol_address(const Object *objects, int object_count, int own, const Symbol *symbol,
                           const StrMap *globals, const uint32_t *section_address,
                           uint32_t *address)
{
    if (is_defined(symbol)) {
        *address = address_of(symbol, section_address, first_section(objects, own));
        return true;
    }
    const uint32_t *slot = str_map_get(globals, symbol->name);
    if (!slot || *slot == 0) {
        return false;
    }
    isize number = (isize)*slot - 1;
    for (int o = 0, first = 0; o < object_count; o++) {
        if (number < objects[o].symbols.len) {
            *address = address_of(&objects[o].symbols.at[number], section_address, first);
            return true;
        }
        number -= objects[o].symbols.len;
        first += (int)objects[o].sections.len;
    }
    return false;
}

bool object_resolve(const Object *objects, int object_count, uint32_t base, Arena *keep,
                    Arena scratch, Resolved *out, Error *err)
{
    int section_count = first_section(objects, object_count);
    *out =
        (Resolved){.base = base, .section_address = arena_array(keep, uint32_t, section_count + 1)};
    uint64_t at = base;
    for (int o = 0, number = 0; o < object_count; o++) {
        for (isize s = 0; s < objects[o].sections.len; s++, number++) {
            const Section *section = &objects[o].sections.at[s];
            at = section->len > 0 ? (uint64_t)align_up((int64_t)at, section->align) : at;
            out->section_address[number] = (uint32_t)at;
            at += (uint64_t)section->len;
            if (at > UINT32_MAX) {
                return error_set(err, ERROR_INPUT, NULL,
                                 "the code does not fit into 32-bit addresses from 0x%x", base);
            }
        }
    }
    out->len = (isize)(at - base);
    out->at = arena_alloc(keep, out->len + 1, 16);
    StrMap globals = {0};
    if (!index_globals(objects, object_count, &globals, &scratch, err)) {
        return false;
    }
    for (int o = 0, first = 0; o < object_count; o++) {
        const Object *object = &objects[o];
        for (isize s = 0; s < object->sections.len; s++) {
            if (object->sections.at[s].len > 0) {
                memcpy(out->at + (out->section_address[first + s] - base),
                       object->sections.at[s].at, (size_t)object->sections.at[s].len);
            }
        }
        for (isize r = 0; r < object->relocs.len; r++) {
            const Reloc *reloc = &object->relocs.at[r];
            uint32_t value;
            if (!symbol_address(objects, object_count, o, &object->symbols.at[reloc->symbol],
                                &globals, out->section_address, &value)) {
                return fail_reloc(object, reloc,
                                  "is undefined; expected a label here or a global of another text",
                                  0, err);
            }
            uint8_t *field =
                out->at + (out->section_address[first + reloc->section] - base) + reloc->offset;
            if (!apply_reloc(object, reloc, value + (uint32_t)reloc->addend, field, err)) {
                return false;
            }
        }
        first += (int)object->sections.len;
    }
    return true;
}

bool object_find(const Object *objects, int object_count, const Resolved *resolved, Str symbol,
                 uint32_t *address)
{
    for (int o = 0, first = 0; o < object_count; o++) {
        for (isize i = 0; i < objects[o].symbols.len; i++) {
            const Symbol *candidate = &objects[o].symbols.at[i];
            if (candidate->is_global && is_defined(candidate) &&
                str_equal(candidate->name, symbol)) {
                *address = address_of(candidate, resolved->section_address, first);
                return true;
            }
        }
        first += (int)objects[o].sections.len;
    }
    return false;
}
