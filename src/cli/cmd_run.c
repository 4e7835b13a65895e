/* tessera run: pictures through a package on the simulated chip. */
#include "cli/cli.h"
#include "cli/pictures.h"
#include "machine/machine.h"
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

enum { SHOWN_VALUES = 6 };

static const int64_t OUTPUT_BYTES_MAX = (int64_t)1 << 33;

typedef struct RunFlags {
    const char *package, *weights, *output;
    const char *image[IMAGES_MAX];
    int image_count;
    int64_t threads, calls;
    double clock_hz;
    int64_t max_cycles;
    uint32_t checks;
    bool is_unknown_assumed;
    bool is_json, is_quiet;
} RunFlags;

enum {
    FLAG_WEIGHTS,
    FLAG_OUTPUT,
    FLAG_INPUT,
    FLAG_CALLS,
    FLAG_CLOCK,
    FLAG_MAX_CYCLES,
    FLAG_CHECK,
    FLAG_UNKNOWN,
    FLAG_THREADS,
    FLAG_JSON,
    FLAG_QUIET,
    FLAG_TRACE
};

static const Flag flags[] = {
    [FLAG_WEIGHTS] = {"--weights", "MODEL",
                      "checkpoint directory that fills the package's parameters"},
    [FLAG_OUTPUT] = {"-o", "E.npy",
                     "write all outputs: [calls * pictures, columns] (or [.., rows, columns])"},
    [FLAG_INPUT] =
        {"--input", "X.npy",
         "the same as naming X.npy: resized and normalised values, float32 [height, width, 3]"},
    [FLAG_CALLS] = {"--calls", "N", "run the list of pictures N times (default 1)"},
    [FLAG_CLOCK] = {"--clock-hz", "F", "clock for times beside cycles (default 1.5e9)"},
    [FLAG_MAX_CYCLES] = {"--max-cycles", "N",
                         "give up a call after N simulated cycles (default 1e8)"},
    [FLAG_CHECK] = {"--check", "LIST", checks_help},
    [FLAG_UNKNOWN] = {"--unknown", "MODE", CLI_UNKNOWN_HELP},
    [FLAG_THREADS] = {"-j", "N", "threads (default: all cores)"},
    [FLAG_JSON] = {"--json", NULL, "one JSON object a call"},
    [FLAG_QUIET] = {"-q", NULL, "no progress"},
    [FLAG_TRACE] = {"--trace", "F", "not in this version"},
};

static bool take(void *context, int flag, const char *value, Error *err)
{
    RunFlags *f = context;
    switch (flag) {
    case -1:
        if (f->package == NULL) {
            f->package = value;
            return true;
        } /* fall through */
    case FLAG_INPUT:
        if (f->image_count == IMAGES_MAX)
            return error_set(err, ERROR_INPUT, NULL, "at most %d pictures", IMAGES_MAX);
        f->image[f->image_count++] = value;
        return true;
    case FLAG_WEIGHTS:
        f->weights = value;
        return true;
    case FLAG_OUTPUT:
        f->output = value;
        return true;
    case FLAG_CALLS:
        return cli_int("--calls", value, 1, 1000000, &f->calls, err);
    case FLAG_CLOCK:
        return cli_f64("--clock-hz", value, 1e6, 1e11, &f->clock_hz, err);
    case FLAG_MAX_CYCLES:
        return cli_int("--max-cycles", value, 1, MAX_CYCLES, &f->max_cycles, err);
    case FLAG_CHECK:
        return cli_checks("--check", value, &f->checks, err);
    case FLAG_UNKNOWN:
        return cli_unknown("--unknown", value, &f->is_unknown_assumed, err);
    case FLAG_THREADS:
        return cli_int("-j", value, 1, 256, &f->threads, err);
    case FLAG_JSON:
        f->is_json = true;
        return true;
    case FLAG_QUIET:
        f->is_quiet = true;
        return true;
    default:
        return error_set(err, ERROR_INPUT, NULL, "option %s is not supported in this version",
                         flags[flag].name);
    }
}

