/* Requests of several problems at one address: programs that tiles share, rows of a loop.
 *
 * First the groups get addresses as one problem of their own, in which two are in each other's way when they are so on any tile, or
 * might be. The other problems are solved in parallel with these. One that fails chooses before that the next time, and all others that failed
 * so far after it. This is not complete, so groups without a placement are given up; a problem is called impossible only when it is
 * so without its groups.
 */
#include "place/tile.h"
#include <string.h>

enum { ATTEMPTS = 32 };

typedef struct Groups {
    const PlaceProblem *problems;
    isize count;
    const PlaceGroup *groups;
    isize group_count;
    int32_t *
        *group_of; /* per problem and request; -1: none. NULL: no request of the problem has one */
    PlaceRequest *needs; /* per group: what satisfies every member */
    PlaceProblem merged; /* the groups alone */
    uint32_t *address;   /* per group, or PLACE_NOWHERE */
    const PlaceOptions *options;
    int threads;
} Groups;

static void strengthen(PlaceRequest *a, const PlaceRequest *b)
{
    a->bytes = a->bytes > b->bytes ? a->bytes : b->bytes;
    a->tail_bytes = a->tail_bytes > b->tail_bytes ? a->tail_bytes : b->tail_bytes;
    a->align = a->align > b->align ? a->align : b->align;
    a->first = a->first < b->first ? a->first : b->first;
    a->last = a->last > b->last ? a->last : b->last;
    a->count = a->count > b->count ? a->count : b->count;
    for (int i = 0; i < 2; i++) {
        a->stride[i] = a->stride[i] > b->stride[i] ? a->stride[i] : b->stride[i];
        a->stride[i] = (uint32_t)align_up(a->stride[i], a->align);
    }
    a->is_interleaved |= b->is_interleaved;
    a->may_use_window &= b->may_use_window;
    a->address = a->address == PLACE_NOWHERE ? b->address : a->address;
}

static void collect(Groups *g, Arena *arena)
{
    g->group_of = arena_array(arena, int32_t *, g->count);
    g->needs = arena_array(arena, PlaceRequest, g->group_count);
    g->address = arena_array(arena, uint32_t, g->group_count);
    for (int32_t i = 0; i < g->group_count; i++) {
        const PlaceGroup *group = &g->groups[i];
        ASSERT(group->count > 0);
        for (int32_t k = 0; k < group->count; k++) {
            PlaceMember member = group->members[k];
            const PlaceProblem *problem = &g->problems[member.problem];
            const PlaceRequest *request = &problem->requests.at[member.request];
            if (g->group_of[member.problem] == NULL) {
                size_t bytes = (size_t)problem->requests.len * sizeof(int32_t);
                g->group_of[member.problem] = arena_array(arena, int32_t, problem->requests.len);
                memset(g->group_of[member.problem], 0xff, bytes);
            }
            ASSERT(g->group_of[member.problem][member.request] < 0);
            g->group_of[member.problem][member.request] = i;
            if (k == 0) {
                g->needs[i] = *request;
            }
            ASSERT(request->address == PLACE_NOWHERE || g->needs[i].address == PLACE_NOWHERE ||
                   request->address == g->needs[i].address);
            strengthen(&g->needs[i], request);
        }
    }
}

/* In the ranges of the first tile of a group; separations as on any tile. */
static void merge(Groups *g, Arena *arena)
{
    const PlaceProblem *like = &g->problems[g->groups[0].members[0].problem];
    g->merged = *like;
    g->merged.requests = (PlaceRequestVec){g->needs, g->group_count, g->group_count};
    g->merged.pairs = (PlacePairVec){0};
    g->merged.wishes = (PlaceWishVec){0};
    g->merged.donations = (PlaceDonationVec){0};
    for (isize i = 0; i < g->count; i++) {
        const PlacePairVec *pairs = &g->problems[i].pairs;
        for (isize k = 0; g->group_of[i] != NULL && k < pairs->len; k++) {
            PlacePair pair = {g->group_of[i][pairs->at[k].a], g->group_of[i][pairs->at[k].b]};
            if (pair.a >= 0 && pair.b >= 0) {
                *vec_push(&g->merged.pairs, arena) = pair;
            }
        }
    }
}

/* The problem with what is decided. What it decides itself has to suit the other members, unless it cannot. */
static PlaceProblem with_groups(const Groups *g, int32_t index, bool is_for_all, Arena *arena)
{
    PlaceProblem problem = g->problems[index];
    if (g->group_of[index] == NULL) {
        return problem;
    }
    PlaceRequest *requests = arena_array(arena, PlaceRequest, problem.requests.len);
    for (isize i = 0; i < problem.requests.len; i++) {
        PlaceRequest *r = &requests[i];
        *r = problem.requests.at[i];
        int32_t group = g->group_of[index][i];
        if (group < 0) {
            continue;
        }
        const PlaceRequest *needs = &g->needs[group];
        if (g->address[group] != PLACE_NOWHERE) {
            r->address = g->address[group];
        } else if (is_for_all && needs->count == r->count) {
            strengthen(r, needs);
        }
    }
    problem.requests.at = requests;
    return problem;
}

static bool is_deciding(const Groups *g, int32_t index)
{
    for (isize i = 0; g->group_of[index] != NULL && i < g->problems[index].requests.len; i++) {
        int32_t group = g->group_of[index][i];
        if (group >= 0 && g->address[group] == PLACE_NOWHERE) {
            return true;
        }
    }
    return false;
}

