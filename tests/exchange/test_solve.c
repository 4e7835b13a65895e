/* Random phases are solved, pass exchange_check, and their rows decode to the schedule; the schedule is the same for any
 * number of threads. Formulas of single transfers: exchange.md 3.2. */
#include "problems.h"
#include "test.h"

static Arena keep, scratch, refused; /* tests allocate from copies of keep */

static void solve_and_check(const ExchangeProblem *problem, Arena *arena, Schedule *schedule)
{
    Error err = {0};
    CHECK_OK(
        exchange_solve(problem, &(ExchangeOptions){.threads = 1}, arena, scratch, schedule, &err),
        err);
    CHECK_OK(exchange_check(problem, schedule, 2, scratch, &err), err);
}

/* Half of the tiles have something to do behind every phase, taking part or not. */
static void add_later(ExchangeProblem *problem, uint64_t seed, Arena *arena)
{
    Dice dice = {seed ^ 0x1a7e4, 0};
    for (isize p = 0; p < problem->phases.len; p++) {
        ExchangePhase *phase = &problem->phases.at[p];
        phase->later_first = (int32_t)problem->later.len;
        for (int tile = 0; tile < CHIP_TILES; tile++) {
            int events = dice_below(&dice, 2) * (1 + dice_below(&dice, 1000));
            if (events > 0) {
                *vec_push(&problem->later, arena) = (ExchangeLater){{(uint16_t)tile}, events};
            }
        }
        phase->later_count = (int32_t)problem->later.len - phase->later_first;
    }
}

static void solves_random_phases(void)
{
    uint64_t seed = test_seed(1);
    int64_t phases = 0, messages = 0;
    for (uint64_t round = 0; round < 700; round++) {
        Arena arena = keep;
        int tiles = 2 + (int)random_below(seed, 8 * round, 63);
        ProblemShape shape = {.tiles = tiles,
                              .phases = 1 + (int)random_below(seed, 8 * round + 1, 3),
                              .transfers = 1 + (int)random_below(seed, 8 * round + 2, 64),
                              .receivers_max =
                                  1 + (int)random_below(seed, 8 * round + 3, (uint64_t)tiles),
                              .words_max = round % 5 == 0   ? 4148
                                           : round % 5 == 1 ? 3
                                                            : 300,
                              .is_spread = round % 2 == 0};
        ExchangeProblem problem = problem_random(seed + round, shape, &arena);
        Schedule schedule;
        if (round % 3 == 0) {
            add_later(&problem, seed + round, &arena);
        }
        solve_and_check(&problem, &arena, &schedule);
        phases += problem.phases.len;
        messages += problem.transfers.len;
    }
    CHECK(phases >= 1000);
    CHECK(messages >= 10000);
}

/* Few tiles, one-word messages and every element in common: the densest rows. */
static void solves_dense_phases(void)
{
    uint64_t seed = test_seed(2);
    for (uint64_t round = 0; round < 150; round++) {
        Arena arena = keep;
        ProblemShape shape = {.tiles = 2 + (int)(round % 5),
                              .phases = 1,
                              .transfers = 400,
                              .receivers_max = 3,
                              .words_max = 1 + (int)(round % 4),
                              .is_spread = round % 2 == 0};
        ExchangeProblem problem = problem_random(seed + round, shape, &arena);
        Schedule schedule;
        solve_and_check(&problem, &arena, &schedule);
    }
}

static void solves_the_whole_chip(void)
{
    Arena arena = keep;
    ProblemShape shape = {.tiles = CHIP_TILES,
                          .phases = 1,
                          .transfers = 8000,
                          .receivers_max = 24,
                          .words_max = 200,
                          .is_spread = true};
    ExchangeProblem problem = problem_random(test_seed(3), shape, &arena);
    Schedule schedule;
    solve_and_check(&problem, &arena, &schedule);
}

