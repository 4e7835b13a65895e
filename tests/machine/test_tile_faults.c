/* Every rule of tile-timing.md 5.2, 5.3, 7 and decisions.md A6, A10, A11 that one tile checks: the named fault, where and why. */
#include "tile_rig.h"

typedef struct Case {
    bool is_supervisor;
    const char *name;
    FaultCategory category;
    const char *text;
} Case;

enum { WORKER = 0, SUPERVISOR = 1 };

#define DATA "setzi $m0, 0x58000\nsetzi $m1, 0x60000\nsetzi $m2, 0x80000\n"
#define EXIT "\nexitz $mzero\n"
#define LAUNCH "setzi $m0, 0x50000\nsetzi $m1, 0x80000\n"

static const Case cases[] = {
    {WORKER, "INVALID_ADDR", FAULT_ILLEGAL, "setzi $m0, 0xe8000\nld32 $m1, $m0, $mzero, 0" EXIT},
    {WORKER, "INVALID_ADDR", FAULT_ILLEGAL, "setzi $m0, 0x4bffc\nld32 $m1, $m0, $mzero, 0" EXIT},
    {WORKER, "INVALID_ADDR", FAULT_ILLEGAL, "ld64step $azeros, $mzero, $mzero+=, 1" EXIT},
    {WORKER, "MISALIGNED", FAULT_ILLEGAL, "setzi $m0, 0x58002\nld32 $m1, $m0, $mzero, 0" EXIT},
    {WORKER, "MISALIGNED", FAULT_ILLEGAL, "setzi $m0, 0x58004\nld64 $a0:1, $m0, $mzero, 0" EXIT},
    {WORKER, "MISALIGNED", FAULT_ILLEGAL, "setzi $m0, 0x80008\nld128 $a0:3, $m0, $mzero, 0" EXIT},
    {WORKER, "MISALIGNED", FAULT_ILLEGAL, "setzi $m0, 0x58001\nldz16 $m1, $m0, $mzero, 0" EXIT},
    {WORKER, "MISALIGNED", FAULT_ILLEGAL, "setzi $m0, 0x58002\nst32 $m1, $m0, $mzero, 0" EXIT},
    {WORKER, "INVALID_REGION", FAULT_ILLEGAL,
     "setzi $m0, 0x58000\nld128 $a0:3, $m0, $mzero, 0" EXIT},
    {WORKER, "CONFLICT", FAULT_ILLEGAL,
     DATA "setzi $m1, 0x58100\ntapack $m4:5, $m0, $m1, $m2\nld2x64pace $a0:1, $a2:3, $m4:5+=, "
          "$mzero, 0" EXIT},
    {WORKER, "CONFLICT", FAULT_ILLEGAL,
     DATA "tapack $m4:5, $m2, $m1, $m2\nldst64pace $a0:1, $a2:3, $m4:5+=, $mzero, 0" EXIT},
    {WORKER, "CONFLICT", FAULT_ILLEGAL,
     DATA "setzi $m3, 0x80010\ntapack $m4:5, $m2, $m1, $m3\nldst64pace $a0:1, $a2:3, $m4:5+=, "
          "$mzero, 0" EXIT},
    {WORKER, "CONFLICT", FAULT_ILLEGAL,
     DATA "setzi $m3, 0x60100\ntapack $m4:5, $m0, $m1, $m3\nld2xst64pace $a0:3, $a4:5, $m4:5+=, "
          "$mzero, 0" EXIT},
    {WORKER, "EQUAL_DESTINATIONS", FAULT_ILLEGAL,
     DATA ".allow_invalid_operands\ntapack $m4:5, $m0, $m1, $m2\nld2x64pace $a0:1, $a0:1, $m4:5+=, "
          "$mzero, 0" EXIT},
    {WORKER, "EQUAL_DESTINATIONS", FAULT_ILLEGAL,
     DATA ".allow_invalid_operands\ntapack $m4:5, $m0, $m1, $m2\nld2x64pace $azeros, $azeros, "
          "$m4:5+=, $mzero, 0" EXIT},
    {WORKER, "ILLEGAL_WORD", FAULT_ILLEGAL, ".long 0"},
    {WORKER, "ILLEGAL_WORD", FAULT_ILLEGAL, ".long 0x41800002" /* sync 2 */},
    {WORKER, "INVALID_PC", FAULT_ILLEGAL, "setzi $m0, 0x80000\nbr $m0"},
    {WORKER, "INVALID_PC", FAULT_ILLEGAL, "setzi $m0, 0x50002\nbr $m0"},
    {WORKER, "REGISTER_READ_ONLY", FAULT_ILLEGAL, ".long 0x19c00000" /* setzi $m12, 0 */},
    {WORKER, "REGISTER_UNKNOWN", FAULT_UNKNOWN, "add $m0, $m14, 1" EXIT},
    {WORKER, "INVALID_CSR", FAULT_ILLEGAL, "get $m0, 0x20" EXIT},
    {WORKER, "INVALID_CSR", FAULT_ILLEGAL, "put 0xff, $mzero" EXIT},
    {WORKER, "INVALID_CSR", FAULT_ILLEGAL, "uget $a0, 0x70" EXIT},
    {WORKER, "CSR_READ_ONLY", FAULT_ILLEGAL, "put 1, $mzero" EXIT},
    {WORKER, "TRAP", FAULT_ILLEGAL, "trap 0"},
    {WORKER, "SHIFT_AMOUNT", FAULT_UNKNOWN, "setzi $m0, 32\nshl $m1, $m0, $m0" EXIT},
    {WORKER, "ROUNDING_MODE", FAULT_UNKNOWN, "setzi $a0, 0x10000\nuput $FP_CTL, $a0" EXIT},
    {WORKER, "ROUND_MODE", FAULT_UNKNOWN, "setzi $a0, 0x50000\nuput $FP_CTL, $a0" EXIT},
    {WORKER, "GAUSSIAN", FAULT_UNKNOWN, "f16v2grand $a0" EXIT},
    {WORKER, "NUMBER_CLASS", FAULT_UNKNOWN, "zero $a2\nf8v4class $a0, $a2" EXIT},
    {WORKER, "SLIC_FLAG", FAULT_UNKNOWN, "f16v4sisoslic $a0:1, $azeros, $azeros, 4" EXIT},
    {WORKER, "SLIC_F32", FAULT_UNKNOWN, "f32sisoslic $a0:1, $azero, $azeros, 0" EXIT},
    {WORKER, "AOP_FLAG", FAULT_UNKNOWN, "f32v2aop $azeros, $azeros, 1" EXIT},
    {WORKER, "STACC_FLAG", FAULT_UNKNOWN, "f16v4stacc $a0:1, 2" EXIT},
    {WORKER, "STACC_FLAG", FAULT_UNKNOWN, "f16v4istacc $a0:1, $azeros, $azeros, 2" EXIT},
    {WORKER, "EQUAL_DESTINATIONS", FAULT_ILLEGAL, "ldd16a32 $a0, $m1++, $m2, $m1@" EXIT},
    {WORKER, "AMP_PHASE", FAULT_UNKNOWN, "f16v4sisoamp $a0:1, $azeros, $azeros, 0x3f" EXIT},
    {WORKER, "GINA_FLAG", FAULT_UNKNOWN, "f32v2gina $a0:1, $azeros, 4" EXIT},
    {WORKER, "FP_EXCEPTION", FAULT_ILLEGAL,
     "setzi $a0, 1\nuput $FP_CTL, $a0\nsetzi $a1, 0\nor $a1, $a1, 0xbf800000\nf32sqrt $a0, "
     "$a1" EXIT},
    {WORKER, "FP_EXCEPTION", FAULT_ILLEGAL,
     "setzi $a0, 2\nuput $FP_CTL, $a0\nf32oox $a0, $azero" EXIT},
    {WORKER, "FP_EXCEPTION", FAULT_ILLEGAL,
     "setzi $a0, 4\nuput $FP_CTL, $a0\nsetzi $a1, 0x7bff\nf16v2add $a0, $a1, $a1" EXIT},
    /* undefined values, used */
    {WORKER, "POISON_ADDRESS", FAULT_POISON, "ld32 $m1, $m0, $mzero, 0" EXIT},
    {WORKER, "POISON_ADDRESS", FAULT_POISON, "setzi $m1, 0x58000\nst32 $mzero, $m1, $m0, 0" EXIT},
    {WORKER, "POISON_ADDRESS", FAULT_POISON,
     "setzi $m1, 0x58000\nld32step $m2, $mzero, $m1+=, $m0" EXIT},
    {WORKER, "POISON_ADDRESS", FAULT_POISON,
     "tapack $m4:5, $m0, $m1, $m2\nst64pace $azeros, $m4:5+=, $mzero, 0" EXIT},
    {WORKER, "POISON_BRANCH", FAULT_POISON, "brnz $m0, 1f\n1:" EXIT},
    {WORKER, "POISON_BRANCH", FAULT_POISON, "brnzdec $m0, 1f\n1:" EXIT},
    {WORKER, "POISON_BRANCH", FAULT_POISON, "br $m3"},
    {WORKER, "POISON_BRANCH", FAULT_POISON, "exitz $m0"},
    {WORKER, "POISON_BRANCH", FAULT_POISON, ".align 8\n{ rpt $m0, 0 ; fnop }\n{ nop ; fnop }" EXIT},
    {WORKER, "POISON_CSR", FAULT_POISON, "uput $FP_CTL, $a0" EXIT},
    {WORKER, "POISON_CSR", FAULT_POISON, "put $DBG_DATA, $m0" EXIT},
    {WORKER, "POISON_CODE", FAULT_POISON, "bri 0x50400"},
    /* stores into the element of the supervisor's code */
    {WORKER, "CODE_ELEMENT", FAULT_ILLEGAL, "setzi $m0, 0x4f000\nst32 $mzero, $m0, $mzero, 0" EXIT},
    {SUPERVISOR, "CODE_ELEMENT", FAULT_ILLEGAL, "setzi $m0, 0x4f000\nst32 $mzero, $m0, $mzero, 0"},
    /* supervisor */
    {SUPERVISOR, "POISON_LAUNCH", FAULT_POISON, "setzi $m0, 0x50000\nrunall $m0, $m1, 0"},
    {SUPERVISOR, "POISON_CSR", FAULT_POISON, "put $INCOMING_MUX, $m0"},
    {SUPERVISOR, "POISON_BRANCH", FAULT_POISON, "brz $m0, 1f\n1: sync 7"},
    {SUPERVISOR, "REGISTER_UNKNOWN", FAULT_UNKNOWN, "add $m0, $m12, 1"},
    {SUPERVISOR, "WORKERS_ACTIVE", FAULT_ILLEGAL, LAUNCH "runall $m0, $m1, 0\nrunall $m0, $m1, 0"},
    {SUPERVISOR, "WORKERS_ACTIVE", FAULT_ILLEGAL, LAUNCH "runall $m0, $m1, 0\nsync 3"},
    {SUPERVISOR, "WORKERS_ACTIVE", FAULT_ILLEGAL,
     LAUNCH "put $CCCSLOAD, $m1\nrunall $m0, $m1, 0\nld64putcs 0"},
    {SUPERVISOR, "WORKERS_ACTIVE", FAULT_ILLEGAL,
     LAUNCH "runall $m0, $m1, 0\nput $WORKER5_BASE, $m1"},
    {SUPERVISOR, "LAUNCH_ADDRESS", FAULT_ILLEGAL,
     "setzi $m0, 0x80000\nsetzi $m1, 0x80000\nrunall $m0, $m1, 0"},
    {SUPERVISOR, "LAUNCH_ADDRESS", FAULT_ILLEGAL,
     "setzi $m0, 0x50000\nsetzi $m1, 0x80002\nrunall $m0, $m1, 0"},
    {SUPERVISOR, "EXCHANGE_OUTSIDE_ROW", FAULT_ILLEGAL, "delay 3"},
    {SUPERVISOR, "EXCHANGE_OUTSIDE_ROW", FAULT_ILLEGAL, "send 1, 6, 3"},
    {SUPERVISOR, "SUPERVISOR_COUNTER", FAULT_UNKNOWN, "get $m0, $SCOUNT_L"},
    {SUPERVISOR, "SANS", FAULT_UNKNOWN, "sans 1"},
    {SUPERVISOR, "ANS_WITHOUT_SANS", FAULT_ILLEGAL, "sync 1"},
    {SUPERVISOR, "SYNC_WHILE_ANSWERED", FAULT_ILLEGAL, "sans 0\nsans 0"},
    {SUPERVISOR, "SYNC_WHILE_ANSWERED", FAULT_ILLEGAL, "sans 0\nsync 3"},
    {SUPERVISOR, "SYNC_ZONE", FAULT_UNKNOWN, "sync 0"},
    {SUPERVISOR, "SYNC_ZONE", FAULT_UNKNOWN, "sync 15"},
    {SUPERVISOR, "INVALID_CSR", FAULT_ILLEGAL, "put 0xff, $mzero"},
    {SUPERVISOR, "CSR_READ_ONLY", FAULT_ILLEGAL, "put $TILE_ID, $mzero"},
    {SUPERVISOR, "CSR_UNKNOWN", FAULT_UNKNOWN, "setzi $m0, 1\nput $DBG_IBRK0_CTL, $m0"},
    {SUPERVISOR, "CSR_UNKNOWN", FAULT_UNKNOWN, "put $EXCHANGE_ADJ, $mzero"},
    {SUPERVISOR, "CSR_UNKNOWN", FAULT_UNKNOWN, "get $m0, $CR"},
    {SUPERVISOR, "INVALID_CCCS", FAULT_ILLEGAL, LAUNCH "put $CCCSLOAD, $m1\nld128putcs 1"},
    {SUPERVISOR, "INVALID_REGION", FAULT_ILLEGAL, LAUNCH "put $CCCSLOAD, $m0\nld128putcs 0"},
    {SUPERVISOR, "INVALID_PC", FAULT_ILLEGAL, "setzi $m0, 0x80000\nbr $m0"},
    {SUPERVISOR, "TRAP", FAULT_ILLEGAL, "trap 1"},
};

