/* `tessera bench place`: placement problems of files or of the corpus bench/place, each solved and checked (docs/place.md). */
#include "cli/bench_place.h"

enum {
    KEEP_BYTES_LOG2 = 36,
    WORKER_KEEP_BYTES_LOG2 = 32,
    WORKER_SCRATCH_BYTES_LOG2 = 33,
};
#define NODES_LIMIT 1000000000000 /* of --nodes */

enum { FLAG_NODES = BENCH_FLAG_COUNT, FLAG_CAPACITY, FLAG_MINIMUM, FLAG_EXPLAIN, FLAG_PRINT };

static const Flag flags[] = {
    BENCH_FLAGS,
    [FLAG_NODES] = {"--nodes", "N", "nodes of the search of a problem (default: docs/place.md)"},
    [FLAG_CAPACITY] = {"--capacity", "N", "bytes of a CSV (default: the number in its file name)"},
    [FLAG_MINIMUM] = {"--minimum", NULL, "find the smallest capacity (end of the last range)"},
    [FLAG_EXPLAIN] = {"--explain", NULL,
                      "say what is alive where there is no placement, and what would help"},
    [FLAG_PRINT] = {"--print", NULL, "print the problems as text, with addresses where placed"},
};

static bool take(void *context, int flag, const char *value, Error *err)
{
    PlaceFlags *f = context;
    switch (flag) {
    case FLAG_NODES:
        return cli_int("--nodes", value, 1, NODES_LIMIT, &f->nodes_max, err);
    case FLAG_CAPACITY:
        return cli_int("--capacity", value, 1, UINT32_MAX, &f->capacity, err);
    case FLAG_MINIMUM:
        f->is_minimum = true;
        return true;
    case FLAG_EXPLAIN:
        f->is_explained = true;
        return true;
    case FLAG_PRINT:
        f->is_printed = true;
        return true;
    default:
        return bench_take(&f->args, flag, value, err);
    }
}

static bool check_flags(const PlaceFlags *f, Error *err)
{
    const char *list = f->args.is_listed ? "--list" : NULL;
    const char *explain = f->is_explained ? "--explain" : NULL;
    return bench_check_args(&f->args, f->is_printed ? "--print" : NULL, err) &&
           bench_exclude(list, f->nodes_max > 0 ? "--nodes" : NULL, err) &&
           bench_exclude(list, f->is_minimum ? "--minimum" : NULL, err) &&
           bench_exclude(explain, list, err) &&
           bench_exclude(explain, f->is_printed ? "--print" : NULL, err) &&
           bench_exclude(explain, f->args.form == FORM_MARKDOWN ? "--markdown" : NULL, err) &&
           bench_exclude(list, f->capacity > 0 ? "--capacity" : NULL, err);
}

/* --- solving -------------------------------------------------------------------------------------------- */

typedef struct Worker {
    Arena keep, scratch;
} Worker;

typedef struct SolveProblems {
    PlaceRun *run;
    Worker *workers;
    const isize *problems;
} SolveProblems;

static PlaceOptions options_of(const PlaceFlags *f, const PlaceItem *item)
{
    return (PlaceOptions){.nodes_max = f->nodes_max > 0 ? f->nodes_max : item->nodes_max,
                          .is_proof_wanted = !item->has_witness};
}

/* Is the answer true, whichever it is? */
static bool is_true(const PlaceProblem *problem, const PlaceRecord *record, Arena scratch,
                    Error *err)
{
    switch (record->verdict.outcome) {
    case PLACE_PLACED:
        return place_problem_check(problem, &record->solution, scratch, err);
    case PLACE_IMPOSSIBLE:
        return place_certificate_check(problem, &record->verdict.certificate, err);
    default:
        return true;
    }
}

static void fail(PlaceRecord *record, const Error *err, Arena *keep)
{
    Error *failure = arena_new(keep, Error);
    *failure = *err;
    record->failure = failure;
}

