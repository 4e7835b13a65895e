/* Races of each kind and their legal neighbours; stores into code; buffers of calls with tails, members and read-only ones. */
#include "machine/watch.h"
#include "tile_rig.h"

#define WORKER_NUMBER "get $m0, $WSR\nand $m0, $m0, 7\nsetzi $m1, 0x58000\n"
/* $m2 = 0x58000 + 4 * worker */
#define OWN_WORD WORKER_NUMBER "shl $m2, $m0, 2\nadd $m2, $m2, $m1\n"
#define ONLY(number) "add $m3, $m0, -" #number "\nbrnz $m3, 9f\n"
#define EXIT "\n9: exitz $mzero\n"
#define LAUNCH "setzi $m0, 0x50000\nsetzi $m1, 0x80000\nsetzi $m2, 0x58000\nrunall $m0, $m1, 0\n"

/* A tile with defined data; free the set with the rig. */
static Rig *watched(uint32_t checks, struct WatchSet **set)
{
    Rig *rig = rig_create();
    uint32_t words[64];
    for (uint32_t i = 0; i < 64; i++) {
        words[i] = RIG_DATA;
    }
    rig_words(rig, RIG_DATA, words, 64);
    *set = watch_create(CHECK_DEFAULT | checks, 1);
    rig->shared.checks = CHECK_DEFAULT | checks;
    return rig;
}

/* Expects the named fault at `address`, or (name NULL) the host barrier. */
static void run_watched(Rig *rig, struct WatchSet *set, const char *name, uint32_t address,
                        const char *text)
{
    rig->tile.watch = watch_begin(set, 0, &rig->tile);
    TileStop stop = rig_run(rig);
    const Fault *fault = &rig->tile.fault;
    if (stop != (name ? TILE_STOP_FAULT : TILE_STOP_SYNC_HOST) ||
        (name && (strcmp(fault->name, name) != 0 || fault->address != address))) {
        fprintf(stderr, "stop %d: %s at 0x%x (context %d, address 0x%x): %s\n%s\n", (int)stop,
                fault->name ? fault->name : "-", fault->pc, fault->context, fault->address,
                fault->detail, text);
        exit(1);
    }
    watch_destroy(set);
}

static Fault race_of(const char *supervisor, const char *worker, uint32_t address)
{
    struct WatchSet *set;
    Rig *rig = watched(CHECK_RACE, &set);
    rig_code(rig, RIG_SUPERVISOR, true, supervisor);
    rig_code(rig, RIG_WORKER, false, worker);
    run_watched(rig, set, address ? "RACE" : NULL, address, worker);
    Fault fault = rig->tile.fault;
    rig_destroy(rig);
    return fault;
}

static void worker_races(void)
{
    static const char *const racing[] = {
        WORKER_NUMBER "st32 $m0, $m1, $mzero, 0" EXIT,
        /* written, then read: as address, in a sum, stored, in the aux lane */
        OWN_WORD "st32 $m1, $m2, $mzero, 0\nld32 $m4, $m1, $mzero, 0\n"
                 "ld32 $m5, $m4, $mzero, 8" EXIT,
        OWN_WORD "st32 $m1, $m2, $mzero, 0\nld32 $m4, $m1, $mzero, 0\nadd $m4, $m4, 1" EXIT,
        OWN_WORD "st32 $m1, $m2, $mzero, 0\nld32 $a0, $m1, $mzero, 0\nsetzi $m5, 0x80000\n"
                 "shl $m6, $m0, 2\nst32 $a0, $m5, $m6, 0" EXIT,
        OWN_WORD "st32 $m1, $m2, $mzero, 0\nldb16 $a1, $m1, $mzero, 1\n.align 8\n"
                 "{ nop ; f16v2add $a2, $a1, $a1 }" EXIT,
        /* read by all, then written by worker 5 */
        WORKER_NUMBER "ld32 $m4, $m1, $mzero, 0\nadd $m4, $m4, 1\n" ONLY(5) "st32 $m0, $m1, "
                                                                            "$mzero, 0" EXIT,
        /* also by its byte, and by a sparse load's list */
        WORKER_NUMBER "ldz8 $m4, $m1, $mzero, 3\nadd $m4, $m4, 1\n" ONLY(5) "st32 $m0, $m1, "
                                                                            "$mzero, 0" EXIT,
    };
    for (size_t i = 0; i < sizeof racing / sizeof *racing; i++) {
        Fault fault = race_of(RIG_LAUNCH, racing[i], RIG_DATA);
        CHECK_EQ_INT(fault.category, FAULT_SELECTED);
        CHECK_EQ_INT(fault.context, i < 5 ? 1 : 5);
        CHECK_EQ_INT(fault.other_context, 0);
        CHECK(fault.other_pc >= RIG_WORKER);
    }
    /* A read is reported where the word was loaded. */
    Fault fault = race_of(RIG_LAUNCH, racing[2], RIG_DATA);
    CHECK_EQ_INT(fault.pc, RIG_WORKER + 6 * 4);
    CHECK_EQ_INT(fault.other_pc, RIG_WORKER + 5 * 4);
    CHECK_CSTR(fault.detail, "reads 0x58000, which worker 0 wrote");
}

