/* Every rule that the fabric checks, broken once (exchange.md 9 and the conservative table of 11), and the nearest legal
 * neighbours.
 *
 * The base case is one message of N words from tile S to tile D; each test bends one thing of it.
 */
#include "fabric_bench.h"

enum {
    S_TILE = 53, /* L1286 */
    D_TILE = 63, /* L1471, row 0: T = -14, direction 2 (exchange.md 2.5) */
    N = 10,
    SEND = 20,           /* send event */
    SRC = SEND - 14 + 1, /* source selected */
    POINTER = SRC + 52,  /* row 0 */
    D_END = POINTER + N + 5,
    S_END = SEND + N,
    FROM = 0x80000,
    TO = 0x90000,
    VALUE = 0x5000,
};

static BenchRow sender(void)
{
    BenchRow row = {0};
    row_send(&row, SEND, FROM, N, SCTL_DIR2);
    return row;
}

static BenchRow receiver_of(Event src, Event neutral, Event pointer)
{
    BenchRow row = {0};
    row_xpic(&row, src, S_TILE);
    row_xpic(&row, neutral, FABRIC_NEUTRAL);
    row_pic(&row, pointer, TO);
    return row;
}

static BenchRow receiver(void)
{
    return receiver_of(SRC, SRC + N, POINTER);
}

static Bench *bench_with(BenchRow s, Event s_end, BenchRow d, Event d_end)
{
    Bench *bench = bench_create();
    bench_fill(bench, S_TILE, FROM, N, VALUE);
    bench_row(bench, S_TILE, &s, s_end);
    bench_row(bench, D_TILE, &d, d_end);
    return bench;
}

static void runs(Bench *bench)
{
    bench_must_run(bench);
    bench_expect(bench, D_TILE, TO, N, VALUE);
    bench_destroy(bench);
}

static void faults(Bench *bench, const char *name, FaultCategory category, int tile)
{
    bench_must_fault(bench, name, category, tile);
    CHECK_EQ_INT(bench->fault.context, -1);
    /* A phase that faults stores nothing. */
    CHECK(bench_is_poison(bench, D_TILE, TO));
    bench_destroy(bench);
}

static void legal(void)
{
    runs(bench_with(sender(), S_END, receiver(), D_END));
    runs(bench_with(sender(), S_END + 9, receiver(), D_END + 9));
    /* Pointer one event early: tolerated when nothing is disturbed (exchange.md 3.2). */
    runs(bench_with(sender(), S_END, receiver_of(SRC, SRC + N, POINTER - 1), D_END));
    /* The source may be selected again in mid-message. */
    BenchRow d = {0};
    row_xpic(&d, SRC, S_TILE);
    row_xpic(&d, SRC + 4, S_TILE);
    row_xpic(&d, SRC + N, FABRIC_NEUTRAL);
    row_pic(&d, POINTER, TO);
    runs(bench_with(sender(), S_END, d, D_END));
    /* A format write of 0 changes nothing. */
    d = receiver_of(SRC, SRC + N, POINTER - 1);
    row_word(&d, 0x60000000u | 1u << 18);
    d.now++;
    runs(bench_with(sender(), S_END, d, D_END));
    /* Send in pieces: send 4, sendpic 1, sendoff, sendpicp with the following address. */
    BenchRow s = {0};
    row_send(&s, SEND, FROM, 4, SCTL_DIR2);
    row_word(&s, 0x70100000u | FABRIC_NEUTRAL); /* 1 word, XPIC neutral */
    row_word(&s, 0x70000000u | 1u << 21 | SCTL_DIR2);
    s.now += 3;
    if (s.len % 2 != 0) {
        row_word(&s, 0x70000000u | SCTL_DIR2);
        s.now += 1;
    }
    Event sent = s.now - SEND;
    row_word(&s, 0xf0000000u | (uint32_t)(N - sent - 1) << 21 | (FROM / 4 + (uint32_t)sent) << 3 |
                     SCTL_DIR2);
    row_word(&s, FABRIC_NEUTRAL << 18 | TO / 4);
    s.now = SEND + N;
    runs(bench_with(s, S_END, receiver(), D_END));
    /* Timed write of OUTGOING_BASE (6.2): setzi 1 event, put 13 events. */
    s = (BenchRow){0};
    row_until(&s, SEND - 14);
    row_word(&s, 0x19000000u | 8u << 20 | FROM);
    row_word(&s, 0x43008000u | 8u << 20 | CSR_OUTGOING_BASE);
    s.now = SEND;
    row_send(&s, SEND, 0, N, SCTL_DIR2);
    Bench *bench = bench_with(s, S_END, receiver(), D_END);
    bench_must_run(bench);
    bench_expect(bench, D_TILE, TO, N, VALUE);
    CHECK_EQ_INT(bench->tiles[S_TILE].csr[CSR_OUTGOING_BASE], FROM);
    bench_destroy(bench);
}

