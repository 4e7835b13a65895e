/* Which transfers of a phase wait for which (exchange-scheduling.md 1, S6; exchange.md 9, X12).
 *
 * Accesses of all transfers are sorted by tile and address. Where a written range overlaps another, the accesses that hang
 * together form a cluster; its bytes are cut at every boundary, and each stretch remembers, in list order, its last writer
 * and the readers since. Sources that move count with all their iterations.
 */
#include "exchange/phase.h"

enum { WORK_MAX = 1 << 28 }; /* steps over stretches; clusters that need more are refused */

typedef struct Access {
    uint32_t begin, end;
    int32_t transfer; /* relative to the phase */
    uint16_t tile;
    bool is_write;
} Access;
VEC(Access);

typedef struct Edge {
    int32_t from, to;
} Edge;
VEC(Edge);

/* A reader in the list of a stretch. */
typedef struct Reader {
    int32_t transfer, next;
} Reader;
VEC(Reader);

typedef struct Stretch {
    int32_t writer; /* 1 + transfer; 0: none */
    int32_t reader; /* 1 + index of Reader; 0: none */
} Stretch;

typedef struct Search {
    AccessVec accesses;
    EdgeVec edges;
    Arena *edge_arena;
    int64_t work;
} Search;

static void add_access(Search *s, Arena *arena, PhysTile tile, uint32_t address, uint32_t words,
                       int32_t transfer, bool is_write)
{
    *vec_push(&s->accesses, arena) =
        (Access){address, address + 4 * words, transfer, tile.id, is_write};
}

static void add_edge(Search *s, int32_t from, int32_t to)
{
    if (from != to && (s->edges.len == 0 || s->edges.at[s->edges.len - 1].from != from ||
                       s->edges.at[s->edges.len - 1].to != to)) {
        *vec_push(&s->edges, s->edge_arena) = (Edge){from, to};
    }
}

