/* Directives (isa/assembler.md 2.1). */
#include "asm/parts.h"
#include "base/bits.h"

static bool take_comma_or_end(Asm *as, Cursor *cursor, bool *is_more)
{
    *is_more = cursor_take(cursor, ',');
    return *is_more || cursor_finish(as, cursor);
}

bool data_bytes(Asm *as, const Value *value, int bytes, uint8_t *at)
{
    int64_t number;
    if (!data_kind(as, value, bytes) || !expression_field(as, value, as->here.column, &number)) {
        return false;
    }
    int64_t top = bytes < 8 ? INT64_C(1) << (8 * bytes) : 0;
    if (bytes < 8 && (number < -(top / 2) || number >= top)) {
        return fail_at(as, as->here.column, "%lld does not fit %d bytes", (long long)number, bytes);
    }
    for (int i = 0; i < bytes; i++) {
        at[i] = (uint8_t)((uint64_t)number >> (8 * i));
    }
    return true;
}

bool data_kind(Asm *as, const Value *value, int bytes)
{
    return value->kind == RELOC_NONE || reloc_shape(value->kind)->bytes == bytes ||
           fail_at(as, as->here.column, "expected this modifier in a datum of %d bytes, not of %d",
                   reloc_shape(value->kind)->bytes, bytes);
}

/* .byte .short .long .quad: numbers, or addresses for the linker. */
static bool emit_integers(Asm *as, Cursor *cursor, int bytes)
{
    bool is_more = true;
    while (is_more) {
        int32_t node = expression_parse(as, cursor);
        Value value = {.symbol = -1};
        uint8_t little[8] = {0};
        if (node < 0) {
            return false;
        }
        if (expression_value(as, node, false, &value) && value.symbol < 0) {
            if (!data_bytes(as, &value, bytes, little)) {
                return false;
            }
        } else {
            if (as->err->code != ERROR_NONE) {
                return false;
            }
            *vec_push(&as->data_fixups, &as->scratch) =
                (DataFixup){as->here, as->section, node, section_offset(as), bytes};
            nodes_keep(as);
        }
        if (!section_append(as, little, bytes) || !take_comma_or_end(as, cursor, &is_more)) {
            return false;
        }
    }
    return true;
}

/* .half and .float: real numbers; in .half an integer or a literal with h is a bit pattern. */
static bool emit_reals(Asm *as, Cursor *cursor, bool is_half)
{
    bool is_more = true;
    while (is_more) {
        cursor_skip(cursor);
        uint32_t column = cursor_column(cursor), bits;
        Cursor peek = *cursor;
        bool is_negative = cursor_take(&peek, '-');
        double real = 0;
        isize len = float_literal(&peek, &real);
        Str text = str_slice(peek.text, peek.at, peek.at + len);
        bool has_point = str_find(text, '.', 0) >= 0 || str_find(text, 'e', 0) >= 0 ||
                         str_find(text, 'E', 0) >= 0;
        char after = peek.at + len < peek.text.len ? peek.text.at[peek.at + len] : 0;
        if (len > 0 && !is_name_char(after) && (has_point || !is_half)) {
            real = is_negative ? -real : real;
            bits = is_half ? half_of(real) : bits_of_f32((float)real);
            peek.at += len;
            *cursor = peek;
        } else {
            int64_t number;
            if (!expression_now(as, cursor, is_half ? "a binary16 number" : "a number", &number)) {
                return false;
            }
            if (number < (is_half ? -32768 : INT32_MIN) ||
                number > (is_half ? 0xffff : INT64_C(0xffffffff))) {
                return fail_at(as, column, "%lld does not fit", (long long)number);
            }
            bits = is_half ? (uint32_t)number : bits_of_f32((float)number);
        }
        if (!section_append(as, &bits, is_half ? 2 : 4) ||
            !take_comma_or_end(as, cursor, &is_more)) {
            return false;
        }
    }
    return true;
}

