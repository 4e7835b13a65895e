/* Work as text: parse(print(w)) prints the same and gives the same package; broken text is refused, whatever is broken; and one
 * linear layer goes from a committed text file (linear.work) through every back-end room to the machine and equals the oracle. */
#include "rig.h"

static Str text_of(const Work *work, Arena *keep)
{
    Writer writer = writer_buffer(keep);
    work_print(&writer, work);
    return writer_text(&writer);
}

static Str package_bytes(Rig *rig)
{
    const char *path = str_format(&rig->keep, "%s/p.ipuexe", rig->directory).at;
    Str bytes = {0};
    RIG_CHECK(rig, package_write(&rig->r.package, path, rig->scratch, &rig->err));
    RIG_CHECK(rig, file_read(path, 1 << 28, &rig->keep, &bytes, &rig->err));
    return bytes;
}

static void same_package(void)
{
    Rig rig;
    rig_open(&rig, "siglip-tiny", 0);
    rig_plan(&rig, 64);
    rig_finish(&rig, 1);
    Str text = text_of(&rig.r.work, &rig.keep), bytes = package_bytes(&rig);
    Work parsed;
    RIG_CHECK(&rig, work_parse(text, &rig.r.plan, &rig.keep, rig.scratch, &parsed, &rig.err));
    CHECK_STR(text_of(&parsed, &rig.keep), text);
    rig.r.work = parsed;
    rig_back_end(&rig, 1);
    CHECK(str_equal(package_bytes(&rig), bytes));
    rig_close(&rig);
}

/* One line changed: a byte, cut off, left out or twice. */
static Str broken(Str text, uint64_t seed, Arena *keep)
{
    char *at = arena_alloc(keep, text.len + 1, 1);
    memcpy(at, text.at, (size_t)text.len);
    isize position = (isize)random_below(seed, 1, (uint64_t)text.len);
    static const char bytes[] = "09 -xb+,:=\n";
    switch (random_below(seed, 2, 3)) {
    case 0:
        at[position] = bytes[random_below(seed, 3, sizeof bytes - 1)];
        return (Str){at, text.len};
    case 1:
        return (Str){at, position};
    default: {
        isize end = str_find(text, '\n', position);
        end = end < 0 ? text.len : end;
        memmove(at + position, at + end, (size_t)(text.len - end));
        return (Str){at, text.len - (end - position)};
    }
    }
}

static void broken_text(void)
{
    Rig rig;
    rig_open(&rig, "siglip-tiny", 1);
    rig_plan(&rig, 4);
    RIG_CHECK(&rig, lower_plan(&rig.r.plan, &rig.keep, rig.scratch, &rig.r.work, &rig.err));
    Str text = text_of(&rig.r.work, &rig.keep);
    uint64_t seed = test_seed(1);
    int refused = 0;
    for (uint64_t i = 0; i < 2000; i++) {
        Arena keep = rig.keep;
        Work parsed;
        Error err = {0};
        bool ok = work_parse(broken(text, seed + i, &keep), &rig.r.plan, &keep, rig.scratch,
                             &parsed, &err) &&
                  work_check(&parsed, &err);
        CHECK(ok == (err.code == ERROR_NONE));
        refused += !ok;
    }
    CHECK(refused > 1000);
    rig_close(&rig);
}

/* --- one linear layer ------------------------------------------------------------------------------------------------- */

enum { ROWS = 5, INNER = 32, COLS = 48, WEIGHT_TILES = 3 };

static PackPart *simple_part(Str tensor, int32_t rows, int32_t cols, Arena *keep)
{
    PackPart *part = arena_new(keep, PackPart);
    *part = (PackPart){.tensor = tensor,
                       .col_end = cols,
                       .rows = pack_axis_simple(rows, cols),
                       .cols = pack_axis_simple(cols, 1)};
    return part;
}

static int32_t add_value(Plan *plan, Str name, PlanRole role, Order order, int32_t rows,
                         int32_t cols, Arena *keep)
{
    Packing *packing = arena_new(keep, Packing);
    *packing = (Packing){rows, cols, {simple_part(name, rows, cols, keep), 1}};
    *vec_push(&plan->values, keep) =
        (PlanValue){.name = name,
                    .role = role,
                    .is_output = str_equal(name, S("y")),
                    .layout = {.dtype = DTYPE_F16, .order = order, .rows = rows, .cols = cols},
                    .packings = role == PLAN_TEMPORARY ? NULL : packing};
    return (int32_t)plan->values.len - 1;
}

