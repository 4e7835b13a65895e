/* All phases: schedule, encode, collect (exchange-scheduling.md 1, S10; exchange.md 4.1).
 *
 * Phases share nothing but the row budget, so they are solved in parallel, each in the arenas of the worker that happens to
 * run it. A phase has variants: all transfers 32 bits wide, or every one paired that may be. The second is tried where some
 * may, and the better one is kept. Then rows are encoded, phase after phase with all threads, and collected in phase order:
 * nothing depends on the number of threads.
 */
#include "exchange/phase.h"
#include <string.h>

enum {
    VARIANTS = 2 * RULE_COUNT, /* widths x rules */
    LARGE = 300000,            /* transfers from which the last round is left out, except waves */
    CLOSE_PART = 50,           /* within 1/50 of the bound no other rule is tried */
    COMPACT_STREAM_WORDS = 1024,
    CLOSE_ENOUGH = 256,                 /* within 1/256 of the bound no more orders are tried */
    IMPROVE_WORK_MAX = 2 * 1000 * 1000, /* endpoints placed to improve a phase */
    IMPROVE_TRIES_MIN = 16,             /* less than this many tries are not worth it */
    PATCH_CYCLES = 54,                  /* a patched word (compiler-design.md 10) */
};

/* One placement of one phase. */
typedef struct Variant {
    bool is_used, is_paired, is_placed;
    ExchangeRule rule;
    int32_t stream_words; /* 0: no waves */
    Event length_bound;
    Placed placed;
} Variant;

typedef struct PhaseWork {
    Depends depends;
    bool may_patch; /* then the length is not the whole price, which is known when rows are */
    bool is_close;  /* a rule came so close to the bound that no other is tried */
    Variant variant[VARIANTS];
    Error err;
} PhaseWork;

/* So that every worker's scratch (2 of 4 and a bit parts) may hold the largest phase. */
static const isize WORKER_BYTES = (isize)PHASE_BYTES_MAX * ROOM_PART * 5 / 2;

typedef struct SolveWorker {
    Arena keep, scratch;
} SolveWorker;

typedef struct Solve {
    const ExchangeProblem *problem;
    const ExchangeOptions *options;
    const ExchangeBounds *bounds;
    PhaseWork *phases;
    SolveWorker *workers;
    const int32_t *same_move;
    int round;
} Solve;

/* Rules are tried in rounds, until one comes close to the bound. */
static const int round_of[RULE_COUNT] = {
    [RULE_FRONTIER] = 0, [RULE_AHEAD] = 1,    [RULE_LOAD] = 1,
    [RULE_LIST] = 2,     [RULE_ROTATION] = 2, [RULE_EARLIEST] = 2,
};
enum { ROUNDS = 3 };

static bool may_pair_some(const ExchangeProblem *problem, const ExchangePhase *phase)
{
    for (int32_t i = 0; i < phase->transfer_count; i++) {
        if (transfer_may_pair(problem, &problem->transfers.at[phase->transfer_first + i])) {
            return true;
        }
    }
    return false;
}

/* Rows may need patched words: sources of a tile move in different ways, or some move and some do not. */
static bool may_patch(const Solve *solve, const ExchangePhase *phase)
{
    int32_t first[CHIP_TILES] = {0}; /* 1 + the move of the tile's first source */
    for (int32_t i = 0; i < phase->transfer_count; i++) {
        const ExchangeTransfer *t = &solve->problem->transfers.at[phase->transfer_first + i];
        int32_t move = 1 + solve->same_move[t->move];
        if (first[t->source.id] == 0) {
            first[t->source.id] = move;
        } else if (first[t->source.id] != move) {
            return true;
        }
    }
    return false;
}

