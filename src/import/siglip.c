/* The SigLIP vision tower as a graph (models.md 1.2 to 1.5), straight from the checkpoint's own tensors.
 *
 * Nothing is rewritten on disk: packings transpose the linear weights, fuse Q, K and V (K and V in the head),
 * permute the patch projection and cut the patches out of the picture. The query projection of the probe stays in
 * the graph; whether it is computed once is a decision of the planner.
 */
#include "import/parts.h"
#include <math.h>

typedef struct TowerBuilder {
    const ModelConfig *config;
    Arena *keep;
    Graph *graph;
    ExpectedVec *expected;
    int32_t repeat; /* loop that parameters go to as sequences; 0: main region */
    int32_t region;
    int32_t layer; /* while the packings of a sequence are made */
} TowerBuilder;

/* --- packings ------------------------------------------------------------------------------------------- */

/* Only the stacked projections of the head are read by more than one parameter, close together. */
static void expect(TowerBuilder *b, Str tensor, Shape shape)
{
    enum { LOOK_BACK = 4 };
    for (isize i = b->expected->len - 1; i >= 0 && i >= b->expected->len - LOOK_BACK; i--) {
        if (str_equal(b->expected->at[i].name, tensor)) {
            return;
        }
    }
    *vec_push(b->expected, b->keep) = (Expected){tensor, shape};
}

static Packing pack_parts(TowerBuilder *b, int32_t rows, int32_t cols, const PackPart *parts,
                          isize count)
{
    PackPart *copy = arena_array(b->keep, PackPart, count);
    for (isize i = 0; i < count; i++) {
        copy[i] = parts[i];
    }
    return (Packing){.rows = rows, .cols = cols, .parts = {copy, count}};
}

/* One row: `count` elements of a vector from `base`, as columns [col, col + count). */
static PackPart row_part(Str tensor, int32_t col, int32_t count, int64_t base)
{
    return (PackPart){.tensor = tensor,
                      .col_begin = col,
                      .col_end = col + count,
                      .base = base,
                      .rows = pack_axis_simple(1, 0),
                      .cols = pack_axis_simple(count, 1)};
}

/* Transpose of rows [row, row + out) of a linear weight [*, in], as columns [col, col + out). */
static PackPart linear_part(Str tensor, int32_t col, int32_t in, int32_t out, int32_t row)
{
    return (PackPart){.tensor = tensor,
                      .col_begin = col,
                      .col_end = col + out,
                      .base = (int64_t)row * in,
                      .rows = pack_axis_simple(in, 1),
                      .cols = pack_axis_simple(out, in)};
}

/* --- parameters ----------------------------------------------------------------------------------------- */

/* How one parameter is packed; a linear one comes from `count` tensors side by side. */
typedef struct Spec {
    const char *tensor[3]; /* behind the prefix */
    int count;
    int32_t in, out;    /* of one projection; in 0: a vector of `out` */
    int32_t first, all; /* of a stacked tensor of `all` rows: the row to begin with; all 0: out */
} Spec;

static Packing pack_spec(TowerBuilder *b, const Spec *spec)
{
    PackPart parts[3];
    int32_t rows_total = spec->all > 0 ? spec->all : spec->out;
    for (int i = 0; i < spec->count; i++) {
        Str tensor = b->repeat > 0 ? str_format(b->keep, "vision_model.encoder.layers.%d.%s",
                                                b->layer, spec->tensor[i])
                                   : str_format(b->keep, "vision_model.%s", spec->tensor[i]);
        expect(b, tensor,
               spec->in > 0 ? shape_of2(rows_total, spec->in) : (Shape){1, {rows_total}});
        int32_t col = i * spec->out;
        parts[i] = spec->in > 0 ? linear_part(tensor, col, spec->in, spec->out, spec->first)
                                : row_part(tensor, col, spec->out, spec->first);
    }
    return pack_parts(b, spec->in > 0 ? spec->in : 1, spec->count * spec->out, parts, spec->count);
}

