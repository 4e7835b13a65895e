/* The compiler's table of contents: one stage after the other, each checked after it ran (style.md 1, 8). */
#include "compile/compile.h"

static const struct {
    const char *text;
    bool has_text;
} stages[STAGE_COUNT] = {
#define STAGE(name, text, has_text) {text, has_text},
#include "compile/stages.def"
#undef STAGE
};

Str stage_name(Stage stage)
{
    return str_of(stages[stage].text);
}

bool stage_find(Str name, Stage *out)
{
    for (int s = 0; s < STAGE_COUNT; s++)
        if (str_equal(name, stage_name((Stage)s))) {
            *out = (Stage)s;
            return true;
        }
    return false;
}

bool stage_has_text(Stage stage)
{
    return stages[stage].has_text;
}

/* One compilation in progress. */
typedef struct Pipeline {
    const Graph *graph;
    const KernelLibrary *library;
    const CompileOptions *options;
    CompileResult *out;
    Arena *keep;
    Error *err;
} Pipeline;

static void print_rows(Writer *writer, const Schedule *schedule)
{
    for (isize i = 0; i < schedule->rows.len; i++) {
        const Row *row = &schedule->rows.at[i];
        write_fmt(writer, "row phase=%d tile=%u words=%d end=%d\n", row->phase, row->tile.id,
                  row->word_count, row->end);
        row_print(writer, &schedule->words.at[row->word_first], row->word_count);
    }
}

static void dump(const Pipeline *p, Stage stage)
{
    Writer *writer = p->options->dump_to;
    if (writer == NULL || !(p->options->dump >> stage & 1))
        return;
    switch (stage) {
    case STAGE_GRAPH:
        graph_print(writer, p->graph);
        break;
    case STAGE_PLAN:
        plan_print(writer, &p->out->plan);
        break;
    case STAGE_WORK:
        work_print(writer, &p->out->work);
        break;
    case STAGE_PLACE:
        place_print(writer, &p->out->work, &p->out->placement);
        break;
    case STAGE_EXCHANGE:
        exchange_print(writer, &p->out->problem, &p->out->schedule);
        break;
    case STAGE_ROWS:
        print_rows(writer, &p->out->schedule);
        break;
    case STAGE_CODE:
        emit_print_code(writer, &p->out->package, (PhysTile){(uint16_t)p->options->dump_tile});
        break;
    case STAGE_PACKAGE:
    case STAGE_COUNT:
        break;
    }
}

/* What a checker says of our own result: a refusal is a bug of the stage or of its checker, never an answer to the user. */
static bool is_right(const Pipeline *p, bool is_accepted)
{
    if (!is_accepted) {
        (void)error_context(p->err, "internal error");
        p->err->code = (ErrorCode)EXIT_BUG;
    }
    return is_accepted;
}

static bool run_plan(Pipeline *p, Arena scratch)
{
    PlanOptions options = {.tiles = p->options->tiles, .rows_per_tile = p->options->rows_per_tile};
    return plan_baseline(p->graph, &options, p->keep, scratch, &p->out->plan, p->err) &&
           is_right(p, plan_check(&p->out->plan, scratch, p->err));
}

static bool run_work(Pipeline *p, Arena scratch)
{
    return lower_plan(&p->out->plan, p->keep, scratch, &p->out->work, p->err) &&
           is_right(p, work_check(&p->out->work, p->err));
}

static bool run_place(Pipeline *p, Arena scratch)
{
    return place_solve(&p->out->work, p->options->threads, p->keep, scratch, &p->out->placement,
                       &p->out->place_verdict, p->err) &&
           is_right(p, place_check(&p->out->work, &p->out->placement, scratch, p->err));
}

static bool run_exchange(Pipeline *p, Arena scratch)
{
    CompileResult *r = p->out;
    exchange_extract(&r->work, &r->placement, p->keep, &r->problem);
    uint32_t taken = emit_fixed_bytes(p->library) + emit_program_bytes_max(&r->work, scratch);
    if (taken >= r->work.support_bytes)
        return error_set(p->err, ERROR_NO, NULL,
                         "does not fit: kernels and program need %u bytes, the support grant is %u",
                         taken, r->work.support_bytes);
    r->problem.row_bytes_max = r->work.support_bytes - taken;
    ExchangeOptions options = {.threads = p->options->threads,
                               .is_compact = p->options->is_exchange_compact,
                               .stream_words = p->options->exchange_stream_words};
    if (!exchange_solve(&r->problem, &options, p->keep, scratch, &r->schedule, p->err) ||
        !is_right(p,
                  exchange_check(&r->problem, &r->schedule, p->options->threads, scratch, p->err)))
        return false;
    int32_t phase = 0;
    for (isize s = 0; s < r->work.steps.len; s++) {
        const WorkStep *step = &r->work.steps.at[s];
        if (step->kind != WORK_PHASE)
            continue;
        r->scheduled_exchange_cycles += (int64_t)step->repeats * r->schedule.horizon[phase];
        r->bound_exchange_cycles +=
            (int64_t)step->repeats * r->schedule.bounds[phase].chosen.events;
        phase++;
    }
    return true;
}

static bool run_emit(Pipeline *p, Arena scratch)
{
    EmitInfo info = {.model = p->graph->name,
                     .digest = graph_digest(p->graph, p->keep, scratch),
                     .compiler_version = S(TESSERA_VERSION),
                     .threads = p->options->threads};
    return emit_package(&p->out->work, &p->out->placement, &p->out->schedule, p->library, &info,
                        p->keep, scratch, &p->out->package, p->err) &&
           is_right(p, package_check(&p->out->package, scratch, p->err));
}

static bool run_stage(Pipeline *p, Stage stage, Arena scratch)
{
    switch (stage) {
    case STAGE_GRAPH:
        return graph_check(p->graph, p->err);
    case STAGE_PLAN:
        return run_plan(p, scratch);
    case STAGE_WORK:
        return run_work(p, scratch);
    case STAGE_PLACE:
        return run_place(p, scratch);
    case STAGE_EXCHANGE:
        return run_exchange(p, scratch);
    case STAGE_CODE:
        return run_emit(p, scratch);
    case STAGE_ROWS:    /* encoded by exchange */
    case STAGE_PACKAGE: /* written by the caller */
    case STAGE_COUNT:
        break;
    }
    return true;
}

bool compile_plan(const Graph *graph, const KernelLibrary *library, const CompileOptions *options,
                  Arena *keep, Arena scratch, CompileResult *out, Error *err)
{
    *out = (CompileResult){0};
    Pipeline p = {graph, library, options, out, keep, err};
    for (int s = 0; s < STAGE_COUNT; s++) {
        double begin = time_seconds();
        if (!run_stage(&p, (Stage)s, scratch))
            return false;
        out->seconds[s] = time_seconds() - begin;
        if (options->progress != NULL && s >= STAGE_PLAN && s <= STAGE_CODE && s != STAGE_ROWS) {
            write_fmt(options->progress, "  %-9s %6.2f s\n", stages[s].text, out->seconds[s]);
            writer_flush(options->progress);
        }
        dump(&p, (Stage)s);
        if ((Stage)s == options->stop_after)
            break;
    }
    return true;
}
