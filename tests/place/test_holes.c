/* What keeps a request out of the holes that have bytes enough: the rules say it, of problems made by hand; and of generated ones
 * the independent check refuses every address that is tried in a hole. */
#include "place/tile.h"
#include "test.h"
#include <string.h>

static Arena keep, scratch;
static const PlaceOptions normal = {.nodes_max = 2000};

/* [0, 64) in elements of 16, [64, 128) interleaved in elements of 32, [200, 240) of the window. */
static PlaceProblem three_ranges(void)
{
    return (PlaceProblem){
        .tile = -1,
        .ranges = {{.begin = 0, .end = 64, .element_bytes = 16},
                   {.begin = 64, .end = 128, .element_bytes = 32, .is_interleaved = true},
                   {.begin = 200, .end = 240, .is_window = true}},
        .range_count = 3,
        .limit = 240};
}

/* Alive in steps 0 and 1. */
static PlaceRequest *add(PlaceProblem *problem, Arena *arena, uint32_t bytes, uint32_t address)
{
    PlaceRequest *r = vec_push(&problem->requests, arena);
    *r = (PlaceRequest){
        .bytes = bytes, .align = 1, .count = 1, .first = 0, .last = 2, .address = address};
    return r;
}

static PlaceHoles holes_of(const PlaceProblem *problem, int32_t request, Arena *arena)
{
    PlaceHoles holes;
    holes_find(problem, request, arena, scratch, &holes);
    return holes;
}

static void check_hole(const PlaceHoles *holes, int i, uint32_t begin, uint32_t end,
                       PlaceExclusion why)
{
    CHECK(i < holes->large.len);
    const PlaceHole *hole = &holes->large.at[i];
    CHECK_EQ_INT(hole->begin, begin);
    CHECK_EQ_INT(hole->end, end);
    CHECK_EQ_INT(hole->why, why);
}

static void finds_reasons(void)
{
    Arena arena = keep;
    PlaceProblem problem = three_ranges();
    add(&problem, &arena, 24, 0);
    add(&problem, &arena, 28, 100);
    PlaceRequest *failed = add(&problem, &arena, 34, PLACE_NOWHERE);
    failed->is_interleaved = true;
    *vec_push(&problem.pairs, &arena) = (PlacePair){2, 1};
    PlaceHoles holes = holes_of(&problem, 2, &arena);
    CHECK_EQ_INT(holes.large.len, 3);
    check_hole(&holes, 0, 24, 64, EXCLUDED_INTERLEAVED);
    check_hole(&holes, 1, 200, 240, EXCLUDED_INTERLEAVED);
    check_hole(&holes, 2, 64, 100, EXCLUDED_ELEMENT); /* it would end in [96, 128) */
    CHECK_EQ_INT(holes.large.at[2].partner_count, 1);
    CHECK_EQ_INT(holes.large.at[2].partners[0], 1);
    CHECK_EQ_INT(holes.large.at[2].below, -1);
    CHECK_EQ_INT(holes.large.at[2].above, 1);

    failed = &problem.requests
                  .at[2]; /* the same, not interleaved: 41 bytes are on both sides of 64 only */
    failed->is_interleaved = false;
    failed->bytes = 41;
    holes = holes_of(&problem, 2, &arena);
    CHECK_EQ_INT(holes.large.len, 1);
    check_hole(&holes, 0, 24, 100, EXCLUDED_BOUNDARY);
    CHECK_EQ_INT(holes.large.at[0].below, 0);
    CHECK_EQ_INT(holes.large.at[0].above, 1);
    CHECK_EQ_INT(holes.largest.begin, 24);
    CHECK_EQ_INT(holes.largest.end, 64);

    failed->bytes = 38; /* [24, 64) has no aligned address, and it may not use the window */
    failed->align = 32;
    holes = holes_of(&problem, 2, &arena);
    CHECK_EQ_INT(holes.large.len, 2);
    check_hole(&holes, 0, 24, 64, EXCLUDED_ALIGNMENT);
    check_hole(&holes, 1, 200, 240, EXCLUDED_WINDOW);
    CHECK_EQ_INT(holes.largest.end - holes.largest.begin,
                 36); /* [64, 100): from where it may begin */

    failed->may_use_window = true; /* it may, but it would read behind the limit */
    failed->align = 1;
    failed->tail_bytes = 3;
    failed->bytes = 40;
    problem.requests.at[0].bytes = 25;
    holes = holes_of(&problem, 2, &arena);
    CHECK_EQ_INT(holes.large.len, 2);
    check_hole(&holes, 0, 25, 100, EXCLUDED_BOUNDARY);
    check_hole(&holes, 1, 200, 240, EXCLUDED_LIMIT);

    failed->address = 190; /* in no range */
    failed->bytes = 20;
    holes = holes_of(&problem, 2, &arena);
    CHECK_EQ_INT(holes.large.len, 3);
    for (int i = 0; i < 3; i++) {
        CHECK_EQ_INT(holes.large.at[i].why, EXCLUDED_ADDRESS);
    }
}

