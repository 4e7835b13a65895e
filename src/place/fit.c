/* First fit (compiler-design.md 11.2): requests in a fixed order, each at the lowest address that is free for its whole
 * lifetime. Ranges are tried in their order, which leaves the interleaved ones to those that need them.
 *
 * When an order fails, the request that failed is moved to the front and the problem is tried again; after some attempts the
 * next rule of ordering begins. No order is complete: running out of attempts says nothing about the problem.
 */
#include "place/fit.h"
#include "place/tile.h"
#include <string.h>

/* Requests placed so far, by address. */
typedef struct Fit {
    const PlaceProblem *problem;
    uint32_t *address;   /* per request; PLACE_NOWHERE: not placed */
    int64_t *end;        /* per placed request: of its block */
    int32_t *by_address; /* placed requests */
    int32_t count;
    const int32_t *partner, *partner_first; /* separations per request */
    int64_t work;
} Fit;

bool spans_share_element(const PlaceProblem *problem, int64_t a_begin, int64_t a_end,
                         int64_t b_begin, int64_t b_end)
{
    int64_t high = max_i64(a_begin, b_begin), last = min_i64(a_end, b_end) - 1;
    int64_t low = min_i64(high, last), unit = 0;
    for (int32_t i = 0; i < problem->range_count && problem->ranges[i].begin <= low; i++) {
        unit = problem->ranges[i].element_bytes;
    }
    for (int32_t i = 0; unit == 0 && i < problem->range_count; i++) {
        int64_t begin = problem->ranges[i].begin;
        int64_t end = i + 1 < problem->range_count ? problem->ranges[i + 1].begin : INT64_MAX;
        unit = begin > low && begin <= last && begin < end ? problem->ranges[i].element_bytes : 0;
    }
    return unit > 0 && (high <= last || low / unit == high / unit);
}

/* Does one of the two, the request there and one that is placed, take over the other in place? */
static bool is_in_place(const Fit *fit, int32_t index, int64_t at, int32_t other)
{
    for (isize i = 0; i < fit->problem->donations.len; i++) {
        const PlaceDonation *d = &fit->problem->donations.at[i];
        int64_t from = d->from == index ? at : fit->address[other],
                to = d->to == index ? at : fit->address[other];
        if (((d->from == index && d->to == other) || (d->to == index && d->from == other)) &&
            to == from + d->offset) {
            return true;
        }
    }
    return false;
}

/* Takes the request there with nothing that is placed in the way, but for what is taken over in place? */
static bool is_free_at(const Fit *fit, int32_t index, int64_t at)
{
    const PlaceProblem *problem = fit->problem;
    const PlaceRequest *request = &problem->requests.at[index];
    const PlaceRange *range = range_at(problem, at);
    if (range == NULL || !place_may_use(request, range) || at % request->align != 0) {
        return false;
    }
    int64_t end = at + place_extent(request, range->is_interleaved),
            tail = end + request->tail_bytes;
    if (end > range->end || tail > problem->limit) {
        return false;
    }
    for (int32_t i = 0; i < fit->count; i++) {
        int32_t other = fit->by_address[i];
        if (fit->address[other] < end && at < fit->end[other] &&
            are_alive_together(request, &problem->requests.at[other]) &&
            !is_in_place(fit, index, at, other)) {
            return false;
        }
    }
    for (int32_t k = fit->partner_first[index]; k < fit->partner_first[index + 1]; k++) {
        const PlaceRequest *other = &problem->requests.at[fit->partner[k]];
        uint32_t begin = fit->address[fit->partner[k]];
        if (begin != PLACE_NOWHERE && are_alive_together(request, other) &&
            spans_share_element(problem, at, tail, begin,
                                fit->end[fit->partner[k]] + other->tail_bytes)) {
            return false;
        }
    }
    return true;
}

