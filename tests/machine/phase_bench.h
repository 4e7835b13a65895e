/* Runs the phases of a schedule on real tiles and compares all of their SRAM with a plain copy: transfer by transfer in list order,
 * each one reads all its words and then writes them (S6 makes that the meaning of a phase). Poison travels with the words.
 *
 * What boundary code does between phases is done here by hand, in every iteration: patched words are written, the bases, the
 * neutral mux and the counter are set (exchange.md 8, 10.3). SRAM carries on from iteration to iteration and from phase to
 * phase. Tiles that a problem does not name are compared now and then (phase_bench_others).
 *
 * Outside of what transfers touch SRAM is zero and undefined, so a stray read shows as poison and a stray write as a difference.
 */
#pragma once
#include "exchange/exchange.h"
#include "machine/fabric_bench.h"
#include <stdarg.h>

enum {
    PHASE_BENCH_CALL = 0x100, /* `call m10, row`, from the beginning of the rows' range on */
    PHASE_BENCH_ROWS = 0x200,
    PHASE_BENCH_MARGIN = 64, /* bytes around what transfers touch that are defined as well */
};

typedef struct PhaseBench {
    Bench *bench; /* the machine's tiles */
    Fabric *fabric;
    uint8_t *sram; /* the plain copy, as in Bench */
    uint32_t *poison;
    AddrRange *dirty; /* of all tiles, by physical id: what the problem has changed, at most */
    /* of the problem */
    const ExchangeProblem *problem;
    const Schedule *schedule;
    uint32_t *row_address; /* by row */
    uint64_t seed;
    Error *err;
    int64_t words; /* stored so far */
} PhaseBench;

static inline PhaseBench *phase_bench_create(void)
{
    PhaseBench *p = calloc(1, sizeof *p);
    size_t bytes = (size_t)CHIP_TILES * SRAM_BYTES;
    p->bench = bench_create();
    p->sram = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
    p->poison = malloc(bytes / 32);
    p->dirty = calloc(CHIP_TILES, sizeof *p->dirty);
    CHECK(p->sram != MAP_FAILED && p->poison != NULL && p->dirty != NULL);
    memset(p->poison, 0xff, bytes / 32);
    /* comparing all of SRAM reads much that nobody ever wrote: fewer page faults; a wish, so the answer does not matter */
    (void)madvise(p->sram, bytes, MADV_HUGEPAGE);
    (void)madvise(p->bench->sram, bytes, MADV_HUGEPAGE);
    p->fabric = fabric_create(1, false, false);
    return p;
}

static inline void phase_bench_destroy(PhaseBench *p)
{
    bench_destroy(p->bench);
    fabric_destroy(p->fabric);
    CHECK(munmap(p->sram, (size_t)CHIP_TILES * SRAM_BYTES) == 0);
    free(p->poison);
    free(p->dirty);
    free(p);
}

static inline uint8_t *phase_bench_sram(const PhaseBench *p, int tile, uint32_t address)
{
    return p->sram + (size_t)tile * SRAM_BYTES + (address - SRAM_BASE);
}

static inline bool phase_bench_poison(const PhaseBench *p, int tile, uint32_t address)
{
    uint32_t index = (address - SRAM_BASE) / 4;
    return (p->poison[(size_t)tile * (SRAM_WORDS / 32) + index / 32] >> (index % 32) & 1) != 0;
}

static inline void phase_bench_set_poison(PhaseBench *p, int tile, uint32_t address, bool value)
{
    uint32_t index = (address - SRAM_BASE) / 4, bit = 1u << (index % 32);
    uint32_t *at = &p->poison[(size_t)tile * (SRAM_WORDS / 32) + index / 32];
    *at = value ? *at | bit : *at & ~bit;
}

static inline void phase_bench_dirty(PhaseBench *p, int tile, uint32_t begin, uint32_t end)
{
    AddrRange *dirty = &p->dirty[tile];
    if (dirty->end == 0) {
        *dirty = (AddrRange){begin, end};
    }
    dirty->begin = begin < dirty->begin ? begin : dirty->begin;
    dirty->end = end > dirty->end ? end : dirty->end;
}

/* One word into the machine and into the copy. */
static inline void phase_bench_put(PhaseBench *p, int tile, uint32_t address, uint32_t word,
                                   bool is_poison)
{
    uint8_t bits = is_poison;
    tile_store_words(&p->bench->tiles[tile], address, &word, 1, &bits);
    memcpy(phase_bench_sram(p, tile, address), &word, 4);
    phase_bench_set_poison(p, tile, address, is_poison);
}

