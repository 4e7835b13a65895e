/* The order of the AMP pipeline, for every form and engine count: which issue takes which partial, multiplies which activation by
 * which coefficient and returns which result (tile-timing.md 4.3, isa/semantics.md 10.2 and 10.3). Issues of one worker are
 * numbered; row r gives its partials at block r, its activations at block r + 1 and returns its results at block r + 2.
 * Every partial is a different number; of every row one activation is 1 and the others 0, so that the result names one
 * coefficient, whose number is read in three digits.
 */
#include "probe.h"
#include <math.h>

typedef enum Source { HALF, F8, SINGLE } Source;

typedef struct Form {
    const char *mnemonic, *family;
    Source source;
    int sets;
    bool is_half_in, is_half_out;
} Form;

static const Form forms[] = {
    {"f16v4sisoamp", "F16V4", HALF, 1, false, false},
    {"f16v4hihoamp", "F16V4", HALF, 1, true, true},
    {"f16v4sihoamp", "F16V4", HALF, 1, false, true},
    {"f16v4hihov4amp", "F16V4", HALF, 2, true, true},
    {"f8v8hihov4amp", "F8V8", F8, 2, true, true},
    {"f32sisoamp", "F32", SINGLE, 1, false, false},
    {"f32sisov2amp", "F32", SINGLE, 2, false, false},
};

enum { ROWS_MAX = 34, LANES = 16, ELEMENTS_MAX = 8, PHASES_MAX = 8 };

typedef enum Start { CLEARED, UNDEFINED, UNPRIMED, SHIFTED, STARTS } Start;

typedef struct Problem {
    const Form *form;
    int engines, rows;
    Start start;
    int relaunch_at; /* issue before which the worker leaves and is launched again; 0: never */
    int partial[ROWS_MAX][LANES], x[ROWS_MAX][PHASES_MAX][ELEMENTS_MAX];
    int w[LANES][PHASES_MAX][ELEMENTS_MAX]; /* by coefficient row */
} Problem;

static int elements_of(const Form *form)
{
    return form->source == HALF ? 4 : form->source == F8 ? 8 : 1;
}

static int phases_of(const Form *form, int engines)
{
    return form->source == SINGLE ? 2 * engines : engines;
}

/* Coefficient rows whose partials enter and whose results leave at a phase; 0 for an odd phase of f32sisoamp. */
static int lanes_at(const Form *form, int phase, int lane[4])
{
    if (form->source == SINGLE) {
        int first = form->sets == 2 && phase % 2 ? 8 + phase - 1 : phase;
        lane[0] = first, lane[1] = first + 1;
        return form->sets == 1 && phase % 2 ? 0 : 2;
    }
    lane[0] = 2 * phase, lane[1] = 2 * phase + 1, lane[2] = 8 + 2 * phase, lane[3] = 9 + 2 * phase;
    return 2 * form->sets;
}

/* F143 code of a small integer: bias 8, three bits of mantissa. */
static uint32_t f8_of(int v)
{
    uint32_t sign = v < 0 ? 0x80 : 0, m = (uint32_t)abs(v);
    if (m == 0) {
        return 0;
    }
    uint32_t e = 31 - (uint32_t)__builtin_clz(m);
    uint32_t fraction = e > 3 ? m >> (e - 3) : m << (3 - e);
    CHECK(e <= 3 || m == fraction << (e - 3));
    return sign | (e + 8) << 3 | (fraction & 7);
}

/* Half of an integer below 2048. */
static uint32_t half_of(int v)
{
    uint32_t sign = v < 0 ? 0x8000 : 0, m = (uint32_t)abs(v);
    if (m == 0) {
        return 0;
    }
    uint32_t e = 31 - (uint32_t)__builtin_clz(m);
    CHECK(e <= 10);
    return sign | (e + 15) << 10 | (m << (10 - e) & 0x3ff);
}

static void pack(uint32_t words[2], const int *v, int count, Source source)
{
    words[0] = words[1] = 0;
    for (int i = 0; i < count; i++) {
        if (source == HALF) {
            words[i / 2] |= half_of(v[i]) << (16 * (i % 2));
        } else if (source == F8) {
            words[i / 4] |= f8_of(v[i]) << (8 * (i % 4));
        } else {
            words[i] = bits_of_f32((float)v[i]);
        }
    }
}

static void put_weights(Probe *probe, const Problem *p)
{
    uint64_t cwei[64] = {0};
    int phases = phases_of(p->form, p->engines);
    for (int n = 0; n < LANES; n++) {
        for (int q = 0; q < phases; q++) {
            uint32_t words[2];
            pack(words, p->w[n][q], elements_of(p->form), p->form->source);
            if (p->form->source == SINGLE) { /* index k: word k % 2 of CWEI[n][k / 2] */
                cwei[q / 2 + 4 * n] |= (uint64_t)words[0] << (32 * (q % 2));
            } else {
                cwei[q + 4 * n] = words[0] | (uint64_t)words[1] << 32;
            }
        }
    }
    probe_weights(probe, cwei);
}

