/* Shape of a problem and of a schedule for it: whatever the other parts of the checker use as an index is looked at here
 * first. Also what belongs to no single tile: offsets of moves, shared row words, the budget (S10) and X11.
 */
#include "exchange/check.h"
#include <string.h>

static bool misshapen(Error *err, const char *what, isize index)
{
    return error_set(err, ERROR_NO, NULL, "S10: %s %td is malformed", what, index);
}

static bool is_slice(int64_t first, int64_t count, isize len)
{
    return first >= 0 && count >= 0 && first + count <= len;
}

/* Moves with equal offsets are one: the first of them stands for all. */
static void find_alike(Check *check, Arena scratch)
{
    const ExchangeProblem *problem = check->problem;
    isize count = problem->moves.len;
    SortKey *order = arena_array(&scratch, SortKey, count);
    for (isize i = 1; i < count; i++) {
        const ExchangeMove *move = &problem->moves.at[i];
        order[i - 1] = (SortKey){hash64_of(&problem->offsets.at[move->first],
                                           move->count * (int64_t)sizeof(ExchangeOffset),
                                           (uint64_t)move->count),
                                 (uint32_t)i};
    }
    sort_keys(order, count - 1, scratch);
    for (isize i = 0; i + 1 < count; i++) {
        int32_t here = (int32_t)order[i].payload;
        int32_t before = i > 0 && order[i - 1].key == order[i].key
                             ? check->moves[order[i - 1].payload].alike
                             : here;
        const ExchangeMove *a = &problem->moves.at[before], *b = &problem->moves.at[here];
        bool is_equal = a->count == b->count &&
                        memcmp(&problem->offsets.at[a->first], &problem->offsets.at[b->first],
                               (size_t)a->count * sizeof(ExchangeOffset)) == 0;
        check->moves[here].alike = is_equal ? before : here;
    }
}

/* Distinct offsets of a move, ascending. */
static void sort_offsets(Check *check, const ExchangeMove *move, CheckMove *out, Arena scratch)
{
    const ExchangeOffset *from = &check->problem->offsets.at[move->first];
    SortKey *keys = arena_array(&scratch, SortKey, move->count);
    for (int32_t i = 0; i < move->count; i++) {
        keys[i] = (SortKey){(uint32_t)from[i] ^ 1u << 31, (uint32_t)i};
    }
    sort_keys(keys, move->count, scratch);
    for (int32_t i = 0; i < move->count; i++) {
        int32_t offset = from[keys[i].payload];
        out->is_wide &= offset % 8 == 0;
        if (out->count == 0 || check->offsets[out->first + out->count - 1] != offset) {
            check->offsets[out->first + out->count++] = offset;
        }
    }
}

static bool shape_moves(Check *check, Arena *arena, Error *err)
{
    const ExchangeProblem *problem = check->problem;
    isize count = max_i64(problem->moves.len, 1), total = 1;
    for (isize i = 1; i < problem->moves.len; i++) {
        const ExchangeMove *move = &problem->moves.at[i];
        if (move->count < 1 || !is_slice(move->first, move->count, problem->offsets.len)) {
            return misshapen(err, "move", i);
        }
        total += move->count;
    }
    check->moves = arena_array(arena, CheckMove, count);
    check->offsets = arena_array(arena, int32_t, total); /* [0] = 0 is that of move 0 */
    check->moves[0] = (CheckMove){.count = 1, .is_wide = true};
    int32_t next = 1;
    for (isize i = 1; i < problem->moves.len; i++) {
        check->moves[i] = (CheckMove){.first = next, .is_wide = true};
        sort_offsets(check, &problem->moves.at[i], &check->moves[i], *arena);
        next += check->moves[i].count;
    }
    if (problem->moves.len > 1) {
        find_alike(check, *arena);
    }
    return true;
}

/* The phases divide the transfers, in order. */
static bool shape_phases(const Check *check, Error *err)
{
    const ExchangeProblem *problem = check->problem;
    int32_t next = 0;
    for (isize i = 0; i < problem->phases.len; i++) {
        const ExchangePhase *phase = &problem->phases.at[i];
        if (phase->transfer_first != next || phase->iterations < 0 ||
            !is_slice(next, phase->transfer_count, problem->transfers.len)) {
            return misshapen(err, "phase", i);
        }
        next += phase->transfer_count;
        int32_t iterations = (int32_t)max_i64(1, phase->iterations);
        for (int32_t k = phase->transfer_first; k < next; k++) {
            int32_t move = problem->transfers.at[k].move;
            if (move < 0 || (move > 0 && (move >= problem->moves.len ||
                                          problem->moves.at[move].count != iterations))) {
                return misshapen(err, "move of transfer", k);
            }
        }
    }
    return next == problem->transfers.len || misshapen(err, "phase of transfer", next);
}

