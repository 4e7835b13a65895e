/* FP8 conversions on all codes and all halves, both formats, several scales, against a table of values made from the formula of
 * isa/semantics.md 6.1 and a search for the nearest entry. */
#include "machine/math.h"
#include "tile_rig.h"
#include <math.h>

enum { HALVES = 65536, BATCH = 4096 };

typedef struct Setting {
    bool is_f143;
    int scale;
    bool nan_on_overflow;
} Setting;

static const Setting settings[] = {
    {true, 0, false}, {true, 0, true},    {false, 0, false}, {false, 0, true},   {true, -4, false},
    {true, 4, true},  {false, -9, false}, {false, 31, true}, {true, -32, false},
};

/* value = (-1)^s 2^(e - bias) (1 + m / 2^k), or (-1)^s 2^(1 - bias) m / 2^k for e = 0. */
static double value_of(uint32_t code, bool is_f143)
{
    double k = is_f143 ? 8 : 4; /* 2^k */
    int bias = is_f143 ? 8 : 16, e = (int)(code & 0x7f) >> (is_f143 ? 3 : 2);
    double m = (double)(code & (is_f143 ? 7 : 3));
    double value = e == 0 ? pow(2, 1 - bias) * m / k : pow(2, e - bias) * (1 + m / k);
    return code & 0x80 ? -value : value;
}

static uint32_t control_of(const Setting *s)
{
    return s->nan_on_overflow ? 1u << 20 : 0;
}

static Rig *run(const Setting *s, const uint32_t *words, int count, const char *text)
{
    Rig *rig = rig_create();
    rig_words(rig, RIG_DATA, words, count);
    const uint32_t controls[] = {control_of(s), s->is_f143 ? 3 : 0, (uint32_t)s->scale & 63};
    rig_words(rig, RIG_DATA2, controls, 3);
    rig_worker_ok(rig,
                  str_format(&rig->arena,
                             "setzi $m1, 0x60000\nld32 $a0, $m1, $mzero, 0\nuput $FP_CTL, $a0\n"
                             "ld32 $a0, $m1, $mzero, 1\nuput $FP_NFMT, $a0\n"
                             "ld32 $a0, $m1, $mzero, 2\nuput $FP_SCL, $a0\n"
                             "setzi $m0, 0x58000\nsetzi $m7, 0x90000\n%s\nexitz $mzero\n",
                             text)
                      .at);
    return rig;
}

static void check_points(void)
{
    const uint32_t words[] = {0x5a595756, 0x80017f58};
    const Setting plain = {true, 0, false};
    Rig *rig = run(&plain, words, 2,
                   "ld32 $a0, $m0, $mzero, 0\nf8v4tof16 $a2:3, $a0\nst64 $a2:3, $m7, $mzero, 0\n"
                   "ld32 $a0, $m0, $mzero, 1\nf8v2tof16 $a2, $a0\nst32 $a2, $m7, $mzero, 2");
    /* 7, 7.5, 9, 10; 8, 240 (semantics.md 6.1) */
    CHECK_EQ_INT(rig_word(rig, RIG_RESULT), 0x47804700);
    CHECK_EQ_INT(rig_word(rig, RIG_RESULT + 4), 0x49004880);
    CHECK_EQ_INT(rig_word(rig, RIG_RESULT + 8), 0x5b804800);
    rig_destroy(rig);
}

