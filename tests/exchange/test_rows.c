/* Row codec against the reference vectors (exchange.md 3.3, 5), encoder examples (exchange.md 4) and base writes (6.2), and the
 * decoder's masks against isa_decode. */
#include "exchange/exchange.h"
#include "isa/isa.h"
#include "test.h"

enum { RETURN = 0x43a00000, WORDS_MAX = 16, LIST_MAX = 16 };

typedef struct Vector {
    const char *name;
    uint32_t words[WORDS_MAX];     /* without `br m10`; ends with 0 */
    RowSend sends[LIST_MAX];       /* ends with end == 0 */
    RowControl controls[LIST_MAX]; /* ends with event == 0 */
    Event end;
    bool is_composed; /* our encoder gives the same words */
    int base_count;
    RowBase bases[2];
} Vector;

/* Point-to-point rows start 112 - T, select the source at 113 and the pointer at 165 + 2R (exchange.md 3.3); T and R of the
 * routes from 2.5: -23 R0, 49 R4, -14 R0, 3 R0. Row ends by exchange.md 3.4. */
static const Vector vectors[] = {
    {"L0 to L1286, 3 words, sender",
     {0x40a00086, 0x78400001},
     {{135, 138, 0, 1}},
     {{0}},
     138,
     true,
     0,
     {{0}}},
    {"L0 to L1286, 3 words, receiver",
     {0x641c0000, 0x64008640, 0x61800000, 0x40a00007},
     {{0}},
     {{113, ROW_XPIC, 0}, {116, ROW_XPIC, 0x640}, {165, ROW_POINTER, 0}},
     173,
     true,
     0,
     {{0}}},
    {"L736 to L100, 52 words, sender",
     {0x40a0003e, 0x7e600002},
     {{63, 115, 0, 2}},
     {{0}},
     115,
     true,
     0,
     {{0}}},
    {"L736 to L100, 52 words, receiver, pointer one event early",
     {0x641c0000, 0x61d00000, 0x64000640, 0x40a00038},
     {{0}},
     {{113, ROW_XPIC, 0}, {172, ROW_POINTER, 0}, {173, ROW_XPIC, 0x640}},
     230,
     true,
     0,
     {{0}}},
    {"L1286 to L1471, 65 words, sender",
     {0x40a0007d, 0x7fe00002, 0x70000002},
     {{126, 191, 0, 2}},
     {{0}},
     191,
     true,
     0,
     {{0}}},
    {"L1286 to L1471, 65 words, receiver",
     {0x641c0000, 0x61980000, 0x64030640, 0x40a00038},
     {{0}},
     {{113, ROW_XPIC, 0}, {165, ROW_POINTER, 0}, {178, ROW_XPIC, 0x640}},
     235,
     true,
     0,
     {{0}}},
    {"L32 to L0, 4148 words, sender",
     {0x40a0006c, 0x7fe00001, 0x766fc001},
     {{109, 4257, 0, 1}},
     {{0}},
     4257,
     true,
     0,
     {{0}}},
    {"L32 to L0, 4148 words, receiver",
     {0x641c0000, 0x61980000, 0x67ffc640, 0x40a00038},
     {{0}},
     {{113, ROW_XPIC, 0}, {165, ROW_POINTER, 0}, {4261, ROW_XPIC, 0x640}},
     4318,
     true,
     0,
     {{0}}},
    {"multicast L0 to L274 and L1286, sender",
     {0x40a00016, 0x78400003},
     {{23, 26, 0, 3}},
     {{0}},
     26,
     true,
     0,
     {{0}}},
    {"multicast, receiver L274",
     {0x64000000, 0x64008640, 0x61814000, 0x40a00007},
     {{0}},
     {{1, ROW_XPIC, 0}, {4, ROW_XPIC, 0x640}, {53, ROW_POINTER, 0x14000}},
     61,
     true,
     0,
     {{0}}},
    {"four messages of 52 words, vendor",
     {0x64000082, 0x40a00032, 0xf6600000, 0x03014048, 0xf6600000, 0x03095000, 0xf6600000,
      0x04016000, 0xf7200000, 0x19017000},
     {{0}},
     {{1, ROW_XPIC, 130},
      {53, ROW_XPIC, 192},
      {53, ROW_POINTER, 0x14048},
      {105, ROW_XPIC, 194},
      {105, ROW_POINTER, 0x15000},
      {157, ROW_XPIC, 256},
      {157, ROW_POINTER, 0x16000},
      {209, ROW_XPIC, 0x640},
      {209, ROW_POINTER, 0x17000}},
     266,
     true,
     0,
     {{0}}},
    /* Encoder examples of exchange.md 4, put behind each other by hand. */
    {"largest delays",
     {0x40a7ffff, 0x63f94000, 0x67ffc640},
     {{0}},
     {{0x80080, ROW_POINTER, 0x14000}, {0x81080, ROW_XPIC, 0x640}},
     0x81080,
     true,
     0,
     {{0}}},
    {"controls on a running stream",
     {0x7fea0002, 0x77efc002, 0x77f95000, 0x70100035, 0x713c0001, 0x71340640},
     {{0, 64 + 4096 + 64 + 1 + 10 + 10, 0x14000, 2}},
     {{4161, ROW_POINTER, 0x15000},
      {4225, ROW_XPIC, 53},
      {4226, ROW_FORMAT, 1},
      {4236, ROW_XPIC_PAIRED, 0x640}},
     4245,
     false,
     0,
     {{0}}},
    {"two controls on a stream",
     {0x780a0101, 0x70000001, 0xf54a0111, 0x19015000},
     {{0, 45, 0x14020, 1}},
     {{3, ROW_XPIC, 0x640}, {3, ROW_POINTER, 0x15000}},
     45,
     false,
     0,
     {{0}}},
    /* Paired examples of exchange.md 5: L0 -> {L2, L3}, 64 items from event 31 on. */
    {"64 items to L2 and L3, sender",
     {0x40a0001e, 0x7fe50005},
     {{31, 95, 0x0a000, 5}},
     {{0}},
     95,
     true,
     0,
     {{0}}},
    {"64 items to L2 and L3, early member L2",
     {0x64002000, 0x61a40001, 0x60094000, 0x64022640, 0x61a40000, 0x40a00006},
     {{0}},
     {{1, ROW_XPIC_PAIRED, 0},
      {54, ROW_FORMAT, 1},
      {56, ROW_POINTER, 0x14000},
      {65, ROW_XPIC_PAIRED, 0x640},
      {118, ROW_FORMAT, 0}},
     125,
     true,
     0,
     {{0}}},
    {"64 items to L2 and L3, late member L3",
     {0x61ac0001, 0x60094000, 0x61ec0000, 0x40a00006},
     {{0}},
     {{54, ROW_FORMAT, 1}, {56, ROW_POINTER, 0x14000}, {118, ROW_FORMAT, 0}},
     125,
     true,
     0,
     {{0}}},
    /* Own pair: L0 -> {L0, L1}, 256 items from 29 on. */
    {"256 items to L0's own pair, L0",
     {0x64002000, 0x40a0001b, 0x7aa50007, 0x703c0001, 0x77f94000, 0x71408007, 0x73940640,
      0x60b40000, 0x40a00006},
     {{29, 285, 0x0a000, 7}},
     {{1, ROW_XPIC_PAIRED, 0},
      {52, ROW_FORMAT, 1},
      {54, ROW_POINTER, 0x14000},
      {257, ROW_XPIC_PAIRED, 0x640},
      {308, ROW_FORMAT, 0}},
     315,
     true,
     0,
     {{0}}},
    /* Timed writes of the bases (exchange.md 6.2). */
    {"OUTGOING_BASE to zero and back to m6",
     {0x7840a001, 0x43f080a7, 0x7840b001, 0x436080a7, 0x7840a009},
     {{0, 3, 0x1400, 1}, {16, 19, 0x1600, 1}, {32, 35, 0x1401, 1}},
     {{0}},
     35,
     true,
     2,
     {{.event = 3}, {.event = 19, .is_moving = true}}},
    {"both bases",
     {0x40a00004, 0x19850000, 0x438080a4, 0x436080a7, 0x7840a001},
     {{32, 35, 0x1400, 1}},
     {{0}},
     35,
     true,
     1,
     {{.event = 5, .is_moving = true, .sets_incoming = true, .incoming = 0x50000}}},
};

