/* Packing records: affine maps from padded matrix coordinates to checkpoint elements (decisions.md
 * A1).
 *
 * One record serves the oracle, the compiler and the runtime, so the arithmetic of padding and of
 * axis permutation exists only here. Row and column contribute to the source index independently.
 */
#include "tensor/packing.h"
#include <stdio.h>

/* Lowest and highest sum digit * stride of an axis. */
static void axis_span(const PackAxis *axis, int64_t *low, int64_t *high)
{
    for (int i = 0; i < axis->rank; i++) {
        int64_t reach = ((int64_t)axis->size[i] - 1) * axis->stride[i];
        *low += reach < 0 ? reach : 0;
        *high += reach > 0 ? reach : 0;
    }
}

int64_t pack_axis_extent(const PackAxis *axis)
{
    int64_t extent = 1;
    for (int i = 0; i < axis->rank; i++) {
        ASSERT(!__builtin_mul_overflow(extent, (int64_t)axis->size[i], &extent));
    }
    return extent;
}

int64_t pack_axis_padded(const PackAxis *axis)
{
    int64_t extent = pack_axis_extent(axis);
    if (axis->group_padded == 0) {
        return extent;
    }
    int64_t groups = (extent + axis->group_logical - 1) / axis->group_logical;
    return groups * axis->group_padded;
}

int64_t pack_axis_offset(const PackAxis *axis, int64_t padded)
{
    if (padded < 0) {
        return PACK_HOLE;
    }
    int64_t logical = padded;
    if (axis->group_padded > 0) {
        int64_t group = padded / axis->group_padded, member = padded % axis->group_padded;
        if (member >= axis->group_logical) {
            return PACK_HOLE;
        }
        logical = group * axis->group_logical + member;
    }
    int64_t offset = 0;
    for (int i = axis->rank - 1; i >= 0; i--) {
        offset += logical % axis->size[i] * axis->stride[i];
        logical /= axis->size[i];
    }
    return logical > 0 ? PACK_HOLE : offset;
}

int64_t packing_source(const Packing *packing, int32_t row, int32_t col, int *part)
{
    for (isize i = 0; i < packing->parts.len; i++) {
        const PackPart *p = &packing->parts.at[i];
        if (col < p->col_begin || col >= p->col_end) {
            continue;
        }
        int64_t row_offset = pack_axis_offset(&p->rows, row);
        int64_t col_offset = pack_axis_offset(&p->cols, (int64_t)col - p->col_begin);
        *part = (int)i;
        if (row_offset == PACK_HOLE || col_offset == PACK_HOLE) {
            return -1;
        }
        return p->base + row_offset + col_offset;
    }
    *part = -1;
    return -1;
}

PackAxis pack_axis_simple(int32_t extent, int64_t stride)
{
    return (PackAxis){.rank = 1, .size = {extent}, .stride = {stride}};
}

bool packing_check(const Packing *packing, Error *err)
{
    int32_t end = 0;
    for (isize i = 0; i < packing->parts.len; i++) {
        const PackPart *p = &packing->parts.at[i];
        if (p->col_begin < end || p->col_end <= p->col_begin || p->col_end > packing->cols) {
            return error_set(
                err, ERROR_INPUT, NULL,
                "packing part %td: columns %d..%d are empty, out of order or beyond %d", i,
                p->col_begin, p->col_end, packing->cols);
        }
        end = p->col_end;
        const PackAxis *const axes[2] = {&p->rows, &p->cols};
        for (int a = 0; a < 2; a++) {
            bool ok = axes[a]->rank >= 0 && axes[a]->rank <= PACK_AXIS_RANK &&
                      axes[a]->group_logical >= 0 &&
                      (axes[a]->group_logical > 0) == (axes[a]->group_padded > 0) &&
                      axes[a]->group_logical <= axes[a]->group_padded;
            int64_t extent = 1;
            for (int d = 0; ok && d < axes[a]->rank; d++) {
                ok = axes[a]->size[d] > 0 && axes[a]->stride[d] >= -PACK_STRIDE_MAX &&
                     axes[a]->stride[d] <= PACK_STRIDE_MAX && extent <= INT32_MAX;
                extent *= ok ? axes[a]->size[d] : 1;
            }
            if (!ok || extent > INT32_MAX) {
                return error_set(err, ERROR_INPUT, NULL, "packing part %td: malformed %s axis", i,
                                 a == 0 ? "row" : "column");
            }
        }
    }
    return true;
}

bool pack_part_check(const PackPart *part, int64_t elems, Error *err)
{
    int64_t low = part->base, high = part->base;
    axis_span(&part->rows, &low, &high);
    axis_span(&part->cols, &low, &high);
    if (low < 0 || high >= elems) {
        char where[200];
        (void)snprintf(where, sizeof where, "%.*s", STR_ARG(part->tensor));
        return error_set(err, ERROR_INPUT, where,
                         "the packing reads elements %lld..%lld of a tensor of %lld elements",
                         (long long)low, (long long)high, (long long)elems);
    }
    return true;
}
