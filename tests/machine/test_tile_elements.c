/* Every element-wise form of the aux lane - arithmetic, extrema, compares, clamps, all widths and broadcasts - on the pairs of a list
 * of awkward numbers, result and conditions one pair at a time, against scalar formulas (isa/semantics.md 6, 8.1; docs/machine.md).
 */
#include "probe.h"
#include <math.h>

enum { INV = 1, OFLO = 4, NANOO = 1 << 20, BATCH = 2048 };

typedef enum Operation {
    ADD,
    SUB,
    MUL,
    ABSADD,
    MAX,
    MIN,
    ABSMAX,
    CMPEQ,
    CMPNE,
    CMPLT,
    CMPLE,
    CMPGT,
    CMPGE,
    OPERATIONS,
} Operation;

static const char *const names[OPERATIONS] = {"add",   "sub",    "mul",   "absadd", "max",
                                              "min",   "absmax", "cmpeq", "cmpne",  "cmplt",
                                              "cmple", "cmpgt",  "cmpge"};

typedef enum Broadcast { PLAIN, LOW, HIGH, WHOLE } Broadcast; /* :BL, :BU, :B */

typedef struct Vector {
    const char *prefix;
    bool is_half;
    int elements;
} Vector;

static const Vector shapes[] = {
    {"f16v2", true, 2}, {"f16v4", true, 4}, {"f32", false, 1}, {"f32v2", false, 2}};

static const uint32_t halves[] = {0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x0400, 0x8400, 0x3c00,
                                  0xbc00, 0x3c01, 0x3555, 0x4248, 0xc900, 0x7bff, 0xfbff, 0x7bfe,
                                  0x7c00, 0xfc00, 0x7e00, 0xfe01, 0x1000, 0x5bff};
static const uint32_t singles[] = {
    0,          0x80000000, 0x00000001, 0x807fffff, 0x00800000, 0x80800001, 0x3f800000, 0xbf800000,
    0x3f800001, 0x3eaaaaab, 0x40490fdb, 0xc1200000, 0x7f7fffff, 0xff7fffff, 0x7f000000, 0x7f800000,
    0xff800000, 0x7fc00000, 0xffc00001, 0x33800000, 0x20000000, 0x9f000000};
enum { HALVES = sizeof halves / 4, SINGLES = sizeof singles / 4 };

/* Both files of numbers as double, exact; f32 subnormals are zeros. */
static double value_of(uint32_t bits, bool is_half)
{
    if (!is_half) {
        float f = f32_of_bits(bits);
        return fabsf(f) < 0x1p-126f ? copysign(0.0, (double)f) : (double)f;
    }
    int e = (int)(bits >> 10 & 31), m = (int)(bits & 0x3ff);
    double v =
        e == 31 ? (m ? (double)NAN : (double)INFINITY) : ldexp(e ? 1024 + m : m, (e ? e : 1) - 25);
    return bits & 0x8000 ? -v : v;
}

/* Rounds the exact result (f32: already rounded to f32) of sources that are finite or not. */
static uint32_t result_of(double v, bool is_half, bool is_finite, bool is_nanoo, uint32_t *flags)
{
    if (isnan(v)) {
        *flags |= INV;
        return is_half ? 0x7e00 : 0x7fc00000;
    }
    if (!is_half) {
        float f = fabs(v) < 0x1p-126 ? (float)copysign(0.0, v) : (float)v;
        *flags |= isinf(f) && is_finite ? OFLO : 0;
        return bits_of_f32(f);
    }
    uint32_t sign = signbit(v) ? 0x8000 : 0;
    if (isinf(v)) {
        return sign | 0x7c00;
    }
    v = fabs(v);
    int e = v < 0x1p-14 ? -24 : ilogb(v) - 10;
    double units = rint(ldexp(v, -e));
    if (ldexp(units, e) > 65504.0) {
        *flags |= OFLO;
        return is_nanoo ? 0x7e00 : sign | 0x7bff;
    }
    return sign | ((uint32_t)(e + 24) * 1024 + (uint32_t)units);
}

static double larger(double a, double b)
{
    return isnan(a) ? b : isnan(b) ? a : a > b ? a : b;
}

static double smaller(double a, double b)
{
    return isnan(a) ? b : isnan(b) ? a : a < b ? a : b;
}

static bool holds(Operation operation, double a, double b)
{
    switch (operation) {
    case CMPEQ:
        return a == b;
    case CMPNE:
        return !(a == b);
    case CMPLT:
        return a < b;
    case CMPLE:
        return a <= b;
    case CMPGT:
        return a > b;
    default:
        return a >= b;
    }
}

