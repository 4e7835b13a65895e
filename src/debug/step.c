/* Breakpoints and stepping, on a finished record: every step is one issue in the order of cycles, of whichever context. */
#include "debug/debug.h"
#include <string.h>
#include <unistd.h>

enum { COMMAND_BYTES_MAX = 1024, LEAST_WRITE_BYTES = 4 };

bool breakpoint_parse(Str text, const Target *target, Breakpoint *out, Error *err)
{
    Str rest = text;
    *out = (Breakpoint){.kind = BREAK_PC, .text = text};
    if (str_take(&rest, S("cycle:"))) {
        out->kind = BREAK_CYCLE;
        return (str_to_int(rest, &out->cycle) && out->cycle >= 0) ||
               error_set(err, ERROR_INPUT, NULL, "expected cycle:N, found \"%.*s\"", STR_ARG(text));
    }
    if (str_take(&rest, S("write:"))) {
        out->kind = BREAK_WRITE;
        Str place = str_cut(&rest, ',');
        int64_t bytes = LEAST_WRITE_BYTES;
        if (rest.len > 0 && (!str_to_int(rest, &bytes) || bytes <= 0 || bytes > SRAM_BYTES)) {
            return error_set(err, ERROR_INPUT, NULL, "expected write:PLACE[,BYTES], found \"%.*s\"",
                             STR_ARG(text));
        }
        out->bytes = (uint32_t)bytes;
        if (!target_place(target, place, &out->address, err)) {
            return false;
        }
        return range_in_sram(out->address, out->bytes) ||
               error_set(err, ERROR_INPUT, NULL, "%lld bytes at 0x%x: expected 0x%x..0x%x",
                         (long long)bytes, out->address, SRAM_BASE, SRAM_END);
    }
    if (!target_place(target, rest, &out->address, err)) {
        return false;
    }
    return (out->address % 4 == 0 && out->address >= SRAM_BASE && out->address < SRAM_REGION1) ||
           error_set(err, ERROR_INPUT, NULL, "0x%x: expected an address of code", out->address);
}

/* The breakpoint that a moment meets before (is_done false) or behind its issue; NULL: none. */
static const Breakpoint *find_break(const Stepper *stepper, const Moment *moment, Cycles before,
                                    bool is_done)
{
    for (isize i = 0; i < stepper->breakpoints.len; i++) {
        const Breakpoint *b = &stepper->breakpoints.at[i];
        bool is_met = false;
        switch (b->kind) {
        case BREAK_PC:
            is_met = !is_done && moment->pc == b->address;
            break;
        case BREAK_CYCLE:
            is_met = !is_done && before < b->cycle && moment->cycle >= b->cycle;
            break;
        default:
            is_met = is_done && moment->store_bytes > 0 &&
                     moment->store_address < b->address + b->bytes &&
                     b->address < moment->store_address + moment->store_bytes;
            break;
        }
        if (is_met) {
            return b;
        }
    }
    return NULL;
}

static const Moment *moment_at(const Stepper *stepper, isize i)
{
    return &stepper->record->moments.at[i];
}

static void step(Stepper *stepper)
{
    view_apply(&stepper->view, stepper->record, moment_at(stepper, stepper->at++));
}

static bool say(const Stepper *stepper, Writer *out, const Breakpoint *b, isize i)
{
    bool is_done = b->kind == BREAK_WRITE;
    write_fmt(out, "break %.*s %s\n", STR_ARG(b->text), is_done ? "after" : "before");
    moment_print(out, moment_at(stepper, i), is_done, stepper->record, stepper->target);
    return true;
}

bool stepper_continue(Stepper *stepper, Writer *out)
{
    while (stepper->at < stepper->record->moments.len) {
        const Moment *moment = moment_at(stepper, stepper->at);
        Cycles before = stepper->at > 0 ? moment_at(stepper, stepper->at - 1)->cycle : -1;
        const Breakpoint *b = find_break(stepper, moment, before, false);
        if (b && stepper->told <= stepper->at) {
            stepper->told = stepper->at + 1;
            return say(stepper, out, b, stepper->at);
        }
        step(stepper);
        b = find_break(stepper, moment, before, true);
        if (b) {
            return say(stepper, out, b, stepper->at - 1);
        }
    }
    return false;
}

static void say_end(const Stepper *stepper, Writer *out)
{
    static const char *const why[] = {[WORKBENCH_STOP_END] = "host sync",
                                      [WORKBENCH_STOP_FAULT] = "fault",
                                      [WORKBENCH_STOP_LIMIT] = "cycle limit"};
    write_fmt(out, "end: %s\n", why[stepper->record->stop]);
}

