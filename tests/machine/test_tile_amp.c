/* AMP forms against a plain dot product: pipeline order of tile-timing.md 4.3, engines and forms of isa/semantics.md 10.2, column order
 * of the coefficient loads, undefined pipeline starts, coefficients (4.4), overflow and poison.
 */
#include "machine/math.h"
#include "tile_rig.h"
#include <math.h>

typedef struct Form {
    const char *mnemonic, *engines_flag;
    int sets, engines;
    bool is_half_in, is_half_out;
} Form;

enum { ROWS_MAX = 7, COLUMNS_MAX = 16, DEPTH_MAX = 16 };

typedef struct Problem {
    Form form;
    int rows, columns, depth; /* depth = 4 per phase */
    float x[ROWS_MAX][DEPTH_MAX], partial[ROWS_MAX][COLUMNS_MAX], w[COLUMNS_MAX][DEPTH_MAX];
} Problem;

static uint16_t half_of(float f)
{
    return math_f16_of_f64((double)f);
}

/* Memory: activations at RIG_DATA, partials at RIG_DATA2, weights at RIG_WIDE with 16 values of K per column, results at
 * RIG_RESULT; one 8-byte item per issue. */
static void store_item(Rig *rig, uint32_t address, const float *v, int count, bool is_half)
{
    uint32_t words[2] = {0, 0};
    for (int i = 0; i < count; i++) {
        if (is_half) {
            words[i / 2] |= (uint32_t)half_of(v[i]) << (16 * (i % 2));
        } else {
            words[i] = bits_of_f32(v[i]);
        }
    }
    rig_words(rig, address, words, 2);
}

/* First memory column held by coefficient row n. Two sets: the load order that gives natural column order (semantics.md 10.2). */
static int column_of(const Form *form, int n)
{
    return form->sets == 1 ? n : n < 8 ? n / 2 * 4 + n % 2 : (n - 8) / 2 * 4 + 2 + n % 2;
}

static void load_weights(Rig *rig, const Problem *p, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "setzi $m0, 0x80000\nput $CCCSLOAD, $m0\n");
    for (int c = 0; c < 16; c++) {
        for (int k = 0; k < 16; k += 4) {
            float v[4] = {0};
            for (int i = 0; i < 4 && c < p->columns && k < p->depth; i++) {
                v[i] = p->w[c][k + i];
            }
            store_item(rig, (uint32_t)(RIG_WIDE + 32 * c + 2 * k), v, 4, true);
        }
        int n = 0;
        while (column_of(&p->form, n) != c) {
            n++;
        }
        /* wide loads for even columns, narrow ones for odd columns */
        for (int m = 0; m < 4; m += c % 2 ? 1 : 2) {
            used += (size_t)snprintf(text + used, size - used, "%s %d\n",
                                     c % 2 ? "ld64putcs" : "ld128putcs", 4 * n + m);
        }
    }
    snprintf(text + used, size - used,
             "setzi $m0, 0x50000\nsetzi $m1, 0x80000\nrunall $m0, $m1, 0\nsync 2\nsync 7\n");
}

/* One issue: loads of its activation and partial (zero outside the rows), the AMP step, a store when a row comes out. */
static size_t issue_text(char *at, size_t size, const Problem *p, int i)
{
    int phases = p->form.engines, block = i / phases, phase = i % phases, used = 0;
    bool has_x = block >= 1 && block <= p->rows, has_partial = block < p->rows;
    if (has_x) {
        used += snprintf(at + used, size - (size_t)used, "ld64 $a0:1, $m0, $mzero, %d\n",
                         (block - 1) * phases + phase);
    }
    if (has_partial) {
        used += snprintf(at + used, size - (size_t)used, "ld64 $a2:3, $m1, $mzero, %d\n", i);
    }
    bool is_wide_out = p->form.sets == 2 || !p->form.is_half_out,
         is_wide_in = p->form.sets == 2 || !p->form.is_half_in;
    used += snprintf(at + used, size - (size_t)used, "%s %s, %s, %s, TAMP_F16V4_%s_P%d\n",
                     p->form.mnemonic, is_wide_out ? "$a4:5" : "$a4", has_x ? "$a0:1" : "$azeros",
                     is_wide_in ? (has_partial ? "$a2:3" : "$azeros")
                                : (has_partial ? "$a2" : "$azero"),
                     p->form.engines_flag, phase);
    if (block >= 2) {
        used += snprintf(at + used, size - (size_t)used, "st64step $a4:5, $mzero, $m7+=, 1\n");
    }
    return (size_t)used;
}

/* Worker program of the whole pipeline: rows + 2 blocks. */
static char *pipeline_text(Rig *rig, const Problem *p, bool is_cleared)
{
    size_t size = 1 << 15, used;
    char *text = arena_array(&rig->arena, char, (isize)size);
    used = (size_t)snprintf(
        text, size, "setzi $m0, 0x58000\nsetzi $m1, 0x60000\nsetzi $m7, 0x90000\nzero $a4:5\n%s",
        is_cleared ? "setzi $a0, 8\nuput $FP_CLR, $a0\n" : "");
    for (int i = 0; i < (p->rows + 2) * p->form.engines; i++) {
        used += issue_text(text + used, size - used, p, i);
    }
    snprintf(text + used, size - used, "exitz $mzero\n");
    return text;
}

