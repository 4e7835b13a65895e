/* The multicast bound: cliques of messages of which any two share a lane, though no lane is common to all of them.
 *
 * A message i occupies a lane x, a transmit or a receive lane, for [start_i + d_ix, + n_i) (S1, S2). How much later than i, in events of
 * d, a message j comes to their common lanes differs from lane to lane: lo <= d_jx - d_ix <= hi. Windows in a lane exclude each
 * other, and if n_i + n_j > hi - lo one of the two is first in all of the lanes, since being first in one and second in another one adds up
 * to n_i + n_j <= hi - lo. So either start_j >= start_i + n_i - lo or start_i >= start_j + n_j + hi.
 *
 * Every message of a clique gets a core [start + a, start + n + b), such that for any two
 *
 *   a_j >= b_i + lo,  b_j <= a_i + hi
 *
 * Then the later core of two begins no earlier than the earlier one ends, in either order, and cores of positive length lie one
 * behind the other, as intervals of a lane do: horizon >= least (head + a) + sum (n + b - a) + least (tail - b). Where all share a lane, a = b = d
 * of that lane gives the bound of the lane. Cores are fixed one by one: a message pays for what the lanes that it has in
 * common with those before it differ by, and is left out where it pays too much.
 *
 * Which messages are looked at and which cliques are found only makes the bound weaker. Work: linear in the items, then at most
 * VISITS_MAX.
 */
#include "exchange/bounds.h"

enum {
    CANDIDATES_MAX = 256,
    SET_WORDS = CANDIDATES_MAX / 64,
    SEEDS_MAX = 8,
    SCORES = 1024,
    VISITS_MAX = 4 * 1000 * 1000,
    LANES = 2 * CHIP_TILES, /* receive lane of tile x: x; transmit lane: CHIP_TILES + x */
    ABSENT = INT32_MIN,
};

/* A candidate on a lane. */
typedef struct Visit {
    int32_t lane;
    Event delay;
} Visit;
VEC(Visit);

typedef struct CandidateSet {
    uint64_t bits[SET_WORDS];
} CandidateSet;

typedef struct Candidate {
    PhysTile source;
    int64_t head, events, tail;
    isize visit_first, visit_end;
    CandidateSet conflicts; /* with these */
    int64_t reach;          /* events of them and its own */
    bool is_used;           /* in a clique that was tried */
    int64_t a, b;           /* of its core */
} Candidate;

typedef struct Cliques {
    Candidate at[CANDIDATES_MAX];
    int count;
    VisitVec visits;
    int64_t visits_left;
} Cliques;

static bool set_has(const CandidateSet *set, int i)
{
    return (set->bits[i / 64] >> (i % 64) & 1) != 0;
}

static int count_common(const CandidateSet *x, const CandidateSet *y)
{
    int count = 0;
    for (int i = 0; i < SET_WORDS; i++) {
        count += __builtin_popcountll(x->bits[i] & y->bits[i]);
    }
    return count;
}

/* --- candidates ----------------------------------------------------------------------------------------- */

static void add_candidate(Cliques *cliques, const BoundPhase *phase, const BoundItem *item,
                          Arena *arena)
{
    const ExchangeTransfer *t = &phase->problem->transfers.at[item->transfer];
    const ExchangeReceiver *to = &phase->problem->receivers.at[t->receiver_first];
    Candidate *c = &cliques->at[cliques->count++];
    *c = (Candidate){.source = t->source,
                     .head = item->head,
                     .events = item->events,
                     .tail = item->tail,
                     .visit_first = cliques->visits.len};
    *vec_push(&cliques->visits, arena) = (Visit){CHIP_TILES + t->source.id, 0};
    if (item->is_paired) {
        *vec_push(&cliques->visits, arena) = (Visit){CHIP_TILES + partner_of(t->source).id, 0};
    }
    for (int32_t k = 0; k < t->receiver_count; k++) {
        *vec_push(&cliques->visits, arena) =
            (Visit){to[k].tile.id, source_delay(t->source, to[k].tile, item->is_paired)};
    }
    c->visit_end = cliques->visits.len;
}

static int64_t score_of(const BoundPhase *phase, const BoundItem *item)
{
    return (int64_t)item->events * phase->problem->transfers.at[item->transfer].receiver_count;
}

/* Those with the most items times receivers, in their order. */
static void choose_candidates(Cliques *cliques, const BoundPhase *phase, const BoundItem *items,
                              isize count, Arena *arena)
{
    int64_t largest = 1, chosen[SCORES] = {0}, room = CANDIDATES_MAX;
    for (isize i = 0; i < count; i++) {
        largest = max_i64(largest, score_of(phase, &items[i]));
    }
    for (isize i = 0; i < count; i++) {
        chosen[score_of(phase, &items[i]) * (SCORES - 1) / largest]++;
    }
    for (int i = SCORES; i-- > 0; room -= chosen[i]) {
        chosen[i] = min_i64(chosen[i], room);
    }
    for (isize i = 0; i < count; i++) {
        if (chosen[score_of(phase, &items[i]) * (SCORES - 1) / largest]-- > 0) {
            add_candidate(cliques, phase, &items[i], arena);
        }
    }
}

