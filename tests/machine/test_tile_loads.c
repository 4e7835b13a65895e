/* Every form of the plain loads and stores: sizes, extension, broadcast, all four kinds of address with offsets and strides of either
 * sign, old values at the post-increment, for workers and the supervisor (isa/semantics.md 4). */
#include "probe.h"

typedef enum Kind { ZERO, SIGN, MAIN, AUX, PAIR, QUAD, SPREAD } Kind;

typedef struct Load {
    const char *name;
    Kind kind;
    uint32_t size;
    bool is_shared; /* the supervisor has it, too */
} Load;

static const Load loads[] = {
    {"ldz8", ZERO, 1, true},    {"lds8", SIGN, 1, true},    {"ldz16", ZERO, 2, true},
    {"lds16", SIGN, 2, true},   {"ld32", MAIN, 4, true},    {"ld32", AUX, 4, false},
    {"ld64", PAIR, 8, false},   {"ld128", QUAD, 16, false}, {"ldb16", SPREAD, 2, false},
    {"ldb8", SPREAD, 1, false},
};
enum { LOADS = sizeof loads / sizeof *loads, BYTES = 8192, ROUNDS = 24 };

static uint8_t memory[BYTES];
static uint64_t seed, drawn;

static uint32_t draw(uint32_t bound)
{
    return (uint32_t)random_below(seed, drawn++, bound);
}

static void fill(Probe *probe, uint32_t at)
{
    for (int i = 0; i < BYTES; i++) {
        memory[i] = (uint8_t)draw(256);
    }
    rig_words(probe->rig, at, (const uint32_t *)(const void *)memory, BYTES / 4);
}

/* What the load of `size` bytes at offset `at` of the memory gives: four words at most. */
static int oracle(const Load *load, uint32_t at, uint32_t value[4])
{
    memset(value, 0, 16);
    memcpy(value, memory + at, load->size);
    if (load->kind == SIGN) {
        value[0] = load->size == 1 ? (uint32_t)(int8_t)value[0] : (uint32_t)(int16_t)value[0];
    } else if (load->kind == SPREAD) {
        value[0] *= load->size == 1 ? 0x01010101u : 0x00010001u;
    }
    return load->kind == PAIR ? 2 : load->kind == QUAD ? 4 : 1;
}

static const char *destination(Kind kind)
{
    static const char *const names[] = {"$m2", "$m2", "$m2", "$a2", "$a2:3", "$a4:7", "$a2"};
    return names[kind];
}

static int store(Probe *probe, Kind kind)
{
    if (kind == QUAD) {
        int first = probe_store(probe, "$a4:5");
        probe_store(probe, "$a6:7");
        return first;
    }
    return probe_store(probe, destination(kind));
}

typedef enum Mode { OFFSET, REGISTER, STEP, REGISTER_STEP, MODES } Mode;

/* base + delta + offset * size; post-increment delta += stride * size. Everything stays inside the memory. */
static void check_load(const Load *load, Mode mode)
{
    Probe probe = probe_open();
    uint32_t at[ROUNDS], place[ROUNDS], next[ROUNDS],
        start = load->size == 16 ? RIG_WIDE : RIG_DATA;
    fill(&probe, start);
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t items = BYTES / load->size;
        uint32_t base = draw(items / 2) * load->size,
                 offset = draw(items / 4 < 4096 ? items / 4 : 4096);
        uint32_t delta = draw(items / 4) * load->size;
        int32_t stride = (int32_t)draw(256) - 128;
        probe_set(&probe, "$m3", start + base);
        probe_set(&probe, "$m4", delta);
        const char *to = destination(load->kind);
        if (mode == OFFSET) {
            probe_say(&probe, "%s %s, $m3, $m4, %u", load->name, to, offset);
        } else if (mode == REGISTER) {
            probe_say(&probe, "setzi $m5, %u\n%s %s, $m3, $m4, $m5", offset, load->name, to);
        } else if (mode == STEP) {
            probe_say(&probe, "%sstep %s, $m3, $m4+=, %d", load->name, to, stride);
        } else {
            stride *= 1000;
            probe_set(&probe, "$m5", (uint32_t)stride);
            probe_say(&probe, "%sstep %s, $m3, $m4+=, $m5", load->name, to);
        }
        at[i] = base + delta + (mode < STEP ? offset * load->size : 0);
        next[i] = delta + (mode < STEP ? 0 : (uint32_t)stride * load->size);
        place[i] = (uint32_t)store(&probe, load->kind);
        probe_store(&probe, "$m4");
    }
    probe_run(&probe);
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t value[4];
        int words = oracle(load, at[i], value);
        for (int k = 0; k < words; k++) {
            if (probe_word(&probe, (int)place[i] + k) != value[k]) {
                fprintf(stderr, "%s mode %d, offset %u: 0x%x, expected 0x%x\n", load->name,
                        (int)mode, at[i], probe_word(&probe, (int)place[i] + k), value[k]);
                exit(1);
            }
        }
        CHECK_EQ_INT(probe_word(&probe, (int)place[i] + words), next[i]);
    }
    probe_close(&probe);
}

