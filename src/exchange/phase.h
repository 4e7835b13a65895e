/* Private to exchange: one phase while its messages are placed in time (exchange-scheduling.md 1, 4.1).
 *
 * A lane is one taking part tile. What is placed on it is kept as bits, one an event: a candidate start is tested against a
 * tile with a handful of word operations, and 64 neighbouring starts at once (lanes.c). Messages are transfers, or stretches
 * of a transfer that has to be cut (exchange.md 5, 8).
 */
#pragma once
#include "exchange/exchange.h"

enum {
    EVENTS_A_BLOCK = 64,
    GROUP_PAD = 64,       /* events in front of a group's bitmap: reads begin before event 0 */
    EVENTS_MAX = 1 << 24, /* longest phase; beyond it the solver refuses (S10) */
    EVENT_NEVER = 1 << 30,
    PHASE_BYTES_MAX = 1 << 30, /* of the bits of all lanes */
    ROOM_PART = 2,             /* they take at most this part of an arena */
};

VEC(Event);

/* 64 events of one tile, a bit each; exactly one cache line. */
typedef struct Block {
    uint64_t send;         /* transmit lane busy: own sends, lent to the partner, base writes */
    uint64_t receive;      /* source windows */
    uint64_t receive_pair; /* ... those of paired transfers */
    uint64_t xpic;         /* events at which controls take effect */
    uint64_t pointer;
    uint64_t pair_xpic;
    uint64_t format;
    uint64_t
        closed; /* no control may take effect: starts of sends and one behind (X6), base writes (X17) */
} Block;
_Static_assert(sizeof(Block) == 64, "a block is a cache line");

typedef struct Lane {
    PhysTile tile;
    int32_t partner; /* lane of the pair's other member; -1: takes no part */
    Block *blocks;
    int32_t *
        owner; /* endpoint of the source window that begins at an event, or whose last event it is */
    /* Groups that this tile both reads and writes in the phase (S7): a bitmap for each set bit of `conflict`, in order;
     * reads with their guard, writes with their margin. */
    uint32_t conflict;
    uint64_t *reads, *writes;
    Event used;                      /* blocks are clear from here on */
    Event pointer_delay;             /* pointer event of an ordinary message = src + 52 + 2R */
    int64_t send_load, receive_load; /* items of the phase, lent lanes included */
    int32_t send_count, receive_count;
    /* Moving sources: sends of `move` (0: none) go first, those under base 0 follow behind the write at `base_event`. */
    int32_t move;
    bool is_mixed;
    Event base_event; /* 0: not placed yet */
    Event later;      /* ExchangeLater.events beyond the least of a taking part tile */
} Lane;

typedef struct Endpoint {
    int32_t lane;
    int32_t message;
    Event source_delay; /* src = start + source_delay */
    uint32_t groups;
    uint32_t address;  /* first byte stored */
    uint8_t direction; /* of a paired message: incoming format; 0: ordinary */
    bool is_early;     /* of a paired message: member that writes the pair's XPIC */
} Endpoint;

typedef struct Message {
    int32_t transfer;
    uint32_t word_first, words;
    int32_t lane; /* of the sender */
    int32_t items;
    uint32_t groups;
    int32_t first, count;      /* endpoints */
    Event start_min;           /* src >= 1 at every receiver, and what failed encodings asked for */
    Event tail;                /* start + tail: least row end of the tiles it touches */
    Event reach;               /* start + reach: the same with what those tiles do later */
    bool is_paired, is_moving; /* moving: under the lane's base */
} Message;

/* Earlier transfers that a transfer waits for (S6): preds[pred_first[t] .. pred_first[t + 1]), relative to the phase. */
typedef struct Depends {
    int32_t *pred_first; /* NULL: no dependencies */
    int32_t *preds;
} Depends;

