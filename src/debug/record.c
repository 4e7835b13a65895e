/* Keeping what the observer is told, in the order of cycles, and playing it back on a copy of memory and registers. */
#include "base/sort.h"
#include "debug/debug.h"
#include <string.h>

enum { MOMENTS_MAX = 4 << 20 };

static void keep_values(Record *record, uint32_t mask, const uint32_t *registers)
{
    for (; mask != 0; mask &= mask - 1) {
        *vec_push(&record->values, record->keep) = registers[__builtin_ctz(mask)];
    }
}

/* The workers of a launch are told before it: give them its cycle. */
static void note_launch(Record *record, Cycles cycle)
{
    for (isize i = record->first_pending; i < record->moments.len; i++) {
        if (record->moments.at[i].is_first) {
            record->moments.at[i].launch = cycle;
        }
    }
}

static void keep_issue(void *context, const TileIssue *issue)
{
    Record *record = context;
    if (record->moments.len == MOMENTS_MAX) {
        record->is_full = true;
        return;
    }
    if (issue->context < 0) {
        note_launch(record, issue->cycle);
    }
    Moment moment = {.cycle = issue->cycle,
                     .next = issue->next,
                     .allowed = issue->allowed,
                     .ready = issue->ready,
                     .pc = issue->pc,
                     .word = {issue->word[0], issue->word[1]},
                     .store_address = issue->store_address,
                     .value = (uint32_t)record->values.len,
                     .m_written = issue->m_written,
                     .m_undefined = issue->m_undefined,
                     .a_written = issue->a_written,
                     .a_undefined = issue->a_undefined,
                     .words = (uint8_t)issue->words,
                     .rotations = (uint8_t)issue->rotations,
                     .store_bytes = (uint8_t)issue->store_bytes,
                     .context = (int8_t)issue->context,
                     .ready_register = (int8_t)issue->ready_register,
                     .is_first = issue->is_first,
                     .is_exit = issue->is_exit,
                     .is_refused = issue->is_refused,
                     .is_jump = issue->is_jump};
    for (uint32_t i = 0; i < issue->store_bytes / 4; i++) {
        bool is_undefined;
        moment.store_word[i] =
            workbench_word(record->bench, issue->store_address + 4 * i, &is_undefined);
        moment.store_undefined |= (uint8_t)(is_undefined << i);
    }
    keep_values(record, issue->m_written, issue->m);
    if (issue->a) {
        keep_values(record, issue->a_written, issue->a);
    }
    *vec_push(&record->moments, record->keep) = moment;
    record->first_pending = issue->context < 0 ? record->moments.len : record->first_pending;
}

static int compare_cycles(const void *a, const void *b, const void *context)
{
    (void)context;
    Cycles left = ((const Moment *)a)->cycle, right = ((const Moment *)b)->cycle;
    return left < right ? -1 : left > right;
}

void record_run(Workbench *bench, const Target *target, Cycles limit, bool is_recorded, Arena *keep,
                Arena scratch, Record *out)
{
    *out = (Record){.bench = bench, .keep = keep};
    const TileObserver observer = {out, keep_issue};
    out->stop = workbench_run(bench, target->entry, limit, is_recorded ? &observer : NULL);
    out->counters = workbench_counters(bench);
    sort_stable(out->moments.at, out->moments.len, (isize)sizeof *out->moments.at, compare_cycles,
                NULL, scratch);
}

TileView view_of(const Workbench *bench, Arena *keep)
{
    TileView view = {.word = arena_array(keep, uint32_t, SRAM_WORDS),
                     .is_undefined = arena_array(keep, uint8_t, SRAM_WORDS)};
    for (uint32_t w = 0; w < SRAM_WORDS; w++) {
        bool is_undefined;
        view.word[w] = workbench_word(bench, SRAM_BASE + 4 * w, &is_undefined);
        view.is_undefined[w] = is_undefined;
    }
    for (int c = -1; c < CHIP_WORKERS; c++) {
        for (int i = 0; i < 16; i++) {
            bool is_undefined;
            view.m[c + 1][i] = workbench_register(bench, c, false, i, &is_undefined);
            view.m_undefined[c + 1] |= (uint16_t)(is_undefined << i);
            if (c >= 0) {
                view.a[c + 1][i] = workbench_register(bench, c, true, i, &is_undefined);
                view.a_undefined[c + 1] |= (uint16_t)(is_undefined << i);
            }
        }
    }
    return view;
}

void view_apply(TileView *view, const Record *record, const Moment *moment)
{
    int c = moment->context + 1;
    const uint32_t *value = record->values.at + moment->value;
    for (uint32_t mask = moment->m_written; mask != 0; mask &= mask - 1) {
        view->m[c][__builtin_ctz(mask)] = *value++;
    }
    for (uint32_t mask = moment->a_written; mask != 0; mask &= mask - 1) {
        view->a[c][__builtin_ctz(mask)] = *value++;
    }
    view->m_undefined[c] =
        (uint16_t)((view->m_undefined[c] & ~moment->m_written) | moment->m_undefined);
    view->a_undefined[c] =
        (uint16_t)((view->a_undefined[c] & ~moment->a_written) | moment->a_undefined);
    for (uint32_t i = 0; i < moment->store_bytes / 4u; i++) {
        uint32_t at = (moment->store_address - SRAM_BASE) / 4 + i;
        view->word[at] = moment->store_word[i];
        view->is_undefined[at] = moment->store_undefined >> i & 1;
    }
}

/* The first store to a word. */
static const Moment *find_writer(const Record *record, uint32_t address)
{
    for (isize i = 0; i < record->moments.len; i++) {
        const Moment *moment = &record->moments.at[i];
        if (address - moment->store_address < moment->store_bytes) {
            return moment;
        }
    }
    return NULL;
}

int64_t guards_check(Writer *out, const AreaVec *areas, const TileView *view, const Record *record,
                     const Target *target)
{
    int64_t changed = 0, ranges = 0;
    enum { RANGES_SHOWN = 16 };
    for (isize i = 0; i < areas->len; i++) {
        const Area *area = &areas->at[i];
        uint32_t first = (area->address - SRAM_BASE) / 4, words = area->bytes / 4;
        for (uint32_t w = 0; area->is_guard && w < words; w++) {
            uint32_t begin = w;
            while (w < words && view->word[first + w] != area->word[w]) {
                w++;
            }
            if (w == begin) {
                continue;
            }
            changed += w - begin;
            if (++ranges > RANGES_SHOWN) {
                continue;
            }
            uint32_t address = area->address + 4 * begin;
            write_fmt(out, "guard changed: 0x%x..0x%x, first word 0x%08x", address,
                      area->address + 4 * w, view->word[first + begin]);
            const Moment *writer = find_writer(record, address);
            if (writer) {
                uint32_t offset;
                Str symbol = target_symbol(target, writer->pc, &offset);
                write_fmt(out, ", stored at 0x%x (%.*s+0x%x) in cycle %lld by ", writer->pc,
                          STR_ARG(symbol), offset, (long long)writer->cycle);
                context_print(out, writer->context);
            }
            write_str(out, S("\n"));
        }
    }
    if (ranges > RANGES_SHOWN) {
        write_fmt(out, "... and %lld more ranges\n", (long long)(ranges - RANGES_SHOWN));
    }
    return changed;
}
