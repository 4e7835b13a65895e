/* Where a message can start (exchange-scheduling.md 4.1; constraints S1..S5, S7, S9 of section 1).
 *
 * phase_open tests 64 neighbouring starts at once: every rule becomes a word whose bit i says that start `from + i` breaks
 * it, because the bits of a tile's events lie at a fixed distance (T, pointer delay) from the start. Holes before other
 * messages are used on both the sending and the receiving side.
 */
#include "exchange/phase.h"
#include <string.h>

enum {
    READ_GUARD = 8, /* SRAM is read up to 8 events around the wire event (exchange.md 9, windows) */
    BLOCK_WORDS = sizeof(Block) / sizeof(uint64_t),
};

/* --- bits ----------------------------------------------------------------------------------------------------------- */

/* 64 bits from `at` on; words are `stride` apart. */
static inline uint64_t window(const uint64_t *bits, int stride, Event at)
{
    const uint64_t *word = bits + (isize)(at >> 6) * stride;
    int shift = at & 63;
    return shift == 0 ? word[0] : word[0] >> shift | word[stride] << (64 - shift);
}

/* Last set bit of [begin, end), or -1. */
static Event last_set(const uint64_t *bits, int stride, Event begin, Event end)
{
    for (Event at = (end - 1) >> 6; at >= begin >> 6; at--) {
        uint64_t word = bits[(isize)at * stride];
        if (at == (end - 1) >> 6 && (end & 63) != 0) {
            word &= (1ull << (end & 63)) - 1;
        }
        if (at == begin >> 6) {
            word &= ~0ull << (begin & 63);
        }
        if (word != 0) {
            return (at << 6) + 63 - __builtin_clzll(word);
        }
    }
    return -1;
}

/* Bit i: some bit of [at + i, at + i + count) is set. When all are, *skip may be raised: no run begins before it. */
static inline uint64_t busy_runs(const uint64_t *bits, int stride, Event at, Event count,
                                 Event *skip)
{
    if (count == 1) {
        return window(bits, stride, at);
    }
    if (count <= 64) {
        unsigned __int128 busy =
            (unsigned __int128)window(bits, stride, at + 64) << 64 | window(bits, stride, at);
        for (Event covered = 1; covered < count;) {
            Event step = covered < count - covered ? covered : count - covered;
            busy |= busy >> step;
            covered += step;
        }
        return (uint64_t)busy;
    }
    Event last = last_set(bits, stride, at + 63, at + count); /* in all 64 runs */
    if (last >= 0) {
        *skip = last + 1 > *skip ? last + 1 : *skip;
        return ~0ull;
    }
    uint64_t head = window(bits, stride, at), tail = window(bits, stride, at + count);
    uint64_t busy = head == 0 ? 0 : (2ull << (63 - __builtin_clzll(head))) - 1;
    if (tail != 0) {
        int first = __builtin_ctzll(tail);
        busy |= first == 63 ? 0 : ~0ull << (first + 1);
    }
    return busy;
}

static void set_range(uint64_t *bits, int stride, Event begin, Event end, bool value)
{
    for (Event at = begin; at < end;) {
        int low = at & 63, count = 64 - low < end - at ? 64 - low : end - at;
        uint64_t mask = ~0ull >> (64 - count) << low;
        uint64_t *word = &bits[(isize)(at >> 6) * stride];
        *word = value ? *word | mask : *word & ~mask;
        at += count;
    }
}

static inline bool has_bit(uint64_t word, Event at)
{
    return (word >> (at & 63) & 1) != 0;
}

static inline Block *block_at(const Lane *lane, Event at)
{
    return &lane->blocks[at >> 6];
}

/* Applies `expression` of a block `b` to the 64 events from `at` on. */
#define BLOCK_WINDOW(lane, at, expression)                                                         \
    __extension__({                                                                                \
        const Block *b = block_at((lane), (at));                                                   \
        uint64_t low_ = (expression);                                                              \
        int shift_ = (at)&63;                                                                      \
        if (shift_ != 0) {                                                                         \
            b++;                                                                                   \
            low_ = low_ >> shift_ | (expression) << (64 - shift_);                                 \
        }                                                                                          \
        low_;                                                                                      \
    })

