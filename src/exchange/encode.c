/* Row encoder (exchange.md 4.1): send intervals and timed controls of one tile -> row words.
 *
 * A row is first built as a list of pieces with explicit lengths, because a sendpicp must stand on an even word: when it
 * does not, the nearest earlier piece of two or more events is cut in two, which moves everything behind it by one word
 * and no event. Pieces before the previous sendpicp are out of reach, or that one would lose its own alignment.
 */
#include "exchange/phase.h"
#include "isa/isa.h"

enum { RETURN_REGISTER = 10 }; /* rows end with `br m10` (exchange.md 1) */

typedef enum PieceKind {
    PIECE_DELAY = 0,
    PIECE_DELAY_CONTROL, /* delaypic or delayxpic: control takes effect at the end */
    PIECE_SEND,
    PIECE_SENDOFF,
    PIECE_SEND_CONTROL, /* sendpic: control takes effect one event after the start */
    PIECE_SEND_BOTH,    /* sendpicp; with sctl 0 it only waits */
    PIECE_WORD,         /* part of a base write: `value` is the word */
} PieceKind;

typedef struct Piece {
    PieceKind kind;
    Event events;
    RowStream stream;
    uint32_t value, pointer; /* control value; second control of sendpicp */
    uint32_t address, sctl;
} Piece;
VEC(Piece);

typedef struct Encoder {
    PieceVec pieces;
    Arena *arena;
    isize words;
    isize locked; /* pieces before this index may not be cut */
    Event now;
    EventVec odd; /* effects of the sendpicps that could not be brought to an even word */
} Encoder;

static isize words_of(PieceKind kind)
{
    return kind == PIECE_SEND_BOTH ? 2 : 1;
}

static void add_piece(Encoder *encoder, Piece piece)
{
    ASSERT(piece.events >= 1);
    *vec_push(&encoder->pieces, encoder->arena) = piece;
    encoder->words += words_of(piece.kind);
    encoder->now += piece.events;
}

static void add_delay(Encoder *encoder, Event until)
{
    while (encoder->now < until) {
        Event events = (Event)min_i64(until - encoder->now, FABRIC_DELAY_MAX);
        add_piece(encoder, (Piece){.kind = PIECE_DELAY, .events = events});
    }
}

/* Plain items of a running stream. */
static void add_plain(Encoder *encoder, Event until, uint32_t sctl)
{
    while (encoder->now < until) {
        Event events = (Event)min_i64(until - encoder->now, FABRIC_SENDOFF_MAX);
        add_piece(encoder, (Piece){.kind = PIECE_SENDOFF, .events = events, .sctl = sctl});
    }
}

/* Cuts piece `at` so that its last event becomes a piece of its own. */
static void cut_piece(Encoder *encoder, isize at)
{
    (void)vec_push(&encoder->pieces, encoder->arena);
    Piece *pieces = encoder->pieces.at;
    for (isize i = encoder->pieces.len - 1; i > at + 1; i--) {
        pieces[i] = pieces[i - 1];
    }
    Piece *piece = &pieces[at], rest = {.events = 1, .sctl = piece->sctl};
    bool is_sending = piece->kind == PIECE_SEND || piece->kind == PIECE_SENDOFF ||
                      piece->kind == PIECE_SEND_CONTROL || piece->sctl != 0;
    rest.kind = is_sending ? PIECE_SENDOFF : PIECE_DELAY;
    if (piece->kind == PIECE_DELAY_CONTROL) { /* the control stays at the end */
        rest = *piece;
        rest.events = 1;
        *piece = (Piece){.kind = PIECE_DELAY, .events = piece->events - 1};
    } else {
        piece->events--;
    }
    pieces[at + 1] = rest;
    encoder->words++;
}

/* Makes the number of words so far even; false when no piece in reach can be cut. */
static bool make_even(Encoder *encoder)
{
    if (encoder->words % 2 == 0) {
        return true;
    }
    for (isize i = encoder->pieces.len - 1; i >= encoder->locked; i--) {
        if (encoder->pieces.at[i].events >= 2 && encoder->pieces.at[i].kind != PIECE_WORD) {
            cut_piece(encoder, i);
            return true;
        }
    }
    return false;
}

/* Emits a sendpicp now. Where it stands on an odd word, its effect is noted, and the words behind are aligned as if one had
 * been added. */
static void add_both(Encoder *encoder, const RowControl *xpic, const RowControl *pointer,
                     Event events, uint32_t address, uint32_t sctl)
{
    if (!make_even(encoder)) {
        *vec_push(&encoder->odd, encoder->arena) = encoder->now + 1;
        encoder->words++;
    }
    encoder->locked = encoder->pieces.len;
    add_piece(encoder, (Piece){.kind = PIECE_SEND_BOTH,
                               .events = events,
                               .value = xpic->value,
                               .pointer = pointer->value,
                               .address = address,
                               .sctl = sctl});
}