static void decodes(void)
{
    uint32_t words[64];
    for (uint32_t i = 0; i < 64; i++)
        words[i] = 0x03020100 + 0x04040404 * i;
    for (size_t n = 0; n < sizeof settings / sizeof *settings; n++) {
        const Setting *s = &settings[n];
        Rig *rig = run(s, words, 64,
                       "setzi $m3, 63\n1: ld32step $a0, $mzero, $m0+=, 1\nf8v4tof16 $a2:3, $a0\n"
                       "st64step $a2:3, $mzero, $m7+=, 1\nbrnzdec $m3, 1b");
        for (uint32_t code = 0; code < 256; code++) {
            uint32_t seen = rig_word(rig, RIG_RESULT + code / 2 * 4) >> (16 * (code % 2)) & 0xffff;
            double exact = value_of(code, s->is_f143) * pow(2, s->scale);
            uint32_t expected = f16_of_f32((float)exact); /* one rounding: the float is exact */
            if (code == 0x80)
                expected = 0x7e00;
            else if ((expected & 0x7fff) == 0x7c00)
                expected = s->nan_on_overflow ? 0x7e00 : (expected & 0x8000) | 0x7bff;
            CHECK_EQ_INT(seen, expected);
        }
        rig_destroy(rig);
    }
}

/* Nearest code by search; ties to the even one; 0x100 when the value is beyond the last by half a step or more. */
static uint32_t nearest(const double *table, double magnitude, double beyond)
{
    if (magnitude >= beyond)
        return 0x100;
    uint32_t low = 0, high = 127;
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        if (table[middle] <= magnitude)
            low = middle;
        else
            high = middle;
    }
    double below = magnitude - table[low], above = table[high] - magnitude;
    return above < below || (above == below && high % 2 == 0) ? high : low;
}

static void encodes(void)
{
    for (size_t n = 0; n < sizeof settings / sizeof *settings; n++) {
        const Setting *s = &settings[n];
        double table[128];
        for (uint32_t i = 0; i < 128; i++)
            table[i] = value_of(i, s->is_f143);
        double beyond =
            table[127] + (table[127] - table[126]) / 2; /* a tie goes to the next, even, code */
        for (uint32_t first = 0; first < HALVES; first += BATCH) {
            uint32_t words[BATCH / 2];
            for (uint32_t i = 0; i < BATCH / 2; i++)
                words[i] = (first + 2 * i) | (first + 2 * i + 1) << 16;
            Rig *rig = run(s, words, BATCH / 2,
                           "setzi $m3, 511\n1: ld64step $a0:1, $mzero, $m0+=, 1\n"
                           "ld64step $a2:3, $mzero, $m0+=, 1\nf16v8tof8 $a4:5, $a0:3\n"
                           "st64step $a4:5, $mzero, $m7+=, 1\nbrnzdec $m3, 1b\n"
                           "f16v2tof8 $a0, $a3\nst32 $a0, $m7, $mzero, 0");
            for (uint32_t i = 0; i < BATCH; i++) {
                uint32_t half = first + i, sign = half >> 8 & 0x80;
                uint32_t seen = rig_word(rig, RIG_RESULT + i / 4 * 4) >> (8 * (i % 4)) & 0xff;
                uint32_t expected = 0x80;
                if ((half & 0x7c00) != 0x7c00) {
                    double magnitude = fabs((double)f32_of_f16((uint16_t)half)) * pow(2, s->scale);
                    uint32_t code = nearest(table, magnitude, beyond);
                    expected = code == 0x100 ? (s->nan_on_overflow ? 0x80 : sign | 0x7f)
                               : code == 0   ? 0
                                             : sign | code;
                }
                if (seen != expected) {
                    fprintf(stderr, "setting %zu, half 0x%04x: 0x%02x, expected 0x%02x\n", n, half,
                            seen, expected);
                    exit(1);
                }
            }
            uint32_t last =
                rig_word(rig, RIG_RESULT + BATCH - 4); /* its upper half: the last two */
            CHECK_EQ_INT(rig_word(rig, RIG_RESULT + BATCH), last >> 16);
            rig_destroy(rig);
        }
    }
}

static void formats_that_disagree(void)
{
    rig_expect(false, "setzi $a0, 1\nuput $FP_NFMT, $a0\nf8v2tof16 $a1, $azero\nexitz $mzero\n",
               "FP8_FORMAT", FAULT_UNKNOWN);
}

TEST_MAIN(check_points, decodes, encodes, formats_that_disagree)
