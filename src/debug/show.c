/* Text of moments, registers, memory and faults. */
#include "debug/debug.h"
#include <string.h>

enum { LINE_WORDS = 4, SYMBOL_COLUMNS = 20 };

bool format_parse(Str text, ShowFormat *out, Error *err)
{
    static const char *const names[] = {
        [SHOW_HEX] = "hex", [SHOW_U32] = "u32", [SHOW_F32] = "f32", [SHOW_F16] = "f16"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (str_equal(text, str_of(names[i]))) {
            *out = (ShowFormat)i;
            return true;
        }
    }
    return error_set(err, ERROR_INPUT, NULL, "expected hex, u32, f32 or f16, found \"%.*s\"",
                     STR_ARG(text));
}

bool dump_parse(Str text, const Target *target, bool may_be_file, Dump *out, Error *err)
{
    *out = (Dump){0};
    Str rest = text, place = str_cut(&rest, ','), count = str_cut(&rest, ',');
    int64_t bytes = 16;
    if (!target_place(target, place, &out->address, err)) {
        return false;
    }
    if (count.len > 0 && !str_to_int(count, &bytes)) {
        return error_set(err, ERROR_INPUT, NULL, "expected PLACE,BYTES[,FORMAT]");
    }
    if (bytes <= 0 || bytes % 4 != 0 || out->address % 4 != 0 || bytes > SRAM_BYTES ||
        !range_in_sram(out->address, (uint32_t)bytes)) {
        return error_set(err, ERROR_INPUT, NULL,
                         "%lld bytes at 0x%x: expected whole words inside 0x%x..0x%x",
                         (long long)bytes, out->address, SRAM_BASE, SRAM_END);
    }
    out->bytes = (uint32_t)bytes;
    if (may_be_file && str_take(&rest, S("file:"))) {
        out->file = rest;
        return rest.len > 0 || error_set(err, ERROR_INPUT, NULL, "expected a name behind file:");
    }
    return rest.len == 0 || format_parse(rest, &out->format, err);
}

static void print_word(Writer *out, uint32_t word, bool is_undefined, ShowFormat format)
{
    float value;
    memcpy(&value, &word, 4);
    if (format == SHOW_F16) {
        if (is_undefined) {
            write_fmt(out, " %9s %9s", "-", "-");
        } else {
            write_fmt(out, " %9.5g %9.5g", (double)f32_of_f16((uint16_t)word),
                      (double)f32_of_f16((uint16_t)(word >> 16)));
        }
    } else if (is_undefined) {
        write_fmt(out, " %*s", format == SHOW_HEX ? 8 : format == SHOW_U32 ? 10 : 14, "-");
    } else if (format == SHOW_HEX) {
        write_fmt(out, " %08x", word);
    } else if (format == SHOW_U32) {
        write_fmt(out, " %10u", word);
    } else {
        write_fmt(out, " %14.8g", (double)value);
    }
}

void dump_print(Writer *out, const Dump *dump, const TileView *view)
{
    for (uint32_t at = 0; at < dump->bytes; at += 4) {
        uint32_t address = dump->address + at, w = (address - SRAM_BASE) / 4;
        if (at % (4 * LINE_WORDS) == 0) {
            write_fmt(out, "0x%05x:", address);
        }
        print_word(out, view->word[w], view->is_undefined[w], dump->format);
        if (at + 4 == dump->bytes || (at + 4) % (4 * LINE_WORDS) == 0) {
            write_str(out, S("\n"));
        }
    }
}

static void print_value(Writer *out, uint32_t value, bool is_undefined)
{
    if (is_undefined) {
        write_str(out, S("undefined"));
    } else {
        write_fmt(out, "0x%08x", value);
    }
}

static void print_written(Writer *out, char bank, uint32_t mask, uint32_t undefined,
                          const uint32_t **value)
{
    for (; mask != 0; mask &= mask - 1) {
        int i = __builtin_ctz(mask);
        write_fmt(out, " $%c%d=", bank, i);
        print_value(out, *(*value)++, undefined >> i & 1);
    }
}

void context_print(Writer *out, int context)
{
    if (context < 0) {
        write_str(out, S("supervisor"));
    } else {
        write_fmt(out, "worker %d", context);
    }
}

void pc_print(Writer *out, uint32_t pc, const Target *target)
{
    uint32_t offset;
    Str symbol = target_symbol(target, pc, &offset);
    write_fmt(out, "0x%05x", pc);
    if (symbol.len > 0) {
        int shown = (int)symbol.len < SYMBOL_COLUMNS ? (int)symbol.len : SYMBOL_COLUMNS;
        write_fmt(out, " %.*s+0x%x", shown, symbol.at, offset);
    }
}

