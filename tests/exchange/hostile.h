/* Hostile but legal exchange problems, one stream of draws a seed: whatever a transfer may be (exchange.h; exchange.md 5, 8, 9)
 * is likely here, and near whatever makes it hard. Lengths lie around the limits of encodings and around the lengths at
 * which controls of one message meet each other or its own start; sources and destinations lie in few memory elements, at
 * their edges, behind one another, and (HOSTILE_FORWARD) over one another.
 *
 * What makes a problem legal is said once, in hostile_refuses and hostile_blocks; the kinds of transfers only propose.
 */
#pragma once
#include "problems.h"

/* What a solver may not know yet. */
enum {
    HOSTILE_PLAIN = 0,
    HOSTILE_LOOPBACK = 1, /* sender among its receivers */
    HOSTILE_FORWARD = 2,  /* ranges of one tile overlap and one of them is written */
    HOSTILE_MOVES = 4,    /* sources that move with the iterations */
    HOSTILE_OMITS = 8,    /* not of problems but of rows: no control that changes nothing */
    HOSTILE_ALL = 15,
};

typedef struct HostileShape {
    int tiles;     /* at least 2 */
    int transfers; /* largest number a phase */
    int phases;
    uint32_t features;
} HostileShape;

/* A range that a transfer of the phase touches, chained by tile. */
typedef struct HostileTouch {
    uint32_t begin, end;
    int32_t next; /* 1 + index of another one of the tile */
    PhysTile tile;
    bool is_write;
} HostileTouch;
VEC(HostileTouch);

typedef struct Hostile {
    Dice dice;
    Arena *arena;
    ExchangeProblem problem;
    uint32_t features;
    PhysTile *tiles;
    int tile_count;
    bool *is_member; /* by physical id */
    /* of the phase */
    int32_t phase_first, iterations;
    int32_t move_first, move_count;
    int overlap_percent; /* of the transfers that touch what others write, when they may */
    AddrRange hot[4];
    int hot_count;
    HostileTouchVec touches;
    int32_t *touch_of; /* by physical id: 1 + index of the last touch */
} Hostile;

/* A transfer under construction. */
enum { HOSTILE_RECEIVERS_MAX = 24 };
typedef struct HostileDraft {
    ExchangeTransfer t;
    ExchangeReceiver to[HOSTILE_RECEIVERS_MAX];
    int count;
} HostileDraft;

static inline bool hostile_chance(Hostile *h, int percent)
{
    return dice_below(&h->dice, 100) < percent;
}

/* --- legality --------------------------------------------------------------------------------------------------- */

static inline bool hostile_is_place(const ExchangeProblem *problem, int64_t address, uint32_t words)
{
    return address % 4 == 0 && address >= SRAM_BASE && address + 4 * (int64_t)words <= SRAM_END &&
           !ranges_share_group((AddrRange){(uint32_t)address, (uint32_t)address + 4 * words},
                               problem->row_range);
}

static inline int64_t hostile_source(const ExchangeProblem *problem, const ExchangeTransfer *t,
                                     int32_t iteration)
{
    return (int64_t)t->address + move_offset(problem, t->move, iteration);
}

static inline int32_t hostile_iterations(const ExchangePhase *phase)
{
    return phase->iterations > 1 ? phase->iterations : 1;
}

/* Why a transfer is not legal by itself; NULL when it is. */
static inline const char *hostile_refuses(const ExchangeProblem *problem, int32_t iterations,
                                          const ExchangeTransfer *t, const ExchangeReceiver *to,
                                          int count)
{
    if (t->words < 1 || t->words > FABRIC_MESSAGE_WORDS_MAX) {
        return "length";
    }
    if (count < 1 || (count == 1 && to[0].tile.id == t->source.id)) {
        return "X13: no receiver but the sender";
    }
    if (!hostile_is_place(problem, t->address, t->words)) {
        return "X10, X14: source";
    }
    for (int32_t i = 0; i < iterations; i++) {
        if (!hostile_is_place(problem, hostile_source(problem, t, i), t->words)) {
            return "X10, X14: moved source";
        }
    }
    for (int k = 0; k < count; k++) {
        if (!hostile_is_place(problem, to[k].address, t->words)) {
            return "X10, X14: destination";
        }
        for (int other = 0; other < k; other++) {
            if (to[other].tile.id == to[k].tile.id) {
                return "X13: a receiver twice";
            }
        }
        AddrRange stored = {to[k].address, to[k].address + 4 * t->words};
        for (int32_t i = 0; to[k].tile.id == t->source.id && i < iterations; i++) {
            uint32_t at = (uint32_t)hostile_source(problem, t, i);
            if (ranges_share_group(stored, (AddrRange){at, at + 4 * t->words})) {
                return "loopback inside one memory element";
            }
        }
    }
    return NULL;
}

