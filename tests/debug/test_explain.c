/* Where the cycles went: the sums for many kernels, and one table by hand (tile-timing.md 3.2). */
#include "base/file.h"
#include "base/random.h"
#include "debug/debug.h"
#include "test.h"

enum { TABLE = 0x54000, LIMIT = 1000000 };

typedef struct Case {
    const char *path, *words, *fill[4];
} Case;

/* Argument tables as each kernel's first lines say; operands in different elements, results in region 1 where asked for. */
static const Case cases[] = {
    {"kernels/barrier.s", "0x54000,0", {NULL}},
    {"kernels/add_f16.s",
     "0x54000,0x58000,0x5c000,0x60000,37",
     {"0x58000,296,random:1", "0x5c000,296,random:2"}},
    {"kernels/copy64.s", "0x54000,0x58000,0x60000,5,13,40,48", {"0x58000,520,random:1"}},
    {"kernels/copy64.s", "0x54000,0x58000,0x60000,100,2,800,800", {"0x58000,1600,random:1"}},
    {"kernels/fill64.s", "0x54000,0x60000,7,3,56", {NULL}},
    {"kernels/gelu_f16.s", "0x54000,0x58000,0x60000,25", {"0x58000,200,random:3"}},
    {"kernels/bias_f16.s",
     "0x54000,0x58000,0x5c000,9,2",
     {"0x58000,576,random:3", "0x5c000,64,random:4"}},
    {"kernels/reduce_f16.s", "0x54000,0x58000,0x60000,3,16", {"0x58000,384,random:3"}},
    {"kernels/transpose_f16.s", "0x54000,0x58000,0x60000,3", {"0x58000,1536,random:3"}},
    {"kernels/gemm_f16.s",
     "0x54000,0x58000,0x80000,0x90000,23,3,2",
     {"0x58000,2208,random:3", "0x80000,3072,random:4", "0x90000,1472,zero"}},
    {"kernels/gemm_f16.s",
     "0x54000,0x58000,0x60000,0x90000,5,1,1",
     {"0x58000,160,random:3", "0x60000,512,random:4"}},
    {"kernels/softmax_f16.s",
     "0x54000,0x58000,0x60000,0x64000,8,2,30,f32:0.5",
     {"0x58000,512,random:3"}},
    {"kernels/normalise_f16.s",
     "0x54000,0x58000,0x5c000,7,2",
     {"0x58000,448,random:3", "0x5c000,28,pattern:40000000"}},
    {"tests/machine/amp_panel.s",
     "0x54000,0x58000,0x80000,0x90000,27,3,2",
     {"0x58000,2592,random:3", "0x80000,3072,random:4", "0x90000,1792,zero"}},
};

typedef struct Run {
    Arena keep, scratch;
    Target target;
    Workbench *bench;
    TileView before;
    Record record;
    Explanation explanation;
} Run;

static void prepare(const Case *c, Run *run)
{
    Error err = {0};
    *run = (Run){.keep = arena_create((isize)1 << 32), .scratch = arena_create((isize)1 << 32)};
    const TargetOptions options = {.paths = &c->path, .path_count = 1, .base = SRAM_IMAGE_BASE};
    CHECK_OK(target_build(&options, &run->keep, run->scratch, &run->target, &err), err);
    AreaVec areas = {0};
    CHECK_OK(area_parse(AREA_WORDS, str_of(c->words), &run->target, &run->keep,
                        vec_push(&areas, &run->keep), &err),
             err);
    for (int i = 0; i < 4 && c->fill[i]; i++) {
        CHECK_OK(area_parse(AREA_FILL, str_of(c->fill[i]), &run->target, &run->keep,
                            vec_push(&areas, &run->keep), &err),
                 err);
    }
    run->bench = workbench_create(NULL);
    CHECK_OK(areas_write(&areas, &run->target, run->bench, &err), err);
    CHECK_OK(register_set(S("$m0=0x54000"), &run->target, false, run->bench, &err), err);
    run->before = view_of(run->bench, &run->keep);
}

static void execute(Run *run, bool is_recorded)
{
    record_run(run->bench, &run->target, LIMIT, is_recorded, &run->keep, run->scratch,
               &run->record);
    if (run->record.stop != WORKBENCH_STOP_END) {
        Writer out = writer_file(2, &run->keep);
        fault_print(&out, workbench_fault(run->bench), NULL);
        writer_flush(&out);
    }
    CHECK_EQ_INT(run->record.stop, WORKBENCH_STOP_END);
}

