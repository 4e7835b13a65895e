/* Prints docs/isa-coverage.md: one line an instruction form. Usage: isa_coverage FILE, FILE as tests/machine/forms.h writes it.
 *
 * "Executed" is asked of the machine: the form runs on a tile of its own with a few register contents and immediates. Only when
 * every try ends in an UNMODELLED or UNKNOWN fault the form counts as not executed, and that fault is named.
 */
#include "machine/tile_rig.h"

typedef struct Confidence {
    const char *section, *marks, *mnemonics;
} Confidence;

static const Confidence confidences[] = {
#define CONFIDENCE(section, marks, mnemonics) {section, marks, mnemonics},
#include "isa/confidence.def"
#undef CONFIDENCE
};

/* The row of a mnemonic, which must be exactly one. */
static const Confidence *confidence_of(const char *mnemonic)
{
    const Confidence *found = NULL;
    for (size_t i = 0; i < sizeof confidences / sizeof *confidences; i++) {
        for (Str rest = str_of(confidences[i].mnemonics); rest.len > 0;) {
            if (str_equal(str_cut(&rest, ' '), str_of(mnemonic))) {
                CHECK(found == NULL);
                found = &confidences[i];
            }
        }
    }
    if (found == NULL) {
        fprintf(stderr, "src/isa/confidence.def does not name %s\n", mnemonic);
        exit(1);
    }
    return found;
}

/* Every name of the table must be an instruction. */
static void check_names(void)
{
    for (size_t i = 0; i < sizeof confidences / sizeof *confidences; i++) {
        for (Str rest = str_of(confidences[i].mnemonics); rest.len > 0;) {
            InsnCode first;
            Str name = str_cut(&rest, ' ');
            if (isa_forms_of(name, &first) == 0) {
                fprintf(stderr, "src/isa/confidence.def: no instruction %.*s\n", STR_ARG(name));
                exit(1);
            }
        }
    }
}

/* --- executed ----------------------------------------------------------------------------------------------------- */

typedef struct Try {
    uint32_t main, aux, immediate;
} Try;

/* Main registers hold `main`, `main` + 32 KiB ... (0: zeros); aux registers ones, and numbers whose class is known (-0, NaN). */
static const Try tries[] = {
    {RIG_DATA, 0x3c003c00, 0},
    {RIG_WIDE, 0x3c003c00, 1},
    {0, 0x3c003c00, 0},
    {0, 0x3c003c00, 1},
    {0, 0, 0},
    {RIG_DATA, 0x80000000, 0},
    {RIG_DATA, 0x80008000, 0},
    {RIG_DATA, 0x80808080, 0},
};

/* Distinct registers, the immediate where there is one. */
static void fill_operands(const InsnForm *form, const Try *try, uint32_t operand[INSN_OPERANDS_MAX])
{
    uint32_t next_main = 0, next_aux = 0;
    for (int i = 0; i < form->operand_count; i++) {
        uint32_t *next = &next_aux, count = 1;
        switch (form->operand[i].kind) {
        case OPERAND_MRP:
            count = 2;
            next = &next_main;
            break;
        case OPERAND_MR:
            next = &next_main;
            break;
        case OPERAND_ARQ:
            count = 4;
            break;
        case OPERAND_ARP:
            count = 2;
            break;
        case OPERAND_AR:
            break;
        case OPERAND_CODE:
            operand[i] = RIG_WORKER;
            continue;
        default:
            operand[i] = form->operand[i].kind == OPERAND_IMMZ12 ? 0 : try->immediate;
            continue;
        }
        operand[i] = ((*next + count - 1) & ~(count - 1)) % 8;
        *next = operand[i] + count;
    }
}

