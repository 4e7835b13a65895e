/* Aux lane arithmetic: NaN, Inf, subnormals, saturation and conditions by hand (isa/semantics.md 6 to 8, decisions.md A7), element-wise
 * f16 arithmetic against long double, accumulators and their reading (9). */
#include "machine/math.h"
#include "tile_rig.h"
#include <math.h>

typedef struct Case {
    const char *text; /* sources $a0:1 and $a2:3, result $a4:5 */
    uint32_t a[2], b[2], expected[2], flags;
} Case;

#define H(lo, hi) (0x##lo##u | 0x##hi##u << 16)
enum { INV = 1, DIV0 = 2, OFLO = 4 };

static const Case saturating[] = {
    {"f16v4add $a4:5, $a0:1, $a2:3",
     {H(3c00, 7bff), H(0001, fbff)},
     {H(4000, 7bff), H(0001, fbff)},
     {H(4200, 7bff), H(0002, fbff)},
     OFLO},
    {"f16v4add $a4:5, $a0:1, $a2:3",
     {H(7c00, 7bff), H(0400, 8000)},
     {H(3c00, 3c00), H(8001, 8000)},
     {H(7c00, 7bff), H(03ff, 8000)},
     0},
    {"f16v4sub $a4:5, $a0:1, $a2:3",
     {H(7c00, 3c00), H(3c00, 0000)},
     {H(7c00, 3c00), H(1000, 0001)},
     {H(7e00, 0000), H(3bff, 8001)},
     INV},
    /* ties to even: 1 + 2^-11 -> 1, 1 + 2^-10 + 2^-11 -> 1 + 2^-9 */
    {"f16v4add $a4:5, $a0:1, $a2:3",
     {H(3c00, 3c01), H(bc00, bc01)},
     {H(1000, 1000), H(9000, 9000)},
     {H(3c00, 3c02), H(bc00, bc02)},
     0},
    {"f16v4mul $a4:5, $a0:1, $a2:3",
     {H(0400, 0001), H(7bff, 8001)},
     {H(3800, 3800), H(4000, 3a00)},
     {H(0200, 0000), H(7bff, 8001)},
     OFLO},
    {"f16v4mul $a4:5, $a0:1, $a2:3",
     {H(7c00, 7e00), H(fc00, 3555)},
     {H(0000, 3c00), H(bc00, 4200)},
     {H(7e00, 7e00), H(7c00, 3c00)},
     INV},
    {"f16v4mul $a4:5, $a0:BL, $a2:3",
     {H(4000, 5555), 0},
     {H(3c00, 3800), H(bc00, 4200)},
     {H(4000, 3c00), H(c000, 4600)},
     0},
    {"f16v4mul $a4:5, $a0:BU, $a2:3",
     {H(5555, 4000), 0},
     {H(3c00, 3800), H(bc00, 4200)},
     {H(4000, 3c00), H(c000, 4600)},
     0},
    {"f16v2add $a4, $a0:BU, $a2", {H(0000, 3c00), 0}, {H(3c00, 4000), 0}, {H(4000, 4200), 0}, 0},
    {"f16v4absadd $a4:5, $a0:1, $a2:3",
     {H(bc00, 3c00), H(8001, 8000)},
     {H(bc00, bc00), H(0001, 8000)},
     {H(4000, 4000), H(0002, 0000)},
     0},
    {"f16v4max $a4:5, $a0:1, $a2:3",
     {H(7e00, 8000), H(7c00, fc00)},
     {H(3c00, 0000), H(7e00, 7bff)},
     {H(3c00, 0000), H(7c00, 7bff)},
     0},
    {"f16v4min $a4:5, $a0:1, $a2:3",
     {H(7e00, 8000), H(7c00, fc00)},
     {H(3c00, 0000), H(7e00, 7bff)},
     {H(3c00, 8000), H(7c00, fc00)},
     0},
    {"f16v4absmax $a4:5, $a0:1, $a2:3",
     {H(c000, 3c00), H(8001, 0000)},
     {H(3c00, c200), H(0000, 8000)},
     {H(4000, 4200), H(0001, 0000)},
     0},
    {"f16v4clamp $a4:5, $a0:1, $a2",
     {H(c000, 3c00), H(4200, 7c00)},
     {H(bc00, 4000), 0},
     {H(bc00, 3c00), H(4000, 4000)},
     0},
    {"f16v4cmplt $a4:5, $a0:1, $a2:3",
     {H(3c00, 3c00), H(7e00, 8000)},
     {H(4000, 3c00), H(3c00, 0000)},
     {H(ffff, 0000), H(0000, 0000)},
     0},
    {"f16v4cmple $a4:5, $a0:1, $a2:3",
     {H(3c00, 3c00), H(7e00, 8000)},
     {H(4000, 3c00), H(3c00, 0000)},
     {H(ffff, ffff), H(0000, ffff)},
     0},
    {"f16v4cmpne $a4:5, $a0:1, $a2:3",
     {H(3c00, 3c00), H(7e00, 8000)},
     {H(4000, 3c00), H(7e00, 0000)},
     {H(ffff, 0000), H(ffff, 0000)},
     0},
    {"f16v2cmpge $a4, $a0, $a2", {H(3c00, 7c00), 0}, {H(3c00, 7bff), 0}, {H(ffff, ffff), 0}, 0},
    {"f16v2cmpgt $a4, $a0:BL, $a2", {H(3c00, 7c00), 0}, {H(3c00, 3800), 0}, {H(0000, ffff), 0}, 0},
    {"f16v2cmpeq $a4, $a0, $a2", {H(0000, 7e00), 0}, {H(8000, 7e00), 0}, {H(ffff, 0000), 0}, 0},
    {"f16v2maxc $a4, $a0", {H(3c00, 4000), 0}, {0}, {H(4000, 4000), 0}, 0},
    {"f16v4maxc $a4, $a0:1", {H(3c00, 4000), H(c000, bc00)}, {0}, {H(4000, bc00), 0}, 0},
    {"f16v2sum $a4, $a0",
     {H(3c00, 0001), 0},
     {0},
     {0x3f800000, 0},
     0}, /* 1 + 2^-24 is a tie: even */
    {"f16v4sum $a4:5, $a0:1", {H(3c00, 4000), H(7bff, 7bff)}, {0}, {0x40400000, 0x47ffe000}, 0},
    /* functions: poles, overflow, exact points */
    {"f16v2exp $a4, $a0",
     {H(0000, 4b00), 0},
     {0},
     {H(3c00, 7bff), 0},
     OFLO}, /* 14.0: e^14 > 65504 */
    {"f16v2exp $a4, $a0", {H(fc00, 7c00), 0}, {0}, {H(0000, 7c00), 0}, 0},
    {"f16v2exp2 $a4, $a0",
     {H(4900, ce00), 0},
     {0},
     {H(6400, 0001), 0},
     0}, /* 10 -> 1024, -24 -> 2^-24 */
    {"f16v2ln $a4, $a0", {H(3c00, 0000), 0}, {0}, {H(0000, fc00), 0}, DIV0},
    {"f16v2log2 $a4, $a0", {H(6400, bc00), 0}, {0}, {H(4900, 7e00), 0}, INV},
    {"f16v2tanh $a4, $a0", {H(7c00, 8000), 0}, {0}, {H(3c00, 8000), 0}, 0},
    {"f16v2sigm $a4, $a0", {H(0000, fc00), 0}, {0}, {H(3800, 0000), 0}, 0},
    /* f32: subnormals are flushed in and out */
    {"f32v2add $a4:5, $a0:1, $a2:3",
     {0x3f800000, 0x7f7fffff},
     {0x40000000, 0x7f7fffff},
     {0x40400000, 0x7f800000},
     OFLO},
    {"f32v2add $a4:5, $a0:1, $a2:3",
     {0x00000001, 0x80000001},
     {0x00000001, 0x80000001},
     {0, 0x80000000},
     0},
    {"f32v2sub $a4:5, $a0:1, $a2:3",
     {0x00800001, 0x7f800000},
     {0x00800000, 0x7f800000},
     {0, 0x7fc00000},
     INV},
    {"f32v2mul $a4:5, $a0:B, $a2:3",
     {0x40000000, 0x12345678},
     {0x3f800000, 0xc0400000},
     {0x40000000, 0xc0c00000},
     0},
    {"f32v2mul $a4:5, $a0:1, $a2:3",
     {0x20000000, 0xffffffff},
     {0x1f000000, 0x3f800000},
     {0, 0x7fc00000},
     INV},
    {"f32absadd $a4, $a0, $a2", {0xbf800000, 0}, {0xc0000000, 0}, {0x40400000, 0}, 0},
    {"f32v2absmax $a4:5, $a0:1, $a2:3",
     {0xbf800000, 0},
     {0x3f000000, 0xc0000000},
     {0x3f800000, 0x40000000},
     0},
    {"f32max $a4, $a0, $a2", {0x7fc00000, 0}, {0xbf800000, 0}, {0xbf800000, 0}, 0},
    {"f32min $a4, $a0, $a2", {0x3f800000, 0}, {0x7fc00001, 0}, {0x3f800000, 0}, 0},
    {"f32clamp $a4, $a0, $a2:3", {0x40800000, 0}, {0xbf800000, 0x3f800000}, {0x3f800000, 0}, 0},
    {"f32v2clamp $a4:5, $a0:1, $a2:3",
     {0xc0800000, 0x3f000000},
     {0xbf800000, 0x3f800000},
     {0xbf800000, 0x3f000000},
     0},
    {"f32v2cmplt $a4:5, $a0:B, $a2:3",
     {0x3f800000, 0},
     {0x40000000, 0x3f800000},
     {0xffffffff, 0},
     0},
    {"f32cmpne $a4, $a0, $a2", {0x7fc00000, 0}, {0x7fc00000, 0}, {0xffffffff, 0}, 0},
    {"f32div $a4, $a0, $a2", {0x3f800000, 0}, {0x40400000, 0}, {0x3eaaaaab, 0}, 0},
    {"f32div $a4, $a0, $a2", {0xbf800000, 0}, {0, 0}, {0xff800000, 0}, DIV0},
    {"f32div $a4, $a0, $a2", {0, 0}, {0, 0}, {0x7fc00000, 0}, INV},
    {"f32oox $a4, $a0", {0x80000000, 0}, {0}, {0xff800000, 0}, DIV0},
    {"f32oorx $a4, $a0", {0x40800000, 0}, {0}, {0x3f000000, 0}, 0},
    {"f32oorx $a4, $a0", {0xbf800000, 0}, {0}, {0x7fc00000, 0}, INV},
    {"f32sqrt $a4, $a0", {0x40000000, 0}, {0}, {0x3fb504f3, 0}, 0},
    {"f32sqrt $a4, $a0", {0x80000000, 0}, {0}, {0x80000000, 0}, 0},
    {"f32exp $a4, $a0", {0x3f800000, 0}, {0}, {0x402df854, 0}, 0},
    {"f32exp $a4, $a0", {0x43000000, 0}, {0}, {0x7f800000, 0}, OFLO},
    {"f32exp2 $a4, $a0", {0xc3000000, 0}, {0}, {0, 0}, 0},        /* 2^-128 is subnormal */
    {"f32ln $a4, $a0", {0x402df854, 0}, {0}, {0x3f7fffff, 0}, 0}, /* e rounded down: 1 - 3.04e-8 */
    {"f32log2 $a4, $a0",
     {0x00000001, 0},
     {0},
     {0xff800000, 0},
     DIV0}, /* a flushed subnormal is zero */
    {"f32tanh $a4, $a0", {0x3f800000, 0}, {0}, {0x3f42f7d6, 0}, 0},
    {"f32sigm $a4, $a0", {0, 0}, {0}, {0x3f000000, 0}, 0},
    {"f32int $a4, $a0, 0",
     {0x40200000, 0},
     {0},
     {0x40000000, 0},
     0}, /* 2.5: even, up, down, zero, away */
    {"f32int $a4, $a0, 1", {0x40200000, 0}, {0}, {0x40400000, 0}, 0},
    {"f32int $a4, $a0, 2", {0xc0200000, 0}, {0}, {0xc0400000, 0}, 0},
    {"f32int $a4, $a0, 3", {0xc0200000, 0}, {0}, {0xc0000000, 0}, 0},
    {"f32int $a4, $a0, 4", {0xc0200000, 0}, {0}, {0xc0400000, 0}, 0},
    {"f32int $a4, $a0, 0", {0xbe800000, 0}, {0}, {0x80000000, 0}, 0},
    {"f32int $a4, $a0, 0", {0x4b800001, 0}, {0}, {0x4b800001, 0}, 0},
    {"f32toi32 $a4, $a0", {0xc0200000, 0}, {0}, {0xfffffffe, 0}, 0},
    {"f32toi32 $a4, $a0", {0x4f000000, 0}, {0}, {0x7fffffff, 0}, INV},
    {"f32toi32 $a4, $a0", {0xcf000000, 0}, {0}, {0x80000000, 0}, 0},
    {"f32toui32 $a4, $a0", {0xbf800000, 0}, {0}, {0, 0}, INV},
    {"f32toui32 $a4, $a0", {0x4f7fffff, 0}, {0}, {0xffffff00, 0}, 0},
    {"f32fromi32 $a4, $a0", {0xffffffff, 0}, {0}, {0xbf800000, 0}, 0},
    {"f32fromui32 $a4, $a0", {0xffffffff, 0}, {0}, {0x4f800000, 0}, 0},
    {"f32sufromui $a4, $a0", {0, 0}, {0}, {0xbf000000, 0}, 0},
    {"f32sufromui $a4, $a0", {0x80000000, 0}, {0}, {0x2f000000, 0}, 0},      /* 2^-33 */
    {"f16v2sufromui $a4, $a0", {0x80000000, 0}, {0}, {H(b800, 0080), 0}, 0}, /* -0.5, 2^-17 */
    /* conversions */
    {"f16v2tof32 $a4:5, $a0", {H(0001, fc00), 0}, {0}, {0x33800000, 0xff800000}, 0},
    {"f16tof32 $a4, $a0", {H(7d01, 3c00), 0}, {0}, {0x7fc00000, 0}, INV},
    {"f32tof16 $a4, $a0", {0x3f800000, 0}, {0}, {H(3c00, 3c00), 0}, 0},
    {"f32v2tof16 $a4, $a0:1", {0x477ff000, 0xff800000}, {0}, {H(7bff, fc00), 0}, OFLO}, /* 65520 */
    {"f32v2tof16 $a4, $a0:1",
     {0x477fefff, 0x33000000},
     {0},
     {H(7bff, 0000), 0},
     0}, /* below 65520; 2^-25: a tie */
    {"f32v2tof16 $a4, $a0:1", {0x33000001, 0x7f800001}, {0}, {H(0001, 7e00), 0}, INV},
    {"f32v4tof16 $a4:5, $a0:3",
     {0x3f800000, 0x40000000},
     {0x40400000, 0x40800000},
     {H(3c00, 4000), H(4200, 4400)},
     0},
    /* logic and permutations */
    {"and64 $a4:5, $a0:1, $a2:3",
     {0xff00ff00, 0x0f0f0f0f},
     {0x0ff00ff0, 0xffffffff},
     {0x0f000f00, 0x0f0f0f0f},
     0},
    {"andc64 $a4:5, $a0:1, $a2:3",
     {0xff00ff00, 0x0f0f0f0f},
     {0x0ff00ff0, 0xffffffff},
     {0xf000f000, 0},
     0},
    {"or64 $a4:5, $a0:1, $a2:3", {1, 2}, {4, 8}, {5, 10}, 0},
    {"not64 $a4:5, $a0:1", {1, 2}, {0}, {0xfffffffe, 0xfffffffd}, 0},
    {"and $a4, $a0, 0xff", {0x12345678, 0}, {0}, {0x78, 0}, 0},
    {"andc $a4, $a0, 0x80000000", {0xbf800000, 0}, {0}, {0x3f800000, 0}, 0},
    {"not $a4, $a0", {1, 0}, {0}, {0xfffffffe, 0}, 0},
    {"roll32 $a4:5, $a0:1, $a2:3", {1, 2}, {3, 4}, {2, 3}, 0},
    {"sort4x32lo $a4:5, $a0:1, $a2:3", {1, 2}, {3, 4}, {1, 3}, 0},
    {"sort4x32hi $a4:5, $a0:1, $a2:3", {1, 2}, {3, 4}, {2, 4}, 0},
    {"sort4x16lo $a4, $a0, $a2", {0x00020001, 0}, {0x00040003, 0}, {0x00030001, 0}, 0},
    {"sort4x16hi $a4, $a0, $a2", {0x00020001, 0}, {0x00040003, 0}, {0x00040002, 0}, 0},
    {"sort4x16hi $a4, $a0:BL, $a2", {0x00020001, 0}, {0x00040003, 0}, {0x00040001, 0}, 0},
    {"sort4x16lo $a4, $a0:BU, $a2", {0x00020001, 0}, {0x00040003, 0}, {0x00030002, 0}, 0},
    {"roll16 $a4, $a0, $a2", {0x00020001, 0}, {0x00040003, 0}, {0x00030002, 0}, 0},
    {"roll8l $a4, $a0, $a2", {0x04030201, 0}, {0x08070605, 0}, {0x03020108, 0}, 0},
    {"shuf8x8hi $a4, $a0, $a2", {0x04030201, 0}, {0x08070605, 0}, {0x08040703, 0}, 0},
};

