/* Text form: parse(print(g)) prints the same; mutated texts give a graph that passes graph_check or an error. */
#include "graph/sample.h"
#include "test.h"

static Str print(const Graph *graph, Arena *arena)
{
    Writer writer = writer_buffer(arena);
    graph_print(&writer, graph);
    return str_copy(writer_text(&writer), arena);
}

static void round_trip(void)
{
    Arena keep = arena_create(16 << 20);
    Sample sample;
    sample_build(&sample, &keep);
    /* Negative strides and permuted axes survive too. */
    PackPart *part = sample.graph.values.at[1].packings[0].parts.at;
    part->base = 99;
    part->rows = (PackAxis){.rank = 2, .size = {1, 5}, .stride = {-7, 12345678901}};
    Str text = print(&sample.graph, &keep);
    Graph parsed;
    Error err = {0};
    CHECK_OK(graph_parse(text, &keep, &parsed, &err), err);
    CHECK_STR(print(&parsed, &keep), text);
    CHECK_STR(parsed.name, S("sample \"quoted\""));
    CHECK_EQ_INT(graph_parameter_elems(&parsed), graph_parameter_elems(&sample.graph));
    arena_destroy(&keep);
}

static void errors_name_the_line(void)
{
    Arena keep = arena_create(1 << 20);
    Graph graph;
    Error err;
    CHECK_ERROR(graph_parse(S(""), &keep, &graph, &err), err, ERROR_INPUT, "empty");
    CHECK_ERROR(
        graph_parse(S("graph \"a\"\nvalue 2 input \"x\" rows=1 cols=1\n"), &keep, &graph, &err),
        err, ERROR_INPUT, "numbered");
    CHECK_CSTR(err.where, "line 2");
    CHECK_ERROR(graph_parse(S("graph \"a\"\n\nvalue 1 thing \"x\"\n"), &keep, &graph, &err), err,
                ERROR_INPUT, "kind of value");
    CHECK_CSTR(err.where, "line 3");
    CHECK_ERROR(graph_parse(S("graph \"a\nvalue"), &keep, &graph, &err), err, ERROR_INPUT,
                "closing quote");
    CHECK_ERROR(graph_parse(S("graph \"a\"\nop 1 gelu \"g\" region=0 inputs=1 output=2 x\n"), &keep,
                            &graph, &err),
                err, ERROR_INPUT, "end of the line");
    CHECK_ERROR(graph_parse(S("graph \"a\"\nop 1 gelu \"g\" region=0 inputs=77 output=2\n"), &keep,
                            &graph, &err),
                err, ERROR_INPUT, "no output");
    CHECK_ERROR(graph_parse(S("graph \"a\"\nop 99999999 gelu \"g\" region=0 inputs=1 output=2\n"),
                            &keep, &graph, &err),
                err, ERROR_INPUT, "out of range");
    arena_destroy(&keep);
}

static void mutations(void)
{
    uint64_t seed = test_seed(20240607), draw = 0;
    Arena keep = arena_create(64 << 20);
    Sample sample;
    sample_build(&sample, &keep);
    Str text = print(&sample.graph, &keep);
    int accepted = 0;
    for (int round = 0; round < 4000; round++) {
        Arena scratch = keep;
        char *at = (char *)(uintptr_t)str_copy(text, &scratch).at;
        isize len = text.len;
        for (uint64_t edits = 1 + random_below(seed, draw++, 3); edits > 0; edits--) {
            isize where = (isize)random_below(seed, draw++, (uint64_t)len);
            switch (random_below(seed, draw++, 3)) {
            case 0:
                at[where] = (char)random_below(seed, draw++, 256);
                break;
            case 1: /* a digit, so that the text often stays well formed */
                at[where] = (char)('0' + random_below(seed, draw++, 10));
                break;
            default:
                len = where + 1;
                break;
            }
        }
        Graph graph;
        Error err = {0};
        if (graph_parse((Str){at, len}, &scratch, &graph, &err)) {
            Error again = {0};
            CHECK_OK(graph_check(&graph, &again), again);
            accepted++;
        } else {
            CHECK_EQ_INT(err.code, ERROR_INPUT);
        }
    }
    CHECK(accepted > 0);
    arena_destroy(&keep);
}

TEST_MAIN(round_trip, errors_name_the_line, mutations)
