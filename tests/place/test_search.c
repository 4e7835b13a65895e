/* The exact search for addresses: small random problems against all addresses, hidden witnesses without slack. */
#include "place/search.h"
#include "test.h"

static Arena keep, scratch;

/* --- the rules, written once more ------------------------------------------------------------------------ */

static uint32_t bytes_at(const SearchProblem *problem, const SearchItem *item, uint32_t address)
{
    for (int32_t r = 0; r < problem->range_count; r++) {
        if (address >= problem->range[r].begin && address < problem->range[r].end) {
            return (problem->high_ranges >> r & 1) != 0 ? item->bytes_high : item->bytes;
        }
    }
    return item->bytes;
}

/* First address of the element of an address, -1 of none: ranges of one unit behind each other belong together, as does what is
 * between. */
static int64_t element_at(const SearchProblem *problem, uint32_t address)
{
    uint32_t unit = problem->range[0].element_bytes;
    for (int32_t r = 1; r < problem->range_count; r++) {
        if (problem->range[r].begin <= address) {
            unit = problem->range[r].element_bytes;
        }
    }
    return unit == 0 ? -1 : (int64_t)(address / unit * unit);
}

static bool is_item_legal(const SearchProblem *problem, const SearchItem *item, uint32_t address)
{
    uint32_t end = address + bytes_at(problem, item, address);
    bool is_inside = false;
    for (int32_t r = 0; r < problem->range_count; r++) {
        is_inside |= (item->ranges >> r & 1) != 0 && address >= problem->range[r].begin &&
                     end <= problem->range[r].end;
    }
    return is_inside && address % item->align == 0 && end + item->tail_bytes <= problem->limit &&
           (item->address == (uint32_t)SEARCH_NOWHERE || item->address == address);
}

static bool is_couple_legal(const SearchProblem *problem, int32_t i, int32_t j,
                            const uint32_t *address)
{
    const SearchItem *a = &problem->items[i], *b = &problem->items[j];
    if (a->last <= b->first || b->last <= a->first) {
        return true;
    }
    uint32_t a_end = address[i] + bytes_at(problem, a, address[i]);
    uint32_t b_end = address[j] + bytes_at(problem, b, address[j]);
    if (address[i] < b_end && address[j] < a_end) {
        return false;
    }
    for (int32_t p = 0; p < problem->pair_count; p++) {
        SearchPair pair = problem->pairs[p];
        if ((pair.a == i && pair.b == j) || (pair.a == j && pair.b == i)) {
            for (uint32_t x = address[i]; x < a_end + a->tail_bytes; x++) {
                for (uint32_t y = address[j]; y < b_end + b->tail_bytes; y++) {
                    if (element_at(problem, x) >= 0 &&
                        element_at(problem, x) == element_at(problem, y)) {
                        return false;
                    }
                }
            }
        }
    }
    return true;
}

static bool is_legal(const SearchProblem *problem, const uint32_t *address)
{
    for (int32_t i = 0; i < problem->item_count; i++) {
        if (!is_item_legal(problem, &problem->items[i], address[i])) {
            return false;
        }
        for (int32_t j = 0; j < i; j++) {
            if (!is_couple_legal(problem, i, j, address)) {
                return false;
            }
        }
    }
    return true;
}

/* All addresses of item i and the following. */
static bool brute_force(const SearchProblem *problem, int32_t i, uint32_t *address)
{
    if (i == problem->item_count) {
        return true;
    }
    for (address[i] = 0; address[i] < problem->range[problem->range_count - 1].end; address[i]++) {
        bool is_good = is_item_legal(problem, &problem->items[i], address[i]);
        for (int32_t j = 0; j < i && is_good; j++) {
            is_good = is_couple_legal(problem, i, j, address);
        }
        if (is_good && brute_force(problem, i + 1, address)) {
            return true;
        }
    }
    return false;
}

/* --- random problems ------------------------------------------------------------------------------------- */

typedef struct Dice {
    uint64_t seed, count;
} Dice;

static uint32_t roll(Dice *dice, uint32_t below)
{
    return (uint32_t)random_below(dice->seed, dice->count++, below);
}

