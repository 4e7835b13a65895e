/* Work -> one plain placement problem a tile: the only file of this room that turns buffers into requests.
 *
 * All iterated parameters of a tile become one request, the iteration block: its members lie packed behind each other and
 * the whole pack repeats once an iteration, so that one moving base register addresses them all (decisions.md A12,
 * compiler-design.md 11.1). Parameters live for ever (pitfall N15), as do the argument tables of the kernel calls.
 */
#include "place/tile.h"

enum {
    BLOCK_STRIDE_MULTIPLE = 32, /* keeps bank phase and alignment of every iteration equal */
    DESCRIPTOR_ALIGN = 64,
};

static int32_t end_of_time(const Work *work)
{
    return (int32_t)max_i64(work->steps.len, 1);
}

TileIndex tile_index_build(const Work *work, Arena *arena)
{
    TileIndex index = {.buffers = arena_array(arena, int32_t, work->buffers.len),
                       .separations = arena_array(arena, int32_t, work->separations.len),
                       .buffer_first = arena_array(arena, int32_t, work->tiles + 2),
                       .separation_first = arena_array(arena, int32_t, work->tiles + 2)};
    for (isize i = 1; i < work->buffers.len; i++) {
        ASSERT(work->buffers.at[i].tile.id < work->tiles);
        index.buffer_first[work->buffers.at[i].tile.id + 2]++;
    }
    for (isize i = 0; i < work->separations.len; i++) {
        const Separation *s = &work->separations.at[i];
        int tile = work->buffers.at[s->buffer_a].tile.id;
        ASSERT(work->buffers.at[s->buffer_b].tile.id == tile);
        index.separation_first[tile + 2]++;
    }
    for (int32_t i = 1; i <= work->tiles; i++) {
        index.buffer_first[i + 1] += index.buffer_first[i];
        index.separation_first[i + 1] += index.separation_first[i];
    }
    for (isize i = 1; i < work->buffers.len; i++) { /* filling moves the counts one tile down */
        index.buffers[index.buffer_first[work->buffers.at[i].tile.id + 1]++] = (int32_t)i;
    }
    for (isize i = 0; i < work->separations.len; i++) {
        int tile = work->buffers.at[work->separations.at[i].buffer_a].tile.id;
        index.separations[index.separation_first[tile + 1]++] = (int32_t)i;
    }
    return index;
}

static bool is_in_block(const Buffer *buffer)
{
    return buffer->block != 0 && buffer->iterations > 1;
}

/* Adds a buffer to the block request; offsets grow, bytes are set when the block is complete. */
static void add_to_block(TileProblem *tile, const Buffer *buffer, Member *member, uint32_t *used)
{
    PlaceRequest *block = &tile->problem.requests.at[tile->block];
    member->request = tile->block;
    member->offset = (uint32_t)align_up(*used, buffer->align);
    *used = member->offset + buffer->bytes;
    block->align = buffer->align > block->align ? buffer->align : block->align;
    block->is_interleaved |= buffer->is_interleaved;
}

/* Stride, bytes and tail of the complete block. */
static void close_block(const Work *work, TileProblem *tile, uint32_t used)
{
    PlaceRequest *block = &tile->problem.requests.at[tile->block];
    uint32_t iterations = (uint32_t)work->buffers.at[tile->buffer_of[tile->block]].iterations;
    tile->block_stride = (uint32_t)align_up(used, max_i64(BLOCK_STRIDE_MULTIPLE, block->align));
    int64_t bytes = (int64_t)tile->block_stride * iterations;
    ASSERT(bytes <= UINT32_MAX);
    block->bytes = (uint32_t)bytes;
    for (int32_t i = 0; i < tile->member_count; i++) {
        Member *member = &tile->members[i];
        if (member->request == tile->block) {
            const Buffer *buffer = &work->buffers.at[member->buffer];
            ASSERT(buffer->iterations == (int32_t)iterations);
            member->stride = tile->block_stride;
            uint32_t reach = member->offset + buffer->bytes + buffer->tail_bytes;
            if (reach > tile->block_stride && reach - tile->block_stride > block->tail_bytes) {
                block->tail_bytes = reach - tile->block_stride;
            }
        }
    }
}

/* A request of its own; iterated buffers outside a block repeat at their own stride. */
static void add_alone(const Work *work, TileProblem *tile, const Buffer *buffer, Member *member,
                      Arena *keep)
{
    uint32_t bytes = buffer->bytes;
    if (buffer->iterations > 1) {
        member->stride =
            (uint32_t)align_up(buffer->bytes, max_i64(BLOCK_STRIDE_MULTIPLE, buffer->align));
        bytes = member->stride * (uint32_t)(buffer->iterations - 1) + buffer->bytes;
    }
    bool is_for_ever = buffer->role == BUFFER_PARAMETER;
    member->request = (int32_t)tile->problem.requests.len;
    tile->buffer_of[member->request] = member->buffer;
    *vec_push(&tile->problem.requests, keep) =
        (PlaceRequest){.bytes = bytes,
                       .tail_bytes = buffer->tail_bytes,
                       .align = buffer->align,
                       .count = 1,
                       .address = PLACE_NOWHERE,
                       .is_interleaved = buffer->is_interleaved,
                       .first = is_for_ever ? 0 : buffer->first,
                       .last = is_for_ever ? end_of_time(work)
                                           : (int32_t)max_i64(buffer->last, buffer->first + 1)};
}