static double exact_of(Operation operation, double a, double b, bool is_half)
{
    switch (operation) {
    case ADD:
        return is_half ? a + b : (double)((float)a + (float)b);
    case SUB:
        return is_half ? a - b : (double)((float)a - (float)b);
    case MUL:
        return is_half ? a * b : (double)((float)a * (float)b);
    case ABSADD:
        return is_half ? fabs(a) + fabs(b) : (double)(fabsf((float)a) + fabsf((float)b));
    case MAX:
        return larger(a, b);
    case MIN:
        return smaller(a, b);
    default:
        return larger(fabs(a), fabs(b));
    }
}

static uint32_t oracle(Operation operation, uint32_t x, uint32_t y, bool is_half, bool is_nanoo,
                       uint32_t *flags)
{
    double a = value_of(x, is_half), b = value_of(y, is_half);
    if (operation >= CMPEQ) {
        return !holds(operation, a, b) ? 0 : is_half ? 0xffff : 0xffffffff;
    }
    return result_of(exact_of(operation, a, b, is_half), is_half, isfinite(a) && isfinite(b),
                     is_nanoo, flags);
}

static uint32_t element_of_words(const uint32_t words[2], int i, bool is_half)
{
    return is_half ? words[i / 2] >> (16 * (i % 2)) & 0xffff : words[i];
}

/* Is one zero as good as the other: the extremum of +0 and -0. */
static bool is_either_zero(Operation operation, uint32_t seen, uint32_t expected, bool is_half)
{
    uint32_t magnitude = is_half ? 0x7fff : 0x7fffffff;
    return (operation == MAX || operation == MIN) && ((seen | expected) & magnitude) == 0;
}

/* All pairs of the list, packed into the elements. */
static int pack_pairs(const Vector *shape, uint32_t words[BATCH][4])
{
    const uint32_t *list = shape->is_half ? halves : singles;
    int count = shape->is_half ? HALVES : SINGLES, pairs = count * count;
    int batches = (pairs + shape->elements - 1) / shape->elements;
    CHECK(batches <= BATCH);
    for (int k = 0; k < batches * shape->elements; k++) {
        int at = k / shape->elements, i = k % shape->elements;
        /* a second, coprime walk, so that broadcasts meet all partners as well */
        uint32_t a = list[k * 7 % pairs / count], b = list[k * 7 % pairs % count];
        if (shape->is_half) {
            words[at][i / 2] |= a << (16 * (i % 2));
            words[at][2 + i / 2] |= b << (16 * (i % 2));
        } else {
            words[at][i] = a;
            words[at][2 + i] = b;
        }
    }
    return batches;
}

static const char *const broadcast_text[] = {"", ":BL", ":BU", ":B"};

/* The destination apart (0) or one of the sources (1, 2). */
static void check_form(const Vector *shape, Operation operation, Broadcast broadcast, bool is_nanoo,
                       int aliasing)
{
    static const char *const pairs[] = {"$a4:5", "$a0:1", "$a2:3"};
    static const char *const registers[] = {"$a4", "$a0", "$a2"};
    static uint32_t words[BATCH][4];
    memset(words, 0, sizeof words);
    int batches = pack_pairs(shape, words);
    Probe probe = probe_open();
    rig_words(probe.rig, RIG_DATA, &words[0][0], 4 * batches);
    bool is_pair = shape->elements * (shape->is_half ? 1 : 2) > 2;
    probe_uput(&probe, "$FP_CTL", is_nanoo ? NANOO : 0);
    probe_say(&probe,
              "setzi $a6, 7\nzero $a4:5\nsetzi $m5, %d\n1: uput $FP_CLR, $a6\n"
              "ld64step $a0:1, $mzero, $m0+=, 1\nld64step $a2:3, $mzero, $m0+=, 1",
              batches - 1);
    const char *to = (is_pair ? pairs : registers)[aliasing];
    probe_say(&probe, "%s%s %s, %s%s, %s", shape->prefix, names[operation], to,
              is_pair && broadcast == PLAIN ? "$a0:1" : "$a0", broadcast_text[broadcast],
              is_pair ? "$a2:3" : "$a2");
    probe_say(&probe, is_pair ? "mov $a4:5, %s" : "mov $a4, %s", to);
    probe_say(&probe, "st64step $a4:5, $mzero, $m7+=, 1\nuget $a7, $FP_STS\n"
                      "st64step $a6:7, $mzero, $m7+=, 1\nbrnzdec $m5, 1b");
    probe_run(&probe);
    for (int k = 0; k < batches; k++) {
        uint32_t flags = 0, seen[2] = {probe_word(&probe, 4 * k), probe_word(&probe, 4 * k + 1)};
        for (int i = 0; i < shape->elements; i++) {
            int from = broadcast == PLAIN ? i : broadcast == HIGH ? 1 : 0;
            uint32_t a = element_of_words(words[k], from, shape->is_half);
            uint32_t b = element_of_words(words[k] + 2, i, shape->is_half);
            uint32_t expected = oracle(operation, a, b, shape->is_half, is_nanoo, &flags);
            uint32_t got = element_of_words(seen, i, shape->is_half);
            if (got != expected && !is_either_zero(operation, got, expected, shape->is_half)) {
                fprintf(stderr, "%s%s%s of 0x%x and 0x%x, element %d: 0x%x, expected 0x%x\n",
                        shape->prefix, names[operation], broadcast_text[broadcast], a, b, i, got,
                        expected);
                exit(1);
            }
        }
        if (probe_word(&probe, 4 * k + 3) != flags) {
            fprintf(stderr, "%s%s%s of 0x%x 0x%x, 0x%x 0x%x: conditions %u, expected %u\n",
                    shape->prefix, names[operation], broadcast_text[broadcast], words[k][0],
                    words[k][1], words[k][2], words[k][3], probe_word(&probe, 4 * k + 3), flags);
            exit(1);
        }
    }
    probe_close(&probe);
}

