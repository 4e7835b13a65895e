/* What one tile receives in a phase: the pull model of exchange.md 11, by runs of items.
 *
 * A window is a stretch of events in which a mux selects one source. Items that the source put on the wire T(s,d) + 1
 * events before a window event are heard; whatever is not whole messages of one source is a fault. Heard runs become
 * stores through the pointer controls of the tile.
 *
 * Paired transfers (exchange.md 5): the early member's pair mux decides for both members, so every tile also walks the
 * windows of its partner; both come to the same runs and store them at their own pointers.
 */
#include "machine/fabric_phase.h"

/* Items of one message that are listened to. */
typedef struct HeardRun {
    uint16_t source;
    bool is_paired;
    isize message;
    Event begin, end; /* of the sender */
    Event shift;      /* sender's event + shift = mux event */
    Event store;      /* event of the first store */
    uint32_t pc;      /* of the mux control */
} HeardRun;
VEC(HeardRun);

/* One mux while its windows are walked. */
typedef struct Mux {
    int listener; /* tile whose control it is */
    bool is_paired;
    uint32_t pc; /* of the control in force */
    Event shift; /* sender's event + shift = mux event */
} Mux;

typedef struct Receiver {
    Fabric *fabric;
    int d;
    Arena *arena;
    HeardRunVec runs;
    isize next_pic, next_base;
    bool has_pointer;
    uint32_t base;    /* INCOMING_BASE of pointers to come */
    uint32_t pointer; /* byte address of the next word */
    uint32_t pointer_pc;
} Receiver;

#define HEAR_FAULT(r, mux, which, event, ...)                                                      \
    RECEIVE_FAULT((r)->fabric, (r)->d, (which), (event), (mux)->pc, __VA_ARGS__)

static PhysTile phys(int tile)
{
    return (PhysTile){(uint16_t)tile};
}

/* --- listening ---------------------------------------------------------------------------------------------------- */

