/* config.json and preprocessor_config.json: defaults, refusals and bounds of decisions.md C, mutated texts. */
#include "import/parts.h"
#include "test.h"

static Arena keep;
static ModelConfig config;
static Error err;

static bool parse(const char *text)
{
    err = (Error){0};
    return config_parse(str_of(text), "config.json", &keep, &config, &err);
}

static const char so400m[] =
    "{\"architectures\":[\"SiglipModel\"],\"model_type\":\"siglip\",\"initializer_factor\":1.0,"
    "\"text_config\":{\"hidden_size\":1152,\"model_type\":\"siglip_text_model\"},"
    "\"vision_config\":{\"hidden_size\":1152,\"image_size\":384,\"intermediate_size\":4304,"
    "\"model_type\":\"siglip_vision_model\",\"num_attention_heads\":16,\"num_hidden_layers\":27,"
    "\"patch_size\":14}}";

static void accepted(void)
{
    CHECK_OK(parse(so400m), err);
    CHECK_EQ_INT(config.width, 1152);
    CHECK_EQ_INT(config.mlp_width, 4304);
    CHECK_EQ_INT(config.layers, 27);
    CHECK_EQ_INT(config.heads, 16);
    CHECK_EQ_INT(config.image, 384);
    CHECK_EQ_INT(config.patch, 14);
    CHECK_EQ_INT(config.classes, 0);
    CHECK(config.has_head && !config.is_classifier_pooled && config.eps == 1e-6);
    CHECK_STR(config.architecture, S("siglip"));
    /* All defaults, and the vision-only form. */
    CHECK_OK(parse("{\"model_type\":\"siglip_vision_model\"}"), err);
    CHECK(config.width == 768 && config.mlp_width == 3072 && config.layers == 12 &&
          config.heads == 12 && config.channels == 3 && config.image == 224 && config.patch == 16);
    CHECK_OK(parse("{\"model_type\":\"siglip\",\"vision_config\":{}}"), err);
    CHECK_EQ_INT(config.width, 768);
    CHECK_OK(parse("{\"model_type\":\"siglip_vision_model\",\"vision_use_head\":false,"
                   "\"layer_norm_eps\":1e-5,\"attention_dropout\":0.1}"),
             err);
    CHECK(!config.has_head && config.eps == 1e-5);
}

