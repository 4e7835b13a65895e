/* Operations in place in the exact search: blocks are what the rules say, and tiles that are full only with them are placed. */
#include "place/generate.h"
#include "place/tile.h"
#include "test.h"

static Arena keep, scratch;

static int32_t add(PlaceProblem *problem, Arena *arena, PlaceRequest request)
{
    request.align = request.align == 0 ? 1 : request.align;
    request.count = 1;
    request.address = request.address == 0 ? PLACE_NOWHERE : request.address;
    *vec_push(&problem->requests, arena) = request;
    return (int32_t)problem->requests.len - 1;
}

static void donate(PlaceProblem *problem, Arena *arena, int32_t from, int32_t to, uint32_t offset)
{
    *vec_push(&problem->donations, arena) = (PlaceDonation){from, to, offset};
}

static PlaceProblem empty_problem(uint32_t end)
{
    return (PlaceProblem){.tile = -1, .ranges = {{.end = end}}, .range_count = 1, .limit = end};
}

static void makes_one_block_of_a_chain(void)
{
    Arena arena = keep;
    PlaceProblem problem = empty_problem(1000);
    int32_t a = add(&problem, &arena, (PlaceRequest){.bytes = 96, .first = 0, .last = 3});
    int32_t b =
        add(&problem, &arena,
            (PlaceRequest){.bytes = 64, .align = 32, .tail_bytes = 8, .first = 2, .last = 5});
    int32_t c = add(&problem, &arena, (PlaceRequest){.bytes = 96, .first = 4, .last = 6});
    int32_t d = add(&problem, &arena, (PlaceRequest){.bytes = 10, .first = 0, .last = 6});
    *vec_push(&problem.pairs, &arena) = (PlacePair){d, b};
    donate(&problem, &arena, a, b, 32);
    donate(&problem, &arena, c, b, 32);
    PlaceMerge merge;
    CHECK(place_merge(&problem, &arena, &merge));
    CHECK_EQ_INT(merge.problem.requests.len, 2);
    CHECK_EQ_INT(merge.problem.donations.len, 0);
    const PlaceRequest *block = &merge.problem.requests.at[merge.block[a]];
    CHECK_EQ_INT(block->bytes, 96);
    CHECK_EQ_INT(block->tail_bytes, 8); /* of b, which ends where a and c do */
    CHECK_EQ_INT(block->align, 32);
    CHECK_EQ_INT(block->first, 0);
    CHECK_EQ_INT(block->last, 6);
    CHECK_EQ_INT(merge.block[b], merge.block[a]);
    CHECK_EQ_INT(merge.block[c], merge.block[a]);
    CHECK_EQ_INT(merge.offset[a], 0);
    CHECK_EQ_INT(merge.offset[b], 32);
    CHECK_EQ_INT(merge.offset[c], 0);
    CHECK_EQ_INT(merge.problem.pairs.at[0].a, merge.block[d]);
    CHECK_EQ_INT(merge.problem.pairs.at[0].b, merge.block[a]);
}

/* Each is a donation that the rules forbid to use, or that takes more than it saves. */
static void keeps_apart_what_does_not_go_together(void)
{
    for (int kind = 0; kind < 7; kind++) {
        Arena arena = keep;
        PlaceProblem problem = empty_problem(1000);
        PlaceRequest from = {.bytes = 64, .align = 8, .first = 0, .last = 3},
                     to = {.bytes = 64, .align = 8, .first = 2, .last = 5};
        uint32_t offset = 0;
        switch (kind) {
        case 0: /* they never live together */
            to.first = 3;
            break;
        case 1: /* not aligned there */
            from.bytes = 68;
            offset = 4;
            break;
        case 2: /* given addresses elsewhere */
            from.address = 64;
            to.address = 128;
            break;
        case 3: /* the large one would live as long as the small one, beside another */
            to.bytes = 8;
            to.last = 50;
            problem.ranges[0].end = 72;
            (void)add(&problem, &arena, (PlaceRequest){.bytes = 60, .first = 10, .last = 50});
            break;
        case 6: /* the second would not be aligned behind that address */
            from.address = 8;
            to.align = 16;
            offset = 16;
            break;
        default:
            break;
        }
        int32_t a = add(&problem, &arena, from), b = add(&problem, &arena, to);
        donate(&problem, &arena, a, b, offset);
        if (kind == 4) {
            *vec_push(&problem.pairs, &arena) = (PlacePair){b, a};
        }
        PlaceMerge merge;
        CHECK_EQ_INT(place_merge(&problem, &arena, &merge), kind == 5);
        CHECK_EQ_INT(merge.problem.requests.len, problem.requests.len - (kind == 5));
    }
}

