/* Private to place: what the generators of problems share. */
#pragma once
#include "place/tile.h"

enum { GENERATED_STEPS = 100, GENERATED_DATA_BEGIN = SRAM_BASE + 4 * ELEMENT_BYTES };

/* Random numbers one after the other. Those of neighbouring seeds are the same in another order (base/random.h), so every
 * generator mixes its seed first, with one of these. */
enum { DICE_WITNESS = 1 << 20, DICE_IMPOSSIBLE };
typedef struct Dice {
    uint64_t seed, rolls;
} Dice;

/* Uniform in [least, most]. */
static inline int64_t roll(Dice *dice, int64_t least, int64_t most)
{
    return least + (int64_t)random_below(dice->seed, dice->rolls++, (uint64_t)(most - least + 1));
}
static inline bool roll_one_of(Dice *dice, int64_t chances)
{
    return roll(dice, 1, chances) == 1;
}

/* A tile whose support takes four elements. */
PlaceProblem generated_tile(Str name);
/* Adds a request with alignment 8 and nothing else; valid until the next one is added. */
PlaceRequest *generated_request(PlaceProblem *problem, Arena *keep, int64_t bytes, int32_t first,
                                int32_t last);
/* Where each request goes when all are put into random order: the rest of a generator's order says nothing. */
int32_t *generated_shuffle(PlaceProblem *problem, Dice *dice, Arena *keep);
