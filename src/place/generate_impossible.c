/* Problems without a placement, each for one known reason among harmless requests, 15 to 60 of them in random order.
 *
 * The core is alive within steps 40..60, harmless requests (8 bytes to 8 KiB, at most a 32nd of the smaller range) before and
 * behind it; in kinds 2..7 the proof is the core, in kinds 0 and 1 a peak. R0 = 147,456 and R1 = 424,880 bytes are the ranges of
 * generated_tile.
 *
 *   0 peak        12..25 requests alive in one step come to R0 + R1 + 8..64 bytes
 *   1 peak        8..16 interleaved requests alive in one step come to R1 + 8..64 bytes
 *   2 boundary    4..7 requests, each half to three halves of the mean of those left, with the sum S = R0 + R1 - 64..3,000
 *                 bytes, of which no subset comes to S - R1 .. R0 bytes, so that no partition over the ranges exists
 *   3 elements    interleaved requests separated from each other, ceil(bytes / 32 KiB) = 2..4 pairs each, 14 or more in all,
 *                 of which the range has 13; bytes in the first eighth of the last pair, so that R1 has room for the sum
 *   4 separation  three requests with alignments 2^(3 + random(12)) and two or three separations in 4..24 KiB below and 4..48 KiB
 *                 above the boundary; that they fit without the separations, and not with them, is tried
 *   5 time        6..10 interleaved requests of 1..5 units whose live sum is at most W = 6..10 units in each of 5..8 steps, at
 *                 W in all but two, and that yet do not fit in W units, found by trial; then unit = R1 / W, down to a multiple
 *                 of 8. Addresses of a placement pushed down are sums of units, so nothing fits above W of them
 *   6 given       2..5 small requests with given addresses, and one that is 8..64 bytes larger than any hole
 *   7 sequence    two sequences of 27 members with blocks larger than R0, R1 + 8..4,000 bytes together
 */
#include "place/generate.h"

enum {
    CORE_FIRST = 40,
    CORE_LAST = 60,
    REQUESTS_MIN = 15,
    REQUESTS_MAX = 60,
    TRIALS_MAX = 1000 * 1000,
    REGION0_BYTES = SRAM_REGION1 - GENERATED_DATA_BEGIN,
    REGION1_BYTES = SRAM_IMAGE_END - SRAM_REGION1,
};

typedef struct Maker {
    Dice dice;
    Arena *keep;
    PlaceProblem *problem;
    PlaceCertificate certificate;
} Maker;

typedef void Kind(Maker *m);

static PlaceRequest *add_core(Maker *m, int64_t bytes)
{
    return generated_request(m->problem, m->keep, bytes, CORE_FIRST, CORE_LAST);
}

static void separate(Maker *m, int32_t a, int32_t b)
{
    *vec_push(&m->problem->pairs, m->keep) = (PlacePair){a, b};
}

/* All requests so far do not fit. */
static PlaceCertificate subset_of_all(const PlaceProblem *problem)
{
    PlaceCertificate c = {.proof = PROOF_SUBSET, .count = (int32_t)problem->requests.len};
    ASSERT(c.count <= PLACE_SUBSET_MAX);
    for (int32_t i = 0; i < c.count; i++) {
        c.requests[i] = i;
    }
    return c;
}

static bool is_proven(const PlaceProblem *problem)
{
    Error err = {0};
    PlaceCertificate certificate = subset_of_all(problem);
    return place_certificate_check(problem, &certificate, &err);
}

/* `count` requests around one step that come to `bytes`, a multiple of 8, each with its lifetime. */
static void fill_step(Maker *m, int64_t bytes, int64_t count, bool is_interleaved)
{
    int32_t step = (int32_t)roll(&m->dice, CORE_FIRST, CORE_LAST - 1);
    for (int64_t left = count; left > 0; left--) {
        int64_t mean = bytes / left;
        int64_t part = left == 1 ? bytes : roll(&m->dice, mean / 4, mean * 7 / 4) / 8 * 8;
        PlaceRequest *r = add_core(m, part);
        r->first = (int32_t)roll(&m->dice, CORE_FIRST, step);
        r->last = (int32_t)roll(&m->dice, step + 1, CORE_LAST);
        r->is_interleaved = is_interleaved;
        bytes -= part;
    }
    m->certificate =
        (PlaceCertificate){.proof = PROOF_PEAK, .step = step, .is_interleaved = is_interleaved};
}

static void make_peak(Maker *m)
{
    int64_t over = 8 * roll(&m->dice, 1, 8);
    fill_step(m, REGION0_BYTES + REGION1_BYTES + over, roll(&m->dice, 12, 25), false);
}

static void make_interleaved_peak(Maker *m)
{
    int64_t over = 8 * roll(&m->dice, 1, 8);
    fill_step(m, REGION1_BYTES + over, roll(&m->dice, 8, 16), true);
}

