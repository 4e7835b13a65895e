/* Structure rules of a package (host-and-package.md 5.3, and ours): what every reader may rely on without looking again.
 *
 * Written against hostile input: no arithmetic may overflow whatever the fields hold, and nothing is assumed that is not
 * checked first.
 */
#include "package/package.h"

enum { TEXT_BYTES_MAX = 4096, EXTENT_MAX = 1 << 30 };

static const int64_t STRIDE_MAX = (int64_t)1 << 31; /* with EXTENT_MAX: indices stay below 2^62 */
static const int64_t BASE_MAX = (int64_t)1 << 40;
static const int64_t SHARD_SLACK_BYTES = 64;

static bool check_name(Str name, const char *what, isize index, Error *err)
{
    if (name.len <= 0 || name.len > TEXT_BYTES_MAX) {
        return error_set(err, ERROR_INPUT, "package",
                         "%s %td has a name of %td bytes, expected 1..%d", what, index, name.len,
                         TEXT_BYTES_MAX);
    }
    for (isize i = 0; i < name.len; i++) {
        if ((uint8_t)name.at[i] < 0x20 || name.at[i] == 0x7f) {
            return error_set(err, ERROR_INPUT, "package",
                             "%s %td has a name with a control character", what, index);
        }
    }
    return true;
}

static bool check_text(Str text, const char *what, Error *err)
{
    return text.len == 0 || check_name(text, what, 0, err);
}

static bool check_segment(const Segment *segment, unsigned tile, uint32_t end_before, Error *err)
{
    if (segment->address % 4 != 0 || segment->address < SRAM_IMAGE_BASE ||
        segment->address >= SRAM_IMAGE_END || segment->memory_bytes == 0 ||
        segment->memory_bytes > SRAM_IMAGE_END - segment->address) {
        return error_set(err, ERROR_INPUT, "package",
                         "tile %u: segment of %u bytes at 0x%x, expected words inside 0x%x..0x%x",
                         tile, segment->memory_bytes, segment->address, SRAM_IMAGE_BASE,
                         SRAM_IMAGE_END);
    }
    if (segment->bytes > segment->memory_bytes) {
        return error_set(err, ERROR_INPUT, "package",
                         "tile %u: segment at 0x%x has %u bytes of data for %u bytes of memory",
                         tile, segment->address, segment->bytes, segment->memory_bytes);
    }
    if (segment->address < end_before) {
        return error_set(err, ERROR_INPUT, "package",
                         "tile %u: segment at 0x%x overlaps or precedes the one that ends at 0x%x",
                         tile, segment->address, end_before);
    }
    return true;
}

static bool check_tile(const Package *package, isize index, Error *err)
{
    const TileImage *image = &package->tiles.at[index];
    unsigned tile = image->tile.id;
    if (tile != (unsigned)index) {
        return error_set(err, ERROR_INPUT, "package",
                         "image %td is of tile %u, expected every tile once in ascending order",
                         index, tile);
    }
    if (image->segment_count < 1 || image->segment_first < 0 ||
        image->segment_count > package->segments.len - image->segment_first) {
        return error_set(err, ERROR_INPUT, "package", "tile %u has no segments", tile);
    }
    uint32_t end = 0;
    bool has_entry = false;
    for (int32_t i = 0; i < image->segment_count; i++) {
        const Segment *segment = &package->segments.at[image->segment_first + i];
        if (!check_segment(segment, tile, end, err)) {
            return false;
        }
        end = segment->address + segment->memory_bytes;
        has_entry = has_entry || (image->entry >= segment->address && image->entry < end);
    }
    uint32_t lowest = package->segments.at[image->segment_first].address;
    if (lowest != SRAM_IMAGE_BASE) {
        return error_set(err, ERROR_INPUT, "package",
                         "tile %u: lowest segment at 0x%x, the loader needs 0x%x", tile, lowest,
                         SRAM_IMAGE_BASE);
    }
    if (image->entry % 4 != 0 || image->entry >= SRAM_REGION1 || !has_entry) {
        return error_set(err, ERROR_INPUT, "package",
                         "tile %u: entry 0x%x is not a word of a segment below 0x%x", tile,
                         image->entry, SRAM_REGION1);
    }
    return true;
}

