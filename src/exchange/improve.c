/* Small phases are cheap to place again, so more orders are tried (exchange-scheduling.md 4.2, repair).
 *
 * Some of the messages that make the length go to an earlier place of the order; then everything is placed again, and late and
 * early once more (order.c). What is not longer is where the search goes on. Random numbers depend on nothing but the phase.
 */
#include "exchange/phase.h"
#include <string.h>

enum {
    MOVES_MAX = 3,  /* messages moved at once */
    PATIENCE = 200, /* tries without a shorter phase */
    LAST_PART =
        32, /* messages that end in the last 1/32 of the length count as last, now and then */
    LAST_PART_IN = 3, /* once in so many draws */
    SLACKS = 3,       /* justified with 0, 1, 2 ... */
    SLACK_PART = 16,  /* of 1/16 of the horizon as slack */
};

typedef struct Draw {
    uint64_t seed, count;
} Draw;

static int64_t draw_below(Draw *draw, int64_t bound)
{
    return (int64_t)random_below(draw->seed, draw->count++, (uint64_t)bound);
}

/* One of the messages that end last. */
static int32_t draw_last(const Phase *phase, const Placed *at, Draw *draw)
{
    int32_t found = 0, seen = 0;
    Event from = at->length;
    from -= draw_below(draw, LAST_PART_IN) == 0 ? phase_horizon(phase) / LAST_PART : 0;
    for (int32_t i = 0; i < phase->message_count; i++) {
        if (at->start[i] + phase->messages[i].reach >= from && draw_below(draw, ++seen) == 0) {
            found = i;
        }
    }
    return found;
}

/* Late and early again. Late needs some more room where messages with many receivers have to find places. */
static void justify(Phase *phase, Placed *before, Draw *draw, Arena scratch)
{
    Event horizon = phase_horizon(phase);
    Event slack = (Event)(draw_below(draw, SLACKS) * horizon / SLACK_PART);
    placed_keep(phase, before, scratch);
    bool is_placed = horizon + slack + 2 * EVENTS_A_BLOCK < phase->capacity &&
                     phase_replace_late(phase, slack, scratch) && phase_replace(phase, scratch);
    if (!is_placed || phase_length(phase) > before->length) {
        phase_restore(phase, before);
    }
}

/* Places everything in another order than `at`; false when that fails. */
static bool place_other(Phase *phase, const Placed *at, Placed *before, Draw *draw, Arena scratch)
{
    int64_t moves = 1 + draw_below(draw, MOVES_MAX);
    memcpy(phase->start, at->start, (size_t)phase->message_count * sizeof(Event));
    for (int64_t i = 0; i < moves; i++) { /* starts are the order's keys */
        int32_t message = draw_last(phase, at, draw);
        phase->start[message] = (Event)draw_below(draw, at->start[message] + 1);
    }
    if (!phase_replace(phase, scratch)) {
        return false;
    }
    if (phase->depends.pred_first == NULL && !phase->has_mixed) {
        justify(phase, before, draw, scratch);
    }
    return true;
}

void phase_improve(Phase *phase, Event good_length, int64_t tries, Arena scratch, Placed *best)
{
    Draw draw = {.seed = (uint64_t)phase->index};
    Placed at = placed_new(phase, &scratch), before = placed_new(phase, &scratch);
    placed_keep(phase, best, scratch);
    placed_keep(phase, &at, scratch);
    int64_t last = PATIENCE; /* try that ends the search when none before is shorter */
    for (int64_t i = 0; i < tries && i < last && best->length > good_length; i++) {
        if (!place_other(phase, &at, &before, &draw, scratch)) {
            break;
        }
        if (phase_length(phase) > at.length) {
            continue;
        }
        placed_keep(phase, &at, scratch);
        last = at.length < best->length ? i + PATIENCE : last;
        (void)placed_keep_better(phase, best, scratch);
    }
}
