/* Random masks, Gaussian numbers and classes: exact values from a generator of the test's own, statistics, and what is undocumented
 * (isa/semantics.md 8.2, 8.3; docs/machine.md). */
#include "prng.h"
#include "probe.h"
#include <math.h>

enum { SEED = 0x2468ace1, STEPS = 300 };

/* Stores the state; four words. */
static int store_state(Probe *probe)
{
    probe_say(probe, "uget $a4, $PRNG_0_0\nuget $a5, $PRNG_0_1");
    int at = probe_store(probe, "$a4:5");
    probe_say(probe, "uget $a4, $PRNG_1_0\nuget $a5, $PRNG_1_1");
    probe_store(probe, "$a4:5");
    return at;
}

static void check_state(Probe *probe, int at, Prng p)
{
    CHECK_EQ_INT(probe_word(probe, at), (uint32_t)p.s0);
    CHECK_EQ_INT(probe_word(probe, at + 1), (uint32_t)(p.s0 >> 32));
    CHECK_EQ_INT(probe_word(probe, at + 2), (uint32_t)p.s1);
    CHECK_EQ_INT(probe_word(probe, at + 3), (uint32_t)(p.s1 >> 32));
}

/* Element i stays when bits 16 i of the step are below p[15:0]; else zero. Any bits are copied: NaN, -0, subnormals. */
static void masks(void)
{
    static const uint32_t chances[] = {0, 1, 0x4000, 0x8000, 0xffff, 0x10000, 0x10001, 0xfffe8000};
    const uint32_t v[2] = {0x80007c01, 0x3c000001};
    for (int is_f32 = 0; is_f32 < 2; is_f32++) {
        for (size_t c = 0; c < sizeof chances / sizeof *chances; c++) {
            Probe probe = probe_open();
            probe_uput(&probe, "$PRNG_SEED", SEED);
            probe_set(&probe, "$a0", v[0]);
            probe_set(&probe, "$a1", v[1]);
            probe_set(&probe, "$a2", chances[c]);
            probe_say(&probe,
                      "setzi $m5, %d\n1: %s $a4:5, $a0:1, $a2\n"
                      "st64step $a4:5, $mzero, $m7+=, 1\nbrnzdec $m5, 1b",
                      STEPS - 1, is_f32 ? "f32v2rmask" : "f16v4rmask");
            probe.stored = 2 * STEPS;
            int state = store_state(&probe);
            probe_run(&probe);
            Prng p = prng_seed(SEED);
            double kept = 0;
            for (int t = 0; t < STEPS; t++) {
                uint64_t step = prng_step(&p);
                for (int i = 0; i < (is_f32 ? 2 : 4); i++) {
                    bool is_kept =
                        (chances[c] & 0x10000) != 0 || prng_bits(step, i) < (chances[c] & 0xffff);
                    uint32_t seen = is_f32 ? probe_word(&probe, 2 * t + i)
                                           : probe_half(&probe, 2 * t + i / 2, i % 2);
                    uint32_t whole = is_f32 ? v[i] : v[i / 2] >> (16 * (i % 2)) & 0xffff;
                    CHECK_EQ_INT(seen, is_kept ? whole : 0);
                    kept += is_kept ? 1 : 0;
                }
            }
            if ((chances[c] & 0x10000) == 0) {
                check_state(&probe, state, p);
                double n = STEPS * (is_f32 ? 2 : 4), chance = (chances[c] & 0xffff) / 65536.0;
                CHECK_NEAR(kept, n * chance, 4 * sqrt(n * chance * (1 - chance)) + 0.5);
            }
            probe_close(&probe);
        }
    }
}

/* docs/machine.md: (the sum of twelve fields of 5 bits - 186) / 32; the second number from the step times a constant. */
static float gaussian(uint64_t step)
{
    int sum = 0;
    for (int i = 0; i < 12; i++) {
        sum += (int)(step >> (5 * i) & 31);
    }
    return (float)(sum - 186) / 32.0f;
}

