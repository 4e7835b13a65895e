/* softmax_f16 and normalise_f16: every number of keys in three panels, masked columns full of NaNs (pitfall N1), whole zero
 * panels, in place and not. */
#include "checks.h"

static void softmax(void)
{
    Rig rig = rig_of_library();
    KernelCall call;
    uint64_t seed = test_seed(5);
    for (int keys = 1; keys <= 48; keys++) {
        for (int more = 0; more <= 32; more += 32) {
            int cols = (keys + 15) / 16 * 16 + more;
            check_softmax(&rig, (Extents){keys % 8 + 1, 0, cols}, keys, 0.125f, 8, keys % 2 != 0,
                          seed++, &call);
            CHECK_CSTR(rig.complaint, "");
        }
    }
    static const int ROWS[] = {1, 2, 3, 4, 5, 6, 7, 8, 13, 16, 49};
    for (size_t r = 0; r < sizeof ROWS / sizeof *ROWS; r++) {
        check_softmax(&rig, (Extents){ROWS[r], 0, 64}, 49, 0.14433756f, 20, true, seed++, &call);
        CHECK_CSTR(rig.complaint, "");
        check_softmax(&rig, (Extents){ROWS[r], 0, 64}, 64, 0.1178511f, 20, true, seed++, &call);
        CHECK_CSTR(rig.complaint, "");
        check_softmax(&rig, (Extents){ROWS[r], 0, 16}, 9, 0.1178511f, 20, false, seed++, &call);
        CHECK_CSTR(rig.complaint, "");
    }
    check_softmax(&rig, (Extents){7, 0, 736}, 729, 0.1178511f, 20, true, seed++, &call);
    CHECK_CSTR(rig.complaint, "");
    check_softmax(&rig, (Extents){7, 0, 64}, 64, 1.0f, 9000, true, seed++, &call);
    CHECK_CSTR(rig.complaint, "");
    rig_destroy(&rig);
}

static void normalise(void)
{
    Rig rig = rig_of_library();
    KernelCall call;
    uint64_t seed = test_seed(6);
    for (int rows = 1; rows < 20; rows++) {
        for (int cols = 16; cols <= 80; cols += 16) {
            check_normalise(&rig, (Extents){rows, 0, cols}, seed++, &call);
            CHECK_CSTR(rig.complaint, "");
        }
    }
    rig_destroy(&rig);
}

TEST_MAIN(softmax, normalise)
