/* The C preprocessor as a child process: text through a pipe, messages straight to standard error. */
#include "cli/preprocess.h"
#include "base/file.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static bool start(char *const *command, int write_end, pid_t *child)
{
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions) != 0) {
        return false;
    }
    bool is_good = posix_spawn_file_actions_adddup2(&actions, write_end, STDOUT_FILENO) == 0 &&
                   posix_spawnp(child, command[0], &actions, NULL, command, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    return is_good;
}

/* Everything up to the end; false when it is too much. */
static bool drain(int fd, isize max_bytes, Writer *text)
{
    char block[1 << 14];
    for (;;) {
        ssize_t got = read(fd, block, sizeof block);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return got == 0;
        }
        write_str(text, (Str){block, got});
        if (text->len > max_bytes) {
            return false;
        }
    }
}

/* Files that cpp read, from its line markers: `# 12 "name" ...`. */
static void note_files(Str text, Arena scratch)
{
    while (text.len > 0) {
        Str line = str_cut(&text, '\n');
        if (str_starts(line, S("# "))) {
            str_cut(&line, '"');
            Str name = str_cut(&line, '"');
            Arena trial = scratch;
            if (name.len > 0 && name.at[0] != '<') {
                file_note_read(str_copy(name, &trial).at);
            }
        }
    }
}

/* cpp has no bounds of its own (an endless device as an include). */
static void limit_child(pid_t child)
{
    const struct rlimit seconds = {20, 20}, bytes = {(rlim_t)2 << 30, (rlim_t)2 << 30};
    (void)prlimit(child, RLIMIT_CPU, &seconds, NULL);
    (void)prlimit(child, RLIMIT_AS, &bytes, NULL);
}

bool preprocess(const char *path, const char *const *arguments, int count, isize max_bytes,
                Arena *arena, Str *out, Error *err)
{
    static const char *const fixed[] = {"cpp", "-x", "assembler-with-cpp", "-undef", "-nostdinc"};
    enum { FIXED = sizeof fixed / sizeof *fixed };
    const char **command = arena_array(arena, const char *, FIXED + count + 2);
    memcpy(command, fixed, sizeof fixed);
    if (count > 0) {
        memcpy(command + FIXED, arguments, (size_t)count * sizeof *arguments);
    }
    command[FIXED + count] = path[0] == '-' ? str_format(arena, "./%s", path).at : path;
    int ends[2];
    pid_t child;
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return error_set(err, ERROR_INPUT, path, "cannot run cpp: %s", strerror(errno));
    }
    /* posix_spawnp does not change the strings; its type is older than const. */
    bool is_started = start((char *const *)(uintptr_t)command, ends[1], &child);
    close(ends[1]);
    if (!is_started) {
        close(ends[0]);
        return error_set(err, ERROR_INPUT, path,
                         "cannot run cpp; expected the C preprocessor in PATH");
    }
    limit_child(child);
    Writer text = writer_buffer(arena);
    bool is_complete = drain(ends[0], max_bytes, &text);
    close(ends[0]);
    if (!is_complete) {
        kill(child, SIGKILL);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (!is_complete) {
        return error_set(err, ERROR_INPUT, path, "expected at most %td bytes behind cpp",
                         max_bytes);
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        return error_set(err, ERROR_INPUT, path, "cpp failed");
    }
    *out = writer_text(&text);
    note_files(*out, *arena);
    return true;
}
