/* Texts with known words: aliases, operands, expressions, directives, macros, alignment (isa/assembler.md 2). */
#include "asm/asm.h"
#include "test.h"

static Arena arena;

typedef struct Built {
    Object object;
    Resolved resolved;
} Built;

static bool build(const char *text, Built *out, Error *err)
{
    Arena scratch = arena_split(&arena, 64 << 20);
    AsmDefine define = {S("OUTSIDE"), 7};
    AsmOptions options = {.defines = {&define, 1}};
    return asm_assemble(S("t.s"), str_of(text), &options, &arena, scratch, &out->object, err) &&
           object_resolve(&out->object, 1, 0x4c010, &arena, scratch, &out->resolved, err);
}

static void check_words(const char *text, const uint32_t *words, int count)
{
    arena = arena_create(INT64_C(1) << 28);
    Built built;
    Error err = {0};
    CHECK_OK(build(text, &built, &err), err);
    for (int i = 0; i < count && 4 * i + 4 <= built.resolved.len; i++) {
        uint32_t word;
        memcpy(&word, built.resolved.at + 4 * i, 4);
        if (word != words[i]) {
            fprintf(stderr, "word %d of:\n%s\n", i, text);
        }
        CHECK_EQ_INT(word, words[i]);
    }
    CHECK_EQ_INT(built.resolved.len, 4 * count);
    arena_destroy(&arena);
}

#define WORDS(text, ...)                                                                           \
    check_words(text, (const uint32_t[]){__VA_ARGS__}, (int)(sizeof(uint32_t[]){__VA_ARGS__} / 4))

static void check_error(const char *text, const char *where, const char *part)
{
    arena = arena_create(INT64_C(1) << 28);
    Built built;
    Error err = {0};
    if (build(text, &built, &err)) {
        fprintf(stderr, "no error in:\n%s\n", text);
        CHECK(false);
    }
    CHECK_CSTR(err.where, where);
    if (!strstr(err.message, part)) {
        CHECK_CSTR(err.message, part);
    }
    arena_destroy(&arena);
}

/* isa/assembler.md 5 and exchange.md 4. */
static void published(void)
{
    WORDS(".supervisor\nnop\nsync 3\nsync TEXCH_SYNCZONE_LOCAL\nsans 0\ndelay 0x20\nsend 1, 6, "
          "3\nbr $lr\nput $DBG_DATA, $m0\n"
          "trap 0\nand $m1, $m0, 61\n.align 8\nsendpicp 42, 0x14021, 1, 0, 0x19015000\n",
          0x19e00000, 0x41800003, 0x41800002, 0x40c00000, 0x40a00020, 0x78200033, 0x43a00000,
          0x43008070, 0x41801000, 0x4201803d, 0xf54a0109, 0x19015000);
    WORDS(".supervisor\ncall $m10, 0x4c100\nbrz $m6, 0x4c020\nput $INCOMING_MUX, $m4\nget $m5, "
          "0x60\nld32 $m1, $m2, $m3, 4\n"
          "st32 $m1, $m2, $m3, 4\nadd $m1, $m2, 2047\nshl $m1, $m2, 3\nsetzi $m2, 0xe7bb0\n",
          0x18a13040, 0x13613008, 0x434080a0, 0x41050060, 0x01213004, 0x4f213004, 0x222107ff,
          0x4221a003, 0x192e7bb0);
}

