/* Relocations (isa/assembler.md 3): every kind with fields worked out by hand, and what does not fit; sections that nothing
 * reaches; symbols of several texts. */
#include "asm/asm.h"
#include "test.h"

static Object assemble(const char *name, const char *text, Arena *keep, Arena scratch)
{
    Object object;
    Error err = {0};
    CHECK_OK(asm_assemble(str_of(name), str_of(text), NULL, keep, scratch, &object, &err), err);
    return object;
}

/* `text` and an object that sets the global X to `value`, linked at 0x4c010; two words of the result. */
static bool link_with(const char *text, uint32_t value, uint32_t word[2], Error *err)
{
    Arena keep = arena_create(1 << 26), scratch = arena_split(&keep, 1 << 25);
    Object objects[2] = {
        assemble("a.s", text, &keep, scratch),
        assemble("b.s", str_format(&keep, ".globl X\n.set X, 0x%x\n", value).at, &keep, scratch)};
    Resolved resolved;
    bool is_good = object_resolve(objects, 2, 0x4c010, &keep, scratch, &resolved, err);
    if (is_good) {
        memcpy(word, resolved.at, 8);
    }
    arena_destroy(&keep);
    return is_good;
}

typedef struct Case {
    const char *text;
    uint32_t value;
    uint32_t word[2];
    const char *refused; /* part of the message */
} Case;

static const Case cases[] = {
    {".long 0xffffff00, 0\n.reloc 0, 8, X\n", 0xff, {0xffffffff, 0}, NULL},
    {".long 0xffffff00, 0\n.reloc 0, 8, X\n", 0x100, {0, 0}, "does not fit"},
    {".long 0, 0\n.byte X\n", 0x100, {0, 0}, "does not fit"},
    {".long 0xffff0000, 0\n.reloc 2, 16, X + 1\n", 0xfffe, {0xffff0000, 0}, NULL},
    {".long 0, 0\n.reloc 0, 16, X\n", 0x10000, {0, 0}, "does not fit"},
    {".worker\nsetzi $m2, X\nnop\n", 0xfffff, {0x192fffff, 0x19e00000}, NULL},
    {".worker\nsetzi $m2, X\n", 0x100000, {0, 0}, "does not fit"},
    {".long 1, X - 1\n", 0, {1, 0xffffffff}, NULL},
    {".quad X + 1\n", 0xffffffff, {0, 1}, NULL},
    {".short X@relative@16@s2, 1\n.long 0\n", 0x4c000 + 0x3fffc, {0x0001ffff, 0}, NULL},
    {".short X@relative@16@s2, 0\n", 0x4c000 + 0x40000, {0, 0}, "does not fit"},
    {".short X@relative@16@s2, 0\n", 0x4c002, {0, 0}, "multiple of 4"},
    {".short X@relative@16@s2, 0\n", 0x4bffc, {0, 0}, "below"},
    {".long 0xfffc0000, 0\n.reloc 0, 18_S2, X\n", 0x5a5a8, {0xfffd696a, 0}, NULL},
    {".long X@abs18@s2\n", 0x100000, {0, 0}, "does not fit"},
    {".worker\nbrnz $m3, X\nbri X + 8\n", 0x4c100, {0x11313040, 0x40813042}, NULL},
    {".worker\ncall $lr, X\nnop\n", 0x1ffffc, {0x18a7ffff, 0x19e00000}, NULL},
    {".worker\nbri X\n", 0x200000, {0, 0}, "does not fit"},
    {".worker\nbri X\n", 0x4c102, {0, 0}, "multiple of 4"},
    /* 0xabcd units of 4 bytes above 0x4c000: low 12 bits at 11:0, high 4 at 19:16 */
    {".supervisor\nrun $m1, $m2, X\nnop\n", 0x4c000 + 4 * 0xabcd, {0x141a2bcd, 0x19e00000}, NULL},
    {".supervisor\nrun $m1, $m2, X\n", 0x4c000 + 4 * 0x10000, {0, 0}, "does not fit"},
    {".supervisor\nrun $m1, $m2, X\n", 0x4b000, {0, 0}, "below"},
    {".short X@relative@16@s3, 0\n.long 0\n", 0x4c000 + 0x7fff8, {0xffff, 0}, NULL},
    {".short X@relative@16@s3, 0\n", 0x4c000 + 0x80000, {0, 0}, "does not fit"},
    {".short X@relative@16@s3, 0\n", 0x4c004, {0, 0}, "multiple of 8"},
    {".short X@relative@16@s4, 0\n.long 0\n", 0x4c000 + 0x12340, {0x1234, 0}, NULL},
    {".short X@relative@16@s4, 0\n", 0x4c000 + 0x100000, {0, 0}, "does not fit"},
    {".short X@relative@16@s4, 0\n", 0x4c008, {0, 0}, "multiple of 16"},
    {".short X@relative@16@s5, 0\n.long 0\n", 0x4c000 + 0x1fffe0, {0xffff, 0}, NULL},
    {".short X@relative@16@s5, 0\n", 0x4c000 + 0x200000, {0, 0}, "does not fit"},
    {".short X@relative@16@s5, 0\n", 0x4c010, {0, 0}, "multiple of 32"},
    {".long 0xffe00000, 0\n.reloc 0, 21, X\n", 0x1fffff, {0xffffffff, 0}, NULL},
    {".long 0, 0\n.reloc 0, 21, X\n", 0x200000, {0, 0}, "does not fit"},
};

