/* FP8 conversions (isa/semantics.md 6.1, registers.md 4.4): F143 and F152, one NaN (0x80), no infinities, no negative zero.
 *
 * Values are scaled by 2^SCL on the way, both ways. The format comes from FP_NFMT; which of its two bits counts is not known, so
 * bits that disagree are a fault. The upper half of f16v2tof8's result is not known either; it is zero here (docs/machine.md).
 */
#include "machine/exec.h"
#include "machine/math.h"
#include <math.h>

enum { F8_NAN = 0x80, F8_LARGEST = 0x7f };

typedef struct Format {
    int mantissa_bits, bias;
    double scale; /* 2^SCL */
} Format;

static bool format_of(Exec *x, Format *out)
{
    uint32_t bits = x->worker->fp_nfmt & 3;
    if (bits == 1 || bits == 2) {
        return EXEC_FAULT(x, "FP8_FORMAT", "FP_NFMT = 0x%x", x->worker->fp_nfmt);
    }
    int exponent = sign_extend(x->worker->fp_scl & 63, 6);
    *out = bits == 3 ? (Format){3, 8, 0.0} : (Format){2, 16, 0.0};
    out->scale = ldexp(1.0, exponent);
    return true;
}

/* Exact: an F8 value times a scale has few bits and a small exponent. */
static float float_of_f8(uint32_t code, const Format *format)
{
    if (code == F8_NAN) {
        return NAN;
    }
    uint32_t one = 1u << format->mantissa_bits, mantissa = code & (one - 1);
    int exponent = (int)(code & 0x7f) >> format->mantissa_bits;
    double fraction = exponent == 0 ? (double)mantissa : (double)(mantissa + one);
    int power = (exponent == 0 ? 1 : exponent) - format->bias - format->mantissa_bits;
    double value = ldexp(fraction, power) * format->scale;
    return (float)((code & 0x80) != 0 ? -value : value);
}

/* Nearest, ties to even; overflow saturates, or gives NaN as FP_CTL says. */
static uint32_t f8_of_float(float value, const Format *format, uint32_t fp_ctl, uint32_t *flags)
{
    if (!isfinite(value)) {
        *flags |= FP_INV;
        return F8_NAN;
    }
    double magnitude = fabs((double)value) * format->scale;
    uint32_t sign = signbit(value) ? 0x80 : 0, one = 1u << format->mantissa_bits;
    int exponent;
    (void)frexp(magnitude, &exponent);
    exponent = exponent - 1 < 1 - format->bias ? 1 - format->bias : exponent - 1;
    double units = ldexp(magnitude, format->mantissa_bits - exponent); /* below 2 * one */
    uint32_t rounded = (uint32_t)units;
    double left = units - (double)rounded;
    rounded += left > 0.5 || (left == 0.5 && (rounded & 1) != 0);
    if (rounded == 0) {
        return 0;
    }
    /* A carry out of the mantissa moves into the exponent by itself. */
    uint32_t code = rounded < one ? rounded
                                  : ((uint32_t)(exponent + format->bias) << format->mantissa_bits) +
                                        rounded - one;
    if (code > F8_LARGEST) {
        *flags |= FP_OFLO;
        return (fp_ctl & FP_NANOO) != 0 ? F8_NAN : sign | F8_LARGEST;
    }
    return sign | code;
}

static bool to_halves(Exec *x, const Op *op, int count)
{
    Format format;
    if (!format_of(x, &format)) {
        return false;
    }
    F4 v = {0};
    for (int i = 0; i < count; i++) {
        v[i] = float_of_f8(x->worker->a[op->r[1]] >> (8 * i) & 0xff, &format);
    }
    return exec_out_halves(x, op, v);
}

static bool from_halves(Exec *x, const Op *op, int count)
{
    Format format;
    if (!format_of(x, &format)) {
        return false;
    }
    uint32_t flags = 0;
    x->out[0] = x->out[1] = 0;
    for (int i = 0; i < count; i++) {
        uint32_t half_bits = x->worker->a[op->r[1] + i / 2] >> (16 * (i % 2)) & 0xffff;
        uint32_t code =
            f8_of_float(float_of_half((uint16_t)half_bits), &format, x->worker->fp_ctl, &flags);
        x->out[i / 4] |= code << (8 * (i % 4));
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
