/* Decoding a row: straight-line words until `br m10`, each with a known number of events (exchange.md 3.1, 4). The words are
 * matched here by the masks of that section and not through isa, so that encoder and machine are two witnesses.
 *
 * Legal are the seven forms of delays and sends, a timed base write (6.2) and the return. Whatever else stands there is a
 * fault that names the word.
 */
#include "machine/fabric_row.h"

enum {
    WORD_RETURN = 0x43a00000, /* br m10 */
    LINK_REGISTER = 10,
    EVENTS_MAX = 1 << 30,
    BASE_END = 1 << 20,
};

typedef struct Decoder {
    TileState *tile;
    const FabricRowContext *context;
    FabricRow *out;
    Fault *fault;
    uint32_t pc;
    Event now;
    bool is_running; /* an outgoing stream ends exactly now */
    uint8_t sctl;    /* of that stream */
    uint32_t base;   /* OUTGOING_BASE */
    Event control;   /* event of the latest control; -1: none yet */
    Event quiet;     /* event at which the running `setzi` and base writes began; -1: none */
} Decoder;

static uint32_t field(uint32_t word, int low, int bits)
{
    return word >> low & ((1u << bits) - 1);
}

#define ROW_FAULT(decoder, which, ...)                                                             \
    (fabric_fault((decoder)->fault, (which), (decoder)->tile->id,                                  \
                  (decoder)->context->event_zero + (decoder)->now, (decoder)->pc, __VA_ARGS__),    \
     false)

static bool fetch(Decoder *d, uint32_t pc, uint32_t *word)
{
    if (pc < SRAM_BASE || pc > SRAM_REGION1 - 4) {
        return ROW_FAULT(d, FABRIC_ROW_ADDRESS, "row continues at 0x%x, outside 0x%x..0x%x", pc,
                         SRAM_BASE, SRAM_REGION1);
    }
    uint32_t index = (pc - SRAM_BASE) / 4;
    memcpy(word, d->tile->sram + 4 * (size_t)index, 4);
    if (!d->context->poison_off && (d->tile->poison[index / 32] >> (index % 32) & 1) != 0) {
        return ROW_FAULT(d, FABRIC_ROW_POISON, "row word at 0x%x was never written", pc);
    }
    return true;
}

static void stop_stream(Decoder *d)
{
    d->is_running = false;
    d->sctl = 0;
}

/* X17: the list ascends, and what comes before a base write takes effect at its first event at the latest. */
static bool is_quiet(const FabricControlVec *list, Event event)
{
    return list->len == 0 || list->at[list->len - 1].event < event;
}

/* X6: a control at event `control` and a message that starts at `start`. */
static bool fault_at_start(Decoder *d, Event control, Event start)
{
    return ROW_FAULT(d, FABRIC_CONTROL_AT_START,
                     "a control takes effect at event %d and a message starts at event %d", control,
                     start);
}

/* No form of words makes two controls of one stream at one event (X5): only a sendpicp makes two at once. */
static bool add_control(Decoder *d, FabricControlVec *list, Event event, uint32_t value)
{
    const FabricMessageVec *messages = &d->out->messages;
    d->control = event;
    *vec_push(list, d->context->arena) = (FabricControl){event, value, d->pc};
    return messages->len == 0 || event > messages->at[messages->len - 1].begin + 1 ||
           fault_at_start(d, event, messages->at[messages->len - 1].begin);
}

static bool add_xpic(Decoder *d, Event event, uint32_t selector, uint32_t value)
{
    if (value >= CHIP_TILES && value != FABRIC_NEUTRAL) {
        return ROW_FAULT(d, FABRIC_CONTROL_VALUE,
                         "source 0x%x is no tile, expected 0..%d or neutral 0x%x", value,
                         CHIP_TILES - 1, FABRIC_NEUTRAL);
    }
    return add_control(d, selector == 0 ? &d->out->xpic : &d->out->xpic_pair, event, value);
}

static bool add_pic(Decoder *d, Event event, uint32_t selector, uint32_t value)
{
    if (selector != 0 && value > 2) {
        return ROW_FAULT(d, FABRIC_CONTROL_VALUE, "incoming format %u does not exist", value);
    }
    return add_control(d, selector == 0 ? &d->out->pic : &d->out->format, event, value);
}

static uint32_t item_bytes(uint32_t sctl)
{
    return (sctl & SCTL_WIDE) != 0 ? 8 : 4;
}

