/* Randomised checkpoints in Hugging Face form (decisions.md D, models.md 5.1).
 *
 * The list of tensors is the one that the importer expects of the same configuration, so a fixture is complete by
 * construction. Every element comes from a counter-based generator under a seed of its own tensor, times a
 * standard deviation that follows from the name: bytes do not depend on the machine, on the order of writing or on
 * the number of threads.
 */
#include "import/parts.h"
#include <math.h>

enum { CHUNK_ELEMS = 4096 };

typedef struct Fixture {
    const char *name;
    int32_t image, patch, width, heads, mlp_width, layers;
} Fixture;

static const Fixture fixtures[] = {
    {"siglip-tiny", 42, 14, 144, 2, 304, 2},
    {"siglip-base-ish", 112, 14, 384, 6, 1536, 4},
    {"siglip-so400m-14-384", 384, 14, 1152, 16, 4304, 27},
};
enum { FIXTURE_COUNT = sizeof fixtures / sizeof fixtures[0] };

/* --- values --------------------------------------------------------------------------------------------- */

/* How one tensor is filled: a constant, or normal samples. */
typedef struct Recipe {
    double constant, std;
    uint64_t seed;
} Recipe;

static bool name_has(Str name, Str part)
{
    for (isize i = 0; i + part.len <= name.len; i++) {
        if (str_equal(str_slice(name, i, i + part.len), part)) {
            return true;
        }
    }
    return false;
}

/* models.md 5.1 under the Hugging Face names, where weights are [out, in]. */
static Recipe recipe_of(const Expected *tensor, int32_t width, uint64_t seed)
{
    Recipe recipe = {.seed = hash64_of(tensor->name.at, tensor->name.len, seed)};
    Str name = tensor->name;
    const int64_t *dim = tensor->shape.dim;
    if (str_ends(name, S("bias"))) {
        recipe.std = 1e-6;
    } else if (name_has(name, S("norm"))) {
        recipe.constant = 1.0; /* layer_norm1, layer_norm2, post_layernorm, layernorm: gamma */
    } else if (str_ends(name, S("position_embedding.weight")) || str_ends(name, S("probe"))) {
        recipe.std = 1.0 / sqrt((double)width);
    } else {
        ASSERT(tensor->shape.rank == 2 || tensor->shape.rank == 4);
        int64_t out = dim[0], in = dim[1];
        if (tensor->shape.rank == 4) {
            in = dim[1] * dim[2] * dim[3];
        } else if (str_ends(name, S("in_proj_weight"))) {
            out /= 3; /* the fan-out of one projection */
        }
        recipe.std = sqrt(2.0 / (double)(in + out));
    }
    return recipe;
}

static const double PROGRESS_SECONDS = 2;

typedef struct FillJob {
    const Recipe *recipe;
    int64_t begin, count;
    float *out;
} FillJob;

static void fill_chunk(void *context, isize index, int worker)
{
    (void)worker;
    const FillJob *job = context;
    int64_t end = min_i64(job->count, (index + 1) * CHUNK_ELEMS);
    for (int64_t i = index * CHUNK_ELEMS; i < end; i++) {
        double value = job->recipe->constant;
        if (job->recipe->std > 0.0) {
            value = random_normal(job->recipe->seed, (uint64_t)(job->begin + i)) * job->recipe->std;
        }
        job->out[i] = (float)value;
    }
}

/* All tensors, and how far the writing is. */
typedef struct Filling {
    const Recipe *recipes;
    int64_t done_elems, total_elems;
    double shown_at;  /* seconds */
    Writer *progress; /* may be NULL */
} Filling;

static void fill_tensor(void *context, isize index, int64_t begin, int64_t count, void *out)
{
    Filling *filling = context;
    FillJob job = {filling->recipes + index, begin, count, out};
    parallel_for(cpu_count(), div_up(count, CHUNK_ELEMS), 1, fill_chunk, &job);
    filling->done_elems += count;
    if (filling->progress != NULL && time_seconds() > filling->shown_at + PROGRESS_SECONDS) {
        write_fmt(filling->progress, "  %lld of %lld MB\n",
                  (long long)filling->done_elems * 4 / 1000000,
                  (long long)filling->total_elems * 4 / 1000000);
        writer_flush(filling->progress);
        filling->shown_at = time_seconds();
    }
}

/* --- configuration files -------------------------------------------------------------------------------- */

