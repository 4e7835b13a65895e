/* Stochastic rounding (FP_CTL.ESR) of every instruction that narrows: bit-exact against an integer rounding with the numbers of the
 * test's own generator, the mean of many, and the instructions that draw nothing (isa/semantics.md 6; docs/machine.md). */
#include "prng.h"
#include "probe.h"
#include <math.h>

enum { SEED = 0x13579bdf, ESR = 1 << 19, NANOO = 1 << 20, INV = 1, DIV0 = 2, OFLO = 4, CASES = 40 };

/* |v| in units of 2^-16 of the last place, plus the bits of the element, cut off. */
static uint32_t half_of(double v, uint32_t bits, bool is_nanoo, uint32_t *flags)
{
    uint32_t sign = signbit(v) ? 0x8000 : 0;
    v = fabs(v);
    int e = v < 0x1p-14 ? -24 : ilogb(v) - 10;
    uint64_t units = ((uint64_t)ldexp(v, 16 - e) + bits) >> 16;
    if (ldexp((double)units, e) > 65504.0) {
        *flags |= OFLO;
        return is_nanoo ? 0x7e00 : sign | 0x7bff;
    }
    return sign | (uint32_t)((uint64_t)(e + 24) * 1024 + units);
}

static double value_of(uint32_t h)
{
    int e = (int)(h >> 10 & 31), m = (int)(h & 0x3ff);
    double value = ldexp(e ? 1024 + m : m, (e ? e : 1) - 25);
    return h & 0x8000 ? -value : value;
}

typedef double Exact(const uint32_t *a, const uint32_t *b, int i); /* element i of the result */

static double half_at(const uint32_t *words, int i)
{
    return value_of(words[i / 2] >> (16 * (i % 2)) & 0xffff);
}

static double single_at(const uint32_t *words, int i)
{
    return (double)f32_of_bits(words[i]);
}

static double sums(const uint32_t *a, const uint32_t *b, int i)
{
    return half_at(a, i) + half_at(b, i);
}

static double differences(const uint32_t *a, const uint32_t *b, int i)
{
    return half_at(a, i) - half_at(b, i);
}

static double products(const uint32_t *a, const uint32_t *b, int i)
{
    return half_at(a, i) * half_at(b, i);
}

static double low_products(const uint32_t *a, const uint32_t *b, int i)
{
    return half_at(a, 0) * half_at(b, i);
}

static double high_sums(const uint32_t *a, const uint32_t *b, int i)
{
    return half_at(a, 1) + half_at(b, i);
}

static double absolute_sums(const uint32_t *a, const uint32_t *b, int i)
{
    return fabs(half_at(a, i)) + fabs(half_at(b, i));
}

static double singles(const uint32_t *a, const uint32_t *b, int i)
{
    (void)b;
    return single_at(a, i);
}

static double second_pair(const uint32_t *a, const uint32_t *b, int i)
{
    (void)a;
    return single_at(b, i);
}

typedef struct Narrowing {
    const char *text; /* sources $a0:1, $a2:3 (quad: $a0:3), result $a4:5 */
    Exact *exact;
    int results;
    bool is_single; /* sources are f32 */
} Narrowing;

static const Narrowing narrowings[] = {
    {"f16v2add $a4, $a0, $a2", sums, 2, false},
    {"f16v4add $a4:5, $a0:1, $a2:3", sums, 4, false},
    {"f16v4add $a4:5, $a0:BU, $a2:3", high_sums, 4, false},
    {"f16v2sub $a4, $a0, $a2", differences, 2, false},
    {"f16v4sub $a4:5, $a0:1, $a2:3", differences, 4, false},
    {"f16v2mul $a4, $a0, $a2", products, 2, false},
    {"f16v4mul $a4:5, $a0:1, $a2:3", products, 4, false},
    {"f16v4mul $a4:5, $a0:BL, $a2:3", low_products, 4, false},
    {"f16v2absadd $a4, $a0, $a2", absolute_sums, 2, false},
    {"f16v4absadd $a4:5, $a0:1, $a2:3", absolute_sums, 4, false},
    {"f32v2tof16 $a4, $a0:1", singles, 2, true},
    {"f32v4tof16 $a4:5, $a0:3", singles, 4, true},
    {"f16v4gacc $a4:5", singles, 4, true},
    {"f16v2gina $a4, $azero, 0", singles, 2, true},
    {"f16v4mix $a4:5, $azeros, $azeros", singles, 4, true},
    /* rows of set 0; those of set 1 stay zero */
    {"f16v4hihoamp $a4, $azeros, $azero, TAMP_F16V4_E4_P1", second_pair, 2, true},
    {"f16v4sihoamp $a4, $azeros, $azeros, TAMP_F16V4_E4_P1", second_pair, 2, true},
    {"f16v4hihov4amp $a4:5, $azeros, $azeros, TAMP_F16V4_E4_P1", second_pair, 2, true},
    {"f8v8hihov4amp $a4:5, $azeros, $azeros, TAMP_F16V4_E4_P1", second_pair, 2, true},
    {"f16v4hihoslic $a4, $azeros, $azero, TSLIC_F16V4_1x4_W0", singles, 2, true},
    {"f16v4sihoslic $a4, $azeros, $azeros, TSLIC_F16V4_1x4_W0", singles, 2, true},
    {"f16v4hihov4slic $a4:5, $azeros, $azeros, TSLIC_F16V4_1x3_W0", singles, 2, true},
    {"f8v8hihov4slic $a4:5, $azeros, $azeros, TSLIC_F8V8_1x3_W0", singles, 2, true},
};

