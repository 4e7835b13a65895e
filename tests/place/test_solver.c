/* The whole solver: witnesses with little slack are placed, impossible tiles are proved with a certificate that the independent
 * check accepts, and nothing that fits is ever called impossible. */
#include "place/place.h"
#include "test.h"

static Arena keep, scratch;

/* Placed with this slack, of `rounds`. */
static int count_placed(uint64_t seed, int slack_permille, int peaks, int rounds)
{
    int placed = 0;
    for (int round = 0; round < rounds; round++) {
        Arena arena = keep;
        PlaceProblem problem;
        PlaceSolution solution;
        PlaceVerdict verdict;
        Error err = {0};
        place_generate_witness(seed + (uint64_t)round, slack_permille, peaks, &arena, scratch,
                               &problem, NULL);
        PlaceOptions options = {.nodes_max = 20000, .is_proof_wanted = true};
        PlaceOutcome outcome =
            place_problem_solve(&problem, &options, &arena, scratch, &solution, &verdict);
        CHECK(outcome != PLACE_IMPOSSIBLE); /* it does fit */
        if (outcome == PLACE_PLACED) {
            CHECK_OK(place_problem_check(&problem, &solution, scratch, &err), err);
            placed++;
        }
    }
    fprintf(stderr, "slack %d permille, %d peaks: %d of %d placed\n", slack_permille, peaks, placed,
            rounds);
    return placed;
}

static void places_witnesses(void)
{
    enum { ROUNDS = 12 };
    uint64_t seed = test_seed(1);
    CHECK(count_placed(seed, 200, 0, ROUNDS) >= ROUNDS * 3 / 4);
    CHECK(count_placed(seed, 50, 0, ROUNDS) >= 1);
    (void)count_placed(seed, 0, 0, ROUNDS / 4);
    CHECK(count_placed(seed, 10, 3, ROUNDS) >= ROUNDS / 2);
}

static void proves_impossible_tiles(void)
{
    uint64_t seed = test_seed(0);
    int proved = 0;
    for (uint64_t round = 0; round < 200; round++) {
        Arena arena = keep;
        PlaceProblem problem;
        PlaceSolution solution;
        PlaceVerdict verdict;
        Error err = {0};
        place_generate_impossible(seed + round, &arena, &problem, NULL);
        PlaceOptions options = {.nodes_max = 20000, .is_proof_wanted = true};
        PlaceOutcome outcome =
            place_problem_solve(&problem, &options, &arena, scratch, &solution, &verdict);
        CHECK(outcome != PLACE_PLACED);
        if (outcome == PLACE_IMPOSSIBLE) {
            CHECK_OK(place_certificate_check(&problem, &verdict.certificate, &err), err);
            proved++;
        }
    }
    fprintf(stderr, "%d of 200 proved impossible, the rest given up\n", proved);
    CHECK(proved >= 100);
}

static void setup(void)
{
    keep = arena_create((isize)1 << 30);
    scratch = arena_create((isize)1 << 32);
}

TEST_MAIN(setup, places_witnesses, proves_impossible_tiles)
