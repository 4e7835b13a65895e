/* Control and status registers of workers and the supervisor: fields, values at launch, what is kept, read-only and write-one-to-act
 * bits (isa/registers.md 1, 4; docs/machine.md). */
#include "probe.h"

/* FP_STS := 0 and FP_CTL := FP_ICTL at every launch, formats and scale likewise; PRNG, WSR and DBG_BRK_ID are kept. */
static void launches(void)
{
    Probe probe = probe_open();
    probe_tell(&probe, "setzi $m2, 7\nor $m2, $m2, 0x00100000\nput $FP_ICTL, $m2\n"
                       "setzi $m2, 2\nput $FP_INFMT, $m2\nsetzi $m2, 0x3d\nput $FP_ISCL, $m2");
    probe_say(&probe, "ld32 $m5, $m1, $mzero, 0\nbrnz $m5, 2f\n"
                      "setzi $m5, 1\nst32 $m5, $m1, $mzero, 0");
    probe_uput(&probe, "$PRNG_SEED", 5);
    probe_uput(&probe, "$FP_CTL", 0);
    probe_uput(&probe, "$FP_NFMT", 1);
    probe_uput(&probe, "$FP_SCL", 9);
    probe_set(&probe, "$a0", 0x7fc00000);
    probe_say(&probe, "f32add $a1, $a0, $a0\nf32oox $a1, $azero\nuget $a4, $FP_STS\n"
                      "st32 $a4, $m1, $mzero, 1\nexitz $mzero\n2:");
    probe_say(&probe, "setzi $m7, 0x90000");
    static const char *const names[] = {"$FP_STS", "$FP_CTL", "$FP_NFMT", "$FP_SCL", "$PRNG_0_0"};
    for (int i = 0; i < 5; i++) {
        probe_say(&probe, "uget $a4, %s", names[i]);
        probe_store(&probe, "$a4");
    }
    const uint32_t zero[2] = {0};
    rig_words(probe.rig, RIG_DATA2, zero, 2);
    CHECK_EQ_INT(probe_launch(&probe, 2), TILE_STOP_SYNC_HOST);
    CHECK_EQ_INT(rig_word(probe.rig, RIG_DATA2 + 4), 3); /* INV, DIV0 */
    CHECK_EQ_INT(probe_word(&probe, 0), 0);
    CHECK_EQ_INT(probe_word(&probe, 1), 0x100007);
    CHECK_EQ_INT(probe_word(&probe, 2) & 3, 2);
    CHECK_EQ_INT(probe_word(&probe, 3) & 63, 0x3d);
    CHECK_EQ_INT(probe_word(&probe, 4), 5);
    probe_close(&probe);
}

/* FP_CLR clears what is written as 1 and nothing else, and reads 0; FP_STS is sticky. */
static void conditions(void)
{
    Probe probe = probe_open();
    probe_set(&probe, "$a0", 0x7f7fffff);
    probe_say(&probe, "f32add $a1, $a0, $a0\nf32oox $a1, $azero\nf32div $a1, $azero, $azero\n"
                      "f32add $a1, $azero, $azero");
    for (int i = 0; i < 5; i++) {
        probe_uput(&probe, "$FP_CLR", i == 0 ? 0 : 1u << (i - 1));
        probe_say(&probe, "uget $a4, $FP_STS");
        probe_store(&probe, "$a4");
    }
    probe_say(&probe, "uget $a4, $FP_CLR");
    probe_store(&probe, "$a4");
    probe_run(&probe);
    static const uint32_t expected[] = {7, 6, 4, 0, 0, 0};
    for (int i = 0; i < 6; i++) {
        CHECK_EQ_INT(probe_word(&probe, i), expected[i]);
    }
    probe_close(&probe);
}