/* Do the bytes overlap those of another transfer of the phase, and one of the two writes? */
static inline bool hostile_blocks(const Hostile *h, PhysTile tile, AddrRange range, bool is_write)
{
    for (int32_t i = h->touch_of[tile.id]; i != 0; i = h->touches.at[i - 1].next) {
        const HostileTouch *touch = &h->touches.at[i - 1];
        if ((is_write || touch->is_write) && range.begin < touch->end && touch->begin < range.end) {
            return true;
        }
    }
    return false;
}

static inline bool hostile_overlaps(const Hostile *h, const HostileDraft *draft)
{
    uint32_t bytes = 4 * draft->t.words;
    for (int32_t i = 0; i < h->iterations; i++) {
        uint32_t at = (uint32_t)hostile_source(&h->problem, &draft->t, i);
        if (hostile_blocks(h, draft->t.source, (AddrRange){at, at + bytes}, false)) {
            return true;
        }
    }
    for (int k = 0; k < draft->count; k++) {
        uint32_t at = draft->to[k].address;
        if (hostile_blocks(h, draft->to[k].tile, (AddrRange){at, at + bytes}, true)) {
            return true;
        }
    }
    return false;
}

static inline void hostile_touch(Hostile *h, PhysTile tile, uint32_t at, uint32_t words,
                                 bool is_write)
{
    *vec_push(&h->touches, h->arena) =
        (HostileTouch){at, at + 4 * words, h->touch_of[tile.id], tile, is_write};
    h->touch_of[tile.id] = (int32_t)h->touches.len;
}

static inline bool hostile_has(const HostileDraft *draft, PhysTile tile)
{
    for (int k = 0; k < draft->count; k++) {
        if (draft->to[k].tile.id == tile.id) {
            return true;
        }
    }
    return false;
}

/* Adds the draft when it is legal. */
static inline bool hostile_add(Hostile *h, HostileDraft *draft)
{
    ExchangeTransfer *t = &draft->t;
    if (hostile_refuses(&h->problem, h->iterations, t, draft->to, draft->count) != NULL) {
        return false;
    }
    if ((h->features & HOSTILE_LOOPBACK) == 0 && hostile_has(draft, t->source)) {
        return false;
    }
    if (hostile_overlaps(h, draft) &&
        ((h->features & HOSTILE_FORWARD) == 0 || !hostile_chance(h, h->overlap_percent))) {
        return false;
    }
    for (int32_t i = 0; i < h->iterations; i++) {
        hostile_touch(h, t->source, (uint32_t)hostile_source(&h->problem, t, i), t->words, false);
    }
    t->receiver_first = (int32_t)h->problem.receivers.len;
    t->receiver_count = draft->count;
    for (int k = 0; k < draft->count; k++) {
        *vec_push(&h->problem.receivers, h->arena) = draft->to[k];
        hostile_touch(h, draft->to[k].tile, draft->to[k].address, t->words, true);
    }
    *vec_push(&h->problem.transfers, h->arena) = *t;
    return true;
}

/* --- drawing ------------------------------------------------------------------------------------------------------ */

/* Words of a message; `row` is that of a receiver, since the events between its controls depend on it. */
static inline uint32_t hostile_words(Hostile *h, int row, bool is_even)
{
    static const int edges[] = {1,  2,  27, 28, 29, 30,  51,  52,  53,
                                54, 63, 64, 65, 66, 127, 128, 129, 130};
    Dice *dice = &h->dice;
    int kind = dice_below(dice, 40), words;
    if (kind < 14) {
        words = 1 + dice_below(dice, 16);
    } else if (kind < 18) {
        words = 26 + dice_below(dice, 6); /* loopback: T(s,s) is -28 or -29 */
    } else if (kind < 26) {
        words = edges[dice_below(dice, (int)(sizeof edges / sizeof *edges))];
    } else if (kind < 30) {
        words = 50 + dice_below(dice, 5) + 2 * row; /* pointer, format and neutral meet */
    } else if (kind < 37) {
        words = 1 + dice_below(dice, 150);
    } else if (kind < 39) {
        words = 1 + dice_below(dice, 700);
    } else {
        words = dice_below(dice, 4) != 0 ? 1 + dice_below(dice, 4148) : 4148 - dice_below(dice, 90);
    }
    if (is_even && words < 1000 && hostile_chance(h, 60)) {
        words *= 2; /* the same number of items */
    }
    return (uint32_t)(is_even ? (words + 1) / 2 * 2 : words);
}

