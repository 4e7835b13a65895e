/* Whole files in, complete files out (product.md 4).
 *
 * Output goes to a temporary name beside its target, is synced and renamed, so a reader never sees
 * half a file. Temporary names are registered for removal by signal (base/cleanup.h).
 */
#include "base/file.h"
#include "base/cleanup.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool read_all(int fd, char *at, isize len)
{
    while (len > 0) {
        ssize_t got = read(fd, at, (size_t)len);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            if (got == 0) {
                errno = EIO;
            }
            return false;
        }
        at += got;
        len -= got;
    }
    return true;
}

static bool read_open(int fd, const char *path, isize max_bytes, Arena *arena, Str *out, Error *err)
{
    struct stat info;
    if (fstat(fd, &info) != 0) {
        return error_set(err, ERROR_INPUT, path, "cannot be examined: %s", strerror(errno));
    }
    if (!S_ISREG(info.st_mode)) {
        return error_set(err, ERROR_INPUT, path, "not a regular file");
    }
    if (info.st_size > max_bytes) {
        return error_set(err, ERROR_INPUT, path, "file has %lld bytes, at most %td are accepted",
                         (long long)info.st_size, max_bytes);
    }
    isize len = (isize)info.st_size;
    char *at = arena_alloc(arena, len + 1, 8);
    if (!read_all(fd, at, len)) {
        return error_set(err, ERROR_INPUT, path, "cannot be read: %s", strerror(errno));
    }
    *out = (Str){at, len};
    return true;
}

/* A rename is durable only when its directory is synced; failure to do so loses nothing now. */
static void sync_directory_of(const char *path)
{
    char directory[1024];
    const char *slash = strrchr(path, '/');
    size_t len = slash == NULL ? 0 : (size_t)(slash - path);
    if (len >= sizeof directory) {
        return;
    }
    memcpy(directory, path, len);
    directory[len] = '\0';
    const char *name = slash == NULL ? "." : len == 0 ? "/" : directory;
    int fd = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        (void)close(fd);
    }
}

enum { READ_FILES_MAX = 4096 };
/* Files read so far, under the lock. */
static struct {
    dev_t device;
    ino_t inode;
} read_files[READ_FILES_MAX];
static int read_count;
static pthread_mutex_t read_lock = PTHREAD_MUTEX_INITIALIZER;

/* Index of a file among those, or read_count. */
static int find_read(dev_t device, ino_t inode)
{
    int i = 0;
    while (i < read_count && (read_files[i].device != device || read_files[i].inode != inode)) {
        i++;
    }
    return i;
}

void file_note_read(const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0) {
        return;
    }
    pthread_mutex_lock(&read_lock);
    if (find_read(info.st_dev, info.st_ino) == read_count && read_count < READ_FILES_MAX) {
        read_files[read_count].device = info.st_dev;
        read_files[read_count++].inode = info.st_ino;
    }
    pthread_mutex_unlock(&read_lock);
}

bool file_was_read(const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0) {
        return false;
    }
    pthread_mutex_lock(&read_lock);
    bool is_found = find_read(info.st_dev, info.st_ino) < read_count;
    pthread_mutex_unlock(&read_lock);
    return is_found;
}

bool file_read(const char *path, isize max_bytes, Arena *arena, Str *out, Error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return error_set(err, ERROR_INPUT, path, "cannot be opened: %s", strerror(errno));
    }
    bool ok = read_open(fd, path, max_bytes, arena, out, err);
    (void)close(fd);
    if (ok) {
        file_note_read(path);
    }
    return ok;
}

/* The file that a rename may replace: never a link (its target instead), a device, a pipe or a directory. */
static bool resolve_output(const char *path, char *out, size_t out_bytes, Error *err)
{
    struct stat info;
    char *target = NULL;
    if (lstat(path, &info) == 0 && S_ISLNK(info.st_mode)) {
        bool is_descriptor = strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/proc/", 6) == 0;
        target = is_descriptor ? NULL : realpath(path, NULL);
        if (target == NULL) {
            return error_set(err, ERROR_INPUT, path, "cannot be written: it is %s",
                             is_descriptor ? "no regular file" : "a link to nothing");
        }
    }
    const char *name = target != NULL ? target : path;
    size_t len = strlen(name);
    bool is_there = stat(name, &info) == 0;
    bool is_good = len > 0 && len < out_bytes && (!is_there || S_ISREG(info.st_mode));
    if (is_good) {
        memcpy(out, name, len + 1);
    } else if (len == 0 || len >= out_bytes) {
        error_set(err, ERROR_INPUT, path, "output name is empty or too long");
    } else {
        error_set(err, ERROR_INPUT, path, "cannot be written: it is %s",
                  S_ISDIR(info.st_mode) ? "a directory" : "no regular file");
    }
    free(target);
    return is_good;
}

