/* Instruction lines and bundles: emission, alignment, repeats, and the second look at what was not known yet.
 *
 * Alignment (isa/assembler.md 2.3): a bundle and a repeat body start on 8 bytes. The assembler puts one nop (0x19e00000) in
 * front of a bundle that would be misaligned; the nop is real code and costs an issue. Labels right in front of it move behind
 * it. A solo `rpt` in the wrong place is a mistake. Repeat bodies hold bundles only, so no nop is ever needed inside one; that
 * is checked at the end.
 */
#include "asm/parts.h"

static bool is_repeat(InsnCode code)
{
    return code == INSN_rpt_mmmn_zi || code == INSN_rpt_mmmn_zi_zi;
}

/* Appends the words of the line, or a word to be fixed when something is not known yet. */
static bool emit_line(Asm *as, const Line *line, bool is_coissued)
{
    uint32_t word[2] = {0, 0};
    Reloc reloc = {0};
    bool is_known = line_words(as, line, is_coissued, false, word, &reloc);
    if (!is_known) {
        if (as->err->code != ERROR_NONE) {
            return false;
        }
        *vec_push(&as->insn_fixups, &as->scratch) =
            (InsnFixup){*line, as->section, section_offset(as), is_coissued};
        nodes_keep(as);
    } else if (reloc.kind != RELOC_NONE) {
        reloc.section = as->section;
        reloc.offset = section_offset(as);
        *vec_push(&as->object->relocs, as->keep) = reloc;
    }
    InsnCode code = line_form(as, line);
    ASSERT(code != INSN_NONE);
    return section_append(as, word, isa_form(code)->words * 4);
}

static bool want_code_alignment(Asm *as, uint32_t column)
{
    return section_offset(as) % 4 == 0 ||
           fail_at(
               as, column,
               "expected instructions at a multiple of 4 bytes, not at offset 0x%x; use .align 4",
               section_offset(as));
}

static void mark_repeat(Asm *as, const Line *line, uint32_t word, uint32_t body)
{
    Strictness strictness = as->strictness[RULE_REPEAT];
    if (strictness != RULE_IS_OFF) {
        *vec_push(&as->repeats, &as->scratch) =
            (RepeatMark){line->place, as->section, word, body, strictness};
    }
}

static bool emit_solo(Asm *as, const Line *line)
{
    InsnCode code = line_form(as, line);
    if (code == INSN_NONE || !want_code_alignment(as, line->place.column)) {
        return false;
    }
    if (isa_form(code)->words == 2 && section_offset(as) % 8 != 0) {
        return fail_at(as, line->place.column,
                       "expected %s at a multiple of 8 bytes, not at offset 0x%x",
                       isa_form(code)->mnemonic, section_offset(as));
    }
    Section *section = &as->object->sections.at[as->section];
    if ((isa_form(code)->words == 2 || is_repeat(code)) && section->align < 8) {
        section->align = 8;
    }
    if (is_repeat(code)) {
        if (section_offset(as) % 8 == 0 &&
            !rule_broken(as, RULE_REPEAT, line->place.column,
                         "expected the code behind rpt at a multiple of 8 bytes: rpt at offset 4 "
                         "(mod 8), or in a bundle")) {
            return false;
        }
        mark_repeat(as, line, section_offset(as), section_offset(as) + 4);
    }
    return emit_line(as, line, false);
}

/* ldconst r, number: setzi, and or with the upper bits when there are some. */
static bool emit_constant(Asm *as, const Line *line)
{
    const Arg *to = &line->arg[0];
    if (line->arg_count != 2 || to->kind != ARG_REGISTER || to->count != 1 ||
        line->arg[1].kind != ARG_EXPRESSION) {
        return fail_at(as, line->place.column, "expected ldconst of a register and a number");
    }
    Value value;
    if (!expression_value(as, line->arg[1].node, false, &value) || value.symbol >= 0 ||
        value.number < INT32_MIN || value.number > UINT32_MAX) {
        return fail_at(
            as, line->arg[1].column,
            "expected a 32-bit number that is known here (setzi takes symbols and later values)");
    }
    uint32_t number = (uint32_t)value.number;
    for (int i = 0; i < 2; i++) {
        uint32_t part = i == 0 ? number & 0xfffff : number & 0xfff00000;
        if (i == 1 && part == 0) {
            break;
        }
        Line step = *line;
        step.mnemonic = i == 0 ? S("setzi") : S("or");
        if (i == 1) {
            step.arg[1] = *to;
            step.arg_count = 3;
        }
        step.arg[i + 1] = (Arg){.kind = ARG_EXPRESSION,
                                .node = expression_number(as, part),
                                .column = line->place.column};
        if (!line_expand(as, &step) || !emit_solo(as, &step)) {
            return false;
        }
    }
    return true;
}

