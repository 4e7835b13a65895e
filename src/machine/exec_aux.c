/* Aux lane on registers: f16 and f32 element arithmetic, compares, conversions, functions, logic, permutations.
 * isa/semantics.md 2.1, 5, 7, 8; number rules in math.h.
 *
 * The result goes to Exec.out and is committed behind the bundle. Choices of ours where the documents are silent:
 *   a NaN result sets INV, also when an operand was NaN already (the stricter choice);
 *   an f32 result that overflows is infinite and sets OFLO; a pole (1/0, ln 0) sets DIV0;
 *   max and min of equal values give +0 and -0 for mixed zeros; compares set no condition;
 *   conditions of an instruction with an undefined source are not registered: its result is undefined anyway.
 */
#include "machine/exec.h"
#include "machine/math.h"

typedef struct Pair {
    uint32_t lo, hi;
} Pair;

static const char *mnemonic_of(const Op *op)
{
    return isa_form((InsnCode)op->code)->mnemonic;
}

static bool finish(Exec *x, const Op *op, uint32_t flags)
{
    if (__builtin_expect(flags == 0 || x->out_poison != 0, 1)) {
        return true;
    }
    return fp_raise(x, flags, mnemonic_of(op));
}

/* --- f16 */

static Pair pair_of(const Exec *x, const Op *op, int operand)
{
    const uint32_t *a = &x->worker->a[op->r[operand]];
    return (Pair){a[0], (op->flags & OP_WIDE) != 0 ? a[1] : 0};
}

static F4 floats_of(Pair p)
{
    return floats_of_halves(p.lo, p.hi);
}

/* First source, with its broadcast. */
static F4 first_halves(const Exec *x, const Op *op)
{
    if (op->broadcast == BROADCAST_NONE) {
        return floats_of(pair_of(x, op, 1));
    }
    uint32_t word = x->worker->a[op->r[1]];
    uint32_t spread = (op->broadcast == BROADCAST_LOW ? word & 0xffff : word >> 16) * 0x10001u;
    return floats_of_halves(spread, (op->flags & OP_WIDE) != 0 ? spread : 0);
}

static F4 second_halves(const Exec *x, const Op *op)
{
    return floats_of(pair_of(x, op, 2));
}

/* What a lane that does not fit becomes: Inf stays, NaN is quiet, overflow is NaN or the largest value (semantics.md 6). */
static uint32_t special_half(uint32_t f32, uint32_t fp_ctl, uint32_t *flags)
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

static U4 special_halves(const Exec *x, F4 v, U4 h, I4 special, uint32_t *flags)
{
    for (int i = 0; i < 4; i++) {
        if (special[i]) {
            h[i] = special_half(((U4)v)[i], x->worker->fp_ctl, flags);
        }
    }
    return h;
}

uint64_t exec_round_halves(const Exec *x, F4 v, uint32_t *flags)
{
    I4 special;
    U4 h = halves_of_floats(v, &special);
    if (__builtin_expect(mask_any(special), 0)) {
        h = special_halves(x, v, h, special, flags);
    }
    H4 narrow = __builtin_convertvector(h, H4);
    uint64_t both;
    memcpy(&both, &narrow, 8);
    return both;
}

static bool finish_halves(Exec *x, const Op *op, F4 v)
{
    uint32_t flags = 0;
    uint64_t both = exec_round_halves(x, v, &flags);
    x->out[0] = (uint32_t)both;
    x->out[1] = (uint32_t)(both >> 32);
    return finish(x, op, flags);
}

static F4 absolute(F4 v)
{
    return (F4)((U4)v & 0x7fffffff);
}

/* maxNum: a NaN loses against a number. */
static F4 maximum(F4 a, F4 b)
{
    U4 larger = choose((I4)(a > b) | (I4)(b != b), (U4)a, (U4)b);
    return (F4)choose((I4)(a == b), (U4)a & (U4)b, larger);
}

static F4 minimum(F4 a, F4 b)
{
    U4 smaller = choose((I4)(a < b) | (I4)(b != b), (U4)a, (U4)b);
    return (F4)choose((I4)(a == b), (U4)a | (U4)b, smaller);
}

