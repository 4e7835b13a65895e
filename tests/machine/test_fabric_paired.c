/* Paired 64-bit transfers: the examples of exchange.md 3.3 and 5, and each of their rules broken once. */
#include "fabric_bench.h"

enum { FROM = 0x80000, TO = 0x90000, TO_LATE = 0x98000, VALUE = 0x700000, FORMAT = 1 << 18 };

/* Paired source of the mux of tile d. */
static uint32_t pair_source(int s, int d)
{
    return 0x2000u | (uint32_t)(s ^ (d & 2));
}

static void row_format(BenchRow *row, Event event, uint32_t value)
{
    row_until(row, event - 1);
    row_word(row, 0x60000000u | FORMAT | value);
    row->now = event;
}

static void row_send_wide(BenchRow *row, Event event, uint32_t byte_address, int items,
                          uint32_t sctl)
{
    /* item addresses count 8 bytes, the helper counts 4 */
    row_send(row, event, byte_address / 2, items, SCTL_WIDE | sctl);
}

/* L0 -> {L2, L3} = {64, 66}, 64 items (exchange.md 5): T = -31 and -30, start 31, L2 early. */
typedef struct Case {
    Event start, src, format_on, pointer, neutral, format_off, end;
    uint32_t format, sctl;
    uint32_t early_to, late_to;
    int items;
} Case;

static Case example(void)
{
    return (Case){.start = 31,
                  .src = 1,
                  .format_on = 54,
                  .pointer = 56,
                  .neutral = 65,
                  .format_off = 118,
                  .end = 125,
                  .format = 1,
                  .sctl = SCTL_DIR1,
                  .early_to = TO,
                  .late_to = TO_LATE,
                  .items = 64};
}

static Bench *bench_of(Case c)
{
    Bench *bench = bench_create();
    BenchRow send = {0}, early = {0}, late = {0};
    row_send_wide(&send, c.start, FROM, c.items, c.sctl);
    bench_row(bench, 0, &send, -1);
    row_xpic(&early, c.src, pair_source(0, 64));
    row_format(&early, c.format_on, c.format);
    row_pic(&early, c.pointer, c.early_to);
    row_xpic(&early, c.neutral, 0x2000 | FABRIC_NEUTRAL);
    row_format(&early, c.format_off, 0);
    bench_row(bench, 64, &early, c.end);
    row_format(&late, c.format_on, c.format);
    row_pic(&late, c.pointer, c.late_to);
    row_format(&late, c.format_off, 0);
    bench_row(bench, 66, &late, c.end);
    bench_fill(bench, 0, FROM, 2 * c.items, VALUE);
    return bench;
}

static void two_members(void)
{
    Case c = example();
    Bench *bench = bench_of(c);
    bench_must_run(bench);
    bench_expect(bench, 64, TO, 128, VALUE);
    bench_expect(bench, 66, TO_LATE, 128, VALUE);
    CHECK(bench_is_poison(bench, 64, TO + 512));
    CHECK_EQ_INT(bench->stored_words, 256);
    CHECK_EQ_INT(bench->tiles[64].cycle, bench->event_zero + 125);
    bench_destroy(bench);
}

static void faults(Bench *bench, const char *name)
{
    bench_must_fault(bench, name, FAULT_ILLEGAL, -1);
    bench_destroy(bench);
}

static void rules(void)
{
    Case c = example();
    c.end--;
    faults(bench_of(c), "ROW_SHORT");
    c = example();
    c.format = 2;
    faults(bench_of(c), "MODI");
    c = example();
    c.format_on++;
    faults(bench_of(c), "MODI");
    c = example();
    c.format_off--;
    faults(bench_of(c), "MODI");
    c = example();
    c.pointer++;
    faults(bench_of(c), "POINTER");
    c = example();
    c.src++;
    c.neutral++;
    faults(bench_of(c), "MISSED_WORD");
    c = example();
    c.neutral++;
    faults(bench_of(c), "IDLE_SOURCE");
    c = example();
    c.neutral--;
    faults(bench_of(c), "MISSED_WORD");
    c = example();
    c.sctl = SCTL_DIR2;
    faults(bench_of(c), "DIRECTION");
    c = example();
    c.early_to = TO + 4;
    faults(bench_of(c), "EXCHANGE_ADDRESS");
    c = example();
    c.late_to = TO_LATE + 4;
    faults(bench_of(c), "EXCHANGE_ADDRESS");
}

