/* siglip-tiny, operation by operation: every value that the plan holds is made an output and compared with the oracle's value of the
 * same graph value, for one and for two layers (the loop's values are those of its last iteration). */
#include "rig.h"

/* The plan value's matrix against the graph value, through the column groups of padded heads. */
static void compare(Rig *rig, const PlanValue *value, const float *have, const OracleRun *run)
{
    const Value *graph_value = &rig->model.graph.values.at[value->graph_value];
    const float *want = run->value[value->graph_value];
    CHECK(want != NULL);
    int64_t count = (int64_t)graph_value->rows * graph_value->cols;
    float *dense = arena_array(&rig->keep, float, count);
    int32_t logical = value->group_logical ? value->group_logical : graph_value->cols;
    int32_t padded = value->group_padded ? value->group_padded : graph_value->cols;
    for (int32_t r = 0; r < graph_value->rows; r++)
        for (int32_t c = 0; c < graph_value->cols; c++)
            dense[(int64_t)r * graph_value->cols + c] =
                have[(int64_t)r * value->layout.cols + c / logical * padded + c % logical];
    if (value->group_padded > value->group_logical) /* padding of heads is exactly zero */
        for (int32_t r = 0; r < value->layout.rows; r++)
            for (int32_t c = 0; c < value->layout.cols; c++)
                if (c % padded >= logical)
                    CHECK(have[(int64_t)r * value->layout.cols + c] == 0.0f);
    Difference d = difference_of(dense, want, count);
    printf("%-40.*s cosine %.7f max %.5f\n", STR_ARG(value->name), d.cosine, d.max_abs_error);
    CHECK(d.is_finite);
    CHECK(d.cosine >= 0.9995);
    CHECK(d.max_abs_error <= 0.03);
}

static void check_layers(int32_t layers)
{
    Rig rig;
    rig_open(&rig, "siglip-tiny", layers);
    rig_plan(&rig, 64);
    int marked = 0;
    for (isize v = 1; v < rig.r.plan.values.len; v++) {
        PlanValue *value = &rig.r.plan.values.at[v];
        bool is_value = value->role == PLAN_TEMPORARY || value->role == PLAN_CARRIED;
        if (!is_value || value->graph_value == 0)
            continue;
        value->is_output = true;
        marked++;
    }
    CHECK(marked >= 20);
    rig_finish(&rig, 2);
    Session *session = rig_session(&rig, 2, 0);
    RIG_CHECK(&rig, session != NULL);
    float *image = rig_image(&rig, 5), **outputs = rig_output_buffers(&rig);
    RunResult result;
    RIG_CHECK(&rig, rig_run(&rig, session, image, outputs, &result));
    OracleRun run;
    rig_oracle(&rig, image, &run);
    int n = 0;
    for (isize v = 1; v < rig.r.plan.values.len; v++)
        if (rig.r.plan.values.at[v].is_output)
            compare(&rig, &rig.r.plan.values.at[v], outputs[n++], &run);
    CHECK(n == marked);
    session_close(session);
    rig_close(&rig);
}

int main(void)
{
    check_layers(1);
    check_layers(2);
    return 0;
}