/* min(max(x, low half), high half) of one limit register. */
static F4 clamp_halves(const Exec *x, const Op *op)
{
    uint32_t limit = x->worker->a[op->r[2]];
    float lo = float_of_half((uint16_t)limit), hi = float_of_half((uint16_t)(limit >> 16));
    return minimum(maximum(first_halves(x, op), (F4){lo, lo, lo, lo}), (F4){hi, hi, hi, hi});
}

static bool finish_mask(Exec *x, I4 mask)
{
    H4 narrow = __builtin_convertvector((U4)mask & 0xffff, H4);
    memcpy(x->out, &narrow, 8);
    return true;
}

/* Element-wise function by table; poles and overflows are stored as infinities. */
static bool halves_function(Exec *x, const Op *op, MathFunction function)
{
    const uint16_t *table = math_table(function);
    uint32_t source = x->worker->a[op->r[1]], result = 0, flags = 0;
    for (int i = 0; i < 2; i++) {
        uint32_t h = source >> (16 * i) & 0xffff, y = table[h];
        if ((y & F16_INF) == F16_INF) {
            bool is_source_finite = (h & F16_INF) != F16_INF;
            if ((y & 0x3ff) != 0) {
                flags |= FP_INV;
            } else if (is_source_finite && (function == MATH_LN || function == MATH_LOG2)) {
                flags |= FP_DIV0;
            } else if (is_source_finite) {
                flags |= FP_OFLO;
                y = (x->worker->fp_ctl & FP_NANOO) != 0 ? F16_NAN : F16_MAX;
            }
        }
        result |= y << (16 * i);
    }
    x->out[0] = result;
    return finish(x, op, flags);
}

/* --- f32 */

static uint32_t f32_source(const Exec *x, const Op *op, int operand, int lane)
{
    bool is_spread = op->broadcast == BROADCAST_WORD && operand == 1;
    return flush_f32(x->worker->a[op->r[operand] + (is_spread ? 0 : lane)]);
}

typedef enum F32Operation {
    F32_ADD,
    F32_SUB,
    F32_MUL,
    F32_ABSADD,
    F32_ABSMAX,
    F32_MAX,
    F32_MIN,
    F32_CLAMP
} F32Operation;

static float max_f32(float a, float b)
{
    return maximum((F4){a}, (F4){b})[0];
}

static float min_f32(float a, float b)
{
    return minimum((F4){a}, (F4){b})[0];
}

static float abs_f32(float a)
{
    return f32_of_bits(bits_of_f32(a) & 0x7fffffff);
}

static bool f32_binary(Exec *x, const Op *op, F32Operation operation)
{
    uint32_t flags = 0;
    int lanes = (op->flags & OP_WIDE) != 0 ? 2 : 1;
    for (int i = 0; i < lanes; i++) {
        uint32_t ba = f32_source(x, op, 1, i),
                 bb = f32_source(x, op, 2, operation == F32_CLAMP ? 0 : i);
        float a = f32_of_bits(ba), b = f32_of_bits(bb), r;
        switch (operation) {
        case F32_ADD:
            r = a + b;
            break;
        case F32_SUB:
            r = a - b;
            break;
        case F32_MUL:
            r = a * b;
            break;
        case F32_ABSADD:
            r = abs_f32(a) + abs_f32(b);
            break;
        case F32_ABSMAX:
            r = max_f32(abs_f32(a), abs_f32(b));
            break;
        case F32_MAX:
            r = max_f32(a, b);
            break;
        case F32_MIN:
            r = min_f32(a, b);
            break;
        default: /* lo = even, hi = odd register of the limit pair */
            r = min_f32(max_f32(a, b), f32_of_bits(f32_source(x, op, 2, 1)));
            break;
        }
        x->out[i] = f32_result(r, is_finite_f32(ba) && is_finite_f32(bb), &flags);
    }
    return finish(x, op, flags);
}

typedef enum Compare {
    COMPARE_EQ,
    COMPARE_NE,
    COMPARE_LT,
    COMPARE_LE,
    COMPARE_GT,
    COMPARE_GE
} Compare;

static I4 compare(F4 a, F4 b, Compare how)
{
    switch (how) {
    case COMPARE_EQ:
        return (I4)(a == b);
    case COMPARE_NE:
        return (I4)(a != b);
    case COMPARE_LT:
        return (I4)(a < b);
    case COMPARE_LE:
        return (I4)(a <= b);
    case COMPARE_GT:
        return (I4)(a > b);
    default:
        return (I4)(a >= b);
    }
}