static int32_t request_of(const TileProblem *tile, int32_t buffer)
{
    int32_t low = 0, high = tile->member_count; /* members are in buffer order */
    while (low + 1 < high) {
        int32_t middle = (low + high) / 2;
        if (tile->members[middle].buffer <= buffer) {
            low = middle;
        } else {
            high = middle;
        }
    }
    ASSERT(tile->members[low].buffer == buffer);
    return tile->members[low].request;
}

PlaceProblem tile_problem_empty(int32_t tile, uint32_t data_begin)
{
    return (PlaceProblem){
        .tile = tile,
        .ranges = {{.begin = data_begin, .end = SRAM_REGION1, .element_bytes = ELEMENT_BYTES},
                   {.begin = SRAM_REGION1,
                    .end = SRAM_IMAGE_END,
                    .element_bytes = 2 * ELEMENT_BYTES,
                    .is_interleaved = true}},
        .range_count = 2,
        .limit = SRAM_END};
}

TileProblem tile_problem_build(const Work *work, const TileIndex *index, Tile id, Arena *keep)
{
    int32_t begin = index->buffer_first[id.id], end = index->buffer_first[id.id + 1];
    TileProblem tile = {.problem = tile_problem_empty(id.id, SRAM_BASE + work->support_bytes),
                        .members = arena_array(keep, Member, end - begin),
                        .buffer_of = arena_array(keep, int32_t, end - begin + 2),
                        .descriptor = -1,
                        .block = -1};
    uint32_t used = 0;
    for (int32_t i = begin; i < end; i++) {
        const Buffer *buffer = &work->buffers.at[index->buffers[i]];
        ASSERT(buffer->bytes > 0);
        ASSERT(buffer->align > 0);
        Member *member = &tile.members[tile.member_count++];
        member->buffer = index->buffers[i];
        if (!is_in_block(buffer)) {
            add_alone(work, &tile, buffer, member, keep);
            continue;
        }
        if (tile.block < 0) {
            tile.block = (int32_t)tile.problem.requests.len;
            tile.buffer_of[tile.block] = member->buffer;
            *vec_push(&tile.problem.requests, keep) = (PlaceRequest){
                .align = 8, .last = end_of_time(work), .count = 1, .address = PLACE_NOWHERE};
        }
        add_to_block(&tile, buffer, member, &used);
    }
    if (tile.block >= 0) {
        close_block(work, &tile, used);
    }
    if (work->descriptor_bytes_max > 0) {
        tile.descriptor = (int32_t)tile.problem.requests.len;
        *vec_push(&tile.problem.requests, keep) =
            (PlaceRequest){.bytes = work->descriptor_bytes_max,
                           .align = DESCRIPTOR_ALIGN,
                           .last = end_of_time(work),
                           .count = 1,
                           .address = PLACE_NOWHERE};
    }
    for (int32_t i = index->separation_first[id.id]; i < index->separation_first[id.id + 1]; i++) {
        const Separation *s = &work->separations.at[index->separations[i]];
        PlacePair pair = {request_of(&tile, s->buffer_a), request_of(&tile, s->buffer_b)};
        ASSERT(pair.a != pair.b); /* members of one block move together and cannot be kept apart */
        *vec_push(&tile.problem.pairs, keep) = pair;
    }
    return tile;
}

/* The block is named by its largest member. */
static Str block_name(const Work *work, const TileProblem *tile, Arena *keep)
{
    int32_t members = 0, largest = 0; /* buffer 0 is empty */
    for (int32_t i = 0; i < tile->member_count; i++) {
        int32_t buffer = tile->members[i].buffer;
        if (tile->members[i].request == tile->block) {
            members++;
            largest =
                work->buffers.at[buffer].bytes > work->buffers.at[largest].bytes ? buffer : largest;
        }
    }
    Str name = buffer_name(work, largest, keep);
    return str_format(keep, "%d parameters of %d iterations, the largest %.*s", members,
                      work->buffers.at[largest].iterations, STR_ARG(name));
}

void place_extract(const Work *work, Tile tile, Arena *keep, Arena scratch, PlaceProblem *out)
{
    TileIndex index = tile_index_build(work, &scratch);
    TileProblem built = tile_problem_build(work, &index, tile, keep);
    *out = built.problem;
    for (isize i = 0; i < out->requests.len; i++) {
        out->requests.at[i].name = i == built.block ? block_name(work, &built, keep)
                                                    : buffer_name(work, built.buffer_of[i], keep);
    }
}