/* Bounds that keep index arithmetic of tensor's packing functions inside 64 bits; the structure is packing_check's. */
static bool check_axis(const PackAxis *axis, Str binding, Error *err)
{
    bool ok = axis->rank >= 0 && axis->rank <= PACK_AXIS_RANK;
    for (int32_t i = 0; ok && i < axis->rank; i++) {
        ok = axis->size[i] > 0 && axis->size[i] <= EXTENT_MAX && axis->stride[i] > -STRIDE_MAX &&
             axis->stride[i] < STRIDE_MAX;
    }
    return ok || error_set(err, ERROR_INPUT, "package",
                           "binding \"%.*s\": an axis of a packing part has impossible extents",
                           STR_ARG(binding));
}

static bool check_packing(const Binding *binding, Error *err)
{
    const Packing *packing = &binding->packing;
    if (binding->kind == BINDING_OUTPUT) {
        return packing->parts.len == 0 ||
               error_set(err, ERROR_INPUT, "package", "output \"%.*s\" has packing parts",
                         STR_ARG(binding->name));
    }
    if (packing->rows <= 0 || packing->cols <= 0 || packing->parts.len < 1) {
        return error_set(err, ERROR_INPUT, "package",
                         "binding \"%.*s\": its packing is %d x %d with %td parts, expected some",
                         STR_ARG(binding->name), packing->rows, packing->cols, packing->parts.len);
    }
    for (isize i = 0; i < packing->parts.len; i++) {
        const PackPart *part = &packing->parts.at[i];
        if (!check_name(part->tensor, "packing part", i, err) ||
            !check_axis(&part->rows, binding->name, err) ||
            !check_axis(&part->cols, binding->name, err)) {
            return false;
        }
        if (part->base <= -BASE_MAX || part->base >= BASE_MAX) {
            return error_set(err, ERROR_INPUT, "package",
                             "binding \"%.*s\": part %td begins at element %lld",
                             STR_ARG(binding->name), i, (long long)part->base);
        }
    }
    return packing_check(packing, err) ||
           error_context(err, "binding \"%.*s\"", STR_ARG(binding->name));
}

static bool check_shard(const Binding *binding, const BindingShard *shard, Error *err)
{
    Region box = shard->box;
    if (box.row_begin < 0 || box.row_end <= box.row_begin || box.row_end > binding->rows ||
        box.col_begin < 0 || box.col_end <= box.col_begin || box.col_end > binding->cols ||
        shard->alloc_rows < box.row_end - box.row_begin ||
        shard->alloc_cols < box.col_end - box.col_begin) {
        return error_set(err, ERROR_INPUT, "package",
                         "binding \"%.*s\": box %d..%d x %d..%d in %d x %d elements, expected a "
                         "box inside %d x %d that its allocation holds",
                         STR_ARG(binding->name), box.row_begin, box.row_end, box.col_begin,
                         box.col_end, shard->alloc_rows, shard->alloc_cols, binding->rows,
                         binding->cols);
    }
    if (shard->tile.id >= CHIP_TILES || shard->address % 4 != 0 || shard->address < SRAM_BASE ||
        shard->address >= SRAM_END || shard->bytes > SRAM_END - shard->address) {
        return error_set(err, ERROR_INPUT, "package",
                         "binding \"%.*s\": shard of %u bytes at 0x%x of tile %u is outside SRAM",
                         STR_ARG(binding->name), shard->bytes, shard->address,
                         (unsigned)shard->tile.id);
    }
    int64_t needed = dtype_bytes(binding->dtype) * (int64_t)shard->alloc_rows;
    needed = needed > SRAM_BYTES ? needed : needed * shard->alloc_cols;
    if (needed > shard->bytes || shard->bytes % 4 != 0 ||
        shard->bytes >= needed + SHARD_SLACK_BYTES) {
        return error_set(err, ERROR_INPUT, "package",
                         "binding \"%.*s\": shard of %u bytes for %d x %d elements, expected %lld",
                         STR_ARG(binding->name), shard->bytes, shard->alloc_rows, shard->alloc_cols,
                         (long long)needed);
    }
    return true;
}

