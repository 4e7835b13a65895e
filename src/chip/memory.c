/* SRAM elements and address units (tile-timing.md 5.1, exchange.md 9).
 *
 * Two views of region 1 exist on purpose: the accesses of one bundle meet 16 KiB elements that
 * alternate every 64 bits, while exchange and placement separate whole 32 KiB pairs (decisions.md
 * B).
 */
#include "chip/memory.h"
#include "base/error.h"

enum { GROUPS_REGION0 = 13, PAIR_BYTES = 2 * ELEMENT_BYTES };

_Static_assert(SRAM_BASE + SRAM_BYTES == SRAM_END, "SRAM map");
_Static_assert(SRAM_BASE + GROUPS_REGION0 * ELEMENT_BYTES == SRAM_REGION1,
               "region 0 is 13 elements");
_Static_assert(SRAM_REGION1 + 13 * PAIR_BYTES == SRAM_END, "region 1 is 13 pairs");

static bool is_in_sram(uint32_t address)
{
    return address >= SRAM_BASE && address < SRAM_END;
}

Element element_of(uint32_t address)
{
    ASSERT(is_in_sram(address));
    uint32_t id;
    if (address < SRAM_REGION1) {
        id = (address - SRAM_BASE) >> 14;
    } else {
        id = GROUPS_REGION0 + 2 * ((address - SRAM_REGION1) >> 15) + ((address >> 3) & 1);
    }
    return (Element){(uint8_t)id};
}

int group_of(uint32_t address)
{
    ASSERT(is_in_sram(address));
    if (address < SRAM_REGION1) {
        return (int)((address - SRAM_BASE) / ELEMENT_BYTES);
    }
    return GROUPS_REGION0 + (int)((address - SRAM_REGION1) / PAIR_BYTES);
}

AddrRange group_range(int group)
{
    ASSERT(group >= 0);
    ASSERT(group < EXCHANGE_GROUP_COUNT);
    if (group < GROUPS_REGION0) {
        uint32_t begin = SRAM_BASE + (uint32_t)group * ELEMENT_BYTES;
        return (AddrRange){begin, begin + ELEMENT_BYTES};
    }
    uint32_t begin = SRAM_REGION1 + (uint32_t)(group - GROUPS_REGION0) * PAIR_BYTES;
    return (AddrRange){begin, begin + PAIR_BYTES};
}

uint32_t groups_of(uint32_t begin, uint32_t end)
{
    if (begin >= end) {
        return 0;
    }
    return ~0u << group_of(begin) & ~0u >> (31 - group_of(end - 1));
}

bool ranges_share_group(AddrRange a, AddrRange b)
{
    return (groups_of(a.begin, a.end) & groups_of(b.begin, b.end)) != 0;
}

bool range_in_sram(uint32_t address, uint32_t bytes)
{
    return address >= SRAM_BASE && address <= SRAM_END && bytes <= SRAM_END - address;
}

uint32_t word_of_byte(uint32_t byte_address)
{
    ASSERT(byte_address % 4 == 0);
    return byte_address / 4;
}

uint32_t byte_of_word(uint32_t word_address)
{
    return word_address * 4;
}
