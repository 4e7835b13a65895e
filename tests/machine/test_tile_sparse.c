/* Post-incrementing sparse loads: values, one element ahead, post-increments, undefined values and the rules of their accesses
 * (isa/semantics.md 4.3; docs/machine.md). Offsets have no sign. */
#include "probe.h"

enum { ELEMENTS = 12 };

/* Word i of RIG_WIDE ($m2): 0xa0b00000 + i; RIG_DATA2 ($m1) holds the list. */
static Probe open_with(const uint32_t *list, int words, bool is_assumed)
{
    Probe probe = is_assumed ? probe_assume() : probe_open();
    static uint32_t data[0x4000]; /* 64 KiB: any offset */
    for (uint32_t i = 0; i < 0x4000; i++) {
        data[i] = 0xa0b00000 + i;
    }
    rig_words(probe.rig, RIG_WIDE, data, 0x4000);
    rig_words(probe.rig, RIG_DATA2, list, words);
    probe_say(&probe, "setzi $m2, 0x80000");
    return probe;
}

#define WORD(offset) (0xa0b00000u + (offset) / 4)

/* Offsets of the elements; aligned to 8, some beyond 0x7fff. */
static const uint32_t offsets[ELEMENTS] = {0x10,   0x0, 0xfff8, 0x8000, 0x20, 0x28,
                                           0x7ff8, 0x8, 0x8,    0x1238, 0x40, 0xfff0};

/* a list of halves: the first goes into a register, the others behind it are read by the loads */
static void pack(uint32_t words[ELEMENTS / 2])
{
    for (int i = 0; i < ELEMENTS / 2; i++) {
        words[i] = offsets[2 * i] | offsets[2 * i + 1] << 16;
    }
}

/* ldd16a32, ldd16a64, ldd16b16: the data come from the old offset while the next one arrives. */
static void single_offsets(void)
{
    static const char *const names[3] = {"ldd16a32", "ldd16a64", "ldd16b16"};
    uint32_t words[ELEMENTS / 2];
    pack(words);
    for (int form = 0; form < 3; form++) {
        Probe probe = open_with(words, ELEMENTS / 2, false);
        const char *to = form == 1 ? "$a0:1" : "$a0";
        probe_say(&probe, "ldz16step $m3, $mzero, $m1+=, 1");
        int at[ELEMENTS];
        for (int i = 0; i < ELEMENTS - 1; i++) {
            probe_say(&probe, "%s %s, $m1++, $m2, $m3@", names[form], to);
            at[i] = probe_store(&probe, to);
        }
        int pointer = probe_store(&probe, "$m1"), last = probe_store(&probe, "$m3");
        probe_run(&probe);
        for (int i = 0; i < ELEMENTS - 1; i++) {
            uint32_t word = WORD(offsets[i]);
            CHECK_EQ_INT(probe_word(&probe, at[i]),
                         form == 2 ? (word & 0xffff) | word << 16 : word);
            if (form == 1) {
                CHECK_EQ_INT(probe_word(&probe, at[i] + 1), word + 1);
            }
        }
        CHECK_EQ_INT(probe_word(&probe, pointer), RIG_DATA2 + 2 * ELEMENTS);
        CHECK_EQ_INT(probe_word(&probe, last), offsets[ELEMENTS - 1]);
        probe_close(&probe);
    }
}

/* A broadcast half may lie at any even offset. */
static void halves(void)
{
    const uint32_t list[1] = {0x00060008};
    Probe probe = open_with(list, 1, false);
    probe_say(&probe, "setzi $m3, 0xfffe\nldd16b16 $a0, $m1++, $m2, $m3@\n"
                      "ldd16b16 $a1, $m1++, $m2, $m3@");
    probe_store(&probe, "$a0:1");
    probe_store(&probe, "$m3");
    probe_run(&probe);
    CHECK_EQ_INT(probe_word(&probe, 0), 0xa0b0a0b0); /* upper half of the last word */
    CHECK_EQ_INT(probe_word(&probe, 1), 0x00020002); /* lower half */
    CHECK_EQ_INT(probe_word(&probe, 2), 6);
    probe_close(&probe);
}

