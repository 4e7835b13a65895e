/* The code under test: files assembled and linked, a launcher behind them, symbols and lines of addresses. */
#include "base/bits.h"
#include "base/file.h"
#include "debug/debug.h"

static uint32_t count_lines(Str text)
{
    uint32_t lines = 1;
    for (isize i = 0; i < text.len; i++) {
        lines += text.at[i] == '\n';
    }
    return lines;
}

static bool add_text(Target *target, Str file, Str text, AsmDefineSpan defines, Arena *keep,
                     Arena scratch, Error *err)
{
    AsmFolders folders = {.own = str_slice(file, 0, str_folder_len(file)), .arena = keep};
    AsmIncludes includes = {&folders, asm_find_file};
    target->text[target->count] = text;
    target->line_count[target->count] = count_lines(text);
    AsmOptions options = {.defines = defines, .includes = &includes, .flags = target->flags};
    return asm_assemble(file, text, &options, keep, scratch, &target->object[target->count++], err);
}

/* Number of the first section of an object among all sections. */
static int first_section(const Target *target, int object)
{
    int first = 0;
    for (int i = 0; i < object; i++) {
        first += (int)target->object[i].sections.len;
    }
    return first;
}

static bool is_launcher(const Target *target, int object)
{
    return object == target->count - 1 && target->launcher.len > 0;
}

static uint32_t section_address(const Target *target, int object, int section)
{
    return is_launcher(target, object)
               ? target->launcher.section_address[section]
               : target->code.section_address[first_section(target, object) + section];
}

void target_mark_code(const Target *target, Workbench *bench)
{
    for (int o = 0; o < target->count; o++) {
        for (isize s = 0; s < target->object[o].sections.len; s++) {
            const Section *section = &target->object[o].sections.at[s];
            if ((section->flags & SECTION_CODE) != 0) {
                workbench_mark_code(bench, section_address(target, o, (int)s),
                                    (uint32_t)section->len);
            }
        }
    }
}

static uint32_t symbol_address(const Target *target, int object, const Symbol *symbol)
{
    return symbol->section < 0 ? symbol->value
                               : section_address(target, object, symbol->section) + symbol->value;
}

