/* One tile's problem: random instances built from a hidden witness are solved, infeasible ones are proven, and every
 * broken rule is caught by the check (compiler-design.md 11.5). */
#include "place/place.h"
#include "test.h"
#include <string.h>

static Arena keep, scratch;
static const PlaceOptions normal;

static const AddrRange region0 = {0x5c000, 0x80000}, region1 = {0x80000, SRAM_IMAGE_END};

static PlaceProblem empty_problem(void)
{
    return (PlaceProblem){
        .tile = 7,
        .ranges = {{.begin = region0.begin, .end = region0.end, .element_bytes = ELEMENT_BYTES},
                   {.begin = region1.begin,
                    .end = region1.end,
                    .element_bytes = 2 * ELEMENT_BYTES,
                    .is_interleaved = true}},
        .range_count = 2,
        .limit = SRAM_END};
}

static void add(PlaceProblem *problem, Arena *arena, uint32_t bytes, int32_t first, int32_t last)
{
    *vec_push(&problem->requests, arena) = (PlaceRequest){.bytes = bytes,
                                                          .align = 8,
                                                          .count = 1,
                                                          .address = PLACE_NOWHERE,
                                                          .first = first,
                                                          .last = last};
}

static uint32_t *solve(const PlaceProblem *problem, Arena *arena)
{
    PlaceSolution solution;
    PlaceVerdict verdict;
    Error err = {0};
    CHECK_EQ_INT(place_problem_solve(problem, &normal, arena, scratch, &solution, &verdict),
                 PLACE_PLACED);
    CHECK_OK(place_problem_check(problem, &solution, scratch, &err), err);
    return solution.address;
}

/* Cuts both regions into rectangles of address x time, which are then requests that fit by construction. `slack` percent
 * of every piece is given away. */
static PlaceProblem witness(uint64_t seed, int slack, Arena *arena)
{
    PlaceProblem problem = empty_problem();
    uint64_t n = 0;
    for (int region = 0; region < 2; region++) {
        for (uint32_t at = problem.ranges[region].begin; at < problem.ranges[region].end;) {
            uint32_t width = 256 + 32 * (uint32_t)random_below(seed, n++, 900);
            uint32_t left = problem.ranges[region].end - at;
            width = left < width + 256 ? left : width;
            for (int32_t step = 0; step < 100;) {
                int32_t last = step + 1 + (int32_t)random_below(seed, n++, 60);
                last = last > 90 ? 100 : last;
                uint32_t bytes = width * (uint32_t)(100 - slack) / 100 / 32 * 32;
                uint32_t align = 8u << random_below(seed, n++, 3);
                bool is_interleaved = region == 1 && random_below(seed, n++, 3) == 0;
                *vec_push(&problem.requests, arena) =
                    (PlaceRequest){.bytes = bytes < 32 ? 32 : bytes,
                                   .count = 1,
                                   .address = PLACE_NOWHERE,
                                   .tail_bytes = 8 * (uint32_t)random_below(seed, n++, 8),
                                   .align = align,
                                   .is_interleaved = is_interleaved,
                                   .first = step,
                                   .last = last};
                step = last;
            }
            at += width;
        }
    }
    return problem;
}

static void solves_hidden_witnesses(void)
{
    uint64_t seed = test_seed(1);
    int solved = 0, rounds = 100;
    for (int round = 0; round < rounds; round++) {
        Arena arena = keep;
        PlaceProblem problem = witness(seed + (uint64_t)round, 15, &arena);
        PlaceSolution solution;
        PlaceVerdict verdict;
        Error err = {0};
        if (place_problem_solve(&problem, &normal, &arena, scratch, &solution, &verdict) ==
            PLACE_PLACED) {
            CHECK_OK(place_problem_check(&problem, &solution, scratch, &err), err);
            solved++;
        }
        CHECK(verdict.outcome != PLACE_IMPOSSIBLE); /* it does fit */
    }
    fprintf(stderr, "%d of %d solved\n", solved, rounds);
    CHECK(solved >= 95);
}

