/* Is this schedule legal? Written from the rules (exchange.md 3..9: X1..X22; exchange-scheduling.md 1: S1..S10), not from the
 * solver, with which it shares no code. docs/exchange-rules.md says who else watches which rule.
 *
 * A phase is checked in three steps: every transfer for itself, in parallel; its messages are dealt out to the tiles that
 * send, lend or receive, by counting; every tile, in parallel. A tile's task computes all windows again from the starts. What
 * its row must do follows: one list of sends and one of controls. The row is decoded and must contain exactly these, so a
 * rule about words (sctl, neutral, pointer value) is reported as the first entry that differs.
 *
 * Of the first phase with a fault, that of the least transfer is reported, else that of the least tile whose starts are
 * illegal, else that of the least tile whose row differs from the starts: the same for any number of threads.
 */
#include "exchange/check.h"

enum { TRANSFER_CHUNK = 1024, TILE_CHUNK = 8 };

/* First fault that a worker has found. */
typedef struct Worker {
    Arena arena;
    int32_t *seen; /* per tile: 1 + last transfer that it receives */
    isize fault;   /* transfer, or tile, or CHIP_TILES + tile: of its row */
    Error err;
} Worker;

typedef struct Tasks {
    Check *check;
    Worker *workers;
} Tasks;

bool check_broken(const Check *check, const char *rule, PhysTile tile, Event event, int32_t message,
                  const char *what, Arena scratch, Error *err)
{
    int logical = tile_of(tile).id;
    if (message < 0) {
        return error_set(err, ERROR_NO, NULL, "%s: phase %d, tile L%d (P%d), event %d: %s", rule,
                         check->phase, logical, tile.id, event, what);
    }
    int32_t transfer = check->schedule->messages.at[message].transfer;
    Str from = provenance_text(check->problem->names,
                               check->problem->transfers.at[transfer].provenance, &scratch);
    return error_set(err, ERROR_NO, NULL,
                     from.len > 0 ? "%s: phase %d, tile L%d (P%d), event %d, transfer %d (%.*s): %s"
                                  : "%s: phase %d, tile L%d (P%d), event %d, transfer %d%.*s: %s",
                     rule, check->phase, logical, tile.id, event, transfer, STR_ARG(from), what);
}

bool check_tile_broken(const CheckTile *tile, const char *rule, Event event, int32_t message,
                       const char *what)
{
    return check_broken(tile->check, rule, tile->tile, event, message, what, *tile->arena,
                        tile->err);
}

static void keep_fault(Worker *worker, isize index, const Error *err)
{
    if (err->code != ERROR_NONE && (worker->err.code == ERROR_NONE || index < worker->fault)) {
        worker->err = *err;
        worker->fault = index;
    }
}

static void transfer_task(void *context, isize index, int worker)
{
    const Tasks *tasks = context;
    const Check *check = tasks->check;
    int32_t transfer = check->problem->phases.at[check->phase].transfer_first + (int32_t)index;
    Error err;
    err.code = ERROR_NONE;
    Worker *own = &tasks->workers[worker];
    if (!check_transfer(check, transfer, own->seen, own->arena, &err)) {
        keep_fault(own, index, &err);
    }
}

