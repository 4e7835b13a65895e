/* Random exchange phases from end to end: hostile problems are solved, pass exchange_check, decode to the rows that their messages
 * ask for (wanted_rows.h), and run on the machine deliver what a plain copy delivers, and change nothing else (phase_bench.h).
 *
 * EXCHANGE_PHASES phases (a few hundred; `make full` runs 10,000), problem k from seed TEST_SEED + k: nine of ten with 2..16 tiles, nine of a
 * hundred with up to 256, one of a hundred with the whole chip. All problems run in one child process, so that also one that
 * aborts or hangs ends here: as a smaller problem that still fails, with what reproduces it.
 */
#include "hostile.h"
#include "machine/phase_bench.h"
#include "serial.h"
#include "test.h"
#include "wanted_rows.h"
#include <sys/wait.h>
#include <unistd.h>

/* What the solver and the machine can do by now; EXCHANGE_FEATURES overrides it. */
enum { FEATURES = HOSTILE_ALL };

enum { PHASES = 300 };

enum { SECONDS_MAX = 200, SHRINK_SECONDS_MAX = 20, SHRINK_ATTEMPTS = 600 };

/* A problem, how it is to be solved, and from what seed. */
typedef struct Case {
    uint64_t seed;
    ExchangeProblem problem;
    ExchangeOptions options;
} Case;

/* Shared with the child. */
typedef struct Progress {
    uint64_t seed; /* of the current problem */
    int64_t problems, phases, transfers, messages, paired, words, patches, moving_rows;
    char message[1200];
} Progress;

static Arena keep, scratch;
static Progress *progress;
static uint32_t features = FEATURES;

static int64_t number_from(const char *name, int64_t otherwise)
{
    const char *text = getenv(name);
    int64_t given;
    return text != NULL && str_to_int(str_of(text), &given) ? given : otherwise;
}

/* --- one problem ---------------------------------------------------------------------------------------------------- */

static Case case_random(uint64_t seed, Arena *arena)
{
    Dice dice = {random_u64(seed, 1), 0}; /* other draws than the problem's */
    int kind = dice_below(&dice, 100), few = dice_below(&dice, 10);
    HostileShape shape = {.tiles = 2 + dice_below(&dice, 15),
                          .transfers = 64,
                          .phases = few < 7   ? 1
                                    : few < 9 ? 2
                                              : 3,
                          .features = features};
    if (kind >= 90) {
        shape.tiles = 17 + dice_below(&dice, 240);
        shape.transfers = 400;
    }
    if (kind == 99) {
        shape.tiles = CHIP_TILES;
        shape.transfers = 4000;
        shape.phases = 1;
    }
    static const int32_t streams[] = {0, 0, 0, 16, 64, 256, 1024};
    ExchangeOptions options = {.threads = 1 + dice_below(&dice, 3),
                               .is_compact = dice_below(&dice, 4) == 0,
                               .stream_words = streams[dice_below(&dice, 7)],
                               .width = (ExchangeWidth)dice_below(&dice, 3)};
    return (Case){seed, hostile_random(seed, shape, arena), options};
}

static bool check_width(const Case *c, const Schedule *schedule, Error *err)
{
    for (isize i = 0; i < schedule->messages.len; i++) {
        progress->paired += schedule->messages.at[i].is_paired;
        if (schedule->messages.at[i].is_paired && c->options.width == EXCHANGE_WIDTH_ORDINARY) {
            return error_set(err, ERROR_NO, NULL, "a paired message, and ordinary ones were asked");
        }
    }
    return true;
}

static bool case_run(const Case *c, PhaseBench *bench, Error *err)
{
    Arena out = keep;
    Schedule schedule;
    const char *why = hostile_problem_refuses(&c->problem);
    if (why != NULL) {
        return error_set(err, ERROR_NO, NULL, "the generator makes illegal problems: %s", why);
    }
    if (!exchange_solve(&c->problem, &c->options, &out, scratch, &schedule, err)) {
        return error_context(err, "exchange_solve");
    }
    if (!exchange_check(&c->problem, &schedule, c->options.threads, scratch, err)) {
        return error_context(err, "exchange_check");
    }
    if (!check_width(c, &schedule, err)) {
        return false;
    }
    for (int32_t i = 0; i < c->problem.phases.len; i++) {
        if (!wanted_phase(&c->problem, &schedule, i, (features & HOSTILE_OMITS) != 0, scratch,
                          err)) {
            return false;
        }
    }
    progress->messages += schedule.messages.len;
    progress->patches += schedule.patches.len;
    for (isize i = 0; i < schedule.rows.len; i++) {
        progress->moving_rows += schedule.rows.at[i].move != 0;
    }
    return phase_bench_run(bench, &c->problem, &schedule, c->seed, scratch, err);
}