static bool emit_space(Asm *as, Cursor *cursor)
{
    int64_t bytes, fill = 0;
    if (!expression_now(as, cursor, "a number of bytes", &bytes) ||
        (cursor_take(cursor, ',') && !expression_now(as, cursor, "a fill byte", &fill)) ||
        !cursor_finish(as, cursor)) {
        return false;
    }
    if (bytes < 0 || bytes > OBJECT_BYTES_MAX) {
        return fail_at(as, as->here.column, "expected 0..%d bytes, not %lld", OBJECT_BYTES_MAX,
                       (long long)bytes);
    }
    uint8_t block[256];
    memset(block, (int)(fill & 0xff), sizeof block);
    for (; bytes > 0; bytes -= (int64_t)sizeof block) {
        if (!section_append(as, block, (isize)min_i64(bytes, (int64_t)sizeof block))) {
            return false;
        }
    }
    return true;
}

/* `.align align, fill, most`: .align and .balign take bytes, .p2align the power of two; nothing when more than `most` bytes
 * would be needed. */
static bool emit_align(Asm *as, Cursor *cursor, bool is_power)
{
    int64_t align, fill = 0, most = INT64_MAX;
    if (!expression_now(as, cursor, "an alignment", &align)) {
        return false;
    }
    if (cursor_take(cursor, ',') && !cursor_is_end(cursor)) {
        Cursor peek = *cursor;
        if (!cursor_take(&peek, ',') && !expression_now(as, cursor, "a fill byte", &fill)) {
            return false;
        }
        if (cursor_take(cursor, ',') && !expression_now(as, cursor, "a number of bytes", &most)) {
            return false;
        }
    }
    if (!cursor_finish(as, cursor)) {
        return false;
    }
    if (is_power) {
        align = align >= 0 && align <= 16 ? INT64_C(1) << align : 0;
    }
    if (align <= 0 || align > ALIGN_MAX || (align & (align - 1)) != 0) {
        return fail_at(as, as->here.column, "expected an alignment of 1, 2, 4 .. %d bytes",
                       ALIGN_MAX);
    }
    int64_t gap = align_up(section_offset(as), align) - section_offset(as);
    return gap > most || section_align(as, (uint32_t)align, (uint32_t)(fill & 0xff));
}

static bool take_symbol(Asm *as, Cursor *cursor, Str *name)
{
    cursor_skip(cursor);
    uint32_t column = cursor_column(cursor);
    *name = cursor_name(cursor);
    return (name->len > 0 && !str_equal(*name, S("."))) ||
           fail_at(as, column, "expected the name of a symbol");
}

static bool set_symbol(Asm *as, Cursor *cursor)
{
    cursor_skip(cursor);
    uint32_t column = cursor_column(cursor);
    Str name;
    if (!take_symbol(as, cursor, &name)) {
        return false;
    }
    if (!cursor_take(cursor, ',')) {
        return fail_at(as, cursor_column(cursor), "expected a comma");
    }
    int32_t node = expression_parse(as, cursor);
    return node >= 0 && cursor_finish(as, cursor) && symbol_set(as, name, node, column);
}

static bool name_symbols(Asm *as, Cursor *cursor, bool is_global)
{
    bool is_more = true;
    while (is_more) {
        Str name;
        if (!take_symbol(as, cursor, &name)) {
            return false;
        }
        if (is_global) {
            int32_t symbol = symbol_need(as, name);
            as->object->symbols.at[symbol].is_global = true;
        }
        if (!take_comma_or_end(as, cursor, &is_more)) {
            return false;
        }
    }
    return true;
}

/* A text in quotes. */
static bool take_quoted(Asm *as, Cursor *cursor, const char *what, Str *text)
{
    cursor_skip(cursor);
    isize begin = cursor->at + 1;
    isize end = cursor_take(cursor, '"') ? str_find(cursor->text, '"', begin) : -1;
    if (end < 0) {
        return fail_at(as, cursor_column(cursor), "expected %s in quotes", what);
    }
    *text = str_slice(cursor->text, begin, end);
    cursor->at = end + 1;
    return true;
}

