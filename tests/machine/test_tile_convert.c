/* Conversions and functions as instructions: all halves through f16 functions and widenings, awkward and random numbers through the
 * rest, with their conditions (isa/semantics.md 6, 7, 8.1, 8.4; decisions.md A7). */
#include "probe.h"
#include <math.h>

enum { INV = 1, DIV0 = 2, OFLO = 4, NANOO = 1 << 20, HALVES = 65536, NUMBERS = 1200 };

static double half_value(uint32_t h)
{
    int e = (int)(h >> 10 & 31), m = (int)(h & 0x3ff);
    double v =
        e == 31 ? (m ? (double)NAN : (double)INFINITY) : ldexp(e ? 1024 + m : m, (e ? e : 1) - 25);
    return h & 0x8000 ? -v : v;
}

/* Nearest half, ties to even; an infinity of a finite source is an overflow. */
static uint32_t half_of(long double v, bool is_finite, bool is_nanoo, uint32_t *flags)
{
    uint32_t sign = signbit(v) ? 0x8000 : 0;
    if (isnan(v)) {
        *flags |= INV;
        return 0x7e00;
    }
    v = fabsl(v);
    int e = v == 0 || isinf(v) || v < 0x1p-14L ? -24 : ilogbl(v) - 10;
    long double units = rintl(ldexpl(v, -e));
    if (isinf(v) && !is_finite) {
        return sign | 0x7c00;
    }
    if (ldexpl(units, e) > 65504.0L) {
        *flags |= OFLO;
        return is_nanoo ? 0x7e00 : sign | 0x7bff;
    }
    return sign | ((uint32_t)(e + 24) * 1024 + (uint32_t)units);
}

/* Runs `text` on `count` items of `words` words from $a0, `results` words of $a4 a time and the conditions behind them. */
static Probe run_all(const uint32_t *data, int count, int words, const char *text, uint32_t fp_ctl)
{
    Probe probe = probe_open();
    rig_words(probe.rig, RIG_WIDE, data, count * words);
    probe_uput(&probe, "$FP_CTL", fp_ctl);
    probe_say(&probe,
              "setzi $m0, 0x80000\nsetzi $m7, 0xb0000\nsetzi $m5, %d\nsetzi $a6, 7\nzero $a4:5\n"
              "1: uput $FP_CLR, $a6\n%s\n%s\nst64step $a4:5, $mzero, $m7+=, 1\n"
              "uget $a7, $FP_STS\nst32step $a7, $mzero, $m7+=, 2\nbrnzdec $m5, 1b",
              count - 1,
              words == 4   ? "ld64step $a0:1, $mzero, $m0+=, 1\nld64step $a2:3, $mzero, $m0+=, 1"
              : words == 2 ? "ld64step $a0:1, $mzero, $m0+=, 1"
                           : "ld32step $a0, $mzero, $m0+=, 1",
              text);
    probe_run(&probe);
    return probe;
}

static uint32_t result(Probe *probe, int item, int word)
{
    return rig_word(probe->rig, 0xb0000 + 16 * (uint32_t)item + 4 * (uint32_t)word);
}

typedef struct Function {
    const char *name;
    long double (*exact)(long double);
} Function;

static long double sigmoid(long double x)
{
    return 1 / (1 + expl(-x));
}

static const Function functions[] = {{"exp", expl},   {"exp2", exp2l}, {"ln", logl},
                                     {"log2", log2l}, {"tanh", tanhl}, {"sigm", sigmoid}};

/* Correctly rounded; ln and log2 of zero divide by zero, of negative numbers are invalid. */
static void half_functions(void)
{
    enum { BATCH = 8192 };
    static uint32_t data[BATCH / 2];
    for (int f = 0; f < 6; f++) {
        bool is_log = f == 2 || f == 3;
        for (uint32_t first = 0; first < HALVES; first += BATCH) {
            for (uint32_t i = 0; i < BATCH / 2; i++) {
                data[i] = (first + 2 * i) | (first + 2 * i + 1) << 16;
            }
            char text[64];
            snprintf(text, sizeof text, "f16v2%s $a4, $a0", functions[f].name);
            bool is_nanoo = first / BATCH % 2;
            Probe probe = run_all(data, BATCH / 2, 1, text, is_nanoo ? NANOO : 0);
            for (uint32_t i = 0; i < BATCH / 2; i++) {
                uint32_t flags = 0, expected = 0;
                for (uint32_t k = 0; k < 2; k++) {
                    double x = half_value(first + 2 * i + k);
                    if (is_log && x == 0) {
                        flags |= DIV0;
                        expected |= 0xfc00u << (16 * k);
                    } else {
                        expected |= half_of(functions[f].exact((long double)x), isfinite(x),
                                            is_nanoo, &flags)
                                    << (16 * k);
                    }
                }
                if (result(&probe, (int)i, 0) != expected || result(&probe, (int)i, 2) != flags) {
                    fprintf(stderr, "%s of 0x%x: 0x%x (%u), expected 0x%x (%u)\n", text, data[i],
                            result(&probe, (int)i, 0), result(&probe, (int)i, 2), expected, flags);
                    exit(1);
                }
            }
            probe_close(&probe);
        }
    }
}