/* Number of controls at the event of controls[0]; 0 when they cannot share it (X5). */
static isize controls_together(const RowControl *controls, isize count)
{
    if (count == 1 || controls[1].event != controls[0].event) {
        return 1;
    }
    if (count > 2 && controls[2].event == controls[0].event) {
        return 0;
    }
    RowStream a = controls[0].stream, b = controls[1].stream;
    return (a == ROW_XPIC && b == ROW_POINTER) || (a == ROW_POINTER && b == ROW_XPIC) ? 2 : 0;
}

static const RowControl *pick(const RowControl *controls, RowStream stream)
{
    return controls[0].stream == stream ? &controls[0] : &controls[1];
}

/* Controls of a stretch without sends, up to but not including event `until` (the last one of a row: including). */
static bool encode_gap(Encoder *encoder, const RowControl *controls, isize count, Event until,
                       Event *at)
{
    for (isize i = 0; i < count;) {
        Event effect = controls[i].event;
        isize together = controls_together(&controls[i], count - i);
        *at = effect;
        if (together == 0 || effect <= encoder->now) {
            return false;
        }
        if (together == 1) {
            bool is_xpic = controls[i].stream <= ROW_XPIC_PAIRED;
            Event reach = is_xpic ? FABRIC_DELAYXPIC_MAX : FABRIC_DELAYPIC_MAX;
            add_delay(encoder, effect - reach);
            add_piece(encoder, (Piece){.kind = PIECE_DELAY_CONTROL,
                                       .events = effect - encoder->now,
                                       .stream = controls[i].stream,
                                       .value = controls[i].value});
        } else {
            Event next = i + 2 < count ? controls[i + 2].event - 1 : until;
            add_delay(encoder, effect - 1);
            Event events = (Event)min_i64(FABRIC_SEND_MAX, next - encoder->now);
            add_both(encoder, pick(&controls[i], ROW_XPIC), pick(&controls[i], ROW_POINTER), events,
                     0, 0);
        }
        i += together;
    }
    add_delay(encoder, until);
    return true;
}

/* One outgoing message with the controls that take effect inside it or at its end. */
static bool encode_send(Encoder *encoder, const RowSend *send, const RowControl *controls,
                        isize count, Event *at)
{
    for (isize i = 0; i < count; i++) { /* the initial send carries no control (X6) */
        if (controls[i].event <= send->begin + 1) {
            *at = controls[i].event;
            return false;
        }
    }
    Event plain_end = count > 0 ? controls[0].event - 1 : send->end;
    Event first_end = (Event)min_i64(plain_end, send->begin + FABRIC_SEND_MAX);
    add_piece(encoder, (Piece){.kind = PIECE_SEND,
                               .events = first_end - send->begin,
                               .address = send->address,
                               .sctl = send->sctl});
    for (isize i = 0; i < count;) {
        Event effect = controls[i].event;
        isize together = controls_together(&controls[i], count - i);
        *at = effect;
        if (together == 0) {
            return false;
        }
        add_plain(encoder, effect - 1, send->sctl);
        Event next = i + together < count ? controls[i + together].event - 1 : send->end;
        Event events = (Event)min_i64(FABRIC_SEND_MAX, next - encoder->now);
        if (together == 1) {
            add_piece(encoder, (Piece){.kind = PIECE_SEND_CONTROL,
                                       .events = events,
                                       .stream = controls[i].stream,
                                       .value = controls[i].value,
                                       .sctl = send->sctl});
        } else {
            uint32_t address = send->address + (uint32_t)(encoder->now - send->begin);
            add_both(encoder, pick(&controls[i], ROW_XPIC), pick(&controls[i], ROW_POINTER), events,
                     address, send->sctl);
        }
        i += together;
    }
    add_plain(encoder, send->end, send->sctl);
    return true;
}

