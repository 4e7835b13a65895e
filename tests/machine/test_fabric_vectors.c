/* The reference vectors of exchange.md 3.3: rows as hex words, decoded and run; every word must be stored where and when the
 * document says.
 */
#include "fabric_bench.h"

enum { SOURCE = 0x80000, TARGET = 0x90000, VALUE = 0x12340000 };

#define WORDS(...)                                                                                 \
    (const uint32_t[]){__VA_ARGS__}, (int)(sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

typedef struct Vector {
    int from, to; /* logical */
    int words;
    const uint32_t *sender;
    int sender_len;
    const uint32_t *receiver;
    int receiver_len;
    Event sender_end, receiver_end; /* sums of the events in the words */
} Vector;

/* First words are `sync 3`, which runs before the row; the receiver's first source is patched. */
static void run_point_to_point(const Vector *v)
{
    for (int change = 0; change <= 1; change++) {
        Bench *bench = bench_create();
        int s = phys_of((Tile){(uint16_t)v->from}).id, d = phys_of((Tile){(uint16_t)v->to}).id;
        bench->idle_source_allowed = true; /* decisions.md B: mux stays connected 2R events more */
        BenchRow row = {0};
        for (int i = 0; i < v->receiver_len; i++) {
            row_word(&row, v->receiver[i]);
        }
        CHECK_EQ_INT(row.word[0] & 0x1fff, 0);
        row.word[0] |= (uint32_t)s;
        row.word[row.len - 1] -= (uint32_t)change; /* one event less of the final delay */
        bench_words(bench, s, v->sender, v->sender_len);
        bench_row(bench, d, &row, -1);
        bench->tiles[s].csr[CSR_OUTGOING_BASE] = SOURCE;
        bench->tiles[d].csr[CSR_INCOMING_BASE] = TARGET;
        bench_fill(bench, s, SOURCE, v->words, VALUE);
        if (change == 1) {
            /* Rows end exactly 5 events after their last store (exchange.md 11, self-check). */
            CHECK(!bench_run(bench));
            CHECK_CSTR(bench->fault.name, "ROW_SHORT");
            CHECK_EQ_INT(bench->fault.tile.id, d);
            bench_destroy(bench);
            continue;
        }
        bench_must_run(bench);
        bench_expect(bench, d, TARGET, v->words, VALUE);
        CHECK(bench_is_poison(bench, d, TARGET - 4));
        CHECK(bench_is_poison(bench, d, TARGET + 4 * (uint32_t)v->words));
        CHECK_EQ_INT(bench->stored_words, v->words);
        CHECK_EQ_INT(bench->tiles[s].cycle, bench->event_zero + v->sender_end);
        CHECK_EQ_INT(bench->tiles[d].cycle, bench->event_zero + v->receiver_end);
        CHECK_EQ_INT(bench->tiles[d].pc, BENCH_PC + 4);
        CHECK_EQ_INT(bench->tiles[d].m[10], BENCH_PC + 4);
        bench_destroy(bench);
    }
}

static void point_to_point(void)
{
    const Vector vectors[] = {
        /* send start 112 - T, source at 113, pointer at 165 + 2R, end = pointer + n + 5 */
        {0, 1286, 3, WORDS(0x40a00086, 0x78400001),
         WORDS(0x641c0000, 0x64008640, 0x61800000, 0x40a00007), 138, 173},
        {736, 100, 52, WORDS(0x40a0003e, 0x7e600002),
         WORDS(0x641c0000, 0x61d00000, 0x64000640, 0x40a00038), 115, 230},
        {1286, 1471, 65, WORDS(0x40a0007d, 0x7fe00002, 0x70000002),
         WORDS(0x641c0000, 0x61980000, 0x64030640, 0x40a00038), 191, 235},
        {32, 0, 4148, WORDS(0x40a0006c, 0x7fe00001, 0x766fc001),
         WORDS(0x641c0000, 0x61980000, 0x67ffc640, 0x40a00038), 4257, 4318},
    };
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        run_point_to_point(&vectors[i]);
    }
}

