/* Work out of its text form (text.c), so that place, exchange and emit can be run alone from a file.
 *
 * The text names values, operations and reasons of the plan; layouts, packings and bindings stay there. Lines that begin
 * with # and empty lines are skipped. The text is outside input: every number is bounded here, the rest is work_check's.
 */
#include "lower/expand.h"
#include <stdio.h>
#include <string.h>

enum { INDEX_MAX = 1 << 28, LOOP_NONE = -1 };

typedef struct WorkParser {
    Str rest; /* of the line */
    int line;
    Work *work;
    StrMap value_of; /* name -> plan value */
    int32_t loop;    /* open loop's step, LOOP_NONE */
    bool has_header;
    Arena *keep;
    Error *err;
} WorkParser;

static bool fail(WorkParser *p, const char *expected)
{
    char where[40];
    (void)snprintf(where, sizeof where, "work: line %d", p->line);
    int shown = p->rest.len > 40 ? 40 : (int)p->rest.len;
    return error_set(p->err, ERROR_INPUT, where, "expected %s, found \"%.*s\"", expected, shown,
                     p->rest.at);
}

/* The text, then a number up to `max`. */
static bool take_number(WorkParser *p, const char *text, uint32_t max, uint32_t *out)
{
    if (!str_take(&p->rest, str_of(text))) {
        return fail(p, text);
    }
    isize len = 0;
    while (len < p->rest.len && strchr(" ,+:", p->rest.at[len]) == NULL) {
        len++;
    }
    int64_t value;
    if (!str_to_int(str_slice(p->rest, 0, len), &value) || value < 0 || value > max) {
        return fail(p, "a number in range");
    }
    p->rest = str_slice(p->rest, len, p->rest.len);
    *out = (uint32_t)value;
    return true;
}

static bool take_index(WorkParser *p, const char *text, int32_t *out)
{
    uint32_t value;
    if (!take_number(p, text, INDEX_MAX, &value)) {
        return false;
    }
    *out = (int32_t)value;
    return true;
}

static bool take_tile(WorkParser *p, const char *text, Tile *out)
{
    uint32_t value;
    if (!take_number(p, text, CHIP_TILES - 1, &value)) {
        return false;
    }
    *out = (Tile){(uint16_t)value};
    return true;
}

/* The text, then a name up to the next blank. */
static bool take_name(WorkParser *p, const char *text, Str *out)
{
    if (!str_take(&p->rest, str_of(text))) {
        return fail(p, text);
    }
    isize end = str_find(p->rest, ' ', 0);
    end = end < 0 ? p->rest.len : end;
    *out = str_slice(p->rest, 0, end);
    p->rest = str_slice(p->rest, end, p->rest.len);
    return true;
}

static bool take_end(WorkParser *p)
{
    return p->rest.len == 0 || fail(p, "the end of the line");
}

/* "bN+OFFSET" behind the text. */
static bool take_place(WorkParser *p, const char *text, int32_t *buffer, uint32_t *offset)
{
    if (!take_index(p, text, buffer) || !take_number(p, "+", SRAM_BYTES, offset)) {
        return false;
    }
    return (*buffer > 0 && *buffer < p->work->buffers.len) || fail(p, "a known buffer");
}

static bool parse_header(WorkParser *p)
{
    Work *w = p->work;
    uint32_t tiles;
    p->has_header = true;
    if (!take_number(p, "work tiles=", CHIP_TILES, &tiles) ||
        !take_number(p, " support_bytes=", SRAM_BYTES, &w->support_bytes) ||
        !take_number(p, " descriptor_bytes_max=", SRAM_BYTES, &w->descriptor_bytes_max)) {
        return false;
    }
    w->tiles = (int32_t)tiles;
    return tiles > 0 ? take_end(p) : fail(p, "at least one tile");
}

static bool parse_role(WorkParser *p, BufferRole *role)
{
    Str name;
    if (!take_name(p, " role=", &name)) {
        return false;
    }
    for (int r = BUFFER_TEMPORARY; r <= BUFFER_CARRIED; r++) {
        if (str_equal(name, buffer_role_name((BufferRole)r))) {
            *role = (BufferRole)r;
            return true;
        }
    }
    return fail(p, "a role in front of this");
}