/* A stretch that sends `items` items now; `restarts` with the number of its first item. */
static bool add_send(Decoder *d, Event items, bool restarts, uint32_t item, uint32_t sctl)
{
    FabricMessageVec *list = &d->out->messages;
    bool is_silent = (sctl & SCTL_BOTH) == 0;
    if (is_silent && sctl != 0) {
        return ROW_FAULT(d, FABRIC_SEND_DIRECTION, "64-bit items sent without a direction");
    }
    if (!restarts && (!d->is_running || sctl != d->sctl)) {
        return ROW_FAULT(d, FABRIC_SEND_CONTINUES,
                         "continues a stream that does not run (directions %u, running %u)", sctl,
                         d->sctl);
    }
    if (!is_silent && restarts && d->control >= d->now) {
        return fault_at_start(d, d->control, d->now);
    }
    if (!is_silent && restarts) {
        *vec_push(list, d->context->arena) =
            (FabricMessage){.begin = d->now,
                            .end = d->now,
                            .address = d->base + item_bytes(sctl) * item,
                            .pc = d->pc,
                            .sctl = (uint8_t)sctl};
    }
    if (!is_silent) {
        FabricMessage *message = &list->at[list->len - 1];
        message->end += items;
        if (message->address % item_bytes(sctl) != 0 ||
            !range_in_sram(message->address, message_bytes(message))) {
            return ROW_FAULT(d, FABRIC_EXCHANGE_ADDRESS,
                             "sends %u bytes from 0x%x, expected multiples of %u inside SRAM",
                             message_bytes(message), message->address, item_bytes(sctl));
        }
    }
    d->is_running = true;
    d->sctl = (uint8_t)sctl;
    d->now += items;
    return true;
}

static bool decode_sendpicp(Decoder *d, uint32_t word)
{
    uint32_t payload;
    if (d->pc % 8 != 0) {
        return ROW_FAULT(d, FABRIC_ROW_ALIGNMENT, "sendpicp at 0x%x, expected a multiple of 8",
                         d->pc);
    }
    if (!fetch(d, d->pc + 4, &payload)) {
        return false;
    }
    uint32_t format_selector = field(word, 27, 1), item = field(word, 3, 18), sctl = word & 7;
    uint32_t xpic = field(payload, 18, 14);
    if (format_selector != 0 || xpic >> 13 != 0) {
        return ROW_FAULT(d, FABRIC_CONTROL_PAIR,
                         "two controls at event %d, and not ordinary pointer with ordinary source",
                         d->now + 1);
    }
    if (!add_xpic(d, d->now + 1, 0, xpic & 0x1fff) ||
        !add_pic(d, d->now + 1, 0, field(payload, 0, 18))) {
        return false;
    }
    bool restarts = true;
    if (d->is_running && sctl == d->sctl && sctl != 0) {
        const FabricMessage *last = &d->out->messages.at[d->out->messages.len - 1];
        restarts = d->base + item_bytes(sctl) * item != last->address + message_bytes(last);
    }
    bool ok = add_send(d, (Event)field(word, 21, 6) + 1, restarts, item, sctl);
    d->pc += 8;
    return ok;
}

static bool decode_send(Decoder *d, uint32_t word)
{
    bool ok;
    if ((word & 0xf8000000) == 0x78000000) {
        ok = add_send(d, (Event)field(word, 21, 6) + 1, true, field(word, 3, 18), word & 7);
    } else if ((word & 0xf8100000) == 0x70000000) {
        if (field(word, 3, 11) != 0) {
            return ROW_FAULT(d, FABRIC_SEND_DELTA, "sendoff with source delta %u",
                             field(word, 3, 11));
        }
        uint32_t count = field(word, 21, 6) | field(word, 14, 6) << 6;
        ok = add_send(d, (Event)count + 1, false, 0, word & 7);
    } else {
        uint32_t selector = field(word, 18, 2), value = field(word, 0, 18);
        if (selector < 2 && value >> 13 != 0) {
            return ROW_FAULT(d, FABRIC_CONTROL_VALUE, "source 0x%x does not fit 13 bits", value);
        }
        ok = selector < 2 ? add_xpic(d, d->now + 1, selector, value)
                          : add_pic(d, d->now + 1, selector - 2, value);
        ok = ok && add_send(d, (Event)field(word, 21, 6) + 1, false, 0, d->sctl);
    }
    d->pc += 4;
    return ok;
}

/* A base is a multiple of 4 of 20 bits, the least that holds SRAM's addresses. */
static bool check_base(Decoder *d, uint32_t csr, uint32_t value)
{
    return (value % 4 == 0 && value < BASE_END) ||
           ROW_FAULT(d, FABRIC_EXCHANGE_ADDRESS, "%s is 0x%x, expected a multiple of 4 below 0x%x",
                     csr == CSR_OUTGOING_BASE ? "OUTGOING_BASE" : "INCOMING_BASE", value, BASE_END);
}

/* X21: what a timed control would set, and the running cursors. */
static bool is_stream_register(uint32_t csr)
{
    return (csr >= CSR_INCOMING_MUX && csr <= CSR_INCOMING_FORMAT) || csr == CSR_OUTGOING_DELTA;
}

