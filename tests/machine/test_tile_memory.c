/* Loads and stores: addressing, post-increments, packed pointers and strides (isa/semantics.md 4), poison of words and registers
 * (decisions.md A6), memory elements (tile-timing.md 5.1). */
#include "machine/exec.h"
#include "tile_rig.h"

/* A rig with RIG_DATA holding word i = 0xa0b0c000 + i, and the same in RIG_DATA2 + 0x100 and RIG_WIDE. */
static Rig *filled(void)
{
    Rig *rig = rig_create();
    uint32_t words[64];
    for (uint32_t i = 0; i < 64; i++) {
        words[i] = 0xa0b0c000 + i;
    }
    rig_words(rig, RIG_DATA, words, 64);
    rig_words(rig, RIG_DATA2, words, 64);
    rig_words(rig, RIG_WIDE, words, 64);
    return rig;
}

#define BASE 0xa0b0c000u

static void expect(const char *text, const uint32_t *expected, uint32_t count)
{
    Rig *rig = filled();
    char program[2048];
    snprintf(program, sizeof program, "setzi $m0, 0x58000\nsetzi $m7, 0x90000\n%s\nexitz $mzero\n",
             text);
    rig_worker_ok(rig, program);
    for (uint32_t i = 0; i < count; i++) {
        if (rig_word(rig, RIG_RESULT + 4 * i) != expected[i]) {
            fprintf(stderr, "word %u: 0x%x, expected 0x%x\n%s\n", i,
                    rig_word(rig, RIG_RESULT + 4 * i), expected[i], text);
            exit(1);
        }
    }
    rig_destroy(rig);
}

#define EXPECT(text, ...)                                                                          \
    do {                                                                                           \
        const uint32_t expected_[] = {__VA_ARGS__};                                                \
        expect(text, expected_, sizeof expected_ / 4);                                             \
    } while (0)

static void offsets(void)
{
    EXPECT("setzi $m1, 8\nld32 $m2, $m0, $m1, 3\nst32 $m2, $m7, $mzero, 0", BASE + 5);
    EXPECT("setzi $m1, 3\nld32 $m2, $m0, $mzero, $m1\nst32 $m2, $m7, $mzero, 1", 0, BASE + 3);
    EXPECT("ldz16 $m2, $m0, $mzero, 3\nlds16 $m3, $m0, $mzero, 3\nldz8 $m4, $m0, $mzero, 5\nlds8 "
           "$m5, $m0, $mzero, 5\n"
           "st32 $m2, $m7, $mzero, 0\nst32 $m3, $m7, $mzero, 1\nst32 $m4, $m7, $mzero, 2\nst32 "
           "$m5, $m7, $mzero, 3\n",
           0xa0b0, 0xffffa0b0, 0xc0, 0xffffffc0);
    EXPECT("ldb16 $a0, $m0, $mzero, 2\nldb8 $a1, $m0, $mzero, 7\nst64 $a0:1, $m7, $mzero, 0",
           0xc001c001, 0xa0a0a0a0);
    EXPECT("ld64 $a2:3, $m0, $mzero, 2\nst64 $a2:3, $m7, $mzero, 1\nst32 $a3, $m7, $mzero, 0",
           BASE + 5, 0, BASE + 4, BASE + 5);
    EXPECT("setzi $m1, 0x80000\nld128 $a4:7, $m1, $mzero, 1\nst64 $a4:5, $m7, $mzero, 0\nst64 "
           "$a6:7, $m7, $mzero, 1",
           BASE + 4, BASE + 5, BASE + 6, BASE + 7);
    EXPECT("setzi $m1, 2\nld32 $m2, $m0, $mzero, 1\nstm32 $m2, $m7, $m1", 0, 0, BASE + 1);
}

