/* The baseline plan: simplest correct choices for a whole network.
 *
 * One layout family: every activation is AMP_LEFT with the same row groups, so that all traffic moves whole 16-column panels of
 * a row group. Products run on grids row groups x column groups x K parts with their weights resident; K-split products are summed
 * by their first part's tile. Rows are complete on "home" tiles for LayerNorm and residual adds. Attention is materialised:
 * tile (row group, head) holds its scores for all keys; statistics are a separate f32 tensor (decisions.md B; pitfall N1). Heads whose
 * width is no multiple of 16 are padded one by one with zero weights, hence exact zeros (kernels.md 8.4).
 * Steps follow compiler-design.md 5; owners rotate over the tiles so that resident bytes spread evenly.
 */
#include "plan/builder.h"

enum { PANEL = 16, ROWS_PER_TILE = 4, SUPPORT_BYTES = 6 * ELEMENT_BYTES };
/* Resident weights of one product on one tile; several products share a tile. */
static const int64_t WEIGHT_BYTES_MAX = 256 * 1024;

static int32_t round_panel(int32_t cols)
{
    return (int32_t)align_up(cols, PANEL);
}

static Provenance provenance_of(Builder *b, Str operation, Str value, const char *reason)
{
    return (Provenance){name_intern(&b->plan->names, operation, b->keep),
                        name_intern(&b->plan->names, value, b->keep),
                        name_intern(&b->plan->names, str_of(reason), b->keep)};
}

static PlanValue *value_at(Builder *b, int32_t value)
{
    return &b->plan->values.at[value];
}

static int32_t add_value(Builder *b, Str name, PlanRole role, DType dtype, Order order,
                         int32_t rows, int32_t cols)
{
    *vec_push(&b->plan->values, b->keep) =
        (PlanValue){.name = name,
                    .role = role,
                    .layout = {.dtype = dtype, .order = order, .rows = rows, .cols = cols}};
    return (int32_t)b->plan->values.len - 1;
}

static Str joined(Builder *b, Str name, const char *suffix)
{
    return str_format(b->keep, "%.*s%s", STR_ARG(name), suffix);
}

static void finish_value(Builder *b, int32_t value, Arena scratch)
{
    layout_finish(&value_at(b, value)->layout, scratch);
}

/* `count` owners in rotation over the tiles in use. */
static Tile *take_tiles(Builder *b, int32_t count)
{
    ASSERT(count <= b->tiles);
    Tile *owners = arena_array(b->keep, Tile, count);
    for (int32_t i = 0; i < count; i++)
        owners[i] = (Tile){(uint16_t)((b->next_tile + i) % b->tiles)};
    b->next_tile = (b->next_tile + count) % b->tiles;
    return owners;
}

/* Largest head count of an attention with `rows` query rows: it needs a tile per row group and head. */
static int32_t heads_of(const Graph *graph, int32_t rows)
{
    int32_t heads = 1;
    for (isize i = 1; i < graph->ops.len; i++) {
        const Op *op = &graph->ops.at[i];
        if (op->kind == OP_ATTENTION && graph->values.at[op->output].rows == rows &&
            op->heads > heads)
            heads = op->heads;
    }
    return heads;
}

static const RowSplit *split_of(Builder *b, int32_t rows)
{
    for (isize i = 0; i < b->splits.len; i++)
        if (b->splits.at[i].rows == rows)
            return &b->splits.at[i];
    int32_t per_tile = b->options->rows_per_tile;
    if (per_tile <= 0) {
        int32_t heads = heads_of(b->graph, rows);
        for (per_tile = ROWS_PER_TILE;
             per_tile < rows && div_up(rows, per_tile) * heads > b->tiles;)
            per_tile++;
    }
    int32_t parts = (int32_t)div_up(rows, per_tile);
    if (parts > b->tiles)
        parts = b->tiles;
    *vec_push(&b->splits, b->keep) = (RowSplit){rows, parts, take_tiles(b, parts)};
    return &b->splits.at[b->splits.len - 1];
}

static void row_range(const RowSplit *split, int32_t part, int32_t *begin, int32_t *end)
{
    part_range(split->rows, split->parts, 1, part, begin, end);
}

