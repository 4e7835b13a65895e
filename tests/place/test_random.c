/* Random problems with everything a problem can have: what is placed passes the check, what is called impossible has a certificate
 * that the independent check accepts, and of small ones exhaustive search over all addresses says the same.
 *
 * PLACE_PROBLEMS of them (a few thousand; `make full` runs 100,000), problem k from seed TEST_SEED + k; one of ten is of 20 to 60
 * requests and too large to be searched exhaustively.
 */
#include "random_problem.h"

enum { PROBLEMS = 3000, SMALL_NODES = 100 * 1000, MIDDLE_NODES = 2000, PLACEMENTS = 3000 };

typedef struct Counts {
    int64_t minima, minima_proved;
    int64_t problems, fit, placed, impossible, gave_up, gave_up_fits, gave_up_plain;
    int64_t wishful, broken, broken_least; /* placed with wishes, and weights of broken ones */
} Counts;

static Arena keep, scratch;

static int64_t problems_asked(void)
{
    const char *text = getenv("PLACE_PROBLEMS");
    int64_t given;
    return text != NULL && str_to_int(str_of(text), &given) ? given : PROBLEMS;
}

/* Prints the problem and ends the program. */
static _Noreturn void fail(uint64_t seed, const PlaceProblem *problem,
                           const PlaceSolution *solution, const char *what, const char *why)
{
    Writer writer = writer_buffer(&scratch);
    place_problem_print(&writer, problem, solution);
    Str text = writer_text(&writer);
    fprintf(stderr, "seed %" PRIu64 ": %s: %s\n%.*s", seed, what, why, STR_ARG(text));
    exit(1);
}

static void check_text(uint64_t seed, const PlaceProblem *problem)
{
    Arena arena = scratch;
    Error err = {0};
    Writer first = writer_buffer(&arena), second = writer_buffer(&arena);
    place_problem_print(&first, problem, NULL);
    PlaceProblemVec parsed = {0};
    if (!place_problem_parse(writer_text(&first), &arena, &parsed, &err)) {
        fail(seed, problem, NULL, err.where, err.message);
    }
    place_problem_print(&second, &parsed.at[0], NULL);
    CHECK_STR(writer_text(&second), writer_text(&first));
}

static PlaceOutcome solve(uint64_t seed, const PlaceProblem *problem, int64_t nodes,
                          int64_t *broken, Arena *arena)
{
    PlaceSolution solution;
    PlaceVerdict verdict;
    PlaceOptions options = {.nodes_max = nodes, .is_proof_wanted = true};
    Error err = {0};
    PlaceOutcome outcome =
        place_problem_solve(problem, &options, arena, scratch, &solution, &verdict);
    CHECK_EQ_INT(verdict.outcome, outcome);
    if (outcome == PLACE_PLACED && !place_problem_check(problem, &solution, scratch, &err)) {
        fail(seed, problem, &solution, "placed", err.message);
    }
    *broken = verdict.broken_weight;
    CHECK_EQ_INT(*broken,
                 outcome == PLACE_PLACED ? random_broken_weight(problem, &solution, scratch) : 0);
    if (outcome == PLACE_IMPOSSIBLE &&
        !place_certificate_check(problem, &verdict.certificate, &err)) {
        fail(seed, problem, NULL, "impossible", err.message);
    }
    return outcome;
}

static void count_outcome(Counts *counts, PlaceOutcome outcome)
{
    counts->problems++;
    counts->placed += outcome == PLACE_PLACED;
    counts->impossible += outcome == PLACE_IMPOSSIBLE;
    counts->gave_up += outcome == PLACE_GAVE_UP;
}

/* The least end is one, and where it is proved no less is enough. */
static void check_minimum(uint64_t seed, const PlaceProblem *problem, Arena arena, Counts *counts)
{
    Arena other = arena_split(&arena, (arena.end - arena.at) / 2);
    PlaceSolution solution;
    PlaceVerdict verdict;
    PlaceMinimum minimum;
    Error err = {0};
    PlaceOptions options = {.nodes_max = SMALL_NODES};
    (void)place_problem_solve(problem, &options, &arena, scratch, &solution, &verdict);
    place_minimum(problem, SMALL_NODES, scratch, &solution, &minimum);
    PlaceProblem shrunk = *problem;
    uint32_t *end = &shrunk.ranges[shrunk.range_count - 1].end;
    *end = minimum.end;
    if (!place_problem_check(&shrunk, &solution, scratch, &err)) {
        fail(seed, problem, &solution, "a least end", err.message);
    }
    counts->minima++;
    if (minimum.end == minimum.proved_end) {
        counts->minima_proved++;
        bool is_empty = *end == shrunk.ranges[shrunk.range_count - 1].begin;
        *end -= is_empty ? 0 : 1; /* whatever the grain is */
        if (!is_empty && least_broken_weight(&shrunk, 1, other) >= 0) {
            fail(seed, problem, &solution, "a least end", "but less is enough");
        }
    }
}

