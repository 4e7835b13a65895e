/* plan: all choices. Formats, grids, kernels, conversions, budgets; their estimate.
 * takes: Graph, machine size       gives: Plan
 * uses: base chip tensor layout kernel graph
 * never: calls a later stage, holds an address, loops over plans
 *
 * A Plan is a whole-device program over values with resolved layouts: moves (redistribution by exchange or local copy),
 * kernel calls on every shard, and one structured loop. Moves keep elements and precision; kernels compute. A value has at
 * most one shard per tile, so that a kernel step finds its operands by tile.
 */
#pragma once
#include "base/base.h"
#include "chip/chip.h"
#include "graph/graph.h"
#include "kernel/kernel.h"
#include "layout/layout.h"
#include "tensor/tensor.h"

typedef enum PlanRole {
    PLAN_TEMPORARY = 0,
    PLAN_INPUT,
    PLAN_PARAMETER, /* resident where it is used, uploaded once */
    PLAN_CARRIED,   /* state of the loop: one storage, updated in place */
} PlanRole;

typedef struct PlanValue {
    Str name; /* unique */
    PlanRole role;
    bool is_output;
    Layout layout;           /* padded coordinates */
    const Packing *packings; /* inputs, parameters: [iterations or 1], padded coordinates */
    int32_t iterations;      /* > 0: member i belongs to iteration i of the loop */
    int32_t graph_value;     /* 0: none */
    int32_t group_logical,
        group_padded; /* column padding groups relative to the graph value; 0: none */
} PlanValue;
VEC(PlanValue);

typedef enum PlanStepKind {
    PLAN_MOVE = 0,
    PLAN_KERNEL,
    PLAN_LOOP_BEGIN,
    PLAN_LOOP_END
} PlanStepKind;

typedef struct PlanStep {
    PlanStepKind kind;
    Provenance provenance;
    /* PLAN_MOVE: dst(r, c) = src(r + row_shift, c + col_shift); elements of dst that src does not hold become zero */
    int32_t src, dst, row_shift, col_shift;
    /* PLAN_KERNEL: one call per shard of the last written operand */
    KernelId kernel;
    int32_t operand_count, scalar_count;
    int32_t operand[KERNEL_OPERANDS_MAX];
    uint32_t scalar[KERNEL_SCALARS_MAX];
    /* PLAN_LOOP_BEGIN */
    int32_t loop_count;
} PlanStep;
VEC(PlanStep);

typedef struct Estimate {
    Cycles estimated_cycles; /* one call: kernels + phases, per-step maxima over tiles */
    Cycles kernel_cycles, exchange_cycles;
    int64_t phases; /* per call */
} Estimate;

typedef struct Budget {
    int32_t tiles;          /* logical tiles 0..tiles-1 may be used */
    uint32_t support_bytes; /* per tile from SRAM_BASE, whole elements: kernels, program, rows */
} Budget;

typedef struct Plan {
    Str name; /* of the network */
    Budget budget;
    PlanValueVec values; /* at[0] unused */
    PlanStepVec steps;
    NameTable names; /* provenance strings */
    Estimate estimate;
} Plan;

typedef struct PlanOptions {
    int32_t tiles;         /* 0: CHIP_TILES */
    int32_t rows_per_tile; /* 0: chosen */
} PlanOptions;

/* The baseline plan: row groups common to all values, column x K grids per product, weights resident on their consumers,
 * materialised attention with one (row group, head) per tile. ERROR_NO "does not fit" with the numbers; ERROR_INPUT for
 * shapes that no kernel of this version covers. */
bool plan_baseline(const Graph *graph, const PlanOptions *options, Arena *keep, Arena scratch,
                   Plan *out, Error *err);
/* Every value written before it is read, layouts cover, one shard per tile and value, operands on the tiles of the result,
 * no empty shard (pitfall N9), parameters never written (N16). */
bool plan_check(const Plan *plan, Arena scratch, Error *err);
/* Shard of the value on every logical tile, -1 where there is none. */
void plan_shards_by_tile(const PlanValue *value, int32_t shard_of[CHIP_TILES]);
/* Steps from `first` on that share one exchange phase: moves of which none reads what another writes, none writes what
 * another reads or writes. */
isize plan_moves_together(const Plan *plan, isize first);
/* Operand that decides where a kernel step runs: the last one that the kernel writes. */
int32_t plan_result_operand(KernelId kernel);
void plan_print(Writer *writer, const Plan *plan);
