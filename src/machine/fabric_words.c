/* One phase, word by word and event by event: the pull model of reference/exchange.md 11 as it stands there, for comparison with the
 * runs of fabric_receive.c and fabric_check.c, with which it shares the decoded rows and nothing else.
 *
 * At every event, first the items that leave are read from SRAM and stay on record for as long as they may be on their way. Then
 * every receiver looks which item its muxes had selected 52 + 2R events ago (paired: 53 + 2R), and stores it where its pointer
 * stands now. Registers, formats and windows of memory elements are state that moves on with the events.
 *
 * A fault does not end the phase: other faults may belong to the same mistake, and what is reported shall be, as far as that goes,
 * what the bulk path reports: of each tile the first of the earliest kind of check. A word that is refused is not stored.
 */
#include "machine/fabric_phase.h"

enum {
    WIRE_EVENTS = 256, /* more than the longest way from sender to store */
    RECENT = 8,        /* at least as many messages as can begin in 6 events */
    LATEST_STORE = FABRIC_POINTER_DELAY + 2 * CHIP_ROWS + 2,
};

/* Order in which faults of one tile count. */
typedef enum Stage {
    STAGE_HEAR, /* and two more: one an ear */
    STAGE_STORE = 3,
    STAGE_FETCH,
    STAGE_LOOPBACK,
    STAGE_SEPARATE,
    STAGE_LANES,
    STAGE_NONE,
} Stage;

/* What a tile puts on the wire at one event. */
typedef struct WireItem {
    Event event; /* -1: nothing yet */
    const FabricMessage *message;
    isize index; /* of the message */
    uint32_t word[2];
    uint8_t poison; /* a bit a word */
} WireItem;

/* A range of words that is read or written during [begin, end). */
typedef struct Window {
    Event begin, end;
    Event last; /* end of the items, without margins */
    uint32_t address, bytes, groups;
    uint32_t pc;
    bool is_wide; /* of a read: 64-bit items */
} Window;

typedef struct Windows {
    Window at[RECENT];
    int next;
} Windows;

/* One mux that a tile listens with: its own, its pair mux, its partner's pair mux. */
typedef struct Ear {
    int listener;
    bool is_paired;
    isize next; /* control */
    uint32_t value, pc;
    const FabricMessage *message; /* whose items are heard; NULL: none */
    uint16_t source;
    Event due; /* of that message: sender's event of the item that must come next */
} Ear;

typedef struct WordTile {
    Ear ear[3];
    WireItem wire[WIRE_EVENTS];
    isize message; /* the first that has not ended */
    isize pic, format_next, base;
    bool has_pointer, pointer_set_now;
    uint32_t pointer, pointer_pc, incoming_base;
    Event pointer_event;
    uint32_t format[3]; /* now, one and two events ago */
    Windows reads, writes;
    Stage stage; /* of the fault */
} WordTile;

typedef struct Words {
    Fabric *fabric;
    WordTile *tile;
    int64_t *stored;
    Event now;
} Words;

/* --- faults ------------------------------------------------------------------------------------------------------- */

static bool takes_fault(Words *w, int d, Stage stage, FabricFault which)
{
    w->fabric->words_faults |= (uint64_t)1 << which;
    if (stage >= w->tile[d].stage) {
        return false;
    }
    w->tile[d].stage = stage;
    w->fabric->tile[d].has_fault = true;
    return true;
}

/* Always false. */
#define WORD_FAULT(w, d, stage, which, event, pc, ...)                                             \
    (takes_fault((w), (d), (stage), (which)) &&                                                    \
     RECEIVE_FAULT((w)->fabric, (d), (which), (event), (pc), __VA_ARGS__))

static PhysTile phys(int tile)
{
    return (PhysTile){(uint16_t)tile};
}

static const FabricRow *row_of(const Words *w, int d)
{
    return &w->fabric->tile[d].program;
}

/* --- memory elements (X9, X10, X12) --------------------------------------------------------------------------------- */

static bool are_touching(const Window *a, const Window *b)
{
    return a->address < b->address + b->bytes && b->address < a->address + a->bytes;
}