/* A lone transfer starts at max(0, -min T), and the rows end where exchange.md 3.2 says. */
static void solves_single_transfers(void)
{
    static const int pairs[][2] = {{0, 1286}, {736, 100}, {1286, 1471}, {32, 0},
                                   {0, 2},    {0, 3},     {0, 46},      {700, 701}};
    static const int times[] = {-23, 49, -14, 3, -31, -30, -69, -28}; /* exchange.md 2.5 */
    static const int latencies[] = {30, 110, 39, 56, 24, 25, 28, 59};
    for (int i = 0; i < 8; i++) {
        for (int words = 1; words <= 200; words++) {
            Arena arena = keep;
            ExchangeProblem problem = problem_single(pairs[i][0], &pairs[i][1], 1, words, &arena);
            Schedule schedule;
            solve_and_check(&problem, &arena, &schedule);
            int start = times[i] < 0 ? -times[i] : 0;
            CHECK_EQ_INT(schedule.messages.at[0].start, start);
            CHECK_EQ_INT(schedule.horizon[0], start + latencies[i] + words + 5);
            CHECK_EQ_INT(schedule.bounds[0].chosen.events, schedule.horizon[0]);
            CHECK_EQ_INT(schedule.rows.len, 2);
            int source = phys_of((Tile){(uint16_t)pairs[i][0]}).id;
            const Row *row = &schedule.rows.at[schedule.rows.at[0].tile.id == source ? 0 : 1];
            CHECK_EQ_INT(row->tile.id, source);
            CHECK_EQ_INT(row->end, start + words > 6 ? start + words : 6);
        }
    }
}

/* One sender and four receivers: whoever has most to do later is served first, wherever it stands in the list. */
static void serves_first_who_has_most_to_do(void)
{
    for (int busy = 0; busy < 4; busy++) {
        Arena arena = keep;
        ExchangeProblem problem = {.row_bytes_max = PROBLEM_ROW_BYTES,
                                   .row_range = {SRAM_BASE, PROBLEM_ROWS_END}};
        for (int i = 0; i < 4; i++) {
            *vec_push(&problem.transfers, &arena) =
                (ExchangeTransfer){.source = phys_of((Tile){10}),
                                   .address = 0x60000 + 1024 * (uint32_t)i,
                                   .words = 100,
                                   .receiver_first = i,
                                   .receiver_count = 1};
            *vec_push(&problem.receivers, &arena) =
                (ExchangeReceiver){phys_of((Tile){(uint16_t)(700 + i)}), 0x80000};
        }
        *vec_push(&problem.later, &arena) =
            (ExchangeLater){phys_of((Tile){(uint16_t)(700 + busy)}), 350};
        *vec_push(&problem.phases, &arena) = (ExchangePhase){.transfer_count = 4, .later_count = 1};
        Schedule schedule;
        solve_and_check(&problem, &arena, &schedule);
        for (int i = 0; i < 4; i++) {
            CHECK(schedule.messages.at[i].start >= schedule.messages.at[busy].start);
        }
        CHECK(schedule.horizon[0] <= schedule.bounds[0].chosen.events + 10);
    }
}

/* The multicast vector of exchange.md 3.3: source 0, one pointer at 0x50000, the other anywhere. */
static void reproduces_the_multicast(void)
{
    Arena arena = keep;
    static const int receivers[] = {274, 1286};
    ExchangeProblem problem = problem_single(0, receivers, 2, 3, &arena);
    problem.row_range = (AddrRange){SRAM_BASE, SRAM_BASE};
    problem.receivers.at[0].address = 0x50000;
    Schedule schedule;
    solve_and_check(&problem, &arena, &schedule);
    static const uint32_t sender[] = {0x40a00016, 0x78400003 + (0x60000 / 4 << 3), 0x43a00000};
    static const uint32_t receiver[] = {0x64000000, 0x64008640, 0x61814000, 0x40a00007, 0x43a00000};
    CHECK_EQ_INT(schedule.rows.len, 3);
    CHECK_EQ_INT(schedule.rows.at[0].word_count, 3);
    CHECK_EQ_INT(schedule.rows.at[1].word_count, 5);
    CHECK(memcmp(&schedule.words.at[schedule.rows.at[0].word_first], sender, sizeof sender) == 0);
    CHECK(memcmp(&schedule.words.at[schedule.rows.at[1].word_first], receiver, sizeof receiver) ==
          0);
}

