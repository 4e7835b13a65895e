/* Numbers of the f16 products: subnormal halves, f32 partials, overflow of narrow results, NaN and Inf in any place, undefined values,
 * conditions that FP_CTL enables; each form alone and rows of either kind beside each other (isa/semantics.md 10.2; decisions.md A6,
 * A7). */
#include "probe.h"
#include <math.h>

enum { LANES = 16, PHASES = 4, ELEMENTS = 4, INV = 1, OFLO = 4, NANOO = 1 << 20, ITEMS = 12 };

typedef struct Form {
    const char *mnemonic;
    int sets;
    bool is_half_in, is_half_out;
} Form;

static const Form forms[] = {{"f16v4sisoamp", 1, false, false},
                             {"f16v4hihoamp", 1, true, true},
                             {"f16v4sihoamp", 1, false, true},
                             {"f16v4hihov4amp", 2, true, true}};

typedef struct Problem {
    const Form *form;
    uint32_t w[LANES][PHASES][ELEMENTS], x[PHASES][ELEMENTS]; /* halves */
    uint32_t partial[LANES];                                  /* halves or f32 */
    uint32_t fp_ctl;
    uint64_t undefined_w;        /* by index */
    uint32_t undefined_partials; /* by issue of the first block */
    bool is_undefined_x;         /* of phase 2 */
} Problem;

typedef struct Answer {
    uint32_t bits[LANES], flags;
    bool is_undefined[LANES];
} Answer;

static double half_value(uint32_t h)
{
    int e = (int)(h >> 10 & 31), m = (int)(h & 0x3ff);
    double v =
        e == 31 ? (m ? (double)NAN : (double)INFINITY) : ldexp(e ? 1024 + m : m, (e ? e : 1) - 25);
    return h & 0x8000 ? -v : v;
}

static uint32_t half_of(double v, uint32_t fp_ctl, uint32_t *flags)
{
    uint32_t sign = signbit(v) ? 0x8000 : 0;
    if (isnan(v)) {
        *flags |= INV;
        return 0x7e00;
    }
    v = fabs(v);
    if (isinf(v)) {
        return sign | 0x7c00;
    }
    int e = v < 0x1p-14 ? -24 : ilogb(v) - 10;
    double units = rint(ldexp(v, -e));
    if (ldexp(units, e) > 65504.0) {
        *flags |= OFLO;
        return fp_ctl & NANOO ? 0x7e00 : sign | 0x7bff;
    }
    return sign | ((uint32_t)(e + 24) * 1024 + (uint32_t)units);
}

static float flushed(float f)
{
    return fabsf(f) < 0x1p-126f ? copysignf(0.0f, f) : f;
}

/* Lanes of an issue: rows 2p, 2p + 1 of the first set, then of the second. */
static int lane_of(int phase, int i)
{
    return 8 * (i / 2) + 2 * phase + i % 2;
}

static void weights(Probe *probe, const Problem *p)
{
    uint64_t cwei[64];
    for (int k = 0; k < 64; k++) {
        const uint32_t *w = p->w[k / 4][k % 4];
        cwei[k] = w[0] | w[1] << 16 | (uint64_t)(w[2] | w[3] << 16) << 32;
    }
    probe_weights(probe, cwei);
    for (int k = 0; k < 64; k++) {
        const uint8_t second = 2;
        if (p->undefined_w >> k & 1) {
            tile_store_words(&probe->rig->tile, RIG_WIDE + 8 * (uint32_t)k,
                             (const uint32_t *)(const void *)&cwei[k], 2, &second);
        }
    }
}