/* `.section name, "flags", @progbits`; flags a (in the image), w, x. */
static bool enter_section(Asm *as, Cursor *cursor)
{
    cursor_skip(cursor);
    Cursor peek = *cursor;
    Str name = cursor_name(cursor), letters, type = S("progbits");
    if (cursor_take(&peek, '"') && !take_quoted(as, cursor, "the name of a section", &name)) {
        return false;
    }
    if (name.len == 0) {
        return fail_at(as, cursor_column(cursor), "expected the name of a section");
    }
    int64_t flags = -1;
    if (cursor_take(cursor, ',')) {
        if (!take_quoted(as, cursor, "section flags", &letters)) {
            return false;
        }
        flags = 0;
        for (isize i = 0; i < letters.len; i++) {
            char c = letters.at[i];
            if (c != 'a' && c != 'w' && c != 'x') {
                return fail_at(as, as->here.column, "expected section flags of a, w and x");
            }
            flags |= c == 'a' ? SECTION_ALLOC : c == 'w' ? SECTION_WRITE : SECTION_CODE;
        }
        if (cursor_take(cursor, ',')) {
            type = cursor_take(cursor, '@') || cursor_take(cursor, '%') ? cursor_name(cursor)
                                                                        : (Str){0};
            flags |= str_equal(type, S("nobits")) ? SECTION_NOBITS : 0;
        }
    }
    if (!str_equal(type, S("progbits")) && !str_equal(type, S("nobits"))) {
        return fail_at(as, cursor_column(cursor), "expected @progbits or @nobits");
    }
    return cursor_finish(as, cursor) && section_select(as, name, flags);
}

/* `.type name, @function` */
static bool set_type(Asm *as, Cursor *cursor)
{
    Str name;
    if (!take_symbol(as, cursor, &name)) {
        return false;
    }
    Str type = cursor_take(cursor, ',') && (cursor_take(cursor, '@') || cursor_take(cursor, '%'))
                   ? cursor_name(cursor)
                   : (Str){0};
    SymbolKind kind = str_equal(type, S("function")) ? SYMBOL_FUNCTION
                      : str_equal(type, S("object")) ? SYMBOL_OBJECT
                                                     : SYMBOL_PLAIN;
    if (kind == SYMBOL_PLAIN && !str_equal(type, S("notype"))) {
        return fail_at(as, cursor_column(cursor),
                       "expected a symbol, a comma and @function, @object or @notype");
    }
    int32_t symbol = symbol_need(as, name);
    as->object->symbols.at[symbol].kind = kind;
    return cursor_finish(as, cursor);
}

/* `.size name, .-name`, evaluated at the end. */
static bool set_size(Asm *as, Cursor *cursor)
{
    Str name;
    if (!take_symbol(as, cursor, &name)) {
        return false;
    }
    if (!cursor_take(cursor, ',')) {
        return fail_at(as, cursor_column(cursor), "expected a comma and a number of bytes");
    }
    int32_t symbol = symbol_need(as, name);
    isize pending = as->pending.len;
    int32_t node = expression_parse(as, cursor);
    as->pending.len = pending; /* `.` stays in front of padding that may follow */
    if (node < 0) {
        return false;
    }
    *vec_push(&as->size_fixups, &as->scratch) = (SizeFixup){as->here, symbol, node};
    nodes_keep(as);
    return cursor_finish(as, cursor);
}

/* `.reloc offset, kind, symbol + number` */
static bool add_relocation(Asm *as, Cursor *cursor)
{
    RelocFixup fixup = {.place = as->here, .section = as->section};
    fixup.offset = expression_parse(as, cursor);
    if (fixup.offset < 0) {
        return false;
    }
    bool has_comma = cursor_take(cursor, ',');
    cursor_skip(cursor);
    uint32_t column = cursor_column(cursor);
    isize begin = cursor->at;
    while (cursor->at < cursor->text.len && is_name_char(cursor->text.at[cursor->at])) {
        cursor->at++;
    }
    Str name = str_slice(cursor->text, begin, cursor->at);
    for (int kind = 1; kind < RELOC_KINDS; kind++) {
        const RelocShape *shape = reloc_shape(kind);
        if (shape && str_equal(shape->name, name)) {
            fixup.kind = (RelocKind)kind;
        }
    }
    if (!has_comma || fixup.kind == RELOC_NONE || !cursor_take(cursor, ',')) {
        return fail_at(as, column, "expected an offset, a kind like 19_S2 or RUN_INSTR, a symbol");
    }
    fixup.node = expression_parse(as, cursor);
    if (fixup.node < 0) {
        return false;
    }
    *vec_push(&as->reloc_fixups, &as->scratch) = fixup;
    nodes_keep(as);
    return cursor_finish(as, cursor);
}