/* Back-to-back messages need no gap (exchange.md 3.2): receivers and senders run at one word an event. */
static void reaches_the_bound(void)
{
    Arena arena = keep;
    ExchangeProblem problem = {.row_bytes_max = PROBLEM_ROW_BYTES,
                               .row_range = {SRAM_BASE, PROBLEM_ROWS_END}};
    for (int i = 0; i < 40; i++) {
        *vec_push(&problem.transfers, &arena) =
            (ExchangeTransfer){.source = phys_of((Tile){(uint16_t)(10 + i)}),
                               .address = 0x60000,
                               .words = (uint32_t)(20 + i),
                               .receiver_first = i,
                               .receiver_count = 1};
        *vec_push(&problem.receivers, &arena) =
            (ExchangeReceiver){phys_of((Tile){700}), 0x80000 + 1024 * (uint32_t)i};
    }
    *vec_push(&problem.phases, &arena) = (ExchangePhase){.transfer_count = 40};
    Schedule schedule;
    solve_and_check(&problem, &arena, &schedule);
    CHECK(schedule.horizon[0] <= schedule.bounds[0].chosen.events + 40);
    CHECK(schedule.bounds[0].chosen.events >=
          40 * 20 + 780 + 58 + 2 * phys_row(phys_of((Tile){700})));
}

static void is_the_same_for_any_thread_count(void)
{
    uint64_t seed = test_seed(4);
    for (uint64_t round = 0; round < 4; round++) {
        Arena arena = keep;
        ProblemShape shape = {.tiles = 160, /* rows are encoded in parallel */
                              .phases = 9,
                              .transfers = 700,
                              .receivers_max = 12,
                              .words_max = 150,
                              .is_spread = true};
        ExchangeProblem problem = problem_random(seed + round, shape, &arena);
        Schedule one, more;
        Error err = {0};
        CHECK_OK(
            exchange_solve(&problem, &(ExchangeOptions){.threads = 1}, &arena, scratch, &one, &err),
            err);
        CHECK_OK(exchange_solve(&problem, &(ExchangeOptions){.threads = round < 2 ? 2 : 5}, &arena,
                                scratch, &more, &err),
                 err);
        CHECK_EQ_INT(one.rows.len, more.rows.len);
        CHECK_EQ_INT(one.words.len, more.words.len);
        CHECK_EQ_INT(one.messages.len, more.messages.len);
        CHECK(memcmp(one.messages.at, more.messages.at,
                     (size_t)one.messages.len * sizeof(ExchangeMessage)) == 0);
        CHECK(memcmp(one.words.at, more.words.at, (size_t)one.words.len * sizeof(RowWord)) == 0);
        CHECK(memcmp(one.rows.at, more.rows.at, (size_t)one.rows.len * sizeof(Row)) == 0);
        CHECK_EQ_INT(one.patches.len, more.patches.len);
        CHECK(one.patches.len == 0 || memcmp(one.patches.at, more.patches.at,
                                             (size_t)one.patches.len * sizeof(RowPatch)) == 0);
        CHECK(memcmp(one.horizon, more.horizon, (size_t)problem.phases.len * sizeof(Event)) == 0);
    }
}

static void solves_nothing(void)
{
    Arena arena = keep;
    ExchangeProblem problem = {0};
    Schedule schedule;
    solve_and_check(&problem, &arena, &schedule);
    CHECK_EQ_INT(schedule.rows.len, 0);
    *vec_push(&problem.phases, &arena) = (ExchangePhase){0};
    solve_and_check(&problem, &arena, &schedule);
    CHECK_EQ_INT(schedule.horizon[0], 0);
}

/* One problem of two phases with something to break: tile 0 -> 100, 200; tile 100 -> 0. */
static ExchangeProblem small_problem(Arena *arena)
{
    static const int receivers[] = {100, 200};
    ExchangeProblem problem = problem_single(0, receivers, 2, 30, arena);
    problem.receivers.at[1].address = 0xa0000;
    *vec_push(&problem.receivers, arena) = (ExchangeReceiver){phys_of((Tile){0}), 0xb0000};
    *vec_push(&problem.transfers, arena) = (ExchangeTransfer){.source = phys_of((Tile){100}),
                                                              .address = 0x70000,
                                                              .words = 30,
                                                              .receiver_first = 2,
                                                              .receiver_count = 1};
    problem.phases.at[0].transfer_count = 2;
    return problem;
}

static void refuses(const ExchangeProblem *problem, ErrorCode code, const char *part)
{
    Arena arena = refused;
    Error err;
    Schedule schedule;
    CHECK_ERROR(
        exchange_solve(problem, &(ExchangeOptions){.threads = 1}, &arena, scratch, &schedule, &err),
        err, code, part);
}

