/* Messages, endpoints and lanes of a phase (exchange.md 3.2, 5, 8; exchange-scheduling.md 4.8). */
#include "exchange/phase.h"
#include <string.h>

enum {
    PAIRED_ITEMS_MIN = 3, /* with 2 items format-off meets the pointer (exchange.md 5) */
    /* Rows full of one-word messages have no slack to bring a sendpicp to an even word. */
    TINY_MESSAGES_MIN = 50000,
    TINY_WORDS = 4,
};

/* Items of the first stretch, 0: not cut; the rest follows. */
typedef struct Cut {
    bool is_paired;
    int32_t first_items;
} Cut;

static bool is_receiver(const ExchangeProblem *problem, const ExchangeTransfer *t, PhysTile tile)
{
    for (int32_t i = 0; i < t->receiver_count; i++) {
        if (problem->receivers.at[t->receiver_first + i].tile.id == tile.id) {
            return true;
        }
    }
    return false;
}

static Event early_time(PhysTile s, PhysTile d)
{
    Event a = time_to_mux(s, d), b = time_to_mux(s, partner_of(d));
    return a < b ? a : b;
}

static bool is_early(PhysTile s, PhysTile d)
{
    return time_to_mux(s, d) < time_to_mux(s, partner_of(d));
}

/* Loopback: would the sender's own controls take effect where its send starts or one event behind (X6)? Only the end of the
 * source window can; the pointer comes D(s, s) > 1 events later. */
static bool collides_with_itself(Event source_delay, Event items)
{
    Event end = source_delay + items;
    return end == 0 || end == 1;
}

/* Can paired items of that number be encoded on their own (exchange.md 5, isolated messages)? */
static bool may_send_paired(const ExchangeProblem *problem, const ExchangeTransfer *t, Event items)
{
    if (items < PAIRED_ITEMS_MIN) {
        return false;
    }
    for (int32_t i = 0; i < t->receiver_count; i++) {
        PhysTile d = problem->receivers.at[t->receiver_first + i].tile;
        if (!is_early(t->source, d)) {
            continue;
        }
        Event row = 2 * phys_row(d);
        if (items == FABRIC_POINTER_DELAY - 1 + row || items == FABRIC_POINTER_DELAY + 1 + row) {
            return false; /* neutral meets format-on or the pointer */
        }
        if (d.id == t->source.id && collides_with_itself(early_time(t->source, d) + 1, items)) {
            return false;
        }
    }
    return true;
}

static Cut cut_transfer(const ExchangeProblem *problem, const ExchangeTransfer *t, bool is_paired)
{
    int32_t items = (int32_t)t->words / 2;
    if (is_paired && transfer_may_pair(problem, t)) {
        if (may_send_paired(problem, t, items)) {
            return (Cut){true, 0};
        }
        for (int32_t first = items / 2; first >= PAIRED_ITEMS_MIN; first--) {
            if (may_send_paired(problem, t, first) && may_send_paired(problem, t, items - first)) {
                return (Cut){true, first};
            }
        }
    }
    if (is_receiver(problem, t, t->source) &&
        collides_with_itself(time_to_mux(t->source, t->source) + 1, (Event)t->words)) {
        return (Cut){false, (int32_t)t->words / 2};
    }
    return (Cut){false, 0};
}

/* Groups of what a transfer reads, in all iterations. */
static uint32_t source_groups(const ExchangeProblem *problem, const ExchangeTransfer *t)
{
    uint32_t groups = 0;
    int32_t count = t->move == 0 ? 1 : problem->moves.at[t->move].count;
    for (int32_t i = 0; i < count; i++) {
        uint32_t address = t->address + (uint32_t)move_offset(problem, t->move, i);
        groups |= groups_of(address, address + 4 * t->words);
    }
    return groups;
}

/* --- lanes ---------------------------------------------------------------------------------------------------------- */

typedef struct Builder {
    Phase *phase;
    int32_t lane_of[CHIP_TILES]; /* 1 + lane; 0: none */
} Builder;

