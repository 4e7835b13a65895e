/* Byte runs and copies against element-by-element oracles that know only order_index. */
#include "layout/layout.h"
#include "test.h"

static int32_t multiple_of_rows(Order order)
{
    return order == ORDER_AMP_RIGHT || order == ORDER_KEYS_RIGHT ? 16 : 1;
}

static int32_t multiple_of_cols(Order order)
{
    return order == ORDER_ROW_MAJOR ? 1 : 16;
}

static int32_t below(uint64_t seed, uint64_t *index, int32_t bound)
{
    return (int32_t)random_below(seed, (*index)++, (uint64_t)bound);
}

static int32_t rounded(int32_t value, int32_t to)
{
    return (value + to - 1) / to * to;
}

/* A layout whose matrix is one shard at (row, col), so that local and matrix coordinates differ. */
static Shard shard_at(Layout *layout, Order order, DType dtype, Region box)
{
    *layout = (Layout){.dtype = dtype, .order = order, .rows = box.row_end, .cols = box.col_end};
    return (Shard){.box = box,
                   .alloc_rows = rounded(box.row_end - box.row_begin, multiple_of_rows(order)),
                   .alloc_cols = rounded(box.col_end - box.col_begin, multiple_of_cols(order))};
}

static int64_t offset_of(const Layout *layout, const Shard *shard, int32_t r, int32_t c)
{
    return dtype_bytes(layout->dtype) * order_index(layout->order, shard->alloc_rows,
                                                    shard->alloc_cols, r - shard->box.row_begin,
                                                    c - shard->box.col_begin);
}

static Region random_box(uint64_t seed, uint64_t *index, Region in)
{
    int32_t r = in.row_begin + below(seed, index, in.row_end - in.row_begin);
    int32_t c = in.col_begin + below(seed, index, in.col_end - in.col_begin);
    if (below(seed, index, 3) == 0) {
        r = in.row_begin;
    }
    if (below(seed, index, 3) == 0) {
        c = in.col_begin + (c - in.col_begin) / 16 * 16;
    }
    int32_t r_end = r + 1 + below(seed, index, in.row_end - r);
    int32_t c_end = c + 1 + below(seed, index, in.col_end - c);
    if (below(seed, index, 3) == 0) {
        r_end = in.row_end;
    }
    if (below(seed, index, 3) == 0) {
        c_end = in.col_end;
    }
    return region_of(r, r_end, c, c_end);
}

static void runs_cover_exactly(void)
{
    Arena arena = arena_create(8 << 20);
    uint64_t seed = test_seed(31), index = 0;
    for (int i = 0; i < 6000; i++) {
        Arena scratch = arena;
        Order order = (Order)(i % ORDER_COUNT);
        int32_t r = below(seed, &index, 50), c = below(seed, &index, 50);
        Region box =
            region_of(r, r + 1 + below(seed, &index, 60), c, c + 1 + below(seed, &index, 90));
        Layout layout;
        Shard shard = shard_at(&layout, order, i % 3 == 0 ? DTYPE_F32 : DTYPE_F16, box);
        Region part = random_box(seed, &index, box);
        ByteRunVec runs = {0};
        layout_runs(&layout, &shard, part, &runs, &scratch);
        int64_t bytes = shard_bytes(&layout, &shard), elem_bytes = dtype_bytes(layout.dtype);
        bool *is_wanted = arena_array(&scratch, bool, bytes);
        for (int32_t y = part.row_begin; y < part.row_end; y++) {
            for (int32_t x = part.col_begin; x < part.col_end; x++) {
                memset(is_wanted + offset_of(&layout, &shard, y, x), 1, (size_t)elem_bytes);
            }
        }
        /* The runs are exactly the maximal stretches of wanted bytes, in order. */
        int64_t at = 0;
        for (isize k = 0; k < runs.len; k++) {
            for (; at < runs.at[k].offset; at++) {
                CHECK(!is_wanted[at]);
            }
            CHECK(runs.at[k].bytes > 0);
            CHECK(k == 0 || runs.at[k - 1].offset + runs.at[k - 1].bytes < runs.at[k].offset);
            for (; at < (int64_t)runs.at[k].offset + runs.at[k].bytes; at++) {
                CHECK(is_wanted[at]);
            }
        }
        for (; at < bytes; at++) {
            CHECK(!is_wanted[at]);
        }
    }
    arena_destroy(&arena);
}

/* Oracle of a copy: what every destination byte must become. Returns the number of pairs of elements that
 * are not adjacent on both sides when walked in destination order: the least number of runs. */
