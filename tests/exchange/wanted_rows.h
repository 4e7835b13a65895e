/* What the rows of a schedule must say, derived from problem and message starts alone (exchange.md 3.2, 5, 6.2, 8), by looking for
 * neighbours instead of sweeping over time: slow and plain on purpose. Solver, checker and this file share nothing.
 *
 * A row is compared with it three times: decoded by the exchange room, walked here word by word for its length and for the
 * words that moving sources patch, and (tests/machine/phase_bench.h) run.
 */
#pragma once
#include "exchange/exchange.h"
#include "test.h"
#include <stdarg.h>

/* One message that a tile hears. */
typedef struct WantedHearing {
    Event src, store; /* source selected; first word stored */
    Event items;
    PhysTile source;
    uint32_t address, bytes;
    uint32_t direction;
    bool is_paired, is_early; /* early: its mux selects for the pair */
} WantedHearing;
VEC(WantedHearing);

typedef struct WantedSend {
    RowSend send;
    int32_t move;
} WantedSend;
VEC(WantedSend);

typedef struct WantedRow {
    WantedSendVec sends;
    WantedHearingVec hearings;
    RowControlVec controls;
    Event end;
} WantedRow;

/* All tiles of one phase. */
typedef struct WantedPhase {
    const ExchangeProblem *problem;
    const Schedule *schedule;
    int32_t phase;
    WantedRow *rows; /* by physical tile */
    Error *err;
} WantedPhase;

#define WANTED_REFUSE(wanted, tile, event, ...)                                                    \
    wanted_refuse_((wanted), (tile), (event), __VA_ARGS__)

static inline bool wanted_refuse_(const WantedPhase *wanted, int tile, Event event,
                                  const char *format, ...) __attribute__((format(printf, 4, 5)));
static inline bool wanted_refuse_(const WantedPhase *wanted, int tile, Event event,
                                  const char *format, ...)
{
    char text[192];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return error_set(wanted->err, ERROR_NO, NULL,
                     "row against schedule: phase %d, tile L%d (P%d), event %d: %s", wanted->phase,
                     tile_of((PhysTile){(uint16_t)tile}).id, tile, event, text);
}

static inline Event wanted_max(Event a, Event b)
{
    return a > b ? a : b;
}

/* --- from messages to what tiles do --------------------------------------------------------------------------------- */

static inline WantedHearing wanted_hearing(const ExchangeMessage *message,
                                           const ExchangeTransfer *t, const ExchangeReceiver *to)
{
    PhysTile other = partner_of(to->tile);
    Event own = time_to_mux(t->source, to->tile), others = time_to_mux(t->source, other);
    Event row = phys_row(to->tile);
    WantedHearing h = {.source = t->source,
                       .items = (Event)message->words / (message->is_paired ? 2 : 1),
                       .address = to->address + 4 * message->word_first,
                       .bytes = 4 * message->words,
                       .direction = (uint32_t)direction_of(t->source, to->tile),
                       .is_paired = message->is_paired};
    if (message->is_paired) {
        h.is_early = own < others;
        h.src = message->start + (own < others ? own : others) + 1;
        h.store = h.src + 53 + 2 * row;
    } else {
        h.src = message->start + own + 1;
        h.store = h.src + 52 + 2 * row;
    }
    return h;
}

static inline uint32_t wanted_sctl(const ExchangeProblem *problem, const ExchangeTransfer *t,
                                   bool is_paired)
{
    PhysTile to = problem->receivers.at[t->receiver_first].tile;
    uint32_t direction = (uint32_t)direction_of(t->source, to);
    if (is_paired) {
        bool is_own = to.id == t->source.id || to.id == partner_of(t->source).id;
        return SCTL_WIDE | (t->receiver_count == 2 && !is_own ? direction : SCTL_BOTH);
    }
    return t->receiver_count == 1 ? direction : SCTL_BOTH;
}