/* Complete rows on their home tiles. */
static int32_t add_home(Builder *b, Str name, PlanRole role, int32_t rows, int32_t cols,
                        Arena scratch)
{
    const RowSplit *split = split_of(b, rows);
    int32_t value = add_value(b, name, role, DTYPE_F16, ORDER_AMP_LEFT, rows, cols);
    for (int32_t g = 0; g < split->parts; g++) {
        int32_t r0, r1;
        row_range(split, g, &r0, &r1);
        layout_add(&value_at(b, value)->layout, split->home[g], region_of(r0, r1, 0, cols),
                   b->keep);
    }
    finish_value(b, value, scratch);
    return value;
}

static PlanStep *add_step(Builder *b, PlanStepKind kind, Provenance provenance)
{
    PlanStep *step = vec_push(&b->plan->steps, b->keep);
    *step = (PlanStep){.kind = kind, .provenance = provenance};
    return step;
}

static void add_move(Builder *b, int32_t src, int32_t dst, int32_t col_shift, Str operation,
                     const char *reason)
{
    PlanStep *step =
        add_step(b, PLAN_MOVE, provenance_of(b, operation, value_at(b, dst)->name, reason));
    step->src = src;
    step->dst = dst;
    step->col_shift = col_shift;
}

static PlanStep *add_kernel(Builder *b, KernelId kernel, Str operation, const int32_t *operands,
                            int32_t count)
{
    PlanStep *step =
        add_step(b, PLAN_KERNEL,
                 provenance_of(b, operation, value_at(b, operands[count - 1])->name, "compute"));
    step->kernel = kernel;
    step->operand_count = count;
    for (int32_t i = 0; i < count; i++)
        step->operand[i] = operands[i];
    return step;
}

/* Padded copy of a packing's axis. */
static PackAxis padded_axis(PackAxis axis, int32_t logical, int32_t padded)
{
    if (padded != 0 && padded != logical) {
        axis.group_logical = logical;
        axis.group_padded = padded;
    }
    return axis;
}

/* The packing in padded coordinates: rows in groups (row_l -> row_p), columns of every part in groups (col_l -> col_p). */
static Packing padded_packing(Builder *b, const Packing *packing, int32_t rows_padded,
                              int32_t row_l, int32_t row_p, int32_t col_l, int32_t col_p)
{
    PackPart *parts = arena_array(b->keep, PackPart, packing->parts.len);
    int32_t at = 0;
    for (isize i = 0; i < packing->parts.len; i++) {
        PackPart part = packing->parts.at[i];
        int32_t width = part.col_end - part.col_begin;
        if (col_p != 0)
            width = width / col_l * col_p;
        part.rows = padded_axis(part.rows, row_l, row_p);
        part.cols = padded_axis(part.cols, col_l, col_p);
        part.col_begin = at;
        part.col_end = at + width;
        at += width;
        parts[i] = part;
    }
    return (Packing){rows_padded, at, {parts, packing->parts.len}};
}

static int32_t iterations_of(const Builder *b, int32_t graph_value)
{
    return b->graph->values.at[graph_value].iterations;
}

/* Graph value that holds the packings of a parameter: itself, or the sequence behind a body argument. */
static int32_t parameter_of(const Builder *b, int32_t graph_value)
{
    const Value *v = &b->graph->values.at[graph_value];
    if (v->kind != VALUE_ARGUMENT)
        return graph_value;
    for (isize r = 1; r < b->graph->repeats.len; r++) {
        const Repeat *repeat = &b->graph->repeats.at[r];
        for (int32_t i = 0; i < repeat->sequence_count; i++)
            if (repeat->sequence_argument[i] == graph_value)
                return repeat->sequence[i];
    }
    return graph_value;
}

static bool is_parameter(const Builder *b, int32_t graph_value)
{
    ValueKind kind = b->graph->values.at[parameter_of(b, graph_value)].kind;
    return kind == VALUE_PARAMETER || kind == VALUE_SEQUENCE;
}

/* Fills role, packings and iterations of a plan value from a graph parameter. */
static void set_parameter(Builder *b, int32_t value, int32_t graph_value, int32_t row_l,
                          int32_t row_p, int32_t col_l, int32_t col_p)
{
    int32_t source = parameter_of(b, graph_value);
    const Value *v = &b->graph->values.at[source];
    int32_t count = v->kind == VALUE_SEQUENCE ? v->iterations : 1;
    Packing *packings = arena_array(b->keep, Packing, count);
    PlanValue *p = value_at(b, value);
    for (int32_t i = 0; i < count; i++)
        packings[i] =
            padded_packing(b, &v->packings[i], p->layout.rows, row_l, row_p, col_l, col_p);
    p->packings = packings;
    p->iterations = v->kind == VALUE_SEQUENCE ? count : 0;
    p->graph_value = source;
    p->role = PLAN_PARAMETER;
}

