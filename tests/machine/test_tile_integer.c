/* Main lane: integer instructions, permutations, branches, repeats, bundles; expected values by hand from isa/semantics.md 2, 3. */
#include "tile_rig.h"

#define COISSUED 0x80000000u

typedef struct Case {
    const char *text; /* $m0 and $m1 hold a and b; the result is $m2 */
    uint32_t a, b, expected;
} Case;

static const Case cases[] = {
    {"add $m2, $m0, $m1", 0xffffffff, 2, 1},
    {"add $m2, $m0, -1", 0, 0, 0xffffffff},
    {"add $m2, $m0, 65535", 1, 0, 0x10000},
    {"sub $m2, $m0, $m1", 5, 7, 0xfffffffe},
    {"sub $m2, 10, $m0", 3, 0, 7},
    {"sub $m2, -1, $m0", 3, 0, 0xfffffffc},
    {"mul $m2, $m0, $m1", 0x10001, 0x10003, 0x40003},
    {"mul $m2, $m0, -3", 5, 0, 0xfffffff1},
    {"and $m2, $m0, $m1", 0xff00ff00, 0x0ff00ff0, 0x0f000f00},
    {"and $m2, $m0, 0xff", 0x12345678, 0, 0x78},
    {"andc $m2, $m0, $m1", 0xff00ff00, 0x0ff00ff0, 0xf000f000},
    {"or $m2, $m0, 0x80000000", 1, 0, 0x80000001},
    {"xor $m2, $m0, $m1", 0xf0f0f0f0, 0xffff0000, 0x0f0ff0f0},
    {"xnor $m2, $m0, $m1", 0xf0f0f0f0, 0xffff0000, 0xf0f00f0f},
    {"shl $m2, $m0, 31", 3, 0, 0x80000000},
    {"shr $m2, $m0, $m1", 0x80000000, 31, 1},
    {"shrs $m2, $m0, 4", 0x80000000, 0, 0xf8000000},
    {"cmpeq $m2, $m0, -5", 0xfffffffb, 0, 1},
    {"cmpeq $m2, $m0, $m1", 4, 5, 0},
    {"cmpne $m2, $m0, $m1", 4, 5, 1},
    {"cmpslt $m2, $m0, $m1", 0xffffffff, 0, 1},
    {"cmpult $m2, $m0, $m1", 0xffffffff, 0, 0},
    {"cmpult $m2, $m0, 40000", 39999, 0, 1},
    {"max $m2, $m0, $m1", 0xffffffff, 1, 1},
    {"min $m2, $m0, $m1", 0xffffffff, 1, 0xffffffff},
    {"min $m2, $m0, -7", 3, 0, 0xfffffff9},
    {"abs $m2, $m0", 0xfffffffe, 0, 2},
    {"abs $m2, $m0", 0x80000000, 0, 0x80000000},
    {"clz $m2, $m0", 0, 0, 32},
    {"clz $m2, $m0", 0x00010000, 0, 15},
    {"cms $m2, $m0", 0, 0, 31},
    {"cms $m2, $m0", 0xffffffff, 0, 31},
    {"cms $m2, $m0", 0x80000000, 0, 0},
    {"cms $m2, $m0", 0xe0000000, 0, 2},
    {"popc $m2, $m0", 0xf00f0001, 0, 9},
    {"bitrev8 $m2, $m0", 0x01020480, 0, 0x80402001},
    {"setzi $m2, 0xfffff", 0, 0, 0xfffff},
    /* bytes a0..a3 = 1..4, b0..b3 = 5..8 */
    {"roll16 $m2, $m0, $m1", 0x04030201, 0x08070605, 0x06050403},
    {"roll8r $m2, $m0, $m1", 0x04030201, 0x08070605, 0x05040302},
    {"roll8l $m2, $m0, $m1", 0x04030201, 0x08070605, 0x03020108},
    {"sort4x16lo $m2, $m0, $m1", 0x04030201, 0x08070605, 0x06050201},
    {"sort4x16hi $m2, $m0, $m1", 0x04030201, 0x08070605, 0x08070403},
    {"sort8 $m2, $m0", 0x04030201, 0, 0x04020301},
    {"sort8x8lo $m2, $m0, $m1", 0x04030201, 0x08070605, 0x07050301},
    {"sort8x8hi $m2, $m0, $m1", 0x04030201, 0x08070605, 0x08060402},
    {"shuf8x8lo $m2, $m0, $m1", 0x04030201, 0x08070605, 0x06020501},
    {"shuf8x8hi $m2, $m0, $m1", 0x04030201, 0x08070605, 0x08040703},
    {"swap8 $m2, $m0", 0x04030201, 0, 0x03040102},
    /* movz moves when the third register is not zero */
    {"setzi $m2, 9\nmovz $m2, $m0, $m1", 4, 0, 9},
    {"setzi $m2, 9\nmovz $m2, $m0, $m1", 4, 2, 4},
    /* brnzdec: falls through with 0 unchanged, otherwise decrements and branches */
    {"setzi $m2, 0\n1: add $m2, $m2, 1\nbrnzdec $m0, 1b", 3, 0, 4},
    {"mov $m2, $m0\nbrnzdec $m2, 1f\nsetzi $m2, 77\n1:", 0, 0, 77},
    {"mov $m2, $m0\nbrnzdec $m2, 1f\nsetzi $m2, 77\n1:", 5, 0, 4},
    {"setzi $m2, 1\nbrneg $m0, 1f\nsetzi $m2, 2\n1:", 0x80000000, 0, 1},
    {"setzi $m2, 1\nbrpos $m0, 1f\nsetzi $m2, 2\n1:", 0, 0, 1},
    {"setzi $m2, 1\nbrz $m0, 1f\nsetzi $m2, 2\n1:", 1, 0, 2},
    {"setzi $m2, 1\nbrnz $m0, 1f\nsetzi $m2, 2\n1:", 0x80000000, 0, 1},
    {"call $m3, 1f\nsetzi $m2, 5\nbri 2f\n1: setzi $m2, 4\nbr $m3\n2:", 0, 0, 5},
};

