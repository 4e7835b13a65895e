/* Every rule that exchange_check knows: a legal schedule is broken in one place and must be refused under the rule's name.
 * (X5 cannot be planted alone: two controls of one stream at one event need overlapping source windows, which is X2.) */
#include "problems.h"
#include "test.h"

static Arena keep, scratch;

typedef struct Case {
    Arena arena;
    ExchangeProblem problem;
    Schedule schedule;
} Case;

static int phys(int logical)
{
    return phys_of((Tile){(uint16_t)logical}).id;
}

static void add(Case *c, int source, uint32_t address, int words, int receiver, uint32_t to)
{
    *vec_push(&c->problem.transfers, &c->arena) =
        (ExchangeTransfer){.source = {(uint16_t)phys(source)},
                           .address = address,
                           .words = (uint32_t)words,
                           .receiver_first = (int32_t)c->problem.receivers.len,
                           .receiver_count = 1};
    *vec_push(&c->problem.receivers, &c->arena) =
        (ExchangeReceiver){{(uint16_t)phys(receiver)}, to};
    c->problem.phases.at[0].transfer_count++;
}

static void solve(Case *c)
{
    Error err = {0};
    CHECK_OK(exchange_solve(&c->problem, &(ExchangeOptions){.threads = 1}, &c->arena, scratch,
                            &c->schedule, &err),
             err);
    CHECK_OK(exchange_check(&c->problem, &c->schedule, 2, scratch, &err), err);
}

/* L0 -> L100 twice, L50 -> L100, L100 -> L0, and L60 -> L300 for rows with nothing else; sources and destinations of a tile in different elements. */
static Case legal_case(void)
{
    Case c = {.arena = keep};
    c.problem = (ExchangeProblem){.row_bytes_max = PROBLEM_ROW_BYTES,
                                  .row_range = {SRAM_BASE, PROBLEM_ROWS_END}};
    *vec_push(&c.problem.phases, &c.arena) = (ExchangePhase){0};
    add(&c, 0, 0x60000, 40, 100, 0x90000);
    add(&c, 0, 0x61000, 40, 100, 0x91000);
    add(&c, 50, 0x62000, 30, 100, 0x92000);
    add(&c, 100, 0x63000, 50, 0, 0xa0000);
    add(&c, 60, 0x64000, 20, 300, 0xa0000);
    solve(&c);
    return c;
}

static void must_break(const Case *c, const char *rule)
{
    Error err = {0};
    CHECK(!exchange_check(&c->problem, &c->schedule, 2, scratch, &err));
    CHECK_EQ_INT(err.code, ERROR_NO);
    if (!str_starts(str_of(err.message), str_of(rule))) {
        fprintf(stderr, "expected %s: %s\n", rule, err.message);
    }
    CHECK(str_starts(str_of(err.message), str_of(rule)));
}

static Row *row_of(Case *c, int logical)
{
    for (isize i = 0; i < c->schedule.rows.len; i++) {
        if (c->schedule.rows.at[i].tile.id == phys(logical)) {
            return &c->schedule.rows.at[i];
        }
    }
    bool is_found = false;
    CHECK(is_found);
    return NULL;
}

/* First word of the row with word & mask == match. */
static uint32_t *find_word(Case *c, int logical, uint32_t mask, uint32_t match)
{
    Row *row = row_of(c, logical);
    for (int i = 0; i < row->word_count; i++) {
        uint32_t *word = &c->schedule.words.at[row->word_first + i];
        if ((*word & mask) == match) {
            return word;
        }
    }
    bool is_found = false;
    CHECK(is_found);
    return NULL;
}

static void breaks_send_lanes(void)
{
    Case c = legal_case();
    c.schedule.messages.at[1].start = c.schedule.messages.at[0].start + 39;
    must_break(&c, "X1/S1");
}

