/* What the fuzz targets share: arenas that live as long as the process, and a check that stops the fuzzer. */
#pragma once
#include "base/base.h"
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* `keep` and `scratch` for one input; what the last one used is overwritten. */
static inline void fuzz_arenas(Arena *keep, Arena *scratch)
{
    static Arena kept, scratched;
    if (kept.base == NULL) {
        kept = arena_create(INT64_C(1) << 32);
        scratched = arena_create(INT64_C(1) << 31);
    }
    *keep = kept;
    *scratch = scratched;
}

#define FUZZ_CHECK(condition)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            abort();                                                                               \
        }                                                                                          \
    } while (0)
