/* Moves: redistribution of a value into another layout (compiler-design.md 6). Every destination box is cut along the source's
 * shards; pieces become byte runs; runs to other tiles become multicast transfers (replicas of one box are one transfer's
 * receivers), runs on the own tile copy-kernel calls, and what no source holds is zero-filled, exactly (pitfall N18). */
#include "lower/expand.h"

typedef struct MoveSide {
    const PlanValue *value;
    int32_t index;
} MoveSide;

static void add_transfers(Expansion *x, MoveSide src, isize src_shard, MoveSide dst,
                          isize dst_first, isize dst_count, const CopyRunVec *runs,
                          Provenance provenance)
{
    Work *w = x->work;
    Tile from = src.value->layout.shards.at[src_shard].tile;
    for (isize r = 0; r < runs->len; r++) {
        for (uint32_t done = 0; done < runs->at[r].bytes;) {
            uint32_t words =
                (uint32_t)min_i64((runs->at[r].bytes - done) / 4, FABRIC_MESSAGE_WORDS_MAX);
            isize receiver_first = w->receivers.len;
            for (isize d = dst_first; d < dst_first + dst_count; d++) {
                Tile to = dst.value->layout.shards.at[d].tile;
                if (to.id == from.id)
                    continue;
                *vec_push(&w->receivers, x->keep) =
                    (Receiver){to, buffer_at(w, dst.index, d), runs->at[r].dst_offset + done};
            }
            if (w->receivers.len > receiver_first)
                *vec_push(&w->transfers, x->keep) = (Transfer){
                    .tile = from,
                    .buffer = buffer_at(w, src.index, src_shard),
                    .offset = runs->at[r].src_offset + done,
                    .words = words,
                    .receiver_first = (int32_t)receiver_first,
                    .receiver_count = (int32_t)(w->receivers.len - receiver_first),
                    .provenance = provenance,
                };
            done += words * 4;
        }
    }
}

/* Longest prefix of runs that are equally long and equally far apart on both sides. */
static isize even_runs(const CopyRun *runs, isize count)
{
    isize n = 1;
    if (count < 2)
        return count;
    uint32_t src = runs[1].src_offset - runs[0].src_offset,
             dst = runs[1].dst_offset - runs[0].dst_offset;
    while (n < count && runs[n].bytes == runs[0].bytes &&
           runs[n].src_offset - runs[n - 1].src_offset == src &&
           runs[n].dst_offset - runs[n - 1].dst_offset == dst)
        n++;
    return n;
}

static bool add_local_copies(Expansion *x, MoveSide src, isize src_shard, MoveSide dst,
                             isize dst_shard, const CopyRunVec *runs, Provenance provenance)
{
    Tile tile = dst.value->layout.shards.at[dst_shard].tile;
    int32_t from = buffer_at(x->work, src.index, src_shard),
            to = buffer_at(x->work, dst.index, dst_shard);
    for (isize r = 0; r < runs->len;) {
        isize n = even_runs(&runs->at[r], runs->len - r);
        const CopyRun *run = &runs->at[r];
        if ((run->bytes | run->src_offset | run->dst_offset) % 8 != 0)
            return error_set(
                x->err, ERROR_NO, NULL,
                "value %.*s: a local copy of %u bytes is no whole number of 8-byte words",
                STR_ARG(dst.value->name), run->bytes);
        uint32_t src_stride = n > 1 ? run[1].src_offset - run[0].src_offset : 0;
        uint32_t dst_stride = n > 1 ? run[1].dst_offset - run[0].dst_offset : 0;
        KernelCall call = kernel_copy(run->bytes, (uint32_t)n, src_stride, dst_stride);
        KernelArg operand[2] = {{from, run->src_offset}, {to, run->dst_offset}};
        add_call(x, tile, &call, operand, provenance);
        r += n;
    }
    return true;
}

