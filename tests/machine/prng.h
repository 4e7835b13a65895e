/* The generator of a worker, from the formulas of isa/semantics.md 8.3 and registers.md 4.3: the oracle of everything random. */
#pragma once
#include <stdint.h>

typedef struct Prng {
    uint64_t s0, s1;
} Prng;

static inline uint64_t rotate_left(uint64_t v, int n)
{
    return v << n | v >> (64 - n);
}

static inline Prng prng_seed(uint32_t v)
{
    uint32_t high = (v << 13) | (~v >> 19), low = (~v << 13) | (v >> 19);
    return (Prng){v | (uint64_t)~v << 32, high | (uint64_t)low << 32};
}

static inline uint64_t prng_step(Prng *p)
{
    uint64_t sx = p->s0 ^ p->s1, sa = p->s0 & p->s1;
    p->s0 = rotate_left(p->s0, 55) ^ sx ^ (sx << 14);
    p->s1 = rotate_left(sx, 36);
    return sx ^ (rotate_left(sa, 1) | rotate_left(sa, 2));
}

/* The 16 bits of element i. */
static inline uint32_t prng_bits(uint64_t step, int i)
{
    return (uint32_t)(step >> (16 * i)) & 0xffff;
}
