/* A session over a two-tile program: inputs and weights are packed into tile A, one exchange phase carries both to tile B, the
 * outputs read them there. Expected values follow from the packing records by hand.
 */
#include "runtime/runtime.h"
#include "test.h"
#include <math.h>

enum {
    ENTRY = SRAM_IMAGE_BASE,
    ROW = 0x4e000,
    FROM = 0x80000, /* input: 4 x 16 F16 in panels; behind it the weights: 16 x 32 F16 */
    TO = 0x90000,
    INPUT_BYTES = 4 * 16 * 2,
    WEIGHT_BYTES = 16 * 32 * 2,
    WORDS = (INPUT_BYTES + WEIGHT_BYTES) / 4,
    SENT = 100, /* event */
};

static const PhysTile tile_a = {53}, tile_b = {63};

/* Input barrier, phase, output barrier, again; the words are those of exchange.md 4. */
static Str program_of(bool is_active, Arena *arena)
{
    uint32_t *word = arena_array(arena, uint32_t, 24);
    int n = 0;
    const uint32_t start[] = {0x19800640, 0x438080a0, 0x19800000, 0x438080a4,
                              0x438080a7, 0x19800001, 0x438080a6};
    for (size_t i = 0; i < sizeof start / 4; i++) {
        word[n++] = start[i];
    }
    uint32_t loop = ENTRY + 4 * (uint32_t)n;
    word[n++] = 0x41800007;
    word[n++] = is_active ? 0x41800003 : 0x40c00000;
    word[n++] = is_active ? 0x18a00000 | ROW / 4 : 0x41800001;
    word[n++] = 0x41800007;
    word[n++] = 0x40800000 | loop / 4;
    return (Str){(const char *)(const void *)word, 4 * n};
}

static Str row_of(bool is_sender, Arena *arena)
{
    uint32_t *word = arena_array(arena, uint32_t, 16);
    int n = 0;
    Event src = SENT + time_to_mux(tile_a, tile_b) + 1, pointer = src + 52 + 2 * phys_row(tile_b);
    if (is_sender) {
        word[n++] = 0x40a00000 | (SENT - 1);
        word[n++] = 0x78000000 | 63u << 21 | FROM / 4 << 3 | SCTL_BOTH;
        uint32_t rest = WORDS - 64 - 1;
        word[n++] = 0x70000000 | (rest & 63) << 21 | rest >> 6 << 14 | SCTL_BOTH;
    } else {
        word[n++] = 0x64000000 | (uint32_t)(src - 1) << 14 | tile_a.id;
        word[n++] = 0x60000000 | (uint32_t)(pointer - src - 1) << 19 | TO / 4;
        word[n++] = 0x64000000 | (uint32_t)(src + WORDS - pointer - 1) << 14 | FABRIC_NEUTRAL;
        word[n++] = 0x40a00000 | (uint32_t)(pointer - src + 5 - 1);
    }
    word[n++] = 0x43a00000;
    return (Str){(const char *)(const void *)word, 4 * n};
}

static void add_segment(Package *package, uint32_t address, Str bytes, Arena *arena)
{
    const void *at = bytes.at;
    uint32_t len = (uint32_t)bytes.len;
    *vec_push(&package->segments, arena) = (Segment){address, len, at, len, SEGMENT_EXECUTE};
}

static void add_binding(Package *package, Binding binding, PhysTile tile, uint32_t address,
                        uint32_t bytes, Arena *arena)
{
    binding.shard_first = (int32_t)package->shards.len;
    binding.shard_count = 1;
    *vec_push(&package->bindings, arena) = binding;
    *vec_push(&package->shards, arena) =
        (BindingShard){.tile = tile,
                       .address = address,
                       .bytes = bytes,
                       .alloc_rows = binding.rows, /* multiples of what the orders need */
                       .alloc_cols = binding.cols,
                       .box = region_of(0, binding.rows, 0, binding.cols)};
}

