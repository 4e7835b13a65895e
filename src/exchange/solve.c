/* All phases: schedule, encode, collect (exchange-scheduling.md 1, S10; exchange.md 4.1).
 *
 * Phases share nothing but the row budget, so they are solved in parallel, each into the arena of the worker that happens
 * to run it, and collected in phase order: the result does not depend on the number of threads. When a row cannot be
 * encoded (parity of sendpicp), the message whose control stands there must start one event later and the phase is placed
 * again; after some attempts controls are kept apart instead, which needs no sendpicp and so cannot fail that way.
 */
#include "exchange/phase.h"
#include <string.h>

enum { DELAY_ATTEMPTS = 4, APART_ATTEMPTS = 16 };

typedef struct PhaseRows {
    RowVec rows;
    RowWordVec words;
    Event horizon;
    Error err;
} PhaseRows;

typedef struct SolveWorker {
    Arena out, scratch;
} SolveWorker;

typedef struct Solve {
    const ExchangeProblem *problem;
    Event *start;
    const ExchangeBounds *bounds;
    PhaseRows *phases;
    SolveWorker *workers;
} Solve;

static uint32_t sctl_of(const Phase *phase, const Message *m)
{
    if (m->count > 1) {
        return SCTL_BOTH;
    }
    PhysTile to = phase->lanes[phase->endpoints[m->first].lane].tile;
    return (uint32_t)direction_of(phase->lanes[m->lane].tile, to);
}

static isize collect_sends(const Phase *phase, const Lane *lane, RowSend *sends)
{
    for (int32_t i = 0; i < lane->send_count; i++) {
        const Slot *slot = &lane->sends[i];
        const ExchangeTransfer *t =
            &phase->problem->transfers.at[phase->transfer_first + slot->message];
        sends[i] = (RowSend){slot->begin, slot->begin + slot->words, word_of_byte(t->address),
                             sctl_of(phase, &phase->messages[slot->message])};
    }
    return lane->send_count;
}

/* Address at which this lane stores the message. */
static uint32_t store_address(const Phase *phase, const Lane *lane, int32_t message)
{
    const ExchangeTransfer *t = &phase->problem->transfers.at[phase->transfer_first + message];
    for (int32_t i = 0; i < t->receiver_count; i++) {
        const ExchangeReceiver *to = &phase->problem->receivers.at[t->receiver_first + i];
        if (to->tile.id == lane->tile.id) {
            return to->address;
        }
    }
    bool is_receiver = false;
    ASSERT(is_receiver);
    return 0;
}

/* XPIC at src, neutral at src + n unless the next source takes over there, pointer at src + 52 + 2R; sorted by event. */
static isize collect_controls(const Phase *phase, const Lane *lane, RowControl *controls)
{
    isize count = 0;
    int32_t pointer = 0, total = lane->receive_count;
    for (int32_t i = 0; i <= total; i++) {
        Event until = i < total ? lane->receives[i].begin : INT32_MAX;
        Event neutral =
            i > 0 ? lane->receives[i - 1].begin + lane->receives[i - 1].words : INT32_MAX;
        for (int step = 0; step < 2; step++) {
            bool is_neutral = step == 0;
            Event limit = is_neutral ? neutral : until;
            if (is_neutral && (i == 0 || neutral == until)) {
                continue;
            }
            while (pointer < total && lane->receives[pointer].begin + lane->pointer_delay < limit) {
                const Slot *slot = &lane->receives[pointer++];
                controls[count++] =
                    (RowControl){slot->begin + lane->pointer_delay, ROW_POINTER,
                                 word_of_byte(store_address(phase, lane, slot->message))};
            }
            if (is_neutral) {
                controls[count++] = (RowControl){neutral, ROW_XPIC, FABRIC_NEUTRAL};
            } else if (i < total) {
                const Message *m = &phase->messages[lane->receives[i].message];
                controls[count++] = (RowControl){until, ROW_XPIC, phase->lanes[m->lane].tile.id};
            }
        }
    }
    return count;
}

