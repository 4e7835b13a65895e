/* A small package with every kind of record, for the tests of this folder. */
#pragma once
#include "package/package.h"

static inline Package sample_package(Arena *arena)
{
    static const uint8_t code[16] = {0x00, 0x00, 0xe0, 0x19, 1, 2, 3, 4, 5, 6, 7, 8};
    Package package = {.compiler_version = S("tessera test"),
                       .model = S("two matrices"),
                       .graph_digest = S("0123456789abcdef"),
                       .tiles_used = 2,
                       .tile_bytes_min = 64,
                       .tile_bytes_median = 80,
                       .tile_bytes_max = 96};
    for (int i = 0; i < CHIP_TILES; i++) {
        bool is_used = i < 2;
        *vec_push(&package.tiles, arena) =
            (TileImage){.tile = {(uint16_t)i},
                        .entry = SRAM_IMAGE_BASE,
                        .segment_first = (int32_t)package.segments.len,
                        .segment_count = is_used ? 2 : 1};
        *vec_push(&package.segments, arena) = (Segment){.address = SRAM_IMAGE_BASE,
                                                        .memory_bytes = is_used ? 32 : 8,
                                                        .at = code,
                                                        .bytes = is_used ? 16 : 8,
                                                        .flags = SEGMENT_READ | SEGMENT_EXECUTE};
        if (is_used) {
            *vec_push(&package.segments, arena) = (Segment){
                .address = 0x80000, .memory_bytes = 4096, .flags = SEGMENT_READ | SEGMENT_WRITE};
        }
    }
    PackPart *parts = arena_array(arena, PackPart, 3);
    parts[0] = (PackPart){S("pixels"), 0, 32, 0, pack_axis_simple(4, 32), pack_axis_simple(32, 1)};
    parts[1] = (PackPart){
        S("encoder.q.weight"),
        0,
        16,
        5,
        pack_axis_simple(16, 1),
        {.rank = 2, .size = {2, 6}, .stride = {96, -16}, .group_logical = 6, .group_padded = 8}};
    parts[2] = (PackPart){S("encoder.k.weight"),   16, 32, 0, pack_axis_simple(16, 1),
                          pack_axis_simple(16, 16)};
    for (int kind = 0; kind < BINDING_KIND_COUNT; kind++) {
        static const char *const names[BINDING_KIND_COUNT] = {"pixels", "qk.weight", "result"};
        int32_t rows = kind == BINDING_WEIGHT ? 16 : 4;
        *vec_push(&package.bindings, arena) =
            (Binding){.name = str_of(names[kind]),
                      .kind = (BindingKind)kind,
                      .dtype = kind == BINDING_OUTPUT ? DTYPE_F32 : DTYPE_F16,
                      .order = kind == BINDING_WEIGHT ? S("amp_right") : S("row_major"),
                      .rows = rows,
                      .cols = 32,
                      .packing = {rows, 32, {NULL, 0}},
                      .shard_first = (int32_t)package.shards.len,
                      .shard_count = 2};
        for (int i = 0; i < 2; i++) {
            *vec_push(&package.shards, arena) =
                (BindingShard){.tile = {(uint16_t)i},
                               .address = 0x80000u + 1024u * (uint32_t)kind,
                               .bytes = (uint32_t)rows * 16 * (kind == BINDING_OUTPUT ? 4 : 2),
                               .alloc_rows = rows,
                               .alloc_cols = 16,
                               .box = region_of(0, rows, 16 * i, 16 * i + 16)};
        }
    }
    package.bindings.at[0].packing.parts = (PackPartSpan){parts, 1};
    package.bindings.at[1].packing.parts = (PackPartSpan){parts + 1, 2};
    package.bindings.at[2].packing = (Packing){0};
    *vec_push(&package.phases, arena) = (PhaseRecord){S("gather \"x\""), 27, 12, 3456, 789, 64};
    *vec_push(&package.symbols, arena) = (DebugSymbol){S("add_f16"), 0x4c100};
    *vec_push(&package.regions, arena) =
        (DebugRegion){{UINT16_MAX}, SRAM_IMAGE_BASE, 32, 1, 0, 0, S("code")};
    *vec_push(&package.regions, arena) =
        (DebugRegion){{1}, 0x80000, 1024, 3, 2048, 16, S("pixels.shard")};
    *vec_push(&package.source_files, arena) = S("add_f16.s");
    *vec_push(&package.source_files, arena) = S("launch.inc");
    *vec_push(&package.lines, arena) = (DebugLine){0x4c100, 1, 7};
    *vec_push(&package.lines, arena) = (DebugLine){0x4c108, 0, 65535};
    *vec_push(&package.lines, arena) = (DebugLine){0x4c200, 0, 0};
    *vec_push(&package.buffer_uses, arena) = (BufferUse){S("pixels.shard"), false};
    *vec_push(&package.buffer_uses, arena) = (BufferUse){S("sum"), true};
    *vec_push(&package.call_uses, arena) = (CallUses){0, 2};
    *vec_push(&package.call_uses, arena) = (CallUses){2, 0};
    *vec_push(&package.calls, arena) = (CallRecord){0x4c018, {0}, 1};
    *vec_push(&package.calls, arena) = (CallRecord){0x4c018, {1}, 0};
    *vec_push(&package.calls, arena) = (CallRecord){0x4c020, {1}, 0};
    IsaFlags *flags = arena_new(arena, IsaFlags);
    *flags = isa_flags_default();
    flags->value[FLAG_ID_TAMP_F16V4_E4_P0] = 7;
    flags->is_given[FLAG_ID_TAMP_F16V4_E4_P0] = true;
    flags->source = S("values.h");
    package.isa_flags = flags;
    return package;
}
