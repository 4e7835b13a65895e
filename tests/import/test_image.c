/* Pictures against PIL: committed vectors (pil_vectors.h), and random ones when python3 with PIL is there.
 * Then the preprocessing arithmetic, refusals, and broken files. */
#include "import/parts.h"
#include "import/pil_vectors.h"
#include "import/temporary.h"
#include "test.h"
#include <unistd.h>

static Arena keep, scratch;
static const char *directory;

static uint8_t *pattern(int width, int height, Arena *arena)
{
    uint8_t *rgb = arena_array(arena, uint8_t, width * height * 3);
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            for (int c = 0; c < 3; c++) {
                rgb[(y * width + x) * 3 + c] = (uint8_t)(x * 37 + y * 91 + c * 53 + x * y * 7);
            }
        }
    }
    return rgb;
}

static void committed_resizes(void)
{
    const uint8_t *expected[4] = {resized_0, resized_1, resized_2, resized_3};
    const uint8_t *rgb = pattern(13, 11, &keep);
    for (int code = 0; code < 4; code++) {
        uint8_t *out;
        Error err = {0};
        CHECK_OK(image_resize(rgb, 13, 11, 6, 17, code, &keep, scratch, &out, &err), err);
        CHECK(memcmp(out, expected[code], sizeof resized_0) == 0);
    }
}

static void check_decoded(const uint8_t *file, isize len, const uint8_t *rgb, isize rgb_len,
                          int width, int height)
{
    uint8_t *out;
    int32_t w, h;
    Error err = {0};
    CHECK_OK(image_decode((Str){(const char *)file, len}, "x", false, &keep, &out, &w, &h, &err),
             err);
    CHECK_EQ_INT(w, width);
    CHECK_EQ_INT(h, height);
    CHECK_EQ_INT(rgb_len, 3 * width * height);
    CHECK(memcmp(out, rgb, (size_t)rgb_len) == 0);
}

static void committed_files(void)
{
    check_decoded(file_rgba, sizeof file_rgba, rgb_rgba, sizeof rgb_rgba, 5, 4);
    check_decoded(file_palette, sizeof file_palette, rgb_palette, sizeof rgb_palette, 5, 4);
    check_decoded(file_grey, sizeof file_grey, rgb_grey, sizeof rgb_grey, 5, 4);
    check_decoded(file_jpeg, sizeof file_jpeg, rgb_jpeg, sizeof rgb_jpeg, 9, 6);
}

static Str case_file(int index, const char *suffix)
{
    Str path = str_format(&keep, "%s/%d.%s", directory, index, suffix), text;
    Error err = {0};
    CHECK_OK(file_read(path.at, 1 << 24, &keep, &text, &err), err);
    return text;
}

static void run_case(const char *line)
{
    int index, width, height, out_width, out_height, code;
    char name[32];
    Error err = {0};
    uint8_t *out;
    if (sscanf(line, "resize %d %d %d %d %d %d", &index, &width, &height, &out_width, &out_height,
               &code) == 6) {
        Str in = case_file(index, "in"), expected = case_file(index, "out");
        CHECK_EQ_INT(in.len, 3 * width * height);
        CHECK_OK(image_resize((const uint8_t *)in.at, width, height, out_width, out_height, code,
                              &keep, scratch, &out, &err),
                 err);
        CHECK_EQ_INT(expected.len, 3 * out_width * out_height);
        if (memcmp(out, expected.at, (size_t)expected.len) != 0) {
            fprintf(stderr, "%s", line);
            CHECK(false);
        }
        return;
    }
    CHECK_EQ_INT(sscanf(line, "decode %d %d %d %31s", &index, &width, &height, name), 4);
    Str in = case_file(index, "in"), expected = case_file(index, "out");
    int32_t w, h;
    if (!image_decode(in, name, false, &keep, &out, &w, &h, &err)) {
        fprintf(stderr, "%s%s\n", line, err.message);
        CHECK(false);
    }
    CHECK(w == width && h == height && expected.len == 3 * w * h);
    if (memcmp(out, expected.at, (size_t)expected.len) != 0) {
        fprintf(stderr, "%s", line);
        CHECK(false);
    }
}

