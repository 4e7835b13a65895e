/* What the solver refuses before it starts: problems that no schedule can satisfy (exchange.md 7, 9: X10..X14;
 * exchange-scheduling.md 1: S8). */
#include "exchange/phase.h"

static bool refuse(Error *err, const char *rule, const ExchangeProblem *problem, isize transfer,
                   const char *what)
{
    const ExchangeTransfer *t = &problem->transfers.at[transfer];
    return error_set(err, ERROR_INPUT, NULL,
                     "%s: transfer %td from tile L%d (P%d), 0x%x, %u words: %s", rule, transfer,
                     t->source.id < CHIP_TILES ? tile_of(t->source).id : -1, t->source.id,
                     t->address, t->words, what);
}

static bool check_span(const ExchangeProblem *problem, isize transfer, uint32_t address, Error *err)
{
    uint32_t bytes = 4 * problem->transfers.at[transfer].words;
    if (address % 4 != 0) {
        return refuse(err, "X14", problem, transfer,
                      "both ends must be whole words (multiples of 4)");
    }
    if (!range_in_sram(address, bytes)) {
        return refuse(err, "X14", problem, transfer, "not inside SRAM");
    }
    if (ranges_share_group((AddrRange){address, address + bytes}, problem->row_range)) {
        return refuse(err, "X10", problem, transfer, "touches an element of the rows");
    }
    return true;
}

/* The sender is a receiver (exchange.md 8). */
static bool check_loopback(const ExchangeProblem *problem, isize index, uint32_t address,
                           Error *err)
{
    const ExchangeTransfer *t = &problem->transfers.at[index];
    if (t->receiver_count == 1) {
        return refuse(err, "X13", problem, index, "the only receiver is the sender");
    }
    for (int32_t i = 0; i < (t->move == 0 ? 1 : problem->moves.at[t->move].count); i++) {
        uint32_t from = t->address + (uint32_t)move_offset(problem, t->move, i);
        if (ranges_share_group((AddrRange){from, from + 4 * t->words},
                               (AddrRange){address, address + 4 * t->words})) {
            return refuse(err, "X9", problem, index,
                          "the sender receives into a memory element that it sends from");
        }
    }
    return true;
}

/* `seen` holds 1 + index of the last transfer that had this tile as receiver. */
static bool check_transfer(const ExchangeProblem *problem, isize index, isize *seen, Error *err)
{
    const ExchangeTransfer *t = &problem->transfers.at[index];
    if (t->words < 1 || t->words > FABRIC_MESSAGE_WORDS_MAX) {
        return refuse(err, "X14", problem, index, "a message has 1..4148 words");
    }
    if (t->source.id >= CHIP_TILES) {
        return refuse(err, "X14", problem, index, "no such source tile");
    }
    if (t->move < 0 || (t->move > 0 && t->move >= problem->moves.len)) {
        return refuse(err, "X12", problem, index, "no such move");
    }
    for (int32_t i = 0; i < (t->move == 0 ? 1 : problem->moves.at[t->move].count); i++) {
        int64_t address = (int64_t)t->address + move_offset(problem, t->move, i);
        if (address < 0 || address > UINT32_MAX) {
            return refuse(err, "X14", problem, index, "not inside SRAM");
        }
        if (!check_span(problem, index, (uint32_t)address, err)) {
            return false;
        }
    }
    if (t->receiver_count < 1 || t->receiver_first < 0 ||
        t->receiver_first + (int64_t)t->receiver_count > problem->receivers.len) {
        return refuse(err, "X13", problem, index, "no receivers");
    }
    for (int32_t i = 0; i < t->receiver_count; i++) {
        const ExchangeReceiver *to = &problem->receivers.at[t->receiver_first + i];
        if (to->tile.id >= CHIP_TILES) {
            return refuse(err, "X14", problem, index, "no such receiving tile");
        }
        if (to->tile.id == t->source.id && !check_loopback(problem, index, to->address, err)) {
            return false;
        }
        if (seen[to->tile.id] == index + 1) {
            return refuse(err, "X13", problem, index, "a tile receives it twice");
        }
        seen[to->tile.id] = index + 1;
        if (!check_span(problem, index, to->address, err)) {
            return false;
        }
    }
    return true;
}

/* Moves of a phase have an offset for every iteration, and the offset spans stay in SRAM. */
static bool check_phase(const ExchangeProblem *problem, isize index, Error *err)
{
    const ExchangePhase *phase = &problem->phases.at[index];
    int32_t iterations = phase->iterations < 1 ? 1 : phase->iterations;
    for (int32_t i = 0; i < phase->transfer_count; i++) {
        const ExchangeTransfer *t = &problem->transfers.at[phase->transfer_first + i];
        if (t->move == 0) {
            continue;
        }
        if (problem->moves.at[t->move].count != iterations) {
            return error_set(
                err, ERROR_INPUT, NULL,
                "X12: transfer %d moves with %d offsets, its phase %td has %d iterations",
                phase->transfer_first + i, problem->moves.at[t->move].count, index, iterations);
        }
    }
    return true;
}

bool inputs_check(const ExchangeProblem *problem, Arena scratch, Error *err)
{
    AddrRange rows = problem->row_range;
    if (rows.begin > rows.end ||
        (rows.begin < rows.end && (rows.begin < SRAM_BASE || rows.end > SRAM_REGION1))) {
        return error_set(err, ERROR_INPUT, NULL,
                         "X11: rows in 0x%x..0x%x, expected a range inside 0x%x..0x%x", rows.begin,
                         rows.end, SRAM_BASE, SRAM_REGION1);
    }
    isize *seen = arena_array(&scratch, isize, CHIP_TILES);
    for (isize i = 0; i < problem->transfers.len; i++) {
        if (!check_transfer(problem, i, seen, err)) {
            return false;
        }
    }
    for (isize i = 0; i < problem->phases.len; i++) {
        const ExchangePhase *phase = &problem->phases.at[i];
        ASSERT(phase->transfer_first >= 0);
        ASSERT(phase->transfer_count >= 0);
        ASSERT(phase->transfer_first + phase->transfer_count <= problem->transfers.len);
        if (!check_phase(problem, i, err)) {
            return false;
        }
    }
    return true;
}
