/* Bounds by dependencies (S6): where two transfers of a phase touch the same bytes of a tile and one of them writes, the later one in
 * list order starts behind the completion of the earlier one, which is at least its start + items + largest D.
 *
 * Bytes that are read where they were written lie in one memory group, so by S7 the read begins no earlier than 5 + 8 events behind
 * their last store on that tile. Where a range lies in several groups its transfer may be cut so that the last store, or the first
 * read, is in another group than the common bytes: only ranges in one group count.
 *
 * The last transfers that touched a byte are kept per tile as maxima over address intervals, in one tree over all tiles, so
 * the work is O(log n) an access whatever overlaps. A second rule for gathering: what a tile sends may wait for many receives; those
 * share its receive lane, so the start is no earlier than the first of their stores + an event a word (two words when paired).
 */
#include "exchange/bounds.h"

enum {
    RANGES_MAX = 32 * 1000 * 1000,
    WORDS_64 = (SRAM_WORDS + 63) / 64,
    FORWARD_EVENTS = 13, /* from the last store to the read of it */
};

/* --- is anything forwarded? ----------------------------------------------------------------------------- */

/* Bits for the words of one tile's SRAM; NULL until one is set. */
typedef uint64_t *TileWords;

/* The part of 64 bits `index` that words [first, end) cover. */
static uint64_t mask_in(uint32_t index, uint32_t first, uint32_t end)
{
    uint64_t from = first > index * 64 ? ~0ull << (first - index * 64) : ~0ull;
    uint64_t to = end < index * 64 + 64 ? ~(~0ull << (end - index * 64)) : ~0ull;
    return from & to;
}

static int64_t words_set(TileWords words, uint32_t first, uint32_t count)
{
    int64_t sum = 0;
    for (uint32_t i = first / 64; words != NULL && i * 64 < first + count; i++) {
        sum += __builtin_popcountll(words[i] & mask_in(i, first, first + count));
    }
    return sum;
}

/* True if one of them was set before. */
static bool set_words(TileWords *words, uint32_t first, uint32_t count, Arena *arena)
{
    uint64_t before = 0;
    if (*words == NULL) {
        *words = arena_array(arena, uint64_t, WORDS_64);
    }
    for (uint32_t i = first / 64; i * 64 < first + count; i++) {
        uint64_t mask = mask_in(i, first, first + count);
        before |= (*words)[i] & mask;
        (*words)[i] |= mask;
    }
    return before != 0;
}

/* Iterations whose source ranges are looked at: all, unless there are too many altogether. Fewer make the bound weaker. */
static int32_t iterations_of(const ExchangeProblem *problem, const ExchangePhase *phase,
                             const ExchangeTransfer *t)
{
    int64_t count = t->move == 0 ? 1 : problem->moves.at[t->move].count;
    return (int32_t)max_i64(1, min_i64(count, RANGES_MAX / phase->transfer_count));
}

/* First word of the source in iteration i, or -1 outside SRAM. */
static int64_t source_word(const ExchangeProblem *problem, const ExchangeTransfer *t, int32_t i)
{
    uint32_t address = t->address + (uint32_t)move_offset(problem, t->move, i);
    return range_in_sram(address, 4 * t->words) ? (int64_t)(address - SRAM_BASE) / 4 : -1;
}

static int64_t receiver_word(const ExchangeReceiver *to, uint32_t words)
{
    return range_in_sram(to->address, 4 * words) ? (int64_t)(to->address - SRAM_BASE) / 4 : -1;
}

bool chain_is_needed(const ExchangeProblem *problem, const ExchangePhase *phase, Arena scratch)
{
    TileWords *written = arena_array(&scratch, TileWords, CHIP_TILES);
    const int32_t end = phase->transfer_first + phase->transfer_count;
    bool is_needed = false;
    for (int32_t i = phase->transfer_first; i < end; i++) {
        const ExchangeTransfer *t = &problem->transfers.at[i];
        for (int32_t k = 0; k < t->receiver_count; k++) {
            const ExchangeReceiver *to = &problem->receivers.at[t->receiver_first + k];
            int64_t word = receiver_word(to, t->words);
            if (word >= 0) {
                is_needed |= set_words(&written[to->tile.id], (uint32_t)word, t->words, &scratch);
            }
        }
    }
    for (int32_t i = phase->transfer_first; i < end && !is_needed; i++) {
        const ExchangeTransfer *t = &problem->transfers.at[i];
        const int32_t iterations = iterations_of(problem, phase, t);
        for (int32_t k = 0; k < iterations && written[t->source.id] != NULL; k++) {
            int64_t word = source_word(problem, t, k);
            is_needed |=
                word >= 0 && words_set(written[t->source.id], (uint32_t)word, t->words) > 0;
        }
    }
    return is_needed;
}

