/* A session: one package on one machine (decisions.md A3). Weights go in once, then inputs in, outputs out, call by call.
 *
 * Packing runs in parallel over tiles: shards of one tile stay on one thread, because words of one tile share bitmap words
 * in the machine. The result does not depend on the number of threads; of several failing shards the first is reported.
 *
 * A package is only as trustworthy as its file. What package_check cannot know (names and multiples of orders, extents of
 * tensors) is checked here before anything is indexed.
 */
#include "layout/layout.h"
#include "layout/terms.h"
#include "runtime/runtime.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { TILE_CHUNK = 4, OPEN_ARENA_BYTES = 1 << 20 };

struct Session {
    const Package *package;
    Machine *machine;
    int threads;
    Cycles cycles_max;
    bool is_at_output; /* waits at the output barrier of the last call */
};

static bool check_binding(const Package *package, const Binding *binding, Error *err)
{
    Order order = order_find(binding->order);
    if (order == ORDER_COUNT) {
        return error_set(err, ERROR_INPUT, "package", "binding \"%.*s\" has unknown order \"%.*s\"",
                         STR_ARG(binding->name), STR_ARG(binding->order));
    }
    if (!dtype_is_float(binding->dtype)) {
        return error_set(err, ERROR_INPUT, "package",
                         "binding \"%.*s\" is %.*s, expected f32, f16 or bf16",
                         STR_ARG(binding->name), STR_ARG(dtype_name(binding->dtype)));
    }
    for (int32_t i = 0; i < binding->shard_count; i++) {
        const BindingShard *shard = &package->shards.at[binding->shard_first + i];
        if (shard->alloc_rows % order_row_multiple(order) != 0 ||
            shard->alloc_cols % order_col_multiple(order) != 0) {
            return error_set(err, ERROR_INPUT, "package",
                             "binding \"%.*s\": shard of %d x %d elements, order %.*s needs "
                             "multiples of %d x %d",
                             STR_ARG(binding->name), shard->alloc_rows, shard->alloc_cols,
                             STR_ARG(binding->order), order_row_multiple(order),
                             order_col_multiple(order));
        }
    }
    return true;
}

/* The machine's fault as one line. */
static bool fault_error(const Session *session, const char *what, Arena scratch, Error *err)
{
    Writer writer = writer_buffer(&scratch);
    fault_print(&writer, machine_fault(session->machine), session->package);
    Str text = str_copy(str_trim(writer_text(&writer)), &scratch);
    char *at = (char *)(uintptr_t)text.at;
    for (isize i = 0; i < text.len; i++) {
        at[i] = at[i] == '\n' ? ' ' : at[i];
    }
    return error_set(err, ERROR_FAULT, what, "%s", text.at);
}

static bool run_to_host(Session *session, const char *what, Arena scratch, Error *err)
{
    switch (machine_run(session->machine, session->cycles_max)) {
    case MACHINE_STOP_HOST:
        return true;
    case MACHINE_STOP_LIMIT:
        return error_set(err, ERROR_FAULT, what,
                         "no host barrier within %lld simulated cycles (--max-cycles)",
                         (long long)session->cycles_max);
    case MACHINE_STOP_FAULT:
        break;
    }
    return fault_error(session, what, scratch, err);
}

static bool reach_input_barrier(Session *session, Arena scratch, Error *err)
{
    if (session->is_at_output &&
        !run_to_host(session, "return to the input barrier", scratch, err)) {
        return false;
    }
    session->is_at_output = false;
    return true;
}

/* --- packing ------------------------------------------------------------------------------------------------------ */

/* What an axis adds to the last element index that a part reads. */
static int64_t axis_reach(const PackAxis *axis)
{
    int64_t reach = 0;
    for (int32_t i = 0; i < axis->rank; i++) {
        reach += max_i64(0, (axis->size[i] - 1) * axis->stride[i]);
    }
    return reach;
}

static bool check_part(const Binding *binding, const PackPart *part, int64_t elems, Error *err)
{
    return pack_part_check(part, elems, err) ||
           error_context(err, "binding \"%.*s\"", STR_ARG(binding->name));
}

typedef struct PackJob {
    Session *session;
    const Binding *binding;
    Order order;
    const float *const *tensors;
    const int32_t *shards;     /* indices, grouped by tile */
    const int32_t *tile_first; /* CHIP_TILES + 1 */
    uint8_t **buffer;          /* per worker */
    Error *error;              /* per worker: the failure with the lowest shard number */
    int32_t *error_shard;
} PackJob;