/* A read and a write begin to share the tile's memory at an event at which both are open. */
static void check_windows(Words *w, int d, const Window *read, const Window *write)
{
    if (read->bytes == 0 || write->bytes == 0 || (read->groups & write->groups) == 0 ||
        read->begin >= write->end || write->begin >= read->end) {
        return;
    }
    bool mixed =
        read->begin < write->last && write->begin < read->last && are_touching(read, write);
    (void)WORD_FAULT(w, d, STAGE_SEPARATE, mixed ? FABRIC_FORWARDING : FABRIC_EXCHANGE_CONFLICT,
                     w->now, read->pc,
                     "at event %d words at 0x%x are sent and words at 0x%x stored", w->now,
                     read->address, write->address);
}

static void open_window(Words *w, int d, Window window, bool is_read)
{
    WordTile *tile = &w->tile[d];
    const FabricRow *row = row_of(w, d);
    Windows *own = is_read ? &tile->reads : &tile->writes;
    const Windows *others = is_read ? &tile->writes : &tile->reads;
    uint32_t code = groups_of(row->row, row->row_end + FETCH_AHEAD_BYTES);
    if ((window.groups & code) != 0) {
        (void)WORD_FAULT(w, d, STAGE_FETCH, FABRIC_ROW_FETCH, w->now, window.pc,
                         "at event %d words at 0x%x and the row at 0x%x share an element", w->now,
                         window.address, row->row);
    }
    for (int i = 0; i < RECENT; i++) {
        check_windows(w, d, is_read ? &window : &others->at[i], is_read ? &others->at[i] : &window);
    }
    own->at[own->next++ % RECENT] = window;
}

/* --- sending ------------------------------------------------------------------------------------------------------ */

/* The message that has an item at the present event, or NULL. */
static const FabricMessage *sending(const Words *w, int d)
{
    const FabricMessageVec *messages = &row_of(w, d)->messages;
    isize at = w->tile[d].message;
    return at < messages->len && messages->at[at].begin <= w->now ? &messages->at[at] : NULL;
}

static void begin_send(Words *w, int d, const FabricMessage *message)
{
    Event end = message->end < FABRIC_SEND_MIN ? FABRIC_SEND_MIN : message->end;
    uint32_t bytes = message_bytes(message);
    open_window(w, d,
                (Window){.begin = message->begin,
                         .end = end,
                         .last = message->end,
                         .address = message->address,
                         .bytes = bytes,
                         .groups = groups_of(message->address, message->address + bytes),
                         .pc = message->pc,
                         .is_wide = (message->sctl & SCTL_WIDE) != 0},
                true);
}

static void send_item(Words *w, int d)
{
    WordTile *tile = &w->tile[d];
    const FabricMessageVec *messages = &row_of(w, d)->messages;
    while (tile->message < messages->len && messages->at[tile->message].end <= w->now) {
        tile->message++;
    }
    const FabricMessage *message = sending(w, d);
    if (message == NULL) {
        return;
    }
    if (message->begin == w->now) {
        begin_send(w, d, message);
    }
    uint32_t count = (message->sctl & SCTL_WIDE) != 0 ? 2 : 1;
    uint32_t address = message->address + 4 * count * (uint32_t)(w->now - message->begin);
    WireItem *item = &tile->wire[w->now % WIRE_EVENTS];
    *item = (WireItem){.event = w->now, .message = message, .index = tile->message};
    for (uint32_t i = 0; i < count; i++) {
        bool is_poison;
        item->word[i] = tile_load_word(&w->fabric->tiles[d], address + 4 * i,
                                       w->fabric->poison_off ? NULL : &is_poison);
        item->poison |= (uint8_t)(!w->fabric->poison_off && is_poison ? 1u << i : 0);
    }
}

/* X20: whoever sends 64-bit items has the partner's lane until max(t + n, 6). */
static void check_lane(Words *w, int d)
{
    const Windows *reads = &w->tile[d].reads;
    const FabricMessage *other = sending(w, partner_of(phys(d)).id);
    for (int i = 0; other != NULL && i < RECENT; i++) {
        const Window *read = &reads->at[i];
        if (read->is_wide && read->begin <= w->now && w->now < read->end) {
            (void)WORD_FAULT(w, d, STAGE_LANES, FABRIC_LANE_BORROWED, w->now, read->pc,
                             "sends 64-bit items at event %d, and its partner sends as well",
                             w->now);
        }
    }
}

