/* Exact search for addresses (compiler-design.md 11.2): branch and bound over skylines.
 *
 * Move items down one at a time while that is possible: in the end every item lies at its lowest feasible address given
 * the items below it. So it is enough to stack: an item is either stacked next, at the lowest address `at` above what is
 * stacked in its steps, with everything that is left above it; or some item that is left lies below it, which raises its
 * lowest address `low` to the least end of those (as in "schedule or postpone" of Le Pape et al., 1994). That is complete
 * whichever item is asked; an item is asked only when nothing left fits below it, so that the second answer always raises.
 *
 * Steps with equal or fewer items than a neighbour are dropped; the others are sections. In every section the bytes left
 * must fit above the least `low` of its items: `highest` is the last address where they do, so items with a greater `low` are
 * not the lowest in their section, which raises them too. The next item comes from the section that leaves the fewest
 * choices. Several rules take turns with growing limits of nodes.
 */
#include "place/search.h"
#include <stdlib.h>

enum {
    CLASSES_MAX = 8, /* masks of ranges with a bound of their own; the first is all ranges */
};
static const uint32_t NOWHERE = (uint32_t)SEARCH_NOWHERE;

typedef struct Free { /* an item without a given address */
    SearchItem item;
    int32_t index;                    /* in the problem */
    int32_t first, last;              /* sections */
    int32_t next;                     /* identical item that lies above this one; -1: none */
    int32_t others, others_end;       /* in Search.others */
    int32_t obstacles, obstacles_end; /* in Search.obstacles */
} Free;

typedef struct
    Obstacle { /* item with a given address, as one that is alive together with it sees it */
    uint32_t begin, end, tail_end;
    bool is_apart;
} Obstacle;

typedef struct Other { /* item without address that is alive together with one */
    int32_t item;
    bool is_apart;
} Other;

typedef struct Gap {
    uint32_t begin, end;
} Gap;

typedef struct Change {
    uint32_t *at;
    uint32_t old;
} Change;

/* How to choose: a section by the weighted sum of its lowest address, room to spare, choices and failures; there the first
 * item by address (if asked) and rank. */
typedef struct Rule {
    double slack_weight, choice_weight, failure_weight;
    char key;
    bool is_low_first;
    double jitter; /* of keys, relative */
    int32_t
        raises_max; /* in one call of `bound`, of items that are not the lowest in their section */
} Rule;

typedef struct Search {
    const SearchProblem *problem;
    bool is_plain; /* one range, no alignment, tails, obstacles and pairs */
    Free *items;
    int32_t item_count, section_count, class_count;
    uint32_t class_ranges[CLASSES_MAX];
    Other *others;
    Obstacle *obstacles;
    Gap *gaps; /* free of obstacles, per class and section, ascending */
    int32_t *gap_first;

    /* State, undone through `changes`. */
    uint32_t *at, *low,
        *end;        /* per item: lowest address, the same with what was decided, end there */
    uint32_t *apart; /* per item: one past the last byte of the highest stacked partner */
    uint32_t *lowest, *least_end, *choices,
        *highest;   /* per section; `highest` per class and section */
    uint32_t *left; /* per section: items left, which are the first in `members` */
    Change *changes;
    isize change_count, change_cap;
    Arena *arena; /* for more changes */

    int64_t *left_bytes; /* per class and section */
    int32_t *crossing;   /* per section: items left in it and in the one before */
    bool *is_stacked;
    int32_t *members, *member_first;
    int32_t *stack;
    int32_t stack_count;
    uint64_t *dirty;
    int32_t dirty_words;

    Rule rule;
    int32_t *rank;
    double *failures; /* per section, in this run */
    int32_t raises_left;
    int64_t nodes, nodes_limit;
    bool is_stopped;
} Search;

/* --- addresses ------------------------------------------------------------------------------------------- */

static uint32_t unit_at(const SearchProblem *problem, uint32_t address)
{
    uint32_t unit = problem->range[0].element_bytes;
    for (int32_t r = 1; r < problem->range_count && problem->range[r].begin <= address; r++) {
        unit = problem->range[r].element_bytes;
    }
    return unit == 0 ? 1 : unit;
}

/* Bytes [a, a_end) and [b, b_end) touch a common element. */
static bool share_element(const SearchProblem *problem, uint32_t a, uint32_t a_end, uint32_t b,
                          uint32_t b_end)
{
    if (a > b) {
        return share_element(problem, b, b_end, a, a_end);
    }
    uint32_t last = a_end - 1;
    return (last | (unit_at(problem, last) - 1)) >= b || (b & ~(unit_at(problem, b) - 1)) <= last;
}

static uint32_t bytes_in(const SearchProblem *problem, const SearchItem *item, int32_t range)
{
    return range >= problem->high_first ? item->bytes_high : item->bytes;
}