/* The fault that the form ends in, with its category; FAULT_NONE when there is none. */
static Fault run_try(InsnCode code, const Try *try)
{
    const InsnForm *form = isa_form(code);
    bool is_supervisor = form->context == CONTEXT_SUPERVISOR;
    uint32_t operand[INSN_OPERANDS_MAX] = {0}, word[2] = {0};
    Error err = {0};
    fill_operands(form, try, operand);
    CHECK_OK(isa_encode(code, operand, false, word, &err), err);
    Rig *rig = rig_create();
    Writer text = writer_buffer(&rig->arena);
    for (uint32_t r = 0; r < 12; r++) {
        write_fmt(&text, "setzi $m%u, 0x%x\n", r, try->main == 0 ? 0 : try->main + r * 0x8000);
    }
    for (uint32_t r = 0; r < 8 && !is_supervisor; r++) {
        write_fmt(&text, "setzi $a%u, 0x%x\nor $a%u, $a%u, 0x%x\n", r, try->aux & 0xfffff, r, r,
                  try->aux & 0xfff00000);
    }
    write_fmt(&text, ".align 8\n.long 0x%08x\n", word[0]);
    if (form->words == 2) {
        write_fmt(&text, ".long 0x%08x\n", word[1]);
    }
    write_str(&text, is_supervisor ? S("sync 7\n") : S("exitz $mzero\n"));
    write_str(&text, (Str){"", 1});
    if (is_supervisor) {
        rig_code(rig, RIG_SUPERVISOR, true, writer_text(&text).at);
        rig_run(rig);
    } else {
        rig_worker(rig, writer_text(&text).at);
    }
    Fault fault = rig->tile.fault;
    rig_destroy(rig);
    return fault;
}

/* The name of the fault that stands in the way, and its category; NULL when the form is executed. */
static const char *refusal_of(InsnCode code, FaultCategory *category)
{
    const char *name = NULL;
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
        Fault fault = run_try(code, &tries[i]);
        if (fault.category != FAULT_UNKNOWN && fault.category != FAULT_UNMODELLED) {
            return NULL;
        }
        if (name == NULL) {
            name = fault.name;
            *category = fault.category;
        }
    }
    return name;
}

/* --- the page ----------------------------------------------------------------------------------------------------- */

enum { TESTED_NO, TESTED_FAULTS, TESTED_YES };

static void read_tested(const char *path, uint8_t tested[INSN_COUNT])
{
    Arena arena = arena_create(1 << 24);
    Error err = {0};
    Str rest;
    CHECK_OK(file_read(path, 1 << 23, &arena, &rest, &err), err);
    while (rest.len > 0) {
        Str line = str_cut(&rest, '\n'), form = str_cut(&line, ' ');
        int known = 0;
        for (int code = 1; code < INSN_COUNT; code++) {
            if (str_equal(form, str_of(isa_form((InsnCode)code)->form))) {
                uint8_t now = line.len == 0 ? TESTED_YES : TESTED_FAULTS;
                tested[code] = now > tested[code] ? now : tested[code];
                known++;
            }
        }
        CHECK_EQ_INT(known, 1);
    }
    arena_destroy(&arena);
}

/* An operand whose values nobody published: isa/flags.def. */
static bool has_flag(InsnCode code)
{
    const InsnForm *form = isa_form(code);
    bool is_found = false;
    for (int id = 0; id < FLAG_ID_COUNT; id++) {
        const FlagSymbol *symbol = flag_symbol((FlagId)id);
        for (int i = 0; i < form->operand_count; i++) {
            is_found = is_found || (!symbol->is_documented && symbol->family != FLAG_FAMILY_NONE &&
                                    form->operand[i].family == symbol->family);
        }
    }
    return is_found;
}

