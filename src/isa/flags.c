/* The table of flag symbols, and the file that replaces its unverified values (decisions.md A9). */
#include "isa/flags.h"
#include <string.h>

typedef struct FamilyRow {
    const char *enumeration, *mnemonics;
    uint8_t bits;
} FamilyRow;

static const FamilyRow families[FLAG_FAMILY_COUNT] = {
#define FLAG_FAMILY(family, enumeration, bits, mnemonics)                                          \
    [FLAG_FAMILY_##family] = {#enumeration, mnemonics, bits},
#include "isa/flags.def"
#undef FLAG_FAMILY
};

/* FAMILY_BITS_AMP_F16 ... */
enum {
#define FLAG_FAMILY(family, enumeration, bits, mnemonics) FAMILY_BITS_##family = bits,
#include "isa/flags.def"
#undef FLAG_FAMILY
};

enum { OURS = false, DOCUMENTED = true };

static const FlagSymbol symbols[FLAG_ID_COUNT] = {
#define FLAG(name, value, family, source)                                                          \
    {{#name, (isize)sizeof #name - 1}, value, FAMILY_BITS_##family, FLAG_FAMILY_##family, source},
#include "isa/flags.def"
#undef FLAG
};

const FlagSymbol *flag_symbol(FlagId id)
{
    ASSERT(id < FLAG_ID_COUNT);
    return &symbols[id];
}

int flag_find(Str name)
{
    for (int id = 0; id < FLAG_ID_COUNT; id++) {
        if (str_equal(symbols[id].name, name)) {
            return id;
        }
    }
    return -1;
}

FlagFamily flag_family_of(const char *enumeration, const char *mnemonic)
{
    for (int family = 1; family < FLAG_FAMILY_COUNT; family++) {
        const FamilyRow *row = &families[family];
        if (strcmp(row->enumeration, enumeration) == 0 &&
            str_starts(str_of(mnemonic), str_of(row->mnemonics))) {
            return (FlagFamily)family;
        }
    }
    return FLAG_FAMILY_NONE;
}

IsaFlags isa_flags_default(void)
{
    IsaFlags flags = {0};
    for (int id = 0; id < FLAG_ID_COUNT; id++) {
        flags.value[id] = symbols[id].value;
    }
    return flags;
}

uint32_t isa_flag_value(const IsaFlags *flags, FlagId id)
{
    ASSERT(id < FLAG_ID_COUNT);
    return flags ? flags->value[id] : symbols[id].value;
}

bool isa_flag_is_given(const IsaFlags *flags, FlagId id)
{
    ASSERT(id < FLAG_ID_COUNT);
    return flags && flags->is_given[id];
}

Str isa_flags_source(const IsaFlags *flags)
{
    return flags ? flags->source : (Str){0};
}

bool isa_flags_verified(const IsaFlags *flags)
{
    for (int id = 0; id < FLAG_ID_COUNT; id++) {
        if (!symbols[id].is_documented && !isa_flag_is_given(flags, (FlagId)id)) {
            return false;
        }
    }
    return true;
}

int flag_of_value(const IsaFlags *flags, FlagFamily family, uint32_t value)
{
    for (int id = 0; id < FLAG_ID_COUNT; id++) {
        if (symbols[id].family == family && isa_flag_value(flags, (FlagId)id) == value) {
            return id;
        }
    }
    return -1;
}

uint32_t flag_canonical(const IsaFlags *flags, FlagFamily family, uint32_t value)
{
    if (family == FLAG_FAMILY_NONE || flags == NULL) {
        return value;
    }
    int id = flag_of_value(flags, family, value);
    if (id >= 0) {
        return symbols[id].value;
    }
    uint32_t range = 1u << families[family].bits;
    for (uint32_t i = 0; i < range && flag_of_value(NULL, family, value) >= 0; i++) {
        value = (value + 1) % range;
    }
    return value;
}

/* The user's file should have named it and did not. */
static bool is_left_out(const IsaFlags *flags, int id)
{
    return isa_flags_source(flags).len > 0 && !symbols[id].is_documented && !flags->is_given[id];
}

bool isa_flags_check(const IsaFlags *flags, Error *err)
{
    for (int id = 0; id < FLAG_ID_COUNT; id++) {
        const FlagSymbol *symbol = &symbols[id];
        uint32_t value = isa_flag_value(flags, (FlagId)id);
        if (symbol->is_documented && value != symbol->value) {
            return error_set(err, ERROR_INPUT, NULL, "%.*s is documented as %u, not %u",
                             STR_ARG(symbol->name), symbol->value, value);
        }
        if (value >> symbol->bits != 0) {
            return error_set(err, ERROR_INPUT, NULL, "%.*s = %u, expected a value of %d bits",
                             STR_ARG(symbol->name), value, symbol->bits);
        }
        int first = flag_of_value(flags, (FlagFamily)symbol->family, value);
        if (first != id) {
            static const char ours[] = " (ours: the file does not name it)";
            return error_set(err, ERROR_INPUT, NULL, "%.*s%s and %.*s%s have the same value %u",
                             STR_ARG(symbols[first].name), is_left_out(flags, first) ? ours : "",
                             STR_ARG(symbol->name), is_left_out(flags, id) ? ours : "", value);
        }
    }
    return true;
}

/* --- the user's file ---------------------------------------------------------------------------------------------- */

typedef struct FlagsFile {
    IsaFlags *flags;
    Str path;
    int line;
    int line_of[FLAG_ID_COUNT]; /* 0: not named yet */
    int ignored;
    Str ignored_name;
    Error *err;
} FlagsFile;

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static const char *place_of(const FlagsFile *file, Arena *scratch)
{
    return str_format(scratch, "%.*s:%d", STR_ARG(file->path), file->line).at;
}

static Str take_name(Str *rest)
{
    isize len = 0;
    while (len < rest->len && is_name_char(rest->at[len])) {
        len++;
    }
    Str name = str_slice(*rest, 0, len);
    *rest = str_trim(str_slice(*rest, len, rest->len));
    return name;
}

/* A C integer constant: parentheses around it, suffixes u and l behind it, a comma behind it all. Octal ones are refused. */
static bool number_of(Str text, int64_t *value)
{
    if (str_ends(text, S(","))) {
        text = str_trim(str_slice(text, 0, text.len - 1));
    }
    while (text.len > 2 && str_starts(text, S("(")) && str_ends(text, S(")"))) {
        text = str_trim(str_slice(text, 1, text.len - 1));
    }
    while (text.len > 1 && str_find(S("uUlL"), text.at[text.len - 1], 0) >= 0) {
        text.len--;
    }
    bool is_octal = text.len > 1 && text.at[0] == '0' && str_find(S("xX"), text.at[1], 0) < 0;
    return !is_octal && str_to_int(text, value);
}

/* Names that the vendor gives to enumerators, so that an unknown one is worth a word. */
static bool is_of_ours(Str name)
{
    static const char *const prefixes[] = {"TAMP_", "TSLIC_", "TSTACC_", "TISTACC_", "TGINA_"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        if (str_starts(name, str_of(prefixes[i]))) {
            return true;
        }
    }
    return false;
}

static bool take_symbol(FlagsFile *file, Str name, Str text, Arena scratch)
{
    int id = flag_find(name);
    int64_t value;
    if (id < 0) {
        file->ignored_name = file->ignored++ == 0 ? name : file->ignored_name;
        return true;
    }
    if (!number_of(text, &value) || value < 0 || value >> symbols[id].bits != 0) {
        return error_set(file->err, ERROR_INPUT, place_of(file, &scratch),
                         "expected a number of %d bits as value of %.*s, found \"%s\"",
                         symbols[id].bits, STR_ARG(name), str_shown(text, &scratch).at);
    }
    if (file->line_of[id] != 0) {
        return error_set(file->err, ERROR_INPUT, place_of(file, &scratch),
                         "%.*s has a value already, in line %d", STR_ARG(name), file->line_of[id]);
    }
    file->line_of[id] = file->line;
    file->flags->value[id] = (uint32_t)value;
    file->flags->is_given[id] = !symbols[id].is_documented;
    return true;
}

/* One line without comments. */
static bool take_line(FlagsFile *file, Str line, Arena scratch)
{
    Str rest = str_trim(line);
    bool is_define = false;
    if (str_take(&rest, S("#"))) {
        rest = str_trim(rest);
        is_define = str_equal(take_name(&rest), S("define"));
        rest = is_define ? rest : (Str){0};
    }
    Str name = take_name(&rest);
    if (!is_define && str_take(&rest, S("="))) {
        rest = str_trim(rest);
    }
    if (flag_find(name) >= 0 || is_of_ours(name)) {
        return take_symbol(file, name, rest, scratch);
    }
    int64_t value;
    bool is_empty = name.len == 0 && rest.len == 0;
    return is_define || is_empty || (name.len > 0 && number_of(rest, &value)) ||
           error_set(file->err, ERROR_INPUT, place_of(file, &scratch),
                     "expected NAME VALUE, found \"%s\"", str_shown(str_trim(line), &scratch).at);
}

/* Copies the text with blanks in place of comments; line ends stay where they are. */
static bool strip_comments(FlagsFile *file, Str text, char *out, Arena scratch)
{
    for (isize i = 0; i < text.len; i++) {
        char next = i + 1 < text.len ? text.at[i + 1] : 0;
        out[i] = text.at[i];
        if (text.at[i] == '/' && next == '/') {
            while (i < text.len && text.at[i] != '\n') {
                out[i++] = ' ';
            }
            i--;
        } else if (text.at[i] == '/' && next == '*') {
            isize begin = i;
            bool is_open = true;
            for (; is_open && i < text.len; i++) {
                is_open = i < begin + 3 || text.at[i] != '/' || text.at[i - 1] != '*';
                out[i] = text.at[i] == '\n' ? '\n' : ' ';
            }
            i--;
            if (is_open) {
                return error_set(file->err, ERROR_INPUT, place_of(file, &scratch),
                                 "expected */ behind this comment, found the end of the file");
            }
            for (isize at = begin; at <= i; at++) {
                file->line += text.at[at] == '\n';
            }
        } else {
            file->line += text.at[i] == '\n';
        }
    }
    return true;
}

static Str file_name_of(Str path)
{
    isize slash = path.len;
    while (slash > 0 && path.at[slash - 1] != '/') {
        slash--;
    }
    return str_slice(path, slash, path.len);
}

bool isa_flags_parse(Str path, Str text, Arena *keep, Arena scratch, IsaFlags *out, int *ignored,
                     Str *ignored_name, Error *err)
{
    *out = isa_flags_default();
    out->source = str_shown(file_name_of(path), keep);
    FlagsFile file = {.flags = out, .path = path, .line = 1, .err = err};
    char *plain = arena_array(&scratch, char, text.len + 1);
    if (!strip_comments(&file, text, plain, scratch)) {
        return false;
    }
    bool is_continued = false;
    file.line = 0;
    for (Str rest = {plain, text.len}; rest.len > 0;) {
        Str line = str_cut(&rest, '\n');
        file.line++;
        /* Macros that run over several lines are none of ours. */
        if (!is_continued && !take_line(&file, line, scratch)) {
            return false;
        }
        is_continued = str_ends(str_trim(line), S("\\"));
    }
    *ignored = file.ignored;
    *ignored_name = str_copy(file.ignored_name, keep);
    int given = 0;
    for (int id = 0; id < FLAG_ID_COUNT; id++) {
        given += out->is_given[id];
    }
    bool ok = given > 0 ? isa_flags_check(out, err)
                        : error_set(err, ERROR_INPUT, NULL,
                                    "names no symbol that it could replace (TAMP_F16V4_E4_P0 ...)");
    return ok || error_context(err, "%.*s", STR_ARG(path));
}
