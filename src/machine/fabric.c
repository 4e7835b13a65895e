/* One internal exchange phase (reference/exchange.md 11): the pull model, by runs of words.
 *
 * 1. Every tile's row is decoded into messages and controls (fabric_row.c).
 * 2. Every receiver walks the windows in which its mux listens to a source, looks up what that source put on the wire
 *    T(s,d) + 1 events before, and maps the words through its pointer controls to SRAM addresses (fabric_receive.c).
 * 3. The rules that need a tile's sends and stores together are checked (fabric_check.c): separation of elements (X9,
 *    X10), borrowed lanes (X20), what is sent on (X12).
 * 4. Stores are applied.
 *
 * Words are read where they lie. As a rule nothing that is sent is stored to, and stores run tile by tile. A word that is sent
 * and stored over later is copied before. Where a word is stored and then sent on (X12), the phase runs in the order of
 * events: a message is read, data and poison, when it begins to be sent, and written when it begins to be stored. That is
 * exact, because reads and writes of one element never overlap in time (X9).
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

static const uint32_t *sram_words(const TileState *tile, uint32_t address)
{
    const void *at = tile->sram + (address - SRAM_BASE);
    return at;
}

/* Poison bits of a range of words of a tile, a bit a word from bit 0 on; NULL when all are defined. */
static const uint8_t *poison_of(const TileState *tile, uint32_t address, int32_t words,
                                Arena *arena)
{
    uint32_t first = (address - SRAM_BASE) / 4, end = first + (uint32_t)words;
    uint32_t any = 0;
    for (uint32_t i = first / 32; i <= (end - 1) / 32; i++) {
        uint32_t bits = tile->poison[i];
        bits &= i == first / 32 ? ~0u << (first % 32) : ~0u;
        bits &= i == (end - 1) / 32 ? ~0u >> (31 - (end - 1) % 32) : ~0u;
        any |= bits;
    }
    if (any == 0) {
        return NULL;
    }
    uint8_t *out = arena_array(arena, uint8_t, (words + 7) / 8);
    for (uint32_t i = first; i < end; i++) {
        uint32_t bit = tile->poison[i / 32] >> (i % 32) & 1;
        out[(i - first) / 8] |= (uint8_t)(bit << ((i - first) % 8));
    }
    return out;
}

/* Data of a tile's messages, as they are when the phase begins. */
static void find_data(Fabric *fabric, isize index, Arena *arena)
{
    const TileState *state = &fabric->tiles[index];
    FabricRow *row = &fabric->tile[index].program;
    Event *ends = arena_array(arena, Event, row->messages.len);
    row->message_ends = ends;
    for (isize i = 0; i < row->messages.len; i++) {
        FabricMessage *message = &row->messages.at[i];
        ends[i] = message->end;
        uint32_t bytes = message_bytes(message);
        message->groups = groups_of(message->address, message->address + bytes);
        row->send_groups |= message->groups;
        message->at = sram_words(state, message->address);
        if (!fabric->poison_off) {
            message->poison = poison_of(state, message->address, (int32_t)(bytes / 4), arena);
        }
    }
}

/* --- step 1 ------------------------------------------------------------------------------------------------------- */