static void timing_of_the_mux(void)
{
    faults(bench_with(sender(), S_END, receiver_of(SRC - 1, SRC + N, POINTER), D_END),
           "IDLE_SOURCE", FAULT_ILLEGAL, D_TILE);
    faults(bench_with(sender(), S_END, receiver_of(SRC, SRC + N + 1, POINTER), D_END),
           "IDLE_SOURCE", FAULT_ILLEGAL, D_TILE);
    faults(bench_with(sender(), S_END, receiver_of(SRC + 1, SRC + N, POINTER), D_END),
           "MISSED_WORD", FAULT_ILLEGAL, D_TILE);
    faults(bench_with(sender(), S_END, receiver_of(SRC, SRC + N - 1, POINTER), D_END),
           "MISSED_WORD", FAULT_ILLEGAL, D_TILE);
    BenchRow away = {0};
    row_xpic(&away, SRC, S_TILE);
    row_xpic(&away, SRC + 3, FABRIC_NEUTRAL);
    row_xpic(&away, SRC + 4, S_TILE);
    row_xpic(&away, SRC + N, FABRIC_NEUTRAL);
    row_pic(&away, POINTER, TO);
    faults(bench_with(sender(), S_END, away, D_END), "MISSED_WORD", FAULT_ILLEGAL, D_TILE);
    /* Listening to a tile without a row, and to one that sends nothing. */
    BenchRow idle = {0};
    row_xpic(&idle, SRC, 500);
    row_xpic(&idle, SRC + N, FABRIC_NEUTRAL);
    faults(bench_with(sender(), S_END, idle, D_END), "IDLE_SOURCE", FAULT_ILLEGAL, D_TILE);
    Bench *bench = bench_with(sender(), S_END, receiver_of(SRC - 1, SRC + N + 1, POINTER), D_END);
    bench->idle_source_allowed = true;
    runs(bench);
    /* A send with no direction puts nothing on the wire. */
    BenchRow silent = {0};
    row_send(&silent, SEND, FROM, N, 0);
    faults(bench_with(silent, S_END, receiver(), D_END), "IDLE_SOURCE", FAULT_ILLEGAL, D_TILE);
}

static void directions(void)
{
    BenchRow s = {0};
    row_send(&s, SEND, FROM, N, SCTL_DIR1);
    faults(bench_with(s, S_END, receiver(), D_END), "DIRECTION", FAULT_ILLEGAL, D_TILE);
    BenchRow deaf = {0};
    row_until(&deaf, 6);
    faults(bench_with(sender(), S_END, deaf, D_END), "UNHEARD", FAULT_ILLEGAL, S_TILE);
}