/* put OUTGOING_BASE, mR or put INCOMING_BASE, mR. No control takes effect within [b, b + 13), nor within the `setzi` and
 * other base writes directly before it; those that follow cannot before the write is over. */
static bool write_base(Decoder *d, uint32_t csr, uint32_t index)
{
    const char *name = csr == CSR_INCOMING_BASE ? "INCOMING_BASE" : "OUTGOING_BASE";
    const FabricRow *out = d->out;
    if (!d->context->poison_off && (d->tile->m_poison >> index & 1) != 0) {
        return ROW_FAULT(d, FABRIC_BASE_POISON, "%s from undefined m%u", name, index);
    }
    if (!is_quiet(&out->xpic, d->quiet) || !is_quiet(&out->xpic_pair, d->quiet) ||
        !is_quiet(&out->pic, d->quiet) || !is_quiet(&out->format, d->quiet)) {
        return ROW_FAULT(d, FABRIC_BASE_WRITE,
                         "a control takes effect at event %d, in the write of %s at events %d..%d",
                         d->quiet, name, d->quiet, d->now + FABRIC_BASE_WRITE_EVENTS);
    }
    uint32_t value = index < 15 ? d->tile->m[index] : 0;
    if (!check_base(d, csr, value)) {
        return false;
    }
    if (csr == CSR_INCOMING_BASE) {
        *vec_push(&d->out->bases, d->context->arena) = (FabricControl){d->now, value, d->pc};
    } else {
        d->base = value;
    }
    d->tile->csr[csr] = value;
    d->now += FABRIC_BASE_WRITE_EVENTS;
    return true;
}

/* setzi mR, imm and the writes of bases: exchange.md 6.2. */
static bool decode_base_write(Decoder *d, uint32_t word, bool *is_base_write)
{
    *is_base_write = true;
    d->quiet = d->quiet < 0 ? d->now : d->quiet;
    if ((word & 0xff000000) == 0x19000000) {
        uint32_t index = field(word, 20, 4);
        if (index < 15) {
            d->tile->m[index] = field(word, 0, 20);
            d->tile->m_poison &= (uint16_t) ~(1u << index);
        }
        d->now += 1;
    } else if ((word & 0xff0fff00) == 0x43008000 &&
               ((word & 0xff) == CSR_OUTGOING_BASE || (word & 0xff) == CSR_INCOMING_BASE)) {
        if (!write_base(d, word & 0xff, field(word, 20, 4))) {
            return false;
        }
    } else if ((word & 0xff0fff00) == 0x43008000 && is_stream_register(word & 0xff)) {
        return ROW_FAULT(d, FABRIC_RECONFIGURED, "register 0x%x is written inside a row",
                         word & 0xff);
    } else {
        *is_base_write = false;
        return true;
    }
    stop_stream(d);
    d->pc += 4;
    return true;
}

static bool is_of_base_write(uint32_t word)
{
    return (word & 0xff000000) == 0x19000000 || (word & 0xff0fff00) == 0x43008000;
}

/* One word that is not the return. */
static bool decode_word(Decoder *d, uint32_t word)
{
    d->quiet = is_of_base_write(word) ? d->quiet : -1;
    if ((word & 0xf0000000) == 0xf0000000) {
        return decode_sendpicp(d, word);
    }
    if ((word & 0xf0000000) == 0x70000000) {
        return decode_send(d, word);
    }
    if ((word & 0xfff80000) == 0x40a00000) {
        stop_stream(d);
        d->now += (Event)field(word, 0, 19) + 1;
    } else if ((word & 0xfc000000) == 0x60000000) {
        stop_stream(d);
        d->now += (Event)field(word, 19, 7) + 1;
        if (!add_pic(d, d->now, field(word, 18, 1), field(word, 0, 18))) {
            return false;
        }
    } else if ((word & 0xfc000000) == 0x64000000) {
        stop_stream(d);
        d->now += (Event)field(word, 14, 12) + 1;
        if (!add_xpic(d, d->now, field(word, 13, 1), field(word, 0, 13))) {
            return false;
        }
    } else {
        bool is_base_write;
        return decode_base_write(d, word, &is_base_write) &&
               (is_base_write || ROW_FAULT(d, FABRIC_ROW_WORD,
                                           "word %08x at 0x%x is not legal in a row", word, d->pc));
    }
    d->pc += 4;
    return true;
}

