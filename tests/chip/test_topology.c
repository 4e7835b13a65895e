/* Check values of exchange.md 2: permutation, direction, time to mux, latency, early members. */
#include "chip/chip.h"
#include "test.h"

typedef struct Example {
    int s, d, dir, time, latency; /* logical tiles */
} Example;

static PhysTile phys(int logical)
{
    return phys_of((Tile){(uint16_t)logical});
}

static PhysTile id(int physical)
{
    return (PhysTile){(uint16_t)physical};
}

static void permutation(void)
{
    static const int table[][2] = {
        {0, 0},     {1, 2},     {2, 64},  {22, 704}, {32, 1024}, {44, 1408}, {46, 1409}, {47, 1411},
        {48, 1345}, {100, 260}, {274, 9}, {736, 32}, {1286, 53}, {1470, 61}, {1471, 63},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        CHECK_EQ_INT(phys(table[i][0]).id, table[i][1]);
    }
    uint8_t bytes[2 * CHIP_TILES];
    bool is_seen[CHIP_TILES] = {false};
    for (int l = 0; l < CHIP_TILES; l++) {
        PhysTile p = phys(l);
        CHECK(p.id < CHIP_TILES);
        CHECK(!is_seen[p.id]);
        is_seen[p.id] = true;
        CHECK_EQ_INT(tile_of(p).id, l);
        CHECK_EQ_INT(tile_of(partner_of(p)).id, l ^ 1);
        CHECK_EQ_INT(phys_row(p), p.id >> 6);
        bytes[2 * l] = (uint8_t)(p.id & 255);
        bytes[2 * l + 1] = (uint8_t)(p.id >> 8);
    }
    CHECK_EQ_INT(crc32_of(bytes, sizeof bytes), 0xfaf6f8b1);
}

static void examples(void)
{
    static const Example table[] = {
        {0, 1286, 1, -23, 30}, {736, 100, 2, 49, 110}, {1286, 1471, 2, -14, 39},
        {32, 0, 1, 3, 56},     {0, 274, 1, -23, 30},   {0, 2, 1, -31, 24},
        {0, 3, 1, -30, 25},    {2, 0, 1, -27, 26},     {2, 1, 1, -26, 27},
        {0, 46, 1, -69, 28},   {0, 47, 1, -70, 27},    {100, 736, 1, 1, 54},
        {1471, 0, 1, -13, 40}, {700, 701, 2, -28, 59},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        PhysTile s = phys(table[i].s), d = phys(table[i].d);
        CHECK_EQ_INT(direction_of(s, d), table[i].dir);
        CHECK_EQ_INT(time_to_mux(s, d), table[i].time);
        CHECK_EQ_INT(latency_of(s, d), table[i].latency);
    }
}

static void early_members(void)
{
    CHECK(time_to_mux(phys(0), phys(2)) < time_to_mux(phys(0), phys(3)));
    CHECK(time_to_mux(phys(2), phys(0)) < time_to_mux(phys(2), phys(1)));
    CHECK(time_to_mux(phys(0), phys(47)) < time_to_mux(phys(0), phys(46)));
}

static void all_pairs(void)
{
    Arena arena = arena_create(16 << 20);
    int64_t count = (int64_t)CHIP_TILES * CHIP_TILES;
    uint8_t *times = arena_array(&arena, uint8_t, 2 * count);
    uint8_t *directions = arena_array(&arena, uint8_t, count);
    int64_t histogram[9] = {0}, latency_sum = 0, time_sum = 0;
    int time_min = 999, time_max = -999, latency_min = 999, latency_max = -999;
    int64_t at = 0;
    for (int s = 0; s < CHIP_TILES; s++) {
        for (int d = 0; d < CHIP_TILES; d++, at++) {
            int time = time_to_mux(id(s), id(d)), latency = latency_of(id(s), id(d));
            times[2 * at] = (uint8_t)(time & 255);
            times[2 * at + 1] = (uint8_t)((time >> 8) & 255);
            directions[at] = (uint8_t)direction_of(id(s), id(d));
            CHECK(latency >= 0 && latency < 180);
            histogram[latency / 20]++;
            latency_sum += latency;
            latency_min = latency < latency_min ? latency : latency_min;
            latency_max = latency > latency_max ? latency : latency_max;
            if (s == d) {
                CHECK(time == -29 || time == -28);
            } else {
                time_sum += time;
                time_min = time < time_min ? time : time_min;
                time_max = time > time_max ? time : time_max;
            }
            /* Both members of a pair: same direction, times that differ by exactly one. */
            int other = time_to_mux(id(s), id(d ^ 2));
            CHECK_EQ_INT((time - other) * (time - other), 1);
            CHECK_EQ_INT(direction_of(id(s), id(d ^ 2)), directions[at]);
        }
    }
    CHECK_EQ_INT(crc32_of(times, 2 * count), 0xc46a8442);
    CHECK_EQ_INT(crc32_of(directions, count), 0x858c4268);
    static const int64_t expected[9] = {322,    267076, 688298, 706238, 318642,
                                        131330, 45356,  9108,   414};
    for (int i = 0; i < 9; i++) {
        CHECK_EQ_INT(histogram[i], expected[i]);
    }
    CHECK_EQ_INT(time_min, -78);
    CHECK_EQ_INT(time_max, 112);
    CHECK_EQ_INT(latency_min, 19);
    CHECK_EQ_INT(latency_max, 165);
    CHECK_NEAR((double)time_sum / (double)(count - CHIP_TILES), -9.9, 0.05);
    CHECK_NEAR((double)latency_sum / (double)count, 65.1, 0.05);
    arena_destroy(&arena);
}

/* D does not depend on the receiver's row (exchange.md 2.4). */
static void latency_ignores_receiver_row(void)
{
    for (int s = 0; s < CHIP_TILES; s += 37) {
        for (int d = 0; d < CHIP_TILES; d++) {
            CHECK_EQ_INT(latency_of(id(s), id(d)), latency_of(id(s), id(d & 63)));
        }
    }
}

/* Between senders of one place T differs by the rows only (exchange.md 2.4), and places count along the spine. */
static void spine_places(void)
{
    static const int table[][2] = {{0, 0}, {1, 1}, {2, 0}, {53, 11}, {32, 30}, {63, 3}, {1409, 1}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        CHECK_EQ_INT(phys_spine_place(id(table[i][0])), table[i][1]);
    }
    int first[32];
    memset(first, -1, sizeof first);
    for (int s = 0; s < CHIP_TILES; s++) {
        int place = phys_spine_place(id(s));
        CHECK(place >= 0 && place < 32);
        if (first[place] < 0) {
            first[place] = s;
        }
        for (int d = 0; d < CHIP_TILES; d += 31) {
            if (d != s && d != first[place]) {
                CHECK_EQ_INT(time_to_mux(id(s), id(d)) - time_to_mux(id(first[place]), id(d)),
                             2 * (phys_row(id(s)) - phys_row(id(first[place]))));
            }
        }
    }
}

TEST_MAIN(permutation, examples, early_members, all_pairs, latency_ignores_receiver_row,
          spine_places)
