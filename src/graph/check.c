/* Is this a graph? Written from the rules (compiler-design.md 2.1, 2.2; ops.def), not from the builder: a
 * parsed or hand-made graph passes through here too, so no index is trusted before it was looked at.
 *
 * What may be read where: operations of the main region read inputs, parameters and earlier results of the
 * main region; operations of a body read its arguments and earlier results of the body, nothing else.
 */
#include "graph/graph.h"
#include <math.h>
#include <stdio.h>

/* Besides region numbers: not yet defined; a sequence, which only its loop reads. */
enum { REGION_OUTSIDE = -1, REGION_HIDDEN = -2, EXTENT_MAX = 1 << 24 };

typedef struct OpRule {
    const char *text;
    int inputs_min, inputs_max;
} OpRule;

static const OpRule rules[OP_COUNT] = {
#define OP(name, text, inputs_min, inputs_max) [OP_##name] = {text, inputs_min, inputs_max},
#include "graph/ops.def"
#undef OP
};

typedef struct GraphCheck {
    const Graph *graph;
    int32_t *defined_in; /* per value: region in which it may be read now, or REGION_OUTSIDE */
    bool *is_weight;     /* per value: parameter or member of a sequence */
    bool *is_listed;     /* per op: appears in a region */
    Error *err;
} GraphCheck;

static bool fail_value(const GraphCheck *check, int32_t index, const char *what)
{
    const Value *value = &check->graph->values.at[index];
    char where[200];
    (void)snprintf(where, sizeof where, "value %d \"%.*s\"", index, STR_ARG(value->name));
    return error_set(check->err, ERROR_INPUT, where, "%s", what);
}

/* Names the operation and the shapes of its inputs. */
static bool fail_op(const GraphCheck *check, int32_t index, const char *what)
{
    const Op *op = &check->graph->ops.at[index];
    char where[240], shapes[160] = "";
    int used = 0;
    for (int i = 0; i < OP_INPUTS_MAX; i++) {
        int32_t input = op->input[i];
        if (input > 0 && input < check->graph->values.len && used < (int)sizeof shapes - 40) {
            const Value *value = &check->graph->values.at[input];
            used += snprintf(shapes + used, sizeof shapes - (size_t)used, "%s[%d, %d]",
                             used > 0 ? " " : "", value->rows, value->cols);
        }
    }
    const char *kind = op->kind > OP_NONE && op->kind < OP_COUNT ? rules[op->kind].text : "?";
    (void)snprintf(where, sizeof where, "op %d %s \"%.*s\"", index, kind, STR_ARG(op->name));
    return error_set(check->err, ERROR_INPUT, where, "%s; inputs %s", what, shapes);
}

static bool check_packings(const GraphCheck *check, int32_t index)
{
    const Value *value = &check->graph->values.at[index];
    int32_t count = value->kind == VALUE_SEQUENCE ? value->iterations : 1;
    if (count < 1 || value->packings == NULL) {
        return fail_value(check, index, "has no packing");
    }
    for (int32_t k = 0; k < count; k++) {
        const Packing *packing = &value->packings[k];
        if (packing->rows != value->rows || packing->cols != value->cols) {
            return fail_value(check, index, "its packings differ in shape");
        }
        if (!packing_check(packing, check->err)) {
            return error_context(check->err, "value %d \"%.*s\"", index, STR_ARG(value->name));
        }
        int32_t end = 0;
        for (isize p = 0; p < packing->parts.len; p++) {
            const PackPart *part = &packing->parts.at[p];
            if (part->rows.group_padded != 0 || part->cols.group_padded != 0 ||
                pack_axis_extent(&part->rows) != packing->rows ||
                pack_axis_extent(&part->cols) != part->col_end - part->col_begin ||
                part->col_begin != end) {
                return fail_value(check, index,
                                  "its packing must cover the matrix without gaps or padding");
            }
            end = part->col_end;
        }
        if (end != packing->cols) {
            return fail_value(check, index,
                              "its packing must cover the matrix without gaps or padding");
        }
    }
    return true;
}

