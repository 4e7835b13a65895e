/* Products whose width is no whole panel, even odd: their result moves on as whole panels, so no move has part of a word. */
#include "../graph/sample.h"
#include "lower/lower.h"
#include "plan/plan.h"
#include "test.h"

static void plan_odd(int32_t width, int32_t tiles)
{
    Arena keep = arena_create((isize)1 << 26), scratch = arena_create((isize)1 << 30);
    Graph g;
    graph_create(&g, S("odd"), &keep);
    int32_t x = graph_add_input(&g, S("x"), sample_packing(S("image"), 5, 32, &keep), &keep);
    int32_t up = graph_add_gemm(&g, 0, S("up"), x, sample_parameter(&g, S("u"), 32, width, &keep),
                                sample_parameter(&g, S("ub"), 1, width, &keep), &keep);
    up = graph_add_gelu(&g, 0, S("gelu"), up, &keep);
    int32_t down =
        graph_add_gemm(&g, 0, S("down"), up, sample_parameter(&g, S("d"), width, 32, &keep),
                       sample_parameter(&g, S("db"), 1, 32, &keep), &keep);
    int32_t out =
        graph_add_gemm(&g, 0, S("classes"), graph_add_add(&g, 0, S("sum"), x, down, &keep),
                       sample_parameter(&g, S("c"), 32, width, &keep), 0, &keep);
    graph_set_output(&g, out);
    PlanOptions options = {.tiles = tiles};
    Plan plan;
    Work work;
    Error err = {0};
    CHECK_OK(plan_baseline(&g, &options, &keep, scratch, &plan, &err), err);
    CHECK_OK(plan_check(&plan, scratch, &err), err);
    CHECK_OK(lower_plan(&plan, &keep, scratch, &work, &err), err);
    CHECK_OK(work_check(&work, &err), err);
    for (isize v = 1; v < plan.values.len; v++)
        if (plan.values.at[v].is_output)
            CHECK_EQ_INT(plan.values.at[v].layout.cols, width); /* what the host reads */
    arena_destroy(&keep);
    arena_destroy(&scratch);
}

static void odd_widths(void)
{
    static const int32_t widths[] = {1, 2, 7, 15, 16, 17, 18, 31, 33, 49},
                         tiles[] = {1, 2, 3, 8, 64};
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
        for (size_t t = 0; t < sizeof tiles / sizeof *tiles; t++)
            plan_odd(widths[w], tiles[t]);
}

TEST_MAIN(odd_widths)