static void legal_neighbours(void)
{
    static const char *const legal[] = {
        /* each its own word, read, changed and written */
        OWN_WORD "ld32 $m4, $m2, $mzero, 0\nadd $m4, $m4, 1\nst32 $m4, $m2, $mzero, 0\n"
                 "ld32 $m4, $m2, $mzero, 0\nadd $m4, $m4, 1" EXIT,
        /* loaded behind the own words, never used: overwritten, stepped over, left at the exit */
        OWN_WORD "st32 $m1, $m2, $mzero, 0\nld32 $m4, $m2, $mzero, 1\nld32 $m5, $m1, $mzero, 0\n"
                 "ld32 $m4, $m2, $mzero, 0\nadd $m4, $m4, 1\nld64 $a0:1, $m1, $mzero, 0\n"
                 "zero $a0:1\nmov $a2, $a0" EXIT,
        /* all read one word */
        WORKER_NUMBER "ld32 $m4, $m1, $mzero, 0\nadd $m4, $m4, 1" EXIT,
        /* into registers that do not exist */
        OWN_WORD "st32 $m1, $m2, $mzero, 0\nld32 $mzero, $m1, $mzero, 0\n"
                 "ld32 $azero, $m1, $mzero, 0\nadd $m4, $mzero, 1" EXIT,
    };
    for (size_t i = 0; i < sizeof legal / sizeof *legal; i++) {
        race_of(RIG_LAUNCH, legal[i], 0);
    }
    /* the next launch and the supervisor behind a sync see everything */
    const char *all_words = OWN_WORD "st32 $m1, $m2, $mzero, 0" EXIT;
    const char *next =
        OWN_WORD "ld32 $m4, $m1, $mzero, 0\nadd $m4, $m4, 1\n" ONLY(1) "st32 $m0, "
                                                                       "$m1, $mzero, "
                                                                       "6" EXIT;
    race_of(LAUNCH "sync 2\nld32 $m3, $m2, $mzero, 0\nst32 $m3, $m2, $mzero, 0\nsync 7\n",
            all_words, 0);
    race_of(LAUNCH "sync 2\nrunall $m0, $m1, 0\nsync 2\nsync 7\n", all_words, 0);
    race_of(LAUNCH "sync 2\nst32 $m2, $m2, $mzero, 0\nrunall $m0, $m1, 0\nsync 2\nsync 7\n", next,
            0);
}