/* Globals win over locals, then the order of the files counts. */
static bool find_symbol(const Target *target, Str name, uint32_t *address)
{
    for (int pass = 0; pass < 2; pass++) {
        for (int o = 0; o < target->count; o++) {
            for (isize s = 0; s < target->object[o].symbols.len; s++) {
                const Symbol *symbol = &target->object[o].symbols.at[s];
                if (symbol->section != SYMBOL_UNDEFINED && (symbol->is_global || pass > 0) &&
                    str_equal(symbol->name, name)) {
                    *address = symbol_address(target, o, symbol);
                    return true;
                }
            }
        }
    }
    for (isize d = 0; d < target->defines.len; d++) {
        if (str_equal(target->defines.at[d].name, name)) {
            *address = (uint32_t)target->defines.at[d].value;
            return true;
        }
    }
    return false;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool target_place(const Target *target, Str text, uint32_t *address, Error *err)
{
    isize sign = 1;
    while (sign < text.len && text.at[sign] != '+' && text.at[sign] != '-') {
        sign++;
    }
    sign = sign < text.len ? sign : text.len;
    Str base = str_slice(text, 0, sign), rest = str_slice(text, sign, text.len);
    int64_t value = 0, offset = 0;
    char shown[100];
    (void)snprintf(shown, sizeof shown, "%.*s", STR_ARG(text));
    if (base.len > 0 && is_digit(base.at[0])) {
        if (!str_to_int(base, &value)) {
            return error_set(err, ERROR_INPUT, NULL, "expected an address, found %s", shown);
        }
    } else {
        uint32_t found;
        if (base.len == 0 || !find_symbol(target, base, &found)) {
            return error_set(err, ERROR_INPUT, NULL,
                             "expected an address or a symbol, found \"%s\"", shown);
        }
        value = found;
    }
    bool is_good =
        rest.len == 0 || (rest.len > 1 && is_digit(rest.at[1]) && str_to_int(rest, &offset));
    if (!is_good || value < 0 || value > UINT32_MAX || offset < -(int64_t)UINT32_MAX ||
        offset > UINT32_MAX || value + offset < 0 || value + offset > UINT32_MAX) {
        return error_set(err, ERROR_INPUT, NULL, "%s is no 32-bit address", shown);
    }
    *address = (uint32_t)(value + offset);
    return true;
}

Str target_symbol(const Target *target, uint32_t address, uint32_t *offset)
{
    Str best = {0};
    uint32_t best_address = 0;
    for (int o = 0; o < target->count; o++) {
        for (isize s = 0; s < target->object[o].symbols.len; s++) {
            const Symbol *symbol = &target->object[o].symbols.at[s];
            if (symbol->section < 0 || symbol_is_hidden(symbol)) {
                continue;
            }
            uint32_t at = symbol_address(target, o, symbol);
            if (at <= address && (best.len == 0 || at >= best_address)) {
                best = symbol->name;
                best_address = at;
            }
        }
    }
    *offset = address - best_address;
    return best;
}

/* Line of the object's own text; 0: none is known, code of an included file, or a line marker that names no line of the text. */
static uint32_t line_at(const Object *object, uint32_t line_count, const Section *section,
                        uint32_t offset)
{
    isize low = 0, high = section->lines.len; /* first mark behind the offset */
    while (low < high) {
        isize middle = low + (high - low) / 2;
        if (section->lines.at[middle].offset <= offset) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    const LineMark *mark = low > 0 ? &section->lines.at[low - 1] : NULL;
    return mark && mark->line <= line_count && str_equal(mark->file, object->file) ? mark->line : 0;
}

bool target_line(const Target *target, uint32_t address, int *object, uint32_t *line)
{
    for (int o = 0; o < target->count; o++) {
        for (isize s = 0; s < target->object[o].sections.len; s++) {
            const Section *section = &target->object[o].sections.at[s];
            uint32_t offset = address - section_address(target, o, (int)s);
            if (address < section_address(target, o, (int)s) || offset >= (uint32_t)section->len) {
                continue;
            }
            *object = o;
            *line = line_at(&target->object[o], target->line_count[o], section, offset);
            return *line > 0;
        }
    }
    return false;
}

Str target_line_text(const Target *target, int object, uint32_t line)
{
    Str rest = target->text[object], text = {0};
    for (uint32_t i = 0; i < line && rest.len > 0; i++) {
        text = str_cut(&rest, '\n');
    }
    return text;
}

static bool find_entry(const TargetOptions *options, const Target *target, uint32_t *entry,
                       Error *err)
{
    *entry = (uint32_t)options->base;
    if (options->entry) {
        if (!target_place(target, str_of(options->entry), entry, err)) {
            return error_context(err, "option --entry");
        }
    } else {
        Str path = str_of(options->paths[0]);
        Str name = str_slice(path, str_folder_len(path), path.len);
        name = str_ends(name, S(".s")) ? str_slice(name, 0, name.len - 2) : name;
        (void)object_find(target->object, target->count, &target->code, name, entry);
    }
    if (*entry % 4 != 0 || *entry < SRAM_BASE || *entry >= SRAM_REGION1) {
        return error_set(err, ERROR_INPUT, NULL,
                         "entry 0x%x: expected a multiple of 4 from 0x%x to 0x%x", *entry,
                         SRAM_BASE, SRAM_REGION1 - 4);
    }
    return true;
}

static bool add_launcher(const TargetOptions *options, uint32_t entry, Arena *keep, Arena scratch,
                         Target *target, Error *err)
{
    uint32_t vertex = SRAM_BASE;
    if (options->vertex && !target_place(target, str_of(options->vertex), &vertex, err)) {
        return error_context(err, "option --vertex");
    }
    if (vertex % 4 != 0 || !range_in_sram(vertex, 4)) {
        return error_set(err, ERROR_INPUT, NULL,
                         "vertex base 0x%x: expected a multiple of 4 inside SRAM", vertex);
    }
    Str text =
        options->is_worker
            ? str_format(
                  keep,
                  "        .supervisor\nlauncher:\n        setzi $m10, 0x%x\n        setzi $m11, "
                  "0x%x\n        runall $m10, $m11, 0\n        sync 2\n        sync 7\n",
                  entry, vertex)
            : str_format(
                  keep, "        .supervisor\nlauncher:\n        call $m10, 0x%x\n        sync 7\n",
                  entry);
    int64_t base = align_up(options->base + target->code.len, 8);
    if (!add_text(target, S("launcher"), text, (AsmDefineSpan){0}, keep, scratch, err) ||
        !object_resolve(&target->object[target->count - 1], 1, (uint32_t)base, keep, scratch,
                        &target->launcher, err)) {
        return false;
    }
    target->entry = (uint32_t)base;
    return true;
}

bool target_build(const TargetOptions *options, Arena *keep, Arena scratch, Target *out, Error *err)
{
    ASSERT(options->path_count > 0);
    ASSERT(options->base >= 0 && options->base <= UINT32_MAX);
    *out = (Target){.object = arena_array(keep, Object, options->path_count + 1),
                    .text = arena_array(keep, Str, options->path_count + 1),
                    .line_count = arena_array(keep, uint32_t, options->path_count + 1),
                    .defines = options->defines,
                    .flags = options->flags};
    for (int i = 0; i < options->path_count; i++) {
        Str text;
        if (!file_read(options->paths[i], ASM_TEXT_BYTES_MAX, keep, &text, err) ||
            !add_text(out, str_of(options->paths[i]), text, options->defines, keep, scratch, err)) {
            return false;
        }
    }
    uint32_t base = (uint32_t)options->base, entry;
    if (base % 4 != 0 || base < SRAM_BASE || base >= SRAM_REGION1) {
        return error_set(err, ERROR_INPUT, NULL,
                         "option --base: expected a multiple of 4 from 0x%x to 0x%x", SRAM_BASE,
                         SRAM_REGION1 - 4);
    }
    if (!object_resolve(out->object, out->count, base, keep, scratch, &out->code, err) ||
        !find_entry(options, out, &entry, err) ||
        !add_launcher(options, entry, keep, scratch, out, err)) {
        return false;
    }
    if (out->launcher.base + out->launcher.len > SRAM_REGION1) {
        return error_set(err, ERROR_INPUT, NULL,
                         "the code ends at 0x%llx; expected executable addresses below 0x%x",
                         (long long)(out->launcher.base + out->launcher.len), SRAM_REGION1);
    }
    if (out->code.len == 0) {
        return error_set(err, ERROR_INPUT, options->paths[0], "expected code, found none");
    }
    return true;
}
