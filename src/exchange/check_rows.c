/* A row against what the tile must do: its words decode to exactly the sends and controls that follow from the starts, under
 * the base register that each send needs (S9, exchange.md 6.2), with a patch for every word that moves on its own (X19), and
 * last long enough (S10).
 */
#include "exchange/check.h"
#include "exchange/decode.h"

/* The row of a tile, decoded. */
typedef struct RowCheck {
    const CheckTile *tile;
    const Row *row;
    RowScript script;
    RowAddressVec addresses;
    bool *is_patched; /* per send: its words are patched */
    bool may_patch;
} RowCheck;

static bool row_broken(const RowCheck *r, const char *rule, Event event, int32_t message,
                       const char *what)
{
    return check_tile_broken(r->tile, rule, event, message, what);
}

static int32_t alike(const RowCheck *r, int32_t move)
{
    return r->tile->check->moves[move].alike;
}

/* Item address that the row's word must have, for a send under the given base. */
static bool check_address(const RowCheck *r, isize index, bool is_base_moving)
{
    const Check *check = r->tile->check;
    const CheckPart *want = &r->tile->part[CHECK_SENDS][index];
    const RowSend *have = &r->script.sends.at[index];
    int32_t move = want->move;
    int64_t address = want->address;
    if (is_base_moving) {
        if (r->row->move == 0 || alike(r, move) != alike(r, r->row->move)) {
            return row_broken(r, "X17/S9", want->begin, want->message,
                              "sent under a moving base that is not the base of its source");
        }
        address += check->offsets[check->moves[move].first]; /* the least offset */
    }
    r->is_patched[index] = move != 0 && !is_base_moving;
    if (have->address != address / (want->is_paired ? 8 : 4)) {
        return row_broken(r, move != 0 ? "X17/S9" : "X14", want->begin, want->message,
                          move != 0 ? "the row's address does not fit the base in force"
                                    : "the row sends from another address");
    }
    return true;
}

static bool check_sends(RowCheck *r)
{
    const CheckPart *wants = r->tile->part[CHECK_SENDS];
    const RowSendVec *sends = &r->script.sends;
    const RowBaseVec *bases = &r->script.bases;
    isize total = r->tile->count[CHECK_SENDS], base = 0;
    bool is_base_moving = r->row->move != 0;
    for (isize i = 0; i < total || i < sends->len; i++) {
        const CheckPart *want = i < total ? &wants[i] : NULL;
        const RowSend *have = i < sends->len ? &sends->at[i] : NULL;
        if (have == NULL || (want != NULL && have->begin > want->begin)) {
            return row_broken(r, "X1/S1", want->begin, want->message, "the row misses a send");
        }
        if (want == NULL || have->begin != want->begin || have->end != want->end) {
            return row_broken(r, "X1/S1", have->begin, want != NULL ? want->message : -1,
                              "the row sends what no transfer asks for");
        }
        if (have->sctl != want->sctl) {
            bool is_width = ((have->sctl ^ want->sctl) & SCTL_WIDE) != 0;
            return row_broken(r, is_width ? "X4" : "X8", have->begin, want->message,
                              is_width ? "the row sends items of the other width"
                                       : "direction bits of the send are wrong");
        }
        while (base < bases->len && bases->at[base].event < have->begin) {
            is_base_moving = bases->at[base++].is_moving;
        }
        if (!check_address(r, i, is_base_moving)) {
            return false;
        }
    }
    return true;
}

/* The rule that a missing, different or superfluous control breaks. */
static const char *rule_of(const RowControl *control)
{
    switch (control->stream) {
    case ROW_POINTER:
        return "X3/S3";
    case ROW_FORMAT:
        return "X4/S3";
    case ROW_XPIC:
    case ROW_XPIC_PAIRED:
        break;
    }
    bool is_paired = control->stream == ROW_XPIC_PAIRED;
    return control->value == FABRIC_NEUTRAL ? "X7/S2" : is_paired ? "X20/S2" : "X2/S2";
}

static bool comes_before(const RowControl *a, const RowControl *b)
{
    return a->event != b->event ? a->event < b->event : a->stream < b->stream;
}

static bool check_row_controls(const RowCheck *r)
{
    const CheckControl *wants = r->tile->controls;
    const RowControlVec *found = &r->script.controls;
    isize total = r->tile->control_count, k = 0;
    for (isize i = 0; i < total || k < found->len;) {
        const RowControl *want = i < total ? &wants[i].control : NULL;
        const RowControl *have = k < found->len ? &found->at[k] : NULL;
        if (want != NULL && have != NULL && want->event == have->event &&
            want->stream == have->stream && want->value == have->value) {
            i++;
            k++;
        } else if (want == NULL || (have != NULL && comes_before(have, want))) {
            return row_broken(r, rule_of(have), have->event, -1,
                              "the row has a control that no transfer asks for");
        } else {
            return row_broken(r, rule_of(want), want->event, wants[i].message,
                              "the row misses a control or gives it another value");
        }
    }
    return true;
}

