/* Setup shared by run and verify (cli/pictures.h). */
#include "cli/pictures.h"
#include "cli/cli.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

enum { ARENA_BYTES_LOG2 = 36 };
/* Generated pictures: standard deviation of models.md 5.1. */
static const double TEST_PICTURE_STD = 0.5;
static const float F16_MAX = 65504;

enum { LAYERS_MAX = 1000 };

/* Layers that the package was compiled with: members of its parameter sequences, named NAME[i]; 0 when it has none. */
static int32_t package_layers(const Package *package)
{
    int64_t layers = 0;
    for (isize i = 0; i < package->bindings.len; i++) {
        const Binding *binding = &package->bindings.at[i];
        isize open = str_find(binding->name, '[', 0);
        int64_t member;
        if (binding->kind == BINDING_WEIGHT && open >= 0 && str_ends(binding->name, S("]")) &&
            str_to_int(str_slice(binding->name, open + 1, binding->name.len - 1), &member) &&
            member < LAYERS_MAX)
            layers = max_i64(layers, member + 1);
    }
    return (int32_t)layers;
}

/* The package's one output, and its network is the checkpoint's. */
static bool check_network(Setup *setup, const char *package, const char *weights, Error *err)
{
    for (isize i = 0; i < setup->package.bindings.len; i++) {
        if (setup->package.bindings.at[i].kind != BINDING_OUTPUT)
            continue;
        if (setup->output != NULL)
            return error_set(err, ERROR_INPUT, package, "has several outputs, expected one");
        setup->output = &setup->package.bindings.at[i];
    }
    if (setup->output == NULL)
        return error_set(err, ERROR_INPUT, package, "the package has no output binding");
    setup->output_elems = (int64_t)setup->output->rows * setup->output->cols;
    Str digest = graph_digest(&setup->model.graph, &setup->keep, setup->scratch);
    if (!str_equal(digest, setup->package.graph_digest))
        return error_set(err, ERROR_INPUT, package,
                         "was compiled from another network than %s (graph %.*s, expected %.*s); "
                         "compile it again from that checkpoint",
                         weights, STR_ARG(setup->package.graph_digest), STR_ARG(digest));
    const ValueVec *values = &setup->model.graph.values;
    for (isize v = 1; v < values->len; v++)
        if (values->at[v].is_output && (values->at[v].rows != setup->output->rows ||
                                        values->at[v].cols != setup->output->cols))
            return error_set(
                err, ERROR_INPUT, package, "its output is [%d, %d], the checkpoint's is [%d, %d]",
                setup->output->rows, setup->output->cols, values->at[v].rows, values->at[v].cols);
    return true;
}

bool setup_open(Setup *setup, const SetupOptions *options, Error *err)
{
    *setup = (Setup){.keep = arena_create((isize)1 << ARENA_BYTES_LOG2),
                     .scratch = arena_create((isize)1 << ARENA_BYTES_LOG2),
                     .model.checkpoint.fd = -1};
    const char *package = options->package, *weights = options->weights;
    double begin = time_seconds();
    if (!package_read(package, &setup->keep, setup->scratch, &setup->package, err))
        return false;
    ModelOptions model = {.layers = package_layers(&setup->package), .want_graph = true};
    if (!model_open(weights, &model, &setup->keep, setup->scratch, &setup->model, err) ||
        !check_network(setup, package, weights, err))
        return false;
    SessionOptions session = {.threads = options->threads,
                              .cycles_max = options->cycles_max,
                              .checks = options->checks,
                              .is_unknown_assumed = options->is_unknown_assumed};
    setup->session = session_open(&setup->package, &session, err);
    if (setup->session == NULL)
        return false;
    setup->open_seconds = time_seconds() - begin;
    begin = time_seconds();
    if (!session_upload(setup->session, &setup->model.source, setup->scratch, err))
        return error_context(err, "weights %s for package %s", weights, package);
    setup->upload_seconds = time_seconds() - begin;
    if (!options->is_quiet)
        fprintf(stderr, "opened %s in %.2f s, uploaded weights in %.2f s (host time)\n", package,
                setup->open_seconds, setup->upload_seconds);
    return true;
}

void setup_close(Setup *setup)
{
    if (setup->session != NULL) {
        Writer assumed = writer_buffer(&setup->keep);
        session_print_assumed(&assumed, setup->session);
        cli_report_assumed(writer_text(&assumed));
        session_close(setup->session);
    }
    model_close(&setup->model);
    arena_destroy(&setup->keep);
    arena_destroy(&setup->scratch);
}

static bool read_npy(Setup *setup, const char *path, float **image, Error *err)
{
    const ImageSettings *settings = &setup->model.image;
    Shape shape;
    if (!npy_read(path, &setup->keep, image, &shape, err))
        return false;
    if (shape.rank != 3 || shape.dim[0] != settings->height || shape.dim[1] != settings->width ||
        shape.dim[2] != 3)
        return error_set(err, ERROR_INPUT, path,
                         "expected values of shape (%d, %d, 3), found %" PRId64
                         " values in %d dimensions",
                         settings->height, settings->width, shape_elems(&shape), shape.rank);
    return true;
}

bool setup_image(Setup *setup, const char *path, float **image, Error *err)
{
    const ImageSettings *settings = &setup->model.image;
    int64_t elems = (int64_t)settings->height * settings->width * 3, seed;
    Str name = str_of(path);
    if (name.len > 1 && name.at[0] == '#' && str_to_int(str_slice(name, 1, name.len), &seed)) {
        *image = arena_array(&setup->keep, float, elems);
        for (int64_t i = 0; i < elems; i++)
            (*image)[i] = (float)(TEST_PICTURE_STD *
                                  random_normal((uint64_t)seed * 0x9e3779b97f4a7c15u, (uint64_t)i));
        return true;
    }
    bool ok = str_ends(name, S(".npy"))
                  ? read_npy(setup, path, image, err)
                  : image_prepare(path, settings, &setup->keep, setup->scratch, image, err);
    for (int64_t i = 0; ok && i < elems; i++)
        if (!(fabsf((*image)[i]) <= F16_MAX))
            ok = error_set(err, ERROR_INPUT, path,
                           "value %" PRId64 " is %g, expected -%g..%g (half precision)", i,
                           (double)(*image)[i], (double)F16_MAX, (double)F16_MAX);
    return ok;
}

bool setup_check_images(Setup *setup, const char *const *paths, int count, Error *err)
{
    Arena before = setup->keep;
    for (int i = 0; i < count; i++) {
        float *image;
        if (!setup_image(setup, paths[i], &image, err))
            return false;
        setup->keep = before;
    }
    return true;
}

bool setup_run(Setup *setup, const float *image, float *output, RunResult *result, Error *err)
{
    const ImageSettings *settings = &setup->model.image;
    SessionInput input = {S("image"), image, (int64_t)settings->height * settings->width * 3};
    float *outputs[1] = {output};
    return session_run(setup->session, &input, 1, outputs, setup->scratch, result, err);
}

void print_cycles(Writer *writer, const RunResult *result, double clock_hz)
{
    write_fmt(writer,
              "simulated %" PRId64 " cycles in %" PRId64 " exchange phases, %.3f ms at %.2f GHz",
              result->simulated_cycles, result->phases,
              (double)result->simulated_cycles / clock_hz * 1e3, clock_hz / 1e9);
}

int64_t largest(const float *at, int64_t count)
{
    int64_t best = 0;
    for (int64_t i = 1; i < count; i++)
        if (at[i] > at[best])
            best = i;
    return best;
}