static bool compare_halves(Exec *x, const Op *op, Compare how)
{
    return finish_mask(x, compare(first_halves(x, op), second_halves(x, op), how));
}

static bool compare_f32(Exec *x, const Op *op, Compare how)
{
    int last = (op->flags & OP_WIDE) != 0 ? 1 : 0;
    F4 a = {f32_of_bits(f32_source(x, op, 1, 0)), f32_of_bits(f32_source(x, op, 1, last))};
    F4 b = {f32_of_bits(f32_source(x, op, 2, 0)), f32_of_bits(f32_source(x, op, 2, last))};
    I4 mask = compare(a, b, how);
    x->out[0] = (uint32_t)mask[0];
    x->out[1] = (uint32_t)mask[1];
    return true;
}

static bool f32_divide(Exec *x, const Op *op)
{
    uint32_t flags = 0, a = f32_source(x, op, 1, 0), b = f32_source(x, op, 2, 0);
    bool is_pole = (b & 0x7fffffff) == 0 && is_finite_f32(a) && (a & 0x7fffffff) != 0;
    x->out[0] = f32_result(f32_of_bits(a) / f32_of_bits(b), is_finite_f32(a) && !is_pole, &flags);
    return finish(x, op, flags | (is_pole ? FP_DIV0 : 0));
}

/* 1/x, 1/sqrt x, sqrt x: evaluated in double, rounded once. */
static bool f32_root(Exec *x, const Op *op)
{
    uint32_t flags = 0, a = f32_source(x, op, 1, 0);
    double v = (double)f32_of_bits(a), y;
    bool is_zero = (a & 0x7fffffff) == 0, is_pole = false;
    if (op->code == INSN_f32oox_aaan) {
        y = 1.0 / v;
        is_pole = is_zero;
    } else if (v < 0.0) {
        y = (double)f32_of_bits(F32_NAN);
    } else {
        y = is_zero ? v : __builtin_sqrt(v);
        if (op->code == INSN_f32oorx_aaan) {
            y = 1.0 / y;
            is_pole = is_zero;
        }
    }
    x->out[0] = f32_result((float)y, is_finite_f32(a) && !is_pole, &flags);
    return finish(x, op, flags | (is_pole ? FP_DIV0 : 0));
}

static bool f32_function(Exec *x, const Op *op, MathFunction function)
{
    uint32_t flags = 0, a = f32_source(x, op, 1, 0);
    bool is_pole = (a & 0x7fffffff) == 0 && (function == MATH_LN || function == MATH_LOG2);
    float y = (float)math_f64(function, (double)f32_of_bits(a));
    x->out[0] = f32_result(y, is_finite_f32(a) && !is_pole, &flags);
    return finish(x, op, flags | (is_pole ? FP_DIV0 : 0));
}

/* --- conversions */

/* Rounds to an integral value; |v| < 2^63. Modes of semantics.md 6. */
static double integral(double v, int mode)
{
    double t = (double)(int64_t)v, below = t > v ? t - 1 : t, fraction = v - below;
    switch (mode) {
    case 0:
        return fraction > 0.5 || (fraction == 0.5 && ((int64_t)below & 1) != 0) ? below + 1 : below;
    case 1:
        return fraction > 0.0 ? below + 1 : below;
    case 2:
        return below;
    case 3:
        return t;
    default:
        return fraction > 0.5 || (fraction == 0.5 && v > 0.0) ? below + 1 : below;
    }
}

static bool f32_integral(Exec *x, const Op *op)
{
    uint32_t flags = 0, a = f32_source(x, op, 1, 0);
    if (op->imm < 0 || op->imm > 4) {
        return EXEC_FAULT(x, "ROUND_MODE", "f32int mode %d", op->imm);
    }
    float v = f32_of_bits(a), r = v;
    if (abs_f32(v) < 0x1p24f) { /* false for NaN */
        r = f32_of_bits(bits_of_f32((float)integral((double)v, op->imm)) | (a & 0x80000000));
    }
    x->out[0] = f32_result(r, is_finite_f32(a), &flags);
    return finish(x, op, flags);
}

