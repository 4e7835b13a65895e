/* Moves against a coordinate oracle: random pairs of layouts, the transfers, copies and fills of the lowered Work interpreted byte by
 * byte over tagged elements; every destination element, zero holes and nothing else (compiler-design.md 6, tests; pitfalls N10, N18). */
#include "lower/lower.h"
#include "test.h"

enum { TILES = 12 };

typedef struct Case {
    Arena keep, scratch;
    Plan plan;
    Work work;
    uint16_t **bytes; /* per buffer */
} Case;

static int32_t add_value(Case *c, Order order, int32_t rows, int32_t cols)
{
    *vec_push(&c->plan.values, &c->keep) = (PlanValue){
        .name = S("v"), .layout = {.dtype = DTYPE_F16, .order = order, .rows = rows, .cols = cols}};
    return (int32_t)c->plan.values.len - 1;
}

/* Random cut into row and column parts on random distinct tiles, possibly replicated on the destination side. */
static void add_shards(Case *c, int32_t value, int32_t grain, bool replicate, uint64_t seed)
{
    Layout *layout = &c->plan.values.at[value].layout;
    bool used[TILES] = {false};
    int32_t row_parts = 1 + (int32_t)random_below(seed, 1, 3),
            col_parts = 1 + (int32_t)random_below(seed, 2, 3);
    if (row_parts > layout->rows)
        row_parts = layout->rows;
    if (col_parts > layout->cols / grain)
        col_parts = layout->cols / grain;
    for (int32_t i = 0; i < row_parts; i++)
        for (int32_t j = 0; j < col_parts; j++) {
            int32_t r0, r1, c0, c1;
            part_range(layout->rows, row_parts, 1, i, &r0, &r1);
            part_range(layout->cols, col_parts, grain, j, &c0, &c1);
            int copies = replicate && row_parts * col_parts <= 4 ? 2 : 1;
            for (int k = 0; k < copies; k++) {
                uint16_t tile =
                    (uint16_t)random_below(seed, (uint64_t)(100 + i * 16 + j * 4 + k), TILES);
                while (used[tile])
                    tile = (uint16_t)((tile + 1) % TILES);
                used[tile] = true;
                layout_add(layout, (Tile){tile}, region_of(r0, r1, c0, c1), &c->keep);
            }
        }
    layout_finish(layout, c->scratch);
}

static uint16_t tag(int32_t r, int32_t c)
{
    return (uint16_t)(1 + r * 331 + c);
}

static void fill_buffers(Case *c, int32_t src)
{
    c->bytes = arena_array(&c->keep, uint16_t *, c->work.buffers.len);
    for (isize b = 1; b < c->work.buffers.len; b++) {
        const Buffer *buffer = &c->work.buffers.at[b];
        c->bytes[b] = arena_array(&c->keep, uint16_t, buffer->bytes / 2);
        memset(c->bytes[b], 0xee, buffer->bytes);
        if (buffer->value != src)
            continue;
        const Shard *s = &c->plan.values.at[src].layout.shards.at[buffer->shard];
        for (int32_t r = s->box.row_begin; r < s->box.row_end; r++)
            for (int32_t k = s->box.col_begin; k < s->box.col_end; k++)
                c->bytes[b][order_index(c->plan.values.at[src].layout.order, s->alloc_rows,
                                        s->alloc_cols, r - s->box.row_begin,
                                        k - s->box.col_begin)] = tag(r, k);
    }
}

static void interpret_call(Case *c, const WorkCall *call)
{
    const KernelArg *a = &c->work.args.at[call->arg_first];
    if (call->kernel == KERNEL_copy64) {
        for (uint32_t run = 0; run < a[3].value; run++)
            memcpy((uint8_t *)c->bytes[a[1].buffer] + a[1].value + run * a[5].value,
                   (uint8_t *)c->bytes[a[0].buffer] + a[0].value + run * a[4].value,
                   a[2].value * 8);
        return;
    }
    CHECK(call->kernel == KERNEL_fill64);
    for (uint32_t run = 0; run < a[2].value; run++)
        memset((uint8_t *)c->bytes[a[0].buffer] + a[0].value + run * a[3].value, 0, a[1].value * 8);
}

static void interpret(Case *c)
{
    for (isize s = 0; s < c->work.steps.len; s++) {
        const WorkStep *step = &c->work.steps.at[s];
        for (int32_t i = step->first; i < step->first + step->count; i++) {
            if (step->kind == WORK_CALLS)
                interpret_call(c, &c->work.calls.at[i]);
            if (step->kind != WORK_PHASE)
                continue;
            const Transfer *t = &c->work.transfers.at[i];
            for (int32_t r = t->receiver_first; r < t->receiver_first + t->receiver_count; r++) {
                const Receiver *to = &c->work.receivers.at[r];
                CHECK(to->tile.id != t->tile.id);
                memcpy((uint8_t *)c->bytes[to->buffer] + to->offset,
                       (uint8_t *)c->bytes[t->buffer] + t->offset, t->words * 4);
            }
        }
    }
}