static uint32_t fit_in(const Search *search, const Free *f, int32_t r, uint64_t from)
{
    const SearchProblem *problem = search->problem;
    const SearchRange *range = &problem->range[r];
    uint64_t bytes = bytes_in(problem, &f->item, r), align = f->item.align;
    uint64_t unit = range->element_bytes == 0 ? 1 : range->element_bytes;
    for (uint64_t address = from;;) {
        address = (address + align - 1) & ~(align - 1);
        uint64_t end = address + bytes, tail_end = end + f->item.tail_bytes, next = 0;
        if (end > range->end || tail_end > problem->limit) {
            return NOWHERE;
        }
        for (int32_t o = f->obstacles; o < f->obstacles_end; o++) {
            const Obstacle *obstacle = &search->obstacles[o];
            if (address < obstacle->end && obstacle->begin < end && obstacle->end > next) {
                next = obstacle->end;
            }
            if (obstacle->is_apart && share_element(problem, (uint32_t)address, (uint32_t)tail_end,
                                                    obstacle->begin, obstacle->tail_end)) {
                uint32_t last = obstacle->tail_end - 1;
                uint64_t above = (uint64_t)(last | (unit_at(problem, last) - 1)) + 1;
                uint64_t aligned = ((uint64_t)last + unit) & ~(unit - 1);
                above = above < aligned ? aligned : above;
                next = next < above ? above : next;
            }
        }
        if (next == 0) {
            return (uint32_t)address;
        }
        address = next;
    }
}

/* Lowest address from `from` on where the item may lie as far as ranges, tail, obstacles and stacked partners go. */
static uint32_t fit(const Search *search, int32_t i, uint32_t from)
{
    const Free *f = &search->items[i];
    const SearchProblem *problem = search->problem;
    if (search->is_plain) {
        from = from < problem->range[0].begin ? problem->range[0].begin : from;
        return f->item.bytes <= problem->range[0].end &&
                       from <= problem->range[0].end - f->item.bytes
                   ? from
                   : NOWHERE;
    }
    uint32_t apart = search->apart[i];
    uint64_t above = 0;
    if (apart != 0) {
        above = (uint64_t)((apart - 1) | (unit_at(problem, apart - 1) - 1)) + 1;
        above = above < from ? from : above;
    }
    for (int32_t r = 0; r < problem->range_count; r++) {
        const SearchRange *range = &problem->range[r];
        if ((f->item.ranges >> r & 1) == 0 || range->end <= from) {
            continue;
        }
        uint64_t start = range->begin < from ? from : range->begin;
        if (apart != 0) {
            uint64_t unit = range->element_bytes == 0 ? 1 : range->element_bytes;
            uint64_t aligned = ((uint64_t)apart + unit - 1) & ~(unit - 1);
            start = start < above ? above : start;
            start = start < aligned ? aligned : start;
        }
        uint32_t address = fit_in(search, f, r, start);
        if (address != NOWHERE) {
            return address;
        }
    }
    return NOWHERE;
}

static uint32_t end_at(const Search *search, int32_t i, uint32_t address)
{
    const SearchProblem *problem = search->problem;
    const SearchItem *item = &search->items[i].item;
    if (problem->high_first < problem->range_count &&
        address >= problem->range[problem->high_first].begin) {
        return address + item->bytes_high;
    }
    return address + item->bytes;
}

/* The greatest address with `bytes` free at or above it; NOWHERE when there are too few. */
static uint32_t highest_with(const Search *search, int32_t class, int32_t section, int64_t bytes)
{
    int32_t at = class * search->section_count + section;
    for (int32_t g = search->gap_first[at + 1] - 1; g >= search->gap_first[at]; g--) {
        Gap gap = search->gaps[g];
        if (bytes <= (int64_t)(gap.end - gap.begin)) {
            return gap.end - (uint32_t)bytes;
        }
        bytes -= gap.end - gap.begin;
    }
    return NOWHERE;
}

/* --- state ----------------------------------------------------------------------------------------------- */

static void set(Search *search, uint32_t *at, uint32_t value)
{
    if (__builtin_expect(search->change_count == search->change_cap, 0)) {
        Change *old = search->changes;
        search->change_cap *= 2;
        search->changes = arena_array(search->arena, Change, search->change_cap);
        memcpy(search->changes, old, (size_t)search->change_count * sizeof *old);
    }
    search->changes[search->change_count++] = (Change){at, *at};
    *at = value;
}

static void mark_dirty(Search *search, int32_t first, int32_t last)
{
    for (int32_t s = first; s < last;) {
        int32_t count = last - s < 64 - (s & 63) ? last - s : 64 - (s & 63);
        search->dirty[s >> 6] |= (count == 64 ? ~0ull : (1ull << count) - 1) << (s & 63);
        s += count;
    }
}

/* The item went up from `low` and `end`: sections whose bounds hang on it have to be looked at again; in others it is at
 * most no longer a choice, so that it lies above another (the result). */
