/* Two witnesses of the fabric: random phases are solved, checked, encoded, loaded into tiles as words and executed by the machine;
 * the memory afterwards equals that of a plain copy, everywhere on every tile. */
#include "exchange/exchange.h"
#include "isa/isa.h"
#include "machine/machine.h"
#include "test.h"

enum { TILES_MAX = 24, DATA_AT = 0x60000, DATA_BYTES = 0x60000, PROGRAM_AT = 0x4c020 };

typedef struct Chip {
    Arena keep, scratch;
    uint16_t id[TILES_MAX];
    uint32_t next[TILES_MAX]; /* bump allocation of data */
    uint8_t *image[TILES_MAX];
    int tiles;
    ExchangeProblem problem;
} Chip;

static uint32_t take(Chip *chip, int tile, uint32_t words, uint64_t random)
{
    uint32_t at = chip->next[tile] + 4 * (uint32_t)(random % 7);
    if (random % 5 == 0)
        at = (at + 0x3fff) & ~0x3fffu; /* sometimes a fresh element */
    if (at + words * 4 > DATA_AT + DATA_BYTES)
        return 0;
    if (at < SRAM_REGION1 && at + words * 4 > SRAM_REGION1)
        at = SRAM_REGION1;
    chip->next[tile] = at + words * 4;
    return at;
}

static void build(Chip *chip, uint64_t seed)
{
    uint64_t n = 0;
    chip->tiles = 2 + (int)random_below(seed, n++, TILES_MAX - 2);
    for (int t = 0; t < chip->tiles; t++) {
        bool is_new = false;
        while (!is_new) {
            chip->id[t] = (uint16_t)random_below(seed, n++, CHIP_TILES);
            is_new = true;
            for (int u = 0; u < t; u++)
                is_new = is_new && chip->id[u] != chip->id[t];
        }
        chip->next[t] = DATA_AT;
        chip->image[t] = arena_array(&chip->keep, uint8_t, DATA_BYTES);
        for (int i = 0; i < DATA_BYTES / 8; i++) {
            uint64_t word = random_u64(seed + (uint64_t)t * 977, (uint64_t)i);
            memcpy(chip->image[t] + i * 8, &word, 8);
        }
    }
    ExchangeProblem *p = &chip->problem;
    p->row_bytes_max = 32768;
    p->row_range = (AddrRange){SRAM_BASE, DATA_AT};
    int count = 1 + (int)random_below(seed, n++, 40);
    for (int i = 0; i < count; i++) {
        int from = (int)random_below(seed, n++, (uint64_t)chip->tiles);
        uint64_t bound = random_below(seed, n++, 4) == 0 ? 600 : 70;
        uint32_t words = 1 + (uint32_t)random_below(seed, n++, bound);
        ExchangeTransfer t = {.source = {chip->id[from]},
                              .words = words,
                              .receiver_first = (int32_t)p->receivers.len};
        t.address = take(chip, from, words, random_u64(seed, n++));
        if (t.address == 0)
            continue;
        for (int to = 0; to < chip->tiles; to++) {
            if (to == from || random_below(seed, n++, 4) != 0)
                continue;
            uint32_t at = take(chip, to, words, random_u64(seed, n++));
            if (at == 0)
                continue;
            *vec_push(&p->receivers, &chip->keep) = (ExchangeReceiver){{chip->id[to]}, at};
            t.receiver_count++;
        }
        if (t.receiver_count > 0)
            *vec_push(&p->transfers, &chip->keep) = t;
    }
    *vec_push(&p->phases, &chip->keep) =
        (ExchangePhase){.transfer_count = (int32_t)p->transfers.len};
}

static int index_of(const Chip *chip, PhysTile tile)
{
    for (int t = 0; t < chip->tiles; t++)
        if (chip->id[t] == tile.id)
            return t;
    return -1;
}

