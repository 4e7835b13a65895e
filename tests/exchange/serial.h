/* A schedule that anybody can see is right: one transfer after the other, with the whole chip quiet in between. It knows everything
 * that problems may ask for (pairs, loopback, forwarding, moving sources by patches or by one base) and nothing of speed, so
 * that judges of schedules can be tried without the solver.
 *
 * Rows come from wanted_rows.h: if what that file derives from the rules were wrong, the machine would not deliver the words.
 */
#pragma once
#include "problems.h"
#include "wanted_rows.h"

enum { SERIAL_GAP = 120 }; /* more than -T(s,d), and than the guards of reads and writes together */

typedef struct Serial {
    const ExchangeProblem *problem;
    Schedule *schedule;
    Arena *arena;
    Dice dice;
    Event quiet; /* nothing happens from here on */
} Serial;

/* Messages of one transfer, tried. */
typedef struct SerialTry {
    ExchangeMessage at[2];
    int count;
} SerialTry;

/* Two controls at one event, or one at the start of a send or right behind it: on a tile that hears and sends only this. */
static inline bool serial_collides(const WantedRow *row)
{
    for (isize i = 0; i < row->controls.len; i++) {
        Event event = row->controls.at[i].event;
        if (i > 0 && row->controls.at[i - 1].event == event) {
            return true;
        }
        for (isize k = 0; k < row->sends.len; k++) {
            Event begin = row->sends.at[k].send.begin;
            if (event == begin || event == begin + 1) {
                return true;
            }
        }
    }
    return false;
}

/* Event at which all of it is over; -1: it cannot be said so. */
static inline Event serial_end(Serial *s, const SerialTry *try, Arena scratch)
{
    Error err = {0};
    WantedPhase wanted = {.problem = s->problem,
                          .schedule = s->schedule,
                          .rows = arena_array(&scratch, WantedRow, CHIP_TILES),
                          .err = &err};
    for (int i = 0; i < try->count; i++) {
        CHECK_OK(wanted_add_message(&wanted, &try->at[i], &scratch), err);
    }
    Event end = 0;
    for (int tile = 0; tile < CHIP_TILES; tile++) {
        WantedRow *row = &wanted.rows[tile];
        if (row->sends.len + row->hearings.len > 0) {
            Arena rest = scratch;
            Arena temporary = arena_split(&rest, (rest.end - rest.at) / 2);
            wanted_controls(row, tile, true, &rest, temporary);
            if (serial_collides(row)) {
                return -1;
            }
            end = wanted_max(end, row->end);
        }
    }
    return end;
}

/* In two parts, the second right behind the first or when that is over. */
static inline SerialTry serial_cut(ExchangeMessage whole, uint32_t words, bool is_joined)
{
    SerialTry try = {.at = {whole, whole}, .count = 2};
    words = whole.is_paired ? words & ~1u : words;
    if (words == 0 || words >= whole.words) {
        return (SerialTry){.at = {whole}, .count = 1};
    }
    Event items = (Event)words / (whole.is_paired ? 2 : 1);
    try.at[0].words = words;
    try.at[1].word_first = words;
    try.at[1].words -= words;
    try.at[1].start += items + (is_joined ? 0 : 400);
    return try;
}

static inline bool serial_keeps(Serial *s, SerialTry try, Arena scratch)
{
    Event end = serial_end(s, &try, scratch);
    for (int i = 0; end >= 0 && i < try.count; i++) {
        *vec_push(&s->schedule->messages, s->arena) = try.at[i];
    }
    s->quiet = end >= 0 ? end : s->quiet;
    return end >= 0;
}

static inline void serial_place(Serial *s, int32_t transfer, ExchangeWidth width, Arena scratch)
{
    const ExchangeTransfer *t = &s->problem->transfers.at[transfer];
    ExchangeMessage whole = {.transfer = transfer,
                             .words = t->words,
                             .start = s->quiet + SERIAL_GAP + dice_below(&s->dice, 3),
                             .is_paired = width != EXCHANGE_WIDTH_ORDINARY &&
                                          transfer_may_pair(s->problem, t)};
    uint32_t words = 1 + (uint32_t)dice_below(&s->dice, (int)t->words);
    if (dice_below(&s->dice, 3) == 0 && serial_keeps(s, serial_cut(whole, words, true), scratch)) {
        return;
    }
    for (;;) {
        for (uint32_t part = 0; part < 16; part++) {
            if (serial_keeps(s, serial_cut(whole, part * t->words / 16, false), scratch)) {
                return;
            }
        }
        CHECK(whole.is_paired); /* any ordinary message can be cut so that nothing collides */
        whole.is_paired = false;
    }
}

