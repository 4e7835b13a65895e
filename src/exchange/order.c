/* In which order messages are placed (exchange-scheduling.md 4.2).
 *
 * A rule makes a first list schedule; no rule dominates (exchange-scheduling.md 5.1), so the caller tries several. The schedule
 * is then justified: all messages are moved as late as the length allows, latest first, and then as early as possible,
 * earliest first. That closes holes which were left on the way, and repeats as long as the placement becomes better.
 */
#include "exchange/heap.h"
#include <string.h>

enum {
    CLOSE_ENOUGH = 256,                  /* stop within 1/256 of the lower bound */
    WORK_MAX = 4 * 1000 * 1000,          /* endpoints that the passes of a rule place */
    PATIENCE = 3,                        /* justifications without a better placement */
    EARLIEST_WINDOW = 16,                /* events that count as the same start */
    EARLIEST_WORK_MAX = 3 * 1000 * 1000, /* endpoints looked at */
};

typedef struct Search {
    Phase *phase;
    SortKey *order;
    Arena scratch;
    Placed *best;
    Event good_length; /* close enough to the lower bound */
    int64_t work;
} Search;

/* Row ends of what the message touches, less the margin: S6 completion. */
static Event completion_of(const Phase *phase, int32_t message)
{
    return phase->start[message] + phase->messages[message].tail - FABRIC_ROW_MARGIN;
}

static Event ready_at(const Phase *phase, int32_t message)
{
    const Depends *depends = &phase->depends;
    Event ready = 0;
    if (depends->pred_first == NULL) {
        return 0;
    }
    int32_t transfer = phase->messages[message].transfer;
    for (int32_t i = depends->pred_first[transfer]; i < depends->pred_first[transfer + 1]; i++) {
        int32_t before = depends->preds[i];
        for (int32_t k = phase->message_of[before]; k < phase->message_of[before + 1]; k++) {
            Event end = completion_of(phase, k);
            ready = end > ready ? end : ready;
        }
    }
    return ready;
}

/* --- passes --------------------------------------------------------------------------------------------------------- */

static bool place_those(Phase *phase, const SortKey *order, bool only_moving, bool only_others)
{
    for (int32_t i = 0; i < phase->message_count; i++) {
        int32_t message = (int32_t)order[i].payload;
        bool is_moving = phase->messages[message].is_moving;
        if ((only_moving && !is_moving) || (only_others && is_moving)) {
            continue;
        }
        Event start = phase_earliest(phase, message, ready_at(phase, message), EVENT_NEVER);
        if (start == EVENT_NEVER) {
            return false;
        }
        phase_put(phase, message, start);
    }
    return true;
}

/* Forward pass; false when the blocks are too short. */
static bool place_in_order(Phase *phase, const SortKey *order)
{
    phase_reset(phase);
    if (!phase->has_mixed) {
        return place_those(phase, order, false, false);
    }
    if (!place_those(phase, order, true, false)) {
        return false;
    }
    for (int32_t i = 0; i < phase->lane_count; i++) {
        if (phase->lanes[i].is_mixed && !phase_switch_base(phase, i)) {
            return false;
        }
    }
    return place_those(phase, order, false, true);
}

static void sort_by_start(const Phase *phase, SortKey *order, Arena scratch)
{
    for (int32_t i = 0; i < phase->message_count; i++) {
        order[i] = (SortKey){(uint64_t)phase->start[i], (uint32_t)i};
    }
    sort_keys(order, phase->message_count, scratch);
}

/* Backward pass: as late as the length allows and `slack` more, latest first. False when a message finds no place. */
static bool place_late(Phase *phase, SortKey *order, Event slack, Arena scratch)
{
    Event length = phase_length(phase) + slack, horizon = phase_horizon(phase) + slack;
    for (int32_t i = 0; i < phase->message_count; i++) {
        Event end = phase->start[i] + phase->messages[i].reach;
        order[i] = (SortKey){(uint64_t)(length - end), (uint32_t)i};
    }
    sort_keys(order, phase->message_count, scratch);
    phase_reset(phase);
    for (int32_t i = 0; i < phase->message_count; i++) {
        int32_t message = (int32_t)order[i].payload;
        const Message *m = &phase->messages[message];
        Event start =
            phase_latest(phase, message, (Event)min_i64(length - m->reach, horizon - m->tail));
        if (start < 0) {
            return false;
        }
        phase_put(phase, message, start);
    }
    return true;
}

