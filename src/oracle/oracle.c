/* Runs a Graph in FP32 from unquantised parameters, operation by operation; a Repeat's body is run `count` times with member i of every
 * sequence. Values are matrices in logical coordinates. */
#include "oracle/parts.h"
#include <string.h>

typedef struct Runner {
    const Graph *graph;
    const TensorSource *source;
    const OracleOptions *options;
    OracleRun *run;
    Arena *keep;
    Error *err;
    int32_t iteration; /* of the enclosing Repeat, -1 outside */
} Runner;

/* The run-time inputs as a TensorSource, so that input packings read like parameters. */
typedef struct InputSource {
    const OracleInput *at;
    int count;
} InputSource;

static const OracleInput *input_of(const InputSource *inputs, Str name)
{
    for (int i = 0; i < inputs->count; i++)
        if (str_equal(inputs->at[i].name, name))
            return &inputs->at[i];
    return NULL;
}

static bool input_find(void *context, Str name, TensorInfo *out)
{
    const OracleInput *input = input_of(context, name);
    if (input == NULL)
        return false;
    *out = (TensorInfo){name, DTYPE_F32, {1, {input->elems}}};
    return true;
}

static bool input_read(void *context, Str name, float *out, Error *err)
{
    const OracleInput *input = input_of(context, name);
    if (input == NULL)
        return error_set(err, ERROR_INPUT, NULL, "no input named %.*s", STR_ARG(name));
    memcpy(out, input->at, (size_t)input->elems * sizeof *out);
    return true;
}

static float *new_matrix(Runner *r, int32_t value)
{
    const Value *v = &r->graph->values.at[value];
    return arena_array(r->keep, float, (int64_t)v->rows * v->cols);
}

static void set_value(Runner *r, int32_t value, float *matrix)
{
    r->run->value[value] = matrix;
    if (r->iteration < 0 || !r->options->is_traced)
        return;
    if (r->run->iteration[value] == NULL) {
        int32_t count = 0;
        for (isize i = 1; i < r->graph->repeats.len; i++)
            count = r->graph->repeats.at[i].count > count ? r->graph->repeats.at[i].count : count;
        r->run->iteration[value] = arena_array(r->keep, float *, count);
    }
    r->run->iteration[value][r->iteration] = matrix;
}

static bool read_packed(Runner *r, const TensorSource *source, int32_t value,
                        const Packing *packing, Arena scratch)
{
    const Value *v = &r->graph->values.at[value];
    float *matrix = new_matrix(r, value);
    if (!tensor_read_packed(source, packing, region_of(0, v->rows, 0, v->cols), matrix, scratch,
                            r->err))
        return error_context(r->err, "%.*s", STR_ARG(v->name));
    set_value(r, value, matrix);
    return true;
}

static void run_op(Runner *r, const Op *op, Arena scratch)
{
    const Value *out = &r->graph->values.at[op->output], *a = &r->graph->values.at[op->input[0]];
    const float *in[OP_INPUTS_MAX] = {0};
    for (int i = 0; i < OP_INPUTS_MAX; i++)
        in[i] = op->input[i] ? r->run->value[op->input[i]] : NULL;
    float *y = new_matrix(r, op->output);
    int64_t elems = (int64_t)out->rows * out->cols;
    bool fixed = r->options->is_fixed_order;
    switch (op->kind) {
    case OP_GEMM:
        product(in[0], in[1], in[2], y, out->rows, a->cols, out->cols, fixed);
        break;
    case OP_ADD:
        for (int64_t i = 0; i < elems; i++)
            y[i] = in[0][i] + in[1][i];
        break;
    case OP_GELU:
        gelu_tanh(in[0], y, elems);
        break;
    case OP_LAYERNORM:
        layernorm_rows(in[0], in[1], in[2], op->eps, y, out->rows, out->cols);
        break;
    case OP_ATTENTION:
        attend(in[0], in[1], in[2], y, out->rows, r->graph->values.at[op->input[1]].rows, out->cols,
               op->heads, op->scale, fixed, scratch);
        break;
    case OP_SLICE:
        for (int32_t row = 0; row < out->rows; row++)
            memcpy(y + (int64_t)row * out->cols, in[0] + (int64_t)row * a->cols + op->begin,
                   (size_t)out->cols * sizeof *y);
        break;
    case OP_NONE:
    case OP_REPEAT:
    case OP_COUNT:
        ASSERT(false);
    }
    set_value(r, op->output, y);
}

static bool run_region(Runner *r, int32_t region, Arena scratch);

static bool run_repeat(Runner *r, const Repeat *repeat, Arena scratch)
{
    float *state[4];
    for (int32_t c = 0; c < repeat->carried_count; c++)
        state[c] = r->run->value[repeat->carried[c]];
    for (int32_t i = 0; i < repeat->count; i++) {
        r->iteration = i;
        for (int32_t c = 0; c < repeat->carried_count; c++)
            set_value(r, repeat->carried_argument[c], state[c]);
        for (int32_t s = 0; s < repeat->sequence_count; s++) {
            const Value *sequence = &r->graph->values.at[repeat->sequence[s]];
            if (!read_packed(r, r->source, repeat->sequence_argument[s], &sequence->packings[i],
                             scratch))
                return false;
        }
        if (!run_region(r, repeat->body, scratch))
            return false;
        for (int32_t c = 0; c < repeat->carried_count; c++)
            state[c] = r->run->value[repeat->yield[c]];
    }
    r->iteration = -1;
    for (int32_t c = 0; c < repeat->carried_count; c++)
        set_value(r, repeat->result[c], state[c]);
    return true;
}

static bool run_region(Runner *r, int32_t region, Arena scratch)
{
    const RegionOps *list = &r->graph->regions.at[region];
    for (isize i = 0; i < list->len; i++) {
        const Op *op = &r->graph->ops.at[list->at[i]];
        if (op->kind == OP_REPEAT) {
            if (!run_repeat(r, &r->graph->repeats.at[op->repeat], scratch))
                return false;
        } else {
            run_op(r, op, scratch);
        }
    }
    return true;
}

bool oracle_run(const Graph *graph, const TensorSource *source, const OracleInput *inputs,
                int input_count, const OracleOptions *options, Arena *keep, Arena scratch,
                OracleRun *out, Error *err)
{
    *out = (OracleRun){graph, arena_array(keep, float *, graph->values.len),
                       arena_array(keep, float **, graph->values.len)};
    Runner r = {graph, source, options, out, keep, err, -1};
    InputSource named = {inputs, input_count};
    TensorSource input_source = {&named, input_find, input_read};
    for (int32_t v = 1; v < graph->values.len; v++) {
        const Value *value = &graph->values.at[v];
        if (value->kind == VALUE_INPUT &&
            !read_packed(&r, &input_source, v, &value->packings[0], scratch))
            return false;
        if (value->kind == VALUE_PARAMETER &&
            !read_packed(&r, source, v, &value->packings[0], scratch))
            return false;
    }
    return run_region(&r, 0, scratch);
}