static bool check_values(const GraphCheck *check)
{
    const Graph *graph = check->graph;
    int outputs = 0;
    for (int32_t i = 1; i < graph->values.len; i++) {
        const Value *value = &graph->values.at[i];
        if (value->rows < 1 || value->cols < 1 || value->rows > EXTENT_MAX ||
            value->cols > EXTENT_MAX) {
            return fail_value(check, i, "rows and columns must be within 1..2^24");
        }
        switch (value->kind) {
        case VALUE_INPUT:
        case VALUE_PARAMETER:
        case VALUE_SEQUENCE:
            if (!check_packings(check, i)) {
                return false;
            }
            break;
        case VALUE_RESULT:
        case VALUE_ARGUMENT:
            if (value->producer < 1 || value->producer >= graph->ops.len) {
                return fail_value(check, i, "its producer is no operation");
            }
            break;
        default:
            return fail_value(check, i, "unknown kind of value");
        }
        if (value->kind == VALUE_INPUT || value->kind == VALUE_PARAMETER) {
            check->defined_in[i] = 0;
        }
        check->is_weight[i] = value->kind == VALUE_PARAMETER;
        if (value->is_output) {
            outputs++;
            if (value->kind != VALUE_RESULT) {
                return fail_value(check, i, "an output must be the result of an operation");
            }
        }
    }
    if (outputs == 0) {
        return error_set(check->err, ERROR_INPUT, NULL, "graph \"%.*s\" has no output",
                         STR_ARG(graph->name));
    }
    return true;
}

static bool check_inputs(const GraphCheck *check, int32_t region, int32_t index)
{
    const Graph *graph = check->graph;
    const Op *op = &graph->ops.at[index];
    for (int i = 0; i < OP_INPUTS_MAX; i++) {
        int32_t input = op->input[i];
        if (input == 0) {
            if (i < rules[op->kind].inputs_min) {
                return fail_op(check, index, "an input is missing");
            }
            continue;
        }
        if (i >= rules[op->kind].inputs_max) {
            return fail_op(check, index, "too many inputs");
        }
        if (input < 0 || input >= graph->values.len) {
            return fail_op(check, index, "an input is no value");
        }
        if (check->defined_in[input] != region) {
            return fail_op(check, index,
                           region == 0 ? "an input is not defined before it, or only inside a loop"
                                       : "an input is not defined before it in the loop body; a "
                                         "body reads only its arguments and its own results");
        }
    }
    return true;
}

static bool is_row_of(const GraphCheck *check, int32_t value, int32_t cols)
{
    const Value *row = &check->graph->values.at[value];
    return row->rows == 1 && row->cols == cols;
}

/* Shape rules of ops.def. On success the expected shape of the result is set. */
static bool check_shape(const GraphCheck *check, int32_t index, int32_t *rows, int32_t *cols)
{
    const Op *op = &check->graph->ops.at[index];
    const Value *values = check->graph->values.at;
    const Value *a = &values[op->input[0]], *b = &values[op->input[1]], *c = &values[op->input[2]];
    *rows = a->rows;
    *cols = a->cols;
    switch (op->kind) {
    case OP_GEMM:
        *cols = b->cols;
        if (!check->is_weight[op->input[1]] ||
            (op->input[2] != 0 && !check->is_weight[op->input[2]])) {
            return fail_op(check, index, "weight and bias must be parameters");
        }
        if (a->cols != b->rows) {
            return fail_op(check, index, "columns of A must equal rows of the weight");
        }
        if (op->input[2] != 0 && !is_row_of(check, op->input[2], b->cols)) {
            return fail_op(check, index, "the bias must be one row as wide as the weight");
        }
        return true;
    case OP_ADD:
        if (a->rows != b->rows || a->cols != b->cols) {
            return fail_op(check, index, "both inputs must have one shape");
        }
        return true;
    case OP_GELU:
        return true;
    case OP_LAYERNORM:
        if (!check->is_weight[op->input[1]] || !check->is_weight[op->input[2]]) {
            return fail_op(check, index, "gamma and beta must be parameters");
        }
        if (!is_row_of(check, op->input[1], a->cols) || !is_row_of(check, op->input[2], a->cols)) {
            return fail_op(check, index, "gamma and beta must be one row as wide as the input");
        }
        if (!(op->eps > 0.0 && op->eps < 1.0)) {
            return fail_op(check, index, "eps must be within (0, 1)");
        }
        return true;
    case OP_ATTENTION:
        if (b->rows != c->rows || b->cols != a->cols || c->cols != a->cols) {
            return fail_op(check, index, "Q, K and V must agree in width, K and V in rows");
        }
        if (op->heads < 1 || a->cols % op->heads != 0) {
            return fail_op(check, index, "the heads must divide the width");
        }
        if (!(op->scale > 0.0 && isfinite(op->scale))) {
            return fail_op(check, index, "scale must be positive");
        }
        return true;
    case OP_SLICE:
        *cols = op->end - op->begin;
        if (op->begin < 0 || op->begin >= op->end || op->end > a->cols) {
            return fail_op(check, index, "the slice must be a non-empty range of columns");
        }
        return true;
    default:
        return fail_op(check, index, "unknown operation");
    }
}

