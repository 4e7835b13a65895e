/* Reference arithmetic of single operations. Private to the room. All matrices are row-major FP32. */
#pragma once
#include "oracle/oracle.h"

/* c[m, n] = a[m, k] b[k, n] + bias[n] (bias may be NULL). */
void product(const float *a, const float *b, const float *bias, float *c, int64_t m, int64_t k,
             int64_t n, bool is_fixed_order);
void layernorm_rows(const float *x, const float *gamma, const float *beta, double eps, float *y,
                    int64_t rows, int64_t cols);
void gelu_tanh(const float *x, float *y, int64_t elems);
/* One head at a time: q[rows_q, cols], k and v[rows_k, cols]. */
void attend(const float *q, const float *k, const float *v, float *out, int64_t rows_q,
            int64_t rows_k, int64_t cols, int32_t heads, double scale, bool is_fixed_order,
            Arena scratch);
