/* Text form of a graph: one value, packing part, loop or operation a line, ids written out, so that a line can
 * be read alone and parse(print(g)) prints the same. Grammar by example:
 *
 *   graph "siglip-tiny"
 *   value 1 input "patches" rows=9 cols=588
 *   part 1 0 "image" cols=0:588 base=0 rows=3*1764,3*42 across=14*126,14*3,3*1
 *   value 5 result "tokens" rows=9 cols=144 producer=2 output
 *   repeat 1 count=2 body=1 carried=5 arguments=6 yields=40 results=41 sequences=7:8,9:10
 *   op 3 layernorm "layers.attention_norm" region=1 inputs=6,8,10 output=31 eps=1e-06
 *
 * A part names value, iteration and tensor; an axis is a list size*stride, outermost first.
 */
#include "graph/graph.h"
#include <stdio.h>
#include <string.h>

static const char *const kind_names[] = {
    [VALUE_RESULT] = "result",     [VALUE_INPUT] = "input",       [VALUE_PARAMETER] = "parameter",
    [VALUE_SEQUENCE] = "sequence", [VALUE_ARGUMENT] = "argument",
};
enum { KIND_COUNT = sizeof kind_names / sizeof kind_names[0] };

static const char *const op_names[OP_COUNT] = {
    [OP_NONE] = "none",
#define OP(name, text, inputs_min, inputs_max) [OP_##name] = text,
#include "graph/ops.def"
#undef OP
};

/* --- printing ------------------------------------------------------------------------------------------ */

static void print_axis(Writer *writer, const char *name, const PackAxis *axis)
{
    write_fmt(writer, " %s=", name);
    for (int i = 0; i < axis->rank; i++) {
        write_fmt(writer, "%s%d*%lld", i > 0 ? "," : "", axis->size[i], (long long)axis->stride[i]);
    }
}

static void print_value(Writer *writer, const Graph *graph, int32_t index)
{
    const Value *value = &graph->values.at[index];
    write_fmt(writer, "value %d %s ", index, kind_names[value->kind]);
    write_json_str(writer, value->name);
    write_fmt(writer, " rows=%d cols=%d", value->rows, value->cols);
    if (value->kind == VALUE_RESULT || value->kind == VALUE_ARGUMENT) {
        write_fmt(writer, " producer=%d%s\n", value->producer, value->is_output ? " output" : "");
        return;
    }
    int32_t count = 1;
    if (value->kind == VALUE_SEQUENCE) {
        count = value->iterations;
        write_fmt(writer, " iterations=%d", count);
    }
    write_str(writer, value->is_output ? S(" output\n") : S("\n"));
    for (int32_t k = 0; k < count; k++) {
        for (isize p = 0; p < value->packings[k].parts.len; p++) {
            const PackPart *part = &value->packings[k].parts.at[p];
            write_fmt(writer, "part %d %d ", index, k);
            write_json_str(writer, part->tensor);
            write_fmt(writer, " cols=%d:%d base=%lld", part->col_begin, part->col_end,
                      (long long)part->base);
            print_axis(writer, "rows", &part->rows);
            print_axis(writer, "across", &part->cols);
            write_str(writer, S("\n"));
        }
    }
}

static void print_list(Writer *writer, const char *name, const int32_t *at, int32_t count)
{
    write_fmt(writer, " %s=", name);
    for (int32_t i = 0; i < count; i++) {
        write_fmt(writer, "%s%d", i > 0 ? "," : "", at[i]);
    }
}

static void print_repeat(Writer *writer, const Graph *graph, int32_t index)
{
    const Repeat *repeat = &graph->repeats.at[index];
    write_fmt(writer, "repeat %d count=%d body=%d", index, repeat->count, repeat->body);
    print_list(writer, "carried", repeat->carried, repeat->carried_count);
    print_list(writer, "arguments", repeat->carried_argument, repeat->carried_count);
    print_list(writer, "yields", repeat->yield, repeat->carried_count);
    print_list(writer, "results", repeat->result, repeat->carried_count);
    for (int32_t i = 0; i < repeat->sequence_count; i++) {
        write_fmt(writer, "%s%d:%d", i > 0 ? "," : " sequences=", repeat->sequence[i],
                  repeat->sequence_argument[i]);
    }
    write_str(writer, S("\n"));
}