/* The forms of instructions.tsv: broadcasts for add, sub, mul and the compares of vectors. */
static void every_form(void)
{
    for (int s = 0; s < 4; s++) {
        const Vector *shape = &shapes[s];
        for (int operation = 0; operation < OPERATIONS; operation++) {
            bool has_broadcast = shape->elements > 1 && (operation <= MUL || operation >= CMPEQ);
            for (int aliasing = 0; aliasing < 3; aliasing++) {
                check_form(shape, (Operation)operation, PLAIN, false, aliasing);
                if (has_broadcast && shape->is_half) {
                    check_form(shape, (Operation)operation, LOW, false, aliasing);
                    check_form(shape, (Operation)operation, HIGH, true, aliasing);
                } else if (has_broadcast) {
                    check_form(shape, (Operation)operation, WHOLE, false, aliasing);
                }
                check_form(shape, (Operation)operation, PLAIN, true, aliasing);
            }
        }
    }
}

/* min(max(x, lo), hi); a NaN is replaced by the lower bound. */
static void clamps(void)
{
    static const struct {
        const char *text; /* $a0:1 by $a2:3 into $a4:5 */
        bool is_half;
        int elements;
    } forms[] = {{"f16v2clamp $a4, $a0, $a2", true, 2},
                 {"f16v4clamp $a4:5, $a0:1, $a2", true, 4},
                 {"f32clamp $a4, $a0, $a2:3", false, 1},
                 {"f32v2clamp $a4:5, $a0:1, $a2:3", false, 2}};
    static const uint32_t half_bounds[] = {0xbc003c00, 0x3c00bc00, 0x7bfffbff,
                                           0x7c00fc00, 0x00010001, 0x4248c900};
    for (int f = 0; f < 4; f++) {
        const uint32_t *list = forms[f].is_half ? halves : singles;
        int count = forms[f].is_half ? HALVES : SINGLES, n = forms[f].elements;
        for (int b = 0; b < 6; b++) {
            Probe probe = probe_open();
            uint32_t lo = half_bounds[b] & 0xffff, hi = half_bounds[b] >> 16;
            if (!forms[f].is_half) {
                lo = bits_of_f32((float)value_of(lo, true));
                hi = bits_of_f32((float)value_of(hi, true));
            }
            probe_set(&probe, "$a2", forms[f].is_half ? half_bounds[b] : lo);
            probe_set(&probe, "$a3", hi);
            probe_say(&probe, "zero $a4:5");
            for (int k = 0; k < count; k++) {
                uint32_t x[2] = {0, 0};
                for (int i = 0; i < n; i++) {
                    uint32_t e = list[(k + i) % count];
                    x[forms[f].is_half ? i / 2 : i] |= e << (forms[f].is_half ? 16 * (i % 2) : 0);
                }
                probe_set(&probe, "$a0", x[0]);
                probe_set(&probe, "$a1", x[1]);
                probe_say(&probe, "%s", forms[f].text);
                probe_store(&probe, "$a4:5");
            }
            probe_run(&probe);
            for (int k = 0; k < count; k++) {
                uint32_t seen[2] = {probe_word(&probe, 2 * k), probe_word(&probe, 2 * k + 1)};
                for (int i = 0; i < n; i++) {
                    double x = value_of(list[(k + i) % count], forms[f].is_half);
                    double low = value_of(lo, forms[f].is_half);
                    double expected = smaller(larger(x, low), value_of(hi, forms[f].is_half));
                    double got =
                        value_of(element_of_words(seen, i, forms[f].is_half), forms[f].is_half);
                    CHECK(got == expected);
                }
            }
            probe_close(&probe);
        }
    }
}

TEST_MAIN(every_form, clamps)