static void check_problem(void *context, isize index, int worker)
{
    SolveProblems *solve = context;
    Worker *own = &solve->workers[worker];
    isize problem = solve->problems[index];
    PlaceRecord *record = &solve->run->records[problem];
    Error err = {0};
    if (!is_true(&solve->run->problems.at[problem], record, own->scratch, &err)) {
        fail(record, &err, &own->keep);
    }
}

static void solve_problem(void *context, isize index, int worker)
{
    SolveProblems *solve = context;
    PlaceRun *run = solve->run;
    isize problem = solve->problems[index];
    PlaceRecord *record = &run->records[problem];
    const PlaceItem *item = &run->items.at[record->item];
    if (problem == item->first) {
        bench_say(&run->flags->args, record->item, (int)run->items.len, item->name, "placing");
    }
    Worker *own = &solve->workers[worker];
    PlaceOptions options = options_of(run->flags, item);
    double begin = time_seconds();
    (void)place_problem_solve(&run->problems.at[problem], &options, &own->keep, own->scratch,
                              &record->solution, &record->verdict);
    double solved = time_seconds();
    record->solve_seconds = solved - begin;
    check_problem(context, index, worker);
    record->check_seconds = time_seconds() - solved;
}

/* As the tiles of a program, equal ones once. */
static void solve_set(SolveProblems *solve, PlaceItem *item, int threads, Arena *keep,
                      Arena scratch)
{
    PlaceRun *run = solve->run;
    bench_say(&run->flags->args, (int)(item - run->items.at), (int)run->items.len, item->name,
              "placing");
    PlaceSolution *solutions = arena_array(&scratch, PlaceSolution, item->count);
    PlaceVerdict *verdicts = arena_array(&scratch, PlaceVerdict, item->count);
    isize *problems = arena_array(&scratch, isize, item->count);
    PlaceOptions options = options_of(run->flags, item);
    double begin = time_seconds();
    item->distinct = place_problems_solve(&run->problems.at[item->first], item->count, &options,
                                          threads, keep, scratch, solutions, verdicts);
    double solved = time_seconds();
    item->solve_seconds = solved - begin;
    for (isize i = 0; i < item->count; i++) {
        problems[i] = item->first + i;
        run->records[problems[i]].solution = solutions[i];
        run->records[problems[i]].verdict = verdicts[i];
    }
    solve->problems = problems;
    parallel_for(threads, item->count, 1, check_problem, solve);
    item->check_seconds = time_seconds() - solved;
}

static void minimise_problem(void *context, isize index, int worker)
{
    SolveProblems *solve = context;
    const PlaceProblem *problem = &solve->run->problems.at[index];
    PlaceRecord *record = &solve->run->records[index];
    if (record->verdict.outcome != PLACE_PLACED || record->failure != NULL) {
        return;
    }
    Worker *own = &solve->workers[worker];
    isize count = problem->requests.len; /* equal problems of a set share their solution */
    PlaceSolution least = {.address = arena_array(&own->keep, uint32_t, count),
                           .stride = arena_array(&own->keep, uint32_t, count)};
    place_solution_copy(problem, &record->solution, &least);
    double begin = time_seconds();
    place_minimum(problem, solve->run->flags->nodes_max, own->scratch, &least, &record->minimum);
    record->minimum_seconds = time_seconds() - begin;
    record->has_minimum = true;
    record->solution = least;
    PlaceProblem shrunk = *problem;
    if (shrunk.range_count > 0) {
        shrunk.ranges[shrunk.range_count - 1].end = record->minimum.end;
    }
    Error err = {0};
    if (!place_problem_check(&shrunk, &least, own->scratch, &err)) {
        fail(record, &err, &own->keep);
    }
}

/* False when an answer is not true. */
static bool are_all_true(const PlaceRun *run, Error *err)
{
    for (isize i = 0; i < run->problems.len; i++) {
        const PlaceRecord *record = &run->records[i];
        if (record->failure != NULL) {
            const PlaceItem *item = &run->items.at[record->item];
            *err = *record->failure;
            err->code = (ErrorCode)EXIT_BUG; /* of the solver or of the checker */
            return error_context(err, "%.*s: problem %td", STR_ARG(item->name), i - item->first);
        }
    }
    return true;
}