static uint32_t leave_sections(Search *search, int32_t i, uint32_t low, uint32_t end)
{
    const Free *f = &search->items[i];
    uint32_t now = search->low[i], above = 0;
    for (int32_t s = f->first; s < f->last; s++) {
        uint64_t bit = 1ull << (s & 63), *word = &search->dirty[s >> 6];
        if ((*word & bit) != 0) {
            continue;
        }
        if (low <= search->lowest[s] || end <= search->least_end[s] || search->class_count > 1) {
            *word |= bit;
        } else if (low <= search->highest[s] && now > search->highest[s]) {
            set(search, &search->choices[s], search->choices[s] - 1);
            above = above < search->least_end[s] ? search->least_end[s] : above;
        }
    }
    return above;
}

/* False: nowhere. */
static bool raise(Search *search, int32_t i, uint32_t from)
{
    while (from > search->low[i]) {
        const Free *f = &search->items[i];
        uint32_t low = search->low[i], end = search->end[i], address = fit(search, i, from);
        if (address == NOWHERE) {
            for (int32_t s = f->first; s < f->last; s++) {
                search->failures[s] += 1.0 / (f->last - f->first);
            }
            return false;
        }
        set(search, &search->low[i], address);
        set(search, &search->end[i], end_at(search, i, address));
        from = leave_sections(search, i, low, end);
        if (from > address && search->raises_left > 0) {
            search->raises_left--;
            continue;
        }
        from = search->end[i];
        i = f->next;
        if (i < 0) {
            break;
        }
    }
    return true;
}

static uint32_t least_bytes(const Search *search, const Free *f)
{
    const SearchProblem *problem = search->problem;
    uint32_t low = problem->high_first >= 32 ? 0xffffffffu : (1u << problem->high_first) - 1;
    bool is_low = (f->item.ranges & low) != 0, is_high = (f->item.ranges & ~low) != 0;
    return is_low && (!is_high || f->item.bytes < f->item.bytes_high) ? f->item.bytes
                                                                      : f->item.bytes_high;
}

static void count_bytes(Search *search, int32_t i, int64_t sign)
{
    const Free *f = &search->items[i];
    int64_t bytes = sign * (int64_t)least_bytes(search, f);
    for (int32_t c = 0; c < search->class_count; c++) {
        if ((f->item.ranges & ~search->class_ranges[c]) == 0) {
            for (int32_t s = f->first; s < f->last; s++) {
                search->left_bytes[c * search->section_count + s] += bytes;
            }
        }
    }
    for (int32_t s = f->first + 1; s < f->last; s++) {
        search->crossing[s] += (int32_t)sign;
    }
}

static void undo(Search *search, isize change_count, int32_t stack_count)
{
    while (search->change_count > change_count) {
        Change change = search->changes[--search->change_count];
        *change.at = change.old;
    }
    while (search->stack_count > stack_count) {
        int32_t i = search->stack[--search->stack_count];
        search->is_stacked[i] = false;
        count_bytes(search, i, 1);
    }
    for (int32_t w = 0; w < search->dirty_words; w++) {
        search->dirty[w] = 0;
    }
}

/* Stacks an item at `low`. */
static bool stack_item(Search *search, int32_t i)
{
    const Free *f = &search->items[i];
    uint32_t end = search->end[i], tail_end = end + f->item.tail_bytes;
    search->is_stacked[i] = true;
    search->stack[search->stack_count++] = i;
    count_bytes(search, i, -1);
    for (int32_t c = 0; c < search->class_count; c++) {
        if ((f->item.ranges & ~search->class_ranges[c]) == 0) {
            for (int32_t s = f->first; s < f->last; s++) {
                int32_t at = c * search->section_count + s;
                set(search, &search->highest[at],
                    highest_with(search, c, s, search->left_bytes[at]));
            }
        }
    }
    mark_dirty(search, f->first, f->last);
    for (int32_t o = f->others; o < f->others_end; o++) {
        int32_t j = search->others[o].item;
        if (search->is_stacked[j]) {
            continue;
        }
        uint32_t from = search->at[j] < end ? end : search->at[j];
        if (search->others[o].is_apart && search->apart[j] < tail_end) {
            set(search, &search->apart[j], tail_end);
        } else if (from == search->at[j]) {
            continue;
        }
        uint32_t address = fit(search, j, from);
        if (address == NOWHERE) {
            (void)raise(search, j, NOWHERE);
            return false;
        }
        if (address > search->at[j]) {
            set(search, &search->at[j], address);
            if (!raise(search, j, address)) {
                return false;
            }
        }
        if (search->others[o].is_apart && !raise(search, j, fit(search, j, search->low[j]))) {
            return false;
        }
    }
    return true;
}

/* --- bounds ---------------------------------------------------------------------------------------------- */