/* What may make something fit that does not; `repeats`: it is there once a layer. */
static const char *remedy_of(const Builder *b, bool repeats)
{
    return b->tiles < CHIP_TILES ? "more tiles may help (--tiles)"
           : repeats             ? "fewer layers may help (--layers)"
                                 : "this version has no other plan for it";
}

static bool unsupported(Builder *b, Str name, const char *what)
{
    return error_set(b->err, ERROR_INPUT, NULL, "operation %.*s: %s", STR_ARG(name), what);
}

/* The value as complete rows on home tiles, columns from 0, no padding groups; 0 after an error. */
static int32_t at_home(Builder *b, int32_t graph_value, Str operation, Arena scratch)
{
    const Value *v = &b->graph->values.at[graph_value];
    View view = b->view[graph_value];
    if (view.value == 0 && is_parameter(b, graph_value)) {
        int32_t value =
            add_home(b, v->name, PLAN_PARAMETER, v->rows, round_panel(v->cols), scratch);
        set_parameter(b, value, graph_value, 0, 0, 0, 0);
        b->view[graph_value] = (View){.value = value};
        return value;
    }
    ASSERT(view.value != 0);
    if (view.group_padded != 0) {
        unsupported(b, operation, "needs complete rows but its input has padded heads");
        return 0;
    }
    const RowSplit *split = split_of(b, v->rows);
    const Layout *layout = &value_at(b, view.value)->layout;
    bool is_home =
        view.col == 0 && layout->cols == round_panel(v->cols) && layout->shards.len == split->parts;
    for (int32_t g = 0; is_home && g < split->parts; g++) {
        const Shard *shard = &layout->shards.at[g];
        is_home = shard->tile.id == split->home[g].id && shard->box.col_begin == 0 &&
                  shard->box.col_end == layout->cols;
    }
    if (is_home)
        return view.value;
    int32_t home = add_home(b, joined(b, v->name, ".rows"), PLAN_TEMPORARY, v->rows,
                            round_panel(v->cols), scratch);
    value_at(b, home)->graph_value = graph_value;
    add_move(b, view.value, home, view.col, operation, "gather-rows");
    b->view[graph_value] = (View){.value = home};
    return home;
}

/* Column range of part c of `groups` 16-column groups. */
static void col_range(int32_t cols, int32_t parts, int32_t c, int32_t *begin, int32_t *end)
{
    part_range(cols, parts, PANEL, c, begin, end);
}

