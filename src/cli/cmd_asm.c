/* `tessera asm`: one assembly text to raw little-endian bytes at an address, or to a listing (product.md 4). */
#include "asm/asm.h"
#include "base/file.h"
#include "chip/chip.h"
#include "cli/cli.h"
#include <stdio.h>
#include <unistd.h>

enum { DEFINES_MAX = 64, SOURCE_BYTES_MAX = 16 << 20 };

typedef struct AsmArguments {
    const char *source, *output;
    int64_t base;
    const char *isa_flags;
    bool is_listing;
    AsmDefine define[DEFINES_MAX];
    int define_count;
} AsmArguments;

enum { FLAG_OUTPUT, FLAG_BASE, FLAG_DEFINE, FLAG_LISTING, FLAG_ISA_FLAGS };
static const Flag asm_flags[] = {
    {"-o", "OUT.bin", "write the bytes to this file (default: the source's name with .bin)"},
    {"--base", "ADDR", "address of the first byte (default 0x4c010)"},
    {"-D", "NAME=VALUE", "set a symbol before assembling; without =VALUE it is 1"},
    {"--listing", NULL, "print addresses, words and source lines instead of writing bytes"},
    {"--isa-flags", "F", "values of TAMP_, TSLIC_ ... symbols, as a vendor's header has them"},
};

static bool take_define(AsmArguments *arguments, const char *value, Error *err)
{
    if (arguments->define_count == DEFINES_MAX) {
        return error_set(err, ERROR_INPUT, NULL, "option -D: expected at most %d symbols",
                         DEFINES_MAX);
    }
    AsmDefine *define = &arguments->define[arguments->define_count++];
    Str rest = str_of(value);
    define->name = str_cut(&rest, '=');
    define->value = 1;
    bool has_value = str_find(str_of(value), '=', 0) >= 0;
    if (define->name.len == 0 || (has_value && !str_to_int(rest, &define->value))) {
        return error_set(err, ERROR_INPUT, NULL, "option -D: expected NAME=INTEGER, found %s",
                         value);
    }
    return true;
}

static bool take(void *context, int flag, const char *value, Error *err)
{
    AsmArguments *arguments = context;
    switch (flag) {
    case FLAG_OUTPUT:
        arguments->output = value;
        return true;
    case FLAG_BASE:
        return cli_int("--base", value, 0, UINT32_MAX, &arguments->base, err);
    case FLAG_DEFINE:
        return take_define(arguments, value, err);
    case FLAG_LISTING:
        arguments->is_listing = true;
        return true;
    case FLAG_ISA_FLAGS:
        arguments->isa_flags = value;
        return true;
    default:
        break;
    }
    if (arguments->source) {
        return error_set(err, ERROR_INPUT, NULL, "expected one source file, found also %s", value);
    }
    arguments->source = value;
    return true;
}

typedef struct IncludeContext {
    Str folder; /* of the source, with its slash */
    Arena *arena;
} IncludeContext;

static bool find_include(void *context, Str name, Str *text, Error *err)
{
    IncludeContext *include = context;
    bool is_absolute = str_starts(name, S("/"));
    Str path = str_format(include->arena, "%.*s%.*s", is_absolute ? 0 : (int)include->folder.len,
                          include->folder.at, STR_ARG(name));
    return file_read(path.at, SOURCE_BYTES_MAX, include->arena, text, err);
}

