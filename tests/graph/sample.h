/* A small graph with every operation, for the tests of this room: one two-iteration loop between an embedding
 * and a pooled output. Widths are small and all different where the rules allow it. */
#pragma once
#include "graph/graph.h"

enum { SAMPLE_ROWS = 5, SAMPLE_IN = 7, SAMPLE_WIDTH = 6, SAMPLE_UP = 9, SAMPLE_LAYERS = 2 };

/* rows x cols straight out of one tensor. */
static inline Packing *sample_packing(Str tensor, int32_t rows, int32_t cols, Arena *keep)
{
    Packing *packing = arena_new(keep, Packing);
    PackPart *part = arena_new(keep, PackPart);
    *part = (PackPart){.tensor = tensor,
                       .col_end = cols,
                       .rows = pack_axis_simple(rows, cols),
                       .cols = pack_axis_simple(cols, 1)};
    *packing = (Packing){.rows = rows, .cols = cols, .parts = {part, 1}};
    return packing;
}

static inline int32_t sample_parameter(Graph *graph, Str name, int32_t rows, int32_t cols,
                                       Arena *keep)
{
    return graph_add_parameter(graph, name, sample_packing(name, rows, cols, keep), keep);
}

static inline Packing *sample_packings(Str name, int32_t rows, int32_t cols, Arena *keep)
{
    Packing *packings = arena_array(keep, Packing, SAMPLE_LAYERS);
    for (int i = 0; i < SAMPLE_LAYERS; i++) {
        packings[i] =
            *sample_packing(str_format(keep, "%.*s.%d", STR_ARG(name), i), rows, cols, keep);
    }
    return packings;
}

static inline int32_t sample_sequence(Graph *graph, int32_t repeat, Str name, int32_t rows,
                                      int32_t cols, Arena *keep)
{
    return graph_add_sequence(graph, repeat, name, sample_packings(name, rows, cols, keep), keep);
}

typedef struct Sample {
    Graph graph;
    int32_t tokens, state, yield, repeat, result, pooled;
} Sample;

/* Elements: 7*6 + 6 + 5*6 + 2 * (6 + 6 + 6*18 + 18 + 6*9 + 9 + 9*6 + 6) + 6*6 + 6 */
static inline void sample_build(Sample *sample, Arena *keep)
{
    Graph *g = &sample->graph;
    const int32_t width = SAMPLE_WIDTH;
    graph_create(g, S("sample \"quoted\""), keep);
    Packing *image = sample_packing(S("image"), SAMPLE_ROWS, SAMPLE_IN, keep);
    int32_t x = graph_add_input(g, S("patches"), image, keep);
    int32_t weight = sample_parameter(g, S("embedding.weight"), SAMPLE_IN, width, keep);
    int32_t bias = sample_parameter(g, S("embedding.bias"), 1, width, keep);
    int32_t position = sample_parameter(g, S("position"), SAMPLE_ROWS, width, keep);
    x = graph_add_gemm(g, 0, S("embedding"), x, weight, bias, keep);
    sample->tokens = graph_add_add(g, 0, S("tokens"), x, position, keep);

    int32_t loop =
        graph_begin_repeat(g, S("layers"), SAMPLE_LAYERS, sample->tokens, &sample->state, keep);
    int32_t body = g->repeats.at[loop].body;
    int32_t gamma = sample_sequence(g, loop, S("gamma"), 1, width, keep);
    int32_t beta = sample_sequence(g, loop, S("beta"), 1, width, keep);
    int32_t qkv_weight = sample_sequence(g, loop, S("qkv.weight"), width, 3 * width, keep);
    int32_t qkv_bias = sample_sequence(g, loop, S("qkv.bias"), 1, 3 * width, keep);
    int32_t up_weight = sample_sequence(g, loop, S("up.weight"), width, SAMPLE_UP, keep);
    int32_t up_bias = sample_sequence(g, loop, S("up.bias"), 1, SAMPLE_UP, keep);
    int32_t down_weight = sample_sequence(g, loop, S("down.weight"), SAMPLE_UP, width, keep);
    int32_t down_bias = sample_sequence(g, loop, S("down.bias"), 1, width, keep);
    int32_t n = graph_add_layernorm(g, body, S("norm"), sample->state, gamma, beta, 1e-6, keep);
    int32_t qkv = graph_add_gemm(g, body, S("qkv"), n, qkv_weight, qkv_bias, keep);
    int32_t q = graph_add_slice(g, body, S("q"), qkv, 0, width, keep);
    int32_t k = graph_add_slice(g, body, S("k"), qkv, width, 2 * width, keep);
    int32_t v = graph_add_slice(g, body, S("v"), qkv, 2 * width, 3 * width, keep);
    int32_t a =
        graph_add_attention(g, body, S("attention"), q, k, v, 2, 0.577350269189625731, keep);
    int32_t u = graph_add_gemm(g, body, S("up"), a, up_weight, up_bias, keep);
    u = graph_add_gelu(g, body, S("gelu"), u, keep);
    u = graph_add_gemm(g, body, S("down"), u, down_weight, down_bias, keep);
    sample->yield = graph_add_add(g, body, S("residual"), sample->state, u, keep);
    sample->repeat = loop;
    sample->result = graph_end_repeat(g, loop, sample->yield, keep);

    int32_t head = sample_parameter(g, S("head.weight"), width, width, keep);
    int32_t head_bias = sample_parameter(g, S("head.bias"), 1, width, keep);
    sample->pooled = graph_add_gemm(g, 0, S("head"), sample->result, head, head_bias, keep);
    graph_set_output(g, sample->pooled);
}
