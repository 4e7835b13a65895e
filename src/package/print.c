/* What `tessera inspect` shows: header, bindings, phases, memory summary; as text or as one JSON object.
 *
 * Quantities of phases are scheduled, not simulated (product.md 3); their labels say so.
 */
#include "package/package.h"
#include <stdio.h>

static const char *const kind_text[BINDING_KIND_COUNT] = {"input", "weight", "output"};

static int64_t bytes_of_binding(const Package *package, const Binding *binding)
{
    int64_t bytes = 0;
    for (int32_t i = 0; i < binding->shard_count; i++) {
        bytes += package->shards.at[binding->shard_first + i].bytes;
    }
    return bytes;
}

static int32_t tiles_of_binding(const Package *package, const Binding *binding)
{
    uint64_t seen[CHIP_TILES / 64] = {0};
    int32_t tiles = 0;
    for (int32_t i = 0; i < binding->shard_count; i++) {
        unsigned id = package->shards.at[binding->shard_first + i].tile.id;
        uint64_t bit = (uint64_t)1 << (id % 64);
        tiles += (seen[id / 64] & bit) == 0;
        seen[id / 64] |= bit;
    }
    return tiles;
}

static int64_t segment_bytes_of(const Package *package)
{
    int64_t bytes = 0;
    for (isize i = 0; i < package->segments.len; i++) {
        bytes += package->segments.at[i].bytes;
    }
    return bytes;
}

static void print_sources(Writer *writer, const Binding *binding)
{
    isize parts = binding->packing.parts.len;
    if (parts > 0) {
        write_fmt(writer, "          <- %.*s", STR_ARG(binding->packing.parts.at[0].tensor));
        write_fmt(writer, parts > 1 ? " + %td more\n" : "\n", parts - 1);
    }
}

static void print_bindings(Writer *writer, const Package *package)
{
    write_fmt(writer, "\nbindings %td\n%-7s %-34s %-5s %-10s %13s %6s %5s %10s\n",
              package->bindings.len, "kind", "name", "dtype", "order", "rows x cols", "shards",
              "tiles", "bytes");
    for (isize i = 0; i < package->bindings.len; i++) {
        const Binding *binding = &package->bindings.at[i];
        char extents[32];
        (void)snprintf(extents, sizeof extents, "%d x %d", binding->rows, binding->cols);
        write_fmt(writer, "%-7s %-34.*s %-5.*s %-10.*s %13s %6d %5d %10lld",
                  kind_text[binding->kind], STR_ARG(binding->name),
                  STR_ARG(dtype_name(binding->dtype)), STR_ARG(binding->order), extents,
                  binding->shard_count, tiles_of_binding(package, binding),
                  (long long)bytes_of_binding(package, binding));
        write_str(writer, S("\n"));
        print_sources(writer, binding);
    }
}

static void print_phases(Writer *writer, const Package *package)
{
    uint64_t executed = 0, events = 0;
    write_fmt(writer, "\nphases %td (scheduled)\n%-44s %7s %9s %10s %7s %9s\n", package->phases.len,
              "name", "repeats", "transfers", "words", "events", "row bytes");
    for (isize i = 0; i < package->phases.len; i++) {
        const PhaseRecord *phase = &package->phases.at[i];
        executed += phase->repeats;
        events += (uint64_t)phase->repeats * phase->horizon;
        write_fmt(writer, "%-44.*s %7u %9u %10llu %7u %9u\n", STR_ARG(phase->name), phase->repeats,
                  phase->transfers, (unsigned long long)phase->words, phase->horizon,
                  phase->row_bytes_max);
    }
    write_fmt(writer, "executed phases a call %llu, scheduled events a call %llu\n",
              (unsigned long long)executed, (unsigned long long)events);
}

/* How many symbols have a value from the file, a documented one, an unverified one of ours. */
typedef struct FlagCounts {
    int given, documented, unverified;
} FlagCounts;