static inline PhysTile hostile_tile(Hostile *h)
{
    return h->tiles[dice_below(&h->dice, h->tile_count)];
}

/* An address for `words` words of a tile; 0: none was found. */
static inline uint32_t hostile_address(Hostile *h, PhysTile tile, uint32_t words, uint32_t align)
{
    Dice *dice = &h->dice;
    for (int attempt = 0; attempt < 12; attempt++) {
        int kind = dice_below(dice, 10);
        int64_t at;
        int32_t touch = h->touch_of[tile.id];
        for (int skip = dice_below(dice, 4); touch != 0 && skip > 0; skip--) {
            int32_t next = h->touches.at[touch - 1].next;
            touch = next != 0 ? next : touch;
        }
        if (kind < 4) {
            AddrRange hot = h->hot[dice_below(dice, h->hot_count)];
            at = hot.begin + 4 * (int64_t)dice_below(dice, (int)(hot.end - hot.begin) / 4);
        } else if (kind < 6 && touch != 0) { /* right behind, right before, or a few words off */
            const HostileTouch *near = &h->touches.at[touch - 1];
            int gap = dice_below(dice, 3) == 0 ? 4 * dice_below(dice, 5) : 0;
            at = dice_below(dice, 2) == 0 ? (int64_t)near->end + gap
                                          : (int64_t)near->begin - 4 * (int64_t)words - gap;
        } else if (kind < 8) { /* over or at an edge of an element */
            int edge = dice_below(dice, (SRAM_END - SRAM_BASE) / ELEMENT_BYTES);
            at = SRAM_BASE + edge * ELEMENT_BYTES -
                 4 * dice_below(dice, (int)words + 1) * (dice_below(dice, 3) != 0 ? 1 : 0);
        } else if (kind == 8) {
            at = SRAM_END - 4 * (int64_t)words;
        } else {
            at = SRAM_BASE + 4 * dice_below(dice, SRAM_WORDS);
        }
        at = at < 0 ? 0 : at / align * align;
        if (hostile_is_place(&h->problem, at, words)) {
            return (uint32_t)at;
        }
    }
    return 0;
}

/* An address at which `words` words overlap a touched range: all of it, or shifted. */
static inline uint32_t hostile_over(Hostile *h, const HostileTouch *touch, uint32_t words,
                                    uint32_t align)
{
    uint32_t length = (touch->end - touch->begin) / 4;
    int64_t at = touch->begin;
    if (dice_below(&h->dice, 3) != 0) {
        at += 4 * ((int64_t)dice_below(&h->dice, (int)(length + words) - 1) - (int64_t)words + 1);
    }
    at = at < 0 ? 0 : at / align * align;
    return hostile_is_place(&h->problem, at, words) ? (uint32_t)at : 0;
}

static inline void hostile_choose_move(Hostile *h, HostileDraft *draft)
{
    if (h->move_count > 0 && hostile_chance(h, 60)) {
        draft->t.move = h->move_first + dice_below(&h->dice, h->move_count);
    }
}

static inline void hostile_receiver(HostileDraft *draft, PhysTile tile)
{
    if (draft->count < HOSTILE_RECEIVERS_MAX && !hostile_has(draft, tile)) {
        draft->to[draft->count++].tile = tile;
    }
}

