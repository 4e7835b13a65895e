/* Graph builder: appends values and operations; shapes follow from the operands (compiler-design.md 2.1).
 *
 * The builder never judges: a wrong shape or order is reported once, by graph_check, with names. It only
 * insists on indices that exist, because those are bugs of the caller.
 */
#include "graph/graph.h"

static Value *value_of(Graph *graph, int32_t index)
{
    ASSERT(index > 0);
    ASSERT(index < graph->values.len);
    return &graph->values.at[index];
}

static int32_t add_value(Graph *graph, Value value, Arena *keep)
{
    ASSERT(graph->values.len < INT32_MAX);
    *vec_push(&graph->values, keep) = value;
    return (int32_t)graph->values.len - 1;
}

static int32_t add_packed(Graph *graph, ValueKind kind, Str name, const Packing *packings,
                          int32_t iterations, Arena *keep)
{
    return add_value(graph,
                     (Value){.kind = kind,
                             .name = name,
                             .rows = packings[0].rows,
                             .cols = packings[0].cols,
                             .packings = packings,
                             .iterations = iterations},
                     keep);
}

static int32_t add_op(Graph *graph, int32_t region, Op op, Arena *keep)
{
    ASSERT(region >= 0);
    ASSERT(region < graph->regions.len);
    *vec_push(&graph->ops, keep) = op;
    int32_t index = (int32_t)graph->ops.len - 1;
    *vec_push(&graph->regions.at[region], keep) = index;
    return index;
}

/* Appends the operation and its result of the same name; returns the result. */
static int32_t add_result(Graph *graph, int32_t region, Op op, int32_t rows, int32_t cols,
                          Arena *keep)
{
    int32_t index = add_op(graph, region, op, keep);
    int32_t output = add_value(
        graph,
        (Value){
            .kind = VALUE_RESULT, .name = op.name, .rows = rows, .cols = cols, .producer = index},
        keep);
    graph->ops.at[index].output = output;
    return output;
}

static Repeat *repeat_of(Graph *graph, int32_t index)
{
    ASSERT(index > 0);
    ASSERT(index < graph->repeats.len);
    return &graph->repeats.at[index];
}

/* The Repeat operation that owns repeats.at[index]. */
static int32_t repeat_op_of(const Graph *graph, int32_t index)
{
    for (isize i = 1; i < graph->ops.len; i++) {
        if (graph->ops.at[i].kind == OP_REPEAT && graph->ops.at[i].repeat == index) {
            return (int32_t)i;
        }
    }
    ASSERT(false);
    return 0;
}

void graph_create(Graph *graph, Str name, Arena *keep)
{
    *graph = (Graph){.name = name};
    *vec_push(&graph->values, keep) = (Value){0};
    *vec_push(&graph->ops, keep) = (Op){0};
    *vec_push(&graph->repeats, keep) = (Repeat){0};
    *vec_push(&graph->regions, keep) = (RegionOps){0};
}

int32_t graph_add_input(Graph *graph, Str name, const Packing *packing, Arena *keep)
{
    return add_packed(graph, VALUE_INPUT, name, packing, 0, keep);
}

int32_t graph_add_parameter(Graph *graph, Str name, const Packing *packing, Arena *keep)
{
    return add_packed(graph, VALUE_PARAMETER, name, packing, 0, keep);
}

int32_t graph_add_gemm(Graph *graph, int32_t region, Str name, int32_t a, int32_t weight,
                       int32_t bias, Arena *keep)
{
    int32_t rows = value_of(graph, a)->rows, cols = value_of(graph, weight)->cols;
    Op op = {.kind = OP_GEMM, .name = name, .input = {a, weight, bias}};
    return add_result(graph, region, op, rows, cols, keep);
}

int32_t graph_add_add(Graph *graph, int32_t region, Str name, int32_t a, int32_t b, Arena *keep)
{
    int32_t rows = value_of(graph, a)->rows, cols = value_of(graph, a)->cols;
    Op op = {.kind = OP_ADD, .name = name, .input = {a, b}};
    return add_result(graph, region, op, rows, cols, keep);
}

int32_t graph_add_gelu(Graph *graph, int32_t region, Str name, int32_t x, Arena *keep)
{
    int32_t rows = value_of(graph, x)->rows, cols = value_of(graph, x)->cols;
    Op op = {.kind = OP_GELU, .name = name, .input = {x}};
    return add_result(graph, region, op, rows, cols, keep);
}