static _Noreturn void leave_child(bool ok, const Error *err)
{
    if (!ok) {
        (void)snprintf(progress->message, sizeof progress->message, "%s%s%s", err->where,
                       err->where[0] != 0 ? ": " : "", err->message);
    }
    fflush(NULL);
    _exit(ok ? 0 : 1);
}

/* --- a failure made small ------------------------------------------------------------------------------------------- */

/* Runs a problem in a process of its own. */
static bool case_fails(const Case *c, bool is_loud)
{
    fflush(NULL);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        Error err = {0};
        if (!is_loud) {
            CHECK(freopen("/dev/null", "w", stderr) != NULL);
        }
        (void)alarm(SHRINK_SECONDS_MAX);
        leave_child(case_run(c, phase_bench_create(), &err), &err);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    return status != 0;
}

/* The problem without transfers first..first + count - 1. */
static ExchangeProblem without(const ExchangeProblem *problem, int32_t first, int32_t count,
                               Arena *arena)
{
    ExchangeProblem less = *problem;
    less.transfers = (ExchangeTransferVec){0};
    less.phases = (ExchangePhaseVec){0};
    for (isize p = 0; p < problem->phases.len; p++) {
        ExchangePhase phase = problem->phases.at[p];
        int32_t begin = phase.transfer_first, end = begin + phase.transfer_count;
        phase.transfer_first = (int32_t)less.transfers.len;
        for (int32_t i = begin; i < end; i++) {
            if (i < first || i >= first + count) {
                *vec_push(&less.transfers, arena) = problem->transfers.at[i];
            }
        }
        phase.transfer_count = (int32_t)less.transfers.len - phase.transfer_first;
        *vec_push(&less.phases, arena) = phase;
    }
    return less;
}

/* Keeps a smaller case when it is legal and still fails. */
static bool keeps(Case *c, Case less, int *attempts)
{
    if (*attempts == 0 || less.problem.transfers.len == 0 ||
        hostile_problem_refuses(&less.problem) != NULL) {
        return false;
    }
    --*attempts;
    if (!case_fails(&less, false)) {
        return false;
    }
    *c = less;
    return true;
}

/* Takes transfers away: halves, quarters, ..., single ones. */
static void shrink_list(Case *c, int *attempts, Arena *arena)
{
    for (int32_t step = (int32_t)c->problem.transfers.len / 2; step > 0; step /= 2) {
        for (int32_t first = 0; first < c->problem.transfers.len;) {
            Case less = *c;
            less.problem = without(&c->problem, first, step, arena);
            first += keeps(c, less, attempts) ? 0 : step;
        }
    }
}

static ExchangeTransfer *own_transfer(Case *c, int32_t index, Arena *arena)
{
    c->problem = without(&c->problem, INT32_MAX / 2, 0, arena); /* a copy */
    return &c->problem.transfers.at[index];
}

/* Fewer receivers and words, no move, of every transfer. */
static void shrink_transfer(Case *c, int32_t index, int *attempts, Arena *arena)
{
    Case less = *c;
    own_transfer(&less, index, arena)->move = 0;
    if (c->problem.transfers.at[index].move != 0) {
        (void)keeps(c, less, attempts);
    }
    for (int32_t k = 0; k < 2 * HOSTILE_RECEIVERS_MAX; k++) { /* the first or the last */
        less = *c;
        ExchangeTransfer *t = own_transfer(&less, index, arena);
        t->receiver_first += 1 - k % 2;
        if (--t->receiver_count == 0) {
            break;
        }
        (void)keeps(c, less, attempts);
    }
    for (uint32_t words = 1; words < c->problem.transfers.at[index].words; words *= 2) {
        less = *c;
        own_transfer(&less, index, arena)->words = words;
        if (keeps(c, less, attempts)) {
            break;
        }
    }
}

