/* Branches, calls, repeats and bundles: conditions, links, what the other half of a bundle sees and does (isa/semantics.md 1.2, 3, 3.1).
 */
#include "probe.h"

static const uint32_t values[] = {0, 1, 0x7fffffff, 0x80000000, 0xffffffff};

static bool is_taken(int kind, uint32_t v)
{
    switch (kind) {
    case 0:
        return v == 0;
    case 1:
        return v != 0;
    case 2:
        return v >> 31 == 1;
    case 3:
        return v >> 31 == 0;
    default:
        return v != 0;
    }
}

static const char *const branches[] = {"brz", "brnz", "brneg", "brpos", "brnzdec"};

/* Forward and backward, alone and in a bundle, whose other half runs whether the branch is taken or not. */
static void conditions(void)
{
    for (int kind = 0; kind < 5; kind++) {
        for (int i = 0; i < 5; i++) {
            uint32_t v = values[i], left = kind == 4 && v != 0 ? v - 1 : v;
            for (int is_bundle = 0; is_bundle < 2; is_bundle++) {
                Probe probe = probe_open();
                probe_set(&probe, "$m2", v);
                probe_say(&probe, "setzi $m3, 0\nsetzi $a0, 5\nbri 2f\n"
                                  "1: setzi $m3, 2\nbri 3f\n2:\n.align 8");
                if (is_bundle) {
                    probe_say(&probe, "{ %s $m2, 1b ; setzi $a0, 6 }", branches[kind]);
                } else {
                    probe_say(&probe, "%s $m2, 1b", branches[kind]);
                }
                probe_say(&probe, "setzi $m3, 1\n3:");
                probe_store(&probe, "$m3");
                probe_store(&probe, "$m2");
                probe_store(&probe, "$a0");
                probe_run(&probe);
                CHECK_EQ_INT(probe_word(&probe, 0), is_taken(kind, v) ? 2 : 1);
                CHECK_EQ_INT(probe_word(&probe, 1), left);
                CHECK_EQ_INT(probe_word(&probe, 2), is_bundle ? 6 : 5);
                probe_close(&probe);
            }
            Probe probe = probe_open(); /* supervisor */
            probe_tell(&probe,
                       "setzi $m2, 0x%x\nor $m2, $m2, 0x%x\n%s $m2, 1f\nsetzi $m3, 1\n"
                       "bri 2f\n1: setzi $m3, 2\n2:",
                       v & 0xfffff, v & 0xfff00000, branches[kind]);
            probe_run(&probe);
            CHECK_EQ_INT(probe.rig->tile.m[3], is_taken(kind, v) ? 2 : 1);
            CHECK_EQ_INT(probe.rig->tile.m[2], left);
            probe_close(&probe);
        }
    }
}

/* The link is the next instruction, or the next bundle; bit 19 of the target does not count; br uses the old value of its register. */
static void calls(void)
{
    Probe probe = probe_open();
    uint32_t target = RIG_WORKER + 0x400;
    uint32_t far = isa_word(INSN_call_mmmn_zi, 4, target, 0, 0) | 1u << 19;
    probe_say(&probe,
              "setzi $a0, 1\n.align 8\n{ call $m2, 1f ; setzi $a0, 2 }\n"
              "2: setzi $m3, 7\nbri 3f\ntrap 0\n1: br $m2\n3:\nsetzi $m5, 2b\nsub $m5, $m2, $m5");
    probe_store(&probe, "$m3");
    probe_store(&probe, "$m5");
    probe_store(&probe, "$a0");
    probe_say(&probe, "call $m6, 4f\n5: bri 6f\n4: br $m6\n6: setzi $m5, 5b\nsub $m5, $m6, $m5");
    probe_store(&probe, "$m5");
    probe_say(&probe, ".long 0x%08x", far);
    probe_store(&probe, "$m8");
    const uint32_t subroutine[] = {isa_word(INSN_setzi_mmmn_zi, 8, 99, 0, 0),
                                   isa_word(INSN_br_mmmn, 4, 0, 0, 0)};
    rig_words(probe.rig, target, subroutine, 2);
    probe_run(&probe);
    static const uint32_t expected[] = {7, 0, 2, 0, 99};
    for (int i = 0; i < 5; i++) {
        CHECK_EQ_INT(probe_word(&probe, i), expected[i]);
    }
    probe_close(&probe);
}

/* Both halves of a bundle see what was before it. Registers: $a0:1 = 10, 11, $a2:3 = 20, 21, $m2 = 30; data 1, 2, 3, 4. */
typedef struct Bundle {
    const char *text;
    uint32_t expected[6]; /* $a0:1, $a2:3, $m2, RIG_RESULT + 64 */
} Bundle;

