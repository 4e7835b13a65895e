/* State of one phase, shared by the parts of the fabric. Private to the room. */
#pragma once
#include "machine/fabric_row.h"
#include <stdatomic.h>

enum { FABRIC_THREADS_MAX = 256, FABRIC_BITMAP_WORDS = (SRAM_WORDS + 63) / 64 };

/* Consecutive words of one message that are stored at consecutive addresses. */
typedef struct FabricStore {
    Event begin, end; /* one event a word, or a pair of words (exchange.md 5) */
    const FabricMessage *from;
    uint32_t groups; /* exchange groups that its range touches, a bit a group */
    int32_t words;
    uint32_t address;
    uint16_t source;
} FabricStore;
VEC(FabricStore);

/* Who heard a message. */
enum { HEARD_SELF = 1, HEARD_OTHER = 2 };
typedef _Atomic uint8_t HeardMark;

typedef struct FabricTile {
    FabricRow program;
    FabricStoreVec stores;
    HeardMark *heard; /* per message */
    uint32_t store_groups;
    bool has_fault;
    bool forwards, overwrites; /* some of its messages */
    Fault fault;
} FabricTile;

typedef struct FabricWorker {
    Arena arena;
    uint8_t *arena_start;
    uint64_t *stored; /* a bit per SRAM word; clear between tiles */
} FabricWorker;

struct Fabric {
    int threads;
    bool idle_source_allowed, poison_off;
    bool is_by_words;      /* fabric_words.c runs the phases */
    uint64_t words_faults; /* kinds of faults that it met, a bit a FabricFault */
    FabricTile tile[CHIP_TILES];
    FabricWorker worker[FABRIC_THREADS_MAX];
    /* of the running phase */
    TileState *tiles;
    const bool *is_active;
    Cycles event_zero;
};

/* Fault of tile d at a row event. */
#define RECEIVE_FAULT(fabric, d, which, event, pc, ...)                                            \
    (fabric_fault(&(fabric)->tile[d].fault, (which), (PhysTile){(uint16_t)(d)},                    \
                  (fabric)->event_zero + (event), (pc), __VA_ARGS__),                              \
     false)

/* Fills stores of tile d from what it and, for paired transfers, its partner listen to; marks messages as heard. */
bool fabric_receive(Fabric *fabric, int d, Arena *arena);
/* Rules that need what one tile sends and stores together (exchange.md 9): X9, X10, X12, X20; says which messages are forwarded
 * or overwritten. `bits` is a bitmap of FABRIC_BITMAP_WORDS, clear before and after. */
bool fabric_check_tile(Fabric *fabric, int d, uint64_t *bits);
/* Runs a phase, of which the rows are decoded, word by word; faults are those of the tiles. */
void fabric_run_words(Fabric *fabric, int64_t *stored_words);