static void decode_tile(void *context, isize index, int worker)
{
    Fabric *fabric = context;
    FabricTile *tile = &fabric->tile[index];
    Arena *arena = &fabric->worker[worker].arena;
    tile->program = (FabricRow){0};
    tile->stores = (FabricStoreVec){0};
    tile->heard = NULL;
    tile->store_groups = 0;
    tile->has_fault = tile->forwards = tile->overwrites = false;
    if (!fabric->is_active[index]) {
        return;
    }
    FabricRowContext row = {fabric->event_zero, fabric->poison_off, arena};
    tile->has_fault = !fabric_decode_row(&fabric->tiles[index], &row, &tile->program, &tile->fault);
    if (!tile->has_fault && tile->program.messages.len > 0) {
        tile->heard = arena_array(arena, HeardMark, tile->program.messages.len);
        find_data(fabric, index, arena);
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

/* --- step 4 ------------------------------------------------------------------------------------------------------- */

/* Keeps the words of a message as they are now. */
static void keep_data(FabricMessage *message, Arena *arena)
{
    uint32_t bytes = message_bytes(message);
    uint32_t *copy = arena_array(arena, uint32_t, bytes / 4);
    memcpy(copy, message->at, bytes);
    message->at = copy;
}

static void copy_overwritten(void *context, isize index, int worker)
{
    Fabric *fabric = context;
    FabricTile *tile = &fabric->tile[index];
    for (isize i = 0; tile->overwrites && i < tile->program.messages.len; i++) {
        if (tile->program.messages.at[i].is_overwritten) {
            keep_data(&tile->program.messages.at[i], &fabric->worker[worker].arena);
        }
    }
}

static void apply_store(Fabric *fabric, int d, const FabricStore *store)
{
    tile_store_words(&fabric->tiles[d], store->address, store->from->at, store->words,
                     store->from->poison);
}

static void store_tile(void *context, isize index, int worker)
{
    Fabric *fabric = context;
    const FabricStoreVec *stores = &fabric->tile[index].stores;
    (void)worker;
    for (isize i = 0; i < stores->len; i++) {
        apply_store(fabric, (int)index, &stores->at[i]);
    }
}

/* What happens at one event: the beginning of a send, or of a store. */
typedef struct FabricAction {
    FabricMessage *send;
    const FabricStore *store; /* of `tile`; NULL: a send */
    uint16_t tile;
} FabricAction;

/* Actions of all tiles by events; sends only where their data depend on the event. */
static isize order_actions(Fabric *fabric, FabricAction **actions, SortKey **order, Arena *arena)
{
    isize count = 0;
    for (int i = 0; i < CHIP_TILES; i++) {
        count += fabric->tile[i].stores.len + fabric->tile[i].program.messages.len;
    }
    ASSERT(count <= UINT32_MAX);
    *actions = arena_array(arena, FabricAction, count);
    *order = arena_array(arena, SortKey, count);
    isize n = 0;
    for (int i = 0; i < CHIP_TILES; i++) {
        FabricTile *tile = &fabric->tile[i];
        for (isize k = 0; k < tile->stores.len; k++, n++) {
            const FabricStore *store = &tile->stores.at[k];
            (*actions)[n] = (FabricAction){NULL, store, (uint16_t)i};
            (*order)[n] = (SortKey){(uint64_t)store->begin, (uint32_t)n};
        }
        for (isize k = 0; k < tile->program.messages.len; k++) {
            FabricMessage *message = &tile->program.messages.at[k];
            if (message->is_forwarded || message->is_overwritten) {
                (*actions)[n] = (FabricAction){message, NULL, (uint16_t)i};
                (*order)[n] = (SortKey){(uint64_t)message->begin, (uint32_t)n};
                n++;
            }
        }
    }
    sort_keys(*order, n, *arena);
    return n;
}

/* X12. At one event sends and stores have nothing in common (X9), so their order does not matter. */
static void store_in_order(Fabric *fabric)
{
    Arena *arena = &fabric->worker[0].arena;
    FabricAction *actions;
    SortKey *order;
    isize count = order_actions(fabric, &actions, &order, arena);
    for (isize i = 0; i < count; i++) {
        const FabricAction *action = &actions[order[i].payload];
        if (action->store != NULL) {
            apply_store(fabric, action->tile, action->store);
            continue;
        }
        FabricMessage *message = action->send;
        if (!fabric->poison_off) {
            message->poison = poison_of(&fabric->tiles[action->tile], message->address,
                                        (int32_t)(message_bytes(message) / 4), arena);
        }
        if (message->is_overwritten) {
            keep_data(message, arena);
        }
    }
}

static void store_all(Fabric *fabric)
{
    bool forwards = false, overwrites = false;
    for (int i = 0; i < CHIP_TILES; i++) {
        forwards = forwards || fabric->tile[i].forwards;
        overwrites = overwrites || fabric->tile[i].overwrites;
    }
    if (forwards) {
        store_in_order(fabric);
        return;
    }
    if (overwrites) {
        parallel_for(fabric->threads, CHIP_TILES, TILE_CHUNK, copy_overwritten, fabric);
    }
    parallel_for(fabric->threads, CHIP_TILES, TILE_CHUNK, store_tile, fabric);
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
    tile->exchange_end = tile->cycle;
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

void fabric_set_words(Fabric *fabric, bool is_by_words)
{
    fabric->is_by_words = is_by_words;
}

bool fabric_met(const Fabric *fabric, const char *name)
{
    for (int i = 0; i < FABRIC_FAULT_COUNT; i++) {
        if (strcmp(fault_rows[i].name, name) == 0) {
            return (fabric->words_faults >> i & 1) != 0;
        }
    }
    return false;
}

/* Steps 2 to 4. */
static bool run_bulk(Fabric *fabric, int64_t *stored_words, Fault *fault)
{
    parallel_for(fabric->threads, CHIP_TILES, TILE_CHUNK, receive_tile, fabric);
    if (find_fault(fabric, fault)) {
        return false;
    }
    parallel_for(1, CHIP_TILES, TILE_CHUNK, check_heard, fabric);
    if (find_fault(fabric, fault)) {
        return false;
    }
    store_all(fabric);
    for (int i = 0; i < CHIP_TILES; i++) {
        for (isize k = 0; k < fabric->tile[i].stores.len; k++) {
            *stored_words += fabric->tile[i].stores.at[k].words;
        }
    }
    return true;
}

static bool run_words(Fabric *fabric, int64_t *stored_words, Fault *fault)
{
    fabric_run_words(fabric, stored_words);
    if (find_fault(fabric, fault)) {
        return false;
    }
    parallel_for(1, CHIP_TILES, TILE_CHUNK, check_heard, fabric);
    return !find_fault(fabric, fault);
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
    if (!(fabric->is_by_words ? run_words : run_bulk)(fabric, stored_words, fault)) {
        return false;
    }
    for (int i = 0; i < CHIP_TILES; i++) {
        if (is_active[i]) {
            return_from_row(&tiles[i], &fabric->tile[i].program, event_zero);
        }
    }
    return true;
}
