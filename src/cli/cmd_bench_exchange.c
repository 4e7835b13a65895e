/* `tessera bench exchange`: bounds, schedules, rows and times of the corpus bench/exchange or of given problems (docs/exchange.md). */
#include "cli/bench.h"
#include "exchange/exchange.h"
#include <string.h>

enum { FILE_BYTES_MAX = 1 << 30, KEEP_BYTES_LOG2 = 36, SCRATCH_BYTES_LOG2 = 35 };

static const BenchCorpus corpus = {exchange_files, &exchange_file_count, NULL};

typedef struct ExchangeFlags {
    BenchArgs args;
    int64_t stream_words;
    ExchangeWidth width;
    bool is_compact, is_expanded, is_bounded;
} ExchangeFlags;

enum { FLAG_BOUNDS = BENCH_FLAG_COUNT, FLAG_EXPAND, FLAG_COMPACT, FLAG_STREAM, FLAG_WIDTH };

static const Flag flags[] = {
    BENCH_FLAGS,
    [FLAG_BOUNDS] = {"--bounds", NULL, "lower bounds only, nothing is scheduled"},
    [FLAG_EXPAND] = {"--expand", NULL,
                     "print the problem with every generated transfer written out"},
    [FLAG_COMPACT] = {"--compact", NULL,
                      "smallest rows of all schedules tried, not the shortest horizon"},
    [FLAG_STREAM] = {"--exchange-stream-words", "N", "send in waves of N words a stream (0: no)"},
    [FLAG_WIDTH] = {"--width", "auto|32|64", "items of transfers that may be 64 bits wide"},
};

static bool take_width(const char *value, ExchangeWidth *out, Error *err)
{
    static const char *const names[] = {[EXCHANGE_WIDTH_AUTO] = "auto",
                                        [EXCHANGE_WIDTH_ORDINARY] = "32",
                                        [EXCHANGE_WIDTH_PAIRED] = "64"};
    for (int i = 0; i < 3; i++) {
        if (strcmp(value, names[i]) == 0) {
            *out = (ExchangeWidth)i;
            return true;
        }
    }
    return error_set(err, ERROR_INPUT, NULL, "option --width: expected auto, 32 or 64, found %s",
                     value);
}

/* What schedules nothing has no options of the solver. */
static bool check_flags(const ExchangeFlags *f, Error *err)
{
    const char *expand = f->is_expanded ? "--expand" : NULL;
    const char *bounds = f->is_bounded ? "--bounds" : NULL;
    const char *text = f->args.is_listed ? "--list" : expand;
    const char *unscheduled = text != NULL ? text : bounds;
    if (!bench_check_args(&f->args, expand, err) || !bench_exclude(text, bounds, err) ||
        !bench_exclude(unscheduled, f->is_compact ? "--compact" : NULL, err) ||
        !bench_exclude(unscheduled, f->stream_words > 0 ? "--exchange-stream-words" : NULL, err) ||
        !bench_exclude(unscheduled, f->width != EXCHANGE_WIDTH_AUTO ? "--width" : NULL, err)) {
        return false;
    }
    return !f->is_expanded || f->args.item_count == 1 ||
           error_set(err, ERROR_INPUT, NULL, "option --expand: expected one problem, found %d",
                     f->args.item_count);
}

static bool take(void *context, int flag, const char *value, Error *err)
{
    ExchangeFlags *f = context;
    switch (flag) {
    case FLAG_BOUNDS:
        f->is_bounded = true;
        return true;
    case FLAG_EXPAND:
        f->is_expanded = true;
        return true;
    case FLAG_COMPACT:
        f->is_compact = true;
        return true;
    case FLAG_STREAM:
        return cli_int("--exchange-stream-words", value, 0, INT32_MAX, &f->stream_words, err);
    case FLAG_WIDTH:
        return take_width(value, &f->width, err);
    default:
        return bench_take(&f->args, flag, value, err);
    }
}

/* --- one problem ---------------------------------------------------------------------------------------- */

/* A line of the table: one phase of one problem. */
typedef struct PhaseLine {
    Str name;
    int64_t transfers, receivers, paired; /* paired: transfers sent 64 bits wide */
    ExchangeBounds bounds;
    Event horizon;
    int64_t row_bytes_max, row_bytes; /* largest row of a tile; all rows */
    /* Of the whole problem, in its first line; else 0. Encoding is part of solving. */
    double solve_seconds, encode_seconds, check_seconds;
    bool is_scheduled, is_refused; /* neither: bounds only */
    Str refusal;                   /* in the first line of a refused problem */
} PhaseLine;
VEC(PhaseLine);

