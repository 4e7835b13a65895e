/* Assembling one text: statement by statement, then the fixups (isa/assembler.md 2).
 *
 * Differences from the vendor's assembler: a number as branch operand is a byte address, not the raw field; misaligned
 * bundles and repeats get a nop instead of an error (line.c); form names are mnemonics (select.c); sendpicp takes its second
 * word as a fifth operand. `scratch` needs at most 512 MiB of reservation, `keep` 128 MiB, whatever the text.
 */
#include "asm/parts.h"

static bool is_active(const Asm *as)
{
    return as->condition_count == 0 || as->condition[as->condition_count - 1].is_active;
}

/* `name:` or `1:` at the cursor; *is_label = there was one. */
static bool take_label(Asm *as, Cursor *cursor, bool *is_label)
{
    *is_label = false;
    Cursor peek = *cursor;
    cursor_skip(&peek);
    isize begin = peek.at;
    while (peek.at < peek.text.len && (is_name_char(peek.text.at[peek.at]))) {
        peek.at++;
    }
    Str name = str_slice(peek.text, begin, peek.at);
    cursor_skip(&peek);
    if (name.len == 0 || peek.at >= peek.text.len || peek.text.at[peek.at] != ':') {
        return true;
    }
    peek.at++;
    *is_label = true;
    uint32_t column = cursor->column + (uint32_t)begin;
    *cursor = peek;
    if (as->in_bundle) {
        return fail_at(as, column, "expected no label inside a bundle");
    }
    if (is_name_start(name.at[0]) && !str_equal(name, S("."))) {
        return symbol_define_label(as, name, column);
    }
    for (isize i = 0; i < name.len; i++) {
        if (name.at[i] < '0' || name.at[i] > '9' || name.len > 9) {
            return fail_at(as, column, "expected a name or a number as label");
        }
    }
    return symbol_define_numeric(as, name);
}

static bool run_text(Asm *as, const Statement *statement)
{
    Cursor cursor = cursor_of(as, statement->text);
    bool is_label = is_active(as);
    while (is_label) {
        if (!take_label(as, &cursor, &is_label)) {
            return false;
        }
    }
    if (cursor_is_end(&cursor)) {
        return true;
    }
    uint32_t column = cursor_column(&cursor);
    Str name = cursor_name(&cursor);
    bool is_condition = false;
    if (name.len > 0 && name.at[0] == '.' && !condition_run(as, name, &cursor, &is_condition)) {
        return false;
    }
    if (is_condition || !is_active(as)) {
        return true;
    }
    if (name.len == 0) {
        return fail_at(as, column, "expected a label, an instruction or a directive");
    }
    const uint32_t *slot = str_map_get(&as->macro_index, name);
    if (slot && *slot > 0 && !as->macros.at[*slot - 1].is_purged) {
        return source_push_macro(as, &as->macros.at[*slot - 1], &cursor);
    }
    Cursor peek = cursor;
    if (cursor_take(&peek, '=') && name.at[0] != '.') {
        int32_t node = expression_parse(as, &peek);
        return node >= 0 && cursor_finish(as, &peek) && symbol_set(as, name, node, column);
    }
    if (name.at[0] == '.') {
        static const char *const allowed[] = {".macro", ".rept",    ".set",
                                              ".equ",   ".include", ".purgem"};
        bool is_allowed = !as->in_bundle;
        for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++) {
            is_allowed = is_allowed || str_equal(name, str_of(allowed[i]));
        }
        return is_allowed
                   ? directive_run(as, name, &cursor)
                   : fail_at(as, column, "%.*s is not allowed inside a bundle", STR_ARG(name));
    }
    return line_parse(as, name, &cursor);
}

static bool run_statement(Asm *as, const Statement *statement)
{
    if (statement->kind == STATEMENT_TEXT) {
        return run_text(as, statement);
    }
    if (!is_active(as)) {
        return true;
    }
    bool is_open = statement->kind == STATEMENT_OPEN;
    if (is_open == as->in_bundle) {
        return fail_at(as, as->here.column,
                       is_open ? "expected } before another {" : "} without {");
    }
    if (!is_open) {
        return line_finish_bundle(as);
    }
    as->in_bundle = true;
    as->bundle_count = 0;
    as->bundle_place = as->here;
    return true;
}

