/* Problems with a hidden placement: one tile whose ranges are cut into rectangles of address x time without gaps, of which some
 * bytes are taken away. What the placement has by chance (alignments, elements apart, regions) becomes a rule.
 *
 *   ranges    0x5c000..0x80000 and 0x80000..0xe7bb0; with seed % 4 = 3 also the window 0x50000..0x58000
 *   requests  R = 100 + random(151): rectangles are cut until there are R
 *   cuts      of a rectangle of more than 100 KiB: between addresses, uniform, or one of three times between steps if it has
 *             more than 33; of a smaller one, the largest of three at random: 2 of 5 times between addresses, else between
 *             steps, with a third of them staying whole in time. Half of these cuts are uniform, half near one end:
 *             64 * 2^random(10) bytes, or 1 + random(4) steps, from it
 *   peaks     with p > 0: p steps stay full; of the rectangles that lie in none of them one of two is left out. Without, every step
 *             is full
 *   slack     s permille: owed += bytes * steps * s / 1000 rectangle by rectangle, paid in units of 8 bytes as soon as a rectangle
 *             can pay, so that the sum over all is s permille whatever the sizes
 *   align     the largest of 8..64 that the address has, or half of the times any smaller one
 *   tail      8 * random(8) bytes, every third request
 *   sequence  one of six that are large enough: n = 2..27 members, stride = up(bytes / n, align), which leaves the last member the
 *             rest; the stride of the other ranges is 0..4 times align more
 *   class     interleaved: one of four that lie in region 1; window: all that lie in it, and one of six others
 *   pairs     R / 2 at most, two requests alive together at random whose elements, tails included, are not the same
 */
#include "place/generate.h"

enum {
    LEAST_BYTES = 64,
    MOST_BYTES = 100 * 1024,
    WINDOW_BEGIN = 0x50000,
    WINDOW_END = 0x58000, /* compiler-design.md 1.1 */
    MEMBERS_MAX = 27,
};

typedef struct Rectangle {
    int64_t begin, end; /* addresses */
    int32_t first, last;
    bool is_whole; /* in time */
} Rectangle;
VEC(Rectangle);

PlaceProblem generated_tile(Str name)
{
    PlaceProblem problem = tile_problem_empty(-1, GENERATED_DATA_BEGIN);
    problem.name = name;
    return problem;
}

PlaceRequest *generated_request(PlaceProblem *problem, Arena *keep, int64_t bytes, int32_t first,
                                int32_t last)
{
    ASSERT(bytes > 0);
    ASSERT(first < last);
    PlaceRequest *request = vec_push(&problem->requests, keep);
    *request = (PlaceRequest){.bytes = (uint32_t)bytes,
                              .align = 8,
                              .first = first,
                              .last = last,
                              .count = 1,
                              .address = PLACE_NOWHERE};
    return request;
}

int32_t *generated_shuffle(PlaceProblem *problem, Dice *dice, Arena *keep)
{
    int32_t count = (int32_t)problem->requests.len;
    int32_t *from = arena_array(keep, int32_t, count), *to = arena_array(keep, int32_t, count);
    PlaceRequest *requests = problem->requests.at;
    for (int32_t i = 0; i < count; i++) {
        int32_t k = (int32_t)roll(dice, 0, i);
        from[i] = from[k];
        from[k] = i;
    }
    PlaceRequest *shuffled = arena_array(keep, PlaceRequest, count);
    for (int32_t i = 0; i < count; i++) {
        shuffled[i] = requests[from[i]];
        to[from[i]] = i;
    }
    problem->requests.at = shuffled;
    problem->requests.cap = count;
    for (isize i = 0; i < problem->pairs.len; i++) {
        PlacePair *pair = &problem->pairs.at[i];
        *pair = (PlacePair){to[pair->a], to[pair->b]};
    }
    return to;
}

static int64_t area_of(const Rectangle *r)
{
    return (r->end - r->begin) * (r->last - r->first);
}

