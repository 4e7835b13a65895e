/* Every rule that exchange_check knows (docs/exchange-rules.md): a legal schedule is broken in one place and must be refused
 * under the rule's name. Here: lanes, windows, words, and that no record of a schedule can hurt.
 *
 * S3 for two messages of one width cannot be planted alone: it follows from S2.
 */
#include "check_case.h"

/* --- lanes and windows: X1..X6 -------------------------------------------------------------------------------------------- */

static void breaks_x1(void)
{
    Case c = ordinary_case();
    message(&c, 1)->start = message(&c, 0)->start + 39;
    must_break(&c, "X1/S1");
    c = ordinary_case();
    *first_send(&c, 60) -= 1 << 21; /* one item less */
    must_break(&c, "X1/S1");
    c = ordinary_case();
    Row *row = row_of(&c, 60); /* no send at all */
    c.schedule.words.at[row->word_first] += 20;
    for (int i = 1; i < row->word_count - 1; i++) {
        c.schedule.words.at[row->word_first + i] = 0x43a00000;
    }
    row->word_count = 2;
    must_break(&c, "X1/S1");
}

static void breaks_x2(void)
{
    Case c = ordinary_case();
    Event src = message(&c, 0)->start + time_to_mux(phys(0), phys(100));
    message(&c, 2)->start = src + 39 - time_to_mux(phys(50), phys(100));
    must_break(&c, "X2/S2");
    c = ordinary_case();
    *find_word(&c, 300, 0xfc001fff, 0x64000000 | phys(60).id, 0) ^= 1; /* listens to another tile */
    must_break(&c, "X2/S2");
}

static void breaks_s2(void)
{
    Case c = ordinary_case(); /* the mux of L100 would be set at event 0 */
    message(&c, 0)->start = -time_to_mux(phys(0), phys(100)) - 1;
    must_break(&c, "S2");
    c = ordinary_case();
    message(&c, 0)->start = -1;
    must_break(&c, "S2");
    c = ordinary_case();
    message(&c, 0)->start = INT32_MAX;
    must_break(&c, "S2");
}

static void breaks_x3(void)
{
    Case c = ordinary_case();
    *find_word(&c, 300, 0xfc000000, 0x60000000, 0) ^= 1; /* pointer one word further */
    must_break(&c, "X3/S3");
    c = ordinary_case();
    *find_word(&c, 300, 0xfc000000, 0x60000000, 0) += 1 << 19; /* one event later */
    must_break(&c, "X3/S3");
    /* A pointer that has arrived by itself is not written again; it is where the next one jumps. */
    c = new_case(0);
    plain(&c, 0, FROM, 8, 100, 100, TO);
    plain(&c, 0, FROM + 0x1000, 8, 200, 100, TO + 32);
    make_legal(&c);
    c.problem.receivers.at[1].address += 4;
    must_break(&c, "X3/S3");
}

static void breaks_x4(void)
{
    for (int first = 0; first < 2; first++) {
        Case c = mixed_case(first == 1, 1);
        make_legal(&c);
        message(&c, 1)->start--;
        must_break(&c, "X4/S3");
    }
    Case c = mixed_case(true, 100);
    make_legal(&c);
    *find_word(&c, 3, 0xfc040003, 0x60040001, 0) ^= 3; /* format of the other direction */
    must_break(&c, "X4/S3");
    c = mixed_case(true, 100);
    make_legal(&c);
    *find_word(&c, 3, 0xfc07ffff, 0x60040000, 0) |= 1; /* never off */
    must_break(&c, "X4/S3");
    c = mixed_case(true, 100);
    make_legal(&c);
    *first_send(&c, 0) &= ~4u; /* 32-bit items */
    must_break(&c, "X4");
    c = mixed_case(true, 100);
    make_legal(&c);
    *find_word(&c, 3, 0xfc07ffff, 0x60040000, 0) |= 3; /* no such format */
    must_break(&c, "X4");
}

