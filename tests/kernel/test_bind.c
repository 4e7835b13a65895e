/* The catalogue, the argument words, and what kernel_bind refuses. */
#include "base/bits.h"
#include "kernel/kernel.h"
#include "test.h"

typedef struct Made {
    Layout layout;
    Shard shard;
} Made;

static Made make(DType dtype, Order order, int rows, int cols, int alloc_rows, int alloc_cols)
{
    return (Made){
        {.dtype = dtype, .order = order, .rows = rows, .cols = cols},
        {.box = region_of(0, rows, 0, cols), .alloc_rows = alloc_rows, .alloc_cols = alloc_cols}};
}

static Made left(int rows, int cols)
{
    return make(DTYPE_F16, ORDER_AMP_LEFT, rows, cols, rows, (cols + 15) / 16 * 16);
}

static Made line(int cols)
{
    return make(DTYPE_F16, ORDER_ROW_MAJOR, 1, cols, 1, cols);
}

static bool bind(KernelId id, const Made *made, int count, const uint32_t *scalars,
                 int scalar_count, KernelCall *call, Error *err)
{
    KernelOperand operands[KERNEL_OPERANDS_MAX];
    for (int i = 0; i < count; i++) {
        operands[i] = (KernelOperand){&made[i].layout, &made[i].shard};
    }
    return kernel_bind(id, operands, count, scalars, scalar_count, call, err);
}

static void check_words(const KernelCall *call, int count, const KernelWord *want)
{
    CHECK_EQ_INT(call->arg_count, count);
    for (int i = 0; i < count; i++) {
        CHECK_EQ_INT(call->arg[i].operand, want[i].operand);
        if (want[i].operand < 0) {
            CHECK_EQ_INT(call->arg[i].value, want[i].value);
        }
    }
}

static void catalogue(void)
{
    for (int id = 1; id < KERNEL_COUNT; id++) {
        CHECK_EQ_INT(kernel_find(kernel_of((KernelId)id)->name), id);
    }
    CHECK_EQ_INT(kernel_find(S("gemm")), KERNEL_none);
    const Kernel *gemm = kernel_of(KERNEL_gemm_f16);
    CHECK_EQ_INT(gemm->operand_count, 3);
    CHECK_EQ_INT(gemm->operand[1].orders, 1 << ORDER_AMP_RIGHT | 1 << ORDER_KEYS_RIGHT);
    CHECK(gemm->operand[2].is_interleaved && gemm->operand[2].is_written &&
          !gemm->operand[2].is_read);
    CHECK_EQ_INT(gemm->separation_count, 1);
    CHECK_EQ_INT(gemm->separation[0][0], 0);
    CHECK_EQ_INT(gemm->separation[0][1], 2);
    CHECK_EQ_INT(kernel_of(KERNEL_softmax_f16)->operand[1].may_alias, 0);
    CHECK_EQ_INT(kernel_of(KERNEL_softmax_f16)->operand[2].may_alias, -1);
    CHECK_EQ_INT(kernel_of(KERNEL_softmax_f16)->operand[2].dtype, DTYPE_F32);
}

static void library(void)
{
    Arena keep = arena_create(1 << 24), scratch = arena_create(1 << 24);
    KernelLibrary library;
    Error err = {0};
    CHECK_OK(library_load(NULL, &keep, scratch, &library, &err), err);
    CHECK_EQ_INT(library.object_count, KERNEL_COUNT - 1);
    Resolved code;
    CHECK_OK(
        object_resolve(library.objects, library.object_count, 0x4c010, &keep, scratch, &code, &err),
        err);
    CHECK_EQ_INT(code.len, library.code_bytes);
}

