/* Shared inside import: untrusted names, configuration files, expected tensors, streamed writing. */
#pragma once
#include "import/import.h"

/* --- safetensors ---------------------------------------------------------------------------------------- */

enum {
    HEADER_BYTES_MAX = 16 << 20,    /* safetensors.md 5 */
    HEADER_BYTES_FORMAT = 100000000 /* safetensors.md 3, rule 2 */
};

/* NULL when absent. */
const SafeTensor *checkpoint_find(const Checkpoint *checkpoint, Str name);

/* Fills `count` elements from `begin` of tensor `index` of the caller's list, in its dtype. */
typedef void (*TensorFill)(void *context, isize index, int64_t begin, int64_t count, void *out);
/* safetensors_write with data produced piece by piece (a So400m fixture has 1.7 GB). */
bool safetensors_write_filled(const char *path, const TensorData *tensors, isize count,
                              TensorFill fill, void *context, Arena scratch, Error *err);

/* --- configuration -------------------------------------------------------------------------------------- */

enum { CONFIG_BYTES_MAX = 4 << 20 };

/* The text of config.json; `where` names it in errors. */
bool config_parse(Str text, const char *where, Arena *keep, ModelConfig *out, Error *err);
/* The text of preprocessor_config.json, for a model of config->image pixels. */
bool preprocessor_parse(Str text, const char *where, const ModelConfig *config, ImageSettings *out,
                        Error *err);
/* What SigLIP does when there is no such file. */
ImageSettings preprocessor_default(const ModelConfig *config);

/* --- graphs --------------------------------------------------------------------------------------------- */

/* A tensor that a graph reads, by checkpoint name. */
typedef struct Expected {
    Str name;
    Shape shape;
} Expected;
VEC(Expected);

/* Builds the vision tower (models.md 1); `expected` receives every tensor it reads, in order of use. */
void siglip_build(const ModelConfig *config, Str name, Arena *keep, Graph *out,
                  ExpectedVec *expected);

/* --- models ------------------------------------------------------------------------------------------- */

/* A tensor that the graph needs and the checkpoint does not hold as needed. */
typedef struct Problem {
    Expected expected;
    const SafeTensor *found; /* NULL: missing */
} Problem;
SPAN(Problem);

/* Everything of model_open except judging the tensors. On failure nothing stays open. */
bool model_load(const char *path, const ModelOptions *options, ExpectedVec *expected, Arena *keep,
                Arena scratch, Model *out, Error *err);
ProblemSpan model_problems(const Model *model, const ExpectedVec *expected, Arena *keep);
Str problem_text(const Problem *problem, Arena *arena);
/* Fills unused and unused_count. */
void model_find_unused(Model *model, const ExpectedVec *expected, Arena *keep, Arena scratch);

/* --- pictures ------------------------------------------------------------------------------------------- */

enum { IMAGE_SIDE_MAX = 16384, IMAGE_PIXELS_MAX = 100000000, IMAGE_FILE_MAX = 256 << 20 };

/* 8-bit RGB of a JPEG or PNG file in memory. `is_rgb`: refuse pictures stored otherwise. */
bool image_decode(Str bytes, const char *where, bool is_rgb, Arena *keep, uint8_t **rgb,
                  int32_t *width, int32_t *height, Error *err);

/* --- small help ----------------------------------------------------------------------------------------- */

static inline isize arena_room(const Arena *arena)
{
    return arena->end - arena->at;
}
/* All of [at, at + len) from the file; ERROR_INPUT when it ends early. */
bool read_exactly(int fd, void *at, uint64_t len, uint64_t file_at, const char *where, Error *err);