/* With NANOO an overflow is NaN; an infinite operand stays infinite. */
static const Case strict[] = {
    {"f16v4add $a4:5, $a0:1, $a2:3",
     {H(3c00, 7bff), H(7c00, fbff)},
     {H(4000, 7bff), H(3c00, fbff)},
     {H(4200, 7e00), H(7c00, 7e00)},
     OFLO},
    {"f32v2tof16 $a4, $a0:1", {0x477ff000, 0xff800000}, {0}, {H(7e00, fc00), 0}, OFLO},
    {"f16v2exp $a4, $a0", {H(7bff, 7c00), 0}, {0}, {H(7e00, 7c00), 0}, OFLO},
};

static void run_cases(const Case *cases, size_t count, uint32_t fp_ctl)
{
    for (size_t i = 0; i < count; i++) {
        Rig *rig = rig_create();
        const Case *c = &cases[i];
        const uint32_t words[5] = {c->a[0], c->a[1], c->b[0], c->b[1], fp_ctl};
        rig_words(rig, RIG_DATA, words, 5);
        char text[512];
        snprintf(text, sizeof text,
                 "setzi $m0, 0x58000\nsetzi $m7, 0x90000\nld32 $a4, $m0, $mzero, 4\nuput $FP_CTL, "
                 "$a4\nzero $a4:5\n"
                 "ld64 $a0:1, $m0, $mzero, 0\nld64 $a2:3, $m0, $mzero, 1\n%s\n"
                 "st64 $a4:5, $m7, $mzero, 0\nuget $a6, $FP_STS\nst32 $a6, $m7, $mzero, 2\nexitz "
                 "$mzero\n",
                 c->text);
        rig_worker_ok(rig, text);
        for (uint32_t k = 0; k < 3; k++) {
            uint32_t seen = rig_word(rig, RIG_RESULT + 4 * k),
                     expected = k == 2 ? c->flags : c->expected[k];
            if (seen != expected) {
                fprintf(stderr, "case %zu, %s word %u: 0x%08x, expected 0x%08x\n%s\n", i,
                        k == 2 ? "flags" : "result", k, seen, expected, c->text);
                exit(1);
            }
        }
        rig_destroy(rig);
    }
}

