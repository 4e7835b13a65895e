/* One run of the search (search.c): stack or postpone items, with bounds per section, until all are stacked. */
#include "place/search_state.h"
#include <string.h>

/* --- addresses ------------------------------------------------------------------------------------------- */

/* First address at or behind `from` that lies in an element, or nowhere. */
static uint32_t element_behind(const SearchProblem *problem, uint32_t from)
{
    for (int32_t r = 0; r < problem->range_count; r++) {
        const SearchRange *range = &problem->range[r];
        uint32_t end = r + 1 < problem->range_count ? range[1].begin : NOWHERE;
        if (range->element_bytes != 0 && from < end && range->begin < end) {
            return from < range->begin ? range->begin : from;
        }
    }
    return NOWHERE;
}

/* 0: no element. */
static uint32_t unit_at(const SearchProblem *problem, uint32_t address)
{
    uint32_t unit = 0;
    for (int32_t r = 0; r < problem->range_count && problem->range[r].begin <= address; r++) {
        unit = problem->range[r].element_bytes;
    }
    return unit;
}

/* Where spans overlap, any element there; where they do not, that of the last byte of the lower one and the first of the other. */
bool search_share_element(const SearchProblem *problem, uint32_t a, uint32_t a_end, uint32_t b,
                          uint32_t b_end)
{
    if (a > b) {
        return search_share_element(problem, b, b_end, a, a_end);
    }
    uint32_t unit = unit_at(problem, a_end - 1);
    return b < a_end ? element_behind(problem, b) < (a_end < b_end ? a_end : b_end)
                     : unit != 0 && ((a_end - 1) | (unit - 1)) >= b;
}

/* Where an item in the range may lie as far as a partner is concerned that lies below it and ends with its tail at `end`. */
static uint64_t above_partner(const SearchProblem *problem, const SearchRange *range, uint32_t end,
                              uint64_t from)
{
    uint64_t unit = range->element_bytes, above = unit == 0 ? 0 : (end + unit - 1) & ~(unit - 1);
    bool is_near = end > range->begin || unit_at(problem, end - 1) == range->element_bytes;
    return is_near && above > from ? above : from;
}

static uint32_t bytes_in(const SearchProblem *problem, const SearchItem *item, int32_t range)
{
    return (problem->high_ranges >> range & 1) != 0 ? item->bytes_high : item->bytes;
}

static uint32_t fit_in(const Search *search, const Free *f, int32_t r, uint64_t from)
{
    const SearchProblem *problem = search->problem;
    const SearchRange *range = &problem->range[r];
    uint64_t bytes = bytes_in(problem, &f->item, r), align = f->item.align;
    uint32_t element = NOWHERE; /* that the tails of a pair may have in common */
    if (range->element_bytes == 0 && search->apart[f - search->items] != 0) {
        element = element_behind(problem, range->end);
        element = search->apart[f - search->items] > element ? element : NOWHERE;
    }
    for (uint64_t address = from;;) {
        address = (address + align - 1) & ~(align - 1);
        uint64_t end = address + bytes, tail_end = end + f->item.tail_bytes, next = 0;
        if (end > range->end || tail_end > problem->limit || tail_end > element) {
            return NOWHERE;
        }
        for (int32_t o = f->obstacles; o < f->obstacles_end; o++) {
            const Obstacle *obstacle = &search->obstacles[o];
            if (address < obstacle->end && obstacle->begin < end && obstacle->end > next) {
                next = obstacle->end;
            }
            if (obstacle->is_apart &&
                search_share_element(problem, (uint32_t)address, (uint32_t)tail_end,
                                     obstacle->begin, obstacle->tail_end)) {
                uint64_t above =
                    above_partner(problem, range, obstacle->tail_end, obstacle->tail_end);
                next = next < above ? above : next;
            }
        }
        if (next == 0) {
            return (uint32_t)address;
        }
        address = next;
    }
}

uint32_t search_fit(const Search *search, int32_t i, uint32_t from)
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
    for (int32_t r = 0; r < problem->range_count; r++) {
        const SearchRange *range = &problem->range[r];
        if ((f->item.ranges >> r & 1) == 0 || range->end <= from) {
            continue;
        }
        uint64_t start = range->begin < from ? from : range->begin;
        start = apart == 0 ? start : above_partner(problem, range, apart, start);
        uint32_t address = fit_in(search, f, r, start);
        if (address != NOWHERE) {
            return address;
        }
    }
    return NOWHERE;
}

uint32_t search_end_at(const SearchProblem *problem, const SearchItem *item, uint32_t address)
{
    int32_t r = problem->range_count - 1;
    while (r > 0 && address < problem->range[r].begin) {
        r--;
    }
    return address + bytes_in(problem, item, r);
}