static void pointers(void)
{
    BenchRow none = {0}, late, twice;
    row_xpic(&none, SRC, S_TILE);
    row_xpic(&none, SRC + N, FABRIC_NEUTRAL);
    faults(bench_with(sender(), S_END, none, D_END), "POINTER", FAULT_ILLEGAL, D_TILE);
    late = receiver_of(SRC, SRC + N, POINTER + 1);
    faults(bench_with(sender(), S_END, late, D_END), "POINTER", FAULT_ILLEGAL, D_TILE);
    twice = receiver();
    row_pic(&twice, POINTER + N - 1, TO + 256);
    faults(bench_with(sender(), S_END, twice, D_END), "POINTER_MOVES", FAULT_ILLEGAL, D_TILE);
    BenchRow after = receiver();
    row_pic(&after, POINTER + N, TO + 256);
    runs(bench_with(sender(), S_END, after, D_END));
    BenchRow outside = {0};
    row_xpic(&outside, SRC, S_TILE);
    row_xpic(&outside, SRC + N, FABRIC_NEUTRAL);
    row_pic(&outside, POINTER, SRAM_END - 4 * (N - 1));
    faults(bench_with(sender(), S_END, outside, D_END), "EXCHANGE_ADDRESS", FAULT_ILLEGAL, D_TILE);
    Bench *bench = bench_with(sender(), S_END, receiver(), D_END);
    bench->tiles[D_TILE].csr[CSR_INCOMING_BASE] = 2;
    faults(bench, "EXCHANGE_ADDRESS", FAULT_ILLEGAL, D_TILE);
    BenchRow s = {0};
    row_send(&s, SEND, SRAM_END - 4, N, SCTL_DIR2);
    faults(bench_with(s, S_END, receiver(), D_END), "EXCHANGE_ADDRESS", FAULT_ILLEGAL, S_TILE);
    s = (BenchRow){0};
    row_send(&s, SEND, SRAM_BASE - 4, N, SCTL_DIR2);
    faults(bench_with(s, S_END, receiver(), D_END), "EXCHANGE_ADDRESS", FAULT_ILLEGAL, S_TILE);
}

static void ends(void)
{
    faults(bench_with(sender(), S_END, receiver(), D_END - 1), "ROW_SHORT", FAULT_ILLEGAL, D_TILE);
    BenchRow early = {0};
    row_send(&early, 0, FROM, 1, SCTL_BOTH);
    BenchRow d = {0};
    row_until(&d, 6);
    faults(bench_with(early, 5, d, 6), "ROW_SHORT", FAULT_ILLEGAL, S_TILE);
    BenchRow listens = receiver();
    row_xpic(&listens, POINTER + 1, S_TILE);
    Bench *bench = bench_with(sender(), S_END, listens, D_END);
    bench->idle_source_allowed = true;
    faults(bench, "NEUTRAL_MISSING", FAULT_ILLEGAL, D_TILE);
}

static void entry(void)
{
    Bench *bench = bench_with(sender(), S_END, receiver(), D_END);
    bench->tiles[D_TILE].csr[CSR_INCOMING_DCOUNT] = 0;
    faults(bench, "DCOUNT", FAULT_ILLEGAL, D_TILE);
    bench = bench_with(sender(), S_END, receiver(), D_END);
    bench->tiles[S_TILE].csr[CSR_INCOMING_MUX] = 17;
    faults(bench, "NEUTRAL_AT_ENTRY", FAULT_ILLEGAL, S_TILE);
    bench = bench_with(sender(), S_END, receiver(), D_END);
    bench->tiles[D_TILE].csr[CSR_INCOMING_FORMAT] = 1;
    faults(bench, "PAIRED", FAULT_UNMODELLED, D_TILE);
    bench = bench_with(sender(), S_END, receiver(), D_END);
    uint32_t call = 0x18a00000u | (BENCH_ROW + 4) / 4;
    tile_store_words(&bench->tiles[D_TILE], BENCH_PC, &call, 1, NULL);
    faults(bench, "ROW_ADDRESS", FAULT_ILLEGAL, D_TILE);
    bench = bench_with(sender(), S_END, receiver(), D_END);
    call = 0x18a00000u | 0x88000 / 4;
    tile_store_words(&bench->tiles[D_TILE], BENCH_PC, &call, 1, NULL);
    faults(bench, "ROW_ADDRESS", FAULT_ILLEGAL, D_TILE);
    /* No call behind the barrier: the tile goes on where it is, and hears nothing. */
    bench = bench_with(sender(), S_END, receiver(), D_END);
    uint32_t nop = 0x19e00000;
    bench->tiles[700].pc = BENCH_PC;
    bench->is_active[700] = true;
    tile_store_words(&bench->tiles[700], BENCH_PC, &nop, 1, NULL);
    bench_must_run(bench);
    CHECK_EQ_INT(bench->tiles[700].pc, BENCH_PC);
    CHECK_EQ_INT(bench->tiles[700].cycle, bench->event_zero);
    bench_destroy(bench);
}

