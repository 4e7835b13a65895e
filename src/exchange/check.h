/* Private to the checker of schedules (check*.c). It is written from the rules (exchange.md 3..9, exchange-scheduling.md 1) and
 * shares nothing with the solver; only chip's formulas and the row decoder are common ground. */
#pragma once
#include "exchange/exchange.h"

enum {
    CHECK_EVENT_MAX = 1 << 29, /* starts below it: all sums of events fit an Event */
    CHECK_GUARD = 8, /* SRAM is read up to 8 events around the wire event (exchange.md 9) */
};

/* What the offsets of a move mean; index 0 is the source that does not move. */
typedef struct CheckMove {
    int32_t alike;        /* first move with the same offsets */
    int32_t first, count; /* distinct offsets, ascending, in Check.offsets */
    bool is_wide;         /* all multiples of 8 */
} CheckMove;

/* A message at one of its tiles: what the tile's task would otherwise gather from all over the problem. */
typedef struct CheckEntry {
    int32_t message;
    Event start;
    uint32_t address; /* where this tile reads or writes, without offset */
    int32_t move;     /* of reads */
    uint16_t words, source;
    uint8_t sctl;
    bool is_paired;
} CheckEntry;

enum { CHECK_SENDS, CHECK_LENDS, CHECK_RECEIVES, CHECK_SIDES };

typedef struct Check {
    const ExchangeProblem *problem;
    const Schedule *schedule;
    int threads;
    uint32_t row_groups; /* groups that hold rows */
    CheckMove *moves;
    int32_t *offsets;
    int32_t *message_first; /* per transfer, and one behind the last */
    int32_t *row_first;     /* per phase, and one behind the last */
    /* Of the phase that is being checked: */
    int32_t phase;
    Event *first_start, *completion; /* per transfer of the phase (S6) */
    CheckEntry *entries;
    int32_t *entry_first; /* [CHECK_SIDES * tile + side], and one behind the last */
} Check;

/* One message as one tile sees it. */
typedef struct CheckPart {
    Event begin, end;        /* sends: items leave; receives: source window */
    Event store;             /* receives: first store event */
    uint32_t address, words; /* without offset */
    uint32_t groups;         /* exchange groups that are read or written, in any iteration */
    int32_t message, move;
    uint16_t source; /* physical tile; of a paired receive: what the paired mux is set to */
    uint8_t sctl, direction;
    bool is_paired, is_early; /* early: this member of the pair sets the mux */
} CheckPart;

/* A control that must stand in a row. */
typedef struct CheckControl {
    RowControl control;
    int32_t message;
} CheckControl;

/* One tile in one phase. Parts are sorted by begin. */
typedef struct CheckTile {
    const Check *check;
    PhysTile tile;
    int32_t count[CHECK_SIDES];
    CheckPart *part[CHECK_SIDES];
    CheckControl *controls; /* sorted by event, then stream */
    isize control_count;
    Arena *arena;
    Error *err;
} CheckTile;

/* "RULE: phase 3, tile L12 (P24), event 310, transfer 77 (provenance): what"; returns false. message < 0: none. */
bool check_broken(const Check *check, const char *rule, PhysTile tile, Event event, int32_t message,
                  const char *what, Arena scratch, Error *err);
bool check_tile_broken(const CheckTile *tile, const char *rule, Event event, int32_t message,
                       const char *what);
static inline const ExchangeTransfer *check_transfer_of(const Check *check, int32_t message)
{
    return &check->problem->transfers.at[check->schedule->messages.at[message].transfer];
}
/* The entry of a message at its sender (exchange.md 5, 8). */
CheckEntry check_entry_of(const Check *check, int32_t message);

/* Shape of problem and schedule: every index is in range, messages tile transfers, rows are in order, do not overlap and
 * keep the budget. Fills the tables of `check` (check_shape.c). */
bool check_shape(Check *check, Arena *arena, Error *err);
/* Transfer `index` for itself, X13 and X20; its first start and completion. `seen` holds 1 + the last transfer that had this
 * tile as receiver. */
bool check_transfer(const Check *check, int32_t index, int32_t *seen, Arena scratch, Error *err);

/* Lists of a tile's parts, and the rules of its streams and memory (check_tile.c): X1..X4, X9, X10, X14, X20. */
bool check_collect(CheckTile *tile);
bool check_streams(const CheckTile *tile);
/* X12 (check_order.c). */
bool check_order(const CheckTile *tile);
/* Controls that follow from the receives (check_controls.c), X5 and X6. */
bool check_controls(CheckTile *tile);
/* The row against all of it (check_rows.c): X7, X8, X16, X17, X19, S9, S10. */
bool check_row(const CheckTile *tile, const Row *row);
