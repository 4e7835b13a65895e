/* From operands to argument words: checks orders, types and extents against kernels.def and derives the extents that a kernel
 * wants (panels, quads, blocks ...). Kernels work on whole allocations, so every relation is between allocated extents. */
#include "base/bits.h"
#include "kernel/catalogue.h"
#include <stdio.h>

enum {
    PANEL = 16,
    QUAD = 4,
};

typedef struct Binding {
    KernelId id;
    const CatalogueRow *row;
    const KernelOperand *operand;
    const uint32_t *scalar;
    int scalar_count;
    uint32_t extent[EXTENT_COUNT];
    KernelCall *call;
    Error *err;
} Binding;

static const Shard *shard_of(const Binding *b, int operand)
{
    return b->operand[operand].shard;
}

/* A line for one operand; `what` says what was expected. */
static bool reject(const Binding *b, int operand, const char *what)
{
    const Kernel *kernel = &b->row->kernel;
    const KernelOperand *o = &b->operand[operand];
    Str order = order_name(o->layout->order), dtype = dtype_name(o->layout->dtype);
    return error_set(b->err, ERROR_INPUT, NULL,
                     "kernel %.*s, operand %.*s: expected %s, not %.*s %.*s %d x %d",
                     STR_ARG(kernel->name), STR_ARG(kernel->operand[operand].name), what,
                     STR_ARG(dtype), STR_ARG(order), o->shard->alloc_rows, o->shard->alloc_cols);
}

static bool want_extents(const Binding *b, int operand, int32_t rows, int32_t cols)
{
    const Shard *shard = shard_of(b, operand);
    char what[80];
    snprintf(what, sizeof what, "an allocation of %d x %d", rows, cols);
    return (shard->alloc_rows == rows && shard->alloc_cols == cols) || reject(b, operand, what);
}

static bool want_order_of(const Binding *b, int operand, int other)
{
    return b->operand[operand].layout->order == b->operand[other].layout->order ||
           reject(b, operand, "the same order as the first operand");
}

static bool bad_scalar(const Binding *b, int scalar, const char *what)
{
    return error_set(b->err, ERROR_INPUT, NULL, "kernel %.*s, scalar %.*s: expected %s, not 0x%x",
                     STR_ARG(b->row->kernel.name), STR_ARG(b->row->scalar[scalar]), what,
                     b->scalar[scalar]);
}

/* Extents that several kernels share, from the operand whose shape is that of the work. */
static void take_extents(Binding *b, int operand)
{
    const Shard *shard = shard_of(b, operand);
    int64_t rows = shard->alloc_rows, cols = shard->alloc_cols;
    b->call->rows = rows;
    b->call->cols = cols;
    b->extent[EXTENT_rows] = (uint32_t)rows;
    b->extent[EXTENT_col_groups] = b->extent[EXTENT_panels] = (uint32_t)(cols / PANEL);
    b->extent[EXTENT_quads] = (uint32_t)(rows * cols / QUAD);
    b->extent[EXTENT_blocks] = (uint32_t)(rows * cols / (PANEL * PANEL));
    b->extent[EXTENT_inverse_width] = bits_of_f32(1.0f / (float)cols);
}

static bool bind_gemm(Binding *b)
{
    const Shard *left = shard_of(b, 0), *right = shard_of(b, 1);
    bool is_keys = b->operand[1].layout->order == ORDER_KEYS_RIGHT;
    int32_t inner = is_keys ? right->alloc_cols : right->alloc_rows;
    int32_t cols = is_keys ? right->alloc_rows : right->alloc_cols;
    if (!want_extents(b, 0, left->alloc_rows, inner) ||
        !want_extents(b, 2, left->alloc_rows, cols)) {
        return false;
    }
    if (left->alloc_rows > KERNEL_GEMM_ROWS_MAX) {
        return reject(b, 0, "at most 768 rows");
    }
    take_extents(b, 2);
    b->extent[EXTENT_k_panels] = (uint32_t)(inner / PANEL);
    b->call->inner = inner;
    return true;
}

static bool bind_bias(Binding *b)
{
    take_extents(b, 0);
    return want_extents(b, 1, 1, shard_of(b, 0)->alloc_cols);
}