static Arena arena;

static isize send_count(const Vector *v)
{
    isize n = 0;
    while (v->sends[n].end != 0) {
        n++;
    }
    return n;
}

static isize control_count(const Vector *v)
{
    isize n = 0;
    while (v->controls[n].event != 0) {
        n++;
    }
    return n;
}

static isize word_count(const Vector *v)
{
    isize n = WORDS_MAX;
    while (v->words[n - 1] == 0) {
        n--;
    }
    return n;
}

/* A script with room of its own behind its lists. */
static RowScript script_of(const RowSend *sends, isize send_total, const RowControl *controls,
                           isize control_total, Event end)
{
    return (RowScript){
        .sends = {(RowSend *)(uintptr_t)sends, send_total, send_total},
        .controls = {(RowControl *)(uintptr_t)controls, control_total, control_total},
        .end = end};
}

static void same_script(const RowScript *have, const RowScript *want)
{
    CHECK_EQ_INT(have->end, want->end);
    CHECK_EQ_INT(have->sends.len, want->sends.len);
    CHECK_EQ_INT(have->controls.len, want->controls.len);
    CHECK_EQ_INT(have->bases.len, want->bases.len);
    for (isize k = 0; k < want->sends.len; k++) {
        CHECK_EQ_INT(have->sends.at[k].begin, want->sends.at[k].begin);
        CHECK_EQ_INT(have->sends.at[k].end, want->sends.at[k].end);
        CHECK_EQ_INT(have->sends.at[k].address, want->sends.at[k].address);
        CHECK_EQ_INT(have->sends.at[k].sctl, want->sends.at[k].sctl);
    }
    for (isize k = 0; k < want->controls.len; k++) {
        CHECK_EQ_INT(have->controls.at[k].event, want->controls.at[k].event);
        CHECK_EQ_INT(have->controls.at[k].stream, want->controls.at[k].stream);
        CHECK_EQ_INT(have->controls.at[k].value, want->controls.at[k].value);
    }
    for (isize k = 0; k < want->bases.len; k++) {
        CHECK_EQ_INT(have->bases.at[k].event, want->bases.at[k].event);
        CHECK_EQ_INT(have->bases.at[k].is_moving, want->bases.at[k].is_moving);
        CHECK_EQ_INT(have->bases.at[k].sets_incoming, want->bases.at[k].sets_incoming);
        CHECK_EQ_INT(have->bases.at[k].incoming, want->bases.at[k].incoming);
    }
}