static Str config_text(const Fixture *fixture, Arena *arena)
{
    return str_format(arena,
                      "{\n"
                      "  \"architectures\": [\n    \"SiglipModel\"\n  ],\n"
                      "  \"model_type\": \"siglip\",\n"
                      "  \"torch_dtype\": \"float32\",\n"
                      "  \"vision_config\": {\n"
                      "    \"attention_dropout\": 0.0,\n"
                      "    \"hidden_act\": \"gelu_pytorch_tanh\",\n"
                      "    \"hidden_size\": %d,\n"
                      "    \"image_size\": %d,\n"
                      "    \"intermediate_size\": %d,\n"
                      "    \"layer_norm_eps\": 1e-06,\n"
                      "    \"model_type\": \"siglip_vision_model\",\n"
                      "    \"num_attention_heads\": %d,\n"
                      "    \"num_channels\": 3,\n"
                      "    \"num_hidden_layers\": %d,\n"
                      "    \"patch_size\": %d,\n"
                      "    \"vision_use_head\": true\n"
                      "  }\n}\n",
                      fixture->width, fixture->image, fixture->mlp_width, fixture->heads,
                      fixture->layers, fixture->patch);
}

static Str preprocessor_text(const Fixture *fixture, Arena *arena)
{
    return str_format(arena,
                      "{\n"
                      "  \"do_convert_rgb\": true,\n"
                      "  \"do_normalize\": true,\n"
                      "  \"do_rescale\": true,\n"
                      "  \"do_resize\": true,\n"
                      "  \"image_mean\": [\n    0.5,\n    0.5,\n    0.5\n  ],\n"
                      "  \"image_processor_type\": \"SiglipImageProcessor\",\n"
                      "  \"image_std\": [\n    0.5,\n    0.5,\n    0.5\n  ],\n"
                      "  \"resample\": 3,\n"
                      "  \"rescale_factor\": 0.00392156862745098,\n"
                      "  \"size\": {\n    \"height\": %d,\n    \"width\": %d\n  }\n}\n",
                      fixture->image, fixture->image);
}

static const Fixture *find_fixture(Str name)
{
    for (int i = 0; i < FIXTURE_COUNT; i++) {
        if (str_equal(name, str_of(fixtures[i].name))) {
            return &fixtures[i];
        }
    }
    return NULL;
}

/* The tensors that the importer reads, and how each is filled. */
static void list_tensors(const ModelConfig *config, uint64_t seed, Arena *arena,
                         TensorData **tensors, Recipe **recipes, isize *count)
{
    Graph graph;
    ExpectedVec expected = {0};
    siglip_build(config, S("fixture"), arena, &graph, &expected);
    *count = expected.len;
    *tensors = arena_array(arena, TensorData, expected.len);
    *recipes = arena_array(arena, Recipe, expected.len);
    for (isize i = 0; i < expected.len; i++) {
        (*tensors)[i] = (TensorData){
            .name = expected.at[i].name, .dtype = DTYPE_F32, .shape = expected.at[i].shape};
        (*recipes)[i] = recipe_of(&expected.at[i], config->width, seed);
    }
}

Str fixture_names(void)
{
    return S("siglip-tiny, siglip-base-ish, siglip-so400m-14-384");
}

bool fixture_write(Str name, const char *directory, uint64_t seed, int32_t layers, Arena scratch,
                   Writer *progress, Error *err)
{
    enum { LAYERS_MAX = 1000 };
    const Fixture *known = find_fixture(name);
    if (known == NULL) {
        return error_set(err, ERROR_INPUT, NULL, "unknown fixture \"%.*s\" (known: %.*s)",
                         STR_ARG(str_shown(name, &scratch)), STR_ARG(fixture_names()));
    }
    if (layers < 0 || layers > LAYERS_MAX) {
        return error_set(err, ERROR_INPUT, NULL, "layers: expected 1 to %d, found %d", LAYERS_MAX,
                         layers);
    }
    Fixture fixture = *known;
    fixture.layers = layers > 0 ? layers : fixture.layers;
    Str config = config_text(&fixture, &scratch);
    ModelConfig parsed;
    if (!config_parse(config, "config.json", &scratch, &parsed, err)) {
        return false;
    }
    TensorData *tensors;
    Recipe *recipes;
    isize count;
    list_tensors(&parsed, seed, &scratch, &tensors, &recipes, &count);
    Filling filling = {.recipes = recipes, .shown_at = time_seconds(), .progress = progress};
    for (isize i = 0; i < count; i++) {
        filling.total_elems += shape_elems(&tensors[i].shape);
    }
    return dir_make(directory, err) &&
           safetensors_write_filled(str_format(&scratch, "%s/model.safetensors", directory).at,
                                    tensors, count, fill_tensor, &filling, scratch, err) &&
           file_write(str_format(&scratch, "%s/preprocessor_config.json", directory).at,
                      preprocessor_text(&fixture, &scratch), err) &&
           file_write(str_format(&scratch, "%s/config.json", directory).at, config, err);
}