static const char HELP[] =
    "step [N]               the next N issues (default 1)\n"
    "continue               to the next breakpoint or the end\n"
    "regs [s | 0 .. 5]      registers of a context (default: of the next issue)\n"
    "mem PLACE[,BYTES[,hex|u32|f32|f16]]\n"
    "break SYMBOL|ADDRESS|cycle:N|write:PLACE[,BYTES]\n"
    "quit\n";

static void do_step(Stepper *stepper, Str argument, Writer *out, Error *err)
{
    int64_t count = 1;
    if (argument.len > 0 && (!str_to_int(argument, &count) || count < 1)) {
        error_set(err, ERROR_INPUT, NULL, "expected step N, found \"%.*s\"", STR_ARG(argument));
        return;
    }
    for (; count > 0 && stepper->at < stepper->record->moments.len; count--) {
        moment_print(out, moment_at(stepper, stepper->at), true, stepper->record, stepper->target);
        step(stepper);
    }
    if (count > 0) {
        say_end(stepper, out);
    }
}

static void do_regs(const Stepper *stepper, Str argument, Writer *out, Error *err)
{
    isize len = stepper->record->moments.len;
    isize i = stepper->at < len ? stepper->at : len - 1;
    int context = len > 0 ? moment_at(stepper, i)->context : -1;
    if (argument.len == 1 && argument.at[0] >= '0' && argument.at[0] < '0' + CHIP_WORKERS) {
        context = argument.at[0] - '0';
    } else if (str_equal(argument, S("s"))) {
        context = -1;
    } else if (argument.len > 0) {
        error_set(err, ERROR_INPUT, NULL, "expected regs s or regs 0 .. 5, found \"%.*s\"",
                  STR_ARG(argument));
        return;
    }
    view_print(out, &stepper->view, context);
}

/* False: quit. */
static bool do_command(Stepper *stepper, Str line, Writer *out)
{
    Error err = {0};
    Str rest = str_trim(line), word = str_cut(&rest, ' ');
    rest = str_trim(rest);
    if (str_equal(word, S("quit")) || str_equal(word, S("q"))) {
        return false;
    }
    if (str_equal(word, S("step")) || str_equal(word, S("s"))) {
        do_step(stepper, rest, out, &err);
    } else if (str_equal(word, S("continue")) || str_equal(word, S("c"))) {
        if (!stepper_continue(stepper, out)) {
            say_end(stepper, out);
        }
    } else if (str_equal(word, S("regs")) || str_equal(word, S("r"))) {
        do_regs(stepper, rest, out, &err);
    } else if (str_equal(word, S("mem")) || str_equal(word, S("m"))) {
        Dump dump;
        if (dump_parse(rest, stepper->target, false, &dump, &err)) {
            dump_print(out, &dump, &stepper->view);
        }
    } else if (str_equal(word, S("break")) || str_equal(word, S("b"))) {
        Breakpoint b;
        if (breakpoint_parse(str_copy(rest, stepper->keep), stepper->target, &b, &err)) {
            *vec_push(&stepper->breakpoints, stepper->keep) = b;
        }
    } else if (word.len > 0) {
        write_str(out, S(HELP));
    }
    if (err.code != ERROR_NONE) {
        write_fmt(out, "%s\n", err.message);
    }
    return true;
}

void stepper_talk(Stepper *stepper, int fd, bool is_terminal, Writer *out)
{
    char buffer[COMMAND_BYTES_MAX];
    isize held = 0;
    bool goes_on = true;
    while (goes_on) {
        if (is_terminal) {
            write_str(out, S("> "));
        }
        isize end = str_find((Str){buffer, held}, '\n', 0);
        while (end < 0 && held < COMMAND_BYTES_MAX) {
            writer_flush(out);
            ssize_t got = read(fd, buffer + held, (size_t)(COMMAND_BYTES_MAX - held));
            if (got <= 0) {
                break;
            }
            held += got;
            end = str_find((Str){buffer, held}, '\n', 0);
        }
        if (held == 0) {
            return;
        }
        end = end < 0 ? held : end;
        goes_on = do_command(stepper, (Str){buffer, end}, out);
        isize taken = end < held ? end + 1 : held;
        memmove(buffer, buffer + taken, (size_t)(held - taken));
        held -= taken;
    }
}
