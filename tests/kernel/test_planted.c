/* The checks of this room notice faults: each case changes one line of a kernel and must be complained about. */
#include "checks.h"
#include "kernel/embedded.h"

typedef struct Plant {
    KernelId kernel;
    const char *file, *find, *put; /* every occurrence in the file */
} Plant;

static const Plant PLANTS[] = {
    {KERNEL_gemm_f16, "gemm_f16.s", "uput    $FP_CLR, $a0", "fnop"},
    {KERNEL_gemm_f16, "gemm_f16.s", "cmpult  $m8, $m6, $m8", "setzi   $m8, 1"},
    {KERNEL_gemm_f16, "gemm_f16.s", "putcs 32\n", "putcs 8\n"},
    {KERNEL_gemm_f16, "gemm_f16.s", "P_BACK, $a4:5", "P_NEXT, $a4:5"},
    {KERNEL_gemm_f16, "gemm_f16.s", "add     $m3, $m3, $m5", "nop"},
    {KERNEL_bias_f16, "bias_f16.s", "cmpult  $m5, $m0, $m4", "setzi   $m5, 1"},
    {KERNEL_bias_f16, "bias_f16.s", "add     $m3, $m3, -1", "nop"},
    {KERNEL_add_f16, "launch.inc", "add     \\count, \\units, 5", "add     \\count, \\units, 6"},
    {KERNEL_gelu_f16, "gelu_f16.s", "f16v4clamp $a2:3, $a2:3, $a6", "fnop"},
    {KERNEL_gelu_f16, "launch.inc", "uput    $FP_CLR, \\aux", "fnop"},
    {KERNEL_layernorm_f16, "layernorm_f16.s", "uput    $FP_CLR, $a0", "fnop"},
    {KERNEL_layernorm_f16, "layernorm_f16.s", "f32v2sub $a2:3, $a6:B, $a2:3", "fnop"},
    {KERNEL_layernorm_f16, "layernorm_f16.s", "shl     $m7, $m7, 5", "nop"},
    {KERNEL_layernorm_f16, "layernorm_f16.s", "cmpult  $m4, $m10, $m4", "setzi   $m4, 1"},
    {KERNEL_softmax_f16, "softmax_f16.s", "and     $a2, $a2, $a0", "fnop"},
    {KERNEL_softmax_f16, "softmax_f16.s", "sort4x16lo $a0, $a0, $a0", "fnop"},
    {KERNEL_softmax_f16, "launch.inc", "uput    $FP_CLR, \\aux", "fnop"},
    {KERNEL_normalise_f16, "normalise_f16.s", "sort4x16lo $a1, $a1, $a2", "fnop"},
    {KERNEL_transpose_f16, "transpose_f16.s", "setzi   $m9, 7", "setzi   $m9, 6"},
    {KERNEL_transpose_f16, "transpose_f16.s", "sort4x16hi $a7, $a2, $a3",
     "sort4x16lo $a7, $a2, $a3"},
    {KERNEL_reduce_f16, "reduce_f16.s", "add     $m3, $m3, -1", "nop"},
    {KERNEL_reduce_f16, "launch.inc", "uput    $FP_CLR, \\aux", "fnop"},
    {KERNEL_copy64, "launch.inc", "cmpult  \\temp, \\worker, \\temp", "setzi   \\temp, 1"},
    {KERNEL_fill64, "launch.inc", "sub     \\count, \\count, \\worker", "nop"},
};

typedef struct Texts {
    Arena *arena;
    const Plant *plant; /* NULL: unchanged */
    int replaced;
} Texts;

static Str planted(Texts *texts, const EmbeddedFile *file)
{
    Str text = {file->text, file->length};
    if (texts->plant == NULL || strcmp(file->name, texts->plant->file) != 0) {
        return text;
    }
    const char *at = file->text, *hit;
    Writer writer = writer_buffer(texts->arena);
    while ((hit = strstr(at, texts->plant->find)) != NULL) {
        write_str(&writer, (Str){at, hit - at});
        write_str(&writer, str_of(texts->plant->put));
        at = hit + strlen(texts->plant->find);
        texts->replaced++;
    }
    write_str(&writer, str_of(at));
    return writer_text(&writer);
}

