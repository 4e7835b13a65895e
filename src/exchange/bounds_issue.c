/* The issue bound: a tile's row needs an event for everything that it does (exchange.md 3.1, 4.1; S4, S5).
 *
 * All control events of a tile are distinct, except one ordinary XPIC + one pointer, and lie in 1 .. row end. None is at the start t or at
 * t + 1 of one of its own sends. Of N sends, of which N1 have one item, the events t + 1 are N different ones inside the
 * row; an event t is one of those only if a send of one item ended there, and may be event 0 once; so at least 2N - N1 - 1 events are
 * closed to controls:
 *
 *   row end >= controls + max(N, 2N - N1 - 1)
 *
 * Controls that no schedule avoids: an ordinary XPIC for every different source and one neutral at the end of the last
 * window; for paired messages the same on the member that is early, and a format on and off on both; a pointer for every message
 * whose destination does not continue another received one. Cutting a transfer only adds sends.
 */
#include "exchange/bounds.h"

typedef struct RowLoad {
    int64_t receives, sends, long_sends; /* long: more than one item */
    bool is_candidate;
} RowLoad;

/* A received message of a candidate. */
typedef struct Arrival {
    uint16_t tile, source;
    uint8_t is_paired, is_early;
    uint32_t begin, end;
} Arrival;
VEC(Arrival);

static int64_t blocked_events(const RowLoad *load)
{
    return max_i64(load->sends, load->sends + load->long_sends - 1);
}

/* Largest number of controls that `receives` messages could ask for. */
static int64_t controls_max(const RowLoad *load)
{
    return 2 * load->receives + 4;
}

static int compare_sources(const void *a, const void *b, const void *context)
{
    const Arrival *x = a, *y = b;
    (void)context;
    if (x->tile != y->tile) {
        return x->tile < y->tile ? -1 : 1;
    }
    if (x->is_paired != y->is_paired) {
        return x->is_paired < y->is_paired ? -1 : 1;
    }
    return x->source == y->source ? 0 : (x->source < y->source ? -1 : 1);
}

static int compare_addresses(const void *a, const void *b, const void *context)
{
    const uint32_t *x = a, *y = b;
    (void)context;
    return *x == *y ? 0 : (*x < *y ? -1 : 1);
}

/* Messages whose first byte is not the end of another one. */
static int64_t count_pointers(const Arrival *arrivals, isize count, Arena scratch)
{
    uint32_t *ends = arena_array(&scratch, uint32_t, count);
    int64_t pointers = 0;
    for (isize i = 0; i < count; i++) {
        ends[i] = arrivals[i].end;
    }
    sort_stable(ends, count, sizeof *ends, compare_addresses, NULL, scratch);
    for (isize i = 0; i < count; i++) {
        isize low = 0, high = count;
        while (low < high) {
            isize middle = low + (high - low) / 2;
            if (ends[middle] < arrivals[i].begin) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        pointers += low == count || ends[low] != arrivals[i].begin;
    }
    return max_i64(pointers, 1); /* the first store of all needs one */
}

/* Controls of one tile; `arrivals` are its own, sorted by (width, source). */
static int64_t count_controls(const Arrival *arrivals, isize count, Arena scratch)
{
    int64_t ordinary = 0, paired = 0, wide = 0;
    for (isize i = 0; i < count; i++) {
        const Arrival *a = &arrivals[i];
        bool is_new = i == 0 || a[-1].is_paired != a->is_paired || a[-1].source != a->source;
        ordinary += is_new && !a->is_paired;
        paired += is_new && a->is_paired && a->is_early;
        wide += a->is_paired;
    }
    ordinary += ordinary > 0;
    paired += paired > 0;
    return max_i64(ordinary, count_pointers(arrivals, count, scratch)) + paired +
           (wide > 0 ? 2 : 0);
}

static void add_arrivals(const BoundPhase *phase, const BoundItem *item, const RowLoad *loads,
                         ArrivalVec *arrivals, Arena *arena)
{
    const ExchangeTransfer *t = &phase->problem->transfers.at[item->transfer];
    for (int32_t k = 0; k < t->receiver_count; k++) {
        const ExchangeReceiver *to = &phase->problem->receivers.at[t->receiver_first + k];
        if (loads[to->tile.id].is_candidate) {
            bool is_early =
                time_to_mux(t->source, to->tile) < time_to_mux(t->source, partner_of(to->tile));
            *vec_push(arrivals, arena) =
                (Arrival){to->tile.id, t->source.id, item->is_paired,
                          is_early,    to->address,  to->address + 4 * t->words};
        }
    }
}

int64_t issue_bound(const BoundPhase *phase, const BoundItem *items, isize count, int64_t least,
                    Arena scratch, PhysTile *tile)
{
    RowLoad *loads = arena_array(&scratch, RowLoad, CHIP_TILES);
    for (isize i = 0; i < count; i++) {
        const ExchangeTransfer *t = &phase->problem->transfers.at[items[i].transfer];
        loads[t->source.id].sends++;
        loads[t->source.id].long_sends += items[i].events > 1;
        /* The stretches of a cut transfer follow each other in memory and come from one source: they count as one. */
        for (int32_t k = 0;
             k < t->receiver_count && (i == 0 || items[i - 1].transfer != items[i].transfer); k++) {
            loads[phase->problem->receivers.at[t->receiver_first + k].tile.id].receives++;
        }
    }
    bool has_candidate = false;
    for (int i = 0; i < CHIP_TILES; i++) {
        loads[i].is_candidate =
            loads[i].receives > 0 && controls_max(&loads[i]) + blocked_events(&loads[i]) > least;
        has_candidate = has_candidate || loads[i].is_candidate;
    }
    if (!has_candidate) {
        return 0;
    }
    ArrivalVec arrivals = {0};
    for (isize i = 0; i < count; i++) {
        if (i == 0 || items[i - 1].transfer != items[i].transfer) {
            add_arrivals(phase, &items[i], loads, &arrivals, &scratch);
        }
    }
    sort_stable(arrivals.at, arrivals.len, sizeof *arrivals.at, compare_sources, NULL, scratch);
    int64_t best = 0;
    for (isize i = 0, end; i < arrivals.len; i = end) {
        const uint16_t id = arrivals.at[i].tile;
        for (end = i; end < arrivals.len && arrivals.at[end].tile == id; end++) {
        }
        int64_t events =
            count_controls(&arrivals.at[i], end - i, scratch) + blocked_events(&loads[id]);
        if (events > best) {
            best = events;
            *tile = (PhysTile){id};
        }
    }
    return best;
}