/* Messages stand in the order of the transfers and tile their words. */
static bool shape_messages(Check *check, Arena *arena, Error *err)
{
    const ExchangeTransferVec *transfers = &check->problem->transfers;
    const ExchangeMessageVec *messages = &check->schedule->messages;
    check->message_first = arena_array(arena, int32_t, transfers->len + 1);
    isize next = 0;
    for (int32_t i = 0; i < transfers->len; i++) {
        const ExchangeTransfer *t = &transfers->at[i];
        check->message_first[i] = (int32_t)next;
        if (t->words < 1 || t->words > FABRIC_MESSAGE_WORDS_MAX) {
            return error_set(err, ERROR_NO, NULL, "X14: transfer %d has %u words, expected 1..%d",
                             i, t->words, FABRIC_MESSAGE_WORDS_MAX);
        }
        uint32_t done = 0;
        while (done < t->words && next < messages->len) {
            const ExchangeMessage *m = &messages->at[next];
            if (m->transfer != i || m->word_first != done || m->words < 1 ||
                m->words > t->words - done) {
                break;
            }
            done += m->words;
            next++;
        }
        if (done != t->words) {
            return error_set(err, ERROR_NO, NULL,
                             "S1: transfer %d: its messages do not cover word %u of %u once, in "
                             "order",
                             i, done, t->words);
        }
    }
    check->message_first[transfers->len] = (int32_t)next;
    return next == messages->len ||
           error_set(err, ERROR_NO, NULL, "S1: message %td belongs to no transfer", next);
}

static bool shape_rows(Check *check, Arena *arena, Error *err)
{
    const ExchangeProblem *problem = check->problem;
    const Schedule *schedule = check->schedule;
    check->row_first = arena_array(arena, int32_t, problem->phases.len + 1);
    int64_t last = -1;
    for (isize i = 0; i < schedule->rows.len; i++) {
        const Row *row = &schedule->rows.at[i];
        int64_t place = (int64_t)row->phase * CHIP_TILES + row->tile.id;
        if (row->phase < 0 || row->phase >= problem->phases.len || row->tile.id >= CHIP_TILES ||
            place <= last || row->word_count < 1 || row->move < 0 ||
            row->move >= max_i64(1, problem->moves.len) ||
            !is_slice(row->word_first, row->word_count, schedule->words.len) ||
            !is_slice(row->patch_first, row->patch_count, schedule->patches.len)) {
            return misshapen(err, "row", i);
        }
        if (row->word_first % 2 != 0) {
            return error_set(err, ERROR_NO, NULL,
                             "X16: phase %d, tile L%d (P%d): the row begins on an odd word",
                             row->phase, tile_of(row->tile).id, row->tile.id);
        }
        last = place;
        check->row_first[row->phase + 1] = (int32_t)i + 1;
    }
    for (isize i = 1; i <= problem->phases.len; i++) { /* phases without rows */
        check->row_first[i] = (int32_t)max_i64(check->row_first[i], check->row_first[i - 1]);
    }
    return true;
}

/* Rows of one tile may be the same words, when nothing is patched into them; otherwise every word has one row. The words
 * of a tile, counted once, keep the budget. */
static bool shape_words(const Check *check, Arena scratch, Error *err)
{
    const RowVec *rows = &check->schedule->rows;
    SortKey *order = arena_array(&scratch, SortKey, rows->len);
    int64_t *bytes = arena_array(&scratch, int64_t, CHIP_TILES);
    for (isize i = 0; i < rows->len; i++) {
        order[i] = (SortKey){(uint64_t)rows->at[i].word_first, (uint32_t)i};
    }
    sort_keys(order, rows->len, scratch);
    const Row *last = NULL;
    for (isize i = 0; i < rows->len; i++) {
        const Row *row = &rows->at[order[i].payload];
        bool is_shared = last != NULL && row->word_first < last->word_first + last->word_count;
        if (is_shared && (row->word_first != last->word_first || row->tile.id != last->tile.id ||
                          row->word_count != last->word_count || row->patch_count > 0 ||
                          last->patch_count > 0)) {
            return error_set(err, ERROR_NO, NULL,
                             "X19/S10: phase %d, tile L%d (P%d): the row shares words with the row "
                             "of phase %d, tile L%d, and is patched, another tile's or not equal",
                             row->phase, tile_of(row->tile).id, row->tile.id, last->phase,
                             tile_of(last->tile).id);
        }
        if (!is_shared) {
            bytes[row->tile.id] += align_up(4 * (int64_t)row->word_count, 8);
        }
        last = row;
    }
    for (int i = 0; i < CHIP_TILES; i++) {
        if (bytes[i] > check->problem->row_bytes_max) {
            return error_set(err, ERROR_NO, NULL,
                             "S10: rows of tile L%d (P%d) need %lld bytes, the budget is %u",
                             tile_of((PhysTile){(uint16_t)i}).id, i, (long long)bytes[i],
                             check->problem->row_bytes_max);
        }
    }
    return true;
}

