/* Is this placement legal? Written from the rules (compiler-design.md 11.1, pitfalls N14, N15; chip/memory.h), straight from
 * Work's buffers, without requests or blocks: every iteration of every buffer is a piece of memory of its own.
 */
#include "place/place.h"

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

/* The same rules for a plain problem. */
bool place_problem_check(const PlaceProblem *problem, const uint32_t *address, Error *err)
{
    const PlaceRequest *requests = problem->requests.at;
    int tile = problem->tile.id;
    for (isize i = 0; i < problem->requests.len; i++) {
        const PlaceRequest *r = &requests[i];
        uint64_t end = (uint64_t)address[i] + r->bytes;
        if (address[i] % r->align != 0) {
            return error_set(err, ERROR_NO, NULL,
                             "tile L%d, request %td: address 0x%x is not aligned", tile, i,
                             address[i]);
        }
        bool is_inside = false;
        for (int k = r->is_interleaved ? 1 : 0; k < 2; k++) {
            is_inside |=
                address[i] >= problem->available[k].begin && end <= problem->available[k].end;
        }
        if (!is_inside || end + r->tail_bytes > SRAM_END) {
            return error_set(err, ERROR_NO, NULL,
                             "tile L%d, request %td: 0x%x is outside its data range", tile, i,
                             address[i]);
        }
        for (isize k = 0; k < i; k++) {
            bool is_shared =
                address[k] < end && address[i] < (uint64_t)address[k] + requests[k].bytes;
            if (is_shared && requests[k].first < r->last && r->first < requests[k].last) {
                return error_set(err, ERROR_NO, NULL, "tile L%d, request %td overlaps request %td",
                                 tile, i, k);
            }
        }
    }
    for (isize i = 0; i < problem->pairs.len; i++) {
        PlacePair pair = problem->pairs.at[i];
        const PlaceRequest *a = &requests[pair.a], *b = &requests[pair.b];
        AddrRange range_a = {address[pair.a], address[pair.a] + a->bytes + a->tail_bytes};
        AddrRange range_b = {address[pair.b], address[pair.b] + b->bytes + b->tail_bytes};
        if (a->first < b->last && b->first < a->last && ranges_share_group(range_a, range_b)) {
            return error_set(err, ERROR_NO, NULL,
                             "tile L%d, requests %d and %d share a memory element", tile, pair.a,
                             pair.b);
        }
    }
    return true;
}