static void gaussians(void)
{
    for (int is_f32 = 0; is_f32 < 2; is_f32++) {
        Probe probe = probe_assume();
        probe_uput(&probe, "$PRNG_SEED", SEED);
        probe_say(&probe,
                  "setzi $m5, %d\nzero $a4:5\n1: %s\nst64step $a4:5, $mzero, $m7+=, 1\n"
                  "brnzdec $m5, 1b",
                  STEPS - 1, is_f32 ? "f32v2grand $a4:5" : "f16v2grand $a4");
        probe.stored = 2 * STEPS;
        int state = store_state(&probe);
        probe_run(&probe);
        Prng p = prng_seed(SEED);
        double sum = 0, squares = 0;
        for (int t = 0; t < STEPS; t++) {
            uint64_t step = prng_step(&p);
            for (int i = 0; i < 2; i++) {
                float expected = gaussian(i == 0 ? step : step * 0x9e3779b97f4a7c15u);
                float seen = is_f32 ? f32_of_bits(probe_word(&probe, 2 * t + i))
                                    : (float)f32_of_f16((uint16_t)probe_half(&probe, 2 * t, i));
                CHECK_NEAR((double)seen, (double)expected, 0.0);
                sum += (double)seen;
                squares += (double)seen * (double)seen;
            }
        }
        check_state(&probe, state, p);
        CHECK_NEAR(sum / (2 * STEPS), 0.0, 4 / sqrt(2 * STEPS));
        CHECK_NEAR(squares / (2 * STEPS), 1.0, 0.25);
        probe_close(&probe);
        probe = probe_open();
        probe_uput(&probe, "$PRNG_SEED", SEED);
        probe_say(&probe, is_f32 ? "%sv2grand $a4:5" : "%sv2grand $a4", is_f32 ? "f32" : "f16");
        probe_expect(&probe, "GAUSSIAN");
        probe_close(&probe);
    }
}

/* Seeding, urand32 and urand64: one step each, low words first. */
static void uniforms(void)
{
    static const uint32_t seeds[] = {0, 1, 0xffffffff, 0x80000000, SEED};
    for (int i = 0; i < 5; i++) {
        Probe probe = probe_open();
        probe_uput(&probe, "$PRNG_SEED", seeds[i]);
        int before = store_state(&probe);
        probe_say(&probe, "urand64 $a0:1\nurand32 $a2\nurand64 $azeros\nurand32 $a3");
        probe_store(&probe, "$a0:1");
        probe_store(&probe, "$a2:3");
        probe_say(&probe, "uget $a0, $PRNG_SEED");
        probe_store(&probe, "$a0");
        int after = store_state(&probe);
        probe_run(&probe);
        Prng p = prng_seed(seeds[i]);
        check_state(&probe, before, p);
        uint64_t first = prng_step(&p);
        CHECK_EQ_INT(probe_word(&probe, 4), (uint32_t)first);
        CHECK_EQ_INT(probe_word(&probe, 5), (uint32_t)(first >> 32));
        CHECK_EQ_INT(probe_word(&probe, 6), (uint32_t)prng_step(&p));
        prng_step(&p); /* discarded, drawn all the same */
        CHECK_EQ_INT(probe_word(&probe, 7), (uint32_t)prng_step(&p));
        CHECK_EQ_INT(probe_word(&probe, 8), 0);
        check_state(&probe, after, p);
        probe_close(&probe);
    }
}

typedef struct ClassCase {
    const char *text; /* source $a0:1, result $a4 */
    uint32_t a[2], expected;
    bool is_known;
} ClassCase;

/* One byte an element, element 0 lowest. Known: quiet NaN 2, -0 5. Assumed: 1 signalling NaN, 3 and 8 infinities, 4 and 7 normals,
 * 6 +0, 9 and 10 subnormals; the negative one first. */