static bool add_fills(Expansion *x, MoveSide dst, isize dst_shard, Region hole,
                      Provenance provenance, Arena scratch)
{
    const Shard *shard = &dst.value->layout.shards.at[dst_shard];
    ByteRunVec bytes = {0};
    layout_runs(&dst.value->layout, shard, hole, &bytes, &scratch);
    CopyRunVec runs = {0};
    for (isize i = 0; i < bytes.len; i++)
        *vec_push(&runs, &scratch) =
            (CopyRun){bytes.at[i].offset, bytes.at[i].offset, bytes.at[i].bytes};
    for (isize r = 0; r < runs.len;) {
        isize n = even_runs(&runs.at[r], runs.len - r);
        if ((runs.at[r].bytes | runs.at[r].dst_offset) % 8 != 0)
            return error_set(x->err, ERROR_NO, NULL,
                             "value %.*s: a hole of %u bytes is no whole number of 8-byte words",
                             STR_ARG(dst.value->name), runs.at[r].bytes);
        uint32_t stride = n > 1 ? runs.at[r + 1].dst_offset - runs.at[r].dst_offset : 0;
        KernelCall call = kernel_fill(runs.at[r].bytes, (uint32_t)n, stride);
        KernelArg operand[1] = {{buffer_at(x->work, dst.index, dst_shard), runs.at[r].dst_offset}};
        add_call(x, shard->tile, &call, operand, provenance);
        r += n;
    }
    return true;
}

/* Replicas of one box, [first, first + count) in the destination layout. */
static bool expand_box(Expansion *x, const PlanStep *step, isize first, isize count, Arena scratch)
{
    MoveSide src = {&x->plan->values.at[step->src], step->src},
             dst = {&x->plan->values.at[step->dst], step->dst};
    const Layout *from = &src.value->layout, *to = &dst.value->layout;
    RegionVec need = {0};
    *vec_push(&need, &scratch) = to->shards.at[first].box;
    for (isize s = 0; s < from->shards.len && need.len > 0; s++) {
        Region have = from->shards.at[s].box; /* in destination coordinates: */
        have.row_begin -= step->row_shift, have.row_end -= step->row_shift;
        have.col_begin -= step->col_shift, have.col_end -= step->col_shift;
        if (region_is_empty(region_intersect(to->shards.at[first].box, have)))
            continue;
        RegionVec rest = {0};
        for (isize n = 0; n < need.len; n++) {
            Region piece = region_intersect(need.at[n], have);
            if (region_is_empty(piece)) {
                *vec_push(&rest, &scratch) = need.at[n];
                continue;
            }
            region_subtract(need.at[n], piece, &rest, &scratch);
            Arena temporary = scratch;
            CopyRunVec runs = {0};
            if (!layout_copy_runs(from, &from->shards.at[s], to, &to->shards.at[first], piece,
                                  step->row_shift, step->col_shift, &runs, &temporary, x->err))
                return error_context(x->err, "move %.*s -> %.*s", STR_ARG(src.value->name),
                                     STR_ARG(dst.value->name));
            add_transfers(x, src, s, dst, first, count, &runs, step->provenance);
            for (isize d = first; d < first + count; d++)
                if (to->shards.at[d].tile.id == from->shards.at[s].tile.id &&
                    !add_local_copies(x, src, s, dst, d, &runs, step->provenance))
                    return false;
        }
        need = rest;
    }
    for (isize n = 0; n < need.len; n++)
        for (isize d = first; d < first + count; d++)
            if (!add_fills(x, dst, d, need.at[n], step->provenance, scratch))
                return false;
    return true;
}

bool expand_moves(Expansion *x, isize first, isize count, Arena scratch)
{
    Work *w = x->work;
    isize call_first = w->calls.len, transfer_first = w->transfers.len;
    Provenance provenance = x->plan->steps.at[first].provenance;
    for (isize i = first; i < first + count; i++) {
        const PlanStep *step = &x->plan->steps.at[i];
        const Layout *to = &x->plan->values.at[step->dst].layout;
        for (isize d = 0; d < to->shards.len;) {
            isize n = 1;
            while (d + n < to->shards.len &&
                   region_equal(to->shards.at[d].box, to->shards.at[d + n].box))
                n++;
            if (!expand_box(x, step, d, n, scratch))
                return false;
            d += n;
        }
    }
    isize begin = w->steps.len;
    if (w->calls.len > call_first)
        add_calls_step(x, call_first, provenance, scratch);
    if (w->transfers.len > transfer_first)
        *vec_push(&w->steps, x->keep) =
            (WorkStep){.kind = WORK_PHASE,
                       .first = (int32_t)transfer_first,
                       .count = (int32_t)(w->transfers.len - transfer_first),
                       .provenance = provenance};
    for (isize i = first; i < first + count; i++)
        for (isize s = begin; s < w->steps.len; s++) {
            touch(x, x->plan->steps.at[i].src, s);
            touch(x, x->plan->steps.at[i].dst, s);
        }
    return true;
}