static void run_case(const Case *c, Run *run)
{
    prepare(c, run);
    execute(run, true);
    run->explanation = explain_record(&run->record, run->scratch);
}

static void end_run(Run *run)
{
    workbench_destroy(run->bench);
    arena_destroy(&run->keep);
    arena_destroy(&run->scratch);
}

/* Every column sums to the cycles of the run. What a worker issues is six cycles for each of its slots but the exits', which have
 * seven (WORKER_SLOT_RETURN); the supervisor issues one cycle each, but for the host sync. */
static void check_sums(Run *run)
{
    const Explanation *e = &run->explanation;
    CHECK_EQ_INT(e->total, workbench_counters(run->bench).cycles);
    CHECK_EQ_INT(run->record.moments.len, workbench_counters(run->bench).instructions);
    int64_t issues[7] = {0}, exits[7] = {0}, extra[7] = {0};
    for (isize m = 0; m < run->record.moments.len; m++) {
        const Moment *moment = &run->record.moments.at[m];
        CHECK(m == 0 || moment->cycle > run->record.moments.at[m - 1].cycle);
        issues[moment->context + 1]++;
        exits[moment->context + 1] += moment->is_exit;
        extra[moment->context + 1] += moment->context >= 0 ? moment->rotations - 1 : 0;
    }
    for (int c = 0; c < 7; c++) {
        Cycles sum = 0, issued = 0;
        for (int cause = 0; cause < CAUSE_COUNT; cause++) {
            sum += e->cycles[c][cause];
            issued += cause <= CAUSE_idle_word ? e->cycles[c][cause] : 0;
        }
        CHECK_EQ_INT(sum, e->total);
        CHECK_EQ_INT(issued, c == 0 ? issues[c] - 1 : 6 * (issues[c] - exits[c]));
        CHECK_EQ_INT(e->cycles[c][CAUSE_slot_return], 7 * exits[c]);
        CHECK_EQ_INT(e->cycles[c][CAUSE_long_operation], 6 * extra[c]);
    }
    /* asserts its own sums; every line of the tables fits 100 columns */
    Writer out = writer_buffer(&run->keep);
    explain_print(&out, e, &run->record, &run->target, run->scratch);
    annotate_print(&out, &run->record, &run->target, e, run->scratch);
    Str rest = writer_text(&out);
    while (rest.len > 0) {
        CHECK(str_cut(&rest, '\n').len <= 100);
    }
}

static void sums(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Run run;
        run_case(&cases[i], &run);
        check_sums(&run);
        end_run(&run);
    }
}

/* Programs that start workers singly and together, of different lengths, and go on meanwhile. */
static void random_programs(void)
{
    static const char *const workers = ".worker\n.p2align 3\nshort: exitz $mzero\nuneven: get $m0, "
                                       "$WSR\nand $m0, $m0, 7\nmul $m0, "
                                       "$m0, 3\n1: brnzdec $m0, 1b\nexitz $mzero\nlong: setzi $a0, "
                                       "1\nsetzi $m0, 20\n1: f32div $a1, "
                                       "$a0, $a0\nbrnzdec $m0, 1b\nexitz $mzero\n";
    static const char *const entries[] = {"short", "uneven", "long"};
    static const char *const idle[] = {"nop\n",
                                       "setzi $m3, 5\n",
                                       "add $m3, $m2, 1\n",
                                       "mul $m2, $m3, $m3\n",
                                       "put $CCCSLOAD, $m4\n",
                                       "brnz $m2, 1f\nnop\n1:\n",
                                       "brz $m2, 1f\n1:\n",
                                       "bri 1f\n1:\n",
                                       "ld32 $m3, $m4, $mzero, 0\n",
                                       "get $m5, $TILE_ID\n"};
    const uint64_t seed = test_seed(71);
    uint64_t n = 0;
    for (int program = 0; program < 200; program++) {
        Arena arena = arena_create(1 << 20);
        Writer text = writer_buffer(&arena);
        write_str(&text, S(".supervisor\nsetzi $m2, 1\nsetzi $m3, 2\nsetzi $m4, 0x58000\n"));
        for (int i = 0; i < 40; i++) {
            const char *entry = entries[random_below(seed, n++, 3)];
            switch (random_below(seed, n++, 8)) {
            case 0:
                write_fmt(&text, "setzi $m0, %s\nsync 2\nrunall $m0, $m4, 0\n", entry);
                break;
            case 1:
            case 2:
                write_fmt(&text, "setzi $m0, %s\nrun $m0, $mzero, 0\n", entry);
                break;
            default:
                write_str(&text, str_of(idle[random_below(seed, n++, 10)]));
                break;
            }
        }
        write_fmt(&text, "sync 2\nbr $m10\n%s", workers);
        Str file = str_format(&arena, "%s/random.s", getenv("T") ? getenv("T") : "/tmp");
        Error err = {0};
        CHECK_OK(file_write(file.at, writer_text(&text), &err), err);
        const Case c = {file.at, "0x54000,0", {"0x58000,4,zero"}};
        Run run;
        run_case(&c, &run);
        check_sums(&run);
        end_run(&run);
        arena_destroy(&arena);
    }
}

