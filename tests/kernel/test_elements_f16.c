/* bias_f16, add_f16 and reduce_f16: exact results over shapes. */
#include "checks.h"

static const int ROWS[] = {1, 2, 3, 4, 5, 6, 7, 8, 13, 16, 49}, COLS[] = {16, 48, 64, 160};

static void shapes(void)
{
    Rig rig = rig_of_library();
    KernelCall call;
    uint64_t seed = test_seed(2);
    for (size_t r = 0; r < sizeof ROWS / sizeof *ROWS; r++) {
        for (int c = 0; c < 4; c++) {
            Extents s = {ROWS[r], 0, COLS[c]};
            check_bias(&rig, s, seed++, &call);
            CHECK_CSTR(rig.complaint, "");
            check_add(&rig, s, c % 2 ? ORDER_ROW_MAJOR : ORDER_AMP_LEFT, r % 2 != 0, seed++, &call);
            CHECK_CSTR(rig.complaint, "");
            for (s.inner = 1; s.inner < 6; s.inner++) {
                check_reduce(&rig, s, seed++, &call);
                CHECK_CSTR(rig.complaint, "");
            }
        }
    }
    check_reduce(&rig, (Extents){3, 16, 32}, seed++, &call);
    CHECK_CSTR(rig.complaint, "");
    for (int cols = 4; cols < 60; cols += 4) {
        check_add(&rig, (Extents){1, 0, cols}, ORDER_ROW_MAJOR, false, seed++, &call);
        CHECK_CSTR(rig.complaint, "");
    }
    rig_destroy(&rig);
}

TEST_MAIN(shapes)