int32_t graph_add_layernorm(Graph *graph, int32_t region, Str name, int32_t x, int32_t gamma,
                            int32_t beta, double eps, Arena *keep)
{
    int32_t rows = value_of(graph, x)->rows, cols = value_of(graph, x)->cols;
    Op op = {.kind = OP_LAYERNORM, .name = name, .input = {x, gamma, beta}, .eps = eps};
    return add_result(graph, region, op, rows, cols, keep);
}

int32_t graph_add_attention(Graph *graph, int32_t region, Str name, int32_t q, int32_t k, int32_t v,
                            int32_t heads, double scale, Arena *keep)
{
    int32_t rows = value_of(graph, q)->rows, cols = value_of(graph, v)->cols;
    Op op = {
        .kind = OP_ATTENTION, .name = name, .input = {q, k, v}, .scale = scale, .heads = heads};
    return add_result(graph, region, op, rows, cols, keep);
}

int32_t graph_add_slice(Graph *graph, int32_t region, Str name, int32_t x, int32_t begin,
                        int32_t end, Arena *keep)
{
    Op op = {.kind = OP_SLICE, .name = name, .input = {x}, .begin = begin, .end = end};
    return add_result(graph, region, op, value_of(graph, x)->rows, end - begin, keep);
}

int32_t graph_begin_repeat(Graph *graph, Str name, int32_t count, int32_t initial,
                           int32_t *argument, Arena *keep)
{
    *vec_push(&graph->regions, keep) = (RegionOps){0};
    int32_t body = (int32_t)graph->regions.len - 1;
    *vec_push(&graph->repeats, keep) = (Repeat){0};
    int32_t index = (int32_t)graph->repeats.len - 1;
    int32_t op = add_op(
        graph, 0, (Op){.kind = OP_REPEAT, .name = name, .input = {initial}, .repeat = index}, keep);
    Value state = *value_of(graph, initial);
    *argument = add_value(graph,
                          (Value){.kind = VALUE_ARGUMENT,
                                  .name = str_format(keep, "%.*s.state", STR_ARG(name)),
                                  .rows = state.rows,
                                  .cols = state.cols,
                                  .producer = op},
                          keep);
    Repeat *repeat = repeat_of(graph, index);
    repeat->count = count;
    repeat->body = body;
    repeat->carried_count = 1;
    repeat->carried[0] = initial;
    repeat->carried_argument[0] = *argument;
    return index;
}

int32_t graph_add_sequence(Graph *graph, int32_t repeat, Str name, const Packing *packings,
                           Arena *keep)
{
    Repeat *loop = repeat_of(graph, repeat);
    ASSERT(loop->sequence_count < (int32_t)(sizeof loop->sequence / sizeof loop->sequence[0]));
    int32_t sequence = add_packed(graph, VALUE_SEQUENCE, name, packings, loop->count, keep);
    int32_t argument = add_value(graph,
                                 (Value){.kind = VALUE_ARGUMENT,
                                         .name = str_format(keep, "%.*s[i]", STR_ARG(name)),
                                         .rows = packings[0].rows,
                                         .cols = packings[0].cols,
                                         .producer = repeat_op_of(graph, repeat)},
                                 keep);
    loop->sequence[loop->sequence_count] = sequence;
    loop->sequence_argument[loop->sequence_count] = argument;
    loop->sequence_count++;
    return argument;
}

int32_t graph_end_repeat(Graph *graph, int32_t repeat, int32_t yield, Arena *keep)
{
    Repeat *loop = repeat_of(graph, repeat);
    ASSERT(loop->result[0] == 0);
    int32_t op = repeat_op_of(graph, repeat);
    Value state = *value_of(graph, yield);
    int32_t result = add_value(graph,
                               (Value){.kind = VALUE_RESULT,
                                       .name = graph->ops.at[op].name,
                                       .rows = state.rows,
                                       .cols = state.cols,
                                       .producer = op},
                               keep);
    loop->yield[0] = yield;
    loop->result[0] = result;
    graph->ops.at[op].output = result;
    return result;
}

void graph_set_output(Graph *graph, int32_t value)
{
    value_of(graph, value)->is_output = true;
}

int64_t graph_parameter_elems(const Graph *graph)
{
    int64_t elems = 0;
    for (isize i = 1; i < graph->values.len; i++) {
        const Value *value = &graph->values.at[i];
        bool is_sequence = value->kind == VALUE_SEQUENCE;
        if (value->kind != VALUE_PARAMETER && !is_sequence) {
            continue;
        }
        for (int32_t k = 0; k < (is_sequence ? value->iterations : 1); k++) {
            const PackPartSpan parts = value->packings[k].parts;
            for (isize p = 0; p < parts.len; p++) {
                elems += pack_axis_extent(&parts.at[p].rows) * pack_axis_extent(&parts.at[p].cols);
            }
        }
    }
    return elems;
}
