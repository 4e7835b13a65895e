/* Lower bounds of a phase's horizon (exchange-scheduling.md 2). Each is a proof from the rules that the checker holds a schedule to.
 *
 * Lane. Intervals of one clock that exclude each other, each no earlier than its head and with at least its tail between its end
 * and the horizon: for any subset, horizon >= least head + sum of events + least tail. Taken over the subsets {head >= h} and
 * {tail >= q}. Three kinds of lane:
 *   send     [t, t+m) of a tile's sends, and of the partner's paired ones, which borrow its lane (S1). Head: src >= 1 at
 *            every receiver. Tail: the last item travels D events, and its receiver's row ends 5 later.
 *   receive  [src, src+m) of a tile (S2); a paired message blocks both members. Tail: 52 + 2R, one more when paired, and 5, or
 *            more when another receiver of the message is further away.
 *   clique   per tile and memory group, the reads [t, t+m) and writes [first store, +m) of its bytes: two reads exclude each other
 *            as sends, two writes as receives, a read and a write by S7. Since reads keep 8 events and writes 5 + 8 away
 *            from each other, one change from reading to writing costs at least 8.
 * Chain (bounds_chain.c) raises heads and tails by S6 first. Issue: bounds_issue.c. Messages that exclude
 * each other in different lanes: bounds_multicast.c.
 *
 * A base switch is not in any bound: a row may serve its moving sources by patched words under base 0 instead.
 */
#include "exchange/bounds.h"

enum { BUCKETS = 32, SWITCH_EVENTS = 8, KIND_READ = 1, KIND_WRITE = 2 };

/* Members of a lane whose head (or tail) falls into one range; the lanes are as many as tiles, so they are kept small. */
typedef struct Bucket {
    int64_t events; /* 0: empty */
    int64_t head, tail;
    int kinds;
} Bucket;

typedef struct Lane {
    Bucket by_head[BUCKETS], by_tail[BUCKETS];
} Lane;

typedef struct LaneScale {
    int64_t head_width, tail_width;
} LaneScale;

/* An interval on a lane. */
typedef struct Member {
    int kind;
    int64_t head, events, tail;
} Member;

static void add_to_bucket(Bucket *bucket, const Member *member)
{
    bool is_empty = bucket->events == 0;
    bucket->head = is_empty ? member->head : min_i64(bucket->head, member->head);
    bucket->tail = is_empty ? member->tail : min_i64(bucket->tail, member->tail);
    bucket->events += member->events;
    bucket->kinds |= member->kind;
}

static int bucket_of(int64_t value, int64_t width)
{
    return (int)min_i64(max_i64(value, 0) / width, BUCKETS - 1);
}

static void lane_add(Lane *lane, const LaneScale *scale, Member member)
{
    add_to_bucket(&lane->by_head[bucket_of(member.head, scale->head_width)], &member);
    add_to_bucket(&lane->by_tail[bucket_of(member.tail, scale->tail_width)], &member);
}

/* Best subset of the members from one bucket on. */
static int64_t buckets_bound(const Bucket *buckets)
{
    int64_t best = 0, events = 0, head = INT64_MAX, tail = INT64_MAX;
    int kinds = 0;
    for (int i = BUCKETS; i-- > 0;) {
        if (buckets[i].events > 0) {
            events += buckets[i].events;
            head = min_i64(head, buckets[i].head);
            tail = min_i64(tail, buckets[i].tail);
            kinds |= buckets[i].kinds;
            int64_t gap = kinds == (KIND_READ | KIND_WRITE) ? SWITCH_EVENTS : 0;
            best = max_i64(best, head + events + gap + tail);
        }
    }
    return best;
}

static int64_t lane_bound(const Lane *lane)
{
    return max_i64(buckets_bound(lane->by_head), buckets_bound(lane->by_tail));
}

/* --- what takes part ------------------------------------------------------------------------------------ */

typedef struct TileUse {
    uint32_t read_groups, write_groups; /* exchange groups */
    int32_t send, receive, group; /* lanes; `group` is the first of its shared groups. -1: none */
} TileUse;

static uint32_t mask_of(uint32_t address, uint32_t words)
{
    if (!range_in_sram(address, 4 * words)) {
        return 0;
    }
    return groups_of(address, address + 4 * words);
}

/* Of longer loops only so many iterations are looked at: bounds get weaker and stay valid. */
enum { ITERATIONS_MAX = 1024 };

