/* Placed messages -> row words of every tile (exchange.md 3.2, 4.1, 5, 8).
 *
 * What a tile's row must do follows from the starts: its sends, and four streams of controls that are each sorted already.
 * A row fails to encode only where a sendpicp cannot be brought to an even word. The message whose control stands there is
 * then moved to its next open start and the rows of the tiles it touches are encoded again; when that does not end, controls
 * are kept apart, which needs no sendpicp.
 */
#include "exchange/decode.h"
#include "exchange/phase.h"
#include <string.h>

enum {
    ROUNDS_MAX = 64,
    MOVED_MIN = 64, /* messages that may move, and one of so many */
    MOVED_PART = 64,
    LANE_CHUNK = 8,
    THREADS_MIN_LANES = 96,
    THREAD_BYTES = 1 << 28, /* at least, for the rows of a thread and again for its work */
};

typedef struct Receive {
    int32_t message, endpoint;
    Event source; /* event at which the source window begins */
} Receive;

typedef struct LaneRow {
    int32_t lane;
    int32_t *sends; /* messages by start */
    Receive *receives;
    int32_t send_count, receive_count;
    bool is_dirty;
    int32_t *late; /* messages to move when the row could not be encoded */
    int32_t late_count;
    RowWordVec words;
    RowPatchVec patches;
    Event end;
} LaneRow;

typedef struct RowWorker {
    Arena out, scratch;
} RowWorker;

typedef struct RowJob {
    Phase *phase;
    LaneRow *rows; /* by physical tile */
    int32_t row_count;
    int32_t *row_of; /* lane -> row, -1 */
    RowWorker *workers;
} RowJob;

/* --- lists ---------------------------------------------------------------------------------------------------------- */

static void sort_lists(const Phase *phase, LaneRow *row)
{
    for (int32_t i = 0; i < row->receive_count; i++) {
        Receive *receive = &row->receives[i];
        receive->source =
            phase->start[receive->message] + phase->endpoints[receive->endpoint].source_delay;
    }
    for (int32_t i = 1; i < row->send_count; i++) { /* nearly sorted */
        int32_t held = row->sends[i], at = i;
        for (; at > 0 && phase->start[row->sends[at - 1]] > phase->start[held]; at--) {
            row->sends[at] = row->sends[at - 1];
        }
        row->sends[at] = held;
    }
    for (int32_t i = 1; i < row->receive_count; i++) {
        Receive held = row->receives[i];
        int32_t at = i;
        for (; at > 0 && row->receives[at - 1].source > held.source; at--) {
            row->receives[at] = row->receives[at - 1];
        }
        row->receives[at] = held;
    }
}

static void build_lists(RowJob *job, Arena *arena)
{
    Phase *phase = job->phase;
    int32_t tile_lane[CHIP_TILES];
    memset(tile_lane, -1, sizeof tile_lane);
    job->rows = arena_array(arena, LaneRow, phase->lane_count);
    job->row_of = arena_array(arena, int32_t, phase->lane_count);
    for (int32_t i = 0; i < phase->lane_count; i++) {
        tile_lane[phase->lanes[i].tile.id] = i;
    }
    for (int tile = 0; tile < CHIP_TILES; tile++) {
        int32_t index = tile_lane[tile];
        if (index < 0) {
            continue;
        }
        const Lane *lane = &phase->lanes[index];
        job->row_of[index] = -1;
        if (lane->send_count + lane->receive_count > 0) { /* not only lent */
            job->row_of[index] = job->row_count;
            job->rows[job->row_count++] =
                (LaneRow){.lane = index,
                          .sends = arena_array(arena, int32_t, lane->send_count),
                          .receives = arena_array(arena, Receive, lane->receive_count),
                          .is_dirty = true};
        }
    }
    Arena scratch = *arena;
    SortKey *order = arena_array(&scratch, SortKey, phase->message_count);
    for (int32_t i = 0; i < phase->message_count; i++) {
        order[i] = (SortKey){(uint64_t)phase->start[i], (uint32_t)i};
    }
    sort_keys(order, phase->message_count, scratch);
    for (int32_t i = 0; i < phase->message_count; i++) {
        int32_t message = (int32_t)order[i].payload;
        const Message *m = &phase->messages[message];
        LaneRow *row = &job->rows[job->row_of[m->lane]];
        row->sends[row->send_count++] = message;
        for (int32_t k = m->first; k < m->first + m->count; k++) {
            LaneRow *to = &job->rows[job->row_of[phase->endpoints[k].lane]];
            to->receives[to->receive_count++] = (Receive){.message = message, .endpoint = k};
        }
    }
}

