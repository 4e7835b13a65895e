/* The element orders (kernels.md 1, compiler-design.md 3.1): index of a coordinate and its inverse.
 */
#include "layout/terms.h"

typedef struct OrderRow {
    Str name;
    int32_t row_multiple, col_multiple;
} OrderRow;

static const OrderRow orders[] = {
#define ORDER(name, text, row_multiple, col_multiple)                                              \
    {{text, sizeof(text) - 1}, row_multiple, col_multiple},
#include "layout/orders.def"
#undef ORDER
};
_Static_assert(sizeof orders / sizeof orders[0] == ORDER_COUNT, "one row an order");

Str order_name(Order order)
{
    ASSERT(order < ORDER_COUNT);
    return orders[order].name;
}

Order order_find(Str name)
{
    int order = 0;
    while (order < ORDER_COUNT && !str_equal(name, order_name((Order)order))) {
        order++;
    }
    return (Order)order;
}

int32_t order_row_multiple(Order order)
{
    ASSERT(order < ORDER_COUNT);
    return orders[order].row_multiple;
}

int32_t order_col_multiple(Order order)
{
    ASSERT(order < ORDER_COUNT);
    return orders[order].col_multiple;
}

int64_t order_index(Order order, int32_t alloc_rows, int32_t alloc_cols, int32_t r, int32_t c)
{
    return order_row_term(order, alloc_cols, r) + order_col_term(order, alloc_rows, c);
}

void order_coordinate(Order order, int32_t alloc_rows, int32_t alloc_cols, int64_t index,
                      int32_t *r, int32_t *c)
{
    int64_t block = index / BLOCK_ELEMS;
    int32_t major = (int32_t)(index % BLOCK_ELEMS / PANEL);
    int32_t minor = (int32_t)(index % PANEL);
    switch (order) {
    case ORDER_ROW_MAJOR:
        *r = (int32_t)(index / alloc_cols);
        *c = (int32_t)(index % alloc_cols);
        return;
    case ORDER_AMP_LEFT: {
        int64_t panel_elems = (int64_t)alloc_rows * PANEL;
        *r = (int32_t)(index % panel_elems / PANEL);
        *c = (int32_t)(index / panel_elems) * PANEL + minor;
        return;
    }
    case ORDER_AMP_RIGHT:
        *r = (int32_t)(block % (alloc_rows / PANEL)) * PANEL + minor;
        *c = (int32_t)(block / (alloc_rows / PANEL)) * PANEL + major;
        return;
    case ORDER_KEYS_RIGHT:
        *r = (int32_t)(block / (alloc_cols / PANEL)) * PANEL + major;
        *c = (int32_t)(block % (alloc_cols / PANEL)) * PANEL + minor;
        return;
    case ORDER_COUNT:
        break;
    }
    ASSERT(order < ORDER_COUNT);
}
