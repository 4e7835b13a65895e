/* Row codec against the reference vectors (exchange.md 3.3) and encoder examples (exchange.md 4). */
#include "codec.h"
#include "exchange/exchange.h"
#include "test.h"

enum { RETURN = 0x43a00000, WORDS_MAX = 16, LIST_MAX = 16 };

typedef struct Vector {
    const char *name;
    uint32_t words[WORDS_MAX];     /* without `br m10`; ends with 0 */
    RowSend sends[LIST_MAX];       /* ends with end == 0 */
    RowControl controls[LIST_MAX]; /* ends with event == 0 */
    Event end;
    bool is_composed; /* our encoder gives the same words */
} Vector;

/* Point-to-point rows start 112 - T, select the source at 113 and the pointer at 165 + 2R (exchange.md 3.3); T and R of the
 * routes from 2.5: -23 R0, 49 R4, -14 R0, 3 R0. Row ends by exchange.md 3.4. */
static const Vector vectors[] = {
    {"L0 to L1286, 3 words, sender",
     {0x40a00086, 0x78400001},
     {{135, 138, 0, 1}},
     {{0}},
     138,
     true},
    {"L0 to L1286, 3 words, receiver",
     {0x641c0000, 0x64008640, 0x61800000, 0x40a00007},
     {{0}},
     {{113, ROW_XPIC, 0}, {116, ROW_XPIC, 0x640}, {165, ROW_POINTER, 0}},
     173,
     true},
    {"L736 to L100, 52 words, sender",
     {0x40a0003e, 0x7e600002},
     {{63, 115, 0, 2}},
     {{0}},
     115,
     true},
    {"L736 to L100, 52 words, receiver, pointer one event early",
     {0x641c0000, 0x61d00000, 0x64000640, 0x40a00038},
     {{0}},
     {{113, ROW_XPIC, 0}, {172, ROW_POINTER, 0}, {173, ROW_XPIC, 0x640}},
     230,
     true},
    {"L1286 to L1471, 65 words, sender",
     {0x40a0007d, 0x7fe00002, 0x70000002},
     {{126, 191, 0, 2}},
     {{0}},
     191,
     true},
    {"L1286 to L1471, 65 words, receiver",
     {0x641c0000, 0x61980000, 0x64030640, 0x40a00038},
     {{0}},
     {{113, ROW_XPIC, 0}, {165, ROW_POINTER, 0}, {178, ROW_XPIC, 0x640}},
     235,
     true},
    {"L32 to L0, 4148 words, sender",
     {0x40a0006c, 0x7fe00001, 0x766fc001},
     {{109, 4257, 0, 1}},
     {{0}},
     4257,
     true},
    {"L32 to L0, 4148 words, receiver",
     {0x641c0000, 0x61980000, 0x67ffc640, 0x40a00038},
     {{0}},
     {{113, ROW_XPIC, 0}, {165, ROW_POINTER, 0}, {4261, ROW_XPIC, 0x640}},
     4318,
     true},
    {"multicast L0 to L274 and L1286, sender",
     {0x40a00016, 0x78400003},
     {{23, 26, 0, 3}},
     {{0}},
     26,
     true},
    {"multicast, receiver L274",
     {0x64000000, 0x64008640, 0x61814000, 0x40a00007},
     {{0}},
     {{1, ROW_XPIC, 0}, {4, ROW_XPIC, 0x640}, {53, ROW_POINTER, 0x14000}},
     61,
     true},
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
     true},
    /* Encoder examples of exchange.md 4, put behind each other by hand. */
    {"largest delays",
     {0x40a7ffff, 0x63f94000, 0x67ffc640},
     {{0}},
     {{0x80080, ROW_POINTER, 0x14000}, {0x81080, ROW_XPIC, 0x640}},
     0x81080,
     true},
    {"controls on a running stream",
     {0x7fea0002, 0x77efc002, 0x77f95000, 0x70100035, 0x713c0001, 0x71340640},
     {{0, 64 + 4096 + 64 + 1 + 10 + 10, 0x14000, 2}},
     {{4161, ROW_POINTER, 0x15000},
      {4225, ROW_XPIC, 53},
      {4226, ROW_FORMAT, 1},
      {4236, ROW_XPIC_PAIRED, 0x640}},
     4245,
     false},
    {"two controls on a stream",
     {0x780a0101, 0x70000001, 0xf54a0111, 0x19015000},
     {{0, 45, 0x14020, 1}},
     {{3, ROW_XPIC, 0x640}, {3, ROW_POINTER, 0x15000}},
     45,
     false},
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

