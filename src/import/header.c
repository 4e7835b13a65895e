/* The safetensors header: a bounded pull parser and the layout rules (safetensors.md 3 to 5).
 *
 * No JSON library here: a legal header of the maximum size costs one 9 s and 1.7 GB, doubles lose offsets, and
 * most accept what the format forbids. The table is filled while the text is read; duplicate names and
 * overlapping ranges are found by sorting, never by comparing all pairs.
 */
#include "import/parts.h"
#include <stdio.h>
#include <string.h>

enum { TENSORS_MAX = 65536, NAME_BYTES_MAX = 4096, METADATA_BYTES_MAX = 65536, DEPTH_MAX = 8 };
static const uint64_t DIMENSION_MAX = (uint64_t)1 << 48;

/* Complete list of safetensors.md 2; the last column is what this version can read. */
typedef struct DTypeRow {
    const char *name;
    int bits;
    DType dtype;
} DTypeRow;

static const DTypeRow dtype_rows[] = {
    {"F32", 32, DTYPE_F32},         {"F16", 16, DTYPE_F16},
    {"BF16", 16, DTYPE_BF16},       {"F64", 64, DTYPE_F64},
    {"I64", 64, DTYPE_I64},         {"I32", 32, DTYPE_I32},
    {"U32", 32, DTYPE_U32},         {"U8", 8, DTYPE_U8},
    {"BOOL", 8, DTYPE_NONE},        {"F4", 4, DTYPE_NONE},
    {"F6_E2M3", 6, DTYPE_NONE},     {"F6_E3M2", 6, DTYPE_NONE},
    {"I8", 8, DTYPE_NONE},          {"F8_E5M2", 8, DTYPE_NONE},
    {"F8_E4M3", 8, DTYPE_NONE},     {"F8_E8M0", 8, DTYPE_NONE},
    {"F8_E4M3FNUZ", 8, DTYPE_NONE}, {"F8_E5M2FNUZ", 8, DTYPE_NONE},
    {"I16", 16, DTYPE_NONE},        {"U16", 16, DTYPE_NONE},
    {"C64", 64, DTYPE_NONE},        {"U64", 64, DTYPE_NONE},
};
enum { DTYPE_ROWS = sizeof dtype_rows / sizeof dtype_rows[0] };

typedef struct Reader {
    const uint8_t *at; /* header text */
    isize len, pos;
    int depth;
    uint64_t data_bytes; /* of the byte buffer */
    isize metadata_bytes;
    Arena *keep;    /* names */
    Arena *scratch; /* everything that is thrown away */
    Error *err;
} Reader;

static bool fail(const Reader *reader, const char *what)
{
    char where[48];
    (void)snprintf(where, sizeof where, "byte %td", reader->pos + 8);
    return error_set(reader->err, ERROR_INPUT, where, "%s", what);
}