/* --- rules ---------------------------------------------------------------------------------------------------------- */

/* What the busiest endpoint has to do in the phase and later, then the message's length: larger is more urgent. */
static uint64_t urgency_of(const Phase *phase, int32_t message)
{
    const Message *m = &phase->messages[message];
    const Lane *lane = &phase->lanes[m->lane];
    int64_t load = lane->send_load + lane->later;
    for (int32_t i = m->first; i < m->first + m->count; i++) {
        lane = &phase->lanes[phase->endpoints[i].lane];
        load = max_i64(load, lane->receive_load + lane->later);
    }
    return (uint64_t)min_i64(load, INT64_MAX >> 16) << 13 | (uint64_t)m->items;
}

/* Rank of a message among those of its sender when they are sorted by receiver, beginning behind the sender itself: messages of
 * one rank between all tiles of a group are a rotation, so nobody waits for anybody. */
static void rank_by_rotation(const Phase *phase, SortKey *order, Arena scratch)
{
    for (int32_t i = 0; i < phase->message_count; i++) {
        const Message *m = &phase->messages[i];
        int from = tile_of(phase->lanes[m->lane].tile).id;
        int to = tile_of(phase->lanes[phase->endpoints[m->first].lane].tile).id;
        uint64_t distance = (uint64_t)((to - from + CHIP_TILES) % CHIP_TILES);
        if (to < from) { /* wraps inside the sender's own set of receivers */
            distance = (uint64_t)(CHIP_TILES + to);
        }
        order[i] = (SortKey){(uint64_t)from << 16 | distance, (uint32_t)i};
    }
    sort_keys(order, phase->message_count, scratch);
    uint64_t rank = 0;
    for (int32_t i = 0; i < phase->message_count; i++) {
        uint64_t from = order[i].key >> 16;
        rank = i > 0 && phase->messages[order[i].payload].lane ==
                            phase->messages[order[i - 1].payload].lane
                   ? rank + 1
                   : 0;
        order[i].key = from; /* kept until the ranks are known */
        order[i] = (SortKey){rank << 16 | from, order[i].payload};
    }
    sort_keys(order, phase->message_count, scratch);
}

static void order_by(const Phase *phase, ExchangeRule rule, SortKey *order, Arena scratch)
{
    if (rule == RULE_ROTATION) {
        rank_by_rotation(phase, order, scratch);
        return;
    }
    for (int32_t i = 0; i < phase->message_count; i++) {
        uint64_t key = rule == RULE_LIST ? (uint64_t)i : ~urgency_of(phase, i);
        order[i] = (SortKey){key, (uint32_t)i};
    }
    sort_keys(order, phase->message_count, scratch);
}

/* --- dependencies --------------------------------------------------------------------------------------------------- */

/* Reorders so that every transfer follows those it waits for, otherwise as before. */
static void respect_dependencies(const Phase *phase, SortKey *order, Arena scratch)
{
    const Depends *depends = &phase->depends;
    if (depends->pred_first == NULL) {
        return;
    }
    int32_t count = phase->transfer_count, total = depends->pred_first[count];
    int32_t *waiting = arena_array(&scratch, int32_t, count);
    int32_t *first = arena_array(&scratch, int32_t, count + 1);
    int32_t *next = arena_array(&scratch, int32_t, total);
    for (int32_t i = 0; i < total; i++) {
        first[depends->preds[i] + 1]++;
    }
    for (int32_t i = 0; i < count; i++) {
        first[i + 1] += first[i];
        waiting[i] = depends->pred_first[i + 1] - depends->pred_first[i];
    }
    int32_t *fill = arena_array(&scratch, int32_t, count);
    for (int32_t i = 0; i < count; i++) {
        for (int32_t k = depends->pred_first[i]; k < depends->pred_first[i + 1]; k++) {
            int32_t before = depends->preds[k];
            next[first[before] + fill[before]++] = i;
        }
    }
    int32_t *rank = arena_array(&scratch, int32_t, count); /* of a transfer: its first message's */
    for (int32_t i = phase->message_count; i-- > 0;) {
        rank[phase->messages[order[i].payload].transfer] = i;
    }
    Heap heap = {arena_array(&scratch, HeapItem, count), 0};
    for (int32_t i = 0; i < count; i++) {
        if (waiting[i] == 0) {
            heap_push(&heap, (HeapItem){.key = (uint64_t)rank[i], .index = i});
        }
    }
    int32_t placed = 0;
    while (heap.len > 0) {
        int32_t transfer = heap.at[0].index;
        heap_drop_first(&heap);
        for (int32_t k = phase->message_of[transfer]; k < phase->message_of[transfer + 1]; k++) {
            order[placed++] = (SortKey){0, (uint32_t)k};
        }
        for (int32_t k = first[transfer]; k < first[transfer + 1]; k++) {
            if (--waiting[next[k]] == 0) {
                heap_push(&heap, (HeapItem){.key = (uint64_t)rank[next[k]], .index = next[k]});
            }
        }
    }
    ASSERT(placed == phase->message_count);
}