static void find_conflicts(Cliques *cliques, Arena scratch)
{
    CandidateSet *lanes = arena_array(&scratch, CandidateSet, LANES);
    for (int i = 0; i < cliques->count; i++) {
        for (isize k = cliques->at[i].visit_first; k < cliques->at[i].visit_end; k++) {
            lanes[cliques->visits.at[k].lane].bits[i / 64] |= 1ull << (i % 64);
        }
    }
    for (int i = 0; i < cliques->count; i++) {
        Candidate *c = &cliques->at[i];
        for (isize k = c->visit_first; k < c->visit_end; k++) {
            for (int w = 0; w < SET_WORDS; w++) {
                c->conflicts.bits[w] |= lanes[cliques->visits.at[k].lane].bits[w];
            }
        }
        for (int j = 0; j < cliques->count; j++) {
            c->reach += set_has(&c->conflicts, j) ? cliques->at[j].events : 0;
        }
        c->conflicts.bits[i / 64] &= ~(1ull << (i % 64));
    }
}

/* --- a clique ------------------------------------------------------------------------------------------- */

/* Those whose cores are fixed. */
typedef struct Clique {
    int members[CANDIDATES_MAX];
    int count;
    CandidateSet fitting; /* candidates that conflict with all of them and have not been tried */
    int64_t head, events, tail;
} Clique;

/* Core of a candidate behind those that are fixed; false when short messages may pass each other. `delays`: the candidate's, by lane. */
static bool fit_core(Cliques *cliques, const Clique *clique, Candidate *c, const Event *delays)
{
    c->a = clique->count == 0 ? 0 : INT64_MIN;
    c->b = clique->count == 0 ? 0 : INT64_MAX;
    for (int i = 0; i < clique->count; i++) {
        const Candidate *other = &cliques->at[clique->members[i]];
        int64_t lo = INT64_MAX, hi = INT64_MIN;
        for (isize k = other->visit_first; k < other->visit_end; k++) {
            const Visit *visit = &cliques->visits.at[k];
            if (delays[visit->lane] != ABSENT) {
                lo = min_i64(lo, delays[visit->lane] - visit->delay);
                hi = max_i64(hi, delays[visit->lane] - visit->delay);
            }
        }
        ASSERT(lo <= hi);
        cliques->visits_left -= other->visit_end - other->visit_first;
        if (c->events + other->events <= hi - lo) {
            return false;
        }
        c->a = max_i64(c->a, other->b + lo);
        c->b = min_i64(c->b, other->a + hi);
    }
    return true;
}

/* Takes a candidate in if that makes the bound larger. */
static void add_member(Cliques *cliques, Clique *clique, int member, Event *delays)
{
    Candidate *c = &cliques->at[member];
    for (isize k = c->visit_first; k < c->visit_end; k++) {
        delays[cliques->visits.at[k].lane] = cliques->visits.at[k].delay;
    }
    bool is_good = fit_core(cliques, clique, c, delays);
    for (isize k = c->visit_first; k < c->visit_end; k++) {
        delays[cliques->visits.at[k].lane] = ABSENT;
    }
    clique->fitting.bits[member / 64] &= ~(1ull << (member % 64));
    if (!is_good) {
        return;
    }
    const int64_t head = min_i64(clique->head, c->head + c->a), core = c->events + c->b - c->a,
                  tail = min_i64(clique->tail, c->tail - c->b);
    if (core > 0 && (clique->count == 0 || head + core + tail > clique->head + clique->tail)) {
        clique->members[clique->count++] = member;
        clique->head = head;
        clique->events += core;
        clique->tail = tail;
        c->is_used = true;
        for (int w = 0; w < SET_WORDS; w++) {
            clique->fitting.bits[w] &= c->conflicts.bits[w];
        }
    }
}

/* Bound of a clique around a candidate, greedily: many items, and many others that still fit. */
static int64_t clique_bound(Cliques *cliques, int seed, Arena scratch)
{
    Event *delays = arena_array(&scratch, Event, LANES);
    for (int x = 0; x < LANES; x++) {
        delays[x] = ABSENT;
    }
    Clique clique = {.head = INT64_MAX, .tail = INT64_MAX};
    clique.fitting = cliques->at[seed].conflicts;
    for (int next = seed; next >= 0 && cliques->visits_left > 0;) {
        add_member(cliques, &clique, next, delays);
        int64_t best = 0;
        next = -1;
        for (int i = 0; i < cliques->count; i++) {
            const Candidate *c = &cliques->at[i];
            int64_t score = set_has(&clique.fitting, i)
                                ? c->events * (1 + count_common(&clique.fitting, &c->conflicts))
                                : 0;
            if (score > best) {
                best = score;
                next = i;
            }
        }
    }
    return clique.head + clique.events + clique.tail;
}

/* The candidate with most work around it that is in no clique yet; -1: around none of them it is more than `least`. */
static int next_seed(const Cliques *cliques, int64_t least)
{
    int seed = -1;
    int64_t head = 0, tail = 0, reach = 0;
    for (int i = 0; i < cliques->count; i++) {
        const Candidate *c = &cliques->at[i];
        if (!c->is_used && c->reach > reach) {
            reach = c->reach;
            seed = i;
        }
        head = max_i64(head, c->head);
        tail = max_i64(tail, c->tail);
    }
    return head + reach + tail > least ? seed : -1;
}

int64_t multicast_bound(const BoundPhase *phase, const BoundItem *items, isize count, int64_t least,
                        Arena scratch, PhysTile *tile)
{
    Cliques *cliques = arena_new(&scratch, Cliques);
    cliques->visits_left = VISITS_MAX;
    choose_candidates(cliques, phase, items, count, &scratch);
    find_conflicts(cliques, scratch);
    int64_t best = 0;
    for (int i = 0; i < SEEDS_MAX && cliques->visits_left > 0; i++) {
        int seed = next_seed(cliques, max_i64(best, least));
        if (seed < 0) {
            break;
        }
        int64_t events = clique_bound(cliques, seed, scratch);
        if (events > best) {
            best = events;
            *tile = cliques->at[seed].source;
        }
    }
    return best;
}
