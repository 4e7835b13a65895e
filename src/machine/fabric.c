/* One internal exchange phase (reference/exchange.md 11): the pull model, by runs of words.
 *
 * 1. Every tile's row is decoded into messages and controls (fabric_row.c).
 * 2. Every receiver walks the windows in which its mux listens to a source, looks up what that source put on the wire
 *    T(s,d) + 1 events before, and maps the words through its pointer controls to SRAM addresses (fabric_receive.c).
 * 3. The rules that need a tile's sends and stores together are checked (fabric_check.c): separation of elements (X9,
 *    X10), borrowed lanes (X20), forwarding.
 * 4. Stores are applied.
 *
 * Words are read where they lie, and stored tile by tile, as long as no word is both sent and stored to in the same phase.
 * Where one is, the phase is run in the order of events instead: a message is read as a whole when it begins to be sent and
 * written when it begins to be stored. That is exact, because reads and writes of one element never overlap in time (X9).
 *
 * Listening is strict: a run must be one whole message of one source, so a mux that opens late or leaves early is seen
 * (X2), and a message that nobody hears is an error. Every step runs in parallel over tiles and writes only the record of
 * its own tile (and `heard` marks, which only ever gain bits); the first fault in tile order is reported.
 */
#include "machine/fabric_phase.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { TILE_CHUNK = 8 };

static const isize WORKER_ARENA_BYTES = (isize)4 << 30;

static const struct {
    const char *name;
    FaultCategory category;
} fault_rows[FABRIC_FAULT_COUNT] = {
#define FABRIC_FAULT(name, category, text) {#name, FAULT_##category},
#include "machine/fabric_faults.def"
#undef FABRIC_FAULT
};

/* --- step 1 ------------------------------------------------------------------------------------------------------- */

static void decode_tile(void *context, isize index, int worker)
{
    Fabric *fabric = context;
    FabricTile *tile = &fabric->tile[index];
    Arena *arena = &fabric->worker[worker].arena;
    tile->program = (FabricRow){0};
    tile->stores = (FabricStoreVec){0};
    tile->heard = NULL;
    tile->has_fault = false;
    tile->is_reused = false;
    if (!fabric->is_active[index]) {
        return;
    }
    FabricRowContext row = {fabric->event_zero, fabric->poison_off, arena};
    tile->has_fault = !fabric_decode_row(&fabric->tiles[index], &row, &tile->program, &tile->fault);
    if (tile->program.messages.len > 0) {
        tile->heard = arena_array(arena, HeardMark, tile->program.messages.len);
    }
}

/* --- steps 2 and 3 -------------------------------------------------------------------------------------------------- */

static void receive_tile(void *context, isize index, int worker)
{
    Fabric *fabric = context;
    FabricTile *tile = &fabric->tile[index];
    if (tile->program.has_row) {
        tile->has_fault = !(fabric_receive(fabric, (int)index, &fabric->worker[worker].arena) &&
                            fabric_check_tile(fabric, (int)index, fabric->worker[worker].stored));
    }
}

/* X13, and messages into the void. */
static void check_heard(void *context, isize index, int worker)
{
    Fabric *fabric = context;
    FabricTile *tile = &fabric->tile[index];
    int d = (int)index;
    (void)worker;
    for (isize i = 0; i < tile->program.messages.len; i++) {
        const FabricMessage *message = &tile->program.messages.at[i];
        uint8_t heard = atomic_load_explicit(&tile->heard[i], memory_order_relaxed);
        if ((heard & HEARD_OTHER) != 0) {
            continue;
        }
        FabricFault which = heard == 0 ? FABRIC_UNHEARD : FABRIC_SELF_ONLY;
        tile->has_fault = !RECEIVE_FAULT(fabric, d, which, message->begin, message->pc,
                                         "%d words sent from 0x%x at event %d reach %s",
                                         message->end - message->begin, message->address,
                                         message->begin, heard == 0 ? "no tile" : "only this tile");
        return;
    }
}

/* A store of a tile, while the stores of all tiles are in one order. */
typedef struct FabricAction {
    FabricStore *store;
    uint16_t tile;
} FabricAction;

/* --- step 4 ------------------------------------------------------------------------------------------------------- */

static void store_tile(void *context, isize index, int worker)
{
    Fabric *fabric = context;
    FabricTile *tile = &fabric->tile[index];
    (void)worker;
    for (isize i = 0; i < tile->stores.len; i++) {
        const FabricStore *store = &tile->stores.at[i];
        tile_store_words(&fabric->tiles[index], store->address, store->at, store->words,
                         store->poison);
    }
}