/* --- starts that are open ------------------------------------------------------------------------------------------- */

static inline uint64_t control_bits(const Block *b)
{
    return b->xpic | b->pointer | b->pair_xpic | b->format;
}

/* Runs of `count` events from `at` on that touch marked events of one of the groups (bitmaps of the lane's conflict groups). */
static uint64_t busy_groups(const Phase *phase, const Lane *lane, const uint64_t *bitmaps,
                            uint32_t groups, Event at, Event count)
{
    uint64_t busy = 0;
    Event skip = 0;
    for (uint32_t left = groups & lane->conflict; left != 0; left &= left - 1) {
        uint32_t lower = lane->conflict & ((left & -left) - 1);
        const uint64_t *bits = bitmaps + __builtin_popcount(lower) * phase_group_words(phase);
        busy |= busy_runs(bits, 1, at + GROUP_PAD, count, &skip);
    }
    return busy;
}

static inline Event lent_items(const Message *m, Event start)
{
    return start < FABRIC_SEND_MIN && m->items < FABRIC_SEND_MIN ? FABRIC_SEND_MIN : m->items;
}

static uint64_t closed_to_sender(const Phase *phase, const Message *m, Event at, Event *skip)
{
    const Lane *lane = &phase->lanes[m->lane];
    uint64_t closed = busy_runs(&lane->blocks->send, BLOCK_WORDS, at, m->items, skip); /* S1 */
    closed |= BLOCK_WINDOW(lane, at, control_bits(b)) |
              BLOCK_WINDOW(lane, at + 1, control_bits(b)); /* S5 */
    if (m->is_paired) {
        const Lane *lent = &phase->lanes[lane->partner];
        closed |= busy_runs(&lent->blocks->send, BLOCK_WORDS, at, lent_items(m, at), skip);
    }
    if ((m->groups & lane->conflict) != 0) { /* S7 */
        Event count = (m->items > FABRIC_SEND_MIN ? m->items : FABRIC_SEND_MIN) + 2 * READ_GUARD;
        closed |= busy_groups(phase, lane, lane->writes, m->groups, at - READ_GUARD, count);
    }
    return closed;
}

static inline uint64_t closed_to_ordinary(const Phase *phase, const Lane *lane, Event source,
                                          Event items, Event *skip)
{
    Event end = source + items, pointer = source + lane->pointer_delay;
    uint64_t apart = phase->may_merge ? 0 : ~0ull;
    Event ahead = 0;
    uint64_t closed =
        busy_runs(&lane->blocks->receive, BLOCK_WORDS, source, items, &ahead); /* S2 */
    *skip = ahead - source > *skip ? ahead - source : *skip; /* distance from the source */
    if (closed == ~0ull) {
        return closed;
    }
    /* S4, S5: a bit of xpic that is set already belongs to a window that ends or begins there. */
    closed |= BLOCK_WINDOW(
        lane, source, ~b->xpic & (b->pair_xpic | b->format | b->closed | (b->pointer & apart)));
    closed |= BLOCK_WINDOW(
        lane, end, ~b->xpic & (b->pair_xpic | b->format | b->closed | (b->pointer & apart)));
    closed |= BLOCK_WINDOW(lane, pointer,
                           b->pointer | b->pair_xpic | b->format | b->closed | (b->xpic & apart));
    if (phase->has_pairs) { /* S3: one spare event between ordinary and paired */
        closed |= BLOCK_WINDOW(lane, source - 1, b->receive_pair) |
                  BLOCK_WINDOW(lane, end, b->receive_pair);
    }
    return closed;
}

