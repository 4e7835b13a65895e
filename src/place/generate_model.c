/* A tile of the whole SigLIP So400m, 27 layers, batch one: what compiler-design.md ("D") 1.2, 3.4, 5, 12 and 15 say of one plan,
 * with the shapes of models.md 1. A Repeat body is placed once, so the steps are those of the embedding, one layer and the head.
 *
 * Ranges (D 1.1, 12). Kernels and runtime end at 0x64000; program 18,000, host code 9,318, host descriptors 2,516 and samples 896
 * bytes take two whole elements; the exchange table's guard of 81,920 bytes takes 0x6c000..0x80000. So region 0 is full, and what
 * is left is region 1 and, for transients, the window 0x50000..0x58000: 457,648 bytes.
 *
 * Resident sequences of 27 members (D 3.4, 5.1, 15), one copy in the order of the consumer's B operand, panels of 512 bytes:
 *   W_qkv 6 panels a layer on 1296 tiles, W_o 2 on 1296 (both stated); W_up 36 * 269 = 9,684 panels, 7 a tile on 1384; W_down
 *   135 * 72 = 9,720, 7 a tile on 1389; biases and norms of n halves 8 bytes a tile on n / 4 (grain 4 elements, 3.4 example 2).
 * Once: patch embedding 37 * 72 panels, 2 on 1332; positions, a row on 729; head in FP8 (5,184, 2,592, 2,592, 9,684 and 9,720
 * panels: 4, 2, 2, 7 and 7 a tile). Each value begins behind the last owner of the one before it, modulo 1472 (D 8.4: shared
 * rotation). Silent, and ours: owners of W_up and W_down and all vectors, precision of the head, where values begin.
 *
 * Products (D 1.2): weights, activations, product, exchange of partials, sum. Rows are split in grains of 2 (729 = 5 * 82 + 3 * 80 +
 * 79, which gives the counts of D 15), for K.Q^T and the patches in grains of 1; tile = (row * k_parts + k) * col_parts + col
 * (columns fast, 5.1). Partials and B operands are interleaved (3.4 example 6, 4), all parts of a sum are there at once (5.2), the
 * own partial is summed in place. A K owner sums columns for W_up (3.4 example 7), else rows: ours. Casts are early (5.6).
 * Relays (6) for QKV and W_up: rows of the operand spread over the column owners, ours. Attention on independent grids (5.4 3);
 * 960 packers each of K panels, tiles 0..959, and V panels, tiles 512..1471 (disjointness of 5.3 as far as possible), ours.
 * Embedding grid 27 x 18 x 3, the head's K and V 4 x 36 x 9 and its one-row products 64 x 16 on 1024 tiles (5.1): ours but for
 * the count. MAP attention by 8 keys a tile: ours.
 *
 * Separations: GEMM output from left operand and loop-back source from destination (4, N12), the latter where the tile
 * really sends to itself. Wishes, by words: what one exchange or kernel reads and writes besides that (1.1, 4: casts).
 * Alignment 32 of AMP operands, else 8; tails 16 of FP16 left operands, 8 of FP8 (4). Not there: argument tables, clears.
 *
 * A layer has 46 steps, 24 of them exchanges (1.2: about 25), the whole 98. 22..240 requests a tile, 192 in the mean. Live peaks
 * are 236,696..394,392 bytes, so at least 63,256 of the 457,648 stay free. That is less than the 458,368 of the tile captured
 * in D 11.2: staging of local copies and late casts are not here, as no document gives their sizes.
 */
#include "place/generate.h"

enum {
    TILES = 1472,
    ROWS = 729,
    WIDTH = 1152,
    HIDDEN = 4304,
    HEADS = 16,
    LAYERS = 27,
    PANEL_BYTES = 512,
    WINDOW_BEGIN = 0x50000,
    WINDOW_END = 0x58000,
    FOR_EVER = INT32_MAX, /* until the number of steps is known */
    NONE = -1,            /* a request that this tile does not have */
};

typedef struct Model {
    Arena *keep;
    PlaceProblem *problem;
    int32_t tile, step;
    int32_t home; /* tile at which the next resident value begins */
} Model;

/* Half-open rows and columns of a tensor. */
typedef struct Part {
    int32_t row, row_end, col, col_end;
} Part;

