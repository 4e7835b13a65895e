/* A model directory: configuration, preprocessing, tensors and the graph over them.
 *
 * model_open stops at the first kind of problem and counts the rest; model_describe (describe.c) lists them all.
 * Both use model_load, which finds out and judges nothing.
 */
#include "import/parts.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool exists(Str path)
{
    struct stat info;
    return lstat(path.at, &info) == 0; /* a link to nothing is there, and broken */
}

static Str path_in(const Model *model, const char *file, Arena *arena)
{
    return str_format(arena, "%.*s/%s", STR_ARG(model->path), file);
}

/* Last component of the directory's real path. */
static bool name_directory(Model *model, const char *path, Arena *keep, Error *err)
{
    struct stat info;
    if (stat(path, &info) != 0) {
        return error_set(err, ERROR_INPUT, path, "cannot be opened: %s", strerror(errno));
    }
    if (!S_ISDIR(info.st_mode)) {
        return error_set(err, ERROR_INPUT, path,
                         "not a directory (expected one with config.json and model.safetensors)");
    }
    char *real = realpath(path, NULL);
    if (real == NULL) {
        return error_set(err, ERROR_INPUT, path, "cannot be resolved: %s", strerror(errno));
    }
    const char *slash = strrchr(real, '/');
    model->path = str_copy(str_of(path), keep);
    model->name = str_copy(str_of(slash == NULL || slash[1] == '\0' ? "model" : slash + 1), keep);
    free(real);
    return true;
}

/* A configuration file, bounded by the memory at hand. */
static bool read_text(Str path, Arena *scratch, Str *out, Error *err)
{
    isize room = arena_room(scratch) / 2;
    return file_read(path.at, room < CONFIG_BYTES_MAX ? room : CONFIG_BYTES_MAX, scratch, out, err);
}

static bool read_settings(Model *model, Arena *keep, Arena scratch, Error *err)
{
    Str path = path_in(model, "config.json", &scratch), text;
    if (!read_text(path, &scratch, &text, err) ||
        !config_parse(text, path.at, keep, &model->config, err)) {
        return false;
    }
    path = path_in(model, "preprocessor_config.json", &scratch);
    model->image = preprocessor_default(&model->config);
    if (!exists(path)) {
        return true;
    }
    return read_text(path, &scratch, &text, err) &&
           preprocessor_parse(text, path.at, &model->config, &model->image, err);
}

static bool open_tensors(Model *model, Arena *keep, Arena scratch, Error *err)
{
    Str path = path_in(model, "model.safetensors", keep);
    Str sharded = path_in(model, "model.safetensors.index.json", &scratch);
    if (!exists(path) && exists(sharded)) {
        return error_set(err, ERROR_INPUT, sharded.at,
                         "checkpoints of several files are not supported by this version "
                         "(expected model.safetensors)");
    }
    return safetensors_open(path.at, keep, scratch, &model->checkpoint, err);
}

/* A classifier without labels has as many classes as its weight has rows. */
static bool count_classes(Model *model, Error *err)
{
    enum { CLASSES_MAX = 65536 };
    ModelConfig *config = &model->config;
    if (!config->is_classifier_pooled || config->classes > 0) {
        return true;
    }
    const SafeTensor *weight = checkpoint_find(&model->checkpoint, S("classifier.weight"));
    if (weight == NULL || weight->shape.rank != 2 || weight->shape.dim[0] < 1 ||
        weight->shape.dim[0] > CLASSES_MAX) {
        return error_set(err, ERROR_INPUT, model->checkpoint.path.at,
                         "config.json has no id2label, and there is no tensor classifier.weight "
                         "[classes, width] to count classes from");
    }
    config->classes = (int32_t)weight->shape.dim[0];
    return true;
}

static bool load_all(Model *model, const ModelOptions *options, ExpectedVec *expected, Arena *keep,
                     Arena scratch, Error *err)
{
    if (!read_settings(model, keep, scratch, err) || !open_tensors(model, keep, scratch, err) ||
        !count_classes(model, err)) {
        return false;
    }
    ModelConfig *config = &model->config;
    if (options->layers < 0 || options->layers > config->layers) {
        return error_set(err, ERROR_INPUT, model->path.at, "%d layers wanted, the model has %d",
                         options->layers, config->layers);
    }
    if (options->layers > 0) {
        config->layers = options->layers;
    }
    if (!options->want_graph) {
        return true;
    }
    siglip_build(config, model->name, keep, &model->graph, expected);
    if (!graph_check(&model->graph, err)) {
        return error_context(err, "%s", model->path.at);
    }
    model->parameters = graph_parameter_elems(&model->graph);
    return true;
}

