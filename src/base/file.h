/* Whole files in, complete files out. */
#pragma once
#include "base/error.h"
#include "base/str.h"

/* Reads a regular file of at most max_bytes into the arena (NUL-terminated behind its end).
 * ERROR_INPUT otherwise. */
bool file_read(const char *path, isize max_bytes, Arena *arena, Str *out, Error *err);
/* Output that appears only when complete (product.md 4): temporary name beside the target, fsync,
 * rename. */
typedef struct FileOut {
    int fd;
    char path[1024], temporary[1088];
} FileOut;
bool file_begin(FileOut *out, const char *path, Error *err);
bool file_append(FileOut *out, const void *bytes, isize len, Error *err);
bool file_commit(FileOut *out, Error *err);
/* Removes the temporary file; harmless after commit. Also done for every open FileOut on
 * SIGINT/SIGTERM. */
void file_abandon(FileOut *out);
bool file_write(const char *path, Str bytes, Error *err);
bool dir_make(const char *path, Error *err);
/* Can `path` be written? Asked before long work, so that the work is not lost. */
bool file_probe(const char *path, Error *err);
/* This process has read `path` with file_read, or noted it as read by somebody else: no output may replace it. Of the first 4096
 * files. */
bool file_was_read(const char *path);
void file_note_read(const char *path);
/* Both are one file, whatever their names; or neither exists, and both would be. */
bool file_is_same(const char *a, const char *b);
