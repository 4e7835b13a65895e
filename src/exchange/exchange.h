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

/* Bytes from one tile to one or more tiles, in every iteration of the phase. Transfers of a phase are in program order:
 * where two of them touch the same bytes of a tile and one writes, the later one starts behind the completion of the
 * earlier one (S6). The sender may be among several receivers (loopback, exchange.md 8). */
typedef struct ExchangeTransfer {
    PhysTile source;
    uint32_t address; /* byte address without offset, multiple of 4 */
    uint32_t words;   /* 1..FABRIC_MESSAGE_WORDS_MAX */
    int32_t receiver_first, receiver_count;
    int32_t
        move; /* index in ExchangeProblem.moves: the source moves with the iterations; 0: it does not */
    Provenance provenance;
} ExchangeTransfer;
VEC(ExchangeTransfer);

/* Byte offsets of a moving source, one an iteration: reads address + offsets.at[first + iteration]. */
typedef struct ExchangeMove {
    int32_t first, count;
} ExchangeMove;
VEC(ExchangeMove);

typedef int32_t ExchangeOffset;
VEC(ExchangeOffset);

/* What a tile has to do behind a phase before it can come to the next one. There is no exit barrier: it begins when its own row
 * ends, or at event 0 if it has none, so that the next phase waits for the largest row end + `events`. */
enum { EXCHANGE_LATER_MAX = 1 << 28 }; /* events; more counts as this */
typedef struct ExchangeLater {
    PhysTile tile;
    Event events;
} ExchangeLater;
VEC(ExchangeLater);

typedef struct ExchangePhase {
    int32_t transfer_first, transfer_count;
    int32_t later_first, later_count; /* sorted by tile, those with events > 0 */
    int32_t
        iterations; /* of the Repeat around it; 0 counts as 1. Every move of the phase has as many offsets. */
    Provenance provenance;
} ExchangePhase;
VEC(ExchangePhase);

typedef struct ExchangeProblem {
    ExchangePhaseVec phases;
    ExchangeTransferVec transfers;
    ExchangeReceiverVec receivers;
    ExchangeLaterVec later;
    ExchangeMoveVec moves; /* index 0 unused */
    ExchangeOffsetVec offsets;
    uint32_t row_bytes_max; /* per tile, sum over phases */
    AddrRange row_range;    /* where rows will live: no transfer may touch its groups (X10) */
    const NameTable *names; /* of the provenances, for messages; may be NULL */
} ExchangeProblem;

/* A transfer as it is sent: whole, or cut into several stretches (exchange.md 8: loopback whose controls would collide with
 * its own start). The messages of a transfer tile its words. */
typedef struct ExchangeMessage {
    int32_t transfer;
    uint32_t word_first, words;
    Event start;
    bool is_paired; /* 64-bit items: words / 2 of them (exchange.md 5) */
} ExchangeMessage;
VEC(ExchangeMessage);

/* One tile's row in one phase. */
typedef struct Row {
    int32_t phase;
    PhysTile tile;
    int32_t word_first,
        word_count; /* into Schedule.words; the last is `br m10`; even alignment starts at the row's first word.
                       Rows of one tile that have equal words share them, unless they are patched. */
    Event end; /* events until `br m10` */
    int32_t
        move; /* != 0: OUTGOING_BASE at entry = m6 = offset of the iteration - least offset (move_least) */
    int32_t patch_first,
        patch_count; /* Schedule.patches: words that are written before every iteration */
} Row;
VEC(Row);

/* Word of a row whose item address moves: its address field holds that of offset 0, and in every iteration the word is
 * written with the address that the iteration's offset gives (N4: in every iteration, also with offset 0). */
typedef struct RowPatch {
    int32_t word; /* index in the row */
    int32_t move;
} RowPatch;
VEC(RowPatch);

typedef uint32_t RowWord;
VEC(RowWord);

/* What makes a lower bound: exchange-scheduling.md 2. */
typedef enum BoundKind {
    BOUND_NONE = 0,
    BOUND_SEND,    /* transmit lane of a tile, with feasibility and travel of its last message */
    BOUND_RECEIVE, /* receive lane of a tile, with the receive pipeline */
    BOUND_CHAIN,   /* forwarding: messages that wait for each other */
    BOUND_ISSUE,   /* a tile's row has more instructions than events */
    BOUND_CLIQUE,  /* messages that use one memory group of a tile: any two exclude each other */
    BOUND_MULTICAST, /* messages of which any two have a lane in common, but not one lane all of them */
    BOUND_KIND_COUNT,
} BoundKind;

typedef struct ExchangeBound {
    Event events;
    BoundKind kind;
    PhysTile tile; /* that binds; of a chain: one that it passes; of multicasts: one that sends */
} ExchangeBound;