static bool plan_gemm(Builder *b, const Op *op, Arena scratch)
{
    const Graph *g = b->graph;
    const Value *out = &g->values.at[op->output];
    if (!is_parameter(b, op->input[1]))
        return unsupported(b, op->name, "the right operand must be a parameter");
    if (b->view[op->input[0]].value == 0 && !is_parameter(b, op->input[0]))
        ASSERT(false);
    if (b->view[op->input[0]].value == 0 && at_home(b, op->input[0], op->name, scratch) == 0)
        return false;
    View a = b->view[op->input[0]];
    int32_t weight_value = parameter_of(b, op->input[1]);
    const Packing *packing = &g->values.at[weight_value].packings[0];
    int32_t iterations = (int32_t)max_i64(1, iterations_of(b, weight_value));

    int32_t k_logical = g->values.at[op->input[0]].cols;
    int32_t inner =
        a.group_padded ? k_logical / a.group_logical * a.group_padded : round_panel(k_logical);
    int32_t head = b->head_width[op->output];
    int32_t head_padded = head ? round_panel(head) : 0;
    if (head != 0)
        for (isize i = 0; i < packing->parts.len; i++)
            if ((packing->parts.at[i].col_end - packing->parts.at[i].col_begin) % head != 0)
                return unsupported(b, op->name,
                                   "a concatenated weight is no whole number of heads");
    int32_t cols = head ? out->cols / head * head_padded : round_panel(out->cols);

    const RowSplit *split = split_of(b, out->rows);
    if (div_up(out->rows, split->parts) > KERNEL_GEMM_ROWS_MAX)
        return error_set(
            b->err, ERROR_NO, NULL,
            "does not fit: product %.*s has %d rows for %d tiles, at most %d fit one; %s",
            STR_ARG(op->name), out->rows, split->parts, KERNEL_GEMM_ROWS_MAX, remedy_of(b, false));
    Grid grid;
    if (!grid_choose(out->rows, split->parts, inner, cols, iterations, b->tiles, WEIGHT_BYTES_MAX,
                     &grid))
        return error_set(b->err, ERROR_NO, NULL,
                         "does not fit: product %.*s [%d x %d] x [%d x %d] over %d iteration%s has "
                         "no grid on %d tiles that keeps its "
                         "weights within %lld bytes a tile; %s",
                         STR_ARG(op->name), out->rows, inner, inner, cols, iterations,
                         iterations == 1 ? "" : "s", b->tiles, (long long)WEIGHT_BYTES_MAX,
                         remedy_of(b, iterations > 1));

    int32_t parts = grid.inner_parts, cells = grid.row_parts * grid.col_parts * parts;
    Tile *owner = take_tiles(b, cells);
    int32_t left = add_value(b, joined(b, op->name, ".left"), PLAN_TEMPORARY, DTYPE_F16,
                             ORDER_AMP_LEFT, out->rows, inner);
    int32_t weight = add_value(b, g->values.at[weight_value].name, PLAN_PARAMETER, DTYPE_F16,
                               ORDER_AMP_RIGHT, inner, cols);
    /* An output has its logical columns; what moves on has whole panels, so that every move is whole words. */
    int32_t kept = out->is_output && !head ? out->cols : cols;
    int32_t result =
        add_value(b, out->name, PLAN_TEMPORARY, DTYPE_F16, ORDER_AMP_LEFT, out->rows, kept);
    int32_t partial = 0, gathered = 0;
    if (parts > 1) {
        partial = add_value(b, joined(b, op->name, ".partial"), PLAN_TEMPORARY, DTYPE_F16,
                            ORDER_AMP_LEFT, out->rows, cols * parts);
        gathered = add_value(b, joined(b, op->name, ".parts"), PLAN_TEMPORARY, DTYPE_F16,
                             ORDER_AMP_LEFT, out->rows, cols * parts);
    }
    int32_t bias = op->input[2] == 0
                       ? 0
                       : add_value(b, g->values.at[parameter_of(b, op->input[2])].name,
                                   PLAN_PARAMETER, DTYPE_F16, ORDER_ROW_MAJOR, 1, cols);
    for (int32_t c = 0; c < grid.col_parts; c++) {
        int32_t n0, n1;
        col_range(cols, grid.col_parts, c, &n0, &n1);
        for (int32_t r = 0; r < grid.row_parts; r++) {
            int32_t r0, r1;
            row_range(split, r, &r0, &r1);
            for (int32_t p = 0; p < parts; p++) {
                Tile tile = owner[(c * grid.row_parts + r) * parts + p];
                int32_t k0, k1;
                col_range(inner, parts, p, &k0, &k1);
                layout_add(&value_at(b, left)->layout, tile, region_of(r0, r1, k0, k1), b->keep);
                layout_add(&value_at(b, weight)->layout, tile, region_of(k0, k1, n0, n1), b->keep);
                if (parts > 1) {
                    int32_t at = n0 * parts + p * (n1 - n0);
                    layout_add(&value_at(b, partial)->layout, tile,
                               region_of(r0, r1, at, at + n1 - n0), b->keep);
                }
                if (p != 0)
                    continue;
                Region box = region_of(r0, r1, n0, (int32_t)min_i64(n1, kept));
                layout_add(&value_at(b, result)->layout, tile, box, b->keep);
                if (bias)
                    layout_add(&value_at(b, bias)->layout, tile, region_of(0, 1, n0, n1), b->keep);
                if (parts > 1)
                    layout_add(&value_at(b, gathered)->layout, tile,
                               region_of(r0, r1, n0 * parts, n1 * parts), b->keep);
            }
        }
    }
    int32_t made[] = {left, weight, result, partial, gathered, bias};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        if (made[i])
            finish_value(b, made[i], scratch);
    set_parameter(b, weight, op->input[1], a.group_logical, a.group_padded, head, head_padded);
    if (bias)
        set_parameter(b, bias, op->input[2], 0, 0, head, head_padded);

    add_move(b, a.value, left, a.col, op->name, "left-operand");
    if (parts > 1) {
        add_kernel(b, KERNEL_gemm_f16, op->name, (int32_t[]){left, weight, partial}, 3);
        add_move(b, partial, gathered, 0, op->name, "partial-sums");
        PlanStep *step =
            add_kernel(b, KERNEL_reduce_f16, op->name, (int32_t[]){gathered, result}, 2);
        step->scalar_count = 1;
        step->scalar[0] = (uint32_t)parts;
    } else {
        add_kernel(b, KERNEL_gemm_f16, op->name, (int32_t[]){left, weight, result}, 3);
    }
    if (bias) {
        /* The kernel's written operand comes first; lowering finds tiles by the written operand. */
        add_kernel(b, KERNEL_bias_f16, op->name, (int32_t[]){result, bias}, 2);
    }
    PlanValue *p = value_at(b, result);
    p->graph_value = op->output;
    p->group_logical = head;
    p->group_padded = head_padded;
    b->view[op->output] =
        (View){result, 0, head != head_padded ? head : 0, head != head_padded ? head_padded : 0};
    return true;
}

