/* Assembles the Package: one support image and one argument table per used tile, one shared non-participant image for the rest
 * (decisions.md A4), bindings with packing records (A1), phase table and symbols. */
#include "emit/program.h"
#include "layout/layout.h"

enum { KERNELS_AT = SRAM_IMAGE_BASE + 0x10, LAUNCH_WORDS = 4 };

static uint32_t round8(uint32_t v)
{
    return (v + 7) & ~7u;
}

uint32_t emit_fixed_bytes(const KernelLibrary *library)
{
    return KERNELS_AT - SRAM_BASE + round8(library->code_bytes) + FETCH_AHEAD_BYTES;
}

/* First call of every tile in every calls step, as two tables [tile][step]. */
typedef struct CallIndex {
    int32_t *first, *end; /* [tiles][steps] */
} CallIndex;

static CallIndex index_calls(const Work *work, Arena *arena)
{
    isize steps = work->steps.len;
    CallIndex index = {arena_array(arena, int32_t, work->tiles * steps),
                       arena_array(arena, int32_t, work->tiles * steps)};
    for (int32_t s = 0; s < steps; s++) {
        const WorkStep *step = &work->steps.at[s];
        if (step->kind != WORK_CALLS)
            continue;
        for (int32_t c = step->first; c < step->first + step->count; c++) {
            isize at = work->calls.at[c].tile.id * steps + s;
            if (index.end[at] == 0)
                index.first[at] = c;
            index.end[at] = c + 1;
        }
    }
    return index;
}

uint32_t emit_program_bytes_max(const Work *work, Arena scratch)
{
    uint32_t *words = arena_array(&scratch, uint32_t, CHIP_TILES);
    uint32_t common = 32, most = 0;
    for (isize s = 0; s < work->steps.len; s++)
        common += 5;
    for (isize c = 0; c < work->calls.len; c++)
        words[work->calls.at[c].tile.id] += 2 + 3 * (uint32_t)work->calls.at[c].arg_count;
    for (int t = 0; t < CHIP_TILES; t++)
        most = words[t] > most ? words[t] : most;
    return (most + common) * 4;
}

typedef struct EmitJob {
    const Work *work;
    const Placement *placement;
    const Schedule *schedule;
    const EmitInfo *info;
    const uint8_t *kernel_bytes;
    uint32_t kernel_len;
    SupportMap map; /* kernels and entries; rows and program differ per tile */
    CallIndex calls;
    int32_t phases;
    int32_t *row_of; /* [tile][phase]: index into schedule->rows + 1, 0 none */
    uint32_t *
        placed; /* per word of the schedule: address of the row that begins there, 0 before it has one */
    Arena *arenas;   /* per worker */
    uint8_t **image; /* per logical tile */
    uint32_t *image_bytes;
    uint32_t *call_return; /* per call of Work */
    uint8_t **table;
    uint32_t *table_bytes;
} EmitJob;

static void emit_tile(void *context, isize index, int worker)
{
    EmitJob *job = context;
    Arena *arena = &job->arenas[worker];
    const Work *work = job->work;
    Tile tile = {(uint16_t)index};
    SupportMap map = job->map;
    RowWordVec rows = {0}, words = {0}, tables = {0};
    map.rows = round8(map.kernels + job->kernel_len);
    uint32_t *row_address = arena_array(arena, uint32_t, job->phases + 1);
    const int32_t *row_of = &job->row_of[index * job->phases];
    for (int32_t p = 0; p < job->phases; p++) {
        if (row_of[p] == 0)
            continue;
        const Row *r = &job->schedule->rows.at[row_of[p] - 1];
        uint32_t *placed =
            &job->placed[r->word_first]; /* words may be those of an earlier phase's row */
        row_address[p] = *placed;
        if (*placed != 0)
            continue;
        *placed = row_address[p] = map.rows + (uint32_t)rows.len * 4;
        for (int32_t i = 0; i < r->word_count; i++)
            *vec_push(&rows, arena) = job->schedule->words.at[r->word_first + i];
        if (rows.len % 2 != 0)
            *vec_push(&rows, arena) = isa_word(INSN_setzi_mmmn_zi, 14, 0, 0, 0);
    }
    map.program = map.rows + (uint32_t)rows.len * 4;
    isize steps = work->steps.len;
    TileWork tile_work = {tile,
                          true,
                          &job->calls.first[index * steps],
                          &job->calls.end[index * steps],
                          row_address,
                          job->call_return};
    program_build(work, job->placement, &map, &tile_work, &words, &tables, arena);

    uint32_t end = map.program + (uint32_t)words.len * 4;
    uint8_t *image = arena_alloc(arena, end - SRAM_IMAGE_BASE, 16);
    uint32_t launch[LAUNCH_WORDS] = {isa_word(INSN_setzi_mmmn_zi, 0, map.program, 0, 0),
                                     isa_word(INSN_br_mmmn, 0, 0, 0, 0), 0, 0};
    memcpy(image, launch, 8);
    memcpy(image + (map.kernels - SRAM_IMAGE_BASE), job->kernel_bytes, job->kernel_len);
    if (rows.len > 0)
        memcpy(image + (map.rows - SRAM_IMAGE_BASE), rows.at, (size_t)rows.len * 4);
    memcpy(image + (map.program - SRAM_IMAGE_BASE), words.at, (size_t)words.len * 4);
    job->image[index] = image;
    job->image_bytes[index] = end - SRAM_IMAGE_BASE;
    job->table[index] = (uint8_t *)tables.at;
    job->table_bytes[index] = (uint32_t)tables.len * 4;
}

