/* A few requests that alone do not fit: a certificate that people can read (compiler-design.md 11.3: the named request is only the
 * last one that failed).
 *
 * Candidates are what is alive in one step, the largest first, alone and around the request that failed; the independent check
 * decides. What it proves is then made smaller, one request after the other, as long as it stays a proof.
 */
#include "place/tile.h"
#include <string.h>

enum { STEPS_TRIED = 12 };

typedef struct Ranked {
    int64_t weight;
    int32_t request;
} Ranked;

static int compare_ranked(const void *a, const void *b, const void *context)
{
    (void)context;
    const Ranked *left = a, *right = b;
    return (left->weight < right->weight) - (left->weight > right->weight); /* stable */
}

static bool is_proof(const PlaceProblem *problem, const PlaceCertificate *certificate)
{
    Error ignored = {0};
    return certificate->count > 0 && place_certificate_check(problem, certificate, &ignored);
}

/* Leaves out every request without which it is still a proof. */
static void shrink(const PlaceProblem *problem, PlaceCertificate *certificate)
{
    for (int i = certificate->count - 1; i >= 0; i--) {
        PlaceCertificate less = *certificate;
        memmove(&less.requests[i], &less.requests[i + 1],
                (size_t)(less.count - i - 1) * sizeof *less.requests);
        less.count--;
        if (is_proof(problem, &less)) {
            *certificate = less;
        }
    }
}

static bool is_alive(const PlaceRequest *request, int32_t step)
{
    return request->first <= step && step < request->last;
}

/* The largest requests alive in a step; partners and donors of `around` come before all others when it is given (not -1). */
static PlaceCertificate largest_alive(const PlaceProblem *problem, int32_t step, int32_t around,
                                      Arena scratch)
{
    PlaceCertificate out = {.proof = PROOF_SUBSET};
    Ranked *ranked = arena_array(&scratch, Ranked, problem->requests.len);
    int64_t *bonus = arena_array(&scratch, int64_t, problem->requests.len);
    const int64_t close = (int64_t)1 << 40;
    isize count = 0;
    if (around >= 0) {
        bonus[around] = 2 * close;
        for (isize i = 0; i < problem->pairs.len; i++) {
            PlacePair pair = problem->pairs.at[i];
            bonus[pair.b] += pair.a == around ? close : 0;
            bonus[pair.a] += pair.b == around ? close : 0;
        }
    }
    for (int32_t i = 0; i < problem->requests.len; i++) {
        const PlaceRequest *r = &problem->requests.at[i];
        if (is_alive(r, step)) {
            ranked[count++] = (Ranked){place_extent(r, r->is_interleaved) + bonus[i], i};
        }
    }
    sort_stable(ranked, count, sizeof *ranked, compare_ranked, NULL, scratch);
    for (isize i = 0; i < count && out.count < PLACE_SUBSET_MAX; i++) {
        out.requests[out.count++] = ranked[i].request;
    }
    return out;
}

/* Requests by the step in which they begin (or end). */
static SortKey *sorted_by_step(const PlaceProblem *problem, bool by_end, Arena *arena)
{
    SortKey *keys = arena_array(arena, SortKey, problem->requests.len);
    for (int32_t i = 0; i < problem->requests.len; i++) {
        const PlaceRequest *r = &problem->requests.at[i];
        keys[i] = (SortKey){(uint64_t)(by_end ? r->last : r->first), (uint32_t)i};
    }
    sort_keys(keys, problem->requests.len, *arena);
    return keys;
}

/* Steps in which something begins, most bytes alive first. */
static isize rank_steps(const PlaceProblem *problem, Ranked *out, Arena scratch)
{
    const PlaceRequest *requests = problem->requests.at;
    SortKey *begins = sorted_by_step(problem, false, &scratch);
    SortKey *ends = sorted_by_step(problem, true, &scratch);
    isize count = 0, ended = 0;
    int64_t live = 0;
    for (isize i = 0; i < problem->requests.len; i++) {
        const PlaceRequest *r = &requests[begins[i].payload];
        live += place_extent(r, r->is_interleaved);
        if (i + 1 < problem->requests.len && begins[i + 1].key == begins[i].key) {
            continue;
        }
        for (; ends[ended].key <= begins[i].key; ended++) { /* not the last one: it ends later */
            const PlaceRequest *old = &requests[ends[ended].payload];
            live -= place_extent(old, old->is_interleaved);
        }
        out[count++] = (Ranked){live, r->first};
    }
    sort_stable(out, count, sizeof *out, compare_ranked, NULL, scratch);
    return count;
}

