/* First fit (compiler-design.md 11.2): requests in a fixed order, each at the lowest address that is free for its whole
 * lifetime. Requests without a preference try region 0 first, which leaves the interleaved region to those that need it.
 *
 * When an order fails, the request that failed is moved to the front and the tile is tried again; after some attempts the
 * next rule of ordering begins. No order is complete, so running out of attempts is "gave up"; only a live set or a request
 * that is larger than the memory is a proof.
 */
#include "place/tile.h"
#include <string.h>

enum { ATTEMPTS_PER_RULE = 32 };

/* Requests placed so far, by address. */
typedef struct Fit {
    const PlaceProblem *problem;
    uint32_t *address;   /* per request; 0: not placed */
    int32_t *by_address; /* placed requests */
    int32_t count;
    const int32_t *partner, *partner_first; /* separations per request */
} Fit;

static bool are_alive_together(const PlaceRequest *a, const PlaceRequest *b)
{
    return a->first < b->last && b->first < a->last;
}

static AddrRange touched(const PlaceRequest *request, uint32_t address)
{
    return (AddrRange){address, address + request->bytes + request->tail_bytes};
}

/* Lowest fitting address in the range, 0 when there is none; *hole becomes the largest gap seen. */
static uint32_t find_address(const Fit *fit, int32_t index, AddrRange range, uint32_t *hole)
{
    const PlaceRequest *request = &fit->problem->requests.at[index];
    uint64_t at = (uint64_t)align_up(range.begin, request->align);
    for (bool is_moved = true; is_moved;) {
        is_moved = false;
        for (int32_t i = 0; i < fit->count; i++) {
            const PlaceRequest *other = &fit->problem->requests.at[fit->by_address[i]];
            uint32_t begin = fit->address[fit->by_address[i]], end = begin + other->bytes;
            if (!are_alive_together(request, other) || end <= at) {
                continue;
            }
            if (begin > at && begin <= range.end && begin - at > *hole) {
                *hole = (uint32_t)(begin - at);
            }
            if (begin >= at + request->bytes) {
                break;
            }
            at = (uint64_t)align_up(end, request->align);
        }
        if (at + request->bytes > range.end ||
            at + request->bytes + request->tail_bytes > SRAM_END) {
            if (at < range.end && range.end - at > *hole) {
                *hole = (uint32_t)(range.end - at);
            }
            return 0;
        }
        for (int32_t k = fit->partner_first[index]; k < fit->partner_first[index + 1]; k++) {
            const PlaceRequest *other = &fit->problem->requests.at[fit->partner[k]];
            uint32_t address = fit->address[fit->partner[k]];
            if (address == 0 || !are_alive_together(request, other)) {
                continue;
            }
            AddrRange theirs = touched(other, address);
            if (ranges_share_group(touched(request, (uint32_t)at), theirs)) {
                uint32_t next = group_range(group_of(theirs.end - 1)).end;
                at = (uint64_t)align_up(next, request->align);
                is_moved = true;
                if (at + request->bytes + request->tail_bytes > SRAM_END) {
                    return 0;
                }
            }
        }
    }
    return (uint32_t)at;
}

static void insert(Fit *fit, int32_t index, uint32_t address)
{
    int32_t at = fit->count++;
    while (at > 0 && fit->address[fit->by_address[at - 1]] > address) {
        fit->by_address[at] = fit->by_address[at - 1];
        at--;
    }
    fit->by_address[at] = index;
    fit->address[index] = address;
}

/* Places all requests in this order; the position that failed, or -1. */
static int32_t place_in_order(Fit *fit, const int32_t *order, uint32_t *largest_hole)
{
    const PlaceProblem *problem = fit->problem;
    fit->count = 0;
    memset(fit->address, 0, (size_t)problem->requests.len * sizeof *fit->address);
    for (int32_t i = 0; i < problem->requests.len; i++) {
        uint32_t address = 0;
        *largest_hole = 0;
        for (int region = problem->requests.at[order[i]].is_interleaved ? 1 : 0;
             region < 2 && address == 0; region++) {
            if (problem->available[region].begin < problem->available[region].end) {
                address = find_address(fit, order[i], problem->available[region], largest_hole);
            }
        }
        if (address == 0) {
            return i;
        }
        insert(fit, order[i], address);
    }
    return -1;
}

/* What decides the order of two requests, most important first; then bytes, then index. */
typedef enum Rule {
    RULE_END_FIRST =
        0, /* alive at the end: the only order of compiler-design.md 11.2 that placed the captured tile */
    RULE_INTERLEAVED,
    RULE_DURATION,
    RULE_AREA, /* bytes x duration */
    RULES
} Rule;

