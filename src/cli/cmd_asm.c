/* `tessera asm`: assembly texts and objects to raw bytes, a program or an object, or to a listing (product.md 4). */
#include "asm/asm.h"
#include "base/file.h"
#include "chip/chip.h"
#include "cli/cli.h"
#include "cli/preprocess.h"
#include "elf/elf.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { OPTIONS_MAX = 64, INPUTS_MAX = 256 };

typedef struct AsmArguments {
    const char *input[INPUTS_MAX], *output, *entry;
    int input_count;
    int64_t base;
    const char *isa_flags;
    const IsaFlags *flags; /* what that file says; NULL: ours */
    bool is_listing, is_object, is_map, drops_unused, is_preprocessed;
    AsmDefine define[OPTIONS_MAX];
    const char *define_text[OPTIONS_MAX], *folder[OPTIONS_MAX];
    int define_count, folder_count;
} AsmArguments;

enum {
    FLAG_OUTPUT,
    FLAG_OBJECT,
    FLAG_BASE,
    FLAG_ENTRY,
    FLAG_GC,
    FLAG_MAP,
    FLAG_DEFINE,
    FLAG_FOLDER,
    FLAG_CPP,
    FLAG_LISTING,
    FLAG_ISA_FLAGS
};
static const Flag asm_flags[] = {
    {"-o", "OUT", "OUT.elf: a program; else raw bytes (default: the first name with .bin)"},
    {"-c", NULL, "write a relocatable object (default: the name with .o)"},
    {"--base", "ADDR", "address of the first byte (default 0x4c010)"},
    {"--entry", "SYMBOL", "where the program begins"},
    {"--gc-sections", NULL, "leave out sections that --entry does not reach"},
    {"--map", NULL, "print the address of every section and symbol"},
    {"-D", "NAME=VALUE", "set a symbol (with --cpp a macro too); without =VALUE it is 1"},
    {"-I", "DIR", "look here too for included files"},
    {"--cpp", NULL, "run the C preprocessor first (always for .S)"},
    {"--listing", NULL, "print addresses, words and source lines"},
    {"--isa-flags", "F", "values of TAMP_, TSLIC_ ... symbols, as a vendor's header has them"},
};

static bool take_define(AsmArguments *arguments, const char *value, Error *err)
{
    if (arguments->define_count == OPTIONS_MAX) {
        return error_set(err, ERROR_INPUT, NULL, "option -D: expected at most %d symbols",
                         OPTIONS_MAX);
    }
    arguments->define_text[arguments->define_count] = value;
    return cli_define(value, &arguments->define[arguments->define_count++], err);
}

static bool take(void *context, int flag, const char *value, Error *err)
{
    AsmArguments *arguments = context;
    switch (flag) {
    case FLAG_OUTPUT:
        arguments->output = value;
        return true;
    case FLAG_OBJECT:
        arguments->is_object = true;
        return true;
    case FLAG_BASE:
        return cli_int("--base", value, 0, UINT32_MAX, &arguments->base, err) &&
               (arguments->base % 4 == 0 ||
                error_set(err, ERROR_INPUT, NULL, "option --base: expected a multiple of 4"));
    case FLAG_ENTRY:
        arguments->entry = value;
        return true;
    case FLAG_GC:
        arguments->drops_unused = true;
        return true;
    case FLAG_MAP:
        arguments->is_map = true;
        return true;
    case FLAG_DEFINE:
        return take_define(arguments, value, err);
    case FLAG_FOLDER:
        if (arguments->folder_count == OPTIONS_MAX) {
            return error_set(err, ERROR_INPUT, NULL, "option -I: expected at most %d directories",
                             OPTIONS_MAX);
        }
        arguments->folder[arguments->folder_count++] = value;
        return true;
    case FLAG_CPP:
        arguments->is_preprocessed = true;
        return true;
    case FLAG_LISTING:
        arguments->is_listing = true;
        return true;
    case FLAG_ISA_FLAGS:
        arguments->isa_flags = value;
        return true;
    default:
        break;
    }
    if (arguments->input_count == INPUTS_MAX) {
        return error_set(err, ERROR_INPUT, NULL, "expected at most %d files", INPUTS_MAX);
    }
    arguments->input[arguments->input_count++] = value;
    return true;
}

