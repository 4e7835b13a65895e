/* Element types and their conversions: integer arithmetic on the bit patterns, so that the result
 * does not depend on rounding modes or compilers. Round to nearest, ties to even (kernels.md 1).
 */
#include "tensor/dtype.h"
#include "base/bits.h"
#include "base/error.h"

typedef struct DTypeRow {
    Str name;
    int bytes;
} DTypeRow;

static const DTypeRow rows[DTYPE_COUNT] = {
    [DTYPE_NONE] = {{"none", 4}, 0}, [DTYPE_F32] = {{"f32", 3}, 4}, [DTYPE_F16] = {{"f16", 3}, 2},
    [DTYPE_BF16] = {{"bf16", 4}, 2}, [DTYPE_F64] = {{"f64", 3}, 8}, [DTYPE_I64] = {{"i64", 3}, 8},
    [DTYPE_I32] = {{"i32", 3}, 4},   [DTYPE_U32] = {{"u32", 3}, 4}, [DTYPE_U8] = {{"u8", 2}, 1},
};

/* value >> shift, rounded to nearest, ties to even; 1 <= shift <= 31. */
static uint32_t shift_rounded(uint32_t value, int shift)
{
    uint32_t kept = value >> shift;
    uint32_t lost = value & ((1u << shift) - 1);
    uint32_t half = 1u << (shift - 1);
    return kept + (lost > half || (lost == half && (kept & 1u)) ? 1u : 0u);
}

int dtype_bytes(DType dtype)
{
    ASSERT(dtype >= 0 && dtype < DTYPE_COUNT);
    return rows[dtype].bytes;
}

Str dtype_name(DType dtype)
{
    ASSERT(dtype >= 0 && dtype < DTYPE_COUNT);
    return rows[dtype].name;
}

DType dtype_parse(Str name)
{
    for (int i = DTYPE_NONE + 1; i < DTYPE_COUNT; i++) {
        if (str_equal(rows[i].name, name)) {
            return (DType)i;
        }
    }
    return DTYPE_NONE;
}

uint16_t f16_of_f32(float value)
{
    uint32_t bits = bits_of_f32(value);
    uint32_t sign = (bits >> 16) & 0x8000u;
    uint32_t magnitude = bits & 0x7fffffffu;
    uint32_t result;
    if (magnitude > 0x7f800000u) {
        result = 0x7e00u | ((magnitude >> 13) & 0x1ffu); /* quiet NaN, upper payload kept */
    } else if (magnitude >= 0x47800000u) {
        result = 0x7c00u; /* 65536 and above, and infinity */
    } else if (magnitude >= 0x38800000u) {
        /* Normal: rebias the exponent by 112; a carry out of the fraction is right, also to
         * infinity. */
        result = shift_rounded(magnitude - (112u << 23), 13);
    } else if (magnitude > 0x33000000u) {
        /* Subnormal: units of 2^-24. The significand is 2^(e-150) * fraction. */
        int exponent = (int)(magnitude >> 23);
        result = shift_rounded((magnitude & 0x7fffffu) | 0x800000u, 126 - exponent);
    } else {
        result = 0; /* at most 2^-25: the tie at exactly 2^-25 goes to the even zero */
    }
    return (uint16_t)(sign | result);
}

float f32_of_f16(uint16_t bits)
{
    uint32_t sign = (uint32_t)(bits & 0x8000u) << 16;
    uint32_t exponent = (bits >> 10) & 31u;
    uint32_t fraction = bits & 0x3ffu;
    if (exponent == 31) {
        uint32_t quiet = fraction != 0 ? 0x400000u : 0;
        return f32_of_bits(sign | 0x7f800000u | quiet | fraction << 13);
    }
    if (exponent == 0) {
        float magnitude = (float)fraction * 0x1p-24f;
        return f32_of_bits(sign | bits_of_f32(magnitude));
    }
    return f32_of_bits(sign | (exponent + 112) << 23 | fraction << 13);
}

float f32_of_bf16(uint16_t bits)
{
    return f32_of_bits((uint32_t)bits << 16);
}

uint16_t bf16_of_f32(float value)
{
    uint32_t bits = bits_of_f32(value);
    uint32_t magnitude = bits & 0x7fffffffu;
    uint32_t sign = (bits >> 16) & 0x8000u;
    uint32_t result =
        magnitude > 0x7f800000u ? (magnitude >> 16) | 0x40u : shift_rounded(magnitude, 16);
    return (uint16_t)(sign | result);
}

bool dtype_is_float(DType dtype)
{
    return dtype == DTYPE_F32 || dtype == DTYPE_F16 || dtype == DTYPE_BF16;
}