typedef struct OrderContext {
    const PlaceProblem *problem;
    int32_t end;
    Rule rule;
} OrderContext;

static int64_t weight_of(const OrderContext *order, const PlaceRequest *request)
{
    int64_t duration = (int64_t)request->last - request->first;
    switch (order->rule) {
    case RULE_INTERLEAVED:
        return 2 * request->is_interleaved + (request->last >= order->end);
    case RULE_DURATION:
        return duration;
    case RULE_AREA:
        return duration * request->bytes;
    default:
        return request->last >= order->end;
    }
}

static int compare_requests(const void *a, const void *b, const void *context)
{
    const OrderContext *order = context;
    const PlaceRequest *left = &order->problem->requests.at[*(const int32_t *)a];
    const PlaceRequest *right = &order->problem->requests.at[*(const int32_t *)b];
    int64_t left_weight = weight_of(order, left), right_weight = weight_of(order, right);
    if (left_weight != right_weight) {
        return left_weight > right_weight ? -1 : 1;
    }
    return (left->bytes < right->bytes) - (left->bytes > right->bytes); /* stable: then by index */
}

static void build_partners(Fit *fit, Arena *arena)
{
    const PlaceProblem *problem = fit->problem;
    int32_t *first = arena_array(arena, int32_t, problem->requests.len + 2);
    int32_t *partner = arena_array(arena, int32_t, 2 * problem->pairs.len);
    for (isize i = 0; i < problem->pairs.len; i++) {
        first[problem->pairs.at[i].a + 2]++;
        first[problem->pairs.at[i].b + 2]++;
    }
    for (isize i = 1; i <= problem->requests.len; i++) {
        first[i + 1] += first[i];
    }
    for (isize i = 0; i < problem->pairs.len; i++) {
        PlacePair pair = problem->pairs.at[i];
        partner[first[pair.a + 1]++] = pair.b;
        partner[first[pair.b + 1]++] = pair.a;
    }
    fit->partner = partner;
    fit->partner_first = first;
}

/* Evidence that no placement exists: more bytes alive than there are, or a request larger than any range. */
static bool prove(const PlaceProblem *problem, PlaceVerdict *verdict, Arena scratch)
{
    int64_t room[2];
    for (int i = 0; i < 2; i++) {
        AddrRange range = problem->available[i];
        room[i] = range.begin < range.end ? range.end - range.begin : 0;
    }
    int32_t step;
    verdict->available_bytes = room[0] + room[1];
    verdict->live_peak_bytes = live_peak_of(problem, false, &verdict->peak_step, scratch);
    int64_t interleaved = live_peak_of(problem, true, &step, scratch);
    verdict->short_bytes = verdict->live_peak_bytes - verdict->available_bytes;
    if (interleaved - room[1] > max_i64(verdict->short_bytes, 0)) {
        verdict->available_bytes = room[1];
        verdict->live_peak_bytes = interleaved;
        verdict->peak_step = step;
        verdict->short_bytes = interleaved - room[1];
    }
    for (int32_t i = 0; i < problem->requests.len; i++) {
        const PlaceRequest *request = &problem->requests.at[i];
        int64_t largest = request->is_interleaved ? room[1] : max_i64(room[0], room[1]);
        if (request->bytes > largest && request->bytes - largest > verdict->short_bytes) {
            verdict->request = i;
            verdict->short_bytes = request->bytes - largest;
        }
    }
    return verdict->short_bytes > 0;
}

bool place_problem_solve(const PlaceProblem *problem, Arena *keep, Arena scratch,
                         uint32_t **address, PlaceVerdict *verdict)
{
    isize count = problem->requests.len;
    *address = arena_array(keep, uint32_t, count);
    *verdict = (PlaceVerdict){.tile = problem->tile};
    Fit fit = {.problem = problem,
               .address = *address,
               .by_address = arena_array(&scratch, int32_t, count)};
    build_partners(&fit, &scratch);
    OrderContext context = {.problem = problem};
    int32_t *order = arena_array(&scratch, int32_t, count);
    for (int32_t i = 0; i < count; i++) {
        context.end = (int32_t)max_i64(context.end, problem->requests.at[i].last);
    }
    for (int attempt = 0; attempt < RULES * ATTEMPTS_PER_RULE; attempt++) {
        if (attempt % ATTEMPTS_PER_RULE == 0) {
            for (int32_t i = 0; i < count; i++) {
                order[i] = i;
            }
            context.rule = (Rule)(attempt / ATTEMPTS_PER_RULE);
            sort_stable(order, count, sizeof *order, compare_requests, &context, scratch);
        }
        uint32_t hole;
        int32_t failed = place_in_order(&fit, order, &hole);
        if (failed < 0) {
            return true;
        }
        if (attempt == 0) {
            verdict->request = order[failed];
            verdict->largest_hole = hole;
            verdict->is_proven = prove(problem, verdict, scratch);
            if (verdict->is_proven) {
                return false;
            }
            int64_t missing = (int64_t)problem->requests.at[verdict->request].bytes - hole;
            verdict->short_bytes = max_i64(missing, 0);
        }
        int32_t promoted = order[failed]; /* failure-directed: it chooses before everybody else */
        memmove(&order[1], &order[0], (size_t)failed * sizeof *order);
        order[0] = promoted;
    }
    return false;
}

