/* Forwarding inside a phase (S6, X12): transfers that touch common bytes of a tile, and of which one writes them, run in list
 * order. The later one starts when the earlier one is complete everywhere; what a moving source reads in any iteration
 * counts.
 *
 * A sweep by address finds the stretches where something can depend; most tiles have none. In a stretch the transfers are
 * taken in list order, against the latest completion of the reads and of the writes so far, held in a tree over the
 * addresses: n log n, also when everything touches the same word.
 */
#include "exchange/check.h"

typedef struct Touch {
    uint32_t begin, end;
    int32_t message;
    bool is_write;
} Touch;
VEC(Touch);

/* The latest completion in a range of cells, and whose it is. */
typedef struct Latest {
    Event completion;
    int32_t message; /* of the transfer that completes then, + 1 */
} Latest;

typedef struct Tree {
    Latest *whole; /* of every cell of the node */
    Latest *most;  /* of any cell of the node */
    int32_t cells;
} Tree;

static Latest later(Latest a, Latest b)
{
    return b.completion > a.completion ? b : a;
}

/* Node `node` has the cells [low, high). */
static void raise(Tree *tree, int32_t node, int32_t low, int32_t high, int32_t begin, int32_t end,
                  Latest value)
{
    if (begin >= high || end <= low) {
        return;
    }
    tree->most[node] = later(tree->most[node], value);
    if (begin <= low && high <= end) {
        tree->whole[node] = later(tree->whole[node], value);
        return;
    }
    int32_t middle = (low + high) / 2;
    raise(tree, 2 * node, low, middle, begin, end, value);
    raise(tree, 2 * node + 1, middle, high, begin, end, value);
}

static Latest latest(const Tree *tree, int32_t node, int32_t low, int32_t high, int32_t begin,
                     int32_t end)
{
    if (begin >= high || end <= low || tree->most[node].message == 0) {
        return (Latest){0};
    }
    if (begin <= low && high <= end) {
        return tree->most[node];
    }
    int32_t middle = (low + high) / 2;
    Latest left = latest(tree, 2 * node, low, middle, begin, end);
    Latest right = latest(tree, 2 * node + 1, middle, high, begin, end);
    return later(tree->whole[node], later(left, right));
}

static Tree make_tree(int32_t cells, Arena *arena)
{
    return (Tree){arena_array(arena, Latest, 4 * (isize)cells),
                  arena_array(arena, Latest, 4 * (isize)cells), cells};
}

static int32_t transfer_of(const CheckTile *tile, int32_t message)
{
    return tile->check->schedule->messages.at[message].transfer;
}

/* Reads of a moving source: one touch a distinct offset, or fewer where they continue each other. */
static void add_touches(const CheckTile *tile, const CheckPart *part, bool is_write,
                        TouchVec *touches)
{
    const Check *check = tile->check;
    const CheckMove *move = &check->moves[part->move];
    Touch *last = NULL;
    for (int32_t i = 0; i < move->count; i++) {
        uint32_t begin = part->address + (uint32_t)check->offsets[move->first + i];
        uint32_t end = begin + 4 * part->words;
        if (last != NULL && begin <= last->end) {
            last->end = end;
            continue;
        }
        last = vec_push(touches, tile->arena);
        *last = (Touch){begin, end, part->message, is_write};
    }
}