static const Bundle bundles[] = {
    {"{ ld64 $a0:1, $m0, $mzero, 0 ; or $a2, $a0, $azero }", {1, 2, 10, 21, 30, 0}},
    {"{ ld64step $a0:1, $mzero, $m0+=, 1 ; and64 $a2:3, $a0:1, $a0:1 }", {1, 2, 10, 11, 30, 0}},
    {"{ st32 $a0, $m7, $mzero, 16 ; setzi $a0, 77 }", {77, 11, 20, 21, 30, 10}},
    {"{ st64 $a0:1, $m7, $mzero, 8 ; or64 $a0:1, $a2:3, $azeros }", {20, 21, 20, 21, 30, 10}},
    {"{ atom $m2, $a1 ; setzi $a0, 77 }", {77, 11, 20, 21, 11, 0}},
    {"{ atom $m2, $a1 ; roll32 $a2:3, $a0:1, $a2:3 }", {10, 11, 11, 20, 11, 0}},
    {"{ add $m2, $m2, 1 ; sort4x32lo $a2:3, $a2:3, $a0:1 }", {10, 11, 20, 10, 31, 0}},
    {"{ ldst64pace $a0:1, $a0:1, $m4:5+=, $mzero, 0 ; or $a2, $a1, $azero }",
     {1, 2, 11, 21, 30, 10}},
    {"{ ldst64pace $a0:1, $a2:3, $m4:5+=, $mzero, 0 ; or64 $a2:3, $a0:1, $azeros }",
     {1, 2, 10, 11, 30, 20}},
    {"{ ld32 $m2, $m0, $mzero, 3 ; setzi $a1, 5 }", {10, 5, 20, 21, 4, 0}},
    {"{ ld32 $azero, $m0, $mzero, 3 ; mov $azero, $a0 }", {10, 11, 20, 21, 30, 0}},
    {"{ nop ; fnop }", {10, 11, 20, 21, 30, 0}},
};

static void old_values(void)
{
    for (size_t i = 0; i < sizeof bundles / sizeof *bundles; i++) {
        Probe probe = probe_open();
        const uint32_t data[4] = {1, 2, 3, 4}, zero[2] = {0};
        rig_words(probe.rig, RIG_DATA, data, 4);
        rig_words(probe.rig, RIG_RESULT + 64, zero, 2);
        probe_say(&probe,
                  "setzi $a0, 10\nsetzi $a1, 11\nsetzi $a2, 20\nsetzi $a3, 21\n"
                  "setzi $m2, 30\nadd $m3, $m7, 64\ntapack $m4:5, $m0, $m1, $m3\n"
                  ".align 8\n%s",
                  bundles[i].text);
        probe_store(&probe, "$a0:1");
        probe_store(&probe, "$a2:3");
        probe_store(&probe, "$m2");
        probe_run(&probe);
        for (int k = 0; k < 6; k++) {
            uint32_t seen = k < 5 ? probe_word(&probe, k) : rig_word(probe.rig, RIG_RESULT + 64);
            if (seen != bundles[i].expected[k]) {
                fprintf(stderr, "%s: value %d is %u, expected %u\n", bundles[i].text, k, seen,
                        bundles[i].expected[k]);
                exit(1);
            }
        }
        probe_close(&probe);
    }
}

