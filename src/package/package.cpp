/* Reads and writes the package file. The only C++ of the product: the Cap'n Proto library has no C form, and a
 * hostile file is best checked by the library that everybody uses (host-and-package.md 5, decisions.md A2).
 *
 * Everything thrown below the door is caught here and becomes an Error. Counts from a file are trusted only as far
 * as the traversal limit and the room in the arena carry them. Structure rules live in check.c, which both
 * directions run, so a file that reads back is a package that could have been written.
 */
#include <capnp/message.h>
#include <capnp/serialize.h>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <exception>
#include <kj/exception.h>
#include <kj/io.h>

#include "tessera.capnp.h"

/* C17 spellings of the doors below, for a C++17 compiler. */
#ifndef _Noreturn
#define _Noreturn [[noreturn]]
#endif
#define _Alignof alignof
extern "C" {
#include "package/package.h"
}

namespace wire = tessera::schema;

namespace
{

constexpr uint32_t SCHEMA_VERSION = 5;
constexpr uint32_t ALL_TILES = 0xffffffff; /* debug regions: host-and-package.md 5.2 */
constexpr uint32_t STARTUP_MARK = 23;      /* batches of 64 tiles: host-and-package.md 2 */
constexpr isize FILE_BYTES_MAX = isize(4) << 30;
constexpr int NESTING_MAX = 16; /* our deepest path has 8 levels */

/* A reason to refuse a file; turned into an Error at the door. */
struct Refusal {
    char text[256];
};

[[noreturn]] __attribute__((format(printf, 1, 2))) void refuse(const char *format, ...)
{
    Refusal refusal;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(refusal.text, sizeof refusal.text, format, arguments);
    va_end(arguments);
    throw refusal;
}

/* --- writing ------------------------------------------------------------------------------------------------------ */

class FileStream final : public kj::OutputStream
{
  public:
    FileStream(FileOut *out, Error *err) : out(out), err(err) {}
    void write(const void *bytes, size_t len) override
    {
        if (!file_append(out, bytes, isize(len), err)) {
            refuse("%s", err->message);
        }
    }