/* Lowest fitting address in the range, or PLACE_NOWHERE; *hole becomes the largest gap seen. */
static uint32_t find_address(const Fit *fit, int32_t index, const PlaceRange *range, int64_t *hole)
{
    const PlaceProblem *problem = fit->problem;
    const PlaceRequest *request = &problem->requests.at[index];
    int64_t extent = place_extent(request, range->is_interleaved);
    int64_t at = (int64_t)align_up(range->begin, request->align);
    for (bool is_moved = true; is_moved;) {
        is_moved = false;
        for (int32_t i = 0; i < fit->count; i++) {
            int32_t other = fit->by_address[i];
            int64_t begin = fit->address[other], end = fit->end[other];
            if (!are_alive_together(request, &problem->requests.at[other]) || end <= at) {
                continue;
            }
            if (begin > at && begin <= range->end) {
                *hole = max_i64(*hole, begin - at);
            }
            if (begin >= at + extent) {
                break;
            }
            at = (int64_t)align_up(end, request->align);
        }
        if (at + extent > range->end || at + extent + request->tail_bytes > problem->limit) {
            *hole = max_i64(*hole, range->end - at);
            return PLACE_NOWHERE;
        }
        for (int32_t k = fit->partner_first[index]; k < fit->partner_first[index + 1]; k++) {
            int32_t partner = fit->partner[k];
            const PlaceRequest *other = &problem->requests.at[partner];
            if (fit->address[partner] == PLACE_NOWHERE || !are_alive_together(request, other)) {
                continue;
            }
            int64_t end = fit->end[partner] + other->tail_bytes;
            if (spans_share_element(problem, at, at + extent + request->tail_bytes,
                                    fit->address[partner], end)) {
                int64_t unit = max_i64(range->element_bytes, 1);
                at = (int64_t)align_up(align_up(max_i64(end, at + 1), unit), request->align);
                is_moved = true;
                if (at + extent > range->end) {
                    return PLACE_NOWHERE;
                }
            }
        }
    }
    return (uint32_t)at;
}

/* In place of a request that it may take over, or that may take it over. */
static uint32_t find_donated(const Fit *fit, int32_t index)
{
    const PlaceProblem *problem = fit->problem;
    for (isize i = 0; i < problem->donations.len; i++) {
        const PlaceDonation *d = &problem->donations.at[i];
        bool is_from = d->from == index;
        if (!is_from && d->to != index) {
            continue;
        }
        int32_t other = is_from ? d->to : d->from;
        if (fit->address[other] == PLACE_NOWHERE) {
            continue;
        }
        int64_t at = (int64_t)fit->address[other] + (is_from ? -(int64_t)d->offset : d->offset);
        if (at >= 0 && is_free_at(fit, index, at)) {
            return (uint32_t)at;
        }
    }
    return PLACE_NOWHERE;
}

static void insert(Fit *fit, int32_t index, uint32_t address)
{
    const PlaceProblem *problem = fit->problem;
    int32_t at = fit->count++;
    while (at > 0 && fit->address[fit->by_address[at - 1]] > address) {
        fit->by_address[at] = fit->by_address[at - 1];
        at--;
    }
    fit->work += fit->count;
    fit->by_address[at] = index;
    fit->address[index] = address;
    bool is_interleaved = range_at(problem, address)->is_interleaved;
    fit->end[index] = address + place_extent(&problem->requests.at[index], is_interleaved);
}

/* Places all requests in this order; the position that failed, or -1. */
static int32_t place_in_order(Fit *fit, const int32_t *order, int64_t *largest_hole)
{
    const PlaceProblem *problem = fit->problem;
    fit->count = 0;
    memset(fit->address, 0xff, (size_t)problem->requests.len * sizeof *fit->address);
    for (int32_t i = 0; i < problem->requests.len; i++) {
        const PlaceRequest *request = &problem->requests.at[order[i]];
        uint32_t address = PLACE_NOWHERE;
        *largest_hole = 0;
        if (request->address != PLACE_NOWHERE) {
            address = is_free_at(fit, order[i], request->address) ? request->address : address;
        } else {
            address = find_donated(fit, order[i]);
            for (int32_t k = 0; k < problem->range_count && address == PLACE_NOWHERE; k++) {
                if (place_may_use(request, &problem->ranges[k])) {
                    address = find_address(fit, order[i], &problem->ranges[k], largest_hole);
                }
            }
        }
        if (address == PLACE_NOWHERE) {
            return i;
        }
        insert(fit, order[i], address);
    }
    return -1;
}

/* --- orders --------------------------------------------------------------------------------------------------------- */

/* What decides the order of two requests, most important first; then bytes, then index. Given addresses go before all. */
typedef enum Rule {
    RULE_END_FIRST =
        0, /* alive at the end: the only order of compiler-design.md 11.2 that placed the captured tile */
    RULE_INTERLEAVED,
    RULE_DURATION,
    RULE_AREA, /* bytes x duration */
    RULES = FIT_RULES
} Rule;

typedef struct OrderContext {
    const PlaceProblem *problem;
    int32_t end;
    Rule rule;
} OrderContext;