static bool may_overwrite(const Builder *b, int32_t graph_value, int32_t region)
{
    return !is_parameter(b, graph_value) && b->graph->values.at[graph_value].kind != VALUE_INPUT &&
           !b->graph->values.at[graph_value].is_output && b->region_of[graph_value] == region &&
           b->last_use[graph_value] <= b->position;
}

static bool plan_add(Builder *b, const Op *op, int32_t region, Arena scratch)
{
    int32_t left = op->input[0], right = op->input[1];
    if (!may_overwrite(b, left, region) && may_overwrite(b, right, region)) {
        left = op->input[1];
        right = op->input[0];
    }
    int32_t x = at_home(b, left, op->name, scratch),
            y = x ? at_home(b, right, op->name, scratch) : 0;
    if (y == 0)
        return false;
    int32_t out = x;
    if (!may_overwrite(b, left, region) || value_at(b, x)->role == PLAN_PARAMETER) {
        const Value *v = &b->graph->values.at[op->output];
        out = add_home(b, v->name, PLAN_TEMPORARY, v->rows, round_panel(v->cols), scratch);
    }
    add_kernel(b, KERNEL_add_f16, op->name, (int32_t[]){x, y, out}, 3);
    value_at(b, out)->graph_value = op->output;
    b->view[op->output] = (View){.value = out};
    return true;
}

static bool plan_gelu(Builder *b, const Op *op, int32_t region)
{
    View view = b->view[op->input[0]];
    if (view.value == 0 || !may_overwrite(b, op->input[0], region))
        return unsupported(b, op->name,
                           "its input has other readers; this version computes GELU in place");
    add_kernel(b, KERNEL_gelu_f16, op->name, (int32_t[]){view.value, view.value}, 2);
    value_at(b, view.value)->graph_value = op->output;
    b->view[op->output] = view;
    return true;
}

static int32_t row_parameter(Builder *b, int32_t graph_value, const RowSplit *split, int32_t cols,
                             Arena scratch)
{
    int32_t value = add_value(b, b->graph->values.at[parameter_of(b, graph_value)].name,
                              PLAN_PARAMETER, DTYPE_F16, ORDER_ROW_MAJOR, 1, cols);
    for (int32_t g = 0; g < split->parts; g++)
        layout_add(&value_at(b, value)->layout, split->home[g], region_of(0, 1, 0, cols), b->keep);
    finish_value(b, value, scratch);
    set_parameter(b, value, graph_value, 0, 0, 0, 0);
    return value;
}

static bool plan_layernorm(Builder *b, const Op *op, Arena scratch)
{
    const Value *out = &b->graph->values.at[op->output];
    if (out->cols % PANEL != 0)
        return unsupported(b, op->name, "LayerNorm needs a width that is a multiple of 16");
    int32_t x = at_home(b, op->input[0], op->name, scratch);
    if (x == 0)
        return false;
    const RowSplit *split = split_of(b, out->rows);
    int32_t gamma = row_parameter(b, op->input[1], split, out->cols, scratch);
    int32_t beta = row_parameter(b, op->input[2], split, out->cols, scratch);
    int32_t y = add_home(b, out->name, PLAN_TEMPORARY, out->rows, out->cols, scratch);
    PlanStep *step =
        add_kernel(b, KERNEL_layernorm_f16, op->name, (int32_t[]){x, y, gamma, beta}, 4);
    step->scalar_count = 1;
    step->scalar[0] = bits_of_f32((float)op->eps);
    value_at(b, y)->graph_value = op->output;
    b->view[op->output] = (View){.value = y};
    return true;
}