static BenchRow word_row(uint32_t word)
{
    BenchRow row = {0};
    row_until(&row, 8);
    row_word(&row, word);
    return row;
}

static void words(void)
{
    static const struct {
        uint32_t word;
        const char *name;
        FaultCategory category;
    } cases[] = {
        {0x41800003, "ROW_WORD", FAULT_ILLEGAL}, /* sync 3 */
        {0x40c00000, "ROW_WORD", FAULT_ILLEGAL}, /* sans 0 */
        {0x41801000, "ROW_WORD", FAULT_ILLEGAL}, /* trap */
        {0x18e00000, "ROW_WORD", FAULT_ILLEGAL}, /* call m14 */
        {0x43900000, "ROW_WORD", FAULT_ILLEGAL}, /* br m9 */
        {0x00000000, "ROW_WORD", FAULT_ILLEGAL},
        {0x64000600, "CONTROL_VALUE", FAULT_ILLEGAL},   /* host source in an internal phase */
        {0x640005c0, "CONTROL_VALUE", FAULT_ILLEGAL},   /* tile 1472 */
        {0x64002000, "NEUTRAL_MISSING", FAULT_ILLEGAL}, /* paired mux */
        {0x60040001, "NEUTRAL_MISSING", FAULT_ILLEGAL}, /* format 1 */
        {0x60040003, "CONTROL_VALUE", FAULT_ILLEGAL},   /* format 3 */
        {0x70000001, "SEND_CONTINUES", FAULT_UNKNOWN},  /* sendoff, nothing running */
        {0x70100640, "SEND_CONTINUES", FAULT_UNKNOWN},  /* sendpic, nothing running */
        {0x70000009, "SEND_DELTA", FAULT_UNKNOWN},      /* sendoff with delta 1 */
        {0x78000004, "SEND_DIRECTION", FAULT_UNKNOWN},  /* 64-bit items, no direction */
        {0x430080a0, "RECONFIGURED", FAULT_ILLEGAL},    /* put INCOMING_MUX, m0 */
        {0x430080a3, "RECONFIGURED", FAULT_ILLEGAL},    /* put INCOMING_FORMAT, m0 */
        {0x430080a8, "RECONFIGURED", FAULT_ILLEGAL},    /* put OUTGOING_DELTA, m0 */
        {0x433080a4, "BASE_POISON", FAULT_POISON},      /* put INCOMING_BASE, m3 */
        {0x433080a7, "BASE_POISON", FAULT_POISON},      /* put OUTGOING_BASE, m3 */
        {0x430080a6, "ROW_WORD", FAULT_ILLEGAL},        /* put INCOMING_DCOUNT, m0 */
        {0xf0000000, "ROW_ALIGNMENT", FAULT_ILLEGAL},   /* sendpicp at word 1 */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Bench *bench = bench_with(sender(), S_END, word_row(cases[i].word), -1);
        bench->tiles[D_TILE].m_poison = 1u << 3;
        faults(bench, cases[i].name, cases[i].category, D_TILE);
    }
    BenchRow pair = {0};
    row_word(&pair, 0xf8000000); /* two controls, one of them a format */
    row_word(&pair, FABRIC_NEUTRAL << 18);
    faults(bench_with(sender(), S_END, pair, -1), "CONTROL_PAIR", FAULT_ILLEGAL, D_TILE);
    pair.word[0] = 0xf0000000;
    pair.word[1] = (0x2000u | FABRIC_NEUTRAL) << 18; /* paired source with a pointer */
    faults(bench_with(sender(), S_END, pair, -1), "CONTROL_PAIR", FAULT_ILLEGAL, D_TILE);
    Bench *bench = bench_with(sender(), S_END, receiver(), D_END);
    uint32_t index = (BENCH_ROW + 4 - SRAM_BASE) / 4;
    bench->tiles[D_TILE].poison[index / 32] |= 1u << (index % 32);
    faults(bench, "ROW_POISON", FAULT_POISON, D_TILE);
}

