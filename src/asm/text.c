/* Scanning helpers of the assembler: cursors, names, floating-point literals. */
#include "asm/parts.h"
#include "base/bits.h"

bool is_name_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.';
}

bool is_name_char(char c)
{
    return is_name_start(c) || (c >= '0' && c <= '9') || c == '$';
}

Cursor cursor_of(const Asm *as, Str text)
{
    return (Cursor){text, 0, as->here.column};
}

uint32_t cursor_column(const Cursor *cursor)
{
    return cursor->column + (uint32_t)cursor->at;
}

void cursor_skip(Cursor *cursor)
{
    while (cursor->at < cursor->text.len &&
           (cursor->text.at[cursor->at] == ' ' || cursor->text.at[cursor->at] == '\t')) {
        cursor->at++;
    }
}

bool cursor_is_end(Cursor *cursor)
{
    cursor_skip(cursor);
    return cursor->at >= cursor->text.len;
}

bool cursor_take(Cursor *cursor, char c)
{
    cursor_skip(cursor);
    if (cursor->at < cursor->text.len && cursor->text.at[cursor->at] == c) {
        cursor->at++;
        return true;
    }
    return false;
}

Str cursor_name(Cursor *cursor)
{
    cursor_skip(cursor);
    isize begin = cursor->at;
    if (begin < cursor->text.len && is_name_start(cursor->text.at[begin])) {
        while (cursor->at < cursor->text.len && is_name_char(cursor->text.at[cursor->at])) {
            cursor->at++;
        }
    }
    return str_slice(cursor->text, begin, cursor->at);
}

bool cursor_finish(Asm *as, Cursor *cursor)
{
    if (cursor_is_end(cursor)) {
        return true;
    }
    return fail_at(
        as, cursor_column(cursor), "expected the end of the statement, not '%.*s'",
        STR_ARG(str_slice(cursor->text, cursor->at, min_i64(cursor->at + 40, cursor->text.len))));
}

uint32_t half_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint32_t sign = (uint32_t)(bits >> 48) & 0x8000;
    int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
    uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);
    if (exponent == 1024) {
        return sign | 0x7c00 | (fraction ? 0x200 : 0);
    }
    if (exponent < -25) {
        return sign;
    }
    if (exponent > 15) {
        return sign | 0x7c00;
    }
    /* Units in the last place: 2^(exponent - 10) for normal numbers, 2^-24 below. */
    int drop = 42 + (exponent < -14 ? -14 - exponent : 0);
    uint64_t whole = fraction | UINT64_C(1) << 52;
    uint64_t kept = whole >> drop, rest = whole & ((UINT64_C(1) << drop) - 1),
             tie = UINT64_C(1) << (drop - 1);
    kept += rest > tie || (rest == tie && (kept & 1)) ? 1 : 0;
    /* A carry out of the fraction moves into the exponent by itself; up to infinity. */
    uint64_t base = exponent < -14 ? 0 : (uint64_t)(exponent + 14) << 10;
    return sign | (uint32_t)(base + kept);
}

isize float_literal(const Cursor *cursor, double *value)
{
    char text[64];
    isize len = 0, digit_count = 0;
    bool has_point = false, has_exponent = false;
    for (isize i = cursor->at; i < cursor->text.len && len < (isize)sizeof text - 1; i++) {
        char c = cursor->text.at[i];
        char before = len > 0 ? text[len - 1] : 0;
        bool is_digit = c >= '0' && c <= '9';
        bool is_point = c == '.' && !has_point && !has_exponent;
        bool is_exponent = (c == 'e' || c == 'E') && digit_count > 0 && !has_exponent;
        bool is_sign = (c == '+' || c == '-') && (before == 'e' || before == 'E');
        if (!is_digit && !is_point && !is_exponent && !is_sign) {
            break;
        }
        digit_count += is_digit ? 1 : 0;
        has_point = has_point || is_point;
        has_exponent = has_exponent || is_exponent;
        text[len++] = c;
    }
    text[len] = 0;
    if (digit_count == 0 || !str_to_f64((Str){text, len}, value)) {
        return 0;
    }
    return len;
}
