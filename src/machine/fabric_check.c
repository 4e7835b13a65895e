/* Separation of what one tile sends, receives and fetches during a row (exchange.md 9: X9, X10, X20), and what is sent on (X12).
 *
 * Windows are those of whole messages: a send reads [t, max(t + n, 6)), a receive writes [pointer, payload end + 5), and a
 * message occupies every exchange group that its range touches, as the sources' checker counts it.
 */
#include "machine/fabric_phase.h"

static uint32_t groups_of(uint32_t begin, uint32_t end)
{
    begin = begin < SRAM_BASE ? SRAM_BASE : begin;
    end = end > SRAM_END ? SRAM_END : end;
    int first = group_of(begin), last = group_of(end - 1);
    return (~0u << first) & (~0u >> (31 - last));
}

static uint32_t message_end_address(const FabricMessage *message)
{
    return message->address + message_bytes(message);
}

static uint32_t message_groups(const FabricMessage *message)
{
    return groups_of(message->address, message_end_address(message));
}

static uint32_t store_groups(const FabricStore *store)
{
    return groups_of(store->address, store->address + 4 * (uint32_t)store->words);
}

/* X10: neither the row nor what is fetched ahead of it may share an element with traffic. */
static bool check_fetch(Fabric *fabric, int d)
{
    const FabricTile *tile = &fabric->tile[d];
    const FabricRow *program = &tile->program;
    uint32_t code = groups_of(program->row, program->row_end + FETCH_AHEAD_BYTES);
    for (isize i = 0; i < program->messages.len; i++) {
        const FabricMessage *message = &program->messages.at[i];
        if ((message_groups(message) & code) != 0) {
            return RECEIVE_FAULT(fabric, d, FABRIC_ROW_FETCH, message->begin, message->pc,
                                 "row 0x%x..0x%x and sent range 0x%x..0x%x share a memory element",
                                 program->row, program->row_end, message->address,
                                 message_end_address(message));
        }
    }
    for (isize i = 0; i < tile->stores.len; i++) {
        const FabricStore *store = &tile->stores.at[i];
        if ((store_groups(store) & code) != 0) {
            return RECEIVE_FAULT(fabric, d, FABRIC_ROW_FETCH, store->begin, program->row,
                                 "row 0x%x..0x%x and received range 0x%x..0x%x share a memory "
                                 "element",
                                 program->row, program->row_end, store->address,
                                 store->address + 4 * (uint32_t)store->words);
        }
    }
    return true;
}

/* X9: send read [t, max(t + n, 6)) against receive write [pointer, payload end + 5). Both lists ascend in time. */
static bool check_separation(Fabric *fabric, int d)
{
    const FabricTile *tile = &fabric->tile[d];
    const FabricMessageVec *messages = &tile->program.messages;
    isize first = 0;
    for (isize i = 0; i < messages->len; i++) {
        const FabricMessage *message = &messages->at[i];
        Event end = message->end > FABRIC_SEND_MIN ? message->end : FABRIC_SEND_MIN;
        while (first < tile->stores.len &&
               tile->stores.at[first].end + FABRIC_ROW_MARGIN <= message->begin) {
            first++;
        }
        for (isize k = first; k < tile->stores.len && tile->stores.at[k].begin < end; k++) {
            const FabricStore *store = &tile->stores.at[k];
            if ((message_groups(message) & store_groups(store)) != 0) {
                return RECEIVE_FAULT(
                    fabric, d, FABRIC_EXCHANGE_CONFLICT,
                    message->begin > store->begin ? message->begin : store->begin, message->pc,
                    "sends 0x%x..0x%x at events %d..%d and stores words of tile %u to 0x%x..0x%x "
                    "at %d..%d in one memory element",
                    message->address, message_end_address(message), message->begin, message->end,
                    store->source, store->address, store->address + 4 * (uint32_t)store->words,
                    store->begin, store->end);
            }
        }
    }
    return true;
}

