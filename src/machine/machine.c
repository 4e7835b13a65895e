/* The whole chip: memory of all tiles, the run loop, barriers.
 *
 * Tiles run alone (in parallel) until each blocks; then the barrier that all of them wait at is passed, or nobody can ever
 * go on and the deadlock is explained. Which thread ran which tile changes nothing, so results do not depend on -j.
 *
 * Cost of an internal phase (decisions.md A5). Event 0 = latest arrival + phase_cycles; a row of h events ends at event 0 +
 * h. The constant stands for all that a phase costs beyond its horizon (barrier, call, set-up), but the set-up instructions
 * in front of `sync 3` (bases, DCOUNT, worker barrier) are executed and timed as well. This counts them twice, which is
 * the slower of the two readings.
 *
 * A host barrier releases all tiles at the latest arrival: the host's own time is no part of simulated cycles (A3).
 *
 * Memory is one lazily committed mapping. Huge pages are asked for only when the package fills enough of it: a small
 * package touches a few pages on each of 1472 tiles and must stay cheap.
 */
#include "machine/fabric.h"
#include "machine/watch.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum {
    TILE_CHUNK = 4,
    COPY_WORDS = 4096,
    POISON_WORDS = SRAM_WORDS / 32,
    HUGE_PAGES_FROM_PERCENT = 40,
    MZERO = 15,
};

_Static_assert(SRAM_WORDS % 32 == 0, "poison words of one tile are whole");

struct Machine {
    MachineOptions options;
    TileShared shared;
    uint8_t *sram;
    uint32_t *poison;
    TileState *tiles;
    struct WatchSet *watch; /* NULL: no check of every access is on */
    Fabric *fabric;
    bool *is_active;
    IsaFlags flags; /* of the package */
    bool is_at_host, has_failed, is_loaded;
    Cycles deadline; /* absolute clock; 0: none */
    Cycles host_release, host_arrival;
    int64_t phases, exchanged_words;
    Fault fault;
};

static void *map_memory(size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ASSERT(at != MAP_FAILED);
    return at;
}

static const size_t sram_total = (size_t)CHIP_TILES * SRAM_BYTES;
static const size_t poison_total = (size_t)CHIP_TILES * POISON_WORDS * 4;

/* --- running ------------------------------------------------------------------------------------------------------ */

static void run_tile(void *context, isize index, int worker)
{
    Machine *machine = context;
    TileState *tile = &machine->tiles[index];
    if (tile->is_present && (tile->stop == TILE_STOP_NONE || tile->stop == TILE_STOP_LIMIT)) {
        tile->watch = machine->watch ? watch_begin(machine->watch, worker, tile) : NULL;
        tile->stop = tile_run(tile, &machine->shared, machine->deadline);
    }
}

/* Of all tiles that faulted, the earliest in simulated time, then by number. */
static bool find_fault(Machine *machine)
{
    const TileState *first = NULL;
    for (int i = 0; i < CHIP_TILES; i++) {
        const TileState *tile = &machine->tiles[i];
        if (tile->is_present && tile->stop == TILE_STOP_FAULT &&
            (first == NULL || tile->fault.cycle < first->fault.cycle)) {
            first = tile;
        }
    }
    if (first != NULL) {
        machine->fault = first->fault;
        machine->has_failed = true;
    }
    return first != NULL;
}

/* How many tiles stand where. */
typedef struct Census {
    int present, absent;
    int stopped[TILE_STOP_LIMIT + 1];
    Cycles arrival; /* latest clock */
} Census;

static Census count_stops(const Machine *machine)
{
    Census census = {0};
    for (int i = 0; i < CHIP_TILES; i++) {
        const TileState *tile = &machine->tiles[i];
        if (!tile->is_present) {
            census.absent++;
            continue;
        }
        census.present++;
        census.stopped[tile->stop]++;
        census.arrival = tile->cycle > census.arrival ? tile->cycle : census.arrival;
    }
    return census;
}

