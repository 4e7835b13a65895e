/* Evaluates a Graph in FP32 from unquantised parameters, operation by operation, in the order of the regions.
 *
 * A parameter is read when an operation needs it and dropped behind it, so a 1.7 GB checkpoint needs no 1.7 GB. A
 * body's values are overwritten by the next iteration unless a trace is asked for. Nothing is fused or reordered:
 * a value here is what the graph says it is.
 */
#include "oracle/parts.h"
#include <string.h>

typedef struct Runner {
    const Graph *graph;
    const TensorSource *source;
    Method method;
    bool is_traced;
    OracleRun *run;
    Arena *keep;
    Error *err;
    const Repeat *repeat; /* whose body is being run; NULL outside */
    int32_t iteration;
} Runner;

/* --- run-time inputs as a TensorSource, so that their packings are read like those of parameters ---------- */

typedef struct InputList {
    const OracleInput *at;
    int count;
} InputList;

static const OracleInput *find_input(const InputList *inputs, Str name)
{
    for (int i = 0; i < inputs->count; i++) {
        if (str_equal(inputs->at[i].name, name)) {
            return &inputs->at[i];
        }
    }
    return NULL;
}

static bool input_find(void *context, Str name, TensorInfo *out)
{
    const OracleInput *input = find_input(context, name);
    if (input == NULL) {
        return false;
    }
    *out = (TensorInfo){.name = name, .dtype = DTYPE_F32, .shape = {1, {input->elems}}};
    return true;
}

static bool input_read(void *context, Str name, float *out, Error *err)
{
    (void)err;
    const OracleInput *input = find_input(context, name);
    ASSERT(input != NULL); /* input_find comes first */
    memcpy(out, input->at, (size_t)input->elems * sizeof *out);
    return true;
}

/* --- values --------------------------------------------------------------------------------------------- */

static const Value *value_at(const Runner *runner, int32_t index)
{
    return &runner->graph->values.at[index];
}

static Matrix matrix_of(const Runner *runner, int32_t index)
{
    const Value *value = value_at(runner, index);
    return (Matrix){runner->run->value[index], value->rows, value->cols, value->cols};
}

/* Memory for a value that is about to be computed. */
static Matrix new_matrix(Runner *runner, int32_t index)
{
    const Value *value = value_at(runner, index);
    OracleRun *run = runner->run;
    bool is_traced = runner->is_traced && runner->repeat != NULL;
    if (run->value[index] == NULL || is_traced) {
        run->value[index] = arena_array(runner->keep, float, (int64_t)value->rows * value->cols);
    }
    if (is_traced) {
        if (run->iteration[index] == NULL) {
            run->iteration[index] = arena_array(runner->keep, float *, runner->repeat->count);
        }
        run->iteration[index][runner->iteration] = run->value[index];
    }
    return matrix_of(runner, index);
}

static bool read_packing(Runner *runner, const TensorSource *source, int32_t index,
                         const Packing *packing, float *out, Arena scratch)
{
    const Value *value = value_at(runner, index);
    Region all = region_of(0, value->rows, 0, value->cols);
    return tensor_read_packed(source, packing, all, out, scratch, runner->err) ||
           error_context(runner->err, "value %.*s", STR_ARG(value->name));
}

/* The packing of a parameter, or of the current member of a sequence; NULL for computed values. */
static const Packing *packing_of(const Runner *runner, int32_t index)
{
    const Value *value = value_at(runner, index);
    if (value->kind == VALUE_PARAMETER) {
        return &value->packings[0];
    }
    const Repeat *repeat = runner->repeat;
    for (int32_t i = 0; repeat != NULL && i < repeat->sequence_count; i++) {
        if (repeat->sequence_argument[i] == index) {
            return &value_at(runner, repeat->sequence[i])->packings[runner->iteration];
        }
    }
    return NULL;
}

/* An operand: computed before, or read now into scratch. */
static bool load(Runner *runner, int32_t index, Matrix *out, Arena *scratch)
{
    *out = matrix_of(runner, index);
    const Packing *packing = packing_of(runner, index);
    if (packing == NULL) {
        ASSERT(out->at != NULL);
        return true;
    }
    out->at = arena_array(scratch, float, out->rows * out->cols);
    return read_packing(runner, runner->source, index, packing, out->at, *scratch);
}

/* --- operations ----------------------------------------------------------------------------------------- */

