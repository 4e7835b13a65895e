/* Cycle counts that follow by hand from tile-timing.md 2.1 and 3.2 to 3.4. */
#include "tile_rig.h"

/* Cycle at which a supervisor program that starts at cycle 0 reaches its host barrier. */
static Cycles arrival(const char *text)
{
    Rig *rig = rig_create();
    const uint32_t words[64] = {0};
    rig_words(rig, RIG_DATA, words, 64);
    rig_words(rig, RIG_WIDE, words, 64);
    rig_code(rig, RIG_WORKER, false, "nop\nnop\nnop\nnop\nnop\nnop\nnop\nnop\nnop\nexitz $mzero");
    rig_code(rig, RIG_SUPERVISOR, true, text);
    TileStop stop = rig_run(rig);
    if (stop != TILE_STOP_SYNC_HOST) {
        fprintf(stderr, "%s: %s\n%s\n", rig->tile.fault.name ? rig->tile.fault.name : "-",
                rig->tile.fault.detail, text);
    }
    CHECK_EQ_INT(stop, TILE_STOP_SYNC_HOST);
    Cycles cycle = rig->tile.cycle;
    rig_destroy(rig);
    return cycle;
}

static Cycles loop_cycles(const char *body, int passes)
{
    char text[512];
    snprintf(text, sizeof text,
             "setzi $m0, 0x58000\nsetzi $m1, 0x60000\nsetzi $m3, %d\nsetzi $m6, 0x60000\n1:%sbrnz "
             "$m3, 1b\nsync 7\n",
             passes, body);
    return arrival(text);
}

static void supervisor_loops(void)
{
    /* load 0, store of it 8, add 9, add 10, subtract 11, branch 17, next pass 23 */
    const char *copy =
        "ld32 $m2, $m0, $mzero, 0\nst32 $m2, $m1, $mzero, 0\nadd $m0, $m0, 4\nadd $m1, $m1, 4\n"
        "add $m3, $m3, -1\n";
    CHECK_EQ_INT(loop_cycles(copy, 12) - loop_cycles(copy, 2), 10 * 23);
    /* loads 0 and 1, add 8, store through the sum 16, 17, 18, subtract 19, branch 25, next pass 31 */
    const char *indirect =
        "ld32 $m2, $m0, $mzero, 0\nld32 $m4, $m0, $mzero, 1\nadd $m5, $m2, $m6\n"
        "st32 $m4, $m5, $mzero, 0\nadd $m0, $m0, 4\nadd $m1, $m1, 4\nadd $m3, $m3, -1\n";
    CHECK_EQ_INT(loop_cycles(indirect, 8) - loop_cycles(indirect, 3), 5 * 31);
    /* brnzdec: its own register 6 cycles after the last one, and 6 to the target */
    CHECK_EQ_INT(arrival("setzi $m0, 10\n1: brnzdec $m0, 1b\nsync 7\n"), 6 + 10 * 6 + 1);
}

static void supervisor_constants(void)
{
    CHECK_EQ_INT(arrival("sync 7"), 0);
    CHECK_EQ_INT(arrival("setzi $m0, 1\nadd $m1, $m0, 1\nsync 7"), 8 + 1);
    CHECK_EQ_INT(arrival("setzi $m0, 0\nbrnz $m0, 1f\n1: sync 7"), 6 + 1);
    CHECK_EQ_INT(arrival("setzi $m0, 0\nbrz $m0, 1f\n1: sync 7"), 6 + 6);
    CHECK_EQ_INT(arrival("bri 1f\n1: sync 7"), 6);
    CHECK_EQ_INT(arrival("call $m10, 1f\nsync 7\n1: nop\nnop\nnop\nbr $m10"), 6 + 3 + 6);
    CHECK_EQ_INT(arrival("put $INCOMING_MUX, $mzero\nsync 7"), 12);
    CHECK_EQ_INT(arrival("sync 2\nsync 7"), 5);
    /* setzi 0, put 8, sixteen loads from 20 on */
    char text[1024] = "setzi $m0, 0x80000\nput $CCCSLOAD, $m0\n";
    for (int i = 0; i < 32; i += 2) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "ld128putcs %d\n", i);
    }
    strcat(text, "sync 7\n");
    CHECK_EQ_INT(arrival(text), 20 + 16);
}

/* runall at 9; worker 5 starts at 11, worker 0 at 12, ... worker 4 at 16; ten issues: exits 54 later; slots back 7 later:
 * worker 5 at 72, worker 4 at 77. */
static void launches(void)
{
    const char *launch = "setzi $m0, 0x50000\nsetzi $m1, 0x80000\nrunall $m0, $m1, 0\n";
    char text[256];
    snprintf(text, sizeof text, "%ssync 2\nsync 7\n", launch);
    CHECK_EQ_INT(arrival(text), 77 + 5);
    /* an instruction behind runall waits for the first free slot: slot 5 at 77, then sync at 78 */
    snprintf(text, sizeof text, "%snop\nsync 2\nsync 7\n", launch);
    CHECK_EQ_INT(arrival(text), 78 + 5);
    /* one worker: `run` starts worker 0 at 12, exit at 66; the other slots go on: nop at 10 */
    CHECK_EQ_INT(
        arrival("setzi $m0, 0x50000\nsetzi $m1, 0x34000\nrun $m0, $m1, 0\nnop\nsync 2\nsync 7\n"),
        73 + 5);
}