/* No slack at all: giving up is allowed, a false proof is not. */
static void never_proves_what_fits(void)
{
    uint64_t seed = test_seed(2);
    for (int round = 0; round < 30; round++) {
        Arena arena = keep;
        PlaceProblem problem = witness(seed + (uint64_t)round, 0, &arena);
        PlaceSolution solution;
        PlaceVerdict verdict;
        if (place_problem_solve(&problem, &normal, &arena, scratch, &solution, &verdict) !=
            PLACE_PLACED) {
            CHECK(verdict.outcome != PLACE_IMPOSSIBLE);
            CHECK(verdict.live_peak_bytes <= verdict.available_bytes);
            CHECK(verdict.largest_hole < problem.requests.at[verdict.request].bytes + 32);
        }
    }
}

static void proves_what_cannot_fit(void)
{
    Arena arena = keep;
    Error err = {0};
    PlaceSolution solution;
    PlaceVerdict verdict;
    PlaceProblem problem = empty_problem();
    int64_t room = region0.end - region0.begin + (region1.end - region1.begin);
    for (int i = 0; i < 10; i++) {
        add(&problem, &arena, 50000, i, 10);
    }
    add(&problem, &arena, (uint32_t)(room - 10 * 50000 + 8), 9, 12);
    (void)place_problem_solve(&problem, &normal, &arena, scratch, &solution, &verdict);
    CHECK(verdict.outcome != PLACE_PLACED);
    CHECK_EQ_INT(verdict.outcome, PLACE_IMPOSSIBLE);
    CHECK_OK(place_certificate_check(&problem, &verdict.certificate, &err), err);
    CHECK_EQ_INT(verdict.tile.id, 7);
    CHECK_EQ_INT(verdict.peak_step, 9);
    CHECK_EQ_INT(verdict.short_bytes, 8);
    CHECK_EQ_INT(verdict.live_peak_bytes, room + 8);
    CHECK(!verdict.certificate.is_interleaved && !verdict.certificate.is_windowless);
    CHECK_EQ_INT(verdict.available_bytes, room);

    problem = empty_problem(); /* interleaved: only region 1 counts */
    for (int i = 0; i < 2; i++) {
        add(&problem, &arena, (region1.end - region1.begin) / 2 + 8, 0, 1);
        problem.requests.at[i].is_interleaved = true;
    }
    (void)place_problem_solve(&problem, &normal, &arena, scratch, &solution, &verdict);
    CHECK(verdict.outcome != PLACE_PLACED);
    CHECK_EQ_INT(verdict.outcome, PLACE_IMPOSSIBLE);
    CHECK_OK(place_certificate_check(&problem, &verdict.certificate, &err), err);
    CHECK(verdict.short_bytes >= 8);

    problem = empty_problem(); /* one piece larger than the larger region */
    add(&problem, &arena, region1.end - region1.begin + 8, 0, 1);
    (void)place_problem_solve(&problem, &normal, &arena, scratch, &solution, &verdict);
    CHECK(verdict.outcome != PLACE_PLACED);
    CHECK_EQ_INT(verdict.outcome, PLACE_IMPOSSIBLE);
    CHECK_OK(place_certificate_check(&problem, &verdict.certificate, &err), err);
    CHECK_EQ_INT(verdict.short_bytes, 8);

    problem = empty_problem(); /* fits by bytes, but not in one piece: no proof is claimed */
    add(&problem, &arena, region1.end - region1.begin - 8, 0, 1);
    add(&problem, &arena, region0.end - region0.begin - 8, 0, 1);
    add(&problem, &arena, 16, 0, 1);
    (void)place_problem_solve(&problem, &normal, &arena, scratch, &solution, &verdict);
    CHECK(verdict.outcome != PLACE_PLACED);
    CHECK(verdict.outcome != PLACE_IMPOSSIBLE);
    CHECK_EQ_INT(verdict.largest_hole, 8);
    CHECK_EQ_INT(verdict.short_bytes, 8);
    for (int i = 0; i < 20; i++) { /* harmless ones do not hide the three */
        add(&problem, &arena, 2000, 1 + i, 2 + i);
    }
    PlaceOptions wants_proof = {.is_proof_wanted = true};
    CHECK_EQ_INT(place_problem_solve(&problem, &wants_proof, &arena, scratch, &solution, &verdict),
                 PLACE_IMPOSSIBLE);
    CHECK_EQ_INT(verdict.certificate.proof, PROOF_SUBSET);
    CHECK_EQ_INT(verdict.certificate.count, 3);
    CHECK_OK(place_certificate_check(&problem, &verdict.certificate, &err), err);
}

