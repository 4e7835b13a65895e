/* f16v4istacc and f16v4stacc: 4 x 4 blocks of halves transposed in a stream, and the accumulators they touch
 * (isa/semantics.md 9.3, docs/machine.md). */
#include "probe.h"

enum { BLOCKS = 6, N = 4 };

/* Blocks follow each other: istacc P0, P1 take the rows of a block and return columns 2, 3 of the one before; stacc P0, P1 return
 * columns 0, 1. Data are any bits: NaNs and subnormals are moved unchanged and raise nothing. */
static void transpositions(void)
{
    uint64_t seed = test_seed(81), n = 0;
    for (int is_aliased = 0; is_aliased < 2; is_aliased++) {
        uint32_t half[BLOCKS][N][N]; /* block, row, column */
        Probe probe = probe_open();
        uint32_t words[BLOCKS][N][2];
        for (int b = 0; b < BLOCKS; b++) {
            for (int r = 0; r < N; r++) {
                for (int c = 0; c < N; c++) {
                    half[b][r][c] = (uint32_t)random_below(seed, n++, 65536);
                }
                words[b][r][0] = half[b][r][0] | half[b][r][1] << 16;
                words[b][r][1] = half[b][r][2] | half[b][r][3] << 16;
            }
        }
        half[0][0][0] = 0x7c01;
        words[0][0][0] = 0x7c01 | half[0][0][1] << 16;
        rig_words(probe.rig, RIG_DATA, &words[0][0][0], BLOCKS * N * 2);
        probe_uput(&probe, "$FP_CLR", 8);
        int column[BLOCKS + 1][N] = {0}; /* result numbers; block b + 1 of the last two of b */
        for (int b = 0; b <= BLOCKS; b++) {
            for (int p = 0; p < 2; p++) {
                const char *to = is_aliased ? (p ? "$a2:3" : "$a0:1") : "$a4:5";
                if (b < BLOCKS) {
                    probe_say(&probe, "ld64step $a0:1, $mzero, $m0+=, 1");
                    probe_say(&probe, "ld64step $a2:3, $mzero, $m0+=, 1");
                } else {
                    probe_say(&probe, "zero $a0:1\nzero $a2:3");
                }
                probe_say(&probe, "f16v4istacc %s, $a0:1, $a2:3, TISTACC_P%d", to, p);
                column[b][2 + p] = probe_store(&probe, to);
            }
            for (int p = 0; p < 2; p++) {
                probe_say(&probe, "f16v4stacc $a4:5, TSTACC_P%d", p);
                column[b][p] = probe_store(&probe, "$a4:5");
            }
        }
        probe_say(&probe, "uget $a0, $FP_STS");
        int flags = probe_store(&probe, "$a0");
        probe_run(&probe);
        for (int b = 0; b < BLOCKS; b++) {
            for (int c = 0; c < N; c++) {
                int at = column[c < 2 ? b : b + 1][c];
                for (int r = 0; r < N; r++) {
                    CHECK_EQ_INT(probe_half(&probe, at + r / 2, r % 2), half[b][r][c]);
                }
                CHECK(!probe_is_poison(&probe, at) && !probe_is_poison(&probe, at + 1));
            }
        }
        CHECK_EQ_INT(probe_word(&probe, flags), 0);
        probe_close(&probe);
    }
}

/* stacc P0 returns (AC[0], AC[2]) and moves AC[4], AC[6] to AC[1], AC[3], where gina 1 fetches them. */
static void fetched_by_gina(void)
{
    Probe probe = probe_open();
    const uint32_t words[4] = {0x3f800000, 0x40000000, 0x40400000, 0x40800000};
    rig_words(probe.rig, RIG_DATA, words, 4);
    probe_say(&probe, "ld64 $a0:1, $m0, $mzero, 0\nld64 $a2:3, $m0, $mzero, 1");
    probe_uput(&probe, "$FP_CLR", 8);
    probe_say(&probe, "f32v4acc $a0:3\nf16v4stacc $a4:5, TSTACC_P0");
    probe_store(&probe, "$a4:5");
    probe_say(&probe, "f32v2gina $a4:5, $azeros, TGINA_SET0_ODD");
    probe_store(&probe, "$a4:5");
    probe_run(&probe);
    for (int i = 0; i < 4; i++) {
        CHECK_EQ_INT(probe_word(&probe, i), words[i]);
    }
    probe_close(&probe);
}

/* An undefined row makes its halves of all columns undefined, a word at a time. */
static void undefined(void)
{
    Probe probe = probe_open();
    probe_uput(&probe, "$FP_CLR", 8);
    probe_say(&probe, "zero $a4:5\nzero $a0:1\nld64 $a2:3, $m1, $mzero, 0\n"
                      "f16v4istacc $a6:7, $a0:1, $a4:5, TISTACC_P0\n"
                      "f16v4istacc $a6:7, $a0:1, $a2:3, TISTACC_P1");
    for (int i = 0; i < 4; i++) {
        probe_say(&probe, i < 2 ? "f16v4stacc $a6:7, %d" : "f16v4istacc $a6:7, $a0:1, $a4:5, %d",
                  i % 2);
        probe_store(&probe, "$a6:7");
    }
    probe_run(&probe);
    for (int i = 0; i < 4; i++) {
        CHECK(!probe_is_poison(&probe, 2 * i)); /* rows 0, 1 */
        CHECK(probe_is_poison(&probe, 2 * i + 1));
    }
    probe_close(&probe);
}

TEST_MAIN(transpositions, fetched_by_gina, undefined)