/* A buffer with what it holds. */
typedef struct Piece {
    int32_t request;
    Part part;
} Piece;

static bool share_part(Part a, Part b)
{
    return a.row < b.row_end && b.row < a.row_end && a.col < b.col_end && b.col < a.col_end;
}

/* Part i when `total` is split evenly, larger parts first. */
static int32_t part_begin(int32_t total, int32_t parts, int32_t i)
{
    return total / parts * i + (i < total % parts ? i : total % parts);
}

/* --- requests -------------------------------------------------------------------------------------------- */

static void next(Model *m)
{
    m->step++;
}

/* Alive from this step on, if `is_here`. */
static int32_t begin(Model *m, bool is_here, const char *name, int64_t bytes)
{
    if (!is_here || bytes == 0) {
        return NONE;
    }
    PlaceRequest *r =
        generated_request(m->problem, m->keep, (int64_t)align_up(bytes, 4), m->step, FOR_EVER);
    r->name = str_of(name);
    r->may_use_window = true;
    return (int32_t)m->problem->requests.len - 1;
}

/* This step is its last. */
static void end(Model *m, int32_t request)
{
    if (request != NONE) {
        m->problem->requests.at[request].last = m->step + 1;
    }
}

/* An operand or result of the AMP. */
static int32_t begin_amp(Model *m, bool is_here, const char *name, int64_t bytes,
                         uint32_t tail_bytes, bool is_interleaved)
{
    int32_t request = begin(m, is_here, name, bytes);
    if (request != NONE) {
        PlaceRequest *r = &m->problem->requests.at[request];
        r->align = 32;
        r->tail_bytes = tail_bytes;
        r->is_interleaved = is_interleaved;
        r->may_use_window = !is_interleaved;
    }
    return request;
}

static void separate(Model *m, int32_t a, int32_t b)
{
    if (a != NONE && b != NONE) {
        *vec_push(&m->problem->pairs, m->keep) = (PlacePair){a, b};
    }
}

/* Read and written in one step. */
static void wish(Model *m, int32_t from, int32_t to)
{
    if (from != NONE && to != NONE) {
        int32_t words = (int32_t)m->problem->requests.at[to].bytes / 4;
        *vec_push(&m->problem->wishes, m->keep) = (PlaceWish){from, to, words};
    }
}

/* Sent and received in one exchange, perhaps to itself. */
static void exchange(Model *m, bool is_loop_back, int32_t from, int32_t to)
{
    if (is_loop_back) {
        separate(m, from, to);
    } else {
        wish(m, from, to);
    }
}

/* A resident value of `units` units of `unit_bytes`, `each` on a tile; what is here, as columns of its part. */
static Piece add_home(Model *m, const char *name, int32_t units, int32_t each, int32_t unit_bytes,
                      int32_t members)
{
    int32_t share = (m->tile - m->home + TILES) % TILES, owners = (units + each - 1) / each;
    Part part = {.row_end = 1, .col = share * each};
    part.col_end = share * each + each < units ? share * each + each : units;
    m->home = (m->home + owners) % TILES;
    if (share >= owners) {
        return (Piece){.request = NONE};
    }
    uint32_t bytes = (uint32_t)((part.col_end - part.col) * unit_bytes);
    PlaceRequest *r = generated_request(m->problem, m->keep, bytes, 0, FOR_EVER);
    r->name = str_of(name);
    r->count = members;
    r->align = unit_bytes == PANEL_BYTES ? 32 : 8;
    if (members > 1) {
        r->stride[0] = r->stride[1] = (uint32_t)align_up(bytes, r->align);
    }
    return (Piece){(int32_t)m->problem->requests.len - 1, part};
}

/* --- products -------------------------------------------------------------------------------------------- */

typedef struct Product {
    const char *weights, *relay, *left, *partial, *received, *bias, *sum; /* names */
    int32_t row_parts, row_grain, rows;
    int32_t col_parts, col_groups; /* groups of 16 columns */
    int32_t k_parts, k_panels;     /* panels of `micro` columns of the left operand */
    int32_t micro;                 /* 32: FP8, 16: FP16 */
    bool has_relay, is_summed_by_columns;
} Product;