/* Plain options, and only phases that have transfers. */
static void shrink_options(Case *c, int *attempts, Arena *arena)
{
    Case less = *c;
    less.options = (ExchangeOptions){.threads = 1, .width = c->options.width};
    (void)keeps(c, less, attempts);
    less = *c;
    less.options.width = EXCHANGE_WIDTH_AUTO;
    (void)keeps(c, less, attempts);
    less = *c;
    less.problem.phases = (ExchangePhaseVec){0};
    for (isize i = 0; i < c->problem.phases.len; i++) {
        if (c->problem.phases.at[i].transfer_count > 0) {
            *vec_push(&less.problem.phases, arena) = c->problem.phases.at[i];
        }
    }
    (void)keeps(c, less, attempts);
}

static void shrink(Case *c, Arena *arena)
{
    int attempts = SHRINK_ATTEMPTS;
    shrink_list(c, &attempts, arena);
    for (int32_t i = 0; i < c->problem.transfers.len; i++) {
        shrink_transfer(c, i, &attempts, arena);
    }
    shrink_list(c, &attempts, arena);
    shrink_options(c, &attempts, arena);
}

static void print_case(const Case *c, Arena *arena)
{
    Writer writer = writer_buffer(arena);
    exchange_print(&writer, &c->problem, NULL);
    fprintf(stderr, "%.*s", STR_ARG(writer_text(&writer)));
    for (isize i = 0; i < c->problem.phases.len; i++) {
        fprintf(stderr, "# phase %td: %d iterations\n", i, c->problem.phases.at[i].iterations);
    }
    for (isize i = 0; i < c->problem.transfers.len; i++) {
        if (c->problem.transfers.at[i].move != 0) {
            fprintf(stderr, "# transfer %td has move %d\n", i, c->problem.transfers.at[i].move);
        }
    }
    for (isize i = 1; i < c->problem.moves.len; i++) {
        fprintf(stderr, "# move %td:", i);
        for (int32_t k = 0; k < c->problem.moves.at[i].count; k++) {
            fprintf(stderr, " %d", move_offset(&c->problem, (int32_t)i, k));
        }
        fprintf(stderr, "\n");
    }
    fprintf(stderr, "# options: threads %d, compact %d, stream words %d, width %d\n",
            c->options.threads, c->options.is_compact, c->options.stream_words,
            (int)c->options.width);
}

static void report_failure(int status)
{
    uint64_t seed = progress->seed;
    Arena arena = keep;
    fprintf(stderr, "problem of seed %" PRIu64 " fails (status %d): %s\n", seed, status,
            progress->message);
    fprintf(stderr,
            "to see it again: TEST_SEED=%" PRIu64 " EXCHANGE_PHASES=1 "
            "EXCHANGE_FEATURES=%u tests/exchange/test_random of the build directory\n",
            seed, features);
    Case c = case_random(seed, &arena);
    keep = arena; /* what follows is allocated behind the problem */
    Arena more = arena_create((isize)1 << 32);
    if (!case_fails(&c, false)) {
        fprintf(stderr, "alone it does not fail\n");
        return;
    }
    shrink(&c, &more);
    progress->message[0] = 0;
    fprintf(stderr, "what is left of it:\n");
    (void)case_fails(&c, true);
    fprintf(stderr, "%s\n", progress->message);
    print_case(&c, &more);
}

/* --- the generator -------------------------------------------------------------------------------------------------- */

/* What of a problem makes it hard. */
typedef struct Kinds {
    int64_t transfers, multicasts, pairable, loopbacks, own_pairs, moving, reads_written,
        overwrites, pointers_go_on, sources_go_on, long_messages;
} Kinds;

static bool ranges_meet(uint32_t a, uint32_t b, uint32_t a_words, uint32_t b_words)
{
    return a < b + 4 * b_words && b < a + 4 * a_words;
}

