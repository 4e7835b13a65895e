/* Words with a published value: isa/assembler.md 5 and the encoder examples of exchange.md 4. */
#include "isa/isa.h"
#include "test.h"

typedef struct Known {
    InsnCode code;
    uint32_t operand[INSN_OPERANDS_MAX];
    uint32_t word[2];
    const char *text;
} Known;

/* The texts are isa_print's; names and values from the two sections named above. */
static const Known known[] = {
    {INSN_setzi_mmmn_zi, {14, 0}, {0x19e00000, 0}, "nop"},
    {INSN_setzi_aaan_zi, {13, 0}, {0x1ad00000, 0}, "fnop"},
    {INSN_sync_mmmn_zi, {3}, {0x41800003, 0}, "sync 3"},
    {INSN_sync_mmmn_zi, {2}, {0x41800002, 0}, "sync 2"},
    {INSN_sans_mmmn_zi, {0}, {0x40c00000, 0}, "sans 0"},
    {INSN_delay_mmmn_zi, {0x20}, {0x40a00020, 0}, "delay 0x20"},
    {INSN_send_mmmn_zi, {1, 6, 3}, {0x78200033, 0}, "send 1, 6, 3"},
    {INSN_br_mmmn, {10}, {0x43a00000, 0}, "br $m10"},
    {INSN_put_mmmn_zi, {0x70, 0}, {0x43008070, 0}, "put 0x70, $m0"},
    {INSN_trap_mmmn_zi, {0}, {0x41801000, 0}, "trap 0"},
    {INSN_and_mmmn_zi, {1, 0, 61}, {0x4201803d, 0}, "and $m1, $m0, 61"},
    {INSN_sendpicp_x, {42, 0x14021, 1, 0, 0x19015000}, {0xf54a0109, 0x19015000}, NULL},
    /* exchange.md 4; the fields hold events - 1 */
    {INSN_delay_mmmn_zi, {0x7ffff}, {0x40a7ffff, 0}, NULL},
    {INSN_delaypic_x, {127, 0, 0x14000}, {0x63f94000, 0}, NULL},
    {INSN_delayxpic_x, {4095, 0, 0x640}, {0x67ffc640, 0}, NULL},
    {INSN_send_mmmn_zi, {63, 0x14000, 2}, {0x7fea0002, 0}, NULL},
    {INSN_sendoff_x, {4095, 0, 1}, {0x77efc001, 0}, NULL},
    {INSN_sendpic_x, {63, 2, 0x15000}, {0x77f95000, 0}, NULL},
    {INSN_sendpic_x, {0, 0, 53}, {0x70100035, 0}, NULL},
    {INSN_sendpic_x, {9, 3, 1}, {0x713c0001, 0}, NULL},
    {INSN_sendpic_x, {9, 1, 0x640}, {0x71340640, 0}, NULL},
    {INSN_sync_mmmn_zi, {7}, {0x41800000 | 7, 0}, NULL},
    {INSN_sans_mmmn_zi, {1}, {0x40c00000 | 1, 0}, NULL},
    {INSN_br_mmmn, {3}, {0x43000000 | 3 << 20, 0}, NULL},
    {INSN_call_mmmn_zi,
     {10, 0x4c100},
     {0x18000000 | 10 << 20 | 0x4c100 >> 2, 0},
     "call $m10, 0x4c100"},
    {INSN_setzi_mmmn_zi, {2, 0xe7bb0}, {0x19000000 | 2 << 20 | 0xe7bb0, 0}, "setzi $m2, 0xe7bb0"},
    {INSN_put_mmmn_zi, {0xa0, 4}, {0x43008000 | 4 << 20 | 0xa0, 0}, NULL},
    {INSN_get_mmmn_zi, {5, 0x60}, {0x41000000 | 5 << 16 | 0x60, 0}, NULL},
    {INSN_ld32_mmmn_zi, {1, 2, 3, 4}, {0x01000000 | 2 << 20 | 1 << 16 | 3 << 12 | 4, 0}, NULL},
    {INSN_st32_mmmn_zi,
     {1, 2, 3, 4},
     {0x4f000000 | 2 << 20 | 1 << 16 | 3 << 12 | 4, 0},
     "st32 $m1, $m2, $m3, 4"},
    {INSN_add_mmmn_si,
     {1, 2, 0x7ff},
     {0x22000000 | 2 << 20 | 1 << 16 | 0x7ff, 0},
     "add $m1, $m2, 2047"},
    {INSN_add_mmmn_si,
     {1, 2, 0xffffffff},
     {0x22000000 | 2 << 20 | 1 << 16 | 0xffff, 0},
     "add $m1, $m2, -1"},
    {INSN_shl_mmmn_zi, {1, 2, 3}, {0x4200a000 | 2 << 20 | 1 << 16 | 3, 0}, NULL},
    {INSN_brz_mmmn_zi, {6, 0x4c020}, {0x13000000 | 6 << 20 | 0x4c020 >> 2, 0}, "brz $m6, 0x4c020"},
    {INSN_trap_mmmn_zi, {15}, {0x41801000 | 15, 0}, NULL},
};

