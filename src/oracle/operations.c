/* Single operations in FP32, statistics in double (models.md 1.2, 1.4, 5.2).
 *
 * Products go through oneDNN's sgemm, which is row-major and four times as fast as anything we would write, or
 * through a loop of our own that adds in one fixed order in double, for cases that must not depend on a library.
 * Row-wise operations run in parallel; a row never depends on which thread computes it.
 */
#include "oracle/parts.h"
#include <dnnl.h>
#include <math.h>

static Matrix columns_of(Matrix m, int64_t begin, int64_t count)
{
    return (Matrix){m.at + begin, m.rows, count, m.stride};
}

/* --- products ------------------------------------------------------------------------------------------- */

static void product_fixed(Matrix a, Matrix b, bool is_transposed, Matrix c, Arena scratch)
{
    double *sum = arena_array(&scratch, double, c.cols);
    for (int64_t i = 0; i < c.rows; i++) {
        for (int64_t j = 0; j < c.cols; j++) {
            sum[j] = 0.0;
        }
        for (int64_t k = 0; k < a.cols; k++) {
            double x = a.at[i * a.stride + k];
            const float *from = is_transposed ? b.at + k : b.at + k * b.stride;
            int64_t step = is_transposed ? b.stride : 1;
            for (int64_t j = 0; j < c.cols; j++) {
                sum[j] += x * from[j * step];
            }
        }
        for (int64_t j = 0; j < c.cols; j++) {
            c.at[i * c.stride + j] = (float)sum[j];
        }
    }
}

void oracle_product(Method method, Matrix a, Matrix b, bool is_transposed, Matrix c, Arena scratch)
{
    ASSERT(a.rows == c.rows);
    ASSERT(a.cols == (is_transposed ? b.cols : b.rows));
    ASSERT(c.cols == (is_transposed ? b.rows : b.cols));
    if (method.is_fixed_order) {
        product_fixed(a, b, is_transposed, c, scratch);
        return;
    }
    dnnl_status_t status = dnnl_sgemm('N', is_transposed ? 'T' : 'N', c.rows, c.cols, a.cols, 1.0f,
                                      a.at, a.stride, b.at, b.stride, 0.0f, c.at, c.stride);
    ASSERT(status == dnnl_success);
}

void oracle_add_row(Matrix x, const float *row)
{
    for (int64_t i = 0; i < x.rows; i++) {
        for (int64_t j = 0; j < x.cols; j++) {
            x.at[i * x.stride + j] += row[j];
        }
    }
}

/* --- row-wise operations -------------------------------------------------------------------------------- */

/* One parallel loop over rows; which members are used depends on the body. */
typedef struct RowJob {
    Matrix x, y;
    const float *gamma, *beta;
    double eps, scale;
    double *exact; /* softmax: one row a worker */
} RowJob;

enum { ROWS_AT_ONCE = 8 };

static void layernorm_row(void *context, isize index, int worker)
{
    (void)worker;
    const RowJob *job = context;
    const float *x = job->x.at + index * job->x.stride;
    float *y = job->y.at + index * job->y.stride;
    double sum = 0.0, squares = 0.0;
    for (int64_t j = 0; j < job->x.cols; j++) {
        sum += x[j];
    }
    double mean = sum / (double)job->x.cols;
    for (int64_t j = 0; j < job->x.cols; j++) {
        double centred = x[j] - mean;
        squares += centred * centred;
    }
    double factor = 1.0 / sqrt(squares / (double)job->x.cols + job->eps);
    for (int64_t j = 0; j < job->x.cols; j++) {
        y[j] = (float)((x[j] - mean) * factor * job->gamma[j] + job->beta[j]);
    }
}

static void gelu_row(void *context, isize index, int worker)
{
    (void)worker;
    const double root = 0.79788456080286535588; /* sqrt(2 / pi) */
    const RowJob *job = context;
    const float *from = job->x.at + index * job->x.stride;
    float *to = job->y.at + index * job->y.stride;
    for (int64_t j = 0; j < job->x.cols; j++) {
        double x = from[j];
        to[j] = (float)(0.5 * x * (1.0 + tanh(root * (x + 0.044715 * x * x * x))));
    }
}

/* In place; the largest score is subtracted first, so that nothing overflows. */
static void softmax_row(void *context, isize index, int worker)
{
    const RowJob *job = context;
    float *s = job->x.at + index * job->x.stride;
    double *exact = job->exact + worker * job->x.cols;
    double largest = -INFINITY, sum = 0.0;
    for (int64_t j = 0; j < job->x.cols; j++) {
        largest = s[j] > largest ? s[j] : largest;
    }
    for (int64_t j = 0; j < job->x.cols; j++) {
        exact[j] = exp(job->scale * (s[j] - largest));
        sum += exact[j];
    }
    for (int64_t j = 0; j < job->x.cols; j++) {
        s[j] = (float)(exact[j] / sum);
    }
}

void oracle_layernorm(Method method, Matrix x, const float *gamma, const float *beta, double eps,
                      Matrix y)
{
    RowJob job = {.x = x, .y = y, .gamma = gamma, .beta = beta, .eps = eps};
    parallel_for(method.threads, x.rows, ROWS_AT_ONCE, layernorm_row, &job);
}

void oracle_gelu(Method method, Matrix x, Matrix y)
{
    RowJob job = {.x = x, .y = y};
    parallel_for(method.threads, x.rows, ROWS_AT_ONCE, gelu_row, &job);
}

/* All products of one kind before the next step: oneDNN's idle threads spin for a while after each product and
 * would take the processors away from ours. */
void oracle_attention(Method method, Matrix q, Matrix k, Matrix v, int32_t heads, double scale,
                      Matrix y, Arena scratch)
{
    int64_t width = q.cols / heads;
    Matrix all = {.rows = heads * q.rows, .cols = k.rows, .stride = k.rows};
    all.at = arena_array(&scratch, float, all.rows *all.cols);
    RowJob job = {.x = all, .scale = scale};
    job.exact = arena_array(&scratch, double, method.threads *all.cols);
    for (int32_t h = 0; h < heads; h++) {
        Matrix scores = {all.at + h * q.rows * k.rows, q.rows, k.rows, k.rows};
        oracle_product(method, columns_of(q, h * width, width), columns_of(k, h * width, width),
                       true, scores, scratch);
    }
    parallel_for(method.threads, all.rows, ROWS_AT_ONCE, softmax_row, &job);
    for (int32_t h = 0; h < heads; h++) {
        Matrix weights = {all.at + h * q.rows * k.rows, q.rows, k.rows, k.rows};
        oracle_product(method, weights, columns_of(v, h * width, width), false,
                       columns_of(y, h * width, width), scratch);
    }
}
