/* place: give every buffer an address on its tile, or say why none is possible.
 * takes: Work (buffers, separations, support grant)      gives: Placement, or a PlaceVerdict
 * uses: base chip lower
 * never: moves a buffer to another tile, times a transfer, encodes anything
 *
 * Tiles are independent problems. The problem and its solution are plain (place/extract.c alone sees Work), with a text form
 * (docs/place.md). The rules are those of compiler-design.md 11.1.
 */
#pragma once
#include "base/base.h"
#include "chip/chip.h"
#include "lower/lower.h"

enum {
    PLACE_RANGES_MAX = 16,
    PLACE_REQUESTS_MAX = 50 * 1000, /* of a file: first fit looks at pairs */
    PLACE_SUBSET_MAX = 14,          /* requests of a certificate */
    PLACE_NODES = 2000000,          /* of a search, when nothing else is asked for */
    PLACE_ALIGN_MAX = 1 << 20,
};
#define PLACE_NOWHERE UINT32_MAX /* no address yet, or none given */

/* Addresses that requests may take. Ranges ascend and do not overlap; no request lies in two of them, also not where they touch,
 * as at the boundary of the regions. */
typedef struct PlaceRange {
    uint32_t begin, end;
    /* Unit of separation from `begin` to the next range, a power of two: 16 KiB in region 0, 32 KiB pairs in region 1; 0: none.
     * Another size begins where an element ends. */
    uint32_t element_bytes;
    bool
        is_interleaved; /* region 1: interleaved requests may lie here, sequences have their second stride */
    bool is_window; /* of the host: only for requests that may use it */
} PlaceRange;

/* One request: `count` members of `bytes` bytes that begin `stride` apart and lie in one block, whose gaps stay unused. */
typedef struct PlaceRequest {
    uint32_t bytes; /* > 0 */
    uint32_t
        tail_bytes; /* must exist behind the last member (below the problem's limit); may overlap anything, it is only read */
    uint32_t align; /* power of two */
    int32_t first, last; /* lifetime in steps, half-open */
    int32_t count;       /* 1: no sequence */
    uint32_t
        stride[2]; /* in ranges that are not interleaved, and in those that are; at least `bytes` */
    uint32_t address;    /* given, or PLACE_NOWHERE */
    bool is_interleaved; /* only in interleaved ranges */
    bool may_use_window;
    Str name; /* for people */
} PlaceRequest;
VEC(PlaceRequest);

/* Requests that must not touch a common element while both are alive; blocks and tails count whole. */
typedef struct PlacePair {
    int32_t a, b;
} PlacePair;
VEC(PlacePair);

/* The same as a wish; a placement that breaks fewer wishes, by weight, is better. */
typedef struct PlaceWish {
    int32_t a, b, weight;
} PlaceWish;
VEC(PlaceWish);

/* `to` may overlap `from` although both are alive if it begins exactly `offset` bytes behind it (an operation in place,
 * compiler-design.md 11.4). Neither is a sequence. */
typedef struct PlaceDonation {
    int32_t from, to;
    uint32_t offset;
} PlaceDonation;
VEC(PlaceDonation);

typedef struct PlaceProblem { /* one tile */
    int32_t tile;             /* logical; -1: of no tile */
    Str name;
    PlaceRange ranges[PLACE_RANGES_MAX];
    int32_t range_count;
    uint32_t limit; /* no tail ends behind it */
    PlaceRequestVec requests;
    PlacePairVec pairs;
    PlaceWishVec wishes;
    PlaceDonationVec donations;
} PlaceProblem;
VEC(PlaceProblem);

/* Addresses and strides (0: no sequence) of a problem's requests. */
typedef struct PlaceSolution {
    uint32_t *address, *stride;
} PlaceSolution;

/* `to` has room for the problem's requests. */
static inline void place_solution_copy(const PlaceProblem *problem, const PlaceSolution *from,
                                       PlaceSolution *to)
{
    for (isize i = 0; i < problem->requests.len; i++) {
        to->address[i] = from->address[i];
        to->stride[i] = from->stride[i];
    }
}

/* Bytes from the first byte of a request to behind its last member, in such a range. */
static inline int64_t place_extent(const PlaceRequest *r, bool is_interleaved_range)
{
    return r->bytes + (int64_t)(r->count - 1) * r->stride[is_interleaved_range ? 1 : 0];
}
static inline bool place_may_use(const PlaceRequest *r, const PlaceRange *range)
{
    return (range->is_interleaved || !r->is_interleaved) &&
           (!range->is_window || r->may_use_window);
}