static FlagCounts count_flags(const Package *package)
{
    FlagCounts counts = {0};
    for (int id = 0; id < FLAG_ID_COUNT; id++) {
        bool is_documented = flag_symbol((FlagId)id)->is_documented;
        bool is_given = isa_flag_is_given(package->isa_flags, (FlagId)id);
        counts.documented += is_documented;
        counts.given += is_given;
        counts.unverified += !is_documented && !is_given;
    }
    return counts;
}

static void print_flag_counts(Writer *writer, const Package *package)
{
    FlagCounts counts = count_flags(package);
    write_fmt(writer, "isa flags      %d documented, %d unverified", counts.documented,
              counts.unverified);
    if (counts.given > 0) {
        write_fmt(writer, ", %d from %.*s", counts.given,
                  STR_ARG(isa_flags_source(package->isa_flags)));
    }
    write_str(writer, S("\n"));
}

void package_print_flags(Writer *writer, const Package *package)
{
    for (int id = 0; id < FLAG_ID_COUNT; id++) {
        const FlagSymbol *symbol = flag_symbol((FlagId)id);
        bool is_given = isa_flag_is_given(package->isa_flags, (FlagId)id);
        Str source = isa_flags_source(package->isa_flags);
        write_fmt(writer, "%-32.*s %4u // %s", STR_ARG(symbol->name),
                  isa_flag_value(package->isa_flags, (FlagId)id),
                  symbol->is_documented ? "documented"
                  : is_given            ? "from "
                                        : "unverified");
        write_fmt(writer, "%.*s\n", is_given ? (int)source.len : 0, source.at);
    }
}

static void print_text(Writer *writer, const Package *package)
{
    write_fmt(
        writer,
        "model          %.*s\ncompiler       %.*s\ngraph          %.*s\ntarget         ipu21\n"
        "tiles used     %d of %d\n",
        STR_ARG(package->model), STR_ARG(package->compiler_version), STR_ARG(package->graph_digest),
        package->tiles_used, CHIP_TILES);
    print_flag_counts(writer, package);
    write_fmt(writer, "image bytes    %lld in %td segments\n", (long long)segment_bytes_of(package),
              package->segments.len);
    write_fmt(writer, "tile bytes     min %lld, median %lld, max %lld of %d\n",
              (long long)package->tile_bytes_min, (long long)package->tile_bytes_median,
              (long long)package->tile_bytes_max, SRAM_BYTES);
    print_bindings(writer, package);
    print_phases(writer, package);
}

static void print_json_bindings(Writer *writer, const Package *package)
{
    write_str(writer, S(",\n \"bindings\": ["));
    for (isize i = 0; i < package->bindings.len; i++) {
        const Binding *binding = &package->bindings.at[i];
        write_fmt(writer, "%s\n  {\"kind\": \"%s\", \"name\": ", i == 0 ? "" : ",",
                  kind_text[binding->kind]);
        write_json_str(writer, binding->name);
        write_str(writer, S(", \"dtype\": "));
        write_json_str(writer, dtype_name(binding->dtype));
        write_str(writer, S(", \"order\": "));
        write_json_str(writer, binding->order);
        write_fmt(writer,
                  ", \"rows\": %d, \"cols\": %d, \"shards\": %d, \"tiles\": %d, \"bytes\": %lld, "
                  "\"tensors\": [",
                  binding->rows, binding->cols, binding->shard_count,
                  tiles_of_binding(package, binding),
                  (long long)bytes_of_binding(package, binding));
        for (isize p = 0; p < binding->packing.parts.len; p++) {
            write_str(writer, p == 0 ? S("") : S(", "));
            write_json_str(writer, binding->packing.parts.at[p].tensor);
        }
        write_str(writer, S("]}"));
    }
    write_str(writer, S("]"));
}

