/* Rules of exchange_check about bases, patches, shared rows and pairs, each planted (docs/exchange-rules.md): X17, X19, X20. */
#include "check_case.h"

/* --- moving sources, pairs, shared rows: X17, X19, X20 ---------------------------------------------------------------------- */

static void breaks_x17(void)
{
    Case c = moving_case();
    row_of(&c, 0)->move = 0; /* the row does not have m6 */
    must_break(&c, "X17/S9");
    c = moving_case();
    row_of(&c, 0)->move = 2; /* of another move */
    must_break(&c, "X17/S9");
    c = moving_case();
    *find_word(&c, 0, ~0u, BASE_MOVING, 0) = BASE_ZERO; /* relative words under base 0 */
    must_break(&c, "X17/S9");
    c = moving_case();
    *find_word(&c, 0, ~0u, BASE_ZERO, 0) = BASE_MOVING; /* fixed words under a moving base */
    must_break(&c, "X17/S9");
    c = moving_case();
    *find_word(&c, 0, ~0u, BASE_ZERO, 0) = 0x43e080a7; /* from m14 */
    must_break(&c, "X17");
    c = ordinary_case(); /* a base that nobody gave */
    c.base_tile = phys(60).id;
    *vec_push(&c.bases, &c.arena) = (RowBase){.event = 20, .is_moving = true};
    make_rows(&c);
    must_break(&c, "X17/S9");
    c.bases.at[0].is_moving = false;
    make_legal(&c);
    c.bases.at[0] = (RowBase){.event = 20, .sets_incoming = true};
    make_legal(&c);
    c.bases.at[0].incoming = 4;
    make_rows(&c);
    must_break(&c, "X17/S9");
    c = new_case(2); /* a row's base with other iterations */
    plain(&c, 0, FROM, 10, 100, 100, TO);
    make_legal(&c);
    row_of(&c, 0)->move = move(&c, (int32_t[]){0, 4, 8}, 3);
    must_break(&c, "X17/S9");
}

/* Controls from the begin of a base write on until its end; payload in a write of INCOMING_BASE. */
static void breaks_x17_controls(void)
{
    Case c = new_case(0);
    plain(&c, 60, FROM, 20, 100, 300, TO);
    Event src = 100 + time_to_mux(phys(60), phys(300)) + 1;
    Event store = 100 + latency_of(phys(60), phys(300));
    CHECK(src > 20);
    c.base_tile = phys(300).id;
    *vec_push(&c.bases, &c.arena) = (RowBase){.event = src - 14};
    make_legal(&c);
    c.bases.at[0].event = store + 1; /* during the payload */
    make_legal(&c);
    c.bases.at[0] = (RowBase){.event = store - 28, .sets_incoming = true};
    CHECK(store - 28 > src + 20);
    make_legal(&c);
    uint32_t *base = find_word(&c, 300, 0xfff00000, SET_INCOMING, 0);
    uint32_t *before = base - 1; /* delay up to the write */
    CHECK_EQ_INT(*before & 0xfff80000, 0x40a00000);
    *before -= 1; /* the write one event earlier, the pointer as before */
    CHECK_EQ_INT(base[3] & 0xfc000000, 0x60000000);
    base[3] += 1 << 19;
    must_hold(&c);
    c = new_case(0);
    plain(&c, 60, FROM, 20, 100, 300, TO);
    c.base_tile = phys(300).id;
    *vec_push(&c.bases, &c.arena) = (RowBase){.event = src + 1};
    CHECK(src + 14 <= src + 20);
    make_legal(&c);
    before = find_word(&c, 300, ~0u, BASE_ZERO, 0) - 1;
    CHECK_EQ_INT(*before, 0x40a00000); /* one event between the source and the write */
    *before = BASE_ZERO; /* no encoder makes this: the write begins where the source is selected */
    before[1] = 0x40a00000;
    must_break(&c, "X17/S9");
    /* INCOMING_BASE while words are stored. */
    c.bases.at[0] = (RowBase){.event = store + 1, .sets_incoming = true};
    make_rows(&c);
    must_break(&c, "X17/S9");
}

static void breaks_x19(void)
{
    Case c = moving_case();
    Row *row = row_of(&c, 0);
    CHECK(row->patch_count >= 1);
    RowPatch *patch = &c.schedule.patches.at[row->patch_first];
    row->patch_count--;
    must_break(&c, "X19"); /* a word is not patched */
    row->patch_count++;
    patch->move = 1;
    must_break(&c, "X19"); /* with the offsets of another move */
    patch->move = 2;
    patch->word--;
    must_break(&c, "X19"); /* the word in front of it */
    patch->word = row->word_count;
    must_break(&c, "X19"); /* behind the row */
    patch->word = (int32_t)(first_send(&c, 0) - &c.schedule.words.at[row->word_first]);
    must_break(&c, "X19"); /* a word that does not move on its own */
    c = moving_case();
    row = row_of(&c, 0);
    RowPatch again = c.schedule.patches.at[row->patch_first];
    *vec_push(&c.schedule.patches, &c.arena) = again; /* twice */
    row->patch_count++;
    must_break(&c, "X19");
    c = ordinary_case(); /* a patch where nothing moves */
    (void)move(&c, (int32_t[]){4}, 1);
    *vec_push(&c.schedule.patches, &c.arena) = (RowPatch){0, 1};
    row_of(&c, 60)->patch_count = 1;
    must_break(&c, "X19");
}

