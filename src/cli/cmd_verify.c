/* tessera verify: resident calls against the FP32 oracle; per picture cosine and maximum absolute error, a batch's figure is
 * its worst picture (pitfall N24); the first picture again at the end must give the same bits (product.md 4, 6). */
#include "cli/cli.h"
#include "cli/pictures.h"
#include "machine/machine.h"
#include "oracle/oracle.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const double PROGRESS_SECONDS = 5;

typedef struct VerifyFlags {
    const char *package, *weights, *labels;
    const char *image[IMAGES_MAX];
    int image_count;
    int64_t threads, show, min_agreement;
    double min_cosine, clock_hz;
    int64_t max_cycles;
    uint32_t checks;
    bool is_unknown_assumed;
    bool is_json, is_quiet;
} VerifyFlags;

enum {
    FLAG_WEIGHTS,
    FLAG_COSINE,
    FLAG_LABELS,
    FLAG_AGREEMENT,
    FLAG_SHOW,
    FLAG_CLOCK,
    FLAG_MAX_CYCLES,
    FLAG_CHECK,
    FLAG_UNKNOWN,
    FLAG_THREADS,
    FLAG_JSON,
    FLAG_QUIET
};

static const Flag flags[] = {
    [FLAG_WEIGHTS] = {"--weights", "MODEL",
                      "checkpoint directory that fills the package's parameters"},
    [FLAG_COSINE] = {"--min-cosine", "C", "exit 1 when a picture's cosine is below (default 0.99)"},
    [FLAG_LABELS] = {"--labels", "F",
                     "lines `PICTURE CLASS`: files beside F, the class as a number from 0"},
    [FLAG_AGREEMENT] = {"--min-agreement", "N",
                        "exit 1 when fewer pictures get the same class as in FP32 (default 0)"},
    [FLAG_SHOW] = {"--show", "N", "pictures to list (default 10; the summary covers all)"},
    [FLAG_CLOCK] = {"--clock-hz", "F", "clock for times beside cycles (default 1.5e9)"},
    [FLAG_MAX_CYCLES] = {"--max-cycles", "N",
                         "give up a call after N simulated cycles (default 1e8)"},
    [FLAG_CHECK] = {"--check", "LIST", checks_help},
    [FLAG_UNKNOWN] = {"--unknown", "MODE", CLI_UNKNOWN_HELP},
    [FLAG_THREADS] = {"-j", "N", "threads (default: all cores)"},
    [FLAG_JSON] = {"--json", NULL, "summary as JSON"},
    [FLAG_QUIET] = {"-q", NULL, "no progress"},
};

static bool take(void *context, int flag, const char *value, Error *err)
{
    VerifyFlags *f = context;
    switch (flag) {
    case FLAG_WEIGHTS:
        f->weights = value;
        return true;
    case FLAG_COSINE:
        return cli_f64("--min-cosine", value, -1, 1, &f->min_cosine, err);
    case FLAG_LABELS:
        f->labels = value;
        return true;
    case FLAG_AGREEMENT:
        return cli_int("--min-agreement", value, 0, IMAGES_MAX, &f->min_agreement, err);
    case FLAG_SHOW:
        return cli_int("--show", value, 0, IMAGES_MAX, &f->show, err);
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
        if (f->package == NULL) {
            f->package = value;
            return true;
        }
        if (f->image_count == IMAGES_MAX)
            return error_set(err, ERROR_INPUT, NULL, "at most %d pictures", IMAGES_MAX);
        f->image[f->image_count++] = value;
        return true;
    }
}

/* Pictures and their true classes (-1 unknown). */
typedef struct Pictures {
    const char *path[IMAGES_MAX];
    int64_t label[IMAGES_MAX];
    int count;
} Pictures;

static bool read_labels(const VerifyFlags *f, Setup *setup, Pictures *pictures, Error *err)
{
    Str text;
    if (!file_read(f->labels, 1 << 20, &setup->keep, &text, err))
        return false;
    Str path = str_of(f->labels), directory = S("");
    for (isize i = 0; i < path.len; i++)
        if (path.at[i] == '/')
            directory = str_slice(path, 0, i + 1);
    for (int line = 1; text.len > 0; line++) {
        Str rest = str_trim(str_cut(&text, '\n'));
        if (rest.len == 0)
            continue;
        Str name = str_cut(&rest, ' ');
        int64_t label;
        if (!str_to_int(str_trim(rest), &label) || label < 0 || label >= setup->output_elems)
            return error_set(
                err, ERROR_INPUT, f->labels,
                "line %d: expected `PICTURE CLASS`, the class a number from 0 to %" PRId64, line,
                setup->output_elems - 1);
        if (pictures->count == IMAGES_MAX)
            return error_set(err, ERROR_INPUT, f->labels, "at most %d pictures", IMAGES_MAX);
        pictures->path[pictures->count] =
            str_format(&setup->keep, "%.*s%.*s", STR_ARG(directory), STR_ARG(name)).at;
        pictures->label[pictures->count++] = label;
    }
    return true;
}