/* Groups that a source is read from in any iteration. */
static uint32_t source_mask(const ExchangeProblem *problem, const ExchangeTransfer *t)
{
    if (t->move == 0) {
        return mask_of(t->address, t->words);
    }
    uint32_t mask = 0;
    const int64_t count = min_i64(problem->moves.at[t->move].count, ITERATIONS_MAX);
    for (int32_t i = 0; i < count; i++) {
        mask |= mask_of(t->address + (uint32_t)move_offset(problem, t->move, i), t->words);
    }
    return mask;
}

static BoundTransfer transfer_facts(const ExchangeProblem *problem, const ExchangeTransfer *t)
{
    BoundTransfer out = {.may_pair = transfer_may_pair(problem, t)};
    const ExchangeReceiver *to = &problem->receivers.at[t->receiver_first];
    for (int32_t k = 0; k < t->receiver_count; k++) {
        out.release = (Event)max_i64(out.release, -time_to_mux(t->source, to[k].tile));
        out.travel = (Event)max_i64(out.travel, latency_of(t->source, to[k].tile));
    }
    return out;
}

/* Whole transfers, paired where they may be if `is_paired`. */
static BoundItemVec whole_items(const BoundPhase *phase, bool is_paired, Arena *arena)
{
    const int32_t count = phase->phase->transfer_count;
    BoundItemVec items = {arena_array(arena, BoundItem, count), count, count};
    for (int32_t i = 0; i < count; i++) {
        int32_t index = phase->phase->transfer_first + i;
        int32_t words = (int32_t)phase->problem->transfers.at[index].words;
        bool is_wide = is_paired && phase->transfers[i].may_pair;
        items.at[i] = (BoundItem){index, is_wide ? words / 2 : words, is_wide, 0, 0};
    }
    return items;
}

/* Messages [first, end) are the phase's. */
static BoundItemVec message_items(const ExchangeMessage *messages, isize count, Arena *arena)
{
    BoundItemVec items = {arena_array(arena, BoundItem, count), count, count};
    for (isize i = 0; i < count; i++) {
        const ExchangeMessage *m = &messages[i];
        int32_t events = (int32_t)(m->is_paired ? m->words / 2 : m->words);
        items.at[i] = (BoundItem){m->transfer, events, m->is_paired, 0, 0};
    }
    return items;
}

/* --- lanes ---------------------------------------------------------------------------------------------- */

typedef struct LaneSet {
    TileUse uses[CHIP_TILES];
    Lane *lanes;
    int32_t lane_count;
    LaneScale scale;
} LaneSet;

static const ExchangeTransfer *transfer_of(const BoundPhase *phase, const BoundItem *item)
{
    return &phase->problem->transfers.at[item->transfer];
}

static LaneSet *lanes_build(const BoundPhase *phase, const BoundItemVec *items, Arena *arena)
{
    LaneSet *set = arena_new(arena, LaneSet);
    int64_t head = 0, tail = 0;
    for (isize i = 0; i < items->len; i++) {
        const BoundItem *item = &items->at[i];
        const ExchangeTransfer *t = transfer_of(phase, item);
        const ExchangeReceiver *to = &phase->problem->receivers.at[t->receiver_first];
        set->uses[t->source.id].send = 1;
        if (item->is_paired) {
            set->uses[partner_of(t->source).id].send = 1;
        }
        set->uses[t->source.id].read_groups |= source_mask(phase->problem, t);
        for (int32_t k = 0; k < t->receiver_count; k++) {
            set->uses[to[k].tile.id].receive = 1;
            set->uses[to[k].tile.id].write_groups |= mask_of(to[k].address, t->words);
        }
        head = max_i64(head, item->head);
        tail = max_i64(tail, item->tail);
    }
    for (int i = 0; i < CHIP_TILES; i++) {
        TileUse *use = &set->uses[i];
        int shared = __builtin_popcount(use->read_groups & use->write_groups);
        use->send = use->send != 0 ? set->lane_count++ : -1;
        use->receive = use->receive != 0 ? set->lane_count++ : -1;
        use->group = set->lane_count;
        set->lane_count += shared;
    }
    set->lanes = arena_array(arena, Lane, set->lane_count);
    /* Heads at a receiver lie up to its row's pointer delay behind those of the sender. */
    set->scale = (LaneScale){1 + (head + 256) / BUCKETS, 1 + tail / BUCKETS};
    return set;
}

/* Does one iteration's source lie in one group? A range over several may be cut, and only a part then excludes others. */
static bool is_in_one_group(const ExchangeTransfer *t, uint32_t address)
{
    uint32_t mask = mask_of(address, t->words);
    return (mask & (mask - 1)) == 0;
}

