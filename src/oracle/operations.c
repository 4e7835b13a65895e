/* Single operations in FP32 with double statistics (models.md 1.2, 1.4). Products through oneDNN's sgemm, or a fixed-order loop of our own
 * when a result must be bit-exact everywhere. */
#include "oracle/parts.h"
#include <dnnl.h>
#include <math.h>

static void product_fixed(const float *a, const float *b, float *c, int64_t m, int64_t k, int64_t n)
{
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            float sum = 0;
            for (int64_t p = 0; p < k; p++)
                sum += a[i * k + p] * b[p * n + j];
            c[i * n + j] = sum;
        }
}

void product(const float *a, const float *b, const float *bias, float *c, int64_t m, int64_t k,
             int64_t n, bool is_fixed_order)
{
    if (is_fixed_order) {
        product_fixed(a, b, c, m, k, n);
    } else {
        dnnl_status_t status = dnnl_sgemm('N', 'N', m, n, k, 1.0f, a, k, b, n, 0.0f, c, n);
        ASSERT(status == dnnl_success);
    }
    if (bias == NULL)
        return;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++)
            c[i * n + j] += bias[j];
}

void layernorm_rows(const float *x, const float *gamma, const float *beta, double eps, float *y,
                    int64_t rows, int64_t cols)
{
    for (int64_t r = 0; r < rows; r++) {
        const float *row = x + r * cols;
        double sum = 0, squares = 0;
        for (int64_t c = 0; c < cols; c++)
            sum += row[c];
        double mean = sum / (double)cols;
        for (int64_t c = 0; c < cols; c++)
            squares += (row[c] - mean) * (row[c] - mean);
        double inverse = 1.0 / sqrt(squares / (double)cols + eps);
        for (int64_t c = 0; c < cols; c++)
            y[r * cols + c] = (float)((row[c] - mean) * inverse) * gamma[c] + beta[c];
    }
}

void gelu_tanh(const float *x, float *y, int64_t elems)
{
    static const double alpha = 0.79788456080286535588; /* sqrt(2/pi) */
    for (int64_t i = 0; i < elems; i++) {
        double v = x[i];
        y[i] = (float)(0.5 * v * (1.0 + tanh(alpha * (v + 0.044715 * v * v * v))));
    }
}

/* Softmax of one row of scores, in place; sums in double. */
static void softmax_row(float *s, int64_t count, double scale)
{
    double most = -INFINITY, sum = 0;
    for (int64_t i = 0; i < count; i++)
        most = s[i] > most ? s[i] : most;
    for (int64_t i = 0; i < count; i++) {
        s[i] = (float)exp(scale * (s[i] - most));
        sum += s[i];
    }
    for (int64_t i = 0; i < count; i++)
        s[i] = (float)(s[i] / sum);
}

void attend(const float *q, const float *k, const float *v, float *out, int64_t rows_q,
            int64_t rows_k, int64_t cols, int32_t heads, double scale, bool is_fixed_order,
            Arena scratch)
{
    int64_t d = cols / heads;
    float *qh = arena_array(&scratch, float, rows_q *d),
          *kt = arena_array(&scratch, float, rows_k *d);
    float *vh = arena_array(&scratch, float, rows_k *d),
          *s = arena_array(&scratch, float, rows_q *rows_k);
    float *oh = arena_array(&scratch, float, rows_q *d);
    for (int64_t h = 0; h < heads; h++) {
        for (int64_t r = 0; r < rows_q; r++)
            for (int64_t c = 0; c < d; c++)
                qh[r * d + c] = q[r * cols + h * d + c];
        for (int64_t r = 0; r < rows_k; r++)
            for (int64_t c = 0; c < d; c++) {
                kt[c * rows_k + r] = k[r * cols + h * d + c];
                vh[r * d + c] = v[r * cols + h * d + c];
            }
        product(qh, kt, NULL, s, rows_q, d, rows_k, is_fixed_order);
        for (int64_t r = 0; r < rows_q; r++)
            softmax_row(s + r * rows_k, rows_k, scale);
        product(s, vh, NULL, oh, rows_q, rows_k, d, is_fixed_order);
        for (int64_t r = 0; r < rows_q; r++)
            for (int64_t c = 0; c < d; c++)
                out[r * cols + h * d + c] = oh[r * d + c];
    }
}
