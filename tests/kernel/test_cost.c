/* kernel_cost against simulated cycles over shapes: within 3 % + 20 cycles (gemm_f16 priced with its slower loads). */
#include "checks.h"

static void compare(const Rig *rig, const KernelCall *call, Cycles saved)
{
    CHECK_CSTR(rig->complaint, "");
    double priced = (double)(kernel_cost(call) - saved), simulated = (double)rig->cycles;
    if (fabs(priced - simulated) > 0.03 * simulated + 20) {
        fprintf(stderr, "%.*s rows %lld, cols %lld, inner %lld\n",
                STR_ARG(kernel_of(call->kernel)->name), (long long)call->rows,
                (long long)call->cols, (long long)call->inner);
        CHECK_NEAR(priced, simulated, 0.03 * simulated + 20);
    }
}

static const int ROWS[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 16, 18, 24, 49};
enum { ROW_COUNT = sizeof ROWS / sizeof *ROWS };

static void gemm(void)
{
    Rig rig = rig_of_library();
    KernelCall call;
    for (int r = 0; r < ROW_COUNT; r++) {
        for (int inner = 16; inner <= 192; inner += 88 * 2) {
            for (int cols = 16; cols <= 64; cols += 48) {
                for (int region = 0; region < 2; region++) {
                    check_gemm(&rig, (Extents){ROWS[r], inner, cols}, false, region, 1, &call);
                    compare(&rig, &call, region ? inner / 16 * (cols / 16) * 32 : 0);
                }
            }
        }
    }
    rig_destroy(&rig);
}

static void rows_and_columns(void)
{
    Rig rig = rig_of_library();
    KernelCall call;
    double error = 0;
    for (int r = 0; r < ROW_COUNT; r++) {
        for (int cols = 16; cols <= 192; cols += 16) {
            Extents s = {ROWS[r], 0, cols};
            check_bias(&rig, s, 1, &call), compare(&rig, &call, 0);
            check_add(&rig, s, ORDER_AMP_LEFT, true, 1, &call), compare(&rig, &call, 0);
            check_gelu(&rig, s, true, 2, 1, &error, &call), compare(&rig, &call, 0);
            check_layernorm(&rig, s, 0, 1, 1, &call), compare(&rig, &call, 0);
            check_normalise(&rig, s, 1, &call), compare(&rig, &call, 0);
        }
        for (int parts = 1; parts < 9; parts++) {
            check_reduce(&rig, (Extents){ROWS[r], parts, 48}, 1, &call), compare(&rig, &call, 0);
        }
        for (int keys = 1; keys < 66; keys++) {
            int cols = (keys + 15) / 16 * 16 + keys % 3 * 16;
            check_softmax(&rig, (Extents){ROWS[r], 0, cols}, keys, 0.125f, 4, true, 1, &call),
                compare(&rig, &call, 0);
        }
    }
    rig_destroy(&rig);
}

static void moves(void)
{
    Rig rig = rig_of_library();
    KernelCall call;
    for (int blocks = 1; blocks < 13; blocks++) {
        check_transpose(&rig, (Extents){16, 0, 16 * blocks}, 1, &call), compare(&rig, &call, 0);
    }
    static const int WORDS[] = {1, 4, 7, 12, 24, 48, 96, 200}, RUNS[] = {1, 2, 3, 6, 7, 12, 16, 25};
    for (int w = 0; w < 8; w++) {
        for (int r = 0; r < 8; r++) {
            check_copy(&rig, WORDS[w], RUNS[r], WORDS[w], WORDS[w], 1, &call),
                compare(&rig, &call, 0);
            check_fill(&rig, WORDS[w], RUNS[r], WORDS[w], &call), compare(&rig, &call, 0);
        }
    }
    rig_begin(&rig);
    rig_kernel(&rig, KERNEL_barrier, NULL, 0, NULL, 0, &call);
    compare(&rig, &call, 0);
    rig_destroy(&rig);
}

TEST_MAIN(gemm, rows_and_columns, moves)