static int64_t copy_by_elements(const Layout *src, const Shard *from, const Layout *dst,
                                const Shard *to, Region box, int32_t row_shift, int32_t col_shift,
                                const uint8_t *in, uint8_t *out, Arena scratch)
{
    int64_t elem_bytes = dtype_bytes(dst->dtype), bytes = shard_bytes(dst, to);
    int64_t *origin = arena_array(&scratch, int64_t, bytes / elem_bytes);
    memset(origin, 0xff, (size_t)(bytes / elem_bytes) * sizeof *origin);
    for (int32_t r = box.row_begin; r < box.row_end; r++) {
        for (int32_t c = box.col_begin; c < box.col_end; c++) {
            int64_t s = offset_of(src, from, r + row_shift, c + col_shift);
            int64_t d = offset_of(dst, to, r, c);
            memcpy(out + d, in + s, (size_t)elem_bytes);
            origin[d / elem_bytes] = s;
        }
    }
    int64_t runs = 0;
    for (int64_t i = 0; i < bytes / elem_bytes; i++) {
        bool is_joined = i > 0 && origin[i] >= 0 && origin[i - 1] >= 0 &&
                         origin[i - 1] + elem_bytes == origin[i];
        runs += origin[i] >= 0 && !is_joined;
    }
    return runs;
}

static void copy_once(Order src_order, Order dst_order, uint64_t seed, uint64_t *index,
                      Arena scratch, int counts[2])
{
    DType dtype = below(seed, index, 3) == 0 ? DTYPE_F32 : DTYPE_F16;
    int32_t r = below(seed, index, 40), c = below(seed, index, 40);
    Region to_box = region_of(r, r + 1 + below(seed, index, 50), c, c + 1 + below(seed, index, 70));
    Layout src, dst;
    Shard to = shard_at(&dst, dst_order, dtype, to_box);
    Region box = random_box(seed, index, to_box);
    int32_t row_shift = below(seed, index, 90) - 45, col_shift = below(seed, index, 90) - 45;
    if (below(seed, index, 2) == 0) {
        row_shift = row_shift / 16 * 16;
        col_shift = col_shift / 16 * 16;
    }
    /* The source shard surrounds the wanted box by random margins. */
    Region from_box = region_of(box.row_begin + row_shift - 16 * below(seed, index, 3),
                                box.row_end + row_shift + below(seed, index, 20),
                                box.col_begin + col_shift - 8 * below(seed, index, 4),
                                box.col_end + col_shift + below(seed, index, 20));
    int32_t up = from_box.row_begin < 0 ? -from_box.row_begin : 0;
    int32_t right = from_box.col_begin < 0 ? -from_box.col_begin : 0;
    row_shift += up;
    col_shift += right;
    from_box = region_of(from_box.row_begin + up, from_box.row_end + up, from_box.col_begin + right,
                         from_box.col_end + right);
    Shard from = shard_at(&src, src_order, dtype, from_box);

    int64_t in_bytes = shard_bytes(&src, &from), out_bytes = shard_bytes(&dst, &to);
    uint8_t *in = arena_array(&scratch, uint8_t, in_bytes);
    for (int64_t i = 0; i < in_bytes; i++) {
        in[i] = (uint8_t)(1 + random_below(seed, (*index)++, 255));
    }
    uint8_t *expected = arena_array(&scratch, uint8_t, out_bytes);
    uint8_t *actual = arena_array(&scratch, uint8_t, out_bytes);
    int64_t least =
        copy_by_elements(&src, &from, &dst, &to, box, row_shift, col_shift, in, expected, scratch);
    CopyRunVec runs = {0};
    *vec_push(&runs, &scratch) = (CopyRun){0, 0, 4}; /* of an earlier call: must stay as it is */
    Error err = {0};
    bool ok =
        layout_copy_runs(&src, &from, &dst, &to, box, row_shift, col_shift, &runs, &scratch, &err);
    CHECK(runs.len >= 1 && runs.at[0].bytes == 4 && runs.at[0].src_offset == 0);
    counts[ok]++;
    if (!ok) {
        CHECK_EQ_INT(err.code, ERROR_NO);
        CHECK(strstr(err.message, "sub-word") != NULL);
        CHECK_EQ_INT(runs.len, 1);
        CHECK(dtype == DTYPE_F16);
        return;
    }
    for (isize i = 1; i < runs.len; i++) {
        CopyRun run = runs.at[i];
        CHECK_EQ_INT((run.src_offset | run.dst_offset | run.bytes) % 4, 0);
        CHECK(run.src_offset + run.bytes <= in_bytes && run.dst_offset + run.bytes <= out_bytes);
        for (uint32_t k = 0; k < run.bytes; k++) {
            CHECK_EQ_INT(actual[run.dst_offset + k], 0); /* every byte is written once */
            actual[run.dst_offset + k] = in[run.src_offset + k];
        }
    }
    CHECK(memcmp(actual, expected, (size_t)out_bytes) == 0);
    CHECK_EQ_INT(runs.len - 1, least);
}

static void copies(void)
{
    Arena arena = arena_create(8 << 20);
    uint64_t seed = test_seed(32), index = 0;
    for (int s = 0; s < ORDER_COUNT; s++) {
        for (int d = 0; d < ORDER_COUNT; d++) {
            int counts[2] = {0};
            for (int i = 0; i < 800; i++) {
                copy_once((Order)s, (Order)d, seed, &index, arena, counts);
            }
            CHECK(counts[1] > 100); /* enough copies that succeed ... */
            CHECK(counts[0] > 10);  /* ... and that are refused */
        }
    }
    arena_destroy(&arena);
}