static void prepare_phase(void *context, isize index, int worker)
{
    Solve *solve = context;
    SolveWorker *memory = &solve->workers[worker];
    PhaseWork *work = &solve->phases[index];
    ExchangeWidth width = solve->options->width;
    const ExchangePhase *phase = &solve->problem->phases.at[index];
    if (!depends_build(solve->problem, (int32_t)index, &memory->keep, memory->scratch,
                       &work->depends, &work->err)) {
        return;
    }
    work->may_patch = may_patch(solve, phase);
    bool may_pair = width != EXCHANGE_WIDTH_ORDINARY && may_pair_some(solve->problem, phase);
    for (int i = 0; i < VARIANTS; i++) {
        Variant *variant = &work->variant[i];
        variant->is_paired = i >= RULE_COUNT;
        variant->rule = (ExchangeRule)(i % RULE_COUNT);
        variant->is_used =
            variant->is_paired ? may_pair : !may_pair || width == EXCHANGE_WIDTH_AUTO;
        if (solve->options->stream_words > 0) { /* asked for: nothing else */
            variant->stream_words = solve->options->stream_words;
            variant->is_used = variant->is_used && variant->rule == RULE_LOAD;
        } else if (solve->options->is_compact && variant->rule == RULE_EARLIEST) {
            variant->stream_words = COMPACT_STREAM_WORDS;
        } else if (phase->transfer_count > LARGE && round_of[variant->rule] == ROUNDS - 1) {
            variant->is_used = false;
        }
    }
}

static void solve_variant(void *context, isize index, int worker)
{
    Solve *solve = context;
    SolveWorker *memory = &solve->workers[worker];
    isize phase_index = index / VARIANTS;
    PhaseWork *work = &solve->phases[phase_index];
    Variant *variant = &work->variant[index % VARIANTS];
    if (!variant->is_used || round_of[variant->rule] != solve->round || work->is_close) {
        return;
    }
    Arena scratch = memory->scratch;
    const ExchangeBounds *bounds = &solve->bounds[phase_index];
    Phase phase = phase_build(solve->problem, (int32_t)phase_index, variant->is_paired,
                              &work->depends, solve->same_move, &scratch);
    Event bound = variant->is_paired ? bounds->paired.events : bounds->ordinary.events;
    variant->length_bound = phase_length_bound(&phase, bound);
    const Arena keep = memory->keep;
    variant->placed = placed_new(&phase, &memory->keep);
    variant->is_placed = phase_schedule(&phase, variant->rule, variant->stream_words, bound,
                                        scratch, &variant->placed);
    if (!variant->is_placed) {
        memory->keep = keep;
    }
}

static Variant *shortest_variant(PhaseWork *work)
{
    Variant *best = NULL;
    for (int i = 0; i < VARIANTS; i++) {
        Variant *variant = &work->variant[i];
        if (variant->is_placed &&
            (best == NULL || placed_is_better(&variant->placed, &best->placed))) {
            best = variant;
        }
    }
    return best;
}

/* Does a rule come close to the least bound of the widths that may be used? Compact rows may be better anyway. */
static bool is_close(const Solve *solve, isize index)
{
    PhaseWork *work = &solve->phases[index];
    const Variant *best = shortest_variant(work);
    if (best == NULL || work->may_patch || solve->options->is_compact) {
        return false;
    }
    const Variant *ordinary = &work->variant[best->rule],
                  *paired = &work->variant[RULE_COUNT + best->rule];
    Event bound = EVENT_NEVER, least = EVENT_NEVER; /* a lent lane may make the paired one larger */
    if (ordinary->is_used) {
        bound = solve->bounds[index].ordinary.events;
        least = ordinary->length_bound;
    }
    if (paired->is_used && paired->length_bound < least) {
        bound = solve->bounds[index].paired.events;
        least = paired->length_bound;
    }
    return best->placed.length <= least + bound / CLOSE_PART;
}

/* The placement of a variant again. */
static bool place_variant(const Solve *solve, isize index, const Variant *variant, Arena *scratch,
                          Phase *phase)
{
    *phase = phase_build(solve->problem, (int32_t)index, variant->is_paired,
                         &solve->phases[index].depends, solve->same_move, scratch);
    if (!phase_reserve(phase, variant->placed.horizon + variant->placed.horizon / 4 + 4096,
                       scratch)) {
        return false;
    }
    phase_restore(phase, &variant->placed);
    return true;
}

