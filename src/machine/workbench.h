/* A workbench: one tile without fabric and host, for a look at single kernels. Part of the room's door.
 *
 * It runs words from its SRAM from a supervisor entry to the host sync (`sync 7`) that ends the program. An observer is told of
 * every issue; without one nothing is collected. Memory and registers start undefined.
 */
#pragma once
#include "base/base.h"
#include "isa/flags.h"

struct Fault;

typedef struct WorkbenchOptions {
    uint32_t checks;         /* bits of MachineCheck; 0: CHECK_DEFAULT */
    bool is_unknown_assumed; /* undocumented points follow docs/machine.md instead of faulting */
    const IsaFlags *flags;   /* values of flag symbols in the code; NULL: ours */
} WorkbenchOptions;

/* One issued word or bundle. Supervisor issues come in the order of cycles, and so do those of one worker; workers of a launch come
 * one after another, before the `run` or `runall` that started them. */
typedef struct TileIssue {
    int context;  /* -1 supervisor, 0..5 worker */
    Cycles cycle; /* clock of the issue */
    Cycles next;  /* first clock at which the context may issue again; behind an exit: at which the
                         supervisor may use the slot */
    Cycles allowed; /* supervisor: `next` of its previous issue */
    Cycles ready;   /* supervisor: when the last source register was there; <= allowed: no wait */
    int ready_register; /* supervisor: number of that register */
    uint32_t pc, word[2];
    int words;          /* 2: bundle or sendpicp */
    int rotations;      /* worker: slots that it takes; more than 1 for long operations */
    bool is_first;      /* worker: behind its launch */
    bool is_exit;       /* worker: its last */
    bool is_refused;    /* raised a fault; nothing below is told */
    bool is_jump;       /* what follows is not the word behind it */
    uint16_t m_written; /* registers that it wrote, one bit each, $m0..$m11 and $a0..$a7 */
    uint8_t a_written;
    uint16_t m_undefined;
    uint8_t a_undefined;
    const uint32_t *m, *a; /* all registers behind the issue; a is NULL for the supervisor */
    uint32_t store_address, store_bytes; /* bytes 0: no store */
} TileIssue;

typedef struct TileObserver {
    void *context;
    void (*issue)(void *context, const TileIssue *issue);
} TileObserver;

typedef enum WorkbenchStop {
    WORKBENCH_STOP_END,   /* at the host sync */
    WORKBENCH_STOP_FAULT, /* workbench_fault says why */
    WORKBENCH_STOP_LIMIT,
} WorkbenchStop;

typedef struct WorkbenchCounters {
    Cycles
        cycles; /* from the first instruction to the host sync, or to where the supervisor stands */
    int64_t instructions, amp_instructions;
    Cycles start[6],
        end[6]; /* of each worker's last launch: first issue, issue of the exit; -1: never */
} WorkbenchCounters;

enum { WORKBENCH_MAIN_REGISTERS = 12, WORKBENCH_AUX_REGISTERS = 8 }; /* with storage */

typedef struct Workbench Workbench;

/* options NULL: the defaults. */
Workbench *workbench_create(const WorkbenchOptions *options);
void workbench_destroy(Workbench *bench);
/* Addresses and lengths are multiples of 4 and inside SRAM (asserted). `is_defined` false: the words hold the bytes and count as
 * undefined. */
void workbench_write(Workbench *bench, uint32_t address, const void *bytes, uint32_t len,
                     bool is_defined);
/* These words are code: a store to them is a fault with the check `code`. */
void workbench_mark_code(Workbench *bench, uint32_t address, uint32_t bytes);
/* The word, and whether it is undefined (may be NULL). */
uint32_t workbench_word(const Workbench *bench, uint32_t address, bool *is_undefined);
/* $m0..$m11 of a context, or $a0..$a7 of a worker. */
void workbench_set_register(Workbench *bench, int context, bool is_aux, int index, uint32_t value);
uint32_t workbench_register(const Workbench *bench, int context, bool is_aux, int index,
                            bool *is_undefined);
/* CSR by name, with or without `$`. ERROR_INPUT when the context has none of that name, it is read-only, or a launch loads it. */
bool workbench_set_csr(Workbench *bench, int context, Str name, uint32_t value, Error *err);
/* Runs from `entry`, once, for at most `limit` cycles. `observer` may be NULL. */
WorkbenchStop workbench_run(Workbench *bench, uint32_t entry, Cycles limit,
                            const TileObserver *observer);
/* Names of the undocumented points that the run needed an assumption for, separated by commas; nothing when there was none. */
void workbench_print_assumed(Writer *writer, const Workbench *bench);
const struct Fault *workbench_fault(const Workbench *bench);
WorkbenchCounters workbench_counters(const Workbench *bench);