static bool bound_section(Search *search, int32_t s)
{

    int32_t *members = &search->members[search->member_first[s]];
    uint32_t left = search->left[s], highest = search->highest[s];
    uint32_t lowest = NOWHERE, least = NOWHERE, second = NOWHERE, choices = 0;
    int32_t least_item = -1;
    for (uint32_t m = 0; m < left;) {
        int32_t i = members[m];
        if (search->is_stacked[i]) {
            members[m] = members[--left];
            members[left] = i;
            continue;
        }
        m++;
        uint32_t low = search->low[i], end = search->end[i];
        lowest = lowest < low ? lowest : low;
        choices += low <= highest;
        if (end < least) {
            second = least;
            least = end;
            least_item = i;
        } else if (end < second) {
            second = end;
        }
    }
    if (left != search->left[s]) {
        set(search, &search->left[s], left);
    }
    if (left != 0 && (highest == NOWHERE || lowest > highest)) {
        search->failures[s] += 1;
        return false;
    }
    if (search->lowest[s] != lowest) {
        set(search, &search->lowest[s], lowest);
    }
    if (search->least_end[s] != least) {
        set(search, &search->least_end[s], least);
    }
    if (search->choices[s] != choices) {
        set(search, &search->choices[s], choices);
    }
    for (int32_t c = 1; c < search->class_count; c++) {
        uint32_t class_lowest = NOWHERE,
                 class_highest = search->highest[c * search->section_count + s];
        for (uint32_t m = 0; m < left; m++) {
            if ((search->items[members[m]].item.ranges & ~search->class_ranges[c]) == 0 &&
                search->low[members[m]] < class_lowest) {
                class_lowest = search->low[members[m]];
            }
        }
        if (class_lowest != NOWHERE && (class_highest == NOWHERE || class_lowest > class_highest)) {
            search->failures[s] += 1;
            return false;
        }
    }
    for (uint32_t m = 0; search->raises_left > 0 && m < left;
         m++) { /* whoever is not the lowest lies above another */
        int32_t i = members[m];
        if (search->low[i] > highest) {
            uint32_t above = i == least_item ? second : least;
            if (above > search->low[i]) {
                search->raises_left--;
                if (!raise(search, i, above)) {
                    return false;
                }
            }
        }
    }
    return true;
}

static bool bound(Search *search)
{
    search->raises_left = search->rule.raises_max;
    for (bool is_dirty = true; is_dirty;) {
        is_dirty = false;
        for (int32_t w = 0; w < search->dirty_words; w++) {
            while (search->dirty[w] != 0) {
                int32_t bit = __builtin_ctzll(search->dirty[w]);
                search->dirty[w] &= search->dirty[w] - 1;
                is_dirty = true;
                if (!bound_section(search, w * 64 + bit)) {
                    return false;
                }
            }
        }
    }
    return true;
}

/* --- branching ------------------------------------------------------------------------------------------- */

/* Least end of what is left and alive together with the item; `who` has it. */
static uint32_t least_end_beside(const Search *search, int32_t i, int32_t *who)
{
    const Free *f = &search->items[i];
    uint32_t least = NOWHERE;
    *who = -1;
    for (int32_t o = f->others; o < f->others_end; o++) {
        int32_t j = search->others[o].item;
        if (!search->is_stacked[j] && search->end[j] < least) {
            least = search->end[j];
            *who = j;
        }
    }
    return least;
}

static bool is_ready(const Search *search, int32_t i)
{
    const Free *f = &search->items[i];
    if (search->low[i] != search->at[i]) {
        return false;
    }
    for (int32_t s = f->first; s < f->last; s++) {
        if (search->least_end[s] <= search->low[i]) {
            return false;
        }
    }
    return true;
}

enum { CHOICE_NONE = -1, CHOICE_AGAIN = -2, CHOICE_FAIL = -3 };

static bool is_better(const Search *search, int32_t i, int32_t j)
{
    if (j < 0) {
        return true;
    }
    if (search->rule.is_low_first && search->low[i] != search->low[j]) {
        return search->low[i] < search->low[j];
    }
    return search->rank[i] < search->rank[j];
}

/* log2, linear between powers of two: the same on every machine. */
static double log_of(double x)
{
    int32_t whole = 63 - __builtin_clzll((uint64_t)x);
    return whole + x / (double)(1ull << whole) - 1;
}

static double score_section(const Search *search, int32_t s)
{
    const Rule *rule = &search->rule;
    return search->lowest[s] + rule->slack_weight * (search->highest[s] - search->lowest[s]) +
           rule->choice_weight * search->choices[s] -
           rule->failure_weight * log_of(search->failures[s]);
}

/* The item to ask next in sections [first, last). */
static int32_t choose(Search *search, int32_t first, int32_t last)
{
    int32_t best = -1;
    double best_score = 0;
    int32_t best_section = -1;
    for (int32_t s = first; s < last; s++) {
        if (search->left[s] != 0) {
            double score = score_section(search, s);
            if (best_section < 0 || score < best_score) {
                best_section = s;
                best_score = score;
            }
        }
    }
    if (best_section < 0) {
        return CHOICE_NONE;
    }
    int32_t s = best_section;
    const int32_t *members = &search->members[search->member_first[s]];
    for (uint32_t m = 0; m < search->left[s]; m++) {
        int32_t i = members[m];
        if (search->low[i] <= search->highest[s] && is_better(search, i, best) &&
            is_ready(search, i)) {
            best = i;
        }
    }
    if (best >= 0) {
        return best;
    }
    for (uint32_t m = 0; m < search->left[s]; m++) {
        if (is_better(search, members[m], best)) {
            best = members[m];
        }
    }
    for (;;) {
        int32_t who;
        uint32_t end = least_end_beside(search, best, &who);
        if (end <= search->low[best]) {
            best = who;
        } else if (search->low[best] == search->at[best]) {
            return best;
        } else if (who < 0 || !raise(search, best, end)) {
            return CHOICE_FAIL;
        } else {
            return CHOICE_AGAIN;
        }
    }
}

