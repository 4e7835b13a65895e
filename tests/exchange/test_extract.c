/* Work and Placement become a physical problem: addresses, tiles, phases in step order, coalescing. */
#include "exchange/exchange.h"
#include "test.h"

static Arena arena, scratch;

static void add(Work *work, int tile, int32_t buffer, uint32_t offset, uint32_t words, int receiver,
                int32_t to, uint32_t to_offset)
{
    *vec_push(&work->transfers, &arena) = (Transfer){.tile = {(uint16_t)tile},
                                                     .buffer = buffer,
                                                     .offset = offset,
                                                     .words = words,
                                                     .receiver_first = (int32_t)work->receivers.len,
                                                     .receiver_count = 1};
    *vec_push(&work->receivers, &arena) = (Receiver){{(uint16_t)receiver}, to, to_offset};
}

static void extracts(void)
{
    Work work = {.tiles = 64, .support_bytes = 2 * ELEMENT_BYTES};
    for (int i = 0; i < 5; i++) {
        *vec_push(&work.buffers, &arena) =
            (Buffer){.tile = {(uint16_t)i}, .bytes = 0x10000, .align = 8};
    }
    uint32_t address[] = {0, 0x60000, 0x90000, 0xa0000, 0xb0000};
    Placement placement = {.address = address};
    add(&work, 1, 1, 16, 100, 2, 2, 32);                         /* 0 */
    add(&work, 1, 1, 416, 50, 2, 2, 432);                        /* continues 0 */
    add(&work, 1, 1, 616, 50, 2, 2, 636);                        /* a jump at the destination */
    add(&work, 1, 1, 816, 50, 3, 3, 836);                        /* another receiver */
    add(&work, 3, 3, 0, FABRIC_MESSAGE_WORDS_MAX, 2, 2, 0x4000); /* second phase */
    add(&work, 3, 3, 4 * FABRIC_MESSAGE_WORDS_MAX, 1, 2, 2,
        0x4000 + 4 * FABRIC_MESSAGE_WORDS_MAX); /* too long to join */
    *vec_push(&work.steps, &arena) = (WorkStep){.kind = WORK_PHASE, .first = 0, .count = 4};
    *vec_push(&work.steps, &arena) = (WorkStep){.kind = WORK_CALLS};
    *vec_push(&work.steps, &arena) = (WorkStep){.kind = WORK_PHASE, .first = 4, .count = 2};
    ExchangeProblem problem;
    exchange_extract(&work, &placement, &arena, &problem);
    CHECK_EQ_INT(problem.phases.len, 2);
    CHECK_EQ_INT(problem.phases.at[0].transfer_count, 3);
    CHECK_EQ_INT(problem.phases.at[1].transfer_first, 3);
    CHECK_EQ_INT(problem.phases.at[1].transfer_count, 2);
    CHECK_EQ_INT(problem.receivers.len, 5);
    const ExchangeTransfer *t = problem.transfers.at;
    CHECK_EQ_INT(t[0].source.id, phys_of((Tile){1}).id);
    CHECK_EQ_INT(t[0].address, 0x60010);
    CHECK_EQ_INT(t[0].words, 150);
    CHECK_EQ_INT(t[1].address, 0x60000 + 616);
    CHECK_EQ_INT(t[2].words, 50);
    const ExchangeReceiver *to = &problem.receivers.at[t[2].receiver_first];
    CHECK_EQ_INT(to->tile.id, phys_of((Tile){3}).id);
    CHECK_EQ_INT(to->address, 0xa0000 + 836);
    CHECK_EQ_INT(t[3].words, FABRIC_MESSAGE_WORDS_MAX);
    CHECK_EQ_INT(problem.row_range.begin, SRAM_BASE);
    CHECK_EQ_INT(problem.row_range.end, SRAM_BASE + 2 * ELEMENT_BYTES);
    Schedule schedule;
    Error err = {0};
    CHECK_OK(exchange_solve(&problem, &(ExchangeOptions){.threads = 2}, &arena, scratch, &schedule,
                            &err),
             err);
    CHECK_OK(exchange_check(&problem, &schedule, 2, scratch, &err), err);
}

static void add_calls(Work *work, int tile, Cycles cycles)
{
    *vec_push(&work->steps, &arena) =
        (WorkStep){.kind = WORK_CALLS, .first = (int32_t)work->calls.len, .count = 1};
    *vec_push(&work->calls, &arena) =
        (WorkCall){.tile = {(uint16_t)tile}, .estimated_cycles = cycles};
}

static void add_step(Work *work, WorkStepKind kind, int32_t partner)
{
    *vec_push(&work->steps, &arena) =
        (WorkStep){.kind = kind, .repeats = partner > 0 ? 3 : 1, .partner = partner};
}

static int later_of(const ExchangeProblem *problem, int phase, int tile)
{
    const ExchangePhase *p = &problem->phases.at[phase];
    for (int32_t i = p->later_first; i < p->later_first + p->later_count; i++) {
        if (problem->later.at[i].tile.id == phys_of((Tile){(uint16_t)tile}).id) {
            return problem->later.at[i].events;
        }
    }
    return 0;
}

/* Calls up to the next phase; from the end of a loop to its begin, but never round a loop without phases. */
static void knows_what_tiles_do_later(void)
{
    Work work = {.tiles = 64, .support_bytes = 2 * ELEMENT_BYTES};
    add_calls(&work, 1, 1);
    add_step(&work, WORK_PHASE, 0);
    add_step(&work, WORK_LOOP_BEGIN, 10);
    add_calls(&work, 1, 20);
    add_calls(&work, 1, 400);
    add_calls(&work, 2, 8000);
    add_step(&work, WORK_PHASE, 0);
    add_calls(&work, 3, 5);
    add_step(&work, WORK_PHASE, 0);
    add_calls(&work, 1, 3);
    add_step(&work, WORK_LOOP_END, 2);
    add_step(&work, WORK_PHASE, 0);
    add_step(&work, WORK_LOOP_BEGIN, 14);
    add_calls(&work, 4, (Cycles)1 << 40);
    add_step(&work, WORK_LOOP_END, 12);
    ExchangeProblem problem;
    Placement placement = {0};
    exchange_extract(&work, &placement, &arena, &problem);
    CHECK_EQ_INT(problem.phases.len, 4);
    CHECK_EQ_INT(later_of(&problem, 0, 1), 420);
    CHECK_EQ_INT(later_of(&problem, 0, 2), 8000);
    CHECK_EQ_INT(problem.phases.at[1].later_count, 1);
    CHECK_EQ_INT(later_of(&problem, 1, 3), 5);
    CHECK_EQ_INT(later_of(&problem, 2, 1), 423);
    CHECK_EQ_INT(later_of(&problem, 3, 4), EXCHANGE_LATER_MAX);
}

static void setup(void)
{
    arena = arena_create((isize)1 << 26);
    scratch = arena_create((isize)1 << 28);
}

TEST_MAIN(setup, extracts, knows_what_tiles_do_later)
