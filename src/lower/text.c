/* Text form of Work: one buffer, call, transfer or step a line (style.md 8). */
#include "lower/expand.h"

Str buffer_role_name(BufferRole role)
{
    static const char *const names[] = {"temporary", "input", "output", "parameter", "carried"};
    return str_of(names[role]);
}

static void print_buffer(Writer *writer, const Work *w, isize i)
{
    const Buffer *b = &w->buffers.at[i];
    Str name = w->plan->values.at[b->value].name, role = buffer_role_name(b->role);
    write_fmt(writer,
              "buffer %lld tile=%u value=%.*s shard=%d role=%.*s bytes=%u tail_bytes=%u align=%u%s "
              "first=%d last=%d",
              (long long)i, b->tile.id, STR_ARG(name), b->shard, STR_ARG(role), b->bytes,
              b->tail_bytes, b->align, b->is_interleaved ? " interleaved" : "", b->first, b->last);
    if (b->iterations > 1)
        write_fmt(writer, " iterations=%d", b->iterations);
    write_str(writer, S("\n"));
}

static void print_call(Writer *writer, const Work *w, const WorkCall *call)
{
    write_fmt(writer, "  call tile=%u kernel=%.*s cycles=%lld", call->tile.id,
              STR_ARG(kernel_of((KernelId)call->kernel)->name), (long long)call->estimated_cycles);
    for (int32_t a = call->arg_first; a < call->arg_first + call->arg_count; a++) {
        KernelArg arg = w->args.at[a];
        if (arg.buffer)
            write_fmt(writer, " b%d+%u", arg.buffer, arg.value);
        else
            write_fmt(writer, " 0x%x", arg.value);
    }
    write_str(writer, S("\n"));
}

static void print_transfer(Writer *writer, const Work *w, const Transfer *t)
{
    write_fmt(writer, "  transfer tile=%u from=b%d+%u words=%u to=", t->tile.id, t->buffer,
              t->offset, t->words);
    for (int32_t r = t->receiver_first; r < t->receiver_first + t->receiver_count; r++)
        write_fmt(writer, "%s%u:b%d+%u", r > t->receiver_first ? "," : "",
                  w->receivers.at[r].tile.id, w->receivers.at[r].buffer, w->receivers.at[r].offset);
    write_str(writer, S("\n"));
}

void work_print(Writer *writer, const Work *work)
{
    write_fmt(writer, "work tiles=%d support_bytes=%u descriptor_bytes_max=%u\n", work->tiles,
              work->support_bytes, work->descriptor_bytes_max);
    for (isize i = 1; i < work->buffers.len; i++)
        print_buffer(writer, work, i);
    for (isize i = 0; i < work->separations.len; i++)
        write_fmt(writer, "separate b%d b%d\n", work->separations.at[i].buffer_a,
                  work->separations.at[i].buffer_b);
    for (isize s = 0; s < work->steps.len; s++) {
        const WorkStep *step = &work->steps.at[s];
        const NameTable *names = &work->plan->names;
        Str operation = name_of(names, step->provenance.operation),
            reason = name_of(names, step->provenance.reason);
        static const char *const kinds[] = {"calls", "phase", "loop", "end"};
        write_fmt(writer, "step %lld %s operation=%.*s reason=%.*s", (long long)s,
                  kinds[step->kind], STR_ARG(operation), STR_ARG(reason));
        if (step->kind == WORK_LOOP_BEGIN)
            write_fmt(writer, " count=%d", step->repeats);
        write_str(writer, S("\n"));
        if (step->kind == WORK_CALLS)
            for (isize i = step->first; i < step->first + step->count; i++)
                print_call(writer, work, &work->calls.at[i]);
        if (step->kind == WORK_PHASE)
            for (isize i = step->first; i < step->first + step->count; i++)
                print_transfer(writer, work, &work->transfers.at[i]);
    }
}
