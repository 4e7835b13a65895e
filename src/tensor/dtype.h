/* Element types and their codecs. Conversions round to nearest, ties to even. */
#pragma once
#include "base/str.h"

typedef enum DType {
    DTYPE_NONE = 0,
    DTYPE_F32,
    DTYPE_F16,
    DTYPE_BF16,
    DTYPE_F64,
    DTYPE_I64,
    DTYPE_I32,
    DTYPE_U32,
    DTYPE_U8,
    DTYPE_COUNT
} DType;

int dtype_bytes(DType dtype);
Str dtype_name(DType dtype);      /* "f16" */
DType dtype_parse(Str name);      /* DTYPE_NONE when unknown */
bool dtype_is_float(DType dtype); /* F32, F16 or BF16: what weights and activations are made of */

/* IEEE binary16; overflow gives infinity (the caller decides what that means). NaN stays quiet NaN.
 */
uint16_t f16_of_f32(float value);
float f32_of_f16(uint16_t bits);
float f32_of_bf16(uint16_t bits);
uint16_t bf16_of_f32(float value);