static TileStop launch(Probe *probe, const Problem *p, Answer *answer)
{
    const Form *form = p->form;
    bool is_wide_in = form->sets == 2 || !form->is_half_in;
    bool is_wide_out = form->sets == 2 || !form->is_half_out;
    uint32_t items[ITEMS][4] = {{0}};
    weights(probe, p);
    for (int i = 0; i < ITEMS; i++) {
        int q = i % PHASES, lanes = 2 * form->sets;
        for (int k = 0; k < lanes && i < PHASES; k++) {
            uint32_t partial = p->partial[lane_of(q, k)];
            items[i][2 + (form->is_half_in ? k / 2 : k)] |=
                partial << (form->is_half_in ? 16 * (k % 2) : 0);
        }
        if (i / PHASES == 1) {
            items[i][0] = p->x[q][0] | p->x[q][1] << 16;
            items[i][1] = p->x[q][2] | p->x[q][3] << 16;
        }
    }
    for (uint32_t i = 0; i < ITEMS; i++) {
        bool is_partial = i < PHASES && (p->undefined_partials >> i & 1) != 0;
        const uint8_t undefined =
            (uint8_t)((is_partial ? 4 : 0) | (p->is_undefined_x && i == PHASES + 2 ? 2 : 0));
        tile_store_words(&probe->rig->tile, RIG_DATA + 16 * i, items[i], 4, &undefined);
    }
    probe_uput(probe, "$FP_CLR", 8);
    probe_uput(probe, "$FP_CTL", p->fp_ctl);
    probe_say(probe, "zero $a4:5");
    for (int i = 0; i < ITEMS; i++) {
        probe_say(probe,
                  "ld64step $a0:1, $mzero, $m0+=, 1\nld64step $a2:3, $mzero, $m0+=, 1\n"
                  "%s %s, $a0:1, %s, TAMP_F16V4_E4_P%d",
                  form->mnemonic, is_wide_out ? "$a4:5" : "$a4", is_wide_in ? "$a2:3" : "$a2",
                  i % PHASES);
        probe_store(probe, "$a4:5");
    }
    probe_say(probe, "uget $a0, $FP_STS");
    int flags = probe_store(probe, "$a0");
    TileStop stop = probe_launch(probe, 1);
    for (int q = 0; q < PHASES; q++) {
        for (int k = 0; k < 2 * form->sets; k++) {
            int word = 2 * (2 * PHASES + q) + (form->is_half_out ? k / 2 : k);
            answer->bits[lane_of(q, k)] =
                form->is_half_out ? probe_half(probe, word, k % 2) : probe_word(probe, word);
            answer->is_undefined[lane_of(q, k)] = probe_is_poison(probe, word);
        }
    }
    answer->flags = probe_word(probe, flags);
    return stop;
}

/* Exact products and accumulator in double, one rounding to f32 an instruction. */
static Answer oracle(const Problem *p)
{
    Answer answer = {0};
    for (int n = 0; n < 8 * p->form->sets; n++) {
        float acc = p->form->is_half_in ? (float)half_value(p->partial[n])
                                        : flushed(f32_of_bits(p->partial[n]));
        bool is_finite = isfinite(acc);
        for (int q = 0; q < PHASES; q++) {
            double sum = 0;
            for (int e = 0; e < ELEMENTS; e++) {
                sum += half_value(p->x[q][e]) * half_value(p->w[n][q][e]);
            }
            is_finite = is_finite && isfinite(sum);
            acc = flushed((float)(sum + (double)acc));
            answer.flags |= isnan(acc) ? INV : isinf(acc) && is_finite ? OFLO : 0;
            for (int e = 0; e < ELEMENTS; e++) { /* times 0 in the blocks in front and behind */
                answer.flags |= isfinite(half_value(p->w[n][q][e])) ? 0 : INV;
            }
        }
        if (p->form->is_half_out) {
            answer.bits[n] = half_of((double)acc, p->fp_ctl, &answer.flags);
        } else {
            answer.bits[n] = isnan(acc) ? 0x7fc00000 : bits_of_f32(acc);
        }
    }
    return answer;
}

static void check(const Problem *p)
{
    Probe probe = probe_open();
    Answer expected = oracle(p), seen;
    CHECK_EQ_INT(launch(&probe, p, &seen), TILE_STOP_SYNC_HOST);
    for (int n = 0; n < 8 * p->form->sets; n++) {
        if (seen.bits[n] != expected.bits[n] || seen.is_undefined[n]) {
            fprintf(stderr, "%s: row %d: 0x%x, expected 0x%x\n", p->form->mnemonic, n, seen.bits[n],
                    expected.bits[n]);
            exit(1);
        }
    }
    CHECK_EQ_INT(seen.flags, expected.flags);
    probe_close(&probe);
}

/* Halves of exponents `low` and up (0: subnormal ones as well), so few that sums are exact in double. */
static uint32_t random_half(uint64_t seed, uint64_t *n, uint32_t low, uint32_t count)
{
    uint32_t h = (low + (uint32_t)random_below(seed, (*n)++, count)) << 10;
    return h | ((uint32_t)random_u64(seed, (*n)++) & 0x83ff);
}

static Problem random_problem(const Form *form, uint64_t seed, uint32_t low, uint32_t partial_low)
{
    Problem p = {.form = form};
    uint64_t n = 0;
    for (int i = 0; i < LANES * PHASES * ELEMENTS; i++) {
        p.w[i / 16][i / 4 % 4][i % 4] = random_half(seed, &n, low, 8);
    }
    for (int i = 0; i < PHASES * ELEMENTS; i++) {
        p.x[i / 4][i % 4] = random_half(seed, &n, low, 8);
    }
    for (int i = 0; i < LANES; i++) {
        p.partial[i] = random_half(seed, &n, partial_low, 8);
        if (!form->is_half_in) {
            p.partial[i] = bits_of_f32((float)half_value(p.partial[i]) * 0x1.002p0f);
        }
    }
    return p;
}