/* Receivers without addresses: one, several, whole pairs, and with HOSTILE_LOOPBACK the sender among them. */
static inline void hostile_receivers(Hostile *h, HostileDraft *draft, bool is_paired)
{
    Dice *dice = &h->dice;
    PhysTile source = draft->t.source;
    bool may_loop = (h->features & HOSTILE_LOOPBACK) != 0;
    int wanted =
        dice_below(dice, 3) == 0 ? 2 + dice_below(dice, dice_below(dice, 4) == 0 ? 20 : 4) : 1;
    if (may_loop && hostile_chance(h, 25)) {
        hostile_receiver(draft, source);
        if (is_paired) {
            hostile_receiver(draft, partner_of(source));
            wanted = dice_below(dice, 2) == 0 ? 2 : wanted + 2; /* alone, or with others */
        } else {
            wanted++;
        }
    }
    for (int attempt = 0; attempt < 2 * wanted + 8 && draft->count < wanted; attempt++) {
        PhysTile to = hostile_tile(h);
        bool is_own = to.id == source.id || (is_paired && partner_of(to).id == source.id);
        if (is_own || (is_paired && !h->is_member[partner_of(to).id])) {
            continue;
        }
        if (hostile_chance(h, 15) && !is_paired && h->is_member[partner_of(source).id]) {
            to = partner_of(source);
        }
        hostile_receiver(draft, to);
        if (is_paired) {
            hostile_receiver(draft, partner_of(to));
        }
    }
}

/* Anything: sources and destinations anywhere. */
static inline bool hostile_fresh(Hostile *h, bool is_paired)
{
    HostileDraft draft = {.t = {.source = hostile_tile(h)}};
    uint32_t align = is_paired ? 8 : 4;
    hostile_receivers(h, &draft, is_paired);
    if (draft.count == 0) {
        return false;
    }
    draft.t.words = hostile_words(h, phys_row(draft.to[0].tile), is_paired);
    draft.t.address = hostile_address(h, draft.t.source, draft.t.words, align);
    hostile_choose_move(h, &draft);
    for (int k = 0; k < draft.count; k++) {
        draft.to[k].address = hostile_address(h, draft.to[k].tile, draft.t.words, align);
    }
    return hostile_add(h, &draft);
}

static inline HostileDraft hostile_draft_of(const Hostile *h, int32_t transfer)
{
    HostileDraft draft = {.t = h->problem.transfers.at[transfer]};
    draft.count = draft.t.receiver_count;
    for (int k = 0; k < draft.count; k++) {
        draft.to[k] = h->problem.receivers.at[draft.t.receiver_first + k];
    }
    return draft;
}

/* A transfer goes on where another one of the phase ended: at the destinations, at the source, or at both. */
static inline bool hostile_continues(Hostile *h, bool is_paired)
{
    int32_t count = (int32_t)h->problem.transfers.len - h->phase_first;
    if (count == 0) {
        return false;
    }
    int32_t back = dice_below(&h->dice, 2) == 0 ? 0 : dice_below(&h->dice, count);
    HostileDraft draft = hostile_draft_of(h, h->phase_first + count - 1 - back);
    ExchangeTransfer last = draft.t;
    draft.t.words = hostile_words(h, phys_row(draft.to[0].tile), is_paired || last.words % 2 == 0);
    draft.t.address += 4 * last.words;
    for (int k = 0; k < draft.count; k++) {
        draft.to[k].address += 4 * last.words;
    }
    int kind = dice_below(&h->dice, 5);
    if (kind == 0) { /* another source, pointers go on */
        draft.t.source = hostile_tile(h);
        draft.t.move = 0;
        draft.t.address = hostile_address(h, draft.t.source, draft.t.words, 8);
        hostile_choose_move(h, &draft);
    } else if (kind == 1) { /* the same source, elsewhere */
        draft.t.address = hostile_address(h, draft.t.source, draft.t.words, 8);
        draft.t.move = 0;
        hostile_choose_move(h, &draft);
    } else if (kind == 2) { /* other receivers, the source goes on */
        draft.count = 0;
        hostile_receivers(h, &draft, is_paired);
        for (int k = 0; k < draft.count; k++) {
            draft.to[k].address = hostile_address(h, draft.to[k].tile, draft.t.words, 8);
        }
    }
    return hostile_add(h, &draft);
}

