/* package: the application file (.ipuexe): tile images, bindings, packing records, debug records. Read, write, validate.
 * takes: Package, or bytes of a file       gives: bytes of a file, or a validated Package
 * uses: base chip isa tensor
 * never: compiler records
 *
 * Cap'n Proto, schema of reference/host-and-package.md 5 with our fields appended to Application (decisions.md A2).
 * Tiles are physical here. Weights are never inside: each binding says how its shards are built from checkpoint tensors.
 */
#pragma once
#include "base/base.h"
#include "chip/chip.h"
#include "isa/flags.h"
#include "tensor/tensor.h"

enum { SEGMENT_READ = 1, SEGMENT_WRITE = 2, SEGMENT_EXECUTE = 4 };

typedef struct Segment {
    uint32_t address, memory_bytes; /* data may be shorter; the rest is zero */
    const uint8_t *at;
    uint32_t bytes;
    uint32_t flags;
} Segment;
VEC(Segment);

typedef struct TileImage {
    PhysTile tile;
    uint32_t entry; /* address of the first instruction (the launch slot, 0x4c010) */
    int32_t segment_first, segment_count;
} TileImage;
VEC(TileImage);

/* One box of a bound matrix on one tile. */
typedef struct BindingShard {
    PhysTile tile;
    uint32_t address, bytes;
    int32_t alloc_rows, alloc_cols;
    Region box; /* padded coordinates */
} BindingShard;
VEC(BindingShard);

typedef enum BindingKind {
    BINDING_INPUT = 0,
    BINDING_WEIGHT,
    BINDING_OUTPUT,
    BINDING_KIND_COUNT
} BindingKind;

typedef struct Binding {
    Str name;
    BindingKind kind;
    DType dtype;
    Str order;          /* layout's order_name */
    int32_t rows, cols; /* matrix extents in padded coordinates */
    Packing
        packing; /* inputs and weights: how elements come from named tensors; outputs: empty parts */
    int32_t shard_first, shard_count;
} Binding;
VEC(Binding);

/* One exchange phase of the program, for inspect and summaries. */
typedef struct PhaseRecord {
    Str name;         /* provenance: operation and reason */
    uint32_t repeats; /* executions per call */
    uint32_t transfers;
    uint64_t words;   /* payload words sent, once per transfer */
    uint32_t horizon; /* scheduled events */
    uint32_t row_bytes_max;
} PhaseRecord;
VEC(PhaseRecord);

typedef struct DebugSymbol {
    Str name;
    uint32_t address;
} DebugSymbol;
VEC(DebugSymbol);

/* A named range on a tile, for fault messages and inspect. */
typedef struct DebugRegion {
    PhysTile tile;
    uint32_t address, bytes;
    uint32_t count, stride; /* members of a sequence, `stride` bytes apart; 1, 0 for one */
    uint32_t tail_bytes;    /* behind it (each member): may be read, is never used */
    Str name;
} DebugRegion;
VEC(DebugRegion);

/* Source of the code from `address` to that of the next record, the same on all tiles; line 0: none is known. */
typedef struct DebugLine {
    uint32_t address;
    uint16_t file; /* index of Package.source_files */
    uint16_t line;
} DebugLine;
VEC(DebugLine);

/* What a kernel call may read, or read and write: the debug regions of that name on the call's tile. */
typedef struct BufferUse {
    Str region;
    bool is_written;
} BufferUse;
VEC(BufferUse);

typedef struct CallUses {
    int32_t first, count; /* of Package.buffer_uses */
} CallUses;
VEC(CallUses);

/* A kernel call, known by the address that it returns to. */
typedef struct CallRecord {
    uint32_t return_address;
    PhysTile tile;
    uint16_t uses; /* index of Package.call_uses */
} CallRecord;
VEC(CallRecord);

typedef struct Package {
    Str compiler_version;
    Str model;          /* name of the network, for messages */
    TileImageVec tiles; /* all 1472, ascending physical id */
    SegmentVec segments;
    BindingVec bindings; /* inputs, then weights, then outputs */
    BindingShardVec shards;
    PhaseRecordVec phases;
    DebugSymbolVec symbols;
    DebugRegionVec regions;
    StrVec source_files;
    DebugLineVec lines; /* ascending addresses */
    BufferUseVec buffer_uses;
    CallUsesVec call_uses;
    CallRecordVec calls;       /* ascending (tile, return address) */
    const IsaFlags *isa_flags; /* that the code was assembled with; NULL: ours */
    Str graph_digest; /* of graph_digest: weights must belong to the same graph; may be empty */
    int32_t tiles_used;
    int64_t tile_bytes_min, tile_bytes_median,
        tile_bytes_max; /* SRAM bytes occupied on used tiles: code, rows, data */
} Package;

/* Structure rules of host-and-package.md 5.3 plus ours: 1472 unique tiles, segments inside the image range, ordered and
 * disjoint, lowest at 0x4c010, names unique, shards inside SRAM on known tiles, packing parts consistent, debug records in order. */
bool package_check(const Package *package, Arena scratch, Error *err);
/* Writes the file completely or not at all. Deterministic bytes. Runs package_check first. */
bool package_write(const Package *package, const char *path, Arena scratch, Error *err);
/* Reads and validates a hostile file; the traversal limit is in proportion to the file size. */
bool package_read(const char *path, Arena *keep, Arena scratch, Package *out, Error *err);
bool package_parse(Str bytes, Arena *keep, Arena scratch, Package *out, Error *err);
/* What `tessera inspect` shows: header, bindings, phases, memory summary; `as_json` for scripts. */
void package_print(Writer *writer, const Package *package, bool as_json);
/* The table of flag values as lines that `--isa-flags` reads, with the source of each value as comment. */
void package_print_flags(Writer *writer, const Package *package);
/* The buffers of one tile by address (they share addresses when their lifetimes do not meet). */
void package_print_tile(Writer *writer, const Package *package, PhysTile tile, Arena scratch);
