/* Placing one message at the earliest legal start (exchange-scheduling.md 4.1, constraints S1..S5 and S7 of section 1).
 *
 * Every check either accepts a start or names the next one worth trying, so the search is a fixed point over the sender
 * and the receivers. Holes before later messages are used on both the sending and the receiving side. The slots of a lane
 * are sorted and disjoint, so beginnings, ends and windows are all sorted and each look-up is a binary search.
 */
#include "exchange/phase.h"
#include <string.h>

enum {
    READ_GUARD = 8, /* SRAM is read up to 8 events around the wire event (exchange.md 9, windows) */
};

uint32_t groups_of(uint32_t address, uint32_t bytes)
{
    int first = group_of(address), last = group_of(address + bytes - 1);
    return (uint32_t)((2ull << last) - (1ull << first));
}

/* First slot with begin >= event. */
static int32_t first_from(const Slot *slots, int32_t count, Event event)
{
    int32_t low = 0, high = count;
    while (low < high) {
        int32_t middle = (low + high) / 2;
        if (slots[middle].begin >= event) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

static Event end_of(const Slot *slot)
{
    return slot->begin + slot->words;
}

/* First slot whose end lies behind `event`. */
static int32_t first_open(const Slot *slots, int32_t count, Event event)
{
    int32_t at = first_from(slots, count, event);
    return at > 0 && end_of(&slots[at - 1]) > event ? at - 1 : at;
}

/* Does a control of this lane take effect at `event` or `event` + 1? Controls: src, src + n and the pointer. */
static bool has_control_near(const Lane *lane, Event event)
{
    const Slot *slots = lane->receives;
    int32_t count = lane->receive_count;
    int32_t at = first_from(slots, count, event);
    if ((at < count && slots[at].begin <= event + 1) ||
        (at > 0 && end_of(&slots[at - 1]) >= event && end_of(&slots[at - 1]) <= event + 1)) {
        return true;
    }
    int32_t pointer = first_from(slots, count, event - lane->pointer_delay);
    return pointer < count && slots[pointer].begin <= event + 1 - lane->pointer_delay;
}

/* Is `event` the start, or one behind the start, of a send of this lane? */
static bool has_start_near(const Lane *lane, Event event)
{
    int32_t at = first_from(lane->sends, lane->send_count, event - 1);
    return at < lane->send_count && lane->sends[at].begin <= event;
}

static bool has_xpic_at(const Lane *lane, Event event)
{
    const Slot *slots = lane->receives;
    int32_t at = first_from(slots, lane->receive_count, event);
    return (at < lane->receive_count && slots[at].begin == event) ||
           (at > 0 && end_of(&slots[at - 1]) == event);
}

static bool has_pointer_at(const Lane *lane, Event event)
{
    int32_t at = first_from(lane->receives, lane->receive_count, event - lane->pointer_delay);
    return at < lane->receive_count && lane->receives[at].begin == event - lane->pointer_delay;
}

/* Start >= `start` that the sending side accepts. */
static Event advance_send(const Lane *lane, Event start, int32_t words, uint32_t groups)
{
    bool may_conflict = (lane->receive_groups & groups) != 0;
    for (;;) {
        int32_t at = first_open(lane->sends, lane->send_count, start); /* S1 */
        while (at < lane->send_count && lane->sends[at].begin < start + words) {
            start = end_of(&lane->sends[at++]);
        }
        if (lane->receive_count == 0) {
            return start;
        }
        if (has_control_near(lane, start)) { /* S5 */
            start++;
            continue;
        }
        Event moved = start;
        if (may_conflict) { /* S7: read window against the write windows [ptr, ptr + n + 5) */
            Event shift = lane->pointer_delay;
            Event earliest = start - READ_GUARD - FABRIC_ROW_MARGIN - shift;
            at = first_open(lane->receives, lane->receive_count, earliest);
            for (; at < lane->receive_count; at++) {
                const Slot *slot = &lane->receives[at];
                if (slot->begin + shift >= moved + words + READ_GUARD) {
                    break;
                }
                Event end = end_of(slot) + shift + FABRIC_ROW_MARGIN;
                if ((slot->groups & groups) != 0 && end > moved - READ_GUARD) {
                    moved = end + READ_GUARD;
                }
            }
        }
        if (moved == start) {
            return start;
        }
        start = moved;
    }
}

/* src >= `source` that a receiving side accepts. */
static Event advance_receive(const Lane *lane, Event source, int32_t words, uint32_t groups,
                             bool may_merge)
{
    bool may_conflict = (lane->send_groups & groups) != 0;
    Event shift = lane->pointer_delay;
    for (;;) {
        int32_t at = first_open(lane->receives, lane->receive_count, source); /* S2, S3 */
        while (at < lane->receive_count && lane->receives[at].begin < source + words) {
            source = end_of(&lane->receives[at++]);
        }
        if (!may_merge && (has_xpic_at(lane, source + shift) || has_pointer_at(lane, source) ||
                           has_pointer_at(lane, source + words))) { /* S4, stricter than needed */
            source++;
            continue;
        }
        if (lane->send_count == 0) {
            return source;
        }
        if (has_start_near(lane, source) || has_start_near(lane, source + words) ||
            has_start_near(lane, source + shift)) { /* S5 */
            source++;
            continue;
        }
        Event moved = source;
        if (may_conflict) { /* S7 */
            at = first_open(lane->sends, lane->send_count, source + shift - READ_GUARD);
            for (; at < lane->send_count; at++) {
                const Slot *slot = &lane->sends[at];
                if (slot->begin - READ_GUARD >= moved + shift + words + FABRIC_ROW_MARGIN) {
                    break;
                }
                Event end = end_of(slot) + READ_GUARD;
                if ((slot->groups & groups) != 0 && end > moved + shift) {
                    moved = end - shift;
                }
            }
        }
        if (moved == source) {
            return source;
        }
        source = moved;
    }
}

Event phase_earliest(const Phase *phase, int32_t message, Event from, Event limit)
{
    const Message *m = &phase->messages[message];
    Event start = (Event)max_i64(from, m->start_min);
    int32_t sides = m->count + 1;
    int32_t accepted = 0, side = 0;
    while (accepted < sides && start < limit) {
        Event moved;
        if (side == 0) {
            moved = advance_send(&phase->lanes[m->lane], start, m->words, m->groups);
        } else {
            const Endpoint *to = &phase->endpoints[m->first + side - 1];
            moved = advance_receive(&phase->lanes[to->lane], start + to->source_delay, m->words,
                                    to->groups, phase->may_merge) -
                    to->source_delay;
        }
        accepted = moved == start ? accepted + 1 : 1;
        start = moved;
        side = side + 1 == sides ? 0 : side + 1;
    }
    return start;
}

static void insert_slot(Slot *slots, int32_t *count, Slot slot)
{
    int32_t at = first_from(slots, *count, slot.begin);
    memmove(&slots[at + 1], &slots[at], (size_t)(*count - at) * sizeof *slots);
    slots[at] = slot;
    *count += 1;
}

void phase_place(Phase *phase, int32_t message, Event start)
{
    const Message *m = &phase->messages[message];
    Lane *from = &phase->lanes[m->lane];
    insert_slot(from->sends, &from->send_count, (Slot){start, m->words, m->groups, message});
    from->send_groups |= m->groups;
    from->send_left -= m->words;
    for (int32_t i = m->first; i < m->first + m->count; i++) {
        const Endpoint *endpoint = &phase->endpoints[i];
        Lane *to = &phase->lanes[endpoint->lane];
        insert_slot(to->receives, &to->receive_count,
                    (Slot){start + endpoint->source_delay, m->words, endpoint->groups, message});
        to->receive_groups |= endpoint->groups;
        to->receive_left -= m->words;
    }
    phase->start[message] = start;
}

void phase_reset(Phase *phase)
{
    for (int32_t i = 0; i < phase->lane_count; i++) {
        Lane *lane = &phase->lanes[i];
        lane->send_count = lane->receive_count = 0;
        lane->send_groups = lane->receive_groups = 0;
        lane->send_left = lane->send_words;
        lane->receive_left = lane->receive_words;
    }
}

Event phase_horizon(const Phase *phase)
{
    Event horizon = 0;
    for (int32_t i = 0; i < phase->lane_count; i++) {
        const Lane *lane = &phase->lanes[i];
        if (lane->send_count > 0) {
            Event end = end_of(&lane->sends[lane->send_count - 1]);
            horizon = (Event)max_i64(horizon, max_i64(end, FABRIC_SEND_MIN));
        }
        if (lane->receive_count > 0) {
            Event end = end_of(&lane->receives[lane->receive_count - 1]) + lane->pointer_delay;
            horizon = (Event)max_i64(horizon, end + FABRIC_ROW_MARGIN);
        }
    }
    return horizon;
}

Phase phase_build(const ExchangeProblem *problem, int32_t index, Event *start, Arena *arena)
{
    const ExchangePhase *source = &problem->phases.at[index];
    const ExchangeTransfer *transfers = &problem->transfers.at[source->transfer_first];
    Phase phase = {.problem = problem,
                   .transfer_first = source->transfer_first,
                   .message_count = source->transfer_count,
                   .may_merge = true,
                   .start = start};
    int32_t *sends = arena_array(arena, int32_t, CHIP_TILES);
    int32_t *receives = arena_array(arena, int32_t, CHIP_TILES);
    int32_t *lane_of = arena_array(arena, int32_t, CHIP_TILES);
    int32_t endpoint_count = 0;
    for (int32_t i = 0; i < phase.message_count; i++) {
        sends[transfers[i].source.id]++;
        endpoint_count += transfers[i].receiver_count;
        for (int32_t k = 0; k < transfers[i].receiver_count; k++) {
            receives[problem->receivers.at[transfers[i].receiver_first + k].tile.id]++;
        }
    }
    phase.lanes = arena_array(arena, Lane, CHIP_TILES);
    for (int tile = 0; tile < CHIP_TILES; tile++) {
        if (sends[tile] + receives[tile] > 0) {
            PhysTile id = {(uint16_t)tile};
            lane_of[tile] = phase.lane_count;
            phase.lanes[phase.lane_count++] =
                (Lane){.tile = id,
                       .sends = arena_array(arena, Slot, sends[tile]),
                       .receives = arena_array(arena, Slot, receives[tile]),
                       .pointer_delay = FABRIC_POINTER_DELAY + 2 * phys_row(id)};
        }
    }
    phase.messages = arena_array(arena, Message, phase.message_count);
    phase.endpoints = arena_array(arena, Endpoint, endpoint_count);
    int32_t next = 0;
    for (int32_t i = 0; i < phase.message_count; i++) {
        const ExchangeTransfer *t = &transfers[i];
        Message *m = &phase.messages[i];
        *m = (Message){.lane = lane_of[t->source.id],
                       .words = (int32_t)t->words,
                       .groups = groups_of(t->address, 4 * t->words),
                       .first = next,
                       .count = t->receiver_count};
        phase.lanes[m->lane].send_words += m->words;
        for (int32_t k = 0; k < t->receiver_count; k++) {
            const ExchangeReceiver *to = &problem->receivers.at[t->receiver_first + k];
            Event time = time_to_mux(t->source, to->tile);
            phase.endpoints[next++] =
                (Endpoint){lane_of[to->tile.id], time + 1, groups_of(to->address, 4 * t->words)};
            m->start_min = (Event)max_i64(m->start_min, -time);
            phase.lanes[lane_of[to->tile.id]].receive_words += m->words;
        }
    }
    phase_reset(&phase);
    return phase;
}