/* ZAACC zeroes all 32 accumulators, undefined ones as well; the flags stay. */
static void cleared_accumulators(void)
{
    for (int is_cleared = 0; is_cleared < 2; is_cleared++) {
        Probe probe = probe_open();
        if (is_cleared) {
            probe_uput(&probe, "$FP_CLR", 8);
        }
        for (int chain = 0; chain < 4; chain++) {
            for (int i = 0; i < 4; i++) {
                probe_say(&probe, "f32v2gina $a4:5, $azeros, %d", chain);
                probe_store(&probe, "$a4:5");
            }
        }
        probe_run(&probe);
        for (int i = 0; i < 32; i++) {
            CHECK_EQ_INT(probe_is_poison(&probe, i), !is_cleared);
            CHECK(!is_cleared || probe_word(&probe, i) == 0);
        }
        probe_close(&probe);
    }
}

/* Values of the upper registers that can be written come back. */
static void upper_registers(void)
{
    static const struct {
        const char *name;
        uint32_t written, read;
    } cases[] = {
        {"$TAS", 0x12345678, 0x12345678},
        {"$PRNG_0_0", 0x9abcdef0, 0x9abcdef0},
        {"$PRNG_0_1", 0x11112222, 0x11112222},
        {"$PRNG_1_0", 0x33334444, 0x33334444},
        {"$PRNG_1_1", 0x55556666, 0x55556666},
        {"$FP_NFMT", 3, 3},
        {"$FP_SCL", 0x21, 0x21},
        {"$FP_CTL", 0x180007, 0x180007},
        {"$FP_CTL", 0, 0},
    };
    Probe probe = probe_open();
    for (int i = 0; i < 9; i++) {
        probe_uput(&probe, cases[i].name, cases[i].written);
        probe_say(&probe, "uget $a4, %s", cases[i].name);
        probe_store(&probe, "$a4");
    }
    probe_run(&probe);
    for (int i = 0; i < 9; i++) {
        CHECK_EQ_INT(probe_word(&probe, i), cases[i].read);
    }
    probe_close(&probe);
}

/* Whole metadata bytes may be written to formats and scale: reserved bits are harmless. */
static void metadata_bytes(void)
{
    Probe probe = probe_open();
    probe_uput(&probe, "$FP_NFMT", 0xffffffff);
    probe_uput(&probe, "$FP_SCL", 0xffffffc2); /* 2 */
    probe_set(&probe, "$a0", 0x56);            /* F143: 7.0 */
    probe_say(&probe, "f8v2tof16 $a4, $a0");
    probe_store(&probe, "$a4");
    probe_run(&probe);
    CHECK_EQ_INT(probe_half(&probe, 0, 0), 0x4f00); /* 28 */
    probe_close(&probe);
}

