/* Row decoder and listing (exchange.md 4, 5, 6.2): row words -> send intervals, timed controls and base writes.
 *
 * Delay forms take effect at their end, controls that ride on a send one event after its start. Only words that are legal
 * in a row are accepted: a row is data of the compiler, so anything else is an error of the row, not something to skip.
 *
 * Rows of a large phase have millions of words, so words are told apart by the masks of the forms (from isa, once a row) and
 * not by isa_decode. Fields are shifts of exchange.md 4; a test compares every form with isa_decode.
 */
#include "exchange/decode.h"
#include "isa/isa.h"

enum {
    RETURN_REGISTER = 10,  /* rows end with `br m10` */
    MOVING_REGISTER = 6,   /* holds OUTGOING_BASE of moving sources (exchange.md 6.2) */
    ZERO_REGISTER = 15,    /* reads as zero */
    INCOMING_REGISTER = 8, /* carries INCOMING_BASE */
    EVENTS_MAX = 1 << 30,  /* a row's events fit an Event with room for arithmetic */
    XPIC_VALUES = 1 << 13, /* sources have 13 bits where the field has 18 */
    FORMAT_VALUES = 3,     /* 0, 1, 2; 3 is spare */
    INCOMING_EVENTS = 1 + 2 * FABRIC_BASE_WRITE_EVENTS,
};

typedef struct Form {
    uint32_t mask, match;
} Form;

/* Masks of the forms and the whole words of a base write. */
typedef struct Forms {
    Form delay, delaypic, delayxpic, send, sendoff, sendpic, sendpicp, put, set_incoming;
    uint32_t put_incoming, put_moving, put_zero, end;
} Forms;

/* One decoded word, sendpicp pair or base write. */
typedef struct RowStep {
    Event events;
    int32_t words;
    bool is_send, is_start, is_end; /* items leave (or could); restarts the stream; is `br m10` */
    bool is_base;
    uint32_t address, sctl;
    int32_t control_count;
    RowControl control[2]; /* event relative to the step's start */
    RowBase base;
    const char *rule, *fault; /* why it is not legal */
} RowStep;

static Form form_of(InsnCode code)
{
    const InsnForm *form = isa_form(code);
    return (Form){form->mask | 1u << 31,
                  form->match}; /* a supervisor's word is no half of a bundle */
}

static Forms forms_of_rows(void)
{
    Form setzi = form_of(INSN_setzi_mmmn_zi);
    uint32_t incoming = isa_word(INSN_setzi_mmmn_zi, INCOMING_REGISTER, 0, 0, 0);
    return (Forms){
        .delay = form_of(INSN_delay_mmmn_zi),
        .delaypic = form_of(INSN_delaypic_x),
        .delayxpic = form_of(INSN_delayxpic_x),
        .send = form_of(INSN_send_mmmn_zi),
        .sendoff = form_of(INSN_sendoff_x),
        .sendpic = form_of(INSN_sendpic_x),
        .sendpicp = form_of(INSN_sendpicp_x),
        .put = form_of(INSN_put_mmmn_zi),
        .set_incoming = {setzi.mask | 0xf00000, setzi.match | incoming},
        .put_incoming = isa_word(INSN_put_mmmn_zi, CSR_INCOMING_BASE, INCOMING_REGISTER, 0, 0),
        .put_moving = isa_word(INSN_put_mmmn_zi, CSR_OUTGOING_BASE, MOVING_REGISTER, 0, 0),
        .put_zero = isa_word(INSN_put_mmmn_zi, CSR_OUTGOING_BASE, ZERO_REGISTER, 0, 0),
        .end = isa_word(INSN_br_mmmn, RETURN_REGISTER, 0, 0, 0),
    };
}

static bool is_form(uint32_t word, Form form)
{
    return (word & form.mask) == form.match;
}

static uint32_t bits_of(uint32_t word, int low, int count)
{
    return word >> low & ((1u << count) - 1);
}

static bool refuse(RowStep *step, const char *rule, const char *fault)
{
    step->rule = rule;
    step->fault = fault;
    return false;
}