/* --- script --------------------------------------------------------------------------------------------------------- */

static void add_control(RowControlVec *list, Event event, RowStream stream, uint32_t value)
{
    list->at[list->len++] = (RowControl){event, stream, value};
}

/* Source windows and neutrals of one mux: ordinary, or the pair's. */
static void collect_sources(const Phase *phase, const LaneRow *row, bool is_paired,
                            RowControlVec *out)
{
    PhysTile tile = phase->lanes[row->lane].tile;
    RowStream stream = is_paired ? ROW_XPIC_PAIRED : ROW_XPIC;
    Event last_end = -1; /* of the window that is still open */
    uint32_t last_value = 0;
    for (int32_t i = 0; i < row->receive_count; i++) {
        const Receive *receive = &row->receives[i];
        const Message *m = &phase->messages[receive->message];
        if (m->is_paired != is_paired ||
            (is_paired && !phase->endpoints[receive->endpoint].is_early)) {
            continue;
        }
        uint32_t value = phase->lanes[m->lane].tile.id;
        value ^= is_paired ? tile.id & 2 : 0;
        if (last_end >= 0 && last_end < receive->source) {
            add_control(out, last_end, stream, FABRIC_NEUTRAL);
            last_end = -1;
        }
        if (last_end < 0 || value != last_value) {
            add_control(out, receive->source, stream, value);
        }
        last_end = receive->source + m->items;
        last_value = value;
    }
    if (last_end >= 0) {
        add_control(out, last_end, stream, FABRIC_NEUTRAL);
    }
}

static void collect_formats(const Phase *phase, const LaneRow *row, RowControlVec *out)
{
    const Lane *lane = &phase->lanes[row->lane];
    Event last_off = -1;
    uint32_t last_value = 0;
    for (int32_t i = 0; i < row->receive_count; i++) {
        const Receive *receive = &row->receives[i];
        const Message *m = &phase->messages[receive->message];
        if (!m->is_paired) {
            continue;
        }
        uint32_t value = (uint32_t)direction_of(phase->lanes[m->lane].tile, lane->tile);
        Event on = receive->source + lane->pointer_delay - 1;
        if (last_off >= 0 && last_off < on) {
            add_control(out, last_off, ROW_FORMAT, 0);
            last_off = -1;
        }
        if (last_off < 0 || value != last_value) {
            add_control(out, on, ROW_FORMAT, value);
        }
        last_off = on + m->items;
        last_value = value;
    }
    if (last_off >= 0) {
        add_control(out, last_off, ROW_FORMAT, 0);
    }
}

/* Pointers that the previous payload does not leave where they must be; *end becomes the last payload's end. */
static void collect_pointers(const Phase *phase, const LaneRow *row, RowControlVec *out, Event *end)
{
    const Lane *lane = &phase->lanes[row->lane];
    uint32_t pointer = 0;
    for (int32_t i = 0; i < row->receive_count; i++) {
        const Receive *receive = &row->receives[i];
        const Message *m = &phase->messages[receive->message];
        uint32_t address = phase->endpoints[receive->endpoint].address;
        Event store = receive->source + lane->pointer_delay + (m->is_paired ? 1 : 0);
        if (i == 0 || address != pointer) {
            add_control(out, store, ROW_POINTER, word_of_byte(address));
        }
        pointer = address + 4 * m->words;
        *end = store + m->items;
    }
}

static RowControlVec room_for(Arena *arena, isize count)
{
    return (RowControlVec){arena_array(arena, RowControl, count), 0, count};
}

