/* What the solver refuses before it starts (exchange.md 7, 9: X10..X14; exchange-scheduling.md 1: S6, S8).
 *
 * Dependencies between transfers of one phase would make starts depend on each other (S6). Lowering puts dependent
 * transfers into different phases, so any byte that one transfer writes and another one reads or writes is refused.
 */
#include "exchange/phase.h"

static bool refuse(Error *err, const char *rule, const ExchangeProblem *problem, isize transfer,
                   const char *what)
{
    const ExchangeTransfer *t = &problem->transfers.at[transfer];
    return error_set(err, ERROR_INPUT, NULL, "%s: transfer %td from tile L%d, 0x%x, %u words: %s",
                     rule, transfer, t->source.id < CHIP_TILES ? tile_of(t->source).id : -1,
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
    if (!check_span(problem, index, t->address, err)) {
        return false;
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
        if (to->tile.id == t->source.id) {
            return refuse(err, "X13", problem, index,
                          t->receiver_count == 1
                              ? "the only receiver is the sender"
                              : "the sender is a receiver; local copies are kernel calls");
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

/* A range that a transfer reads or writes on some tile. */
typedef struct Access {
    uint32_t begin, end;
    int32_t transfer;
    uint16_t tile;
    bool is_write;
} Access;
VEC(Access);

static bool refuse_forwarding(const Access *a, const Access *b, isize phase, Error *err)
{
    const Access *first = a->transfer <= b->transfer ? a : b, *second = first == a ? b : a;
    return error_set(err, ERROR_INPUT, NULL,
                     "S6: forwarding inside a phase: phase %td: transfer %d %s 0x%x..0x%x of tile "
                     "L%d, which transfer %d "
                     "%s at 0x%x..0x%x; dependent transfers belong into different phases",
                     phase, first->transfer, first->is_write ? "writes" : "reads", first->begin,
                     first->end, tile_of((PhysTile){first->tile}).id, second->transfer,
                     second->is_write ? "writes" : "reads", second->begin, second->end);
}

static bool check_forwarding(const ExchangeProblem *problem, isize phase_index, Arena scratch,
                             Error *err)
{
    const ExchangePhase *phase = &problem->phases.at[phase_index];
    AccessVec accesses = {0};
    for (int32_t i = phase->transfer_first; i < phase->transfer_first + phase->transfer_count;
         i++) {
        const ExchangeTransfer *t = &problem->transfers.at[i];
        *vec_push(&accesses, &scratch) =
            (Access){t->address, t->address + 4 * t->words, i, t->source.id, false};
        for (int32_t k = 0; k < t->receiver_count; k++) {
            const ExchangeReceiver *to = &problem->receivers.at[t->receiver_first + k];
            *vec_push(&accesses, &scratch) =
                (Access){to->address, to->address + 4 * t->words, i, to->tile.id, true};
        }
    }
    SortKey *order = arena_array(&scratch, SortKey, accesses.len);
    for (isize i = 0; i < accesses.len; i++) {
        order[i] =
            (SortKey){(uint64_t)accesses.at[i].tile << 32 | accesses.at[i].begin, (uint32_t)i};
    }
    sort_keys(order, accesses.len, scratch);
    const Access *read = NULL, *write = NULL; /* of this tile, that reach furthest so far */
    for (isize i = 0; i < accesses.len; i++) {
        const Access *access = &accesses.at[order[i].payload];
        read = read != NULL && read->tile == access->tile ? read : NULL;
        write = write != NULL && write->tile == access->tile ? write : NULL;
        if (write != NULL && write->end > access->begin) {
            return refuse_forwarding(write, access, phase_index, err);
        }
        if (access->is_write && read != NULL && read->end > access->begin) {
            return refuse_forwarding(read, access, phase_index, err);
        }
        if (access->is_write) {
            write = write == NULL || access->end > write->end ? access : write;
        } else {
            read = read == NULL || access->end > read->end ? access : read;
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
        if (!check_forwarding(problem, i, scratch, err)) {
            return false;
        }
    }
    return true;
}