/* Delays of 2^19 events, until the sum is beyond every Event. */
static void length(void)
{
    enum { DELAYS = 2049 };
    static uint32_t delays[DELAYS];
    for (int i = 0; i < DELAYS; i++) {
        delays[i] = 0x40a7ffff;
    }
    Bench *bench = bench_with(sender(), S_END, receiver(), D_END);
    tile_store_words(&bench->tiles[D_TILE], BENCH_ROW, delays, DELAYS, NULL);
    faults(bench, "ROW_LENGTH", FAULT_UNMODELLED, D_TILE);
}

static void row_setzi(BenchRow *row, int index, uint32_t value)
{
    row_word(row, 0x19000000u | (uint32_t)index << 20 | value);
    row->now += 1;
}

static void row_put(BenchRow *row, int index, uint32_t csr)
{
    row_word(row, 0x43008000u | (uint32_t)index << 20 | csr);
    row->now += 13;
}

/* A row of D that writes INCOMING_BASE and OUTGOING_BASE in 27 events (exchange.md 6.2) from event `begin` on, and sets the
 * pointer at event `pointer`. */
static BenchRow based(Event begin, Event pointer)
{
    BenchRow row = {0};
    row_xpic(&row, SRC, S_TILE);
    row_xpic(&row, SRC + N, FABRIC_NEUTRAL);
    if (pointer <= begin) {
        row_pic(&row, pointer, TO);
    }
    row_until(&row, begin);
    row_setzi(&row, 8, 0x8000);
    row_put(&row, 8, CSR_INCOMING_BASE);
    row_put(&row, 15, CSR_OUTGOING_BASE);
    CHECK_EQ_INT(row.now, begin + 27);
    if (pointer > begin) {
        row_pic(&row, pointer, TO - 0x8000);
    }
    return row;
}

static void base_writes(void)
{
    Event free = SRC + N + 1; /* nothing takes effect from here on */
    /* The new base holds for the pointer that is set behind it, and stays in the register. */
    Bench *bench = bench_with(sender(), S_END, based(POINTER - 28, POINTER), D_END);
    bench->tiles[D_TILE].csr[CSR_INCOMING_BASE] = 0x40000;
    bench_must_run(bench);
    bench_expect(bench, D_TILE, TO, N, VALUE);
    CHECK_EQ_INT(bench->tiles[D_TILE].csr[CSR_INCOMING_BASE], 0x8000);
    CHECK_EQ_INT(bench->tiles[D_TILE].csr[CSR_OUTGOING_BASE], 0);
    bench_destroy(bench);
    /* A pointer set before it: UNKNOWN from the first event of `put INCOMING_BASE` on, which the setzi precedes. */
    faults(bench_with(sender(), S_END, based(POINTER - 28, POINTER - 29), D_END), "BASE_POINTER",
           FAULT_UNKNOWN, D_TILE);
    Event last = POINTER + N - 2; /* the last word is stored in its first event */
    faults(bench_with(sender(), S_END, based(last, POINTER), last + 40), "BASE_POINTER",
           FAULT_UNKNOWN, D_TILE);
    runs(bench_with(sender(), S_END, based(last + 1, POINTER), last + 40));
    /* Controls at the first event of a write, or of the setzi before it; one event earlier is legal. */
    for (uint32_t csr = CSR_INCOMING_BASE; csr <= CSR_OUTGOING_BASE;
         csr += CSR_OUTGOING_BASE - CSR_INCOMING_BASE) {
        for (int kind = 0; kind < 4; kind++) {
            static const uint32_t words[] = {0x60000000u, 0x60040000u, 0x64000000u | FABRIC_NEUTRAL,
                                             0x64002000u | FABRIC_NEUTRAL};
            for (int gap = 0; gap < 4; gap++) {
                BenchRow row = {0};
                row_xpic(&row, SRC, S_TILE);
                row_xpic(&row, SRC + N, FABRIC_NEUTRAL);
                row_until(&row, free);
                row_word(&row, words[kind]);
                row.now++;
                row_until(&row, row.now + gap % 2);
                if (gap >= 2) {
                    row_setzi(&row, 8, 0);
                }
                row_put(&row, gap >= 2 ? 8 : 15, csr);
                row_pic(&row, POINTER, TO);
                bench = bench_with(sender(), S_END, row, D_END);
                if (gap % 2 == 0) {
                    faults(bench, "BASE_WRITE", FAULT_ILLEGAL, D_TILE);
                } else {
                    runs(bench);
                }
            }
        }
    }
    /* Carried by a send: effective behind its first word, which is where the write begins. */
    BenchRow s = {0};
    row_send(&s, SEND, FROM, N - 1, SCTL_DIR2);
    row_word(&s, 0x70100000u | FABRIC_NEUTRAL);
    s.now++;
    row_put(&s, 15, CSR_OUTGOING_BASE);
    faults(bench_with(s, -1, receiver(), D_END), "BASE_WRITE", FAULT_ILLEGAL, S_TILE);
    BenchRow odd = {0};
    row_setzi(&odd, 8, 0x8002);
    row_put(&odd, 8, CSR_INCOMING_BASE);
    faults(bench_with(sender(), S_END, odd, -1), "EXCHANGE_ADDRESS", FAULT_ILLEGAL, D_TILE);
}

