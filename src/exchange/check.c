/* Is this schedule legal? Written from the rules (exchange.md 3.2, 4, 9: X1..X14, X16; exchange-scheduling.md 1: S1..S10),
 * not from the solver, with which it shares no code.
 *
 * All windows are computed again from the starts. What the rows of the phase must do then follows: one list of send
 * intervals and one list of controls per tile. The rows are decoded and must contain exactly these lists, so a rule about
 * words (sctl, neutral, pointer value) is reported as the first entry that differs.
 */
#include "exchange/exchange.h"
#include <string.h>

/* One message as one tile sees it. */
typedef struct Part {
    Event begin; /* sends: first item leaves; receives: source selected */
    Event end;   /* one past the last item, or of the source window */
    Event store; /* receives: pointer event */
    uint32_t address, sctl;
    PhysTile source;
    int32_t transfer;
} Part;
VEC(Part);

typedef struct TileParts {
    PartVec sends, receives;
} TileParts;

typedef struct Check {
    const ExchangeProblem *problem;
    const Schedule *schedule;
    int32_t phase;
    TileParts *tiles; /* of the phase, by physical id */
    Error *err;
} Check;

static bool broken(const Check *check, const char *rule, int tile, Event event, const char *what)
{
    PhysTile id = {(uint16_t)tile};
    return error_set(check->err, ERROR_NO, NULL, "%s: phase %d, tile L%d (P%d), event %d: %s", rule,
                     check->phase, tile_of(id).id, tile, event, what);
}

/* X10, X14: alignment, SRAM, elements of the rows. */
static bool check_range(const Check *check, PhysTile tile, uint32_t address, uint32_t words,
                        Event event)
{
    if (address % 4 != 0) {
        return broken(check, "X14", tile.id, event, "address is not a multiple of 4");
    }
    if (address < SRAM_BASE || address + 4ull * words > SRAM_END) {
        return broken(check, "X14", tile.id, event, "range leaves SRAM");
    }
    AddrRange rows = check->problem->row_range;
    for (uint32_t at = rows.begin; at < rows.end;
         at += ELEMENT_BYTES) { /* rows are in region 0: 16 KiB elements */
        uint32_t begin = at / ELEMENT_BYTES * ELEMENT_BYTES;
        if (address < begin + ELEMENT_BYTES && address + 4 * words > begin) {
            return broken(check, "X10", tile.id, event, "transfer touches an element of the rows");
        }
    }
    return true;
}

/* Adds what transfer i means to every tile it touches. */
static bool check_transfer(Check *check, int32_t i, Arena *arena)
{
    const ExchangeTransfer *t = &check->problem->transfers.at[i];
    Event start = check->schedule->messages.at[i].start;
    if (t->words == 0 || t->words > FABRIC_MESSAGE_WORDS_MAX) {
        return broken(check, "X14", t->source.id, start, "message length is not in 1..4148 words");
    }
    if (start < 0) {
        return broken(check, "S2", t->source.id, start, "start before event 0");
    }
    if (!check_range(check, t->source, t->address, t->words, start)) {
        return false;
    }
    uint32_t directions = 0;
    bool has_remote = false;
    for (int32_t k = 0; k < t->receiver_count; k++) {
        const ExchangeReceiver *to = &check->problem->receivers.at[t->receiver_first + k];
        has_remote |= to->tile.id != t->source.id;
        directions |= (uint32_t)direction_of(t->source, to->tile);
        PartVec *receives = &check->tiles[to->tile.id].receives;
        if (receives->len > 0 && receives->at[receives->len - 1].transfer == i) {
            return broken(check, "X13", to->tile.id, start, "a tile receives one transfer twice");
        }
        Event source = start + time_to_mux(t->source, to->tile) + 1;
        if (source < 1) {
            return broken(check, "S2", to->tile.id, source, "source selected before event 1");
        }
        *vec_push(receives, arena) = (Part){.begin = source,
                                            .end = source + (Event)t->words,
                                            .store = start + latency_of(t->source, to->tile),
                                            .address = to->address,
                                            .source = t->source,
                                            .transfer = i};
        if (!check_range(check, to->tile, to->address, t->words, source)) {
            return false;
        }
    }
    if (!has_remote) {
        return broken(check, "X13", t->source.id, start,
                      "transfer without a receiver other than the sender");
    }
    uint32_t sctl = t->receiver_count == 1 ? directions : SCTL_BOTH; /* exchange.md 8 */
    *vec_push(&check->tiles[t->source.id].sends, arena) = (Part){.begin = start,
                                                                 .end = start + (Event)t->words,
                                                                 .address = t->address,
                                                                 .sctl = sctl,
                                                                 .source = t->source,
                                                                 .transfer = i};
    return true;
}

