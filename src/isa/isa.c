/* The form table, encode and decode.
 *
 * Masks, matches and fields of every form are computed from the pattern strings of isa/isa.def once, on first use. Decoding
 * looks a word up in buckets over the bits that tell most forms apart (opcode 30:24, sub-opcodes 11:8 and 3:0), so that one
 * or two candidates are left to compare.
 * Implements isa/assembler.md 1 (columns of the table, operand kinds, decoding rules).
 */
#include "isa/isa.h"
#include "base/bits.h"
#include <pthread.h>
#include <string.h>

enum {
    SEGMENTS_MAX = 3,
    BUCKET_BITS = 15,
    BUCKETS = 1 << BUCKET_BITS,
    BUCKET_ENTRIES_MAX = 1 << 17,
};

/* A run of bits of an operand: ((operand >> operand_lo) & mask) << word_lo of word `word`. */
typedef struct Segment {
    uint8_t word, word_lo, operand_lo;
    uint32_t mask;
} Segment;

typedef struct FormFields {
    uint8_t segment_count[INSN_OPERANDS_MAX];
    Segment segment[INSN_OPERANDS_MAX][SEGMENTS_MAX];
} FormFields;

typedef struct FormSource {
    const char *form, *mnemonic, *pattern, *operands, *field_map;
    uint8_t lane, context, may_coissue, flags;
} FormSource;

