/* Elementary functions in fixed-order double arithmetic, and the f16 tables made from them (decisions.md A7).
 *
 * Argument reduction and Taylor series long enough for a relative error near 2^-50. The tables are correctly rounded unless an
 * f16 argument lies closer than that to a rounding boundary; tests/machine/test_tile_math.c compares all of them with long double.
 */
#include "machine/math.h"
#include <pthread.h>

static const double LN2_HI =
    0x1.62e42fefa3800p-1; /* 42 bits of ln 2, so that k * LN2_HI is exact */
static const double LN2_LO = 0x1.ef35793c76730p-45;
static const double LN2 = 0x1.62e42fefa39efp-1;
static const double LOG2E = 0x1.71547652b82fep+0;

static uint64_t bits_of_f64(double x)
{
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static double f64_of_bits(uint64_t u)
{
    double x;
    memcpy(&x, &u, sizeof x);
    return x;
}

/* -1022 <= e <= 1023. */
static double power_of_two(int e)
{
    return f64_of_bits((uint64_t)(e + 1023) << 52);
}

/* exp(r) - 1 for |r| <= 0.75. */
static double exp_less_one(double r)
{
    double sum = 1.0 / 20;
    for (int n = 19; n >= 1; n--) {
        sum = (1.0 + r * sum) / n;
    }
    return r * sum;
}

/* Nearest integer of |x| < 2^51. */
static double nearest(double x)
{
    const double magic = 0x1.8p52;
    return (x + magic) - magic;
}

static double exp_f64(double x)
{
    if (x > 709.0) {
        return f64_of_bits(0x7ff0000000000000);
    }
    if (x < -700.0) {
        return 0.0;
    }
    double k = nearest(x * LOG2E);
    double r = (x - k * LN2_HI) - k * LN2_LO;
    return (1.0 + exp_less_one(r)) * power_of_two((int)k);
}

static double exp2_f64(double x)
{
    if (x >= 1023.0) {
        return f64_of_bits(0x7ff0000000000000);
    }
    if (x < -1000.0) {
        return 0.0;
    }
    double k = nearest(x);
    return (1.0 + exp_less_one((x - k) * LN2)) * power_of_two((int)k);
}

/* x = 2^e * m with m in [1/sqrt 2, sqrt 2); returns ln m = 2 atanh((m - 1) / (m + 1)). Normal positive x only. */
static double split_ln(double x, int *e)
{
    uint64_t u = bits_of_f64(x);
    *e = (int)(u >> 52) - 1023;
    double m = f64_of_bits((u & 0x000fffffffffffff) | 0x3ff0000000000000);
    if (m > 0x1.6a09e667f3bcdp+0) {
        m *= 0.5;
        *e += 1;
    }
    double s = (m - 1.0) / (m + 1.0), s2 = s * s, sum = 1.0 / 27;
    for (int n = 25; n >= 1; n -= 2) {
        sum = 1.0 / n + s2 * sum;
    }
    return 2.0 * s * sum;
}

static double log_f64(double x, bool is_base_two)
{
    if (x == 0.0) {
        return f64_of_bits(0xfff0000000000000);
    }
    if (x < 0.0) {
        return f64_of_bits(0x7ff8000000000000);
    }
    if (x == f64_of_bits(0x7ff0000000000000)) {
        return x;
    }
    int e;
    double ln = split_ln(x, &e);
    return is_base_two ? e + ln * LOG2E : e * LN2_HI + (ln + e * LN2_LO);
}

static double tanh_f64(double x)
{
    double a = x < 0.0 ? -x : x, y;
    if (a < 0.3) {
        double t = exp_less_one(2.0 * a);
        y = t / (t + 2.0);
    } else {
        y = a > 30.0 ? 1.0 : 1.0 - 2.0 / (exp_f64(2.0 * a) + 1.0);
    }
    return f64_of_bits(bits_of_f64(y) | (bits_of_f64(x) & 0x8000000000000000)); /* keeps -0 */
}

double math_f64(MathFunction function, double x)
{
    if (x != x) {
        return f64_of_bits(0x7ff8000000000000);
    }
    switch (function) {
    case MATH_EXP:
        return exp_f64(x);
    case MATH_EXP2:
        return exp2_f64(x);
    case MATH_LN:
        return log_f64(x, false);
    case MATH_LOG2:
        return log_f64(x, true);
    case MATH_TANH:
        return tanh_f64(x);
    default:
        return 1.0 / (1.0 + exp_f64(-x));
    }
}

uint16_t math_f16_of_f64(double x)
{
    uint16_t sign = (uint16_t)(bits_of_f64(x) >> 48 & 0x8000);
    double a = f64_of_bits(bits_of_f64(x) & 0x7fffffffffffffff);
    if (a != a) {
        return F16_NAN;
    }
    if (a >= 65520.0) {
        return sign | F16_INF;
    }
    int e = (int)(bits_of_f64(a) >> 52) - 1023;
    e = e < -14 ? -14 : e;
    double units = nearest(a * power_of_two(10 - e)); /* in units of the last place, 0..2048 */
    return (uint16_t)(sign | ((e + 14) * 1024 + (int)units));
}

typedef struct Table {
    pthread_once_t once;
    uint16_t entry[65536];
} Table;

/* Each is written once under its `once`, read-only afterwards. */
static Table tables[MATH_FUNCTIONS] = {
    {PTHREAD_ONCE_INIT, {0}}, {PTHREAD_ONCE_INIT, {0}}, {PTHREAD_ONCE_INIT, {0}},
    {PTHREAD_ONCE_INIT, {0}}, {PTHREAD_ONCE_INIT, {0}}, {PTHREAD_ONCE_INIT, {0}},
};

static void build(MathFunction function)
{
    for (uint32_t h = 0; h < 65536; h++) {
        tables[function].entry[h] =
            math_f16_of_f64(math_f64(function, (double)float_of_half((uint16_t)h)));
    }
}

static void build_exp(void)
{
    build(MATH_EXP);
}
static void build_exp2(void)
{
    build(MATH_EXP2);
}
static void build_ln(void)
{
    build(MATH_LN);
}
static void build_log2(void)
{
    build(MATH_LOG2);
}
static void build_tanh(void)
{
    build(MATH_TANH);
}
static void build_sigm(void)
{
    build(MATH_SIGM);
}

const uint16_t *math_table(MathFunction function)
{
    static void (*const builders[MATH_FUNCTIONS])(void) = {build_exp,  build_exp2, build_ln,
                                                           build_log2, build_tanh, build_sigm};
    int failed = pthread_once(&tables[function].once, builders[function]);
    ASSERT(failed == 0);
    return tables[function].entry;
}

double f64_of_f8(uint32_t code, F8Format format)
{
    if (code == F8_NAN) {
        return f64_of_bits(0x7ff8000000000000);
    }
    uint32_t one = 1u << format.mantissa_bits, mantissa = code & (one - 1);
    int exponent = (int)(code & 0x7f) >> format.mantissa_bits;
    double fraction = exponent == 0 ? (double)mantissa : (double)(mantissa + one);
    int power = (exponent == 0 ? 1 : exponent) - format.bias - format.mantissa_bits;
    double value = fraction * power_of_two(power);
    return (code & 0x80) != 0 ? -value : value;
}

/* [format][scale + 32][code]; written once, read-only afterwards. */
static double f8_values[2][64][256];
static pthread_once_t f8_once = PTHREAD_ONCE_INIT;

static void build_f8(void)
{
    for (int scale = -32; scale < 32; scale++) {
        for (uint32_t code = 0; code < 256; code++) {
            for (int is_f143 = 0; is_f143 < 2; is_f143++) {
                f8_values[is_f143][scale + 32][code] =
                    f64_of_f8(code, f8_format(is_f143 != 0)) * power_of_two(scale);
            }
        }
    }
}

const double *math_f8_table(bool is_f143, int scale)
{
    ASSERT(scale >= -32 && scale < 32);
    int failed = pthread_once(&f8_once, build_f8);
    ASSERT(failed == 0);
    return f8_values[is_f143][scale + 32];
}