/* A tile whose sends all have the same move may have it as its base. */
static inline int32_t serial_base(Serial *s, const WantedRow *row)
{
    if (row->sends.len == 0 || dice_below(&s->dice, 2) == 0) {
        return 0;
    }
    for (isize i = 0; i < row->sends.len; i++) {
        if (!wanted_same_move(s->problem, row->sends.at[i].move, row->sends.at[0].move)) {
            return 0;
        }
    }
    return row->sends.at[0].move;
}

static inline void serial_patches(Serial *s, Row *row, const WantedRow *want)
{
    const uint32_t *word = &s->schedule->words.at[row->word_first];
    Event now = 0;
    int words;
    row->patch_first = (int32_t)s->schedule->patches.len;
    for (int32_t i = 0; row->move == 0 && i + 1 < row->word_count; i += words) {
        bool has_address;
        Event events = wanted_events(word[i], &has_address, &words);
        for (isize k = 0; has_address && k < want->sends.len; k++) {
            const WantedSend *send = &want->sends.at[k];
            if (send->send.begin <= now && now < send->send.end && send->move != 0) {
                *vec_push(&s->schedule->patches, s->arena) = (RowPatch){i, send->move};
                row->patch_count++;
            }
        }
        now += events;
    }
}

static inline void serial_row(Serial *s, int32_t phase, int tile, const WantedRow *want)
{
    Schedule *schedule = s->schedule;
    Row row = {.phase = phase,
               .tile = {(uint16_t)tile},
               .word_first = (int32_t)schedule->words.len,
               .end = want->end,
               .move = serial_base(s, want)};
    RowScript script = {.controls = want->controls, .end = want->end};
    for (isize i = 0; i < want->sends.len; i++) {
        RowSend send = want->sends.at[i].send;
        int32_t bytes = (send.sctl & SCTL_WIDE) != 0 ? 8 : 4;
        send.address += (uint32_t)(move_least(s->problem, row.move) / bytes);
        *vec_push(&script.sends, s->arena) = send;
    }
    Event at = 0;
    RowWordVec words = {0};
    CHECK(row_encode(&script, &words, s->arena, &at)); /* no event has two controls */
    row.word_count = (int32_t)words.len;
    for (isize i = 0; i < words.len + words.len % 2; i++) {
        *vec_push(&schedule->words, s->arena) = i < words.len ? words.at[i] : 0;
    }
    serial_patches(s, &row, want);
    *vec_push(&schedule->rows, s->arena) = row;
    schedule->horizon[phase] = wanted_max(schedule->horizon[phase], row.end);
}

static inline void serial_rows(Serial *s, int32_t phase, Arena scratch)
{
    Error err = {0};
    WantedPhase wanted = {s->problem, s->schedule, phase,
                          arena_array(&scratch, WantedRow, CHIP_TILES), &err};
    CHECK_OK(wanted_add_messages(&wanted, &scratch), err);
    for (int tile = 0; tile < CHIP_TILES; tile++) {
        WantedRow *want = &wanted.rows[tile];
        if (want->sends.len + want->hearings.len > 0) {
            Arena rest = scratch;
            Arena temporary = arena_split(&rest, (rest.end - rest.at) / 2);
            wanted_controls(want, tile, true, &rest, temporary);
            serial_row(s, phase, tile, want);
        }
    }
}

static inline Schedule serial_solve(const ExchangeProblem *problem, ExchangeWidth width,
                                    uint64_t seed, Arena *arena, Arena scratch)
{
    Schedule schedule = {.horizon = arena_array(arena, Event, problem->phases.len),
                         .bounds = arena_array(arena, ExchangeBounds, problem->phases.len)};
    Serial serial = {problem, &schedule, arena, {seed, 0}, 0};
    for (int32_t p = 0; p < problem->phases.len; p++) {
        const ExchangePhase *phase = &problem->phases.at[p];
        serial.quiet = 0;
        for (int32_t i = 0; i < phase->transfer_count; i++) {
            serial_place(&serial, phase->transfer_first + i, width, scratch);
        }
    }
    for (int32_t p = 0; p < problem->phases.len; p++) {
        serial_rows(&serial, p, scratch);
    }
    return schedule;
}
