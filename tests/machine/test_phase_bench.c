/* The judge of random phases is judged: schedules written by hand from the examples of exchange.md 2.5, 3.3, 5, 6.2 and 8 run and
 * are what their rows say; and every kind of mistake is seen. */
#include "exchange/wanted_rows.h"
#include "phase_bench.h"

enum {
    ROWS_BYTES = 2 * ELEMENT_BYTES,
    FROM = 0x80000,
    FIXED = 0x84000,
    TO = 0x90000,
    TO_LATE = 0x98000,
    L0 = 0, /* physical ids */
    L1 = 2,
    L2 = 64,
    L3 = 66,
    L1286 = 53,
    L1471 = 63,
    BASE_ZERO = 0x43f080a7, /* put OUTGOING_BASE, m15 */
    BASE_MOVING = 0x436080a7,
};

static Arena keep, scratch;
static PhaseBench *bench;
static uint64_t seed;

typedef struct Hand {
    Arena arena;
    ExchangeProblem problem;
    Schedule schedule;
} Hand;

static Hand hand_of(int iterations)
{
    Hand h = {.arena = keep,
              .problem = {.row_bytes_max = ROWS_BYTES - 2048,
                          .row_range = {SRAM_BASE, SRAM_BASE + ROWS_BYTES}}};
    *vec_push(&h.problem.moves, &h.arena) = (ExchangeMove){0};
    *vec_push(&h.problem.phases, &h.arena) = (ExchangePhase){.iterations = iterations};
    h.schedule.horizon = arena_array(&h.arena, Event, 1);
    return h;
}

/* A transfer that is one message. */
static void hand_message(Hand *h, int source, uint32_t address, uint32_t words, Event start,
                         int32_t move, bool is_paired)
{
    int32_t index = (int32_t)h->problem.transfers.len;
    *vec_push(&h->problem.transfers, &h->arena) =
        (ExchangeTransfer){.source = {(uint16_t)source},
                           .address = address,
                           .words = words,
                           .receiver_first = (int32_t)h->problem.receivers.len,
                           .move = move};
    *vec_push(&h->schedule.messages, &h->arena) = (ExchangeMessage){
        .transfer = index, .words = words, .start = start, .is_paired = is_paired};
    h->problem.phases.at[0].transfer_count++;
}

static void hand_to(Hand *h, int tile, uint32_t address)
{
    *vec_push(&h->problem.receivers, &h->arena) = (ExchangeReceiver){{(uint16_t)tile}, address};
    h->problem.transfers.at[h->problem.transfers.len - 1].receiver_count++;
}

static int32_t hand_move(Hand *h, const int32_t *offsets, int count)
{
    *vec_push(&h->problem.moves, &h->arena) =
        (ExchangeMove){(int32_t)h->problem.offsets.len, count};
    for (int i = 0; i < count; i++) {
        *vec_push(&h->problem.offsets, &h->arena) = offsets[i];
    }
    return (int32_t)h->problem.moves.len - 1;
}

/* Tiles in ascending order. */
static Row *hand_row(Hand *h, int tile, BenchRow *words, Event end, int32_t move)
{
    row_until(words, end);
    row_word(words, 0x43a00000);
    *vec_push(&h->schedule.rows, &h->arena) = (Row){.tile = {(uint16_t)tile},
                                                    .word_first = (int32_t)h->schedule.words.len,
                                                    .word_count = words->len,
                                                    .end = end,
                                                    .move = move};
    for (int i = 0; i < words->len + words->len % 2; i++) {
        *vec_push(&h->schedule.words, &h->arena) = i < words->len ? words->word[i] : 0;
    }
    if (end > h->schedule.horizon[0]) {
        h->schedule.horizon[0] = end;
    }
    return &h->schedule.rows.at[h->schedule.rows.len - 1];
}

static void hand_patch(Hand *h, Row *row, int word, int32_t move)
{
    if (row->patch_count == 0) {
        row->patch_first = (int32_t)h->schedule.patches.len;
    }
    *vec_push(&h->schedule.patches, &h->arena) = (RowPatch){word, move};
    row->patch_count++;
}

static void control(BenchRow *row, Event event, uint32_t word)
{
    row_until(row, event - 1);
    row_word(row, word);
    row->now = event;
}