/* Data words that waited for symbols. */
static bool fix_data(Asm *as, const DataFixup *fixup)
{
    Value value;
    as->here = fixup->place;
    if (!expression_value(as, fixup->node, true, &value)) {
        return false;
    }
    uint8_t *at = as->object->sections.at[fixup->section].at + fixup->offset;
    if (value.symbol < 0) {
        int64_t top = INT64_C(1) << (8 * fixup->bytes);
        if (value.number < -(top / 2) || value.number >= top) {
            return fail_at(as, fixup->place.column, "%lld does not fit %d bytes",
                           (long long)value.number, fixup->bytes);
        }
        for (int i = 0; i < fixup->bytes; i++) {
            at[i] = (uint8_t)((uint64_t)value.number >> (8 * i));
        }
        return true;
    }
    if (value.number < INT32_MIN || value.number > INT32_MAX) {
        return fail_at(as, fixup->place.column, "expected an offset of 32 bits from %.*s",
                       STR_ARG(as->object->symbols.at[value.symbol].name));
    }
    *vec_push(&as->object->relocs, as->keep) = (Reloc){
        .section = fixup->section,
        .offset = fixup->offset,
        .kind = fixup->bytes == 4   ? RELOC_32
                : fixup->bytes == 2 ? RELOC_16
                                    : RELOC_8,
        .symbol = value.symbol,
        .addend = (int32_t)value.number,
    };
    return true;
}

/* Symbols set from later labels get their final place; local symbols must exist. */
static bool finish_symbols(Asm *as)
{
    for (int32_t i = 0; i < (int32_t)as->object->symbols.len; i++) {
        const SymbolState *state = &as->symbol_state.at[i];
        Symbol *symbol = &as->object->symbols.at[i];
        as->here = state->place;
        if (symbol->section != SYMBOL_UNDEFINED) {
            continue;
        }
        if (state->node > 0) {
            Value value;
            if (!expression_value(as, state->node - 1, true, &value)) {
                return false;
            }
            symbol->section = SYMBOL_ABSOLUTE;
            symbol->value = (uint32_t)value.number;
            if (value.symbol >= 0) {
                const Symbol *base = &as->object->symbols.at[value.symbol];
                if (base->section < 0) {
                    return fail_at(as, state->place.column, "%.*s is undefined",
                                   STR_ARG(base->name));
                }
                symbol->section = base->section;
                symbol->value = base->value + (uint32_t)value.number;
            }
        } else if (state->is_referenced &&
                   (str_starts(symbol->name, S(".L")) || str_find(symbol->name, '#', 0) >= 0)) {
            return fail_at(as, state->place.column, "label %.*s is not defined",
                           STR_ARG(str_slice(symbol->name, 0,
                                             str_find(symbol->name, '#', 0) < 0
                                                 ? symbol->name.len
                                                 : str_find(symbol->name, '#', 0))));
        }
    }
    return true;
}

static bool finish(Asm *as)
{
    if (as->in_bundle) {
        as->here = as->bundle_place;
        return fail_at(as, as->bundle_place.column, "expected } to end this bundle");
    }
    for (isize i = 0; i < as->insn_fixups.len; i++) {
        if (!line_fix(as, &as->insn_fixups.at[i])) {
            return false;
        }
    }
    for (isize i = 0; i < as->data_fixups.len; i++) {
        if (!fix_data(as, &as->data_fixups.at[i])) {
            return false;
        }
    }
    for (isize i = 0; i < as->repeats.len; i++) {
        if (!repeat_check(as, &as->repeats.at[i])) {
            return false;
        }
    }
    return finish_symbols(as);
}

static bool define_outside(Asm *as, AsmDefineSpan defines)
{
    for (isize i = 0; i < defines.len; i++) {
        Cursor cursor = {defines.at[i].name, 0, 1};
        Str name = cursor_name(&cursor);
        if (name.len == 0 || name.len != defines.at[i].name.len || str_equal(name, S("."))) {
            return error_set(as->err, ERROR_INPUT, "-D",
                             "expected the name of a symbol, not '%.*s'",
                             STR_ARG(defines.at[i].name));
        }
        if (!symbol_set(as, name, expression_number(as, defines.at[i].value), 1)) {
            return false;
        }
    }
    return true;
}

bool asm_assemble(Str file, Str text, const AsmOptions *options, Arena *keep, Arena scratch,
                  Object *out, Error *err)
{
    static const AsmOptions none = {0};
    options = options ? options : &none;
    *out = (Object){.file = str_copy(file, keep)};
    Asm *as = arena_new(&scratch, Asm);
    as->keep = keep;
    as->err = err;
    as->includes = options->includes;
    as->flags = options->flags;
    as->object = out;
    as->here = (Place){.file = file, .line = 1, .column = 1};
    as->scratch = scratch;
    if (!section_select(as, S(".text"), true) || !define_outside(as, options->defines) ||
        !source_push(as, file, text)) {
        return false;
    }
    Statement statement;
    do {
        if (!source_next(as, &statement) ||
            (statement.kind != STATEMENT_END && !run_statement(as, &statement)) ||
            err->code != ERROR_NONE) {
            return false;
        }
        if (!as->in_bundle) {
            nodes_release(as);
        }
    } while (statement.kind != STATEMENT_END);
    return finish(as);
}
