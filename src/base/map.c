/* Open-addressing hash maps with linear probing, at most two thirds full.
 *
 * Memory of outgrown tables stays in the arena; doubling bounds it to the size of the last one.
 * There is no iteration on purpose: the order of slots must never reach a result (style.md 6).
 */
#include "base/map.h"
#include "base/bits.h"

struct StrMapSlot {
    Str key;
    uint64_t hash;
    uint32_t value;
    bool used;
};

struct IntMapSlot {
    uint64_t key;
    uint32_t value;
    bool used;
};

typedef struct StrMapSlot StrSlot;
typedef struct IntMapSlot IntSlot;

static uint64_t hash_of_key(uint64_t key)
{
    key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9u;
    key = (key ^ (key >> 27)) * 0x94d049bb133111ebu;
    return key ^ (key >> 31);
}

static bool is_crowded(isize len, isize cap)
{
    return 3 * (len + 1) > 2 * cap;
}

static StrSlot *str_slot(StrSlot *slots, isize cap, Str key, uint64_t hash)
{
    isize mask = cap - 1;
    for (isize i = (isize)(hash & (uint64_t)mask);; i = (i + 1) & mask) {
        if (!slots[i].used || (slots[i].hash == hash && str_equal(slots[i].key, key))) {
            return &slots[i];
        }
    }
}

static IntSlot *int_slot(IntSlot *slots, isize cap, uint64_t key)
{
    isize mask = cap - 1;
    for (isize i = (isize)(hash_of_key(key) & (uint64_t)mask);; i = (i + 1) & mask) {
        if (!slots[i].used || slots[i].key == key) {
            return &slots[i];
        }
    }
}

uint32_t *str_map_put(StrMap *map, Str key, Arena *arena)
{
    if (is_crowded(map->len, map->cap)) {
        isize cap = map->cap > 0 ? 2 * map->cap : 16;
        StrSlot *slots = arena_array(arena, StrSlot, cap);
        for (isize i = 0; i < map->cap; i++) {
            if (map->slots[i].used) {
                *str_slot(slots, cap, map->slots[i].key, map->slots[i].hash) = map->slots[i];
            }
        }
        map->slots = slots;
        map->cap = cap;
    }
    uint64_t hash = str_hash(key);
    StrSlot *slot = str_slot(map->slots, map->cap, key, hash);
    if (!slot->used) {
        *slot = (StrSlot){.key = key, .hash = hash, .used = true};
        map->len++;
    }
    return &slot->value;
}

const uint32_t *str_map_get(const StrMap *map, Str key)
{
    if (map->len == 0) {
        return NULL;
    }
    StrSlot *slot = str_slot(map->slots, map->cap, key, str_hash(key));
    return slot->used ? &slot->value : NULL;
}

uint32_t *int_map_put(IntMap *map, uint64_t key, Arena *arena)
{
    if (is_crowded(map->len, map->cap)) {
        isize cap = map->cap > 0 ? 2 * map->cap : 16;
        IntSlot *slots = arena_array(arena, IntSlot, cap);
        for (isize i = 0; i < map->cap; i++) {
            if (map->slots[i].used) {
                *int_slot(slots, cap, map->slots[i].key) = map->slots[i];
            }
        }
        map->slots = slots;
        map->cap = cap;
    }
    IntSlot *slot = int_slot(map->slots, map->cap, key);
    if (!slot->used) {
        *slot = (IntSlot){.key = key, .used = true};
        map->len++;
    }
    return &slot->value;
}

const uint32_t *int_map_get(const IntMap *map, uint64_t key)
{
    if (map->len == 0) {
        return NULL;
    }
    IntSlot *slot = int_slot(map->slots, map->cap, key);
    return slot->used ? &slot->value : NULL;
}