/* XPIC listens to a tile or to nothing; format 3 is spare: its meaning is not known. */
static bool add_control(RowStep *step, Event event, RowStream stream, uint32_t value)
{
    step->control[step->control_count++] = (RowControl){event, stream, value};
    if (stream <= ROW_XPIC_PAIRED && value >= CHIP_TILES && value != FABRIC_NEUTRAL) {
        return refuse(step, "X2", "selects a source that is no tile");
    }
    if (stream == ROW_FORMAT && value >= FORMAT_VALUES) {
        return refuse(step, "X4", "sets a format that does not exist");
    }
    return true;
}

/* 64-bit items without a direction: exchange.md 13. */
static bool add_items(RowStep *step, uint32_t sctl)
{
    step->is_send = true;
    step->sctl = sctl;
    return sctl != SCTL_WIDE || refuse(step, "X8", "sends 64-bit items without a direction");
}

static bool decode_sendpicp(uint32_t word, const uint32_t *next, RowStep *step)
{
    if (next == NULL) {
        return refuse(step, "S10", "half of a sendpicp, is not legal in a row");
    }
    uint32_t xpic = *next >> 18, pointer = *next & 0x3ffff;
    bool is_format = bits_of(word, 27, 1) != 0, is_paired = xpic >> 13 != 0;
    step->words = 2;
    step->events = (Event)bits_of(word, 21, 6) + 1;
    step->address = bits_of(word, 3, 18);
    if (is_format || is_paired) {
        return refuse(step, "X5",
                      "has two controls other than an ordinary source and an ordinary pointer");
    }
    if ((word & 7) == 0 && step->address != 0) {
        return refuse(step, "S10", "sends nothing and has an address, is not legal in a row");
    }
    step->is_start = (word & 7) != 0;
    bool ok = (word & 7) == 0 || add_items(step, word & 7);
    return ok && add_control(step, 1, ROW_XPIC, xpic) && add_control(step, 1, ROW_POINTER, pointer);
}

/* `put 0xa7, m6|m15`, or `setzi m8, imm; put 0xa4, m8` in front of it. */
static bool decode_base(const Forms *forms, const uint32_t *words, isize left, RowStep *step)
{
    isize last = is_form(words[0], forms->set_incoming) ? 2 : 0;
    if (last >= left || (last == 2 && words[1] != forms->put_incoming) ||
        (words[last] != forms->put_moving && words[last] != forms->put_zero)) {
        bool is_put = is_form(words[0], forms->put);
        uint32_t csr = words[0] & 0xff;
        if (!is_put && last == 0) {
            return refuse(step, "S10", "is not legal in a row");
        }
        if (is_put && csr != CSR_OUTGOING_BASE && csr != CSR_INCOMING_BASE) {
            bool is_exchange = csr >= CSR_INCOMING_MUX && csr <= CSR_EXCHANGE_ADJ;
            return refuse(step, is_exchange ? "X21" : "S10",
                          is_exchange ? "writes a register of the running exchange"
                                      : "is not legal in a row");
        }
        return refuse(step, "X17", "is not part of a known write of the bases");
    }
    step->is_base = true;
    step->words = (int32_t)last + 1;
    step->events = last == 2 ? INCOMING_EVENTS : FABRIC_BASE_WRITE_EVENTS;
    step->base = (RowBase){.is_moving = words[last] == forms->put_moving,
                           .sets_incoming = last == 2,
                           .incoming = last == 2 ? words[0] & 0xfffff : 0};
    return step->base.incoming % 4 == 0 ||
           refuse(step, "X14", "makes INCOMING_BASE no multiple of 4");
}

