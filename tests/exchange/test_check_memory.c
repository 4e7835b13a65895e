/* Rules of exchange_check about memory, each planted (docs/exchange-rules.md): X9..X14. */
#include "check_case.h"

/* --- memory: X9..X14 ------------------------------------------------------------------------------------------------------ */

static void breaks_x9(void)
{
    Event store = 100 + latency_of(phys(100), phys(0));      /* 50 words into L0 */
    Event last = store - 8 - 40, first = store + 50 + 5 + 8; /* starts of 40 words beside it */
    for (int i = 0; i < 4; i++) {
        Case c = new_case(0);
        plain(&c, 100, FROM, 50, 100, 0, FROM + 0x1000); /* L0 stores where it sends from */
        plain(&c, 0, FROM + 0x2000, 40,
              i == 0   ? last
              : i == 1 ? last + 1
              : i == 2 ? first - 1
                       : first,
              200, TO);
        if (i == 0 || i == 3) {
            make_legal(&c);
        } else {
            must_break(&c, "X9/S7");
        }
    }
    /* A pair of elements in region 1 is one group; the next group is free. */
    Case c = new_case(0);
    plain(&c, 100, FROM, 50, 100, 0, TO);
    plain(&c, 0, TO + 0x8000, 40, store + 10, 200, TO);
    make_legal(&c);
    c.problem.transfers.at[1].address = TO + 0x7ffc - 4 * 40;
    must_break(&c, "X9/S7");
    /* A moving source that meets it in the second iteration only. */
    c = new_case(2);
    int32_t far = move(&c, (int32_t[]){0, 0x10000}, 2);
    plain(&c, 100, FROM, 50, 100, 0, 0xb0000);
    plain(&c, 0, TO, 40, store + 10, 200, TO);
    make_legal(&c);
    c.problem.transfers.at[1].move = far;
    c.problem.transfers.at[1].address += 0x10000 + 0x4000;
    must_break(&c, "X9/S7");
}

static void breaks_x9_loopback(void)
{
    Case c = new_case(0); /* the sender stores 50 events behind its send: windows do not help */
    (void)send(&c, 0, FROM, 3, 100);
    to(&c, 0, TO);
    to(&c, 100, TO);
    make_legal(&c);
    c.problem.receivers.at[0].address = FROM + 0x100;
    must_break(&c, "X9/S7");
    c.problem.receivers.at[0].address = FROM + 0x4000 - 12; /* reaches the end of the same group */
    must_break(&c, "X9/S7");
}

static void breaks_x10(void)
{
    Case c = ordinary_case();
    c.problem.row_range.end = FROM + 4;
    must_break(&c, "X10");
    c = ordinary_case();
    c.problem.transfers.at[4].address = PROBLEM_ROWS_END - 4;
    must_break(&c, "X10");
    c = new_case(2); /* in the second iteration */
    int32_t down = move(&c, (int32_t[]){0, -0x8000}, 2);
    plain(&c, 0, PROBLEM_ROWS_END + 0x4000, 40, 100, 100, TO);
    c.problem.transfers.at[0].move = down;
    must_break(&c, "X10");
}

static void breaks_x11(void)
{
    Case c = ordinary_case();
    c.problem.row_range.end = SRAM_REGION1 + ELEMENT_BYTES;
    must_break(&c, "X11");
    c.problem.row_range = (AddrRange){SRAM_BASE - 8, SRAM_BASE};
    must_break(&c, "X11");
}

/* L0 -> L100, then L100 -> L200 from the same bytes. */
static Case relay_case(void)
{
    Case c = new_case(0);
    plain(&c, 0, FROM, 40, 100, 100, TO);
    plain(&c, 100, TO, 40, 0, 200, TO);
    message(&c, 1)->start = 100 + latency_of(phys(0), phys(100)) + 40 + 13; /* S7 wants 13 more */
    return c;
}

static void breaks_x12(void)
{
    Case c = relay_case(); /* read after write */
    make_legal(&c);
    message(&c, 1)->start -= 14;
    must_break(&c, "X12/S6");
    c = relay_case(); /* in list order, whatever the times say */
    message(&c, 1)->start = 40;
    must_break(&c, "X12/S6");
    c = relay_case(); /* one word in common */
    c.problem.transfers.at[1].address = TO + 4 * 39;
    make_legal(&c);
    message(&c, 1)->start = 40;
    must_break(&c, "X12/S6");
    c = relay_case(); /* none */
    c.problem.transfers.at[1].address = TO + 4 * 40;
    message(&c, 1)->start = 45;
    make_legal(&c);
    c = new_case(0); /* write after read: the earlier one is complete when it has arrived */
    Event done = 100 + latency_of(phys(100), phys(200)) + 40;
    plain(&c, 100, TO, 40, 100, 200, TO);
    plain(&c, 0, FROM, 40, done, 100, TO + 4 * 39);
    make_legal(&c);
    message(&c, 1)->start--;
    must_break(&c, "X12/S6");
    c = new_case(0); /* write after write */
    done = 100 + latency_of(phys(0), phys(100)) + 40;
    plain(&c, 0, FROM, 40, 100, 100, TO);
    plain(&c, 200, FROM, 40, done, 100, TO + 4 * 39);
    make_legal(&c);
    message(&c, 1)->start--;
    must_break(&c, "X12/S6");
    c = new_case(0); /* read after read */
    plain(&c, 0, FROM, 40, 100, 100, TO);
    plain(&c, 0, FROM, 40, 140, 200, TO);
    make_legal(&c);
}