static void print_messages(const AsmMessageVec *messages, Arena scratch)
{
    Writer writer = writer_file(STDERR_FILENO, &scratch);
    for (isize i = 0; i < messages->len; i++) {
        asm_print_message(&writer, &messages->at[i]);
    }
    writer_flush(&writer);
}

static bool preprocess_source(const AsmArguments *arguments, const char *path, Arena *arena,
                              Str *text, Error *err)
{
    const char *option[2 * OPTIONS_MAX];
    int count = 0;
    for (int i = 0; i < arguments->folder_count; i++) {
        option[count++] = str_format(arena, "-I%s", arguments->folder[i]).at;
    }
    for (int i = 0; i < arguments->define_count; i++) {
        option[count++] = str_format(arena, "-D%s", arguments->define_text[i]).at;
    }
    return preprocess(path, option, count, ASM_TEXT_BYTES_MAX, arena, text, err);
}

/* Reads or assembles one input. False: messages are printed, or *err is filled. */
static bool load(const AsmArguments *arguments, const char *path, Arena *keep, Arena scratch,
                 Object *out, Error *err)
{
    Str text, name = str_of(path);
    if (!file_read(path, ELF_FILE_BYTES_MAX, keep, &text, err)) {
        return false;
    }
    if (elf_is(text)) {
        ElfFile file;
        if (arguments->is_object) {
            return error_set(err, ERROR_INPUT, path, "option -c: expected assembly text");
        }
        bool is_read = elf_read(name, text, keep, scratch, &file, err);
        *out = file.object;
        return is_read && (!file.is_program ||
                           error_set(err, ERROR_INPUT, path, "expected an object, not a program"));
    }
    bool is_preprocessed = arguments->is_preprocessed || str_ends(name, S(".S"));
    if (is_preprocessed && !preprocess_source(arguments, path, keep, &text, err)) {
        return false;
    }
    AsmFolders folders = {.own = str_slice(name, 0, str_folder_len(name)),
                          .other = arguments->folder,
                          .other_count = arguments->folder_count,
                          .arena = keep};
    AsmIncludes includes = {&folders, asm_find_file};
    AsmDefine define[OPTIONS_MAX];
    memcpy(define, arguments->define, sizeof define);
    AsmOptions options = {.defines = {define, arguments->define_count},
                          .includes = &includes,
                          .flags = arguments->flags,
                          .has_listing = arguments->is_listing};
    Error said = {0};
    bool is_good = asm_assemble(name, text, &options, keep, scratch, out, &said);
    print_messages(&out->messages, scratch);
    return is_good;
}

/* Up to 8 bytes as words; a rest of less than a word byte by byte. */
static void print_words(Writer *writer, const uint8_t *byte, isize count)
{
    for (isize b = 0; b < 8; b += 4) {
        if (b + 4 <= count) {
            write_fmt(writer, " %02x%02x%02x%02x", byte[b + 3], byte[b + 2], byte[b + 1], byte[b]);
        } else {
            for (isize i = b; i < b + 4; i++) {
                write_fmt(writer, i < count ? "%s%02x" : "%s  ", i == b ? " " : "",
                          i < count ? byte[i] : 0u);
            }
        }
    }
}

