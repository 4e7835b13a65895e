/* The file of flag values: what it may look like, what is refused and how, and the way back from a value to its meaning. */
#include "isa/isa.h"
#include "test.h"

static Arena keep, scratch;

static bool parse(const char *text, IsaFlags *out, int *ignored, Str *name, Error *err)
{
    *err = (Error){0};
    return isa_flags_parse(S("dir/values.h"), str_of(text), &keep, scratch, out, ignored, name,
                           err);
}

static void reads_a_header(void)
{
    static const char text[] = "/* TAMP_F16V4_E4_P0 9\n * comment */\n"
                               "#ifndef GUARD // TAMP_F16V4_E4_P0 10\n"
                               "#define GUARD\n"
                               "#include <stdint.h>\n"
                               "\n"
                               "#define TAMP_F16V4_E4_P0 0x20\r\n"
                               "# define\tTAMP_F16V4_E4_P1   (33u)  /* three */ // more\n"
                               "TAMP_F16V4_E4_P2 34\n"
                               "  TAMP_F16V4_E4_P3 = 35,\n"
                               "#define TMEM_ELEMSIZE 0x4000\n"
                               "#define LONG(a) \\\n"
                               "   ((a) + \\\n"
                               "    1)\n"
                               "#define TAMP_F64_E4_P0 1\n"
                               "TSLIC_OTHER = 3\n"
                               "OTHER_NAME 7\n"
                               "#define TROUND_ZERO 3\n"
                               "TGINA_SET1_EVEN /* in between */ 4\n"
                               "#define TGINA_SET1_ODD 5UL\n"
                               "#endif";
    IsaFlags flags;
    int ignored;
    Str name;
    Error err;
    CHECK_OK(parse(text, &flags, &ignored, &name, &err), err);
    CHECK_EQ_INT(ignored, 2);
    CHECK_STR(name, S("TAMP_F64_E4_P0"));
    CHECK_STR(flags.source, S("values.h"));
    for (uint32_t phase = 0; phase < 4; phase++) {
        CHECK_EQ_INT(flags.value[FLAG_ID_TAMP_F16V4_E4_P0 + phase], 0x20 + phase);
        CHECK(flags.is_given[FLAG_ID_TAMP_F16V4_E4_P0 + phase]);
    }
    CHECK_EQ_INT(flags.value[FLAG_ID_TGINA_SET1_EVEN], 4);
    CHECK_EQ_INT(flags.value[FLAG_ID_TGINA_SET1_ODD], 5);
    CHECK_EQ_INT(flags.value[FLAG_ID_TAMP_F8V8_E4_P3], FLAG_TAMP_F8V8_E4_P3);
    CHECK(!flags.is_given[FLAG_ID_TAMP_F8V8_E4_P3] && !flags.is_given[FLAG_ID_TROUND_ZERO]);
    CHECK(!isa_flags_verified(&flags) && !isa_flags_verified(NULL));
}

/* The symbols without documented values (decisions.md A9), all named: nothing unverified is left. */
static void completeness(void)
{
    Writer writer = writer_buffer(&keep);
    int count = 0;
    for (int id = 0; id < FLAG_ID_COUNT; id++) {
        const FlagSymbol *symbol = flag_symbol((FlagId)id);
        bool is_zone_or_mode =
            str_starts(symbol->name, S("TEXCH_")) || str_starts(symbol->name, S("TROUND_"));
        CHECK_EQ_INT(symbol->is_documented,
                     is_zone_or_mode || str_starts(symbol->name, S("TGINA_SET0_")));
        if (!symbol->is_documented) {
            write_fmt(&writer, "%.*s %u\n", STR_ARG(symbol->name), symbol->value);
            count++;
        }
    }
    CHECK(count > 2 * 12 + 24);
    write_str(&writer, (Str){"", 1});
    IsaFlags flags;
    int ignored;
    Str name;
    Error err;
    Str text = writer_text(&writer);
    CHECK_OK(parse(text.at, &flags, &ignored, &name, &err), err);
    CHECK(ignored == 0 && isa_flags_verified(&flags));
}