static RowScript script_of_vector(const Vector *v)
{
    RowScript script = script_of(v->sends, send_count(v), v->controls, control_count(v), v->end);
    script.bases = (RowBaseVec){(RowBase *)(uintptr_t)v->bases, v->base_count, v->base_count};
    return script;
}

static void decodes_vectors(void)
{
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        const Vector *v = &vectors[i];
        Arena temporary = arena;
        Error err = {0};
        RowScript have, want = script_of_vector(v);
        uint32_t words[WORDS_MAX + 1];
        isize count = word_count(v);
        memcpy(words, v->words, sizeof v->words);
        words[count] = RETURN;
        fprintf(stderr, "%s\n", v->name);
        CHECK_OK(row_decode(words, count + 1, &have, &temporary, &err), err);
        same_script(&have, &want);
    }
}

static void encodes_vectors(void)
{
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        const Vector *v = &vectors[i];
        Arena temporary = arena;
        RowWordVec words = {0};
        RowScript script = script_of_vector(v);
        Event at = -1;
        fprintf(stderr, "%s\n", v->name);
        CHECK(row_encode(&script, &words, &temporary, &at));
        if (v->is_composed) {
            CHECK_EQ_INT(words.len, word_count(v) + 1);
            for (isize k = 0; k < words.len - 1; k++) {
                CHECK_EQ_INT(words.at[k], v->words[k]);
            }
        }
        CHECK_EQ_INT(words.at[words.len - 1], RETURN);
    }
}