/* Marks value `index` as readable in `region`; each result has one producer. */
static bool define(const GraphCheck *check, int32_t op, int32_t index, int32_t region, int32_t rows,
                   int32_t cols)
{
    if (index < 1 || index >= check->graph->values.len) {
        return fail_op(check, op, "its result is no value");
    }
    const Value *value = &check->graph->values.at[index];
    if (value->kind != VALUE_RESULT || value->producer != op ||
        check->defined_in[index] != REGION_OUTSIDE) {
        return fail_op(check, op, "its result belongs to another operation");
    }
    if (value->rows != rows || value->cols != cols) {
        return fail_op(check, op, "the shape of its result does not follow from its inputs");
    }
    check->defined_in[index] = region;
    return true;
}

static bool check_ops(const GraphCheck *check, int32_t region);

/* An argument of a body: right kind and shape, used once. */
static bool define_argument(const GraphCheck *check, int32_t op, int32_t index, int32_t source,
                            int32_t body)
{
    if (index < 1 || index >= check->graph->values.len) {
        return fail_op(check, op, "an argument of its body is no value");
    }
    const Value *value = &check->graph->values.at[index], *of = &check->graph->values.at[source];
    if (value->kind != VALUE_ARGUMENT || value->producer != op ||
        check->defined_in[index] != REGION_OUTSIDE) {
        return fail_op(check, op, "an argument of its body belongs to another operation");
    }
    if (value->rows != of->rows || value->cols != of->cols) {
        return fail_op(check, op, "an argument of its body has another shape than its source");
    }
    check->defined_in[index] = body;
    check->is_weight[index] = of->kind == VALUE_SEQUENCE;
    return true;
}

static bool check_sequence(const GraphCheck *check, int32_t index, const Repeat *repeat, int k)
{
    const Graph *graph = check->graph;
    int32_t sequence = repeat->sequence[k];
    if (sequence < 1 || sequence >= graph->values.len ||
        graph->values.at[sequence].kind != VALUE_SEQUENCE) {
        return fail_op(check, index, "one of its sequences is no sequence");
    }
    if (check->defined_in[sequence] != REGION_OUTSIDE) {
        return fail_value(check, sequence, "a sequence belongs to one loop only");
    }
    check->defined_in[sequence] = REGION_HIDDEN;
    if (graph->values.at[sequence].iterations != repeat->count) {
        char what[120];
        (void)snprintf(what, sizeof what, "the sequence has %d members, the loop runs %d times",
                       graph->values.at[sequence].iterations, repeat->count);
        return fail_value(check, sequence, what);
    }
    return define_argument(check, index, repeat->sequence_argument[k], sequence, repeat->body);
}

static bool check_yield(const GraphCheck *check, int32_t index, const Repeat *repeat, int k)
{
    const Graph *graph = check->graph;
    int32_t yield = repeat->yield[k];
    if (yield < 1 || yield >= graph->values.len) {
        return fail_op(check, index, "a yield is missing");
    }
    const Value *value = &graph->values.at[yield], *state = &graph->values.at[repeat->carried[k]];
    if (value->kind != VALUE_RESULT || check->defined_in[yield] != repeat->body) {
        return fail_op(check, index,
                       "a yield must be a result of the loop body, not an argument or an outer "
                       "value");
    }
    if (value->rows != state->rows || value->cols != state->cols) {
        return fail_op(check, index, "a yield has another shape than the carried value");
    }
    return true;
}

