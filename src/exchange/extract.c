/* Work and Placement -> plain physical problem: the only file of this room that sees upstream types.
 *
 * Transfers that follow each other in the list, come from one tile, go to the same receivers and continue each other at
 * the source and at every destination become one message (exchange-scheduling.md 3, coalesce; at most 4148 words).
 */
#include "exchange/exchange.h"

static uint32_t address_of(const Work *work, const Placement *placement, int32_t buffer,
                           uint32_t offset)
{
    ASSERT(buffer > 0);
    ASSERT(buffer < work->buffers.len);
    ASSERT(work->buffers.at[buffer].iterations <=
           1); /* members of a loop's block never travel (decisions.md A12) */
    return placement->address[buffer] + offset;
}

static bool continues(const ExchangeProblem *problem, const ExchangeTransfer *last,
                      const ExchangeTransfer *next)
{
    uint32_t bytes = 4 * last->words;
    if (last->source.id != next->source.id || last->receiver_count != next->receiver_count ||
        last->address + bytes != next->address ||
        last->words + next->words > FABRIC_MESSAGE_WORDS_MAX) {
        return false;
    }
    for (int32_t i = 0; i < last->receiver_count; i++) {
        const ExchangeReceiver *a = &problem->receivers.at[last->receiver_first + i];
        const ExchangeReceiver *b = &problem->receivers.at[next->receiver_first + i];
        if (a->tile.id != b->tile.id || a->address + bytes != b->address) {
            return false;
        }
    }
    return true;
}

static void add_transfer(const Work *work, const Placement *placement, const Transfer *from,
                         int32_t phase_first, Arena *keep, ExchangeProblem *out)
{
    ExchangeTransfer to = {.source = phys_of(from->tile),
                           .address = address_of(work, placement, from->buffer, from->offset),
                           .words = from->words,
                           .receiver_first = (int32_t)out->receivers.len,
                           .receiver_count = from->receiver_count,
                           .provenance = from->provenance};
    for (int32_t i = 0; i < from->receiver_count; i++) {
        const Receiver *receiver = &work->receivers.at[from->receiver_first + i];
        *vec_push(&out->receivers, keep) =
            (ExchangeReceiver){phys_of(receiver->tile),
                               address_of(work, placement, receiver->buffer, receiver->offset)};
    }
    if (out->transfers.len > phase_first) {
        ExchangeTransfer *last = &out->transfers.at[out->transfers.len - 1];
        if (continues(out, last, &to)) {
            last->words += to.words;
            out->receivers.len -= to.receiver_count;
            return;
        }
    }
    *vec_push(&out->transfers, keep) = to;
}

/* Estimated cycles of the calls of every tile between step `phase` and the next phase; from the end of a loop around the phase
 * it goes on at the loop's begin. */
static void add_later(const Work *work, isize phase, Arena *keep, ExchangeProblem *out)
{
    Event events[CHIP_TILES] = {0};
    for (isize i = phase + 1; i < work->steps.len; i++) {
        const WorkStep *step = &work->steps.at[i];
        if (step->kind == WORK_PHASE) {
            break;
        }
        if (step->kind == WORK_LOOP_END && step->partner < phase && step->repeats > 1) {
            i = step->partner;
            continue;
        }
        for (int32_t k = step->first; step->kind == WORK_CALLS && k < step->first + step->count;
             k++) {
            const WorkCall *call = &work->calls.at[k];
            Event *sum = &events[phys_of(call->tile).id];
            *sum = (Event)min_i64(*sum + call->estimated_cycles, EXCHANGE_LATER_MAX);
        }
    }
    for (int tile = 0; tile < CHIP_TILES; tile++) {
        if (events[tile] > 0) {
            *vec_push(&out->later, keep) = (ExchangeLater){{(uint16_t)tile}, events[tile]};
        }
    }
}

void exchange_extract(const Work *work, const Placement *placement, Arena *keep,
                      ExchangeProblem *out)
{
    *out = (ExchangeProblem){.row_bytes_max = work->support_bytes,
                             .row_range = {SRAM_BASE, SRAM_BASE + work->support_bytes},
                             .names = work->plan == NULL ? NULL : &work->plan->names};
    for (isize i = 0; i < work->steps.len; i++) {
        const WorkStep *step = &work->steps.at[i];
        if (step->kind != WORK_PHASE) {
            continue;
        }
        int32_t first = (int32_t)out->transfers.len;
        for (int32_t k = step->first; k < step->first + step->count; k++) {
            add_transfer(work, placement, &work->transfers.at[k], first, keep, out);
        }
        int32_t later_first = (int32_t)out->later.len;
        add_later(work, i, keep, out);
        *vec_push(&out->phases, keep) =
            (ExchangePhase){.transfer_first = first,
                            .transfer_count = (int32_t)out->transfers.len - first,
                            .later_first = later_first,
                            .later_count = (int32_t)out->later.len - later_first,
                            .provenance = step->provenance};
    }
}
