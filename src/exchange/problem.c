/* Facts about a problem that solver, checker and tools share: moves and what may be paired (exchange.md 5, 8). */
#include "exchange/exchange.h"

int32_t move_offset(const ExchangeProblem *problem, int32_t move, int32_t i)
{
    return move == 0 ? 0 : problem->offsets.at[problem->moves.at[move].first + i];
}

int32_t move_least(const ExchangeProblem *problem, int32_t move)
{
    int32_t least = move == 0 ? 0 : INT32_MAX;
    for (int32_t i = 0; move != 0 && i < problem->moves.at[move].count; i++) {
        int32_t offset = move_offset(problem, move, i);
        least = offset < least ? offset : least;
    }
    return least;
}

bool transfer_may_pair(const ExchangeProblem *problem, const ExchangeTransfer *transfer)
{
    if (transfer->words < 2 || transfer->words % 2 != 0 || transfer->address % 8 != 0 ||
        transfer->receiver_count % 2 != 0) {
        return false;
    }
    for (int32_t i = 0; transfer->move != 0 && i < problem->moves.at[transfer->move].count; i++) {
        if (move_offset(problem, transfer->move, i) % 8 != 0) {
            return false;
        }
    }
    const ExchangeReceiver *to = &problem->receivers.at[transfer->receiver_first];
    uint64_t seen[(CHIP_TILES + 63) / 64] = {0};
    for (int32_t i = 0; i < transfer->receiver_count; i++) {
        if (to[i].address % 8 != 0) {
            return false;
        }
        seen[to[i].tile.id / 64] |= 1ull << (to[i].tile.id % 64);
    }
    for (int32_t i = 0; i < transfer->receiver_count; i++) {
        uint16_t partner = partner_of(to[i].tile).id;
        if ((seen[partner / 64] >> (partner % 64) & 1) == 0) {
            return false;
        }
    }
    return true;
}