static const Row *row_at(const Check *check, PhysTile tile)
{
    const RowVec *rows = &check->schedule->rows;
    int32_t low = check->row_first[check->phase], high = check->row_first[check->phase + 1];
    int32_t end = high;
    while (low < high) {
        int32_t middle = (low + high) / 2;
        if (rows->at[middle].tile.id < tile.id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < end && rows->at[low].tile.id == tile.id ? &rows->at[low] : NULL;
}

static bool check_starts(CheckTile *tile)
{
    return check_collect(tile) && check_order(tile) && check_streams(tile) && check_controls(tile);
}

static bool check_words(CheckTile *tile)
{
    const Row *row = row_at(tile->check, tile->tile);
    bool is_active = tile->count[CHECK_SENDS] + tile->count[CHECK_RECEIVES] > 0;
    if (is_active != (row != NULL)) {
        return check_tile_broken(tile, "S10", 0, -1,
                                 is_active ? "the tile takes part and has no row"
                                           : "the tile has a row and takes no part");
    }
    return row == NULL || check_row(tile, row);
}

static void tile_task(void *context, isize index, int worker)
{
    const Tasks *tasks = context;
    Arena arena = tasks->workers[worker].arena;
    Error err;
    err.code = ERROR_NONE;
    CheckTile tile = {
        .check = tasks->check, .tile = {(uint16_t)index}, .arena = &arena, .err = &err};
    if (!check_starts(&tile)) {
        keep_fault(&tasks->workers[worker], index, &err);
    } else if (!check_words(&tile)) {
        keep_fault(&tasks->workers[worker], CHIP_TILES + index, &err);
    }
}

/* Runs one task an index and reports the fault of the least. */
static bool run_tasks(Check *check, Worker *workers, isize count, isize chunk, ParallelBody body,
                      Error *err)
{
    Tasks tasks = {check, workers};
    parallel_for(check->threads, count, chunk, body, &tasks);
    const Worker *first = NULL;
    for (int i = 0; i < check->threads; i++) {
        if (workers[i].err.code != ERROR_NONE &&
            (first == NULL || workers[i].fault < first->fault)) {
            first = &workers[i];
        }
    }
    return first == NULL ||
           error_set(err, first->err.code, first->err.where, "%s", first->err.message);
}

static void deal_message(Check *check, int32_t message, bool is_counting)
{
    const ExchangeTransfer *t = check_transfer_of(check, message);
    bool is_paired = check->schedule->messages.at[message].is_paired;
    const ExchangeReceiver *to = &check->problem->receivers.at[t->receiver_first];
    int32_t *next = check->entry_first;
    int sender = CHECK_SIDES * t->source.id + CHECK_SENDS;
    int lender = CHECK_SIDES * partner_of(t->source).id + CHECK_LENDS;
    if (is_counting) {
        next[sender]++;
        next[lender] += is_paired;
        for (int32_t i = 0; i < t->receiver_count; i++) {
            next[CHECK_SIDES * to[i].tile.id + CHECK_RECEIVES]++;
        }
        return;
    }
    CheckEntry entry = check_entry_of(check, message);
    check->entries[next[sender]++] = entry;
    if (is_paired) {
        check->entries[next[lender]++] = entry;
    }
    entry.move = 0;
    for (int32_t i = 0; i < t->receiver_count; i++) {
        entry.address = to[i].address + 4 * check->schedule->messages.at[message].word_first;
        check->entries[next[CHECK_SIDES * to[i].tile.id + CHECK_RECEIVES]++] = entry;
    }
}

/* Counting sort of the phase's messages to the tiles' sides. False when there are more than an index holds. */
static bool deal_messages(Check *check, int32_t begin, int32_t end, Arena *arena)
{
    enum { SIDES = CHECK_SIDES * CHIP_TILES };
    check->entry_first = arena_array(arena, int32_t, SIDES + 1);
    int64_t total = 0;
    for (int32_t i = begin; i < end; i++) {
        total += 2 + check_transfer_of(check, i)->receiver_count;
    }
    if (total > INT32_MAX) {
        return false;
    }
    for (int32_t i = begin; i < end; i++) {
        deal_message(check, i, true);
    }
    int32_t sum = 0;
    for (int i = 0; i < SIDES; i++) { /* counts become places */
        int32_t count = check->entry_first[i];
        check->entry_first[i] = sum;
        sum += count;
    }
    check->entries = arena_array(arena, CheckEntry, sum);
    for (int32_t i = begin; i < end; i++) {
        deal_message(check, i, false);
    }
    for (int i = SIDES; i > 0; i--) { /* dealing moved every place to the next one's */
        check->entry_first[i] = check->entry_first[i - 1];
    }
    check->entry_first[0] = 0;
    return true;
}

static bool check_horizon(const Check *check, Error *err)
{
    const Schedule *schedule = check->schedule;
    Event horizon = 0, bound = schedule->bounds[check->phase].chosen.events;
    for (int32_t i = check->row_first[check->phase]; i < check->row_first[check->phase + 1]; i++) {
        horizon = (Event)max_i64(horizon, schedule->rows.at[i].end);
    }
    if (horizon != schedule->horizon[check->phase]) {
        return error_set(err, ERROR_NO, NULL,
                         "S10: phase %d: the horizon is %d, the last row ends at event %d",
                         check->phase, schedule->horizon[check->phase], horizon);
    }
    return (bound >= 0 && bound <= horizon) ||
           error_set(err, ERROR_NO, NULL, "S10: phase %d: the horizon is %d, its lower bound is %d",
                     check->phase, horizon, bound);
}

static bool check_phase(Check *check, Worker *workers, Arena scratch, Error *err)
{
    const ExchangePhase *phase = &check->problem->phases.at[check->phase];
    int32_t first = phase->transfer_first, end = first + phase->transfer_count;
    check->first_start = arena_array(&scratch, Event, phase->transfer_count);
    check->completion = arena_array(&scratch, Event, phase->transfer_count);
    if (!run_tasks(check, workers, phase->transfer_count, TRANSFER_CHUNK, transfer_task, err)) {
        return false;
    }
    if (!deal_messages(check, check->message_first[first], check->message_first[end], &scratch)) {
        return error_set(err, ERROR_NO, NULL, "S10: phase %d has more receives than are countable",
                         check->phase);
    }
    return run_tasks(check, workers, CHIP_TILES, TILE_CHUNK, tile_task, err) &&
           check_horizon(check, err);
}

bool exchange_check(const ExchangeProblem *problem, const Schedule *schedule, int threads,
                    Arena scratch, Error *err)
{
    Check check = {.problem = problem,
                   .schedule = schedule,
                   .threads = (int)max_i64(1, thread_count(threads))};
    if (!check_shape(&check, &scratch, err)) {
        return false;
    }
    Worker *workers = arena_array(&scratch, Worker, check.threads);
    isize share = (scratch.end - scratch.at) / (check.threads + 1);
    for (int i = 0; i < check.threads; i++) {
        workers[i].arena = arena_split(&scratch, share);
        workers[i].seen = arena_array(&workers[i].arena, int32_t, CHIP_TILES);
    }
    for (isize i = 0; i < problem->phases.len; i++) {
        check.phase = (int32_t)i;
        if (!check_phase(&check, workers, scratch, err)) {
            return false;
        }
    }
    return true;
}