static bool bind_add(Binding *b)
{
    const Shard *first = shard_of(b, 0);
    take_extents(b, 0);
    for (int i = 1; i < 3; i++) {
        if (!want_order_of(b, i, 0) || !want_extents(b, i, first->alloc_rows, first->alloc_cols)) {
            return false;
        }
    }
    return b->call->rows * b->call->cols % QUAD == 0 ||
           reject(b, 0, "a whole number of four elements");
}

static bool bind_gelu(Binding *b)
{
    take_extents(b, 0);
    return want_extents(b, 1, shard_of(b, 0)->alloc_rows, shard_of(b, 0)->alloc_cols);
}

static bool bind_layernorm(Binding *b)
{
    const Shard *src = shard_of(b, 0);
    take_extents(b, 0);
    float eps = f32_of_bits(b->scalar[0]);
    if (!(eps > 0.0f && eps < 1.0f)) {
        return bad_scalar(b, 0, "an f32 between 0 and 1");
    }
    if (src->box.col_end - src->box.col_begin != src->alloc_cols) {
        return reject(b, 0, "a width that is a multiple of 16");
    }
    int64_t panels = src->alloc_cols / PANEL,
            segments = layernorm_segments(src->alloc_rows, panels);
    b->extent[EXTENT_segments] = (uint32_t)segments;
    b->extent[EXTENT_segment_reciprocal] = (uint32_t)div_up(1 << 16, segments);
    b->extent[EXTENT_rounds] = (uint32_t)div_up(src->alloc_rows, 6);
    /* The next panel of the row, or the free half of its only one. */
    b->extent[EXTENT_variance_offset] = panels > 1 ? (uint32_t)src->alloc_rows * 32 : 16;
    return want_extents(b, 1, src->alloc_rows, src->alloc_cols) &&
           want_extents(b, 2, 1, src->alloc_cols) && want_extents(b, 3, 1, src->alloc_cols);
}

static bool bind_softmax(Binding *b)
{
    const Shard *src = shard_of(b, 0);
    take_extents(b, 0);
    if (b->scalar[0] < 1 || b->scalar[0] > (uint32_t)src->alloc_cols) {
        return bad_scalar(b, 0, "a number of keys between 1 and the allocated columns");
    }
    float scale = f32_of_bits(b->scalar[1]);
    if (!(scale >= 0x1p-14f && scale <= 1.0f)) {
        return bad_scalar(b, 1, "an f32 between 2^-14 and 1");
    }
    b->call->inner = b->scalar[0];
    return want_extents(b, 1, src->alloc_rows, src->alloc_cols) &&
           want_extents(b, 2, src->alloc_rows, 1);
}

static bool bind_normalise(Binding *b)
{
    take_extents(b, 0);
    return want_extents(b, 1, shard_of(b, 0)->alloc_rows, 1);
}

static bool bind_transpose(Binding *b)
{
    take_extents(b, 1);
    return want_extents(b, 0, shard_of(b, 1)->alloc_rows, shard_of(b, 1)->alloc_cols);
}

static bool bind_reduce(Binding *b)
{
    const Shard *src = shard_of(b, 0), *dst = shard_of(b, 1);
    take_extents(b, 1);
    int32_t parts = src->alloc_cols / dst->alloc_cols;
    if (b->scalar_count > 0 && b->scalar[0] != (uint32_t)parts) {
        return bad_scalar(b, 0, "the columns of src divided by those of dst");
    }
    b->call->inner = parts;
    return parts >= 1 ? want_extents(b, 0, dst->alloc_rows, parts * dst->alloc_cols)
                      : reject(b, 0, "at least as many columns as dst");
}

static bool bind_extents(Binding *b)
{
    switch (b->id) {
    case KERNEL_gemm_f16:
        return bind_gemm(b);
    case KERNEL_bias_f16:
        return bind_bias(b);
    case KERNEL_add_f16:
        return bind_add(b);
    case KERNEL_gelu_f16:
        return bind_gelu(b);
    case KERNEL_layernorm_f16:
        return bind_layernorm(b);
    case KERNEL_softmax_f16:
        return bind_softmax(b);
    case KERNEL_normalise_f16:
        return bind_normalise(b);
    case KERNEL_transpose_f16:
        return bind_transpose(b);
    case KERNEL_reduce_f16:
        return bind_reduce(b);
    case KERNEL_barrier:
        return true;
    default:
        return error_set(b->err, ERROR_INPUT, NULL,
                         "kernel %.*s moves plain memory: use kernel_copy or kernel_fill",
                         STR_ARG(b->row->kernel.name));
    }
}

