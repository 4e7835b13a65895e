/* tessera inspect: look inside a package. */
#include "asm/asm.h"
#include "cli/cli.h"
#include "emit/emit.h"
#include "package/package.h"
#include <unistd.h>

typedef struct InspectFlags {
    const char *package;
    int64_t code_tile, tile;
    bool is_json, is_flags;
} InspectFlags;

enum { FLAG_CODE, FLAG_TILE, FLAG_ISA_FLAGS, FLAG_JSON };

static const Flag flags[] = {
    [FLAG_CODE] = {"--code", "P", "disassemble the image of physical tile P"},
    [FLAG_TILE] = {"--tile", "P", "list the buffers of physical tile P by address"},
    [FLAG_ISA_FLAGS] = {"--isa-flags", NULL,
                        "list the values of flag symbols that the code was assembled with"},
    [FLAG_JSON] = {"--json", NULL, "as JSON"},
};

static bool take(void *context, int flag, const char *value, Error *err)
{
    InspectFlags *f = context;
    switch (flag) {
    case FLAG_CODE:
        return cli_int("--code", value, 0, CHIP_TILES - 1, &f->code_tile, err);
    case FLAG_TILE:
        return cli_int("--tile", value, 0, CHIP_TILES - 1, &f->tile, err);
    case FLAG_ISA_FLAGS:
        f->is_flags = true;
        return true;
    case FLAG_JSON:
        f->is_json = true;
        return true;
    default:
        if (f->package != NULL)
            return error_set(err, ERROR_INPUT, NULL, "one package expected, found also %s", value);
        f->package = value;
        return true;
    }
}

int cmd_inspect(int argc, char **argv)
{
    InspectFlags f = {.code_tile = -1, .tile = -1};
    int done;
    if (!cli_parse(argc, argv, "P.ipuexe [OPTIONS]",
                   "Shows header, bindings, exchange phases and memory of a package.", flags,
                   sizeof flags / sizeof *flags, take, &f, &done))
        return done;
    Error err = {0};
    Arena keep = arena_create((isize)1 << 36), scratch = arena_create((isize)1 << 36);
    Package package;
    if (f.package == NULL)
        error_set(&err, ERROR_INPUT, NULL, "inspect needs P.ipuexe (see tessera inspect --help)");
    else if (f.is_json + f.is_flags + (f.code_tile >= 0) + (f.tile >= 0) > 1)
        error_set(&err, ERROR_INPUT, NULL,
                  "options --json, --code, --tile and --isa-flags exclude each other");
    if (err.code != ERROR_NONE || !package_read(f.package, &keep, scratch, &package, &err))
        return cli_fail(&err);
    Writer out = writer_file(STDOUT_FILENO, &keep);
    if (f.code_tile >= 0)
        emit_print_code(&out, &package, (PhysTile){(uint16_t)f.code_tile});
    else if (f.tile >= 0)
        package_print_tile(&out, &package, (PhysTile){(uint16_t)f.tile}, scratch);
    else if (f.is_flags)
        package_print_flags(&out, &package);
    else
        package_print(&out, &package, f.is_json);
    return cli_flush(&out, &err) ? 0 : cli_fail(&err);
}
