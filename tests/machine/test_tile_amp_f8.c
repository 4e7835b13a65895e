/* Numbers of f8v8hihov4amp: formats of weights and activations, apart and mixed, the common scale, NaN codes and the rounding of
 * the results (isa/semantics.md 6.1, 10.2; registers.md 4.4; decisions.md A7, A8). */
#include "probe.h"
#include <math.h>

enum { PHASES = 4, LANES = 16, ELEMENTS = 8, NANOO = 1 << 20, INV = 1, OFLO = 4 };

typedef struct Problem {
    uint32_t w[LANES][PHASES][ELEMENTS], x[PHASES][ELEMENTS]; /* codes */
    uint32_t partial[LANES];                                  /* halves */
    bool is_w_f143, is_x_f143;
    int scale;
    uint32_t fp_ctl;
    bool is_worker_set; /* formats and scale through FP_NFMT and FP_SCL, else at the launch */
} Problem;

typedef struct Answer {
    uint32_t half[LANES], flags;
} Answer;

/* (-1)^s 2^(e - bias) (1 + m / 2^k), or (-1)^s 2^(1 - bias) m / 2^k for e = 0; 0x80 is NaN. */
static double value_of(uint32_t code, bool is_f143)
{
    int k = is_f143 ? 3 : 2, bias = is_f143 ? 8 : 16, e = (int)(code & 0x7f) >> k;
    double m = (double)(code & ((1u << k) - 1)) / (1 << k);
    double value = ldexp(e ? 1 + m : m, (e ? e : 1) - bias);
    return code == 0x80 ? (double)NAN : code & 0x80 ? -value : value;
}

static double half_value(uint32_t h)
{
    int e = (int)(h >> 10 & 31), m = (int)(h & 0x3ff);
    double value = ldexp(e ? 1024 + m : m, (e ? e : 1) - 25);
    return h & 0x8000 ? -value : value;
}

/* Nearest half, ties to even; saturates or NaN. */
static uint32_t half_of(double v, uint32_t fp_ctl, uint32_t *flags)
{
    uint32_t sign = signbit(v) ? 0x8000 : 0;
    v = fabs(v);
    int e = v < 0x1p-14 ? -24 : ilogb(v) - 10;
    double units = rint(ldexp(v, -e));
    if (ldexp(units, e) > 65504.0) {
        *flags |= OFLO;
        return fp_ctl & NANOO ? 0x7e00 : sign | 0x7bff;
    }
    return sign | ((uint32_t)(e + 24) * 1024 + (uint32_t)units);
}

static Answer oracle(const Problem *p)
{
    Answer answer = {0};
    for (int n = 0; n < LANES; n++) {
        float acc = (float)half_value(p->partial[n]);
        for (int q = 0; q < PHASES; q++) {
            long double sum = (long double)acc;
            for (int e = 0; e < ELEMENTS; e++) {
                long double product = (long double)value_of(p->x[q][e], p->is_x_f143) *
                                      (long double)value_of(p->w[n][q][e], p->is_w_f143);
                sum += ldexpl(product, p->scale);
            }
            acc = (float)sum;
        }
        if (isnan(acc)) {
            answer.flags |= INV;
            answer.half[n] = 0x7e00;
        } else {
            answer.half[n] = half_of((double)acc, p->fp_ctl, &answer.flags);
        }
    }
    return answer;
}

static uint32_t bytes(const uint32_t *codes)
{
    return codes[0] | codes[1] << 8 | codes[2] << 16 | codes[3] << 24;
}

