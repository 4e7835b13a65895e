/* Same addresses on several tiles: every placement is checked, a tile that is impossible alone is named, and what the groups alone make
 * impossible is given up. */
#include "place/place.h"
#include "test.h"

static Arena keep, scratch;

enum { TILES = 12, GROUPS = 6, BYTES = 100000, STEPS = 30 };

typedef struct Dice {
    uint64_t seed, rolls;
} Dice;

static int32_t roll(Dice *dice, int32_t least, int32_t most)
{
    return least + (int32_t)random_below(dice->seed, dice->rolls++, (uint64_t)(most - least + 1));
}

static PlaceProblem empty_tile(int32_t tile, uint32_t end)
{
    return (PlaceProblem){.tile = tile,
                          .ranges = {{.begin = 0, .end = end / 2, .element_bytes = 1024},
                                     {.begin = (end / 2 + 2047) / 2048 * 2048,
                                      .end = end,
                                      .element_bytes = 2048,
                                      .is_interleaved = true}},
                          .range_count = 2,
                          .limit = end};
}

static PlaceRequest request(uint32_t bytes, int32_t first, int32_t last)
{
    return (PlaceRequest){.bytes = bytes,
                          .align = 8,
                          .first = first,
                          .last = last,
                          .count = 1,
                          .address = PLACE_NOWHERE};
}

typedef struct Scene {
    PlaceProblem problems[TILES];
    PlaceGroup groups[GROUPS];
    PlaceMember members[GROUPS][TILES];
} Scene;

/* Each tile has some of the shared requests, alive at other times and with other tails, and its own: `percent` of its room in all. */
static void fill(Scene *scene, Dice *dice, int32_t percent, Arena *arena)
{
    uint32_t bytes[GROUPS];
    for (int g = 0; g < GROUPS; g++) {
        bytes[g] = 8 * (uint32_t)roll(dice, 100, 1000);
        scene->groups[g] = (PlaceGroup){scene->members[g], 0};
    }
    for (int32_t t = 0; t < TILES; t++) {
        PlaceProblem *problem = &scene->problems[t];
        int64_t live[STEPS] = {0};
        *problem = empty_tile(t, BYTES);
        for (int misses = 0; misses < 20;) {
            int32_t index = (int32_t)problem->requests.len, first = roll(dice, 0, STEPS - 2);
            bool is_shared = index < GROUPS;
            PlaceRequest r = request(is_shared ? bytes[index] : 8 * (uint32_t)roll(dice, 1, 900),
                                     first, roll(dice, first + 1, STEPS));
            r.tail_bytes = (uint32_t)roll(dice, 0, 1) * 16;
            r.is_interleaved = roll(dice, 0, 5) == 0;
            r.align = 8u << roll(dice, 0, 2);
            bool is_full = false;
            for (int32_t s = r.first; s < r.last; s++) {
                is_full = is_full || live[s] + r.bytes > BYTES / 100 * percent;
            }
            misses += is_full;
            if (is_full && !is_shared) {
                continue;
            }
            for (int32_t s = r.first; s < r.last; s++) {
                live[s] += r.bytes;
            }
            *vec_push(&problem->requests, arena) = r;
            if (is_shared && roll(dice, 0, 2) > 0) {
                PlaceGroup *group = &scene->groups[index];
                scene->members[index][group->count++] = (PlaceMember){t, index};
            } else if (index > 0 && roll(dice, 0, 3) == 0) {
                *vec_push(&problem->pairs, arena) = (PlacePair){index - 1, index};
            }
        }
    }
}

static void places_random_groups(void)
{
    enum { ROUNDS = 20 };
    uint64_t seed = test_seed(1);
    static const int32_t percents[] = {40, 75, 90};
    for (int k = 0; k < 3; k++) {
        int placed = 0;
        for (uint64_t round = 0; round < ROUNDS; round++) {
            Arena arena = keep;
            Dice dice = {random_u64(seed + round, (uint64_t)k), 0};
            Scene *scene = arena_new(&arena, Scene);
            fill(scene, &dice, percents[k], &arena);
            PlaceOptions options = {.nodes_max = 500};
            PlaceSolution solutions[2][TILES];
            PlaceVerdict verdict;
            Error err = {0};
            for (int j = 0; j < 2; j++) {
                (void)place_groups_solve(scene->problems, TILES, scene->groups, GROUPS, &options,
                                         j + 1, &arena, scratch, solutions[j], &verdict);
                if (verdict.outcome == PLACE_IMPOSSIBLE) { /* the tile alone is so */
                    CHECK_OK(place_certificate_check(&scene->problems[verdict.tile.id],
                                                     &verdict.certificate, &err),
                             err);
                } else if (verdict.outcome == PLACE_PLACED) {
                    CHECK_OK(place_groups_check(scene->problems, TILES, scene->groups, GROUPS,
                                                solutions[j], scratch, &err),
                             err);
                }
            }
            placed += verdict.outcome == PLACE_PLACED;
            for (int t = 0; verdict.outcome == PLACE_PLACED && t < TILES; t++) {
                CHECK(memcmp(solutions[0][t].address, solutions[1][t].address,
                             (size_t)scene->problems[t].requests.len * 4) == 0);
            }
        }
        fprintf(stderr, "%d %% full: %d of %d placed\n", percents[k], placed, ROUNDS);
        CHECK(k > 1 || placed >= ROUNDS - 5 * k);
    }
}

