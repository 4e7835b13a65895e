/* Package files: written, read back, decoded by the stock tool, refused when a rule is broken. */
#include "sample.h"
#include "test.h"
#include <unistd.h>

enum { ARENA_BYTES = 64 << 20 };

static char directory[256];

static const char *path_of(const char *name, Arena *arena)
{
    if (directory[0] == '\0') {
        const char *base = getenv("TMPDIR") != NULL ? getenv("TMPDIR") : P_tmpdir;
        (void)snprintf(directory, sizeof directory, "%s/tessera-package-XXXXXX", base);
        CHECK(mkdtemp(directory) != NULL);
    }
    return str_format(arena, "%s/%s", directory, name).at;
}

static void check_packings_equal(const Packing *a, const Packing *b)
{
    CHECK_EQ_INT(a->rows, b->rows);
    CHECK_EQ_INT(a->cols, b->cols);
    CHECK_EQ_INT(a->parts.len, b->parts.len);
    for (isize i = 0; i < a->parts.len; i++) {
        const PackPart *p = &a->parts.at[i], *q = &b->parts.at[i];
        CHECK_STR(p->tensor, q->tensor);
        CHECK_EQ_INT(p->col_begin, q->col_begin);
        CHECK_EQ_INT(p->col_end, q->col_end);
        CHECK_EQ_INT(p->base, q->base);
        CHECK(memcmp(&p->rows, &q->rows, sizeof p->rows) == 0);
        CHECK(memcmp(&p->cols, &q->cols, sizeof p->cols) == 0);
    }
}