/* The documented model: four exact products and the accumulator, one rounding to f32 per phase. */
static float oracle(const Problem *p, int row, int column)
{
    float acc = p->partial[row][column];
    for (int k = 0; k < p->depth; k += 4) {
        long double sum = (long double)acc;
        for (int i = 0; i < 4; i++) {
            sum += (long double)p->x[row][k + i] * (long double)p->w[column][k + i];
        }
        acc = (float)sum;
    }
    return acc;
}

static void run_problem(const Problem *p, bool is_cleared, double tolerance)
{
    Rig *rig = rig_create();
    char *text = arena_array(&rig->arena, char, 1 << 13);
    int phases = p->form.engines, per_item = 2 * p->form.sets;
    for (int r = 0; r < p->rows; r++) {
        for (int q = 0; q < phases; q++) {
            store_item(rig, (uint32_t)(RIG_DATA + 8 * (r * phases + q)), &p->x[r][4 * q], 4, true);
            store_item(rig, (uint32_t)(RIG_DATA2 + 8 * (r * phases + q)),
                       &p->partial[r][per_item * q], per_item, p->form.is_half_in);
        }
    }
    load_weights(rig, p, text, 1 << 13);
    rig_code(rig, RIG_SUPERVISOR, true, text);
    rig_code(rig, RIG_WORKER, false, pipeline_text(rig, p, is_cleared));
    TileStop stop = rig_run(rig);
    if (stop != TILE_STOP_SYNC_HOST) {
        fprintf(stderr, "%s: %s: %s\n", p->form.mnemonic, rig->tile.fault.name,
                rig->tile.fault.detail);
        exit(1);
    }
    for (int r = 0; r < p->rows; r++) {
        for (int c = 0; c < p->columns; c++) {
            uint32_t item = (uint32_t)(RIG_RESULT + 8 * (r * phases + c / per_item));
            int i = c % per_item;
            uint32_t word = rig_word(rig, item + 4 * (uint32_t)(p->form.is_half_out ? i / 2 : i));
            float seen = p->form.is_half_out ? float_of_half((uint16_t)(word >> (16 * (i % 2))))
                                             : f32_of_bits(word);
            float expected = oracle(p, r, c);
            expected = p->form.is_half_out ? float_of_half(half_of(expected)) : expected;
            CHECK_NEAR((double)seen, (double)expected, fabs((double)expected) * tolerance);
            CHECK(!rig_is_poison(rig, item));
        }
    }
    rig_destroy(rig);
}

static const Form forms[] = {
    {"f16v4hihov4amp", "E4", 2, 4, true, true}, {"f16v4sisoamp", "E4", 1, 4, false, false},
    {"f16v4hihoamp", "E4", 1, 4, true, true},   {"f16v4sihoamp", "E4", 1, 4, false, true},
    {"f16v4hihov4amp", "E2", 2, 2, true, true}, {"f16v4sisoamp", "E2", 1, 2, false, false},
    {"f16v4sisoamp", "E1", 1, 1, false, false}, {"f16v4hihov4amp", "E1", 2, 1, true, true},
};

/* Small integers: every sum is exact in f16 and f32, so that only the order of the pipeline can be wrong. Accumulators start
 * undefined (zero activations in front) or cleared. */
static void pipelines(void)
{
    uint64_t seed = test_seed(31), n = 0;
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        for (int rows = 1; rows <= ROWS_MAX; rows += 3) {
            Problem p = {.form = forms[f], .rows = rows};
            p.columns = 2 * p.form.engines * p.form.sets;
            p.depth = 4 * p.form.engines;
            for (int i = 0; i < ROWS_MAX * DEPTH_MAX; i++) {
                p.x[i / DEPTH_MAX][i % DEPTH_MAX] = (float)random_below(seed, n++, 9) - 4.0f;
                p.partial[i / DEPTH_MAX][i % DEPTH_MAX] =
                    (float)random_below(seed, n++, 201) - 100.0f;
            }
            for (int i = 0; i < COLUMNS_MAX * DEPTH_MAX; i++) {
                p.w[i / DEPTH_MAX][i % DEPTH_MAX] = (float)random_below(seed, n++, 9) - 4.0f;
            }
            run_problem(&p, true, 0.0);
            run_problem(&p, false, 0.0);
        }
    }
}

