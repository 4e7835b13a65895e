/* Strings, numbers, writer, errors, names and bits. */
#include "test.h"
#include <fcntl.h>
#include <math.h>
#include <unistd.h>

static void strings(void)
{
    CHECK(str_equal(S("abc"), str_of("abc")));
    CHECK(!str_equal(S("abc"), S("abd")));
    CHECK(str_equal(S(""), (Str){0}));
    CHECK_EQ_INT(str_compare(S("ab"), S("abc")), -1);
    CHECK_EQ_INT(str_compare(S("b"), S("abc")), 1);
    CHECK_EQ_INT(str_compare(S("\xff"), S("a")), 1);
    CHECK_EQ_INT(str_compare(S("x"), S("x")), 0);
    CHECK(str_starts(S("model.safetensors"), S("model.")));
    CHECK(!str_starts(S("mo"), S("model")));
    CHECK(str_ends(S("model.safetensors"), S(".safetensors")));
    CHECK_STR(str_trim(S(" \t a b\r\n")), S("a b"));
    CHECK_STR(str_trim(S("  ")), S(""));
    Str rest = S("a,,b");
    CHECK_STR(str_cut(&rest, ','), S("a"));
    CHECK_STR(str_cut(&rest, ','), S(""));
    CHECK_STR(str_cut(&rest, ','), S("b"));
    CHECK_STR(rest, S(""));
    CHECK_EQ_INT(str_find(S("abcabc"), 'b', 2), 4);
    CHECK_EQ_INT(str_find(S("abc"), 'x', 0), -1);
    CHECK_EQ_INT(str_find(S("abc"), 'a', 3), -1);
    CHECK_STR(str_slice(S("hello"), 1, 3), S("el"));
}

static void check_int(const char *text, bool ok, int64_t expected)
{
    int64_t value = 77;
    CHECK_EQ_INT(str_to_int(str_of(text), &value), ok);
    CHECK_EQ_INT(value, ok ? expected : 77);
}

static void numbers(void)
{
    check_int("0", true, 0);
    check_int("-12", true, -12);
    check_int("+7", true, 7);
    check_int("0x1F", true, 31);
    check_int("-0x10", true, -16);
    check_int("9223372036854775807", true, INT64_MAX);
    check_int("-9223372036854775808", true, INT64_MIN);
    check_int("9223372036854775808", false, 0);
    check_int("99999999999999999999", false, 0);
    check_int("", false, 0);
    check_int("-", false, 0);
    check_int("0x", false, 0);
    check_int("12a", false, 0);
    check_int(" 1", false, 0);
    check_int("1 ", false, 0);
    double value = 5;
    CHECK(str_to_f64(S("-1.5e3"), &value) && value == -1500.0);
    CHECK(!str_to_f64(S("1.5x"), &value));
    CHECK(!str_to_f64(S("1e999"), &value));
    CHECK(!str_to_f64(S("nan"), &value));
    CHECK(!str_to_f64(S(""), &value));
    CHECK(value == -1500.0);
}

static void writer_to_buffer(void)
{
    Arena arena = arena_create(1 << 20);
    Writer writer = writer_buffer(&arena);
    for (int i = 0; i < 1000; i++) {
        write_fmt(&writer, "%d,", i);
        if (i == 500) {
            (void)arena_alloc(&arena, 10, 1); /* the buffer can no longer grow in place */
        }
    }
    Str text = writer_text(&writer);
    for (int i = 0; i < 1000; i++) {
        int64_t value = -1;
        CHECK(str_to_int(str_cut(&text, ','), &value));
        CHECK_EQ_INT(value, i);
    }
    Writer json = writer_buffer(&arena);
    write_json_str(&json, S("a\"b\\c\nd\x01\t\xc3\xa4"));
    CHECK_STR(writer_text(&json), S("\"a\\\"b\\\\c\\nd\\u0001\\t\xc3\xa4\""));
    char wide[2000];
    memset(wide, 'x', sizeof wide);
    Writer big = writer_buffer(&arena);
    write_fmt(&big, "<%.*s>", (int)sizeof wide, wide);
    CHECK_EQ_INT(writer_text(&big).len, 2002);
    CHECK(writer_flush(&big));
    arena_destroy(&arena);
}

