/* Text form of exchange problems: everything comes back byte for byte, formulas give what they say, mistakes are named with their line
 * and rule. */
#include "exchange/exchange.h"
#include "test.h"
#include <stdio.h>
#include <string.h>

static Arena keep;

#define HEAD "exchange row_bytes_max=65536 row_range=0x4c000..0x5c000\n"

static Str printed(const ExchangeProblem *problem, const Schedule *schedule, Arena *arena)
{
    Writer writer = writer_buffer(arena);
    exchange_print(&writer, problem, schedule);
    return writer_text(&writer);
}

static ExchangeProblem parsed(Str text, Arena *arena)
{
    ExchangeProblem problem;
    Error err = {0};
    CHECK_OK(exchange_parse(text, arena, &problem, &err), err);
    return problem;
}

static void prints_what_it_reads(void)
{
    Arena arena = keep;
    Str text = S(HEAD "name 3 the MLP's first product\n"
                      "name 7 weights\n"
                      "move 1 first=0 step=3072 count=4\n"
                      "move 2 offsets=0,-16\n"
                      "move 3 offsets=8,0,96,4\n"
                      "phase transfers=2 iterations=4 provenance=3.0.0\n"
                      "transfer source=12 address=0x80000 words=64 move=1 to=14@0x90000\n"
                      "transfer source=14 address=0x90100 words=2 move=3 provenance=3.7.9 "
                      "to=12@0xa0000,14@0xb0000\n"
                      "phase transfers=0\n"
                      "later events=1177 tiles=0,7,1471\n"
                      "later events=64 tiles=3\n"
                      "phase transfers=1 iterations=2\n"
                      "transfer source=0 address=0xe7ffc words=1 to=1471@0x4c000\n");
    ExchangeProblem problem = parsed(text, &arena);
    CHECK_STR(printed(&problem, NULL, &arena), text);
    CHECK_EQ_INT(problem.phases.at[0].iterations, 4);
    CHECK_EQ_INT(move_offset(&problem, 1, 3), 9216);
    CHECK_EQ_INT(move_least(&problem, 2), -16);
    CHECK_STR(name_of(problem.names, 7), S("weights"));
    CHECK_EQ_INT(problem.phases.at[1].later_count, 4);
    CHECK_EQ_INT(problem.later.at[1].tile.id, 3); /* by tile */
    CHECK_EQ_INT(problem.later.at[3].events, 1177);
}

static void prints_schedules(void)
{
    Arena arena = keep;
    Str text =
        S(HEAD "move 1 offsets=0,64\n"
               "phase transfers=2 iterations=2\n"
               "transfer source=12 address=0x80000 words=64 to=14@0x90000\n"
               "transfer source=14 address=0x80000 words=10 move=1 to=12@0xa0000,14@0xb0000\n");
    ExchangeProblem problem = parsed(text, &arena);
    ExchangeMessage messages[] = {{0, 0, 64, 31, true}, {1, 0, 4, 40, true}, {1, 4, 6, 90, false}};
    Row rows[] = {{.tile = {12}, .word_count = 4, .end = 95},
                  {.tile = {14}, .word_count = 9, .end = 195, .move = 1, .patch_count = 1}};
    RowPatch patches[] = {{2, 1}};
    Event horizon[] = {195};
    ExchangeBounds bounds[] = {{.chosen = {121, BOUND_SEND, {12}}}};
    Schedule schedule = {.messages = {messages, 3, 3},
                         .horizon = horizon,
                         .bounds = bounds,
                         .rows = {rows, 2, 2},
                         .patches = {patches, 1, 1}};
    Str full = printed(&problem, &schedule, &arena);
    CHECK_STR(full,
              S(HEAD "move 1 offsets=0,64\n"
                     "phase transfers=2 iterations=2 horizon=195 bound=121\n"
                     "transfer source=12 address=0x80000 words=64 start=31 width=64 to=14@0x90000\n"
                     "transfer source=14 address=0x80000 words=10 move=1 to=12@0xa0000,14@0xb0000\n"
                     "message word=0 words=4 start=40 width=64\n"
                     "message word=4 words=6 start=90\n"
                     "row tile=12 words=4 end=95\n"
                     "row tile=14 words=9 end=195 move=1 patches=1\n"
                     "patch word=2 move=1\n"));
    problem = parsed(full, &arena);
    CHECK_STR(printed(&problem, NULL, &arena), text);
}

