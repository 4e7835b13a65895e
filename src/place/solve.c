/* A problem: first fit in several orders, then exact search, then evidence why not. All tiles in parallel. */
#include "place/tile.h"
#include <string.h>

enum {
    NODES_LEAST = 10000, /* of a search, before a small reason is looked for */
    NODES_SHARED =
        16 * PLACE_NODES /* by the tiles of a compilation that fewer nodes did not place */
};

int64_t room_of(const PlaceProblem *problem, bool is_interleaved, bool is_windowless)
{
    int64_t room = 0;
    for (int32_t i = 0; i < problem->range_count; i++) {
        const PlaceRange *range = &problem->ranges[i];
        bool counts =
            (range->is_interleaved || !is_interleaved) && (!range->is_window || !is_windowless);
        room += counts ? range->end - range->begin : 0;
    }
    return room;
}

/* More bytes alive in a step than there is room: of all requests, of interleaved ones, of those without the window. */
static void prove_peak(const PlaceProblem *problem, PlaceVerdict *verdict, Arena scratch)
{
    for (int kind = 0; kind < 4; kind++) {
        bool is_interleaved = (kind & 1) != 0, is_windowless = (kind & 2) != 0;
        int32_t step;
        int64_t peak = live_peak_of(problem, is_interleaved, is_windowless, &step, scratch);
        int64_t room = room_of(problem, is_interleaved, is_windowless);
        if (kind > 0 && peak - room <= max_i64(verdict->short_bytes, 0)) {
            continue;
        }
        verdict->available_bytes = room;
        verdict->live_peak_bytes = peak;
        verdict->peak_step = step;
        verdict->short_bytes = peak - room;
        if (peak > room) {
            verdict->certificate = (PlaceCertificate){.proof = PROOF_PEAK,
                                                      .step = step,
                                                      .is_interleaved = is_interleaved,
                                                      .is_windowless = is_windowless};
        }
    }
}

/* A request larger than any range that it may use. */
static void prove_size(const PlaceProblem *problem, PlaceVerdict *verdict)
{
    for (int32_t i = 0; i < problem->requests.len; i++) {
        const PlaceRequest *request = &problem->requests.at[i];
        int64_t least = INT64_MAX; /* that it is too large for a range */
        for (int32_t k = 0; k < problem->range_count; k++) {
            const PlaceRange *range = &problem->ranges[k];
            if (place_may_use(request, range)) {
                int64_t extent = place_extent(request, range->is_interleaved);
                least = min_i64(least, extent - (range->end - range->begin));
            }
        }
        least = least == INT64_MAX ? request->bytes : least;
        if (least > 0 && least > verdict->short_bytes) {
            verdict->request = i;
            verdict->short_bytes = least;
            verdict->certificate =
                (PlaceCertificate){.proof = PROOF_SUBSET, .requests = {i}, .count = 1};
        }
    }
}

PlaceProblem problem_copy_requests(const PlaceProblem *problem, Arena *arena)
{
    PlaceProblem copy = *problem;
    isize count = problem->requests.len;
    copy.requests = (PlaceRequestVec){arena_array(arena, PlaceRequest, count), count, count};
    if (count > 0) {
        memcpy(copy.requests.at, problem->requests.at, (size_t)count * sizeof(PlaceRequest));
    }
    return copy;
}

const PlaceRange *range_at(const PlaceProblem *problem, int64_t address)
{
    for (int32_t i = 0; i < problem->range_count; i++) {
        const PlaceRange *range = &problem->ranges[i];
        if (address >= range->begin && address < range->end) {
            return range;
        }
    }
    return NULL;
}

/* What follows from the addresses. */
static PlaceOutcome placed(const PlaceProblem *problem, PlaceSolution *solution,
                           PlaceVerdict *verdict)
{
    for (int32_t i = 0; i < problem->requests.len; i++) {
        const PlaceRequest *r = &problem->requests.at[i];
        bool is_interleaved = range_at(problem, solution->address[i])->is_interleaved;
        solution->stride[i] = r->count > 1 ? r->stride[is_interleaved ? 1 : 0] : 0;
    }
    verdict->broken_weight = broken_weight_of(problem, solution->address);
    verdict->request = -1;
    return verdict->outcome = PLACE_PLACED;
}

static int64_t nodes_of(const PlaceOptions *options)
{
    return options->nodes_max > 0 ? options->nodes_max : PLACE_NODES;
}

/* From a search that was complete. */
static void prove_exhausted(const PlaceProblem *problem, const PlaceOptions *options, Arena scratch,
                            PlaceVerdict *verdict)
{
    if (verdict->is_exhausted &&
        place_reduce(problem, nodes_of(options), scratch, &verdict->certificate)) {
        verdict->outcome = PLACE_IMPOSSIBLE;
    }
}