static bool parse_buffer(WorkParser *p)
{
    Work *w = p->work;
    Buffer b = {.iterations = 1};
    int32_t index;
    Str name;
    if (!take_index(p, "buffer ", &index) || !take_tile(p, " tile=", &b.tile) ||
        !take_name(p, " value=", &name)) {
        return false;
    }
    const uint32_t *value = str_map_get(&p->value_of, name);
    if (value == NULL) {
        return fail(p, "a value of the plan in front of this");
    }
    b.value = (int32_t)*value;
    const PlanValue *plan_value = &w->plan->values.at[b.value];
    if (!take_index(p, " shard=", &b.shard)) {
        return false;
    }
    int32_t *slot = NULL;
    if (b.shard < plan_value->layout.shards.len) {
        slot = &w->buffer_of[w->value_first[b.value] + b.shard];
    }
    if (slot == NULL || *slot != 0 || index != w->buffers.len) {
        return fail(p, "buffers in order, one a shard, in front of this");
    }
    if (!parse_role(p, &b.role) || !take_number(p, " bytes=", SRAM_BYTES, &b.bytes) ||
        !take_number(p, " tail_bytes=", SRAM_BYTES, &b.tail_bytes) ||
        !take_number(p, " align=", ELEMENT_BYTES, &b.align)) {
        return false;
    }
    b.is_interleaved = str_take(&p->rest, S(" interleaved"));
    if (!take_index(p, " first=", &b.first) || !take_index(p, " last=", &b.last) ||
        (p->rest.len > 0 && !take_index(p, " iterations=", &b.iterations))) {
        return false;
    }
    if (b.iterations != max_i64(1, plan_value->iterations)) {
        return fail(p, "the iterations of the plan's value in front of this");
    }
    b.block = plan_value->iterations > 0 ? 1 : 0;
    *slot = index;
    *vec_push(&w->buffers, p->keep) = b;
    return take_end(p);
}

static bool parse_separation(WorkParser *p)
{
    Separation s;
    if (!take_index(p, "separate b", &s.buffer_a) || !take_index(p, " b", &s.buffer_b)) {
        return false;
    }
    *vec_push(&p->work->separations, p->keep) = s;
    return take_end(p);
}

/* Id of a name of the plan; 0 when the plan does not know it. */
static uint32_t name_id(const NameTable *names, Str name)
{
    uint32_t id = 0;
    for (isize i = 1; i < names->names.len && id == 0; i++) {
        id = str_equal(names->names.at[i], name) ? (uint32_t)i : 0;
    }
    return id;
}

static bool parse_step(WorkParser *p)
{
    static const char *const kinds[] = {" calls", " phase", " loop", " end"};
    Work *w = p->work;
    int32_t index, kind = 0;
    Str operation, reason;
    if (!take_index(p, "step ", &index)) {
        return false;
    }
    while (kind < 4 && !str_take(&p->rest, str_of(kinds[kind]))) {
        kind++;
    }
    if (kind == 4 || index != w->steps.len) {
        return fail(p, "steps in order, each calls, phase, loop or end");
    }
    if (!take_name(p, " operation=", &operation) || !take_name(p, " reason=", &reason)) {
        return false;
    }
    WorkStep step = {.kind = (WorkStepKind)kind,
                     .first = (int32_t)(kind == WORK_CALLS   ? w->calls.len
                                        : kind == WORK_PHASE ? w->transfers.len
                                                             : 0),
                     .provenance = {.operation = name_id(&w->plan->names, operation),
                                    .reason = name_id(&w->plan->names, reason)}};
    if (kind == WORK_LOOP_BEGIN) {
        if (!take_index(p, " count=", &step.repeats)) {
            return false;
        }
        if (step.repeats < 1 || p->loop != LOOP_NONE) {
            return fail(p, "one loop that runs at least once");
        }
        p->loop = index;
    }
    if (kind == WORK_LOOP_END) {
        if (p->loop == LOOP_NONE) {
            return fail(p, "a loop to end");
        }
        step.partner = p->loop;
        w->steps.at[p->loop].partner = index;
        p->loop = LOOP_NONE;
    }
    *vec_push(&w->steps, p->keep) = step;
    return take_end(p);
}

/* The step that a call or a transfer belongs to: the last one, if it is of the kind. */
static WorkStep *open_step(WorkParser *p, WorkStepKind kind)
{
    Work *w = p->work;
    WorkStep *step = w->steps.len > 0 ? &w->steps.at[w->steps.len - 1] : NULL;
    if (step == NULL || step->kind != kind) {
        fail(p, kind == WORK_CALLS ? "a calls step before" : "a phase step before");
        return NULL;
    }
    return step;
}

