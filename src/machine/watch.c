/* Races, stores into code, accesses outside a call's buffers.
 *
 * Race. Workers of a launch run one after another in the model and at once on the hardware, so it is enough to remember who
 * touched a word since the launch: a shadow of every word holds the writer and the readers, and the number of the launch, so that
 * nothing has to be cleared. A launch ends at the supervisor's next `sync` or `runall`; what the supervisor does before is done
 * beside the workers. A load is no read yet, since kernels load behind the end of their data what they never use: a register
 * remembers which word it came from, and using it is the read.
 *
 * Code. One bit a word of region 0: executed, or in a segment that is code and not to be written.
 *
 * Buffers. A kernel call is known by the address that its `call` returns to; until then supervisor and workers may access the
 * debug regions that the package names for it. Words of an access tail may be loaded and not used.
 */
#include "machine/watch.h"
#include "machine/exec.h"
#include <stdlib.h>
#include <sys/mman.h>

enum {
    REGION0_WORDS = (SRAM_REGION1 - SRAM_BASE) / 4,
    CODE_BITS_WORDS = REGION0_WORDS / 32,
    REGISTERS = 32,
    EPOCH_MAX = (1 << 23) - 1,
};

_Static_assert(REGION0_WORDS % 32 == 0 && REGION0_WORDS <= 1 << 16, "a code address has 16 bits");

/* Who touched a word in launch `epoch`. Code addresses in words from SRAM_BASE. */
typedef struct Shadow {
    uint32_t epoch : 23, readers : 6, writer : 3; /* readers: one bit each; writer: number + 1 */
    uint16_t write_at, read_at;                   /* of the writer and the first reader */
} Shadow;

/* The word that a register was loaded from. */
typedef struct Source {
    uint32_t address;
    uint16_t load_at;
    bool is_tail;
} Source;

/* A debug region that a call may access. */
typedef struct Area {
    uint32_t address, bytes, tail_bytes, count, stride;
    uint32_t name; /* number of its name */
    bool is_written;
} Area;

typedef struct Use {
    uint32_t name;
    bool is_written;
} Use;

/* What the package says about calls, by tile. */
typedef struct CallTables {
    Arena arena;
    Area *
        areas; /* of tile t: areas[area_first[t] .. area_first[t + 1]); row CHIP_TILES: of every tile */
    int32_t *area_first, *call_first;
    CallRecord *calls;
    CallUses *lists;
    Use *uses;
    uint32_t names;
    int32_t areas_max; /* of one tile */
} CallTables;

struct Watch {
    uint32_t checks;
    uint32_t *code; /* of the tile */
    uint32_t epoch;
    Shadow *shadow;
    Source source[CHIP_WORKERS][REGISTERS];
    uint32_t live[CHIP_WORKERS];   /* registers whose source has not been read yet, one bit each */
    uint32_t loaded[CHIP_WORKERS]; /* registers that hold what was loaded */
    uint32_t undefined_from;
    const CallTables *tables;
    int tile;
    uint32_t call_return; /* where the running call returns to; 0: none runs */
    Area *areas;          /* that it may access */
    int32_t area_count;
    uint32_t *
        name_call; /* by name: number of the last call that used it, twice, plus one when it writes */
    uint32_t call_number;
};

struct WatchSet {
    uint32_t checks;
    int threads;
    struct Watch *watch;
    uint32_t *code; /* CODE_BITS_WORDS a tile */
    CallTables tables;
};

static const size_t shadow_bytes = (size_t)SRAM_WORDS * sizeof(Shadow);
static const size_t code_bytes = (size_t)CHIP_TILES * CODE_BITS_WORDS * 4;

static void *map_lazily(size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ASSERT(at != MAP_FAILED);
    return at;
}

static uint16_t code_index(uint32_t pc)
{
    return (uint16_t)((pc - SRAM_BASE) / 4);
}

static uint32_t code_address(uint16_t index)
{
    return SRAM_BASE + 4 * (uint32_t)index;
}

/* --- races --------------------------------------------------------------------------------------------------------- */

