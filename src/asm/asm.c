/* Assembling one text: statement by statement, then the fixups (isa/assembler.md 2).
 *
 * After a mistake the next statement is looked at; an instruction that failed still takes its place, so that one mistake does
 * not misalign what follows.
 *
 * Differences from the vendor's assembler: a number as branch operand is a byte address, not the raw field; misaligned
 * bundles get a nop (line.c); form names are mnemonics (select.c); sendpicp takes its second word as a fifth operand.
 * Hostile texts need up to 2 GiB of reservation in `scratch` and 256 MiB in `keep` (with a listing 512 MiB).
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
        static const char *const allowed[] = {".macro", ".rept",    ".irp",   ".set",
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
    as->is_bundle_bad = false;
    as->bundle_count = 0;
    as->bundle_place = as->here;
    as->bundle_listed = as->listed;
    return true;
}

/* Adds a relocation of `value` (which has a symbol) at a place of `bytes` bytes. */
static bool add_reloc(Asm *as, int32_t section, uint32_t offset, RelocKind kind, const Value *value)
{
    if (value->number < INT32_MIN || value->number > INT32_MAX) {
        return fail_at(as, as->here.column, "expected an offset of 32 bits from %.*s",
                       STR_ARG(as->object->symbols.at[value->symbol].name));
    }
    *vec_push(&as->object->relocs, as->keep) = (Reloc){.section = section,
                                                       .offset = offset,
                                                       .kind = kind,
                                                       .symbol = value->symbol,
                                                       .addend = (int32_t)value->number};
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
    if (value.symbol < 0) {
        uint8_t *at = as->object->sections.at[fixup->section].at + fixup->offset;
        return data_bytes(as, &value, fixup->bytes, at);
    }
    RelocKind kind = fixup->bytes == 8   ? RELOC_64
                     : fixup->bytes == 4 ? RELOC_32
                     : fixup->bytes == 2 ? RELOC_16
                                         : RELOC_8;
    return data_kind(as, &value, fixup->bytes) &&
           add_reloc(as, fixup->section, fixup->offset, value.kind ? value.kind : kind, &value);
}

/* `.reloc offset, kind, value`. */
static bool fix_reloc(Asm *as, const RelocFixup *fixup)
{
    Value offset, value;
    as->here = fixup->place;
    if (!expression_value(as, fixup->offset, true, &offset) ||
        !expression_value(as, fixup->node, true, &value)) {
        return false;
    }
    if (offset.symbol >= 0) {
        const Symbol *symbol = &as->object->symbols.at[offset.symbol];
        if (symbol->section != fixup->section) {
            return fail_at(as, as->here.column, "expected an offset in this section");
        }
        offset.number += symbol->value;
    }
    int64_t bytes = reloc_shape(fixup->kind)->bytes;
    int64_t len = as->object->sections.at[fixup->section].len;
    if (offset.number < 0 || offset.number > len - bytes) {
        return fail_at(as, as->here.column, "expected an offset of %lld bytes below 0x%llx",
                       (long long)bytes, (long long)len);
    }
    if (value.symbol < 0 || value.kind != RELOC_NONE) {
        return fail_at(as, as->here.column, "expected a symbol, or a symbol and a number");
    }
    return add_reloc(as, fixup->section, (uint32_t)offset.number, fixup->kind, &value);
}

static bool fix_size(Asm *as, const SizeFixup *fixup)
{
    Value value;
    as->here = fixup->place;
    if (!expression_value(as, fixup->node, true, &value)) {
        return false;
    }
    if (value.symbol >= 0 || value.number < 0 || value.number > UINT32_MAX) {
        return fail_at(as, as->here.column, "expected a number of bytes");
    }
    as->object->symbols.at[fixup->symbol].bytes = (uint32_t)value.number;
    return true;
}

/* A symbol set from later labels gets its final place; a local symbol must exist. */
static bool finish_symbol(Asm *as, int32_t index)
{
    const SymbolState *state = &as->symbol_state.at[index];
    Symbol *symbol = &as->object->symbols.at[index];
    as->here = state->place;
    if (symbol->section != SYMBOL_UNDEFINED) {
        return true;
    }
    isize hash = str_find(symbol->name, '#', 0);
    if (state->node > 0) {
        Value value;
        if (!expression_value(as, state->node - 1, true, &value)) {
            return false;
        }
        symbol->section = SYMBOL_ABSOLUTE;
        symbol->value = (uint32_t)value.number;
        if (value.symbol >= 0) {
            const Symbol *base = &as->object->symbols.at[value.symbol];
            if (base->section < 0 || value.kind != RELOC_NONE) {
                return fail_at(as, state->place.column, "%.*s is undefined", STR_ARG(base->name));
            }
            symbol->section = base->section;
            symbol->value = base->value + (uint32_t)value.number;
        }
    } else if (state->is_referenced && (str_starts(symbol->name, S(".L")) || hash >= 0)) {
        Str name = str_slice(symbol->name, 0, hash < 0 ? symbol->name.len : hash);
        return fail_at(as, state->place.column, "label %.*s is not defined", STR_ARG(name));
    }
    return true;
}

