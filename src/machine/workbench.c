/* One tile on the bench: memory and registers set from outside, one run to the host sync. */
#include "machine/workbench.h"
#include "machine/exec.h"
#include "machine/watch.h"
#include <stdlib.h>

struct Workbench {
    TileState tile;
    TileShared shared;
    struct WatchSet *watch; /* NULL: no check of every access is on */
};

enum { MEMORY_BYTES = SRAM_BYTES, POISON_BYTES = SRAM_WORDS / 8 };

Workbench *workbench_create(const WorkbenchOptions *options)
{
    const WorkbenchOptions o = options ? *options : (WorkbenchOptions){0};
    Workbench *bench = calloc(1, sizeof *bench);
    uint8_t *sram = calloc(1, MEMORY_BYTES);
    uint32_t *poison = malloc(POISON_BYTES);
    ASSERT(bench && sram && poison);
    memset(poison, 0xff, POISON_BYTES);
    bench->shared = (TileShared){.timing = tile_timing_default(),
                                 .checks = o.checks ? o.checks : CHECK_DEFAULT,
                                 .is_unknown_assumed = o.is_unknown_assumed,
                                 .flags = o.flags,
                                 .trace_tile = -1};
    if ((bench->shared.checks & WATCHED_CHECKS) != 0) {
        bench->watch = watch_create(bench->shared.checks, 1);
    }
    tile_create(&bench->tile, (PhysTile){0}, sram, poison);
    tile_reset(&bench->tile, SRAM_BASE);
    for (int w = 0; w < CHIP_WORKERS; w++) {
        bench->tile.worker[w].start_cycle = -1;
    }
    return bench;
}

void workbench_destroy(Workbench *bench)
{
    if (!bench) {
        return;
    }
    if (bench->watch) {
        watch_destroy(bench->watch);
    }
    free(bench->tile.sram);
    free(bench->tile.poison);
    tile_destroy(&bench->tile);
    free(bench);
}

void workbench_write(Workbench *bench, uint32_t address, const void *bytes, uint32_t len,
                     bool is_defined)
{
    ASSERT(address % 4 == 0 && len % 4 == 0);
    ASSERT(range_in_sram(address, len));
    const uint8_t undefined = is_defined ? 0 : 1;
    for (uint32_t at = 0; at < len; at += 4) {
        uint32_t word;
        memcpy(&word, (const uint8_t *)bytes + at, 4);
        tile_store_words(&bench->tile, address + at, &word, 1, &undefined);
    }
}

void workbench_mark_code(Workbench *bench, uint32_t address, uint32_t bytes)
{
    if (bench->watch) {
        watch_mark_code(bench->watch, bench->tile.id, address, bytes);
    }
}

static bool has_poison(const Workbench *bench)
{
    return (bench->shared.checks & CHECK_POISON) != 0;
}

uint32_t workbench_word(const Workbench *bench, uint32_t address, bool *is_undefined)
{
    uint32_t word = tile_load_word(&bench->tile, address, is_undefined);
    if (is_undefined && !has_poison(bench)) {
        *is_undefined = false;
    }
    return word;
}

void workbench_set_register(Workbench *bench, int context, bool is_aux, int index, uint32_t value)
{
    ASSERT(context >= -1 && context < CHIP_WORKERS);
    ASSERT(index >= 0 && index < (is_aux ? WORKBENCH_AUX_REGISTERS : WORKBENCH_MAIN_REGISTERS));
    ASSERT(!is_aux || context >= 0);
    uint16_t bit = (uint16_t)(1u << index);
    if (context < 0) {
        bench->tile.m[index] = value;
        bench->tile.m_poison &= (uint16_t)~bit;
        return;
    }
    WorkerState *w = &bench->tile.worker[context];
    (is_aux ? w->a : w->m)[index] = value;
    *(is_aux ? &w->a_poison : &w->m_poison) &= (uint16_t)~bit;
}

uint32_t workbench_register(const Workbench *bench, int context, bool is_aux, int index,
                            bool *is_undefined)
{
    ASSERT(context >= -1 && context < CHIP_WORKERS);
    ASSERT(index >= 0 && index < 16);
    ASSERT(!is_aux || context >= 0);
    const TileState *tile = &bench->tile;
    const WorkerState *w = context < 0 ? NULL : &tile->worker[context];
    uint32_t poison = !w ? tile->m_poison : is_aux ? w->a_poison : w->m_poison;
    *is_undefined = has_poison(bench) && (poison >> index & 1) != 0;
    return !w ? tile->m[index] : is_aux ? w->a[index] : w->m[index];
}