static int compare_parts(const void *a, const void *b, const void *context)
{
    (void)context;
    const Part *left = a, *right = b;
    return left->begin != right->begin ? (left->begin < right->begin ? -1 : 1)
                                       : left->transfer - right->transfer;
}

static int compare_controls(const void *a, const void *b, const void *context)
{
    (void)context;
    const RowControl *left = a, *right = b;
    return left->event != right->event ? (left->event < right->event ? -1 : 1)
                                       : (int)left->stream - (int)right->stream;
}

/* X1, X2, X3: nothing overlaps in one tile's two streams. */
static bool check_streams(const Check *check, int tile, const TileParts *parts)
{
    for (isize i = 1; i < parts->sends.len; i++) {
        if (parts->sends.at[i].begin < parts->sends.at[i - 1].end) {
            return broken(check, "X1/S1", tile, parts->sends.at[i].begin, "sends overlap");
        }
    }
    for (isize i = 1; i < parts->receives.len; i++) {
        const Part *last = &parts->receives.at[i - 1], *next = &parts->receives.at[i];
        if (next->begin < last->end) {
            return broken(check, "X2/S2", tile, next->begin, "source windows overlap");
        }
        if (next->store < last->store + (last->end - last->begin)) {
            return broken(check, "X3/S3", tile, next->store,
                          "pointer before the end of the previous payload");
        }
    }
    return true;
}

/* X9: a send's reads (8 events on both sides) against the stores until 5 events behind the payload. */
static bool check_elements(const Check *check, int tile, const TileParts *parts)
{
    isize first = 0;
    for (isize i = 0; i < parts->sends.len; i++) {
        const Part *send = &parts->sends.at[i];
        uint32_t send_bytes = 4 * (uint32_t)(send->end - send->begin);
        Event read_begin = send->begin - 8;
        Event read_end = (Event)max_i64(send->end + 8, FABRIC_SEND_MIN);
        for (isize k = first; k < parts->receives.len; k++) {
            const Part *receive = &parts->receives.at[k];
            uint32_t bytes = 4 * (uint32_t)(receive->end - receive->begin);
            Event write_end = receive->store + (receive->end - receive->begin) + 5;
            if (write_end <= read_begin) {
                first = k + 1; /* later sends are later still */
                continue;
            }
            if (receive->store >= read_end) {
                break;
            }
            AddrRange read = {send->address, send->address + send_bytes};
            if (ranges_share_group(read, (AddrRange){receive->address, receive->address + bytes})) {
                return broken(check, "X9/S7", tile, send->begin,
                              "send and receive touch one memory element");
            }
        }
    }
    return true;
}

/* Controls that the receives of a tile need, sorted (exchange.md 3.2). */
static RowControlVec controls_of(const TileParts *parts, Arena *arena)
{
    RowControlVec controls = {0};
    for (isize i = 0; i < parts->receives.len; i++) {
        const Part *receive = &parts->receives.at[i];
        *vec_push(&controls, arena) = (RowControl){receive->begin, ROW_XPIC, receive->source.id};
        *vec_push(&controls, arena) =
            (RowControl){receive->store, ROW_POINTER, receive->address / 4};
        if (i + 1 == parts->receives.len || parts->receives.at[i + 1].begin != receive->end) {
            *vec_push(&controls, arena) = (RowControl){receive->end, ROW_XPIC, FABRIC_NEUTRAL};
        }
    }
    sort_stable(controls.at, controls.len, sizeof *controls.at, compare_controls, NULL, *arena);
    return controls;
}

/* X5, X6. */
static bool check_controls(const Check *check, int tile, const TileParts *parts,
                           const RowControlVec *controls)
{
    isize send = 0;
    for (isize i = 0; i < controls->len; i++) {
        const RowControl *control = &controls->at[i];
        if (i > 0 && control[-1].event == control->event && control[-1].stream == control->stream) {
            return broken(check, "X5/S4", tile, control->event,
                          "two controls of one stream at one event");
        }
        while (send < parts->sends.len && parts->sends.at[send].begin + 1 < control->event) {
            send++;
        }
        if (send < parts->sends.len && parts->sends.at[send].begin <= control->event) {
            return broken(check, "X6/S5", tile, control->event,
                          "control at the start of a send or one event behind");
        }
    }
    return true;
}

