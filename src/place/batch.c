/* Many problems in parallel. Those that are equal in everything but tile and names are solved once: the tiles of a row of parts
 * differ in nothing else. A hash finds the candidates, the numbers themselves decide.
 */
#include "place/tile.h"
#include <string.h>

/* Everything that decides the answer, as numbers in one order; equal keys mean equal problems. */
typedef struct Key {
    uint32_t *at;
    isize len;
} Key;

static void put(Key *key, uint32_t number)
{
    key->at[key->len++] = number;
}

static void put_request(Key *key, const PlaceRequest *r)
{
    put(key, r->bytes);
    put(key, r->tail_bytes);
    put(key, r->align);
    put(key, (uint32_t)r->first);
    put(key, (uint32_t)r->last);
    put(key, (uint32_t)r->count);
    put(key, r->stride[0]);
    put(key, r->stride[1]);
    put(key, r->address);
    put(key, (uint32_t)(r->is_interleaved | r->may_use_window << 1));
}

static Key key_of(const PlaceProblem *p, Arena *arena)
{
    enum { HEAD = 6, RANGE = 4, REQUEST = 10, PAIR = 2, WISH = 3, DONATION = 3 };
    isize most = HEAD + RANGE * p->range_count + REQUEST * p->requests.len + PAIR * p->pairs.len +
                 WISH * p->wishes.len + DONATION * p->donations.len;
    Key key = {arena_array(arena, uint32_t, most), 0};
    put(&key,
        (uint32_t)
            p->range_count); /* with the numbers of the lists, so that none runs into the next */
    put(&key, (uint32_t)p->requests.len);
    put(&key, (uint32_t)p->pairs.len);
    put(&key, (uint32_t)p->wishes.len);
    put(&key, (uint32_t)p->donations.len);
    put(&key, p->limit);
    for (int32_t i = 0; i < p->range_count; i++) {
        put(&key, p->ranges[i].begin);
        put(&key, p->ranges[i].end);
        put(&key, p->ranges[i].element_bytes);
        put(&key, (uint32_t)(p->ranges[i].is_interleaved | p->ranges[i].is_window << 1));
    }
    for (isize i = 0; i < p->requests.len; i++) {
        put_request(&key, &p->requests.at[i]);
    }
    for (isize i = 0; i < p->pairs.len; i++) {
        put(&key, (uint32_t)p->pairs.at[i].a);
        put(&key, (uint32_t)p->pairs.at[i].b);
    }
    for (isize i = 0; i < p->wishes.len; i++) {
        put(&key, (uint32_t)p->wishes.at[i].a);
        put(&key, (uint32_t)p->wishes.at[i].b);
        put(&key, (uint32_t)p->wishes.at[i].weight);
    }
    for (isize i = 0; i < p->donations.len; i++) {
        put(&key, (uint32_t)p->donations.at[i].from);
        put(&key, (uint32_t)p->donations.at[i].to);
        put(&key, p->donations.at[i].offset);
    }
    ASSERT(key.len == most);
    return key;
}

static bool are_same(Key a, Key b)
{
    return a.len == b.len && memcmp(a.at, b.at, (size_t)a.len * sizeof *a.at) == 0;
}

isize problems_group(const PlaceProblem *problems, isize count, uint64_t hash_mask, int32_t *first,
                     Arena scratch)
{
    IntMap by_hash = {0}; /* 1 + the last distinct problem with this hash */
    int32_t *before =
        arena_array(&scratch, int32_t, count);     /* the one before it, from 1; 0: none */
    Key *keys = arena_array(&scratch, Key, count); /* of distinct problems */
    isize distinct = 0;
    for (isize i = 0; i < count; i++) {
        Arena kept = scratch;
        Key key = key_of(&problems[i], &scratch);
        uint64_t hash = hash64_of(key.at, key.len * (isize)sizeof *key.at, 0) & hash_mask;
        const uint32_t *known = int_map_get(&by_hash, hash);
        int32_t last = known == NULL ? 0 : (int32_t)*known, same = last;
        while (same > 0 && !are_same(keys[same - 1], key)) {
            same = before[same - 1];
        }
        if (same > 0) {
            first[i] = same - 1;
            scratch = kept;
            continue;
        }
        first[i] = (int32_t)i;
        keys[i] = key;
        before[i] = last;
        *int_map_put(&by_hash, hash, &scratch) = (uint32_t)i + 1;
        distinct++;
    }
    return distinct;
}

/* --- solving -------------------------------------------------------------------------------------------------------- */

typedef struct Batch {
    const PlaceProblem *problems;
    const PlaceOptions *options;
    const int32_t *which; /* problems that are solved */
    PlaceSolution *solutions;
    PlaceVerdict *verdicts;
    Arena *arenas; /* per worker */
} Batch;

static void solve_one(void *context, isize index, int worker)
{
    Batch *batch = context;
    int32_t i = batch->which[index];
    Arena keep = batch->arenas[worker];
    Arena scratch = arena_split(&keep, (keep.end - keep.at) / 2);
    PlaceSolution solution;
    PlaceOutcome outcome = place_problem_solve(&batch->problems[i], batch->options, &keep, scratch,
                                               &solution, &batch->verdicts[i]);
    if (outcome == PLACE_PLACED) {
        place_solution_copy(&batch->problems[i], &solution, &batch->solutions[i]);
    }
}

void problems_solve(const PlaceProblem *problems, const int32_t *which, isize count,
                    const PlaceOptions *options, int threads, Arena *keep, Arena scratch,
                    PlaceSolution *solutions, PlaceVerdict *verdicts)
{
    for (isize k = 0; k < count; k++) {
        isize requests = problems[which[k]].requests.len;
        solutions[which[k]] = (PlaceSolution){.address = arena_array(keep, uint32_t, requests),
                                              .stride = arena_array(keep, uint32_t, requests)};
    }
    threads = (int)max_i64(1, min_i64(thread_count(threads), count));
    Batch batch = {.problems = problems,
                   .options = options,
                   .which = which,
                   .solutions = solutions,
                   .verdicts = verdicts,
                   .arenas = arena_array(&scratch, Arena, threads)};
    isize share = (scratch.end - scratch.at) / (threads + 1);
    for (int i = 0; i < threads; i++) {
        batch.arenas[i] = arena_split(&scratch, share);
    }
    parallel_for(threads, count, 1, solve_one, &batch);
}

isize distinct_problems(const PlaceProblem *problems, isize count, int32_t *first,
                        int32_t *distinct, Arena scratch)
{
    isize distinct_count = problems_group(problems, count, UINT64_MAX, first, scratch), at = 0;
    for (int32_t i = 0; i < count; i++) {
        if (first[i] == i) {
            distinct[at++] = i;
        }
    }
    ASSERT(at == distinct_count);
    return distinct_count;
}

isize place_problems_solve(const PlaceProblem *problems, isize count, const PlaceOptions *options,
                           int threads, Arena *keep, Arena scratch, PlaceSolution *solutions,
                           PlaceVerdict *verdicts)
{
    int32_t *first = arena_array(&scratch, int32_t, count);
    int32_t *distinct = arena_array(&scratch, int32_t, count);
    isize distinct_count = distinct_problems(problems, count, first, distinct, scratch);
    problems_solve(problems, distinct, distinct_count, options, threads, keep, scratch, solutions,
                   verdicts);
    for (isize i = 0; i < count; i++) {
        solutions[i] = solutions[first[i]];
        verdicts[i] = verdicts[first[i]];
        verdicts[i].tile = tile_of_problem(&problems[i]);
    }
    return distinct_count;
}