static bool oracle_output(Setup *setup, const float *image, int threads, float *output, Error *err)
{
    const Graph *graph = &setup->model.graph;
    const ImageSettings *settings = &setup->model.image;
    OracleInput input = {S("image"), image, (int64_t)settings->height * settings->width * 3};
    OracleOptions options = {.threads = threads};
    OracleRun run;
    Arena scratch = setup->scratch, keep = arena_split(&scratch, (scratch.end - scratch.at) / 2);
    bool ok =
        oracle_run(graph, &setup->model.source, &input, 1, &options, &keep, scratch, &run, err);
    for (isize v = 1; ok && v < graph->values.len; v++) {
        const Value *value = &graph->values.at[v];
        if (!value->is_output)
            continue;
        memcpy(output, run.value[v], (size_t)setup->output_elems * sizeof *output);
        break;
    }
    return ok;
}

typedef struct Tally {
    double worst_cosine, worst_error, host_seconds;
    int64_t cycles_min, cycles_max, correct, correct_oracle, agree, labelled;
    RunResult last;
    Cycles first_cycles, cycles_low,
        cycles_high; /* the first picture at both ends of the phase constant */
} Tally;

static Str label_of(const Setup *setup, int64_t class, Arena *scratch)
{
    bool known =
        setup->model.config.labels != NULL && class >= 0 && class < setup->model.config.classes;
    return known ? str_shown(setup->model.config.labels[class], scratch) : S("?");
}

static void print_picture(Writer *out, const Setup *setup, const Pictures *pictures, int i,
                          const float *values, const float *expected, Difference d)
{
    Str path = str_of(pictures->path[i]);
    for (isize c = path.len; c-- > 0;)
        if (path.at[c] == '/') {
            path = str_slice(path, c + 1, path.len);
            break;
        }
    write_fmt(out, "  %-13.*s cosine %.6f  error %.5f", STR_ARG(path), d.cosine, d.max_abs_error);
    if (setup->model.config.classes > 0) {
        Arena scratch = setup->scratch;
        Str predicted = label_of(setup, largest(values, setup->output_elems), &scratch);
        Str oracle = label_of(setup, largest(expected, setup->output_elems), &scratch);
        write_fmt(out, " machine %-11.*s FP32 %-11.*s", STR_ARG(predicted), STR_ARG(oracle));
        if (pictures->label[i] >= 0)
            write_fmt(out, " true %.*s", STR_ARG(label_of(setup, pictures->label[i], &scratch)));
    }
    write_fmt(out, "\n");
}

static void count_picture(Tally *tally, const Setup *setup, int64_t label, const float *values,
                          const float *expected, Difference d, const RunResult *result,
                          bool is_first)
{
    tally->worst_cosine =
        is_first || d.cosine < tally->worst_cosine ? d.cosine : tally->worst_cosine;
    tally->worst_error =
        is_first || d.max_abs_error > tally->worst_error ? d.max_abs_error : tally->worst_error;
    tally->cycles_min =
        is_first ? result->simulated_cycles : min_i64(tally->cycles_min, result->simulated_cycles);
    tally->cycles_max = max_i64(tally->cycles_max, result->simulated_cycles);
    tally->host_seconds += result->host_seconds;
    tally->last = *result;
    if (is_first)
        tally->first_cycles = result->simulated_cycles;
    int64_t top = largest(values, setup->output_elems),
            top_oracle = largest(expected, setup->output_elems);
    tally->agree += top == top_oracle;
    if (label < 0)
        return;
    tally->labelled++;
    tally->correct += top == label;
    tally->correct_oracle += top_oracle == label;
}

