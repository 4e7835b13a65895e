/* Random exchange problems for tests: valid by construction, with reads and writes of a tile close together in memory so
 * that element conflicts occur. Also used where schedules are run on the machine. */
#pragma once
#include "exchange/exchange.h"
#include "test.h"

enum { PROBLEM_ROW_BYTES = 2 * ELEMENT_BYTES, PROBLEM_ROWS_END = SRAM_BASE + PROBLEM_ROW_BYTES };

typedef struct ProblemShape {
    int tiles; /* 2..1472 taking part */
    int phases;
    int transfers;     /* largest number a phase */
    int receivers_max; /* of a transfer */
    int words_max;     /* 1..4148 */
    bool is_spread;    /* tiles from the whole chip; otherwise neighbours */
} ProblemShape;

/* Independent draws: every call advances the counter. */
typedef struct Dice {
    uint64_t seed, next;
} Dice;

static inline int dice_below(Dice *dice, int bound)
{
    return (int)random_below(dice->seed, dice->next++, (uint64_t)bound);
}

/* Lengths: mostly short, some around the encoding limits, few long. */
static inline int dice_words(Dice *dice, int words_max)
{
    static const int edges[] = {1, 2, 51, 52, 53, 54, 63, 64, 65, 66, 127, 128, 129, 200};
    int kind = dice_below(dice, 8), words;
    if (kind < 4) {
        words = 1 + dice_below(dice, 16);
    } else if (kind < 6) {
        words = 1 + dice_below(dice, 100);
    } else if (kind == 6) {
        words = edges[dice_below(dice, (int)(sizeof edges / sizeof *edges))];
    } else {
        words = 1 + dice_below(dice, words_max);
    }
    return words < words_max ? words : words_max;
}

/* The next unused bytes of a tile, sometimes behind a jump into another element; 0 when SRAM is used up. */
static inline uint32_t take_bytes(Dice *dice, uint32_t *cursor, uint32_t bytes)
{
    uint32_t jump = dice_below(dice, 6) == 0 ? 4 * (uint32_t)dice_below(dice, 2048) : 0;
    uint32_t at = *cursor + jump;
    if (at + bytes > SRAM_END) {
        return 0;
    }
    *cursor = at + bytes;
    return at;
}

static inline ExchangeProblem problem_random(uint64_t seed, ProblemShape shape, Arena *arena)
{
    Dice dice = {seed, 0};
    ExchangeProblem problem = {.row_bytes_max = PROBLEM_ROW_BYTES,
                               .row_range = {SRAM_BASE, PROBLEM_ROWS_END}};
    uint16_t *tiles = arena_array(arena, uint16_t, CHIP_TILES);
    for (int i = 0; i < CHIP_TILES; i++) {
        tiles[i] = (uint16_t)i;
    }
    if (shape.is_spread) {
        for (int i = 0; i < shape.tiles; i++) {
            int other = i + dice_below(&dice, CHIP_TILES - i);
            uint16_t held = tiles[i];
            tiles[i] = tiles[other];
            tiles[other] = held;
        }
    }
    uint32_t *cursor = arena_array(arena, uint32_t, CHIP_TILES);
    int32_t *used_by = arena_array(arena, int32_t, CHIP_TILES);
    for (int p = 0; p < shape.phases; p++) {
        ExchangePhase phase = {.transfer_first = (int32_t)problem.transfers.len};
        int count = 1 + dice_below(&dice, shape.transfers);
        for (int i = 0; i < CHIP_TILES; i++) {
            cursor[i] = PROBLEM_ROWS_END;
        }
        for (int i = 0; i < count; i++) {
            int source = dice_below(&dice, shape.tiles);
            ExchangeTransfer t = {.source = phys_of((Tile){tiles[source]}),
                                  .words = (uint32_t)dice_words(&dice, shape.words_max),
                                  .receiver_first = (int32_t)problem.receivers.len};
            t.address = take_bytes(&dice, &cursor[source], 4 * t.words);
            int wanted = dice_below(&dice, 3) == 0 ? 1 + dice_below(&dice, shape.receivers_max) : 1;
            for (int k = 0; t.address != 0 && k < wanted; k++) {
                int to = dice_below(&dice, shape.tiles);
                if (to == source || used_by[to] == (int32_t)problem.transfers.len + 1) {
                    continue;
                }
                uint32_t address = take_bytes(&dice, &cursor[to], 4 * t.words);
                if (address != 0) {
                    used_by[to] = (int32_t)problem.transfers.len + 1;
                    *vec_push(&problem.receivers, arena) =
                        (ExchangeReceiver){phys_of((Tile){tiles[to]}), address};
                    t.receiver_count++;
                }
            }
            if (t.receiver_count > 0) {
                *vec_push(&problem.transfers, arena) = t;
                phase.transfer_count++;
            }
        }
        *vec_push(&problem.phases, arena) = phase;
    }
    return problem;
}

/* One message from one logical tile to others, sources at 0x60000, destinations at 0x90000. */
static inline ExchangeProblem problem_single(int source, const int *receivers, int count, int words,
                                             Arena *arena)
{
    ExchangeProblem problem = {.row_bytes_max = PROBLEM_ROW_BYTES,
                               .row_range = {SRAM_BASE, PROBLEM_ROWS_END}};
    for (int i = 0; i < count; i++) {
        *vec_push(&problem.receivers, arena) =
            (ExchangeReceiver){phys_of((Tile){(uint16_t)receivers[i]}), 0x90000};
    }
    *vec_push(&problem.transfers, arena) =
        (ExchangeTransfer){.source = phys_of((Tile){(uint16_t)source}),
                           .address = 0x60000,
                           .words = (uint32_t)words,
                           .receiver_count = count};
    *vec_push(&problem.phases, arena) = (ExchangePhase){.transfer_count = 1};
    return problem;
}