/* .error_on_X, .warn_on_X, .allow_X; false when the name is none of them. */
static bool set_strictness(Asm *as, Str name)
{
    static const char *const verbs[] = {
        [RULE_IS_ERROR] = ".error_on_", [RULE_IS_WARNING] = ".warn_on_", [RULE_IS_OFF] = ".allow_"};
    static const char *const rules[RULE_COUNT] = {[RULE_OPERANDS] = "invalid_operands",
                                                  [RULE_BUNDLES] = "invalid_bundles",
                                                  [RULE_EXECUTION_MODE] = "invalid_execution_mode",
                                                  [RULE_REPEAT] = "invalid_repeat"};
    for (int verb = 0; verb < 3; verb++) {
        Str rest = name;
        for (int rule = 0; rule < RULE_COUNT && str_take(&rest, str_of(verbs[verb])); rule++) {
            if (str_equal(rest, str_of(rules[rule]))) {
                as->strictness[rule] = (Strictness)verb;
                return true;
            }
            rest = name;
        }
    }
    return false;
}

static bool include_file(Asm *as, Cursor *cursor)
{
    Str name, text;
    if (!take_quoted(as, cursor, "a file name", &name) || !cursor_finish(as, cursor)) {
        return false;
    }
    name = str_copy(name, as->keep);
    if (!as->includes) {
        return fail_at(as, as->here.column, "expected no .include here");
    }
    Error err = {0};
    if (!as->includes->find(as->includes->context, name, &text, &err)) {
        return fail_at(as, as->here.column, "cannot include '%.*s': %s", STR_ARG(name),
                       err.message);
    }
    return source_push(as, name, text);
}

static bool purge_macro(Asm *as, Cursor *cursor)
{
    Str name = cursor_name(cursor);
    const uint32_t *slot = str_map_get(&as->macro_index, name);
    if (!slot || *slot == 0 || as->macros.at[*slot - 1].is_purged) {
        return fail_at(as, cursor_column(cursor), "expected the name of a macro");
    }
    as->macros.at[*slot - 1].is_purged = true;
    return cursor_finish(as, cursor);
}

static bool set_mode(Asm *as, Cursor *cursor, InsnContext mode)
{
    as->mode = mode;
    as->has_mode = true;
    return cursor_finish(as, cursor);
}

static bool is_defined(const Asm *as, Str name)
{
    int32_t symbol = symbol_find(as, name);
    return symbol >= 0 && (as->object->symbols.at[symbol].section != SYMBOL_UNDEFINED ||
                           as->symbol_state.at[symbol].node > 0);
}

/* Truth of .if, .ifdef, .ifndef, .ifc, .ifnc, .ifb, .ifnb. */
static bool condition_holds(Asm *as, Str name, Cursor *cursor, bool *holds)
{
    if (str_equal(name, S(".if")) || str_equal(name, S(".elseif"))) {
        int64_t number;
        if (!expression_now(as, cursor, "a number", &number)) {
            return false;
        }
        *holds = number != 0;
    } else if (str_equal(name, S(".ifdef")) || str_equal(name, S(".ifndef"))) {
        Str symbol = cursor_name(cursor);
        if (symbol.len == 0) {
            return fail_at(as, cursor_column(cursor), "expected the name of a symbol");
        }
        *holds = is_defined(as, symbol) == str_equal(name, S(".ifdef"));
    } else if (str_equal(name, S(".ifb")) || str_equal(name, S(".ifnb"))) {
        *holds = cursor_is_end(cursor) == str_equal(name, S(".ifb"));
        cursor->at = cursor->text.len;
    } else {
        isize comma = str_find(cursor->text, ',', cursor->at);
        if (comma < 0) {
            return fail_at(as, cursor_column(cursor), "expected two texts with a comma between");
        }
        Str left = str_trim(str_slice(cursor->text, cursor->at, comma));
        Str right = str_trim(str_slice(cursor->text, comma + 1, cursor->text.len));
        *holds = str_equal(left, right) == str_equal(name, S(".ifc"));
        cursor->at = cursor->text.len;
    }
    return cursor_finish(as, cursor);
}

