/* Instruction text that assembles to the same word.
 *
 * Where a mnemonic has two forms that could hold the same text, the forced spelling is printed: adds/addz and its relatives
 * (isa/assembler.md 2.2), or the form name itself, which our assembler accepts as a mnemonic (or_aaan_iz with value 0).
 * Branch targets are printed as byte addresses, which is also what our assembler takes.
 */
#include "isa/isa.h"

static void print_register(Writer *writer, const InsnOperand *operand, uint32_t value)
{
    static const char *const main_names[16] = {
        [12] = "$mworker_base", [13] = "$mvertex_base", [15] = "$mzero"};
    switch (operand->kind) {
    case OPERAND_MR:
        if (main_names[value & 15]) {
            write_fmt(writer, "%s", main_names[value & 15]);
        } else {
            write_fmt(writer, "$m%u", value);
        }
        break;
    case OPERAND_AR:
        if (value == 15) {
            write_str(writer, S("$azero"));
        } else {
            write_fmt(writer, "$a%u", value);
        }
        break;
    case OPERAND_ARP:
        if (value == 14) {
            write_str(writer, S("$azeros"));
        } else {
            write_fmt(writer, "$a%u:%u", value, value + 1);
        }
        break;
    case OPERAND_MRP:
        write_fmt(writer, "$m%u:%u", value, value + 1);
        break;
    default:
        write_fmt(writer, "$a%u:%u", value, value + 3);
        break;
    }
    if (operand->broadcast[0]) {
        write_fmt(writer, ":%s", operand->broadcast);
    }
    write_fmt(writer, "%s", operand->suffix);
}

static void print_operand(Writer *writer, const InsnForm *form, int index, uint32_t value,
                          const IsaFlags *flags)
{
    const InsnOperand *operand = &form->operand[index];
    switch (operand->kind) {
    case OPERAND_MR:
    case OPERAND_MRP:
    case OPERAND_AR:
    case OPERAND_ARP:
    case OPERAND_ARQ:
        print_register(writer, operand, value);
        break;
    case OPERAND_SIMM:
        write_fmt(writer, "%d", (int32_t)value);
        break;
    case OPERAND_CSR: {
        /* Lower numbers mean other registers in the other context, so only the worker's upper half is named. */
        Str name = form->lane == LANE_AUX ? csr_name((int)value + 0x100, CONTEXT_WORKER) : (Str){0};
        if (name.len > 0) {
            write_fmt(writer, "$%.*s", STR_ARG(name));
        } else {
            write_fmt(writer, "0x%x", value);
        }
        break;
    }
    case OPERAND_ENUM: {
        int id = flag_of_value(flags, (FlagFamily)operand->family, value);
        if (id >= 0 && !flag_symbol((FlagId)id)->is_documented) {
            write_str(writer, flag_symbol((FlagId)id)->name);
        } else {
            write_fmt(writer, "%u", value);
        }
        break;
    }
    case OPERAND_IMMZ12:
    case OPERAND_CODE:
    case OPERAND_PAYLOAD:
        write_fmt(writer, "0x%x", value);
        break;
    default:
        write_fmt(writer, operand->bits > 12 && value > 9 ? "0x%x" : "%u", value);
        break;
    }
}

/* The mnemonic that selects exactly this form for these operands. */
static void print_mnemonic(Writer *writer, const InsnForm *form, const uint32_t *operand)
{
    InsnCode first;
    int count = isa_forms_of(str_of(form->mnemonic), &first);
    bool has_signed = false;
    for (int i = 0; i < count; i++) {
        const InsnForm *other = isa_form((InsnCode)((int)first + i));
        for (int o = 0; o < other->operand_count; o++) {
            has_signed = has_signed ||
                         (other->operand[o].kind == OPERAND_SIMM && other->operand[o].bits == 16);
        }
    }
    for (int o = 0; o < form->operand_count; o++) {
        if (form->operand[o].kind == OPERAND_IMMZ12 && operand[o] == 0) {
            write_fmt(writer, "%s", form->form);
            return;
        }
        /* Our assembler takes the signed form whenever the value fits. */
        if (has_signed && form->operand[o].kind == OPERAND_ZIMM && operand[o] < 0x8000) {
            write_fmt(writer, "%sz", form->mnemonic);
            return;
        }
    }
    write_fmt(writer, "%s", form->mnemonic);
}

void isa_print(Writer *writer, const Insn *insn, const IsaFlags *flags)
{
    InsnCode code = (InsnCode)insn->code;
    if (code == INSN_NONE) {
        write_str(writer, S("illegal"));
        return;
    }
    const InsnForm *form = isa_form(code);
    if (code == INSN_setzi_mmmn_zi && insn->operand[0] == 14 && insn->operand[1] == 0) {
        write_str(writer, S("nop"));
        return;
    }
    if (code == INSN_setzi_aaan_zi && insn->operand[0] == 13 && insn->operand[1] == 0) {
        write_str(writer, S("fnop"));
        return;
    }
    print_mnemonic(writer, form, insn->operand);
    for (int i = 0; i < form->operand_count; i++) {
        write_str(writer, i == 0 ? S(" ") : S(", "));
        print_operand(writer, form, i, insn->operand[i], flags);
    }
}

static void print_or_word(Writer *writer, uint32_t word, uint32_t next, InsnLane lane,
                          InsnContext context, const IsaFlags *flags)
{
    Insn insn = isa_decode(word, next, lane, context);
    if (insn.code == INSN_NONE) {
        write_fmt(writer, ".long 0x%08x", word);
    } else {
        isa_print(writer, &insn, flags);
    }
}

void isa_print_code(Writer *writer, uint32_t word, uint32_t next, InsnContext context,
                    const IsaFlags *flags)
{
    bool is_bundle = context == CONTEXT_WORKER && word >> 31 != 0;
    write_str(writer, is_bundle ? S("{ ") : S(""));
    print_or_word(writer, word, next, LANE_MAIN, context, flags);
    if (is_bundle) {
        write_str(writer, S(" ; "));
        print_or_word(writer, next, 0, LANE_AUX, context, flags);
        write_str(writer, S(" }"));
    }
}
