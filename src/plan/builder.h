/* Shared state of the baseline planner. Private to the room. */
#pragma once
#include "plan/plan.h"

/* How a graph value is held: columns [col, ...) of a plan value, padded group by group. value 0: not made yet. */
typedef struct View {
    int32_t value;
    int32_t col;
    int32_t group_logical, group_padded; /* 0: no padding groups */
} View;

/* Row groups and home tiles shared by all values of one row count. */
typedef struct RowSplit {
    int32_t rows, parts;
    Tile *home; /* [parts]: owner of complete rows */
} RowSplit;
VEC(RowSplit);

typedef struct Builder {
    const Graph *graph;
    const PlanOptions *options;
    Plan *plan;
    Arena *keep;
    Error *err;
    View *view;         /* per graph value */
    int32_t *last_use;  /* per graph value: position of its last reader in program order */
    int32_t *region_of; /* per graph value: region that defines it */
    int32_t *
        head_width; /* per graph value: columns must be padded in groups of this width (attention operands); 0: free */
    int32_t position; /* of the operation being planned */
    int32_t tiles, next_tile;
    RowSplitVec splits;
} Builder;

/* A rows x K-parts x columns grid for one product. */
typedef struct Grid {
    int32_t row_parts, col_parts, inner_parts;
    Cycles estimated_cycles;
} Grid;

/* Cheapest grid for C[rows, cols] = A[rows, inner] B, extents padded to 16, that fits `tiles` and keeps resident weights within
 * `weight_bytes_max` a tile for all iterations. False when there is none. */
bool grid_choose(int32_t rows, int32_t row_parts, int32_t inner, int32_t cols, int32_t iterations,
                 int32_t tiles, int64_t weight_bytes_max, Grid *out);

void estimate_plan(Plan *plan, Arena scratch);
