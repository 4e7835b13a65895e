/* import: model files and pictures -> Graph, TensorSource, input tensors.
 * takes: a checkpoint directory or file, picture files       gives: Model, float images; fixtures
 * uses: base tensor graph
 * never: run or plan anything
 *
 * Every byte from outside is hostile: reference/safetensors.md 3..6, decisions.md C.
 */
#pragma once
#include "base/base.h"
#include "graph/graph.h"
#include "tensor/tensor.h"

/* One opened safetensors file: table of tensors; data is read with pread on demand. */
typedef struct SafeTensor {
    Str name;
    Str dtype_text;
    DType dtype; /* DTYPE_NONE: not supported by this version */
    Shape shape;
    uint64_t begin, end; /* in the byte buffer */
} SafeTensor;
VEC(SafeTensor);

typedef struct Checkpoint {
    int fd;
    Str path;
    uint64_t data_at, file_bytes;
    SafeTensorVec tensors; /* sorted by name */
} Checkpoint;

/* Applies every rule of safetensors.md 3..5; ERROR_INPUT names file, place and what was expected. */
bool safetensors_open(const char *path, Arena *keep, Arena scratch, Checkpoint *out, Error *err);
/* Header checks alone, for tests and fuzzing: `bytes` = whole file. */
bool safetensors_parse(Str bytes, uint64_t file_bytes, Arena *keep, Arena scratch, Checkpoint *out,
                       Error *err);
void checkpoint_close(Checkpoint *checkpoint);
/* TensorSource over an open checkpoint (which must outlive it). */
TensorSource checkpoint_source(Checkpoint *checkpoint);

typedef struct TensorData { /* for writing */
    Str name;
    DType dtype; /* F32, F16 or BF16 */
    Shape shape;
    const void *at;
} TensorData;
/* Deterministic bytes, safetensors.md 8. */
bool safetensors_write(const char *path, const TensorData *tensors, isize count, Arena scratch,
                       Error *err);

typedef struct ImageSettings {
    int32_t height, width;
    bool do_resize, do_rescale, do_normalize, do_convert_rgb;
    int32_t resample; /* PIL code */
    double rescale_factor;
    double mean[3], std[3];
    bool is_default; /* no preprocessor_config.json: defaults of the family */
} ImageSettings;

typedef struct ModelConfig {
    int32_t width, mlp_width, layers, heads, channels, image, patch,
        classes; /* classes 0: no classifier */
    double eps;
    bool has_head;             /* MAP head */
    bool is_classifier_pooled; /* classifier input is pooler_output */
    Str architecture;          /* "siglip" */
    Str *labels;               /* id2label, [classes] or NULL */
} ModelConfig;

typedef struct ModelOptions {
    int32_t layers; /* 0: all; otherwise the first n */
    bool want_graph;
} ModelOptions;

typedef struct Model {
    Str path, name; /* directory; its last component */
    ModelConfig config;
    ImageSettings image;
    Checkpoint checkpoint;
    TensorSource source;
    Graph graph;        /* input tensor "image": [height, width, 3] of the processed picture */
    int64_t parameters; /* elements used */
    Str *unused;        /* tensors that the graph does not read */
    int32_t unused_count;
} Model;

/* Reads config.json, preprocessor_config.json, model.safetensors of a directory; builds and checks the graph; every tensor that
 * the graph names must exist with the expected shape (all missing ones counted, the first named).
 * `source` points into *out, which must not be moved. */
bool model_open(const char *path, const ModelOptions *options, Arena *keep, Arena scratch,
                Model *out, Error *err);
/* Like model_open, but lists problems (missing, wrong shape, unused, unknown keys) instead of stopping at the first; used by info.
 * Still false when no graph can be built;
 * ERROR_NO after listing tensors that are missing or wrong. */
bool model_describe(const char *path, Writer *writer, bool as_json, Arena *keep, Arena scratch,
                    Error *err);
void model_close(Model *model);

/* Decodes JPEG or PNG (by content), converts to RGB, resizes by PIL's rule, rescales and normalises: out = [height, width, 3]. */
bool image_prepare(const char *path, const ImageSettings *settings, Arena *keep, Arena scratch,
                   float **out, Error *err);
/* The resize alone (8-bit RGB), PIL's convolution: decisions in product.md 7. */
bool image_resize(const uint8_t *rgb, int32_t width, int32_t height, int32_t out_width,
                  int32_t out_height, int32_t resample, Arena *keep, Arena scratch, uint8_t **out,
                  Error *err);

/* Writes a randomised checkpoint in Hugging Face form into a directory (models.md 5; decisions.md D). `layers` 0: the fixture's.
 * `progress` may be NULL. */
bool fixture_write(Str name, const char *directory, uint64_t seed, int32_t layers, Arena scratch,
                   Writer *progress, Error *err);
/* Names of known fixtures, for messages: "siglip-tiny, siglip-base-ish, ...". */
Str fixture_names(void);

/* NumPy .npy, format 1.0, little-endian f4, C order. */
bool npy_write(const char *path, const float *at, const Shape *shape, Arena scratch, Error *err);
bool npy_read(const char *path, Arena *keep, float **at, Shape *shape, Error *err);
