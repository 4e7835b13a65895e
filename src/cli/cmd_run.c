/* tessera run: pictures through a package on the simulated chip. */
#include "cli/cli.h"
#include "cli/pictures.h"
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

enum { IMAGES_MAX = 4096, SHOWN_VALUES = 6 };

typedef struct RunFlags {
    const char *package, *weights, *output;
    const char *image[IMAGES_MAX];
    int image_count;
    int64_t threads, calls;
    double clock_hz;
    bool is_json, is_quiet;
} RunFlags;

enum {
    FLAG_WEIGHTS,
    FLAG_OUTPUT,
    FLAG_INPUT,
    FLAG_CALLS,
    FLAG_CLOCK,
    FLAG_THREADS,
    FLAG_JSON,
    FLAG_QUIET,
    FLAG_TRACE
};

static const Flag flags[] = {
    [FLAG_WEIGHTS] = {"--weights", "MODEL",
                      "checkpoint directory that fills the package's parameters"},
    [FLAG_OUTPUT] = {"-o", "E.npy",
                     "write all outputs, [images, columns] (or [images, rows, columns])"},
    [FLAG_INPUT] = {"--input", "X.npy", "a prepared picture, float32 [height, width, 3]"},
    [FLAG_CALLS] = {"--calls", "N", "run the list of pictures N times (default 1)"},
    [FLAG_CLOCK] = {"--clock-hz", "F", "clock for times beside cycles (default 1.5e9)"},
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
        if (str_to_f64(str_of(value), &f->clock_hz) && f->clock_hz >= 1e6 && f->clock_hz <= 1e11)
            return true;
        return error_set(err, ERROR_INPUT, NULL, "option --clock-hz: expected 1e6..1e11, found %s",
                         value);
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
                  STR_ARG(setup->model.config.labels[top]), (double)values[top]);
        return;
    }
    write_fmt(out, "  output [%d, %d]:", setup->output->rows, setup->output->cols);
    for (int64_t i = 0; i < min_i64(SHOWN_VALUES, setup->output_elems); i++)
        write_fmt(out, " %.5f", (double)values[i]);
    write_fmt(out, "%s\n", setup->output_elems > SHOWN_VALUES ? " ..." : "");
}

static bool run_pictures(const RunFlags *f, Error *err)
{
    Setup setup;
    bool ok = setup_open(&setup, f->package, f->weights, (int)f->threads, f->is_quiet, err);
    if (ok) {
        Writer out = writer_file(STDOUT_FILENO, &setup.keep);
        int64_t calls = f->calls * f->image_count;
        float *all = arena_array(&setup.keep, float, calls *setup.output_elems);
        for (int i = 0; ok && i < f->image_count; i++) {
            float *image;
            ok = setup_image(&setup, f->image[i], &image, err);
            for (int64_t c = 0; ok && c < f->calls; c++) {
                float *output = all + (c * f->image_count + i) * setup.output_elems;
                RunResult result;
                ok = setup_run(&setup, image, output, &result, err);
                if (ok)
                    print_call(&out, f, &setup, f->image[i], output, &result);
                ok = ok && cli_flush(&out, err);
            }
        }
        if (ok && f->output != NULL) {
            Shape shape = {setup.output->rows == 1 ? 2 : 3,
                           {calls, setup.output->rows, setup.output->cols}};
            if (shape.rank == 2)
                shape.dim[1] = setup.output->cols;
            ok = npy_write(f->output, all, &shape, setup.scratch, err);
        }
    }
    setup_close(&setup);
    return ok;
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
        error_set(&err, ERROR_INPUT, NULL,
                  "run needs P.ipuexe, --weights MODEL and at least one picture (see tessera run "
                  "--help)");
    if (err.code != ERROR_NONE || !run_pictures(&f, &err))
        return cli_fail(&err);
    return 0;
}
