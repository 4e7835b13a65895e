/* From mnemonic and operands to one form: aliases and pseudo-instructions, omitted memory registers, immediates by value
 * (isa/assembler.md 2 and 2.2).
 *
 * Any form name (`or_mmmn_iz`) is accepted as a mnemonic and forces that form. A number as branch operand is a byte address.
 */
#include "asm/parts.h"
#include <string.h>

static bool is_register(const Arg *arg, char file, int count)
{
    return arg->kind == ARG_REGISTER && arg->file == file && arg->count == count;
}

static Arg register_arg(const Line *line, char file, int first, int count)
{
    return (Arg){.kind = ARG_REGISTER,
                 .file = file,
                 .first = (uint8_t)first,
                 .count = (uint8_t)count,
                 .node = -1,
                 .column = line->place.column};
}

static Arg number_arg(Asm *as, const Line *line, int64_t number)
{
    return (Arg){.kind = ARG_EXPRESSION,
                 .node = expression_number(as, number),
                 .column = line->place.column};
}

static void rename_to(Line *line, const char *mnemonic)
{
    line->mnemonic = str_of(mnemonic);
}

/* mov and zero by the registers they name. */
static bool expand_move(Asm *as, Line *line)
{
    bool is_zero = str_equal(line->mnemonic, S("zero"));
    if (line->arg_count == (is_zero ? 1 : 2)) {
        const Arg *to = &line->arg[0], *from = is_zero ? to : &line->arg[1];
        for (int i = 0; i < 2; i++) {
            char file = i == 0 ? 'm' : 'a';
            if (is_register(to, file, 1) && is_register(from, file, 1)) {
                rename_to(line, "or");
                if (is_zero) {
                    line->arg[1] = line->arg[2] = register_arg(line, file, 15, 1);
                } else {
                    line->arg[2] = number_arg(as, line, 0);
                }
                line->arg_count = 3;
                return true;
            }
        }
        if (is_register(to, 'a', 2) && is_register(from, 'a', 2)) {
            rename_to(line, "or64");
            if (is_zero) {
                line->arg[1] = register_arg(line, 'a', 14, 2);
            }
            line->arg[2] = register_arg(line, 'a', 14, 2);
            line->arg_count = 3;
            return true;
        }
        if (is_register(to, 'm', 1) && is_register(from, 'a', 1)) {
            rename_to(line, "atom");
            return true;
        }
    }
    return fail_at(as, line->place.column,
                   is_zero
                       ? "expected zero $m, zero $a or zero of an aux pair"
                       : "expected mov of $m to $m, $a to $a, aux pair to aux pair, or $a to $m");
}

static bool want_args(Asm *as, const Line *line, int count)
{
    return line->arg_count == count ||
           fail_at(as, line->place.column, "%.*s expects %d operands, not %d",
                   STR_ARG(line->mnemonic), count, line->arg_count);
}

