/* Random numbers: the published SplitMix64 stream, libm as oracle for the normal sample, statistics, and
 * equality of bits between compilers (the CRC below was computed with another language's doubles). */
#include "test.h"
#include <math.h>

static void splitmix(void)
{
    /* First outputs of the public-domain SplitMix64 generator seeded with 1234567. The generator adds its
     * constant to the state before each output, so output n is the function of seed + n * constant. */
    static const uint64_t expected[3] = {6457827717110365317u, 3203168211198807973u,
                                         9817491932198370423u};
    uint64_t state = 1234567;
    for (int i = 0; i < 3; i++) {
        CHECK(random_u64(state, 0) == expected[i]);
        state += 0x9e3779b97f4a7c15u;
    }
    CHECK(random_u64(0xff00u, 0x00ffu) == random_u64(0xffffu, 0));
}

static void bounds(void)
{
    int64_t counts[10] = {0};
    for (uint64_t i = 0; i < 100000; i++) {
        counts[random_below(1, i, 10)]++;
        double unit = random_unit(2, i);
        CHECK(unit > 0.0 && unit < 1.0);
    }
    for (int i = 0; i < 10; i++) {
        CHECK(counts[i] > 9500 && counts[i] < 10500);
    }
    CHECK_EQ_INT(random_below(1, 2, 1), 0);
}

static void normal_against_libm(void)
{
    double sum = 0, squares = 0, fourth = 0;
    enum { COUNT = 200000 };
    for (uint64_t i = 0; i < COUNT; i++) {
        double value = random_normal(99, i);
        uint64_t z = random_u64(99, i), y = random_u64(~(uint64_t)99, z);
        double radius = ((double)(z >> 12) + 0.5) * 0x1p-52,
               turn = ((double)(y >> 12) + 0.5) * 0x1p-52;
        double expected = sqrt(-2.0 * log(radius)) * cos(6.283185307179586 * turn);
        CHECK_NEAR(value, expected, 1e-14);
        sum += value;
        squares += value * value;
        fourth += value * value * value * value;
    }
    CHECK_NEAR(sum / COUNT, 0.0, 0.01);
    CHECK_NEAR(squares / COUNT, 1.0, 0.015);
    CHECK_NEAR(fourth / COUNT, 3.0, 0.15);
}

/* Neighbouring samples must be independent although they come from neighbouring counters. */
static void normal_is_uncorrelated(void)
{
    enum { COUNT = 100000 };
    double lag1 = 0, lag64 = 0;
    for (uint64_t i = 0; i < COUNT; i++) {
        double value = random_normal(5, i);
        lag1 += value * random_normal(5, i + 1);
        lag64 += value * random_normal(5, i + 64);
    }
    CHECK_NEAR(lag1 / COUNT, 0.0, 0.02);
    CHECK_NEAR(lag64 / COUNT, 0.0, 0.02);
}

static void same_bits_everywhere(void)
{
    static double samples[10000];
    for (uint64_t i = 0; i < 10000; i++) {
        samples[i] = random_normal(12345, i);
    }
    CHECK_EQ_INT(crc32_of(samples, sizeof samples), 0x1f798f5a);
}

TEST_MAIN(splitmix, bounds, normal_against_libm, normal_is_uncorrelated, same_bits_everywhere)
