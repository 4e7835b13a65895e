/* The name table behind provenance ids (decisions.md B).
 *
 * A table holds the names of one graph: hundreds, not millions. Lookup scans it, most recent first,
 * because neighbouring objects of a stage carry the same operation.
 */
#include "base/provenance.h"

uint32_t name_intern(NameTable *table, Str name, Arena *arena)
{
    if (table->names.len == 0) {
        *vec_push(&table->names, arena) = S("");
    }
    if (name.len == 0) {
        return 0;
    }
    for (isize i = table->names.len - 1; i > 0; i--) {
        if (str_equal(table->names.at[i], name)) {
            return (uint32_t)i;
        }
    }
    *vec_push(&table->names, arena) = str_copy(name, arena);
    return (uint32_t)(table->names.len - 1);
}

Str name_of(const NameTable *table, uint32_t id)
{
    return (isize)id < table->names.len ? table->names.at[id] : S("");
}

Str provenance_text(const NameTable *names, Provenance provenance, Arena *arena)
{
    if (provenance.operation == 0 && provenance.value == 0 && provenance.reason == 0) {
        return S("");
    }
    if (names == NULL) {
        return str_format(arena, "operation %u, value %u, reason %u", provenance.operation,
                          provenance.value, provenance.reason);
    }
    Str operation = name_of(names, provenance.operation), value = name_of(names, provenance.value);
    Str reason = name_of(names, provenance.reason);
    const char *comma = operation.len > 0 && value.len > 0 ? ", " : "";
    const char *colon = operation.len + value.len > 0 && reason.len > 0 ? ": " : "";
    return str_format(arena, "%.*s%s%.*s%s%.*s", STR_ARG(operation), comma, STR_ARG(value), colon,
                      STR_ARG(reason));
}