/* --- search --------------------------------------------------------------------------------------------------------- */

static bool is_done(const Search *s)
{
    return s->best->length <= s->good_length;
}

static bool keep_best(Search *s)
{
    s->work += s->phase->endpoint_count + s->phase->message_count;
    return placed_keep_better(s->phase, s->best, s->scratch);
}

/* --- earliest first ------------------------------------------------------------------------------------------------- */

/* Messages that are not placed yet. What is placed only closes starts, so an old start is a lower bound of the present one, and
 * a key is worth looking at again only when it is the least. */
typedef struct Candidates {
    const Phase *phase;
    Heap heap;
    double *send_left,
        *receive_left, /* per lane, of its load as a part of the largest: each message takes its share of what is left */
        *later;           /* the same of what the tile does later */
    const uint32_t *wave; /* per message; NULL: none */
} Candidates;

static double pressure_of(double left)
{
    return left * left * left * left; /* the busiest endpoints decide */
}

/* Earlier starts first (in windows); among them the message whose endpoints have most left to do. */
static uint64_t key_of(const Candidates *c, int32_t message, Event start)
{
    const Phase *phase = c->phase;
    const Message *m = &phase->messages[message];
    double sum = pressure_of(c->send_left[m->lane] + c->later[m->lane]);
    for (int32_t i = m->first; i < m->first + m->count; i++) {
        int32_t lane = phase->endpoints[i].lane;
        sum += pressure_of(c->receive_left[lane] + c->later[lane]);
    }
    uint64_t pressure = (uint64_t)(sum * 1024);
    pressure = pressure > 0xffffff ? 0xffffff : pressure;
    uint64_t wave = c->wave == NULL ? 0 : c->wave[message];
    return wave << 44 | (uint64_t)(start / EARLIEST_WINDOW) << 24 | (0xffffff - pressure);
}

static void candidates_init(Candidates *c, const Phase *phase, Arena *arena)
{
    c->phase = phase;
    c->heap.at = arena_array(arena, HeapItem, phase->message_count);
    c->send_left = arena_array(arena, double, phase->lane_count);
    c->receive_left = arena_array(arena, double, phase->lane_count);
    c->later = arena_array(arena, double, phase->lane_count);
    int64_t largest = 1;
    for (int32_t i = 0; i < phase->lane_count; i++) {
        const Lane *lane = &phase->lanes[i];
        largest = max_i64(largest, max_i64(lane->send_load, lane->receive_load) + lane->later);
    }
    for (int32_t i = 0; i < phase->lane_count; i++) {
        c->send_left[i] = (double)phase->lanes[i].send_load / (double)largest;
        c->receive_left[i] = (double)phase->lanes[i].receive_load / (double)largest;
        c->later[i] = (double)phase->lanes[i].later / (double)largest;
    }
    for (int32_t i = 0; i < phase->message_count; i++) {
        Event start = phase->messages[i].start_min;
        heap_push(&c->heap, (HeapItem){key_of(c, i, start), i, start});
    }
}

static void take_load(Candidates *c, const Message *m)
{
    const Phase *phase = c->phase;
    double part = c->send_left[m->lane] * m->items / (double)phase->lanes[m->lane].send_load;
    c->send_left[m->lane] -= part;
    for (int32_t i = m->first; i < m->first + m->count; i++) {
        int32_t lane = phase->endpoints[i].lane;
        c->receive_left[lane] -=
            c->receive_left[lane] * m->items / (double)phase->lanes[lane].receive_load;
    }
}