void moment_print(Writer *out, const Moment *moment, bool is_done, const Record *record,
                  const Target *target)
{
    const uint32_t *value = record->values.at + moment->value;
    char context[2] = {moment->context < 0 ? 's' : (char)('0' + moment->context), 0};
    write_fmt(out, "%7lld %s ", (long long)moment->cycle, context);
    pc_print(out, moment->pc, target);
    write_str(out, S("  "));
    isa_print_code(out, moment->word[0], moment->word[1],
                   moment->context < 0 ? CONTEXT_SUPERVISOR : CONTEXT_WORKER, target->flags);
    if (moment->is_refused || !is_done) {
        write_str(out, is_done ? S(" -> fault\n") : S("\n"));
        return;
    }
    if (moment->m_written || moment->a_written || moment->store_bytes) {
        write_str(out, S(" ->"));
    }
    print_written(out, 'm', moment->m_written, moment->m_undefined, &value);
    print_written(out, 'a', moment->a_written, moment->a_undefined, &value);
    for (uint32_t i = 0; i < moment->store_bytes / 4u; i++) {
        write_fmt(out, " [0x%05x]=", moment->store_address + 4 * i);
        print_value(out, moment->store_word[i], moment->store_undefined >> i & 1);
    }
    write_str(out, S("\n"));
}

static void print_bank(Writer *out, char bank, int count, const uint32_t *value, uint32_t undefined)
{
    for (int i = 0; i < count; i++) {
        bool is_last = i % 4 == 3 || i + 1 == count;
        write_fmt(out, "  $%c%-2d ", bank, i);
        print_value(out, value[i], undefined >> i & 1);
        write_str(out, is_last ? S("\n") : (undefined >> i & 1) ? S(" ") : S(""));
    }
}

void view_print(Writer *out, const TileView *view, int context)
{
    int c = context + 1;
    context_print(out, context);
    write_str(out, S("\n"));
    print_bank(out, 'm', WORKBENCH_MAIN_REGISTERS, view->m[c], view->m_undefined[c]);
    if (context >= 0) {
        print_bank(out, 'a', WORKBENCH_AUX_REGISTERS, view->a[c], view->a_undefined[c]);
    }
}

/* Registers that an instruction names, each once. */
static void collect_registers(const Insn *insn, uint32_t *m, uint32_t *a)
{
    if (insn->code == INSN_NONE) {
        return;
    }
    const InsnForm *form = isa_form((InsnCode)insn->code);
    for (int i = 0; i < form->operand_count; i++) {
        uint32_t first = insn->operand[i];
        switch (form->operand[i].kind) {
        case OPERAND_MR:
            *m |= 1u << first;
            break;
        case OPERAND_MRP:
            *m |= 3u << first;
            break;
        case OPERAND_AR:
            *a |= 1u << first;
            break;
        case OPERAND_ARP:
            *a |= 3u << first;
            break;
        case OPERAND_ARQ:
            *a |= 15u << first;
            break;
        default:
            break;
        }
    }
}

void fault_explain(Writer *out, const Fault *fault, const TileView *view, const Target *target)
{
    int c = fault->context + 1, object;
    uint32_t m = 0, a = 0, line, word = 0, next = 0;
    InsnContext context = fault->context < 0 ? CONTEXT_SUPERVISOR : CONTEXT_WORKER;
    write_str(out, S("  at "));
    pc_print(out, fault->pc, target);
    if (fault->pc % 4 == 0 && range_in_sram(fault->pc, 4)) {
        word = view->word[(fault->pc - SRAM_BASE) / 4];
        next = range_in_sram(fault->pc, 8) ? view->word[(fault->pc - SRAM_BASE) / 4 + 1] : 0;
        write_str(out, S(": "));
        isa_print_code(out, word, next, context, target->flags);
        Insn insn = isa_decode(word, next, LANE_MAIN, context);
        collect_registers(&insn, &m, &a);
        if (fault->context >= 0 && word >> 31 != 0) {
            insn = isa_decode(next, 0, LANE_AUX, context);
            collect_registers(&insn, &m, &a);
        }
    }
    write_str(out, S("\n"));
    if (target_line(target, fault->pc, &object, &line)) {
        write_fmt(out, "  %.*s:%u: %.*s\n", STR_ARG(target->object[object].file), line,
                  STR_ARG(str_trim(target_line_text(target, object, line))));
    }
    m &= fault->context < 0 ? 0x0fff : 0x3fff;
    a &= 0x00ff;
    if (m == 0 && a == 0) {
        return;
    }
    write_str(out, S(" "));
    for (int i = 0; i < 16; i++) {
        if (m >> i & 1) {
            write_fmt(out, " $m%d=", i);
            print_value(out, view->m[c][i], view->m_undefined[c] >> i & 1);
        }
    }
    for (int i = 0; i < 8; i++) {
        if (a >> i & 1) {
            write_fmt(out, " $a%d=", i);
            print_value(out, view->a[c][i], view->a_undefined[c] >> i & 1);
        }
    }
    write_str(out, S("\n"));
}