static void begin_epoch(struct Watch *watch)
{
    memset(watch->live, 0, sizeof watch->live);
    memset(watch->loaded, 0, sizeof watch->loaded);
    if (watch->epoch == EPOCH_MAX && watch->shadow) {
        memset(watch->shadow, 0, shadow_bytes);
        watch->epoch = 0;
    }
    watch->epoch++;
}

static Shadow *shadow_at(struct Watch *watch, uint32_t address)
{
    Shadow *shadow = &watch->shadow[(address - SRAM_BASE) / 4];
    if (shadow->epoch != watch->epoch) {
        *shadow = (Shadow){.epoch = watch->epoch & EPOCH_MAX};
    }
    return shadow;
}

/* `does` at pc meets what `other` did at other_pc. */
static bool race(Exec *x, uint32_t address, const char *does, uint32_t pc, int other,
                 const char *did, uint32_t other_pc)
{
    tile_fault(x->tile, "RACE", x->context, pc, x->cycle, "%s 0x%x, which worker %d %s", does,
               address, other, did);
    x->tile->fault.address = address;
    x->tile->fault.other_context = other;
    x->tile->fault.other_pc = other_pc;
    return false;
}

static bool note_read(Exec *x, uint32_t address, uint32_t pc)
{
    Shadow *shadow = shadow_at(x->watch, address);
    if (shadow->writer != 0 && shadow->writer != x->context + 1) {
        return race(x, address, "reads", pc, shadow->writer - 1, "wrote",
                    code_address(shadow->write_at));
    }
    if (x->context >= 0) {
        shadow->read_at = shadow->readers == 0 ? code_index(pc) : shadow->read_at;
        shadow->readers |= 1u << x->context & 63;
    }
    return true;
}

static bool note_write(Exec *x, uint32_t address)
{
    Shadow *shadow = shadow_at(x->watch, address);
    if (shadow->writer != 0 && shadow->writer != x->context + 1) {
        return race(x, address, "writes", x->pc, shadow->writer - 1, "wrote",
                    code_address(shadow->write_at));
    }
    uint32_t own = x->context >= 0 ? 1u << x->context : 0, others = shadow->readers & ~own;
    if (others != 0) {
        return race(x, address, "writes", x->pc, __builtin_ctz(others), "read",
                    code_address(shadow->read_at));
    }
    if (x->context >= 0) {
        shadow->writer = (uint32_t)(x->context + 1) & 7;
        shadow->write_at = code_index(x->pc);
    }
    return true;
}

/* --- buffers ------------------------------------------------------------------------------------------------------- */

static bool is_inside(const Area *area, uint32_t address, uint32_t bytes)
{
    uint32_t offset = address - area->address;
    uint32_t member = area->stride > 0 ? offset / area->stride : 0;
    member = member < area->count ? member : area->count - 1;
    return address >= area->address && offset - member * area->stride < bytes;
}

static bool outside(Exec *x, uint32_t address, uint32_t pc, const char *what)
{
    tile_fault(x->tile, "OUTSIDE_BUFFERS", x->context, pc, x->cycle,
               "%s 0x%x in the call that returns to 0x%x", what, address, x->watch->call_return);
    x->tile->fault.address = address;
    return false;
}

/* May the running call access the word? *is_tail: it lies behind a buffer and may not be used. */
static bool may_access(const struct Watch *watch, uint32_t address, bool is_store, bool *is_tail)
{
    *is_tail = false;
    for (int32_t i = 0; i < watch->area_count; i++) {
        const Area *area = &watch->areas[i];
        if (is_inside(area, address, area->bytes) && (area->is_written || !is_store)) {
            *is_tail = false;
            return true;
        }
        *is_tail = *is_tail || is_inside(area, address, area->bytes + area->tail_bytes);
    }
    return *is_tail && !is_store;
}

static void add_areas(struct Watch *watch, int row)
{
    const CallTables *tables = watch->tables;
    for (int32_t i = tables->area_first[row]; i < tables->area_first[row + 1]; i++) {
        uint32_t call = watch->name_call[tables->areas[i].name];
        if (call / 2 == watch->call_number) {
            watch->areas[watch->area_count] = tables->areas[i];
            watch->areas[watch->area_count++].is_written = call % 2 != 0;
        }
    }
}

