/* Codecs against slow oracles: values from the definition, conversion by search for the nearest. */
#include "tensor/tensor.h"
#include "test.h"
#include <math.h>

/* Value of a finite format with the given fraction bits and bias, from the definition (IEEE 754). */
static double value_of(uint32_t bits, int fraction_bits, int exponent_bits, int bias)
{
    uint32_t fraction = bits & ((1u << fraction_bits) - 1);
    int exponent = (int)((bits >> fraction_bits) & ((1u << exponent_bits) - 1));
    double sign = (bits >> (fraction_bits + exponent_bits)) & 1u ? -1.0 : 1.0;
    double unit = ldexp(1.0, -fraction_bits);
    if (exponent == 0) {
        return sign * ldexp((double)fraction * unit, 1 - bias);
    }
    return sign * ldexp(1.0 + (double)fraction * unit, exponent - bias);
}

/* Nearest non-negative code by bisection over all codes, ties to even, `top` = code of infinity. */
static uint32_t nearest_code(double magnitude, int fraction_bits, int exponent_bits, int bias,
                             uint32_t top)
{
    uint32_t low = 0,
             high = top; /* value(low) <= magnitude; the value of `top` is the next power */
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        if (value_of(middle, fraction_bits, exponent_bits, bias) <= magnitude) {
            low = middle;
        } else {
            high = middle;
        }
    }
    double below = magnitude - value_of(low, fraction_bits, exponent_bits, bias);
    double above = value_of(high, fraction_bits, exponent_bits, bias) - magnitude;
    if (above < 0) {
        return top;
    }
    return below < above || (below == above && low % 2 == 0) ? low : high;
}

static void all_f16_values(void)
{
    for (uint32_t code = 0; code < 65536; code++) {
        float value = f32_of_f16((uint16_t)code);
        if ((code & 0x7fffu) > 0x7c00u) {
            CHECK(isnan(value));
            uint16_t back = f16_of_f32(value);
            CHECK_EQ_INT(back & 0x7e00u, 0x7e00u);
            CHECK_EQ_INT(back & 0x8000u, code & 0x8000u);
        } else if ((code & 0x7fffu) == 0x7c00u) {
            CHECK(isinf(value));
            CHECK_EQ_INT(signbit(value) != 0, code >> 15);
            CHECK_EQ_INT(f16_of_f32(value), code);
        } else {
            CHECK((double)value == value_of(code, 10, 5, 15));
            CHECK_EQ_INT(signbit(value) != 0, code >> 15);
            CHECK_EQ_INT(f16_of_f32(value), code);
        }
    }
}

static void check_f16(float value)
{
    uint32_t sign = bits_of_f32(value) >> 31;
    uint32_t expected = nearest_code(fabs((double)value), 10, 5, 15, 0x7c00);
    uint16_t code = f16_of_f32(value);
    CHECK_EQ_INT(code, sign << 15 | expected);
}

/* Every halfway point between neighbours and the floats just beside it. */
static void all_f16_boundaries(void)
{
    for (uint32_t code = 0; code < 0x7c00; code++) {
        double middle = 0.5 * (value_of(code, 10, 5, 15) + value_of(code + 1, 10, 5, 15));
        float at = (float)middle;
        CHECK((double)at == middle);
        check_f16(at);
        check_f16(-at);
        check_f16(nextafterf(at, 0.0f));
        check_f16(nextafterf(at, INFINITY));
    }
    CHECK_EQ_INT(f16_of_f32(65519.996f), 0x7bff);
    CHECK_EQ_INT(f16_of_f32(65520.0f), 0x7c00);
    CHECK_EQ_INT(f16_of_f32(1e30f), 0x7c00);
    CHECK_EQ_INT(f16_of_f32(-1e30f), 0xfc00);
    CHECK_EQ_INT(f16_of_f32(-0.0f), 0x8000);
    CHECK_EQ_INT(f16_of_f32(1e-30f), 0);
}

static void random_f16(void)
{
    uint64_t seed = test_seed(7);
    for (uint64_t i = 0; i < 200000; i++) {
        float value = f32_of_bits((uint32_t)random_u64(seed, i));
        if (isfinite(value)) {
            check_f16(value);
        }
    }
}

static void bf16(void)
{
    for (uint32_t code = 0; code < 65536; code++) {
        float value = f32_of_bf16((uint16_t)code);
        CHECK_EQ_INT(bits_of_f32(value), code << 16);
        if ((code & 0x7fffu) <= 0x7f80u) {
            CHECK_EQ_INT(bf16_of_f32(value), code);
        } else {
            CHECK_EQ_INT(bf16_of_f32(value), code | 0x40u);
        }
    }
    uint64_t seed = test_seed(8);
    for (uint64_t i = 0; i < 100000; i++) {
        uint32_t bits = (uint32_t)random_u64(seed, i);
        bits = i % 4 == 0 ? (bits & 0xffff0000u) | 0x8000u : bits; /* ties */
        float value = f32_of_bits(bits);
        if (isfinite(value)) {
            uint32_t expected = nearest_code(fabs((double)value), 7, 8, 127, 0x7f80);
            CHECK_EQ_INT(bf16_of_f32(value), (bits >> 31) << 15 | expected);
        }
    }
    CHECK_EQ_INT(bf16_of_f32(f32_of_bits(0x7f800001u)), 0x7fc0);
}

static void names(void)
{
    CHECK_EQ_INT(dtype_bytes(DTYPE_F16), 2);
    CHECK_EQ_INT(dtype_bytes(DTYPE_BF16), 2);
    CHECK_EQ_INT(dtype_bytes(DTYPE_F32), 4);
    CHECK_EQ_INT(dtype_bytes(DTYPE_F64), 8);
    CHECK_EQ_INT(dtype_bytes(DTYPE_I64), 8);
    CHECK_EQ_INT(dtype_bytes(DTYPE_I32), 4);
    CHECK_EQ_INT(dtype_bytes(DTYPE_U32), 4);
    CHECK_EQ_INT(dtype_bytes(DTYPE_U8), 1);
    CHECK_STR(dtype_name(DTYPE_F16), S("f16"));
    for (int i = DTYPE_F32; i < DTYPE_COUNT; i++) {
        CHECK_EQ_INT(dtype_parse(dtype_name((DType)i)), i);
    }
    CHECK_EQ_INT(dtype_parse(S("f17")), DTYPE_NONE);
    CHECK_EQ_INT(dtype_parse(S("none")), DTYPE_NONE);
}

TEST_MAIN(all_f16_values, all_f16_boundaries, random_f16, bf16, names)
