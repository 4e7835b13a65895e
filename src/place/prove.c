/* Is a certificate of impossibility true? Independent of every solver: no order, no first fit, no skyline.
 *
 * A peak is counted again. A subset is decided by disjunctions: its requests get ranges one after the other in all ways, and then
 * the least addresses that satisfy all decisions so far. Where two requests are still in each other's way, one must lie behind
 * the other, so both are tried; a request that is pushed beyond its range ends a branch. As every decision only raises least
 * addresses, their least fixed point exists, and when nothing is in the way there, it is a placement.
 */
#include "place/place.h"

enum { STEPS_MAX = 100 * 1000 }; /* decisions; a subset that takes more is no certificate */

typedef struct Subset {
    const PlaceProblem *problem;
    const PlaceRequest *request[PLACE_SUBSET_MAX];
    int32_t index[PLACE_SUBSET_MAX];
    int32_t count;
    const PlaceRange *range[PLACE_SUBSET_MAX];
    bool is_separate[PLACE_SUBSET_MAX][PLACE_SUBSET_MAX];
    int64_t donated[PLACE_SUBSET_MAX][PLACE_SUBSET_MAX]; /* [from][to]: offset, or -1 */
    int64_t steps;
} Subset;

/* What was decided of two requests: j lies behind i, or j is i's in place. */
typedef enum Decision { OPEN = 0, BEHIND, IN_PLACE } Decision;

typedef struct Decisions {
    uint8_t of[PLACE_SUBSET_MAX][PLACE_SUBSET_MAX]; /* [i][j] */
    int64_t address[PLACE_SUBSET_MAX];
} Decisions;

static bool are_alive(const PlaceRequest *a, const PlaceRequest *b)
{
    return a->first < b->last && b->first < a->last;
}