/* From products of subnormal halves up to results that overflow. */
static void ranges(void)
{
    uint64_t seed = test_seed(151);
    static const uint32_t lows[] = {0, 4, 10, 16, 20, 23};
    for (int f = 0; f < 4; f++) {
        for (int i = 0; i < 24; i++) {
            uint32_t low = lows[i % 6], partial = low < 8 ? 0 : low < 15 ? 2 * low - 12 : 20;
            Problem p = random_problem(&forms[f], seed++, low, partial);
            p.fp_ctl = i & 1 ? NANOO : 0;
            check(&p);
        }
    }
}

/* One special number in every place of activations, weights and partials, in turn: the rows that it meets, and only these. */
static void specials(void)
{
    static const uint32_t halves[] = {0x7c00, 0xfc00, 0x7e00, 0x7d01};
    uint64_t seed = test_seed(152);
    for (int f = 0; f < 4; f++) {
        for (uint32_t i = 0; i < 48; i++) {
            Problem p = random_problem(&forms[f], seed++, 12, 14);
            uint32_t special = halves[i % 4], place = i / 4;
            if (place < 4) {
                p.x[place][(place * 3 + i) % 4] = special;
            } else if (place < 8) {
                p.w[(place * 5 + i) % LANES][place % 4][i % 3] = special;
                p.x[place % 4][i % 3] = i % 8 < 4 ? 0 : p.x[place % 4][i % 3]; /* Inf * 0 */
            } else {
                p.partial[(place * 7 + i) % 8] =
                    forms[f].is_half_in ? special : bits_of_f32((float)half_value(special));
            }
            check(&p);
        }
    }
}

/* f32 partials: subnormal ones are zero, large ones overflow into Inf (single results) or saturate (halves). */
static void single_partials(void)
{
    static const uint32_t partials[] = {0x00400000, 0x807fffff, 0x00800000, 0x7f7fffff,
                                        0xff7fffff, 0x477ff000, 0x477fefff, 0x33000000};
    for (int f = 0; f < 4; f += 2) {
        Problem p = {.form = &forms[f]};
        for (int n = 0; n < 8; n++) {
            p.partial[n] = partials[n];
        }
        check(&p);
        p.fp_ctl = NANOO;
        p.x[1][2] = 0x7bff;
        for (int n = 0; n < 8; n++) {
            p.w[n][1][2] = n % 2 ? 0x7bff : 0xfbff;
        }
        check(&p);
    }
}

/* An undefined coefficient, activation or partial makes the rows undefined that it enters, and no other. */
static void undefined(void)
{
    uint64_t seed = test_seed(153);
    for (int f = 0; f < 4; f++) {
        for (int kind = 0; kind < 3; kind++) {
            Problem p = random_problem(&forms[f], seed++, 12, 14);
            p.undefined_w = kind == 0 ? 1u << (4 * 3 + 2) | 1ull << (4 * 9 + 1) : 0;
            p.is_undefined_x = kind == 1;
            p.undefined_partials = kind == 2 ? 1u << 3 : 0;
            Probe probe = probe_open();
            Answer expected = oracle(&p), seen;
            CHECK_EQ_INT(launch(&probe, &p, &seen), TILE_STOP_SYNC_HOST);
            for (int n = 0; n < 8 * forms[f].sets; n++) {
                /* marks are per register: two halves of a pair share one */
                bool is_hit = kind == 1 || (kind == 0 && (n == 3 || n == 9)) ||
                              (kind == 2 && (n == 6 || (n == 7 && forms[f].is_half_in)));
                int other = n ^ 1;
                bool is_near = forms[f].is_half_out && ((kind == 0 && (other == 3 || other == 9)) ||
                                                        (kind == 2 && other == 6));
                CHECK_EQ_INT(seen.is_undefined[n], is_hit || is_near);
                if (!is_hit && !is_near) {
                    CHECK_EQ_INT(seen.bits[n], expected.bits[n]);
                }
            }
            probe_close(&probe);
        }
    }
}

/* A condition that FP_CTL enables stops the worker; one that it does not, is noted. */
static void traps(void)
{
    for (int f = 0; f < 4; f++) {
        for (uint32_t i = 0; i < 4; i++) {
            Problem p = {.form = &forms[f]};
            bool is_overflow = i & 1;
            p.x[0][0] = is_overflow ? 0x7bff : 0x7c00;
            p.w[2][0][0] = is_overflow ? 0x4000 : 0;
            p.w[0][0][0] = p.w[1][0][0] = 0x3c00;
            p.fp_ctl = i & 2 ? OFLO : INV;
            bool is_raised = is_overflow ? forms[f].is_half_out : true;
            bool is_stopped = is_raised && (i & 2) / 2 == (i & 1);
            Probe probe = probe_open();
            Answer seen;
            TileStop stop = launch(&probe, &p, &seen);
            CHECK_EQ_INT(stop, is_stopped ? TILE_STOP_FAULT : TILE_STOP_SYNC_HOST);
            CHECK(!is_stopped || strcmp(probe.rig->tile.fault.name, "FP_EXCEPTION") == 0);
            probe_close(&probe);
        }
    }
}

TEST_MAIN(ranges, specials, single_partials, undefined, traps)