/* Rules of compiler-design.md 2.2. */
static bool check_repeat(const GraphCheck *check, int32_t region, int32_t index)
{
    const Graph *graph = check->graph;
    const Op *op = &graph->ops.at[index];
    if (region != 0) {
        return fail_op(check, index, "loops do not nest");
    }
    if (op->repeat < 1 || op->repeat >= graph->repeats.len) {
        return fail_op(check, index, "its loop record does not exist");
    }
    const Repeat *repeat = &graph->repeats.at[op->repeat];
    const int carried_max = (int)(sizeof repeat->carried / sizeof repeat->carried[0]);
    const int sequences_max = (int)(sizeof repeat->sequence / sizeof repeat->sequence[0]);
    if (repeat->count < 1 || repeat->body < 1 || repeat->body >= graph->regions.len ||
        repeat->carried_count < 1 || repeat->carried_count > carried_max ||
        repeat->sequence_count < 0 || repeat->sequence_count > sequences_max) {
        return fail_op(check, index, "its count, body or number of arguments is out of range");
    }
    for (int k = 0; k < repeat->carried_count; k++) {
        int32_t carried = repeat->carried[k];
        if (carried < 1 || carried >= graph->values.len || check->defined_in[carried] != 0) {
            return fail_op(check, index, "a carried value is not defined before the loop");
        }
        if (carried != op->input[k]) {
            return fail_op(check, index, "its inputs are not its carried values");
        }
        if (graph->values.at[carried].kind == VALUE_PARAMETER) {
            return fail_op(check, index,
                           "carried storage is written, so the initial value must "
                           "not be a parameter");
        }
        if (!define_argument(check, index, repeat->carried_argument[k], carried, repeat->body)) {
            return false;
        }
    }
    for (int k = 0; k < repeat->sequence_count; k++) {
        if (!check_sequence(check, index, repeat, k)) {
            return false;
        }
    }
    if (!check_ops(check, repeat->body)) {
        return false;
    }
    for (int k = 0; k < repeat->carried_count; k++) {
        const Value *state = &graph->values.at[repeat->carried[k]];
        if (!check_yield(check, index, repeat, k) ||
            !define(check, index, repeat->result[k], 0, state->rows, state->cols)) {
            return false;
        }
        if (repeat->result[k] != op->output + k) {
            return fail_op(check, index, "the results of a loop must be contiguous");
        }
    }
    return true;
}

static bool check_ops(const GraphCheck *check, int32_t region)
{
    const Graph *graph = check->graph;
    const RegionOps *list = &graph->regions.at[region];
    for (isize i = 0; i < list->len; i++) {
        int32_t index = list->at[i];
        if (index < 1 || index >= graph->ops.len || check->is_listed[index]) {
            return error_set(
                check->err, ERROR_INPUT, NULL,
                "region %d lists operation %d, which does not exist or is listed twice", region,
                index);
        }
        check->is_listed[index] = true;
        const Op *op = &graph->ops.at[index];
        if (op->kind <= OP_NONE || op->kind >= OP_COUNT) {
            return fail_op(check, index, "unknown operation");
        }
        if (!check_inputs(check, region, index)) {
            return false;
        }
        if (op->kind == OP_REPEAT) {
            if (!check_repeat(check, region, index)) {
                return false;
            }
            continue;
        }
        int32_t rows, cols;
        if (!check_shape(check, index, &rows, &cols) ||
            !define(check, index, op->output, region, rows, cols)) {
            return false;
        }
    }
    return true;
}

static bool check_all(const GraphCheck *check)
{
    const Graph *graph = check->graph;
    for (int32_t i = 0; i < graph->values.len; i++) {
        check->defined_in[i] = REGION_OUTSIDE;
    }
    if (!check_values(check) || !check_ops(check, 0)) {
        return false;
    }
    for (int32_t i = 1; i < graph->ops.len; i++) {
        if (!check->is_listed[i]) {
            return fail_op(check, i, "is in no region that is reached");
        }
    }
    for (int32_t i = 1; i < graph->values.len; i++) {
        if (check->defined_in[i] == REGION_OUTSIDE) {
            return fail_value(check, i, "is never defined");
        }
        if (graph->values.at[i].is_output && check->defined_in[i] != 0) {
            return fail_value(check, i, "an output must be outside of loops");
        }
    }
    return true;
}

bool graph_check(const Graph *graph, Error *err)
{
    if (graph->values.len < 1 || graph->ops.len < 1 || graph->repeats.len < 1 ||
        graph->regions.len < 1) {
        return error_set(err, ERROR_INPUT, NULL, "graph is empty");
    }
    isize bytes = (isize)sizeof(int32_t) * graph->values.len + graph->values.len + graph->ops.len;
    Arena scratch = arena_create(bytes + 4096);
    GraphCheck check = {.graph = graph,
                        .defined_in = arena_array(&scratch, int32_t, graph->values.len),
                        .is_weight = arena_array(&scratch, bool, graph->values.len),
                        .is_listed = arena_array(&scratch, bool, graph->ops.len),
                        .err = err};
    bool ok = check_all(&check);
    arena_destroy(&scratch);
    return ok;
}
