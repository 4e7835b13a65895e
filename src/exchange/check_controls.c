/* Which controls the receives of a tile need, and when (exchange.md 3.2, 5), and the rules about their events: X5, X6.
 *
 *   ordinary: source at src, neutral at src + m, pointer at the first store;
 *   paired:   the early member sets the paired mux and clears it; both members switch the format 2 events before the first
 *             store and 2 before the end of the payload.
 *
 * What follows directly replaces: a source the neutral, a format the 0. A pointer that has arrived by itself, and a source or
 * a format that is in force already, is not written again.
 */
#include "exchange/check.h"

typedef struct Stream {
    CheckControl *at;
    int32_t len;
} Stream;

static void add(Stream *out, Event event, RowStream stream, uint32_t value, const CheckPart *part)
{
    out->at[out->len++] = (CheckControl){{event, stream, value}, part->message};
}

static void add_mux(Stream *out, const CheckPart *last, const CheckPart *part,
                    const CheckPart *next)
{
    bool follows = last != NULL && last->end == part->begin && last->is_paired == part->is_paired &&
                   last->is_early == part->is_early;
    bool is_followed = next != NULL && next->begin == part->end &&
                       next->is_paired == part->is_paired && next->is_early == part->is_early;
    bool is_same = follows && last->source == part->source;
    RowStream stream = part->is_paired ? ROW_XPIC_PAIRED : ROW_XPIC;
    if (part->is_paired && !part->is_early) {
        return;
    }
    if (!is_same) {
        add(out, part->begin, stream, part->source, part);
    }
    if (!is_followed) {
        add(out, part->end, stream, FABRIC_NEUTRAL, part);
    }
}

static void add_format(Stream *out, const CheckPart *last, const CheckPart *part,
                       const CheckPart *next)
{
    if (!part->is_paired) {
        return;
    }
    bool follows = last != NULL && last->is_paired && last->end == part->begin;
    if (!follows || last->direction != part->direction) {
        add(out, part->store - 2, ROW_FORMAT, part->direction, part);
    }
    if (next == NULL || !next->is_paired || next->begin != part->end) {
        add(out, part->store - 2 + (part->end - part->begin), ROW_FORMAT, 0, part);
    }
}

static bool comes_before(const RowControl *a, const RowControl *b)
{
    return a->event != b->event ? a->event < b->event : a->stream < b->stream;
}

/* Three lists, each ascending, into one. */
static void merge_streams(CheckTile *tile, Stream *streams)
{
    int32_t next[3] = {0};
    int32_t total = streams[0].len + streams[1].len + streams[2].len;
    tile->controls = arena_array(tile->arena, CheckControl, total);
    tile->control_count = total;
    for (int32_t i = 0; i < total; i++) {
        int from = -1;
        for (int k = 0; k < 3; k++) {
            if (next[k] < streams[k].len &&
                (from < 0 || comes_before(&streams[k].at[next[k]].control,
                                          &streams[from].at[next[from]].control))) {
                from = k;
            }
        }
        tile->controls[i] = streams[from].at[next[from]++];
    }
}

static void derive_controls(CheckTile *tile)
{
    const CheckPart *receives = tile->part[CHECK_RECEIVES];
    int32_t count = tile->count[CHECK_RECEIVES];
    Stream streams[3]; /* mux, pointer, format */
    for (int i = 0; i < 3; i++) {
        streams[i] = (Stream){arena_array(tile->arena, CheckControl, 2 * (isize)count), 0};
    }
    uint32_t pointer = 0;
    for (int32_t i = 0; i < count; i++) {
        const CheckPart *part = &receives[i], *last = i > 0 ? part - 1 : NULL;
        const CheckPart *next = i + 1 < count ? part + 1 : NULL;
        add_mux(&streams[0], last, part, next);
        if (i == 0 || part->address != pointer) {
            add(&streams[1], part->store, ROW_POINTER, word_of_byte(part->address), part);
        }
        pointer = part->address + 4 * part->words;
        add_format(&streams[2], last, part, next);
    }
    merge_streams(tile, streams);
}

/* X5: one control an event, or an ordinary source with an ordinary pointer. */
static bool check_events(const CheckTile *tile)
{
    const CheckControl *last = NULL;
    bool is_shared = false;
    for (isize i = 0; i < tile->control_count; i++) {
        const CheckControl *next = &tile->controls[i];
        bool is_together = last != NULL && last->control.event == next->control.event;
        if (is_together && (is_shared || last->control.stream != ROW_XPIC ||
                            next->control.stream != ROW_POINTER)) {
            return check_tile_broken(tile, "X5/S4", next->control.event, next->message,
                                     "two controls at one event");
        }
        is_shared = is_together;
        last = next;
    }
    return true;
}

/* X6: nothing takes effect at a start of this tile or one event behind it. */
static bool check_starts(const CheckTile *tile)
{
    const CheckPart *sends = tile->part[CHECK_SENDS];
    int32_t send = 0;
    for (isize i = 0; i < tile->control_count; i++) {
        const CheckControl *control = &tile->controls[i];
        Event event = control->control.event;
        while (send < tile->count[CHECK_SENDS] && sends[send].begin + 1 < event) {
            send++;
        }
        if (send < tile->count[CHECK_SENDS] && sends[send].begin <= event) {
            return check_tile_broken(tile, "X6/S5", event, control->message,
                                     "control takes effect when a send of the tile starts");
        }
    }
    return true;
}

bool check_controls(CheckTile *tile)
{
    derive_controls(tile);
    return check_events(tile) && check_starts(tile);
}
