/* tessera compile: checkpoint -> package. What this version does not do is refused by name. */
#include "cli/cli.h"
#include "compile/compile.h"
#include "import/import.h"
#include "search/search.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KEEP_BYTES_LOG2 = 36 };

typedef struct CompileFlags {
    const char *model, *output, *isa_flags, *problem;
    int64_t tiles, layers, threads, tile, stream_words;
    int64_t problem_tile; /* -1: not given */
    uint32_t dump;
    Stage stop_after;
    bool is_quiet, is_json, is_verbose, is_compact;
} CompileFlags;

enum {
    FLAG_OUTPUT,
    FLAG_TILES,
    FLAG_LAYERS,
    FLAG_BATCH,
    FLAG_PRECISION,
    FLAG_DUMP,
    FLAG_STOP,
    FLAG_TILE,
    FLAG_COMPACT,
    FLAG_STREAM,
    FLAG_PROBLEM,
    FLAG_PROBLEM_TILE,
    FLAG_THREADS,
    FLAG_JSON,
    FLAG_QUIET,
    FLAG_VERBOSE,
    FLAG_FP8_SCALE,
    FLAG_ATTENTION,
    FLAG_BASELINE,
    FLAG_PLAN,
    FLAG_SAVE_PLAN,
    FLAG_OPTIMIZE,
    FLAG_PROFILE,
    FLAG_ISA_FLAGS,
};

static const Flag flags[] = {
    [FLAG_OUTPUT] = {"-o", "P.ipuexe", "package to write"},
    [FLAG_TILES] = {"--tiles", "N", "use logical tiles 0..N-1 (default 1472)"},
    [FLAG_LAYERS] = {"--layers", "N", "only the first N layers"},
    [FLAG_BATCH] = {"--batch", "N", "images a call; 1 in this version"},
    [FLAG_PRECISION] = {"--precision", "fp16", "fp16 in this version"},
    [FLAG_DUMP] = {"--dump", "STAGES",
                   "print stages as text: graph,plan,work,place,exchange,rows,code"},
    [FLAG_STOP] = {"--stop-after", "STAGE",
                   "stop there (a name as for --dump) and write no package"},
    [FLAG_TILE] = {"--dump-tile", "P", "physical tile whose code is dumped (default 0)"},
    [FLAG_COMPACT] = {"--exchange-compact", NULL,
                      "smallest exchange rows, not the shortest phases"},
    [FLAG_STREAM] = {"--exchange-stream-words", "N", "send in waves of N words a stream (0: no)"},
    [FLAG_PROBLEM] =
        {"--save-problem", "F",
         "placement problem, as text, of the tile that does not fit, else of the fullest"},
    [FLAG_PROBLEM_TILE] = {"--problem-tile", "N", "save that of logical tile N instead"},
    [FLAG_THREADS] = {"-j", "N", "threads (default: all cores)"},
    [FLAG_JSON] = {"--json", NULL, "summary as JSON"},
    [FLAG_QUIET] = {"-q", NULL, "no progress"},
    [FLAG_VERBOSE] = {"-v", NULL, "list the exchange phases as well"},
    [FLAG_FP8_SCALE] = {"--fp8-scale", "E", "not in this version"},
    [FLAG_ATTENTION] = {"--attention", "auto", "auto in this version"},
    [FLAG_BASELINE] = {"--baseline", "normal", "normal in this version"},
    [FLAG_PLAN] = {"--plan", "F", "not in this version"},
    [FLAG_SAVE_PLAN] = {"--save-plan", "F", "not in this version"},
    [FLAG_OPTIMIZE] = {"--optimize", "0", "0 in this version: no search"},
    [FLAG_PROFILE] = {"--profile", "none", "none in this version"},
    [FLAG_ISA_FLAGS] = {"--isa-flags", "F",
                        "values of TAMP_, TSLIC_ ... symbols, as a vendor's header has them"},
};

static bool take_stages(const char *value, uint32_t *mask, Error *err)
{
    Str rest = str_of(value);
    do {
        Str name = str_cut(&rest, ',');
        Stage stage;
        if (!stage_find(name, &stage) || !stage_has_text(stage))
            return error_set(err, ERROR_INPUT, NULL,
                             "option --dump: no stage \"%.*s\" (graph, plan, work, place, "
                             "exchange, rows, code)",
                             STR_ARG(name));
        *mask |= 1u << stage;
    } while (rest.len > 0);
    return true;
}

