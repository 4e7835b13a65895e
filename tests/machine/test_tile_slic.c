/* Slim convolution: every form, window and weight group against the closed formula of isa/semantics.md 10.4,
 *
 *     1x3: result_e(t) = P_e(t-3) + x(t-3) CW[4+e] + x(t-2) CW[2+e] + x(t-1) CW[e]
 *     1x4: result_e(t) = P_e(t-4) + x(t-4) CW[6+e] + x(t-3) CW[4+e] + x(t-2) CW[2+e] + x(t-1) CW[e]
 *
 * with W for the column of the coefficients, rows 8 more for channels 2 and 3; and the coefficient indices of a kernel for window
 * positions 0 to 3. f32: two instructions a step, as docs/machine.md assumes them.
 */
#include "probe.h"

typedef enum Source { HALF, F8, SINGLE } Source;

typedef struct Form {
    const char *mnemonic, *family;
    Source source;
    int channels;
    bool is_half_in, is_half_out;
} Form;

static const Form forms[] = {
    {"f16v4sisoslic", "F16V4", HALF, 2, false, false},
    {"f16v4hihoslic", "F16V4", HALF, 2, true, true},
    {"f16v4sihoslic", "F16V4", HALF, 2, false, true},
    {"f16v4hihov4slic", "F16V4", HALF, 4, true, true},
    {"f8v8hihov4slic", "F8V8", F8, 4, true, true},
    {"f32sisoslic", "F32", SINGLE, 2, false, false},
    {"f32sisov2slic", "F32", SINGLE, 4, false, false},
};

enum { STEPS = 14, ELEMENTS_MAX = 8, WINDOW_MAX = 4, CHANNELS_MAX = 4 };

typedef struct Problem {
    const Form *form;
    int window, group;
    int partial[STEPS][CHANNELS_MAX], x[STEPS][ELEMENTS_MAX];
    int w[CHANNELS_MAX][WINDOW_MAX][ELEMENTS_MAX]; /* by window position, oldest input first */
} Problem;

static int elements_of(const Form *form)
{
    return form->source == HALF ? 4 : form->source == F8 ? 8 : 2;
}

/* Index of the coefficient of a window position. 1x4: channels 0 to 3 at {24, 28, 56, 60}, {16, 20, 48, 52}, {8, 12, 40, 44},
 * {0, 4, 32, 36}, and the same + W; a window of three has no first set of these. */
static int index_of(const Problem *p, int channel, int position)
{
    static const int first[WINDOW_MAX] = {24, 16, 8, 0};
    static const int more[CHANNELS_MAX] = {0, 4, 32, 36};
    return first[position + 4 - p->window] + more[channel] + p->group;
}

static uint32_t half_of(int v)
{
    uint32_t m = (uint32_t)abs(v), e = m ? 31 - (uint32_t)__builtin_clz(m) : 0;
    CHECK(m < 2048);
    return m == 0 ? 0 : (v < 0 ? 0x8000u : 0) | (e + 15) << 10 | (m << (10 - e) & 0x3ff);
}

