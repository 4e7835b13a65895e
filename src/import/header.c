/* The safetensors header: table of tensors and layout rules (safetensors.md 3 to 5) over the pull parser.
 *
 * No JSON library here: a legal header of the maximum size costs one 9 s and 1.7 GB, doubles lose offsets, and
 * most accept what the format forbids. The table is filled while the text is read; duplicate names and
 * overlapping ranges are found by sorting, never by comparing all pairs.
 */
#include "import/parts.h"
#include "import/pull.h"
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

typedef struct HeaderTable {
    JsonReader reader;
    uint64_t data_bytes; /* of the byte buffer */
    isize metadata_bytes;
    Arena *keep; /* names */
} HeaderTable;

static bool fail_tensor(const JsonReader *reader, Str name, const char *what)
{
    return error_set(reader->err, ERROR_INPUT, NULL, "tensor \"%.*s\": %s",
                     STR_ARG(str_shown(name, reader->scratch)), what);
}

static int compare_strings(const void *a, const void *b, const void *context)
{
    (void)context;
    return str_compare(*(const Str *)a, *(const Str *)b);
}

static bool take_metadata(HeaderTable *header)
{
    JsonReader *reader = &header->reader;
    if (json_reader_may_take_word(reader, "null")) {
        return true;
    }
    if (!json_reader_open(reader, '{', "__metadata__ must be an object of strings")) {
        return false;
    }
    StrVec keys = {0};
    if (!json_reader_may_take(reader, '}')) {
        do {
            Str key, value;
            if (!json_reader_take_string(reader, METADATA_BYTES_MAX, reader->scratch, &key) ||
                !json_reader_take(reader, ':', "expected a colon")) {
                return false;
            }
            if (json_reader_peek(reader) != '"') {
                return json_reader_fail(reader, "__metadata__ must be an object of strings");
            }
            if (!json_reader_take_string(reader, METADATA_BYTES_MAX, reader->scratch, &value)) {
                return false;
            }
            header->metadata_bytes += key.len + value.len;
            if (header->metadata_bytes > METADATA_BYTES_MAX) {
                return json_reader_fail(reader, "more than 64 KiB of metadata");
            }
            *vec_push(&keys, reader->scratch) = key;
        } while (json_reader_may_take(reader, ','));
        if (!json_reader_take(reader, '}', "expected a comma or the end of __metadata__")) {
            return false;
        }
    }
    sort_stable(keys.at, keys.len, sizeof(Str), compare_strings, NULL, *reader->scratch);
    for (isize i = 1; i < keys.len; i++) {
        if (str_equal(keys.at[i - 1], keys.at[i])) {
            return error_set(reader->err, ERROR_INPUT, NULL, "metadata key \"%.*s\" is given twice",
                             STR_ARG(str_shown(keys.at[i], reader->scratch)));
        }
    }
    reader->depth--;
    return true;
}

static bool take_shape(JsonReader *reader, Shape *shape)
{
    if (!json_reader_take(reader, '[', "shape must be a list of integers")) {
        return false;
    }
    if (json_reader_may_take(reader, ']')) {
        return true;
    }
    do {
        uint64_t dimension;
        if (!reader_take_u64(reader, &dimension)) {
            return false;
        }
        if (dimension > DIMENSION_MAX) {
            return json_reader_fail(reader, "a dimension above 2^48");
        }
        if (shape->rank == SHAPE_RANK_MAX) {
            return json_reader_fail(reader, "a shape of more than 8 dimensions");
        }
        shape->dim[shape->rank++] = (int64_t)dimension;
    } while (json_reader_may_take(reader, ','));
    return json_reader_take(reader, ']', "expected a comma or the end of the shape");
}

static bool take_offsets(JsonReader *reader, SafeTensor *tensor)
{
    static const char what[] = "data_offsets must be a list of two integers";
    return json_reader_take(reader, '[', what) && reader_take_u64(reader, &tensor->begin) &&
           json_reader_take(reader, ',', what) && reader_take_u64(reader, &tensor->end) &&
           json_reader_take(reader, ']', what);
}

/* Rules 6 to 9 of one entry. */
static bool check_entry(const JsonReader *reader, SafeTensor *tensor)
{
    const DTypeRow *row = NULL;
    for (int i = 0; i < DTYPE_ROWS && row == NULL; i++) {
        row = str_equal(tensor->dtype_text, str_of(dtype_rows[i].name)) ? &dtype_rows[i] : NULL;
    }
    if (row == NULL) {
        return error_set(reader->err, ERROR_INPUT, NULL,
                         "tensor \"%.*s\": dtype \"%.*s\" is not supported by this version",
                         STR_ARG(str_shown(tensor->name, reader->scratch)),
                         STR_ARG(str_shown(tensor->dtype_text, reader->scratch)));
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
                         STR_ARG(str_shown(tensor->name, reader->scratch)),
                         (unsigned long long)(tensor->end - tensor->begin),
                         (unsigned long long)(bits / 8));
    }
    return true;
}