/* A flag whose only supported value is `only`. */
static bool take_only(int flag, const char *value, const char *only, Error *err)
{
    if (only != NULL && strcmp(value, only) == 0)
        return true;
    if (only == NULL)
        return error_set(err, ERROR_INPUT, NULL, "option %s is not supported in this version",
                         flags[flag].name);
    return error_set(err, ERROR_INPUT, NULL,
                     "option %s %s is not supported in this version; expected %s", flags[flag].name,
                     value, only);
}

static bool take(void *context, int flag, const char *value, Error *err)
{
    CompileFlags *f = context;
    int64_t n;
    switch (flag) {
    case -1:
        if (f->model != NULL)
            return error_set(err, ERROR_INPUT, NULL, "one MODEL expected, found also %s", value);
        f->model = value;
        return true;
    case FLAG_OUTPUT:
        f->output = value;
        return true;
    case FLAG_TILES:
        return cli_int("--tiles", value, 1, CHIP_TILES, &f->tiles, err);
    case FLAG_LAYERS:
        return cli_int("--layers", value, 1, 1000, &f->layers, err);
    case FLAG_BATCH:
        if (!cli_int("--batch", value, 1, 64, &n, err))
            return false;
        return n == 1 || take_only(flag, value, "1", err);
    case FLAG_PRECISION:
        return take_only(flag, value, "fp16", err);
    case FLAG_DUMP:
        return take_stages(value, &f->dump, err);
    case FLAG_STOP:
        if (stage_find(str_of(value), &f->stop_after) && stage_has_text(f->stop_after))
            return true;
        return error_set(
            err, ERROR_INPUT, NULL,
            "option --stop-after: no stage \"%s\" (graph, plan, work, place, exchange, "
            "rows, code)",
            value);
    case FLAG_TILE:
        return cli_int("--dump-tile", value, 0, CHIP_TILES - 1, &f->tile, err);
    case FLAG_COMPACT:
        f->is_compact = true;
        return true;
    case FLAG_STREAM:
        return cli_int("--exchange-stream-words", value, 0, INT32_MAX, &f->stream_words, err);
    case FLAG_PROBLEM:
        f->problem = value;
        return true;
    case FLAG_PROBLEM_TILE:
        return cli_int("--problem-tile", value, 0, CHIP_TILES - 1, &f->problem_tile, err);
    case FLAG_THREADS:
        return cli_int("-j", value, 1, 256, &f->threads, err);
    case FLAG_JSON:
        f->is_json = true;
        return true;
    case FLAG_QUIET:
        f->is_quiet = true;
        return true;
    case FLAG_VERBOSE:
        f->is_verbose = true;
        return true;
    case FLAG_ATTENTION:
        return take_only(flag, value, "auto", err);
    case FLAG_BASELINE:
        return take_only(flag, value, "normal", err);
    case FLAG_OPTIMIZE:
        return take_only(flag, value, "0", err);
    case FLAG_ISA_FLAGS:
        f->isa_flags = value;
        return true;
    case FLAG_PROFILE:
        return take_only(flag, value, "none", err);
    default:
        return take_only(flag, value, NULL, err);
    }
}

