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
    TRIES_MIN = 16, /* less than this many tries are not worth it */
    LAST_PART =
        32, /* messages that end in the last 1/32 of the length count as last, now and then */
    LAST_PART_IN = 3, /* once in so many draws */
    SLACKS = 3,       /* justified with 0, 1, 2 ... */
    SLACK_PART = 16,  /* of 1/16 of the horizon as slack */
};

typedef struct Placed {
    Event *start, *base;
    Event length;
    int64_t ends;
} Placed;

typedef struct Draw {
    uint64_t seed, count;
} Draw;

static int64_t draw_below(Draw *draw, int64_t bound)
{
    return (int64_t)random_below(draw->seed, draw->count++, (uint64_t)bound);
}

static Placed placed_new(const Phase *phase, Arena *arena)
{
    return (Placed){.start = arena_array(arena, Event, phase->message_count),
                    .base = arena_array(arena, Event, phase->lane_count)};
}

/* What is placed in the phase now. */
static void keep_placed(const Phase *phase, Placed *out, Arena scratch)
{
    memcpy(out->start, phase->start, (size_t)phase->message_count * sizeof(Event));
    for (int32_t i = 0; i < phase->lane_count; i++) {
        out->base[i] = phase->lanes[i].base_event;
    }
    out->length = phase_length(phase);
    out->ends = phase_ends(phase, scratch);
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
    keep_placed(phase, before, scratch);
    bool is_placed = horizon + slack + 2 * EVENTS_A_BLOCK < phase->capacity &&
                     phase_replace_late(phase, slack, scratch) && phase_replace(phase, scratch);
    if (!is_placed || phase_length(phase) > before->length) {
        phase_restore(phase, before->start, before->base);
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

void phase_improve(Phase *phase, Event good_length, int64_t work, Arena scratch)
{
    int64_t tries = work / (3 * (phase->endpoint_count + phase->message_count) + 1);
    Draw draw = {.seed = (uint64_t)phase->index};
    Placed best = placed_new(phase, &scratch), at = placed_new(phase, &scratch),
           before = placed_new(phase, &scratch);
    keep_placed(phase, &best, scratch);
    keep_placed(phase, &at, scratch);
    int64_t last = PATIENCE; /* try that ends the search when none before is shorter */
    for (int64_t i = 0; tries >= TRIES_MIN && i < tries && i < last && best.length > good_length;
         i++) {
        if (!place_other(phase, &at, &before, &draw, scratch)) {
            break;
        }
        if (phase_length(phase) > at.length) {
            continue;
        }
        keep_placed(phase, &at, scratch);
        last = at.length < best.length ? i + PATIENCE : last;
        if (at.length < best.length || (at.length == best.length && at.ends < best.ends)) {
            keep_placed(phase, &best, scratch);
        }
    }
    phase_restore(phase, best.start, best.base);
}
