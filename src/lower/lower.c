/* Plan -> Work: buffers per shard, steps in program order, half-open lifetimes (compiler-design.md 9; decisions.md B).
 * Adjacent moves that do not feed each other share one exchange phase. Storage used across a loop lives for the whole loop. */
#include "lower/expand.h"

static BufferRole role_of(const PlanValue *value)
{
    switch (value->role) {
    case PLAN_INPUT:
        return BUFFER_INPUT;
    case PLAN_PARAMETER:
        return BUFFER_PARAMETER;
    case PLAN_CARRIED:
        return value->is_output ? BUFFER_OUTPUT : BUFFER_CARRIED;
    case PLAN_TEMPORARY:
        break;
    }
    return value->is_output ? BUFFER_OUTPUT : BUFFER_TEMPORARY;
}

void work_index_shards(Work *work, Arena *keep)
{
    const PlanValueVec *values = &work->plan->values;
    isize shards = 0;
    work->value_first = arena_array(keep, int32_t, values->len + 1);
    for (isize v = 0; v < values->len; v++) {
        work->value_first[v] = (int32_t)shards;
        shards += values->at[v].layout.shards.len;
    }
    work->value_first[values->len] = (int32_t)shards;
    work->buffer_of = arena_array(keep, int32_t, shards);
    *vec_push(&work->buffers, keep) = (Buffer){0};
}

static void add_buffers(Expansion *x)
{
    Work *w = x->work;
    const Plan *plan = x->plan;
    work_index_shards(w, x->keep);
    for (isize v = 1; v < plan->values.len; v++) {
        const PlanValue *value = &plan->values.at[v];
        for (isize s = 0; s < value->layout.shards.len; s++) {
            const Shard *shard = &value->layout.shards.at[s];
            w->buffer_of[w->value_first[v] + s] = (int32_t)w->buffers.len;
            *vec_push(&w->buffers, x->keep) = (Buffer){
                .tile = shard->tile,
                .role = role_of(value),
                .bytes = (uint32_t)align_up(shard_bytes(&value->layout, shard), 8),
                .align = 8,
                .iterations = value->iterations > 0 ? value->iterations : 1,
                .block = value->iterations > 0 ? 1 : 0,
                .value = (int32_t)v,
                .shard = (int32_t)s,
            };
        }
    }
}

static void set_lifetimes(Expansion *x)
{
    Work *w = x->work;
    int32_t steps = (int32_t)w->steps.len, loop_begin = -1, loop_end = -1;
    for (int32_t s = 0; s < steps; s++)
        if (w->steps.at[s].kind == WORK_LOOP_BEGIN)
            loop_begin = s, loop_end = w->steps.at[s].partner;
    for (isize i = 1; i < w->buffers.len; i++) {
        Buffer *b = &w->buffers.at[i];
        int32_t first = x->first_touch[b->value], last = x->last_touch[b->value];
        ASSERT(first >= 0); /* plan_check: every value is used */
        if (b->role == BUFFER_INPUT || b->role == BUFFER_PARAMETER)
            first = 0;
        if (first < loop_begin && last > loop_begin && last < loop_end)
            last = loop_end;
        b->first = first;
        b->last = last + 1;
        if (b->role == BUFFER_OUTPUT || b->role == BUFFER_PARAMETER)
            b->last = steps;
        ASSERT(b->first < b->last);
    }
}

void work_set_repeats(Work *w)
{
    int32_t repeats = 1;
    for (isize s = 0; s < w->steps.len; s++) {
        WorkStep *step = &w->steps.at[s];
        repeats = step->kind == WORK_LOOP_BEGIN ? step->repeats : repeats;
        step->repeats = repeats;
        repeats = step->kind == WORK_LOOP_END ? 1 : repeats;
    }
}

static void set_descriptor_bytes(Work *w, Arena scratch)
{
    uint32_t *bytes = arena_array(&scratch, uint32_t, CHIP_TILES);
    for (isize i = 0; i < w->calls.len; i++) {
        uint32_t *b = &bytes[w->calls.at[i].tile.id];
        *b += (uint32_t)align_up(w->calls.at[i].arg_count * 4, 8);
        w->descriptor_bytes_max = (uint32_t)max_i64(w->descriptor_bytes_max, *b);
    }
}

bool lower_plan(const Plan *plan, Arena *keep, Arena scratch, Work *out, Error *err)
{
    *out = (Work){
        .plan = plan, .tiles = plan->budget.tiles, .support_bytes = plan->budget.support_bytes};
    Expansion x = {plan, out, keep, err, NULL, NULL};
    x.first_touch = arena_array(&scratch, int32_t, plan->values.len);
    x.last_touch = arena_array(&scratch, int32_t, plan->values.len);
    for (isize v = 0; v < plan->values.len; v++)
        x.first_touch[v] = x.last_touch[v] = -1;
    add_buffers(&x);
    int32_t loop = -1;
    for (isize i = 0; i < plan->steps.len;) {
        const PlanStep *step = &plan->steps.at[i];
        switch (step->kind) {
        case PLAN_MOVE: {
            isize count = plan_moves_together(plan, i);
            if (!expand_moves(&x, i, count, scratch))
                return false;
            i += count;
            continue;
        }
        case PLAN_KERNEL:
            if (!expand_kernel(&x, step, scratch))
                return false;
            break;
        case PLAN_LOOP_BEGIN:
            loop = (int32_t)out->steps.len;
            *vec_push(&out->steps, keep) = (WorkStep){.kind = WORK_LOOP_BEGIN,
                                                      .repeats = step->loop_count,
                                                      .provenance = step->provenance};
            break;
        case PLAN_LOOP_END:
            ASSERT(loop >= 0);
            out->steps.at[loop].partner = (int32_t)out->steps.len;
            *vec_push(&out->steps, keep) =
                (WorkStep){.kind = WORK_LOOP_END, .partner = loop, .provenance = step->provenance};
            break;
        }
        i++;
    }
    work_set_repeats(out);
    set_lifetimes(&x);
    set_descriptor_bytes(out, scratch);
    return true;
}