static Answer machine(const Problem *p)
{
    Probe probe = probe_open();
    uint64_t cwei[64];
    for (int n = 0; n < LANES; n++) {
        for (int q = 0; q < PHASES; q++) {
            cwei[4 * n + q] = bytes(p->w[n][q]) | (uint64_t)bytes(p->w[n][q] + 4) << 32;
        }
    }
    probe_weights(&probe, cwei);
    /* bit 0: weights, bit 1: activations; 1 = F143. What the worker sets wins. */
    uint32_t format = (uint32_t)p->is_w_f143 | (uint32_t)p->is_x_f143 << 1;
    uint32_t scale = (uint32_t)p->scale & 63;
    probe_tell(&probe, "setzi $m0, %u\nput $FP_INFMT, $m0\nsetzi $m0, %u\nput $FP_ISCL, $m0",
               p->is_worker_set ? format ^ 3 : format, p->is_worker_set ? scale ^ 5 : scale);
    if (p->is_worker_set) {
        probe_uput(&probe, "$FP_NFMT", format);
        probe_uput(&probe, "$FP_SCL", scale);
    }
    probe_uput(&probe, "$FP_CTL", p->fp_ctl);
    probe_uput(&probe, "$FP_CLR", 8);
    for (int q = 0; q < 3 * PHASES; q++) {
        uint32_t words[4] = {0};
        if (q < PHASES) { /* rows 2q, 2q + 1, 8 + 2q, 9 + 2q */
            words[2] = p->partial[2 * q] | p->partial[2 * q + 1] << 16;
            words[3] = p->partial[8 + 2 * q] | p->partial[9 + 2 * q] << 16;
        } else if (q < 2 * PHASES) {
            words[0] = bytes(p->x[q - PHASES]), words[1] = bytes(p->x[q - PHASES] + 4);
        }
        for (int i = 0; i < 4; i++) {
            char name[4] = {'$', 'a', (char)('0' + i), 0};
            probe_set(&probe, name, words[i]);
        }
        probe_say(&probe, "f8v8hihov4amp $a4:5, $a0:1, $a2:3, TAMP_F8V8_E4_P%d", q % PHASES);
        if (q >= 2 * PHASES) {
            probe_store(&probe, "$a4:5");
        }
    }
    probe_say(&probe, "uget $a0, $FP_STS");
    int flags = probe_store(&probe, "$a0");
    probe_run(&probe);
    Answer answer = {.flags = probe_word(&probe, flags)};
    for (int q = 0; q < PHASES; q++) {
        answer.half[2 * q] = probe_half(&probe, 2 * q, 0);
        answer.half[2 * q + 1] = probe_half(&probe, 2 * q, 1);
        answer.half[8 + 2 * q] = probe_half(&probe, 2 * q + 1, 0);
        answer.half[9 + 2 * q] = probe_half(&probe, 2 * q + 1, 1);
    }
    probe_close(&probe);
    return answer;
}

static void check(const Problem *p)
{
    Answer expected = oracle(p), seen = machine(p);
    for (int n = 0; n < LANES; n++) {
        if (seen.half[n] != expected.half[n]) {
            fprintf(stderr,
                    "weights F1%d, activations F1%d, scale %d: row %d: 0x%x, expected 0x%x\n",
                    p->is_w_f143 ? 43 : 52, p->is_x_f143 ? 43 : 52, p->scale, n, seen.half[n],
                    expected.half[n]);
            exit(1);
        }
    }
    CHECK_EQ_INT(seen.flags, expected.flags);
}

/* A code of exponent `low` or more, so that all sums of a row are exact before they are rounded to f32. Never NaN. */
static uint32_t random_code(uint64_t seed, uint64_t *n, bool is_f143, uint32_t low, uint32_t count)
{
    uint32_t k = is_f143 ? 3 : 2;
    uint32_t e = low + (uint32_t)random_below(seed, (*n)++, count);
    uint32_t code = e << k | (uint32_t)random_below(seed, (*n)++, 1u << k);
    return code == 0 ? 0 : code | (uint32_t)random_below(seed, (*n)++, 2) << 7;
}