static void known_words(void)
{
    Arena arena = arena_create(1 << 20);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        uint32_t word[2] = {0, 0};
        Error err = {0};
        CHECK_OK(isa_encode(known[i].code, known[i].operand, false, word, &err), err);
        CHECK_EQ_INT(word[0], known[i].word[0]);
        CHECK_EQ_INT(word[1], known[i].word[1]);
        InsnContext context = isa_form(known[i].code)->context == CONTEXT_WORKER ||
                                      isa_form(known[i].code)->lane == LANE_AUX
                                  ? CONTEXT_WORKER
                                  : CONTEXT_SUPERVISOR;
        Insn insn = isa_decode(word[0], word[1], LANE_MAIN, context);
        CHECK_EQ_INT(insn.code, known[i].code);
        CHECK(memcmp(insn.operand, known[i].operand, sizeof insn.operand) == 0);
        if (known[i].text) {
            Writer writer = writer_buffer(&arena);
            isa_print(&writer, &insn, NULL);
            CHECK_STR(writer_text(&writer), str_of(known[i].text));
        }
    }
    CHECK_EQ_INT(isa_word(INSN_setzi_mmmn_zi, 14, 0, 0, 0), 0x19e00000);
    arena_destroy(&arena);
}

/* Special layouts of isa/assembler.md 1, worked out by hand from the bit positions stated there. */
static void split_fields(void)
{
    /* st32 (ARF) offset: [11:8] -> 11:8, [7:4] -> 19:16, [3:0] -> 3:0 */
    CHECK_EQ_INT(isa_word(INSN_st32_mbmn_zi, 1, 2, 3, 0xabc), 0x5e2b3a1c);
    /* st64step stride: [7:4] -> 3:0, [3:0] -> 19:16; -2 = 0xfe */
    CHECK_EQ_INT(isa_word(INSN_st64step_mbmn_si, 6, 2, 3, (uint32_t)-2), 0x5c2e316f);
    /* run: [11:0] -> 11:0, [15:12] -> 19:16 */
    CHECK_EQ_INT(isa_word(INSN_run_mmmn_zi, 1, 2, 0xabcd, 0), 0x141a2bcd);
    CHECK_EQ_INT(isa_word(INSN_runall_mmmn_zi, 1, 2, 0xabcd, 0), 0x151a2bcd);
    /* ld2xst64pace: quad number in 19:17 with bit 16 = 0; strides [5:4] -> 9:8, [3:0] -> 3:0 */
    uint32_t operand[INSN_OPERANDS_MAX] = {4, 2, 6, 9, 0x39}, word[2];
    Error err = {0};
    CHECK_OK(isa_encode(INSN_ld2xst64pace_mbbn_ef, operand, false, word, &err), err);
    CHECK_EQ_INT(word[0], 0x56946b29);
}