static void decodes_vectors(void)
{
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        const Vector *v = &vectors[i];
        Arena temporary = arena;
        Error err = {0};
        RowSendVec sends = {0};
        RowControlVec controls = {0};
        Event end = -1;
        uint32_t words[WORDS_MAX + 1];
        isize count = word_count(v);
        memcpy(words, v->words, sizeof v->words);
        words[count] = RETURN;
        fprintf(stderr, "%s\n", v->name);
        CHECK_OK(decode_lists(words, count + 1, &sends, &controls, &end, &temporary, &err), err);
        CHECK_EQ_INT(end, v->end);
        CHECK_EQ_INT(sends.len, send_count(v));
        CHECK_EQ_INT(controls.len, control_count(v));
        for (isize k = 0; k < sends.len; k++) {
            CHECK_EQ_INT(sends.at[k].begin, v->sends[k].begin);
            CHECK_EQ_INT(sends.at[k].end, v->sends[k].end);
            CHECK_EQ_INT(sends.at[k].address, v->sends[k].address);
            CHECK_EQ_INT(sends.at[k].sctl, v->sends[k].sctl);
        }
        for (isize k = 0; k < controls.len; k++) {
            CHECK_EQ_INT(controls.at[k].event, v->controls[k].event);
            CHECK_EQ_INT(controls.at[k].stream, v->controls[k].stream);
            CHECK_EQ_INT(controls.at[k].value, v->controls[k].value);
        }
    }
}

static void encodes_vectors(void)
{
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        const Vector *v = &vectors[i];
        Arena temporary = arena;
        RowWordVec words = {0};
        Event at = -1;
        fprintf(stderr, "%s\n", v->name);
        CHECK(encode_lists(v->sends, send_count(v), v->controls, control_count(v), v->end, &words,
                           &temporary, &at));
        if (v->is_composed) {
            CHECK_EQ_INT(words.len, word_count(v) + 1);
            for (isize k = 0; k < words.len - 1; k++) {
                CHECK_EQ_INT(words.at[k], v->words[k]);
            }
        }
        CHECK_EQ_INT(words.at[words.len - 1], RETURN);
    }
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

static void refuses_words(void)
{
    static const struct {
        uint32_t words[6];
        int count;
        const char *part;
    } cases[] = {
        {{0x41800003, RETURN}, 2, "not legal in a row"},  /* sync 3 */
        {{0x40c00000, RETURN}, 2, "not legal in a row"},  /* sans 0 */
        {{0x41801001, RETURN}, 2, "not legal in a row"},  /* trap */
        {{0x19e00000, RETURN}, 2, "not legal in a row"},  /* nop */
        {{0x43b00000}, 1, "not legal in a row"},          /* br m11 */
        {{0x40a00003}, 1, "does not end"},                /* no return */
        {{RETURN, 0x40a00003}, 2, "behind"},              /* words behind the return */
        {{0x70000001, RETURN}, 2, "continues no stream"}, /* sendoff without send */
        {{0x78000001, 0x40a00000, 0x70000001, RETURN}, 4, "continues no stream"},
        {{0x78000001, 0x70000002, RETURN},
         3,
         "continues no stream"}, /* sendoff with another direction */
        {{0x40a00000, 0xf6600000, 0x03014048, RETURN}, 4, "X16"},
        {{0x70000009, RETURN}, 2, "not legal in a row"}, /* source delta */
        {{0xf6600000}, 1, "not legal in a row"},         /* half of a sendpicp */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Arena temporary = arena;
        RowSendVec sends = {0};
        RowControlVec controls = {0};
        Event end;
        Error err;
        CHECK_ERROR(
            decode_lists(cases[i].words, cases[i].count, &sends, &controls, &end, &temporary, &err),
            err, ERROR_INPUT, cases[i].part);
    }
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
        RowSendVec sends_back = {0};
        RowControlVec controls_back = {0};
        Event end_back;
        Error err = {0};
        CHECK_OK(decode_lists(words.at, words.len, &sends_back, &controls_back, &end_back,
                              &temporary, &err),
                 err);
        CHECK_EQ_INT(end_back, end);
        CHECK_EQ_INT(sends_back.len, sends.len);
        CHECK_EQ_INT(controls_back.len, controls.len);
        CHECK(sends.len == 0 ||
              memcmp(sends_back.at, sends.at, (size_t)sends.len * sizeof(RowSend)) == 0);
        for (isize i = 0; i < controls.len; i++) {
            CHECK_EQ_INT(controls_back.at[i].event, controls.at[i].event);
            CHECK_EQ_INT(controls_back.at[i].stream, controls.at[i].stream);
            CHECK_EQ_INT(controls_back.at[i].value, controls.at[i].value);
        }
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

static void setup(void)
{
    arena = arena_create((isize)1 << 30);
}

TEST_MAIN(setup, decodes_vectors, encodes_vectors, encodes_sendpicp, refuses_illegal_controls,
          refuses_words, round_trips, prints)