static int32_t lane_of(Builder *b, PhysTile tile)
{
    if (b->lane_of[tile.id] == 0) {
        b->lane_of[tile.id] = ++b->phase->lane_count;
        b->phase->lanes[b->phase->lane_count - 1] =
            (Lane){.tile = tile,
                   .partner = -1,
                   .pointer_delay = FABRIC_POINTER_DELAY + 2 * phys_row(tile)};
    }
    return b->lane_of[tile.id] - 1;
}

/* Row end of the receiver, less the message's start. */
Event endpoint_tail(const Phase *phase, const Endpoint *to)
{
    const Message *m = &phase->messages[to->message];
    return to->source_delay + phase->lanes[to->lane].pointer_delay + (m->is_paired ? 1 : 0) +
           m->items + FABRIC_ROW_MARGIN;
}

static void add_message(Builder *b, int32_t transfer, uint32_t word_first, uint32_t words,
                        bool is_paired, uint32_t groups)
{
    Phase *phase = b->phase;
    const ExchangeTransfer *t = &phase->problem->transfers.at[phase->transfer_first + transfer];
    Message *m = &phase->messages[phase->message_count++];
    *m = (Message){.transfer = transfer,
                   .word_first = word_first,
                   .words = words,
                   .lane = lane_of(b, t->source),
                   .items = (int32_t)(is_paired ? words / 2 : words),
                   .groups = groups,
                   .first = (int32_t)phase->endpoint_count,
                   .count = t->receiver_count,
                   .is_paired = is_paired};
    Lane *lane = &phase->lanes[m->lane];
    lane->send_load += m->items;
    lane->send_count++;
    if (is_paired) {
        int32_t partner = lane_of(b, partner_of(t->source));
        lane->partner = partner;
        phase->lanes[partner].send_load += m->items;
        phase->has_pairs = true;
    }
    for (int32_t i = 0; i < t->receiver_count; i++) {
        const ExchangeReceiver *to = &phase->problem->receivers.at[t->receiver_first + i];
        Event time = is_paired ? early_time(t->source, to->tile) : time_to_mux(t->source, to->tile);
        uint32_t address = to->address + 4 * word_first;
        Endpoint *endpoint = &phase->endpoints[phase->endpoint_count++];
        int direction = is_paired ? direction_of(t->source, to->tile) : 0;
        *endpoint = (Endpoint){.lane = lane_of(b, to->tile),
                               .message = phase->message_count - 1,
                               .direction = (uint8_t)direction,
                               .source_delay = time + 1,
                               .groups = groups_of(address, address + 4 * words),
                               .address = address,
                               .is_early = is_paired && is_early(t->source, to->tile)};
        Lane *receiver = &phase->lanes[endpoint->lane];
        receiver->receive_load += m->items;
        receiver->receive_count++;
        m->start_min = (Event)max_i64(m->start_min, -time);
        m->tail = (Event)max_i64(m->tail, endpoint_tail(phase, endpoint));
    }
}

static bool has_equal_offsets(const ExchangeProblem *problem, int32_t a, int32_t b)
{
    const ExchangeMove *x = &problem->moves.at[a], *y = &problem->moves.at[b];
    return x->count == y->count &&
           memcmp(&problem->offsets.at[x->first], &problem->offsets.at[y->first],
                  (size_t)x->count * sizeof(ExchangeOffset)) == 0;
}

int32_t *moves_merge(const ExchangeProblem *problem, Arena *arena)
{
    int32_t count = (int32_t)max_i64(problem->moves.len, 1) - 1; /* move 0 has no list */
    int32_t *same = arena_array(arena, int32_t, count + 1);
    Arena scratch = *arena;
    SortKey *order = arena_array(&scratch, SortKey, count);
    for (int32_t i = 0; i < count; i++) {
        const ExchangeMove *move = &problem->moves.at[i + 1];
        isize bytes = move->count * (isize)sizeof(ExchangeOffset);
        order[i] =
            (SortKey){hash64_of(&problem->offsets.at[move->first], bytes, 0), (uint32_t)i + 1};
    }
    sort_keys(order, count, scratch); /* stable: the first of equal ones leads */
    int32_t first = 0;
    for (int32_t i = 0; i < count; i++) {
        if (order[i].key != order[first].key ||
            !has_equal_offsets(problem, (int32_t)order[first].payload, (int32_t)order[i].payload)) {
            first = i;
        }
        same[order[i].payload] = (int32_t)order[first].payload;
    }
    return same;
}

