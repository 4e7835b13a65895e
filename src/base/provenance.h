/* Where an object of a late stage comes from: operation, value, reason, as ids into one name table
 * (decisions.md B: lives in base so that every room may carry it). Id 0 means none. */
#pragma once
#include "base/span.h"
#include "base/str.h"

typedef struct Provenance {
    uint32_t operation, value, reason;
} Provenance;

VEC(Str);

/* Interned names; names.at[0] is the empty string. */
typedef struct NameTable {
    StrVec names;
} NameTable;

/* Adds (a copy of) the name or finds it; linear in the number of distinct names on a miss only. */
uint32_t name_intern(NameTable *table, Str name, Arena *arena);
Str name_of(const NameTable *table, uint32_t id);
/* "operation, value: reason", as far as they are known; with `names` NULL the ids ("operation 3, value 7, reason 2"). Empty
 * when there is no provenance. */
Str provenance_text(const NameTable *names, Provenance provenance, Arena *arena);
