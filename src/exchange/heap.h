/* Private to exchange: a heap of what a list schedule places next. */
#pragma once
#include "exchange/phase.h"

/* Least key first. */
typedef struct HeapItem {
    uint64_t key;
    int32_t index; /* of a message, transfer or class */
    Event start;   /* of a message: no start before it is open */
} HeapItem;

typedef struct Heap {
    HeapItem *at;
    int32_t len;
} Heap;

static inline void heap_push(Heap *heap, HeapItem item)
{
    int32_t at = heap->len++;
    for (; at > 0 && heap->at[(at - 1) / 2].key > item.key; at = (at - 1) / 2) {
        heap->at[at] = heap->at[(at - 1) / 2];
    }
    heap->at[at] = item;
}

static inline void heap_replace_first(Heap *heap, HeapItem item)
{
    int32_t at = 0;
    for (;;) {
        int32_t child = 2 * at + 1;
        if (child + 1 < heap->len && heap->at[child + 1].key < heap->at[child].key) {
            child++;
        }
        if (child >= heap->len || heap->at[child].key >= item.key) {
            break;
        }
        heap->at[at] = heap->at[child];
        at = child;
    }
    heap->at[at] = item;
}

static inline void heap_drop_first(Heap *heap)
{
    if (--heap->len > 0) {
        heap_replace_first(heap, heap->at[heap->len]);
    }
}
