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
        place_generate_witness(seed + i, slack, &arena, scratch, &problem, &witness);
        place_generate_witness(seed + i, slack, &arena, scratch, &again, NULL);
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

static void setup(void)
{
    keep = arena_create((isize)1 << 28);
    scratch = arena_create((isize)1 << 28);
}

TEST_MAIN(setup, hides_witnesses, certifies_the_impossible, hides_the_reason)