/* XPIC, pointer and neutral of one ordinary message. */
static void hears(BenchRow *row, Event src, int words, int source, Event pointer, uint32_t to)
{
    row_xpic(row, src, (uint32_t)source);
    row_xpic(row, src + words, FABRIC_NEUTRAL);
    row_pic(row, pointer, to);
}

static bool runs(Hand *h, Error *err)
{
    return phase_bench_run(bench, &h->problem, &h->schedule, seed, scratch, err);
}

static void must_run(Hand *h)
{
    Error err = {0};
    CHECK_OK(runs(h, &err), err);
}

static void must_decode(Hand *h)
{
    Error err = {0};
    CHECK_OK(wanted_phase(&h->problem, &h->schedule, 0, true, scratch, &err), err);
}

static void must_differ(Hand *h, const char *part)
{
    Error err;
    CHECK_ERROR(wanted_phase(&h->problem, &h->schedule, 0, true, scratch, &err), err, ERROR_NO,
                part);
}

/* The bench is left as the failure left it, so it is cleared by hand. */
static void must_fail(Hand *h, const char *part)
{
    Error err;
    CHECK_ERROR(runs(h, &err), err, ERROR_NO, part);
    phase_bench_clear(bench);
}

/* --- L0 -> L1286, three words: T = -23, start 23, source 1..4, pointer 53 ------------------------------------------------ */

static const int32_t offsets[] = {0, 64, -128, 4};
enum { LEAST = -128 };

static Hand three_words(int iterations, int32_t *move)
{
    Hand h = hand_of(iterations);
    *move = hand_move(&h, offsets, 4);
    hand_message(&h, L0, FROM + 1024, 3, 23, iterations > 1 ? *move : 0, false);
    hand_to(&h, L1286, TO);
    return h;
}

static void hears_three_words(Hand *h)
{
    BenchRow row = {0};
    hears(&row, 1, 3, L0, 53, TO);
    hand_row(h, L1286, &row, 61, 0);
}

static Hand fixed_source(void)
{
    int32_t move;
    Hand h = three_words(1, &move);
    BenchRow send = {0};
    row_send(&send, 23, FROM + 1024, 3, SCTL_DIR1);
    hand_row(&h, L0, &send, 26, 0);
    hears_three_words(&h);
    return h;
}

static Hand patched_source(void)
{
    int32_t move;
    Hand h = three_words(4, &move);
    BenchRow send = {0};
    row_send(&send, 23, FROM + 1024, 3, SCTL_DIR1);
    hand_patch(&h, hand_row(&h, L0, &send, 26, 0), 1, move);
    hears_three_words(&h);
    return h;
}

static Hand based_source(void)
{
    int32_t move;
    Hand h = three_words(4, &move);
    BenchRow send = {0};
    row_send(&send, 23, FROM + 1024 + LEAST, 3, SCTL_DIR1);
    hand_row(&h, L0, &send, 26, move);
    hears_three_words(&h);
    return h;
}

static void sources(void)
{
    Hand h = fixed_source();
    must_decode(&h);
    must_run(&h);
    h = patched_source();
    must_decode(&h);
    must_run(&h);
    h = based_source();
    must_decode(&h);
    must_run(&h);
}

static void mistakes_of_rows(void)
{
    Hand h = fixed_source();
    h.schedule.words.at[1] ^= 8; /* from the next word */
    must_fail(&h, "tile L1286 (P53) holds");
    must_differ(&h, "from item");
    h = fixed_source();
    h.schedule.words.at[1] += 1 << 21; /* four words: the fourth is never heard */
    must_fail(&h, "fault");
    must_differ(&h, "sends until 27");
    h = fixed_source();
    CHECK_EQ_INT(h.schedule.words.at[h.schedule.rows.at[1].word_first + 4] & 0x3ffff, TO / 4);
    h.schedule.words.at[h.schedule.rows.at[1].word_first + 4] ^= 1; /* stores 4 bytes further */
    must_fail(&h, "at 0x90000, a copy would give");
    must_differ(&h, "control 2 takes");
    h = fixed_source();
    h.schedule.rows.at[1].end++;
    must_fail(&h, "leaves its row at 61, not 62");
    must_differ(&h, "row says 62");
    h = fixed_source();
    h.schedule.messages.at[0].start++;
    must_differ(&h, "expected 24..27");
    h = fixed_source();
    h.schedule.messages.at[0].words--;
    must_differ(&h, "carry 2 of 3 words");
    h = fixed_source();
    h.schedule.horizon[0]++;
    must_differ(&h, "horizon 62");
    h = fixed_source();
    h.schedule.rows.len--;
    must_differ(&h, "its row is missing");
    h = fixed_source();
    h.problem.transfers.at[0].words = 2; /* one word too many is stored */
    must_fail(&h, "at 0x90008, a copy would give");
}