/* The shards of an output hold as many elements as the output, at least: what none of them holds would be read as zero. */
static bool check_covered(const Package *package, const Binding *binding, Error *err)
{
    int64_t elems = 0; /* a shard has at most SRAM_BYTES of them */
    for (int32_t i = 0; i < binding->shard_count; i++) {
        Region box = package->shards.at[binding->shard_first + i].box;
        elems += (int64_t)(box.row_end - box.row_begin) * (box.col_end - box.col_begin);
    }
    return elems >= (int64_t)binding->rows * binding->cols ||
           error_set(err, ERROR_INPUT, "package",
                     "output \"%.*s\" is %d x %d, its shards hold %lld elements",
                     STR_ARG(binding->name), binding->rows, binding->cols, (long long)elems);
}

static bool check_binding(const Package *package, isize index, Error *err)
{
    const Binding *binding = &package->bindings.at[index];
    if (!check_name(binding->name, "binding", index, err)) {
        return false;
    }
    if ((unsigned)binding->kind >= BINDING_KIND_COUNT ||
        (index > 0 && package->bindings.at[index - 1].kind > binding->kind)) {
        return error_set(err, ERROR_INPUT, "package",
                         "binding \"%.*s\" is out of order, expected inputs, weights, outputs",
                         STR_ARG(binding->name));
    }
    if ((unsigned)binding->dtype >= DTYPE_COUNT || binding->dtype == DTYPE_NONE) {
        return error_set(err, ERROR_INPUT, "package", "binding \"%.*s\" has an unknown dtype",
                         STR_ARG(binding->name));
    }
    if (!check_name(binding->order, "order of binding", index, err)) {
        return false;
    }
    if (binding->rows <= 0 || binding->rows > EXTENT_MAX || binding->cols <= 0 ||
        binding->cols > EXTENT_MAX) {
        return error_set(err, ERROR_INPUT, "package", "binding \"%.*s\" is %d x %d",
                         STR_ARG(binding->name), binding->rows, binding->cols);
    }
    if (binding->shard_first < 0 || binding->shard_count < 1 ||
        binding->shard_count > package->shards.len - binding->shard_first) {
        return error_set(err, ERROR_INPUT, "package", "binding \"%.*s\" has no shards",
                         STR_ARG(binding->name));
    }
    for (int32_t i = 0; i < binding->shard_count; i++) {
        if (!check_shard(binding, &package->shards.at[binding->shard_first + i], err)) {
            return false;
        }
    }
    if (binding->kind == BINDING_OUTPUT && !check_covered(package, binding, err)) {
        return false;
    }
    return check_packing(binding, err);
}

static bool check_bindings(const Package *package, Arena scratch, Error *err)
{
    StrMap names = {0};
    for (isize i = 0; i < package->bindings.len; i++) {
        if (!check_binding(package, i, err)) {
            return false;
        }
        uint32_t *seen = str_map_put(&names, package->bindings.at[i].name, &scratch);
        if (*seen != 0) {
            return error_set(err, ERROR_INPUT, "package", "two bindings are called \"%.*s\"",
                             STR_ARG(package->bindings.at[i].name));
        }
        *seen = 1;
    }
    return true;
}

static bool is_code_address(uint32_t address)
{
    return address % 4 == 0 && address >= SRAM_BASE && address < SRAM_REGION1;
}

static bool check_lines(const Package *package, Error *err)
{
    for (isize i = 0; i < package->source_files.len; i++) {
        if (!check_name(package->source_files.at[i], "source file", i, err)) {
            return false;
        }
    }
    for (isize i = 0; i < package->lines.len; i++) {
        const DebugLine *line = &package->lines.at[i];
        if (!is_code_address(line->address) ||
            (i > 0 && package->lines.at[i - 1].address >= line->address) ||
            line->file >= package->source_files.len) {
            return error_set(err, ERROR_INPUT, "package",
                             "line record %td at 0x%x of source file %u, expected ascending words "
                             "of 0x%x..0x%x and a file below %td",
                             i, line->address, line->file, SRAM_BASE, SRAM_REGION1,
                             package->source_files.len);
        }
    }
    return true;
}