/* The issue: activation from $a0:1, partial from $a2:3, result into $a4:5. */
static void issue(Probe *probe, const Problem *p, int phase, bool has_x, bool has_partial)
{
    const Form *form = p->form;
    bool is_narrow_in = form->sets == 1 && form->is_half_in;
    bool is_narrow_out = form->sets == 1 && form->is_half_out;
    const char *x =
        form->source == SINGLE ? (has_x ? "$a0" : "$azero") : (has_x ? "$a0:1" : "$azeros");
    const char *partial =
        is_narrow_in ? (has_partial ? "$a2" : "$azero") : (has_partial ? "$a2:3" : "$azeros");
    probe_say(probe, "%s %s, %s, %s, TAMP_%s_E%d_P%d", form->mnemonic,
              is_narrow_out ? "$a4" : "$a4:5", x, partial, form->family, p->engines, phase);
}

static void feed(Probe *probe, const Problem *p, int row, int phase)
{
    int lane[4], v[4], count = lanes_at(p->form, phase, lane);
    uint32_t words[2];
    for (int i = 0; i < count; i++) {
        v[i] = p->partial[row][lane[i]];
    }
    pack(words, v, count, p->form->is_half_in ? HALF : SINGLE);
    probe_set(probe, "$a2", words[0]);
    probe_set(probe, "$a3", words[1]);
}

/* Words of the results in order: one pair an issue that returns one. */
static void stream(Probe *probe, const Problem *p)
{
    int phases = phases_of(p->form, p->engines), lane[4];
    int first = 0, n = 0;
    if (p->start == UNPRIMED) {
        first = phases; /* zero partials: the block that only feeds them is left out */
    } else if (p->start == SHIFTED) {
        first = phases; /* phase 1 shifts as well as any other that is not 0 */
        for (int q = 0; q < phases; q++) {
            feed(probe, p, 0, q);
            issue(probe, p, 1, false, true);
        }
    }
    for (int i = first; i < (p->rows + 2) * phases; i++) {
        int block = i / phases, q = i % phases;
        bool has_x = block >= 1 && block <= p->rows;
        bool has_partial = block < p->rows && lanes_at(p->form, q, lane) > 0;
        if (p->relaunch_at == i && i > first) {
            probe_say(probe, "setzi $m5, 1\nst32 $m5, $m1, $mzero, 0\nexitz $mzero\n2:");
        }
        if (has_x) {
            uint32_t words[2];
            pack(words, p->x[block - 1][q], elements_of(p->form), p->form->source);
            probe_set(probe, "$a0", words[0]);
            probe_set(probe, "$a1", words[1]);
        }
        if (has_partial) {
            feed(probe, p, block, q);
        }
        issue(probe, p, q, has_x, has_partial);
        if (block >= 2 && lanes_at(p->form, q, lane) > 0) {
            CHECK_EQ_INT(probe_store(probe, "$a4:5"), 2 * n);
            n++;
        }
    }
}

static void run_problem(const Problem *p)
{
    Probe probe = probe_open();
    const Form *form = p->form;
    uint32_t zero = 0;
    rig_words(probe.rig, RIG_DATA2, &zero, 1);
    if (p->relaunch_at) { /* registers and accumulators survive, also the place of the results */
        Probe fresh = {probe.rig, writer_buffer(&probe.rig->arena),
                       writer_buffer(&probe.rig->arena), 0};
        probe = fresh;
        probe_say(&probe, "setzi $m1, 0x60000\nld32 $m5, $m1, $mzero, 0\nbrnz $m5, 2f\n"
                          "setzi $m0, 0x58000\nsetzi $m7, 0x90000");
    }
    probe_say(&probe, "zero $a4:5");
    if (p->start != UNDEFINED) {
        probe_say(&probe, "setzi $a0, 8\nuput $FP_CLR, $a0");
    }
    probe_tell(&probe, "setzi $m0, 3\nput $FP_INFMT, $m0\nput $FP_ISCL, $mzero");
    put_weights(&probe, p);
    stream(&probe, p);
    if (p->relaunch_at) {
        CHECK_EQ_INT(probe_launch(&probe, 2), TILE_STOP_SYNC_HOST);
    } else {
        probe_run(&probe);
    }
    int phases = phases_of(form, p->engines), n = 0;
    for (int r = 0; r < p->rows; r++) {
        for (int q = 0; q < phases; q++) {
            int lane[4], count = lanes_at(form, q, lane);
            for (int i = 0; i < count; i++) {
                int expected = p->start == UNPRIMED && r == 0 ? 0 : p->partial[r][lane[i]];
                for (int k = 0; k < phases * elements_of(form); k++) {
                    int e = k % elements_of(form), at = k / elements_of(form);
                    expected += p->x[r][at][e] * p->w[lane[i]][at][e];
                }
                uint32_t seen = form->is_half_out ? probe_half(&probe, 2 * n + i / 2, i % 2)
                                                  : probe_word(&probe, 2 * n + i);
                uint32_t bits =
                    form->is_half_out ? half_of(expected) : bits_of_f32((float)expected);
                if (seen != bits || probe_is_poison(&probe, 2 * n)) {
                    fprintf(stderr,
                            "%s E%d start %d relaunch %d: row %d, phase %d, result %d: 0x%x, "
                            "expected %d (0x%x)\n",
                            form->mnemonic, p->engines, (int)p->start, p->relaunch_at, r, q, i,
                            seen, expected, bits);
                    exit(1);
                }
            }
            n += count > 0;
        }
    }
    probe_close(&probe);
}

