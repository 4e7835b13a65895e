/* JSON, pulled token by token (safetensors.md 4): RFC 8259 strictly, nothing built, nothing allocated but strings.
 *
 * Malformed text stops at the first wrong byte, whose position is the error's place. Depth is bounded, so that
 * nesting cannot exhaust the stack; integers are exact to 64 bits.
 */
#include "import/pull.h"
#include <stdio.h>
#include <string.h>

bool json_reader_fail(const JsonReader *reader, const char *what)
{
    char where[48];
    (void)snprintf(where, sizeof where, "byte %td", (isize)reader->offset + reader->pos);
    return error_set(reader->err, ERROR_INPUT, where, "%s", what);
}

/* --- bytes and tokens ----------------------------------------------------------------------------------- */

/* Length of the UTF-8 sequence at `at`, or 0 (Unicode standard, table 3-7: no overlong forms, no surrogates,
 * nothing above U+10FFFF). */
static int utf8_len(const uint8_t *at, isize room)
{
    uint8_t first = at[0];
    if (first < 0x80) {
        return 1;
    }
    int len = first >= 0xc2 && first <= 0xdf   ? 2
              : first >= 0xe0 && first <= 0xef ? 3
              : first >= 0xf0 && first <= 0xf4 ? 4
                                               : 0;
    if (len == 0 || len > room) {
        return 0;
    }
    uint8_t low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    uint8_t high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    for (int i = 1; i < len; i++) {
        if (at[i] < low || at[i] > high) {
            return 0;
        }
        low = 0x80;
        high = 0xbf;
    }
    return len;
}

bool reader_check_utf8(JsonReader *reader)
{
    while (reader->pos < reader->len) {
        int len = utf8_len(reader->at + reader->pos, reader->len - reader->pos);
        if (len == 0) {
            return json_reader_fail(reader, "the header is not valid UTF-8");
        }
        reader->pos += len;
    }
    reader->pos = 0;
    return true;
}

static void skip_space(JsonReader *reader)
{
    while (reader->pos < reader->len) {
        uint8_t c = reader->at[reader->pos];
        if (c != ' ' && c != '\t' && c != '\n' && c != '\r') {
            return;
        }
        reader->pos++;
    }
}

uint8_t json_reader_peek(JsonReader *reader)
{
    skip_space(reader);
    return reader->pos < reader->len ? reader->at[reader->pos] : 0;
}

bool json_reader_may_take(JsonReader *reader, char c)
{
    if (json_reader_peek(reader) != (uint8_t)c) {
        return false;
    }
    reader->pos++;
    return true;
}

bool json_reader_take(JsonReader *reader, char c, const char *what)
{
    return json_reader_may_take(reader, c) || json_reader_fail(reader, what);
}

bool json_reader_may_take_word(JsonReader *reader, const char *word)
{
    isize len = (isize)strlen(word);
    skip_space(reader);
    if (reader->len - reader->pos < len ||
        memcmp(reader->at + reader->pos, word, (size_t)len) != 0) {
        return false;
    }
    reader->pos += len;
    return true;
}

bool json_reader_open(JsonReader *reader, char c, const char *what)
{
    if (!json_reader_take(reader, c, what)) {
        return false;
    }
    return ++reader->depth <= reader->depth_max || json_reader_fail(reader, "nested too deeply");
}

/* --- strings -------------------------------------------------------------------------------------------- */

static bool take_hex4(JsonReader *reader, uint32_t *out)
{
    *out = 0;
    for (int i = 0; i < 4; i++) {
        if (reader->pos >= reader->len) {
            return json_reader_fail(reader, "expected four hexadecimal digits");
        }
        uint8_t c = reader->at[reader->pos];
        uint32_t digit = c >= '0' && c <= '9'   ? c - '0' + 0u
                         : c >= 'a' && c <= 'f' ? c - 'a' + 10u
                         : c >= 'A' && c <= 'F' ? c - 'A' + 10u
                                                : 16u;
        if (digit > 15) {
            return json_reader_fail(reader, "expected four hexadecimal digits");
        }
        *out = *out * 16 + digit;
        reader->pos++;
    }
    return true;
}

static isize put_utf8(uint32_t code, char *out)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xc0 | code >> 6);
        out[1] = (char)(0x80 | (code & 63));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xe0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 63));
        out[2] = (char)(0x80 | (code & 63));
        return 3;
    }
    out[0] = (char)(0xf0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 63));
    out[2] = (char)(0x80 | (code >> 6 & 63));
    out[3] = (char)(0x80 | (code & 63));
    return 4;
}

/* One escape sequence behind the backslash, as UTF-8. */
static bool take_escape(JsonReader *reader, char *out, isize *len)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    uint8_t c = reader->pos < reader->len ? reader->at[reader->pos] : 0;
    const char *simple = c == 0 ? NULL : strchr(from, c);
    if (simple != NULL) {
        reader->pos++;
        out[(*len)++] = to[simple - from];
        return true;
    }
    if (c != 'u') {
        return json_reader_fail(reader, "unknown escape in a string");
    }
    reader->pos++;
    uint32_t code, low;
    if (!take_hex4(reader, &code)) {
        return false;
    }
    if (code >= 0xdc00 && code <= 0xdfff) {
        return json_reader_fail(reader, "lone surrogate in a string");
    }
    if (code >= 0xd800 && code <= 0xdbff) {
        if (reader->len - reader->pos < 2 || reader->at[reader->pos] != '\\' ||
            reader->at[reader->pos + 1] != 'u') {
            return json_reader_fail(reader, "lone surrogate in a string");
        }
        reader->pos += 2;
        if (!take_hex4(reader, &low)) {
            return false;
        }
        if (low < 0xdc00 || low > 0xdfff) {
            return json_reader_fail(reader, "lone surrogate in a string");
        }
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    *len += put_utf8(code, out + *len);
    return true;
}