/* The late member selects the source; a 32-bit listener; a partner without a row; a partner that sends. */
static void members(void)
{
    Bench *bench = bench_of(example());
    BenchRow late = {0};
    row_xpic(&late, 2, pair_source(0, 66));
    row_xpic(&late, 66, 0x2000 | FABRIC_NEUTRAL);
    bench_row(bench, 66, &late, 125);
    faults(bench, "PAIR_LATE");

    bench = bench_of(example());
    BenchRow narrow = {0};
    row_xpic(&narrow, 1, 0);
    row_xpic(&narrow, 65, FABRIC_NEUTRAL);
    bench_row(bench, 64, &narrow, 125);
    faults(bench, "MODI");

    bench = bench_of(example());
    BenchRow thin = {0};
    row_send(&thin, 31, FROM, 64, SCTL_DIR1);
    bench_row(bench, 0, &thin, -1);
    faults(bench, "MODI");

    bench = bench_of(example());
    bench->is_active[66] = false;
    faults(bench, "PAIR_PARTNER");

    for (Event start = 94; start <= 95; start++) { /* 64 items from event 31 end at 95 */
        bench = bench_of(example());
        BenchRow other = {0}, listener = {0};
        PhysTile from = {2}, to = {320};
        Event src = start + time_to_mux(from, to) + 1;
        row_send(&other, start, FROM, 2, SCTL_BOTH);
        bench_row(bench, 2, &other, -1);
        row_xpic(&listener, src, 2);
        row_xpic(&listener, src + 2, FABRIC_NEUTRAL);
        row_pic(&listener, src + 52 + 2 * phys_row(to), TO);
        bench_row(bench, 320, &listener, src + 52 + 2 * phys_row(to) + 2 + 5);
        if (start == 94) {
            faults(bench, "LANE_BORROWED");
        } else {
            bench_must_run(bench);
            bench_destroy(bench);
        }
    }

    /* 32-bit words while the 64-bit items come in, on the late member. */
    bench = bench_of(example());
    BenchRow both = {0}, sender = {0};
    Event start = 31, src = start + time_to_mux((PhysTile){128}, (PhysTile){66}) + 1;
    row_send(&sender, start, FROM, 4, SCTL_BOTH);
    bench_row(bench, 128, &sender, -1);
    row_xpic(&both, src, 128);
    row_xpic(&both, src + 4, FABRIC_NEUTRAL);
    row_format(&both, 54, 1);
    row_pic(&both, 56, TO_LATE);
    row_format(&both, 118, 0);
    bench_row(bench, 66, &both, 125);
    faults(bench, "LANE_BUSY");
}

/* Own pair, 256 items (exchange.md 5): start 29, src 1, format on 52, pointer 54, off 308, row end 315. */
static void own_pair(void)
{
    Bench *bench = bench_create();
    BenchRow own = {0}, other = {0};
    uint32_t format = (uint32_t)direction_of((PhysTile){0}, (PhysTile){0});
    row_xpic(&own, 1, pair_source(0, 0));
    row_send_wide(&own, 29, FROM, 22, SCTL_BOTH);
    CHECK_EQ_INT(own.now, 51);
    row_word(&own, 0x70100000u | 1u << 21 | 3u << 18 | format); /* 2 items, format at 52 */
    row_word(&own,
             0x70100000u | 63u << 21 | 2u << 18 | TO / 4); /* 64 items from 53, pointer at 54 */
    uint32_t rest = 256 - 117 - 1;                         /* items of 117..256 */
    row_word(&own, 0x70000000u | (rest & 63) << 21 | rest >> 6 << 14 | SCTL_WIDE | SCTL_BOTH);
    row_word(&own, 0x70100000u | 28u << 21 | 1u << 18 | FABRIC_NEUTRAL); /* pair neutral at 257 */
    own.now = 285;
    row_format(&own, 308, 0);
    bench_row(bench, 0, &own, 315);
    row_format(&other, 52, format);
    row_pic(&other, 54, TO_LATE);
    row_format(&other, 308, 0);
    bench_row(bench, 2, &other, 315);
    bench_fill(bench, 0, FROM, 512, VALUE);
    bench_must_run(bench);
    bench_expect(bench, 0, TO, 512, VALUE);
    bench_expect(bench, 2, TO_LATE, 512, VALUE);
    CHECK_EQ_INT(bench->tiles[0].cycle, bench->event_zero + 315);
    bench_destroy(bench);
}

