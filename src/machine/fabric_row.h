/* One tile's row of one phase, decoded from its SRAM (reference/exchange.md 3.1, 4). Private to the room. */
#pragma once
#include "machine/fabric.h"

/* A stretch of items (words, or 64-bit items) sent without a gap from consecutive addresses, from its `send` on. */
typedef struct FabricMessage {
    Event begin, end;
    uint32_t address; /* byte address of the first item */
    uint32_t pc;
    uint32_t groups; /* exchange groups that its range touches, a bit a group */
    uint8_t sctl;
    bool is_forwarded;     /* a word of it is stored earlier in the phase */
    bool is_overwritten;   /* a word of it is stored over later in the phase */
    const uint32_t *at;    /* its words */
    const uint8_t *poison; /* a bit a word; NULL: all defined */
} FabricMessage;
VEC(FabricMessage);

static inline uint32_t message_bytes(const FabricMessage *message)
{
    return (uint32_t)(message->end - message->begin) * ((message->sctl & SCTL_WIDE) != 0 ? 8 : 4);
}

/* A value that one of the two incoming streams takes at an event. */
typedef struct FabricControl {
    Event event;
    uint32_t value;
    uint32_t pc;
} FabricControl;
VEC(FabricControl);

typedef struct FabricRow {
    bool has_row;
    uint32_t row, row_end; /* addresses of the first word and behind `br m10` */
    uint32_t return_pc;
    Event end; /* event at which `br m10` issues */
    FabricMessageVec messages;
    const Event *message_ends;  /* of the messages: what receivers search, in few cache lines */
    FabricControlVec xpic;      /* source of the ordinary mux */
    FabricControlVec xpic_pair; /* source of the pair's mux, XOR bit 1 of the tile's id */
    FabricControlVec pic;       /* pointer: word address relative to INCOMING_BASE */
    FabricControlVec format;    /* of incoming items: 0, or direction of a 64-bit route */
    FabricControlVec bases;     /* writes of INCOMING_BASE, by their first event */
    uint32_t incoming_base;     /* at entry */
    uint32_t send_groups;       /* of all messages together */
} FabricRow;

/* What the row word at an address does not tell. */
typedef struct FabricRowContext {
    Cycles event_zero;
    bool poison_off;
    Arena *arena; /* of the lists */
} FabricRowContext;

/* Decodes the row that is called at tile->pc; out->has_row is false when no call stands there. Base writes inside the
 * row change the tile's registers. */
bool fabric_decode_row(TileState *tile, const FabricRowContext *context, FabricRow *out,
                       Fault *fault);
