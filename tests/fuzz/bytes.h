/* The input of a fuzz target, taken piece by piece. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* The input; zeros behind its end. */
typedef struct Bytes {
    const uint8_t *at;
    size_t len, next;
} Bytes;

static inline uint32_t take(Bytes *bytes, int count)
{
    uint32_t value = 0;
    for (int i = 0; i < count; i++) {
        uint32_t byte = bytes->next < bytes->len ? bytes->at[bytes->next++] : 0;
        value |= byte << (8 * i);
    }
    return value;
}
