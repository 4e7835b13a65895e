/* Invariants of Work (lower.h), written from the record, not from the expansion. */
#include "lower/lower.h"

static bool bad(Error *err, const char *kind, isize index, const char *what)
{
    return error_set(err, ERROR_INPUT, "work", "%s %lld: %s", kind, (long long)index, what);
}

static bool is_range(int32_t first, int32_t count, isize len)
{
    return first >= 0 && count >= 0 && first <= len - count;
}

static bool is_alive(const Buffer *b, int32_t step)
{
    return b->first <= step && step < b->last;
}

static bool check_buffers(const Work *w, Error *err)
{
    for (isize i = 1; i < w->buffers.len; i++) {
        const Buffer *b = &w->buffers.at[i];
        if (b->tile.id >= w->tiles)
            return bad(err, "buffer", i, "tile outside the budget");
        if (b->bytes == 0 || b->bytes % 8 != 0)
            return bad(err, "buffer", i, "bytes are no positive multiple of 8");
        if (b->align < 8 || (b->align & (b->align - 1)) != 0)
            return bad(err, "buffer", i, "bad alignment");
        if (b->first < 0 || b->last > w->steps.len || b->first >= b->last)
            return bad(err, "buffer", i, "bad lifetime");
        if (b->iterations < 1 || (b->iterations > 1 && b->role != BUFFER_PARAMETER))
            return bad(err, "buffer", i, "only parameters are sequences");
        if (b->role == BUFFER_PARAMETER && (b->first != 0 || b->last != w->steps.len))
            return bad(err, "buffer", i, "a parameter must live for ever (N15)");
    }
    for (isize i = 0; i < w->separations.len; i++) {
        Separation s = w->separations.at[i];
        if (s.buffer_a <= 0 || s.buffer_a >= w->buffers.len || s.buffer_b <= 0 ||
            s.buffer_b >= w->buffers.len || s.buffer_a == s.buffer_b ||
            w->buffers.at[s.buffer_a].tile.id != w->buffers.at[s.buffer_b].tile.id)
            return bad(err, "separation", i, "must join two buffers of one tile");
    }
    return true;
}

static bool check_calls(const Work *w, int32_t step, Error *err)
{
    const WorkStep *s = &w->steps.at[step];
    if (!is_range(s->first, s->count, w->calls.len))
        return bad(err, "step", step, "calls out of range");
    for (isize i = s->first; i < s->first + s->count; i++) {
        const WorkCall *call = &w->calls.at[i];
        if (call->kernel == KERNEL_none || call->kernel >= KERNEL_COUNT)
            return bad(err, "call", i, "unknown kernel");
        if (!is_range(call->arg_first, call->arg_count, w->args.len))
            return bad(err, "call", i, "arguments out of range");
        if (i > s->first && w->calls.at[i - 1].tile.id > call->tile.id)
            return bad(err, "call", i, "calls are not sorted by tile");
        for (int32_t a = call->arg_first; a < call->arg_first + call->arg_count; a++) {
            KernelArg arg = w->args.at[a];
            if (arg.buffer == 0)
                continue;
            if (arg.buffer < 0 || arg.buffer >= w->buffers.len)
                return bad(err, "call", i, "bad buffer");
            const Buffer *b = &w->buffers.at[arg.buffer];
            if (b->tile.id != call->tile.id)
                return bad(err, "call", i, "uses a buffer of another tile");
            if (arg.value >= b->bytes)
                return bad(err, "call", i, "argument outside its buffer");
            if (!is_alive(b, step))
                return bad(err, "call", i, "uses a buffer outside its lifetime");
        }
    }
    return true;
}

static bool check_transfers(const Work *w, int32_t step, Error *err)
{
    const WorkStep *s = &w->steps.at[step];
    if (!is_range(s->first, s->count, w->transfers.len))
        return bad(err, "step", step, "transfers out of range");
    for (isize i = s->first; i < s->first + s->count; i++) {
        const Transfer *t = &w->transfers.at[i];
        if (t->words < 1 || t->words > FABRIC_MESSAGE_WORDS_MAX || t->offset % 4 != 0)
            return bad(err, "transfer", i, "sub-word or oversized (N10)");
        if (t->buffer <= 0 || t->buffer >= w->buffers.len)
            return bad(err, "transfer", i, "bad buffer");
        const Buffer *from = &w->buffers.at[t->buffer];
        if (from->tile.id != t->tile.id || !is_alive(from, step) ||
            t->offset + t->words * 4 > from->bytes)
            return bad(err, "transfer", i, "bad source");
        if (t->receiver_count < 1 ||
            !is_range(t->receiver_first, t->receiver_count, w->receivers.len))
            return bad(err, "transfer", i, "no receiver");
        for (int32_t r = t->receiver_first; r < t->receiver_first + t->receiver_count; r++) {
            const Receiver *to = &w->receivers.at[r];
            if (to->buffer <= 0 || to->buffer >= w->buffers.len)
                return bad(err, "transfer", i, "bad receiver buffer");
            const Buffer *b = &w->buffers.at[to->buffer];
            if (b->tile.id != to->tile.id || !is_alive(b, step) || to->offset % 4 != 0 ||
                to->offset + t->words * 4 > b->bytes)
                return bad(err, "transfer", i, "bad receiver");
            if (to->tile.id == t->tile.id)
                return bad(err, "transfer", i, "sends to itself (X13)");
            if (r > t->receiver_first && w->receivers.at[r - 1].tile.id == to->tile.id)
                return bad(err, "transfer", i, "a receiver appears twice (X13)");
            if (b->role == BUFFER_PARAMETER || b->role == BUFFER_INPUT)
                return bad(err, "transfer", i, "writes a parameter or an input (N16)");
        }
    }
    return true;
}

/* The argument tables of a tile's calls, each on 8 bytes, fit what place sets aside for them. */
static bool check_descriptors(const Work *w, Error *err)
{
    int64_t bytes[CHIP_TILES] = {0};
    for (isize i = 0; i < w->calls.len; i++) {
        const WorkCall *call = &w->calls.at[i];
        if (call->tile.id >= w->tiles)
            return bad(err, "call", i, "tile outside the budget");
        bytes[call->tile.id] += (4 * (int64_t)call->arg_count + 7) / 8 * 8;
        if (bytes[call->tile.id] > w->descriptor_bytes_max)
            return bad(err, "call", i, "argument tables above descriptor_bytes_max");
    }
    return true;
}

bool work_check(const Work *work, Error *err)
{
    if (!check_buffers(work, err))
        return false;
    for (int32_t s = 0; s < work->steps.len; s++) {
        const WorkStep *step = &work->steps.at[s];
        if (step->kind == WORK_CALLS && !check_calls(work, s, err))
            return false;
        if (step->kind == WORK_PHASE && !check_transfers(work, s, err))
            return false;
        if (step->kind == WORK_LOOP_BEGIN &&
            (step->partner <= s || work->steps.at[step->partner].partner != s))
            return bad(err, "step", s, "loop without an end");
    }
    return check_descriptors(work, err);
}
