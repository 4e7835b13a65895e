/* Numbers of f32sisoamp and f32sisov2amp: one rounding an instruction, subnormals, NaN, Inf and conditions; what is undefined
 * behind them; a block drained by phases of another engine count (isa/semantics.md 10.3, decisions.md A7, docs/machine.md). */
#include "probe.h"
#include <math.h>

enum { LANES = 16, PHASES = 8, INV = 1, OFLO = 4 };

typedef struct Problem {
    bool is_v2;
    uint32_t w[LANES][PHASES], x[PHASES], partial[LANES];
} Problem;

static void weights(Probe *probe, const Problem *p)
{
    uint64_t cwei[64];
    for (int n = 0; n < LANES; n++) {
        for (int m = 0; m < 4; m++) {
            cwei[m + 4 * n] = p->w[n][2 * m] | (uint64_t)p->w[n][2 * m + 1] << 32;
        }
    }
    probe_weights(probe, cwei);
}

static int first_lane(const Problem *p, int q)
{
    return p->is_v2 && q % 2 ? 8 + q - 1 : q;
}

/* One block of partials, one of activations, one to drain; result words by lane. */
static uint32_t run(const Problem *p, uint32_t seen[LANES])
{
    Probe probe = probe_open();
    weights(&probe, p);
    probe_uput(&probe, "$FP_CLR", 8);
    int place[LANES] = {0};
    for (int i = 0; i < 3 * PHASES; i++) {
        int q = i % PHASES, n = first_lane(p, q);
        bool has_pair = p->is_v2 || q % 2 == 0;
        probe_set(&probe, "$a0", i / PHASES == 1 ? p->x[q] : 0);
        probe_set(&probe, "$a2", i < PHASES && has_pair ? p->partial[n] : 0);
        probe_set(&probe, "$a3", i < PHASES && has_pair ? p->partial[n + 1] : 0);
        probe_say(&probe, "%s $a4:5, $a0, $a2:3, TAMP_F32_E4_P%d",
                  p->is_v2 ? "f32sisov2amp" : "f32sisoamp", q);
        if (i >= 2 * PHASES && has_pair) {
            place[n] = probe_store(&probe, "$a4:5");
            place[n + 1] = place[n] + 1;
        }
    }
    probe_say(&probe, "uget $a0, $FP_STS");
    int flags = probe_store(&probe, "$a0");
    probe_run(&probe);
    for (int n = 0; n < (p->is_v2 ? 16 : 8); n++) {
        seen[n] = probe_word(&probe, place[n]);
        CHECK(!probe_is_poison(&probe, place[n]));
    }
    uint32_t sts = probe_word(&probe, flags);
    probe_close(&probe);
    return sts;
}

static float flushed(float f)
{
    return fabsf(f) < 0x1p-126f ? copysignf(0.0f, f) : f;
}

/* acc += x * w: product and accumulator in double, one rounding to f32, subnormals flushed going in and coming out. */
static float oracle(const Problem *p, int n)
{
    float acc = flushed(f32_of_bits(p->partial[n]));
    for (int q = 0; q < PHASES; q++) {
        double x = (double)flushed(f32_of_bits(p->x[q]));
        double w = (double)flushed(f32_of_bits(p->w[n][q]));
        acc = flushed((float)(x * w + (double)acc));
    }
    return acc;
}