static void print_summary(Writer *out, const VerifyFlags *f, const Setup *setup, const Tally *t,
                          int count)
{
    bool is_classifier = setup->model.config.classes > 0;
    if (f->is_json) {
        write_fmt(out,
                  "{\"images\":%d,\"worst_cosine\":%.9f,\"max_abs_error\":%.9g,\"repeat_"
                  "identical\":true,\"simulated_cycles\":%" PRId64 ",\"phases\":%" PRId64
                  ",\"simulated_cycles_low\":%" PRId64 ",\"simulated_cycles_high\":%" PRId64
                  ",\"host_seconds\":%.3f,\"host_seconds_call\":%.4f,\"peak_bytes\":%" PRId64,
                  count, t->worst_cosine, t->worst_error, t->last.simulated_cycles, t->last.phases,
                  t->cycles_low, t->cycles_high, t->host_seconds, t->host_seconds / count,
                  cli_peak_bytes());
        if (is_classifier)
            write_fmt(out,
                      ",\"agreement\":%" PRId64 ",\"labelled\":%" PRId64 ",\"top1\":%" PRId64
                      ",\"top1_fp32\":%" PRId64,
                      t->agree, t->labelled, t->correct, t->correct_oracle);
        write_fmt(out, "}\n");
        return;
    }
    write_fmt(out,
              "  %d picture%s: worst cosine %.6f, largest abs error %.5f; the first one again: "
              "identical bits\n",
              count, count == 1 ? "" : "s", t->worst_cosine, t->worst_error);
    if (is_classifier && t->labelled > 0)
        write_fmt(out,
                  "  top-1: machine %" PRId64 "/%" PRId64 ", FP32 %" PRId64 "/%" PRId64
                  "; same class in %" PRId64 " of %d\n",
                  t->correct, t->labelled, t->correct_oracle, t->labelled, t->agree, count);
    write_fmt(out, "  ");
    print_cycles(out, &t->last, f->clock_hz);
    if (t->cycles_min != t->cycles_max)
        write_fmt(out, " (from %" PRId64 " to %" PRId64 ")", t->cycles_min, t->cycles_max);
    write_fmt(out,
              "\n  the first picture at both ends of the phase constant: %d: %" PRId64
              ", %d: %" PRId64 " simulated cycles",
              PHASE_COST_LOW, t->cycles_low, PHASE_COST_HIGH, t->cycles_high);
    write_fmt(out,
              "\n  bytes per tile: min %" PRId64 ", median %" PRId64 ", max %" PRId64
              " on %d tiles\n  host time %.2f s a call, peak memory %.0f MiB\n",
              setup->package.tile_bytes_min, setup->package.tile_bytes_median,
              setup->package.tile_bytes_max, setup->package.tiles_used, t->host_seconds / count,
              (double)cli_peak_bytes() / 1048576.0);
}

/* The first picture again, and at both ends of the phase constant (decisions.md A5): always the same bits. */
static bool repeat_first(const VerifyFlags *f, Setup *setup, const float *image, const float *first,
                         float *values, Tally *tally, Error *err)
{
    static const Cycles costs[] = {PHASE_COST_DEFAULT, PHASE_COST_LOW, PHASE_COST_HIGH};
    Cycles cycles[3];
    for (int i = 0; i < 3; i++) {
        RunResult again;
        session_set_phase_cycles(setup->session, costs[i]);
        if (!setup_run(setup, image, values, &again, err))
            return false;
        if (memcmp(first, values, (size_t)setup->output_elems * sizeof *first) != 0)
            return error_set(err, ERROR_NO, f->package, "the first picture again gave other bits");
        cycles[i] = again.simulated_cycles;
    }
    if (cycles[0] != tally->first_cycles)
        return error_set(err, ERROR_NO, f->package,
                         "the first picture again took %" PRId64 " simulated cycles, %" PRId64
                         " before",
                         cycles[0], tally->first_cycles);
    tally->cycles_low = cycles[1];
    tally->cycles_high = cycles[2];
    return true;
}

