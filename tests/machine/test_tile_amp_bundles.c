/* AMP steps in bundles with loads and stores, in and out of repeats, against the same steps one instruction at a time: the store source
 * set aside, then the aux half, then the main half (isa/semantics.md 1.2). Numbers, pointers, accumulators, conditions and undefined
 * values must agree whatever the machine does with runs of bundles and on whatever processor. The single steps have their own oracles (test_tile_amp_order.c).
 */
#include "probe.h"

enum { BLOCKS = 12, BODY_MAX = 12, ITEMS = 1536, RESULTS = 2048 };

typedef enum Flavour { PLAIN, SPECIAL, UNDEFINED, STOCHASTIC, FLAVOURS } Flavour;

static uint64_t seed, drawn;

static uint32_t draw(uint32_t bound)
{
    return (uint32_t)random_below(seed, drawn++, bound);
}

/* A main half; `$a6:7` instead of `$a4:5` as the source of a store when it was set aside. */
static void main_half(char *text, size_t size, uint32_t kind, uint32_t code, bool is_bundled)
{
    const char *from = is_bundled ? "$a4:5" : "$a6:7";
    switch (kind) {
    case 0:
    case 1:
    case 2:
        snprintf(text, size, "ld2xst64pace $a0:3, %s, $m2:3+=, $m4, %u", from, code & 63);
        break;
    case 3:
        snprintf(text, size, "ldst64pace $a0:1, %s, $m2:3+=, $m4, %u", from, code & 15);
        break;
    case 4:
        snprintf(text, size, "ld2x64pace $a0:1, $a2:3, $m2:3+=, $m4, %u", code & 15);
        break;
    case 5:
        snprintf(text, size, "ld64step $a0:1, $mzero, $m5+=, %d", (int)(code & 1));
        break;
    case 6:
        snprintf(text, size, "st64step %s, $mzero, $m6+=, 1", from);
        break;
    case 7:
        snprintf(text, size, "st64pace %s, $m2:3+=, $m4, %u", from, code & 3);
        break;
    case 8:
        snprintf(text, size, "add $m8, $m8, %u", code);
        break;
    default:
        snprintf(text, size, "nop");
        break;
    }
}

static void aux_half(char *text, size_t size, const char *mnemonic, uint32_t kind, int phase)
{
    if (kind == 0) {
        snprintf(text, size, "f16v4max $a4:5, $a0:1, $a2:3");
    } else if (kind == 1) {
        snprintf(text, size, "fnop");
    } else {
        snprintf(text, size, "%s $a4:5, $a0:1, $a2:3, TAMP_F16V4_E%d_P%d", mnemonic,
                 kind == 2 ? 2 : 4, phase);
    }
}

static const char *const mnemonics[] = {"f16v4hihov4amp", "f8v8hihov4amp", "f16v4sisoamp",
                                        "f16v4sihoamp"};

/* The same program from the same draws, bundled or not. */
static void say_program(Probe *probe, const char *mnemonic, bool is_bundled)
{
    int phase = 0;
    bool is_narrow = strcmp(mnemonic, "f16v4sihoamp") == 0;
    for (int b = 0; b < BLOCKS; b++) {
        int count = 1 + (int)draw(BODY_MAX), times = 1 + (int)draw(4);
        bool is_repeat = draw(4) != 0;
        char texts[BODY_MAX][3][96];
        for (int i = 0; i < count; i++) {
            uint32_t kind = draw(10), code = draw(64), other = draw(16);
            phase = draw(16) == 0 ? (int)draw(4) : phase;
            main_half(texts[i][0], sizeof texts[i][0], kind, code, is_bundled);
            aux_half(texts[i][1], sizeof texts[i][1], mnemonic, other, phase);
            phase = other > 1 ? (phase + 1) % 4 : phase;
            if (is_narrow && other > 1) { /* one register of results */
                memmove(strstr(texts[i][1], "$a4:5") + 3, strstr(texts[i][1], "$a4:5") + 5,
                        strlen(strstr(texts[i][1], "$a4:5") + 5) + 1);
            }
        }
        if (!is_bundled) {
            for (int t = 0; t < (is_repeat ? times : 1); t++) {
                for (int i = 0; i < count; i++) {
                    probe_say(probe, "mov $a6:7, $a4:5\n%s\n%s", texts[i][1], texts[i][0]);
                }
            }
            continue;
        }
        if (is_repeat) {
            probe_say(probe, ".align 8\nnop\nrpt %d, %d", times, count - 1);
        } else {
            probe_say(probe, ".align 8");
        }
        for (int i = 0; i < count; i++) {
            probe_say(probe, "{ %s ; %s }", texts[i][0], texts[i][1]);
        }
    }
}

