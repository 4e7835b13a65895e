/* cli: one cmd_*.c per subcommand. Parses flags, calls one thing, prints.
 * uses: any
 * never: logic worth testing
 *
 * Results on stdout, progress and errors on stderr, exit codes of product.md 4.
 */
#pragma once
#include "asm/asm.h"
#include "base/base.h"
#include "isa/flags.h"

int cmd_fixture(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_compile(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_verify(int argc, char **argv);
int cmd_inspect(int argc, char **argv);
int cmd_asm(int argc, char **argv);
int cmd_disasm(int argc, char **argv);
int cmd_tile(int argc, char **argv);
int cmd_bench(int argc, char **argv);

/* One subcommand flag. */
typedef struct Flag {
    const char *name;  /* "--tiles" or "-o" */
    const char *value; /* placeholder of its value, NULL for a switch */
    const char *help;
} Flag;

/* Prints `tessera: where: message` on stderr; returns the exit code. */
int cli_fail(const Error *err);
/* Walks argv[1..): calls take(context, flag index, value) for flags and take(context, -1, argument) for plain arguments.
 * --help prints usage + flags and *done with 0; an unknown flag or a missing value is one line and *done with 2. Returns false when
 * the caller must return *done. take returns false after filling err. */
typedef bool (*FlagTaker)(void *context, int flag, const char *value, Error *err);
bool cli_parse(int argc, char **argv, const char *usage, const char *about, const Flag *flags,
               int flag_count, FlagTaker take, void *context, int *done);
/* Pushes results to standard output; ERROR_INPUT when they cannot be written. */
bool cli_flush(Writer *out, Error *err);
/* Integer in [low, high] or an ERROR_INPUT that names the flag. */
bool cli_int(const char *flag, const char *text, int64_t low, int64_t high, int64_t *out,
             Error *err);
bool cli_f64(const char *flag, const char *text, double low, double high, double *out, Error *err);
/* `fault` or `assume`: what the machine does at undocumented points. */
bool cli_unknown(const char *flag, const char *text, bool *is_assumed, Error *err);
#define CLI_UNKNOWN_HELP                                                                           \
    "fault (default) or assume: at what nobody documented, stop or go on (docs/machine.md)"
/* One line on standard error that names the assumptions a run needed; nothing for an empty list. */
void cli_report_assumed(Str names);
/* `NAME=INTEGER` or `NAME` (1) of option -D. */
bool cli_define(const char *text, AsmDefine *out, Error *err);
/* A list of the machine's checks (checks_parse), or an ERROR_INPUT that names the flag. */
bool cli_checks(const char *flag, const char *text, uint32_t *checks, Error *err);
/* Before long work: `output` can be written and is not `input`, nor a file of the checkpoint directory `input`. */
bool cli_output(const char *output, const char *const *inputs, int input_count, Error *err);
/* Reads a file of `--isa-flags`; says on stderr when it holds names like ours that are unknown. */
bool cli_isa_flags(const char *path, Arena *keep, Arena scratch, IsaFlags *out, Error *err);
/* Largest resident memory of this process so far. */
int64_t cli_peak_bytes(void);
