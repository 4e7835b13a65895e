/* Generated problems: hidden placements are legal, what is impossible has a true certificate, and the tiles of the model have the
 * sizes that the documents state. */
#include "place/place.h"
#include "test.h"
#include <string.h>

static Arena keep, scratch;

static bool are_equal(const PlaceProblem *a, const PlaceProblem *b)
{
    Arena arena = scratch;
    Writer left = writer_buffer(&arena);
    place_problem_print(&left, a, NULL);
    Str text = writer_text(&left);
    Writer right = writer_buffer(&arena);
    place_problem_print(&right, b, NULL);
    return str_equal(text, writer_text(&right));
}

/* Bytes times steps, of whole blocks. */
static int64_t area_of(const PlaceProblem *problem, const PlaceSolution *witness)
{
    int64_t area = 0;
    for (isize i = 0; i < problem->requests.len; i++) {
        const PlaceRequest *r = &problem->requests.at[i];
        area += (r->bytes + (int64_t)(r->count - 1) * witness->stride[i]) * (r->last - r->first);
    }
    return area;
}

typedef struct Counts {
    int tails, interleaved, sequences, windows, pairs, to_the_end, aligned, small, large;
} Counts;

static void count_requests(const PlaceProblem *problem, Counts *counts)
{
    CHECK(problem->requests.len >= 100 && problem->requests.len <= 250);
    for (isize i = 0; i < problem->requests.len; i++) {
        const PlaceRequest *r = &problem->requests.at[i];
        CHECK(r->bytes >= 64 && r->bytes <= 100 * 1024);
        CHECK(r->align >= 8 && r->align <= 64);
        CHECK_EQ_INT(r->address, PLACE_NOWHERE);
        counts->tails += r->tail_bytes > 0;
        counts->interleaved += r->is_interleaved;
        counts->sequences += r->count > 1;
        counts->windows += r->may_use_window;
        counts->to_the_end += r->first == 0 && r->last == 100;
        counts->aligned += r->align == 64;
        counts->small += r->bytes <= 256;
        counts->large += r->bytes >= 50 * 1024;
    }
    counts->pairs += (int)problem->pairs.len;
}

static void hides_witnesses(void)
{
    static const int slacks[] = {0, 5, 10, 20};
    uint64_t seed = test_seed(1);
    Counts counts = {0};
    for (uint64_t i = 0; i < 400; i++) {
        Arena arena = keep;
        PlaceProblem problem, again;
        PlaceSolution witness;
        Error err = {0};
        int slack = slacks[i / 4 % 4];
        place_generate_witness(seed + i, slack, 0, &arena, scratch, &problem, &witness);
        place_generate_witness(seed + i, slack, 0, &arena, scratch, &again, NULL);
        CHECK(are_equal(&problem, &again));
        CHECK_OK(place_problem_check(&problem, &witness, scratch, &err), err);
        count_requests(&problem, &counts);
        int64_t room = 0;
        for (int32_t k = 0; k < problem.range_count; k++) {
            room += 100 * (int64_t)(problem.ranges[k].end - problem.ranges[k].begin);
        }
        int64_t free_permille_tenths = 10000 * (room - area_of(&problem, &witness)) / room;
        CHECK(free_permille_tenths <= 10 * slack && free_permille_tenths >= 10 * slack - 10);
    }
    fprintf(
        stderr,
        "%d with tails, %d interleaved, %d sequences, %d for the window, %d pairs, %d for ever, "
        "%d of alignment 64, %d of 256 bytes or less, %d of 50 KiB or more\n",
        counts.tails, counts.interleaved, counts.sequences, counts.windows, counts.pairs,
        counts.to_the_end, counts.aligned, counts.small, counts.large);
    CHECK(counts.tails > 4000 && counts.interleaved > 4000 && counts.sequences > 400);
    CHECK(counts.windows > 4000 && counts.pairs > 10000 && counts.to_the_end > 400);
    CHECK(counts.aligned > 4000 && counts.small > 400 && counts.large > 400);
}

/* Steps in which at most one part in `part` of the ranges is free. */
static int full_steps(const PlaceProblem *problem, const PlaceSolution *witness, int64_t part)
{
    int64_t alive[100] = {0}, room = 0;
    int count = 0;
    for (int32_t k = 0; k < problem->range_count; k++) {
        room += problem->ranges[k].end - problem->ranges[k].begin;
    }
    for (isize i = 0; i < problem->requests.len; i++) {
        const PlaceRequest *r = &problem->requests.at[i];
        for (int32_t step = r->first; step < r->last; step++) {
            alive[step] += r->bytes + (int64_t)(r->count - 1) * witness->stride[i];
        }
    }
    for (int step = 0; step < 100; step++) {
        count += (room - alive[step]) * part <= room;
    }
    return count;
}