#define PRODUCT_NAMES(name)                                                                        \
    .weights = name ".weights", .relay = name ".relay", .left = name ".left",                      \
    .partial = name ".partial", .received = name ".received", .bias = name ".bias",                \
    .sum = name ".sum"

/* Columns count in groups of 16. */
typedef struct Cell {
    bool is_here;
    Part left;   /* rows x columns of the left operand */
    Part result; /* rows x column groups */
    int32_t k, k_first, k_end;
} Cell;

static Cell cell_of(const Product *p, int32_t tile)
{
    int32_t col = tile % p->col_parts, k = tile / p->col_parts % p->k_parts;
    int32_t row = tile / p->col_parts / p->k_parts;
    int32_t grains = (p->rows + p->row_grain - 1) / p->row_grain;
    Cell cell = {.is_here = row < p->row_parts,
                 .k = k,
                 .k_first = part_begin(p->k_panels, p->k_parts, k),
                 .k_end = part_begin(p->k_panels, p->k_parts, k + 1)};
    cell.result = (Part){.row = part_begin(grains, p->row_parts, row) * p->row_grain,
                         .row_end = part_begin(grains, p->row_parts, row + 1) * p->row_grain,
                         .col = part_begin(p->col_groups, p->col_parts, col),
                         .col_end = part_begin(p->col_groups, p->col_parts, col + 1)};
    cell.result.row_end = cell.result.row_end < p->rows ? cell.result.row_end : p->rows;
    cell.left = (Part){cell.result.row, cell.result.row_end, cell.k_first * p->micro,
                       cell.k_end * p->micro};
    return cell;
}

/* Is one of the panels at home part of this tile's own B operand? */
static bool has_own_panel(const Product *p, const Cell *cell, Piece home)
{
    for (int32_t i = home.part.col; home.request != NONE && cell->is_here && i < home.part.col_end;
         i++) {
        int32_t group = i / p->k_panels, k = i % p->k_panels;
        if (group >= cell->result.col && group < cell->result.col_end && k >= cell->k_first &&
            k < cell->k_end) {
            return true;
        }
    }
    return false;
}

static int32_t rows_in(Part part)
{
    return part.row_end - part.row;
}
static int32_t cols_in(Part part)
{
    return part.col_end - part.col;
}

/* Two exchanges: the operands, from home and from `source`, which ends. */
static int32_t add_operands(Model *m, const Product *p, const Cell *cell, Piece home, Piece source,
                            int32_t *left)
{
    int32_t groups = cols_in(cell->result), panels = cell->k_end - cell->k_first;
    int32_t right = begin_amp(m, cell->is_here, p->weights, groups * panels * PANEL_BYTES, 0, true);
    exchange(m, has_own_panel(p, cell, home), home.request, right);
    next(m);
    int32_t row_bytes = cols_in(cell->left) * (p->micro == 32 ? 1 : 2);
    int32_t relay = NONE;
    *left = begin_amp(m, cell->is_here, p->left, rows_in(cell->left) * row_bytes,
                      p->micro == 32 ? 8 : 16, false);
    if (p->has_relay) {
        int32_t col = m->tile % p->col_parts, rows = rows_in(cell->left);
        Part part = cell->left;
        part.row = cell->left.row + part_begin(rows, p->col_parts, col);
        part.row_end = cell->left.row + part_begin(rows, p->col_parts, col + 1);
        relay = begin(m, cell->is_here, p->relay, rows_in(part) * row_bytes);
        exchange(m, share_part(part, source.part), source.request, relay);
        separate(m, relay, *left); /* multicast to the row group, in which this tile is */
        end(m, relay);
    } else {
        exchange(m, cell->is_here && share_part(source.part, cell->left), source.request, *left);
    }
    end(m, source.request);
    next(m);
    return right;
}

/* The tile's own part of a result. */
static Part sum_of(const Product *p, const Cell *cell)
{
    Part part = cell->result;
    if (p->is_summed_by_columns) {
        int32_t groups = cols_in(cell->result);
        part.col = cell->result.col + part_begin(groups, p->k_parts, cell->k);
        part.col_end = cell->result.col + part_begin(groups, p->k_parts, cell->k + 1);
    } else {
        int32_t rows = rows_in(cell->result);
        part.row = cell->result.row + part_begin(rows, p->k_parts, cell->k);
        part.row_end = cell->result.row + part_begin(rows, p->k_parts, cell->k + 1);
    }
    return part;
}