static void illegal_words(void)
{
    static const uint32_t words[] = {0x00000000, 0x03000000, 0x43f00001, 0x50000fff};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        CHECK_EQ_INT(isa_decode(words[i], 0, LANE_MAIN, CONTEXT_SUPERVISOR).code, INSN_NONE);
        CHECK_EQ_INT(isa_decode(words[i] | 0x80000000, 0, LANE_MAIN, CONTEXT_WORKER).code,
                     INSN_NONE);
    }
    /* A bundle's nop is no supervisor instruction; a worker form is none either, nor an exchange word for a worker. */
    CHECK_EQ_INT(isa_decode(0x99e00000, 0, LANE_MAIN, CONTEXT_WORKER).code, INSN_setzi_mmmn_zi);
    CHECK(isa_decode(0x99e00000, 0, LANE_MAIN, CONTEXT_WORKER).is_coissued);
    CHECK_EQ_INT(isa_decode(0x99e00000, 0, LANE_MAIN, CONTEXT_SUPERVISOR).code, INSN_NONE);
    CHECK_EQ_INT(isa_decode(0x99e00000, 0, LANE_AUX, CONTEXT_WORKER).code, INSN_NONE);
    CHECK_EQ_INT(isa_decode(0x1ad00000, 0, LANE_MAIN, CONTEXT_SUPERVISOR).code, INSN_NONE);
    CHECK_EQ_INT(isa_decode(0x40a00020, 0, LANE_MAIN, CONTEXT_WORKER).code, INSN_NONE);
    /* or64 $a0:1, $a1:2, $a4:5: an odd pair is reserved. */
    CHECK_EQ_INT(isa_decode(0x58204e01, 0, LANE_MAIN, CONTEXT_WORKER).code, INSN_or64_aaan);
    CHECK_EQ_INT(isa_decode(0x58104e01, 0, LANE_MAIN, CONTEXT_WORKER).code, INSN_NONE);
}

static void refused_operands(void)
{
    Error err;
    uint32_t word[2];
    uint32_t odd_pair[INSN_OPERANDS_MAX] = {1, 2, 4};
    CHECK_ERROR(isa_encode(INSN_or64_aaan, odd_pair, false, word, &err), err, ERROR_INPUT,
                "operand 1 of or64");
    uint32_t wide[INSN_OPERANDS_MAX] = {1, 0x100000};
    CHECK_ERROR(isa_encode(INSN_setzi_mmmn_zi, wide, false, word, &err), err, ERROR_INPUT,
                "0..1048575");
    uint32_t step[INSN_OPERANDS_MAX] = {1, 2, 3, 128};
    CHECK_ERROR(isa_encode(INSN_ld32step_mmmn_si, step, false, word, &err), err, ERROR_INPUT,
                "-128..127");
    uint32_t coefficient[INSN_OPERANDS_MAX] = {64};
    CHECK_ERROR(isa_encode(INSN_ld64putcs_mmmn_zi, coefficient, false, word, &err), err,
                ERROR_INPUT, "0..63");
    uint32_t target[INSN_OPERANDS_MAX] = {0x4c002};
    CHECK_ERROR(isa_encode(INSN_bri_mmmn_zi, target, false, word, &err), err, ERROR_INPUT,
                "multiple of 4");
    uint32_t zone[INSN_OPERANDS_MAX] = {2};
    CHECK_ERROR(isa_encode(INSN_sync_mmmn_zi, zone, true, word, &err), err, ERROR_INPUT, "bundle");
}

static void names(void)
{
    CHECK_EQ_INT(csr_find(S("$FP_CLR"), CONTEXT_WORKER), 0x101);
    CHECK_EQ_INT(csr_find(S("FP_CLR"), CONTEXT_SUPERVISOR), -1);
    CHECK_EQ_INT(csr_find(S("WSR"), CONTEXT_WORKER), 1);
    CHECK_EQ_INT(csr_find(S("SSR"), CONTEXT_SUPERVISOR), 1);
    CHECK_EQ_INT(csr_find(S("INCOMING_DCOUNT"), CONTEXT_SUPERVISOR), 0xa6);
    CHECK_STR(csr_name(0x60, CONTEXT_WORKER), S("COUNT_L"));
    CHECK_STR(csr_name(0x60, CONTEXT_SUPERVISOR), S("SCOUNT_L"));
    CHECK_EQ_INT(csr_name(0x99, CONTEXT_SUPERVISOR).len, 0);
}

TEST_MAIN(known_words, split_fields, illegal_words, refused_operands, names)