bool check_shape(Check *check, Arena *arena, Error *err)
{
    AddrRange rows = check->problem->row_range;
    if (rows.begin < rows.end) {
        if (rows.begin < SRAM_BASE || rows.end > SRAM_REGION1) {
            return error_set(err, ERROR_NO, NULL,
                             "X11: rows in 0x%x..0x%x, fetchable are 0x%x..0x%x", rows.begin,
                             rows.end, SRAM_BASE, SRAM_REGION1);
        }
        check->row_groups = groups_of(rows.begin, rows.end);
    }
    return shape_moves(check, arena, err) && shape_phases(check, err) &&
           shape_messages(check, arena, err) && shape_rows(check, arena, err) &&
           shape_words(check, *arena, err);
}

/* Receivers of a transfer: real tiles, none twice, not the sender alone (X13). */
static bool check_receivers(const Check *check, int32_t index, int32_t *seen, Arena scratch,
                            Error *err)
{
    const ExchangeTransfer *t = &check->problem->transfers.at[index];
    int32_t message = check->message_first[index];
    if (t->receiver_count < 1 ||
        !is_slice(t->receiver_first, t->receiver_count, check->problem->receivers.len)) {
        return check_broken(check, "X13", t->source, 0, message, "it has no receivers", scratch,
                            err);
    }
    const ExchangeReceiver *to = &check->problem->receivers.at[t->receiver_first];
    for (int32_t i = 0; i < t->receiver_count; i++) {
        if (to[i].tile.id >= CHIP_TILES) {
            return check_broken(check, "X14", t->source, 0, message, "no such receiving tile",
                                scratch, err);
        }
        if (seen[to[i].tile.id] == index + 1) {
            return check_broken(check, "X13", to[i].tile, 0, message,
                                "a tile receives one transfer twice", scratch, err);
        }
        seen[to[i].tile.id] = index + 1;
    }
    return t->receiver_count > 1 || to->tile.id != t->source.id ||
           check_broken(check, "X13", t->source, 0, message, "its only receiver is the sender",
                        scratch, err);
}

/* 64-bit items: whole pairs, whole items. Addresses are looked at where they are used. */
static bool check_pairs(const Check *check, int32_t index, int32_t message, const int32_t *seen,
                        Arena scratch, Error *err)
{
    const ExchangeTransfer *t = &check->problem->transfers.at[index];
    const ExchangeMessage *m = &check->schedule->messages.at[message];
    const ExchangeReceiver *to = &check->problem->receivers.at[t->receiver_first];
    if (m->words % 2 != 0 || m->word_first % 2 != 0) {
        return check_broken(check, "X20", t->source, m->start, message,
                            "64-bit items of an odd number of words, or from an odd word on",
                            scratch, err);
    }
    for (int32_t i = 0; i < t->receiver_count; i++) {
        if (seen[partner_of(to[i].tile).id] != index + 1) {
            return check_broken(check, "X20", to[i].tile, m->start, message,
                                "64-bit items to one member of a pair", scratch, err);
        }
    }
    return true;
}

bool check_transfer(const Check *check, int32_t index, int32_t *seen, Arena scratch, Error *err)
{
    const ExchangeTransfer *t = &check->problem->transfers.at[index];
    int32_t of_phase = index - check->problem->phases.at[check->phase].transfer_first;
    if (t->source.id >= CHIP_TILES) {
        return error_set(err, ERROR_NO, NULL, "X14: transfer %d: no such source tile", index);
    }
    if (!check_receivers(check, index, seen, scratch, err)) {
        return false;
    }
    const ExchangeReceiver *to = &check->problem->receivers.at[t->receiver_first];
    Event first = INT32_MAX, done = 0, latency = 0;
    for (int32_t i = 0; i < t->receiver_count; i++) {
        latency = (Event)max_i64(latency, latency_of(t->source, to[i].tile));
    }
    for (int32_t k = check->message_first[index]; k < check->message_first[index + 1]; k++) {
        const ExchangeMessage *m = &check->schedule->messages.at[k];
        if (m->start < 0 || m->start >= CHECK_EVENT_MAX) {
            return check_broken(check, "S2", t->source, m->start, k,
                                "start before event 0, or beyond every horizon", scratch, err);
        }
        if (m->is_paired && !check_pairs(check, index, k, seen, scratch, err)) {
            return false;
        }
        /* Both members of a pair store at the time of the later one, which is among the receivers. */
        Event items = (Event)m->words / (m->is_paired ? 2 : 1);
        first = (Event)min_i64(first, m->start);
        done = (Event)max_i64(done, m->start + items + max_i64(latency, 0));
    }
    check->first_start[of_phase] = first;
    check->completion[of_phase] = done;
    return true;
}