/* Lifetimes count, and the largest hole is that of the verdict when none has bytes enough. */
static void bounds_largest(void)
{
    Arena arena = keep;
    PlaceSolution solution;
    PlaceVerdict verdict;
    PlaceProblem problem = three_ranges();
    problem.range_count = 1;
    add(&problem, &arena, 10, 0);
    add(&problem, &arena, 10, 30);
    add(&problem, &arena, 6, 50)->last = 1;
    add(&problem, &arena, 25, PLACE_NOWHERE)->first = 1; /* [40, 64): one byte too little */
    CHECK_EQ_INT(place_problem_solve(&problem, &normal, &arena, scratch, &solution, &verdict),
                 PLACE_GAVE_UP);
    CHECK_EQ_INT(verdict.request, 3);
    PlaceHoles holes = holes_of(&problem, 3, &arena);
    CHECK_EQ_INT(holes.large.len, 0);
    CHECK_EQ_INT(holes.largest.begin, 40);
    CHECK_EQ_INT(holes.largest.end, 64);
    CHECK_EQ_INT(holes.largest.end - holes.largest.begin, verdict.largest_hole);
    CHECK_EQ_INT(holes.largest.below, 1);
    CHECK_EQ_INT(holes.largest.above, -1);
    problem.requests.at[3].first = 0; /* now the short-lived one counts */
    holes = holes_of(&problem, 3, &arena);
    CHECK_EQ_INT(holes.largest.begin, 10);
    CHECK_EQ_INT(holes.largest.end, 30);
}

/* A problem of its own: what first fit placed before it failed, and behind it the request. */
typedef struct State {
    PlaceProblem problem;
    PlaceSolution solution;
    isize pairs_without; /* separations that do not name the request */
} State;

static State state_of(const PlaceProblem *problem, int32_t request, Arena *arena)
{
    isize count = problem->requests.len;
    uint32_t *address = arena_array(arena, uint32_t, count);
    int32_t *index = arena_array(arena, int32_t, count), failed;
    int64_t hole;
    CHECK(!place_fit(problem, true, scratch, address, &failed, &hole));
    State state = {.problem = *problem,
                   .solution = {arena_array(arena, uint32_t, count + 1),
                                arena_array(arena, uint32_t, count + 1)}};
    PlaceProblem *p = &state.problem;
    p->requests = (PlaceRequestVec){0};
    p->pairs = (PlacePairVec){0};
    p->wishes = (PlaceWishVec){0};
    for (int32_t i = 0; i < count; i++) {
        index[i] = address[i] != PLACE_NOWHERE ? (int32_t)p->requests.len : -1;
        if (index[i] >= 0) {
            state.solution.address[index[i]] = address[i];
            *vec_push(&p->requests, arena) = problem->requests.at[i];
        }
    }
    index[request] = (int32_t)p->requests.len;
    *vec_push(&p->requests, arena) = problem->requests.at[request];
    for (int pass = 0; pass < 2; pass++) {
        for (isize i = 0; i < problem->pairs.len; i++) {
            PlacePair pair = problem->pairs.at[i];
            bool is_of_request = pair.a == request || pair.b == request;
            if (is_of_request == (pass == 1) && index[pair.a] >= 0 && index[pair.b] >= 0) {
                *vec_push(&p->pairs, arena) = (PlacePair){index[pair.a], index[pair.b]};
            }
        }
        state.pairs_without = pass == 0 ? p->pairs.len : state.pairs_without;
    }
    return state;
}

