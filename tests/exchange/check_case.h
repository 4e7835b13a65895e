/* Legal schedules for tests of exchange_check, with starts chosen by hand and rows that follow from them as in wanted_rows.h,
 * and the two verdicts about them. */
#pragma once
#include "problems.h"
#include "test.h"
#include "wanted_rows.h"

static Arena keep, scratch;

enum {
    FROM = 0x60000,
    TO = 0x90000,
    BASE_ZERO = 0x43f080a7,
    BASE_MOVING = 0x436080a7,
    BASE_INCOMING = 0x438080a4,
    SET_INCOMING = 0x19800000,
};

typedef struct Case {
    Arena arena;
    ExchangeProblem problem;
    Schedule schedule;
    RowBaseVec bases; /* for every row that is made next */
    int32_t row_move; /* of the row that has them */
    int base_tile;
} Case;

static inline PhysTile phys(int logical)
{
    return phys_of((Tile){(uint16_t)logical});
}

static inline Case new_case(int iterations)
{
    Case c = {.arena = keep, .base_tile = -1};
    c.problem = (ExchangeProblem){.row_bytes_max = PROBLEM_ROW_BYTES,
                                  .row_range = {SRAM_BASE, PROBLEM_ROWS_END}};
    *vec_push(&c.problem.phases, &c.arena) = (ExchangePhase){.iterations = iterations};
    *vec_push(&c.problem.moves, &c.arena) = (ExchangeMove){0};
    return c;
}

static inline void next_phase(Case *c)
{
    *vec_push(&c->problem.phases, &c->arena) =
        (ExchangePhase){.transfer_first = (int32_t)c->problem.transfers.len};
}

/* A transfer that is one message; to() adds its receivers. */
static inline ExchangeMessage *send(Case *c, int source, uint32_t address, int words, Event start)
{
    *vec_push(&c->problem.transfers, &c->arena) =
        (ExchangeTransfer){.source = phys(source),
                           .address = address,
                           .words = (uint32_t)words,
                           .receiver_first = (int32_t)c->problem.receivers.len};
    c->problem.phases.at[c->problem.phases.len - 1].transfer_count++;
    ExchangeMessage *message = vec_push(&c->schedule.messages, &c->arena);
    *message = (ExchangeMessage){.transfer = (int32_t)c->problem.transfers.len - 1,
                                 .words = (uint32_t)words,
                                 .start = start};
    return message;
}

static inline void to(Case *c, int tile, uint32_t address)
{
    *vec_push(&c->problem.receivers, &c->arena) = (ExchangeReceiver){phys(tile), address};
    c->problem.transfers.at[c->problem.transfers.len - 1].receiver_count++;
}

static inline void plain(Case *c, int source, uint32_t address, int words, Event start, int tile,
                         uint32_t at)
{
    (void)send(c, source, address, words, start);
    to(c, tile, at);
}

/* 64-bit items to both members of the pair of `tile`. */
static inline void paired(Case *c, int source, uint32_t address, int words, Event start, int tile,
                          uint32_t at)
{
    send(c, source, address, words, start)->is_paired = true;
    to(c, tile, at);
    to(c, tile ^ 1, at);
}

static inline int32_t move(Case *c, const int32_t *offsets, int count)
{
    *vec_push(&c->problem.moves, &c->arena) =
        (ExchangeMove){(int32_t)c->problem.offsets.len, count};
    for (int i = 0; i < count; i++) {
        *vec_push(&c->problem.offsets, &c->arena) = offsets[i];
    }
    return (int32_t)c->problem.moves.len - 1;
}