/* An instruction of the other mode, where the mode directives let it pass. */
static bool choose_mode(Asm *as, Line *line)
{
    Line other = *line;
    other.mode = line->mode == CONTEXT_WORKER ? CONTEXT_SUPERVISOR : CONTEXT_WORKER;
    if (line_find_form(line) != INSN_NONE || line_find_form(&other) == INSN_NONE) {
        return true; /* what fits in no mode is refused with what was expected */
    }
    line->mode = other.mode;
    return rule_broken(as, RULE_EXECUTION_MODE, line->place.column,
                       "%.*s does not exist in %s mode", STR_ARG(line->mnemonic),
                       other.mode == CONTEXT_WORKER ? "supervisor" : "worker");
}

bool line_parse(Asm *as, Str mnemonic, Cursor *cursor)
{
    as->is_instruction = true;
    Line line = {.mnemonic = mnemonic, .mode = as->mode, .place = as->here};
    line.place.column = cursor_column(cursor) - (uint32_t)mnemonic.len;
    while (!cursor_is_end(cursor)) {
        if (line.arg_count == INSN_OPERANDS_MAX) {
            return fail_at(as, cursor_column(cursor), "expected at most %d operands",
                           INSN_OPERANDS_MAX);
        }
        if (!operand_parse(as, cursor, &line.arg[line.arg_count++])) {
            return false;
        }
        if (!cursor_take(cursor, ',')) {
            break;
        }
        if (cursor_is_end(cursor)) {
            return fail_at(as, cursor_column(cursor), "expected an operand behind the comma");
        }
    }
    if (!cursor_finish(as, cursor)) {
        return false;
    }
    if (!as->has_mode) {
        as->has_mode = true; /* said once */
        as->strictness[RULE_EXECUTION_MODE] = RULE_IS_OFF;
        return fail_at(as, line.place.column,
                       "expected .worker or .supervisor before the first instruction");
    }
    if (str_equal(mnemonic, S("ldconst"))) {
        return as->in_bundle ? fail_at(as, line.place.column, "ldconst cannot be half of a bundle")
                             : emit_constant(as, &line);
    }
    if (!line_expand(as, &line) || !choose_mode(as, &line) || line_form(as, &line) == INSN_NONE ||
        !line_check(as, &line)) {
        return false;
    }
    if (!as->in_bundle) {
        return emit_solo(as, &line);
    }
    if (as->bundle_count == 2) {
        return fail_at(as, line.place.column, "expected } after two instructions");
    }
    as->bundle[as->bundle_count++] = line;
    return true;
}

/* The halves in order, with their forms. */
static bool order_halves(Asm *as, const Line *half[2], InsnCode code[2])
{
    for (int i = 0; i < 2; i++) {
        half[i] = &as->bundle[i];
        code[i] = line_form(as, half[i]);
        if (code[i] == INSN_NONE) {
            return false;
        }
    }
    if (as->mode != CONTEXT_WORKER && !rule_broken(as, RULE_EXECUTION_MODE, as->bundle_place.column,
                                                   "bundles do not exist in supervisor mode")) {
        return false;
    }
    if (isa_form(code[0])->lane == LANE_AUX && isa_form(code[1])->lane == LANE_MAIN &&
        as->may_swap) {
        const Line *first = half[0];
        InsnCode first_code = code[0];
        half[0] = half[1];
        code[0] = code[1];
        half[1] = first;
        code[1] = first_code;
    }
    for (int i = 0; i < 2; i++) {
        const InsnForm *form = isa_form(code[i]);
        if (form->lane != (i == 0 ? LANE_MAIN : LANE_AUX)) {
            return fail_at(as, half[i]->place.column,
                           "%s is no %s instruction; expected { main ; aux }", form->mnemonic,
                           i == 0 ? "main" : "aux");
        }
        if (!form->may_coissue) {
            return fail_at(as, half[i]->place.column, "%s cannot be half of a bundle",
                           form->mnemonic);
        }
    }
    return bundle_check(as, half[0], half[1]);
}

