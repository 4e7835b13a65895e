/* `tessera disasm`: raw bytes, an object or a program to text (product.md 4). */
#include "asm/asm.h"
#include "base/file.h"
#include "chip/chip.h"
#include "cli/cli.h"
#include "elf/elf.h"
#include <unistd.h>

typedef struct DisasmArguments {
    const char *file, *isa_flags;
    int64_t base;
    InsnContext context;
    bool is_plain;
} DisasmArguments;

enum { FLAG_BASE, FLAG_SUPERVISOR, FLAG_WORKER, FLAG_PLAIN, FLAG_ISA_FLAGS };
static const Flag disasm_flags[] = {
    {"--base", "ADDR", "address of the first of raw bytes (default 0x4c010)"},
    {"--supervisor", NULL, "the code is the supervisor's"},
    {"--worker", NULL, "the code is a worker's (default)"},
    {"--plain", NULL, "print text that assembles to the same bytes"},
    {"--isa-flags", "F", "values of TAMP_, TSLIC_ ... symbols, as for asm"},
};

static bool take(void *context, int flag, const char *value, Error *err)
{
    DisasmArguments *arguments = context;
    switch (flag) {
    case FLAG_BASE:
        return cli_int("--base", value, 0, UINT32_MAX, &arguments->base, err);
    case FLAG_SUPERVISOR:
        arguments->context = CONTEXT_SUPERVISOR;
        return true;
    case FLAG_WORKER:
        arguments->context = CONTEXT_WORKER;
        return true;
    case FLAG_PLAIN:
        arguments->is_plain = true;
        return true;
    case FLAG_ISA_FLAGS:
        arguments->isa_flags = value;
        return true;
    default:
        break;
    }
    if (arguments->file) {
        return error_set(err, ERROR_INPUT, NULL, "expected one file, found also %s", value);
    }
    arguments->file = value;
    return true;
}

int cmd_disasm(int argc, char **argv)
{
    DisasmArguments arguments = {.base = SRAM_IMAGE_BASE, .context = CONTEXT_WORKER};
    int done;
    if (!cli_parse(
            argc, argv, "[OPTIONS] FILE",
            "Prints IPU21 code: raw bytes, or an ELF object or program with its symbols. What "
            "is no instruction\nof the mode is printed as .long.",
            disasm_flags, sizeof disasm_flags / sizeof *disasm_flags, take, &arguments, &done)) {
        return done;
    }
    Error err = {0};
    if (!arguments.file) {
        error_set(&err, ERROR_INPUT, NULL, "disasm: expected a file (see tessera disasm --help)");
        return cli_fail(&err);
    }
    if (arguments.base % 4 != 0) {
        error_set(&err, ERROR_INPUT, NULL, "option --base: expected a multiple of 4");
        return cli_fail(&err);
    }
    Arena arena = arena_create(INT64_C(1) << 30);
    Arena scratch = arena_split(&arena, INT64_C(1) << 29);
    Str bytes;
    IsaFlags isa_flags;
    const IsaFlags *flags = arguments.isa_flags ? &isa_flags : NULL;
    bool is_good =
        file_read(arguments.file, ELF_FILE_BYTES_MAX, &arena, &bytes, &err) &&
        (!flags || cli_isa_flags(arguments.isa_flags, &arena, scratch, &isa_flags, &err));
    if (is_good) {
        ElfFile file;
        Writer writer = writer_file(STDOUT_FILENO, &arena);
        if (!elf_is(bytes)) {
            asm_disassemble(&writer, (const uint8_t *)bytes.at, bytes.len, (uint32_t)arguments.base,
                            arguments.context, arguments.is_plain, flags);
        } else if (elf_read(str_of(arguments.file), bytes, &arena, scratch, &file, &err)) {
            object_print(&writer, &file.object, file.is_program ? file.section_address : NULL,
                         arguments.context, arguments.is_plain, flags, scratch);
        }
        is_good = err.code == ERROR_NONE && cli_flush(&writer, &err);
    }
    arena_destroy(&arena);
    return is_good ? 0 : cli_fail(&err);
}
