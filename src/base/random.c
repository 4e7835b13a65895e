/* Counter-based random numbers (models.md 5.1), the same bytes on every machine.
 *
 * The integer generator is the SplitMix64 output function of seed XOR index. The normal sample is
 * Box-Muller; logarithm and cosine are short series in double, evaluated in one fixed order without
 * libm, whose last bits differ between versions. Square root is exact by IEEE 754.
 *
 * Built with -ffp-contract=off: a fused multiply-add would change the last bit.
 */
#include "base/random.h"
#include <math.h>
#include <string.h>

/* Natural logarithm of 0 < x < 1 (x normal). x = 2^e * m with m in [sqrt(1/2), sqrt(2));
 * ln m = 2 atanh(z), z = (m - 1) / (m + 1), |z| <= 0.1716: ten terms leave less than 1e-17. */
static double log_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    int exponent = (int)(bits >> 52) - 1023;
    bits = (bits & 0x000fffffffffffffu) | 0x3ff0000000000000u;
    double mantissa;
    memcpy(&mantissa, &bits, sizeof mantissa);
    if (mantissa > 1.4142135623730951) {
        mantissa = mantissa * 0.5;
        exponent = exponent + 1;
    }
    double z = (mantissa - 1.0) / (mantissa + 1.0);
    double w = z * z;
    double sum = 0.0;
    for (int k = 10; k >= 0; k--) {
        sum = sum * w + 1.0 / (double)(2 * k + 1);
    }
    return (double)exponent * 0.6931471805599453 + 2.0 * z * sum;
}

/* Taylor series of cosine and sine for |x| <= pi/4: terms up to x^18 and x^17. */
static double cos_near_zero(double x)
{
    double w = x * x;
    double sum = 1.0;
    for (int k = 9; k >= 1; k--) {
        sum = 1.0 - sum * w / (double)((2 * k - 1) * (2 * k));
    }
    return sum;
}

static double sin_near_zero(double x)
{
    double w = x * x;
    double sum = 1.0;
    for (int k = 8; k >= 1; k--) {
        sum = 1.0 - sum * w / (double)((2 * k) * (2 * k + 1));
    }
    return x * sum;
}

/* cos(2 pi t) for 0 < t < 1: the quarter turn is taken out exactly before any rounding. */
static double cos_of_turns(double t)
{
    double quarters = 4.0 * t;
    int nearest = (int)(quarters + 0.5);
    double angle = (quarters - (double)nearest) * 1.5707963267948966;
    switch (nearest & 3) {
    case 0:
        return cos_near_zero(angle);
    case 1:
        return -sin_near_zero(angle);
    case 2:
        return -cos_near_zero(angle);
    default:
        return sin_near_zero(angle);
    }
}

uint64_t random_u64(uint64_t seed, uint64_t index)
{
    uint64_t z = (seed ^ index) + 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

uint64_t random_below(uint64_t seed, uint64_t index, uint64_t bound)
{
    return (uint64_t)(((unsigned __int128)random_u64(seed, index) * bound) >> 64);
}

double random_unit(uint64_t seed, uint64_t index)
{
    return ((double)(random_u64(seed, index) >> 12) + 0.5) * 0x1p-52;
}

double random_normal(uint64_t seed, uint64_t index)
{
    uint64_t z = random_u64(seed, index);
    /* A second, independent word: the same index under another seed. */
    uint64_t y = random_u64(~seed, z);
    double radius_unit = ((double)(z >> 12) + 0.5) * 0x1p-52;
    double turn_unit = ((double)(y >> 12) + 0.5) * 0x1p-52;
    return sqrt(-2.0 * log_of(radius_unit)) * cos_of_turns(turn_unit);
}