/* Out of range: the nearest end, and INV; NaN gives 0 and INV. */
static bool f32_to_integer(Exec *x, const Op *op, double lowest, double highest)
{
    uint32_t flags = 0;
    double v = (double)f32_of_bits(f32_source(x, op, 1, 0));
    if (v != v) {
        flags = FP_INV;
        v = 0.0;
    } else if (v < lowest - 1.0 || v > highest + 1.0) {
        flags = FP_INV;
        v = v < lowest ? lowest : highest;
    }
    v = integral(v, 0);
    if (v < lowest || v > highest) {
        flags = FP_INV;
        v = v < lowest ? lowest : highest;
    }
    x->out[0] = (uint32_t)(int64_t)v;
    return finish(x, op, flags);
}

static bool halves_to_floats(Exec *x, const Op *op, int count)
{
    uint32_t flags = 0;
    F4 v = floats_of_halves(x->worker->a[op->r[1]], 0);
    for (int i = 0; i < count; i++) {
        x->out[i] = f32_result(v[i], false, &flags);
    }
    return finish(x, op, flags);
}

static bool floats_to_halves(Exec *x, const Op *op, int count)
{
    F4 v = {0};
    for (int i = 0; i < count; i++) {
        v[i] = f32_of_bits(flush_f32(x->worker->a[op->r[1] + i]));
    }
    bool ok = finish_halves(x, op, v);
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
            x->out[i] = f32_result((float)(((double)u + 0.5) * 0x1p-32 - 0.5), true, &flags);
        }
    }
    return finish(x, op, flags);
}

/* Sums of neighbours, f16 -> f32. */
static bool sum_halves(Exec *x, const Op *op, int count)
{
    uint32_t flags = 0;
    for (int i = 0; i < count; i++) {
        uint32_t word = x->worker->a[op->r[1] + i];
        F4 v = floats_of_halves(word, 0);
        x->out[i] = f32_result(v[0] + v[1], false, &flags);
    }
    return finish(x, op, flags);
}

/* Largest of two neighbours, in both halves (one register) or one half each (a pair). */
static bool lateral_maximum(Exec *x, const Op *op, bool is_pair)
{
    F4 v = floats_of_halves(x->worker->a[op->r[1]], is_pair ? x->worker->a[op->r[1] + 1] : 0);
    F4 r = maximum((F4){v[0], v[2]}, (F4){v[1], v[3]});
    bool ok = finish_halves(x, op, is_pair ? r : (F4){r[0], r[0]});
    return ok;
}

/* --- logic and permutations */

static uint32_t half(uint32_t word, int i)
{
    return word >> (16 * i) & 0xffff;
}

static uint32_t byte(uint32_t word, int i)
{
    return word >> (8 * i) & 0xff;
}

static bool out_bytes(Exec *x, uint32_t b0, uint32_t b1, uint32_t b2, uint32_t b3)
{
    x->out[0] = b0 | b1 << 8 | b2 << 16 | b3 << 24;
    return true;
}

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
    case INSN_setzi_aaan_zi:
        return out_words(x, a, 0);
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
    case INSN_roll16_aaan:
        return out_words(x, half(a, 1) | half(b, 0) << 16, 0);
    case INSN_roll32_aaan:
        return out_words(x, a_hi, b);
    case INSN_sort4x32lo_aaan:
        return out_words(x, a, b);
    case INSN_sort4x32hi_aaan:
        return out_words(x, a_hi, b_hi);
    case INSN_sort4x16lo_aaan:
        return out_words(x, half(a, 0) | half(b, 0) << 16, 0);
    case INSN_sort4x16hi_aaan:
        return out_words(x, half(a, 1) | half(b, 1) << 16, 0);
    case INSN_sort4x16lo_aaau: /* both halves of a are its upper one */
        return out_words(x, high_half | half(b, 0) << 16, 0);
    case INSN_sort4x16hi_aaal:
        return out_words(x, low_half | half(b, 1) << 16, 0);
    case INSN_roll8r_aaan:
        return out_bytes(x, byte(a, 1), byte(a, 2), byte(a, 3), byte(b, 0));
    case INSN_roll8l_aaan:
        return out_bytes(x, byte(b, 3), byte(a, 0), byte(a, 1), byte(a, 2));
    case INSN_shuf8x8lo_aaan:
        return out_bytes(x, byte(a, 0), byte(b, 0), byte(a, 1), byte(b, 1));
    case INSN_shuf8x8hi_aaan:
        return out_bytes(x, byte(a, 2), byte(b, 2), byte(a, 3), byte(b, 3));
    case INSN_sort8_aaan:
        return out_bytes(x, byte(a, 0), byte(a, 2), byte(a, 1), byte(a, 3));
    case INSN_sort8x8lo_aaan:
        return out_bytes(x, byte(a, 0), byte(a, 2), byte(b, 0), byte(b, 2));
    case INSN_sort8x8hi_aaan:
        return out_bytes(x, byte(a, 1), byte(a, 3), byte(b, 1), byte(b, 3));
    case INSN_swap8_aaan:
        return out_bytes(x, byte(a, 1), byte(a, 0), byte(a, 3), byte(a, 2));
    default:
        return EXEC_FAULT(x, "UNMODELLED", "%s", mnemonic_of(op));
    }
}

