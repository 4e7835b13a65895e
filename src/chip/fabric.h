/* Constants of the exchange fabric, registers of the supervisor and limits
 * (reference/exchange.md 3..7, isa/registers.md 4). */
#pragma once

enum {
    FABRIC_POINTER_DELAY = 52, /* pointer event = src + 52 + 2R (exchange.md 3.2) */
    FABRIC_ROW_MARGIN = 5,     /* row may end at payload end + 5 */
    FABRIC_SEND_MIN = 6,       /* sender's row may not end before max(t+n, 6) */
    FABRIC_NEUTRAL = 0x640,    /* XPIC value that listens to nothing */
    FABRIC_MESSAGE_WORDS_MAX = 4148,
    FABRIC_SEND_MAX = 64, /* items of send, sendpic, sendpicp */
    FABRIC_SENDOFF_MAX = 4096,
    FABRIC_DELAY_MAX = 524288,
    FABRIC_DELAYPIC_MAX = 128,
    FABRIC_DELAYXPIC_MAX = 4096,
    FABRIC_BASE_WRITE_EVENTS = 13,
    PHASE_COST_DEFAULT = 327, /* cycles of a phase beyond its rows (decisions.md A5) */
    PHASE_COST_LOW = 240,
    PHASE_COST_HIGH = 330,
};

/* sctl bits of send words. */
enum { SCTL_DIR1 = 1, SCTL_DIR2 = 2, SCTL_BOTH = 3, SCTL_WIDE = 4 };

/* `sync` zones (exchange.md 10.1). */
enum { SYNC_RECV = 0, SYNC_ANS = 1, SYNC_LOCAL = 2, SYNC_INTERNAL = 3, SYNC_HOST = 7 };
