/* Private to exchange: what the lower bounds of a phase are computed from (bounds*.c).
 *
 * An item is a message, or a whole transfer where nothing says how it is cut. Every quantity here is a lower bound: the earliest event at
 * which an item can begin (`head`), and the least number of events from its end on the sender's lane to the end of the last row
 * (`tail`). A rule that is left out makes a bound weaker, never wrong.
 */
#pragma once
#include "exchange/exchange.h"

/* Facts of a transfer that hold for every width: both members of a receiving pair store at the later one's time. */
typedef struct BoundTransfer {
    Event release; /* src >= 1 at every receiver */
    Event travel;  /* largest D */
    bool may_pair;
} BoundTransfer;

typedef struct BoundItem {
    int32_t transfer; /* of the problem */
    int32_t events;
    bool is_paired;
    int64_t head, tail;
} BoundItem;
VEC(BoundItem);

typedef struct BoundPhase {
    const ExchangeProblem *problem;
    const ExchangePhase *phase;
    const BoundTransfer *transfers; /* of this phase */
    bool has_dependencies;
} BoundPhase;

/* src = start + delay at receiver `to`; both members of a pair count from the early one. */
static inline Event source_delay(PhysTile from, PhysTile to, bool is_paired)
{
    Event time = time_to_mux(from, to);
    if (is_paired) {
        Event other = time_to_mux(from, partner_of(to));
        time = other < time ? other : time;
    }
    return time + 1;
}

/* Events from src to the first store. */
static inline Event store_delay(PhysTile to, bool is_paired)
{
    return FABRIC_POINTER_DELAY + 2 * phys_row(to) + (is_paired ? 1 : 0);
}

/* Does any byte that a transfer writes get read or written by another one (S6)? */
bool chain_is_needed(const ExchangeProblem *problem, const ExchangePhase *phase, Arena scratch);
/* Raises heads and tails by S6 and returns the longest chain, with the tile that it passes last but one. */
int64_t chain_apply(const BoundPhase *phase, BoundItem *items, isize count, Arena scratch,
                    PhysTile *tile);
/* The busiest row that has to issue more than `least` events; 0 when no row has. */
int64_t issue_bound(const BoundPhase *phase, const BoundItem *items, isize count, int64_t least,
                    Arena scratch, PhysTile *tile);
/* The best clique of multicasts that is found; 0 when there is none that could give more than `least`. */
int64_t multicast_bound(const BoundPhase *phase, const BoundItem *items, isize count, int64_t least,
                        Arena scratch, PhysTile *tile);