bool place_find_subset(const PlaceProblem *problem, int32_t failed, Arena scratch,
                       PlaceCertificate *out)
{
    Ranked *steps = arena_array(&scratch, Ranked, problem->requests.len);
    isize step_count = rank_steps(problem, steps, scratch);
    for (isize i = -1; i < step_count && i < STEPS_TRIED; i++) {
        int32_t step = i < 0 ? problem->requests.at[failed].first : steps[i].request;
        for (int kind = 0; kind < 2; kind++) {
            int32_t around = kind == 1 ? failed : -1;
            *out = largest_alive(problem, step, around, scratch);
            if (is_proof(problem, out)) {
                shrink(problem, out);
                return true;
            }
        }
    }
    *out = (PlaceCertificate){0};
    return false;
}

/* The requests that are kept, with pairs among them. Donations were none. */
static PlaceProblem part_of(const PlaceProblem *problem, const bool *is_kept, Arena *arena)
{
    PlaceProblem part = *problem;
    int32_t *index = arena_array(arena, int32_t, problem->requests.len);
    part.requests =
        (PlaceRequestVec){.at = arena_array(arena, PlaceRequest, problem->requests.len)};
    part.pairs = (PlacePairVec){.at = arena_array(arena, PlacePair, problem->pairs.len)};
    for (int32_t i = 0; i < problem->requests.len; i++) {
        index[i] = (int32_t)part.requests.len;
        if (is_kept[i]) {
            part.requests.at[part.requests.len++] = problem->requests.at[i];
        }
    }
    for (isize i = 0; i < problem->pairs.len; i++) {
        PlacePair pair = problem->pairs.at[i];
        if (is_kept[pair.a] && is_kept[pair.b]) {
            part.pairs.at[part.pairs.len++] = (PlacePair){index[pair.a], index[pair.b]};
        }
    }
    return part;
}

static bool is_exhausted(const PlaceProblem *problem, const bool *is_kept, int64_t *nodes_left,
                         Arena scratch)
{
    PlaceProblem part = part_of(problem, is_kept, &scratch);
    uint32_t *address = arena_array(&scratch, uint32_t, part.requests.len);
    PlaceProgress progress = {0};
    PlaceOutcome outcome = place_exact(&part, *nodes_left, scratch, address, &progress);
    *nodes_left -= progress.nodes + 1;
    return outcome == PLACE_IMPOSSIBLE;
}

bool place_reduce(const PlaceProblem *problem, int64_t nodes_max, Arena scratch,
                  PlaceCertificate *out)
{
    int32_t count = (int32_t)problem->requests.len, kept = count;
    bool *is_kept = arena_array(&scratch, bool, count), *less = arena_array(&scratch, bool, count);
    int64_t nodes_left = nodes_max;
    memset(is_kept, 1, (size_t)count);
    for (int32_t chunk = (count + 1) / 2; chunk > 0 && nodes_left > 0; chunk /= 2) {
        for (int32_t first = 0; first < count && nodes_left > 0; first += chunk) {
            int32_t left = 0;
            for (int32_t i = 0; i < count; i++) {
                less[i] = is_kept[i] && (i < first || i >= first + chunk);
                left += less[i];
            }
            if (left > 0 && left < kept && is_exhausted(problem, less, &nodes_left, scratch)) {
                memcpy(is_kept, less, (size_t)count);
                kept = left;
            }
        }
    }
    *out = (PlaceCertificate){.proof = PROOF_SUBSET};
    for (int32_t i = 0; i < count && kept <= PLACE_SUBSET_MAX; i++) {
        if (is_kept[i]) {
            out->requests[out->count++] = i;
        }
    }
    if (is_proof(problem, out)) {
        shrink(problem, out);
        return true;
    }
    *out = (PlaceCertificate){0};
    return false;
}
