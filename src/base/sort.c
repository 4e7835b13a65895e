/* Deterministic sorting: a stable bottom-up merge sort and a stable radix sort.
 *
 * qsort is neither stable nor the same everywhere. Both sorts need one copy of the data as scratch.
 */
#include "base/sort.h"
#include <string.h>

enum { INSERTION_RUN = 8 };

static void insertion_sort(char *at, isize count, isize bytes, SortCompare compare,
                           const void *context, char *held)
{
    for (isize i = 1; i < count; i++) {
        isize to = i;
        while (to > 0 && compare(at + (to - 1) * bytes, at + i * bytes, context) > 0) {
            to--;
        }
        if (to < i) {
            memcpy(held, at + i * bytes, (size_t)bytes);
            memmove(at + (to + 1) * bytes, at + to * bytes, (size_t)((i - to) * bytes));
            memcpy(at + to * bytes, held, (size_t)bytes);
        }
    }
}

static void merge(const char *left, isize left_count, const char *right, isize right_count,
                  char *out, isize bytes, SortCompare compare, const void *context)
{
    while (left_count > 0 && right_count > 0) {
        if (compare(left, right, context) <= 0) {
            memcpy(out, left, (size_t)bytes);
            left += bytes;
            left_count--;
        } else {
            memcpy(out, right, (size_t)bytes);
            right += bytes;
            right_count--;
        }
        out += bytes;
    }
    memcpy(out, left, (size_t)(left_count * bytes));
    memcpy(out + left_count * bytes, right, (size_t)(right_count * bytes));
}

void sort_stable(void *at, isize count, isize elem_bytes, SortCompare compare, const void *context,
                 Arena scratch)
{
    if (count < 2) {
        return;
    }
    char *from = at;
    char *to = arena_alloc(&scratch, arena_bytes_(count, elem_bytes), 16);
    for (isize i = 0; i < count; i += INSERTION_RUN) {
        isize run = count - i < INSERTION_RUN ? count - i : INSERTION_RUN;
        insertion_sort(from + i * elem_bytes, run, elem_bytes, compare, context, to);
    }
    for (isize width = INSERTION_RUN; width < count; width *= 2) {
        for (isize i = 0; i < count; i += 2 * width) {
            isize left = count - i < width ? count - i : width;
            isize right = count - i - left < width ? count - i - left : width;
            const char *begin = from + i * elem_bytes;
            merge(begin, left, begin + left * elem_bytes, right, to + i * elem_bytes, elem_bytes,
                  compare, context);
        }
        char *swap = from;
        from = to;
        to = swap;
    }
    if (from != at) {
        memcpy(at, from, (size_t)(count * elem_bytes));
    }
}

void sort_keys(SortKey *keys, isize count, Arena scratch)
{
    if (count < 2) {
        return;
    }
    SortKey *from = keys;
    SortKey *to = arena_array(&scratch, SortKey, count);
    for (int shift = 0; shift < 64; shift += 8) {
        isize starts[256] = {0};
        for (isize i = 0; i < count; i++) {
            starts[(from[i].key >> shift) & 255]++;
        }
        if (starts[(from[0].key >> shift) & 255] == count) {
            continue; /* all keys agree in this byte */
        }
        isize sum = 0;
        for (int b = 0; b < 256; b++) {
            isize here = starts[b];
            starts[b] = sum;
            sum += here;
        }
        for (isize i = 0; i < count; i++) {
            to[starts[(from[i].key >> shift) & 255]++] = from[i];
        }
        SortKey *swap = from;
        from = to;
        to = swap;
    }
    if (from != keys) {
        memcpy(keys, from, (size_t)count * sizeof *keys);
    }
}
