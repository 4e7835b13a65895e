/* Private to the search (search*.c): a problem made ready, and the state of one run. */
#pragma once
#include "place/search.h"

enum {
    CLASSES_MAX = 8, /* masks of ranges with a bound of their own; the first is all ranges */
};
static const uint32_t NOWHERE = (uint32_t)SEARCH_NOWHERE;

typedef struct Free { /* an item without a given address */
    SearchItem item;
    int32_t index;                    /* in the problem */
    int32_t first, last;              /* sections */
    int32_t next;                     /* identical item that lies above this one; -1: none */
    int32_t others, others_end;       /* in Search.others */
    int32_t obstacles, obstacles_end; /* in Search.obstacles */
} Free;

/* Item with a given address, as one that is alive together with it sees it. */
typedef struct Obstacle {
    uint32_t begin, end, tail_end;
    bool is_apart;
} Obstacle;

typedef struct Other { /* item without address that is alive together with one */
    int32_t item;
    bool is_apart;
} Other;

typedef struct Gap {
    uint32_t begin, end;
} Gap;

typedef struct Change {
    uint32_t *at;
    uint32_t old;
} Change;

/* How to choose: a section by the weighted sum of its lowest address, room to spare, choices and failures; there the first
 * item by address (if asked) and rank, or the one that wastes least. */
typedef struct Rule {
    double slack_weight, choice_weight, failure_weight;
    char key;
    bool is_low_first, is_snug;
    double jitter;      /* of keys, relative */
    int32_t raises_max; /* in one call of `bound`, of items that are not a section's lowest */
} Rule;

typedef struct Search {
    const SearchProblem *problem;
    bool is_plain; /* one range, no alignment, tails, obstacles and pairs */
    Free *items;
    int32_t item_count, section_count, class_count;
    uint32_t class_ranges[CLASSES_MAX];
    Other *others;
    Obstacle *obstacles;
    Gap *gaps; /* free of obstacles, per class and section, ascending */
    int32_t *gap_first;

    /* State, undone through `changes`. */
    uint32_t *at;        /* per item: lowest address above what is stacked */
    uint32_t *low, *end; /* per item: the same with what was postponed or inferred; end there */
    uint32_t *apart;     /* per item: one past the last byte of the highest stacked partner */
    uint32_t *lowest, *least_end; /* per section: least `low` and `end` of what is left */
    uint32_t *highest;            /* per class and section: where its lowest item can lie at most */
    uint32_t *choices;            /* per section: items that can be its lowest */
    uint32_t *left;               /* per section: items left, which are the first in `members` */
    Change *changes;
    isize change_count, change_cap;
    Arena *arena; /* for more changes */

    int64_t *left_bytes; /* per class and section */
    int32_t *crossing;   /* per section: items left in it and in the one before */
    bool *is_stacked;
    int32_t *members, *member_first;
    int32_t *stack;
    int32_t stack_count;
    uint64_t *dirty;
    int32_t dirty_words;

    Rule rule;
    int32_t *rank;
    double *failures; /* per section, in this run */
    int32_t raises_left;
    int64_t nodes, nodes_limit;
    bool is_stopped;
} Search;

/* search_build.c. False: some item has no place at all, or the given addresses break a rule. */
bool search_build(Search *search, const SearchProblem *problem, Arena *arena);

/* search_tree.c: from a state where only the initial addresses are known; true leaves every item stacked at `low`. The caller
 * marks the sections dirty before and undoes the changes afterwards. */
bool search_solve(Search *search, int32_t first, int32_t last);
void search_mark_dirty(Search *search, int32_t first, int32_t last);
void search_undo(Search *search, isize change_count, int32_t stack_count);

/* Lowest address from `from` on where the item may lie as far as ranges, tail, obstacles and stacked partners go. */
uint32_t search_fit(const Search *search, int32_t i, uint32_t from);
uint32_t search_end_at(const SearchProblem *problem, const SearchItem *item, uint32_t address);
/* Bytes [a, a_end) and [b, b_end) touch a common element. */
bool search_share_element(const SearchProblem *problem, uint32_t a, uint32_t a_end, uint32_t b,
                          uint32_t b_end);
/* Adds (sign 1) or takes away (-1) the item's bytes in its sections. */
void search_count_bytes(Search *search, int32_t i, int64_t sign);
/* The greatest address with `bytes` free at or above it; nowhere when there are too few. */
uint32_t search_highest_with(const Search *search, int32_t class, int32_t section, int64_t bytes);