static void pack_tile(void *context, isize tile, int worker)
{
    PackJob *job = context;
    const Package *package = job->session->package;
    const Binding *binding = job->binding;
    uint8_t *buffer = job->buffer[worker];
    for (int32_t i = job->tile_first[tile]; i < job->tile_first[tile + 1]; i++) {
        const BindingShard *shard = &package->shards.at[job->shards[i]];
        int64_t packed =
            (int64_t)shard->alloc_rows * shard->alloc_cols * dtype_bytes(binding->dtype);
        memset(buffer + packed, 0, (size_t)(shard->bytes - packed));
        Error error = {0};
        if (layout_pack_from(job->order, binding->dtype, shard->alloc_rows, shard->alloc_cols,
                             shard->box, &binding->packing, job->tensors, buffer, &error)) {
            machine_write(job->session->machine, shard->tile, shard->address, buffer, shard->bytes);
        } else if (job->shards[i] < job->error_shard[worker]) {
            job->error_shard[worker] = job->shards[i];
            job->error[worker] = error;
        }
    }
}

/* Fills every shard of a binding; tensors[part] are the sources, checked before. */
static bool pack_binding(Session *session, const Binding *binding, const float *const *tensors,
                         Arena scratch, Error *err)
{
    const BindingShard *shards = session->package->shards.at + binding->shard_first;
    int32_t *first = arena_array(&scratch, int32_t, CHIP_TILES + 1);
    int32_t *next = arena_array(&scratch, int32_t, CHIP_TILES);
    int32_t *grouped = arena_array(&scratch, int32_t, binding->shard_count);
    uint32_t bytes_max = 0;
    for (int32_t i = 0; i < binding->shard_count; i++) {
        first[shards[i].tile.id + 1]++;
        bytes_max = shards[i].bytes > bytes_max ? shards[i].bytes : bytes_max;
    }
    for (int i = 0; i < CHIP_TILES; i++) {
        first[i + 1] += first[i];
        next[i] = first[i];
    }
    for (int32_t i = 0; i < binding->shard_count; i++) {
        grouped[next[shards[i].tile.id]++] = binding->shard_first + i;
    }
    PackJob job = {.session = session,
                   .binding = binding,
                   .order = order_find(binding->order),
                   .tensors = tensors,
                   .shards = grouped,
                   .tile_first = first,
                   .buffer = arena_array(&scratch, uint8_t *, session->threads),
                   .error = arena_array(&scratch, Error, session->threads),
                   .error_shard = arena_array(&scratch, int32_t, session->threads)};
    for (int i = 0; i < session->threads; i++) {
        job.buffer[i] = arena_alloc(&scratch, bytes_max, 64);
        job.error_shard[i] = INT32_MAX;
    }
    parallel_for(session->threads, CHIP_TILES, TILE_CHUNK, pack_tile, &job);
    int worst = 0;
    for (int i = 1; i < session->threads; i++) {
        worst = job.error_shard[i] < job.error_shard[worst] ? i : worst;
    }
    if (job.error_shard[worst] == INT32_MAX) {
        return true;
    }
    const Error *error = &job.error[worst];
    return error_set(err, error->code, error->where, "binding \"%.*s\": %s", STR_ARG(binding->name),
                     error->message);
}

static bool upload_binding(Session *session, const Binding *binding, const TensorSource *weights,
                           Arena scratch, Error *err)
{
    isize count = binding->packing.parts.len;
    const float **tensors = arena_array(&scratch, const float *, count);
    for (isize i = 0; i < count; i++) {
        const PackPart *part = &binding->packing.parts.at[i];
        for (isize k = 0; k < i && tensors[i] == NULL; k++) {
            if (str_equal(binding->packing.parts.at[k].tensor, part->tensor)) {
                tensors[i] = tensors[k];
            }
        }
        TensorInfo info;
        if (!weights->find(weights->context, part->tensor, &info)) {
            return error_set(err, ERROR_INPUT, NULL,
                             "checkpoint has no tensor \"%.*s\", which binding \"%.*s\" needs",
                             STR_ARG(part->tensor), STR_ARG(binding->name));
        }
        int64_t elems = shape_elems(&info.shape);
        if (!check_part(binding, part, elems, err)) {
            return false;
        }
        if (tensors[i] == NULL) {
            float *at = arena_alloc(&scratch, arena_bytes_(elems, 4), 64);
            if (!weights->read(weights->context, part->tensor, at, err)) {
                return false;
            }
            tensors[i] = at;
        }
    }
    return pack_binding(session, binding, tensors, scratch, err);
}