/* Launch branch and program of a tile that takes part in nothing. */
static Segment idle_segment(const EmitJob *job, Arena *keep)
{
    SupportMap map = job->map;
    map.program = KERNELS_AT;
    RowWordVec words = {0}, tables = {0};
    TileWork tile = {.is_used = false};
    program_build(job->work, job->placement, &map, &tile, &words, &tables, keep);
    uint32_t bytes = KERNELS_AT - SRAM_IMAGE_BASE + (uint32_t)words.len * 4;
    uint8_t *image = arena_alloc(keep, bytes, 16);
    uint32_t launch[2] = {isa_word(INSN_setzi_mmmn_zi, 0, map.program, 0, 0),
                          isa_word(INSN_br_mmmn, 0, 0, 0, 0)};
    memcpy(image, launch, sizeof launch);
    memcpy(image + (KERNELS_AT - SRAM_IMAGE_BASE), words.at, (size_t)words.len * 4);
    return (Segment){SRAM_IMAGE_BASE, bytes, image, bytes, SEGMENT_READ | SEGMENT_EXECUTE};
}

static bool add_images(EmitJob *job, Package *out, Arena *keep, Error *err)
{
    const Work *work = job->work;
    Segment idle = idle_segment(job, keep);
    for (int32_t p = 0; p < CHIP_TILES; p++) {
        PhysTile phys = {(uint16_t)p};
        Tile tile = tile_of(phys);
        int32_t first = (int32_t)out->segments.len;
        if (tile.id >= work->tiles) {
            *vec_push(&out->segments, keep) = idle;
        } else {
            uint32_t bytes = job->image_bytes[tile.id],
                     limit =
                         work->support_bytes - (SRAM_IMAGE_BASE - SRAM_BASE) - FETCH_AHEAD_BYTES;
            if (bytes > limit)
                return error_set(err, ERROR_NO, NULL,
                                 "does not fit: kernels, rows and program of tile %u need %u "
                                 "bytes, the support grant is over by %u",
                                 tile.id, bytes, bytes - limit);
            *vec_push(&out->segments, keep) = (Segment){SRAM_IMAGE_BASE, bytes, job->image[tile.id],
                                                        bytes, SEGMENT_READ | SEGMENT_EXECUTE};
            ASSERT(job->table_bytes[tile.id] <= work->descriptor_bytes_max);
            if (job->table_bytes[tile.id] > 0)
                *vec_push(&out->segments, keep) = (Segment){
                    job->placement->descriptor[tile.id], job->table_bytes[tile.id],
                    job->table[tile.id], job->table_bytes[tile.id], SEGMENT_READ | SEGMENT_WRITE};
        }
        *vec_push(&out->tiles, keep) =
            (TileImage){phys, SRAM_IMAGE_BASE, first, (int32_t)out->segments.len - first};
    }
    return true;
}