/* Number of the worker, bases, counters of a repeat; $m12 and $m13 are views. */
static void worker_registers(void)
{
    Rig *rig = rig_create();
    rig_code(rig, RIG_SUPERVISOR, true,
             "setzi $m0, 0x50000\nsetzi $m1, 0x60000\nsetzi $m2, 0x70000\n"
             "put $WORKER0_BASE, $m2\nadd $m2, $m2, 64\nput $WORKER1_BASE, $m2\nadd $m2, $m2, 64\n"
             "put $WORKER2_BASE, $m2\nadd $m2, $m2, 64\nput $WORKER3_BASE, $m2\nadd $m2, $m2, 64\n"
             "put $WORKER4_BASE, $m2\nadd $m2, $m2, 64\nput $WORKER5_BASE, $m2\n"
             "runall $m0, $m1, 5\nsync 2\nsync 7");
    rig_code(
        rig, RIG_WORKER, false,
        "get $m0, $WSR\nshl $m1, $m0, 6\nsetzi $m2, 0x90000\nadd $m7, $m1, $m2\n"
        "st32step $m0, $mzero, $m7+=, 1\nget $m0, $VERTEX_BASE\nst32step $m0, $mzero, $m7+=, 1\n"
        "st32step $m13, $mzero, $m7+=, 1\nget $m0, $WORKER_BASE\n"
        "st32step $m0, $mzero, $m7+=, 1\nst32step $m12, $mzero, $m7+=, 1\n"
        "st32 $m0, $m12, $mzero, 3\n"
        "get $m0, $PC\nst32step $m0, $mzero, $m7+=, 1\nget $m0, $DBG_BRK_ID\n"
        "st32step $m0, $mzero, $m7+=, 1\nput $DBG_DATA, $m1\nget $m0, $DBG_DATA\n"
        "st32step $m0, $mzero, $m7+=, 1\nexitz $mzero");
    CHECK_EQ_INT(rig_run(rig), TILE_STOP_SYNC_HOST);
    for (uint32_t w = 0; w < 6; w++) {
        const uint32_t expected[] = {w,
                                     0x60000 + w * 20,
                                     0x60000 + w * 20,
                                     0x70000 + w * 64,
                                     0x70000 + w * 64,
                                     RIG_WORKER + 4 * 12,
                                     0,
                                     w * 64};
        for (uint32_t i = 0; i < 8; i++) {
            CHECK_EQ_INT(rig_word(rig, RIG_RESULT + 64 * w + 4 * i), expected[i]);
        }
        CHECK_EQ_INT(rig_word(rig, 0x70000 + 64 * w + 12), 0x70000 + 64 * w);
    }
    rig_destroy(rig);
}

/* run: the vertex base is relative to the base of memory; the lowest free worker is taken. */
static void single_launches(void)
{
    Rig *rig = rig_create();
    rig_code(rig, RIG_SUPERVISOR, true,
             "setzi $m0, 0x50000\nsetzi $m1, 0x1000\nrun $m0, $m1, 3\nget $m2, $CTXT_STS\n"
             "run $m0, $m1, 0xffff\nrun $m0, $mzero, 0\nget $m3, $CTXT_STS\nsync 2\n"
             "get $m4, $CTXT_STS\nget $m5, $TILE_ID\nsync 7");
    rig_code(rig, RIG_WORKER, false,
             "get $m0, $WSR\nshl $m1, $m0, 2\nsetzi $m2, 0x90000\nst32 $m13, $m2, $m1, 0\n"
             "nop\nnop\nnop\nnop\nnop\nnop\nnop\nnop\nexitz $mzero");
    CHECK_EQ_INT(rig_run(rig), TILE_STOP_SYNC_HOST);
    CHECK_EQ_INT(rig_word(rig, RIG_RESULT), 0x4c000 + 0x1000 + 12);
    CHECK_EQ_INT(rig_word(rig, RIG_RESULT + 4), 0x4c000 + 0x1000 + 4 * 0xffff);
    CHECK_EQ_INT(rig_word(rig, RIG_RESULT + 8), 0x4c000);
    CHECK_EQ_INT(rig->tile.m[2] & 0x3fff, 1 | 1 << 2); /* two bits a context, 1 = active */
    CHECK_EQ_INT(rig->tile.m[3] & 0x3fff, 1 | 1 << 2 | 1 << 4 | 1 << 6);
    CHECK_EQ_INT(rig->tile.m[4] & 0x3fff, 1);
    CHECK_EQ_INT(rig->tile.m[5], 7);
    rig_destroy(rig);
}