static bool is_right(const State *state)
{
    const PlaceProblem *p = &state->problem;
    Error err = {0};
    for (isize i = 0; i < p->requests.len; i++) {
        const PlaceRange *range = range_at(p, state->solution.address[i]);
        const PlaceRequest *r = &p->requests.at[i];
        state->solution.stride[i] =
            r->count > 1 ? r->stride[range != NULL && range->is_interleaved] : 0;
    }
    return place_problem_check(p, &state->solution, scratch, &err);
}

/* Without the request all is right, and with it nothing is, at the aligned addresses that are tried. */
static void check_excluded(const PlaceProblem *problem, int32_t request, const PlaceHoles *holes,
                           Arena arena)
{
    State state = state_of(problem, request, &arena), without = state;
    isize last = --without.problem.requests.len;
    without.problem.pairs.len = state.pairs_without;
    CHECK(is_right(&without));
    for (isize i = 0; i < holes->large.len; i++) {
        const PlaceHole *hole = &holes->large.at[i];
        for (uint64_t k = 0; k <= 16; k++) {
            uint32_t at = hole->begin + (uint32_t)((hole->end - hole->begin) * k / 16);
            state.solution.address[last] = at & ~(problem->requests.at[request].align - 1);
            CHECK(!is_right(&state));
        }
    }
}

/* Problems that first fit fails at: no hole has an address, and with none large enough the sizes agree. */
static void agrees_with_first_fit(void)
{
    uint64_t first = test_seed(1);
    int failed = 0, large = 0;
    for (uint64_t seed = first; seed < first + 60; seed++) {
        Arena arena = keep;
        PlaceProblem problem;
        PlaceSolution solution;
        PlaceVerdict verdict;
        if (seed % 2 == 0) {
            place_generate_witness(seed, 0, 0, &arena, scratch, &problem, NULL);
        } else {
            place_generate_impossible(seed, &arena, &problem, NULL);
        }
        (void)place_problem_solve(&problem, &normal, &arena, scratch, &solution, &verdict);
        if (verdict.outcome == PLACE_PLACED || verdict.certificate.proof == PROOF_PEAK) {
            continue;
        }
        PlaceHoles holes = holes_of(&problem, verdict.request, &arena);
        bool is_too_large = verdict.certificate.proof == PROOF_SUBSET &&
                            verdict.certificate.count == 1; /* not where first fit failed */
        CHECK_EQ_INT(problem.donations.len, 0);
        check_excluded(&problem, verdict.request, &holes, arena);
        failed++;
        large += holes.large.len > 0;
        for (isize i = 0; i < holes.large.len; i++) {
            const PlaceHole *hole = &holes.large.at[i];
            CHECK(hole->begin < hole->end);
            CHECK_EQ_INT(hole->partner_count > 0, hole->why == EXCLUDED_ELEMENT);
            CHECK(i == 0 || hole->end - hole->begin <= hole[-1].end - hole[-1].begin);
        }
        if (holes.large.len == 0 && !is_too_large) {
            CHECK_EQ_INT(holes.largest.end - holes.largest.begin, verdict.largest_hole);
        }
    }
    CHECK(failed > 10 && large > 5);
}

static void setup(void)
{
    keep = arena_create((isize)1 << 32);
    scratch = arena_create((isize)1 << 32);
}

TEST_MAIN(setup, finds_reasons, bounds_largest, agrees_with_first_fit)
