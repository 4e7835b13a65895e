/* The oracle against torch: a committed output for siglip-tiny, and fresh runs when python3 with torch is there
 * (siglip_torch.py); traces; the two ways to multiply; comparison metrics. */
#include "import/import.h"
#include "oracle/expected_tiny.h"
#include "oracle/oracle.h"
#include "oracle/temporary.h"
#include "test.h"
#include <math.h>
#include <unistd.h>

static Arena keep, scratch;
static const char *directory;

static const char *path_of(const char *name)
{
    return str_format(&keep, "%s/%s", directory, name).at;
}

static float *gradient(int side)
{
    int64_t elems = (int64_t)side * side * 3;
    float *image = arena_array(&keep, float, elems);
    for (int64_t i = 0; i < elems; i++) {
        image[i] = (float)(i * 7 % 256) / 128 - 1;
    }
    return image;
}

static int32_t value_named(const Graph *graph, const char *name)
{
    for (int32_t i = 1; i < graph->values.len; i++) {
        if (str_equal(graph->values.at[i].name, str_of(name)) &&
            graph->values.at[i].kind == VALUE_RESULT) {
            return i;
        }
    }
    CHECK(false);
    return 0;
}

static OracleRun run(Model *model, const char *path, int32_t layers, const float *image,
                     OracleOptions options)
{
    Error err = {0};
    ModelOptions model_options = {.layers = layers, .want_graph = true};
    CHECK_OK(model_open(path, &model_options, &keep, scratch, model, &err), err);
    OracleInput input = {S("image"), image, (int64_t)model->config.image * model->config.image * 3};
    OracleRun result;
    CHECK_OK(oracle_run(&model->graph, &model->source, &input, 1, &options, &keep, scratch, &result,
                        &err),
             err);
    model_close(model);
    return result;
}

static void committed_output(void)
{
    Error err = {0};
    CHECK_OK(fixture_write(S("siglip-tiny"), path_of("tiny"), 1, 0, scratch, NULL, &err), err);
    for (int fixed = 0; fixed < 2; fixed++) {
        Model model;
        OracleOptions options = {.threads = 2, .is_fixed_order = fixed == 1};
        OracleRun result = run(&model, path_of("tiny"), 0, gradient(42), options);
        int32_t output = value_named(&model.graph, "pooler_output");
        CHECK(model.graph.values.at[output].is_output);
        const int64_t elems = sizeof expected_tiny / sizeof expected_tiny[0];
        CHECK_EQ_INT(elems, model.graph.values.at[output].cols);
        Difference d = difference_of(result.value[output], expected_tiny, elems);
        CHECK_NEAR(d.max_abs_error, 0.0, 1e-5);
        CHECK_NEAR(d.cosine, 1.0, 1e-9);
        float largest = 0.0f;
        for (int64_t i = 0; i < elems; i++) {
            largest = fmaxf(largest, fabsf(expected_tiny[i]));
        }
        CHECK(largest > 0.5f); /* the bound above says something */
    }
}

/* What iteration 0 computes is what the model of one layer computes; the last iteration is the plain value. */
static void traces(void)
{
    OracleOptions options = {.threads = 1, .is_traced = true, .is_fixed_order = true};
    Model two, one;
    OracleRun traced = run(&two, path_of("tiny"), 0, gradient(42), options);
    options.is_traced = false;
    OracleRun single = run(&one, path_of("tiny"), 1, gradient(42), options);
    int32_t residual = value_named(&two.graph, "layers.mlp.residual");
    int32_t layers = value_named(&one.graph, "layers"),
            norm = value_named(&two.graph, "final_norm");
    size_t bytes = 9 * 144 * sizeof(float);
    CHECK(traced.iteration[residual] != NULL);
    CHECK(traced.iteration[norm] == NULL);
    CHECK(single.iteration[layers] == NULL);
    CHECK(memcmp(traced.iteration[residual][0], single.value[layers], bytes) == 0);
    CHECK(traced.iteration[residual][1] == traced.value[residual]);
    CHECK(memcmp(traced.iteration[residual][0], traced.iteration[residual][1], bytes) != 0);
    CHECK(memcmp(traced.value[value_named(&two.graph, "layers")], traced.value[residual], bytes) ==
          0);
    /* The state that iteration 1 starts from is the result of iteration 0. */
    int32_t state = two.graph.repeats.at[1].carried_argument[0];
    CHECK(memcmp(traced.iteration[state][1], traced.iteration[residual][0], bytes) == 0);
    options.is_traced = false;
    Model again;
    OracleRun plain = run(&again, path_of("tiny"), 0, gradient(42), options);
    CHECK(memcmp(plain.value[residual], traced.value[residual], bytes) == 0);
}