static void fill(Probe *probe, uint32_t at, Flavour flavour)
{
    for (uint32_t i = 0; i < ITEMS; i++) {
        uint32_t word = draw(0x10000) | draw(0x10000) << 16;
        word = (word & 0x83ff83ff) | (12 + draw(6)) << 10 | (12 + draw(6)) << 26;
        bool is_odd = draw(40) == 0;
        word = flavour == SPECIAL && is_odd ? 0x7c000001u ^ draw(2) << 31 : word;
        const uint8_t mark = flavour == UNDEFINED && is_odd;
        tile_store_words(&probe->rig->tile, at + 4 * i, &word, 1, &mark);
    }
}

static void run(Probe *probe, const char *mnemonic, Flavour flavour, bool is_bundled)
{
    drawn = 0;
    uint64_t cwei[64];
    for (int k = 0; k < 64; k++) {
        uint32_t low = draw(0x10000) | draw(0x10000) << 16, high = draw(0x10000) | draw(0x10000)
                                                                                       << 16;
        cwei[k] = (low & 0xb7ffb7ff) | (uint64_t)(high & 0xb7ffb7ff) << 32;
    }
    probe_weights(probe, cwei);
    fill(probe, RIG_DATA, flavour);
    fill(probe, RIG_DATA2, flavour);
    static const uint32_t zeros[RESULTS];
    rig_words(probe->rig, 0xa0000, zeros, RESULTS);
    rig_words(probe->rig, 0xb0000, zeros, RESULTS);
    probe_uput(probe, "$FP_CLR", 8);
    probe_uput(probe, "$PRNG_SEED", 77);
    probe_uput(probe, "$FP_CTL", flavour == STOCHASTIC ? 1 << 19 : draw(2) << 20);
    probe_uput(probe, "$FP_NFMT", draw(4));
    probe_uput(probe, "$FP_SCL", draw(8));
    /* strides 2, 0, 3 atoms; a store pointer of region 1 */
    probe_say(probe,
              "setzi $m4, 0xa0000\ntapack $m2:3, $m0, $m1, $m4\nsetzi $m4, 2\n"
              "or $m4, $m4, 0x00300000\nmov $m5, $m0\nsetzi $m6, 0xb0000\nsetzi $m8, 0\n"
              "ld64 $a0:1, $m0, $mzero, 0\nld64 $a2:3, $m1, $mzero, 0\nzero $a4:5\nzero $a6:7");
    say_program(probe, mnemonic, is_bundled);
    static const char *const names[] = {"$a0:1", "$a2:3", "$a4:5"};
    for (int i = 0; i < 3; i++) {
        probe_store(probe, names[i]);
    }
    static const char *const pointers[] = {"$m2", "$m3", "$m5", "$m6", "$m8"};
    for (int i = 0; i < 5; i++) {
        probe_store(probe, pointers[i]);
    }
    probe_say(probe, "uget $a0, $FP_STS");
    probe_store(probe, "$a0");
    probe_say(probe, "uget $a0, $PRNG_0_0");
    probe_store(probe, "$a0");
    for (int i = 0; i < 16; i++) {
        probe_say(probe, "f32v2gina $a0:1, $azeros, %d", i / 4);
        probe_store(probe, "$a0:1");
    }
    probe_run(probe);
}

static void compare(Probe *a, Probe *b, uint32_t address, int words, const char *mnemonic,
                    Flavour flavour)
{
    for (uint32_t i = 0; i < (uint32_t)words; i++) {
        uint32_t at = address + 4 * i;
        bool is_undefined = rig_is_poison(a->rig, at);
        if (is_undefined != rig_is_poison(b->rig, at) ||
            (!is_undefined && rig_word(a->rig, at) != rig_word(b->rig, at))) {
            fprintf(stderr, "%s, flavour %d, seed %llu: 0x%x: 0x%x (%d) in bundles, 0x%x (%d)\n",
                    mnemonic, (int)flavour, (unsigned long long)seed, at, rig_word(a->rig, at),
                    is_undefined, rig_word(b->rig, at), rig_is_poison(b->rig, at));
            exit(1);
        }
    }
}

static void bundles(void)
{
    seed = test_seed(161);
    for (int round = 0; round < 12; round++, seed++) {
        for (int m = 0; m < 4; m++) {
            for (int flavour = 0; flavour < FLAVOURS; flavour++) {
                Probe b = probe_open();
                run(&b, mnemonics[m], (Flavour)flavour, false);
                for (int v = VECTORS_BEST; v <= VECTORS_PORTABLE; v++) {
                    Probe a = probe_open();
                    a.rig->shared.vectors = (MachineVectors)v;
                    run(&a, mnemonics[m], (Flavour)flavour, true);
                    compare(&a, &b, RIG_RESULT, a.stored, mnemonics[m], (Flavour)flavour);
                    compare(&a, &b, 0xa0000, RESULTS, mnemonics[m], (Flavour)flavour);
                    compare(&a, &b, 0xb0000, RESULTS, mnemonics[m], (Flavour)flavour);
                    probe_close(&a);
                }
                probe_close(&b);
            }
        }
    }
}

TEST_MAIN(bundles)
