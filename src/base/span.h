/* Spans for reading, vectors for building (style.md 6). Sizes are signed.
 *
 *   SPAN(T)  declares TSpan {T *at; isize len;}            - never owns
 *   VEC(T)   declares TVec  {T *at; isize len, cap;}       - grows inside an arena
 *   *vec_push(&transfers, keep) = transfer;
 */
#pragma once
#include "base/arena.h"

#define SPAN(T)                                                                                    \
    typedef struct T##Span {                                                                       \
        T *at;                                                                                     \
        isize len;                                                                                 \
    } T##Span
#define VEC(T)                                                                                     \
    typedef struct T##Vec {                                                                        \
        T *at;                                                                                     \
        isize len, cap;                                                                            \
    } T##Vec

/* Makes room for one more element; `vec` is any TVec. */
void vec_grow_(void *vec, isize elem_bytes, isize align, Arena *arena);

#define vec_push(vec, arena)                                                                       \
    (((vec)->len >= (vec)->cap                                                                     \
          ? vec_grow_((vec), (isize)sizeof *(vec)->at, (isize) _Alignof(max_align_t), (arena))     \
          : (void)0),                                                                              \
     &(vec)->at[(vec)->len++])
