/* Small random placement problems with everything that a problem can have, legal as the text form knows it (docs/place.md). */
#pragma once
#include "place/generate.h"
#include "place/place.h"
#include "test.h"

typedef struct RandomShape {
    int32_t requests, steps;
    uint32_t range_bytes; /* of a range at most */
    uint32_t bytes;       /* of a request at most */
    int32_t given;        /* one of so many requests has an address */
    bool has_donations, has_wishes;
} RandomShape;

static inline uint32_t roll_bytes(Dice *dice, uint32_t least, uint32_t most)
{
    return (uint32_t)roll(dice, least, most);
}

static inline void random_ranges(Dice *dice, RandomShape shape, PlaceProblem *out)
{
    static const uint32_t units[] = {0, 2, 4, 4, 8, 16};
    uint32_t at = roll_bytes(dice, 0, 5), unit = units[roll(dice, 0, 5)];
    bool are_regions =
        roll(dice, 1, 3) > 1; /* interleaved ranges behind the others, as of a tile */
    bool is_interleaved = false;
    int32_t count = (int32_t)roll(dice, 1, 4);
    for (int32_t i = 0; i < count; i++) {
        uint32_t before = unit;
        unit = roll(dice, 1, 3) > 1 ? unit : units[roll(dice, 0, 5)];
        if (before != 0 && unit != before) {
            at = (uint32_t)align_up(at, before);
        }
        uint32_t bytes = roll_one_of(dice, 16) ? 0 : roll_bytes(dice, 1, shape.range_bytes);
        is_interleaved = (are_regions && is_interleaved) || roll_one_of(dice, 3);
        out->ranges[out->range_count++] = (PlaceRange){.begin = at,
                                                       .end = at + bytes,
                                                       .element_bytes = unit,
                                                       .is_interleaved = is_interleaved,
                                                       .is_window = roll_one_of(dice, 4)};
        at += bytes + (roll_one_of(dice, 2) ? 0 : roll_bytes(dice, 1, 5));
    }
    out->limit = out->ranges[out->range_count - 1].end + roll_bytes(dice, 0, 5);
    out->limit += out->limit == 0;
}

static inline bool has_range(const PlaceProblem *problem, const PlaceRequest *r)
{
    for (int32_t k = 0; k < problem->range_count; k++) {
        const PlaceRange *range = &problem->ranges[k];
        if (place_may_use(r, range) &&
            place_extent(r, range->is_interleaved) <= range->end - range->begin) {
            return true;
        }
    }
    return false;
}

/* Mostly one that is not too large for all ranges. */
static inline PlaceRequest random_request(Dice *dice, RandomShape shape,
                                          const PlaceProblem *problem)
{
    PlaceRequest r = {.bytes = roll_bytes(dice, 1, shape.bytes),
                      .tail_bytes = roll_one_of(dice, 3) ? roll_bytes(dice, 1, 5) : 0,
                      .align = 1u << (roll_one_of(dice, 2) ? 0 : roll(dice, 0, 3)),
                      .first = (int32_t)roll(dice, 0, shape.steps - 1),
                      .count = 1,
                      .address = PLACE_NOWHERE,
                      .is_interleaved = roll_one_of(dice, 6),
                      .may_use_window = roll_one_of(dice, 2)};
    r.last = (int32_t)roll(dice, r.first + 1, shape.steps);
    if (roll_one_of(dice, 8)) {
        r.count = (int32_t)roll(dice, 2, 3);
        r.bytes = (r.bytes + 1) / 2;
        for (int i = 0; i < 2; i++) {
            r.stride[i] = (uint32_t)align_up(r.bytes + roll_bytes(dice, 0, 2), r.align);
        }
    }
    if (roll_one_of(dice, shape.given)) {
        r.address = roll_bytes(dice, 0, problem->limit) / r.align * r.align;
    }
    if (!has_range(problem, &r) && !roll_one_of(dice, 4 * shape.requests)) {
        r.is_interleaved = false;
        r.may_use_window = true;
        r.bytes = 1;
    }
    return r;
}

/* Pairs of requests with the first before the second: separated, wished apart or in place. */
static inline void random_couple(Dice *dice, RandomShape shape, PlaceProblem *out, int32_t a,
                                 int32_t b, Arena *keep)
{
    bool are_swapped = roll_one_of(dice, 2);
    int32_t x = are_swapped ? b : a, y = are_swapped ? a : b;
    int64_t kind = roll(dice, 0, 2);
    if (kind == 0) {
        *vec_push(&out->pairs, keep) = (PlacePair){x, y};
    } else if (kind == 1 && shape.has_wishes) {
        *vec_push(&out->wishes, keep) = (PlaceWish){x, y, (int32_t)roll(dice, 1, 9)};
    } else if (kind == 2 && shape.has_donations && out->requests.at[a].count == 1 &&
               out->requests.at[b].count == 1) {
        *vec_push(&out->donations, keep) = (PlaceDonation){x, y, roll_bytes(dice, 0, 4)};
    }
}