static void faults(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rig_expect(cases[i].is_supervisor, cases[i].text, cases[i].name, cases[i].category);
    }
}

/* Context, address, cycle and detail of a fault; the first one wins. */
static void report(void)
{
    Rig *rig = rig_create();
    CHECK_EQ_INT(rig_worker(rig, "get $m0, $WSR\nadd $m0, $m0, -3\nbrnz $m0, 1f\nsetzi $m1, "
                                 "0x58002\nld32 $m2, $m1, $mzero, 0\n"
                                 "1: exitz $mzero\n"),
                 TILE_STOP_FAULT);
    const Fault *fault = &rig->tile.fault;
    CHECK_EQ_INT(fault->context, 3);
    CHECK_EQ_INT(fault->tile.id, 7);
    CHECK_EQ_INT(fault->pc, RIG_WORKER + 16);
    /* runall at 9, worker 3 starts at 15, fifth issue */
    CHECK_EQ_INT(fault->cycle, 15 + 24);
    CHECK(test_contains_(fault->detail, "0x58002"));
    CHECK_EQ_INT(tile_run(&rig->tile, &rig->shared, 0), TILE_STOP_FAULT);
    rig_destroy(rig);
}

/* Barriers, limits and exit status. */
static void stops(void)
{
    Rig *rig = rig_create();
    rig_code(rig, RIG_SUPERVISOR, true,
             "sync 3\nsans 0\nsync 1\nsans 0\nsync 1\nsync 7\n1: bri 1b\n");
    CHECK_EQ_INT(rig_run(rig), TILE_STOP_SYNC_INTERNAL);
    CHECK_EQ_INT(rig->tile.pc, RIG_SUPERVISOR + 4);
    rig->tile.cycle = 500; /* released */
    CHECK_EQ_INT(rig_run(rig), TILE_STOP_SYNC_ANS);
    CHECK_EQ_INT(rig->tile.cycle, 501);
    CHECK(rig->tile.sans_pending);
    CHECK_EQ_INT(rig_run(rig), TILE_STOP_SYNC_ANS);
    CHECK_EQ_INT(rig_run(rig), TILE_STOP_SYNC_HOST);
    CHECK_EQ_INT(rig_run(rig), TILE_STOP_LIMIT);
    rig_destroy(rig);

    rig = rig_create();
    CHECK_EQ_INT(rig_worker(rig, "1: bri 1b\n"), TILE_STOP_LIMIT);
    rig_destroy(rig);

    /* LC: one worker leaves with status false */
    rig = rig_create();
    rig_code(rig, RIG_WORKER, false, "get $m0, $WSR\nexitz $m0\nnop\nnop\nexitz $mzero\n");
    rig_code(rig, RIG_SUPERVISOR, true,
             "setzi $m0, 0x50000\nsetzi $m1, 0x80000\nsetzi $m2, 2\nsetzi $m3, 0x50010\nput $CR, "
             "$m2\nrunall $m3, $m1, 0\nsync 2\n"
             "get $m4, $SSR\nrunall $m0, $m1, 0\nsync 2\nget $m5, $SSR\nsync 7\n");
    CHECK_EQ_INT(rig_run(rig), TILE_STOP_SYNC_HOST);
    CHECK_EQ_INT(rig->tile.m[4] & 1, 1);
    CHECK_EQ_INT(rig->tile.m[5] & 1, 0);
    rig_destroy(rig);
}

/* One line an issue: cycle, context, address, text. */
static void trace(void)
{
    Rig *rig = rig_create();
    rig->shared.trace = tmpfile();
    CHECK(rig->shared.trace != NULL);
    rig->shared.trace_tile = 7;
    rig_worker_ok(rig, ".align 8\n{ nop ; fnop }\nexitz $mzero\n");
    char text[4096] = {0};
    rewind(rig->shared.trace);
    CHECK(fread(text, 1, sizeof text - 1, rig->shared.trace) > 0);
    fclose(rig->shared.trace);
    CHECK(test_contains_(text, "0 s 0x4c000 setzi $m0, 0x50000\n"));
    CHECK(test_contains_(text, "9 s 0x4c008 runall $m0, $m1, 0\n12 0 0x50000 { nop ; fnop }\n"
                               "18 0 0x50008 exitz $mzero\n13 1 0x50000"));
    rig_destroy(rig);
}

TEST_MAIN(faults, report, stops, trace)