void problem_prove(const PlaceProblem *problem, const PlaceOptions *options, Arena scratch,
                   PlaceVerdict *verdict)
{
    if (verdict->outcome != PLACE_GAVE_UP) {
        return;
    }
    if (place_find_subset(problem, verdict->request, scratch, &verdict->certificate)) {
        verdict->outcome = PLACE_IMPOSSIBLE;
    } else {
        prove_exhausted(problem, options, scratch, verdict);
    }
}

/* Up to so many nodes in all; the verdict becomes PLACE_GAVE_UP when that places nothing. */
static bool search_to(const PlaceProblem *problem, int64_t nodes_max, Arena scratch,
                      uint32_t *address, PlaceProgress *progress, PlaceVerdict *verdict)
{
    PlaceOutcome outcome = place_exact(problem, nodes_max, scratch, address, progress);
    verdict->nodes = progress->nodes;
    verdict->is_exhausted = outcome == PLACE_IMPOSSIBLE;
    verdict->outcome = PLACE_GAVE_UP;
    return outcome == PLACE_PLACED;
}

/* A few nodes, then a look for a reason if one is wanted, and the rest of the nodes only when there is none. */
static bool search(const PlaceProblem *problem, const PlaceOptions *options, Arena scratch,
                   uint32_t *address, PlaceVerdict *verdict)
{
    int64_t nodes_max = nodes_of(options);
    PlaceProgress progress = {0};
    if (options->is_proof_wanted) {
        int64_t few = min_i64(nodes_max, NODES_LEAST);
        if (search_to(problem, few, scratch, address, &progress, verdict)) {
            return true;
        }
        problem_prove(problem, options, scratch, verdict);
        if (verdict->outcome == PLACE_IMPOSSIBLE || verdict->is_exhausted || few == nodes_max) {
            return false;
        }
    }
    if (search_to(problem, nodes_max, scratch, address, &progress, verdict)) {
        return true;
    }
    if (options->is_proof_wanted) {
        prove_exhausted(problem, options, scratch, verdict);
    }
    return false;
}

PlaceOutcome place_problem_solve(const PlaceProblem *problem, const PlaceOptions *options,
                                 Arena *keep, Arena scratch, PlaceSolution *solution,
                                 PlaceVerdict *verdict)
{
    isize count = problem->requests.len;
    *solution = (PlaceSolution){.address = arena_array(keep, uint32_t, count),
                                .stride = arena_array(keep, uint32_t, count)};
    *verdict = (PlaceVerdict){.tile = tile_of_problem(problem), .request = -1};
    prove_peak(problem, verdict, scratch);
    prove_size(problem, verdict);
    bool is_proven = verdict->certificate.proof != PROOF_NONE;
    int64_t hole = 0;
    int32_t failed;
    if (place_fit(problem, is_proven, scratch, solution->address, &failed, &hole)) {
        ASSERT(!is_proven);
        return placed(problem, solution, verdict);
    }
    verdict->request = verdict->request < 0 ? failed : verdict->request;
    verdict->largest_hole = (uint32_t)max_i64(hole, 0);
    if (is_proven) {
        return verdict->outcome = PLACE_IMPOSSIBLE;
    }
    const PlaceRequest *request = &problem->requests.at[failed];
    verdict->short_bytes = max_i64(place_extent(request, request->is_interleaved) - hole, 0);
    if (search(problem, options, scratch, solution->address, verdict)) {
        return placed(problem, solution, verdict);
    }
    return verdict->outcome;
}

/* --- all tiles ------------------------------------------------------------------------------------------------------ */

typedef struct SolveTiles {
    const Work *work;
    const TileIndex *index;
    TileProblem *tiles;
    PlaceProblem *problems;
    PlaceSolution *solutions;
    PlaceVerdict *verdicts;
    Placement *out;
    Arena *arenas; /* per worker */
} SolveTiles;

static void build_tile(void *context, isize index, int worker)
{
    SolveTiles *solve = context;
    Tile id = {(uint16_t)index};
    solve->tiles[index] = tile_problem_build(solve->work, solve->index, id, &solve->arenas[worker]);
    solve->problems[index] = solve->tiles[index].problem;
}