/* What survives a launch and is not set by one: registers.md 1, 4.3. */
static bool set_worker_csr(WorkerState *w, int csr, Str name, uint32_t value, Error *err)
{
    if (csr == CSR_DBG_DATA) {
        w->dbg_data = value;
        return true;
    }
    if (csr < CSR_PRNG_0_0 || csr > CSR_PRNG_1_1) {
        return error_set(err, ERROR_INPUT, NULL,
                         "%.*s of a worker cannot be set: a launch loads it; expected "
                         "PRNG_0_0 .. PRNG_1_1 or DBG_DATA",
                         STR_ARG(name));
    }
    int part = csr - CSR_PRNG_0_0, shift = 32 * (part % 2);
    uint64_t *half = &w->prng[part / 2];
    *half = (*half & ~((uint64_t)UINT32_MAX << shift)) | (uint64_t)value << shift;
    w->prng_undefined &= (uint8_t) ~(1u << part);
    return true;
}

bool workbench_set_csr(Workbench *bench, int context, Str name, uint32_t value, Error *err)
{
    ASSERT(context >= -1 && context < CHIP_WORKERS);
    int csr = csr_find(name, context < 0 ? CONTEXT_SUPERVISOR : CONTEXT_WORKER);
    if (csr < 0) {
        return error_set(err, ERROR_INPUT, NULL, "%.*s is no register of %s", STR_ARG(name),
                         context < 0 ? "the supervisor" : "a worker");
    }
    if (context >= 0) {
        return set_worker_csr(&bench->tile.worker[context], csr, name, value, err);
    }
    /* As a program would: the same registers are refused, for the same reasons. */
    TileState *tile = &bench->tile;
    uint32_t m[16] = {[1] = value};
    uint16_t poison = 0;
    Exec x = {.tile = tile, .shared = &bench->shared, .m = m, .m_poison = &poison, .context = -1};
    const Op op = {.code = INSN_put_mmmn_zi, .imm = csr, .r = {OP_IMMEDIATE, 1}};
    if (supervisor_csr(&x, &op)) {
        return true;
    }
    error_set(err, ERROR_INPUT, NULL, "%.*s = 0x%x is refused: %s, %s", STR_ARG(name), value,
              tile->fault.name, tile->fault.detail);
    tile->fault = (Fault){0};
    tile->stop = TILE_STOP_NONE;
    return false;
}

WorkbenchStop workbench_run(Workbench *bench, uint32_t entry, Cycles limit,
                            const TileObserver *observer)
{
    ASSERT(limit > 0);
    TileState *tile = &bench->tile;
    bench->shared.observer = observer;
    tile->pc = entry;
    tile->watch = bench->watch ? watch_begin(bench->watch, 0, tile) : NULL;
    TileStop stop = tile_run(tile, &bench->shared, limit);
    if (stop == TILE_STOP_SYNC_INTERNAL || stop == TILE_STOP_SYNC_ANS) {
        stop = tile_fault(tile, "BENCH_SYNC", -1, tile->pc - 4, tile->cycle, "there is one tile");
    }
    return stop == TILE_STOP_SYNC_HOST ? WORKBENCH_STOP_END
           : stop == TILE_STOP_LIMIT   ? WORKBENCH_STOP_LIMIT
                                       : WORKBENCH_STOP_FAULT;
}

void workbench_print_assumed(Writer *writer, const Workbench *bench)
{
    assumed_print(writer, bench->tile.assumed);
}

const struct Fault *workbench_fault(const Workbench *bench)
{
    return &bench->tile.fault;
}

WorkbenchCounters workbench_counters(const Workbench *bench)
{
    const TileState *tile = &bench->tile;
    WorkbenchCounters counters = {.cycles = tile->cycle,
                                  .instructions = tile->instructions,
                                  .amp_instructions = tile->amp_instructions};
    for (int w = 0; w < CHIP_WORKERS; w++) {
        counters.start[w] = tile->worker[w].start_cycle;
        counters.end[w] = tile->worker[w].end_cycle;
    }
    return counters;
}