static void check_equal(const Package *a, const Package *b)
{
    CHECK_STR(a->compiler_version, b->compiler_version);
    CHECK_STR(a->model, b->model);
    CHECK_STR(a->graph_digest, b->graph_digest);
    CHECK_EQ_INT(a->tiles_used, b->tiles_used);
    CHECK_EQ_INT(a->tile_bytes_min, b->tile_bytes_min);
    CHECK_EQ_INT(a->tile_bytes_median, b->tile_bytes_median);
    CHECK_EQ_INT(a->tile_bytes_max, b->tile_bytes_max);
    CHECK_EQ_INT(a->tiles.len, b->tiles.len);
    CHECK(memcmp(a->tiles.at, b->tiles.at, sizeof *a->tiles.at * (size_t)a->tiles.len) == 0);
    CHECK_EQ_INT(a->segments.len, b->segments.len);
    for (isize i = 0; i < a->segments.len; i++) {
        const Segment *p = &a->segments.at[i], *q = &b->segments.at[i];
        CHECK_EQ_INT(p->address, q->address);
        CHECK_EQ_INT(p->memory_bytes, q->memory_bytes);
        CHECK_EQ_INT(p->flags, q->flags);
        CHECK_EQ_INT(p->bytes, q->bytes);
        CHECK(p->bytes == 0 || memcmp(p->at, q->at, p->bytes) == 0);
    }
    CHECK_EQ_INT(a->shards.len, b->shards.len);
    CHECK(memcmp(a->shards.at, b->shards.at, sizeof *a->shards.at * (size_t)a->shards.len) == 0);
    CHECK_EQ_INT(a->bindings.len, b->bindings.len);
    for (isize i = 0; i < a->bindings.len; i++) {
        const Binding *p = &a->bindings.at[i], *q = &b->bindings.at[i];
        CHECK_STR(p->name, q->name);
        CHECK_STR(p->order, q->order);
        CHECK_EQ_INT(p->kind, q->kind);
        CHECK_EQ_INT(p->dtype, q->dtype);
        CHECK_EQ_INT(p->rows, q->rows);
        CHECK_EQ_INT(p->cols, q->cols);
        CHECK_EQ_INT(p->shard_first, q->shard_first);
        CHECK_EQ_INT(p->shard_count, q->shard_count);
        check_packings_equal(&p->packing, &q->packing);
    }
    CHECK_EQ_INT(a->phases.len, b->phases.len);
    for (isize i = 0; i < a->phases.len; i++) {
        const PhaseRecord *p = &a->phases.at[i], *q = &b->phases.at[i];
        CHECK_STR(p->name, q->name);
        CHECK(p->repeats == q->repeats && p->transfers == q->transfers && p->words == q->words &&
              p->horizon == q->horizon && p->row_bytes_max == q->row_bytes_max);
    }
    CHECK_EQ_INT(a->symbols.len, b->symbols.len);
    CHECK_STR(a->symbols.at[0].name, b->symbols.at[0].name);
    CHECK_EQ_INT(a->symbols.at[0].address, b->symbols.at[0].address);
    CHECK_EQ_INT(a->regions.len, b->regions.len);
    for (isize i = 0; i < a->regions.len; i++) {
        const DebugRegion *p = &a->regions.at[i], *q = &b->regions.at[i];
        CHECK_STR(p->name, q->name);
        CHECK(p->tile.id == q->tile.id && p->address == q->address && p->bytes == q->bytes);
        CHECK(p->count == q->count && p->stride == q->stride && p->tail_bytes == q->tail_bytes);
    }
    CHECK_EQ_INT(a->source_files.len, b->source_files.len);
    for (isize i = 0; i < a->source_files.len; i++) {
        CHECK_STR(a->source_files.at[i], b->source_files.at[i]);
    }
    CHECK_EQ_INT(a->lines.len, b->lines.len);
    CHECK(memcmp(a->lines.at, b->lines.at, (size_t)a->lines.len * sizeof *a->lines.at) == 0);
    CHECK_EQ_INT(a->buffer_uses.len, b->buffer_uses.len);
    for (isize i = 0; i < a->buffer_uses.len; i++) {
        CHECK_STR(a->buffer_uses.at[i].region, b->buffer_uses.at[i].region);
        CHECK_EQ_INT(a->buffer_uses.at[i].is_written, b->buffer_uses.at[i].is_written);
    }
    CHECK_EQ_INT(a->call_uses.len, b->call_uses.len);
    for (isize i = 0; i < a->call_uses.len; i++) {
        CHECK_EQ_INT(a->call_uses.at[i].first, b->call_uses.at[i].first);
        CHECK_EQ_INT(a->call_uses.at[i].count, b->call_uses.at[i].count);
    }
    CHECK_EQ_INT(a->calls.len, b->calls.len);
    CHECK(memcmp(a->calls.at, b->calls.at, (size_t)a->calls.len * sizeof *a->calls.at) == 0);
    CHECK_STR(a->isa_flags->source, b->isa_flags->source);
    for (int id = 0; id < FLAG_ID_COUNT; id++) {
        CHECK_EQ_INT(a->isa_flags->value[id], b->isa_flags->value[id]);
        CHECK_EQ_INT(a->isa_flags->is_given[id], b->isa_flags->is_given[id]);
    }
}

static void reads_what_it_wrote(void)
{
    Arena keep = arena_create(ARENA_BYTES), scratch = arena_create(ARENA_BYTES);
    Package package = sample_package(&keep), back;
    Error err = {0};
    const char *first = path_of("first.ipuexe", &keep), *second = path_of("second.ipuexe", &keep);
    CHECK_OK(package_write(&package, first, scratch, &err), err);
    CHECK_OK(package_read(first, &keep, scratch, &back, &err), err);
    check_equal(&package, &back);
    CHECK_OK(package_write(&back, second, scratch, &err), err);
    Str a, b;
    CHECK_OK(file_read(first, ARENA_BYTES, &keep, &a, &err), err);
    CHECK_OK(file_read(second, ARENA_BYTES, &keep, &b, &err), err);
    CHECK(str_equal(a, b));
    Package parsed;
    CHECK_OK(package_parse(a, &keep, scratch, &parsed, &err), err);
    check_equal(&package, &parsed);
    arena_destroy(&keep);
    arena_destroy(&scratch);
}

