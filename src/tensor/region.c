/* Box algebra: the only place where boxes are intersected or subtracted (style.md 15). */
#include "tensor/region.h"

static void add_unless_empty(Region r, RegionVec *out, Arena *arena)
{
    if (!region_is_empty(r)) {
        *vec_push(out, arena) = r;
    }
}

static int32_t max_of(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

static int32_t min_of(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

bool region_is_empty(Region r)
{
    return r.row_begin >= r.row_end || r.col_begin >= r.col_end;
}

int64_t region_elems(Region r)
{
    if (region_is_empty(r)) {
        return 0;
    }
    return ((int64_t)r.row_end - r.row_begin) * ((int64_t)r.col_end - r.col_begin);
}

Region region_intersect(Region a, Region b)
{
    Region r = {max_of(a.row_begin, b.row_begin), min_of(a.row_end, b.row_end),
                max_of(a.col_begin, b.col_begin), min_of(a.col_end, b.col_end)};
    return region_is_empty(r) ? (Region){0} : r;
}

bool region_contains(Region outer, Region inner)
{
    return region_is_empty(inner) ||
           (outer.row_begin <= inner.row_begin && inner.row_end <= outer.row_end &&
            outer.col_begin <= inner.col_begin && inner.col_end <= outer.col_end);
}

bool region_equal(Region a, Region b)
{
    return a.row_begin == b.row_begin && a.row_end == b.row_end && a.col_begin == b.col_begin &&
           a.col_end == b.col_end;
}

void region_subtract(Region a, Region b, RegionVec *out, Arena *arena)
{
    Region both = region_intersect(a, b);
    if (region_is_empty(both)) {
        add_unless_empty(a, out, arena);
        return;
    }
    add_unless_empty(region_of(a.row_begin, both.row_begin, a.col_begin, a.col_end), out, arena);
    add_unless_empty(region_of(both.row_end, a.row_end, a.col_begin, a.col_end), out, arena);
    add_unless_empty(region_of(both.row_begin, both.row_end, a.col_begin, both.col_begin), out,
                     arena);
    add_unless_empty(region_of(both.row_begin, both.row_end, both.col_end, a.col_end), out, arena);
}