/* Repeats: register and immediate counts, the longest body, a branch over the body at 0, counters, one repeat behind another. */
static void repeats(void)
{
    static const uint32_t counts[] = {0, 1, 2, 100, 4095, 4096, 0xffff};
    for (int i = 0; i < 7; i++) {
        for (int is_register = counts[i] > 4095; is_register < 2; is_register++) {
            Probe probe = probe_open();
            probe_say(&probe, "setzi $m2, %u\nsetzi $m3, 0\nsetzi $m4, 0", counts[i]);
            if (is_register) {
                probe_say(&probe, ".align 8\nnop\nrpt $m2, 1");
            } else {
                probe_say(&probe, ".align 8\nnop\nrpt %u, 1", counts[i]);
            }
            probe_say(&probe, "{ add $m3, $m3, 1 ; fnop }\n{ add $m4, $m4, $m3 ; fnop }");
            probe_store(&probe, "$m3");
            probe_store(&probe, "$m4");
            probe_run(&probe);
            CHECK_EQ_INT(probe_word(&probe, 0), counts[i]);
            CHECK_EQ_INT(probe_word(&probe, 1),
                         (uint32_t)((uint64_t)counts[i] * (counts[i] + 1) / 2));
            probe_close(&probe);
        }
    }
    Probe probe = probe_open();
    probe_say(&probe, "setzi $m3, 0\n.align 8\nnop\nrpt 3, 255");
    for (int i = 0; i < 256; i++) {
        probe_say(&probe, "{ add $m3, $m3, %d ; fnop }", i);
    }
    probe_say(&probe, ".align 8\nnop\nrpt 5, 0\n{ add $m3, $m3, 1000 ; fnop }");
    probe_store(&probe, "$m3");
    probe_run(&probe);
    CHECK_EQ_INT(probe_word(&probe, 0), 3 * (255 * 256 / 2) + 5000);
    probe_close(&probe);
    /* loads, stores and post-increments inside */
    probe = probe_open();
    uint32_t data[64];
    for (uint32_t i = 0; i < 64; i++) {
        data[i] = bits_of_f32((float)i);
    }
    rig_words(probe.rig, RIG_DATA, data, 64);
    probe_say(&probe, "ld64step $a0:1, $mzero, $m0+=, 1\n.align 8\nnop\nrpt 31, 0\n"
                      "{ ld64step $a0:1, $mzero, $m0+=, 1 ; f32v2add $a2:3, $a0:1, $a0:1 }\n"
                      "f32v2add $a4:5, $a0:1, $a0:1");
    probe_store(&probe, "$a2:3");
    probe_store(&probe, "$a4:5");
    probe_run(&probe);
    for (int i = 0; i < 4; i++) {
        CHECK_EQ_INT(probe_word(&probe, i), bits_of_f32((float)(2 * (60 + i))));
    }
    probe_close(&probe);
}

/* A repeat in which a fault happens; control and system instructions are refused in its body. */
static void repeat_faults(void)
{
    static const struct {
        const char *text, *name;
    } cases[] = {
        {"setzi $m3, 2\n.align 8\nnop\nrpt 3, 0\n{ ld32 $m2, $m3, $mzero, 0 ; fnop }",
         "INVALID_ADDR"},
        {"setzi $m2, 0\nor $m2, $m2, 0x00100000\n.align 8\n{ rpt $m2, 0 ; fnop }\n{ nop ; fnop }",
         "REPEAT_COUNT"},
        {"trap 1", "TRAP"},
        {"bri 0x80000", "INVALID_PC"},
        {"bri 0x4bffc", "INVALID_PC"},
    };
    for (int i = 0; i < 5; i++) {
        Probe probe = probe_open();
        probe_say(&probe, "%s", cases[i].text);
        probe_expect(&probe, cases[i].name);
        probe_close(&probe);
    }
}