static void fits_exactly(void)
{
    Arena arena = keep;
    PlaceProblem problem = empty_problem();
    add(&problem, &arena, region1.end - region1.begin, 0, 5);
    add(&problem, &arena, region0.end - region0.begin, 0, 5);
    problem.requests.at[1].tail_bytes = 4096; /* read-ahead may run into the other region */
    uint32_t *address = solve(&problem, &arena);
    CHECK_EQ_INT(address[0], region1.begin);
    CHECK_EQ_INT(address[1], region0.begin);
}

static void reuses_memory_over_time(void)
{
    Arena arena = keep;
    PlaceProblem problem = empty_problem();
    for (int i = 0; i < 50;
         i++) { /* half-open: the next one starts in the step where this one ends */
        add(&problem, &arena, 100000, 2 * i, 2 * i + 2);
    }
    uint32_t *address = solve(&problem, &arena);
    for (int i = 0; i < 50; i++) {
        CHECK_EQ_INT(address[i], region0.begin);
    }
}

static void respects_regions(void)
{
    Arena arena = keep;
    PlaceProblem problem = empty_problem();
    add(&problem, &arena, 64, 0, 2);
    add(&problem, &arena, 64, 0, 2);
    problem.requests.at[1].is_interleaved = true;
    add(&problem, &arena, region0.end - region0.begin - 32, 0, 2); /* larger: placed first */
    uint32_t *address = solve(&problem, &arena);
    CHECK_EQ_INT(address[2], region0.begin);
    CHECK(address[0] >=
          SRAM_REGION1); /* 32 bytes are left in region 0, the boundary is not crossed */
    CHECK(address[1] >= SRAM_REGION1);
}

/* Read-ahead must stay inside SRAM, but may overlap anything. */
static void keeps_read_ahead_in_sram(void)
{
    Arena arena = keep;
    PlaceProblem problem = empty_problem();
    problem.ranges[0].begin = problem.ranges[0].end;
    problem.ranges[1].begin = SRAM_IMAGE_END - 1024;
    uint32_t behind = SRAM_END - SRAM_IMAGE_END;
    add(&problem, &arena, 512, 0, 2);
    add(&problem, &arena, 512, 0, 2);
    problem.requests.at[0].tail_bytes = behind + 512;
    uint32_t *address = solve(&problem, &arena);
    CHECK(address[0] < address[1]);
    problem.requests.at[1].tail_bytes = behind;
    (void)solve(&problem, &arena);
    problem.requests.at[1].tail_bytes = behind + 8;
    PlaceVerdict verdict;
    PlaceSolution solution;
    (void)place_problem_solve(&problem, &normal, &arena, scratch, &solution, &verdict);
    CHECK(verdict.outcome != PLACE_PLACED);
}