static bool check_operand(const Binding *b, int operand)
{
    const KernelOperandSpec *spec = &b->row->kernel.operand[operand];
    const Layout *layout = b->operand[operand].layout;
    ASSERT(layout && b->operand[operand].shard);
    if (layout->dtype != spec->dtype) {
        return reject(b, operand, spec->dtype == DTYPE_F16 ? "f16" : "f32");
    }
    return (spec->orders >> layout->order & 1) != 0 ||
           reject(b, operand, "one of the orders in kernels.def");
}

/* The optional scalar of reduce_f16 is taken from the extents. */
static uint32_t scalar_word(const Binding *b, int index)
{
    return index < b->scalar_count ? b->scalar[index] : (uint32_t)b->call->inner;
}

static void make_words(const Binding *b)
{
    const Kernel *kernel = &b->row->kernel;
    b->call->arg_count = kernel->arg_count;
    for (int i = 0; i < kernel->arg_count; i++) {
        Argument argument = b->row->argument[i];
        KernelWord *word = &b->call->arg[i];
        *word = (KernelWord){.operand = -1};
        switch (argument.kind) {
        case ARGUMENT_OPERAND:
            word->operand = argument.index;
            break;
        case ARGUMENT_SCALAR:
            word->value = scalar_word(b, argument.index);
            break;
        case ARGUMENT_EXTENT:
            word->value = b->extent[argument.index];
            break;
        }
    }
}

static KernelCall plain_call(KernelId id, uint32_t run_bytes, uint32_t runs, uint32_t src_stride,
                             uint32_t dst_stride)
{
    ASSERT(run_bytes > 0 && run_bytes % 8 == 0 && runs > 0);
    ASSERT(run_bytes / 8 <= 98303 && runs <= 98303);
    ASSERT(src_stride % 8 == 0 && dst_stride % 8 == 0);
    KernelCall call = {.kernel = id, .rows = runs, .cols = run_bytes / 8};
    Binding b = {.id = id, .row = catalogue_row(id), .call = &call};
    b.extent[EXTENT_run_words] = run_bytes / 8;
    b.extent[EXTENT_runs] = runs;
    b.extent[EXTENT_src_stride] = src_stride;
    b.extent[EXTENT_dst_stride] = b.extent[EXTENT_stride] = dst_stride;
    make_words(&b);
    return call;
}

bool kernel_bind(KernelId id, const KernelOperand *operands, int operand_count,
                 const uint32_t *scalars, int scalar_count, KernelCall *out, Error *err)
{
    const CatalogueRow *row = catalogue_row(id);
    *out = (KernelCall){.kernel = id};
    Binding b = {.id = id,
                 .row = row,
                 .operand = operands,
                 .scalar = scalars,
                 .scalar_count = scalar_count,
                 .call = out,
                 .err = err};
    bool may_omit = id == KERNEL_reduce_f16 && scalar_count == 0;
    if (operand_count != row->kernel.operand_count ||
        (scalar_count != row->kernel.scalar_count && !may_omit)) {
        return error_set(err, ERROR_INPUT, NULL,
                         "kernel %.*s: expected %d operands and %d scalars, not %d and %d",
                         STR_ARG(row->kernel.name), row->kernel.operand_count,
                         row->kernel.scalar_count, operand_count, scalar_count);
    }
    for (int i = 0; i < operand_count; i++) {
        if (!check_operand(&b, i)) {
            return false;
        }
    }
    if (!bind_extents(&b)) {
        return false;
    }
    make_words(&b);
    return true;
}

KernelCall kernel_copy(uint32_t run_bytes, uint32_t runs, uint32_t src_stride, uint32_t dst_stride)
{
    return plain_call(KERNEL_copy64, run_bytes, runs, src_stride, dst_stride);
}

KernelCall kernel_fill(uint32_t run_bytes, uint32_t runs, uint32_t stride)
{
    return plain_call(KERNEL_fill64, run_bytes, runs, 0, stride);
}
