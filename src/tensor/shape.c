/* Shapes of row-major tensors. */
#include "tensor/shape.h"
#include "base/error.h"

int64_t shape_elems(const Shape *shape)
{
    int64_t elems = 1;
    for (int i = 0; i < shape->rank; i++) {
        ASSERT(!__builtin_mul_overflow(elems, shape->dim[i], &elems));
    }
    return elems;
}

bool shape_equal(const Shape *a, const Shape *b)
{
    if (a->rank != b->rank) {
        return false;
    }
    for (int i = 0; i < a->rank; i++) {
        if (a->dim[i] != b->dim[i]) {
            return false;
        }
    }
    return true;
}
