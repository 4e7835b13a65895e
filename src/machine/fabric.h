/* fabric: the exchange of one internal phase. Private to the room; machine.c calls it at the barrier.
 *
 * Rows are read from the tiles' own SRAM and nothing else; the pull model of reference/exchange.md 11 by runs of words.
 */
#pragma once
#include "machine/tile.h"

typedef enum FabricFault {
#define FABRIC_FAULT(name, category, text) FABRIC_##name,
#include "machine/fabric_faults.def"
#undef FABRIC_FAULT
    FABRIC_FAULT_COUNT
} FabricFault;

/* Fills category and name; the supervisor is the context. */
void fabric_fault(Fault *fault, FabricFault which, PhysTile tile, Cycles cycle, uint32_t pc,
                  const char *format, ...) __attribute__((format(printf, 6, 7)));

typedef struct Fabric Fabric;

Fabric *fabric_create(int threads, bool idle_source_allowed, bool poison_off);
void fabric_destroy(Fabric *fabric);

/* Phases are run word by word, event by event (fabric_words.c): slow, written apart, for comparison. A phase that faults may have
 * stored some words then. */
void fabric_set_words(Fabric *fabric, bool is_by_words);
/* Tests: did the last phase, run word by word, meet this kind of fault? The one that is reported is not always the same as in
 * bulk, where a row breaks several rules. */
bool fabric_met(const Fabric *fabric, const char *name);

/* Runs one phase. is_active[i]: tile i waits behind `sync 3`; if `call m10, row` follows there, the row is executed, and
 * the tile goes on at the return address at event_zero + events of the row; otherwise it goes on where it is. False with
 * *fault filled when a rule is broken; *stored_words counts words written into SRAM. */
bool fabric_run_phase(Fabric *fabric, TileState *tiles, const bool *is_active, Cycles event_zero,
                      int64_t *stored_words, Fault *fault);
