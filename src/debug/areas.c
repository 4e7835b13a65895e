/* What memory and registers hold when the run starts. Everything that the options do not name stays undefined. */
#include "base/file.h"
#include "base/random.h"
#include "debug/debug.h"
#include "import/import.h"
#include <string.h>
#include <sys/stat.h>

enum {
    GUARD_WORD = (int)0xfbadfbad, /* a large negative half twice; a huge negative float */
    NAN_F32 = 0x7fc00000,
    NAN_F16 = 0x7e007e00,
    FILE_BYTES_MAX = 2 * SRAM_BYTES + 4096, /* floats that become halves, and a header */
};

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return bits;
}

static uint32_t both_halves(float value)
{
    return f16_of_f32(value) * 0x10001u;
}

/* Integer that fits 32 bits, place, f32:X or f16:X. */
static bool parse_value(Str text, const Target *target, uint32_t *out, Error *err)
{
    Str rest = text;
    double number;
    bool is_f16 = str_take(&rest, S("f16:"));
    if (is_f16 || str_take(&rest, S("f32:"))) {
        if (!str_to_f64(rest, &number)) {
            return error_set(err, ERROR_INPUT, NULL, "expected a number, found \"%.*s\"",
                             STR_ARG(rest));
        }
        *out = is_f16 ? both_halves((float)number) : bits_of((float)number);
        return true;
    }
    int64_t value;
    if (str_to_int(text, &value)) {
        *out = (uint32_t)value;
        return (value >= INT32_MIN && value <= UINT32_MAX) ||
               error_set(err, ERROR_INPUT, NULL, "%.*s does not fit 32 bits", STR_ARG(text));
    }
    return target_place(target, text, out, err);
}

static bool check_range(uint32_t address, int64_t bytes, Error *err)
{
    if (bytes > 0 && bytes % 4 == 0 && address % 4 == 0 && bytes <= SRAM_BYTES &&
        range_in_sram(address, (uint32_t)bytes)) {
        return true;
    }
    return error_set(err, ERROR_INPUT, NULL,
                     "%lld bytes at 0x%x: expected whole words inside 0x%x..0x%x", (long long)bytes,
                     address, SRAM_BASE, SRAM_END);
}

static uint32_t random_word(Str kind, uint64_t seed, uint64_t index)
{
    if (str_equal(kind, S("bits"))) {
        return (uint32_t)random_u64(seed, index);
    }
    if (str_equal(kind, S("random32"))) {
        return bits_of((float)(2 * random_unit(seed, index) - 1));
    }
    return f16_of_f32((float)(2 * random_unit(seed, 2 * index) - 1)) |
           (uint32_t)f16_of_f32((float)(2 * random_unit(seed, 2 * index + 1) - 1)) << 16;
}

static bool fill_words(Str pattern, uint32_t *word, isize count, bool *is_guard, Error *err)
{
    static const struct {
        const char *name;
        uint32_t word;
    } fixed[] = {
        {"zero", 0}, {"nan", NAN_F32}, {"nan16", NAN_F16}, {"guard", (uint32_t)GUARD_WORD}};
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) {
        if (str_equal(pattern, str_of(fixed[i].name))) {
            for (isize w = 0; w < count; w++) {
                word[w] = fixed[i].word;
            }
            *is_guard = fixed[i].word == (uint32_t)GUARD_WORD;
            return true;
        }
    }
    Str rest = pattern, kind = str_cut(&rest, ':');
    int64_t seed = 0, value = 0;
    if (str_equal(kind, S("random")) || str_equal(kind, S("random32")) ||
        str_equal(kind, S("bits"))) {
        if (str_to_int(rest, &seed)) {
            /* random_u64 takes seed XOR index: near seeds would give the same words in another order */
            seed = (int64_t)random_u64((uint64_t)seed, UINT64_MAX);
            for (isize w = 0; w < count; w++) {
                word[w] = random_word(kind, (uint64_t)seed, (uint64_t)w);
            }
            return true;
        }
    } else if (str_equal(kind, S("pattern")) && rest.len > 0 && rest.len <= 10) {
        char hex[16];
        bool has_prefix = str_starts(rest, S("0x"));
        (void)snprintf(hex, sizeof hex, "%s%.*s", has_prefix ? "" : "0x", STR_ARG(rest));
        if (rest.at[0] != '-' && rest.at[0] != '+' && str_to_int(str_of(hex), &value) &&
            value <= UINT32_MAX) {
            for (isize w = 0; w < count; w++) {
                word[w] = (uint32_t)value;
            }
            return true;
        }
    }
    return error_set(err, ERROR_INPUT, NULL,
                     "expected random:SEED, random32:SEED, bits:SEED, nan, nan16, zero, "
                     "pattern:HEX or guard, found \"%.*s\"",
                     STR_ARG(pattern));
}