/* Five steps; the sum, rows x column groups, of halves. */
static Piece add_product(Model *m, const Product *p, Piece home, Piece source)
{
    Cell cell = cell_of(p, m->tile);
    int32_t left, right = add_operands(m, p, &cell, home, source, &left);
    int32_t partial = begin_amp(m, cell.is_here, p->partial,
                                rows_in(cell.result) * cols_in(cell.result) * 32, 0, true);
    separate(m, left, partial);
    end(m, left);
    end(m, right);
    next(m);
    Part part = sum_of(p, &cell);
    int32_t sum_bytes = rows_in(part) * cols_in(part) * 32;
    int32_t received = (int32_t)m->problem->requests.len;
    for (int32_t i = 1; i < p->k_parts; i++) {
        int32_t request = begin(m, cell.is_here, p->received, sum_bytes);
        wish(m, partial, request);
    }
    int32_t bias = begin(m, cell.is_here, p->bias, cols_in(part) * 32);
    next(m);
    Piece sum = {begin(m, cell.is_here, p->sum, sum_bytes), part};
    wish(m, partial, sum.request);
    for (int32_t i = received; i < m->problem->requests.len && i != sum.request; i++) {
        end(m, i);
    }
    end(m, bias);
    end(m, partial);
    next(m);
    return sum;
}

/* --- the layer ------------------------------------------------------------------------------------------- */

static const Product qkv = {PRODUCT_NAMES("qkv"), .row_parts = 3,
                            .row_grain = 2,       .rows = ROWS,
                            .col_parts = 54,      .col_groups = 3 * WIDTH / 16,
                            .k_parts = 9,         .k_panels = WIDTH / 32,
                            .micro = 32,          .has_relay = true};
static const Product output = {
    PRODUCT_NAMES("output"),  .row_parts = 5, .row_grain = 2,         .rows = ROWS, .col_parts = 24,
    .col_groups = WIDTH / 16, .k_parts = 12,  .k_panels = WIDTH / 32, .micro = 32};
static const Product up = {PRODUCT_NAMES("up"),
                           .row_parts = 9,
                           .row_grain = 2,
                           .rows = ROWS,
                           .col_parts = 27,
                           .col_groups = HIDDEN / 16,
                           .k_parts = 6,
                           .k_panels = WIDTH / 32,
                           .micro = 32,
                           .has_relay = true,
                           .is_summed_by_columns = true};
static const Product down = {PRODUCT_NAMES("down"),
                             .row_parts = 6,
                             .row_grain = 2,
                             .rows = ROWS,
                             .col_parts = 9,
                             .col_groups = WIDTH / 16,
                             .k_parts = 27,
                             .k_panels = (HIDDEN + 31) / 32,
                             .micro = 32};
static const Product patches = {PRODUCT_NAMES("patches"),
                                .row_parts = 27,
                                .row_grain = 1,
                                .rows = ROWS,
                                .col_parts = 18,
                                .col_groups = WIDTH / 16,
                                .k_parts = 3,
                                .k_panels = 37, /* 588 halves in 592 (D 5.7) */
                                .micro = 16};
static const Product map_kv = {PRODUCT_NAMES("map.kv"),
                               .row_parts = 4,
                               .row_grain = 2,
                               .rows = ROWS,
                               .col_parts = 36,
                               .col_groups = 2 * WIDTH / 16,
                               .k_parts = 9,
                               .k_panels = WIDTH / 32,
                               .micro = 32};

/* Norm of the rows x and its cast. */
static Piece add_norm(Model *m, int32_t x)
{
    bool is_row = m->tile < ROWS;
    int32_t gamma = begin(m, is_row, "norm.gamma", WIDTH * 2);
    int32_t beta = begin(m, is_row, "norm.beta", WIDTH * 2);
    next(m);
    int32_t y = begin(m, is_row, "norm.rows", WIDTH * 2);
    wish(m, x, y);
    end(m, gamma);
    end(m, beta);
    next(m);
    int32_t cast = begin(m, is_row, "norm.cast", WIDTH);
    wish(m, y, cast);
    end(m, y);
    next(m);
    return (Piece){cast, {m->tile, m->tile + 1, 0, is_row ? WIDTH : 0}};
}

