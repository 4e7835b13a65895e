/* Hostile package files: cut off at every kind of place, random bytes changed. Nothing may crash; what is accepted
 * must pass the checker.
 */
#include "sample.h"
#include "test.h"
#include <unistd.h>

enum { ARENA_BYTES = 256 << 20, MUTATIONS = 10000 };

static Str sample_bytes(Arena *keep, Arena scratch)
{
    Package package = sample_package(&scratch);
    char path[256];
    const char *base = getenv("TMPDIR") != NULL ? getenv("TMPDIR") : P_tmpdir;
    (void)snprintf(path, sizeof path, "%s/tessera-hostile-XXXXXX", base);
    int fd = mkstemp(path);
    CHECK(fd >= 0 && close(fd) == 0);
    Error err = {0};
    Str bytes;
    CHECK_OK(package_write(&package, path, scratch, &err), err);
    CHECK_OK(file_read(path, ARENA_BYTES, keep, &bytes, &err), err);
    CHECK(unlink(path) == 0);
    return bytes;
}

static bool accepts(Str bytes, Arena keep, Arena scratch)
{
    Error err = {0};
    Package package;
    bool ok = package_parse(bytes, &keep, scratch, &package, &err);
    if (ok) {
        CHECK_OK(package_check(&package, scratch, &err), err);
        Writer writer = {.fd = -1, .at = arena_array(&scratch, char, 8192), .cap = 8192};
        package_print(&writer, &package, true);
    } else {
        CHECK_EQ_INT(err.code, ERROR_INPUT);
        CHECK(err.message[0] != '\0' && err.where[0] != '\0');
    }
    return ok;
}

static void survives_truncation(void)
{
    Arena keep = arena_create(ARENA_BYTES), scratch = arena_create(ARENA_BYTES);
    Str bytes = sample_bytes(&keep, scratch);
    CHECK(accepts(bytes, keep, scratch));
    for (isize len = 0; len < bytes.len; len += len < 1024 || bytes.len - len < 4096 ? 1 : 509) {
        CHECK(!accepts(str_slice(bytes, 0, len), keep, scratch));
    }
    Error err = {0};
    Package package;
    CHECK_ERROR(package_read("no-such-directory/p.ipuexe", &keep, scratch, &package, &err), err,
                ERROR_INPUT, "cannot be opened");
    CHECK_CSTR(err.where, "no-such-directory/p.ipuexe");
    arena_destroy(&keep);
    arena_destroy(&scratch);
}

static void survives_mutation(void)
{
    uint64_t seed = test_seed(20240611);
    Arena keep = arena_create(ARENA_BYTES), scratch = arena_create(ARENA_BYTES);
    Str bytes = sample_bytes(&keep, scratch);
    char *copy = arena_array(&keep, char, bytes.len);
    memcpy(copy, bytes.at, (size_t)bytes.len);
    int accepted = 0;
    for (uint64_t i = 0; i < MUTATIONS; i++) {
        uint64_t draw = 16 * i;
        /* Most of the file are 1472 equal images; every other round aims at its two ends. */
        uint64_t span = i % 2 == 0 ? (uint64_t)bytes.len : 4096;
        uint64_t begin = i % 4 == 3 ? (uint64_t)bytes.len - span : 0;
        int count = 1 + (int)random_below(seed, draw, 4);
        uint64_t at[4];
        for (int k = 0; k < count; k++) {
            at[k] = begin + random_below(seed, draw + 1 + (uint64_t)k, span);
            copy[at[k]] = (char)random_below(seed, draw + 8 + (uint64_t)k, 256);
        }
        accepted += accepts((Str){copy, bytes.len}, keep, scratch);
        for (int k = 0; k < count; k++) {
            copy[at[k]] = bytes.at[at[k]];
        }
    }
    /* Some flips only change a value, most break the structure: both must have happened. */
    CHECK(accepted > 0 && accepted < MUTATIONS);
    arena_destroy(&keep);
    arena_destroy(&scratch);
}

TEST_MAIN(survives_truncation, survives_mutation)