static bool encode_lists(const RowSend *sends, isize send_total, const RowControl *controls,
                         isize control_total, Event end, RowWordVec *out, Arena *temporary,
                         Event *at)
{
    RowScript script = script_of(sends, send_total, controls, control_total, end);
    return row_encode(&script, out, temporary, at);
}

/* exchange.md 4: sendpicp(43 from 0x14021, dir 1, XPIC 0x640, PIC 0x15000) -> f54a0109 19015000, on an even word: the one
 * plain item in front of it (X6) is one word, so an earlier delay is cut. */
static void encodes_sendpicp(void)
{
    Arena temporary = arena;
    RowWordVec words = {0};
    Event at;
    RowSend send = {5, 49, 0x14020, 1};
    RowControl controls[] = {{7, ROW_XPIC, 0x640}, {7, ROW_POINTER, 0x15000}};
    CHECK(encode_lists(&send, 1, controls, 2, 49, &words, &temporary, &at));
    static const uint32_t expected[] = {0x40a00004, 0x780a0101, 0xf54a0109, 0x19015000, RETURN};
    CHECK_EQ_INT(words.len, 5);
    for (int i = 0; i < 5; i++) {
        CHECK_EQ_INT(words.at[i], expected[i]);
    }
    /* Without a word in front the single item cannot be cut in two: not encodable. */
    send = (RowSend){0, 44, 0x14020, 1};
    controls[0].event = controls[1].event = 2;
    words = (RowWordVec){0};
    CHECK(!encode_lists(&send, 1, controls, 2, 44, &words, &temporary, &at));
    CHECK_EQ_INT(at, 2);
    /* Two items can. */
    controls[0].event = controls[1].event = 3;
    words = (RowWordVec){0};
    CHECK(encode_lists(&send, 1, controls, 2, 44, &words, &temporary, &at));
    CHECK_EQ_INT(words.at[0], 0x780a0101);
    CHECK_EQ_INT(words.at[1], 0x70000001);
}

static bool encodes(const RowSend *sends, isize send_total, const RowControl *controls,
                    isize control_total, Event *at)
{
    Arena temporary = arena;
    RowWordVec words = {0};
    return encode_lists(sends, send_total, controls, control_total, 200, &words, &temporary, at);
}

static void refuses_illegal_controls(void)
{
    Event at;
    RowSend send = {10, 20, 0x20000, 1};
    for (Event event = 9; event <= 21; event++) { /* X6: at the start or one behind */
        RowControl control = {event, ROW_XPIC, 5};
        CHECK(encodes(&send, 1, &control, 1, &at) == (event != 10 && event != 11));
    }
    RowControl zero = {0, ROW_XPIC, 5};
    CHECK(!encodes(NULL, 0, &zero, 1, &at));
    RowControl same[] = {{50, ROW_XPIC, 5}, {50, ROW_XPIC, 6}}; /* X5 */
    CHECK(!encodes(NULL, 0, same, 2, &at));
    CHECK_EQ_INT(at, 50);
    RowControl paired[] = {{50, ROW_XPIC_PAIRED, 5}, {50, ROW_POINTER, 6}};
    CHECK(!encodes(NULL, 0, paired, 2, &at));
    RowControl format[] = {{50, ROW_XPIC, 5}, {50, ROW_FORMAT, 1}};
    CHECK(!encodes(NULL, 0, format, 2, &at));
}