static bool find_text(void *context, Str name, Str *text, Error *err)
{
    for (int i = 0; i < kernel_file_count; i++) {
        if (str_equal(str_of(kernel_files[i].name), name)) {
            *text = planted(context, &kernel_files[i]);
            return true;
        }
    }
    return error_set(err, ERROR_INPUT, NULL, "no such kernel file");
}

/* Complaints of the kernel's checks; empty when it passes all. */
static const char *run_checks(Rig *rig, KernelId kernel, uint64_t seed)
{
    static const Extents SHAPES[] = {
        {1, 48, 48}, {5, 48, 32}, {7, 48, 48}, {13, 48, 48}, {19, 48, 48}};
    KernelCall call;
    double error = 0;
    bool ok = true;
    for (int i = 0; i < 5 && ok; i++) {
        Extents s = SHAPES[i];
        switch (kernel) {
        case KERNEL_gemm_f16:
            ok = check_gemm(rig, s, false, i % 2, seed, &call);
            break;
        case KERNEL_bias_f16:
            ok = check_bias(rig, s, seed, &call);
            break;
        case KERNEL_add_f16:
            ok = check_add(rig, s, ORDER_AMP_LEFT, false, seed, &call);
            break;
        case KERNEL_gelu_f16:
            ok = check_gelu(rig, s, false, 40, seed, &error, &call);
            break;
        case KERNEL_layernorm_f16:
            ok = check_layernorm(rig, s, 1, 1, seed, &call);
            break;
        case KERNEL_softmax_f16:
            ok = check_softmax(rig, s, 17, 0.125f, 8, false, seed, &call);
            break;
        case KERNEL_normalise_f16:
            ok = check_normalise(rig, s, seed, &call);
            break;
        case KERNEL_transpose_f16:
            ok = check_transpose(rig, (Extents){16, 0, 48}, seed, &call);
            break;
        case KERNEL_reduce_f16:
            ok = check_reduce(rig, (Extents){s.rows, 3, 32}, seed, &call);
            break;
        case KERNEL_copy64:
            ok = check_copy(rig, 15 + i, 1, 20, 20, seed, &call);
            break;
        case KERNEL_fill64:
            ok = check_fill(rig, 1 + i, 4, 1 + i, &call);
            break;
        default:
            CHECK_EQ_INT(kernel, KERNEL_none); /* every kernel but barrier has a check */
        }
    }
    return rig->complaint;
}

static void run_plant(KernelId kernel, const Plant *plant)
{
    Arena keep = arena_create(1 << 26), scratch = arena_create(1 << 26);
    Texts texts = {&keep, plant, 0};
    AsmIncludes includes = {&texts, find_text};
    Str file = str_format(&keep, "%.*s.s", STR_ARG(kernel_of(kernel)->name)), text;
    Object object;
    Error err = {0};
    CHECK_OK(find_text(&texts, file, &text, &err), err);
    AsmOptions options = {.includes = &includes};
    CHECK_OK(asm_assemble(file, text, &options, &keep, scratch, &object, &err), err);
    Rig rig = rig_create(&object, 1);
    const char *complaint = run_checks(&rig, kernel, 11);
    if (plant == NULL) {
        CHECK_CSTR(complaint, "");
    } else {
        fprintf(stderr, "%s: `%s` -> `%s`: %s\n", plant->file, plant->find, plant->put,
                complaint[0] ? complaint : "NOT NOTICED");
        CHECK(texts.replaced > 0);
        CHECK(complaint[0] != 0);
    }
    rig_destroy(&rig);
    arena_destroy(&keep);
    arena_destroy(&scratch);
}

static void unchanged_passes(void)
{
    for (int id = 1; id < KERNEL_COUNT; id++) {
        if (id != KERNEL_barrier) {
            run_plant((KernelId)id, NULL);
        }
    }
}

static void planted_is_noticed(void)
{
    for (size_t i = 0; i < sizeof PLANTS / sizeof *PLANTS; i++) {
        run_plant(PLANTS[i].kernel, &PLANTS[i]);
    }
}

TEST_MAIN(unchanged_passes, planted_is_noticed)