static void mistakes_of_moves(void)
{
    Hand h = patched_source();
    h.schedule.rows.at[0].patch_count = 0; /* always the same words */
    must_fail(&h, "phase 0, iteration 1: tile L1286 (P53) holds");
    must_differ(&h, "move 1, patched 0");
    h = patched_source();
    h.problem.transfers.at[0].move = 0;
    must_fail(&h, "phase 0, iteration 1: tile L1286 (P53) holds");
    must_differ(&h, "move 0, patched 1");
    h = based_source();
    h.schedule.rows.at[0].move = 0;
    must_fail(&h, "tile L1286 (P53) holds");
    must_differ(&h, "from item");
    h = based_source();
    h.schedule.rows.at[0].move = hand_move(&h, (const int32_t[]){0, 64, -128, 8}, 4);
    must_fail(&h, "phase 0, iteration 3: tile L1286 (P53) holds");
    h = based_source();
    h.schedule.rows.at[0].move = hand_move(&h, offsets, 4); /* as good */
    must_decode(&h);
    must_run(&h);
}

/* Moving, fixed, moving again: two base writes of 13 events (exchange.md 6.2). Windows of the receiver: 1, 41, 81. */
static Hand switched_source(void)
{
    int32_t move;
    Hand h = three_words(4, &move);
    hand_message(&h, L0, FIXED, 3, 63, 0, false);
    hand_to(&h, L1286, TO + 64);
    hand_message(&h, L0, FROM + 2048, 3, 103, move, false);
    hand_to(&h, L1286, TO + 128);
    BenchRow send = {0}, hear = {0};
    row_send(&send, 23, FROM + 1024 + LEAST, 3, SCTL_DIR1);
    row_until(&send, 30);
    row_word(&send, BASE_ZERO);
    send.now += 13;
    row_send(&send, 63, FIXED, 3, SCTL_DIR1);
    row_word(&send, BASE_MOVING);
    send.now += 13;
    row_send(&send, 103, FROM + 2048 + LEAST, 3, SCTL_DIR1);
    hand_row(&h, L0, &send, 106, move);
    row_xpic(&hear, 1, L0);
    row_xpic(&hear, 4, FABRIC_NEUTRAL);
    row_xpic(&hear, 41, L0);
    row_xpic(&hear, 44, FABRIC_NEUTRAL);
    row_pic(&hear, 53, TO);
    row_xpic(&hear, 81, L0);
    row_xpic(&hear, 84, FABRIC_NEUTRAL);
    row_pic(&hear, 93, TO + 64);
    row_pic(&hear, 133, TO + 128);
    hand_row(&h, L1286, &hear, 141, 0);
    return h;
}

static void base_writes(void)
{
    Hand h = switched_source();
    must_run(&h);
    must_decode(&h);
    h = switched_source();
    for (int i = 0; i < h.schedule.rows.at[0].word_count; i++) {
        uint32_t *word = &h.schedule.words.at[i];
        *word = *word == BASE_ZERO ? 0x40a0000c : *word; /* wait instead */
    }
    must_fail(&h, "phase 0, iteration 0: tile L1286 (P53) holds");
    must_differ(&h, "a send with another's base");
}

/* --- pairs, loopback, dependencies --------------------------------------------------------------------------------------- */

static uint32_t pair_xpic(int source, int tile)
{
    return 0x64002000u | (uint32_t)(source ^ (tile & 2));
}

enum { FORMAT = 0x60040000, PAIR_NEUTRAL = 0x64002640 };