static void hand_cases(void)
{
    run_cases(saturating, sizeof saturating / sizeof *saturating, 0);
    run_cases(strict, sizeof strict / sizeof *strict, FP_NANOO);
}

/* Oracle: nearest half of an exact value, by trying both neighbours. */
static uint32_t nearest_half(long double v)
{
    uint32_t sign = signbit(v) ? 0x8000 : 0;
    v = fabsl(v);
    int e = v < 0x1p-14L ? -24 : ilogbl(v) - 10;
    long double units = rintl(ldexpl(v, -e));
    if (ldexpl(units, e) > 65504.0L) {
        return sign | F16_MAX;
    }
    return sign | ((uint32_t)(e + 24) * 1024 + (uint32_t)units);
}

static void random_halves(void)
{
    uint64_t seed = test_seed(21);
    static uint32_t words[2][4096];
    for (uint32_t i = 0; i < 4096; i++) {
        for (int k = 0; k < 2; k++) {
            uint32_t w = (uint32_t)random_u64(seed + (uint64_t)k, i);
            w &= (w & 0x7c00) == 0x7c00 ? 0xffffbfffu : ~0u;
            words[k][i] = w & ((w >> 16 & 0x7c00) == 0x7c00 ? 0xbfffffffu : ~0u);
        }
    }
    for (int pass = 0; pass < 2; pass++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "setzi $m0, 0x58000\nsetzi $m1, 0x60000\nsetzi $m7, 0x90000\nsetzi $m5, 2047\n"
                 "1: ld64step $a0:1, $mzero, $m0+=, 1\nld64step $a2:3, $mzero, $m1+=, 1\n"
                 "%s $a4:5, $a0:1, $a2:3\nst64step $a4:5, $mzero, $m7+=, 1\nbrnzdec $m5, 1b\nexitz "
                 "$mzero\n",
                 pass == 0 ? "f16v4add" : "f16v4mul");
        Rig *fresh = rig_create();
        rig_words(fresh, RIG_DATA, words[0], 4096);
        rig_words(fresh, RIG_DATA2, words[1], 4096);
        rig_worker_ok(fresh, text);
        for (uint32_t i = 0; i < 4096; i++) {
            uint32_t seen = rig_word(fresh, RIG_RESULT + 4 * i);
            for (int h = 0; h < 2; h++) {
                long double a = (long double)float_of_half((uint16_t)(words[0][i] >> (16 * h)));
                long double b = (long double)float_of_half((uint16_t)(words[1][i] >> (16 * h)));
                CHECK_EQ_INT(seen >> (16 * h) & 0xffff, nearest_half(pass == 0 ? a + b : a * b));
            }
        }
        rig_destroy(fresh);
    }
}