typedef enum PlaceOutcome {
    PLACE_PLACED = 0,
    PLACE_IMPOSSIBLE, /* with a certificate */
    PLACE_GAVE_UP,    /* never means impossible */
} PlaceOutcome;

typedef enum PlaceProof {
    PROOF_NONE = 0,
    PROOF_PEAK,   /* more bytes are alive in a step than there is room */
    PROOF_SUBSET, /* these requests alone do not fit */
} PlaceProof;

/* Why no placement exists; place_certificate_check shows it again from the rules alone. */
typedef struct PlaceCertificate {
    PlaceProof proof;
    int32_t step;        /* peak */
    bool is_interleaved; /* peak: of interleaved requests in interleaved ranges */
    bool is_windowless;  /* peak: of requests that may not use the window, without it */
    int32_t requests[PLACE_SUBSET_MAX], count;
} PlaceCertificate;

typedef struct PlaceVerdict {
    PlaceOutcome outcome;
    PlaceCertificate certificate;
    Tile tile;
    int32_t request;       /* for which the first order found no place; -1 when placed */
    int64_t nodes;         /* of the last search */
    int64_t broken_weight; /* of wishes, when placed */
    int64_t available_bytes, live_peak_bytes, short_bytes;
    int32_t peak_step;
    uint32_t largest_hole;
    bool is_exhausted; /* PLACE_GAVE_UP: the search was complete, but there is no certificate */
} PlaceVerdict;

typedef struct PlaceOptions {
    int64_t
        nodes_max; /* of the search; 0: PLACE_NODES. With n > 250 requests n / 250 times fewer */
    bool is_proof_wanted; /* look for a subset that cannot fit when nothing was placed */
} PlaceOptions;

typedef struct Placement {
    uint32_t *address; /* per buffer of Work (iteration 0); 0 = unused index */
    uint32_t *stride;  /* per buffer: bytes between iterations (0 when not iterated) */
    uint32_t *
        descriptor; /* per logical tile: address of its argument tables (descriptor_bytes reserved) */
    uint32_t *block;        /* per logical tile: address of its iteration block, 0 when none */
    uint32_t *block_stride; /* per logical tile: bytes between iterations of the block */
    int64_t *used_bytes;    /* per logical tile: data bytes occupied at the peak */
} Placement;

/* All tiles (solve.c), deterministic. ERROR_NO with the verdict's text when one does not fit. */
bool place_solve(const Work *work, int threads, Arena *keep, Arena scratch, Placement *out,
                 PlaceVerdict *verdict, Error *err);
/* Written from the rules, not from the solver: ranges, alignment, regions, overlap of live buffers, separations, parameters
 * overlap nothing (pitfall N15), nothing in support. */
bool place_check(const Work *work, const Placement *placement, Arena scratch, Error *err);
/* Some lines for people, or one object, about the tile of a verdict that is not PLACE_PLACED: what is alive in its fullest step, and
 * what would make it fit. */
void place_explain(Writer *writer, const Work *work, const PlaceVerdict *verdict, Arena scratch);
void place_explain_json(Writer *writer, const Work *work, const PlaceVerdict *verdict,
                        Arena scratch);

/* --- plain problems ------------------------------------------------------------------------------------------------- */

/* The problem of one tile of Work, with names. */
void place_extract(const Work *work, Tile tile, Arena *keep, Arena scratch, PlaceProblem *out);
PlaceOutcome place_problem_solve(const PlaceProblem *problem, const PlaceOptions *options,
                                 Arena *keep, Arena scratch, PlaceSolution *solution,
                                 PlaceVerdict *verdict);
/* place_explain of a plain problem; `operation` is what it does in its fullest step, or empty. */
void place_problem_explain(Writer *writer, const PlaceProblem *problem, const PlaceVerdict *verdict,
                           Str operation, Arena scratch);
void place_problem_explain_json(Writer *writer, const PlaceProblem *problem,
                                const PlaceVerdict *verdict, Str operation, Arena scratch);
/* Many, in parallel (batch.c); the same for any number of threads. Problems that are equal in everything but tile and names are solved
 * once and share a solution. `solutions` and `verdicts` have `count` elements. Returns the number of different problems. */
isize place_problems_solve(const PlaceProblem *problems, isize count, const PlaceOptions *options,
                           int threads, Arena *keep, Arena scratch, PlaceSolution *solutions,
                           PlaceVerdict *verdicts);