/* Where a tile stands when nobody can go on. */
static const char *state_of(const TileState *tile)
{
    static const char *const texts[TILE_STOP_LIMIT + 1] = {
        [TILE_STOP_SYNC_INTERNAL] = "waits at sync 3",
        [TILE_STOP_SYNC_ANS] = "waits at sync 1",
        [TILE_STOP_SYNC_HOST] = "waits at sync 7",
    };
    const char *text = tile->is_present ? texts[tile->stop] : "no image";
    return text != NULL ? text : "runs";
}

/* Has it not come to the barrier that most tiles wait at? `sync 1` is the internal one. */
static bool is_missed(const Machine *machine, const TileState *tile, bool is_host_barrier)
{
    if (!tile->is_present) {
        return !is_host_barrier && !machine->options.absent_tiles_answer;
    }
    bool is_internal = tile->stop == TILE_STOP_SYNC_INTERNAL || tile->stop == TILE_STOP_SYNC_ANS;
    return is_host_barrier ? tile->stop != TILE_STOP_SYNC_HOST : !is_internal;
}

static void explain_deadlock(Machine *machine, const Census *census)
{
    enum { NAMED = 3 };
    int host = census->stopped[TILE_STOP_SYNC_HOST];
    int internal = census->stopped[TILE_STOP_SYNC_INTERNAL],
        ans = census->stopped[TILE_STOP_SYNC_ANS];
    bool is_host_barrier = host > internal + ans;
    char named[160] = "";
    size_t len = 0;
    int missed = 0, first = 0;
    for (int i = 0; i < CHIP_TILES; i++) {
        const TileState *tile = &machine->tiles[i];
        if (!is_missed(machine, tile, is_host_barrier)) {
            continue;
        }
        first = missed == 0 ? i : first;
        if (missed++ < NAMED) {
            int put = snprintf(named + len, sizeof named - len, "%stile %d (pc 0x%x, %s)",
                               len > 0 ? ", " : "", i, tile->pc, state_of(tile));
            len += put > 0 ? (size_t)put : 0;
        }
    }
    if (missed == 0) {
        (void)snprintf(named, sizeof named, "no tile: none has an image");
    }
    if (missed > NAMED) {
        (void)snprintf(named + len, sizeof named - len, " and %d more", missed - NAMED);
    }
    fabric_fault(
        &machine->fault, FABRIC_DEADLOCK, (PhysTile){(uint16_t)first}, census->arrival,
        machine->tiles[first].pc,
        "waiting at sync 3: %d, at sync 1: %d, at sync 7: %d, no image: %d; the %s barrier "
        "misses %s",
        internal, ans, host, census->absent, is_host_barrier ? "host" : "internal", named);
    machine->has_failed = true;
}

static bool run_phase(Machine *machine, const Census *census)
{
    Cycles event_zero = census->arrival + machine->options.phase_cycles;
    for (int i = 0; i < CHIP_TILES; i++) {
        TileState *tile = &machine->tiles[i];
        machine->is_active[i] = tile->is_present && tile->stop == TILE_STOP_SYNC_INTERNAL;
        if (tile->is_present && tile->stop == TILE_STOP_SYNC_ANS) {
            tile->sans_pending = false;
            tile->cycle = event_zero;
        }
    }
    int64_t words = 0;
    if (!fabric_run_phase(machine->fabric, machine->tiles, machine->is_active, event_zero, &words,
                          &machine->fault)) {
        machine->has_failed = true;
        return false;
    }
    machine->exchanged_words += words;
    machine->phases++;
    for (int i = 0; i < CHIP_TILES; i++) {
        machine->tiles[i].stop = TILE_STOP_NONE;
    }
    return true;
}

/* The release falls on the next slot of worker 0: host time is not modelled, and so every call with the same data takes the same
 * cycles. */
