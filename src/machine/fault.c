/* Printing a fault: category, name and what the name means, where it happened in the words of the package (symbol and
 * debug region), and the values concerned.
 */
#include "machine/machine.h"

static const struct {
    const char *name, *text;
} fault_texts[] = {
#define FAULT(name, category, text) {#name, text},
#include "machine/faults.def"
#undef FAULT
#define FABRIC_FAULT(name, category, text) {#name, text},
#include "machine/fabric_faults.def"
#undef FABRIC_FAULT
};

static const char *const category_text[] = {
    [FAULT_NONE] = "no fault",           [FAULT_ILLEGAL] = "illegal",
    [FAULT_SELECTED] = "selected check", [FAULT_UNKNOWN] = "unknown",
    [FAULT_UNMODELLED] = "not modelled", [FAULT_POISON] = "undefined value",
    [FAULT_DEADLOCK] = "deadlock",
};

static const char *text_of(const char *name)
{
    for (size_t i = 0; i < sizeof fault_texts / sizeof fault_texts[0]; i++) {
        if (str_equal(str_of(name), str_of(fault_texts[i].name))) {
            return fault_texts[i].text;
        }
    }
    return "";
}

/* The last symbol at or before the address; symbols are the same on all tiles. */
static const DebugSymbol *symbol_at(const Package *package, uint32_t address)
{
    const DebugSymbol *best = NULL;
    for (isize i = 0; i < package->symbols.len; i++) {
        const DebugSymbol *symbol = &package->symbols.at[i];
        if (symbol->address <= address && (best == NULL || symbol->address > best->address)) {
            best = symbol;
        }
    }
    return best;
}

/* The source of the code at an address; NULL when none is known. */
static const DebugLine *line_at(const Package *package, uint32_t address)
{
    isize first = 0, end = package->lines.len; /* records below `first` begin at or before it */
    while (first < end) {
        isize middle = first + (end - first) / 2;
        if (package->lines.at[middle].address <= address) {
            first = middle + 1;
        } else {
            end = middle;
        }
    }
    const DebugLine *line = first > 0 ? &package->lines.at[first - 1] : NULL;
    return line != NULL && line->line != 0 ? line : NULL;
}

static bool is_in(const DebugRegion *region, PhysTile tile, uint32_t address)
{
    if ((region->tile.id != tile.id && region->tile.id != UINT16_MAX) ||
        address < region->address) {
        return false;
    }
    uint32_t offset = address - region->address;
    uint32_t member = region->stride > 0 ? offset / region->stride : 0;
    return member < region->count && offset - member * region->stride < region->bytes;
}

/* What the kernel call that returns to an address may access; NULL when the package knows no such call. */
static const CallUses *uses_at(const Package *package, PhysTile tile, uint32_t return_address)
{
    for (isize i = 0; i < package->calls.len; i++) {
        const CallRecord *call = &package->calls.at[i];
        if (call->tile.id == tile.id && call->return_address == return_address) {
            return &package->call_uses.at[call->uses];
        }
    }
    return NULL;
}

static bool is_used(const Package *package, const CallUses *uses, Str name)
{
    for (int32_t i = 0; uses != NULL && i < uses->count; i++) {
        if (str_equal(package->buffer_uses.at[uses->first + i].region, name)) {
            return true;
        }
    }
    return false;
}

/* " in NAME", where buffers that live at different times may share the address: what the running call uses, else the first. */
static void print_region(Writer *writer, const Fault *fault, uint32_t address,
                         const Package *package)
{
    const CallUses *uses = uses_at(package, fault->tile, fault->call_return);
    const DebugRegion *best = NULL;
    for (isize i = 0; i < package->regions.len; i++) {
        const DebugRegion *region = &package->regions.at[i];
        if (!is_in(region, fault->tile, address)) {
            continue;
        }
        if (is_used(package, uses, region->name)) {
            best = region;
            break;
        }
        best = best == NULL ? region : best;
    }
    if (best != NULL) {
        write_fmt(writer, " in %.*s", STR_ARG(best->name));
    }
}

static void print_context(Writer *writer, int context)
{
    if (context < 0) {
        write_str(writer, S("supervisor"));
    } else {
        write_fmt(writer, "worker %d", context);
    }
}

/* "pc 0x4c123 = kernel + 0x13 (kernel.s:7)" */
static void print_pc(Writer *writer, uint32_t pc, const Package *package)
{
    write_fmt(writer, "pc 0x%x", pc);
    if (package == NULL) {
        return;
    }
    const DebugSymbol *symbol = symbol_at(package, pc);
    if (symbol != NULL) {
        write_fmt(writer, " = %.*s + 0x%x", STR_ARG(symbol->name), pc - symbol->address);
    }
    const DebugLine *line = line_at(package, pc);
    if (line != NULL) {
        write_fmt(writer, " (%.*s:%u)", STR_ARG(package->source_files.at[line->file]), line->line);
    }
}

void fault_print(Writer *writer, const Fault *fault, const Package *package)
{
    if (fault->category == FAULT_NONE) {
        write_str(writer, S("no fault\n"));
        return;
    }
    write_fmt(writer, "%s: %s: %s\n", category_text[fault->category], fault->name,
              text_of(fault->name));
    write_fmt(writer, "  tile %u (logical %u), ", (unsigned)fault->tile.id,
              (unsigned)tile_of(fault->tile).id);
    print_context(writer, fault->context);
    write_fmt(writer, ", simulated cycle %lld, ", (long long)fault->cycle);
    print_pc(writer, fault->pc, package);
    if (fault->address != 0) {
        write_fmt(writer, ", address 0x%x", fault->address);
    }
    if (package != NULL) {
        print_region(writer, fault, fault->address != 0 ? fault->address : fault->pc, package);
    }
    write_fmt(writer, "\n  %s\n", fault->detail);
    if (fault->other_pc != 0) {
        write_str(writer, S("  the other access: "));
        print_context(writer, fault->other_context);
        write_str(writer, S(", "));
        print_pc(writer, fault->other_pc, package);
        write_str(writer, S("\n"));
    }
}