static void refused(void)
{
#define TOWER(text) "{\"model_type\":\"siglip_vision_model\"," text "}"
    static const struct {
        const char *text, *part;
    } rows[] = {
        {"", "not valid JSON"},
        {"[]", "expected a JSON object"},
        {"{\"a\":1,\"a\":2}", "not valid JSON"},
        {"{}", "model_type: expected"},
        {"{\"model_type\":7}", "model_type: expected"},
        {"{\"model_type\":\"clip\"}", "\"clip\" is not supported"},
        {"{\"model_type\":\"siglip\"}", "vision_config: expected an object"},
        {"{\"model_type\":\"siglip\",\"vision_config\":[]}", "vision_config: expected an object"},
        {"{\"model_type\":\"siglip\",\"vision_config\":{\"model_type\":\"vit\"}}",
         "vision_config.model_type"},
        {"{\"model_type\":\"siglip\",\"vision_config\":{\"hidden_size\":0}}",
         "vision_config.hidden_size: expected an integer from 1 to 65536"},
        {TOWER("\"hidden_act\":\"quick_gelu\""), "hidden_act"},
        {TOWER("\"hidden_act\":null"), "hidden_act"},
        {TOWER("\"num_channels\":1"), "num_channels: expected 3"},
        {TOWER("\"hidden_size\":770"), "not divisible"},
        {TOWER("\"hidden_size\":65537"), "hidden_size"},
        {TOWER("\"hidden_size\":\"768\""), "hidden_size"},
        {TOWER("\"hidden_size\":768.0"), "hidden_size"},
        {TOWER("\"hidden_size\":-768"), "hidden_size"},
        {TOWER("\"hidden_size\":9223372036854775807"), "hidden_size"},
        {TOWER("\"hidden_size\":9223372036854775808"), "not valid JSON"},
        {TOWER("\"intermediate_size\":100000"), "intermediate_size"},
        {TOWER("\"num_hidden_layers\":0"), "num_hidden_layers"},
        {TOWER("\"num_hidden_layers\":1001"), "num_hidden_layers"},
        {TOWER("\"num_attention_heads\":0"), "num_attention_heads"},
        {TOWER("\"image_size\":4097"), "image_size"},
        {TOWER("\"image_size\":4096,\"patch_size\":1"), "more than 65536 tokens"},
        {TOWER("\"patch_size\":0"), "patch_size"},
        {TOWER("\"patch_size\":225"), "larger than image_size"},
        {TOWER("\"layer_norm_eps\":0"), "layer_norm_eps"},
        {TOWER("\"layer_norm_eps\":1"), "layer_norm_eps"},
        {TOWER("\"layer_norm_eps\":\"1e-6\""), "layer_norm_eps"},
        {TOWER("\"layer_norm_eps\":1e999"), "not valid JSON"},
        {TOWER("\"vision_use_head\":1"), "vision_use_head"},
        {TOWER("\"tessera_classifier_input\":\"mean\""), "tessera_classifier_input"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CHECK_ERROR(parse(rows[i].text), err, ERROR_INPUT, rows[i].part);
        CHECK(strstr(err.where, "config.json") != NULL);
    }
    CHECK(strstr(err.where, "config.json") != NULL);
    CHECK(!parse("{\n\"a\": x}"));
    CHECK(strstr(err.where, "config.json:2:") != NULL);
}

static void classifiers(void)
{
#define CLASSIFIER(text)                                                                           \
    "{\"model_type\":\"siglip\",\"architectures\":[\"SiglipForImageClassification\"]," text "}"
    CHECK_OK(parse(CLASSIFIER("\"vision_config\":{},\"tessera_classifier_input\":\"pooler_output\","
                              "\"id2label\":{\"1\":\"dog\",\"0\":\"cat\",\"2\":\"\"}")),
             err);
    CHECK_EQ_INT(config.classes, 3);
    CHECK(config.is_classifier_pooled);
    CHECK_STR(config.labels[0], S("cat"));
    CHECK_STR(config.labels[1], S("dog"));
    CHECK_OK(
        parse(CLASSIFIER("\"vision_config\":{},\"tessera_classifier_input\":\"pooler_output\"")),
        err);
    CHECK(config.classes == 0 && config.labels == NULL);
    CHECK_ERROR(parse(CLASSIFIER("\"vision_config\":{}")), err, ERROR_INPUT, "mean of the tokens");
    CHECK_ERROR(parse(CLASSIFIER("\"vision_config\":{\"vision_use_head\":false},"
                                 "\"tessera_classifier_input\":\"pooler_output\"")),
                err, ERROR_INPUT, "pooling head");
    static const char *const labels[] = {"{}",
                                         "[]",
                                         "{\"1\":\"a\"}",
                                         "{\"0\":\"a\",\"2\":\"b\"}",
                                         "{\"0\":7}",
                                         "{\"0\":\"a\",\"00\":\"b\"}",
                                         "{\"-1\":\"a\"}",
                                         "{\"x\":\"a\"}"};
    for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++) {
        Str text = str_format(&keep,
                              CLASSIFIER("\"vision_config\":{},\"tessera_classifier_input\":"
                                         "\"pooler_output\",\"id2label\":%s"),
                              labels[i]);
        CHECK_ERROR(parse(text.at), err, ERROR_INPUT, "id2label");
    }
}

static bool prepare(const char *text, ImageSettings *out)
{
    err = (Error){0};
    CHECK(config.image == 384);
    return preprocessor_parse(str_of(text), "p.json", &config, out, &err);
}