static void integers(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Rig *rig = rig_create();
        char text[512];
        snprintf(text, sizeof text,
                 "setzi $m0, 0x%x\nor $m0, $m0, 0x%x\nsetzi $m1, 0x%x\nor $m1, $m1, 0x%x\n%s\n"
                 "setzi $m7, 0x90000\nst32 $m2, $m7, $mzero, 0\nexitz $mzero\n",
                 cases[i].a & 0xfffff, cases[i].a & 0xfff00000, cases[i].b & 0xfffff,
                 cases[i].b & 0xfff00000, cases[i].text);
        rig_worker_ok(rig, text);
        if (rig_word(rig, RIG_RESULT) != cases[i].expected) {
            fprintf(stderr, "case %zu (%s): 0x%x, expected 0x%x\n", i, cases[i].text,
                    rig_word(rig, RIG_RESULT), cases[i].expected);
            exit(1);
        }
        CHECK(!rig_is_poison(rig, RIG_RESULT));
        rig_destroy(rig);
    }
}

/* Both halves of a bundle read the registers from before it. */
static void bundles(void)
{
    Rig *rig = rig_create();
    const uint32_t words[] = {0x40000000, 0x40400000, 0x3f800000,
                              0x3f800000}; /* 2.0, 3.0, 1.0, 1.0 */
    rig_words(rig, RIG_DATA, words, 4);
    rig_worker_ok(
        rig, "setzi $m0, 0x58000\n setzi $m1, 0x90000\n"
             "ld64 $a0:1, $m0, $mzero, 0\n"
             ".align 8\n"
             "{ st64 $a0:1, $m1, $mzero, 0 ; f32v2add $a0:1, $a0:1, $a0:1 }\n" /* stores 2, 3 */
             "{ ld64 $a2:3, $m0, $mzero, 1 ; f32v2add $a4:5, $a0:1, $a0:1 }\n" /* 8, 12 */
             "{ ld64 $a0:1, $m0, $mzero, 1 ; f32v2add $a6:7, $a0:1, $a2:3 }\n" /* 5, 7: old a0:1 */
             "{ bri 1f ; f32v2add $a4:5, $a4:5, $a2:3 }\n" /* aux half runs: 9, 13 */
             "trap 0\n"
             "1: st64 $a4:5, $m1, $mzero, 1\n st64 $a6:7, $m1, $mzero, 2\n"
             "exitz $mzero\n");
    const float expected[] = {2, 3, 9, 13, 5, 7};
    for (uint32_t i = 0; i < 6; i++) {
        CHECK_NEAR((double)f32_of_bits(rig_word(rig, RIG_RESULT + 4 * i)), (double)expected[i],
                   0.0);
    }
    rig_destroy(rig);
}