/* L0 -> {L2, L3}, 64 items from 31 on (exchange.md 5). */
static Hand paired(void)
{
    Hand h = hand_of(1);
    BenchRow send = {0}, early = {0}, late = {0};
    hand_message(&h, L0, FROM, 128, 31, 0, true);
    hand_to(&h, L2, TO);
    hand_to(&h, L3, TO_LATE);
    row_send(&send, 31, FROM / 2, 64, SCTL_WIDE | SCTL_DIR1);
    hand_row(&h, L0, &send, 95, 0);
    control(&early, 1, pair_xpic(L0, L2));
    control(&early, 54, FORMAT | 1);
    row_pic(&early, 56, TO);
    control(&early, 65, PAIR_NEUTRAL);
    control(&early, 118, FORMAT);
    hand_row(&h, L2, &early, 125, 0);
    control(&late, 54, FORMAT | 1);
    row_pic(&late, 56, TO_LATE);
    control(&late, 118, FORMAT);
    hand_row(&h, L3, &late, 125, 0);
    return h;
}

/* L0 -> its own pair {L0, L1}, 256 items from 29 on: source 1..257, format 52..308, pointer 54, end 315 (exchange.md 5). */
static Hand own_pair(void)
{
    Hand h = hand_of(1);
    BenchRow self = {0}, other = {0};
    hand_message(&h, L0, FROM, 512, 29, 0, true);
    hand_to(&h, L0, TO);
    hand_to(&h, L1, TO_LATE);
    control(&self, 1, pair_xpic(L0, L0));
    row_until(&self, 29);
    row_word(&self, 0x78000000 | 21 << 21 | FROM / 8 << 3 | 7); /* 22 items */
    row_word(&self, 0x70100000 | 1 << 21 | 3 << 18 | 1);        /* at 51: format 1 */
    row_word(&self, 0x70100000 | 63 << 21 | 2 << 18 | TO / 4);  /* at 53: pointer */
    row_word(&self, 0x70000000 | (138 & 63) << 21 | (138 >> 6) << 14 | 7);
    row_word(&self, 0x70100000 | 28 << 21 | 1 << 18 | FABRIC_NEUTRAL); /* at 256 */
    self.now = 285;
    control(&self, 308, FORMAT);
    hand_row(&h, L0, &self, 315, 0);
    control(&other, 52, FORMAT | 1);
    row_pic(&other, 54, TO_LATE);
    control(&other, 308, FORMAT);
    hand_row(&h, L1, &other, 315, 0);
    return h;
}

static void pairs(void)
{
    Hand h = paired();
    must_decode(&h);
    must_run(&h);
    h = paired();
    h.problem.receivers.at[1].address = TO_LATE + 8;
    must_fail(&h, "tile L3 (P66) holds");
    must_differ(&h, "tile L3 (P66), event 56: control 2");
    h = paired();
    h.problem.receivers.at[1].address = TO_LATE + 4; /* pairs of words begin at multiples of 8 */
    must_differ(&h, "in pairs");
    h = own_pair();
    must_decode(&h);
    must_run(&h);
}

/* Patched words of 64-bit items count eight bytes. */
static void patched_pairs(void)
{
    Hand h = paired();
    h.problem.phases.at[0].iterations = 3;
    int32_t move = hand_move(&h, (const int32_t[]){8, 4096, -16}, 3);
    h.problem.transfers.at[0].address = FROM + 1024;
    h.problem.transfers.at[0].move = move;
    CHECK_EQ_INT(h.schedule.words.at[1] >> 27, 0x78 >> 3);
    h.schedule.words.at[1] += 1024 / 8 << 3;
    hand_patch(&h, &h.schedule.rows.at[0], 1, move);
    must_decode(&h);
    must_run(&h);
}

/* L0 -> {L0, L1286}, three words from 29 on: T(s,s) = -29. */
static void loopback(void)
{
    Hand h = hand_of(2);
    BenchRow self = {0}, other = {0};
    hand_message(&h, L0, FROM, 3, 29, 0, false);
    hand_to(&h, L0, TO);
    hand_to(&h, L1286, TO);
    row_xpic(&self, 1, L0);
    row_xpic(&self, 4, FABRIC_NEUTRAL);
    row_send(&self, 29, FROM, 3, SCTL_BOTH);
    row_pic(&self, 53, TO);
    hand_row(&h, L0, &self, 61, 0);
    hears(&other, 7, 3, L0, 59, TO);
    hand_row(&h, L1286, &other, 67, 0);
    must_decode(&h);
    must_run(&h);
}

