/* layernorm_f16: shapes, a large mean beside a small deviation, constant rows (pitfall N5). */
#include "checks.h"

static void shapes(void)
{
    Rig rig = rig_of_library();
    static const int ROWS[] = {1, 2, 3, 4, 5, 6, 7, 8, 13, 16, 49},
                     COLS[] = {16, 32, 48, 112, 144, 192};
    KernelCall call;
    uint64_t seed = test_seed(4);
    for (size_t r = 0; r < sizeof ROWS / sizeof *ROWS; r++) {
        for (int c = 0; c < 6; c++) {
            check_layernorm(&rig, (Extents){ROWS[r], 0, COLS[c]}, 0.5, 2, seed++, &call);
            CHECK_CSTR(rig.complaint, "");
        }
    }
    check_layernorm(&rig, (Extents){7, 0, 384}, 1000, 2, seed++, &call);
    CHECK_CSTR(rig.complaint, "");
    check_layernorm(&rig, (Extents){7, 0, 384}, 12, 0, seed++, &call);
    CHECK_CSTR(rig.complaint, "");
    check_layernorm(&rig, (Extents){7, 0, 48}, 0, 0.001, seed++, &call);
    CHECK_CSTR(rig.complaint, "");
    rig_destroy(&rig);
}

TEST_MAIN(shapes)