/* Every word that the decoder refuses, under the name of its rule (docs/exchange-rules.md). */
static void refuses_words(void)
{
    static const struct {
        uint32_t words[6];
        int count;
        const char *rule, *part;
    } cases[] = {
        {{0x41800003, RETURN}, 2, "S10", "not legal in a row"},  /* sync 3 */
        {{0x40c00000, RETURN}, 2, "S10", "not legal in a row"},  /* sans 0 */
        {{0x41801001, RETURN}, 2, "S10", "not legal in a row"},  /* trap */
        {{0x19e00000, RETURN}, 2, "S10", "not legal in a row"},  /* nop */
        {{0x43b00000}, 1, "S10", "not legal in a row"},          /* br m11 */
        {{0xc3a00000}, 1, "S10", "not legal in a row"},          /* br m10 as half of a bundle */
        {{0x40a00003}, 1, "S10", "does not end"},                /* no return */
        {{RETURN, 0x40a00003}, 2, "S10", "behind"},              /* words behind the return */
        {{0x70000001, RETURN}, 2, "S10", "continues no stream"}, /* sendoff without send */
        {{0x78000001, 0x40a00000, 0x70000001, RETURN}, 4, "S10", "continues no stream"},
        {{0x78000001, 0x43f080a7, 0x70000001, RETURN}, 4, "S10", "continues no stream"},
        {{0x78000001, 0x70000002, RETURN}, 3, "S10", "continues no stream"}, /* direction */
        {{0x70000009, RETURN}, 2, "S10", "not legal in a row"},              /* source delta */
        {{0xf6600000}, 1, "S10", "not legal in a row"}, /* half of a sendpicp */
        {{0xf6600008, 0x03014048, RETURN}, 3, "S10", "sends nothing and has an address"},
        {{0x40a00000, 0xf6600000, 0x03014048, RETURN}, 4, "X16", "odd word"},
        {{0xfe600000, 0x19000001, RETURN}, 3, "X5", "two controls"},   /* source and format */
        {{0xf6600000, 0x99014048, RETURN}, 3, "X5", "two controls"},   /* paired source, pointer */
        {{0x640005c0, RETURN}, 2, "X2", "no tile"},                    /* tile 1472 */
        {{0x64000600, RETURN}, 2, "X2", "no tile"},                    /* the host */
        {{0x78000001, 0x70102640, RETURN}, 3, "X2", "no tile"},        /* 14 bits */
        {{0x60040003, RETURN}, 2, "X4", "format that does not exist"}, /* format 3 */
        {{0x78000004, RETURN}, 2, "X8", "without a direction"},
        {{0x431080a7, RETURN}, 2, "X17", "write of the bases"}, /* OUTGOING_BASE from m1 */
        {{0x438080a4, 0x43f080a7, RETURN}, 3, "X17", "write of the bases"}, /* m8 is not set */
        {{0x19850000, 0x438080a4, RETURN}, 3, "X17", "write of the bases"}, /* INCOMING alone */
        {{0x19850000, 0x43f080a7, RETURN}, 3, "X17", "write of the bases"},
        {{0x19850000}, 1, "X17", "write of the bases"},
        {{0x19850002, 0x438080a4, 0x43f080a7, RETURN}, 4, "X14", "no multiple of 4"},
        {{0x43f080a0, RETURN}, 2, "X21", "register of the running exchange"}, /* INCOMING_MUX */
        {{0x43f080a2, RETURN}, 2, "X21", "register of the running exchange"}, /* the cursor */
        {{0x43f080a3, RETURN}, 2, "X21", "register of the running exchange"}, /* FORMAT */
        {{0x43f08060, RETURN}, 2, "S10", "not legal in a row"}, /* a register of something else */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Arena temporary = arena;
        RowScript script;
        Error err;
        CHECK_ERROR(row_decode(cases[i].words, cases[i].count, &script, &temporary, &err), err,
                    ERROR_INPUT, cases[i].part);
        Str text = str_of(err.message);
        CHECK_STR(str_cut(&text, ':'), str_of(cases[i].rule));
    }
    /* More events than an Event holds. */
    Arena temporary = arena;
    uint32_t *delays = arena_array(&temporary, uint32_t, 4097);
    for (int i = 0; i < 4096; i++) {
        delays[i] = 0x40a7ffff;
    }
    delays[4096] = RETURN;
    RowScript script;
    Error err;
    CHECK_ERROR(row_decode(delays, 4097, &script, &temporary, &err), err, ERROR_INPUT,
                "S10: word 2048");
}

