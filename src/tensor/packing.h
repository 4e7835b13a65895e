/* How a device matrix is built from named tensors of a checkpoint (decisions.md A1): concatenation
 * along columns, axis permutation, slices and zero-padded groups (heads), as affine maps. The same
 * record serves the oracle (no padding), the compiler (padded) and the runtime (fills shards).
 *
 * Padded coordinate x of an axis is split as group = x / group_padded, member = x % group_padded;
 * member >= group_logical or a logical coordinate >= extent is a hole and reads as zero; otherwise
 * logical = group * group_logical + member. A logical coordinate is split into digits by
 * size[0..rank) (outermost first); source element = base + sum digit * stride.
 */
#pragma once
#include "base/error.h"
#include "tensor/dtype.h"
#include "tensor/region.h"
#include "tensor/shape.h"

enum { PACK_AXIS_RANK = 4 };

typedef struct PackAxis {
    int32_t rank;
    int32_t size[PACK_AXIS_RANK];
    int64_t stride[PACK_AXIS_RANK];
    int32_t group_logical, group_padded; /* both 0: no padding inside the axis */
} PackAxis;

/* Columns [col_begin, col_end) (padded coordinates) of the matrix come from one tensor. */
typedef struct PackPart {
    Str tensor; /* checkpoint name, or name of a run-time input */
    int32_t col_begin, col_end;
    int64_t base;
    PackAxis rows, cols;
} PackPart;
SPAN(PackPart);

typedef struct Packing {
    int32_t rows,
        cols; /* extents in padded coordinates (before rounding up to a layout's panels) */
    PackPartSpan parts; /* ordered, disjoint in columns */
} Packing;

/* Logical extent of an axis: product of its sizes. */
int64_t pack_axis_extent(const PackAxis *axis);
/* Padded extent: extent rounded up group by group. */
int64_t pack_axis_padded(const PackAxis *axis);
/* Source element index of (row, col), or -1 for a hole. *part receives the part's index. */
int64_t packing_source(const Packing *packing, int32_t row, int32_t col, int *part);
/* Axis of one dimension: extent elements `stride` apart. */
PackAxis pack_axis_simple(int32_t extent, int64_t stride);
/* What one axis adds to the source index at a padded coordinate, or PACK_HOLE. Independent of the
 * other axis. */
#define PACK_HOLE INT64_MIN
int64_t pack_axis_offset(const PackAxis *axis, int64_t padded);
/* Records from outside (package files): sizes positive, parts ordered and inside the matrix,
 * strides within bounds. */
#define PACK_STRIDE_MAX ((int64_t)1 << 40)
bool packing_check(const Packing *packing, Error *err);
/* Every element the part reads (after packing_check) lies in a tensor of `elems` elements. */
bool pack_part_check(const PackPart *part, int64_t elems, Error *err);