/* Statuses of the exits and SSR.LC: all workers since it was set. */
static void exit_statuses(void)
{
    static const struct {
        const char *name;
        uint32_t value;
        bool status;
    } cases[] = {
        {"exitz", 0, true},           {"exitz", 1, false},           {"exitnz", 0, false},
        {"exitnz", 0x80000000, true}, {"exitneg", 0x80000000, true}, {"exitneg", 0x7fffffff, false},
        {"exitpos", 0, true},         {"exitpos", 5, true},          {"exitpos", 0xffffffff, false},
    };
    for (int i = 0; i < 9; i++) {
        Rig *rig = rig_create();
        rig_code(rig, RIG_SUPERVISOR, true,
                 "setzi $m0, 0x50000\nsetzi $m1, 2\nput $CR, $m1\nrun $m0, $mzero, 0\nsync 2\n"
                 "get $m2, $SSR\nsetzi $m1, 1\nput $CR, $m1\nget $m3, $SSR\nsetzi $m1, 2\n"
                 "put $CR, $m1\nget $m4, $SSR\nsync 7");
        char text[128];
        snprintf(text, sizeof text, "setzi $m0, 0x%x\nor $m0, $m0, 0x%x\n%s $m0",
                 cases[i].value & 0xfffff, cases[i].value & 0xfff00000, cases[i].name);
        rig_code(rig, RIG_WORKER, false, text);
        CHECK_EQ_INT(rig_run(rig), TILE_STOP_SYNC_HOST);
        CHECK_EQ_INT(rig->tile.m[2] & 1, cases[i].status);
        CHECK_EQ_INT(rig->tile.m[3] & 1, 0);
        CHECK_EQ_INT(rig->tile.m[4] & 1, 1);
        rig_destroy(rig);
    }
}

/* Registers of the supervisor that only hold a value. */
static void supervisor_registers(void)
{
    static const struct {
        const char *name;
        uint32_t value;
    } cases[] = {
        {"$FP_ICTL", 0x180003},       {"$FP_INFMT", 3},
        {"$FP_ISCL", 0x3f},           {"$WORKER0_BASE", 0x70000},
        {"$WORKER5_BASE", 0x70040},   {"$CCCSLOAD", 0x80010},
        {"$DBG_DATA", 0xabcdef},      {"$DBG_CTL", 3},
        {"$DBG_IBRK0_PC", 0x4c100},   {"$DBG_IBRK0_VERT", 0x60000},
        {"$DBG_DBRK0_BASE", 0x58000}, {"$DBG_DBRK0_SIDA", 0x58010},
        {"$INCOMING_MUX", 0x640},     {"$INCOMING_MUXPAIR", 0x5a5},
        {"$OUTGOING_BASE", 0},
    };
    enum { COUNT = sizeof cases / sizeof *cases };
    Probe probe = probe_open();
    probe_tell(&probe,
               "get $m3, $INCOMING_MUX\nsetzi $m7, 0xa0000\nst32step $m3, $mzero, $m7+=, 1\n"
               "get $m3, $DBG_BRK_ID\nst32step $m3, $mzero, $m7+=, 1\n"
               "get $m3, $FP_ICTL\nst32step $m3, $mzero, $m7+=, 1");
    for (int i = 0; i < COUNT; i++) {
        probe_tell(&probe,
                   "setzi $m2, 0x%x\nor $m2, $m2, 0x%x\nput %s, $m2\nget $m3, %s\n"
                   "st32step $m3, $mzero, $m7+=, 1",
                   cases[i].value & 0xfffff, cases[i].value & 0xfff00000, cases[i].name,
                   cases[i].name);
    }
    probe_run(&probe);
    CHECK_EQ_INT(rig_word(probe.rig, 0xa0000), 0x640); /* values at reset */
    CHECK_EQ_INT(rig_word(probe.rig, 0xa0004), 0);
    CHECK_EQ_INT(rig_word(probe.rig, 0xa0008), 0);
    for (uint32_t i = 0; i < COUNT; i++) {
        if (rig_word(probe.rig, 0xa000c + 4 * i) != cases[i].value) {
            fprintf(stderr, "%s: 0x%x, expected 0x%x\n", cases[i].name,
                    rig_word(probe.rig, 0xa000c + 4 * i), cases[i].value);
            exit(1);
        }
    }
    probe_close(&probe);
}