static void against_torch(const char *model_path)
{
    if (access(str_format(&keep, "%s/config.json", model_path).at, R_OK) != 0) {
        printf("skipped: %s is not there\n", model_path);
        return;
    }
    Error err = {0};
    Model model;
    ModelOptions options = {.want_graph = true};
    CHECK_OK(model_open(model_path, &options, &keep, scratch, &model, &err), err);
    int32_t side = model.config.image;
    model_close(&model);
    float *image = arena_array(&keep, float, (int64_t)side *side * 3);
    for (int64_t i = 0; i < (int64_t)side * side * 3; i++) {
        image[i] = (float)random_normal(12, (uint64_t)i) * 0.5f;
    }
    Shape shape = {3, {side, side, 3}};
    CHECK_OK(npy_write(path_of("image.npy"), image, &shape, scratch, &err), err);
    Str command = str_format(&keep, "/usr/bin/python3 tests/oracle/siglip_torch.py %s %s %s",
                             model_path, path_of("image.npy"), path_of("out.npy"));
    int status = access("/usr/bin/python3", X_OK) == 0 ? system(command.at) : 77 << 8;
    if (status == 77 << 8) {
        puts("skipped: no python3 with torch and numpy");
        return;
    }
    CHECK_EQ_INT(status, 0);
    float *expected;
    CHECK_OK(npy_read(path_of("out.npy"), &keep, &expected, &shape, &err), err);
    OracleRun result = run(&model, model_path, 0, image, (OracleOptions){.threads = 2});
    for (int32_t v = 1; v < model.graph.values.len; v++) {
        const Value *value = &model.graph.values.at[v];
        if (value->is_output) {
            CHECK_EQ_INT(shape_elems(&shape), value->rows * value->cols);
            Difference d = difference_of(result.value[v], expected, value->cols);
            printf("%s: cosine %.9f, max abs error %g\n", model_path, d.cosine, d.max_abs_error);
            CHECK(d.is_finite);
            CHECK_NEAR(d.max_abs_error, 0.0, 1e-4);
            CHECK(d.cosine > 0.9999999);
        }
    }
}

static void torch_runs(void)
{
    Error err = {0};
    CHECK_OK(fixture_write(S("siglip-tiny"), path_of("other"), 7, 3, scratch, NULL, &err), err);
    against_torch(path_of("other"));
    against_torch("models/fashion-siglip");
}

static void errors(void)
{
    Error err = {0};
    Model model;
    ModelOptions model_options = {.want_graph = true};
    CHECK_OK(model_open(path_of("tiny"), &model_options, &keep, scratch, &model, &err), err);
    OracleOptions options = {0};
    OracleRun out;
    float pixel = 0.0f;
    OracleInput input = {S("picture"), &pixel, 1};
    CHECK_ERROR(
        oracle_run(&model.graph, &model.source, &input, 1, &options, &keep, scratch, &out, &err),
        err, ERROR_INPUT, "missing");
    input.name = S("image"); /* too short for the patches */
    CHECK_ERROR(
        oracle_run(&model.graph, &model.source, &input, 1, &options, &keep, scratch, &out, &err),
        err, ERROR_INPUT, "tensor of 1 elements");
    model_close(&model);
}

static void differences(void)
{
    const float a[] = {3.0f, 4.0f, 0.0f}, b[] = {3.0f, 3.0f, 0.5f}, zero[3] = {0};
    Difference d = difference_of(a, b, 3);
    CHECK(d.is_finite);
    CHECK_NEAR(d.cosine, 21.0 / (5.0 * sqrt(18.25)), 1e-15);
    CHECK_NEAR(d.max_abs_error, 1.0, 0.0);
    CHECK_EQ_INT(d.max_at, 1);
    d = difference_of(a, a, 3);
    CHECK_NEAR(d.cosine, 1.0, 1e-15);
    CHECK_NEAR(d.max_abs_error, 0.0, 0.0);
    d = difference_of(a, zero, 3);
    CHECK(d.is_finite && d.cosine == -2.0 && d.max_abs_error == 4.0);
    d = difference_of(zero, zero, 3);
    CHECK(d.cosine == -2.0);
    const float bad[] = {3.0f, NAN, 0.5f}, infinite[] = {3.0f, 4.0f, -INFINITY};
    d = difference_of(a, bad, 3);
    CHECK(!d.is_finite && d.cosine == -2.0 && d.max_at == 1 && !(d.max_abs_error <= 1e30));
    d = difference_of(infinite, a, 3);
    CHECK(!d.is_finite && d.cosine == -2.0 && d.max_at == 2);
    const float large[] = {3e38f, 3e38f};
    d = difference_of(large, large, 2);
    CHECK_NEAR(d.cosine, 1.0, 1e-15);
}

static void starts(void)
{
    keep = arena_create((isize)1 << 32);
    scratch = arena_create((isize)1 << 32);
    directory = temporary_directory();
}

TEST_MAIN(starts, committed_output, traces, torch_runs, errors, differences)
