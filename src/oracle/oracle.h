/* oracle: reference arithmetic on the Graph, and comparison metrics.
 * takes: Graph, TensorSource, inputs      gives: FP32 values of every operation; Difference
 * uses: base tensor graph
 * never: tiles, layouts, speed tricks
 *
 * FP32 throughout, from unquantised parameters (models.md 5.2); dnnl_sgemm for products; statistics and softmax in double.
 */
#pragma once
#include "base/base.h"
#include "graph/graph.h"
#include "tensor/tensor.h"

typedef struct OracleInput {
    Str name; /* run-time tensor that the graph's input packings name */
    const float *at;
    int64_t elems;
} OracleInput;

/* Values by (graph value, iteration): matrices row-major [rows, cols], logical coordinates. */
typedef struct OracleRun {
    const Graph *graph;
    float **value; /* per graph value, of the last iteration inside a loop; NULL for parameters */
    float ***
        iteration; /* per graph value: NULL or [count] matrices, for values of a body when is_traced */
} OracleRun;

typedef struct OracleOptions {
    int threads;
    bool is_traced;      /* keep every iteration's values */
    bool is_fixed_order; /* own fixed-order loops instead of dnnl (bit-exact small cases) */
} OracleOptions;

bool oracle_run(const Graph *graph, const TensorSource *source, const OracleInput *inputs,
                int input_count, const OracleOptions *options, Arena *keep, Arena scratch,
                OracleRun *out, Error *err);

typedef struct Difference {
    double cosine; /* accumulated in double; -2 when a norm is zero or a value is not finite */
    double max_abs_error;
    int64_t max_at;
    bool is_finite;
} Difference;
Difference difference_of(const float *a, const float *b, int64_t elems);