static void breaks_x5(void)
{
    /* Two items: format off meets the pointer. A row of 1 has the other two cases at 53 and 55 items (exchange.md 5). */
    static const int items[] = {2, 53, 55};
    for (int i = 0; i < 3; i++) {
        Case c = new_case(0);
        paired(&c, 0, FROM, 2 * items[i] + 2, 40, 2, TO);
        make_legal(&c);
        c.problem.transfers.at[0].words -= 2;
        message(&c, 0)->words -= 2;
        must_break(&c, "X5/S4");
    }
    /* The words say it: a format beside a source. */
    Case c = new_case(0);
    plain(&c, 1286, FROM, 52, 100, 0, TO); /* into a row-0 tile: neutral and pointer meet */
    make_legal(&c);
    *find_word(&c, 0, 0xf0000000, 0xf0000000, 0) |= 0x08000000;
    must_break(&c, "X5");
}

static void breaks_x6(void)
{
    Event src = 100 + time_to_mux(phys(100), phys(0)) + 1; /* L0 begins to listen to L100 */
    for (Event start = src - 2; start <= src + 1; start++) {
        Case c = ordinary_case();
        message(&c, 0)->start = start;
        message(&c, 1)->start = start + 100;
        message(&c, 2)->start += 500;
        if (start == src || start == src - 1) {
            must_break(&c, "X6/S5");
        } else {
            make_legal(&c);
        }
    }
}

/* --- words: X7, X8, X16, X21, S10 ----------------------------------------------------------------------------------------- */

static void breaks_x7(void)
{
    Case c = ordinary_case();
    *find_word(&c, 300, 0xfc001fff, 0x64000640, 0) ^= 0x640 ^ 5; /* the neutral listens to tile 5 */
    must_break(&c, "X7/S2");
    c = ordinary_case(); /* no neutral: a delay in its place */
    uint32_t *neutral = find_word(&c, 300, 0xfc001fff, 0x64000640, 0);
    *neutral = 0x40a00000 | (*neutral >> 14 & 0xfff);
    must_break(&c, "X7/S2");
    c = mixed_case(true, 100);
    make_legal(&c);
    neutral = find_word(&c, 2, 0xfc003fff, 0x64002640, 0); /* of the pair's mux */
    *neutral = 0x40a00000 | (*neutral >> 14 & 0xfff);
    must_break(&c, "X7/S2");
}

static void breaks_x8(void)
{
    Case c = ordinary_case();
    *first_send(&c, 60) ^= 3;
    must_break(&c, "X8");
    c = new_case(0); /* both directions for two receivers */
    (void)send(&c, 0, FROM, 10, 100);
    to(&c, 100, TO);
    to(&c, 300, TO);
    make_legal(&c);
    CHECK_EQ_INT(*first_send(&c, 0) & 7, 3);
    *first_send(&c, 0) &= ~2u;
    must_break(&c, "X8");
    c = new_case(0); /* own pair: both, though there is one pair */
    paired(&c, 0, FROM, 40, 100, 0, TO);
    make_legal(&c);
    CHECK_EQ_INT(*first_send(&c, 0) & 7, 7);
    *first_send(&c, 0) ^= 2;
    must_break(&c, "X8");
    c = new_case(0); /* no direction at all */
    paired(&c, 0, FROM, 40, 100, 2, TO);
    make_legal(&c);
    CHECK_EQ_INT(*first_send(&c, 0) & 7, 5);
    *first_send(&c, 0) &= ~3u;
    must_break(&c, "X8");
}

static void breaks_x16(void)
{
    Case c = ordinary_case();
    row_of(&c, 0)->word_first++;
    must_break(&c, "X16");
    c = new_case(0); /* neutral and pointer at one event: a sendpicp */
    plain(&c, 1286, FROM, 52, 100, 0, TO);
    make_legal(&c);
    Row *row = row_of(&c, 0);
    uint32_t *word = find_word(&c, 0, 0xf0000000, 0xf0000000, 0);
    isize at = word - &c.schedule.words.at[row->word_first];
    CHECK_EQ_INT(at % 2, 0);
    CHECK(at > 0);
    uint32_t before = word[-1]; /* swap with the word in front */
    word[-1] = word[0];
    word[0] = word[1];
    word[1] = before;
    must_break(&c, "X16");
}

static void breaks_x21(void)
{
    Case c = ordinary_case(); /* `put INCOMING_MUX, m15` in place of the first delay */
    *find_word(&c, 60, 0xfff80000, 0x40a00000, 0) = 0x43f080a0;
    must_break(&c, "X21");
}

