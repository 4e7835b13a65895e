/* machine: the whole simulated chip. Tiles, contexts, memory elements, fabric, syncs; cycles, faults.
 * takes: Package (or raw words, for tests)      gives: SRAM contents, cycles, Fault
 * uses: base chip isa tensor package
 * never: any compiler room or its assumptions
 *
 * It executes words from simulated SRAM and nothing else. Tiles run alone between syncs; only the exchange couples them.
 * What the hardware forbids or nobody knows is a named fault (decisions.md A).
 */
#pragma once
#include "base/base.h"
#include "chip/chip.h"
#include "machine/workbench.h"
#include "package/package.h"
#include <stdio.h>

typedef struct Machine Machine;

/* What counts as a fault beyond what the machine cannot execute, one bit a row of checks.def. Accesses outside SRAM and
 * fetches outside region 0 always fault, and CHECK_BOUNDS says so in every set, so that none of them is 0. */
enum {
#define MACHINE_CHECK(name, text, is_default, help) CHECK_ROW_##name,
#include "machine/checks.def"
#undef MACHINE_CHECK
    CHECK_ROWS
};
typedef enum MachineCheck {
    CHECK_BOUNDS = 1,
#define MACHINE_CHECK(name, text, is_default, help) CHECK_##name = 2 << CHECK_ROW_##name,
#include "machine/checks.def"
#undef MACHINE_CHECK
    CHECK_DEFAULT = CHECK_BOUNDS
#define MACHINE_CHECK(name, text, is_default, help) | ((is_default) ? CHECK_##name : 0)
#include "machine/checks.def"
#undef MACHINE_CHECK
    ,
    CHECK_ALL = (2 << CHECK_ROWS) - 1,
} MachineCheck;
/* "poison,race": these; "+race,-poison": the default set with changes; "all", "default" and "none" stand for their checks. */
bool checks_parse(Str text, uint32_t *checks, Error *err);
/* What `--check LIST` does, for --help. */
extern const char checks_help[];
/* Names of the checks of a set, separated by commas; "none". */
void checks_print(Writer *writer, uint32_t checks);

/* How matrix instructions are computed on the host; bits and cycles are the same. */
typedef enum MachineVectors {
    VECTORS_BEST, /* what this processor has: AVX-512, AVX2 or neither */
    VECTORS_AVX2, /* at most */
    VECTORS_PORTABLE,
} MachineVectors;

typedef struct MachineOptions {
    int threads; /* 0: all cores */
    Cycles
        phase_cycles; /* cost of an internal phase beyond its rows (decisions.md A5); 0: PHASE_COST_DEFAULT */
    uint32_t checks;         /* bits of MachineCheck; 0: CHECK_DEFAULT */
    bool is_unknown_assumed; /* undocumented points follow docs/machine.md instead of faulting */
    bool
        absent_tiles_answer; /* tests: tiles without an image count as arrived at every internal sync */
    bool
        idle_source_allowed; /* tests: listening to a source that sends nothing is no fault (decisions.md B) */
    bool
        fabric_words; /* tests: exchange phases run word by word (fabric_words.c): slow, the same results */
    MachineVectors vectors; /* tests */
    bool
        is_interleaved; /* tests: workers of a runall issue by turns, not one after another; without the
                                checks race, code and buffers */
    FILE *trace;        /* one line per issued instruction of the traced tile when not NULL */
    int trace_tile;     /* physical id */
} MachineOptions;

typedef enum FaultCategory {
    FAULT_NONE = 0,
    FAULT_ILLEGAL,    /* a documented rule is broken */
    FAULT_SELECTED,   /* hardware goes on; a check that was asked for does not */
    FAULT_UNKNOWN,    /* the hardware's behaviour is undocumented */
    FAULT_UNMODELLED, /* not built yet */
    FAULT_POISON,     /* an undefined value was used */
    FAULT_DEADLOCK,   /* tiles wait for each other for ever */
} FaultCategory;

typedef struct Fault {
    FaultCategory category;
    const char *
        name; /* row of faults.def: "CONFLICT", "INVALID_ADDR", "MISALIGNED", "POISON_ADDRESS" ... */
    PhysTile tile;
    int context;  /* -1 supervisor, 0..5 worker */
    Cycles cycle; /* tile clock */
    uint32_t pc;
    uint32_t address;     /* of the access that is refused; 0: none */
    uint32_t call_return; /* where the supervisor's last call returns to; 0: none */
    int other_context;    /* RACE: who accessed it before, */
    uint32_t other_pc;    /* and where; 0: no such access */
    char detail[256];     /* values and addresses concerned */
} Fault;

typedef enum MachineStop {
    MACHINE_STOP_HOST,  /* every tile waits at a host sync (zone 7) */
    MACHINE_STOP_FAULT, /* machine_fault says why */
    MACHINE_STOP_LIMIT, /* cycle limit reached */
} MachineStop;

typedef struct MachineCounters {
    Cycles host_release;  /* clock at which the tiles left the last host barrier */
    Cycles host_arrival;  /* clock at which the last tile reached the current host barrier */
    int64_t phases;       /* internal syncs since the last release */
    int64_t instructions; /* worker bundles/words + supervisor words since creation */
    int64_t amp_instructions;
    int64_t exchanged_words; /* stored by the fabric since creation */
} MachineCounters;

Machine *machine_create(const MachineOptions *options);
void machine_destroy(Machine *machine);
/* Names of the undocumented points that all tiles together needed an assumption for so far, separated by commas; nothing when
 * there was none. */
void machine_print_assumed(Writer *writer, const Machine *machine);
/* Loads all images, once a machine; every tile starts at its entry with the supervisor running, clock 0. Code is decoded with the
 * package's table of flag values; ERROR_INPUT when two of them cannot be told apart. */
bool machine_load(Machine *machine, const Package *package, Error *err);
/* Tests: takes the debug records of a package for checks, as machine_load does. */
void machine_describe(Machine *machine, const Package *package);
/* Tests: writes bytes to a tile and (entry != 0) makes it a running tile starting at entry. */
void machine_load_tile(Machine *machine, PhysTile tile, uint32_t address, const void *bytes,
                       uint32_t len, uint32_t entry);
/* Runs until every tile waits at a host sync, a fault, or `limit` cycles after the last release (0: none). Calling again
 * releases the host barrier. */
MachineStop machine_run(Machine *machine, Cycles limit);
/* Changes the cost of an internal phase for the calls to come; 0: default. */
void machine_set_phase_cycles(Machine *machine, Cycles phase_cycles);
const Fault *machine_fault(const Machine *machine);
void fault_print(Writer *writer, const Fault *fault, const Package *package);
MachineCounters machine_counters(const Machine *machine);
/* Clock of one tile. */
Cycles machine_tile_cycles(const Machine *machine, PhysTile tile);

/* Host access while the tiles wait (decisions.md A3). Addresses and lengths are multiples of 4 and inside SRAM (asserted).
 * Writing makes words defined. Reading returns false when a word is poisoned and tells the first such address. */
void machine_write(Machine *machine, PhysTile tile, uint32_t address, const void *bytes,
                   uint32_t len);
bool machine_read(const Machine *machine, PhysTile tile, uint32_t address, void *bytes,
                  uint32_t len, uint32_t *poison_at);
/* Tests: marks words undefined and sets them to a pattern. */
void machine_poison(Machine *machine, PhysTile tile, uint32_t address, uint32_t len,
                    uint32_t pattern);
/* Tests: value of a supervisor ($m0..$m15) or worker register; context -1 is the supervisor. */
uint32_t machine_register(const Machine *machine, PhysTile tile, int context, bool is_aux,
                          int index);