int main(int argc, char **argv)
{
    static uint8_t tested[INSN_COUNT];
    static const char *refusal[INSN_COUNT];
    static FaultCategory category[INSN_COUNT];
    static const char *const tested_text[] = {"no", "faults only", "yes"};
    static const char *const context_text[] = {"both", "worker", "supervisor"};
    int refused[2] = {0}, tested_count[3] = {0}, marks['K' + 1] = {0}, in_part[2] = {0},
        unverified = 0;
    CHECK_EQ_INT(argc, 2);
    read_tested(argv[1], tested);
    check_names();
    for (int code = 1; code < INSN_COUNT; code++) {
        refusal[code] = refusal_of((InsnCode)code, &category[code]);
        refused[0] += refusal[code] != NULL && category[code] == FAULT_UNKNOWN;
        refused[1] += refusal[code] != NULL && category[code] == FAULT_UNMODELLED;
        tested_count[tested[code]]++;
        const char *own = confidence_of(isa_form((InsnCode)code)->mnemonic)->marks;
        marks[(int)own[0]]++;
        in_part[0] += own[0] != 'I' && strchr(own, 'I') != NULL;
        in_part[1] += own[0] != '?' && strchr(own, '?') != NULL;
        unverified += has_flag((InsnCode)code);
    }
    int forms = INSN_COUNT - 1;
    printf("# Instruction forms: executed, tested, and how well they are known\n\n"
           "Written by `tools/isa-coverage.sh`; `tests/machine/isa_coverage.t` fails when it is "
           "stale and `make bless` writes it again.\n\n"
           "| Forms | %d |\n|---|---|\n",
           forms);
    printf("| executed by the machine | %d |\n", forms - refused[0] - refused[1]);
    printf("| always an UNKNOWN fault (undocumented; executed with `--unknown=assume`) | %d |\n",
           refused[0]);
    printf("| always an UNMODELLED fault | %d |\n", refused[1]);
    printf("| tested | %d |\n| tested in programs that must fault only | %d |\n| not tested | "
           "%d |\n",
           tested_count[TESTED_YES], tested_count[TESTED_FAULTS], tested_count[TESTED_NO]);
    printf(
        "| documented (D) | %d |\n| seen in kernels (K) | %d |\n| inferred (I) | %d, in part %d |\n"
        "| unknown (?) | %d, in part %d |\n",
        marks['D'], marks['K'], marks['I'], in_part[0], marks['?'], in_part[1]);
    printf("| with a flag whose values are published nowhere: ours, unverified | %d |\n\n",
           unverified);
    printf(
        "**Executed**: the form was run on a tile with a few register contents and immediates; "
        "a fault is named when every try ends in an UNKNOWN or UNMODELLED one.\n"
        "**Tested**: measured, not claimed: a program of tests/machine that a rig loads contains "
        "the form (tests/machine/forms.h); `faults only`: all of them must end in a fault.\n"
        "**Source**: marks and section of docs/reference/isa/semantics.md, from "
        "src/isa/confidence.def: D documented, K seen in kernels that ran, I inferred, ? "
        "unknown; behind a / what a part of the operation rests on. The summary counts the "
        "first mark, and as \"in part\" those behind it. `flag`: the words of this form depend on "
        "values of TAMP_, TSLIC_, TSTACC_, TISTACC_ or TGINA_ symbols that are published nowhere; "
        "ours are unverified (docs/formats.md, Flag values).\n\n"
        "| Form | Mnemonic | Lane | Context | Executed | Tested | Source |\n"
        "|---|---|---|---|---|---|---|\n");
    for (int code = 1; code < INSN_COUNT; code++) {
        const InsnForm *form = isa_form((InsnCode)code);
        const Confidence *confidence = confidence_of(form->mnemonic);
        printf("| %s | %s | %s | %s | %s%s | %s | %s, %s%s |\n", form->form, form->mnemonic,
               form->lane == LANE_AUX ? "aux" : "main", context_text[form->context],
               refusal[code] == NULL                ? "yes"
               : category[code] == FAULT_UNMODELLED ? ""
                                                    : "unknown: ",
               refusal[code] == NULL ? "" : refusal[code], tested_text[tested[code]],
               confidence->marks, confidence->section, has_flag((InsnCode)code) ? ", flag" : "");
    }
    return fflush(stdout) == 0 ? 0 : 1;
}