typedef struct Phase {
    const ExchangeProblem *problem;
    int32_t index, transfer_first, transfer_count;
    Lane *lanes;
    int32_t lane_count;
    Message *messages;
    int32_t message_count;
    int32_t
        *message_of; /* transfer of the phase -> its first message; transfer_count + 1 entries */
    Endpoint *endpoints;
    int64_t endpoint_count;
    Depends depends;
    const int32_t *same_move; /* moves_merge */
    Event capacity;           /* events that the blocks hold */
    bool may_merge;           /* two controls may share an event (sendpicp) */
    bool has_pairs, has_mixed;
    Event *start;     /* per message; -1: not placed */
    Event length_min; /* of phase_length: what tiles do later that take no part */
} Phase;

/* --- build.c -------------------------------------------------------------------------------------------------------- */
/* Messages and lanes of a phase, all eligible transfers paired or none. Blocks are allocated by phase_reserve. */
Phase phase_build(const ExchangeProblem *problem, int32_t phase, bool is_paired,
                  const Depends *depends, const int32_t *same_move, Arena *arena);
/* For every move the first one with equal offsets. */
int32_t *moves_merge(const ExchangeProblem *problem, Arena *arena);
/* Row end of the endpoint's tile, less the start of its message. */
Event endpoint_tail(const Phase *phase, const Endpoint *to);
/* Room for `events`. False when that is more than EVENTS_MAX or PHASE_BYTES_MAX, or than the arena holds with room for work. */
bool phase_reserve(Phase *phase, int64_t events, Arena *arena);

/* --- lanes.c -------------------------------------------------------------------------------------------------------- */
/* Forgets all placed messages. */
void phase_reset(Phase *phase);
/* Earliest start in from..to at which the message breaks no rule against what is placed; EVENT_NEVER when there is none, or the
 * capacity ends before. */
Event phase_earliest(const Phase *phase, int32_t message, Event from, Event to);
/* Latest start <= to; -1 when there is none. */
Event phase_latest(const Phase *phase, int32_t message, Event to);
void phase_put(Phase *phase, int32_t message, Event start);
void phase_remove(Phase *phase, int32_t message);
/* Removes a message and all that break a rule without it: where a message goes on with the source or the pointer that another
 * has set it needs no control, and without the other one it would, perhaps where none may be. Fills `removed` with starts
 * (key) and messages, the given one first; there may be as many as messages. */
int32_t phase_remove_with_followers(Phase *phase, int32_t message, SortKey *removed);
/* Reserves the base write of a mixed lane behind its moving sends. False when the capacity ends before. */
bool phase_switch_base(Phase *phase, int32_t lane);
/* Marks the base write of a mixed lane at `begin`. */
void phase_put_base(Phase *phase, int32_t lane, Event begin);
Event phase_horizon(const Phase *phase);
/* Largest row end + what the tile does later (Lane.later): when the next phase can begin, less a constant. Equal to the horizon
 * where all tiles have the same to do. */
Event phase_length(const Phase *phase);
/* Sum of all row ends. */
int64_t phase_ends(const Phase *phase, Arena scratch);
/* A lower bound of the length, given one of the horizon. */
Event phase_length_bound(const Phase *phase, Event bound);

/* Words of a group's bitmap. */
static inline isize phase_group_words(const Phase *phase)
{
    return (phase->capacity + GROUP_PAD + EVENTS_A_BLOCK - 1) / EVENTS_A_BLOCK;
}

/* --- order.c -------------------------------------------------------------------------------------------------------- */
typedef enum ExchangeRule {
    RULE_FRONTIER = 0, /* panel by panel, the sender that leaves the smallest gaps */
    RULE_AHEAD,        /* the same, panels with more left further ahead of the others */
    RULE_LOAD,         /* busiest endpoint first */
    RULE_LIST,         /* list order */
    RULE_ROTATION,     /* all-to-all as rotations */
    RULE_EARLIEST,     /* what can start first */
    RULE_COUNT,
} ExchangeRule;
typedef enum Outcome {
    OUTCOME_PLACED = 0,
    OUTCOME_TOO_SHORT, /* the reserved blocks */
    OUTCOME_REFUSED,   /* too much work, or not a rule for such a phase */
} Outcome;