/* What isa_decode says of a word of a row, as the step that it must be. Returns false for what is no step. */
static bool step_of_isa(uint32_t word, uint32_t next, Event *events, RowControl *control,
                        RowSend *send, bool *is_start)
{
    Insn insn = isa_decode(word, next, LANE_MAIN, CONTEXT_SUPERVISOR);
    const uint32_t *operand = insn.operand;
    *events = (Event)operand[0] + 1;
    *control = (RowControl){0};
    *send = (RowSend){0};
    *is_start = false;
    switch (insn.code) {
    case INSN_delay_mmmn_zi:
        return true;
    case INSN_delaypic_x:
        *control = (RowControl){*events, ROW_POINTER + operand[1], operand[2]};
        return operand[1] == 0 || operand[2] < 3;
    case INSN_delayxpic_x:
        *control = (RowControl){*events, ROW_XPIC + operand[1], operand[2]};
        return operand[2] < CHIP_TILES || operand[2] == 0x640;
    case INSN_send_mmmn_zi:
        *is_start = true;
        *send = (RowSend){0, *events, operand[1], operand[2]};
        return operand[2] != 4;
    case INSN_sendoff_x:
        *send = (RowSend){0, *events, 0, operand[2]};
        return operand[1] == 0 && operand[2] != 4;
    case INSN_sendpic_x: {
        bool is_source = operand[1] < 2, is_format = operand[1] == 3;
        *control = (RowControl){1, (RowStream)operand[1], operand[2]};
        *send = (RowSend){0, *events, 0, 8};
        return is_source ? operand[2] < CHIP_TILES || operand[2] == 0x640
                         : !is_format || operand[2] < 3;
    }
    default:
        return false;
    }
}

/* Every one-word form with random fields, behind a running stream of its sctl: the decoder says what isa_decode says, also
 * where it refuses. */
static void agrees_with_isa(void)
{
    static const InsnCode codes[] = {INSN_delay_mmmn_zi, INSN_delaypic_x, INSN_delayxpic_x,
                                     INSN_send_mmmn_zi,  INSN_sendoff_x,  INSN_sendpic_x};
    uint64_t seed = test_seed(5), n = 0;
    for (size_t c = 0; c < sizeof codes / sizeof *codes; c++) {
        const InsnForm *form = isa_form(codes[c]);
        int legal = 0;
        for (int i = 0; i < 20000; i++) {
            Arena temporary = arena;
            uint32_t random = (uint32_t)random_u64(seed, n++);
            if (i % 2 == 0) { /* low values are the legal ones */
                random &= codes[c] == INSN_sendoff_x ? ~0x3ff8u : ~0x3f800u;
            }
            uint32_t word = form->match | (random & ~form->mask), sctl = word & 7;
            uint32_t words[] = {0x78001000 | (sctl == 4 ? 1 : sctl), word, RETURN};
            Event events;
            RowControl control;
            RowSend send;
            bool is_start;
            bool is_legal = step_of_isa(word, RETURN, &events, &control, &send, &is_start);
            RowScript script;
            Error err = {0};
            CHECK_EQ_INT(row_decode(words, 3, &script, &temporary, &err), is_legal);
            if (!is_legal) {
                continue;
            }
            legal++;
            CHECK_EQ_INT(script.end, 1 + events);
            CHECK_EQ_INT(script.controls.len, control.event != 0);
            if (control.event != 0) {
                CHECK_EQ_INT(script.controls.at[0].event, 1 + control.event);
                CHECK_EQ_INT(script.controls.at[0].stream, control.stream);
                CHECK_EQ_INT(script.controls.at[0].value, control.value);
            }
            CHECK_EQ_INT(script.sends.len, is_start ? 2 : 1);
            CHECK_EQ_INT(script.sends.at[0].end, send.end != 0 && !is_start ? 1 + events : 1);
            if (is_start) {
                CHECK_EQ_INT(script.sends.at[1].begin, 1);
                CHECK_EQ_INT(script.sends.at[1].end, 1 + events);
                CHECK_EQ_INT(script.sends.at[1].address, send.address);
                CHECK_EQ_INT(script.sends.at[1].sctl, send.sctl);
            }
        }
        CHECK(legal > 2000);
    }
}

