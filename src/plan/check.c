/* Invariants of a Plan, written from plan.h and the pitfalls N9, N15, N16 of compiler-design.md 13, not from the planner. */
#include "plan/plan.h"

static bool bad_value(Error *err, const PlanValue *value, const char *what)
{
    return error_set(err, ERROR_INPUT, "plan", "value %.*s: %s", STR_ARG(value->name), what);
}

static bool bad_step(Error *err, isize step, const char *what)
{
    return error_set(err, ERROR_INPUT, "plan", "step %lld: %s", (long long)step, what);
}

static bool check_value(const Plan *plan, const PlanValue *value, Arena scratch, Error *err)
{
    const Layout *layout = &value->layout;
    if (layout->shards.len == 0)
        return bad_value(err, value, "has no shard");
    bool *seen = arena_array(&scratch, bool, CHIP_TILES);
    for (isize i = 0; i < layout->shards.len; i++) {
        const Shard *shard = &layout->shards.at[i];
        if (region_is_empty(shard->box))
            return bad_value(err, value, "has an empty shard (N9)");
        if (shard->tile.id >= plan->budget.tiles)
            return bad_value(err, value, "uses a tile outside the budget");
        if (seen[shard->tile.id])
            return bad_value(err, value, "has two shards on one tile");
        seen[shard->tile.id] = true;
        if (shard_bytes(layout, shard) % 4 != 0 && value->role != PLAN_TEMPORARY)
            return bad_value(err, value, "has a shard with a sub-word tail (N10)");
    }
    if (!layout_covers(layout, scratch))
        return bad_value(err, value, "is not covered by its shards");
    if ((value->role == PLAN_PARAMETER || value->role == PLAN_INPUT) && value->packings == NULL)
        return bad_value(err, value, "has no packing");
    return true;
}

static bool check_kernel(const Plan *plan, isize index, const PlanStep *step, bool *written,
                         Arena scratch, Error *err)
{
    const Kernel *kernel = kernel_of(step->kernel);
    if (step->operand_count != kernel->operand_count || step->scalar_count != kernel->scalar_count)
        return bad_step(err, index, "wrong number of operands");
    int32_t(*shard_of)[CHIP_TILES] =
        arena_alloc(&scratch, (isize)sizeof(int32_t[CHIP_TILES]) * KERNEL_OPERANDS_MAX, 16);
    for (int i = 0; i < step->operand_count; i++) {
        int32_t value = step->operand[i];
        if (value <= 0 || value >= plan->values.len)
            return bad_step(err, index, "operand out of range");
        PlanRole role = plan->values.at[value].role;
        if (kernel->operand[i].is_read && !written[value])
            return bad_step(err, index, "reads a value that nothing wrote");
        if (kernel->operand[i].is_written && (role == PLAN_PARAMETER || role == PLAN_INPUT))
            return bad_step(err, index, "writes a parameter or an input (N16)");
        plan_shards_by_tile(&plan->values.at[value], shard_of[i]);
    }
    const Layout *result =
        &plan->values.at[step->operand[plan_result_operand(step->kernel)]].layout;
    for (isize s = 0; s < result->shards.len; s++) {
        uint16_t tile = result->shards.at[s].tile.id;
        KernelOperand operands[KERNEL_OPERANDS_MAX];
        for (int i = 0; i < step->operand_count; i++) {
            const Layout *layout = &plan->values.at[step->operand[i]].layout;
            if (shard_of[i][tile] < 0)
                return bad_step(err, index, "an operand is not on the tile of the result");
            operands[i] = (KernelOperand){layout, &layout->shards.at[shard_of[i][tile]]};
        }
        KernelCall call;
        if (!kernel_bind(step->kernel, operands, step->operand_count, step->scalar,
                         step->scalar_count, &call, err))
            return error_context(err, "plan: step %lld", (long long)index);
    }
    for (int i = 0; i < step->operand_count; i++)
        if (kernel->operand[i].is_written)
            written[step->operand[i]] = true;
    return true;
}

bool plan_check(const Plan *plan, Arena scratch, Error *err)
{
    bool *written = arena_array(&scratch, bool, plan->values.len);
    for (isize v = 1; v < plan->values.len; v++) {
        const PlanValue *value = &plan->values.at[v];
        if (!check_value(plan, value, scratch, err))
            return false;
        written[v] = value->role == PLAN_PARAMETER || value->role == PLAN_INPUT;
    }
    int depth = 0, loops = 0;
    for (isize i = 0; i < plan->steps.len; i++) {
        const PlanStep *step = &plan->steps.at[i];
        switch (step->kind) {
        case PLAN_LOOP_BEGIN:
            if (++loops > 1 || step->loop_count < 1)
                return bad_step(err, i, "expected one loop that runs at least once");
            depth++;
            break;
        case PLAN_LOOP_END:
            if (--depth < 0)
                return bad_step(err, i, "loop end without a begin");
            break;
        case PLAN_MOVE:
            if (step->src <= 0 || step->src >= plan->values.len || step->dst <= 0 ||
                step->dst >= plan->values.len || step->src == step->dst)
                return bad_step(err, i, "move between bad values");
            if (plan->values.at[step->src].iterations > 0)
                return bad_step(err, i,
                                "moves a parameter sequence; sources that move with the loop are "
                                "not supported (N17)");
            if (!written[step->src])
                return bad_step(err, i, "moves a value that nothing wrote");
            if (plan->values.at[step->dst].role == PLAN_PARAMETER ||
                plan->values.at[step->dst].role == PLAN_INPUT)
                return bad_step(err, i, "moves into a parameter or an input (N16)");
            written[step->dst] = true;
            break;
        case PLAN_KERNEL:
            if (!check_kernel(plan, i, step, written, scratch, err))
                return false;
            break;
        }
    }
    if (depth != 0)
        return bad_step(err, plan->steps.len, "loop without an end");
    for (isize v = 1; v < plan->values.len; v++)
        if (!written[v])
            return bad_value(err, &plan->values.at[v], "is never written");
    return true;
}
