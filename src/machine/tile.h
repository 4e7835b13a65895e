/* One tile: SRAM, supervisor, six workers. A plain state struct; `tile_run` steps it, `machine.c` wires tiles to the fabric.
 * Private to the room. Timing: reference/tile-timing.md 3.2; semantics: reference/isa/semantics.md.
 */
#pragma once
#include "base/base.h"
#include "chip/chip.h"
#include "isa/isa.h"
#include "machine/machine.h"

/* Why tile_run returned. */
typedef enum TileStop {
    TILE_STOP_NONE = 0,
    TILE_STOP_SYNC_INTERNAL, /* at `sync 3`: pc is behind it, arrival = cycle */
    TILE_STOP_SYNC_ANS,      /* at `sync 1` after `sans 0` */
    TILE_STOP_SYNC_HOST,     /* at `sync 7` */
    TILE_STOP_FAULT,
    TILE_STOP_LIMIT,
} TileStop;

typedef struct WorkerState {
    uint32_t m[16], a[16];
    uint16_t m_poison, a_poison; /* one bit per register */
    uint32_t pc;
    uint32_t vertex_base, worker_base;
    float acc
        [32]; /* running sums first: AACC[2n] is acc[n], AACC[2n + 1] (the queues) is acc[16 + n] */
    uint32_t acc_poison; /* one bit per entry of acc */
    uint32_t tas;
    bool tas_poison;
    uint32_t fp_ctl, fp_sts, fp_nfmt, fp_scl;
    uint64_t prng[2];
    uint8_t prng_undefined; /* one bit per 32-bit half: PRNG_0_0, PRNG_0_1, PRNG_1_0, PRNG_1_1 */
    uint32_t dbg_data, dbg_brk_id;
    uint32_t rpt_count, rpt_first, rpt_end;
    uint8_t exit_status;
    Cycles start_cycle, end_cycle; /* of the last launch: first issue; issue of the exit */
} WorkerState;

typedef struct TileState {
    uint8_t *sram;          /* SRAM_BYTES, index = address - SRAM_BASE */
    uint32_t *poison;       /* one bit per word */
    struct CodeCache *code; /* decoded words of region 0, private to tile.c */
    struct Watch *watch;    /* checks of every access (watch.h); NULL: none */
    PhysTile id;
    bool is_present; /* has an image */
    /* supervisor */
    uint32_t m[16];
    uint16_t m_poison;
    uint32_t pc;
    uint32_t call_return; /* where the supervisor's last `call` returns to; 0: none yet */
    Cycles cycle;         /* next possible issue */
    Cycles m_ready[16];   /* when each register may be read */
    uint32_t csr[256];    /* supervisor CSR file by index (INCOMING_BASE ...) */
    uint64_t cwei[64];    /* coefficients */
    uint64_t
        cwei_stale[3]; /* one bit a coefficient: `weights` does not follow it yet; by AmpSource */
    struct AmpCache
        *weights; /* the coefficients as numbers (amp.h), private to the AMP executors */
    uint64_t cwei_poison;
    bool sans_pending;   /* `sans 0` executed, barrier not yet passed */
    Cycles exchange_end; /* of the last row; 0: none yet */
    WorkerState worker[CHIP_WORKERS];
    Cycles slot_free[CHIP_WORKERS]; /* when the supervisor may use the slot again */
    TileStop stop;
    Fault fault;
    int64_t instructions, amp_instructions;
    uint64_t assumed; /* rows of faults.def that `--unknown=assume` passed over */
} TileState;

/* Timing constants of tile-timing.md 3.2, in one place (machine/timing.def). */
typedef struct TileTiming {
#define TIMING(name, value, source) int name;
#include "machine/timing.def"
#undef TIMING
} TileTiming;
TileTiming tile_timing_default(void);

/* Options and tables that all tiles share, read-only while tiles run. */
typedef struct TileShared {
    TileTiming timing;
    uint32_t checks;         /* bits of MachineCheck */
    bool is_unknown_assumed; /* undocumented points follow docs/machine.md instead of faulting */
    bool is_interleaved;     /* as in MachineOptions */
    MachineVectors vectors;
    FILE *trace;
    int trace_tile;
    const struct TileObserver *observer; /* told of every issue; NULL: nobody */
    const IsaFlags *flags;               /* what enumerators of the code mean; NULL: ours */
    struct CodePool
        *pool; /* decoded pages that tiles share (code.c); NULL: every tile decodes its own */
} TileShared;

/* Lives longer than the tiles that run with it. */
struct CodePool *code_pool_create(void);
void code_pool_destroy(struct CodePool *pool);
void tile_create(TileState *tile, PhysTile id, uint8_t *sram, uint32_t *poison);
void tile_destroy(TileState *tile);
/* Names of the rows of a TileState.assumed, separated by commas. */
void assumed_print(Writer *writer, uint64_t rows);
/* Registers at power-on and supervisor at `entry`. */
void tile_reset(TileState *tile, uint32_t entry);
/* Runs the supervisor (and the workers that it launches) until it blocks, faults, or cycle > limit (0: none). Exchange words,
 * outside a row, are faults: rows are executed by fabric.c after an internal sync. */
TileStop tile_run(TileState *tile, const TileShared *shared, Cycles limit);
/* Raw access for host and fabric; keeps the decoded code coherent. poison_bits: bit i = word i is undefined; NULL = none. */
void tile_store_words(TileState *tile, uint32_t address, const uint32_t *words, int count,
                      const uint8_t *word_poison);
uint32_t tile_load_word(const TileState *tile, uint32_t address, bool *is_poison);
/* Records a fault (first one wins) and returns TILE_STOP_FAULT. `name` is a row of machine/faults.def. */
TileStop tile_fault(TileState *tile, const char *name, int context, uint32_t pc, Cycles cycle,
                    const char *format, ...) __attribute__((format(printf, 6, 7)));