typedef struct BenchRun {
    const ExchangeFlags *flags;
    int threads;
    Arena arena; /* lines */
    PhaseLineVec lines;
    int item, item_count; /* which of how many problems */
    int code;             /* worst answer so far */
} BenchRun;

/* A file, or a problem of the corpus by its name. */
static bool read_problem(const char *item, Arena *keep, ExchangeProblem *out, Error *err)
{
    Str text;
    return bench_read(&corpus, item, FILE_BYTES_MAX, keep, &text, err) &&
           (exchange_parse(text, keep, out, err) || error_context(err, "%s", item));
}

static void add_lines(BenchRun *run, const char *item, const ExchangeProblem *problem)
{
    for (isize i = 0; i < problem->phases.len; i++) {
        const ExchangePhase *phase = &problem->phases.at[i];
        PhaseLine *line = vec_push(&run->lines, &run->arena);
        *line = (PhaseLine){.transfers = phase->transfer_count};
        for (int32_t k = 0; k < phase->transfer_count; k++) {
            line->receivers += problem->transfers.at[phase->transfer_first + k].receiver_count;
        }
        Str name = bench_name(item, ".exchange", &run->arena);
        line->name =
            problem->phases.len == 1 ? name : str_format(&run->arena, "%.*s/%td", STR_ARG(name), i);
    }
}

static void fill_bounds(PhaseLine *lines, const ExchangeProblem *problem, int threads,
                        Arena scratch)
{
    ExchangeBounds *bounds = arena_array(&scratch, ExchangeBounds, problem->phases.len);
    exchange_bounds(problem, NULL, threads, scratch, bounds);
    for (isize i = 0; i < problem->phases.len; i++) {
        lines[i].bounds = bounds[i];
    }
}

static void fill_lines(PhaseLine *lines, const ExchangeProblem *problem, const Schedule *schedule)
{
    for (isize i = 0; i < problem->phases.len; i++) {
        lines[i].is_scheduled = true;
        lines[i].horizon = schedule->horizon[i];
        lines[i].bounds = schedule->bounds[i];
    }
    for (isize i = 0; i < schedule->rows.len; i++) {
        PhaseLine *line = &lines[schedule->rows.at[i].phase];
        int64_t bytes = 4 * (int64_t)schedule->rows.at[i].word_count;
        line->row_bytes += bytes;
        line->row_bytes_max = max_i64(line->row_bytes_max, bytes);
    }
    isize phase = 0;
    for (isize i = 0; i < schedule->messages.len; i++) {
        const ExchangeMessage *m = &schedule->messages.at[i];
        while (m->transfer >= problem->phases.at[phase].transfer_first +
                                  problem->phases.at[phase].transfer_count) {
            phase++;
        }
        lines[phase].paired += m->is_paired && m->word_first == 0;
    }
}

static void say(BenchRun *run, const char *item, const char *what)
{
    bench_say(&run->flags->args, run->item, run->item_count,
              bench_name(item, ".exchange", &run->arena), what);
}

/* Schedules and checks; false when the problem cannot be read or a schedule is wrong. A refusal of the solver is a line of the
 * table and the exit code. */
static bool run_problem(BenchRun *run, const char *item, Arena *keep, Arena scratch, Error *err)
{
    const ExchangeFlags *f = run->flags;
    ExchangeProblem problem;
    if (!read_problem(item, keep, &problem, err)) {
        return false;
    }
    isize first = run->lines.len;
    add_lines(run, item, &problem);
    PhaseLine *lines = &run->lines.at[first];
    if (problem.phases.len == 0) {
        return true;
    }
    if (f->is_bounded) {
        say(run, item, "bounds");
        fill_bounds(lines, &problem, run->threads, scratch);
        return true;
    }
    say(run, item, "scheduling");
    ExchangeOptions options = {.threads = run->threads,
                               .is_compact = f->is_compact,
                               .stream_words = (int32_t)f->stream_words,
                               .width = f->width};
    Schedule schedule;
    Error refusal = {0};
    double begin = time_seconds();
    bool is_solved = exchange_solve(&problem, &options, keep, scratch, &schedule, &refusal);
    lines[0].solve_seconds = time_seconds() - begin;
    if (!is_solved) {
        lines[0].refusal = str_copy(str_of(refusal.message), &run->arena);
        for (isize i = 0; i < problem.phases.len; i++) {
            lines[i].is_refused = true;
        }
        run->code = run->code > (int)refusal.code ? run->code : (int)refusal.code;
        if (refusal.code == ERROR_NO) { /* a good problem */
            fill_bounds(lines, &problem, run->threads, scratch);
        }
        return true;
    }
    say(run, item, "checking");
    begin = time_seconds();
    if (!exchange_check(&problem, &schedule, run->threads, scratch, err)) {
        (void)error_context(err, "%s", item);
        err->code = (ErrorCode)EXIT_BUG; /* of the solver or of the checker */
        return false;
    }
    lines[0].check_seconds = time_seconds() - begin;
    lines[0].encode_seconds = schedule.host_encode_seconds;
    fill_lines(lines, &problem, &schedule);
    return true;
}