/* --- maxima over intervals ------------------------------------------------------------------------------ */

/* Values over leaves 0..count-1: a range is raised to a value, and the largest value in a range is asked for. */
typedef struct MaxTree {
    int64_t *whole; /* raised over all leaves of the node */
    int64_t *any;   /* largest value somewhere below the node */
    isize count;
} MaxTree;

static MaxTree tree_build(isize count, Arena *arena)
{
    MaxTree tree = {arena_array(arena, int64_t, 2 * count), arena_array(arena, int64_t, 2 * count),
                    count};
    for (isize i = 0; i < 2 * count; i++) {
        tree.whole[i] = tree.any[i] = INT64_MIN;
    }
    return tree;
}

static void tree_raise(MaxTree *tree, isize first, isize end, int64_t value)
{
    isize low = first + tree->count, high = end + tree->count;
    for (isize a = low, b = high; a < b; a /= 2, b /= 2) {
        if (a % 2 == 1) {
            tree->whole[a] = max_i64(tree->whole[a], value);
            tree->any[a] = max_i64(tree->any[a], value);
            a++;
        }
        if (b % 2 == 1) {
            b--;
            tree->whole[b] = max_i64(tree->whole[b], value);
            tree->any[b] = max_i64(tree->any[b], value);
        }
    }
    for (isize a = low / 2, b = (high - 1) / 2; b > 0; a /= 2, b /= 2) {
        if (a > 0) {
            tree->any[a] = max_i64(tree->any[a], value);
        }
        tree->any[b] = max_i64(tree->any[b], value);
    }
}

static int64_t tree_largest(const MaxTree *tree, isize first, isize end)
{
    int64_t largest = INT64_MIN;
    isize low = first + tree->count, high = end + tree->count;
    for (isize a = low, b = high; a < b; a /= 2, b /= 2) {
        if (a % 2 == 1) {
            largest = max_i64(largest, tree->any[a++]);
        }
        if (b % 2 == 1) {
            largest = max_i64(largest, tree->any[--b]);
        }
    }
    for (isize a = low / 2, b = (high - 1) / 2; b > 0; a /= 2, b /= 2) {
        largest = max_i64(largest, max_i64(a > 0 ? tree->whole[a] : INT64_MIN, tree->whole[b]));
    }
    return largest;
}

/* --- accesses ------------------------------------------------------------------------------------------- */

/* Words [first, end) of a tile that a transfer reads or writes; first_leaf..end_leaf in the trees. */
typedef struct Access {
    uint16_t tile;
    bool is_write, is_in_one_group;
    int32_t receiver; /* of a write */
    uint32_t first, end;
    int32_t first_leaf, end_leaf;
} Access;
VEC(Access);

typedef struct Chain {
    const BoundPhase *phase;
    AccessVec accesses;
    isize *access_first; /* per transfer of the phase, and one more */
    isize leaf_count;
    Arena *arena;
} Chain;

static void add_access(Chain *chain, uint16_t tile, int64_t word, uint32_t words, int32_t receiver)
{
    if (word >= 0) {
        *vec_push(&chain->accesses, chain->arena) =
            (Access){.tile = tile,
                     .is_write = receiver >= 0,
                     .is_in_one_group = group_of(SRAM_BASE + 4 * (uint32_t)word) ==
                                        group_of(SRAM_BASE + 4 * ((uint32_t)word + words - 1)),
                     .receiver = receiver,
                     .first = (uint32_t)word,
                     .end = (uint32_t)word + words};
    }
}

/* Leaves are the stretches between neighbouring ends of accesses of a tile. */
static void number_leaves(Chain *chain, Arena scratch)
{
    const isize count = 2 * chain->accesses.len;
    SortKey *ends = arena_array(&scratch, SortKey, count);
    for (isize i = 0; i < count; i++) {
        const Access *a = &chain->accesses.at[i / 2];
        ends[i] =
            (SortKey){(uint64_t)a->tile << 32 | (i % 2 == 0 ? a->first : a->end), (uint32_t)i};
    }
    sort_keys(ends, count, scratch);
    int32_t leaf = 0;
    for (isize i = 0; i < count; i++) {
        leaf += i > 0 && ends[i].key != ends[i - 1].key;
        Access *a = &chain->accesses.at[ends[i].payload / 2];
        *(ends[i].payload % 2 == 0 ? &a->first_leaf : &a->end_leaf) = leaf;
    }
    chain->leaf_count = leaf + 1;
}