static uint64_t closed_to_paired(const Lane *lane, bool is_early, Event source, Event items,
                                 Event *skip)
{
    Event end = source + items;
    Event format = source + lane->pointer_delay - 1, pointer = source + lane->pointer_delay + 1;
    Event ahead = 0;
    uint64_t closed = busy_runs(&lane->blocks->receive, BLOCK_WORDS, source, items, &ahead);
    *skip = ahead - source > *skip ? ahead - source : *skip;
    closed |= BLOCK_WINDOW(lane, source - 1, b->receive & ~b->receive_pair) |
              BLOCK_WINDOW(lane, end, b->receive & ~b->receive_pair); /* S3 */
    if (is_early) {
        closed |= BLOCK_WINDOW(lane, source,
                               ~b->pair_xpic & (b->xpic | b->pointer | b->format | b->closed));
        closed |=
            BLOCK_WINDOW(lane, end, ~b->pair_xpic & (b->xpic | b->pointer | b->format | b->closed));
    }
    closed |=
        BLOCK_WINDOW(lane, format, ~b->format & (b->xpic | b->pointer | b->pair_xpic | b->closed));
    closed |= BLOCK_WINDOW(lane, format + items,
                           ~b->format & (b->xpic | b->pointer | b->pair_xpic | b->closed));
    closed |= BLOCK_WINDOW(lane, pointer, control_bits(b) | b->closed);
    return closed;
}

/* Bit i: the message may start at `at` + i; only bits of `wanted` are looked at. When none may, *skip may be raised above `at`. */
static uint64_t phase_open(const Phase *phase, const Message *m, Event at, uint64_t wanted,
                           Event *skip)
{
    Event ahead = 0; /* events from `at` that cannot be starts */
    *skip = 0;
    uint64_t closed = ~wanted | closed_to_sender(phase, m, at, skip);
    for (int32_t i = m->first; i < m->first + m->count && closed != ~0ull; i++) {
        const Endpoint *to = &phase->endpoints[i];
        const Lane *lane = &phase->lanes[to->lane];
        Event source = at + to->source_delay;
        closed |= m->is_paired ? closed_to_paired(lane, to->is_early, source, m->items, &ahead)
                               : closed_to_ordinary(phase, lane, source, m->items, &ahead);
        if ((to->groups & lane->conflict) != 0) { /* S7 */
            Event store = source + lane->pointer_delay + (m->is_paired ? 1 : 0);
            closed |= busy_groups(phase, lane, lane->reads, to->groups, store,
                                  m->items + FABRIC_ROW_MARGIN);
        }
    }
    *skip = at + ahead > *skip ? at + ahead : *skip;
    return ~closed;
}

/* Least start that the moves of its tile allow (S9). */
static Event least_start(const Phase *phase, const Message *m)
{
    const Lane *lane = &phase->lanes[m->lane];
    Event from = m->start_min;
    if (lane->is_mixed && !m->is_moving) {
        Event base = lane->base_event + FABRIC_BASE_WRITE_EVENTS;
        from = base > from ? base : from;
    }
    return from;
}

/* Starts behind this one reach past the blocks. */
static Event last_start(const Phase *phase, const Message *m)
{
    return phase->capacity - m->tail - 2 * EVENTS_A_BLOCK;
}

Event phase_earliest(const Phase *phase, int32_t message, Event from, Event to)
{
    const Message *m = &phase->messages[message];
    Event at = least_start(phase, m), last = last_start(phase, m);
    at = from > at ? from : at;
    last = to < last ? to : last;
    while (at <= last) {
        Event skip;
        uint64_t wanted = last - at < 63 ? (2ull << (last - at)) - 1 : ~0ull;
        uint64_t open = phase_open(phase, m, at, wanted, &skip);
        if (open != 0) {
            return at + __builtin_ctzll(open);
        }
        at = skip > at + 64 ? skip : at + 64;
    }
    return EVENT_NEVER;
}

Event phase_latest(const Phase *phase, int32_t message, Event to)
{
    const Message *m = &phase->messages[message];
    Event least = least_start(phase, m);
    for (Event end = to + 1; end > least;) {
        Event at = end - 64 > least ? end - 64 : least, skip;
        uint64_t wanted = end - at < 64 ? (1ull << (end - at)) - 1 : ~0ull;
        uint64_t open = phase_open(phase, m, at, wanted, &skip);
        if (open != 0) {
            return at + 63 - __builtin_clzll(open);
        }
        end = at;
    }
    return -1;
}

