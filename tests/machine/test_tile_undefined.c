/* Undefined values and traps of the aux lane: each result register is undefined exactly when a register that feeds it is; undefined
 * operands raise no condition; a condition that FP_CTL enables stops every kind of instruction (decisions.md A6; docs/machine.md;
 * isa/semantics.md 6). */
#include "probe.h"

typedef struct Flow {
    const char *text;         /* sources $a0 .. $a3, results $a4, $a5 */
    uint32_t to_low, to_high; /* bit i: $a<i> feeds the result */
} Flow;

static const Flow flows[] = {
    {"f16v2add $a4, $a0, $a2", 5, 0},
    {"f16v4add $a4:5, $a0:1, $a2:3", 5, 10},
    {"f16v4add $a4:5, $a1:BL, $a2:3", 6, 10},
    {"f16v4mul $a4:5, $a0:BU, $a2:3", 5, 9},
    {"f16v4sub $a4:5, $a0:1, $a2:3", 5, 10},
    {"f16v4absadd $a4:5, $a0:1, $a2:3", 5, 10},
    {"f16v4max $a4:5, $a0:1, $a2:3", 5, 10},
    {"f16v4absmax $a4:5, $a0:1, $a2:3", 5, 10},
    {"f16v4cmplt $a4:5, $a0:1, $a2:3", 5, 10},
    {"f16v4cmpeq $a4:5, $a0:BL, $a2:3", 5, 9},
    {"f16v4clamp $a4:5, $a0:1, $a2", 5, 6},
    {"f16v2clamp $a4, $a0, $a2", 5, 0},
    {"f32add $a4, $a0, $a3", 9, 0},
    {"f32div $a4, $a0, $a3", 9, 0},
    {"f32v2add $a4:5, $a0:1, $a2:3", 5, 10},
    {"f32v2mul $a4:5, $a0:B, $a2:3", 5, 9},
    {"f32v2cmpge $a4:5, $a0:1, $a2:3", 5, 10},
    {"f32v2min $a4:5, $a0:1, $a2:3", 5, 10},
    {"f32clamp $a4, $a0, $a2:3", 13, 0},
    {"f32v2clamp $a4:5, $a0:1, $a2:3", 13, 14},
    {"f16v2maxc $a4, $a0", 1, 0},
    {"f16v4maxc $a4, $a0:1", 3, 0},
    {"f16v2sum $a4, $a0", 1, 0},
    {"f16v4sum $a4:5, $a0:1", 1, 2},
    {"f16v2exp $a4, $a0", 1, 0},
    {"f32exp $a4, $a0", 1, 0},
    {"f32sqrt $a4, $a0", 1, 0},
    {"f16tof32 $a4, $a0", 1, 0},
    {"f16v2tof32 $a4:5, $a0", 1, 1},
    {"f32tof16 $a4, $a0", 1, 0},
    {"f32v2tof16 $a4, $a0:1", 3, 0},
    {"f32v4tof16 $a4:5, $a0:3", 3, 12},
    {"f32int $a4, $a0, 3", 1, 0},
    {"f32toi32 $a4, $a0", 1, 0},
    {"f32fromui32 $a4, $a0", 1, 0},
    {"f32v2sufromui $a4:5, $a0:1", 1, 2},
    {"f16v4sufromui $a4:5, $a0:1", 1, 2},
    {"f8v4tof16 $a4:5, $a0", 1, 1},
    {"f8v2tof16 $a4, $a0", 1, 0},
    {"f16v8tof8 $a4:5, $a0:3", 3, 12},
    {"f16v2tof8 $a4, $a0", 1, 0},
    {"f16v2class $a4, $a0", 1, 0},
    {"f16v4class $a4, $a0:1", 3, 0},
    {"f32v2class $a4, $a0:1", 3, 0},
    {"f16v4rmask $a4:5, $a0:1, $a2", 5, 6},
    {"f32v2rmask $a4:5, $a0:1, $a2", 5, 6},
    {"and $a4, $a0, $a2", 5, 0},
    {"or $a4, $a0, 3", 1, 0},
    {"not $a4, $a0", 1, 0},
    {"andc64 $a4:5, $a0:1, $a2:3", 5, 10},
    {"roll32 $a4:5, $a0:1, $a2:3", 2, 4},
    {"sort4x32lo $a4:5, $a0:1, $a2:3", 1, 4},
    {"sort4x32hi $a4:5, $a0:1, $a2:3", 2, 8},
    {"roll16 $a4, $a0, $a2", 5, 0},
    {"sort4x16lo $a4, $a0:BU, $a2", 5, 0},
    {"shuf8x8hi $a4, $a0, $a2", 5, 0},
    {"swap8 $a4, $a0", 1, 0},
    /* through the accumulators, cleared before */
    {"f32v4acc $a0:3\nf32v2gina $a4:5, $azeros, 0", 1, 2},
    {"f16v4acc $a0:1\nf32v2gina $a4:5, $azeros, 0", 1, 1},
    {"f16v8acc $a0:3\nf32v2gina $azeros, $azeros, 0\nf32v2gina $a4:5, $azeros, 0", 2, 2},
    {"f16v8sqacc $a0:3\nf16v4gacc $a4:5", 1, 2},
    {"f32v4sqacc $a0:3\nf16v4gacc $a4:5", 3, 12},
    {"f32mac $a0, $a2\nf32v2gina $a4:5, $azeros, 0", 5, 0},
    {"f32v2mac $a0:1, $a2:3\nf32v2gina $a4:5, $azeros, 0", 5, 10},
    {"f16v2cmac $a0, $a2\nf32v2gina $a4:5, $azeros, 0", 5, 0},
    {"f16v4cmac $a0:1, $a2:3\nf32v2gina $a4:5, $azeros, 0", 5, 10},
    {"f32v2aop $a0:1, $a2:3, 0\nf32v2gina $a4:5, $azeros, 0", 5, 6},
    {"f32v2axpy $azeros, $a0:1, $a2:3\nf32v2gina $a4:5, $azeros, 0", 5, 10},
    {"f16v4mix $azeros, $a0:1, $a2:3\nf16v4gacc $a4:5", 5, 10},
};