static bool emit_bundle(Asm *as)
{
    const Line *half[2];
    InsnCode code[2];
    if (as->bundle_count != 2) {
        return fail_at(as, as->here.column, "expected two instructions between braces, not %d",
                       as->bundle_count);
    }
    if (!order_halves(as, half, code) || !want_code_alignment(as, as->bundle_place.column)) {
        return false;
    }
    Section *section = &as->object->sections.at[as->section];
    section->align = section->align < 8 ? 8 : section->align;
    bool is_aligned = section_offset(as) % 8 == 0;
    /* fnop writes $a13, which holds nothing. */
    bool is_idle = code[1] == INSN_setzi_aaan_zi && half[1]->arg[0].first == 13;
    if (as->may_swap && !is_aligned && is_repeat(code[0]) && is_idle) {
        return emit_solo(as, half[0]);
    }
    if (!is_aligned && !section_pad_nop(as)) {
        return false;
    }
    if (is_repeat(code[0])) {
        mark_repeat(as, half[0], section_offset(as), section_offset(as) + 8);
    }
    as->here = as->bundle[0].place; /* the line of a bundle is that of its first instruction */
    return emit_line(as, half[0], true) && emit_line(as, half[1], true);
}

bool line_finish_bundle(Asm *as)
{
    isize listed = as->listed;
    bool is_bad = as->is_bundle_bad; /* a half was refused already */
    as->in_bundle = false;
    as->is_instruction = true;
    as->is_bundle_bad = true;
    as->listed = as->bundle_listed;
    if (is_bad) {
        section_stand_in(as, 8);
    } else if (!emit_bundle(as)) {
        return false;
    }
    as->is_bundle_bad = false;
    as->listed = as->bundle_listed == as->listed ? listed : as->listed;
    return true;
}

bool line_fix(Asm *as, const InsnFixup *fixup)
{
    uint32_t word[2] = {0, 0};
    Reloc reloc = {0};
    as->here = fixup->line.place;
    if (!line_words(as, &fixup->line, fixup->is_coissued, true, word, &reloc)) {
        return false;
    }
    int words = isa_form(line_form(as, &fixup->line))->words;
    for (int i = 0; i < words; i++) {
        section_set_word(as, fixup->section, fixup->offset + 4u * (uint32_t)i, word[i]);
    }
    if (reloc.kind != RELOC_NONE) {
        reloc.section = fixup->section;
        reloc.offset = fixup->offset;
        *vec_push(&as->object->relocs, as->keep) = reloc;
    }
    return true;
}

bool repeat_check(Asm *as, const RepeatMark *mark)
{
    as->here = mark->place;
    as->strictness[RULE_REPEAT] = mark->strictness;
    uint32_t column = mark->place.column,
             bundles = (section_word(as, mark->section, mark->word) & 0xff) + 1;
    uint32_t end = mark->body + 8 * bundles;
    if (end > (uint32_t)as->object->sections.at[mark->section].len) {
        return rule_broken(as, RULE_REPEAT, column,
                           "the repeat body of %u bundles goes beyond the end of the section",
                           bundles);
    }
    for (uint32_t at = mark->body; at < end; at += 8) {
        uint32_t main = section_word(as, mark->section, at),
                 aux = section_word(as, mark->section, at + 4);
        Insn half[2] = {isa_decode(main, aux, LANE_MAIN, CONTEXT_WORKER),
                        isa_decode(aux, 0, LANE_AUX, CONTEXT_WORKER)};
        for (int i = 0; i < 2; i++) {
            if (half[i].code == INSN_NONE || !half[i].is_coissued) {
                return rule_broken(
                    as, RULE_REPEAT, column,
                    "expected %u bundles as repeat body; there is none at offset 0x%x", bundles,
                    at);
            }
            const InsnForm *form = isa_form((InsnCode)half[i].code);
            if (form->flags & (INSN_CONTROL | INSN_SYSTEM)) {
                return rule_broken(as, RULE_REPEAT, column, "%s is not allowed in a repeat body",
                                   form->mnemonic);
            }
        }
    }
    return true;
}
