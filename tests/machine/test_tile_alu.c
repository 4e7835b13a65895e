/* Every integer and logic form of both lanes on pairs of awkward numbers, as worker and as supervisor, against formulas
 * (isa/semantics.md 2, 2.1, 5); shifts by 32 and more as assumed (docs/machine.md). */
#include "probe.h"

typedef uint32_t Formula(uint32_t a, uint32_t b);

#define FORMULA(name, expression)                                                                  \
    static uint32_t name(uint32_t a, uint32_t b)                                                   \
    {                                                                                              \
        (void)a, (void)b;                                                                          \
        return (uint32_t)(expression);                                                             \
    }

static uint32_t byte(uint32_t word, int i)
{
    return word >> (8 * i) & 0xff;
}

/* Least significant first. */
static uint32_t bytes(uint32_t b0, uint32_t b1, uint32_t b2, uint32_t b3)
{
    return b0 | b1 << 8 | b2 << 16 | b3 << 24;
}

static uint32_t leading_zeros(uint32_t v)
{
    uint32_t n = 0;
    for (; n < 32 && !(v >> (31 - n) & 1); n++) {
    }
    return n;
}

static uint32_t sign_copies(uint32_t v)
{
    uint32_t n = 0;
    for (; n < 31 && (v >> (30 - n) & 1) == v >> 31; n++) {
    }
    return n;
}

static uint32_t ones(uint32_t v)
{
    uint32_t n = 0;
    for (int i = 0; i < 32; i++) {
        n += v >> i & 1;
    }
    return n;
}

static uint32_t reversed(uint32_t v)
{
    uint32_t result = 0;
    for (int i = 0; i < 32; i++) {
        result |= (v >> i & 1) << (i / 8 * 8 + 7 - i % 8);
    }
    return result;
}

static uint32_t arithmetic(uint32_t v, uint32_t n)
{
    uint32_t fill = v >> 31 ? 0xffffffff : 0;
    return n >= 32 ? fill : n == 0 ? v : v >> n | fill << (32 - n);
}

FORMULA(f_add, a + b)
FORMULA(f_sub, a - b)
FORMULA(f_reverse_sub, b - a) /* sub d, imm, a */
FORMULA(f_mul, (uint64_t)a *b)
FORMULA(f_and, a &b)
FORMULA(f_andc, a & ~b)
FORMULA(f_or, a | b)
FORMULA(f_xor, a ^ b)
FORMULA(f_xnor, ~(a ^ b))
FORMULA(f_not, ~a)
FORMULA(f_shl, b >= 32 ? 0 : a << b)
FORMULA(f_shr, b >= 32 ? 0 : a >> b)
FORMULA(f_shrs, arithmetic(a, b))
FORMULA(f_cmpeq, a == b)
FORMULA(f_cmpne, a != b)
FORMULA(f_cmpslt, (a ^ 0x80000000) < (b ^ 0x80000000))
FORMULA(f_cmpult, a < b)
FORMULA(f_max, f_cmpslt(a, b) ? b : a)
FORMULA(f_min, f_cmpslt(a, b) ? a : b)
FORMULA(f_abs, a >> 31 ? 0 - a : a)
FORMULA(f_clz, leading_zeros(a))
FORMULA(f_cms, sign_copies(a))
FORMULA(f_popc, ones(a))
FORMULA(f_bitrev8, reversed(a))
FORMULA(f_roll16, a >> 16 | b << 16)
FORMULA(f_roll8r, bytes(byte(a, 1), byte(a, 2), byte(a, 3), byte(b, 0)))
FORMULA(f_roll8l, bytes(byte(b, 3), byte(a, 0), byte(a, 1), byte(a, 2)))
FORMULA(f_sort4x16lo, (a & 0xffff) | b << 16)
FORMULA(f_sort4x16hi, a >> 16 | (b & 0xffff0000))
FORMULA(f_sort4x16hi_bl, (a & 0xffff) | (b & 0xffff0000))
FORMULA(f_sort4x16lo_bu, a >> 16 | b << 16)
FORMULA(f_sort8, bytes(byte(a, 0), byte(a, 2), byte(a, 1), byte(a, 3)))
FORMULA(f_sort8x8lo, bytes(byte(a, 0), byte(a, 2), byte(b, 0), byte(b, 2)))
FORMULA(f_sort8x8hi, bytes(byte(a, 1), byte(a, 3), byte(b, 1), byte(b, 3)))
FORMULA(f_shuf8x8lo, bytes(byte(a, 0), byte(b, 0), byte(a, 1), byte(b, 1)))
FORMULA(f_shuf8x8hi, bytes(byte(a, 2), byte(b, 2), byte(a, 3), byte(b, 3)))
FORMULA(f_swap8, bytes(byte(a, 1), byte(a, 0), byte(a, 3), byte(a, 2)))
FORMULA(f_movz, b != 0 ? a : 9)