/* The step at words[0] of `left` words. False when it is not legal in a row: step->rule and step->fault say why. */
static bool decode_step(const Forms *forms, const uint32_t *words, isize left, RowStep *step)
{
    uint32_t word = words[0];
    step->words = 1;
    step->is_send = step->is_start = step->is_end = step->is_base = false;
    step->control_count = 0;
    if (is_form(word, forms->delayxpic)) {
        step->events = (Event)bits_of(word, 14, 12) + 1;
        return add_control(step, step->events, ROW_XPIC + bits_of(word, 13, 1),
                           bits_of(word, 0, 13));
    }
    if (is_form(word, forms->delaypic)) {
        step->events = (Event)bits_of(word, 19, 7) + 1;
        return add_control(step, step->events, ROW_POINTER + bits_of(word, 18, 1),
                           bits_of(word, 0, 18));
    }
    if (is_form(word, forms->delay)) {
        step->events = (Event)bits_of(word, 0, 19) + 1;
        return true;
    }
    if (is_form(word, forms->send)) {
        step->events = (Event)bits_of(word, 21, 6) + 1;
        step->is_start = true;
        step->address = bits_of(word, 3, 18);
        return add_items(step, word & 7);
    }
    if (is_form(word, forms->sendpic)) {
        uint32_t stream = bits_of(word, 18, 2), value = bits_of(word, 0, 18);
        step->events = (Event)bits_of(word, 21, 6) + 1;
        step->is_send = true;
        if (stream < ROW_POINTER && value >= XPIC_VALUES) {
            return refuse(step, "X2", "selects a source that is no tile");
        }
        return add_control(step, 1, (RowStream)stream, value);
    }
    if (is_form(word, forms->sendoff)) {
        step->events = (Event)(bits_of(word, 21, 6) | bits_of(word, 14, 6) << 6) + 1;
        if (bits_of(word, 3, 11) != 0) { /* the meaning is unknown (exchange.md 13) */
            return refuse(step, "S10", "has a source delta, is not legal in a row");
        }
        return add_items(step, word & 7);
    }
    if (is_form(word, forms->sendpicp)) {
        return decode_sendpicp(word, left > 1 ? &words[1] : NULL, step);
    }
    if (word == forms->end) {
        step->events = 0;
        step->is_end = true;
        return true;
    }
    return decode_base(forms, words, left, step);
}

/* Adds the items of a step to the stream; false when there is no stream to continue. */
static bool add_send(const RowStep *step, Event now, RowSendVec *sends)
{
    RowSend *last = sends->len > 0 ? &sends->at[sends->len - 1] : NULL;
    bool is_running = last != NULL && last->end == now;
    if (step->is_start) {
        uint32_t expected = is_running ? last->address + (uint32_t)(now - last->begin) : 0;
        if (step->words == 2 && is_running && last->sctl == step->sctl &&
            expected == step->address) {
            last->end += step->events; /* a sendpicp that restarts the stream where it is */
            return true;
        }
        sends->at[sends->len++] = (RowSend){now, now + step->events, step->address, step->sctl};
        return true;
    }
    if (!is_running || (step->control_count == 0 && step->sctl != last->sctl)) {
        return false;
    }
    last->end += step->events;
    return true;
}

/* Room for what `count` words can hold at most. */
static void reserve_script(const Forms *forms, const uint32_t *words, isize count, RowScript *out,
                           RowAddressVec *addresses, Arena *arena)
{
    isize sends = 0, controls = 0, bases = 0;
    for (isize i = 0; i < count; i++) {
        bool is_pair = is_form(words[i], forms->sendpicp);
        bool is_delay = is_form(words[i], forms->delaypic) || is_form(words[i], forms->delayxpic);
        sends += is_pair || is_form(words[i], forms->send);
        controls += is_pair ? 2 : is_delay || is_form(words[i], forms->sendpic);
        bases += is_form(words[i], forms->put);
    }
    *out = (RowScript){.sends = {arena_array(arena, RowSend, sends), 0, sends},
                       .controls = {arena_array(arena, RowControl, controls), 0, controls},
                       .bases = {arena_array(arena, RowBase, bases), 0, bases}};
    if (addresses != NULL) {
        *addresses = (RowAddressVec){arena_array(arena, RowAddress, sends), 0, sends};
    }
}