/* First cell that begins at or behind `address`. */
static int32_t find_cell(const uint32_t *cells, int32_t count, uint32_t address)
{
    int32_t low = 0, high = count;
    while (low < high) {
        int32_t middle = (low + high) / 2;
        if (cells[middle] < address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Begins and ends of the touches, ascending, each once. */
static uint32_t *cut_cells(const Touch *touches, isize count, int32_t *cell_count, Arena *arena)
{
    SortKey *keys = arena_array(arena, SortKey, 2 * count);
    uint32_t *cells = arena_array(arena, uint32_t, 2 * count);
    for (isize i = 0; i < count; i++) {
        keys[2 * i] = (SortKey){touches[i].begin, 0};
        keys[2 * i + 1] = (SortKey){touches[i].end, 0};
    }
    sort_keys(keys, 2 * count, *arena);
    *cell_count = 0;
    for (isize i = 0; i < 2 * count; i++) {
        if (i == 0 || keys[i].key != keys[i - 1].key) {
            cells[(*cell_count)++] = (uint32_t)keys[i].key;
        }
    }
    return cells;
}

/* By value: the text overwrites the scratch that holds touches and trees. */
static bool refuse_order(const CheckTile *tile, Touch touch, Latest before)
{
    const Check *check = tile->check;
    int32_t other = transfer_of(tile, before.message - 1);
    int32_t own = transfer_of(tile, touch.message);
    Event start = check->first_start[own - check->problem->phases.at[check->phase].transfer_first];
    Str what = str_format(tile->arena,
                          "starts before transfer %d, earlier in the list, is complete at event "
                          "%d; both touch bytes of 0x%x..0x%x and one writes them",
                          other, before.completion, touch.begin, touch.end);
    return check_tile_broken(tile, "X12/S6", start, touch.message, what.at);
}

/* Touches of a connected stretch of addresses. */
static bool check_stretch(const CheckTile *tile, Touch *touches, isize count, Arena scratch)
{
    const Check *check = tile->check;
    int32_t phase_first = check->problem->phases.at[check->phase].transfer_first, cell_count;
    uint32_t *cells = cut_cells(touches, count, &cell_count, &scratch);
    Tree reads = make_tree(cell_count, &scratch), writes = make_tree(cell_count, &scratch);
    SortKey *order = arena_array(&scratch, SortKey, count);
    for (isize i = 0; i < count; i++) {
        order[i] = (SortKey){(uint64_t)touches[i].message, (uint32_t)i};
    }
    sort_keys(order, count, scratch);
    for (isize first = 0, next; first < count; first = next) {
        int32_t transfer = transfer_of(tile, touches[order[first].payload].message);
        for (next = first; next < count; next++) {
            const Touch *touch = &touches[order[next].payload];
            if (transfer_of(tile, touch->message) != transfer) {
                break;
            }
            int32_t begin = find_cell(cells, cell_count, touch->begin);
            int32_t end = find_cell(cells, cell_count, touch->end);
            Latest before = latest(&writes, 1, 0, cell_count, begin, end);
            if (touch->is_write) {
                before = later(before, latest(&reads, 1, 0, cell_count, begin, end));
            }
            if (check->first_start[transfer - phase_first] < before.completion) {
                return refuse_order(tile, *touch, before);
            }
        }
        for (isize i = first; i < next; i++) { /* a transfer waits for others only */
            const Touch *touch = &touches[order[i].payload];
            Latest done = {check->completion[transfer - phase_first], touch->message + 1};
            raise(touch->is_write ? &writes : &reads, 1, 0, cell_count,
                  find_cell(cells, cell_count, touch->begin),
                  find_cell(cells, cell_count, touch->end), done);
        }
    }
    return true;
}

bool check_order(const CheckTile *tile)
{
    TouchVec touches = {0};
    touches.cap = tile->count[CHECK_SENDS] + tile->count[CHECK_RECEIVES];
    touches.at = arena_array(tile->arena, Touch, touches.cap);
    for (int32_t i = 0; i < tile->count[CHECK_SENDS]; i++) {
        add_touches(tile, &tile->part[CHECK_SENDS][i], false, &touches);
    }
    for (int32_t i = 0; i < tile->count[CHECK_RECEIVES]; i++) {
        add_touches(tile, &tile->part[CHECK_RECEIVES][i], true, &touches);
    }
    Arena scratch = *tile->arena;
    SortKey *order = arena_array(&scratch, SortKey, touches.len);
    Touch *sorted = arena_array(&scratch, Touch, touches.len);
    for (isize i = 0; i < touches.len; i++) {
        order[i] = (SortKey){touches.at[i].begin, (uint32_t)i};
    }
    sort_keys(order, touches.len, scratch);
    for (isize first = 0, next; first < touches.len; first = next) {
        uint32_t end = 0;
        bool has_write = false;
        for (next = first; next < touches.len; next++) {
            const Touch *touch = &touches.at[order[next].payload];
            if (next > first && touch->begin >= end) {
                break;
            }
            end = touch->end > end ? touch->end : end;
            has_write |= touch->is_write;
            sorted[next] = *touch;
        }
        if (next - first > 1 && has_write &&
            !check_stretch(tile, &sorted[first], next - first, scratch)) {
            return false;
        }
    }
    return true;
}