/* --- listening ---------------------------------------------------------------------------------------------------- */

static Stage stage_of(const Words *w, int d, const Ear *ear)
{
    return (Stage)(STAGE_HEAR + (ear - w->tile[d].ear));
}

/* The item of the message that is listened to did not come at mux event m. */
static void check_missed(Words *w, int d, Ear *ear, Event m)
{
    if (ear->message != NULL) {
        (void)WORD_FAULT(w, d, stage_of(w, d, ear), FABRIC_MISSED_WORD, m, ear->pc,
                         "mux leaves tile %u at event %d, %d items before its message ends",
                         ear->source, m, ear->message->end - ear->due);
        ear->message = NULL;
    }
}

/* Item that the mux selects at event m, or NULL. */
static const WireItem *hear(Words *w, int d, Ear *ear, Event m)
{
    const FabricRow *row = row_of(w, ear->listener);
    const FabricControlVec *controls = ear->is_paired ? &row->xpic_pair : &row->xpic;
    while (ear->next < controls->len && controls->at[ear->next].event <= m) {
        ear->value = controls->at[ear->next].value;
        ear->pc = controls->at[ear->next++].pc;
    }
    if (m < 0 || m >= row->end || ear->value == FABRIC_NEUTRAL) {
        check_missed(w, d, ear, m);
        return NULL;
    }
    uint16_t source =
        (uint16_t)(ear->is_paired ? ear->value ^ (uint32_t)(ear->listener & 2) : ear->value);
    PhysTile from = phys(source), at = phys(ear->listener), partner = partner_of(at);
    Stage stage = stage_of(w, d, ear);
    if (ear->is_paired && time_to_mux(from, at) > time_to_mux(from, partner)) {
        (void)WORD_FAULT(w, d, stage, FABRIC_PAIR_LATE, m, ear->pc,
                         "the pair's mux of tile %d selects tile %u, which reaches tile %u first",
                         ear->listener, source, (unsigned)partner.id);
    } else if (ear->is_paired && !row_of(w, partner.id)->has_row) {
        (void)WORD_FAULT(w, d, stage, FABRIC_PAIR_PARTNER, m, ear->pc, "tile %u has no row",
                         (unsigned)partner.id);
    }
    Event sent = m - 1 - time_to_mux(from, at);
    const WireItem *item = sent < 0 ? NULL : &w->tile[source].wire[sent % WIRE_EVENTS];
    if (item == NULL || item->event != sent) {
        check_missed(w, d, ear, m);
        if (!w->fabric->idle_source_allowed) {
            (void)WORD_FAULT(w, d, stage, FABRIC_IDLE_SOURCE, m, ear->pc,
                             "listens to tile %u at event %d (sender's %d), which sends nothing",
                             source, m, sent);
        }
        return NULL;
    }
    if (ear->message != NULL && (ear->message != item->message || ear->due != sent)) {
        check_missed(w, d, ear, m);
    }
    const FabricMessage *message = item->message;
    int direction = direction_of(from, phys(d));
    if (((message->sctl & SCTL_WIDE) != 0) != ear->is_paired) {
        (void)WORD_FAULT(w, d, stage, FABRIC_MODI, m, ear->pc, "items of tile %u are of %s bits",
                         source, ear->is_paired ? "32" : "64");
        return NULL;
    }
    if ((message->sctl & direction) == 0) {
        (void)WORD_FAULT(w, d, stage, FABRIC_DIRECTION, m, ear->pc,
                         "tile %u sends with directions %u, this tile needs %d", source,
                         message->sctl & SCTL_BOTH, direction);
        return NULL;
    }
    if (ear->message == NULL && sent != message->begin) {
        (void)WORD_FAULT(w, d, stage, FABRIC_MISSED_WORD, m, ear->pc,
                         "mux opens at event %d, %d items after a message of tile %u began", m,
                         sent - message->begin, source);
        return NULL;
    }
    ear->source = source;
    ear->due = sent + 1;
    ear->message = ear->due < message->end ? message : NULL;
    return item;
}