/* isa/assembler.md 2.2, each against the instruction it stands for. */
static void aliases(void)
{
    WORDS(".worker\nfnop\nmov $m1, $m2\nor $m1, $m2, 0\nmov $m1, $a2\natom $m1, $a2\nmov $a0:1, "
          "$a2:3\nor64 $a0:1, $a2:3, $azeros\n",
          0x1ad00000, 0x42219000, 0x42219000, 0x5d010020, 0x5d010020, 0x5820ee01, 0x5820ee01);
    WORDS(".worker\nmov $a1, $a2\nor $a1, $a2, 0\nzero $m3\nor $m3, $mzero, $mzero\nzero $a3\nor "
          "$a3, $azero, $azero\nzero $ap1\n"
          "or64 $a2:3, $azeros, $azeros\n",
          0x52219000, 0x52219000, 0x44f0f331, 0x44f0f331, 0x58f0fe30, 0x58f0fe30, 0x58e0ee21,
          0x58e0ee21);
    /* signed if it fits, else zero-extended; forced forms */
    WORDS(".worker\nsub $m1, $m2, 5\nadd $m1, $m2, -5\nadd $m1, $m2, 0x8000\naddz $m1, $m2, 5\nsub "
          "$m1, 5, $m2\nswap16 $m1, $m2\n"
          "movnz $m1, $m2, $m3\nmovz $m1, $m3, $m2\ncmpeq $m1, $m2, -1\ncmpeq $m1, $m2, 0xffff\n",
          0x2221fffb, 0x2221fffb, 0x20218000, 0x20210005, 0x39210005, 0x44202312, 0x47321a00,
          0x47321a00, 0x2821ffff, 0x2621ffff);
    /* 12 low bits or 12 high bits; two words only when needed */
    WORDS(".worker\nor $m1, $m1, 0xfff\nor $m1, $m1, 0x7f800000\nldconst $m1, 0x12345\nldconst "
          "$a1, 0xfff12345\n",
          0x42119fff, 0x4211c7f8, 0x19112345, 0x1a112345, 0x5211dfff);
    WORDS(".worker\nget $a1, $FP_CLR\nuget $a1, 1\nput $FP_CLR, $a1\nuput $FP_CLR, $a1\nget $m1, "
          "$WSR\nstrap\n"
          "f16v4sisov2amp $a0:1, $a2:3, $a4:5, TAMP_F16V4_E4_P1\n",
          0x51010801, 0x51010801, 0x51108001, 0x51108001, 0x41010001, 0x43f080ff, 0x5b402701);
}

static void operands(void)
{
    /* omitted delta; omitted base of a stepping form; register offsets; suffixes */
    WORDS(".worker\nld32 $m0, $m1, 4\nld32 $m0, $m1, $mzero, 4\nld64step $a0:1, $m2+=, 1\nld64step "
          "$a0:1, $mzero, $m2+=, 1\n"
          "st64 $a6:7, $m1, 3\nld32 $a0, $m1, $m2\n",
          0x0110f004, 0x0110f004, 0x1ef02201, 0x1ef02201, 0x5f10f063, 0x4d12f800);
    WORDS(".worker\nf16v2add $a0, $a1:BL, $a2\nf32v2mul $a0:1, $a1:B, $a2:3\nldd16a32 $a0, $m1++, "
          "$m2, $m3@\n"
          "ldb16b16 $a0:1, $m1, $m2++, $m3>>\ntapack $m2:3, $m4, $m5, $m6\nld2x64pace $a0:1, "
          "$a2:3, $m4:5+=, $m6, 0b1001\n",
          0x58182001, 0x58182303, 0x45231a00, 0x45123900, 0x4d465021, 0x46604029);
    /* field placements by hand from the patterns of the table */
    WORDS(".supervisor\nrunall $m1, $m2, 0\n.worker\nexitz $mzero\nf32int $a1, $a2, "
          "TROUND_ZERO\nld128 $aq1, $m2, $m3, 1\nor_mmmn_iz $m1, $m2, 0\n",
          0x15102000, 0x43f04000, 0x51210003, 0x0b243001, 0x4221c000);
}