static uint32_t flushed(uint32_t bits)
{
    return (bits & 0x7f800000) == 0 ? bits & 0x80000000 : bits;
}

static float single(uint32_t bits)
{
    return f32_of_bits(flushed(bits));
}

/* Awkward numbers first, then random bits, half of them near 1. */
static void fill(uint32_t *data, int count, uint64_t seed)
{
    static const uint32_t first[] = {
        0,          0x80000000, 1,          0x807fffff, 0x00800000, 0x80800000, 0x3f800000,
        0xbf800000, 0x3f7fffff, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000,
        0xffc12345, 0x477fe000, 0x477fefff, 0x477ff000, 0xc77ff000, 0x33000000, 0x33000001,
        0xb3800000, 0x387fe000, 0x387fefff, 0x387ff000, 0x4f000000, 0xcf000000, 0x4f7fffff,
        0x4f800000, 0x4effffff, 0x3f000000, 0x3fc00000, 0x40200000, 0xbf000000, 0x7f800001,
    };
    enum { FIRST = sizeof first / 4 };
    for (int i = 0; i < count; i++) {
        uint32_t r = (uint32_t)random_u64(seed, (uint64_t)i);
        data[i] = i < FIRST ? first[i]
                  : i % 2   ? r
                            : (r & 0x81ffffff) + 0x3e000000 + (r & 1) * 0x2000000;
    }
}

/* f32 functions: a last place of the exact value; NaN and poles as in section 6. */
static void single_functions(void)
{
    static uint32_t data[NUMBERS];
    fill(data, NUMBERS, test_seed(141));
    for (int f = 0; f < 6; f++) {
        char text[64];
        snprintf(text, sizeof text, "f32%s $a4, $a0", functions[f].name);
        Probe probe = run_all(data, NUMBERS, 1, text, 0);
        for (int i = 0; i < NUMBERS; i++) {
            float x = single(data[i]), seen = f32_of_bits(result(&probe, i, 0));
            long double exact = functions[f].exact((long double)x);
            uint32_t flags = result(&probe, i, 2), expected = 0;
            if (isnan(exact)) {
                CHECK_EQ_INT(result(&probe, i, 0), 0x7fc00000);
                expected = INV;
            } else if (fabsl(exact) < 0x1p-126L) {
                CHECK(fabsf(seen) <= 0x1p-126f);
            } else if (fabsl(exact) > (long double)0x1.ffffffp127) {
                CHECK(isinf(seen) && (seen < 0) == (exact < 0));
                expected = (f == 2 || f == 3) && x == 0 ? DIV0 : isinf(x) ? 0 : OFLO;
            } else {
                CHECK(fabsl((long double)seen - exact) <= ldexpl(1, ilogbl(exact) - 23));
            }
            CHECK_EQ_INT(flags, expected);
        }
        probe_close(&probe);
    }
}

/* f32sqrt correctly rounded; 1/x and 1/sqrt x within a last place. */
static void roots(void)
{
    static uint32_t data[NUMBERS];
    fill(data, NUMBERS, test_seed(142));
    static const char *const texts[] = {"f32sqrt $a4, $a0", "f32oox $a4, $a0", "f32oorx $a4, $a0"};
    for (int f = 0; f < 3; f++) {
        Probe probe = run_all(data, NUMBERS, 1, texts[f], 0);
        for (int i = 0; i < NUMBERS; i++) {
            float x = single(data[i]), seen = f32_of_bits(result(&probe, i, 0));
            uint32_t expected = 0;
            long double exact = f == 0   ? sqrtl((long double)x)
                                : f == 1 ? 1 / (long double)x
                                         : 1 / sqrtl((long double)x);
            if (isnan(exact)) {
                CHECK_EQ_INT(result(&probe, i, 0), 0x7fc00000);
                expected = INV;
            } else if (f == 0) {
                CHECK_EQ_INT(result(&probe, i, 0), bits_of_f32((float)exact));
            } else if (x == 0) {
                CHECK(isinf(seen) && signbit(seen) == signbit(x));
                expected = DIV0;
            } else if (fabsl(exact) < 0x1p-126L) {
                CHECK(seen == 0 && signbit(seen) == signbit(x));
            } else {
                CHECK(fabsl((long double)seen - exact) <= ldexpl(1, ilogbl(exact) - 23));
            }
            CHECK_EQ_INT(result(&probe, i, 2), expected);
        }
        probe_close(&probe);
    }
}