static void hides_witnesses_with_peaks(void)
{
    uint64_t seed = test_seed(1);
    int full = 0;
    for (uint64_t i = 0; i < 200; i++) {
        Arena arena = keep;
        PlaceProblem problem;
        PlaceSolution witness;
        Error err = {0};
        place_generate_witness(seed + i, 10, 3, &arena, scratch, &problem, &witness);
        CHECK_OK(place_problem_check(&problem, &witness, scratch, &err), err);
        int count = full_steps(&problem, &witness, 50);
        CHECK(count >= 1 && count < 90); /* three steps may be one */
        full += count;
    }
    fprintf(stderr, "with three peaks %.1f of 100 steps are full but for 2 %%\n", full / 200.0);
}

static void certifies_the_impossible(void)
{
    uint64_t seed = test_seed(1);
    for (uint64_t i = 0; i < 200; i++) {
        Arena arena = keep;
        PlaceProblem problem, again;
        PlaceCertificate certificate;
        Error err = {0};
        place_generate_impossible(seed + i, &arena, &problem, &certificate);
        place_generate_impossible(seed + i, &arena, &again, NULL);
        CHECK(are_equal(&problem, &again));
        CHECK(problem.requests.len >= 15 && problem.requests.len <= 60);
        CHECK_OK(place_certificate_check(&problem, &certificate, &err), err);
    }
}

static bool is_in(const PlaceCertificate *certificate, int32_t request)
{
    for (int32_t i = 0; i < certificate->count; i++) {
        if (certificate->requests[i] == request) {
            return true;
        }
    }
    return false;
}

/* Without the subset of its proof a problem is easy, and no live sum alone shows that it is impossible. */
static void hides_the_reason(void)
{
    for (uint64_t seed = 0; seed < 200; seed++) {
        Arena arena = keep;
        PlaceProblem problem;
        PlaceCertificate certificate;
        PlaceSolution solution;
        PlaceVerdict verdict;
        PlaceOptions options = {.nodes_max = 100};
        Error err = {0};
        place_generate_impossible(seed, &arena, &problem, &certificate);
        CHECK(place_problem_solve(&problem, &options, &arena, scratch, &solution, &verdict) !=
              PLACE_PLACED);
        CHECK_EQ_INT(certificate.proof,
                     seed % PLACE_IMPOSSIBLE_KINDS < 2 ? PROOF_PEAK : PROOF_SUBSET);
        if (certificate.proof == PROOF_PEAK) {
            continue;
        }
        for (int32_t step = 0; step < 100; step++) {
            for (int k = 0; k < 2; k++) {
                PlaceCertificate peak = {.proof = PROOF_PEAK, .step = step, .is_interleaved = k};
                CHECK(!place_certificate_check(&problem, &peak, &err));
            }
        }
        PlaceProblem rest = problem;
        rest.requests = (PlaceRequestVec){0};
        rest.pairs = (PlacePairVec){0};
        for (int32_t i = 0; i < problem.requests.len; i++) {
            if (!is_in(&certificate, i)) {
                *vec_push(&rest.requests, &arena) = problem.requests.at[i];
            }
        }
        CHECK_EQ_INT(place_problem_solve(&rest, &options, &arena, scratch, &solution, &verdict),
                     PLACE_PLACED);
    }
}

static const PlaceRequest *find(const PlaceProblem *problem, const char *name)
{
    for (isize i = 0; i < problem->requests.len; i++) {
        if (str_equal(problem->requests.at[i].name, str_of(name))) {
            return &problem->requests.at[i];
        }
    }
    return NULL;
}

static int64_t live_peak(const PlaceProblem *problem)
{
    int64_t peak = 0;
    for (int32_t step = 0; step < 200; step++) {
        int64_t live = 0;
        for (isize i = 0; i < problem->requests.len; i++) {
            const PlaceRequest *r = &problem->requests.at[i];
            live += r->first <= step && step < r->last ? place_extent(r, true) : 0;
        }
        peak = max_i64(peak, live);
    }
    return peak;
}