/* A `call` is about to be executed: does the package know it? */
static void begin_call(struct Watch *watch, uint32_t return_address)
{
    const CallTables *tables = watch->tables;
    int32_t first = tables->call_first[watch->tile], end = tables->call_first[watch->tile + 1];
    while (first < end) {
        int32_t middle = first + (end - first) / 2;
        if (tables->calls[middle].return_address < return_address) {
            first = middle + 1;
        } else {
            end = middle;
        }
    }
    if (first == tables->call_first[watch->tile + 1] ||
        tables->calls[first].return_address != return_address) {
        return;
    }
    if (++watch->call_number > UINT32_MAX / 2) {
        memset(watch->name_call, 0, tables->names * sizeof *watch->name_call);
        watch->call_number = 1;
    }
    const CallUses *list = &tables->lists[tables->calls[first].uses];
    for (int32_t i = list->first; i < list->first + list->count; i++) {
        uint32_t *call = &watch->name_call[tables->uses[i].name];
        bool is_written = *call / 2 == watch->call_number && *call % 2 != 0;
        *call = 2 * watch->call_number + (is_written || tables->uses[i].is_written);
    }
    watch->call_return = return_address;
    watch->area_count = 0;
    add_areas(watch, watch->tile);
    add_areas(watch, CHIP_TILES);
}

/* --- what happens -------------------------------------------------------------------------------------------------- */

static void mark_code(uint32_t *code, uint32_t pc)
{
    code[code_index(pc) / 32] |= 1u << (code_index(pc) % 32);
}

/* An instruction uses registers: the words they came from are read now. */
static bool read_sources(Exec *x, uint32_t used)
{
    struct Watch *watch = x->watch;
    for (uint32_t left = used & watch->live[x->context]; left != 0; left &= left - 1) {
        const Source *source = &watch->source[x->context][__builtin_ctz(left)];
        uint32_t load_pc = code_address(source->load_at);
        if (source->is_tail) {
            return outside(x, source->address, x->pc, "uses the access tail at");
        }
        if ((watch->checks & CHECK_RACE) != 0 && !note_read(x, source->address, load_pc)) {
            return false;
        }
    }
    return true;
}

static void watch_supervisor(Exec *x, const Op *op)
{
    struct Watch *watch = x->watch;
    bool is_sync = op->code == INSN_sync_mmmn_zi && op->imm != FLAG_TEXCH_SYNCZONE_ANS;
    if (is_sync || op->code == INSN_runall_mmmn_zi) {
        begin_epoch(watch);
    }
    if (x->pc == watch->call_return) {
        watch->call_return = 0;
    }
    if (watch->tables && op->code == INSN_call_mmmn_zi) {
        begin_call(watch, x->next_pc);
    }
}

bool watch_issue(Exec *x, const Op *op)
{
    struct Watch *watch = x->watch;
    const Op *aux = (op->flags & OP_BUNDLE) != 0 ? op + 1 : NULL;
    if (watch->code) {
        mark_code(watch->code, x->pc);
        if (aux) {
            mark_code(watch->code, x->pc + 4);
        }
    }
    watch->undefined_from = 0;
    if (x->context < 0) {
        watch_supervisor(x, op);
        return true;
    }
    uint32_t used = op->m_read & 0x0fff, written = op->m_write, a_read = op->a_read,
             a_written = op->a_write;
    a_read |= aux ? aux->a_read : 0u;
    a_written |= aux ? aux->a_write : 0u;
    if (!read_sources(x, used | a_read << WATCH_AUX)) {
        return false;
    }
    written |= a_written << WATCH_AUX;
    watch->live[x->context] &= ~(used | written | a_read << WATCH_AUX);
    uint32_t undefined = *x->m_poison & op->m_hard & watch->loaded[x->context];
    watch->undefined_from =
        undefined != 0 ? watch->source[x->context][__builtin_ctz(undefined)].address : 0;
    watch->loaded[x->context] &= ~written;
    return true;
}

uint32_t watch_undefined_from(const struct Watch *watch)
{
    return watch->undefined_from;
}

