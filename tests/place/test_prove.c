/* Certificates: true ones hold, planted ones do not, and a subset is decided as trying all addresses decides it. */
#include "place/place.h"
#include "test.h"

static Arena keep, scratch;

static PlaceProblem two_ranges(uint32_t first, uint32_t second)
{
    return (PlaceProblem){
        .tile = -1,
        .ranges = {{.begin = 0, .end = first, .element_bytes = 4},
                   {.begin = 16, .end = 16 + second, .element_bytes = 8, .is_interleaved = true}},
        .range_count = 2,
        .limit = 64};
}

static PlaceRequest *add(PlaceProblem *problem, Arena *arena, uint32_t bytes, int32_t first,
                         int32_t last)
{
    PlaceRequest *request = vec_push(&problem->requests, arena);
    *request = (PlaceRequest){.bytes = bytes,
                              .align = 1,
                              .count = 1,
                              .first = first,
                              .last = last,
                              .address = PLACE_NOWHERE};
    return request;
}

static PlaceCertificate subset_of(int count)
{
    PlaceCertificate certificate = {.proof = PROOF_SUBSET, .count = count};
    for (int i = 0; i < count && i < PLACE_SUBSET_MAX; i++) {
        certificate.requests[i] = i;
    }
    return certificate;
}

static void counts_peaks(void)
{
    Arena arena = keep;
    Error err = {0};
    PlaceProblem problem = two_ranges(16, 8);
    add(&problem, &arena, 10, 0, 3);
    add(&problem, &arena, 10, 2, 5);
    add(&problem, &arena, 5, 2, 3)->is_interleaved = true;
    PlaceCertificate peak = {.proof = PROOF_PEAK, .step = 2};
    CHECK_OK(place_certificate_check(&problem, &peak, &err), err); /* 25 bytes, 24 are there */
    peak.step = 3;
    CHECK_ERROR(place_certificate_check(&problem, &peak, &err), err, ERROR_NO,
                "10 bytes are alive");
    peak = (PlaceCertificate){.proof = PROOF_PEAK, .step = 2, .is_interleaved = true};
    CHECK_ERROR(place_certificate_check(&problem, &peak, &err), err, ERROR_NO, "room for 8");
    problem.requests.at[2].bytes = 9;
    CHECK_OK(place_certificate_check(&problem, &peak, &err), err);
    peak = (PlaceCertificate){.proof = PROOF_PEAK, .step = 2};
    *vec_push(&problem.donations, &arena) = (PlaceDonation){0, 1, 0}; /* now 19 bytes may do */
    CHECK_ERROR(place_certificate_check(&problem, &peak, &err), err, ERROR_NO,
                "19 bytes are alive");
}

static void decides_subsets(void)
{
    Arena arena = keep;
    Error err = {0};
    PlaceProblem problem = two_ranges(16, 16);
    for (int i = 0; i < 3; i++) { /* 27 bytes in 32, but each range takes only one of 9 */
        add(&problem, &arena, 9, 0, 1);
    }
    PlaceCertificate certificate = subset_of(3);
    CHECK_OK(place_certificate_check(&problem, &certificate, &err), err);
    certificate = subset_of(2);
    CHECK_ERROR(place_certificate_check(&problem, &certificate, &err), err, ERROR_NO,
                "a subset of 2 requests fits");
    problem.requests.at[2].first = 1;
    problem.requests.at[2].last = 2;
    certificate = subset_of(3);
    CHECK_ERROR(place_certificate_check(&problem, &certificate, &err), err, ERROR_NO, "fits");
}