static bool cut_between_addresses(RectangleVec *cut, int32_t index, Dice *dice, Arena *arena)
{
    Rectangle r = cut->at[index];
    int64_t bytes = r.end - r.begin, unit = (int64_t)8 << roll(dice, 0, 3);
    int64_t near = min_i64(LEAST_BYTES << roll(dice, 0, 9), bytes / 2);
    bool is_uniform = bytes > MOST_BYTES || roll_one_of(dice, 2);
    int64_t at = is_uniform ? roll(dice, 0, bytes) : roll_one_of(dice, 2) ? near : bytes - near;
    at = (r.begin + at) / unit * unit;
    if (at - r.begin < LEAST_BYTES || r.end - at < LEAST_BYTES) {
        return false;
    }
    Rectangle high = r;
    high.begin = at;
    cut->at[index].end = at;
    *vec_push(cut, arena) = high;
    return true;
}

static bool cut_between_steps(RectangleVec *cut, int32_t index, Dice *dice, Arena *arena)
{
    Rectangle r = cut->at[index];
    if (r.is_whole || r.last - r.first < 2) {
        return false;
    }
    int32_t near = (int32_t)min_i64(roll(dice, 1, 4), r.last - r.first - 1);
    int32_t at = roll_one_of(dice, 2)   ? (int32_t)roll(dice, r.first + 1, r.last - 1)
                 : roll_one_of(dice, 2) ? r.first + near
                                        : r.last - near;
    Rectangle late = r;
    late.first = at;
    cut->at[index].last = at;
    *vec_push(cut, arena) = late;
    return true;
}

/* All ranges in at least `count` rectangles. */
static RectangleVec cut_ranges(const PlaceProblem *problem, int64_t count, Dice *dice, Arena *arena)
{
    RectangleVec cut = {0};
    for (int32_t i = 0; i < problem->range_count; i++) {
        const PlaceRange *range = &problem->ranges[i];
        *vec_push(&cut, arena) = (Rectangle){range->begin, range->end, 0, GENERATED_STEPS, false};
    }
    for (int32_t i = 0; i < cut.len; i++) {
        while (cut.at[i].end - cut.at[i].begin > MOST_BYTES) {
            bool is_long = cut.at[i].last - cut.at[i].first > GENERATED_STEPS / 3;
            (void)(is_long && roll_one_of(dice, 3) ? cut_between_steps(&cut, i, dice, arena)
                                                   : cut_between_addresses(&cut, i, dice, arena));
        }
        cut.at[i].is_whole = roll_one_of(dice, 3);
    }
    while (cut.len < count) {
        int32_t best = (int32_t)roll(dice, 0, cut.len - 1);
        for (int i = 0; i < 2; i++) {
            int32_t other = (int32_t)roll(dice, 0, cut.len - 1);
            best = area_of(&cut.at[other]) > area_of(&cut.at[best]) ? other : best;
        }
        (void)(roll(dice, 1, 5) <= 2 ? cut_between_addresses(&cut, best, dice, arena)
                                     : cut_between_steps(&cut, best, dice, arena));
    }
    return cut;
}

/* Makes members of a request that lies there, whose block stays as it is. */
static void make_sequence(PlaceRequest *r, const PlaceRange *range, Dice *dice)
{
    int64_t count = roll(dice, 2, MEMBERS_MAX), bytes = r->bytes;
    if (bytes <
        count * (LEAST_BYTES + r->align * count)) { /* so that the last one has LEAST_BYTES */
        return;
    }
    uint32_t stride = (uint32_t)align_up((bytes + count - 1) / count, r->align);
    r->count = (int32_t)count;
    r->bytes -= (uint32_t)(count - 1) * stride;
    r->stride[range->is_interleaved] = stride;
    r->stride[!range->is_interleaved] = stride + r->align * (uint32_t)roll(dice, 0, 4);
}

static void add_rectangle(PlaceProblem *problem, const Rectangle *r, int64_t bytes, Dice *dice,
                          Arena *keep)
{
    const PlaceRange *range = range_at(problem, r->begin);
    PlaceRequest *request = generated_request(problem, keep, bytes, r->first, r->last);
    while (request->align < 64 && r->begin % (2 * request->align) == 0) {
        request->align *= 2;
    }
    if (roll_one_of(dice, 2)) {
        request->align = (uint32_t)max_i64(8, request->align >> roll(dice, 0, 3));
    }
    request->tail_bytes = roll_one_of(dice, 3) ? 8 * (uint32_t)roll(dice, 0, 7) : 0;
    request->is_interleaved = range->is_interleaved && roll_one_of(dice, 4);
    request->may_use_window = range->is_window || roll_one_of(dice, 6);
    if (roll_one_of(dice, 6)) {
        make_sequence(request, range, dice);
    }
}

