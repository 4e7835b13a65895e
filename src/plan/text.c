/* Text form of a Plan: one value or step a line, name=value, units in names, stable order (style.md 8). */
#include "plan/plan.h"

static const char *role_name(const PlanValue *value)
{
    switch (value->role) {
    case PLAN_INPUT:
        return "input";
    case PLAN_PARAMETER:
        return "parameter";
    case PLAN_CARRIED:
        return "carried";
    case PLAN_TEMPORARY:
        break;
    }
    return "temporary";
}

static void print_value(Writer *writer, const PlanValue *value, isize index)
{
    const Layout *layout = &value->layout;
    int64_t bytes_max = 0, bytes_total = 0;
    for (isize i = 0; i < layout->shards.len; i++) {
        int64_t bytes = shard_bytes(layout, &layout->shards.at[i]);
        bytes_total += bytes;
        bytes_max = max_i64(bytes_max, bytes);
    }
    Str dtype = dtype_name(layout->dtype), order = order_name(layout->order);
    write_fmt(writer,
              "value %lld name=%.*s role=%s dtype=%.*s order=%.*s rows=%d cols=%d shards=%lld "
              "bytes_max=%lld bytes_total=%lld",
              (long long)index, STR_ARG(value->name), role_name(value), STR_ARG(dtype),
              STR_ARG(order), layout->rows, layout->cols, (long long)layout->shards.len,
              (long long)bytes_max, (long long)bytes_total);
    if (value->iterations > 0)
        write_fmt(writer, " iterations=%d", value->iterations);
    if (value->group_padded != value->group_logical)
        write_fmt(writer, " groups=%d/%d", value->group_logical, value->group_padded);
    write_fmt(writer, "%s\n", value->is_output ? " output" : "");
}

static void print_step(Writer *writer, const Plan *plan, const PlanStep *step, isize index)
{
    Str operation = name_of(&plan->names, step->provenance.operation),
        reason = name_of(&plan->names, step->provenance.reason);
    write_fmt(writer, "step %lld ", (long long)index);
    switch (step->kind) {
    case PLAN_MOVE:
        write_fmt(writer, "move src=%.*s dst=%.*s row_shift=%d col_shift=%d",
                  STR_ARG(plan->values.at[step->src].name),
                  STR_ARG(plan->values.at[step->dst].name), step->row_shift, step->col_shift);
        break;
    case PLAN_KERNEL:
        write_fmt(writer, "kernel %.*s", STR_ARG(kernel_of(step->kernel)->name));
        for (int i = 0; i < step->operand_count; i++) {
            Str name = kernel_of(step->kernel)->operand[i].name;
            write_fmt(writer, " %.*s=%.*s", STR_ARG(name),
                      STR_ARG(plan->values.at[step->operand[i]].name));
        }
        for (int i = 0; i < step->scalar_count; i++)
            write_fmt(writer, " scalar%d=0x%x", i, step->scalar[i]);
        break;
    case PLAN_LOOP_BEGIN:
        write_fmt(writer, "loop count=%d", step->loop_count);
        break;
    case PLAN_LOOP_END:
        write_fmt(writer, "end");
        break;
    }
    write_fmt(writer, " operation=%.*s reason=%.*s\n", STR_ARG(operation), STR_ARG(reason));
}

void plan_print(Writer *writer, const Plan *plan)
{
    write_fmt(writer, "plan name=%.*s tiles=%d support_bytes=%u\n", STR_ARG(plan->name),
              plan->budget.tiles, plan->budget.support_bytes);
    for (isize v = 1; v < plan->values.len; v++)
        print_value(writer, &plan->values.at[v], v);
    for (isize i = 0; i < plan->steps.len; i++)
        print_step(writer, plan, &plan->steps.at[i], i);
    write_fmt(
        writer,
        "estimate estimated_cycles=%lld kernel_cycles=%lld exchange_cycles=%lld phases=%lld\n",
        (long long)plan->estimate.estimated_cycles, (long long)plan->estimate.kernel_cycles,
        (long long)plan->estimate.exchange_cycles, (long long)plan->estimate.phases);
}
