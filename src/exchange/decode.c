/* Row decoder and listing (exchange.md 4): row words -> send intervals and timed controls.
 *
 * Delay forms take effect at their end, controls that ride on a send one event after its start. Only words that are legal
 * in a row are accepted: a row is data of the compiler, so anything else is an error of the row, not something to skip.
 */
#include "exchange/exchange.h"
#include "isa/isa.h"

enum { RETURN_REGISTER = 10 };

/* One decoded word (or sendpicp pair). */
typedef struct RowStep {
    Event events;
    bool is_send, is_start, is_end; /* items leave (or could); restarts the stream; is `br m10` */
    uint32_t address, sctl;
    int control_count;
    RowControl control[2]; /* event relative to the step's start */
    int words;
} RowStep;

/* False when the word is not legal in a row. */
static bool decode_step(const uint32_t *words, isize at, isize count, RowStep *step)
{
    uint32_t next = at + 1 < count ? words[at + 1] : 0;
    Insn insn = isa_decode(words[at], next, LANE_MAIN, CONTEXT_SUPERVISOR);
    Event events = (Event)insn.operand[0] + 1;
    *step = (RowStep){.events = events, .words = 1};
    switch (insn.code) {
    case INSN_delay_mmmn_zi:
        return true;
    case INSN_delaypic_x:
    case INSN_delayxpic_x: {
        uint32_t stream = insn.operand[1] + (insn.code == INSN_delaypic_x ? ROW_POINTER : ROW_XPIC);
        step->control_count = 1;
        step->control[0] = (RowControl){events, (RowStream)stream, insn.operand[2]};
        return true;
    }
    case INSN_send_mmmn_zi:
        step->is_send = step->is_start = true;
        step->address = insn.operand[1];
        step->sctl = insn.operand[2];
        return true;
    case INSN_sendoff_x:
        step->is_send = true;
        step->sctl = insn.operand[2];
        return insn.operand[1] ==
               0; /* the meaning of another source delta is unknown (exchange.md 13) */
    case INSN_sendpic_x:
        step->is_send = true;
        step->control_count = 1;
        step->control[0] = (RowControl){1, (RowStream)insn.operand[1], insn.operand[2]};
        return insn.operand[1] >= ROW_POINTER || insn.operand[2] < 1u << 13;
    case INSN_sendpicp_x: {
        uint32_t xpic = next >> 18, pointer = next & 0x3ffff;
        step->is_send = insn.operand[2] != 0;
        step->is_start = step->is_send;
        step->address = insn.operand[1];
        step->sctl = insn.operand[2];
        step->control_count = 2;
        step->control[0] = (RowControl){1, xpic >> 13 ? ROW_XPIC_PAIRED : ROW_XPIC, xpic & 0x1fff};
        step->control[1] = (RowControl){1, insn.operand[3] ? ROW_FORMAT : ROW_POINTER, pointer};
        step->words = 2;
        return at + 1 < count;
    }
    case INSN_br_mmmn:
        step->events = 0;
        step->is_end = true;
        return insn.operand[0] == RETURN_REGISTER && !insn.is_coissued;
    default:
        return false;
    }
}

/* Adds the items of a step to the stream; false when there is no stream to continue. */
static bool add_items(const RowStep *step, bool is_merged, Event now, RowSendVec *sends,
                      Arena *arena)
{
    RowSend *last = sends->len > 0 ? &sends->at[sends->len - 1] : NULL;
    bool is_running = last != NULL && last->end == now && now > 0;
    if (step->is_start) {
        uint32_t expected = is_running ? last->address + (uint32_t)(now - last->begin) : 0;
        if (is_merged && is_running && last->sctl == step->sctl && expected == step->address) {
            last->end += step->events; /* a sendpicp that restarts the stream where it is */
            return true;
        }
        *vec_push(sends, arena) = (RowSend){now, now + step->events, step->address, step->sctl};
        return true;
    }
    if (!is_running || (step->control_count == 0 && step->sctl != last->sctl)) {
        return false;
    }
    last->end += step->events;
    return true;
}

bool row_decode(const uint32_t *words, isize count, RowScript *out, Arena *arena, Error *err)
{
    *out = (RowScript){0};
    Event now = 0;
    for (isize at = 0; at < count;) {
        RowStep step;
        if (!decode_step(words, at, count, &step)) {
            return error_set(err, ERROR_INPUT, NULL,
                             "S10: word %td of the row, 0x%08x, is not legal in a row", at,
                             words[at]);
        }
        if (step.words == 2 && at % 2 != 0) {
            return error_set(err, ERROR_INPUT, NULL, "X16: sendpicp on odd word %td of the row",
                             at);
        }
        if (step.is_end) {
            if (at + 1 != count) {
                return error_set(err, ERROR_INPUT, NULL,
                                 "S10: %td words behind `br m10` of the row", count - at - 1);
            }
            out->end = now;
            return true;
        }
        if (step.is_send && !add_items(&step, step.words == 2, now, &out->sends, arena)) {
            return error_set(err, ERROR_INPUT, NULL,
                             "S10: word %td of the row continues no stream at event %d", at, now);
        }
        for (int i = 0; i < step.control_count; i++) {
            RowControl control = step.control[i];
            control.event += now;
            *vec_push(&out->controls, arena) = control;
        }
        now += step.events;
        at += step.words;
    }
    return error_set(err, ERROR_INPUT, NULL, "S10: the row does not end with `br m10`");
}

void row_print(Writer *writer, const uint32_t *words, isize count)
{
    static const char *const stream_names[] = {"xpic", "xpic-paired", "pointer", "format"};
    Event now = 0;
    for (isize at = 0; at < count;) {
        RowStep step;
        bool is_legal = decode_step(words, at, count, &step);
        write_fmt(writer, "%6d  %08x", now, words[at]);
        if (is_legal && step.words == 2) {
            write_fmt(writer, " %08x  ", words[at + 1]);
        } else {
            write_str(writer, S("           "));
        }
        if (!is_legal) {
            write_str(writer, S("not legal in a row\n"));
            at++;
            continue;
        }
        Insn insn = isa_decode(words[at], at + 1 < count ? words[at + 1] : 0, LANE_MAIN,
                               CONTEXT_SUPERVISOR);
        isa_print(writer, &insn, NULL);
        for (int i = 0; i < step.control_count; i++) {
            const RowControl *control = &step.control[i];
            const char *format =
                control->stream == ROW_POINTER ? " # %s=0x%x at %d" : " # %s=%u at %d";
            uint32_t value =
                control->stream == ROW_POINTER ? byte_of_word(control->value) : control->value;
            write_fmt(writer, format, stream_names[control->stream], value, now + control->event);
        }
        write_str(writer, S("\n"));
        now += step.events;
        at += step.words;
    }
}