/* Runs `text` with floats at RIG_DATA and compares words at RIG_RESULT. */
static void check_words(const char *text, const uint32_t *data, int data_words,
                        const uint32_t *expected, uint32_t count)
{
    Rig *rig = rig_create();
    char program[2048];
    rig_words(rig, RIG_DATA, data, data_words);
    snprintf(program, sizeof program,
             "setzi $m0, 0x58000\nsetzi $m7, 0x90000\nsetzi $a0, 8\nuput $FP_CLR, $a0\n%s\nexitz "
             "$mzero\n",
             text);
    rig_worker_ok(rig, program);
    for (uint32_t i = 0; i < count; i++) {
        if (rig_word(rig, RIG_RESULT + 4 * i) != expected[i]) {
            fprintf(stderr, "word %u: 0x%08x, expected 0x%08x\n%s\n", i,
                    rig_word(rig, RIG_RESULT + 4 * i), expected[i], text);
            exit(1);
        }
        CHECK(!rig_is_poison(rig, RIG_RESULT + 4 * i));
    }
    rig_destroy(rig);
}

#define F(v) bits_of_f32(v)

static void accumulators(void)
{
    const uint32_t data[] = {
        H(3c00, 4000), H(4200, 4400), H(4500, 4600), H(4700, 4800), /* 1 .. 8 as halves */
        0x3f800000,    0xc0000000,    0x40400000,    0xc0800000,    /* 1 -2 3 -4 */
        H(bc00, 4000), H(c200, 4400)};                              /* -1 2 -3 4 */
    const char *quad = "ld64 $a0:1, $m0, $mzero, 0\nld64 $a2:3, $m0, $mzero, 1\nld64 $a4:5, $m0, "
                       "$mzero, 2\nld64 $a6:7, $m0, $mzero, 3\n";
    char text[2048];
    /* eight sums; four gina drain them in order while 9s enter behind: the fifth reads them */
    snprintf(text, sizeof text,
             "%sf16v8acc $a0:3\nf16v8sqacc $a0:3\n"
             "f32v2gina $a0:1, $a4:5, 0\nst64step $a0:1, $mzero, $m7+=, 1\nf32v2gina $a0:1, "
             "$azeros, 0\nst64step $a0:1, $mzero, $m7+=, 1\n"
             "f32v2gina $a0:1, $azeros, 0\nst64step $a0:1, $mzero, $m7+=, 1\nf32v2gina $a0:1, "
             "$azeros, 0\nst64step $a0:1, $mzero, $m7+=, 1\n"
             "f32v2gina $a0:1, $azeros, 0\nst64step $a0:1, $mzero, $m7+=, 1\n",
             quad);
    const uint32_t sums[] = {F(2), F(6), F(12), F(20), F(30), F(42), F(56), F(72), F(1), F(-2)};
    check_words(text, data, 10, sums, 10);
    snprintf(text, sizeof text,
             "%sf32v4acc $a4:7\nf32v4sqacc $a4:7\nf32v4absacc $a4:7\nf16v4gacc $a0:1\nst64 $a0:1, "
             "$m7, $mzero, 0\n"
             "ld64 $a2:3, $m0, $mzero, 4\nf16v4absacc $a2:3\nf16v4acc $a2:3\nf16v4gacc $a0:1\nst64 "
             "$a0:1, $m7, $mzero, 1\n",
             quad);
    /* v + v^2 + |v|: 3, 4, 15, 16; then + |w| + w: 0, 4, 0, 8 */
    const uint32_t four[] = {H(4200, 4400), H(4b80, 4c00), H(4200, 4800), H(4b80, 4e00)};
    check_words(text, data, 10, four, 4);
    snprintf(
        text, sizeof text,
        "%sf32mac $a4, $a5\nf32v2mac $a4:5, $a6:7\nf16v2cmac $a0, $a1\nf16v4cmac $a0:1, $a2:3\n"
        "f32v2gina $a0:1, $azeros, 0\nst64 $a0:1, $m7, $mzero, 0\n",
        quad);
    /* -2 + 3 + (3 + 8) + (5 + 12) and 8 + (21 + 32) */
    const uint32_t products[] = {F(29), F(61)};
    check_words(text, data, 10, products, 2);
    snprintf(text, sizeof text,
             "%sf32v2aop $a4:5, $a6:7, 0\nf16v4gacc $a0:1\nst64 $a0:1, $m7, $mzero, 0\n", quad);
    const uint32_t outer[] = {H(4200, c600), H(c400, 4800)}; /* 3, -6, -4, 8 */
    check_words(text, data, 10, outer, 2);
    /* axpy: one-instruction pipeline; TAS = 3: 3x + y */
    snprintf(text, sizeof text,
             "%suput $TAS, $a6\nf32v2axpy $a0:1, $a4:5, $a6:7\nst64 $a0:1, $m7, $mzero, 0\n"
             "f32v2axpy $a0:1, $azeros, $azeros\nst64 $a0:1, $m7, $mzero, 1\n",
             quad);
    const uint32_t scaled[] = {0, 0, F(6), F(-10)};
    check_words(text, data, 10, scaled, 4);
    /* mix: TAS = (1, 2): x + 2y of the halves 1..4 and 5..8 */
    snprintf(text, sizeof text,
             "%suput $TAS, $a0\nf16v4mix $a4:5, $a0:1, $a2:3\nst64 $a4:5, $m7, $mzero, 0\n"
             "f16v4mix $a4:5, $azeros, $azeros\nst64 $a4:5, $m7, $mzero, 1\n",
             quad);
    const uint32_t mixed[] = {0, 0, H(4980, 4b00), H(4c40, 4d00)}; /* 11, 14, 17, 20 */
    check_words(text, data, 10, mixed, 4);
    /* f16 gina, odd chain and set 1 */
    snprintf(text, sizeof text,
             "%sf16v2gina $a4, $a0, 1\nf16v2gina $a4, $a1, 1\nf16v2gina $a4, $azero, 1\nf16v2gina "
             "$a4, $azero, 1\n"
             "f16v2gina $a4, $azero, 1\nf16v2gina $a5, $azero, 1\nst64 $a4:5, $m7, $mzero, 0\n"
             "f16v2gina $a4, $a2, 2\nf16v2gina $a4, $azero, 2\nf16v2gina $a4, $azero, 2\nf16v2gina "
             "$a4, $azero, 2\n"
             "f16v2gina $a4, $azero, 2\nst32 $a4, $m7, $mzero, 2\n",
             quad);
    const uint32_t chain[] = {H(3c00, 4000), H(4200, 4400), H(4500, 4600)};
    check_words(text, data, 10, chain, 3);
}