static bool expand_alias(Asm *as, Line *line)
{
    static const struct {
        const char *alias, *mnemonic;
    } renamed[] = {{"f16v4sisov2amp", "f16v4sisoamp"}, {"f16v4sisov2slic", "f16v4sisoslic"}};
    static const char *const forced[] = {"add", "cmpeq", "max", "min", "sub"};
    for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++) {
        if (str_equal(line->mnemonic, str_of(renamed[i].alias))) {
            rename_to(line, renamed[i].mnemonic);
            return true;
        }
    }
    for (size_t i = 0; i < sizeof forced / sizeof *forced; i++) {
        Str base = str_of(forced[i]);
        if (line->mnemonic.len == base.len + 1 && str_starts(line->mnemonic, base)) {
            char last = line->mnemonic.at[base.len];
            if (last == 's' || last == 'z') {
                line->wanted = last == 's' ? WANT_SIGNED : WANT_ZERO;
                rename_to(line, forced[i]);
            }
        }
    }
    Str name = line->mnemonic;
    Arg *arg = line->arg;
    if (str_equal(name, S("nop")) || str_equal(name, S("fnop"))) {
        bool is_aux = name.at[0] == 'f';
        if (!want_args(as, line, 0)) {
            return false;
        }
        rename_to(line, "setzi");
        arg[0] = register_arg(line, is_aux ? 'a' : 'm', is_aux ? 13 : 14, 1);
        arg[1] = number_arg(as, line, 0);
        line->arg_count = 2;
    } else if (str_equal(name, S("mov")) || str_equal(name, S("zero"))) {
        return expand_move(as, line);
    } else if (str_equal(name, S("sub")) && line->arg_count == 3 && arg[1].kind == ARG_REGISTER &&
               arg[2].kind == ARG_EXPRESSION) {
        rename_to(line, "add");
        arg[2].node = expression_negate(as, arg[2].node);
    } else if (str_equal(name, S("swap16"))) {
        if (!want_args(as, line, 2)) {
            return false;
        }
        rename_to(line, "roll16");
        arg[2] = arg[1];
        line->arg_count = 3;
    } else if (str_equal(name, S("movnz"))) {
        if (!want_args(as, line, 3)) {
            return false;
        }
        rename_to(line, "movz");
        Arg condition = arg[1];
        arg[1] = arg[2];
        arg[2] = condition;
    } else if (str_equal(name, S("get")) && line->arg_count == 2 && is_register(&arg[0], 'a', 1)) {
        rename_to(line, "uget");
    } else if (str_equal(name, S("put")) && line->arg_count == 2 && is_register(&arg[1], 'a', 1)) {
        rename_to(line, "uput");
    } else if (str_equal(name, S("strap"))) {
        if (!want_args(as, line, 0)) {
            return false;
        }
        rename_to(line, "put");
        arg[0] = number_arg(as, line, 255);
        arg[1] = register_arg(line, 'm', 15, 1);
        line->arg_count = 2;
    }
    return true;
}

static bool arg_fits(const Arg *arg, const InsnOperand *operand)
{
    static const struct {
        OperandKind kind;
        char file;
        int count;
    } registers[] = {{OPERAND_MR, 'm', 1},
                     {OPERAND_MRP, 'm', 2},
                     {OPERAND_AR, 'a', 1},
                     {OPERAND_ARP, 'a', 2},
                     {OPERAND_ARQ, 'a', 4}};
    for (size_t i = 0; i < sizeof registers / sizeof *registers; i++) {
        if (operand->kind == registers[i].kind) {
            return is_register(arg, registers[i].file, registers[i].count) &&
                   strcmp(arg->suffix, operand->suffix) == 0 &&
                   strcmp(arg->broadcast, operand->broadcast) == 0;
        }
    }
    return arg->kind == ARG_EXPRESSION || (arg->kind == ARG_NAME && operand->kind == OPERAND_CSR);
}

/* Fits the registers of the line to a form. When one operand of a memory form is left out, $mzero is put in its place:
 * the delta, or the base of a form that steps its delta. */
static bool fit_line(const Line *line, const InsnForm *form, Line *fitted)
{
    *fitted = *line;
    bool is_memory = form->flags & (INSN_LOAD | INSN_STORE);
    if (line->arg_count == 3 && form->operand_count == 4 && is_memory) {
        int omitted = form->operand[2].suffix[0] ? 1 : 2;
        for (int i = 3; i > omitted; i--) {
            fitted->arg[i] = fitted->arg[i - 1];
        }
        fitted->arg[omitted] = register_arg(line, 'm', 15, 1);
        fitted->arg_count = 4;
    }
    if (fitted->arg_count != form->operand_count) {
        return false;
    }
    for (int i = 0; i < form->operand_count; i++) {
        if (!arg_fits(&fitted->arg[i], &form->operand[i])) {
            return false;
        }
    }
    return form->context == CONTEXT_BOTH || form->context == line->mode;
}