static void divisions(void)
{
    static uint32_t data[2 * NUMBERS];
    fill(data, 2 * NUMBERS, test_seed(143));
    for (int k = 0; k < 70; k++) { /* awkward by awkward */
        data[2 * NUMBERS - 1 - k] = data[k * 11 % 35];
    }
    Probe probe = run_all(data, NUMBERS, 2, "f32div $a4, $a0, $a1", 0);
    for (int i = 0; i < NUMBERS; i++) {
        float x = single(data[2 * i]), y = single(data[2 * i + 1]), q = x / y;
        uint32_t bits = isnan(q) ? 0x7fc00000 : flushed(bits_of_f32(q)), flags = 0;
        if (isnan(q)) {
            flags = INV;
        } else if (y == 0 && isfinite(x)) {
            flags = DIV0;
        } else if (isinf(q) && isfinite(x)) {
            flags = OFLO;
        }
        CHECK_EQ_INT(result(&probe, i, 0), bits);
        CHECK_EQ_INT(result(&probe, i, 2), flags);
    }
    probe_close(&probe);
}

static void widenings(void)
{
    static uint32_t data[4096];
    for (int pass = 0; pass < 8; pass++) {
        for (uint32_t i = 0; i < 4096; i++) {
            data[i] = ((uint32_t)pass * 8192 + 2 * i) * 0x10001u + 0x10000;
        }
        static const char *const texts[] = {"f16v2tof32 $a4:5, $a0", "f16tof32 $a4, $a0"};
        for (int f = 0; f < 2; f++) {
            Probe probe = run_all(data, 4096, 1, texts[f], 0);
            for (int i = 0; i < 4096; i++) {
                uint32_t flags = 0;
                for (int k = 0; k < 2 - f; k++) {
                    double v = half_value(data[i] >> (16 * k) & 0xffff);
                    CHECK_EQ_INT(result(&probe, i, k),
                                 isnan(v) ? 0x7fc00000 : bits_of_f32((float)v));
                    flags |= isnan(v) ? INV : 0;
                }
                CHECK_EQ_INT(result(&probe, i, 2), flags);
            }
            probe_close(&probe);
        }
    }
}

static void narrowings(void)
{
    static uint32_t data[4 * NUMBERS];
    fill(data, 4 * NUMBERS, test_seed(144));
    static const struct {
        const char *text;
        int words;
    } forms[] = {
        {"f32tof16 $a4, $a0", 1}, {"f32v2tof16 $a4, $a0:1", 2}, {"f32v4tof16 $a4:5, $a0:3", 4}};
    for (int f = 0; f < 6; f++) {
        int words = forms[f / 2].words;
        bool is_nanoo = f % 2;
        Probe probe = run_all(data, NUMBERS, words, forms[f / 2].text, is_nanoo ? NANOO : 0);
        for (int i = 0; i < NUMBERS; i++) {
            uint32_t flags = 0, halves[4];
            for (int k = 0; k < words; k++) {
                float x = single(data[i * words + k]);
                halves[k] = half_of((long double)x, isfinite(x), is_nanoo, &flags);
            }
            halves[1] = words == 1 ? halves[0] : halves[1]; /* in both halves */
            CHECK_EQ_INT(result(&probe, i, 0), halves[0] | halves[1] << 16);
            CHECK(words < 4 || result(&probe, i, 1) == (halves[2] | halves[3] << 16));
            CHECK_EQ_INT(result(&probe, i, 2), flags);
        }
        probe_close(&probe);
    }
}