/* Sums become rows, which are added in place. */
static void add_residual(Model *m, Piece sum, int32_t x)
{
    bool is_row = m->tile < ROWS;
    int32_t delta = begin(m, is_row, "residual", WIDTH * 2);
    Part row = {m->tile, m->tile + 1, 0, is_row ? WIDTH / 16 : 0};
    exchange(m, share_part(sum.part, row), sum.request, delta);
    end(m, sum.request);
    next(m);
    wish(m, x, delta);
    end(m, delta);
    next(m);
}

/* K and V panels of 64 rows x 16 columns, 12 x 5 a head (D 3.4 example 12); as parts: all rows behind each other, head by head. */
static Part panel_part(int32_t panel, bool is_here)
{
    enum { BLOCKS = 12, COLUMNS = 5, BLOCK_ROWS = 64 };
    int32_t row = (panel / COLUMNS) * BLOCK_ROWS, column = panel % COLUMNS * 16;
    return (Part){row, row + BLOCK_ROWS, column, is_here ? column + 16 : column};
}

/* Rows of 768 padded keys a head. */
enum { HEAD_WIDTH = 72, HEAD_PADDED = 80, KEYS = 768, PACKERS = 960 };

/* Fourteen steps from the QKV sum to the merged, cast heads. */
static Piece add_attention(Model *m, Piece source)
{
    int32_t v_packer = m->tile - (TILES - PACKERS);
    bool packs_k = m->tile < PACKERS, packs_v = v_packer >= 0;
    int32_t k_raw = begin(m, packs_k, "keys.raw", 64 * 16 * 2);
    int32_t v_raw = begin(m, packs_v, "values.raw", 64 * 16 * 2);
    wish(m, source.request, k_raw);
    wish(m, source.request, v_raw);
    next(m);
    Piece k = {begin(m, packs_k, "keys.packed", 64 * 16 * 2), panel_part(m->tile, packs_k)};
    Piece v = {begin(m, packs_v, "values.packed", 64 * 16), panel_part(v_packer, packs_v)};
    wish(m, k_raw, k.request);
    wish(m, v_raw, v.request);
    end(m, k_raw);
    end(m, v_raw);
    next(m);

    /* Q.K^T: 9 x 10 parts of 81 queries x 80 keys a head (D 1.2). */
    int32_t head = m->tile / 90, query = m->tile % 90 / 10 * 81, key = m->tile % 10 * 80;
    bool has_scores = head < HEADS;
    int32_t q_raw = begin(m, has_scores, "queries.raw", 81 * HEAD_WIDTH * 2);
    wish(m, source.request, q_raw);
    end(m, source.request);
    next(m);
    int32_t q = begin_amp(m, has_scores, "queries.left", 81 * HEAD_PADDED * 2, 16, false);
    wish(m, q_raw, q);
    end(m, q_raw);
    next(m);
    int32_t keys = begin_amp(m, has_scores, "keys.right", 80 * HEAD_PADDED * 2, 0, true);
    Part keys_part = {head * KEYS + key, head * KEYS + key + 80, 0, has_scores ? HEAD_PADDED : 0};
    exchange(m, share_part(k.part, keys_part), k.request, keys);
    end(m, k.request);
    next(m);
    Piece scores = {
        begin_amp(m, has_scores, "scores", 81 * 80 * 2, 0, true),
        {head * ROWS + query, head * ROWS + query + 81, key, has_scores ? key + 80 : key}};
    separate(m, q, scores.request);
    end(m, q);
    end(m, keys);
    next(m);

    /* Softmax: 8 of 16 * 729 rows on each of 1458 tiles (D 3.4 example 11). */
    bool has_rows = m->tile < HEADS * ROWS / 8;
    Part rows_part = {m->tile * 8, m->tile * 8 + 8, 0, has_rows ? KEYS : 0};
    int32_t rows = begin(m, has_rows, "softmax.rows", 8 * KEYS * 2);
    exchange(m, share_part(scores.part, rows_part), scores.request, rows);
    end(m, scores.request);
    next(m);
    int32_t state = begin(m, has_rows, "softmax.state", 8 * 2 * 4); /* maximum, denominator */
    int32_t probabilities = begin(m, has_rows, "softmax.probabilities", 8 * KEYS);
    wish(m, rows, probabilities);
    end(m, rows);
    next(m);

    /* P.V: 13 x 6 parts of 57 queries x 128 keys a head (D 1.2). */
    int32_t i = m->tile % 78 / 6, part = m->tile % 6;
    head = m->tile / 78;
    bool has_values = head < HEADS;
    int32_t values = begin_amp(m, has_values, "values.right", 128 * HEAD_PADDED, 0, true);
    Part values_part = {head * KEYS + part * 128, head * KEYS + part * 128 + 128, 0,
                        has_values ? HEAD_PADDED : 0};
    exchange(m, share_part(v.part, values_part), v.request, values);
    end(m, v.request);
    next(m);
    int32_t first = part_begin(ROWS, 13, i), count = part_begin(ROWS, 13, i + 1) - first;
    int32_t left = begin_amp(m, has_values, "probabilities.left", count * 128, 8, false);
    Part left_part = {head * ROWS + first, head * ROWS + first + count, part * 128,
                      has_values ? part * 128 + 128 : part * 128};
    exchange(m, share_part(rows_part, left_part), probabilities, left);
    end(m, probabilities);
    next(m);
    int32_t partial = begin_amp(m, has_values, "heads.partial", count * HEAD_PADDED * 2, 0, true);
    separate(m, left, partial);
    end(m, left);
    end(m, values);
    next(m);
    int32_t own = part_begin(count, 6, part), own_end = part_begin(count, 6, part + 1);
    int32_t received[6] = {NONE};
    for (int32_t k_part = 1; k_part < 6; k_part++) {
        received[k_part] =
            begin(m, has_values, "heads.received", (own_end - own) * HEAD_PADDED * 2);
        wish(m, partial, received[k_part]);
    }
    received[0] = begin(m, has_values, "heads.denominators", (own_end - own) * 4);
    end(m, state);
    next(m);
    int32_t merged = begin(m, has_values, "heads.merged", (own_end - own) * HEAD_WIDTH * 2);
    for (int32_t k_part = 0; k_part < 6; k_part++) {
        end(m, received[k_part]);
    }
    end(m, partial);
    next(m);
    Piece cast = {begin(m, has_values, "heads.cast", (own_end - own) * 96), /* whole panels (5.6) */
                  {first + own, first + own_end, head * HEAD_WIDTH,
                   has_values ? (head + 1) * HEAD_WIDTH : head * HEAD_WIDTH}};
    wish(m, merged, cast.request);
    end(m, merged);
    next(m);
    return cast;
}