static bool check_calls(const Package *package, Error *err)
{
    for (isize i = 0; i < package->buffer_uses.len; i++) {
        if (!check_name(package->buffer_uses.at[i].region, "buffer use", i, err)) {
            return false;
        }
    }
    for (isize i = 0; i < package->call_uses.len; i++) {
        const CallUses *uses = &package->call_uses.at[i];
        if (uses->first < 0 || uses->count < 0 ||
            uses->count > package->buffer_uses.len - uses->first) {
            return error_set(err, ERROR_INPUT, "package", "use %td has no buffers", i);
        }
    }
    for (isize i = 0; i < package->calls.len; i++) {
        const CallRecord *call = &package->calls.at[i], *before = call - (i > 0);
        bool is_ordered =
            i == 0 || before->tile.id < call->tile.id ||
            (before->tile.id == call->tile.id && before->return_address < call->return_address);
        if (call->tile.id >= CHIP_TILES || !is_code_address(call->return_address) || !is_ordered ||
            call->uses >= package->call_uses.len) {
            return error_set(err, ERROR_INPUT, "package",
                             "call %td of tile %u returns to 0x%x with use %u, expected ascending "
                             "tiles and words of 0x%x..0x%x and a use below %td",
                             i, call->tile.id, call->return_address, call->uses, SRAM_BASE,
                             SRAM_REGION1, package->call_uses.len);
        }
    }
    return true;
}

static bool check_debug(const Package *package, Error *err)
{
    for (isize i = 0; i < package->symbols.len; i++) {
        if (!check_name(package->symbols.at[i].name, "symbol", i, err)) {
            return false;
        }
    }
    for (isize i = 0; i < package->regions.len; i++) {
        const DebugRegion *region = &package->regions.at[i];
        if (!check_name(region->name, "debug region", i, err)) {
            return false;
        }
        if ((region->tile.id >= CHIP_TILES && region->tile.id != UINT16_MAX) ||
            region->bytes == 0 || region->count == 0 || region->address < SRAM_BASE ||
            region->address >= SRAM_END ||
            (uint64_t)(region->count - 1) * region->stride + region->bytes + region->tail_bytes >
                SRAM_END - region->address) {
            return error_set(err, ERROR_INPUT, "package",
                             "debug region \"%.*s\" of %u x %u bytes at 0x%x is outside SRAM",
                             STR_ARG(region->name), region->count, region->bytes, region->address);
        }
    }
    for (isize i = 0; i < package->phases.len; i++) {
        if (!check_text(package->phases.at[i].name, "phase name", err)) {
            return false;
        }
    }
    return true;
}

static bool check_isa_flags(const Package *package, Error *err)
{
    if (!isa_flags_check(package->isa_flags, err)) {
        return error_context(err, "package: isa flags");
    }
    return check_text(isa_flags_source(package->isa_flags), "source of the isa flags", err);
}

bool package_check(const Package *package, Arena scratch, Error *err)
{
    if (package->tiles.len != CHIP_TILES) {
        return error_set(err, ERROR_INPUT, "package", "has %td tile images, expected %d",
                         package->tiles.len, CHIP_TILES);
    }
    for (isize i = 0; i < CHIP_TILES; i++) {
        if (!check_tile(package, i, err)) {
            return false;
        }
    }
    if (package->tiles_used < 0 || package->tiles_used > CHIP_TILES ||
        package->tile_bytes_min < 0 || package->tile_bytes_median < package->tile_bytes_min ||
        package->tile_bytes_max < package->tile_bytes_median ||
        package->tile_bytes_max > SRAM_BYTES) {
        return error_set(err, ERROR_INPUT, "package",
                         "memory summary of %d tiles, %lld / %lld / %lld bytes is impossible",
                         package->tiles_used, (long long)package->tile_bytes_min,
                         (long long)package->tile_bytes_median, (long long)package->tile_bytes_max);
    }
    return check_text(package->compiler_version, "compiler version", err) &&
           check_text(package->model, "model name", err) &&
           check_text(package->graph_digest, "graph digest", err) &&
           check_bindings(package, scratch, err) && check_debug(package, err) &&
           check_lines(package, err) && check_calls(package, err) && check_isa_flags(package, err);
}
