/* Temporary files that must not survive the process: removed when a signal ends the process
 * or an ASSERT fails.
 *
 * A signal handler can reach only static memory, so the list of names is process-wide state: the only one
 * besides tables that are computed once on first use. Everything here that a handler calls is async-signal-safe.
 */
#pragma once
#include <stdbool.h>

/* Registers a path; false when too many are open. Installs the handlers on first use. */
bool cleanup_add(const char *path);
/* Forgets a path (it was renamed or removed). */
void cleanup_drop(const char *path);
/* Removes all registered files. Async-signal-safe. */
void cleanup_temporary_files(void);