static const FormSource sources[INSN_COUNT] = {
    {"", "", "", "", "", 0, 0, 0, 0},
#define INSN(form, mnemonic, pattern, operands, field_map, lane, context, coissue, flags)          \
    {#form, #mnemonic, pattern, operands, field_map, lane, context, coissue, flags},
#include "isa/isa.def"
#undef INSN
};

/* Written once under table_once, read-only afterwards. */
static InsnForm forms[INSN_COUNT];
static FormFields fields[INSN_COUNT];
static uint32_t bucket_start[BUCKETS + 1];
static uint16_t bucket_entry[BUCKET_ENTRIES_MAX];
static pthread_once_t table_once = PTHREAD_ONCE_INIT;

static uint32_t ones(int bits)
{
    return bits >= 32 ? ~0u : (1u << bits) - 1;
}

/* The bits that choose a bucket. */
static uint32_t bucket_of(uint32_t word)
{
    return ((word >> 24) & 0x7f) << 8 | ((word >> 8) & 15) << 4 | (word & 15);
}

static bool text_is(const char *at, size_t len, const char *text)
{
    return strlen(text) == len && memcmp(at, text, len) == 0;
}

static int number_at(const char **at)
{
    int value = 0;
    while (**at >= '0' && **at <= '9') {
        value = value * 10 + (*(*at)++ - '0');
    }
    return value;
}

/* Reads the `kind` text of one operand: register files, suffixes, immediates (isa/assembler.md 1). */
static void parse_kind(const char *at, size_t len, InsnOperand *out)
{
    static const struct {
        const char *name;
        OperandKind kind;
    } registers[] = {{"arp", OPERAND_ARP},
                     {"arq", OPERAND_ARQ},
                     {"mrp", OPERAND_MRP},
                     {"ar", OPERAND_AR},
                     {"mr", OPERAND_MR}};
    static const struct {
        const char *name;
        OperandKind kind;
        uint8_t bits;
    } immediates[] = {{"zimm", OPERAND_ZIMM, 0},         {"simm", OPERAND_SIMM, 0},
                      {"immz12", OPERAND_IMMZ12, 12},    {"addr19s2", OPERAND_CODE, 19},
                      {"addr20s2", OPERAND_CODE, 20},    {"csr8", OPERAND_CSR, 8},
                      {"cccs8", OPERAND_CCCS, 8},        {"vtx16s2", OPERAND_VTX, 16},
                      {"payload32", OPERAND_PAYLOAD, 32}};
    for (size_t i = 0; i < sizeof immediates / sizeof *immediates; i++) {
        size_t name_len = strlen(immediates[i].name);
        if (len >= name_len && memcmp(at, immediates[i].name, name_len) == 0) {
            const char *digits = at + name_len;
            out->kind = immediates[i].kind;
            out->bits = immediates[i].bits ? immediates[i].bits : (uint8_t)number_at(&digits);
            ASSERT(digits == at + len);
            return;
        }
    }
    if (len > 5 && memcmp(at, "enum:", 5) == 0) {
        ASSERT(len - 5 < sizeof out->enumeration);
        out->kind = OPERAND_ENUM;
        memcpy(out->enumeration, at + 5, len - 5);
        return;
    }
    for (size_t i = 0; i < sizeof registers / sizeof *registers; i++) {
        size_t name_len = strlen(registers[i].name);
        if (len >= name_len && memcmp(at, registers[i].name, name_len) == 0) {
            const char *rest = at + name_len;
            size_t rest_len = len - name_len;
            out->kind = registers[i].kind;
            out->bits = 4;
            if (text_is(rest, rest_len, "(rw)")) {
                out->is_updated = true;
            } else if (rest_len > 1 && rest[0] == ':') {
                ASSERT(rest_len - 1 < sizeof out->broadcast);
                memcpy(out->broadcast, rest + 1, rest_len - 1);
            } else if (rest_len > 0) {
                ASSERT(rest_len < sizeof out->suffix);
                out->is_updated = true;
                memcpy(out->suffix, rest, rest_len);
            }
            return;
        }
    }
    bool is_kind_known = false;
    ASSERT(is_kind_known);
}

/* `[hi:lo]` or `=op[hi:lo]` behind the bracket. */
static void parse_range(const char **at, int *hi, int *lo)
{
    ASSERT(**at == '[');
    *at += 1;
    *hi = number_at(at);
    ASSERT(**at == ':');
    *at += 1;
    *lo = number_at(at);
    ASSERT(**at == ']');
    *at += 1;
}

/* Segments of `letter` from the field map; false when the map does not name it bit by bit. */
static bool map_field(const char *map, char letter, FormFields *out, int operand)
{
    for (const char *at = map; *at;) {
        bool is_ours = *at == letter;
        at += 2;
        while (*at && *at != ';') {
            int hi, lo, from_hi, from_lo;
            parse_range(&at, &hi, &lo);
            ASSERT(*at == '=');
            at += 1;
            if (memcmp(at, "op[", 3) != 0) {
                return false; /* the named parts of a payload are documentation only */
            }
            at += 2;
            parse_range(&at, &from_hi, &from_lo);
            ASSERT(hi - lo == from_hi - from_lo);
            if (is_ours) {
                ASSERT(out->segment_count[operand] < SEGMENTS_MAX);
                out->segment[operand][out->segment_count[operand]++] =
                    (Segment){0, (uint8_t)lo, (uint8_t)from_lo, ones(hi - lo + 1)};
            }
            at += *at == ',' ? 1 : 0;
        }
        at += *at == ';' ? 1 : 0;
    }
    return out->segment_count[operand] > 0;
}

/* Segment of a letter that stands in one run. */
static void run_field(const char *pattern, char letter, FormFields *out, int operand)
{
    for (int word = 0; word < 2; word++) {
        const char *bits = pattern + 33 * word;
        const char *first = strchr(bits, letter);
        if (first && first < bits + 32) {
            int count = 1;
            while (first + count < bits + 32 && first[count] == letter) {
                count++;
            }
            int lo = 31 - (int)(first - bits) - (count - 1);
            out->segment[operand][0] = (Segment){(uint8_t)word, (uint8_t)lo, 0, ones(count)};
            out->segment_count[operand] = 1;
            return;
        }
        if (strlen(pattern) <= 32) {
            break;
        }
    }
    bool is_letter_in_pattern = false;
    ASSERT(is_letter_in_pattern);
}

static void build_form(const FormSource *source, InsnForm *form, FormFields *field)
{
    form->form = source->form;
    form->mnemonic = source->mnemonic;
    form->lane = (InsnLane)source->lane;
    form->context = (InsnContext)source->context;
    form->may_coissue = source->may_coissue;
    form->flags = source->flags;
    size_t pattern_len = strlen(source->pattern);
    ASSERT(pattern_len == 32 || pattern_len == 65);
    form->words = pattern_len == 32 ? 1 : 2;
    for (int i = 0; i < 32; i++) {
        uint32_t bit = 1u << (31 - i);
        char c = source->pattern[i];
        ASSERT((c == 'c') == (i == 0 && form->may_coissue));
        form->mask |= c == '0' || c == '1' ? bit : 0;
        form->match |= c == '1' ? bit : 0;
    }
    for (const char *at = source->operands; *at;) {
        size_t len = strcspn(at, " ");
        int index = form->operand_count++;
        ASSERT(index < INSN_OPERANDS_MAX && len > 2 && at[1] == '=');
        InsnOperand *operand = &form->operand[index];
        operand->letter = at[0];
        parse_kind(at + 2, len - 2, operand);
        if (!map_field(source->field_map, operand->letter, field, index)) {
            run_field(source->pattern, operand->letter, field, index);
        }
        if (operand->kind == OPERAND_ENUM) {
            operand->family = (uint8_t)flag_family_of(operand->enumeration, form->mnemonic);
            for (int s = 0; s < field->segment_count[index]; s++) {
                const Segment *segment = &field->segment[index][s];
                int end = segment->operand_lo + __builtin_popcount(segment->mask);
                operand->bits = end > operand->bits ? (uint8_t)end : operand->bits;
            }
        }
        at += len;
        at += *at == ' ' ? 1 : 0;
    }
}

/* Enters every form into each bucket that a word of it can fall into: count first, then fill. */
static void build_buckets(void)
{
    for (int pass = 0; pass < 2; pass++) {
        for (int code = 1; code < INSN_COUNT; code++) {
            uint32_t fixed = bucket_of(forms[code].mask), match = bucket_of(forms[code].match);
            uint32_t is_free = ~fixed & (BUCKETS - 1), choice = 0;
            do {
                uint32_t bucket = match | choice;
                if (pass == 0) {
                    bucket_start[bucket + 1]++;
                } else {
                    bucket_entry[bucket_start[bucket]++] = (uint16_t)code;
                }
                choice = (choice - is_free) & is_free;
            } while (choice);
        }
        if (pass == 0) {
            for (int i = 0; i < BUCKETS; i++) {
                bucket_start[i + 1] += bucket_start[i];
            }
            ASSERT(bucket_start[BUCKETS] <= BUCKET_ENTRIES_MAX);
        } else {
            memmove(bucket_start + 1, bucket_start,
                    sizeof(uint32_t) * BUCKETS); /* filling moved them one up */
            bucket_start[0] = 0;
        }
    }
}

static void build_table(void)
{
    for (int code = 1; code < INSN_COUNT; code++) {
        build_form(&sources[code], &forms[code], &fields[code]);
    }
    build_buckets();
}

static void need_table(void)
{
    int failed = pthread_once(&table_once, build_table);
    ASSERT(failed == 0);
}

/* What the kind can hold, before range checks of the field: the operand value as the field's content. */
static bool field_of_operand(const InsnOperand *operand, uint32_t value, uint32_t *field)
{
    uint32_t top = ones(operand->bits);
    switch (operand->kind) {
    case OPERAND_MR:
    case OPERAND_AR:
        *field = value;
        return value < 16;
    case OPERAND_MRP:
    case OPERAND_ARP:
        *field = value;
        return value < 16 && value % 2 == 0;
    case OPERAND_ARQ:
        *field = value;
        return value < 16 && value % 4 == 0;
    case OPERAND_SIMM:
        *field = value & top;
        return (uint32_t)sign_extend(value & top, operand->bits) == value;
    case OPERAND_IMMZ12:
        *field = value >> 20;
        return (value & 0xfffff) == 0;
    case OPERAND_CODE:
        *field = value >> 2;
        return value % 4 == 0 && value >> 2 <= top;
    case OPERAND_CCCS:
        *field = value;
        return value < 64;
    case OPERAND_ZIMM:
    case OPERAND_CSR:
    case OPERAND_VTX:
    case OPERAND_ENUM:
    case OPERAND_PAYLOAD:
        *field = value;
        return value <= top;
    case OPERAND_NONE:
        break;
    }
    return false;
}

/* Inverse of field_of_operand; false for a reserved content. */
static bool operand_of_field(const InsnOperand *operand, uint32_t field, uint32_t *value)
{
    switch (operand->kind) {
    case OPERAND_SIMM:
        *value = (uint32_t)sign_extend(field, operand->bits);
        return true;
    case OPERAND_IMMZ12:
        *value = field << 20;
        return true;
    case OPERAND_CODE:
        *value = field << 2;
        return true;
    case OPERAND_MRP:
    case OPERAND_ARP:
        *value = field;
        return field % 2 == 0;
    case OPERAND_ARQ:
        *value = field;
        return field % 4 == 0;
    case OPERAND_CCCS:
        *value = field;
        return field < 64;
    default:
        *value = field;
        return true;
    }
}

static bool refuse_operand(const InsnForm *form, int index, uint32_t value, Error *err)
{
    static const char *const expected[] = {
        [OPERAND_NONE] = "nothing",
        [OPERAND_MR] = "a main register 0..15",
        [OPERAND_MRP] = "a main register pair (even first register)",
        [OPERAND_AR] = "an aux register 0..15",
        [OPERAND_ARP] = "an aux register pair (even first register)",
        [OPERAND_ARQ] = "an aux register quad (first register a multiple of 4)",
        [OPERAND_IMMZ12] = "a 32-bit value whose low 20 bits are zero",
        [OPERAND_CODE] = "a code address, a multiple of 4",
        [OPERAND_CSR] = "a CSR number 0..255",
        [OPERAND_CCCS] = "a coefficient index 0..63",
        [OPERAND_PAYLOAD] = "a 32-bit word",
    };
    const InsnOperand *operand = &form->operand[index];
    switch (operand->kind) {
    case OPERAND_SIMM:
        return error_set(err, ERROR_INPUT, NULL, "operand %d of %s is %d, expected %d..%d",
                         index + 1, form->mnemonic, (int32_t)value, -(1 << (operand->bits - 1)),
                         (1 << (operand->bits - 1)) - 1);
    case OPERAND_ZIMM:
    case OPERAND_VTX:
    case OPERAND_ENUM:
        return error_set(err, ERROR_INPUT, NULL, "operand %d of %s is %lld, expected 0..%u",
                         index + 1, form->mnemonic, (long long)(int32_t)value, ones(operand->bits));
    case OPERAND_CODE:
        return error_set(err, ERROR_INPUT, NULL, "operand %d of %s is 0x%x, expected %s below 0x%x",
                         index + 1, form->mnemonic, value, expected[OPERAND_CODE],
                         1u << (operand->bits + 2));
    default:
        return error_set(err, ERROR_INPUT, NULL, "operand %d of %s is %lld, expected %s", index + 1,
                         form->mnemonic, (long long)(int32_t)value, expected[operand->kind]);
    }
}

const InsnForm *isa_form(InsnCode code)
{
    need_table();
    ASSERT(code > INSN_NONE && code < INSN_COUNT);
    return &forms[code];
}

int isa_forms_of(Str mnemonic, InsnCode *first)
{
    for (int code = 1; code < INSN_COUNT; code++) {
        if (text_is(mnemonic.at, (size_t)mnemonic.len, sources[code].mnemonic)) {
            int count = 1;
            while (code + count < INSN_COUNT &&
                   strcmp(sources[code + count].mnemonic, sources[code].mnemonic) == 0) {
                count++;
            }
            *first = (InsnCode)code;
            return count;
        }
    }
    return 0;
}

bool isa_encode(InsnCode code, const uint32_t operand[INSN_OPERANDS_MAX], bool is_coissued,
                uint32_t word[2], Error *err)
{
    const InsnForm *form = isa_form(code);
    if (is_coissued && !form->may_coissue) {
        return error_set(err, ERROR_INPUT, NULL, "%s cannot be half of a bundle", form->mnemonic);
    }
    uint32_t built[2] = {form->match | (is_coissued ? 1u << 31 : 0), 0};
    for (int i = 0; i < form->operand_count; i++) {
        uint32_t field;
        if (!field_of_operand(&form->operand[i], operand[i], &field)) {
            return refuse_operand(form, i, operand[i], err);
        }
        for (int s = 0; s < fields[code].segment_count[i]; s++) {
            const Segment *segment = &fields[code].segment[i][s];
            built[segment->word] |= ((field >> segment->operand_lo) & segment->mask)
                                    << segment->word_lo;
        }
    }
    word[0] = built[0];
    if (form->words == 2) {
        word[1] = built[1];
    }
    return true;
}

uint32_t isa_word(InsnCode code, uint32_t a, uint32_t b, uint32_t d, uint32_t e)
{
    uint32_t operand[INSN_OPERANDS_MAX] = {a, b, d, e}, word[2] = {0, 0};
    Error err = {0};
    ASSERT(isa_form(code)->words == 1);
    bool is_good = isa_encode(code, operand, false, word, &err);
    ASSERT(is_good);
    return word[0];
}

Insn isa_decode(uint32_t word, uint32_t next, InsnLane lane, InsnContext context)
{
    need_table();
    bool has_bit_31 = word >> 31;
    uint32_t bucket = bucket_of(word);
    for (uint32_t i = bucket_start[bucket]; i < bucket_start[bucket + 1]; i++) {
        InsnCode code = (InsnCode)bucket_entry[i];
        const InsnForm *form = &forms[code];
        if ((word & form->mask) != form->match ||
            (form->context != CONTEXT_BOTH && form->context != context)) {
            continue;
        }
        bool is_coissued = has_bit_31 && form->may_coissue;
        if (is_coissued && (form->lane != lane || context == CONTEXT_SUPERVISOR)) {
            continue;
        }
        Insn insn = {.code = (uint16_t)code, .is_coissued = is_coissued};
        bool is_legal = true;
        for (int o = 0; o < form->operand_count; o++) {
            uint32_t field = 0;
            for (int s = 0; s < fields[code].segment_count[o]; s++) {
                const Segment *segment = &fields[code].segment[o][s];
                uint32_t source = segment->word ? next : word;
                field |= ((source >> segment->word_lo) & segment->mask) << segment->operand_lo;
            }
            is_legal = operand_of_field(&form->operand[o], field, &insn.operand[o]) && is_legal;
        }
        if (is_legal) {
            return insn;
        }
    }
    return (Insn){.code = INSN_NONE};
}