/* Always the message that can start first. */
static Outcome place_earliest(Search *s, const uint32_t *wave)
{
    Phase *phase = s->phase;
    Arena scratch = s->scratch;
    Candidates candidates = {.wave = wave}, *c = &candidates;
    phase_reset(phase);
    candidates_init(c, phase, &scratch);
    const HeapItem *at = c->heap.at;
    int64_t work = 0;
    while (c->heap.len > 0) {
        HeapItem first = at[0];
        const Message *m = &phase->messages[first.index];
        Event start = phase_earliest(phase, first.index, first.start, EVENT_NEVER);
        work += m->count + 1;
        if (start == EVENT_NEVER || work > EARLIEST_WORK_MAX) {
            return start == EVENT_NEVER ? OUTCOME_TOO_SHORT : OUTCOME_REFUSED;
        }
        uint64_t key = key_of(c, first.index, start);
        bool is_first =
            (c->heap.len < 2 || key <= at[1].key) && (c->heap.len < 3 || key <= at[2].key);
        if (!is_first) {
            heap_replace_first(&c->heap, (HeapItem){key, first.index, start});
            continue;
        }
        phase_put(phase, first.index, start);
        take_load(c, m);
        heap_drop_first(&c->heap);
    }
    s->work += work / 4;
    return OUTCOME_PLACED;
}

/* Streams: transfers with equal source, width and receivers, in the order of their destinations, cut into waves of
 * `stream_words` words (exchange.md 8, B-type). */
static uint32_t *waves_of(const Phase *phase, int32_t stream_words, Arena *arena)
{
    uint32_t *wave = arena_array(arena, uint32_t, phase->message_count);
    Arena scratch = *arena;
    SortKey *order = arena_array(&scratch, SortKey, phase->message_count);
    for (int32_t i = 0; i < phase->message_count;
         i++) { /* by destination, then by stream: both sorts are stable */
        order[i] = (SortKey){phase->endpoints[phase->messages[i].first].address, (uint32_t)i};
    }
    sort_keys(order, phase->message_count, scratch);
    for (int32_t i = 0; i < phase->message_count; i++) {
        const Message *m = &phase->messages[order[i].payload];
        uint64_t hash = (uint64_t)m->lane * 2 + m->is_paired;
        for (int32_t k = m->first; k < m->first + m->count; k++) {
            hash = (hash ^ (uint64_t)phase->endpoints[k].lane) * 0x9e3779b97f4a7c15u;
        }
        order[i].key = hash;
    }
    sort_keys(order, phase->message_count, scratch);
    uint64_t words = 0;
    for (int32_t i = 0; i < phase->message_count; i++) {
        words = i > 0 && order[i].key == order[i - 1].key ? words : 0;
        uint64_t at = words / (uint64_t)stream_words;
        wave[order[i].payload] = (uint32_t)(at < 0xfffff ? at : 0xfffff);
        words += phase->messages[order[i].payload].words;
    }
    return wave;
}

static void justify(Search *s)
{
    Phase *phase = s->phase;
    bool is_reversible = phase->depends.pred_first == NULL && !phase->has_mixed;
    int patience = PATIENCE;
    while (patience > 0 && !is_done(s) && s->work < WORK_MAX) {
        if (is_reversible) {
            if (!place_late(phase, s->order, 0, s->scratch)) {
                return;
            }
            s->work += phase->endpoint_count + phase->message_count;
        }
        sort_by_start(phase, s->order, s->scratch);
        respect_dependencies(phase, s->order, s->scratch);
        if (!place_in_order(phase, s->order)) {
            return;
        }
        patience = keep_best(s) ? PATIENCE : patience - 1;
        patience = is_reversible ? patience : patience - 1;
    }
}

Placed placed_new(const Phase *phase, Arena *arena)
{
    return (Placed){.start = arena_array(arena, Event, phase->message_count),
                    .base = arena_array(arena, Event, phase->lane_count),
                    .horizon = EVENT_NEVER,
                    .length = EVENT_NEVER,
                    .ends = INT64_MAX};
}

void placed_keep(const Phase *phase, Placed *out, Arena scratch)
{
    memcpy(out->start, phase->start, (size_t)phase->message_count * sizeof(Event));
    for (int32_t i = 0; i < phase->lane_count; i++) {
        out->base[i] = phase->lanes[i].base_event;
    }
    out->horizon = phase_horizon(phase);
    out->length = phase_length(phase);
    out->ends = phase_ends(phase, scratch);
}