/* Every line of one text. `>` marks lines that a macro or repeat produced; bytes that the image does not have are left out. */
static void print_listing(Writer *writer, const Object *object, const Resolved *resolved,
                          isize first_section)
{
    Str file = {0};
    for (isize i = 0; i < object->listing.len; i++) {
        const ListedLine *line = &object->listing.at[i];
        isize section = first_section + line->section;
        isize bytes = line->bytes > 0 && resolved->is_kept[section] ? line->bytes : 0;
        if (!str_equal(file, line->file)) {
            write_fmt(writer, "%.*s\n", STR_ARG(line->file));
            file = line->file;
        }
        for (isize at = 0; at == 0 || at < bytes; at += 8) {
            uint32_t address = resolved->section_address[section] + line->offset + (uint32_t)at;
            isize count = bytes - at < 8 ? bytes - at : 8;
            if (count > 0) {
                write_fmt(writer, "%08x:", address);
                print_words(writer, resolved->at + (address - resolved->base), count);
            } else {
                write_fmt(writer, "%27s", "");
            }
            if (at == 0) {
                write_fmt(writer, "  %5u%s %.*s", line->line, line->is_expanded ? ">" : " ",
                          STR_ARG(line->text));
            }
            write_str(writer, S("\n"));
        }
    }
}

/* Sections in the order of the image with their symbols. */
static void print_map(Writer *writer, const Object *objects, int count, const Resolved *resolved,
                      Arena scratch)
{
    for (int o = 0, s = 0; o < count; o++) {
        const Object *object = &objects[o];
        /* The symbols of each section, in the order of the text. */
        int32_t *head = arena_array(&scratch, int32_t, object->sections.len + 1);
        int32_t *next = arena_array(&scratch, int32_t, object->symbols.len + 1);
        for (isize i = object->symbols.len - 1; i >= 0; i--) {
            int32_t section = object->symbols.at[i].section;
            if (section >= 0) {
                next[i] = head[section];
                head[section] = (int32_t)i + 1;
            }
        }
        for (isize i = 0; i < object->sections.len; i++, s++) {
            const Section *section = &object->sections.at[i];
            if (section->len == 0) {
                continue;
            }
            if (!resolved->is_kept[s]) {
                write_fmt(writer, "dropped  %7td  %.*s  %.*s\n", section->len,
                          STR_ARG(section->name), STR_ARG(object->file));
                continue;
            }
            write_fmt(writer, "%08x %7td  %.*s  %.*s\n", resolved->section_address[s], section->len,
                      STR_ARG(section->name), STR_ARG(object->file));
            for (int32_t at = head[i]; at > 0; at = next[at - 1]) {
                const Symbol *symbol = &object->symbols.at[at - 1];
                if (symbol->name.len > 0 && symbol->name.at[0] != '.' &&
                    str_find(symbol->name, '#', 0) < 0) {
                    write_fmt(writer, "%08x %7u    %.*s\n",
                              resolved->section_address[s] + symbol->value, symbol->bytes,
                              STR_ARG(symbol->name));
                }
            }
        }
    }
}

static bool print_reports(const AsmArguments *arguments, const Object *objects,
                          const Resolved *resolved, Arena scratch, Error *err)
{
    Writer writer = writer_file(STDOUT_FILENO, &scratch);
    isize first_section = 0;
    for (int o = 0; o < arguments->input_count && arguments->is_listing; o++) {
        print_listing(&writer, &objects[o], resolved, first_section);
        first_section += objects[o].sections.len;
    }
    if (arguments->is_map) {
        print_map(&writer, objects, arguments->input_count, resolved, scratch);
    }
    return cli_flush(&writer, err);
}

/* The name that the output has without -o. */
static const char *usual_output(const AsmArguments *arguments, const char *ending, Arena *arena)
{
    Str name = str_of(arguments->input[0]);
    bool has_ending = str_ends(name, S(".s")) || str_ends(name, S(".S")) || str_ends(name, S(".o"));
    return str_format(arena, "%.*s%s", (int)(name.len - (has_ending ? 2 : 0)), name.at, ending).at;
}

static bool write_output(const AsmArguments *arguments, const Object *objects,
                         const Resolved *resolved, Arena *keep, Arena scratch, Error *err)
{
    Str bytes = {(const char *)resolved->at, resolved->len};
    const char *output = arguments->output;
    if (arguments->is_object) {
        output = output ? output : usual_output(arguments, ".o", keep);
        if (!elf_write_object(objects, keep, scratch, &bytes, err)) {
            return error_context(err, "%s", output);
        }
    } else if (output && str_ends(str_of(output), S(".elf"))) {
        if (!elf_write_program(objects, arguments->input_count, resolved, keep, scratch, &bytes,
                               err)) {
            return error_context(err, "%s", output);
        }
    } else if (!output && (arguments->is_listing || arguments->is_map)) {
        return true;
    }
    output = output ? output : usual_output(arguments, ".bin", keep);
    return cli_output(output, arguments->input, arguments->input_count, err) &&
           file_write(output, bytes, err);
}