static int64_t weight_of(const OrderContext *order, const PlaceRequest *request)
{
    int64_t duration = (int64_t)request->last - request->first;
    if (request->address != PLACE_NOWHERE) {
        return INT64_MAX;
    }
    switch (order->rule) {
    case RULE_INTERLEAVED:
        return 2 * request->is_interleaved + (request->last >= order->end);
    case RULE_DURATION:
        return duration;
    case RULE_AREA:
        return duration * min_i64(place_extent(request, false), INT32_MAX);
    default:
        return request->last >= order->end;
    }
}

static int compare_requests(const void *a, const void *b, const void *context)
{
    const OrderContext *order = context;
    const PlaceRequest *left = &order->problem->requests.at[*(const int32_t *)a];
    const PlaceRequest *right = &order->problem->requests.at[*(const int32_t *)b];
    int64_t left_weight = weight_of(order, left), right_weight = weight_of(order, right);
    if (left_weight != right_weight) {
        return left_weight > right_weight ? -1 : 1;
    }
    int64_t left_bytes = place_extent(left, false), right_bytes = place_extent(right, false);
    return (left_bytes < right_bytes) - (left_bytes > right_bytes); /* stable: then by index */
}

static void count_partner(int32_t *first, int32_t a, int32_t b)
{
    first[a + 2]++;
    first[b + 2]++;
}

static void add_partner(int32_t *partner, int32_t *first, int32_t a, int32_t b)
{
    partner[first[a + 1]++] = b;
    partner[first[b + 1]++] = a;
}

/* Separations, and the wishes that are kept as such. */
static void build_partners(Fit *fit, const bool *is_kept, Arena *arena)
{
    const PlaceProblem *problem = fit->problem;
    isize wishes = is_kept != NULL ? problem->wishes.len : 0;
    int32_t *first = arena_array(arena, int32_t, problem->requests.len + 2);
    int32_t *partner = arena_array(arena, int32_t, 2 * (problem->pairs.len + wishes));
    for (isize i = 0; i < problem->pairs.len; i++) {
        count_partner(first, problem->pairs.at[i].a, problem->pairs.at[i].b);
    }
    for (isize i = 0; i < wishes; i++) {
        if (is_kept[i]) {
            count_partner(first, problem->wishes.at[i].a, problem->wishes.at[i].b);
        }
    }
    for (isize i = 1; i <= problem->requests.len; i++) {
        first[i + 1] += first[i];
    }
    for (isize i = 0; i < problem->pairs.len; i++) {
        add_partner(partner, first, problem->pairs.at[i].a, problem->pairs.at[i].b);
    }
    for (isize i = 0; i < wishes; i++) {
        if (is_kept[i]) {
            add_partner(partner, first, problem->wishes.at[i].a, problem->wishes.at[i].b);
        }
    }
    fit->partner = partner;
    fit->partner_first = first;
}

static bool try_orders(Fit *fit, int32_t *order, const FitOptions *options, int32_t *failed,
                       int64_t *hole, Arena scratch)
{
    const PlaceProblem *problem = fit->problem;
    isize count = problem->requests.len;
    OrderContext context = {.problem = problem};
    for (int32_t i = 0; i < count; i++) {
        context.end = (int32_t)max_i64(context.end, problem->requests.at[i].last);
    }
    *failed = -1;
    for (int attempt = 0; attempt < options->rules * options->attempts; attempt++) {
        if (fit->work >= options->work_max) {
            break;
        }
        if (attempt % options->attempts == 0) {
            for (int32_t i = 0; i < count; i++) {
                order[i] = i;
            }
            context.rule = (Rule)(attempt / options->attempts);
            sort_stable(order, count, sizeof *order, compare_requests, &context, scratch);
        }
        int64_t largest;
        int32_t position = place_in_order(fit, order, &largest);
        if (position < 0) {
            return true;
        }
        int32_t promoted = order[position]; /* failure-directed: it chooses before everybody else */
        if (*failed < 0) {
            *failed = promoted;
            *hole = largest;
        }
        memmove(&order[1], &order[0], (size_t)position * sizeof *order);
        order[0] = promoted;
    }
    return false;
}

bool fit_in_orders(const PlaceProblem *problem, const FitOptions *options, Arena scratch,
                   uint32_t *address, FitResult *result)
{
    isize count = problem->requests.len;
    Fit fit = {.problem = problem,
               .address = address,
               .end = arena_array(&scratch, int64_t, count),
               .by_address = arena_array(&scratch, int32_t, count)};
    int32_t *order = arena_array(&scratch, int32_t, count);
    ASSERT(options->rules <= RULES);
    build_partners(&fit, options->is_kept, &scratch);
    *result = (FitResult){0};
    bool is_placed = try_orders(&fit, order, options, &result->failed, &result->hole, scratch);
    result->work = fit.work;
    return is_placed;
}