static void release_host(Machine *machine)
{
    machine->is_at_host = false;
    machine->host_release = align_up(machine->host_arrival, CHIP_WORKERS);
    machine->phases = 0;
    for (int i = 0; i < CHIP_TILES; i++) {
        machine->tiles[i].stop = TILE_STOP_NONE;
        machine->tiles[i].cycle = machine->host_release;
    }
}

/* --- loading ------------------------------------------------------------------------------------------------------ */

/* Bytes of any alignment; a last part of a word is filled up with zeros. */
static void store_bytes(TileState *tile, uint32_t address, const uint8_t *bytes, uint32_t len)
{
    uint32_t words[COPY_WORDS];
    while (len > 0) {
        uint32_t part = len < sizeof words ? len : (uint32_t)sizeof words;
        uint32_t count = (part + 3) / 4;
        words[count - 1] = 0;
        memcpy(words, bytes, part);
        tile_store_words(tile, address, words, (int)count, NULL);
        address += part;
        bytes += part;
        len -= part;
    }
}

static void store_zeros(TileState *tile, uint32_t address, uint32_t len)
{
    static const uint32_t zeros[COPY_WORDS];
    uint32_t words = (len + 3) / 4;
    while (words > 0) {
        uint32_t part = words < COPY_WORDS ? words : COPY_WORDS;
        tile_store_words(tile, address, zeros, (int)part, NULL);
        address += 4 * part;
        words -= part;
    }
}

typedef struct Load {
    Machine *machine;
    const Package *package;
} Load;

static void load_image(void *context, isize index, int worker)
{
    const Load *load = context;
    const TileImage *image = &load->package->tiles.at[index];
    TileState *tile = &load->machine->tiles[image->tile.id];
    (void)worker;
    tile_reset(tile, image->entry);
    tile->is_present = true;
    tile->stop = TILE_STOP_NONE;
    for (int32_t i = 0; i < image->segment_count; i++) {
        const Segment *segment = &load->package->segments.at[image->segment_first + i];
        uint32_t end = (segment->bytes + 3) & ~3u;
        store_bytes(tile, segment->address, segment->at, segment->bytes);
        if (segment->memory_bytes > end) {
            store_zeros(tile, segment->address + end, segment->memory_bytes - end);
        }
    }
}

static void choose_pages(Machine *machine, const Package *package)
{
    size_t bytes = 0;
    for (isize i = 0; i < package->segments.len; i++) {
        bytes += package->segments.at[i].memory_bytes;
    }
    for (isize i = 0; i < package->shards.len; i++) {
        bytes += package->shards.at[i].bytes;
    }
    if (bytes > sram_total / 100 * HUGE_PAGES_FROM_PERCENT) {
        (void)madvise(machine->sram, sram_total, MADV_HUGEPAGE);
    }
}

/* --- the door ----------------------------------------------------------------------------------------------------- */

static TileState *tile_at(const Machine *machine, PhysTile tile)
{
    ASSERT(tile.id < CHIP_TILES);
    return &machine->tiles[tile.id];
}

static bool tracks_poison(const Machine *machine)
{
    return (machine->options.checks & CHECK_POISON) != 0;
}