/* Element rules. D receives at POINTER..POINTER + N + 5 into `to` and sends M words from `from` at `start`. */
static Bench *duplex(uint32_t to, uint32_t from, Event start, int words, int listener)
{
    BenchRow d = {0}, l = {0};
    row_xpic(&d, SRC, S_TILE);
    row_xpic(&d, SRC + N, FABRIC_NEUTRAL);
    bool is_before = start < POINTER - 1;
    if (is_before) {
        row_send(&d, start, from, words, SCTL_BOTH);
    }
    row_pic(&d, POINTER, to);
    if (!is_before) {
        row_send(&d, start, from, words, SCTL_BOTH);
    }
    Event end = d.now > POINTER + N + 5 ? d.now : POINTER + N + 5;
    Bench *bench = bench_with(sender(), S_END, d, end);
    PhysTile from_tile = {D_TILE}, to_tile = {(uint16_t)listener};
    Event src = start + time_to_mux(from_tile, to_tile) + 1;
    Event pointer = src + 52 + 2 * phys_row(to_tile);
    row_xpic(&l, src, D_TILE);
    row_xpic(&l, src + words, FABRIC_NEUTRAL);
    row_pic(&l, pointer, 0xa0000);
    bench_row(bench, listener, &l, pointer + words + 5);
    return bench;
}