/* An operand of attention on tiles (row group, head): rows of the group, or all keys. */
static int32_t add_heads(Builder *b, Str name, DType dtype, Order order, const RowSplit *split,
                         int32_t heads, const Tile *owner, int32_t rows, bool all_rows,
                         int32_t head_cols, Arena scratch)
{
    int32_t value = add_value(b, name, PLAN_TEMPORARY, dtype, order, rows, heads * head_cols);
    for (int32_t g = 0; g < split->parts; g++) {
        int32_t r0 = 0, r1 = rows;
        if (!all_rows)
            row_range(split, g, &r0, &r1);
        for (int32_t h = 0; h < heads; h++)
            layout_add(&value_at(b, value)->layout, owner[g * heads + h],
                       region_of(r0, r1, h * head_cols, (h + 1) * head_cols), b->keep);
    }
    finish_value(b, value, scratch);
    return value;
}

static bool plan_attention(Builder *b, const Op *op, Arena scratch)
{
    const Value *out = &b->graph->values.at[op->output];
    int32_t heads = op->heads, width = out->cols / heads, padded = round_panel(width);
    int32_t keys = b->graph->values.at[op->input[1]].rows, keys_padded = round_panel(keys);
    const RowSplit *split = split_of(b, out->rows);
    if (split->parts * heads > b->tiles)
        return error_set(b->err, ERROR_NO, NULL,
                         "does not fit: attention %.*s needs %d row groups x %d heads = %d tiles, "
                         "%d are allowed (--tiles)",
                         STR_ARG(op->name), split->parts, heads, split->parts * heads, b->tiles);
    Tile *owner = take_tiles(b, split->parts * heads);
    int32_t q = add_heads(b, joined(b, op->name, ".query"), DTYPE_F16, ORDER_AMP_LEFT, split, heads,
                          owner, out->rows, false, padded, scratch);
    int32_t k = add_heads(b, joined(b, op->name, ".keys"), DTYPE_F16, ORDER_KEYS_RIGHT, split,
                          heads, owner, keys_padded, true, padded, scratch);
    int32_t v = add_heads(b, joined(b, op->name, ".values"), DTYPE_F16, ORDER_AMP_LEFT, split,
                          heads, owner, keys_padded, true, padded, scratch);
    int32_t vt = add_heads(b, joined(b, op->name, ".values_right"), DTYPE_F16, ORDER_AMP_RIGHT,
                           split, heads, owner, keys_padded, true, padded, scratch);
    int32_t s = add_heads(b, joined(b, op->name, ".scores"), DTYPE_F16, ORDER_AMP_LEFT, split,
                          heads, owner, out->rows, false, keys_padded, scratch);
    int32_t l = add_heads(b, joined(b, op->name, ".sums"), DTYPE_F32, ORDER_ROW_MAJOR, split, heads,
                          owner, out->rows, false, 1, scratch);
    int32_t o = add_heads(b, out->name, DTYPE_F16, ORDER_AMP_LEFT, split, heads, owner, out->rows,
                          false, padded, scratch);

    int32_t input[3] = {q, k, v};
    const char *reason[3] = {"queries", "keys", "values"};
    for (int i = 0; i < 3; i++) {
        View view = b->view[op->input[i]];
        if (view.value == 0)
            return unsupported(b, op->name, "its operands must be computed values");
        int32_t have = view.group_padded ? view.group_padded : width;
        if (have != padded || (view.group_padded != 0 && view.group_logical != width))
            return unsupported(b, op->name, "its operands' heads are not padded alike");
        add_move(b, view.value, input[i], view.col, op->name, reason[i]);
    }
    add_kernel(b, KERNEL_transpose_f16, op->name, (int32_t[]){v, vt}, 2);
    add_kernel(b, KERNEL_gemm_f16, op->name, (int32_t[]){q, k, s}, 3);
    PlanStep *step = add_kernel(b, KERNEL_softmax_f16, op->name, (int32_t[]){s, s, l}, 3);
    step->scalar_count = 2;
    step->scalar[0] = (uint32_t)keys;
    step->scalar[1] = bits_of_f32((float)op->scale);
    add_kernel(b, KERNEL_gemm_f16, op->name, (int32_t[]){s, vt, o}, 3);
    add_kernel(b, KERNEL_normalise_f16, op->name, (int32_t[]){o, l}, 2);
    PlanValue *p = value_at(b, o);
    p->graph_value = op->output;
    p->group_logical = width;
    p->group_padded = padded;
    b->view[op->output] = (View){o, 0, width != padded ? width : 0, width != padded ? padded : 0};
    return true;
}