static void models_the_tiles(void)
{
    static const int32_t halves[] = {2624, 2560, 2528, 1312, 1280, 1264};
    static const int32_t tiles[] = {535, 321, 107, 275, 165, 55}; /* compiler-design.md 15 */
    int32_t found[6] = {0}, homes[2] = {0}, placed = 0, most = 0, least = INT32_MAX;
    int64_t peak_least = INT64_MAX, peak_most = 0, pairs = 0;
    for (int32_t id = 0; id < 1472; id++) {
        Arena arena = keep;
        PlaceProblem problem, again;
        PlaceSolution solution;
        PlaceVerdict verdict;
        PlaceOptions options = {.nodes_max = 1};
        Error err = {0};
        place_generate_model((Tile){(uint16_t)id}, &arena, &problem);
        if (id % 100 == 0) {
            place_generate_model((Tile){(uint16_t)id}, &arena, &again);
            CHECK(are_equal(&problem, &again));
        }
        const PlaceRequest *sum = find(&problem, "up.sum"), *home = find(&problem, "w_qkv");
        for (int i = 0; i < 6; i++) {
            found[i] += sum != NULL && sum->bytes == 2 * (uint32_t)halves[i];
        }
        if (home != NULL) {
            CHECK_EQ_INT(place_extent(home, true), 82944);
            homes[0]++;
        }
        home = find(&problem, "w_o");
        if (home != NULL) {
            CHECK_EQ_INT(place_extent(home, true), 27648);
            homes[1]++;
        }
        int64_t peak = live_peak(&problem);
        peak_least = min_i64(peak_least, peak);
        peak_most = max_i64(peak_most, peak);
        most = problem.requests.len > most ? (int32_t)problem.requests.len : most;
        least = problem.requests.len < least ? (int32_t)problem.requests.len : least;
        pairs += problem.pairs.len;
        bool is_placed = place_problem_solve(&problem, &options, &arena, scratch, &solution,
                                             &verdict) == PLACE_PLACED;
        CHECK(verdict.outcome != PLACE_IMPOSSIBLE);
        if (is_placed) {
            CHECK_OK(place_problem_check(&problem, &solution, scratch, &err), err);
        }
        placed += is_placed;
    }
    for (int i = 0; i < 6; i++) {
        CHECK_EQ_INT(found[i], tiles[i]);
    }
    CHECK_EQ_INT(homes[0], 1296);
    CHECK_EQ_INT(homes[1], 1296);
    fprintf(stderr,
            "model: %d of 1472 tiles placed, %d..%d requests, live peaks %lld..%lld bytes, %lld "
            "pairs\n",
            placed, least, most, (long long)peak_least, (long long)peak_most, (long long)pairs);
    CHECK_EQ_INT(peak_least, 236696); /* as generate_model.c states */
    CHECK_EQ_INT(peak_most, 394392);
    CHECK_EQ_INT(least, 22);
    CHECK_EQ_INT(most, 240);
    CHECK(placed >= 1400);
}

/* Sizes that compiler-design.md states (1.2, 3.4). */
static void models_stated_sizes(void)
{
    static const struct {
        const char *name;
        uint32_t bytes;
    } sizes[] = {
        {"qkv.left", 244 * 128},
        {"qkv.weights", 128 * 64},
        {"output.left", 146 * 96},
        {"output.weights", 96 * 48},
        {"up.left", 15744},
        {"up.weights", 30720},
        {"up.partial", 26240},
        {"down.left", 122 * 160},
        {"down.weights", 160 * 128},
        {"queries.left", 81 * 80 * 2},
        {"keys.right", 80 * 80 * 2},
        {"scores", 12960},
        {"softmax.rows", 8 * 768 * 2},
        {"probabilities.left", 57 * 128},
        {"values.right", 128 * 80},
        {"x", 2304},
        {"gelu.rows", 4304},
    };
    Arena arena = keep;
    PlaceProblem problem;
    place_generate_model((Tile){0}, &arena, &problem);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const PlaceRequest *r = find(&problem, sizes[i].name);
        CHECK(r != NULL);
        CHECK_EQ_INT(r->bytes, sizes[i].bytes);
    }
    CHECK(find(&problem, "up.partial")->is_interleaved);
}

static void keeps_its_text_form(void)
{
    for (int i = 0; i < 48; i++) {
        Arena arena = keep;
        PlaceProblem problem;
        Error err = {0};
        PlaceProblemVec parsed = {0};
        if (i % 3 == 0) {
            place_generate_witness((uint64_t)i / 3, 5, 0, &arena, scratch, &problem, NULL);
        } else if (i % 3 == 1) {
            place_generate_impossible((uint64_t)i / 3, &arena, &problem, NULL);
        } else {
            place_generate_model((Tile){(uint16_t)(i * 30)}, &arena, &problem);
        }
        Writer writer = writer_buffer(&arena);
        place_problem_print(&writer, &problem, NULL);
        CHECK_OK(place_problem_parse(writer_text(&writer), &arena, &parsed, &err), err);
        CHECK_EQ_INT(parsed.len, 1);
        CHECK(are_equal(&parsed.at[0], &problem));
    }
}

static void setup(void)
{
    keep = arena_create((isize)1 << 28);
    scratch = arena_create((isize)1 << 28);
}

TEST_MAIN(setup, models_stated_sizes, models_the_tiles, hides_witnesses, hides_witnesses_with_peaks,
          certifies_the_impossible, hides_the_reason, keeps_its_text_form)
