/* Private to place: exact search for addresses. Knows nothing of tiles and tensors: items on one axis of addresses.
 *
 * An item takes bytes [address, address + bytes) in every step first <= t < last; items that are alive together do not overlap.
 */
#pragma once
#include "base/base.h"

enum {
    SEARCH_RANGES_MAX = 32,
    SEARCH_NOWHERE = -1, /* as uint32_t: no address yet, or none given */
};

/* Ranges ascend and are disjoint; no item lies in two of them, also not where they touch. */
typedef struct SearchRange {
    uint32_t begin, end;
    uint32_t element_bytes; /* unit of separation, a power of two; 0: none */
} SearchRange;

typedef struct SearchItem {
    uint32_t ranges; /* bit r: may lie in range r */
    uint32_t bytes;  /* > 0 */
    uint32_t
        bytes_high; /* the same in ranges of `high_ranges` (a sequence with another stride there) */
    uint32_t
        tail_bytes; /* behind the bytes; only has to exist (end at most `limit`) and counts for separation */
    uint32_t align; /* power of two */
    int32_t first, last;
    uint32_t address; /* given, or SEARCH_NOWHERE */
} SearchItem;

/* Items that touch no common element while both are alive, tails included. An address has the unit of the last range that
 * begins at or before it. Where the unit changes from one range to the next, an element of the first ends; otherwise elements
 * that meet there count as one (then nothing wrong is found, but EXHAUSTED is no proof). */
typedef struct SearchPair {
    int32_t a, b;
} SearchPair;

typedef struct SearchProblem {
    SearchRange range[SEARCH_RANGES_MAX];
    int32_t range_count;
    uint32_t high_ranges; /* bit r: range r */
    uint32_t limit;       /* no tail ends behind it */
    SearchItem *items;
    int32_t item_count;
    SearchPair *pairs;
    int32_t pair_count;
} SearchProblem;

typedef enum SearchOutcome {
    SEARCH_FOUND = 0,
    SEARCH_EXHAUSTED, /* there is no placement */
    SEARCH_GAVE_UP,   /* after nodes_max */
} SearchOutcome;

typedef struct SearchResult {
    SearchOutcome outcome;
    int64_t nodes;
    int64_t run;       /* that was not ended, after nodes_max */
    uint32_t *address; /* per item; when found */
} SearchResult;

/* Deterministic: depends on the problem, nodes_max and the first run only. Runs are independent of each other: a search goes on
 * with the one that the call before did not end. */
SearchResult place_search(const SearchProblem *problem, int64_t nodes_max, int64_t first_run,
                          Arena *keep, Arena scratch);
