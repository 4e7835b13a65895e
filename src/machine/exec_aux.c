/* Aux lane on registers: f16 and f32 element arithmetic, compares, functions. isa/semantics.md 8; number rules in math.h.
 *
 * The result goes to Exec.out and is committed behind the bundle. Choices of ours where the documents are silent:
 *   a NaN result sets INV, also when an operand was NaN already (the stricter choice);
 *   an f32 result that overflows is infinite and sets OFLO; a pole (1/0, ln 0) sets DIV0;
 *   max and min of equal values give +0 and -0 for mixed zeros; compares set no condition;
 *   conditions of an instruction with an undefined source are not registered: its result is undefined anyway.
 */
#include "machine/exec.h"
#include <math.h>

typedef struct Pair {
    uint32_t lo, hi;
} Pair;

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

static U4 special_halves(const Exec *x, F4 v, U4 h, I4 special, uint32_t *flags)
{
    for (int i = 0; i < 4; i++) {
        if (special[i]) {
            h[i] = exec_special_half(((U4)v)[i], x->worker->fp_ctl, flags);
        }
    }
    return h;
}

static inline uint64_t nearest_halves(const Exec *x, F4 v, uint32_t *flags)
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

uint64_t exec_round_halves(const Exec *x, F4 v, uint32_t *flags)
{
    if (is_rounding_special(x->worker)) {
        const double exact[4] = {(double)v[0], (double)v[1], (double)v[2], (double)v[3]};
        return exec_round_halves_special(x->worker, exact, flags);
    }
    return nearest_halves(x, v, flags);
}

static bool finish_halves(Exec *x, const Op *op, uint64_t both, uint32_t flags)
{
    x->out[0] = (uint32_t)both;
    x->out[1] = (uint32_t)(both >> 32);
    return exec_finish(x, op, flags);
}

bool exec_out_halves(Exec *x, const Op *op, F4 v)
{
    uint32_t flags = 0;
    uint64_t both = exec_round_halves(x, v, &flags);
    return finish_halves(x, op, both, flags);
}

bool exec_out_chosen(Exec *x, const Op *op, F4 v)
{
    uint32_t flags = 0;
    uint64_t both = nearest_halves(x, v, &flags);
    return finish_halves(x, op, both, flags);
}

typedef enum Arithmetic { ARITHMETIC_ADD, ARITHMETIC_SUB, ARITHMETIC_MUL } Arithmetic;

/* f32 holds the exact product of two halves, and their sum well enough for one rounding to nearest; for another rounding the sum
 * is made in double, where it is exact. */
static inline __attribute__((always_inline)) bool halves_arithmetic(Exec *x, const Op *op, F4 a,
                                                                    F4 b, Arithmetic how)
{
    uint32_t flags = 0;
    if (is_rounding_special(x->worker)) {
        double exact[4];
        for (int i = 0; i < 4; i++) {
            double p = (double)a[i], q = (double)b[i];
            exact[i] = how == ARITHMETIC_ADD ? p + q : how == ARITHMETIC_SUB ? p - q : p * q;
        }
        uint64_t both = exec_round_halves_special(x->worker, exact, &flags);
        return finish_halves(x, op, both, flags);
    }
    F4 v = how == ARITHMETIC_ADD ? a + b : how == ARITHMETIC_SUB ? a - b : a * b;
    uint64_t both = nearest_halves(x, v, &flags);
    return finish_halves(x, op, both, flags);
}

static F4 absolute(F4 v)
{
    return (F4)((U4)v & 0x7fffffff);
}

/* maxNum: a NaN loses against a number. */
F4 exec_maximum(F4 a, F4 b)
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
    return minimum(exec_maximum(first_halves(x, op), (F4){lo, lo, lo, lo}), (F4){hi, hi, hi, hi});
}

static bool finish_mask(Exec *x, I4 mask)
{
    H4 narrow = __builtin_convertvector((U4)mask & 0xffff, H4);
    memcpy(x->out, &narrow, 8);
    return true;
}

/* The same two values in another rounding; poles, overflow and NaN are left to the table. */
static uint64_t special_function(const Exec *x, uint32_t source, MathFunction function)
{
    double v[4] = {0};
    uint32_t ignored = 0;
    for (int i = 0; i < 2; i++) {
        v[i] = math_f64(function, (double)float_of_half((uint16_t)half(source, i)));
    }
    return exec_round_halves_special(x->worker, v, &ignored);
}