void watch_load(Exec *x, uint32_t address, uint32_t words, uint32_t reg)
{
    struct Watch *watch = x->watch;
    for (uint32_t i = 0; i < words; i++, address += 4) {
        bool is_tail = false;
        if (watch->call_return != 0 && !may_access(watch, address, false, &is_tail)) {
            (void)outside(x, address, x->pc, "loads");
            return;
        }
        if (x->context < 0) {
            if ((watch->checks & CHECK_RACE) != 0 && !note_read(x, address, x->pc)) {
                return;
            }
        } else if (reg != WATCH_NOWHERE) {
            watch->source[x->context][reg + i] = (Source){address, code_index(x->pc), is_tail};
            watch->live[x->context] |= 1u << (reg + i);
            watch->loaded[x->context] |= 1u << (reg + i);
        }
    }
}

bool watch_store(Exec *x, uint32_t address, uint32_t words)
{
    struct Watch *watch = x->watch;
    for (uint32_t i = 0; i < words; i++, address += 4) {
        bool is_tail;
        if (watch->code && address < SRAM_REGION1 &&
            (watch->code[code_index(address) / 32] >> (code_index(address) % 32) & 1) != 0) {
            (void)EXEC_FAULT(x, "CODE_WRITE", "stores to 0x%x", address);
            x->tile->fault.address = address;
            return false;
        }
        if (watch->call_return != 0 && !may_access(watch, address, true, &is_tail)) {
            return outside(x, address, x->pc, "stores to");
        }
        if ((watch->checks & CHECK_RACE) != 0 && !note_write(x, address)) {
            return false;
        }
    }
    return true;
}

/* --- set-up -------------------------------------------------------------------------------------------------------- */

struct WatchSet *watch_create(uint32_t checks, int threads)
{
    struct WatchSet *set = calloc(1, sizeof *set);
    ASSERT(set);
    set->checks = checks;
    set->threads = threads;
    set->watch = calloc((size_t)threads, sizeof *set->watch);
    ASSERT(set->watch);
    set->code = (checks & CHECK_CODE) != 0 ? map_lazily(code_bytes) : NULL;
    for (int i = 0; i < threads; i++) {
        set->watch[i].checks = checks;
        set->watch[i].shadow = (checks & CHECK_RACE) != 0 ? map_lazily(shadow_bytes) : NULL;
    }
    return set;
}

static void drop_tables(struct WatchSet *set)
{
    if (set->tables.calls) {
        arena_destroy(&set->tables.arena);
        set->tables = (CallTables){0};
    }
    for (int i = 0; i < set->threads; i++) {
        free(set->watch[i].areas);
        free(set->watch[i].name_call);
        set->watch[i].areas = NULL;
        set->watch[i].name_call = NULL;
    }
}

void watch_destroy(struct WatchSet *set)
{
    if (!set) {
        return;
    }
    for (int i = 0; i < set->threads; i++) {
        if (set->watch[i].shadow) {
            (void)munmap(set->watch[i].shadow, shadow_bytes);
        }
    }
    if (set->code) {
        (void)munmap(set->code, code_bytes);
    }
    drop_tables(set);
    free(set->watch);
    free(set);
}

/* Counts that were entered at [t + 1] become first indices. */
static void sum_up(int32_t *first, int rows)
{
    for (int t = 0; t < rows; t++) {
        first[t + 1] += first[t];
    }
}

static int row_of(const DebugRegion *region)
{
    return region->tile.id == UINT16_MAX ? CHIP_TILES : region->tile.id;
}

static uint32_t name_number(CallTables *tables, StrMap *names, Str name)
{
    uint32_t *number = str_map_put(names, name, &tables->arena);
    *number = *number != 0 ? *number : ++tables->names;
    return *number - 1;
}