/* --- storing ------------------------------------------------------------------------------------------------------ */

/* Controls of the incoming stream that take effect now. */
static void move_registers(Words *w, int d)
{
    WordTile *tile = &w->tile[d];
    const FabricRow *row = row_of(w, d);
    if (tile->base < row->bases.len &&
        row->bases.at[tile->base].event + FABRIC_BASE_WRITE_EVENTS <= w->now) {
        tile->incoming_base = row->bases.at[tile->base++].value;
    }
    tile->pointer_set_now = false;
    if (tile->pic < row->pic.len && row->pic.at[tile->pic].event <= w->now) {
        const FabricControl *control = &row->pic.at[tile->pic++];
        tile->pointer = tile->incoming_base + 4 * control->value;
        tile->pointer_pc = control->pc;
        tile->pointer_event = w->now;
        tile->has_pointer = tile->pointer_set_now = true;
    }
    tile->format[2] = tile->format[1];
    tile->format[1] = tile->format[0];
    if (tile->format_next < row->format.len && row->format.at[tile->format_next].event <= w->now) {
        tile->format[0] = row->format.at[tile->format_next++].value;
    }
}

#define STORE_FAULT(w, d, which, pc, ...)                                                          \
    WORD_FAULT((w), (d), STAGE_STORE, (which), (w)->now, (pc), __VA_ARGS__)

/* Formats two events ago, for 32-bit items up to now as well. */
static bool has_format(Words *w, int d, const Ear *ear)
{
    const uint32_t *format = w->tile[d].format;
    uint32_t needed = ear->is_paired ? (uint32_t)direction_of(phys(ear->source), phys(d)) : 0;
    bool ok = format[2] == needed && (ear->is_paired || (format[1] == 0 && format[0] == 0));
    return ok || STORE_FAULT(w, d, FABRIC_MODI, ear->pc,
                             "incoming formats are %u, %u, %u, items of tile %u need %u", format[2],
                             format[1], format[0], ear->source, needed);
}

/* X17: no base write has begun since the pointer was set. */
static bool has_base(Words *w, int d)
{
    const FabricControlVec *bases = &row_of(w, d)->bases;
    for (isize i = 0; i < bases->len && bases->at[i].event <= w->now; i++) {
        if (w->tile[d].pointer_event <= bases->at[i].event) {
            return STORE_FAULT(w, d, FABRIC_BASE_POINTER, bases->at[i].pc,
                               "INCOMING_BASE is written from event %d on, and a word stored at "
                               "event %d at the pointer of event %d",
                               bases->at[i].event, w->now, w->tile[d].pointer_event);
        }
    }
    return true;
}

static void begin_store(Words *w, int d, const Ear *ear, const FabricMessage *message)
{
    uint32_t bytes = message_bytes(message), at = w->tile[d].pointer;
    uint32_t end = at + bytes > SRAM_END ? SRAM_END : at + bytes; /* later words are refused */
    uint32_t groups = groups_of(at, end);
    Event last = w->now + message->end - message->begin;
    if (ear->source == d && (groups & groups_of(message->address, message->address + bytes)) != 0) {
        (void)WORD_FAULT(w, d, STAGE_LOOPBACK, FABRIC_LOOPBACK, w->now, row_of(w, d)->row,
                         "words of 0x%x are stored to 0x%x of the same tile", message->address, at);
    }
    open_window(w, d,
                (Window){.begin = w->now,
                         .end = last + FABRIC_ROW_MARGIN,
                         .last = last,
                         .address = at,
                         .bytes = bytes,
                         .groups = groups,
                         .pc = ear->pc},
                false);
}

