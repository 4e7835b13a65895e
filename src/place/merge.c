/* Operations in place for the exact search, which knows nothing of them: requests that may share bytes become one block that holds
 * both at the given distance, alive as long as either. A placement of the blocks is one of the requests. The opposite does not
 * hold, so that nothing is proved of the problem when the blocks have no placement.
 */
#include "place/tile.h"

enum {
    LOOKS_MAX = 1 << 22
}; /* donations times requests, pairs and donations; more are not worth it */

/* Two blocks as one; false when their requests do not go together. */
static bool join(const PlaceRequest *low, const PlaceRequest *high, int64_t distance,
                 PlaceRequest *out)
{
    int64_t end = max_i64(low->bytes, distance + high->bytes);
    int64_t tail_end =
        max_i64(low->bytes + (int64_t)low->tail_bytes, distance + high->bytes + high->tail_bytes);
    *out = *low;
    out->bytes = (uint32_t)end;
    out->tail_bytes = (uint32_t)(tail_end - end);
    out->align = low->align > high->align ? low->align : high->align;
    out->first = low->first < high->first ? low->first : high->first;
    out->last = low->last > high->last ? low->last : high->last;
    out->is_interleaved = low->is_interleaved || high->is_interleaved;
    out->may_use_window = low->may_use_window && high->may_use_window;
    int64_t address = high->address == PLACE_NOWHERE ? PLACE_NOWHERE : high->address - distance;
    if (low->address == PLACE_NOWHERE) {
        out->address = (uint32_t)address;
    }
    bool is_same =
        low->address == PLACE_NOWHERE || high->address == PLACE_NOWHERE || low->address == address;
    bool is_aligned = distance % high->align == 0 &&
                      (out->address == PLACE_NOWHERE || out->address % out->align == 0);
    return is_same && address >= 0 && is_aligned && tail_end <= INT32_MAX;
}

/* Has the block no more bytes times steps than both alone? */
static bool does_save(const PlaceRequest *low, const PlaceRequest *high, const PlaceRequest *joined)
{
    int64_t alone = low->bytes * ((int64_t)low->last - low->first) +
                    high->bytes * ((int64_t)high->last - high->first);
    return joined->bytes * ((int64_t)joined->last - joined->first) <= alone;
}

static bool is_donated(const PlaceProblem *problem, int32_t a, int32_t b, int64_t distance)
{
    for (isize i = 0; i < problem->donations.len; i++) {
        const PlaceDonation *d = &problem->donations.at[i];
        if ((d->from == a && d->to == b && distance == d->offset) ||
            (d->from == b && d->to == a && -distance == d->offset)) {
            return true;
        }
    }
    return false;
}

/* The problem of the blocks so far; those that are part of another one live in no step. */
typedef struct Blocks {
    PlaceProblem problem;
    int64_t peak, room;
    int32_t *next; /* per request: another one of its block, in a ring */
} Blocks;

/* May all requests of two blocks lie so? `distance` is that of block `high` behind block `low`. */
static bool may_overlap(const PlaceProblem *problem, const PlaceMerge *merge, const int32_t *next,
                        int32_t low, int32_t high, int64_t distance)
{
    int32_t i = low;
    do {
        int32_t j = high;
        do {
            const PlaceRequest *a = &problem->requests.at[i], *b = &problem->requests.at[j];
            int64_t between = distance + merge->offset[j] - merge->offset[i];
            if (are_alive_together(a, b) && between < a->bytes && between + b->bytes > 0 &&
                !is_donated(problem, i, j, between)) {
                return false;
            }
            j = next[j];
        } while (j != high);
        i = next[i];
    } while (i != low);
    return true;
}

static bool is_pair_of(const PlaceProblem *problem, const PlaceMerge *merge, int32_t a, int32_t b)
{
    for (isize i = 0; i < problem->pairs.len; i++) {
        int32_t left = merge->block[problem->pairs.at[i].a];
        int32_t right = merge->block[problem->pairs.at[i].b];
        if ((left == a && right == b) || (left == b && right == a)) {
            return true;
        }
    }
    return false;
}

