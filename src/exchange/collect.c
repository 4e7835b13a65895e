/* Rows of all phases into one schedule. Rows of a tile with equal words are stored once: a row holds times and addresses, and
 * nothing of the phase that it belongs to. */
#include "exchange/phase.h"
#include <string.h>

/* Where words of a tile stand already; -1 nowhere. Words that are patched are never in the map: they change while the package
 * runs. */
static int32_t find_words(const Schedule *schedule, const IntMap *known, uint64_t key,
                          const Row *row, const uint32_t *words)
{
    const uint32_t *found = int_map_get(known, key);
    if (found == NULL) {
        return -1;
    }
    const Row *other = &schedule->rows.at[*found];
    bool is_equal = other->tile.id == row->tile.id && other->word_count == row->word_count &&
                    memcmp(&schedule->words.at[other->word_first], words,
                           (size_t)row->word_count * sizeof(RowWord)) == 0;
    return is_equal ? other->word_first : -1; /* other words of equal hash: not shared */
}

static void add_row(Schedule *out, IntMap *known, Row row, const uint32_t *words, Arena *scratch)
{
    isize bytes = row.word_count * (isize)sizeof(RowWord);
    uint64_t key = hash64_of(words, bytes, row.tile.id);
    int32_t at = row.patch_count > 0 ? -1 : find_words(out, known, key, &row, words);
    row.word_first = at >= 0 ? at : (int32_t)out->words.len;
    if (at < 0) {
        memcpy(&out->words.at[out->words.len], words, (size_t)bytes);
        out->words.len += align_up(row.word_count, 2); /* every row begins on an even word */
        if (row.patch_count == 0 && int_map_get(known, key) == NULL) {
            *int_map_put(known, key, scratch) = (uint32_t)out->rows.len;
        }
    }
    out->rows.at[out->rows.len++] = row;
}

void rows_collect(const PhaseRows *phases, isize phase_count, Arena *keep, Arena scratch,
                  Schedule *out)
{
    isize rows = 0, words = 0, patches = 0;
    for (isize i = 0; i < phase_count; i++) {
        rows += phases[i].row_count;
        words += phases[i].word_count;
        patches += phases[i].patch_count;
    }
    ASSERT(words <= INT32_MAX);
    out->rows = (RowVec){arena_array(keep, Row, rows), 0, rows};
    out->words = (RowWordVec){arena_array(keep, RowWord, words), 0, words};
    out->patches = (RowPatchVec){arena_array(keep, RowPatch, patches), 0, patches};
    IntMap known = {0};
    for (isize i = 0; i < phase_count; i++) {
        const PhaseRows *phase = &phases[i];
        for (isize k = 0; k < phase->row_count; k++) {
            Row row = phase->rows[k];
            row.patch_first += (int32_t)out->patches.len;
            add_row(out, &known, row, &phase->words[row.word_first], &scratch);
        }
        for (isize k = 0; k < phase->patch_count; k++) {
            out->patches.at[out->patches.len++] = phase->patches[k];
        }
        out->horizon[i] = phase->horizon;
    }
}

int64_t row_bytes_largest(const Schedule *schedule, Arena scratch, PhysTile *tile)
{
    int64_t *bytes = arena_array(&scratch, int64_t, CHIP_TILES);
    bool *is_counted = arena_array(&scratch, bool, schedule->words.len);
    *tile = (PhysTile){0};
    for (isize i = 0; i < schedule->rows.len; i++) {
        const Row *row = &schedule->rows.at[i];
        if (!is_counted[row->word_first]) {
            bytes[row->tile.id] += align_up(4 * (int64_t)row->word_count, 8);
            *tile = bytes[row->tile.id] > bytes[tile->id] ? row->tile : *tile;
        }
        is_counted[row->word_first] = true;
    }
    return bytes[tile->id];
}
