/* Rules about what is sent on, starts and entry (exchange.md 8, 9: X6, X7, X9, X12, X14), each broken once, with the nearest legal
 * neighbours. Every run is done in bulk and word by word (bench_run).
 *
 * The base case: S sends N words to D, which sends some of them on to L.
 */
#include "fabric_bench.h"

enum {
    S_TILE = 53,
    D_TILE = 63, /* row 0: T = -14, direction 2 */
    L_TILE = 320,
    N = 10,
    SEND = 20,
    SRC = SEND - 14 + 1,
    POINTER = SRC + 52,
    END = POINTER + N, /* of the payload */
    FROM = 0x80000,
    TO = 0x90000,
    LAST = 0xa0000,
    VALUE = 0x5000,
};

static void faults(Bench *bench, const char *name, FaultCategory category, int tile)
{
    bench_must_fault(bench, name, category, tile);
    bench_destroy(bench);
}

static void sends(Bench *bench)
{
    BenchRow row = {0};
    row_send(&row, SEND, FROM, N, SCTL_BOTH);
    bench_row(bench, S_TILE, &row, -1);
    bench_fill(bench, S_TILE, FROM, N, VALUE);
}

/* `tile` hears `words` words that `source` sends from event `start` on. */
static void hears(Bench *bench, int tile, int source, Event start, int words, uint32_t to)
{
    PhysTile s = {(uint16_t)source}, d = {(uint16_t)tile};
    Event src = start + time_to_mux(s, d) + 1, pointer = src + 52 + 2 * phys_row(d);
    BenchRow row = {0};
    row_xpic(&row, src, (uint32_t)source);
    row_xpic(&row, src + words, FABRIC_NEUTRAL);
    row_pic(&row, pointer, to);
    bench_row(bench, tile, &row, pointer + words + 5);
}

/* --- X12 ---------------------------------------------------------------------------------------------------------- */

/* D stores at POINTER..END and sends `words` words from `from` at `start`. */
static Bench *relay(uint32_t from, int words, Event start)
{
    Bench *bench = bench_create();
    BenchRow row = {0};
    sends(bench);
    row_xpic(&row, SRC, S_TILE);
    row_xpic(&row, SRC + N, FABRIC_NEUTRAL);
    row_pic(&row, start < POINTER ? SRC + N + 1 : POINTER, TO); /* early does no harm here */
    row_send(&row, start, from, words, SCTL_BOTH);
    bench_row(bench, D_TILE, &row, row.now > END + 5 ? -1 : END + 5);
    hears(bench, L_TILE, D_TILE, start, words, LAST);
    bench_fill(bench, D_TILE, TO, N, 0x100);
    return bench;
}

static void forwarding(void)
{
    enum { M = 4 };
    for (int first = 0; first <= N - M; first++) { /* any part of what was stored */
        Bench *bench = relay(TO + 4 * (uint32_t)first, M, END + 5);
        bench_must_run(bench);
        bench_expect(bench, D_TILE, TO, N, VALUE);
        bench_expect(bench, L_TILE, LAST, M, VALUE + (uint32_t)first);
        bench_destroy(bench);
    }
    /* Partly what was stored, partly what lay behind it. */
    Bench *bench = relay(TO + 4 * (N - 1), 2, END + 5);
    bench_fill(bench, D_TILE, TO + 4 * N, 1, 77);
    bench_must_run(bench);
    CHECK_EQ_INT(bench_word(bench, L_TILE, LAST), VALUE + N - 1);
    CHECK_EQ_INT(bench_word(bench, L_TILE, LAST + 4), 77);
    bench_destroy(bench);
    /* Too early: at every event of the payload X12, and in the five behind it X9. */
    for (Event start = POINTER + 2; start < END + 5; start++) {
        faults(relay(TO, M, start), start < END ? "FORWARDING" : "EXCHANGE_CONFLICT", FAULT_ILLEGAL,
               D_TILE);
    }
    /* The first word is stored over while the last one is sent; with an event less it is not. */
    faults(relay(TO, M, POINTER - M + 1), "FORWARDING", FAULT_ILLEGAL, D_TILE);
    bench = relay(TO, M, POINTER - M);
    bench_must_run(bench);
    bench_expect(bench, D_TILE, TO, N, VALUE);
    bench_expect(bench, L_TILE, LAST, M, 0x100);
    bench_destroy(bench);
    /* Other words of the same element. */
    faults(relay(TO + 4 * N, M, END - 1), "EXCHANGE_CONFLICT", FAULT_ILLEGAL, D_TILE);
}

static void set_poison(Bench *bench, int tile, uint32_t address)
{
    uint32_t index = (address - SRAM_BASE) / 4;
    bench->tiles[tile].poison[index / 32] |= 1u << (index % 32);
}

/* Undefined words are sent on as such, and words that were undefined are sent on defined when they were stored over. */
static void forwarded_poison(void)
{
    Bench *bench = relay(TO, N, END + 5);
    for (int i = 0; i < N; i++) {
        set_poison(bench, D_TILE, TO + 4 * (uint32_t)i);
    }
    set_poison(bench, S_TILE, FROM + 12);
    bench_fill(bench, L_TILE, LAST, N, 0);
    bench_must_run(bench);
    for (int i = 0; i < N; i++) {
        CHECK_EQ_INT(bench_is_poison(bench, D_TILE, TO + 4 * (uint32_t)i), i == 3);
        CHECK_EQ_INT(bench_is_poison(bench, L_TILE, LAST + 4 * (uint32_t)i), i == 3);
    }
    bench_destroy(bench);
}