static bool solve(Search *search, int32_t first, int32_t last);

/* Parts that no item left crosses. */
static int solve_parts(Search *search, int32_t first, int32_t last)
{
    int32_t begin = first, parts = 0;
    for (int pass = 0; pass < 2; pass++) {
        begin = first;
        for (int32_t s = first + 1; s <= last; s++) {
            if (s < last && search->crossing[s] != 0) {
                continue;
            }
            bool is_empty = s - begin == 1 && search->left[begin] == 0;
            if (!is_empty && pass == 0) {
                parts++;
            } else if (!is_empty && !solve(search, begin, s)) {
                return 0;
            }
            begin = s;
        }
        if (parts <= 1) {
            return -1;
        }
    }
    return 1;
}

static bool solve(Search *search, int32_t first, int32_t last)
{
    bool is_split = false;
    for (;;) {
        if (!bound(search)) {
            return false;
        }
        if (!is_split) {
            is_split = true;
            int result = solve_parts(search, first, last);
            if (result >= 0) {
                return result == 1;
            }
        }
        int32_t i = choose(search, first, last);
        if (i == CHOICE_NONE || i == CHOICE_FAIL) {
            return i == CHOICE_NONE;
        }
        if (i == CHOICE_AGAIN) {
            continue;
        }
        if (search->nodes >= search->nodes_limit) {
            search->is_stopped = true;
            return false;
        }
        search->nodes++;
        isize change_count = search->change_count;
        int32_t stack_count = search->stack_count;
        if (stack_item(search, i) && solve(search, first, last)) {
            return true;
        }
        if (search->is_stopped) {
            return false;
        }
        undo(search, change_count, stack_count);
        int32_t who;
        uint32_t end = least_end_beside(search, i, &who);
        if (who < 0 || !raise(search, i, end)) {
            return false;
        }
    }
}

/* --- building -------------------------------------------------------------------------------------------- */

static bool is_alive_together(const SearchItem *a, const SearchItem *b)
{
    return a->first < b->last && b->first < a->last;
}

static bool bit_get(const uint64_t *bits, isize at)
{
    return bits[at >> 6] >> (at & 63) & 1;
}

static void bit_set(uint64_t *bits, isize at)
{
    bits[at >> 6] |= 1ull << (at & 63);
}

/* Given addresses obey every rule among themselves. */
static bool check_given(const SearchProblem *problem, const uint64_t *is_apart)
{
    int32_t n = problem->item_count;
    for (int32_t i = 0; i < n; i++) {
        const SearchItem *a = &problem->items[i];
        if (a->address == NOWHERE) {
            continue;
        }
        bool is_inside = false;
        uint64_t a_end = 0;
        for (int32_t r = 0; r < problem->range_count; r++) {
            uint64_t end = (uint64_t)a->address + bytes_in(problem, a, r);
            if ((a->ranges >> r & 1) != 0 && a->address >= problem->range[r].begin &&
                end <= problem->range[r].end) {
                is_inside = true;
                a_end = end;
            }
        }
        if (!is_inside || a_end + a->tail_bytes > problem->limit ||
            (a->address & (a->align - 1)) != 0) {
            return false;
        }
        for (int32_t j = 0; j < i; j++) {
            const SearchItem *b = &problem->items[j];
            if (b->address == NOWHERE || !is_alive_together(a, b)) {
                continue;
            }
            uint32_t b_end = b->address + b->bytes;
            if (problem->high_first < problem->range_count &&
                b->address >= problem->range[problem->high_first].begin) {
                b_end = b->address + b->bytes_high;
            }
            if (a->address < b_end && b->address < a_end) {
                return false;
            }
            if (bit_get(is_apart, (isize)i * n + j) &&
                share_element(problem, a->address, (uint32_t)a_end + a->tail_bytes, b->address,
                              b_end + b->tail_bytes)) {
                return false;
            }
        }
    }
    return true;
}

