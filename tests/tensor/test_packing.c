/* Packing records: transposition, concatenation, head padding and patch permutation, each compared with
 * the matrix written out by hand, and packed reads against element-by-element lookup. */
#include "tensor/tensor.h"
#include "test.h"

typedef struct Entry {
    Str name;
    Shape shape;
    int reads;
} Entry;

typedef struct Store {
    Entry entry[4];
    int count;
} Store;

/* Element i of tensor t is 1000 * (t + 1) + i: its origin can be read off the value. */
static float element(int tensor, int64_t index)
{
    return (float)(1000 * (tensor + 1)) + (float)index;
}

static int index_of(const Store *store, Str name)
{
    for (int i = 0; i < store->count; i++) {
        if (str_equal(store->entry[i].name, name)) {
            return i;
        }
    }
    return -1;
}

static bool store_find(void *context, Str name, TensorInfo *out)
{
    Store *store = context;
    int i = index_of(store, name);
    if (i >= 0) {
        *out = (TensorInfo){name, DTYPE_F32, store->entry[i].shape};
    }
    return i >= 0;
}

static bool store_read(void *context, Str name, float *out, Error *err)
{
    Store *store = context;
    int i = index_of(store, name);
    (void)err;
    store->entry[i].reads++;
    for (int64_t k = 0; k < shape_elems(&store->entry[i].shape); k++) {
        out[k] = element(i, k);
    }
    return true;
}

static Store store_of_two(void)
{
    return (Store){.entry = {{S("q"), shape_of2(6, 5), 0}, {S("k"), shape_of2(6, 5), 0}},
                   .count = 2};
}

/* [out = 6, in = 5] weights, transposed to in x out; heads of 3 padded to 4; q and k side by side. */
static Packing two_heads(PackPart parts[2])
{
    for (int i = 0; i < 2; i++) {
        PackAxis cols = pack_axis_simple(6, 5);
        cols.group_logical = 3;
        cols.group_padded = 4;
        parts[i] = (PackPart){.tensor = i == 0 ? S("q") : S("k"),
                              .col_begin = 8 * i,
                              .col_end = 8 * i + 8,
                              .rows = pack_axis_simple(5, 1),
                              .cols = cols};
    }
    return (Packing){.rows = 5, .cols = 16, .parts = {parts, 2}};
}

static float expected_two_heads(int32_t row, int32_t col)
{
    int tensor = col / 8, head = col % 8 / 4, member = col % 4;
    if (member == 3 || row >= 5 || col >= 16) {
        return 0.0f;
    }
    int64_t channel = 3 * head + member;
    return element(tensor, channel * 5 + row);
}

static void head_padding(void)
{
    PackPart parts[2];
    Packing packing = two_heads(parts);
    CHECK_EQ_INT(pack_axis_extent(&parts[0].cols), 6);
    CHECK_EQ_INT(pack_axis_padded(&parts[0].cols), 8);
    CHECK_EQ_INT(pack_axis_padded(&parts[0].rows), 5);
    for (int32_t r = 0; r < 7; r++) {
        for (int32_t c = 0; c < 20; c++) {
            int part = -7;
            int64_t source = packing_source(&packing, r, c, &part);
            float expected = expected_two_heads(r, c);
            CHECK_EQ_INT(source < 0, expected == 0.0f);
            CHECK_EQ_INT(part, c >= 16 ? -1 : c / 8);
            if (source >= 0) {
                CHECK(element(part, source) == expected);
            }
        }
    }
}

/* A group that the extent does not fill still takes its whole padded width. */
static void ragged_group(void)
{
    PackAxis axis = pack_axis_simple(7, 1);
    axis.group_logical = 3;
    axis.group_padded = 4;
    CHECK_EQ_INT(pack_axis_padded(&axis), 12);
    static const int64_t expected[12] = {0, 1, 2, -1, 3, 4, 5, -1, 6, -1, -1, -1};
    for (int i = 0; i < 12; i++) {
        int64_t offset = pack_axis_offset(&axis, i);
        CHECK_EQ_INT(offset == PACK_HOLE ? -1 : offset, expected[i]);
    }
}

/* Patch order (dy, dx, channel) of columns from a kernel stored [out][channel][dy][dx]. */
static void axis_permutation(void)
{
    PackAxis axis = {.rank = 3, .size = {2, 2, 3}, .stride = {2, 1, 4}};
    int64_t at = 0;
    for (int dy = 0; dy < 2; dy++) {
        for (int dx = 0; dx < 2; dx++) {
            for (int ch = 0; ch < 3; ch++, at++) {
                CHECK_EQ_INT(pack_axis_offset(&axis, at), 4 * ch + 2 * dy + dx);
            }
        }
    }
    CHECK(pack_axis_offset(&axis, at) == PACK_HOLE);
    CHECK(pack_axis_offset(&axis, -1) == PACK_HOLE);
}