static SearchProblem random_problem(Dice *dice, Arena *arena)
{
    SearchProblem problem = {.range_count = 1 + (int32_t)roll(dice, 3)};
    bool is_rich = roll(dice, 4) != 0;
    uint32_t at = roll(dice, 2) * 4, unit = roll(dice, 2) * 4;
    for (int32_t r = 0; r < problem.range_count; r++) {
        problem.range[r] = (SearchRange){at, at + 3 + roll(dice, 10), unit};
        at = problem.range[r].end + roll(dice, 4);
        if (roll(dice, 3) == 0) { /* another unit begins at a border of both */
            at = (at + 7) & ~7u;
            unit = roll(dice, 2) == 0 || unit == 0 ? 8 : unit;
        }
    }
    uint32_t last_end = problem.range[problem.range_count - 1].end;
    problem.limit = last_end + roll(dice, 3);
    problem.high_ranges = roll(dice, 8);
    problem.item_count = 2 + (int32_t)roll(dice, 6);
    problem.items = arena_array(arena, SearchItem, problem.item_count);
    problem.pairs = arena_array(arena, SearchPair, 64);
    uint32_t steps = 1 + roll(dice, 6);
    for (int32_t i = 0; i < problem.item_count; i++) {
        SearchItem *item = &problem.items[i];
        if (i > 0 && roll(dice, 6) == 0) {
            *item = item[-1];
            continue;
        }
        item->ranges = is_rich && roll(dice, 2) == 0 ? 1 + roll(dice, 7) : 7;
        item->bytes = 1 + roll(dice, 8);
        item->bytes_high = is_rich && roll(dice, 3) == 0 ? 1 + roll(dice, 8) : item->bytes;
        item->tail_bytes = is_rich && roll(dice, 3) == 0 ? roll(dice, 5) : 0;
        item->align = is_rich ? 1u << roll(dice, 3) : 1;
        item->first = (int32_t)roll(dice, steps);
        item->last = item->first + 1 + (int32_t)roll(dice, steps);
        item->address = (uint32_t)SEARCH_NOWHERE;
        if (is_rich && roll(dice, 8) == 0) {
            item->address = roll(dice, last_end);
        }
    }
    for (int32_t i = 0; i < problem.item_count && is_rich; i++) {
        for (int32_t j = 0; j < i; j++) {
            if (roll(dice, 6) == 0) {
                problem.pairs[problem.pair_count++] = (SearchPair){i, j};
            }
        }
    }
    return problem;
}

static void print(const SearchProblem *problem, const SearchResult *result, int round)
{
    fprintf(stderr, "round %d, limit %u, high ranges %u\n", round, problem->limit,
            problem->high_ranges);
    for (int32_t r = 0; r < problem->range_count; r++) {
        SearchRange range = problem->range[r];
        fprintf(stderr, "range [%u, %u) element %u\n", range.begin, range.end, range.element_bytes);
    }
    for (int32_t i = 0; i < problem->item_count; i++) {
        const SearchItem *item = &problem->items[i];
        fprintf(stderr,
                "item %d: ranges %u bytes %u %u tail %u align %u steps [%d, %d) given %d: %d\n", i,
                item->ranges, item->bytes, item->bytes_high, item->tail_bytes, item->align,
                item->first, item->last, (int)item->address,
                result->outcome == SEARCH_FOUND ? (int)result->address[i] : -1);
    }
    for (int32_t p = 0; p < problem->pair_count; p++) {
        fprintf(stderr, "pair %d %d\n", problem->pairs[p].a, problem->pairs[p].b);
    }
}

static void agrees_with_brute_force(void)
{
    uint64_t seed = test_seed(11);
    int found = 0, rounds = 5000;
    for (int round = 0; round < rounds; round++) {
        Arena arena = keep;
        Dice dice = {seed + (uint64_t)round, 0};
        SearchProblem problem = random_problem(&dice, &arena);
        SearchResult result = place_search(&problem, 1000000, 0, &arena, scratch);
        uint32_t address[8];
        bool is_found = brute_force(&problem, 0, address);
        if ((result.outcome == SEARCH_FOUND) != is_found ||
            (is_found && !is_legal(&problem, result.address))) {
            print(&problem, &result, round);
        }
        CHECK_EQ_INT(result.outcome, is_found ? SEARCH_FOUND : SEARCH_EXHAUSTED);
        CHECK(!is_found || is_legal(&problem, result.address));
        found += is_found;
    }
    fprintf(stderr, "%d of %d have a placement\n", found, rounds);
    CHECK(found > rounds / 10 && found < rounds * 9 / 10);
}