static void add(Matrix a, Matrix b, Matrix y)
{
    for (int64_t i = 0; i < y.rows * y.cols; i++) {
        y.at[i] = a.at[i] + b.at[i];
    }
}

static void slice(Matrix x, int32_t begin, Matrix y)
{
    for (int64_t i = 0; i < y.rows; i++) {
        memcpy(y.at + i * y.stride, x.at + i * x.stride + begin, (size_t)y.cols * sizeof *y.at);
    }
}

static bool run_op(Runner *runner, const Op *op, Arena scratch)
{
    Matrix in[OP_INPUTS_MAX] = {0};
    for (int i = 0; i < OP_INPUTS_MAX; i++) {
        if (op->input[i] != 0 && !load(runner, op->input[i], &in[i], &scratch)) {
            return false;
        }
    }
    Matrix y = new_matrix(runner, op->output);
    switch (op->kind) {
    case OP_GEMM:
        oracle_product(runner->method, in[0], in[1], false, y, scratch);
        if (op->input[2] != 0) {
            oracle_add_row(y, in[2].at);
        }
        break;
    case OP_ADD:
        add(in[0], in[1], y);
        break;
    case OP_GELU:
        oracle_gelu(runner->method, in[0], y);
        break;
    case OP_LAYERNORM:
        oracle_layernorm(runner->method, in[0], in[1].at, in[2].at, op->eps, y);
        break;
    case OP_ATTENTION:
        oracle_attention(runner->method, in[0], in[1], in[2], op->heads, op->scale, y, scratch);
        break;
    case OP_SLICE:
        slice(in[0], op->begin, y);
        break;
    default:
        ASSERT(false);
    }
    return true;
}

static void copy_matrix(Matrix from, Matrix to)
{
    memcpy(to.at, from.at, (size_t)(to.rows * to.cols) * sizeof *to.at);
}

static bool run_repeat(Runner *runner, const Repeat *repeat, Arena scratch)
{
    for (int32_t i = 0; i < repeat->count; i++) {
        runner->repeat = repeat;
        runner->iteration = i;
        for (int32_t c = 0; c < repeat->carried_count; c++) {
            Matrix from = matrix_of(runner, i == 0 ? repeat->carried[c] : repeat->yield[c]);
            copy_matrix(from, new_matrix(runner, repeat->carried_argument[c]));
        }
        const RegionOps *body = &runner->graph->regions.at[repeat->body];
        for (isize k = 0; k < body->len; k++) {
            if (!run_op(runner, &runner->graph->ops.at[body->at[k]], scratch)) {
                return false;
            }
        }
    }
    runner->repeat = NULL;
    for (int32_t c = 0; c < repeat->carried_count; c++) {
        copy_matrix(matrix_of(runner, repeat->yield[c]), new_matrix(runner, repeat->result[c]));
    }
    return true;
}

static bool run_graph(Runner *runner, Arena scratch)
{
    const RegionOps *list = &runner->graph->regions.at[0];
    for (isize i = 0; i < list->len; i++) {
        const Op *op = &runner->graph->ops.at[list->at[i]];
        bool ok = op->kind == OP_REPEAT
                      ? run_repeat(runner, &runner->graph->repeats.at[op->repeat], scratch)
                      : run_op(runner, op, scratch);
        if (!ok) {
            return false;
        }
    }
    return true;
}

bool oracle_run(const Graph *graph, const TensorSource *source, const OracleInput *inputs,
                int input_count, const OracleOptions *options, Arena *keep, Arena scratch,
                OracleRun *out, Error *err)
{
    *out = (OracleRun){.graph = graph,
                       .value = arena_array(keep, float *, graph->values.len),
                       .iteration = arena_array(keep, float **, graph->values.len)};
    Runner runner = {.graph = graph,
                     .source = source,
                     .method = {.threads = thread_count(options->threads),
                                .is_fixed_order = options->is_fixed_order},
                     .is_traced = options->is_traced,
                     .run = out,
                     .keep = keep,
                     .err = err};
    InputList list = {inputs, input_count};
    TensorSource input_source = {.context = &list, .find = input_find, .read = input_read};
    for (int32_t v = 1; v < graph->values.len; v++) {
        if (graph->values.at[v].kind == VALUE_INPUT) {
            Matrix matrix = new_matrix(&runner, v);
            if (!read_packing(&runner, &input_source, v, &graph->values.at[v].packings[0],
                              matrix.at, scratch)) {
                return false;
            }
        }
    }
    return run_graph(&runner, scratch);
}