static bool has_kind(const InsnForm *form, OperandKind kind)
{
    for (int i = 0; i < form->operand_count; i++) {
        if (form->operand[i].kind == kind) {
            return true;
        }
    }
    return false;
}

static bool is_wanted(const Line *line, const InsnForm *form)
{
    return (line->wanted != WANT_SIGNED || has_kind(form, OPERAND_SIMM)) &&
           (line->wanted != WANT_ZERO || has_kind(form, OPERAND_ZIMM));
}

static void describe_form(Writer *writer, const InsnForm *form)
{
    static const char *const kinds[] = {
        [OPERAND_NONE] = "",         [OPERAND_MR] = "$m",       [OPERAND_MRP] = "$m:m",
        [OPERAND_AR] = "$a",         [OPERAND_ARP] = "$a:a",    [OPERAND_ARQ] = "$a:a+3",
        [OPERAND_ZIMM] = "unsigned", [OPERAND_SIMM] = "signed", [OPERAND_IMMZ12] = "upper12",
        [OPERAND_CODE] = "target",   [OPERAND_CSR] = "csr",     [OPERAND_CCCS] = "coefficient",
        [OPERAND_VTX] = "offset",    [OPERAND_ENUM] = "flags",  [OPERAND_PAYLOAD] = "word",
    };
    write_fmt(writer, "%s", form->mnemonic);
    for (int i = 0; i < form->operand_count; i++) {
        const InsnOperand *operand = &form->operand[i];
        write_fmt(writer, "%s%s%s%s%s", i == 0 ? " " : ", ", kinds[operand->kind],
                  operand->broadcast[0] ? ":" : "", operand->broadcast, operand->suffix);
    }
}

static bool refuse_line(Asm *as, const Line *line)
{
    Arena scratch = as->scratch;
    Writer writer = writer_buffer(&scratch);
    bool is_other_mode = true;
    for (int i = 0; i < line->form_count; i++) {
        const InsnForm *form = isa_form((InsnCode)((int)line->first + i));
        is_other_mode =
            is_other_mode && form->context != CONTEXT_BOTH && form->context != line->mode;
        if (i < 6) {
            write_str(&writer, i > 0 ? S(" | ") : S(""));
            describe_form(&writer, form);
        }
    }
    const char *mode = line->mode == CONTEXT_WORKER ? "worker" : "supervisor";
    if (is_other_mode) {
        return fail_at(as, line->place.column, "%.*s does not exist in %s mode",
                       STR_ARG(line->mnemonic), mode);
    }
    return fail_at(as, line->place.column, "expected (in %s mode) %.*s", mode,
                   STR_ARG(writer_text(&writer)));
}

static bool number_fits(const InsnOperand *operand, int64_t number)
{
    switch (operand->kind) {
    case OPERAND_SIMM:
        return number >= -(INT64_C(1) << (operand->bits - 1)) &&
               number < INT64_C(1) << (operand->bits - 1);
    case OPERAND_IMMZ12:
        return (number & 0xfffff) == 0 && number >= INT32_MIN && number <= UINT32_MAX;
    case OPERAND_CODE:
        return number >= 0 && number % 4 == 0 && number < INT64_C(4) << operand->bits;
    case OPERAND_CCCS:
        return number >= 0 && number < 64;
    case OPERAND_PAYLOAD:
        return number >= INT32_MIN && number <= UINT32_MAX;
    default:
        return number >= 0 && number < INT64_C(1) << operand->bits;
    }
}

static bool refuse_number(Asm *as, InsnCode code, int index, const Arg *arg, int64_t number)
{
    const InsnForm *form = isa_form(code);
    uint32_t value[INSN_OPERANDS_MAX] = {0}, word[2];
    value[index] = (uint32_t)number;
    Error err = {0};
    /* The encoder words the range; zero is good for every other operand. Values beyond 32 bits are refused here. */
    if (number >= INT32_MIN && number <= INT32_MAX && !isa_encode(code, value, false, word, &err)) {
        return fail_at(as, arg->column, "%s", err.message);
    }
    return fail_at(as, arg->column, "operand %d of %s is %lld, expected a value of %d bits",
                   index + 1, form->mnemonic, (long long)number, form->operand[index].bits);
}

