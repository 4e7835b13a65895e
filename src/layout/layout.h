/* layout: where the elements of a matrix sit. Orders, and layouts resolved once into shards.
 * takes: extents, an order, owners    gives: Layout (resolved), byte runs of a box, packed bytes
 * uses: base chip tensor
 * never: graph operations, costs
 *
 * A value is a matrix of padded columns ("padded coordinates": heads padded one by one). A Layout
 * lists its shards; a shard is a box of the matrix on one tile, stored in `order` with local
 * extents rounded up to the order's multiples. Several shards may hold the same box (replicas).
 * Every later stage consumes shards; nobody derives extents again.
 */
#pragma once
#include "base/error.h"
#include "base/span.h"
#include "base/writer.h"
#include "chip/topology.h"
#include "tensor/dtype.h"
#include "tensor/packing.h"
#include "tensor/region.h"

typedef enum Order {
#define ORDER(name, text, row_multiple, col_multiple) ORDER_##name,
#include "layout/orders.def"
#undef ORDER
    ORDER_COUNT
} Order;

typedef struct Shard {
    Tile tile;
    Region box;                     /* in padded matrix coordinates, non-empty */
    int32_t alloc_rows, alloc_cols; /* local extents, multiples of the order */
} Shard;
VEC(Shard);

typedef struct Layout {
    DType dtype;
    Order order;
    int32_t rows, cols; /* extents of the matrix in padded coordinates */
    ShardVec shards;    /* sorted by (box.row_begin, box.col_begin, tile) */
} Layout;

/* One contiguous run of bytes inside a shard's buffer. */
typedef struct ByteRun {
    uint32_t offset, bytes;
} ByteRun;
VEC(ByteRun);

Str order_name(Order order);
/* ORDER_COUNT when unknown. */
Order order_find(Str name);
/* Element index of local (r, c); extents are the shard's allocated ones. */
int64_t order_index(Order order, int32_t alloc_rows, int32_t alloc_cols, int32_t r, int32_t c);
/* Inverse of order_index. */
void order_coordinate(Order order, int32_t alloc_rows, int32_t alloc_cols, int64_t index,
                      int32_t *r, int32_t *c);

/* Splits rows into row_parts and cols into col_parts (grains in rows / in columns), row part i and
 * column part j on owners[i * col_parts + j]; as even as the grain allows; ERROR_INPUT if a part
 * would be empty (pitfall N9). */
typedef struct Tiling {
    DType dtype;
    Order order;
    int32_t rows, cols;
    int32_t row_parts, row_grain;
    int32_t col_parts, col_grain;
} Tiling;
bool layout_resolve(const Tiling *tiling, const Tile *owners, Arena *arena, Layout *out,
                    Error *err);
/* [begin, end) of part i of `extent` cut into `parts` with `grain`. Earlier parts are never
 * smaller. */
void part_range(int32_t extent, int32_t parts, int32_t grain, int32_t i, int32_t *begin,
                int32_t *end);
/* Adds one explicit shard (any replication); call layout_finish before use. */
void layout_add(Layout *layout, Tile tile, Region box, Arena *arena);
/* Sorts and checks: boxes inside the matrix, non-empty, no two shards on one tile with the same
 * box. */
void layout_finish(Layout *layout, Arena scratch);
/* Every element of the matrix is owned by at least one shard. */
bool layout_covers(const Layout *layout, Arena scratch);

int64_t shard_bytes(const Layout *layout, const Shard *shard);
/* Appends the contiguous runs of `box` (a part of shard->box) in the order in which they lie in the
 * buffer; runs that touch are joined. */
void layout_runs(const Layout *layout, const Shard *shard, Region box, ByteRunVec *out,
                 Arena *arena);

/* Byte moves that copy `box` of a value from one shard to another whose coordinates are shifted:
 * dst (r, c) = src (r + row_shift, c + col_shift). Runs are contiguous on both sides and merged.
 * `box` is in dst coordinates. Fails (ERROR_NO, "sub-word") when a run or an offset is no multiple
 * of 4 bytes (pitfall N10). */
typedef struct CopyRun {
    uint32_t src_offset, dst_offset, bytes;
} CopyRun;
VEC(CopyRun);
bool layout_copy_runs(const Layout *src, const Shard *src_shard, const Layout *dst,
                      const Shard *dst_shard, Region box, int32_t row_shift, int32_t col_shift,
                      CopyRunVec *out, Arena *arena, Error *err);

/* Row-major FP32 matrix (rows x cols of the layout, padded coordinates) -> the shard's bytes.
 * Elements outside the box but inside the allocation become zero. F16 overflow of a finite value is
 * ERROR_NO. out holds shard_bytes. */
bool layout_pack(const Layout *layout, const Shard *shard, const float *matrix, uint8_t *out,
                 Error *err);
/* The shard's bytes -> its box of the row-major FP32 matrix. */
void layout_unpack(const Layout *layout, const Shard *shard, const uint8_t *bytes, float *matrix);
/* Same as layout_pack, elements pulled through a Packing from source tensors already in memory
 * (tensors[part]). Used by runtime for parameters and inputs; cost is proportional to the shard. */
bool layout_pack_from(Order order, DType dtype, int32_t alloc_rows, int32_t alloc_cols, Region box,
                      const Packing *packing, const float *const *tensors, uint8_t *out,
                      Error *err);

void layout_print(Writer *writer, const Layout *layout);