/* Words that the assembler refuses. */
static void expect_words(const uint32_t *words, int count, const char *name)
{
    Rig *rig = rig_create();
    rig_code(rig, RIG_SUPERVISOR, true, RIG_LAUNCH);
    rig_words(rig, RIG_WORKER, words, count);
    CHECK_EQ_INT(rig_run(rig), TILE_STOP_FAULT);
    CHECK_CSTR(rig->tile.fault.name, name);
    CHECK_EQ_INT(rig->tile.fault.category, FAULT_ILLEGAL);
    rig_destroy(rig);
}

/* rpt: count 0 jumps over the body, an instruction bundled with it runs once, the body costs one issue a bundle. */
static void repeats(void)
{
    static const struct {
        uint32_t count, expected;
    } table[] = {{0, 100}, {1, 101}, {7, 107}, {4095, 4195}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        Rig *rig = rig_create();
        char text[512];
        snprintf(text, sizeof text,
                 "setzi $m0, %u\n setzi $m2, 100\n setzi $a0, 5\n setzi $a1, 6\n setzi $m7, "
                 "0x90000\n get $m5, $COUNT_L\n .align 8\n"
                 "{ rpt $m0, 1 ; setzi $a0, 9 }\n"
                 "{ add $m2, $m2, 1 ; fnop }\n"
                 "{ nop ; setzi $a1, 8 }\n"
                 "get $m6, $COUNT_L\n sub $m6, $m6, $m5\n"
                 "st32 $m2, $m7, $mzero, 0\n st32 $a0, $m7, $mzero, 1\n st32 $a1, $m7, $mzero, 2\n"
                 "st32 $m6, $m7, $mzero, 3\nexitz $mzero\n",
                 table[i].count);
        rig_worker_ok(rig, text);
        CHECK_EQ_INT(rig_word(rig, RIG_RESULT), table[i].expected);
        CHECK_EQ_INT(rig_word(rig, RIG_RESULT + 4), 9);
        CHECK_EQ_INT(rig_word(rig, RIG_RESULT + 8), table[i].count ? 8 : 6);
        /* from get to get: (rpt, body) issues; an alignment filler may stand before rpt */
        uint32_t cycles = rig_word(rig, RIG_RESULT + 12);
        CHECK(cycles == 6 * (2 + 2 * table[i].count) || cycles == 6 * (3 + 2 * table[i].count));
        rig_destroy(rig);
    }
    const uint32_t rpt = COISSUED | isa_word(INSN_rpt_mmmn_zi_zi, 3, 0, 0, 0);
    const uint32_t fnop = COISSUED | isa_word(INSN_setzi_aaan_zi, 13, 0, 0, 0);
    const uint32_t nop = isa_word(INSN_setzi_mmmn_zi, 14, 0, 0, 0);
    const uint32_t leave = isa_word(INSN_exitz_mmmn, 15, 0, 0, 0);
    const uint32_t control[] = {rpt, fnop, COISSUED | isa_word(INSN_bri_mmmn_zi, 0x50010, 0, 0, 0),
                                fnop, leave};
    const uint32_t system[] = {rpt, fnop, COISSUED | nop,
                               COISSUED | isa_word(INSN_uget_aaan_zi, 0, 0, 0, 0), leave};
    const uint32_t solo[] = {rpt, fnop, nop, nop, leave};
    const uint32_t odd[] = {COISSUED ^ rpt, nop, nop, nop, leave};
    const uint32_t half[] = {COISSUED | nop, fnop & ~COISSUED, leave};
    const uint32_t swapped[] = {fnop, COISSUED | nop, leave};
    const uint32_t second[] = {isa_word(INSN_bri_mmmn_zi, 0x5000c, 0, 0, 0), nop, COISSUED | nop,
                               fnop, leave};
    /* the bundle runs first, then a branch to its second word */
    const uint32_t entered[] = {COISSUED | nop, fnop, isa_word(INSN_bri_mmmn_zi, 0x50004, 0, 0, 0),
                                leave};
    const uint32_t equal[] = {COISSUED | isa_word(INSN_ld32_mman_zi, 3, 15, 15, 0),
                              COISSUED | isa_word(INSN_setzi_aaan_zi, 3, 1, 0, 0), leave};
    expect_words(control, 5, "REPEAT_BODY");
    expect_words(system, 5, "REPEAT_BODY");
    expect_words(solo, 5, "REPEAT_BODY");
    expect_words(odd, 5, "REPEAT_ALIGNMENT");
    expect_words(half, 3, "ILLEGAL_BUNDLE");
    expect_words(swapped, 3, "ILLEGAL_WORD");
    expect_words(second, 5, "MISALIGNED_BUNDLE");
    expect_words(entered, 4, "MISALIGNED_BUNDLE");
    expect_words(equal, 3, "EQUAL_DESTINATIONS");
    rig_expect(
        false,
        "setzi $m0, 0xfffff\n .align 8\n{ rpt $m0, 0 ; fnop }\n{ nop ; fnop }\nexitz $mzero\n",
        "REPEAT_COUNT", FAULT_UNKNOWN);
}

