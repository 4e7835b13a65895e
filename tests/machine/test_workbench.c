/* One tile on the bench: what the observer is told, against times by hand (tile-timing.md 2, 3.2) and against memory itself. */
#include "asm/asm.h"
#include "machine/machine.h"
#include "test.h"

enum { CODE = 0x4c000, LIMIT = 100000, ISSUES_MAX = 4096 };

typedef struct Log {
    TileIssue at[ISSUES_MAX];
    int count;
} Log;

static void keep_issue(void *context, const TileIssue *issue)
{
    Log *log = context;
    CHECK(log->count < ISSUES_MAX);
    log->at[log->count++] = *issue;
}

static uint32_t assemble(Workbench *bench, Arena *arena, uint32_t base, const char *text)
{
    Error err = {0};
    Object object;
    Resolved resolved;
    CHECK_OK(asm_assemble(S("t.s"), str_of(text), NULL, arena, arena_split(arena, 1 << 22), &object,
                          &err),
             err);
    CHECK_OK(object_resolve(&object, 1, base, arena, arena_split(arena, 1 << 22), &resolved, &err),
             err);
    workbench_write(bench, base, resolved.at, (uint32_t)resolved.len, true);
    return base + (uint32_t)resolved.len;
}

static const char *const LAUNCH =
    ".supervisor\nsetzi $m0, 0x4c040\nsetzi $m1, 0x58000\nrunall $m0, "
    "$m1, 0\nsync 2\nsync 7\n";

/* setzi 0; add waits for it: 8; branch 9 until 15; put needs $m1 of 8: 16 until 28; load 28, its use 36; sync 7 at 37. */
static void supervisor_waits(void)
{
    Arena arena = arena_create(1 << 26);
    Workbench *bench = workbench_create(NULL);
    const uint32_t zero = 0;
    workbench_write(bench, 0x58000, &zero, 4, true);
    assemble(bench, &arena, CODE,
             ".supervisor\nsetzi $m0, 0x58000\nadd $m1, $m0, 4\nbri 1f\n1: put $CCCSLOAD, $m1\n"
             "ld32 $m2, $m0, $mzero, 0\nst32 $m2, $m0, $mzero, 1\nsync 7\n");
    Log *log = arena_new(&arena, Log);
    const TileObserver observer = {log, keep_issue};
    CHECK_EQ_INT(workbench_run(bench, CODE, LIMIT, &observer), WORKBENCH_STOP_END);
    CHECK_EQ_INT(workbench_counters(bench).cycles, 37);
    static const struct {
        int cycle, next, allowed, ready, reg;
    } expected[] = {{0, 1, 0, -1, 0},    {8, 9, 1, 8, 0},    {9, 15, 9, -1, 0},
                    {16, 28, 15, 16, 1}, {28, 29, 28, 8, 0}, {36, 37, 29, 36, 2},
                    {37, 37, 37, -1, 0}};
    CHECK_EQ_INT(log->count, 7);
    for (int i = 0; i < 7; i++) {
        const TileIssue *issue = &log->at[i];
        CHECK_EQ_INT(issue->context, -1);
        CHECK_EQ_INT(issue->cycle, expected[i].cycle);
        CHECK_EQ_INT(issue->next, expected[i].next);
        CHECK_EQ_INT(issue->allowed, expected[i].allowed);
        CHECK_EQ_INT(issue->ready, expected[i].ready);
        CHECK(expected[i].ready < 0 || issue->ready_register == expected[i].reg);
        CHECK_EQ_INT(issue->pc, CODE + 4 * (uint32_t)i);
        CHECK_EQ_INT(issue->is_jump, false); /* the branch goes to the word behind it */
    }
    CHECK_EQ_INT(log->at[1].m_written, 1 << 1);
    CHECK_EQ_INT(log->at[5].store_address, 0x58004);
    CHECK_EQ_INT(log->at[5].store_bytes, 4);
    workbench_destroy(bench);
    arena_destroy(&arena);
}