/* Tiles of 100 bytes: requests 0 of both tiles are a group, so are requests 1 with `group_count` 2. */
static PlaceOutcome solve_two(const char *first, const char *second, isize group_count,
                              PlaceVerdict *verdict)
{
    static const PlaceMember members[2][2] = {{{0, 0}, {1, 0}}, {{0, 1}, {1, 1}}};
    const PlaceGroup groups[] = {{members[0], 2}, {members[1], 2}};
    Arena arena = keep;
    PlaceProblem problems[2];
    const char *texts[] = {first, second};
    PlaceSolution solutions[2];
    Error err = {0};
    for (int i = 0; i < 2; i++) {
        PlaceProblemVec parsed;
        Str text =
            str_format(&arena, "place tile=%d limit=100\nrange begin=0 end=100\n%s", i, texts[i]);
        CHECK_OK(place_problem_parse(text, &arena, &parsed, &err), err);
        problems[i] = parsed.at[0];
    }
    PlaceOptions options = {.is_proof_wanted = true};
    PlaceOutcome outcome = place_groups_solve(problems, 2, groups, group_count, &options, 2, &arena,
                                              scratch, solutions, verdict);
    CHECK_EQ_INT(outcome, verdict->outcome);
    if (outcome == PLACE_PLACED) {
        CHECK_OK(place_groups_check(problems, 2, groups, group_count, solutions, scratch, &err),
                 err);
        solutions[1].address[0] += 1;
        CHECK(group_count == 0 ||
              !place_groups_check(problems, 2, groups, group_count, solutions, scratch, &err));
    }
    return outcome;
}

static void knows_what_is_to_blame(void)
{
    PlaceVerdict verdict;
    CHECK_EQ_INT(solve_two("request bytes=60 first=0 last=1\n", "request bytes=60 first=0 last=1\n",
                           0, &verdict),
                 PLACE_PLACED);
    /* The second is the fuller one, so it decides; the first needs another address, so it has to. */
    const char *fixed = "request bytes=40 first=0 last=2\n"
                        "request bytes=30 first=0 last=2 address=10\n";
    const char *full = "request bytes=40 first=0 last=2\n"
                       "request bytes=50 first=0 last=2\n";
    CHECK_EQ_INT(solve_two(fixed, full, 1, &verdict), PLACE_PLACED);
    /* A given address holds for all. */
    CHECK_EQ_INT(solve_two("request bytes=40 first=0 last=1 address=60\n",
                           "request bytes=40 first=0 last=1\nrequest bytes=60 first=0 last=1\n", 1,
                           &verdict),
                 PLACE_PLACED);
    /* What suits one: the larger alignment and size of the other. */
    CHECK_EQ_INT(solve_two("request bytes=4 first=0 last=1\nrequest bytes=5 first=0 last=1 "
                           "address=0\n",
                           "request bytes=90 align=8 first=0 last=1\n", 1, &verdict),
                 PLACE_PLACED);
    /* Impossible without groups: the tile is named. */
    CHECK_EQ_INT(solve_two("request bytes=40 first=0 last=1\n",
                           "request bytes=40 first=0 last=1\nrequest bytes=61 first=0 last=1\n", 1,
                           &verdict),
                 PLACE_IMPOSSIBLE);
    CHECK_EQ_INT(verdict.tile.id, 1);
    /* Only together: given up, whatever was proved with the given addresses. */
    CHECK_EQ_INT(solve_two("request bytes=50 first=0 last=1\nrequest bytes=50 first=0 last=1 "
                           "address=0\n",
                           "request bytes=50 first=0 last=1\nrequest bytes=50 first=0 last=1 "
                           "address=50\n",
                           1, &verdict),
                 PLACE_GAVE_UP);
    CHECK_EQ_INT(verdict.certificate.proof, PROOF_NONE);
    /* Apart in time on one tile, not on the other. */
    CHECK_EQ_INT(solve_two("request bytes=50 first=0 last=1\nrequest bytes=50 first=1 last=2\n"
                           "request bytes=45 first=0 last=2\n",
                           "request bytes=50 first=0 last=2\nrequest bytes=50 first=0 last=2\n", 2,
                           &verdict),
                 PLACE_GAVE_UP);
    CHECK_EQ_INT(solve_two("request bytes=30 first=0 last=1\nrequest bytes=30 first=1 last=2\n"
                           "request bytes=40 first=0 last=2\n",
                           "request bytes=30 first=0 last=2\nrequest bytes=30 first=0 last=2\n", 2,
                           &verdict),
                 PLACE_PLACED);
}

static void setup(void)
{
    keep = arena_create((isize)1 << 30);
    scratch = arena_create((isize)1 << 33);
}

TEST_MAIN(setup, places_random_groups, knows_what_is_to_blame)