bool condition_run(Asm *as, Str name, Cursor *cursor, bool *is_condition)
{
    static const char *const openers[] = {".if",   ".ifdef", ".ifndef", ".ifc",
                                          ".ifnc", ".ifb",   ".ifnb"};
    *is_condition = true;
    Condition *top = as->condition_count > 0 ? &as->condition[as->condition_count - 1] : NULL;
    for (size_t i = 0; i < sizeof openers / sizeof *openers; i++) {
        if (str_equal(name, str_of(openers[i]))) {
            if (as->condition_count == CONDITIONS_MAX) {
                return stop_at(as, as->here.column, "expected at most %d nested conditions",
                               CONDITIONS_MAX);
            }
            bool is_active = !top || top->is_active, holds = false;
            bool is_good = !is_active || condition_holds(as, name, cursor, &holds);
            /* After a mistake neither branch is looked at. */
            as->condition[as->condition_count++] =
                (Condition){.is_active = is_active && holds && is_good,
                            .was_taken = holds || !is_good,
                            .is_parent_active = is_active};
            return is_good;
        }
    }
    bool is_else = str_equal(name, S(".else")), is_elseif = str_equal(name, S(".elseif"));
    if (!is_else && !is_elseif && !str_equal(name, S(".endif"))) {
        *is_condition = false;
        return true;
    }
    if (!top || as->condition_count <= as->frame[as->frame_count - 1].condition_count) {
        return fail_at(as, as->here.column, "%.*s without .if", STR_ARG(name));
    }
    if (!is_else && !is_elseif) {
        as->condition_count--;
        return cursor_finish(as, cursor);
    }
    if (top->had_else) {
        return fail_at(as, as->here.column, "expected .endif after .else");
    }
    bool holds = is_else;
    bool is_asked = top->is_parent_active && !top->was_taken;
    if (is_elseif && is_asked && !condition_holds(as, name, cursor, &holds)) {
        top->is_active = false;
        top->was_taken = true;
        return false;
    }
    top->is_active = is_asked && holds;
    top->was_taken = top->was_taken || holds;
    top->had_else = is_else;
    return is_elseif || cursor_finish(as, cursor);
}

