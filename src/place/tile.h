/* Private to place: one tile's problem together with what its requests stand for. */
#pragma once
#include "place/place.h"

/* Buffers and separations of Work by tile, in index order. */
typedef struct TileIndex {
    int32_t *buffers, *separations;
    int32_t *buffer_first, *separation_first; /* [tiles + 1] */
} TileIndex;

/* A buffer inside a request. */
typedef struct Member {
    int32_t buffer, request;
    uint32_t offset;
    uint32_t stride; /* between iterations; 0 when not iterated */
} Member;

typedef struct TileProblem {
    PlaceProblem problem;
    Member *members;
    int32_t member_count;
    int32_t *buffer_of;        /* per request: (first) buffer; 0: argument tables */
    int32_t descriptor, block; /* requests; -1: none */
    uint32_t block_stride;
} TileProblem;

/* The problem of a tile without requests: region 0 from `data_begin` on, and region 1. */
PlaceProblem tile_problem_empty(int32_t tile, uint32_t data_begin);
/* The same problem with requests of its own. */
PlaceProblem problem_copy_requests(const PlaceProblem *problem, Arena *arena);
/* The range that holds the address, or NULL. */
const PlaceRange *range_at(const PlaceProblem *problem, int64_t address);
static inline bool are_alive_together(const PlaceRequest *a, const PlaceRequest *b)
{
    return a->first < b->last && b->first < a->last;
}
/* That of a problem; 0 when it is of none. */
static inline Tile tile_of_problem(const PlaceProblem *problem)
{
    return (Tile){(uint16_t)(problem->tile < 0 ? 0 : problem->tile)};
}
TileIndex tile_index_build(const Work *work, Arena *arena);
TileProblem tile_problem_build(const Work *work, const TileIndex *index, Tile tile, Arena *keep);

/* Largest sum of bytes alive in one step, and the first such step; of interleaved requests only, or of those that may not use the
 * window only. */
int64_t live_peak_of(const PlaceProblem *problem, bool is_interleaved, bool is_windowless,
                     int32_t *step, Arena scratch);
/* Bytes of the ranges that such requests may take. */
int64_t room_of(const PlaceProblem *problem, bool is_interleaved, bool is_windowless);
/* Requests alive in the step, largest first; the payload is the index. */
isize rank_alive(const PlaceProblem *problem, int32_t step, SortKey *out, Arena scratch);
/* One line: why the tile does not fit. */
void verdict_print(Writer *writer, const PlaceProblem *problem, const PlaceVerdict *verdict);
/* Name of the value in a buffer, or "argument tables" for buffer 0. */
Str buffer_name(const Work *work, int32_t buffer, Arena *arena);

/* First fit in several orders (wishes.c), or only in the first one; false with the request for which the first one found no place, and
 * the largest hole it saw. Tries to keep the weight of broken wishes small. After the first order alone `address` is what it placed
 * before it failed, PLACE_NOWHERE for the others. */
bool place_fit(const PlaceProblem *problem, bool is_once, Arena scratch, uint32_t *address,
               int32_t *failed, int64_t *hole);

/* Why a request lies in none of the holes that have bytes enough for it. */
typedef enum PlaceExclusion {
    EXCLUDED_ELEMENT = 0, /* it would share an element with `partners` */
    EXCLUDED_INTERLEAVED, /* the request needs an interleaved range */
    EXCLUDED_WINDOW,      /* it may not use the host's window */
    EXCLUDED_BOUNDARY,    /* the bytes lie on both sides of a boundary of ranges */
    EXCLUDED_ALIGNMENT,   /* not behind the first aligned address */
    EXCLUDED_LIMIT,       /* its tail would end behind the limit */
    EXCLUDED_ADDRESS,     /* its given address is not there */
} PlaceExclusion;
enum { HOLE_PARTNERS_MAX = 4 };
typedef struct PlaceHole {
    uint32_t begin, end;
    PlaceExclusion why;
    int32_t below, above; /* requests that bound it; -1: where a range begins or ends */
    int32_t partners[HOLE_PARTNERS_MAX], partner_count; /* the first ones */
} PlaceHole;
VEC(PlaceHole);
typedef struct PlaceHoles {
    PlaceHoleVec large; /* bytes enough, the largest first */
    PlaceHole largest;  /* of ranges that it may use, from where it may begin; empty: none */
} PlaceHoles;
/* Of a verdict's request (holes.c): what was free during its lifetime when the first order failed. */
void holes_find(const PlaceProblem *problem, int32_t request, Arena *keep, Arena scratch,
                PlaceHoles *out);

/* Sum of the weights of the wishes that a placement breaks. */
int64_t broken_weight_of(const PlaceProblem *problem, const uint32_t *address);
/* Looks for a certificate of a problem that was given up; the verdict becomes PLACE_IMPOSSIBLE when there is one. */
void problem_prove(const PlaceProblem *problem, const PlaceOptions *options, Arena scratch,
                   PlaceVerdict *verdict);
/* first[i] becomes the first problem that is equal to problem i but for tile and names; returns how many there are. Only the bits of
 * the mask count in hashes, for tests of what collides. */
isize problems_group(const PlaceProblem *problems, isize count, uint64_t hash_mask, int32_t *first,
                     Arena scratch);

/* The same, and in `distinct` (of `count` elements) the problems that are first. */
isize distinct_problems(const PlaceProblem *problems, isize count, int32_t *first,
                        int32_t *distinct, Arena scratch);
/* Some of many problems, as place_problems_solve does; nothing is said of the others. */
void problems_solve(const PlaceProblem *problems, const int32_t *which, isize count,
                    const PlaceOptions *options, int threads, Arena *keep, Arena scratch,
                    PlaceSolution *solutions, PlaceVerdict *verdicts);

/* At most PLACE_SUBSET_MAX requests that the independent check proves impossible; `failed` is one that found no place. */
bool place_find_subset(const PlaceProblem *problem, int32_t failed, Arena scratch,
                       PlaceCertificate *out);

/* A problem without operations in place, whose requests are blocks of those of another one (merge.c). */
typedef struct PlaceMerge {
    PlaceProblem problem;
    int32_t *block;  /* per request of the other problem */
    int64_t *offset; /* of a request in its block */
} PlaceMerge;
/* Every placement of the blocks is one of the problem, not the other way round. False when no two requests have one block. */
bool place_merge(const PlaceProblem *problem, Arena *arena, PlaceMerge *out);
/* How far the exact search of a problem has come; {0} at first. */
typedef struct PlaceProgress {
    int64_t nodes;
    int64_t run_merged, run_apart; /* of the blocks of place_merge, and of the requests */
} PlaceProgress;
/* Exact search (search.h), with operations in place as far as place_merge has them; goes on from `progress` to `nodes_max` nodes in
 * all. PLACE_IMPOSSIBLE: there is no placement, but without a certificate. */
PlaceOutcome place_exact(const PlaceProblem *problem, int64_t nodes_max, Arena scratch,
                         uint32_t *address, PlaceProgress *progress);
/* For a problem that the exact search has exhausted: leaves out requests as long as it still does, with at most nodes_max nodes in
 * all. False when more than PLACE_SUBSET_MAX remain or the independent check cannot follow. */
bool place_reduce(const PlaceProblem *problem, int64_t nodes_max, Arena scratch,
                  PlaceCertificate *out);