static void supervisor_races(void)
{
    const char *writes = OWN_WORD "st32 $m1, $m2, $mzero, 0" EXIT;
    const char *reads = OWN_WORD "ld32 $m3, $m2, $mzero, 0\nadd $m3, $m3, 1" EXIT;
    Fault fault = race_of(LAUNCH "ld32 $m3, $m2, $mzero, 3\nsync 2\nsync 7\n", writes, 0x5800c);
    CHECK_EQ_INT(fault.context, -1);
    CHECK_EQ_INT(fault.other_context, 3);
    race_of(LAUNCH "st32 $m2, $m2, $mzero, 3\nsync 2\nsync 7\n", writes, 0x5800c);
    fault = race_of(LAUNCH "st32 $m2, $m2, $mzero, 3\nsync 2\nsync 7\n", reads, 0x5800c);
    CHECK_CSTR(fault.detail, "writes 0x5800c, which worker 3 read");
    race_of(LAUNCH "ld32 $m3, $m2, $mzero, 3\nsync 2\nsync 7\n", reads, 0);
    race_of(LAUNCH "st32 $m2, $m2, $mzero, 6\nsync 2\nsync 7\n", writes, 0);
    /* one by one: nothing orders them either */
    race_of("setzi $m0, 0x50000\nsetzi $m1, 0x34000\nrun $m0, $m1, 0\nrun $m0, $m1, 0\nsync 2\n"
            "sync 7\n",
            WORKER_NUMBER "st32 $m0, $m1, $mzero, 0\nnop\nnop\nnop" EXIT, RIG_DATA);
    race_of("setzi $m0, 0x50000\nsetzi $m1, 0x34000\nrun $m0, $m1, 0\nsync 2\nrun $m0, $m1, 0\n"
            "sync 2\nsync 7\n",
            WORKER_NUMBER "st32 $m0, $m1, $mzero, 0" EXIT, 0);
}

