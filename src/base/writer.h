/* One sink for every print function: a growing buffer in an arena, or a file descriptor. */
#pragma once
#include "base/str.h"

typedef struct Writer {
    Arena *arena; /* buffer sink: text grows here */
    int fd;       /* file sink when arena is NULL; -1 discards */
    bool failed;  /* a write failed; sticky */
    char *at;
    isize len, cap;
} Writer;

Writer writer_buffer(Arena *arena);
/* `buffer` holds text between flushes (>= 4096 bytes, allocated from `arena`). */
Writer writer_file(int fd, Arena *arena);
void write_str(Writer *writer, Str s);
void write_fmt(Writer *writer, const char *format, ...) __attribute__((format(printf, 2, 3)));
void write_vfmt(Writer *writer, const char *format, __builtin_va_list arguments);
/* JSON string with quotes and escapes. */
void write_json_str(Writer *writer, Str s);
/* Text so far (buffer sink). */
Str writer_text(const Writer *writer);
/* Pushes buffered text to the descriptor; false if anything failed. */
bool writer_flush(Writer *writer);
