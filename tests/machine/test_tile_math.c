/* Numbers of the aux lane against the C library in long double: f16 tables (all arguments), f32 functions, conversions. */
#include "machine/math.h"
#include "test.h"
#include <math.h>

/* Oracle: value of an f16 from its fields. */
static long double value_of(uint32_t h)
{
    int e = (int)(h >> 10 & 31);
    long double m = (long double)(h & 0x3ff);
    long double v = e == 0 ? ldexpl(m, -24) : ldexpl(m + 1024.0L, e - 25);
    if (e == 31) {
        v = (h & 0x3ff) ? (long double)NAN : (long double)INFINITY;
    }
    return (h & 0x8000) ? -v : v;
}

/* Oracle: nearest f16, ties to even, by rounding in units of the last place. Overflow gives infinity. */
static uint32_t nearest_half(long double v)
{
    uint32_t sign = signbit(v) ? 0x8000 : 0;
    if (isnan(v)) {
        return F16_NAN;
    }
    v = fabsl(v);
    if (isinf(v)) {
        return sign | F16_INF;
    }
    int e = v == 0.0L ? -24 : ilogbl(v) - 10;
    e = e < -24 ? -24 : e;
    long double rounded = ldexpl(rintl(ldexpl(v, -e)), e);
    if (rounded > 65504.0L) {
        return sign | F16_INF;
    }
    for (uint32_t step = 0x4000, h = 0;;
         step /= 2) { /* largest code not above: codes are ordered */
        if (step == 0) {
            return sign | h;
        }
        if (h + step <= F16_MAX && value_of(h + step) <= rounded) {
            h += step;
        }
    }
}

static bool same_half(uint32_t a, uint32_t b)
{
    bool a_nan = (a & 0x7fff) > F16_INF, b_nan = (b & 0x7fff) > F16_INF;
    return a_nan || b_nan ? a_nan && b_nan : a == b;
}

static void widening(void)
{
    for (uint32_t h = 0; h < 65536; h++) {
        F4 v = floats_of_halves(h | (h ^ 0x8000) << 16, h);
        long double expected = value_of(h);
        for (int i = 0; i < 3; i++) {
            long double sign = i == 1 ? -1.0L : 1.0L;
            CHECK(isnan(expected) ? isnan(v[i])
                                  : (long double)v[i] == sign * expected &&
                                        !!signbit(v[i]) == !!signbit(sign * expected));
        }
    }
}

static void check_narrow(float f)
{
    I4 special;
    U4 h = halves_of_floats((F4){f, -f, f, 0}, &special);
    uint32_t expected = nearest_half((long double)f);
    bool is_special = (expected & F16_INF) == F16_INF;
    CHECK_EQ_INT(special[0] != 0, is_special);
    if (!is_special) {
        CHECK_EQ_INT(h[0], expected);
        CHECK_EQ_INT(h[1], expected ^ 0x8000);
    }
}

/* Every half, its neighbours in f32 and the midpoints to the next half; then random floats. */
static void narrowing(void)
{
    for (uint32_t h = 0; h < F16_INF; h++) {
        float v = float_of_half((uint16_t)h),
              next = h == F16_MAX ? 65536.0f : float_of_half((uint16_t)(h + 1));
        float middle = (v + next) / 2;
        for (int d = -1; d <= 1; d++) {
            check_narrow(d == 0 ? v : nextafterf(v, d < 0 ? -1e30f : 1e30f));
            check_narrow(d == 0 ? middle : nextafterf(middle, d < 0 ? -1e30f : 1e30f));
        }
    }
    uint64_t seed = test_seed(11);
    for (uint64_t i = 0; i < 200000; i++) {
        uint32_t bits = (uint32_t)random_u64(seed, i);
        if ((bits & 0x7f800000) != 0x7f800000) {
            check_narrow(f32_of_bits(bits));
        }
    }
}

static long double library(MathFunction function, long double x)
{
    switch (function) {
    case MATH_EXP:
        return expl(x);
    case MATH_EXP2:
        return exp2l(x);
    case MATH_LN:
        return logl(x);
    case MATH_LOG2:
        return log2l(x);
    case MATH_TANH:
        return tanhl(x);
    default:
        return 1.0L / (1.0L + expl(-x));
    }
}

static const char *const names[MATH_FUNCTIONS] = {"exp", "exp2", "ln", "log2", "tanh", "sigm"};

static void tables(void)
{
    for (int f = 0; f < MATH_FUNCTIONS; f++) {
        const uint16_t *table = math_table((MathFunction)f);
        for (uint32_t h = 0; h < 65536; h++) {
            uint32_t expected = nearest_half(library((MathFunction)f, value_of(h)));
            if (!same_half(table[h], expected)) {
                fprintf(stderr, "%s(0x%04x) = 0x%04x, expected 0x%04x\n", names[f], h, table[h],
                        expected);
                exit(1);
            }
        }
    }
}

/* f32 functions: relative error of the double evaluation far below half an ulp of f32 (2^-25). */
static void evaluations(void)
{
    uint64_t seed = test_seed(12);
    for (int f = 0; f < MATH_FUNCTIONS; f++) {
        long double worst = 0.0L;
        for (uint64_t i = 0; i < 100000; i++) {
            double x = (double)f32_of_bits((uint32_t)random_u64(seed + (uint64_t)f, i));
            if (i % 2 == 0) { /* the range where the function moves; close to 1 for logarithms */
                x = f == MATH_LN || f == MATH_LOG2
                        ? 1.0 + (random_unit(seed, i) - 0.5) * ((i & 2) != 0 ? 0.001 : 1.0)
                        : (random_unit(seed, i) - 0.5) * 40.0;
                x = (double)(float)x;
            }
            long double expected = library((MathFunction)f, (long double)x);
            double y = math_f64((MathFunction)f, x);
            if (isnan(expected)) {
                CHECK(isnan(y));
                continue;
            }
            /* outside f32 only the side matters: zero or infinity after rounding */
            if (fabsl(expected) > 0x1p130L || (expected != 0.0L && fabsl(expected) < 0x1p-150L)) {
                CHECK(fabsl(expected) > 1.0L ? fabs(y) > 0x1p129 : fabs(y) < 0x1p-149);
                continue;
            }
            if (isinf(expected) || expected == 0.0L) {
                CHECK((long double)y == expected);
                continue;
            }
            long double error = fabsl(((long double)y - expected) / expected);
            worst = error > worst ? error : worst;
        }
        if (worst > 0x1p-46L) {
            fprintf(stderr, "%s: relative error 2^%.1f\n", names[f], (double)log2l(worst));
            exit(1);
        }
    }
    CHECK(math_f64(MATH_LN, 0.0) < -1e300);
    CHECK(signbit(math_f64(MATH_TANH, -0.0)));
}

TEST_MAIN(widening, narrowing, tables, evaluations)