bool file_begin(FileOut *out, const char *path, Error *err)
{
    out->fd = -1;
    out->path[0] = '\0';
    out->temporary[0] = '\0';
    if (!resolve_output(path, out->path, sizeof out->path, err)) {
        return false;
    }
    for (int attempt = 0; attempt < 100; attempt++) {
        (void)snprintf(out->temporary, sizeof out->temporary, "%s.%ld.%d.tmp", out->path,
                       (long)getpid(), attempt);
        if (!cleanup_add(out->temporary)) {
            out->temporary[0] = '\0';
            return error_set(err, ERROR_INPUT, path, "too many output files are open at once");
        }
        out->fd = open(out->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (out->fd >= 0) {
            return true;
        }
        int reason = errno;
        cleanup_drop(out->temporary);
        if (reason != EEXIST) {
            out->temporary[0] = '\0';
            return error_set(err, ERROR_INPUT, path, "cannot be written: %s", strerror(reason));
        }
    }
    out->temporary[0] = '\0';
    return error_set(err, ERROR_INPUT, path, "cannot be written: no free temporary name beside it");
}

bool file_probe(const char *path, Error *err)
{
    FileOut out;
    if (!file_begin(&out, path, err)) {
        return false;
    }
    file_abandon(&out);
    return true;
}

bool file_is_same(const char *a, const char *b)
{
    struct stat of_a, of_b;
    bool is_a = stat(a, &of_a) == 0, is_b = stat(b, &of_b) == 0;
    if (is_a || is_b) {
        return is_a && is_b && of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
    }
    isize a_folder = str_folder_len(str_of(a)), b_folder = str_folder_len(str_of(b));
    char folders[2][PATH_MAX];
    (void)snprintf(folders[0], sizeof folders[0], "%.*s.", (int)a_folder, a);
    (void)snprintf(folders[1], sizeof folders[1], "%.*s.", (int)b_folder, b);
    return strcmp(a + a_folder, b + b_folder) == 0 && stat(folders[0], &of_a) == 0 &&
           stat(folders[1], &of_b) == 0 && of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
}

bool file_append(FileOut *out, const void *bytes, isize len, Error *err)
{
    const char *at = bytes;
    while (len > 0) {
        ssize_t put = write(out->fd, at, (size_t)len);
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put < 0) {
            int reason = errno;
            char path[sizeof out->path];
            memcpy(path, out->path, sizeof path);
            file_abandon(out);
            return error_set(err, ERROR_INPUT, path, "cannot be written: %s", strerror(reason));
        }
        at += put;
        len -= put;
    }
    return true;
}

bool file_commit(FileOut *out, Error *err)
{
    bool synced = fsync(out->fd) == 0;
    /* Some file systems and pipes cannot sync; that is no reason to refuse the output. */
    bool ok = synced || errno == EINVAL || errno == ENOTSUP;
    int reason = errno;
    if (close(out->fd) != 0 && ok) {
        ok = false;
        reason = errno;
    }
    out->fd = -1;
    if (ok && rename(out->temporary, out->path) != 0) {
        ok = false;
        reason = errno;
    }
    if (!ok) {
        file_abandon(out);
        return error_set(err, ERROR_INPUT, out->path, "cannot be written: %s", strerror(reason));
    }
    cleanup_drop(out->temporary);
    out->temporary[0] = '\0';
    sync_directory_of(out->path);
    return true;
}

void file_abandon(FileOut *out)
{
    if (out->fd >= 0) {
        (void)close(out->fd);
        out->fd = -1;
    }
    if (out->temporary[0] != '\0') {
        (void)unlink(out->temporary);
        cleanup_drop(out->temporary);
        out->temporary[0] = '\0';
    }
}

bool file_write(const char *path, Str bytes, Error *err)
{
    FileOut out;
    return file_begin(&out, path, err) && file_append(&out, bytes.at, bytes.len, err) &&
           file_commit(&out, err);
}

bool dir_make(const char *path, Error *err)
{
    char partial[1024];
    size_t len = strlen(path);
    if (len == 0 || len >= sizeof partial) {
        return error_set(err, ERROR_INPUT, path, "directory name is empty or too long");
    }
    for (size_t i = 1; i <= len; i++) {
        if (path[i] != '/' && path[i] != '\0') {
            continue;
        }
        memcpy(partial, path, i);
        partial[i] = '\0';
        if (mkdir(partial, 0777) != 0 && errno != EEXIST) {
            return error_set(err, ERROR_INPUT, partial, "directory cannot be made: %s",
                             strerror(errno));
        }
    }
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode)) {
        return error_set(err, ERROR_INPUT, path, "exists and is not a directory");
    }
    return true;
}
