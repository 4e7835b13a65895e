/* Every form: the table is the published one, no two forms overlap, encode and decode are inverse. */
#include "isa/isa.h"
#include "test.h"

static const char *const table_path = "docs/reference/isa/instructions.tsv";

typedef struct Row {
    const char *form, *mnemonic, *pattern, *operands, *field_map, *lane, *context, *flags;
    int may_coissue;
} Row;

#define LANE_MAIN "main"
#define LANE_AUX "aux"
#define CONTEXT_BOTH "both"
#define CONTEXT_WORKER "worker"
#define CONTEXT_SUPERVISOR "supervisor"
static const Row rows[] = {
    {0},
#define INSN(form, mnemonic, pattern, operands, field_map, lane, context, coissue, flags)          \
    {#form, #mnemonic, pattern, operands, field_map, lane, context, #flags, coissue},
#include "isa/isa.def"
#undef INSN
};
#undef LANE_MAIN
#undef LANE_AUX
#undef CONTEXT_BOTH
#undef CONTEXT_WORKER
#undef CONTEXT_SUPERVISOR

static bool has_flag(Str list, Str flag)
{
    while (list.len > 0) {
        if (str_equal(str_cut(&list, ','), flag)) {
            return true;
        }
    }
    return false;
}

/* Each row of the reference table is a row of ours, with the same columns. */
static void same_as_published(void)
{
    static const struct {
        const char *name;
        int bit;
    } flags[] = {{"control", INSN_CONTROL},
                 {"system", INSN_SYSTEM},
                 {"load", INSN_LOAD},
                 {"store", INSN_STORE},
                 {"undocumented", INSN_UNDOCUMENTED}};
    Arena arena = arena_create(16 << 20);
    Str text;
    Error err = {0};
    CHECK_OK(file_read(table_path, 1 << 20, &arena, &text, &err), err);
    str_cut(&text, '\n');
    int count = 0;
    while (text.len > 0) {
        Str line = str_cut(&text, '\n'), column[12];
        for (int i = 0; i < 12; i++) {
            column[i] = str_cut(&line, '\t');
        }
        int code = 1;
        while (code < INSN_COUNT && !str_equal(column[1], str_of(rows[code].form))) {
            code++;
        }
        CHECK(code < INSN_COUNT);
        CHECK_STR(column[0], str_of(rows[code].mnemonic));
        CHECK_STR(column[3], str_of(rows[code].operands));
        CHECK_STR(column[4], str_of(rows[code].lane));
        CHECK_STR(column[5], str_of(rows[code].context));
        CHECK_EQ_INT(str_equal(column[6], S("1")), rows[code].may_coissue);
        CHECK_STR(column[8], str_of(rows[code].pattern));
        CHECK_STR(str_equal(column[9], S("-")) ? S("") : column[9], str_of(rows[code].field_map));
        for (size_t f = 0; f < sizeof flags / sizeof *flags; f++) {
            bool is_set = isa_form((InsnCode)code)->flags & flags[f].bit;
            CHECK_EQ_INT(is_set, has_flag(column[7], str_of(flags[f].name)));
        }
        count++;
    }
    CHECK_EQ_INT(count, INSN_COUNT - 1);
    arena_destroy(&arena);
}

/* Rows of a mnemonic stand together and isa_forms_of finds all of them. */
static void grouped(void)
{
    for (int code = 1; code < INSN_COUNT; code++) {
        InsnCode first;
        int count = isa_forms_of(str_of(rows[code].mnemonic), &first);
        CHECK(code >= (int)first && code < (int)first + count);
    }
    InsnCode first;
    CHECK_EQ_INT(isa_forms_of(S("frobnicate"), &first), 0);
    CHECK_EQ_INT(isa_forms_of(S("ad"), &first), 0);
}

/* Two forms that share a context and could hold the same word must differ in a fixed bit of both patterns. The lanes are
 * compared too: a solo word does not say its lane. */
static void no_overlap(void)
{
    for (int a = 1; a < INSN_COUNT; a++) {
        for (int b = a + 1; b < INSN_COUNT; b++) {
            const InsnForm *x = isa_form((InsnCode)a), *y = isa_form((InsnCode)b);
            bool share = x->context == CONTEXT_BOTH || y->context == CONTEXT_BOTH ||
                         x->context == y->context;
            bool differ = false;
            for (int i = 0; i < 32 && !differ; i++) {
                char p = rows[a].pattern[i], q = rows[b].pattern[i];
                differ = (p == '0' && q == '1') || (p == '1' && q == '0');
                /* In supervisor mode bit 31 is 0 but in sendpicp. */
                differ = differ ||
                         (i == 0 && y->context == CONTEXT_SUPERVISOR && (p == '1') != (q == '1'));
                differ = differ ||
                         (i == 0 && x->context == CONTEXT_SUPERVISOR && (p == '1') != (q == '1'));
            }
            if (share && !differ) {
                fprintf(stderr, "%s and %s\n", rows[a].form, rows[b].form);
            }
            CHECK(!share || differ);
        }
    }
}

/* A random value that the operand can hold. */
static uint32_t random_operand(const InsnOperand *operand, uint64_t seed, uint64_t *next)
{
    uint32_t bits = (uint32_t)random_u64(seed, (*next)++);
    uint32_t low = operand->bits >= 32 ? bits : bits & ((1u << operand->bits) - 1);
    switch (operand->kind) {
    case OPERAND_MRP:
    case OPERAND_ARP:
        return low & ~1u;
    case OPERAND_ARQ:
        return low & ~3u;
    case OPERAND_SIMM:
        return (uint32_t)sign_extend(low, operand->bits);
    case OPERAND_IMMZ12:
        return low << 20;
    case OPERAND_CODE:
        return low << 2;
    case OPERAND_CCCS:
        return low & 63;
    default:
        return low;
    }
}

/* Field of a letter read off the pattern the slow way, for letters without a field map. */
static uint32_t slow_field(const char *pattern, char letter, const uint32_t word[2])
{
    uint32_t value = 0;
    for (int i = 0; pattern[i]; i++) {
        if (pattern[i] == letter) {
            int at = i > 32 ? i - 33 : i;
            value = value << 1 | (word[i > 32] >> (31 - at) & 1);
        }
    }
    return value;
}

static void round_trip(void)
{
    uint64_t seed = test_seed(20240229), next = 0;
    for (int code = 1; code < INSN_COUNT; code++) {
        const InsnForm *form = isa_form((InsnCode)code);
        CHECK_EQ_INT(form->may_coissue, rows[code].may_coissue);
        for (int i = 0; i < 200; i++) {
            uint32_t operand[INSN_OPERANDS_MAX] = {0}, word[2] = {0, 0}, again[2] = {0, 0};
            for (int o = 0; o < form->operand_count; o++) {
                operand[o] = random_operand(&form->operand[o], seed, &next);
            }
            bool is_coissued = form->may_coissue && form->context != CONTEXT_SUPERVISOR && i % 2;
            Error err = {0};
            CHECK_OK(isa_encode((InsnCode)code, operand, is_coissued, word, &err), err);
            for (int o = 0; o < form->operand_count; o++) {
                const InsnOperand *kind = &form->operand[o];
                if (!rows[code].field_map[0]) {
                    uint32_t field = slow_field(rows[code].pattern, kind->letter, word);
                    uint32_t expected = kind->kind == OPERAND_IMMZ12 ? operand[o] >> 20
                                        : kind->kind == OPERAND_CODE ? operand[o] >> 2
                                        : kind->bits < 32 ? operand[o] & ((1u << kind->bits) - 1)
                                                          : operand[o];
                    CHECK_EQ_INT(field, expected);
                }
            }
            InsnContext context =
                form->context == CONTEXT_SUPERVISOR ? CONTEXT_SUPERVISOR : CONTEXT_WORKER;
            Insn insn = isa_decode(word[0], word[1], form->lane, context);
            CHECK_EQ_INT(insn.code, code);
            CHECK_EQ_INT(insn.is_coissued, is_coissued);
            CHECK(memcmp(insn.operand, operand, sizeof operand) == 0);
            CHECK_OK(isa_encode((InsnCode)insn.code, insn.operand, insn.is_coissued, again, &err),
                     err);
            CHECK_EQ_INT(again[0], word[0]);
            CHECK_EQ_INT(again[1], word[1]);
            if (form->context == CONTEXT_WORKER || form->lane == LANE_AUX) {
                CHECK(isa_decode(word[0], word[1], form->lane, CONTEXT_SUPERVISOR).code != code);
            }
        }
    }
}

/* Decoding random words agrees with a search through all patterns. */
static void decode_all(void)
{
    uint64_t seed = test_seed(77), found = 0;
    for (uint64_t i = 0; i < 60000; i++) {
        uint32_t word = (uint32_t)random_u64(seed, i);
        if (i % 2) { /* close to a legal word: copy a pattern's fixed bits */
            const InsnForm *form = isa_form((InsnCode)(1 + i % (INSN_COUNT - 1)));
            word = (word & ~form->mask) | form->match;
        }
        for (int c = 0; c < 2; c++) {
            InsnContext context = c ? CONTEXT_SUPERVISOR : CONTEXT_WORKER;
            InsnLane lane = i / 2 % 2 ? LANE_AUX : LANE_MAIN;
            int expected = INSN_NONE;
            for (int code = 1; code < INSN_COUNT; code++) {
                bool fits = isa_form((InsnCode)code)->context == CONTEXT_BOTH ||
                            isa_form((InsnCode)code)->context == context;
                for (int b = 0; b < 32 && fits; b++) {
                    char p = rows[code].pattern[b];
                    fits = (p != '0' && p != '1') || (word >> (31 - b) & 1) == (uint32_t)(p - '0');
                }
                if (fits && rows[code].may_coissue && word >> 31) {
                    fits = context == CONTEXT_WORKER && isa_form((InsnCode)code)->lane == lane;
                }
                for (int o = 0; fits && o < isa_form((InsnCode)code)->operand_count; o++) {
                    const InsnOperand *operand = &isa_form((InsnCode)code)->operand[o];
                    uint32_t field =
                        slow_field(rows[code].pattern, operand->letter, (uint32_t[2]){word, 0});
                    bool is_pair = operand->kind == OPERAND_ARP || operand->kind == OPERAND_MRP;
                    fits =
                        !(is_pair && field % 2) && !(operand->kind == OPERAND_CCCS && field > 63);
                    if (operand->kind == OPERAND_ARQ) { /* the mapped field lacks its lowest bit */
                        fits = rows[code].field_map[0] ? field % 2 == 0 : field % 4 == 0;
                    }
                }
                expected = fits ? code : expected;
            }
            CHECK_EQ_INT(isa_decode(word, 0, lane, context).code, expected);
            found += expected != INSN_NONE;
        }
    }
    CHECK(found > 30000);
}

TEST_MAIN(same_as_published, grouped, no_overlap, round_trip, decode_all)