/* $a0 .. $a3 = 1 in a way that suits all formats; one of them loaded from words that nobody wrote. */
static void open_sources(Probe *probe, int undefined_register)
{
    for (int i = 0; i < 4; i++) {
        char name[4] = {'$', 'a', (char)('0' + i), 0};
        if (i == undefined_register) {
            probe_say(probe, "ld32 %s, $m1, $mzero, 0", name);
        } else {
            probe_set(probe, name, 0x3c003c00);
        }
    }
}

static void flows_of_undefined(void)
{
    for (size_t f = 0; f < sizeof flows / sizeof *flows; f++) {
        for (int i = -1; i < 4; i++) {
            Probe probe = probe_assume(); /* classes */
            uint32_t bad = 0x7d017d01;    /* a NaN, if it were looked at */
            const uint8_t undefined = 1;
            tile_store_words(&probe.rig->tile, RIG_DATA2, &bad, 1, &undefined);
            probe_uput(&probe, "$FP_CLR", 15);
            probe_uput(&probe, "$TAS", 0x3c003c00);
            probe_uput(&probe, "$PRNG_SEED", 1);
            probe_uput(&probe, "$FP_CTL", 7);
            open_sources(&probe, i);
            probe_say(&probe, "zero $a4:5\n%s", flows[f].text);
            probe_store(&probe, "$a4:5");
            probe_say(&probe, "uget $a4, $FP_STS");
            probe_store(&probe, "$a4");
            probe_run(&probe);
            bool low = i >= 0 && (flows[f].to_low >> i & 1) != 0;
            bool high = i >= 0 && (flows[f].to_high >> i & 1) != 0;
            if (probe_is_poison(&probe, 0) != low || probe_is_poison(&probe, 1) != high) {
                fprintf(stderr, "%s with $a%d undefined: %d %d, expected %d %d\n", flows[f].text, i,
                        probe_is_poison(&probe, 0), probe_is_poison(&probe, 1), low, high);
                exit(1);
            }
            CHECK_EQ_INT(probe_word(&probe, 2), 0);
            probe_close(&probe);
        }
    }
}