/* Integers: to f32 nearest even; from f32 nearest even, saturating with INV; symmetric uniforms (u + 1/2) / 2^n - 1/2. */
static void integers(void)
{
    static uint32_t data[NUMBERS];
    fill(data, NUMBERS, test_seed(145));
    static const char *const texts[] = {"f32fromi32 $a4, $a0",  "f32fromui32 $a4, $a0",
                                        "f32toi32 $a4, $a0",    "f32toui32 $a4, $a0",
                                        "f32sufromui $a4, $a0", "f16v2sufromui $a4, $a0"};
    for (int f = 0; f < 6; f++) {
        Probe probe = run_all(data, NUMBERS, 1, texts[f], 0);
        for (int i = 0; i < NUMBERS; i++) {
            uint32_t u = data[i], expected, flags = 0;
            double x = rint((double)single(u));
            if (f < 2) {
                expected = bits_of_f32(f == 0 ? (float)(int32_t)u : (float)u);
            } else if (f < 4) {
                double low = f == 2 ? -2147483648.0 : 0,
                       high = f == 2 ? 2147483647.0 : 4294967295.0;
                if (isnan(x)) { /* which integer is not documented */
                    CHECK_EQ_INT(result(&probe, i, 2), INV);
                    continue;
                }
                double bound = fmin(fmax(x, low), high);
                expected = f == 2 ? (uint32_t)(int32_t)bound : (uint32_t)bound;
                flags = bound == x ? 0 : INV;
            } else if (f == 4) {
                expected = bits_of_f32((float)(((long double)u + 0.5L) * 0x1p-32L - 0.5L));
            } else {
                uint32_t lo = half_of(((long double)(u & 0xffff) + 0.5L) * 0x1p-16L - 0.5L, true,
                                      false, &flags);
                expected =
                    lo |
                    half_of(((long double)(u >> 16) + 0.5L) * 0x1p-16L - 0.5L, true, false, &flags)
                        << 16;
            }
            if (result(&probe, i, 0) != expected || result(&probe, i, 2) != flags) {
                fprintf(stderr, "%s of 0x%x: 0x%x (%u), expected 0x%x (%u)\n", texts[f], u,
                        result(&probe, i, 0), result(&probe, i, 2), expected, flags);
                exit(1);
            }
        }
        probe_close(&probe);
    }
}

/* The wide forms are the narrow ones side by side; sums and lateral maxima. */
static void vectors(void)
{
    static const struct {
        const char *wide, *first, *second;
    } forms[] = {
        {"f32v2sufromui $a4:5, $a0:1", "f32sufromui $a2, $a0", "f32sufromui $a3, $a1"},
        {"f16v4sufromui $a4:5, $a0:1", "f16v2sufromui $a2, $a0", "f16v2sufromui $a3, $a1"},
        {"f16v4sum $a4:5, $a0:1", "f16v2sum $a2, $a0", "f16v2sum $a3, $a1"},
    };
    static uint32_t data[2 * NUMBERS];
    fill(data, 2 * NUMBERS, test_seed(146));
    for (int f = 0; f < 3; f++) {
        char text[256];
        snprintf(text, sizeof text, "%s\n%s\nmov $a4:5, $a2:3", forms[f].first, forms[f].second);
        Probe narrow = run_all(data, NUMBERS, 2, text, 0);
        Probe wide = run_all(data, NUMBERS, 2, forms[f].wide, 0);
        for (int i = 0; i < NUMBERS; i++) {
            CHECK_EQ_INT(result(&wide, i, 0), result(&narrow, i, 0));
            CHECK_EQ_INT(result(&wide, i, 1), result(&narrow, i, 1));
        }
        probe_close(&narrow);
        probe_close(&wide);
    }
    Probe sum = run_all(data, NUMBERS, 2, "f16v2sum $a4, $a0\nf16v4maxc $a5, $a0:1", 0);
    Probe most = run_all(data, NUMBERS, 2, "f16v2maxc $a4, $a0", 0);
    for (int i = 0; i < NUMBERS; i++) {
        double v[4];
        for (int k = 0; k < 4; k++) {
            v[k] = half_value(data[2 * i + k / 2] >> (16 * (k % 2)) & 0xffff);
        }
        double both = v[0] + v[1];
        CHECK_EQ_INT(result(&sum, i, 0), isnan(both) ? 0x7fc00000 : bits_of_f32((float)both));
        for (int k = 0; k < 2; k++) {
            double larger = fmax(v[2 * k], v[2 * k + 1]);
            double seen = half_value(result(&sum, i, 1) >> (16 * k) & 0xffff);
            CHECK(isnan(larger) ? isnan(seen) : seen == larger);
        }
        double larger = fmax(v[0], v[1]), seen = half_value(result(&most, i, 0) & 0xffff);
        CHECK(isnan(larger) ? isnan(seen) : seen == larger);
        CHECK_EQ_INT(result(&most, i, 0) >> 16, result(&most, i, 0) & 0xffff);
    }
    probe_close(&sum);
    probe_close(&most);
}

TEST_MAIN(half_functions, single_functions, roots, divisions, widenings, narrowings, integers,
          vectors)
