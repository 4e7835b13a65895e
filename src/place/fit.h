/* Private to place: first fit with some of the wishes as rules (fit.c), and which of them to keep (wishes.c). */
#pragma once
#include "place/place.h"

enum { FIT_RULES = 4 };

typedef struct FitOptions {
    const bool *is_kept; /* per wish: as if it were a separation; NULL: none */
    int32_t rules, attempts;
    int64_t work_max; /* requests looked at, after which no other attempt begins */
} FitOptions;

typedef struct FitResult {
    int32_t failed; /* request for which the first order found no place */
    int64_t hole;   /* the largest that it saw */
    int64_t work;
} FitResult;

/* `address` (per request) is that of the last attempt. */
bool fit_in_orders(const PlaceProblem *problem, const FitOptions *options, Arena scratch,
                   uint32_t *address, FitResult *result);
/* Do two spans have a memory element in common? Where they do not overlap, the last byte of one and the first of the other decide;
 * where they do, any element there. */
bool spans_share_element(const PlaceProblem *problem, int64_t a_begin, int64_t a_end,
                         int64_t b_begin, int64_t b_end);