static void expressions(void)
{
    WORDS(".long 1+2*3, (1+2)*3, 0x10|0b11, ~0 & 0xff, 7 % 4, 1 << 20, 256 >> 4, -5 / 2, 3 == 3, "
          "OUTSIDE * 2\n",
          7, 9, 0x13, 0xff, 3, 1u << 20, 16, 0xfffffffe, 1, 14);
    WORDS(".short 1.0h, -1.0h, infh, -infh\n.half 1.0h, 0x3c00, 1.0, -2.5, 65504, 1e-7\n.byte "
          "1,2,3,4\n.float 1.0, -2, 0.5\n",
          0xbc003c00, 0xfc007c00, 0x3c003c00, 0xc1003c00, 0x0002ffe0, 0x04030201, 0x3f800000,
          0xc0000000, 0x3f000000);
    /* labels, numeric labels, differences, the location counter */
    WORDS(".worker\nstart:\n1: bri 1b\nbri 1f\n1: brnz $m0, end\nend: bri start\n.long end - "
          "start, . - start, end, after - end\nafter:\n",
          0x40813004, 0x40813006, 0x11013007, 0x40813004, 12, 20, 0x4c01c, 20);
    WORDS(".equ later, (e - b) / 4\n.set x, 5\n.long x, later\n.set x, 6\n.long x\ny = x + 1\nb: "
          ".long y, 0\ne:\n",
          5, 2, 6, 7, 0);
    WORDS(".worker\nsetzi $m0, table\nsetzi $m1, table + 4\nadd $m2, $m2, table_end - "
          "table\ntable: .long 1, 2\ntable_end:\n",
          0x1904c01c, 0x1914c020, 0x22220008, 1, 2);
}

static void directives(void)
{
    WORDS(".if OUTSIDE == 7\n.long 1\n.else\n.long 2\n.endif\n.ifdef NOTHING\n.long "
          "3\n.endif\n.ifndef NOTHING\n.long 4\n.endif\n"
          ".ifc a,a\n.long 5\n.elseif 1\n.long 6\n.endif\n.if 0\n{ rubbish\n.elseif 1\n.long "
          "8\n.else\n.long 9\n.endif\n",
          1, 4, 5, 8);
    WORDS(".macro twice a, b=3\n.long \\a, \\b\nl\\@: .long l\\@ - l0\n.endm\ntwice 1\ntwice 2, "
          "4\ntwice b=5, a=6\n",
          1, 3, 0, 2, 4, 12, 6, 5, 24);
    WORDS(".macro inner x\n.long \\x\\()0\n.endm\n.macro outer x\ninner \\x\ninner 2\n.endm\nouter "
          "1\n.purgem inner\n",
          10, 20);
    WORDS(".set n, 0\n.rept 3\n.long n\n.set n, n + 1\n.endr\n.rept 0\n.long 9\n.endr\n", 0, 1, 2);
    WORDS(".macro list first, rest:vararg\n.long \\first\n.ifnb \\rest\nlist "
          "\\rest\n.endif\n.endm\nlist 1, 2, 3\n",
          1, 2, 3);
    WORDS("// comment\n# comment\n/* long\ncomment */ .long 1 // end\n.long 2; .long 3\n.type "
          "f,@function\n.size f, .-f\n"
          ".section .rodata,\"a\",@progbits\n.long 4\n.text\n.globl f\nf:\n.space 4, "
          "0xff\n.data\n.byte 1\n.p2align 2\n",
          1, 2, 3, 0xffffffff, 4, 1);
    WORDS(".worker\nnop\n.byte 1\n.align 8\n.data\n.byte 1\n.align 4\n", 0x19e00000, 1, 1);
    WORDS(".worker\nfnop\n.balign 16\n.byte 5\n.align 4\n.align 8\n", 0x1ad00000, 0x19e00000,
          0x19e00000, 0x19e00000, 5, 0x19e00000);
}

