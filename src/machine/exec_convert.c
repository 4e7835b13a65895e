/* Aux lane on registers: conversions, lateral sums and maxima, logic, permutations. isa/semantics.md 2.1, 5, 7.
 * The choices of exec_aux.c hold here too.
 */
#include "machine/exec.h"

static float abs_f32(float a)
{
    return f32_of_bits(bits_of_f32(a) & 0x7fffffff);
}

/* Rounds to an integral value; |v| < 2^63. Modes of isa/semantics.md 6, FLAG_TROUND_*. */
static double integral(double v, int mode)
{
    double t = (double)(int64_t)v, below = t > v ? t - 1 : t, fraction = v - below;
    switch (mode) {
    case FLAG_TROUND_NEAREST_EVEN:
        return fraction > 0.5 || (fraction == 0.5 && ((int64_t)below & 1) != 0) ? below + 1 : below;
    case FLAG_TROUND_POSITIVE:
        return fraction > 0.0 ? below + 1 : below;
    case FLAG_TROUND_NEGATIVE:
        return below;
    case FLAG_TROUND_ZERO:
        return t;
    default:
        return fraction > 0.5 || (fraction == 0.5 && v > 0.0) ? below + 1 : below;
    }
}

static bool f32_integral(Exec *x, const Op *op)
{
    uint32_t flags = 0, a = flush_f32(x->worker->a[op->r[1]]);
    if (op->imm < 0 || op->imm > 4) {
        return EXEC_FAULT(x, "ROUND_MODE", "f32int mode %d", op->imm);
    }
    float v = f32_of_bits(a), r = v;
    if (abs_f32(v) < 0x1p24f) { /* false for NaN */
        r = f32_of_bits(bits_of_f32((float)integral((double)v, op->imm)) | (a & 0x80000000));
    }
    x->out[0] = f32_result(r, is_finite_f32(a), &flags);
    return exec_finish(x, op, flags);
}

/* Out of range: the nearest end, and INV; NaN gives 0 and INV. */
static bool f32_to_integer(Exec *x, const Op *op, double lowest, double highest)
{
    uint32_t flags = 0;
    double v = (double)f32_of_bits(flush_f32(x->worker->a[op->r[1]]));
    if (v != v) {
        flags = FP_INV;
        v = 0.0;
    } else if (v < lowest - 1.0 || v > highest + 1.0) {
        flags = FP_INV;
        v = v < lowest ? lowest : highest;
    }
    v = integral(v, rounding_mode(x->worker));
    if (v < lowest || v > highest) {
        flags = FP_INV;
        v = v < lowest ? lowest : highest;
    }
    x->out[0] = (uint32_t)(int64_t)v;
    return exec_finish(x, op, flags);
}

static bool halves_to_floats(Exec *x, const Op *op, int count)
{
    uint32_t flags = 0;
    F4 v = floats_of_halves(x->worker->a[op->r[1]], 0);
    for (int i = 0; i < count; i++) {
        x->out[i] = f32_result(v[i], false, &flags);
    }
    return exec_finish(x, op, flags);
}

static bool floats_to_halves(Exec *x, const Op *op, int count)
{
    F4 v = {0};
    for (int i = 0; i < count; i++) {
        v[i] = f32_of_bits(flush_f32(x->worker->a[op->r[1] + i]));
    }
    bool ok = exec_out_halves(x, op, v);
    if (count == 1) {
        x->out[0] = (x->out[0] & 0xffff) * 0x10001u;
    }
    return ok;
}