static void breaks_s10(void)
{
    Case c = ordinary_case();
    Row *row = row_of(&c, 0);
    c.schedule.words.at[row->word_first + row->word_count - 1] = 0x41800003; /* sync 3 */
    must_break(&c, "S10");
    c = ordinary_case();
    row = row_of(&c, 300);
    uint32_t *pad = &c.schedule.words.at[row->word_first + row->word_count - 2];
    CHECK_EQ_INT(*pad & 0xfff80000, 0x40a00000);
    *pad -= 1;
    row->end -= 1; /* payload end + 4 */
    must_break(&c, "S10");
    *pad += 1;
    must_break(&c, "S10"); /* the row's end is not that of its words */
    row->end += 1;
    must_hold(&c);
    *pad += 1;
    must_break(&c, "S10");
    row->end += 1; /* longer than it need be */
    c.schedule.horizon[0] = row->end > c.schedule.horizon[0] ? row->end : c.schedule.horizon[0];
    must_hold(&c);
    c = ordinary_case();
    c.schedule.rows.len--;
    must_break(&c, "S10");
    c = ordinary_case();
    *vec_push(&c.schedule.rows, &c.arena) = c.schedule.rows.at[0];
    must_break(&c, "S10");
    c = ordinary_case();
    row_of(&c, 60)->tile = phys(61); /* which neither sends nor receives */
    must_break(&c, "S10");
    c = ordinary_case();
    c.schedule.horizon[0]--;
    must_break(&c, "S10");
    c = ordinary_case();
    c.schedule.bounds[0].chosen.events = c.schedule.horizon[0] + 1;
    must_break(&c, "S10");
    c = ordinary_case();
    c.problem.row_bytes_max = (uint32_t)align_up(4 * row_of(&c, 100)->word_count, 8) - 1;
    must_break(&c, "S10");
    /* A sender's row lasts 6 events. */
    c = new_case(0);
    plain(&c, 100, FROM, 1, 0, 101, TO);
    c.schedule.messages.at[0].start = -time_to_mux(phys(100), phys(101));
    make_legal(&c);
}

/* --- what is legal: exchange.md 3.3, 5 and cut transfers ---------------------------------------------------------------------- */

static void accepts_paired_examples(void)
{
    Case c = new_case(0); /* L0 -> {L2, L3}, 64 items */
    paired(&c, 0, FROM, 128, 31, 2, TO);
    make_legal(&c);
    CHECK_EQ_INT(row_of(&c, 2)->end, 125);
    c = new_case(0); /* L0 -> {L0, L1}, 256 items */
    paired(&c, 0, FROM, 512, 29, 0, TO);
    make_legal(&c);
    CHECK_EQ_INT(c.schedule.horizon[0], 315);
    /* Contiguous messages hold the format, and the mux when it is the same source. */
    c = new_case(0);
    paired(&c, 0, FROM, 40, 100, 2, TO);
    paired(&c, 0, FROM + 0x1000, 40, 120, 2, TO + 0x1000);
    Event src = 140 + time_to_mux(phys(0), phys(2)) + 1;
    Event first = time_to_mux(phys(100), phys(2)), second = time_to_mux(phys(100), phys(3));
    paired(&c, 100, FROM, 40, src - (first < second ? first : second) - 1, 2, TO + 0x2000);
    make_legal(&c);
}

/* Loopback: the tile's own source at its own start + 1 + T, with a remote receiver. */
static void accepts_loopback(void)
{
    Case c = new_case(0);
    (void)send(&c, 0, FROM, 20, 100);
    to(&c, 0, TO);
    to(&c, 100, TO);
    make_legal(&c);
    /* T(s, s) = -29: the neutral of 28 words meets the message's own start; cut in two it is legal. */
    c = new_case(0);
    (void)send(&c, 0, FROM, 28, 100);
    to(&c, 0, TO);
    to(&c, 100, TO);
    c.schedule.horizon = arena_array(&c.arena, Event, 1);
    c.schedule.bounds = arena_array(&c.arena, ExchangeBounds, 1);
    must_break(&c, "X6/S5");
    message(&c, 0)->words = 20;
    *vec_push(&c.schedule.messages, &c.arena) =
        (ExchangeMessage){.word_first = 20, .words = 8, .start = 140};
    make_legal(&c);
}