/* State in which hardware expects a tile at the start of a phase (exchange.md 10.3, 11). */
static bool check_entry(Decoder *d)
{
    const uint32_t *csr = d->tile->csr;
    if (csr[CSR_INCOMING_DCOUNT] != 1) {
        return ROW_FAULT(d, FABRIC_DCOUNT, "INCOMING_DCOUNT is %u at the start of a phase, not 1",
                         csr[CSR_INCOMING_DCOUNT]);
    }
    if (csr[CSR_INCOMING_MUX] != FABRIC_NEUTRAL) {
        return ROW_FAULT(d, FABRIC_NEUTRAL_AT_ENTRY,
                         "INCOMING_MUX is 0x%x at the start of a phase, not neutral 0x%x",
                         csr[CSR_INCOMING_MUX], FABRIC_NEUTRAL);
    }
    if (csr[CSR_INCOMING_MUXPAIR] != FABRIC_NEUTRAL) {
        return ROW_FAULT(d, FABRIC_NEUTRAL_AT_ENTRY,
                         "INCOMING_MUXPAIR is 0x%x at the start of a phase, not neutral 0x%x",
                         csr[CSR_INCOMING_MUXPAIR], FABRIC_NEUTRAL);
    }
    if (csr[CSR_INCOMING_FORMAT] != 0) {
        return ROW_FAULT(d, FABRIC_PAIRED, "paired transfer: INCOMING_FORMAT is %u",
                         csr[CSR_INCOMING_FORMAT]);
    }
    if (!check_base(d, CSR_OUTGOING_BASE, d->base) ||
        !check_base(d, CSR_INCOMING_BASE, csr[CSR_INCOMING_BASE])) {
        return false;
    }
    if (d->out->row % 8 != 0) {
        return ROW_FAULT(d, FABRIC_ROW_ADDRESS, "row at 0x%x, expected a multiple of 8",
                         d->out->row);
    }
    return true;
}

/* Rules that the row alone decides: X7 and the sender's end. */
static bool check_end(Decoder *d)
{
    const FabricRow *out = d->out;
    if (out->xpic.len > 0 && out->xpic.at[out->xpic.len - 1].value != FABRIC_NEUTRAL) {
        const FabricControl *last = &out->xpic.at[out->xpic.len - 1];
        return ROW_FAULT(d, FABRIC_NEUTRAL_MISSING,
                         "row ends at event %d while tile %u is listened to since event %d",
                         out->end, last->value, last->event);
    }
    if (out->xpic_pair.len > 0 &&
        out->xpic_pair.at[out->xpic_pair.len - 1].value != FABRIC_NEUTRAL) {
        const FabricControl *last = &out->xpic_pair.at[out->xpic_pair.len - 1];
        return ROW_FAULT(d, FABRIC_NEUTRAL_MISSING,
                         "row ends at event %d while the pair's mux is 0x%x since event %d",
                         out->end, last->value, last->event);
    }
    if (out->format.len > 0 && out->format.at[out->format.len - 1].value != 0) {
        return ROW_FAULT(d, FABRIC_NEUTRAL_MISSING, "row ends at event %d with incoming format %u",
                         out->end, out->format.at[out->format.len - 1].value);
    }
    if (out->messages.len > 0 && out->end < FABRIC_SEND_MIN) {
        return ROW_FAULT(d, FABRIC_ROW_SHORT, "row of a sender ends at event %d, earliest is %d",
                         out->end, FABRIC_SEND_MIN);
    }
    return true;
}

bool fabric_decode_row(TileState *tile, const FabricRowContext *context, FabricRow *out,
                       Fault *fault)
{
    *out = (FabricRow){0};
    Decoder decoder = {.tile = tile,
                       .context = context,
                       .out = out,
                       .fault = fault,
                       .pc = tile->pc,
                       .base = tile->csr[CSR_OUTGOING_BASE],
                       .control = -1,
                       .quiet = -1};
    Decoder *d = &decoder;
    uint32_t word;
    if (tile->pc % 4 != 0 || !fetch(d, tile->pc, &word)) {
        return tile->pc % 4 == 0 ? false
                                 : ROW_FAULT(d, FABRIC_ROW_ADDRESS, "pc 0x%x is odd", tile->pc);
    }
    if ((word & 0xfff00000) != (0x18000000u | LINK_REGISTER << 20)) {
        return true; /* a barrier without exchange */
    }
    out->has_row = true;
    out->row = field(word, 0, 20) * 4;
    out->incoming_base = tile->csr[CSR_INCOMING_BASE];
    out->return_pc = tile->pc + 4;
    d->pc = out->row;
    if (!check_entry(d)) {
        return false;
    }
    for (;;) {
        if (!fetch(d, d->pc, &word)) {
            return false;
        }
        if (word == WORD_RETURN) {
            break;
        }
        if (!decode_word(d, word)) {
            return false;
        }
        if (d->now > EVENTS_MAX) {
            return ROW_FAULT(d, FABRIC_ROW_LENGTH, "row has more than %d events", EVENTS_MAX);
        }
    }
    out->end = d->now;
    out->row_end = d->pc + 4;
    return check_end(d);
}
