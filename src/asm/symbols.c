/* Symbols, numeric labels and sections with their bytes.
 *
 * A label at the end of its section is pending: when padding is put in front of the bundle or repeat that follows, the label
 * moves behind the padding, so that it names the instruction. If its value already went into a number that is refused.
 */
#include "asm/parts.h"
#include "base/bits.h"

static const uint32_t nop = 0x19e00000; /* isa/assembler.md 2.2 */

static Section *section_at(const Asm *as, int32_t section)
{
    return &as->object->sections.at[section];
}

/* Too many: the first symbol stands in and the error ends the assembly after this statement. */
static int32_t add_symbol(Asm *as, Str name)
{
    if (as->object->symbols.len >= SYMBOLS_MAX) {
        stop_at(as, as->here.column, "expected at most %d symbols", SYMBOLS_MAX);
        return 0;
    }
    *vec_push(&as->object->symbols, as->keep) = (Symbol){.name = name, .section = SYMBOL_UNDEFINED};
    *vec_push(&as->symbol_state, &as->scratch) = (SymbolState){.place = as->here};
    return (int32_t)(as->object->symbols.len - 1);
}

/* Gives bytes of the current section to the line being listed; a line that fills two sections is listed twice. */
static void list_bytes(Asm *as, isize offset, isize len)
{
    if (as->listed == 0 || len == 0) {
        return;
    }
    ListedLine *line = &as->object->listing.at[as->listed - 1];
    if (line->bytes > 0 &&
        (line->section != as->section || (isize)(line->offset + line->bytes) != offset)) {
        ListedLine more = {
            .file = line->file, .line = line->line, .is_expanded = line->is_expanded};
        *vec_push(&as->object->listing, as->keep) = more;
        as->listed = as->object->listing.len;
        line = &as->object->listing.at[as->listed - 1];
    }
    if (line->bytes == 0) {
        line->section = as->section;
        line->offset = (uint32_t)offset;
    }
    line->bytes += (uint32_t)len;
}

static bool append_raw(Asm *as, const void *bytes, isize len)
{
    Section *section = section_at(as, as->section);
    if (as->object_bytes + len > OBJECT_BYTES_MAX) {
        return stop_at(as, as->here.column, "expected at most %d bytes in all sections",
                       OBJECT_BYTES_MAX);
    }
    as->object_bytes += len;
    list_bytes(as, section->len, len);
    if (section->len + len > section->cap) {
        isize cap = max_i64(section->cap * 2, align_up(section->len + len, 256));
        uint8_t *grown = arena_alloc(as->keep, cap, 16);
        if (section->len > 0) {
            memcpy(grown, section->at, (size_t)section->len);
        }
        section->at = grown;
        section->cap = cap;
    }
    if (len > 0) {
        memcpy(section->at + section->len, bytes, (size_t)len);
    }
    section->len += len;
    return true;
}

static void mark_line(Asm *as)
{
    Section *section = section_at(as, as->section);
    const Origin *origin = as->here.origin > 0 ? &as->origins.at[as->here.origin] : NULL;
    Str file = origin ? origin->root_file : as->here.file;
    uint32_t line = origin ? origin->root_line : as->here.line;
    const LineMark *last =
        section->lines.len > 0 ? &section->lines.at[section->lines.len - 1] : NULL;
    if (!last || last->line != line || !str_equal(last->file, file)) {
        if (!str_equal(file, as->kept_file)) {
            as->kept_file = str_copy(file, as->keep);
        }
        *vec_push(&section->lines, as->keep) =
            (LineMark){as->kept_file, (uint32_t)section->len, line};
    }
}

static void settle_labels(Asm *as)
{
    isize kept = 0;
    for (isize i = 0; i < as->pending.len; i++) {
        if (as->object->symbols.at[as->pending.at[i].symbol].section != as->section) {
            as->pending.at[kept++] = as->pending.at[i];
        }
    }
    as->pending.len = kept;
}

static void place_symbol(Asm *as, int32_t index)
{
    Symbol *symbol = &as->object->symbols.at[index];
    symbol->section = as->section;
    symbol->value = section_offset(as);
    as->symbol_state.at[index].place = as->here;
    *vec_push(&as->pending, &as->scratch) = (Pending){index};
}

