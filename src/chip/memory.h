/* SRAM map, memory elements and address conversions (reference/tile-timing.md 5.1, exchange.md 9).
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum {
    SRAM_BASE = 0x4c000,
    SRAM_BYTES = 0x9c000,
    SRAM_END = 0xe8000,
    SRAM_WORDS = SRAM_BYTES / 4,
    SRAM_REGION1 = 0x80000, /* first address of the interleaved region; end of executable memory */
    SRAM_IMAGE_BASE =
        0x4c010, /* launch slot; the loader cannot write below (host-and-package.md 2) */
    SRAM_IMAGE_END = 0xe7bb0,  /* the loader cannot write at or above */
    ELEMENT_BYTES = 0x4000,    /* 16 KiB */
    ELEMENT_COUNT = 39,        /* 13 in region 0, 26 in region 1 */
    EXCHANGE_GROUP_COUNT = 26, /* 13 elements + 13 pairs of 32 KiB: the unit of separation for
                                  exchange and placement */
    FETCH_AHEAD_BYTES = 64,    /* supervisor prefetch distance */
};

/* Half-open byte range. */
typedef struct AddrRange {
    uint32_t begin, end;
} AddrRange;
typedef struct Element {
    uint8_t id;
} Element;

/* Element that serves the 64-bit atom at `address`: halves of a pair alternate in region 1 (one
 * bundle's accesses). */
Element element_of(uint32_t address);
/* Unit of separation for exchange and placement: 16 KiB in region 0 (ids 0..12), 32 KiB pairs in
 * region 1 (13..25). */
int group_of(uint32_t address);
AddrRange group_range(int group);
/* Exchange groups that [begin, end) touches, a bit a group; none when it is empty. It lies inside SRAM. */
uint32_t groups_of(uint32_t begin, uint32_t end);
/* True if two half-open ranges touch a common group. Empty ranges touch none. */
bool ranges_share_group(AddrRange a, AddrRange b);
bool range_in_sram(uint32_t address, uint32_t bytes);
/* Byte <-> word addresses; the byte address must be a multiple of 4. */
uint32_t word_of_byte(uint32_t byte_address);
uint32_t byte_of_word(uint32_t word_address);
