/* Filling Error, and the end of the process on a bug of ours (style.md 5).
 *
 * The first error wins: the place that knows fills it, callers only add context. Text may quote
 * outside input, so control characters are escaped before anything reaches a terminal.
 */
#include "base/error.h"
#include "base/cleanup.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void copy_escaped(char *out, size_t out_bytes, const char *text)
{
    static const char digits[] = "0123456789abcdef";
    size_t used = 0;
    for (; *text != '\0' && used + 5 < out_bytes; text++) {
        unsigned char c = (unsigned char)*text;
        if (c >= 0x20 && c != 0x7f) {
            out[used++] = (char)c;
        } else if (c == '\n') {
            out[used++] = '\\';
            out[used++] = 'n';
        } else if (c == '\t') {
            out[used++] = '\\';
            out[used++] = 't';
        } else {
            out[used++] = '\\';
            out[used++] = 'x';
            out[used++] = digits[c >> 4];
            out[used++] = digits[c & 15];
        }
    }
    out[used] = '\0';
}

bool error_set(Error *err, ErrorCode code, const char *where, const char *format, ...)
{
    if (err->code != ERROR_NONE) {
        return false;
    }
    char text[sizeof err->message];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    err->code = code;
    copy_escaped(err->message, sizeof err->message, text);
    copy_escaped(err->where, sizeof err->where, where == NULL ? "" : where);
    return false;
}

bool error_context(Error *err, const char *format, ...)
{
    char context[sizeof err->where], escaped[sizeof err->where];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(context, sizeof context, format, arguments);
    va_end(arguments);
    copy_escaped(escaped, sizeof escaped, context);
    size_t used = strlen(escaped);
    const char *const tail[] = {err->where[0] != '\0' ? ": " : "", err->where};
    for (int i = 0; i < 2; i++) {
        for (const char *c = tail[i]; *c != '\0' && used + 1 < sizeof escaped; c++) {
            escaped[used++] = *c;
        }
    }
    escaped[used] = '\0';
    memcpy(err->where, escaped, sizeof err->where);
    return false;
}

void assert_failed_(const char *file, int line, const char *expression)
{
    fprintf(stderr, "tessera: internal error: %s:%d: %s\n", file, line, expression);
    cleanup_temporary_files();
    _exit(EXIT_BUG);
}