/* Pitfall N10: rows of 729 two-byte elements start at odd half-words. */
static void odd_rows_are_refused(void)
{
    Arena arena = arena_create(1 << 20);
    Layout src, dst;
    Shard from = shard_at(&src, ORDER_ROW_MAJOR, DTYPE_F16, region_of(0, 8, 0, 729));
    Shard to = shard_at(&dst, ORDER_AMP_LEFT, DTYPE_F16, region_of(0, 8, 0, 729));
    CopyRunVec runs = {0};
    Error err;
    CHECK_ERROR(layout_copy_runs(&src, &from, &dst, &to, to.box, 0, 0, &runs, &arena, &err), err,
                ERROR_NO, "sub-word");
    /* The same rows moved whole are words again, if their number is even. */
    Shard whole = shard_at(&dst, ORDER_ROW_MAJOR, DTYPE_F16, region_of(0, 8, 0, 729));
    err = (Error){0};
    CHECK_OK(layout_copy_runs(&src, &from, &dst, &whole, whole.box, 0, 0, &runs, &arena, &err),
             err);
    CHECK_EQ_INT(runs.len, 1);
    CHECK_EQ_INT(runs.at[0].bytes, 8 * 729 * 2);
    CHECK_ERROR(layout_copy_runs(&src, &from, &dst, &whole, region_of(0, 7, 0, 729), 0, 0, &runs,
                                 &arena, &err),
                err, ERROR_NO, "sub-word");
    /* Padded to 736 columns, everything moves. */
    from = shard_at(&src, ORDER_ROW_MAJOR, DTYPE_F16, region_of(0, 8, 0, 736));
    to = shard_at(&dst, ORDER_AMP_LEFT, DTYPE_F16, region_of(0, 8, 0, 736));
    err = (Error){0};
    runs.len = 0;
    CHECK_OK(layout_copy_runs(&src, &from, &dst, &to, to.box, 0, 0, &runs, &arena, &err), err);
    CHECK_EQ_INT(runs.len, 8 * 46);
    arena_destroy(&arena);
}

/* Whole panels move as one run each: the cost must not grow with the rows. */
static void panels_move_whole(void)
{
    Arena arena = arena_create(1 << 20);
    Layout src, dst;
    Shard from = shard_at(&src, ORDER_AMP_LEFT, DTYPE_F16, region_of(0, 729, 0, 1152));
    Shard to = shard_at(&dst, ORDER_AMP_LEFT, DTYPE_F16, region_of(100, 200, 64, 128));
    CopyRunVec runs = {0};
    Error err = {0};
    CHECK_OK(layout_copy_runs(&src, &from, &dst, &to, to.box, 0, 0, &runs, &arena, &err), err);
    CHECK_EQ_INT(runs.len, 4);
    CHECK_EQ_INT(runs.at[1].src_offset, 2 * (5 * 729 * 16 + 100 * 16));
    CHECK_EQ_INT(runs.at[1].dst_offset, 2 * 100 * 16);
    CHECK_EQ_INT(runs.at[1].bytes, 100 * 32);
    /* 16 keys of 16 channels out of a left operand are one 512-byte panel. */
    Shard keys = shard_at(&dst, ORDER_KEYS_RIGHT, DTYPE_F16, region_of(96, 128, 0, 32));
    runs.len = 0;
    CHECK_OK(layout_copy_runs(&src, &from, &dst, &keys, keys.box, 0, 0, &runs, &arena, &err), err);
    CHECK_EQ_INT(runs.len, 4);
    CHECK_EQ_INT(runs.at[0].bytes, 512);
    arena_destroy(&arena);
}

/* Runs of different calls stay apart, even if they touch: a caller may give them to different tiles. */
static void calls_are_not_merged(void)
{
    Arena arena = arena_create(1 << 20);
    Layout layout;
    Shard shard = shard_at(&layout, ORDER_AMP_LEFT, DTYPE_F16, region_of(0, 4, 0, 16));
    CopyRunVec copies = {0};
    ByteRunVec runs = {0};
    Error err = {0};
    for (int32_t r = 0; r < 4; r++) {
        Region row = region_of(r, r + 1, 0, 16);
        CHECK_OK(
            layout_copy_runs(&layout, &shard, &layout, &shard, row, 0, 0, &copies, &arena, &err),
            err);
        layout_runs(&layout, &shard, row, &runs, &arena);
    }
    CHECK_EQ_INT(copies.len, 4);
    CHECK_EQ_INT(runs.len, 4);
    arena_destroy(&arena);
}

TEST_MAIN(calls_are_not_merged, runs_cover_exactly, copies, odd_rows_are_refused, panels_move_whole)
