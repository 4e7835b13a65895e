/* Bytes become the exchange rows of six tiles of one phase - near and far, both halves of a pair - mostly of exchange words with
 * plausible counts, sources and addresses, now and then of any word. The phase must end well or with a named fault, without a
 * sanitizer's word (libFuzzer target; `make fuzz`).
 */
#include "bytes.h"
#include "machine/fabric_bench.h"

enum { TILES = 6, WORDS_MAX = 40 };

static const int tiles[TILES] = {0, 1, 2, 64, 66, 1471};

/* Mux value: a used tile, paired or not, nobody, the host; seldom anything. */
static uint32_t source_of(Bytes *bytes)
{
    uint32_t byte = take(bytes, 1);
    uint32_t pair = byte & 0x40 ? 0x2000 : 0;
    if (byte >= 0xf8) {
        return take(bytes, 2) & 0x3fff;
    }
    return pair | ((byte & 15) < TILES ? (uint32_t)tiles[byte & 15] : (byte & 1 ? 0x640u : 0x600u));
}

/* Word address as rows hold it; seldom anything. */
static uint32_t pointer_of(Bytes *bytes)
{
    static const uint32_t places[] = {0x4c000, 0x50000, 0x80000, 0x80008,
                                      0x90000, 0xe7fc0, 0x4c200, 0};
    uint32_t byte = take(bytes, 1);
    return byte >= 0xf0 ? take(bytes, 3) & 0x3ffff : places[byte & 7] / 4 + (byte >> 3);
}

static uint32_t count_of(Bytes *bytes, uint32_t bits)
{
    uint32_t byte = take(bytes, 1);
    return (byte >= 0xf8 ? take(bytes, 2) : byte % 48) & ((1u << bits) - 1);
}

static uint32_t word_of(Bytes *bytes)
{
    switch (take(bytes, 1) % 10) {
    case 0:
    case 1:
        return isa_word(INSN_delay_mmmn_zi, count_of(bytes, 19), 0, 0, 0);
    case 2:
        return 0x60000000u | count_of(bytes, 7) << 19 | (take(bytes, 1) & 1) << 18 |
               pointer_of(bytes);
    case 3:
        return 0x64000000u | count_of(bytes, 12) << 14 | source_of(bytes);
    case 4:
    case 5:
        return 0x78000000u | count_of(bytes, 6) << 21 | pointer_of(bytes) << 3 |
               (take(bytes, 1) & 7);
    case 6:
        return 0x70000000u | count_of(bytes, 6) << 21 | (take(bytes, 1) & 63) << 14 |
               (take(bytes, 1) & 7);
    case 7:
        return 0x70100000u | count_of(bytes, 6) << 21 | (take(bytes, 1) & 3) << 18 |
               (take(bytes, 1) & 1 ? pointer_of(bytes) : source_of(bytes));
    case 8: /* put of a register, seldom legal in a row */
        return isa_word(INSN_put_mmmn_zi, CSR_OUTGOING_BASE + (take(bytes, 1) & 3),
                        take(bytes, 1) & 7, 0, 0);
    default:
        return take(bytes, 1) < 200
                   ? isa_word(INSN_setzi_mmmn_zi, take(bytes, 1) & 7, 0x80000, 0, 0)
                   : take(bytes, 4);
    }
}

static void add_row(Bench *bench, Bytes *bytes, int tile)
{
    BenchRow row = {0};
    int count = (int)take(bytes, 1) % WORDS_MAX;
    while (row.len < count) {
        bool is_double = take(bytes, 1) % 8 == 0 && row.len % 2 == 0;
        if (is_double) {
            row_word(&row, 0xf0000000u | (take(bytes, 1) & 1) << 27 | count_of(bytes, 6) << 21 |
                               pointer_of(bytes) << 3 | (take(bytes, 1) & 7));
            row_word(&row, source_of(bytes) << 18 | pointer_of(bytes));
        } else {
            row_word(&row, word_of(bytes));
        }
    }
    bench_row(bench, tile, &row, -1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static Bench *bench;
    static Fabric *fabrics[2]; /* an idle source allowed or not */
    if (bench == NULL) {
        bench = bench_create();
        fabrics[0] = fabric_create(1, false, false);
        fabrics[1] = fabric_create(1, true, false);
    }
    Bytes bytes = {data, size, 0};
    Fabric *fabric = fabrics[take(&bytes, 1) & 1];
    bench->stored_words = 0;
    bench->fault = (Fault){0};
    for (int i = 0; i < TILES; i++) {
        TileState *tile = &bench->tiles[tiles[i]];
        uint8_t *sram = tile->sram;
        uint32_t *poison = tile->poison;
        PhysTile id = tile->id;
        tile_destroy(tile);
        memset(tile, 0, sizeof *tile);
        memset(sram, 0, SRAM_BYTES);
        memset(poison, 0xff, SRAM_WORDS / 8);
        tile_create(tile, id, sram, poison);
        tile_reset(tile, BENCH_PC);
        tile->is_present = true;
        bench_fill(bench, tiles[i], 0x80000, 64, (uint32_t)i << 16);
        add_row(bench, &bytes, tiles[i]);
    }
    bool is_good = fabric_run_phase(fabric, bench->tiles, bench->is_active, bench->event_zero,
                                    &bench->stored_words, &bench->fault);
    ASSERT(is_good == (bench->fault.name == NULL));
    return 0;
}
