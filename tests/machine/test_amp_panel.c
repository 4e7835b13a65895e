/* Cycles of one panel of the matrix kernel: amp_panel.s against the table of kernels.md 2.3, and its results against a plain
 * product of small integers.
 */
#include "base/file.h"
#include "machine/math.h"
#include "tile_rig.h"

enum { TABLE = 0x54000, PANEL = 16, LOADS = 32 };

static uint32_t halves(int low, int high)
{
    return math_f16_of_f64(low) | (uint32_t)math_f16_of_f64(high) << 16;
}

/* Small integers, so that every sum is exact. */
static int a_value(int row, int k)
{
    return (row * 5 + k * 3) % 7 - 3;
}

static int b_value(int k, int column)
{
    return (k * 2 + column * 3 + k * column) % 5 - 2;
}

typedef struct Call {
    int rows, panels, groups; /* K = 16 panels, columns = 16 groups */
    Cycles cycles;
    Cycles longest; /* worker of the last launch: cycles from its first issue to its exit */
} Call;

static void fill_operands(Rig *rig, const Call *call)
{
    for (int p = 0; p < call->panels; p++) {
        for (int i = 0; i < call->rows * PANEL; i += 2) {
            int row = i / PANEL, k = p * PANEL + i % PANEL;
            uint32_t word = halves(a_value(row, k), a_value(row, k + 1));
            rig_words(rig, RIG_DATA + (uint32_t)(p * call->rows * 32 + i * 2), &word, 1);
        }
        for (int g = 0; g < call->groups; g++) {
            for (int i = 0; i < PANEL * PANEL; i += 2) {
                int column = g * PANEL + i / PANEL, k = p * PANEL + i % PANEL;
                uint32_t word = halves(b_value(k, column), b_value(k + 1, column));
                rig_words(rig, RIG_WIDE + (uint32_t)((p * call->groups + g) * 512 + i * 2), &word,
                          1);
            }
        }
    }
}

static void check_product(Rig *rig, const Call *call)
{
    for (int g = 0; g < call->groups; g++) {
        for (int i = 0; i < call->rows * PANEL; i += 2) {
            int row = i / PANEL, column = g * PANEL + i % PANEL, sum[2] = {0, 0};
            for (int k = 0; k < call->panels * PANEL; k++) {
                sum[0] += a_value(row, k) * b_value(k, column);
                sum[1] += a_value(row, k) * b_value(k, column + 1);
            }
            uint32_t address = RIG_RESULT + (uint32_t)(g * call->rows * 32 + i * 2);
            CHECK_EQ_INT(rig_word(rig, address), halves(sum[0], sum[1]));
        }
    }
}

static void run_call(Call *call)
{
    Rig *rig = rig_create();
    Str kernel;
    Error err = {0};
    CHECK_OK(file_read("tests/machine/amp_panel.s", 1 << 20, &rig->arena, &kernel, &err), err);
    Str text = str_format(&rig->arena, "setzi $m0, 0x%x\ncall $m10, amp_panel\nsync 7\n%.*s", TABLE,
                          STR_ARG(kernel));
    rig_code(rig, RIG_SUPERVISOR, true, text.at);
    const uint32_t table[6] = {RIG_DATA,
                               RIG_WIDE,
                               RIG_RESULT,
                               (uint32_t)call->rows,
                               (uint32_t)call->panels,
                               (uint32_t)call->groups};
    rig_words(rig, TABLE, table, 6);
    fill_operands(rig, call);
    TileStop stop = rig_run(rig);
    if (stop != TILE_STOP_SYNC_HOST) {
        fprintf(stderr, "%s: %s\n", rig->tile.fault.name ? rig->tile.fault.name : "-",
                rig->tile.fault.detail);
    }
    CHECK_EQ_INT(stop, TILE_STOP_SYNC_HOST);
    check_product(rig, call);
    call->cycles = rig->tile.cycle;
    const WorkerState *busiest = &rig->tile.worker[0];
    call->longest = busiest->end_cycle - busiest->start_cycle;
    rig_destroy(rig);
}

static double cycles_of(int rows, int panels, int groups)
{
    Call call = {.rows = rows, .panels = panels, .groups = groups};
    run_call(&call);
    return (double)call.cycles;
}

/* Period of a panel behind the first of a column group, and of a first panel with its change of group, over twelve panels each:
 * starts settle into the slots only after some panels, and may alternate. */
static double accumulating_period(int rows)
{
    return (cycles_of(rows, 18, 2) - cycles_of(rows, 6, 2)) / (2 * 12);
}

static double first_period(int rows, int panels, double accumulating)
{
    double group = (cycles_of(rows, panels, 18) - cycles_of(rows, panels, 6)) / 12;
    return group - (panels - 1) * accumulating;
}

/* I of kernels.md 2.3; the longest worker issues from its first cycle to its exit, I - 1 rotations. */
static void issues(void)
{
    for (int rows = 18; rows < 31; rows++) {
        int n = (rows + 5) / 6;
        Call first = {.rows = rows, .panels = 1, .groups = 2},
             accumulating = {.rows = rows, .panels = 2, .groups = 1};
        run_call(&first);
        run_call(&accumulating);
        CHECK_EQ_INT(first.longest, 6 * (17 + 4 * n - 1));
        CHECK_EQ_INT(accumulating.longest, 6 * (15 + 4 * n - 1));
    }
}

/* o = T - 6 I - W: the table of kernels.md 2.3 for rows mod 6 = 0 .. 5, 128-bit loads. */
static void overheads(void)
{
    static const double table_accumulating[6] = {40, 10, 16, 16, 22, 28},
                        table_first[6] = {52, 28, 34, 34, 40, 40};
    for (int least = 24; least <= 60; least += 36) {
        for (int rest = 0; rest < 6; rest++) {
            int rows = least + rest, n = (rows + 5) / 6;
            double accumulating = accumulating_period(rows);
            CHECK_NEAR(accumulating - 6 * (15 + 4 * n) - LOADS, table_accumulating[rest], 6.0);
            for (int panels = 1; panels <= 4; panels += 3) {
                double first = first_period(rows, panels, accumulating);
                CHECK_NEAR(first - 6 * (17 + 4 * n) - LOADS, table_first[rest], 6.0);
            }
        }
    }
}

TEST_MAIN(issues, overheads)
