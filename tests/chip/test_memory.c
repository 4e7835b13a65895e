/* SRAM map (tile-timing.md 5.1) and exchange groups (exchange.md 9). */
#include "chip/chip.h"
#include "test.h"

static void elements(void)
{
    CHECK_EQ_INT(element_of(0x4c000).id, 0);
    CHECK_EQ_INT(element_of(0x4ffff).id, 0);
    CHECK_EQ_INT(element_of(0x50000).id, 1);
    CHECK_EQ_INT(element_of(0x7ffff).id, 12);
    CHECK_EQ_INT(element_of(0x80000).id, 13);
    CHECK_EQ_INT(element_of(0x80007).id, 13);
    CHECK_EQ_INT(element_of(0x80008).id, 14);
    CHECK_EQ_INT(element_of(0x80010).id, 13);
    CHECK_EQ_INT(element_of(0x87ff8).id, 14);
    CHECK_EQ_INT(element_of(0x88000).id, 15);
    CHECK_EQ_INT(element_of(0xe7ff8).id, 38);
    CHECK_EQ_INT(element_of(0xe7ff0).id, 37);
    int64_t atoms[ELEMENT_COUNT] = {0};
    for (uint32_t a = SRAM_BASE; a < SRAM_END; a += 8) {
        CHECK(element_of(a).id < ELEMENT_COUNT);
        atoms[element_of(a).id]++;
    }
    for (int i = 0; i < ELEMENT_COUNT; i++) {
        CHECK_EQ_INT(atoms[i], ELEMENT_BYTES / 8);
    }
}

static void groups(void)
{
    CHECK_EQ_INT(group_of(0x4c000), 0);
    CHECK_EQ_INT(group_of(0x7ffff), 12);
    CHECK_EQ_INT(group_of(0x80000), 13);
    CHECK_EQ_INT(group_of(0x87fff), 13);
    CHECK_EQ_INT(group_of(0x88000), 14);
    CHECK_EQ_INT(group_of(0xe7fff), 25);
    uint32_t at = SRAM_BASE;
    for (int g = 0; g < EXCHANGE_GROUP_COUNT; g++) {
        AddrRange range = group_range(g);
        CHECK_EQ_INT(range.begin, at);
        CHECK_EQ_INT(range.end - range.begin, g < 13 ? 0x4000 : 0x8000);
        CHECK_EQ_INT(group_of(range.begin), g);
        CHECK_EQ_INT(group_of(range.end - 1), g);
        at = range.end;
    }
    CHECK_EQ_INT(at, SRAM_END);
}

/* Oracle: the set of groups of every byte address that matters. */
static uint32_t group_set(AddrRange range)
{
    uint32_t set = 0;
    for (uint32_t a = range.begin; a < range.end; a += 4) {
        set |= 1u << group_of(a);
    }
    return set;
}

static void sharing(void)
{
    uint64_t seed = test_seed(41);
    for (uint64_t i = 0; i < 200; i++) {
        AddrRange r[2];
        for (uint64_t k = 0; k < 2; k++) {
            uint64_t at = random_below(seed, 4 * i + k, SRAM_WORDS);
            uint64_t words = random_below(seed, 4 * i + k + 2, 12000);
            words = words < SRAM_WORDS - at ? words : SRAM_WORDS - at;
            r[k].begin = SRAM_BASE + 4 * (uint32_t)at;
            r[k].end = r[k].begin + 4 * (uint32_t)words;
        }
        CHECK_EQ_INT(ranges_share_group(r[0], r[1]), (group_set(r[0]) & group_set(r[1])) != 0);
        CHECK_EQ_INT(ranges_share_group(r[1], r[0]), ranges_share_group(r[0], r[1]));
        CHECK_EQ_INT(groups_of(r[0].begin, r[0].end), group_set(r[0]));
    }
    CHECK(!ranges_share_group((AddrRange){0x50000, 0x50000}, (AddrRange){0x50000, 0x50004}));
    CHECK_EQ_INT(groups_of(0x50000, 0x50000), 0);
    CHECK_EQ_INT(groups_of(0x4fffc, 0x50004), 3);
    CHECK_EQ_INT(groups_of(SRAM_BASE, SRAM_END), (1u << EXCHANGE_GROUP_COUNT) - 1);
}

static void limits(void)
{
    CHECK(range_in_sram(SRAM_BASE, SRAM_BYTES));
    CHECK(!range_in_sram(SRAM_BASE - 4, 8));
    CHECK(!range_in_sram(SRAM_END - 4, 8));
    CHECK(!range_in_sram(SRAM_END - 4, 0xffffffffu));
    CHECK_EQ_INT(word_of_byte(0x4c000), 0x13000);
    CHECK_EQ_INT(byte_of_word(0x13000), 0x4c000);
    CHECK_EQ_INT(SRAM_BYTES, 624 * 1024);
    CHECK_EQ_INT((SRAM_IMAGE_END - SRAM_IMAGE_BASE), 643 * 992);
}

TEST_MAIN(elements, groups, sharing, limits)