static void add_binding(const EmitJob *job, int32_t v, int32_t iteration, BindingKind kind,
                        Package *out, Arena *keep)
{
    const PlanValue *value = &job->work->plan->values.at[v];
    const Layout *layout = &value->layout;
    Binding binding = {.name = value->iterations > 0
                                   ? str_format(keep, "%.*s[%d]", STR_ARG(value->name), iteration)
                                   : value->name,
                       .kind = kind,
                       .dtype = layout->dtype,
                       .order = order_name(layout->order),
                       .rows = layout->rows,
                       .cols = layout->cols,
                       .shard_first = (int32_t)out->shards.len,
                       .shard_count = (int32_t)layout->shards.len};
    if (kind != BINDING_OUTPUT)
        binding.packing = value->packings[iteration];
    for (isize s = 0; s < layout->shards.len; s++) {
        const Shard *shard = &layout->shards.at[s];
        int32_t buffer = job->work->buffer_of[job->work->value_first[v] + s];
        *vec_push(&out->shards, keep) = (BindingShard){
            .tile = phys_of(shard->tile),
            .address = job->placement->address[buffer] +
                       (uint32_t)iteration * job->placement->stride[buffer],
            .bytes = (uint32_t)shard_bytes(layout, shard),
            .alloc_rows = shard->alloc_rows,
            .alloc_cols = shard->alloc_cols,
            .box = shard->box,
        };
    }
    *vec_push(&out->bindings, keep) = binding;
}

static void add_bindings(const EmitJob *job, Package *out, Arena *keep)
{
    const Plan *plan = job->work->plan;
    for (int kind = 0; kind < BINDING_KIND_COUNT; kind++)
        for (int32_t v = 1; v < plan->values.len; v++) {
            const PlanValue *value = &plan->values.at[v];
            if (kind == BINDING_INPUT && value->role == PLAN_INPUT)
                add_binding(job, v, 0, BINDING_INPUT, out, keep);
            if (kind == BINDING_WEIGHT && value->role == PLAN_PARAMETER)
                for (int32_t i = 0; i < max_i64(1, value->iterations); i++)
                    add_binding(job, v, i, BINDING_WEIGHT, out, keep);
            if (kind == BINDING_OUTPUT && value->is_output)
                add_binding(job, v, 0, BINDING_OUTPUT, out, keep);
        }
}

static void add_phases(const EmitJob *job, Package *out, Arena *keep)
{
    const Work *work = job->work;
    int32_t phase = 0;
    for (isize s = 0; s < work->steps.len; s++) {
        const WorkStep *step = &work->steps.at[s];
        if (step->kind != WORK_PHASE)
            continue;
        const NameTable *names = &work->plan->names;
        Str operation = name_of(names, step->provenance.operation),
            reason = name_of(names, step->provenance.reason);
        PhaseRecord record = {
            .name = str_format(keep, "%.*s: %.*s", STR_ARG(operation), STR_ARG(reason)),
            .repeats = (uint32_t)step->repeats,
            .transfers = (uint32_t)step->count,
            .horizon = (uint32_t)job->schedule->horizon[phase]};
        for (int32_t t = step->first; t < step->first + step->count; t++)
            record.words += work->transfers.at[t].words;
        *vec_push(&out->phases, keep) = record;
        phase++;
    }
    for (isize r = 0; r < job->schedule->rows.len; r++) {
        const Row *row = &job->schedule->rows.at[r];
        PhaseRecord *record = &out->phases.at[row->phase];
        record->row_bytes_max = (uint32_t)max_i64(record->row_bytes_max, row->word_count * 4);
    }
}

/* Index of a source file among Package.source_files, which gets it. Texts and their includes are few. */
static uint16_t source_file(Package *out, Str file, Arena *keep)
{
    isize i = 0;
    while (i < out->source_files.len && !str_equal(out->source_files.at[i], file))
        i++;
    if (i == out->source_files.len)
        *vec_push(&out->source_files, keep) = file;
    return (uint16_t)i;
}

/* Source lines of the kernels, from one section to the next; behind them no source is known. */
static void add_lines(const KernelLibrary *library, const Resolved *resolved, Package *out,
                      Arena *keep)
{
    int section = 0;
    for (int o = 0; o < library->object_count; o++) {
        const Object *object = &library->objects[o];
        for (isize s = 0; s < object->sections.len; s++, section++) {
            const LineMarkVec *marks = &object->sections.at[s].lines;
            for (isize i = 0; i < marks->len; i++) {
                uint32_t address = resolved->section_address[section] + marks->at[i].offset;
                bool is_again =
                    out->lines.len > 0 && out->lines.at[out->lines.len - 1].address == address;
                DebugLine *line =
                    is_again ? &out->lines.at[out->lines.len - 1] : vec_push(&out->lines, keep);
                *line = (DebugLine){address, source_file(out, marks->at[i].file, keep),
                                    (uint16_t)marks->at[i].line};
            }
        }
    }
    *vec_push(&out->lines, keep) = (DebugLine){KERNELS_AT + round8((uint32_t)resolved->len), 0, 0};
}

