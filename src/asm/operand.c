/* Operands of instructions: registers with their suffixes, CSR names, expressions (isa/registers.md 2 and 3). */
#include "asm/parts.h"
#include <string.h>

typedef struct RegisterName {
    Str name;
    char file;
    uint8_t first, count;
} RegisterName;

#define NAMED(text, file, first, count)                                                            \
    {                                                                                              \
        {text, (isize)sizeof text - 1}, file, first, count                                         \
    }
static const RegisterName named[] = {
    NAMED("mworker_base", 'm', 12, 1),
    NAMED("mvertex_base", 'm', 13, 1),
    NAMED("mzero", 'm', 15, 1),
    NAMED("bp", 'm', 8, 1),
    NAMED("fp", 'm', 9, 1),
    NAMED("lr", 'm', 10, 1),
    NAMED("sp", 'm', 11, 1),
    NAMED("azero", 'a', 15, 1),
    NAMED("azeros", 'a', 14, 2),
};
#undef NAMED

/* Number of one or two digits that is the rest of the text; -1 when it is not. */
static int digits_of(Str text)
{
    int value = 0;
    if (text.len < 1 || text.len > 2 || (text.len == 2 && text.at[0] == '0')) {
        return -1;
    }
    for (isize i = 0; i < text.len; i++) {
        if (text.at[i] < '0' || text.at[i] > '9') {
            return -1;
        }
        value = value * 10 + (text.at[i] - '0');
    }
    return value;
}

/* A register without range: m3, a15, ap1, aq0 or a name above. */
static bool find_register(Str name, Arg *arg)
{
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        if (str_equal(named[i].name, name)) {
            arg->file = named[i].file;
            arg->first = named[i].first;
            arg->count = named[i].count;
            return true;
        }
    }
    int count = str_starts(name, S("ap")) || str_starts(name, S("mp")) ? 2
                : str_starts(name, S("aq"))                            ? 4
                                                                       : 1;
    if (name.len < 2 || (name.at[0] != 'm' && name.at[0] != 'a')) {
        return false;
    }
    int number = digits_of(str_slice(name, count == 1 ? 1 : 2, name.len));
    if (number < 0 || number >= 16 / count) {
        return false;
    }
    arg->file = name.at[0];
    arg->first = (uint8_t)(number * count);
    arg->count = (uint8_t)count;
    return true;
}

/* What may stand directly behind a register: a range, a broadcast suffix, an update suffix. */
static bool parse_tail(Asm *as, Cursor *cursor, Arg *arg)
{
    Str rest = str_slice(cursor->text, cursor->at, cursor->text.len);
    if (rest.len > 1 && rest.at[0] == ':') {
        isize end = 1;
        while (end < rest.len && is_name_char(rest.at[end])) {
            end++;
        }
        Str text = str_slice(rest, 1, end);
        int last = digits_of(text);
        int count = last - arg->first + 1;
        if (str_equal(text, S("B")) || str_equal(text, S("BL")) || str_equal(text, S("BU"))) {
            if (arg->file != 'a' || arg->count != 1) {
                return fail_at(as, arg->column, "expected one aux register before :%.*s",
                               STR_ARG(text));
            }
            memcpy(arg->broadcast, text.at, (size_t)text.len);
        } else if (last < 0) {
            return fail_at(as, cursor_column(cursor),
                           "expected a register number, B, BL or BU behind the colon");
        } else if (arg->count != 1 || last > 15 ||
                   !(count == 2 || (count == 4 && arg->file == 'a')) || arg->first % count != 0) {
            return fail_at(as, arg->column,
                           "expected an aligned pair ($a0:1, $m2:3) or quad ($a4:7) of registers, "
                           "not $%c%d:%d",
                           arg->file, arg->first, last);
        } else {
            arg->count = (uint8_t)count;
        }
        cursor->at += end;
        rest = str_slice(cursor->text, cursor->at, cursor->text.len);
    }
    static const char *const suffixes[] = {"+=", "++", ">>", "@"};
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        if (str_starts(rest, str_of(suffixes[i]))) {
            memcpy(arg->suffix, suffixes[i], strlen(suffixes[i]));
            cursor->at += (isize)strlen(suffixes[i]);
            break;
        }
    }
    return true;
}

bool operand_parse(Asm *as, Cursor *cursor, Arg *arg)
{
    cursor_skip(cursor);
    *arg = (Arg){.column = cursor_column(cursor), .node = -1};
    if (!cursor_take(cursor, '$')) {
        arg->kind = ARG_EXPRESSION;
        arg->node = expression_parse(as, cursor);
        return arg->node >= 0;
    }
    isize begin = cursor->at;
    while (cursor->at < cursor->text.len && is_name_char(cursor->text.at[cursor->at])) {
        cursor->at++;
    }
    Str name = str_slice(cursor->text, begin, cursor->at);
    if (find_register(name, arg)) {
        arg->kind = ARG_REGISTER;
        return parse_tail(as, cursor, arg);
    }
    if (csr_find(name, CONTEXT_WORKER) < 0 && csr_find(name, CONTEXT_SUPERVISOR) < 0) {
        return fail_at(as, arg->column, "expected a register or CSR, not $%.*s", STR_ARG(name));
    }
    arg->kind = ARG_NAME;
    arg->name = name;
    return true;
}