/* The row of a tile from what it must do. */
static inline void make_row(Case *c, int32_t phase, int tile, WantedRow *want)
{
    RowScript script = {.controls = want->controls, .end = want->end};
    Row row = {.phase = phase, .tile = {(uint16_t)tile}};
    if (tile == c->base_tile) {
        script.bases = c->bases;
        row.move = c->row_move;
    }
    for (isize i = 0; i < script.bases.len; i++) {
        Event base_end = script.bases.at[i].event + (script.bases.at[i].sets_incoming ? 27 : 13);
        script.end = want->end = wanted_max(want->end, base_end);
    }
    for (isize i = 0; i < want->sends.len; i++) {
        RowSend out = want->sends.at[i].send;
        bool is_relative = row.move != 0 && want->sends.at[i].move == row.move;
        if (is_relative) {
            int bytes = (out.sctl & SCTL_WIDE) != 0 ? 8 : 4;
            out.address += (uint32_t)(move_least(&c->problem, row.move) / bytes);
        }
        *vec_push(&script.sends, &c->arena) = out;
    }
    RowWordVec words = {0};
    Event at;
    CHECK(row_encode(&script, &words, &c->arena, &at));
    if (c->schedule.words.len % 2 != 0) {
        *vec_push(&c->schedule.words, &c->arena) = 0;
    }
    row.word_first = (int32_t)c->schedule.words.len;
    row.word_count = (int32_t)words.len;
    row.end = want->end;
    row.patch_first = (int32_t)c->schedule.patches.len;
    for (isize i = 0; i < words.len; i++) {
        *vec_push(&c->schedule.words, &c->arena) = words.at[i];
    }
    /* Patches: words that hold the address of a send that moves on its own. */
    Event now = 0;
    for (int i = 0; i < row.word_count;) {
        bool has_address;
        int count;
        Event events = wanted_events(words.at[i], &has_address, &count);
        for (isize k = 0; has_address && k < want->sends.len; k++) {
            const WantedSend *s = &want->sends.at[k];
            if (s->send.begin <= now && now < s->send.end && s->move != 0 && s->move != row.move) {
                *vec_push(&c->schedule.patches, &c->arena) = (RowPatch){i, s->move};
                row.patch_count++;
            }
        }
        now += events;
        i += count;
    }
    *vec_push(&c->schedule.rows, &c->arena) = row;
}

/* Rows, horizons and bounds of a case with messages. */
static inline void make_rows(Case *c)
{
    isize count = c->problem.phases.len;
    c->schedule.rows.len = c->schedule.words.len = c->schedule.patches.len = 0;
    c->schedule.horizon = arena_array(&c->arena, Event, count);
    c->schedule.bounds = arena_array(&c->arena, ExchangeBounds, count);
    for (int32_t i = 0; i < count; i++) {
        Error err = {0};
        WantedPhase wanted = {&c->problem, &c->schedule, i,
                              arena_array(&c->arena, WantedRow, CHIP_TILES), &err};
        CHECK_OK(wanted_add_messages(&wanted, &c->arena), err);
        for (int tile = 0; tile < CHIP_TILES; tile++) {
            WantedRow *want = &wanted.rows[tile];
            if (want->sends.len + want->hearings.len > 0) {
                wanted_controls(want, tile, true, &c->arena, scratch);
                make_row(c, i, tile, want);
                c->schedule.horizon[i] = wanted_max(c->schedule.horizon[i], want->end);
            }
        }
    }
}

static inline void must_hold(const Case *c)
{
    for (int threads = 1; threads <= 3; threads++) {
        Error err = {0};
        CHECK_OK(exchange_check(&c->problem, &c->schedule, threads, scratch, &err), err);
    }
}

static inline void make_legal(Case *c)
{
    make_rows(c);
    must_hold(c);
}

/* Refused under this rule, with the same words by any number of threads. */
static inline void must_break(const Case *c, const char *rule)
{
    Error first = {0};
    CHECK(!exchange_check(&c->problem, &c->schedule, 1, scratch, &first));
    CHECK_EQ_INT(first.code, ERROR_NO);
    Str text = str_of(first.message);
    fprintf(stderr, "%s\n", first.message);
    CHECK_STR(str_cut(&text, ':'), str_of(rule));
    for (int threads = 2; threads <= 4; threads++) {
        Error err = {0};
        CHECK(!exchange_check(&c->problem, &c->schedule, threads, scratch, &err));
        CHECK_CSTR(err.message, first.message);
    }
}

static inline ExchangeMessage *message(Case *c, int index)
{
    return &c->schedule.messages.at[index];
}