/* Element-wise function by table; poles and overflows are stored as infinities. */
static bool halves_function(Exec *x, const Op *op, MathFunction function)
{
    const uint16_t *table = math_table(function);
    uint32_t source = x->worker->a[op->r[1]], result = 0, flags = 0;
    uint64_t special = 0;
    if (is_rounding_special(x->worker)) {
        special = special_function(x, source, function);
    }
    for (int i = 0; i < 2; i++) {
        uint32_t h = source >> (16 * i) & 0xffff, y = table[h];
        if (is_rounding_special(x->worker) && (y & F16_INF) != F16_INF) {
            y = special >> (16 * i) & 0xffff;
        }
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
    return exec_finish(x, op, flags);
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
    return exec_maximum((F4){a}, (F4){b})[0];
}

static float min_f32(float a, float b)
{
    return minimum((F4){a}, (F4){b})[0];
}

static float abs_f32(float a)
{
    return f32_of_bits(bits_of_f32(a) & 0x7fffffff);
}

/* In the rounding mode of FP_CTL. */
static float sum_f32(const WorkerState *w, float a, float b)
{
    if (rounding_mode(w) == 0) {
        return a + b;
    }
    double sum = (double)a + (double)b, part = sum - (double)a;
    double rest = ((double)a - (sum - part)) + ((double)b - part); /* exact: a + b = sum + rest */
    return exec_round_f32(w, sum, rest);
}

/* n / d in the rounding mode of FP_CTL. */
static float quotient_f32(const WorkerState *w, double n, double d)
{
    double q = n / d;
    double rest = q - q == 0.0 ? fma(-q, d, n) : 0.0; /* has the sign of the exact rest times d */
    return exec_round_f32(w, q, d < 0.0 ? -rest : rest);
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
            r = sum_f32(x->worker, a, b);
            break;
        case F32_SUB:
            r = sum_f32(x->worker, a, -b);
            break;
        case F32_MUL:
            r = rounding_mode(x->worker) != 0
                    ? exec_round_f32(x->worker, (double)a * (double)b, 0.0)
                    : a * b;
            break;
        case F32_ABSADD:
            r = sum_f32(x->worker, abs_f32(a), abs_f32(b));
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
    return exec_finish(x, op, flags);
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
    double n = (double)f32_of_bits(a), d = (double)f32_of_bits(b);
    x->out[0] = f32_result(quotient_f32(x->worker, n, d), is_finite_f32(a) && !is_pole, &flags);
    return exec_finish(x, op, flags | (is_pole ? FP_DIV0 : 0));
}

/* 1/x, 1/sqrt x, sqrt x: evaluated in double, rounded once. */
static bool f32_root(Exec *x, const Op *op)
{
    uint32_t flags = 0, a = f32_source(x, op, 1, 0);
    double v = (double)f32_of_bits(a);
    float y;
    bool is_zero = (a & 0x7fffffff) == 0, is_pole = false;
    if (op->code == INSN_f32oox_aaan) {
        y = quotient_f32(x->worker, 1.0, v);
        is_pole = is_zero;
    } else if (v < 0.0) {
        y = f32_of_bits(F32_NAN);
    } else {
        double root = is_zero ? v : __builtin_sqrt(v);
        is_pole = is_zero && op->code == INSN_f32oorx_aaan;
        y = op->code == INSN_f32oorx_aaan  ? quotient_f32(x->worker, 1.0, root)
            : is_zero || !is_finite_f32(a) ? (float)root
                                           : exec_round_f32(x->worker, root, fma(-root, root, v));
    }
    x->out[0] = f32_result(y, is_finite_f32(a) && !is_pole, &flags);
    return exec_finish(x, op, flags | (is_pole ? FP_DIV0 : 0));
}

static bool f32_function(Exec *x, const Op *op, MathFunction function)
{
    uint32_t flags = 0, a = f32_source(x, op, 1, 0);
    bool is_pole = (a & 0x7fffffff) == 0 && (function == MATH_LN || function == MATH_LOG2);
    float y = exec_round_f32(x->worker, math_f64(function, (double)f32_of_bits(a)), 0.0);
    x->out[0] = f32_result(y, is_finite_f32(a) && !is_pole, &flags);
    return exec_finish(x, op, flags | (is_pole ? FP_DIV0 : 0));
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

/* --- one executor a mnemonic */

static bool halves_add(Exec *x, const Op *op)
{
    return halves_arithmetic(x, op, first_halves(x, op), second_halves(x, op), ARITHMETIC_ADD);
}

static bool halves_sub(Exec *x, const Op *op)
{
    return halves_arithmetic(x, op, first_halves(x, op), second_halves(x, op), ARITHMETIC_SUB);
}

static bool halves_mul(Exec *x, const Op *op)
{
    return halves_arithmetic(x, op, first_halves(x, op), second_halves(x, op), ARITHMETIC_MUL);
}

static bool halves_absadd(Exec *x, const Op *op)
{
    return halves_arithmetic(x, op, absolute(first_halves(x, op)), absolute(second_halves(x, op)),
                             ARITHMETIC_ADD);
}

static bool halves_absmax(Exec *x, const Op *op)
{
    return exec_out_chosen(
        x, op, exec_maximum(absolute(first_halves(x, op)), absolute(second_halves(x, op))));
}

static bool halves_max(Exec *x, const Op *op)
{
    return exec_out_chosen(x, op, exec_maximum(first_halves(x, op), second_halves(x, op)));
}

static bool halves_min(Exec *x, const Op *op)
{
    return exec_out_chosen(x, op, minimum(first_halves(x, op), second_halves(x, op)));
}

static bool halves_clamp(Exec *x, const Op *op)
{
    return exec_out_chosen(x, op, clamp_halves(x, op));
}

static bool halves_cmpeq(Exec *x, const Op *op)
{
    return compare_halves(x, op, COMPARE_EQ);
}

static bool halves_cmpne(Exec *x, const Op *op)
{
    return compare_halves(x, op, COMPARE_NE);
}

static bool halves_cmplt(Exec *x, const Op *op)
{
    return compare_halves(x, op, COMPARE_LT);
}

static bool halves_cmple(Exec *x, const Op *op)
{
    return compare_halves(x, op, COMPARE_LE);
}

static bool halves_cmpgt(Exec *x, const Op *op)
{
    return compare_halves(x, op, COMPARE_GT);
}

static bool halves_cmpge(Exec *x, const Op *op)
{
    return compare_halves(x, op, COMPARE_GE);
}

static bool floats_add(Exec *x, const Op *op)
{
    return f32_binary(x, op, F32_ADD);
}

static bool floats_sub(Exec *x, const Op *op)
{
    return f32_binary(x, op, F32_SUB);
}

static bool floats_mul(Exec *x, const Op *op)
{
    return f32_binary(x, op, F32_MUL);
}

static bool floats_absadd(Exec *x, const Op *op)
{
    return f32_binary(x, op, F32_ABSADD);
}

static bool floats_absmax(Exec *x, const Op *op)
{
    return f32_binary(x, op, F32_ABSMAX);
}

static bool floats_max(Exec *x, const Op *op)
{
    return f32_binary(x, op, F32_MAX);
}

static bool floats_min(Exec *x, const Op *op)
{
    return f32_binary(x, op, F32_MIN);
}

static bool floats_clamp(Exec *x, const Op *op)
{
    return f32_binary(x, op, F32_CLAMP);
}

static bool floats_cmpeq(Exec *x, const Op *op)
{
    return compare_f32(x, op, COMPARE_EQ);
}

static bool floats_cmpne(Exec *x, const Op *op)
{
    return compare_f32(x, op, COMPARE_NE);
}

static bool floats_cmplt(Exec *x, const Op *op)
{
    return compare_f32(x, op, COMPARE_LT);
}

static bool floats_cmple(Exec *x, const Op *op)
{
    return compare_f32(x, op, COMPARE_LE);
}

static bool floats_cmpgt(Exec *x, const Op *op)
{
    return compare_f32(x, op, COMPARE_GT);
}

static bool floats_cmpge(Exec *x, const Op *op)
{
    return compare_f32(x, op, COMPARE_GE);
}

static bool halves_exp(Exec *x, const Op *op)
{
    return halves_function(x, op, MATH_EXP);
}

static bool floats_exp(Exec *x, const Op *op)
{
    return f32_function(x, op, MATH_EXP);
}

static bool halves_exp2(Exec *x, const Op *op)
{
    return halves_function(x, op, MATH_EXP2);
}

static bool floats_exp2(Exec *x, const Op *op)
{
    return f32_function(x, op, MATH_EXP2);
}

static bool halves_ln(Exec *x, const Op *op)
{
    return halves_function(x, op, MATH_LN);
}

static bool floats_ln(Exec *x, const Op *op)
{
    return f32_function(x, op, MATH_LN);
}

static bool halves_log2(Exec *x, const Op *op)
{
    return halves_function(x, op, MATH_LOG2);
}

static bool floats_log2(Exec *x, const Op *op)
{
    return f32_function(x, op, MATH_LOG2);
}

static bool halves_tanh(Exec *x, const Op *op)
{
    return halves_function(x, op, MATH_TANH);
}

static bool floats_tanh(Exec *x, const Op *op)
{
    return f32_function(x, op, MATH_TANH);
}

static bool halves_sigm(Exec *x, const Op *op)
{
    return halves_function(x, op, MATH_SIGM);
}

static bool floats_sigm(Exec *x, const Op *op)
{
    return f32_function(x, op, MATH_SIGM);
}

#define HALVES(name)                                                                               \
    case INSN_f16v2##name##_aaan:                                                                  \
    case INSN_f16v4##name##_aaan:                                                                  \
        return halves_##name
#define HALVES_SPREAD(name)                                                                        \
    case INSN_f16v2##name##_aaal:                                                                  \
    case INSN_f16v2##name##_aaau:                                                                  \
    case INSN_f16v4##name##_aaal:                                                                  \
    case INSN_f16v4##name##_aaau:                                                                  \
        HALVES(name)
#define FLOATS(name)                                                                               \
    case INSN_f32##name##_aaan:                                                                    \
    case INSN_f32v2##name##_aaan:                                                                  \
        return floats_##name
#define FLOATS_SPREAD(name)                                                                        \
    case INSN_f32v2##name##_aaat:                                                                  \
        FLOATS(name)
#define FUNCTION(name)                                                                             \
    case INSN_f16v2##name##_aaan:                                                                  \
        return halves_##name;                                                                      \
    case INSN_f32##name##_aaan:                                                                    \
        return floats_##name

Executor exec_aux_find(InsnCode code)
{
    switch (code) {
        HALVES_SPREAD(add);
        HALVES_SPREAD(sub);
        HALVES_SPREAD(mul);
        HALVES_SPREAD(cmpeq);
        HALVES_SPREAD(cmpne);
        HALVES_SPREAD(cmplt);
        HALVES_SPREAD(cmple);
        HALVES_SPREAD(cmpgt);
        HALVES_SPREAD(cmpge);
        HALVES(absadd);
        HALVES(absmax);
        HALVES(max);
        HALVES(min);
        HALVES(clamp);
        FLOATS_SPREAD(add);
        FLOATS_SPREAD(sub);
        FLOATS_SPREAD(mul);
        FLOATS_SPREAD(cmpeq);
        FLOATS_SPREAD(cmpne);
        FLOATS_SPREAD(cmplt);
        FLOATS_SPREAD(cmple);
        FLOATS_SPREAD(cmpgt);
        FLOATS_SPREAD(cmpge);
        FLOATS(absadd);
        FLOATS(absmax);
        FLOATS(max);
        FLOATS(min);
        FLOATS(clamp);
        FUNCTION(exp);
        FUNCTION(exp2);
        FUNCTION(ln);
        FUNCTION(log2);
        FUNCTION(tanh);
        FUNCTION(sigm);
    case INSN_f32oox_aaan:
    case INSN_f32oorx_aaan:
    case INSN_f32sqrt_aaan:
        return f32_root;
    case INSN_f32div_aaan:
        return f32_divide;
    case INSN_f8v2tof16_aaan:
    case INSN_f8v4tof16_aaan:
    case INSN_f16v2tof8_aaan:
    case INSN_f16v8tof8_aaan:
        return exec_f8_find(code);
    case INSN_f32class_aaan:
    case INSN_f32v2class_aaan:
    case INSN_f16v2class_aaan:
    case INSN_f16v4class_aaan:
    case INSN_f8v4class_aaan:
        return exec_class_find(code);
    default:
        return exec_convert_find(code);
    }
}
