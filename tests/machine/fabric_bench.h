/* Tiles with rows written as raw words, for the fabric tests: no supervisor code runs, only the phase. */
#pragma once
#include "machine/fabric.h"
#include "machine/forms.h"
#include "test.h"
#include <sys/mman.h>

enum {
    BENCH_PC = 0x4c100,  /* call m10, row */
    BENCH_ROW = 0x4c200, /* the row; memory element 0 */
    BENCH_ROW_WORDS = 256,
};

typedef struct Bench {
    TileState *tiles;
    bool is_active[CHIP_TILES];
    uint8_t *sram;
    uint32_t *poison;
    Cycles event_zero;
    bool idle_source_allowed;
    int threads;
    int64_t stored_words;
    Fault fault;
} Bench;

static inline Bench *bench_create(void)
{
    Bench *bench = calloc(1, sizeof *bench);
    size_t sram_bytes = (size_t)CHIP_TILES * SRAM_BYTES;
    bench->tiles = calloc(CHIP_TILES, sizeof *bench->tiles);
    bench->sram = mmap(NULL, sram_bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    bench->poison = malloc(sram_bytes / 32);
    CHECK(bench->tiles != NULL && bench->sram != MAP_FAILED && bench->poison != NULL);
    memset(bench->poison, 0xff, sram_bytes / 32);
    for (int i = 0; i < CHIP_TILES; i++) {
        TileState *tile = &bench->tiles[i];
        tile_create(tile, (PhysTile){(uint16_t)i}, bench->sram + (size_t)i * SRAM_BYTES,
                    bench->poison + (size_t)i * (SRAM_WORDS / 32));
        tile->is_present = true;
        tile->csr[CSR_INCOMING_MUXPAIR] = FABRIC_NEUTRAL;
    }
    bench->event_zero = 1000;
    bench->threads = 1;
    return bench;
}

static inline void bench_destroy(Bench *bench)
{
    for (int i = 0; i < CHIP_TILES; i++) {
        tile_destroy(&bench->tiles[i]);
    }
    CHECK(munmap(bench->sram, (size_t)CHIP_TILES * SRAM_BYTES) == 0);
    free(bench->tiles);
    free(bench->poison);
    free(bench);
}

/* Words value, value + 1, ... at an address. */
static inline void bench_fill(Bench *bench, int tile, uint32_t address, int words, uint32_t value)
{
    for (int i = 0; i < words; i++) {
        uint32_t word = value + (uint32_t)i;
        tile_store_words(&bench->tiles[tile], address + 4 * (uint32_t)i, &word, 1, NULL);
    }
}

static inline uint32_t bench_word(const Bench *bench, int tile, uint32_t address)
{
    uint32_t word;
    memcpy(&word, bench->tiles[tile].sram + (address - SRAM_BASE), 4);
    return word;
}

static inline bool bench_is_poison(const Bench *bench, int tile, uint32_t address)
{
    uint32_t index = (address - SRAM_BASE) / 4;
    return (bench->tiles[tile].poison[index / 32] >> (index % 32) & 1) != 0;
}

static inline void bench_expect(const Bench *bench, int tile, uint32_t address, int words,
                                uint32_t value)
{
    for (int i = 0; i < words; i++) {
        CHECK_EQ_INT(bench_word(bench, tile, address + 4 * (uint32_t)i), value + (uint32_t)i);
        CHECK(!bench_is_poison(bench, tile, address + 4 * (uint32_t)i));
    }
}

/* Row words under construction; events as in exchange.md 3.1. Written from section 4, apart from the machine. */
typedef struct BenchRow {
    uint32_t word[BENCH_ROW_WORDS];
    int len;
    Event now;
} BenchRow;

static inline void row_word(BenchRow *row, uint32_t word)
{
    CHECK(row->len < BENCH_ROW_WORDS);
    row->word[row->len++] = word;
}

static inline void row_until(BenchRow *row, Event event)
{
    CHECK(event >= row->now);
    if (event > row->now) {
        row_word(row, 0x40a00000u | (uint32_t)(event - row->now - 1));
        row->now = event;
    }
}

static inline void row_xpic(BenchRow *row, Event event, uint32_t source)
{
    row_until(row, event - 1);
    row_word(row, 0x64000000u | source);
    row->now = event;
}

static inline void row_pic(BenchRow *row, Event event, uint32_t byte_address)
{
    row_until(row, event - 1);
    row_word(row, 0x60000000u | byte_address / 4);
    row->now = event;
}

static inline void row_send(BenchRow *row, Event event, uint32_t byte_address, int words,
                            uint32_t sctl)
{
    row_until(row, event);
    int first = words < 64 ? words : 64;
    row_word(row, 0x78000000u | (uint32_t)(first - 1) << 21 | byte_address / 4 << 3 | sctl);
    if (words > first) {
        uint32_t rest = (uint32_t)(words - first - 1);
        row_word(row, 0x70000000u | (rest & 63) << 21 | rest >> 6 << 14 | sctl);
    }
    row->now += words;
}

/* Puts the row under `call m10` on a tile, with neutral mux and armed counter. `end` < 0: right behind the last word. */
static inline void bench_row(Bench *bench, int tile, BenchRow *row, Event end)
{
    TileState *state = &bench->tiles[tile];
    if (end >= 0) {
        row_until(row, end);
    }
    row_word(row, 0x43a00000);
    forms_note_words(row->word, row->len, CONTEXT_SUPERVISOR, false);
    uint32_t call = 0x18a00000u | BENCH_ROW / 4;
    tile_store_words(state, BENCH_PC, &call, 1, NULL);
    tile_store_words(state, BENCH_ROW, row->word, row->len, NULL);
    state->pc = BENCH_PC;
    state->csr[CSR_INCOMING_MUX] = FABRIC_NEUTRAL;
    state->csr[CSR_INCOMING_DCOUNT] = 1;
    bench->is_active[tile] = true;
}

static inline void bench_words(Bench *bench, int tile, const uint32_t *words, int count)
{
    BenchRow row = {0};
    for (int i = 0; i < count; i++) {
        row_word(&row, words[i]);
    }
    bench_row(bench, tile, &row, -1);
}

/* Copies of the active tiles, with memory of their own; the others are not looked at by a phase. */
typedef struct BenchCopy {
    TileState *tiles;
    uint8_t *memory;
} BenchCopy;

static inline BenchCopy bench_copy(const Bench *bench)
{
    const size_t tile_bytes = SRAM_BYTES + SRAM_WORDS / 8;
    size_t count = 0;
    for (int i = 0; i < CHIP_TILES; i++) {
        count += bench->is_active[i];
    }
    BenchCopy copy = {calloc(CHIP_TILES, sizeof *copy.tiles), malloc(count * tile_bytes + 1)};
    CHECK(copy.tiles != NULL && copy.memory != NULL);
    uint8_t *at = copy.memory;
    for (int i = 0; i < CHIP_TILES; i++) {
        if (bench->is_active[i]) {
            TileState *tile = &copy.tiles[i];
            *tile = bench->tiles[i];
            tile->sram = memcpy(at, tile->sram, SRAM_BYTES);
            tile->poison = memcpy(at + SRAM_BYTES, tile->poison, SRAM_WORDS / 8);
            at += tile_bytes;
        }
    }
    return copy;
}

static inline void bench_copy_destroy(BenchCopy *copy)
{
    free(copy->tiles);
    free(copy->memory);
}

/* Both have run; the copy word by word. */
static inline void bench_compare(const Bench *bench, const BenchCopy *copy)
{
    for (int i = 0; i < CHIP_TILES; i++) {
        const TileState *a = &bench->tiles[i], *b = &copy->tiles[i];
        if (bench->is_active[i]) {
            CHECK_EQ_INT(a->cycle, b->cycle);
            CHECK_EQ_INT(a->pc, b->pc);
            CHECK(memcmp(a->m, b->m, sizeof a->m) == 0);
            CHECK(memcmp(a->csr, b->csr, sizeof a->csr) == 0);
            CHECK(memcmp(a->sram, b->sram, SRAM_BYTES) == 0);
            CHECK(memcmp(a->poison, b->poison, SRAM_WORDS / 8) == 0);
        }
    }
}

/* Runs the phase word by word as well (fabric_words.c): the same memory and clocks, or the same category of fault, and the fault's
 * name among those met. True when it ends well; *same_name: both report the same fault, or none. */
static inline bool bench_run_both(Bench *bench, Fabric *fabric, bool *same_name)
{
    BenchCopy copy = bench_copy(bench);
    int64_t words;
    Fault fault = {0};
    bool ok = fabric_run_phase(fabric, bench->tiles, bench->is_active, bench->event_zero,
                               &bench->stored_words, &bench->fault);
    fabric_set_words(fabric, true);
    bool same = fabric_run_phase(fabric, copy.tiles, bench->is_active, bench->event_zero, &words,
                                 &fault) == ok;
    if (same && ok) {
        bench_compare(bench, &copy);
        same = words == bench->stored_words;
    } else if (same) {
        same =
            bench->fault.category == fault.category &&
            (strcmp(bench->fault.name, fault.name) == 0 || fabric_met(fabric, bench->fault.name));
    }
    if (!same) {
        fprintf(stderr, "in bulk: %s tile %u event %d %s\nby words: %s tile %u event %d %s\n",
                ok ? "no fault" : bench->fault.name, (unsigned)bench->fault.tile.id,
                (int)(bench->fault.cycle - bench->event_zero), bench->fault.detail,
                fault.name == NULL ? "no fault" : fault.name, (unsigned)fault.tile.id,
                (int)(fault.cycle - bench->event_zero), fault.detail);
    }
    CHECK(same);
    *same_name = ok || strcmp(bench->fault.name, fault.name) == 0;
    fabric_set_words(fabric, false);
    bench_copy_destroy(&copy);
    return ok;
}

enum { BENCH_BOTH_TILES = 32 }; /* at most: copies take time */

static inline bool bench_run(Bench *bench)
{
    Fabric *fabric = fabric_create(bench->threads, bench->idle_source_allowed, false);
    int active = 0;
    bool same_name;
    for (int i = 0; i < CHIP_TILES; i++) {
        active += bench->is_active[i];
    }
    bool ok = active <= BENCH_BOTH_TILES
                  ? bench_run_both(bench, fabric, &same_name)
                  : fabric_run_phase(fabric, bench->tiles, bench->is_active, bench->event_zero,
                                     &bench->stored_words, &bench->fault);
    fabric_destroy(fabric);
    if (!ok) {
        CHECK(bench->fault.detail[0] != '\0');
    }
    return ok;
}

/* tile < 0: any. */
static inline void bench_must_fault(Bench *bench, const char *name, FaultCategory category,
                                    int tile)
{
    bool ok = bench_run(bench);
    if (ok || strcmp(bench->fault.name, name) != 0) {
        fprintf(stderr, "expected fault %s, got %s: %s\n", name, ok ? "none" : bench->fault.name,
                ok ? "" : bench->fault.detail);
        exit(1);
    }
    CHECK_EQ_INT(bench->fault.category, category);
    if (tile >= 0) {
        CHECK_EQ_INT(bench->fault.tile.id, tile);
    }
}

static inline void bench_must_run(Bench *bench)
{
    if (!bench_run(bench)) {
        fprintf(stderr, "unexpected fault %s on tile %u: %s\n", bench->fault.name,
                (unsigned)bench->fault.tile.id, bench->fault.detail);
        exit(1);
    }
}