/* True if the operand's field is the low bits of the word. */
static bool is_low_field(InsnCode code, const InsnOperand *operand)
{
    const InsnForm *form = isa_form(code);
    uint32_t value[INSN_OPERANDS_MAX] = {0}, none[2], full[2], ones = (1u << operand->bits) - 1;
    Error err = {0};
    value[operand - form->operand] = ones;
    return isa_encode(code, value, false, full, &err) &&
           isa_encode(code, (const uint32_t[INSN_OPERANDS_MAX]){0}, false, none, &err) &&
           (full[0] ^ none[0]) == ones;
}

/* Relocation of a symbol in an operand (isa/assembler.md 3), `wanted` by a modifier or RELOC_NONE; RELOC_NONE when the field
 * cannot hold it. */
static RelocKind reloc_of(InsnCode code, const InsnOperand *operand, RelocKind wanted)
{
    RelocKind usual = operand->kind == OPERAND_CODE                              ? RELOC_19_S2
                      : code == INSN_setzi_mmmn_zi || code == INSN_setzi_aaan_zi ? RELOC_20
                      : code == INSN_run_mmmn_zi                                 ? RELOC_RUN_INSTR
                                                                                 : RELOC_NONE;
    if (wanted == RELOC_NONE || wanted == usual) {
        return usual;
    }
    bool fits = operand->kind == OPERAND_ZIMM && operand->bits >= reloc_shape(wanted)->bits &&
                is_low_field(code, operand);
    return fits ? wanted : RELOC_NONE;
}

/* Number of a CSR name for this instruction: lower half for get and put, upper half for uget and uput. */
static bool csr_number(Asm *as, const Line *line, const InsnForm *form, const Arg *arg,
                       int64_t *number)
{
    int index = csr_find(arg->name, line->mode);
    int base = form->lane == LANE_AUX ? 0x100 : 0;
    if (index < 0) {
        bool is_worker = line->mode == CONTEXT_WORKER;
        if (!rule_broken(as, RULE_EXECUTION_MODE, arg->column, "$%.*s does not exist in %s mode",
                         STR_ARG(arg->name), is_worker ? "worker" : "supervisor")) {
            return false;
        }
        index = csr_find(arg->name, is_worker ? CONTEXT_SUPERVISOR : CONTEXT_WORKER);
    }
    if (index < base || index > base + 255) {
        return fail_at(as, arg->column, "$%.*s is number 0x%x, expected one of 0x%x..0x%x for %s",
                       STR_ARG(arg->name), (unsigned)index, (unsigned)base, (unsigned)base + 255,
                       form->mnemonic);
    }
    *number = index - base;
    return true;
}

typedef enum Verdict { VERDICT_GOOD, VERDICT_NOT_KNOWN, VERDICT_NO_FIT, VERDICT_ERROR } Verdict;