static isize stretch_at(const uint32_t *bounds, isize count, uint32_t address)
{
    isize low = 0, high = count;
    while (low < high) {
        isize middle = (low + high) / 2;
        if (bounds[middle] >= address) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

/* Edges among accesses order[0 .. count), which hang together on one tile. */
static bool follow_cluster(Search *s, const SortKey *order, isize count, Arena scratch)
{
    SortKey *keys = arena_array(&scratch, SortKey, 2 * count);
    for (isize i = 0; i < count; i++) {
        const Access *access = &s->accesses.at[order[i].payload];
        keys[2 * i] = (SortKey){access->begin, 0};
        keys[2 * i + 1] = (SortKey){access->end, 0};
    }
    sort_keys(keys, 2 * count, scratch);
    uint32_t *bounds = arena_array(&scratch, uint32_t, 2 * count);
    isize bound_count = 0;
    for (isize i = 0; i < 2 * count; i++) {
        if (bound_count == 0 || bounds[bound_count - 1] != keys[i].key) {
            bounds[bound_count++] = (uint32_t)keys[i].key;
        }
    }
    for (isize i = 0; i < count; i++) { /* list order; reads of a transfer before its writes */
        const Access *access = &s->accesses.at[order[i].payload];
        keys[i] = (SortKey){(uint64_t)access->transfer << 1 | (access->is_write ? 1 : 0),
                            order[i].payload};
    }
    sort_keys(keys, count, scratch);
    Stretch *stretches = arena_array(&scratch, Stretch, bound_count);
    ReaderVec readers = {0};
    for (isize i = 0; i < count; i++) {
        const Access *access = &s->accesses.at[keys[i].payload];
        isize at = stretch_at(bounds, bound_count, access->begin);
        for (; at + 1 < bound_count && bounds[at] < access->end; at++) {
            Stretch *stretch = &stretches[at];
            s->work++;
            if (stretch->writer != 0) {
                add_edge(s, stretch->writer - 1, access->transfer);
            }
            if (access->is_write) {
                for (int32_t r = stretch->reader; r != 0; r = readers.at[r - 1].next) {
                    add_edge(s, readers.at[r - 1].transfer, access->transfer);
                    s->work++;
                }
                *stretch = (Stretch){access->transfer + 1, 0};
            } else {
                *vec_push(&readers, &scratch) = (Reader){access->transfer, stretch->reader};
                stretch->reader = (int32_t)readers.len;
            }
        }
        if (s->work > WORK_MAX) {
            return false;
        }
    }
    return true;
}

/* Sweeps over all accesses by (tile, begin) and follows every cluster in which something is written twice, or read too. */
static bool follow_clusters(Search *s, Arena scratch)
{
    isize count = s->accesses.len;
    SortKey *order = arena_array(&scratch, SortKey, count);
    for (isize i = 0; i < count; i++) {
        const Access *access = &s->accesses.at[i];
        order[i] = (SortKey){(uint64_t)access->tile << 32 | access->begin, (uint32_t)i};
    }
    sort_keys(order, count, scratch);
    isize first = 0;
    uint32_t end = 0;
    bool has_write = false;
    for (isize i = 0; i <= count; i++) {
        const Access *access = i < count ? &s->accesses.at[order[i].payload] : NULL;
        const Access *head = &s->accesses.at[order[first].payload];
        if (i > first && (access == NULL || access->tile != head->tile || access->begin >= end)) {
            if (i - first > 1 && has_write &&
                !follow_cluster(s, &order[first], i - first, scratch)) {
                return false;
            }
            first = i;
            end = 0;
            has_write = false;
        }
        if (access != NULL) {
            end = access->end > end ? access->end : end;
            has_write |= access->is_write;
        }
    }
    return true;
}

bool depends_build(const ExchangeProblem *problem, int32_t index, Arena *keep, Arena scratch,
                   Depends *out, Error *err)
{
    const ExchangePhase *phase = &problem->phases.at[index];
    *out = (Depends){0};
    Arena edges = arena_split(&scratch, (scratch.end - scratch.at) / 3);
    Search search = {.edge_arena = &edges};
    isize access_count = 0;
    for (int32_t i = 0; i < phase->transfer_count; i++) {
        const ExchangeTransfer *t = &problem->transfers.at[phase->transfer_first + i];
        access_count += t->receiver_count + (t->move == 0 ? 1 : problem->moves.at[t->move].count);
    }
    search.accesses = (AccessVec){arena_array(&scratch, Access, access_count), 0, access_count};
    for (int32_t i = 0; i < phase->transfer_count; i++) {
        const ExchangeTransfer *t = &problem->transfers.at[phase->transfer_first + i];
        int32_t iterations = t->move == 0 ? 1 : problem->moves.at[t->move].count;
        for (int32_t k = 0; k < iterations; k++) {
            uint32_t address = t->address + (uint32_t)move_offset(problem, t->move, k);
            add_access(&search, &scratch, t->source, address, t->words, i, false);
        }
        for (int32_t k = 0; k < t->receiver_count; k++) {
            const ExchangeReceiver *to = &problem->receivers.at[t->receiver_first + k];
            add_access(&search, &scratch, to->tile, to->address, t->words, i, true);
        }
    }
    if (search.accesses.len > 0 && !follow_clusters(&search, scratch)) {
        return error_set(err, ERROR_INPUT, NULL,
                         "S6: phase %d: too many overlaps between its transfers to follow", index);
    }
    if (search.edges.len == 0) {
        return true;
    }
    out->pred_first = arena_array(keep, int32_t, phase->transfer_count + 1);
    out->preds = arena_array(keep, int32_t, search.edges.len);
    for (isize i = 0; i < search.edges.len; i++) {
        out->pred_first[search.edges.at[i].to + 1]++;
    }
    for (int32_t i = 0; i < phase->transfer_count; i++) {
        out->pred_first[i + 1] += out->pred_first[i];
    }
    int32_t *next = arena_array(&scratch, int32_t, phase->transfer_count);
    for (isize i = 0; i < search.edges.len; i++) {
        const Edge *edge = &search.edges.at[i];
        out->preds[out->pred_first[edge->to] + next[edge->to]++] = edge->from;
    }
    return true;
}
