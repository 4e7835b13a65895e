/* Rounding other than to nearest even: stochastic (FP_CTL.ESR) and the modes of FP_CTL.RND. isa/semantics.md 6, 8.3.
 *
 * Choices of ours where the documents are silent (docs/machine.md): an instruction that narrows to f16 or FP8 draws one random
 * number of 64 bits and element i takes bits 16 i .. 16 i + 15, which are added just below the last place kept before the rest
 * is cut off. RND uses the numbers of f32int; it acts on element-wise results and conversions, not inside accumulators.
 */
#include "machine/exec.h"
#include <float.h>
#include <math.h>

uint64_t exec_random(WorkerState *w)
{
    uint64_t s0 = w->prng[0], s1 = w->prng[1], sx = s0 ^ s1, sa = s0 & s1;
    uint64_t result = sx ^ (rotate_left(sa, 1) | rotate_left(sa, 2));
    w->prng[0] = rotate_left(s0, 55) ^ sx ^ (sx << 14);
    w->prng[1] = rotate_left(sx, 36);
    return result;
}

Dither exec_dither(WorkerState *w)
{
    bool is_on = (w->fp_ctl & FP_ESR) != 0;
    return (Dither){is_on ? exec_random(w) : 0, is_on};
}

uint32_t exec_round_units(const WorkerState *w, double units, bool is_negative, Dither dither,
                          int element)
{
    uint32_t below = (uint32_t)units;
    double rest = units - (double)below;
    if (dither.is_on) {
        uint32_t random = (uint32_t)(dither.bits >> (16 * element) & 0xffff);
        return below + ((uint32_t)(rest * 0x1p16) + random >= 0x10000);
    }
    switch (rounding_mode(w)) {
    case FLAG_TROUND_POSITIVE:
        return below + (rest > 0.0 && !is_negative);
    case FLAG_TROUND_NEGATIVE:
        return below + (rest > 0.0 && is_negative);
    case FLAG_TROUND_ZERO:
        return below;
    case FLAG_TROUND_NEAREST_AWAY:
        return below + (rest >= 0.5);
    default:
        return below + (rest > 0.5 || (rest == 0.5 && (below & 1) != 0));
    }
}

uint32_t exec_special_half(uint32_t f32, uint32_t fp_ctl, uint32_t *flags)
{
    uint32_t sign = f32 >> 16 & 0x8000;
    if (is_nan_f32(f32)) {
        *flags |= FP_INV;
        return F16_NAN;
    }
    if ((f32 & 0x7fffffff) == F32_INF) {
        return sign | F16_INF;
    }
    *flags |= FP_OFLO;
    return (fp_ctl & FP_NANOO) != 0 ? F16_NAN : sign | F16_MAX;
}

static uint32_t round_half(const WorkerState *w, double v, Dither dither, int element,
                           uint32_t *flags)
{
    if (!isfinite(v)) {
        return exec_special_half(bits_of_f32((float)v), w->fp_ctl, flags);
    }
    bool is_negative = signbit(v) != 0;
    double magnitude = fabs(v);
    const float beyond = is_negative ? -65536.0f : 65536.0f;
    if (magnitude >= 65536.0) {
        return exec_special_half(bits_of_f32(beyond), w->fp_ctl, flags);
    }
    int exponent;
    (void)frexp(magnitude, &exponent);
    exponent = magnitude == 0.0 || exponent - 1 < -14 ? -14 : exponent - 1;
    double units = ldexp(magnitude, 10 - exponent);
    uint32_t rounded = exec_round_units(w, units, is_negative, dither, element);
    /* A carry out of the mantissa moves into the exponent by itself; subnormals have exponent field 0. */
    uint32_t code = ((uint32_t)(exponent + 14) << 10) + rounded;
    if (code >= F16_INF) {
        return exec_special_half(bits_of_f32(beyond), w->fp_ctl, flags);
    }
    return code | (is_negative ? 0x8000 : 0);
}

uint64_t exec_round_halves_special(WorkerState *w, const double v[4], uint32_t *flags)
{
    Dither dither = exec_dither(w);
    uint64_t both = 0;
    for (int i = 0; i < 4; i++) {
        both |= (uint64_t)round_half(w, v[i], dither, i, flags) << (16 * i);
    }
    return both;
}

float exec_round_f32(const WorkerState *w, double value, double rest)
{
    float nearest = (float)value;
    int mode = rounding_mode(w);
    if (mode == FLAG_TROUND_NEAREST_EVEN || !isfinite(nearest)) {
        return nearest;
    }
    double missing = value - (double)nearest;
    missing = missing != 0.0 ? missing : rest;
    if (missing == 0.0) {
        return nearest;
    }
    /* The two f32 around the exact value. */
    float other = nextafterf(nearest, missing > 0.0 ? INFINITY : -INFINITY);
    float low = missing > 0.0 ? nearest : other, high = missing > 0.0 ? other : nearest;
    switch (mode) {
    case FLAG_TROUND_POSITIVE:
        return high;
    case FLAG_TROUND_NEGATIVE:
        return low;
    case FLAG_TROUND_ZERO:
        return value > 0.0 ? low : high;
    default: {
        bool is_tie = rest == 0.0 && value - (double)low == (double)high - value;
        return !is_tie ? nearest : value > 0.0 ? high : low;
    }
    }
}