static inline bool wanted_add_message(WantedPhase *wanted, const ExchangeMessage *message,
                                      Arena *arena)
{
    const ExchangeProblem *problem = wanted->problem;
    const ExchangeTransfer *t = &problem->transfers.at[message->transfer];
    if (message->words == 0 ||
        (message->is_paired && (!transfer_may_pair(problem, t) || message->words % 2 != 0 ||
                                message->word_first % 2 != 0))) {
        return WANTED_REFUSE(wanted, t->source.id, message->start,
                             "transfer %d cannot be sent as words %u..%u %s", message->transfer,
                             message->word_first, message->word_first + message->words,
                             message->is_paired ? "in pairs" : "");
    }
    WantedRow *from = &wanted->rows[t->source.id];
    Event items = (Event)message->words / (message->is_paired ? 2 : 1);
    uint32_t address = t->address + 4 * message->word_first;
    *vec_push(&from->sends, arena) = (WantedSend){{message->start, message->start + items,
                                                   address / (message->is_paired ? 8 : 4),
                                                   wanted_sctl(problem, t, message->is_paired)},
                                                  t->move};
    from->end = wanted_max(from->end, wanted_max(message->start + items, 6));
    for (int32_t k = 0; k < t->receiver_count; k++) {
        const ExchangeReceiver *to = &problem->receivers.at[t->receiver_first + k];
        WantedHearing hearing = wanted_hearing(message, t, to);
        WantedRow *row = &wanted->rows[to->tile.id];
        *vec_push(&row->hearings, arena) = hearing;
        row->end = wanted_max(row->end, hearing.store + hearing.items + 5);
    }
    return true;
}

/* Messages of a transfer follow each other and are all of it. */
static inline bool wanted_add_messages(WantedPhase *wanted, Arena *arena)
{
    const ExchangePhase *phase = &wanted->problem->phases.at[wanted->phase];
    const ExchangeMessageVec *messages = &wanted->schedule->messages;
    int32_t first = phase->transfer_first, end = first + phase->transfer_count;
    isize at = 0;
    while (at < messages->len && messages->at[at].transfer < first) {
        at++;
    }
    for (int32_t i = first; i < end; i++) {
        const ExchangeTransfer *t = &wanted->problem->transfers.at[i];
        uint32_t words = 0;
        for (; at < messages->len && messages->at[at].transfer == i; at++) {
            if (messages->at[at].word_first != words) {
                break;
            }
            if (!wanted_add_message(wanted, &messages->at[at], arena)) {
                return false;
            }
            words += messages->at[at].words;
        }
        if (words != t->words) {
            return WANTED_REFUSE(wanted, t->source.id, 0,
                                 "messages carry %u of %u words of "
                                 "transfer %d",
                                 words, t->words, i);
        }
    }
    if (at < messages->len && messages->at[at].transfer < end) {
        return WANTED_REFUSE(wanted, 0, 0, "a message too many");
    }
    return true;
}

/* --- from hearings to controls -------------------------------------------------------------------------------------- */

static inline int wanted_by_event(const void *a, const void *b, const void *context)
{
    const RowControl *x = a, *y = b;
    (void)context;
    return x->event != y->event ? (x->event < y->event ? -1 : 1)
                                : (x->stream > y->stream) - (x->stream < y->stream);
}

static inline int wanted_by_begin(const void *a, const void *b, const void *context)
{
    const WantedSend *x = a, *y = b;
    (void)context;
    return (x->send.begin > y->send.begin) - (x->send.begin < y->send.begin);
}

static inline int wanted_by_store(const void *a, const void *b, const void *context)
{
    const WantedHearing *x = a, *y = b;
    (void)context;
    return (x->store > y->store) - (x->store < y->store);
}

/* A hearing of this kind whose window ends (or begins) at an event; `early_only`: of this tile's own pair mux. */
static inline const WantedHearing *wanted_at(const WantedRow *row, bool is_paired, bool early_only,
                                             bool ends, Event event)
{
    for (isize i = 0; i < row->hearings.len; i++) {
        const WantedHearing *h = &row->hearings.at[i];
        if (h->is_paired == is_paired && (!early_only || h->is_early) &&
            event == (ends ? h->src + h->items : h->src)) {
            return h;
        }
    }
    return NULL;
}

static inline void wanted_control(WantedRow *row, Event event, RowStream stream, uint32_t value,
                                  Arena *arena)
{
    *vec_push(&row->controls, arena) = (RowControl){event, stream, value};
    row->end = wanted_max(row->end, event);
}

