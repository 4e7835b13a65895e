/* Why a request found no place although there are bytes enough: the holes of its lifetime when first fit came to it, and what
 * keeps it out of each. The state is that of the first order, which is also where the verdict's request and largest hole are from.
 */
#include "place/fit.h"
#include "place/tile.h"

/* Requests placed so far, as the failing one sees them. */
typedef struct State {
    const PlaceProblem *problem;
    const PlaceRequest *request;
    int32_t index;
    const uint32_t *address; /* PLACE_NOWHERE: not placed */
} State;

/* A hole within one range. */
typedef struct Piece {
    const PlaceRange *range;
    PlaceHole hole;
} Piece;
VEC(Piece);

static bool is_in_the_way(const State *s, int32_t other)
{
    const PlaceRequest *r = &s->problem->requests.at[other];
    return s->address[other] != PLACE_NOWHERE && are_alive_together(r, s->request);
}

static int64_t end_of(const State *s, int32_t other)
{
    int64_t begin = s->address[other];
    return begin + place_extent(&s->problem->requests.at[other],
                                range_at(s->problem, begin)->is_interleaved);
}

static void find_pieces(const State *s, Arena *keep, Arena scratch, PieceVec *out)
{
    SortKey *taken = arena_array(&scratch, SortKey, s->problem->requests.len);
    isize count = 0;
    for (int32_t i = 0; i < s->problem->requests.len; i++) {
        if (is_in_the_way(s, i)) {
            taken[count++] = (SortKey){s->address[i], (uint32_t)i};
        }
    }
    sort_keys(taken, count, scratch);
    for (int32_t k = 0; k < s->problem->range_count; k++) {
        const PlaceRange *range = &s->problem->ranges[k];
        int64_t at = range->begin;
        int32_t below = -1;
        for (isize i = 0; i <= count; i++) { /* the last time: the end of the range */
            int32_t above = i < count ? (int32_t)taken[i].payload : -1;
            int64_t begin = i < count ? (int64_t)taken[i].key : range->end;
            int64_t end = i < count ? end_of(s, above) : range->end;
            if (end <= range->begin || begin > range->end) {
                continue;
            }
            if (begin > at) {
                PlaceHole hole = {(uint32_t)at, (uint32_t)begin, .below = below, .above = above};
                *vec_push(out, keep) = (Piece){range, hole};
            }
            if (end > at) {
                at = end;
                below = above;
            }
        }
    }
}

/* The first request that must share no element with the failing one but would, there; -1: none. */
static int32_t partner_at(const State *s, int64_t begin, int64_t end)
{
    for (isize i = 0; i < s->problem->pairs.len; i++) {
        PlacePair pair = s->problem->pairs.at[i];
        int32_t other = pair.a == s->index ? pair.b : pair.a;
        if ((pair.a == s->index || pair.b == s->index) && is_in_the_way(s, other) &&
            spans_share_element(s->problem, begin, end, s->address[other],
                                end_of(s, other) + s->problem->requests.at[other].tail_bytes)) {
            return other;
        }
    }
    return -1;
}

static void add_partner(PlaceHole *hole, int32_t partner)
{
    for (int i = 0; i < hole->partner_count; i++) {
        if (hole->partners[i] == partner) {
            return;
        }
    }
    if (hole->partner_count < HOLE_PARTNERS_MAX) {
        hole->partners[hole->partner_count++] = partner;
    }
}