static void every_load(void)
{
    seed = test_seed(111);
    for (int i = 0; i < LOADS; i++) {
        for (int mode = 0; mode < MODES; mode++) {
            check_load(&loads[i], (Mode)mode);
        }
    }
}

/* The supervisor's forms, results left in its registers. */
static void supervisor_loads(void)
{
    seed = test_seed(112);
    for (int i = 0; i < LOADS; i++) {
        for (int mode = 0; mode < MODES && loads[i].is_shared; mode++) {
            const Load *load = &loads[i];
            Probe probe = probe_open();
            fill(&probe, RIG_DATA);
            uint32_t offset = draw(1000), delta = draw(100) * load->size;
            int32_t stride = -(int32_t)draw(120) - 1;
            probe_tell(&probe, "setzi $m3, 0x58000\nsetzi $m4, %u\nsetzi $m5, %u", delta, offset);
            if (mode >= STEP) {
                probe_tell(&probe, "add $m5, $mzero, %d", stride);
            }
            const char *step = mode >= STEP ? "step" : "", *plus = mode >= STEP ? "+=" : "";
            if (mode == OFFSET || mode == STEP) {
                probe_tell(&probe, "%s%s $m2, $m3, $m4%s, %d", load->name, step, plus,
                           mode == STEP ? stride : (int32_t)offset);
            } else {
                probe_tell(&probe, "%s%s $m2, $m3, $m4%s, $m5", load->name, step, plus);
            }
            probe_run(&probe);
            uint32_t value[4];
            oracle(load, delta + (mode < STEP ? offset * load->size : 0), value);
            CHECK_EQ_INT(probe.rig->tile.m[2], value[0]);
            CHECK_EQ_INT(probe.rig->tile.m[4],
                         delta + (mode < STEP ? 0 : (uint32_t)stride * load->size));
            probe_close(&probe);
        }
    }
}

typedef struct Store {
    const char *text; /* of $m2, $a2 or $a2:3 to base $m3, delta $m4 */
    int words;
    bool is_aux, is_step;
    int32_t offset, stride; /* in items */
    bool is_shared;
} Store;

/* $m5 = 5, $m6 = -3 */
static const Store stores[] = {
    {"st32 $m2, $m3, $m4, 9", 1, false, false, 9, 0, true},
    {"st32 $m2, $m3, $m4, 4095", 1, false, false, 4095, 0, true},
    {"st32step $m2, $m3, $m4+=, 7", 1, false, true, 0, 7, true},
    {"st32step $m2, $m3, $m4+=, -128", 1, false, true, 0, -128, true},
    {"st32 $a2, $m3, $m4, 2730", 1, true, false, 2730, 0, false},
    {"st32 $a2, $m3, $m4, $m5", 1, true, false, 5, 0, false},
    {"st32step $a2, $m3, $m4+=, 90", 1, true, true, 0, 90, false},
    {"st32step $a2, $m3, $m4+=, -91", 1, true, true, 0, -91, false},
    {"st32step $a2, $m3, $m4+=, $m6", 1, true, true, 0, -3, false},
    {"st64 $a2:3, $m3, $m4, 2730", 2, true, false, 2730, 0, false},
    {"st64 $a2:3, $m3, $m4, $m5", 2, true, false, 5, 0, false},
    {"st64step $a2:3, $m3, $m4+=, 100", 2, true, true, 0, 100, false},
    {"st64step $a2:3, $m3, $m4+=, -101", 2, true, true, 0, -101, false},
    {"st64step $a2:3, $m3, $m4+=, $m6", 2, true, true, 0, -3, false},
    /* base and register offset only */
    {"add $m3, $m3, 80\nstm32 $m2, $m3, $m5", 1, false, false, 5, 0, true},
    {"add $m3, $m3, 80\nstm32step $m2, $m3+=, $m6", 1, false, true, 0, -3, true},
    {"add $m3, $m3, 80\nstm32step $m2, $m3+=, $m5", 1, false, true, 0, 5, true},
};