/* Four sorted streams into one list by event. */
static RowControlVec merge_controls(const RowControlVec streams[4], Arena *arena)
{
    isize total = 0, next[4] = {0};
    for (int i = 0; i < 4; i++) {
        total += streams[i].len;
    }
    RowControlVec out = room_for(arena, total);
    while (out.len < total) {
        int first = -1;
        for (int i = 0; i < 4; i++) {
            if (next[i] < streams[i].len &&
                (first < 0 ||
                 streams[i].at[next[i]].event < streams[first].at[next[first]].event)) {
                first = i;
            }
        }
        out.at[out.len++] = streams[first].at[next[first]++];
    }
    return out;
}

static uint32_t sctl_of(const Phase *phase, const Message *m)
{
    const Endpoint *to = &phase->endpoints[m->first];
    PhysTile source = phase->lanes[m->lane].tile, first = phase->lanes[to->lane].tile;
    uint32_t wide = m->is_paired ? SCTL_WIDE : 0;
    bool is_single =
        m->is_paired ? m->count == 2 && first.id != source.id && first.id != partner_of(source).id
                     : m->count == 1;
    return wide | (is_single ? (uint32_t)direction_of(source, first) : SCTL_BOTH);
}

static void collect_sends(const Phase *phase, const LaneRow *row, RowSendVec *out)
{
    for (int32_t i = 0; i < row->send_count; i++) {
        const Message *m = &phase->messages[row->sends[i]];
        const ExchangeTransfer *t =
            &phase->problem->transfers.at[phase->transfer_first + m->transfer];
        uint32_t address = t->address + 4 * m->word_first;
        if (m->is_moving) {
            address += (uint32_t)move_least(phase->problem, t->move);
        }
        Event begin = phase->start[row->sends[i]];
        out->at[out->len++] =
            (RowSend){begin, begin + m->items, address / (m->is_paired ? 8 : 4), sctl_of(phase, m)};
    }
}

static RowScript script_of(const Phase *phase, const LaneRow *row, Arena *arena)
{
    const Lane *lane = &phase->lanes[row->lane];
    isize receives = row->receive_count;
    RowScript script = {
        .sends = {arena_array(arena, RowSend, row->send_count), 0, row->send_count}};
    collect_sends(phase, row, &script.sends);
    if (row->send_count > 0) {
        Event end = script.sends.at[row->send_count - 1].end;
        script.end = end > FABRIC_SEND_MIN ? end : FABRIC_SEND_MIN;
    }
    if (receives > 0) {
        RowControlVec streams[4] = {room_for(arena, 2 * receives), room_for(arena, receives)};
        Event end = 0;
        collect_sources(phase, row, false, &streams[0]);
        collect_pointers(phase, row, &streams[1], &end);
        if (phase->has_pairs) {
            streams[2] = room_for(arena, 2 * receives);
            streams[3] = room_for(arena, 2 * receives);
            collect_sources(phase, row, true, &streams[2]);
            collect_formats(phase, row, &streams[3]);
        }
        script.controls = merge_controls(streams, arena);
        script.end = (Event)max_i64(script.end, end + FABRIC_ROW_MARGIN);
    }
    if (lane->is_mixed) {
        *vec_push(&script.bases, arena) = (RowBase){.event = lane->base_event};
        script.end = (Event)max_i64(script.end, lane->base_event + FABRIC_BASE_WRITE_EVENTS);
    }
    return script;
}

/* --- encoding ------------------------------------------------------------------------------------------------------- */

/* Message of the row with a control at `event`. */
static int32_t message_at(const Phase *phase, const LaneRow *row, Event event)
{
    Event delay = phase->lanes[row->lane].pointer_delay;
    for (int32_t i = row->receive_count; i-- > 0;) {
        const Receive *receive = &row->receives[i];
        Event items = phase->messages[receive->message].items, source = receive->source;
        Event store = source + delay;
        if (event == source || event == source + items || event == store || event == store - 1 ||
            event == store + 1 || event == store - 1 + items) {
            return receive->message;
        }
    }
    bool is_found = false;
    ASSERT(is_found);
    return -1;
}

