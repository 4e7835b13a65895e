/* Where a test writes: $T of the runner, which removes it, or a new directory when run by hand. */
#pragma once
#include <stdio.h>
#include <stdlib.h>

static inline const char *temporary_directory(void)
{
    static char made[] = P_tmpdir "/tessera-test-XXXXXX";
    const char *given = getenv("T");
    return given != NULL ? given : mkdtemp(made);
}
