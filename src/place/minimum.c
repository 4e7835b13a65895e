/* The least end of the last range with which a problem is placed. Peaks say where to begin; then the ends between what is shown to be
 * too little and what was placed are halved, each with the same budget of nodes. Addresses are sums of sizes from the beginning of a
 * range or of an element, so only their common divisor matters.
 */
#include "place/tile.h"

enum { NODES_OF_END = 200 * 1000 };

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Every address of a placement that leaves out no place below a request is a multiple of it. */
static int64_t grain_of(const PlaceProblem *problem)
{
    int64_t grain = 0;
    for (int32_t i = 0; i < problem->range_count; i++) {
        grain = common_divisor(grain, problem->ranges[i].begin);
        grain = common_divisor(grain, problem->ranges[i].element_bytes);
    }
    for (isize i = 0; i < problem->requests.len; i++) {
        const PlaceRequest *r = &problem->requests.at[i];
        grain = common_divisor(grain, place_extent(r, false));
        grain = common_divisor(grain, place_extent(r, true));
        grain = r->address != PLACE_NOWHERE ? common_divisor(grain, r->address) : grain;
    }
    for (isize i = 0; i < problem->requests.len; i++) {
        int64_t align = problem->requests.at[i].align;
        grain = grain % align != 0 ? common_divisor(grain, align) : grain;
    }
    for (isize i = 0; i < problem->donations.len; i++) {
        grain = common_divisor(grain, problem->donations.at[i].offset);
    }
    return max_i64(grain, 1);
}

/* Below this end more bytes are alive than there is room. */
static int64_t end_of_peaks(const PlaceProblem *problem, Arena scratch)
{
    const PlaceRange *last = &problem->ranges[problem->range_count - 1];
    int64_t end = last->begin;
    for (int kind = 0; kind < 4 && problem->donations.len == 0; kind++) {
        bool is_interleaved = (kind & 1) != 0, is_windowless = (kind & 2) != 0;
        if ((last->is_interleaved || !is_interleaved) && (!last->is_window || !is_windowless)) {
            int32_t step;
            int64_t peak = live_peak_of(problem, is_interleaved, is_windowless, &step, scratch);
            int64_t room = room_of(problem, is_interleaved, is_windowless);
            end = max_i64(end, last->end + peak - room);
        }
    }
    return end;
}

/* Last byte in the last range, exclusive. */
static int64_t end_of(const PlaceProblem *problem, const uint32_t *address)
{
    const PlaceRange *last = &problem->ranges[problem->range_count - 1];
    int64_t end = last->begin;
    for (isize i = 0; i < problem->requests.len; i++) {
        if (address[i] >= last->begin) {
            end = max_i64(end, address[i] +
                                   place_extent(&problem->requests.at[i], last->is_interleaved));
        }
    }
    return end;
}

/* With this end of the last range; `solution` becomes a placement that is found. */
static PlaceOutcome solve_to(const PlaceProblem *problem, int64_t end, const PlaceOptions *options,
                             Arena scratch, PlaceSolution *solution, PlaceVerdict *verdict)
{
    PlaceProblem shrunk = *problem;
    shrunk.ranges[shrunk.range_count - 1].end = (uint32_t)end;
    Arena keep = arena_split(&scratch, (scratch.end - scratch.at) / 2);
    PlaceSolution found;
    PlaceOutcome outcome = place_problem_solve(&shrunk, options, &keep, scratch, &found, verdict);
    if (outcome == PLACE_PLACED) {
        place_solution_copy(problem, &found, solution);
    }
    return outcome;
}

void place_minimum(const PlaceProblem *problem, int64_t nodes_max, Arena scratch,
                   PlaceSolution *solution, PlaceMinimum *out)
{
    *out = (PlaceMinimum){0};
    if (problem->range_count == 0) {
        return;
    }
    PlaceOptions options = {.nodes_max = nodes_max > 0 ? nodes_max : NODES_OF_END};
    int64_t grain = grain_of(problem);
    int64_t best = end_of(problem, solution->address);
    int64_t proved = min_i64(best, (end_of_peaks(problem, scratch) + grain - 1) / grain * grain);
    bool is_first = true;
    for (int64_t low = proved; low < best;) { /* below `low` nothing was found */
        int64_t middle = is_first ? low : low + (best - low) / grain / 2 * grain;
        is_first = false;
        PlaceVerdict verdict;
        PlaceOutcome outcome = solve_to(problem, middle, &options, scratch, solution, &verdict);
        out->nodes += verdict.nodes;
        if (outcome == PLACE_PLACED) {
            best = end_of(problem, solution->address);
            continue;
        }
        if (outcome == PLACE_IMPOSSIBLE || verdict.is_exhausted) {
            proved = middle + grain;
        }
        low = middle + grain;
    }
    if (proved < best) { /* a small reason, which takes longer than a search that fails soon */
        PlaceOptions proof = {.nodes_max = 1, .is_proof_wanted = true};
        PlaceVerdict verdict;
        PlaceOutcome outcome = solve_to(problem, best - grain, &proof, scratch, solution, &verdict);
        best = outcome == PLACE_PLACED ? end_of(problem, solution->address) : best;
        proved = outcome == PLACE_IMPOSSIBLE ? best : proved;
    }
    out->end = (uint32_t)best;
    out->proved_end = (uint32_t)min_i64(proved, best);
    out->spare_bytes = problem->ranges[problem->range_count - 1].end - best;
}
