/* Setup shared by run and verify (cli/pictures.h). */
#include "cli/pictures.h"
#include "cli/cli.h"
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

enum { ARENA_BYTES_LOG2 = 36 };
/* Generated pictures: standard deviation of models.md 5.1. */
static const double TEST_PICTURE_STD = 0.5;

/* Layers that the package was compiled with: members of its parameter sequences, named NAME[i]; 0 when it has none. */
static int32_t package_layers(const Package *package)
{
    int64_t layers = 0;
    for (isize i = 0; i < package->bindings.len; i++) {
        const Binding *binding = &package->bindings.at[i];
        isize open = str_find(binding->name, '[', 0);
        int64_t member;
        if (binding->kind == BINDING_WEIGHT && open >= 0 &&
            str_to_int(str_slice(binding->name, open + 1, binding->name.len - 1), &member))
            layers = max_i64(layers, member + 1);
    }
    return (int32_t)layers;
}

bool setup_open(Setup *setup, const char *package, const char *weights, int threads, bool is_quiet,
                Error *err)
{
    *setup = (Setup){.keep = arena_create((isize)1 << ARENA_BYTES_LOG2),
                     .scratch = arena_create((isize)1 << ARENA_BYTES_LOG2)};
    double begin = time_seconds();
    if (!package_read(package, &setup->keep, setup->scratch, &setup->package, err))
        return false;
    ModelOptions options = {.layers = package_layers(&setup->package), .want_graph = true};
    if (!model_open(weights, &options, &setup->keep, setup->scratch, &setup->model, err))
        return false;
    for (isize i = 0; i < setup->package.bindings.len; i++)
        if (setup->package.bindings.at[i].kind == BINDING_OUTPUT && setup->output == NULL)
            setup->output = &setup->package.bindings.at[i];
    if (setup->output == NULL)
        return error_set(err, ERROR_INPUT, package, "the package has no output binding");
    setup->output_elems = (int64_t)setup->output->rows * setup->output->cols;
    SessionOptions session = {.threads = threads};
    setup->session = session_open(&setup->package, &session, err);
    if (setup->session == NULL)
        return false;
    setup->open_seconds = time_seconds() - begin;
    begin = time_seconds();
    if (!session_upload(setup->session, &setup->model.source, setup->scratch, err))
        return error_context(err, "weights %s for package %s", weights, package);
    setup->upload_seconds = time_seconds() - begin;
    if (!is_quiet)
        fprintf(stderr, "opened %s in %.2f s, uploaded weights in %.2f s (host time)\n", package,
                setup->open_seconds, setup->upload_seconds);
    return true;
}

void setup_close(Setup *setup)
{
    if (setup->session != NULL)
        session_close(setup->session);
    model_close(&setup->model);
    arena_destroy(&setup->keep);
    arena_destroy(&setup->scratch);
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
    if (!str_ends(name, S(".npy")))
        return image_prepare(path, settings, &setup->keep, setup->scratch, image, err);
    Shape shape;
    if (!npy_read(path, &setup->keep, image, &shape, err))
        return false;
    if (shape_elems(&shape) != elems)
        return error_set(err, ERROR_INPUT, path,
                         "expected %d x %d x 3 = %" PRId64 " values, found %" PRId64,
                         settings->height, settings->width, elems, shape_elems(&shape));
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
