/* Hostile text: random bytes, and random changes of good text. The assembler ends with a result or an error that names its
 * place; it never crashes or hangs (run it under sanitizers as well). */
#include "asm/asm.h"
#include "test.h"

static const char *const seeds[] = {
    ".worker\n.macro each op, n=2, rest:vararg\n.rept \\n\n\\op $m0, $m1, \\n\n.endr\nl\\@: .ifnb "
    "\\rest\neach \\rest\n.endif\n.endm\n"
    "each add, 3, sub, 1\n.globl f\n.type f,@function\nf: ldconst $m0, 0x12345678\n1: { ld64step "
    "$a0:1, $mzero, $m2+=, 1 ; f16v4add "
    "$a6:7, $a2:3, $a4:5 }\nbrnzdec $m0, 1b\nrpt 4, (2f-1f)/8-1\n1: { nop ; fnop }\n2: exitz "
    "$mzero\n.size f, .-f\n",
    ".supervisor\nput $INCOMING_MUX, $m4\nsetzi $m3, table+4\ncall $lr, go\n.align 8\nsendpicp 42, "
    "0x14021, 1, 0, 0x19015000\n"
    "go: runall $m0, $m1, 0 /* run */\nsync 2 // wait\nbr $lr\n.data\ntable: .long go, table - "
    "go2, 1<<4\ngo2: .half 1.0h, -infh, 0.5\n"
    ".set n, (go2 - table) % 8\n.if n == 4 && 1\n.byte n, ~n & 0xff\n.else\n.space 1 << "
    "8\n.endif\n",
};

static void assemble_any(Arena whole, Str text, int *good)
{
    Arena keep = arena_split(&whole, INT64_C(1) << 28), scratch = whole;
    Object object;
    Resolved resolved;
    Error err = {0};
    if (asm_assemble(S("fuzz.s"), text, NULL, &keep, scratch, &object, &err)) {
        if (object_resolve(&object, 1, 0x4c010, &keep, scratch, &resolved, &err)) {
            *good += 1;
            Writer writer = writer_buffer(&scratch);
            asm_disassemble(&writer, resolved.at, resolved.len < 4096 ? resolved.len : 4096,
                            resolved.base, CONTEXT_WORKER, true, NULL);
        }
    }
    CHECK(err.code == ERROR_NONE || (err.code == ERROR_INPUT && err.message[0]));
}

static void random_bytes(void)
{
    Arena arena = arena_create(INT64_C(1) << 31);
    uint64_t seed = test_seed(31337), next = 0;
    int good = 0;
    double until = time_seconds() + 1.0;
    for (int i = 0; i < 3000 && time_seconds() < until; i++) {
        static const char alphabet[] =
            "$am0:1+-*/%<>&|~(){};,.\\\"@#hbfx\n\t longworke.setrptmacdif";
        char text[400];
        isize len = (isize)random_below(seed, next++, sizeof text);
        for (isize c = 0; c < len; c++) {
            text[c] = i % 2 ? (char)random_u64(seed, next++)
                            : alphabet[random_below(seed, next++, sizeof alphabet - 1)];
        }
        assemble_any(arena, (Str){text, len}, &good);
    }
    arena_destroy(&arena);
}

/* Swaps, drops, doubles and overwrites pieces. */
static Str mutate(Str text, uint64_t seed, uint64_t *next, Arena *arena)
{
    isize cap = text.len * 2 + 64;
    char *at = arena_array(arena, char, cap);
    memcpy(at, text.at, (size_t)text.len);
    isize len = text.len;
    int changes = 1 + (int)random_below(seed, (*next)++, 4);
    for (int i = 0; i < changes && len > 2; i++) {
        isize where = (isize)random_below(seed, (*next)++, (uint64_t)len);
        isize piece = 1 + (isize)random_below(seed, (*next)++, 40);
        piece = piece < len - where ? piece : len - where;
        switch (random_below(seed, (*next)++, 4)) {
        case 0:
            at[where] = (char)random_u64(seed, (*next)++);
            break;
        case 1:
            memmove(at + where, at + where + piece, (size_t)(len - where - piece));
            len -= piece;
            break;
        case 2:
            if (len + piece < cap) {
                memmove(at + where + piece, at + where, (size_t)(len - where));
                len += piece;
            }
            break;
        default:
            memmove(at + where, at + random_below(seed, (*next)++, (uint64_t)(len - piece + 1)),
                    (size_t)piece);
            break;
        }
    }
    return (Str){at, len};
}

static void mutated(void)
{
    Arena arena = arena_create(INT64_C(1) << 31);
    uint64_t seed = test_seed(271828), next = 0;
    int good = 0;
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++) {
        assemble_any(arena, str_of(seeds[i]), &good);
    }
    CHECK_EQ_INT(good, sizeof seeds / sizeof *seeds);
    double until = time_seconds() + 3.0;
    for (int i = 0; i < 20000 && time_seconds() < until; i++) {
        Arena scratch = arena;
        Str text = mutate(str_of(seeds[i % 2]), seed, &next, &scratch);
        assemble_any(scratch, text, &good);
    }
    CHECK(good > 10);
    arena_destroy(&arena);
}

/* Texts that ask for exponential or endless work. */
static void greedy(void)
{
    static const char *const texts[] = {
        ".rept 100000\n.rept 100000\n.rept 100000\n.endr\n.endr\n.endr\n",
        ".macro m\nm\nm\n.endm\nm\n",
        ".macro a\n.long 1\n.endm\n.macro b\n.rept 1000000\na\n.endr\n.endm\nb\n",
        ".rept 4000000000000\n.long 1\n.endr\n",
        ".space 1000000\n.space 1000000\n",
        ".macro g x\n.ifc \\x,end\n.else\ng \\x\\x\n.endif\n.endm\ng abcdefgh\n",
        "{{{{{{{{{{",
        ".if 1\n.if 1\n.if 1\n",
        ".p2align 16\n.byte 1\n.p2align 16\n.rept 100\n.byte 1\n.p2align 16\n.endr\n",
    };
    Arena arena = arena_create(INT64_C(1) << 31);
    int good = 0;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assemble_any(arena, str_of(texts[i]), &good);
    }
    CHECK_EQ_INT(good, 0);
    Arena scratch = arena;
    Writer text = writer_buffer(&scratch);
    for (int i = 0; i < 200; i++) { /* each doubles the work of the one before */
        write_fmt(&text, ".set s%d, s%d + s%d\n", i, i + 1, i + 1);
    }
    write_str(&text, S(".long s0\n"));
    assemble_any(scratch, writer_text(&text), &good);
    text = writer_buffer(&scratch);
    for (int i = 0; i < 20000; i++) {
        write_fmt(&text, ".set t%d, t%d\n", i, i + 1);
    }
    write_str(&text, S(".long t0\n"));
    assemble_any(scratch, writer_text(&text), &good);
    text = writer_buffer(&scratch);
    write_str(&text, S(".long "));
    for (int i = 0; i < 100000; i++) {
        write_str(&text, S("(-x+"));
    }
    assemble_any(scratch, writer_text(&text), &good);
    CHECK_EQ_INT(good, 0);
    arena_destroy(&arena);
}

TEST_MAIN(random_bytes, mutated, greedy)