/* Own pair, 4 items: stored from event 54 on, when the last was read at 33. Only the sender's copy is bound to other elements. */
static void own_pair_in_one_element(void)
{
    static const struct {
        uint32_t own_to, other_to;
        bool is_legal;
    } cases[] = {{FROM + 0x8000 - 32, TO, false},
                 {FROM, TO, false},
                 {FROM + 0x8000, TO, true},
                 {TO, FROM, true}};
    uint32_t format = (uint32_t)direction_of((PhysTile){0}, (PhysTile){0});
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Bench *bench = bench_create();
        for (int tile = 0; tile <= 2; tile += 2) {
            BenchRow row = {0};
            if (tile == 0) {
                row_xpic(&row, 1, pair_source(0, 0));
                row_xpic(&row, 5, 0x2000 | FABRIC_NEUTRAL);
                row_send_wide(&row, 29, FROM, 4, SCTL_BOTH);
            }
            row_format(&row, 52, format);
            row_pic(&row, 54, tile == 0 ? cases[i].own_to : cases[i].other_to);
            row_format(&row, 56, 0);
            bench_row(bench, tile, &row, 63);
        }
        bench_fill(bench, 0, FROM, 8, VALUE);
        if (!cases[i].is_legal) {
            faults(bench, "LOOPBACK");
            continue;
        }
        bench_must_run(bench);
        bench_expect(bench, 0, cases[i].own_to, 8, VALUE);
        bench_expect(bench, 2, cases[i].other_to, 8, VALUE);
        bench_destroy(bench);
    }
}

/* Bases that are multiples of 4 and not of 8: the sender's, and that of either member. */
static void bases_of_pairs(void)
{
    Bench *bench = bench_of(example());
    bench->tiles[0].csr[CSR_OUTGOING_BASE] = 4;
    faults(bench, "EXCHANGE_ADDRESS");
    for (int tile = 64; tile <= 66; tile += 2) {
        bench = bench_of(example());
        bench->tiles[tile].csr[CSR_INCOMING_BASE] = 4;
        faults(bench, "EXCHANGE_ADDRESS");
    }
}

/* The vendor's cadence (exchange.md 3.3): four paired 352-word messages into one tile of row 1; the format is held. */
static void vendor_cadence(void)
{
    const int sources[4] = {256, 320, 384, 448}; /* L4.. in the same column: L2 is early for all */
    Bench *bench = bench_create();
    BenchRow early = {0}, late = {0};
    const Event src[4] = {1, 177, 353, 529}, pointer[4] = {56, 232, 408, 584};
    for (int i = 0; i < 4; i++) {
        BenchRow send = {0};
        int t2 = time_to_mux((PhysTile){(uint16_t)sources[i]}, (PhysTile){66});
        CHECK_EQ_INT(t2, time_to_mux((PhysTile){(uint16_t)sources[i]}, (PhysTile){64}) + 1);
        row_send_wide(&send, src[i] - t2, FROM, 176,
                      (uint32_t)direction_of((PhysTile){(uint16_t)sources[i]}, (PhysTile){64}));
        bench_row(bench, sources[i], &send, -1);
        bench_fill(bench, sources[i], FROM, 352, VALUE + 0x1000 * (uint32_t)i);
        row_xpic(&early, src[i], pair_source(sources[i], 64));
        if (i == 0) {
            row_format(&early, 54, 1);
            row_format(&late, 54, 1);
        }
        row_pic(&early, pointer[i], TO + 0x1000 * (uint32_t)i);
        row_pic(&late, pointer[i], TO + 0x2000 * (uint32_t)i);
    }
    row_xpic(&early, 705, 0x2000 | FABRIC_NEUTRAL);
    row_format(&early, 758, 0);
    row_format(&late, 758, 0);
    bench_row(bench, 64, &early, 765);
    bench_row(bench, 66, &late, 765);
    bench_must_run(bench);
    for (int i = 0; i < 4; i++) {
        bench_expect(bench, 64, TO + 0x1000 * (uint32_t)i, 352, VALUE + 0x1000 * (uint32_t)i);
        bench_expect(bench, 66, TO + 0x2000 * (uint32_t)i, 352, VALUE + 0x1000 * (uint32_t)i);
    }
    bench_destroy(bench);
}

TEST_MAIN(two_members, rules, members, own_pair, own_pair_in_one_element, bases_of_pairs,
          vendor_cadence)
