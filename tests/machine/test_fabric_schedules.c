/* Two witnesses: random problems, scheduled and encoded by the exchange room, run on the machine's fabric. No rule of the
 * fabric may be broken, every receiver holds the sender's words, rows end where the schedule says.
 */
#include "exchange/problems.h"
#include "fabric_bench.h"

enum { ARENA_MIB = 4096 };

static uint32_t word_of(int transfer, uint32_t index)
{
    return (uint32_t)transfer << 14 ^ index * 0x9e3779b1u;
}

static void put_rows(Bench *bench, const Schedule *schedule, int phase)
{
    memset(bench->is_active, 0, sizeof bench->is_active);
    for (isize i = 0; i < schedule->rows.len; i++) {
        const Row *row = &schedule->rows.at[i];
        if (row->phase == phase) {
            TileState *tile = &bench->tiles[row->tile.id];
            uint32_t call = 0x18a00000u | BENCH_ROW / 4;
            tile_store_words(tile, BENCH_PC, &call, 1, NULL);
            tile_store_words(tile, BENCH_ROW, schedule->words.at + row->word_first, row->word_count,
                             NULL);
            tile->pc = BENCH_PC;
            tile->csr[CSR_INCOMING_MUX] = FABRIC_NEUTRAL;
            tile->csr[CSR_INCOMING_DCOUNT] = 1;
            bench->is_active[row->tile.id] = true;
        }
    }
}

static int64_t check_phase(Bench *bench, const ExchangeProblem *problem, const Schedule *schedule,
                           int phase)
{
    const ExchangePhase *record = &problem->phases.at[phase];
    int32_t first = record->transfer_first, end = first + record->transfer_count;
    int64_t words = 0;
    for (int32_t t = first; t < end; t++) {
        const ExchangeTransfer *transfer = &problem->transfers.at[t];
        for (uint32_t i = 0; i < transfer->words; i++) {
            uint32_t word = word_of(t, i);
            tile_store_words(&bench->tiles[transfer->source.id], transfer->address + 4 * i, &word,
                             1, NULL);
        }
    }
    put_rows(bench, schedule, phase);
    bench_must_run(bench);
    for (int32_t t = first; t < end; t++) {
        const ExchangeTransfer *transfer = &problem->transfers.at[t];
        for (int32_t k = 0; k < transfer->receiver_count; k++) {
            const ExchangeReceiver *to = &problem->receivers.at[transfer->receiver_first + k];
            for (uint32_t i = 0; i < transfer->words; i++) {
                CHECK_EQ_INT(bench_word(bench, to->tile.id, to->address + 4 * i), word_of(t, i));
                CHECK(!bench_is_poison(bench, to->tile.id, to->address + 4 * i));
            }
            words += transfer->words;
        }
    }
    CHECK_EQ_INT(bench->stored_words, words);
    for (isize i = 0; i < schedule->rows.len; i++) {
        const Row *row = &schedule->rows.at[i];
        if (row->phase == phase) {
            CHECK_EQ_INT(bench->tiles[row->tile.id].cycle, bench->event_zero + row->end);
        }
    }
    return words;
}

static void schedules(void)
{
    static const ProblemShape shapes[] = {
        {.tiles = 2, .phases = 4, .transfers = 6, .receivers_max = 1, .words_max = 300},
        {.tiles = 8, .phases = 4, .transfers = 40, .receivers_max = 4, .words_max = 300},
        {.tiles = 64, .phases = 3, .transfers = 400, .receivers_max = 8, .words_max = 1000},
        {.tiles = 1472,
         .phases = 2,
         .transfers = 6000,
         .receivers_max = 6,
         .words_max = 400,
         .is_spread = true},
    };
    uint64_t seed = test_seed(77);
    Arena arena = arena_create((isize)ARENA_MIB << 20),
          scratch = arena_create((isize)ARENA_MIB << 20);
    Bench *bench = bench_create();
    bench->threads = 2;
    int64_t words = 0;
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
        for (uint64_t round = 0; round < (s < 2 ? 40 : 4); round++) {
            Arena keep = arena;
            ExchangeProblem problem = problem_random(seed + 1000 * s + round, shapes[s], &keep);
            Schedule schedule;
            Error err = {0};
            CHECK_OK(exchange_solve(&problem, &(ExchangeOptions){.threads = 2}, &keep, scratch,
                                    &schedule, &err),
                     err);
            for (int phase = 0; phase < problem.phases.len; phase++) {
                words += check_phase(bench, &problem, &schedule, phase);
            }
        }
    }
    CHECK(words > 100000);
    bench_destroy(bench);
    arena_destroy(&arena);
    arena_destroy(&scratch);
}

TEST_MAIN(schedules)
