/* Strings: slices of somebody's text, and text built in an arena (style.md 15).
 *
 * Numbers must be the whole string: "12abc" or "" is no number. Overflow is refused, never wrapped.
 */
#include "base/str.h"
#include "base/bits.h"
#include "base/error.h"
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v';
}

static int digit_of(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    if (c >= 'A' && c <= 'F') {
        return c - 'A' + 10;
    }
    return 99;
}

Str str_of(const char *cstr)
{
    return (Str){cstr, (isize)strlen(cstr)};
}

bool str_equal(Str a, Str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.at, b.at, (size_t)a.len) == 0);
}

int str_compare(Str a, Str b)
{
    isize common = a.len < b.len ? a.len : b.len;
    int order = common == 0 ? 0 : memcmp(a.at, b.at, (size_t)common);
    if (order == 0) {
        return (a.len > b.len) - (a.len < b.len);
    }
    return order < 0 ? -1 : 1;
}

bool str_starts(Str s, Str prefix)
{
    return s.len >= prefix.len && str_equal((Str){s.at, prefix.len}, prefix);
}

bool str_ends(Str s, Str suffix)
{
    return s.len >= suffix.len && str_equal(str_slice(s, s.len - suffix.len, s.len), suffix);
}

Str str_slice(Str s, isize begin, isize end)
{
    ASSERT(begin >= 0);
    ASSERT(begin <= end);
    ASSERT(end <= s.len);
    return s.at == NULL ? s : (Str){s.at + begin, end - begin};
}

isize str_folder_len(Str path)
{
    isize at = path.len;
    while (at > 0 && path.at[at - 1] != '/') {
        at--;
    }
    return at;
}

Str str_trim(Str s)
{
    isize begin = 0, end = s.len;
    while (begin < end && is_space(s.at[begin])) {
        begin++;
    }
    while (end > begin && is_space(s.at[end - 1])) {
        end--;
    }
    return str_slice(s, begin, end);
}

Str str_cut(Str *rest, char separator)
{
    isize at = str_find(*rest, separator, 0);
    if (at < 0) {
        Str all = *rest;
        *rest = str_slice(all, all.len, all.len);
        return all;
    }
    Str part = str_slice(*rest, 0, at);
    *rest = str_slice(*rest, at + 1, rest->len);
    return part;
}

bool str_take(Str *rest, Str prefix)
{
    if (!str_starts(*rest, prefix)) {
        return false;
    }
    *rest = str_slice(*rest, prefix.len, rest->len);
    return true;
}

isize str_find(Str s, char c, isize from)
{
    if (from >= s.len) {
        return -1;
    }
    const char *found = memchr(s.at + from, c, (size_t)(s.len - from));
    return found == NULL ? -1 : found - s.at;
}

Str str_copy(Str s, Arena *arena)
{
    char *at = arena_alloc(arena, s.len + 1, 1);
    if (s.len > 0) {
        memcpy(at, s.at, (size_t)s.len);
    }
    return (Str){at, s.len};
}

Str str_format(Arena *arena, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int len = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    ASSERT(len >= 0);
    char *at = arena_alloc(arena, (isize)len + 1, 1);
    (void)vsnprintf(at, (size_t)len + 1, format, again);
    va_end(again);
    return (Str){at, len};
}

bool str_to_int(Str s, int64_t *out)
{
    isize i = 0;
    bool is_negative = false;
    if (i < s.len && (s.at[i] == '-' || s.at[i] == '+')) {
        is_negative = s.at[i] == '-';
        i++;
    }
    uint64_t base = 10;
    if (s.len - i > 2 && s.at[i] == '0' && (s.at[i + 1] == 'x' || s.at[i + 1] == 'X')) {
        base = 16;
        i += 2;
    }
    if (i >= s.len) {
        return false;
    }
    uint64_t magnitude = 0;
    for (; i < s.len; i++) {
        uint64_t digit = (uint64_t)digit_of(s.at[i]);
        if (digit >= base || __builtin_mul_overflow(magnitude, base, &magnitude) ||
            __builtin_add_overflow(magnitude, digit, &magnitude)) {
            return false;
        }
    }
    uint64_t limit = (uint64_t)INT64_MAX + (is_negative ? 1 : 0);
    if (magnitude > limit) {
        return false;
    }
    *out = is_negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
    return true;
}

bool str_to_f64(Str s, double *out)
{
    char text[128];
    if (s.len <= 0 || s.len >= (isize)sizeof text || is_space(s.at[0]) ||
        memchr(s.at, '\0', (size_t)s.len) != NULL) {
        return false;
    }
    memcpy(text, s.at, (size_t)s.len);
    text[s.len] = '\0';
    char *end;
    double value = strtod(text, &end);
    if (end != text + s.len || !isfinite(value)) {
        return false;
    }
    *out = value;
    return true;
}

uint64_t str_hash(Str s)
{
    return hash64_of(s.at, s.len, 0);
}

bool str_is_printable(Str s)
{
    for (isize i = 0; i < s.len; i++) {
        if ((uint8_t)s.at[i] < 0x20 || s.at[i] == 0x7f) {
            return false;
        }
    }
    return true;
}

Str str_shown(Str s, Arena *arena)
{
    enum { SHOWN_BYTES = 100 };
    static const char digits[] = "0123456789abcdef";
    isize shown = s.len < SHOWN_BYTES ? s.len : SHOWN_BYTES;
    char *out = arena_alloc(arena, 4 * shown + 4, 1);
    isize len = 0;
    for (isize i = 0; i < shown; i++) {
        uint8_t c = (uint8_t)s.at[i];
        if (c >= 0x20 && c < 0x7f && c != '\\' && c != '"') {
            out[len++] = (char)c;
        } else {
            out[len++] = '\\';
            out[len++] = 'x';
            out[len++] = digits[c >> 4];
            out[len++] = digits[c & 15];
        }
    }
    if (shown < s.len) {
        memcpy(out + len, "...", 3);
        len += 3;
    }
    out[len] = '\0';
    return (Str){out, len};
}