static void separates_pairs(void)
{
    uint64_t seed = test_seed(3), n = 0;
    for (int round = 0; round < 200; round++) {
        Arena arena = keep;
        PlaceProblem problem = empty_problem();
        int count = 4 + (int)random_below(seed, n++, 20);
        for (int i = 0; i < count; i++) {
            int32_t first = (int32_t)random_below(seed, n++, 20);
            add(&problem, &arena, 8 + 8 * (uint32_t)random_below(seed, n++, 1500), first,
                first + 1 + i % 7);
            problem.requests.at[i].is_interleaved = i % 5 == 0;
        }
        for (int i = 0; i + 1 < count; i += 2) { /* every request with at most two others */
            *vec_push(&problem.pairs, &arena) = (PlacePair){i, i + 1};
            if (i + 2 < count) {
                *vec_push(&problem.pairs, &arena) = (PlacePair){i + 2, i};
            }
        }
        uint32_t *address = solve(&problem, &arena);
        for (isize i = 0; i < problem.pairs.len;
             i++) { /* slow oracle: byte by byte over 8-byte steps */
            PlacePair pair = problem.pairs.at[i];
            const PlaceRequest *a = &problem.requests.at[pair.a], *b = &problem.requests.at[pair.b];
            if (a->first < b->last && b->first < a->last) {
                bool is_shared = false;
                for (uint32_t at = 0; at < a->bytes; at += 8) {
                    int group = group_of(address[pair.a] + at);
                    is_shared |= group >= group_of(address[pair.b]) &&
                                 group <= group_of(address[pair.b] + b->bytes - 1);
                }
                CHECK(!is_shared);
            }
        }
    }
}