/* A sender that hears its own message stores it into other elements than it sends from, whatever the times (exchange.md 8). */
static bool check_loopback(Fabric *fabric, int d)
{
    const FabricTile *tile = &fabric->tile[d];
    for (isize i = 0; i < tile->stores.len; i++) {
        const FabricStore *store = &tile->stores.at[i];
        uint32_t bytes = 4 * (uint32_t)store->words, from = store->source_address;
        if (store->source == d && (groups_of(from, from + bytes) & store_groups(store)) != 0) {
            return RECEIVE_FAULT(fabric, d, FABRIC_LOOPBACK, store->begin, tile->program.row,
                                 "hears its own words of 0x%x..0x%x, sent from event %d on, and "
                                 "stores them to 0x%x..0x%x in one memory element",
                                 from, from + bytes, store->sent, store->address,
                                 store->address + bytes);
        }
    }
    return true;
}

static void mark_words(uint64_t *bits, uint32_t address, int32_t words, bool value)
{
    uint32_t at = (address - SRAM_BASE) / 4, end = at + (uint32_t)words;
    while (at < end) {
        uint32_t low = at % 64, count = 64 - low < end - at ? 64 - low : end - at;
        uint64_t mask = ~(uint64_t)0 >> (64 - count) << low;
        bits[at / 64] = value ? bits[at / 64] | mask : bits[at / 64] & ~mask;
        at += count;
    }
}

static bool has_marked(const uint64_t *bits, uint32_t address, int32_t words)
{
    uint32_t at = (address - SRAM_BASE) / 4, end = at + (uint32_t)words;
    while (at < end) {
        uint32_t low = at % 64, count = 64 - low < end - at ? 64 - low : end - at;
        if ((bits[at / 64] & (~(uint64_t)0 >> (64 - count) << low)) != 0) {
            return true;
        }
        at += count;
    }
    return false;
}

/* X12: is a word both sent and stored to? Their windows are disjoint (X9), so whole messages come one after the other; the
 * phase then runs in the order of events. */
static bool reuses_words(const FabricTile *tile, uint64_t *bits)
{
    const FabricMessageVec *messages = &tile->program.messages;
    bool is_reused = false;
    if (messages->len == 0) {
        return false;
    }
    for (isize i = 0; i < tile->stores.len; i++) {
        mark_words(bits, tile->stores.at[i].address, tile->stores.at[i].words, true);
    }
    for (isize i = 0; !is_reused && i < messages->len; i++) {
        const FabricMessage *message = &messages->at[i];
        is_reused = has_marked(bits, message->address, (int32_t)(message_bytes(message) / 4));
    }
    for (isize i = 0; i < tile->stores.len; i++) {
        mark_words(bits, tile->stores.at[i].address, tile->stores.at[i].words, false);
    }
    return is_reused;
}

/* X20: a send of 64-bit items uses the partner's transmit lane in [t, max(t + n, 6)). Both lists ascend in time. */
static bool check_lanes(Fabric *fabric, int d)
{
    const FabricMessageVec *own = &fabric->tile[d].program.messages;
    const FabricMessageVec *other =
        &fabric->tile[partner_of((PhysTile){(uint16_t)d}).id].program.messages;
    isize k = 0;
    for (isize i = 0; i < own->len && other->len > 0; i++) {
        const FabricMessage *message = &own->at[i];
        if ((message->sctl & SCTL_WIDE) == 0) {
            continue;
        }
        Event end = message->end > FABRIC_SEND_MIN ? message->end : FABRIC_SEND_MIN;
        while (k < other->len && other->at[k].end <= message->begin) {
            k++;
        }
        if (k < other->len && other->at[k].begin < end) {
            return RECEIVE_FAULT(fabric, d, FABRIC_LANE_BORROWED, message->begin, message->pc,
                                 "sends 64-bit items at events %d..%d while its partner sends at "
                                 "%d..%d",
                                 message->begin, message->end, other->at[k].begin,
                                 other->at[k].end);
        }
    }
    return true;
}

bool fabric_check_tile(Fabric *fabric, int d, uint64_t *bits)
{
    fabric->tile[d].is_reused = reuses_words(&fabric->tile[d], bits);
    return check_fetch(fabric, d) && check_loopback(fabric, d) && check_separation(fabric, d) &&
           check_lanes(fabric, d);
}
