/* Accumulator instructions: which of the 32 accumulators each touches, that it touches no other, pipelines of axpy and mix, chains of
 * gina, conditions (isa/semantics.md 9). Numbers are small integers, so that every sum is exact. */
#include "probe.h"
#include <math.h>

enum { ACCUMULATORS = 32, INV = 1, OFLO = 4, NANOO = 1 << 20 };

typedef enum Effect {
    ACC_F16,
    SQACC_F16,
    ABSACC_F16,
    ACC_F32,
    SQACC_F32,
    ABSACC_F32,
    MAC,
    CMAC,
    AOP,
    AXPY,
    MIX,
    GINA,
} Effect;

typedef struct Form {
    const char *text; /* sources $a0:1, $a2:3 (quad $a0:3); result $a4:5 */
    Effect effect;
    int elements, chain; /* chain of gina; elements of a result */
    bool is_half_result;
} Form;

static const Form forms[] = {
    {"f16v8acc $a0:3", ACC_F16, 8, 0, false},
    {"f16v8sqacc $a0:3", SQACC_F16, 8, 0, false},
    {"f16v8absacc $a0:3", ABSACC_F16, 8, 0, false},
    {"f16v4acc $a0:1", ACC_F16, 4, 0, false},
    {"f16v4absacc $a0:1", ABSACC_F16, 4, 0, false},
    {"f32v4acc $a0:3", ACC_F32, 4, 0, false},
    {"f32v4sqacc $a0:3", SQACC_F32, 4, 0, false},
    {"f32v4absacc $a0:3", ABSACC_F32, 4, 0, false},
    {"f32mac $a0, $a2", MAC, 1, 0, false},
    {"f32v2mac $a0:1, $a2:3", MAC, 2, 0, false},
    {"f16v2cmac $a0, $a2", CMAC, 1, 0, false},
    {"f16v4cmac $a0:1, $a2:3", CMAC, 2, 0, false},
    {"f32v2aop $a0:1, $a2:3, 0", AOP, 4, 0, false},
    {"f32v2axpy $a4:5, $a0:1, $a2:3", AXPY, 2, 0, false},
    {"f16v4mix $a4:5, $a0:1, $a2:3", MIX, 4, 0, true},
    {"f32v2gina $a4:5, $a0:1, 0", GINA, 2, 0, false},
    {"f32v2gina $a4:5, $a0:1, 1", GINA, 2, 1, false},
    {"f32v2gina $a4:5, $a0:1, TGINA_SET1_EVEN", GINA, 2, 2, false},
    {"f32v2gina $a4:5, $a0:1, TGINA_SET1_ODD", GINA, 2, 3, false},
    {"f16v2gina $a4, $a0, 0", GINA, 2, 0, true},
    {"f16v2gina $a4, $a0, 1", GINA, 2, 1, true},
    {"f16v2gina $a4, $a0, TGINA_SET1_EVEN", GINA, 2, 2, true},
    {"f16v2gina $a4, $a0, TGINA_SET1_ODD", GINA, 2, 3, true},
    {"f16v4gacc $a4:5", GINA, 4, -1, true}, /* reads without a shift */
};

/* Numbers of the accumulators of a chain, near end first. */
static int chain_at(int chain, int i)
{
    return 16 * (chain / 2) + chain % 2 + 2 * i;
}

static void fill(Probe *probe, const float acc[ACCUMULATORS])
{
    for (int chain = 0; chain < 4; chain++) {
        for (int i = 0; i < 8; i += 2) {
            probe_set(probe, "$a6", bits_of_f32(acc[chain_at(chain, i)]));
            probe_set(probe, "$a7", bits_of_f32(acc[chain_at(chain, i + 1)]));
            probe_say(probe, "f32v2gina $azeros, $a6:7, %d", chain);
        }
    }
}

static int drain(Probe *probe)
{
    int first = -1;
    for (int chain = 0; chain < 4; chain++) {
        for (int i = 0; i < 4; i++) {
            probe_say(probe, "f32v2gina $a4:5, $azeros, %d", chain);
            int at = probe_store(probe, "$a4:5");
            first = first < 0 ? at : first;
        }
    }
    return first;
}