static void print_json_phases(Writer *writer, const Package *package)
{
    write_str(writer, S(",\n \"phases\": ["));
    for (isize i = 0; i < package->phases.len; i++) {
        const PhaseRecord *phase = &package->phases.at[i];
        write_fmt(writer, "%s\n  {\"name\": ", i == 0 ? "" : ",");
        write_json_str(writer, phase->name);
        write_fmt(writer,
                  ", \"repeats\": %u, \"transfers\": %u, \"words\": %llu, "
                  "\"scheduled_events\": %u, \"row_bytes_max\": %u}",
                  phase->repeats, phase->transfers, (unsigned long long)phase->words,
                  phase->horizon, phase->row_bytes_max);
    }
    write_str(writer, S("]"));
}

static void print_json_flags(Writer *writer, const Package *package)
{
    write_fmt(writer, ",\n \"isa_flags_verified\": %s, \"isa_flags_source\": ",
              isa_flags_verified(package->isa_flags) ? "true" : "false");
    write_json_str(writer, isa_flags_source(package->isa_flags));
    write_str(writer, S(", \"isa_flags\": ["));
    for (int id = 0; id < FLAG_ID_COUNT; id++) {
        const FlagSymbol *symbol = flag_symbol((FlagId)id);
        bool is_given = isa_flag_is_given(package->isa_flags, (FlagId)id);
        write_fmt(writer, "%s\n  {\"name\": ", id == 0 ? "" : ",");
        write_json_str(writer, symbol->name);
        write_fmt(writer, ", \"value\": %u, \"source\": \"%s\"}",
                  isa_flag_value(package->isa_flags, (FlagId)id),
                  symbol->is_documented ? "documented"
                  : is_given            ? "file"
                                        : "unverified");
    }
    write_str(writer, S("]"));
}

static void print_json(Writer *writer, const Package *package)
{
    write_str(writer, S("{\"model\": "));
    write_json_str(writer, package->model);
    write_str(writer, S(", \"compiler\": "));
    write_json_str(writer, package->compiler_version);
    write_str(writer, S(", \"graph\": "));
    write_json_str(writer, package->graph_digest);
    write_fmt(writer,
              ", \"target\": \"ipu21\", \"tiles_used\": %d,\n "
              "\"image_bytes\": %lld, \"segments\": %td,\n \"tile_bytes\": {\"min\": %lld, "
              "\"median\": %lld, \"max\": %lld, \"sram\": %d}",
              package->tiles_used, (long long)segment_bytes_of(package), package->segments.len,
              (long long)package->tile_bytes_min, (long long)package->tile_bytes_median,
              (long long)package->tile_bytes_max, SRAM_BYTES);
    print_json_bindings(writer, package);
    print_json_phases(writer, package);
    print_json_flags(writer, package);
    write_str(writer, S("}\n"));
}

static int by_address(const void *a, const void *b, const void *context)
{
    (void)context;
    const DebugRegion *x = a, *y = b;
    return x->address < y->address ? -1 : x->address > y->address;
}

void package_print_tile(Writer *writer, const Package *package, PhysTile tile, Arena scratch)
{
    DebugRegionVec regions = {0};
    for (isize i = 0; i < package->regions.len; i++) {
        const DebugRegion *region = &package->regions.at[i];
        if (region->tile.id == tile.id || region->tile.id == UINT16_MAX) {
            *vec_push(&regions, &scratch) = *region;
        }
    }
    sort_stable(regions.at, regions.len, sizeof *regions.at, by_address, NULL, scratch);
    write_fmt(writer, "tile %u (logical %u): %td buffers\n%-8s %8s %7s %8s  %s\n", tile.id,
              tile_of(tile).id, regions.len, "address", "bytes", "members", "stride", "name");
    for (isize i = 0; i < regions.len; i++) {
        const DebugRegion *region = &regions.at[i];
        write_fmt(writer, "0x%06x %8u %7u %8u  %.*s\n", region->address, region->bytes,
                  region->count, region->stride, STR_ARG(region->name));
    }
}

void package_print(Writer *writer, const Package *package, bool as_json)
{
    if (as_json) {
        print_json(writer, package);
    } else {
        print_text(writer, package);
    }
}