static void refuses(void)
{
    static const struct {
        const char *text, *where, *message;
    } cases[] = {
        {"", "dir/values.h", "names no symbol"},
        {"TROUND_ZERO 3\n", "dir/values.h", "names no symbol"},
        {"hello world\n", "dir/values.h:1", "expected NAME VALUE, found \"hello world\""},
        {"// x\n};\n", "dir/values.h:2", "expected NAME VALUE, found \"};\""},
        {"\x01\x02\xff\n", "dir/values.h:1", "found \"\\x01\\x02\\xff\""},
        {"TAMP_F16V4_E4_P0\n", "dir/values.h:1",
         "expected a number of 6 bits as value of TAMP_F16V4_E4_P0, found \"\""},
        {"TAMP_F16V4_E4_P0 64\n", "dir/values.h:1", "6 bits as value of TAMP_F16V4_E4_P0"},
        {"TAMP_F16V4_E4_P0 -1\n", "dir/values.h:1", "found \"-1\""},
        {"TAMP_F16V4_E4_P0 010\n", "dir/values.h:1", "found \"010\""},
        {"TAMP_F16V4_E4_P0 = 1 2\n", "dir/values.h:1", "found \"1 2\""},
        {"#define TAMP_F16V4_E4_P0 A | B\n", "dir/values.h:1", "found \"A | B\""},
        {"TSTACC_P0 256\n", "dir/values.h:1", "8 bits"},
        {"TGINA_SET1_ODD 4096\n", "dir/values.h:1", "12 bits"},
        {"TAMP_F16V4_E4_P0 0x10000000000000000\n", "dir/values.h:1", "expected a number"},
        {"TSTACC_P0 5\n\nTSTACC_P0 5\n", "dir/values.h:3",
         "TSTACC_P0 has a value already, in line 1"},
        {"TSTACC_P0 5\nTSTACC_P1 5\n", "dir/values.h", "TSTACC_P0 and TSTACC_P1 have the same"},
        {"TSTACC_P0 1\n", "dir/values.h",
         "TSTACC_P0 and TSTACC_P1 (ours: the file does not name it) have the same value 1"},
        {"TGINA_SET1_EVEN 1\n", "dir/values.h",
         "TGINA_SET0_ODD and TGINA_SET1_EVEN have the same value 1"},
        {"TSTACC_P0 9\nTROUND_ZERO 2\n", "dir/values.h", "TROUND_ZERO is documented as 3, not 2"},
        {"TSTACC_P0 9 /* open\n\n", "dir/values.h:1", "expected */"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        IsaFlags flags;
        int ignored;
        Str name;
        Error err;
        CHECK_ERROR(parse(cases[i].text, &flags, &ignored, &name, &err), err, ERROR_INPUT,
                    cases[i].message);
        CHECK_CSTR(err.where, cases[i].where);
    }
}

/* Random bytes and random lines made of the pieces of good ones: no crash, and what is accepted passes the check. */
static void survives_noise(void)
{
    static const char *const pieces[] = {"#define ",   "TAMP_F16V4_E4_P0",
                                         "TISTACC_P1", "TGINA_SET1_ODD",
                                         " ",          "=",
                                         "0x",         "63",
                                         "4",          ",",
                                         "\n",         "/*",
                                         "*/",         "//",
                                         "\\",         "(",
                                         ")",          "u"};
    uint64_t seed = test_seed(4711);
    int accepted = 0;
    for (uint64_t round = 0; round < 4000; round++) {
        char text[256];
        int len = 0, count = 1 + (int)random_below(seed, 64 * round, 14);
        for (int i = 0; i < count; i++) {
            uint64_t draw = random_below(seed, 64 * round + 1 + (uint64_t)i, 1 << 20);
            const char *piece = pieces[draw % (sizeof pieces / sizeof *pieces)];
            if (round % 4 == 0) {
                text[len++] = (char)draw;
            } else {
                len += snprintf(text + len, sizeof text - (size_t)len, "%s", piece);
            }
        }
        IsaFlags flags;
        int ignored;
        Str name;
        Error err = {0};
        Arena rest = scratch, own = arena_split(&rest, 1 << 16);
        bool ok = isa_flags_parse(S("noise"), (Str){text, len}, &own, rest, &flags, &ignored, &name,
                                  &err);
        CHECK(ok == (err.code == ERROR_NONE));
        if (ok) {
            CHECK_OK(isa_flags_check(&flags, &err), err);
            accepted++;
        } else {
            CHECK(err.code == ERROR_INPUT && err.message[0] != '\0');
        }
    }
    CHECK(accepted > 0);
}

static const InsnOperand *enumeration_of(InsnCode code)
{
    const InsnForm *form = isa_form(code);
    return &form->operand[form->operand_count - 1];
}

static void meanings(void)
{
    /* Reversed AMP values, set-1 chains moved: 63 - value keeps them apart and inside six bits. */
    IsaFlags flags = isa_flags_default();
    for (int id = 0; id < FLAG_ID_COUNT; id++) {
        if (str_starts(flag_symbol((FlagId)id)->name, S("TAMP_"))) {
            flags.value[id] = 63 - flags.value[id];
        }
    }
    flags.value[FLAG_ID_TGINA_SET1_EVEN] = 4;
    flags.value[FLAG_ID_TGINA_SET1_ODD] = 5;
    Error err = {0};
    CHECK_OK(isa_flags_check(&flags, &err), err);
    FlagFamily half = (FlagFamily)enumeration_of(INSN_f16v4hihov4amp_aaan_ef)->family;
    FlagFamily single = (FlagFamily)enumeration_of(INSN_f32sisoamp_aaan_ef)->family;
    FlagFamily gina = (FlagFamily)enumeration_of(INSN_f32v2gina_aaan_zi)->family;
    CHECK_EQ_INT(flag_canonical(&flags, half, 63 - FLAG_TAMP_F16V4_E2_P1), FLAG_TAMP_F16V4_E2_P1);
    CHECK_EQ_INT(flag_canonical(&flags, single, 63 - FLAG_TAMP_F32_E4_P7), FLAG_TAMP_F32_E4_P7);
    CHECK_EQ_INT(flag_canonical(&flags, gina, 5), FLAG_TGINA_SET1_ODD);
    CHECK_EQ_INT(flag_canonical(&flags, gina, 1), FLAG_TGINA_SET0_ODD);
    /* A value without symbol must not turn into one with a meaning: 2 and 3 were set 1, 0 was E4_P0. */
    CHECK(flag_of_value(NULL, gina, flag_canonical(&flags, gina, 2)) < 0);
    CHECK(flag_of_value(NULL, half, flag_canonical(&flags, half, 0)) < 0);
    CHECK_EQ_INT(flag_canonical(&flags, gina, 100), 100);
    CHECK_EQ_INT(flag_canonical(NULL, half, 0x3f), 0x3f);
    CHECK_EQ_INT(enumeration_of(INSN_f32sisoslic_aaan_ef)->family, FLAG_FAMILY_SLIC_F32);
    CHECK_EQ_INT(enumeration_of(INSN_ld2x64pace_mmbn_ef)->family, FLAG_FAMILY_NONE);
    CHECK_EQ_INT(flag_canonical(&flags, FLAG_FAMILY_NONE, 3), 3);
    /* Every family stands for values of its operands: no symbol is wider than the field. */
    for (int code = 1; code < INSN_COUNT; code++) {
        const InsnForm *form = isa_form((InsnCode)code);
        for (int o = 0; o < form->operand_count; o++) {
            for (int id = 0; id < FLAG_ID_COUNT && form->operand[o].family != 0; id++) {
                if (flag_symbol((FlagId)id)->family == form->operand[o].family) {
                    CHECK(flag_symbol((FlagId)id)->bits <= form->operand[o].bits);
                }
            }
        }
    }
    Insn insn = {.code = INSN_f16v4hihov4amp_aaan_ef,
                 .operand = {0, 2, 14, 63 - FLAG_TAMP_F16V4_E4_P2}};
    Writer writer = writer_buffer(&keep);
    isa_print(&writer, &insn, &flags);
    CHECK_STR(writer_text(&writer), S("f16v4hihov4amp $a0:1, $a2:3, $azeros, TAMP_F16V4_E4_P2"));
    writer = writer_buffer(&keep);
    isa_print(&writer, &insn, NULL);
    CHECK_STR(writer_text(&writer), S("f16v4hihov4amp $a0:1, $a2:3, $azeros, 61"));
}

/* isa/exchange.md 10.1, isa/semantics.md 10.2 and 10.3. */
static void names(void)
{
    CHECK_EQ_INT(FLAG_TEXCH_SYNCZONE_LOCAL, 2);
    CHECK_EQ_INT(flag_find(S("TEXCH_SYNCZONE_LOCAL")), FLAG_ID_TEXCH_SYNCZONE_LOCAL);
    CHECK_EQ_INT(FLAG_TAMP_F16V4_E4_P3, FLAG_TAMP_F8V8_E4_P3);
    CHECK_EQ_INT(FLAG_TAMP_F32_E1_P2 & 7, 2);
    CHECK_EQ_INT(flag_find(S("TAMP_NONE")), -1);
    Error err = {0};
    CHECK_OK(isa_flags_check(NULL, &err), err);
}

static void all(void)
{
    keep = arena_create(1 << 24);
    scratch = arena_create(1 << 24);
    reads_a_header();
    completeness();
    refuses();
    survives_noise();
    meanings();
    names();
    arena_destroy(&keep);
    arena_destroy(&scratch);
}

TEST_MAIN(all)
