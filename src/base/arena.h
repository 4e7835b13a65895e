/* Bump allocator over one large, lazily committed reservation (style.md 6).
 *
 * Everything of one lifetime goes into one arena and disappears with it; there is no free.
 * Scratch is passed BY VALUE: what the callee allocates vanishes when it returns.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef ptrdiff_t isize;

typedef struct Arena {
    uint8_t *base; /* start of the reservation, for arena_destroy */
    uint8_t *at;   /* next free byte */
    uint8_t *end;  /* one past the reservation */
} Arena;

/* Reserves address space of `bytes`; memory is committed when it is touched. Aborts on failure. */
Arena arena_create(isize bytes);
void arena_destroy(Arena *arena);
/* Returns zeroed memory; `align` is a power of two. Aborts with a message when the arena is full.
 */
void *arena_alloc(Arena *arena, isize bytes, isize align);
/* Cuts `bytes` off the end of `arena` as an arena of its own (a worker thread's scratch). */
Arena arena_split(Arena *arena, isize bytes);

#define arena_new(arena, T) ((T *)arena_alloc((arena), (isize)sizeof(T), (isize) _Alignof(T)))
#define arena_array(arena, T, count)                                                               \
    ((T *)arena_alloc((arena), arena_bytes_((count), (isize)sizeof(T)), (isize) _Alignof(T)))

/* Product with overflow check; aborts like a full arena. */
isize arena_bytes_(isize count, isize elem_bytes);