/* A request with its tail, there. */
static AddrRange span_at(const PlaceProblem *problem, const PlaceRequest *r, int64_t address)
{
    int64_t extent = place_extent(r, range_at(problem, address)->is_interleaved);
    return (AddrRange){(uint32_t)address, (uint32_t)(address + extent + r->tail_bytes)};
}

static void add_pairs(PlaceProblem *problem, const RectangleVec *cut, Dice *dice, Arena *keep)
{
    int32_t count = (int32_t)problem->requests.len;
    for (int32_t i = 0; i < 4 * count && problem->pairs.len < count / 2; i++) {
        int32_t a = (int32_t)roll(dice, 0, count - 1), b = (int32_t)roll(dice, 0, count - 1);
        const PlaceRequest *left = &problem->requests.at[a], *right = &problem->requests.at[b];
        if (are_alive_together(left, right) &&
            !ranges_share_group(span_at(problem, left, cut->at[a].begin),
                                span_at(problem, right, cut->at[b].begin))) {
            *vec_push(&problem->pairs, keep) = (PlacePair){a, b};
        }
    }
}

/* Leaves out rectangles, so that only some steps stay full. */
static void keep_peaks(RectangleVec *cut, int peaks, Dice *dice)
{
    bool is_full[GENERATED_STEPS] = {false};
    for (int i = 0; i < peaks; i++) {
        is_full[roll(dice, 0, GENERATED_STEPS - 1)] = true;
    }
    isize kept = 0;
    for (isize i = 0; i < cut->len; i++) {
        bool is_kept = false;
        for (int32_t step = cut->at[i].first; step < cut->at[i].last; step++) {
            is_kept |= is_full[step];
        }
        if (is_kept || roll_one_of(dice, 2)) {
            cut->at[kept++] = cut->at[i];
        }
    }
    cut->len = kept;
}

void place_generate_witness(uint64_t seed, int slack_permille, int peaks, Arena *keep,
                            Arena scratch, PlaceProblem *out, PlaceSolution *witness)
{
    ASSERT(slack_permille >= 0 && slack_permille < 1000);
    Dice *dice = &(Dice){.seed = random_u64(seed, DICE_WITNESS)};
    *out = generated_tile(
        str_format(keep, "witness-%llu-%d", (unsigned long long)seed, slack_permille));
    if (seed % 4 == 3) {
        out->ranges[2] = out->ranges[1];
        out->ranges[1] = out->ranges[0];
        out->ranges[0] = (PlaceRange){.begin = WINDOW_BEGIN,
                                      .end = WINDOW_END,
                                      .element_bytes = ELEMENT_BYTES,
                                      .is_window = true};
        out->range_count = 3;
    }
    RectangleVec cut = cut_ranges(out, roll(dice, 100, 250), dice, &scratch);
    if (peaks > 0) {
        keep_peaks(&cut, peaks, dice);
    }
    int64_t owed = 0; /* thousandths of bytes times steps */
    for (isize i = 0; i < cut.len; i++) {
        const Rectangle *r = &cut.at[i];
        int64_t bytes = r->end - r->begin, steps = r->last - r->first;
        owed += bytes * steps * slack_permille;
        int64_t paid = min_i64(owed / (8000 * steps) * 8, (bytes - LEAST_BYTES) / 8 * 8);
        owed -= paid * steps * 1000;
        add_rectangle(out, r, bytes - paid, dice, keep);
    }
    add_pairs(out, &cut, dice, keep);
    isize count = out->requests.len;
    int32_t *to = generated_shuffle(out, dice, keep);
    if (witness != NULL) {
        *witness = (PlaceSolution){.address = arena_array(keep, uint32_t, count),
                                   .stride = arena_array(keep, uint32_t, count)};
        for (isize i = 0; i < count; i++) {
            const PlaceRequest *r = &out->requests.at[to[i]];
            witness->address[to[i]] = (uint32_t)cut.at[i].begin;
            witness->stride[to[i]] =
                r->count > 1 ? r->stride[range_at(out, cut.at[i].begin)->is_interleaved] : 0;
        }
    }
}
