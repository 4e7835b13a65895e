/* Makes a problem ready for the search (search.c): checks given addresses, finds sections, gaps and neighbours. */
#include "place/search_state.h"
#include <stdlib.h>

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
            uint64_t end =
                (uint64_t)a->address + (search_end_at(problem, a, a->address) - a->address);
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
            uint32_t b_end = search_end_at(problem, b, b->address);
            if (a->address < b_end && b->address < a_end) {
                return false;
            }
            if (bit_get(is_apart, (isize)i * n + j) &&
                search_share_element(problem, a->address, (uint32_t)a_end + a->tail_bytes,
                                     b->address, b_end + b->tail_bytes)) {
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
                    uint32_t end = search_end_at(problem, item, item->address);
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

static bool is_identical(const SearchItem *a, const SearchItem *b)
{
    return a->ranges == b->ranges && a->bytes == b->bytes && a->bytes_high == b->bytes_high &&
           a->tail_bytes == b->tail_bytes && a->align == b->align && a->first == b->first &&
           a->last == b->last;
}

bool search_build(Search *search, const SearchProblem *problem, Arena *arena)
{
    int32_t n = problem->item_count, free_count = 0;
    ASSERT(problem->range_count >= 1 && problem->range_count <= SEARCH_RANGES_MAX);
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
                            (problem->high_ranges & 1) == 0 &&
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
                is_identical(&f->item, &search->items[j].item)) {
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
                uint32_t end = search_end_at(problem, item, item->address);
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
        uint32_t address = search_fit(search, i, 0);
        if (address == NOWHERE) {
            return false;
        }
        search->at[i] = search->low[i] = address;
        search->end[i] = search_end_at(problem, &f->item, address);
        search_count_bytes(search, i, 1);
        for (int32_t s = f->first; s < f->last; s++) {
            search->left[s]++;
        }
    }
    for (int32_t s = 0; s < section_count; s++) {
        search->member_first[s + 1] = search->member_first[s] + (int32_t)search->left[s];
        for (int32_t c = 0; c < search->class_count; c++) {
            int32_t at = c * section_count + s;
            search->highest[at] = search_highest_with(search, c, s, search->left_bytes[at]);
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
            uint32_t address = search->low[j] < search->end[i]
                                   ? search_fit(search, j, search->end[i])
                                   : search->low[j];
            if (address == NOWHERE) {
                return false;
            }
            search->low[j] = address;
            search->end[j] = search_end_at(problem, &search->items[j].item, address);
        }
    }
    return true;
}