bool placed_is_better(const Placed *a, const Placed *b)
{
    if (a->length != b->length) {
        return a->length < b->length;
    }
    return a->horizon != b->horizon ? a->horizon < b->horizon : a->ends < b->ends;
}

bool placed_keep_better(const Phase *phase, Placed *best, Arena scratch)
{
    Placed now = {.length = phase_length(phase)};
    if (now.length > best->length) {
        return false;
    }
    now.horizon = phase_horizon(phase);
    now.ends = phase_ends(phase, scratch);
    bool is_better = placed_is_better(&now, best);
    if (is_better) {
        placed_keep(phase, best, scratch);
    }
    return is_better;
}

void phase_restore(Phase *phase, const Placed *placed)
{
    phase_reset(phase);
    for (int32_t i = 0; i < phase->message_count; i++) {
        phase_put(phase, i, placed->start[i]);
    }
    for (int32_t i = 0; i < phase->lane_count; i++) {
        if (phase->lanes[i].is_mixed) {
            phase_put_base(phase, i, placed->base[i]);
        }
    }
}

bool phase_replace_late(Phase *phase, Event slack, Arena scratch)
{
    SortKey *order = arena_array(&scratch, SortKey, phase->message_count);
    return place_late(phase, order, slack, scratch);
}

bool phase_replace(Phase *phase, Arena scratch)
{
    SortKey *order = arena_array(&scratch, SortKey, phase->message_count);
    sort_by_start(phase, order, scratch);
    respect_dependencies(phase, order, scratch);
    return place_in_order(phase, order);
}

/* First schedule of a rule, or of waves: those whose messages are chosen by when they can start (B), or if that is too much work
 * in the order of the list (S). */
static Outcome place_first(Search *s, ExchangeRule rule, const uint32_t *wave)
{
    bool is_free = s->phase->depends.pred_first == NULL && !s->phase->has_mixed;
    bool is_list = rule == RULE_LOAD || rule == RULE_LIST || rule == RULE_ROTATION;
    if (wave == NULL && !is_list && !is_free) { /* they do not wait for other messages */
        return OUTCOME_REFUSED;
    }
    if (wave == NULL && (rule == RULE_FRONTIER || rule == RULE_AHEAD)) {
        return phase_place_frontier(s->phase, rule, s->scratch);
    }
    if (is_free && (rule == RULE_EARLIEST || wave != NULL)) {
        Outcome outcome = place_earliest(s, wave);
        if (outcome != OUTCOME_REFUSED || wave == NULL) {
            return outcome;
        }
    }
    if (wave == NULL) {
        order_by(s->phase, rule, s->order, s->scratch);
    } else {
        for (int32_t i = 0; i < s->phase->message_count; i++) {
            s->order[i] = (SortKey){wave[i], (uint32_t)i};
        }
        sort_keys(s->order, s->phase->message_count, s->scratch);
    }
    respect_dependencies(s->phase, s->order, s->scratch);
    return place_in_order(s->phase, s->order) ? OUTCOME_PLACED : OUTCOME_TOO_SHORT;
}

bool phase_schedule(Phase *phase, ExchangeRule rule, int32_t stream_words, Event bound,
                    Arena scratch, Placed *best)
{
    Search search = {.phase = phase,
                     .best = best,
                     .good_length = phase_length_bound(phase, bound) + bound / CLOSE_ENOUGH};
    Search *s = &search;
    Outcome outcome = OUTCOME_TOO_SHORT;
    for (int64_t events = 2 * (int64_t)bound + 4096; outcome == OUTCOME_TOO_SHORT; events *= 4) {
        s->scratch = scratch;
        if (!phase_reserve(phase, events, &s->scratch)) {
            return false;
        }
        s->order = arena_array(&s->scratch, SortKey, phase->message_count);
        uint32_t *wave = stream_words > 0 ? waves_of(phase, stream_words, &s->scratch) : NULL;
        outcome = place_first(s, rule, wave);
    }
    if (outcome == OUTCOME_REFUSED) {
        return false;
    }
    (void)keep_best(s);
    if (stream_words == 0) { /* justifying would break the waves up */
        justify(s);
    }
    return true;
}