static void sort_areas(CallTables *tables, StrMap *names, const DebugRegionVec *regions)
{
    tables->area_first = arena_array(&tables->arena, int32_t, CHIP_TILES + 2);
    tables->areas = arena_array(&tables->arena, Area, regions->len + 1);
    int32_t *next = arena_array(&tables->arena, int32_t, CHIP_TILES + 1);
    for (isize i = 0; i < regions->len; i++) {
        tables->area_first[row_of(&regions->at[i]) + 1]++;
    }
    for (int t = 0; t <= CHIP_TILES; t++) {
        tables->areas_max = tables->area_first[t + 1] > tables->areas_max
                                ? tables->area_first[t + 1]
                                : tables->areas_max;
    }
    sum_up(tables->area_first, CHIP_TILES + 1);
    memcpy(next, tables->area_first, (CHIP_TILES + 1) * sizeof *next);
    for (isize i = 0; i < regions->len; i++) {
        const DebugRegion *region = &regions->at[i];
        tables->areas[next[row_of(region)]++] =
            (Area){.address = region->address,
                   .bytes = region->bytes,
                   .tail_bytes = region->tail_bytes,
                   .count = region->count,
                   .stride = region->stride,
                   .name = name_number(tables, names, region->name)};
    }
}

static void take_calls(struct WatchSet *set, const Package *package)
{
    CallTables *tables = &set->tables;
    isize records = package->calls.len + package->regions.len + package->buffer_uses.len +
                    package->call_uses.len + CHIP_TILES;
    /* a name takes up to four slots of the map and is moved when it grows */
    tables->arena = arena_create((1 << 20) + records * 512);
    StrMap names = {0};
    sort_areas(tables, &names, &package->regions);
    tables->uses = arena_array(&tables->arena, Use, package->buffer_uses.len + 1);
    for (isize i = 0; i < package->buffer_uses.len; i++) {
        const BufferUse *use = &package->buffer_uses.at[i];
        tables->uses[i] = (Use){name_number(tables, &names, use->region), use->is_written};
    }
    tables->lists = arena_array(&tables->arena, CallUses, package->call_uses.len + 1);
    memcpy(tables->lists, package->call_uses.at,
           (size_t)package->call_uses.len * sizeof *tables->lists);
    tables->calls = arena_array(&tables->arena, CallRecord, package->calls.len);
    memcpy(tables->calls, package->calls.at, (size_t)package->calls.len * sizeof *tables->calls);
    tables->call_first = arena_array(&tables->arena, int32_t, CHIP_TILES + 1);
    for (isize i = 0; i < package->calls.len; i++) {
        tables->call_first[package->calls.at[i].tile.id + 1]++;
    }
    sum_up(tables->call_first, CHIP_TILES);
    for (int i = 0; i < set->threads; i++) {
        struct Watch *watch = &set->watch[i];
        watch->tables = tables;
        watch->areas = calloc(2 * (size_t)tables->areas_max + 1, sizeof *watch->areas);
        watch->name_call = calloc((size_t)tables->names + 1, sizeof *watch->name_call);
        ASSERT(watch->areas && watch->name_call);
        watch->call_number = 0;
    }
}

void watch_mark_code(struct WatchSet *set, PhysTile tile, uint32_t address, uint32_t bytes)
{
    for (uint32_t at = 0; set->code && at < bytes && address + at < SRAM_REGION1; at += 4) {
        mark_code(set->code + (size_t)tile.id * CODE_BITS_WORDS, address + at);
    }
}

void watch_describe(struct WatchSet *set, const Package *package)
{
    if ((set->checks & CHECK_BUFFERS) != 0 && package->calls.len > 0) {
        drop_tables(set);
        take_calls(set, package);
    }
    for (isize t = 0; set->code && t < package->tiles.len; t++) {
        const TileImage *image = &package->tiles.at[t];
        for (int32_t s = image->segment_first; s < image->segment_first + image->segment_count;
             s++) {
            const Segment *segment = &package->segments.at[s];
            if ((segment->flags & SEGMENT_EXECUTE) != 0 && (segment->flags & SEGMENT_WRITE) == 0) {
                watch_mark_code(set, image->tile, segment->address, segment->memory_bytes);
            }
        }
    }
}

struct Watch *watch_begin(struct WatchSet *set, int thread, const TileState *tile)
{
    ASSERT(thread >= 0 && thread < set->threads);
    struct Watch *watch = &set->watch[thread];
    watch->tile = tile->id.id;
    watch->code = set->code ? set->code + (size_t)tile->id.id * CODE_BITS_WORDS : NULL;
    watch->call_return = 0;
    begin_epoch(watch);
    return watch;
}