static void print_summary(Writer *out, const CompileFlags *f, const Model *model,
                          const CompileResult *r, double seconds, Arena scratch)
{
    const Package *p = &r->package;
    int64_t phases = 0;
    for (isize i = 0; i < p->phases.len; i++)
        phases += p->phases.at[i].repeats;
    if (f->is_json) {
        write_fmt(out, "{\"model\":");
        write_json_str(out, model->name);
        write_fmt(out, ",\"package\":");
        write_json_str(out, str_of(f->output));
        write_fmt(out,
                  ",\"tiles\":%d,\"estimated_cycles\":%" PRId64
                  ",\"scheduled_exchange_cycles\":%" PRId64 ",\"bound_exchange_cycles\":%" PRId64
                  ",\"phases\":%" PRId64 ",\"tile_bytes_min\":%" PRId64
                  ",\"tile_bytes_median\":%" PRId64 ",\"tile_bytes_max\":%" PRId64
                  ",\"seconds\":%.3f,\"peak_bytes\":%" PRId64 ",\"stages\":{",
                  p->tiles_used, r->plan.estimate.estimated_cycles, r->scheduled_exchange_cycles,
                  r->bound_exchange_cycles, phases, p->tile_bytes_min, p->tile_bytes_median,
                  p->tile_bytes_max, seconds, cli_peak_bytes());
        for (int s = 0; s < STAGE_COUNT; s++)
            write_fmt(out, "%s\"%.*s\":%.3f", s ? "," : "", STR_ARG(stage_name((Stage)s)),
                      r->seconds[s]);
        write_fmt(out, "}}\n");
        return;
    }
    write_fmt(out, "%s\n", f->output);
    write_fmt(out, "  model              %.*s, %" PRId64 " parameters, %d tile%s\n",
              STR_ARG(str_shown(model->name, &scratch)), model->parameters, p->tiles_used,
              p->tiles_used == 1 ? "" : "s");
    write_fmt(out, "  estimated          %" PRId64 " cycles a call\n",
              r->plan.estimate.estimated_cycles);
    write_fmt(out,
              "  scheduled exchange %" PRId64 " cycles in %" PRId64 " phases (bound %" PRId64 ")\n",
              r->scheduled_exchange_cycles, phases, r->bound_exchange_cycles);
    write_fmt(out, "  bytes per tile     min %" PRId64 "  median %" PRId64 "  max %" PRId64 "\n",
              p->tile_bytes_min, p->tile_bytes_median, p->tile_bytes_max);
    write_fmt(out, "  compiled in        %.2f s host time (", seconds);
    for (int s = STAGE_PLAN; s < STAGE_COUNT; s++)
        if (s != STAGE_ROWS) /* encoded by exchange */
            write_fmt(out, "%s%.*s %.2f", s > STAGE_PLAN ? ", " : "", STR_ARG(stage_name((Stage)s)),
                      r->seconds[s]);
    write_fmt(out, "), peak memory %.0f MiB\n", (double)cli_peak_bytes() / 1048576.0);
    if (!f->is_verbose)
        return;
    write_fmt(out, "  %-44s %7s %9s %9s %7s %6s\n", "phase", "repeats", "transfers", "words",
              "horizon", "row B");
    for (isize i = 0; i < p->phases.len; i++) {
        const PhaseRecord *phase = &p->phases.at[i];
        write_fmt(out, "  %-44.*s %7u %9u %9" PRIu64 " %7u %6u\n", STR_ARG(phase->name),
                  phase->repeats, phase->transfers, phase->words, phase->horizon,
                  phase->row_bytes_max);
    }
}

/* The tile that was asked for, else this one. */
static Tile problem_tile(const CompileFlags *f, Tile otherwise)
{
    return f->problem_tile >= 0 ? (Tile){(uint16_t)f->problem_tile} : otherwise;
}

static bool save_problem(const CompileFlags *f, const Work *work, Tile tile, Arena keep,
                         Arena scratch, Error *err)
{
    PlaceProblem problem;
    Writer text = writer_buffer(&keep);
    place_extract(work, tile, &keep, scratch, &problem);
    place_problem_print(&text, &problem, NULL);
    return file_write(f->problem, writer_text(&text), err);
}

static void say_saved(const CompileFlags *f, Tile tile, Writer *progress)
{
    if (!f->is_quiet) {
        write_fmt(progress, "  problem of tile L%d: tessera bench place %s --explain\n", tile.id,
                  f->problem);
        writer_flush(progress);
    }
}

/* The first of those with most bytes alive. */
static Tile fullest_tile(const CompileResult *r)
{
    int32_t fullest = 0;
    for (int32_t i = 1; i < r->work.tiles; i++) {
        fullest = r->placement.used_bytes[i] > r->placement.used_bytes[fullest] ? i : fullest;
    }
    return (Tile){(uint16_t)fullest};
}