/* The mux: select the source unless it is selected already, leave it unless the next one takes over. */
static inline void wanted_mux(WantedRow *row, const WantedHearing *h, int tile, bool omits,
                              Arena *arena)
{
    RowStream stream = h->is_paired ? ROW_XPIC_PAIRED : ROW_XPIC;
    uint32_t value = h->source.id ^ (h->is_paired ? (uint32_t)tile & 2 : 0);
    const WantedHearing *before = wanted_at(row, h->is_paired, h->is_paired, true, h->src);
    if (!omits || before == NULL || before->source.id != h->source.id) {
        wanted_control(row, h->src, stream, value, arena);
    }
    if (wanted_at(row, h->is_paired, h->is_paired, false, h->src + h->items) == NULL) {
        wanted_control(row, h->src + h->items, stream, FABRIC_NEUTRAL, arena);
    }
}

static inline void wanted_format(WantedRow *row, const WantedHearing *h, int tile, Arena *arena)
{
    Event on = h->src + 51 + 2 * phys_row((PhysTile){(uint16_t)tile});
    const WantedHearing *before = wanted_at(row, true, false, true, h->src);
    if (before == NULL || before->direction != h->direction) {
        wanted_control(row, on, ROW_FORMAT, h->direction, arena);
    }
    if (wanted_at(row, true, false, false, h->src + h->items) == NULL) {
        wanted_control(row, on + h->items, ROW_FORMAT, 0, arena);
    }
}

static inline void wanted_controls(WantedRow *row, int tile, bool omits, Arena *arena,
                                   Arena scratch)
{
    sort_stable(row->hearings.at, row->hearings.len, sizeof(WantedHearing), wanted_by_store, NULL,
                scratch);
    uint32_t pointer = 0; /* where it stands */
    for (isize i = 0; i < row->hearings.len; i++) {
        const WantedHearing *h = &row->hearings.at[i];
        if (!h->is_paired || h->is_early) {
            wanted_mux(row, h, tile, omits, arena);
        }
        if (h->is_paired) {
            wanted_format(row, h, tile, arena);
        }
        if (!omits || h->address != pointer) {
            wanted_control(row, h->store, ROW_POINTER, h->address / 4, arena);
        }
        pointer = h->address + h->bytes;
    }
    sort_stable(row->controls.at, row->controls.len, sizeof(RowControl), wanted_by_event, NULL,
                scratch);
    sort_stable(row->sends.at, row->sends.len, sizeof(WantedSend), wanted_by_begin, NULL, scratch);
}

/* --- moving sources ------------------------------------------------------------------------------------------------- */

static inline bool wanted_same_move(const ExchangeProblem *problem, int32_t a, int32_t b)
{
    if (a == 0 || b == 0) {
        return a == b;
    }
    for (int32_t i = 0; i < problem->moves.at[a].count; i++) {
        if (move_offset(problem, a, i) != move_offset(problem, b, i)) {
            return false;
        }
    }
    return true;
}

static inline bool wanted_is_relative(const WantedPhase *wanted, const Row *row, int32_t move)
{
    return move != 0 && row->move != 0 && wanted_same_move(wanted->problem, row->move, move);
}

/* Base writes stand where nothing else does, and every send finds the base that its address is relative to. */
static inline bool wanted_bases(const WantedPhase *wanted, const Row *row, const WantedRow *want,
                                const RowScript *script)
{
    int tile = row->tile.id;
    for (isize i = 0; i < script->bases.len; i++) {
        const RowBase *base = &script->bases.at[i];
        Event end = base->event + 13;
        if (base->sets_incoming || (base->is_moving && row->move == 0)) {
            return WANTED_REFUSE(wanted, tile, base->event, "a base write that no send needs");
        }
        for (isize k = 0; k < want->sends.len; k++) {
            const RowSend *send = &want->sends.at[k].send;
            if (send->begin < end && base->event < send->end) {
                return WANTED_REFUSE(wanted, tile, base->event, "a base write during a send");
            }
        }
        for (isize k = 0; k < want->controls.len; k++) {
            Event event = want->controls.at[k].event;
            if (event >= base->event && event < end) {
                return WANTED_REFUSE(wanted, tile, base->event, "a control during a base write");
            }
        }
    }
    for (isize k = 0; k < want->sends.len; k++) {
        bool is_moving = row->move != 0;
        for (isize i = 0; i < script->bases.len; i++) {
            if (script->bases.at[i].event < want->sends.at[k].send.begin) {
                is_moving = script->bases.at[i].is_moving;
            }
        }
        if (is_moving != wanted_is_relative(wanted, row, want->sends.at[k].move)) {
            return WANTED_REFUSE(wanted, tile, want->sends.at[k].send.begin,
                                 "a send with another's base");
        }
    }
    return true;
}