/* F143 code of -8 .. 8. */
static uint32_t f8_of(int v)
{
    uint32_t m = (uint32_t)abs(v), e = m ? 31 - (uint32_t)__builtin_clz(m) : 0;
    return m == 0 ? 0 : (v < 0 ? 0x80u : 0) | (e + 8) << 3 | (m << 3 >> e & 7);
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

/* Other columns hold numbers that must not be seen. */
static void put_weights(Probe *probe, const Problem *p)
{
    uint64_t cwei[64];
    for (int k = 0; k < 64; k++) {
        cwei[k] = 0x4545454545454545u;
    }
    for (int c = 0; c < p->form->channels; c++) {
        for (int i = 0; i < p->window; i++) {
            uint32_t words[2];
            pack(words, p->w[c][i], elements_of(p->form), p->form->source);
            cwei[index_of(p, c, i)] = words[0] | (uint64_t)words[1] << 32;
        }
    }
    probe_weights(probe, cwei);
}

static void set_pair(Probe *probe, const char *low, const char *high, const int *v, int count,
                     Source source)
{
    uint32_t words[2];
    pack(words, v, count, source);
    probe_set(probe, low, words[0]);
    probe_set(probe, high, words[1]);
}

/* f32: low words first, which returns channels 0 and 1 and takes their partials; high words then: channels 2 and 3. */
static void step_f32(Probe *probe, const Problem *p, int t)
{
    for (int i = 0; i < 2; i++) {
        bool has_partial = i == 0 || p->form->channels == 4;
        set_pair(probe, "$a0", "$a1", &p->x[t][i], 1, SINGLE);
        set_pair(probe, "$a2", "$a3", &p->partial[t][2 * i], 2, SINGLE);
        probe_say(probe, "%s $a4:5, $a0, %s, TSLIC_F32_1x%d_W%d_%c", p->form->mnemonic,
                  has_partial ? "$a2:3" : "$azeros", p->window, p->group, "LH"[i]);
        if (has_partial) {
            probe_store(probe, "$a4:5");
        }
    }
}

static void step(Probe *probe, const Problem *p, int t)
{
    const Form *form = p->form;
    bool is_narrow = form->channels == 2;
    set_pair(probe, "$a0", "$a1", p->x[t], elements_of(form), form->source);
    set_pair(probe, "$a2", "$a3", p->partial[t], form->channels, form->is_half_in ? HALF : SINGLE);
    probe_say(probe, "%s %s, $a0:1, %s, TSLIC_%s_1x%d_W%d", form->mnemonic,
              is_narrow && form->is_half_out ? "$a4" : "$a4:5",
              is_narrow && form->is_half_in ? "$a2" : "$a2:3", form->family, p->window, p->group);
    probe_store(probe, "$a4:5");
}

static int oracle(const Problem *p, int t, int channel)
{
    int begin = t - p->window, sum = p->partial[begin][channel];
    for (int i = 0; i < p->window; i++) {
        for (int e = 0; e < elements_of(p->form); e++) {
            sum += p->x[begin + i][e] * p->w[channel][i][e];
        }
    }
    return sum;
}

static void run_problem(const Problem *p)
{
    const Form *form = p->form;
    Probe probe = form->source == SINGLE ? probe_assume() : probe_open();
    probe_tell(&probe, "setzi $m0, 3\nput $FP_INFMT, $m0");
    put_weights(&probe, p);
    probe_say(&probe, "zero $a4:5");
    for (int t = 0; t < STEPS; t++) {
        if (form->source == SINGLE) {
            step_f32(&probe, p, t);
        } else {
            step(&probe, p, t);
        }
    }
    probe_run(&probe);
    int words = form->source == SINGLE && form->channels == 4 ? 4 : 2;
    for (int t = p->window; t < STEPS; t++) { /* the chain is full: the first result */
        for (int c = 0; c < form->channels; c++) {
            int expected = oracle(p, t, c);
            uint32_t bits = form->is_half_out ? half_of(expected) : bits_of_f32((float)expected);
            int word = words * t + (form->is_half_out ? c / 2 : c);
            uint32_t seen =
                form->is_half_out ? probe_half(&probe, word, c % 2) : probe_word(&probe, word);
            if (seen != bits || probe_is_poison(&probe, word)) {
                fprintf(stderr, "%s 1x%d W%d: step %d, channel %d: 0x%x, expected %d (0x%x)\n",
                        form->mnemonic, p->window, p->group, t, c, seen, expected, bits);
                exit(1);
            }
        }
    }
    probe_close(&probe);
}

/* Small integers: every sum is exact. */
static Problem random_problem(const Form *form, int window, int group, uint64_t seed)
{
    Problem p = {.form = form, .window = window, .group = group};
    uint64_t n = 0;
    for (int t = 0; t < STEPS; t++) {
        for (int c = 0; c < CHANNELS_MAX; c++) {
            p.partial[t][c] = (int)random_below(seed, n++, 1001) - 500;
        }
        for (int e = 0; e < ELEMENTS_MAX; e++) {
            p.x[t][e] = (int)random_below(seed, n++, 17) - 8;
        }
    }
    for (int c = 0; c < CHANNELS_MAX; c++) {
        for (int i = 0; i < WINDOW_MAX; i++) {
            for (int e = 0; e < ELEMENTS_MAX; e++) {
                p.w[c][i][e] = (int)random_below(seed, n++, 9) - 4;
            }
        }
    }
    return p;
}

static void convolutions(void)
{
    uint64_t seed = test_seed(71);
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        for (int window = 3; window <= 4; window++) {
            for (int group = 0; group < 4; group++) {
                Problem p = random_problem(&forms[f], window, group, seed++);
                run_problem(&p);
            }
        }
    }
}

/* Accumulators of the chains: channel 0 AC12, AC8, AC4, AC0 and channel 1 AC14, AC10, AC6, AC2 from the far end; gina reads the
 * even ones in order. A window of three leaves AC12 and AC14 alone. */
