/* Errors of bad input and "no" answers, and assertions for our own bugs (style.md 5).
 *
 * A function that can fail on outside input returns false and fills Error once, at the place that
 * knows. The code is also the process's exit code (product.md 4).
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

typedef enum ErrorCode {
    ERROR_NONE = 0,
    ERROR_NO = 1,    /* the answer is no: does not fit, below the threshold, comparison failed */
    ERROR_INPUT = 2, /* bad input or usage */
    ERROR_FAULT = 3, /* the simulated program misbehaved */
} ErrorCode;
enum { EXIT_BUG = 70 }; /* the exit code of a failed ASSERT */

typedef struct Error {
    ErrorCode code;
    char where[256];   /* file, file:line:column, file@offset or object; may be empty */
    char message[768]; /* one line: what is wrong and what was expected */
} Error;

/* Fills *err (unless it holds an error already) and returns false, so that `return error_set(...)`
 * works. `where` may be NULL. Control characters of the text are escaped. */
bool error_set(Error *err, ErrorCode code, const char *where, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Puts "context: " in front of `where`. Returns false. */
bool error_context(Error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

_Noreturn void assert_failed_(const char *file, int line, const char *expression);
#define ASSERT(expression)                                                                         \
    ((expression) ? (void)0 : assert_failed_(__FILE__, __LINE__, #expression))