static const Str argument_tables = {"argument tables", sizeof "argument tables" - 1};

/* What a call may access: twice the value of each operand, plus one when it is written. */
typedef struct UseList {
    int32_t count, use[KERNEL_ARGS_MAX];
} UseList;

static UseList uses_of(const Work *work, const WorkCall *call)
{
    UseList list = {0};
    for (int32_t i = 0; i < call->arg_count; i++) {
        int operand = kernel_operand_of((KernelId)call->kernel, i);
        if (operand < 0)
            continue;
        const KernelOperandSpec *spec = &kernel_of((KernelId)call->kernel)->operand[operand];
        const Buffer *buffer = &work->buffers.at[work->args.at[call->arg_first + i].buffer];
        list.use[list.count++] = 2 * buffer->value + spec->is_written;
    }
    return list;
}

static void add_uses(const Work *work, const UseList *list, Package *out, Arena *keep)
{
    *vec_push(&out->call_uses, keep) = (CallUses){(int32_t)out->buffer_uses.len, list->count + 1};
    for (int32_t i = 0; i < list->count; i++)
        *vec_push(&out->buffer_uses, keep) =
            (BufferUse){work->plan->values.at[list->use[i] / 2].name, list->use[i] % 2 != 0};
    *vec_push(&out->buffer_uses, keep) = (BufferUse){argument_tables, false};
}

/* Calls by tile and return address; calls that use the same values share their list. */
static void add_calls(const EmitJob *job, Package *out, Arena *keep, Arena scratch)
{
    const Work *work = job->work;
    StrMap lists = {0};
    SortKey *keys = arena_array(&scratch, SortKey, work->calls.len);
    for (isize c = 0; c < work->calls.len; c++)
        keys[c] = (SortKey){
            (uint64_t)phys_of(work->calls.at[c].tile).id << 32 | job->call_return[c], (uint32_t)c};
    sort_keys(keys, work->calls.len, scratch);
    for (isize i = 0; i < work->calls.len; i++) {
        const WorkCall *call = &work->calls.at[keys[i].payload];
        UseList list = uses_of(work, call);
        Str key = {(const char *)list.use, list.count * (isize)sizeof list.use[0]};
        const uint32_t *known = str_map_get(&lists, key);
        uint32_t number = known != NULL ? *known : (uint32_t)out->call_uses.len;
        if (known == NULL) {
            add_uses(work, &list, out, keep);
            *str_map_put(&lists, str_copy(key, &scratch), &scratch) = number;
        }
        ASSERT(number <= UINT16_MAX);
        *vec_push(&out->calls, keep) =
            (CallRecord){job->call_return[keys[i].payload], phys_of(call->tile), (uint16_t)number};
    }
}

/* Where every buffer lies, for fault messages and inspect (decisions.md A2: buffer bounds). */
static void add_regions(const EmitJob *job, Package *out, Arena *keep)
{
    const Work *work = job->work;
    for (isize b = 1; b < work->buffers.len; b++) {
        const Buffer *buffer = &work->buffers.at[b];
        *vec_push(&out->regions, keep) =
            (DebugRegion){.tile = phys_of(buffer->tile),
                          .address = job->placement->address[b],
                          .bytes = buffer->bytes,
                          .count = (uint32_t)buffer->iterations,
                          .stride = buffer->iterations > 1 ? job->placement->stride[b] : 0,
                          .tail_bytes = buffer->tail_bytes,
                          .name = work->plan->values.at[buffer->value].name};
    }
    for (int32_t t = 0; t < work->tiles; t++) {
        if (job->table_bytes[t] > 0)
            *vec_push(&out->regions, keep) = (DebugRegion){.tile = phys_of((Tile){(uint16_t)t}),
                                                           .address = job->placement->descriptor[t],
                                                           .bytes = job->table_bytes[t],
                                                           .count = 1,
                                                           .name = argument_tables};
    }
}

