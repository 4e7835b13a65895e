/* Classification: one byte an element, element 0 lowest. isa/semantics.md 8.2.
 *
 * Two codes are known: quiet NaN = 2 and -0 = 5. A value of another class is an UNKNOWN fault; `--unknown=assume` uses the
 * codes below, which are ours alone (docs/machine.md).
 */
#include "machine/exec.h"

typedef enum NumberClass {
    NUMBER_SIGNALLING_NAN = 1,
    NUMBER_QUIET_NAN = 2,
    NUMBER_NEGATIVE_INFINITY = 3,
    NUMBER_NEGATIVE_NORMAL = 4,
    NUMBER_NEGATIVE_ZERO = 5,
    NUMBER_POSITIVE_ZERO = 6,
    NUMBER_POSITIVE_NORMAL = 7,
    NUMBER_POSITIVE_INFINITY = 8,
    NUMBER_NEGATIVE_SUBNORMAL = 9,
    NUMBER_POSITIVE_SUBNORMAL = 10,
} NumberClass;

/* An IEEE pattern of `bits` bits with `fraction` of them below the exponent. */
static NumberClass class_of(uint32_t pattern, int bits, int fraction)
{
    bool is_negative = (pattern >> (bits - 1) & 1) != 0;
    uint32_t magnitude = pattern & ((1u << (bits - 1)) - 1);
    uint32_t infinity = (1u << (bits - 1)) - (1u << fraction);
    if (magnitude > infinity) {
        return (magnitude >> (fraction - 1) & 1) != 0 ? NUMBER_QUIET_NAN : NUMBER_SIGNALLING_NAN;
    }
    if (magnitude == infinity) {
        return is_negative ? NUMBER_NEGATIVE_INFINITY : NUMBER_POSITIVE_INFINITY;
    }
    if (magnitude == 0) {
        return is_negative ? NUMBER_NEGATIVE_ZERO : NUMBER_POSITIVE_ZERO;
    }
    if (magnitude >> fraction == 0) {
        return is_negative ? NUMBER_NEGATIVE_SUBNORMAL : NUMBER_POSITIVE_SUBNORMAL;
    }
    return is_negative ? NUMBER_NEGATIVE_NORMAL : NUMBER_POSITIVE_NORMAL;
}

/* No infinities, no -0; 0x80 is the NaN (6.1). */
static NumberClass class_of_f8(uint32_t code, F8Format format)
{
    bool is_negative = code >> 7 != 0;
    if (code == F8_NAN) {
        return NUMBER_QUIET_NAN;
    }
    if (code == 0) {
        return NUMBER_POSITIVE_ZERO;
    }
    if ((code & 0x7f) >> format.mantissa_bits == 0) {
        return is_negative ? NUMBER_NEGATIVE_SUBNORMAL : NUMBER_POSITIVE_SUBNORMAL;
    }
    return is_negative ? NUMBER_NEGATIVE_NORMAL : NUMBER_POSITIVE_NORMAL;
}

static bool out_class(Exec *x, const Op *op, const NumberClass *element, int count)
{
    uint32_t result = 0;
    for (int i = 0; i < count; i++) {
        bool is_known = element[i] == NUMBER_QUIET_NAN || element[i] == NUMBER_NEGATIVE_ZERO;
        if (!is_known && x->out_poison == 0 &&
            !EXEC_ASSUME(x, NUMBER_CLASS, "%s of element %d",
                         isa_form((InsnCode)op->code)->mnemonic, i)) {
            return false;
        }
        result |= (uint32_t)element[i] << (8 * i);
    }
    x->out[0] = result;
    return true;
}

static bool floats(Exec *x, const Op *op, int count)
{
    NumberClass element[2];
    for (int i = 0; i < count; i++) {
        element[i] = class_of(x->worker->a[op->r[1] + i], 32, 23);
    }
    return out_class(x, op, element, count);
}

static bool halves(Exec *x, const Op *op, int count)
{
    NumberClass element[4];
    for (int i = 0; i < count; i++) {
        element[i] = class_of(half(x->worker->a[op->r[1] + i / 2], i % 2), 16, 10);
    }
    return out_class(x, op, element, count);
}

static bool one_float(Exec *x, const Op *op)
{
    return floats(x, op, 1);
}

static bool two_floats(Exec *x, const Op *op)
{
    return floats(x, op, 2);
}

static bool two_halves(Exec *x, const Op *op)
{
    return halves(x, op, 2);
}

static bool four_halves(Exec *x, const Op *op)
{
    return halves(x, op, 4);
}

static bool four_f8(Exec *x, const Op *op)
{
    NumberClass element[4];
    F8Format format;
    if (!exec_f8_format(x, &format)) {
        return false;
    }
    for (int i = 0; i < 4; i++) {
        element[i] = class_of_f8(byte(x->worker->a[op->r[1]], i), format);
    }
    return out_class(x, op, element, 4);
}

Executor exec_class_find(InsnCode code)
{
    switch (code) {
    case INSN_f32class_aaan:
        return one_float;
    case INSN_f32v2class_aaan:
        return two_floats;
    case INSN_f16v2class_aaan:
        return two_halves;
    case INSN_f16v4class_aaan:
        return four_halves;
    default:
        return four_f8;
    }
}