/* A placement that is kept. */
typedef struct Placed {
    Event *start; /* per message */
    Event *base;  /* per lane */
    Event horizon, length;
    int64_t ends; /* sum of all row ends */
} Placed;
Placed placed_new(const Phase *phase, Arena *arena); /* longer than any */
/* Keeps what is placed in the phase. */
void placed_keep(const Phase *phase, Placed *out, Arena scratch);
/* When the next phase can begin decides, then the horizon, then how early rows end on the whole. */
bool placed_is_better(const Placed *a, const Placed *b);
/* Keeps what is placed when it is better; whether it was. */
bool placed_keep_better(const Phase *phase, Placed *best, Arena scratch);
/* Puts exactly these starts and base writes (of mixed lanes). */
void phase_restore(Phase *phase, const Placed *placed);
/* Finds a place for every message; with stream_words in waves of streams, whatever the rule. `bound` is a lower bound of the
 * horizon. False when the rule is refused, or no room for the phase is reserved. */
bool phase_schedule(Phase *phase, ExchangeRule rule, int32_t stream_words, Event bound,
                    Arena scratch, Placed *best);
/* Places all messages again in the order of their starts (start_min or may_merge changed). */
bool phase_replace(Phase *phase, Arena scratch);
/* As late as the length allows and `slack` more, latest first; only without dependencies and mixed lanes. False when that fails. */
bool phase_replace_late(Phase *phase, Event slack, Arena scratch);

/* --- improve.c ------------------------------------------------------------------------------------------------------ */
/* Tries other orders of a placed phase until its length is at most `good_length`, at most `tries`, and keeps the best. */
void phase_improve(Phase *phase, Event good_length, int64_t tries, Arena scratch, Placed *best);

/* --- frontier.c ----------------------------------------------------------------------------------------------------- */
/* RULE_FRONTIER or RULE_AHEAD, for a phase without dependencies and mixed lanes. */
Outcome phase_place_frontier(Phase *phase, ExchangeRule rule, Arena scratch);

/* --- depend.c ------------------------------------------------------------------------------------------------------- */
/* False with an error when there are too many overlaps to follow. */
bool depends_build(const ExchangeProblem *problem, int32_t phase, Arena *keep, Arena scratch,
                   Depends *out, Error *err);

/* --- encode.c ------------------------------------------------------------------------------------------------------- */
/* row_encode that goes on behind a sendpicp on an odd word, so that all of them are known at once. */
bool row_encode_noting(const RowScript *script, RowWordVec *out, Arena *arena, EventVec *failed);

/* --- rows.c --------------------------------------------------------------------------------------------------------- */
typedef struct PhaseRows {
    Row *rows;
    isize row_count;
    uint32_t *words; /* each row begins on an even word */
    isize word_count;
    isize row_words_max, row_patches_max;
    RowPatch *patches;
    isize patch_count;
    Event horizon, length; /* encoding may move messages */
} PhaseRows;
/* Encodes every row, moving messages where a row cannot be encoded. False when that does not end. */
bool phase_encode(Phase *phase, int threads, Arena *keep, Arena scratch, PhaseRows *out);

/* --- collect.c ------------------------------------------------------------------------------------------------------ */
/* Rows, words, patches and horizons of all phases; rows of a tile with equal words share them, unless they are patched. */
void rows_collect(const PhaseRows *phases, isize phase_count, Arena *keep, Arena scratch,
                  Schedule *out);
/* Bytes of all rows of the tile that has most, each on 8 bytes (S10); shared words count once. */
int64_t row_bytes_largest(const Schedule *schedule, Arena scratch, PhysTile *tile);

/* --- inputs.c ------------------------------------------------------------------------------------------------------- */
/* Refuses problems that no schedule can satisfy. */
bool inputs_check(const ExchangeProblem *problem, Arena scratch, Error *err);