static bool parse_fill(Str text, const Target *target, Arena *keep, Area *out, Error *err)
{
    Str rest = text, place = str_cut(&rest, ','), count = str_cut(&rest, ',');
    int64_t bytes;
    if (rest.len == 0 || !str_to_int(count, &bytes)) {
        return error_set(err, ERROR_INPUT, NULL, "expected PLACE,BYTES,PATTERN");
    }
    if (!target_place(target, place, &out->address, err) ||
        !check_range(out->address, bytes, err)) {
        return false;
    }
    out->bytes = (uint32_t)bytes;
    uint32_t *word = arena_array(keep, uint32_t, bytes / 4);
    out->word = word;
    return fill_words(rest, word, bytes / 4, &out->is_guard, err);
}

/* Floats of a .npy file, as they are or as halves. */
static bool load_array(const char *path, bool is_f16, Arena *keep, const uint32_t **word,
                       int64_t *bytes, Error *err)
{
    float *at;
    Shape shape;
    struct stat status;
    if (stat(path, &status) == 0 && status.st_size > FILE_BYTES_MAX) {
        return error_set(err, ERROR_INPUT, path, "larger than the SRAM of a tile");
    }
    if (!npy_read(path, keep, &at, &shape, err)) {
        return false;
    }
    int64_t count = shape_elems(&shape);
    if (!is_f16) {
        *word = (const uint32_t *)(const void *)at;
        *bytes = 4 * count;
        return true;
    }
    uint16_t *half = arena_alloc(keep, 2 * (isize)count + 4, 4);
    for (int64_t i = 0; i < count; i++) {
        half[i] = f16_of_f32(at[i]);
    }
    *word = (const uint32_t *)(const void *)half;
    *bytes = 2 * count;
    return true;
}

static bool parse_load(Str text, const Target *target, Arena *keep, Area *out, Error *err)
{
    isize at = text.len;
    while (at > 0 && text.at[at - 1] != '@') {
        at--;
    }
    if (at < 2) {
        return error_set(err, ERROR_INPUT, NULL, "expected FILE@PLACE");
    }
    const char *path = out->path = str_copy(str_slice(text, 0, at - 1), keep).at;
    Str rest = str_slice(text, at, text.len), place = str_cut(&rest, ',');
    bool is_array = str_ends(str_of(path), S(".npy")), is_f16 = str_equal(rest, S("f16"));
    if (rest.len > 0 && (!is_f16 || !is_array)) {
        return error_set(err, ERROR_INPUT, NULL, "expected ,f16 (of a .npy) or nothing behind %.*s",
                         STR_ARG(place));
    }
    int64_t bytes = 0;
    if (!target_place(target, place, &out->address, err)) {
        return false;
    }
    if (is_array) {
        if (!load_array(path, is_f16, keep, &out->word, &bytes, err)) {
            return false;
        }
    } else {
        Str raw;
        if (!file_read(path, FILE_BYTES_MAX, keep, &raw, err)) {
            return false;
        }
        bytes = raw.len;
        uint32_t *word = arena_alloc(keep, raw.len + 4, 4);
        memcpy(word, raw.at, (size_t)raw.len);
        out->word = word;
    }
    if (!check_range(out->address, bytes, err)) {
        return error_context(err, "%s", path);
    }
    out->bytes = (uint32_t)bytes;
    return true;
}

static bool parse_words(Str text, const Target *target, Arena *keep, Area *out, Error *err)
{
    Str rest = text, place = str_cut(&rest, ',');
    isize count = 0, most = rest.len + 1;
    uint32_t *word = arena_array(keep, uint32_t, most);
    if (!target_place(target, place, &out->address, err)) {
        return false;
    }
    if (rest.len == 0) {
        return error_set(err, ERROR_INPUT, NULL, "expected PLACE,VALUE,...");
    }
    while (rest.len > 0) {
        if (!parse_value(str_cut(&rest, ','), target, &word[count++], err)) {
            return false;
        }
    }
    out->word = word;
    out->bytes = 4 * (uint32_t)count;
    return check_range(out->address, 4 * (int64_t)count, err);
}

bool area_parse(AreaKind kind, Str text, const Target *target, Arena *keep, Area *out, Error *err)
{
    *out = (Area){.kind = kind};
    switch (kind) {
    case AREA_FILL:
        return parse_fill(text, target, keep, out, err);
    case AREA_LOAD:
        return parse_load(text, target, keep, out, err);
    default:
        return parse_words(text, target, keep, out, err);
    }
}

static uint32_t code_end(const Target *target)
{
    return target->launcher.base + (uint32_t)target->launcher.len;
}