static bool compare_sends(const Check *check, int tile, const PartVec *expected,
                          const RowSendVec *found)
{
    for (isize i = 0; i < expected->len || i < found->len; i++) {
        if (i >= found->len || (i < expected->len && expected->at[i].begin < found->at[i].begin)) {
            return broken(check, "X1/S1", tile, expected->at[i].begin, "the row misses a send");
        }
        if (i >= expected->len || expected->at[i].begin != found->at[i].begin ||
            expected->at[i].end != found->at[i].end) {
            return broken(check, "X1/S1", tile, found->at[i].begin,
                          "the row sends what no transfer asks for");
        }
        if (expected->at[i].sctl != found->at[i].sctl) {
            return broken(check, "X8", tile, found->at[i].begin,
                          "direction bits of the send are wrong");
        }
        if (expected->at[i].address / 4 != found->at[i].address) {
            return broken(check, "X14", tile, found->at[i].begin,
                          "the row sends from another address");
        }
    }
    return true;
}

/* The rule that a missing, different or superfluous control breaks. */
static const char *rule_of(const RowControl *control)
{
    if (control->stream == ROW_POINTER) {
        return "X3/S3";
    }
    if (control->stream != ROW_XPIC) {
        return "X4/S3";
    }
    return control->value == FABRIC_NEUTRAL ? "X7/S2" : "X2/S2";
}

static bool compare_row_controls(const Check *check, int tile, const RowControlVec *expected,
                                 const RowControlVec *found)
{
    for (isize i = 0; i < expected->len || i < found->len; i++) {
        const RowControl *want = i < expected->len ? &expected->at[i] : NULL;
        const RowControl *have = i < found->len ? &found->at[i] : NULL;
        if (want != NULL && have != NULL && memcmp(want, have, sizeof *want) == 0) {
            continue;
        }
        if (want == NULL || (have != NULL && compare_controls(have, want, NULL) < 0)) {
            return broken(check, rule_of(have), tile, have->event,
                          "the row has a control that no transfer asks for");
        }
        return broken(check, rule_of(want), tile, want->event,
                      "the row misses a control or gives it another value");
    }
    return true;
}

static bool check_row(const Check *check, const Row *row, const TileParts *parts,
                      const RowControlVec *controls, Arena scratch)
{
    int tile = row->tile.id;
    const Schedule *schedule = check->schedule;
    if (row->word_first % 2 != 0 || row->word_first < 0 || row->word_count < 1 ||
        row->word_first + (int64_t)row->word_count > schedule->words.len) {
        return broken(check, "X16", tile, 0, "row does not begin on an even word of the row words");
    }
    RowScript script;
    if (!row_decode(&schedule->words.at[row->word_first], row->word_count, &script, &scratch,
                    check->err)) {
        check->err->code = ERROR_NO;
        return error_context(check->err, "phase %d, tile L%d", check->phase, tile_of(row->tile).id);
    }
    Event end = script.end;
    sort_stable(script.controls.at, script.controls.len, sizeof(RowControl), compare_controls, NULL,
                scratch);
    if (!compare_sends(check, tile, &parts->sends, &script.sends) ||
        !compare_row_controls(check, tile, controls, &script.controls)) {
        return false;
    }
    for (isize i = 0; i < parts->sends.len; i++) {
        if (end < parts->sends.at[i].end || end < FABRIC_SEND_MIN) {
            return broken(check, "S10", tile, end,
                          "row ends before its last send, or before event 6");
        }
    }
    for (isize i = 0; i < parts->receives.len; i++) {
        const Part *receive = &parts->receives.at[i];
        if (end < receive->store + (receive->end - receive->begin) + 5) {
            return broken(check, "S10", tile, end,
                          "row ends less than 5 events behind its last payload");
        }
    }
    if (end != row->end) {
        return broken(check, "S10", tile, end,
                      "the words last longer or shorter than the row's end says");
    }
    return true;
}

typedef struct Touch {
    uint32_t begin, end;
    int32_t transfer;
    bool is_write;
} Touch;
VEC(Touch);

static int compare_touches(const void *a, const void *b, const void *context)
{
    (void)context;
    const Touch *left = a, *right = b;
    return left->begin != right->begin ? (left->begin < right->begin ? -1 : 1)
                                       : left->transfer - right->transfer;
}