/* --- output --------------------------------------------------------------------------------------------- */

static const char *const kind_names[BOUND_KIND_COUNT] = {
    [BOUND_NONE] = "-",
    [BOUND_SEND] = "send",
    [BOUND_RECEIVE] = "receive",
    [BOUND_CHAIN] = "chain",
    [BOUND_ISSUE] = "issue",
    [BOUND_CLIQUE] = "clique",
    [BOUND_MULTICAST] = "multicast",
};

static double ratio_of(int64_t horizon, int64_t bound)
{
    return bound > 0 ? (double)horizon / (double)bound : 0;
}

/* Lines whose name begins with `prefix`, scheduled ones only. */
typedef struct LineSum {
    int64_t count, refused, horizon, bound, row_bytes_max;
    double solve_seconds, encode_seconds, check_seconds;
} LineSum;

static LineSum sum_of(const BenchRun *run, Str prefix)
{
    LineSum sum = {0};
    for (isize i = 0; i < run->lines.len; i++) {
        const PhaseLine *line = &run->lines.at[i];
        if (!str_starts(line->name, prefix)) {
            continue;
        }
        sum.refused += line->is_refused;
        if (line->is_scheduled) {
            sum.count++;
            sum.horizon += line->horizon;
            sum.bound += line->bounds.chosen.events;
            sum.row_bytes_max = max_i64(sum.row_bytes_max, line->row_bytes_max);
            sum.solve_seconds += line->solve_seconds;
            sum.encode_seconds += line->encode_seconds;
            sum.check_seconds += line->check_seconds;
        }
    }
    return sum;
}

/* What is summed up: the phases of a layer, and everything. */
static const struct {
    const char *prefix, *name;
} sums[] = {{"siglip-b1-", "layer, batch 1"}, {"siglip-b2-", "layer, batch 2"}, {"", "all"}};
enum { SUM_COUNT = sizeof sums / sizeof *sums };

static void print_sums(Writer *out, const BenchRun *run)
{
    for (int i = 0; i < SUM_COUNT && !run->flags->is_bounded; i++) {
        LineSum sum = sum_of(run, str_of(sums[i].prefix));
        if (sum.count + sum.refused == 0) {
            continue;
        }
        write_fmt(out,
                  "%s: %lld phase%s, sum of horizons %lld / sum of bounds %lld = %.3f;\n"
                  "  solved in %.2f s (%.2f s of it encoding), checked in %.2f s",
                  sums[i].name, (long long)sum.count, sum.count == 1 ? "" : "s",
                  (long long)sum.horizon, (long long)sum.bound, ratio_of(sum.horizon, sum.bound),
                  sum.solve_seconds, sum.encode_seconds, sum.check_seconds);
        if (sum.refused > 0) {
            write_fmt(out, "; %lld refused", (long long)sum.refused);
        }
        write_str(out, S("\n"));
    }
}

