/* Packing of matrices into shards and back: round trips, zero padding, head padding groups, overflow. */
#include "layout/layout.h"
#include "test.h"
#include <math.h>

enum { ROWS = 45, COLS = 84 }; /* 3 heads of 28 */

static Layout random_layout(Order order, DType dtype, uint64_t seed, uint64_t index, Arena *arena)
{
    Tiling tiling = {.dtype = dtype,
                     .order = order,
                     .rows = ROWS,
                     .cols = COLS,
                     .row_parts = 1 + (int32_t)random_below(seed, index, 3),
                     .row_grain = 1 + (int32_t)random_below(seed, index + 1, 15),
                     .col_parts = 1 + (int32_t)random_below(seed, index + 2, 3),
                     .col_grain = 1 + (int32_t)random_below(seed, index + 3, 28)};
    Tile owners[9];
    for (int i = 0; i < 9; i++) {
        owners[i] = (Tile){(uint16_t)(3 * i)};
    }
    Layout layout;
    Error err = {0};
    CHECK_OK(layout_resolve(&tiling, owners, arena, &layout, &err), err);
    return layout;
}

static float read_element(DType dtype, const uint8_t *at)
{
    uint16_t half;
    float value;
    if (dtype == DTYPE_F32) {
        memcpy(&value, at, sizeof value);
        return value;
    }
    memcpy(&half, at, sizeof half);
    return dtype == DTYPE_F16 ? f32_of_f16(half) : f32_of_bf16(half);
}

/* Every byte of a packed shard: elements of the box in place, zero elsewhere. */
static void check_packed(const Layout *layout, const Shard *shard, const float *matrix,
                         const uint8_t *bytes)
{
    int elem_bytes = dtype_bytes(layout->dtype);
    for (int32_t r = 0; r < shard->alloc_rows; r++) {
        for (int32_t c = 0; c < shard->alloc_cols; c++) {
            int64_t index = order_index(layout->order, shard->alloc_rows, shard->alloc_cols, r, c);
            int32_t row = r + shard->box.row_begin, col = c + shard->box.col_begin;
            bool is_inside = row < shard->box.row_end && col < shard->box.col_end;
            float expected = is_inside ? matrix[row * COLS + col] : 0.0f;
            CHECK(read_element(layout->dtype, bytes + index * elem_bytes) == expected);
        }
    }
}

static void round_trips(void)
{
    Arena arena = arena_create(8 << 20);
    uint64_t seed = test_seed(51);
    static const DType dtypes[3] = {DTYPE_F16, DTYPE_F32, DTYPE_BF16};
    for (uint64_t i = 0; i < 120; i++) {
        Arena scratch = arena;
        float matrix[ROWS * COLS], back[ROWS * COLS];
        for (int k = 0; k < ROWS * COLS; k++) {
            /* 8 significant bits: exact in all three types. */
            matrix[k] = (float)(1 + random_below(seed, 10000 * i + (uint64_t)k, 255)) * 0.125f;
            back[k] = -1.0f;
        }
        Layout layout =
            random_layout((Order)(i % ORDER_COUNT), dtypes[i % 3], seed, i << 32, &scratch);
        Error err = {0};
        for (isize k = 0; k < layout.shards.len; k++) {
            const Shard *shard = &layout.shards.at[k];
            uint8_t *bytes = arena_array(&scratch, uint8_t, shard_bytes(&layout, shard));
            memset(bytes, 0xee, (size_t)shard_bytes(&layout, shard));
            CHECK_OK(layout_pack(&layout, shard, matrix, bytes, &err), err);
            check_packed(&layout, shard, matrix, bytes);
            layout_unpack(&layout, shard, bytes, back);
        }
        CHECK(memcmp(matrix, back, sizeof matrix) == 0);
    }
    arena_destroy(&arena);
}

