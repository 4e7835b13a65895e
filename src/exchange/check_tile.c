/* What one tile sends, lends and receives in a phase, from the starts alone, and the rules about it: lanes (X1, X20), source
 * windows (X2), stores (X3, X4), memory (X9, X10, X14). exchange.md 3.2, 5, 9.
 */
#include "exchange/check.h"

/* Groups of `bytes` from `address` on, in all iterations of a move. X14 where they are not usable. */
static bool collect_groups(const CheckTile *tile, uint32_t address, uint32_t bytes, int32_t move,
                           bool is_paired, Event event, int32_t message, uint32_t *groups)
{
    const CheckMove *moves = &tile->check->moves[move];
    if (address % 4 != 0 || (is_paired && (address % 8 != 0 || !moves->is_wide))) {
        return check_tile_broken(tile, "X14", event, message,
                                 is_paired ? "address of 64-bit items is no multiple of 8"
                                           : "address is no multiple of 4");
    }
    *groups = 0;
    for (int32_t i = 0; i < moves->count; i++) {
        int64_t at = (int64_t)address + tile->check->offsets[moves->first + i];
        if (at % 4 != 0) {
            return check_tile_broken(tile, "X14", event, message, "address is no multiple of 4");
        }
        if (at < SRAM_BASE || at + bytes > SRAM_END) {
            return check_tile_broken(tile, "X14", event, message, "range leaves SRAM");
        }
        *groups |= groups_of((uint32_t)at, (uint32_t)at + bytes);
    }
    return (*groups & tile->check->row_groups) == 0 ||
           check_tile_broken(tile, "X10", event, message,
                             "touches a memory element that holds rows");
}

/* sctl (exchange.md 5, 8): one receiver, or one pair that is not the sender's own, has one direction. */
static uint8_t sctl_of(const Check *check, const ExchangeTransfer *t, bool is_paired)
{
    const ExchangeReceiver *to = &check->problem->receivers.at[t->receiver_first];
    bool is_own = (to->tile.id & ~2) == (t->source.id & ~2);
    bool is_one = is_paired ? t->receiver_count == 2 && !is_own : t->receiver_count == 1;
    int directions = is_one ? direction_of(t->source, to->tile) : SCTL_BOTH;
    return (uint8_t)(directions | (is_paired ? SCTL_WIDE : 0));
}

CheckEntry check_entry_of(const Check *check, int32_t message)
{
    const ExchangeMessage *m = &check->schedule->messages.at[message];
    const ExchangeTransfer *t = check_transfer_of(check, message);
    return (CheckEntry){.message = message,
                        .start = m->start,
                        .address = t->address + 4 * m->word_first,
                        .move = t->move,
                        .words = (uint16_t)m->words,
                        .source = t->source.id,
                        .sctl = sctl_of(check, t, m->is_paired),
                        .is_paired = m->is_paired};
}

static Event items_of(CheckEntry entry)
{
    return entry.is_paired ? entry.words / 2 : entry.words;
}

static CheckPart make_send(CheckEntry entry)
{
    return (CheckPart){.begin = entry.start,
                       .end = entry.start + items_of(entry),
                       .address = entry.address,
                       .words = entry.words,
                       .message = entry.message,
                       .move = entry.move,
                       .source = entry.source,
                       .sctl = entry.sctl,
                       .is_paired = entry.is_paired};
}

static CheckPart make_receive(PhysTile tile, CheckEntry entry)
{
    PhysTile source = {entry.source};
    Event time = time_to_mux(source, tile);
    Event other = entry.is_paired ? time_to_mux(source, partner_of(tile)) : time;
    Event begin = entry.start + (Event)min_i64(time, other) + 1;
    Event delay = FABRIC_POINTER_DELAY + 2 * phys_row(tile) + (entry.is_paired ? 1 : 0);
    int member = entry.is_paired ? tile.id & 2 : 0;
    return (CheckPart){.begin = begin,
                       .end = begin + items_of(entry),
                       .store = begin + delay,
                       .address = entry.address,
                       .words = entry.words,
                       .message = entry.message,
                       .source = (uint16_t)(entry.source ^ member),
                       .direction = (uint8_t)(entry.is_paired ? direction_of(source, tile) : 0),
                       .is_paired = entry.is_paired,
                       .is_early = entry.is_paired && time < other};
}

/* A sender that hears itself: source and destination lie in different groups (exchange.md 8), as whole transfers. */
static bool check_loopback(const CheckTile *tile, const CheckPart *part)
{
    const ExchangeTransfer *t = check_transfer_of(tile->check, part->message);
    const ExchangeReceiver *to = &tile->check->problem->receivers.at[t->receiver_first];
    while (to->tile.id != tile->tile.id) {
        to++;
    }
    uint32_t read, written;
    bool ok = collect_groups(tile, t->address, 4 * t->words, t->move, false, part->begin,
                             part->message, &read) &&
              collect_groups(tile, to->address, 4 * t->words, 0, false, part->begin, part->message,
                             &written);
    return ok && ((read & written) == 0 ||
                  check_tile_broken(tile, "X9/S7", part->begin, part->message,
                                    "a sender stores into the memory element it sends from"));
}

/* A part by itself: addresses, and that the mux can be set in time. */
static bool check_part(const CheckTile *tile, CheckEntry entry, bool is_receive, CheckPart *part)
{
    if (is_receive && part->begin < 1) {
        return check_tile_broken(tile, "S2", part->begin, part->message,
                                 "source would be selected before event 1");
    }
    return collect_groups(tile, part->address, 4 * part->words, part->move, part->is_paired,
                          part->begin, part->message, &part->groups) &&
           (!is_receive || entry.source != tile->tile.id || check_loopback(tile, part));
}

