/* State of one tile: creation, power-on values, faults, access from outside, trace lines.
 * registers.md 1 and 4 (what survives, reset values); decisions.md A6 (everything starts undefined).
 */
#include "machine/amp.h"
#include <stdarg.h>
#include <stdio.h>

enum {
    MUX_NEUTRAL = 0x640
}; /* listens to nothing; the reset value of the C600 is unknown (registers.md 4.2) */

static const struct {
    const char *name;
    FaultCategory category;
} fault_rows[] = {
#define FAULT(name, category, text) {#name, FAULT_##category},
#include "machine/faults.def"
#undef FAULT
};

TileTiming tile_timing_default(void)
{
    return (TileTiming){
#define TIMING(name, value, source) .name = value,
#include "machine/timing.def"
#undef TIMING
    };
}

void tile_create(TileState *tile, PhysTile id, uint8_t *sram, uint32_t *poison)
{
    *tile = (TileState){.sram = sram,
                        .poison = poison,
                        .id = id,
                        .code = code_create(),
                        .weights = amp_cache_create()};
}

void tile_destroy(TileState *tile)
{
    if (tile->code) {
        code_destroy(tile->code);
        tile->code = NULL;
        amp_cache_destroy(tile->weights);
        tile->weights = NULL;
    }
}

void tile_reset(TileState *tile, uint32_t entry)
{
    TileState fresh = {.sram = tile->sram,
                       .poison = tile->poison,
                       .code = tile->code,
                       .weights = tile->weights,
                       .watch = tile->watch,
                       .id = tile->id,
                       .is_present = tile->is_present,
                       .m_poison = 0x0fff,
                       .pc = entry,
                       .cwei_poison = ~(uint64_t)0};
    memset(fresh.cwei_stale, 0xff, sizeof fresh.cwei_stale);
    fresh.csr[CSR_INCOMING_MUX] = fresh.csr[CSR_INCOMING_MUXPAIR] = MUX_NEUTRAL;
    for (int i = 0; i < CHIP_WORKERS; i++) {
        WorkerState *w = &fresh.worker[i];
        w->m_poison = 0x0fff;
        w->a_poison = 0x00ff;
        w->acc_poison = ~0u;
        w->tas_poison = true;
        w->prng_undefined = 15;
        w->end_cycle = -1;
    }
    *tile = fresh;
}

void tile_store_words(TileState *tile, uint32_t address, const uint32_t *words, int count,
                      const uint8_t *word_poison)
{
    ASSERT(count >= 0);
    ASSERT(address % 4 == 0);
    ASSERT(range_in_sram(address, 4 * (uint32_t)count));
    memcpy(tile->sram + (address - SRAM_BASE), words, 4 * (size_t)count);
    uint32_t first = (address - SRAM_BASE) / 4, end = first + (uint32_t)count;
    for (uint32_t index = first; tile->poison && index < end;) {
        uint32_t bit = 1u << (index % 32), *at = &tile->poison[index / 32];
        if (!word_poison && bit == 1 && end - index >= 32) {
            *at = 0;
            index += 32;
            continue;
        }
        uint32_t i = index - first;
        bool is_poison = word_poison && (word_poison[i / 8] >> (i % 8) & 1) != 0;
        *at = is_poison ? *at | bit : *at & ~bit;
        index++;
    }
    for (uint32_t at = address & ~(uint32_t)(CODE_PAGE_BYTES - 1);
         at < address + 4 * (uint32_t)count && at < SRAM_REGION1; at += CODE_PAGE_BYTES) {
        code_touch(tile->code, at);
    }
}

uint32_t tile_load_word(const TileState *tile, uint32_t address, bool *is_poison)
{
    ASSERT(address % 4 == 0);
    ASSERT(range_in_sram(address, 4));
    uint32_t word, index = (address - SRAM_BASE) / 4;
    memcpy(&word, tile->sram + 4 * (size_t)index, 4);
    if (is_poison) {
        *is_poison = tile->poison && (tile->poison[index / 32] >> (index % 32) & 1) != 0;
    }
    return word;
}

TileStop tile_fault(TileState *tile, const char *name, int context, uint32_t pc, Cycles cycle,
                    const char *format, ...)
{
    tile->stop = TILE_STOP_FAULT;
    if (tile->fault.name) {
        return TILE_STOP_FAULT;
    }
    size_t row = 0, rows = sizeof fault_rows / sizeof *fault_rows;
    while (row < rows && strcmp(fault_rows[row].name, name) != 0) {
        row++;
    }
    ASSERT(row < rows);
    tile->fault = (Fault){.category = fault_rows[row].category,
                          .name = fault_rows[row].name,
                          .tile = tile->id,
                          .context = context,
                          .cycle = cycle,
                          .pc = pc,
                          .call_return = tile->call_return};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(tile->fault.detail, sizeof tile->fault.detail, format, arguments);
    va_end(arguments);
    return TILE_STOP_FAULT;
}

/* One line: cycle, context, address, text. Decodes again, since Ops do not keep the text's operands. */
void exec_trace(const Exec *x)
{
    Arena arena = arena_create(1 << 16);
    Writer writer = writer_buffer(&arena);
    uint32_t word, next = 0;
    memcpy(&word, sram_at(x, x->pc), 4);
    if (x->pc + 8 <= SRAM_END) {
        memcpy(&next, sram_at(x, x->pc + 4), 4);
    }
    isa_print_code(&writer, word, next, x->worker ? CONTEXT_WORKER : CONTEXT_SUPERVISOR,
                   x->shared->flags);
    Str text = writer_text(&writer);
    char name[2] = {x->worker ? (char)('0' + x->context) : 's', 0};
    fprintf(x->shared->trace, "%lld %s 0x%05x %.*s\n", (long long)x->cycle, name, x->pc,
            STR_ARG(text));
    arena_destroy(&arena);
}
