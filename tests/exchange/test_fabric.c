/* Rows do what the problem asks for: a slow pull model of the fabric (exchange.md 11), written here from the reference,
 * replays all rows of a phase and every word must be stored once, at its place, and nowhere else. */
#include "problems.h"
#include "test.h"

static Arena keep, scratch;

typedef struct Replay {
    RowSendVec sends;
    RowControlVec controls;
    Event end;
    bool is_active;
} Replay;

/* What a tile puts on the wire at an event. */
static const RowSend *send_at(const Replay *replay, Event event)
{
    for (isize i = 0; i < replay->sends.len; i++) {
        if (replay->sends.at[i].begin <= event && event < replay->sends.at[i].end) {
            return &replay->sends.at[i];
        }
    }
    return NULL;
}

typedef struct Pull {
    int64_t stored;
    uint32_t *from; /* per word of this tile's SRAM: 1 + (source tile << 18 | word address) */
} Pull;

/* One receiving tile, event by event. */
static void pull(const Replay *tiles, int tile, Pull *out)
{
    const Replay *replay = &tiles[tile];
    int row = tile >> 6;
    uint32_t source = FABRIC_NEUTRAL;
    isize xpic = 0, pointer_at = 0;
    bool has_pointer = false;
    uint32_t pointer = 0;
    for (Event m = 0; m <= replay->end; m++) {
        for (; xpic < replay->controls.len && replay->controls.at[xpic].event <= m; xpic++) {
            source = replay->controls.at[xpic].stream == ROW_XPIC ? replay->controls.at[xpic].value
                                                                  : source;
        }
        if (source == FABRIC_NEUTRAL) {
            continue;
        }
        CHECK(source < CHIP_TILES);
        PhysTile from = {(uint16_t)source}, to = {(uint16_t)tile};
        Event left = m - 1 - time_to_mux(from, to);
        const RowSend *send = send_at(&tiles[source], left);
        CHECK(send != NULL); /* listening to an idle source */
        CHECK((send->sctl & (uint32_t)direction_of(from, to)) != 0);
        Event store = m + 52 + 2 * row;
        CHECK(store + 5 <= replay->end);
        for (; pointer_at < replay->controls.len && replay->controls.at[pointer_at].event <= store;
             pointer_at++) {
            if (replay->controls.at[pointer_at].stream == ROW_POINTER) {
                pointer = replay->controls.at[pointer_at].value;
                has_pointer = true;
            }
        }
        CHECK(has_pointer);
        CHECK(range_in_sram(4 * pointer, 4));
        uint32_t *slot = &out->from[pointer - SRAM_BASE / 4];
        CHECK_EQ_INT(*slot, 0);
        *slot = 1 + (source << 18 | (send->address + (uint32_t)(left - send->begin)));
        out->stored++;
        pointer++;
    }
    CHECK_EQ_INT(source, FABRIC_NEUTRAL);
}

static void replay_phase(const ExchangeProblem *problem, const Schedule *schedule, int phase,
                         Arena arena)
{
    Replay *tiles = arena_array(&arena, Replay, CHIP_TILES);
    for (isize i = 0; i < schedule->rows.len; i++) {
        const Row *row = &schedule->rows.at[i];
        if (row->phase == phase) {
            Replay *replay = &tiles[row->tile.id];
            Error err = {0};
            replay->is_active = true;
            RowScript script;
            CHECK_OK(row_decode(&schedule->words.at[row->word_first], row->word_count, &script,
                                &arena, &err),
                     err);
            replay->sends = script.sends;
            replay->controls = script.controls;
            replay->end = script.end;
        }
    }
    const ExchangePhase *of = &problem->phases.at[phase];
    for (int tile = 0; tile < CHIP_TILES; tile++) {
        if (!tiles[tile].is_active) {
            continue;
        }
        Arena temporary = arena;
        Pull result = {.from = arena_array(&temporary, uint32_t, SRAM_WORDS)};
        pull(tiles, tile, &result);
        int64_t expected = 0;
        for (int32_t i = of->transfer_first; i < of->transfer_first + of->transfer_count; i++) {
            const ExchangeTransfer *t = &problem->transfers.at[i];
            for (int32_t k = 0; k < t->receiver_count; k++) {
                const ExchangeReceiver *to = &problem->receivers.at[t->receiver_first + k];
                if (to->tile.id != tile) {
                    continue;
                }
                expected += t->words;
                for (uint32_t w = 0; w < t->words; w++) {
                    CHECK_EQ_INT(result.from[(to->address - SRAM_BASE) / 4 + w],
                                 1 + ((uint32_t)t->source.id << 18 | (t->address / 4 + w)));
                }
            }
        }
        CHECK_EQ_INT(result.stored, expected);
    }
}

static void replays_random_phases(void)
{
    uint64_t seed = test_seed(21);
    for (uint64_t round = 0; round < 120; round++) {
        Arena arena = keep;
        int tiles = 2 + (int)random_below(seed, 4 * round, 40);
        ProblemShape shape = {.tiles = tiles,
                              .phases = 2,
                              .transfers = 1 + (int)random_below(seed, 4 * round + 1, 64),
                              .receivers_max =
                                  1 + (int)random_below(seed, 4 * round + 2, (uint64_t)tiles),
                              .words_max = round % 4 == 0 ? 3 : 250,
                              .is_spread = round % 2 == 0};
        ExchangeProblem problem = problem_random(seed + round, shape, &arena);
        Schedule schedule;
        Error err = {0};
        CHECK_OK(exchange_solve(&problem, &(ExchangeOptions){.threads = 1}, &arena, scratch,
                                &schedule, &err),
                 err);
        for (int phase = 0; phase < 2; phase++) {
            replay_phase(&problem, &schedule, phase, arena);
        }
    }
}

static void setup(void)
{
    keep = arena_create((isize)1 << 30);
    scratch = arena_create((isize)1 << 32);
}

TEST_MAIN(setup, replays_random_phases)