static bool parse_call(WorkParser *p)
{
    Work *w = p->work;
    WorkStep *step = open_step(p, WORK_CALLS);
    WorkCall call = {.arg_first = (int32_t)w->args.len};
    Str name;
    if (step == NULL || !take_tile(p, "  call tile=", &call.tile) ||
        !take_name(p, " kernel=", &name)) {
        return false;
    }
    call.kernel = (uint16_t)kernel_find(name);
    if (call.kernel == KERNEL_none) {
        return fail(p, "a known kernel in front of this");
    }
    uint32_t cycles = 0; /* may be absent */
    if (str_starts(p->rest, S(" cycles=")) && !take_number(p, " cycles=", UINT32_MAX, &cycles)) {
        return false;
    }
    call.estimated_cycles = cycles;
    call.provenance = step->provenance;
    while (p->rest.len > 0) {
        KernelArg arg = {0};
        bool ok = str_starts(p->rest, S(" b")) ? take_place(p, " b", &arg.buffer, &arg.value)
                                               : take_number(p, " ", UINT32_MAX, &arg.value);
        if (!ok) {
            return false;
        }
        *vec_push(&w->args, p->keep) = arg;
    }
    call.arg_count = (int32_t)w->args.len - call.arg_first;
    if (call.arg_count != kernel_of((KernelId)call.kernel)->arg_count) {
        return fail(p, "as many arguments as the kernel has");
    }
    *vec_push(&w->calls, p->keep) = call;
    step->count++;
    return true;
}

static bool parse_transfer(WorkParser *p)
{
    Work *w = p->work;
    WorkStep *step = open_step(p, WORK_PHASE);
    Transfer t = {.receiver_first = (int32_t)w->receivers.len};
    if (step == NULL || !take_tile(p, "  transfer tile=", &t.tile) ||
        !take_place(p, " from=b", &t.buffer, &t.offset) ||
        !take_number(p, " words=", FABRIC_MESSAGE_WORDS_MAX, &t.words)) {
        return false;
    }
    t.provenance = step->provenance;
    const char *before = " to=";
    do {
        Receiver to;
        if (!take_tile(p, before, &to.tile) || !take_place(p, ":b", &to.buffer, &to.offset)) {
            return false;
        }
        *vec_push(&w->receivers, p->keep) = to;
        before = ",";
    } while (p->rest.len > 0);
    t.receiver_count = (int32_t)w->receivers.len - t.receiver_first;
    *vec_push(&w->transfers, p->keep) = t;
    step->count++;
    return true;
}

static bool parse_line(WorkParser *p)
{
    if (!p->has_header) {
        return parse_header(p);
    }
    return str_starts(p->rest, S("buffer "))     ? parse_buffer(p)
           : str_starts(p->rest, S("separate ")) ? parse_separation(p)
           : str_starts(p->rest, S("step "))     ? parse_step(p)
           : str_starts(p->rest, S("  call "))   ? parse_call(p)
           : str_starts(p->rest, S("  transfer "))
               ? parse_transfer(p)
               : fail(p, "buffer, separate, step, call or transfer");
}

static bool check_complete(WorkParser *p)
{
    const Work *w = p->work;
    if (!p->has_header || w->steps.len == 0 || p->loop != LOOP_NONE) {
        return fail(p, !p->has_header ? "a work line" : "the end of the loop, and a step");
    }
    for (isize v = 1; v < w->plan->values.len; v++) {
        for (int32_t i = w->value_first[v]; i < w->value_first[v + 1]; i++) {
            if (w->buffer_of[i] == 0) {
                return error_set(p->err, ERROR_INPUT, "work", "no buffer for shard %d of %.*s",
                                 i - w->value_first[v], STR_ARG(w->plan->values.at[v].name));
            }
        }
    }
    return true;
}

bool work_parse(Str text, const Plan *plan, Arena *keep, Arena scratch, Work *out, Error *err)
{
    *out = (Work){.plan = plan};
    WorkParser p = {.work = out, .loop = LOOP_NONE, .keep = keep, .err = err};
    work_index_shards(out, keep);
    for (isize v = 1; v < plan->values.len; v++) {
        *str_map_put(&p.value_of, plan->values.at[v].name, &scratch) = (uint32_t)v;
    }
    while (text.len > 0) {
        p.rest = str_cut(&text, '\n');
        p.line++;
        if (p.rest.len > 0 && p.rest.at[0] != '#' && !parse_line(&p)) {
            return false;
        }
    }
    work_set_repeats(out);
    return check_complete(&p);
}