/* $a0 .. $a3 = 0x7d017d01 (signalling NaN in all formats but FP8, there a number). */
static const char *const invalid[] = {
    "f16v2add $a4, $a0, $a2",
    "f16v4mul $a4:5, $a0:BL, $a2:3",
    "f16v4sum $a4:5, $a0:1",
    "f16v2tanh $a4, $a0",
    "f16v2tof32 $a4:5, $a0",
    "f16v4acc $a0:1",
    "f16v8sqacc $a0:3",
    "f16v4absacc $a0:1",
    "f16v2cmac $a0, $a2",
    "f16v4cmac $a0:1, $a2:3",
    "f16v4mix $a4:5, $a0:1, $a2:3",
    "f16v8tof8 $a4:5, $a0:3",
    "f16v2tof8 $a4, $a0",
    "f16v4hihov4slic $a4:5, $a0:1, $azeros, 0",
    "f16v4sisoslic $a4:5, $a0:1, $azeros, 0",
    "mov $a0, $a6\nf32add $a4, $a0, $a2",
    "mov $a0, $a6\nf32v2mul $a4:5, $a0:B, $a2:3",
    "mov $a0, $a6\nf32div $a4, $a2, $a0",
    "mov $a0, $a6\nf32exp2 $a4, $a0",
    "mov $a0, $a6\nf32oorx $a4, $a0",
    "mov $a0, $a6\nf32toi32 $a4, $a0",
    "mov $a0, $a6\nf32tof16 $a4, $a0",
    "mov $a0, $a6\nf32v4acc $a0:3",
    "mov $a0, $a6\nf32v4sqacc $a0:3",
    "mov $a0, $a6\nf32mac $a0, $a2",
    "mov $a0, $a6\nf32v2mac $a2:3, $a0:1",
    "mov $a0, $a6\nf32v2aop $a0:1, $a2:3, 0",
    "mov $a0, $a6\nf32v2axpy $a4:5, $a0:1, $a2:3",
    "mov $a0, $a6\nf32sisoamp $a4:5, $a0, $azeros, 0",
    "mov $a0, $a6\nf32sisov2slic $a4:5, $a0, $azeros, 0",
};

/* The same instructions: trapped when INV is enabled, noted in FP_STS when it is not. */
static void traps(void)
{
    for (size_t i = 0; i < sizeof invalid / sizeof *invalid; i++) {
        for (int is_enabled = 0; is_enabled < 2; is_enabled++) {
            Probe probe = probe_assume();
            uint64_t cwei[64] = {0};
            probe_weights(&probe, cwei);
            probe_uput(&probe, "$FP_CLR", 15);
            probe_uput(&probe, "$TAS", 0x3c003c00);
            probe_uput(&probe, "$FP_CTL", is_enabled ? 1 : 6);
            for (int r = 0; r < 4; r++) {
                char name[4] = {'$', 'a', (char)('0' + r), 0};
                probe_set(&probe, name, 0x7d017d01);
            }
            probe_set(&probe, "$a6", 0x7fa00000);
            if (strncmp(invalid[i], "mov", 3) == 0) {
                probe_say(&probe, "setzi $a2, 0\nsetzi $a3, 0\nsetzi $a1, 0");
            }
            probe_say(&probe, "%s\nuget $a4, $FP_STS", invalid[i]);
            probe_store(&probe, "$a4");
            if (is_enabled) {
                probe_expect(&probe, "FP_EXCEPTION");
            } else {
                probe_run(&probe);
                if (probe_word(&probe, 0) != 1) {
                    fprintf(stderr, "%s: conditions %u\n", invalid[i], probe_word(&probe, 0));
                    exit(1);
                }
            }
            probe_close(&probe);
        }
    }
}

/* Main lane: results of undefined sources; movz by an undefined choice; discarded destinations take no mark. */
static void main_lane(void)
{
    Probe probe = probe_open();
    static const struct {
        const char *text; /* $m2 undefined, $m3 defined; result $m4 */
        bool is_undefined;
    } cases[] = {
        {"add $m4, $m2, $m3", true},
        {"add $m4, $m3, $m2", true},
        {"add $m4, $m3, 1", false},
        {"sub $m4, 3, $m2", true},
        {"shl $m4, $m2, 3", true},
        {"roll16 $m4, $m3, $m2", true},
        {"clz $m4, $m2", true},
        {"movz $m4, $m3, $m2", true},
        {"movz $m4, $m2, $mzero", false},
        {"movz $m4, $m3, $m3", false},
        {"mov $m4, $m2\nsetzi $m4, 1", false},
        {"xor $mzero, $m2, $m3\nmov $m4, $mzero", false},
        {"ld32 $m4, $m1, $mzero, 0", true},
        {"ldz8 $m4, $m1, $mzero, 7", true},
        {"cmpeq $m4, $m2, $m2", true},
    };
    enum { COUNT = sizeof cases / sizeof *cases };
    probe_say(&probe, "ld32 $m2, $m1, $mzero, 0\nsetzi $m3, 5");
    for (int i = 0; i < COUNT; i++) {
        probe_say(&probe, "setzi $m4, 7\n%s", cases[i].text);
        probe_store(&probe, "$m4");
    }
    probe_run(&probe);
    for (int i = 0; i < COUNT; i++) {
        if (probe_is_poison(&probe, i) != cases[i].is_undefined) {
            fprintf(stderr, "%s: undefined %d\n", cases[i].text, probe_is_poison(&probe, i));
            exit(1);
        }
    }
    probe_close(&probe);
}

TEST_MAIN(flows_of_undefined, traps, main_lane)
