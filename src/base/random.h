/* Counter-based random numbers: any element without the previous ones, same bytes on every machine.
 * SplitMix64 of seed XOR index (models.md 5.1); the normal sample is Box-Muller in fixed-order
 * double arithmetic of our own (no libm), so that it is bit-identical everywhere. */
#pragma once
#include <stdint.h>

uint64_t random_u64(uint64_t seed, uint64_t index);
/* Uniform in [0, bound). */
uint64_t random_below(uint64_t seed, uint64_t index, uint64_t bound);
/* Uniform in (0, 1). */
double random_unit(uint64_t seed, uint64_t index);
/* Standard normal. */
double random_normal(uint64_t seed, uint64_t index);
