/* Every cycle of a run to one cause, for each context. The gaps between two issues of the supervisor are told by the machine as end
 * of the shadow and readiness of the last source; a worker is busy from its first issue to the return of its slot, and what lies
 * between two launches depends on when the others ended. tile-timing.md 2, 3.2.
 */
#include "base/sort.h"
#include "debug/debug.h"
#include <string.h>

static const char *const cause_text[] = {
#define CAUSE(name, text) [CAUSE_##name] = text,
#include "debug/causes.def"
#undef CAUSE
};

static bool is_amp(const InsnForm *form)
{
    isize len = (isize)strlen(form->mnemonic);
    Str name = {form->mnemonic, len};
    return str_ends(name, S("amp")) || str_ends(name, S("slic"));
}

static bool is_nop(const Insn *insn)
{
    return (insn->code == INSN_setzi_mmmn_zi && insn->operand[0] == 14) ||
           (insn->code == INSN_setzi_aaan_zi && insn->operand[0] == 13);
}

static Cause main_cause(const Insn *insn)
{
    const InsnForm *form = isa_form((InsnCode)insn->code);
    Str name = str_of(form->mnemonic);
    if (is_nop(insn)) {
        return CAUSE_idle_word;
    }
    if (str_ends(name, S("putcs"))) {
        return CAUSE_coefficients;
    }
    if (str_equal(name, S("get")) || str_equal(name, S("put"))) {
        return CAUSE_csr;
    }
    if ((form->flags & INSN_SYSTEM) != 0 && form->context == CONTEXT_SUPERVISOR) {
        return CAUSE_launch;
    }
    if ((form->flags & INSN_CONTROL) != 0) {
        return CAUSE_control;
    }
    return (form->flags & (INSN_LOAD | INSN_STORE)) != 0 ? CAUSE_memory : CAUSE_integer;
}

static Cause aux_cause(const Insn *insn)
{
    const InsnForm *form = isa_form((InsnCode)insn->code);
    Str name = str_of(form->mnemonic);
    if (is_nop(insn)) {
        return CAUSE_idle_word;
    }
    if (str_equal(name, S("uget")) || str_equal(name, S("uput"))) {
        return CAUSE_csr;
    }
    return is_amp(form) ? CAUSE_amp : CAUSE_aux;
}

/* What an issued word or bundle counts as; of a bundle, the half that does more. */
static Cause cause_of(const Moment *moment)
{
    InsnContext context = moment->context < 0 ? CONTEXT_SUPERVISOR : CONTEXT_WORKER;
    bool is_bundle = moment->context >= 0 && moment->words == 2;
    Insn insn = isa_decode(moment->word[0], moment->word[1], LANE_MAIN, context);
    ASSERT(insn.code != INSN_NONE);
    if (!is_bundle) {
        return isa_form((InsnCode)insn.code)->lane == LANE_AUX ? aux_cause(&insn)
                                                               : main_cause(&insn);
    }
    Insn other = isa_decode(moment->word[1], 0, LANE_AUX, context);
    ASSERT(other.code != INSN_NONE);
    Cause main = main_cause(&insn), aux = aux_cause(&other);
    if (main == CAUSE_idle_word || aux == CAUSE_amp) {
        return aux;
    }
    if (aux == CAUSE_idle_word || main != CAUSE_memory) {
        return main;
    }
    return aux == CAUSE_aux ? CAUSE_memory_aux : main;
}

static Cause shadow_cause(Cause issue)
{
    return issue == CAUSE_control  ? CAUSE_branch_shadow
           : issue == CAUSE_csr    ? CAUSE_put_shadow
           : issue == CAUSE_launch ? CAUSE_sync_shadow
                                   : CAUSE_long_operation;
}

static bool is_local_sync(const Moment *moment)
{
    Insn insn = isa_decode(moment->word[0], moment->word[1], LANE_MAIN, CONTEXT_SUPERVISOR);
    return insn.code == INSN_sync_mmmn_zi && insn.operand[0] == FLAG_TEXCH_SYNCZONE_LOCAL;
}

static void add_supervisor(Explanation *out, const Moment *moment)
{
    Cycles *at = out->cycles[0];
    Cycles ready = moment->ready > moment->allowed ? moment->ready : moment->allowed;
    at[CAUSE_result_wait] += ready - moment->allowed;
    at[is_local_sync(moment) ? CAUSE_sync_wait : CAUSE_slot_wait] += moment->cycle - ready;
    Cycles issue = moment->next > moment->cycle ? 1 : 0; /* 0: the host sync ends the run */
    Cause cause = cause_of(moment);
    at[cause] += issue;
    at[shadow_cause(cause)] += moment->next - moment->cycle - issue;
}