/* Words that hold an item address of a moving source which no base register serves. */
static void collect_patches(const Phase *phase, LaneRow *row, Arena *out, Arena scratch)
{
    RowScript script;
    RowAddressVec addresses = {0};
    Error err;
    bool is_decoded =
        row_decode_addresses(row->words.at, row->words.len, &script, &addresses, &scratch, &err);
    ASSERT(is_decoded);
    int32_t next = 0;
    for (isize i = 0; i < addresses.len; i++) {
        const RowAddress *address = &addresses.at[i];
        while (phase->start[row->sends[next]] + phase->messages[row->sends[next]].items <=
               address->event) {
            next++;
        }
        const Message *m = &phase->messages[row->sends[next]];
        int32_t move = phase->problem->transfers.at[phase->transfer_first + m->transfer].move;
        if (move != 0 && !m->is_moving) {
            *vec_push(&row->patches, out) = (RowPatch){address->word, move};
        }
    }
}

static bool needs_patches(const Phase *phase, const LaneRow *row)
{
    for (int32_t i = 0; i < row->send_count; i++) {
        const Message *m = &phase->messages[row->sends[i]];
        if (!m->is_moving &&
            phase->problem->transfers.at[phase->transfer_first + m->transfer].move != 0) {
            return true;
        }
    }
    return false;
}

static void encode_lane(void *context, isize index, int worker)
{
    RowJob *job = context;
    LaneRow *row = &job->rows[index];
    if (!row->is_dirty) {
        return;
    }
    Arena scratch = job->workers[worker].scratch, *out = &job->workers[worker].out;
    sort_lists(job->phase, row);
    RowScript script = script_of(job->phase, row, &scratch);
    RowWordVec words = {0};
    EventVec failed = {0};
    row->late_count = 0;
    row->end = script.end;
    row->words.len = row->patches.len = 0;
    if (!row_encode_noting(&script, &words, &scratch, &failed)) {
        row->late = arena_array(out, int32_t, failed.len);
        for (isize i = 0; i < failed.len; i++) {
            row->late[row->late_count++] = message_at(job->phase, row, failed.at[i]);
        }
        return;
    }
    if (row->words.cap < words.len) {
        row->words = (RowWordVec){arena_array(out, RowWord, words.len), 0, words.len};
    }
    memcpy(row->words.at, words.at, (size_t)words.len * sizeof(RowWord));
    row->words.len = words.len;
    row->is_dirty = false;
    if (needs_patches(job->phase, row)) {
        collect_patches(job->phase, row, out, scratch);
    }
}

static void make_dirty(RowJob *job, int32_t message)
{
    const Message *m = &job->phase->messages[message];
    job->rows[job->row_of[m->lane]].is_dirty = true;
    for (int32_t i = m->first; i < m->first + m->count; i++) {
        job->rows[job->row_of[job->phase->endpoints[i].lane]].is_dirty = true;
    }
}

/* `removed` has room for all messages. */
static bool move_message(RowJob *job, int32_t message, SortKey *removed)
{
    int32_t count = phase_remove_with_followers(job->phase, message, removed);
    for (int32_t i = 0; i < count; i++) {
        int32_t moved = (int32_t)removed[i].payload;
        Event start = phase_earliest(job->phase, moved, 0, EVENT_NEVER);
        if (start == EVENT_NEVER) {
            return false;
        }
        phase_put(job->phase, moved, start);
        make_dirty(job, moved);
    }
    return true;
}

/* Messages that rows could not encode. */
static int64_t count_late(const RowJob *job)
{
    int64_t count = 0;
    for (int32_t i = 0; i < job->row_count; i++) {
        count += job->rows[i].late_count;
    }
    return count;
}

/* Moves them; false when one finds no place. */
static bool move_late(RowJob *job, Arena scratch)
{
    Phase *phase = job->phase;
    bool is_local = phase->depends.pred_first == NULL && !phase->has_mixed;
    SortKey *removed = is_local ? arena_array(&scratch, SortKey, phase->message_count) : NULL;
    for (int32_t i = 0; i < job->row_count; i++) {
        LaneRow *row = &job->rows[i];
        for (int32_t k = 0; k < row->late_count; k++) {
            Event start = phase->start[row->late[k]];
            phase->messages[row->late[k]].start_min = start + 1;
            if (is_local && !move_message(job, row->late[k], removed)) {
                return false;
            }
        }
        row->late_count = 0;
    }
    if (!is_local) {
        if (!phase_replace(phase, scratch)) {
            return false;
        }
        for (int32_t i = 0; i < job->row_count; i++) {
            job->rows[i].is_dirty = true;
        }
    }
    return true;
}