/* The same of sendpicp, of which a row takes an ordinary source with an ordinary pointer. */
static void agrees_with_isa_on_sendpicp(void)
{
    const InsnForm *form = isa_form(INSN_sendpicp_x);
    uint64_t seed = test_seed(6), n = 0;
    int legal = 0;
    for (int i = 0; i < 20000; i++) {
        Arena temporary = arena;
        uint32_t first = (uint32_t)random_u64(seed, n++), second = (uint32_t)random_u64(seed, n++);
        first &= i % 2 == 0 ? ~0x08000000u : ~0u;
        second &= i % 2 == 0 ? 0x0fffffff : ~0u;
        uint32_t words[] = {form->match | (first & ~form->mask), second, RETURN};
        Insn insn = isa_decode(words[0], words[1], LANE_MAIN, CONTEXT_SUPERVISOR);
        CHECK_EQ_INT(insn.code, INSN_sendpicp_x);
        uint32_t items = insn.operand[0] + 1, address = insn.operand[1], sctl = insn.operand[2];
        uint32_t source = insn.operand[4] >> 18, pointer = insn.operand[4] & 0x3ffff;
        bool is_legal = insn.operand[3] == 0 && (source < CHIP_TILES || source == 0x640) &&
                        sctl != 4 && (sctl != 0 || address == 0);
        RowScript script;
        Error err = {0};
        CHECK_EQ_INT(row_decode(words, 3, &script, &temporary, &err), is_legal);
        if (!is_legal) {
            continue;
        }
        legal++;
        RowSend send = {0, (Event)items, address, sctl};
        RowControl controls[] = {{1, ROW_XPIC, source}, {1, ROW_POINTER, pointer}};
        RowScript want = script_of(&send, sctl != 0, controls, 2, (Event)items);
        same_script(&script, &want);
    }
    CHECK(legal > 2000);
}

/* No other word of a supervisor is taken for one of a row, or the other way round. */
static void agrees_with_isa_on_all_words(void)
{
    uint64_t seed = test_seed(7);
    int legal = 0;
    for (uint64_t n = 0; n < 300000; n++) {
        Arena temporary = arena;
        uint32_t word = (uint32_t)random_u64(seed, n);
        word = n % 3 == 0 ? word : (word & 0x07ffffff) | 0x40000000 | (word & 0x38000000);
        Event events;
        RowControl control;
        RowSend send;
        bool is_start;
        bool is_step = step_of_isa(word, 0, &events, &control, &send, &is_start) &&
                       (send.end == 0 || is_start);
        uint32_t words[] = {word, RETURN};
        RowScript script;
        Error err = {0};
        bool ok = row_decode(words, word == RETURN ? 1 : 2, &script, &temporary, &err);
        bool is_base = word == 0x43f080a7 || word == 0x436080a7;
        CHECK_EQ_INT(ok, is_step || is_base || word == RETURN);
        legal += ok;
    }
    CHECK(legal > 1000);
}