/* Into the order of their begin. */
static CheckPart *sort_parts(CheckPart *parts, int32_t count, Arena *arena)
{
    int32_t sorted = 1;
    while (sorted < count && parts[sorted - 1].begin <= parts[sorted].begin) {
        sorted++;
    }
    if (sorted >= count) {
        return parts;
    }
    CheckPart *out = arena_array(arena, CheckPart, count);
    Arena scratch = *arena;
    SortKey *keys = arena_array(&scratch, SortKey, count);
    for (int32_t i = 0; i < count; i++) {
        keys[i] = (SortKey){(uint64_t)parts[i].begin, (uint32_t)i}; /* begin >= 0 */
    }
    sort_keys(keys, count, scratch);
    for (int32_t i = 0; i < count; i++) {
        out[i] = parts[keys[i].payload];
    }
    return out;
}

bool check_collect(CheckTile *tile)
{
    const Check *check = tile->check;
    for (int side = 0; side < CHECK_SIDES; side++) {
        const int32_t *first = &check->entry_first[CHECK_SIDES * tile->tile.id + side];
        int32_t count = first[1] - first[0];
        CheckPart *parts = arena_array(tile->arena, CheckPart, count);
        for (int32_t i = 0; i < count; i++) {
            CheckEntry entry = check->entries[first[0] + i];
            bool is_receive = side == CHECK_RECEIVES;
            parts[i] = is_receive ? make_receive(tile->tile, entry) : make_send(entry);
            if (side != CHECK_LENDS && !check_part(tile, entry, is_receive, &parts[i])) {
                return false;
            }
        }
        tile->count[side] = count;
        tile->part[side] = sort_parts(parts, count, tile->arena);
    }
    return true;
}

/* S1: sends [t, t + m) and lent stretches [t, max(t + m, 6)), merged in order of their begin. */
static bool check_lane(const CheckTile *tile)
{
    const CheckPart *sends = tile->part[CHECK_SENDS], *lends = tile->part[CHECK_LENDS];
    int32_t send = 0, lend = 0, total = tile->count[CHECK_SENDS] + tile->count[CHECK_LENDS];
    Event busy = 0;
    bool was_lent = false;
    for (int32_t i = 0; i < total; i++) {
        bool is_lent = send == tile->count[CHECK_SENDS] ||
                       (lend < tile->count[CHECK_LENDS] && lends[lend].begin < sends[send].begin);
        const CheckPart *part = is_lent ? &lends[lend++] : &sends[send++];
        if (part->begin < busy) {
            bool is_own = !is_lent && !was_lent;
            return check_tile_broken(tile, is_own ? "X1/S1" : "X20/S1", part->begin, part->message,
                                     is_own ? "sends overlap"
                                            : "the transmit lane is lent to the partner");
        }
        busy = is_lent ? (Event)max_i64(part->end, FABRIC_SEND_MIN) : part->end;
        was_lent = is_lent;
    }
    return true;
}

/* S2, S3: windows of consecutive receives. Where they are disjoint, stores of one width are too; between widths one event is
 * lost, for the switch of the format (X4). */
static bool check_windows(const CheckTile *tile)
{
    const CheckPart *receives = tile->part[CHECK_RECEIVES];
    for (int32_t i = 1; i < tile->count[CHECK_RECEIVES]; i++) {
        const CheckPart *last = &receives[i - 1], *next = &receives[i];
        if (next->begin < last->end) {
            return check_tile_broken(tile, "X2/S2", next->begin, next->message,
                                     "source windows overlap");
        }
        Event stored = last->store + (last->end - last->begin);
        Event first = next->is_paired && !last->is_paired ? next->store - 2 : next->store;
        if (next->is_paired != last->is_paired && (first < stored || next->begin == last->end)) {
            return check_tile_broken(tile, "X4/S3", next->begin, next->message,
                                     next->is_paired
                                         ? "format on before the end of the 32-bit payload"
                                         : "32-bit items directly behind 64-bit items");
        }
    }
    return true;
}

/* S7: reads, with the guard, against stores until 5 events behind the payload. Both lists ascend at both ends. */
static bool check_elements(const CheckTile *tile)
{
    const CheckPart *sends = tile->part[CHECK_SENDS], *receives = tile->part[CHECK_RECEIVES];
    int32_t first = 0;
    for (int32_t i = 0; i < tile->count[CHECK_SENDS]; i++) {
        const CheckPart *send = &sends[i];
        Event read_begin = send->begin - CHECK_GUARD;
        Event read_end = (Event)max_i64(send->end, FABRIC_SEND_MIN) + CHECK_GUARD;
        for (int32_t k = first; k < tile->count[CHECK_RECEIVES]; k++) {
            const CheckPart *receive = &receives[k];
            Event written = receive->store + (receive->end - receive->begin) + FABRIC_ROW_MARGIN;
            if (written <= read_begin) {
                first = k + 1; /* later sends are later still */
                continue;
            }
            if (receive->store >= read_end) {
                break;
            }
            if ((send->groups & receive->groups) != 0) {
                return check_tile_broken(tile, "X9/S7", send->begin, send->message,
                                         "send and receive touch one memory element");
            }
        }
    }
    return true;
}

bool check_streams(const CheckTile *tile)
{
    return check_lane(tile) && check_windows(tile) && check_elements(tile);
}
