/* config.json and preprocessor_config.json (decisions.md C), through jansson with duplicate keys refused.
 *
 * Keys that are not listed are ignored: real files hold dozens. A listed key with a value of the wrong kind or
 * out of range is an error, because guessing would compute something else than the author of the file meant.
 * Every number is bounded, so that no later product can overflow.
 */
#include "import/parts.h"
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    WIDTH_MAX = 65536,
    LAYERS_MAX = 1000,
    IMAGE_MAX = 4096,
    TOKENS_MAX = 65536,
    CLASSES_MAX = 65536
};

typedef struct ConfigReader {
    const char *where;  /* file */
    const char *inside; /* "vision_config." or "" */
    Error *err;
} ConfigReader;

static bool fail(const ConfigReader *reader, const char *key, const char *expected)
{
    return error_set(reader->err, ERROR_INPUT, reader->where, "%s%s: expected %s", reader->inside,
                     key, expected);
}

/* Leaves *out alone when the key is absent. */
static bool read_int(const ConfigReader *reader, const json_t *object, const char *key, int32_t low,
                     int32_t high, int32_t *out)
{
    const json_t *value = json_object_get(object, key);
    if (value == NULL) {
        return true;
    }
    json_int_t number = json_integer_value(value);
    if (!json_is_integer(value) || number < low || number > high) {
        char expected[64];
        (void)snprintf(expected, sizeof expected, "an integer from %d to %d", low, high);
        return fail(reader, key, expected);
    }
    *out = (int32_t)number;
    return true;
}

static bool read_bool(const ConfigReader *reader, const json_t *object, const char *key, bool *out)
{
    const json_t *value = json_object_get(object, key);
    if (value == NULL) {
        return true;
    }
    if (!json_is_boolean(value)) {
        return fail(reader, key, "true or false");
    }
    *out = json_is_true(value);
    return true;
}

static bool number_in(const json_t *value, double low, double high, double *out)
{
    double number = json_number_value(value);
    if (!json_is_number(value) || !(number >= low && number <= high)) {
        return false;
    }
    *out = number;
    return true;
}

static bool read_number(const ConfigReader *reader, const json_t *object, const char *key,
                        double low, double high, double *out)
{
    const json_t *value = json_object_get(object, key);
    if (value == NULL || number_in(value, low, high, out)) {
        return true;
    }
    char expected[64];
    (void)snprintf(expected, sizeof expected, "a number from %g to %g", low, high);
    return fail(reader, key, expected);
}

/* Loads a whole document; NULL after filling the error. */
static json_t *load(const ConfigReader *reader, Str text)
{
    json_error_t problem;
    if (text.len > CONFIG_BYTES_MAX) {
        (void)error_set(reader->err, ERROR_INPUT, reader->where, "more than 4 MiB");
        return NULL;
    }
    json_t *root = json_loadb(text.at, (size_t)text.len, JSON_REJECT_DUPLICATES, &problem);
    if (root == NULL) {
        char where[256];
        (void)snprintf(where, sizeof where, "%s:%d:%d", reader->where, problem.line,
                       problem.column);
        (void)error_set(reader->err, ERROR_INPUT, where, "not valid JSON: %s", problem.text);
        return NULL;
    }
    if (!json_is_object(root)) {
        json_decref(root);
        (void)error_set(reader->err, ERROR_INPUT, reader->where, "expected a JSON object");
        return NULL;
    }
    return root;
}

/* --- config.json ---------------------------------------------------------------------------------------- */