/* Bundles and repeats start where they must; labels name the instruction behind the padding (2.3). */
static void alignment(void)
{
    WORDS(".worker\nnop\nl: { nop ; fnop }\nbri l\n", 0x19e00000, 0x19e00000, 0x99e00000,
          0x9ad00000, 0x40813006);
    WORDS(".worker\n{\nnop\nfnop\n}\n{ rpt $m0, (2f - 1f) / 8 - 1\n fnop }\n1: { nop ; fnop }\n{ "
          "nop ; fnop }\n2:\n",
          0x99e00000, 0x9ad00000, 0xc300a001, 0x9ad00000, 0x99e00000, 0x9ad00000, 0x99e00000,
          0x9ad00000);
    /* solo rpt at 4 (mod 8), else only when allowed */
    WORDS(".worker\nfnop\nrpt 10, 0\n{ nop ; fnop }\n", 0x1ad00000, 0x4000 << 16 | 10 << 8,
          0x99e00000, 0x9ad00000);
    /* a bundle stores the old value of a register that its aux half writes */
    WORDS(".worker\n.macro half\nst64step $a0:1, $mzero, $m0+=, 1\n.endm\n{ half ; f16v4add $a0:1, "
          "$a2:3, $a4:5 }\n",
          0xdcf10100, 0xd8204002);
    WORDS(".worker\n.allow_optimizations\n{ fnop ; nop }\n", 0x99e00000, 0x9ad00000);
}

/* What the mode directives let pass (2.1); words from the patterns of the table. */
static void modes(void)
{
    /* atom $m1, $a2 beside a write of $a2 (zero $a2 = or $a2, $azero, $azero) */
    WORDS(".worker\n.allow_invalid_bundles\n{ atom $m1, $a2 ; zero $a2 }\n", 0xdd010020,
          0xd8f0fe20);
    WORDS(".worker\n.warn_on_invalid_bundles\n{ atom $m1, $a2 ; zero $a2 }\n", 0xdd010020,
          0xd8f0fe20);
    check_error(
        ".worker\n.allow_invalid_bundles\n.error_on_invalid_bundles\n{ atom $m1, $a2 ; zero "
        "$a2 }\n",
        "t.s:4:19", "register");
    WORDS(".worker\n.allow_invalid_operands\nld2x64pace $a0:1, $a0:1, $m4:5+=, $m6, 0b1001\n",
          0x46604009);
    WORDS(".supervisor\n.allow_invalid_execution_mode\nexitz $mzero\n{ nop ; fnop }\nget $m0, "
          "$WSR\n.worker\nsync 3\n",
          0x43f04000, 0x19e00000, 0x99e00000, 0x9ad00000, 0x41000001, 0x41800003);
    check_error(
        ".allow_invalid_execution_mode\n.error_on_invalid_execution_mode\n.worker\nsync 3\n",
        "t.s:4:1", "does not exist in worker mode");
    WORDS(".worker\n.allow_invalid_repeat\nrpt 10, 0\nnop\n", 0x40000a00, 0x19e00000);
    /* { rpt ; fnop } becomes a solo rpt where that aligns the body, and only there */
    WORDS(".worker\n.allow_optimizations\nfnop\n{ rpt 10, 0 ; fnop }\n{ nop ; fnop }\n", 0x1ad00000,
          0x40000a00, 0x99e00000, 0x9ad00000);
    WORDS(".worker\n.allow_optimizations\n{ fnop ; rpt 10, 0 }\n{ nop ; fnop }\n", 0xc0000a00,
          0x9ad00000, 0x99e00000, 0x9ad00000);
    WORDS(".worker\nfnop\n{ rpt 10, 0 ; fnop }\n{ nop ; fnop }\n", 0x1ad00000, 0x19e00000,
          0xc0000a00, 0x9ad00000, 0x99e00000, 0x9ad00000);
}

