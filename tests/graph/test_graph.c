/* Builder and graph_check: shapes, arity, Repeat rules (compiler-design.md 2.1 to 2.3). */
#include "graph/sample.h"
#include "test.h"

static Arena keep, empty; /* `empty` resets `keep` */
static Sample sample;
static Error err;

static Graph *fresh(void)
{
    keep = empty;
    sample_build(&sample, &keep);
    return &sample.graph;
}

static int32_t parameter(int32_t rows, int32_t cols)
{
    return sample_parameter(&sample.graph, S("p"), rows, cols, &keep);
}

static void builds_and_counts(void)
{
    Graph *g = fresh();
    CHECK_OK(graph_check(g, &err), err);
    int64_t expected =
        7 * 6 + 6 + 5 * 6 + 2 * (6 + 6 + 6 * 18 + 18 + 6 * 9 + 9 + 9 * 6 + 6) + 6 * 6 + 6;
    CHECK_EQ_INT(graph_parameter_elems(g), expected);
    CHECK_EQ_INT(g->values.at[sample.pooled].rows, SAMPLE_ROWS);
    CHECK_EQ_INT(g->values.at[sample.pooled].cols, SAMPLE_WIDTH);
    const Value *result = &g->values.at[sample.result];
    CHECK_STR(result->name, S("layers"));
    CHECK_EQ_INT(g->ops.at[result->producer].kind, OP_REPEAT);
    CHECK_EQ_INT(g->values.at[sample.state].producer, result->producer);
}

static void refuses_shapes(void)
{
    Graph *g = fresh();
    graph_add_gemm(g, 0, S("bad"), sample.tokens, parameter(5, 6), 0, &keep);
    CHECK_ERROR(graph_check(g, &err), err, ERROR_INPUT, "columns of A must equal rows");
    CHECK(strstr(err.message, "[5, 6] [5, 6]") != NULL);
    CHECK(strstr(err.where, "gemm \"bad\"") != NULL);

    g = fresh();
    graph_add_gemm(g, 0, S("bad"), sample.tokens, parameter(6, 4), parameter(1, 5), &keep);
    CHECK_ERROR(graph_check(g, &err), err, ERROR_INPUT, "the bias must be one row");
    g = fresh();
    graph_add_gemm(g, 0, S("bad"), sample.tokens, parameter(6, 4), parameter(4, 4), &keep);
    CHECK_ERROR(graph_check(g, &err), err, ERROR_INPUT, "the bias must be one row");
    g = fresh();
    graph_add_gemm(g, 0, S("bad"), parameter(5, 5), sample.tokens, 0, &keep);
    CHECK_ERROR(graph_check(g, &err), err, ERROR_INPUT, "must be parameters");
    g = fresh();
    graph_add_add(g, 0, S("bad"), sample.tokens, parameter(1, 6), &keep);
    CHECK_ERROR(graph_check(g, &err), err, ERROR_INPUT, "both inputs must have one shape");
    g = fresh();
    graph_add_layernorm(g, 0, S("bad"), sample.tokens, parameter(1, 6), parameter(1, 5), 1e-6,
                        &keep);
    CHECK_ERROR(graph_check(g, &err), err, ERROR_INPUT, "gamma and beta must be one row");
    g = fresh();
    graph_add_layernorm(g, 0, S("bad"), sample.tokens, parameter(1, 6), parameter(1, 6), 0.0,
                        &keep);
    CHECK_ERROR(graph_check(g, &err), err, ERROR_INPUT, "eps");
    g = fresh();
    graph_add_attention(g, 0, S("bad"), sample.tokens, sample.tokens, parameter(4, 6), 2, 1.0,
                        &keep);
    CHECK_ERROR(graph_check(g, &err), err, ERROR_INPUT, "K and V in rows");
    g = fresh();
    graph_add_attention(g, 0, S("bad"), sample.tokens, sample.tokens, sample.tokens, 4, 1.0, &keep);
    CHECK_ERROR(graph_check(g, &err), err, ERROR_INPUT, "the heads must divide");
    g = fresh();
    graph_add_slice(g, 0, S("bad"), sample.tokens, 2, 7, &keep);
    CHECK_ERROR(graph_check(g, &err), err, ERROR_INPUT, "non-empty range");
    g = fresh();
    g->values.at[sample.pooled].cols = 5;
    CHECK_ERROR(graph_check(g, &err), err, ERROR_INPUT, "does not follow");
}

