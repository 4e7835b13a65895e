/* Models: the graph of SigLIP from a configuration, complete and broken directories, fixtures. */
#include "import/parts.h"
#include "import/temporary.h"
#include "test.h"
#include <math.h>
#include <unistd.h>

static Arena keep, scratch;
static const char *directory;

static const char *path_of(const char *name)
{
    return str_format(&keep, "%s/%s", directory, name).at;
}

static const Value *value_named(const Graph *graph, const char *name)
{
    for (isize i = 1; i < graph->values.len; i++) {
        if (str_equal(graph->values.at[i].name, str_of(name))) {
            return &graph->values.at[i];
        }
    }
    fprintf(stderr, "no value %s\n", name);
    CHECK(false);
    return NULL;
}

/* models.md 1.1 and 1.3: 428,225,600 parameters in 448 tensors, without a checkpoint. */
static void so400m(void)
{
    ModelConfig config = {.width = 1152,
                          .mlp_width = 4304,
                          .layers = 27,
                          .heads = 16,
                          .channels = 3,
                          .image = 384,
                          .patch = 14,
                          .eps = 1e-6,
                          .has_head = true};
    Graph graph;
    ExpectedVec expected = {0};
    siglip_build(&config, S("so400m"), &keep, &graph, &expected);
    Error err = {0};
    CHECK_OK(graph_check(&graph, &err), err);
    CHECK_EQ_INT(graph_parameter_elems(&graph), 428225600);
    CHECK_EQ_INT(expected.len, 448);
    int64_t elems = 0;
    for (isize i = 0; i < expected.len; i++) {
        elems += shape_elems(&expected.at[i].shape);
    }
    CHECK_EQ_INT(elems, 428225600);
    /* compiler-design.md 2.2: 12 sequences a layer with fused QKV. */
    CHECK_EQ_INT(graph.repeats.len, 2);
    CHECK_EQ_INT(graph.repeats.at[1].count, 27);
    CHECK_EQ_INT(graph.repeats.at[1].sequence_count, 12);
    int gemms = 0;
    for (isize i = 1; i < graph.ops.len; i++) {
        gemms += graph.ops.at[i].kind == OP_GEMM;
    }
    CHECK_EQ_INT(gemms, 10);
    const Value *out = value_named(&graph, "pooler_output");
    CHECK(out->is_output && out->rows == 1 && out->cols == 1152);
    CHECK_NEAR(graph.ops.at[value_named(&graph, "layers.attention")->producer].scale, 0.11785113,
               1e-8);
    /* The text form survives at this size too. */
    Writer first = writer_buffer(&keep);
    graph_print(&first, &graph);
    Str text = str_copy(writer_text(&first), &keep);
    Graph parsed;
    CHECK_OK(graph_parse(text, &keep, &parsed, &err), err);
    Writer second = writer_buffer(&keep);
    graph_print(&second, &parsed);
    CHECK(str_equal(writer_text(&second), text));
}