static void print_table(Writer *out, const BenchRun *run)
{
    write_fmt(out, "%-21s %6s %7s %5s %5s %-7s %6s %5s %5s %5s %5s %4s %4s\n", "", "trans-",
              "recei-", "bound", "bound", "", "", "", "row B", "rows", "solve", "enc", "chk");
    write_fmt(out, "%-21s %6s %7s %5s %5s %-7s %6s %5s %5s %5s %5s %4s %4s\n", "phase", "fers",
              "vers", "32", "64", "binds", "horizon", "ratio", "max", "KiB", "s", "s", "s");
    for (isize i = 0; i < run->lines.len; i++) {
        const PhaseLine *line = &run->lines.at[i];
        write_fmt(out, "%-21.*s %6lld %7lld %5d %5d ", STR_ARG(line->name),
                  (long long)line->transfers, (long long)line->receivers,
                  line->bounds.ordinary.events, line->bounds.paired.events);
        const char *kind = kind_names[line->bounds.chosen.kind];
        if (line->is_refused) {
            write_fmt(out, "%-7s refused\n", kind);
        } else if (!line->is_scheduled) {
            write_fmt(out, "%s\n", kind);
        } else {
            write_fmt(out, "%-7s %6d %5.3f %5lld %5lld %5.*f %4.*f %4.*f\n", kind, line->horizon,
                      ratio_of(line->horizon, line->bounds.chosen.events),
                      (long long)line->row_bytes_max, (long long)line->row_bytes / 1024,
                      line->solve_seconds < 99.9 ? 2 : 0, line->solve_seconds,
                      line->encode_seconds < 9.99 ? 2 : 0, line->encode_seconds,
                      line->check_seconds < 9.99 ? 2 : 0, line->check_seconds);
        }
        if (line->refusal.len > 0) {
            write_fmt(out, "  %.*s\n", STR_ARG(line->refusal));
        }
    }
    print_sums(out, run);
}

static void print_markdown(Writer *out, const BenchRun *run)
{
    write_str(out,
              S("| phase | transfers | receivers | bound 32 | bound 64 | binds | horizon | ratio "
                "| largest row B | rows KiB | solve s | encode s | check s |\n"
                "|---|---:|---:|---:|---:|---|---:|---:|---:|---:|---:|---:|---:|\n"));
    for (isize i = 0; i < run->lines.len; i++) {
        const PhaseLine *line = &run->lines.at[i];
        bench_write_cell(out, line->name);
        write_fmt(out, " | %lld | %lld | %d | %d | %s |", (long long)line->transfers,
                  (long long)line->receivers, line->bounds.ordinary.events,
                  line->bounds.paired.events, kind_names[line->bounds.chosen.kind]);
        if (!line->is_scheduled) {
            write_str(out,
                      line->is_refused ? S(" refused | | | | | | |\n") : S(" | | | | | | |\n"));
        } else {
            write_fmt(out, " %d | %.3f | %lld | %lld | %.2f | %.2f | %.2f |\n", line->horizon,
                      ratio_of(line->horizon, line->bounds.chosen.events),
                      (long long)line->row_bytes_max, (long long)line->row_bytes / 1024,
                      line->solve_seconds, line->encode_seconds, line->check_seconds);
        }
    }
    write_str(out, S("\n"));
    for (isize i = 0; i < run->lines.len; i++) {
        const PhaseLine *line = &run->lines.at[i];
        if (line->refusal.len > 0) {
            write_fmt(out, "%.*s: %.*s\n", STR_ARG(line->name), STR_ARG(line->refusal));
        }
    }
    print_sums(out, run);
}

static void print_json_bound(Writer *out, const char *name, const ExchangeBound *bound)
{
    write_fmt(out, "\"%s\":{\"events\":%d,\"kind\":\"%s\",\"tile\":%d},", name, bound->events,
              kind_names[bound->kind], bound->tile.id);
}

static void print_json(Writer *out, const BenchRun *run)
{
    write_str(out, S("{\"phases\":["));
    for (isize i = 0; i < run->lines.len; i++) {
        const PhaseLine *line = &run->lines.at[i];
        write_str(out, i == 0 ? S("\n{\"name\":") : S(",\n{\"name\":"));
        write_json_str(out, line->name);
        write_fmt(out, ",\"transfers\":%lld,\"receivers\":%lld,", (long long)line->transfers,
                  (long long)line->receivers);
        print_json_bound(out, "bound_ordinary", &line->bounds.ordinary);
        print_json_bound(out, "bound_paired", &line->bounds.paired);
        print_json_bound(out, "bound_chosen", &line->bounds.chosen);
        write_fmt(out, "\"send_words_max\":%lld,\"receive_words_max\":%lld",
                  (long long)line->bounds.send_words_max,
                  (long long)line->bounds.receive_words_max);
        if (line->refusal.len > 0) {
            write_str(out, S(",\"refusal\":"));
            write_json_str(out, line->refusal);
        }
        if (line->is_scheduled) {
            write_fmt(out,
                      ",\"scheduled_horizon\":%d,\"ratio\":%.4f,\"paired_transfers\":%lld,"
                      "\"row_bytes_max\":%lld,\"row_bytes\":%lld,\"host_solve_seconds\":%.4f,"
                      "\"host_encode_seconds\":%.4f,\"host_check_seconds\":%.4f",
                      line->horizon, ratio_of(line->horizon, line->bounds.chosen.events),
                      (long long)line->paired, (long long)line->row_bytes_max,
                      (long long)line->row_bytes, line->solve_seconds, line->encode_seconds,
                      line->check_seconds);
        }
        write_str(out, S("}"));
    }
    write_str(out, S("\n],\"sums\":["));
    for (int i = 0; i < SUM_COUNT; i++) {
        LineSum sum = sum_of(run, str_of(sums[i].prefix));
        write_fmt(out,
                  "%s\n{\"name\":\"%s\",\"phases\":%lld,\"refused\":%lld,\"horizons\":%lld,"
                  "\"bounds\":%lld,\"ratio\":%.4f,\"host_solve_seconds\":%.4f,"
                  "\"host_encode_seconds\":%.4f,\"host_check_seconds\":%.4f}",
                  i == 0 ? "" : ",", sums[i].name, (long long)sum.count, (long long)sum.refused,
                  (long long)sum.horizon, (long long)sum.bound, ratio_of(sum.horizon, sum.bound),
                  sum.solve_seconds, sum.encode_seconds, sum.check_seconds);
    }
    write_str(out, S("\n]}\n"));
}