static Str output_of(const char *command, Arena *arena)
{
    FILE *pipe = popen(command, "r");
    CHECK(pipe != NULL);
    Writer writer = writer_buffer(arena);
    char part[4096];
    size_t len;
    while ((len = fread(part, 1, sizeof part, pipe)) > 0) {
        write_str(&writer, (Str){part, (isize)len});
    }
    CHECK_EQ_INT(pclose(pipe), 0);
    write_str(&writer, (Str){"", 1});
    return writer_text(&writer);
}

/* The stock tool is the independent witness: names and values of fields, standard and ours. */
static void stock_tool_decodes_it(void)
{
    static const char *const expected[] = {
        "schemaVersion = 5",
        "target = \"ipu21\"",
        "tileMemoryBase = 311296", /* 0x4c000 */
        "tileMemorySize = 638976", /* 0x9c000 */
        "(physicalTile = 1471, entryPoint = 311312, segments = [(address = 311312",
        "startupMark = 23",
        "name = \"qk.weight\"",
        "shape = [16, 32]",
        "(tile = 1, tileAddress = 525312, fileOffset = 512, size = 512)", /* 0x80400 */
        "dtype = \"f32\"",
        "(name = \"run\", command = 0, externalSyncs = 0)",
        "(kind = weight, order = \"amp_right\", packedRows = 16, packedCols = 32, parts = ",
        "tensor = \"encoder.q.weight\"",
        "sizes = [2, 6], strides = [96, -16], groupLogical = 6, groupPadded = 8",
        "(allocRows = 16, allocCols = 16, rowBegin = 0, rowEnd = 16, colBegin = 16, colEnd = 32)",
        "repeats = 27, transfers = 12, words = 3456, horizonEvents = 789, rowBytesMax = 64",
        "(name = \"TAMP_F16V4_E4_P0\", value = 7, isGiven = true)",
        "(name = \"TEXCH_SYNCZONE_LOCAL\", value = 2, isGiven = false)",
        "isaFlagsSource = \"values.h\"",
        "physicalTile = 4294967295, address = 311312, size = 32",
        "stride = 2048, tail = 16",
        "sourceFiles = [\"add_f16.s\", \"launch.inc\"]",
        "debugLines = [(address = 311552, file = 1, line = 7), ", /* 0x4c100 */
        ("callUses = [(buffers = [(region = \"pixels.shard\", isWritten = false), "
         "(region = \"sum\", isWritten = true)]), (buffers = [])]"),
        "(returnAddress = 311328, physicalTile = 1, uses = 0)]", /* 0x4c020 */
        "tilesUsed = 2, tileBytesMin = 64, tileBytesMedian = 80, tileBytesMax = 96",
    };
    Arena keep = arena_create(ARENA_BYTES), scratch = arena_create(ARENA_BYTES);
    Package package = sample_package(&keep);
    Error err = {0};
    const char *path = path_of("decode.ipuexe", &keep);
    CHECK_OK(package_write(&package, path, scratch, &err), err);
    Str command = str_format(
        &keep, "capnp decode --short src/package/tessera.capnp Application < '%s'", path);
    Str text = output_of(command.at, &keep);
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        if (!test_contains_(text.at, expected[i])) {
            fprintf(stderr, "capnp decode does not show: %s\n", expected[i]);
            exit(1);
        }
    }
    arena_destroy(&keep);
    arena_destroy(&scratch);
}

static void prints(void)
{
    Arena keep = arena_create(ARENA_BYTES), scratch = arena_create(ARENA_BYTES);
    Package package = sample_package(&keep);
    Writer text = writer_buffer(&keep), json = writer_buffer(&scratch);
    package_print(&text, &package, false);
    write_str(&text, (Str){"", 1});
    CHECK(test_contains_(text.at, "tiles used     2 of 1472"));
    CHECK(test_contains_(text.at, "<- encoder.q.weight + 1 more"));
    CHECK(test_contains_(text.at, "scheduled events a call 21303")); /* 27 x 789 */
    Writer tile = writer_buffer(&keep);
    package_print_tile(&tile, &package, (PhysTile){1}, scratch);
    write_str(&tile, (Str){"", 1});
    CHECK(test_contains_(tile.at, "0x080000     1024       3     2048  pixels.shard"));
    package_print(&json, &package, true);
    write_str(&json, (Str){"", 1});
    CHECK(test_contains_(json.at, "\"name\": \"gather \\\"x\\\"\", \"repeats\": 27"));
    CHECK(test_contains_(json.at, "\"tensors\": [\"encoder.q.weight\", \"encoder.k.weight\"]"));
    arena_destroy(&keep);
    arena_destroy(&scratch);
}