static void breaks_source_windows(void)
{
    Case c = legal_case();
    Event first = c.schedule.messages.at[0].start +
                  time_to_mux((PhysTile){(uint16_t)phys(0)}, (PhysTile){(uint16_t)phys(100)});
    c.schedule.messages.at[2].start =
        first + 39 - time_to_mux((PhysTile){(uint16_t)phys(50)}, (PhysTile){(uint16_t)phys(100)});
    must_break(&c, "X2/S2");
    c = legal_case();
    Event time = time_to_mux((PhysTile){(uint16_t)phys(0)}, (PhysTile){(uint16_t)phys(100)});
    c.schedule.messages.at[0].start = -time - 1;
    must_break(&c, "S2");
}

static void breaks_control_and_start(void)
{
    for (int offset = 0; offset < 2; offset++) {
        Case c = legal_case();
        Event source = c.schedule.messages.at[3].start +
                       time_to_mux((PhysTile){(uint16_t)phys(100)}, (PhysTile){(uint16_t)phys(0)}) +
                       1;
        c.schedule.messages.at[0].start =
            source + 600 - offset; /* the second message stays clear of it */
        c.schedule.messages.at[1].start = source + 700;
        c.schedule.messages.at[3].start += 600;
        c.schedule.messages.at[2].start += 2000;
        must_break(&c, "X6/S5");
    }
}

static void breaks_elements(void)
{
    Case c = legal_case();
    c.problem.receivers.at[3].address =
        0x60000 + 400; /* L0 stores into the element it sends from */
    c.schedule.messages.at[0].start += 1000;
    c.schedule.messages.at[1].start += 2000;
    c.schedule.messages.at[2].start += 3000;
    c.schedule.messages.at[3].start = c.schedule.messages.at[0].start;
    must_break(&c, "X9/S7");
    /* The guard: stores end at the read window's edge, 8 events before the send, 5 behind the payload. */
    Event stored = c.schedule.messages.at[3].start +
                   latency_of((PhysTile){(uint16_t)phys(100)}, (PhysTile){(uint16_t)phys(0)}) + 50;
    c.schedule.messages.at[0].start = stored + 5 + 8 - 1;
    must_break(&c, "X9/S7");
    c.schedule.messages.at[0].start = stored + 5 + 8;
    must_break(&c, "X1/S1"); /* legal now, but the rows are still the old ones */
}

static void breaks_addresses(void)
{
    Case c = legal_case();
    c.problem.row_range.end = 0x60000 + 4;
    must_break(&c, "X10");
    c = legal_case();
    c.problem.row_range.end = SRAM_REGION1 + ELEMENT_BYTES;
    must_break(&c, "X11");
    c = legal_case();
    c.problem.receivers.at[1].address = 0x90000 + 4 * 39;
    must_break(&c, "X12/S6");
    c = legal_case();
    c.problem.receivers.at[3].address = 0x61000 + 4 * 39;
    must_break(&c, "X12/S6");
    c = legal_case();
    c.problem.receivers.at[3].tile = c.problem.transfers.at[3].source;
    c.schedule.messages.at[3].start += 100; /* the way to itself is 28 events ahead of event 1 */
    must_break(&c, "X13");
    c = legal_case();
    c.problem.transfers.at[0].receiver_count = 2; /* L100 twice */
    must_break(&c, "X13");
    c = legal_case();
    c.problem.transfers.at[0].address += 2;
    must_break(&c, "X14");
    c = legal_case();
    c.problem.receivers.at[2].address = SRAM_END - 4 * 29;
    must_break(&c, "X14");
    c = legal_case();
    c.problem.transfers.at[2].words = FABRIC_MESSAGE_WORDS_MAX + 1;
    must_break(&c, "X14");
    c = legal_case();
    *find_word(&c, 50, 0xf8000000, 0x78000000) ^= 8; /* send from the next word */
    must_break(&c, "X14");
}