static int64_t round_up(int64_t value, int64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

static int64_t end_of(const Subset *s, const Decisions *d, int i)
{
    return d->address[i] + place_extent(s->request[i], s->range[i]->is_interleaved);
}

static int64_t tail_end_of(const Subset *s, const Decisions *d, int i)
{
    return end_of(s, d, i) + s->request[i]->tail_bytes;
}

/* The unit that holds at an address. */
static int64_t unit_at(const PlaceProblem *problem, int64_t address)
{
    int64_t unit = 0;
    for (int32_t k = 0; k < problem->range_count && problem->ranges[k].begin <= address; k++) {
        unit = problem->ranges[k].element_bytes;
    }
    return unit;
}

/* Least address of j behind i: behind its block, and of a pair from the first element on that i does not touch. */
static int64_t behind(const Subset *s, const Decisions *d, int i, int j)
{
    int64_t end = end_of(s, d, i), last = tail_end_of(s, d, i) - 1;
    int64_t unit = s->range[j]->element_bytes;
    bool is_near = last >= s->range[j]->begin || unit_at(s->problem, last) == unit;
    return s->is_separate[i][j] && unit > 0 && is_near ? max_i64(end, round_up(last + 1, unit))
                                                       : end;
}

/* First address behind a range without elements that lies in one, or INT64_MAX. */
static int64_t first_element_behind(const PlaceProblem *problem, const PlaceRange *range)
{
    const PlaceRange *last = &problem->ranges[problem->range_count - 1];
    for (const PlaceRange *next = range + 1; next <= last; next++) {
        if (next->element_bytes > 0 && (next == last || next[1].begin > next->begin)) {
            return next->begin;
        }
    }
    return INT64_MAX;
}

/* The later block of a pair has no elements, but the tails of both reach an element behind it: higher addresses do not help. */
static bool do_tails_meet(const Subset *s, const Decisions *d, int i, int j)
{
    const PlaceRange *range = s->range[i] > s->range[j] ? s->range[i] : s->range[j];
    if (!s->is_separate[i][j] || range->element_bytes > 0 ||
        !are_alive(s->request[i], s->request[j])) {
        return false;
    }
    int64_t element = first_element_behind(s->problem, range);
    return tail_end_of(s, d, i) > element && tail_end_of(s, d, j) > element;
}

/* Least addresses under the decisions; false when one leaves its range. */
static bool settle(const Subset *s, Decisions *d)
{
    for (bool is_moved = true; is_moved;) {
        is_moved = false;
        for (int j = 0; j < s->count; j++) {
            int64_t least = d->address[j];
            for (int i = 0; i < s->count; i++) {
                if (d->of[i][j] == BEHIND) {
                    least = max_i64(least, behind(s, d, i, j));
                } else if (d->of[i][j] == IN_PLACE) {
                    least = max_i64(least, d->address[i] + s->donated[i][j]);
                } else if (d->of[j][i] == IN_PLACE) {
                    least = max_i64(least, d->address[i] - s->donated[j][i]);
                }
            }
            least = round_up(least, s->request[j]->align);
            is_moved |= least != d->address[j];
            d->address[j] = least;
            bool is_given = s->request[j]->address != PLACE_NOWHERE;
            if (end_of(s, d, j) > s->range[j]->end || tail_end_of(s, d, j) > s->problem->limit ||
                (is_given && least > s->request[j]->address)) {
                return false;
            }
        }
    }
    return true;
}

/* Are two requests in each other's way at these addresses? */
static bool in_the_way(const Subset *s, const Decisions *d, int i, int j)
{
    if (!are_alive(s->request[i], s->request[j]) || d->of[i][j] == IN_PLACE ||
        d->of[j][i] == IN_PLACE) {
        return false;
    }
    if (d->address[i] < end_of(s, d, j) && d->address[j] < end_of(s, d, i)) {
        return true;
    }
    int low = d->address[i] < d->address[j] ? i : j, high = low == i ? j : i;
    return s->is_separate[i][j] && d->address[high] < behind(s, d, low, high);
}

static bool can_fit(Subset *s, const Decisions *before);

static bool can_fit_with(Subset *s, const Decisions *before, int i, int j, Decision decision)
{
    Decisions d = *before;
    d.of[i][j] = (uint8_t)decision;
    return can_fit(s, &d);
}

/* True also when the work is used up: then nothing is proved. */
static bool can_fit(Subset *s, const Decisions *before)
{
    Decisions d = *before;
    if (++s->steps > STEPS_MAX) {
        return true;
    }
    if (!settle(s, &d)) {
        return false;
    }
    for (int i = 0; i < s->count; i++) {
        for (int j = i + 1; j < s->count; j++) {
            if (do_tails_meet(s, &d, i, j)) {
                return false;
            }
        }
    }
    for (int i = 0; i < s->count; i++) {
        for (int j = i + 1; j < s->count; j++) {
            if (in_the_way(s, &d, i, j)) {
                return can_fit_with(s, &d, i, j, BEHIND) || can_fit_with(s, &d, j, i, BEHIND) ||
                       (s->donated[i][j] >= 0 && can_fit_with(s, &d, i, j, IN_PLACE)) ||
                       (s->donated[j][i] >= 0 && can_fit_with(s, &d, j, i, IN_PLACE));
            }
        }
    }
    return true;
}

/* Gives request i and those behind it ranges in all ways. */
static bool can_fit_in_ranges(Subset *s, int i, Decisions *d)
{
    if (i == s->count) {
        return can_fit(s, d);
    }
    const PlaceRequest *r = s->request[i];
    for (int32_t k = 0; k < s->problem->range_count; k++) {
        const PlaceRange *range = &s->problem->ranges[k];
        bool is_given = r->address != PLACE_NOWHERE;
        if (!place_may_use(r, range) ||
            place_extent(r, range->is_interleaved) > range->end - range->begin ||
            (is_given && (r->address < range->begin || r->address >= range->end))) {
            continue;
        }
        s->range[i] = range;
        d->address[i] = is_given ? r->address : round_up(range->begin, r->align);
        if (can_fit_in_ranges(s, i + 1, d)) {
            return true;
        }
    }
    return false;
}

static bool check_subset(const PlaceProblem *problem, const PlaceCertificate *certificate,
                         Error *err)
{
    Subset subset = {.problem = problem, .count = certificate->count}, *s = &subset;
    Decisions decisions = {0};
    for (int i = 0; i < s->count; i++) {
        if (certificate->requests[i] < 0 || certificate->requests[i] >= problem->requests.len) {
            return error_set(err, ERROR_NO, NULL, "certificate: no request %d",
                             certificate->requests[i]);
        }
        s->index[i] = certificate->requests[i];
        s->request[i] = &problem->requests.at[s->index[i]];
        for (int k = 0; k < PLACE_SUBSET_MAX; k++) {
            s->donated[i][k] = -1;
        }
    }
    for (int i = 0; i < s->count; i++) {
        for (int j = 0; j < s->count; j++) {
            if (i != j && s->index[i] == s->index[j]) {
                return error_set(err, ERROR_NO, NULL, "certificate: request %d twice", s->index[i]);
            }
            for (isize k = 0; k < problem->pairs.len; k++) {
                PlacePair pair = problem->pairs.at[k];
                if ((pair.a == s->index[i] && pair.b == s->index[j]) ||
                    (pair.b == s->index[i] && pair.a == s->index[j])) {
                    s->is_separate[i][j] = true;
                }
            }
            for (isize k = 0; k < problem->donations.len; k++) {
                const PlaceDonation *donation = &problem->donations.at[k];
                if (donation->from == s->index[i] && donation->to == s->index[j]) {
                    s->donated[i][j] = donation->offset;
                }
            }
        }
    }
    if (can_fit_in_ranges(s, 0, &decisions)) {
        return error_set(err, ERROR_NO, NULL,
                         s->steps > STEPS_MAX
                             ? "certificate: a subset of %d requests is not decided "
                               "in %d steps"
                             : "certificate: a subset of %d requests fits",
                         s->count, STEPS_MAX);
    }
    return true;
}

/* Does the request count for this peak? */
static bool is_of_peak(const PlaceRequest *r, const PlaceCertificate *peak)
{
    return r->first <= peak->step && peak->step < r->last &&
           (!peak->is_interleaved || r->is_interleaved) &&
           (!peak->is_windowless || !r->may_use_window);
}

/* Bytes alive in a step against the room for them, interleaved ones alone, or those that may not use the window, or all. */
static bool check_peak(const PlaceProblem *problem, const PlaceCertificate *certificate, Error *err)
{
    int64_t room = 0, live = 0;
    for (int32_t k = 0; k < problem->range_count; k++) {
        const PlaceRange *range = &problem->ranges[k];
        if ((!certificate->is_interleaved || range->is_interleaved) &&
            (!certificate->is_windowless || !range->is_window)) {
            room += range->end - range->begin;
        }
    }
    for (isize i = 0; i < problem->requests.len; i++) {
        const PlaceRequest *r = &problem->requests.at[i];
        if (is_of_peak(r, certificate)) {
            int64_t least = INT64_MAX;
            for (int32_t k = 0; k < problem->range_count; k++) {
                if (place_may_use(r, &problem->ranges[k])) {
                    least = min_i64(least, place_extent(r, problem->ranges[k].is_interleaved));
                }
            }
            live += least < INT64_MAX ? least : r->bytes;
        }
    }
    for (isize i = 0; i < problem->donations.len; i++) { /* counted twice, perhaps */
        const PlaceDonation *d = &problem->donations.at[i];
        const PlaceRequest *from = &problem->requests.at[d->from],
                           *to = &problem->requests.at[d->to];
        bool are_both = is_of_peak(from, certificate) && is_of_peak(to, certificate);
        live -= are_both ? max_i64(0, min_i64((int64_t)from->bytes - d->offset, to->bytes)) : 0;
    }
    return live > room ||
           error_set(err, ERROR_NO, NULL,
                     "certificate: %lld bytes are alive in step %d, and there is room "
                     "for %lld",
                     (long long)live, certificate->step, (long long)room);
}

bool place_certificate_check(const PlaceProblem *problem, const PlaceCertificate *certificate,
                             Error *err)
{
    switch (certificate->proof) {
    case PROOF_PEAK:
        return check_peak(problem, certificate, err);
    case PROOF_SUBSET:
        return (certificate->count > 0 && certificate->count <= PLACE_SUBSET_MAX)
                   ? check_subset(problem, certificate, err)
                   : error_set(err, ERROR_NO, NULL, "certificate: %d requests, expected 1 to %d",
                               certificate->count, PLACE_SUBSET_MAX);
    default:
        return error_set(err, ERROR_NO, NULL, "certificate: no proof");
    }
}