/* sync 7; one phase; sync 7. */
static void load_tile(Chip *chip, Machine *machine, int t, const Row *row, const Schedule *schedule)
{
    PhysTile tile = {chip->id[t]};
    uint32_t row_at = 0x50000, words[64];
    int n = 0;
    words[n++] = isa_word(INSN_setzi_mmmn_zi, 8, FABRIC_NEUTRAL, 0, 0);
    words[n++] = isa_word(INSN_put_mmmn_zi, CSR_INCOMING_MUX, 8, 0, 0);
    words[n++] = isa_word(INSN_sync_mmmn_zi, SYNC_HOST, 0, 0, 0);
    if (row != NULL) {
        words[n++] = isa_word(INSN_setzi_mmmn_zi, 8, 1, 0, 0);
        words[n++] = isa_word(INSN_put_mmmn_zi, CSR_INCOMING_DCOUNT, 8, 0, 0);
        words[n++] = isa_word(INSN_sync_mmmn_zi, SYNC_INTERNAL, 0, 0, 0);
        words[n++] = isa_word(INSN_call_mmmn_zi, 10, row_at, 0, 0);
        machine_load_tile(machine, tile, row_at, &schedule->words.at[row->word_first],
                          (uint32_t)row->word_count * 4, 0);
    } else {
        words[n++] = isa_word(INSN_sans_mmmn_zi, 0, 0, 0, 0);
        words[n++] = isa_word(INSN_sync_mmmn_zi, SYNC_ANS, 0, 0, 0);
    }
    words[n++] = isa_word(INSN_sync_mmmn_zi, SYNC_HOST, 0, 0, 0);
    machine_load_tile(machine, tile, DATA_AT, chip->image[t], DATA_BYTES, 0);
    machine_load_tile(machine, tile, PROGRAM_AT, words, (uint32_t)n * 4, PROGRAM_AT);
}

static void check_one(uint64_t seed, int threads)
{
    Chip chip = {.keep = arena_create((isize)1 << 28), .scratch = arena_create((isize)1 << 30)};
    build(&chip, seed);
    ExchangeProblem *p = &chip.problem;
    if (p->transfers.len == 0)
        return;
    Schedule schedule;
    Error err = {0};
    if (!exchange_solve(p, &(ExchangeOptions){.threads = 1}, &chip.keep, chip.scratch, &schedule,
                        &err) ||
        !exchange_check(p, &schedule, 2, chip.scratch, &err)) {
        printf("seed %llu: %s\n", (unsigned long long)seed, err.message);
        exit(1);
    }
    MachineOptions options = {.threads = threads, .absent_tiles_answer = true};
    Machine *machine = machine_create(&options);
    for (int t = 0; t < chip.tiles; t++) {
        const Row *row = NULL;
        for (isize r = 0; r < schedule.rows.len; r++)
            if (schedule.rows.at[r].tile.id == chip.id[t])
                row = &schedule.rows.at[r];
        load_tile(&chip, machine, t, row, &schedule);
    }
    for (isize i = 0; i < p->transfers.len;
         i++) { /* the plain copy; sources and destinations never meet */
        const ExchangeTransfer *t = &p->transfers.at[i];
        for (int32_t r = t->receiver_first; r < t->receiver_first + t->receiver_count; r++)
            memcpy(chip.image[index_of(&chip, p->receivers.at[r].tile)] +
                       (p->receivers.at[r].address - DATA_AT),
                   chip.image[index_of(&chip, t->source)] + (t->address - DATA_AT), t->words * 4);
    }
    CHECK(machine_run(machine, 0) == MACHINE_STOP_HOST);
    MachineStop stop = machine_run(machine, 0);
    if (stop != MACHINE_STOP_HOST) {
        const Fault *fault = machine_fault(machine);
        printf("seed %llu: fault %s tile %u pc 0x%x: %s\n", (unsigned long long)seed, fault->name,
               fault->tile.id, fault->pc, fault->detail);
        exit(1);
    }
    static uint8_t have[DATA_BYTES];
    for (int t = 0; t < chip.tiles; t++) {
        uint32_t poison;
        CHECK(machine_read(machine, (PhysTile){chip.id[t]}, DATA_AT, have, DATA_BYTES, &poison));
        if (memcmp(have, chip.image[t], DATA_BYTES) != 0) {
            printf("seed %llu: tile %u differs from the plain copy\n", (unsigned long long)seed,
                   chip.id[t]);
            exit(1);
        }
    }
    machine_destroy(machine);
    arena_destroy(&chip.keep);
    arena_destroy(&chip.scratch);
}

int main(void)
{
    for (uint64_t seed = 1; seed <= 150; seed++)
        check_one(seed, 1 + (int)(seed % 2));
    return 0;
}
