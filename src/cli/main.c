/* Entry point: picks the subcommand. Exit codes: 0 done, 1 no, 2 bad input, 3 simulated fault, 70 our bug (product.md 4). */
#include "cli/cli.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct Command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *about;
} Command;

static const Command commands[] = {
    {"fixture", cmd_fixture, "write a randomised checkpoint in Hugging Face form"},
    {"info", cmd_info, "what a checkpoint holds, which architecture, what is missing or unknown"},
    {"compile", cmd_compile, "checkpoint -> application package (.ipuexe)"},
    {"run", cmd_run, "run pictures on the simulated chip"},
    {"verify", cmd_verify, "resident calls against the FP32 oracle"},
    {"inspect", cmd_inspect, "look inside a package"},
    {"asm", cmd_asm, "assemble IPU21 code"},
    {"disasm", cmd_disasm, "disassemble IPU21 code"},
    {"tile", cmd_tile, "run one kernel on one tile: memory images, trace, where the cycles went"},
    {"bench", cmd_bench, "the project's own measurements, side by side with their bounds"},
};
enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

/* Commands of the product that this version does not have. */
static const char *const later[] = {"replay", "embed", "search", "sweep", "report"};
enum { LATER_COUNT = sizeof later / sizeof *later };

static void print_help(FILE *out)
{
    fprintf(out, "tessera: SDK-free compiler and machine model for the Graphcore IPU21\n\nusage: "
                 "tessera COMMAND [OPTIONS]\n\n");
    for (int i = 0; i < COMMAND_COUNT; i++)
        fprintf(out, "  %-9s %s\n", commands[i].name, commands[i].about);
    fprintf(out, "\n`tessera COMMAND --help` describes a command. Not there yet:");
    for (int i = 0; i < LATER_COUNT; i++)
        fprintf(out, "%s %s", i == 0 ? "" : ",", later[i]);
    fprintf(out, ".\n");
}

/* A closed descriptor 0, 1 or 2 would be given to the next file that is opened, and output would go into that file. */
static void hold_standard_descriptors(void)
{
    int fd = open("/dev/null", O_RDONLY);
    while (fd >= 0 && fd < 3)
        fd = dup(fd);
    if (fd >= 3)
        close(fd);
}

static int run_command(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return ERROR_INPUT;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        print_help(stdout);
        return 0;
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts(TESSERA_VERSION);
        return 0;
    }
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].run(argc - 1, argv + 1);
    Error err = {0};
    for (int i = 0; i < LATER_COUNT; i++)
        if (strcmp(argv[1], later[i]) == 0)
            error_set(&err, ERROR_INPUT, NULL, "command %s is not in this version", argv[1]);
    error_set(&err, ERROR_INPUT, NULL, "unknown command %s (see tessera --help)", argv[1]);
    return cli_fail(&err);
}

int main(int argc, char **argv)
{
    hold_standard_descriptors();
    int code = run_command(argc, argv);
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    Error err = {0};
    error_set(&err, ERROR_INPUT, "standard output", "cannot be written");
    return code == 0 ? cli_fail(&err) : code;
}