static inline Row *row_of(Case *c, int logical)
{
    for (isize i = 0; i < c->schedule.rows.len; i++) {
        if (c->schedule.rows.at[i].tile.id == phys(logical).id) {
            return &c->schedule.rows.at[i];
        }
    }
    bool is_found = false;
    CHECK(is_found);
    return NULL;
}

/* The word of a row with word & mask == match, counted from 0. */
static inline uint32_t *find_word(Case *c, int logical, uint32_t mask, uint32_t match, int which)
{
    Row *row = row_of(c, logical);
    for (int i = 0; i < row->word_count; i++) {
        uint32_t *word = &c->schedule.words.at[row->word_first + i];
        if ((*word & mask) == match && which-- == 0) {
            return word;
        }
    }
    bool is_found = false;
    CHECK(is_found);
    return NULL;
}

static inline uint32_t *first_send(Case *c, int logical)
{
    return find_word(c, logical, 0xf8000000, 0x78000000, 0);
}

/* L0 -> L100 twice, L50 -> L100, L100 -> L0, and L60 -> L300 for rows with nothing else. Windows of L100 far apart; sources and
 * destinations of a tile in different groups. */
static inline Case ordinary_case(void)
{
    Case c = new_case(0);
    plain(&c, 0, FROM, 40, 100, 100, TO);
    plain(&c, 0, FROM + 0x1000, 40, 200, 100, TO + 0x1000);
    plain(&c, 50, FROM + 0x2000, 30, 320, 100, TO + 0x2000);
    plain(&c, 100, FROM + 0x3000, 50, 100, 0, 0xa0000);
    plain(&c, 60, FROM + 0x4000, 20, 100, 300, 0xa0000);
    make_legal(&c);
    return c;
}

/* Two messages of the kind of `is_paired` and the other one to L2, back to back with `gap` events. */
static inline Case mixed_case(bool is_paired_first, Event gap)
{
    Case c = new_case(0);
    PhysTile to_tile = phys(2);
    Event early = time_to_mux(phys(0), to_tile), plain_time = time_to_mux(phys(100), to_tile);
    Event src = 200; /* of the first window, 20 items */
    if (is_paired_first) {
        paired(&c, 0, FROM, 40, src - early - 1, 2, TO);
        plain(&c, 100, FROM, 20, src + 20 + gap - plain_time - 1, 2, TO + 0x1000);
    } else {
        plain(&c, 100, FROM, 20, src - plain_time - 1, 2, TO + 0x1000);
        paired(&c, 0, FROM, 40, src + 20 + gap - early - 1, 2, TO);
    }
    return c;
}

/* L0 sends four times: moving, fixed, moving, moving by something else; the base is m6 between 150 and 200 not, and 0 behind
 * 340. L0 hears L100 meanwhile. */
static inline Case moving_case(void)
{
    Case c = new_case(3);
    int32_t block = move(&c, (int32_t[]){-0x40, 0, 0x40}, 3);
    int32_t other = move(&c, (int32_t[]){0, 8, 0x1000}, 3);
    int32_t same = move(&c, (int32_t[]){-0x40, 0, 0x40}, 3);
    plain(&c, 0, FROM, 100, 40, 100, TO);
    plain(&c, 0, FROM + 0x1000, 10, 180, 100, TO + 0x1000);
    plain(&c, 0, FROM + 0x2000, 10, 300, 100, TO + 0x2000);
    plain(&c, 0, FROM + 0x3000, 100, 400, 100, TO + 0x3000);
    plain(&c, 100, FROM, 10, 600, 0, TO);
    c.problem.transfers.at[0].move = block;
    c.problem.transfers.at[2].move = block;
    c.problem.transfers.at[3].move = other;
    c.base_tile = phys(0).id;
    c.row_move = block;
    *vec_push(&c.bases, &c.arena) = (RowBase){.event = 150};
    *vec_push(&c.bases, &c.arena) = (RowBase){.event = 200, .is_moving = true};
    *vec_push(&c.bases, &c.arena) = (RowBase){.event = 340};
    make_legal(&c);
    row_of(&c, 0)->move = same; /* equal offsets are one move */
    must_hold(&c);
    return c;
}

static inline void case_setup(void)
{
    keep = arena_create((isize)1 << 30);
    scratch = arena_create((isize)1 << 32);
}
