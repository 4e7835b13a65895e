/* Arena over an anonymous mapping (style.md 6).
 *
 * Allocations must be zero, yet a reservation may be far larger than what is ever touched, so
 * zeroing by hand would commit memory for nothing. The first bytes of every arena therefore
 * remember which part has been handed out before: [low, high) is still fresh from the kernel and
 * needs no clearing. Copies of an arena passed by value share that header, so scratch that vanished
 * is cleared on reuse.
 */
#include "base/arena.h"
#include "base/error.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { HEADER_BYTES = 64, HUGE_PAGE_FROM_BYTES = 64 << 20, RESERVATION_MIN_BYTES = 1 << 20 };

typedef struct Header {
    uint8_t *low;       /* everything below was handed out before */
    uint8_t *high;      /* everything from here on was handed out before (split off the end) */
    isize mapped_bytes; /* 0: part of another arena's mapping */
} Header;

_Static_assert(sizeof(Header) <= HEADER_BYTES, "the header must fit in front of the arena");

_Noreturn static void out_of_memory(const char *what, isize bytes)
{
    fprintf(stderr, "tessera: out of memory: %s (%td bytes)\n", what, bytes);
    _Exit(EXIT_BUG);
}

static Header *header_of(const Arena *arena)
{
    return (Header *)(void *)arena->base;
}

static uint8_t *clamp(uint8_t *at, uint8_t *low, uint8_t *high)
{
    return at < low ? low : at > high ? high : at;
}

static void clear_used(Header *header, uint8_t *begin, uint8_t *end)
{
    uint8_t *low = clamp(header->low, begin, end);
    uint8_t *high = clamp(header->high, low, end);
    memset(begin, 0, (size_t)(low - begin));
    memset(high, 0, (size_t)(end - high));
}

Arena arena_create(isize bytes)
{
    isize page = 4096;
    if (bytes < 0 || bytes > PTRDIFF_MAX - 2 * page) {
        out_of_memory("reservation", bytes);
    }
    isize mapped;
    void *at;
    for (isize want = bytes;; want /= 2) { /* where address space is limited, half of it may do */
        mapped = (want + HEADER_BYTES + page - 1) / page * page;
        at = mmap(NULL, (size_t)mapped, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (at != MAP_FAILED) {
            break;
        }
        if (want < RESERVATION_MIN_BYTES) {
            out_of_memory("reservation", bytes);
        }
    }
    if (mapped >= HUGE_PAGE_FROM_BYTES) {
        (void)madvise(at, (size_t)mapped, MADV_HUGEPAGE);
    }
    Arena arena = {.base = at, .at = (uint8_t *)at + HEADER_BYTES, .end = (uint8_t *)at + mapped};
    *header_of(&arena) = (Header){.low = arena.at, .high = arena.end, .mapped_bytes = mapped};
    return arena;
}

void arena_destroy(Arena *arena)
{
    if (arena->base != NULL) {
        isize mapped = header_of(arena)->mapped_bytes;
        if (mapped > 0) {
            (void)munmap(arena->base, (size_t)mapped);
        }
    }
    *arena = (Arena){0};
}

void *arena_alloc(Arena *arena, isize bytes, isize align)
{
    isize padding = (isize)(-(uintptr_t)arena->at & ((uintptr_t)align - 1));
    isize room = arena->end - arena->at;
    if (bytes < 0 || padding > room || bytes > room - padding) {
        out_of_memory("arena is full", bytes);
    }
    Header *header = header_of(arena);
    uint8_t *begin = arena->at + padding;
    uint8_t *end = begin + bytes;
    clear_used(header, begin, end);
    if (header->low < end) {
        header->low = end;
    }
    arena->at = end;
    return begin;
}

Arena arena_split(Arena *arena, isize bytes)
{
    isize room = arena->end - arena->at;
    if (bytes < 0 || bytes > room - 2 * HEADER_BYTES) {
        out_of_memory("arena is too full to be split", bytes);
    }
    Header *parent = header_of(arena);
    uintptr_t begin = (uintptr_t)arena->end - (uintptr_t)bytes - HEADER_BYTES;
    uint8_t *base = arena->end - ((uintptr_t)arena->end - (begin & ~(uintptr_t)(HEADER_BYTES - 1)));
    Arena part = {.base = base, .at = base + HEADER_BYTES, .end = arena->end};
    Header header = {.low = clamp(parent->low, part.at, part.end),
                     .high = clamp(parent->high, part.at, part.end)};
    if (parent->high <= part.at) {
        header.low = part.end;
        header.high = part.end;
    }
    if (parent->high > base) {
        parent->high = base;
    }
    *header_of(&part) = header;
    arena->end = base;
    return part;
}

isize arena_bytes_(isize count, isize elem_bytes)
{
    isize bytes;
    if (count < 0 || __builtin_mul_overflow(count, elem_bytes, &bytes)) {
        out_of_memory("array too large", count);
    }
    return bytes;
}