typedef void (*Break)(Package *package);
static void break_tile_count(Package *p)
{
    p->tiles.len--;
}
static void break_tile_twice(Package *p)
{
    p->tiles.at[5].tile.id = 4;
}
static void break_launch_slot(Package *p)
{
    p->segments.at[0].address += 4;
}
static void break_segment_end(Package *p)
{
    p->segments.at[1].memory_bytes = 0x67bb4;
}
static void break_segment_data(Package *p)
{
    p->segments.at[0].bytes = 36;
}
static void break_segment_overlap(Package *p)
{
    p->segments.at[1].address = 0x4c020 - 4;
}
static void break_segment_address(Package *p)
{
    p->segments.at[1].address += 2;
}
static void break_entry(Package *p)
{
    p->tiles.at[0].entry = 0x80000;
}
static void break_entry_place(Package *p)
{
    p->tiles.at[9].entry += 8;
}
static void break_names(Package *p)
{
    p->bindings.at[2].name = p->bindings.at[0].name;
}
static void break_name(Package *p)
{
    p->bindings.at[2].name.len = 0;
}
static void break_kinds(Package *p)
{
    p->bindings.at[2].kind = BINDING_INPUT;
}
static void break_box(Package *p)
{
    p->shards.at[1].box.col_end++;
}
static void break_alloc(Package *p)
{
    p->shards.at[1].alloc_cols--;
}
static void break_bytes(Package *p)
{
    p->shards.at[1].bytes -= 4;
}
static void break_shard_place(Package *p)
{
    p->shards.at[2].address = SRAM_END - 4;
}
static void break_shard_low(Package *p)
{
    p->shards.at[2].address = SRAM_BASE - 4;
}
static void break_shard_word(Package *p)
{
    p->shards.at[2].address += 2;
}
static void break_parts(Package *p)
{
    p->bindings.at[1].packing.parts.at[1].col_begin--;
}
static void break_rank(Package *p)
{
    p->bindings.at[1].packing.parts.at[1].rows.rank = 5;
}
static void break_stride(Package *p)
{
    p->bindings.at[1].packing.parts.at[1].rows.stride[0] = INT64_MAX;
}
static void break_output_parts(Package *p)
{
    p->bindings.at[2].packing = p->bindings.at[0].packing;
}
static void break_summary(Package *p)
{
    p->tile_bytes_max = p->tile_bytes_min - 1;
}
static void break_region_members(Package *p)
{
    p->regions.at[1].count = 0x10001; /* 2^16 strides of 2^16 bytes: more than 32 bits */
    p->regions.at[1].stride = 0x10000;
}
static void break_region(Package *p)
{
    p->regions.at[1].bytes = 0x70000;
}
static void break_region_tail(Package *p)
{
    p->regions.at[1].tail_bytes = UINT32_MAX;
}
static void break_source_name(Package *p)
{
    p->source_files.at[1] = S("");
}
static void break_line_order(Package *p)
{
    p->lines.at[1].address = p->lines.at[0].address;
}
static void break_line_place(Package *p)
{
    p->lines.at[2].address = SRAM_REGION1;
}
static void break_line_file(Package *p)
{
    p->lines.at[0].file = 2;
}
static void break_use_name(Package *p)
{
    p->buffer_uses.at[1].region = S("a\nb");
}
static void break_uses(Package *p)
{
    p->call_uses.at[0].count = 3;
}
static void break_call_tile(Package *p)
{
    p->calls.at[2].tile.id = CHIP_TILES;
}
static void break_call_order(Package *p)
{
    p->calls.at[2].return_address = p->calls.at[1].return_address;
}
static void break_call_place(Package *p)
{
    p->calls.at[2].return_address += 2;
}
static void break_call_use(Package *p)
{
    p->calls.at[2].uses = 2;
}