/* Operands of text: the result, the sources. */
typedef struct Form {
    const char *text;
    Formula *formula;
    bool is_main, is_aux;
} Form;

static const Form forms[] = {
    {"add %s, %s, %s", f_add, true, false},
    {"sub %s, %s, %s", f_sub, true, false},
    {"mul %s, %s, %s", f_mul, true, false},
    {"and %s, %s, %s", f_and, true, true},
    {"andc %s, %s, %s", f_andc, true, true},
    {"or %s, %s, %s", f_or, true, true},
    {"xor %s, %s, %s", f_xor, true, false},
    {"xnor %s, %s, %s", f_xnor, true, false},
    {"not %s, %s", f_not, false, true},
    {"shl %s, %s, %s", f_shl, true, false},
    {"shr %s, %s, %s", f_shr, true, false},
    {"shrs %s, %s, %s", f_shrs, true, false},
    {"cmpeq %s, %s, %s", f_cmpeq, true, false},
    {"cmpne %s, %s, %s", f_cmpne, true, false},
    {"cmpslt %s, %s, %s", f_cmpslt, true, false},
    {"cmpult %s, %s, %s", f_cmpult, true, false},
    {"max %s, %s, %s", f_max, true, false},
    {"min %s, %s, %s", f_min, true, false},
    {"abs %s, %s", f_abs, true, false},
    {"clz %s, %s", f_clz, true, false},
    {"cms %s, %s", f_cms, true, false},
    {"popc %s, %s", f_popc, true, false},
    {"bitrev8 %s, %s", f_bitrev8, true, false},
    {"roll16 %s, %s, %s", f_roll16, true, true},
    {"roll8r %s, %s, %s", f_roll8r, true, true},
    {"roll8l %s, %s, %s", f_roll8l, true, true},
    {"sort4x16lo %s, %s, %s", f_sort4x16lo, true, true},
    {"sort4x16hi %s, %s, %s", f_sort4x16hi, true, true},
    {"sort4x16hi %s, %s:BL, %s", f_sort4x16hi_bl, false, true},
    {"sort4x16lo %s, %s:BU, %s", f_sort4x16lo_bu, false, true},
    {"sort8 %s, %s", f_sort8, true, true},
    {"sort8x8lo %s, %s, %s", f_sort8x8lo, true, true},
    {"sort8x8hi %s, %s, %s", f_sort8x8hi, true, true},
    {"shuf8x8lo %s, %s, %s", f_shuf8x8lo, true, true},
    {"shuf8x8hi %s, %s, %s", f_shuf8x8hi, true, true},
    {"swap8 %s, %s", f_swap8, true, true},
    {"movz %s, %s, %s", f_movz, true, false}, /* 9 before */
};

static const uint32_t numbers[] = {
    0,          1,          2,          31,         32,         33,         0x7fff,     0x8000,
    0xffff,     0x10000,    0x7fffffff, 0x80000000, 0x80000001, 0xffffffff, 0xfffffffe, 0xffff8000,
    0x04030201, 0xf8a7c6e5, 0x12345678, 0xcafef00d, 30,         0x00ff00ff};
enum { NUMBERS = sizeof numbers / sizeof *numbers, PAIRS = NUMBERS * NUMBERS };

typedef enum Where { WORKER, SUPERVISOR, AUX } Where;

static Probe open_with_pairs(void)
{
    static uint32_t words[2 * PAIRS];
    for (int k = 0; k < PAIRS; k++) {
        words[2 * k] = numbers[k / NUMBERS];
        words[2 * k + 1] = numbers[k % NUMBERS];
    }
    Probe probe = probe_assume(); /* shifts by 32 and more */
    rig_words(probe.rig, RIG_DATA, words, 2 * PAIRS);
    return probe;
}

static void check_results(Probe *probe, Where where, const char *text, Formula *formula,
                          bool is_immediate, uint32_t immediate)
{
    for (int k = 0; k < PAIRS; k++) {
        uint32_t a = numbers[k / NUMBERS], b = is_immediate ? immediate : numbers[k % NUMBERS];
        uint32_t seen = probe_word(probe, k), expected = formula(a, b);
        if (seen != expected || probe_is_poison(probe, k)) {
            fprintf(stderr, "%s (%s) of 0x%x and 0x%x: 0x%x, expected 0x%x\n", text,
                    where == WORKER       ? "worker"
                    : where == SUPERVISOR ? "supervisor"
                                          : "aux",
                    a, b, seen, expected);
            exit(1);
        }
    }
}