static void refuses_arity_and_order(void)
{
    Graph *g = fresh();
    int32_t out = graph_add_gelu(g, 0, S("bad"), sample.tokens, &keep);
    Op *op = &g->ops.at[g->values.at[out].producer];
    op->input[0] = 0;
    CHECK_ERROR(graph_check(g, &err), err, ERROR_INPUT, "an input is missing");
    op->input[0] = sample.tokens;
    op->input[1] = sample.tokens;
    CHECK_ERROR(graph_check(g, &err), err, ERROR_INPUT, "too many inputs");
    op->input[1] = 0;
    op->input[0] = 30000;
    CHECK_ERROR(graph_check(g, &err), err, ERROR_INPUT, "an input is no value");
    op->input[0] = out;
    CHECK_ERROR(graph_check(g, &err), err, ERROR_INPUT, "not defined before");
    op->input[0] = sample.yield; /* only yields escape, and only as results of the loop */
    CHECK_ERROR(graph_check(g, &err), err, ERROR_INPUT, "only inside a loop");
    op->input[0] = sample.tokens;
    err = (Error){0};
    CHECK_OK(graph_check(g, &err), err);

    g = fresh();
    RegionOps *main_ops = &g->regions.at[0];
    int32_t first = main_ops->at[0];
    main_ops->at[0] = main_ops->at[1];
    main_ops->at[1] = first;
    CHECK_ERROR(graph_check(g, &err), err, ERROR_INPUT, "not defined before");
    main_ops->at[1] = main_ops->at[0];
    CHECK(!graph_check(g, &err));

    g = fresh();
    g->values.at[sample.pooled].is_output = false;
    CHECK_ERROR(graph_check(g, &err), err, ERROR_INPUT, "no output");
}

static void refuses_repeats(void)
{
    Graph *g = fresh();
    Repeat *loop = &g->repeats.at[sample.repeat];
    loop->yield[0] = sample.state;
    CHECK_ERROR(graph_check(g, &err), err, ERROR_INPUT,
                "a yield must be a result of the loop body");
    loop->yield[0] = loop->sequence_argument[0];
    CHECK_ERROR(graph_check(g, &err), err, ERROR_INPUT,
                "a yield must be a result of the loop body");
    loop->yield[0] = sample.tokens;
    CHECK_ERROR(graph_check(g, &err), err, ERROR_INPUT,
                "a yield must be a result of the loop body");
    loop->yield[0] = g->ops.at[g->regions.at[loop->body].at[1]].output; /* qkv: 18 columns */
    CHECK_ERROR(graph_check(g, &err), err, ERROR_INPUT, "another shape");

    g = fresh();
    loop = &g->repeats.at[sample.repeat];
    g->values.at[loop->sequence[3]].iterations = SAMPLE_LAYERS - 1;
    CHECK_ERROR(graph_check(g, &err), err, ERROR_INPUT, "has 1 members, the loop runs 2 times");

    g = fresh();
    loop = &g->repeats.at[sample.repeat];
    loop->carried_count = 2;
    CHECK(!graph_check(g, &err));
    g = fresh();
    loop = &g->repeats.at[sample.repeat];
    loop->sequence[1] = loop->sequence[0];
    CHECK_ERROR(graph_check(g, &err), err, ERROR_INPUT, "one loop only");
    g = fresh();
    loop = &g->repeats.at[sample.repeat];
    g->values.at[loop->sequence_argument[0]].cols = 5;
    CHECK_ERROR(graph_check(g, &err), err, ERROR_INPUT, "another shape than its source");

    /* A body that reads a value of the enclosing region, or a sequence as a whole. */
    g = fresh();
    loop = &g->repeats.at[sample.repeat];
    Op *op = &g->ops.at[g->regions.at[loop->body].at[0]];
    op->input[0] = sample.tokens;
    CHECK_ERROR(graph_check(g, &err), err, ERROR_INPUT, "a body reads only its arguments");
    op->input[0] = sample.state;
    op->input[1] = loop->sequence[0];
    CHECK_ERROR(graph_check(g, &err), err, ERROR_INPUT, "a body reads only its arguments");

    /* A parameter as initial state: its storage would be overwritten. */
    g = fresh();
    int32_t start = parameter(SAMPLE_ROWS, SAMPLE_WIDTH);
    g->repeats.at[sample.repeat].carried[0] = start;
    g->ops.at[g->values.at[sample.result].producer].input[0] = start;
    CHECK_ERROR(graph_check(g, &err), err, ERROR_INPUT, "must not be a parameter");
}

static void refuses_packings(void)
{
    Graph *g = fresh();
    Packing *packing = sample_packing(S("w"), 6, 6, &keep);
    graph_add_parameter(g, S("w"), packing, &keep);
    CHECK_OK(graph_check(g, &err), err);
    packing->parts.at[0].col_end = 5;
    CHECK_ERROR(graph_check(g, &err), err, ERROR_INPUT, "without gaps");
    packing->parts.at[0].cols = pack_axis_simple(5, 1);
    CHECK_ERROR(graph_check(g, &err), err, ERROR_INPUT, "without gaps");
    packing->parts.at[0].col_end = 6;
    packing->parts.at[0].cols = (PackAxis){1, {6}, {1}, 6, 8};
    CHECK_ERROR(graph_check(g, &err), err, ERROR_INPUT, "padding");
}

static void starts(void)
{
    empty = arena_create(16 << 20);
}

TEST_MAIN(starts, builds_and_counts, refuses_shapes, refuses_arity_and_order, refuses_repeats,
          refuses_packings)