static int32_t add_spec(TowerBuilder *b, Str name, Spec spec)
{
    if (b->repeat == 0) {
        Packing *packing = arena_new(b->keep, Packing);
        *packing = pack_spec(b, &spec);
        return graph_add_parameter(b->graph, name, packing, b->keep);
    }
    Packing *packings = arena_array(b->keep, Packing, b->config->layers);
    for (b->layer = 0; b->layer < b->config->layers; b->layer++) {
        packings[b->layer] = pack_spec(b, &spec);
    }
    return graph_add_sequence(b->graph, b->repeat, name, packings, b->keep);
}

static Str name_of_part(TowerBuilder *b, Str name, const char *part)
{
    return str_format(b->keep, "%.*s.%s", STR_ARG(name), part);
}

/* --- operations with their parameters ------------------------------------------------------------------- */

static int32_t add_linear(TowerBuilder *b, Str name, int32_t x, Spec weight, Spec bias)
{
    int32_t w = add_spec(b, name_of_part(b, name, "weight"), weight);
    int32_t c = add_spec(b, name_of_part(b, name, "bias"), bias);
    return graph_add_gemm(b->graph, b->region, name, x, w, c, b->keep);
}

/* A plain linear layer `weight`, `bias` of [in] -> [out]. */
static int32_t add_simple(TowerBuilder *b, Str name, int32_t x, const char *weight,
                          const char *bias, int32_t in, int32_t out)
{
    Spec w = {.tensor = {weight}, .count = 1, .in = in, .out = out};
    Spec c = {.tensor = {bias}, .count = 1, .out = out};
    return add_linear(b, name, x, w, c);
}

static int32_t add_norm(TowerBuilder *b, Str name, int32_t x, const char *weight, const char *bias)
{
    int32_t width = b->config->width;
    Spec g = {.tensor = {weight}, .count = 1, .out = width};
    Spec c = {.tensor = {bias}, .count = 1, .out = width};
    int32_t gamma = add_spec(b, name_of_part(b, name, "gamma"), g);
    int32_t beta = add_spec(b, name_of_part(b, name, "beta"), c);
    return graph_add_layernorm(b->graph, b->region, name, x, gamma, beta, b->config->eps, b->keep);
}

static int32_t add_slice(TowerBuilder *b, Str name, int32_t x, int32_t index)
{
    int32_t width = b->config->width;
    return graph_add_slice(b->graph, b->region, name, x, index * width, (index + 1) * width,
                           b->keep);
}

static int32_t add_attention(TowerBuilder *b, Str name, int32_t q, int32_t k, int32_t v)
{
    const ModelConfig *config = b->config;
    double scale = 1.0 / sqrt((double)(config->width / config->heads));
    return graph_add_attention(b->graph, b->region, name, q, k, v, config->heads, scale, b->keep);
}

/* x + down(gelu(up(norm(x)))) */
static int32_t add_mlp(TowerBuilder *b, const char *prefix, int32_t x, int32_t normed, Str residual,
                       const char *const tensors[4])
{
    const ModelConfig *config = b->config;
    int32_t up = add_simple(b, str_format(b->keep, "%s.mlp.up", prefix), normed, tensors[0],
                            tensors[1], config->width, config->mlp_width);
    int32_t act = graph_add_gelu(b->graph, b->region, str_format(b->keep, "%s.mlp.gelu", prefix),
                                 up, b->keep);
    int32_t down = add_simple(b, str_format(b->keep, "%s.mlp.down", prefix), act, tensors[2],
                              tensors[3], config->mlp_width, config->width);
    return graph_add_add(b->graph, b->region, residual, x, down, b->keep);
}

/* --- the tower ------------------------------------------------------------------------------------------ */

/* Patches in row-major order, each as (y, x, channel): models.md 1.5. Pixels beyond the last whole patch are
 * never read. */