/* X12: bytes written by one transfer and used by another; this version has no order inside a phase to offer them. */
static bool check_bytes(const Check *check, int tile, const TileParts *parts, Arena scratch)
{
    TouchVec touches = {0};
    for (int side = 0; side < 2; side++) {
        const PartVec *list = side == 0 ? &parts->sends : &parts->receives;
        for (isize i = 0; i < list->len; i++) {
            const Part *part = &list->at[i];
            uint32_t bytes = 4 * (uint32_t)(part->end - part->begin);
            *vec_push(&touches, &scratch) =
                (Touch){part->address, part->address + bytes, part->transfer, side == 1};
        }
    }
    sort_stable(touches.at, touches.len, sizeof *touches.at, compare_touches, NULL, scratch);
    uint32_t written_end = 0, touched_end = 0;
    for (isize i = 0; i < touches.len; i++) {
        const Touch *touch = &touches.at[i];
        if (touch->begin < (touch->is_write ? touched_end : written_end)) {
            return broken(check, "X12/S6", tile,
                          check->schedule->messages.at[touch->transfer].start,
                          "two transfers share bytes that one of them writes");
        }
        touched_end = touch->end > touched_end ? touch->end : touched_end;
        written_end = touch->is_write && touch->end > written_end ? touch->end : written_end;
    }
    return true;
}

static bool check_phase(Check *check, isize *row, Arena scratch)
{
    const ExchangePhase *phase = &check->problem->phases.at[check->phase];
    const Schedule *schedule = check->schedule;
    check->tiles = arena_array(&scratch, TileParts, CHIP_TILES);
    for (int32_t i = phase->transfer_first; i < phase->transfer_first + phase->transfer_count;
         i++) {
        if (!check_transfer(check, i, &scratch)) {
            return false;
        }
    }
    Event horizon = 0;
    for (int tile = 0; tile < CHIP_TILES; tile++) {
        TileParts *parts = &check->tiles[tile];
        if (parts->sends.len + parts->receives.len == 0) {
            continue;
        }
        Arena temporary = scratch;
        sort_stable(parts->sends.at, parts->sends.len, sizeof(Part), compare_parts, NULL,
                    temporary);
        sort_stable(parts->receives.at, parts->receives.len, sizeof(Part), compare_parts, NULL,
                    temporary);
        RowControlVec controls = controls_of(parts, &temporary);
        if (!check_streams(check, tile, parts) || !check_bytes(check, tile, parts, temporary) ||
            !check_elements(check, tile, parts) || !check_controls(check, tile, parts, &controls)) {
            return false;
        }
        if (*row >= schedule->rows.len || schedule->rows.at[*row].phase != check->phase ||
            schedule->rows.at[*row].tile.id != tile) {
            return broken(check, "S10", tile, 0, "row is missing or out of order");
        }
        const Row *at = &schedule->rows.at[(*row)++];
        if (!check_row(check, at, parts, &controls, temporary)) {
            return false;
        }
        horizon = at->end > horizon ? at->end : horizon;
    }
    if (horizon != schedule->horizon[check->phase] ||
        schedule->bounds[check->phase].chosen.events > horizon) {
        return broken(check, "S10", 0, horizon,
                      "the phase's horizon is not its last row end, or is below its bound");
    }
    return true;
}

bool exchange_check(const ExchangeProblem *problem, const Schedule *schedule, int threads,
                    Arena scratch, Error *err)
{
    (void)threads;
    Check check = {.problem = problem, .schedule = schedule, .err = err};
    if (problem->row_range.end > SRAM_REGION1) {
        return error_set(err, ERROR_NO, NULL, "X11: rows reach to 0x%x, not fetchable from 0x%x on",
                         problem->row_range.end, SRAM_REGION1);
    }
    isize row = 0;
    for (isize i = 0; i < problem->phases.len; i++) {
        check.phase = (int32_t)i;
        if (!check_phase(&check, &row, scratch)) {
            return false;
        }
    }
    if (row != schedule->rows.len) {
        return error_set(err, ERROR_NO, NULL, "S10: %td rows that no phase asks for",
                         schedule->rows.len - row);
    }
    int64_t *bytes = arena_array(&scratch, int64_t, CHIP_TILES);
    for (isize i = 0; i < schedule->rows.len; i++) {
        const Row *at = &schedule->rows.at[i];
        bytes[at->tile.id] += (at->word_count + 1) / 2 * 8;
        if (bytes[at->tile.id] > problem->row_bytes_max) {
            return error_set(err, ERROR_NO, NULL, "S10: rows of tile L%d need more than %u bytes",
                             tile_of(at->tile).id, problem->row_bytes_max);
        }
    }
    return true;
}