/* Digit `digit` of the number of a coefficient: its row, then its place in K modulo and over 16. */
static int digit_of(int digit, int row, int place)
{
    return digit == 0 ? row : digit == 1 ? place % 16 : 1 + place / 16;
}

static Problem one_hot(const Form *form, int engines, int digit)
{
    Problem p = {.form = form, .engines = engines};
    int elements = elements_of(form), phases = phases_of(form, engines);
    p.rows = phases * elements + 2;
    for (int r = 0; r < p.rows; r++) {
        for (int n = 0; n < LANES; n++) {
            p.partial[r][n] = 40 + (r * LANES + n) * 7 % 1009; /* all different */
        }
        int place = r % (phases * elements);
        p.x[r][place / elements][place % elements] = 1;
    }
    for (int n = 0; n < LANES; n++) {
        for (int place = 0; place < phases * elements; place++) {
            p.w[n][place / elements][place % elements] = digit_of(digit, n, place);
        }
    }
    return p;
}

/* Small integers everywhere: sums are exact. */
static Problem dense(const Form *form, int engines, int rows, uint64_t seed)
{
    Problem p = {.form = form, .engines = engines, .rows = rows};
    uint64_t n = 0;
    for (int r = 0; r < rows; r++) {
        for (int i = 0; i < LANES; i++) {
            p.partial[r][i] = (int)random_below(seed, n++, 1001) - 500;
        }
        for (int i = 0; i < PHASES_MAX * ELEMENTS_MAX; i++) {
            p.x[r][i / ELEMENTS_MAX][i % ELEMENTS_MAX] = (int)random_below(seed, n++, 9) - 4;
        }
    }
    for (int i = 0; i < LANES * PHASES_MAX * ELEMENTS_MAX; i++) {
        p.w[i / (PHASES_MAX * ELEMENTS_MAX)][i / ELEMENTS_MAX % PHASES_MAX][i % ELEMENTS_MAX] =
            (int)random_below(seed, n++, 9) - 4;
    }
    return p;
}

enum { FORMS = sizeof forms / sizeof *forms };

static void every_coefficient(void)
{
    for (int f = 0; f < FORMS; f++) {
        for (int engines = 4; engines > 0; engines /= 2) {
            for (int digit = 0; digit < 3; digit++) {
                Problem p = one_hot(&forms[f], engines, digit);
                run_problem(&p);
            }
        }
    }
}

/* Accumulators cleared or left undefined; without the block of partials; primed by shifts of phase 1. */
static void starts(void)
{
    uint64_t seed = test_seed(41);
    for (int f = 0; f < FORMS; f++) {
        for (int engines = 4; engines > 0; engines /= 2) {
            for (int start = 0; start < STARTS; start++) {
                if (start == SHIFTED && forms[f].source == SINGLE) {
                    continue; /* the phase of an f32 form says which queue it feeds */
                }
                Problem p = dense(&forms[f], engines, 3, seed++);
                p.start = (Start)start;
                run_problem(&p);
            }
        }
    }
}

/* The state lives in the accumulators: a worker leaves between any two issues and goes on in its next launch. */
static void interruptions(void)
{
    uint64_t seed = test_seed(42);
    for (int f = 0; f < FORMS; f++) {
        int phases = phases_of(&forms[f], 4);
        for (int at = 1; at < 4 * phases; at += 3) {
            Problem p = dense(&forms[f], 4, 2, seed++);
            p.relaunch_at = at;
            run_problem(&p);
        }
    }
}

TEST_MAIN(every_coefficient, starts, interruptions)
