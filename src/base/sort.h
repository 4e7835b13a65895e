/* Deterministic sorting. */
#pragma once
#include "base/arena.h"

typedef int (*SortCompare)(const void *a, const void *b, const void *context);
/* Stable merge sort of `count` elements of `elem_bytes`. */
void sort_stable(void *at, isize count, isize elem_bytes, SortCompare compare, const void *context,
                 Arena scratch);
/* Stable LSD radix sort of (key, payload) pairs by key. */
typedef struct SortKey {
    uint64_t key;
    uint32_t payload;
} SortKey;
void sort_keys(SortKey *keys, isize count, Arena scratch);
