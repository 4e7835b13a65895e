/* Is this placement legal? Written from the rules (compiler-design.md 11.1, pitfalls N14, N15; chip/memory.h), straight from
 * Work's buffers, without requests or blocks: every iteration of every buffer is a piece of memory of its own.
 */
#include "place/place.h"
#include <stdio.h>

typedef struct Piece {
    uint32_t begin, end;
    int32_t first, last; /* alive */
    int32_t buffer;      /* 0: argument tables */
} Piece;
VEC(Piece);

static bool broken(Error *err, Tile tile, int32_t a, const char *what, int32_t b)
{
    if (b < 0) {
        return error_set(err, ERROR_NO, NULL, "tile L%d, buffer %d: %s", tile.id, a, what);
    }
    return error_set(err, ERROR_NO, NULL, "tile L%d, buffer %d: %s buffer %d", tile.id, a, what, b);
}

/* Rules of one piece of memory. */
static bool check_piece(const Work *work, const Buffer *b, int32_t index, uint32_t at, Error *err)
{
    uint32_t data_begin = SRAM_BASE + work->support_bytes;
    uint64_t end = (uint64_t)at + b->bytes;
    if (at % b->align != 0) {
        return broken(err, b->tile, index, "address is not aligned", -1);
    }
    if (at < data_begin || end > SRAM_IMAGE_END) {
        return broken(err, b->tile, index, "outside the data range", -1);
    }
    if (at < SRAM_REGION1 && end > SRAM_REGION1) {
        return broken(err, b->tile, index, "crosses the boundary of the regions", -1);
    }
    if (b->is_interleaved && at < SRAM_REGION1) {
        return broken(err, b->tile, index, "is interleaved but not in region 1", -1);
    }
    if (end + b->tail_bytes > SRAM_END) {
        return broken(err, b->tile, index, "read-ahead leaves SRAM", -1);
    }
    return true;
}

static int compare_pieces(const void *a, const void *b, const void *context)
{
    (void)context;
    const Piece *left = a, *right = b;
    return left->begin != right->begin ? (left->begin < right->begin ? -1 : 1)
                                       : left->buffer - right->buffer;
}

static bool check_tile(const Work *work, Tile tile, PieceVec *pieces, Arena scratch, Error *err)
{
    sort_stable(pieces->at, pieces->len, sizeof(Piece), compare_pieces, NULL, scratch);
    for (isize i = 0; i < pieces->len; i++) {
        const Piece *a = &pieces->at[i];
        for (isize k = i + 1; k < pieces->len && pieces->at[k].begin < a->end; k++) {
            const Piece *b = &pieces->at[k];
            bool is_parameter = work->buffers.at[a->buffer].role == BUFFER_PARAMETER ||
                                work->buffers.at[b->buffer].role == BUFFER_PARAMETER;
            if (a->buffer == 0 || b->buffer == 0) {
                return broken(err, tile, a->buffer + b->buffer, "overlaps the argument tables", -1);
            }
            if (is_parameter) {
                return broken(err, tile, a->buffer,
                              "a parameter must overlap nothing (N15), but overlaps", b->buffer);
            }
            if (a->first < b->last && b->first < a->last) {
                return broken(err, tile, a->buffer, "overlaps in space and time with", b->buffer);
            }
        }
    }
    return true;
}

/* Iterations of an iterated buffer; the address of one. */
static int32_t iterations_of(const Buffer *b)
{
    return b->iterations > 1 ? b->iterations : 1;
}

static bool check_separation(const Work *work, const Placement *placement, const Separation *s,
                             Error *err)
{
    const Buffer *a = &work->buffers.at[s->buffer_a], *b = &work->buffers.at[s->buffer_b];
    bool is_for_ever = a->role == BUFFER_PARAMETER || b->role == BUFFER_PARAMETER;
    if (a->tile.id != b->tile.id ||
        (!is_for_ever && (a->first >= b->last || b->first >= a->last))) {
        return true;
    }
    for (int32_t i = 0; i < iterations_of(a); i++) {
        for (int32_t k = 0; k < iterations_of(b); k++) {
            uint32_t at_a =
                placement->address[s->buffer_a] + (uint32_t)i * placement->stride[s->buffer_a];
            uint32_t at_b =
                placement->address[s->buffer_b] + (uint32_t)k * placement->stride[s->buffer_b];
            if (ranges_share_group((AddrRange){at_a, at_a + a->bytes + a->tail_bytes},
                                   (AddrRange){at_b, at_b + b->bytes + b->tail_bytes})) {
                return broken(err, a->tile, s->buffer_a, "shares a memory element with",
                              s->buffer_b);
            }
        }
    }
    return true;
}