/* Symbols with modifiers, and what relocations make of them (3); the text lies at 0x4c010. */
static void modifiers(void)
{
    WORDS(".supervisor\nl: delaypic 1, 0, l@abs18@s2\nbri l@abs19@s2 + 4\ncall $lr, l\nrun $m1, "
          "$m2, l\nsetzi $m3, l\n"
          ".short l@relative@16@s2, l@relative@16@s4\n.reloc 24, 21, l + 1\n.long 0xffe00000\n",
          0x60080000 | 0x4c010 >> 2, 0x40800000 | 0x4c014 >> 2, 0x18a00000 | 0x4c010 >> 2,
          0x14102004, 0x19300000 | 0x4c010, 0x00010004, 0xffe00000 | 0x4c011);
    /* the same of numbers */
    WORDS(".supervisor\n.set x, 0x5a5a8\ndelaypic 1, 0, x@abs18@s2\n.short x@relative@16@s3, "
          "0\n.long x@abs18@s2\nbri x@abs19@s2\n",
          0x6009696a, 0x0e5a8 >> 3, 0x1696a, 0x4081696a);
    check_error(".set x, 6\n.long x@abs18@s2\n", "t.s:2:1", "multiple of 4");
    check_error(".long x@abs18\n", "t.s:1:8", "@abs18@s2");
    check_error("l: .short l@abs18@s2\n", "t.s:1:1", "4 bytes");
    check_error("l: .long l@abs18@s2 * 2\n", "t.s:1:21", "modified symbol");
    check_error(".worker\nl: add $m0, $m0, l@abs18@s2\n", "t.s:2:18", "address l");
    check_error(".worker\nl: add $m0, $m0, l\n", "t.s:2:18", "address l");
    check_error(".long 0\n.reloc 1, 19_S2, x\n", "t.s:2:1", "offset of 4 bytes");
    check_error(".reloc 0, 19_S3, x\n", "t.s:1:11", "19_S2");
}

static void more_directives(void)
{
    WORDS(".irp x, 1, 2+1\n.long \\x\n.irp y, 5\n.long \\y\n.endr\n.endr\n", 1, 5, 3, 5);
    WORDS(".quad 0x1122334455667788, -1\n", 0x55667788, 0x11223344, 0xffffffff, 0xffffffff);
    WORDS(".data\n.long 1\n.p2align 4,,8\n.long 2\n.balign 16, 0xaa, 8\n.long 3\n", 1, 2,
          0xaaaaaaaa, 0xaaaaaaaa, 3);
    /* sections in order of first mention; one without "a" is not in the image */
    WORDS(".section .note, \"\", @progbits\n.long 9\n.data\n.long 1\n.section \".text.f\", "
          "\"ax\"\n.long "
          "2\n.section .bss\n.space 4\n.text\n.long bss\n.set bss, 4\n",
          4, 1, 2, 0);
    check_error(".section .bss\n.long 1\n", "t.s:2:1", "only zeros");
    check_error(".section .x, \"ay\"\n", "t.s:1:1", "flags of a, w and x");
    check_error(".section .x, \"a\"\n.section .x, \"w\"\n", "t.s:2:1", "flags that .x had");
    check_error(".error \"told so\"\n", "t.s:1:1", "told so");
    check_error(".type f, @table\n", "t.s:1:16", "@function");
    check_error("f: .size f, 0 - 1\n", "t.s:1:1", "number of bytes");
}