static bool source_is_in_one_group(const ExchangeProblem *problem, const ExchangeTransfer *t)
{
    int32_t count = t->move == 0 ? 1 : problem->moves.at[t->move].count;
    if (count > ITERATIONS_MAX) {
        return false;
    }
    for (int32_t i = 0; i < count; i++) {
        if (!is_in_one_group(t, t->address + (uint32_t)move_offset(problem, t->move, i))) {
            return false;
        }
    }
    return true;
}

/* Adds an access to the lanes of those groups of a tile that are both read and written. */
static void add_to_groups(LaneSet *set, const TileUse *use, uint32_t mask, Member member)
{
    uint32_t shared = use->read_groups & use->write_groups;
    for (uint32_t left = shared & mask; left != 0; left &= left - 1) {
        uint32_t below = (left & -left) - 1;
        lane_add(&set->lanes[use->group + __builtin_popcount(shared & below)], &set->scale, member);
    }
}

static void add_item(LaneSet *set, const BoundPhase *phase, const BoundItem *item)
{
    const ExchangeProblem *problem = phase->problem;
    const ExchangeTransfer *t = transfer_of(phase, item);
    const ExchangeReceiver *to = &problem->receivers.at[t->receiver_first];
    const TileUse *from = &set->uses[t->source.id];
    const Member read = {KIND_READ, item->head, item->events, item->tail};
    lane_add(&set->lanes[from->send], &set->scale, read);
    if (item->is_paired) {
        lane_add(&set->lanes[set->uses[partner_of(t->source).id].send], &set->scale, read);
    }
    if ((from->read_groups & from->write_groups) != 0 && source_is_in_one_group(problem, t)) {
        add_to_groups(set, from, source_mask(problem, t), read);
    }
    for (int32_t k = 0; k < t->receiver_count; k++) {
        const TileUse *use = &set->uses[to[k].tile.id];
        Event source = source_delay(t->source, to[k].tile, item->is_paired);
        lane_add(&set->lanes[use->receive], &set->scale,
                 (Member){KIND_WRITE, item->head + source, item->events, item->tail - source});
        if ((use->read_groups & use->write_groups) != 0 && is_in_one_group(t, to[k].address)) {
            Event store = source + store_delay(to[k].tile, item->is_paired);
            add_to_groups(
                set, use, mask_of(to[k].address, t->words),
                (Member){KIND_WRITE, item->head + store, item->events, item->tail - store});
        }
    }
}

static void take_larger(ExchangeBound *best, int64_t events, BoundKind kind, int tile)
{
    if (events > best->events) {
        *best = (ExchangeBound){(Event)min_i64(events, INT32_MAX), kind, {(uint16_t)tile}};
    }
}

/* `is_chain`: heads and tails hold S6, so what is gained over the plain lanes is due to it. */
static void lanes_bound(const BoundPhase *phase, const BoundItemVec *items, bool is_chain,
                        Arena scratch, ExchangeBound *best)
{
    LaneSet *set = lanes_build(phase, items, &scratch);
    for (isize i = 0; i < items->len; i++) {
        add_item(set, phase, &items->at[i]);
    }
    for (int i = 0; i < CHIP_TILES; i++) {
        const TileUse *use = &set->uses[i];
        if (use->receive >= 0) {
            take_larger(best, lane_bound(&set->lanes[use->receive]),
                        is_chain ? BOUND_CHAIN : BOUND_RECEIVE, i);
        }
        if (use->send >= 0) {
            take_larger(best, lane_bound(&set->lanes[use->send]),
                        is_chain ? BOUND_CHAIN : BOUND_SEND, i);
        }
        int shared = __builtin_popcount(use->read_groups & use->write_groups);
        for (int k = 0; k < shared; k++) {
            take_larger(best, lane_bound(&set->lanes[use->group + k]),
                        is_chain ? BOUND_CHAIN : BOUND_CLIQUE, i);
        }
    }
}