/* Events that a row word takes (exchange.md 4, 6.2), and whether it holds an item address. */
static inline Event wanted_events(uint32_t word, bool *has_address, int *words)
{
    *has_address = false;
    *words = 1;
    if (word >> 28 == 0xf) { /* sendpicp */
        *has_address = (word & 7) != 0;
        *words = 2;
        return (Event)(word >> 21 & 63) + 1;
    }
    if (word >> 27 == 0x78 >> 3) { /* send */
        *has_address = true;
        return (Event)(word >> 21 & 63) + 1;
    }
    if ((word & 0xf8100000) == 0x70000000) { /* sendoff */
        return (Event)((word >> 14 & 63) << 6 | (word >> 21 & 63)) + 1;
    }
    if ((word & 0xf8100000) == 0x70100000) { /* sendpic */
        return (Event)(word >> 21 & 63) + 1;
    }
    if ((word & 0xfff80000) == 0x40a00000) { /* delay */
        return (Event)(word & 0x7ffff) + 1;
    }
    if (word >> 26 == 0x60 >> 2) { /* delaypic */
        return (Event)(word >> 19 & 127) + 1;
    }
    if (word >> 26 == 0x64 >> 2) { /* delayxpic */
        return (Event)(word >> 14 & 4095) + 1;
    }
    if ((word & 0xff0fff00) == 0x43008000) { /* put CSR, mR */
        return 13;
    }
    return -1;
}

/* Exactly the words of moving sources that no base moves are patched, and the words last as long as the row. */
static inline bool wanted_patches(const WantedPhase *wanted, const Row *row, const WantedRow *want)
{
    const uint32_t *word = &wanted->schedule->words.at[row->word_first];
    Event now = 0;
    int32_t patch = 0;
    int words;
    for (int32_t i = 0; i + 1 < row->word_count; i += words) {
        bool has_address;
        Event events = wanted_events(word[i], &has_address, &words);
        int32_t move = 0;
        for (isize k = 0; has_address && k < want->sends.len; k++) {
            const WantedSend *send = &want->sends.at[k];
            if (send->send.begin <= now && now < send->send.end &&
                !wanted_is_relative(wanted, row, send->move)) {
                move = send->move;
            }
        }
        const RowPatch *have = NULL;
        for (int32_t k = 0; k < row->patch_count; k++) {
            const RowPatch *at = &wanted->schedule->patches.at[row->patch_first + k];
            have = at->word == i ? at : have;
        }
        bool is_patched = have != NULL;
        if (events < 0 || is_patched != (move != 0) ||
            (is_patched && !wanted_same_move(wanted->problem, have->move, move))) {
            return WANTED_REFUSE(wanted, row->tile.id, now, "word %d (%08x): move %d, patched %d",
                                 i, word[i], move, is_patched ? have->move : 0);
        }
        patch += is_patched;
        now += events;
    }
    if (patch != row->patch_count || now != row->end) {
        return WANTED_REFUSE(wanted, row->tile.id, now, "%d patches of %d, ends at %d", patch,
                             row->patch_count, row->end);
    }
    return true;
}

/* --- comparing ------------------------------------------------------------------------------------------------------ */

