/* What a checkpoint holds, for people and as JSON: one pass over the loaded model, problems listed, not fatal. */
#include "import/parts.h"

enum { SHOWN_MAX = 20, DTYPES_MAX = 32 };

static const char *const resample_names[4] = {"nearest", "lanczos", "bilinear", "bicubic"};

typedef struct DTypeCount {
    Str text;
    int64_t tensors;
} DTypeCount;

/* 1234567 -> "1,234,567" */
static Str grouped(int64_t number, Arena *arena)
{
    Str plain = str_format(arena, "%lld", (long long)number);
    char *out = arena_alloc(arena, plain.len * 2 + 1, 1);
    isize len = 0;
    for (isize i = 0; i < plain.len; i++) {
        if (i > 0 && (plain.len - i) % 3 == 0) {
            out[len++] = ',';
        }
        out[len++] = plain.at[i];
    }
    return (Str){out, len};
}

/* Counts by type, in order of first appearance in the sorted table. */
static int count_dtypes(const Checkpoint *checkpoint, DTypeCount counts[DTYPES_MAX])
{
    int used = 0;
    for (isize i = 0; i < checkpoint->tensors.len; i++) {
        Str text = checkpoint->tensors.at[i].dtype_text;
        int k = 0;
        while (k < used && !str_equal(counts[k].text, text)) {
            k++;
        }
        if (k == used) {
            ASSERT(used < DTYPES_MAX); /* safetensors.md 2 lists 22 */
            counts[used++] = (DTypeCount){text, 0};
        }
        counts[k].tensors++;
    }
    return used;
}

static int32_t tokens_of(const ModelConfig *config)
{
    int32_t side = config->image / config->patch;
    return side * side;
}

static const Value *output_of(const Graph *graph)
{
    for (isize i = 1; i < graph->values.len; i++) {
        if (graph->values.at[i].is_output) {
            return &graph->values.at[i];
        }
    }
    ASSERT(false);
    return NULL;
}

static void print_settings(Writer *writer, const ImageSettings *image)
{
    write_str(writer, S("  preprocessing "));
    if (image->do_resize) {
        write_fmt(writer, "resize to %d x %d %s", image->height, image->width,
                  resample_names[image->resample]);
    } else {
        write_fmt(writer, "pictures of %d x %d", image->height, image->width);
    }
    if (image->do_rescale) {
        write_fmt(writer, ", times %.7g", image->rescale_factor);
    }
    if (image->do_normalize) {
        write_fmt(writer, ", mean %g %g %g, std %g %g %g", image->mean[0], image->mean[1],
                  image->mean[2], image->std[0], image->std[1], image->std[2]);
    }
    write_str(writer, image->is_default ? S(" (no preprocessor_config.json: defaults of SigLIP)\n")
                                        : S("\n"));
}

static void print_names(Writer *writer, const char *title, const Str *names, isize count,
                        Arena scratch)
{
    if (count == 0) {
        return;
    }
    write_fmt(writer, "%s\n", title);
    for (isize i = 0; i < count && i < SHOWN_MAX; i++) {
        write_fmt(writer, "  %.*s\n", STR_ARG(str_shown(names[i], &scratch)));
    }
    if (count > SHOWN_MAX) {
        write_fmt(writer, "  ... and %td more (--json lists all)\n", count - SHOWN_MAX);
    }
}

static void print_text(Writer *writer, const Model *model, ProblemSpan problems, isize used,
                       Arena scratch)
{
    const ModelConfig *config = &model->config;
    const Value *output = output_of(&model->graph);
    write_fmt(writer, "%.*s: SigLIP vision tower\n", STR_ARG(str_shown(model->name, &scratch)));
    write_fmt(writer, "  image         %d x %d, patch %d: %d tokens\n", config->image,
              config->image, config->patch, tokens_of(config));
    write_fmt(writer, "  encoder       %d layers, width %d = %d heads of %d, MLP %d, eps %g\n",
              config->layers, config->width, config->heads, config->width / config->heads,
              config->mlp_width, config->eps);
    write_fmt(writer, "  output        %.*s [%d, %d]%s\n", STR_ARG(output->name), output->rows,
              output->cols,
              config->has_head ? ", attention pooling (MAP head)" : ", no pooling head");
    if (config->is_classifier_pooled) {
        write_fmt(writer, "  classes       %d", config->classes);
        for (int32_t i = 0; config->labels != NULL && i < config->classes && i < SHOWN_MAX; i++) {
            write_fmt(writer, "%s%.*s", i == 0 ? ": " : ", ",
                      STR_ARG(str_shown(config->labels[i], &scratch)));
        }
        write_str(writer,
                  config->labels != NULL && config->classes > SHOWN_MAX ? S(", ...\n") : S("\n"));
    }
    print_settings(writer, &model->image);
    write_fmt(writer, "  parameters    %.*s\n", STR_ARG(grouped(model->parameters, &scratch)));
    DTypeCount counts[DTYPES_MAX];
    int types = count_dtypes(&model->checkpoint, counts);
    write_fmt(writer, "  tensors       %td in %.*s bytes:", model->checkpoint.tensors.len,
              STR_ARG(grouped((int64_t)model->checkpoint.file_bytes, &scratch)));
    for (int i = 0; i < types; i++) {
        write_fmt(writer, "%s %lld %.*s", i > 0 ? "," : "", (long long)counts[i].tensors,
                  STR_ARG(counts[i].text));
    }
    write_fmt(writer, "; %td used, %d unused, %td missing or wrong\n", used, model->unused_count,
              problems.len);
    print_names(writer, "unused tensors", model->unused, model->unused_count, scratch);
    Str *texts = arena_array(&scratch, Str, problems.len);
    for (isize i = 0; i < problems.len; i++) {
        texts[i] = problem_text(&problems.at[i], &scratch);
    }
    print_names(writer, "missing or wrong tensors", texts, problems.len, scratch);
}

