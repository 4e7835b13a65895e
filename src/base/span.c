/* Growth of vectors inside an arena (style.md 6).
 *
 * All TVec types share one layout, {pointer, isize, isize}, which is read and written through
 * memcpy so that one function serves them. A vector that ends at the arena's next free byte grows
 * in place.
 */
#include "base/span.h"
#include <string.h>

typedef struct AnyVec {
    void *at;
    isize len, cap;
} AnyVec;

void vec_grow_(void *vec, isize elem_bytes, isize align, Arena *arena)
{
    AnyVec any;
    memcpy(&any, vec, sizeof any);
    isize cap = any.cap > 0 ? any.cap : 8;
    uint8_t *old_end = any.at == NULL ? NULL : (uint8_t *)any.at + any.cap * elem_bytes;
    if (old_end != NULL && old_end == arena->at) {
        (void)arena_alloc(arena, arena_bytes_(cap, elem_bytes), 1);
        any.cap += cap;
    } else {
        isize grown = any.cap + cap;
        void *at = arena_alloc(arena, arena_bytes_(grown, elem_bytes), align);
        if (any.len > 0) {
            memcpy(at, any.at, (size_t)(any.len * elem_bytes));
        }
        any.at = at;
        any.cap = grown;
    }
    memcpy(vec, &any, sizeof any);
}