static void expect(const char *body, const char *expanded)
{
    Arena arena = keep;
    ExchangeProblem problem = parsed(str_format(&arena, HEAD "phase\n%s", body), &arena);
    Str text = printed(&problem, NULL, &arena);
    Str wanted =
        str_format(&arena, HEAD "phase transfers=%td\n%s", problem.transfers.len, expanded);
    CHECK_STR(text, wanted);
}

static void generates_transfers(void)
{
    /* Loops, the last one fastest; L() is the logical tile: L2 = P64, L1 = P2 (exchange.md 2.2). */
    expect("for i < 2 for j < 2: transfer source=3 * i + 1 address=0x80000 + 16 * j words=4 "
           "to=L(2)@0x90000\n",
           "transfer source=1 address=0x80000 words=4 to=64@0x90000\n"
           "transfer source=1 address=0x80010 words=4 to=64@0x90000\n"
           "transfer source=4 address=0x80000 words=4 to=64@0x90000\n"
           "transfer source=4 address=0x80010 words=4 to=64@0x90000\n");
    /* Names, conditions, several receivers, a line that goes on, a second line that sees a name of the file. */
    expect("let base = 0x80000\n"
           "for i < 4 if i % 2 == 1 let n = i + 1: transfer \\\n"
           "  source=i address=base bytes=4 * n \\\n"
           "  to=L(1)@base + 4096, for k < 3 if k != i: 100 + k@base + 8 * k, if i == 3: 200@base\n"
           "transfer source=L(0) address=base words=(1 + 2) * 3 to=9@base\n",
           "transfer source=1 address=0x80000 words=2 to=2@0x81000,100@0x80000,102@0x80010\n"
           "transfer source=3 address=0x80000 words=4 "
           "to=2@0x81000,100@0x80000,101@0x80008,102@0x80010,200@0x80000\n"
           "transfer source=0 address=0x80000 words=9 to=9@0x80000\n");
}

/* Value of a formula of at most 4148, by way of a word count. */
static void equals(const char *formula, int value)
{
    Arena arena = keep;
    ExchangeProblem problem = parsed(
        str_format(
            &arena,
            HEAD
            "phase\nlet a = 7\nif 1: transfer source=0 address=0x80000 words=%s to=9@0x80000\n",
            formula),
        &arena);
    CHECK_EQ_INT(problem.transfers.at[0].words, value);
}

static void evaluates_formulas(void)
{
    equals("1 + 2 * 3", 7);
    equals("10 - 3 - 2", 5);
    equals("100 / 7 % 5", 4);
    equals("0 - (0-7) / 2", 4); /* rounds down */
    equals("-7 % 4", 1);        /* sign of the divisor */
    equals("1 + (6 ^ 3)", 6);   /* exclusive or */
    equals("6 ^ 3 + 1", 2);     /* which binds weaker than + */
    equals("1 + (1 == 1 && 2 < 1 || 3 >= 3)", 2);
    equals("1 + !a", 1);
    equals("min(a, 9) + max(a, 9)", 16);
    equals("choose(a > 6, 5, 1 / 0)", 5); /* the other side is not looked at */
    equals("2 + (0 && 1 / 0)", 2);
    equals("0x10", 16);
    /* 365 grains to 9 parts: 41 x 5, 40 x 4 (compiler-design.md 15: rows 82, 80, 79). */
    equals("first(5, 365, 9)", 205);
    equals("first(9, 365, 9)", 365);
    equals("1 + part(204, 365, 9)", 5);
    equals("1 + part(205, 365, 9)", 6);
    equals("1 + part(364, 365, 9)", 9);
    /* Handed out one behind the other, per tile and area. */
    equals("(take(1,0x80000,8) + take(1,0x80000,4) + take(1,0x80000,4) - 3 * 0x80000) / 4", 5);
    equals("1 + (take(2,0x80000,8) - take(3,0x80000,8))", 1);
}

