/* Grid choice for one product (compiler-design.md 5.1, 5.2): columns x K-parts for a given row split. Small enough to be
 * enumerated; priced with the kernel formulas, receive words and the fixed cost of a phase. */
#include "plan/builder.h"

enum { PANEL = 16, INNER_PARTS_MAX = 16 };

static Cycles gemm_cycles(int32_t rows, int32_t inner, int32_t cols)
{
    KernelCall call = {.kernel = KERNEL_gemm_f16, .rows = rows, .cols = cols, .inner = inner};
    return kernel_cost(&call);
}

static Cycles reduce_cycles(int32_t rows, int32_t cols, int32_t parts)
{
    KernelCall call = {.kernel = KERNEL_reduce_f16, .rows = rows, .cols = cols, .inner = parts};
    return kernel_cost(&call);
}

bool grid_choose(int32_t rows, int32_t row_parts, int32_t inner, int32_t cols, int32_t iterations,
                 int32_t tiles, int64_t weight_bytes_max, Grid *out)
{
    int32_t col_groups = cols / PANEL, inner_panels = inner / PANEL;
    int32_t tile_rows = (int32_t)div_up(rows, row_parts);
    bool found = false;
    for (int32_t parts = 1; parts <= inner_panels && parts <= INNER_PARTS_MAX; parts++) {
        int32_t cells = tiles / (row_parts * parts);
        for (int32_t col_parts = 1; col_parts <= col_groups && col_parts <= cells; col_parts++) {
            int32_t tile_cols = (int32_t)div_up(col_groups, col_parts) * PANEL;
            int32_t tile_inner = (int32_t)div_up(inner_panels, parts) * PANEL;
            if ((int64_t)tile_inner * tile_cols * 2 * iterations > weight_bytes_max)
                continue;
            Cycles cycles = gemm_cycles(tile_rows, tile_inner, tile_cols);
            cycles += (Cycles)tile_rows * tile_inner / 2; /* words of A received, 4 bytes a cycle */
            if (parts > 1)
                cycles += (Cycles)parts * tile_rows * tile_cols / 2 +
                          reduce_cycles(tile_rows, tile_cols, parts) + PHASE_COST_DEFAULT;
            if (found && cycles >= out->estimated_cycles)
                continue;
            *out = (Grid){row_parts, col_parts, parts, cycles};
            found = true;
        }
    }
    return found;
}