/* ldd16v2a32: the register is a pair of offsets; the upper one is used, the next pair arrives. */
static void paired_offsets(void)
{
    const uint32_t list[4] = {0x00100004, 0x80000008, 0xfffc000c, 0x00180014};
    Probe probe = open_with(list, 4, false);
    probe_say(&probe, "ld32step $m3, $mzero, $m1+=, 1");
    for (int i = 0; i < 3; i++) {
        probe_say(&probe, "ldd16v2a32 $a0, $m1++, $m2, $m3@");
        probe_store(&probe, "$a0");
    }
    probe_store(&probe, "$m1");
    probe_store(&probe, "$m3");
    probe_run(&probe);
    CHECK_EQ_INT(probe_word(&probe, 0), WORD(0x10));
    CHECK_EQ_INT(probe_word(&probe, 1), WORD(0x8000));
    CHECK_EQ_INT(probe_word(&probe, 2), WORD(0xfffc));
    CHECK_EQ_INT(probe_word(&probe, 3), RIG_DATA2 + 16);
    CHECK_EQ_INT(probe_word(&probe, 4), list[3]);
    probe_close(&probe);
}

/* ld64a32: the upper pair from the list, q[1] from the low offset, q[0] as it was; the offset register does not change. */
static void quads(void)
{
    const uint32_t list[4] = {1, 2, 3, 4};
    Probe probe = open_with(list, 4, false);
    probe_set(&probe, "$m3", 0x12348004);
    probe_say(&probe, "setzi $a4, 77\nsetzi $a5, 78");
    for (int i = 0; i < 2; i++) {
        probe_say(&probe, "ld64a32 $a4:7, $m1++, $m2, $m3");
        probe_store(&probe, "$a4:5");
        probe_store(&probe, "$a6:7");
    }
    probe_store(&probe, "$m1");
    probe_store(&probe, "$m3");
    probe_run(&probe);
    const uint32_t expected[] = {77, WORD(0x8004),   1,         2, 77, WORD(0x8004), 3,
                                 4,  RIG_DATA2 + 16, 0x12348004};
    for (int i = 0; i < 10; i++) {
        CHECK_EQ_INT(probe_word(&probe, i), expected[i]);
    }
    probe_close(&probe);
}

/* ldb16b16: two broadcast halves; the low offset moves by 2, the other by the low four bits of mini, which shifts them out.
 * Which one moves by 2 matters unless both do. */
static void pairs_of_halves(void)
{
    Probe probe = open_with((const uint32_t[]){0}, 1, true);
    probe_set(&probe, "$m3", 0x80000008); /* low half: RIG_WIDE + 8 */
    probe_set(&probe, "$m4", 0x00000042);
    static const uint32_t low[4] = {8, 10, 12, 14}, high[4] = {0x8000, 0x8002, 0x8006, 0x8006};
    for (int i = 0; i < 4; i++) {
        probe_say(&probe, "ldb16b16 $a0:1, $m2, $m3++, $m4>>");
        probe_store(&probe, "$a0:1");
        probe_store(&probe, "$m3");
        probe_store(&probe, "$m4");
    }
    probe_run(&probe);
    for (int i = 0; i < 4; i++) {
        uint32_t halves[2];
        for (int k = 0; k < 2; k++) {
            uint32_t at = k ? high[i] : low[i];
            halves[k] = (WORD(at & ~3u) >> (at & 2 ? 16 : 0) & 0xffff) * 0x10001;
        }
        CHECK_EQ_INT(probe_word(&probe, 4 * i), halves[0]);
        CHECK_EQ_INT(probe_word(&probe, 4 * i + 1), halves[1]);
        uint32_t next = i < 3 ? low[i + 1] | high[i + 1] << 16 : 16 | 0x8006u << 16;
        CHECK_EQ_INT(probe_word(&probe, 4 * i + 2), next);
        CHECK_EQ_INT(probe_word(&probe, 4 * i + 3), i == 0 ? 4 : 0);
    }
    probe_close(&probe);
    /* both by 2: nothing is unknown; the offsets wrap at 16 bits without a carry */
    probe = open_with((const uint32_t[]){0}, 1, false);
    probe_set(&probe, "$m3", 0x8000fffe);
    probe_say(&probe, "setzi $m4, 0x2\nldb16b16 $a0:1, $m2, $m3++, $m4>>");
    probe_store(&probe, "$a0:1");
    probe_store(&probe, "$m3");
    probe_run(&probe);
    CHECK_EQ_INT(probe_word(&probe, 0), 0xa0b0a0b0);
    CHECK_EQ_INT(probe_word(&probe, 2), 0x80020000);
    probe_close(&probe);
}

/* Discarded destinations and the destination among the address registers. */
static void discarded(void)
{
    const uint32_t list[2] = {0x00200010, 0x00400030};
    Probe probe = open_with(list, 2, false);
    probe_say(&probe, "setzi $m3, 8\nldd16a32 $azero, $m1++, $m2, $m3@\n"
                      "ldd16a64 $azeros, $m1++, $m2, $m3@\nldd16b16 $azero, $m1++, $m2, $m3@");
    probe_store(&probe, "$m3");
    probe_store(&probe, "$m1");
    probe_run(&probe);
    CHECK_EQ_INT(probe_word(&probe, 0), 0x30);
    CHECK_EQ_INT(probe_word(&probe, 1), RIG_DATA2 + 6);
    probe_close(&probe);
}