static bool take_entry(HeaderTable *header, SafeTensor *tensor)
{
    JsonReader *reader = &header->reader;
    enum { HAS_DTYPE = 1, HAS_SHAPE = 2, HAS_OFFSETS = 4, HAS_ALL = 7 };
    int has = 0;
    if (!json_reader_open(reader, '{', "a tensor entry must be an object")) {
        return false;
    }
    if (!json_reader_may_take(reader, '}')) {
        do {
            Arena dropped = *reader->scratch;
            Str key;
            if (!json_reader_take_string(reader, reader->len, &dropped, &key) ||
                !json_reader_take(reader, ':', "expected a colon")) {
                return false;
            }
            int field = str_equal(key, S("dtype"))          ? HAS_DTYPE
                        : str_equal(key, S("shape"))        ? HAS_SHAPE
                        : str_equal(key, S("data_offsets")) ? HAS_OFFSETS
                                                            : 0;
            if ((has & field) != 0) {
                return json_reader_fail(reader, "a field of a tensor entry is given twice");
            }
            has |= field;
            bool ok = field == HAS_DTYPE
                          ? json_reader_take_string(reader, NAME_BYTES_MAX, header->keep,
                                                    &tensor->dtype_text)
                      : field == HAS_SHAPE   ? take_shape(reader, &tensor->shape)
                      : field == HAS_OFFSETS ? take_offsets(reader, tensor)
                                             : json_reader_skip_value(reader);
            if (!ok) {
                return false;
            }
        } while (json_reader_may_take(reader, ','));
        if (!json_reader_take(reader, '}', "expected a comma or the end of the tensor entry")) {
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

static bool take_table(HeaderTable *header, SafeTensorVec *tensors)
{
    JsonReader *reader = &header->reader;
    if (!json_reader_open(reader, '{', "the header must be a JSON object")) {
        return false;
    }
    bool has_metadata = false;
    if (!json_reader_may_take(reader, '}')) {
        do {
            Str name;
            if (!json_reader_take_string(reader, NAME_BYTES_MAX, header->keep, &name) ||
                !json_reader_take(reader, ':', "expected a colon")) {
                return false;
            }
            if (str_equal(name, S("__metadata__"))) {
                if (has_metadata) {
                    return json_reader_fail(reader, "__metadata__ is given twice");
                }
                has_metadata = true;
                if (!take_metadata(header)) {
                    return false;
                }
                continue;
            }
            if (name.len > 0 && memchr(name.at, '\0', (size_t)name.len) != NULL) {
                return json_reader_fail(reader, "NUL in a tensor name");
            }
            if (tensors->len == TENSORS_MAX) {
                return json_reader_fail(reader, "more than 65536 tensors");
            }
            SafeTensor tensor = {.name = name};
            if (!take_entry(header, &tensor)) {
                return false;
            }
            *vec_push(tensors, header->keep) = tensor;
        } while (json_reader_may_take(reader, ','));
        if (!json_reader_take(reader, '}', "expected a comma or the end of the header")) {
            return false;
        }
    }
    (void)json_reader_peek(reader);
    return reader->pos == reader->len ||
           json_reader_fail(reader, "text after the end of the header object");
}

static int compare_names(const void *a, const void *b, const void *context)
{
    (void)context;
    return str_compare(((const SafeTensor *)a)->name, ((const SafeTensor *)b)->name);
}

typedef struct DataRange {
    uint64_t begin, end;
    int32_t tensor;
} DataRange;

static int compare_ranges(const void *a, const void *b, const void *context)
{
    (void)context;
    const DataRange *x = a, *y = b;
    if (x->begin != y->begin) {
        return x->begin < y->begin ? -1 : 1;
    }
    return (x->end > y->end) - (x->end < y->end);
}

/* Rules 10 to 12: the ranges, sorted, tile the byte buffer. */
static bool check_tiling(const HeaderTable *header, const SafeTensorVec *tensors)
{
    const JsonReader *reader = &header->reader;
    Arena scratch = *reader->scratch;
    DataRange *ranges = arena_array(&scratch, DataRange, tensors->len);
    for (int32_t i = 0; i < tensors->len; i++) {
        ranges[i] = (DataRange){tensors->at[i].begin, tensors->at[i].end, i};
    }
    sort_stable(ranges, tensors->len, sizeof(DataRange), compare_ranges, NULL, scratch);
    uint64_t at = 0;
    for (isize i = 0; i < tensors->len; i++) {
        if (ranges[i].begin != at) {
            return error_set(reader->err, ERROR_INPUT, NULL,
                             "tensor \"%.*s\": its data begin at %llu, expected %llu (%s)",
                             STR_ARG(str_shown(tensors->at[ranges[i].tensor].name, &scratch)),
                             (unsigned long long)ranges[i].begin, (unsigned long long)at,
                             ranges[i].begin > at ? "hole" : "overlap");
        }
        at = ranges[i].end;
    }
    if (at != header->data_bytes) {
        return error_set(reader->err, ERROR_INPUT, NULL,
                         "the tensors cover %llu bytes, the file holds %llu behind the header",
                         (unsigned long long)at, (unsigned long long)header->data_bytes);
    }
    return true;
}

static bool parse_header(HeaderTable *header, SafeTensorVec *tensors)
{
    JsonReader *reader = &header->reader;
    if (!reader_check_utf8(reader) || !take_table(header, tensors)) {
        return false;
    }
    sort_stable(tensors->at, tensors->len, sizeof(SafeTensor), compare_names, NULL,
                *reader->scratch);
    for (isize i = 1; i < tensors->len; i++) {
        if (str_equal(tensors->at[i - 1].name, tensors->at[i].name)) {
            return fail_tensor(reader, tensors->at[i].name, "its name is given twice");
        }
    }
    return check_tiling(header, tensors);
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
    HeaderTable table = {.reader = {.at = (const uint8_t *)bytes.at + 8,
                                    .len = (isize)header,
                                    .depth_max = DEPTH_MAX,
                                    .offset = 8,
                                    .scratch = &scratch,
                                    .err = err},
                         .data_bytes = file_bytes - 8 - header,
                         .keep = keep};
    return parse_header(&table, &out->tensors);
}