/* --- commands ------------------------------------------------------------------------------------------- */

static bool expand(const ExchangeFlags *f, Writer *out, Error *err)
{
    Arena keep = arena_create((isize)1 << KEEP_BYTES_LOG2);
    ExchangeProblem problem;
    bool is_good = read_problem(f->args.items[0], &keep, &problem, err);
    if (is_good) {
        exchange_print(out, &problem, NULL);
    }
    is_good = is_good && cli_flush(out, err);
    arena_destroy(&keep);
    return is_good;
}

/* A mistake in the last file must not cost the work on those before it. */
static bool read_all(const ExchangeFlags *f, Error *err)
{
    for (int i = 0; i < f->args.item_count; i++) {
        Arena keep = arena_create((isize)1 << KEEP_BYTES_LOG2);
        ExchangeProblem problem;
        bool is_good = bench_find(&corpus, f->args.items[i]) != NULL ||
                       read_problem(f->args.items[i], &keep, &problem, err);
        arena_destroy(&keep);
        if (!is_good) {
            return false;
        }
    }
    return true;
}

static bool run_all(BenchRun *run, Error *err)
{
    const ExchangeFlags *f = run->flags;
    run->item_count = bench_item_count(&f->args, &corpus);
    if (run->item_count > 1 && !read_all(f, err)) {
        return false;
    }
    for (int i = 0; i < run->item_count; i++) {
        const char *item = bench_item(&f->args, &corpus, i, &run->arena);
        run->item = i;
        Arena keep = arena_create((isize)1 << KEEP_BYTES_LOG2);
        Arena scratch = arena_create((isize)1 << SCRATCH_BYTES_LOG2);
        bool is_good = run_problem(run, item, &keep, scratch, err);
        arena_destroy(&keep);
        arena_destroy(&scratch);
        if (!is_good) {
            return false;
        }
    }
    return true;
}

int bench_exchange(int argc, char **argv)
{
    ExchangeFlags f = {0};
    int done = 0;
    if (!cli_parse(
            argc, argv, "[PROBLEM...] [OPTIONS]",
            "Lower bounds, schedules and rows of exchange phases, each checked. PROBLEM is a "
            "file (docs/exchange.md) or\na name of the corpus (--list); without one, the "
            "whole corpus.",
            flags, sizeof flags / sizeof *flags, take, &f, &done)) {
        return done;
    }
    Error err = {0};
    if (!check_flags(&f, &err)) {
        return cli_fail(&err);
    }
    BenchRun run = {.flags = &f,
                    .threads = thread_count((int)f.args.threads),
                    .arena = arena_create((isize)1 << 30)};
    Writer out = writer_file(1, &run.arena);
    if (f.args.is_listed) {
        bench_print_list(&out, &corpus);
    } else if (f.is_expanded ? !expand(&f, &out, &err) : !run_all(&run, &err)) {
        return cli_fail(&err);
    } else if (!f.is_expanded) {
        void (*const print[])(Writer *, const BenchRun *) = {
            [FORM_TABLE] = print_table, [FORM_JSON] = print_json, [FORM_MARKDOWN] = print_markdown};
        print[f.args.form](&out, &run);
    }
    return cli_flush(&out, &err) ? run.code : cli_fail(&err);
}
