/* Words to text. Plain text is complete: it starts with the mode and assembles to the same bytes.
 *
 * Code that breaks a rule (a repeat whose body is no bundles, a bundle that writes a register twice) exists in memory all the
 * same, so plain text begins by allowing it. What the assembler would move (a bundle that is not aligned where its section
 * starts) stays a .long, as illegal words do.
 */
#include "asm/disasm.h"
#include "base/bits.h"
#include <string.h>

static uint32_t word_at(const Code *code, isize offset)
{
    uint32_t word = 0;
    if (offset + 4 <= code->end) {
        memcpy(&word, code->at + offset, 4);
    }
    return word;
}

/* The two halves of a bundle at `offset`; false when there is none. */
static bool decode_bundle(const Code *code, isize offset, Insn half[2])
{
    if (code->context != CONTEXT_WORKER || offset + 8 > code->end ||
        (code->base + (uint32_t)offset) % 8 != 0) {
        return false;
    }
    half[0] = isa_decode(word_at(code, offset), 0, LANE_MAIN, CONTEXT_WORKER);
    half[1] = isa_decode(word_at(code, offset + 4), 0, LANE_AUX, CONTEXT_WORKER);
    return half[0].code != INSN_NONE && half[0].is_coissued && half[1].code != INSN_NONE &&
           half[1].is_coissued;
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

static void print_bytes(Writer *writer, const Code *code, isize begin, isize end, bool plain)
{
    for (isize at = begin; at < end; at++) {
        if (!plain) {
            write_fmt(writer, "%08x: %02x                 ", code->base + (uint32_t)at,
                      code->at[at]);
        }
        write_fmt(writer, ".byte 0x%02x\n", code->at[at]);
    }
}

/* One instruction, bundle or illegal word; returns its words. */
static int print_word(Writer *writer, const Code *code, isize offset, bool plain)
{
    Insn insn[2];
    uint32_t word = word_at(code, offset), next = word_at(code, offset + 4);
    int halves = code->is_data ? 0 : decode_bundle(code, offset, insn) ? 2 : 1;
    if (halves == 1) {
        insn[0] = isa_decode(word, next, LANE_MAIN, code->context);
    }
    bool is_good = halves > 0 && insn[0].code != INSN_NONE && (halves == 2 || !insn[0].is_coissued);
    int words = !is_good ? 1 : halves == 2 ? 2 : isa_form((InsnCode)insn[0].code)->words;
    is_good =
        is_good && offset + 4 * words <= code->end && (!plain || words == 1 || offset % 8 == 0);
    words = is_good ? words : 1;
    if (!plain) {
        write_fmt(writer, "%08x: %08x", code->base + (uint32_t)offset, word);
        write_fmt(writer, words == 2 ? " %08x  " : "           ", next);
    }
    if (!is_good) {
        write_fmt(writer, ".long 0x%08x", word);
    } else if (halves == 2) {
        write_str(writer, S("{ "));
        isa_print(writer, &insn[0], code->flags);
        write_str(writer, S(" ; "));
        isa_print(writer, &insn[1], code->flags);
        write_str(writer, S(" }"));
    } else {
        isa_print(writer, &insn[0], code->flags);
    }
    if (is_good && !plain) {
        print_csr_comment(writer, code, &insn[0]);
    }
    return words;
}

void code_print(Writer *writer, Code *code, isize begin, isize end, bool plain,
                const CodeNotes *notes)
{
    code->end = end;
    isize at = begin + 3 - (begin + 3) % 4;
    at = at < end ? at : end;
    print_bytes(writer, code, begin, at, plain);
    while (at + 4 <= end) {
        int words = print_word(writer, code, at, plain);
        if (notes) {
            notes->print(notes->context, writer, at, at + 4 * words);
        }
        write_str(writer, S("\n"));
        at += 4 * words;
    }
    print_bytes(writer, code, at, end, plain);
}

void code_print_mode(Writer *writer, InsnContext context)
{
    write_str(writer, context == CONTEXT_SUPERVISOR ? S(".supervisor\n") : S(".worker\n"));
    write_str(writer, S(".allow_invalid_operands\n.allow_invalid_bundles\n"
                        ".allow_invalid_repeat\n"));
}

void asm_disassemble(Writer *writer, const uint8_t *at, isize len, uint32_t base,
                     InsnContext context, bool plain, const IsaFlags *flags)
{
    Code code = {.at = at,
                 .base = base,
                 .flags = flags,
                 .context = context == CONTEXT_SUPERVISOR ? CONTEXT_SUPERVISOR : CONTEXT_WORKER};
    if (plain) {
        code_print_mode(writer, context);
    }
    code_print(writer, &code, 0, len, plain, NULL);
}