static void print_op(Writer *writer, const Graph *graph, int32_t region, int32_t index)
{
    const Op *op = &graph->ops.at[index];
    write_fmt(writer, "op %d %s ", index, op_names[op->kind]);
    write_json_str(writer, op->name);
    int32_t inputs = OP_INPUTS_MAX;
    while (inputs > 0 && op->input[inputs - 1] == 0) {
        inputs--;
    }
    write_fmt(writer, " region=%d", region);
    print_list(writer, "inputs", op->input, inputs);
    write_fmt(writer, " output=%d", op->output);
    if (op->kind == OP_LAYERNORM) {
        write_fmt(writer, " eps=%.17g", op->eps);
    } else if (op->kind == OP_ATTENTION) {
        write_fmt(writer, " heads=%d scale=%.17g", op->heads, op->scale);
    } else if (op->kind == OP_SLICE) {
        write_fmt(writer, " begin=%d end=%d", op->begin, op->end);
    } else if (op->kind == OP_REPEAT) {
        write_fmt(writer, " repeat=%d", op->repeat);
    }
    write_str(writer, S("\n"));
}

Str graph_digest(const Graph *graph, Arena *keep, Arena scratch)
{
    Graph nameless = *graph;
    nameless.name = S("");
    Writer writer = writer_buffer(&scratch);
    graph_print(&writer, &nameless);
    Str text = writer_text(&writer);
    return str_format(keep, "%016llx", (unsigned long long)hash64_of(text.at, text.len, 0));
}

/* --- parsing ------------------------------------------------------------------------------------------- */

typedef struct PartLine {
    int32_t value, iteration;
    PackPart part;
} PartLine;
VEC(PartLine);

typedef struct GraphParser {
    Str rest; /* of the line */
    int line;
    int32_t ids_max; /* no list is longer than the text has lines */
    Graph *graph;
    PartLineVec parts;
    Arena *keep;
    Arena *scratch;
    Error *err;
} GraphParser;

static bool fail(GraphParser *parser, const char *what)
{
    char where[40];
    (void)snprintf(where, sizeof where, "line %d", parser->line);
    int shown = parser->rest.len > 40 ? 40 : (int)parser->rest.len;
    return error_set(parser->err, ERROR_INPUT, where, "%s, found \"%.*s\"", what, shown,
                     parser->rest.at);
}

static bool take(GraphParser *parser, const char *text)
{
    if (str_take(&parser->rest, str_of(text))) {
        return true;
    }
    char what[64];
    (void)snprintf(what, sizeof what, "expected \"%s\"", text);
    return fail(parser, what);
}

/* The characters of a number, integer or not. */
static Str number_text(GraphParser *parser)
{
    isize len = 0;
    while (len < parser->rest.len && (strchr("0123456789+-.eE", parser->rest.at[len]) != NULL) &&
           parser->rest.at[len] != '\0') {
        len++;
    }
    Str text = str_slice(parser->rest, 0, len);
    parser->rest = str_slice(parser->rest, len, parser->rest.len);
    return text;
}

static bool take_i64(GraphParser *parser, int64_t *out)
{
    GraphParser before = *parser;
    return str_to_int(number_text(parser), out) || fail(&before, "expected an integer");
}

static bool take_i32(GraphParser *parser, int32_t *out)
{
    GraphParser before = *parser;
    int64_t wide;
    if (!take_i64(parser, &wide)) {
        return false;
    }
    if (wide < INT32_MIN || wide > INT32_MAX) {
        return fail(&before, "expected a 32-bit integer");
    }
    *out = (int32_t)wide;
    return true;
}

static bool take_f64(GraphParser *parser, double *out)
{
    GraphParser before = *parser;
    return str_to_f64(number_text(parser), out) || fail(&before, "expected a number");
}

/* `key` includes the blank before and the equals sign behind. */
static bool take_key(GraphParser *parser, const char *key, int32_t *out)
{
    return take(parser, key) && take_i32(parser, out);
}

