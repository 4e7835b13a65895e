/* Private to exchange: which words of a row hold the item address of a send. Solver and checker share the decoder. */
#pragma once
#include "exchange/exchange.h"

/* A `send` or `sendpicp` that sends; its items leave from `event` on. */
typedef struct RowAddress {
    int32_t word;
    Event event;
} RowAddress;
VEC(RowAddress);

/* row_decode, and the words with addresses in `addresses` (NULL: nobody asks). */
bool row_decode_addresses(const uint32_t *words, isize count, RowScript *out,
                          RowAddressVec *addresses, Arena *arena, Error *err);
