/* Exact search for addresses (compiler-design.md 11.2): branch and bound over skylines.
 *
 * Move items down one at a time while that is possible: in the end every item lies at its lowest feasible address given
 * the items below it. So it is enough to stack: an item is either stacked next, at the lowest address `at` above what is
 * stacked in its steps, with everything that is left above it; or some item that is left lies below it, which raises its
 * lowest address `low` to the least end of those (as in "schedule or postpone" of Le Pape et al., 1994). That is complete
 * whichever item is asked; an item is asked only when nothing left fits below it, so that the second answer always raises.
 *
 * Steps with equal or fewer items than a neighbour are dropped; the others are sections. In every section the bytes left
 * must fit above the least `low` of its items: `highest` is the last address where they do, so items with a greater `low` are
 * not the lowest in their section, which raises them too. Parts of the sections that no item left crosses are solved one
 * after another, none again for another's sake.
 *
 * A run stacks the items in one order of preference (rule) and succeeds soon, after hardly more questions than there are
 * items, or hardly ever. So rules take turns in short runs; every now and then one is long, which makes the search complete.
 */
#include "place/search_state.h"

static double key_of(const Search *search, int32_t i, char key)
{
    const Free *f = &search->items[i];
    double steps = f->item.last - f->item.first, sections = f->last - f->first;
    double most = 0;
    switch (key) {
    case 'W':
        return steps;
    case 'S':
        return sections;
    case 'A':
        return steps * f->item.bytes;
    case 'B':
        return sections * f->item.bytes;
    case 'Z':
        return f->item.bytes;
    default:
        for (int32_t s = f->first; s < f->last; s++) {
            double bytes = (double)search->left_bytes[s];
            most = most < bytes ? bytes : most;
        }
        return most;
    }
}

/* Greatest key first, then greatest area. */
static void rank_items(Search *search, uint64_t seed, Arena scratch)
{
    int32_t n = search->item_count;
    double *value = arena_array(&scratch, double, n), *area = arena_array(&scratch, double, n);
    int32_t *order = arena_array(&scratch, int32_t, n);
    for (int32_t i = 0; i < n; i++) {
        value[i] = key_of(search, i, search->rule.key) *
                   (1 + search->rule.jitter * random_unit(seed, (uint64_t)i));
        area[i] = key_of(search, i, 'A');
        int32_t at = i;
        while (at > 0 && (value[i] > value[order[at - 1]] ||
                          (value[i] == value[order[at - 1]] && area[i] > area[order[at - 1]]))) {
            order[at] = order[at - 1];
            at--;
        }
        order[at] = i;
    }
    for (int32_t i = 0; i < n; i++) {
        search->rank[order[i]] = i;
    }
}

/* Rules of runs by turns; no single one is good at everything, and a run that goes wrong early is best begun anew. The
 * weights are in bytes of 1 MiB; families and weights are those that solved most of the minimalloc instances in 2000 random
 * runs each; snug runs (three of five) are those that place tiles that are full in every step. */
static Rule rule_of(uint64_t run, double scale)
{
    static const struct {
        const char *keys;
        double slack[4], choice[4], failure[4];
    } families[] = {
        {"WSWS", {0.1, 0.25, 0.5, 0.7}, {0, 0, 0, 5000}, {0, 1000, 5000, 20000}},
        {"ABAZ", {0.25, 0.5, 0.7, 0.7}, {0, 5000, 20000, 20000}, {0, 1000, 1000, 5000}},
        {"WSBT", {0.1, 0.25, 0.5, 0.5}, {20000, 80000, 80000, 80000}, {5000, 20000, 80000, 80000}},
        {"WAZT", {0.25, 0.5, 0.7, 1.0}, {0, 5000, 80000, 1000000}, {0, 5000, 20000, 80000}},
    };
    static const double jitter[] = {0.1, 0.3, 0.3, 1};
    static const int32_t raises[] = {50, 200};
    const int family = (int)(run % 4);
#define PICK(table, count, at) table[random_below(1, run * 8 + (at), (count))]
    return (Rule){.slack_weight = PICK(families[family].slack, 4, 0),
                  .choice_weight = PICK(families[family].choice, 4, 1) * scale,
                  .failure_weight = PICK(families[family].failure, 4, 2) * scale,
                  .key = PICK(families[family].keys, 4, 3),
                  .is_snug = random_below(1, run * 8 + 7, 5) < 3,
                  .is_low_first = random_below(1, run * 8 + 4, 8) != 0,
                  .jitter = PICK(jitter, 4, 5),
                  .raises_max = PICK(raises, 2, 6)};
#undef PICK
}

/* 1 1 2 1 1 2 4 1 1 2 1 1 2 4 8 ... (Luby, Sinclair, Zuckerman 1993) */
static int64_t luby(int64_t run)
{
    for (int64_t length = 1;;) {
        while (length < run + 1) {
            length = 2 * length + 1;
        }
        if (length == run + 1) {
            return (length + 1) / 2;
        }
        run -= length / 2;
        length = 1;
    }
}

SearchResult place_search(const SearchProblem *problem, int64_t nodes_max, int64_t first_run,
                          Arena *keep, Arena scratch)
{
    SearchResult result = {.outcome = SEARCH_EXHAUSTED};
    Search search = {0};
    if (!search_build(&search, problem, &scratch)) {
        return result;
    }
    double scale = (double)problem->range[problem->range_count - 1].end / (1 << 20);
    Arena more = arena_split(&scratch, (scratch.end - scratch.at) / 2);
    search.arena = &more;
    bool is_cut = false; /* the last run, by nodes_max */
    for (int64_t run = first_run;; run++) {
        if (result.nodes >= nodes_max) {
            result.outcome = SEARCH_GAVE_UP;
            result.run = is_cut ? run - 1 : run;
            return result;
        }
        search.rule = rule_of((uint64_t)run, scale);
        rank_items(&search, (uint64_t)run, scratch);
        for (int32_t s = 0; s < search.section_count; s++) {
            search.failures[s] = 1;
        }
        search.nodes = 0;
        int64_t length = luby(run) * (50 + search.item_count * 5 / 4);
        search.nodes_limit = min_i64(length, nodes_max - result.nodes);
        is_cut = search.nodes_limit < length;
        search.is_stopped = false;
        search_mark_dirty(&search, 0, search.section_count);
        bool is_found = search_solve(&search, 0, search.section_count);
        result.nodes += search.nodes;
        if (is_found) {
            result.outcome = SEARCH_FOUND;
            result.address = arena_array(keep, uint32_t, problem->item_count);
            for (int32_t i = 0; i < problem->item_count; i++) {
                result.address[i] = problem->items[i].address;
            }
            for (int32_t i = 0; i < search.item_count; i++) {
                result.address[search.items[i].index] = search.low[i];
            }
            return result;
        }
        if (!search.is_stopped) {
            return result;
        }
        search_undo(&search, 0, 0);
    }
}