/* Stored code is executed as stored, whether the page was shared or not. Each worker sees the word as the one before left it. */
static void patched_code(void)
{
    for (int is_pooled = 0; is_pooled < 2; is_pooled++) {
        Rig *rig = rig_create();
        if (!is_pooled) {
            code_pool_destroy(rig->shared.pool);
            rig->shared.pool = NULL;
        }
        uint32_t patch = isa_word(INSN_setzi_mmmn_zi, 2, 22, 0, 0);
        rig_words(rig, RIG_DATA, &patch, 1);
        rig_worker_ok(rig, "setzi $m0, 0x58000\n setzi $m7, 0x90000\n ld32 $m1, $m0, $mzero, 0\n"
                           "setzi $m4, 2\n get $m3, $WSR\n shl $m3, $m3, 3\n add $m7, $m7, $m3\n"
                           "1: setzi $m5, 2f\n"
                           "2: setzi $m2, 11\n"
                           "st32step $m2, $mzero, $m7+=, 1\n"
                           "st32 $m1, $m5, $mzero, 0\n"
                           "add $m4, $m4, -1\n brnz $m4, 1b\n"
                           "3: exitz $mzero\n");
        CHECK_EQ_INT(rig_word(rig, RIG_RESULT), 11);
        for (uint32_t i = 1; i < 12; i++) {
            CHECK_EQ_INT(rig_word(rig, RIG_RESULT + 4 * i), 22);
        }
        rig_destroy(rig);
    }
}

/* A store from inside a repeat body into the body: the next pass runs the new word. */
static void patched_repeat(void)
{
    Rig *rig = rig_create();
    uint32_t patch = COISSUED | isa_word(INSN_add_mmmn_zi, 2, 2, 100, 0);
    rig_words(rig, RIG_DATA, &patch, 1);
    rig_worker_ok(
        rig, "setzi $m0, 0x58000\n setzi $m7, 0x90000\n ld32 $m1, $m0, $mzero, 0\n setzi $m2, 0\n"
             "setzi $m5, 2f\n get $m3, $WSR\n brnz $m3, 3f\n .align 8\n nop\n"
             "rpt 3, 1\n"
             "2: { add $m2, $m2, 1 ; fnop }\n"
             "{ st32 $m1, $m5, $mzero, 0 ; fnop }\n"
             "st32 $m2, $m7, $mzero, 0\n"
             "3: exitz $mzero\n");
    CHECK_EQ_INT(rig_word(rig, RIG_RESULT), 201);
    rig_destroy(rig);
}

/* Tiles with equal code share decoded pages; what one of them writes stays its own. */
static void shared_pages(void)
{
    Rig *a = rig_create(), *b = rig_create();
    struct CodePool *own = b->shared.pool;
    b->shared.pool = a->shared.pool;
    const char *text = "setzi $m7, 0x90000\nsetzi $m2, 5\nst32 $m2, $m7, $mzero, 0\nexitz $mzero\n";
    rig_worker_ok(a, text);
    rig_worker_ok(b, text);
    CHECK_EQ_INT(rig_word(b, RIG_RESULT), 5);
    uint32_t patch = isa_word(INSN_setzi_mmmn_zi, 2, 6, 0, 0);
    rig_words(b, RIG_WORKER + 4, &patch, 1);
    tile_reset(&a->tile, RIG_SUPERVISOR);
    tile_reset(&b->tile, RIG_SUPERVISOR);
    CHECK_EQ_INT(rig_run(a), TILE_STOP_SYNC_HOST);
    CHECK_EQ_INT(rig_run(b), TILE_STOP_SYNC_HOST);
    CHECK_EQ_INT(rig_word(a, RIG_RESULT), 5);
    CHECK_EQ_INT(rig_word(b, RIG_RESULT), 6);
    b->shared.pool = own;
    rig_destroy(b);
    rig_destroy(a);
}

TEST_MAIN(integers, bundles, repeats, patched_code, patched_repeat, shared_pages)