typedef struct SolveTiles {
    const Work *work;
    const TileIndex *index;
    Placement *out;
    PlaceVerdict *verdicts;
    bool *is_failed;
    Arena *arenas; /* per worker */
} SolveTiles;

static void solve_tile(void *context, isize index, int worker)
{
    SolveTiles *solve = context;
    Arena scratch = solve->arenas[worker];
    Tile id = {(uint16_t)index};
    TileProblem tile = tile_problem_build(solve->work, solve->index, id, &scratch);
    const PlaceProblem *problem = &tile.problem;
    Arena more = arena_split(&scratch, (scratch.end - scratch.at) / 2);
    uint32_t *address;
    if (!place_problem_solve(problem, &scratch, more, &address, &solve->verdicts[index])) {
        solve->is_failed[index] = true;
        return;
    }
    Placement *out = solve->out;
    for (int32_t i = 0; i < tile.member_count; i++) {
        const Member *member = &tile.members[i];
        out->address[member->buffer] = address[member->request] + member->offset;
        out->stride[member->buffer] = member->stride;
    }
    int32_t step;
    out->descriptor[index] = tile.descriptor >= 0 ? address[tile.descriptor] : 0;
    out->block[index] = tile.block >= 0 ? address[tile.block] : 0;
    out->block_stride[index] = tile.block_stride;
    out->used_bytes[index] = live_peak_of(problem, false, &step, scratch);
}

bool place_solve(const Work *work, int threads, Arena *keep, Arena scratch, Placement *out,
                 PlaceVerdict *verdict, Error *err)
{
    isize buffers = work->buffers.len, tiles = work->tiles;
    *out = (Placement){.address = arena_array(keep, uint32_t, buffers),
                       .stride = arena_array(keep, uint32_t, buffers),
                       .descriptor = arena_array(keep, uint32_t, tiles),
                       .block = arena_array(keep, uint32_t, tiles),
                       .block_stride = arena_array(keep, uint32_t, tiles),
                       .used_bytes = arena_array(keep, int64_t, tiles)};
    *verdict = (PlaceVerdict){0};
    ASSERT(work->support_bytes % ELEMENT_BYTES == 0);
    ASSERT(work->support_bytes <= SRAM_REGION1 - SRAM_BASE);
    threads = (int)max_i64(1, min_i64(thread_count(threads), tiles));
    TileIndex index = tile_index_build(work, &scratch);
    SolveTiles solve = {.work = work,
                        .index = &index,
                        .out = out,
                        .verdicts = arena_array(&scratch, PlaceVerdict, tiles),
                        .is_failed = arena_array(&scratch, bool, tiles),
                        .arenas = arena_array(&scratch, Arena, threads)};
    isize share = (scratch.end - scratch.at) / (threads + 1);
    for (int i = 0; i < threads; i++) {
        solve.arenas[i] = arena_split(&scratch, share);
    }
    parallel_for(threads, tiles, 8, solve_tile, &solve);
    int32_t worst = -1; /* a proof before a guess, then the largest gap, then the lowest tile */
    for (int32_t i = 0; i < tiles; i++) {
        if (solve.is_failed[i]) {
            const PlaceVerdict *a = &solve.verdicts[i],
                               *b = worst < 0 ? NULL : &solve.verdicts[worst];
            if (b == NULL || a->is_proven > b->is_proven ||
                (a->is_proven == b->is_proven && a->short_bytes > b->short_bytes)) {
                worst = i;
            }
        }
    }
    if (worst < 0) {
        return true;
    }
    *verdict = solve.verdicts[worst];
    TileProblem tile = tile_problem_build(work, &index, verdict->tile, &scratch);
    const PlaceRequest *request = &tile.problem.requests.at[verdict->request];
    Writer writer = writer_buffer(&scratch);
    verdict_print(&writer, verdict, request, buffer_name(work, (int32_t)request->name, &scratch));
    Str text = writer_text(&writer);
    return error_set(err, ERROR_NO, NULL, "%.*s", STR_ARG(text));
}
