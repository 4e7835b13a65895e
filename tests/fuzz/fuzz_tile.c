/* Bytes become the program of one tile: words of random forms with operands that are mostly legal, in and out of bundles, for the
 * supervisor and for its workers, whose registers hold useful addresses, so that programs run long. Each runs twice, with
 * undocumented points as faults and as assumed. Whatever happens must end in a stop with a named fault, a sync or the limit,
 * without a sanitizer's word (libFuzzer target; `make fuzz`).
 */
#include "bytes.h"
#include "machine/tile.h"
#include <stdlib.h>
#include <string.h>

enum {
    SUPERVISOR = 0x4c000,
    WORKER = 0x50000,
    DATA = 0x58000,
    DATA2 = 0x60000,
    WIDE = 0x80000,
    RESULT = 0x90000,
    WORDS_MAX = 400,
    LIMIT_CYCLES = 4000,
};

typedef struct Program {
    Bytes *bytes;
    InsnContext context;
    uint32_t begin; /* address of the first word */
    uint32_t words[WORDS_MAX];
    int count;
} Program;

static int csr_of(uint32_t byte, InsnContext context, bool is_upper)
{
    int first = is_upper ? 256 : 0;
    for (int i = 0; i < 256; i++) {
        int index = first + (int)((byte + (uint32_t)i) & 255);
        if (csr_name(index, context).len != 0) {
            return index - first;
        }
    }
    return 0;
}

/* A value that the operand can hold; one in 32 is anything. */
static uint32_t operand_value(Program *p, const InsnForm *form, const InsnOperand *operand)
{
    static const uint8_t main[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 15, 0, 1, 15};
    static const uint8_t aux[16] = {0, 1, 2, 3, 4, 5, 6, 7, 15, 0, 1, 2, 3, 4, 5, 15};
    static const uint8_t quad[4] = {0, 4, 12, 0};
    uint32_t byte = take(p->bytes, 1), low = byte & 15;
    if (byte >> 3 == 31) {
        return take(p->bytes, 4);
    }
    switch (operand->kind) {
    case OPERAND_MR:
        return operand->is_updated ? low % 12 : main[low];
    case OPERAND_MRP:
        return low % 6 * 2;
    case OPERAND_AR:
        return aux[low];
    case OPERAND_ARP:
        return low % 5 == 4 ? 14 : low % 5 * 2;
    case OPERAND_ARQ:
        return quad[low & 3];
    case OPERAND_CODE:
        return p->begin + byte % (uint32_t)(p->count + 16) * 4;
    case OPERAND_CSR:
        return (uint32_t)csr_of(byte, p->context, form->lane == LANE_AUX);
    case OPERAND_CCCS:
        return byte % 64;
    case OPERAND_IMMZ12:
        return take(p->bytes, 2) << 20;
    case OPERAND_SIMM:
        return (uint32_t)((int32_t)(byte << 24) >> 24) * (byte & 1 ? 1u : 8u);
    case OPERAND_ZIMM:
        return (byte & 1 ? take(p->bytes, 3) : byte >> 2) & ((1u << operand->bits) - 1);
    case OPERAND_ENUM:
        return byte & ((1u << operand->bits) - 1) & 31;
    default:
        return take(p->bytes, 4);
    }
}

static bool fits(const InsnForm *form, const Program *p, bool is_coissued, InsnLane lane)
{
    bool is_known = form->context == CONTEXT_BOTH || form->context == p->context;
    return is_known && form->words == 1 &&
           (!is_coissued || (form->may_coissue && form->lane == lane));
}

static void add_word(Program *p, bool is_coissued, InsnLane lane)
{
    uint32_t choice = take(p->bytes, 2);
    if (choice >= 0xfc00) {
        p->words[p->count++] = take(p->bytes, 4);
        return;
    }
    InsnCode code = (InsnCode)(1 + choice % (INSN_COUNT - 1));
    while (!fits(isa_form(code), p, is_coissued, lane)) {
        code = (InsnCode)(1 + (int)code % (INSN_COUNT - 1));
    }
    const InsnForm *form = isa_form(code);
    uint32_t operand[INSN_OPERANDS_MAX] = {0}, word[2];
    for (int i = 0; i < form->operand_count; i++) {
        operand[i] = operand_value(p, form, &form->operand[i]);
    }
    Error err = {0};
    if (!isa_encode(code, operand, is_coissued, word, &err)) {
        word[0] = form->match | (take(p->bytes, 4) & ~form->mask);
    }
    p->words[p->count++] = word[0];
}

/* `count` words from the bytes. */
static void add_words(Program *p, int count)
{
    for (int end = p->count + count; p->count < end;) {
        uint32_t is_pair = p->context == CONTEXT_WORKER ? take(p->bytes, 1) & 1 : 0;
        if (is_pair && (p->begin + 4 * (uint32_t)p->count) % 8 == 0) {
            add_word(p, true, LANE_MAIN);
            add_word(p, true, LANE_AUX);
        } else {
            add_word(p, false, LANE_MAIN);
        }
    }
}