/* Operand values of one form. NO_FIT leaves *bad at the operand whose number does not fit. */
static Verdict form_values(Asm *as, const Line *fitted, InsnCode code, bool is_final,
                           uint32_t value[INSN_OPERANDS_MAX], Reloc *reloc, int *bad,
                           int64_t *bad_number)
{
    const InsnForm *form = isa_form(code);
    *reloc = (Reloc){.kind = RELOC_NONE};
    for (int i = 0; i < form->operand_count; i++) {
        const Arg *arg = &fitted->arg[i];
        const InsnOperand *operand = &form->operand[i];
        Value number = {.symbol = -1, .number = arg->first};
        if (arg->kind == ARG_NAME && !csr_number(as, fitted, form, arg, &number.number)) {
            return VERDICT_ERROR;
        }
        if (arg->kind == ARG_EXPRESSION && !expression_value(as, arg->node, is_final, &number)) {
            return as->err->code != ERROR_NONE ? VERDICT_ERROR : VERDICT_NOT_KNOWN;
        }
        if (number.symbol >= 0) {
            RelocKind kind = reloc_of(code, operand, number.kind);
            if (kind == RELOC_NONE || number.number < INT32_MIN || number.number > INT32_MAX) {
                fail_at(as, arg->column,
                        "expected a number for operand %d of %s, not the address %.*s", i + 1,
                        form->mnemonic, STR_ARG(as->object->symbols.at[number.symbol].name));
                return VERDICT_ERROR;
            }
            *reloc =
                (Reloc){.kind = kind, .symbol = number.symbol, .addend = (int32_t)number.number};
            number.number = 0;
        } else if (number.kind != RELOC_NONE) {
            /* A branch operand is written as a byte address: the field's is what the modifier says already. */
            bool is_plain = operand->kind == OPERAND_CODE && number.kind == RELOC_19_S2;
            if (!is_plain && !expression_field(as, &number, arg->column, &number.number)) {
                return VERDICT_ERROR;
            }
        }
        if (arg->kind != ARG_REGISTER && !number_fits(operand, number.number)) {
            *bad = i;
            *bad_number = number.number;
            return VERDICT_NO_FIT;
        }
        value[i] = (uint32_t)number.number;
    }
    return VERDICT_GOOD;
}

static bool is_loaded_register(const InsnForm *form, int index)
{
    OperandKind kind = form->operand[index].kind;
    bool is_aux = kind == OPERAND_AR || kind == OPERAND_ARP || kind == OPERAND_ARQ;
    bool is_store = form->flags & INSN_STORE, is_load = form->flags & INSN_LOAD;
    /* The first operand of a load; also the second of a double load. In ldst forms the second is stored. */
    return is_aux && is_load && (index == 0 || (index == 1 && !is_store));
}

/* True if the aux instruction writes its first operand (isa/semantics.md 9: accumulate forms only read). */
static bool writes_first(const InsnForm *form)
{
    Str name = str_of(form->mnemonic);
    bool accumulates =
        str_ends(name, S("mac")) || str_ends(name, S("aop")) ||
        (str_ends(name, S("acc")) && !str_ends(name, S("gacc")) && !str_ends(name, S("stacc")));
    return !accumulates && form->operand[0].kind != OPERAND_CSR;
}

/* Whether two register runs share storage; $a8 and above hold nothing (isa/registers.md 3). */
static bool runs_overlap(const Arg *a, const Arg *b)
{
    return a->first < 8 && b->first < 8 && a->first < b->first + b->count &&
           b->first < a->first + a->count;
}

bool line_expand(Asm *as, Line *line)
{
    if (!expand_alias(as, line)) {
        return false;
    }
    line->form_count = isa_forms_of(line->mnemonic, &line->first);
    for (int code = 1; code < INSN_COUNT && line->form_count == 0; code++) {
        if (str_equal(line->mnemonic, str_of(isa_form((InsnCode)code)->form))) {
            line->first = (InsnCode)code;
            line->form_count = 1;
        }
    }
    return line->form_count > 0 ||
           fail_at(as, line->place.column,
                   "expected an instruction, directive or macro, not '%.*s'",
                   STR_ARG(line->mnemonic));
}

InsnCode line_find_form(const Line *line)
{
    Line fitted;
    for (int i = 0; i < line->form_count; i++) {
        InsnCode code = (InsnCode)((int)line->first + i);
        if (is_wanted(line, isa_form(code)) && fit_line(line, isa_form(code), &fitted)) {
            return code;
        }
    }
    return INSN_NONE;
}

InsnCode line_form(Asm *as, const Line *line)
{
    InsnCode code = line_find_form(line);
    if (code == INSN_NONE) {
        refuse_line(as, line);
    }
    return code;
}