static Event end_of_row(const Lane *lane)
{
    Event end = 0;
    if (lane->send_count > 0) {
        const Slot *last = &lane->sends[lane->send_count - 1];
        end = (Event)max_i64(last->begin + last->words, FABRIC_SEND_MIN);
    }
    if (lane->receive_count > 0) {
        const Slot *last = &lane->receives[lane->receive_count - 1];
        end = (Event)max_i64(end,
                             last->begin + last->words + lane->pointer_delay + FABRIC_ROW_MARGIN);
    }
    return end;
}

/* Message of the lane whose control takes effect at `event`; -1 when it is a send that does not fit there. */
static int32_t message_at(const Lane *lane, Event event)
{
    for (int32_t i = 0; i < lane->receive_count; i++) {
        const Slot *slot = &lane->receives[i];
        if (event == slot->begin + lane->pointer_delay || event == slot->begin ||
            event == slot->begin + slot->words) {
            return slot->message;
        }
    }
    return -1;
}

/* Encodes every row. False when some are not encodable: one message of each must start later. */
static bool encode_rows(Phase *phase, int32_t index, PhaseRows *rows, Arena *out, Arena scratch)
{
    bool is_encoded = true;
    rows->rows.len = 0;
    rows->words.len = 0;
    for (int32_t i = 0; i < phase->lane_count; i++) {
        const Lane *lane = &phase->lanes[i];
        Arena temporary = scratch;
        RowSend *sends = arena_array(&temporary, RowSend, lane->send_count);
        RowControl *controls = arena_array(&temporary, RowControl, 3 * (isize)lane->receive_count);
        isize send_count = collect_sends(phase, lane, sends);
        isize control_count = collect_controls(phase, lane, controls);
        RowWordVec words = {0};
        Event at, end = end_of_row(lane);
        RowScript script = {.sends = {sends, send_count, send_count},
                            .controls = {controls, control_count, control_count},
                            .end = end};
        if (!row_encode(&script, &words, &temporary, &at)) {
            int32_t late = message_at(lane, at);
            ASSERT(late >= 0);
            phase->messages[late].start_min = phase->start[late] + 1;
            is_encoded = false;
        }
        if (!is_encoded) {
            continue;
        }
        if (rows->words.len % 2 != 0) {
            *vec_push(&rows->words, out) = 0; /* rows begin on even words */
        }
        *vec_push(&rows->rows, out) = (Row){.phase = index,
                                            .tile = lane->tile,
                                            .word_first = (int32_t)rows->words.len,
                                            .word_count = (int32_t)words.len,
                                            .end = end};
        for (isize k = 0; k < words.len; k++) {
            *vec_push(&rows->words, out) = words.at[k];
        }
    }
    return is_encoded;
}

static void solve_phase(void *context, isize index, int worker)
{
    Solve *solve = context;
    PhaseRows *rows = &solve->phases[index];
    Arena scratch = solve->workers[worker].scratch;
    const ExchangePhase *source = &solve->problem->phases.at[index];
    Phase phase = phase_build(solve->problem, (int32_t)index, &solve->start[source->transfer_first],
                              &scratch);
    for (int attempt = 0; attempt < DELAY_ATTEMPTS + APART_ATTEMPTS; attempt++) {
        phase.may_merge = attempt < DELAY_ATTEMPTS;
        phase_schedule(&phase, solve->bounds[index].chosen.events, scratch);
        rows->horizon = phase_horizon(&phase);
        if (encode_rows(&phase, (int32_t)index, rows, &solve->workers[worker].out, scratch)) {
            return;
        }
    }
    (void)error_set(&rows->err, ERROR_NO, NULL, "phase %td: no encodable rows after %d placements",
                    index, DELAY_ATTEMPTS + APART_ATTEMPTS);
}