static void packed_reads(void)
{
    Arena arena = arena_create(1 << 20);
    PackPart parts[2];
    Packing packing = two_heads(parts);
    Error err = {0};
    uint64_t seed = test_seed(3);
    for (uint64_t i = 0; i < 500; i++) {
        Store store = store_of_two();
        TensorSource source = {&store, store_find, store_read};
        int32_t r0 = (int32_t)random_below(seed, 4 * i, 7),
                c0 = (int32_t)random_below(seed, 4 * i + 1, 18);
        Region box = {r0, r0 + 1 + (int32_t)random_below(seed, 4 * i + 2, 6), c0,
                      c0 + 1 + (int32_t)random_below(seed, 4 * i + 3, 18)};
        float out[12 * 36];
        CHECK_OK(tensor_read_packed(&source, &packing, box, out, arena, &err), err);
        int64_t at = 0;
        for (int32_t r = box.row_begin; r < box.row_end; r++) {
            for (int32_t c = box.col_begin; c < box.col_end; c++) {
                CHECK(out[at++] == expected_two_heads(r, c));
            }
        }
        CHECK(store.entry[0].reads <= 1 && store.entry[1].reads <= 1);
    }
    arena_destroy(&arena);
}

/* Two slices of one fused tensor: read once. */
static void fused_tensor_is_read_once(void)
{
    Arena arena = arena_create(1 << 20);
    Store store = {.entry = {{S("kv"), shape_of2(4, 3), 0}}, .count = 1};
    TensorSource source = {&store, store_find, store_read};
    PackPart parts[2] = {
        {S("kv"), 0, 2, 0, pack_axis_simple(3, 1), pack_axis_simple(2, 3)},
        {S("kv"), 2, 4, 6, pack_axis_simple(3, 1), pack_axis_simple(2, 3)},
    };
    Packing packing = {3, 4, {parts, 2}};
    float out[12];
    Error err = {0};
    CHECK_OK(tensor_read_packed(&source, &packing, region_of(0, 3, 0, 4), out, arena, &err), err);
    CHECK_EQ_INT(store.entry[0].reads, 1);
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 4; c++) {
            CHECK(out[4 * r + c] == element(0, 3 * c + r));
        }
    }
    arena_destroy(&arena);
}

static void refusals(void)
{
    Arena arena = arena_create(1 << 20);
    Store store = store_of_two();
    TensorSource source = {&store, store_find, store_read};
    PackPart parts[2];
    Packing packing = two_heads(parts);
    float out[80];
    Error err;
    Region box = region_of(0, 5, 0, 16);
    parts[1].tensor = S("v");
    CHECK_ERROR(tensor_read_packed(&source, &packing, box, out, arena, &err), err, ERROR_INPUT,
                "missing");
    CHECK_CSTR(err.where, "v");
    (void)two_heads(parts);
    parts[0].base = 1;
    CHECK_ERROR(tensor_read_packed(&source, &packing, box, out, arena, &err), err, ERROR_INPUT,
                "elements 1..30 of a tensor of 30 elements");
    (void)two_heads(parts);
    parts[0].rows.stride[0] = -1;
    CHECK_ERROR(tensor_read_packed(&source, &packing, box, out, arena, &err), err, ERROR_INPUT,
                "elements -4..");
    (void)two_heads(parts);
    parts[1].col_begin = 7;
    CHECK_ERROR(packing_check(&packing, &err), err, ERROR_INPUT, "part 1");
    (void)two_heads(parts);
    parts[0].cols.size[0] = 0;
    CHECK_ERROR(packing_check(&packing, &err), err, ERROR_INPUT, "column axis");
    (void)two_heads(parts);
    parts[0].cols.group_padded = 0;
    CHECK_ERROR(packing_check(&packing, &err), err, ERROR_INPUT, "column axis");
    (void)two_heads(parts);
    parts[0].rows.rank = 5;
    CHECK_ERROR(packing_check(&packing, &err), err, ERROR_INPUT, "row axis");
    arena_destroy(&arena);
}

TEST_MAIN(head_padding, ragged_group, axis_permutation, packed_reads, fused_tensor_is_read_once,
          refusals)