static void code_writes(void)
{
    static const struct {
        const char *text;
        uint32_t address;
    } cases[] = {
        {"setzi $m0, 0x50000\nst32 $m0, $m0, $mzero, 0\nexitz $mzero\n", 0x50000},
        {".align 8\n{ nop ; fnop }\nsetzi $m0, 0x50000\nst32 $m0, $m0, $mzero, 1\nexitz $mzero\n",
         0x50004},
        {"setzi $m0, 0x50000\nst32 $m0, $m0, $mzero, 3\nexitz $mzero\nnop\n", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct WatchSet *set;
        Rig *rig = watched(CHECK_CODE, &set);
        rig_code(rig, RIG_SUPERVISOR, true, RIG_LAUNCH);
        rig_code(rig, RIG_WORKER, false, cases[i].text);
        run_watched(rig, set, cases[i].address ? "CODE_WRITE" : NULL, cases[i].address,
                    cases[i].text);
        rig_destroy(rig);
    }
}

/* An undefined value that was loaded: the fault says from where. */
static void undefined_source(void)
{
    struct WatchSet *set;
    Rig *rig = watched(CHECK_RACE, &set);
    const char *text = WORKER_NUMBER "ld32 $m4, $m1, $mzero, 64\nld32 $m4, $m4, $mzero, 0" EXIT;
    rig_code(rig, RIG_SUPERVISOR, true, RIG_LAUNCH);
    rig_code(rig, RIG_WORKER, false, text);
    run_watched(rig, set, "POISON_ADDRESS", RIG_DATA + 256, text);
    rig_destroy(rig);
}

/* --- a call whose return address the package knows */

enum { CALL_RETURN = RIG_SUPERVISOR + 4 };
static const char *const CALLING = "call $m10, kernel\nst32 $m2, $m2, $mzero, 60\nsync 7\n"
                                   "kernel: setzi $m0, 0x50000\nsetzi $m1, 0x80000\n"
                                   "setzi $m2, 0x58000\n%s\nrunall $m0, $m1, 0\nsync 2\nbr $m10\n";

static Package call_package(Arena *arena)
{
    Package package = {0};
    PhysTile tile = {7}, other = {8}, all = {UINT16_MAX};
    *vec_push(&package.regions, arena) = (DebugRegion){tile, 0x58000, 16, 3, 32, 8, S("in")};
    *vec_push(&package.regions, arena) = (DebugRegion){tile, 0x58080, 16, 1, 0, 0, S("out")};
    *vec_push(&package.regions, arena) = (DebugRegion){tile, 0x58090, 16, 1, 0, 0, S("mine")};
    *vec_push(&package.regions, arena) = (DebugRegion){other, 0x580a0, 16, 1, 0, 0, S("out")};
    *vec_push(&package.regions, arena) = (DebugRegion){all, 0x580b0, 4, 1, 0, 0, S("in")};
    *vec_push(&package.buffer_uses, arena) = (BufferUse){S("mine"), true};
    *vec_push(&package.buffer_uses, arena) = (BufferUse){S("in"), false};
    *vec_push(&package.buffer_uses, arena) = (BufferUse){S("out"), true};
    *vec_push(&package.buffer_uses, arena) = (BufferUse){S("out"), false};
    *vec_push(&package.call_uses, arena) = (CallUses){0, 1};
    *vec_push(&package.call_uses, arena) = (CallUses){1, 3};
    *vec_push(&package.calls, arena) = (CallRecord){CALL_RETURN, {6}, 0};
    *vec_push(&package.calls, arena) = (CallRecord){CALL_RETURN - 4, {7}, 0};
    *vec_push(&package.calls, arena) = (CallRecord){CALL_RETURN, {7}, 1};
    *vec_push(&package.calls, arena) = (CallRecord){CALL_RETURN, {8}, 0};
    return package;
}

static void call_buffers(void)
{
    static const struct {
        const char *supervisor, *worker;
        uint32_t address; /* 0: legal */
    } cases[] = {
        {"", "ld64 $a0:1, $m1, $mzero, 1\nst64 $a0:1, $m1, $mzero, 16", 0},
        {"", "ld64 $a0:1, $m1, $mzero, 16\nst64 $a0:1, $m1, $mzero, 17", 0},
        {"", "st32 $m0, $m1, $mzero, 0", 0x58000},
        {"", "st64 $a0:1, $m1, $mzero, 18", 0x58090},
        {"", "ld32 $m4, $m1, $mzero, 40", 0x580a0}, /* another tile's */
        {"", "ld32 $m4, $m1, $mzero, 44\nadd $m4, $m4, 1", 0},
        {"", "ld32 $m4, $m1, $mzero, 45", 0x580b4},
        /* members: 0x58000, 0x58020, 0x58040, each with 8 bytes of tail */
        {"", "ld32 $m4, $m1, $mzero, 19\nadd $m4, $m4, 1", 0},
        {"", "ld64 $a0:1, $m1, $mzero, 2\nld64 $a0:1, $m1, $mzero, 10", 0},
        {"", "ld32 $m4, $m1, $mzero, 21\nadd $m4, $m4, 1", 0x58054},
        {"", "ld64 $a0:1, $m1, $mzero, 2\nmov $a2, $a1", 0x58014},
        {"", "st32 $m0, $m1, $mzero, 4", 0x58010},
        {"", "ld32 $m4, $m1, $mzero, 6", 0x58018},
        {"", "ld32 $m4, $m1, $mzero, 22", 0x58058},
        /* the supervisor of the kernel, too; behind the return it is free */
        {"ld32 $m3, $m2, $mzero, 1", "nop", 0},
        {"ld32 $m3, $m2, $mzero, 60", "nop", 0x580f0},
        {"put $CCCSLOAD, $m2\nld64putcs 0\nld64putcs 1\nld64putcs 2\nld64putcs 3", "nop", 0x58018},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct WatchSet *set;
        Rig *rig = watched(CHECK_BUFFERS, &set);
        Package package = call_package(&rig->arena);
        watch_describe(set, &package);
        watch_describe(set, &package); /* the last one counts */
        Str supervisor = str_format(&rig->arena, CALLING, cases[i].supervisor);
        Str worker = str_format(&rig->arena, WORKER_NUMBER "%s" EXIT, cases[i].worker);
        rig_code(rig, RIG_SUPERVISOR, true, supervisor.at);
        rig_code(rig, RIG_WORKER, false, worker.at);
        run_watched(rig, set, cases[i].address ? "OUTSIDE_BUFFERS" : NULL, cases[i].address,
                    worker.at);
        rig_destroy(rig);
    }
}

TEST_MAIN(worker_races, legal_neighbours, supervisor_races, code_writes, undefined_source,
          call_buffers)