static bool plan_slice(Builder *b, const Op *op)
{
    View view = b->view[op->input[0]];
    if (view.value == 0)
        return unsupported(b, op->name, "only computed values are sliced");
    int32_t begin = op->begin;
    if (view.group_padded != 0) {
        if (begin % view.group_logical != 0)
            return unsupported(b, op->name, "a slice must start at a head");
        begin = begin / view.group_logical * view.group_padded;
    } else if (begin % PANEL != 0) {
        return unsupported(b, op->name, "a slice must start at a multiple of 16 columns");
    }
    b->view[op->output] =
        (View){view.value, view.col + begin, view.group_logical, view.group_padded};
    return true;
}

static bool plan_region(Builder *b, int32_t region, Arena scratch);

static bool plan_repeat(Builder *b, const Op *op, int32_t region, Arena scratch)
{
    const Repeat *repeat = &b->graph->repeats.at[op->repeat];
    if (repeat->carried_count != 1)
        return unsupported(b, op->name, "one carried value is supported");
    int32_t initial = repeat->carried[0];
    int32_t state = at_home(b, initial, op->name, scratch);
    if (state == 0)
        return false;
    if (!may_overwrite(b, initial, region) || value_at(b, state)->role != PLAN_TEMPORARY) {
        const Value *v = &b->graph->values.at[initial];
        int32_t copy = add_home(b, joined(b, v->name, ".state"), PLAN_CARRIED, v->rows,
                                round_panel(v->cols), scratch);
        add_move(b, state, copy, 0, op->name, "loop-state");
        state = copy;
    }
    value_at(b, state)->role = PLAN_CARRIED;
    add_step(b, PLAN_LOOP_BEGIN, provenance_of(b, op->name, value_at(b, state)->name, "loop"))
        ->loop_count = repeat->count;
    b->view[repeat->carried_argument[0]] = (View){.value = state};
    if (!plan_region(b, repeat->body, scratch))
        return false;
    int32_t yield = at_home(b, repeat->yield[0], op->name, scratch);
    if (yield == 0)
        return false;
    if (yield != state)
        add_move(b, yield, state, 0, op->name, "loop-state");
    add_step(b, PLAN_LOOP_END, provenance_of(b, op->name, value_at(b, state)->name, "loop"))
        ->loop_count = repeat->count;
    value_at(b, state)->graph_value = repeat->yield[0];
    b->view[repeat->result[0]] = (View){.value = state};
    return true;
}

static bool plan_region(Builder *b, int32_t region, Arena scratch)
{
    const RegionOps *list = &b->graph->regions.at[region];
    for (isize i = 0; i < list->len; i++) {
        const Op *op = &b->graph->ops.at[list->at[i]];
        b->position++;
        bool ok = true;
        switch (op->kind) {
        case OP_GEMM:
            ok = plan_gemm(b, op, scratch);
            break;
        case OP_ADD:
            ok = plan_add(b, op, region, scratch);
            break;
        case OP_GELU:
            ok = plan_gelu(b, op, region);
            break;
        case OP_LAYERNORM:
            ok = plan_layernorm(b, op, scratch);
            break;
        case OP_ATTENTION:
            ok = plan_attention(b, op, scratch);
            break;
        case OP_SLICE:
            ok = plan_slice(b, op);
            break;
        case OP_REPEAT:
            ok = plan_repeat(b, op, region, scratch);
            break;
        case OP_NONE:
        case OP_COUNT:
            ASSERT(false);
        }
        if (!ok)
            return false;
    }
    return true;
}

/* Positions count operations in program order, bodies inside; a slice reads on behalf of its readers. */
static void find_uses(Builder *b, int32_t region, int32_t *position, int32_t *root)
{
    const RegionOps *list = &b->graph->regions.at[region];
    for (isize i = 0; i < list->len; i++) {
        const Op *op = &b->graph->ops.at[list->at[i]];
        int32_t at = ++*position;
        for (int j = 0; j < OP_INPUTS_MAX; j++)
            if (op->input[j])
                b->last_use[root[op->input[j]]] = at;
        if (op->output)
            b->region_of[op->output] = region;
        if (op->kind == OP_SLICE)
            root[op->output] = root[op->input[0]];
        if (op->kind != OP_REPEAT)
            continue;
        const Repeat *repeat = &b->graph->repeats.at[op->repeat];
        for (int32_t c = 0; c < repeat->carried_count; c++) {
            b->last_use[root[repeat->carried[c]]] = at;
            b->region_of[repeat->carried_argument[c]] = repeat->body;
            b->region_of[repeat->result[c]] = region;
        }
        find_uses(b, repeat->body, position, root);
        for (int32_t c = 0; c < repeat->carried_count; c++)
            b->last_use[root[repeat->yield[c]]] = *position + 1;
    }
}

