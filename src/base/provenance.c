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