/* A transfer in three messages, in any order of time; and messages that do not tile it. */
static void tiles_transfers(void)
{
    Case c = new_case(0);
    plain(&c, 0, FROM, 40, 300, 100, TO);
    message(&c, 0)->words = 10;
    *vec_push(&c.schedule.messages, &c.arena) =
        (ExchangeMessage){.word_first = 10, .words = 10, .start = 100};
    *vec_push(&c.schedule.messages, &c.arena) =
        (ExchangeMessage){.word_first = 20, .words = 20, .start = 110};
    make_legal(&c);
    Case broken = c;
    message(&c, 1)->word_first = 11; /* a hole */
    must_break(&c, "S1");
    message(&c, 1)->word_first = 9; /* a word twice */
    must_break(&c, "S1");
    message(&c, 1)->word_first = 10;
    message(&c, 2)->words = 19; /* not to the end */
    must_break(&c, "S1");
    message(&c, 2)->words = 21; /* beyond it */
    must_break(&c, "S1");
    message(&c, 2)->words = 20;
    broken.schedule.messages.len = 2;
    must_break(&broken, "S1");
    *vec_push(&c.schedule.messages, &c.arena) = (ExchangeMessage){.transfer = 1, .words = 1};
    must_break(&c, "S1"); /* of no transfer */
    c = ordinary_case();
    ExchangeMessage held = *message(&c, 0); /* out of order */
    *message(&c, 0) = *message(&c, 1);
    *message(&c, 1) = held;
    must_break(&c, "S1");
}

/* --- messages, order, hostile records ------------------------------------------------------------------------------------------ */

static void names_the_place(void)
{
    Case c = ordinary_case();
    NameTable names = {0};
    Provenance from = {name_intern(&names, S("attention"), &c.arena),
                       name_intern(&names, S("scores"), &c.arena),
                       name_intern(&names, S("rows to owners"), &c.arena)};
    c.problem.transfers.at[4].provenance = from;
    *first_send(&c, 60) ^= 3;
    Error err = {0};
    CHECK(!exchange_check(&c.problem, &c.schedule, 1, scratch, &err));
    char text[256];
    (void)snprintf(
        text, sizeof text,
        "X8: phase 0, tile L60 (P%d), event 100, transfer 4 (operation 1, value 2, reason "
        "3): direction bits of the send are wrong",
        phys(60).id);
    CHECK_CSTR(err.message, text);
    c.problem.names = &names;
    err = (Error){0};
    CHECK(!exchange_check(&c.problem, &c.schedule, 1, scratch, &err));
    CHECK(strstr(err.message, "transfer 4 (attention, scores: rows to owners): ") != NULL);
}

/* The phase first, then starts before rows, then the tile; the same for any number of threads (must_break). */
static void reports_the_first_fault(void)
{
    Case c = new_case(0);
    for (int p = 0; p < 3; p++) {
        if (p > 0) {
            next_phase(&c);
        }
        for (int i = 0; i < 300; i++) {
            plain(&c, i, FROM, 4, 100, 1000 + i, TO);
        }
    }
    make_legal(&c);
    for (isize i = 0; i < c.schedule.rows.len; i++) { /* every row of phases 1 and 2 */
        const Row *row = &c.schedule.rows.at[i];
        if (row->phase > 0) {
            c.schedule.words.at[row->word_first + row->word_count - 1] ^= 1 << 20;
        }
    }
    must_break(&c, "S10");
    Error err = {0};
    CHECK(!exchange_check(&c.problem, &c.schedule, 4, scratch, &err));
    CHECK(strstr(err.message, "phase 1, tile L0 (P0)") != NULL);
    message(&c, 599)->start = 0; /* the last message of phase 1: a start comes before rows */
    must_break(&c, "S2");
}