static void breaks_words(void)
{
    Case c = legal_case();
    *find_word(&c, 60, 0xf8000000, 0x78000000) ^= 3;
    must_break(&c, "X8");
    c = legal_case();
    *find_word(&c, 60, 0xf8000000, 0x78000000) -= 1 << 21; /* one item less */
    must_break(&c, "X1/S1");
    c = legal_case();
    *find_word(&c, 300, 0xfc001fff, 0x64000640) ^= 0x640 ^ 5; /* the neutral listens to tile 5 */
    must_break(&c, "X7/S2");
    c = legal_case();
    *find_word(&c, 300, 0xfc001fff, 0x64000000 | (uint32_t)phys(60)) ^= 1;
    must_break(&c, "X2/S2");
    c = legal_case();
    *find_word(&c, 300, 0xfc000000, 0x60000000) ^= 1; /* pointer one word further */
    must_break(&c, "X3/S3");
    c = legal_case();
    *find_word(&c, 300, 0xfc000000, 0x60000000) += 1 << 19; /* pointer one event later */
    must_break(&c, "X3/S3");
}

static void breaks_rows(void)
{
    Case c = legal_case();
    Row *row = row_of(&c, 0);
    uint32_t *last = &c.schedule.words.at[row->word_first + row->word_count - 1];
    *last = 0x41800003; /* sync 3 */
    must_break(&c, "S10");
    c = legal_case();
    row = row_of(&c, 300);
    uint32_t *pad = &c.schedule.words.at[row->word_first + row->word_count - 2];
    CHECK_EQ_INT(*pad & 0xfff80000, 0x40a00000);
    *pad -= 1;
    must_break(&c, "S10");
    *pad += 2; /* longer than it says */
    must_break(&c, "S10");
    c = legal_case();
    c.schedule.rows.len--;
    must_break(&c, "S10");
    c = legal_case();
    *vec_push(&c.schedule.rows, &c.arena) = c.schedule.rows.at[0];
    must_break(&c, "S10");
    c = legal_case();
    c.schedule.horizon[0]--;
    must_break(&c, "S10");
    c = legal_case();
    c.schedule.bounds[0].chosen.events = c.schedule.horizon[0] + 1;
    must_break(&c, "S10");
    c = legal_case();
    c.problem.row_bytes_max = 20;
    must_break(&c, "S10");
    c = legal_case();
    row_of(&c, 0)->word_first++;
    must_break(&c, "X16");
}

/* A row with a sendpicp, moved by one word. */
static void breaks_alignment(void)
{
    Case c = {.arena = keep};
    c.problem = (ExchangeProblem){.row_bytes_max = PROBLEM_ROW_BYTES,
                                  .row_range = {SRAM_BASE, PROBLEM_ROWS_END}};
    *vec_push(&c.problem.phases, &c.arena) = (ExchangePhase){0};
    for (int i = 0; i < 2;
         i++) { /* 52 words back to back into a tile of row 0 share events (exchange.md 3.3) */
        add(&c, 1286, 0x60000, 52, 0, 0x90000 + (uint32_t)i * 0x1000);
    }
    solve(&c);
    Row *row = row_of(&c, 0);
    uint32_t *word = find_word(&c, 0, 0xf0000000, 0xf0000000);
    isize at = word - &c.schedule.words.at[row->word_first];
    CHECK_EQ_INT(at % 2, 0);
    CHECK(at > 0);
    uint32_t before = word[-1]; /* swap with the word in front */
    word[-1] = word[0];
    word[0] = word[1];
    word[1] = before;
    must_break(&c, "X16");
}

static void setup(void)
{
    keep = arena_create((isize)1 << 28);
    scratch = arena_create((isize)1 << 32);
}

TEST_MAIN(setup, breaks_send_lanes, breaks_source_windows, breaks_control_and_start,
          breaks_elements, breaks_addresses, breaks_words, breaks_rows, breaks_alignment)
