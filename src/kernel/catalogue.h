/* The rows of kernels.def, parsed: contracts plus the meaning of every argument word. Private to the room. */
#pragma once
#include "kernel/kernel.h"

/* Argument words that kernel_bind derives from the extents of the operands. */
typedef enum Extent {
    EXTENT_rows,
    EXTENT_k_panels,
    EXTENT_col_groups,
    EXTENT_quads,
    EXTENT_panels,
    EXTENT_inverse_width,
    EXTENT_blocks,
    EXTENT_run_words,
    EXTENT_runs,
    EXTENT_src_stride,
    EXTENT_dst_stride,
    EXTENT_stride,
    EXTENT_COUNT
} Extent;

typedef enum ArgumentKind { ARGUMENT_OPERAND, ARGUMENT_SCALAR, ARGUMENT_EXTENT } ArgumentKind;

typedef struct Argument {
    ArgumentKind kind;
    int32_t index; /* operand, scalar or Extent */
} Argument;

typedef struct CatalogueRow {
    Kernel kernel;
    Str scalar[KERNEL_SCALARS_MAX];
    Argument argument[KERNEL_ARGS_MAX];
} CatalogueRow;

const CatalogueRow *catalogue_row(KernelId id);