/* Moves everything of block `high` into block `low`, this much behind where it was. */
static void move_members(PlaceMerge *merge, int32_t *next, int32_t high, int32_t low,
                         int64_t distance)
{
    int32_t i = high;
    do {
        merge->block[i] = low;
        merge->offset[i] += distance;
        i = next[i];
    } while (i != high);
    i = next[low];
    next[low] = next[high];
    next[high] = i;
}

static bool try_donation(const PlaceProblem *problem, const PlaceDonation *d, bool must_save,
                         PlaceMerge *merge, Blocks *blocks, Arena scratch)
{
    int32_t from = merge->block[d->from], to = merge->block[d->to];
    /* of the beginning of block `to` behind that of block `from` */
    int64_t distance = merge->offset[d->from] + (int64_t)d->offset - merge->offset[d->to];
    int32_t low = distance >= 0 ? from : to, high = distance >= 0 ? to : from;
    distance = distance >= 0 ? distance : -distance;
    PlaceRequest *requests = blocks->problem.requests.at, joined;
    if (from == to ||
        !are_alive_together(&problem->requests.at[d->from], &problem->requests.at[d->to]) ||
        !join(&requests[low], &requests[high], distance, &joined) ||
        (must_save && !does_save(&requests[low], &requests[high], &joined)) ||
        is_pair_of(problem, merge, low, high) ||
        !may_overlap(problem, merge, blocks->next, low, high, distance)) {
        return false;
    }
    PlaceRequest low_before = requests[low], high_before = requests[high];
    int32_t step;
    requests[low] = joined;
    requests[high].last = requests[high].first;
    int64_t peak = live_peak_of(&blocks->problem, false, false, &step, scratch);
    if (peak > max_i64(blocks->peak, blocks->room)) {
        requests[low] = low_before;
        requests[high] = high_before;
        return false;
    }
    blocks->peak = peak;
    move_members(merge, blocks->next, high, low, distance);
    return true;
}

bool place_merge(const PlaceProblem *problem, Arena *arena, PlaceMerge *out)
{
    isize count = problem->requests.len, donations = problem->donations.len, joined = 0;
    if (donations > LOOKS_MAX / (1 + count + problem->pairs.len + donations)) {
        return false;
    }
    Blocks blocks = {.problem = problem_copy_requests(problem, arena),
                     .room = room_of(problem, false, false),
                     .next = arena_array(arena, int32_t, count)};
    blocks.problem.donations = (PlaceDonationVec){0};
    int32_t step;
    blocks.peak = live_peak_of(&blocks.problem, false, false, &step, *arena);
    *out = (PlaceMerge){.problem = *problem,
                        .block = arena_array(arena, int32_t, count),
                        .offset = arena_array(arena, int64_t, count)};
    for (int32_t i = 0; i < count; i++) {
        out->block[i] = i;
        blocks.next[i] = i;
    }
    /* first those that save; none that makes a step too full */
    for (isize i = 0; i < 2 * donations; i++) {
        joined += try_donation(problem, &problem->donations.at[i % donations], i < donations, out,
                               &blocks, *arena);
    }
    PlaceProblem *merged = &out->problem;
    int32_t *index = arena_array(arena, int32_t, count);
    merged->requests =
        (PlaceRequestVec){.at = arena_array(arena, PlaceRequest, count), .cap = count};
    for (int32_t i = 0; i < count; i++) {
        if (out->block[i] == i) {
            index[i] = (int32_t)merged->requests.len;
            merged->requests.at[merged->requests.len++] = blocks.problem.requests.at[i];
        }
    }
    for (isize i = 0; i < count; i++) {
        out->block[i] = index[out->block[i]];
    }
    merged->pairs = (PlacePairVec){.at = arena_array(arena, PlacePair, problem->pairs.len),
                                   .len = problem->pairs.len,
                                   .cap = problem->pairs.len};
    for (isize i = 0; i < problem->pairs.len; i++) {
        PlacePair pair = problem->pairs.at[i];
        merged->pairs.at[i] = (PlacePair){out->block[pair.a], out->block[pair.b]};
    }
    merged->wishes = (PlaceWishVec){0};
    merged->donations = (PlaceDonationVec){0};
    return joined > 0;
}