/* Complete is a transfer when it has arrived everywhere, with all its messages, in all iterations. */
static void breaks_x12_completion(void)
{
    int furthest = 4;
    for (int i = 4; i < CHIP_TILES; i++) {
        furthest =
            latency_of(phys(0), phys(i)) > latency_of(phys(0), phys(furthest)) ? i : furthest;
    }
    Case c = new_case(0); /* the other receiver is further away */
    (void)send(&c, 0, FROM, 40, 100);
    to(&c, 2, TO);
    to(&c, furthest, TO);
    Event near = latency_of(phys(0), phys(2)), far = latency_of(phys(0), phys(furthest));
    CHECK(far > near + 20);
    plain(&c, 2, TO, 40, 100 + far + 40 + 13, 200, TO);
    make_legal(&c);
    message(&c, 1)->start = 100 + far + 40 - 1;
    must_break(&c, "X12/S6");
    c = relay_case(); /* the second one in two messages: both wait */
    ExchangeMessage rest = *message(&c, 1);
    *vec_push(&c.schedule.messages, &c.arena) = rest;
    message(&c, 1)->words = 20;
    message(&c, 1)->start += 20;
    message(&c, 2)->word_first = message(&c, 2)->words = 20;
    make_legal(&c);
    message(&c, 2)->start -= 14;
    must_break(&c, "X12/S6");
    c = new_case(3); /* a read of the third iteration */
    int32_t up = move(&c, (int32_t[]){0, 0x40, 0x80}, 3);
    plain(&c, 100, TO, 8, 100, 200, TO);
    c.problem.transfers.at[0].move = up;
    Event done = 100 + latency_of(phys(100), phys(200)) + 8;
    plain(&c, 0, FROM, 8, done, 100, TO + 0x80);
    make_legal(&c);
    message(&c, 1)->start--;
    must_break(&c, "X12/S6");
    c.problem.receivers.at[1].address = TO + 0xa0; /* behind the third */
    message(&c, 1)->start = 100;
    message(&c, 0)->start = 400; /* far from its window */
    make_legal(&c);
}

/* Many transfers over the same bytes: each waits for all before it; only the last one is early. */
static void breaks_x12_among_many(void)
{
    enum { COUNT = 3000 };
    Case c = new_case(0);
    Event start = 100;
    for (int i = 0; i < COUNT; i++) {
        plain(&c, 0, FROM, 4, start, 100, TO);
        start += latency_of(phys(0), phys(100)) + 4;
    }
    c.problem.row_bytes_max = 1 << 30;
    double begin = time_seconds();
    make_rows(&c);
    must_hold(&c);
    message(&c, COUNT - 1)->start--;
    must_break(&c, "X12/S6");
    CHECK(time_seconds() - begin < 60);
}

static void breaks_x13(void)
{
    Case c = ordinary_case();
    c.problem.receivers.at[3].tile = c.problem.transfers.at[3].source;
    must_break(&c, "X13");
    c = ordinary_case();
    c.problem.transfers.at[0].receiver_count = 2; /* L100 twice */
    must_break(&c, "X13");
    c = ordinary_case();
    c.problem.transfers.at[0].receiver_count = 0;
    must_break(&c, "X13");
    c = ordinary_case();
    c.problem.transfers.at[0].receiver_first = 5;
    must_break(&c, "X13");
}

static void breaks_x14(void)
{
    Case c = ordinary_case();
    c.problem.transfers.at[0].address += 2;
    must_break(&c, "X14");
    c = ordinary_case();
    c.problem.receivers.at[2].address = SRAM_END - 4 * 29;
    must_break(&c, "X14");
    c = ordinary_case();
    c.problem.transfers.at[2].words = FABRIC_MESSAGE_WORDS_MAX + 1;
    must_break(&c, "X14");
    c = ordinary_case();
    c.problem.transfers.at[2].words = 0;
    must_break(&c, "X14");
    c = ordinary_case();
    c.problem.receivers.at[2].tile.id = CHIP_TILES;
    must_break(&c, "X14");
    c = ordinary_case();
    c.problem.transfers.at[2].source.id = CHIP_TILES;
    must_break(&c, "X14");
    c = ordinary_case();
    *first_send(&c, 50) ^= 8; /* send from the next word */
    must_break(&c, "X14");
    c = new_case(0); /* 64-bit items */
    paired(&c, 0, FROM, 40, 100, 2, TO);
    make_legal(&c);
    c.problem.receivers.at[1].address += 4;
    must_break(&c, "X14");
    c.problem.receivers.at[1].address -= 4;
    c.problem.transfers.at[0].address += 4;
    must_break(&c, "X14");
    c = new_case(2); /* in the second iteration */
    int32_t by_words = move(&c, (int32_t[]){0, 4}, 2), out = move(&c, (int32_t[]){0, 0x90000}, 2);
    int32_t odd = move(&c, (int32_t[]){0, 6}, 2);
    plain(&c, 0, FROM, 40, 100, 100, TO);
    paired(&c, 0, FROM, 40, 300, 2, TO);
    c.problem.transfers.at[0].move = by_words;
    make_legal(&c);
    c.problem.transfers.at[1].move = by_words;
    must_break(&c, "X14");
    c.problem.transfers.at[1].move = 0;
    c.problem.transfers.at[0].move = out;
    must_break(&c, "X14");
    c.problem.transfers.at[0].move = odd;
    must_break(&c, "X14");
}

TEST_MAIN(case_setup, breaks_x9, breaks_x9_loopback, breaks_x10, breaks_x11, breaks_x12,
          breaks_x12_completion, breaks_x12_among_many, breaks_x13, breaks_x14)