static int32_t add_patches(TowerBuilder *b)
{
    int32_t p = b->config->patch, side = b->config->image / p;
    int64_t line = (int64_t)b->config->image * 3;
    PackPart part = {
        .tensor = S("image"),
        .col_end = p * p * 3,
        .rows = {.rank = 2, .size = {side, side}, .stride = {p * line, (int64_t)p * 3}},
        .cols = {.rank = 3, .size = {p, p, 3}, .stride = {line, 3, 1}}};
    Packing *packing = arena_new(b->keep, Packing);
    *packing = pack_parts(b, side * side, p * p * 3, &part, 1);
    return graph_add_input(b->graph, S("patches"), packing, b->keep);
}

static int32_t add_embedding(TowerBuilder *b)
{
    int32_t p = b->config->patch, side = b->config->image / p, width = b->config->width;
    int32_t patches = add_patches(b);
    /* [out, channel, y, x] -> rows (y, x, channel), columns out */
    Str tensor = S("vision_model.embeddings.patch_embedding.weight");
    PackPart part = {.tensor = tensor,
                     .col_end = width,
                     .rows = {.rank = 3, .size = {p, p, 3}, .stride = {p, 1, (int64_t)p * p}},
                     .cols = pack_axis_simple(width, (int64_t)p * p * 3)};
    Packing *packing = arena_new(b->keep, Packing);
    *packing = pack_parts(b, p * p * 3, width, &part, 1);
    expect(b, tensor, (Shape){4, {width, 3, p, p}});
    int32_t weight = graph_add_parameter(b->graph, S("embedding.weight"), packing, b->keep);
    Spec bias = {.tensor = {"embeddings.patch_embedding.bias"}, .count = 1, .out = width};
    int32_t c = add_spec(b, S("embedding.bias"), bias);
    int32_t x = graph_add_gemm(b->graph, 0, S("embedding"), patches, weight, c, b->keep);

    Str positions = S("vision_model.embeddings.position_embedding.weight");
    PackPart table = {.tensor = positions,
                      .col_end = width,
                      .rows = pack_axis_simple(side * side, width),
                      .cols = pack_axis_simple(width, 1)};
    packing = arena_new(b->keep, Packing);
    *packing = pack_parts(b, side * side, width, &table, 1);
    expect(b, positions, shape_of2(side * side, width));
    int32_t position = graph_add_parameter(b->graph, S("position"), packing, b->keep);
    return graph_add_add(b->graph, 0, S("tokens"), x, position, b->keep);
}

static int32_t add_layers(TowerBuilder *b, int32_t x)
{
    static const char *const mlp[4] = {"mlp.fc1.weight", "mlp.fc1.bias", "mlp.fc2.weight",
                                       "mlp.fc2.bias"};
    int32_t width = b->config->width, state;
    b->repeat = graph_begin_repeat(b->graph, S("layers"), b->config->layers, x, &state, b->keep);
    b->region = b->graph->repeats.at[b->repeat].body;
    int32_t n =
        add_norm(b, S("layers.attention_norm"), state, "layer_norm1.weight", "layer_norm1.bias");
    Spec weight = {
        .tensor = {"self_attn.q_proj.weight", "self_attn.k_proj.weight", "self_attn.v_proj.weight"},
        .count = 3,
        .in = width,
        .out = width};
    Spec bias = {
        .tensor = {"self_attn.q_proj.bias", "self_attn.k_proj.bias", "self_attn.v_proj.bias"},
        .count = 3,
        .out = width};
    int32_t qkv = add_linear(b, S("layers.qkv"), n, weight, bias);
    int32_t q = add_slice(b, S("layers.query"), qkv, 0);
    int32_t k = add_slice(b, S("layers.key"), qkv, 1);
    int32_t v = add_slice(b, S("layers.value"), qkv, 2);
    int32_t a = add_attention(b, S("layers.attention"), q, k, v);
    a = add_simple(b, S("layers.attention.output"), a, "self_attn.out_proj.weight",
                   "self_attn.out_proj.bias", width, width);
    x = graph_add_add(b->graph, b->region, S("layers.attention.residual"), state, a, b->keep);
    n = add_norm(b, S("layers.mlp_norm"), x, "layer_norm2.weight", "layer_norm2.bias");
    x = add_mlp(b, "layers", x, n, S("layers.mlp.residual"), mlp);
    x = graph_end_repeat(b->graph, b->repeat, x, b->keep);
    b->repeat = 0;
    b->region = 0;
    return x;
}