static bool read_tower(const ConfigReader *reader, const json_t *tower, ModelConfig *out)
{
    const json_t *act = json_object_get(tower, "hidden_act");
    bool ok = read_int(reader, tower, "hidden_size", 1, WIDTH_MAX, &out->width) &&
              read_int(reader, tower, "intermediate_size", 1, WIDTH_MAX, &out->mlp_width) &&
              read_int(reader, tower, "num_hidden_layers", 1, LAYERS_MAX, &out->layers) &&
              read_int(reader, tower, "num_attention_heads", 1, WIDTH_MAX, &out->heads) &&
              read_int(reader, tower, "num_channels", 1, WIDTH_MAX, &out->channels) &&
              read_int(reader, tower, "image_size", 1, IMAGE_MAX, &out->image) &&
              read_int(reader, tower, "patch_size", 1, IMAGE_MAX, &out->patch) &&
              read_number(reader, tower, "layer_norm_eps", 1e-12, 0.1, &out->eps) &&
              read_bool(reader, tower, "vision_use_head", &out->has_head);
    if (!ok) {
        return false;
    }
    if (act != NULL &&
        (!json_is_string(act) || strcmp(json_string_value(act), "gelu_pytorch_tanh") != 0)) {
        return fail(reader, "hidden_act", "\"gelu_pytorch_tanh\", the only one supported");
    }
    if (out->channels != 3) {
        return fail(reader, "num_channels", "3, the only number of channels supported");
    }
    if (out->width % out->heads != 0) {
        return error_set(reader->err, ERROR_INPUT, reader->where,
                         "%shidden_size %d is not divisible by num_attention_heads %d",
                         reader->inside, out->width, out->heads);
    }
    if (out->patch > out->image) {
        return error_set(reader->err, ERROR_INPUT, reader->where,
                         "%spatch_size %d is larger than image_size %d", reader->inside, out->patch,
                         out->image);
    }
    int64_t side = out->image / out->patch;
    if (side * side > TOKENS_MAX) {
        return error_set(reader->err, ERROR_INPUT, reader->where,
                         "%simage_size %d and patch_size %d give more than %d tokens",
                         reader->inside, out->image, out->patch, TOKENS_MAX);
    }
    return true;
}

/* id2label: keys "0".."n-1", each once. */
static bool read_labels(const ConfigReader *reader, json_t *root, Arena *keep, ModelConfig *out)
{
    json_t *labels = json_object_get(root, "id2label");
    if (labels == NULL) {
        return true; /* the classes are counted from the tensor */
    }
    size_t count = json_object_size(labels);
    if (!json_is_object(labels) || count < 1 || count > CLASSES_MAX) {
        return fail(reader, "id2label", "an object of 1 to 65536 labels");
    }
    out->classes = (int32_t)count;
    out->labels = arena_array(keep, Str, (isize)count);
    const char *key;
    json_t *value;
    json_object_foreach(labels, key, value)
    {
        int64_t id;
        if (!str_to_int(str_of(key), &id) || id < 0 || id >= (int64_t)count ||
            out->labels[id].at != NULL || !json_is_string(value)) {
            return fail(reader, "id2label", "the keys 0, 1, 2 ... with a text each");
        }
        Str text = {json_string_value(value), (isize)json_string_length(value)};
        out->labels[id] = str_copy(text, keep);
    }
    return true;
}

static bool is_classifier(const json_t *root)
{
    const json_t *architectures = json_object_get(root, "architectures");
    for (size_t i = 0; i < json_array_size(architectures); i++) {
        const char *name = json_string_value(json_array_get(architectures, i));
        if (name != NULL && strcmp(name, "SiglipForImageClassification") == 0) {
            return true;
        }
    }
    return false;
}

static bool read_classifier(const ConfigReader *reader, json_t *root, Arena *keep, ModelConfig *out)
{
    const json_t *input = json_object_get(root, "tessera_classifier_input");
    if (input != NULL &&
        (!json_is_string(input) || strcmp(json_string_value(input), "pooler_output") != 0)) {
        return fail(reader, "tessera_classifier_input", "\"pooler_output\"");
    }
    if (!is_classifier(root)) {
        return true;
    }
    if (input == NULL) {
        return error_set(reader->err, ERROR_INPUT, reader->where,
                         "a classifier on the mean of the tokens is not supported by this version "
                         "(tessera_classifier_input \"pooler_output\" is)");
    }
    if (!out->has_head) {
        return error_set(
            reader->err, ERROR_INPUT, reader->where,
            "a classifier on pooler_output needs the pooling head, but vision_use_head "
            "is false");
    }
    out->is_classifier_pooled = true;
    return read_labels(reader, root, keep, out);
}

static bool read_config(const ConfigReader *reader, json_t *root, Arena *keep, ModelConfig *out)
{
    static const char known[] = "\"siglip\" or \"siglip_vision_model\"";
    const char *type = json_string_value(json_object_get(root, "model_type"));
    if (type == NULL) {
        return fail(reader, "model_type", known);
    }
    ConfigReader inner = *reader;
    const json_t *tower = root;
    if (strcmp(type, "siglip") == 0) {
        tower = json_object_get(root, "vision_config");
        if (!json_is_object(tower)) {
            return fail(reader, "vision_config", "an object");
        }
        const json_t *inner_type = json_object_get(tower, "model_type");
        inner.inside = "vision_config.";
        if (inner_type != NULL &&
            (!json_is_string(inner_type) ||
             strcmp(json_string_value(inner_type), "siglip_vision_model") != 0)) {
            return fail(&inner, "model_type", "\"siglip_vision_model\"");
        }
    } else if (strcmp(type, "siglip_vision_model") != 0) {
        return error_set(reader->err, ERROR_INPUT, reader->where,
                         "model_type \"%.60s\" is not supported, expected %s", type, known);
    }
    return read_tower(&inner, tower, out) && read_classifier(reader, root, keep, out);
}

