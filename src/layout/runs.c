/* Byte runs: which bytes of a buffer a box occupies, and which byte moves copy a box between
 * buffers.
 *
 * Orders are treated as "lines": the direction in which elements lie side by side (columns, or rows
 * for AMP_RIGHT, which is KEYS_RIGHT of the transposed matrix). A box is cut into cells in which a
 * line is contiguous and consecutive lines are a constant distance apart; a cell whose line is as
 * wide as that distance is one run. Work is one step per run, not per element.
 */
#include "layout/terms.h"

/* A buffer seen along its lines: `line` counts across, `along` counts inside a line. */
typedef struct View {
    Order order;                     /* never AMP_RIGHT: that is turned into KEYS_RIGHT */
    int32_t lines, alongs;           /* allocated extents */
    int32_t line_shift, along_shift; /* local coordinate = common coordinate + shift */
    bool is_line_blocked, is_along_blocked;
} View;

typedef struct Box {
    int32_t line_begin, line_end, along_begin, along_end;
} Box;

static View view_of(const Layout *layout, const Shard *shard, int32_t row_shift, int32_t col_shift)
{
    View view = {.order = layout->order,
                 .lines = shard->alloc_rows,
                 .alongs = shard->alloc_cols,
                 .line_shift = row_shift - shard->box.row_begin,
                 .along_shift = col_shift - shard->box.col_begin};
    if (layout->order == ORDER_AMP_RIGHT) {
        view = (View){.order = ORDER_KEYS_RIGHT,
                      .lines = shard->alloc_cols,
                      .alongs = shard->alloc_rows,
                      .line_shift = view.along_shift,
                      .along_shift = view.line_shift};
    }
    view.is_along_blocked = view.order != ORDER_ROW_MAJOR;
    view.is_line_blocked = view.order == ORDER_KEYS_RIGHT;
    return view;
}

static Box box_along(Order order, Region r)
{
    if (order == ORDER_AMP_RIGHT) {
        return (Box){r.col_begin, r.col_end, r.row_begin, r.row_end};
    }
    return (Box){r.row_begin, r.row_end, r.col_begin, r.col_end};
}

static int64_t index_in(const View *view, int32_t line, int32_t along)
{
    return order_row_term(view->order, view->alongs, line + view->line_shift) +
           order_col_term(view->order, view->lines, along + view->along_shift);
}

/* Distance between consecutive lines inside one cell. */
static int64_t line_stride(const View *view)
{
    return view->order == ORDER_ROW_MAJOR ? view->alongs : PANEL;
}

/* End of the cell that begins at `at`, given whether this axis of the view comes in blocks of 16. */
static int32_t cell_end(bool is_blocked, int32_t at, int32_t shift, int32_t end)
{
    if (!is_blocked) {
        return end;
    }
    int32_t next = ((at + shift) / PANEL + 1) * PANEL - shift;
    return next < end ? next : end;
}

typedef struct Copy {
    View src, dst;
    int64_t elem_bytes;
    isize first; /* runs before this index belong to earlier calls */
    CopyRunVec *out;
    Arena *arena;
} Copy;

static void add_run(Copy *copy, int64_t src_index, int64_t dst_index, int64_t elems)
{
    uint32_t bytes = (uint32_t)(elems * copy->elem_bytes);
    CopyRun run = {(uint32_t)(src_index * copy->elem_bytes),
                   (uint32_t)(dst_index * copy->elem_bytes), bytes};
    if (copy->out->len > copy->first) {
        CopyRun *last = &copy->out->at[copy->out->len - 1];
        if (last->src_offset + last->bytes == run.src_offset &&
            last->dst_offset + last->bytes == run.dst_offset) {
            last->bytes += bytes;
            return;
        }
    }
    *vec_push(copy->out, copy->arena) = run;
}

static void add_cell(Copy *copy, Box cell)
{
    int64_t width = cell.along_end - cell.along_begin;
    int64_t src = index_in(&copy->src, cell.line_begin, cell.along_begin);
    int64_t dst = index_in(&copy->dst, cell.line_begin, cell.along_begin);
    int64_t src_stride = line_stride(&copy->src), dst_stride = line_stride(&copy->dst);
    if (width == src_stride && width == dst_stride) {
        add_run(copy, src, dst, width * (cell.line_end - cell.line_begin));
        return;
    }
    for (int32_t line = cell.line_begin; line < cell.line_end; line++) {
        add_run(copy, src, dst, width);
        src += src_stride;
        dst += dst_stride;
    }
}

/* Copies one cell of the destination, in the order of its elements, so that touching runs meet and merge. */
static void copy_dst_cell(void *context, Box cell)
{
    Copy *copy = context;
    const View *src = &copy->src;
    bool is_along = src->is_along_blocked, is_line = src->is_line_blocked;
    if (cell_end(is_along, cell.along_begin, src->along_shift, cell.along_end) == cell.along_end) {
        for (int32_t l = cell.line_begin; l < cell.line_end;) {
            int32_t l_end = cell_end(is_line, l, src->line_shift, cell.line_end);
            add_cell(copy, (Box){l, l_end, cell.along_begin, cell.along_end});
            l = l_end;
        }
        return;
    }
    for (int32_t l = cell.line_begin; l < cell.line_end; l++) {
        for (int32_t a = cell.along_begin; a < cell.along_end;) {
            int32_t a_end = cell_end(is_along, a, src->along_shift, cell.along_end);
            add_run(copy, index_in(src, l, a), index_in(&copy->dst, l, a), a_end - a);
            a = a_end;
        }
    }
}