static ExchangeBound items_bound(const BoundPhase *phase, const BoundItemVec *items, Arena scratch)
{
    ExchangeBound best = {0};
    for (isize i = 0; i < items->len; i++) {
        const BoundTransfer *facts =
            &phase->transfers[items->at[i].transfer - phase->phase->transfer_first];
        items->at[i].head = facts->release;
        items->at[i].tail = facts->travel + FABRIC_ROW_MARGIN;
    }
    lanes_bound(phase, items, false, scratch, &best);
    PhysTile tile = {0};
    int64_t events = issue_bound(phase, items->at, items->len, best.events, scratch, &tile);
    take_larger(&best, events, BOUND_ISSUE, tile.id);
    if (phase->has_dependencies) {
        events = chain_apply(phase, items->at, items->len, scratch, &tile);
        take_larger(&best, events, BOUND_CHAIN, tile.id);
        lanes_bound(phase, items, true, scratch, &best);
    }
    events = multicast_bound(phase, items->at, items->len, best.events, scratch, &tile);
    take_larger(&best, events, BOUND_MULTICAST, tile.id);
    return best;
}

/* --- phases --------------------------------------------------------------------------------------------- */

static void find_loads(const BoundPhase *phase, Arena scratch, ExchangeBounds *out)
{
    int64_t *sent = arena_array(&scratch, int64_t, CHIP_TILES);
    int64_t *received = arena_array(&scratch, int64_t, CHIP_TILES);
    for (int32_t i = 0; i < phase->phase->transfer_count; i++) {
        const ExchangeTransfer *t = &phase->problem->transfers.at[phase->phase->transfer_first + i];
        sent[t->source.id] += t->words;
        for (int32_t k = 0; k < t->receiver_count; k++) {
            received[phase->problem->receivers.at[t->receiver_first + k].tile.id] += t->words;
        }
    }
    for (int i = 0; i < CHIP_TILES; i++) {
        out->send_words_max = max_i64(out->send_words_max, sent[i]);
        out->receive_words_max = max_i64(out->receive_words_max, received[i]);
    }
}

/* Messages of a phase: they are sorted by transfer. */
static isize first_message(const ExchangeMessageVec *messages, int32_t transfer)
{
    isize low = 0, high = messages->len;
    while (low < high) {
        isize middle = low + (high - low) / 2;
        if (messages->at[middle].transfer < transfer) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void phase_bounds(const ExchangeProblem *problem, const ExchangePhase *phase,
                         const ExchangeMessageVec *messages, Arena scratch, ExchangeBounds *out)
{
    if (messages == NULL) {
        *out = (ExchangeBounds){0};
    }
    if (phase->transfer_count == 0) {
        return;
    }
    BoundTransfer *facts = arena_array(&scratch, BoundTransfer, phase->transfer_count);
    bool is_pairable = false;
    for (int32_t i = 0; i < phase->transfer_count; i++) {
        facts[i] = transfer_facts(problem, &problem->transfers.at[phase->transfer_first + i]);
        is_pairable = is_pairable || facts[i].may_pair;
    }
    BoundPhase bound = {problem, phase, facts, chain_is_needed(problem, phase, scratch)};
    if (messages != NULL) {
        isize first = first_message(messages, phase->transfer_first);
        isize end = first_message(messages, phase->transfer_first + phase->transfer_count);
        BoundItemVec items = message_items(&messages->at[first], end - first, &scratch);
        out->chosen = items_bound(&bound, &items, scratch);
        return;
    }
    find_loads(&bound, scratch, out);
    BoundItemVec items = whole_items(&bound, false, &scratch);
    out->ordinary = items_bound(&bound, &items, scratch);
    out->chosen = out->paired = out->ordinary;
    if (is_pairable) {
        items = whole_items(&bound, true, &scratch);
        out->paired = items_bound(&bound, &items, scratch);
    }
}

typedef struct BoundsJob {
    const ExchangeProblem *problem;
    const ExchangeMessageVec *messages;
    Arena *scratch; /* per worker */
    ExchangeBounds *out;
} BoundsJob;

static void bound_phase(void *context, isize index, int worker)
{
    const BoundsJob *job = context;
    phase_bounds(job->problem, &job->problem->phases.at[index], job->messages, job->scratch[worker],
                 &job->out[index]);
}

void exchange_bounds(const ExchangeProblem *problem, const ExchangeMessageVec *messages,
                     int threads, Arena scratch, ExchangeBounds *out)
{
    threads = (int)max_i64(1, min_i64(threads, problem->phases.len));
    Arena *workers = arena_array(&scratch, Arena, threads);
    const isize share = (scratch.end - scratch.at) / (threads + 1);
    for (int i = 0; i < threads; i++) {
        workers[i] = arena_split(&scratch, share);
    }
    BoundsJob job = {problem, messages, workers, out};
    parallel_for(threads, problem->phases.len, 1, bound_phase, &job);
}
