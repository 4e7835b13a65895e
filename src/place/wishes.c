/* First fit that breaks few wishes, by weight: all of them are rules first. When that does not fit, none is; and then, from the
 * heaviest on, as many as are found to fit together with those that are kept already. They are added by chunks: one that does not fit is
 * halved, so that few tries decide about many wishes.
 */
#include "place/fit.h"
#include "place/tile.h"
#include <string.h>

enum {
    ATTEMPTS = 32,
    WORK_MAX = 1000 * 1000 * 1000,
    TRIES_MAX = 64, /* of adding a chunk */
    TRY_ATTEMPTS = 2,
    TRIES_WORK_MAX = 100 * 1000 * 1000,
};

/* Is the wish granted at these addresses? Blocks and tails touch no common element. */
static bool is_granted(const PlaceProblem *problem, const PlaceWish *wish, const uint32_t *address)
{
    const PlaceRequest *a = &problem->requests.at[wish->a], *b = &problem->requests.at[wish->b];
    if (!are_alive_together(a, b)) {
        return true;
    }
    int64_t begin[2], end[2];
    for (int i = 0; i < 2; i++) {
        const PlaceRequest *r = i == 0 ? a : b;
        begin[i] = address[i == 0 ? wish->a : wish->b];
        const PlaceRange *range = range_at(problem, begin[i]);
        end[i] = begin[i] + place_extent(r, range->is_interleaved) + r->tail_bytes;
    }
    return !spans_share_element(problem, begin[0], end[0], begin[1], end[1]);
}

int64_t broken_weight_of(const PlaceProblem *problem, const uint32_t *address)
{
    int64_t weight = 0;
    for (isize i = 0; i < problem->wishes.len; i++) {
        const PlaceWish *wish = &problem->wishes.at[i];
        weight += is_granted(problem, wish, address) ? 0 : wish->weight;
    }
    return weight;
}

typedef struct Grant {
    const PlaceProblem *problem;
    const SortKey *wishes; /* heaviest first; the payload is the index */
    bool *is_kept;
    uint32_t *address; /* the best so far */
    int64_t broken_weight, work_left;
    int tries_left;
    Arena scratch;
} Grant;

/* Keeps the wishes [first, last) as well if they fit; otherwise some of them. */
static void grant(Grant *g, isize first, isize last)
{
    Arena scratch = g->scratch;
    uint32_t *address = arena_array(&scratch, uint32_t, g->problem->requests.len);
    FitOptions options = {.is_kept = g->is_kept,
                          .rules = FIT_RULES,
                          .attempts = TRY_ATTEMPTS,
                          .work_max = g->work_left};
    FitResult result;
    if (first == last || g->tries_left-- <= 0 || g->work_left <= 0 || g->broken_weight == 0) {
        return;
    }
    for (isize i = first; i < last; i++) {
        g->is_kept[g->wishes[i].payload] = true;
    }
    bool is_placed = fit_in_orders(g->problem, &options, scratch, address, &result);
    g->work_left -= result.work;
    if (is_placed) {
        int64_t weight = broken_weight_of(g->problem, address);
        if (weight < g->broken_weight) {
            g->broken_weight = weight;
            memcpy(g->address, address, (size_t)g->problem->requests.len * sizeof *address);
        }
        return;
    }
    for (isize i = first; i < last; i++) {
        g->is_kept[g->wishes[i].payload] = false;
    }
    if (last - first > 1) {
        isize middle = first + (last - first) / 2;
        grant(g, first, middle);
        grant(g, middle, last);
    }
}

static void grant_most(const PlaceProblem *problem, bool *is_kept, uint32_t *address, Arena scratch)
{
    isize count = problem->wishes.len;
    SortKey *wishes = arena_array(&scratch, SortKey, count);
    for (isize i = 0; i < count; i++) {
        is_kept[i] = false;
        wishes[i] = (SortKey){~(uint64_t)problem->wishes.at[i].weight, (uint32_t)i};
    }
    sort_keys(wishes, count, scratch);
    Grant g = {.problem = problem,
               .wishes = wishes,
               .is_kept = is_kept,
               .address = address,
               .broken_weight = broken_weight_of(problem, address),
               .work_left = TRIES_WORK_MAX,
               .tries_left = TRIES_MAX,
               .scratch = scratch};
    isize half = count / 2; /* all together did not fit */
    grant(&g, 0, half);
    grant(&g, half, count);
}

bool place_fit(const PlaceProblem *problem, bool is_once, Arena scratch, uint32_t *address,
               int32_t *failed, int64_t *hole)
{
    isize wishes = problem->wishes.len;
    FitOptions options = {.rules = FIT_RULES, .attempts = ATTEMPTS, .work_max = WORK_MAX};
    FitResult result;
    bool *is_kept = arena_array(&scratch, bool, wishes), is_placed = false;
    if (is_once) {
        options.rules = options.attempts = 1;
    } else if (wishes > 0) {
        memset(is_kept, 1, (size_t)wishes);
        options.is_kept = is_kept;
        is_placed = fit_in_orders(problem, &options, scratch, address, &result);
        options.is_kept = NULL;
    }
    if (!is_placed) {
        is_placed = fit_in_orders(problem, &options, scratch, address, &result);
        if (is_placed && wishes > 0) {
            grant_most(problem, is_kept, address, scratch);
        }
    }
    *failed = result.failed;
    *hole = result.hole;
    return is_placed;
}
