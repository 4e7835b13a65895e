/* One tile's problem: random instances built from a hidden witness are solved, infeasible ones are proven, and every
 * broken rule is caught by the check (compiler-design.md 11.5). */
#include "place/place.h"
#include "test.h"

static Arena keep, scratch;

static const AddrRange region0 = {0x5c000, 0x80000}, region1 = {0x80000, SRAM_IMAGE_END};

static PlaceProblem empty_problem(void)
{
    return (PlaceProblem){.tile = {7}, .available = {region0, region1}};
}

static void add(PlaceProblem *problem, Arena *arena, uint32_t bytes, int32_t first, int32_t last)
{
    *vec_push(&problem->requests, arena) =
        (PlaceRequest){.bytes = bytes, .align = 8, .first = first, .last = last};
}

static uint32_t *solve(const PlaceProblem *problem, Arena *arena)
{
    uint32_t *address;
    PlaceVerdict verdict;
    Error err = {0};
    CHECK(place_problem_solve(problem, arena, scratch, &address, &verdict));
    CHECK_OK(place_problem_check(problem, address, &err), err);
    return address;
}

/* Cuts both regions into rectangles of address x time, which are then requests that fit by construction. `slack` percent
 * of every piece is given away. */
static PlaceProblem witness(uint64_t seed, int slack, Arena *arena)
{
    PlaceProblem problem = empty_problem();
    uint64_t n = 0;
    for (int region = 0; region < 2; region++) {
        for (uint32_t at = problem.available[region].begin; at < problem.available[region].end;) {
            uint32_t width = 256 + 32 * (uint32_t)random_below(seed, n++, 900);
            uint32_t left = problem.available[region].end - at;
            width = left < width + 256 ? left : width;
            for (int32_t step = 0; step < 100;) {
                int32_t last = step + 1 + (int32_t)random_below(seed, n++, 60);
                last = last > 90 ? 100 : last;
                uint32_t bytes = width * (uint32_t)(100 - slack) / 100 / 32 * 32;
                uint32_t align = 8u << random_below(seed, n++, 3);
                bool is_interleaved = region == 1 && random_below(seed, n++, 3) == 0;
                *vec_push(&problem.requests, arena) =
                    (PlaceRequest){.bytes = bytes < 32 ? 32 : bytes,
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
        uint32_t *address;
        PlaceVerdict verdict;
        Error err = {0};
        if (place_problem_solve(&problem, &arena, scratch, &address, &verdict)) {
            CHECK_OK(place_problem_check(&problem, address, &err), err);
            solved++;
        }
        CHECK(!verdict.is_proven); /* it does fit */
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
        uint32_t *address;
        PlaceVerdict verdict;
        if (!place_problem_solve(&problem, &arena, scratch, &address, &verdict)) {
            CHECK(!verdict.is_proven);
            CHECK(verdict.live_peak_bytes <= verdict.available_bytes);
            CHECK(verdict.largest_hole < problem.requests.at[verdict.request].bytes + 32);
        }
    }
}

static void proves_what_cannot_fit(void)
{
    Arena arena = keep;
    uint32_t *address;
    PlaceVerdict verdict;
    PlaceProblem problem = empty_problem();
    int64_t room = region0.end - region0.begin + (region1.end - region1.begin);
    for (int i = 0; i < 10; i++) {
        add(&problem, &arena, 50000, i, 10);
    }
    add(&problem, &arena, (uint32_t)(room - 10 * 50000 + 8), 9, 12);
    CHECK(!place_problem_solve(&problem, &arena, scratch, &address, &verdict));
    CHECK(verdict.is_proven);
    CHECK_EQ_INT(verdict.tile.id, 7);
    CHECK_EQ_INT(verdict.peak_step, 9);
    CHECK_EQ_INT(verdict.short_bytes, 8);
    CHECK_EQ_INT(verdict.live_peak_bytes, room + 8);
    CHECK_EQ_INT(verdict.available_bytes, room);

    problem = empty_problem(); /* interleaved: only region 1 counts */
    for (int i = 0; i < 2; i++) {
        add(&problem, &arena, (region1.end - region1.begin) / 2 + 8, 0, 1);
        problem.requests.at[i].is_interleaved = true;
    }
    CHECK(!place_problem_solve(&problem, &arena, scratch, &address, &verdict));
    CHECK(verdict.is_proven);
    CHECK(verdict.short_bytes >= 8);

    problem = empty_problem(); /* one piece larger than the larger region */
    add(&problem, &arena, region1.end - region1.begin + 8, 0, 1);
    CHECK(!place_problem_solve(&problem, &arena, scratch, &address, &verdict));
    CHECK(verdict.is_proven);
    CHECK_EQ_INT(verdict.short_bytes, 8);

    problem = empty_problem(); /* fits by bytes, but not in one piece: no proof is claimed */
    add(&problem, &arena, region1.end - region1.begin - 8, 0, 1);
    add(&problem, &arena, region0.end - region0.begin - 8, 0, 1);
    add(&problem, &arena, 16, 0, 1);
    CHECK(!place_problem_solve(&problem, &arena, scratch, &address, &verdict));
    CHECK(!verdict.is_proven);
    CHECK_EQ_INT(verdict.largest_hole, 8);
    CHECK_EQ_INT(verdict.short_bytes, 8);
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
    problem.available[0] = (AddrRange){0x80000, 0x80000};
    problem.available[1] = (AddrRange){SRAM_IMAGE_END - 1024, SRAM_IMAGE_END};
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
    CHECK(!place_problem_solve(&problem, &arena, scratch, &address, &verdict));
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

static void catches_broken_rules(void)
{
    Arena arena = keep;
    PlaceProblem problem = empty_problem();
    add(&problem, &arena, 1024, 0, 10);
    add(&problem, &arena, 1024, 5, 15);
    add(&problem, &arena, 1024, 12, 20);
    problem.requests.at[2].is_interleaved = true;
    problem.requests.at[0].align = 64;
    problem.requests.at[1].tail_bytes = 256;
    *vec_push(&problem.pairs, &arena) = (PlacePair){0, 1};
    static const struct {
        uint32_t address[3];
        const char *part;
    } cases[] = {
        {{0x5c000, 0x60000, 0x80000}, NULL},
        {{0x5c020, 0x60000, 0x80000}, "not aligned"},
        {{0x5bfc0, 0x60000, 0x80000}, "outside"},
        {{0x5c000, 0x7fe00, 0x80000}, "outside"}, /* crosses the boundary */
        {{0x5c000, 0x60000, 0x70000}, "outside"}, /* interleaved in region 0 */
        {{0x5c000, SRAM_IMAGE_END - 1016, 0x80000}, "outside"},
        {{0x5c000, SRAM_IMAGE_END - 1024, 0x80000}, NULL},
        {{0x60200, 0x60000, 0x80000}, "request 1 overlaps request 0"},
        {{0x5c000, 0x90000, 0x90000}, "request 2 overlaps request 1"},
        {{0x90000, 0x60000, 0x90000}, NULL}, /* requests 0 and 2 never live together */
        {{0x60400, 0x60000, 0x80000}, "requests 0 and 1 share a memory element"},
        {{0x90000, 0x97f00, 0xe0000}, "requests 0 and 1 share a memory element"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Error err = {0};
        if (cases[i].part == NULL) {
            CHECK_OK(place_problem_check(&problem, cases[i].address, &err), err);
        } else {
            CHECK_ERROR(place_problem_check(&problem, cases[i].address, &err), err, ERROR_NO,
                        cases[i].part);
        }
    }
}

static void round_trips_text(void)
{
    uint64_t seed = test_seed(4);
    for (int round = 0; round < 20; round++) {
        Arena arena = keep;
        PlaceProblem problem = witness(seed + (uint64_t)round, 10, &arena), back;
        *vec_push(&problem.pairs, &arena) = (PlacePair){1, 0};
        Writer first = writer_buffer(&arena), second = writer_buffer(&arena);
        place_problem_print(&first, &problem);
        Error err = {0};
        CHECK_OK(place_problem_parse(writer_text(&first), &arena, &back, &err), err);
        place_problem_print(&second, &back);
        CHECK_STR(writer_text(&second), writer_text(&first));
        CHECK_EQ_INT(back.requests.len, problem.requests.len);
        CHECK_EQ_INT(back.available[0].begin, region0.begin);
    }
}

static void refuses_bad_text(void)
{
    static const struct {
        const char *text, *where, *part;
    } cases[] = {
        {"", "", "place"},
        {"request bytes=8", "line 1", "expected place"},
        {"place tile=1472", "line 1", "tile=number"},
        {"place tile=1 x", "line 1", "end of the line"},
        {"place tile=1\navailable begin=1 end=2\n", "", "two lines"},
        {"place tile=1\nrequest bytes=8 tail=0 align=3 interleaved=0 first=0 last=1 name=0",
         "line 2", "power of two"},
        {"place tile=1\nrequest bytes=8 tail=0 align=8 interleaved=0 first=1 last=1 name=0",
         "line 2", "first < last"},
        {"place tile=1\nseparate a=0 b=0", "line 2", "a=number"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Arena arena = keep;
        PlaceProblem problem;
        Error err;
        CHECK_ERROR(place_problem_parse(str_of(cases[i].text), &arena, &problem, &err), err,
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
          separates_pairs, catches_broken_rules, round_trips_text, refuses_bad_text)