static void random_cases(void)
{
    char command[512], line[256];
    (void)snprintf(command, sizeof command, "/usr/bin/python3 tests/import/pil_cases.py %s 2>&1",
                   directory);
    if (access("/usr/bin/python3", X_OK) != 0) {
        puts("skipped: no python3");
        return;
    }
    int status = system(command);
    if (status == 77 << 8) {
        puts("skipped: python3 without PIL or numpy");
        return;
    }
    CHECK_EQ_INT(status, 0);
    (void)snprintf(command, sizeof command, "%s/cases", directory);
    FILE *cases = fopen(command, "r");
    CHECK(cases != NULL);
    int count = 0;
    while (fgets(line, sizeof line, cases) != NULL) {
        Arena before = keep;
        run_case(line);
        keep = before;
        count++;
    }
    CHECK_EQ_INT(fclose(cases), 0);
    CHECK(count > 150);
}

static ImageSettings settings_of(int side)
{
    ModelConfig config = {.image = side};
    return preprocessor_default(&config);
}

static const char *write_file(const char *name, const void *at, isize len)
{
    Error err = {0};
    Str path = str_format(&keep, "%s/%s", directory, name);
    CHECK_OK(file_write(path.at, (Str){at, len}, &err), err);
    return path.at;
}

static void prepares(void)
{
    const char *path = write_file("grey.png", file_grey, sizeof file_grey);
    ImageSettings settings = settings_of(4);
    Error err = {0};
    float *out;
    settings.do_resize = false;
    CHECK_ERROR(image_prepare(path, &settings, &keep, scratch, &out, &err), err, ERROR_INPUT,
                "5 x 4, expected 4 x 4");
    settings.width = 5;
    err = (Error){0};
    CHECK_OK(image_prepare(path, &settings, &keep, scratch, &out, &err), err);
    for (int i = 0; i < 60; i++) {
        float x = (float)(rgb_grey[i] * (1.0 / 255.0));
        CHECK(out[i] == (x - 0.5f) / 0.5f);
    }
    settings.do_normalize = false;
    settings.do_rescale = false;
    CHECK_OK(image_prepare(path, &settings, &keep, scratch, &out, &err), err);
    CHECK(out[7] == (float)rgb_grey[7]);
    settings.do_convert_rgb = false;
    CHECK_ERROR(image_prepare(path, &settings, &keep, scratch, &out, &err), err, ERROR_INPUT,
                "do_convert_rgb is false");
    settings = settings_of(3);
    err = (Error){0};
    CHECK_OK(image_prepare(path, &settings, &keep, scratch, &out, &err), err);
    uint8_t *resized;
    CHECK_OK(image_resize(rgb_grey, 5, 4, 3, 3, 3, &keep, scratch, &resized, &err), err);
    for (int i = 0; i < 27; i++) {
        CHECK(out[i] == ((float)(resized[i] * (1.0 / 255.0)) - 0.5f) / 0.5f);
    }
    /* A picture that does not fit the memory at hand is an error, not the end of the program. */
    Arena tiny = arena_create(4096);
    settings = settings_of(64);
    CHECK_ERROR(image_prepare(path, &settings, &tiny, scratch, &out, &err), err, ERROR_INPUT,
                "memory set aside");
}

static void refuse(const char *name, const void *at, isize len, const char *part)
{
    const char *path = write_file(name, at, len);
    ImageSettings settings = settings_of(8);
    Error err;
    float *out;
    CHECK_ERROR(image_prepare(path, &settings, &keep, scratch, &out, &err), err, ERROR_INPUT, part);
    CHECK_CSTR(err.where, path);
    CHECK(strchr(err.message, '\n') == NULL);
}

