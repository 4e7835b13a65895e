/* Lower bounds of a phase's horizon (exchange-scheduling.md 2): no schedule of ordinary transfers can end earlier.
 *
 * Receive with pipeline: the source windows of a tile follow each other from the earliest src of any of its messages; the
 * last payload ends 52 + 2R events after its window, and the row 5 events later. Send with feasibility: the sends of a tile
 * follow each other from the earliest start of any of them, and the last one still travels: its receivers' rows end
 * D + 5 events after the word behind it could have left.
 */
#include "exchange/exchange.h"

typedef struct TileLoad {
    int64_t send_words, receive_words;
    Event send_first;   /* earliest start of any of its sends */
    Event travel;       /* least of the sends' largest D */
    Event source_first; /* earliest src of any of its receives */
} TileLoad;

static Event bound_of(const ExchangeProblem *problem, const ExchangePhase *phase, Arena scratch)
{
    TileLoad *loads = arena_array(&scratch, TileLoad, CHIP_TILES);
    for (int i = 0; i < CHIP_TILES; i++) {
        loads[i].send_first = loads[i].travel = loads[i].source_first = INT32_MAX;
    }
    for (int32_t i = phase->transfer_first; i < phase->transfer_first + phase->transfer_count;
         i++) {
        const ExchangeTransfer *t = &problem->transfers.at[i];
        const ExchangeReceiver *to = &problem->receivers.at[t->receiver_first];
        TileLoad *from = &loads[t->source.id];
        Event start = 0, travel = 0;
        for (int32_t k = 0; k < t->receiver_count; k++) {
            start = (Event)max_i64(start, -time_to_mux(t->source, to[k].tile));
            travel = (Event)max_i64(travel, latency_of(t->source, to[k].tile));
        }
        from->send_words += t->words;
        from->send_first = (Event)min_i64(from->send_first, start);
        from->travel = (Event)min_i64(from->travel, travel);
        for (int32_t k = 0; k < t->receiver_count; k++) {
            TileLoad *at = &loads[to[k].tile.id];
            at->receive_words += t->words;
            at->source_first =
                (Event)min_i64(at->source_first, start + time_to_mux(t->source, to[k].tile) + 1);
        }
    }
    int64_t bound = 0;
    for (int i = 0; i < CHIP_TILES; i++) {
        const TileLoad *load = &loads[i];
        if (load->send_words > 0) {
            bound = max_i64(bound,
                            load->send_first + load->send_words + load->travel + FABRIC_ROW_MARGIN);
        }
        if (load->receive_words > 0) {
            int row = phys_row((PhysTile){(uint16_t)i});
            bound = max_i64(bound, load->source_first + load->receive_words + FABRIC_POINTER_DELAY +
                                       2 * row + FABRIC_ROW_MARGIN);
        }
    }
    return (Event)min_i64(bound, INT32_MAX);
}

void exchange_bounds(const ExchangeProblem *problem, const ExchangeMessageVec *messages,
                     int threads, Arena scratch, ExchangeBounds *out)
{
    (void)messages;
    (void)threads;
    for (isize i = 0; i < problem->phases.len; i++) {
        Event events = bound_of(problem, &problem->phases.at[i], scratch);
        out[i] = (ExchangeBounds){.ordinary = {.events = events}};
        out[i].chosen = out[i].paired = out[i].ordinary;
    }
}