static bool destinations_clash(const InsnForm *form, const Arg *arg)
{
    return form->operand_count > 1 && is_loaded_register(form, 0) && is_loaded_register(form, 1) &&
           arg[0].first < arg[1].first + arg[1].count && arg[1].first < arg[0].first + arg[0].count;
}

bool line_check(Asm *as, const Line *line)
{
    const InsnForm *form = isa_form(line_find_form(line));
    return !destinations_clash(form, line->arg) ||
           rule_broken(as, RULE_OPERANDS, line->arg[1].column,
                       "expected two different destinations of %s", form->mnemonic);
}

bool line_words(Asm *as, const Line *line, bool is_coissued, bool is_final, uint32_t word[2],
                Reloc *reloc)
{
    static const OperandKind order[] = {OPERAND_SIMM, OPERAND_ZIMM, OPERAND_IMMZ12, OPERAND_NONE};
    InsnCode refused = INSN_NONE;
    int bad = 0;
    int64_t bad_number = 0;
    Line fitted, refused_line;
    uint32_t value[INSN_OPERANDS_MAX] = {0};
    /* By value: the signed form first, then the zero-extended one, then the upper bits. Forms that fit the same registers
     * differ in the kind of one immediate only. */
    for (size_t pass = 0; pass < sizeof order / sizeof *order; pass++) {
        for (int i = 0; i < line->form_count; i++) {
            InsnCode code = (InsnCode)((int)line->first + i);
            const InsnForm *form = isa_form(code);
            bool is_turn = order[pass] != OPERAND_NONE
                               ? has_kind(form, order[pass])
                               : !has_kind(form, OPERAND_SIMM) && !has_kind(form, OPERAND_ZIMM) &&
                                     !has_kind(form, OPERAND_IMMZ12);
            if (!is_turn || !is_wanted(line, form) || !fit_line(line, form, &fitted)) {
                continue;
            }
            int at;
            int64_t number;
            Verdict verdict = form_values(as, &fitted, code, is_final, value, reloc, &at, &number);
            if (verdict == VERDICT_GOOD) {
                Error err = {0};
                if (!isa_encode(code, value, is_coissued, word, &err)) {
                    return fail_at(as, line->place.column, "%s", err.message);
                }
                return true;
            }
            if (verdict == VERDICT_ERROR || verdict == VERDICT_NOT_KNOWN) {
                return false;
            }
            if (refused == INSN_NONE) {
                refused = code;
                refused_line = fitted;
                bad = at;
                bad_number = number;
            }
        }
    }
    if (refused != INSN_NONE) {
        return refuse_number(as, refused, bad, &refused_line.arg[bad], bad_number);
    }
    return refuse_line(as, line);
}

static bool halves_conflict(const InsnForm *main_form, const Arg *main, int main_count,
                            const InsnForm *aux_form, const Arg *aux)
{
    if (aux_form->operand_count == 0 || !writes_first(aux_form)) {
        return false;
    }
    for (int i = 0; i < main_form->operand_count && i < main_count; i++) {
        bool is_moved = i == 1 && main_form->operand[i].kind == OPERAND_AR &&
                        strcmp(main_form->mnemonic, "atom") == 0;
        if ((is_moved || is_loaded_register(main_form, i)) && runs_overlap(&main[i], &aux[0])) {
            return true;
        }
    }
    return false;
}

bool bundle_check(Asm *as, const Line *main, const Line *aux)
{
    InsnCode main_code = line_form(as, main), aux_code = line_form(as, aux);
    if (main_code == INSN_NONE || aux_code == INSN_NONE) {
        return false;
    }
    if (halves_conflict(isa_form(main_code), main->arg, main->arg_count, isa_form(aux_code),
                        aux->arg)) {
        return rule_broken(
            as, RULE_BUNDLES, aux->place.column,
            "the aux half writes a register that the main half (%.*s) loads or moves",
            STR_ARG(main->mnemonic));
    }
    return true;
}