/* More orders of the shortest variant. */
static void improve_phase(void *context, isize index, int worker)
{
    Solve *solve = context;
    Arena scratch = solve->workers[worker].scratch;
    Variant *variant = shortest_variant(&solve->phases[index]);
    const ExchangePhase *source = &solve->problem->phases.at[index];
    int64_t size = source->transfer_count;
    for (int32_t i = 0; i < source->transfer_count; i++) {
        size += solve->problem->transfers.at[source->transfer_first + i].receiver_count;
    }
    int64_t tries = IMPROVE_WORK_MAX / (3 * size + 1);
    if (variant == NULL || variant->stream_words > 0 || tries < IMPROVE_TRIES_MIN) {
        return;
    }
    Event bound = variant->is_paired ? solve->bounds[index].paired.events
                                     : solve->bounds[index].ordinary.events;
    Event good = variant->length_bound + bound / CLOSE_ENOUGH;
    Phase phase;
    if (variant->placed.length > good && place_variant(solve, index, variant, &scratch, &phase)) {
        phase_improve(&phase, good, tries, scratch, &variant->placed);
    }
}

/* Rows of a variant. */
static bool encode_variant(const Solve *solve, isize index, const Variant *variant, int threads,
                           Arena *keep, Arena *scratch, Phase *phase, PhaseRows *rows)
{
    return place_variant(solve, index, variant, scratch, phase) &&
           phase_encode(phase, threads, keep, *scratch, rows);
}

/* What the rows of a variant come to. */
typedef struct Price {
    const Variant *variant;
    isize row_words_max, word_count;
    Event horizon;
    int64_t cycles;
} Price;

/* Cycles: the length, and what the tile with most patched words spends on them in front of every iteration. */
static Price price_of(const Variant *variant, const PhaseRows *rows)
{
    return (Price){.variant = variant,
                   .row_words_max = rows->row_words_max,
                   .word_count = rows->word_count,
                   .horizon = rows->horizon,
                   .cycles = rows->length + PATCH_CYCLES * (int64_t)rows->row_patches_max};
}

/* Compact: smaller largest row, then fewer words in all, then the shorter horizon. Else fewer cycles. */
static bool is_better(const Price *a, const Price *b, bool is_compact)
{
    if (is_compact) {
        if (a->row_words_max != b->row_words_max) {
            return a->row_words_max < b->row_words_max;
        }
        return a->word_count != b->word_count ? a->word_count < b->word_count
                                              : a->horizon < b->horizon;
    }
    return a->cycles != b->cycles ? a->cycles < b->cycles
                                  : placed_is_better(&a->variant->placed, &b->variant->placed);
}

/* The best of all variants once they are encoded; `best` is the price of one of them, or of none. */
static const Variant *best_encoded(const Solve *solve, isize index, int threads, Arena keep,
                                   Arena scratch, Price best)
{
    for (int i = 0; i < VARIANTS; i++) {
        const Variant *variant = &solve->phases[index].variant[i];
        Arena temporary = scratch, out = keep;
        Phase phase;
        PhaseRows rows;
        if (!variant->is_placed || variant == best.variant ||
            !encode_variant(solve, index, variant, threads, &out, &temporary, &phase, &rows)) {
            continue;
        }
        Price next = price_of(variant, &rows);
        if (best.variant == NULL || is_better(&next, &best, solve->options->is_compact)) {
            best = next;
        }
    }
    return best.variant;
}

/* Rows of the variant to be used: the shortest one, if it can be encoded as it is and without patched words. */
static bool encode_phase(const Solve *solve, isize index, int threads, Arena *keep, Arena scratch,
                         ExchangeMessageVec *messages, PhaseRows *rows, Error *err)
{
    PhaseWork *work = &solve->phases[index];
    if (work->err.code != ERROR_NONE) {
        *err = work->err;
        return false;
    }
    const Variant *shortest = shortest_variant(work);
    if (shortest == NULL) {
        return error_set(err, ERROR_NO, NULL,
                         "S10: gave up on phase %td, of %d events or more: a search among so many "
                         "takes more memory than it may or can have",
                         index, solve->bounds[index].chosen.events);
    }
    const Arena before = *keep;
    Arena room = scratch;
    Phase phase;
    bool ok = encode_variant(solve, index, shortest, threads, keep, &room, &phase, rows);
    if (!ok || solve->options->is_compact || rows->patch_count > 0 ||
        rows->length > shortest->placed.length) {
        Price price = ok ? price_of(shortest, rows) : (Price){0};
        const Variant *best = best_encoded(solve, index, threads, *keep, room, price);
        if (best != price.variant) {
            *keep = before;
            room = scratch;
            ok = encode_variant(solve, index, best, threads, keep, &room, &phase, rows);
        }
    }
    if (!ok) {
        return error_set(err, ERROR_NO, NULL, "S10: phase %td: no encodable rows were found",
                         index);
    }
    for (int32_t i = 0; i < phase.message_count; i++) {
        const Message *m = &phase.messages[i];
        *vec_push(messages, keep) =
            (ExchangeMessage){.transfer = phase.transfer_first + m->transfer,
                              .word_first = m->word_first,
                              .words = m->words,
                              .start = phase.start[i],
                              .is_paired = m->is_paired};
    }
    return true;
}

