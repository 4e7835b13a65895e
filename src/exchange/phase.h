/* Private to exchange: the state of one phase while its transfers are being placed in time (exchange-scheduling.md 1, 4.1).
 *
 * A lane is one taking part tile: its sends and its receives, each a sorted array of disjoint slots. Everything else
 * (control events, pointer and payload windows) is a fixed distance from a slot and is computed when needed.
 */
#pragma once
#include "exchange/exchange.h"

typedef struct Slot {
    Event begin; /* sends: first item leaves; receives: source window begins (src) */
    int32_t words;
    uint32_t groups; /* bit mask of exchange groups that are read or written */
    int32_t message;
} Slot;

typedef struct Lane {
    PhysTile tile;
    Slot *sends, *receives;
    int32_t send_count, receive_count;
    uint32_t send_groups, receive_groups; /* unions over the slots placed so far */
    Event pointer_delay;                  /* pointer event = src + 52 + 2R */
    int64_t send_words, receive_words;    /* whole load of the phase */
    int64_t send_left, receive_left;      /* of messages not placed yet */
} Lane;

typedef struct Endpoint {
    int32_t lane;
    Event source_delay; /* src = start + T + 1 */
    uint32_t groups;
} Endpoint;

typedef struct Message {
    int32_t lane; /* of the sender */
    int32_t words;
    uint32_t groups;
    int32_t first, count; /* endpoints */
    Event start_min;      /* src >= 1 at every receiver, and what failed encodings asked for */
} Message;

typedef struct Phase {
    const ExchangeProblem *problem;
    int32_t transfer_first;
    Lane *lanes;
    int32_t lane_count;
    Message *messages;
    int32_t message_count;
    Endpoint *endpoints;
    bool may_merge; /* two controls may share an event (sendpicp) */
    Event *start;   /* per message */
} Phase;

/* Mask of the exchange groups of [address, address + bytes). */
uint32_t groups_of(uint32_t address, uint32_t bytes);

Phase phase_build(const ExchangeProblem *problem, int32_t phase, Event *start, Arena *arena);
/* Forgets all placed messages. */
void phase_reset(Phase *phase);
/* Earliest start >= from at which the message breaks no rule against what is placed; gives up at `limit` and returns a
 * value >= limit then. */
Event phase_earliest(const Phase *phase, int32_t message, Event from, Event limit);
void phase_place(Phase *phase, int32_t message, Event start);
Event phase_horizon(const Phase *phase);

/* Places every message: the better of two orders (order.c). `bound` is a lower bound of the horizon. */
void phase_schedule(Phase *phase, Event bound, Arena scratch);

/* Refuses problems that this solver does not cover or that no schedule can satisfy (inputs.c). */
bool inputs_check(const ExchangeProblem *problem, Arena scratch, Error *err);