static void accumulators(void)
{
    for (int window = 3; window <= 4; window++) {
        Problem p = {.form = &forms[0], .window = window};
        Probe probe = probe_open();
        put_weights(&probe, &p); /* zero: only partials move */
        probe_uput(&probe, "$FP_CLR", 8);
        for (int k = 0; k < 4; k++) { /* AC[2i] = 100 + i */
            int v[2] = {100 + 2 * k, 101 + 2 * k};
            set_pair(&probe, "$a2", "$a3", v, 2, SINGLE);
            probe_say(&probe, "f32v2gina $a4:5, $a2:3, 0");
        }
        int v[2] = {7, 9};
        set_pair(&probe, "$a2", "$a3", v, 2, SINGLE);
        probe_say(&probe, "f16v4sisoslic $a4:5, $azeros, $a2:3, TSLIC_F16V4_1x%d_W0", window);
        probe_store(&probe, "$a4:5");
        for (int k = 0; k < 4; k++) {
            probe_say(&probe, "f32v2gina $a4:5, $azeros, 0");
            probe_store(&probe, "$a4:5");
        }
        probe_run(&probe);
        static const float three[10] = {100, 101, 102, 103, 104, 105, 7, 9, 106, 107};
        static const float four[10] = {100, 101, 102, 103, 104, 105, 106, 107, 7, 9};
        for (int i = 0; i < 10; i++) {
            CHECK_EQ_INT(probe_word(&probe, i), bits_of_f32((window == 3 ? three : four)[i]));
        }
        probe_close(&probe);
    }
}

/* f32 SLIC destroys TAS, an undefined input undoes its step only. */
static void undefined(void)
{
    Problem p = random_problem(&forms[3], 4, 1, 5);
    Probe probe = probe_open();
    put_weights(&probe, &p);
    probe_uput(&probe, "$FP_CLR", 8);
    for (int t = 0; t < 10; t++) {
        if (t == 2) {
            probe_say(&probe, "ld64 $a2:3, $m0, $mzero, 0"); /* never written: undefined */
        }
        probe_say(&probe, "f16v4hihov4slic $a4:5, $azeros, %s, TSLIC_F16V4_1x4_W1",
                  t == 2 ? "$a2:3" : "$azeros");
        probe_store(&probe, "$a4:5");
    }
    probe_run(&probe);
    for (int t = 0; t < 10; t++) {
        CHECK_EQ_INT(probe_is_poison(&probe, 2 * t), t == 6);
        CHECK_EQ_INT(probe_is_poison(&probe, 2 * t + 1), t == 6);
    }
    probe_close(&probe);
    probe = probe_assume();
    put_weights(&probe, &p);
    probe_uput(&probe, "$TAS", 1);
    probe_say(&probe, "f32sisoslic $a4:5, $azero, $azeros, 0\nuget $a4, $TAS");
    probe_store(&probe, "$a4");
    probe_run(&probe);
    CHECK(probe_is_poison(&probe, 0));
    probe_close(&probe);
}

/* f32 with four channels: an undefined partial of the second instruction comes out as channels 2 and 3, four steps later. */
static void undefined_second_pair(void)
{
    Problem p = random_problem(&forms[6], 4, 0, 6);
    Probe probe = probe_assume();
    put_weights(&probe, &p);
    probe_uput(&probe, "$FP_CLR", 8);
    for (int t = 0; t < 8; t++) {
        for (int i = 0; i < 2; i++) {
            probe_say(&probe, t == 1 && i == 1 ? "ld64 $a2:3, $m0, $mzero, 0" : "zero $a2:3");
            probe_say(&probe, "f32sisov2slic $a4:5, $azero, $a2:3, TSLIC_F32_1x4_W0_%c", "LH"[i]);
            probe_store(&probe, "$a4:5");
        }
    }
    probe_run(&probe);
    for (int k = 0; k < 32; k++) {
        CHECK_EQ_INT(probe_is_poison(&probe, k), k / 4 == 5 && k % 4 >= 2);
    }
    probe_close(&probe);
}

static void flags(void)
{
    static const int wrong[] = {4, 7, 0x10, 0x3f};
    for (int i = 0; i < 4; i++) {
        Probe probe = probe_open();
        probe_say(&probe, "f16v4hihov4slic $a4:5, $azeros, $azeros, %d", wrong[i]);
        probe_expect(&probe, "SLIC_FLAG");
        probe_close(&probe);
    }
}

TEST_MAIN(convolutions, accumulators, undefined, undefined_second_pair, flags)
