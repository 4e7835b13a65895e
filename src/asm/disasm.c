/* Words to text. Plain text is complete: it starts with the mode and assembles to the same bytes.
 *
 * The assembler would move or refuse some words that exist in memory all the same (a misaligned bundle or repeat, a repeat
 * whose body is no bundles, a bundle that writes a register twice); plain text keeps them as .long.
 */
#include "asm/parts.h"
#include "base/bits.h"

typedef struct Code {
    const uint8_t *at;
    isize len;
    uint32_t base;
    InsnContext context;
} Code;

static uint32_t word_at(const Code *code, isize offset)
{
    uint32_t word = 0;
    if (offset + 4 <= code->len) {
        memcpy(&word, code->at + offset, 4);
    }
    return word;
}

static void arg_of_operand(const InsnOperand *operand, uint32_t value, Arg *arg)
{
    int count = operand->kind == OPERAND_ARQ                                   ? 4
                : operand->kind == OPERAND_ARP || operand->kind == OPERAND_MRP ? 2
                                                                               : 1;
    *arg = (Arg){.kind = ARG_REGISTER, .first = (uint8_t)value, .count = (uint8_t)count};
}

/* The two halves of a bundle at `offset`; false when there is none. */
static bool decode_bundle(const Code *code, isize offset, Insn half[2])
{
    if (code->context != CONTEXT_WORKER || offset + 8 > code->len ||
        (code->base + (uint32_t)offset) % 8 != 0) {
        return false;
    }
    half[0] = isa_decode(word_at(code, offset), 0, LANE_MAIN, CONTEXT_WORKER);
    half[1] = isa_decode(word_at(code, offset + 4), 0, LANE_AUX, CONTEXT_WORKER);
    return half[0].code != INSN_NONE && half[0].is_coissued && half[1].code != INSN_NONE &&
           half[1].is_coissued;
}

/* Whether the assembler takes this repeat with its body at offset `body`. */
static bool has_good_body(const Code *code, const Insn *repeat, isize body)
{
    isize end = body + 8 * ((isize)repeat->operand[1] + 1);
    for (isize at = body; at < end; at += 8) {
        Insn half[2];
        if (!decode_bundle(code, at, half)) {
            return false;
        }
        for (int i = 0; i < 2; i++) {
            if (isa_form((InsnCode)half[i].code)->flags & (INSN_CONTROL | INSN_SYSTEM)) {
                return false;
            }
        }
    }
    return true;
}

static bool is_repeat(const Insn *insn)
{
    return insn->code == INSN_rpt_mmmn_zi || insn->code == INSN_rpt_mmmn_zi_zi;
}

static bool may_assemble(const Code *code, isize offset, const Insn *insn, int halves)
{
    if (halves == 2) {
        Arg arg[2][INSN_OPERANDS_MAX];
        const InsnForm *form[2];
        for (int i = 0; i < 2; i++) {
            form[i] = isa_form((InsnCode)insn[i].code);
            for (int o = 0; o < form[i]->operand_count; o++) {
                arg_of_operand(&form[i]->operand[o], insn[i].operand[o], &arg[i][o]);
            }
        }
        return offset % 8 == 0 &&
               !halves_conflict(form[0], arg[0], form[0]->operand_count, form[1], arg[1]) &&
               (!is_repeat(insn) || has_good_body(code, insn, offset + 8));
    }
    if (isa_form((InsnCode)insn->code)->words == 2) {
        return offset % 8 == 0;
    }
    return !is_repeat(insn) || (offset % 8 == 4 && has_good_body(code, insn, offset + 4));
}

/* Name of a lower CSR, which isa_print leaves as a number. */
static void print_csr_comment(Writer *writer, const Code *code, const Insn *insn)
{
    const InsnForm *form = isa_form((InsnCode)insn->code);
    for (int i = 0; i < form->operand_count; i++) {
        if (form->operand[i].kind == OPERAND_CSR && form->lane == LANE_MAIN) {
            Str name = csr_name((int)insn->operand[i], code->context);
            if (name.len > 0) {
                write_fmt(writer, " // $%.*s", STR_ARG(name));
            }
        }
    }
}

void asm_disassemble(Writer *writer, const uint8_t *at, isize len, uint32_t base,
                     InsnContext context, bool plain, const IsaFlags *flags)
{
    Code code = {at, len, base,
                 context == CONTEXT_SUPERVISOR ? CONTEXT_SUPERVISOR : CONTEXT_WORKER};
    if (plain) {
        write_str(writer, code.context == CONTEXT_WORKER ? S(".worker\n") : S(".supervisor\n"));
    }
    isize offset = 0;
    while (offset + 4 <= len) {
        Insn insn[2];
        uint32_t word = word_at(&code, offset), next = word_at(&code, offset + 4);
        int halves = decode_bundle(&code, offset, insn) ? 2 : 1;
        if (halves == 1) {
            insn[0] = isa_decode(word, next, LANE_MAIN, code.context);
        }
        bool is_good = insn[0].code != INSN_NONE && (halves == 2 || !insn[0].is_coissued);
        int words = !is_good ? 1 : halves == 2 ? 2 : isa_form((InsnCode)insn[0].code)->words;
        is_good = is_good && offset + 4 * words <= len &&
                  (!plain || may_assemble(&code, offset, insn, halves));
        words = is_good ? words : 1;
        if (!plain) {
            write_fmt(writer, "%08x: %08x", base + (uint32_t)offset, word);
            write_fmt(writer, words == 2 ? " %08x  " : "           ", next);
        }
        if (!is_good) {
            write_fmt(writer, ".long 0x%08x", word);
        } else if (halves == 2) {
            write_str(writer, S("{ "));
            isa_print(writer, &insn[0], flags);
            write_str(writer, S(" ; "));
            isa_print(writer, &insn[1], flags);
            write_str(writer, S(" }"));
        } else {
            isa_print(writer, &insn[0], flags);
        }
        if (is_good && !plain) {
            print_csr_comment(writer, &code, &insn[0]);
        }
        write_str(writer, S("\n"));
        offset += 4 * words;
    }
    for (; offset < len; offset++) {
        if (!plain) {
            write_fmt(writer, "%08x: %02x                 ", base + (uint32_t)offset, at[offset]);
        }
        write_fmt(writer, ".byte 0x%02x\n", at[offset]);
    }
}