/* S9, X17: no control takes effect in a base write, and INCOMING_BASE stays 0 and rests while something is stored. */
static bool check_bases(const RowCheck *r)
{
    const CheckPart *receives = r->tile->part[CHECK_RECEIVES];
    const RowControlVec *controls = &r->script.controls;
    isize control = 0, receive = 0;
    for (isize i = 0; i < r->script.bases.len; i++) {
        const RowBase *base = &r->script.bases.at[i];
        Event end = base->event + FABRIC_BASE_WRITE_EVENTS;
        end += base->sets_incoming ? FABRIC_BASE_WRITE_EVENTS + 1 : 0;
        if (base->is_moving && r->row->move == 0) {
            return row_broken(r, "X17/S9", base->event, -1,
                              "the row writes a moving base that it does not have");
        }
        while (control < controls->len && controls->at[control].event < base->event) {
            control++;
        }
        if (control < controls->len && controls->at[control].event < end) {
            return row_broken(r, "X17/S9", controls->at[control].event, -1,
                              "control takes effect in a write of the bases");
        }
        if (!base->sets_incoming) {
            continue;
        }
        while (receive < r->tile->count[CHECK_RECEIVES] &&
               receives[receive].store + receives[receive].end - receives[receive].begin <=
                   base->event) {
            receive++;
        }
        if (base->incoming != 0 ||
            (receive < r->tile->count[CHECK_RECEIVES] && receives[receive].store < end)) {
            return row_broken(r, "X17/S9", base->event, -1,
                              base->incoming != 0 ? "INCOMING_BASE is not 0"
                                                  : "INCOMING_BASE is written during a payload");
        }
    }
    return true;
}

/* X19: one patch for every word with an address that moves on its own, none for any other word. */
static bool check_patches(const RowCheck *r, Arena scratch)
{
    const Check *check = r->tile->check;
    const Row *row = r->row;
    int32_t *move = arena_array(&scratch, int32_t, row->word_count); /* of the word's patch */
    for (int32_t i = 0; i < row->patch_count; i++) {
        const RowPatch *patch = &check->schedule->patches.at[row->patch_first + i];
        if (patch->word < 0 || patch->word >= row->word_count || patch->move < 1 ||
            patch->move >= check->problem->moves.len || move[patch->word] != 0) {
            return row_broken(r, "X19", 0, -1,
                              "a patch of no word or of no move, or a second one of its word");
        }
        move[patch->word] = alike(r, patch->move);
    }
    int32_t used = 0;
    isize send = 0;
    for (isize i = 0; i < r->addresses.len; i++) {
        const RowAddress *at = &r->addresses.at[i];
        while (r->script.sends.at[send].end <= at->event) {
            send++;
        }
        const CheckPart *part = &r->tile->part[CHECK_SENDS][send];
        int32_t wanted = r->is_patched[send] ? alike(r, part->move) : 0;
        if (move[at->word] != wanted) {
            return row_broken(r, "X19", at->event, part->message,
                              wanted == 0 ? "a word that does not move is patched"
                                          : "an address that moves has no patch of its move");
        }
        used += wanted != 0;
    }
    return used == row->patch_count ||
           row_broken(r, "X19", 0, -1, "a word without an address is patched");
}

/* S10: not before max(t + m, 6) of any send, 5 events behind any payload, and any control. */
static bool check_end(const RowCheck *r)
{
    Event least = 0, end = r->script.end;
    int32_t message = -1;
    for (int side = 0; side < CHECK_SIDES; side++) {
        int32_t count = r->tile->count[side];
        if (side == CHECK_LENDS || count == 0) {
            continue;
        }
        const CheckPart *last =
            &r->tile->part[side][count - 1]; /* both lists end with the latest */
        Event need = side == CHECK_SENDS
                         ? (Event)max_i64(last->end, FABRIC_SEND_MIN)
                         : last->store + last->end - last->begin + FABRIC_ROW_MARGIN;
        message = need > least ? last->message : message;
        least = need > least ? need : least;
    }
    if (end < least) {
        return row_broken(r, "S10", end, message,
                          "the row ends before event 6, its last send or payload end + 5");
    }
    return end == r->row->end ||
           row_broken(r, "S10", end, -1,
                      "the words last longer or shorter than the row's end says");
}

static bool decode(RowCheck *r)
{
    const uint32_t *words = &r->tile->check->schedule->words.at[r->row->word_first];
    Error err = {0};
    if (row_decode_addresses(words, r->row->word_count, &r->script,
                             r->may_patch ? &r->addresses : NULL, r->tile->arena, &err)) {
        return true;
    }
    Str what = str_of(err.message), rule = str_cut(&what, ':');
    Arena *arena = r->tile->arena;
    return row_broken(r, str_copy(rule, arena).at, 0, -1, str_copy(str_trim(what), arena).at);
}

bool check_row(const CheckTile *tile, const Row *row)
{
    const Check *check = tile->check;
    RowCheck r = {.tile = tile,
                  .row = row,
                  .may_patch = check->problem->moves.len > 1 || row->patch_count > 0};
    r.is_patched = arena_array(tile->arena, bool, tile->count[CHECK_SENDS]);
    int32_t iterations = check->problem->phases.at[check->phase].iterations;
    if (row->move != 0 && check->problem->moves.at[row->move].count != max_i64(1, iterations)) {
        return row_broken(&r, "X17/S9", 0, -1,
                          "the row's base has other iterations than the phase");
    }
    return decode(&r) && check_sends(&r) && check_row_controls(&r) && check_bases(&r) &&
           (!r.may_patch || check_patches(&r, *tile->arena)) && check_end(&r);
}