static void add(Program *p, InsnCode code, uint32_t a, uint32_t b, uint32_t d)
{
    p->words[p->count++] = isa_word(code, a, b, d, 0);
}

/* Registers of both files, defined. */
static void set_registers(TileState *tile, Bytes *bytes)
{
    static const uint32_t places[] = {DATA,   DATA2,      WIDE,           RESULT,
                                      WORKER, SUPERVISOR, SRAM_END - 128, 0xa0008};
    for (int context = -1; context < CHIP_WORKERS; context++) {
        WorkerState *w = context < 0 ? NULL : &tile->worker[context];
        uint32_t *m = w ? w->m : tile->m;
        for (int r = 0; r < 12; r++) {
            uint32_t byte = context < 1 ? take(bytes, 1) : (uint32_t)(r * 37 + context);
            m[r] = byte < 192 ? places[byte & 7] + (byte >> 3) * 16
                              : (byte < 240 ? byte - 192 : byte * 0x01234567u);
        }
        if (w != NULL) {
            for (int r = 0; r < 8; r++) {
                w->a[r] = context == 0 ? take(bytes, 2) * 0x00010003u : (uint32_t)r * 0x3c013a02u;
            }
            w->m_poison = w->a_poison = 0;
        } else {
            tile->m_poison = 0;
        }
    }
}

static uint8_t sram[SRAM_BYTES];
static uint32_t poison[SRAM_WORDS / 32];
static int64_t words_seen, instructions_seen;

static void report(void)
{
    fprintf(stderr, "%lld words, %lld instructions executed\n", (long long)words_seen,
            (long long)instructions_seen);
}

static void run(const uint8_t *data, size_t size, bool is_assumed)
{
    Bytes bytes = {data, size, 0};
    static TileState tile;
    TileShared shared = {.timing = tile_timing_default(), .is_unknown_assumed = is_assumed};
    uint32_t options = take(&bytes, 1);
    shared.checks = options & 1 ? CHECK_DEFAULT & ~(uint32_t)CHECK_POISON : CHECK_DEFAULT;
    shared.pool = options & 2 ? code_pool_create() : NULL;
    memset(&tile, 0, sizeof tile);
    memset(sram, options & 4 ? 0 : 0x3c, sizeof sram);
    memset(poison, options & 8 ? 0xff : 0, sizeof poison);
    tile_create(&tile, (PhysTile){7}, sram, poison);
    tile_reset(&tile, SUPERVISOR);
    set_registers(&tile, &bytes);
    Program supervisor = {.bytes = &bytes, .context = CONTEXT_SUPERVISOR, .begin = SUPERVISOR};
    add_words(&supervisor, options & 16 ? (int)take(&bytes, 1) % 16 : 0);
    add(&supervisor, INSN_setzi_mmmn_zi, 0, WORKER, 0);
    add(&supervisor, INSN_setzi_mmmn_zi, 1, WIDE, 0);
    if (options & 32) { /* coefficients */
        add(&supervisor, INSN_put_mmmn_zi, CSR_CCCSLOAD, 1, 0);
        for (uint32_t k = 0; k < 64; k++) {
            add(&supervisor, INSN_ld64putcs_mmmn_zi, k, 0, 0);
        }
    }
    add(&supervisor, INSN_runall_mmmn_zi, 0, 1, 0);
    add_words(&supervisor, options & 64 ? (int)take(&bytes, 1) % 16 : 0);
    add(&supervisor, INSN_sync_mmmn_zi, 2, 0, 0);
    add(&supervisor, INSN_sync_mmmn_zi, 7, 0, 0);
    tile_store_words(&tile, SUPERVISOR, supervisor.words, supervisor.count, NULL);
    Program worker = {.bytes = &bytes, .context = CONTEXT_WORKER, .begin = WORKER};
    while (bytes.next < bytes.len && worker.count < WORDS_MAX - 8) {
        add_words(&worker, 1);
    }
    add(&worker, INSN_exitz_mmmn, 15, 0, 0);
    tile_store_words(&tile, WORKER, worker.words, worker.count, NULL);
    TileStop stop = TILE_STOP_NONE;
    for (int i = 0; i < 4; i++) { /* the supervisor may go on behind a barrier */
        stop = tile_run(&tile, &shared, tile.cycle + LIMIT_CYCLES);
        ASSERT((stop == TILE_STOP_FAULT) == (tile.fault.name != NULL));
        if (stop == TILE_STOP_FAULT || stop == TILE_STOP_LIMIT) {
            break;
        }
    }
    words_seen += supervisor.count + worker.count;
    instructions_seen += tile.instructions;
    tile_destroy(&tile);
    if (shared.pool != NULL) {
        code_pool_destroy(shared.pool);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (words_seen == 0) {
        atexit(report);
    }
    run(data, size, false);
    run(data, size, true);
    return 0;
}