static void refuses_bad_problems(void)
{
    Arena arena = keep;
    ExchangeProblem p = small_problem(&arena);
    p.receivers.at[2].tile = p.transfers.at[1].source;
    refuses(&p, ERROR_INPUT,
            "X13: transfer 1 from tile L100 (P260), 0x70000, 30 words: the only receiver is the "
            "sender");
    p = small_problem(&arena);
    p.receivers.at[1].tile =
        p.transfers.at[0].source; /* loopback into the element that is sent from */
    p.receivers.at[1].address = p.transfers.at[0].address + 4 * p.transfers.at[0].words;
    refuses(&p, ERROR_INPUT, "X9: transfer 0");
    p = small_problem(&arena);
    p.receivers.at[1].tile = p.receivers.at[0].tile;
    refuses(&p, ERROR_INPUT, "twice");
    p = small_problem(&arena);
    p.transfers.at[0].address += 2;
    refuses(&p, ERROR_INPUT, "whole words");
    p = small_problem(&arena);
    p.receivers.at[1].address += 2;
    refuses(&p, ERROR_INPUT, "whole words");
    p = small_problem(&arena);
    p.transfers.at[1].words = 4149;
    refuses(&p, ERROR_INPUT, "1..4148 words");
    p = small_problem(&arena);
    p.transfers.at[1].words = 0;
    refuses(&p, ERROR_INPUT, "1..4148 words");
    p = small_problem(&arena);
    p.receivers.at[2].address = SRAM_END - 4 * 29;
    refuses(&p, ERROR_INPUT, "not inside SRAM");
    p = small_problem(&arena);
    p.receivers.at[2].address = PROBLEM_ROWS_END - 4 * 30;
    refuses(&p, ERROR_INPUT, "X10");
    p = small_problem(&arena);
    p.row_range.end = SRAM_REGION1 + 4;
    refuses(&p, ERROR_INPUT, "X11");
}

/* Start of the second transfer less the completion of the first: its send end and its payload ends. */
static Event slack_behind_first(const ExchangeProblem *p, const Schedule *schedule)
{
    Event start = schedule->messages.at[0].start, words = (Event)p->transfers.at[0].words;
    Event done = start + words;
    for (int i = 0; i < p->transfers.at[0].receiver_count; i++) {
        Event latency = latency_of(p->transfers.at[0].source, p->receivers.at[i].tile);
        done = (Event)max_i64(done, start + words + latency);
    }
    return schedule->messages.at[1].start - done;
}

/* S6: a transfer that touches what an earlier one writes, or writes what it reads, waits for it. */
static void waits_for_dependencies(void)
{
    Arena arena = keep;
    ExchangeProblem p = small_problem(&arena);
    Schedule schedule;
    p.receivers.at[0].address = 0x70000 + 4 * 29; /* tile 100 sends the last word on */
    solve_and_check(&p, &arena, &schedule);
    CHECK(slack_behind_first(&p, &schedule) >= 0);
    p.receivers.at[0].address = 0x90000;
    p.receivers.at[2].address = 0x60000 - 4 * 29; /* tile 0 overwrites its own first word */
    solve_and_check(&p, &arena, &schedule);
    CHECK(slack_behind_first(&p, &schedule) >= 0);
    p.receivers.at[2].address = 0x90000; /* nothing in common */
    solve_and_check(&p, &arena, &schedule);
    CHECK(slack_behind_first(&p, &schedule) < 0);
}

/* Equal rows of one tile are stored once, whatever phase they belong to; those of a phase that differs are not. */
static void shares_equal_rows(void)
{
    Arena arena = keep;
    ExchangeProblem p = small_problem(&arena);
    isize count = p.transfers.len;
    Schedule once, twice;
    solve_and_check(&p, &arena, &once);
    for (int32_t phase = 1; phase < 3; phase++) {
        p.phases.at[0].transfer_count = (int32_t)count;
        *vec_push(&p.phases, &arena) = p.phases.at[0];
        p.phases.at[phase].transfer_first = (int32_t)p.transfers.len;
        for (isize i = 0; i < count; i++) {
            *vec_push(&p.transfers, &arena) = p.transfers.at[i];
        }
    }
    p.transfers.at[2 * count].address += 8; /* third phase: one sender differs */
    solve_and_check(&p, &arena, &twice);
    isize rows = once.rows.len;
    CHECK_EQ_INT(twice.rows.len, 3 * rows);
    int different = 0;
    for (isize i = 0; i < rows; i++) {
        const Row *row = &twice.rows.at[i];
        CHECK_EQ_INT(twice.rows.at[rows + i].word_first, row->word_first);
        different += twice.rows.at[2 * rows + i].word_first != row->word_first;
    }
    CHECK_EQ_INT(different, 1);
    CHECK_EQ_INT(twice.words.len, once.words.len + align_up(twice.rows.at[2 * rows].word_count, 2));
    p.row_bytes_max = 8; /* the message counts what is shared once */
    refuses(&p, ERROR_NO, "S10: exchange rows need");
}