/* Sends on what arrived, overwrites what is sent, or overwrites what arrived. */
static inline bool hostile_depends(Hostile *h, bool is_paired)
{
    if (h->touches.len == 0 || (h->features & HOSTILE_FORWARD) == 0) {
        return false;
    }
    HostileTouch touch = h->touches.at[dice_below(&h->dice, (int)h->touches.len)];
    uint32_t length = (touch.end - touch.begin) / 4, align = is_paired ? 8 : 4;
    bool is_send = touch.is_write && dice_below(&h->dice, 3) != 0;
    HostileDraft draft = {.t = {.source = is_send ? touch.tile : hostile_tile(h)}};
    if (is_send) {
        hostile_receivers(h, &draft, is_paired);
    } else if (is_paired && h->is_member[partner_of(touch.tile).id]) {
        hostile_receiver(&draft, touch.tile);
        hostile_receiver(&draft, partner_of(touch.tile));
    } else {
        hostile_receiver(&draft, touch.tile);
    }
    if (draft.count == 0) {
        return false;
    }
    draft.t.words = dice_below(&h->dice, 2) == 0
                        ? length
                        : hostile_words(h, phys_row(draft.to[0].tile), is_paired);
    draft.t.address = is_send ? hostile_over(h, &touch, draft.t.words, align)
                              : hostile_address(h, draft.t.source, draft.t.words, align);
    if (!is_send || hostile_chance(h, 30)) {
        hostile_choose_move(h, &draft);
    }
    for (int k = 0; k < draft.count; k++) {
        draft.to[k].address = !is_send && draft.to[k].tile.id == touch.tile.id
                                  ? hostile_over(h, &touch, draft.t.words, align)
                                  : hostile_address(h, draft.to[k].tile, draft.t.words, align);
    }
    return hostile_add(h, &draft);
}

/* --- tiles, moves, phases ----------------------------------------------------------------------------------------- */

static inline void hostile_member(Hostile *h, int wanted, PhysTile tile)
{
    if (h->tile_count < wanted && !h->is_member[tile.id]) {
        h->is_member[tile.id] = true;
        h->tiles[h->tile_count++] = tile;
    }
}

/* Neighbours, tiles from the whole chip, or its corners; mostly whole pairs. */
static inline void hostile_choose_tiles(Hostile *h, int wanted)
{
    h->tiles = arena_array(h->arena, PhysTile, wanted);
    h->is_member = arena_array(h->arena, bool, CHIP_TILES);
    if (wanted == CHIP_TILES) {
        for (int i = 0; i < CHIP_TILES; i++) {
            hostile_member(h, wanted, (PhysTile){(uint16_t)i});
        }
        return;
    }
    int kind = dice_below(&h->dice, 3), pairs_percent = 50 * dice_below(&h->dice, 3);
    int base = dice_below(&h->dice, CHIP_TILES);
    for (int i = 0; h->tile_count < wanted; i++) {
        bool is_corner = kind == 2 && i < 1000; /* the corners have 128 tiles only */
        int corner = (dice_below(&h->dice, 2) == 0 ? 0 : 64 * (CHIP_ROWS - 1));
        int at = is_corner   ? corner + dice_below(&h->dice, 64)
                 : kind == 1 ? dice_below(&h->dice, CHIP_TILES)
                             : (base + i) % CHIP_TILES;
        PhysTile tile = is_corner ? (PhysTile){(uint16_t)at} : phys_of((Tile){(uint16_t)at});
        hostile_member(h, wanted, tile);
        if (hostile_chance(h, pairs_percent)) {
            hostile_member(h, wanted, partner_of(tile));
        }
    }
}

static inline void hostile_push_offset(Hostile *h, int64_t offset)
{
    *vec_push(&h->problem.offsets, h->arena) = (ExchangeOffset)offset;
}

/* Steps of words or of pairs of words, steady or not, forwards or back. No move stands still: whether such a thing moves is
 * nobody's business. */
static inline void hostile_add_move(Hostile *h)
{
    Dice *dice = &h->dice;
    int32_t first = (int32_t)h->problem.offsets.len;
    int kind = dice_below(dice, 4), unit = dice_below(dice, 3) == 0 ? 4 : 8;
    int64_t step = unit * (1 + dice_below(dice, dice_below(dice, 4) == 0 ? 3000 : 64));
    if (kind == 3 && h->move_count > 0) { /* the offsets of another one */
        ExchangeMove twin = h->problem.moves.at[h->move_first + dice_below(dice, h->move_count)];
        for (int32_t i = 0; i < h->iterations; i++) {
            hostile_push_offset(h, h->problem.offsets.at[twin.first + i]);
        }
    } else {
        step = dice_below(dice, 3) == 0 ? -step : step;
        int64_t start = dice_below(dice, 2) == 0 ? 0 : step * (dice_below(dice, 5) - 2);
        for (int32_t i = 0; i < h->iterations; i++) {
            int64_t jump = kind == 2 && i > 0 ? unit * (dice_below(dice, 1001) - 500) : 0;
            hostile_push_offset(h, start + (kind == 2 ? (i == 1 ? step : jump) : i * step));
        }
    }
    *vec_push(&h->problem.moves, h->arena) = (ExchangeMove){first, h->iterations};
    h->move_count++;
}

