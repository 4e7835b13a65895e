/* Comparison metrics (models.md 5.2): cosine accumulated in double, largest absolute error of the raw values.
 *
 * A value that is not finite, or a vector of norm zero, has no cosine; it gets -2, which is below any threshold.
 */
#include "oracle/oracle.h"
#include <math.h>

Difference difference_of(const float *a, const float *b, int64_t elems)
{
    Difference result = {.cosine = -2.0, .is_finite = true};
    double dot = 0.0, norm_a = 0.0, norm_b = 0.0;
    for (int64_t i = 0; i < elems; i++) {
        double x = a[i], y = b[i];
        if (!isfinite(x) || !isfinite(y)) {
            return (Difference){
                .cosine = -2.0, .max_abs_error = INFINITY, .max_at = i, .is_finite = false};
        }
        if (fabs(x - y) > result.max_abs_error) {
            result.max_abs_error = fabs(x - y);
            result.max_at = i;
        }
        dot += x * y;
        norm_a += x * x;
        norm_b += y * y;
    }
    if (norm_a > 0.0 && norm_b > 0.0) {
        result.cosine = dot / (sqrt(norm_a) * sqrt(norm_b));
    }
    return result;
}