/* Tiles send with two moves, one of which is patched, while they receive: sends that are cut by two controls at once carry an
 * address of their own, which is one patched word more. */
static ExchangeProblem patched_problem(int seed, Arena *arena)
{
    ExchangeProblem problem;
    Error err = {0};
    Str text =
        str_format(arena,
                   "exchange row_bytes_max=98304 row_range=0x4c000..0x64000\n"
                   "move 1 first=0 step=1024 count=4\nmove 2 first=0 step=2048 count=4\n"
                   "phase iterations=4\n"
                   "for s < 12 for k < 24: transfer source=L(7 * s) address=0x64000 + 128 * k "
                   "words=1 + draw(30, %d, k, s) move=k %% 2 + 1 "
                   "to=L(7 * ((s + 1 + draw(11, %d, s, k)) %% 12))@0x80000 + 512 * (24 * s + k)\n",
                   seed, seed);
    CHECK_OK(exchange_parse(text, arena, &problem, &err), err);
    return problem;
}

/* Horizon, and 54 cycles for every patched word of the tile with most (compiler-design.md 10). */
static int price(const ExchangeProblem *problem, bool is_compact, Arena arena)
{
    Schedule schedule;
    Error err = {0};
    CHECK_OK(exchange_solve(problem, &(ExchangeOptions){.threads = 1, .is_compact = is_compact},
                            &arena, scratch, &schedule, &err),
             err);
    CHECK_OK(exchange_check(problem, &schedule, 1, scratch, &err), err);
    int patches = 0;
    for (isize i = 0; i < schedule.rows.len; i++) {
        int count = schedule.rows.at[i].patch_count;
        patches = count > patches ? count : patches;
    }
    CHECK(patches > 0);
    return schedule.horizon[0] + 54 * patches;
}

/* Compact rows have few patched words. A solver that looked at horizons only would cost more than they do in a quarter of the
 * cases. */
static void prices_patches(void)
{
    enum { SEEDS = 48 };
    int dearer = 0;
    for (int seed = 0; seed < SEEDS; seed++) {
        Arena arena = keep;
        ExchangeProblem p = patched_problem(seed, &arena);
        dearer += price(&p, false, arena) > price(&p, true, arena);
    }
    CHECK(dearer <= SEEDS / 8);
}

/* The partner of a paired sender lends its lane, but has no row: what it does later counts from the begin of the phase and makes
 * no schedule better than another. 1,600 words in pairs take 800 events and some travel. */
static void does_not_wait_for_lent_tiles(void)
{
    Arena arena = keep;
    ExchangeProblem problem;
    Schedule schedule;
    Error err = {0};
    CHECK_OK(exchange_parse(S("exchange row_bytes_max=98304 row_range=0x4c000..0x64000\nphase\n"
                              "later events=1000 tiles=0,100,102\n"
                              "transfer source=0 address=0x80000 words=1600 "
                              "to=100@0x90000,102@0x90000\n"),
                            &arena, &problem, &err),
             err);
    CHECK_OK(exchange_solve(&problem, &(ExchangeOptions){.threads = 1}, &arena, scratch, &schedule,
                            &err),
             err);
    CHECK(schedule.horizon[0] < 900);
}

static void refuses_rows_over_budget(void)
{
    Arena arena = keep;
    ExchangeProblem p = small_problem(&arena);
    p.phases.at[0].transfer_count = 1;
    *vec_push(&p.phases, &arena) = (ExchangePhase){.transfer_first = 1, .transfer_count = 1};
    /* Rows of tile 0: delay, send, return (16 bytes); XPIC, neutral, pointer, delay, return (24 bytes). */
    p.row_bytes_max = 40;
    Schedule schedule;
    solve_and_check(&p, &arena, &schedule);
    p.row_bytes_max = 32;
    refuses(&p, ERROR_NO, "over by 8 bytes on tile L");
}