/* Cuts [0, bytes) x [0, steps) into `count` rectangles. */
static SearchProblem witness(Dice *dice, int32_t count, uint32_t bytes, int32_t steps, Arena *arena)
{
    SearchProblem problem = {.range = {{0, bytes, 0}},
                             .range_count = 1,
                             .limit = bytes,
                             .items = arena_array(arena, SearchItem, count)};
    uint32_t *bottom = arena_array(arena, uint32_t, count);
    problem.items[0] = (SearchItem){.ranges = 1,
                                    .bytes = bytes,
                                    .bytes_high = bytes,
                                    .align = 1,
                                    .last = steps,
                                    .address = (uint32_t)SEARCH_NOWHERE};
    problem.item_count = 1;
    for (int tries = 0; problem.item_count < count && tries < 100 * count; tries++) {
        int32_t i = (int32_t)roll(dice, (uint32_t)problem.item_count);
        SearchItem *a = &problem.items[i], *b = &problem.items[problem.item_count];
        *b = *a;
        if (roll(dice, 2) == 0) {
            if (a->bytes < 2) {
                continue;
            }
            uint32_t cut = 1 + roll(dice, a->bytes - 1);
            bottom[problem.item_count] = bottom[i] + cut;
            b->bytes = b->bytes_high = a->bytes - cut;
            a->bytes = a->bytes_high = cut;
        } else {
            if (a->last - a->first < 2) {
                continue;
            }
            a->last = b->first =
                a->first + 1 + (int32_t)roll(dice, (uint32_t)(a->last - a->first - 1));
            bottom[problem.item_count] = bottom[i];
        }
        problem.item_count++;
    }
    CHECK(is_legal(&problem, bottom));
    return problem;
}

static void finds_witnesses_without_slack(void)
{
    uint64_t seed = test_seed(12);
    int found = 0, rounds = 60;
    int64_t nodes = 0;
    for (int round = 0; round < rounds; round++) {
        Arena arena = keep;
        Dice dice = {seed + (uint64_t)round, 0};
        SearchProblem problem = witness(&dice, 8 + round, 100000, 60, &arena);
        SearchResult result = place_search(&problem, 200000, 0, &arena, scratch);
        CHECK(result.outcome != SEARCH_EXHAUSTED);
        CHECK(result.outcome != SEARCH_FOUND || is_legal(&problem, result.address));
        found += result.outcome == SEARCH_FOUND;
        nodes += result.nodes;
    }
    fprintf(stderr, "%d of %d found, %" PRId64 " nodes\n", found, rounds, nodes);
    CHECK(found == rounds);
}

static void repeats_itself(void)
{
    uint64_t seed = test_seed(13);
    for (int round = 0; round < 20; round++) {
        Arena arena = keep;
        Dice dice = {seed + (uint64_t)round, 0};
        SearchProblem problem = witness(&dice, 40, 5000, 20, &arena);
        SearchResult a = place_search(&problem, 2000, 0, &arena, scratch);
        SearchResult b = place_search(&problem, 2000, 0, &arena, scratch);
        CHECK_EQ_INT(a.outcome, b.outcome);
        CHECK_EQ_INT(a.nodes, b.nodes);
        for (int32_t i = 0; a.outcome == SEARCH_FOUND && i < problem.item_count; i++) {
            CHECK_EQ_INT(a.address[i], b.address[i]);
        }
    }
}

/* In pieces it finds what it finds in one go. */
static void goes_on_where_it_was(void)
{
    uint64_t seed = test_seed(15);
    int pieces = 0;
    for (int round = 0; round < 20; round++) {
        Arena arena = keep;
        Dice dice = {seed + (uint64_t)round, 0};
        SearchProblem problem = witness(&dice, 40, 5000, 20, &arena);
        SearchResult whole = place_search(&problem, 50000, 0, &arena, scratch);
        SearchResult part = {.outcome = SEARCH_GAVE_UP};
        for (int64_t nodes = 20; part.outcome == SEARCH_GAVE_UP; nodes *= 2) {
            part = place_search(&problem, nodes, part.run, &arena, scratch);
            CHECK(part.nodes <= nodes);
            pieces++;
        }
        for (int32_t i = 0; part.outcome == SEARCH_FOUND && i < problem.item_count; i++) {
            CHECK_EQ_INT(whole.address[i], part.address[i]);
        }
        CHECK_EQ_INT(part.outcome, SEARCH_FOUND);
    }
    CHECK(pieces > 30);
}

static void gives_up_after_its_nodes(void)
{
    Arena arena = keep;
    Dice dice = {14, 0};
    SearchProblem problem = witness(&dice, 60, 100000, 60, &arena);
    SearchResult result = place_search(&problem, 5, 0, &arena, scratch);
    CHECK_EQ_INT(result.outcome, SEARCH_GAVE_UP);
    CHECK_EQ_INT(result.nodes, 5);
    problem.item_count = 0;
    CHECK_EQ_INT(place_search(&problem, 5, 0, &arena, scratch).outcome, SEARCH_FOUND);
}

static void setup(void)
{
    keep = arena_create((isize)1 << 28);
    scratch = arena_create((isize)1 << 30);
}

TEST_MAIN(setup, agrees_with_brute_force, finds_witnesses_without_slack, repeats_itself,
          goes_on_where_it_was, gives_up_after_its_nodes)