/* Why the request may begin nowhere in a piece of its range that is long enough; goes through it like first fit. */
static PlaceExclusion find_reason(const State *s, Piece *piece, int64_t extent)
{
    const PlaceRequest *r = s->request;
    const PlaceRange *range = piece->range;
    if (r->is_interleaved && !range->is_interleaved) {
        return EXCLUDED_INTERLEAVED;
    }
    if (range->is_window && !r->may_use_window) {
        return EXCLUDED_WINDOW;
    }
    if (r->address != PLACE_NOWHERE &&
        (r->address < piece->hole.begin || r->address + extent > piece->hole.end)) {
        return EXCLUDED_ADDRESS;
    }
    bool is_given = r->address != PLACE_NOWHERE;
    int64_t at = (int64_t)align_up(is_given ? r->address : piece->hole.begin, r->align);
    if (at + extent > piece->hole.end || (is_given && at != r->address)) {
        return EXCLUDED_ALIGNMENT;
    }
    while (at + extent <= piece->hole.end) {
        int64_t tail = at + extent + r->tail_bytes;
        if (tail > s->problem->limit) {
            return piece->hole.partner_count > 0 ? EXCLUDED_ELEMENT : EXCLUDED_LIMIT;
        }
        int32_t partner = partner_at(s, at, tail);
        ASSERT(partner >= 0); /* otherwise first fit places it here */
        add_partner(&piece->hole, partner);
        if (is_given) {
            break;
        }
        int64_t end = end_of(s, partner) + s->problem->requests.at[partner].tail_bytes;
        int64_t unit = max_i64(range->element_bytes, 1);
        at = (int64_t)align_up(align_up(max_i64(end, at + 1), unit), r->align);
    }
    return EXCLUDED_ELEMENT;
}

static int64_t bytes_of(PlaceHole hole)
{
    return (int64_t)hole.end - hole.begin;
}

/* Neighbours [first, last) on both sides of boundaries: none of them is long enough, together they are. */
static void join_pieces(const State *s, const Piece *pieces, isize first, isize last, Arena *keep,
                        PlaceHoleVec *out)
{
    int64_t least = INT64_MAX;
    for (isize i = first; i < last; i++) {
        int64_t extent = place_extent(s->request, pieces[i].range->is_interleaved);
        if (bytes_of(pieces[i].hole) >= extent) {
            return;
        }
        least = min_i64(least, extent);
    }
    PlaceHole hole = pieces[first].hole;
    hole.end = pieces[last - 1].hole.end;
    hole.above = pieces[last - 1].hole.above;
    hole.why = EXCLUDED_BOUNDARY;
    if (bytes_of(hole) >= least) {
        *vec_push(out, keep) = hole;
    }
}

static int compare_holes(const void *a, const void *b, const void *context)
{
    (void)context;
    int64_t left = bytes_of(*(const PlaceHole *)a), right = bytes_of(*(const PlaceHole *)b);
    return (left < right) - (left > right);
}

void holes_find(const PlaceProblem *problem, int32_t request, Arena *keep, Arena scratch,
                PlaceHoles *out)
{
    uint32_t *address = arena_array(&scratch, uint32_t, problem->requests.len);
    int32_t failed;
    int64_t seen;
    bool is_placed = place_fit(problem, true, scratch, address, &failed, &seen);
    ASSERT(!is_placed && address[request] == PLACE_NOWHERE);
    State s = {problem, &problem->requests.at[request], request, address};
    *out = (PlaceHoles){.largest = {.below = -1, .above = -1}};
    PieceVec pieces = {0};
    Arena temporary = arena_split(&scratch, (scratch.end - scratch.at) / 2);
    find_pieces(&s, &temporary, scratch, &pieces);
    for (isize i = 0, first = 0; i < pieces.len; i++) {
        Piece *piece = &pieces.at[i];
        PlaceHole usable = piece->hole; /* from where it may begin */
        usable.begin =
            (uint32_t)min_i64((int64_t)align_up(usable.begin, s.request->align), usable.end);
        if (place_may_use(s.request, piece->range) && bytes_of(usable) > bytes_of(out->largest)) {
            out->largest = usable;
        }
        int64_t extent = place_extent(s.request, piece->range->is_interleaved);
        if (bytes_of(piece->hole) >= extent) {
            piece->hole.why = find_reason(&s, piece, extent);
            *vec_push(&out->large, keep) = piece->hole;
        }
        if (i + 1 == pieces.len || pieces.at[i + 1].hole.begin != piece->hole.end) {
            join_pieces(&s, pieces.at, first, i + 1, keep, &out->large);
            first = i + 1;
        }
    }
    sort_stable(out->large.at, out->large.len, sizeof *out->large.at, compare_holes, NULL, scratch);
}