/* False: *err is filled, or (with no code) everything is said. */
static bool run(const AsmArguments *arguments, Arena *keep, Arena scratch, Error *err)
{
    Object *objects = arena_array(keep, Object, arguments->input_count);
    bool is_good = true;
    for (int i = 0; i < arguments->input_count; i++) {
        Error own = {0};
        if (!load(arguments, arguments->input[i], keep, scratch, &objects[i], &own)) {
            is_good = false;
            if (own.code != ERROR_NONE) {
                cli_fail(&own);
            }
        }
    }
    if (!is_good) {
        return false;
    }
    LinkOptions options = {.base = (uint32_t)arguments->base,
                           .entry = arguments->entry ? str_of(arguments->entry) : (Str){0},
                           .drops_unused = arguments->drops_unused};
    Resolved resolved = {0};
    Error own = {0};
    if (!arguments->is_object || arguments->is_listing || arguments->is_map) {
        is_good =
            object_link(objects, arguments->input_count, &options, keep, scratch, &resolved, &own);
        print_messages(&resolved.messages, scratch);
        if (!is_good) {
            *err = resolved.messages.len > 0 ? *err : own;
            return false;
        }
    }
    return write_output(arguments, objects, &resolved, keep, scratch, err) &&
           print_reports(arguments, objects, &resolved, scratch, err);
}

static bool check_arguments(const AsmArguments *arguments, Error *err)
{
    if (arguments->input_count == 0) {
        return error_set(err, ERROR_INPUT, NULL,
                         "asm: expected a source file (see tessera asm --help)");
    }
    if (arguments->is_object && arguments->input_count > 1) {
        return error_set(err, ERROR_INPUT, NULL, "option -c: expected one source file");
    }
    if (arguments->is_object && (arguments->entry || arguments->drops_unused ||
                                 arguments->is_listing || arguments->is_map)) {
        return error_set(err, ERROR_INPUT, NULL,
                         "option -c: an object has no addresses; expected no --entry, "
                         "--gc-sections, --listing or --map");
    }
    if (arguments->drops_unused && !arguments->entry) {
        return error_set(err, ERROR_INPUT, NULL, "option --gc-sections: expected --entry SYMBOL");
    }
    return true;
}

int cmd_asm(int argc, char **argv)
{
    AsmArguments arguments = {.base = SRAM_IMAGE_BASE};
    int done;
    if (!cli_parse(
            argc, argv, "[OPTIONS] FILE...",
            "Assembles and links IPU21 code: assembly texts (.s, through the C preprocessor: .S) "
            "and "
            "objects\n(.o). Sections follow each other in the order of the files from --base on. A "
            "text begins with\n.worker or .supervisor; kernels/*.s are examples, docs/assembler.md "
            "describes the language.",
            asm_flags, sizeof asm_flags / sizeof *asm_flags, take, &arguments, &done)) {
        return done;
    }
    Error err = {0};
    if (!check_arguments(&arguments, &err)) {
        return cli_fail(&err);
    }
    Arena keep = arena_create(INT64_C(1) << 36), scratch = arena_create(INT64_C(1) << 32);
    IsaFlags flags;
    bool is_good = true;
    if (arguments.isa_flags) {
        is_good = cli_isa_flags(arguments.isa_flags, &keep, scratch, &flags, &err);
        arguments.flags = &flags;
    }
    is_good = is_good && run(&arguments, &keep, scratch, &err);
    arena_destroy(&keep);
    arena_destroy(&scratch);
    return is_good ? 0 : err.code != ERROR_NONE ? cli_fail(&err) : ERROR_INPUT;
}