static void kinds(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Error err = {0};
        uint32_t word[2];
        bool is_good = link_with(cases[i].text, cases[i].value, word, &err);
        if (is_good == (cases[i].refused != NULL)) {
            fprintf(stderr, "case %zu: %s: %s\n", i, cases[i].text, err.message);
        }
        CHECK(is_good == (cases[i].refused == NULL));
        if (!is_good) {
            CHECK_EQ_INT(err.code, ERROR_INPUT);
            CHECK(strstr(err.message, cases[i].refused) != NULL);
            continue;
        }
        CHECK_EQ_INT(word[0], cases[i].word[0]);
        CHECK_EQ_INT(word[1], cases[i].word[1]);
    }
}

/* main calls used; used reads table; nobody needs spare or its data. */
static void unused_sections(void)
{
    Arena keep = arena_create(1 << 26), scratch = arena_split(&keep, 1 << 25);
    Object objects[2] = {
        assemble("main.s",
                 ".supervisor\n.section .text.spare\n.globl spare\nspare: bri spare_data\nbri "
                 "missing\n.section .text.main\n.globl main\nmain: call $lr, used\n",
                 &keep, scratch),
        assemble("used.s",
                 ".supervisor\n.globl used, spare_data\n.data\nspare_data: .long 1\n.section "
                 ".text.used\nused: setzi $m0, .Lt\n.section .rodata\n.Lt: .long 7, used\n",
                 &keep, scratch)};
    LinkOptions options = {.base = 0x4c010, .entry = S("main"), .drops_unused = true};
    Resolved resolved;
    Error err = {0};
    CHECK_OK(object_link(objects, 2, &options, &keep, scratch, &resolved, &err), err);
    static const uint32_t expected[] = {0x18a00000 | 0x4c014 >> 2, 0x19000000 | 0x4c018, 7,
                                        0x4c014};
    CHECK_EQ_INT(resolved.len, sizeof expected);
    CHECK(memcmp(resolved.at, expected, sizeof expected) == 0);
    CHECK_EQ_INT(resolved.entry, 0x4c010);
    uint32_t address;
    CHECK(object_find(objects, 2, &resolved, S("used"), &address));
    CHECK_EQ_INT(address, 0x4c014);
    options.drops_unused = false;
    CHECK_ERROR(object_link(objects, 2, &options, &keep, scratch, &resolved, &err), err,
                ERROR_INPUT, "missing is undefined");
    CHECK_CSTR(err.where, "main.s:5:1");
    options = (LinkOptions){.base = 0x4c010, .drops_unused = true};
    CHECK_ERROR(object_link(objects, 2, &options, &keep, scratch, &resolved, &err), err,
                ERROR_INPUT, "expected an entry");
    options.entry = S("nowhere");
    CHECK_ERROR(object_link(objects, 2, &options, &keep, scratch, &resolved, &err), err,
                ERROR_INPUT, "nowhere");
    arena_destroy(&keep);
}

/* Each mistake of a link is said. */
static void many_mistakes(void)
{
    Arena keep = arena_create(1 << 26), scratch = arena_split(&keep, 1 << 25);
    Object objects[2] = {
        assemble("a.s", ".globl f, g\nf: .long p\ng: .long q\n.byte f\n", &keep, scratch),
        assemble("b.s", ".globl f, g\nf:\ng: .long p\n", &keep, scratch)};
    Resolved resolved;
    Error err = {0};
    CHECK_ERROR(object_resolve(objects, 2, 0x4c010, &keep, scratch, &resolved, &err), err,
                ERROR_INPUT, "global symbol f is defined twice, first in a.s");
    static const char *const texts[] = {"f is defined twice", "g is defined twice",
                                        "p is undefined",     "q is undefined",
                                        "f (0x4c010) does",   "p is undefined"};
    CHECK_EQ_INT(resolved.messages.len, sizeof texts / sizeof *texts);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        CHECK(strstr(resolved.messages.at[i].text.at, texts[i]) != NULL);
    }
    CHECK_EQ_INT(resolved.messages.at[4].line, 4);
    arena_destroy(&keep);
}

TEST_MAIN(kinds, unused_sections, many_mistakes)