/* After a mistake: false when there are too many, or nothing good can follow. */
static bool may_go_on(Asm *as)
{
    bool may = !as->is_over && as->error_count <= ASM_MESSAGES_MAX;
    *as->err = (Error){0};
    return may;
}

/* Everything that waited for the end of the text. */
static void finish(Asm *as)
{
    if (as->in_bundle) {
        as->here = as->bundle_place;
        fail_at(as, as->bundle_place.column, "expected } to end this bundle");
        may_go_on(as);
    }
    bool had_errors = as->error_count > 0;
    for (isize i = 0; i < as->insn_fixups.len; i++) {
        if (!line_fix(as, &as->insn_fixups.at[i]) && !may_go_on(as)) {
            return;
        }
    }
    for (isize i = 0; i < as->data_fixups.len; i++) {
        if (!fix_data(as, &as->data_fixups.at[i]) && !may_go_on(as)) {
            return;
        }
    }
    for (isize i = 0; i < as->reloc_fixups.len; i++) {
        if (!fix_reloc(as, &as->reloc_fixups.at[i]) && !may_go_on(as)) {
            return;
        }
    }
    for (isize i = 0; i < as->size_fixups.len; i++) {
        if (!fix_size(as, &as->size_fixups.at[i]) && !may_go_on(as)) {
            return;
        }
    }
    for (isize i = 0; i < as->repeats.len && !had_errors; i++) {
        if (!repeat_check(as, &as->repeats.at[i]) && !may_go_on(as)) {
            return;
        }
    }
    for (int32_t i = 0; i < (int32_t)as->object->symbols.len; i++) {
        if (!finish_symbol(as, i) && !may_go_on(as)) {
            return;
        }
    }
}

static bool define_outside(Asm *as, AsmDefineSpan defines)
{
    for (isize i = 0; i < defines.len; i++) {
        Cursor cursor = {defines.at[i].name, 0, 1};
        Str name = cursor_name(&cursor);
        if (name.len == 0 || name.len != defines.at[i].name.len || str_equal(name, S("."))) {
            as->here = (Place){.file = S("-D")};
            return fail_at(as, 0, "expected the name of a symbol, not '%.*s'",
                           STR_ARG(defines.at[i].name));
        }
        if (!symbol_set(as, name, expression_number(as, defines.at[i].value), 1)) {
            return false;
        }
    }
    return true;
}

/* A failed instruction keeps its place. */
static void stand_in(Asm *as)
{
    if (as->in_bundle) {
        as->is_bundle_bad = true;
        return;
    }
    if (as->is_instruction) {
        section_stand_in(as, as->is_bundle_bad ? 8 : 4);
    }
    as->is_bundle_bad = false;
}

static void run_all(Asm *as)
{
    for (;;) {
        Statement statement;
        as->is_instruction = false;
        bool is_good = source_next(as, &statement);
        if (is_good && statement.kind == STATEMENT_END) {
            finish(as);
            return;
        }
        is_good = is_good && run_statement(as, &statement) && as->err->code == ERROR_NONE;
        if (!is_good) {
            stand_in(as);
            if (!may_go_on(as)) {
                return;
            }
        }
        if (!as->in_bundle) {
            nodes_release(as);
        }
    }
}

bool asm_assemble(Str file, Str text, const AsmOptions *options, Arena *keep, Arena scratch,
                  Object *out, Error *err)
{
    static const AsmOptions none = {0};
    options = options ? options : &none;
    *out = (Object){.file = str_copy(file, keep)};
    Asm *as = arena_new(&scratch, Asm);
    Error statement_err = {0};
    as->keep = keep;
    as->err = &statement_err;
    as->includes = options->includes;
    as->flags = options->flags;
    as->has_listing = options->has_listing;
    as->object = out;
    as->here = (Place){.file = file, .line = 1, .column = 1};
    as->scratch = scratch;
    if (section_select(as, S(".text"), -1) && define_outside(as, options->defines) &&
        source_push(as, out->file, text)) {
        run_all(as);
    }
    for (isize i = 0; i < out->messages.len && as->error_count > 0; i++) {
        const AsmMessage *message = &out->messages.at[i];
        if (!message->is_warning) {
            return message_error(message, err);
        }
    }
    return true;
}
