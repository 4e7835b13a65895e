/* Half-open boxes [begin, end) of matrices; all set operations live here and nowhere else. */
#pragma once
#include "base/span.h"

typedef struct Region {
    int32_t row_begin, row_end, col_begin, col_end;
} Region;
VEC(Region);

static inline Region region_of(int32_t r0, int32_t r1, int32_t c0, int32_t c1)
{
    return (Region){r0, r1, c0, c1};
}
bool region_is_empty(Region r);
int64_t region_elems(Region r);
Region region_intersect(Region a, Region b);
bool region_contains(Region outer, Region inner);
bool region_equal(Region a, Region b);
/* Appends a - b as at most four disjoint boxes, in fixed order (above, below, left, right). */
void region_subtract(Region a, Region b, RegionVec *out, Arena *arena);