/* Accumulators hold the four singles of $a0:3, the first two also in the chain, the others as head of the queue. */
static void fill_accumulators(Probe *probe)
{
    probe_uput(probe, "$FP_CLR", 8);
    probe_say(probe, "f32v4acc $a0:3");
    for (int i = 0; i < 4; i++) { /* AC[1], AC[3] .. */
        probe_say(probe, "f32v2gina $azeros, %s, 1", i == 0 ? "$a2:3" : "$azeros");
    }
}

static uint32_t random_half(uint64_t r)
{
    uint32_t h = (uint32_t)r & 0xffff;
    return (h & 0x7c00) == 0x7c00 ? h ^ 0x4000 : h;
}

/* Around the range of halves, subnormal ones and overflows included. */
static uint32_t random_single(uint64_t r)
{
    return ((uint32_t)r & 0x807fffff) | (uint32_t)(97 + (r >> 32) % 47) << 23;
}

static void check_narrowing(const Narrowing *n, uint64_t seed, bool is_nanoo)
{
    Probe probe = probe_open();
    uint32_t words[CASES][4];
    uint64_t none[64] = {0};
    probe_weights(&probe, none);
    for (int c = 0; c < CASES; c++) {
        for (int k = 0; k < 4; k++) {
            uint64_t r = random_u64(seed, (uint64_t)(4 * c + k));
            words[c][k] =
                n->is_single ? random_single(r) : random_half(r) | random_half(r >> 16) << 16;
            words[c][k] &= c != k ? 0xffffffff : n->is_single ? 0 : 0x80008000; /* zeros */
        }
    }
    rig_words(probe.rig, RIG_DATA, &words[0][0], 4 * CASES);
    probe_uput(&probe, "$PRNG_SEED", SEED);
    for (int c = 0; c < CASES; c++) {
        probe_uput(&probe, "$FP_CTL", 0);
        probe_say(&probe, "ld64step $a0:1, $mzero, $m0+=, 1\nld64step $a2:3, $mzero, $m0+=, 1");
        if (n->is_single) {
            fill_accumulators(&probe);
        }
        probe_uput(&probe, "$FP_CLR", 7);
        probe_uput(&probe, "$FP_CTL", ESR | (is_nanoo ? NANOO : 0));
        probe_say(&probe, "zero $a4:5\n%s", n->text);
        probe_store(&probe, "$a4:5");
        probe_say(&probe, "uget $a4, $FP_STS\nuget $a5, $PRNG_0_0");
        probe_store(&probe, "$a4:5");
    }
    probe_run(&probe);
    Prng p = prng_seed(SEED);
    for (int c = 0; c < CASES; c++) {
        uint64_t step = prng_step(&p);
        uint32_t flags = 0;
        for (int i = 0; i < n->results; i++) {
            double exact = n->exact(words[c], words[c] + 2, i);
            uint32_t expected = half_of(exact, prng_bits(step, i), is_nanoo, &flags);
            uint32_t seen = probe_half(&probe, 4 * c + i / 2, i % 2);
            if (seen != expected) {
                fprintf(stderr, "%s: element %d of %a, bits 0x%x: 0x%x, expected 0x%x\n", n->text,
                        i, exact, prng_bits(step, i), seen, expected);
                exit(1);
            }
        }
        CHECK_EQ_INT(probe_word(&probe, 4 * c + 2), flags);
        CHECK_EQ_INT(probe_word(&probe, 4 * c + 3), (uint32_t)p.s0);
    }
    probe_close(&probe);
}

