/* Many problems at once: equal ones are found whatever their hashes, nothing else is taken for equal, and the answers are those of
 * each problem alone, for any number of threads. */
#include "place/tile.h"
#include "test.h"

static Arena keep, scratch;

enum { COPIES = 6, PROBLEMS = 60 };

/* Every problem several times, as other tiles with other names. */
static PlaceProblem *tiles(Arena *arena)
{
    PlaceProblem *problems = arena_array(arena, PlaceProblem, PROBLEMS);
    uint64_t first = test_seed(1);
    for (int i = 0; i < PROBLEMS; i++) {
        uint64_t seed = first + (uint64_t)i % (PROBLEMS / COPIES);
        if (i % 2 == 0) {
            place_generate_witness(seed, 300, 0, arena, scratch, &problems[i], NULL);
        } else {
            place_generate_impossible(seed, arena, &problems[i], NULL);
        }
        problems[i].tile = i;
        problems[i].name = str_format(arena, "copy %d", i);
        problems[i].requests.at[0].name = problems[i].name;
    }
    return problems;
}

static void finds_equal_problems(void)
{
    static const uint64_t masks[] = {UINT64_MAX, 3, 0};
    Arena arena = keep;
    PlaceProblem *problems = tiles(&arena);
    for (int k = 0; k < 3; k++) {
        int32_t first[PROBLEMS];
        isize distinct = problems_group(problems, PROBLEMS, masks[k], first, scratch);
        CHECK_EQ_INT(distinct, PROBLEMS / COPIES);
        for (int i = 0; i < PROBLEMS; i++) { /* ten seeds, so a problem comes again after ten */
            CHECK_EQ_INT(first[i], i % (PROBLEMS / COPIES));
        }
    }
}

/* One number of a problem with everything in it; 0: none. */
static bool change(PlaceProblem *p, int number)
{
    PlaceRequest *r = &p->requests.at[1];
    PlaceRange *range = &p->ranges[1];
    uint32_t *words[] = {&r->bytes,
                         &r->tail_bytes,
                         &r->align,
                         &r->stride[0],
                         &r->stride[1],
                         &r->address,
                         &range->begin,
                         &range->end,
                         &range->element_bytes,
                         &p->limit,
                         &p->donations.at[0].offset};
    int32_t *numbers[] = {&r->first,
                          &r->last,
                          &r->count,
                          &p->pairs.at[0].a,
                          &p->pairs.at[0].b,
                          &p->wishes.at[0].a,
                          &p->wishes.at[0].b,
                          &p->wishes.at[0].weight,
                          &p->donations.at[0].from,
                          &p->donations.at[0].to};
    bool *flags[] = {&r->is_interleaved, &r->may_use_window, &range->is_interleaved,
                     &range->is_window};
    int words_count = sizeof words / sizeof *words,
        numbers_count = sizeof numbers / sizeof *numbers;
    int flags_count = sizeof flags / sizeof *flags;
    if (number == 0) {
        return true;
    }
    if (--number < words_count) {
        *words[number] += 1;
    } else if ((number -= words_count) < numbers_count) {
        *numbers[number] += 1;
    } else if ((number -= numbers_count) < flags_count) {
        *flags[number] = !*flags[number];
    } else if ((number -= flags_count) < 4) { /* the lists end earlier */
        isize *lens[] = {&p->requests.len, &p->pairs.len, &p->wishes.len, &p->donations.len};
        *lens[number] -= 1;
    } else {
        return false;
    }
    return true;
}

static void tells_apart_whatever_differs(void)
{
    Str text = S("place limit=1000\nrange begin=0 end=100 element=4\nrange begin=200 end=300\n"
                 "request bytes=8 first=0 last=2\nrequest bytes=9 first=0 last=3\n"
                 "request bytes=8 first=1 last=3\nseparate a=0 b=1\nwish a=1 b=2 weight=2\n"
                 "donate from=0 to=2\n");
    Arena arena = keep;
    Error err = {0};
    PlaceProblemVec all = {0};
    for (int number = 0;; number++) {
        PlaceProblemVec one;
        CHECK_OK(place_problem_parse(text, &arena, &one, &err), err);
        if (!change(&one.at[0], number)) {
            break;
        }
        *vec_push(&all, &arena) = one.at[0];
    }
    CHECK_EQ_INT(all.len, 30);
    int32_t *first = arena_array(&arena, int32_t, all.len);
    CHECK_EQ_INT(problems_group(all.at, all.len, 0, first, scratch), all.len);
}

static void is_each_problem_alone(void)
{
    Arena arena = keep;
    PlaceProblem *problems = tiles(&arena);
    PlaceOptions options = {.nodes_max = 2000, .is_proof_wanted = true};
    PlaceSolution solutions[2][PROBLEMS];
    PlaceVerdict verdicts[2][PROBLEMS];
    for (int k = 0; k < 2; k++) {
        CHECK_EQ_INT(place_problems_solve(problems, PROBLEMS, &options, k + 1, &arena, scratch,
                                          solutions[k], verdicts[k]),
                     PROBLEMS / COPIES);
    }
    for (int i = 0; i < PROBLEMS; i++) {
        PlaceSolution alone;
        PlaceVerdict verdict;
        Arena vanishing = arena;
        (void)place_problem_solve(&problems[i], &options, &vanishing, scratch, &alone, &verdict);
        for (int k = 0; k < 2; k++) {
            CHECK_EQ_INT(verdicts[k][i].outcome, verdict.outcome);
            CHECK_EQ_INT(verdicts[k][i].nodes, verdict.nodes);
            CHECK_EQ_INT(verdicts[k][i].tile.id, i);
            Error err = {0};
            if (verdict.outcome == PLACE_PLACED) {
                size_t bytes = (size_t)problems[i].requests.len * sizeof *alone.address;
                CHECK(memcmp(solutions[k][i].address, alone.address, bytes) == 0);
                CHECK_OK(place_problem_check(&problems[i], &solutions[k][i], scratch, &err), err);
            } else if (verdict.outcome == PLACE_IMPOSSIBLE) {
                CHECK_OK(place_certificate_check(&problems[i], &verdicts[k][i].certificate, &err),
                         err);
            }
        }
    }
    CHECK_EQ_INT(place_problems_solve(NULL, 0, &options, 2, &arena, scratch, NULL, NULL), 0);
}

static void setup(void)
{
    keep = arena_create((isize)1 << 30);
    scratch = arena_create((isize)1 << 33);
}

TEST_MAIN(setup, finds_equal_problems, tells_apart_whatever_differs, is_each_problem_alone)
