/* Every word that no form's pattern matches is an illegal instruction, in each lane and context. The second witness is a
 * matcher of its own, made of the published table (isa/instructions.tsv) and the decoding rules of isa/assembler.md 1. */
#include "isa/isa.h"
#include "test.h"

enum { FORMS_MAX = 512, WORDS = 400000 };

typedef struct Field {
    uint32_t modulus; /* the operand is a multiple of it */
    uint32_t limit;   /* and below it */
    char letter;
    char map[64];
} Field;

typedef struct Form {
    char name[40], pattern[34];
    bool is_worker, is_supervisor, is_aux;
    Field field[8];
    int field_count;
    uint32_t mask, match;
} Form;

static Form forms[FORMS_MAX];
static int form_count;

static void read_operands(Str operands, Str maps, Form *form)
{
    while (operands.len > 0) {
        Str operand = str_cut(&operands, ' '), kind = str_slice(operand, 2, operand.len);
        Field *field = &form->field[form->field_count++];
        *field = (Field){1, UINT32_MAX, operand.at[0], ""};
        if (str_starts(kind, S("arp")) || str_starts(kind, S("mrp"))) {
            field->modulus = 2;
        } else if (str_starts(kind, S("arq"))) {
            field->modulus = 4;
        } else if (str_starts(kind, S("cccs"))) {
            field->limit = 64; /* isa/registers.md 4.5: index k = m + 4n of 64 weights */
        }
        for (Str rest = maps; rest.len > 0;) {
            Str map = str_cut(&rest, ';');
            if (map.at[0] == field->letter) {
                snprintf(field->map, sizeof field->map, "%.*s",
                         STR_ARG(str_slice(map, 2, map.len)));
            }
        }
    }
}

static void read_table(void)
{
    Arena arena = arena_create(16 << 20);
    Str text;
    Error err = {0};
    CHECK_OK(file_read("docs/reference/isa/instructions.tsv", 1 << 20, &arena, &text, &err), err);
    str_cut(&text, '\n');
    while (text.len > 0) {
        Str line = str_cut(&text, '\n'), column[12];
        for (int i = 0; i < 12; i++) {
            column[i] = str_cut(&line, '\t');
        }
        CHECK(form_count < FORMS_MAX);
        Form *form = &forms[form_count++];
        snprintf(form->name, sizeof form->name, "%.*s", STR_ARG(column[1]));
        snprintf(form->pattern, 33, "%.*s", STR_ARG(column[8]));
        form->is_aux = str_equal(column[4], S("aux"));
        form->is_worker = !str_equal(column[5], S("supervisor"));
        form->is_supervisor = !str_equal(column[5], S("worker"));
        read_operands(column[3], str_equal(column[9], S("-")) ? (Str){0} : column[9], form);
        for (int i = 0; i < 32; i++) {
            uint32_t bit = 1u << (31 - i);
            form->mask |= form->pattern[i] == '0' || form->pattern[i] == '1' ? bit : 0;
            form->match |= form->pattern[i] == '1' ? bit : 0;
        }
    }
    CHECK_EQ_INT(form_count, INSN_COUNT - 1);
    arena_destroy(&arena);
}

/* The operand in the word: its pattern letters from the left, or by its map "[19:17]=op[3:1],...". */
static uint32_t operand_of(const Form *form, const Field *field, uint32_t word)
{
    uint32_t value = 0;
    int hi, lo, op_hi, op_lo, used;
    const char *map = field->map;
    while (sscanf(map, "[%d:%d]=op[%d:%d]%n", &hi, &lo, &op_hi, &op_lo, &used) == 4) {
        value |= (word >> lo & ((1u << (hi - lo + 1)) - 1)) << op_lo;
        map += used + (map[used] == ',');
    }
    for (int i = 0; i < 32 && map == field->map; i++) {
        if (form->pattern[i] == field->letter) {
            value = value << 1 | (word >> (31 - i) & 1);
        }
    }
    return value;
}

/* Index of the form that the word is, or -1. `is_second` is the place in a bundle, where bit 31 is set. */
static int form_of(uint32_t word, bool is_worker, bool is_second)
{
    for (int f = 0; f < form_count; f++) {
        const Form *form = &forms[f];
        if ((word & form->mask) != form->match ||
            !(is_worker ? form->is_worker : form->is_supervisor)) {
            continue;
        }
        /* A coissue bit that is set makes it half of a bundle: workers only, main first, aux second. */
        if (form->pattern[0] == 'c' && word >> 31 && (!is_worker || form->is_aux != is_second)) {
            continue;
        }
        bool is_reserved = false;
        for (int i = 0; i < form->field_count; i++) {
            uint32_t value = operand_of(form, &form->field[i], word);
            is_reserved =
                is_reserved || value % form->field[i].modulus != 0 || value >= form->field[i].limit;
        }
        if (!is_reserved) {
            return f;
        }
    }
    return -1;
}

static void words(void)
{
    uint64_t seed = test_seed(1729);
    int64_t illegal = 0, legal = 0;
    read_table();
    for (uint64_t i = 0; i < WORDS; i++) {
        uint32_t word = (uint32_t)random_u64(seed, 2 * i);
        uint32_t random = (uint32_t)random_u64(seed, 2 * i + 1);
        if (i % 2) { /* close to a legal one: a pattern with one fixed bit wrong, or none */
            const Form *form = &forms[random % (uint32_t)form_count];
            word = (word & ~form->mask) | form->match;
            word ^= random >> 16 & 1 ? 1u << (random >> 20 & 31) : 0;
        }
        for (int c = 0; c < 4; c++) {
            bool is_worker = c & 1, is_second = c & 2;
            Insn insn = isa_decode(word, random, is_second ? LANE_AUX : LANE_MAIN,
                                   is_worker ? CONTEXT_WORKER : CONTEXT_SUPERVISOR);
            int expected = form_of(word, is_worker, is_second);
            const char *name =
                insn.code == INSN_NONE ? "illegal" : isa_form((InsnCode)insn.code)->form;
            const char *expected_name = expected < 0 ? "illegal" : forms[expected].name;
            if (strcmp(name, expected_name) != 0) {
                fprintf(stderr, "word 0x%08x, context %d, lane %d\n", word, is_worker, is_second);
            }
            CHECK_CSTR(name, expected_name);
            illegal += expected < 0;
            legal += expected >= 0;
        }
    }
    CHECK(illegal > WORDS && legal > WORDS / 8);
}

TEST_MAIN(words)