/* First message that ends after `event`. */
static isize find_message(const FabricRow *row, Event event)
{
    isize low = 0, high = row->messages.len;
    while (low < high) {
        isize middle = low + (high - low) / 2;
        if (row->message_ends[middle] > event) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

/* The last run must be a whole message when something else follows it. */
static bool close_run(Receiver *r)
{
    if (r->runs.len == 0) {
        return true;
    }
    const HeardRun *run = &r->runs.at[r->runs.len - 1];
    const FabricMessage *message = &r->fabric->tile[run->source].program.messages.at[run->message];
    return run->end == message->end ||
           RECEIVE_FAULT(r->fabric, r->d, FABRIC_MISSED_WORD, run->end + run->shift, run->pc,
                         "mux leaves tile %u at event %d, %d items before its message ends",
                         run->source, run->end + run->shift, message->end - run->end);
}

/* Items [begin, end) of a message are heard. */
static bool hear(Receiver *r, const Mux *mux, uint16_t source, isize index, Event begin, Event end)
{
    HeardRun *last = r->runs.len > 0 ? &r->runs.at[r->runs.len - 1] : NULL;
    if (last != NULL && last->source == source && last->message == index && last->end == begin &&
        last->is_paired == mux->is_paired) {
        last->end = end;
        return true;
    }
    if (!close_run(r)) {
        return false;
    }
    const FabricMessage *message = &r->fabric->tile[source].program.messages.at[index];
    int direction = direction_of(phys(source), phys(r->d));
    if (((message->sctl & SCTL_WIDE) != 0) != mux->is_paired) {
        return HEAR_FAULT(
            r, mux, FABRIC_MODI, begin + mux->shift, "%s mux hears %s-bit items of tile %u",
            mux->is_paired ? "the pair's" : "the ordinary", mux->is_paired ? "32" : "64", source);
    }
    if ((message->sctl & direction) == 0) {
        return HEAR_FAULT(r, mux, FABRIC_DIRECTION, begin + mux->shift,
                          "tile %u sends with directions %u at event %d, this tile needs %d",
                          source, message->sctl & SCTL_BOTH, begin, direction);
    }
    if (begin != message->begin) {
        return HEAR_FAULT(r, mux, FABRIC_MISSED_WORD, begin + mux->shift,
                          "mux opens at event %d, %d items after a message of tile %u began",
                          begin + mux->shift, begin - message->begin, source);
    }
    Event delay = FABRIC_POINTER_DELAY + 2 * phys_row(phys(r->d)) + (mux->is_paired ? 1 : 0);
    *vec_push(&r->runs, r->arena) = (HeardRun){.source = source,
                                               .is_paired = mux->is_paired,
                                               .message = index,
                                               .begin = begin,
                                               .end = end,
                                               .shift = mux->shift,
                                               .store = begin + mux->shift + delay,
                                               .pc = mux->pc};
    return true;
}

/* The mux selects `source` in [begin, end). */
static bool listen_to(Receiver *r, const Mux *mux, uint16_t source, Event begin, Event end)
{
    const FabricRow *row = &r->fabric->tile[source].program;
    const FabricMessageVec *list = &row->messages;
    Event t = begin - mux->shift, until = end - mux->shift;
    for (isize i = find_message(row, t); t < until; i++) {
        const FabricMessage *message =
            i < list->len && list->at[i].begin < until ? &list->at[i] : NULL;
        Event next = message == NULL ? until : message->begin > t ? message->begin : t;
        if (next > t && !r->fabric->idle_source_allowed) {
            return HEAR_FAULT(r, mux, FABRIC_IDLE_SOURCE, t + mux->shift,
                              "listens to tile %u at events %d..%d (sender's %d..%d), which sends "
                              "nothing then",
                              source, t + mux->shift, next + mux->shift, t, next);
        }
        if (message == NULL) {
            break;
        }
        t = message->end < until ? message->end : until;
        if (!hear(r, mux, source, i, next, t)) {
            return false;
        }
    }
    return true;
}

/* Rules of a pair's mux. */
static bool check_pair(Receiver *r, const Mux *mux, uint16_t source, Event event)
{
    PhysTile partner = partner_of(phys(mux->listener));
    if (time_to_mux(phys(source), phys(mux->listener)) >= time_to_mux(phys(source), partner)) {
        return HEAR_FAULT(r, mux, FABRIC_PAIR_LATE, event,
                          "the pair's mux of tile %d selects tile %u, which reaches tile %u first",
                          mux->listener, source, (unsigned)partner.id);
    }
    return r->fabric->tile[partner.id].program.has_row ||
           HEAR_FAULT(r, mux, FABRIC_PAIR_PARTNER, event,
                      "the pair's mux of tile %d selects tile %u and tile %u has no row",
                      mux->listener, source, (unsigned)partner.id);
}

static bool walk_windows(Receiver *r, int listener, bool is_paired)
{
    const FabricRow *row = &r->fabric->tile[listener].program;
    const FabricControlVec *controls = is_paired ? &row->xpic_pair : &row->xpic;
    Mux mux = {.listener = listener, .is_paired = is_paired};
    for (isize i = 0; i < controls->len; i++) {
        const FabricControl *control = &controls->at[i];
        Event end = i + 1 < controls->len ? controls->at[i + 1].event : row->end;
        if (control->value == FABRIC_NEUTRAL) {
            continue;
        }
        uint16_t source = (uint16_t)(control->value ^ (is_paired ? (uint32_t)listener & 2 : 0));
        mux.pc = control->pc;
        mux.shift = time_to_mux(phys(source), phys(listener)) + 1;
        if ((is_paired && !check_pair(r, &mux, source, control->event)) ||
            !listen_to(r, &mux, source, control->event, end)) {
            return false;
        }
    }
    return close_run(r);
}

/* --- storing ------------------------------------------------------------------------------------------------------ */

/* Brings the pointer to its value at store event `event`. A base holds for the pointers that are set after its write. */
static void advance_pointer(Receiver *r, Event event)
{
    const FabricControlVec *pic = &r->fabric->tile[r->d].program.pic;
    const FabricControlVec *bases = &r->fabric->tile[r->d].program.bases;
    while (r->next_pic < pic->len && pic->at[r->next_pic].event <= event) {
        while (r->next_base < bases->len &&
               bases->at[r->next_base].event < pic->at[r->next_pic].event) {
            r->base = bases->at[r->next_base++].value;
        }
        r->pointer = r->base + 4 * pic->at[r->next_pic].value;
        r->pointer_pc = pic->at[r->next_pic].pc;
        r->has_pointer = true;
        r->next_pic++;
    }
}

/* The incoming format must fit from two events before the first store on (exchange.md 5, 11). */
static bool check_format(Receiver *r, const HeardRun *run)
{
    const FabricControlVec *format = &r->fabric->tile[r->d].program.format;
    uint32_t needed = 0;
    Event begin = run->store - 2, end = run->store + run->end - run->begin;
    if (run->is_paired) {
        needed = (uint32_t)direction_of(phys(run->source), phys(r->d));
        end -= 2;
    }
    uint32_t value = 0;
    for (isize i = 0; i <= format->len; i++) {
        Event next = i < format->len ? format->at[i].event : end;
        if (next > begin && value != needed) {
            return RECEIVE_FAULT(r->fabric, r->d, FABRIC_MODI, begin, run->pc,
                                 "incoming format is %u at event %d, items of tile %u need %u",
                                 value, begin, run->source, needed);
        }
        if (next >= end) {
            break;
        }
        begin = next > begin ? next : begin;
        value = format->at[i].value;
    }
    return true;
}

static bool add_store(Receiver *r, const HeardRun *run)
{
    FabricTile *tile = &r->fabric->tile[r->d];
    const FabricControlVec *pic = &tile->program.pic;
    const FabricMessage *message = &r->fabric->tile[run->source].program.messages.at[run->message];
    Event event = run->store, end = event + run->end - run->begin;
    uint32_t bytes = message_bytes(message);
    advance_pointer(r, event);
    if (!r->has_pointer) {
        return RECEIVE_FAULT(r->fabric, r->d, FABRIC_POINTER, event, run->pc,
                             "items of tile %u arrive at event %d and no pointer was set",
                             run->source, event);
    }
    if (r->next_pic < pic->len && pic->at[r->next_pic].event < end) {
        return RECEIVE_FAULT(r->fabric, r->d, FABRIC_POINTER_MOVES, pic->at[r->next_pic].event,
                             pic->at[r->next_pic].pc,
                             "pointer changes at event %d while items of tile %u are stored at "
                             "events %d..%d",
                             pic->at[r->next_pic].event, run->source, event, end);
    }
    if (!range_in_sram(r->pointer, bytes) || r->pointer % (run->is_paired ? 8 : 4) != 0) {
        return RECEIVE_FAULT(r->fabric, r->d, FABRIC_EXCHANGE_ADDRESS, event, r->pointer_pc,
                             "%u bytes of tile %u go to 0x%x, expected multiples of %d inside SRAM",
                             bytes, run->source, r->pointer, run->is_paired ? 8 : 4);
    }
    if (end + FABRIC_ROW_MARGIN > tile->program.end) {
        return RECEIVE_FAULT(r->fabric, r->d, FABRIC_ROW_SHORT, tile->program.end,
                             tile->program.row_end - 4,
                             "row ends at event %d, payload of tile %u at %d; earliest is %d",
                             tile->program.end, run->source, end, end + FABRIC_ROW_MARGIN);
    }
    const FabricControlVec *bases = &tile->program.bases;
    if (r->next_base < bases->len && bases->at[r->next_base].event < end) {
        const FabricControl *base = &bases->at[r->next_base];
        return RECEIVE_FAULT(r->fabric, r->d, FABRIC_BASE_POINTER, base->event, base->pc,
                             "INCOMING_BASE is written from event %d on; items of tile %u are "
                             "stored at events %d..%d under a pointer that was set before",
                             base->event, run->source, event, end);
    }
    if (!check_format(r, run)) {
        return false;
    }
    uint32_t groups = groups_of(r->pointer, r->pointer + bytes);
    tile->store_groups |= groups;
    *vec_push(&tile->stores, r->arena) = (FabricStore){.begin = event,
                                                       .end = end,
                                                       .from = message,
                                                       .groups = groups,
                                                       .words = (int32_t)(bytes / 4),
                                                       .address = r->pointer,
                                                       .source = run->source};
    r->pointer += bytes;
    return true;
}

static int by_store_event(const void *a, const void *b, const void *context)
{
    const HeardRun *x = a, *y = b;
    (void)context;
    return x->store < y->store ? -1 : x->store > y->store;
}

static bool store_runs(Receiver *r)
{
    Event busy_until = 0;
    for (isize i = 0; i < r->runs.len; i++) {
        const HeardRun *run = &r->runs.at[i];
        if (run->store < busy_until) {
            return RECEIVE_FAULT(r->fabric, r->d, FABRIC_LANE_BUSY, run->store, run->pc,
                                 "items of tile %u arrive from event %d on, those before until %d",
                                 run->source, run->store, busy_until);
        }
        busy_until = run->store + run->end - run->begin;
        bool is_other = run->is_paired || run->source != r->d;
        atomic_fetch_or_explicit(&r->fabric->tile[run->source].heard[run->message],
                                 is_other ? HEARD_OTHER : HEARD_SELF, memory_order_relaxed);
        if (!add_store(r, run)) {
            return false;
        }
    }
    return true;
}

bool fabric_receive(Fabric *fabric, int d, Arena *arena)
{
    Receiver receiver = {
        .fabric = fabric, .d = d, .arena = arena, .base = fabric->tile[d].program.incoming_base};
    Receiver *r = &receiver;
    int partner = partner_of(phys(d)).id;
    if (!walk_windows(r, d, false)) {
        return false;
    }
    if (fabric->tile[d].program.xpic_pair.len > 0 ||
        fabric->tile[partner].program.xpic_pair.len > 0) {
        if (!walk_windows(r, d, true) || !walk_windows(r, partner, true)) {
            return false;
        }
        sort_stable(r->runs.at, r->runs.len, sizeof(HeardRun), by_store_event, NULL, *arena);
    }
    return store_runs(r);
}