static bool solve_all(PlaceRun *run, const PlaceFlags *f, Arena *keep, Arena scratch, Error *err)
{
    isize count = run->problems.len, alone = 0;
    int threads = (int)min_i64(thread_count((int)f->args.threads), count);
    isize *problems = arena_array(keep, isize, count); /* that are no set's */
    run->records = arena_array(keep, PlaceRecord, count);
    for (int i = 0; i < run->items.len; i++) {
        const PlaceItem *item = &run->items.at[i];
        for (isize k = item->first; k < item->first + item->count; k++) {
            run->records[k].item = i;
            if (!bench_place_is_set(item)) {
                problems[alone++] = k;
            }
        }
    }
    SolveProblems solve = {
        .run = run, .workers = arena_array(keep, Worker, threads), .problems = problems};
    for (int i = 0; i < threads; i++) {
        solve.workers[i] = (Worker){.keep = arena_create((isize)1 << WORKER_KEEP_BYTES_LOG2),
                                    .scratch = arena_create((isize)1 << WORKER_SCRATCH_BYTES_LOG2)};
    }
    parallel_for(threads, alone, 1, solve_problem, &solve);
    for (isize i = 0; i < run->items.len; i++) {
        if (bench_place_is_set(&run->items.at[i])) {
            solve_set(&solve, &run->items.at[i], threads, keep, scratch);
        }
    }
    if (f->is_minimum) {
        parallel_for(threads, count, 1, minimise_problem, &solve);
    }
    return are_all_true(run, err);
}

/* --- the command ---------------------------------------------------------------------------------------- */

static void print_answers(Writer *out, const PlaceFlags *f, const PlaceRun *run, Arena scratch)
{
    void (*const print[])(Writer *, const PlaceRun *,
                          Arena) = {[FORM_TABLE] = bench_place_table,
                                    [FORM_JSON] = bench_place_json,
                                    [FORM_MARKDOWN] = bench_place_markdown};
    (f->is_printed ? bench_place_text : print[f->args.form])(out, run, scratch);
}

static int worst_code(const PlaceRun *run)
{
    for (isize i = 0; i < run->problems.len; i++) {
        if (run->records[i].verdict.outcome != PLACE_PLACED) {
            return ERROR_NO;
        }
    }
    return ERROR_NONE;
}

int bench_place(int argc, char **argv)
{
    PlaceFlags f = {0};
    int done = 0;
    if (!cli_parse(argc, argv, "[PROBLEM...] [OPTIONS]",
                   "Solves placement problems and checks every answer. PROBLEM is a file "
                   "(docs/place.md), a CSV of minimalloc\n(*.csv) or a name of the corpus or of "
                   "generated problems (--list); without one, all of these.\n"
                   "Exit code 0: all are placed; 1: one is impossible, or was given up; 2: bad "
                   "input or usage.\n--list, --print, --json and --markdown exclude each "
                   "other;\n--explain goes with a "
                   "table or --json.",
                   flags, sizeof flags / sizeof *flags, take, &f, &done)) {
        return done;
    }
    Error err = {0};
    if (!check_flags(&f, &err)) {
        return cli_fail(&err);
    }
    Arena keep = arena_create((isize)1 << KEEP_BYTES_LOG2);
    Arena scratch = arena_create((isize)1 << KEEP_BYTES_LOG2);
    Writer out = writer_file(1, &keep);
    PlaceRun run = {.flags = &f};
    if (f.args.is_listed) {
        bench_print_list(&out, &place_corpus);
    } else if (!bench_place_read(&run, &f, &keep, scratch, &err) ||
               !solve_all(&run, &f, &keep, scratch, &err)) {
        return cli_fail(&err);
    } else {
        print_answers(&out, &f, &run, scratch);
    }
    return cli_flush(&out, &err) ? worst_code(&run) : cli_fail(&err);
}
