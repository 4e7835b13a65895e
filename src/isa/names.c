/* Names of CSRs, straight from isa/csr.def. */
#include "isa/isa.h"

typedef struct CsrRow {
    Str name;
    int index;
    InsnContext context;
} CsrRow;

static const CsrRow csrs[] = {
#define CSR(name, index, context, writable) {{#name, (isize)sizeof #name - 1}, index, context},
#include "isa/csr.def"
#undef CSR
};

static bool is_in_context(const CsrRow *row, InsnContext context)
{
    return row->context == CONTEXT_BOTH || context == CONTEXT_BOTH || row->context == context;
}

int csr_find(Str name, InsnContext context)
{
    Str bare = str_starts(name, S("$")) ? str_slice(name, 1, name.len) : name;
    for (size_t i = 0; i < sizeof csrs / sizeof *csrs; i++) {
        if (is_in_context(&csrs[i], context) && str_equal(csrs[i].name, bare)) {
            return csrs[i].index;
        }
    }
    return -1;
}

Str csr_name(int index, InsnContext context)
{
    for (size_t i = 0; i < sizeof csrs / sizeof *csrs; i++) {
        if (is_in_context(&csrs[i], context) && csrs[i].index == index) {
            return csrs[i].name;
        }
    }
    return (Str){0};
}