static inline PlaceProblem random_problem(uint64_t seed, RandomShape shape, Arena *keep)
{
    Dice dice = {random_u64(seed, 1), 0};
    PlaceProblem out = {.tile = -1};
    random_ranges(&dice, shape, &out);
    for (int32_t i = 0; i < shape.requests; i++) {
        PlaceRequest request = random_request(&dice, shape, &out);
        *vec_push(&out.requests, keep) = request;
        for (int64_t couples = roll(&dice, 0, i > 0 ? 2 : 0); couples > 0; couples--) {
            random_couple(&dice, shape, &out, (int32_t)roll(&dice, 0, i - 1), i, keep);
        }
    }
    return out;
}

/* The first requests of a problem, with the rules among them. */
static inline PlaceProblem first_requests(const PlaceProblem *problem, int32_t count, Arena *keep)
{
    PlaceProblem out = *problem;
    out.requests.len = count;
    out.pairs = (PlacePairVec){0};
    out.donations = (PlaceDonationVec){0};
    for (isize i = 0; i < problem->pairs.len; i++) {
        PlacePair pair = problem->pairs.at[i];
        if (pair.a < count && pair.b < count) {
            *vec_push(&out.pairs, keep) = pair;
        }
    }
    for (isize i = 0; i < problem->donations.len; i++) {
        PlaceDonation donation = problem->donations.at[i];
        if (donation.from < count && donation.to < count) {
            *vec_push(&out.donations, keep) = donation;
        }
    }
    return out;
}

/* Do the two touch a common element while both are alive, as place_problem_check says it of a pair? */
static inline bool is_wish_broken(const PlaceProblem *problem, PlaceWish wish,
                                  const PlaceSolution *solution, Arena scratch)
{
    PlaceProblem pair = *problem;
    PlacePair one = {wish.a, wish.b};
    Error err = {0};
    pair.pairs = (PlacePairVec){.at = &one, .len = 1, .cap = 1};
    return !place_problem_check(&pair, solution, scratch, &err);
}

static inline int64_t random_broken_weight(const PlaceProblem *problem,
                                           const PlaceSolution *solution, Arena scratch)
{
    int64_t weight = 0;
    for (isize i = 0; i < problem->wishes.len; i++) {
        PlaceWish wish = problem->wishes.at[i];
        weight += is_wish_broken(problem, wish, solution, scratch) ? wish.weight : 0;
    }
    return weight;
}

/* Exhaustive search over all addresses of requests i, i + 1 ...; parts[i] has the first i + 1 requests. place_problem_check judges.
 * It ends when a placement breaks no wish, or after `tries` of them; *best becomes the least weight. */
static inline bool fits_behind(const PlaceProblem *parts, int32_t i, int32_t count,
                               PlaceSolution *solution, int64_t *best, int64_t *tries,
                               Arena scratch)
{
    if (i == count) {
        int64_t weight = count > 0 ? random_broken_weight(&parts[count - 1], solution, scratch) : 0;
        *best = weight < *best ? weight : *best;
        return --*tries <= 0 || *best == 0;
    }
    const PlaceProblem *problem = &parts[i];
    const PlaceRequest *r = &problem->requests.at[i];
    for (int32_t k = 0; k < problem->range_count; k++) {
        const PlaceRange *range = &problem->ranges[k];
        solution->stride[i] = r->count > 1 ? r->stride[range->is_interleaved] : 0;
        for (uint32_t at = range->begin; at < range->end; at++) {
            Error err = {0};
            solution->address[i] = at;
            if (place_problem_check(problem, solution, scratch, &err) &&
                fits_behind(parts, i + 1, count, solution, best, tries, scratch)) {
                return true;
            }
        }
    }
    return false;
}

/* Least weight of broken wishes of all placements, -1 when there are none; of the first `tries` ones only, so not always the least of all. */
static inline int64_t least_broken_weight(const PlaceProblem *problem, int64_t tries, Arena scratch)
{
    int32_t count = (int32_t)problem->requests.len;
    int64_t best = INT64_MAX;
    PlaceSolution solution = {.address = arena_array(&scratch, uint32_t, count),
                              .stride = arena_array(&scratch, uint32_t, count)};
    PlaceProblem *parts = arena_array(&scratch, PlaceProblem, count);
    for (int32_t i = 0; i < count; i++) {
        parts[i] = first_requests(problem, i + 1, &scratch);
    }
    (void)fits_behind(parts, 0, count, &solution, &best, &tries, scratch);
    return best == INT64_MAX ? -1 : best;
}