static Package small_package(Arena *arena)
{
    Package package = {.model = S("echo"), .compiler_version = S("test")};
    for (uint16_t i = 0; i < CHIP_TILES; i++) {
        bool is_active = i == tile_a.id || i == tile_b.id;
        *vec_push(&package.tiles, arena) =
            (TileImage){{i}, ENTRY, (int32_t)package.segments.len, is_active ? 2 : 1};
        add_segment(&package, ENTRY, program_of(is_active, arena), arena);
        if (is_active) {
            add_segment(&package, ROW, row_of(i == tile_a.id, arena), arena);
        }
    }
    PackPart *parts = arena_array(arena, PackPart, 3);
    /* Transposed pixels; 12 of 16 columns exist, in two heads of 6 padded to 8. */
    parts[0] = (PackPart){
        .tensor = S("pixels"),
        .col_end = 16,
        .rows = pack_axis_simple(4, 1),
        .cols = {.rank = 1, .size = {12}, .stride = {4}, .group_logical = 6, .group_padded = 8}};
    /* Two checkpoint matrices [out, in] side by side as K x N. */
    parts[1] = (PackPart){S("q"), 0, 16, 0, pack_axis_simple(16, 1), pack_axis_simple(16, 16)};
    parts[2] = (PackPart){S("k"), 16, 32, 0, pack_axis_simple(16, 1), pack_axis_simple(16, 16)};
    Binding input = {.name = S("pixels"),
                     .kind = BINDING_INPUT,
                     .dtype = DTYPE_F16,
                     .order = S("amp_left"),
                     .rows = 4,
                     .cols = 16,
                     .packing = {4, 16, {parts, 1}}};
    Binding weight = {.name = S("qk"),
                      .kind = BINDING_WEIGHT,
                      .dtype = DTYPE_F16,
                      .order = S("amp_right"),
                      .rows = 16,
                      .cols = 32,
                      .packing = {16, 32, {parts + 1, 2}}};
    add_binding(&package, input, tile_a, FROM, INPUT_BYTES, arena);
    add_binding(&package, weight, tile_a, FROM + INPUT_BYTES, WEIGHT_BYTES, arena);
    input.kind = weight.kind = BINDING_OUTPUT;
    input.packing = weight.packing = (Packing){0};
    input.name = S("pixels.out");
    weight.name = S("qk.out");
    add_binding(&package, input, tile_b, TO, INPUT_BYTES, arena);
    add_binding(&package, weight, tile_b, TO + INPUT_BYTES, WEIGHT_BYTES, arena);
    return package;
}

/* q[i] = i, k[i] = -i; counts how often each is read. */
typedef struct Checkpoint {
    int reads;
    int64_t elems;
    bool has_k;
} Checkpoint;

static bool find(void *context, Str name, TensorInfo *out)
{
    const Checkpoint *checkpoint = context;
    bool is_q = str_equal(name, S("q")), is_k = str_equal(name, S("k"));
    *out = (TensorInfo){name, DTYPE_F32, shape_of2(checkpoint->elems / 16, 16)};
    return is_q || (is_k && checkpoint->has_k);
}

static bool read(void *context, Str name, float *out, Error *err)
{
    Checkpoint *checkpoint = context;
    (void)err;
    checkpoint->reads++;
    for (int64_t i = 0; i < checkpoint->elems; i++) {
        out[i] = (float)(str_equal(name, S("q")) ? i : -i);
    }
    return true;
}

typedef struct Fixture {
    Arena keep, scratch;
    Package package;
    Session *session;
    Checkpoint checkpoint;
    float pixels[48], echo[4 * 16], weights[16 * 32];
} Fixture;

/* In place: the session keeps a pointer to the package. */
static void open_fixture(Fixture *f, int threads)
{
    *f = (Fixture){.keep = arena_create(16 << 20), .scratch = arena_create(64 << 20)};
    f->package = small_package(&f->keep);
    f->checkpoint = (Checkpoint){.elems = 256, .has_k = true};
    Error err = {0};
    CHECK_OK(package_check(&f->package, f->scratch, &err), err);
    SessionOptions options = {.threads = threads};
    f->session = session_open(&f->package, &options, &err);
    CHECK_OK(f->session != NULL, err);
}

static void close_fixture(Fixture *f)
{
    session_close(f->session);
    arena_destroy(&f->keep);
    arena_destroy(&f->scratch);
}

static bool upload(Fixture *f, Error *err)
{
    TensorSource source = {&f->checkpoint, find, read};
    return session_upload(f->session, &source, f->scratch, err);
}

static bool run(Fixture *f, RunResult *result, Error *err)
{
    float *const outputs[2] = {f->echo, f->weights};
    SessionInput input = {S("pixels"), f->pixels, 48};
    return session_run(f->session, &input, 1, outputs, f->scratch, result, err);
}

static void check_outputs(const Fixture *f)
{
    for (int r = 0; r < 4; r++) {
        for (int c = 0; c < 16; c++) {
            float expected = c % 8 < 6 ? f->pixels[(c / 8 * 6 + c % 8) * 4 + r] : 0;
            CHECK_NEAR(f->echo[r * 16 + c], expected, 0);
        }
    }
    for (int r = 0; r < 16; r++) {
        for (int c = 0; c < 32; c++) {
            int index = c % 16 * 16 + r;
            CHECK_NEAR(f->weights[r * 32 + c], c < 16 ? index : -index, 0);
        }
    }
}

