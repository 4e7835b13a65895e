/* Frontier rule: every message goes behind what its receivers hold already, and of the senders that could go on the one that
 * leaves the smallest gaps does.
 *
 * Messages with equal receivers are a class: in bulk phases a panel that many senders broadcast piece by piece. What is lost
 * there are the gaps where one sender follows another, because T differs between them by an amount that is not the same at all
 * receivers, and because a sender that receives itself has few events at which its sends may start (S5). Of all the senders of
 * a class there is nearly always one that goes on without a gap.
 *
 * Where the receivers of classes overlap (the rows and the columns of a grid), one set of disjoint classes goes before the
 * other: mixed, every message would wait for all its receivers to be done with the others'.
 */
#include "exchange/heap.h"

enum {
    LONG_ITEMS = 32, /* longer messages go first: gaps cost them little */
    STAGES_MAX = 16, /* sets of disjoint classes; with more of them only length counts */
    STEPS_MAX = 100 * 1000 * 1000, /* more of them are refused */
    LOOK_AHEAD = 1024,             /* senders that are compared for one message */
    LOOK_AHEAD_LEAST = 16,         /* ... when the work is used up */
    WORK_MAX = 400 * 1000 * 1000,  /* endpoints of senders that were compared */
    /* Of 0 .. 8 and more, the two that together give the shortest phases of SigLIP (docs/exchange.md). */
    PULL_FRONTIER = 3,
    PULL_AHEAD = 8,
};

/* Messages of a class with one sender: order[first .. end). */
typedef struct Stream {
    int32_t first, end;
    int32_t next, previous; /* ring of the class */
    bool is_begun;
} Stream;

typedef struct Class {
    int32_t cursor; /* stream to go on with; -1: all are placed */
    uint32_t stage;
    int64_t left; /* items */
} Class;

typedef struct Frontier {
    Phase *phase;
    SortKey *order; /* messages by class, and in it as their senders lie along the spine */
    Stream *streams;
    Class *classes;
    int32_t stream_count, class_count;
    int64_t pull;       /* quarters of an event that an item left pulls a class ahead */
    Event *end;         /* per lane: of its last source window */
    int64_t *send_left; /* per lane: items */
    int64_t work;
} Frontier;

typedef struct Choice {
    int32_t stream; /* -1: none yet */
    Event start;
    int64_t waste; /* events for which receivers idle, in all */
    int64_t left;  /* items that its sender still has to send */
} Choice;

static const Message *first_of(const Frontier *f, int32_t stream)
{
    return &f->phase->messages[f->order[f->streams[stream].first].payload];
}

/* --- classes -------------------------------------------------------------------------------------------------------- */

static bool is_long(const Message *m)
{
    return m->items >= LONG_ITEMS;
}