bool directive_run(Asm *as, Str name, Cursor *cursor)
{
    typedef enum Directive {
        RUN_WORKER,
        RUN_SUPERVISOR,
        RUN_TEXT,
        RUN_DATA,
        RUN_SECTION,
        RUN_GLOBAL,
        RUN_EXTERN,
        RUN_TYPE,
        RUN_BYTES,
        RUN_RELOC,
        RUN_SWAP,
        RUN_ALIGN,
        RUN_P2ALIGN,
        RUN_BYTE,
        RUN_SHORT,
        RUN_LONG,
        RUN_QUAD,
        RUN_HALF,
        RUN_FLOAT,
        RUN_SPACE,
        RUN_SET,
        RUN_MACRO,
        RUN_PURGE,
        RUN_REPEAT,
        RUN_VALUES,
        RUN_INCLUDE,
        RUN_ERROR,
    } Directive;
    static const struct {
        const char *name;
        Directive directive;
    } directives[] = {
        {".worker", RUN_WORKER},   {".supervisor", RUN_SUPERVISOR},
        {".text", RUN_TEXT},       {".data", RUN_DATA},
        {".section", RUN_SECTION}, {".globl", RUN_GLOBAL},
        {".global", RUN_GLOBAL},   {".extern", RUN_EXTERN},
        {".type", RUN_TYPE},       {".size", RUN_BYTES},
        {".reloc", RUN_RELOC},     {".allow_optimizations", RUN_SWAP},
        {".align", RUN_ALIGN},     {".balign", RUN_ALIGN},
        {".p2align", RUN_P2ALIGN}, {".byte", RUN_BYTE},
        {".short", RUN_SHORT},     {".long", RUN_LONG},
        {".word", RUN_LONG},       {".quad", RUN_QUAD},
        {".half", RUN_HALF},       {".float", RUN_FLOAT},
        {".space", RUN_SPACE},     {".zero", RUN_SPACE},
        {".skip", RUN_SPACE},      {".set", RUN_SET},
        {".equ", RUN_SET},         {".macro", RUN_MACRO},
        {".purgem", RUN_PURGE},    {".rept", RUN_REPEAT},
        {".irp", RUN_VALUES},      {".include", RUN_INCLUDE},
        {".error", RUN_ERROR},
    };
    size_t found = 0, count = sizeof directives / sizeof *directives;
    while (found < count && !str_equal(name, str_of(directives[found].name))) {
        found++;
    }
    if (found == count && set_strictness(as, name)) {
        return cursor_finish(as, cursor);
    }
    if (found == count) {
        return fail_at(as, as->here.column, "expected a directive of this assembler, not '%.*s'",
                       STR_ARG(name));
    }
    int64_t number;
    Str text;
    switch (directives[found].directive) {
    case RUN_WORKER:
        return set_mode(as, cursor, CONTEXT_WORKER);
    case RUN_SUPERVISOR:
        return set_mode(as, cursor, CONTEXT_SUPERVISOR);
    case RUN_TEXT:
        return cursor_finish(as, cursor) && section_select(as, S(".text"), -1);
    case RUN_DATA:
        return cursor_finish(as, cursor) && section_select(as, S(".data"), -1);
    case RUN_SECTION:
        return enter_section(as, cursor);
    case RUN_GLOBAL:
        return name_symbols(as, cursor, true);
    case RUN_EXTERN:
        return name_symbols(as, cursor, false);
    case RUN_TYPE:
        return set_type(as, cursor);
    case RUN_BYTES:
        return set_size(as, cursor);
    case RUN_RELOC:
        return add_relocation(as, cursor);
    case RUN_SWAP:
        as->may_swap = true;
        return cursor_finish(as, cursor);
    case RUN_ALIGN:
        return emit_align(as, cursor, false);
    case RUN_P2ALIGN:
        return emit_align(as, cursor, true);
    case RUN_BYTE:
        return emit_integers(as, cursor, 1);
    case RUN_SHORT:
        return emit_integers(as, cursor, 2);
    case RUN_LONG:
        return emit_integers(as, cursor, 4);
    case RUN_QUAD:
        return emit_integers(as, cursor, 8);
    case RUN_HALF:
        return emit_reals(as, cursor, true);
    case RUN_FLOAT:
        return emit_reals(as, cursor, false);
    case RUN_SPACE:
        return emit_space(as, cursor);
    case RUN_SET:
        return set_symbol(as, cursor);
    case RUN_MACRO:
        return source_define_macro(as, cursor);
    case RUN_PURGE:
        return purge_macro(as, cursor);
    case RUN_REPEAT:
        if (!expression_now(as, cursor, "a repeat count", &number) || !cursor_finish(as, cursor)) {
            return source_push_repeat(as, 0) && false; /* passes over the body */
        }
        return source_push_repeat(as, number);
    case RUN_VALUES:
        return source_push_values(as, cursor);
    case RUN_ERROR:
        return take_quoted(as, cursor, "a message", &text) &&
               fail_at(as, as->here.column, "%.*s", STR_ARG(text));
    case RUN_INCLUDE:
        return include_file(as, cursor);
    }
    return false;
}
