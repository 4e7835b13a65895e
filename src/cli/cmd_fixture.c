/* tessera fixture: a randomised checkpoint in Hugging Face form (product.md 4, decisions.md D). */
#include "cli/cli.h"
#include "import/import.h"
#include <stdio.h>
#include <unistd.h>

typedef struct FixtureFlags {
    const char *name, *directory;
    int64_t seed, layers;
    bool is_quiet;
} FixtureFlags;

enum { FLAG_SEED, FLAG_LAYERS, FLAG_QUIET, FLAG_COUNT };

static const Flag flags[] = {
    [FLAG_SEED] = {"--seed", "N", "seed of the weights (default 1)"},
    [FLAG_LAYERS] = {"--layers", "N", "number of encoder layers (default: the fixture's own)"},
    [FLAG_QUIET] = {"-q", NULL, "no progress"},
};

static bool take(void *context, int flag, const char *value, Error *err)
{
    FixtureFlags *f = context;
    switch (flag) {
    case FLAG_SEED:
        return cli_int("--seed", value, 0, INT64_MAX, &f->seed, err);
    case FLAG_LAYERS:
        return cli_int("--layers", value, 1, 1000, &f->layers, err);
    case FLAG_QUIET:
        f->is_quiet = true;
        return true;
    default:
        break;
    }
    if (f->name != NULL && f->directory != NULL) {
        return error_set(err, ERROR_INPUT, NULL,
                         "unexpected argument %s (see tessera fixture --help)", value);
    }
    *(f->name == NULL ? &f->name : &f->directory) = value;
    return true;
}

int cmd_fixture(int argc, char **argv)
{
    enum { SCRATCH_BYTES = 1 << 30 };
    FixtureFlags f = {.seed = 1};
    char about[400];
    int done = 0;
    (void)snprintf(
        about, sizeof about,
        "Writes config.json, preprocessor_config.json and model.safetensors with random "
        "weights into DIR.\nNAME is one of: %.*s.\nThe same name, seed and layers give the "
        "same bytes on every machine.",
        STR_ARG(fixture_names()));
    if (!cli_parse(argc, argv, "NAME DIR [OPTIONS]", about, flags, FLAG_COUNT, take, &f, &done)) {
        return done;
    }
    Error err = {0};
    if (f.directory == NULL) {
        (void)error_set(&err, ERROR_INPUT, NULL,
                        "fixture needs a NAME and a DIR (see tessera fixture --help)");
        return cli_fail(&err);
    }
    Arena scratch = arena_create(SCRATCH_BYTES);
    Writer progress = writer_file(STDERR_FILENO, &scratch);
    bool ok = fixture_write(str_of(f.name), f.directory, (uint64_t)f.seed, (int32_t)f.layers,
                            scratch, f.is_quiet ? NULL : &progress, &err);
    arena_destroy(&scratch);
    if (!ok) {
        return cli_fail(&err);
    }
    if (!f.is_quiet) {
        fprintf(stderr, "wrote %s to %s\n", f.name, f.directory);
    }
    return 0;
}