  private:
    FileOut *out;
    Error *err;
};

template <typename Init> void put_text(Str s, Init init)
{
    capnp::Text::Builder text = init(unsigned(s.len));
    if (s.len > 0) {
        std::memcpy(text.begin(), s.at, size_t(s.len));
    }
}

#define PUT_TEXT(builder, Field, value)                                                            \
    put_text((value), [&](unsigned len) { return (builder).init##Field(len); })

/* Words of the whole message, generously: it then fits one segment and has no far pointers. */
size_t estimate_words(const Package *package)
{
    int64_t bytes = 4096;
    for (isize i = 0; i < package->segments.len; i++) {
        bytes += 64 + int64_t(package->segments.at[i].bytes);
    }
    bytes += 64 * package->tiles.len + 64 * package->shards.len;
    for (isize i = 0; i < package->bindings.len; i++) {
        const Binding *binding = &package->bindings.at[i];
        bytes += 256 + binding->name.len;
        for (isize p = 0; p < binding->packing.parts.len; p++) {
            bytes += 256 + binding->packing.parts.at[p].tensor.len;
        }
    }
    for (isize i = 0; i < package->phases.len; i++) {
        bytes += 64 + package->phases.at[i].name.len;
    }
    for (isize i = 0; i < package->symbols.len; i++) {
        bytes += 48 + package->symbols.at[i].name.len;
    }
    for (isize i = 0; i < package->regions.len; i++) {
        bytes += 64 + package->regions.at[i].name.len;
    }
    bytes += 8 * (package->lines.len + package->calls.len) + 16 * package->call_uses.len;
    for (isize i = 0; i < package->source_files.len; i++) {
        bytes += 16 + package->source_files.at[i].len;
    }
    for (isize i = 0; i < package->buffer_uses.len; i++) {
        bytes += 24 + package->buffer_uses.at[i].region.len;
    }
    for (int id = 0; id < FLAG_ID_COUNT; id++) {
        bytes += 48 + flag_symbol(FlagId(id))->name.len;
    }
    return size_t(bytes / 8);
}

void put_tiles(wire::Application::Builder app, const Package *package)
{
    auto tiles = app.initTiles(unsigned(package->tiles.len));
    for (isize i = 0; i < package->tiles.len; i++) {
        const TileImage *image = &package->tiles.at[i];
        auto tile = tiles[unsigned(i)];
        tile.setPhysicalTile(image->tile.id);
        tile.setEntryPoint(image->entry);
        auto segments = tile.initSegments(unsigned(image->segment_count));
        for (int32_t s = 0; s < image->segment_count; s++) {
            const Segment *from = &package->segments.at[image->segment_first + s];
            auto to = segments[unsigned(s)];
            to.setAddress(from->address);
            to.setMemorySize(from->memory_bytes);
            to.setData(capnp::Data::Reader(from->at, from->bytes));
            to.setFlags(from->flags);
        }
    }
}

void put_standard_binding(wire::Binding::Builder to, const Package *package, const Binding *from)
{
    PUT_TEXT(to, Name, from->name);
    PUT_TEXT(to, Dtype, dtype_name(from->dtype));
    auto shape = to.initShape(2);
    shape.set(0, uint32_t(from->rows));
    shape.set(1, uint32_t(from->cols));
    auto slices = to.initSlices(unsigned(from->shard_count));
    uint64_t file_offset = 0;
    for (int32_t i = 0; i < from->shard_count; i++) {
        const BindingShard *shard = &package->shards.at[from->shard_first + i];
        auto slice = slices[unsigned(i)];
        slice.setTile(shard->tile.id);
        slice.setTileAddress(shard->address);
        slice.setFileOffset(file_offset);
        slice.setSize(shard->bytes);
        file_offset += shard->bytes;
    }
}

void put_axis(wire::PackAxis::Builder to, const PackAxis *from)
{
    auto sizes = to.initSizes(unsigned(from->rank));
    auto strides = to.initStrides(unsigned(from->rank));
    for (int32_t i = 0; i < from->rank; i++) {
        sizes.set(unsigned(i), from->size[i]);
        strides.set(unsigned(i), from->stride[i]);
    }
    to.setGroupLogical(from->group_logical);
    to.setGroupPadded(from->group_padded);
}

void put_record(wire::BindingRecord::Builder to, const Package *package, const Binding *from)
{
    to.setKind(wire::BindingKind(from->kind));
    PUT_TEXT(to, Order, from->order);
    to.setPackedRows(from->packing.rows);
    to.setPackedCols(from->packing.cols);
    auto parts = to.initParts(unsigned(from->packing.parts.len));
    for (isize i = 0; i < from->packing.parts.len; i++) {
        const PackPart *part = &from->packing.parts.at[i];
        auto record = parts[unsigned(i)];
        PUT_TEXT(record, Tensor, part->tensor);
        record.setColBegin(part->col_begin);
        record.setColEnd(part->col_end);
        record.setBase(part->base);
        put_axis(record.initRows(), &part->rows);
        put_axis(record.initCols(), &part->cols);
    }
    auto shards = to.initShards(unsigned(from->shard_count));
    for (int32_t i = 0; i < from->shard_count; i++) {
        const BindingShard *shard = &package->shards.at[from->shard_first + i];
        auto record = shards[unsigned(i)];
        record.setAllocRows(shard->alloc_rows);
        record.setAllocCols(shard->alloc_cols);
        record.setRowBegin(shard->box.row_begin);
        record.setRowEnd(shard->box.row_end);
        record.setColBegin(shard->box.col_begin);
        record.setColEnd(shard->box.col_end);
    }
}

void put_bindings(wire::Application::Builder app, const Package *package)
{
    unsigned count[BINDING_KIND_COUNT] = {0, 0, 0};
    for (isize i = 0; i < package->bindings.len; i++) {
        count[package->bindings.at[i].kind]++;
    }
    capnp::List<wire::Binding>::Builder list[BINDING_KIND_COUNT] = {
        app.initInputs(count[BINDING_INPUT]), app.initWeights(count[BINDING_WEIGHT]),
        app.initOutputs(count[BINDING_OUTPUT])};
    auto records = app.initBindingRecords(unsigned(package->bindings.len));
    unsigned done[BINDING_KIND_COUNT] = {0, 0, 0};
    for (isize i = 0; i < package->bindings.len; i++) {
        const Binding *binding = &package->bindings.at[i];
        put_standard_binding(list[binding->kind][done[binding->kind]++], package, binding);
        put_record(records[unsigned(i)], package, binding);
    }
}

void put_debug(wire::Application::Builder app, const Package *package)
{
    auto symbols = app.initDebugSymbols(unsigned(package->symbols.len));
    for (isize i = 0; i < package->symbols.len; i++) {
        PUT_TEXT(symbols[unsigned(i)], Name, package->symbols.at[i].name);
        symbols[unsigned(i)].setAddress(package->symbols.at[i].address);
    }
    auto regions = app.initDebugRegions(unsigned(package->regions.len));
    for (isize i = 0; i < package->regions.len; i++) {
        const DebugRegion *from = &package->regions.at[i];
        auto to = regions[unsigned(i)];
        to.setPhysicalTile(from->tile.id == UINT16_MAX ? ALL_TILES : from->tile.id);
        to.setAddress(from->address);
        to.setSize(from->bytes);
        to.setCount(from->count);
        to.setStride(from->stride);
        to.setTail(from->tail_bytes);
        PUT_TEXT(to, Name, from->name);
    }
}

void put_code_records(wire::Application::Builder app, const Package *package)
{
    auto files = app.initSourceFiles(unsigned(package->source_files.len));
    for (isize i = 0; i < package->source_files.len; i++) {
        put_text(package->source_files.at[i],
                 [&](unsigned len) { return files.init(unsigned(i), len); });
    }
    auto lines = app.initDebugLines(unsigned(package->lines.len));
    for (isize i = 0; i < package->lines.len; i++) {
        lines[unsigned(i)].setAddress(package->lines.at[i].address);
        lines[unsigned(i)].setFile(package->lines.at[i].file);
        lines[unsigned(i)].setLine(package->lines.at[i].line);
    }
    auto uses = app.initCallUses(unsigned(package->call_uses.len));
    for (isize i = 0; i < package->call_uses.len; i++) {
        const CallUses *from = &package->call_uses.at[i];
        auto buffers = uses[unsigned(i)].initBuffers(unsigned(from->count));
        for (int32_t b = 0; b < from->count; b++) {
            const BufferUse *use = &package->buffer_uses.at[from->first + b];
            PUT_TEXT(buffers[unsigned(b)], Region, use->region);
            buffers[unsigned(b)].setIsWritten(use->is_written);
        }
    }
    auto calls = app.initCalls(unsigned(package->calls.len));
    for (isize i = 0; i < package->calls.len; i++) {
        calls[unsigned(i)].setReturnAddress(package->calls.at[i].return_address);
        calls[unsigned(i)].setPhysicalTile(package->calls.at[i].tile.id);
        calls[unsigned(i)].setUses(package->calls.at[i].uses);
    }
}

void put_extensions(wire::Application::Builder app, const Package *package)
{
    const IsaFlags *flags = package->isa_flags;
    auto list = app.initIsaFlags(FLAG_ID_COUNT);
    for (unsigned id = 0; id < FLAG_ID_COUNT; id++) {
        PUT_TEXT(list[id], Name, flag_symbol(FlagId(id))->name);
        list[id].setValue(isa_flag_value(flags, FlagId(id)));
        list[id].setIsGiven(isa_flag_is_given(flags, FlagId(id)));
    }
    app.setIsaFlagsVerified(isa_flags_verified(flags));
    PUT_TEXT(app, IsaFlagsSource, isa_flags_source(flags));
    auto phases = app.initPhases(unsigned(package->phases.len));
    for (isize i = 0; i < package->phases.len; i++) {
        const PhaseRecord *from = &package->phases.at[i];
        auto to = phases[unsigned(i)];
        PUT_TEXT(to, Name, from->name);
        to.setRepeats(from->repeats);
        to.setTransfers(from->transfers);
        to.setWords(from->words);
        to.setHorizonEvents(from->horizon);
        to.setRowBytesMax(from->row_bytes_max);
    }
    PUT_TEXT(app, Model, package->model);
    PUT_TEXT(app, GraphDigest, package->graph_digest);
    app.setTilesUsed(uint32_t(package->tiles_used));
    app.setTileBytesMin(uint64_t(package->tile_bytes_min));
    app.setTileBytesMedian(uint64_t(package->tile_bytes_median));
    app.setTileBytesMax(uint64_t(package->tile_bytes_max));
}

void put_application(wire::Application::Builder app, const Package *package)
{
    app.setSchemaVersion(SCHEMA_VERSION);
    PUT_TEXT(app, CompilerVersion, package->compiler_version);
    app.setTarget("ipu21");
    app.setTileMemoryBase(SRAM_BASE);
    app.setTileMemorySize(SRAM_BYTES);
    put_tiles(app, package);
    put_bindings(app, package);
    app.initHostExchange().setStartupMark(STARTUP_MARK);
    app.initEntryPoints(1)[0].setName("run");
    put_debug(app, package);
    put_code_records(app, package);
    put_extensions(app, package);
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

template <typename T> T *take(Arena *keep, isize count)
{
    /* Arenas abort when they are full; a hostile file may not get that far. */
    if (count > (keep->end - keep->at - 64) / isize(sizeof(T))) {
        refuse("holds more records than fit into memory");
    }
    return arena_array(keep, T, count);
}

Str get_text(capnp::Text::Reader text)
{
    return Str{text.begin(), isize(text.size())};
}

uint32_t get_tile(uint32_t tile)
{
    if (tile >= CHIP_TILES) {
        refuse("tile %u does not exist, expected 0..%d", tile, CHIP_TILES - 1);
    }
    return tile;
}

void get_tiles(wire::Application::Reader app, Arena *keep, Package *out)
{
    auto tiles = app.getTiles();
    if (tiles.size() != CHIP_TILES) {
        refuse("has %u tile images, expected %d", tiles.size(), CHIP_TILES);
    }
    out->tiles.len = out->tiles.cap = CHIP_TILES;
    out->tiles.at = take<TileImage>(keep, CHIP_TILES);
    isize count = 0;
    for (auto tile : tiles) {
        count += tile.getSegments().size();
    }
    out->segments.len = out->segments.cap = count;
    out->segments.at = take<Segment>(keep, count);
    isize next = 0;
    for (unsigned i = 0; i < CHIP_TILES; i++) {
        auto tile = tiles[i];
        auto segments = tile.getSegments();
        TileImage *image = &out->tiles.at[i];
        image->tile.id = uint16_t(get_tile(tile.getPhysicalTile()));
        image->entry = tile.getEntryPoint();
        image->segment_first = int32_t(next);
        image->segment_count = int32_t(segments.size());
        for (auto from : segments) {
            capnp::Data::Reader data = from.getData();
            if (data.size() > SRAM_BYTES) {
                refuse("a segment of tile %u has %zu bytes, more than the SRAM",
                       unsigned(image->tile.id), data.size());
            }
            out->segments.at[next++] =
                Segment{from.getAddress(), from.getMemorySize(), data.begin(),
                        uint32_t(data.size()), from.getFlags()};
        }
    }
}

PackAxis get_axis(wire::PackAxis::Reader from)
{
    PackAxis axis = {};
    auto sizes = from.getSizes();
    auto strides = from.getStrides();
    if (sizes.size() > PACK_AXIS_RANK || strides.size() != sizes.size()) {
        refuse("a packing axis has %u sizes and %u strides, expected equal counts up to %d",
               sizes.size(), strides.size(), PACK_AXIS_RANK);
    }
    axis.rank = int32_t(sizes.size());
    for (unsigned i = 0; i < sizes.size(); i++) {
        axis.size[i] = sizes[i];
        axis.stride[i] = strides[i];
    }
    axis.group_logical = from.getGroupLogical();
    axis.group_padded = from.getGroupPadded();
    return axis;
}

void get_parts(wire::BindingRecord::Reader record, Arena *keep, Packing *out)
{
    out->rows = record.getPackedRows();
    out->cols = record.getPackedCols();
    auto parts = record.getParts();
    out->parts.len = parts.size();
    out->parts.at = take<PackPart>(keep, parts.size());
    for (unsigned i = 0; i < parts.size(); i++) {
        auto from = parts[i];
        PackPart *part = &out->parts.at[i];
        part->tensor = get_text(from.getTensor());
        part->col_begin = from.getColBegin();
        part->col_end = from.getColEnd();
        part->base = from.getBase();
        part->rows = get_axis(from.getRows());
        part->cols = get_axis(from.getCols());
    }
}

void get_shards(wire::Binding::Reader binding, wire::BindingRecord::Reader record,
                BindingShard *out)
{
    auto slices = binding.getSlices();
    auto shards = record.getShards();
    uint64_t file_offset = 0;
    for (unsigned i = 0; i < slices.size(); i++) {
        auto slice = slices[i];
        auto shard = shards[i];
        if (slice.getSize() > SRAM_BYTES || slice.getFileOffset() != file_offset) {
            refuse("slice %u of a binding has size %llu at file offset %llu, expected offset %llu",
                   i, (unsigned long long)slice.getSize(),
                   (unsigned long long)slice.getFileOffset(), (unsigned long long)file_offset);
        }
        file_offset += slice.getSize();
        out[i].tile.id = uint16_t(get_tile(slice.getTile()));
        out[i].address = slice.getTileAddress();
        out[i].bytes = uint32_t(slice.getSize());
        out[i].alloc_rows = shard.getAllocRows();
        out[i].alloc_cols = shard.getAllocCols();
        out[i].box =
            Region{shard.getRowBegin(), shard.getRowEnd(), shard.getColBegin(), shard.getColEnd()};
    }
}

int32_t get_extent(uint32_t value)
{
    if (value > INT32_MAX) {
        refuse("a binding's extent is %u, more than %d", value, INT32_MAX);
    }
    return int32_t(value);
}

void get_bindings(wire::Application::Reader app, Arena *keep, Package *out)
{
    const capnp::List<wire::Binding>::Reader list[BINDING_KIND_COUNT] = {
        app.getInputs(), app.getWeights(), app.getOutputs()};
    auto records = app.getBindingRecords();
    uint64_t count = 0, shard_count = 0;
    for (const auto &bindings : list) {
        count += bindings.size();
    }
    if (records.size() != count) {
        refuse("has %u binding records for %llu bindings: written by another compiler?",
               records.size(), (unsigned long long)count);
    }
    out->bindings.len = out->bindings.cap = isize(count);
    out->bindings.at = take<Binding>(keep, isize(count));
    unsigned next = 0;
    for (const auto &bindings : list) {
        for (auto binding : bindings) {
            unsigned slices = binding.getSlices().size();
            if (records[next].getShards().size() != slices) {
                refuse("binding %u has %u slices and %u shard records", next, slices,
                       records[next].getShards().size());
            }
            shard_count += slices;
            next++;
        }
    }
    if (shard_count > INT32_MAX) {
        refuse("has too many shards");
    }
    out->shards.len = out->shards.cap = isize(shard_count);
    out->shards.at = take<BindingShard>(keep, isize(shard_count));
    next = 0;
    int32_t shard = 0;
    for (int kind = 0; kind < BINDING_KIND_COUNT; kind++) {
        for (auto from : list[kind]) {
            auto record = records[next];
            Binding *to = &out->bindings.at[next++];
            if (int(record.getKind()) != kind) {
                refuse("binding record %u has kind %d, its binding %d", next - 1,
                       int(record.getKind()), kind);
            }
            auto shape = from.getShape();
            if (shape.size() != 2) {
                refuse("a binding has %u dimensions, expected 2", shape.size());
            }
            to->name = get_text(from.getName());
            to->kind = BindingKind(kind);
            to->dtype = dtype_parse(get_text(from.getDtype()));
            to->order = get_text(record.getOrder());
            to->rows = get_extent(shape[0]);
            to->cols = get_extent(shape[1]);
            get_parts(record, keep, &to->packing);
            to->shard_first = shard;
            to->shard_count = int32_t(from.getSlices().size());
            get_shards(from, record, out->shards.at + shard);
            shard += to->shard_count;
        }
    }
}

void get_debug(wire::Application::Reader app, Arena *keep, Package *out)
{
    auto symbols = app.getDebugSymbols();
    out->symbols.len = out->symbols.cap = symbols.size();
    out->symbols.at = take<DebugSymbol>(keep, symbols.size());
    for (unsigned i = 0; i < symbols.size(); i++) {
        out->symbols.at[i] = DebugSymbol{get_text(symbols[i].getName()), symbols[i].getAddress()};
    }
    auto regions = app.getDebugRegions();
    out->regions.len = out->regions.cap = regions.size();
    out->regions.at = take<DebugRegion>(keep, regions.size());
    for (unsigned i = 0; i < regions.size(); i++) {
        auto from = regions[i];
        uint32_t tile = from.getPhysicalTile();
        DebugRegion *to = &out->regions.at[i];
        to->tile.id = tile == ALL_TILES ? UINT16_MAX : uint16_t(get_tile(tile));
        to->address = from.getAddress();
        to->bytes = from.getSize();
        to->count = from.getCount();
        to->stride = from.getStride();
        to->tail_bytes = from.getTail();
        to->name = get_text(from.getName());
    }
}

void get_code_records(wire::Application::Reader app, Arena *keep, Package *out)
{
    auto files = app.getSourceFiles();
    out->source_files.len = out->source_files.cap = files.size();
    out->source_files.at = take<Str>(keep, files.size());
    for (unsigned i = 0; i < files.size(); i++) {
        out->source_files.at[i] = get_text(files[i]);
    }
    auto lines = app.getDebugLines();
    out->lines.len = out->lines.cap = lines.size();
    out->lines.at = take<DebugLine>(keep, lines.size());
    for (unsigned i = 0; i < lines.size(); i++) {
        out->lines.at[i] = DebugLine{lines[i].getAddress(), lines[i].getFile(), lines[i].getLine()};
    }
    auto uses = app.getCallUses();
    isize count = 0;
    for (auto from : uses) {
        count += from.getBuffers().size();
    }
    if (count > INT32_MAX) {
        refuse("has too many buffers of calls");
    }
    out->buffer_uses.len = out->buffer_uses.cap = count;
    out->buffer_uses.at = take<BufferUse>(keep, count);
    out->call_uses.len = out->call_uses.cap = uses.size();
    out->call_uses.at = take<CallUses>(keep, uses.size());
    int32_t next = 0;
    for (unsigned i = 0; i < uses.size(); i++) {
        auto buffers = uses[i].getBuffers();
        out->call_uses.at[i] = CallUses{next, int32_t(buffers.size())};
        for (auto use : buffers) {
            out->buffer_uses.at[next++] = BufferUse{get_text(use.getRegion()), use.getIsWritten()};
        }
    }
    auto calls = app.getCalls();
    out->calls.len = out->calls.cap = calls.size();
    out->calls.at = take<CallRecord>(keep, calls.size());
    for (unsigned i = 0; i < calls.size(); i++) {
        out->calls.at[i] = CallRecord{calls[i].getReturnAddress(),
                                      PhysTile{uint16_t(get_tile(calls[i].getPhysicalTile()))},
                                      calls[i].getUses()};
    }
}

int64_t get_bytes(uint64_t value)
{
    if (value > SRAM_BYTES) {
        refuse("the memory summary says %llu bytes a tile, more than the SRAM",
               (unsigned long long)value);
    }
    return int64_t(value);
}

/* Symbols that the file does not name keep our value; check.c looks at the values. */
void get_isa_flags(wire::Application::Reader app, Arena *keep, Package *out)
{
    IsaFlags *flags = take<IsaFlags>(keep, 1);
    *flags = isa_flags_default();
    bool is_named[FLAG_ID_COUNT] = {};
    for (auto from : app.getIsaFlags()) {
        Str name = get_text(from.getName());
        int id = flag_find(name);
        if (id < 0) {
            refuse("isa flag \"%.*s\" is unknown in this version",
                   int(name.len < 100 ? name.len : 100), name.at);
        }
        if (is_named[id]) {
            refuse("isa flag %.*s has two values", STR_ARG(name));
        }
        is_named[id] = true;
        flags->value[id] = from.getValue();
        flags->is_given[id] = from.getIsGiven() && !flag_symbol(FlagId(id))->is_documented;
    }
    flags->source = get_text(app.getIsaFlagsSource());
    if (app.getIsaFlagsVerified() != isa_flags_verified(flags)) {
        refuse("isa flags are said to be %s, their values are not",
               app.getIsaFlagsVerified() ? "verified" : "unverified");
    }
    out->isa_flags = flags;
}

void get_extensions(wire::Application::Reader app, Arena *keep, Package *out)
{
    get_isa_flags(app, keep, out);
    auto phases = app.getPhases();
    out->phases.len = out->phases.cap = phases.size();
    out->phases.at = take<PhaseRecord>(keep, phases.size());
    for (unsigned i = 0; i < phases.size(); i++) {
        auto from = phases[i];
        out->phases.at[i] =
            PhaseRecord{get_text(from.getName()), from.getRepeats(),       from.getTransfers(),
                        from.getWords(),          from.getHorizonEvents(), from.getRowBytesMax()};
    }
    out->model = get_text(app.getModel());
    out->graph_digest = get_text(app.getGraphDigest());
    out->tiles_used = app.getTilesUsed() <= CHIP_TILES ? int32_t(app.getTilesUsed()) : -1;
    out->tile_bytes_min = get_bytes(app.getTileBytesMin());
    out->tile_bytes_median = get_bytes(app.getTileBytesMedian());
    out->tile_bytes_max = get_bytes(app.getTileBytesMax());
}

void get_application(wire::Application::Reader app, Arena *keep, Package *out)
{
    if (app.getSchemaVersion() != SCHEMA_VERSION) {
        refuse("has schema version %u, expected %u", app.getSchemaVersion(), SCHEMA_VERSION);
    }
    if (!str_equal(get_text(app.getTarget()), str_of("ipu21"))) {
        refuse("is for another target, expected \"ipu21\"");
    }
    if (app.getTileMemoryBase() != SRAM_BASE || app.getTileMemorySize() != SRAM_BYTES) {
        refuse("is for tiles with %u bytes of memory at 0x%x, expected %d at 0x%x",
               app.getTileMemorySize(), app.getTileMemoryBase(), SRAM_BYTES, SRAM_BASE);
    }
    out->compiler_version = get_text(app.getCompilerVersion());
    get_tiles(app, keep, out);
    get_bindings(app, keep, out);
    get_debug(app, keep, out);
    get_code_records(app, keep, out);
    get_extensions(app, keep, out);
}

/* Runs `body` and turns whatever it throws into an Error. */
template <typename Body> bool guarded(const char *where, Error *err, Body body)
{
    try {
        body();
        return true;
    } catch (const Refusal &refusal) {
        return error_set(err, ERROR_INPUT, where, "%s", refusal.text);
    } catch (const kj::Exception &exception) {
        /* "expected CONDITION; SENTENCE": the condition is of use to the library's authors only. */
        const char *text = exception.getDescription().cStr(), *sentence = strrchr(text, ';');
        return error_set(err, ERROR_INPUT, where, "is no valid package: %s",
                         sentence != nullptr && sentence[1] == ' ' ? sentence + 2 : text);
    } catch (const std::exception &exception) {
        return error_set(err, ERROR_INPUT, where, "is no valid package: %s", exception.what());
    } catch (...) {
        return error_set(err, ERROR_INPUT, where, "is no valid package");
    }
}

/* `bytes` are 8-byte aligned and live as long as the package. */
bool parse(Str bytes, const char *where, Arena *keep, Arena scratch, Package *out, Error *err)
{
    *out = Package{};
    if (bytes.len == 0 || bytes.len % 8 != 0) {
        return error_set(err, ERROR_INPUT, where,
                         "is no package or was cut off: %td bytes, expected a multiple of 8",
                         bytes.len);
    }
    bool ok = guarded(where, err, [&]() {
        const void *at = bytes.at;
        capnp::ReaderOptions options;
        options.traversalLimitInWords = 8 * uint64_t(bytes.len / 8) + 1024;
        options.nestingLimit = NESTING_MAX;
        capnp::FlatArrayMessageReader message(
            kj::ArrayPtr<const capnp::word>(static_cast<const capnp::word *>(at),
                                            size_t(bytes.len / 8)),
            options);
        get_application(message.getRoot<wire::Application>(), keep, out);
    });
    if (!ok) {
        return false;
    }
    if (!package_check(out, scratch, err)) {
        return error_context(err, "%s", where);
    }
    return true;
}

} // namespace

extern "C" bool package_write(const Package *package, const char *path, Arena scratch, Error *err)
{
    if (!package_check(package, scratch, err)) {
        return error_context(err, "%s", path);
    }
    FileOut out;
    if (!file_begin(&out, path, err)) {
        return false;
    }
    bool ok = guarded(path, err, [&]() {
        capnp::MallocMessageBuilder message(unsigned(estimate_words(package)));
        put_application(message.initRoot<wire::Application>(), package);
        FileStream stream(&out, err);
        capnp::writeMessage(stream, message);
    });
    if (!ok) {
        file_abandon(&out);
        return false;
    }
    return file_commit(&out, err);
}

extern "C" bool package_parse(Str bytes, Arena *keep, Arena scratch, Package *out, Error *err)
{
    if (bytes.len > keep->end - keep->at - 64) {
        return error_set(err, ERROR_INPUT, "package", "has %td bytes, too many for memory",
                         bytes.len);
    }
    char *copy = static_cast<char *>(arena_alloc(keep, bytes.len, 8));
    if (bytes.len > 0) {
        std::memcpy(copy, bytes.at, size_t(bytes.len));
    }
    return parse(Str{copy, bytes.len}, "package", keep, scratch, out, err);
}

extern "C" bool package_read(const char *path, Arena *keep, Arena scratch, Package *out, Error *err)
{
    Str bytes;
    isize room = keep->end - keep->at - 64;
    return file_read(path, room < FILE_BYTES_MAX ? room : FILE_BYTES_MAX, keep, &bytes, err) &&
           parse(bytes, path, keep, scratch, out, err);
}
