/* Packed matrices straight from a TensorSource, in FP32 (decisions.md A1).
 *
 * Tensors are read whole, one at a time, and each once even if several parts cut slices from it.
 * The column part of the source index is computed once per part, not once per element.
 */
#include "tensor/source.h"
#include <stdio.h>
#include <string.h>

/* Copies what one part contributes to the region. */
static void copy_part(const PackPart *part, Region region, const float *tensor, float *out,
                      Arena scratch)
{
    int32_t col_begin = part->col_begin > region.col_begin ? part->col_begin : region.col_begin;
    int32_t col_end = part->col_end < region.col_end ? part->col_end : region.col_end;
    if (col_begin >= col_end) {
        return;
    }
    int64_t width = region.col_end - region.col_begin;
    int64_t *offsets = arena_array(&scratch, int64_t, col_end - col_begin);
    for (int32_t c = col_begin; c < col_end; c++) {
        offsets[c - col_begin] = pack_axis_offset(&part->cols, (int64_t)c - part->col_begin);
    }
    for (int32_t r = region.row_begin; r < region.row_end; r++) {
        int64_t row_offset = pack_axis_offset(&part->rows, r);
        if (row_offset == PACK_HOLE) {
            continue;
        }
        float *row = out + (r - region.row_begin) * width + (col_begin - region.col_begin);
        int64_t from = part->base + row_offset;
        for (int32_t c = 0; c < col_end - col_begin; c++) {
            if (offsets[c] != PACK_HOLE) {
                row[c] = tensor[from + offsets[c]];
            }
        }
    }
}

static bool is_part_in(const PackPart *part, Region region)
{
    return part->col_begin < region.col_end && part->col_end > region.col_begin;
}

bool tensor_read_packed(const TensorSource *source, const Packing *packing, Region region,
                        float *out, Arena scratch, Error *err)
{
    memset(out, 0, (size_t)region_elems(region) * sizeof *out);
    if (region_is_empty(region)) {
        return true;
    }
    if (!packing_check(packing, err)) {
        return false;
    }
    bool *is_done = arena_array(&scratch, bool, packing->parts.len);
    for (isize i = 0; i < packing->parts.len; i++) {
        const PackPart *first = &packing->parts.at[i];
        if (is_done[i] || !is_part_in(first, region)) {
            continue;
        }
        Arena part_scratch = scratch;
        char where[200];
        (void)snprintf(where, sizeof where, "%.*s", STR_ARG(first->tensor));
        TensorInfo info = {0};
        if (!source->find(source->context, first->tensor, &info)) {
            return error_set(err, ERROR_INPUT, where, "tensor is missing");
        }
        int64_t elems = shape_elems(&info.shape);
        float *tensor = arena_array(&part_scratch, float, elems);
        if (!source->read(source->context, first->tensor, tensor, err)) {
            return false;
        }
        for (isize k = i; k < packing->parts.len; k++) {
            const PackPart *part = &packing->parts.at[k];
            if (!is_part_in(part, region) || !str_equal(part->tensor, first->tensor)) {
                continue;
            }
            if (!pack_part_check(part, elems, err)) {
                return false;
            }
            copy_part(part, region, tensor, out, part_scratch);
            is_done[k] = true;
        }
    }
    return true;
}
