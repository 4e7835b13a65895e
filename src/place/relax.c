/* What would make a problem fit: small changes that were tried and work (compiler-design.md 11.3).
 *
 * Each change is tried on a copy of the problem with the usual solver, the cheapest kinds first: a buffer that dies before the
 * full step or is born behind it, a separation less, a smaller support area in front of the first range, more memory behind the
 * last. Nothing is said of what was not tried.
 */
#include "place/tile.h"

enum {
    BUFFERS_TRIED = 8,
    PAIRS_TRIED = 12,
    UNIT_BYTES = 4096, /* memory is given in such units, support in whole elements */
    DOUBLINGS_MAX = 8,
    NODES_MAX = 20 * 1000, /* of one try: some thirty of them are waited for */
};

typedef struct Relax {
    const PlaceProblem *problem;
    const PlaceVerdict *verdict;
    Arena scratch;
    PlaceRelaxationVec *out;
    Arena *keep;
} Relax;

static bool does_fit(const PlaceProblem *changed, Arena scratch)
{
    PlaceSolution solution;
    PlaceVerdict verdict;
    PlaceOptions options = {.nodes_max = NODES_MAX};
    Arena room = arena_split(&scratch, (scratch.end - scratch.at) / 2);
    return place_problem_solve(changed, &options, &room, scratch, &solution, &verdict) ==
           PLACE_PLACED;
}

static void add(Relax *x, PlaceRelaxation relaxation)
{
    *vec_push(x->out, x->keep) = relaxation;
}

/* The request lives up to the full step, or from behind it on; false when neither is shorter and not empty. */
static bool shorten(PlaceRequest *request, int32_t step)
{
    if (request->first < step) {
        request->last = step;
    } else if (step + 1 < request->last) {
        request->first = step + 1;
    } else {
        return false;
    }
    return true;
}

/* As weights are, which no change shortens. */
static bool is_always_alive(const PlaceProblem *problem, const PlaceRequest *request)
{
    for (isize i = 0; i < problem->requests.len; i++) {
        const PlaceRequest *other = &problem->requests.at[i];
        if (other->first < request->first || other->last > request->last) {
            return false;
        }
    }
    return problem->requests.len > 1;
}

static void try_shorter_lives(Relax *x, int32_t step)
{
    Arena scratch = x->scratch;
    SortKey *alive = arena_array(&scratch, SortKey, x->problem->requests.len);
    isize count = rank_alive(x->problem, step, alive, scratch);
    PlaceProblem changed = problem_copy_requests(x->problem, &scratch);
    for (isize i = 0; i < count && i < BUFFERS_TRIED; i++) {
        int32_t index = (int32_t)alive[i].payload;
        PlaceRequest *request = &changed.requests.at[index];
        if (request->address == PLACE_NOWHERE && !is_always_alive(x->problem, request) &&
            shorten(request, step) && does_fit(&changed, scratch)) {
            add(x, (PlaceRelaxation){.kind = RELAX_LIFETIME,
                                     .a = index,
                                     .first = request->first,
                                     .last = request->last});
        }
        *request = x->problem->requests.at[index];
    }
}

/* Pairs of what failed, or of what cannot fit together. */
static bool concerns(const PlaceVerdict *verdict, PlacePair pair)
{
    bool has_a = pair.a == verdict->request, has_b = pair.b == verdict->request;
    for (int i = 0; i < verdict->certificate.count; i++) {
        has_a |= verdict->certificate.requests[i] == pair.a;
        has_b |= verdict->certificate.requests[i] == pair.b;
    }
    return verdict->certificate.count > 1 ? has_a && has_b : has_a || has_b;
}

static void try_fewer_pairs(Relax *x)
{
    Arena scratch = x->scratch;
    PlaceProblem changed = *x->problem;
    changed.pairs.at = arena_array(&scratch, PlacePair, changed.pairs.len);
    int tried = 0;
    for (isize i = 0; i < x->problem->pairs.len && tried < PAIRS_TRIED; i++) {
        PlacePair pair = x->problem->pairs.at[i];
        if (!concerns(x->verdict, pair)) {
            continue;
        }
        tried++;
        changed.pairs.len = 0;
        for (isize k = 0; k < x->problem->pairs.len; k++) {
            if (k != i) {
                changed.pairs.at[changed.pairs.len++] = x->problem->pairs.at[k];
            }
        }
        if (does_fit(&changed, scratch)) {
            add(x, (PlaceRelaxation){.kind = RELAX_SEPARATION, .a = pair.a, .b = pair.b});
        }
    }
}

/* `bytes` more in front of the first range, or behind the last one; false when there are no such addresses. */
static bool give(const PlaceProblem *problem, PlaceRelaxKind kind, int64_t bytes,
                 PlaceProblem *changed)
{
    *changed = *problem;
    PlaceRange *range = &changed->ranges[kind == RELAX_SUPPORT ? 0 : problem->range_count - 1];
    if (kind == RELAX_SUPPORT) {
        range->begin -= (uint32_t)bytes;
        return problem->tile >= 0 && bytes <= (int64_t)problem->ranges[0].begin - SRAM_BASE;
    }
    int64_t end = range->end + bytes, limit = changed->limit + bytes;
    range->end = (uint32_t)end;
    changed->limit = (uint32_t)min_i64(limit, UINT32_MAX);
    return end < UINT32_MAX;
}

/* The least number of units that is found to do: doubled until it fits, then halved back. */
static void try_more_memory(Relax *x, PlaceRelaxKind kind)
{
    int64_t unit = kind == RELAX_SUPPORT ? ELEMENT_BYTES : UNIT_BYTES;
    int64_t missing = x->verdict->certificate.proof == PROOF_PEAK ? x->verdict->short_bytes : 1;
    int64_t least = (missing + unit - 1) / unit;
    PlaceProblem changed;
    int64_t fits = 0, fails = least - 1;
    for (int i = 0; i < DOUBLINGS_MAX && fits == 0; i++) {
        int64_t units = least + ((int64_t)1 << i) - 1;
        if (!give(x->problem, kind, units * unit, &changed)) {
            break;
        }
        if (does_fit(&changed, x->scratch)) {
            fits = units;
        } else {
            fails = units;
        }
    }
    while (fits > fails + 1) {
        int64_t middle = fails + (fits - fails) / 2;
        bool is_given = give(x->problem, kind, middle * unit, &changed);
        if (is_given && does_fit(&changed, x->scratch)) {
            fits = middle;
        } else {
            fails = middle;
        }
    }
    if (fits > 0) {
        add(x, (PlaceRelaxation){.kind = kind, .bytes = fits * unit});
    }
}

void place_relax(const PlaceProblem *problem, const PlaceVerdict *verdict, Arena *keep,
                 Arena scratch, PlaceRelaxationVec *out)
{
    Relax relax = {problem, verdict, scratch, out, keep}, *x = &relax;
    *out = (PlaceRelaxationVec){0};
    if (problem->range_count == 0) {
        return;
    }
    int32_t failed = verdict->request >= 0 ? problem->requests.at[verdict->request].first : 0;
    try_shorter_lives(x, verdict->certificate.proof == PROOF_SUBSET ? failed : verdict->peak_step);
    try_fewer_pairs(x);
    try_more_memory(x, RELAX_SUPPORT);
    try_more_memory(x, RELAX_BYTES);
}
