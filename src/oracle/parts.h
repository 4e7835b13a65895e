/* Reference arithmetic of single operations. Private to the room. Matrices are row-major FP32; `stride` is the
 * distance of rows in elements. */
#pragma once
#include "oracle/oracle.h"

typedef struct Matrix {
    float *at;
    int64_t rows, cols, stride;
} Matrix;

/* How operations are computed; never what. */
typedef struct Method {
    int threads;
    bool is_fixed_order;
} Method;

/* c = a b, or a b^T when `is_transposed`. */
void oracle_product(Method method, Matrix a, Matrix b, bool is_transposed, Matrix c, Arena scratch);
/* Adds the row to every row of x. */
void oracle_add_row(Matrix x, const float *row);
void oracle_layernorm(Method method, Matrix x, const float *gamma, const float *beta, double eps,
                      Matrix y);
/* Tanh form (models.md 1.2). */
void oracle_gelu(Method method, Matrix x, Matrix y);
/* Per head of the width: softmax(q k^T scale) v. */
void oracle_attention(Method method, Matrix q, Matrix k, Matrix v, int32_t heads, double scale,
                      Matrix y, Arena scratch);