/* runall at 9, worker 0 starts at 12: load 12, division of four rotations 18, bundle 42, exit 48, slot back at 55. */
static void worker_issues(void)
{
    Arena arena = arena_create(1 << 26);
    Workbench *bench = workbench_create(NULL);
    const uint32_t ones[2] = {0x3f800000, 0x40000000};
    workbench_write(bench, 0x58000, ones, 8, true);
    assemble(bench, &arena, CODE, LAUNCH);
    assemble(bench, &arena, 0x4c040,
             ".worker\nld32 $a0, $m13, $mzero, 0\nf32div $a1, $a0, $a0\n{ setzi $m3, 5 ; mov $a2, "
             "$a1 }\nexitz $mzero\n");
    Log *log = arena_new(&arena, Log);
    const TileObserver observer = {log, keep_issue};
    CHECK_EQ_INT(workbench_run(bench, CODE, LIMIT, &observer), WORKBENCH_STOP_END);
    static const int cycle[] = {12, 18, 42, 48}, next[] = {18, 42, 48, 55};
    int found = 0;
    for (int i = 0; i < log->count; i++) {
        const TileIssue *issue = &log->at[i];
        if (issue->context != 0) {
            continue;
        }
        CHECK(found < 4);
        CHECK_EQ_INT(issue->cycle, cycle[found]);
        CHECK_EQ_INT(issue->next, next[found]);
        CHECK_EQ_INT(issue->rotations, found == 1 ? 4 : 1);
        CHECK_EQ_INT(issue->words, found == 2 ? 2 : 1);
        CHECK_EQ_INT(issue->is_first, found == 0);
        CHECK_EQ_INT(issue->is_exit, found == 3);
        CHECK_EQ_INT(issue->a_written, found == 3 ? 0 : 1 << found);
        CHECK_EQ_INT(issue->m_written, found == 2 ? 1 << 3 : 0);
        found++;
    }
    CHECK_EQ_INT(found, 4);
    bool is_undefined;
    CHECK_EQ_INT(workbench_register(bench, 0, false, 3, &is_undefined), 5);
    CHECK(!is_undefined);
    workbench_register(bench, 0, false, 4, &is_undefined);
    CHECK(is_undefined);
    WorkbenchCounters counters = workbench_counters(bench);
    CHECK_EQ_INT(counters.start[0], 12);
    CHECK_EQ_INT(counters.end[0], 48);
    CHECK_EQ_INT(counters.start[5], 11);
    workbench_destroy(bench);
    arena_destroy(&arena);
}