Machine *machine_create(const MachineOptions *options)
{
    Machine *machine = calloc(1, sizeof *machine);
    ASSERT(machine != NULL);
    machine->options = *options;
    machine->options.threads = thread_count(options->threads);
    if (machine->options.phase_cycles == 0) {
        machine->options.phase_cycles = PHASE_COST_DEFAULT;
    }
    if (machine->options.checks == 0) {
        machine->options.checks = CHECK_DEFAULT;
    }
    machine->shared = (TileShared){.timing = tile_timing_default(),
                                   .is_unknown_assumed = machine->options.is_unknown_assumed,
                                   .is_interleaved = machine->options.is_interleaved,
                                   .vectors = machine->options.vectors,
                                   .pool = code_pool_create(),
                                   .checks = machine->options.checks,
                                   .trace = options->trace,
                                   .trace_tile = options->trace_tile};
    if ((machine->options.checks & WATCHED_CHECKS) != 0) {
        machine->watch = watch_create(machine->options.checks, machine->options.threads);
    }
    machine->sram = map_memory(sram_total);
    machine->poison = map_memory(poison_total);
    machine->tiles = calloc(CHIP_TILES, sizeof *machine->tiles);
    machine->is_active = calloc(CHIP_TILES, sizeof *machine->is_active);
    ASSERT(machine->tiles != NULL && machine->is_active != NULL);
    if (tracks_poison(machine)) {
        (void)madvise(machine->poison, poison_total, MADV_HUGEPAGE);
        memset(machine->poison, 0xff, poison_total);
    }
    for (int i = 0; i < CHIP_TILES; i++) {
        tile_create(&machine->tiles[i], (PhysTile){(uint16_t)i},
                    machine->sram + (size_t)i * SRAM_BYTES,
                    machine->poison + (size_t)i * POISON_WORDS);
    }
    machine->fabric = fabric_create(machine->options.threads, options->idle_source_allowed,
                                    !tracks_poison(machine));
    fabric_set_words(machine->fabric, options->fabric_words);
    return machine;
}

void machine_print_assumed(Writer *writer, const Machine *machine)
{
    uint64_t rows = 0;
    for (int i = 0; i < CHIP_TILES; i++) {
        rows |= machine->tiles[i].assumed;
    }
    assumed_print(writer, rows);
}

void machine_destroy(Machine *machine)
{
    if (machine == NULL) {
        return;
    }
    for (int i = 0; i < CHIP_TILES; i++) {
        tile_destroy(&machine->tiles[i]);
    }
    code_pool_destroy(machine->shared.pool);
    watch_destroy(machine->watch);
    fabric_destroy(machine->fabric);
    (void)munmap(machine->sram, sram_total);
    (void)munmap(machine->poison, poison_total);
    free(machine->tiles);
    free(machine->is_active);
    free(machine);
}

void machine_describe(Machine *machine, const Package *package)
{
    if (machine->watch) {
        watch_describe(machine->watch, package);
    }
}

bool machine_load(Machine *machine, const Package *package, Error *err)
{
    ASSERT(!machine->is_loaded); /* decoded code depends on the flags */
    if (!isa_flags_check(package->isa_flags, err)) {
        return error_context(err, "package");
    }
    machine->is_loaded = true;
    if (package->isa_flags) {
        machine->flags = *package->isa_flags;
        machine->shared.flags = &machine->flags;
    }
    choose_pages(machine, package);
    machine_describe(machine, package);
    Load load = {machine, package};
    parallel_for(machine->options.threads, package->tiles.len, TILE_CHUNK, load_image, &load);
    return true;
}

void machine_load_tile(Machine *machine, PhysTile tile, uint32_t address, const void *bytes,
                       uint32_t len, uint32_t entry)
{
    TileState *state = tile_at(machine, tile);
    ASSERT(address % 4 == 0 && range_in_sram(address, (len + 3) & ~3u));
    store_bytes(state, address, bytes, len);
    if (entry != 0) {
        tile_reset(state, entry);
        state->is_present = true;
        state->stop = TILE_STOP_NONE;
    }
}

MachineStop machine_run(Machine *machine, Cycles limit)
{
    if (machine->has_failed) {
        return MACHINE_STOP_FAULT;
    }
    if (machine->is_at_host) {
        release_host(machine);
    }
    machine->deadline = limit > 0 ? machine->host_release + limit : 0;
    for (;;) {
        parallel_for(machine->options.threads, CHIP_TILES, TILE_CHUNK, run_tile, machine);
        if (find_fault(machine)) {
            return MACHINE_STOP_FAULT;
        }
        Census census = count_stops(machine);
        if (census.stopped[TILE_STOP_LIMIT] > 0) {
            return MACHINE_STOP_LIMIT;
        }
        if (census.present > 0 && census.stopped[TILE_STOP_SYNC_HOST] == census.present) {
            machine->is_at_host = true;
            machine->host_arrival = census.arrival;
            return MACHINE_STOP_HOST;
        }
        int waiting = census.stopped[TILE_STOP_SYNC_INTERNAL] + census.stopped[TILE_STOP_SYNC_ANS];
        bool all_here = census.absent == 0 || machine->options.absent_tiles_answer;
        if (census.present == 0 || waiting != census.present || !all_here) {
            explain_deadlock(machine, &census);
            return MACHINE_STOP_FAULT;
        }
        if (!run_phase(machine, &census)) {
            return MACHINE_STOP_FAULT;
        }
    }
}

