/* transpose_f16, copy64, fill64, barrier: bits arrive, nothing else changes. */
#include "checks.h"

static void transpose(void)
{
    Rig rig = rig_of_library();
    KernelCall call;
    uint64_t seed = test_seed(7);
    for (int rows = 16; rows <= 64; rows += 16) {
        for (int cols = 16; cols <= 160; cols += 16) {
            check_transpose(&rig, (Extents){rows, 0, cols}, seed++, &call);
            CHECK_CSTR(rig.complaint, "");
        }
    }
    rig_destroy(&rig);
}

static void copy_and_fill(void)
{
    Rig rig = rig_of_library();
    KernelCall call;
    static const int WORDS[] = {1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 40, 64, 200};
    static const int RUNS[] = {1, 2, 3, 5, 6, 7, 8, 13, 24};
    uint64_t seed = test_seed(8);
    for (size_t w = 0; w < sizeof WORDS / sizeof *WORDS; w++) {
        for (size_t r = 0; r < sizeof RUNS / sizeof *RUNS; r++) {
            check_copy(&rig, WORDS[w], RUNS[r], WORDS[w] + (int)r, WORDS[w] + 3, seed++, &call);
            CHECK_CSTR(rig.complaint, "");
            check_fill(&rig, WORDS[w], RUNS[r], WORDS[w] + (int)r % 3, &call);
            CHECK_CSTR(rig.complaint, "");
        }
    }
    rig_destroy(&rig);
}

static void barrier(void)
{
    Rig rig = rig_of_library();
    rig_begin(&rig);
    KernelCall call;
    CHECK(rig_kernel(&rig, KERNEL_barrier, NULL, 0, NULL, 0, &call));
    rig_destroy(&rig);
}

TEST_MAIN(transpose, copy_and_fill, barrier)