static void runs_calls(void)
{
    for (int threads = 1; threads <= 2; threads++) {
        Fixture f;
        open_fixture(&f, threads);
        Error err = {0};
        RunResult result, again;
        CHECK_OK(upload(&f, &err), err);
        CHECK_EQ_INT(f.checkpoint.reads, 2);
        for (int call = 0; call < 3; call++) {
            for (int i = 0; i < 48; i++) {
                f.pixels[i] = (float)(i * 3 - 100 * call);
            }
            CHECK_OK(run(&f, call == 0 ? &result : &again, &err), err);
            check_outputs(&f);
        }
        CHECK_EQ_INT(result.phases, 1);
        CHECK_EQ_INT(result.simulated_cycles, again.simulated_cycles);
        CHECK(result.simulated_cycles > 327 && result.simulated_cycles < 1500);
        CHECK(result.instructions > 0);
        CHECK_EQ_INT(session_fault(f.session)->category, FAULT_NONE);
        CHECK_EQ_INT(session_counters(f.session).exchanged_words, 3 * WORDS);
        /* Other weights, between calls. */
        CHECK_OK(upload(&f, &err), err);
        CHECK_OK(run(&f, &result, &err), err);
        check_outputs(&f);
        close_fixture(&f);
    }
}

static void refuses_bad_inputs(void)
{
    Fixture f;
    open_fixture(&f, 1);
    Error err = {0};
    RunResult result;
    float *const outputs[2] = {f.echo, f.weights};
    SessionInput input = {S("pixels"), f.pixels, 47};
    CHECK_ERROR(session_run(f.session, &input, 1, outputs, f.scratch, &result, &err), err,
                ERROR_INPUT, "47 elements, the package reads 48");
    input = (SessionInput){S("picture"), f.pixels, 48};
    CHECK_ERROR(session_run(f.session, &input, 1, outputs, f.scratch, &result, &err), err,
                ERROR_INPUT, "no input \"picture\"");
    CHECK_ERROR(session_run(f.session, &input, 0, outputs, f.scratch, &result, &err), err,
                ERROR_INPUT, "\"pixels\" is not given");
    f.checkpoint.has_k = false;
    CHECK_ERROR(upload(&f, &err), err, ERROR_INPUT, "no tensor \"k\"");
    f.checkpoint = (Checkpoint){.elems = 240, .has_k = true};
    CHECK_ERROR(upload(&f, &err), err, ERROR_INPUT, "tensor of 240 elements");
    f.checkpoint = (Checkpoint){.elems = 256, .has_k = true};
    CHECK_OK(upload(&f, (err = (Error){0}, &err)), err);
    f.pixels[7] = 1e6F;
    CHECK_ERROR(run(&f, &result, &err), err, ERROR_NO, "does not fit f16");
    f.pixels[7] = 0;
    CHECK_OK(run(&f, &result, (err = (Error){0}, &err)), err);
    close_fixture(&f);
}

static void names_bad_outputs(void)
{
    Fixture f;
    open_fixture(&f, 1);
    Error err = {0};
    RunResult result;
    /* Weights were never uploaded: the second output is undefined. */
    CHECK_ERROR(run(&f, &result, &err), err, ERROR_FAULT,
                "\"qk.out\": element (0, 0) on tile 63 (logical 1471) is undefined");
    CHECK_OK(upload(&f, (err = (Error){0}, &err)), err);
    f.pixels[4 * 5 + 2] = NAN;
    CHECK_ERROR(run(&f, &result, &err), err, ERROR_FAULT,
                "\"pixels.out\": element (2, 5) on tile 63 (logical 1471) is NaN");
    f.pixels[4 * 5 + 2] = INFINITY;
    CHECK_ERROR(run(&f, &result, &err), err, ERROR_FAULT, "element (2, 5)");
    close_fixture(&f);
}

static void refuses_packages(void)
{
    Arena keep = arena_create(16 << 20);
    Package package = small_package(&keep);
    SessionOptions options = {.threads = 1};
    Error err = {0};
    package.bindings.at[1].order = S("spiral");
    CHECK_ERROR(session_open(&package, &options, &err) != NULL, err, ERROR_INPUT, "unknown order");
    package.bindings.at[1].order = S("amp_right");
    package.shards.at[1].alloc_rows = 24;
    CHECK_ERROR(session_open(&package, &options, &err) != NULL, err, ERROR_INPUT,
                "needs multiples of 16 x 16");
    package.shards.at[1].alloc_rows = 16;
    package.bindings.at[0].dtype = DTYPE_U8;
    CHECK_ERROR(session_open(&package, &options, &err) != NULL, err, ERROR_INPUT,
                "expected f32, f16 or bf16");
    package.bindings.at[0].dtype = DTYPE_F16;
    /* A program that misbehaves before its first barrier. */
    uint32_t trap[32] = {0x41801000};
    const void *at = trap;
    CHECK(package.segments.at[0].bytes <= sizeof trap);
    package.segments.at[0].at = at;
    CHECK_ERROR(session_open(&package, &options, &err) != NULL, err, ERROR_FAULT, "TRAP");
    arena_destroy(&keep);
}

TEST_MAIN(runs_calls, refuses_bad_inputs, names_bad_outputs, refuses_packages)
