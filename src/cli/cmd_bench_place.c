/* `tessera bench place`: placement problems of files or of the corpus bench/place, each solved and checked (docs/place.md). */
#include "cli/bench_place.h"

enum {
    FILE_BYTES_MAX = 1 << 28,
    KEEP_BYTES_LOG2 = 36,
    WORKER_KEEP_BYTES_LOG2 = 32,
    WORKER_SCRATCH_BYTES_LOG2 = 33,
};
#define NODES_LIMIT 1000000000000 /* of --nodes */

static const BenchCorpus corpus = {"minimalloc-", place_files, &place_file_count};

typedef struct PlaceFlags {
    BenchArgs args;
    int64_t nodes_max, capacity; /* 0: not given */
    bool is_printed;
} PlaceFlags;

enum { FLAG_NODES = BENCH_FLAG_COUNT, FLAG_CAPACITY, FLAG_PRINT };

static const Flag flags[] = {
    BENCH_FLAGS,
    [FLAG_NODES] = {"--nodes", "N", "nodes that the search of a problem may take"},
    [FLAG_CAPACITY] = {"--capacity", "N", "bytes of a CSV (default: the number in its file name)"},
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
    return bench_check_args(&f->args, f->is_printed ? "--print" : NULL, err) &&
           bench_exclude(list, f->nodes_max > 0 ? "--nodes" : NULL, err) &&
           bench_exclude(list, f->capacity > 0 ? "--capacity" : NULL, err);
}

/* --- reading -------------------------------------------------------------------------------------------- */

/* What was asked for, or the number between the last two dots of NAME.NUMBER.csv. */
static bool capacity_of(const PlaceFlags *f, Str file, uint32_t *out, Error *err)
{
    Str name = str_slice(file, str_folder_len(file), file.len - S(".csv").len), number = name;
    while (str_find(number, '.', 0) >= 0) {
        (void)str_cut(&number, '.');
    }
    int64_t capacity = f->capacity;
    if (capacity == 0 && (number.len == name.len || !str_to_int(number, &capacity))) {
        capacity = 0;
    }
    *out = (uint32_t)capacity;
    return (capacity >= 1 && capacity <= UINT32_MAX) ||
           error_set(err, ERROR_INPUT, NULL,
                     "expected a capacity of 1 to %u bytes: --capacity N, or a file name like "
                     "A.1048576.csv",
                     UINT32_MAX);
}

/* Appends the problems of a file or of the corpus. */
static bool read_item(PlaceRun *run, const PlaceFlags *f, const char *item, bool *is_csv,
                      Arena *keep, Arena scratch, Error *err)
{
    Str text;
    if (!bench_read(&corpus, item, FILE_BYTES_MAX, &scratch, &text, err)) {
        return false;
    }
    const CorpusFile *known = bench_find(&corpus, item);
    Str file = str_of(known != NULL ? known->name : item);
    PlaceItem *out = vec_push(&run->items, keep);
    *out = (PlaceItem){.first = run->problems.len};
    *is_csv = str_ends(file, S(".csv"));
    if (*is_csv) {
        uint32_t capacity;
        PlaceProblem problem;
        if (!capacity_of(f, file, &capacity, err) ||
            !place_csv_parse(text, capacity, keep, scratch, &problem, err)) {
            return error_context(err, "%s", item);
        }
        out->name = bench_name(item, ".csv", keep);
        problem.name = out->name;
        *vec_push(&run->problems, keep) = problem;
    } else {
        PlaceProblemVec problems;
        if (!place_problem_parse(text, keep, &problems, err)) {
            return error_context(err, "%s", item);
        }
        out->name = bench_name(item, ".place", keep);
        for (isize i = 0; i < problems.len; i++) {
            *vec_push(&run->problems, keep) = problems.at[i];
        }
    }
    out->count = run->problems.len - out->first;
    return true;
}

/* Everything, before anything is solved. */
static bool read_all(PlaceRun *run, const PlaceFlags *f, Arena *keep, Arena scratch, Error *err)
{
    bool has_csv = false;
    for (int i = 0; i < bench_item_count(&f->args, &corpus); i++) {
        const char *item = bench_item(&f->args, &corpus, i, keep);
        bool is_csv;
        if (!read_item(run, f, item, &is_csv, keep, scratch, err)) {
            return false;
        }
        has_csv = has_csv || is_csv;
    }
    return has_csv || f->capacity == 0 ||
           error_set(err, ERROR_INPUT, NULL, "option --capacity: no problem is a CSV");
}

/* --- solving -------------------------------------------------------------------------------------------- */

typedef struct Worker {
    Arena keep, scratch;
} Worker;

typedef struct SolveProblems {
    const PlaceFlags *flags;
    PlaceRun *run;
    Worker *workers;
} SolveProblems;

/* Is the answer true, whichever it is? */
static bool check_answer(const PlaceProblem *problem, const PlaceRecord *record, Arena scratch,
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

static void solve_problem(void *context, isize index, int worker)
{
    SolveProblems *solve = context;
    const PlaceFlags *f = solve->flags;
    PlaceRun *run = solve->run;
    PlaceRecord *record = &run->records[index];
    const PlaceProblem *problem = &run->problems.at[index];
    const PlaceItem *item = &run->items.at[record->item];
    if (index == item->first) {
        bench_say(&f->args, record->item, (int)run->items.len, item->name, "placing");
    }
    Worker *own = &solve->workers[worker];
    Arena vanishing = own->keep;
    Arena *keep = f->is_printed ? &own->keep : &vanishing;
    PlaceOptions options = {.nodes_max = f->nodes_max};
    double begin = time_seconds();
    place_problem_solve(problem, &options, keep, own->scratch, &record->solution, &record->verdict);
    double solved = time_seconds();
    record->solve_seconds = solved - begin;
    Error err = {0};
    if (!check_answer(problem, record, own->scratch, &err)) {
        Error *failure = arena_new(&own->keep, Error);
        *failure = err;
        record->failure = failure;
    }
    record->check_seconds = time_seconds() - solved;
}

/* False when an answer is not true. */
static bool solve_all(PlaceRun *run, const PlaceFlags *f, Arena *keep, Error *err)
{
    isize count = run->problems.len;
    int threads = (int)min_i64(thread_count((int)f->args.threads), count);
    run->records = arena_array(keep, PlaceRecord, count);
    for (int i = 0; i < run->items.len; i++) {
        for (isize k = 0; k < run->items.at[i].count; k++) {
            run->records[run->items.at[i].first + k].item = i;
        }
    }
    SolveProblems solve = {.flags = f, .run = run, .workers = arena_array(keep, Worker, threads)};
    for (int i = 0; i < threads; i++) {
        solve.workers[i] = (Worker){.keep = arena_create((isize)1 << WORKER_KEEP_BYTES_LOG2),
                                    .scratch = arena_create((isize)1 << WORKER_SCRATCH_BYTES_LOG2)};
    }
    parallel_for(threads, count, 1, solve_problem, &solve);
    for (isize i = 0; i < count; i++) {
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
                   "(docs/place.md), a CSV of minimalloc\n(*.csv) or a name of the corpus "
                   "(--list); without one, the whole corpus.",
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
    PlaceRun run = {0};
    if (f.args.is_listed) {
        bench_print_list(&out, &corpus);
    } else if (!read_all(&run, &f, &keep, scratch, &err) || !solve_all(&run, &f, &keep, &err)) {
        return cli_fail(&err);
    } else {
        print_answers(&out, &f, &run, scratch);
    }
    return cli_flush(&out, &err) ? worst_code(&run) : cli_fail(&err);
}