static const ClassCase classes[] = {
    {"f32class $a4, $a0", {0x7fc00000}, 2, true},
    {"f32class $a4, $a0", {0xffc00001}, 2, true},
    {"f32class $a4, $a0", {0x80000000}, 5, true},
    {"f32class $a4, $a0", {0x7f800001}, 1, false},
    {"f32class $a4, $a0", {0xffbfffff}, 1, false},
    {"f32class $a4, $a0", {0xff800000}, 3, false},
    {"f32class $a4, $a0", {0x7f800000}, 8, false},
    {"f32class $a4, $a0", {0xff7fffff}, 4, false},
    {"f32class $a4, $a0", {0x80800000}, 4, false},
    {"f32class $a4, $a0", {0x00800000}, 7, false},
    {"f32class $a4, $a0", {0}, 6, false},
    {"f32class $a4, $a0", {0x80000001}, 9, false},
    {"f32class $a4, $a0", {0x007fffff}, 10, false},
    {"f32v2class $a4, $a0:1", {0x80000000, 0x7fc00000}, 0x0205, true},
    {"f32v2class $a4, $a0:1", {0x3f800000, 0xff800000}, 0x0307, false},
    {"f16v2class $a4, $a0", {0x80007e00}, 0x0502, true},
    {"f16v2class $a4, $a0", {0xfe01fc00}, 0x0203, false},
    {"f16v4class $a4, $a0:1", {0x80007fff, 0x80008000}, 0x05050502, true},
    {"f16v4class $a4, $a0:1", {0x7c017c00, 0x80010001}, 0x090a0108, false},
    {"f16v4class $a4, $a0:1", {0x04000000, 0xfbff83ff}, 0x04090706, false},
    {"f8v4class $a4, $a0", {0x80808080}, 0x02020202, true},
};

static void number_classes(void)
{
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        const ClassCase *c = &classes[i];
        for (int is_assumed = 0; is_assumed < 2; is_assumed++) {
            Probe probe = is_assumed ? probe_assume() : probe_open();
            probe_set(&probe, "$a0", c->a[0]);
            probe_set(&probe, "$a1", c->a[1]);
            probe_say(&probe, "%s", c->text);
            probe_store(&probe, "$a4");
            probe_say(&probe, "uget $a4, $FP_STS");
            probe_store(&probe, "$a4");
            if (is_assumed || c->is_known) {
                probe_run(&probe);
                if (probe_word(&probe, 0) != c->expected || probe_word(&probe, 1) != 0) {
                    fprintf(stderr, "%s of 0x%x: 0x%x, expected 0x%x\n", c->text, c->a[0],
                            probe_word(&probe, 0), c->expected);
                    exit(1);
                }
            } else {
                probe_expect(&probe, "NUMBER_CLASS");
            }
            probe_close(&probe);
        }
    }
}

/* FP8 in both formats: F143 has four bits of exponent, F152 five; no infinities, no -0. */
static void f8_classes(void)
{
    for (uint32_t is_f143 = 0; is_f143 < 2; is_f143++) {
        Probe probe = probe_assume();
        probe_uput(&probe, "$FP_NFMT", is_f143 ? 3 : 0);
        for (uint32_t code = 0; code < 256; code += 4) {
            probe_set(&probe, "$a0", code * 0x01010101u + 0x03020100u);
            probe_say(&probe, "f8v4class $a4, $a0");
            probe_store(&probe, "$a4");
        }
        probe_run(&probe);
        for (uint32_t code = 0; code < 256; code++) {
            bool is_subnormal = (code & (is_f143 ? 0x78 : 0x7c)) == 0;
            uint32_t expected = code == 0x80 ? 2 : code == 0 ? 6 : 0;
            if (expected == 0) {
                expected = code & 0x80 ? (is_subnormal ? 9 : 4) : (is_subnormal ? 10 : 7);
            }
            CHECK_EQ_INT(probe_word(&probe, (int)code / 4) >> (8 * (code % 4)) & 0xff, expected);
        }
        probe_close(&probe);
    }
}

TEST_MAIN(masks, gaussians, uniforms, number_classes, f8_classes)