static inline bool phase_bench_refuse(PhaseBench *p, int32_t phase, int32_t iteration,
                                      const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static inline bool phase_bench_refuse(PhaseBench *p, int32_t phase, int32_t iteration,
                                      const char *format, ...)
{
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return error_set(p->err, ERROR_NO, NULL, "phase %d, iteration %d: %s", phase, iteration, text);
}

/* --- contents ------------------------------------------------------------------------------------------------------- */

/* What a word holds at the beginning follows from seed, tile and address: one stretch of 64 words in eight is undefined, one in
 * eight here and there. */
static inline void phase_bench_fill(PhaseBench *p, PhysTile tile, int64_t begin, int64_t end)
{
    AddrRange rows = p->problem->row_range;
    for (int64_t at = begin - PHASE_BENCH_MARGIN; at < end + PHASE_BENCH_MARGIN; at += 4) {
        uint32_t address = (uint32_t)at;
        if (at < SRAM_BASE || at >= SRAM_END || (address >= rows.begin && address < rows.end)) {
            continue;
        }
        uint64_t word = random_u64(p->seed, (uint64_t)tile.id << 32 | address);
        uint64_t kind = random_u64(p->seed + 1, (uint64_t)tile.id << 32 | address / 256) % 8;
        phase_bench_put(p, tile.id, address, (uint32_t)word,
                        kind == 0 || (kind == 1 && word >> 63 != 0));
        phase_bench_dirty(p, tile.id, address, address + 4);
    }
}

static inline int32_t phase_bench_iterations(const ExchangePhase *phase)
{
    return phase->iterations > 1 ? phase->iterations : 1;
}

static inline uint32_t phase_bench_source(const ExchangeProblem *problem, const ExchangeTransfer *t,
                                          int32_t iteration)
{
    return t->address + (uint32_t)move_offset(problem, t->move, iteration);
}

static inline void phase_bench_fill_all(PhaseBench *p)
{
    const ExchangeProblem *problem = p->problem;
    for (isize i = 0; i < problem->phases.len; i++) {
        const ExchangePhase *phase = &problem->phases.at[i];
        for (int32_t k = 0; k < phase->transfer_count; k++) {
            const ExchangeTransfer *t = &problem->transfers.at[phase->transfer_first + k];
            int32_t iterations = t->move == 0 ? 1 : phase_bench_iterations(phase);
            for (int32_t n = 0; n < iterations; n++) {
                int64_t at = phase_bench_source(problem, t, n);
                phase_bench_fill(p, t->source, at, at + 4 * t->words);
            }
            for (int32_t r = 0; r < t->receiver_count; r++) {
                const ExchangeReceiver *to = &problem->receivers.at[t->receiver_first + r];
                phase_bench_fill(p, to->tile, to->address, (int64_t)to->address + 4 * t->words);
            }
        }
    }
}

/* Everything as it was before the problem. */
static inline void phase_bench_clear(PhaseBench *p)
{
    size_t bytes = (size_t)CHIP_TILES * SRAM_BYTES;
    int tiles = 0;
    for (int i = 0; i < CHIP_TILES; i++) {
        AddrRange *dirty = &p->dirty[i];
        if (dirty->end == 0) {
            continue;
        }
        size_t length = dirty->end - dirty->begin;
        memset(phase_bench_sram(p, i, dirty->begin), 0, length);
        memset(p->bench->tiles[i].sram + (dirty->begin - SRAM_BASE), 0, length);
        memset(&p->poison[(size_t)i * (SRAM_WORDS / 32)], 0xff, SRAM_WORDS / 8);
        memset(p->bench->tiles[i].poison, 0xff, SRAM_WORDS / 8);
        *dirty = (AddrRange){0};
        tiles++;
    }
    if (tiles > 64) { /* give the memory back */
        CHECK(madvise(p->sram, bytes, MADV_DONTNEED) == 0);
        CHECK(madvise(p->bench->sram, bytes, MADV_DONTNEED) == 0);
    }
}

/* --- rows ----------------------------------------------------------------------------------------------------------- */

/* Rows of a tile lie behind each other, those that share words once. False when they do not fit. */
static inline bool phase_bench_put_rows(PhaseBench *p, Arena *arena)
{
    const Schedule *schedule = p->schedule;
    AddrRange range = p->problem->row_range;
    uint32_t *next = arena_array(arena, uint32_t, CHIP_TILES);
    p->row_address = arena_array(arena, uint32_t, schedule->rows.len);
    int32_t *last = arena_array(arena, int32_t, CHIP_TILES);           /* 1 + row of the tile */
    int32_t *before = arena_array(arena, int32_t, schedule->rows.len); /* chain of `last` */
    for (int32_t i = 0; i < schedule->rows.len; i++) {
        const Row *row = &schedule->rows.at[i];
        int tile = row->tile.id;
        uint32_t bytes = 4 * (uint32_t)row->word_count;
        for (int32_t k = last[tile]; k != 0; k = before[k - 1]) {
            if (schedule->rows.at[k - 1].word_first == row->word_first) {
                CHECK_EQ_INT(row->patch_count, 0);
                CHECK_EQ_INT(schedule->rows.at[k - 1].patch_count, 0);
                CHECK_EQ_INT(schedule->rows.at[k - 1].word_count, row->word_count);
                p->row_address[i] = p->row_address[k - 1];
            }
        }
        before[i] = last[tile];
        last[tile] = i + 1;
        if (p->row_address[i] != 0) {
            continue;
        }
        uint32_t at = next[tile] != 0 ? next[tile] : range.begin + PHASE_BENCH_ROWS;
        if (at + bytes + FETCH_AHEAD_BYTES > range.end) {
            return phase_bench_refuse(p, row->phase, 0, "rows of tile P%d do not fit", tile);
        }
        for (int32_t w = 0; w < row->word_count; w++) {
            phase_bench_put(p, tile, at + 4 * (uint32_t)w, schedule->words.at[row->word_first + w],
                            false);
        }
        phase_bench_dirty(p, tile, range.begin, at + bytes);
        p->row_address[i] = at;
        next[tile] = (at + bytes + 7) & ~7u;
    }
    return true;
}

/* The word of a send or sendpicp with its item address moved on by some bytes. */
static inline uint32_t phase_bench_patched(uint32_t word, int32_t offset)
{
    int32_t bytes = (word & SCTL_WIDE) != 0 ? 8 : 4;
    uint32_t item = (word >> 3 & 0x3ffff) + (uint32_t)(offset / bytes);
    CHECK_EQ_INT(offset % bytes, 0);
    return (word & ~(0x3ffffu << 3)) | (item & 0x3ffff) << 3;
}

/* What boundary code does before the barrier. */
static inline void phase_bench_enter(PhaseBench *p, int32_t index, int32_t iteration)
{
    const Row *row = &p->schedule->rows.at[index];
    TileState *tile = &p->bench->tiles[row->tile.id];
    for (int32_t i = 0; i < row->patch_count; i++) {
        const RowPatch *patch = &p->schedule->patches.at[row->patch_first + i];
        uint32_t word = p->schedule->words.at[row->word_first + patch->word];
        phase_bench_put(p, row->tile.id, p->row_address[index] + 4 * (uint32_t)patch->word,
                        phase_bench_patched(word, move_offset(p->problem, patch->move, iteration)),
                        false);
    }
    uint32_t call = p->problem->row_range.begin + PHASE_BENCH_CALL;
    phase_bench_put(p, row->tile.id, call, 0x18a00000u | p->row_address[index] / 4, false);
    tile->pc = call;
    tile->csr[CSR_INCOMING_MUX] = FABRIC_NEUTRAL;
    tile->csr[CSR_INCOMING_FORMAT] = 0;
    tile->csr[CSR_INCOMING_BASE] = 0;
    tile->csr[CSR_INCOMING_DCOUNT] = 1;
    tile->m_poison = row->move != 0 ? 0 : 1u << 6;
    tile->m[6] = row->move != 0 ? (uint32_t)(move_offset(p->problem, row->move, iteration) -
                                             move_least(p->problem, row->move))
                                : 0xdeadbeefu;
    tile->csr[CSR_OUTGOING_BASE] = row->move != 0 ? tile->m[6] : 0;
    p->bench->is_active[row->tile.id] = true;
}

/* --- the copy, and comparing ---------------------------------------------------------------------------------------- */

static inline void phase_bench_copy(PhaseBench *p, const ExchangePhase *phase, int32_t iteration,
                                    Arena scratch)
{
    uint32_t *held = arena_array(&scratch, uint32_t, FABRIC_MESSAGE_WORDS_MAX);
    bool *is_poison = arena_array(&scratch, bool, FABRIC_MESSAGE_WORDS_MAX);
    for (int32_t i = 0; i < phase->transfer_count; i++) {
        const ExchangeTransfer *t = &p->problem->transfers.at[phase->transfer_first + i];
        uint32_t from = phase_bench_source(p->problem, t, iteration);
        memcpy(held, phase_bench_sram(p, t->source.id, from), 4 * (size_t)t->words);
        for (uint32_t w = 0; w < t->words; w++) {
            is_poison[w] = phase_bench_poison(p, t->source.id, from + 4 * w);
        }
        for (int32_t r = 0; r < t->receiver_count; r++) {
            const ExchangeReceiver *to = &p->problem->receivers.at[t->receiver_first + r];
            memcpy(phase_bench_sram(p, to->tile.id, to->address), held, 4 * (size_t)t->words);
            for (uint32_t w = 0; w < t->words; w++) {
                phase_bench_set_poison(p, to->tile.id, to->address + 4 * w, is_poison[w]);
            }
            p->words += t->words;
        }
    }
}

/* Address of the first word of a tile that differs from the copy; 0: none. */
static inline uint32_t phase_bench_difference(const PhaseBench *p, int tile)
{
    const TileState *state = &p->bench->tiles[tile];
    if (memcmp(state->sram, phase_bench_sram(p, tile, SRAM_BASE), SRAM_BYTES) == 0 &&
        memcmp(state->poison, &p->poison[(size_t)tile * (SRAM_WORDS / 32)], SRAM_WORDS / 8) == 0) {
        return 0;
    }
    for (uint32_t at = SRAM_BASE; at < SRAM_END; at += 4) {
        if (memcmp(state->sram + (at - SRAM_BASE), phase_bench_sram(p, tile, at), 4) != 0 ||
            bench_is_poison(p->bench, tile, at) != phase_bench_poison(p, tile, at)) {
            return at;
        }
    }
    return SRAM_END; /* not reached: SRAM_WORDS is a multiple of 32 */
}

static inline bool phase_bench_compare(PhaseBench *p, int tile, int32_t phase, int32_t iteration)
{
    uint32_t at = phase_bench_difference(p, tile), wanted;
    if (at == 0) {
        return true;
    }
    memcpy(&wanted, phase_bench_sram(p, tile, at), 4);
    return phase_bench_refuse(
        p, phase, iteration, "tile L%d (P%d) holds %08x%s at 0x%x, a copy would give %08x%s",
        tile_of((PhysTile){(uint16_t)tile}).id, tile, bench_word(p->bench, tile, at),
        bench_is_poison(p->bench, tile, at) ? " (undefined)" : "", at, wanted,
        phase_bench_poison(p, tile, at) ? " (undefined)" : "");
}

/* Have tiles changed that no problem named? Reads all of SRAM. */
static inline bool phase_bench_others(PhaseBench *p, Error *err)
{
    p->err = err;
    for (int tile = 0; tile < CHIP_TILES; tile++) {
        if (!phase_bench_compare(p, tile, -1, 0)) {
            return false;
        }
    }
    return true;
}

/* --- running -------------------------------------------------------------------------------------------------------- */

static inline bool phase_bench_iteration(PhaseBench *p, int32_t index, int32_t iteration,
                                         Arena scratch)
{
    Bench *bench = p->bench;
    const Schedule *schedule = p->schedule;
    const ExchangePhase *phase = &p->problem->phases.at[index];
    int64_t before = p->words;
    memset(bench->is_active, 0, sizeof bench->is_active);
    for (int32_t i = 0; i < schedule->rows.len; i++) {
        if (schedule->rows.at[i].phase == index) {
            phase_bench_enter(p, i, iteration);
        }
    }
    phase_bench_copy(p, phase, iteration, scratch);
    if (!fabric_run_phase(p->fabric, bench->tiles, bench->is_active, bench->event_zero,
                          &bench->stored_words, &bench->fault)) {
        return phase_bench_refuse(p, index, iteration, "fault %s on tile P%d, event %lld: %s",
                                  bench->fault.name, bench->fault.tile.id,
                                  (long long)(bench->fault.cycle - bench->event_zero),
                                  bench->fault.detail);
    }
    for (isize i = 0; i < schedule->rows.len; i++) {
        const Row *row = &schedule->rows.at[i];
        const TileState *tile = &bench->tiles[row->tile.id];
        if (row->phase != index) {
            continue;
        }
        if (!phase_bench_compare(p, row->tile.id, index, iteration)) {
            return false;
        }
        if (tile->cycle != bench->event_zero + row->end) {
            return phase_bench_refuse(p, index, iteration,
                                      "tile P%d leaves its row at %lld, not %d", row->tile.id,
                                      (long long)(tile->cycle - bench->event_zero), row->end);
        }
    }
    return bench->stored_words == p->words - before ||
           phase_bench_refuse(p, index, iteration, "%lld words were stored, expected %lld",
                              (long long)bench->stored_words, (long long)(p->words - before));
}

/* Does every iteration of every phase do what a plain copy does? Contents follow from the seed. Afterwards SRAM is empty again,
 * unless it failed. */
static inline bool phase_bench_run(PhaseBench *p, const ExchangeProblem *problem,
                                   const Schedule *schedule, uint64_t seed, Arena scratch,
                                   Error *err)
{
    p->problem = problem;
    p->schedule = schedule;
    p->seed = seed;
    p->err = err;
    phase_bench_fill_all(p);
    if (!phase_bench_put_rows(p, &scratch)) {
        return false;
    }
    for (int32_t i = 0; i < problem->phases.len; i++) {
        for (int32_t n = 0; n < phase_bench_iterations(&problem->phases.at[i]); n++) {
            if (!phase_bench_iteration(p, i, n, scratch)) {
                return false;
            }
        }
    }
    phase_bench_clear(p);
    return true;
}