/* A ring of relays in one phase, each of which sends on what it got, back to the first one over what that sent. */
static void ring(void)
{
    enum { LENGTH = 12, WORDS = 7, FIRST = 90 };
    Bench *bench = bench_create();
    Event start = FIRST, pointer = 0;
    BenchRow first = {0};
    row_send(&first, start, FROM, WORDS, SCTL_BOTH);
    bench_fill(bench, 0, FROM, WORDS, VALUE);
    for (int i = 1; i <= LENGTH; i++) {
        PhysTile s = {(uint16_t)(64 * (i - 1))}, d = {(uint16_t)(i < LENGTH ? 64 * i : 0)};
        BenchRow own = {0}, *row = i < LENGTH ? &own : &first;
        Event src = start + time_to_mux(s, d) + 1;
        pointer = src + 52 + 2 * phys_row(d);
        row_xpic(row, src, s.id);
        row_xpic(row, src + WORDS, FABRIC_NEUTRAL);
        row_pic(row, pointer, FROM);
        start = pointer + WORDS + 5 + i;
        if (i < LENGTH) {
            row_send(row, start, FROM, WORDS, SCTL_BOTH);
            bench_row(bench, d.id, row, -1);
        }
    }
    bench_row(bench, 0, &first, pointer + WORDS + 5);
    bench_must_run(bench);
    for (int i = 0; i < LENGTH; i++) {
        bench_expect(bench, 64 * i, FROM, WORDS, VALUE);
    }
    CHECK_EQ_INT(bench->stored_words, LENGTH * WORDS);
    bench_destroy(bench);
}

/* Two messages into one range: the later one stays; what is sent between them is the earlier one. */
static void stored_twice(void)
{
    enum { GAP = 60, OTHER = 0x88000 };
    Bench *bench = bench_create();
    BenchRow s = {0}, d = {0};
    row_send(&s, SEND, FROM, N, SCTL_BOTH);
    row_send(&s, SEND + GAP, OTHER, N, SCTL_BOTH);
    bench_row(bench, S_TILE, &s, -1);
    bench_fill(bench, S_TILE, FROM, N, VALUE);
    bench_fill(bench, S_TILE, OTHER, N, 2 * VALUE);
    row_xpic(&d, SRC, S_TILE);
    row_xpic(&d, SRC + N, FABRIC_NEUTRAL);
    row_pic(&d, POINTER, TO);
    row_xpic(&d, SRC + GAP, S_TILE);
    row_xpic(&d, SRC + GAP + N, FABRIC_NEUTRAL);
    row_send(&d, END + 9, TO, N, SCTL_BOTH);
    row_pic(&d, POINTER + GAP, TO);
    bench_row(bench, D_TILE, &d, END + GAP + 5);
    hears(bench, L_TILE, D_TILE, END + 9, N, LAST);
    bench_must_run(bench);
    bench_expect(bench, D_TILE, TO, N, 2 * VALUE);
    bench_expect(bench, L_TILE, LAST, N, VALUE);
    bench_destroy(bench);
}

/* --- X6 ----------------------------------------------------------------------------------------------------------- */

/* D also sends two words at `start`; its source control stands at SRC. */
static Bench *sends_at(Event start)
{
    Bench *bench = bench_create();
    BenchRow d = {0};
    sends(bench);
    row_xpic(&d, SRC, S_TILE);
    row_send(&d, start, 0xb0000, 2, SCTL_BOTH);
    row_xpic(&d, SRC + N, FABRIC_NEUTRAL);
    row_pic(&d, POINTER, TO);
    bench_row(bench, D_TILE, &d, END + 5);
    bench_fill(bench, D_TILE, 0xb0000, 2, 3);
    return bench;
}

static void starts(void)
{
    faults(sends_at(SRC), "CONTROL_AT_START", FAULT_ILLEGAL, D_TILE);
    faults(sends_at(SRC + 1), "UNHEARD", FAULT_ILLEGAL, D_TILE); /* legal, but nobody listens */
    /* A sendpicp that begins a message: its controls take effect one event after the start. */
    Bench *bench = bench_create();
    BenchRow row = {0};
    sends(bench);
    row_word(&row, 0xf0000000u | 1u << 21 | FROM / 4 << 3 | SCTL_BOTH);
    row_word(&row, FABRIC_NEUTRAL << 18 | TO / 4);
    row.now = 2;
    bench_row(bench, D_TILE, &row, -1);
    faults(bench, "CONTROL_AT_START", FAULT_ILLEGAL, D_TILE);
}

/* --- entry -------------------------------------------------------------------------------------------------------- */

static void pair_mux_at_entry(void)
{
    Bench *bench = bench_create();
    sends(bench);
    hears(bench, D_TILE, S_TILE, SEND, N, TO);
    bench->tiles[D_TILE].csr[CSR_INCOMING_MUXPAIR] = 17;
    faults(bench, "NEUTRAL_AT_ENTRY", FAULT_ILLEGAL, D_TILE);
}

/* Values that no base register holds. */
static void bases_at_entry(void)
{
    for (int i = 0; i < 2; i++) {
        Bench *bench = bench_create();
        sends(bench);
        hears(bench, D_TILE, S_TILE, SEND, N, TO);
        bench->tiles[D_TILE].csr[i == 0 ? CSR_OUTGOING_BASE : CSR_INCOMING_BASE] = 1u << 20;
        faults(bench, "EXCHANGE_ADDRESS", FAULT_ILLEGAL, D_TILE);
    }
}

TEST_MAIN(forwarding, forwarded_poison, ring, stored_twice, starts, pair_mux_at_entry,
          bases_at_entry)