/* --- placing -------------------------------------------------------------------------------------------------------- */

static void touch(Lane *lane, Event end)
{
    lane->used = end > lane->used ? end : lane->used;
}

static void mark_groups(const Phase *phase, Lane *lane, uint64_t *bitmaps, uint32_t groups,
                        Event begin, Event end)
{
    for (uint32_t left = groups & lane->conflict; left != 0; left &= left - 1) {
        uint32_t lower = lane->conflict & ((left & -left) - 1);
        set_range(bitmaps + __builtin_popcount(lower) * phase_group_words(phase), 1,
                  begin + GROUP_PAD, end + GROUP_PAD, true);
    }
    touch(lane, end);
}

#define SET_BIT(lane, at, field, value)                                                            \
    do {                                                                                           \
        Event at_ = (at);                                                                          \
        uint64_t *word_ = &block_at((lane), at_)->field;                                           \
        *word_ = (value) ? *word_ | 1ull << (at_ & 63) : *word_ & ~(1ull << (at_ & 63));           \
    } while (0)

/* Controls where one source window ends and another begins, either of which may be missing (-1). Windows that touch share the
 * event, and need no control when the second goes on with what the first has set. */
static void mark_boundary(const Phase *phase, Lane *lane, Event at, int32_t left, int32_t right)
{
    const Endpoint *ends = phase->endpoints;
    int left_format = left < 0 ? 0 : ends[left].direction;
    int right_format = right < 0 ? 0 : ends[right].direction;
    bool is_same_source =
        left >= 0 && right >= 0 &&
        phase->messages[ends[left].message].lane == phase->messages[ends[right].message].lane;
    bool is_ordinary = (left >= 0 && left_format == 0) || (right >= 0 && right_format == 0);
    bool is_early = (left >= 0 && ends[left].is_early) || (right >= 0 && ends[right].is_early);
    SET_BIT(lane, at, xpic, is_ordinary && !is_same_source);
    SET_BIT(lane, at, pair_xpic, is_early && !is_same_source);
    if (left_format != 0 || right_format != 0) {
        SET_BIT(lane, at + lane->pointer_delay - 1, format, left_format != right_format);
    }
}

/* Pointer control of window `right`, which `left` touches (or -1): none when the pointer stands there already. */
static void mark_pointer(const Phase *phase, Lane *lane, Event source, int32_t left, int32_t right)
{
    const Endpoint *to = &phase->endpoints[right];
    bool goes_on = false;
    if (left >= 0) {
        const Endpoint *from = &phase->endpoints[left];
        goes_on = from->address + 4 * phase->messages[from->message].words == to->address;
    }
    SET_BIT(lane, source + lane->pointer_delay + (to->direction != 0 ? 1 : 0), pointer, !goes_on);
}

/* Sets or clears what a message occupies on a receiving tile. */
static void mark_receive(const Phase *phase, int32_t endpoint, Event start, bool value)
{
    const Endpoint *to = &phase->endpoints[endpoint];
    const Message *m = &phase->messages[to->message];
    Lane *lane = &phase->lanes[to->lane];
    Event source = start + to->source_delay, end = source + m->items;
    bool touches_left = has_bit(block_at(lane, source - 1)->receive, source - 1);
    bool touches_right = has_bit(block_at(lane, end)->receive, end);
    int32_t left = touches_left ? lane->owner[source - 1] : -1;
    int32_t right = touches_right ? lane->owner[end] : -1;
    set_range(&lane->blocks->receive, BLOCK_WORDS, source, end, value);
    if (m->is_paired) {
        set_range(&lane->blocks->receive_pair, BLOCK_WORDS, source, end, value);
    }
    int32_t middle = value ? endpoint : -1;
    lane->owner[source] = lane->owner[end - 1] = endpoint;
    if (!value) { /* what only this message sets */
        mark_boundary(phase, lane, source, endpoint, endpoint);
        mark_boundary(phase, lane, end, endpoint, endpoint);
        SET_BIT(lane, source + lane->pointer_delay + (m->is_paired ? 1 : 0), pointer, false);
    }
    mark_boundary(phase, lane, source, left, middle);
    mark_boundary(phase, lane, end, middle, right);
    if (value) {
        mark_pointer(phase, lane, source, left, endpoint);
    }
    if (right >= 0) {
        mark_pointer(phase, lane, end, middle, right);
    }
    touch(lane, end + lane->pointer_delay + 1 + FABRIC_ROW_MARGIN);
}