static void collect_accesses(Chain *chain, Arena scratch)
{
    const ExchangeProblem *problem = chain->phase->problem;
    const ExchangePhase *phase = chain->phase->phase;
    chain->access_first = arena_array(chain->arena, isize, phase->transfer_count + 1);
    for (int32_t i = 0; i < phase->transfer_count; i++) {
        const ExchangeTransfer *t = &problem->transfers.at[phase->transfer_first + i];
        const int32_t iterations = iterations_of(problem, phase, t);
        chain->access_first[i] = chain->accesses.len;
        for (int32_t k = 0; k < iterations; k++) {
            add_access(chain, t->source.id, source_word(problem, t, k), t->words, -1);
        }
        for (int32_t k = 0; k < t->receiver_count; k++) {
            const ExchangeReceiver *to = &problem->receivers.at[t->receiver_first + k];
            add_access(chain, to->tile.id, receiver_word(to, t->words), t->words, k);
        }
    }
    chain->access_first[phase->transfer_count] = chain->accesses.len;
    number_leaves(chain, scratch);
}

/* --- heads and tails ------------------------------------------------------------------------------------ */

/* Items of one transfer as one: the stretches of a cut one share its sender's lane. */
typedef struct Link {
    isize item_first, item_end;
    int64_t events;
    bool is_paired; /* one of them is */
    int64_t head, tail;
} Link;

typedef struct Trees {
    /* Completion of the transfers that touched these words; for tails, what follows the start of those that will. */
    MaxTree written, read;
    /* Of ranges in one group: end of the payloads of these words; for tails, what follows the start of their reads. */
    MaxTree forwarded;
    MaxTree stored; /* minus the first event at which a word of the range is stored */
    TileWords *ordinary, *paired;
} Trees;

static const ExchangeTransfer *transfer_at(const Chain *chain, int32_t index)
{
    return &chain->phase->problem->transfers.at[chain->phase->phase->transfer_first + index];
}

static int64_t later(int64_t value, int64_t delay)
{
    return value == INT64_MIN ? value : value + delay;
}

/* Earliest start behind the earlier transfers that an access waits for; INT64_MIN: none. */
static int64_t start_behind(const Trees *trees, const Access *a)
{
    int64_t start = tree_largest(&trees->written, a->first_leaf, a->end_leaf);
    if (a->is_write) {
        return max_i64(start, tree_largest(&trees->read, a->first_leaf, a->end_leaf));
    }
    int64_t stored = tree_largest(&trees->forwarded, a->first_leaf, a->end_leaf);
    return a->is_in_one_group ? max_i64(start, later(stored, FORWARD_EVENTS)) : start;
}

/* Least number of events from the end of a transfer's send to the horizon, by the later transfers that wait for an access. */
static int64_t tail_before(const Chain *chain, const Trees *trees, int32_t index, const Access *a)
{
    const Event travel = chain->phase->transfers[index].travel;
    int64_t tail = later(tree_largest(&trees->written, a->first_leaf, a->end_leaf), travel);
    if (a->is_write) {
        tail = max_i64(tail, later(tree_largest(&trees->read, a->first_leaf, a->end_leaf), travel));
    }
    if (a->is_write && a->is_in_one_group) {
        Event stored = latency_of(transfer_at(chain, index)->source, (PhysTile){a->tile});
        tail = max_i64(tail, later(tree_largest(&trees->forwarded, a->first_leaf, a->end_leaf),
                                   stored + FORWARD_EVENTS));
    }
    return tail;
}

/* When the receives that a source waits for can all have been stored. */
static int64_t gathered(const Chain *chain, const Trees *trees, int32_t index)
{
    int64_t latest = INT64_MIN;
    for (isize i = chain->access_first[index]; i < chain->access_first[index + 1]; i++) {
        const Access *a = &chain->accesses.at[i];
        int64_t first =
            a->is_write ? INT64_MIN : tree_largest(&trees->stored, a->first_leaf, a->end_leaf);
        if (first != INT64_MIN) {
            int64_t wide = words_set(trees->paired[a->tile], a->first, a->end - a->first);
            int64_t events =
                words_set(trees->ordinary[a->tile], a->first, a->end - a->first) + (wide + 1) / 2;
            latest = max_i64(latest, -first + events + (a->is_in_one_group ? FORWARD_EVENTS : 0));
        }
    }
    return latest;
}

static void note_completion(const Chain *chain, Trees *trees, int32_t index, int64_t value)
{
    for (isize i = chain->access_first[index]; i < chain->access_first[index + 1]; i++) {
        const Access *a = &chain->accesses.at[i];
        tree_raise(a->is_write ? &trees->written : &trees->read, a->first_leaf, a->end_leaf, value);
    }
}