/* One worker's way through the record. */
typedef struct Track {
    Cycles at;     /* accounted up to here */
    Cycles launch; /* of the launch that it was in last; -1: none */
} Track;

/* When the last worker of each launch gave its slot back; by launch cycle. */
typedef struct LaunchEnd {
    Cycles launch, end;
} LaunchEnd;
VEC(LaunchEnd);

static Cycles end_of(const LaunchEndVec *ends, Cycles launch)
{
    isize low = 0, high = ends->len;
    while (low < high) {
        isize middle = low + (high - low) / 2;
        if (ends->at[middle].launch < launch) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < ends->len && ends->at[low].launch == launch ? ends->at[low].end : -1;
}

/* From where the track stands to `until`, the worker runs nothing. */
static void add_idle(Explanation *out, int context, Track *track, const LaunchEndVec *ends,
                     Cycles until)
{
    ASSERT(track->at <= until);
    Cycles others = end_of(ends, track->launch);
    others = others < track->at ? track->at : others > until ? until : others;
    out->cycles[context][CAUSE_slowest] += others - track->at;
    out->cycles[context][CAUSE_unlaunched] += until - others;
    track->at = until;
}

static void add_worker(Explanation *out, const Moment *moment, Track *track,
                       const LaunchEndVec *ends)
{
    int context = moment->context + 1;
    Cycles *at = out->cycles[context];
    if (moment->is_first) {
        add_idle(out, context, track, ends, moment->launch);
        at[CAUSE_start] += moment->cycle - moment->launch;
        track->launch = moment->launch;
    } else {
        ASSERT(track->at == moment->cycle);
    }
    Cycles taken = moment->next - moment->cycle;
    if (moment->is_exit) {
        at[CAUSE_slot_return] += taken;
    } else {
        Cycles rotation = taken / moment->rotations;
        at[cause_of(moment)] += rotation;
        at[CAUSE_long_operation] += taken - rotation;
    }
    track->at = moment->next;
}

static int compare_launches(const void *a, const void *b, const void *context)
{
    (void)context;
    Cycles left = ((const LaunchEnd *)a)->launch, right = ((const LaunchEnd *)b)->launch;
    return left < right ? -1 : left > right;
}

static LaunchEndVec find_launch_ends(const Record *record, Arena *arena)
{
    LaunchEndVec ends = {0};
    Cycles launch[CHIP_WORKERS] = {0};
    for (isize i = 0; i < record->moments.len; i++) {
        const Moment *moment = &record->moments.at[i];
        if (moment->is_first) {
            launch[moment->context] = moment->launch;
            if (ends.len == 0 || ends.at[ends.len - 1].launch != moment->launch) {
                *vec_push(&ends, arena) = (LaunchEnd){moment->launch, 0};
            }
        }
        for (isize e = ends.len - 1; moment->is_exit && e >= 0; e--) {
            if (ends.at[e].launch == launch[moment->context]) {
                ends.at[e].end = moment->next > ends.at[e].end ? moment->next : ends.at[e].end;
                break;
            }
        }
    }
    sort_stable(ends.at, ends.len, (isize)sizeof *ends.at, compare_launches, NULL,
                arena_split(arena, ends.len * (isize)sizeof *ends.at + 4096));
    return ends;
}

Explanation explain_record(const Record *record, Arena scratch)
{
    ASSERT(record->stop == WORKBENCH_STOP_END && !record->is_full);
    Explanation out = {.total = record->counters.cycles};
    LaunchEndVec ends = find_launch_ends(record, &scratch);
    Track track[CHIP_WORKERS];
    for (int w = 0; w < CHIP_WORKERS; w++) {
        track[w] = (Track){.launch = -1};
    }
    Cycles busy_until = 0;
    for (isize i = 0; i < record->moments.len; i++) {
        const Moment *moment = &record->moments.at[i];
        if (moment->context < 0) {
            add_supervisor(&out, moment);
            out.free_slot_issues += moment->cycle < busy_until;
        } else {
            add_worker(&out, moment, &track[moment->context], &ends);
            Cycles end = end_of(&ends, track[moment->context].launch);
            busy_until = end > busy_until ? end : busy_until;
        }
    }
    for (int c = 0; c <= CHIP_WORKERS; c++) {
        if (c > 0) {
            add_idle(&out, c, &track[c - 1], &ends, out.total);
        }
        Cycles sum = 0;
        for (int cause = 0; cause < CAUSE_COUNT; cause++) {
            ASSERT(out.cycles[c][cause] >= 0);
            sum += out.cycles[c][cause];
        }
        ASSERT(sum == out.total);
    }
    return out;
}

static Cycles in_all_contexts(const Explanation *explanation, int cause)
{
    Cycles all = 0;
    for (int c = 0; c <= CHIP_WORKERS; c++) {
        all += explanation->cycles[c][cause];
    }
    return all;
}

void explain_json(Writer *out, const Explanation *explanation)
{
    write_fmt(out, "{\"total\": %lld, \"causes\": [", (long long)explanation->total);
    const char *separator = "";
    for (int cause = 0; cause < CAUSE_COUNT; cause++) {
        if (in_all_contexts(explanation, cause) == 0) {
            continue;
        }
        write_fmt(out, "%s\n    {\"cause\": \"%s\", \"cycles\": [", separator, cause_text[cause]);
        for (int c = 0; c <= CHIP_WORKERS; c++) {
            write_fmt(out, "%s%lld", c == 0 ? "" : ", ", (long long)explanation->cycles[c][cause]);
        }
        write_str(out, S("]}"));
        separator = ",";
    }
    write_str(out, S("]}"));
}

/* Waits of one instruction for one register. */
typedef struct Wait {
    uint32_t pc, from;
    int reg;
    Cycles cycles;
    int64_t count;
} Wait;
VEC(Wait);

static int compare_waits(const void *a, const void *b, const void *context)
{
    (void)context;
    Cycles left = ((const Wait *)a)->cycles, right = ((const Wait *)b)->cycles;
    return left > right ? -1 : left < right;
}

static WaitVec collect_waits(const Record *record, Arena *arena)
{
    WaitVec waits = {0};
    uint32_t producer[16] = {0};
    for (isize i = 0; i < record->moments.len; i++) {
        const Moment *moment = &record->moments.at[i];
        if (moment->context >= 0) {
            continue;
        }
        if (moment->ready > moment->allowed) {
            isize w = 0;
            int reg = moment->ready_register;
            while (w < waits.len && (waits.at[w].pc != moment->pc || waits.at[w].reg != reg ||
                                     waits.at[w].from != producer[reg])) {
                w++;
            }
            if (w == waits.len) {
                *vec_push(&waits, arena) = (Wait){moment->pc, producer[reg], reg, 0, 0};
            }
            waits.at[w].cycles += moment->ready - moment->allowed;
            waits.at[w].count++;
        }
        for (uint32_t mask = moment->m_written; mask != 0; mask &= mask - 1) {
            producer[__builtin_ctz(mask)] = moment->pc;
        }
    }
    return waits;
}

static void print_waits(Writer *out, const Record *record, const Target *target, Arena scratch)
{
    enum { WAITS_SHOWN = 10 };
    WaitVec waits = collect_waits(record, &scratch);
    sort_stable(waits.at, waits.len, (isize)sizeof *waits.at, compare_waits, NULL, scratch);
    if (waits.len > 0) {
        write_str(out, S("\nwaits of the supervisor for results\n   cycles  times  for   at"
                         "                                  made at\n"));
    }
    Cycles rest = 0;
    for (isize i = 0; i < waits.len; i++) {
        const Wait *wait = &waits.at[i];
        if (i >= WAITS_SHOWN) {
            rest += wait->cycles;
            continue;
        }
        Arena line = scratch;
        Writer at = writer_buffer(&line);
        pc_print(&at, wait->pc, target);
        write_fmt(out, "%9lld %6lld  $m%-2d  %-36.*s", (long long)wait->cycles,
                  (long long)wait->count, wait->reg, STR_ARG(writer_text(&at)));
        pc_print(out, wait->from, target);
        write_str(out, S("\n"));
    }
    if (rest > 0) {
        write_fmt(out, "%9lld               %lld other places\n", (long long)rest,
                  (long long)(waits.len - WAITS_SHOWN));
    }
}

void explain_print(Writer *out, const Explanation *explanation, const Record *record,
                   const Target *target, Arena scratch)
{
    write_fmt(out, "%-28s %9s", "simulated cycles", "superv.");
    for (int w = 0; w < CHIP_WORKERS; w++) {
        write_fmt(out, "  worker %d", w);
    }
    write_str(out, S("\n"));
    for (int cause = 0; cause < CAUSE_COUNT; cause++) {
        if (in_all_contexts(explanation, cause) == 0) {
            continue;
        }
        write_fmt(out, "%-28s", cause_text[cause]);
        for (int c = 0; c <= CHIP_WORKERS; c++) {
            write_fmt(out, " %9lld", (long long)explanation->cycles[c][cause]);
        }
        write_str(out, S("\n"));
    }
    write_fmt(out, "%-28s", "total");
    for (int c = 0; c <= CHIP_WORKERS; c++) {
        write_fmt(out, " %9lld", (long long)explanation->total);
    }
    write_fmt(out, "\n%lld issues of the supervisor fell into free slots while a worker ran\n",
              (long long)explanation->free_slot_issues);
    print_waits(out, record, target, scratch);
}
