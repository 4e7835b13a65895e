/* The fabric in bulk against the fabric word by word (fabric_words.c): hostile random problems, scheduled; and their rows with
 * mistakes, of which both must say the same.
 */
#include "exchange/hostile.h"
#include "phase_bench.h"

enum {
    PROBLEMS = 60,
    TILES = 12,
    TRANSFERS = 20,
    MUTATIONS = 12, /* of every problem */
    NAMES_MAX = 64,
    NAMES_MIN = 10,
    SAME_NAME_PERCENT = 90,
};

static Arena keep, scratch;
static uint64_t seed;

typedef struct Case {
    ExchangeProblem problem;
    Schedule schedule;
} Case;

static Case case_of(uint64_t number, Arena *arena)
{
    uint64_t own = seed + number;
    HostileShape shape = {.tiles = 2 + (int)random_below(own, 0, TILES - 1),
                          .transfers = 1 + (int)random_below(own, 1, TRANSFERS),
                          .phases = 1,
                          .features = HOSTILE_ALL & ~HOSTILE_OMITS};
    Case c = {.problem = hostile_random(own, shape, arena)};
    ExchangeOptions options = {.threads = 1, .width = (ExchangeWidth)random_below(own, 2, 3)};
    Error err = {0};
    CHECK_OK(exchange_solve(&c.problem, &options, arena, scratch, &c.schedule, &err), err);
    return c;
}

/* Both do what a plain copy does. */
static void right_rows(void)
{
    PhaseBench *bench = phase_bench_create();
    for (uint64_t i = 0; i < PROBLEMS; i++) {
        Arena arena = keep;
        Case c = case_of(i, &arena);
        for (int by_words = 0; by_words < 2; by_words++) {
            Error err = {0};
            fabric_set_words(bench->fabric, by_words != 0);
            CHECK_OK(phase_bench_run(bench, &c.problem, &c.schedule, seed + i, scratch, &err), err);
        }
    }
    printf("%lld words\n", (long long)bench->words);
    phase_bench_destroy(bench);
}

/* --- mistakes ----------------------------------------------------------------------------------------------------- */

static bool is_wait(uint32_t word)
{
    return (word & 0xfff80000) == 0x40a00000;
}

/* A word with one event more or less, if it is of a kind that has a count. */
static uint32_t with_events(uint32_t word, int by)
{
    uint32_t kind = word >> 28;
    int shift = is_wait(word)                       ? 0
                : (word & 0xfc000000) == 0x60000000 ? 19
                : (word & 0xfc000000) == 0x64000000 ? 14
                : kind == 7 || kind == 15           ? 21
                                                    : -1;
    return shift < 0 ? word : word + ((uint32_t)by << shift);
}

/* What stands between a word and the next one that waits comes later or earlier. */
static void shift_words(Dice *dice, uint32_t *words, int at, int count)
{
    int by = dice_below(dice, 2) ? 1 : -1;
    for (int k = at + 1; k < count; k++) {
        if (is_wait(words[k])) {
            words[at] = with_events(words[at], by);
            words[k] = with_events(words[k], -by);
            return;
        }
    }
}

static void mutate(Dice *dice, uint32_t *words, int count)
{
    int at = dice_below(dice, count);
    uint32_t held = words[at];
    switch (dice_below(dice, 8)) {
    case 0: /* any bit */
        words[at] ^= 1u << dice_below(dice, 32);
        break;
    case 1: /* an address, a source, a direction */
    case 2:
        words[at] ^= 1u << dice_below(dice, 18);
        break;
    case 3:
    case 4:
        words[at] = with_events(held, dice_below(dice, 2) ? 1 : -1);
        break;
    case 5:
        shift_words(dice, words, at, count);
        break;
    case 6: /* order */
        if (at + 1 < count) {
            words[at] = words[at + 1];
            words[at + 1] = held;
        }
        break;
    default: /* another word of the row */
        words[at] = words[dice_below(dice, count)];
    }
}

/* Contents and rows as before iteration 0. */
static void enter(PhaseBench *p, const Case *c, uint64_t number, Arena *arena)
{
    p->problem = &c->problem;
    p->schedule = &c->schedule;
    p->seed = number;
    phase_bench_fill_all(p);
    CHECK(phase_bench_put_rows(p, arena));
    memset(p->bench->is_active, 0, sizeof p->bench->is_active);
    for (int32_t i = 0; i < c->schedule.rows.len; i++) {
        phase_bench_enter(p, i, 0);
    }
}

typedef struct Tally {
    int runs, good, same, names;
    const char *name[NAMES_MAX];
    int times[NAMES_MAX];
} Tally;

static void count_run(Tally *tally, bool ok, bool same_name, const char *name)
{
    tally->runs++;
    tally->good += ok;
    tally->same += !ok && same_name;
    int k = 0;
    while (!ok && k < tally->names && strcmp(tally->name[k], name) != 0) {
        k++;
    }
    if (!ok) {
        CHECK(k < NAMES_MAX);
        tally->names = k == tally->names ? k + 1 : tally->names;
        tally->name[k] = name;
        tally->times[k]++;
    }
}

static void wrong_rows(void)
{
    PhaseBench *p = phase_bench_create();
    Fabric *fabrics[2] = {fabric_create(1, false, false), fabric_create(1, true, false)};
    Tally tally = {0};
    for (uint64_t i = 0; i < PROBLEMS * MUTATIONS; i++) {
        Arena arena = keep;
        Case c = case_of(i / MUTATIONS, &arena);
        if (c.schedule.rows.len == 0) {
            continue;
        }
        Dice dice = {seed + i, 1000};
        for (int n = 1 + dice_below(&dice, 2); n > 0; n--) {
            const Row *row = &c.schedule.rows.at[dice_below(&dice, (int)c.schedule.rows.len)];
            mutate(&dice, &c.schedule.words.at[row->word_first], row->word_count - 1);
        }
        enter(p, &c, i, &arena);
        bool same_name, ok = bench_run_both(p->bench, fabrics[i % 4 == 0], &same_name);
        count_run(&tally, ok, same_name, p->bench->fault.name);
        phase_bench_clear(p);
    }
    int faults = tally.runs - tally.good;
    printf("%d rows with mistakes: %d go well, %d faults, of which %d are reported by one name\n",
           tally.runs, tally.good, faults, tally.same);
    for (int k = 0; k < tally.names; k++) {
        printf("%s %d\n", tally.name[k], tally.times[k]);
    }
    CHECK(100 * tally.same >= SAME_NAME_PERCENT * faults);
    CHECK(tally.names >= NAMES_MIN && tally.good > 0);
    fabric_destroy(fabrics[0]);
    fabric_destroy(fabrics[1]);
    phase_bench_destroy(p);
}

static void setup(void)
{
    keep = arena_create((isize)1 << 30);
    scratch = arena_create((isize)4 << 30);
    seed = test_seed(5);
}

TEST_MAIN(setup, right_rows, wrong_rows)
