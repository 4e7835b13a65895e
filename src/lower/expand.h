/* Shared state of the expansion. Private to the room. */
#pragma once
#include "lower/lower.h"

typedef struct Expansion {
    const Plan *plan;
    Work *work;
    Arena *keep;
    Error *err;
    int32_t *first_touch,
        *last_touch; /* per value: first and last work step that uses it; -1 none */
} Expansion;

/* value_first and buffer_of (all 0), and the unused buffer 0. */
void work_index_shards(Work *work, Arena *keep);
/* Every step runs as often as the loop that it stands in; the loop's begin knows it already. */
void work_set_repeats(Work *work);
Str buffer_role_name(BufferRole role);
/* Appends what moves [first, first + count) need: a calls step for zero fills and local copies, a phase for the rest. */
bool expand_moves(Expansion *x, isize first, isize count, Arena scratch);
/* One calls step: the kernel on every shard of its result. */
bool expand_kernel(Expansion *x, const PlanStep *step, Arena scratch);
/* Closes a calls step over the calls from `first`: sorts them by tile, keeping order within a tile. */
void add_calls_step(Expansion *x, isize first, Provenance provenance, Arena scratch);
void touch(Expansion *x, int32_t value, isize step);
int32_t buffer_at(const Work *work, int32_t value, isize shard);
/* Appends a call whose address words are (buffer, offset) pairs per operand. */
void add_call(Expansion *x, Tile tile, const KernelCall *call, const KernelArg *operand,
              Provenance provenance);