static uint64_t class_key(const Phase *phase, const Message *m)
{
    uint64_t hash = (m->is_paired ? 1u : 0u) | (is_long(m) ? 2u : 0u);
    for (int32_t k = m->first; k < m->first + m->count; k++) {
        hash = (hash ^ (uint64_t)phase->endpoints[k].lane) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    return hash;
}

static void sort_messages(Frontier *f, Arena scratch)
{
    const Phase *phase = f->phase;
    for (int32_t i = 0; i < phase->message_count; i++) {
        PhysTile tile = phase->lanes[phase->messages[i].lane].tile;
        uint64_t place = (uint64_t)phys_spine_place(tile);
        f->order[i] = (SortKey){place << 16 | tile.id, (uint32_t)i};
    }
    sort_keys(f->order, phase->message_count, scratch);
    for (int32_t i = 0; i < phase->message_count; i++) {
        f->order[i].key = class_key(phase, &phase->messages[f->order[i].payload]);
    }
    sort_keys(f->order, phase->message_count, scratch);
}

static void make_stream(Frontier *f, int32_t first, int32_t end, bool is_first)
{
    int32_t at = f->stream_count++;
    if (is_first) {
        f->streams[at] = (Stream){.first = first, .end = end, .next = at, .previous = at};
        f->classes[f->class_count++] = (Class){.cursor = at};
        return;
    }
    int32_t head = f->classes[f->class_count - 1].cursor;
    f->streams[at] =
        (Stream){.first = first, .end = end, .next = head, .previous = f->streams[head].previous};
    f->streams[f->streams[at].previous].next = at;
    f->streams[head].previous = at;
}

static void make_classes(Frontier *f)
{
    const Message *messages = f->phase->messages;
    for (int32_t first = 0, end = 0; first < f->phase->message_count; first = end) {
        uint64_t key = f->order[first].key;
        int32_t lane = messages[f->order[first].payload].lane;
        int64_t items = 0;
        for (; end < f->phase->message_count && f->order[end].key == key &&
               messages[f->order[end].payload].lane == lane;
             end++) {
            items += messages[f->order[end].payload].items;
        }
        make_stream(f, first, end, first == 0 || f->order[first - 1].key != key);
        f->classes[f->class_count - 1].left += items;
    }
}

/* Long messages first, then paired ones, then many receivers; else as listed. */
static uint64_t stage_key(const Frontier *f, const Class *class)
{
    const Message *m = first_of(f, class->cursor);
    uint64_t rank = (is_long(m) ? 0u : 2u) | (m->is_paired ? 0u : 1u);
    uint64_t few = (uint64_t)(CHIP_TILES - m->count);
    return rank << 48 | few << 32 | (uint64_t)(m - f->phase->messages);
}

/* The first stage in which no class has a receiver in common with this one. */
static void make_stages(Frontier *f, Arena scratch)
{
    SortKey *order = arena_array(&scratch, SortKey, f->class_count);
    uint32_t *used = arena_array(&scratch, uint32_t, f->phase->lane_count);
    bool is_many = false;
    for (int32_t i = 0; i < f->class_count; i++) {
        order[i] = (SortKey){stage_key(f, &f->classes[i]), (uint32_t)i};
    }
    sort_keys(order, f->class_count, scratch);
    for (int32_t i = 0; i < f->class_count && !is_many; i++) {
        Class *class = &f->classes[order[i].payload];
        const Message *m = first_of(f, class->cursor);
        uint32_t busy = 0;
        for (int32_t k = m->first; k < m->first + m->count; k++) {
            busy |= used[f->phase->endpoints[k].lane];
        }
        class->stage = (uint32_t)__builtin_ctz(~busy);
        is_many = class->stage >= STAGES_MAX;
        for (int32_t k = m->first; k < m->first + m->count; k++) {
            used[f->phase->endpoints[k].lane] |= 1u << class->stage;
        }
    }
    for (int32_t i = 0; i < f->class_count && is_many; i++) {
        f->classes[i].stage = is_long(first_of(f, f->classes[i].cursor)) ? 0 : 1;
    }
}

/* Comparing the streams of a class for each of its messages, and moving the classes that share a receiver with a message: too much
 * where single words cross between all tiles. */
static bool is_too_much(const Frontier *f, Arena scratch)
{
    const Phase *phase = f->phase;
    int64_t *classes = arena_array(&scratch, int64_t, phase->lane_count);
    int64_t steps = 0;
    for (int32_t i = 0; i < f->class_count; i++) {
        const Message *m = first_of(f, f->classes[i].cursor);
        int64_t messages = 0, streams = 0;
        int32_t at = f->classes[i].cursor;
        do {
            messages += f->streams[at].end - f->streams[at].first;
            streams++;
            at = f->streams[at].next;
        } while (at != f->classes[i].cursor);
        steps += messages * min_i64(streams, LOOK_AHEAD) / 2;
        for (int32_t k = m->first; k < m->first + m->count; k++) {
            classes[phase->endpoints[k].lane]++;
        }
    }
    for (int32_t i = 0; i < phase->message_count; i++) {
        const Message *m = &phase->messages[i];
        for (int32_t k = m->first; k < m->first + m->count; k++) {
            steps += classes[phase->endpoints[k].lane];
        }
    }
    return steps > STEPS_MAX;
}

/* --- placing -------------------------------------------------------------------------------------------------------- */

/* In a stage classes keep pace, and one that has more left goes ahead. */
static uint64_t urgency_of(const Frontier *f, const Class *class)
{
    const Message *m = first_of(f, class->cursor);
    int64_t end = 0;
    for (int32_t k = m->first; k < m->first + m->count; k++) {
        end = max_i64(end, f->end[f->phase->endpoints[k].lane]);
    }
    return (uint64_t) class->stage << 56 |
           (uint64_t)(4 * (int64_t)end - f->pull * class->left + ((int64_t)1 << 40));
}

static int64_t sends_left(const Frontier *f, const Message *m)
{
    const Lane *lane = &f->phase->lanes[m->lane];
    return f->send_left[m->lane] + (m->is_paired ? f->send_left[lane->partner] : 0);
}

/* Takes the stream's next message instead of the choice so far when it leaves less waste, or as much and its sender has more to
 * send. */
static void consider(Frontier *f, int32_t stream, Choice *best)
{
    const Message *m = first_of(f, stream);
    Event first = m->start_min;
    int64_t waste = 0; /* of start `first`; every event more wastes one at every receiver */
    for (int32_t k = m->first; k < m->first + m->count; k++) {
        const Endpoint *to = &f->phase->endpoints[k];
        Event start = f->end[to->lane] - to->source_delay;
        first = start > first ? start : first;
        waste -= start;
    }
    waste += (int64_t)m->count * first;
    f->work += m->count;
    if (waste > best->waste) {
        return;
    }
    int64_t spare = best->stream < 0 ? EVENT_NEVER : first + (best->waste - waste) / m->count;
    Event start = phase_earliest(f->phase, (int32_t)(m - f->phase->messages), first,
                                 (Event)min_i64(spare, EVENT_NEVER));
    if (start == EVENT_NEVER) {
        return;
    }
    Choice choice = {stream, start, waste + (int64_t)m->count * (start - first), sends_left(f, m)};
    if (choice.waste < best->waste || choice.left > best->left) {
        *best = choice;
    }
}

/* The stream to go on with: the present one if that leaves no gap. */
static Choice choose(Frontier *f, const Class *class)
{
    Choice best = {.stream = -1, .waste = INT64_MAX};
    int looks = f->work < WORK_MAX ? LOOK_AHEAD : LOOK_AHEAD_LEAST;
    int32_t at = class->cursor;
    consider(f, at, &best);
    if (best.waste == 0 && f->streams[at].is_begun) {
        return best;
    }
    for (at = f->streams[at].next; at != class->cursor && --looks > 0; at = f->streams[at].next) {
        consider(f, at, &best);
    }
    return best;
}

static void place(Frontier *f, Class *class, Choice choice)
{
    Phase *phase = f->phase;
    Stream *stream = &f->streams[choice.stream];
    int32_t message = (int32_t)f->order[stream->first].payload;
    const Message *m = &phase->messages[message];
    phase_put(phase, message, choice.start);
    class->left -= m->items;
    f->send_left[m->lane] -= m->items;
    if (m->is_paired) {
        f->send_left[phase->lanes[m->lane].partner] -= m->items;
    }
    for (int32_t k = m->first; k < m->first + m->count; k++) {
        const Endpoint *to = &phase->endpoints[k];
        f->end[to->lane] = choice.start + to->source_delay + m->items;
    }
    stream->is_begun = true;
    class->cursor = choice.stream;
    if (++stream->first == stream->end) {
        class->cursor = stream->next == choice.stream ? -1 : stream->next;
        f->streams[stream->next].previous = stream->previous;
        f->streams[stream->previous].next = stream->next;
    }
}

static Frontier frontier_of(Phase *phase, Arena *arena)
{
    int32_t count = phase->message_count;
    Frontier f = {.phase = phase,
                  .order = arena_array(arena, SortKey, count),
                  .streams = arena_array(arena, Stream, count),
                  .classes = arena_array(arena, Class, count),
                  .end = arena_array(arena, Event, phase->lane_count),
                  .send_left = arena_array(arena, int64_t, phase->lane_count)};
    sort_messages(&f, *arena);
    make_classes(&f);
    make_stages(&f, *arena);
    for (int32_t i = 0; i < phase->lane_count; i++) {
        f.end[i] = 1;
        f.send_left[i] = phase->lanes[i].send_load;
    }
    return f;
}

Outcome phase_place_frontier(Phase *phase, ExchangeRule rule, Arena scratch)
{
    phase_reset(phase);
    Frontier frontier = frontier_of(phase, &scratch), *f = &frontier;
    if (is_too_much(f, scratch)) {
        return OUTCOME_REFUSED;
    }
    f->pull = rule == RULE_AHEAD ? PULL_AHEAD : PULL_FRONTIER;
    Heap heap = {arena_array(&scratch, HeapItem, f->class_count), 0};
    for (int32_t i = 0; i < f->class_count; i++) {
        heap_push(&heap, (HeapItem){.key = urgency_of(f, &f->classes[i]), .index = i});
    }
    while (heap.len > 0) {
        HeapItem first = heap.at[0];
        Class *class = &f->classes[first.index];
        uint64_t key = urgency_of(f, class);
        bool is_first = key == first.key;
        if (is_first) {
            Choice choice = choose(f, class);
            if (choice.stream < 0) {
                return OUTCOME_TOO_SHORT;
            }
            place(f, class, choice);
        }
        if (class->cursor < 0) {
            heap_drop_first(&heap);
        } else {
            first.key = is_first ? urgency_of(f, class) : key;
            heap_replace_first(&heap, first);
        }
    }
    return OUTCOME_PLACED;
}