/* The instruction in a loop over all pairs. */
static void run_text(Where where, const char *text, Formula *formula, bool is_immediate,
                     uint32_t immediate)
{
    Probe probe = open_with_pairs();
    const char *loop = where == AUX ? "1: ld64step $a0:1, $mzero, $m0+=, 1\n%s\n"
                                      "st32step $a2, $mzero, $m7+=, 1\nbrnzdec $m5, 1b"
                                    : "1: ld32step $m3, $mzero, $m0+=, 1\n"
                                      "ld32step $m4, $mzero, $m0+=, 1\n%s\n"
                                      "st32step $m2, $mzero, $m7+=, 1\nbrnzdec $m5, 1b";
    Str body = str_format(&probe.rig->arena, loop, text);
    if (where == SUPERVISOR) {
        probe_tell(&probe, "setzi $m0, 0x58000\nsetzi $m7, 0x90000\nsetzi $m5, %d\n%.*s", PAIRS - 1,
                   STR_ARG(body));
    } else {
        probe_say(&probe, "setzi $m5, %d\n%.*s", PAIRS - 1, STR_ARG(body));
    }
    probe_run(&probe);
    check_results(&probe, where, text, formula, is_immediate, immediate);
    probe_close(&probe);
}

/* The destination apart (0) or one of the sources (1, 2). */
static void run_form(const Form *form, Where where, int aliasing)
{
    static const char *const main[] = {"$m2", "$m3", "$m4"}, *const aux[] = {"$a2", "$a0", "$a1"};
    const char *const *r = where == AUX ? aux : main;
    char text[256], whole[512];
    const char *to = r[aliasing];
    bool is_movz = form->formula == f_movz;
    if (is_movz && aliasing != 0) {
        return; /* its destination is a source as well */
    }
    if (is_movz) {
        snprintf(text, sizeof text, "setzi %s, 9\nmovz %s, %s, %s", to, to, r[1], r[2]);
    } else {
        snprintf(text, sizeof text, form->text, to, r[1], r[2]);
    }
    if (aliasing == 0) {
        snprintf(whole, sizeof whole, "%s", text);
    } else if (where == AUX) {
        snprintf(whole, sizeof whole, "%s\nor %s, %s, %s", text, r[0], to, to);
    } else {
        snprintf(whole, sizeof whole, "%s\nadd %s, %s, 0", text, r[0], to);
    }
    run_text(where, whole, form->formula, false, 0);
}

static void every_form(void)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        for (int aliasing = 0; aliasing < 3; aliasing++) {
            if (forms[i].is_main) {
                run_form(&forms[i], WORKER, aliasing);
                run_form(&forms[i], SUPERVISOR, aliasing);
            }
            if (forms[i].is_aux) {
                run_form(&forms[i], AUX, aliasing);
            }
        }
    }
}

typedef struct Immediate {
    InsnCode code;
    Formula *formula;
    Where where;        /* WORKER: supervisor as well */
    bool is_first;      /* sub d, imm, a */
    uint32_t values[6]; /* as operands: sign-extended or shifted up */
} Immediate;

#define Z16                                                                                        \
    {                                                                                              \
        0, 1, 0x7fff, 0x8000, 0xfffe, 0xffff                                                       \
    }
#define S16                                                                                        \
    {                                                                                              \
        0, 1, 0x7fff, 0xffff8000, 0xfffffffe, 0xffffffff                                           \
    }
#define Z12                                                                                        \
    {                                                                                              \
        0, 1, 0x7ff, 0x800, 0xffe, 0xfff                                                           \
    }
#define T12                                                                                        \
    {                                                                                              \
        0, 0x00100000, 0x7ff00000, 0x80000000, 0xfff00000, 0x5a500000                              \
    }
#define SHIFTS                                                                                     \
    {                                                                                              \
        0, 1, 15, 31, 32, 0xfff                                                                    \
    }