/* --- inputs ------------------------------------------------------------------------------------------------------- */

/* Elements of a run-time tensor that the bindings read, at least; 0: none reads it. An edge may stay unread, when the picture
 * is no whole number of patches. */
static int64_t elems_read(const Package *package, Str tensor)
{
    int64_t needed = 0;
    for (isize b = 0; b < package->bindings.len; b++) {
        const Binding *binding = &package->bindings.at[b];
        for (isize p = 0; binding->kind == BINDING_INPUT && p < binding->packing.parts.len; p++) {
            const PackPart *part = &binding->packing.parts.at[p];
            if (str_equal(part->tensor, tensor)) {
                int64_t last = part->base + axis_reach(&part->rows) + axis_reach(&part->cols);
                needed = max_i64(needed, last + 1);
            }
        }
    }
    return needed;
}

static bool check_inputs(const Package *package, const SessionInput *inputs, int input_count,
                         Error *err)
{
    for (int k = 0; k < input_count; k++) {
        int64_t needed = elems_read(package, inputs[k].name);
        if (needed == 0) {
            return error_set(err, ERROR_INPUT, NULL, "the package has no input \"%.*s\"",
                             STR_ARG(inputs[k].name));
        }
        if (needed > inputs[k].elems) {
            return error_set(
                err, ERROR_INPUT, NULL, "input \"%.*s\" has %lld elements, the package reads %lld",
                STR_ARG(inputs[k].name), (long long)inputs[k].elems, (long long)needed);
        }
    }
    return true;
}

static bool write_input(Session *session, const Binding *binding, const SessionInput *inputs,
                        int input_count, Arena scratch, Error *err)
{
    isize count = binding->packing.parts.len;
    const float **tensors = arena_array(&scratch, const float *, count);
    for (isize i = 0; i < count; i++) {
        const PackPart *part = &binding->packing.parts.at[i];
        for (int k = 0; k < input_count; k++) {
            if (str_equal(inputs[k].name, part->tensor)) {
                if (!check_part(binding, part, inputs[k].elems, err)) {
                    return false;
                }
                tensors[i] = inputs[k].at;
            }
        }
        if (tensors[i] == NULL) {
            return error_set(err, ERROR_INPUT, NULL, "input \"%.*s\" is not given",
                             STR_ARG(part->tensor));
        }
    }
    return pack_binding(session, binding, tensors, scratch, err);
}

/* --- outputs ------------------------------------------------------------------------------------------------------ */

static bool output_fault(const Binding *binding, const BindingShard *shard, int32_t r, int32_t c,
                         const char *what, Error *err)
{
    return error_set(err, ERROR_FAULT, "output",
                     "\"%.*s\": element (%d, %d) on tile %u (logical %u) is %s",
                     STR_ARG(binding->name), r, c, (unsigned)shard->tile.id,
                     (unsigned)tile_of(shard->tile).id, what);
}

/* Some word of the shard is undefined: an error only if an element of the box lies in such a word. */
static bool check_defined(const Session *session, const Binding *binding, const BindingShard *shard,
                          Error *err)
{
    Order order = order_find(binding->order);
    for (int32_t r = shard->box.row_begin; r < shard->box.row_end; r++) {
        for (int32_t c = shard->box.col_begin; c < shard->box.col_end; c++) {
            int64_t index = order_index(order, shard->alloc_rows, shard->alloc_cols,
                                        r - shard->box.row_begin, c - shard->box.col_begin);
            uint32_t offset = (uint32_t)(index * dtype_bytes(binding->dtype)) & ~3u;
            uint32_t word, poison_at;
            if (!machine_read(session->machine, shard->tile, shard->address + offset, &word, 4,
                              &poison_at)) {
                char what[64];
                (void)snprintf(what, sizeof what, "undefined (poison at 0x%x)", poison_at);
                return output_fault(binding, shard, r, c, what, err);
            }
        }
    }
    return true;
}