static void deals_and_draws_evenly(void)
{
    Arena arena = keep;
    ExchangeProblem p = parsed(
        S(HEAD
          "phase\nfor x < 729: transfer source=0 address=0x80000 words=1 + part(x,729,13) "
          "to=9@0x80000\n"
          "for x < 8000: transfer source=0 address=0x80000 words=1 + draw(16,1,x) to=9@0x80000\n"),
        &arena);
    int parts[14] = {0}, draws[17] = {0};
    for (isize i = 0; i < 8729; i++) {
        (i < 729 ? parts : draws)[p.transfers.at[i].words]++;
    }
    CHECK_EQ_INT(parts[1], 57); /* 729 = 57 + 12 x 56 */
    for (int i = 2; i <= 13; i++) {
        CHECK_EQ_INT(parts[i], 56);
    }
    for (int i = 1; i <= 16; i++) {
        CHECK(draws[i] > 400);
        CHECK(draws[i] < 600);
    }
}

typedef struct Mistake {
    const char *text; /* behind the head */
    int line;
    const char *part;
} Mistake;

static const Mistake mistakes[] = {
    {"soup\n", 2, "expected name, move, phase"},
    {HEAD, 2, "first line only"},
    {"phase transfers=1\nphase transfers=0\n", 3,
     "as many transfers as the phase says (1), found 0"},
    {"phase iterations=0\n", 2, "iterations=number in 1.."},
    {"phase horizon\n", 2, "expected the end of the line, found `horizon`"},
    {"move 2 offsets=0\n", 2, "expected move 1, found `2`"},
    {"move 1 offsets=0,2\n", 2, "X14: expected an offset in whole words"},
    {"move 1 offsets=\n", 2, "offset=number"},
    {"move 1 first=0 step=4\n", 2, "expected count="},
    {"move 1 first=0 step=638976 count=3\n", 2, "X14"},
    {"name 0 x\n", 2, "name=number in 1.."},
    {"phase\ntransfer source=1 address=0x80000 words=1 move=1 to=2@0x80000\n", 3,
     "a move that a line above gives, found 1"},
    {"move 1 offsets=0,4\nphase iterations=3\ntransfer source=1 address=0x80000 words=1 move=1 "
     "to=2@0x80000\n",
     4, "as many offsets as the phase has iterations (3), found 2"},
    {"move 1 offsets=0,65536\nphase iterations=2\ntransfer source=1 address=0xe0000 words=1 move=1 "
     "to=2@0x80000\n",
     4, "X14: expected a source inside 0x4c000..0xe8000, found 0xe0000..0xf0004"},
    {"phase\ntransfer source=1 address=0x80000 words=1 to=1@0x90000\n", 3,
     "X13: expected a receiver that is not the sender"},
    {"phase\ntransfer source=1 address=0x80000 words=1 to=2@0x90000,3@0x80000,2@0x80000\n", 3,
     "X13: expected every receiver once, found tile 2 twice"},
    {"phase\ntransfer source=1 address=0x80000 words=1 to=\n", 3,
     "X13: expected a receiver, found none"},
    {"phase\ntransfer source=1 address=0x80000 bytes=6 to=2@0x80000\n", 3,
     "X14: expected whole words (a multiple of 4 bytes), found 6 bytes"},
    {"phase\ntransfer source=1 address=0x80002 words=1 to=2@0x80000\n", 3,
     "X14: expected a source address in whole words"},
    {"phase\ntransfer source=1 address=0x80000 words=1 to=2@0x80001\n", 3,
     "X14: expected a destination address in whole words"},
    {"phase\ntransfer source=1 address=0x80000 words=0 to=2@0x80000\n", 3,
     "X14: expected 1..4148 words"},
    {"phase\ntransfer source=1 address=0x80000 words=4149 to=2@0x80000\n", 3, "found 4149"},
    {"phase\ntransfer source=1 address=0x40000 words=1 to=2@0x80000\n", 3,
     "X14: expected a source inside"},
    {"phase\ntransfer source=1 address=0x80000 words=2 to=2@0xe7ffc\n", 3,
     "X14: expected a destination inside"},
    {"phase\ntransfer source=1 address=0x80000 words=2 start=x to=2@0x80000\n", 3, "start=number"},
    {"phase\ntransfer source=1 address=0x80000 words=2 start=1 width=48 to=2@0x80000\n", 3,
     "width=32 or width=64"},
    {"phase\ntransfer source=1 address=0x80000 words=2 provenance=1.2 to=2@0x80000\n", 3,
     "provenance reason"},
    {"phase\nmessage word=0\n", 3, "expected words="},
    {"phase\npatch word=0 move=1 soup\n", 3, "the end of the line"},
    {"phase\ntransfer source=1 address=0x80000 words=2 to=2@0x80000,\n", 3,
     "to=tile@address,..., found ``"},
    {"phase\ntransfer source=1 address=0x80000 words=2 to=2\n", 3,
     "to=tile@address,..., found `2`"},
    {"move 1 offsets=0,4,\n", 2, "expected offset=number"},
    {"phase\ntransfer source=1 \\\n address=0x80000 \\\n soup\n", 3, "words=, found `soup`"},
    {"phase transfers=1\n# nothing\n\n", 4, "as the phase says (1), found 0"},
    /* What would be too much work. */
    {"move 1 first=0 step=0 count=159744\nphase iterations=159744\n"
     "for i < 101: transfer source=0 address=0x80000 words=1 move=1 to=2@0x90000\n",
     4, "read at most 16000000 times in all iterations, at i=100"},
    /* Formulas. */
    {"for i < 2: transfer source=0 address=0x80000 words=1 to=2@0x80000\n", 2,
     "a phase line before"},
    {"let i < 2\n", 2, "expected =, found `<`"},
    {"let i = 2 +\n", 2, "a number, a name or (, found the end of the line"},
    {"let i = 2 @ 3\n", 2, "for, let, if or :"},
    {"let i = (2\n", 2, "expected ), found the end"},
    {"let L = 2\n", 2, "expected a new name, found `L`"},
    {"let i = 1\nlet i = 2\n", 3, "expected a new name, found `i`"},
    {"let i = i\n", 2, "a name that a let or for has set"},
    {"let i = 9223372036854775807 + 1\n", 2, "within 64 bits"},
    {"let i = 99999999999999999999\n", 2, "found `99999999999999999999`"},
    {"let i = 0 - 9223372036854775807 - 2\n", 2, "within 64 bits"},
    {"let i = 1 / 0\n", 2, "a divisor that is not 0"},
    {"let i = 1 % 0\n", 2, "a divisor that is not 0"},
    {"phase\ntransfer source=L(0) address=0x80000 words=0x2000000000000001 to=L(1)@0x80000\n", 3,
     "expected 1..4148 words, found 2305843009213693953"},
    {"let i = L(1472)\n", 2, "expected L(0..1471), found L(1472)"},
    {"let i = min(1)\n", 2, "2 arguments of min"},
    {"let i = min(1,2,3)\n", 2, "at most 2 arguments of min"},
    {"let i = part(9,9,2)\n", 2, "part(x,n,p) with 0 <= x < n"},
    {"let i = draw(0,1)\n", 2, "draw(n,...) with n >= 1"},
    {"let i = take(1,0x80000,638976) + take(1,0x80000,4)\n", 2, "a whole SRAM"},
    {"phase\nfor i < 3: soup\n", 3, "expected transfer, found `soup`"},
    {"phase\nfor i < 3: transfer address=1\n", 3, "expected source=formula"},
    {"phase\nfor i < 3: transfer source=0 \\\n address=4 \\\n words=1 \\\n to=2\n", 6,
     "@ between tile and address"},
    {"phase\nfor i < 3 for j < 2: transfer source=i address=0x80000 words=1 to=j + 1@0x80000\n", 3,
     "is no exchange, at i=1 j=0"},
    {"phase\nfor i < 3: transfer source=1000 * i address=0x80000 words=1 to=7@0x80000\n", 3,
     "a source tile in 0..1471, found 2000, at i=2"},
    {"phase\nfor i < 1000000000000: transfer source=0 address=0x80000 words=1 to=7@0x80000\n", 3,
     "at most 2000000 transfers"},
    {"phase\nfor i < 1000000000000 if 0: transfer source=0 address=0x80000 words=1 to=7@0x80000\n",
     3, "200 million steps"},
};