static void words(void)
{
    KernelCall call;
    Error err = {0};
    Made gemm[] = {left(7, 144), make(DTYPE_F16, ORDER_AMP_RIGHT, 144, 48, 144, 48), left(7, 48)};
    CHECK_OK(bind(KERNEL_gemm_f16, gemm, 3, NULL, 0, &call, &err), err);
    check_words(&call, 6, (KernelWord[]){{0, 0}, {1, 0}, {2, 0}, {-1, 7}, {-1, 9}, {-1, 3}});
    CHECK_EQ_INT(call.inner, 144);
    gemm[1] = make(DTYPE_F16, ORDER_KEYS_RIGHT, 48, 144, 48, 144);
    CHECK_OK(bind(KERNEL_gemm_f16, gemm, 3, NULL, 0, &call, &err), err);
    check_words(&call, 6, (KernelWord[]){{0, 0}, {1, 0}, {2, 0}, {-1, 7}, {-1, 9}, {-1, 3}});

    Made softmax[] = {left(3, 49), left(3, 49), make(DTYPE_F32, ORDER_ROW_MAJOR, 3, 1, 3, 1)};
    uint32_t scalars[2] = {49, bits_of_f32(0.125f)};
    CHECK_OK(bind(KERNEL_softmax_f16, softmax, 3, scalars, 2, &call, &err), err);
    check_words(
        &call, 7,
        (KernelWord[]){{0, 0}, {1, 0}, {2, 0}, {-1, 3}, {-1, 4}, {-1, 49}, {-1, scalars[1]}});

    Made layernorm[] = {left(2, 144), left(2, 144), line(144), line(144)};
    uint32_t eps = bits_of_f32(1e-6f);
    CHECK_OK(bind(KERNEL_layernorm_f16, layernorm, 4, &eps, 1, &call, &err), err);
    uint32_t inverse = bits_of_f32(1.0f / 144);
    check_words(
        &call, 12,
        (KernelWord[]){{0, 0},
                       {1, 0},
                       {2, 0},
                       {3, 0},
                       {-1, 2},
                       {-1, 9},
                       {-1, inverse},
                       {-1, eps},
                       /* three segments a row: 65536 / 3 rounded up, one round, next panel */
                       {-1, 3},
                       {-1, 21846},
                       {-1, 1},
                       {-1, 64}});

    Made reduce[] = {left(5, 96), left(5, 32)};
    uint32_t parts = 3;
    for (int given = 0; given < 2; given++) {
        CHECK_OK(bind(KERNEL_reduce_f16, reduce, 2, &parts, given, &call, &err), err);
        check_words(&call, 4, (KernelWord[]){{0, 0}, {1, 0}, {-1, 3}, {-1, 40}});
    }
    Made transpose[] = {left(32, 48), make(DTYPE_F16, ORDER_AMP_RIGHT, 32, 48, 32, 48)};
    CHECK_OK(bind(KERNEL_transpose_f16, transpose, 2, NULL, 0, &call, &err), err);
    check_words(&call, 3, (KernelWord[]){{0, 0}, {1, 0}, {-1, 6}});

    call = kernel_copy(24, 5, 32, 48);
    check_words(&call, 6, (KernelWord[]){{0, 0}, {1, 0}, {-1, 3}, {-1, 5}, {-1, 32}, {-1, 48}});
    call = kernel_fill(24, 5, 32);
    check_words(&call, 4, (KernelWord[]){{0, 0}, {-1, 3}, {-1, 5}, {-1, 32}});
}

static void refusals(void)
{
    KernelCall call;
    Error err;
    Made right = make(DTYPE_F16, ORDER_AMP_RIGHT, 144, 48, 144, 48);
    CHECK_ERROR(bind(KERNEL_gemm_f16, (Made[]){left(7, 144), right}, 2, NULL, 0, &call, &err), err,
                ERROR_INPUT, "expected 3 operands");
    CHECK_ERROR(
        bind(KERNEL_gemm_f16, (Made[]){left(7, 128), right, left(7, 48)}, 3, NULL, 0, &call, &err),
        err, ERROR_INPUT, "operand a");
    CHECK_ERROR(
        bind(KERNEL_gemm_f16, (Made[]){left(7, 144), right, left(6, 48)}, 3, NULL, 0, &call, &err),
        err, ERROR_INPUT, "operand c");
    CHECK_ERROR(bind(KERNEL_gemm_f16, (Made[]){left(7, 144), left(144, 48), left(7, 48)}, 3, NULL,
                     0, &call, &err),
                err, ERROR_INPUT, "operand b");
    CHECK_ERROR(bind(KERNEL_gemm_f16, (Made[]){left(769, 144), right, left(769, 48)}, 3, NULL, 0,
                     &call, &err),
                err, ERROR_INPUT, "768");
    Made wrong = left(7, 48);
    wrong.layout.dtype = DTYPE_F32;
    CHECK_ERROR(bind(KERNEL_gelu_f16, (Made[]){wrong, left(7, 48)}, 2, NULL, 0, &call, &err), err,
                ERROR_INPUT, "f16");
    CHECK_ERROR(bind(KERNEL_bias_f16, (Made[]){left(7, 42), line(42)}, 2, NULL, 0, &call, &err),
                err, ERROR_INPUT, "operand bias");
    uint32_t eps = bits_of_f32(1e-6f), zero = 0;
    CHECK_ERROR(bind(KERNEL_layernorm_f16,
                     (Made[]){left(2, 140), left(2, 140), line(144), line(144)}, 4, &eps, 1, &call,
                     &err),
                err, ERROR_INPUT, "multiple of 16");
    CHECK_ERROR(bind(KERNEL_layernorm_f16,
                     (Made[]){left(2, 144), left(2, 144), line(144), line(144)}, 4, &zero, 1, &call,
                     &err),
                err, ERROR_INPUT, "eps");
    Made stats = make(DTYPE_F32, ORDER_ROW_MAJOR, 3, 1, 3, 1);
    uint32_t keys[2] = {65, bits_of_f32(0.125f)};
    CHECK_ERROR(bind(KERNEL_softmax_f16, (Made[]){left(3, 49), left(3, 49), stats}, 3, keys, 2,
                     &call, &err),
                err, ERROR_INPUT, "keys");
    uint32_t parts = 2;
    CHECK_ERROR(
        bind(KERNEL_reduce_f16, (Made[]){left(5, 96), left(5, 32)}, 2, &parts, 1, &call, &err), err,
        ERROR_INPUT, "parts");
    CHECK_ERROR(bind(KERNEL_copy64, (Made[]){line(8), line(8)}, 2, NULL, 0, &call, &err), err,
                ERROR_INPUT, "kernel_copy");
}

TEST_MAIN(catalogue, library, words, refusals)