static Str numeric_name(Asm *as, Str digits, uint32_t count)
{
    return str_format(&as->scratch, "%.*s#%u", STR_ARG(digits), count);
}

int32_t symbol_find(const Asm *as, Str name)
{
    const uint32_t *slot = str_map_get(&as->symbol_index, name);
    return slot ? (int32_t)*slot - 1 : -1;
}

int32_t symbol_need(Asm *as, Str name)
{
    int32_t found = symbol_find(as, name);
    if (found >= 0) {
        return found;
    }
    Str copy = str_copy(name, as->keep);
    int32_t index = add_symbol(as, copy);
    *str_map_put(&as->symbol_index, copy, &as->scratch) = (uint32_t)index + 1;
    return index;
}

bool symbol_define_label(Asm *as, Str name, uint32_t column)
{
    int32_t index = symbol_need(as, name);
    if (as->object->symbols.at[index].section != SYMBOL_UNDEFINED ||
        as->symbol_state.at[index].node > 0) {
        return fail_at(as, column, "%.*s is defined already, in line %u", STR_ARG(name),
                       as->symbol_state.at[index].place.line);
    }
    place_symbol(as, index);
    return true;
}

bool symbol_define_numeric(Asm *as, Str digits)
{
    uint32_t *count = str_map_put(&as->numeric_count, digits, &as->scratch);
    *count += 1;
    place_symbol(as, symbol_need(as, numeric_name(as, digits, *count)));
    return true;
}

int32_t symbol_numeric(Asm *as, Str digits, bool is_forward)
{
    const uint32_t *count = str_map_get(&as->numeric_count, digits);
    uint32_t index = (count ? *count : 0) + (is_forward ? 1 : 0);
    if (index == 0) {
        fail_at(as, as->here.column, "expected a label %.*s: before this line", STR_ARG(digits));
        return -1;
    }
    return symbol_need(as, numeric_name(as, digits, index));
}

bool symbol_set(Asm *as, Str name, int32_t node, uint32_t column)
{
    int32_t index = symbol_need(as, name);
    Symbol *symbol = &as->object->symbols.at[index];
    SymbolState *state = &as->symbol_state.at[index];
    if (symbol->section >= 0 || (symbol->section != SYMBOL_UNDEFINED && !state->is_variable)) {
        return fail_at(as, column, "%.*s is defined already, in line %u", STR_ARG(name),
                       state->place.line);
    }
    Value value;
    bool is_known = expression_value(as, node, false, &value);
    if (!is_known && as->err->code != ERROR_NONE) {
        return false;
    }
    symbol = &as->object->symbols.at[index];
    state = &as->symbol_state.at[index];
    if (is_known && value.symbol < 0) {
        if (!expression_field(as, &value, column, &value.number)) {
            return false;
        }
        symbol->section = SYMBOL_ABSOLUTE;
        symbol->value = (uint32_t)value.number;
        node = expression_number(as, value.number);
    } else if (state->node > 0) {
        return fail_at(as, column, "expected a number known here to set %.*s again", STR_ARG(name));
    }
    nodes_keep(as);
    state->is_variable = true;
    state->node = node + 1;
    state->place = as->here;
    return true;
}

int32_t symbol_here(Asm *as)
{
    int32_t index = add_symbol(as, S("."));
    place_symbol(as, index);
    return index;
}

static uint32_t usual_flags(Str name)
{
    static const struct {
        const char *name;
        uint32_t flags;
    } usual[] = {{".text", SECTION_ALLOC | SECTION_CODE},
                 {".rodata", SECTION_ALLOC},
                 {".bss", SECTION_ALLOC | SECTION_WRITE | SECTION_NOBITS}};
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
        if (str_starts(name, str_of(usual[i].name))) {
            return usual[i].flags;
        }
    }
    return SECTION_ALLOC | SECTION_WRITE;
}