/* Members of the iteration block move together: one stride, one base. */
static bool check_block(const Placement *placement, const Buffer *b, int32_t index, Error *err)
{
    uint32_t base = placement->block[b->tile.id], stride = placement->block_stride[b->tile.id];
    uint32_t at = placement->address[index];
    if (placement->stride[index] != stride || stride % 32 != 0) {
        return broken(err, b->tile, index, "stride differs from the stride of the iteration block",
                      -1);
    }
    if (at < base || at + b->bytes > base + stride) {
        return broken(err, b->tile, index, "lies outside the iteration block", -1);
    }
    return true;
}

bool place_check(const Work *work, const Placement *placement, Arena scratch, Error *err)
{
    PieceVec *pieces = arena_array(&scratch, PieceVec, work->tiles);
    for (int32_t i = 1; i < work->buffers.len; i++) {
        const Buffer *b = &work->buffers.at[i];
        if (iterations_of(b) > 1 && placement->stride[i] < b->bytes) {
            return broken(err, b->tile, i, "iterations overlap each other", -1);
        }
        if (iterations_of(b) > 1 && b->block != 0 && !check_block(placement, b, i, err)) {
            return false;
        }
        for (int32_t k = 0; k < iterations_of(b); k++) {
            uint32_t at = placement->address[i] + (uint32_t)k * placement->stride[i];
            if (!check_piece(work, b, i, at, err)) {
                return false;
            }
            *vec_push(&pieces[b->tile.id], &scratch) =
                (Piece){at, at + b->bytes, b->first, b->last, i};
        }
    }
    for (int32_t i = 0; i < work->tiles; i++) {
        Tile tile = {(uint16_t)i};
        if (work->descriptor_bytes_max > 0) {
            uint32_t at = placement->descriptor[i];
            Buffer tables = {.tile = tile, .bytes = work->descriptor_bytes_max, .align = 64};
            if (!check_piece(work, &tables, 0, at, err)) {
                return false;
            }
            *vec_push(&pieces[i], &scratch) = (Piece){at, at + tables.bytes, 0, INT32_MAX, 0};
        }
        if (!check_tile(work, tile, &pieces[i], scratch, err)) {
            return false;
        }
    }
    for (isize i = 0; i < work->separations.len; i++) {
        if (!check_separation(work, placement, &work->separations.at[i], err)) {
            return false;
        }
    }
    return true;
}

/* --- plain problems ------------------------------------------------------------------------------------------------- */

/* The block of a request with its tail, in its range. */
typedef struct Extent {
    int64_t begin, end, tail_end;
    const PlaceRange *range;
    int32_t request;
} Extent;

static bool wrong(Error *err, const PlaceProblem *problem, int32_t a, const char *what, int32_t b)
{
    char where[32] = "";
    if (problem->tile >= 0) {
        (void)snprintf(where, sizeof where, "tile L%d", problem->tile);
    }
    if (b < 0) {
        return error_set(err, ERROR_NO, where, "request %d %s", a, what);
    }
    return error_set(err, ERROR_NO, where, "request %d %s request %d", a, what, b);
}

/* Rules of one request; its extent. */
static bool check_request(const PlaceProblem *problem, const PlaceSolution *solution, int32_t index,
                          Extent *out, Error *err)
{
    const PlaceRequest *r = &problem->requests.at[index];
    int64_t at = solution->address[index];
    *out = (Extent){.begin = at, .request = index};
    for (int32_t k = 0; k < problem->range_count; k++) {
        if (at >= problem->ranges[k].begin && at < problem->ranges[k].end) {
            out->range = &problem->ranges[k];
        }
    }
    if (r->address != PLACE_NOWHERE && r->address != at) {
        return wrong(err, problem, index, "is not at the address that was given", -1);
    }
    if (at % r->align != 0) {
        return wrong(err, problem, index, "is misaligned", -1);
    }
    if (out->range == NULL) {
        return wrong(err, problem, index, "is outside all ranges", -1);
    }
    if (r->is_interleaved && !out->range->is_interleaved) {
        return wrong(err, problem, index, "is interleaved, but not its range", -1);
    }
    if (out->range->is_window && !r->may_use_window) {
        return wrong(err, problem, index, "may not use the host window", -1);
    }
    uint32_t stride = r->count > 1 ? r->stride[out->range->is_interleaved] : 0;
    if (solution->stride[index] != stride) {
        return wrong(err, problem, index, "has not the stride of its range", -1);
    }
    out->end = at + (int64_t)(r->count - 1) * stride + r->bytes;
    out->tail_end = out->end + r->tail_bytes;
    if (out->end > out->range->end) {
        return wrong(err, problem, index, "leaves its range", -1);
    }
    return out->tail_end <= problem->limit ||
           wrong(err, problem, index, "has a tail behind the limit", -1);
}

