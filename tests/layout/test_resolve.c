/* Tilings resolved into shards: even parts, never an empty one (pitfall N9), coverage, replicas. */
#include "layout/layout.h"
#include "test.h"

static Tile tile(int id)
{
    return (Tile){(uint16_t)id};
}

static void parts_are_even_and_never_empty(void)
{
    uint64_t seed = test_seed(21);
    for (uint64_t i = 0; i < 20000; i++) {
        int32_t extent = 1 + (int32_t)random_below(seed, 3 * i, 800);
        int32_t grain = 1 + (int32_t)random_below(seed, 3 * i + 1, 40);
        int32_t grains = (extent + grain - 1) / grain;
        int32_t parts = 1 + (int32_t)random_below(seed, 3 * i + 2, (uint64_t)grains);
        int32_t at = 0, last_grains = grains;
        for (int32_t k = 0; k < parts; k++) {
            int32_t begin, end;
            part_range(extent, parts, grain, k, &begin, &end);
            CHECK_EQ_INT(begin, at);
            CHECK(end > begin);
            CHECK(end % grain == 0 || end == extent);
            int32_t here = (end - begin + grain - 1) / grain;
            CHECK(here <= last_grains);
            CHECK(here == grains / parts || here == grains / parts + 1);
            last_grains = here;
            at = end;
        }
        CHECK_EQ_INT(at, extent);
    }
}

/* 729 keys in 7 parts at grain 32: the case that once left the last part empty. */
static void keys_of_siglip(void)
{
    Arena arena = arena_create(1 << 20);
    Tiling tiling = {DTYPE_F16, ORDER_KEYS_RIGHT, 729, 72, 7, 32, 1, 72};
    Tile owners[7];
    for (int i = 0; i < 7; i++) {
        owners[i] = tile(10 - i);
    }
    Layout layout;
    Error err = {0};
    CHECK_OK(layout_resolve(&tiling, owners, &arena, &layout, &err), err);
    CHECK_EQ_INT(layout.shards.len, 7);
    CHECK(region_equal(layout.shards.at[0].box, region_of(0, 128, 0, 72)));
    CHECK(region_equal(layout.shards.at[6].box, region_of(640, 729, 0, 72)));
    CHECK_EQ_INT(layout.shards.at[6].alloc_rows, 96);
    CHECK_EQ_INT(layout.shards.at[6].alloc_cols, 80);
    CHECK_EQ_INT(layout.shards.at[6].tile.id, 4);
    CHECK_EQ_INT(shard_bytes(&layout, &layout.shards.at[6]), 96 * 80 * 2);
    CHECK(layout_covers(&layout, arena));
    arena_destroy(&arena);
}

static void refuses_empty_parts(void)
{
    Arena arena = arena_create(1 << 20);
    Tile owners[64] = {{0}};
    Layout layout;
    Error err;
    Tiling rows = {DTYPE_F16, ORDER_AMP_LEFT, 729, 64, 24, 32, 1, 16};
    CHECK_ERROR(layout_resolve(&rows, owners, &arena, &layout, &err), err, ERROR_INPUT,
                "rows: extent 729");
    Tiling cols = {DTYPE_F16, ORDER_AMP_LEFT, 729, 64, 1, 1, 5, 16};
    CHECK_ERROR(layout_resolve(&cols, owners, &arena, &layout, &err), err, ERROR_INPUT,
                "columns: extent 64");
    Tiling none = {DTYPE_F16, ORDER_AMP_LEFT, 729, 64, 0, 1, 5, 16};
    CHECK_ERROR(layout_resolve(&none, owners, &arena, &layout, &err), err, ERROR_INPUT, "positive");
    arena_destroy(&arena);
}

static void grid_order(void)
{
    Arena arena = arena_create(1 << 20);
    Tiling tiling = {DTYPE_F16, ORDER_AMP_LEFT, 9, 40, 2, 1, 2, 16};
    Tile owners[4] = {{7}, {6}, {5}, {4}};
    Layout layout;
    Error err = {0};
    CHECK_OK(layout_resolve(&tiling, owners, &arena, &layout, &err), err);
    Writer writer = writer_buffer(&arena);
    layout_print(&writer, &layout);
    CHECK_STR(writer_text(&writer),
              S("layout dtype=f16 order=amp_left rows=9 cols=40 shards=4\n"
                "shard tile=7 rows=0..5 cols=0..32 alloc_rows=5 alloc_cols=32 bytes=320\n"
                "shard tile=6 rows=0..5 cols=32..40 alloc_rows=5 alloc_cols=16 bytes=160\n"
                "shard tile=5 rows=5..9 cols=0..32 alloc_rows=4 alloc_cols=32 bytes=256\n"
                "shard tile=4 rows=5..9 cols=32..40 alloc_rows=4 alloc_cols=16 bytes=128\n"));
    arena_destroy(&arena);
}

static void coverage(void)
{
    Arena arena = arena_create(1 << 20);
    uint64_t seed = test_seed(22);
    for (uint64_t i = 0; i < 3000; i++) {
        Arena scratch = arena;
        Layout layout = {.dtype = DTYPE_F32, .order = ORDER_ROW_MAJOR, .rows = 6, .cols = 7};
        bool is_owned[6][7] = {{false}};
        int count = 1 + (int)random_below(seed, 100 * i, 9);
        for (int k = 0; k < count; k++) {
            uint64_t at = 100 * i + 10 * (uint64_t)k;
            int32_t r = (int32_t)random_below(seed, at + 1, 3),
                    c = (int32_t)random_below(seed, at + 2, 3);
            int32_t r_end = r + 1 + (int32_t)random_below(seed, at + 3, (uint64_t)(6 - r));
            int32_t c_end = c + 1 + (int32_t)random_below(seed, at + 4, (uint64_t)(7 - c));
            layout_add(&layout, tile(k), region_of(r, r_end, c, c_end), &scratch);
            for (int32_t y = r; y < r_end; y++) {
                for (int32_t x = c; x < c_end; x++) {
                    is_owned[y][x] = true;
                }
            }
        }
        layout_finish(&layout, scratch);
        bool is_whole = true;
        for (int y = 0; y < 6; y++) {
            for (int x = 0; x < 7; x++) {
                is_whole = is_whole && is_owned[y][x];
            }
        }
        CHECK_EQ_INT(layout_covers(&layout, scratch), is_whole);
    }
    arena_destroy(&arena);
}

static void replicas_are_sorted(void)
{
    Arena arena = arena_create(1 << 20);
    Layout layout = {.dtype = DTYPE_F16, .order = ORDER_ROW_MAJOR, .rows = 4, .cols = 8};
    layout_add(&layout, tile(9), region_of(2, 4, 0, 8), &arena);
    layout_add(&layout, tile(5), region_of(0, 2, 0, 8), &arena);
    layout_add(&layout, tile(3), region_of(2, 4, 0, 8), &arena);
    layout_finish(&layout, arena);
    CHECK_EQ_INT(layout.shards.at[0].tile.id, 5);
    CHECK_EQ_INT(layout.shards.at[1].tile.id, 3);
    CHECK_EQ_INT(layout.shards.at[2].tile.id, 9);
    arena_destroy(&arena);
}

TEST_MAIN(parts_are_even_and_never_empty, keys_of_siglip, refuses_empty_parts, grid_order, coverage,
          replicas_are_sorted)