/* Rows of a tile lie behind each other, each on 8 bytes (S10). */
static bool check_budget(const ExchangeProblem *problem, const Schedule *schedule, Arena scratch,
                         Error *err)
{
    PhysTile tile;
    int64_t bytes = row_bytes_largest(schedule, scratch, &tile);
    int64_t over = bytes - problem->row_bytes_max;
    if (over > 0) {
        return error_set(err, ERROR_NO, NULL,
                         "S10: exchange rows need %lld bytes, over by %lld bytes on tile L%d (P%d)",
                         (long long)bytes, (long long)over, tile_of(tile).id, tile.id);
    }
    return true;
}

bool exchange_solve(const ExchangeProblem *problem, const ExchangeOptions *options, Arena *keep,
                    Arena scratch, Schedule *out, Error *err)
{
    if (!inputs_check(problem, scratch, err)) {
        return false;
    }
    isize phase_count = problem->phases.len;
    int threads = thread_count(options->threads);
    int workers = (int)max_i64(1, min_i64(threads, VARIANTS * phase_count));
    *out = (Schedule){.horizon = arena_array(keep, Event, phase_count),
                      .bounds = arena_array(keep, ExchangeBounds, phase_count)};
    exchange_bounds(problem, NULL, threads, scratch, out->bounds);
    Solve solve = {.problem = problem,
                   .options = options,
                   .bounds = out->bounds,
                   .same_move = moves_merge(problem, &scratch),
                   .phases = arena_array(&scratch, PhaseWork, phase_count),
                   .workers = arena_array(&scratch, SolveWorker, workers)};
    PhaseRows *rows = arena_array(&scratch, PhaseRows, phase_count);
    Arena row_memory = arena_split(&scratch, (scratch.end - scratch.at) / 4);
    /* What fits must not depend on the number of workers. */
    isize workers_max = (scratch.end - scratch.at) / WORKER_BYTES;
    workers = (int)max_i64(1, min_i64(workers, workers_max));
    isize share = (scratch.end - scratch.at) / (4 * workers + 1);
    for (int i = 0; i < workers; i++) {
        solve.workers[i].keep = arena_split(&scratch, share);
        solve.workers[i].scratch = arena_split(&scratch, 2 * share);
    }
    parallel_for(workers, phase_count, 1, prepare_phase, &solve);
    for (solve.round = 0; solve.round < ROUNDS; solve.round++) {
        parallel_for(workers, VARIANTS * phase_count, 1, solve_variant, &solve);
        for (isize i = 0; i < phase_count; i++) {
            solve.phases[i].is_close = is_close(&solve, i);
        }
    }
    if (!options->is_compact) {
        parallel_for(workers, phase_count, 1, improve_phase, &solve);
    }
    double begin = time_seconds();
    for (isize i = 0; i < phase_count; i++) {
        if (!encode_phase(&solve, i, threads, &row_memory, scratch, &out->messages, &rows[i],
                          err)) {
            return false;
        }
    }
    out->host_encode_seconds = time_seconds() - begin;
    ExchangeMessage *messages = arena_array(keep, ExchangeMessage, out->messages.len);
    if (out->messages.len > 0) {
        memcpy(messages, out->messages.at, (size_t)out->messages.len * sizeof *messages);
    }
    out->messages.at = messages;
    out->messages.cap = out->messages.len;
    rows_collect(rows, phase_count, keep, scratch, out);
    exchange_bounds(problem, &out->messages, threads, scratch, out->bounds);
    for (isize i = 0; i < phase_count; i++) {
        ASSERT(out->bounds[i].chosen.events <= out->horizon[i]);
    }
    return check_budget(problem, out, scratch, err);
}