static void mark_message(Phase *phase, const Message *m, Event start, bool value)
{
    Lane *lane = &phase->lanes[m->lane];
    set_range(&lane->blocks->send, BLOCK_WORDS, start, start + m->items, value);
    set_range(&lane->blocks->closed, BLOCK_WORDS, start, start + 2, value);
    touch(lane, start + m->items + 2);
    if (m->is_paired) {
        Lane *lent = &phase->lanes[lane->partner];
        set_range(&lent->blocks->send, BLOCK_WORDS, start, start + lent_items(m, start), value);
        touch(lent, start + lent_items(m, start));
    }
    for (int32_t i = m->first; i < m->first + m->count; i++) {
        mark_receive(phase, i, start, value);
    }
}

void phase_put(Phase *phase, int32_t message, Event start)
{
    const Message *m = &phase->messages[message];
    mark_message(phase, m, start, true);
    Lane *lane = &phase->lanes[m->lane];
    if ((m->groups & lane->conflict) != 0) {
        Event end = start + m->items;
        end = (end > FABRIC_SEND_MIN ? end : FABRIC_SEND_MIN) + READ_GUARD;
        mark_groups(phase, lane, lane->reads, m->groups, start - READ_GUARD, end);
    }
    for (int32_t i = m->first; i < m->first + m->count; i++) {
        const Endpoint *to = &phase->endpoints[i];
        Lane *receiver = &phase->lanes[to->lane];
        if ((to->groups & receiver->conflict) != 0) {
            Event store =
                start + to->source_delay + receiver->pointer_delay + (m->is_paired ? 1 : 0);
            mark_groups(phase, receiver, receiver->writes, to->groups, store,
                        store + m->items + FABRIC_ROW_MARGIN);
        }
    }
    phase->start[message] = start;
}

/* Marks of groups stay: windows of several messages overlap in them, and they only close events. */
void phase_remove(Phase *phase, int32_t message)
{
    mark_message(phase, &phase->messages[message], phase->start[message], false);
    phase->start[message] = -1;
}

/* Would the message be placed where it stands? */
static bool stands(Phase *phase, int32_t message)
{
    Event start = phase->start[message];
    phase_remove(phase, message);
    bool is_open = phase_earliest(phase, message, start, start) == start;
    phase_put(phase, message, start);
    return is_open;
}

int32_t phase_remove_with_followers(Phase *phase, int32_t message, SortKey *removed)
{
    int32_t count = 0;
    removed[count++] = (SortKey){(uint64_t)phase->start[message], (uint32_t)message};
    phase_remove(phase, message);
    for (int32_t done = 0; done < count; done++) {
        const Message *m = &phase->messages[removed[done].payload];
        for (int32_t i = m->first; i < m->first + m->count; i++) {
            const Endpoint *to = &phase->endpoints[i];
            const Lane *lane = &phase->lanes[to->lane];
            Event source = (Event)removed[done].key + to->source_delay;
            const Event beside[2] = {source - 1, source + m->items};
            for (int k = 0; k < 2; k++) {
                if (!has_bit(block_at(lane, beside[k])->receive, beside[k])) {
                    continue;
                }
                int32_t other = phase->endpoints[lane->owner[beside[k]]].message;
                if (!stands(phase, other)) {
                    removed[count++] = (SortKey){(uint64_t)phase->start[other], (uint32_t)other};
                    phase_remove(phase, other);
                }
            }
        }
    }
    return count;
}