/* Attention operands: the product behind them pads its columns head by head. */
static void find_heads(Builder *b)
{
    const Graph *g = b->graph;
    for (isize i = 1; i < g->ops.len; i++) {
        const Op *op = &g->ops.at[i];
        if (op->kind != OP_ATTENTION)
            continue;
        for (int j = 0; j < 3; j++) {
            int32_t v = op->input[j];
            while (g->values.at[v].kind == VALUE_RESULT &&
                   g->ops.at[g->values.at[v].producer].kind == OP_SLICE)
                v = g->ops.at[g->values.at[v].producer].input[0];
            b->head_width[v] = g->values.at[op->output].cols / op->heads;
        }
    }
}

static void add_inputs(Builder *b, Arena scratch)
{
    for (isize i = 1; i < b->graph->values.len; i++) {
        const Value *v = &b->graph->values.at[i];
        if (v->kind != VALUE_INPUT)
            continue;
        int32_t value = add_home(b, v->name, PLAN_INPUT, v->rows, round_panel(v->cols), scratch);
        Packing *packing = arena_new(b->keep, Packing);
        *packing = padded_packing(b, &v->packings[0], v->rows, 0, 0, 0, 0);
        value_at(b, value)->packings = packing;
        value_at(b, value)->graph_value = (int32_t)i;
        b->view[i] = (View){.value = value};
    }
}

static bool mark_outputs(Builder *b)
{
    for (isize i = 1; i < b->graph->values.len; i++) {
        const Value *v = &b->graph->values.at[i];
        if (!v->is_output)
            continue;
        View view = b->view[i];
        if (view.value == 0 || view.group_padded != 0 || view.col != 0 ||
            value_at(b, view.value)->role == PLAN_PARAMETER ||
            value_at(b, view.value)->role == PLAN_INPUT)
            return unsupported(b, v->name, "cannot be an output: it is no whole computed value");
        value_at(b, view.value)->is_output = true;
        value_at(b, view.value)->name = v->name;
    }
    return true;
}

bool plan_baseline(const Graph *graph, const PlanOptions *options, Arena *keep, Arena scratch,
                   Plan *out, Error *err)
{
    *out = (Plan){.name = graph->name};
    out->budget.tiles = options->tiles > 0 ? options->tiles : CHIP_TILES;
    out->budget.support_bytes = SUPPORT_BYTES;
    ASSERT(out->budget.tiles <= CHIP_TILES);
    isize values = graph->values.len;
    Builder b = {.graph = graph, .options = options, .plan = out, .keep = keep, .err = err};
    b.tiles = out->budget.tiles;
    b.view = arena_array(&scratch, View, values);
    b.last_use = arena_array(&scratch, int32_t, values);
    b.region_of = arena_array(&scratch, int32_t, values);
    b.head_width = arena_array(&scratch, int32_t, values);
    *vec_push(&out->values, keep) = (PlanValue){0};
    name_intern(&out->names, S(""), keep);

    int32_t *root = arena_array(&scratch, int32_t, values);
    for (isize i = 0; i < values; i++)
        root[i] = (int32_t)i;
    int32_t position = 0;
    find_uses(&b, 0, &position, root);
    for (isize i = 0; i < values; i++)
        b.last_use[i] = b.last_use[root[i]];
    find_heads(&b);
    add_inputs(&b, scratch);
    if (!plan_region(&b, 0, scratch))
        return false;
    if (!mark_outputs(&b))
        return false;
    int64_t room = SRAM_IMAGE_END - SRAM_BASE - (int64_t)SUPPORT_BYTES;
    for (isize v = 1; v < out->values.len; v++) {
        const PlanValue *value = &out->values.at[v];
        for (isize s = 0; s < value->layout.shards.len; s++)
            if (shard_bytes(&value->layout, &value->layout.shards.at[s]) > room)
                return error_set(
                    err, ERROR_NO, NULL,
                    "does not fit: %.*s needs %lld bytes on tile %u, %lld are there; %s",
                    STR_ARG(value->name),
                    (long long)shard_bytes(&value->layout, &value->layout.shards.at[s]),
                    (unsigned)value->layout.shards.at[s].tile.id, (long long)room,
                    remedy_of(&b, false));
    }
    estimate_plan(out, scratch);
    return true;
}
