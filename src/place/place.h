/* place: give every buffer an address on its tile.
 * takes: Work (buffers, separations, support grant)      gives: Placement, or a PlaceVerdict saying why not
 * uses: base chip lower
 * never: moves a buffer to another tile, times a transfer, encodes anything
 *
 * Tiles are independent problems. The problem and solution are plain (place/extract.c alone sees Work), with a text form.
 */
#pragma once
#include "base/base.h"
#include "chip/chip.h"
#include "lower/lower.h"

/* One request. Requests of an iteration block are merged into one by extract (members keep their offsets). */
typedef struct PlaceRequest {
    uint32_t bytes; /* payload of all iterations */
    uint32_t
        tail_bytes; /* must exist inside SRAM behind the payload; may overlap anything (it is only read) */
    uint32_t align;
    bool is_interleaved; /* region 1 only */
    int32_t first, last; /* lifetime, half-open */
    uint32_t name;       /* id for messages: buffer index of the (first) member */
} PlaceRequest;
VEC(PlaceRequest);

typedef struct PlacePair {
    int32_t a, b; /* requests that must not touch a common group when both are alive */
} PlacePair;
VEC(PlacePair);

typedef struct PlaceProblem { /* one tile */
    Tile tile;
    AddrRange available
        [2]; /* data ranges: rest of region 0 behind support, region 1 up to SRAM_IMAGE_END */
    PlaceRequestVec requests;
    PlacePairVec pairs;
} PlaceProblem;

typedef struct PlaceVerdict { /* "does not fit" with evidence */
    Tile tile;
    int32_t request; /* that failed */
    bool is_proven;  /* live bytes alone exceed what is available */
    int64_t available_bytes, live_peak_bytes, short_bytes;
    int32_t peak_step;
    uint32_t largest_hole;
} PlaceVerdict;

typedef struct Placement {
    uint32_t *address; /* per buffer of Work (iteration 0); 0 = unused index */
    uint32_t *stride;  /* per buffer: bytes between iterations (0 when not iterated) */
    uint32_t *
        descriptor; /* per logical tile: address of its argument tables (descriptor_bytes reserved) */
    uint32_t *block;        /* per logical tile: address of its iteration block, 0 when none */
    uint32_t *block_stride; /* per logical tile: bytes between iterations of the block */
    int64_t *used_bytes;    /* per logical tile: data bytes occupied at the peak */
} Placement;

/* First fit in several orders (solve.c), deterministic. ERROR_NO with the verdict's text when it does not fit. */
bool place_solve(const Work *work, int threads, Arena *keep, Arena scratch, Placement *out,
                 PlaceVerdict *verdict, Error *err);
/* Written from the rules, not from the solver: ranges, alignment, regions, overlap of live buffers, separations, parameters
 * overlap nothing (pitfall N15), nothing in support. */
bool place_check(const Work *work, const Placement *placement, Arena scratch, Error *err);
void place_explain(Writer *writer, const Work *work, const PlaceVerdict *verdict);
/* The plain problem of one tile, its solver and its text. */
void place_extract(const Work *work, Tile tile, Arena *keep, Arena scratch, PlaceProblem *out);
bool place_problem_solve(const PlaceProblem *problem, Arena *keep, Arena scratch,
                         uint32_t **address, PlaceVerdict *verdict);
bool place_problem_check(const PlaceProblem *problem, const uint32_t *address, Error *err);
void place_print(Writer *writer, const Work *work, const Placement *placement);
void place_problem_print(Writer *writer, const PlaceProblem *problem);
bool place_problem_parse(Str text, Arena *keep, PlaceProblem *out, Error *err);