static void roundings(void)
{
    uint64_t seed = test_seed(61), i = 0;
    for (int pass = 0; pass < 20; pass++) {
        Problem p = {.is_v2 = pass & 1};
        /* passes of wide exponents, so that terms vanish or cancel, and of narrow ones */
        uint32_t low = pass & 2 ? 100 : 120, count = pass & 2 ? 50 : 12;
        for (int q = 0; q < PHASES; q++) {
            for (int n = 0; n < LANES; n++) {
                p.w[n][q] = (uint32_t)random_u64(seed, i++) & 0x807fffff;
                p.w[n][q] |= (low + (uint32_t)random_below(seed, i++, count)) << 23;
                p.partial[n] = (uint32_t)random_u64(seed, i++) & 0x80ffffff;
                p.partial[n] |= 0x3f000000;
            }
            p.x[q] = (uint32_t)random_u64(seed, i++) & 0x807fffff;
            p.x[q] |= (low + (uint32_t)random_below(seed, i++, count)) << 23;
        }
        uint32_t seen[LANES];
        CHECK_EQ_INT(run(&p, seen), 0);
        for (int n = 0; n < (p.is_v2 ? 16 : 8); n++) {
            CHECK_EQ_INT(seen[n], bits_of_f32(oracle(&p, n)));
        }
    }
}

/* Subnormal partials, activations, weights and sums count as zero. */
static void subnormals(void)
{
    for (int is_v2 = 0; is_v2 < 2; is_v2++) {
        Problem p = {.is_v2 = is_v2};
        uint32_t seen[LANES];
        p.partial[0] = 0x00400000;                         /* subnormal */
        p.x[1] = 0x7e800000, p.w[1][1] = 0x00400000;       /* 2^126 times a subnormal */
        p.x[2] = 0x00400000, p.w[2][2] = 0x7e800000;       /* the reverse */
        p.x[3] = 0x20000000, p.w[3][3] = 0x1f000000;       /* 2^-63 * 2^-65 = 2^-128 */
        p.x[4] = 0x3f800000, p.w[4][4] = 0x00c00000;       /* 1.5 2^-126 ... */
        p.x[5] = 0x3f800000, p.w[4][5] = 0x80800000;       /* ... minus 2^-126 = 2^-127 */
        p.x[6] = 0x3f800000, p.w[5][6] = 0x00800000;       /* the smallest normal */
        p.w[6][6] = 0x80800000, p.partial[6] = 0x40000000; /* lost in the rounding */
        const uint32_t expected[8] = {0, 0, 0, 0, 0, 0x00800000, 0x40000000, 0};
        CHECK_EQ_INT(run(&p, seen), 0);
        for (int n = 0; n < 8; n++) {
            CHECK_EQ_INT(seen[n] & 0x7fffffff, expected[n]);
            CHECK_EQ_INT(seen[n] & 0x7fffffff, bits_of_f32(fabsf(oracle(&p, n))));
        }
    }
}

/* Inf - Inf, 0 * Inf and NaN are invalid; an overflow of finite numbers gives Inf and OFLO. */
static void conditions(void)
{
    static const struct {
        uint32_t partial, x, w, expected, flags;
    } cases[] = {
        {0, 0x7f800000, 0x3f800000, 0x7f800000, 0}, /* others: Inf * 1 */
        {0, 0x7f800000, 0, 0x7fc00000, INV},
        {0xff800000, 0x7f800000, 0x3f800000, 0x7fc00000, INV},
        {0x7f800000, 0x7f000000, 0x3f800000, 0x7f800000, 0},
        {0, 0x7fc00001, 0x3f800000, 0x7fc00000, INV},
        {0x7f7fffff, 0x7f7fffff, 0x3f800000, 0x7f800000, OFLO},
        {0, 0x7f000000, 0x40000000, 0x7f800000, OFLO},
        {0, 0x7f000000, 0xc0000000, 0xff800000, OFLO},
        {0xff7fffff, 0x7f000000, 0x40000000, 0x73800000, 0}, /* 2^128 - (2^128 - 2^104) */
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        for (int is_v2 = 0; is_v2 < 2; is_v2++) {
            Problem p = {.is_v2 = is_v2};
            uint32_t seen[LANES];
            for (int n = 0; n < LANES; n++) {
                p.partial[n] = cases[c].partial;
                p.w[n][3] = cases[c].w;
            }
            p.x[3] = cases[c].x;
            uint32_t flags = run(&p, seen);
            for (int n = 0; n < (is_v2 ? 16 : 8); n++) {
                if (seen[n] != cases[c].expected) {
                    fprintf(stderr, "case %zu: 0x%x, expected 0x%x\n", c, seen[n],
                            cases[c].expected);
                    exit(1);
                }
            }
            CHECK_EQ_INT(flags, cases[c].flags);
        }
    }
}