/* Cuts a box into the cells of a view and visits them in the order of the buffer. */
static void for_each_cell(const View *view, Box box, void (*visit)(void *context, Box cell),
                          void *context)
{
    bool is_along_outer = view->order == ORDER_AMP_LEFT;
    int32_t l = box.line_begin, a = box.along_begin;
    while (l < box.line_end && a < box.along_end) {
        int32_t l_end = cell_end(view->is_line_blocked, l, view->line_shift, box.line_end);
        int32_t a_end = cell_end(view->is_along_blocked, a, view->along_shift, box.along_end);
        visit(context, (Box){l, l_end, a, a_end});
        if (is_along_outer) {
            l = l_end < box.line_end ? l_end : box.line_begin;
            a = l_end < box.line_end ? a : a_end;
        } else {
            a = a_end < box.along_end ? a_end : box.along_begin;
            l = a_end < box.along_end ? l : l_end;
        }
    }
}

/* One side lies along columns, the other along rows, so the source counts line and along the other way
 * round. Nothing longer than an element is contiguous on both sides, except in degenerate extents. */
static void transpose_dst_cell(void *context, Box cell)
{
    Copy *copy = context;
    for (int32_t l = cell.line_begin; l < cell.line_end; l++) {
        for (int32_t a = cell.along_begin; a < cell.along_end; a++) {
            add_run(copy, index_in(&copy->src, a, l), index_in(&copy->dst, l, a), 1);
        }
    }
}

static void add_byte_run(ByteRunVec *out, isize first, Arena *arena, int64_t offset, int64_t bytes)
{
    if (out->len > first && out->at[out->len - 1].offset + out->at[out->len - 1].bytes == offset) {
        out->at[out->len - 1].bytes += (uint32_t)bytes;
        return;
    }
    *vec_push(out, arena) = (ByteRun){(uint32_t)offset, (uint32_t)bytes};
}

typedef struct Cover {
    const View *view;
    int64_t elem_bytes;
    isize first;
    ByteRunVec *out;
    Arena *arena;
} Cover;

static void cover_cell(void *context, Box cell)
{
    const Cover *cover = context;
    int64_t width = cell.along_end - cell.along_begin, stride = line_stride(cover->view);
    int64_t lines = cell.line_end - cell.line_begin;
    if (width == stride) {
        width *= lines;
        lines = 1;
    }
    int64_t index = index_in(cover->view, cell.line_begin, cell.along_begin);
    for (int64_t i = 0; i < lines; i++) {
        add_byte_run(cover->out, cover->first, cover->arena, index * cover->elem_bytes,
                     width * cover->elem_bytes);
        index += stride;
    }
}

void layout_runs(const Layout *layout, const Shard *shard, Region region, ByteRunVec *out,
                 Arena *arena)
{
    ASSERT(region_contains(shard->box, region));
    View view = view_of(layout, shard, 0, 0);
    Cover cover = {.view = &view,
                   .elem_bytes = dtype_bytes(layout->dtype),
                   .first = out->len,
                   .out = out,
                   .arena = arena};
    for_each_cell(&view, box_along(layout->order, region), cover_cell, &cover);
}

bool layout_copy_runs(const Layout *src, const Shard *src_shard, const Layout *dst,
                      const Shard *dst_shard, Region box, int32_t row_shift, int32_t col_shift,
                      CopyRunVec *out, Arena *arena, Error *err)
{
    Region src_box = region_of(box.row_begin + row_shift, box.row_end + row_shift,
                               box.col_begin + col_shift, box.col_end + col_shift);
    ASSERT(src->dtype == dst->dtype);
    ASSERT(region_contains(dst_shard->box, box));
    ASSERT(region_contains(src_shard->box, src_box));
    if (region_is_empty(box)) {
        return true;
    }
    isize first = out->len;
    Copy copy = {.src = view_of(src, src_shard, row_shift, col_shift),
                 .dst = view_of(dst, dst_shard, 0, 0),
                 .elem_bytes = dtype_bytes(dst->dtype),
                 .first = first,
                 .out = out,
                 .arena = arena};
    bool is_transposed = (src->order == ORDER_AMP_RIGHT) != (dst->order == ORDER_AMP_RIGHT);
    for_each_cell(&copy.dst, box_along(dst->order, box),
                  is_transposed ? transpose_dst_cell : copy_dst_cell, &copy);
    for (isize i = first; i < out->len; i++) {
        CopyRun run = out->at[i];
        if ((run.src_offset | run.dst_offset | run.bytes) % 4 != 0) {
            out->len = first;
            return error_set(
                err, ERROR_NO, NULL,
                "sub-word move: rows %d..%d, columns %d..%d from %.*s to %.*s need a "
                "run of %u bytes at offset %u to offset %u; all must be multiples of 4",
                box.row_begin, box.row_end, box.col_begin, box.col_end,
                STR_ARG(order_name(src->order)), STR_ARG(order_name(dst->order)), run.bytes,
                run.src_offset, run.dst_offset);
        }
    }
    return true;
}
