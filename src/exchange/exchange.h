/* exchange: start events for every transfer of every phase, and the rows that realise them.
 * takes: Work and Placement, or a plain problem      gives: Schedule (starts, horizons, rows)
 * uses: base chip isa lower place
 * never: changes addresses or routes
 *
 * Problem and schedule are plain and physical. Formulas: reference/exchange.md 3..5, constraints S1..S10 of
 * exchange-scheduling.md 1. exchange_check shares no code with the solver.
 */
#pragma once
#include "base/base.h"
#include "chip/chip.h"
#include "lower/lower.h"
#include "place/place.h"

typedef struct ExchangeReceiver {
    PhysTile tile;
    uint32_t address; /* byte address, multiple of 4 */
} ExchangeReceiver;
VEC(ExchangeReceiver);

typedef struct ExchangeTransfer {
    PhysTile source;
    uint32_t address; /* byte address, multiple of 4 */
    uint32_t words;   /* 1..FABRIC_MESSAGE_WORDS_MAX */
    int32_t receiver_first, receiver_count;
    Provenance provenance;
} ExchangeTransfer;
VEC(ExchangeTransfer);

typedef struct ExchangePhase {
    int32_t transfer_first, transfer_count;
    Provenance provenance;
} ExchangePhase;
VEC(ExchangePhase);

typedef struct ExchangeProblem {
    ExchangePhaseVec phases;
    ExchangeTransferVec transfers;
    ExchangeReceiverVec receivers;
    uint32_t row_bytes_max; /* per tile, sum over phases */
    AddrRange row_range;    /* where rows will live: no transfer may touch its groups (X10) */
} ExchangeProblem;

/* One tile's row in one phase. */
typedef struct Row {
    int32_t phase;
    PhysTile tile;
    int32_t word_first,
        word_count; /* into Schedule.words; the last is `br m10`; even alignment starts at the row's first word */
    Event end; /* events until `br m10` */
} Row;
VEC(Row);

typedef uint32_t RowWord;
VEC(RowWord);

typedef struct Schedule {
    Event *start;   /* per transfer */
    Event *horizon; /* per phase: max row end */
    Event *bound;   /* per phase: lower bound (exchange-scheduling.md 2) */
    RowVec rows;    /* sorted by (phase, physical tile); only tiles that send or receive */
    RowWordVec words;
} Schedule;

/* Only file that sees Work: phases in step order. */
void exchange_extract(const Work *work, const Placement *placement, Arena *keep,
                      ExchangeProblem *out);
/* Greedy list scheduling, then row encoding. ERROR_NO when rows exceed the budget ("over by n bytes"). */
bool exchange_solve(const ExchangeProblem *problem, int threads, Arena *keep, Arena scratch,
                    Schedule *out, Error *err);
/* Starts against the rules; rows decode to exactly the schedule. The message names the rule (X1.., S1..), tile and event. */
bool exchange_check(const ExchangeProblem *problem, const Schedule *schedule, Arena scratch,
                    Error *err);
void exchange_bounds(const ExchangeProblem *problem, Arena scratch, Event *bound_per_phase);
void exchange_print(Writer *writer, const ExchangeProblem *problem, const Schedule *schedule);
bool exchange_parse(Str text, Arena *keep, ExchangeProblem *out, Error *err);

/* Row codec (exchange.md 4.1), for encoder tests and dumps. */
typedef enum RowStream { ROW_XPIC = 0, ROW_XPIC_PAIRED, ROW_POINTER, ROW_FORMAT } RowStream;
typedef struct RowControl {
    Event event;
    RowStream stream;
    uint32_t value; /* XPIC value, pointer word address, or format */
} RowControl;
VEC(RowControl);
typedef struct RowSend {
    Event begin, end; /* items leave at begin .. end-1 */
    uint32_t address; /* item address */
    uint32_t sctl;
} RowSend;
VEC(RowSend);
/* Sends sorted and disjoint, controls sorted. Appends words ending in `br m10`. False when not encodable (parity, S5): *at
 * says at which event; the caller delays a transfer. */
bool row_encode(const RowSend *sends, isize send_count, const RowControl *controls,
                isize control_count, Event end, RowWordVec *out, Arena *arena, Event *at);
/* Replays a row. False (ERROR_INPUT) on words that are not legal in a row. */
bool row_decode(const uint32_t *words, isize count, RowSendVec *sends, RowControlVec *controls,
                Event *end, Arena *arena, Error *err);
void row_print(Writer *writer, const uint32_t *words, isize count);
