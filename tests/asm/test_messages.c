/* Mistakes: all of them in one run, each with its place, line and caret, and where it was expanded; the listing's lines. */
#include "asm/asm.h"
#include "test.h"

static bool find_file(void *context, Str name, Str *text, Error *err)
{
    (void)context;
    if (!str_equal(name, S("inc.s"))) {
        return error_set(err, ERROR_INPUT, NULL, "no such file");
    }
    *text = S("nop\n  .long (\n");
    return true;
}

static Object mistakes(const char *text, Arena *arena)
{
    Arena scratch = arena_split(arena, (arena->end - arena->at) / 2);
    AsmIncludes includes = {.find = find_file};
    Object object;
    Error err = {0};
    CHECK(!asm_assemble(S("t.s"), str_of(text), &(AsmOptions){.includes = &includes}, arena,
                        scratch, &object, &err));
    CHECK_EQ_INT(err.code, ERROR_INPUT);
    return object;
}

static void check_messages(const char *text, const char *expected)
{
    Arena arena = arena_create(1 << 26);
    Object object = mistakes(text, &arena);
    Writer writer = writer_buffer(&arena);
    for (isize i = 0; i < object.messages.len; i++) {
        asm_print_message(&writer, &object.messages.at[i]);
    }
    CHECK_STR(writer_text(&writer), str_of(expected));
    arena_destroy(&arena);
}

static void several(void)
{
    check_messages(".worker\n\tadd $m0, $m1, 70000\n  frob $m0 // why\nnop\nbri .Lgone\n",
                   "tessera: t.s:2:16: operand 3 of add is 70000, expected -32768..32767\n"
                   "    \tadd $m0, $m1, 70000\n"
                   "    \t              ^\n"
                   "tessera: t.s:3:3: expected an instruction, directive or macro, not 'frob'\n"
                   "      frob $m0 // why\n"
                   "      ^\n"
                   "tessera: t.s:5:1: label .Lgone is not defined\n"
                   "    bri .Lgone\n"
                   "    ^\n");
}

static void expanded(void)
{
    check_messages(".worker\n.macro inner x\n add $m0, $m1, \\x\n.endm\n.macro outer\n inner "
                   "99999\n.endm\nnop\nouter\n.include \"inc.s\"\n.rept 3\nnope\n.endr\n",
                   "tessera: t.s:3:16: operand 3 of add is 99999, expected -32768..32767\n"
                   "     add $m0, $m1, 99999\n"
                   "                   ^\n"
                   "    in macro inner, from t.s:6\n"
                   "    in macro outer, from t.s:9\n"
                   "tessera: inc.s:2:10: expected an expression\n"
                   "      .long (\n"
                   "             ^\n"
                   "    in file inc.s, from t.s:10\n"
                   "tessera: t.s:12:1: expected an instruction, directive or macro, not 'nope'\n"
                   "    nope\n"
                   "    ^\n"
                   "    in repeat, from t.s:11\n");
}

/* Line markers of the C preprocessor name the original place; a warning is no mistake. */
static void markers(void)
{
    check_messages(
        ".worker\n# 7 \"dir/k.S\" 1\nfrob\n# 1 \"k.h\" 1\n\nfrob2\n# 9 \"dir/k.S\" 2\n# "
        "comment\nfrob3\n",
        "tessera: dir/k.S:7:1: expected an instruction, directive or macro, not 'frob'\n"
        "    frob\n    ^\n"
        "tessera: k.h:2:1: expected an instruction, directive or macro, not 'frob2'\n"
        "    frob2\n    ^\n"
        "tessera: dir/k.S:10:1: expected an instruction, directive or macro, not 'frob3'\n"
        "    frob3\n    ^\n");
    check_messages(".worker\n.warn_on_invalid_execution_mode\nsync 3\nfrob\n",
                   "tessera: t.s:3:1: warning: sync does not exist in worker mode\n"
                   "    sync 3\n    ^\n"
                   "tessera: t.s:4:1: expected an instruction, directive or macro, not 'frob'\n"
                   "    frob\n    ^\n");
}