/* New accumulators and result (old values); x, y the sources as numbers, tas the multipliers. */
static void oracle(const Form *form, float acc[ACCUMULATORS], const float *x, const float *y,
                   const float tas[2], float result[4])
{
    for (int i = 0; i < form->elements; i++) {
        float *at = &acc[2 * i], v = x[i];
        switch (form->effect) {
        case ACC_F16:
        case ACC_F32:
            *at += v;
            break;
        case SQACC_F16:
        case SQACC_F32:
            *at += v * v;
            break;
        case ABSACC_F16:
        case ABSACC_F32:
            *at += fabsf(v);
            break;
        case MAC:
            *at += v * y[i];
            break;
        case CMAC:
            *at += x[2 * i] * y[2 * i] + x[2 * i + 1] * y[2 * i + 1];
            break;
        case AOP:
            *at += x[i % 2] * y[i / 2];
            break;
        case AXPY:
            result[i] = *at;
            *at = tas[0] * v + y[i];
            break;
        case MIX:
            result[i] = *at;
            *at = tas[0] * v + tas[1] * y[i];
            break;
        default:
            break;
        }
    }
    if (form->effect == GINA && form->chain < 0) {
        for (int i = 0; i < 4; i++) {
            result[i] = acc[2 * i];
        }
    } else if (form->effect == GINA) {
        for (int i = 0; i < 8; i++) {
            float *at = &acc[chain_at(form->chain, i)];
            if (i < 2) {
                result[i] = *at;
            }
            *at = i < 6 ? acc[chain_at(form->chain, i + 2)] : x[i - 6];
        }
    }
}

static bool has_half_sources(const Form *form)
{
    return form->text[1] == '1';
}

static uint32_t half_of(float v)
{
    return f16_of_f32(v);
}

static void check_form(const Form *form, uint64_t seed)
{
    float acc[ACCUMULATORS], x[8], result[4] = {0};
    uint64_t n = 0;
    for (int i = 0; i < ACCUMULATORS; i++) {
        acc[i] = (float)(100 + i);
    }
    uint32_t words[4] = {0};
    bool is_half = has_half_sources(form);
    for (int i = 0; i < (is_half ? 8 : 4); i++) {
        x[i] = (float)random_below(seed, n++, 19) - 9.0f;
        if (is_half) {
            words[i / 2] |= half_of(x[i]) << (16 * (i % 2));
        } else {
            words[i] = bits_of_f32(x[i]);
        }
    }
    float tas[2] = {3, -2};
    Probe probe = probe_open();
    fill(&probe, acc);
    for (int i = 0; i < 4; i++) {
        char name[4] = {'$', 'a', (char)('0' + i), 0};
        probe_set(&probe, name, words[i]);
    }
    probe_uput(&probe, "$TAS",
               form->effect == AXPY ? bits_of_f32(3) : half_of(3) | half_of(-2) << 16);
    int place[2];
    for (int pass = 0; pass < 2; pass++) { /* twice: the pipelines return what the first made */
        probe_say(&probe, "zero $a4:5\n%s", form->text);
        place[pass] = probe_store(&probe, "$a4:5");
    }
    int drained = drain(&probe);
    probe_say(&probe, "uget $a4, $FP_STS");
    int flags = probe_store(&probe, "$a4");
    probe_run(&probe);
    for (int pass = 0; pass < 2; pass++) {
        oracle(form, acc, x, x + (is_half ? 4 : 2), tas, result);
        for (int i = 0; i < form->elements && form->effect >= AXPY; i++) {
            float seen = form->is_half_result
                             ? f32_of_f16((uint16_t)probe_half(&probe, place[pass] + i / 2, i % 2))
                             : f32_of_bits(probe_word(&probe, place[pass] + i));
            CHECK_NEAR((double)seen, (double)result[i], 0.0);
        }
    }
    for (int chain = 0; chain < 4; chain++) {
        for (int i = 0; i < 8; i++) {
            float seen = f32_of_bits(probe_word(&probe, drained + 8 * chain + i));
            if (seen != acc[chain_at(chain, i)]) {
                fprintf(stderr, "%s: AC[%d] is %g, expected %g\n", form->text, chain_at(chain, i),
                        (double)seen, (double)acc[chain_at(chain, i)]);
                exit(1);
            }
        }
    }
    CHECK_EQ_INT(probe_word(&probe, flags), 0);
    probe_close(&probe);
}

static void every_form(void)
{
    uint64_t seed = test_seed(121);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        for (int k = 0; k < 8; k++) {
            check_form(&forms[i], seed++);
        }
    }
}

typedef struct Case {
    const char *text;                        /* $a0:3 of these words, AC[0] = AC[2] = acc */
    uint32_t words[4], acc, expected, flags; /* expected: AC[0] behind, as f32 */
} Case;

#define INF 0x7f800000
#define NAN32 0x7fc00000