/* Each packing against the index arithmetic of models.md 1.3 to 1.5, written out. */
static void packings(void)
{
    const int w = 6, p = 2, image = 7,
              side = 3; /* the last row and column of pixels are never read */
    ModelConfig config = {.width = w,
                          .mlp_width = 8,
                          .layers = 2,
                          .heads = 2,
                          .channels = 3,
                          .image = image,
                          .patch = p,
                          .eps = 1e-6,
                          .has_head = true};
    Graph graph;
    ExpectedVec expected = {0};
    siglip_build(&config, S("small"), &keep, &graph, &expected);
    const Packing *patches = value_named(&graph, "patches")->packings;
    const Packing *embedding = value_named(&graph, "embedding.weight")->packings;
    int part;
    for (int y = 0; y < p; y++) {
        for (int x = 0; x < p; x++) {
            for (int c = 0; c < 3; c++) {
                int column = (y * p + x) * 3 + c;
                for (int t = 0; t < side * side; t++) {
                    int row = t / side * p + y, col = t % side * p + x;
                    CHECK_EQ_INT(packing_source(patches, t, column, &part),
                                 (row * image + col) * 3 + c);
                }
                for (int out = 0; out < w; out++) {
                    CHECK_EQ_INT(packing_source(embedding, column, out, &part),
                                 ((out * 3 + c) * p + y) * p + x);
                }
            }
        }
    }
    const Value *qkv = value_named(&graph, "layers.qkv.weight");
    CHECK(qkv->kind == VALUE_SEQUENCE && qkv->iterations == 2 && qkv->cols == 3 * w);
    static const char *const names[3] = {"q", "k", "v"};
    for (int col = 0; col < 3 * w; col++) {
        for (int row = 0; row < w; row++) {
            CHECK_EQ_INT(packing_source(&qkv->packings[1], row, col, &part), col % w * w + row);
            CHECK_EQ_INT(part, col / w);
        }
        Str name = str_format(&keep, "vision_model.encoder.layers.1.self_attn.%s_proj.weight",
                              names[col / w]);
        CHECK_STR(qkv->packings[1].parts.at[part].tensor, name);
    }
    const Packing *query = value_named(&graph, "head.query.weight")->packings;
    const Packing *kv = value_named(&graph, "head.kv.weight")->packings;
    const Packing *kv_bias = value_named(&graph, "head.kv.bias")->packings;
    for (int row = 0; row < w; row++) {
        for (int col = 0; col < 2 * w; col++) {
            CHECK_EQ_INT(packing_source(kv, row, col, &part), (w + col) * w + row);
            CHECK_EQ_INT(packing_source(kv_bias, 0, col, &part), w + col);
            if (col < w) {
                CHECK_EQ_INT(packing_source(query, row, col, &part), col * w + row);
            }
        }
    }
    config.has_head = false;
    ExpectedVec fewer = {0};
    siglip_build(&config, S("small"), &keep, &graph, &fewer);
    CHECK(value_named(&graph, "final_norm")->is_output);
    config.has_head = true;
    config.is_classifier_pooled = true;
    config.classes = 5;
    siglip_build(&config, S("small"), &keep, &graph, &fewer);
    const Value *classifier = value_named(&graph, "classifier");
    CHECK(classifier->is_output && classifier->cols == 5);
}

static double std_of(const TensorSource *source, const char *name, double *mean)
{
    TensorInfo info;
    Error err = {0};
    CHECK(source->find(source->context, str_of(name), &info));
    int64_t elems = shape_elems(&info.shape);
    Arena arena = scratch;
    float *at = arena_array(&arena, float, elems);
    CHECK_OK(source->read(source->context, str_of(name), at, &err), err);
    double sum = 0.0, squares = 0.0;
    for (int64_t i = 0; i < elems; i++) {
        sum += at[i];
        squares += (double)at[i] * at[i];
    }
    *mean = sum / (double)elems;
    return sqrt(squares / (double)elems - *mean * *mean);
}

static void write_tiny(const char *name, uint64_t seed, int32_t layers)
{
    Error err = {0};
    CHECK_OK(fixture_write(S("siglip-tiny"), path_of(name), seed, layers, scratch, NULL, &err),
             err);
}

static Str file_text(const char *name)
{
    Str text;
    Error err = {0};
    CHECK_OK(file_read(path_of(name), 1 << 26, &keep, &text, &err), err);
    return text;
}

