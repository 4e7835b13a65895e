/* Index arithmetic shared by the files of this room.
 *
 * In every order the index is a sum of a row term and a column term (kernels.md 1), so loops
 * compute one term per row and one per column instead of a division per element.
 */
#pragma once
#include "layout/layout.h"

enum { PANEL = 16, BLOCK_ELEMS = PANEL * PANEL };

static inline int64_t order_row_term(Order order, int32_t alloc_cols, int32_t r)
{
    switch (order) {
    case ORDER_ROW_MAJOR:
        return (int64_t)r * alloc_cols;
    case ORDER_AMP_LEFT:
        return (int64_t)r * PANEL;
    case ORDER_AMP_RIGHT:
        return (int64_t)(r / PANEL) * BLOCK_ELEMS + r % PANEL;
    case ORDER_KEYS_RIGHT:
        return (int64_t)(r / PANEL) * (alloc_cols / PANEL) * BLOCK_ELEMS + r % PANEL * PANEL;
    case ORDER_COUNT:
        break;
    }
    ASSERT(order < ORDER_COUNT);
    return 0;
}

static inline int64_t order_col_term(Order order, int32_t alloc_rows, int32_t c)
{
    switch (order) {
    case ORDER_ROW_MAJOR:
        return c;
    case ORDER_AMP_LEFT:
        return (int64_t)(c / PANEL) * alloc_rows * PANEL + c % PANEL;
    case ORDER_AMP_RIGHT:
        return (int64_t)(c / PANEL) * (alloc_rows / PANEL) * BLOCK_ELEMS + c % PANEL * PANEL;
    case ORDER_KEYS_RIGHT:
        return (int64_t)(c / PANEL) * BLOCK_ELEMS + c % PANEL;
    case ORDER_COUNT:
        break;
    }
    ASSERT(order < ORDER_COUNT);
    return 0;
}

int32_t order_row_multiple(Order order);
int32_t order_col_multiple(Order order);
