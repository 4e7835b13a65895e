/* Text and words are inverse: every form printed and assembled gives its word, and plain disassembly of any bytes assembles
 * to the same bytes. */
#include "asm/asm.h"
#include "test.h"

enum { PER_FORM = 24 };

static uint32_t random_operand(const InsnOperand *operand, uint64_t seed, uint64_t *next)
{
    uint32_t bits = (uint32_t)random_u64(seed, (*next)++);
    bits = random_u64(seed, (*next)++) % 4 == 0 ? bits & 0xf
                                                : bits; /* small values choose between forms */
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

/* Assembles and compares with the bytes expected, from offset 0; then once more the text of those bytes. */
static void check_text(Arena arena, Str text, const uint8_t *expected, isize len)
{
    Arena scratch = arena_split(&arena, INT64_C(1) << 28);
    Object object;
    Resolved resolved;
    Error err = {0};
    bool is_good = asm_assemble(S("round.s"), text, NULL, &arena, scratch, &object, &err) &&
                   object_resolve(&object, 1, 0x4c010, &arena, scratch, &resolved, &err);
    if (!is_good || resolved.len != len || memcmp(resolved.at, expected, (size_t)len) != 0) {
        fprintf(stderr, "%.*s\n", STR_ARG(str_slice(text, 0, text.len < 4000 ? text.len : 4000)));
    }
    CHECK_OK(is_good, err);
    CHECK_EQ_INT(resolved.len, len);
    CHECK(memcmp(resolved.at, expected, (size_t)len) == 0);
}

static void check_bytes(Arena arena, Str text, InsnContext context, const uint8_t *expected,
                        isize len)
{
    check_text(arena, text, expected, len);
    Writer again = writer_buffer(&arena);
    asm_disassemble(&again, expected, len, 0x4c010, context, true, NULL);
    check_text(arena, writer_text(&again), expected, len);
}

/* All forms of one context: random operands, printed and assembled. */
static void forms_again(InsnContext context)
{
    Arena arena = arena_create(INT64_C(1) << 30);
    uint64_t seed = test_seed(4711), next = 0;
    Writer text = writer_buffer(&arena);
    write_str(&text, context == CONTEXT_WORKER ? S(".worker\n") : S(".supervisor\n"));
    write_str(&text, S(".allow_invalid_operands\n.allow_invalid_repeat\n"));
    uint32_t *words = arena_array(&arena, uint32_t, INSN_COUNT * PER_FORM * 2);
    isize count = 0;
    for (int code = 1; code < INSN_COUNT; code++) {
        const InsnForm *form = isa_form((InsnCode)code);
        if (form->context != CONTEXT_BOTH && form->context != context) {
            continue;
        }
        for (int i = 0; i < PER_FORM; i++) {
            Insn insn = {.code = (uint16_t)code};
            for (int o = 0; o < form->operand_count; o++) {
                insn.operand[o] = random_operand(&form->operand[o], seed, &next);
            }
            if (form->words == 2 && count % 2) {
                write_str(&text, S("nop\n"));
                words[count++] = 0x19e00000;
            }
            Error err = {0};
            CHECK_OK(isa_encode((InsnCode)code, insn.operand, false, &words[count], &err), err);
            count += form->words;
            isa_print(&text, &insn, NULL);
            write_str(&text, S("\n"));
        }
    }
    check_bytes(arena, writer_text(&text), context, (const uint8_t *)words, count * 4);
    arena_destroy(&arena);
}

/* Every form that may be half of a bundle, beside an idle half. */
static void forms_in_bundles(void)
{
    Arena arena = arena_create(INT64_C(1) << 30);
    uint64_t seed = test_seed(1597), next = 0;
    Writer text = writer_buffer(&arena);
    write_str(&text, S(".worker\n.allow_invalid_operands\n.allow_invalid_repeat\n"));
    uint32_t *words = arena_array(&arena, uint32_t, INSN_COUNT * PER_FORM * 2);
    isize count = 0;
    for (int code = 1; code < INSN_COUNT; code++) {
        const InsnForm *form = isa_form((InsnCode)code);
        bool is_main = form->lane == LANE_MAIN;
        for (int i = 0; i < PER_FORM && form->may_coissue && form->context != CONTEXT_SUPERVISOR;
             i++) {
            Insn insn = {.code = (uint16_t)code};
            for (int o = 0; o < form->operand_count; o++) {
                insn.operand[o] = random_operand(&form->operand[o], seed, &next);
            }
            Error err = {0};
            uint32_t word[2];
            CHECK_OK(isa_encode((InsnCode)code, insn.operand, true, word, &err), err);
            words[count++] = is_main ? word[0] : 0x99e00000;
            words[count++] = is_main ? 0x9ad00000 : word[0];
            write_str(&text, is_main ? S("{ ") : S("{ nop ; "));
            isa_print(&text, &insn, NULL);
            write_str(&text, is_main ? S(" ; fnop }\n") : S(" }\n"));
        }
    }
    CHECK(count > 2 * 200 * PER_FORM);
    check_bytes(arena, writer_text(&text), CONTEXT_WORKER, (const uint8_t *)words, count * 4);
    arena_destroy(&arena);
}

static void forms_worker(void)
{
    forms_again(CONTEXT_WORKER);
}
static void forms_supervisor(void)
{
    forms_again(CONTEXT_SUPERVISOR);
}

/* Bytes: bundles, solo words, repeats with and without good bodies, rubbish; disassembled and assembled. */
static void bytes_again(void)
{
    Arena whole = arena_create(INT64_C(1) << 30);
    uint64_t seed = test_seed(99), next = 0;
    for (int round = 0; round < 120; round++) {
        Arena arena = whole;
        bool is_worker = round % 3 != 0;
        isize len = (isize)random_below(seed, next++, 1500) + 8, at = 0;
        uint8_t *bytes = arena_array(&arena, uint8_t, len + 16);
        while (at < len) {
            uint32_t word[2];
            word[0] = (uint32_t)random_u64(seed, next++);
            word[1] = (uint32_t)random_u64(seed, next++);
            uint64_t kind = random_below(seed, next++, 8);
            int words = 1;
            if (kind > 0) { /* legal forms mostly; pairs as bundles */
                bool is_pair = is_worker && kind > 3;
                for (int half = 0; half < 2; half++) {
                    const InsnForm *form;
                    InsnCode code;
                    do {
                        code = (InsnCode)(1 + random_below(seed, next++, INSN_COUNT - 1));
                        form = isa_form(code);
                    } while (is_pair &&
                             (!form->may_coissue || form->lane != (half ? LANE_AUX : LANE_MAIN)));
                    if (kind == 7 && half == 0) {
                        code = INSN_rpt_mmmn_zi_zi;
                        form = isa_form(code);
                    }
                    uint32_t operand[INSN_OPERANDS_MAX] = {0}, pair[2] = {0, 0};
                    for (int o = 0; o < form->operand_count; o++) {
                        operand[o] = random_operand(&form->operand[o], seed, &next);
                    }
                    operand[1] = kind == 7 && half == 0 ? operand[1] & 1 : operand[1];
                    Error err = {0};
                    CHECK_OK(isa_encode(code, operand, is_pair && form->may_coissue, pair, &err),
                             err);
                    word[half] = pair[0];
                }
                words = is_pair ? 2 : 1;
            }
            memcpy(bytes + at, word, (size_t)words * 4);
            at += 4 * words;
            at = at > len ? len : at;
        }
        Writer text = writer_buffer(&arena);
        asm_disassemble(&text, bytes, len, round % 2 ? 0x4c010 : 0x4c014,
                        is_worker ? CONTEXT_WORKER : CONTEXT_SUPERVISOR, true, NULL);
        check_text(arena, writer_text(&text), bytes, len);
    }
    arena_destroy(&whole);
}

/* The listing form: address, words, text; expected lines by hand from assembler.md 5. */
static void listing(void)
{
    static const uint32_t words[] = {0x99e00000, 0x9ad00000, 0x19e00000, 0x00000000, 0x41010001};
    Arena arena = arena_create(1 << 20);
    Writer text = writer_buffer(&arena);
    asm_disassemble(&text, (const uint8_t *)words, sizeof words, 0x4c010, CONTEXT_WORKER, false,
                    NULL);
    CHECK_STR(writer_text(&text), S("0004c010: 99e00000 9ad00000  { nop ; fnop }\n"
                                    "0004c018: 19e00000           nop\n"
                                    "0004c01c: 00000000           .long 0x00000000\n"
                                    "0004c020: 41010001           get $m1, 0x1 // $WSR\n"));
    arena_destroy(&arena);
}

TEST_MAIN(forms_worker, forms_supervisor, forms_in_bundles, bytes_again, listing)
