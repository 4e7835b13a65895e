/* A problem: first fit in several orders, then exact search, then evidence why not. All tiles in parallel. */
#include "place/tile.h"

static int64_t room_of(const PlaceProblem *problem, bool is_interleaved, bool is_windowless)
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

static void fill_strides(const PlaceProblem *problem, PlaceSolution *solution)
{
    for (int32_t i = 0; i < problem->requests.len; i++) {
        const PlaceRequest *r = &problem->requests.at[i];
        bool is_interleaved = range_at(problem, solution->address[i])->is_interleaved;
        solution->stride[i] = r->count > 1 ? r->stride[is_interleaved ? 1 : 0] : 0;
    }
}

PlaceOutcome place_problem_solve(const PlaceProblem *problem, const PlaceOptions *options,
                                 Arena *keep, Arena scratch, PlaceSolution *solution,
                                 PlaceVerdict *verdict)
{
    isize count = problem->requests.len;
    *solution = (PlaceSolution){.address = arena_array(keep, uint32_t, count),
                                .stride = arena_array(keep, uint32_t, count)};
    *verdict =
        (PlaceVerdict){.tile = {(uint16_t)(problem->tile < 0 ? 0 : problem->tile)}, .request = -1};
    prove_peak(problem, verdict, scratch);
    prove_size(problem, verdict);
    bool is_proven = verdict->certificate.proof != PROOF_NONE;
    int64_t hole = 0;
    int32_t failed;
    if (place_fit(problem, is_proven, scratch, solution->address, &failed, &hole)) {
        ASSERT(!is_proven);
        fill_strides(problem, solution);
        verdict->broken_weight = broken_weight_of(problem, solution->address);
        return verdict->outcome;
    }
    verdict->request = verdict->request < 0 ? failed : verdict->request;
    verdict->largest_hole = (uint32_t)max_i64(hole, 0);
    int64_t nodes_max = options->nodes_max > 0 ? options->nodes_max : PLACE_NODES;
    PlaceOutcome exact = PLACE_GAVE_UP;
    if (!is_proven) {
        exact = place_exact(problem, nodes_max, scratch, solution->address, &verdict->nodes);
    }
    if (exact == PLACE_PLACED) {
        fill_strides(problem, solution);
        verdict->broken_weight = broken_weight_of(problem, solution->address);
        verdict->request = -1;
        return verdict->outcome;
    }
    if (!is_proven && options->is_proof_wanted) {
        is_proven = place_find_subset(problem, failed, scratch, &verdict->certificate) ||
                    (exact == PLACE_IMPOSSIBLE &&
                     place_reduce(problem, nodes_max, scratch, &verdict->certificate));
    }
    verdict->outcome = is_proven ? PLACE_IMPOSSIBLE : PLACE_GAVE_UP;
    if (!is_proven) {
        const PlaceRequest *request = &problem->requests.at[failed];
        verdict->short_bytes = max_i64(place_extent(request, request->is_interleaved) - hole, 0);
    }
    return verdict->outcome;
}

typedef struct SolveTiles {
    const Work *work;
    const TileIndex *index;
    Placement *out;
    PlaceVerdict *verdicts;
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
    PlaceSolution solution;
    if (place_problem_solve(problem, &(PlaceOptions){0}, &scratch, more, &solution,
                            &solve->verdicts[index]) != PLACE_PLACED) {
        return;
    }
    Placement *out = solve->out;
    const uint32_t *address = solution.address;
    for (int32_t i = 0; i < tile.member_count; i++) {
        const Member *member = &tile.members[i];
        out->address[member->buffer] = address[member->request] + member->offset;
        out->stride[member->buffer] = member->stride;
    }
    int32_t step;
    out->descriptor[index] = tile.descriptor >= 0 ? address[tile.descriptor] : 0;
    out->block[index] = tile.block >= 0 ? address[tile.block] : 0;
    out->block_stride[index] = tile.block_stride;
    out->used_bytes[index] = live_peak_of(problem, false, false, &step, scratch);
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
                        .arenas = arena_array(&scratch, Arena, threads)};
    isize share = (scratch.end - scratch.at) / (threads + 1);
    for (int i = 0; i < threads; i++) {
        solve.arenas[i] = arena_split(&scratch, share);
    }
    parallel_for(threads, tiles, 8, solve_tile, &solve);
    int32_t worst = -1; /* a proof before a guess, then the largest gap, then the lowest tile */
    for (int32_t i = 0; i < tiles; i++) {
        if (solve.verdicts[i].outcome != PLACE_PLACED) {
            const PlaceVerdict *a = &solve.verdicts[i],
                               *b = worst < 0 ? NULL : &solve.verdicts[worst];
            if (b == NULL || a->outcome < b->outcome ||
                (a->outcome == b->outcome && a->short_bytes > b->short_bytes)) {
                worst = i;
            }
        }
    }
    if (worst < 0) {
        return true;
    }
    *verdict = solve.verdicts[worst];
    PlaceProblem problem;
    Arena temporary = arena_split(&scratch, (scratch.end - scratch.at) / 2);
    place_extract(work, verdict->tile, &scratch, temporary, &problem);
    if (verdict->outcome == PLACE_GAVE_UP) { /* again, for a proof */
        PlaceSolution none;
        Arena room = arena_split(&temporary, (temporary.end - temporary.at) / 2);
        (void)place_problem_solve(&problem, &(PlaceOptions){.is_proof_wanted = true}, &room,
                                  temporary, &none, verdict);
    }
    Writer writer = writer_buffer(&scratch);
    verdict_print(&writer, &problem, verdict);
    write_str(&writer, tiles < CHIP_TILES ? S("; more tiles may help (--tiles)") : S(""));
    Str text = writer_text(&writer);
    return error_set(err, ERROR_NO, NULL, "%.*s", STR_ARG(text));
}
