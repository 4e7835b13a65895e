/* Matrix elements to the bytes of a shard and back.
 *
 * The buffer is cleared first, so everything outside the box is zero (product.md 6). Columns are
 * handled in chunks whose index terms and source offsets are computed once, which keeps divisions
 * out of the inner loop.
 */
#include "base/bits.h"
#include "layout/terms.h"
#include <string.h>

enum { CHUNK_COLS = 64 };

/* Stores one element; false when a finite value does not fit F16. */
static bool store(DType dtype, float value, uint8_t *at)
{
    if (dtype == DTYPE_F32) {
        memcpy(at, &value, sizeof value);
        return true;
    }
    uint16_t half = dtype == DTYPE_F16 ? f16_of_f32(value) : bf16_of_f32(value);
    memcpy(at, &half, sizeof half);
    uint32_t infinity = dtype == DTYPE_F16 ? 0x7c00u : 0x7f80u;
    bool is_overflow =
        (half & 0x7fffu) == infinity && (bits_of_f32(value) & 0x7fffffffu) < 0x7f800000u;
    return !is_overflow;
}

static float load(DType dtype, const uint8_t *at)
{
    if (dtype == DTYPE_F32) {
        float value;
        memcpy(&value, at, sizeof value);
        return value;
    }
    uint16_t half;
    memcpy(&half, at, sizeof half);
    return dtype == DTYPE_F16 ? f32_of_f16(half) : f32_of_bf16(half);
}

static bool check_dtype(DType dtype, Error *err)
{
    if (dtype_is_float(dtype)) {
        return true;
    }
    return error_set(err, ERROR_INPUT, NULL, "elements of type %.*s cannot be packed from FP32",
                     STR_ARG(dtype_name(dtype)));
}

static bool refuse(DType dtype, float value, int32_t r, int32_t c, Error *err)
{
    return error_set(err, ERROR_NO, NULL, "element (%d, %d) = %g does not fit %.*s", r, c,
                     (double)value, STR_ARG(dtype_name(dtype)));
}

/* Where the columns [begin, begin + count) of a chunk go in the buffer, and where they come from.
 */
typedef struct Chunk {
    int32_t begin, count;
    int64_t to[CHUNK_COLS];
    int64_t from[CHUNK_COLS];
} Chunk;

static void chunk_targets(Chunk *chunk, Order order, int32_t alloc_rows, int32_t local_begin)
{
    for (int32_t i = 0; i < chunk->count; i++) {
        chunk->to[i] = order_col_term(order, alloc_rows, local_begin + i);
    }
}

static int32_t chunk_count(int32_t begin, int32_t end)
{
    return end - begin < CHUNK_COLS ? end - begin : CHUNK_COLS;
}

/* Chunk of columns of one part; holes are PACK_HOLE. */
static bool fill_chunk(const Chunk *chunk, Order order, DType dtype, int32_t alloc_cols, Region box,
                       const PackPart *part, const float *tensor, uint8_t *out, Error *err)
{
    int64_t elem_bytes = dtype_bytes(dtype);
    for (int32_t r = box.row_begin; r < box.row_end; r++) {
        int64_t row_offset = pack_axis_offset(&part->rows, r);
        if (row_offset == PACK_HOLE) {
            continue;
        }
        int64_t row_term = order_row_term(order, alloc_cols, r - box.row_begin);
        int64_t from = part->base + row_offset;
        for (int32_t i = 0; i < chunk->count; i++) {
            if (chunk->from[i] == PACK_HOLE) {
                continue;
            }
            float value = tensor[from + chunk->from[i]];
            if (!store(dtype, value, out + (row_term + chunk->to[i]) * elem_bytes)) {
                return refuse(dtype, value, r, chunk->begin + i, err);
            }
        }
    }
    return true;
}

bool layout_pack(const Layout *layout, const Shard *shard, const float *matrix, uint8_t *out,
                 Error *err)
{
    if (!check_dtype(layout->dtype, err)) {
        return false;
    }
    memset(out, 0, (size_t)shard_bytes(layout, shard));
    int64_t elem_bytes = dtype_bytes(layout->dtype);
    Region box = shard->box;
    for (int32_t c = box.col_begin; c < box.col_end; c += CHUNK_COLS) {
        Chunk chunk = {.begin = c, .count = chunk_count(c, box.col_end)};
        chunk_targets(&chunk, layout->order, shard->alloc_rows, c - box.col_begin);
        for (int32_t r = box.row_begin; r < box.row_end; r++) {
            int64_t row_term = order_row_term(layout->order, shard->alloc_cols, r - box.row_begin);
            const float *from = matrix + (int64_t)r * layout->cols + c;
            for (int32_t i = 0; i < chunk.count; i++) {
                uint8_t *to = out + (row_term + chunk.to[i]) * elem_bytes;
                if (!store(layout->dtype, from[i], to)) {
                    return refuse(layout->dtype, from[i], r, c + i, err);
                }
            }
        }
    }
    return true;
}

void layout_unpack(const Layout *layout, const Shard *shard, const uint8_t *bytes, float *matrix)
{
    ASSERT(check_dtype(layout->dtype, &(Error){0}));
    int64_t elem_bytes = dtype_bytes(layout->dtype);
    Region box = shard->box;
    for (int32_t c = box.col_begin; c < box.col_end; c += CHUNK_COLS) {
        Chunk chunk = {.begin = c, .count = chunk_count(c, box.col_end)};
        chunk_targets(&chunk, layout->order, shard->alloc_rows, c - box.col_begin);
        for (int32_t r = box.row_begin; r < box.row_end; r++) {
            int64_t row_term = order_row_term(layout->order, shard->alloc_cols, r - box.row_begin);
            float *to = matrix + (int64_t)r * layout->cols + c;
            for (int32_t i = 0; i < chunk.count; i++) {
                to[i] = load(layout->dtype, bytes + (row_term + chunk.to[i]) * elem_bytes);
            }
        }
    }
}

bool layout_pack_from(Order order, DType dtype, int32_t alloc_rows, int32_t alloc_cols, Region box,
                      const Packing *packing, const float *const *tensors, uint8_t *out, Error *err)
{
    if (!check_dtype(dtype, err)) {
        return false;
    }
    ASSERT(box.row_end - box.row_begin <= alloc_rows);
    ASSERT(box.col_end - box.col_begin <= alloc_cols);
    memset(out, 0, (size_t)alloc_rows * (size_t)alloc_cols * (size_t)dtype_bytes(dtype));
    for (isize p = 0; p < packing->parts.len; p++) {
        const PackPart *part = &packing->parts.at[p];
        int32_t begin = part->col_begin > box.col_begin ? part->col_begin : box.col_begin;
        int32_t end = part->col_end < box.col_end ? part->col_end : box.col_end;
        for (int32_t c = begin; c < end; c += CHUNK_COLS) {
            Chunk chunk = {.begin = c, .count = chunk_count(c, end)};
            chunk_targets(&chunk, order, alloc_rows, c - box.col_begin);
            for (int32_t i = 0; i < chunk.count; i++) {
                chunk.from[i] = pack_axis_offset(&part->cols, (int64_t)c + i - part->col_begin);
            }
            if (!fill_chunk(&chunk, order, dtype, alloc_cols, box, part, tensors[p], out, err)) {
                return false;
            }
        }
    }
    return true;
}