static bool fail_tensor(const Reader *reader, Str name, const char *what)
{
    return error_set(reader->err, ERROR_INPUT, NULL, "tensor \"%.*s\": %s",
                     STR_ARG(name_escaped(name, reader->scratch)), what);
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

static bool check_utf8(Reader *reader)
{
    while (reader->pos < reader->len) {
        int len = utf8_len(reader->at + reader->pos, reader->len - reader->pos);
        if (len == 0) {
            return fail(reader, "the header is not valid UTF-8");
        }
        reader->pos += len;
    }
    reader->pos = 0;
    return true;
}

static void skip_space(Reader *reader)
{
    while (reader->pos < reader->len) {
        uint8_t c = reader->at[reader->pos];
        if (c != ' ' && c != '\t' && c != '\n' && c != '\r') {
            return;
        }
        reader->pos++;
    }
}

/* The next byte after white space, or 0 at the end (NUL bytes are no token either). */
static uint8_t peek(Reader *reader)
{
    skip_space(reader);
    return reader->pos < reader->len ? reader->at[reader->pos] : 0;
}

static bool may_take(Reader *reader, char c)
{
    if (peek(reader) != (uint8_t)c) {
        return false;
    }
    reader->pos++;
    return true;
}

static bool take(Reader *reader, char c, const char *what)
{
    return may_take(reader, c) || fail(reader, what);
}

static bool may_take_word(Reader *reader, const char *word)
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

static bool open_nested(Reader *reader, char c, const char *what)
{
    if (!take(reader, c, what)) {
        return false;
    }
    return ++reader->depth <= DEPTH_MAX || fail(reader, "nested deeper than 8 levels");
}

/* --- strings -------------------------------------------------------------------------------------------- */

static bool take_hex4(Reader *reader, uint32_t *out)
{
    *out = 0;
    for (int i = 0; i < 4; i++) {
        if (reader->pos >= reader->len) {
            return fail(reader, "expected four hexadecimal digits");
        }
        uint8_t c = reader->at[reader->pos];
        uint32_t digit = c >= '0' && c <= '9'   ? c - '0' + 0u
                         : c >= 'a' && c <= 'f' ? c - 'a' + 10u
                         : c >= 'A' && c <= 'F' ? c - 'A' + 10u
                                                : 16u;
        if (digit > 15) {
            return fail(reader, "expected four hexadecimal digits");
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
static bool take_escape(Reader *reader, char *out, isize *len)
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
        return fail(reader, "unknown escape in a string");
    }
    reader->pos++;
    uint32_t code, low;
    if (!take_hex4(reader, &code)) {
        return false;
    }
    if (code >= 0xdc00 && code <= 0xdfff) {
        return fail(reader, "lone surrogate in a string");
    }
    if (code >= 0xd800 && code <= 0xdbff) {
        if (reader->len - reader->pos < 2 || reader->at[reader->pos] != '\\' ||
            reader->at[reader->pos + 1] != 'u') {
            return fail(reader, "lone surrogate in a string");
        }
        reader->pos += 2;
        if (!take_hex4(reader, &low)) {
            return false;
        }
        if (low < 0xdc00 || low > 0xdfff) {
            return fail(reader, "lone surrogate in a string");
        }
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    *len += put_utf8(code, out + *len);
    return true;
}

/* A string, unescaped, into `arena`; at most `bytes_max` bytes of result. */
static bool take_string(Reader *reader, isize bytes_max, Arena *arena, Str *out)
{
    if (!take(reader, '"', "expected a string")) {
        return false;
    }
    /* Unescaping never makes text longer, so the distance to the closing quote bounds the result. */
    isize end = reader->pos;
    while (end < reader->len && reader->at[end] != '"') {
        end += reader->at[end] == '\\' ? 2 : 1;
    }
    if (end >= reader->len) {
        return fail(reader, "string without an end");
    }
    char *text = arena_alloc(arena, end - reader->pos + 1, 1);
    isize len = 0;
    while (reader->at[reader->pos] != '"') {
        uint8_t c = reader->at[reader->pos];
        if (c < 0x20) {
            return fail(reader, "control character in a string");
        }
        reader->pos++;
        if (c != '\\') {
            text[len++] = (char)c;
        } else if (!take_escape(reader, text, &len)) {
            return false;
        }
        if (len > bytes_max) {
            return fail(reader, "name or text longer than this reader accepts");
        }
    }
    reader->pos++;
    text[len] = '\0';
    *out = (Str){text, len};
    return true;
}

/* --- values --------------------------------------------------------------------------------------------- */

/* Decimal digits only: no sign, leading zero, fraction or exponent; at most 2^64 - 1. */
static bool take_u64(Reader *reader, uint64_t *out)
{
    static const char what[] = "expected an unsigned integer";
    uint8_t c = peek(reader);
    if (c < '0' || c > '9') {
        return fail(reader, what);
    }
    isize begin = reader->pos;
    uint64_t value = 0;
    while (reader->pos < reader->len && (c = reader->at[reader->pos]) >= '0' && c <= '9') {
        if (__builtin_mul_overflow(value, (uint64_t)10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(c - '0'), &value)) {
            return fail(reader, "integer above 2^64 - 1");
        }
        reader->pos++;
    }
    bool has_more = reader->pos < reader->len && (c == '.' || c == 'e' || c == 'E');
    if (has_more || (reader->at[begin] == '0' && reader->pos - begin > 1)) {
        return fail(reader, what);
    }
    *out = value;
    return true;
}

static bool take_digits(Reader *reader)
{
    isize begin = reader->pos;
    while (reader->pos < reader->len && reader->at[reader->pos] >= '0' &&
           reader->at[reader->pos] <= '9') {
        reader->pos++;
    }
    return reader->pos > begin || fail(reader, "malformed number");
}

static bool skip_number(Reader *reader)
{
    (void)may_take(reader, '-');
    isize begin = reader->pos;
    if (!take_digits(reader)) {
        return false;
    }
    if (reader->at[begin] == '0' && reader->pos - begin > 1) {
        return fail(reader, "number with a leading zero");
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

/* Any value, checked for syntax only. */
static bool skip_value(Reader *reader)
{
    Arena dropped = *reader->scratch;
    Str text;
    uint8_t c = peek(reader);
    if (c == '"') {
        return take_string(reader, reader->len, &dropped, &text);
    }
    if (c == '-' || (c >= '0' && c <= '9')) {
        return skip_number(reader);
    }
    if (c != '{' && c != '[') {
        return may_take_word(reader, "true") || may_take_word(reader, "false") ||
               may_take_word(reader, "null") || fail(reader, "expected a value");
    }
    char close = c == '{' ? '}' : ']';
    if (!open_nested(reader, (char)c, "")) {
        return false;
    }
    if (!may_take(reader, close)) {
        do {
            Arena member = *reader->scratch;
            if (c == '{' && (!take_string(reader, reader->len, &member, &text) ||
                             !take(reader, ':', "expected a colon"))) {
                return false;
            }
            if (!skip_value(reader)) {
                return false;
            }
        } while (may_take(reader, ','));
        if (!take(reader, close, "expected a comma or the end of the list")) {
            return false;
        }
    }
    reader->depth--;
    return true;
}

/* --- the table ------------------------------------------------------------------------------------------ */

static int compare_strings(const void *a, const void *b, const void *context)
{
    (void)context;
    return str_compare(*(const Str *)a, *(const Str *)b);
}

static bool take_metadata(Reader *reader)
{
    if (may_take_word(reader, "null")) {
        return true;
    }
    if (!open_nested(reader, '{', "__metadata__ must be an object of strings")) {
        return false;
    }
    StrVec keys = {0};
    if (!may_take(reader, '}')) {
        do {
            Str key, value;
            if (!take_string(reader, METADATA_BYTES_MAX, reader->scratch, &key) ||
                !take(reader, ':', "expected a colon")) {
                return false;
            }
            if (peek(reader) != '"') {
                return fail(reader, "__metadata__ must be an object of strings");
            }
            if (!take_string(reader, METADATA_BYTES_MAX, reader->scratch, &value)) {
                return false;
            }
            reader->metadata_bytes += key.len + value.len;
            if (reader->metadata_bytes > METADATA_BYTES_MAX) {
                return fail(reader, "more than 64 KiB of metadata");
            }
            *vec_push(&keys, reader->scratch) = key;
        } while (may_take(reader, ','));
        if (!take(reader, '}', "expected a comma or the end of __metadata__")) {
            return false;
        }
    }
    sort_stable(keys.at, keys.len, sizeof(Str), compare_strings, NULL, *reader->scratch);
    for (isize i = 1; i < keys.len; i++) {
        if (str_equal(keys.at[i - 1], keys.at[i])) {
            return error_set(reader->err, ERROR_INPUT, NULL, "metadata key \"%.*s\" is given twice",
                             STR_ARG(name_escaped(keys.at[i], reader->scratch)));
        }
    }
    reader->depth--;
    return true;
}

static bool take_shape(Reader *reader, Shape *shape)
{
    if (!take(reader, '[', "shape must be a list of integers")) {
        return false;
    }
    if (may_take(reader, ']')) {
        return true;
    }
    do {
        uint64_t dimension;
        if (!take_u64(reader, &dimension)) {
            return false;
        }
        if (dimension > DIMENSION_MAX) {
            return fail(reader, "a dimension above 2^48");
        }
        if (shape->rank == SHAPE_RANK_MAX) {
            return fail(reader, "a shape of more than 8 dimensions");
        }
        shape->dim[shape->rank++] = (int64_t)dimension;
    } while (may_take(reader, ','));
    return take(reader, ']', "expected a comma or the end of the shape");
}

static bool take_offsets(Reader *reader, SafeTensor *tensor)
{
    static const char what[] = "data_offsets must be a list of two integers";
    return take(reader, '[', what) && take_u64(reader, &tensor->begin) && take(reader, ',', what) &&
           take_u64(reader, &tensor->end) && take(reader, ']', what);
}

/* Rules 6 to 9 of one entry. */
static bool check_entry(const Reader *reader, SafeTensor *tensor)
{
    const DTypeRow *row = NULL;
    for (int i = 0; i < DTYPE_ROWS && row == NULL; i++) {
        row = str_equal(tensor->dtype_text, str_of(dtype_rows[i].name)) ? &dtype_rows[i] : NULL;
    }
    if (row == NULL) {
        return error_set(reader->err, ERROR_INPUT, NULL,
                         "tensor \"%.*s\": dtype \"%.*s\" is not supported by this version",
                         STR_ARG(name_escaped(tensor->name, reader->scratch)),
                         STR_ARG(name_escaped(tensor->dtype_text, reader->scratch)));
    }
    tensor->dtype = row->dtype;
    int64_t elems = 1; /* signed, as shape_elems computes it */
    uint64_t bits;
    for (int i = 0; i < tensor->shape.rank; i++) {
        if (__builtin_mul_overflow(elems, tensor->shape.dim[i], &elems)) {
            return fail_tensor(reader, tensor->name, "its number of elements overflows");
        }
    }
    if (__builtin_mul_overflow((uint64_t)elems, (uint64_t)row->bits, &bits)) {
        return fail_tensor(reader, tensor->name, "its number of bits overflows");
    }
    if (bits % 8 != 0) {
        return fail_tensor(reader, tensor->name, "its size is no whole number of bytes");
    }
    if (tensor->begin > tensor->end) {
        return fail_tensor(reader, tensor->name, "its data_offsets run backwards");
    }
    if (tensor->end - tensor->begin != bits / 8) {
        return error_set(reader->err, ERROR_INPUT, NULL,
                         "tensor \"%.*s\": its data_offsets span %llu bytes, its shape needs %llu",
                         STR_ARG(name_escaped(tensor->name, reader->scratch)),
                         (unsigned long long)(tensor->end - tensor->begin),
                         (unsigned long long)(bits / 8));
    }
    return true;
}

static bool take_entry(Reader *reader, SafeTensor *tensor)
{
    enum { HAS_DTYPE = 1, HAS_SHAPE = 2, HAS_OFFSETS = 4, HAS_ALL = 7 };
    int has = 0;
    if (!open_nested(reader, '{', "a tensor entry must be an object")) {
        return false;
    }
    if (!may_take(reader, '}')) {
        do {
            Arena dropped = *reader->scratch;
            Str key;
            if (!take_string(reader, reader->len, &dropped, &key) ||
                !take(reader, ':', "expected a colon")) {
                return false;
            }
            int field = str_equal(key, S("dtype"))          ? HAS_DTYPE
                        : str_equal(key, S("shape"))        ? HAS_SHAPE
                        : str_equal(key, S("data_offsets")) ? HAS_OFFSETS
                                                            : 0;
            if ((has & field) != 0) {
                return fail(reader, "a field of a tensor entry is given twice");
            }
            has |= field;
            bool ok = field == HAS_DTYPE
                          ? take_string(reader, NAME_BYTES_MAX, reader->keep, &tensor->dtype_text)
                      : field == HAS_SHAPE   ? take_shape(reader, &tensor->shape)
                      : field == HAS_OFFSETS ? take_offsets(reader, tensor)
                                             : skip_value(reader);
            if (!ok) {
                return false;
            }
        } while (may_take(reader, ','));
        if (!take(reader, '}', "expected a comma or the end of the tensor entry")) {
            return false;
        }
    }
    reader->depth--;
    if (has != HAS_ALL) {
        return fail_tensor(reader, tensor->name,
                           "its entry needs the fields dtype, shape and data_offsets");
    }
    return check_entry(reader, tensor);
}

static bool take_table(Reader *reader, SafeTensorVec *tensors)
{
    if (!open_nested(reader, '{', "the header must be a JSON object")) {
        return false;
    }
    bool has_metadata = false;
    if (!may_take(reader, '}')) {
        do {
            Str name;
            if (!take_string(reader, NAME_BYTES_MAX, reader->keep, &name) ||
                !take(reader, ':', "expected a colon")) {
                return false;
            }
            if (str_equal(name, S("__metadata__"))) {
                if (has_metadata) {
                    return fail(reader, "__metadata__ is given twice");
                }
                has_metadata = true;
                if (!take_metadata(reader)) {
                    return false;
                }
                continue;
            }
            if (name.len > 0 && memchr(name.at, '\0', (size_t)name.len) != NULL) {
                return fail(reader, "NUL in a tensor name");
            }
            if (tensors->len == TENSORS_MAX) {
                return fail(reader, "more than 65536 tensors");
            }
            SafeTensor tensor = {.name = name};
            if (!take_entry(reader, &tensor)) {
                return false;
            }
            *vec_push(tensors, reader->keep) = tensor;
        } while (may_take(reader, ','));
        if (!take(reader, '}', "expected a comma or the end of the header")) {
            return false;
        }
    }
    skip_space(reader);
    return reader->pos == reader->len || fail(reader, "text after the end of the header object");
}

static int compare_names(const void *a, const void *b, const void *context)
{
    (void)context;
    return str_compare(((const SafeTensor *)a)->name, ((const SafeTensor *)b)->name);
}

typedef struct Range {
    uint64_t begin, end;
    int32_t tensor;
} Range;

static int compare_ranges(const void *a, const void *b, const void *context)
{
    (void)context;
    const Range *x = a, *y = b;
    if (x->begin != y->begin) {
        return x->begin < y->begin ? -1 : 1;
    }
    return (x->end > y->end) - (x->end < y->end);
}

/* Rules 10 to 12: the ranges, sorted, tile the byte buffer. */
static bool check_tiling(const Reader *reader, const SafeTensorVec *tensors)
{
    Arena scratch = *reader->scratch;
    Range *ranges = arena_array(&scratch, Range, tensors->len);
    for (int32_t i = 0; i < tensors->len; i++) {
        ranges[i] = (Range){tensors->at[i].begin, tensors->at[i].end, i};
    }
    sort_stable(ranges, tensors->len, sizeof(Range), compare_ranges, NULL, scratch);
    uint64_t at = 0;
    for (isize i = 0; i < tensors->len; i++) {
        if (ranges[i].begin != at) {
            return error_set(reader->err, ERROR_INPUT, NULL,
                             "tensor \"%.*s\": its data begin at %llu, expected %llu (%s)",
                             STR_ARG(name_escaped(tensors->at[ranges[i].tensor].name, &scratch)),
                             (unsigned long long)ranges[i].begin, (unsigned long long)at,
                             ranges[i].begin > at ? "hole" : "overlap");
        }
        at = ranges[i].end;
    }
    if (at != reader->data_bytes) {
        return error_set(reader->err, ERROR_INPUT, NULL,
                         "the tensors cover %llu bytes, the file holds %llu behind the header",
                         (unsigned long long)at, (unsigned long long)reader->data_bytes);
    }
    return true;
}

static bool parse_header(Reader *reader, SafeTensorVec *tensors)
{
    if (!check_utf8(reader) || !take_table(reader, tensors)) {
        return false;
    }
    sort_stable(tensors->at, tensors->len, sizeof(SafeTensor), compare_names, NULL,
                *reader->scratch);
    for (isize i = 1; i < tensors->len; i++) {
        if (str_equal(tensors->at[i - 1].name, tensors->at[i].name)) {
            return fail_tensor(reader, tensors->at[i].name, "its name is given twice");
        }
    }
    return check_tiling(reader, tensors);
}

Str name_escaped(Str name, Arena *arena)
{
    enum { SHOWN_BYTES = 100 };
    static const char digits[] = "0123456789abcdef";
    isize shown = name.len < SHOWN_BYTES ? name.len : SHOWN_BYTES;
    char *out = arena_alloc(arena, 4 * shown + 4, 1);
    isize len = 0;
    for (isize i = 0; i < shown; i++) {
        uint8_t c = (uint8_t)name.at[i];
        if (c >= 0x20 && c < 0x7f && c != '\\' && c != '"') {
            out[len++] = (char)c;
        } else {
            out[len++] = '\\';
            out[len++] = 'x';
            out[len++] = digits[c >> 4];
            out[len++] = digits[c & 15];
        }
    }
    if (shown < name.len) {
        memcpy(out + len, "...", 3);
        len += 3;
    }
    out[len] = '\0';
    return (Str){out, len};
}

bool safetensors_parse(Str bytes, uint64_t file_bytes, Arena *keep, Arena scratch, Checkpoint *out,
                       Error *err)
{
    if (file_bytes < 8 || bytes.len < 8) {
        return error_set(err, ERROR_INPUT, NULL,
                         "not a safetensors file: %llu bytes, at least 8 are needed",
                         (unsigned long long)file_bytes);
    }
    uint64_t header = 0;
    for (int i = 7; i >= 0; i--) {
        header = header << 8 | (uint8_t)bytes.at[i];
    }
    if (header > HEADER_BYTES_FORMAT) {
        return error_set(err, ERROR_INPUT, NULL,
                         "not a safetensors file: header of %llu bytes, the format allows %d",
                         (unsigned long long)header, HEADER_BYTES_FORMAT);
    }
    if (header > HEADER_BYTES_MAX) {
        return error_set(err, ERROR_INPUT, NULL, "header of %llu bytes, this reader accepts %d",
                         (unsigned long long)header, HEADER_BYTES_MAX);
    }
    if (header > file_bytes - 8 || (isize)header > bytes.len - 8) {
        return error_set(err, ERROR_INPUT, NULL,
                         "header of %llu bytes, but the file has only %llu behind the length",
                         (unsigned long long)header, (unsigned long long)(file_bytes - 8));
    }
    /* Text of an entry against its record, with the copies of a growing table: at most 13 bytes a byte. */
    isize needed = 13 * (isize)header + (64 << 10);
    if (arena_room(keep) < needed || arena_room(&scratch) < needed) {
        return error_set(err, ERROR_INPUT, NULL,
                         "header of %llu bytes: more than the memory set aside for it",
                         (unsigned long long)header);
    }
    *out = (Checkpoint){.fd = -1, .data_at = 8 + header, .file_bytes = file_bytes};
    Reader reader = {.at = (const uint8_t *)bytes.at + 8,
                     .len = (isize)header,
                     .data_bytes = file_bytes - 8 - header,
                     .keep = keep,
                     .scratch = &scratch,
                     .err = err};
    return parse_header(&reader, &out->tensors);
}