static void errors(void)
{
    check_error("nop\n", "t.s:1:1", ".worker or .supervisor");
    check_error(".worker\n  frobnicate $m0\n", "t.s:2:3", "'frobnicate'");
    check_error(".worker\nadd $m0, $m1, 70000\n", "t.s:2:15", "70000");
    check_error(".worker\nadd $m0, $a1, 7\n", "t.s:2:1",
                "expected (in worker mode) add $m, $m, $m");
    check_error(".worker\nsync 3\n", "t.s:2:1", "does not exist in worker mode");
    check_error(".supervisor\nrpt 3, 0\n", "t.s:2:1", "does not exist in supervisor mode");
    check_error(".supervisor\nput $WSR, $m0\n", "t.s:2:5",
                "$WSR does not exist in supervisor mode");
    check_error(".supervisor\n{ nop ; nop }\n", "t.s:2:1", "supervisor");
    check_error(".worker\n{ fnop ; nop }\n", "t.s:2:3", "main");
    check_error(".worker\n{ nop }\n", "t.s:2:7", "two instructions");
    check_error(".worker\n{ nop ; fnop ; fnop }\n", "t.s:2:16", "expected }");
    check_error(".worker\n{ nop ;\n", "t.s:2:1", "expected } to end");
    check_error(".worker\n{ ldconst $m0, 1 ; fnop }\n", "t.s:2:3", "ldconst");
    check_error(".worker\n{ ld32 $a0, $m1, 0 ; f32add $a0, $a1, $a2 }\n", "t.s:2:22", "register");
    check_error(".worker\n{ ld64 $a0:1, $m1, 0 ; f32add $a1, $a3, $a2 }\n", "t.s:2:24", "register");
    check_error(".worker\n{ exitz $m0 ; fnop }\n", "t.s:2:3", "bundle");
    check_error(".worker\nnop\nrpt 3, 1\n{ nop ; fnop }\nnop\nnop\n", "t.s:3:1", "2 bundles");
    check_error(".worker\nnop\nrpt 3, 0\n", "t.s:3:1", "beyond the end");
    check_error(".worker\nnop\nrpt 3, 0\n{ get $m0, $WSR ; fnop }\n", "t.s:3:1",
                "get is not allowed");
    check_error(".worker\nl: rpt 3, 0\n{ nop ; fnop }\n", "t.s:2:4",
                "behind rpt at a multiple of 8 bytes");
    check_error(".worker\n{ ld2x64pace $a0:1, $a0:1, $m4:5+=, $m6, 0 ; fnop }\n", "t.s:2:21",
                "two different destinations");
    check_error(".worker\nor64 $a0:2, $a0:1, $a0:1\n", "t.s:2:6", "pair");
    check_error(".worker\nor64 $a1:2, $a0:1, $a0:1\n", "t.s:2:6", "pair");
    check_error(".worker\nmov $m16, $m0\n", "t.s:2:5", "register or CSR");
    check_error(".worker\nbri 3f\n", "t.s:2:1", "label 3 is not defined");
    check_error(".worker\nbri .Lx\n", "t.s:2:1", "label .Lx is not defined");
    check_error(".worker\nbri 3b\n", "t.s:2:1", "label 3:");
    check_error(".worker\nbri somewhere\n", "t.s:2:1", "undefined");
    check_error("a:\n a:\n", "t.s:2:2", "line 1");
    check_error(".long 1 +\n", "t.s:1:10", "expected an expression");
    check_error(".long (1\n", "t.s:1:9", "expected )");
    check_error(".long 1/0\n", "t.s:1:8", "division by zero");
    check_error(".byte 256\n", "t.s:1:1", "256");
    check_error(".if 1\n", "t.s:2:1", ".endif");
    check_error(".endif\n", "t.s:1:1", "without .if");
    check_error(".macro m\n", "t.s:1:1", ".endm");
    check_error(".macro m a\n.endm\nm 1, 2\n", "t.s:3:6", "1 arguments");
    check_error(".macro m\n m\n.endm\nm\n", "t.s:2:2", "nested");
    check_error(".rept 10000000\n.endr\n", "t.s:2:1", "more than");
    check_error("\n  #if 0\n", "t.s:2:1", "preprocessor");
    check_error("/* no end\n", "t.s:1:1", "*/");
    check_error(".frobnicate\n", "t.s:1:1", "directive");
    check_error(".worker\n.byte 1\nnop\n", "t.s:3:1", "multiple of 4");
    check_error(".align 3\n", "t.s:1:1", "alignment");
    check_error(".include \"x\"\n", "t.s:1:1", "expected no .include here");
    check_error(".set a, b\n.set b, a\n.long a\n", "t.s:3:9", "defined by itself");
    check_error(".worker\nnop\nl:\n.set n, l - 0x10 - l\n{ nop ; fnop }\n", "t.s:5:14", "align");
    check_error(".supervisor\nnop\nsendpicp 0, 0, 0, 0, 0\n", "t.s:3:1", "multiple of 8");
    check_error(".worker\nnop nop\n", "t.s:2:1", "0 operands");
}

TEST_MAIN(published, aliases, operands, expressions, directives, more_directives, alignment, modes,
          modifiers, errors)