/* Launcher: call 0, until 6. barrier: setzi 6, runall waits for it until 14. Worker 4 starts at 16, 5 at 17, 0 at 18 ... 3 at 21,
 * each exits at once; slots are back at 23 ... 28; sync 28 until 33; return until 39. */
static void by_hand(void)
{
    Run run;
    run_case(&cases[0], &run);
    const Cycles *s = run.explanation.cycles[0];
    CHECK_EQ_INT(run.explanation.total, 39);
    CHECK_EQ_INT(s[CAUSE_control], 2);
    CHECK_EQ_INT(s[CAUSE_branch_shadow], 2 * 5);
    CHECK_EQ_INT(s[CAUSE_integer], 1);
    CHECK_EQ_INT(s[CAUSE_result_wait], 7);
    CHECK_EQ_INT(s[CAUSE_launch], 2);
    CHECK_EQ_INT(s[CAUSE_sync_wait], 28 - 15);
    CHECK_EQ_INT(s[CAUSE_sync_shadow], 4);
    static const int start[6] = {18, 19, 20, 21, 16, 17};
    for (int w = 0; w < 6; w++) {
        const Cycles *at = run.explanation.cycles[w + 1];
        CHECK_EQ_INT(at[CAUSE_start], start[w] - 14);
        CHECK_EQ_INT(at[CAUSE_slot_return], 7);
        CHECK_EQ_INT(at[CAUSE_slowest], 28 - (start[w] + 7));
        CHECK_EQ_INT(at[CAUSE_unlaunched], 14 + 39 - 28);
    }
    end_run(&run);
}

static void check_same(const TileView *a, const TileView *b)
{
    CHECK(memcmp(a->word, b->word, SRAM_BYTES) == 0);
    CHECK(memcmp(a->is_undefined, b->is_undefined, SRAM_WORDS) == 0);
    for (int c = 0; c < 7; c++) {
        /* $m12, $m13 are views of CSRs and are not recorded */
        CHECK(memcmp(a->m[c], b->m[c], 12 * sizeof a->m[c][0]) == 0);
        CHECK(memcmp(a->a[c], b->a[c], 8 * sizeof a->a[c][0]) == 0);
        CHECK_EQ_INT(a->m_undefined[c] & 0xfff, b->m_undefined[c] & 0xfff);
        CHECK_EQ_INT(a->a_undefined[c] & 0xff, b->a_undefined[c] & 0xff);
    }
}

/* Played back to its end, the record gives the memory and registers that the machine has; and those that it has in the same number of
 * cycles when nobody looks. */
static void playback(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Run run, unseen;
        run_case(&cases[i], &run);
        for (isize m = 0; m < run.record.moments.len; m++) {
            view_apply(&run.before, &run.record, &run.record.moments.at[m]);
        }
        TileView end = view_of(run.bench, &run.keep);
        check_same(&run.before, &end);
        prepare(&cases[i], &unseen);
        execute(&unseen, false);
        CHECK_EQ_INT(unseen.record.moments.len, 0);
        CHECK_EQ_INT(unseen.record.counters.cycles, run.record.counters.cycles);
        CHECK_EQ_INT(unseen.record.counters.instructions, run.record.counters.instructions);
        TileView other = view_of(unseen.bench, &unseen.keep);
        check_same(&end, &other);
        end_run(&run);
        end_run(&unseen);
    }
}

TEST_MAIN(sums, by_hand, playback, random_programs)