static void preprocessors(void)
{
    Error none = {0};
    CHECK_OK(config_parse(str_of(so400m), "c", &keep, &config, &none), none);
    ImageSettings s;
    CHECK_OK(prepare("{}", &s), err);
    CHECK(s.height == 384 && s.width == 384 && s.do_resize && s.do_rescale && s.do_normalize &&
          s.do_convert_rgb && s.resample == 3 && s.rescale_factor == 1.0 / 255 &&
          s.mean[2] == 0.5 && s.std[0] == 0.5 && !s.is_default);
    CHECK(preprocessor_default(&config).is_default);
    CHECK_OK(
        prepare("{\"do_resize\":false,\"do_rescale\":false,\"do_normalize\":false,"
                "\"do_convert_rgb\":null,\"size\":{\"height\":384,\"width\":384},\"resample\":1,"
                "\"rescale_factor\":2,\"image_mean\":[0,1,2.5],\"image_std\":[1,2,3],"
                "\"image_processor_type\":\"SiglipImageProcessor\"}",
                &s),
        err);
    CHECK(!s.do_resize && !s.do_rescale && !s.do_normalize && s.do_convert_rgb && s.resample == 1 &&
          s.rescale_factor == 2.0 && s.mean[2] == 2.5 && s.std[1] == 2.0);
    static const struct {
        const char *text, *part;
    } rows[] = {
        {"{\"size\":{\"height\":224,\"width\":224}}", "image_size is 384"},
        {"{\"size\":{\"shortest_edge\":384}}", "height and width"},
        {"{\"size\":384}", "height and width"},
        {"{\"size\":{\"height\":384,\"width\":99999}}", "width"},
        {"{\"resample\":4}", "resample"},
        {"{\"resample\":\"bicubic\"}", "resample"},
        {"{\"rescale_factor\":0}", "rescale_factor"},
        {"{\"image_mean\":[0.5,0.5]}", "image_mean"},
        {"{\"image_mean\":0.5}", "image_mean"},
        {"{\"image_std\":[0.5,0,0.5]}", "image_std"},
        {"{\"image_std\":[0.5,\"1\",0.5]}", "image_std"},
        {"{\"do_resize\":1}", "do_resize"},
        {"{\"do_convert_rgb\":\"yes\"}", "do_convert_rgb"},
        {"{", "not valid JSON"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CHECK_ERROR(prepare(rows[i].text, &s), err, ERROR_INPUT, rows[i].part);
    }
}

static void mutations(void)
{
    uint64_t seed = test_seed(5), draw = 0;
    static const char *const texts[] = {
        so400m,
        CLASSIFIER("\"vision_config\":{\"hidden_size\":8,\"num_attention_heads\":2},"
                   "\"tessera_classifier_input\":\"pooler_output\",\"id2label\":{\"0\":\"a\"}"),
        "{\"do_resize\":true,\"size\":{\"height\":384,\"width\":384},\"resample\":3,\"rescale_"
        "factor\":"
        "0.0039,\"image_mean\":[0.5,0.5,0.5],\"image_std\":[0.5,0.5,0.5]}",
    };
    int ok = 0;
    for (int round = 0; round < 20000; round++) {
        Arena before = keep;
        char text[700];
        const char *from = texts[round % 3];
        isize len = (isize)strlen(from);
        memcpy(text, from, (size_t)len);
        for (uint64_t edits = 1 + random_below(seed, draw++, 3); edits > 0; edits--) {
            static const char alphabet[] = "0123456789-.eE\"{}[],:";
            uint64_t at = random_below(seed, draw++, (uint64_t)len);
            text[at] = random_below(seed, draw++, 5) == 0
                           ? (char)random_below(seed, draw++, 256)
                           : alphabet[random_below(seed, draw++, sizeof alphabet - 1)];
        }
        ModelConfig c = {.image = 384};
        ImageSettings s;
        Error e = {0};
        bool accepted_now = round % 3 == 2 ? preprocessor_parse((Str){text, len}, "p", &c, &s, &e)
                                           : config_parse((Str){text, len}, "c", &keep, &c, &e);
        CHECK_EQ_INT(e.code, accepted_now ? ERROR_NONE : ERROR_INPUT);
        if (accepted_now && round % 3 != 2) { /* whatever is accepted makes a valid graph */
            Arena arena = keep;
            Graph graph;
            ExpectedVec expected = {0};
            c.classes = c.is_classifier_pooled && c.classes == 0 ? 2 : c.classes;
            siglip_build(&c, S("m"), &arena, &graph, &expected);
            Error again = {0};
            CHECK_OK(graph_check(&graph, &again), again);
        }
        ok += accepted_now;
        keep = before;
    }
    CHECK(ok > 100);
}

static void starts(void)
{
    keep = arena_create(256 << 20);
}

TEST_MAIN(starts, accepted, refused, classifiers, preprocessors, mutations)