/* L0 -> L1286 at 23, and L1286 -> L1471 at 100 (T = -14, row 0: source 87, pointer 139): the second sends on what the first
 * stored. */
static void forwards(void)
{
    Hand h = hand_of(3);
    BenchRow send = {0}, relay = {0}, last = {0};
    hand_message(&h, L0, FROM, 3, 23, 0, false);
    hand_to(&h, L1286, TO);
    hand_message(&h, L1286, TO, 3, 100, 0, false);
    hand_to(&h, L1471, TO);
    row_send(&send, 23, FROM, 3, SCTL_DIR1);
    hand_row(&h, L0, &send, 26, 0);
    hears(&relay, 1, 3, L0, 53, TO);
    row_send(&relay, 100, TO, 3, SCTL_DIR2);
    hand_row(&h, L1286, &relay, 103, 0);
    hears(&last, 87, 3, L1286, 139, TO);
    hand_row(&h, L1471, &last, 147, 0);
    must_decode(&h);
    must_run(&h);
    ExchangeTransfer first = h.problem.transfers.at[0];
    h.problem.transfers.at[0] = h.problem.transfers.at[1];
    h.problem.transfers.at[1] = first;
    must_fail(&h, "tile L1471 (P63) holds");
}

/* L1286 sends from where it then receives; as a list it is the other way round another result. */
static void overwrites(void)
{
    for (int is_swapped = 0; is_swapped < 2; is_swapped++) {
        Hand h = hand_of(2);
        BenchRow send = {0}, both = {0}, last = {0};
        hand_message(&h, L1286, TO, 3, 14, 0, false);
        hand_to(&h, L1471, TO);
        hand_message(&h, L0, FROM, 3, 123, 0, false);
        hand_to(&h, L1286, TO + 4);
        row_send(&send, 123, FROM, 3, SCTL_DIR1);
        hand_row(&h, L0, &send, 126, 0);
        row_send(&both, 14, TO, 3, SCTL_DIR2);
        hears(&both, 101, 3, L0, 153, TO + 4);
        hand_row(&h, L1286, &both, 161, 0);
        hears(&last, 1, 3, L1286, 53, TO);
        hand_row(&h, L1471, &last, 61, 0);
        must_decode(&h);
        if (is_swapped == 0) {
            must_run(&h);
            continue;
        }
        ExchangeTransfer first = h.problem.transfers.at[0];
        h.problem.transfers.at[0] = h.problem.transfers.at[1];
        h.problem.transfers.at[1] = first;
        must_fail(&h, "tile L1471 (P63) holds");
    }
}

/* A message in two stretches without a gap: the mux listens on, the pointer stands right. */
static void split_messages(void)
{
    Hand h = hand_of(1);
    BenchRow send = {0}, hear = {0};
    hand_message(&h, L0, FROM, 10, 23, 0, false);
    hand_to(&h, L1286, TO);
    h.schedule.messages.at[0].words = 4;
    *vec_push(&h.schedule.messages, &h.arena) =
        (ExchangeMessage){.word_first = 4, .words = 6, .start = 27};
    row_send(&send, 23, FROM, 4, SCTL_DIR1);
    row_send(&send, 27, FROM + 16, 6, SCTL_DIR1);
    hand_row(&h, L0, &send, 33, 0);
    hears(&hear, 1, 10, L0, 53, TO);
    hand_row(&h, L1286, &hear, 68, 0);
    must_decode(&h);
    must_run(&h);
    h.schedule.messages.at[1].word_first = 5;
    must_differ(&h, "carry 4 of 10 words");
}

static void strangers(void)
{
    Error err;
    tile_store_words(&bench->bench->tiles[700], SRAM_END - 4, &(uint32_t){0}, 1, NULL);
    CHECK_ERROR(phase_bench_others(bench, &err), err, ERROR_NO, "(P700) holds 00000000 at 0xe7ffc");
}

static void setup(void)
{
    keep = arena_create((isize)1 << 26);
    scratch = arena_create((isize)1 << 30);
    bench = phase_bench_create();
    seed = test_seed(11);
}

TEST_MAIN(setup, sources, mistakes_of_rows, mistakes_of_moves, base_writes, pairs, patched_pairs,
          loopback, forwards, overwrites, split_messages, strangers)