/* Of transfer `i` with a later one of its phase; without regard to moves. */
static void count_pair_of(const ExchangeProblem *problem, const ExchangeTransfer *a,
                          const ExchangeTransfer *b, Kinds *kinds)
{
    kinds->sources_go_on += a->source.id == b->source.id && b->address == a->address + 4 * a->words;
    for (int32_t k = 0; k < a->receiver_count; k++) {
        const ExchangeReceiver *to = &problem->receivers.at[a->receiver_first + k];
        kinds->reads_written +=
            to->tile.id == b->source.id && ranges_meet(to->address, b->address, a->words, b->words);
        for (int32_t n = 0; n < b->receiver_count; n++) {
            const ExchangeReceiver *next = &problem->receivers.at[b->receiver_first + n];
            if (next->tile.id == to->tile.id) {
                kinds->overwrites += ranges_meet(to->address, next->address, a->words, b->words);
                kinds->pointers_go_on += next->address == to->address + 4 * a->words;
            }
        }
    }
}

static void count_kinds(const ExchangeProblem *problem, Kinds *kinds)
{
    for (isize p = 0; p < problem->phases.len; p++) {
        int32_t first = problem->phases.at[p].transfer_first;
        int32_t end = first + problem->phases.at[p].transfer_count;
        for (int32_t i = first; i < end; i++) {
            const ExchangeTransfer *t = &problem->transfers.at[i];
            bool is_loop = false;
            for (int32_t k = 0; k < t->receiver_count; k++) {
                is_loop |= problem->receivers.at[t->receiver_first + k].tile.id == t->source.id;
            }
            kinds->transfers++;
            kinds->multicasts += t->receiver_count > 1;
            kinds->pairable += transfer_may_pair(problem, t);
            kinds->loopbacks += is_loop;
            kinds->own_pairs += is_loop && transfer_may_pair(problem, t);
            kinds->moving += t->move != 0;
            kinds->long_messages += t->words > 1000;
            for (int32_t later = i + 1; later < end && later < i + 64; later++) {
                count_pair_of(problem, t, &problem->transfers.at[later], kinds);
            }
        }
    }
}

/* Problems with everything are legal, and everything is frequent in them; without features nothing of them is left. */
static void generates_every_kind(void)
{
    uint64_t seed = test_seed(2026);
    Kinds all = {0}, plain = {0};
    for (uint64_t k = 0; k < 200; k++) {
        Arena arena = keep;
        HostileShape shape = {
            .tiles = 2 + (int)(k % 15), .transfers = 64, .phases = 1, .features = HOSTILE_ALL};
        ExchangeProblem problem = hostile_random(seed + k, shape, &arena);
        const char *why = hostile_problem_refuses(&problem);
        CHECK_CSTR(why == NULL ? "" : why, "");
        count_kinds(&problem, &all);
        shape.features = HOSTILE_PLAIN;
        problem = hostile_random(seed + k, shape, &arena);
        why = hostile_problem_refuses(&problem);
        CHECK_CSTR(why == NULL ? "" : why, "");
        count_kinds(&problem, &plain);
    }
    fprintf(stderr,
            "%" PRId64 " transfers: %" PRId64 " multicasts, %" PRId64 " pairable, %" PRId64
            " loopbacks, %" PRId64 " of them pairable, %" PRId64 " moving, %" PRId64
            " read what one writes, %" PRId64 " overwrite, %" PRId64 " pointers go on, %" PRId64
            " sources go on, %" PRId64 " long\n",
            all.transfers, all.multicasts, all.pairable, all.loopbacks, all.own_pairs, all.moving,
            all.reads_written, all.overwrites, all.pointers_go_on, all.sources_go_on,
            all.long_messages);
    CHECK(all.multicasts * 5 > all.transfers);
    CHECK(all.pairable * 5 > all.transfers);
    CHECK(all.loopbacks * 20 > all.transfers);
    CHECK(all.own_pairs * 50 > all.transfers);
    CHECK(all.moving * 20 > all.transfers);
    CHECK(all.reads_written * 20 > all.transfers);
    CHECK(all.overwrites * 20 > all.transfers);
    CHECK(all.pointers_go_on * 20 > all.transfers);
    CHECK(all.sources_go_on * 20 > all.transfers);
    CHECK(all.long_messages > 0);
    CHECK(plain.transfers > 1000);
    CHECK(plain.pairable * 10 > plain.transfers);
    CHECK_EQ_INT(plain.loopbacks + plain.moving + plain.reads_written + plain.overwrites, 0);
}

/* --- without the solver ---------------------------------------------------------------------------------------------- */