bool fp_raise(Exec *x, uint32_t flags, const char *mnemonic)
{
    WorkerState *w = x->worker;
    w->fp_sts |= flags;
    uint32_t trapped = flags & w->fp_ctl & FP_CONDITIONS;
    if (trapped == 0) {
        return true;
    }
    return EXEC_FAULT(x, "FP_EXCEPTION", "%s: %s%s%s", mnemonic,
                      (trapped & FP_INV) != 0 ? "invalid " : "",
                      (trapped & FP_DIV0) != 0 ? "division-by-zero " : "",
                      (trapped & FP_OFLO) != 0 ? "overflow" : "");
}

bool exec_aux(Exec *x, const Op *op)
{
    uint16_t poison = x->worker->a_poison;
    x->out_poison = (uint8_t)(((poison & op->a_lane[0]) != 0 ? 1 : 0) |
                              ((poison & op->a_lane[1]) != 0 ? 2 : 0));
    switch (op->code) {
#define HALVES(name) INSN_f16v2##name##_aaan : case INSN_f16v4##name##_aaan
#define HALVES_SPREAD(name)                                                                        \
    INSN_f16v2##name##_aaan : case INSN_f16v2##name##_aaal : case INSN_f16v2##name##_aaau          \
        : case INSN_f16v4##name##_aaan : case INSN_f16v4##name##_aaal                              \
        : case INSN_f16v4##name##_aaau
#define FLOATS(name) INSN_f32##name##_aaan : case INSN_f32v2##name##_aaan
#define FLOATS_SPREAD(name) FLOATS(name) : case INSN_f32v2##name##_aaat
    case HALVES_SPREAD(add):
        return finish_halves(x, op, first_halves(x, op) + second_halves(x, op));
    case HALVES_SPREAD(sub):
        return finish_halves(x, op, first_halves(x, op) - second_halves(x, op));
    case HALVES_SPREAD(mul):
        return finish_halves(x, op, first_halves(x, op) * second_halves(x, op));
    case HALVES(absadd):
        return finish_halves(x, op, absolute(first_halves(x, op)) + absolute(second_halves(x, op)));
    case HALVES(absmax):
        return finish_halves(
            x, op, maximum(absolute(first_halves(x, op)), absolute(second_halves(x, op))));
    case HALVES(max):
        return finish_halves(x, op, maximum(first_halves(x, op), second_halves(x, op)));
    case HALVES(min):
        return finish_halves(x, op, minimum(first_halves(x, op), second_halves(x, op)));
    case HALVES(clamp):
        return finish_halves(x, op, clamp_halves(x, op));
    case HALVES_SPREAD(cmpeq):
        return compare_halves(x, op, COMPARE_EQ);
    case HALVES_SPREAD(cmpne):
        return compare_halves(x, op, COMPARE_NE);
    case HALVES_SPREAD(cmplt):
        return compare_halves(x, op, COMPARE_LT);
    case HALVES_SPREAD(cmple):
        return compare_halves(x, op, COMPARE_LE);
    case HALVES_SPREAD(cmpgt):
        return compare_halves(x, op, COMPARE_GT);
    case HALVES_SPREAD(cmpge):
        return compare_halves(x, op, COMPARE_GE);
    case FLOATS_SPREAD(add):
        return f32_binary(x, op, F32_ADD);
    case FLOATS_SPREAD(sub):
        return f32_binary(x, op, F32_SUB);
    case FLOATS_SPREAD(mul):
        return f32_binary(x, op, F32_MUL);
    case FLOATS(absadd):
        return f32_binary(x, op, F32_ABSADD);
    case FLOATS(absmax):
        return f32_binary(x, op, F32_ABSMAX);
    case FLOATS(max):
        return f32_binary(x, op, F32_MAX);
    case FLOATS(min):
        return f32_binary(x, op, F32_MIN);
    case FLOATS(clamp):
        return f32_binary(x, op, F32_CLAMP);
    case FLOATS_SPREAD(cmpeq):
        return compare_f32(x, op, COMPARE_EQ);
    case FLOATS_SPREAD(cmpne):
        return compare_f32(x, op, COMPARE_NE);
    case FLOATS_SPREAD(cmplt):
        return compare_f32(x, op, COMPARE_LT);
    case FLOATS_SPREAD(cmple):
        return compare_f32(x, op, COMPARE_LE);
    case FLOATS_SPREAD(cmpgt):
        return compare_f32(x, op, COMPARE_GT);
    case FLOATS_SPREAD(cmpge):
        return compare_f32(x, op, COMPARE_GE);
#undef HALVES
#undef HALVES_SPREAD
#undef FLOATS
#undef FLOATS_SPREAD
    case INSN_f16v2exp_aaan:
        return halves_function(x, op, MATH_EXP);
    case INSN_f16v2exp2_aaan:
        return halves_function(x, op, MATH_EXP2);
    case INSN_f16v2ln_aaan:
        return halves_function(x, op, MATH_LN);
    case INSN_f16v2log2_aaan:
        return halves_function(x, op, MATH_LOG2);
    case INSN_f16v2tanh_aaan:
        return halves_function(x, op, MATH_TANH);
    case INSN_f16v2sigm_aaan:
        return halves_function(x, op, MATH_SIGM);
    case INSN_f32exp_aaan:
        return f32_function(x, op, MATH_EXP);
    case INSN_f32exp2_aaan:
        return f32_function(x, op, MATH_EXP2);
    case INSN_f32ln_aaan:
        return f32_function(x, op, MATH_LN);
    case INSN_f32log2_aaan:
        return f32_function(x, op, MATH_LOG2);
    case INSN_f32tanh_aaan:
        return f32_function(x, op, MATH_TANH);
    case INSN_f32sigm_aaan:
        return f32_function(x, op, MATH_SIGM);
    case INSN_f32oox_aaan:
    case INSN_f32oorx_aaan:
    case INSN_f32sqrt_aaan:
        return f32_root(x, op);
    case INSN_f32div_aaan:
        return f32_divide(x, op);
    case INSN_f32int_aaan_ef:
        return f32_integral(x, op);
    case INSN_f32toi32_aaan:
        return f32_to_integer(x, op, -0x1p31, 0x1p31 - 1.0);
    case INSN_f32toui32_aaan:
        return f32_to_integer(x, op, 0.0, 0x1p32 - 1.0);
    case INSN_f32fromi32_aaan:
        x->out[0] = bits_of_f32((float)(int32_t)x->worker->a[op->r[1]]);
        return true;
    case INSN_f32fromui32_aaan:
        x->out[0] = bits_of_f32((float)x->worker->a[op->r[1]]);
        return true;
    case INSN_f32sufromui_aaan:
        return symmetric_uniform(x, op, 1, false);
    case INSN_f32v2sufromui_aaan:
        return symmetric_uniform(x, op, 2, false);
    case INSN_f16v2sufromui_aaan:
        return symmetric_uniform(x, op, 1, true);
    case INSN_f16v4sufromui_aaan:
        return symmetric_uniform(x, op, 2, true);
    case INSN_f16tof32_aaan:
        return halves_to_floats(x, op, 1);
    case INSN_f16v2tof32_aaan:
        return halves_to_floats(x, op, 2);
    case INSN_f32tof16_aaan:
        return floats_to_halves(x, op, 1);
    case INSN_f32v2tof16_aaan:
        return floats_to_halves(x, op, 2);
    case INSN_f32v4tof16_aaan:
        return floats_to_halves(x, op, 4);
    case INSN_f16v2sum_aaan:
        return sum_halves(x, op, 1);
    case INSN_f16v4sum_aaan:
        return sum_halves(x, op, 2);
    case INSN_f16v2maxc_aaan:
        return lateral_maximum(x, op, false);
    case INSN_f16v4maxc_aaan:
        return lateral_maximum(x, op, true);
    default:
        return bitwise(x, op);
    }
}