static bool print_listing(const Object *object, const Resolved *resolved, Str source, Arena scratch)
{
    Writer writer = writer_file(STDOUT_FILENO, &scratch);
    for (isize s = 0; s < object->sections.len; s++) {
        const Section *section = &object->sections.at[s];
        if (section->len == 0) {
            continue;
        }
        write_fmt(&writer, "%.*s\n", STR_ARG(section->name));
        Str rest = source, line = {0};
        uint32_t line_number = 0;
        isize mark = 0;
        for (isize at = 0; at < section->len;) {
            bool is_start = false;
            while (mark < section->lines.len && (isize)section->lines.at[mark].offset <= at) {
                uint32_t wanted = section->lines.at[mark++].line;
                if (wanted < line_number) {
                    rest = source;
                    line_number = 0;
                }
                while (line_number < wanted) {
                    line = str_cut(&rest, '\n');
                    line_number++;
                }
                is_start = true;
            }
            isize stop =
                mark < section->lines.len ? (isize)section->lines.at[mark].offset : section->len;
            isize bytes = stop - at < 8 ? stop - at : 8;
            uint32_t address = resolved->section_address[s] + (uint32_t)at;
            const uint8_t *byte = resolved->at + (address - resolved->base);
            write_fmt(&writer, "%08x:", address);
            for (isize b = 0; b < 8; b += 4) {
                if (b + 4 <= bytes) {
                    write_fmt(&writer, " %02x%02x%02x%02x", byte[b + 3], byte[b + 2], byte[b + 1],
                              byte[b]);
                } else {
                    for (isize i = b; i < b + 4; i++) {
                        write_fmt(&writer, i < bytes ? "%s%02x" : "%s  ", i == b ? " " : "",
                                  i < bytes ? byte[i] : 0u);
                    }
                }
            }
            if (is_start) {
                write_fmt(&writer, "  %5u  %.*s", line_number, STR_ARG(line));
            }
            write_str(&writer, S("\n"));
            at += bytes;
        }
    }
    return writer_flush(&writer);
}

static bool assemble(const AsmArguments *arguments, Arena *keep, Arena scratch, Error *err)
{
    Str source;
    if (!file_read(arguments->source, SOURCE_BYTES_MAX, keep, &source, err)) {
        return false;
    }
    Str path = str_of(arguments->source);
    isize slash = path.len;
    while (slash > 0 && path.at[slash - 1] != '/') {
        slash--;
    }
    IncludeContext include = {str_slice(path, 0, slash), keep};
    AsmIncludes includes = {&include, find_include};
    AsmDefine define[DEFINES_MAX];
    for (int i = 0; i < arguments->define_count; i++) {
        define[i] = arguments->define[i];
    }
    AsmOptions options = {.defines = {define, arguments->define_count}, .includes = &includes};
    IsaFlags flags;
    if (arguments->isa_flags) {
        if (!cli_isa_flags(arguments->isa_flags, keep, scratch, &flags, err)) {
            return false;
        }
        options.flags = &flags;
    }
    Object object;
    Resolved resolved;
    if (!asm_assemble(path, source, &options, keep, scratch, &object, err) ||
        !object_resolve(&object, 1, (uint32_t)arguments->base, keep, scratch, &resolved, err)) {
        return false;
    }
    if (arguments->is_listing) {
        return print_listing(&object, &resolved, source, scratch) ||
               error_set(err, ERROR_INPUT, "standard output", "cannot write the listing");
    }
    Str stem = str_ends(path, S(".s")) ? str_slice(path, 0, path.len - 2) : path;
    const char *output =
        arguments->output ? arguments->output : str_format(keep, "%.*s.bin", STR_ARG(stem)).at;
    return file_write(output, (Str){(const char *)resolved.at, resolved.len}, err);
}

int cmd_asm(int argc, char **argv)
{
    AsmArguments arguments = {.base = SRAM_IMAGE_BASE};
    int done;
    if (!cli_parse(
            argc, argv, "[OPTIONS] K.s",
            "Assembles IPU21 code to raw little-endian bytes (without -o beside the source). A "
            "source begins with\n.worker or .supervisor; kernels/*.s are examples.",
            asm_flags, sizeof asm_flags / sizeof *asm_flags, take, &arguments, &done)) {
        return done;
    }
    Error err = {0};
    if (!arguments.source) {
        error_set(&err, ERROR_INPUT, NULL, "asm: expected a source file (see tessera asm --help)");
        return cli_fail(&err);
    }
    Arena keep = arena_create(INT64_C(1) << 28), scratch = arena_create(INT64_C(1) << 29);
    bool is_good = assemble(&arguments, &keep, scratch, &err);
    arena_destroy(&keep);
    arena_destroy(&scratch);
    return is_good ? 0 : cli_fail(&err);
}