static Str shape_text(const Shape *shape, Arena *arena)
{
    Writer writer = writer_buffer(arena);
    write_str(&writer, S("["));
    for (int i = 0; i < shape->rank; i++) {
        write_fmt(&writer, "%s%lld", i > 0 ? ", " : "", (long long)shape->dim[i]);
    }
    write_str(&writer, S("]"));
    return writer_text(&writer);
}

static bool refuse_problem(const Model *model, const ProblemSpan problems, Arena scratch,
                           Error *err)
{
    const Problem *first = &problems.at[0];
    isize missing = 0;
    for (isize i = 0; i < problems.len; i++) {
        missing += problems.at[i].found == NULL;
    }
    for (isize i = 0; i < problems.len && missing > 0; i++) {
        if (problems.at[i].found == NULL) {
            return error_set(err, ERROR_INPUT, model->checkpoint.path.at,
                             "%td tensors are missing, the first is %.*s %.*s", missing,
                             STR_ARG(problems.at[i].expected.name),
                             STR_ARG(shape_text(&problems.at[i].expected.shape, &scratch)));
        }
    }
    return error_set(err, ERROR_INPUT, model->checkpoint.path.at, "%.*s (%td such tensors)",
                     STR_ARG(problem_text(first, &scratch)), problems.len);
}

Str problem_text(const Problem *problem, Arena *arena)
{
    const Expected *expected = &problem->expected;
    Str wanted = shape_text(&expected->shape, arena);
    if (problem->found == NULL) {
        return str_format(arena, "tensor %.*s %.*s is missing", STR_ARG(expected->name),
                          STR_ARG(wanted));
    }
    if (!shape_equal(&expected->shape, &problem->found->shape)) {
        return str_format(arena, "tensor %.*s: expected shape %.*s, found %.*s",
                          STR_ARG(expected->name), STR_ARG(wanted),
                          STR_ARG(shape_text(&problem->found->shape, arena)));
    }
    return str_format(arena, "tensor %.*s: expected F32, F16 or BF16, found %.*s",
                      STR_ARG(expected->name), STR_ARG(problem->found->dtype_text));
}

ProblemSpan model_problems(const Model *model, const ExpectedVec *expected, Arena *keep)
{
    Problem *at = arena_array(keep, Problem, expected->len);
    ProblemSpan problems = {at, 0};
    for (isize i = 0; i < expected->len; i++) {
        const SafeTensor *found = checkpoint_find(&model->checkpoint, expected->at[i].name);
        bool is_readable = found != NULL && dtype_is_float(found->dtype);
        if (!is_readable || !shape_equal(&found->shape, &expected->at[i].shape)) {
            at[problems.len++] = (Problem){expected->at[i], found};
        }
    }
    return problems;
}

void model_find_unused(Model *model, const ExpectedVec *expected, Arena *keep, Arena scratch)
{
    const SafeTensorVec *tensors = &model->checkpoint.tensors;
    bool *is_used = arena_array(&scratch, bool, tensors->len);
    for (isize i = 0; i < expected->len; i++) {
        const SafeTensor *found = checkpoint_find(&model->checkpoint, expected->at[i].name);
        if (found != NULL) {
            is_used[found - tensors->at] = true;
        }
    }
    model->unused = arena_array(keep, Str, tensors->len);
    model->unused_count = 0;
    for (isize i = 0; i < tensors->len; i++) {
        if (!is_used[i]) {
            model->unused[model->unused_count++] = tensors->at[i].name;
        }
    }
}

bool model_load(const char *path, const ModelOptions *options, ExpectedVec *expected, Arena *keep,
                Arena scratch, Model *out, Error *err)
{
    *out = (Model){.checkpoint = {.fd = -1}};
    if (!name_directory(out, path, keep, err)) {
        return false;
    }
    if (!load_all(out, options, expected, keep, scratch, err)) {
        model_close(out);
        return false;
    }
    out->source = checkpoint_source(&out->checkpoint);
    return true;
}

bool model_open(const char *path, const ModelOptions *options, Arena *keep, Arena scratch,
                Model *out, Error *err)
{
    ExpectedVec expected = {0};
    if (!model_load(path, options, &expected, keep, scratch, out, err)) {
        return false;
    }
    if (!options->want_graph) {
        return true;
    }
    ProblemSpan problems = model_problems(out, &expected, &scratch);
    if (problems.len > 0) {
        (void)refuse_problem(out, problems, scratch, err);
        model_close(out);
        return false;
    }
    model_find_unused(out, &expected, keep, scratch);
    return true;
}

void model_close(Model *model)
{
    checkpoint_close(&model->checkpoint);
}