void phase_put_base(Phase *phase, int32_t index, Event begin)
{
    Lane *lane = &phase->lanes[index];
    Event end = begin + FABRIC_BASE_WRITE_EVENTS;
    set_range(&lane->blocks->send, BLOCK_WORDS, begin, end, true);
    set_range(&lane->blocks->closed, BLOCK_WORDS, begin, end + 1,
              true); /* its last event issues none */
    touch(lane, end + 1);
    lane->base_event = begin;
}

bool phase_switch_base(Phase *phase, int32_t index)
{
    Lane *lane = &phase->lanes[index];
    Event begin = last_set(&lane->blocks->send, BLOCK_WORDS, 0, lane->used + 1) + 1;
    for (Event skip = 0; begin < phase->capacity - 4 * EVENTS_A_BLOCK; begin += 64) {
        uint64_t closed =
            busy_runs(&lane->blocks->send, BLOCK_WORDS, begin, FABRIC_BASE_WRITE_EVENTS, &skip);
        for (Event i = 0; i <= FABRIC_BASE_WRITE_EVENTS; i++) {
            closed |= BLOCK_WINDOW(lane, begin + i, control_bits(b));
        }
        if (closed != ~0ull) {
            begin += __builtin_ctzll(~closed);
            phase_put_base(phase, index, begin);
            return true;
        }
    }
    return false;
}

void phase_reset(Phase *phase)
{
    for (int32_t i = 0; i < phase->lane_count; i++) {
        Lane *lane = &phase->lanes[i];
        isize blocks = (isize)(lane->used + EVENTS_A_BLOCK) / EVENTS_A_BLOCK + 1;
        memset(lane->blocks, 0, (size_t)blocks * sizeof(Block));
        for (int g = 0; g < __builtin_popcount(lane->conflict); g++) {
            memset(lane->reads + g * phase_group_words(phase), 0, (size_t)(blocks + 1) * 8);
            memset(lane->writes + g * phase_group_words(phase), 0, (size_t)(blocks + 1) * 8);
        }
        lane->used = 0;
        lane->base_event = 0;
    }
    for (int32_t i = 0; i < phase->message_count; i++) {
        phase->start[i] = -1;
    }
}

Event phase_horizon(const Phase *phase)
{
    Event horizon = 0;
    for (int32_t i = 0; i < phase->message_count; i++) {
        Event end = phase->start[i] + phase->messages[i].tail;
        horizon = end > horizon ? end : horizon;
    }
    return horizon;
}

Event phase_length(const Phase *phase)
{
    Event length = phase->length_min;
    for (int32_t i = 0; i < phase->message_count; i++) {
        Event end = phase->start[i] + phase->messages[i].reach;
        length = end > length ? end : length;
    }
    return length;
}

int64_t phase_ends(const Phase *phase, Arena scratch)
{
    Event *ends = arena_array(&scratch, Event, phase->lane_count);
    for (int32_t i = 0; i < phase->message_count; i++) {
        const Message *m = &phase->messages[i];
        Event *end = &ends[m->lane], sent = phase->start[i] + m->items;
        *end = sent > *end ? sent : *end;
        for (int32_t k = m->first; k < m->first + m->count; k++) {
            end = &ends[phase->endpoints[k].lane];
            Event stored = phase->start[i] + endpoint_tail(phase, &phase->endpoints[k]);
            *end = stored > *end ? stored : *end;
        }
    }
    int64_t sum = 0;
    for (int32_t i = 0; i < phase->lane_count; i++) {
        sum += ends[i];
    }
    return sum;
}

Event phase_length_bound(const Phase *phase, Event bound)
{
    Event least = bound > phase->length_min ? bound : phase->length_min;
    for (int32_t i = 0; i < phase->lane_count; i++) {
        const Lane *lane = &phase->lanes[i];
        int64_t received = lane->receive_load + lane->pointer_delay + FABRIC_ROW_MARGIN;
        int64_t busy =
            lane->receive_count == 0 || received < lane->send_load ? lane->send_load : received;
        least = (Event)max_i64(least, busy + lane->later);
    }
    return least;
}