static void refuses_planted_ones(void)
{
    Arena arena = keep;
    Error err = {0};
    PlaceProblem problem = two_ranges(16, 16);
    for (int i = 0; i < 3; i++) {
        add(&problem, &arena, 9, 0, 1);
    }
    PlaceCertificate certificate = {0};
    CHECK_ERROR(place_certificate_check(&problem, &certificate, &err), err, ERROR_NO, "no proof");
    certificate = subset_of(0);
    CHECK_ERROR(place_certificate_check(&problem, &certificate, &err), err, ERROR_NO, "0 requests");
    certificate = subset_of(PLACE_SUBSET_MAX + 1);
    CHECK_ERROR(place_certificate_check(&problem, &certificate, &err), err, ERROR_NO,
                "15 requests");
    certificate = subset_of(4);
    CHECK_ERROR(place_certificate_check(&problem, &certificate, &err), err, ERROR_NO,
                "no request 3");
    certificate = subset_of(3);
    certificate.requests[2] = 0; /* three times 9 bytes, but of two requests */
    CHECK_ERROR(place_certificate_check(&problem, &certificate, &err), err, ERROR_NO,
                "request 0 twice");
}

/* Tries all addresses of request i and those behind it; the check judges. */
static bool fits_somewhere(const PlaceProblem *problem, PlaceSolution *solution, int i)
{
    Error err = {0};
    if (i == problem->requests.len) {
        return place_problem_check(problem, solution, scratch, &err);
    }
    const PlaceRequest *r = &problem->requests.at[i];
    for (uint32_t at = 0; at < 32; at++) {
        solution->address[i] = at;
        solution->stride[i] = r->count > 1 ? r->stride[at >= 16] : 0;
        if (fits_somewhere(problem, solution, i + 1)) {
            return true;
        }
    }
    return false;
}

static void agrees_with_all_addresses(void)
{
    uint64_t seed = test_seed(1), n = 0;
    int impossible = 0;
    for (int round = 0; round < 1500; round++) {
        Arena arena = keep;
        uint32_t room = 4 + (uint32_t)random_below(seed, n++, 9);
        PlaceProblem problem = two_ranges(room, 4 + (uint32_t)random_below(seed, n++, 9));
        problem.limit = 26 + (uint32_t)random_below(seed, n++, 8);
        problem.ranges[0].is_window = random_below(seed, n++, 4) == 0;
        int count = 2 + (int)random_below(seed, n++, 2);
        for (int i = 0; i < count; i++) {
            int32_t first = (int32_t)random_below(seed, n++, 3);
            uint32_t bytes = 1 + (uint32_t)random_below(seed, n++, 8);
            PlaceRequest *r = add(&problem, &arena, bytes, first,
                                  first + 1 + (int32_t)random_below(seed, n++, 3));
            r->align = 1u << random_below(seed, n++, 3);
            r->tail_bytes = (uint32_t)random_below(seed, n++, 4);
            r->is_interleaved = random_below(seed, n++, 4) == 0;
            r->may_use_window = random_below(seed, n++, 2) == 0;
            if (random_below(seed, n++, 5) == 0) {
                r->count = 2;
                r->stride[0] = (uint32_t)align_up(r->bytes, r->align);
                r->stride[1] = r->stride[0] + r->align;
            }
            if (random_below(seed, n++, 8) == 0) {
                r->address = (uint32_t)random_below(seed, n++, 24);
            }
        }
        for (int i = 1; i < count; i++) {
            if (random_below(seed, n++, 2) == 0) {
                *vec_push(&problem.pairs, &arena) = (PlacePair){i, i - 1};
            } else if (problem.requests.at[i].count + problem.requests.at[i - 1].count == 2) {
                *vec_push(&problem.donations, &arena) =
                    (PlaceDonation){i, i - 1, (uint32_t)random_below(seed, n++, 4)};
            }
        }
        uint32_t address[4], stride[4];
        bool fits = fits_somewhere(&problem, &(PlaceSolution){address, stride}, 0);
        PlaceCertificate certificate = subset_of(count);
        Error err = {0};
        CHECK(place_certificate_check(&problem, &certificate, &err) == !fits);
        impossible += !fits;
    }
    CHECK(impossible > 150 && impossible < 1350);
}

static void setup(void)
{
    keep = arena_create((isize)1 << 26);
    scratch = arena_create((isize)1 << 26);
}

TEST_MAIN(setup, counts_peaks, decides_subsets, refuses_planted_ones, agrees_with_all_addresses)