/* An IHDR chunk with its CRC, for headers that no encoder writes. */
static isize png_header(uint8_t *out, uint32_t width, uint32_t height, uint8_t depth,
                        uint8_t colour)
{
    static const uint8_t start[] = {0x89, 'P', 'N', 'G', 13,  10,  26,  10,
                                    0,    0,   0,   13,  'I', 'H', 'D', 'R'};
    memcpy(out, start, 16);
    for (int i = 0; i < 4; i++) {
        out[16 + i] = (uint8_t)(width >> (24 - 8 * i));
        out[20 + i] = (uint8_t)(height >> (24 - 8 * i));
    }
    out[24] = depth;
    out[25] = colour;
    out[26] = out[27] = out[28] = 0;
    uint32_t crc = crc32_of(out + 12, 17);
    for (int i = 0; i < 4; i++) {
        out[29 + i] = (uint8_t)(crc >> (24 - 8 * i));
    }
    return 33;
}

static void refusals(void)
{
    uint8_t header[64];
    refuse("a.webp", "RIFF\x10\0\0\0WEBPVP8 ", 16, "WebP");
    refuse("a.gif", "GIF89a........", 14, "neither a JPEG nor a PNG");
    refuse("empty", "", 0, "neither a JPEG nor a PNG");
    refuse("cut.png", file_rgba, sizeof file_rgba / 2, "broken PNG");
    refuse("cut.jpg", file_jpeg, sizeof file_jpeg - 20, "broken JPEG");
    refuse("start.jpg", file_jpeg, 4, "broken JPEG");
    refuse("large.png", header, png_header(header, 20000, 10, 8, 2), "at most 16384");
    refuse("many.png", header, png_header(header, 16000, 16000, 8, 2), "100000000 in all");
    refuse("huge.png", header, png_header(header, 0x7fffffff, 0x7fffffff, 8, 2), "broken PNG");
    refuse("grey16.png", header, png_header(header, 4, 4, 16, 0), "16 bits");
    refuse("bomb.png", header, png_header(header, 10000, 10000, 8, 2), "broken PNG");
    Error err;
    float *out;
    ImageSettings settings = settings_of(8);
    CHECK_ERROR(image_prepare("tests", &settings, &keep, scratch, &out, &err), err, ERROR_INPUT,
                "regular file");
}

static void mutations(void)
{
    uint64_t seed = test_seed(99), draw = 0;
    const struct {
        const uint8_t *at;
        isize len;
    } files[] = {{file_rgba, sizeof file_rgba},
                 {file_palette, sizeof file_palette},
                 {file_grey, sizeof file_grey},
                 {file_jpeg, sizeof file_jpeg}};
    int accepted = 0;
    for (int round = 0; round < 6000; round++) {
        Arena arena = keep;
        int k = (int)random_below(seed, draw++, 4);
        uint8_t *at = arena_alloc(&arena, files[k].len, 1);
        memcpy(at, files[k].at, (size_t)files[k].len);
        isize len = files[k].len;
        for (uint64_t edits = 1 + random_below(seed, draw++, 3); edits > 0; edits--) {
            uint64_t where = random_below(seed, draw++, (uint64_t)len);
            at[where] = (uint8_t)random_below(seed, draw++, 256);
        }
        if (random_below(seed, draw++, 4) == 0) {
            len = (isize)random_below(seed, draw++, (uint64_t)len);
        }
        uint8_t *rgb;
        int32_t width, height;
        Error err = {0};
        if (image_decode((Str){(char *)at, len}, "x", false, &arena, &rgb, &width, &height, &err)) {
            accepted++;
        } else {
            CHECK_EQ_INT(err.code, ERROR_INPUT);
        }
    }
    CHECK(accepted > 10);
}

static void starts(void)
{
    keep = arena_create((isize)1 << 30);
    scratch = arena_create((isize)1 << 32);
    directory = temporary_directory();
}

TEST_MAIN(starts, committed_resizes, committed_files, random_cases, prepares, refusals, mutations)
