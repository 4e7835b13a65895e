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
    isize shown = min_i64(binding->packing.parts.len, 3);
    for (isize i = 0; i < shown; i++) {
        write_fmt(writer, "%s%.*s", i == 0 ? "  <- " : " + ",
                  STR_ARG(binding->packing.parts.at[i].tensor));
    }
    if (binding->packing.parts.len > shown) {
        write_fmt(writer, " + %td more", binding->packing.parts.len - shown);
    }
}

static void print_bindings(Writer *writer, const Package *package)
{
    write_fmt(writer, "\nbindings %td\n%-7s %-32s %-5s %-11s %13s %7s %6s %12s\n",
              package->bindings.len, "kind", "name", "dtype", "order", "rows x cols", "shards",
              "tiles", "bytes");
    for (isize i = 0; i < package->bindings.len; i++) {
        const Binding *binding = &package->bindings.at[i];
        char extents[32];
        (void)snprintf(extents, sizeof extents, "%d x %d", binding->rows, binding->cols);
        write_fmt(writer, "%-7s %-32.*s %-5.*s %-11.*s %13s %7d %6d %12lld",
                  kind_text[binding->kind], STR_ARG(binding->name),
                  STR_ARG(dtype_name(binding->dtype)), STR_ARG(binding->order), extents,
                  binding->shard_count, tiles_of_binding(package, binding),
                  (long long)bytes_of_binding(package, binding));
        print_sources(writer, binding);
        write_str(writer, S("\n"));
    }
}

static void print_phases(Writer *writer, const Package *package)
{
    uint64_t executed = 0, events = 0;
    write_fmt(writer, "\nphases %td (scheduled)\n%-48s %8s %10s %12s %8s %10s\n",
              package->phases.len, "name", "repeats", "transfers", "words", "events", "row bytes");
    for (isize i = 0; i < package->phases.len; i++) {
        const PhaseRecord *phase = &package->phases.at[i];
        executed += phase->repeats;
        events += (uint64_t)phase->repeats * phase->horizon;
        write_fmt(writer, "%-48.*s %8u %10u %12llu %8u %10u\n", STR_ARG(phase->name),
                  phase->repeats, phase->transfers, (unsigned long long)phase->words,
                  phase->horizon, phase->row_bytes_max);
    }
    write_fmt(writer, "executed phases a call %llu, scheduled events a call %llu\n",
              (unsigned long long)executed, (unsigned long long)events);
}

static void print_text(Writer *writer, const Package *package)
{
    write_fmt(
        writer,
        "model          %.*s\ncompiler       %.*s\ngraph          %.*s\ntarget         ipu21\n"
        "tiles used     %d of %d\nisa flags      %td, %s\n",
        STR_ARG(package->model), STR_ARG(package->compiler_version), STR_ARG(package->graph_digest),
        package->tiles_used, CHIP_TILES, package->isa_flags.len,
        package->isa_flags_verified ? "verified" : "not verified");
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

static void print_json(Writer *writer, const Package *package)
{
    write_str(writer, S("{\"model\": "));
    write_json_str(writer, package->model);
    write_str(writer, S(", \"compiler\": "));
    write_json_str(writer, package->compiler_version);
    write_str(writer, S(", \"graph\": "));
    write_json_str(writer, package->graph_digest);
    write_fmt(writer,
              ", \"target\": \"ipu21\", \"tiles_used\": %d, \"isa_flags_verified\": %s,\n "
              "\"image_bytes\": %lld, \"segments\": %td,\n \"tile_bytes\": {\"min\": %lld, "
              "\"median\": %lld, \"max\": %lld, \"sram\": %d}",
              package->tiles_used, package->isa_flags_verified ? "true" : "false",
              (long long)segment_bytes_of(package), package->segments.len,
              (long long)package->tile_bytes_min, (long long)package->tile_bytes_median,
              (long long)package->tile_bytes_max, SRAM_BYTES);
    print_json_bindings(writer, package);
    print_json_phases(writer, package);
    write_str(writer, S("}\n"));
}

void package_print(Writer *writer, const Package *package, bool as_json, Arena scratch)
{
    (void)scratch;
    if (as_json) {
        print_json(writer, package);
    } else {
        print_text(writer, package);
    }
}
