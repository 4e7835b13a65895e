/* Flag parsing shared by the subcommands: `--name VALUE`, `--name=VALUE`, switches, plain arguments. */
#include "cli/cli.h"
#include "machine/machine.h"
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

int cli_fail(const Error *err)
{
    fflush(stdout);
    if (err->where[0] != 0)
        fprintf(stderr, "tessera: %s: %s\n", err->where, err->message);
    else
        fprintf(stderr, "tessera: %s\n", err->message);
    return err->code == ERROR_NONE ? EXIT_BUG : (int)err->code;
}

static void print_flag(const Flag *flag)
{
    char left[64];
    (void)snprintf(left, sizeof left, "%s%s%s", flag->name, flag->value ? " " : "",
                   flag->value ? flag->value : "");
    printf("  %-26s %s\n", left, flag->help);
}

static void print_usage(const char *command, const char *usage, const char *about,
                        const Flag *flags, int flag_count)
{
    printf("usage: tessera %s %s\n\n%s\n", command, usage, about);
    if (flag_count > 0)
        printf("\n");
    for (int i = 0; i < flag_count; i++)
        print_flag(&flags[i]);
}

bool cli_parse(int argc, char **argv, const char *usage, const char *about, const Flag *flags,
               int flag_count, FlagTaker take, void *context, int *done)
{
    Error err = {0};
    for (int i = 1; i < argc; i++) {
        const char *text = argv[i];
        if (strcmp(text, "--help") == 0 || strcmp(text, "-h") == 0) {
            print_usage(argv[0], usage, about, flags, flag_count);
            *done = 0;
            return false;
        }
        int flag = -1;
        const char *value = text;
        if (text[0] == '-' && text[1] != 0) {
            const char *equals = text[1] == '-' ? strchr(text, '=') : NULL;
            size_t len = equals ? (size_t)(equals - text) : strlen(text);
            for (int f = 0; f < flag_count; f++)
                if (strlen(flags[f].name) == len && strncmp(flags[f].name, text, len) == 0)
                    flag = f;
            bool is_joined = false;
            for (int f = 0; f < flag_count && flag < 0; f++) /* -j2 */
                if (text[1] != '-' && len > 2 && flags[f].value != NULL &&
                    strlen(flags[f].name) == 2 && flags[f].name[1] == text[1]) {
                    flag = f;
                    value = text + 2;
                    is_joined = true;
                }
            if (flag < 0) {
                error_set(&err, ERROR_INPUT, NULL, "unknown option %.*s (see tessera %s --help)",
                          (int)len, text, argv[0]);
                break;
            }
            if (!is_joined)
                value = equals ? equals + 1 : NULL;
            if (flags[flag].value == NULL && equals) {
                error_set(&err, ERROR_INPUT, NULL, "option %s takes no value", flags[flag].name);
                break;
            }
            if (flags[flag].value != NULL && value == NULL) {
                if (i + 1 >= argc) {
                    error_set(&err, ERROR_INPUT, NULL, "option %s needs a value: %s",
                              flags[flag].name, flags[flag].value);
                    break;
                }
                value = argv[++i];
            }
        }
        if (!take(context, flag, value, &err))
            break;
    }
    if (err.code != ERROR_NONE) {
        *done = cli_fail(&err);
        return false;
    }
    return true;
}

bool cli_flush(Writer *out, Error *err)
{
    return writer_flush(out) || error_set(err, ERROR_INPUT, "standard output", "cannot be written");
}

bool cli_int(const char *flag, const char *text, int64_t low, int64_t high, int64_t *out,
             Error *err)
{
    if (str_to_int(str_of(text), out) && *out >= low && *out <= high)
        return true;
    return error_set(err, ERROR_INPUT, NULL,
                     "option %s: expected an integer from %lld to %lld, found %s", flag,
                     (long long)low, (long long)high, text);
}

bool cli_f64(const char *flag, const char *text, double low, double high, double *out, Error *err)
{
    if (str_to_f64(str_of(text), out) && *out >= low && *out <= high)
        return true;
    return error_set(err, ERROR_INPUT, NULL, "option %s: expected %g..%g, found %s", flag, low,
                     high, text);
}

bool cli_checks(const char *flag, const char *text, uint32_t *checks, Error *err)
{
    return checks_parse(str_of(text), checks, err) || error_context(err, "option %s", flag);
}

bool cli_define(const char *text, AsmDefine *out, Error *err)
{
    Str rest = str_of(text);
    bool has_value = str_find(rest, '=', 0) >= 0;
    *out = (AsmDefine){.name = str_cut(&rest, '='), .value = 1};
    return (out->name.len > 0 && (!has_value || str_to_int(rest, &out->value))) ||
           error_set(err, ERROR_INPUT, NULL, "option -D: expected NAME=INTEGER, found %s", text);
}

bool cli_unknown(const char *flag, const char *text, bool *is_assumed, Error *err)
{
    *is_assumed = str_equal(str_of(text), S("assume"));
    return *is_assumed || str_equal(str_of(text), S("fault")) ||
           error_set(err, ERROR_INPUT, NULL, "option %s: expected fault or assume, found %s", flag,
                     text);
}

void cli_report_assumed(Str names)
{
    if (names.len > 0) {
        fprintf(stderr, "undocumented, assumed as docs/machine.md says: %.*s\n", STR_ARG(names));
    }
}

bool cli_output(const char *output, const char *const *inputs, int input_count, Error *err)
{
    static const char *const parts[] = {"", "/config.json", "/model.safetensors",
                                        "/preprocessor_config.json"};
    for (int i = 0; i < input_count; i++)
        for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
            char path[4096];
            int len = snprintf(path, sizeof path, "%s%s", inputs[i], parts[p]);
            if (len < (int)sizeof path && file_is_same(output, path))
                return error_set(err, ERROR_INPUT, output,
                                 "is an input of this command; choose another output");
        }
    if (file_was_read(output))
        return error_set(err, ERROR_INPUT, output,
                         "is an input of this command; choose another output");
    return file_probe(output, err);
}

bool cli_isa_flags(const char *path, Arena *keep, Arena scratch, IsaFlags *out, Error *err)
{
    enum { ISA_FLAGS_BYTES_MAX = 4 << 20 };
    Str text, name;
    int ignored;
    if (!file_read(path, ISA_FLAGS_BYTES_MAX, &scratch, &text, err) ||
        !isa_flags_parse(str_of(path), text, keep, scratch, out, &ignored, &name, err))
        return false;
    if (ignored > 0)
        fprintf(stderr, "%s: %d unknown symbol%s ignored, first %.*s\n", path, ignored,
                ignored == 1 ? "" : "s", STR_ARG(str_shown(name, &scratch)));
    return true;
}

int64_t cli_peak_bytes(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (int64_t)usage.ru_maxrss * 1024 : 0;
}