/* p += stride * size, positive and negative, immediate and register. */
static void steps(void)
{
    EXPECT("ld32step $m2, $mzero, $m0+=, 3\nst32step $m2, $mzero, $m7+=, 2\n"
           "ld32step $m2, $mzero, $m0+=, -1\nst32step $m2, $mzero, $m7+=, -1\n"
           "ld32step $m2, $mzero, $m0+=, 1\nst32step $m2, $mzero, $m7+=, 1\n",
           BASE, BASE + 2, BASE + 3);
    EXPECT("setzi $m1, 2\nadd $m3, $mzero, -3\nld32step $m2, $mzero, $m0+=, $m1\nld32step $m4, "
           "$mzero, $m0+=, $m3\n"
           "add $m0, $m0, 4\nld32step $m5, $mzero, $m0+=, 0\n"
           "st32step $m2, $mzero, $m7+=, 1\nst32step $m4, $mzero, $m7+=, 1\nst32step $m5, $mzero, "
           "$m7+=, 1\n",
           BASE, BASE + 2, BASE);
    EXPECT("setzi $m1, 16\nld64step $a0:1, $m0, $m1+=, 2\nld64step $a2:3, $m0, $m1+=, 1\n"
           "st64step $a0:1, $mzero, $m7+=, 1\nst64step $a2:3, $mzero, $m7+=, 1\nst32 $m1, $m7, "
           "$mzero, 0\n",
           BASE + 4, BASE + 5, BASE + 8, BASE + 9, 40);
    EXPECT("setzi $m1, 0x80000\nld128step $a0:3, $mzero, $m1+=, 2\nld128step $a4:7, $mzero, $m1+=, "
           "-2\n"
           "st64 $a2:3, $m7, $mzero, 0\nst64 $a4:5, $m7, $mzero, 1\nst32 $m1, $m7, $mzero, 4\n",
           BASE + 2, BASE + 3, BASE + 8, BASE + 9, 0x80000);
    EXPECT("setzi $m1, 3\nldz16step $m2, $mzero, $m0+=, 5\nst32 $m2, $m7, $mzero, 0\nld32step $m2, "
           "$mzero, $m7+=, 0\n"
           "ldb16step $a0, $mzero, $m0+=, -4\nst32 $a0, $m7, $mzero, 1\nsub $m3, $m0, $m0\nst32 "
           "$m3, $m7, $mzero, 2\n",
           0xc000, 0xa0b0a0b0, 0);
    EXPECT("setzi $m1, 2\nld32 $m2, $m0, $mzero, 9\nstm32step $m2, $m7+=, $m1\nstm32step $m2, "
           "$m7+=, $m1\n",
           BASE + 9, 0, BASE + 9);
    /* address arithmetic with a discarded load */
    EXPECT("ld64step $azeros, $mzero, $m0+=, 3\nst32 $m0, $m7, $mzero, 0", 0x58018);
}

/* tapack and the stride codes: 0 = one atom, 1..3 = signed ten-bit fields of the stride register. */
static void paces(void)
{
    /* strides: field 0 = 2, field 1 = -1, field 2 = 3 */
    const char *setup = "setzi $m1, 0x60008\ntapack $m2:3, $m0, $m1, $m7\n"
                        "setzi $m4, 0xffc02\nor $m4, $m4, 0x00300000\n";
    char text[1024];
    snprintf(
        text, sizeof text,
        "%sld2x64pace $a0:1, $a2:3, $m2:3+=, $m4, 0b0001\n" /* pointer 0 += 2 atoms, pointer 1 += 1 */
        "st64pace $a0:1, $m2:3+=, $m4, 0\n"
        "st64pace $a2:3, $m2:3+=, $m4, 0\n"
        "ld2x64pace $a0:1, $a2:3, $m2:3+=, $m4, 0b1000\n" /* pointer 0 += 1, pointer 1 -= 1 */
        "st64pace $a0:1, $m2:3+=, $m4, 0\n"
        "st64pace $a2:3, $m2:3+=, $m4, 3\n"                  /* result pointer += 3 atoms */
        "ld2x64pace $a0:1, $a2:3, $m2:3+=, $mzero, 0b0101\n" /* zero stride: stay */
        "ld2x64pace $a4:5, $a6:7, $m2:3+=, $mzero, 0b0101\n"
        "st64pace $a4:5, $m2:3+=, $m4, 0\nst64pace $a6:7, $m2:3+=, $m4, 0\n",
        setup);
    EXPECT(text, BASE, BASE + 1, BASE + 2, BASE + 3, /* 0 and 1 */
           BASE + 4, BASE + 5, BASE + 4, BASE + 5,   /* 2 and 2 */
           0, 0, 0, 0,                               /* skipped by the stride of 3: two atoms */
           BASE + 6, BASE + 7, BASE + 2, BASE + 3);  /* 3 and 1 */
    /* load and store in one instruction: the store takes the old register */
    snprintf(text, sizeof text,
             "%sld64 $a0:1, $m0, $mzero, 10\n"
             "ldst64pace $a0:1, $a0:1, $m2:3+=, $m4, 0b0100\n" /* store pointer += 2 atoms */
             "ldst64pace $a0:1, $a0:1, $m2:3+=, $m4, 0\n",
             setup);
    EXPECT(text, BASE + 20, BASE + 21, 0, 0, BASE, BASE + 1);
    snprintf(
        text, sizeof text,
        "%sld64 $a6:7, $m0, $mzero, 10\n"
        "ld2xst64pace $a0:3, $a6:7, $m2:3+=, $m4, 0b001001\n" /* 0 += 2 atoms, 1 -= 1, store += 1 */
        "ld2xst64pace $a4:7, $a2:3, $m2:3+=, $m4, 0b000000\n"
        "st64pace $a4:5, $m2:3+=, $m4, 0\nst64pace $a6:7, $m2:3+=, $m4, 0\nst32 $m2, $m7, $mzero, "
        "8\n",
        setup);
    EXPECT(text, BASE + 20, BASE + 21, BASE + 2, BASE + 3, BASE + 4, BASE + 5, BASE + 0, BASE + 1,
           (0x58018 | (0x90020 & 0x7ff) << 21));
    /* 64 + 32 and 64 + broadcast 16 */
    snprintf(text, sizeof text,
             "%sld64a32pace $a0:1, $a2, $m2:3+=, $m4, 0\nld64b16pace $a4:5, $a3, $m2:3+=, $m4, 0\n"
             "st64pace $a0:1, $m2:3+=, $m4, 0\nst64pace $a2:3, $m2:3+=, $m4, 0\nst64pace $a4:5, "
             "$m2:3+=, $m4, 0\n",
             setup);
    EXPECT(text, BASE, BASE + 1, BASE + 2, 0xc004c004, BASE + 2, BASE + 3);
}