/* The sum of W_up becomes halves of rows, on which GeLU stores FP8 (D 3.4 example 3, 4). */
static Piece add_gelu(Model *m, Piece sum)
{
    bool is_here = m->tile < 2 * ROWS;
    int32_t row = m->tile / 2, half = m->tile % 2 * (HIDDEN / 2);
    Part part = {row, row + 1, half, is_here ? half + HIDDEN / 2 : half};
    Part groups = {row, row + 1, half / 16, is_here ? (half + HIDDEN / 2 + 15) / 16 : half / 16};
    int32_t in = begin(m, is_here, "gelu.rows", HIDDEN / 2 * 2);
    exchange(m, share_part(sum.part, groups), sum.request, in);
    end(m, sum.request);
    next(m);
    int32_t out = begin(m, is_here, "gelu.cast", HIDDEN / 2);
    wish(m, in, out);
    end(m, in);
    next(m);
    return (Piece){out, part};
}

/* --- embedding and head ---------------------------------------------------------------------------------- */

static int32_t add_embedding(Model *m, Piece home)
{
    bool is_row = m->tile < ROWS;
    int32_t input = begin(m, is_row, "input", 588 * 2);
    if (input != NONE) {
        m->problem->requests.at[input].may_use_window = false;
    }
    next(m);
    Piece rows = {input, {m->tile, m->tile + 1, 0, is_row ? 588 : 0}};
    Piece sum = add_product(m, &patches, home, rows);
    int32_t x = begin(m, is_row, "x", WIDTH * 2);
    Part row = {m->tile, m->tile + 1, 0, is_row ? WIDTH / 16 : 0};
    exchange(m, share_part(sum.part, row), sum.request, x);
    end(m, sum.request);
    next(m);
    next(m); /* positions are added in place */
    return x;
}