/* Random legal lists come back from the words unchanged. */
static void round_trips(void)
{
    uint64_t seed = test_seed(11), n = 0;
    int encoded = 0;
    for (int round = 0; round < 3000; round++) {
        Arena temporary = arena;
        RowSendVec sends = {0};
        RowControlVec controls = {0};
        Event now = (Event)random_below(seed, n++, 40);
        int count = (int)random_below(seed, n++, 12);
        for (int i = 0; i < count; i++) {
            Event length = 1 + (Event)random_below(seed, n++, round % 3 == 0 ? 5000 : 30);
            uint32_t address = (uint32_t)random_below(seed, n++, 1 << 17);
            *vec_push(&sends, &temporary) =
                (RowSend){now, now + length, address, 1 + (uint32_t)(i % 3)};
            Event gap = (Event)random_below(seed, n++, 20);
            now += random_below(seed, n++, 3) == 0 ? length : length + gap;
        }
        Event end = now + 10;
        isize send = 0;
        for (Event event = 1 + (Event)random_below(seed, n++, 30); event <= end;
             event += 1 + (Event)random_below(seed, n++, round % 2 == 0 ? 4 : 300)) {
            while (send < sends.len && sends.at[send].begin + 1 < event) {
                send++;
            }
            if (send < sends.len && sends.at[send].begin <= event) {
                continue;
            }
            uint64_t kind = random_below(seed, n++, 6);
            uint32_t value = (uint32_t)random_below(seed, n++, 1472);
            if (kind < 2) {
                *vec_push(&controls, &temporary) = (RowControl){event, ROW_XPIC, value};
                *vec_push(&controls, &temporary) = (RowControl){event, ROW_POINTER, 100 * value};
            } else {
                *vec_push(&controls, &temporary) =
                    (RowControl){event, (RowStream)(kind - 2), value % 3};
            }
        }
        RowWordVec words = {0};
        Event at;
        if (!encode_lists(sends.at, sends.len, controls.at, controls.len, end, &words, &temporary,
                          &at)) {
            bool is_control = false; /* parity: the event named is a shared one */
            for (isize i = 1; i < controls.len; i++) {
                is_control |= controls.at[i].event == at && controls.at[i - 1].event == at;
            }
            CHECK(is_control);
            continue;
        }
        encoded++;
        RowScript back, script = script_of(sends.at, sends.len, controls.at, controls.len, end);
        Error err = {0};
        CHECK_OK(row_decode(words.at, words.len, &back, &temporary, &err), err);
        same_script(&back, &script);
    }
    CHECK(encoded > 2000);
}

static void prints(void)
{
    Arena temporary = arena;
    Writer writer = writer_buffer(&temporary);
    uint32_t words[] = {0x64000082, 0x40a00032, 0xf6600000, 0x03014048, 0x41800003, RETURN};
    row_print(&writer, words, 6);
    Str text = writer_text(&writer);
    int lines = 0;
    for (isize at = str_find(text, '\n', 0); at >= 0; at = str_find(text, '\n', at + 1)) {
        lines++;
    }
    CHECK_EQ_INT(lines, 5); /* one a word, sendpicp one line */
    Str first = str_cut(&text, '\n'), second = str_cut(&text, '\n'), third = str_cut(&text, '\n');
    CHECK(strstr(first.at, "# xpic=130 at 1") != NULL);
    CHECK(str_starts(str_trim(second), S("1  40a00032")));
    CHECK(str_starts(str_trim(third), S("52  f6600000 03014048")));
    CHECK(strstr(third.at, "pointer=0x50120 at 53") != NULL);
    CHECK(str_ends(str_cut(&text, '\n'), S("not legal in a row")));
}

/* A base write has a line for every word, and says at the last one what it means. */
static void prints_bases(void)
{
    Arena temporary = arena;
    Writer writer = writer_buffer(&temporary);
    uint32_t words[] = {0x43f080a7, 0x19850000, 0x438080a4, 0x436080a7, RETURN};
    row_print(&writer, words, 5);
    Str text = writer_text(&writer), line[5];
    for (int i = 0; i < 5; i++) {
        line[i] = str_trim(str_cut(&text, '\n'));
    }
    CHECK(str_ends(line[0], S("# outgoing-base=0 from 13")));
    CHECK(str_starts(line[1], S("13  19850000")));
    CHECK(str_starts(line[2], S("14  438080a4")));
    CHECK(str_starts(line[3], S("27  436080a7")));
    CHECK(str_ends(line[3], S("# outgoing-base=m6 incoming-base=0x50000 from 40")));
    CHECK(str_starts(line[4], S("40  43a00000")));
    CHECK_EQ_INT(text.len, 0);
}

static void setup(void)
{
    arena = arena_create((isize)1 << 30);
}

TEST_MAIN(setup, decodes_vectors, encodes_vectors, encodes_sendpicp, refuses_illegal_controls,
          refuses_words, agrees_with_isa, agrees_with_isa_on_sendpicp, agrees_with_isa_on_all_words,
          round_trips, prints, prints_bases)