static int by_value(const void *a, const void *b, const void *context)
{
    (void)context;
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static void add_memory_summary(const EmitJob *job, Package *out, Arena scratch)
{
    int32_t tiles = job->work->tiles;
    int64_t *bytes = arena_array(&scratch, int64_t, tiles);
    for (int32_t t = 0; t < tiles; t++)
        bytes[t] = job->placement->used_bytes[t] + job->image_bytes[t];
    sort_stable(bytes, tiles, sizeof *bytes, by_value, NULL, scratch);
    out->tiles_used = tiles;
    out->tile_bytes_min = bytes[0];
    out->tile_bytes_median = bytes[tiles / 2];
    out->tile_bytes_max = bytes[tiles - 1];
}

bool emit_package(const Work *work, const Placement *placement, const Schedule *schedule,
                  const KernelLibrary *library, const EmitInfo *info, Arena *keep, Arena scratch,
                  Package *out, Error *err)
{
    *out = (Package){.compiler_version = info->compiler_version,
                     .model = info->model,
                     .isa_flags = library->flags,
                     .graph_digest = info->digest};
    EmitJob job = {.work = work, .placement = placement, .schedule = schedule};
    Resolved resolved;
    if (!object_resolve(library->objects, library->object_count, KERNELS_AT, keep, scratch,
                        &resolved, err))
        return false;
    job.kernel_bytes = resolved.at;
    job.kernel_len = (uint32_t)resolved.len;
    job.map.kernels = KERNELS_AT;
    for (int k = 1; k < KERNEL_COUNT; k++) {
        Str name = kernel_of((KernelId)k)->name;
        bool found = object_find(library->objects, library->object_count, &resolved, name,
                                 &job.map.entry_of[k]);
        ASSERT(found); /* library_load */
        *vec_push(&out->symbols, keep) = (DebugSymbol){name, job.map.entry_of[k]};
    }
    *vec_push(&out->symbols, keep) =
        (DebugSymbol){S("rows_and_program"), KERNELS_AT + round8(job.kernel_len)};
    for (isize s = 0; s < work->steps.len; s++)
        job.phases += work->steps.at[s].kind == WORK_PHASE;
    job.row_of = arena_array(&scratch, int32_t, (isize)work->tiles * (job.phases + 1));
    for (isize r = 0; r < schedule->rows.len; r++) {
        const Row *row = &schedule->rows.at[r];
        job.row_of[(isize)tile_of(row->tile).id * job.phases + row->phase] = (int32_t)r + 1;
    }
    job.calls = index_calls(work, &scratch);
    job.image = arena_array(keep, uint8_t *, work->tiles);
    job.image_bytes = arena_array(keep, uint32_t, work->tiles);
    job.call_return = arena_array(keep, uint32_t, work->calls.len);
    job.table = arena_array(keep, uint8_t *, work->tiles);
    job.table_bytes = arena_array(keep, uint32_t, work->tiles);
    int threads = thread_count(info->threads);
    job.placed = arena_array(&scratch, uint32_t, job.schedule->words.len);
    job.arenas = arena_array(&scratch, Arena, threads);
    isize share = (keep->end - keep->at) / 2 / threads;
    for (int i = 0; i < threads; i++)
        job.arenas[i] = arena_split(keep, share);
    parallel_for(threads, work->tiles, 16, emit_tile, &job);
    if (!add_images(&job, out, keep, err))
        return false;
    add_bindings(&job, out, keep);
    add_phases(&job, out, keep);
    add_regions(&job, out, keep);
    add_lines(library, &resolved, out, keep);
    add_calls(&job, out, keep, scratch);
    add_memory_summary(&job, out, scratch);
    return true;
}

void emit_print_code(Writer *writer, const Package *package, PhysTile tile)
{
    const TileImage *image = &package->tiles.at[tile.id];
    for (int32_t s = image->segment_first; s < image->segment_first + image->segment_count; s++) {
        const Segment *segment = &package->segments.at[s];
        write_fmt(writer, "segment tile=%u address=0x%x bytes=%u flags=%u\n", tile.id,
                  segment->address, segment->bytes, segment->flags);
        if (segment->flags & SEGMENT_EXECUTE)
            asm_disassemble(writer, segment->at, segment->bytes, segment->address,
                            CONTEXT_SUPERVISOR, false, package->isa_flags);
    }
}
