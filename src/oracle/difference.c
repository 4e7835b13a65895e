/* Comparison metrics (models.md 5.2): cosine accumulated in double, maximum absolute error of the raw values. */
#include "oracle/oracle.h"
#include <math.h>

Difference difference_of(const float *a, const float *b, int64_t elems)
{
    Difference d = {.cosine = -2, .is_finite = true};
    double dot = 0, aa = 0, bb = 0;
    for (int64_t i = 0; i < elems; i++) {
        if (!isfinite(a[i]) || !isfinite(b[i])) {
            d.is_finite = false;
            d.max_at = i;
            d.max_abs_error = INFINITY;
            return d;
        }
        double error = fabs((double)a[i] - (double)b[i]);
        if (error > d.max_abs_error) {
            d.max_abs_error = error;
            d.max_at = i;
        }
        dot += (double)a[i] * b[i];
        aa += (double)a[i] * a[i];
        bb += (double)b[i] * b[i];
    }
    if (aa > 0 && bb > 0)
        d.cosine = dot / sqrt(aa * bb);
    return d;
}
