/* How fast this host runs phases of the exchange: payload of a bulk phase, and the cost of a message of one word. The fabric lives
 * on between phases, as it does in a machine.
 *
 * Bulk: groups of eight tiles; in turn each member multicasts three messages of 64..1000 words to the seven others, and no two
 * messages of a group overlap. One word: half of the tiles send 544 single words to a neighbour, whose mux opens for each.
 */
#include "../tests/machine/fabric_bench.h"
#include "base/parallel.h"

enum {
    THREADS = 2,
    RUNS = 21,
    GROUP = 8,
    ROUNDS = 3,
    FIRST_SEND = 200,
    SPACING = 400, /* longer than any way through the fabric with its margins */
    FROM = 0x50000,
    TO = 0x80000,
    SINGLES = 544,
    ROW_WORDS = 4096,
};

/* A control of a receiver: XPIC and PIC words of exchange.md 4 at their shortest. */
typedef struct Control {
    Event event;
    uint32_t word;
} Control;

typedef struct Row {
    uint32_t word[ROW_WORDS];
    int len;
    Event now;
} Row;

static void put(Row *row, uint32_t word, Event events)
{
    CHECK(row->len < ROW_WORDS);
    row->word[row->len++] = word;
    row->now += events;
}

static void wait_until(Row *row, Event event)
{
    CHECK(event >= row->now);
    if (event > row->now) {
        put(row, 0x40a00000u | (uint32_t)(event - row->now - 1), event - row->now);
    }
}

static void install(Bench *bench, int tile, Row *row, Event end)
{
    wait_until(row, end);
    put(row, 0x43a00000, 0);
    uint32_t call = 0x18a00000u | BENCH_ROW / 4;
    TileState *state = &bench->tiles[tile];
    tile_store_words(state, BENCH_PC, &call, 1, NULL);
    tile_store_words(state, BENCH_ROW, row->word, row->len, NULL);
    state->csr[CSR_INCOMING_MUX] = FABRIC_NEUTRAL;
    state->csr[CSR_INCOMING_DCOUNT] = 1;
    bench->is_active[tile] = true;
}

static int message_words(int group, int message)
{
    return 64 + (group * 131 + message * 389) % 937;
}

static int by_event(const void *a, const void *b)
{
    const Control *x = a, *y = b;
    return x->event < y->event ? -1 : x->event > y->event;
}

/* Messages follow each other with SPACING, so the controls of one message are over before the next is sent. */
static void bulk_row(Bench *bench, int tile)
{
    static Row row;
    PhysTile to = {(uint16_t)tile};
    int group = tile / GROUP;
    Event start = FIRST_SEND, end = 0;
    uint32_t address = TO;
    row.len = 0;
    row.now = 0;
    for (int i = 0; i < GROUP * ROUNDS; i++) {
        PhysTile from = {(uint16_t)(group * GROUP + i % GROUP)};
        Event words = message_words(group, i);
        if (from.id == tile) {
            Event first = words < 64 ? words : 64;
            wait_until(&row, start);
            put(&row, 0x78000000u | (uint32_t)(first - 1) << 21 | FROM / 4 << 3 | SCTL_BOTH, first);
            uint32_t rest = (uint32_t)(words - first - 1);
            if (words > first) {
                put(&row, 0x70000000u | (rest & 63) << 21 | rest >> 6 << 14 | SCTL_BOTH,
                    words - first);
            }
            end = row.now;
        } else {
            Event src = start + time_to_mux(from, to) + 1;
            Event pointer = src + 52 + 2 * phys_row(to);
            Control controls[] = {{src, 0x64000000u | from.id},
                                  {src + words, 0x64000000u | FABRIC_NEUTRAL},
                                  {pointer - (pointer == src + words), 0x60000000u | address / 4}};
            qsort(controls, 3, sizeof controls[0], by_event);
            for (int k = 0; k < 3; k++) {
                wait_until(&row, controls[k].event - 1);
                put(&row, controls[k].word, 1);
            }
            address += 4 * (uint32_t)words;
            end = pointer + words + 5;
        }
        start += words + SPACING;
    }
    CHECK(address <= SRAM_END && address - TO >= 4 * 8000);
    install(bench, tile, &row, end > row.now ? end : row.now);
}

static void bulk(Bench *bench)
{
    for (int i = 0; i < CHIP_TILES; i++) {
        bench_fill(bench, i, FROM, 1000, (uint32_t)i << 16);
        bulk_row(bench, i);
    }
}

static void singles(Bench *bench)
{
    static Row row;
    for (int i = 0; i < CHIP_TILES; i += 2) {
        PhysTile from = {(uint16_t)i}, to = {(uint16_t)(i + 1)};
        bench_fill(bench, i, FROM, SINGLES, (uint32_t)i << 16);
        row = (Row){0};
        wait_until(&row, FIRST_SEND);
        for (uint32_t k = 0; k < SINGLES; k++) {
            put(&row, 0x78000000u | (FROM / 4 + k) << 3 | SCTL_BOTH, 1);
            put(&row, 0x40a00000u, 1);
        }
        install(bench, i, &row, row.now);
        row = (Row){0};
        Event src = FIRST_SEND + time_to_mux(from, to) + 1;
        put(&row, 0x60000000u | TO / 4, 1);
        wait_until(&row, src - 1);
        for (int k = 0; k < SINGLES; k++) {
            put(&row, 0x64000000u | from.id, 1);
            put(&row, 0x64000000u | FABRIC_NEUTRAL, 1);
        }
        install(bench, i + 1, &row, src + 2 * SINGLES + 52 + 2 * phys_row(to) + 5);
    }
}

static int by_seconds(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Seconds of the phase, ascending; the first two runs, which touch fresh memory, do not count. */
static void measure(Bench *bench, bool poison_off, double *took)
{
    Fabric *fabric = fabric_create(THREADS, false, poison_off);
    for (int run = -2; run < RUNS; run++) {
        for (int i = 0; i < CHIP_TILES; i++) {
            bench->tiles[i].pc = BENCH_PC;
        }
        double start = time_seconds();
        if (!fabric_run_phase(fabric, bench->tiles, bench->is_active, bench->event_zero,
                              &bench->stored_words, &bench->fault)) {
            fprintf(stderr, "%s on tile %u: %s\n", bench->fault.name,
                    (unsigned)bench->fault.tile.id, bench->fault.detail);
            exit(1);
        }
        if (run >= 0) {
            took[run] = time_seconds() - start;
        }
    }
    fabric_destroy(fabric);
    qsort(took, RUNS, sizeof took[0], by_seconds);
}

int main(void)
{
    static const char *const poison[] = {"poison", "no poison"};
    double took[RUNS];
    Bench *bench = bench_create();
    bulk(bench);
    for (int off = 0; off < 2; off++) {
        measure(bench, off != 0, took);
        double bytes = 4 * (double)bench->stored_words;
        printf("bulk, %-22s best %6.2f GB/s, median %6.2f GB/s (%.1f MB)\n", poison[off],
               bytes / took[0] * 1e-9, bytes / took[RUNS / 2] * 1e-9, bytes * 1e-6);
    }
    bench_destroy(bench);
    bench = bench_create();
    singles(bench);
    for (int off = 0; off < 2; off++) {
        measure(bench, off != 0, took);
        double words = (double)bench->stored_words;
        printf("one word, %-18s best %6.1f ns,   median %6.1f ns a word (%.0f words)\n",
               poison[off], took[0] / words * 1e9, took[RUNS / 2] / words * 1e9, words);
    }
    bench_destroy(bench);
    return 0;
}
