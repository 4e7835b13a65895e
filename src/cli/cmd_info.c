/* tessera info: what a checkpoint holds, and what is missing or unknown (product.md 4). */
#include "cli/cli.h"
#include "import/import.h"
#include <unistd.h>

typedef struct InfoFlags {
    const char *model;
    bool is_json;
} InfoFlags;

enum { FLAG_JSON, FLAG_COUNT };

static const Flag flags[] = {
    [FLAG_JSON] = {"--json", NULL, "one JSON object, with all names"},
};

static bool take(void *context, int flag, const char *value, Error *err)
{
    InfoFlags *f = context;
    if (flag == FLAG_JSON) {
        f->is_json = true;
        return true;
    }
    if (f->model != NULL) {
        return error_set(err, ERROR_INPUT, NULL, "unexpected argument %s (see tessera info --help)",
                         value);
    }
    f->model = value;
    return true;
}

int cmd_info(int argc, char **argv)
{
    static const char about[] =
        "Describes a checkpoint directory: architecture, preprocessing, parameters, tensors used "
        "and "
        "unused.\nExit status 1 when tensors are missing or have the wrong shape.";
    enum { ARENA_BYTES_LOG2 = 32 };
    InfoFlags f = {0};
    int done = 0;
    if (!cli_parse(argc, argv, "MODEL [OPTIONS]", about, flags, FLAG_COUNT, take, &f, &done)) {
        return done;
    }
    Error err = {0};
    if (f.model == NULL) {
        (void)error_set(&err, ERROR_INPUT, NULL, "info needs a MODEL (see tessera info --help)");
        return cli_fail(&err);
    }
    Arena keep = arena_create((isize)1 << ARENA_BYTES_LOG2);
    Arena scratch = arena_create((isize)1 << ARENA_BYTES_LOG2);
    Arena text = arena_create((isize)1 << ARENA_BYTES_LOG2);
    Writer out = writer_file(STDOUT_FILENO, &text);
    bool ok = model_describe(f.model, &out, f.is_json, &keep, scratch, &err);
    ok = cli_flush(&out, &err) && ok;
    arena_destroy(&text);
    arena_destroy(&scratch);
    arena_destroy(&keep);
    return ok ? 0 : cli_fail(&err);
}