/* Behind a repeat: nothing remains; first bundle of the body and the address behind it. */
static void repeat_registers(void)
{
    Probe probe = probe_open();
    probe_say(&probe, "rpt 3, 1\n1: { nop ; fnop }\n{ nop ; fnop }\n"
                      "get $m2, $REPEAT_COUNT\nget $m3, $REPEAT_FIRST\nget $m4, $REPEAT_END\n"
                      "setzi $m5, 1b\nsub $m3, $m3, $m5\nsub $m4, $m4, $m5");
    probe_store(&probe, "$m2");
    probe_store(&probe, "$m3");
    probe_store(&probe, "$m4");
    probe_tell(&probe, "setzi $m5, 2f\n2: get $m6, $PC\nsub $m5, $m6, $m5");
    probe_run(&probe);
    CHECK_EQ_INT(probe_word(&probe, 0), 0);
    CHECK_EQ_INT(probe_word(&probe, 1), 0);
    CHECK_EQ_INT(probe_word(&probe, 2), 16);
    CHECK_EQ_INT(probe.rig->tile.m[5], 0);
    probe_close(&probe);
}

/* What may not be accessed. */
static void refused(void)
{
    static const struct {
        bool is_supervisor;
        const char *text, *name;
    } cases[] = {
        {false, "uput 0, $azero", "CSR_READ_ONLY"},
        {false, "uput 0x7f, $azero", "INVALID_CSR"},
        {false, "uget $a0, 0x0b", "INVALID_CSR"},
        {false, "put 3, $mzero", "CSR_READ_ONLY"},
        {false, "get $m2, 0x50", "INVALID_CSR"},
        {false, "f32int $a0, $azero, 7", "ROUND_MODE"},
        {true, "get $m2, 0xfe", "INVALID_CSR"},
        {true, "put $SSR, $mzero", "CSR_READ_ONLY"},
        {true, "put $CTXT_STS, $mzero", "CSR_READ_ONLY"},
        {true, "setzi $m2, 32\nput $DBG_ECSR, $m2", "CSR_UNKNOWN"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Probe probe = probe_open();
        (cases[i].is_supervisor ? probe_tell : probe_say)(&probe, "%s", cases[i].text);
        probe_expect(&probe, cases[i].name);
        probe_close(&probe);
    }
}

/* What is assumed where nothing is documented. */
static void assumptions(void)
{
    Probe probe = probe_assume();
    probe_tell(&probe, "setzi $m2, 7\nput $DBG_IBRK0_CTL, $m2\nadd $m3, $m12, 1\nadd $m4, $m13, 2\n"
                       "add $m5, $m14, 3\nget $m6, $SCOUNT_L\nget $m7, $SCOUNT_L");
    probe_say(&probe, "add $m2, $m14, 5");
    probe_store(&probe, "$m2");
    probe_say(&probe, "or $a4, $a9, 6");
    probe_store(&probe, "$a4");
    probe_set(&probe, "$m2", 0xabc00003); /* low 16 bits */
    probe_say(&probe, "setzi $m3, 0\n.align 8\n{ rpt $m2, 0 ; fnop }\n{ add $m3, $m3, 1 ; fnop }");
    probe_store(&probe, "$m3");
    probe_run(&probe);
    CHECK_EQ_INT(probe_word(&probe, 0), 5);
    CHECK_EQ_INT(probe_word(&probe, 1), 6);
    CHECK_EQ_INT(probe_word(&probe, 2), 3);
    CHECK_EQ_INT(probe.rig->tile.m[3], 1);
    CHECK_EQ_INT(probe.rig->tile.m[4], 2);
    CHECK_EQ_INT(probe.rig->tile.m[5], 3);
    CHECK_EQ_INT(probe.rig->tile.m[7], probe.rig->tile.m[6] + 1); /* independent: one a cycle */
    CHECK(probe.rig->tile.assumed != 0);
    probe_close(&probe);
}

TEST_MAIN(launches, conditions, cleared_accumulators, upper_registers, metadata_bytes,
          worker_registers, single_launches, exit_statuses, supervisor_registers, repeat_registers,
          refused, assumptions)