/* Two successors of one request live together: only the first of them gets its bytes. */
static void gives_bytes_only_once(void)
{
    Arena arena = keep;
    PlaceProblem problem = empty_problem(1000);
    int32_t from = add(&problem, &arena, (PlaceRequest){.bytes = 64, .first = 0, .last = 3});
    int32_t one = add(&problem, &arena, (PlaceRequest){.bytes = 64, .first = 2, .last = 5});
    int32_t two = add(&problem, &arena, (PlaceRequest){.bytes = 64, .first = 2, .last = 5});
    int32_t half = add(&problem, &arena, (PlaceRequest){.bytes = 32, .first = 4, .last = 6});
    donate(&problem, &arena, from, one, 0);
    donate(&problem, &arena, from, two, 0);
    donate(&problem, &arena, two, half, 32);
    PlaceMerge merge;
    CHECK(place_merge(&problem, &arena, &merge));
    CHECK_EQ_INT(merge.problem.requests.len, 2);
    CHECK_EQ_INT(merge.block[from], merge.block[one]);
    CHECK_EQ_INT(merge.block[two], merge.block[half]);
    CHECK_EQ_INT(merge.offset[half], 32);
}

/* The problem with some requests cut in two that live together in one step, the second in place of the first. */
static PlaceProblem cut_in_place(const PlaceProblem *problem, uint64_t seed, Arena *arena)
{
    PlaceProblem out = *problem;
    out.requests = (PlaceRequestVec){0};
    for (isize i = 0; i < problem->requests.len; i++) {
        *vec_push(&out.requests, arena) = problem->requests.at[i];
    }
    for (int32_t i = 0; i < problem->requests.len; i++) {
        PlaceRequest *r = &out.requests.at[i], late = *r;
        if (r->count > 1 || r->last - r->first < 3 || random_below(seed, (uint64_t)i, 3) == 0) {
            continue;
        }
        int32_t step =
            r->first + 1 +
            (int32_t)random_below(seed + 1, (uint64_t)i, (uint64_t)(r->last - r->first - 2));
        uint32_t offset =
            (uint32_t)random_below(seed + 2, (uint64_t)i, 2) * (r->bytes / 4 / r->align * r->align);
        late.bytes -= offset;
        late.first = step;
        r->last = step + 1;
        *vec_push(&out.requests, arena) = late;
        donate(&out, arena, i, (int32_t)out.requests.len - 1, offset);
    }
    return out;
}

static void places_what_is_full(void)
{
    enum { ROUNDS = 12 };
    uint64_t seed = test_seed(1);
    int placed = 0, by_fit = 0;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        Arena arena = keep;
        PlaceProblem whole;
        place_generate_witness(seed + round, 10, 3, &arena, scratch, &whole, NULL);
        PlaceProblem problem = cut_in_place(&whole, seed + round, &arena);
        for (int with_search = 0; with_search < 2; with_search++) {
            PlaceSolution solution;
            PlaceVerdict verdict;
            Error err = {0};
            PlaceOptions options = {.nodes_max = with_search ? 100000 : 1};
            if (place_problem_solve(&problem, &options, &arena, scratch, &solution, &verdict) ==
                PLACE_PLACED) {
                CHECK_OK(place_problem_check(&problem, &solution, scratch, &err), err);
                *(with_search ? &placed : &by_fit) += 1;
            }
        }
    }
    fprintf(stderr, "%d of %d placed, %d of them by first fit\n", placed, ROUNDS, by_fit);
    CHECK(placed >= ROUNDS / 4);
    CHECK(placed > by_fit);
}

static void setup(void)
{
    keep = arena_create((isize)1 << 30);
    scratch = arena_create((isize)1 << 32);
}

TEST_MAIN(setup, makes_one_block_of_a_chain, keeps_apart_what_does_not_go_together,
          gives_bytes_only_once, places_what_is_full)