/* The least end of the last range with which a problem is placed. */
typedef struct PlaceMinimum {
    uint32_t end;
    uint32_t proved_end; /* nothing less is enough; `end`: it is the least */
    int64_t spare_bytes; /* of the last range behind `end` */
    int64_t nodes;       /* of all searches */
} PlaceMinimum;
/* Of a problem that is placed by `solution`, which becomes the placement with that end (minimum.c); nodes_max (0: 200,000)
 * counts for every end that is tried. */
void place_minimum(const PlaceProblem *problem, int64_t nodes_max, Arena scratch,
                   PlaceSolution *solution, PlaceMinimum *out);
/* Requests that get one address: at most one of a problem, each in at most one group, given addresses do not differ. */
typedef struct PlaceMember {
    int32_t problem, request;
} PlaceMember;
typedef struct PlaceGroup {
    const PlaceMember *members;
    int32_t count;
} PlaceGroup;
/* With groups, all or nothing (groups.c). Otherwise the verdict of a problem that failed: impossible only if it is so without groups. */
PlaceOutcome place_groups_solve(const PlaceProblem *problems, isize count, const PlaceGroup *groups,
                                isize group_count, const PlaceOptions *options, int threads,
                                Arena *keep, Arena scratch, PlaceSolution *solutions,
                                PlaceVerdict *verdict);
/* place_problem_check of every problem, and one address a group. */
bool place_groups_check(const PlaceProblem *problems, isize count, const PlaceGroup *groups,
                        isize group_count, const PlaceSolution *solutions, Arena scratch,
                        Error *err);
/* A change with which the problem was placed. */
typedef enum PlaceRelaxKind {
    RELAX_LIFETIME = 0, /* request a lives only in first .. last */
    RELAX_SEPARATION,   /* a and b may share an element */
    RELAX_SUPPORT, /* `bytes` less in front of the first range of a tile: code, exchange rows */
    RELAX_BYTES,   /* `bytes` more behind the last range */
} PlaceRelaxKind;
typedef struct PlaceRelaxation {
    PlaceRelaxKind kind;
    int32_t a, b, first, last;
    int64_t bytes;
} PlaceRelaxation;
VEC(PlaceRelaxation);
/* Changes of a problem that was not placed, each of which alone is enough; the cheapest kinds come first. */
void place_relax(const PlaceProblem *problem, const PlaceVerdict *verdict, Arena *keep,
                 Arena scratch, PlaceRelaxationVec *out);
/* Shares no code with any solver. */
bool place_certificate_check(const PlaceProblem *problem, const PlaceCertificate *certificate,
                             Error *err);
/* Written from the rules, like place_check. */
bool place_problem_check(const PlaceProblem *problem, const PlaceSolution *solution, Arena scratch,
                         Error *err);
void place_print(Writer *writer, const Work *work, const Placement *placement);
/* With its addresses when `solution` is not NULL. */
void place_problem_print(Writer *writer, const PlaceProblem *problem,
                         const PlaceSolution *solution);
/* Any number of problems, one behind the other; every message names the line. */
bool place_problem_parse(Str text, Arena *keep, PlaceProblemVec *out, Error *err);
/* The CSV of google/minimalloc, with one range [0, capacity); every message names the line. */
bool place_csv_parse(Str text, uint32_t capacity, Arena *keep, Arena scratch, PlaceProblem *out,
                     Error *err);

/* --- generated problems ---------------------------------------------------------------------------------------------- */

/* One tile that has a placement by construction, with few bytes to spare (generate.c): its ranges are full but for
 * `slack_permille` of their bytes times steps, in every step (peaks 0) or in this many steps, with less alive in the others.
 * `witness` (may be NULL) becomes that placement. */
void place_generate_witness(uint64_t seed, int slack_permille, int peaks, Arena *keep,
                            Arena scratch, PlaceProblem *out, PlaceSolution *witness);
/* One tile that has none, of a kind that seed modulo PLACE_IMPOSSIBLE_KINDS says (generate_impossible.c). `certificate` (may be
 * NULL) becomes its proof. */
enum { PLACE_IMPOSSIBLE_KINDS = 8 };
void place_generate_impossible(uint64_t seed, Arena *keep, PlaceProblem *out,
                               PlaceCertificate *certificate);
/* Logical tile of the whole SigLIP So400m, batch one, as compiler-design.md describes it (generate_model.c). */
void place_generate_model(Tile tile, Arena *keep, PlaceProblem *out);
