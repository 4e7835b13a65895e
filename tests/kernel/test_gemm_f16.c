/* gemm_f16 against the AMP arithmetic in double, bit-exact, over shapes, both orders of b, both regions. */
#include "checks.h"

static const int ROWS[] = {1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 13, 16, 17, 18, 19, 49};

static void shapes(void)
{
    Rig rig = rig_of_library();
    static const int INNER[] = {16, 32, 48, 304}, COLS[] = {16, 48, 160};
    KernelCall call;
    uint64_t seed = test_seed(1);
    for (size_t r = 0; r < sizeof ROWS / sizeof *ROWS; r++) {
        for (int k = 0; k < 4; k++) {
            for (int c = 0; c < 3; c++) {
                if (ROWS[r] > 19 && INNER[k] > 48 && COLS[c] > 48) {
                    continue;
                }
                Extents s = {ROWS[r], INNER[k], COLS[c]};
                check_gemm(&rig, s, (r + (size_t)k) % 2 != 0, c % 2, seed++, &call);
                CHECK_CSTR(rig.complaint, "");
            }
        }
    }
    check_gemm(&rig, (Extents){7, 1536, 16}, false, 0, seed++, &call);
    CHECK_CSTR(rig.complaint, "");
    check_gemm(&rig, (Extents){768, 32, 16}, false, 1, seed, &call);
    CHECK_CSTR(rig.complaint, "");
    rig_destroy(&rig);
}

TEST_MAIN(shapes)