static void write_tile(void *context, isize index, int worker)
{
    SolveTiles *solve = context;
    const TileProblem *tile = &solve->tiles[index];
    Placement *out = solve->out;
    const uint32_t *address = solve->solutions[index].address;
    for (int32_t i = 0; i < tile->member_count; i++) {
        const Member *member = &tile->members[i];
        out->address[member->buffer] = address[member->request] + member->offset;
        out->stride[member->buffer] = member->stride;
    }
    int32_t step;
    out->descriptor[index] = tile->descriptor >= 0 ? address[tile->descriptor] : 0;
    out->block[index] = tile->block >= 0 ? address[tile->block] : 0;
    out->block_stride[index] = tile->block_stride;
    out->used_bytes[index] =
        live_peak_of(&tile->problem, false, false, &step, solve->arenas[worker]);
}

/* A proof before a complete search before a guess, then the largest gap, then the lowest tile; -1 when all are placed. */
static int32_t worst_of(const PlaceVerdict *verdicts, int32_t tiles)
{
    int32_t worst = -1, worst_rank = 0;
    for (int32_t i = 0; i < tiles; i++) {
        const PlaceVerdict *v = &verdicts[i];
        int32_t rank = v->outcome == PLACE_IMPOSSIBLE ? 0 : v->is_exhausted ? 1 : 2;
        if (v->outcome != PLACE_PLACED &&
            (worst < 0 || rank < worst_rank ||
             (rank == worst_rank && v->short_bytes > verdicts[worst].short_bytes))) {
            worst = i;
            worst_rank = rank;
        }
    }
    return worst;
}

/* In rounds of more nodes; the worst tile, or -1. It is looked at between them: if it is impossible, nothing else matters. The last
 * round shares its nodes among what is left. */
static int32_t solve_tiles(SolveTiles *solve, isize count, int threads, Arena *keep, Arena scratch)
{
    static const int64_t rounds[] = {1, NODES_LEAST, PLACE_NODES};
    int32_t *first = arena_array(&scratch, int32_t, count), worst = -1;
    int32_t *left = arena_array(&scratch, int32_t, count);
    isize left_count = distinct_problems(solve->problems, count, first, left, scratch);
    for (isize k = 0; k < (isize)(sizeof rounds / sizeof *rounds); k++) {
        PlaceOptions options = {.nodes_max = min_i64(rounds[k], NODES_SHARED / left_count)};
        problems_solve(solve->problems, left, left_count, &options, threads, keep, scratch,
                       solve->solutions, solve->verdicts);
        worst = worst_of(solve->verdicts, (int32_t)count);
        if (worst < 0) {
            break;
        }
        PlaceVerdict *verdict = &solve->verdicts[worst];
        if (k > 0 || verdict->is_exhausted) {
            problem_prove(&solve->problems[worst], &(PlaceOptions){0}, scratch, verdict);
        }
        if (verdict->outcome == PLACE_IMPOSSIBLE || verdict->is_exhausted) {
            break;
        }
        isize still = 0;
        for (isize i = 0; i < left_count; i++) {
            if (solve->verdicts[left[i]].outcome != PLACE_PLACED) {
                left[still++] = left[i];
            }
        }
        left_count = still;
    }
    for (isize i = 0; i < count; i++) {
        solve->solutions[i] = solve->solutions[first[i]];
    }
    return worst;
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
                        .tiles = arena_array(&scratch, TileProblem, tiles),
                        .problems = arena_array(&scratch, PlaceProblem, tiles),
                        .solutions = arena_array(&scratch, PlaceSolution, tiles),
                        .verdicts = arena_array(&scratch, PlaceVerdict, tiles),
                        .out = out,
                        .arenas = arena_array(&scratch, Arena, threads)};
    isize share = (scratch.end - scratch.at) / 2 / threads; /* the other half is for solving */
    for (int i = 0; i < threads; i++) {
        solve.arenas[i] = arena_split(&scratch, share);
    }
    parallel_for(threads, tiles, 8, build_tile, &solve);
    Arena solved = arena_split(&scratch, (scratch.end - scratch.at) / 4);
    int32_t worst = solve_tiles(&solve, tiles, threads, &solved, scratch);
    if (worst < 0) {
        parallel_for(threads, tiles, 8, write_tile, &solve);
        return true;
    }
    *verdict = solve.verdicts[worst];
    PlaceProblem problem;
    Arena temporary = arena_split(&scratch, (scratch.end - scratch.at) / 2);
    place_extract(work, verdict->tile, &scratch, temporary, &problem);
    Writer writer = writer_buffer(&scratch);
    verdict_print(&writer, &problem, verdict);
    write_str(&writer, tiles < CHIP_TILES ? S("; more tiles may help (--tiles)") : S(""));
    Str text = writer_text(&writer);
    return error_set(err, ERROR_NO, NULL, "%.*s", STR_ARG(text));
}