static const Case cases[] = {
    {"f32v4acc $a0:3", {INF}, 0, INF, 0},
    {"f32v4acc $a0:3", {INF}, 0xff800000, NAN32, INV},
    {"f32v4acc $a0:3", {0x7fc00001}, 0, NAN32, INV},
    {"f32v4acc $a0:3", {0x7f7fffff}, 0x7f7fffff, INF, OFLO},
    {"f32v4acc $a0:3", {0x00400000}, 0, 0, 0},                   /* subnormal: zero */
    {"f32v4acc $a0:3", {0x80800000}, 0x00c00000, 0, 0},          /* 2^-127: flushed */
    {"f32v4acc $a0:3", {0x33800000}, 0x3f800000, 0x3f800000, 0}, /* 1 + 2^-24: to even */
    {"f32v4acc $a0:3", {0x33800001}, 0x3f800000, 0x3f800001, 0},
    {"f32v4absacc $a0:3", {0xff800000}, 0, INF, 0},
    {"f32v4sqacc $a0:3", {0xff000000}, 0, INF, OFLO},
    {"f32v4sqacc $a0:3", {0xff800000}, 0, INF, 0},
    {"f32mac $a0, $a2", {INF, 0, 0}, 0, NAN32, INV},
    {"f32mac $a0, $a2", {0x7f000000, 0, 0x40000000}, 0xff000000, 0x7f000000, 0},
    {"f32v2mac $a0:1, $a2:3", {0x7f000000, 0, 0x40000000, 0}, 0, INF, OFLO},
    {"f16v8acc $a0:3", {0x7c00}, 0, INF, 0},
    {"f16v8acc $a0:3", {0x7d00}, 0, NAN32, INV},
    {"f16v8acc $a0:3", {0x0001}, 0x3f800000, 0x3f800000, 0}, /* a tie */
    {"f16v8acc $a0:3", {0x0003}, 0x3f800000, 0x3f800002, 0}, /* subnormal halves count */
    {"f16v8acc $a0:3", {0x7bff}, 0x477fe000, 0x47ffe000, 0}, /* no overflow at 65504 */
    {"f16v8sqacc $a0:3", {0xfbff}, 0, 0x4f7fc004, 0},
    {"f16v4absacc $a0:1", {0xfc00}, 0, INF, 0},
    {"f16v2cmac $a0, $a2", {0x7bff7bff, 0, 0xfbff7bff}, 0, 0, 0}, /* exact: cancels */
    {"f16v2cmac $a0, $a2", {0x00017c00, 0, 0x3c000000}, 0, NAN32, INV},
    {"f16v4cmac $a0:1, $a2:3", {0x3c003c00, 0, 0x40004000, 0}, 0xc0800000, 0, 0},
};

static void conditions(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const Case *c = &cases[i];
        Probe probe = probe_open();
        rig_words(probe.rig, RIG_DATA, c->words, 4);
        probe_uput(&probe, "$FP_CLR", 8);
        probe_set(&probe, "$a0", c->acc);
        probe_say(&probe, "f32v2gina $azeros, $a0:1, 0\nf32v2gina $azeros, $azeros, 0\n"
                          "f32v2gina $azeros, $azeros, 0\nf32v2gina $azeros, $azeros, 0");
        probe_uput(&probe, "$FP_CLR", 7);
        probe_say(&probe,
                  "ld64 $a0:1, $m0, $mzero, 0\nld64 $a2:3, $m0, $mzero, 1\n%s\n"
                  "uget $a6, $FP_STS\nf32v2gina $a4:5, $azeros, 0",
                  c->text);
        probe_store(&probe, "$a4");
        probe_store(&probe, "$a6");
        probe_run(&probe);
        if (probe_word(&probe, 0) != c->expected || probe_word(&probe, 1) != c->flags) {
            fprintf(stderr, "case %zu, %s: 0x%x (conditions %u), expected 0x%x (%u)\n", i, c->text,
                    probe_word(&probe, 0), probe_word(&probe, 1), c->expected, c->flags);
            exit(1);
        }
        probe_close(&probe);
    }
}

/* What is too large for a half saturates or is NaN; the accumulator keeps it. */
static void narrow_reads(void)
{
    static const char *const texts[] = {"f16v2gina $a4, $azero, 0", "f16v4gacc $a4:5",
                                        "f16v4mix $a4:5, $azeros, $azeros"};
    for (int i = 0; i < 6; i++) {
        bool is_nanoo = i / 3;
        Probe probe = probe_open();
        probe_uput(&probe, "$FP_CLR", 8);
        probe_uput(&probe, "$TAS", 0);
        probe_uput(&probe, "$FP_CTL", is_nanoo ? NANOO : 0);
        probe_set(&probe, "$a0", bits_of_f32(1e6f));
        probe_set(&probe, "$a1", 0xff800000);
        probe_say(&probe, "zero $a2:3\nf32v4acc $a0:3\n%s\nuget $a6, $FP_STS", texts[i % 3]);
        probe_store(&probe, "$a4");
        probe_store(&probe, "$a6");
        probe_run(&probe);
        CHECK_EQ_INT(probe_half(&probe, 0, 0), is_nanoo ? 0x7e00 : 0x7bff);
        CHECK_EQ_INT(probe_half(&probe, 0, 1), 0xfc00); /* an infinity stays */
        CHECK_EQ_INT(probe_word(&probe, 1), OFLO);
        probe_close(&probe);
    }
}

TEST_MAIN(every_form, conditions, narrow_reads)