/* Cycles between two counter samples around `middle`, tile-timing.md 3.4. The sampler of worker 0 has seven issues. */
static uint32_t sampled(const char *middle)
{
    Rig *rig = rig_create();
    char text[2048];
    const uint32_t words[16] = {0};
    rig_words(rig, RIG_WIDE, words, 16);
    rig_code(rig, RIG_WORKER, false,
             "exitz $mzero\n nop\n"
             "setzi $m5, 0x90000\n exitz $mzero\n"                                  /* 0x50008 */
             "get $m0, $WSR\n and $m0, $m0, 7\n brnz $m0, 1f\n get $m1, $COUNT_L\n" /* 0x50010 */
             "get $m2, $COUNT_U\n st32step $m1, $mzero, $m5+=, 1\n 1: exitz $mzero\n");
    snprintf(text, sizeof text,
             "setzi $m0, 0x50008\nsetzi $m1, 0x80000\nrunall $m0, $m1, 0\nsync 2\n"
             "call $m10, sample\n%scall $m10, sample\nsync 7\n"
             "sample: setzi $m0, 0x50010\nsetzi $m1, 0x80000\nrunall $m0, $m1, 0\nsync 2\nbr $m10\n"
             "empty: setzi $m2, 0x50000\nsetzi $m3, 0x80000\nrunall $m2, $m3, 0\nsync 2\nbr $m10\n",
             middle);
    rig_code(rig, RIG_SUPERVISOR, true, text);
    TileStop stop = rig_run(rig);
    CHECK_EQ_INT(stop, TILE_STOP_SYNC_HOST);
    uint32_t cycles = rig_word(rig, RIG_RESULT + 4) - rig_word(rig, RIG_RESULT);
    rig_destroy(rig);
    return cycles;
}

/* With e = exit of the first sampler (a multiple of 6): sync e+7, return e+12, call e+18, setzi e+24, runall e+33, worker 0
 * at e+36, 36 cycles to its exit. A kernel between: runall e+33, sync e+47, return e+52, call e+58, runall e+73, e+78. */
static void sampling(void)
{
    CHECK_EQ_INT(sampled(""), 72);
    CHECK_EQ_INT(sampled("call $m10, empty\n"), 114);
    const char *arguments[] = {
        "setzi $m4, 0x80000\n", "setzi $m5, 1\nst32 $m5, $m4, $mzero, 0\n",
        "setzi $m5, 1\nsetzi $m6, 2\nst32 $m5, $m4, $mzero, 0\nst32 $m6, $m4, $mzero, 1\n"};
    char text[512];
    for (int i = 0; i < 3; i++) {
        snprintf(text, sizeof text, "%s%scall $m10, empty\n", arguments[0],
                 i > 0 ? arguments[i] : "");
        uint32_t cycles = sampled(text);
        CHECK(cycles >= 114 && cycles <= 132 && cycles % 6 == 0);
    }
    /* setzi x 6 from e+18, stores e+26 ... e+31, call e+32: 14 cycles later, so 126 */
    CHECK_EQ_INT(
        sampled("setzi $m4, 0x80000\nsetzi $m5, 1\nsetzi $m6, 2\nsetzi $m7, 3\nsetzi $m8, 4\nsetzi "
                "$m9, 5\n"
                "st32 $m5, $m4, $mzero, 0\nst32 $m6, $m4, $mzero, 1\nst32 $m7, $m4, $mzero, 2\n"
                "st32 $m8, $m4, $mzero, 3\nst32 $m9, $m4, $mzero, 4\ncall $m10, empty\n"),
        126);
}

/* Cycles between the two counter reads of a worker program. */
static uint32_t between(const char *text)
{
    Rig *rig = rig_create();
    char program[4096];
    snprintf(program, sizeof program,
             "setzi $m7, 0x90000\nsetzi $a0, 0x3f800\nsetzi $a1, 0\nget $m0, $COUNT_L\n%sget $m1, "
             "$COUNT_L\n"
             "sub $m1, $m1, $m0\nst32 $m1, $m7, $mzero, 0\nexitz $mzero\n",
             text);
    rig_worker_ok(rig, program);
    uint32_t cycles = rig_word(rig, RIG_RESULT);
    rig_destroy(rig);
    return cycles;
}

static void worker_costs(void)
{
    CHECK_EQ_INT(between(""), 6);
    CHECK_EQ_INT(between("ld32 $m2, $m7, $mzero, 0\nst32 $m0, $m7, $mzero, 0\nld32 $m2, $m7, "
                         "$mzero, 0\nadd $m2, $m2, 1\n"),
                 30);
    CHECK_EQ_INT(between("bri 1f\n1: brz $m7, 1f\n1:"), 18);
    CHECK_EQ_INT(between("f32div $a2, $a0, $a0\n"), 6 * 5);
    CHECK_EQ_INT(between("f32oox $a2, $a0\n"), 6 * 3);
    CHECK_EQ_INT(between("f32oorx $a2, $a0\n"), 6 * 4);
    CHECK_EQ_INT(between("f32tanh $a2, $a0\nf32exp $a2, $a0\n"), 6 * (1 + 5 + 2));
    CHECK_EQ_INT(between("f16v2tanh $a2, $a0\nf16v2sigm $a2, $a0\nf16v2exp $a2, $a0\n"),
                 6 * (1 + 1 + 2 + 1));
    /* a loop of 93 instructions with its taken branch: 558 cycles a pass */
    char text[2048] = "setzi $m3, 4\n1: add $m3, $m3, -1\n";
    for (int i = 0; i < 91; i++) {
        strcat(text, "nop\n");
    }
    strcat(text, "brnz $m3, 1b\n");
    CHECK_EQ_INT(between(text), 6 + 6 + 4 * 558);
}

TEST_MAIN(supervisor_loops, supervisor_constants, launches, sampling, worker_costs)
