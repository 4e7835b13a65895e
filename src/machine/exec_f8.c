/* FP8 conversions (isa/semantics.md 6.1, registers.md 4.4): F143 and F152, one NaN (0x80), no infinities, no negative zero.
 *
 * Values are scaled by 2^SCL on the way, both ways. The format comes from FP_NFMT; which of its two bits counts is not known, so
 * bits that disagree are a fault, or the bit of ARF data decides (`--unknown=assume`). The upper half of f16v2tof8's result is not known either; it is zero here (docs/machine.md).
 */
#include "machine/exec.h"
#include "machine/math.h"
#include <math.h>

bool exec_f8_format(Exec *x, F8Format *out)
{
    uint32_t bits = x->worker->fp_nfmt & 3;
    if ((bits == 1 || bits == 2) &&
        !EXEC_ASSUME(x, FP8_FORMAT, "FP_NFMT = 0x%x", x->worker->fp_nfmt)) {
        return false;
    }
    *out = f8_format(bits >> 1 != 0);
    return true;
}

static int scale_of(const WorkerState *w)
{
    return sign_extend(w->fp_scl & 63, 6);
}

/* Overflow saturates, or gives NaN as FP_CTL says. */
static uint32_t f8_of_float(const WorkerState *w, float value, F8Format format, Dither dither,
                            int element, uint32_t *flags)
{
    if (!isfinite(value)) {
        *flags |= FP_INV;
        return F8_NAN;
    }
    double magnitude = ldexp(fabs((double)value), scale_of(w));
    bool is_negative = signbit(value) != 0;
    uint32_t sign = is_negative ? 0x80 : 0, one = 1u << format.mantissa_bits;
    int exponent;
    (void)frexp(magnitude, &exponent);
    exponent = exponent - 1 < 1 - format.bias ? 1 - format.bias : exponent - 1;
    double units = ldexp(magnitude, format.mantissa_bits - exponent); /* below 2 * one */
    uint32_t rounded = exec_round_units(w, units, is_negative, dither, element);
    if (rounded == 0) {
        return 0;
    }
    /* A carry out of the mantissa moves into the exponent by itself. */
    uint32_t code = rounded < one ? rounded
                                  : ((uint32_t)(exponent + format.bias) << format.mantissa_bits) +
                                        rounded - one;
    if (code > F8_LARGEST) {
        *flags |= FP_OFLO;
        return (w->fp_ctl & FP_NANOO) != 0 ? F8_NAN : sign | F8_LARGEST;
    }
    return sign | code;
}

static bool to_halves(Exec *x, const Op *op, int count)
{
    F8Format format;
    if (!exec_f8_format(x, &format)) {
        return false;
    }
    const double *value = math_f8_table(format.mantissa_bits == 3, scale_of(x->worker));
    F4 v = {0};
    for (int i = 0; i < count; i++) {
        v[i] = (float)value[byte(x->worker->a[op->r[1]], i)];
    }
    return exec_out_halves(x, op, v);
}

static bool from_halves(Exec *x, const Op *op, int count)
{
    WorkerState *w = x->worker;
    F8Format format;
    if (!exec_f8_format(x, &format)) {
        return false;
    }
    uint32_t flags = 0;
    Dither dither = exec_dither(w);
    x->out[0] = x->out[1] = 0;
    for (int i = 0; i < count; i++) {
        float value = float_of_half((uint16_t)half(w->a[op->r[1] + i / 2], i % 2));
        if (i == 4 && dither.is_on) {
            dither = exec_dither(w); /* eight elements of sixteen bits: two steps */
        }
        x->out[i / 4] |= f8_of_float(w, value, format, dither, i % 4, &flags) << (8 * (i % 4));
    }
    return exec_finish(x, op, flags);
}

static bool two_to_halves(Exec *x, const Op *op)
{
    return to_halves(x, op, 2);
}

static bool four_to_halves(Exec *x, const Op *op)
{
    return to_halves(x, op, 4);
}

static bool two_from_halves(Exec *x, const Op *op)
{
    return from_halves(x, op, 2);
}

static bool eight_from_halves(Exec *x, const Op *op)
{
    return from_halves(x, op, 8);
}

Executor exec_f8_find(InsnCode code)
{
    switch (code) {
    case INSN_f8v2tof16_aaan:
        return two_to_halves;
    case INSN_f8v4tof16_aaan:
        return four_to_halves;
    case INSN_f16v2tof8_aaan:
        return two_from_halves;
    case INSN_f16v8tof8_aaan:
        return eight_from_halves;
    default:
        return NULL;
    }
}