/* Every store form, once: the words that change are those that the observer was told of. */
static void stores(void)
{
    static const char *const text[] = {"st32 $m3, $m0, $mzero, 2",
                                       "st32 $a1, $m0, $m1, 3",
                                       "st32 $a1, $m0, $m1, $m4",
                                       "st64 $a0:1, $m0, $mzero, 1",
                                       "st64 $a2:3, $m0, $m1, $m4",
                                       "st32step $m3, $m0, $m1+=, 5",
                                       "st32step $a0, $m0, $m1+=, 5",
                                       "st64step $a0:1, $m0, $m1+=, -2",
                                       "st32step $a0, $m0, $m1+=, $m4",
                                       "st64step $a0:1, $m0, $m1+=, $m4",
                                       "stm32 $m3, $m0, $m4",
                                       "stm32step $m3, $m0+=, $m4",
                                       "st64pace $a0:1, $m6:7+=, $mzero, 0",
                                       "ldst64pace $a0:1, $a2:3, $m6:7+=, $mzero, 0",
                                       "ld2xst64pace $a0:3, $a4:5, $m6:7+=, $mzero, 0"};
    bool is_seen[INSN_COUNT] = {false};
    for (size_t t = 0; t < sizeof text / sizeof *text; t++) {
        Arena arena = arena_create(1 << 26);
        Workbench *bench = workbench_create(NULL);
        uint32_t words[512] = {0};
        workbench_write(bench, 0x58000, words, sizeof words, true);
        workbench_write(bench, 0x80000, words, sizeof words, true);
        workbench_write(bench, 0x90000, words, sizeof words, true);
        assemble(bench, &arena, CODE, LAUNCH);
        assemble(
            bench, &arena, 0x4c040,
            str_format(&arena,
                       ".worker\nsetzi $m0, 0x90100\nsetzi $m1, 64\nsetzi $m3, 77\nsetzi $m4, "
                       "6\nsetzi $m5, 0x58010\nsetzi $m8, 0x80010\nsetzi $m9, 0x90208\n"
                       "tapack $m6:7, $m5, $m8, $m9\nsetzi $a0, 1\nsetzi $a1, 2\nsetzi $a2, 3\n"
                       "setzi $a3, 4\nsetzi $a4, 5\nsetzi $a5, 6\n%s\nexitz $mzero\n",
                       text[t])
                .at);
        Log *log = arena_new(&arena, Log);
        const TileObserver observer = {log, keep_issue};
        CHECK_EQ_INT(workbench_run(bench, CODE, LIMIT, &observer), WORKBENCH_STOP_END);
        int stores_seen = 0;
        for (int i = 0; i < log->count; i++) {
            const TileIssue *issue = &log->at[i];
            if (issue->store_bytes == 0) {
                continue;
            }
            stores_seen++;
            is_seen[isa_decode(issue->word[0], 0, LANE_MAIN, CONTEXT_WORKER).code] = true;
            for (uint32_t at = 0; at < issue->store_bytes; at += 4) {
                CHECK(workbench_word(bench, issue->store_address + at, NULL) != 0);
                workbench_write(bench, issue->store_address + at, words, 4, true);
            }
            /* workers do the same: the next one's store would find zeros */
            CHECK(stores_seen <= 6);
            if (stores_seen == 1) {
                for (uint32_t at = 0; at < sizeof words; at += 4) {
                    CHECK_EQ_INT(workbench_word(bench, 0x90000 + at, NULL), 0);
                }
            }
            for (int later = i + 1; later < log->count; later++) {
                if (log->at[later].context > 0 && log->at[later].store_bytes > 0) {
                    CHECK_EQ_INT(log->at[later].store_address, issue->store_address);
                    log->at[later].store_bytes = 0;
                }
            }
        }
        CHECK_EQ_INT(stores_seen, 1);
        workbench_destroy(bench);
        arena_destroy(&arena);
    }
    for (int code = 1; code < INSN_COUNT; code++) {
        if ((isa_form((InsnCode)code)->flags & INSN_STORE) != 0 && !is_seen[code]) {
            fprintf(stderr, "no store seen: %s\n", isa_form((InsnCode)code)->form);
            CHECK(is_seen[code]);
        }
    }
}

static void outside_values(void)
{
    Workbench *bench =
        workbench_create(&(WorkbenchOptions){.checks = CHECK_ALIGNMENT | CHECK_CONFLICT});
    Error err = {0};
    CHECK_OK(workbench_set_csr(bench, -1, S("$FP_ICTL"), 0, &err), err);
    CHECK_OK(workbench_set_csr(bench, 2, S("PRNG_0_1"), 7, &err), err);
    static const char *const refused[] = {"SCOUNT_L", "FP_CTL", "NOTHING", "TILE_ID", ""};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        CHECK_ERROR(workbench_set_csr(bench, -1, str_of(refused[i]), 1, &err), err, ERROR_INPUT,
                    "");
        err = (Error){0};
    }
    CHECK_ERROR(workbench_set_csr(bench, 0, S("FP_CTL"), 1, &err), err, ERROR_INPUT, "launch");
    workbench_destroy(bench);
}

TEST_MAIN(supervisor_waits, worker_issues, stores, outside_values)