bool row_decode_addresses(const uint32_t *words, isize count, RowScript *out,
                          RowAddressVec *addresses, Arena *arena, Error *err)
{
    Forms forms = forms_of_rows();
    reserve_script(&forms, words, count, out, addresses, arena);
    Event now = 0;
    RowStep step;
    for (isize at = 0; at < count; at += step.words) {
        if (!decode_step(&forms, &words[at], count - at, &step)) {
            return error_set(err, ERROR_INPUT, NULL, "%s: word %td of the row, 0x%08x, %s",
                             step.rule, at, words[at], step.fault);
        }
        if (is_form(words[at], forms.sendpicp) && at % 2 != 0) {
            return error_set(err, ERROR_INPUT, NULL, "X16: sendpicp on odd word %td of the row",
                             at);
        }
        if (step.is_end) {
            out->end = now;
            return at + 1 == count ||
                   error_set(err, ERROR_INPUT, NULL, "S10: %td words behind `br m10` of the row",
                             count - at - 1);
        }
        if (step.events > EVENTS_MAX - now) {
            return error_set(err, ERROR_INPUT, NULL,
                             "S10: word %td: the row lasts longer than %d events", at, EVENTS_MAX);
        }
        if (step.is_send && !add_send(&step, now, &out->sends)) {
            return error_set(err, ERROR_INPUT, NULL,
                             "S10: word %td of the row continues no stream at event %d", at, now);
        }
        if (step.is_start && addresses != NULL) {
            addresses->at[addresses->len++] = (RowAddress){(int32_t)at, now};
        }
        for (int i = 0; i < step.control_count; i++) {
            RowControl *control = &out->controls.at[out->controls.len++];
            *control = step.control[i];
            control->event += now;
        }
        if (step.is_base) {
            step.base.event = now;
            out->bases.at[out->bases.len++] = step.base;
        }
        now += step.events;
    }
    return error_set(err, ERROR_INPUT, NULL, "S10: the row does not end with `br m10`");
}

bool row_decode(const uint32_t *words, isize count, RowScript *out, Arena *arena, Error *err)
{
    return row_decode_addresses(words, count, out, NULL, arena, err);
}

static void print_controls(Writer *writer, const RowStep *step, Event now)
{
    static const char *const stream_names[] = {"xpic", "xpic-paired", "pointer", "format"};
    for (int i = 0; i < step->control_count; i++) {
        const RowControl *control = &step->control[i];
        bool is_pointer = control->stream == ROW_POINTER;
        write_fmt(writer, is_pointer ? " # %s=0x%x at %d" : " # %s=%u at %d",
                  stream_names[control->stream],
                  is_pointer ? byte_of_word(control->value) : control->value, now + control->event);
    }
    if (step->is_base) {
        write_fmt(writer, " # outgoing-base=%s", step->base.is_moving ? "m6" : "0");
        if (step->base.sets_incoming) {
            write_fmt(writer, " incoming-base=0x%x", step->base.incoming);
        }
        write_fmt(writer, " from %d", now + step->events);
    }
}

/* Lines of one legal step; the words of a base write have one each. */
static void print_step(Writer *writer, const RowStep *step, const uint32_t *words, Event now)
{
    bool is_pair = step->words == 2;
    for (int32_t i = 0; i < (is_pair ? 1 : step->words); i++) {
        Event part = i == 0 ? 0 : 1 + (i - 1) * FABRIC_BASE_WRITE_EVENTS;
        write_fmt(writer, "%6d  %08x", now + part, words[i]);
        if (is_pair) {
            write_fmt(writer, " %08x  ", words[1]);
        } else {
            write_str(writer, S("           "));
        }
        Insn insn = isa_decode(words[i], is_pair ? words[1] : 0, LANE_MAIN, CONTEXT_SUPERVISOR);
        isa_print(writer, &insn, NULL);
        if (is_pair || i + 1 == step->words) {
            print_controls(writer, step, now);
        }
        write_str(writer, S("\n"));
    }
}

void row_print(Writer *writer, const uint32_t *words, isize count)
{
    Forms forms = forms_of_rows();
    Event now = 0;
    RowStep step;
    for (isize at = 0; at < count; at += step.words) {
        if (decode_step(&forms, &words[at], count - at, &step)) {
            print_step(writer, &step, &words[at], now);
            now += step.events;
        } else {
            write_fmt(writer, "%6d  %08x           not legal in a row\n", now, words[at]);
            step.words = 1;
        }
    }
}