static bool live_together(const PlaceRequest *a, const PlaceRequest *b)
{
    return a->first < b->last && b->first < a->last;
}

static bool is_donated(const PlaceProblem *problem, const PlaceSolution *solution, int32_t a,
                       int32_t b)
{
    for (isize i = 0; i < problem->donations.len; i++) {
        const PlaceDonation *d = &problem->donations.at[i];
        if (((d->from == a && d->to == b) || (d->from == b && d->to == a)) &&
            solution->address[d->to] == (uint64_t)solution->address[d->from] + d->offset) {
            return true;
        }
    }
    return false;
}

static int compare_extents(const void *a, const void *b, const void *context)
{
    (void)context;
    const Extent *left = a, *right = b;
    return (left->begin > right->begin) - (left->begin < right->begin);
}

/* Elements of the part of a block and tail that lies in the grid of range k: [*first, *last], numbered from address 0 on. */
static bool elements_in(const PlaceProblem *problem, int32_t k, const Extent *extent,
                        int64_t *first, int64_t *last)
{
    const PlaceRange *range = &problem->ranges[k];
    int64_t grid_end = k + 1 < problem->range_count ? problem->ranges[k + 1].begin : INT64_MAX;
    int64_t begin = max_i64(extent->begin, range->begin), end = min_i64(extent->tail_end, grid_end);
    if (begin >= end || range->element_bytes == 0) {
        return false;
    }
    *first = begin / range->element_bytes;
    *last = (end - 1) / range->element_bytes;
    return true;
}

/* Two ranges may have parts of one element. */
static bool share_element(const PlaceProblem *problem, const Extent *a, const Extent *b)
{
    int64_t a_first, a_last, b_first, b_last;
    for (int32_t i = 0; i < problem->range_count; i++) {
        for (int32_t k = 0; k < problem->range_count; k++) {
            if (problem->ranges[i].element_bytes == problem->ranges[k].element_bytes &&
                elements_in(problem, i, a, &a_first, &a_last) &&
                elements_in(problem, k, b, &b_first, &b_last) && a_first <= b_last &&
                b_first <= a_last) {
                return true;
            }
        }
    }
    return false;
}

bool place_problem_check(const PlaceProblem *problem, const PlaceSolution *solution, Arena scratch,
                         Error *err)
{
    int32_t count = (int32_t)problem->requests.len;
    const PlaceRequest *requests = problem->requests.at;
    Extent *extents = arena_array(&scratch, Extent, count),
           *sorted = arena_array(&scratch, Extent, count);
    for (int32_t i = 0; i < count; i++) {
        if (!check_request(problem, solution, i, &extents[i], err)) {
            return false;
        }
        sorted[i] = extents[i];
    }
    sort_stable(sorted, count, sizeof *sorted, compare_extents, NULL, scratch);
    for (int32_t i = 0; i < count; i++) {
        for (int32_t k = i + 1; k < count && sorted[k].begin < sorted[i].end; k++) {
            int32_t a = sorted[i].request, b = sorted[k].request;
            if (live_together(&requests[a], &requests[b]) && !is_donated(problem, solution, a, b)) {
                return wrong(err, problem, a, "overlaps", b);
            }
        }
    }
    for (isize i = 0; i < problem->pairs.len; i++) {
        PlacePair pair = problem->pairs.at[i];
        if (live_together(&requests[pair.a], &requests[pair.b]) &&
            share_element(problem, &extents[pair.a], &extents[pair.b])) {
            return wrong(err, problem, pair.a, "shares a memory element with", pair.b);
        }
    }
    return true;
}