static int compare_steps(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* First steps of the sections: largest sets of items alive together, that is a start followed by an end. */
static int32_t *find_sections(const SearchProblem *problem, int32_t *count, Arena *arena)
{
    int32_t n = problem->item_count, begins = 0, ends = 0;
    int32_t *begin = arena_array(arena, int32_t, n), *end = arena_array(arena, int32_t, n);
    int32_t *sections = arena_array(arena, int32_t, n + 1);
    for (int32_t i = 0; i < n; i++) {
        begin[begins++] = problem->items[i].first;
        end[ends++] = problem->items[i].last;
    }
    qsort(begin, (size_t)n, sizeof *begin, compare_steps);
    qsort(end, (size_t)n, sizeof *end, compare_steps);
    *count = 0;
    for (int32_t b = 0, e = 0; b < n; b++) {
        while (end[e] <= begin[b]) {
            e++;
        }
        if (b + 1 == n || begin[b + 1] >= end[e]) { /* the next event behind this start is an end */
            if (*count == 0 || sections[*count - 1] != begin[b]) {
                sections[(*count)++] = begin[b];
            }
        }
    }
    return sections;
}

static int32_t section_at(const int32_t *sections, int32_t count, int32_t step)
{
    int32_t s = 0;
    while (s < count && sections[s] < step) {
        s++;
    }
    return s;
}

static void find_gaps(Search *search, const int32_t *sections, Arena *arena)
{
    const SearchProblem *problem = search->problem;
    int32_t count = search->class_count * search->section_count, fixed = 0, gaps = 0;
    for (int32_t i = 0; i < problem->item_count; i++) {
        fixed += problem->items[i].address != NOWHERE;
    }
    search->gap_first = arena_array(arena, int32_t, count + 1);
    search->gaps = arena_array(arena, Gap, (isize)count * (problem->range_count + fixed));
    for (int32_t at = 0; at < count; at++) {
        search->gap_first[at] = gaps;
        uint32_t mask = search->class_ranges[at / search->section_count];
        int32_t step = sections[at % search->section_count];
        for (int32_t r = 0; r < problem->range_count; r++) {
            if ((mask >> r & 1) == 0) {
                continue;
            }
            uint32_t from = problem->range[r].begin;
            while (from < problem->range[r].end) { /* to the next obstacle */
                uint32_t to = problem->range[r].end, next = to;
                for (int32_t i = 0; fixed > 0 && i < problem->item_count; i++) {
                    const SearchItem *item = &problem->items[i];
                    if (item->address == NOWHERE || step < item->first || step >= item->last) {
                        continue;
                    }
                    uint32_t end = item->address + bytes_in(problem, item, r);
                    if (end > from && item->address < to) {
                        to = item->address;
                        next = end;
                    }
                }
                if (from < to) {
                    search->gaps[gaps++] = (Gap){from, to};
                }
                from = next;
            }
        }
    }
    search->gap_first[count] = gaps;
}

static bool is_identical(const Search *search, const SearchItem *a, const SearchItem *b)
{
    (void)search;
    return a->ranges == b->ranges && a->bytes == b->bytes && a->bytes_high == b->bytes_high &&
           a->tail_bytes == b->tail_bytes && a->align == b->align && a->first == b->first &&
           a->last == b->last;
}

/* False: some item has no place at all, or the given addresses break a rule. */
static bool build(Search *search, const SearchProblem *problem, Arena *arena)
{
    int32_t n = problem->item_count, free_count = 0;
    search->problem = problem;
    uint64_t *is_apart = arena_array(arena, uint64_t, ((isize)n * n + 63) / 64);
    uint64_t *is_paired = arena_array(arena, uint64_t, (n + 63) / 64);
    for (int32_t p = 0; p < problem->pair_count; p++) {
        SearchPair pair = problem->pairs[p];
        bit_set(is_apart, (isize)pair.a * n + pair.b);
        bit_set(is_apart, (isize)pair.b * n + pair.a);
        bit_set(is_paired, pair.a);
        bit_set(is_paired, pair.b);
    }
    if (!check_given(problem, is_apart)) {
        return false;
    }
    int32_t section_count;
    int32_t *sections = find_sections(problem, &section_count, arena);
    search->section_count = section_count;
    search->items = arena_array(arena, Free, n);
    search->is_plain = problem->range_count == 1;
    uint32_t all = problem->range_count == 32 ? 0xffffffffu : (1u << problem->range_count) - 1;
    search->class_ranges[0] = all;
    search->class_count = 1;
    isize other_count = 0, obstacle_count = 0, member_count = 0;
    for (int32_t i = 0; i < n; i++) {
        const SearchItem *item = &problem->items[i];
        ASSERT(item->bytes > 0 && item->first < item->last);
        search->is_plain &= item->address == NOWHERE && item->align == 1 &&
                            !bit_get(is_paired, i) && (item->ranges & 1) != 0 &&
                            problem->high_first > 0 &&
                            item->tail_bytes + (uint64_t)problem->range[0].end <= problem->limit;
        if (item->address != NOWHERE) {
            continue;
        }
        Free *f = &search->items[free_count++];
        *f = (Free){.item = *item, .index = i, .next = -1};
        f->item.ranges &= all;
        f->first = section_at(sections, section_count, item->first);
        f->last = section_at(sections, section_count, item->last);
        member_count += f->last - f->first;
        for (int32_t j = 0; j < n; j++) {
            if (j != i && is_alive_together(item, &problem->items[j])) {
                other_count += problem->items[j].address == NOWHERE;
                obstacle_count += problem->items[j].address != NOWHERE;
            }
        }
        int32_t c = 0;
        while (c < search->class_count && search->class_ranges[c] != f->item.ranges) {
            c++;
        }
        if (c == search->class_count && c < CLASSES_MAX) {
            search->class_ranges[search->class_count++] = f->item.ranges;
        }
        for (int32_t j = free_count - 2; j >= 0 && !bit_get(is_paired, i); j--) {
            if (!bit_get(is_paired, search->items[j].index) &&
                is_identical(search, &f->item, &search->items[j].item)) {
                search->items[j].next = free_count - 1;
                break;
            }
        }
    }
    search->item_count = free_count;
    search->others = arena_array(arena, Other, other_count);
    search->obstacles = arena_array(arena, Obstacle, obstacle_count);
    other_count = obstacle_count = 0;
    for (int32_t i = 0; i < free_count; i++) {
        Free *f = &search->items[i];
        f->others = (int32_t)other_count;
        for (int32_t j = 0; j < free_count; j++) {
            if (j != i && is_alive_together(&f->item, &search->items[j].item)) {
                search->others[other_count++] =
                    (Other){j, bit_get(is_apart, (isize)f->index * n + search->items[j].index)};
            }
        }
        f->others_end = (int32_t)other_count;
        f->obstacles = (int32_t)obstacle_count;
        for (int32_t j = 0; j < n; j++) {
            const SearchItem *item = &problem->items[j];
            if (item->address != NOWHERE && is_alive_together(&f->item, item)) {
                uint32_t end = item->address + item->bytes;
                if (problem->high_first < problem->range_count &&
                    item->address >= problem->range[problem->high_first].begin) {
                    end = item->address + item->bytes_high;
                }
                search->obstacles[obstacle_count++] =
                    (Obstacle){item->address, end, end + item->tail_bytes,
                               bit_get(is_apart, (isize)f->index * n + j)};
            }
        }
        f->obstacles_end = (int32_t)obstacle_count;
    }
    find_gaps(search, sections, arena);

    search->at = arena_array(arena, uint32_t, free_count);
    search->low = arena_array(arena, uint32_t, free_count);
    search->end = arena_array(arena, uint32_t, free_count);
    search->apart = arena_array(arena, uint32_t, free_count);
    search->rank = arena_array(arena, int32_t, free_count);
    search->stack = arena_array(arena, int32_t, free_count);
    search->is_stacked = arena_array(arena, bool, free_count);
    search->lowest = arena_array(arena, uint32_t, section_count);
    search->least_end = arena_array(arena, uint32_t, section_count);
    search->choices = arena_array(arena, uint32_t, section_count);
    search->left = arena_array(arena, uint32_t, section_count);
    search->crossing = arena_array(arena, int32_t, section_count);
    search->failures = arena_array(arena, double, section_count);
    search->highest = arena_array(arena, uint32_t, search->class_count * section_count);
    search->left_bytes = arena_array(arena, int64_t, search->class_count * section_count);
    search->dirty_words = (section_count + 63) / 64;
    search->dirty = arena_array(arena, uint64_t, search->dirty_words);
    search->member_first = arena_array(arena, int32_t, section_count + 1);
    search->members = arena_array(arena, int32_t, member_count);
    search->arena = arena;
    search->change_cap = 1 << 12;
    search->changes = arena_array(arena, Change, search->change_cap);
    for (int32_t i = 0; i < free_count; i++) {
        const Free *f = &search->items[i];
        uint32_t address = fit(search, i, 0);
        if (address == NOWHERE) {
            return false;
        }
        search->at[i] = search->low[i] = address;
        search->end[i] = end_at(search, i, address);
        count_bytes(search, i, 1);
        for (int32_t s = f->first; s < f->last; s++) {
            search->left[s]++;
        }
    }
    for (int32_t s = 0; s < section_count; s++) {
        search->member_first[s + 1] = search->member_first[s] + (int32_t)search->left[s];
        for (int32_t c = 0; c < search->class_count; c++) {
            int32_t at = c * section_count + s;
            search->highest[at] = highest_with(search, c, s, search->left_bytes[at]);
        }
    }
    int32_t *next = arena_array(arena, int32_t, section_count);
    for (int32_t i = 0; i < free_count; i++) {
        for (int32_t s = search->items[i].first; s < search->items[i].last; s++) {
            search->members[search->member_first[s] + next[s]++] = i;
        }
    }
    for (int32_t i = 0; i < free_count; i++) { /* identical items ascend */
        int32_t j = search->items[i].next;
        if (j >= 0) {
            uint32_t address =
                search->low[j] < search->end[i] ? fit(search, j, search->end[i]) : search->low[j];
            if (address == NOWHERE) {
                return false;
            }
            search->low[j] = address;
            search->end[j] = end_at(search, j, address);
        }
    }
    return true;
}

/* --- rules ----------------------------------------------------------------------------------------------- */

static double key_of(const Search *search, int32_t i, char key)
{
    const Free *f = &search->items[i];
    double steps = f->item.last - f->item.first, sections = f->last - f->first;
    double most = 0;
    switch (key) {
    case 'W':
        return steps;
    case 'S':
        return sections;
    case 'A':
        return steps * f->item.bytes;
    case 'B':
        return sections * f->item.bytes;
    case 'Z':
        return f->item.bytes;
    default:
        for (int32_t s = f->first; s < f->last; s++) {
            double bytes = (double)search->left_bytes[s];
            most = most < bytes ? bytes : most;
        }
        return most;
    }
}

/* Greatest key first, then greatest area. */
static void rank_items(Search *search, uint64_t seed, Arena scratch)
{
    int32_t n = search->item_count;
    double *value = arena_array(&scratch, double, n), *area = arena_array(&scratch, double, n);
    int32_t *order = arena_array(&scratch, int32_t, n);
    for (int32_t i = 0; i < n; i++) {
        value[i] = key_of(search, i, search->rule.key) *
                   (1 + search->rule.jitter * random_unit(seed, (uint64_t)i));
        area[i] = key_of(search, i, 'A');
        int32_t at = i;
        while (at > 0 && (value[i] > value[order[at - 1]] ||
                          (value[i] == value[order[at - 1]] && area[i] > area[order[at - 1]]))) {
            order[at] = order[at - 1];
            at--;
        }
        order[at] = i;
    }
    for (int32_t i = 0; i < n; i++) {
        search->rank[order[i]] = i;
    }
}

/* Rules of runs by turns; no single one is good at everything, and a run that goes wrong early is best begun anew. The
 * weights are in bytes of 1 MiB; families and weights are those that solved most of the minimalloc instances in 2000 random
 * runs each. */
static Rule rule_of(uint64_t run, double scale)
{
    static const struct {
        const char *keys;
        double slack[4], choice[4], failure[4];
    } families[] = {
        {"WSWS", {0.1, 0.25, 0.5, 0.7}, {0, 0, 0, 5000}, {0, 1000, 5000, 20000}},
        {"ABAZ", {0.25, 0.5, 0.7, 0.7}, {0, 5000, 20000, 20000}, {0, 1000, 1000, 5000}},
        {"WSBT", {0.1, 0.25, 0.5, 0.5}, {20000, 80000, 80000, 80000}, {5000, 20000, 80000, 80000}},
        {"WAZT", {0.25, 0.5, 0.7, 1.0}, {0, 5000, 80000, 1000000}, {0, 5000, 20000, 80000}},
    };
    static const double jitter[] = {0.1, 0.3, 0.3, 1};
    static const int32_t raises[] = {50, 200};
    const int family = (int)(run % 4);
#define PICK(table, count, at) table[random_below(1, run * 8 + (at), (count))]
    return (Rule){.slack_weight = PICK(families[family].slack, 4, 0),
                  .choice_weight = PICK(families[family].choice, 4, 1) * scale,
                  .failure_weight = PICK(families[family].failure, 4, 2) * scale,
                  .key = PICK(families[family].keys, 4, 3),
                  .is_low_first = random_below(1, run * 8 + 4, 8) != 0,
                  .jitter = PICK(jitter, 4, 5),
                  .raises_max = PICK(raises, 2, 6)};
#undef PICK
}

/* 1 1 2 1 1 2 4 1 1 2 1 1 2 4 8 ... (Luby, Sinclair, Zuckerman 1993) */
static int64_t luby(int64_t run)
{
    for (int64_t length = 1;;) {
        while (length < run + 1) {
            length = 2 * length + 1;
        }
        if (length == run + 1) {
            return (length + 1) / 2;
        }
        run -= length / 2;
        length = 1;
    }
}

SearchResult place_search(const SearchProblem *problem, int64_t nodes_max, Arena *keep,
                          Arena scratch)
{
    SearchResult result = {.outcome = SEARCH_EXHAUSTED};
    Search search = {0};
    if (!build(&search, problem, &scratch)) {
        return result;
    }
    double scale = (double)problem->range[problem->range_count - 1].end / (1 << 20);
    Arena more = arena_split(&scratch, (scratch.end - scratch.at) / 2);
    search.arena = &more;
    for (int64_t run = 0;; run++) {
        if (result.nodes >= nodes_max) {
            result.outcome = SEARCH_GAVE_UP;
            return result;
        }
        search.rule = rule_of((uint64_t)run, scale);
        rank_items(&search, (uint64_t)run, scratch);
        for (int32_t s = 0; s < search.section_count; s++) {
            search.failures[s] = 1;
        }
        search.nodes = 0;
        search.nodes_limit =
            min_i64(luby(run) * (50 + search.item_count * 5 / 4), nodes_max - result.nodes);
        search.is_stopped = false;
        mark_dirty(&search, 0, search.section_count);
        bool is_found = solve(&search, 0, search.section_count);
        result.nodes += search.nodes;
        if (is_found) {
            result.outcome = SEARCH_FOUND;
            result.address = arena_array(keep, uint32_t, problem->item_count);
            for (int32_t i = 0; i < problem->item_count; i++) {
                result.address[i] = problem->items[i].address;
            }
            for (int32_t i = 0; i < search.item_count; i++) {
                result.address[search.items[i].index] = search.low[i];
            }
            return result;
        }
        if (!search.is_stopped) {
            return result;
        }
        undo(&search, 0, 0);
    }
}
