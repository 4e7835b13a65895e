/* Checks for test programs (tests/README.md).
 *
 * A failed check prints file, line and the values, and ends the program with exit status 1.
 * Programs are written as:
 *
 *     #include "test.h"
 *     static void adds(void) { CHECK_EQ_INT(1 + 1, 2); }
 *     TEST_MAIN(adds)
 */
#pragma once
#include "base/base.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void test_true_(bool ok, const char *text, const char *file, int line)
{
    if (!ok) {
        fprintf(stderr, "%s:%d: check failed: %s\n", file, line, text);
        exit(1);
    }
}

static inline void test_int_(int64_t a, int64_t b, const char *text, const char *file, int line)
{
    if (a != b) {
        fprintf(stderr,
                "%s:%d: check failed: %s: %" PRId64 " (0x%" PRIx64 "), expected %" PRId64
                " (0x%" PRIx64 ")\n",
                file, line, text, a, (uint64_t)a, b, (uint64_t)b);
        exit(1);
    }
}

static inline void test_near_(double a, double b, double within, const char *text, const char *file,
                              int line)
{
    if (!(a - b <= within && b - a <= within)) {
        fprintf(stderr, "%s:%d: check failed: %s: %.17g, expected %.17g within %g\n", file, line,
                text, a, b, within);
        exit(1);
    }
}

static inline void test_str_(Str a, Str b, const char *text, const char *file, int line)
{
    if (!str_equal(a, b)) {
        fprintf(stderr, "%s:%d: check failed: %s: \"%.*s\", expected \"%.*s\"\n", file, line, text,
                STR_ARG(a), STR_ARG(b));
        exit(1);
    }
}

static inline void test_ok_(bool ok, const Error *err, const char *text, const char *file, int line)
{
    if (!ok) {
        fprintf(stderr, "%s:%d: check failed: %s: %s: %s\n", file, line, text, err->where,
                err->message);
        exit(1);
    }
}

static inline bool test_contains_(const char *text, const char *part)
{
    return strstr(text, part) != NULL;
}

#define CHECK(expr) test_true_((expr), #expr, __FILE__, __LINE__)
/* Actual value first, expected value second; 64 bits. */
#define CHECK_EQ_INT(actual, expected)                                                             \
    test_int_((int64_t)(actual), (int64_t)(expected), #actual, __FILE__, __LINE__)
#define CHECK_NEAR(actual, expected, within)                                                       \
    test_near_((actual), (expected), (within), #actual, __FILE__, __LINE__)
/* Both arguments are Str. */
#define CHECK_STR(actual, expected) test_str_((actual), (expected), #actual, __FILE__, __LINE__)
/* Both arguments are C strings. */
#define CHECK_CSTR(actual, expected)                                                               \
    test_str_(str_of(actual), str_of(expected), #actual, __FILE__, __LINE__)
/* A call that returns false and fills `err` (an Error, not a pointer) on failure. */
#define CHECK_OK(call, err) test_ok_((call), &(err), #call, __FILE__, __LINE__)
/* A call that must fail with `code` and a message that contains `part`. */
#define CHECK_ERROR(call, err, error_code, part)                                                   \
    do {                                                                                           \
        (err) = (Error){0};                                                                        \
        test_true_(!(call), #call " must fail", __FILE__, __LINE__);                               \
        test_int_((err).code, (error_code), #call, __FILE__, __LINE__);                            \
        test_true_(test_contains_((err).message, (part)), (err).message, __FILE__, __LINE__);      \
    } while (0)

/* Seed of a randomised test: fixed unless TEST_SEED says otherwise; printed when a check fails
 * because it is printed now (the runner shows output of failed programs only). */
static inline uint64_t test_seed(uint64_t seed)
{
    const char *text = getenv("TEST_SEED");
    int64_t given;
    if (text != NULL && str_to_int(str_of(text), &given)) {
        seed = (uint64_t)given;
    }
    fprintf(stderr, "seed %" PRIu64 " (set TEST_SEED to change it)\n", seed);
    return seed;
}

typedef void (*TestFunction)(void);

/* Runs the functions in order. */
#define TEST_MAIN(...)                                                                             \
    int main(void)                                                                                 \
    {                                                                                              \
        const TestFunction functions[] = {__VA_ARGS__};                                            \
        for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {                      \
            functions[i]();                                                                        \
        }                                                                                          \
        return 0;                                                                                  \
    }