void areas_add_guards(AreaVec *areas, const Target *target, uint32_t bytes, Arena *keep,
                      Arena scratch)
{
    ASSERT(bytes % 4 == 0 && bytes <= SRAM_BYTES);
    enum { FREE, WANTED, TAKEN };
    uint8_t *use = arena_array(&scratch, uint8_t, SRAM_WORDS + 1);
    for (isize i = 0; i < areas->len; i++) {
        const Area *area = &areas->at[i];
        int64_t begin = (int64_t)area->address - SRAM_BASE, end = begin + area->bytes;
        for (int64_t at = begin - bytes; at < end + bytes; at += 4) {
            bool is_inside = at >= begin && at < end;
            if (at >= 0 && at < SRAM_BYTES &&
                (is_inside || (!area->is_guard && use[at / 4] == FREE))) {
                use[at / 4] = is_inside ? TAKEN : WANTED;
            }
        }
    }
    for (uint32_t at = target->code.base; at < code_end(target); at += 4) {
        use[(at - SRAM_BASE) / 4] = TAKEN;
    }
    for (uint32_t w = 0; w < SRAM_WORDS;) {
        uint32_t end = w;
        while (use[end] == WANTED) {
            end++;
        }
        if (end > w) {
            uint32_t *word = arena_array(keep, uint32_t, end - w);
            for (uint32_t i = 0; i < end - w; i++) {
                word[i] = (uint32_t)GUARD_WORD;
            }
            *vec_push(areas, keep) = (Area){.kind = AREA_FILL,
                                            .address = SRAM_BASE + 4 * w,
                                            .bytes = 4 * (end - w),
                                            .is_guard = true,
                                            .word = word};
        }
        w = end + 1;
    }
}

bool areas_write(const AreaVec *areas, const Target *target, Workbench *bench, Error *err)
{
    const Resolved *part[2] = {&target->code, &target->launcher};
    for (int i = 0; i < 2; i++) {
        uint32_t words = ((uint32_t)part[i]->len + 3) / 4;
        for (uint32_t w = 0; w < words; w++) {
            uint32_t word = 0;
            isize rest = part[i]->len - 4 * (isize)w;
            memcpy(&word, part[i]->at + 4 * w, rest < 4 ? (size_t)rest : 4);
            workbench_write(bench, part[i]->base + 4 * w, &word, 4, true);
        }
    }
    target_mark_code(target, bench);
    for (isize i = 0; i < areas->len; i++) {
        const Area *area = &areas->at[i];
        if (area->address < code_end(target) && area->address + area->bytes > target->code.base) {
            return error_set(err, ERROR_INPUT, NULL,
                             "0x%x..0x%x meets the code at 0x%x..0x%x; choose another address or "
                             "--base",
                             area->address, area->address + area->bytes, target->code.base,
                             code_end(target));
        }
        workbench_write(bench, area->address, area->word, area->bytes, !area->is_guard);
    }
    return true;
}

/* $m0..$m11 and, of workers, $a0..$a7: number of the register, or -1. */
static int register_number(Str name, bool is_worker, bool *is_aux)
{
    int64_t number;
    *is_aux = str_starts(name, S("$a"));
    if ((!*is_aux && !str_starts(name, S("$m"))) || (*is_aux && !is_worker) || name.len < 3 ||
        name.len > 4 || name.at[2] < '0' || name.at[2] > '9' ||
        !str_to_int(str_slice(name, 2, name.len), &number)) {
        return -1;
    }
    return number < (*is_aux ? WORKBENCH_AUX_REGISTERS : WORKBENCH_MAIN_REGISTERS) ? (int)number
                                                                                   : -1;
}

bool register_set(Str text, const Target *target, bool is_worker, Workbench *bench, Error *err)
{
    Str value_text = text, name = str_cut(&value_text, '=');
    int first = is_worker ? 0 : -1, last = is_worker ? CHIP_WORKERS - 1 : -1;
    isize dot = str_find(name, '.', 0);
    if (dot >= 0) {
        Str context = str_slice(name, 0, dot);
        name = str_slice(name, dot + 1, name.len);
        if (str_equal(context, S("supervisor"))) {
            first = last = -1;
        } else if (str_equal(context, S("worker"))) {
            first = 0;
            last = CHIP_WORKERS - 1;
        } else if (context.len == 7 && str_starts(context, S("worker")) && context.at[6] >= '0' &&
                   context.at[6] < '0' + CHIP_WORKERS) {
            first = last = context.at[6] - '0';
        } else {
            return error_set(err, ERROR_INPUT, NULL,
                             "expected supervisor, worker or worker0 .. worker5, found \"%.*s\"",
                             STR_ARG(context));
        }
    }
    uint32_t value;
    if (str_find(text, '=', 0) < 0 || name.len == 0) {
        return error_set(err, ERROR_INPUT, NULL, "expected [CONTEXT.]REGISTER=VALUE");
    }
    if (!parse_value(value_text, target, &value, err)) {
        return false;
    }
    bool is_aux;
    int number = register_number(name, first >= 0, &is_aux);
    for (int context = first; context <= last; context++) {
        if (context < 0 && (number == 10 || (is_worker && number == 11))) {
            return error_set(err, ERROR_INPUT, NULL, "the launcher sets $m%d", number);
        }
        if (number >= 0) {
            workbench_set_register(bench, context, is_aux, number, value);
        } else if (!workbench_set_csr(bench, context, name, value, err)) {
            return false;
        }
    }
    return true;
}
