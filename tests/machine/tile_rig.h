/* One tile without a machine around it, programmed in assembly text, for the tests of src/machine/tile.h. */
#pragma once
#include "asm/asm.h"
#include "machine/forms.h"
#include "machine/tile.h"
#include "test.h"

enum {
    RIG_SUPERVISOR = 0x4c000, /* element 0 */
    RIG_WORKER = 0x50000,     /* element 1 */
    RIG_DATA = 0x58000,       /* element 3 */
    RIG_DATA2 = 0x60000,      /* element 5 */
    RIG_WIDE = 0x80000,       /* region 1 */
    RIG_RESULT = 0x90000,
};

typedef struct Rig {
    TileState tile;
    TileShared shared;
    uint8_t *sram;
    uint32_t *poison;
    Arena arena;
    bool must_fault; /* what is loaded from now on */
} Rig;

static inline Rig *rig_create(void)
{
    Rig *rig = calloc(1, sizeof *rig);
    CHECK(rig != NULL);
    rig->sram = calloc(1, SRAM_BYTES);
    rig->poison = malloc(SRAM_WORDS / 8);
    CHECK(rig->sram != NULL && rig->poison != NULL);
    memset(rig->poison, 0xff, SRAM_WORDS / 8);
    rig->arena = arena_create(1 << 28);
    rig->shared.timing = tile_timing_default();
    rig->shared.checks = CHECK_DEFAULT;
    rig->shared.pool = code_pool_create();
    tile_create(&rig->tile, (PhysTile){7}, rig->sram, rig->poison);
    tile_reset(&rig->tile, RIG_SUPERVISOR);
    return rig;
}

static inline void rig_destroy(Rig *rig)
{
    tile_destroy(&rig->tile);
    code_pool_destroy(rig->shared.pool);
    arena_destroy(&rig->arena);
    free(rig->sram);
    free(rig->poison);
    free(rig);
}

static inline void rig_words(Rig *rig, uint32_t address, const uint32_t *words, int count)
{
    tile_store_words(&rig->tile, address, words, count, NULL);
}

/* Assembles `text` at `address`. */
static inline void rig_code(Rig *rig, uint32_t address, bool is_supervisor, const char *text)
{
    Arena scratch = arena_split(&rig->arena, 1 << 24);
    Error err = {0};
    Str source = str_format(&rig->arena, ".text\n.allow_optimizations\n%s\n%s\n",
                            is_supervisor ? ".supervisor" : ".worker", text);
    Object object;
    Resolved resolved;
    AsmOptions options = {.flags = rig->shared.flags};
    CHECK_OK(asm_assemble(S("rig.s"), source, &options, &rig->arena, scratch, &object, &err), err);
    CHECK_OK(object_resolve(&object, 1, address, &rig->arena, scratch, &resolved, &err), err);
    CHECK(resolved.len % 4 == 0);
    const uint32_t *words = (const uint32_t *)(const void *)resolved.at;
    int count = (int)(resolved.len / 4);
    forms_note_words(words, count, is_supervisor ? CONTEXT_SUPERVISOR : CONTEXT_WORKER,
                     rig->must_fault);
    rig_words(rig, address, words, count);
}

static inline uint32_t rig_word(Rig *rig, uint32_t address)
{
    return tile_load_word(&rig->tile, address, NULL);
}

static inline bool rig_is_poison(Rig *rig, uint32_t address)
{
    bool is_poison;
    tile_load_word(&rig->tile, address, &is_poison);
    return is_poison;
}

static inline TileStop rig_run(Rig *rig)
{
    return tile_run(&rig->tile, &rig->shared, 1000000);
}

/* Runs `text` as the worker program of all six workers, which must reach their exits. Workers start with their number in no
 * register; the supervisor ends at a host barrier. */
static const char *const RIG_LAUNCH = "setzi $m0, 0x50000\n"
                                      "setzi $m1, 0x80000\n"
                                      "runall $m0, $m1, 0\n"
                                      "sync 2\n"
                                      "sync 7\n";

static inline TileStop rig_worker(Rig *rig, const char *text)
{
    rig_code(rig, RIG_SUPERVISOR, true, RIG_LAUNCH);
    rig_code(rig, RIG_WORKER, false, text);
    return rig_run(rig);
}

/* As rig_worker, for programs that must work; shows the fault otherwise. */
static inline void rig_worker_ok(Rig *rig, const char *text)
{
    TileStop stop = rig_worker(rig, text);
    if (stop != TILE_STOP_SYNC_HOST) {
        fprintf(stderr, "stop %d: %s at 0x%x (context %d): %s\n%s\n", (int)stop,
                rig->tile.fault.name ? rig->tile.fault.name : "-", rig->tile.fault.pc,
                rig->tile.fault.context, rig->tile.fault.detail, text);
        exit(1);
    }
}

/* A fresh tile whose worker (or supervisor) program must stop with the named fault. */
static inline void rig_expect(bool is_supervisor, const char *text, const char *name,
                              FaultCategory category)
{
    Rig *rig = rig_create();
    rig->must_fault = true;
    TileStop stop;
    if (is_supervisor) {
        rig_code(rig, RIG_SUPERVISOR, true, text);
        /* worker 0 leaves its slot to the supervisor early */
        rig_code(rig, RIG_WORKER, false,
                 "get $m0, $WSR\nbrz $m0, 1f\nnop\nnop\nnop\nnop\nnop\n1: exitz $mzero");
        stop = rig_run(rig);
    } else {
        stop = rig_worker(rig, text);
    }
    const char *seen = rig->tile.fault.name ? rig->tile.fault.name : "none";
    if (stop != TILE_STOP_FAULT || strcmp(seen, name) != 0 ||
        rig->tile.fault.category != category) {
        fprintf(stderr, "expected %s, got %s (stop %d): %s\n%s\n", name, seen, (int)stop,
                rig->tile.fault.detail, text);
        exit(1);
    }
    rig_destroy(rig);
}
