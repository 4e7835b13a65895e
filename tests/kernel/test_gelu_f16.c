/* gelu_f16 over shapes, and over all 63,488 finite f16 values (pitfall N6): no fault, absolute error at most 0.003 where the
 * polynomial works, exactly x or zero beyond 8. */
#include "checks.h"

static void shapes(void)
{
    Rig rig = rig_of_library();
    static const int ROWS[] = {1, 2, 3, 4, 5, 6, 7, 8, 13, 16, 49};
    KernelCall call;
    double error = 0;
    uint64_t seed = test_seed(3);
    for (size_t r = 0; r < sizeof ROWS / sizeof *ROWS; r++) {
        for (int cols = 16; cols <= 160; cols += 48) {
            check_gelu(&rig, (Extents){ROWS[r], 0, cols}, r % 2 != 0, 3, seed++, &error, &call);
            CHECK_CSTR(rig.complaint, "");
        }
    }
    rig_destroy(&rig);
}

static void all_finite(void)
{
    Rig rig = rig_of_library();
    KernelCall call;
    rig_begin(&rig);
    int rows = 63488 / 64;
    int src = rig_operand(&rig, DTYPE_F16, ORDER_AMP_LEFT, rows, 64, 64, 1, true, false);
    int dst = rig_operand(&rig, DTYPE_F16, ORDER_AMP_LEFT, rows, 64, 64, 1, false, true);
    uint16_t *x = (uint16_t *)(void *)rig.buffer[src].data;
    int count = 0;
    for (uint32_t bits = 0; bits < 0x10000; bits++) {
        if ((bits & 0x7c00) != 0x7c00) {
            x[count++] = (uint16_t)bits;
        }
    }
    CHECK_EQ_INT(count, 63488);
    double error = 0;
    check_gelu_of(&rig, src, dst, x, &error, &call);
    CHECK_CSTR(rig.complaint, "");
    fprintf(stderr, "gelu_f16: largest absolute error %.6f\n", error);
    CHECK(error <= 0.003);
    rig_destroy(&rig);
}

TEST_MAIN(shapes, all_finite)