/* A message whose controls make it more than one word with an address, each of them patched (X19): a sendpicp. */
static void breaks_x19_in_sendpicp(void)
{
    Case c = new_case(2);
    int32_t up = move(&c, (int32_t[]){0, 0x40}, 2);
    plain(&c, 1286, FROM, 52, 100, 0, TO); /* into a row-0 tile: neutral and pointer meet */
    Event meet = 100 + latency_of(phys(1286), phys(0));
    plain(&c, 0, FROM, 100, meet - 40, 100, TO);
    c.problem.transfers.at[1].move = up;
    make_legal(&c);
    Row *row = row_of(&c, 0);
    CHECK_EQ_INT(row->patch_count, 2);
    row->patch_count = 1;
    must_break(&c, "X19");
}

/* Rows of one tile in three phases; the first two are equal. */
static void shares_words(void)
{
    Case c = new_case(0);
    plain(&c, 0, FROM, 40, 100, 100, TO);
    next_phase(&c);
    plain(&c, 0, FROM, 40, 100, 100, TO);
    next_phase(&c);
    plain(&c, 0, FROM, 41, 100, 100, TO);
    make_legal(&c);
    Row *rows = c.schedule.rows.at;
    CHECK_EQ_INT(c.schedule.rows.len, 6);
    c.problem.row_bytes_max = (uint32_t)(3 * align_up(4 * rows[1].word_count, 8));
    must_hold(&c);
    c.problem.row_bytes_max -= 8;
    must_break(&c, "S10");
    rows[2].word_first = rows[0].word_first; /* counted once */
    rows[3].word_first = rows[1].word_first;
    must_hold(&c);
    rows[4].word_first = rows[0].word_first; /* not equal: one word more is sent */
    must_break(&c, "X1/S1");
    rows[4].word_count--;
    must_break(&c, "X19/S10");
    c = new_case(0); /* another tile's */
    plain(&c, 0, FROM, 40, 100, 100, TO);
    next_phase(&c);
    plain(&c, 2, FROM, 40, 100, 100, TO);
    make_legal(&c);
    c.schedule.rows.at[2].word_first = c.schedule.rows.at[0].word_first;
    must_break(&c, "X19/S10");
    c = new_case(2); /* patched */
    int32_t up = move(&c, (int32_t[]){0, 4}, 2);
    plain(&c, 0, FROM, 40, 100, 100, TO);
    next_phase(&c);
    plain(&c, 0, FROM, 40, 100, 100, TO);
    c.problem.phases.at[1].iterations = 2;
    c.problem.transfers.at[0].move = c.problem.transfers.at[1].move = up;
    make_legal(&c);
    c.schedule.rows.at[2].word_first = c.schedule.rows.at[0].word_first;
    must_break(&c, "X19/S10");
}

/* A lent lane is busy until event 6 at least; only senders far from their receivers can start that early. */
static void breaks_x20_at_event_6(void)
{
    for (int source = 0; source < CHIP_TILES; source++) {
        for (int pair = 0; pair < CHIP_TILES; pair += 2) {
            int near = source ^ 1, other = (pair + 100) % CHIP_TILES & ~1;
            Event first = time_to_mux(phys(source), phys(pair));
            Event second = time_to_mux(phys(source), phys(pair + 1));
            if (first < 0 || second < 0 || time_to_mux(phys(near), phys(other)) < -5 ||
                pair == (source & ~1) || other == (source & ~1)) {
                continue;
            }
            Case c = new_case(0);
            paired(&c, source, FROM, 2 * 3, 0, pair, TO);
            plain(&c, near, FROM, 20, 6, other, TO);
            make_legal(&c);
            message(&c, 1)->start = 5;
            must_break(&c, "X20/S1");
            return;
        }
    }
    bool is_found = false;
    CHECK(is_found);
}

static void breaks_x20(void)
{
    Case c = new_case(0); /* one member of a pair */
    paired(&c, 0, FROM, 40, 100, 2, TO);
    make_legal(&c);
    c.problem.receivers.at[1].tile = phys(4);
    must_break(&c, "X20");
    c = new_case(0); /* half items */
    paired(&c, 0, FROM, 40, 100, 2, TO);
    make_legal(&c);
    message(&c, 0)->words--;
    c.problem.transfers.at[0].words--;
    must_break(&c, "X20");
    c = new_case(0); /* the partner sends while its lane is lent */
    paired(&c, 0, FROM, 40, 100, 2, TO);
    plain(&c, 1, FROM, 20, 120, 200, TO);
    make_legal(&c);
    message(&c, 1)->start--;
    must_break(&c, "X20/S1");
    message(&c, 1)->start = 100 - 20;
    make_legal(&c);
    message(&c, 1)->start++;
    must_break(&c, "X20/S1");
    breaks_x20_at_event_6();
    c = new_case(0); /* the late member sets the pair's mux */
    paired(&c, 0, FROM, 40, 100, 2, TO);
    make_legal(&c);
    uint32_t *word = find_word(&c, 3, 0xfff80000, 0x40a00000, 0);
    *word = 0x64002000 | (*word & 0xfff) << 14 | 0x640;
    must_break(&c, "X7/S2");
    *word = (*word & ~0x1fffu) | (phys(0).id ^ 2);
    must_break(&c, "X20/S2");
    c = new_case(0); /* the early one selects another source */
    paired(&c, 0, FROM, 40, 100, 2, TO);
    make_legal(&c);
    *find_word(&c, 2, 0xfc003fff, 0x64002000, 0) ^= 4;
    must_break(&c, "X20/S2");
}

TEST_MAIN(case_setup, breaks_x17, breaks_x17_controls, breaks_x19, breaks_x19_in_sendpicp,
          shares_words, breaks_x20)
