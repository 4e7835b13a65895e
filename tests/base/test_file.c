/* Files: complete or absent, also when a signal ends the process (product.md 4). */
#include "test.h"
#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static Arena arena;

static const char *path_of(const char *name)
{
    return str_format(&arena, "%s/%s", getenv("T"), name).at;
}

static int files_in(const char *path)
{
    int count = 0;
    DIR *directory = opendir(path);
    CHECK(directory != NULL);
    for (struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
        count += entry->d_name[0] != '.';
    }
    closedir(directory);
    return count;
}

static void write_then_read(void)
{
    Error err = {0};
    const char *directory = path_of("a/b/c");
    CHECK_OK(dir_make(directory, &err), err);
    CHECK_OK(dir_make(directory, &err), err);
    const char *path = path_of("a/b/c/file");
    CHECK_OK(file_write(path, S("one\0two"), &err), err);
    Str text;
    CHECK_OK(file_read(path, 7, &arena, &text, &err), err);
    CHECK_STR(text, S("one\0two"));
    CHECK_EQ_INT(text.at[text.len], 0);
    CHECK_OK(file_write(path, S(""), &err), err);
    CHECK_OK(file_read(path, 7, &arena, &text, &err), err);
    CHECK_EQ_INT(text.len, 0);
    CHECK_EQ_INT(files_in(directory), 1);
}

static void nothing_appears_before_commit(void)
{
    Error err = {0};
    FileOut out;
    CHECK_OK(dir_make(path_of("d"), &err), err);
    const char *path = path_of("d/late");
    CHECK_OK(file_begin(&out, path, &err), err);
    CHECK_OK(file_append(&out, "abc", 3, &err), err);
    CHECK(access(path, F_OK) != 0);
    CHECK_OK(file_append(&out, "def", 3, &err), err);
    CHECK_OK(file_commit(&out, &err), err);
    file_abandon(&out);
    Str text;
    CHECK_OK(file_read(path, 100, &arena, &text, &err), err);
    CHECK_STR(text, S("abcdef"));
    /* An abandoned rewrite leaves the old file. */
    CHECK_OK(file_begin(&out, path, &err), err);
    CHECK_OK(file_append(&out, "xyz", 3, &err), err);
    file_abandon(&out);
    file_abandon(&out);
    CHECK_OK(file_read(path, 100, &arena, &text, &err), err);
    CHECK_STR(text, S("abcdef"));
    CHECK_EQ_INT(files_in(path_of("d")), 1);
}

static void refusals(void)
{
    Error err;
    Str text;
    const char *missing = path_of("missing/file");
    CHECK_ERROR(file_read(missing, 10, &arena, &text, &err), err, ERROR_INPUT, "No such file");
    CHECK_CSTR(err.where, missing);
    CHECK_ERROR(file_read(getenv("T"), 10, &arena, &text, &err), err, ERROR_INPUT,
                "not a regular file");
    CHECK_ERROR(file_write(missing, S("x"), &err), err, ERROR_INPUT, "No such file");
    CHECK_ERROR(file_write(getenv("T"), S("x"), &err), err, ERROR_INPUT, "directory");
    CHECK_ERROR(file_write("", S("x"), &err), err, ERROR_INPUT, "empty");
    const char *big = path_of("big");
    err = (Error){0};
    CHECK_OK(file_write(big, S("0123456789"), &err), err);
    CHECK_ERROR(file_read(big, 9, &arena, &text, &err), err, ERROR_INPUT, "10 bytes, at most 9");
    CHECK_ERROR(dir_make(big, &err), err, ERROR_INPUT, "not a directory");
    CHECK(mkfifo(path_of("pipe"), 0600) == 0);
    CHECK_ERROR(file_read(path_of("pipe"), 10, &arena, &text, &err), err, ERROR_INPUT,
                "not a regular file");
}

/* The child writes half a file and is then killed by the signal, or fails an assertion. */
static void dies_clean(int signal_number)
{
    Error err = {0};
    CHECK_OK(dir_make(path_of("s"), &err), err);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        FileOut first, second, done;
        bool ok = file_begin(&first, path_of("s/first"), &err) &&
                  file_begin(&second, path_of("s/second"), &err) &&
                  file_begin(&done, path_of("s/done"), &err) &&
                  file_append(&first, "half", 4, &err) && file_commit(&done, &err);
        if (!ok || files_in(path_of("s")) != 3) {
            _exit(99);
        }
        if (signal_number == 0) {
            (void)freopen("/dev/null", "w", stderr);
            ASSERT(signal_number == 1);
        }
        raise(signal_number);
        _exit(98);
    }
    int status;
    CHECK_EQ_INT(waitpid(child, &status, 0), child);
    if (signal_number == 0) {
        CHECK(WIFEXITED(status));
        CHECK_EQ_INT(WEXITSTATUS(status), 70);
    } else {
        CHECK(WIFSIGNALED(status));
        CHECK_EQ_INT(WTERMSIG(status), signal_number);
    }
    CHECK_EQ_INT(files_in(path_of("s")), 1);
    CHECK(access(path_of("s/done"), F_OK) == 0);
    CHECK(unlink(path_of("s/done")) == 0);
}

static void signals(void)
{
    dies_clean(SIGTERM);
    dies_clean(SIGINT);
    dies_clean(0);
}

int main(void)
{
    arena = arena_create(1 << 20);
    write_then_read();
    nothing_appears_before_commit();
    refusals();
    signals();
    return 0;
}