/* xoroshiro128aox after PRNG_SEED, from the formulas of semantics.md 8.3 and registers.md 4.3. */
static void random_numbers(void)
{
    const uint32_t seed = 0x12345678;
    uint64_t s0 = seed | (uint64_t)~seed << 32;
    uint64_t s1 =
        (uint32_t)(seed << 13 | ~seed >> 19) | (uint64_t)(uint32_t)(~seed << 13 | seed >> 19) << 32;
    uint64_t results[2];
    for (int i = 0; i < 2; i++) {
        uint64_t sx = s0 ^ s1, sa = s0 & s1;
        results[i] = sx ^ ((sa << 1 | sa >> 63) | (sa << 2 | sa >> 62));
        s0 = (s0 << 55 | s0 >> 9) ^ sx ^ (sx << 14);
        s1 = sx << 36 | sx >> 28;
    }
    const uint32_t expected[] = {(uint32_t)results[0], (uint32_t)(results[0] >> 32),
                                 (uint32_t)results[1], (uint32_t)s0};
    check_words("ld32 $a0, $m0, $mzero, 0\nuput $PRNG_SEED, $a0\nurand64 $a2:3\nst64 $a2:3, $m7, "
                "$mzero, 0\n"
                "urand32 $a2\nuget $a3, $PRNG_0_0\nst64 $a2:3, $m7, $mzero, 1\n",
                &seed, 1, expected, 4);
}

TEST_MAIN(hand_cases, random_halves, accumulators, random_numbers)