static int32_t move_of(const Phase *phase, const Message *m)
{
    return phase->same_move[phase->problem->transfers.at[phase->transfer_first + m->transfer].move];
}

/* Base register of every tile: the move with most messages (exchange-scheduling.md 4.8); the others are patched. Where
 * transfers depend on each other, moving sends cannot all go first, so a tile with both kinds patches. */
static void choose_moves(Phase *phase, Arena scratch)
{
    int32_t *votes = arena_array(&scratch, int32_t, phase->lane_count);
    for (int32_t i = 0; i < phase->message_count; i++) { /* majority vote, then counted */
        const Message *m = &phase->messages[i];
        int32_t move = move_of(phase, m);
        Lane *lane = &phase->lanes[m->lane];
        if (move == 0) {
            continue;
        }
        if (votes[m->lane] == 0) {
            lane->move = move;
        }
        votes[m->lane] += lane->move == move ? 1 : -1;
    }
    int32_t *moving = arena_array(&scratch, int32_t, phase->lane_count);
    for (int32_t i = 0; i < phase->message_count; i++) {
        Message *m = &phase->messages[i];
        int32_t move = move_of(phase, m);
        m->is_moving = move != 0 && move == phase->lanes[m->lane].move;
        moving[m->lane] += m->is_moving ? 1 : 0;
    }
    for (int32_t i = 0; i < phase->lane_count; i++) {
        Lane *lane = &phase->lanes[i];
        lane->is_mixed = moving[i] > 0 && moving[i] < lane->send_count;
        if (lane->is_mixed && phase->depends.pred_first != NULL) {
            lane->is_mixed = false;
            lane->move = 0;
        }
        phase->has_mixed |= lane->is_mixed;
    }
    for (int32_t i = 0; i < phase->message_count; i++) {
        Message *m = &phase->messages[i];
        m->is_moving = m->is_moving && phase->lanes[m->lane].move != 0;
    }
}

/* The tile has a row; a lane that is only lent to its partner has none. */
static bool takes_part(const Lane *lane)
{
    return lane->send_count + lane->receive_count > 0;
}

/* What tiles do later, less what every taking part tile has to do at least. */
static void find_later(Phase *phase, const Builder *b)
{
    const ExchangePhase *source = &phase->problem->phases.at[phase->index];
    Event least = EXCHANGE_LATER_MAX, others = 0;
    for (int32_t i = 0; i < source->later_count; i++) {
        const ExchangeLater *later = &phase->problem->later.at[source->later_first + i];
        int32_t lane = b->lane_of[later->tile.id] - 1;
        if (lane >= 0 && takes_part(&phase->lanes[lane])) {
            phase->lanes[lane].later = later->events;
        } else {
            others = later->events > others ? later->events : others;
        }
    }
    for (int32_t i = 0; i < phase->lane_count; i++) {
        if (takes_part(&phase->lanes[i]) && phase->lanes[i].later < least) {
            least = phase->lanes[i].later;
        }
    }
    for (int32_t i = 0; i < phase->lane_count; i++) {
        phase->lanes[i].later -= takes_part(&phase->lanes[i]) ? least : 0;
    }
    phase->length_min = others > least ? others - least : 0;
    for (int32_t i = 0; i < phase->message_count; i++) {
        Message *m = &phase->messages[i];
        Event end = m->items > FABRIC_SEND_MIN ? m->items : FABRIC_SEND_MIN;
        m->reach = end + phase->lanes[m->lane].later;
        for (int32_t k = m->first; k < m->first + m->count; k++) {
            const Endpoint *to = &phase->endpoints[k];
            Event reach = endpoint_tail(phase, to) + phase->lanes[to->lane].later;
            m->reach = reach > m->reach ? reach : m->reach;
        }
    }
}

static void find_conflicts(Phase *phase, Arena scratch)
{
    uint32_t *reads = arena_array(&scratch, uint32_t, phase->lane_count);
    uint32_t *writes = arena_array(&scratch, uint32_t, phase->lane_count);
    for (int32_t i = 0; i < phase->message_count; i++) {
        const Message *m = &phase->messages[i];
        reads[m->lane] |= m->groups;
        for (int32_t k = m->first; k < m->first + m->count; k++) {
            writes[phase->endpoints[k].lane] |= phase->endpoints[k].groups;
        }
    }
    for (int32_t i = 0; i < phase->lane_count; i++) {
        phase->lanes[i].conflict = reads[i] & writes[i];
    }
}