bool config_parse(Str text, const char *where, Arena *keep, ModelConfig *out, Error *err)
{
    ConfigReader reader = {where, "", err};
    *out = (ModelConfig){.width = 768,
                         .mlp_width = 3072,
                         .layers = 12,
                         .heads = 12,
                         .channels = 3,
                         .image = 224,
                         .patch = 16,
                         .eps = 1e-6,
                         .has_head = true,
                         .architecture = S("siglip")};
    json_t *root = load(&reader, text);
    if (root == NULL) {
        return false;
    }
    bool ok = read_config(&reader, root, keep, out);
    json_decref(root);
    return ok;
}

/* --- preprocessor_config.json --------------------------------------------------------------------------- */

static bool read_triple(const ConfigReader *reader, const json_t *root, const char *key, double low,
                        double high, double out[3])
{
    const json_t *list = json_object_get(root, key);
    if (list == NULL) {
        return true;
    }
    bool ok = json_is_array(list) && json_array_size(list) == 3;
    for (size_t i = 0; ok && i < 3; i++) {
        ok = number_in(json_array_get(list, i), low, high, &out[i]);
    }
    char expected[64];
    (void)snprintf(expected, sizeof expected, "a list of 3 numbers from %g to %g", low, high);
    return ok || fail(reader, key, expected);
}

static bool read_size(const ConfigReader *reader, const json_t *root, ImageSettings *out)
{
    const json_t *size = json_object_get(root, "size");
    if (size == NULL) {
        return true;
    }
    if (json_object_get(size, "height") == NULL || json_object_get(size, "width") == NULL) {
        return fail(reader, "size", "an object with height and width");
    }
    int32_t model = out->height;
    if (!read_int(reader, size, "height", 1, IMAGE_MAX, &out->height) ||
        !read_int(reader, size, "width", 1, IMAGE_MAX, &out->width)) {
        return false;
    }
    if (out->height != model || out->width != model) {
        return error_set(reader->err, ERROR_INPUT, reader->where,
                         "size is %d x %d, but the model's image_size is %d", out->height,
                         out->width, model);
    }
    return true;
}

static bool read_preprocessor(const ConfigReader *reader, const json_t *root, ImageSettings *out)
{
    const json_t *convert = json_object_get(root, "do_convert_rgb");
    return read_bool(reader, root, "do_resize", &out->do_resize) &&
           read_bool(reader, root, "do_rescale", &out->do_rescale) &&
           read_bool(reader, root, "do_normalize", &out->do_normalize) &&
           (json_is_null(convert) ||
            read_bool(reader, root, "do_convert_rgb", &out->do_convert_rgb)) &&
           read_int(reader, root, "resample", 0, 3, &out->resample) &&
           read_number(reader, root, "rescale_factor", 1e-9, 1e9, &out->rescale_factor) &&
           read_triple(reader, root, "image_mean", -1e6, 1e6, out->mean) &&
           read_triple(reader, root, "image_std", 1e-9, 1e6, out->std) &&
           read_size(reader, root, out);
}

ImageSettings preprocessor_default(const ModelConfig *config)
{
    return (ImageSettings){.height = config->image,
                           .width = config->image,
                           .do_resize = true,
                           .do_rescale = true,
                           .do_normalize = true,
                           .do_convert_rgb = true,
                           .resample = 3,
                           .rescale_factor = 1.0 / 255.0,
                           .mean = {0.5, 0.5, 0.5},
                           .std = {0.5, 0.5, 0.5},
                           .is_default = true};
}

bool preprocessor_parse(Str text, const char *where, const ModelConfig *config, ImageSettings *out,
                        Error *err)
{
    ConfigReader reader = {where, "", err};
    *out = preprocessor_default(config);
    out->is_default = false;
    json_t *root = load(&reader, text);
    if (root == NULL) {
        return false;
    }
    bool ok = read_preprocessor(&reader, root, out);
    json_decref(root);
    return ok;
}