static void round_trips_text(void)
{
    uint64_t seed = test_seed(5);
    for (uint64_t round = 0; round < 50; round++) {
        Arena arena = keep;
        ProblemShape shape = {.tiles = 30,
                              .phases = 3,
                              .transfers = 20,
                              .receivers_max = 8,
                              .words_max = 100,
                              .is_spread = true};
        ExchangeProblem problem = problem_random(seed + round, shape, &arena), back;
        Schedule schedule;
        solve_and_check(&problem, &arena, &schedule);
        Writer first = writer_buffer(&arena);
        exchange_print(&first, &problem, NULL);
        Error err = {0};
        CHECK_OK(exchange_parse(writer_text(&first), &arena, &back, &err), err);
        Writer second = writer_buffer(&arena), full = writer_buffer(&arena);
        exchange_print(&second, &back, NULL);
        CHECK_STR(writer_text(&second), writer_text(&first));
        CHECK_EQ_INT(back.transfers.len, problem.transfers.len);
        exchange_print(&full, &problem, &schedule);
        CHECK_OK(exchange_parse(writer_text(&full), &arena, &back, &err), err);
        second = writer_buffer(&arena);
        exchange_print(&second, &back, NULL);
        CHECK_STR(writer_text(&second), writer_text(&first));
    }
}

static void refuses_bad_text(void)
{
    static const struct {
        const char *text, *part, *where;
    } cases[] = {
        {"", "exchange", "line 1"},
        {"phase transfers=0\n", "exchange", "line 1"},
        {"exchange row_bytes_max=1 row_range=1\n", "row_range", "line 1"},
        {"exchange row_bytes_max=x row_range=1..2\n", "row_bytes_max", "line 1"},
        {"exchange row_bytes_max=1 row_range=0..0\ntransfer source=1\n", "phase line", "line 2"},
        {"exchange row_bytes_max=1 row_range=0..0\nphase transfers=1\n", "as many", "line 2"},
        {"exchange row_bytes_max=1 row_range=0..0\nphase transfers=1\ntransfer source=1472",
         "source", "line 3"},
        {"exchange row_bytes_max=1 row_range=0..0\nphase transfers=1\ntransfer source=1 address=0 "
         "words=1 to=5\n",
         "address", "line 3"},
        {"exchange row_bytes_max=1 row_range=0..0\nnonsense\n", "later, transfer or row", "line 2"},
        {"exchange row_bytes_max=1 row_range=0..0\nlater events=1 tiles=0\n", "phase line",
         "line 2"},
        {"exchange row_bytes_max=1 row_range=0..0\nphase\nlater events=0 tiles=0\n", "events",
         "line 3"},
        {"exchange row_bytes_max=1 row_range=0..0\nphase\nlater events=5 tiles=0,1472\n", "tile",
         "line 3"},
        {"exchange row_bytes_max=1 row_range=0..0\nphase\nlater events=5 tiles=0,7\n"
         "later events=6 tiles=7\n",
         "tile 7 twice", "line 4"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Arena arena = keep;
        ExchangeProblem problem;
        Error err;
        CHECK_ERROR(exchange_parse(str_of(cases[i].text), &arena, &problem, &err), err, ERROR_INPUT,
                    cases[i].part);
        CHECK_CSTR(err.where, cases[i].where);
    }
}

static void setup(void)
{
    keep = arena_create((isize)1 << 31);
    refused = arena_create((isize)1 << 26);
    scratch = arena_create((isize)1 << 35); /* several workers (WORKER_BYTES of solve.c) */
}

TEST_MAIN(setup, solves_nothing, solves_single_transfers, reproduces_the_multicast,
          serves_first_who_has_most_to_do, reaches_the_bound, solves_random_phases,
          solves_dense_phases, solves_the_whole_chip, is_the_same_for_any_thread_count,
          refuses_bad_problems, waits_for_dependencies, shares_equal_rows, prices_patches,
          does_not_wait_for_lent_tiles, refuses_rows_over_budget, round_trips_text,
          refuses_bad_text)