static void note_stores(Chain *chain, Trees *trees, int32_t index, const Link *link)
{
    const ExchangeTransfer *t = transfer_at(chain, index);
    for (isize i = chain->access_first[index]; i < chain->access_first[index + 1]; i++) {
        const Access *a = &chain->accesses.at[i];
        if (a->is_write) {
            PhysTile to = {a->tile};
            /* Of stretches of both widths: the earlier store, and two words an event. */
            int64_t delay = source_delay(t->source, to, link->is_paired) + store_delay(to, false);
            tree_raise(&trees->stored, a->first_leaf, a->end_leaf, -(link->head + delay));
            if (a->is_in_one_group) {
                tree_raise(&trees->forwarded, a->first_leaf, a->end_leaf,
                           link->head + link->events + delay);
            }
            (void)set_words(link->is_paired ? &trees->paired[a->tile] : &trees->ordinary[a->tile],
                            a->first, a->end - a->first, chain->arena);
        }
    }
}

static Trees trees_build(isize leaf_count, Arena *arena)
{
    return (Trees){tree_build(leaf_count, arena),
                   tree_build(leaf_count, arena),
                   tree_build(leaf_count, arena),
                   tree_build(leaf_count, arena),
                   arena_array(arena, TileWords, CHIP_TILES),
                   arena_array(arena, TileWords, CHIP_TILES)};
}

static Link *links_build(const BoundPhase *phase, const BoundItem *items, isize count, Arena *arena)
{
    Link *links = arena_array(arena, Link, phase->phase->transfer_count);
    for (isize i = 0; i < count; i++) {
        Link *link = &links[items[i].transfer - phase->phase->transfer_first];
        bool is_first = link->events == 0;
        link->item_first = is_first ? i : link->item_first;
        link->item_end = i + 1;
        link->events += items[i].events;
        link->is_paired = link->is_paired || items[i].is_paired;
        link->head = is_first ? items[i].head : min_i64(link->head, items[i].head);
        link->tail = is_first ? items[i].tail : min_i64(link->tail, items[i].tail);
    }
    return links;
}

static void raise_heads(Chain *chain, Link *links, Arena scratch)
{
    Trees trees = trees_build(chain->leaf_count, &scratch);
    Arena *kept = chain->arena;
    chain->arena = &scratch;
    for (int32_t i = 0; i < chain->phase->phase->transfer_count; i++) {
        Link *link = &links[i];
        for (isize k = chain->access_first[i]; k < chain->access_first[i + 1]; k++) {
            link->head = max_i64(link->head, start_behind(&trees, &chain->accesses.at[k]));
        }
        link->head = max_i64(link->head, gathered(chain, &trees, i));
        note_completion(chain, &trees, i,
                        link->head + link->events + chain->phase->transfers[i].travel);
        note_stores(chain, &trees, i, link);
    }
    chain->arena = kept;
}

static void raise_tails(const Chain *chain, Link *links, Arena scratch)
{
    Trees trees = trees_build(chain->leaf_count, &scratch);
    for (int32_t i = chain->phase->phase->transfer_count; i-- > 0;) {
        Link *link = &links[i];
        for (isize k = chain->access_first[i]; k < chain->access_first[i + 1]; k++) {
            link->tail = max_i64(link->tail, tail_before(chain, &trees, i, &chain->accesses.at[k]));
        }
        note_completion(chain, &trees, i, link->events + link->tail);
        for (isize k = chain->access_first[i]; k < chain->access_first[i + 1]; k++) {
            const Access *a = &chain->accesses.at[k];
            if (!a->is_write && a->is_in_one_group) {
                tree_raise(&trees.forwarded, a->first_leaf, a->end_leaf, link->events + link->tail);
            }
        }
    }
}

int64_t chain_apply(const BoundPhase *phase, BoundItem *items, isize count, Arena scratch,
                    PhysTile *tile)
{
    Chain chain = {.phase = phase, .arena = &scratch};
    Arena sorting = arena_split(&scratch, (scratch.end - scratch.at) / 2);
    collect_accesses(&chain, sorting);
    Link *links = links_build(phase, items, count, &scratch);
    raise_heads(&chain, links, scratch);
    raise_tails(&chain, links, scratch);
    int64_t longest = 0;
    for (int32_t i = 0; i < phase->phase->transfer_count; i++) {
        const Link *link = &links[i];
        if (link->head + link->events + link->tail > longest) {
            longest = link->head + link->events + link->tail;
            *tile = phase->problem->receivers.at[transfer_at(&chain, i)->receiver_first].tile;
        }
        for (isize k = link->item_first; k < link->item_end; k++) {
            items[k].head = max_i64(items[k].head, link->head);
            items[k].tail = max_i64(items[k].tail, link->tail);
        }
    }
    return longest;
}
