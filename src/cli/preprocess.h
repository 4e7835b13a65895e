/* Running the C preprocessor over a source file. */
#pragma once
#include "base/base.h"

/* Text of `path` through `cpp -x assembler-with-cpp` (found in PATH; no shell) with `count` further arguments such as -Idir.
 * Its messages go to standard error; ERROR_INPUT when it cannot be run, fails, or gives more than max_bytes. */
bool preprocess(const char *path, const char *const *arguments, int count, isize max_bytes,
                Arena *arena, Str *out, Error *err);