static inline void hostile_begin_phase(Hostile *h)
{
    h->phase_first = (int32_t)h->problem.transfers.len;
    h->iterations = dice_below(&h->dice, 2) == 0 ? 1 : 1 + dice_below(&h->dice, 4);
    h->move_first = (int32_t)h->problem.moves.len;
    h->move_count = 0;
    h->overlap_percent = 50 * dice_below(&h->dice, 3);
    h->touches.len = 0;
    memset(h->touch_of, 0, CHIP_TILES * sizeof *h->touch_of);
    h->hot_count = 1 + dice_below(&h->dice, 4);
    for (int i = 0; i < h->hot_count; i++) {
        uint32_t bytes = 256u << dice_below(&h->dice, 7);
        uint32_t begin = SRAM_BASE + 4 * (uint32_t)dice_below(&h->dice, SRAM_WORDS);
        h->hot[i] = (AddrRange){begin, begin + bytes};
    }
    int moves =
        h->iterations > 1 && (h->features & HOSTILE_MOVES) != 0 ? dice_below(&h->dice, 4) : 0;
    for (int i = 0; i < moves; i++) {
        hostile_add_move(h);
    }
}

static inline void hostile_add_phase(Hostile *h, int transfers)
{
    hostile_begin_phase(h);
    int wanted = 1 + dice_below(&h->dice, transfers);
    wanted = dice_below(&h->dice, 3) == 0 && wanted < 100 ? 1 + wanted / 8 : wanted;
    int paired_percent = 25 * dice_below(&h->dice, 5);
    for (int attempt = 0; attempt < 3 * wanted + 20; attempt++) {
        int have = (int)h->problem.transfers.len - h->phase_first;
        if (have == wanted) {
            break;
        }
        bool is_paired = hostile_chance(h, paired_percent);
        int kind = dice_below(&h->dice, 10);
        (void)(kind < 5   ? hostile_fresh(h, is_paired)
               : kind < 8 ? hostile_continues(h, is_paired)
                          : hostile_depends(h, is_paired));
    }
    *vec_push(&h->problem.phases, h->arena) = (ExchangePhase){
        .transfer_first = h->phase_first,
        .transfer_count = (int32_t)h->problem.transfers.len - h->phase_first,
        .iterations = h->iterations == 1 && dice_below(&h->dice, 2) == 0 ? 0 : h->iterations};
}

/* The rows lie at the beginning of SRAM or between data. */
static inline ExchangeProblem hostile_random(uint64_t seed, HostileShape shape, Arena *arena)
{
    Hostile hostile = {.dice = {seed, 0}, .arena = arena, .features = shape.features};
    Hostile *h = &hostile;
    h->touch_of = arena_array(arena, int32_t, CHIP_TILES);
    uint32_t rows = SRAM_BASE;
    if (dice_below(&h->dice, 3) == 0) {
        rows += ELEMENT_BYTES * (uint32_t)dice_below(&h->dice, 11);
    }
    h->problem.row_range = (AddrRange){rows, rows + PROBLEM_ROW_BYTES};
    h->problem.row_bytes_max = PROBLEM_ROW_BYTES - 2048; /* the rest: call, fetch-ahead */
    *vec_push(&h->problem.moves, arena) = (ExchangeMove){0};
    hostile_choose_tiles(h, shape.tiles);
    for (int i = 0; i < shape.phases; i++) {
        hostile_add_phase(h, shape.transfers);
    }
    return h->problem;
}

/* Of a whole problem, said again from its records alone: what the generator, or somebody who takes transfers away, must keep. */
static inline const char *hostile_problem_refuses(const ExchangeProblem *problem)
{
    for (isize p = 0; p < problem->phases.len; p++) {
        const ExchangePhase *phase = &problem->phases.at[p];
        int32_t iterations = hostile_iterations(phase);
        for (int32_t i = 0; i < phase->transfer_count; i++) {
            const ExchangeTransfer *t = &problem->transfers.at[phase->transfer_first + i];
            if (t->move != 0 && problem->moves.at[t->move].count != iterations) {
                return "as many offsets as iterations";
            }
            const char *why =
                hostile_refuses(problem, iterations, t, &problem->receivers.at[t->receiver_first],
                                t->receiver_count);
            if (why != NULL) {
                return why;
            }
        }
    }
    return NULL;
}