static inline bool wanted_row(const WantedPhase *wanted, const Row *row, Arena scratch)
{
    const WantedRow *want = &wanted->rows[row->tile.id];
    int tile = row->tile.id;
    RowScript script;
    if (!row_decode(&wanted->schedule->words.at[row->word_first], row->word_count, &script,
                    &scratch, wanted->err)) {
        return error_context(wanted->err, "phase %d, tile P%d", wanted->phase, tile);
    }
    sort_stable(script.controls.at, script.controls.len, sizeof(RowControl), wanted_by_event, NULL,
                scratch);
    for (isize i = 0; i < want->sends.len || i < script.sends.len; i++) {
        if (i >= want->sends.len || i >= script.sends.len) {
            return WANTED_REFUSE(wanted, tile, 0, "%td sends, expected %td", script.sends.len,
                                 want->sends.len);
        }
        RowSend send = want->sends.at[i].send, have = script.sends.at[i];
        int32_t move = want->sends.at[i].move;
        if (wanted_is_relative(wanted, row, move)) {
            int32_t bytes = (send.sctl & SCTL_WIDE) != 0 ? 8 : 4;
            send.address += (uint32_t)(move_least(wanted->problem, move) / bytes);
        }
        if (send.begin != have.begin || send.end != have.end || send.address != have.address ||
            send.sctl != have.sctl) {
            return WANTED_REFUSE(
                wanted, tile, have.begin,
                "sends until %d from item 0x%x, control %u; expected %d..%d, 0x%x, "
                "%u",
                have.end, have.address, have.sctl, send.begin, send.end, send.address, send.sctl);
        }
    }
    for (isize i = 0; i < want->controls.len || i < script.controls.len; i++) {
        if (i >= want->controls.len || i >= script.controls.len) {
            return WANTED_REFUSE(wanted, tile, 0, "%td controls, expected %td", script.controls.len,
                                 want->controls.len);
        }
        RowControl control = want->controls.at[i], have = script.controls.at[i];
        if (control.event != have.event || control.stream != have.stream ||
            control.value != have.value) {
            return WANTED_REFUSE(wanted, tile, have.event,
                                 "control %d takes 0x%x; expected control %d at %d takes 0x%x",
                                 (int)have.stream, have.value, (int)control.stream, control.event,
                                 control.value);
        }
    }
    if (script.end != want->end || row->end != want->end) {
        return WANTED_REFUSE(wanted, tile, script.end, "words end here, row says %d, expected %d",
                             row->end, want->end);
    }
    return wanted_bases(wanted, row, want, &script) && wanted_patches(wanted, row, want);
}

/* Do the rows of a phase say what its messages need, no more, no less? `omits`: also no pointer where the pointer stands already,
 * and no source that is selected already. */
static inline bool wanted_phase(const ExchangeProblem *problem, const Schedule *schedule,
                                int32_t phase, bool omits, Arena scratch, Error *err)
{
    WantedPhase wanted = {problem, schedule, phase, arena_array(&scratch, WantedRow, CHIP_TILES),
                          err};
    if (!wanted_add_messages(&wanted, &scratch)) {
        return false;
    }
    Event horizon = 0;
    isize at = 0;
    while (at < schedule->rows.len && schedule->rows.at[at].phase < phase) {
        at++;
    }
    for (int tile = 0; tile < CHIP_TILES; tile++) {
        WantedRow *want = &wanted.rows[tile];
        if (want->sends.len + want->hearings.len == 0) {
            continue;
        }
        Arena rest = scratch;
        Arena temporary = arena_split(&rest, (rest.end - rest.at) / 2);
        wanted_controls(want, tile, omits, &rest, temporary);
        if (at >= schedule->rows.len || schedule->rows.at[at].phase != phase ||
            schedule->rows.at[at].tile.id != tile) {
            return WANTED_REFUSE(&wanted, tile, 0, "its row is missing");
        }
        if (!wanted_row(&wanted, &schedule->rows.at[at], temporary)) {
            return false;
        }
        horizon = wanted_max(horizon, want->end);
        at++;
    }
    if ((at < schedule->rows.len && schedule->rows.at[at].phase == phase) ||
        horizon != schedule->horizon[phase]) {
        return WANTED_REFUSE(&wanted, 0, horizon, "last row ends, horizon %d; or a row too many",
                             schedule->horizon[phase]);
    }
    return true;
}