/* All kinds of transfers, one after the other in time (serial.h): rows that the rules ask for deliver what a copy delivers. */
static void runs_serial_schedules(void)
{
    uint64_t seed = test_seed(2026);
    uint32_t kinds = HOSTILE_ALL;
    int64_t problems = number_from("EXCHANGE_PHASES", PHASES) / 5;
    PhaseBench *bench = phase_bench_create();
    int64_t paired = 0, patches = 0, moving_rows = 0, cut = 0;
    for (uint64_t k = 0; (int64_t)k < problems; k++) {
        Arena arena = keep;
        HostileShape shape = {.tiles = 2 + (int)(k % 15),
                              .transfers = 48,
                              .phases = 1 + (k % 4 == 0),
                              .features = kinds};
        ExchangeProblem problem = hostile_random(seed + k, shape, &arena);
        Schedule schedule =
            serial_solve(&problem, (ExchangeWidth)(k % 3), seed + k, &arena, scratch);
        Error err = {0};
        for (int32_t i = 0; i < problem.phases.len; i++) {
            CHECK_OK(wanted_phase(&problem, &schedule, i, true, scratch, &err), err);
        }
        CHECK_OK(exchange_check(&problem, &schedule, 1, scratch, &err), err);
        CHECK_OK(phase_bench_run(bench, &problem, &schedule, seed + k, scratch, &err), err);
        for (isize i = 0; i < schedule.messages.len; i++) {
            paired += schedule.messages.at[i].is_paired;
        }
        for (isize i = 0; i < schedule.rows.len; i++) {
            moving_rows += schedule.rows.at[i].move != 0;
        }
        patches += schedule.patches.len;
        cut += schedule.messages.len - problem.transfers.len;
    }
    fprintf(stderr,
            "serial: %" PRId64 " paired messages, %" PRId64 " cuts, %" PRId64 " patches, %" PRId64
            " moving rows, %" PRId64 " words\n",
            paired, cut, patches, moving_rows, bench->words);
    CHECK(problems < 60 || (paired > 50 && cut > 50 && patches > 20 && moving_rows > 0));
    phase_bench_destroy(bench);
}

/* --- all of them ---------------------------------------------------------------------------------------------------- */

static _Noreturn void run_all(uint64_t seed, int64_t phases)
{
    Arena start = keep;
    PhaseBench *bench = phase_bench_create();
    Error err = {0};
    for (uint64_t k = 0; progress->phases < phases; k++) {
        keep = start;
        progress->seed = seed + k;
        (void)alarm(SECONDS_MAX);
        Case c = case_random(seed + k, &keep);
        if (!case_run(&c, bench, &err)) {
            leave_child(false, &err);
        }
        progress->problems++;
        progress->phases += c.problem.phases.len;
        progress->transfers += c.problem.transfers.len;
    }
    progress->words = bench->words;
    (void)alarm(SECONDS_MAX);
    bool ok = phase_bench_others(bench, &err);
    phase_bench_destroy(bench);
    leave_child(ok, &err);
}

static void random_phases(void)
{
    uint64_t seed = test_seed(2026);
    int64_t phases = number_from("EXCHANGE_PHASES", PHASES);
    features = (uint32_t)number_from("EXCHANGE_FEATURES", FEATURES);
    progress =
        mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(progress != MAP_FAILED);
    fflush(NULL);
    double begin = time_seconds();
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        run_all(seed, phases);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    if (status != 0) {
        report_failure(status);
        exit(1);
    }
    fprintf(stderr,
            "%" PRId64 " phases of %" PRId64 " problems, seeds %" PRIu64 "..%" PRIu64 ": %" PRId64
            " transfers, %" PRId64 " messages, %" PRId64 " of them paired, %" PRId64
            " moving rows, %" PRId64 " patched words; %" PRId64 " words stored; %.1f s\n",
            progress->phases, progress->problems, seed, seed + (uint64_t)progress->problems - 1,
            progress->transfers, progress->messages, progress->paired, progress->moving_rows,
            progress->patches, progress->words, time_seconds() - begin);
    CHECK(progress->phases >= phases);
}

static void setup(void)
{
    keep = arena_create((isize)1 << 32);
    scratch = arena_create((isize)1 << 34);
}

TEST_MAIN(setup, generates_every_kind, runs_serial_schedules, random_phases)