static void print_json_names(Writer *writer, const char *key, const Str *names, isize count)
{
    write_fmt(writer, ",\"%s\":[", key);
    for (isize i = 0; i < count; i++) {
        write_str(writer, i > 0 ? S(",") : S(""));
        write_json_str(writer, names[i]);
    }
    write_str(writer, S("]"));
}

static void print_json(Writer *writer, const Model *model, ProblemSpan problems, isize used,
                       Arena scratch)
{
    const ModelConfig *config = &model->config;
    const ImageSettings *image = &model->image;
    const Value *output = output_of(&model->graph);
    write_str(writer, S("{\"name\":"));
    write_json_str(writer, model->name);
    write_fmt(
        writer,
        ",\"architecture\":\"%.*s\",\"image\":%d,\"patch\":%d,\"tokens\":%d,\"width\":%d,"
        "\"heads\":%d,\"mlp_width\":%d,\"layers\":%d,\"eps\":%.17g,\"has_head\":%s,\"output\":",
        STR_ARG(config->architecture), config->image, config->patch, tokens_of(config),
        config->width, config->heads, config->mlp_width, config->layers, config->eps,
        config->has_head ? "true" : "false");
    write_json_str(writer, output->name);
    write_fmt(writer, ",\"output_shape\":[%d,%d],\"classes\":%d", output->rows, output->cols,
              config->classes);
    print_json_names(writer, "labels", config->labels,
                     config->labels == NULL ? 0 : config->classes);
    write_fmt(writer,
              ",\"preprocessing\":{\"height\":%d,\"width\":%d,\"do_resize\":%s,\"do_rescale\":%s,"
              "\"do_normalize\":%s,\"resample\":%d,\"rescale_factor\":%.17g,\"image_mean\":[%.17g,"
              "%.17g,%.17g],\"image_std\":[%.17g,%.17g,%.17g],\"is_default\":%s}",
              image->height, image->width, image->do_resize ? "true" : "false",
              image->do_rescale ? "true" : "false", image->do_normalize ? "true" : "false",
              image->resample, image->rescale_factor, image->mean[0], image->mean[1],
              image->mean[2], image->std[0], image->std[1], image->std[2],
              image->is_default ? "true" : "false");
    write_fmt(writer, ",\"parameters\":%lld,\"file_bytes\":%llu,\"tensors\":%td,\"dtypes\":{",
              (long long)model->parameters, (unsigned long long)model->checkpoint.file_bytes,
              model->checkpoint.tensors.len);
    DTypeCount counts[DTYPES_MAX];
    int types = count_dtypes(&model->checkpoint, counts);
    for (int i = 0; i < types; i++) {
        write_fmt(writer, "%s\"%.*s\":%lld", i > 0 ? "," : "", STR_ARG(counts[i].text),
                  (long long)counts[i].tensors);
    }
    write_fmt(writer, "},\"used\":%td", used);
    print_json_names(writer, "unused", model->unused, model->unused_count);
    Str *texts = arena_array(&scratch, Str, problems.len);
    for (isize i = 0; i < problems.len; i++) {
        texts[i] = problem_text(&problems.at[i], &scratch);
    }
    print_json_names(writer, "problems", texts, problems.len);
    write_str(writer, S("}\n"));
}

bool model_describe(const char *path, Writer *writer, bool as_json, Arena *keep, Arena scratch,
                    Error *err)
{
    Model model;
    ModelOptions options = {.want_graph = true};
    ExpectedVec expected = {0};
    if (!model_load(path, &options, &expected, keep, scratch, &model, err)) {
        return false;
    }
    ProblemSpan problems = model_problems(&model, &expected, keep);
    model_find_unused(&model, &expected, keep, scratch);
    isize used = expected.len - problems.len;
    if (as_json) {
        print_json(writer, &model, problems, used, scratch);
    } else {
        print_text(writer, &model, problems, used, scratch);
    }
    model_close(&model);
    return problems.len == 0 ||
           error_set(err, ERROR_NO, path, "%td tensors are missing or wrong", problems.len);
}
