/* Box algebra against a cell-by-cell oracle on a small grid. */
#include "tensor/tensor.h"
#include "test.h"

enum { GRID = 12 };

static bool holds(Region r, int32_t row, int32_t col)
{
    return r.row_begin <= row && row < r.row_end && r.col_begin <= col && col < r.col_end;
}

static Region random_box(uint64_t seed, uint64_t index)
{
    int32_t at[4];
    for (uint64_t k = 0; k < 4; k++) {
        at[k] = (int32_t)random_below(seed, 4 * index + k, GRID + 1);
    }
    return region_of(at[0], at[1], at[2], at[3]); /* about half of the boxes are empty */
}

static void against_cells(void)
{
    uint64_t seed = test_seed(11);
    Arena arena = arena_create(1 << 20);
    for (uint64_t i = 0; i < 20000; i++) {
        Arena scratch = arena;
        Region a = random_box(seed, 2 * i), b = random_box(seed, 2 * i + 1);
        Region both = region_intersect(a, b);
        RegionVec left = {0};
        region_subtract(a, b, &left, &scratch);
        CHECK(left.len <= 4);
        int64_t elems = 0;
        bool is_inside = true;
        for (int32_t r = 0; r < GRID; r++) {
            for (int32_t c = 0; c < GRID; c++) {
                bool in_a = holds(a, r, c), in_b = holds(b, r, c);
                elems += in_a;
                is_inside = is_inside && (!in_b || in_a);
                CHECK_EQ_INT(holds(both, r, c), in_a && in_b);
                int owners = 0;
                for (isize k = 0; k < left.len; k++) {
                    owners += holds(left.at[k], r, c);
                }
                CHECK_EQ_INT(owners, in_a && !in_b);
            }
        }
        CHECK_EQ_INT(region_elems(a), elems);
        CHECK_EQ_INT(region_is_empty(a), elems == 0);
        CHECK_EQ_INT(region_contains(a, b), is_inside);
        for (isize k = 0; k < left.len; k++) {
            CHECK(!region_is_empty(left.at[k]));
        }
    }
    arena_destroy(&arena);
}

static void fixed_order(void)
{
    Arena arena = arena_create(1 << 16);
    RegionVec left = {0};
    region_subtract(region_of(0, 10, 0, 10), region_of(2, 5, 3, 7), &left, &arena);
    CHECK_EQ_INT(left.len, 4);
    CHECK(region_equal(left.at[0], region_of(0, 2, 0, 10)));
    CHECK(region_equal(left.at[1], region_of(5, 10, 0, 10)));
    CHECK(region_equal(left.at[2], region_of(2, 5, 0, 3)));
    CHECK(region_equal(left.at[3], region_of(2, 5, 7, 10)));
    CHECK(!region_equal(left.at[2], left.at[3]));
    arena_destroy(&arena);
}

static void shapes(void)
{
    Shape a = shape_of2(3, 4), b = {3, {3, 4, 1}};
    CHECK_EQ_INT(shape_elems(&a), 12);
    CHECK_EQ_INT(shape_elems(&(Shape){0}), 1);
    CHECK(!shape_equal(&a, &b));
    CHECK(shape_equal(&a, &(Shape){2, {3, 4}}));
    CHECK(!shape_equal(&a, &(Shape){2, {4, 3}}));
}

TEST_MAIN(against_cells, fixed_order, shapes)