/* Rules broken one at a time; expected words are those of the rules in place.h. */
static void catches_broken_rules(void)
{
    Arena arena = keep;
    PlaceProblem problem = empty_problem();
    problem.ranges[0].end = 0x7c000; /* the host window behind it */
    problem.ranges[2] = problem.ranges[1];
    problem.ranges[1] = (PlaceRange){
        .begin = 0x7c000, .end = 0x80000, .element_bytes = ELEMENT_BYTES, .is_window = true};
    problem.range_count = 3;
    add(&problem, &arena, 1024, 0, 10);
    add(&problem, &arena, 1024, 5, 15);
    add(&problem, &arena, 1024, 12, 20);
    add(&problem, &arena, 100, 16, 20);
    add(&problem, &arena, 512, 30, 31);
    problem.requests.at[0].align = 64;
    problem.requests.at[1].tail_bytes = 256;
    problem.requests.at[2].is_interleaved = true;
    problem.requests.at[3].count = 3;
    problem.requests.at[3].stride[0] = 104;
    problem.requests.at[3].stride[1] = 128;
    problem.requests.at[4].may_use_window = true;
    *vec_push(&problem.pairs, &arena) = (PlacePair){0, 1};
    static const struct {
        uint32_t address[5], stride;
        const char *part;
    } cases[] = {
        {{0x5c000, 0x60000, 0x80000, 0x5c000, 0x7c000}, 104, NULL},
        {{0x5c000, 0x60000, 0x80000, 0x90000, 0x7c000}, 128, NULL},
        {{0x5c020, 0x60000, 0x80000, 0x5c000, 0x7c000}, 104, "request 0 is misaligned"},
        {{0x5bfc0, 0x60000, 0x80000, 0x5c000, 0x7c000}, 104, "request 0 is outside all ranges"},
        {{0x7be00 - 64, 0x60000, 0x80000, 0x5c000, 0x7c000}, 104, "request 0 leaves its range"},
        {{0x5c000, 0x60000, 0x70000, 0x5c000, 0x7c000}, 104, "request 2 is interleaved"},
        {{0x5c000, 0x60000, 0x80000, 0x7c000, 0x7c000}, 104, "request 3 may not use the host"},
        {{0x5c000, 0x60000, 0x80000, 0x90000, 0x7c000}, 104, "request 3 has not the stride"},
        {{0x5c000, 0x60000, 0x80000, 0x5c000, 0x7c000}, 128, "request 3 has not the stride"},
        {{0x5c000, 0x60000, 0x80000, SRAM_IMAGE_END - 354, 0x7c000}, 128, "request 3 is mis"},
        {{0x5c000, 0x60000, 0x80000, SRAM_IMAGE_END - 352, 0x7c000}, 128, "request 3 leaves"},
        {{0x5c000, SRAM_IMAGE_END - 1016, 0x80000, 0x5c000, 0x7c000}, 104, "request 1 leaves"},
        {{0x5c000, SRAM_IMAGE_END - 1024, 0x80000, 0x5c000, 0x7c000}, 104, NULL},
        {{0x60200 - 64, 0x60000, 0x80000, 0x5c000, 0x7c000}, 104, "request 1 overlaps request 0"},
        {{0x5c000, 0x90000, 0x90000, 0x5c000, 0x7c000}, 104, "overlaps request"},
        {{0x5c000, 0x60000, 0x90000, 0x90400 - 8, 0x7c000}, 128, "request 2 overlaps request 3"},
        {{0x90000, 0x60000, 0x90000, 0x5c000, 0x7c000}, 104, NULL}, /* never alive together */
        {{0x60400, 0x60000, 0x80000, 0x5c000, 0x7c000}, 104, "request 0 shares a memory element"},
        {{0x90000, 0x97f00, 0xe0000, 0x5c000, 0x7c000}, 104, "request 0 shares a memory element"},
        {{0x60000, 0x5fb00, 0x80000, 0x5c000, 0x7c000}, 104, NULL}, /* the tail ends in time */
        {{0x60000, 0x5fb08, 0x80000, 0x5c000, 0x7c000}, 104, "request 0 shares a memory element"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Error err = {0};
        uint32_t address[5], stride[5] = {0, 0, 0, cases[i].stride, 0};
        memcpy(address, cases[i].address, sizeof address);
        PlaceSolution solution = {address, stride};
        if (cases[i].part == NULL) {
            CHECK_OK(place_problem_check(&problem, &solution, scratch, &err), err);
        } else {
            CHECK_ERROR(place_problem_check(&problem, &solution, scratch, &err), err, ERROR_NO,
                        cases[i].part);
            CHECK_CSTR(err.where, "tile L7");
        }
    }
}

/* Two requests fill the only range together; a third one that is alive with both can only take one over in place. */
static void donates_in_place(void)
{
    Arena arena = keep;
    PlaceProblem problem = empty_problem();
    problem.ranges[0].end = problem.ranges[0].begin + 0x8000;
    problem.range_count = 1;
    add(&problem, &arena, 0x4000, 0, 5);
    add(&problem, &arena, 0x4000, 0, 9);
    add(&problem, &arena, 0x1000, 4, 9);
    PlaceSolution solution;
    PlaceVerdict verdict;
    Error err = {0};
    (void)place_problem_solve(&problem, &normal, &arena, scratch, &solution, &verdict);
    CHECK(verdict.outcome != PLACE_PLACED);
    *vec_push(&problem.donations, &arena) = (PlaceDonation){0, 2, 0x2000};
    uint32_t *address = solve(&problem, &arena);
    CHECK_EQ_INT(address[2], address[0] + 0x2000);
    uint32_t other[] = {address[0], address[1], address[2] + 8}, stride[3] = {0};
    CHECK_ERROR(place_problem_check(&problem, &(PlaceSolution){other, stride}, scratch, &err), err,
                ERROR_NO, "overlaps");
}

/* A wish is kept where there is room for it, and given up where there is not. */
static void keeps_wishes(void)
{
    Arena arena = keep;
    PlaceProblem problem = empty_problem();
    problem.range_count = 1;
    add(&problem, &arena, 64, 0, 5);
    add(&problem, &arena, 64, 0, 5);
    *vec_push(&problem.wishes, &arena) = (PlaceWish){0, 1, 1};
    uint32_t *address = solve(&problem, &arena);
    CHECK(group_of(address[0]) != group_of(address[1]));
    problem.ranges[0].end = problem.ranges[0].begin + 0x100;
    (void)solve(&problem, &arena);
}

static void keeps_given_addresses(void)
{
    Arena arena = keep;
    PlaceProblem problem = empty_problem();
    add(&problem, &arena, 0x10000, 0, 5);
    add(&problem, &arena, 0x1000, 0, 5);
    problem.requests.at[1].address = region0.begin + 0x1000;
    uint32_t *address = solve(&problem, &arena);
    CHECK_EQ_INT(address[1], region0.begin + 0x1000);
    CHECK_EQ_INT(address[0], region0.begin + 0x2000);
}

static PlaceProblem rich_problem(uint64_t seed, Arena *arena)
{
    PlaceProblem problem = witness(seed, 10, arena);
    problem.name = S("a tile with a name");
    problem.requests.at[0].name = S("blocks.0 mlp = up");
    problem.requests.at[1].count = 3;
    problem.requests.at[1].stride[0] = (uint32_t)align_up(problem.requests.at[1].bytes, 64);
    problem.requests.at[1].stride[1] = (uint32_t)align_up(problem.requests.at[1].bytes, 128);
    problem.requests.at[2].address = 0x60000;
    problem.requests.at[3].may_use_window = true;
    problem.ranges[0].is_window = seed % 2 == 0;
    *vec_push(&problem.pairs, arena) = (PlacePair){1, 0};
    *vec_push(&problem.wishes, arena) = (PlaceWish){1, 2, 7};
    *vec_push(&problem.donations, arena) = (PlaceDonation){4, 5, 64};
    return problem;
}

static void round_trips_text(void)
{
    uint64_t seed = test_seed(4);
    Arena arena = keep;
    Writer first = writer_buffer(&arena), second = writer_buffer(&arena);
    for (int round = 0; round < 20; round++) {
        PlaceProblem problem = rich_problem(seed + (uint64_t)round, &arena);
        problem.tile = round - 1;
        place_problem_print(&first, &problem, NULL);
    }
    PlaceProblemVec back;
    Error err = {0};
    CHECK_OK(place_problem_parse(writer_text(&first), &arena, &back, &err), err);
    CHECK_EQ_INT(back.len, 20);
    for (int round = 0; round < 20; round++) {
        place_problem_print(&second, &back.at[round], NULL);
        CHECK_EQ_INT(back.at[round].tile, round - 1);
    }
    CHECK_STR(writer_text(&second), writer_text(&first));
    CHECK_EQ_INT(back.at[3].ranges[0].begin, region0.begin);
    CHECK_EQ_INT(back.at[3].requests.at[1].count, 3);
    CHECK_EQ_INT(back.at[3].requests.at[2].address, 0x60000);
    CHECK_STR(back.at[3].requests.at[0].name, S("blocks.0 mlp = up"));
    CHECK_EQ_INT(back.at[3].donations.at[0].offset, 64);
}

static void refuses_bad_text(void)
{
    static const struct {
        const char *text, *where, *part;
    } cases[] = {
        {"", "", "place"},
        {"request bytes=8", "line 1", "expected place"},
        {"place tile=1472", "line 1", "tile=number in 0..1471, found \"1472\""},
        {"place\nrange begin=0 end=8\nrequest bytes=8 first=0 last=1", "line 3",
         "newline at the end"},
        {"place\r\n", "line 1", "printable"},
        {"place tile=1 x", "line 1", "end of the line, found \"x\""},
        {"place tile=1 tile=2", "line 1", "the end of the line: \"tile\" stands twice"},
        {"place tile=+1", "line 1", "tile=number in 0..1471, found \"+1\""},
        {"place tile=-0", "line 1", "found \"-0\""},
        {"place tile=0X1", "line 1", "found \"0X1\""},
        {"place\nsoup", "line 2", "donate, found \"soup\""},
        {"place name=\033[2J", "line 1", "printable"},
        {"place\nrange begin=1\tend=2", "line 2", "printable"},
        {"place\nrange begin=1", "line 2", "expected end=number, found \"\""},
        {"place\nrange begin=2 end=1", "line 2", "begin <= end, found end=0x1"},
        {"place limit=9\nrange begin=0 end=10", "line 2",
         "expected an end up to limit=0x9 of the line place, found end=0xa"},
        {"place\nrange begin=0 end=8 element=3", "line 2", "power of two, found element=3"},
        {"place\nrange begin=0 end=8\nrange begin=7 end=9", "line 3",
         "behind the one before it, found begin=0x7"},
        {"place\nrange begin=0 end=8 element=16\nrange begin=8 end=9", "line 3",
         "where an element ends, found begin=0x8"},
        {"place\nrequest bytes=8 first=0 last=1\nrange begin=0 end=8", "line 3", "before requests"},
        {"place\nrequest bytes=0 first=0 last=1", "line 2", "bytes=number in 1.."},
        {"place\nrequest bytes=8 align=3 first=0 last=1", "line 2", "power of two, found align=3"},
        {"place\nrequest bytes=8 first=1 last=1", "line 2", "first < last, found last=1"},
        {"place\nrequest first=1 last=2", "line 2",
         "bytes=number: \"first\" stands twice or not in this"},
        {"place\nrequest size=1", "line 2", "bytes=number, found \"size=1\""},
        {"place\nrequest bytes=8 last=2 first=1", "line 2",
         "first=number: \"last\" stands twice or not in this order: bytes tail align inter"},
        {"place\nrequest bytes=8 first=0 last=1 count=2", "line 2", "both stride and"},
        {"place\nrequest bytes=8 first=0 last=1 count=2 stride=8", "line 2", "found count=2"},
        {"place\nrequest bytes=8 first=0 last=1 count=2 stride=7 interleaved_stride=8", "line 2",
         "at least bytes, found stride=7"},
        {"place\nrequest bytes=8 align=8 first=0 last=1 count=2 stride=8 interleaved_stride=12",
         "line 2", "multiples of align, found interleaved_stride=12"},
        {"place\nrequest bytes=8 first=0 last=1 stride=8", "line 2", "no strides"},
        {"place\nrequest bytes=8 first=0 last=1 count=2147483647 stride=2147483647 "
         "interleaved_stride=8",
         "line 2", "4 GiB"},
        {"place\nrequest bytes=8 first=0 last=1\nseparate a=0 b=0", "line 3", "two different"},
        {"place\nrequest bytes=8 first=0 last=1\nseparate a=0 b=1", "line 3",
         "two different requests of the lines before, found 0 and 1"},
        {"place\nrequest bytes=8 first=0 last=1 count=2 stride=8 interleaved_stride=8\n"
         "request bytes=8 first=0 last=1\ndonate from=0 to=1",
         "line 4", "no sequence (count > 1) to be donated"},
        {"place\nrequest bytes=8 first=0 last=1\nwish a=0 b=1 weight=0", "line 3", "weight"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Arena arena = keep;
        PlaceProblemVec problems;
        Error err = {0};
        CHECK_ERROR(place_problem_parse(str_of(cases[i].text), &arena, &problems, &err), err,
                    ERROR_INPUT, cases[i].part);
        CHECK_CSTR(err.where, cases[i].where);
    }
}

static void setup(void)
{
    keep = arena_create((isize)1 << 28);
    scratch = arena_create((isize)1 << 28);
}

TEST_MAIN(setup, solves_hidden_witnesses, never_proves_what_fits, proves_what_cannot_fit,
          fits_exactly, reuses_memory_over_time, respects_regions, keeps_read_ahead_in_sram,
          separates_pairs, catches_broken_rules, donates_in_place, keeps_wishes,
          keeps_given_addresses, round_trips_text, refuses_bad_text)
