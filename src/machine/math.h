/* Numbers of the aux lane: f16 <-> f32, functions, conditions. Private to the room.
 *
 * Choices (decisions.md A7, isa/semantics.md 6): f16 subnormals are kept, f32 subnormals are flushed to a signed zero going in
 * and coming out; every NaN result is the positive quiet NaN without payload, so that results do not depend on the host's operand
 * order; rounding is to nearest, ties to even, once.
 */
#pragma once
#include "base/base.h"

typedef float F4 __attribute__((vector_size(16)));
typedef int32_t I4 __attribute__((vector_size(16)));
typedef uint32_t U4 __attribute__((vector_size(16)));
typedef uint16_t H4 __attribute__((vector_size(8)));
typedef uint64_t W2 __attribute__((vector_size(16)));

enum {
    F16_INF = 0x7c00,
    F16_NAN = 0x7e00,
    F16_MAX = 0x7bff,
    F32_INF = 0x7f800000,
    F32_NAN = 0x7fc00000,
    /* bits of FP_STS, FP_CLR and the low bits of FP_CTL (registers.md 4.3) */
    FP_INV = 1,
    FP_DIV0 = 2,
    FP_OFLO = 4,
    FP_CONDITIONS = 7,
    FP_ZAACC = 8,
    FP_RND = 7 << 16,
    FP_ESR = 1 << 19,
    FP_NANOO = 1 << 20,
};

/* Numbers that an AMP or SLIC instruction multiplies; index of TileState.cwei_stale. */
typedef enum AmpSource { SOURCE_F16, SOURCE_F8, SOURCE_F32 } AmpSource;

/* An FP8 number of semantics.md 6.1: F152 or F143. */
typedef struct F8Format {
    int mantissa_bits, bias;
} F8Format;
static inline F8Format f8_format(bool is_f143)
{
    return is_f143 ? (F8Format){3, 8} : (F8Format){2, 16};
}
enum { F8_NAN = 0x80, F8_LARGEST = 0x7f };
/* Exact; NaN for 0x80. */
double f64_of_f8(uint32_t code, F8Format format);
/* All 256 codes of a format, times 2^scale; -32 <= scale <= 31. Built on first use, thread-safe. */
const double *math_f8_table(bool is_f143, int scale);

/* Functions with a table (f16) and a double evaluation (f32). */
typedef enum MathFunction {
    MATH_EXP,
    MATH_EXP2,
    MATH_LN,
    MATH_LOG2,
    MATH_TANH,
    MATH_SIGM,
    MATH_FUNCTIONS,
} MathFunction;

/* Own series in double, no libm: same bits on every host. Relative error below 2^-48; infinities and NaN as in C. */
double math_f64(MathFunction function, double x);
/* Nearest f16, ties to even; a finite value of 65520 or more gives infinity. */
uint16_t math_f16_of_f64(double x);
/* The function of every f16, correctly rounded: 65,536 entries, built on first use, thread-safe. Overflow is stored as infinity. */
const uint16_t *math_table(MathFunction function);

static inline bool mask_any(I4 mask)
{
    W2 w = (W2)mask;
    return (w[0] | w[1]) != 0;
}

static inline U4 choose(I4 mask, U4 yes, U4 no)
{
    return ((U4)mask & yes) | (~(U4)mask & no);
}

/* Four halves, element 0 in the low half of `lo`. Exact; NaNs stay NaNs. */
static inline F4 floats_of_halves(uint32_t lo, uint32_t hi)
{
    uint64_t both = lo | (uint64_t)hi << 32;
    H4 halves;
    memcpy(&halves, &both, 8);
    U4 u = __builtin_convertvector(halves, U4);
    U4 sign = (u & 0x8000) << 16, em = (u & 0x7fff) << 13;
    I4 is_small = (I4)(em < 0x00800000), is_special = (I4)(em >= 0x0f800000);
    U4 normal =
        em + 0x38000000 + ((U4)is_special & 0x38000000); /* bias 15 -> 127, twice for Inf and NaN */
    U4 small = (U4)((F4)(em + 0x38800000) - 0x1p-14f);
    return (F4)(choose(is_small, small, normal) | sign);
}

static inline float float_of_half(uint16_t h)
{
    return floats_of_halves(h, 0)[0];
}

/* Nearest even halves in the low 16 bits of each lane. Lanes of 65520 and more, infinite or NaN are marked in *special and
 * wrong: the caller decides them (NANOO, conditions). */
static inline U4 halves_of_floats(F4 v, I4 *special)
{
    U4 u = (U4)v, sign = u & 0x80000000, a = u ^ sign;
    U4 normal = (a + 0xc8000fff + (a >> 13 & 1)) >> 13;
    U4 small = (U4)((F4)a + 0.5f) - 0x3f000000; /* the addition rounds at 2^-24 */
    I4 is_small = (I4)(a < 0x38800000);
    *special = (I4)(a >= 0x477ff000);
    return choose(is_small, small, normal) | sign >> 16;
}

/* Lanes of four floats that are infinite, NaN or subnormal. */
static inline I4 math_odd(const float *v)
{
    U4 bits;
    memcpy(&bits, v, sizeof bits);
    I4 a = (I4)(bits & 0x7fffffff);
    return (I4)(a > 0x7f7fffff) | ((I4)(a < 0x00800000) & (I4)(a != 0));
}

static inline uint32_t flush_f32(uint32_t bits)
{
    return (bits & 0x7f800000) == 0 ? bits & 0x80000000 : bits;
}

static inline bool is_nan_f32(uint32_t bits)
{
    return (bits & 0x7fffffff) > F32_INF;
}

static inline bool is_finite_f32(uint32_t bits)
{
    return (bits & F32_INF) != F32_INF;
}

/* Result bits of an operation that rounded to `r`: NaN is invalid; Inf out of finite operands is an overflow. */
static inline uint32_t f32_result(float r, bool is_finite_source, uint32_t *flags)
{
    uint32_t bits = flush_f32(bits_of_f32(r));
    if (__builtin_expect(is_finite_f32(bits), 1)) {
        return bits;
    }
    if (is_nan_f32(bits)) {
        *flags |= FP_INV;
        return F32_NAN;
    }
    *flags |= is_finite_source ? FP_OFLO : 0;
    return bits;
}