/* A compilation and what it is made of. */
typedef struct Compilation {
    const CompileFlags *flags;
    const Graph *graph;
    const KernelLibrary *library;
    const CompileOptions *options;
    CompileResult result;
} Compilation;

static bool is_part_used(const Compilation *c)
{
    return c->options->tiles > 0 && c->options->tiles < CHIP_TILES;
}

/* 0: none, or all are in use. */
static bool find_tiles(const Compilation *c, Writer *progress, Arena keep, Arena scratch,
                       int32_t *tiles, Error *err)
{
    *tiles = 0;
    if (!is_part_used(c))
        return true;
    if (!c->flags->is_quiet) {
        write_str(progress, S("  trying more tiles\n"));
        writer_flush(progress);
    }
    return search_tiles(c->graph, c->library, c->options, keep, scratch, tiles, err);
}

/* A tile did not fit: says the one line of the error and then more, or all of it as JSON, and saves the problem. */
static bool report_tile(const Compilation *c, const Error *why, Writer *out, Arena *keep,
                        Arena scratch, bool *is_said, Error *err)
{
    const CompileFlags *f = c->flags;
    const CompileResult *r = &c->result;
    Writer details = writer_file(STDERR_FILENO, keep);
    int32_t tiles;
    Tile saved = problem_tile(f, r->place_verdict.tile);
    if (f->problem != NULL && !save_problem(f, &r->work, saved, *keep, scratch, err))
        return false;
    if (f->is_json) {
        if (!find_tiles(c, &details, *keep, scratch, &tiles, err))
            return false;
        write_str(out, S("{\"error\":"));
        write_json_str(out, str_of(why->message));
        write_str(out, S(",\"place\":"));
        place_explain_json(out, &r->work, &r->place_verdict, scratch);
        write_fmt(out, ",\"tiles_that_fit\":%d}\n", tiles);
        return cli_flush(out, err);
    }
    if (f->is_quiet)
        return true;
    (void)cli_fail(why);
    place_explain(&details, &r->work, &r->place_verdict, scratch);
    writer_flush(&details);
    if (!find_tiles(c, &details, *keep, scratch, &tiles, err))
        return false;
    *is_said = true;
    if (tiles > 0)
        write_fmt(&details, "it is placed with --tiles %d; not all numbers below were tried\n",
                  tiles);
    else if (is_part_used(c))
        write_fmt(&details, "it is not placed with all %d tiles either\n", CHIP_TILES);
    writer_flush(&details);
    if (f->problem != NULL)
        say_saved(f, saved, &details);
    return true;
}

/* Everything behind opening the model. *is_said: the error stands on stderr already. */
static bool compile_graph(const CompileFlags *f, const Model *model, Arena *keep, Arena scratch,
                          double begin, bool *is_said, Error *err)
{
    Writer out = writer_file(STDOUT_FILENO, keep), progress = writer_file(STDERR_FILENO, keep);
    KernelLibrary library;
    IsaFlags isa_flags;
    if (f->isa_flags != NULL && !cli_isa_flags(f->isa_flags, keep, scratch, &isa_flags, err))
        return false;
    if (!library_load(f->isa_flags != NULL ? &isa_flags : NULL, keep, scratch, &library, err))
        return false;
    CompileOptions options = {.tiles = (int32_t)f->tiles,
                              .threads = (int)f->threads,
                              .is_exchange_compact = f->is_compact,
                              .exchange_stream_words = (int32_t)f->stream_words,
                              .dump = f->dump,
                              .dump_to = &out,
                              .stop_after = f->stop_after,
                              .dump_tile = (int)f->tile,
                              .progress = f->is_quiet ? NULL : &progress};
    Compilation compilation = {
        .flags = f, .graph = &model->graph, .library = &library, .options = &options};
    CompileResult *result = &compilation.result;
    if (!f->is_quiet) {
        write_fmt(&progress, "compiling %.*s\n", STR_ARG(str_shown(model->name, &scratch)));
        writer_flush(&progress);
    }
    if (!compile_plan(&model->graph, &library, &options, keep, scratch, result, err)) {
        Error other = {0};
        if (result->place_verdict.outcome != PLACE_PLACED &&
            !report_tile(&compilation, err, &out, keep, scratch, is_said, &other))
            *err = other;
        return false;
    }
    if (f->problem != NULL) {
        Tile saved = problem_tile(f, fullest_tile(result));
        if (!save_problem(f, &result->work, saved, *keep, scratch, err))
            return false;
        say_saved(f, saved, &progress);
    }
    if (f->stop_after == STAGE_PACKAGE) {
        double write_begin = time_seconds();
        if (!package_write(&result->package, f->output, scratch, err))
            return false;
        result->seconds[STAGE_PACKAGE] = time_seconds() - write_begin;
        print_summary(&out, f, model, result, time_seconds() - begin, scratch);
    }
    return cli_flush(&out, err);
}

