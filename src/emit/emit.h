/* emit: support layout, tile programs, bindings -> Package.
 * takes: Work, Placement, Schedule, KernelLibrary      gives: Package
 * uses: base chip isa tensor layout asm kernel lower place exchange package
 * never: decides timing or data addresses
 *
 * Support map of a tile (reference/host-and-package.md 2.2, ours): 0x4c010 launch branch, kernels, exchange rows, program; all
 * inside the plan's support grant, whose elements hold nothing that is written (tile-timing.md 5.3). Argument tables are data.
 */
#pragma once
#include "base/base.h"
#include "exchange/exchange.h"
#include "kernel/kernel.h"
#include "lower/lower.h"
#include "package/package.h"
#include "place/place.h"

typedef struct EmitInfo {
    Str model;  /* name of the network */
    Str digest; /* of the graph */
    Str compiler_version;
    int threads;
} EmitInfo;

/* Bytes of kernels + launch branch: rows and program must fit behind them. */
uint32_t emit_fixed_bytes(const KernelLibrary *library);
/* Upper bound of one tile's program in bytes, before exchange: what is left of the grant is the row budget. */
uint32_t emit_program_bytes_max(const Work *work, Arena scratch);
/* ERROR_NO "over by n bytes" when a tile's support exceeds the grant. */
bool emit_package(const Work *work, const Placement *placement, const Schedule *schedule,
                  const KernelLibrary *library, const EmitInfo *info, Arena *keep, Arena scratch,
                  Package *out, Error *err);
/* Listing of one tile's program and rows, for --dump=code. */
void emit_print_code(Writer *writer, const Package *package, PhysTile tile);