/* (u + 1/2) / 2^bits - 1/2, rounded (semantics.md 7). */
static bool symmetric_uniform(Exec *x, const Op *op, int lanes, bool is_half)
{
    uint32_t flags = 0;
    for (int i = 0; i < lanes; i++) {
        uint32_t u = x->worker->a[op->r[1] + i];
        if (is_half) {
            uint32_t lo = math_f16_of_f64(((double)(u & 0xffff) + 0.5) * 0x1p-16 - 0.5);
            uint32_t hi = math_f16_of_f64(((double)(u >> 16) + 0.5) * 0x1p-16 - 0.5);
            x->out[i] = lo | hi << 16;
        } else {
            float v = exec_round_f32(x->worker, ((double)u + 0.5) * 0x1p-32 - 0.5, 0.0);
            x->out[i] = f32_result(v, true, &flags);
        }
    }
    return exec_finish(x, op, flags);
}

/* Sums of neighbours, f16 -> f32. */
static bool sum_halves(Exec *x, const Op *op, int count)
{
    uint32_t flags = 0;
    for (int i = 0; i < count; i++) {
        uint32_t word = x->worker->a[op->r[1] + i];
        F4 v = floats_of_halves(word, 0);
        float sum = exec_round_f32(x->worker, (double)v[0] + (double)v[1], 0.0);
        x->out[i] = f32_result(sum, false, &flags);
    }
    return exec_finish(x, op, flags);
}

/* Largest of two neighbours, in both halves (one register) or one half each (a pair). */
static bool lateral_maximum(Exec *x, const Op *op, bool is_pair)
{
    F4 v = floats_of_halves(x->worker->a[op->r[1]], is_pair ? x->worker->a[op->r[1] + 1] : 0);
    F4 r = exec_maximum((F4){v[0], v[2]}, (F4){v[1], v[3]});
    return exec_out_chosen(x, op, is_pair ? r : (F4){r[0], r[0]});
}

/* --- logic and permutations */

static bool out_words(Exec *x, uint32_t lo, uint32_t hi)
{
    x->out[0] = lo;
    x->out[1] = hi;
    return true;
}

static bool bitwise(Exec *x, const Op *op)
{
    const uint32_t *r = x->worker->a;
    uint32_t a = op->r[1] == OP_IMMEDIATE ? (uint32_t)op->imm : r[op->r[1]];
    uint32_t b = op->r[2] == OP_IMMEDIATE ? (uint32_t)op->imm : r[op->r[2]];
    uint32_t a_hi = (op->flags & OP_WIDE) != 0 ? r[op->r[1] + 1] : 0;
    uint32_t b_hi = (op->flags & OP_WIDE) != 0 ? r[op->r[2] + 1] : 0;
    uint32_t low_half = a & 0xffff, high_half = a >> 16;
    switch (op->code) {
    case INSN_and_aaan:
    case INSN_and_aaan_zi:
    case INSN_and_aaan_iz:
    case INSN_and64_aaan:
        return out_words(x, a & b, a_hi & b_hi);
    case INSN_andc_aaan:
    case INSN_andc_aaan_zi:
    case INSN_andc_aaan_iz:
    case INSN_andc64_aaan:
        return out_words(x, a & ~b, a_hi & ~b_hi);
    case INSN_or_aaan:
    case INSN_or_aaan_zi:
    case INSN_or_aaan_iz:
    case INSN_or64_aaan:
        return out_words(x, a | b, a_hi | b_hi);
    case INSN_not_aaan:
    case INSN_not64_aaan:
        return out_words(x, ~a, ~a_hi);
    case INSN_roll32_aaan:
        return out_words(x, a_hi, b);
    case INSN_sort4x32lo_aaan:
        return out_words(x, a, b);
    case INSN_sort4x32hi_aaan:
        return out_words(x, a_hi, b_hi);
    case INSN_sort4x16lo_aaau: /* both halves of a are its upper one */
        return out_words(x, high_half | half(b, 0) << 16, 0);
    case INSN_sort4x16hi_aaal:
        return out_words(x, low_half | half(b, 1) << 16, 0);
#define PERMUTE(name, result)                                                                      \
    case INSN_##name##_aaan:                                                                       \
        return out_words(x, result, 0);
#include "machine/permute.def"
#undef PERMUTE
    default:
        return EXEC_FAULT(x, "UNMODELLED", "%s", isa_form((InsnCode)op->code)->mnemonic);
    }
}