static bool compile_model(const CompileFlags *f, bool *is_said, Error *err)
{
    double begin = time_seconds();
    Arena keep = arena_create((isize)1 << KEEP_BYTES_LOG2),
          scratch = arena_create((isize)1 << KEEP_BYTES_LOG2);
    Model model = {.checkpoint.fd = -1};
    ModelOptions options = {.layers = (int32_t)f->layers, .want_graph = true};
    bool ok = model_open(f->model, &options, &keep, scratch, &model, err) &&
              compile_graph(f, &model, &keep, scratch, begin, is_said, err);
    model_close(&model);
    arena_destroy(&keep);
    arena_destroy(&scratch);
    return ok;
}

int cmd_compile(int argc, char **argv)
{
    CompileFlags f = {.stop_after = STAGE_PACKAGE, .problem_tile = -1};
    int done;
    if (!cli_parse(argc, argv, "MODEL -o P.ipuexe [OPTIONS]",
                   "Plans the network so that every weight stays in tile SRAM and writes the "
                   "application package.\n"
                   "MODEL is a directory in Hugging Face form (config.json, model.safetensors).",
                   flags, sizeof flags / sizeof *flags, take, &f, &done))
        return done;
    Error err = {0};
    if (f.model == NULL)
        error_set(&err, ERROR_INPUT, NULL, "compile needs a MODEL (see tessera compile --help)");
    if (f.output == NULL && f.stop_after == STAGE_PACKAGE)
        error_set(&err, ERROR_INPUT, NULL, "compile needs -o P.ipuexe (or --stop-after STAGE)");
    if (f.stop_after != STAGE_PACKAGE && (f.is_json || f.output != NULL))
        error_set(&err, ERROR_INPUT, NULL, "option %s needs the package, without --stop-after",
                  f.is_json ? "--json" : "-o");
    if (f.dump != 0 && f.is_json)
        error_set(&err, ERROR_INPUT, NULL, "options --dump and --json exclude each other");
    if (f.dump >> f.stop_after > 1)
        error_set(&err, ERROR_INPUT, NULL, "option --dump: a stage behind --stop-after");
    if (f.problem != NULL && f.stop_after < STAGE_PLACE)
        error_set(&err, ERROR_INPUT, NULL,
                  "option --save-problem: nothing is placed before --stop-after");
    if (f.problem_tile >= 0 && f.problem == NULL)
        error_set(&err, ERROR_INPUT, NULL, "option --problem-tile needs --save-problem");
    if (f.tiles > 0 && f.problem_tile >= f.tiles)
        error_set(&err, ERROR_INPUT, NULL,
                  "option --problem-tile: expected a tile below --tiles %" PRId64
                  ", found %" PRId64,
                  f.tiles, f.problem_tile);
    const char *const inputs[] = {f.model, f.isa_flags};
    if (err.code == ERROR_NONE && f.output != NULL)
        cli_output(f.output, inputs, f.isa_flags ? 2 : 1, &err);
    if (err.code == ERROR_NONE && f.problem != NULL)
        cli_output(f.problem, inputs, f.isa_flags ? 2 : 1, &err);
    if (err.code == ERROR_NONE && f.problem != NULL && f.output != NULL &&
        file_is_same(f.problem, f.output))
        error_set(&err, ERROR_INPUT, f.problem, "is the package; choose another --save-problem");
    bool is_said = false;
    if (err.code != ERROR_NONE || !compile_model(&f, &is_said, &err))
        return is_said ? (int)err.code : cli_fail(&err);
    return 0;
}