static void multicast(void)
{
    Bench *bench = bench_create();
    const int to[2] = {phys_of((Tile){274}).id, phys_of((Tile){1286}).id};
    bench_words(bench, 0, WORDS(0x40a00016, 0x78400003));
    bench->tiles[0].csr[CSR_OUTGOING_BASE] = SOURCE;
    bench_fill(bench, 0, SOURCE, 3, VALUE);
    for (int i = 0; i < 2; i++) {
        /* source 0 at 1, neutral at 4, pointer word 0x14000 at 53, end 53 + 3 + 5 */
        bench_words(bench, to[i], WORDS(0x64000000, 0x64008640, 0x61814000, 0x40a00007));
    }
    bench_must_run(bench);
    for (int i = 0; i < 2; i++) {
        bench_expect(bench, to[i], 0x50000, 3, VALUE);
        CHECK_EQ_INT(bench->tiles[to[i]].cycle, bench->event_zero + 61);
    }
    bench_destroy(bench);
}

/* Four consecutive 52-word messages into a tile of row 0, as the vendor's compiler writes them. */
static void vendor_row(void)
{
    const int sources[4] = {130, 192, 194, 256};
    const uint32_t targets[4] = {0x50120, 0x54000, 0x58000, 0x5c000};
    Bench *bench = bench_create();
    bench_words(bench, 0,
                WORDS(0x64000082, 0x40a00032, 0xf6600000, 0x03014048, 0xf6600000, 0x03095000,
                      0xf6600000, 0x04016000, 0xf7200000, 0x19017000));
    for (int i = 0; i < 4; i++) {
        Event start = 52 * i - time_to_mux((PhysTile){(uint16_t)sources[i]}, (PhysTile){0});
        BenchRow row = {0};
        row_send(&row, start, SOURCE, 52, SCTL_BOTH);
        bench_row(bench, sources[i], &row, -1);
        bench_fill(bench, sources[i], SOURCE, 52, VALUE + 0x1000 * (uint32_t)i);
    }
    bench_must_run(bench);
    for (int i = 0; i < 4; i++) {
        bench_expect(bench, 0, targets[i], 52, VALUE + 0x1000 * (uint32_t)i);
    }
    CHECK_EQ_INT(bench->tiles[0].cycle, bench->event_zero + 266);
    bench_destroy(bench);
}

/* Tile L0 sends 4 words to itself and L2; its own copy is stored long after they were read. */
static Bench *loopback_to(uint32_t to)
{
    Bench *bench = bench_create();
    BenchRow own = {0}, remote = {0};
    PhysTile zero = {0}, other = {64};
    Event start = 40, src = start + time_to_mux(zero, zero) + 1;
    row_xpic(&own, src, 0);
    row_xpic(&own, src + 4, FABRIC_NEUTRAL);
    row_send(&own, start, SOURCE, 4, SCTL_BOTH);
    row_pic(&own, src + 52, to);
    CHECK(src + 52 > start + 4);
    bench_row(bench, 0, &own, src + 52 + 4 + 5);
    src = start + time_to_mux(zero, other) + 1;
    row_xpic(&remote, src, 0);
    row_xpic(&remote, src + 4, FABRIC_NEUTRAL);
    row_pic(&remote, src + 54, TARGET);
    bench_row(bench, 64, &remote, src + 54 + 4 + 5);
    bench_fill(bench, 0, SOURCE, 4, VALUE);
    return bench;
}

/* Legal with a remote receiver and separate elements (exchange.md 8). */
static void loopback(void)
{
    Bench *bench = loopback_to(TARGET);
    bench_must_run(bench);
    bench_expect(bench, 0, TARGET, 4, VALUE);
    bench_expect(bench, 64, TARGET, 4, VALUE);
    bench_destroy(bench);
}