static bool encode_all(RowJob *job, int threads, Arena scratch)
{
    int64_t limit =
        MOVED_MIN + job->phase->message_count / MOVED_PART; /* dense rows: parity is hopeless */
    for (int round = 0; round < ROUNDS_MAX; round++) {
        parallel_for(threads, job->row_count, LANE_CHUNK, encode_lane, job);
        int64_t late = count_late(job);
        if (late == 0) {
            return true;
        }
        if (late > limit || !move_late(job, scratch)) {
            return false;
        }
    }
    return false;
}

static void collect_rows(const RowJob *job, Arena *keep, PhaseRows *out)
{
    const Phase *phase = job->phase;
    isize words = 0, patches = 0;
    for (int32_t i = 0; i < job->row_count; i++) {
        words += align_up(job->rows[i].words.len, 2);
        patches += job->rows[i].patches.len;
    }
    *out = (PhaseRows){.rows = arena_array(keep, Row, job->row_count),
                       .row_count = job->row_count,
                       .words = arena_array(keep, uint32_t, words),
                       .patches = arena_array(keep, RowPatch, patches)};
    for (int32_t i = 0; i < job->row_count; i++) {
        const LaneRow *row = &job->rows[i];
        const Lane *lane = &phase->lanes[row->lane];
        bool is_moving = false;
        for (int32_t k = 0; k < row->send_count; k++) {
            is_moving |= phase->messages[row->sends[k]].is_moving;
        }
        out->rows[i] = (Row){.phase = phase->index,
                             .tile = lane->tile,
                             .word_first = (int32_t)out->word_count,
                             .word_count = (int32_t)row->words.len,
                             .end = row->end,
                             .move = is_moving ? lane->move : 0,
                             .patch_first = (int32_t)out->patch_count,
                             .patch_count = (int32_t)row->patches.len};
        memcpy(&out->words[out->word_count], row->words.at, (size_t)row->words.len * 4);
        out->word_count += align_up(row->words.len, 2);
        for (isize k = 0; k < row->patches.len; k++) {
            out->patches[out->patch_count++] = row->patches.at[k];
        }
        out->row_words_max = (isize)max_i64(out->row_words_max, row->words.len);
        out->row_patches_max = (isize)max_i64(out->row_patches_max, row->patches.len);
        out->horizon = row->end > out->horizon ? row->end : out->horizon;
    }
    out->length = phase_length(phase);
}

bool phase_encode(Phase *phase, int threads, Arena *keep, Arena scratch, PhaseRows *out)
{
    RowJob job = {.phase = phase};
    build_lists(&job, &scratch);
    isize useful =
        job.row_count < THREADS_MIN_LANES ? 1 : (job.row_count + LANE_CHUNK - 1) / LANE_CHUNK;
    isize held = (scratch.end - scratch.at) / (2 * (isize)THREAD_BYTES) - 1;
    threads = (int)max_i64(1, min_i64(threads, min_i64(useful, held)));
    job.workers = arena_array(&scratch, RowWorker, threads);
    isize share = (scratch.end - scratch.at) / (2 * threads + 2);
    for (int i = 0; i < threads; i++) {
        job.workers[i].out = arena_split(&scratch, share);
        job.workers[i].scratch = arena_split(&scratch, share);
    }
    bool ok = encode_all(&job, threads, scratch);
    if (!ok) {
        phase->may_merge = false;
        for (int32_t i = 0; i < job.row_count; i++) {
            job.rows[i].is_dirty = true;
        }
        ok = phase_replace(phase, scratch) && encode_all(&job, threads, scratch);
    }
    if (ok) {
        collect_rows(&job, keep, out);
    }
    return ok;
}