/* Arbitrary values: one rounding a phase. Long double against double may differ in the last place of a tie. */
static void roundings(void)
{
    uint64_t seed = test_seed(32), n = 0;
    for (size_t f = 0; f < 4; f++) {
        Problem p = {.form = forms[f], .rows = ROWS_MAX};
        p.columns = 2 * p.form.engines * p.form.sets;
        p.depth = 4 * p.form.engines;
        for (int i = 0; i < ROWS_MAX * DEPTH_MAX; i++) {
            float partial = (float)random_normal(seed, n++);
            p.x[i / DEPTH_MAX][i % DEPTH_MAX] =
                float_of_half(half_of((float)random_normal(seed, n++)));
            p.partial[i / DEPTH_MAX][i % DEPTH_MAX] =
                p.form.is_half_in ? float_of_half(half_of(partial)) : partial;
        }
        for (int i = 0; i < COLUMNS_MAX * DEPTH_MAX; i++) {
            p.w[i / DEPTH_MAX][i % DEPTH_MAX] =
                float_of_half(half_of((float)random_normal(seed, n++)));
        }
        run_problem(&p, true, p.form.is_half_out ? 0.0 : 0x1p-23);
    }
}

/* Two blocks of one row; `weights` at RIG_WIDE, activation and partial given. Returns FP_STS and whether the result is undefined. */
static uint32_t one_row(float x, float w, uint32_t fp_ctl, bool is_poisoned_weight, bool *is_poison,
                        uint32_t *result)
{
    Rig *rig = rig_create();
    uint32_t half_x = half_of(x) * 0x10001u, half_w = half_of(w) * 0x10001u;
    const uint32_t data[3] = {half_x, half_x, fp_ctl}, weight[2] = {half_w, half_w};
    const uint8_t poison = is_poisoned_weight ? 2 : 0;
    rig_words(rig, RIG_DATA, data, 3);
    tile_store_words(&rig->tile, RIG_WIDE, weight, 2, &poison);
    rig_code(rig, RIG_SUPERVISOR, true,
             "setzi $m0, 4\nput $CR, $m0\nsetzi $m0, 0x80000\nput $CCCSLOAD, $m0\nld64putcs 4\n"
             "setzi $m0, 0x50000\nsetzi $m1, 0x80000\nrunall $m0, $m1, 0\nsync 2\nget $m5, "
             "$CCCSLOAD\nsync 7\n");
    rig_code(rig, RIG_WORKER, false,
             "setzi $m0, 0x58000\nsetzi $m7, 0x90000\nld32 $a4, $m0, $mzero, 2\nsetzi $a5, 8\nuput "
             "$FP_CLR, $a5\nuput $FP_CTL, $a4\n"
             "ld64 $a0:1, $m0, $mzero, 0\n"
             "f16v4sisoamp $a4:5, $a0:1, $azeros, 0\nf16v4sisoamp $a4:5, $azeros, $azeros, 1\n"
             "f16v4sisoamp $a4:5, $azeros, $azeros, 2\nf16v4sisoamp $a4:5, $azeros, $azeros, 3\n"
             "f16v4sisoamp $a4:5, $azeros, $azeros, 0\nst64 $a4:5, $m7, $mzero, 0\nuget $a6, "
             "$FP_STS\nst32 $a6, $m7, $mzero, 2\n"
             "exitz $mzero\n");
    TileStop stop = rig_run(rig);
    uint32_t flags = rig_word(rig, RIG_RESULT + 8);
    if (stop == TILE_STOP_SYNC_HOST) {
        CHECK_EQ_INT(rig->tile.m[5], RIG_WIDE + 8);
        CHECK_EQ_INT(rig_word(rig, RIG_RESULT),
                     isinf(x) ? F32_NAN : 0); /* row 0 was zeroed through CR */
        CHECK(!rig_is_poison(rig, RIG_RESULT));
        *is_poison = rig_is_poison(rig, RIG_RESULT + 4);
        *result = rig_word(rig, RIG_RESULT + 4);
    } else {
        CHECK_CSTR(rig->tile.fault.name, "FP_EXCEPTION");
        CHECK_EQ_INT(rig->tile.amp_instructions, 1);
        flags = 0xff;
    }
    rig_destroy(rig);
    return flags;
}

static void conditions(void)
{
    bool is_poison;
    uint32_t result;
    /* row 1, phase 0 only: 4 * 2 * 3 */
    CHECK_EQ_INT(one_row(2.0f, 3.0f, 0, false, &is_poison, &result), 0);
    CHECK_EQ_INT(result, bits_of_f32(24.0f));
    CHECK(!is_poison);
    CHECK_EQ_INT(one_row(2.0f, 3.0f, 7, true, &is_poison, &result), 0);
    CHECK(is_poison);
    /* the largest products stay far inside f32 */
    CHECK_EQ_INT(one_row(65504.0f, 65504.0f, 7, false, &is_poison, &result), 0);
    CHECK_EQ_INT(result, bits_of_f32((float)(4.0 * 65504.0 * 65504.0)));
    /* Inf * 0 is invalid in the rows of zero coefficients */
    CHECK_EQ_INT(one_row(INFINITY, 1.0f, 0, false, &is_poison, &result) & 1, 1);
    CHECK_EQ_INT(one_row(INFINITY, 1.0f, 1, false, &is_poison, &result), 0xff);
}

TEST_MAIN(pipelines, roundings, conditions)
