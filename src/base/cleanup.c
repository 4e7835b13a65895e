/* List of temporary files for the signal handler (product.md 4: Ctrl-C leaves no half file).
 *
 * Slots are claimed and released through one atomic state each; the handler unlinks every slot that
 * is complete and then lets the signal kill the process the default way, so the shell sees the
 * signal.
 */
#include "base/cleanup.h"
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

enum { SLOT_COUNT = 64, PATH_BYTES = 1088 };
enum { SLOT_FREE = 0, SLOT_BUSY, SLOT_ACTIVE };

typedef struct Slot {
    atomic_int state;
    char path[PATH_BYTES];
} Slot;

static Slot slots[SLOT_COUNT];
static atomic_flag handlers_installed = ATOMIC_FLAG_INIT;

static void on_signal(int number)
{
    cleanup_temporary_files();
    struct sigaction action = {.sa_handler = SIG_DFL};
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(number, &action, NULL);
    (void)raise(number);
}

static void install(int number)
{
    struct sigaction old;
    if (sigaction(number, NULL, &old) != 0 || old.sa_handler != SIG_DFL) {
        return; /* ignored (nohup) or already handled by the program */
    }
    struct sigaction action = {.sa_handler = on_signal};
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(number, &action, NULL);
}

bool cleanup_add(const char *path)
{
    size_t bytes = strlen(path) + 1;
    if (bytes > PATH_BYTES) {
        return false;
    }
    if (!atomic_flag_test_and_set(&handlers_installed)) {
        static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXCPU};
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
            install(numbers[i]);
        }
        /* A file over the size limit: the write fails instead, which the writer reports. */
        struct sigaction ignore = {.sa_handler = SIG_IGN};
        (void)sigemptyset(&ignore.sa_mask);
        (void)sigaction(SIGXFSZ, &ignore, NULL);
    }
    for (int i = 0; i < SLOT_COUNT; i++) {
        int expected = SLOT_FREE;
        if (atomic_compare_exchange_strong(&slots[i].state, &expected, SLOT_BUSY)) {
            memcpy(slots[i].path, path, bytes);
            atomic_store(&slots[i].state, SLOT_ACTIVE);
            return true;
        }
    }
    return false;
}

void cleanup_drop(const char *path)
{
    for (int i = 0; i < SLOT_COUNT; i++) {
        if (atomic_load(&slots[i].state) == SLOT_ACTIVE && strcmp(slots[i].path, path) == 0) {
            atomic_store(&slots[i].state, SLOT_FREE);
            return;
        }
    }
}

void cleanup_temporary_files(void)
{
    for (int i = 0; i < SLOT_COUNT; i++) {
        if (atomic_load(&slots[i].state) == SLOT_ACTIVE) {
            (void)unlink(slots[i].path);
        }
    }
}