/* Undefined words: data stay undefined; an undefined offset is found at its use, one element later. */
static void undefined(void)
{
    const uint32_t list[1] = {8};
    Probe probe = open_with(list, 1, false);
    probe_say(&probe, "setzi $m2, 0xa0000\nsetzi $m3, 16\nldd16a32 $a0, $m1++, $m2, $m3@");
    probe_store(&probe, "$a0");
    probe_store(&probe, "$m3");
    probe_run(&probe);
    CHECK(probe_is_poison(&probe, 0) && !probe_is_poison(&probe, 1));
    probe_close(&probe);
    probe = open_with(list, 1, false);
    probe_say(&probe, "add $m1, $m1, 4\nsetzi $m3, 16\nldd16a32 $a0, $m1++, $m2, $m3@");
    probe_store(&probe, "$a0");
    probe_store(&probe, "$m3");
    probe_say(&probe, "ldd16a32 $a0, $m1++, $m2, $m3@");
    probe_expect(&probe, "POISON_ADDRESS");
    CHECK(!probe_is_poison(&probe, 0) && probe_is_poison(&probe, 1));
    probe_close(&probe);
}

static void rules(void)
{
    static const struct {
        const char *text, *name;
    } cases[] = {
        /* data and list in one element */
        {"setzi $m3, 0x100\nldd16a32 $a0, $m1++, $m1, $m3@", "CONFLICT"},
        {"setzi $m3, 0x100\nldd16v2a32 $a0, $m1++, $m1, $m3@", "CONFLICT"},
        {"setzi $m3, 0x100\nld64a32 $a0:3, $m1++, $m1, $m3", "CONFLICT"},
        {"setzi $m3, 0x200\nor $m3, $m3, 0x01000000\nsetzi $m4, 2\n"
         "ldb16b16 $a0:1, $m1, $m3++, $m4>>",
         "CONFLICT"},
        {"setzi $m3, 2\nldd16a32 $a0, $m1++, $m2, $m3@", "MISALIGNED"},
        {"setzi $m3, 4\nldd16a64 $a0:1, $m1++, $m2, $m3@", "MISALIGNED"},
        {"setzi $m3, 1\nldd16b16 $a0, $m1++, $m2, $m3@", "MISALIGNED"},
        {"setzi $m3, 4\nadd $m1, $m1, 1\nldd16a32 $a0, $m1++, $m2, $m3@", "MISALIGNED"},
        {"setzi $m3, 4\nadd $m1, $m1, 2\nldd16v2a32 $a0, $m1++, $m2, $m3@", "MISALIGNED"},
        {"setzi $m3, 4\nadd $m1, $m1, 4\nld64a32 $a0:3, $m1++, $m2, $m3", "MISALIGNED"},
        {"setzi $m3, 8\nor $m3, $m3, 0x80000000\nadd $m3, $m3, 1\nsetzi $m4, 2\n"
         "ldb16b16 $a0:1, $m2, $m3++, $m4>>",
         "MISALIGNED"},
        {"setzi $m3, 0\nsetzi $m2, 0x4bffc\nldd16a32 $a0, $m1++, $m2, $m3@", "INVALID_ADDR"},
        {"setzi $m3, 0\nsetzi $m1, 0xe8000\nldd16a32 $a0, $m1++, $m2, $m3@", "INVALID_ADDR"},
        {"setzi $m3, 4\nor $m3, $m3, 0x80000000\nsetzi $m4, 0\nldb16b16 $a0:1, $m2, $m3++, $m4>>",
         "SPARSE_DELTA"},
        {"setzi $m3, 0\nldd16a32 $a0, $m4++, $m2, $m3@", "POISON_ADDRESS"},
        {"setzi $m3, 0\nldd16a64 $a0:1, $m1++, $m4, $m3@", "POISON_ADDRESS"},
        {"ldd16v2a32 $a0, $m1++, $m2, $m4@", "POISON_ADDRESS"},
        {"ld64a32 $a0:3, $m1++, $m2, $m4", "POISON_ADDRESS"},
        {"setzi $m3, 0\nldb16b16 $a0:1, $m2, $m3++, $m4>>", "POISON_ADDRESS"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const uint32_t list[64] = {0};
        Probe probe = open_with(list, 64, false);
        probe_say(&probe, "%s", cases[i].text);
        probe_expect(&probe, cases[i].name);
        probe_close(&probe);
    }
}

TEST_MAIN(single_offsets, halves, paired_offsets, quads, pairs_of_halves, discarded, undefined,
          rules)