/* models.md 5.1 and decisions.md D. */
static void fixtures(void)
{
    write_tiny("tiny", 1, 0);
    write_tiny("again", 1, 0);
    write_tiny("seed2", 2, 0);
    CHECK(str_equal(file_text("tiny/model.safetensors"), file_text("again/model.safetensors")));
    CHECK(!str_equal(file_text("tiny/model.safetensors"), file_text("seed2/model.safetensors")));
    CHECK(str_equal(file_text("tiny/config.json"), file_text("again/config.json")));
    Error err = {0};
    Model model;
    ModelOptions options = {.want_graph = true};
    CHECK_OK(model_open(path_of("tiny"), &options, &keep, scratch, &model, &err), err);
    const ModelConfig *c = &model.config;
    CHECK(c->image == 42 && c->patch == 14 && c->width == 144 && c->heads == 2 &&
          c->mlp_width == 304 && c->layers == 2 && c->has_head && c->classes == 0);
    CHECK_STR(model.name, S("tiny"));
    CHECK_EQ_INT(model.unused_count, 0);
    CHECK(!model.image.is_default && model.image.height == 42);
    static const struct {
        const char *name;
        double std;
        int fan;
    } rows[] = {
        {"vision_model.embeddings.patch_embedding.weight", 0, 588 + 144},
        {"vision_model.embeddings.position_embedding.weight", 1.0 / 12, 0},
        {"vision_model.head.probe", 1.0 / 12, 0},
        {"vision_model.encoder.layers.0.self_attn.k_proj.weight", 0, 288},
        {"vision_model.encoder.layers.1.mlp.fc1.weight", 0, 144 + 304},
        {"vision_model.encoder.layers.1.mlp.fc2.weight", 0, 144 + 304},
        {"vision_model.head.attention.in_proj_weight", 0, 288},
        {"vision_model.head.attention.in_proj_bias", 1e-6, 0},
        {"vision_model.encoder.layers.1.layer_norm2.bias", 1e-6, 0},
        {"vision_model.head.mlp.fc1.bias", 1e-6, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double mean, wanted = rows[i].fan > 0 ? sqrt(2.0 / rows[i].fan) : rows[i].std;
        double found = std_of(&model.source, rows[i].name, &mean);
        CHECK_NEAR(found / wanted, 1.0, 0.2);
        CHECK_NEAR(mean / wanted, 0.0, 0.25);
    }
    static const char *const ones[] = {"vision_model.encoder.layers.0.layer_norm1.weight",
                                       "vision_model.post_layernorm.weight",
                                       "vision_model.head.layernorm.weight"};
    for (int i = 0; i < 3; i++) {
        double mean, found = std_of(&model.source, ones[i], &mean);
        CHECK(mean == 1.0 && found == 0.0);
    }
    model_close(&model);
    CHECK_ERROR(fixture_write(S("fashion"), path_of("x"), 1, 0, scratch, NULL, &err), err,
                ERROR_INPUT, "siglip-base-ish");
    write_tiny("five", 1, 5);
    err = (Error){0};
    CHECK_OK(model_open(path_of("five"), &options, &keep, scratch, &model, &err), err);
    CHECK_EQ_INT(model.config.layers, 5);
    model_close(&model);
}

static void layers_and_unused(void)
{
    Error err = {0};
    Model model;
    ModelOptions options = {.layers = 1, .want_graph = true};
    CHECK_OK(model_open(path_of("tiny"), &options, &keep, scratch, &model, &err), err);
    CHECK_EQ_INT(model.unused_count, 16);
    CHECK_STR(model.unused[0], S("vision_model.encoder.layers.1.layer_norm1.bias"));
    CHECK_EQ_INT(model.graph.repeats.at[1].count, 1);
    CHECK_EQ_INT(model.parameters, graph_parameter_elems(&model.graph));
    model_close(&model);
    options.layers = 3;
    CHECK_ERROR(model_open(path_of("tiny"), &options, &keep, scratch, &model, &err), err,
                ERROR_INPUT, "the model has 2");
    options = (ModelOptions){0};
    err = (Error){0};
    CHECK_OK(model_open(path_of("tiny"), &options, &keep, scratch, &model, &err), err);
    CHECK_EQ_INT(model.graph.values.len, 0);
    model_close(&model);
}

static void refuse(const char *name, const char *part)
{
    Error err;
    Model model;
    ModelOptions options = {.want_graph = true};
    CHECK_ERROR(model_open(path_of(name), &options, &keep, scratch, &model, &err), err, ERROR_INPUT,
                part);
    CHECK(strstr(err.where, name) != NULL);
    CHECK_EQ_INT(model.checkpoint.fd, -1);
}

static void write_text(const char *name, const char *text)
{
    Error err = {0};
    CHECK_OK(file_write(path_of(name), str_of(text), &err), err);
}

/* A copy of siglip-tiny's file in which `from` is replaced by `to` (of one length) in the header. */
static void write_edited(const char *name, const char *from, const char *to)
{
    Str text = file_text("tiny/model.safetensors");
    char *found = memmem(text.at, (size_t)text.len, from, strlen(from));
    CHECK(found != NULL);
    CHECK_EQ_INT(strlen(from), strlen(to));
    memcpy(found, to, strlen(to));
    Error err = {0};
    CHECK_OK(file_write(path_of(str_format(&keep, "%s/model.safetensors", name).at), text, &err),
             err);
}

static void broken_directories(void)
{
    refuse("nowhere", "cannot be opened");
    write_text("file", "x");
    refuse("file", "not a directory");
    write_tiny("b", 1, 0);
    CHECK(unlink(path_of("b/model.safetensors")) == 0);
    refuse("b", "cannot be opened");
    write_text("b/model.safetensors.index.json", "{}");
    refuse("b", "several files");
    write_edited("b", "post_layernorm.weight", "post_layernorm.wxight");
    refuse("b", "1 tensors are missing, the first is vision_model.post_layernorm.weight [144]");
    write_edited("b", "\"shape\":[9,144]", "\"shape\":[144,9]");
    refuse("b", "position_embedding.weight: expected shape [9, 144], found [144, 9]");
    write_edited("b", "\"dtype\":\"F32\",\"shape\":[9,144]", "\"dtype\":\"I32\",\"shape\":[9,144]");
    refuse("b", "expected F32, F16 or BF16, found I32");
    write_text("b/preprocessor_config.json", "{\"size\":{\"height\":224,\"width\":224}}");
    refuse("b", "image_size is 42");
    CHECK(unlink(path_of("b/preprocessor_config.json")) == 0);
    write_tiny("c", 1, 1);
    write_text("b/model.safetensors", file_text("c/model.safetensors").at);
    refuse("b", "safetensors");
    write_text("b/config.json", "{\"model_type\":\"bert\"}");
    refuse("b", "\"bert\" is not supported");
    CHECK(unlink(path_of("b/config.json")) == 0);
    refuse("b", "cannot be opened");
}

static void describes(void)
{
    Error err = {0};
    Writer text = writer_buffer(&keep);
    Arena other = arena_create((isize)1 << 30);
    CHECK_OK(model_describe(path_of("tiny"), &text, false, &other, scratch, &err), err);
    const char *at = str_copy(writer_text(&text), &keep).at;
    CHECK(strstr(at, "9 tokens") != NULL);
    CHECK(strstr(at, "48 used, 0 unused, 0 missing or wrong") != NULL);
    write_tiny("d", 1, 0);
    write_edited("d", "post_layernorm.weight", "post_layernorm.wxight");
    Writer more = writer_buffer(&keep);
    CHECK_ERROR(model_describe(path_of("d"), &more, false, &other, scratch, &err), err, ERROR_NO,
                "1 tensors are missing or wrong");
    at = str_copy(writer_text(&more), &keep).at;
    CHECK(strstr(at, "47 used, 1 unused, 1 missing or wrong") != NULL);
    CHECK(strstr(at, "  vision_model.post_layernorm.wxight\n") != NULL);
    CHECK(strstr(at, "  tensor vision_model.post_layernorm.weight [144] is missing\n") != NULL);
}

static void starts(void)
{
    keep = arena_create((isize)1 << 32);
    scratch = arena_create((isize)1 << 32);
    directory = temporary_directory();
}

TEST_MAIN(starts, so400m, packings, fixtures, layers_and_unused, broken_directories, describes)
