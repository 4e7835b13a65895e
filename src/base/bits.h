/* Small arithmetic used everywhere. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline int64_t div_up(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}
static inline int64_t align_up(int64_t a, int64_t to)
{
    return div_up(a, to) * to;
}
static inline int64_t min_i64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}
static inline int64_t max_i64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}
static inline uint32_t bits_of_f32(float f)
{
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    return u;
}
static inline float f32_of_bits(uint32_t u)
{
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}
/* Sign-extends the low `bits` of v. */
static inline int32_t sign_extend(uint32_t v, int bits)
{
    uint32_t m = 1u << (bits - 1);
    return (int32_t)((v ^ m) - m);
}
uint32_t crc32_of(const void *bytes, int64_t len); /* IEEE, as in zlib */
uint64_t hash64_of(const void *bytes, int64_t len, uint64_t seed);