static const Immediate immediates[] = {
    {INSN_add_mmmn_zi, f_add, WORKER, false, Z16},
    {INSN_add_mmmn_si, f_add, WORKER, false, S16},
    {INSN_sub_mmmn_zi, f_reverse_sub, WORKER, true, Z16},
    {INSN_sub_mmmn_si, f_reverse_sub, WORKER, true, S16},
    {INSN_mul_mmmn_si, f_mul, WORKER, false, S16},
    {INSN_and_mmmn_zi, f_and, WORKER, false, Z12},
    {INSN_andc_mmmn_zi, f_andc, WORKER, false, Z12},
    {INSN_or_mmmn_zi, f_or, WORKER, false, Z12},
    {INSN_or_mmmn_iz, f_or, WORKER, false, T12},
    {INSN_shl_mmmn_zi, f_shl, WORKER, false, SHIFTS},
    {INSN_shr_mmmn_zi, f_shr, WORKER, false, SHIFTS},
    {INSN_shrs_mmmn_zi, f_shrs, WORKER, false, SHIFTS},
    {INSN_cmpeq_mmmn_zi, f_cmpeq, WORKER, false, Z16},
    {INSN_cmpeq_mmmn_si, f_cmpeq, WORKER, false, S16},
    {INSN_cmpslt_mmmn_si, f_cmpslt, WORKER, false, S16},
    {INSN_cmpult_mmmn_zi, f_cmpult, WORKER, false, Z16},
    {INSN_max_mmmn_zi, f_max, WORKER, false, Z16},
    {INSN_max_mmmn_si, f_max, WORKER, false, S16},
    {INSN_min_mmmn_zi, f_min, WORKER, false, Z16},
    {INSN_min_mmmn_si, f_min, WORKER, false, S16},
    {INSN_and_aaan_zi, f_and, AUX, false, Z12},
    {INSN_and_aaan_iz, f_and, AUX, false, T12},
    {INSN_andc_aaan_zi, f_andc, AUX, false, Z12},
    {INSN_andc_aaan_iz, f_andc, AUX, false, T12},
    {INSN_or_aaan_zi, f_or, AUX, false, Z12},
    {INSN_or_aaan_iz, f_or, AUX, false, T12},
};

static void every_immediate(void)
{
    for (size_t i = 0; i < sizeof immediates / sizeof *immediates; i++) {
        const Immediate *m = &immediates[i];
        for (int k = 0; k < 6; k++) {
            char text[64];
            uint32_t to = 2, from = m->where == AUX ? 0 : 3, v = m->values[k];
            uint32_t word =
                m->is_first ? isa_word(m->code, to, v, from, 0) : isa_word(m->code, to, from, v, 0);
            snprintf(text, sizeof text, ".long 0x%08x", word);
            run_text(m->where, text, m->formula, true, v);
            if (m->where == WORKER) {
                run_text(SUPERVISOR, text, m->formula, true, v);
            }
        }
    }
}

/* 64-bit logic and the permutations of pairs; atom; setzi; every destination may be a source. */
static void pairs(void)
{
    static const char *const to[] = {"$a4:5", "$a0:1", "$a2:3"};
    static const uint32_t a[2] = {0xf0f01234, 0x89abcdef}, b[2] = {0x0ff0ffff, 0x13579bdf};
    static const char *const names[] = {"and64",  "andc64",     "or64",       "not64",
                                        "roll32", "sort4x32lo", "sort4x32hi", "mov"};
    const uint32_t expected[8][2] = {{a[0] & b[0], a[1] & b[1]},
                                     {a[0] & ~b[0], a[1] & ~b[1]},
                                     {a[0] | b[0], a[1] | b[1]},
                                     {~a[0], ~a[1]},
                                     {a[1], b[0]},
                                     {a[0], b[0]},
                                     {a[1], b[1]},
                                     {a[0], a[1]}};
    for (int i = 0; i < 8; i++) {
        for (int k = 0; k < 3; k++) {
            Probe probe = probe_open();
            for (int r = 0; r < 4; r++) {
                char name[4] = {'$', 'a', (char)('0' + r), 0};
                probe_set(&probe, name, r < 2 ? a[r] : b[r - 2]);
            }
            probe_say(&probe, "%s %s, $a0:1%s", names[i], to[k], i == 3 || i == 7 ? "" : ", $a2:3");
            probe_store(&probe, to[k]);
            probe_say(&probe, "atom $m2, $a6\nsetzi $a6, 0xfffff\natom $m2, $a6");
            probe_store(&probe, "$m2");
            probe_run(&probe);
            CHECK_EQ_INT(probe_word(&probe, 0), expected[i][0]);
            CHECK_EQ_INT(probe_word(&probe, 1), expected[i][1]);
            CHECK_EQ_INT(probe_word(&probe, 2), 0xfffff);
            probe_close(&probe);
        }
    }
}

TEST_MAIN(every_form, every_immediate, pairs)