/* The last words of the pair of elements that SOURCE lies in, and the first behind it. */
static void loopback_in_one_element(void)
{
    uint32_t end = SOURCE + 0x8000;
    Bench *bench = loopback_to(end - 4 * 4);
    CHECK(!bench_run(bench));
    CHECK_CSTR(bench->fault.name, "LOOPBACK");
    CHECK_EQ_INT(bench->fault.category, FAULT_ILLEGAL);
    CHECK_EQ_INT(bench->fault.tile.id, 0);
    bench_destroy(bench);
    bench = loopback_to(end);
    bench_must_run(bench);
    bench_expect(bench, 0, end, 4, VALUE);
    bench_destroy(bench);
}

/* Half of the chip sends to the other half, different lengths, poison inside; one thread and two give the same memory. */
static void whole_chip(void)
{
    Bench *bench[2] = {bench_create(), bench_create()};
    int64_t words = 0;
    for (int b = 0; b < 2; b++) {
        bench[b]->threads = b + 1;
        for (int i = 0; i < CHIP_TILES / 2; i++) {
            Tile from = {(uint16_t)(2 * i)}, to = {(uint16_t)((2 * i + 737) % CHIP_TILES)};
            PhysTile s = phys_of(from), d = phys_of(to);
            int n = 1 + 7 * i % 150;
            words += b == 0 ? n : 0;
            Event start = 80 + i % 13, src = start + time_to_mux(s, d) + 1;
            Event pointer = src + 52 + 2 * phys_row(d);
            BenchRow send = {0}, receive = {0};
            row_send(&send, start, SOURCE, n, (uint32_t)direction_of(s, d));
            bench_row(bench[b], s.id, &send, -1);
            row_xpic(&receive, src, s.id);
            if (src + n < pointer) {
                row_xpic(&receive, src + n, FABRIC_NEUTRAL);
                row_pic(&receive, pointer, TARGET);
            } else if (src + n > pointer) {
                row_pic(&receive, pointer, TARGET);
                row_xpic(&receive, src + n, FABRIC_NEUTRAL);
            } else {
                row_until(&receive, pointer - 1);
                if (receive.len % 2 != 0) {
                    CHECK(receive.word[receive.len - 1] > 0x40a00000);
                    receive.word[receive.len - 1]--;
                    row_word(&receive, 0x40a00000);
                }
                row_word(&receive, 0xf0000000);
                row_word(&receive, FABRIC_NEUTRAL << 18 | TARGET / 4);
                receive.now = pointer;
            }
            bench_row(bench[b], d.id, &receive, pointer + n + 5);
            bench_fill(bench[b], s.id, SOURCE, n - n / 40, VALUE + 256 * (uint32_t)i);
        }
        bench_must_run(bench[b]);
        CHECK_EQ_INT(bench[b]->stored_words, words);
    }
    for (int i = 0; i < CHIP_TILES / 2; i++) {
        int d = phys_of((Tile){(uint16_t)((2 * i + 737) % CHIP_TILES)}).id;
        int n = 1 + 7 * i % 150;
        bench_expect(bench[0], d, TARGET, n - n / 40, VALUE + 256 * (uint32_t)i);
        for (int k = n - n / 40; k < n; k++) {
            CHECK(bench_is_poison(bench[0], d, TARGET + 4 * (uint32_t)k));
        }
    }
    for (int i = 0; i < CHIP_TILES; i++) {
        const TileState *a = &bench[0]->tiles[i], *b = &bench[1]->tiles[i];
        CHECK(memcmp(a->sram + (TARGET - SRAM_BASE), b->sram + (TARGET - SRAM_BASE), 1024) == 0);
        CHECK(memcmp(a->poison, b->poison, SRAM_WORDS / 8) == 0);
        CHECK_EQ_INT(a->cycle, b->cycle);
    }
    bench_destroy(bench[0]);
    bench_destroy(bench[1]);
}

TEST_MAIN(point_to_point, multicast, vendor_row, loopback, loopback_in_one_element, whole_chip)