/* Decides what is open of the problem's groups. */
static bool decide(Groups *g, int32_t index, Arena scratch, PlaceVerdict *verdict)
{
    Arena keep = arena_split(&scratch, (scratch.end - scratch.at) / 2);
    for (int is_for_all = 1; is_for_all >= 0; is_for_all--) {
        PlaceProblem problem = with_groups(g, index, is_for_all != 0, &keep);
        PlaceSolution solution;
        if (place_problem_solve(&problem, g->options, &keep, scratch, &solution, verdict) !=
            PLACE_PLACED) {
            continue;
        }
        for (isize i = 0; i < problem.requests.len; i++) {
            int32_t group = g->group_of[index][i];
            if (group >= 0) {
                g->address[group] = solution.address[i];
            }
        }
        return true;
    }
    return false;
}

/* Decides what is open, where that fits together. */
static void decide_merged(Groups *g, Arena scratch)
{
    PlaceRequest *requests = arena_array(&scratch, PlaceRequest, g->group_count);
    for (isize i = 0; i < g->group_count; i++) {
        requests[i] = g->needs[i];
        requests[i].address = g->address[i];
    }
    PlaceProblem problem = g->merged;
    problem.requests.at = requests;
    PlaceSolution solution;
    PlaceVerdict verdict;
    Arena keep = arena_split(&scratch, (scratch.end - scratch.at) / 2);
    if (place_problem_solve(&problem, g->options, &keep, scratch, &solution, &verdict) ==
        PLACE_PLACED) {
        memcpy(g->address, solution.address, (size_t)g->group_count * sizeof *g->address);
    }
}

/* The position in `order` that failed, with its verdict; -1: everything is placed. The first
 * `before` decide before the groups do. */
static isize try_order(Groups *g, const int32_t *order, int before, Arena *keep, Arena scratch,
                       PlaceSolution *solutions, PlaceVerdict *verdict)
{
    for (isize i = 0; i < g->group_count; i++) {
        g->address[i] = g->needs[i].address;
    }
    for (isize i = 0; i < g->count; i++) {
        if (i == before && g->group_count > 0) {
            decide_merged(g, scratch);
        }
        if (is_deciding(g, order[i]) && !decide(g, order[i], scratch, verdict)) {
            return i;
        }
    }
    PlaceProblem *problems = arena_array(&scratch, PlaceProblem, g->count);
    PlaceVerdict *verdicts = arena_array(&scratch, PlaceVerdict, g->count);
    for (int32_t i = 0; i < g->count; i++) {
        problems[i] = with_groups(g, i, false, &scratch);
    }
    (void)place_problems_solve(problems, g->count, g->options, g->threads, keep, scratch, solutions,
                               verdicts);
    for (isize i = 0; i < g->count; i++) {
        if (verdicts[order[i]].outcome != PLACE_PLACED) {
            *verdict = verdicts[order[i]];
            return i;
        }
    }
    *verdict = (PlaceVerdict){.request = -1};
    return -1;
}

/* Not placed without its groups: that verdict, else one that gives up. */
static bool is_hard_alone(const Groups *g, int32_t index, Arena scratch, PlaceVerdict *verdict)
{
    PlaceSolution none;
    PlaceVerdict alone;
    Arena keep = arena_split(&scratch, (scratch.end - scratch.at) / 2);
    if (place_problem_solve(&g->problems[index], g->options, &keep, scratch, &none, &alone) !=
        PLACE_PLACED) {
        *verdict = alone;
        return true;
    }
    verdict->outcome = PLACE_GAVE_UP; /* what was proved holds only with these addresses */
    verdict->certificate = (PlaceCertificate){0};
    verdict->is_exhausted = false;
    return false;
}

/* Fullest first. */
static int32_t *order_of(const Groups *g, Arena *arena, Arena scratch)
{
    SortKey *keys = arena_array(&scratch, SortKey, g->count);
    int32_t *order = arena_array(arena, int32_t, g->count);
    for (int32_t i = 0; i < g->count; i++) {
        int32_t step;
        int64_t slack = room_of(&g->problems[i], false, false) -
                        live_peak_of(&g->problems[i], false, false, &step, scratch);
        keys[i] = (SortKey){(uint64_t)(slack - INT64_MIN / 2), (uint32_t)i};
    }
    sort_keys(keys, g->count, scratch);
    for (isize i = 0; i < g->count; i++) {
        order[i] = (int32_t)keys[i].payload;
    }
    return order;
}

PlaceOutcome place_groups_solve(const PlaceProblem *problems, isize count, const PlaceGroup *groups,
                                isize group_count, const PlaceOptions *options, int threads,
                                Arena *keep, Arena scratch, PlaceSolution *solutions,
                                PlaceVerdict *verdict)
{
    Groups g = {.problems = problems,
                .count = count,
                .groups = groups,
                .group_count = group_count,
                .options = options,
                .threads = threads};
    collect(&g, &scratch);
    if (group_count > 0) {
        merge(&g, &scratch);
    }
    int32_t *order = order_of(&g, &scratch, scratch);
    *verdict = (PlaceVerdict){.request = -1};
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        Arena kept = *keep;
        isize failed = try_order(&g, order, attempt, keep, scratch, solutions, verdict);
        if (failed < 0) {
            return PLACE_PLACED;
        }
        *keep = kept;
        int32_t index = order[failed];
        if (is_hard_alone(&g, index, scratch, verdict) || (attempt > 0 && failed == 0)) {
            break;
        }
        memmove(&order[1], &order[0], (size_t)failed * sizeof *order);
        order[0] = index;
    }
    return verdict->outcome;
}
