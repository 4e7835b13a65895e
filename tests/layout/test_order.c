/* Element orders: check values of compiler-design.md 3.1 (FP16) and the bijection property. */
#include "layout/layout.h"
#include "test.h"

static void check_values(void)
{
    CHECK_EQ_INT(order_index(ORDER_AMP_LEFT, 81, 32, 5, 20), 1380);
    CHECK_EQ_INT(order_index(ORDER_AMP_RIGHT, 32, 48, 17, 35), 1329);
    /* Keys are the right operand of the transpose. */
    CHECK_EQ_INT(order_index(ORDER_KEYS_RIGHT, 48, 32, 35, 17), 1329);
    CHECK_EQ_INT(order_index(ORDER_ROW_MAJOR, 3, 7, 2, 5), 19);
    CHECK_STR(order_name(ORDER_AMP_LEFT), S("amp_left"));
    CHECK_STR(order_name(ORDER_ROW_MAJOR), S("row_major"));
}

/* A row-major slice of 16 keys by 16 channels is one panel, without transposition (kernels.md 1). */
static void key_panel_is_row_major(void)
{
    for (int32_t r = 0; r < 16; r++) {
        for (int32_t c = 0; c < 16; c++) {
            CHECK_EQ_INT(order_index(ORDER_KEYS_RIGHT, 64, 80, 32 + r, 48 + c),
                         (2 * 5 + 3) * 256 + r * 16 + c);
        }
    }
}

static void is_bijection(Order order, int32_t rows, int32_t cols, Arena scratch)
{
    int64_t count = (int64_t)rows * cols;
    bool *is_seen = arena_array(&scratch, bool, count);
    for (int32_t r = 0; r < rows; r++) {
        for (int32_t c = 0; c < cols; c++) {
            int64_t index = order_index(order, rows, cols, r, c);
            CHECK(index >= 0 && index < count);
            CHECK(!is_seen[index]);
            is_seen[index] = true;
            int32_t back_r = -1, back_c = -1;
            order_coordinate(order, rows, cols, index, &back_r, &back_c);
            CHECK_EQ_INT(back_r, r);
            CHECK_EQ_INT(back_c, c);
        }
    }
}

static void bijections(void)
{
    Arena arena = arena_create(1 << 20);
    uint64_t seed = test_seed(5);
    for (uint64_t i = 0; i < 400; i++) {
        int32_t a = 1 + (int32_t)random_below(seed, 2 * i, 7),
                b = 1 + (int32_t)random_below(seed, 2 * i + 1, 7);
        int32_t odd = 1 + (int32_t)random_below(seed, 2 * i, 90);
        is_bijection(ORDER_ROW_MAJOR, odd, 13 * b, arena);
        is_bijection(ORDER_AMP_LEFT, odd, 16 * b, arena);
        is_bijection(ORDER_AMP_RIGHT, 16 * a, 16 * b, arena);
        is_bijection(ORDER_KEYS_RIGHT, 16 * a, 16 * b, arena);
    }
    arena_destroy(&arena);
}

TEST_MAIN(check_values, key_panel_is_row_major, bijections)