static void print_call(Writer *out, const RunFlags *f, const Setup *setup, const char *image,
                       const float *values, const RunResult *result)
{
    Arena scratch = setup->scratch;
    int64_t top = largest(values, setup->output_elems);
    bool has_label = setup->model.config.classes > 0 && setup->model.config.labels != NULL &&
                     top < setup->model.config.classes;
    if (f->is_json) {
        write_fmt(out, "{\"image\":");
        write_json_str(out, str_of(image));
        write_fmt(out,
                  ",\"simulated_cycles\":%" PRId64 ",\"phases\":%" PRId64 ",\"host_seconds\":%.4f",
                  result->simulated_cycles, result->phases, result->host_seconds);
        if (has_label) {
            write_fmt(out, ",\"class\":%" PRId64 ",\"label\":", top);
            write_json_str(out, setup->model.config.labels[top]);
        }
        write_fmt(out, ",\"output\":[");
        for (int64_t i = 0; i < setup->output_elems; i++)
            write_fmt(out, "%s%.9g", i ? "," : "", (double)values[i]);
        write_fmt(out, "]}\n");
        return;
    }
    write_fmt(out, "%s\n  ", image);
    print_cycles(out, result, f->clock_hz);
    write_fmt(out, "\n  host time of the simulation %.2f s\n", result->host_seconds);
    if (has_label) {
        write_fmt(out, "  class %" PRId64 " (%.*s), logit %.4f\n", top,
                  STR_ARG(str_shown(setup->model.config.labels[top], &scratch)),
                  (double)values[top]);
        return;
    }
    write_fmt(out, "  output [%d, %d]:", setup->output->rows, setup->output->cols);
    for (int64_t i = 0; i < min_i64(SHOWN_VALUES, setup->output_elems); i++)
        write_fmt(out, " %.5f", (double)values[i]);
    write_fmt(out, "%s\n", setup->output_elems > SHOWN_VALUES ? " ..." : "");
}

static bool write_outputs(const RunFlags *f, const Setup *setup, int64_t calls, const float *all,
                          Error *err)
{
    Shape shape = {setup->output->rows == 1 ? 2 : 3,
                   {calls, setup->output->rows, setup->output->cols}};
    if (shape.rank == 2)
        shape.dim[1] = setup->output->cols;
    return npy_write(f->output, all, &shape, setup->scratch, err);
}

static bool run_pictures(const RunFlags *f, Setup *setup, Error *err)
{
    Writer out = writer_file(STDOUT_FILENO, &setup->keep);
    /* Only a file needs the outputs of all calls. */
    int64_t calls = f->output != NULL ? f->calls * f->image_count : 1, elems = setup->output_elems;
    int64_t kept = calls * elems * (int64_t)sizeof(float);
    if (calls > OUTPUT_BYTES_MAX / (elems * (int64_t)sizeof(float)))
        return error_set(err, ERROR_INPUT, f->output,
                         "%" PRId64 " outputs of %" PRId64 " values are more than %" PRId64
                         " GiB; use fewer --calls",
                         calls, elems, OUTPUT_BYTES_MAX >> 30);
    float *all = arena_alloc(&setup->keep, kept, 64);
    if (!setup_check_images(setup, f->image, f->image_count, err))
        return false;
    for (int64_t c = 0; c < f->calls * f->image_count; c++) {
        Arena before = setup->keep; /* a picture lives for its call */
        const char *path = f->image[c % f->image_count];
        float *image, *output = all + (f->output != NULL ? c * elems : 0);
        RunResult result;
        if (!setup_image(setup, path, &image, err) ||
            !setup_run(setup, image, output, &result, err))
            return false;
        print_call(&out, f, setup, path, output, &result);
        if (!cli_flush(&out, err))
            return false;
        setup->keep = before;
    }
    return f->output == NULL || write_outputs(f, setup, calls, all, err);
}

int cmd_run(int argc, char **argv)
{
    RunFlags f = {.calls = 1, .clock_hz = 1.5e9};
    int done;
    if (!cli_parse(argc, argv, "P.ipuexe --weights MODEL IMAGE... [OPTIONS]",
                   "Uploads the weights once and runs every picture (JPEG, PNG, .npy, or #N for "
                   "generated test picture N).",
                   flags, sizeof flags / sizeof *flags, take, &f, &done))
        return done;
    Error err = {0};
    if (f.package == NULL || f.weights == NULL || f.image_count == 0)
        error_set(&err, ERROR_INPUT, NULL, "%s is missing (see tessera run --help)",
                  f.package == NULL   ? "P.ipuexe"
                  : f.weights == NULL ? "--weights MODEL"
                                      : "a picture");
    const char *const inputs[] = {f.package, f.weights};
    if (err.code == ERROR_NONE && f.output != NULL && cli_output(f.output, inputs, 2, &err))
        cli_output(f.output, f.image, f.image_count, &err);
    if (err.code != ERROR_NONE)
        return cli_fail(&err);
    Setup setup;
    SetupOptions options = {.package = f.package,
                            .weights = f.weights,
                            .threads = (int)f.threads,
                            .cycles_max = f.max_cycles,
                            .checks = f.checks,
                            .is_unknown_assumed = f.is_unknown_assumed,
                            .is_quiet = f.is_quiet};
    bool ok = setup_open(&setup, &options, &err) && run_pictures(&f, &setup, &err);
    setup_close(&setup);
    return ok ? 0 : cli_fail(&err);
}