static void every_narrowing(void)
{
    uint64_t seed = test_seed(91);
    for (size_t i = 0; i < sizeof narrowings / sizeof *narrowings; i++) {
        check_narrowing(&narrowings[i], seed++, i % 2);
    }
}

/* One result in both halves takes the bits of element 0. */
static void doubled(void)
{
    Probe probe = probe_open();
    probe_uput(&probe, "$PRNG_SEED", SEED);
    probe_uput(&probe, "$FP_CTL", ESR);
    probe_set(&probe, "$a0", 0x3f800800); /* 1 + a quarter of the last place */
    for (int c = 0; c < CASES; c++) {
        probe_say(&probe, "f32tof16 $a4, $a0");
        probe_store(&probe, "$a4");
    }
    probe_run(&probe);
    Prng p = prng_seed(SEED);
    for (int c = 0; c < CASES; c++) {
        uint32_t flags = 0;
        uint32_t half = half_of(1.0 + 0x1p-12, prng_bits(prng_step(&p), 0), false, &flags);
        CHECK_EQ_INT(probe_word(&probe, c), half * 0x10001);
    }
    probe_close(&probe);
}

/* The mean of many roundings is the value: normal, subnormal and negative halves. */
static void means(void)
{
    static const double values[] = {1.0 + 0x1p-13, -3.0 - 0x1.8p-10, 0x1.23p-20, 1000.3125,
                                    0x1p-26};
    enum { ROUNDS = 4096 };
    for (int v = 0; v < 5; v++) {
        Probe probe = probe_open();
        probe_uput(&probe, "$PRNG_SEED", SEED + (uint32_t)v);
        probe_uput(&probe, "$FP_CTL", ESR);
        probe_set(&probe, "$a0", bits_of_f32((float)values[v]));
        probe_say(&probe,
                  "mov $a1, $a0\nmov $a2, $a0\nmov $a3, $a0\nsetzi $m5, %d\n"
                  "1: f32v4tof16 $a4:5, $a0:3\nst64step $a4:5, $mzero, $m7+=, 1\n"
                  "brnzdec $m5, 1b",
                  ROUNDS - 1);
        probe_run(&probe);
        double ulp = ldexp(1, values[v] == 1000.3125      ? -1
                              : fabs(values[v]) < 0x1p-14 ? -24
                                                          : ilogb(values[v]) - 10);
        double exact = fabs(values[v]) / ulp, part = exact - floor(exact);
        for (int i = 0; i < 4; i++) {
            double sum = 0;
            for (int r = 0; r < ROUNDS; r++) {
                sum += value_of(probe_half(&probe, 2 * r + i / 2, i % 2));
            }
            CHECK_NEAR(sum / ROUNDS, values[v], 4.5 * ulp * sqrt(part * (1 - part) / ROUNDS));
        }
        probe_close(&probe);
    }
}

/* FP8: magnitude times 2^scale, the bits below the last place of the code; eight results take two numbers. */
static uint32_t f8_of(double v, uint32_t bits, bool is_f143, bool is_nanoo, uint32_t *flags)
{
    int k = is_f143 ? 3 : 2, bias = is_f143 ? 8 : 16;
    uint32_t sign = signbit(v) ? 0x80 : 0;
    v = fabs(v);
    int e = v < ldexp(1, 1 - bias) ? 1 - bias - k : ilogb(v) - k;
    uint64_t units = ((uint64_t)ldexp(v, 16 - e) + bits) >> 16;
    if (ldexp((double)units, e) > (is_f143 ? 240.0 : 57344.0)) {
        *flags |= OFLO;
        return is_nanoo ? 0x80 : sign | 0x7f;
    }
    uint32_t code = (uint32_t)(((uint64_t)(e + bias + k - 1) << k) + units);
    return code == 0 ? 0 : sign | code;
}