static void store_item(Words *w, int d, const Ear *ear, const WireItem *item)
{
    WordTile *tile = &w->tile[d];
    const FabricRow *row = row_of(w, d);
    const FabricMessage *message = item->message;
    uint32_t bytes = ear->is_paired ? 8 : 4;
    bool is_first = item->event == message->begin;
    atomic_fetch_or_explicit(&w->fabric->tile[ear->source].heard[item->index],
                             ear->is_paired || ear->source != d ? HEARD_OTHER : HEARD_SELF,
                             memory_order_relaxed);
    if (!tile->has_pointer) {
        (void)STORE_FAULT(w, d, FABRIC_POINTER, ear->pc, "an item of tile %u arrives at event %d",
                          ear->source, w->now);
        return;
    }
    if (tile->pointer_set_now && !is_first) {
        (void)STORE_FAULT(w, d, FABRIC_POINTER_MOVES, tile->pointer_pc,
                          "pointer changes at event %d in a message of tile %u", w->now,
                          ear->source);
    }
    if (!range_in_sram(tile->pointer, bytes) || tile->pointer % bytes != 0) {
        (void)STORE_FAULT(w, d, FABRIC_EXCHANGE_ADDRESS, tile->pointer_pc,
                          "%u bytes of tile %u go to 0x%x", bytes, ear->source, tile->pointer);
        return;
    }
    if (w->now + 1 + FABRIC_ROW_MARGIN > row->end) {
        (void)STORE_FAULT(w, d, FABRIC_ROW_SHORT, row->row_end - 4,
                          "row ends at event %d, a word is stored at %d", row->end, w->now);
    }
    if (!has_format(w, d, ear) || !has_base(w, d)) {
        return;
    }
    if (is_first) {
        begin_store(w, d, ear, message);
    }
    tile_store_words(&w->fabric->tiles[d], tile->pointer, item->word, (int)bytes / 4,
                     &item->poison);
    tile->pointer += bytes;
    *w->stored += bytes / 4;
}

static void receive(Words *w, int d)
{
    WordTile *tile = &w->tile[d];
    int arrived = 0;
    move_registers(w, d);
    for (int i = 0; i < 3; i++) {
        Ear *ear = &tile->ear[i];
        Event m = w->now - FABRIC_POINTER_DELAY - 2 * phys_row(phys(d)) - (ear->is_paired ? 1 : 0);
        const WireItem *item = hear(w, d, ear, m);
        if (item != NULL && arrived++ > 0) {
            (void)STORE_FAULT(w, d, FABRIC_LANE_BUSY, ear->pc, "two items arrive at event %d",
                              w->now);
        } else if (item != NULL) {
            store_item(w, d, ear, item);
        }
    }
}

/* --- the phase ---------------------------------------------------------------------------------------------------- */

static void begin_tile(Words *w, int d)
{
    WordTile *tile = &w->tile[d];
    int partner = partner_of(phys(d)).id;
    *tile = (WordTile){.stage = STAGE_NONE, .incoming_base = row_of(w, d)->incoming_base};
    for (int i = 0; i < 3; i++) {
        tile->ear[i] =
            (Ear){.listener = i < 2 ? d : partner, .is_paired = i > 0, .value = FABRIC_NEUTRAL};
    }
    for (int i = 0; i < WIRE_EVENTS; i++) {
        tile->wire[i].event = -1;
    }
}

void fabric_run_words(Fabric *fabric, int64_t *stored_words)
{
    Arena *arena = &fabric->worker[0].arena;
    Words words = {
        .fabric = fabric, .tile = arena_array(arena, WordTile, CHIP_TILES), .stored = stored_words};
    Words *w = &words;
    Event end = 0;
    fabric->words_faults = 0;
    for (int d = 0; d < CHIP_TILES; d++) {
        begin_tile(w, d);
        end = row_of(w, d)->end > end ? row_of(w, d)->end : end;
    }
    for (w->now = 0; w->now < end + LATEST_STORE; w->now++) {
        for (int d = 0; d < CHIP_TILES; d++) {
            if (row_of(w, d)->messages.len > 0) {
                send_item(w, d);
            }
        }
        for (int d = 0; d < CHIP_TILES; d++) {
            if (row_of(w, d)->has_row) {
                check_lane(w, d);
                receive(w, d);
            }
        }
    }
}
