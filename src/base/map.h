/* Hash map from strings or 64-bit keys to 32-bit values. Iteration order is never offered:
 * determinism. */
#pragma once
#include "base/str.h"

typedef struct StrMap {
    struct StrMapSlot *slots;
    isize cap, len;
} StrMap;

/* Pointer to the value of `key`, inserting 0 when absent; the key text is not copied. Valid until
 * the next insert. */
uint32_t *str_map_put(StrMap *map, Str key, Arena *arena);
/* NULL when absent. */
const uint32_t *str_map_get(const StrMap *map, Str key);

typedef struct IntMap {
    struct IntMapSlot *slots;
    isize cap, len;
} IntMap;
uint32_t *int_map_put(IntMap *map, uint64_t key, Arena *arena);
const uint32_t *int_map_get(const IntMap *map, uint64_t key);