static void formats(void)
{
    uint64_t seed = test_seed(51), n = 0;
    static const int scales[] = {0, -3, 2, -9, -16, 5};
    for (int pass = 0; pass < 48; pass++) {
        Problem p = {.is_w_f143 = pass & 1, .is_x_f143 = pass >> 1 & 1};
        p.is_worker_set = pass >> 2 & 1;
        p.fp_ctl = pass & 8 ? NANOO : 0;
        p.scale = scales[pass / 8];
        for (int i = 0; i < LANES * PHASES * ELEMENTS; i++) {
            p.w[i / 32][i / 8 % 4][i % 8] =
                random_code(seed, &n, p.is_w_f143, p.is_w_f143 ? 0 : 10, p.is_w_f143 ? 16 : 12);
        }
        for (int i = 0; i < PHASES * ELEMENTS; i++) {
            p.x[i / 8][i % 8] =
                random_code(seed, &n, p.is_x_f143, p.is_x_f143 ? 2 : 12, p.is_x_f143 ? 13 : 8);
        }
        for (int i = 0; i < LANES; i++) {
            p.partial[i] = 0x3c00 + (uint32_t)random_below(seed, n++, 0x1000);
            p.partial[i] |= (uint32_t)random_below(seed, n++, 2) << 15;
        }
        check(&p);
    }
}

/* The product of every code and 1, on either side, in both formats and many scales: the value times 2^scale. */
static void scales(void)
{
    for (int pass = 0; pass < 22 * 4; pass++) {
        bool is_f143 = pass & 1, is_weight = pass & 2;
        Problem p = {.scale = pass / 4 * 3 - 32};
        p.is_w_f143 = is_weight == is_f143, p.is_x_f143 = !p.is_w_f143;
        for (uint32_t first = 0; first < (is_weight ? 256 : 128); first += is_weight ? 64 : 4) {
            for (uint32_t q = 0; q < PHASES; q++) {
                for (uint32_t n = 0; n < LANES; n++) {
                    uint32_t code = first + 4 * n + q;
                    p.w[n][q][0] = code == 0x80 ? 0 : code;
                }
                p.x[q][0] = q == first / 64 % 4 ? 0x40 : 0; /* 2^(8 - 8), 2^(16 - 16) */
                if (!is_weight) {
                    p.x[q][0] = first + q;
                    for (uint32_t n = 0; n < LANES; n++) {
                        p.w[n][q][0] = q == n % 4 ? 0x40 + (n & 8) / 8 * 0x80 : 0;
                    }
                }
            }
            check(&p);
        }
    }
}

/* 0x80 on either side is NaN and raises INV in its row (weights) or in all rows (activations). */
static void nan_codes(void)
{
    Problem p = {.is_w_f143 = true, .is_x_f143 = true};
    p.x[0][0] = 0x40;
    for (int n = 0; n < LANES; n++) {
        p.w[n][0][0] = 0x48;
        p.partial[n] = 0x3c00;
    }
    p.w[5][2][7] = 0x80; /* times 0 */
    Answer answer = oracle(&p);
    CHECK_EQ_INT(answer.half[5], 0x7e00);
    CHECK_EQ_INT(answer.half[4], 0x4200);
    check(&p);
    p.x[3][1] = 0x80;
    check(&p);
}

/* The largest products overflow the halves only: the accumulator holds them. */
static void overflow(void)
{
    for (int pass = 0; pass < 4; pass++) {
        Problem p = {.scale = pass & 2 ? 0 : -10, .fp_ctl = pass & 1 ? NANOO : 0};
        for (int e = 0; e < ELEMENTS; e++) {
            p.x[0][e] = 0x7f;
            p.x[1][e] = e == 0 ? 0x7f : 0;
            for (int n = 0; n < LANES; n++) {
                p.w[n][0][e] = e == 0 ? 0x7f : 0;
                p.w[n][1][e] = n % 2 ? 0xff : 0; /* takes it away again */
            }
        }
        check(&p);
    }
}

TEST_MAIN(formats, scales, nan_codes, overflow)