/* No index, count or number of a schedule makes the checker crash: it says no, or the change was harmless. */
static void survives_hostile_schedules(void)
{
    static const int32_t values[] = {-1,      0,         1,         2,       3,
                                     7,       40,        1471,      1472,    4149,
                                     1 << 20, INT32_MAX, INT32_MIN, 1 << 29, INT32_MAX - 1};
    uint64_t seed = test_seed(3), n = 0;
    int refused = 0;
    for (int round = 0; round < 6000; round++) {
        static Case cases[3];
        if (round == 0) {
            cases[0] = ordinary_case();
            keep = cases[0].arena;
            cases[1] = moving_case();
            keep = cases[1].arena;
            cases[2] = mixed_case(true, 1);
            make_legal(&cases[2]);
            keep = cases[2].arena;
        }
        Case c = cases[round % 3];
        Arena arena = keep;
        Schedule *s = &c.schedule;
        struct {
            void *at;
            isize bytes;
        } parts[] = {{s->messages.at, s->messages.len * (isize)sizeof *s->messages.at},
                     {s->rows.at, s->rows.len * (isize)sizeof *s->rows.at},
                     {s->words.at, s->words.len * 4},
                     {s->patches.at, s->patches.len * (isize)sizeof *s->patches.at},
                     {s->horizon, (isize)sizeof *s->horizon}};
        void *saved[5];
        for (int i = 0; i < 5; i++) {
            saved[i] = arena_alloc(&arena, parts[i].bytes + 1, 16);
            if (parts[i].bytes > 0) {
                memcpy(saved[i], parts[i].at, (size_t)parts[i].bytes);
            }
        }
        for (int changes = 1 + (int)random_below(seed, n++, 3); changes > 0; changes--) {
            int part = (int)random_below(seed, n++, 5);
            isize fields = parts[part].bytes / 4;
            if (fields == 0) {
                continue;
            }
            isize field = (isize)random_below(seed, n++, (uint64_t)fields);
            bool is_flag = part == 0 && field % 5 == 4; /* is_paired: a bool holds 0 or 1 */
            int32_t value = random_below(seed, n++, 4) == 0
                                ? (int32_t)random_u64(seed, n++)
                                : values[random_below(seed, n++, sizeof values / sizeof *values)];
            value = is_flag ? (int32_t)(random_u64(seed, n++) & 1) : value;
            memcpy((char *)parts[part].at + 4 * field, &value, 4);
        }
        Error err = {0};
        bool ok = exchange_check(&c.problem, s, 1 + round % 2, scratch, &err);
        CHECK(ok == (err.code == ERROR_NONE));
        refused += !ok;
        for (int i = 0; i < 5; i++) {
            if (parts[i].bytes > 0) {
                memcpy(parts[i].at, saved[i], (size_t)parts[i].bytes);
            }
        }
    }
    CHECK(refused > 3000);
}

static void refuses_malformed_problems(void)
{
    Case c = moving_case();
    c.problem.phases.at[0].transfer_count--;
    must_break(&c, "S10");
    c = moving_case();
    c.problem.phases.at[0].transfer_first = -1;
    must_break(&c, "S10");
    c = moving_case();
    c.problem.phases.at[0].iterations = 4;
    must_break(&c, "S10");
    c = moving_case();
    c.problem.transfers.at[0].move = 9;
    must_break(&c, "S10");
    c = moving_case();
    c.problem.moves.at[1].first = 8;
    must_break(&c, "S10");
    c = moving_case();
    c.problem.moves.at[1].count = 0;
    must_break(&c, "S10");
}

/* exchange_check and the solver: what it makes of random problems is legal. */
static void accepts_solved_phases(void)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        Arena arena = keep;
        ProblemShape shape = {.tiles = 40,
                              .phases = 2,
                              .transfers = 60,
                              .receivers_max = 6,
                              .words_max = 300,
                              .is_spread = seed % 2 == 0};
        ExchangeProblem problem = problem_random(seed, shape, &arena);
        Schedule schedule;
        Error err = {0};
        CHECK_OK(exchange_solve(&problem, &(ExchangeOptions){.threads = 1}, &arena, scratch,
                                &schedule, &err),
                 err);
        CHECK_OK(exchange_check(&problem, &schedule, 2, scratch, &err), err);
    }
}

TEST_MAIN(case_setup, breaks_x1, breaks_x2, breaks_s2, breaks_x3, breaks_x4, breaks_x5, breaks_x6,
          breaks_x7, breaks_x8, breaks_x16, breaks_x21, breaks_s10, accepts_paired_examples,
          accepts_loopback, tiles_transfers, names_the_place, reports_the_first_fault,
          survives_hostile_schedules, refuses_malformed_problems, accepts_solved_phases)