static void writer_to_file(void)
{
    Arena arena = arena_create(1 << 22);
    Str path = str_format(&arena, "%s/out", getenv("T"));
    int fd = open(path.at, O_RDWR | O_CREAT | O_TRUNC, 0600);
    CHECK(fd >= 0);
    Writer writer = writer_file(fd, &arena);
    Writer copy = writer_buffer(&arena);
    for (int i = 0; i < 40000; i++) {
        write_fmt(&writer, "line %d\n", i);
        write_fmt(&copy, "line %d\n", i);
    }
    CHECK(writer_flush(&writer));
    close(fd);
    Str text;
    Error err = {0};
    CHECK_OK(file_read(path.at, 1 << 20, &arena, &text, &err), err);
    CHECK_STR(text, writer_text(&copy));
    Writer closed = writer_file(fd, &arena); /* not open any more */
    write_str(&closed, S("x"));
    CHECK(!writer_flush(&closed));
    arena_destroy(&arena);
}

static void errors(void)
{
    Error err = {0};
    CHECK(!error_set(&err, ERROR_INPUT, "file.json", "bad \x1b[31m value %d\n", 7));
    CHECK_EQ_INT(err.code, ERROR_INPUT);
    CHECK_CSTR(err.message, "bad \\x1b[31m value 7\\n");
    CHECK_CSTR(err.where, "file.json");
    CHECK(!error_set(&err, ERROR_NO, NULL, "second"));
    CHECK_EQ_INT(err.code, ERROR_INPUT);
    CHECK(!error_context(&err, "model %s", "m"));
    CHECK_CSTR(err.where, "model m: file.json");
    char wide[4000];
    memset(wide, 'y', sizeof wide - 1);
    wide[sizeof wide - 1] = '\0';
    CHECK(!error_context(&err, "%s", wide));
    CHECK(strlen(err.where) < sizeof err.where);
    err = (Error){0};
    CHECK(!error_set(&err, ERROR_NO, wide, "%s", wide));
    CHECK(strlen(err.message) < sizeof err.message);
}

static void names(void)
{
    Arena arena = arena_create(1 << 16);
    NameTable table = {0};
    CHECK_EQ_INT(name_intern(&table, S(""), &arena), 0);
    uint32_t a = name_intern(&table, S("layer0"), &arena),
             b = name_intern(&table, S("layer1"), &arena);
    CHECK(a != 0 && b != 0 && a != b);
    CHECK_EQ_INT(name_intern(&table, S("layer0"), &arena), a);
    CHECK_STR(name_of(&table, b), S("layer1"));
    CHECK_STR(name_of(&table, 0), S(""));
    CHECK_STR(name_of(&table, 999), S(""));
    CHECK_STR(name_of(&(NameTable){0}, 0), S(""));
    arena_destroy(&arena);
}

static void bits(void)
{
    CHECK_EQ_INT(crc32_of("123456789", 9), 0xcbf43926); /* the check value of CRC-32 */
    CHECK_EQ_INT(crc32_of("", 0), 0);
    CHECK_EQ_INT(sign_extend(0x7f, 8), 127);
    CHECK_EQ_INT(sign_extend(0x80, 8), -128);
    CHECK_EQ_INT(sign_extend(0xffffffffu, 32), -1);
    CHECK_EQ_INT(div_up(17, 16), 2);
    CHECK_EQ_INT(align_up(32, 16), 32);
    CHECK_EQ_INT(bits_of_f32(1.0f), 0x3f800000);
    CHECK(f32_of_bits(0x40000000u) == 2.0f);
    CHECK(hash64_of("abc", 3, 0) != hash64_of("abd", 3, 0));
    CHECK(hash64_of("abc", 3, 0) != hash64_of("abc", 3, 1));
    CHECK(hash64_of("a\0", 2, 0) != hash64_of("a", 1, 0));
}

TEST_MAIN(strings, numbers, writer_to_buffer, writer_to_file, errors, names, bits)
