/* Data-parallel loop over POSIX threads. Results must not depend on which thread runs an index. */
#pragma once
#include "base/arena.h"

typedef void (*ParallelBody)(void *context, isize index, int worker);
/* Runs body for 0 <= index < count on up to `threads` threads (worker < threads); indices are
 * handed out in chunks of `chunk`. Returns when all are done. threads <= 1 runs in the caller. */
void parallel_for(int threads, isize count, isize chunk, ParallelBody body, void *context);
int cpu_count(void);
/* Threads to use for an option where 0 means all cores; at most what parallel_for can use. */
int thread_count(int requested);
/* Monotonic seconds, for stage times (never part of a result). */
double time_seconds(void);