/* The residual starts from `u`, behind the output projection, not from the probe (models.md 1.4). */
static int32_t add_head(TowerBuilder *b, int32_t x)
{
    static const char *const mlp[4] = {"head.mlp.fc1.weight", "head.mlp.fc1.bias",
                                       "head.mlp.fc2.weight", "head.mlp.fc2.bias"};
    static const char weight[] = "head.attention.in_proj_weight",
                      bias[] = "head.attention.in_proj_bias";
    int32_t width = b->config->width;
    Str tensor = S("vision_model.head.probe");
    PackPart part = row_part(tensor, 0, width, 0);
    Packing *packing = arena_new(b->keep, Packing);
    *packing = pack_parts(b, 1, width, &part, 1);
    expect(b, tensor, (Shape){3, {1, 1, width}});
    int32_t probe = graph_add_parameter(b->graph, S("head.probe"), packing, b->keep);
    int32_t q = add_linear(
        b, S("head.query"), probe,
        (Spec){.tensor = {weight}, .count = 1, .in = width, .out = width, .all = 3 * width},
        (Spec){.tensor = {bias}, .count = 1, .out = width, .all = 3 * width});
    int32_t kv = add_linear(
        b, S("head.kv"), x,
        (Spec){.tensor = {weight},
               .count = 1,
               .in = width,
               .out = 2 * width,
               .first = width,
               .all = 3 * width},
        (Spec){.tensor = {bias}, .count = 1, .out = 2 * width, .first = width, .all = 3 * width});
    int32_t k = add_slice(b, S("head.key"), kv, 0);
    int32_t v = add_slice(b, S("head.value"), kv, 1);
    int32_t u = add_attention(b, S("head.attention"), q, k, v);
    u = add_simple(b, S("head.attention.output"), u, "head.attention.out_proj.weight",
                   "head.attention.out_proj.bias", width, width);
    int32_t n = add_norm(b, S("head.norm"), u, "head.layernorm.weight", "head.layernorm.bias");
    return add_mlp(b, "head", u, n, S("pooler_output"), mlp);
}

/* classifier.weight [classes, width] has no prefix. */
static int32_t add_classifier(TowerBuilder *b, int32_t x)
{
    int32_t width = b->config->width, classes = b->config->classes;
    PackPart weight = linear_part(S("classifier.weight"), 0, width, classes, 0);
    PackPart bias = row_part(S("classifier.bias"), 0, classes, 0);
    Packing *packings = arena_array(b->keep, Packing, 2);
    packings[0] = pack_parts(b, width, classes, &weight, 1);
    packings[1] = pack_parts(b, 1, classes, &bias, 1);
    expect(b, weight.tensor, shape_of2(classes, width));
    expect(b, bias.tensor, (Shape){1, {classes}});
    int32_t w = graph_add_parameter(b->graph, S("classifier.weight"), &packings[0], b->keep);
    int32_t c = graph_add_parameter(b->graph, S("classifier.bias"), &packings[1], b->keep);
    return graph_add_gemm(b->graph, 0, S("classifier"), x, w, c, b->keep);
}

void siglip_build(const ModelConfig *config, Str name, Arena *keep, Graph *out,
                  ExpectedVec *expected)
{
    TowerBuilder b = {.config = config, .keep = keep, .graph = out, .expected = expected};
    graph_create(out, name, keep);
    int32_t x = add_embedding(&b);
    x = add_layers(&b, x);
    x = add_norm(&b, S("final_norm"), x, "post_layernorm.weight", "post_layernorm.bias");
    if (config->has_head) {
        x = add_head(&b, x);
    }
    if (config->is_classifier_pooled) {
        x = add_classifier(&b, x);
    }
    graph_set_output(out, x);
}
