/* One sink for all text (style.md 15): a buffer that grows in an arena, or a buffered descriptor.
 *
 * A failed write is remembered, and reported once by writer_flush, so that print functions need no
 * error handling of their own.
 */
#include "base/writer.h"
#include "base/error.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILE_BUFFER_BYTES = 1 << 16 };

static void push_out(Writer *writer)
{
    const char *at = writer->at;
    isize len = writer->len;
    while (len > 0 && writer->fd >= 0 && !writer->failed) {
        ssize_t put = write(writer->fd, at, (size_t)len);
        if (put < 0 && errno != EINTR) {
            writer->failed = true;
        }
        if (put > 0) {
            at += put;
            len -= put;
        }
    }
    writer->len = 0;
}

/* Makes room for `bytes` more; a file sink may hold less than asked for and then only empties
 * itself. */
static void make_room(Writer *writer, isize bytes)
{
    if (writer->cap - writer->len >= bytes) {
        return;
    }
    if (writer->arena == NULL) {
        push_out(writer);
        return;
    }
    isize cap = writer->cap > 0 ? 2 * writer->cap : 256;
    while (cap - writer->len < bytes) {
        cap *= 2;
    }
    char *end = writer->at == NULL ? NULL : writer->at + writer->cap;
    if (end != NULL && (uint8_t *)end == writer->arena->at) {
        (void)arena_alloc(writer->arena, cap - writer->cap, 1);
    } else {
        char *at = arena_alloc(writer->arena, cap, 1);
        if (writer->len > 0) {
            memcpy(at, writer->at, (size_t)writer->len);
        }
        writer->at = at;
    }
    writer->cap = cap;
}

Writer writer_buffer(Arena *arena)
{
    return (Writer){.arena = arena, .fd = -1};
}

Writer writer_file(int fd, Arena *arena)
{
    return (Writer){
        .fd = fd, .at = arena_alloc(arena, FILE_BUFFER_BYTES, 16), .cap = FILE_BUFFER_BYTES};
}

void write_str(Writer *writer, Str s)
{
    while (s.len > 0) {
        make_room(writer, s.len);
        isize room = writer->cap - writer->len;
        isize part = s.len < room ? s.len : room;
        memcpy(writer->at + writer->len, s.at, (size_t)part);
        writer->len += part;
        s.at += part;
        s.len -= part;
    }
}

void write_vfmt(Writer *writer, const char *format, __builtin_va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    char text[512];
    int len = vsnprintf(text, sizeof text, format, arguments);
    ASSERT(len >= 0);
    if (len < (int)sizeof text) {
        write_str(writer, (Str){text, len});
    } else {
        char *longer = NULL;
        if (vasprintf(&longer, format, again) < 0) {
            writer->failed = true;
        } else {
            write_str(writer, (Str){longer, len});
            free(longer);
        }
    }
    va_end(again);
}

void write_fmt(Writer *writer, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    write_vfmt(writer, format, arguments);
    va_end(arguments);
}

void write_json_str(Writer *writer, Str s)
{
    write_str(writer, S("\""));
    isize plain = 0;
    for (isize i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.at[i];
        if (c >= 0x20 && c != '"' && c != '\\' && c != 0x7f) {
            continue;
        }
        write_str(writer, str_slice(s, plain, i));
        plain = i + 1;
        if (c == '"' || c == '\\') {
            write_fmt(writer, "\\%c", c);
        } else if (c == '\n') {
            write_str(writer, S("\\n"));
        } else if (c == '\t') {
            write_str(writer, S("\\t"));
        } else {
            write_fmt(writer, "\\u%04x", c);
        }
    }
    write_str(writer, str_slice(s, plain, s.len));
    write_str(writer, S("\""));
}

Str writer_text(const Writer *writer)
{
    return (Str){writer->at, writer->len};
}

bool writer_flush(Writer *writer)
{
    if (writer->arena == NULL) {
        push_out(writer);
    }
    return !writer->failed;
}
