/* The rows of kernels.def, parsed: contracts plus the meaning of every argument word. Private to the room. */
#pragma once
#include "kernel/kernel.h"

/* Argument words that kernel_bind derives from the extents of the operands, by their names in kernels.def. */
/* clang-format off */
#define EXTENTS(EXTENT)                                                                            \
    EXTENT(rows) EXTENT(k_panels) EXTENT(col_groups) EXTENT(quads) EXTENT(panels)                  \
    EXTENT(inverse_width) EXTENT(blocks) EXTENT(segments) EXTENT(segment_reciprocal)               \
    EXTENT(rounds) EXTENT(variance_offset) EXTENT(run_words) EXTENT(runs) EXTENT(src_stride)       \
    EXTENT(dst_stride) EXTENT(stride)
/* clang-format on */
typedef enum Extent {
#define EXTENT(name) EXTENT_##name,
    EXTENTS(EXTENT)
#undef EXTENT
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
/* Into how many segments layernorm_f16 cuts the rows of its last round: 1, 2, 3 or 6, the cheapest. */
int64_t layernorm_segments(int64_t rows, int64_t panels);