static void check_destination(const Case *c, int32_t src, int32_t dst, int32_t row_shift,
                              int32_t col_shift)
{
    const Layout *from = &c->plan.values.at[src].layout, *to = &c->plan.values.at[dst].layout;
    for (isize b = 1; b < c->work.buffers.len; b++) {
        const Buffer *buffer = &c->work.buffers.at[b];
        if (buffer->value != dst)
            continue;
        const Shard *s = &to->shards.at[buffer->shard];
        for (int32_t r = s->box.row_begin; r < s->box.row_end; r++)
            for (int32_t k = s->box.col_begin; k < s->box.col_end; k++) {
                int32_t sr = r + row_shift, sk = k + col_shift;
                bool has = sr >= 0 && sr < from->rows && sk >= 0 && sk < from->cols;
                int64_t at = order_index(to->order, s->alloc_rows, s->alloc_cols,
                                         r - s->box.row_begin, k - s->box.col_begin);
                CHECK_EQ_INT(c->bytes[b][at], has ? tag(sr, sk) : 0);
            }
    }
}

static void check_random(uint64_t seed)
{
    Case c = {.keep = arena_create(1 << 26), .scratch = arena_create(1 << 26)};
    c.plan.budget = (Budget){TILES, 6 * ELEMENT_BYTES};
    name_intern(&c.plan.names, S(""), &c.keep);
    *vec_push(&c.plan.values, &c.keep) = (PlanValue){0};
    int32_t rows = 1 + (int32_t)random_below(seed, 10, 40),
            panels = 1 + (int32_t)random_below(seed, 11, 8);
    bool is_keys = random_below(seed, 12, 3) == 0;
    int32_t src = add_value(&c, ORDER_AMP_LEFT, rows, panels * 16);
    int32_t col_shift = 16 * (int32_t)random_below(seed, 13, (uint64_t)panels);
    int32_t dst_cols = panels * 16 - col_shift + 16 * (int32_t)random_below(seed, 14, 2);
    int32_t dst_rows =
        is_keys ? (int32_t)align_up(rows, 16) : rows + (int32_t)random_below(seed, 15, 3);
    int32_t dst = add_value(&c, is_keys ? ORDER_KEYS_RIGHT : ORDER_AMP_LEFT, dst_rows, dst_cols);
    add_shards(&c, src, 16, false, seed * 2);
    if (is_keys)
        layout_add(&c.plan.values.at[dst].layout, (Tile){(uint16_t)random_below(seed, 16, TILES)},
                   region_of(0, dst_rows, 0, dst_cols), &c.keep);
    else
        add_shards(&c, dst, 16, true, seed * 2 + 1);
    layout_finish(&c.plan.values.at[dst].layout, c.scratch);
    *vec_push(&c.plan.steps, &c.keep) =
        (PlanStep){.kind = PLAN_MOVE, .src = src, .dst = dst, .col_shift = col_shift};
    Error err = {0};
    if (!lower_plan(&c.plan, &c.keep, c.scratch, &c.work, &err) || !work_check(&c.work, &err)) {
        printf("seed %llu: %s\n", (unsigned long long)seed, err.message);
        exit(1);
    }
    fill_buffers(&c, src);
    interpret(&c);
    check_destination(&c, src, dst, 0, col_shift);
    arena_destroy(&c.keep);
    arena_destroy(&c.scratch);
}

/* N10: rows of 729 halves have sub-word tails; the second row starts inside a word. */
static void check_sub_word(void)
{
    Case c = {.keep = arena_create(1 << 24), .scratch = arena_create(1 << 24)};
    c.plan.budget = (Budget){TILES, 6 * ELEMENT_BYTES};
    name_intern(&c.plan.names, S(""), &c.keep);
    *vec_push(&c.plan.values, &c.keep) = (PlanValue){0};
    int32_t src = add_value(&c, ORDER_ROW_MAJOR, 2, 729),
            dst = add_value(&c, ORDER_ROW_MAJOR, 2, 729);
    for (int32_t r = 0; r < 2; r++)
        layout_add(&c.plan.values.at[src].layout, (Tile){(uint16_t)r}, region_of(r, r + 1, 0, 729),
                   &c.keep);
    layout_add(&c.plan.values.at[dst].layout, (Tile){5}, region_of(0, 2, 0, 729), &c.keep);
    layout_finish(&c.plan.values.at[src].layout, c.scratch);
    layout_finish(&c.plan.values.at[dst].layout, c.scratch);
    *vec_push(&c.plan.steps, &c.keep) = (PlanStep){.kind = PLAN_MOVE, .src = src, .dst = dst};
    Error err = {0};
    CHECK(!lower_plan(&c.plan, &c.keep, c.scratch, &c.work, &err));
    CHECK(strstr(err.message, "sub-word") != NULL);
    printf("%s\n", err.message);
}

int main(void)
{
    for (uint64_t seed = 1; seed <= 400; seed++)
        check_random(seed);
    check_sub_word();
    return 0;
}