/* A product with one row in swapped orientation: 64 x 16 parts of outputs x K. */
static int32_t add_one_row(Model *m, Piece home, int32_t outputs, int32_t k, int32_t source)
{
    enum { OUTPUT_PARTS = 64, K_PARTS = 16 };
    bool is_here = m->tile < OUTPUT_PARTS * K_PARTS;
    int32_t own = (outputs + OUTPUT_PARTS - 1) / OUTPUT_PARTS;
    int32_t own_k = (int32_t)align_up((k + K_PARTS - 1) / K_PARTS, 32);
    int32_t left = begin_amp(m, is_here, "map.weights", own * own_k, 8, false);
    wish(m, home.request, left);
    next(m);
    int32_t right = begin_amp(m, is_here, "map.vector", own_k * 16, 0, true);
    wish(m, source, right);
    end(m, source);
    next(m);
    int32_t partial = begin_amp(m, is_here, "map.partial", own * 16 * 2, 0, true);
    separate(m, left, partial);
    end(m, left);
    end(m, right);
    next(m);
    int32_t share = (own + K_PARTS - 1) / K_PARTS * 2, received[K_PARTS];
    for (int32_t i = 1; i < K_PARTS; i++) {
        received[i] = begin(m, is_here, "map.received", share);
    }
    next(m);
    int32_t sum = begin(m, is_here, "map.sum", share);
    for (int32_t i = 1; i < K_PARTS; i++) {
        end(m, received[i]);
    }
    end(m, partial);
    next(m);
    return sum;
}

/* One query a head; 8 keys on each of 16 * 92 tiles. */
static int32_t add_map_attention(Model *m, Piece kv, int32_t q)
{
    enum { OWN_KEYS = 8, SHARES = 92 };
    bool is_head = m->tile < HEADS;
    int32_t query = begin(m, true, "map.query", HEAD_PADDED * 2);
    int32_t keys = begin(m, true, "map.keys", OWN_KEYS * HEAD_PADDED * 2);
    wish(m, kv.request, keys);
    end(m, q);
    next(m);
    int32_t scores = begin(m, true, "map.scores", OWN_KEYS * 4);
    end(m, query);
    end(m, keys);
    next(m);
    int32_t row = begin(m, is_head, "map.row", KEYS * 4);
    end(m, scores);
    next(m);
    int32_t probabilities = begin(m, is_head, "map.probabilities", KEYS * 2);
    end(m, row);
    next(m);
    int32_t own = begin(m, true, "map.own", OWN_KEYS * 2);
    int32_t values = begin(m, true, "map.values", OWN_KEYS * HEAD_PADDED * 2);
    wish(m, kv.request, values);
    end(m, probabilities);
    end(m, kv.request);
    next(m);
    int32_t partial = begin(m, true, "map.head.partial", HEAD_PADDED * 4);
    end(m, own);
    end(m, values);
    next(m);
    int32_t received = begin(m, is_head, "map.head.received", SHARES * HEAD_PADDED * 4);
    end(m, partial);
    next(m);
    int32_t head = begin(m, is_head, "map.head", HEAD_WIDTH * 2);
    end(m, received);
    next(m);
    return head;
}

/* A step of one tile on the pooled row. */
static int32_t add_pooled(Model *m, const char *name, int32_t source, int32_t width)
{
    int32_t gathered = begin(m, m->tile == 0, "map.pooled", width * 2);
    end(m, source);
    next(m);
    int32_t out = begin(m, m->tile == 0, name, width * 2);
    wish(m, gathered, out);
    end(m, gathered);
    next(m);
    return out;
}

/* --- the whole ------------------------------------------------------------------------------------------- */

/* Vectors of `halves` halves, four on a tile. */
static Piece add_vector(Model *m, const char *name, int32_t halves, int32_t members)
{
    return add_home(m, name, halves / 4, 1, 8, members);
}