/* x on tile 0; a copy of it, 16 columns of the weight and of y on each of tiles 1 to 3. */
static void linear_plan(Plan *plan, Arena *keep, Arena scratch)
{
    *plan = (Plan){.name = S("linear"), .budget = {1 + WEIGHT_TILES, 6 * ELEMENT_BYTES}};
    name_intern(&plan->names, S(""), keep);
    name_intern(&plan->names, S("linear"), keep);
    *vec_push(&plan->values, keep) = (PlanValue){0};
    int32_t x = add_value(plan, S("x"), PLAN_INPUT, ORDER_AMP_LEFT, ROWS, INNER, keep);
    int32_t left = add_value(plan, S("left"), PLAN_TEMPORARY, ORDER_AMP_LEFT, ROWS, INNER, keep);
    int32_t w = add_value(plan, S("w"), PLAN_PARAMETER, ORDER_AMP_RIGHT, INNER, COLS, keep);
    int32_t y = add_value(plan, S("y"), PLAN_TEMPORARY, ORDER_AMP_LEFT, ROWS, COLS, keep);
    layout_add(&plan->values.at[x].layout, (Tile){0}, region_of(0, ROWS, 0, INNER), keep);
    for (int32_t t = 0; t < WEIGHT_TILES; t++) {
        Tile tile = {(uint16_t)(1 + t)};
        int32_t c = 16 * t;
        layout_add(&plan->values.at[left].layout, tile, region_of(0, ROWS, 0, INNER), keep);
        layout_add(&plan->values.at[w].layout, tile, region_of(0, INNER, c, c + 16), keep);
        layout_add(&plan->values.at[y].layout, tile, region_of(0, ROWS, c, c + 16), keep);
    }
    for (isize v = 1; v < plan->values.len; v++)
        layout_finish(&plan->values.at[v].layout, scratch);
}

static float weight_at(int64_t i)
{
    return (float)((i * 37 % 101) - 50) / 64;
}

static bool find_weight(void *context, Str name, TensorInfo *out)
{
    (void)context;
    *out = (TensorInfo){.name = name, .dtype = DTYPE_F32, .shape = {2, {INNER, COLS}}};
    return str_equal(name, S("w"));
}

static bool read_weight(void *context, Str name, float *out, Error *err)
{
    (void)context, (void)name, (void)err;
    for (int64_t i = 0; i < INNER * COLS; i++)
        out[i] = weight_at(i);
    return true;
}

static void linear_layer(void)
{
    Rig rig = {.keep = arena_create((isize)1 << 32), .scratch = arena_create((isize)1 << 32)};
    RIG_CHECK(&rig, library_load(NULL, &rig.keep, rig.scratch, &rig.library, &rig.err));
    linear_plan(&rig.r.plan, &rig.keep, rig.scratch);
    Str text = {0};
    RIG_CHECK(&rig, file_read("tests/e2e/linear.work", 1 << 20, &rig.keep, &text, &rig.err));
    RIG_CHECK(&rig, work_parse(text, &rig.r.plan, &rig.keep, rig.scratch, &rig.r.work, &rig.err));
    rig_back_end(&rig, 1);
    SessionOptions options = {.threads = 1};
    Session *session = session_open(&rig.r.package, &options, &rig.err);
    RIG_CHECK(&rig, session != NULL);
    TensorSource source = {.find = find_weight, .read = read_weight};
    RIG_CHECK(&rig, session_upload(session, &source, rig.scratch, &rig.err));
    float x[ROWS * INNER], y[ROWS * COLS], *outputs[] = {y};
    for (int i = 0; i < ROWS * INNER; i++)
        x[i] = (float)((i * 29 % 67) - 33) / 32; /* exact in f16, like the weights */
    SessionInput input = {S("x"), x, ROWS * INNER};
    RunResult result;
    RIG_CHECK(&rig, session_run(session, &input, 1, outputs, rig.scratch, &result, &rig.err));
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < COLS; c++) {
            double sum = 0;
            for (int k = 0; k < INNER; k++)
                sum += (double)x[r * INNER + k] * (double)weight_at(k * COLS + c);
            CHECK_NEAR(y[r * COLS + c], sum, 2e-3 * (1 + (sum < 0 ? -sum : sum)));
        }
    CHECK_EQ_INT(result.phases, 1);
    session_close(session);
}

TEST_MAIN(same_package, broken_text, linear_layer)
