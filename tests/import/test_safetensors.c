/* Every row of safetensors.md 9 (with our stricter policy of section 4), the limits of section 5, reading and
 * writing of files, and mutated headers. */
#include "import/import.h"
#include "import/temporary.h"
#include "test.h"
#include <unistd.h>

#define ENTRY(type, shape, begin, end)                                                             \
    "{\"dtype\":\"" type "\",\"shape\":" shape ",\"data_offsets\":[" #begin "," #end "]}"
#define E(begin, end) ENTRY("F32", "[1]", begin, end)
#define ONE(type, shape, begin, end) "{\"a\":" ENTRY(type, shape, begin, end) "}"

typedef struct Vector {
    const char *header;
    uint64_t data_bytes;
    bool is_accepted;
} Vector;

static const Vector vectors[] = {
    {"{}", 0, true},
    {"{\"a\":" E(0, 4) "}", 4, true},
    {"{\"a\":" E(0, 4) "}", 3, false},
    {"{\"a\":" E(0, 4) "}", 5, false},
    {"{\"a\":" E(4, 8) "}", 8, false},
    {"{\"a\":" E(0, 4) ",\"b\":" E(8, 12) "}", 12, false},
    {"{\"a\":" E(0, 4) ",\"b\":" E(0, 4) "}", 4, false},
    {"{\"b\":" E(4, 8) ",\"a\":" E(0, 4) "}", 8, true},
    {"{\"a\":" E(0, 4) ",\"a\":" E(0, 4) "}", 4, false},
    {"{\"a\":" E(0, 4) ",\"\\u0061\":" E(0, 4) "}", 4, false},
    {"{\"a\":" E(0, 4) ",\"a\":" E(4, 8) "}", 8, false},
    {ONE("F32", "[]", 0, 4), 4, true},
    {ONE("F32", "[2,0]", 0, 0), 0, true},
    {"{\"a\":" ENTRY("F32", "[2]", 0, 8) ",\"z\":" ENTRY("F32", "[0]", 4, 4) "}", 8, false},
    {"{\"a\":" ENTRY("F32", "[2]", 0, 8) ",\"z\":" ENTRY("F32", "[0]", 0, 0) "}", 8, true},
    {"{\"a\":" ENTRY("F32", "[2]", 0, 8) ",\"z\":" ENTRY("F32", "[0]", 8, 8) "}", 8, true},
    {"{\"a\":" ENTRY("F32", "[2]", 0, 8) ",\"z\":" ENTRY("F32", "[0]", 8, 8) ",\"y\":" ENTRY(
         "F32", "[0,3]", 8, 8) "}",
     8, true},
    {ONE("F32", "[18446744073709551615,0]", 0, 0), 0, false},
    {ONE("F32", "[18446744073709551615,2,0]", 0, 0), 0, false},
    {ONE("I32", "[2,9223372036854775807]", 0, 16), 16, false},
    {ONE("F32", "[281474976710656,32768,0]", 0, 0), 0, false}, /* 2^63 does not fit our shapes */
    {ONE("F32", "[281474976710656,0]", 0, 0), 0, true},
    {ONE("F32", "[281474976710657,0]", 0, 0), 0, false},
    {ONE("F32", "[18446744073709551616]", 0, 4), 4, false},
    {ONE("F32", "[-1]", 0, 4), 4, false},
    {ONE("F32", "[-0]", 0, 4), 4, false},
    {ONE("F32", "[01]", 0, 4), 4, false},
    {ONE("F32", "[1.0]", 0, 4), 4, false},
    {ONE("F32", "[1e0]", 0, 4), 4, false},
    {ONE("F32", "[\"1\"]", 0, 4), 4, false},
    {ONE("F32", "[null]", 0, 4), 4, false},
    {ONE("F32", "null", 0, 4), 4, false},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0]}}", 4, false},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4,8]}}", 4, false},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,0]}}", 4, false},
    {"{\"a\":{\"shape\":[1],\"data_offsets\":[0,4]}}", 4, false},
    {"{\"a\":{\"dtype\":\"F32\",\"data_offsets\":[0,4]}}", 4, false},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1]}}", 4, false},
    {"{\"a\":{}}", 4, false},
    {ONE("f32", "[1]", 0, 4), 4, false},
    {ONE("F128", "[1]", 0, 16), 16, false},
    {"{\"a\":{\"dtype\":\"F32\",\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4,
     false},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"shape\":[1],\"data_offsets\":[0,4]}}", 4, false},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4],\"data_offsets\":[0,4]}}", 4,
     false},
    {ONE("F4", "[3]", 0, 2), 2, false},
    {ONE("F4", "[4]", 0, 2), 2, true},
    {ONE("F6_E2M3", "[4]", 0, 3), 3, true},
    {"{\"u\":" ENTRY("U8", "[1]", 0, 1) ",\"f\":" E(1, 5) "}", 5, true},
    {ONE("F8_E4M3FNUZ", "[1]", 0, 1), 1, true},
    {ONE("C64", "[1]", 0, 8), 8, true},
    {ONE("BOOL", "[3]", 0, 3), 3, true},
    {"{\"a\":{\"extra\":[1,{\"q\":2}],\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4,
     true},
    {"{\"a\":{\"extra\":[-0.5e+7,true,false,null,\"x\\n\"],\"dtype\":\"F32\",\"shape\":[1],"
     "\"data_offsets\":[0,4]}}",
     4, true},
    {"{\"a\":{\"extra\":[1,],\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4, false},
    {"{\"a\":{\"extra\":NaN,\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4, false},
    {"{\"a\":[\"F32\",[1],[0,4]]}", 4, false},
    {"{\"a\":" E(0, 4) ",\"b\":5}", 4, false},
    {"{\"__metadata__\":{\"x\":\"1\"},\"a\":" E(0, 4) "}", 4, true},
    {"{\"__metadata__\":null,\"a\":" E(0, 4) "}", 4, true},
    {"{\"\\u005f_metadata__\":{\"x\":\"1\"},\"a\":" E(0, 4) "}", 4, true},
    {"{\"__metadata__\":{\"x\":1},\"a\":" E(0, 4) "}", 4, false},
    {"{\"__metadata__\":{\"x\":{}},\"a\":" E(0, 4) "}", 4, false},
    {"{\"__metadata__\":[],\"a\":" E(0, 4) "}", 4, false},
    {"{\"__metadata__\":" E(0, 4) ",\"a\":" E(0, 4) "}", 4, false},
    {"{\"__metadata__\":{},\"__metadata__\":{},\"a\":" E(0, 4) "}", 4, false},
    {"{\"__metadata__\":{\"x\":\"1\",\"\\u0078\":\"2\"},\"a\":" E(0, 4) "}", 4, false},
    {"{\"__metadata__\":{}}", 0, true},
    {" {}", 0, true},
    {"{} \n\t\r", 0, true},
    {"{}x", 0, false},
    {"{}{}", 0, false},
    {"\xef\xbb\xbf{}", 0, false},
    {"[]", 0, false},
    {"null", 0, false},
    {"", 0, false},
    {"{\"\":" E(0, 4) "}", 4, true},
    {"{\"\\ud83d\\ude00\":" E(0, 4) "}", 4, true},
    {"{\"a\\u0000b\":" E(0, 4) "}", 4, false},
    {"{\"\x01\":" E(0, 4) "}", 4, false},
    {"{\"\\ud800\":" E(0, 4) "}", 4, false},
    {"{\"\\ud800\\u0041\":" E(0, 4) "}", 4, false},
    {"{\"\\udc00\":" E(0, 4) "}", 4, false},
    {"{\"\xc0\xaf\":" E(0, 4) "}", 4, false},
    {"{\"\xed\xa0\x80\":" E(0, 4) "}", 4, false},
    {"{\"\xf4\x90\x80\x80\":" E(0, 4) "}", 4, false},
    {"{\"\xe2\x82\":" E(0, 4) "}", 4, false},
    {"{\"\xe2\x82\xac\":" E(0, 4) "}", 4, true},
    {"{\"a\":" E(0, 4) ",}", 4, false},
    {"{/*x*/\"a\":" E(0, 4) "}", 4, false},
    {"{'a':" E(0, 4) "}", 4, false},
    {"{\"a\":" E(0, 4), 4, false},
    {"{\"a", 4, false},
    {"{\"a\\", 4, false},
};
enum { VECTOR_COUNT = sizeof vectors / sizeof vectors[0] };

static Arena keep, scratch;

static Str with_length(uint64_t length, Str header, Arena *arena)
{
    char *at = arena_alloc(arena, header.len + 8, 1);
    for (int i = 0; i < 8; i++) {
        at[i] = (char)(length >> (8 * i));
    }
    memcpy(at + 8, header.at, (size_t)header.len);
    return (Str){at, header.len + 8};
}

static bool parse(Str header, uint64_t data_bytes, Arena *arena, Checkpoint *out, Error *err)
{
    *err = (Error){0};
    Str bytes = with_length((uint64_t)header.len, header, arena);
    return safetensors_parse(bytes, (uint64_t)bytes.len + data_bytes, arena, scratch, out, err);
}

static void reference_vectors(void)
{
    for (int i = 0; i < VECTOR_COUNT; i++) {
        Arena arena = keep;
        Checkpoint checkpoint;
        Error err;
        bool ok =
            parse(str_of(vectors[i].header), vectors[i].data_bytes, &arena, &checkpoint, &err);
        if (ok != vectors[i].is_accepted) {
            fprintf(stderr, "vector %d: %s: %s\n", i, vectors[i].header, err.message);
        }
        CHECK_EQ_INT(ok, vectors[i].is_accepted);
        CHECK_EQ_INT(err.code, ok ? ERROR_NONE : ERROR_INPUT);
        CHECK_EQ_INT(err.message[0] != '\0', !ok);
    }
}

static void raw_bytes_and_lengths(void)
{
    Checkpoint c;
    Error err;
    CHECK(!parse((Str){"{}\0\0", 4}, 0, &keep, &c, &err));
    CHECK(!parse((Str){"\0{}", 3}, 0, &keep, &c, &err));
    Str bytes = with_length(3, S("{}"), &keep);
    CHECK_ERROR(safetensors_parse(bytes, 10, &keep, scratch, &c, &err), err, ERROR_INPUT,
                "header of 3");
    bytes = with_length(100000001, S("{}"), &keep);
    CHECK_ERROR(safetensors_parse(bytes, 10, &keep, scratch, &c, &err), err, ERROR_INPUT,
                "the format allows");
    bytes = with_length(100000000, S("{}"), &keep);
    CHECK_ERROR(safetensors_parse(bytes, 200000000, &keep, scratch, &c, &err), err, ERROR_INPUT,
                "this reader accepts");
    bytes = with_length(UINT64_MAX, S("{}"), &keep);
    CHECK(!safetensors_parse(bytes, 10, &keep, scratch, &c, &err));
    CHECK_ERROR(safetensors_parse((Str){"1234567", 7}, 7, &keep, scratch, &c, &err), err,
                ERROR_INPUT, "at least 8");
}

static void limits(void)
{
    Arena arena = keep;
    Checkpoint c;
    Error err;
    char *deep = arena_alloc(&arena, 1000, 1);
    int used = snprintf(deep, 1000, "{\"a\":{\"extra\":");
    for (int i = 0; i < 200; i++) {
        deep[used++] = '[';
    }
    for (int i = 0; i < 200; i++) {
        deep[used++] = ']';
    }
    used += snprintf(deep + used, (size_t)(1000 - used),
                     ",\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}");
    CHECK_ERROR(parse((Str){deep, used}, 4, &arena, &c, &err), err, ERROR_INPUT,
                "nested too deeply");

    CHECK_ERROR(parse(S(ONE("F32", "[1,1,1,1,1,1,1,1,1]", 0, 4)), 4, &arena, &c, &err), err,
                ERROR_INPUT, "more than 8");
    CHECK(parse(S(ONE("F32", "[1,1,1,1,1,1,1,1]", 0, 4)), 4, &arena, &c, &err));

    for (int extra = 0; extra < 2; extra++) {
        Writer writer = writer_buffer(&arena);
        write_str(&writer, S("{\""));
        for (int i = 0; i < 4096 + extra; i++) {
            write_str(&writer, S("n"));
        }
        write_str(&writer, S("\":" E(0, 4) "}"));
        Str text = str_copy(writer_text(&writer), &arena);
        CHECK_EQ_INT(parse(text, 4, &arena, &c, &err), extra == 0);
    }
    for (int extra = 0; extra < 2; extra++) {
        Writer writer = writer_buffer(&arena);
        write_str(&writer, S("{\"__metadata__\":{\"k\":\""));
        for (int i = 0; i < 65535 + extra; i++) {
            write_str(&writer, S("v"));
        }
        write_str(&writer, S("\"}}"));
        Str text = str_copy(writer_text(&writer), &arena);
        CHECK_EQ_INT(parse(text, 0, &arena, &c, &err), extra == 0);
    }
    for (int extra = 0; extra < 2; extra++) {
        Writer writer = writer_buffer(&arena);
        for (int i = 0; i < 65536 + extra; i++) {
            write_fmt(&writer, "%s\"%d\":%s", i == 0 ? "{" : ",", i, ENTRY("U8", "[0]", 0, 0));
        }
        write_str(&writer, S("}"));
        Str text = str_copy(writer_text(&writer), &arena);
        CHECK_EQ_INT(parse(text, 0, &arena, &c, &err), extra == 0);
        CHECK(extra == 0 || test_contains_(err.message, "65536"));
    }
    Arena tiny = arena_create(4096);
    CHECK_ERROR(safetensors_parse(with_length(2, S("{}"), &arena), 10, &tiny, scratch, &c, &err),
                err, ERROR_INPUT, "memory set aside");
}

static void messages_are_escaped(void)
{
    Checkpoint c;
    Error err;
    CHECK(!parse(S("{\"\\u001b[31mred\\u0085\":" E(0, 8) "}"), 8, &keep, &c, &err));
    CHECK(test_contains_(err.message, "\\x1b[31mred\\xc2\\x85"));
    for (const char *at = err.message; *at != '\0'; at++) {
        CHECK(*at >= 0x20 && *at < 0x7f);
    }
}

static void write_and_read(void)
{
    const float f32[] = {1.5f, -2.0f, 3.25f, 0.0f, -0.0f, 1e-30f};
    const uint16_t f16[] = {0x3c00, 0xc000, 0x0001}, bf16[] = {0x3f80, 0xc040};
    const TensorData data[] = {
        {S("half"), DTYPE_F16, {2, {1, 3}}, f16},  {S("z"), DTYPE_F32, {0, {0}}, f32},
        {S("b\"r"), DTYPE_BF16, {1, {2}}, bf16},   {S("matrix"), DTYPE_F32, {2, {2, 3}}, f32},
        {S("empty"), DTYPE_F32, {2, {0, 3}}, f32},
    };
    Str path = str_format(&keep, "%s/written.safetensors", temporary_directory());
    Error err = {0};
    CHECK_OK(safetensors_write(path.at, data, 5, scratch, &err), err);
    Str bytes;
    CHECK_OK(file_read(path.at, 1 << 20, &keep, &bytes, &err), err);
    static const char header[] =
        "{\"__metadata__\":{\"format\":\"pt\"},"
        "\"empty\":{\"dtype\":\"F32\",\"shape\":[0,3],\"data_offsets\":[0,0]},"
        "\"matrix\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]},"
        "\"z\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[24,28]},"
        "\"b\\\"r\":{\"dtype\":\"BF16\",\"shape\":[2],\"data_offsets\":[28,32]},"
        "\"half\":{\"dtype\":\"F16\",\"shape\":[1,3],\"data_offsets\":[32,38]}}";
    isize padded = (isize)align_up((int64_t)sizeof header - 1, 8);
    CHECK_EQ_INT(bytes.len, 8 + padded + 38);
    CHECK_EQ_INT(bytes.at[0] + 256 * bytes.at[1], padded);
    CHECK(memcmp(bytes.at + 8, header, sizeof header - 1) == 0);

    Checkpoint c;
    CHECK_OK(safetensors_open(path.at, &keep, scratch, &c, &err), err);
    CHECK_EQ_INT(c.tensors.len, 5);
    TensorSource source = checkpoint_source(&c);
    TensorInfo info;
    CHECK(source.find(source.context, S("half"), &info));
    CHECK_EQ_INT(info.dtype, DTYPE_F16);
    CHECK(!source.find(source.context, S("hal"), &info));
    float out[6];
    CHECK_OK(source.read(source.context, S("half"), out, &err), err);
    CHECK(out[0] == 1.0f && out[1] == -2.0f && out[2] == 0x1p-24f);
    CHECK_OK(source.read(source.context, S("b\"r"), out, &err), err);
    CHECK(out[0] == 1.0f && out[1] == -3.0f);
    CHECK_OK(source.read(source.context, S("matrix"), out, &err), err);
    CHECK(memcmp(out, f32, sizeof f32) == 0);
    CHECK_ERROR(source.read(source.context, S("none"), out, &err), err, ERROR_INPUT, "missing");
    /* A file that shrinks after it was opened is an error, not a crash. */
    CHECK(truncate(path.at, 60) == 0);
    CHECK_ERROR(source.read(source.context, S("matrix"), out, &err), err, ERROR_INPUT,
                "ends at byte");
    checkpoint_close(&c);
    CHECK_ERROR(safetensors_open(path.at, &keep, scratch, &c, &err), err, ERROR_INPUT, "header of");
    CHECK(test_contains_(err.where, ".safetensors"));
    CHECK_ERROR(safetensors_open("/dev/null", &keep, scratch, &c, &err), err, ERROR_INPUT,
                "regular file");
    CHECK(unlink(path.at) == 0);
    CHECK_ERROR(safetensors_open(path.at, &keep, scratch, &c, &err), err, ERROR_INPUT,
                "cannot be opened");
}

/* Whatever is accepted, its ranges tile the buffer and its names are sorted and different. */
static void mutations(void)
{
    static const char alphabet[] = "{}[]\",:\\0123456789.eE-+ \tFUIBaunltrs_";
    uint64_t seed = test_seed(77), draw = 0;
    int accepted = 0;
    for (int round = 0; round < 60000; round++) {
        const Vector *vector = &vectors[random_below(seed, draw++, VECTOR_COUNT)];
        char text[600];
        isize len = (isize)strlen(vector->header);
        memcpy(text, vector->header, (size_t)len);
        for (uint64_t edits = random_below(seed, draw++, 4); edits > 0 && len > 0; edits--) {
            isize at = (isize)random_below(seed, draw++, (uint64_t)len);
            char byte = random_below(seed, draw++, 4) == 0
                            ? (char)random_below(seed, draw++, 256)
                            : alphabet[random_below(seed, draw++, sizeof alphabet - 1)];
            switch (random_below(seed, draw++, 3)) {
            case 0:
                text[at] = byte;
                break;
            case 1:
                memmove(text + at + 1, text + at, (size_t)(len - at));
                text[at] = byte;
                len++;
                break;
            default:
                memmove(text + at, text + at + 1, (size_t)(len - at - 1));
                len--;
                break;
            }
        }
        Arena arena = keep;
        Checkpoint c;
        Error err;
        if (!parse((Str){text, len}, vector->data_bytes, &arena, &c, &err)) {
            CHECK_EQ_INT(err.code, ERROR_INPUT);
            continue;
        }
        accepted++;
        uint64_t total = 0;
        for (isize i = 0; i < c.tensors.len; i++) {
            const SafeTensor *tensor = &c.tensors.at[i];
            CHECK(tensor->end <= vector->data_bytes);
            CHECK(shape_elems(&tensor->shape) >= 0);
            total += tensor->end - tensor->begin;
            CHECK(i == 0 || str_compare(c.tensors.at[i - 1].name, tensor->name) < 0);
        }
        CHECK_EQ_INT(total, vector->data_bytes);
    }
    CHECK(accepted > 1000);
}

static void starts(void)
{
    keep = arena_create(256 << 20);
    scratch = arena_create(256 << 20);
}

TEST_MAIN(starts, reference_vectors, raw_bytes_and_lengths, limits, messages_are_escaped,
          write_and_read, mutations)
