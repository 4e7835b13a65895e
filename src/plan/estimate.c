/* Price of a plan: kernels by their formulas (largest shard of every step), exchange by the largest receive or send load of a tile
 * plus the fixed cost of a phase (compiler-design.md 7, level B). Adjacent moves that do not feed each other share a phase, as in
 * lowering. These are estimated cycles and are never shown as anything else (product.md 3). */
#include "plan/builder.h"

int32_t plan_result_operand(KernelId kernel)
{
    const Kernel *k = kernel_of(kernel);
    for (int i = k->operand_count - 1; i >= 0; i--)
        if (k->operand[i].is_written)
            return i;
    return -1;
}

void plan_shards_by_tile(const PlanValue *value, int32_t shard_of[CHIP_TILES])
{
    for (int t = 0; t < CHIP_TILES; t++)
        shard_of[t] = -1;
    for (isize i = 0; i < value->layout.shards.len; i++)
        shard_of[value->layout.shards.at[i].tile.id] = (int32_t)i;
}

isize plan_moves_together(const Plan *plan, isize first)
{
    isize count = 0;
    for (isize i = first; i < plan->steps.len && plan->steps.at[i].kind == PLAN_MOVE; i++, count++)
        for (isize j = first; j < i; j++) {
            const PlanStep *a = &plan->steps.at[j], *b = &plan->steps.at[i];
            if (b->src == a->dst || b->dst == a->src || b->dst == a->dst)
                return count;
        }
    return count;
}

static Cycles kernel_step_cycles(const Plan *plan, const PlanStep *step, Arena scratch)
{
    int32_t(*shard_of)[CHIP_TILES] =
        arena_alloc(&scratch, (isize)sizeof(int32_t[CHIP_TILES]) * step->operand_count, 16);
    for (int32_t i = 0; i < step->operand_count; i++)
        plan_shards_by_tile(&plan->values.at[step->operand[i]], shard_of[i]);
    const Layout *result =
        &plan->values.at[step->operand[plan_result_operand(step->kernel)]].layout;
    Cycles most = 0;
    for (isize s = 0; s < result->shards.len; s++) {
        KernelOperand operands[KERNEL_OPERANDS_MAX];
        bool is_complete = true;
        for (int32_t i = 0; i < step->operand_count; i++) {
            const Layout *layout = &plan->values.at[step->operand[i]].layout;
            int32_t at = shard_of[i][result->shards.at[s].tile.id];
            is_complete = is_complete && at >= 0;
            operands[i] = (KernelOperand){layout, &layout->shards.at[at < 0 ? 0 : at]};
        }
        KernelCall call;
        Error ignored = {0};
        if (is_complete && kernel_bind(step->kernel, operands, step->operand_count, step->scalar,
                                       step->scalar_count, &call, &ignored))
            most = max_i64(most, kernel_cost(&call));
    }
    return most;
}

static void add_move_load(const Plan *plan, const PlanStep *step, int64_t *receive_bytes,
                          int64_t *send_bytes)
{
    const Layout *dst = &plan->values.at[step->dst].layout,
                 *src = &plan->values.at[step->src].layout;
    for (isize i = 0; i < dst->shards.len; i++)
        receive_bytes[dst->shards.at[i].tile.id] += shard_bytes(dst, &dst->shards.at[i]);
    for (isize i = 0; i < src->shards.len; i++)
        send_bytes[src->shards.at[i].tile.id] += shard_bytes(src, &src->shards.at[i]);
}

static Cycles phase_cycles(const int64_t *receive_bytes, const int64_t *send_bytes)
{
    int64_t most = 0;
    for (int t = 0; t < CHIP_TILES; t++)
        most = max_i64(most, max_i64(receive_bytes[t], send_bytes[t]));
    return most / 4 + PHASE_COST_DEFAULT;
}

void estimate_plan(Plan *plan, Arena scratch)
{
    Estimate e = {0};
    int64_t *receive_bytes = arena_array(&scratch, int64_t, CHIP_TILES);
    int64_t *send_bytes = arena_array(&scratch, int64_t, CHIP_TILES);
    int32_t times = 1;
    isize count = 1;
    for (isize i = 0; i < plan->steps.len; i += count) {
        const PlanStep *step = &plan->steps.at[i];
        count = 1;
        switch (step->kind) {
        case PLAN_LOOP_BEGIN:
            times = step->loop_count;
            break;
        case PLAN_LOOP_END:
            times = 1;
            break;
        case PLAN_KERNEL:
            e.kernel_cycles += times * kernel_step_cycles(plan, step, scratch);
            break;
        case PLAN_MOVE:
            count = plan_moves_together(plan, i);
            for (isize m = i; m < i + count; m++)
                add_move_load(plan, &plan->steps.at[m], receive_bytes, send_bytes);
            e.exchange_cycles += times * phase_cycles(receive_bytes, send_bytes);
            e.phases += times;
            for (int t = 0; t < CHIP_TILES; t++)
                receive_bytes[t] = send_bytes[t] = 0;
            break;
        }
    }
    e.estimated_cycles = e.kernel_cycles + e.exchange_cycles;
    plan->estimate = e;
}