static bool read_output(const Session *session, const Binding *binding, float *matrix,
                        Arena scratch, Error *err)
{
    Layout layout = {.dtype = binding->dtype,
                     .order = order_find(binding->order),
                     .rows = binding->rows,
                     .cols = binding->cols};
    memset(matrix, 0, sizeof *matrix * (size_t)binding->rows * (size_t)binding->cols);
    for (int32_t i = 0; i < binding->shard_count; i++) {
        Arena temporary = scratch;
        const BindingShard *from = &session->package->shards.at[binding->shard_first + i];
        uint8_t *bytes = arena_alloc(&temporary, from->bytes, 64);
        uint32_t poison_at;
        if (!machine_read(session->machine, from->tile, from->address, bytes, from->bytes,
                          &poison_at) &&
            !check_defined(session, binding, from, err)) {
            return false;
        }
        Shard shard = {tile_of(from->tile), from->box, from->alloc_rows, from->alloc_cols};
        layout_unpack(&layout, &shard, bytes, matrix);
        for (int32_t r = from->box.row_begin; r < from->box.row_end; r++) {
            for (int32_t c = from->box.col_begin; c < from->box.col_end; c++) {
                float value = matrix[(int64_t)r * binding->cols + c];
                if (!isfinite(value)) {
                    return output_fault(binding, from, r, c, isnan(value) ? "NaN" : "infinite",
                                        err);
                }
            }
        }
    }
    return true;
}

/* --- the door ----------------------------------------------------------------------------------------------------- */

Session *session_open(const Package *package, const SessionOptions *options, Error *err)
{
    for (isize i = 0; i < package->bindings.len; i++) {
        if (!check_binding(package, &package->bindings.at[i], err)) {
            return NULL;
        }
    }
    Session *session = calloc(1, sizeof *session);
    ASSERT(session != NULL);
    session->package = package;
    session->threads = thread_count(options->threads);
    session->cycles_max = options->cycles_max > 0 ? options->cycles_max : CALL_CYCLES_MAX;
    MachineOptions machine_options = {.threads = session->threads,
                                      .phase_cycles = options->phase_cycles,
                                      .checks = options->checks,
                                      .is_unknown_assumed = options->is_unknown_assumed};
    session->machine = machine_create(&machine_options);
    Arena scratch = arena_create(OPEN_ARENA_BYTES);
    bool ok = machine_load(session->machine, package, err) &&
              run_to_host(session, "start-up", scratch, err);
    arena_destroy(&scratch);
    if (!ok) {
        session_close(session);
        return NULL;
    }
    return session;
}

bool session_upload(Session *session, const TensorSource *weights, Arena scratch, Error *err)
{
    if (!reach_input_barrier(session, scratch, err)) {
        return false;
    }
    for (isize i = 0; i < session->package->bindings.len; i++) {
        const Binding *binding = &session->package->bindings.at[i];
        if (binding->kind == BINDING_WEIGHT &&
            !upload_binding(session, binding, weights, scratch, err)) {
            return false;
        }
    }
    return true;
}

bool session_run(Session *session, const SessionInput *inputs, int input_count,
                 float *const *outputs, Arena scratch, RunResult *result, Error *err)
{
    const Package *package = session->package;
    double started = time_seconds();
    if (!check_inputs(package, inputs, input_count, err) ||
        !reach_input_barrier(session, scratch, err)) {
        return false;
    }
    for (isize i = 0; i < package->bindings.len; i++) {
        const Binding *binding = &package->bindings.at[i];
        if (binding->kind == BINDING_INPUT &&
            !write_input(session, binding, inputs, input_count, scratch, err)) {
            return false;
        }
    }
    int64_t instructions = machine_counters(session->machine).instructions;
    if (!run_to_host(session, "call", scratch, err)) {
        return false;
    }
    session->is_at_output = true;
    MachineCounters counters = machine_counters(session->machine);
    int output = 0;
    for (isize i = 0; i < package->bindings.len; i++) {
        const Binding *binding = &package->bindings.at[i];
        if (binding->kind == BINDING_OUTPUT &&
            !read_output(session, binding, outputs[output++], scratch, err)) {
            return false;
        }
    }
    *result = (RunResult){.simulated_cycles = counters.host_arrival - counters.host_release,
                          .phases = counters.phases,
                          .host_seconds = time_seconds() - started,
                          .instructions = counters.instructions - instructions};
    return true;
}

void session_set_phase_cycles(Session *session, Cycles phase_cycles)
{
    machine_set_phase_cycles(session->machine, phase_cycles);
}

const Fault *session_fault(const Session *session)
{
    return machine_fault(session->machine);
}

MachineCounters session_counters(const Session *session)
{
    return machine_counters(session->machine);
}

void session_print_assumed(Writer *writer, const Session *session)
{
    machine_print_assumed(writer, session->machine);
}

void session_close(Session *session)
{
    if (session != NULL) {
        machine_destroy(session->machine);
        free(session);
    }
}