const Fault *machine_fault(const Machine *machine)
{
    return &machine->fault;
}

void machine_set_phase_cycles(Machine *machine, Cycles phase_cycles)
{
    machine->options.phase_cycles = phase_cycles > 0 ? phase_cycles : PHASE_COST_DEFAULT;
}

MachineCounters machine_counters(const Machine *machine)
{
    MachineCounters counters = {.host_release = machine->host_release,
                                .host_arrival = machine->host_arrival,
                                .phases = machine->phases,
                                .exchanged_words = machine->exchanged_words};
    for (int i = 0; i < CHIP_TILES; i++) {
        counters.instructions += machine->tiles[i].instructions;
        counters.amp_instructions += machine->tiles[i].amp_instructions;
    }
    return counters;
}

Cycles machine_tile_cycles(const Machine *machine, PhysTile tile)
{
    return tile_at(machine, tile)->cycle;
}

void machine_write(Machine *machine, PhysTile tile, uint32_t address, const void *bytes,
                   uint32_t len)
{
    TileState *state = tile_at(machine, tile);
    ASSERT(address % 4 == 0 && len % 4 == 0 && range_in_sram(address, len));
    if ((uintptr_t)bytes % 4 == 0) {
        tile_store_words(state, address, bytes, (int)(len / 4), NULL);
    } else {
        store_bytes(state, address, bytes, len);
    }
}

bool machine_read(const Machine *machine, PhysTile tile, uint32_t address, void *bytes,
                  uint32_t len, uint32_t *poison_at)
{
    const TileState *state = tile_at(machine, tile);
    ASSERT(address % 4 == 0 && len % 4 == 0 && range_in_sram(address, len));
    uint32_t first = (address - SRAM_BASE) / 4;
    memcpy(bytes, state->sram + 4 * (size_t)first, len);
    if (!tracks_poison(machine)) {
        return true;
    }
    for (uint32_t i = first; i < first + len / 4; i++) {
        if (i % 32 == 0 && state->poison[i / 32] == 0) {
            i += 31;
        } else if ((state->poison[i / 32] >> (i % 32) & 1) != 0) {
            *poison_at = SRAM_BASE + 4 * i;
            return false;
        }
    }
    return true;
}

void machine_poison(Machine *machine, PhysTile tile, uint32_t address, uint32_t len,
                    uint32_t pattern)
{
    ASSERT(address % 4 == 0 && len % 4 == 0 && range_in_sram(address, len));
    uint32_t words[64];
    uint8_t poison[sizeof words / 32];
    memset(poison, 0xff, sizeof poison);
    for (size_t i = 0; i < sizeof words / 4; i++) {
        words[i] = pattern;
    }
    while (len > 0) {
        uint32_t part = len < sizeof words ? len : (uint32_t)sizeof words;
        tile_store_words(tile_at(machine, tile), address, words, (int)(part / 4), poison);
        address += part;
        len -= part;
    }
}

uint32_t machine_register(const Machine *machine, PhysTile tile, int context, bool is_aux,
                          int index)
{
    const TileState *state = tile_at(machine, tile);
    ASSERT(index >= 0 && index < 16 && context >= -1 && context < CHIP_WORKERS);
    ASSERT(!is_aux || context >= 0);
    if (index == MZERO) {
        return 0;
    }
    if (context < 0) {
        return state->m[index];
    }
    return is_aux ? state->worker[context].a[index] : state->worker[context].m[index];
}