uint32_t search_highest_with(const Search *search, int32_t class, int32_t section, int64_t bytes)
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

void search_mark_dirty(Search *search, int32_t first, int32_t last)
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
        uint32_t low = search->low[i], end = search->end[i], address = search_fit(search, i, from);
        if (address == NOWHERE) {
            for (int32_t s = f->first; s < f->last; s++) {
                search->failures[s] += 1.0 / (f->last - f->first);
            }
            return false;
        }
        set(search, &search->low[i], address);
        set(search, &search->end[i],
            search_end_at(search->problem, &search->items[i].item, address));
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
    bool is_low = (f->item.ranges & ~problem->high_ranges) != 0,
         is_high = (f->item.ranges & problem->high_ranges) != 0;
    return is_low && (!is_high || f->item.bytes < f->item.bytes_high) ? f->item.bytes
                                                                      : f->item.bytes_high;
}

void search_count_bytes(Search *search, int32_t i, int64_t sign)
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

void search_undo(Search *search, isize change_count, int32_t stack_count)
{
    while (search->change_count > change_count) {
        Change change = search->changes[--search->change_count];
        *change.at = change.old;
    }
    while (search->stack_count > stack_count) {
        int32_t i = search->stack[--search->stack_count];
        search->is_stacked[i] = false;
        search_count_bytes(search, i, 1);
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
    search_count_bytes(search, i, -1);
    for (int32_t c = 0; c < search->class_count; c++) {
        if ((f->item.ranges & ~search->class_ranges[c]) == 0) {
            for (int32_t s = f->first; s < f->last; s++) {
                int32_t at = c * search->section_count + s;
                set(search, &search->highest[at],
                    search_highest_with(search, c, s, search->left_bytes[at]));
            }
        }
    }
    search_mark_dirty(search, f->first, f->last);
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
        uint32_t address = search_fit(search, j, from);
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
        if (search->others[o].is_apart &&
            !raise(search, j, search_fit(search, j, search->low[j]))) {
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

/* How close the end of an item comes to the floor of a section beside it: 1 when they are level, 0 from an eighth of what the
 * section has to spare on, and where nothing is left. Beyond the first and the last section everything is level. */
static double level_with(const Search *search, int32_t i, int32_t s)
{
    if (s < 0 || s >= search->section_count) {
        return 1;
    }
    if (search->left[s] == 0) {
        return 0;
    }
    double step = (double)search->end[i] - search->lowest[s];
    double room = (search->highest[s] - search->lowest[s] + 1.0) / 8;
    step = step < 0 ? -step : step;
    return step < room ? 1 - step / room : 0;
}

/* Cost of stacking an item: the largest part of what one of its sections has to spare that would be lost below it; less where
 * its sides become level; and by rank. */
static double waste_of(const Search *search, int32_t i)
{
    const Free *f = &search->items[i];
    double most = 0;
    for (int32_t s = f->first; s < f->last; s++) {
        double lost = search->low[i] - search->lowest[s];
        double part = lost / (search->highest[s] - search->lowest[s] + 1.0);
        most = most < part ? part : most;
    }
    return most - 0.3 * (level_with(search, i, f->first - 1) + level_with(search, i, f->last)) +
           0.2 * search->rank[i] / search->item_count;
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
    double best_waste = 0;
    for (uint32_t m = 0; m < search->left[s]; m++) {
        int32_t i = members[m];
        if (search->low[i] > search->highest[s]) {
            continue;
        }
        if (!search->rule.is_snug) {
            best = is_better(search, i, best) && is_ready(search, i) ? i : best;
        } else if (is_ready(search, i)) {
            double waste = waste_of(search, i);
            if (best < 0 || waste < best_waste) {
                best = i;
                best_waste = waste;
            }
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
            } else if (!is_empty && !search_solve(search, begin, s)) {
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

bool search_solve(Search *search, int32_t first, int32_t last)
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
        if (search->nodes >= search->nodes_limit) {
            search->is_stopped = true;
            return false;
        }
        search->nodes++;
        if (i == CHOICE_AGAIN) {
            continue;
        }
        isize change_count = search->change_count;
        int32_t stack_count = search->stack_count;
        if (stack_item(search, i) && search_solve(search, first, last)) {
            return true;
        }
        if (search->is_stopped) {
            return false;
        }
        search_undo(search, change_count, stack_count);
        int32_t who;
        uint32_t end = least_end_beside(search, i, &who);
        if (who < 0 || !raise(search, i, end)) {
            return false;
        }
    }
}