/* E2 blocks of both forms, drained with E2_P0 and E1_P2 (and P1, P3 for the other set): the swap is P0's alone, and phase 2 of any
 * engine count goes on with the queue. */
static void other_drain(void)
{
    for (int is_v2 = 0; is_v2 < 2; is_v2++) {
        Problem p = {.is_v2 = is_v2};
        for (int n = 0; n < LANES; n++) {
            for (int q = 0; q < 4; q++) {
                p.w[n][q] = bits_of_f32((float)(10 * n + q));
            }
            p.partial[n] = bits_of_f32((float)(1000 * n));
        }
        Probe probe = probe_open();
        weights(&probe, &p);
        probe_uput(&probe, "$FP_CLR", 8);
        static const float x[4] = {1, 3, -2, 5};
        const char *name = is_v2 ? "f32sisov2amp" : "f32sisoamp";
        for (int i = 0; i < 12; i++) {
            int q = i % 4, n = first_lane(&p, q);
            bool has_pair = is_v2 || q % 2 == 0;
            probe_set(&probe, "$a0", i / 4 == 1 ? bits_of_f32(x[q]) : 0);
            probe_set(&probe, "$a2", i < 4 && has_pair ? p.partial[n] : 0);
            probe_set(&probe, "$a3", i < 4 && has_pair ? p.partial[n + 1] : 0);
            probe_say(&probe, "%s $a4:5, $a0, $a2:3, TAMP_F32_E%d_P%d", name, i >= 10 ? 1 : 2, q);
            if (i >= 8 && has_pair) {
                probe_store(&probe, "$a4:5");
            }
        }
        probe_run(&probe);
        for (int q = 0, k = 0; q < 4; q++) {
            int n = first_lane(&p, q);
            for (int e = 0; e < 2 && (is_v2 || q % 2 == 0); e++, k++) {
                float expected = (float)(1000 * (n + e));
                for (int i = 0; i < 4; i++) {
                    expected += x[i] * (float)(10 * (n + e) + i);
                }
                CHECK_EQ_INT(probe_word(&probe, k), bits_of_f32(expected));
            }
        }
        probe_close(&probe);
    }
}

/* TAS is used as a temporary; odd phases of the form with one set return nothing that is defined. */
static void undefined(void)
{
    static const char *const texts[] = {
        "f32sisoamp $a4:5, $azero, $azeros, TAMP_F32_E4_P0",
        "f32sisov2amp $a4:5, $azero, $azeros, TAMP_F32_E4_P1",
        "f32sisoamp $a4:5, $azero, $azeros, TAMP_F32_E4_P1",
        "f16v4sisoamp $a4:5, $azeros, $azeros, TAMP_F16V4_E4_P1",
    };
    for (int i = 0; i < 4; i++) {
        Probe probe = probe_open();
        uint64_t cwei[64] = {0};
        probe_weights(&probe, cwei);
        probe_uput(&probe, "$FP_CLR", 8);
        probe_uput(&probe, "$TAS", 0x3f800000);
        probe_say(&probe, "%s\nuget $a0, $TAS", texts[i]);
        int result = probe_store(&probe, "$a4:5"), tas = probe_store(&probe, "$a0");
        probe_run(&probe);
        CHECK_EQ_INT(probe_is_poison(&probe, tas), i != 3);
        CHECK_EQ_INT(probe_is_poison(&probe, result), i == 2);
        CHECK_EQ_INT(probe_is_poison(&probe, result + 1), i == 2);
        probe_close(&probe);
    }
}

TEST_MAIN(roundings, subnormals, conditions, other_drain, undefined)
