/* Strings as pointer + length, not NUL-terminated (style.md 15). */
#pragma once
#include "base/arena.h"

typedef struct Str {
    const char *at;
    isize len;
} Str;

#define S(literal) ((Str){(literal), (isize)sizeof(literal) - 1})
/* For printf-like functions: "%.*s", STR_ARG(s). */
#define STR_ARG(s) (int)(s).len, (s).at

Str str_of(const char *cstr);
bool str_equal(Str a, Str b);
/* Byte order; -1, 0, 1. */
int str_compare(Str a, Str b);
bool str_starts(Str s, Str prefix);
bool str_ends(Str s, Str suffix);
Str str_slice(Str s, isize begin, isize end);
/* Length of the part of a path up to and with its last slash; 0 without one. */
isize str_folder_len(Str path);
Str str_trim(Str s);
/* Cuts up to the next `separator`; returns the part before it and moves *rest behind it. */
Str str_cut(Str *rest, char separator);
/* Takes `prefix` off the front of *rest; false when it is not there. */
bool str_take(Str *rest, Str prefix);
/* Index of the first c at or after `from`, or -1. */
isize str_find(Str s, char c, isize from);
/* Copies into the arena; the copy is NUL-terminated behind its end, so .at is a C string. */
Str str_copy(Str s, Arena *arena);
/* printf into the arena; NUL-terminated behind its end. */
Str str_format(Arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Without control characters, also without tabs; bytes from 0x80 on are text. */
bool str_is_printable(Str s);
/* Printable form of untrusted text, at most 100 bytes of it, NUL-terminated behind its end. */
Str str_shown(Str s, Arena *arena);
/* Whole string must be a number (decimal, 0x, optional sign); false if it is not or overflows. */
bool str_to_int(Str s, int64_t *out);
bool str_to_f64(Str s, double *out);
uint64_t str_hash(Str s);