/* Stores of all tiles in the order of events (X12). */
static void store_in_order(Fabric *fabric)
{
    Arena *arena = &fabric->worker[0].arena;
    isize count = 0;
    for (int i = 0; i < CHIP_TILES; i++) {
        count += fabric->tile[i].stores.len;
    }
    FabricAction *actions = arena_array(arena, FabricAction, count);
    SortKey *order = arena_array(arena, SortKey, 2 * count);
    isize n = 0;
    for (int i = 0; i < CHIP_TILES; i++) {
        for (isize k = 0; k < fabric->tile[i].stores.len; k++, n++) {
            FabricStore *store = &fabric->tile[i].stores.at[k];
            actions[n] = (FabricAction){store, (uint16_t)i};
            order[2 * n] = (SortKey){(uint64_t)store->sent, (uint32_t)(2 * n)};
            order[2 * n + 1] = (SortKey){(uint64_t)store->begin, (uint32_t)(2 * n + 1)};
        }
    }
    sort_keys(order, 2 * count, *arena);
    for (isize i = 0; i < 2 * count; i++) {
        FabricStore *store = actions[order[i].payload / 2].store;
        const TileState *source = &fabric->tiles[store->source];
        if (order[i].payload % 2 == 1) {
            tile_store_words(&fabric->tiles[actions[order[i].payload / 2].tile], store->address,
                             store->at, store->words, store->poison);
            continue;
        }
        uint32_t *copy = arena_array(arena, uint32_t, store->words);
        memcpy(copy, store->at, 4 * (size_t)store->words);
        store->at = copy;
        if (!fabric->poison_off) {
            store->poison = fabric_poison_of(source, store->source_address, store->words, arena);
        }
    }
}

/* --- the phase ---------------------------------------------------------------------------------------------------- */

static bool find_fault(const Fabric *fabric, Fault *fault)
{
    for (int i = 0; i < CHIP_TILES; i++) {
        if (fabric->tile[i].has_fault) {
            *fault = fabric->tile[i].fault;
            return true;
        }
    }
    return false;
}

static void return_from_row(TileState *tile, const FabricRow *program, Cycles event_zero)
{
    enum { LINK_REGISTER = 10 };
    tile->cycle = event_zero;
    if (!program->has_row) {
        return;
    }
    tile->cycle += program->end;
    tile->pc = program->return_pc;
    tile->m[LINK_REGISTER] = program->return_pc;
    tile->m_poison &= (uint16_t) ~(1u << LINK_REGISTER);
    tile->m_ready[LINK_REGISTER] = tile->cycle;
}

void fabric_fault(Fault *fault, FabricFault which, PhysTile tile, Cycles cycle, uint32_t pc,
                  const char *format, ...)
{
    va_list arguments;
    *fault = (Fault){.category = fault_rows[which].category,
                     .name = fault_rows[which].name,
                     .tile = tile,
                     .context = -1,
                     .cycle = cycle,
                     .pc = pc};
    va_start(arguments, format);
    (void)vsnprintf(fault->detail, sizeof fault->detail, format, arguments);
    va_end(arguments);
}

Fabric *fabric_create(int threads, bool idle_source_allowed, bool poison_off)
{
    Fabric *fabric = calloc(1, sizeof *fabric);
    ASSERT(fabric != NULL);
    fabric->threads = threads < 1 ? 1 : threads > FABRIC_THREADS_MAX ? FABRIC_THREADS_MAX : threads;
    fabric->idle_source_allowed = idle_source_allowed;
    fabric->poison_off = poison_off;
    for (int i = 0; i < fabric->threads; i++) {
        FabricWorker *worker = &fabric->worker[i];
        worker->arena = arena_create(WORKER_ARENA_BYTES);
        worker->stored = arena_array(&worker->arena, uint64_t, FABRIC_BITMAP_WORDS);
        worker->arena_start = worker->arena.at;
    }
    return fabric;
}

void fabric_destroy(Fabric *fabric)
{
    if (fabric == NULL) {
        return;
    }
    for (int i = 0; i < fabric->threads; i++) {
        arena_destroy(&fabric->worker[i].arena);
    }
    free(fabric);
}

bool fabric_run_phase(Fabric *fabric, TileState *tiles, const bool *is_active, Cycles event_zero,
                      int64_t *stored_words, Fault *fault)
{
    fabric->tiles = tiles;
    fabric->is_active = is_active;
    fabric->event_zero = event_zero;
    *stored_words = 0;
    for (int i = 0; i < fabric->threads; i++) {
        fabric->worker[i].arena.at = fabric->worker[i].arena_start;
    }
    parallel_for(fabric->threads, CHIP_TILES, TILE_CHUNK, decode_tile, fabric);
    if (find_fault(fabric, fault)) {
        return false;
    }
    parallel_for(fabric->threads, CHIP_TILES, TILE_CHUNK, receive_tile, fabric);
    if (find_fault(fabric, fault)) {
        return false;
    }
    parallel_for(1, CHIP_TILES, TILE_CHUNK, check_heard, fabric);
    if (find_fault(fabric, fault)) {
        return false;
    }
    bool is_reused = false;
    for (int i = 0; i < CHIP_TILES; i++) {
        is_reused = is_reused || fabric->tile[i].is_reused;
    }
    if (is_reused) {
        store_in_order(fabric);
    } else {
        parallel_for(fabric->threads, CHIP_TILES, TILE_CHUNK, store_tile, fabric);
    }
    for (int i = 0; i < CHIP_TILES; i++) {
        for (isize k = 0; k < fabric->tile[i].stores.len; k++) {
            *stored_words += fabric->tile[i].stores.at[k].words;
        }
        if (is_active[i]) {
            return_from_row(&tiles[i], &fabric->tile[i].program, event_zero);
        }
    }
    return true;
}