static void f8_narrowings(void)
{
    uint64_t seed = test_seed(92);
    static const int scales[] = {0, 5, -4};
    for (int pass = 0; pass < 12; pass++) {
        bool is_f143 = pass & 1, is_nanoo = pass & 2;
        int scale = scales[pass / 4];
        uint32_t words[CASES][4];
        for (int k = 0; k < 4 * CASES; k++) {
            uint64_t r = random_u64(seed + (uint64_t)pass, (uint64_t)k);
            words[k / 4][k % 4] = random_half(r) | random_half(r >> 16) << 16;
            words[k / 4][k % 4] &= k % 5 == 0 ? 0x8000ffff : 0xffffffff; /* zeros */
        }
        Probe probe = probe_open();
        rig_words(probe.rig, RIG_DATA, &words[0][0], 4 * CASES);
        probe_uput(&probe, "$PRNG_SEED", SEED);
        probe_uput(&probe, "$FP_NFMT", is_f143 ? 3 : 0);
        probe_uput(&probe, "$FP_SCL", (uint32_t)scale & 63);
        probe_uput(&probe, "$FP_CTL", ESR | (is_nanoo ? NANOO : 0));
        for (int c = 0; c < CASES; c++) {
            probe_say(&probe, "ld64step $a0:1, $mzero, $m0+=, 1\nld64step $a2:3, $mzero, $m0+=, 1\n"
                              "f16v8tof8 $a4:5, $a0:3");
            probe_store(&probe, "$a4:5");
            probe_say(&probe, "f16v2tof8 $a4, $a1\nuget $a5, $PRNG_0_0");
            probe_store(&probe, "$a4:5");
        }
        probe_run(&probe);
        Prng p = prng_seed(SEED);
        for (int c = 0; c < CASES; c++) {
            uint64_t step[2] = {prng_step(&p), 0};
            step[1] = prng_step(&p);
            uint32_t flags = 0;
            for (int i = 0; i < 8; i++) {
                double v = ldexp(half_at(words[c], i), scale);
                uint32_t expected =
                    f8_of(v, prng_bits(step[i / 4], i % 4), is_f143, is_nanoo, &flags);
                uint32_t seen = probe_word(&probe, 4 * c + i / 4) >> (8 * (i % 4)) & 0xff;
                CHECK_EQ_INT(seen, expected);
            }
            step[0] = prng_step(&p);
            for (int i = 0; i < 2; i++) {
                double v = ldexp(half_at(words[c], 2 + i), scale);
                uint32_t expected = f8_of(v, prng_bits(step[0], i), is_f143, is_nanoo, &flags);
                CHECK_EQ_INT(probe_word(&probe, 4 * c + 2) >> (8 * i) & 0xff, expected);
            }
            CHECK_EQ_INT(probe_word(&probe, 4 * c + 3), (uint32_t)p.s0);
        }
        probe_close(&probe);
    }
}

typedef struct Function {
    const char *name;
    long double (*exact)(long double);
} Function;

static long double sigmoid(long double x)
{
    return 1 / (1 + expl(-x));
}