static void elements(void)
{
    uint64_t seed = test_seed(5);
    for (uint64_t i = 0; i < 20000; i++) {
        uint32_t a = SRAM_BASE + (uint32_t)random_below(seed, 2 * i, SRAM_BYTES);
        uint32_t near = a ^ (uint32_t)random_below(seed, 2 * i + 1, 0x10000);
        uint32_t b = i % 2 && range_in_sram(near, 1)
                         ? near
                         : SRAM_BASE + (uint32_t)random_below(seed + 1, i, SRAM_BYTES);
        CHECK_EQ_INT(same_element(a, b), element_of(a).id == element_of(b).id);
    }
}

/* Loading, moving and storing undefined words is legal; the mark travels with the value, per register. */
static void poison(void)
{
    Rig *rig = filled();
    const uint32_t pattern[4] = {1, 2, 3, 4};
    const uint8_t second = 2;
    tile_store_words(&rig->tile, RIG_DATA, pattern, 4, &second); /* word 1 undefined */
    rig_worker_ok(
        rig, "setzi $m0, 0x58000\nsetzi $m7, 0x90000\n"
             "ld64 $a0:1, $m0, $mzero, 0\nst64 $a0:1, $m7, $mzero, 0\n"              /* 0 1 */
             "ld32 $m1, $m0, $mzero, 1\nadd $m2, $m1, 1\nst32 $m2, $m7, $mzero, 2\n" /* 1 */
             "setzi $m1, 5\nst32 $m1, $m7, $mzero, 3\n"                              /* 0 */
             "f32v2add $a2:3, $a0:1, $a0:1\nst64 $a2:3, $m7, $mzero, 2\n"            /* 0 1 */
             "f16v2tof32 $a2:3, $a1\nst64 $a2:3, $m7, $mzero, 3\n"                   /* 1 1 */
             "sort4x32hi $a2:3, $a0:1, $azeros\nst64 $a2:3, $m7, $mzero, 4\n"        /* 1 0 */
             "atom $m2, $a1\nst32 $m2, $m7, $mzero, 10\n"                            /* 1 */
             "ldz16 $m2, $m0, $mzero, 3\nst32 $m2, $m7, $mzero, 11\n"                /* 1 */
             "setzi $m3, 1\nmovz $m3, $m2, $mzero\nst32 $m3, $m7, $mzero, 12\n" /* 0: not moved */
             "movz $m3, $m2, $m0\nst32 $m3, $m7, $mzero, 13\n"                  /* 1 */
             "exitz $mzero\n");
    const int expected[] = {0, 1, 1, 0, 0, 1, 1, 1, 1, 0, 1, 1, 0, 1};
    for (uint32_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        if (rig_is_poison(rig, RIG_RESULT + 4 * i) != expected[i]) {
            fprintf(stderr, "word %u: expected %d\n", i, expected[i]);
            exit(1);
        }
    }
    rig_destroy(rig);
    /* the same with tracking off */
    rig = filled();
    rig->shared.checks &= ~(uint32_t)CHECK_POISON;
    rig_worker_ok(rig, "setzi $m0, 0x58200\nld32 $m1, $m0, $mzero, 0\nadd $m1, $m1, $m0\nld32 $m2, "
                       "$m1, $mzero, 0\nexitz $mzero\n");
    rig_destroy(rig);
}

TEST_MAIN(offsets, steps, paces, elements, poison)