Phase phase_build(const ExchangeProblem *problem, int32_t index, bool is_paired,
                  const Depends *depends, const int32_t *same_move, Arena *arena)
{
    const ExchangePhase *source = &problem->phases.at[index];
    Phase phase = {.problem = problem,
                   .index = index,
                   .transfer_first = source->transfer_first,
                   .transfer_count = source->transfer_count,
                   .depends = *depends,
                   .same_move = same_move};
    int64_t words = 0;
    int32_t count = source->transfer_count;
    int64_t endpoints = 0, messages = 0;
    Cut *cuts = arena_array(arena, Cut, count);
    for (int32_t i = 0; i < count; i++) {
        const ExchangeTransfer *t = &problem->transfers.at[source->transfer_first + i];
        cuts[i] = cut_transfer(problem, t, is_paired);
        int pieces = cuts[i].first_items > 0 ? 2 : 1;
        messages += pieces;
        words += t->words;
        endpoints += (int64_t)pieces * t->receiver_count;
    }
    phase.messages = arena_array(arena, Message, messages);
    phase.endpoints = arena_array(arena, Endpoint, endpoints);
    phase.message_of = arena_array(arena, int32_t, count + 1);
    phase.lanes = arena_array(arena, Lane, CHIP_TILES);
    Builder builder = {.phase = &phase};
    for (int32_t i = 0; i < count; i++) {
        const ExchangeTransfer *t = &problem->transfers.at[source->transfer_first + i];
        uint32_t groups = source_groups(problem, t);
        uint32_t first = (uint32_t)cuts[i].first_items * (cuts[i].is_paired ? 2 : 1);
        phase.message_of[i] = phase.message_count;
        if (first > 0) {
            add_message(&builder, i, 0, first, cuts[i].is_paired, groups);
        }
        add_message(&builder, i, first, t->words - first, cuts[i].is_paired, groups);
    }
    phase.message_of[count] = phase.message_count;
    phase.start = arena_array(arena, Event, messages);
    phase.may_merge = messages < TINY_MESSAGES_MIN || words >= TINY_WORDS * messages;
    choose_moves(&phase, *arena);
    find_conflicts(&phase, *arena);
    find_later(&phase, &builder);
    return phase;
}

bool phase_reserve(Phase *phase, int64_t events, Arena *arena)
{
    enum { SLACK = FABRIC_MESSAGE_WORDS_MAX + 1024 };
    if (events > EVENTS_MAX) {
        return false;
    }
    phase->capacity = (Event)align_up(events, EVENTS_A_BLOCK);
    isize blocks = (phase->capacity + SLACK) / EVENTS_A_BLOCK + 1;
    isize group_words = phase_group_words(phase);
    isize group_slack = SLACK / EVENTS_A_BLOCK + 2;
    isize bytes = 0;
    for (int32_t i = 0; i < phase->lane_count; i++) {
        isize groups = __builtin_popcount(phase->lanes[i].conflict);
        bytes += (blocks + 1) * (isize)sizeof(Block) + (phase->capacity + SLACK) * 4 +
                 2 * 8 * (groups * group_words + group_slack);
    }
    if (bytes > PHASE_BYTES_MAX || bytes > (arena->end - arena->at) / ROOM_PART) {
        return false;
    }
    for (int32_t i = 0; i < phase->lane_count; i++) {
        Lane *lane = &phase->lanes[i];
        lane->blocks = arena_alloc(arena, blocks * (isize)sizeof(Block), sizeof(Block));
        lane->owner = arena_array(arena, int32_t, phase->capacity + SLACK);
        lane->used = 0;
        isize groups = __builtin_popcount(lane->conflict);
        if (groups > 0) {
            lane->reads = arena_array(arena, uint64_t, groups * group_words + group_slack);
            lane->writes = arena_array(arena, uint64_t, groups * group_words + group_slack);
        }
    }
    return true;
}
