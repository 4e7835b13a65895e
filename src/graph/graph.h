/* graph: what is computed. Values, operations, Repeat, shape rules.
 * takes: builder calls or text        gives: Graph, checked
 * uses: base tensor
 * never: precision, layout, tiles
 *
 * Values are matrices [rows, cols] in logical coordinates (no padding). A region is an ordered list of operations; region 0 is
 * the main one; a Repeat owns one body region whose arguments are (carried..., iterated...) and whose yields match the carried
 * inputs in number and shape. Index 0 of values, ops and regions' lists means none (values.at[0], ops.at[0] unused).
 */
#pragma once
#include "base/base.h"
#include "tensor/tensor.h"

typedef enum OpKind {
    OP_NONE = 0,
#define OP(name, text, inputs_min, inputs_max) OP_##name,
#include "graph/ops.def"
#undef OP
    OP_COUNT
} OpKind;

typedef enum ValueKind {
    VALUE_RESULT = 0, /* of an operation */
    VALUE_INPUT, /* changes every call; packing says how it is cut out of the named run-time tensor */
    VALUE_PARAMETER, /* uploaded once; packing from checkpoint tensors */
    VALUE_SEQUENCE, /* parameters of one shape, one per iteration of a Repeat (packings[iterations]) */
    VALUE_ARGUMENT, /* argument of a body region: carried state or member of a sequence */
} ValueKind;

typedef struct Value {
    ValueKind kind;
    Str name;
    int32_t rows, cols;
    const Packing
        *packings; /* inputs and parameters: 1; sequences: one per iteration; logical coordinates */
    int32_t iterations;
    int32_t producer; /* op, for results; for arguments of a body the Repeat op */
    bool is_output;
} Value;
VEC(Value);

enum { OP_INPUTS_MAX = 4 };

typedef struct Op {
    OpKind kind;
    Str name;
    int32_t input[OP_INPUTS_MAX]; /* values; 0 = absent */
    int32_t output;               /* value (Repeat: results follow contiguously from here) */
    double eps, scale;            /* layernorm, attention */
    int32_t heads;                /* attention */
    int32_t begin, end;           /* slice columns */
    int32_t repeat;               /* index of Graph.repeats for OP_REPEAT */
} Op;
VEC(Op);

typedef struct Repeat {
    int32_t count;
    int32_t body; /* region */
    int32_t carried_count;
    int32_t carried[4];          /* initial values, in the enclosing region */
    int32_t carried_argument[4]; /* their arguments in the body */
    int32_t yield[4];            /* values of the body */
    int32_t result[4];           /* values in the enclosing region after the loop */
    int32_t sequence_count;
    int32_t sequence[48]; /* VALUE_SEQUENCE values */
    int32_t sequence_argument[48];
} Repeat;
VEC(Repeat);

typedef struct RegionOps {
    int32_t *at;
    isize len, cap;
} RegionOps; /* ordered op indices of a region */
VEC(RegionOps);

typedef struct Graph {
    Str name;
    ValueVec values;
    OpVec ops;
    RepeatVec repeats;    /* at[0] unused */
    RegionOpsVec regions; /* at[0] = main */
} Graph;

void graph_create(Graph *graph, Str name, Arena *keep);
int32_t graph_add_input(Graph *graph, Str name, const Packing *packing, Arena *keep);
int32_t graph_add_parameter(Graph *graph, Str name, const Packing *packing, Arena *keep);
int32_t graph_add_gemm(Graph *graph, int32_t region, Str name, int32_t a, int32_t weight,
                       int32_t bias, Arena *keep);
int32_t graph_add_add(Graph *graph, int32_t region, Str name, int32_t a, int32_t b, Arena *keep);
int32_t graph_add_gelu(Graph *graph, int32_t region, Str name, int32_t x, Arena *keep);
int32_t graph_add_layernorm(Graph *graph, int32_t region, Str name, int32_t x, int32_t gamma,
                            int32_t beta, double eps, Arena *keep);
int32_t graph_add_attention(Graph *graph, int32_t region, Str name, int32_t q, int32_t k, int32_t v,
                            int32_t heads, double scale, Arena *keep);
int32_t graph_add_slice(Graph *graph, int32_t region, Str name, int32_t x, int32_t begin,
                        int32_t end, Arena *keep);
/* Starts a Repeat over `initial` (one carried value): returns its index; *argument is the carried argument in the new body. */
int32_t graph_begin_repeat(Graph *graph, Str name, int32_t count, int32_t initial,
                           int32_t *argument, Arena *keep);
/* A parameter sequence (packings[count], all of one shape); returns the argument to use in the body. */
int32_t graph_add_sequence(Graph *graph, int32_t repeat, Str name, const Packing *packings,
                           Arena *keep);
/* Ends the body with its yield; returns the loop's result in the main region. */
int32_t graph_end_repeat(Graph *graph, int32_t repeat, int32_t yield, Arena *keep);
void graph_set_output(Graph *graph, int32_t value);

/* Shapes, arity, order of definition, Repeat rules (compiler-design.md 2.2). ERROR_INPUT names op and shapes. */
bool graph_check(const Graph *graph, Error *err);
/* Number of parameters' elements (holes excluded), sequences counted over all iterations. */
int64_t graph_parameter_elems(const Graph *graph);
/* Line-oriented text, parsable: one value or op a line. */
void graph_print(Writer *writer, const Graph *graph);
/* 16 hexadecimal digits that differ when anything but the graph's name does (a hash, not a signature). */
Str graph_digest(const Graph *graph, Arena *keep, Arena scratch);
bool graph_parse(Str text, Arena *keep, Graph *out, Error *err);