static void names_mistakes(void)
{
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        Arena arena = keep;
        ExchangeProblem problem;
        Error err = {0};
        Str text = str_format(&arena, HEAD "%s", mistakes[i].text);
        char where[32];
        (void)snprintf(where, sizeof where, "line %d", mistakes[i].line);
        CHECK_ERROR(exchange_parse(text, &arena, &problem, &err), err, ERROR_INPUT,
                    mistakes[i].part);
        CHECK_CSTR(err.where, where);
    }
}

/* Every kind of line may be joined from several, with the line ends of other systems, and its fields stand between any blanks. */
static void joins_lines(void)
{
    Arena arena = keep;
    Str text = S("exchange \\\n row_bytes_max=65536\trow_range=0x4c000..0x5c000\r\n"
                 "phase \\\r\n\ttransfers=1 \\ \n\n"
                 "transfer\tsource=12  address=0x80000 \\\n\\\nwords=64 to=14@0x90000\\\n\n"
                 "name 3 \\\n a \\ b\n");
    ExchangeProblem problem = parsed(text, &arena);
    CHECK_STR(printed(&problem, NULL, &arena),
              S(HEAD "name 3 a \\ b\n"
                     "phase transfers=1\n"
                     "transfer source=12 address=0x80000 words=64 to=14@0x90000\n"));
}

