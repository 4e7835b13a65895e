/* Kernel steps: one complete call per shard of the result; what the contract asks of memory (alignment, tails, region, separation)
 * goes onto the buffers, once, before placement (compiler-design.md 4, "Contracts"). */
#include "lower/expand.h"

int32_t buffer_at(const Work *work, int32_t value, isize shard)
{
    return work->buffer_of[work->value_first[value] + (int32_t)shard];
}

void touch(Expansion *x, int32_t value, isize step)
{
    if (x->first_touch[value] < 0)
        x->first_touch[value] = (int32_t)step;
    x->last_touch[value] = (int32_t)step;
}

void add_call(Expansion *x, Tile tile, const KernelCall *call, const KernelArg *operand,
              Provenance provenance)
{
    Work *w = x->work;
    int32_t first = (int32_t)w->args.len;
    for (int i = 0; i < call->arg_count; i++)
        *vec_push(&w->args, x->keep) = call->arg[i].operand < 0 ? (KernelArg){0, call->arg[i].value}
                                                                : operand[call->arg[i].operand];
    *vec_push(&w->calls, x->keep) = (WorkCall){
        tile, (uint16_t)call->kernel, first, call->arg_count, kernel_cost(call), provenance};
}

void add_calls_step(Expansion *x, isize first, Provenance provenance, Arena scratch)
{
    Work *w = x->work;
    isize count = w->calls.len - first;
    SortKey *keys = arena_array(&scratch, SortKey, count);
    WorkCall *sorted = arena_array(&scratch, WorkCall, count);
    for (isize i = 0; i < count; i++)
        keys[i] = (SortKey){w->calls.at[first + i].tile.id, (uint32_t)i};
    sort_keys(keys, count, scratch);
    for (isize i = 0; i < count; i++)
        sorted[i] = w->calls.at[first + keys[i].payload];
    for (isize i = 0; i < count; i++)
        w->calls.at[first + i] = sorted[i];
    *vec_push(&w->steps, x->keep) = (WorkStep){.kind = WORK_CALLS,
                                               .first = (int32_t)first,
                                               .count = (int32_t)count,
                                               .provenance = provenance};
}

static void require(Buffer *buffer, const KernelOperandSpec *spec)
{
    buffer->align = (uint32_t)max_i64(buffer->align, spec->align);
    buffer->tail_bytes = (uint32_t)max_i64(buffer->tail_bytes, spec->tail_bytes);
    buffer->is_interleaved = buffer->is_interleaved || spec->is_interleaved;
}

bool expand_kernel(Expansion *x, const PlanStep *step, Arena scratch)
{
    Work *w = x->work;
    const Kernel *kernel = kernel_of(step->kernel);
    int32_t(*shard_of)[CHIP_TILES] =
        arena_alloc(&scratch, (isize)sizeof(int32_t[CHIP_TILES]) * KERNEL_OPERANDS_MAX, 16);
    for (int i = 0; i < step->operand_count; i++)
        plan_shards_by_tile(&x->plan->values.at[step->operand[i]], shard_of[i]);
    const Layout *result =
        &x->plan->values.at[step->operand[plan_result_operand(step->kernel)]].layout;
    isize call_first = w->calls.len;
    for (isize s = 0; s < result->shards.len; s++) {
        Tile tile = result->shards.at[s].tile;
        KernelOperand operands[KERNEL_OPERANDS_MAX];
        KernelArg args[KERNEL_OPERANDS_MAX];
        for (int i = 0; i < step->operand_count; i++) {
            const Layout *layout = &x->plan->values.at[step->operand[i]].layout;
            int32_t at = shard_of[i][tile.id];
            ASSERT(at >= 0); /* plan_check */
            operands[i] = (KernelOperand){layout, &layout->shards.at[at]};
            args[i] = (KernelArg){buffer_at(w, step->operand[i], at), 0};
            require(&w->buffers.at[args[i].buffer], &kernel->operand[i]);
        }
        KernelCall call;
        if (!kernel_bind(step->kernel, operands, step->operand_count, step->scalar,
                         step->scalar_count, &call, x->err))
            return false;
        add_call(x, tile, &call, args, step->provenance);
        for (int p = 0; p < kernel->separation_count; p++)
            *vec_push(&w->separations, x->keep) = (Separation){
                args[kernel->separation[p][0]].buffer, args[kernel->separation[p][1]].buffer};
    }
    add_calls_step(x, call_first, step->provenance, scratch);
    for (int i = 0; i < step->operand_count; i++)
        touch(x, step->operand[i], w->steps.len - 1);
    return true;
}