static int hex_of(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The strings that write_json_str writes. */
static bool take_quoted(GraphParser *parser, Str *out)
{
    if (!take(parser, "\"")) {
        return false;
    }
    char *text = arena_alloc(parser->keep, parser->rest.len + 1, 1);
    isize len = 0, i = 0;
    Str s = parser->rest;
    for (; i < s.len && s.at[i] != '"'; i++) {
        if (s.at[i] != '\\') {
            text[len++] = s.at[i];
            continue;
        }
        i++;
        char c = i < s.len ? s.at[i] : '\0';
        if (c == '"' || c == '\\') {
            text[len++] = c;
        } else if (c == 'n' || c == 't') {
            text[len++] = c == 'n' ? '\n' : '\t';
        } else if (c == 'u' && i + 4 < s.len && s.at[i + 1] == '0' && s.at[i + 2] == '0' &&
                   hex_of(s.at[i + 3]) >= 0 && hex_of(s.at[i + 4]) >= 0) {
            text[len++] = (char)(hex_of(s.at[i + 3]) * 16 + hex_of(s.at[i + 4]));
            i += 4;
        } else {
            return fail(parser, "expected a quoted name with escapes \\\" \\\\ \\n \\t \\u00xx");
        }
    }
    if (i >= s.len) {
        return fail(parser, "expected a closing quote");
    }
    *out = (Str){text, len};
    parser->rest = str_slice(s, i + 1, s.len);
    return true;
}

static bool take_list(GraphParser *parser, const char *key, int32_t *at, int32_t max,
                      int32_t *count)
{
    *count = 0;
    if (!take(parser, key)) {
        return false;
    }
    do {
        if (*count == max) {
            return fail(parser, "too many values in a list");
        }
        if (!take_i32(parser, &at[*count])) {
            return false;
        }
        ++*count;
    } while (str_take(&parser->rest, S(",")));
    return true;
}

static bool take_axis(GraphParser *parser, const char *key, PackAxis *axis)
{
    if (!take(parser, key)) {
        return false;
    }
    do {
        if (axis->rank == PACK_AXIS_RANK) {
            return fail(parser, "an axis has at most 4 dimensions");
        }
        if (!take_i32(parser, &axis->size[axis->rank]) || !take(parser, "*") ||
            !take_i64(parser, &axis->stride[axis->rank])) {
            return false;
        }
        axis->rank++;
    } while (str_take(&parser->rest, S(",")));
    return true;
}

/* Index of the text that the line continues with, out of a table; -1 if none. */
static int take_word(GraphParser *parser, const char *const *words, int count)
{
    for (int i = 0; i < count; i++) {
        Str word = str_of(words[i]);
        if (str_starts(parser->rest, word) && word.len < parser->rest.len &&
            parser->rest.at[word.len] == ' ') {
            parser->rest = str_slice(parser->rest, word.len, parser->rest.len);
            return i;
        }
    }
    return -1;
}

static bool parse_value(GraphParser *parser)
{
    Graph *graph = parser->graph;
    int32_t index;
    if (!take_i32(parser, &index)) {
        return false;
    }
    if (index != graph->values.len) {
        return fail(parser, "values must be numbered 1, 2, 3 ... in order");
    }
    Value value = {0};
    if (!take(parser, " ")) {
        return false;
    }
    int kind = take_word(parser, kind_names, KIND_COUNT);
    if (kind < 0) {
        return fail(parser, "expected a kind of value");
    }
    value.kind = (ValueKind)kind;
    if (!take(parser, " ") || !take_quoted(parser, &value.name) ||
        !take_key(parser, " rows=", &value.rows) || !take_key(parser, " cols=", &value.cols)) {
        return false;
    }
    if (value.kind == VALUE_RESULT || value.kind == VALUE_ARGUMENT) {
        if (!take_key(parser, " producer=", &value.producer)) {
            return false;
        }
    } else if (value.kind == VALUE_SEQUENCE) {
        if (!take_key(parser, " iterations=", &value.iterations)) {
            return false;
        }
        if (value.iterations < 1 || value.iterations > parser->ids_max) {
            return fail(parser, "iterations out of range");
        }
    }
    value.is_output = str_take(&parser->rest, S(" output"));
    *vec_push(&graph->values, parser->keep) = value;
    return true;
}

static bool parse_part(GraphParser *parser)
{
    PartLine line = {0};
    PackPart *part = &line.part;
    bool ok = take_i32(parser, &line.value) && take_key(parser, " ", &line.iteration) &&
              take(parser, " ") && take_quoted(parser, &part->tensor) &&
              take_key(parser, " cols=", &part->col_begin) &&
              take_key(parser, ":", &part->col_end) && take(parser, " base=") &&
              take_i64(parser, &part->base) && take_axis(parser, " rows=", &part->rows) &&
              take_axis(parser, " across=", &part->cols);
    if (!ok) {
        return false;
    }
    if (line.value != parser->graph->values.len - 1) {
        return fail(parser, "a part must follow its value");
    }
    *vec_push(&parser->parts, parser->scratch) = line;
    return true;
}

static bool parse_repeat(GraphParser *parser)
{
    Graph *graph = parser->graph;
    Repeat repeat = {0};
    int32_t index, counts[4];
    const int32_t max = (int32_t)(sizeof repeat.carried / sizeof repeat.carried[0]);
    const int32_t sequences_max = (int32_t)(sizeof repeat.sequence / sizeof repeat.sequence[0]);
    bool ok = take_i32(parser, &index) && take_key(parser, " count=", &repeat.count) &&
              take_key(parser, " body=", &repeat.body) &&
              take_list(parser, " carried=", repeat.carried, max, &counts[0]) &&
              take_list(parser, " arguments=", repeat.carried_argument, max, &counts[1]) &&
              take_list(parser, " yields=", repeat.yield, max, &counts[2]) &&
              take_list(parser, " results=", repeat.result, max, &counts[3]);
    if (!ok) {
        return false;
    }
    if (index != graph->repeats.len || counts[1] != counts[0] || counts[2] != counts[0] ||
        counts[3] != counts[0]) {
        return fail(parser, "repeats are numbered in order and have as many arguments, yields and "
                            "results as carried values");
    }
    repeat.carried_count = counts[0];
    if (str_take(&parser->rest, S(" sequences="))) {
        do {
            int32_t k = repeat.sequence_count;
            if (k == sequences_max) {
                return fail(parser, "too many sequences");
            }
            if (!take_i32(parser, &repeat.sequence[k]) ||
                !take_key(parser, ":", &repeat.sequence_argument[k])) {
                return false;
            }
            repeat.sequence_count++;
        } while (str_take(&parser->rest, S(",")));
    }
    *vec_push(&graph->repeats, parser->keep) = repeat;
    return true;
}

static bool parse_op(GraphParser *parser)
{
    Graph *graph = parser->graph;
    Op op = {0};
    int32_t index, region, inputs;
    if (!take_i32(parser, &index) || !take(parser, " ")) {
        return false;
    }
    int kind = take_word(parser, op_names, OP_COUNT);
    if (kind <= OP_NONE) {
        return fail(parser, "expected an operation");
    }
    op.kind = (OpKind)kind;
    if (!take(parser, " ") || !take_quoted(parser, &op.name) ||
        !take_key(parser, " region=", &region) ||
        !take_list(parser, " inputs=", op.input, OP_INPUTS_MAX, &inputs) ||
        !take_key(parser, " output=", &op.output)) {
        return false;
    }
    bool ok = true;
    if (op.kind == OP_LAYERNORM) {
        ok = take(parser, " eps=") && take_f64(parser, &op.eps);
    } else if (op.kind == OP_ATTENTION) {
        ok = take_key(parser, " heads=", &op.heads) && take(parser, " scale=") &&
             take_f64(parser, &op.scale);
    } else if (op.kind == OP_SLICE) {
        ok = take_key(parser, " begin=", &op.begin) && take_key(parser, " end=", &op.end);
    } else if (op.kind == OP_REPEAT) {
        ok = take_key(parser, " repeat=", &op.repeat);
    }
    if (!ok) {
        return false;
    }
    if (index < 1 || index > parser->ids_max || region < 0 || region > parser->ids_max) {
        return fail(parser, "operation or region number out of range");
    }
    while (graph->ops.len <= index) {
        *vec_push(&graph->ops, parser->keep) = (Op){0};
    }
    if (graph->ops.at[index].kind != OP_NONE) {
        return fail(parser, "this operation was given before");
    }
    graph->ops.at[index] = op;
    while (graph->regions.len <= region) {
        *vec_push(&graph->regions, parser->keep) = (RegionOps){0};
    }
    *vec_push(&graph->regions.at[region], parser->keep) = index;
    return true;
}

static bool parse_line(GraphParser *parser)
{
    bool ok;
    if (str_take(&parser->rest, S("value "))) {
        ok = parse_value(parser);
    } else if (str_take(&parser->rest, S("part "))) {
        ok = parse_part(parser);
    } else if (str_take(&parser->rest, S("repeat "))) {
        ok = parse_repeat(parser);
    } else if (str_take(&parser->rest, S("op "))) {
        ok = parse_op(parser);
    } else {
        return fail(parser, "expected value, part, repeat or op");
    }
    return ok && (parser->rest.len == 0 || fail(parser, "expected the end of the line"));
}

/* Part lines come in the order value, iteration: hands out runs of them as packings. */
static bool bind_parts(GraphParser *parser)
{
    Graph *graph = parser->graph;
    isize next = 0;
    for (int32_t v = 1; v < graph->values.len; v++) {
        Value *value = &graph->values.at[v];
        if (value->kind == VALUE_RESULT || value->kind == VALUE_ARGUMENT) {
            continue;
        }
        int32_t count = value->kind == VALUE_SEQUENCE ? value->iterations : 1;
        if (count > parser->parts.len) {
            return error_set(parser->err, ERROR_INPUT, NULL,
                             "value %d has fewer parts than iterations", v);
        }
        Packing *packings = arena_array(parser->keep, Packing, count);
        for (int32_t k = 0; k < count; k++) {
            isize begin = next;
            while (next < parser->parts.len && parser->parts.at[next].value == v &&
                   parser->parts.at[next].iteration == k) {
                next++;
            }
            packings[k] = (Packing){.rows = value->rows, .cols = value->cols};
            packings[k].parts.len = next - begin;
            packings[k].parts.at = arena_array(parser->keep, PackPart, next - begin);
            for (isize p = begin; p < next; p++) {
                packings[k].parts.at[p - begin] = parser->parts.at[p].part;
            }
        }
        value->packings = packings;
    }
    if (next != parser->parts.len) {
        return error_set(parser->err, ERROR_INPUT, NULL,
                         "parts of value %d are not in order of iterations",
                         parser->parts.at[next].value);
    }
    return true;
}

void graph_print(Writer *writer, const Graph *graph)
{
    write_str(writer, S("graph "));
    write_json_str(writer, graph->name);
    write_str(writer, S("\n"));
    for (int32_t i = 1; i < graph->values.len; i++) {
        print_value(writer, graph, i);
    }
    for (int32_t i = 1; i < graph->repeats.len; i++) {
        print_repeat(writer, graph, i);
    }
    for (int32_t r = 0; r < graph->regions.len; r++) {
        for (isize i = 0; i < graph->regions.at[r].len; i++) {
            print_op(writer, graph, r, graph->regions.at[r].at[i]);
        }
    }
}

bool graph_parse(Str text, Arena *keep, Graph *out, Error *err)
{
    Arena scratch = arena_create(((isize)sizeof(PartLine) * 4 + 64) * (text.len + 64));
    GraphParser parser = {.graph = out, .keep = keep, .scratch = &scratch, .err = err};
    for (isize i = 0; i < text.len && parser.ids_max < INT32_MAX; i++) {
        parser.ids_max += text.at[i] == '\n';
    }
    graph_create(out, S(""), keep);
    bool has_name = false, ok = true;
    while (ok && text.len > 0) {
        parser.rest = str_cut(&text, '\n');
        parser.line++;
        if (!has_name) {
            ok = take(&parser, "graph ") && take_quoted(&parser, &out->name) &&
                 (parser.rest.len == 0 || fail(&parser, "expected the end of the line"));
            has_name = true;
        } else if (parser.rest.len > 0) {
            ok = parse_line(&parser);
        }
    }
    if (ok && !has_name) {
        ok = error_set(err, ERROR_INPUT, NULL, "graph text is empty");
    }
    ok = ok && bind_parts(&parser) && graph_check(out, err);
    arena_destroy(&scratch);
    return ok;
}