/* tapack and every pace form: strides of both signs out of the three fields, pointers modulo 2^21, discarded destinations. */
static void paces(void)
{
    uint64_t seed = test_seed(131), n = 0;
    static uint32_t data[4096];
    for (uint32_t i = 0; i < 4096; i++) {
        data[i] = 0x10000 + i;
    }
    static const char *const texts[] = {
        "ld2x64pace $a0:1, $a2:3, $m2:3+=, $m4, %d",   "ld64a32pace $a0:1, $a2, $m2:3+=, $m4, %d",
        "ld64b16pace $a0:1, $a2, $m2:3+=, $m4, %d",    "ldst64pace $a0:1, $a6:7, $m2:3+=, $m4, %d",
        "ld2xst64pace $a0:3, $a6:7, $m2:3+=, $m4, %d", "st64pace $a6:7, $m2:3+=, $m4, %d"};
    for (int form = 0; form < 6; form++) {
        for (int round = 0; round < 40; round++) {
            Probe probe = probe_open();
            rig_words(probe.rig, RIG_DATA, data, 4096);
            rig_words(probe.rig, RIG_DATA2, data, 4096);
            uint32_t address[3] = {RIG_DATA, RIG_DATA2, 0xa0000};
            for (int p = 0; p < 3; p++) {
                address[p] += 8 * (uint32_t)random_below(seed, n++, 2048);
            }
            uint32_t strides = (uint32_t)random_u64(seed, n++);
            int code = (int)random_below(seed, n++, form == 4 ? 64 : form == 5 ? 4 : 16);
            probe_say(&probe,
                      "setzi $m4, 0x%x\nsetzi $m5, 0x%x\nsetzi $m6, 0x%x\n"
                      "tapack $m2:3, $m4, $m5, $m6\nsetzi $a6, 66\nsetzi $a7, 77\n"
                      "zero $a0:1\nzero $a2:3",
                      address[0], address[1], address[2]);
            probe_set(&probe, "$m4", strides);
            probe_say(&probe, texts[form], code);
            probe_store(&probe, "$a0:1");
            probe_store(&probe, "$a2:3");
            probe_store(&probe, "$m2");
            probe_store(&probe, "$m3");
            probe_run(&probe);
            uint32_t item[2] = {data[(address[0] - RIG_DATA) / 4],
                                data[(address[1] - RIG_DATA2) / 4]};
            bool has_first = form != 5, has_second = form < 3 || form == 4, has_store = form >= 3;
            CHECK_EQ_INT(probe_word(&probe, 0), has_first ? item[0] : 0);
            CHECK_EQ_INT(probe_word(&probe, 1), has_first ? item[0] + 1 : 0);
            CHECK_EQ_INT(probe_word(&probe, 2), !has_second ? 0
                                                : form == 2 ? (item[1] & 0xffff) * 0x10001
                                                            : item[1]);
            CHECK_EQ_INT(probe_word(&probe, 3), form == 0 || form == 4 ? item[1] + 1 : 0);
            if (has_store) {
                CHECK_EQ_INT(rig_word(probe.rig, address[2]), 66);
                CHECK_EQ_INT(rig_word(probe.rig, address[2] + 4), 77);
            } else {
                CHECK(rig_is_poison(probe.rig, address[2]));
            }
            /* codes from the low bits: the pointers used, in order */
            const bool is_used[3] = {has_first, has_second, has_store};
            for (int p = 0, shift = 0; p < 3; p++) {
                if (!is_used[p]) {
                    continue;
                }
                int choice = code >> shift & 3;
                shift += 2;
                int32_t field = choice == 0 ? 1 : (int32_t)(strides >> (10 * (choice - 1)) & 1023);
                field = choice != 0 && field >= 512 ? field - 1024 : field;
                address[p] = (address[p] + (uint32_t)(field * 8)) & 0x1fffff;
            }
            CHECK_EQ_INT(probe_word(&probe, 4), address[0] | (address[2] & 0x7ff) << 21);
            CHECK_EQ_INT(probe_word(&probe, 5) & 0x7fffffff, address[1] | (address[2] >> 11 & 0x3ff)
                                                                              << 21);
            probe_close(&probe);
        }
    }
}

/* Each access of a pace instruction keeps the rules. */
static void pace_faults(void)
{
    static const struct {
        uint32_t address[3];
        const char *text, *name;
    } cases[] = {
        {{RIG_DATA + 4, RIG_DATA2, 0xa0000}, "ld2x64pace $a0:1, $a2:3", "MISALIGNED"},
        {{RIG_DATA, RIG_DATA2 + 4, 0xa0000}, "ld2x64pace $a0:1, $a2:3", "MISALIGNED"},
        {{RIG_DATA, RIG_DATA2 + 2, 0xa0000}, "ld64a32pace $a0:1, $a2", "MISALIGNED"},
        {{RIG_DATA, RIG_DATA2 + 1, 0xa0000}, "ld64b16pace $a0:1, $a2", "MISALIGNED"},
        {{RIG_DATA, RIG_DATA2, 0xa0004}, "ldst64pace $a0:1, $a2:3", "MISALIGNED"},
        {{RIG_DATA, RIG_DATA2, 0xa0004}, "ld2xst64pace $a0:3, $a4:5", "MISALIGNED"},
        {{RIG_DATA, RIG_DATA2, 0xa0004}, "st64pace $a0:1", "MISALIGNED"},
        {{0xe8000, RIG_DATA2, 0xa0000}, "ldst64pace $a0:1, $a2:3", "INVALID_ADDR"},
        {{RIG_DATA, 0x1ffff8, 0xa0000}, "ld2xst64pace $a0:3, $a4:5", "INVALID_ADDR"},
        {{RIG_DATA, RIG_DATA2, 0x4bff8}, "st64pace $a0:1", "INVALID_ADDR"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Probe probe = probe_open();
        probe_say(&probe,
                  "setzi $m4, 0x%x\nsetzi $m5, 0x%x\nsetzi $m6, 0x%x\nsetzi $a0, 0\n"
                  "tapack $m2:3, $m4, $m5, $m6",
                  cases[i].address[0], cases[i].address[1] & 0xfffff, cases[i].address[2]);
        if (cases[i].address[1] > 0xfffff) {
            probe_say(&probe, "or $m5, $m5, 0x00100000\ntapack $m2:3, $m4, $m5, $m6");
        }
        probe_say(&probe, "%s, $m2:3+=, $mzero, 0", cases[i].text);
        probe_expect(&probe, cases[i].name);
        probe_close(&probe);
    }
}

TEST_MAIN(conditions, calls, old_values, repeats, repeat_faults, paces, pace_faults)
