/* The baseline plan of siglip-tiny over several machine sizes passes plan_check; planted faults are refused by name. */
#include "../e2e/rig.h"

static void expect_refused(const Rig *rig, const char *text)
{
    Error err = {0};
    CHECK(!plan_check(&rig->r.plan, rig->scratch, &err));
    printf("%s\n", err.message);
    CHECK(strstr(err.message, text) != NULL);
}

static int32_t find_value(const Plan *plan, PlanRole role)
{
    for (int32_t v = 1; v < plan->values.len; v++)
        if (plan->values.at[v].role == role)
            return v;
    return 0;
}

int main(void)
{
    Rig rig;
    rig_open(&rig, "siglip-tiny", 0);
    static const int32_t sizes[] = {8, 13, 31, 64, 200, 1472};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        rig_plan(&rig, sizes[i]);
        CHECK(rig.r.plan.estimate.estimated_cycles > 0);
    }
    PlanOptions one = {.tiles = 1};
    Plan plan;
    Error err = {0};
    CHECK(!plan_baseline(&rig.model.graph, &one, &rig.keep, rig.scratch, &plan, &err));
    CHECK_EQ_INT(err.code, ERROR_NO);
    printf("%s\n", err.message);

    rig_plan(&rig, 64);
    Plan *p = &rig.r.plan;
    int32_t parameter = find_value(p, PLAN_PARAMETER), temporary = find_value(p, PLAN_TEMPORARY);
    PlanValue saved = p->values.at[temporary];

    /* N9: a partition that owns nothing. */
    Shard *shard = &p->values.at[temporary].layout.shards.at[0];
    Region box = shard->box;
    shard->box.col_end = shard->box.col_begin;
    expect_refused(&rig, "N9");
    shard->box = box;

    Tile tile = shard->tile;
    shard->tile = (Tile){64};
    expect_refused(&rig, "outside the budget");
    shard->tile = tile;

    p->values.at[temporary].layout.shards.len--;
    expect_refused(&rig, "not on the tile of the result"); /* its tiles all hold the same */
    p->values.at[temporary] = saved;
    p->values.at[temporary].layout.rows++;
    expect_refused(&rig, "not covered");
    p->values.at[temporary] = saved;

    for (isize s = 0; s < p->steps.len; s++) {
        if (p->steps.at[s].kind != PLAN_KERNEL || p->steps.at[s].kernel != KERNEL_gemm_f16)
            continue;
        PlanStep step = p->steps.at[s];
        p->steps.at[s].operand[2] = parameter; /* N16: the product overwrites a weight */
        expect_refused(&rig, "N16");
        p->steps.at[s] = step;
        break;
    }
    for (isize s = 0; s < p->steps.len; s++) {
        if (p->steps.at[s].kind != PLAN_MOVE)
            continue;
        PlanStep step = p->steps.at[s];
        for (int32_t v = 1; v < p->values.len; v++)
            if (p->values.at[v].iterations > 0)
                p->steps.at[s].src = v;
        expect_refused(&rig, "N17");
        p->steps.at[s] = step;
        break;
    }
    CHECK(plan_check(p, rig.scratch, &err));
    rig_close(&rig);
    return 0;
}