static bool verify(const VerifyFlags *f, Setup *setup, Writer *out, Error *err)
{
    Pictures *pictures = arena_new(&setup->keep, Pictures);
    for (int i = 0; i < f->image_count; i++) {
        pictures->path[i] = f->image[i];
        pictures->label[pictures->count++] = -1;
    }
    if (f->labels != NULL && !read_labels(f, setup, pictures, err))
        return false;
    bool is_classifier = setup->model.config.classes > 0;
    if (!is_classifier && (f->labels != NULL || f->min_agreement > 0))
        return error_set(err, ERROR_INPUT, f->weights,
                         "is no classifier, so there are no classes for %s",
                         f->labels != NULL ? "--labels" : "--min-agreement");
    if (f->labels != NULL && pictures->count == f->image_count)
        return error_set(err, ERROR_INPUT, f->labels, "names no picture");
    if (pictures->count == 0) {
        pictures->count = 2;
        pictures->path[0] = "#1";
        pictures->path[1] = "#2";
        pictures->label[0] = pictures->label[1] = -1;
    }
    if (f->min_agreement > pictures->count)
        return error_set(err, ERROR_INPUT, NULL,
                         "option --min-agreement: %" PRId64 " of %d pictures are impossible",
                         f->min_agreement, pictures->count);
    if (!setup_check_images(setup, pictures->path, pictures->count, err))
        return false;
    int64_t elems = setup->output_elems;
    double shown_at = time_seconds();
    float *first = arena_array(&setup->keep, float, elems),
          *values = arena_array(&setup->keep, float, elems);
    float *expected = arena_array(&setup->keep, float, elems), *first_image = NULL;
    Tally tally = {0};
    for (int i = 0; i < pictures->count; i++) {
        Arena before = setup->keep;
        float *image;
        RunResult result;
        if (!setup_image(setup, pictures->path[i], &image, err) ||
            !setup_run(setup, image, values, &result, err) ||
            !oracle_output(setup, image, (int)f->threads, expected, err))
            return false;
        Difference d = difference_of(values, expected, elems);
        count_picture(&tally, setup, pictures->label[i], values, expected, d, &result, i == 0);
        if (i < f->show && !f->is_json)
            print_picture(out, setup, pictures, i, values, expected, d);
        if (!cli_flush(out, err))
            return false;
        if (!f->is_quiet && i >= f->show && time_seconds() > shown_at + PROGRESS_SECONDS) {
            fprintf(stderr, "  %d of %d pictures\n", i + 1, pictures->count);
            shown_at = time_seconds();
        }
        if (i != 0) {
            setup->keep = before; /* only the first picture is needed again */
            continue;
        }
        first_image = image;
        memcpy(first, values, (size_t)elems * sizeof *first);
    }
    if (!repeat_first(f, setup, first_image, first, values, &tally, err))
        return false;
    print_summary(out, f, setup, &tally, pictures->count);
    if (!(tally.worst_cosine >= f->min_cosine))
        return error_set(err, ERROR_NO, f->package, "worst cosine %.9g is below %.9g",
                         tally.worst_cosine, f->min_cosine);
    if (tally.agree < f->min_agreement)
        return error_set(err, ERROR_NO, f->package,
                         "%" PRId64
                         " of %d pictures get the same class as in FP32, expected %" PRId64,
                         tally.agree, pictures->count, f->min_agreement);
    return true;
}

int cmd_verify(int argc, char **argv)
{
    Arena arena = arena_create((isize)1 << 20);
    VerifyFlags *f = arena_new(&arena, VerifyFlags);
    *f = (VerifyFlags){.min_cosine = 0.99, .clock_hz = 1.5e9, .show = 10};
    int done;
    if (!cli_parse(
            argc, argv, "P.ipuexe --weights MODEL [IMAGE...] [OPTIONS]",
            "Runs pictures (JPEG, PNG, .npy, #N; default: #1 and #2) and compares every output "
            "with the FP32 oracle;\nruns the first picture again and wants identical bits. "
            "Exit 1 when a cosine or the agreement is below its\nthreshold or bits differ.",
            flags, sizeof flags / sizeof *flags, take, f, &done))
        return done;
    Error err = {0};
    if (f->package == NULL || f->weights == NULL)
        error_set(&err, ERROR_INPUT, NULL,
                  "verify needs P.ipuexe and --weights MODEL (see tessera verify --help)");
    if (err.code == ERROR_NONE) {
        Setup setup;
        SetupOptions options = {.package = f->package,
                                .weights = f->weights,
                                .threads = (int)f->threads,
                                .cycles_max = f->max_cycles,
                                .checks = f->checks,
                                .is_unknown_assumed = f->is_unknown_assumed,
                                .is_quiet = f->is_quiet};
        bool ok = setup_open(&setup, &options, &err);
        if (ok) {
            Writer out = writer_file(STDOUT_FILENO, &setup.keep);
            ok = verify(f, &setup, &out, &err);
            ok = cli_flush(&out, &err) && ok;
        }
        setup_close(&setup);
        if (ok)
            return 0;
    }
    return cli_fail(&err);
}
