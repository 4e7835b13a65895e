/* .npy files: byte-exact header, round trips, refusals, mutated files. */
#include "import/import.h"
#include "import/temporary.h"
#include "test.h"

static Arena keep, scratch;
static const char *path;

static void write_bytes(const void *at, isize len)
{
    Error err = {0};
    CHECK_OK(file_write(path, (Str){at, len}, &err), err);
}

/* A version 1.0 file around a dictionary, padded with blanks like NumPy's. */
static void write_npy(const char *dictionary, int floats)
{
    uint8_t bytes[512] = "\x93NUMPY\x01\x00\x76\x00";
    memset(bytes + 10, ' ', 118);
    memcpy(bytes + 10, dictionary, strlen(dictionary));
    bytes[127] = '\n';
    write_bytes(bytes, 128 + 4 * floats);
}

static void round_trips(void)
{
    static const Shape shapes[] = {
        {0, {0}}, {1, {5}}, {2, {2, 3}}, {3, {1, 0, 4}}, {4, {2, 1, 3, 2}}};
    float data[12];
    for (int i = 0; i < 12; i++) {
        data[i] = (float)i * 0.25f - 1.0f;
    }
    for (int i = 0; i < 5; i++) {
        Error err = {0};
        CHECK_OK(npy_write(path, data, &shapes[i], scratch, &err), err);
        float *at;
        Shape shape;
        CHECK_OK(npy_read(path, &keep, &at, &shape, &err), err);
        CHECK(shape_equal(&shape, &shapes[i]));
        CHECK(memcmp(at, data, (size_t)shape_elems(&shape) * 4) == 0);
        CHECK_EQ_INT((uintptr_t)at % 64, 0);
    }
    /* The header as NumPy 1.24 writes it for (2, 3). */
    Error err = {0};
    Str text;
    CHECK_OK(npy_write(path, data, &shapes[2], scratch, &err), err);
    CHECK_OK(file_read(path, 4096, &keep, &text, &err), err);
    CHECK_EQ_INT(text.len, 128 + 24);
    CHECK(memcmp(text.at,
                 "\x93NUMPY\x01\x00\x76\x00{'descr': '<f4', 'fortran_order': False, 'shape': "
                 "(2, 3), }   ",
                 10 + 62) == 0);
    CHECK(text.at[127] == '\n');
}

static void refusals(void)
{
    Error err;
    float *at;
    Shape shape;
    static const struct {
        const char *dictionary;
        int floats;
        const char *part; /* NULL: accepted */
    } rows[] = {
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", 2, NULL},
        {"{'shape':(2,),'fortran_order':False,'descr':'<f4'}", 2, NULL},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", 3, "needs 8 bytes"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", 1, "needs 8 bytes"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }", 4, "float32"},
        {"{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }", 2, "float32"},
        {"{'descr': '<f4', 'fortran_order': True, 'shape': (2,), }", 2, "Fortran"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2), }", 2, "malformed shape"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }", 2, "malformed shape"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1), }", 1,
         "malformed shape"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (281474976710656,281474976710656), }",
         1, "overflows"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }", 1,
         "malformed shape"},
        {"{'descr': '<f4', 'fortran_order': False, }", 1, "malformed header"},
        {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (), }", 1,
         "malformed header"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (), 'x': 1}", 1, "malformed header"},
        {"", 1, "malformed header"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        write_npy(rows[i].dictionary, rows[i].floats);
        if (rows[i].part == NULL) {
            err = (Error){0};
            CHECK_OK(npy_read(path, &keep, &at, &shape, &err), err);
        } else {
            CHECK_ERROR(npy_read(path, &keep, &at, &shape, &err), err, ERROR_INPUT, rows[i].part);
            CHECK_CSTR(err.where, path);
        }
    }
    write_bytes("\x93NUM", 4);
    CHECK_ERROR(npy_read(path, &keep, &at, &shape, &err), err, ERROR_INPUT, "only 4 bytes");
    write_bytes("\x93NUMPY\x02\x00\x10\x00 and more", 19);
    CHECK_ERROR(npy_read(path, &keep, &at, &shape, &err), err, ERROR_INPUT, "format 1.0");
    write_bytes("\x93NUMPY\x01\x00\xff\xff and more", 19);
    CHECK_ERROR(npy_read(path, &keep, &at, &shape, &err), err, ERROR_INPUT, "behind the file");
    CHECK_ERROR(npy_read("/dev/null", &keep, &at, &shape, &err), err, ERROR_INPUT, "regular file");
}

static void mutations(void)
{
    uint64_t seed = test_seed(31), draw = 0;
    float data[6] = {1, 2, 3, 4, 5, 6};
    Shape two = shape_of2(2, 3);
    Error err = {0};
    Str text;
    CHECK_OK(npy_write(path, data, &two, scratch, &err), err);
    CHECK_OK(file_read(path, 4096, &keep, &text, &err), err);
    for (int round = 0; round < 3000; round++) {
        Arena before = keep;
        char bytes[256];
        memcpy(bytes, text.at, (size_t)text.len);
        for (uint64_t edits = 1 + random_below(seed, draw++, 3); edits > 0; edits--) {
            static const char alphabet[] = "0123456789(),' {}:<>f4";
            uint64_t at = random_below(seed, draw++, 75);
            bytes[at] = alphabet[random_below(seed, draw++, sizeof alphabet - 1)];
        }
        FILE *file = fopen(path, "r+b");
        CHECK(file != NULL && fwrite(bytes, 1, (size_t)text.len, file) == (size_t)text.len);
        CHECK(fclose(file) == 0);
        float *at;
        Shape shape;
        Error e = {0};
        if (npy_read(path, &keep, &at, &shape, &e)) {
            CHECK_EQ_INT(shape_elems(&shape), 6);
        } else {
            CHECK_EQ_INT(e.code, ERROR_INPUT);
        }
        keep = before;
    }
}

static void starts(void)
{
    keep = arena_create(64 << 20);
    scratch = arena_create(64 << 20);
    path = str_format(&keep, "%s/x.npy", temporary_directory()).at;
}

TEST_MAIN(starts, round_trips, refusals, mutations)
