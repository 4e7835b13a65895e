/* Shapes of row-major tensors. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum { SHAPE_RANK_MAX = 8 };

typedef struct Shape {
    int rank; /* 0 = scalar */
    int64_t dim[SHAPE_RANK_MAX];
} Shape;

int64_t shape_elems(const Shape *shape);
bool shape_equal(const Shape *a, const Shape *b);
static inline Shape shape_of2(int64_t rows, int64_t cols)
{
    return (Shape){2, {rows, cols}};
}
