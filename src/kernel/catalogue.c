/* Parses kernels.def once, on first use. A malformed row is our bug, so everything here asserts. */
#include "kernel/catalogue.h"
#include <pthread.h>

/* Written once under catalogue_once, read-only afterwards. */
static CatalogueRow catalogue[KERNEL_COUNT];
static pthread_once_t catalogue_once = PTHREAD_ONCE_INIT;

static bool next_word(Str *rest, Str *word)
{
    do {
        *word = str_cut(rest, ' ');
    } while (word->len == 0 && rest->len > 0);
    return word->len > 0;
}

static uint32_t parse_number(Str text)
{
    int64_t value = -1;
    ASSERT(str_to_int(text, &value));
    ASSERT(value >= 0 && value <= 4096);
    return (uint32_t)value;
}

static uint8_t parse_orders(Str text)
{
    uint8_t orders = 0;
    while (text.len > 0) {
        Str name = str_cut(&text, '|');
        Order order = order_find(name);
        ASSERT(order < ORDER_COUNT);
        orders |= (uint8_t)(1 << order);
    }
    return orders;
}

static int operand_find(const Kernel *kernel, Str name)
{
    int i = kernel->operand_count - 1;
    while (i >= 0 && !str_equal(name, kernel->operand[i].name)) {
        i--;
    }
    return i;
}

/* "name:access:dtype:orders:align:tail[:interleaved][:alias=operand]" */
static void parse_operand(Kernel *kernel, Str text)
{
    ASSERT(kernel->operand_count < KERNEL_OPERANDS_MAX);
    KernelOperandSpec spec = {.name = str_cut(&text, ':'), .may_alias = -1};
    Str access = str_cut(&text, ':');
    spec.is_read = str_find(access, 'r', 0) >= 0;
    spec.is_written = str_find(access, 'w', 0) >= 0;
    spec.dtype = dtype_parse(str_cut(&text, ':'));
    ASSERT(spec.dtype != DTYPE_NONE);
    spec.orders = parse_orders(str_cut(&text, ':'));
    spec.align = parse_number(str_cut(&text, ':'));
    spec.tail_bytes = parse_number(str_cut(&text, ':'));
    while (text.len > 0) {
        Str word = str_cut(&text, ':');
        if (str_equal(word, S("interleaved"))) {
            spec.is_interleaved = true;
        } else {
            ASSERT(str_starts(word, S("alias=")));
            int alias = operand_find(kernel, str_slice(word, 6, word.len));
            ASSERT(alias >= 0);
            spec.may_alias = (int8_t)alias;
        }
    }
    kernel->operand[kernel->operand_count++] = spec;
}

static int extent_find(Str name)
{
    static const char *const NAMES[EXTENT_COUNT] = {
#define EXTENT(name) #name,
        EXTENTS(EXTENT)
#undef EXTENT
    };
    int i = 0;
    while (i < EXTENT_COUNT && !str_equal(name, str_of(NAMES[i]))) {
        i++;
    }
    return i;
}

static Argument parse_argument(const CatalogueRow *row, Str name)
{
    int operand = operand_find(&row->kernel, name);
    if (operand >= 0) {
        return (Argument){ARGUMENT_OPERAND, operand};
    }
    for (int i = 0; i < row->kernel.scalar_count; i++) {
        if (str_equal(name, row->scalar[i])) {
            return (Argument){ARGUMENT_SCALAR, i};
        }
    }
    int extent = extent_find(name);
    ASSERT(extent < EXTENT_COUNT);
    return (Argument){ARGUMENT_EXTENT, extent};
}

static void parse_row(KernelId id, Str name, Str operands, Str scalars, Str arguments,
                      Str separations)
{
    CatalogueRow *row = &catalogue[id];
    Kernel *kernel = &row->kernel;
    kernel->name = name;
    Str word;
    while (next_word(&operands, &word)) {
        parse_operand(kernel, word);
    }
    while (next_word(&scalars, &word)) {
        ASSERT(kernel->scalar_count < KERNEL_SCALARS_MAX);
        row->scalar[kernel->scalar_count++] = word;
    }
    while (next_word(&arguments, &word)) {
        ASSERT(kernel->arg_count < KERNEL_ARGS_MAX);
        row->argument[kernel->arg_count++] = parse_argument(row, word);
    }
    while (next_word(&separations, &word)) {
        ASSERT(kernel->separation_count < 4);
        uint8_t *pair = kernel->separation[kernel->separation_count++];
        for (int i = 0; i < 2; i++) {
            int operand = operand_find(kernel, str_cut(&word, '/'));
            ASSERT(operand >= 0);
            pair[i] = (uint8_t)operand;
        }
    }
}

static void build_catalogue(void)
{
    catalogue[KERNEL_none].kernel.name = S("none");
#define KERNEL(name, operands, scalars, arguments, separations)                                    \
    parse_row(KERNEL_##name, S(#name), S(operands), S(scalars), S(arguments), S(separations));
#include "kernel/kernels.def"
#undef KERNEL
}

const CatalogueRow *catalogue_row(KernelId id)
{
    ASSERT(id > KERNEL_none && id < KERNEL_COUNT);
    int failed = pthread_once(&catalogue_once, build_catalogue);
    ASSERT(!failed);
    return &catalogue[id];
}

const Kernel *kernel_of(KernelId id)
{
    return &catalogue_row(id)->kernel;
}

int kernel_operand_of(KernelId id, int arg)
{
    const CatalogueRow *row = catalogue_row(id);
    ASSERT(arg >= 0);
    bool is_operand = arg < row->kernel.arg_count && row->argument[arg].kind == ARGUMENT_OPERAND;
    return is_operand ? row->argument[arg].index : -1;
}

KernelId kernel_find(Str name)
{
    for (int id = 1; id < KERNEL_COUNT; id++) {
        if (str_equal(name, kernel_of((KernelId)id)->name)) {
            return (KernelId)id;
        }
    }
    return KERNEL_none;
}