static void write_piece(const Piece *piece, RowWordVec *out, Arena *arena)
{
    uint32_t count = (uint32_t)piece->events - 1, selector = piece->stream & 1;
    uint32_t word[2] = {0, 0};
    switch (piece->kind) {
    case PIECE_DELAY:
        word[0] = isa_word(INSN_delay_mmmn_zi, count, 0, 0, 0);
        break;
    case PIECE_DELAY_CONTROL:
        word[0] = isa_word(piece->stream <= ROW_XPIC_PAIRED ? INSN_delayxpic_x : INSN_delaypic_x,
                           count, selector, piece->value, 0);
        break;
    case PIECE_SEND:
        word[0] = isa_word(INSN_send_mmmn_zi, count, piece->address, piece->sctl, 0);
        break;
    case PIECE_SENDOFF:
        word[0] = isa_word(INSN_sendoff_x, count, 0, piece->sctl, 0);
        break;
    case PIECE_SEND_CONTROL: /* csel 0, 1: XPIC streams; 2, 3: PIC streams, in the order of RowStream */
        word[0] = isa_word(INSN_sendpic_x, count, (uint32_t)piece->stream, piece->value, 0);
        break;
    case PIECE_WORD:
        word[0] = piece->value;
        break;
    case PIECE_SEND_BOTH: {
        uint32_t operand[INSN_OPERANDS_MAX] = {count, piece->address, piece->sctl, 0,
                                               piece->value << 18 | piece->pointer};
        Error err = {0};
        bool is_encodable = isa_encode(INSN_sendpicp_x, operand, false, word, &err);
        ASSERT(is_encodable);
        break;
    }
    }
    *vec_push(out, arena) = word[0];
    if (words_of(piece->kind) == 2) {
        *vec_push(out, arena) = word[1];
    }
}

/* Timed write of OUTGOING_BASE (exchange.md 6.2). */
static void add_base(Encoder *encoder, const RowBase *base)
{
    enum { INCOMING_REGISTER = 8, MOVING_REGISTER = 6, ZERO_REGISTER = 15 };
    if (base->sets_incoming) {
        add_piece(encoder, (Piece){.kind = PIECE_WORD,
                                   .events = 1,
                                   .value = isa_word(INSN_setzi_mmmn_zi, INCOMING_REGISTER,
                                                     base->incoming, 0, 0)});
        add_piece(encoder, (Piece){.kind = PIECE_WORD,
                                   .events = FABRIC_BASE_WRITE_EVENTS,
                                   .value = isa_word(INSN_put_mmmn_zi, CSR_INCOMING_BASE,
                                                     INCOMING_REGISTER, 0, 0)});
    }
    int from = base->is_moving ? MOVING_REGISTER : ZERO_REGISTER;
    add_piece(encoder, (Piece){.kind = PIECE_WORD,
                               .events = FABRIC_BASE_WRITE_EVENTS,
                               .value = isa_word(INSN_put_mmmn_zi, CSR_OUTGOING_BASE,
                                                 (uint32_t)from, 0, 0)});
}

bool row_encode_noting(const RowScript *script, RowWordVec *out, Arena *arena, EventVec *failed)
{
    Event failed_at;
    failed->len = 0;
    const RowSend *sends = script->sends.at;
    static const RowControl none; /* a row without controls has no list to point into */
    const RowControl *controls = script->controls.len > 0 ? script->controls.at : &none;
    isize control_count = script->controls.len, next = 0, s = 0, b = 0;
    Encoder encoder = {.arena = arena};
    for (;;) {
        bool has_send = s < script->sends.len, has_base = b < script->bases.len;
        bool is_base = has_base && (!has_send || script->bases.at[b].event < sends[s].begin);
        bool is_last = !has_send && !has_base;
        Event until = is_base ? script->bases.at[b].event : is_last ? script->end : sends[s].begin;
        isize first = next;
        /* A control at `until` belongs to the row's tail, but collides with what starts there. */
        while (next < control_count && (controls[next].event < until || is_last)) {
            ASSERT(next == 0 || controls[next - 1].event <= controls[next].event);
            next++;
        }
        ASSERT(until >= encoder.now);
        ASSERT(next == first || controls[next - 1].event <= until);
        if (!encode_gap(&encoder, &controls[first], next - first, until, &failed_at)) {
            *vec_push(failed, arena) = failed_at;
            return false;
        }
        if (is_last) {
            break;
        }
        if (is_base) {
            add_base(&encoder, &script->bases.at[b++]);
            if (next < control_count && controls[next].event < encoder.now) {
                *vec_push(failed, arena) = controls[next].event; /* X17 */
                return false;
            }
            continue;
        }
        ASSERT(sends[s].end > sends[s].begin);
        first = next;
        while (next < control_count && controls[next].event <= sends[s].end) {
            next++;
        }
        if (!encode_send(&encoder, &sends[s], &controls[first], next - first, &failed_at)) {
            *vec_push(failed, arena) = failed_at;
            return false;
        }
        s++;
    }
    ASSERT(encoder.now == script->end);
    if (encoder.odd.len > 0) {
        *failed = encoder.odd;
        return false;
    }
    for (isize i = 0; i < encoder.pieces.len; i++) {
        write_piece(&encoder.pieces.at[i], out, arena);
    }
    *vec_push(out, arena) = isa_word(INSN_br_mmmn, RETURN_REGISTER, 0, 0, 0);
    return true;
}

bool row_encode(const RowScript *script, RowWordVec *out, Arena *arena, Event *at)
{
    EventVec failed = {0};
    bool ok = row_encode_noting(script, out, arena, &failed);
    *at = ok ? 0 : failed.at[0];
    return ok;
}
