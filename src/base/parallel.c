/* Data-parallel loop over POSIX threads.
 *
 * Chunks are handed out by one atomic counter, so uneven work balances itself. Which thread runs an
 * index is not fixed; results must not depend on it (style.md 6). Threads live for one loop:
 * starting them costs some ten microseconds, and nothing has to be kept between loops.
 */
#include "base/parallel.h"
#include "base/error.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

enum { THREADS_MAX = 256 };

typedef struct Loop {
    ParallelBody body;
    void *context;
    isize count, chunk;
    _Atomic isize next;
} Loop;

typedef struct Worker {
    Loop *loop;
    int index;
} Worker;

static void *run_worker(void *argument)
{
    const Worker *worker = argument;
    Loop *loop = worker->loop;
    for (;;) {
        isize begin = atomic_fetch_add(&loop->next, loop->chunk);
        if (begin >= loop->count) {
            return NULL;
        }
        isize end = loop->count - begin < loop->chunk ? loop->count : begin + loop->chunk;
        for (isize i = begin; i < end; i++) {
            loop->body(loop->context, i, worker->index);
        }
    }
}

void parallel_for(int threads, isize count, isize chunk, ParallelBody body, void *context)
{
    chunk = chunk < 1 ? 1 : chunk;
    isize chunks = count / chunk + (count % chunk != 0);
    if (threads > chunks) {
        threads = (int)chunks;
    }
    if (threads > THREADS_MAX) {
        threads = THREADS_MAX;
    }
    if (threads <= 1) {
        for (isize i = 0; i < count; i++) {
            body(context, i, 0);
        }
        return;
    }
    Loop loop = {.body = body, .context = context, .count = count, .chunk = chunk};
    Worker workers[THREADS_MAX];
    pthread_t ids[THREADS_MAX];
    int started = 1;
    workers[0] = (Worker){&loop, 0};
    for (; started < threads; started++) {
        workers[started] = (Worker){&loop, started};
        if (pthread_create(&ids[started], NULL, run_worker, &workers[started]) != 0) {
            break; /* fewer threads do the same work */
        }
    }
    (void)run_worker(&workers[0]);
    for (int i = 1; i < started; i++) {
        ASSERT(pthread_join(ids[i], NULL) == 0);
    }
}

int cpu_count(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
        return CPU_COUNT(&set) > 0 ? CPU_COUNT(&set) : 1;
    }
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int)online : 1;
}

int thread_count(int requested)
{
    int threads = requested > 0 ? requested : cpu_count();
    return threads < THREADS_MAX ? threads : THREADS_MAX;
}

double time_seconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