/* Two parts of three heads of 9, padded to 14 columns each: 84 columns; rows in groups of 4 padded to 5. */
static void pack_from_padded_heads(void)
{
    Arena arena = arena_create(8 << 20);
    uint64_t seed = test_seed(52);
    enum { IN = 36, OUT = 27 };
    float tensors[2][OUT * IN];
    for (int t = 0; t < 2; t++) {
        for (int k = 0; k < OUT * IN; k++) {
            tensors[t][k] = (float)(1 + random_below(seed, (uint64_t)(t * OUT * IN + k), 2047));
        }
    }
    PackPart parts[2];
    for (int t = 0; t < 2; t++) {
        PackAxis rows = pack_axis_simple(IN, 1), cols = pack_axis_simple(OUT, IN);
        rows.group_logical = 4;
        rows.group_padded = 5;
        cols.group_logical = 9;
        cols.group_padded = 14;
        parts[t] = (PackPart){S("t"), 42 * t, 42 * t + 42, 0, rows, cols};
    }
    Packing packing = {ROWS, COLS, {parts, 2}};
    float matrix[ROWS * COLS];
    for (int r = 0; r < ROWS; r++) {
        for (int c = 0; c < COLS; c++) {
            bool is_hole = r % 5 == 4 || c % 14 >= 9;
            int from_row = r / 5 * 4 + r % 5, from_col = c % 42 / 14 * 9 + c % 14;
            matrix[r * COLS + c] = is_hole ? 0.0f : tensors[c / 42][from_col * IN + from_row];
        }
    }
    const float *const sources[2] = {tensors[0], tensors[1]};
    for (uint64_t i = 0; i < 80; i++) {
        Arena scratch = arena;
        Layout layout = random_layout((Order)(i % ORDER_COUNT), i % 8 < 4 ? DTYPE_F16 : DTYPE_F32,
                                      seed, i << 32, &scratch);
        for (isize k = 0; k < layout.shards.len; k++) {
            const Shard *shard = &layout.shards.at[k];
            int64_t bytes = shard_bytes(&layout, shard);
            uint8_t *expected = arena_array(&scratch, uint8_t, bytes);
            uint8_t *actual = arena_array(&scratch, uint8_t, bytes);
            memset(actual, 0xee, (size_t)bytes);
            Error err = {0};
            CHECK_OK(layout_pack(&layout, shard, matrix, expected, &err), err);
            CHECK_OK(layout_pack_from(layout.order, layout.dtype, shard->alloc_rows,
                                      shard->alloc_cols, shard->box, &packing, sources, actual,
                                      &err),
                     err);
            CHECK(memcmp(actual, expected, (size_t)bytes) == 0);
        }
    }
    arena_destroy(&arena);
}

static void overflow_is_refused(void)
{
    Layout layout = {.dtype = DTYPE_F16, .order = ORDER_ROW_MAJOR, .rows = 1, .cols = 2};
    Shard shard = {.box = region_of(0, 1, 0, 2), .alloc_rows = 1, .alloc_cols = 2};
    uint8_t bytes[8];
    Error err;
    CHECK_ERROR(layout_pack(&layout, &shard, (const float[]){1.0f, 65520.0f}, bytes, &err), err,
                ERROR_NO, "element (0, 1)");
    PackPart part = {S("t"), 0, 2, 0, pack_axis_simple(1, 2), pack_axis_simple(2, 1)};
    Packing packing = {1, 2, {&part, 1}};
    const float *const tensor[1] = {(const float[]){-1e9f, 0.0f}};
    CHECK_ERROR(layout_pack_from(ORDER_ROW_MAJOR, DTYPE_F16, 1, 2, shard.box, &packing, tensor,
                                 bytes, &err),
                err, ERROR_NO, "element (0, 0)");
    /* Infinities were there before: not an overflow of ours. */
    err = (Error){0};
    CHECK_OK(layout_pack(&layout, &shard, (const float[]){INFINITY, 65519.0f}, bytes, &err), err);
    layout.dtype = DTYPE_I32;
    CHECK_ERROR(layout_pack(&layout, &shard, (const float[]){0.0f, 0.0f}, bytes, &err), err,
                ERROR_INPUT, "i32");
}

TEST_MAIN(round_trips, pack_from_padded_heads, overflow_is_refused)
