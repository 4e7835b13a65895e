/* A plain problem as one of the exact search, and its answer. */
#include "place/search.h"
#include "place/tile.h"
#include <string.h>

enum {
    ITEMS_MAX = 5000, /* the search looks at pairs of items */
    ITEMS_OF_NODE =
        250, /* a node of more items takes longer and counts for more, so that the budget bounds the time */
};

static SearchItem item_of(const PlaceProblem *problem, const PlaceRequest *r)
{
    SearchItem item = {.bytes = (uint32_t)min_i64(place_extent(r, false), UINT32_MAX),
                       .bytes_high = (uint32_t)min_i64(place_extent(r, true), UINT32_MAX),
                       .tail_bytes = r->tail_bytes,
                       .align = r->align,
                       .first = r->first,
                       .last = r->last,
                       .address = r->address};
    for (int32_t k = 0; k < problem->range_count; k++) {
        item.ranges |= place_may_use(r, &problem->ranges[k]) ? 1u << k : 0;
    }
    return item;
}

/* As if there were no operations in place: what it finds is a placement nevertheless. */
static SearchOutcome search_apart(const PlaceProblem *problem, int64_t nodes_max, int64_t *run,
                                  Arena scratch, uint32_t *address, int64_t *nodes)
{
    int32_t count = (int32_t)problem->requests.len;
    SearchProblem *search = arena_new(&scratch, SearchProblem);
    *search = (SearchProblem){.range_count = problem->range_count,
                              .limit = problem->limit,
                              .items = arena_array(&scratch, SearchItem, count),
                              .item_count = count,
                              .pairs = arena_array(&scratch, SearchPair, problem->pairs.len),
                              .pair_count = (int32_t)problem->pairs.len};
    for (int32_t i = 0; i < problem->range_count; i++) {
        const PlaceRange *range = &problem->ranges[i];
        search->range[i] = (SearchRange){range->begin, range->end, range->element_bytes};
        search->high_ranges |= range->is_interleaved ? 1u << i : 0;
    }
    for (int32_t i = 0; i < count; i++) {
        search->items[i] = item_of(problem, &problem->requests.at[i]);
    }
    for (isize i = 0; i < search->pair_count; i++) {
        search->pairs[i] = (SearchPair){problem->pairs.at[i].a, problem->pairs.at[i].b};
    }
    Arena keep = arena_split(&scratch, (scratch.end - scratch.at) / 4);
    SearchResult result = place_search(search, nodes_max, *run, &keep, scratch);
    *nodes += result.nodes;
    *run = result.run;
    if (result.outcome == SEARCH_FOUND) {
        memcpy(address, result.address, (size_t)count * sizeof *address);
    }
    return result.outcome;
}

/* Blocks of what may share bytes. */
static bool search_merged(const PlaceProblem *problem, int64_t nodes_max, Arena scratch,
                          uint32_t *address, PlaceProgress *progress)
{
    PlaceMerge merge;
    if (problem->donations.len == 0 || !place_merge(problem, &scratch, &merge)) {
        return false;
    }
    uint32_t *of_block = arena_array(&scratch, uint32_t, merge.problem.requests.len);
    if (search_apart(&merge.problem, nodes_max, &progress->run_merged, scratch, of_block,
                     &progress->nodes) != SEARCH_FOUND) {
        return false;
    }
    for (isize i = 0; i < problem->requests.len; i++) {
        address[i] = of_block[merge.block[i]] + (uint32_t)merge.offset[i];
    }
    return true;
}

PlaceOutcome place_exact(const PlaceProblem *problem, int64_t nodes_max, Arena scratch,
                         uint32_t *address, PlaceProgress *progress)
{
    isize count = problem->requests.len;
    if (problem->range_count == 0 || count > ITEMS_MAX) {
        return PLACE_GAVE_UP;
    }
    nodes_max = max_i64(1, nodes_max * ITEMS_OF_NODE / max_i64(count, ITEMS_OF_NODE));
    int64_t half = (nodes_max - progress->nodes + 1) / 2;
    if (search_merged(problem, half, scratch, address, progress)) {
        return PLACE_PLACED;
    }
    SearchOutcome outcome = search_apart(problem, nodes_max - progress->nodes, &progress->run_apart,
                                         scratch, address, &progress->nodes);
    if (outcome == SEARCH_FOUND) {
        return PLACE_PLACED;
    }
    bool is_complete = outcome == SEARCH_EXHAUSTED && problem->donations.len == 0;
    return is_complete ? PLACE_IMPOSSIBLE : PLACE_GAVE_UP;
}