/* Can these be parted so that each range takes its part? */
static bool has_partition(const int64_t *bytes, int64_t count)
{
    for (int64_t subset = 0; subset < (int64_t)1 << count; subset++) {
        int64_t low = 0, high = 0;
        for (int64_t i = 0; i < count; i++) {
            *((subset >> i & 1) != 0 ? &low : &high) += bytes[i];
        }
        if (low <= REGION0_BYTES && high <= REGION1_BYTES) {
            return true;
        }
    }
    return false;
}

static void make_boundary(Maker *m)
{
    int64_t bytes[7], count = roll(&m->dice, 4, 7);
    for (int trial = 0;; trial++) {
        ASSERT(trial < TRIALS_MAX);
        int64_t left = (REGION0_BYTES + REGION1_BYTES - roll(&m->dice, 64, 3000)) / 8 * 8;
        for (int64_t i = 0; i < count; i++) {
            int64_t mean = left / (count - i) / 8;
            bytes[i] = i + 1 == count ? left : 8 * roll(&m->dice, mean / 2, mean * 3 / 2);
            left -= bytes[i];
        }
        if (has_partition(bytes, count)) {
            continue;
        }
        for (int64_t i = 0; i < count; i++) {
            add_core(m, bytes[i]);
        }
        m->certificate = subset_of_all(m->problem);
        return;
    }
}

static void make_elements(Maker *m)
{
    enum { PAIR_BYTES = 2 * ELEMENT_BYTES, PAIRS = 13 };
    for (int64_t pairs = 0; pairs <= PAIRS;) {
        int64_t own = roll(&m->dice, 2, 4);
        int64_t bytes = (own - 1) * PAIR_BYTES + 8 * roll(&m->dice, 1, PAIR_BYTES / 64);
        add_core(m, bytes)->is_interleaved = true;
        for (int32_t i = 0; i + 1 < m->problem->requests.len; i++) {
            separate(m, i, (int32_t)m->problem->requests.len - 1);
        }
        pairs += own;
    }
    m->certificate = subset_of_all(m->problem);
}

static void make_separation(Maker *m)
{
    PlaceProblem *p = m->problem;
    for (int trial = 0;; trial++) {
        ASSERT(trial < TRIALS_MAX);
        p->requests.len = p->pairs.len = 0;
        int64_t low = 64 * roll(&m->dice, 64, 384), high = 64 * roll(&m->dice, 64, 768), sum = 0;
        p->ranges[0].begin = (uint32_t)(SRAM_REGION1 - low);
        p->ranges[1].end = (uint32_t)(SRAM_REGION1 + high);
        for (int32_t i = 0; i < 3; i++) {
            PlaceRequest *r = add_core(m, 8 * roll(&m->dice, 8, (low + high) / 16));
            r->align = 8u << roll(&m->dice, 0, 11);
            r->tail_bytes = 8 * (uint32_t)roll(&m->dice, 0, 4);
            sum += r->bytes;
        }
        if (sum > low + high || is_proven(p)) {
            continue;
        }
        separate(m, 0, 1);
        separate(m, 1, 2);
        if (roll_one_of(&m->dice, 2)) {
            separate(m, 0, 2);
        }
        if (is_proven(p)) {
            m->certificate = subset_of_all(p);
            return;
        }
    }
}

/* A small problem in units, `count` requests whose live sum is at most `units`; false when too few steps are full for it to be of
 * interest. */
static bool add_small(PlaceProblem *small, Maker *m, int32_t units, int32_t steps, int64_t count)
{
    int32_t live[8] = {0};
    small->requests.len = 0;
    for (int i = 0; i < 200 && small->requests.len < count; i++) {
        int32_t first = (int32_t)roll(&m->dice, 0, steps - 1);
        int32_t last = (int32_t)roll(&m->dice, first + 1, steps), most = units;
        for (int32_t step = first; step < last; step++) {
            most = live[step] > units - most ? units - live[step] : most;
        }
        int32_t bytes = most > 0 ? (int32_t)roll(&m->dice, 1, min_i64(most, units / 2)) : 0;
        for (int32_t step = first; step < last; step++) {
            live[step] += bytes;
        }
        if (bytes > 0) {
            PlaceRequest *r = generated_request(small, m->keep, bytes, first, last);
            r->is_interleaved = true;
            r->align = 1;
        }
    }
    int32_t full = 0;
    for (int32_t step = 0; step < steps; step++) {
        full += live[step] == units;
    }
    return small->requests.len == count && full >= steps - 2;
}

static void make_time(Maker *m)
{
    PlaceProblem small = *m->problem;
    for (int trial = 0;; trial++) {
        ASSERT(trial < TRIALS_MAX);
        int32_t units = (int32_t)roll(&m->dice, 6, 10), steps = (int32_t)roll(&m->dice, 5, 8);
        small.ranges[1].end = small.ranges[1].begin + (uint32_t)units;
        if (!add_small(&small, m, units, steps, roll(&m->dice, 6, 10)) || !is_proven(&small)) {
            continue;
        }
        int64_t unit = REGION1_BYTES / units / 8 * 8;
        int32_t stretch = (CORE_LAST - CORE_FIRST) / steps;
        for (isize i = 0; i < small.requests.len; i++) {
            const PlaceRequest *from = &small.requests.at[i];
            PlaceRequest *r = add_core(m, from->bytes * unit);
            r->first = CORE_FIRST + from->first * stretch;
            r->last = CORE_FIRST + from->last * stretch;
            r->is_interleaved = true;
        }
        m->certificate = subset_of_all(m->problem);
        return;
    }
}