static void every_store(void)
{
    for (size_t i = 0; i < sizeof stores / sizeof *stores; i++) {
        for (int is_supervisor = 0; is_supervisor < 1 + stores[i].is_shared; is_supervisor++) {
            const Store *s = &stores[i];
            Probe probe = probe_open();
            void (*say)(Probe *, const char *, ...) = is_supervisor ? probe_tell : probe_say;
            uint32_t base = is_supervisor ? 0xa0000 : 0xa8000;
            say(&probe,
                "setzi $m3, 0x%x\nsetzi $m4, 80\nsetzi $m5, 5\nadd $m6, $mzero, -3\n"
                "setzi $m2, 0x12345",
                base);
            if (!is_supervisor) {
                say(&probe, "setzi $a2, 0x6789a\nsetzi $a3, 0xbcdef");
            }
            say(&probe, "%s", s->text);
            if (is_supervisor) {
                probe_run(&probe);
                CHECK_EQ_INT((int32_t)probe.rig->tile.m[4],
                             80 + s->stride * 4 * (s->text[0] == 's'));
                CHECK_EQ_INT(probe.rig->tile.m[3],
                             s->text[0] == 's' ? base : base + 80 + (uint32_t)(s->stride * 4));
            } else {
                probe_store(&probe, "$m4");
                probe_store(&probe, "$m3");
                probe_run(&probe);
                bool is_moving_base = s->text[0] == 'a';
                uint32_t moved = (uint32_t)(s->stride * 4 * s->words);
                CHECK_EQ_INT(probe_word(&probe, 0), is_moving_base ? 80 : 80 + moved);
                CHECK_EQ_INT(probe_word(&probe, 1), is_moving_base ? base + 80 + moved : base);
            }
            uint32_t at = base + 80 + (uint32_t)(s->offset * 4 * s->words);
            CHECK_EQ_INT(rig_word(probe.rig, at), s->is_aux ? 0x6789a : 0x12345);
            CHECK(s->words == 1 || rig_word(probe.rig, at + 4) == 0xbcdef);
            CHECK(rig_is_poison(probe.rig, at - 4)); /* nothing else is written */
            CHECK(rig_is_poison(probe.rig, at + 4 * (uint32_t)s->words));
            probe_close(&probe);
        }
    }
}

/* Discarded and doubled destinations; base = delta; addresses modulo 2^21. */
static void corners(void)
{
    Probe probe = probe_open();
    const uint32_t data[4] = {11, 22, 33, 44};
    rig_words(probe.rig, RIG_DATA, data, 4);
    rig_words(probe.rig, RIG_WIDE, data, 4);
    rig_words(probe.rig, 0xb0000, data, 4);
    probe_say(&probe, "ld32 $mzero, $m0, $mzero, 0\nst32step $mzero, $mzero, $m7+=, 1"); /* 0 */
    probe_say(&probe, "ld64step $azeros, $mzero, $m0+=, 1\nst32step $azero, $mzero, $m7+=, 1");
    probe_say(&probe, "ld32step $mzero, $mzero, $m0+=, -2\nadd $m0, $m0, 4\n"
                      "ld32 $m2, $m0, $mzero, 0\nst32step $m2, $mzero, $m7+=, 1"); /* 22 */
    probe_say(&probe, "setzi $m3, 0x58000\nld32step $azero, $mzero, $m3+=, 1\n"
                      "st32step $m3, $mzero, $m7+=, 1"); /* 0x58004 */
    probe_say(&probe, "setzi $m3, 0x58000\nsetzi $m4, 0x80000\nld128 $a12:15, $m4, $mzero, 0\n"
                      "st32step $a15, $mzero, $m7+=, 1"); /* 0 */
    probe_say(&probe, "setzi $m2, 0x58000\nld32 $m2, $m2, $mzero, 3\n"
                      "st32step $m2, $mzero, $m7+=, 1"); /* 44: destination = base */
    /* base = delta: twice 0x58000 */
    probe_say(&probe, "setzi $m3, 0x58000\nld32step $m2, $m3, $m3+=, 2\n"
                      "st32step $m2, $mzero, $m7+=, 1\nst32step $m3, $mzero, $m7+=, 1");
    /* modulo 2^21 */
    probe_say(&probe, "setzi $m3, 0x58000\nor $m3, $m3, 0xffe00000\nld32 $m2, $m3, $mzero, 2\n"
                      "st32step $m2, $mzero, $m7+=, 1");
    probe_run(&probe);
    const uint32_t expected[] = {0, 0, 22, 0x58004, 0, 44, 11, 0x58008, 33};
    for (int i = 0; i < 9; i++) {
        CHECK_EQ_INT(probe_word(&probe, i), expected[i]);
    }
    probe_close(&probe);
}

/* A step load into its own delta register is undocumented. */
static void own_delta(void)
{
    Probe probe = probe_open();
    probe_say(&probe, "ld32step $m0, $mzero, $m0+=, 1");
    probe_expect(&probe, "STEP_DESTINATION");
    probe_close(&probe);
}

TEST_MAIN(every_load, supervisor_loads, every_store, corners, own_delta)