/* f16 functions narrow as well: results of arguments that are no special points, and the special points, which stay exact. */
static void every_function(void)
{
    static const Function table[] = {{"exp", expl},   {"exp2", exp2l}, {"ln", logl},
                                     {"log2", log2l}, {"tanh", tanhl}, {"sigm", sigmoid}};
    static const struct {
        const char *name;
        uint32_t x, y;
    } points[] = {
        /* ln of 0 divides by zero, NaN is invalid */
        {"exp", 0, 0x3c00},       {"exp", 0xfc00, 0},       {"exp", 0x7c00, 0x7c00},
        {"exp2", 0x4900, 0x6400}, {"exp2", 0xce00, 1},      {"exp2", 0xbc00, 0x3800},
        {"ln", 0x3c00, 0},        {"ln", 0, 0xfc00},        {"log2", 0x6400, 0x4900},
        {"log2", 1, 0xce00},      {"log2", 0x3c00, 0},      {"tanh", 0, 0},
        {"tanh", 0x8000, 0x8000}, {"tanh", 0x7c00, 0x3c00}, {"sigm", 0, 0x3800},
        {"sigm", 0xfc00, 0},      {"sigm", 0x7c00, 0x3c00}, {"exp", 0x7e00, 0x7e00},
    };
    enum { POINTS = sizeof points / sizeof *points };
    uint64_t seed = test_seed(93);
    for (int f = 0; f < 6; f++) {
        Probe probe = probe_open();
        probe_uput(&probe, "$PRNG_SEED", SEED);
        probe_uput(&probe, "$FP_CTL", ESR);
        uint32_t words[CASES];
        for (int c = 0; c < CASES; c++) {
            uint64_t r = random_u64(seed++, 0); /* magnitudes below 8, positive for logarithms */
            words[c] = ((uint32_t)r & 0x83ff83ff) | (uint32_t)(11 + (r >> 32) % 7) << 10 |
                       (uint32_t)(11 + (r >> 40) % 7) << 26;
            words[c] &= f == 2 || f == 3 ? 0x7fff7fff : 0xffffffff;
            probe_set(&probe, "$a0", words[c] | 0x00010001);
            words[c] |= 0x00010001;
            probe_say(&probe, "f16v2%s $a4, $a0", table[f].name);
            probe_store(&probe, "$a4");
        }
        probe_run(&probe);
        Prng p = prng_seed(SEED);
        for (int c = 0; c < CASES; c++) {
            uint64_t step = prng_step(&p);
            for (int i = 0; i < 2; i++) {
                uint32_t flags = 0;
                double v = (double)table[f].exact((long double)half_at(&words[c], i));
                CHECK_EQ_INT(probe_half(&probe, c, i),
                             half_of(v, prng_bits(step, i), false, &flags));
            }
        }
        probe_close(&probe);
    }
    Probe probe = probe_open();
    probe_uput(&probe, "$PRNG_SEED", SEED);
    probe_uput(&probe, "$FP_CTL", ESR);
    for (int i = 0; i < POINTS; i++) {
        probe_set(&probe, "$a0", points[i].x * 0x10001);
        probe_uput(&probe, "$FP_CLR", 7);
        probe_say(&probe, "f16v2%s $a4, $a0\nuget $a5, $FP_STS", points[i].name);
        probe_store(&probe, "$a4:5");
    }
    probe_run(&probe);
    for (int i = 0; i < POINTS; i++) {
        bool is_pole = points[i].y == 0xfc00, is_nan = points[i].y == 0x7e00;
        CHECK_EQ_INT(probe_word(&probe, 2 * i + 1), is_pole ? DIV0 : is_nan ? INV : 0);
        if (probe_word(&probe, 2 * i) != points[i].y * 0x10001) {
            fprintf(stderr, "%s of 0x%x: 0x%x, expected 0x%x\n", points[i].name, points[i].x,
                    probe_word(&probe, 2 * i), points[i].y * 0x10001);
            exit(1);
        }
    }
    probe_close(&probe);
}

/* Nothing is narrowed, nothing drawn. */
static void draws_nothing(void)
{
    static const char *const texts[] = {
        "f16v4max $a4:5, $a0:1, $a2:3",
        "f16v4min $a4:5, $a0:1, $a2:3",
        "f16v4absmax $a4:5, $a0:1, $a2:3",
        "f16v4clamp $a4:5, $a0:1, $a2",
        "f16v4cmplt $a4:5, $a0:1, $a2:3",
        "f16v2maxc $a4, $a0",
        "f16v4maxc $a4, $a0:1",
        "f16v4sum $a4:5, $a0:1",
        "f16v2tof32 $a4:5, $a0",
        "f16v8acc $a0:3",
        "f16v4cmac $a0:1, $a2:3",
        "f32v2add $a4:5, $a0:1, $a2:3",
        "f32v2mul $a4:5, $a0:1, $a2:3",
        "f32v2gina $a4:5, $azeros, 0",
        "f16v4stacc $a4:5, 0",
        "sort4x16lo $a4, $a0, $a1",
    };
    Probe probe = probe_open();
    probe_uput(&probe, "$PRNG_SEED", SEED);
    probe_uput(&probe, "$FP_CTL", ESR);
    probe_uput(&probe, "$FP_CLR", 8);
    for (int i = 0; i < 4; i++) {
        char name[4] = {'$', 'a', (char)('0' + i), 0};
        probe_set(&probe, name, 0x3c013c02);
    }
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        probe_say(&probe, "%s\nuget $a6, $PRNG_0_0", texts[i]);
        probe_store(&probe, "$a6");
    }
    probe_run(&probe);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (probe_word(&probe, (int)i) != SEED) {
            fprintf(stderr, "%s has drawn\n", texts[i]);
            exit(1);
        }
    }
    probe_close(&probe);
}

TEST_MAIN(every_narrowing, doubled, means, f8_narrowings, every_function, draws_nothing)