static void make_given(Maker *m)
{
    int64_t count = roll(&m->dice, 2, 5), hole = 0;
    for (int k = 0; k < 2; k++) {
        const PlaceRange *range = &m->problem->ranges[k];
        int64_t here = k == 0 ? 1 : count - 1, begin = range->begin;
        for (int64_t i = 0; i < here; i++) { /* one in each of `here` equal parts, in its middle */
            int64_t part = (range->end - range->begin) / here;
            int64_t bytes = 8 * roll(&m->dice, 8, 512);
            int64_t at = range->begin + i * part + part / 4 + roll(&m->dice, 0, part / 2 - bytes);
            PlaceRequest *r = add_core(m, bytes);
            r->address = (uint32_t)(at / 8 * 8);
            hole = max_i64(hole, r->address - begin);
            begin = r->address + bytes;
        }
        hole = max_i64(hole, range->end - begin);
    }
    PlaceRequest *large = add_core(m, hole / 8 * 8 + 8 * roll(&m->dice, 1, 8));
    large->first = (int32_t)roll(&m->dice, CORE_FIRST, CORE_LAST - 1);
    m->certificate = subset_of_all(m->problem);
}

static void make_sequence(Maker *m)
{
    enum { MEMBERS = 27 };
    int64_t over = roll(&m->dice, 8, 4000), first = roll(&m->dice, 165000, 260000);
    for (int i = 0; i < 2; i++) {
        int64_t block = i == 0 ? first : REGION1_BYTES + over - first;
        uint32_t stride = (uint32_t)align_up(block / MEMBERS, 8);
        PlaceRequest *r = add_core(m, stride - 8 * roll(&m->dice, 0, 16));
        r->count = MEMBERS;
        r->stride[0] = stride - 8 * (uint32_t)roll(&m->dice, 0, 2);
        r->bytes = r->stride[0] < r->bytes ? r->stride[0] : r->bytes;
        r->stride[1] = stride;
        while (place_extent(r, true) < block) {
            r->stride[1] += 8;
        }
        ASSERT(place_extent(r, false) > REGION0_BYTES);
    }
    m->certificate = subset_of_all(m->problem);
}

static void add_harmless(Maker *m)
{
    int64_t least = max_i64(REQUESTS_MIN, m->problem->requests.len + 5);
    int64_t count = roll(&m->dice, least, REQUESTS_MAX), most = INT64_MAX;
    for (int k = 0; k < m->problem->range_count; k++) {
        const PlaceRange *range = &m->problem->ranges[k];
        most = min_i64(most, (range->end - range->begin) / 256 * 8);
    }
    while (m->problem->requests.len < count) {
        bool is_before = roll_one_of(&m->dice, 2);
        int32_t begin = is_before ? 0 : CORE_LAST, end = is_before ? CORE_FIRST : GENERATED_STEPS;
        int32_t first = (int32_t)roll(&m->dice, begin, end - 1);
        int64_t bytes = 8 * roll(&m->dice, 1, 8) << roll(&m->dice, 0, 7);
        PlaceRequest *r = generated_request(m->problem, m->keep, min_i64(bytes, most), first,
                                            (int32_t)roll(&m->dice, first + 1, end));
        r->align = 8u << roll(&m->dice, 0, 3);
        r->tail_bytes = 8 * (uint32_t)roll(&m->dice, 0, 2);
        r->is_interleaved = roll_one_of(&m->dice, 8);
    }
}

void place_generate_impossible(uint64_t seed, Arena *keep, PlaceProblem *out,
                               PlaceCertificate *certificate)
{
    static Kind *const kinds[PLACE_IMPOSSIBLE_KINDS] = {
        make_peak,  make_interleaved_peak, make_boundary, make_elements, make_separation, make_time,
        make_given, make_sequence};
    *out = generated_tile(str_format(keep, "impossible-%llu", (unsigned long long)seed));
    Maker *m =
        &(Maker){.dice = {.seed = random_u64(seed, DICE_IMPOSSIBLE)}, .keep = keep, .problem = out};
    kinds[seed % PLACE_IMPOSSIBLE_KINDS](m);
    add_harmless(m);
    const int32_t *to = generated_shuffle(out, &m->dice, keep);
    for (int32_t i = 0; i < m->certificate.count; i++) {
        m->certificate.requests[i] = to[m->certificate.requests[i]];
    }
    if (certificate != NULL) {
        *certificate = m->certificate;
    }
}