static void run_small(uint64_t seed, Counts *counts)
{
    Arena arena = keep;
    Dice dice = {random_u64(seed, 0), 0};
    RandomShape shape = {.requests = (int32_t)roll(&dice, 1, 6),
                         .steps = (int32_t)roll(&dice, 1, 4),
                         .range_bytes = roll_bytes(&dice, 6, 16),
                         .bytes = roll_bytes(&dice, 2, 8),
                         .given = 12,
                         .has_donations = roll_one_of(&dice, 2),
                         .has_wishes = roll_one_of(&dice, 2)};
    PlaceProblem problem = random_problem(seed, shape, &arena);
    check_text(seed, &problem);
    int64_t broken;
    PlaceOutcome outcome = solve(seed, &problem, SMALL_NODES, &broken, &arena);
    int64_t least = least_broken_weight(&problem, broken > 0 ? PLACEMENTS : 1, scratch);
    bool fits = least >= 0;
    if (fits && outcome == PLACE_IMPOSSIBLE) {
        fail(seed, &problem, NULL, "impossible", "but it fits");
    }
    if (!fits && outcome == PLACE_PLACED) {
        fail(seed, &problem, NULL, "placed", "but it does not fit");
    }
    count_outcome(counts, outcome);
    counts->fit += fits;
    if (outcome == PLACE_PLACED && seed % 4 == 0) {
        check_minimum(seed, &problem, arena, counts);
    }
    if (outcome == PLACE_PLACED) {
        counts->wishful += problem.wishes.len > 0;
        counts->broken += broken;
        counts->broken_least += broken > 0 ? least : 0;
    }
    if (outcome == PLACE_GAVE_UP) {
        counts->gave_up_fits += fits;
        counts->gave_up_plain += problem.donations.len == 0;
    }
}

static void run_middle(uint64_t seed, Counts *counts)
{
    Arena arena = keep;
    Dice dice = {random_u64(seed, 0), 0};
    RandomShape shape = {.requests = (int32_t)roll(&dice, 20, 60),
                         .steps = (int32_t)roll(&dice, 8, 60),
                         .range_bytes = roll_bytes(&dice, 60, 200),
                         .bytes = roll_bytes(&dice, 4, 30),
                         .given = 200,
                         .has_donations = roll_one_of(&dice, 2),
                         .has_wishes = roll_one_of(&dice, 2)};
    PlaceProblem problem = random_problem(seed, shape, &arena);
    check_text(seed, &problem);
    int64_t broken;
    count_outcome(counts, solve(seed, &problem, MIDDLE_NODES, &broken, &arena));
    counts->broken += broken;
}

static void agrees(void)
{
    uint64_t seed = test_seed(2026);
    int64_t problems = problems_asked();
    Counts small = {0}, middle = {0};
    double begin = time_seconds();
    for (int64_t k = 0; k < problems; k++) {
        if (k % 10 == 9) {
            run_middle(seed + (uint64_t)k, &middle);
        } else {
            run_small(seed + (uint64_t)k, &small);
        }
    }
    fprintf(stderr,
            "seeds %" PRIu64 "..%" PRIu64 ", %.1f s\n"
            "small: %" PRId64 ", of them %" PRId64 " fit: %" PRId64 " placed, %" PRId64
            " impossible, %" PRId64 " given up (%" PRId64 " fit, %" PRId64 " have no donations)\n"
            "  %" PRId64 " least ends, %" PRId64 " proved\n"
            "  %" PRId64 " placed with wishes: broken weight %" PRId64 ", best known %" PRId64 "\n"
            "middle: %" PRId64 ": %" PRId64 " placed, %" PRId64 " impossible, %" PRId64
            " given up; broken weight %" PRId64 "\n",
            seed, seed + (uint64_t)problems - 1, time_seconds() - begin, small.problems, small.fit,
            small.placed, small.impossible, small.gave_up, small.gave_up_fits, small.gave_up_plain,
            small.minima, small.minima_proved, small.wishful, small.broken, small.broken_least,
            middle.problems, middle.placed, middle.impossible, middle.gave_up, middle.broken);
    CHECK_EQ_INT(small.gave_up_plain, 0); /* the search is complete but for operations in place */
    CHECK(problems < 100 || small.minima_proved > small.minima / 2);
    CHECK(small.broken <= 2 * small.broken_least + 10);
    CHECK(problems < 100 || (small.placed > small.problems / 4 && middle.placed > 0 &&
                             small.impossible > small.problems / 10 && middle.impossible > 0));
}

static void setup(void)
{
    keep = arena_create((isize)1 << 30);
    scratch = arena_create((isize)1 << 32);
}

TEST_MAIN(setup, agrees)