bool section_select(Asm *as, Str name, int64_t flags)
{
    const uint32_t *slot = str_map_get(&as->section_index, name);
    if (slot && *slot > 0) {
        as->section = (int32_t)*slot - 1;
        Section *known = section_at(as, as->section);
        if (flags >= 0 && as->section == 0 && known->len == 0) {
            known->flags = (uint32_t)flags; /* of the .text that every text begins with */
        }
        if (flags >= 0 && known->flags != (uint32_t)flags) {
            return fail_at(as, as->here.column, "expected the flags that %.*s had before",
                           STR_ARG(name));
        }
        return true;
    }
    if (as->object->sections.len == SECTIONS_MAX) {
        return stop_at(as, as->here.column, "expected at most %d sections", SECTIONS_MAX);
    }
    as->section = (int32_t)as->object->sections.len;
    Section section = {.name = str_copy(name, as->keep), .align = 4};
    section.flags = flags >= 0 ? (uint32_t)flags : usual_flags(name);
    *vec_push(&as->object->sections, as->keep) = section;
    *str_map_put(&as->section_index, section.name, &as->scratch) = (uint32_t)as->section + 1;
    return true;
}

uint32_t section_offset(const Asm *as)
{
    return (uint32_t)section_at(as, as->section)->len;
}

bool section_append(Asm *as, const void *bytes, isize len)
{
    if (len > 0) {
        settle_labels(as);
    }
    if (section_at(as, as->section)->flags & SECTION_NOBITS) {
        for (isize i = 0; i < len; i++) {
            if (((const uint8_t *)bytes)[i] != 0) {
                return fail_at(as, as->here.column, "expected only zeros in a @nobits section");
            }
        }
    }
    mark_line(as);
    return append_raw(as, bytes, len);
}

void section_stand_in(Asm *as, int bytes)
{
    const uint32_t nops[2] = {nop, nop};
    (void)(section_align(as, (uint32_t)bytes, 0) && append_raw(as, nops, bytes));
}

bool section_align(Asm *as, uint32_t align, uint32_t fill)
{
    Section *section = section_at(as, as->section);
    section->align = align > section->align ? align : section->align;
    isize gap = align_up(section->len, align) - section->len;
    if (gap == 0) {
        return true;
    }
    settle_labels(as);
    mark_line(as);
    const uint8_t zero = 0, filler = (uint8_t)fill;
    while (gap > 0) {
        bool is_nop = (section_at(as, as->section)->flags & SECTION_CODE) && fill == 0;
        bool is_whole = is_nop && gap >= 4 && gap % 4 == 0;
        const uint8_t *byte = is_nop ? &zero : &filler;
        if (!(is_whole ? append_raw(as, &nop, 4) : append_raw(as, byte, 1))) {
            return false;
        }
        gap -= is_whole ? 4 : 1;
    }
    return true;
}

bool section_pad_nop(Asm *as)
{
    uint32_t before = section_offset(as);
    mark_line(as);
    if (!append_raw(as, &nop, 4)) {
        return false;
    }
    for (isize i = 0; i < as->pending.len; i++) {
        int32_t index = as->pending.at[i].symbol;
        Symbol *symbol = &as->object->symbols.at[index];
        if (symbol->section == as->section && symbol->value == before) {
            if (as->symbol_state.at[index].is_read) {
                return fail_at(as, as->here.column,
                               "a nop for alignment would move %.*s, whose value is in use "
                               "already; expected .align 8 before it",
                               STR_ARG(symbol->name));
            }
            symbol->value += 4;
        }
    }
    return true;
}

uint32_t section_word(const Asm *as, int32_t section, uint32_t offset)
{
    uint32_t word;
    ASSERT(offset + 4 <= (uint32_t)section_at(as, section)->len);
    memcpy(&word, section_at(as, section)->at + offset, 4);
    return word;
}

void section_set_word(const Asm *as, int32_t section, uint32_t offset, uint32_t word)
{
    ASSERT(offset + 4 <= (uint32_t)section_at(as, section)->len);
    memcpy(section_at(as, section)->at + offset, &word, 4);
}

void nodes_release(Asm *as)
{
    as->nodes.len = as->nodes_kept;
}

void nodes_keep(Asm *as)
{
    as->nodes_kept = as->nodes.len;
}