/* Of one phase. `chosen` is for the widths of a schedule; the others for all transfers 32 bits wide, and for every transfer
 * paired that may be (transfer_may_pair). */
typedef struct ExchangeBounds {
    ExchangeBound ordinary, paired, chosen;
    int64_t send_words_max, receive_words_max; /* largest loads of a tile, in words */
} ExchangeBounds;

typedef struct Schedule {
    ExchangeMessageVec messages; /* sorted by (transfer, word_first) */
    Event *horizon;              /* per phase: max row end */
    ExchangeBounds *bounds;      /* per phase */
    RowVec rows; /* sorted by (phase, physical tile); only tiles that send or receive */
    RowWordVec words;
    RowPatchVec patches;
    double host_encode_seconds; /* part of the solving time; measured, not a result */
} Schedule;

typedef enum ExchangeWidth {
    EXCHANGE_WIDTH_AUTO = 0,
    EXCHANGE_WIDTH_ORDINARY,
    EXCHANGE_WIDTH_PAIRED
} ExchangeWidth;

typedef struct ExchangeOptions {
    int threads;
    bool is_compact; /* least largest row, then least row bytes, then the shortest horizon */
    int32_t
        stream_words; /* != 0: waves of that many words a stream (exchange.md 8, chunked streams) */
    ExchangeWidth width;
} ExchangeOptions;

/* Only file that sees Work: phases in step order. */
void exchange_extract(const Work *work, const Placement *placement, Arena *keep,
                      ExchangeProblem *out);
/* List scheduling, then row encoding. ERROR_NO when rows exceed the budget ("over by n bytes"). */
bool exchange_solve(const ExchangeProblem *problem, const ExchangeOptions *options, Arena *keep,
                    Arena scratch, Schedule *out, Error *err);
/* Starts against the rules; rows decode to exactly the schedule. The message names the rule (X1.., S1..), tile, event,
 * transfer and provenance. `threads` only divides the work. */
bool exchange_check(const ExchangeProblem *problem, const Schedule *schedule, int threads,
                    Arena scratch, Error *err);
/* Lower bounds of every phase. Without messages `chosen` is the ordinary one; with messages it follows their widths, and only
 * `chosen` is written. */
void exchange_bounds(const ExchangeProblem *problem, const ExchangeMessageVec *messages,
                     int threads, Arena scratch, ExchangeBounds *out);
void exchange_print(Writer *writer, const ExchangeProblem *problem, const Schedule *schedule);
bool exchange_parse(Str text, Arena *keep, ExchangeProblem *out, Error *err);

/* May a transfer use 64-bit items (exchange.md 5, eligibility)? Even words, 8-aligned addresses in all iterations, whole
 * receiving pairs. */
bool transfer_may_pair(const ExchangeProblem *problem, const ExchangeTransfer *transfer);
/* Offset of iteration `i` of a move; 0 of move 0. */
int32_t move_offset(const ExchangeProblem *problem, int32_t move, int32_t i);
/* What is added to the addresses of sends relative to a moving base (Row.move): the least offset, so that m6 >= 0. */
int32_t move_least(const ExchangeProblem *problem, int32_t move);

/* Row codec (exchange.md 4.1), for encoder tests and dumps. */
typedef enum RowStream { ROW_XPIC = 0, ROW_XPIC_PAIRED, ROW_POINTER, ROW_FORMAT } RowStream;
/* Timed write of OUTGOING_BASE from m6 (moving) or m15 (zero), 13 events; with `sets_incoming` preceded by
 * `setzi m8, incoming` and a write of INCOMING_BASE, 27 events in all (exchange.md 6.2). */
typedef struct RowBase {
    Event event; /* at which it begins */
    bool is_moving, sets_incoming;
    uint32_t incoming;
} RowBase;
VEC(RowBase);
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
/* What a row does: sends and bases sorted and disjoint, controls sorted by event. Send addresses are in items, relative to the
 * OUTGOING_BASE in force. */
typedef struct RowScript {
    RowSendVec sends;
    RowControlVec controls;
    RowBaseVec bases;
    Event end;
} RowScript;
/* Appends words ending in `br m10`. False when not encodable (parity, S5): *at says at which event; the caller delays a
 * transfer. */
bool row_encode(const RowScript *script, RowWordVec *out, Arena *arena, Event *at);
/* Replays a row. False (ERROR_INPUT) on words that are not legal in a row. */
bool row_decode(const uint32_t *words, isize count, RowScript *out, Arena *arena, Error *err);
void row_print(Writer *writer, const uint32_t *words, isize count);