void place_generate_model(Tile tile, Arena *keep, PlaceProblem *out)
{
    ASSERT(tile.id < TILES);
    *out = tile_problem_empty(tile.id, WINDOW_BEGIN);
    out->name = str_format(keep, "siglip-so400m-%d", tile.id);
    out->ranges[0].end = WINDOW_END;
    out->ranges[0].is_window = true;
    Model *m = &(Model){.keep = keep, .problem = out, .tile = tile.id};
    (void)add_home(m, "embedding.positions", ROWS, 1, WIDTH * 2, 1);
    m->home = 0;
    Piece w_qkv = add_home(m, "w_qkv", 3 * WIDTH / 16 * (WIDTH / 32), 6, PANEL_BYTES, LAYERS);
    Piece w_o = add_home(m, "w_o", WIDTH / 16 * (WIDTH / 32), 2, PANEL_BYTES, LAYERS);
    Piece w_up = add_home(m, "w_up", HIDDEN / 16 * (WIDTH / 32), 7, PANEL_BYTES, LAYERS);
    Piece w_down = add_home(m, "w_down", WIDTH / 16 * 135, 7, PANEL_BYTES, LAYERS);
    (void)add_vector(m, "b_qkv", 3 * WIDTH, LAYERS);
    (void)add_vector(m, "b_o", WIDTH, LAYERS);
    (void)add_vector(m, "b_up", HIDDEN, LAYERS);
    (void)add_vector(m, "b_down", WIDTH, LAYERS);
    (void)add_vector(m, "norm1.gamma", WIDTH, LAYERS);
    (void)add_vector(m, "norm1.beta", WIDTH, LAYERS);
    (void)add_vector(m, "norm2.gamma", WIDTH, LAYERS);
    (void)add_vector(m, "norm2.beta", WIDTH, LAYERS);
    Piece w_patches = add_home(m, "embedding.w", 37 * (WIDTH / 16), 2, PANEL_BYTES, 1);
    (void)add_vector(m, "embedding.b", WIDTH, 1);
    (void)add_vector(m, "norm.gamma", WIDTH, 1);
    (void)add_vector(m, "norm.beta", WIDTH, 1);
    Piece map_q = add_home(m, "map.w_q", 2592, 2, PANEL_BYTES, 1);
    Piece w_kv = add_home(m, "map.w_kv", 5184, 4, PANEL_BYTES, 1);
    Piece map_o = add_home(m, "map.w_o", 2592, 2, PANEL_BYTES, 1);
    Piece map_up = add_home(m, "map.w_up", 9684, 7, PANEL_BYTES, 1);
    Piece map_down = add_home(m, "map.w_down", 9720, 7, PANEL_BYTES, 1);
    (void)add_vector(m, "map.b_qkv", 3 * WIDTH, 1);
    (void)add_vector(m, "map.b_o", WIDTH, 1);
    (void)add_vector(m, "map.b_up", HIDDEN, 1);
    (void)add_vector(m, "map.b_down", WIDTH, 1);
    (void)add_vector(m, "map.norm.gamma", WIDTH, 1);
    (void)add_vector(m, "map.norm.beta", WIDTH, 1);
    (void)add_vector(m, "map.probe", WIDTH, 1);

    int32_t x = add_embedding(m, w_patches);
    Piece heads = add_attention(m, add_product(m, &qkv, w_qkv, add_norm(m, x)));
    add_residual(m, add_product(m, &output, w_o, heads), x);
    Piece hidden = add_gelu(m, add_product(m, &up, w_up, add_norm(m, x)));
    add_residual(m, add_product(m, &down, w_down, hidden), x);

    Piece pooled = add_norm(m, x);
    end(m, x);
    Piece kv = add_product(m, &map_kv, w_kv, pooled);
    int32_t q = add_one_row(m, map_q, WIDTH, WIDTH, NONE);
    int32_t head = add_map_attention(m, kv, q);
    int32_t row = add_pooled(m, "map.rows", add_one_row(m, map_o, WIDTH, WIDTH, head), WIDTH);
    row = add_pooled(m, "map.norm", row, WIDTH);
    row = add_pooled(m, "map.gelu", add_one_row(m, map_up, HIDDEN, WIDTH, row), HIDDEN);
    row = add_pooled(m, "output", add_one_row(m, map_down, WIDTH, HIDDEN, row), WIDTH);
    if (row != NONE) {
        out->requests.at[row].may_use_window = false;
    }
    for (isize i = 0; i < out->requests.len; i++) {
        PlaceRequest *r = &out->requests.at[i];
        r->last = r->last == FOR_EVER ? m->step : r->last;
    }
}