static bool half_to_float(Exec *x, const Op *op)
{
    return halves_to_floats(x, op, 1);
}

static bool two_halves_to_floats(Exec *x, const Op *op)
{
    return halves_to_floats(x, op, 2);
}

static bool float_to_half(Exec *x, const Op *op)
{
    return floats_to_halves(x, op, 1);
}

static bool two_floats_to_halves(Exec *x, const Op *op)
{
    return floats_to_halves(x, op, 2);
}

static bool four_floats_to_halves(Exec *x, const Op *op)
{
    return floats_to_halves(x, op, 4);
}

static bool to_signed(Exec *x, const Op *op)
{
    return f32_to_integer(x, op, -0x1p31, 0x1p31 - 1.0);
}

static bool to_unsigned(Exec *x, const Op *op)
{
    return f32_to_integer(x, op, 0.0, 0x1p32 - 1.0);
}

static bool from_signed(Exec *x, const Op *op)
{
    x->out[0] =
        bits_of_f32(exec_round_f32(x->worker, (double)(int32_t)x->worker->a[op->r[1]], 0.0));
    return true;
}

static bool from_unsigned(Exec *x, const Op *op)
{
    x->out[0] = bits_of_f32(exec_round_f32(x->worker, (double)x->worker->a[op->r[1]], 0.0));
    return true;
}

static bool uniform_float(Exec *x, const Op *op)
{
    return symmetric_uniform(x, op, 1, false);
}

static bool uniform_floats(Exec *x, const Op *op)
{
    return symmetric_uniform(x, op, 2, false);
}

static bool uniform_halves(Exec *x, const Op *op)
{
    return symmetric_uniform(x, op, 1, true);
}

static bool uniform_four_halves(Exec *x, const Op *op)
{
    return symmetric_uniform(x, op, 2, true);
}

static bool sum_pair(Exec *x, const Op *op)
{
    return sum_halves(x, op, 1);
}

static bool sum_pairs(Exec *x, const Op *op)
{
    return sum_halves(x, op, 2);
}

static bool larger_half(Exec *x, const Op *op)
{
    return lateral_maximum(x, op, false);
}

static bool larger_halves(Exec *x, const Op *op)
{
    return lateral_maximum(x, op, true);
}

/* Also the aux half that does nothing: fnop. */
static bool set_immediate(Exec *x, const Op *op)
{
    x->out[0] = (uint32_t)op->imm;
    return true;
}

Executor exec_convert_find(InsnCode code)
{
    switch (code) {
    case INSN_f32int_aaan_ef:
        return f32_integral;
    case INSN_f32toi32_aaan:
        return to_signed;
    case INSN_f32toui32_aaan:
        return to_unsigned;
    case INSN_f32fromi32_aaan:
        return from_signed;
    case INSN_f32fromui32_aaan:
        return from_unsigned;
    case INSN_f32sufromui_aaan:
        return uniform_float;
    case INSN_f32v2sufromui_aaan:
        return uniform_floats;
    case INSN_f16v2sufromui_aaan:
        return uniform_halves;
    case INSN_f16v4sufromui_aaan:
        return uniform_four_halves;
    case INSN_f16tof32_aaan:
        return half_to_float;
    case INSN_f16v2tof32_aaan:
        return two_halves_to_floats;
    case INSN_f32tof16_aaan:
        return float_to_half;
    case INSN_f32v2tof16_aaan:
        return two_floats_to_halves;
    case INSN_f32v4tof16_aaan:
        return four_floats_to_halves;
    case INSN_f16v2sum_aaan:
        return sum_pair;
    case INSN_f16v4sum_aaan:
        return sum_pairs;
    case INSN_f16v2maxc_aaan:
        return larger_half;
    case INSN_f16v4maxc_aaan:
        return larger_halves;
    case INSN_setzi_aaan_zi:
        return set_immediate;
    default:
        return bitwise;
    }
}