static void elements(void)
{
    enum { LISTENER = 320, M = 3 };
    /* Send window [t, t + 3), receive window [POINTER, POINTER + N + 5): the same pair of elements. */
    Bench *bench = duplex(TO, TO + 0x4000, POINTER + N + 4, M, LISTENER);
    faults(bench, "EXCHANGE_CONFLICT", FAULT_ILLEGAL, D_TILE);
    bench = duplex(TO, TO + 0x4000, POINTER + N + 5, M, LISTENER);
    bench_fill(bench, D_TILE, TO + 0x4000, M, 7);
    bench_must_run(bench);
    bench_expect(bench, LISTENER, 0xa0000, M, 7);
    bench_destroy(bench);
    bench = duplex(TO, TO + 0x8000, POINTER + N, M, LISTENER); /* next pair of elements */
    bench_must_run(bench);
    bench_destroy(bench);
    bench = duplex(0x58000, 0x5bff8, POINTER + N, 2, LISTENER); /* 16 KiB elements in region 0 */
    faults(bench, "EXCHANGE_CONFLICT", FAULT_ILLEGAL, D_TILE);
    bench = duplex(0x58000, 0x5c000, POINTER + N, 2, LISTENER);
    bench_must_run(bench);
    bench_destroy(bench);
    /* A receive that ends before the send begins, and one that begins when it ends. */
    bench = duplex(TO, TO + 0x4000, POINTER - M - 1, M, LISTENER);
    bench_must_run(bench);
    bench_destroy(bench);
    /* Forwarding: stored, then sent on. */
    bench = duplex(TO, TO + 4 * (N - 1), POINTER + N + 5, M, LISTENER);
    bench_must_run(bench);
    CHECK_EQ_INT(bench_word(bench, LISTENER, 0xa0000), bench_word(bench, D_TILE, TO + 4 * (N - 1)));
    CHECK(!bench_is_poison(bench, LISTENER, 0xa0000));
    bench_destroy(bench);
    bench = duplex(TO, TO + 4 * N, POINTER + N + 5, M, LISTENER);
    bench_must_run(bench);
    bench_destroy(bench);
    /* Sent, then overwritten: the listener gets the old words. */
    bench = duplex(TO, TO, POINTER - M - 1, M, LISTENER);
    bench_fill(bench, D_TILE, TO, M, 40);
    bench_must_run(bench);
    bench_expect(bench, LISTENER, 0xa0000, M, 40);
    bench_expect(bench, D_TILE, TO, N, VALUE);
    bench_destroy(bench);
    /* The row lies in element 0; 64 bytes of fetch-ahead count. */
    BenchRow s = {0};
    row_send(&s, SEND, 0x4fff0, N, SCTL_DIR2);
    faults(bench_with(s, S_END, receiver(), D_END), "ROW_FETCH", FAULT_ILLEGAL, S_TILE);
    BenchRow d = receiver_of(SRC, SRC + N, POINTER - 1);
    row_pic(&d, POINTER, 0x4c800);
    faults(bench_with(sender(), S_END, d, D_END), "ROW_FETCH", FAULT_ILLEGAL, D_TILE);
    for (uint32_t gap = 56; gap <= 64; gap += 8) {
        s = sender();
        bench = bench_with(s, S_END, receiver(), D_END);
        BenchRow high = receiver_of(SRC, SRC + N, POINTER - 1);
        row_pic(&high, POINTER, 0x50000);
        row_until(&high, D_END);
        row_word(&high, 0x43a00000);
        uint32_t row = 0x50000 - gap - 4 * (uint32_t)high.len;
        if (row % 8 != 0) {
            high.word[high.len] = high.word[high.len - 1];
            high.word[high.len - 1] = high.word[high.len - 2]; /* split the last delay */
            high.word[high.len - 2] -= 1;
            high.word[high.len - 1] = 0x40a00000;
            high.len++;
            row -= 4;
        }
        tile_store_words(&bench->tiles[D_TILE], row, high.word, high.len, NULL);
        uint32_t call = 0x18a00000u | row / 4;
        tile_store_words(&bench->tiles[D_TILE], BENCH_PC, &call, 1, NULL);
        if (gap < 64) {
            CHECK(!bench_run(bench));
            CHECK_CSTR(bench->fault.name, "ROW_FETCH");
        } else {
            bench_must_run(bench);
            bench_expect(bench, D_TILE, 0x50000, N, VALUE);
        }
        bench_destroy(bench);
    }
}

static void self_only(void)
{
    Bench *bench = bench_with(sender(), S_END, receiver(), D_END);
    BenchRow own = {0};
    Event start = 40, src = start + time_to_mux((PhysTile){0}, (PhysTile){0}) + 1;
    row_xpic(&own, src, 0);
    row_xpic(&own, src + 4, FABRIC_NEUTRAL);
    row_send(&own, start, FROM, 4, SCTL_BOTH);
    row_pic(&own, src + 52, TO);
    bench_row(bench, 0, &own, src + 52 + 4 + 5);
    faults(bench, "SELF_ONLY", FAULT_ILLEGAL, 0);
}

static void poison_travels(void)
{
    Bench *bench = bench_with(sender(), S_END, receiver(), D_END);
    uint32_t index = (FROM + 4 * 3 - SRAM_BASE) / 4;
    bench->tiles[S_TILE].poison[index / 32] |= 1u << (index % 32);
    bench_fill(bench, D_TILE, TO, N + 1, 0);
    bench_must_run(bench);
    for (int i = 0; i < N + 1; i++) {
        CHECK_EQ_INT(bench_is_poison(bench, D_TILE, TO + 4 * (uint32_t)i), i == 3);
    }
    bench_destroy(bench);
}

TEST_MAIN(legal, timing_of_the_mux, directions, pointers, ends, entry, words, length, base_writes,
          elements, self_only, poison_travels)