/* Rows of a tile lie behind each other, each on 8 bytes (S10). */
static bool check_budget(const ExchangeProblem *problem, const Schedule *schedule, Arena scratch,
                         Error *err)
{
    int64_t *bytes = arena_array(&scratch, int64_t, CHIP_TILES);
    int worst = 0;
    for (isize i = 0; i < schedule->rows.len; i++) {
        const Row *row = &schedule->rows.at[i];
        bytes[row->tile.id] += align_up(4 * (int64_t)row->word_count, 8);
        worst = bytes[row->tile.id] > bytes[worst] ? row->tile.id : worst;
    }
    for (int tile = 0; tile < CHIP_TILES; tile++) {
        worst = bytes[tile] > bytes[worst] ? tile : worst;
    }
    int64_t over = bytes[worst] - problem->row_bytes_max;
    if (over > 0) {
        return error_set(
            err, ERROR_NO, NULL, "exchange rows need %lld bytes, over by %lld bytes on tile L%d",
            (long long)bytes[worst], (long long)over, tile_of((PhysTile){(uint16_t)worst}).id);
    }
    return true;
}

bool exchange_solve(const ExchangeProblem *problem, const ExchangeOptions *options, Arena *keep,
                    Arena scratch, Schedule *out, Error *err)
{
    int threads = options->threads;
    if (!inputs_check(problem, scratch, err)) {
        return false;
    }
    isize phase_count = problem->phases.len;
    threads = (int)max_i64(1, min_i64(thread_count(threads), phase_count));
    *out = (Schedule){.horizon = arena_array(keep, Event, phase_count),
                      .bounds = arena_array(keep, ExchangeBounds, phase_count)};
    exchange_bounds(problem, NULL, threads, scratch, out->bounds);
    Event *start = arena_array(&scratch, Event, problem->transfers.len);
    Solve solve = {.problem = problem,
                   .start = start,
                   .bounds = out->bounds,
                   .phases = arena_array(&scratch, PhaseRows, phase_count),
                   .workers = arena_array(&scratch, SolveWorker, threads)};
    isize share = (scratch.end - scratch.at) / (2 * threads + 1);
    for (int i = 0; i < threads; i++) {
        solve.workers[i].out = arena_split(&scratch, share);
        solve.workers[i].scratch = arena_split(&scratch, share);
    }
    parallel_for(threads, phase_count, 1, solve_phase, &solve);
    isize row_count = 0, word_count = 0, transfer_count = problem->transfers.len;
    out->messages = (ExchangeMessageVec){arena_array(keep, ExchangeMessage, transfer_count),
                                         transfer_count, transfer_count};
    for (int32_t i = 0; i < transfer_count; i++) {
        out->messages.at[i] = (ExchangeMessage){
            .transfer = i, .words = problem->transfers.at[i].words, .start = start[i]};
    }
    for (isize i = 0; i < phase_count; i++) {
        PhaseRows *phase = &solve.phases[i];
        if (phase->err.code != ERROR_NONE) {
            *err = phase->err;
            return false;
        }
        out->horizon[i] = phase->horizon;
        ASSERT(out->bounds[i].chosen.events <= out->horizon[i]);
        row_count += phase->rows.len;
        word_count += align_up(phase->words.len, 2);
    }
    ASSERT(word_count <= INT32_MAX);
    out->rows = (RowVec){arena_array(keep, Row, row_count), 0, row_count};
    out->words = (RowWordVec){arena_array(keep, RowWord, word_count), 0, word_count};
    for (isize i = 0; i < phase_count; i++) {
        const PhaseRows *phase = &solve.phases[i];
        for (isize k = 0; k < phase->rows.len; k++) {
            Row row = phase->rows.at[k];
            row.word_first += (int32_t)out->words.len;
            out->rows.at[out->rows.len++] = row;
        }
        if (phase->words.len > 0) {
            memcpy(&out->words.at[out->words.len], phase->words.at,
                   (size_t)phase->words.len * sizeof(RowWord));
        }
        out->words.len += align_up(phase->words.len, 2);
    }
    return check_budget(problem, out, scratch, err);
}
