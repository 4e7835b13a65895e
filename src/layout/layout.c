/* Layouts: a matrix cut into shards, decided once (compiler-design.md 3.2, style.md 1).
 *
 * Parts are as even as the grain allows: whole grains are dealt out, earlier parts get the extra
 * ones, and only the last grain may be short. A part can therefore be empty only when there are
 * more parts than grains, which is refused (pitfall N9).
 */
#include "base/bits.h"
#include "base/sort.h"
#include "layout/terms.h"

static int compare_i32(int32_t a, int32_t b)
{
    return (a > b) - (a < b);
}

static int compare_shards(const void *left, const void *right, const void *context)
{
    const Shard *a = left, *b = right;
    (void)context;
    int order = compare_i32(a->box.row_begin, b->box.row_begin);
    order = order != 0 ? order : compare_i32(a->box.col_begin, b->box.col_begin);
    order = order != 0 ? order : compare_i32(a->tile.id, b->tile.id);
    order = order != 0 ? order : compare_i32(a->box.row_end, b->box.row_end);
    return order != 0 ? order : compare_i32(a->box.col_end, b->box.col_end);
}

static bool check_parts(const char *axis, int32_t extent, int32_t parts, int32_t grain, Error *err)
{
    if (extent < 1 || parts < 1 || grain < 1) {
        return error_set(err, ERROR_INPUT, NULL,
                         "%s: extent %d, parts %d and grain %d must all be positive", axis, extent,
                         parts, grain);
    }
    int64_t grains = div_up(extent, grain);
    if (parts > grains) {
        return error_set(err, ERROR_INPUT, NULL,
                         "%s: extent %d has %lld grains of %d, too few for %d non-empty parts",
                         axis, extent, (long long)grains, grain, parts);
    }
    return true;
}

void part_range(int32_t extent, int32_t parts, int32_t grain, int32_t i, int32_t *begin,
                int32_t *end)
{
    int64_t grains = div_up(extent, grain);
    int64_t base = grains / parts, extra = grains % parts;
    int64_t first = i * base + min_i64(i, extra);
    int64_t count = base + (i < extra ? 1 : 0);
    *begin = (int32_t)min_i64(first * grain, extent);
    *end = (int32_t)min_i64((first + count) * grain, extent);
}

bool layout_resolve(const Tiling *tiling, const Tile *owners, Arena *arena, Layout *out, Error *err)
{
    if (!check_parts("rows", tiling->rows, tiling->row_parts, tiling->row_grain, err) ||
        !check_parts("columns", tiling->cols, tiling->col_parts, tiling->col_grain, err)) {
        return false;
    }
    *out = (Layout){
        .dtype = tiling->dtype, .order = tiling->order, .rows = tiling->rows, .cols = tiling->cols};
    for (int32_t i = 0; i < tiling->row_parts; i++) {
        for (int32_t j = 0; j < tiling->col_parts; j++) {
            Region box;
            part_range(tiling->rows, tiling->row_parts, tiling->row_grain, i, &box.row_begin,
                       &box.row_end);
            part_range(tiling->cols, tiling->col_parts, tiling->col_grain, j, &box.col_begin,
                       &box.col_end);
            layout_add(out, owners[(int64_t)i * tiling->col_parts + j], box, arena);
        }
    }
    layout_finish(out, *arena);
    return true;
}

void layout_add(Layout *layout, Tile tile, Region box, Arena *arena)
{
    ASSERT(!region_is_empty(box));
    int32_t alloc_rows =
        (int32_t)align_up(box.row_end - box.row_begin, order_row_multiple(layout->order));
    int32_t alloc_cols =
        (int32_t)align_up(box.col_end - box.col_begin, order_col_multiple(layout->order));
    *vec_push(&layout->shards, arena) = (Shard){tile, box, alloc_rows, alloc_cols};
}

void layout_finish(Layout *layout, Arena scratch)
{
    Region whole = region_of(0, layout->rows, 0, layout->cols);
    sort_stable(layout->shards.at, layout->shards.len, (isize)sizeof(Shard), compare_shards, NULL,
                scratch);
    for (isize i = 0; i < layout->shards.len; i++) {
        const Shard *shard = &layout->shards.at[i];
        ASSERT(shard->tile.id < CHIP_TILES);
        ASSERT(!region_is_empty(shard->box));
        ASSERT(region_contains(whole, shard->box));
        ASSERT(i == 0 || compare_shards(shard - 1, shard, NULL) < 0);
    }
}

bool layout_covers(const Layout *layout, Arena scratch)
{
    RegionVec missing = {0};
    Region whole = region_of(0, layout->rows, 0, layout->cols);
    if (!region_is_empty(whole)) {
        *vec_push(&missing, &scratch) = whole;
    }
    for (isize i = 0; i < layout->shards.len; i++) {
        Region box = layout->shards.at[i].box;
        for (isize k = missing.len - 1; k >= 0; k--) {
            Region hole = missing.at[k];
            if (!region_is_empty(region_intersect(hole, box))) {
                missing.at[k] = missing.at[--missing.len];
                region_subtract(hole, box, &missing, &scratch);
            }
        }
    }
    return missing.len == 0;
}

int64_t shard_bytes(const Layout *layout, const Shard *shard)
{
    return (int64_t)shard->alloc_rows * shard->alloc_cols * dtype_bytes(layout->dtype);
}

void layout_print(Writer *writer, const Layout *layout)
{
    write_fmt(writer, "layout dtype=%.*s order=%.*s rows=%d cols=%d shards=%td\n",
              STR_ARG(dtype_name(layout->dtype)), STR_ARG(order_name(layout->order)), layout->rows,
              layout->cols, layout->shards.len);
    for (isize i = 0; i < layout->shards.len; i++) {
        const Shard *shard = &layout->shards.at[i];
        write_fmt(writer,
                  "shard tile=%d rows=%d..%d cols=%d..%d alloc_rows=%d alloc_cols=%d bytes=%lld\n",
                  shard->tile.id, shard->box.row_begin, shard->box.row_end, shard->box.col_begin,
                  shard->box.col_end, shard->alloc_rows, shard->alloc_cols,
                  (long long)shard_bytes(layout, shard));
    }
}