/* Names come from model files: none may break its line or swallow the next one. */
static void prints_any_name(void)
{
    Arena arena = keep;
    ExchangeProblem problem = parsed(S(HEAD "phase\n"), &arena);
    Str names[] = {S(""), S("a\nb"), S("c\\"), S(" \t"), S("# d"), S("\\")};
    NameTable table = {
        .names = {names, sizeof names / sizeof *names, sizeof names / sizeof *names}};
    problem.names = &table;
    Str text = S(HEAD "name 1 a?b\nname 2 c?\nname 4 # d\nname 5 ?\nphase transfers=0\n");
    CHECK_STR(printed(&problem, NULL, &arena), text);
    ExchangeProblem again = parsed(text, &arena);
    CHECK_STR(printed(&again, NULL, &arena), text);
}

/* Files of a few megabytes that would take gigabytes. */
static void refuses_too_much(void)
{
    static const struct {
        const char *line, *part;
        int count;
    } cases[] = {
        {"phase\n", "at most 100000 phases", 100001},
        {"move %d first=0 step=0 count=159744\n", "at most 16000000 offsets", 101},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Arena arena = keep;
        Writer writer = writer_buffer(&arena);
        write_str(&writer, S(HEAD));
        for (int k = 1; k <= cases[i].count; k++) {
            char line[64];
            (void)snprintf(line, sizeof line, cases[i].line, k);
            write_str(&writer, str_of(line));
        }
        ExchangeProblem problem;
        Error err = {0};
        CHECK_ERROR(exchange_parse(writer_text(&writer), &arena, &problem, &err), err, ERROR_INPUT,
                    cases[i].part);
    }
}

/* Depth and size of what a formula may be. */
static void stops_at_limits(void)
{
    static const struct {
        const char *open, *close, *part;
        int count;
    } cases[] = {
        {"(", ")", "a shorter formula", 5000},
        {"-", "", "a shorter formula", 5000},
        {"1+", "", "a shorter formula", 5000},
        {"min(1,", ")", "a shorter formula", 5000},
        {"(", ")", "", 30},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Arena arena = keep;
        Writer writer = writer_buffer(&arena);
        write_str(&writer, S(HEAD "let a = "));
        for (int k = 0; k < cases[i].count; k++) {
            write_str(&writer, str_of(cases[i].open));
        }
        write_str(&writer, S("1"));
        for (int k = 0; k < cases[i].count; k++) {
            write_str(&writer, str_of(cases[i].close));
        }
        ExchangeProblem problem;
        Error err = {0};
        Str text = writer_text(&writer);
        if (cases[i].part[0] == 0) {
            CHECK_OK(exchange_parse(text, &arena, &problem, &err), err);
        } else {
            CHECK_ERROR(exchange_parse(text, &arena, &problem, &err), err, ERROR_INPUT,
                        cases[i].part);
        }
    }
}

static void setup(void)
{
    keep = arena_create((isize)1 << 32);
}

TEST_MAIN(setup, prints_what_it_reads, prints_any_name, prints_schedules, generates_transfers,
          evaluates_formulas, deals_and_draws_evenly, joins_lines, names_mistakes, refuses_too_much,
          stops_at_limits)
