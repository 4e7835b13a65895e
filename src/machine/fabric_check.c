/* Separation of what one tile sends, receives and fetches during a row (exchange.md 9: X9, X10, X20), and what is sent on (X12).
 *
 * Windows are those of whole messages: a send reads [t, max(t + n, 6)), a receive writes [pointer, payload end + 5), and a
 * message occupies every exchange group that its range touches, as the sources' checker counts it.
 */
#include "machine/fabric_phase.h"

static uint32_t message_end_address(const FabricMessage *message)
{
    return message->address + message_bytes(message);
}

static uint32_t store_end_address(const FabricStore *store)
{
    return store->address + 4 * (uint32_t)store->words;
}

/* X10: neither the row nor what is fetched ahead of it may share an element with traffic. */
static bool check_fetch(Fabric *fabric, int d)
{
    const FabricTile *tile = &fabric->tile[d];
    const FabricRow *program = &tile->program;
    uint32_t code = groups_of(program->row, program->row_end + FETCH_AHEAD_BYTES);
    if (((program->send_groups | tile->store_groups) & code) == 0) {
        return true;
    }
    for (isize i = 0; i < program->messages.len; i++) {
        const FabricMessage *message = &program->messages.at[i];
        if ((message->groups & code) != 0) {
            return RECEIVE_FAULT(fabric, d, FABRIC_ROW_FETCH, message->begin, message->pc,
                                 "row 0x%x..0x%x and sent range 0x%x..0x%x share a memory element",
                                 program->row, program->row_end, message->address,
                                 message_end_address(message));
        }
    }
    for (isize i = 0; i < tile->stores.len; i++) {
        const FabricStore *store = &tile->stores.at[i];
        if ((store->groups & code) != 0) {
            return RECEIVE_FAULT(fabric, d, FABRIC_ROW_FETCH, store->begin, program->row,
                                 "row 0x%x..0x%x and received range 0x%x..0x%x share a memory "
                                 "element",
                                 program->row, program->row_end, store->address,
                                 store_end_address(store));
        }
    }
    return true;
}

/* The range of words is in flight in both directions at once. */
static bool is_mixed(const FabricMessage *message, const FabricStore *store)
{
    return message->begin < store->end && store->begin < message->end &&
           message->address < store_end_address(store) &&
           store->address < message_end_address(message);
}

/* X9: send read [t, max(t + n, 6)) against receive write [pointer, payload end + 5); X12 where they touch the same words. Both
 * lists ascend in time. */
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
            if ((message->groups & store->groups) == 0) {
                continue;
            }
            bool mixed = is_mixed(message, store);
            return RECEIVE_FAULT(
                fabric, d, mixed ? FABRIC_FORWARDING : FABRIC_EXCHANGE_CONFLICT,
                message->begin > store->begin ? message->begin : store->begin, message->pc,
                "sends 0x%x..0x%x at events %d..%d and stores words of tile %u to 0x%x..0x%x "
                "at %d..%d %s",
                message->address, message_end_address(message), message->begin, message->end,
                store->source, store->address, store_end_address(store), store->begin, store->end,
                mixed ? "at the same addresses" : "in one memory element");
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
        if (store->source == d && (store->from->groups & store->groups) != 0) {
            return RECEIVE_FAULT(fabric, d, FABRIC_LOOPBACK, store->begin, tile->program.row,
                                 "hears its own words of 0x%x..0x%x, sent from event %d on, and "
                                 "stores them to 0x%x..0x%x in one memory element",
                                 store->from->address, message_end_address(store->from),
                                 store->from->begin, store->address, store_end_address(store));
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

static void clear_stores(const FabricTile *tile, uint64_t *bits)
{
    for (isize i = 0; i < tile->stores.len; i++) {
        mark_words(bits, tile->stores.at[i].address, tile->stores.at[i].words, false);
    }
}

/* X12: which messages hold words that are stored before or behind them? Their windows are disjoint (X9), so whole messages and
 * stores come one after the other. */
static void find_reuse(FabricTile *tile, uint64_t *bits)
{
    FabricMessageVec *messages = &tile->program.messages;
    const FabricStoreVec *stores = &tile->stores;
    isize k = 0;
    for (isize i = 0; i < messages->len; i++) {
        FabricMessage *message = &messages->at[i];
        for (; k < stores->len && stores->at[k].begin < message->begin; k++) {
            mark_words(bits, stores->at[k].address, stores->at[k].words, true);
        }
        message->is_forwarded =
            has_marked(bits, message->address, (int32_t)(message_bytes(message) / 4));
        tile->forwards = tile->forwards || message->is_forwarded;
    }
    clear_stores(tile, bits);
    k = stores->len;
    for (isize i = messages->len - 1; i >= 0; i--) {
        FabricMessage *message = &messages->at[i];
        for (; k > 0 && stores->at[k - 1].begin >= message->begin; k--) {
            mark_words(bits, stores->at[k - 1].address, stores->at[k - 1].words, true);
        }
        message->is_overwritten =
            has_marked(bits, message->address, (int32_t)(message_bytes(message) / 4));
        tile->overwrites = tile->overwrites || message->is_overwritten;
    }
    clear_stores(tile, bits);
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
    FabricTile *tile = &fabric->tile[d];
    bool is_shared = (tile->program.send_groups & tile->store_groups) != 0;
    if (!check_fetch(fabric, d) ||
        (is_shared && !(check_loopback(fabric, d) && check_separation(fabric, d))) ||
        !check_lanes(fabric, d)) {
        return false;
    }
    if (is_shared) {
        find_reuse(tile, bits);
    }
    return true;
}