bool json_reader_take_string(JsonReader *reader, isize bytes_max, Arena *arena, Str *out)
{
    if (!json_reader_take(reader, '"', "expected a string")) {
        return false;
    }
    /* Unescaping never makes text longer, so the distance to the closing quote bounds the result. */
    isize end = reader->pos;
    while (end < reader->len && reader->at[end] != '"') {
        end += reader->at[end] == '\\' ? 2 : 1;
    }
    if (end >= reader->len) {
        return json_reader_fail(reader, "string without an end");
    }
    char *text = arena_alloc(arena, end - reader->pos + 1, 1);
    isize len = 0;
    while (reader->at[reader->pos] != '"') {
        uint8_t c = reader->at[reader->pos];
        if (c < 0x20) {
            return json_reader_fail(reader, "control character in a string");
        }
        reader->pos++;
        if (c != '\\') {
            text[len++] = (char)c;
        } else if (!take_escape(reader, text, &len)) {
            return false;
        }
        if (len > bytes_max) {
            return json_reader_fail(reader, "name or text longer than this reader accepts");
        }
    }
    reader->pos++;
    text[len] = '\0';
    *out = (Str){text, len};
    return true;
}

/* --- values --------------------------------------------------------------------------------------------- */

bool reader_take_u64(JsonReader *reader, uint64_t *out)
{
    static const char what[] = "expected an unsigned integer";
    uint8_t c = json_reader_peek(reader);
    if (c < '0' || c > '9') {
        return json_reader_fail(reader, what);
    }
    isize begin = reader->pos;
    uint64_t value = 0;
    while (reader->pos < reader->len && (c = reader->at[reader->pos]) >= '0' && c <= '9') {
        if (__builtin_mul_overflow(value, (uint64_t)10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(c - '0'), &value)) {
            return json_reader_fail(reader, "integer above 2^64 - 1");
        }
        reader->pos++;
    }
    bool has_more = reader->pos < reader->len && (c == '.' || c == 'e' || c == 'E');
    if (has_more || (reader->at[begin] == '0' && reader->pos - begin > 1)) {
        return json_reader_fail(reader, what);
    }
    *out = value;
    return true;
}

static bool take_digits(JsonReader *reader)
{
    isize begin = reader->pos;
    while (reader->pos < reader->len && reader->at[reader->pos] >= '0' &&
           reader->at[reader->pos] <= '9') {
        reader->pos++;
    }
    return reader->pos > begin || json_reader_fail(reader, "malformed number");
}

static bool skip_number(JsonReader *reader)
{
    (void)json_reader_may_take(reader, '-');
    isize begin = reader->pos;
    if (!take_digits(reader)) {
        return false;
    }
    if (reader->at[begin] == '0' && reader->pos - begin > 1) {
        return json_reader_fail(reader, "number with a leading zero");
    }
    if (reader->pos < reader->len && reader->at[reader->pos] == '.') {
        reader->pos++;
        if (!take_digits(reader)) {
            return false;
        }
    }
    if (reader->pos < reader->len && (reader->at[reader->pos] | 0x20) == 'e') {
        reader->pos++;
        if (reader->pos < reader->len &&
            (reader->at[reader->pos] == '+' || reader->at[reader->pos] == '-')) {
            reader->pos++;
        }
        return take_digits(reader);
    }
    return true;
}

bool json_reader_skip_value(JsonReader *reader)
{
    Arena dropped = *reader->scratch;
    Str text;
    uint8_t c = json_reader_peek(reader);
    if (c == '"') {
        return json_reader_take_string(reader, reader->len, &dropped, &text);
    }
    if (c == '-' || (c >= '0' && c <= '9')) {
        return skip_number(reader);
    }
    if (c != '{' && c != '[') {
        return json_reader_may_take_word(reader, "true") ||
               json_reader_may_take_word(reader, "false") ||
               json_reader_may_take_word(reader, "null") ||
               json_reader_fail(reader, "expected a value");
    }
    char close = c == '{' ? '}' : ']';
    if (!json_reader_open(reader, (char)c, "")) {
        return false;
    }
    if (!json_reader_may_take(reader, close)) {
        do {
            Arena member = *reader->scratch;
            if (c == '{' && (!json_reader_take_string(reader, reader->len, &member, &text) ||
                             !json_reader_take(reader, ':', "expected a colon"))) {
                return false;
            }
            if (!json_reader_skip_value(reader)) {
                return false;
            }
        } while (json_reader_may_take(reader, ','));
        if (!json_reader_take(reader, close, "expected a comma or the end of the list")) {
            return false;
        }
    }
    reader->depth--;
    return true;
}
