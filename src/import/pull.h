/* A bounded pull parser for JSON text that is trusted in nothing. Private to the room; see pull.c. */
#pragma once
#include "import/import.h"

typedef struct JsonReader {
    const uint8_t *at; /* the text */
    isize len, pos;
    int depth, depth_max;
    int64_t offset; /* of the text in its file, for messages */
    Arena *scratch; /* for strings that are only skipped */
    Error *err;
} JsonReader;

/* Every function returns false after filling the error, except the may_ ones. */
bool json_reader_fail(const JsonReader *reader, const char *what);
/* The whole text, before anything is taken. */
bool reader_check_utf8(JsonReader *reader);
/* The next byte after white space, or 0 at the end (NUL bytes are no token either). */
uint8_t json_reader_peek(JsonReader *reader);
bool json_reader_may_take(JsonReader *reader, char c);
bool json_reader_take(JsonReader *reader, char c, const char *what);
bool json_reader_may_take_word(JsonReader *reader, const char *word);
/* Takes the bracket that opens an object or list and counts the level; the caller uncounts it. */
bool json_reader_open(JsonReader *reader, char c, const char *what);
/* A string, unescaped, into `arena`; at most `bytes_max` bytes of result. */
bool json_reader_take_string(JsonReader *reader, isize bytes_max, Arena *arena, Str *out);
/* Decimal digits only: no sign, leading zero, fraction or exponent; at most 2^64 - 1. */
bool reader_take_u64(JsonReader *reader, uint64_t *out);
/* Any value, checked for syntax only. */
bool json_reader_skip_value(JsonReader *reader);
