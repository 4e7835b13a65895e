/* How fast this host executes worker bundles and AMP bundles, in millions a second. */
#include "../tests/machine/tile_rig.h"
#include <time.h>

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void measure(const char *name, const char *supervisor, const char *worker, int runs)
{
    Rig *rig = rig_create();
    uint32_t words[4096];
    for (uint32_t i = 0; i < 4096; i++) {
        words[i] = 0x2c003000u + (i * 0x00410083u & 0x037f037f);
    }
    rig_words(rig, RIG_DATA, words, 4096);
    rig_words(rig, RIG_DATA2, words, 4096);
    rig_words(rig, RIG_WIDE, words, 4096);
    rig_code(rig, RIG_SUPERVISOR, true, supervisor);
    rig_code(rig, RIG_WORKER, false, worker);
    double start = seconds();
    for (int i = 0; i < runs; i++) {
        rig->tile.pc = RIG_SUPERVISOR;
        rig->tile.cycle = 0;
        memset(rig->tile.slot_free, 0, sizeof rig->tile.slot_free);
        if (rig_run(rig) != TILE_STOP_SYNC_HOST) {
            fprintf(stderr, "%s: %s\n", rig->tile.fault.name ? rig->tile.fault.name : "limit",
                    rig->tile.fault.detail);
            exit(1);
        }
    }
    double took = seconds() - start;
    printf("%-24s %6.1f M/s\n", name, (double)rig->tile.instructions / took * 1e-6);
    rig_destroy(rig);
}

static void speeds(void)
{
    const char *weights = "setzi $m0, 0x80000\nput $CCCSLOAD, $m0\n";
    char text[4096];
    snprintf(text, sizeof text, "%s", weights);
    for (int i = 0; i < 64; i += 2) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "ld128putcs %d\n", i);
    }
    strcat(text, RIG_LAUNCH);
    measure("integer", RIG_LAUNCH,
            "setzi $m0, 0\nsetzi $m2, 1000\n1: add $m0, $m0, 3\nxor $m1, $m0, $m2\nshl $m3, $m1, "
            "2\nbrnzdec $m2, 1b\nexitz $mzero\n",
            1000);
    measure("load, add, store", RIG_LAUNCH,
            "setzi $m0, 0x58000\nsetzi $m1, 0x60000\nsetzi $m2, 0x90000\n"
            "ld64step $a0:1, $mzero, $m0+=, 1\nld64step $a2:3, $mzero, $m1+=, 1\n.align "
            "8\nnop\nrpt 1000, 2\n"
            "{ ld64step $a0:1, $mzero, $m0+=, 1 ; f16v4add $a4:5, $a0:1, $a2:3 }\n"
            "{ ld64step $a2:3, $mzero, $m1+=, 1 ; f16v4mul $a6:7, $a0:1, $a2:3 }\n"
            "{ st64step $a4:5, $mzero, $m2+=, 1 ; fnop }\n"
            "exitz $mzero\n",
            2000);
    measure("f16v4hihov4amp", text,
            "setzi $m0, 0x58000\nsetzi $m1, 0x84000\nsetzi $m2, 0x90008\ntapack $m4:5, $m0, $m1, "
            "$m2\nsetzi $a0, 8\nuput $FP_CLR, $a0\n"
            "setzi $a0, 7\nuput $FP_CTL, $a0\nzero $a0:1\nzero $a2:3\nzero $a4:5\nzero "
            "$a6:7\nsetzi $m6, 0\n.align 8\nnop\nrpt 400, 3\n"
            "{ ldst64pace $a0:1, $a4:5, $m4:5+=, $m6, 0 ; f16v4hihov4amp $a4:5, $a0:1, $a2:3, "
            "TAMP_F16V4_E4_P0 }\n"
            "{ ldst64pace $a0:1, $a4:5, $m4:5+=, $m6, 0 ; f16v4hihov4amp $a4:5, $a0:1, $a2:3, "
            "TAMP_F16V4_E4_P1 }\n"
            "{ ldst64pace $a0:1, $a4:5, $m4:5+=, $m6, 0 ; f16v4hihov4amp $a4:5, $a0:1, $a2:3, "
            "TAMP_F16V4_E4_P2 }\n"
            "{ ldst64pace $a0:1, $a4:5, $m4:5+=, $m6, 0 ; f16v4hihov4amp $a4:5, $a0:1, $a2:3, "
            "TAMP_F16V4_E4_P3 }\n"
            "exitz $mzero\n",
            2000);
    measure("f8v8hihov4amp", text,
            "setzi $m0, 0x58000\nsetzi $m1, 0x84000\nsetzi $m2, 0x90008\ntapack $m4:5, $m0, $m1, "
            "$m2\nsetzi $a0, 8\nuput $FP_CLR, $a0\n"
            "setzi $a0, 7\nuput $FP_CTL, $a0\nsetzi $a0, 56\nuput $FP_SCL, $a0\nsetzi $a0, 3\nuput "
            "$FP_NFMT, $a0\nzero $a0:1\nzero "
            "$a2:3\nzero $a4:5\nzero $a6:7\nsetzi $m6, 0\n.align 8\nnop\nrpt 400, 3\n"
            "{ ldst64pace $a0:1, $a4:5, $m4:5+=, $m6, 0 ; f8v8hihov4amp $a4:5, $a0:1, $a2:3, "
            "TAMP_F8V8_E4_P0 }\n"
            "{ ldst64pace $a0:1, $a4:5, $m4:5+=, $m6, 0 ; f8v8hihov4amp $a4:5, $a0:1, $a2:3, "
            "TAMP_F8V8_E4_P1 }\n"
            "{ ldst64pace $a0:1, $a4:5, $m4:5+=, $m6, 0 ; f8v8hihov4amp $a4:5, $a0:1, $a2:3, "
            "TAMP_F8V8_E4_P2 }\n"
            "{ ldst64pace $a0:1, $a4:5, $m4:5+=, $m6, 0 ; f8v8hihov4amp $a4:5, $a0:1, $a2:3, "
            "TAMP_F8V8_E4_P3 }\n"
            "exitz $mzero\n",
            2000);
    measure("f16v2exp", RIG_LAUNCH,
            "setzi $m0, 0x58000\nzero $a0:1\n.align 8\nnop\nrpt 2000, 1\n"
            "{ ld32step $a0, $mzero, $m0+=, 1 ; f16v2exp $a2, $a0 }\n{ nop ; f16v2tanh $a3, $a2 "
            "}\nexitz $mzero\n",
            2000);
    measure("f32v4sqacc", RIG_LAUNCH,
            "setzi $m0, 0x80000\nzero $a0:1\nzero $a2:3\nsetzi $a4, 8\nuput $FP_CLR, $a4\n.align "
            "8\nnop\nrpt 2000, 1\n"
            "{ ld64 $a0:1, $m0, $mzero, 1 ; f32v4sqacc $a0:3 }\n{ nop ; f16v8acc $a0:3 }\nexitz "
            "$mzero\n",
            2000);
}

TEST_MAIN(speeds)