static IsaFlags *flags_of(Package *p)
{
    return (IsaFlags *)p->isa_flags; /* sample_package's own */
}
static void break_flag_width(Package *p)
{
    flags_of(p)->value[FLAG_ID_TSTACC_P1] = 256;
}
static void break_flag_twice(Package *p)
{
    flags_of(p)->value[FLAG_ID_TAMP_F16V4_E2_P1] = 7;
}
static void break_flag_documented(Package *p)
{
    flags_of(p)->value[FLAG_ID_TROUND_ZERO] = 9;
}
static void break_flag_source(Package *p)
{
    flags_of(p)->source = S("a\nb");
}

static void refuses_broken_rules(void)
{
    static const struct {
        Break apply;
        const char *message;
    } cases[] = {
        {break_tile_count, "tile images"},
        {break_tile_twice, "every tile once"},
        {break_launch_slot, "the loader needs 0x4c010"},
        {break_segment_end, "inside 0x4c010..0xe7bb0"},
        {break_segment_data, "bytes of data"},
        {break_segment_overlap, "overlaps"},
        {break_segment_address, "expected words"},
        {break_entry, "entry"},
        {break_entry_place, "entry"},
        {break_names, "two bindings"},
        {break_name, "name"},
        {break_kinds, "out of order"},
        {break_box, "box"},
        {break_alloc, "allocation"},
        {break_bytes, "shard of"},
        {break_shard_place, "outside SRAM"},
        {break_shard_low, "outside SRAM"},
        {break_shard_word, "outside SRAM"},
        {break_parts, "out of order"},
        {break_rank, "impossible extents"},
        {break_stride, "impossible extents"},
        {break_output_parts, "has packing parts"},
        {break_summary, "memory summary"},
        {break_region, "outside SRAM"},
        {break_region_members, "outside SRAM"},
        {break_region_tail, "outside SRAM"},
        {break_source_name, "source file 1 has a name of 0 bytes"},
        {break_line_order, "line record 1 at 0x4c100 of source file 0, expected ascending"},
        {break_line_place, "line record 2"},
        {break_line_file, "a file below 2"},
        {break_use_name, "buffer use 1 has a name with a control character"},
        {break_uses, "use 0 has no buffers"},
        {break_call_tile, "call 2 of tile 1472"},
        {break_call_order, "call 2 of tile 1 returns to 0x4c018"},
        {break_call_place, "call 2"},
        {break_call_use, "a use below 2"},
        {break_flag_width, "TSTACC_P1 = 256, expected a value of 8 bits"},
        {break_flag_twice, "TAMP_F16V4_E4_P0 and TAMP_F16V4_E2_P1"},
        {break_flag_documented, "TROUND_ZERO is documented as 3, not 9"},
        {break_flag_source, "control character"},
    };
    Arena arena = arena_create(ARENA_BYTES);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Arena keep = arena;
        Package package = sample_package(&keep);
        Error err = {0};
        CHECK_OK(package_check(&package, keep, &err), err);
        cases[i].apply(&package);
        CHECK_ERROR(package_check(&package, keep, &err), err, ERROR_INPUT, cases[i].message);
        const char *path = path_of("broken.ipuexe", &keep);
        CHECK_ERROR(package_write(&package, path, keep, &err), err, ERROR_INPUT, cases[i].message);
        CHECK(access(path, F_OK) != 0);
    }
    arena_destroy(&arena);
}

static void removes_files(void)
{
    static const char *const names[] = {"first.ipuexe", "second.ipuexe", "decode.ipuexe"};
    Arena arena = arena_create(1 << 20);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        CHECK(unlink(path_of(names[i], &arena)) == 0);
    }
    CHECK(rmdir(directory) == 0);
    arena_destroy(&arena);
}

TEST_MAIN(reads_what_it_wrote, stock_tool_decodes_it, prints, refuses_broken_rules, removes_files)