/* One mistake does not bring others: the failed bundle keeps its place, a failed body is passed over. */
static void no_followers(void)
{
    static const char *const texts[] = {
        ".worker\n{ frob ; fnop }\nrpt 1, 0\n",
        ".worker\nnop\nfrob $m0\nsetzi $m0\n{ nop ; frob }\nnop\nrpt 4, 0\n{ nop ; fnop }\n",
        ".macro m ?\nfrob\n.endm\n.rept x\nfrob\n.endr\n.if y\nfrob\n.else\nfrob\n.endif\n",
        ".macro m x:req\nfrob\n.endm\nm\n",
        ".if 1\n.macro z\n.if 1\n.endm\nz\n.endif\n",
    };
    static const int counts[] = {2, 3, 3, 1, 1};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        Arena arena = arena_create(1 << 26);
        CHECK_EQ_INT(mistakes(texts[i], &arena).messages.len, counts[i]);
        arena_destroy(&arena);
    }
}

/* At most ASM_MESSAGES_MAX, then one line that there are more. */
static void bounded(void)
{
    Arena arena = arena_create(1 << 27);
    Writer text = writer_buffer(&arena);
    for (int i = 0; i < 1000; i++) {
        write_fmt(&text, "frob%d\n", i);
    }
    write_str(&text, (Str){"", 1});
    Object object = mistakes(writer_text(&text).at, &arena);
    CHECK_EQ_INT(object.messages.len, ASM_MESSAGES_MAX + 1);
    CHECK_STR(object.messages.at[ASM_MESSAGES_MAX].text, S("more errors"));
    arena_destroy(&arena);
}

/* Lines in the order they are read; a bundle's bytes belong to its first line. */
static void listed(void)
{
    Arena arena = arena_create(1 << 26), scratch = arena_split(&arena, 1 << 25);
    Object object;
    Error err = {0};
    AsmOptions options = {.has_listing = true};
    CHECK_OK(asm_assemble(S("t.s"),
                          S(".worker // mode\n{\n nop\n fnop\n}\n.macro two\nnop\n.endm\n"
                            "two\n.byte 1; .data; .byte 2\n"),
                          &options, &arena, scratch, &object, &err),
             err);
    static const struct {
        const char *text;
        uint32_t line, offset, bytes;
        bool is_expanded;
    } lines[] = {{".worker // mode", 1, 0, 0, false},
                 {"{", 2, 0, 8, false},
                 {" nop", 3, 0, 0, false},
                 {" fnop", 4, 0, 0, false},
                 {"}", 5, 0, 0, false},
                 {".macro two", 6, 0, 0, false},
                 {"nop", 7, 0, 0, false},
                 {".endm", 8, 0, 0, false},
                 {"two", 9, 0, 0, false},
                 {"nop", 7, 8, 4, true},
                 {".byte 1; .data; .byte 2", 10, 12, 1, false},
                 {"", 10, 0, 1, false}};
    int count = (int)(sizeof lines / sizeof *lines);
    for (int i = 0, at = 0; i < count; i++, at++) {
        if (i == 6 || i == 7) { /* the definition's lines are there too */
            CHECK(at < object.listing.len);
        }
        const ListedLine *line = &object.listing.at[at];
        CHECK_STR(line->text, str_of(lines[i].text));
        CHECK_EQ_INT(line->line, lines[i].line);
        CHECK_EQ_INT(line->bytes, lines[i].bytes);
        CHECK_EQ_INT(line->offset, lines[i].offset);
        CHECK_EQ_INT(line->is_expanded, lines[i].is_expanded);
    }
    CHECK_EQ_INT(object.listing.len, count);
    arena_destroy(&arena);
}

TEST_MAIN(several, expanded, markers, no_followers, bounded, listed)
