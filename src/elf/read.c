/* Reading: libelf finds the tables and turns their byte order; every number in them is checked here.
 *
 * Strings are not taken through libelf, which searches a table's end for every one of them.
 */
#include "elf/elf.h"
#include "elf/parts.h"
#include <libelf.h>
#include <stdio.h>
#include <string.h>

enum {
    ELF_HEADER_BYTES = 52,
    MEMORY_BYTES_MAX = 1 << 20, /* of all sections; a tile has 624 KiB */
    SECTION_ALIGN_MAX = 1 << 16,
    NAME_BYTES_MAX = 4096,
};

typedef struct Table {
    const char *at;
    isize len; /* of strings: up to and with the last NUL */
} Table;

typedef struct Reader {
    Elf *elf;
    ElfFile *out;
    Arena *keep;
    Arena scratch;
    Error *err;
    char where[256];
    Table section_names, symbol_names;
    int32_t *section;  /* per section of the file: its index in the object, or -1 */
    uint32_t *address; /* per section of the object */
    int32_t *symbol;   /* per symbol of the file, or -1 */
    isize section_count, symbol_count;
    size_t symtab; /* 0: none */
} Reader;

static bool refuse(Reader *reader, const char *what, size_t section)
{
    return error_set(reader->err, ERROR_INPUT, reader->where, "section %zu: %s", section, what);
}

/* The machine, class and kind, from the first bytes. */
static bool check_header(Str bytes, const char *where, bool *is_program, Error *err)
{
    const unsigned char *at = (const unsigned char *)bytes.at;
    const char *wrong = NULL;
    if (!elf_is(bytes) || bytes.len < ELF_HEADER_BYTES) {
        wrong = "expected an ELF file";
    } else if (at[EI_CLASS] != ELFCLASS32 || at[EI_DATA] != ELFDATA2LSB) {
        wrong = "expected a 32-bit little-endian ELF file";
    } else if ((at[18] | at[19] << 8) != MACHINE_COLOSSUS) {
        wrong = "expected an ELF file for machine 248 (Graphcore IPU)";
    } else if (at[EI_OSABI] != OSABI_STANDALONE) {
        wrong = "expected an ELF file with OSABI 255 (standalone)";
    } else if ((at[16] | at[17] << 8) != ET_REL && (at[16] | at[17] << 8) != ET_EXEC) {
        wrong = "expected a relocatable object or an executable";
    } else if (at[32] % 4 != 0) { /* e_shoff: libelf hands out headers where they stand */
        wrong = "expected section headers at a multiple of 4 bytes";
    }
    *is_program = !wrong && (at[16] | at[17] << 8) == ET_EXEC;
    return !wrong || error_set(err, ERROR_INPUT, where, "%s", wrong);
}

/* The contents of section `index`, in the byte order of this machine. */
static bool section_data(Reader *reader, size_t index, Table *out)
{
    Elf_Scn *section = elf_getscn(reader->elf, index);
    const Elf32_Shdr *header = section ? elf32_getshdr(section) : NULL;
    if (!header) {
        return refuse(reader, "is not in the file", index);
    }
    *out = (Table){0};
    if (header->sh_size == 0) {
        return true;
    }
    Elf_Data *data = elf_getdata(section, NULL);
    if (!data || !data->d_buf || data->d_size != header->sh_size) {
        return refuse(reader, "its contents are not in the file", index);
    }
    *out = (Table){data->d_buf, (isize)data->d_size};
    return true;
}

static bool string_table(Reader *reader, size_t index, Table *out)
{
    Elf_Scn *section = elf_getscn(reader->elf, index);
    const Elf32_Shdr *header = section ? elf32_getshdr(section) : NULL;
    if (!header || header->sh_type != SHT_STRTAB) {
        return refuse(reader, "expected a string table", index);
    }
    if (!section_data(reader, index, out)) {
        return false;
    }
    while (out->len > 0 && out->at[out->len - 1] != 0) {
        out->len--;
    }
    return true;
}

static bool string_at(Reader *reader, const Table *table, uint32_t at, Str *out)
{
    isize most = at < table->len ? table->len - (isize)at : 0;
    most = most < NAME_BYTES_MAX ? most : NAME_BYTES_MAX;
    const char *end = most > 0 ? memchr(table->at + at, 0, (size_t)most) : NULL;
    if (!end) {
        return error_set(reader->err, ERROR_INPUT, reader->where,
                         "a name is not in its string table, or longer than %d bytes",
                         NAME_BYTES_MAX);
    }
    *out = str_copy((Str){table->at + at, end - (table->at + at)}, reader->keep);
    return true;
}

static bool add_section(Reader *reader, size_t index, const Elf32_Shdr *header, int64_t *bytes)
{
    Section section = {.flags = header->sh_flags & (SHF_WRITE | SHF_ALLOC | SHF_EXECINSTR),
                       .align = header->sh_addralign > 0 ? header->sh_addralign : 1,
                       .len = (isize)header->sh_size,
                       .cap = (isize)header->sh_size};
    Table data = {0};
    *bytes += header->sh_size;
    if ((section.align & (section.align - 1)) != 0 || section.align > SECTION_ALIGN_MAX) {
        return refuse(reader, "expected an alignment of 1, 2, 4 .. 65536", index);
    }
    if (*bytes > MEMORY_BYTES_MAX) {
        return refuse(reader, "the sections are larger than 1 MiB in all", index);
    }
    if (header->sh_type == SHT_NOBITS) {
        section.flags |= SECTION_NOBITS;
    } else if (!section_data(reader, index, &data)) {
        return false;
    }
    if (!string_at(reader, &reader->section_names, header->sh_name, &section.name)) {
        return false;
    }
    section.at = arena_alloc(reader->keep, section.len + 1, 16);
    if (data.len > 0) {
        memcpy(section.at, data.at, (size_t)data.len);
    }
    reader->section[index] = (int32_t)reader->out->object.sections.len;
    reader->address[reader->section[index]] = header->sh_addr;
    *vec_push(&reader->out->object.sections, reader->keep) = section;
    return true;
}

static bool read_sections(Reader *reader)
{
    size_t count = 0, names = 0;
    if (elf_getshdrnum(reader->elf, &count) != 0 || elf_getshdrstrndx(reader->elf, &names) != 0 ||
        count == 0) {
        return error_set(reader->err, ERROR_INPUT, reader->where, "expected section headers");
    }
    reader->section_count = (isize)count;
    reader->section = arena_array(&reader->scratch, int32_t, (isize)count);
    reader->address = arena_array(reader->keep, uint32_t, (isize)count);
    reader->out->section_address = reader->address;
    if (!string_table(reader, names, &reader->section_names)) {
        return false;
    }
    int64_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        reader->section[i] = -1;
        const Elf32_Shdr *header = elf32_getshdr(elf_getscn(reader->elf, i));
        if (!header) {
            return refuse(reader, "its header is not in the file", i);
        }
        if (header->sh_type == SHT_REL) {
            return refuse(reader, "expected relocations with addends (RELA)", i);
        }
        if (header->sh_type == SHT_SYMTAB) {
            if (reader->symtab > 0) {
                return refuse(reader, "a second symbol table", i);
            }
            reader->symtab = i;
        }
        bool is_content = header->sh_type == SHT_PROGBITS || header->sh_type == SHT_NOBITS ||
                          header->sh_type == SHT_NOTE;
        if (i > 0 && (header->sh_flags & SHF_ALLOC)) {
            if (!is_content) {
                return refuse(reader, "expected plain contents in tile memory", i);
            }
            if (!add_section(reader, i, header, &bytes)) {
                return false;
            }
        }
    }
    return true;
}

/* The table of items of `bytes` in section `index`. */
static bool read_table(Reader *reader, size_t index, size_t bytes, Table *out)
{
    const Elf32_Shdr *header = elf32_getshdr(elf_getscn(reader->elf, index));
    if (header->sh_entsize != bytes || header->sh_size % bytes != 0) {
        return refuse(reader, "expected entries of another size", index);
    }
    return section_data(reader, index, out);
}

static bool read_symbol(Reader *reader, const Elf32_Sym *from, isize number, Symbol *out,
                        bool *is_wanted)
{
    int type = ELF32_ST_TYPE(from->st_info), binding = ELF32_ST_BIND(from->st_info);
    const char *wrong = NULL;
    bool is_section = from->st_shndx != SHN_UNDEF && from->st_shndx != SHN_ABS;
    *out = (Symbol){.section = from->st_shndx == SHN_ABS ? SYMBOL_ABSOLUTE : SYMBOL_UNDEFINED,
                    .value = from->st_value,
                    .bytes = from->st_size,
                    .is_global = binding == STB_GLOBAL,
                    .kind = type == STT_FUNC     ? SYMBOL_FUNCTION
                            : type == STT_OBJECT ? SYMBOL_OBJECT
                                                 : SYMBOL_PLAIN};
    *is_wanted = type != STT_FILE;
    if (binding != STB_LOCAL && binding != STB_GLOBAL) {
        wrong = "expected a local or global symbol, not a weak one";
    } else if (is_section && (isize)from->st_shndx >= reader->section_count) {
        wrong = "its section does not exist";
    } else if (is_section) {
        out->section = reader->section[from->st_shndx];
        *is_wanted = *is_wanted && out->section >= 0;
        if (*is_wanted) {
            const Section *section = &reader->out->object.sections.at[out->section];
            out->value -= reader->out->is_program ? reader->address[out->section] : 0;
            wrong = out->value > (uint64_t)section->len ? "lies outside its section" : NULL;
        }
    }
    if (wrong) {
        return error_set(reader->err, ERROR_INPUT, reader->where, "symbol %td: %s", number, wrong);
    }
    if (type == STT_SECTION && out->section >= 0) {
        out->name = reader->out->object.sections.at[out->section].name;
        out->is_global = false;
        return true;
    }
    return !*is_wanted || string_at(reader, &reader->symbol_names, from->st_name, &out->name);
}

static bool read_symbols(Reader *reader)
{
    Table table;
    if (reader->symtab == 0) {
        return true;
    }
    const Elf32_Shdr *header = elf32_getshdr(elf_getscn(reader->elf, reader->symtab));
    if (!string_table(reader, header->sh_link, &reader->symbol_names) ||
        !read_table(reader, reader->symtab, sizeof(Elf32_Sym), &table)) {
        return false;
    }
    reader->symbol_count = table.len / (isize)sizeof(Elf32_Sym);
    reader->symbol = arena_array(&reader->scratch, int32_t, reader->symbol_count + 1);
    for (isize i = 0; i < reader->symbol_count; i++) {
        Elf32_Sym from;
        Symbol symbol;
        bool is_wanted = false;
        memcpy(&from, table.at + i * (isize)sizeof from, sizeof from);
        if (i > 0 && !read_symbol(reader, &from, i, &symbol, &is_wanted)) {
            return false;
        }
        reader->symbol[i] = -1;
        if (is_wanted) {
            reader->symbol[i] = (int32_t)reader->out->object.symbols.len;
            *vec_push(&reader->out->object.symbols, reader->keep) = symbol;
        }
    }
    return true;
}

static bool read_reloc(Reader *reader, const Elf32_Rela *from, int32_t section, size_t table)
{
    const RelocShape *shape = reloc_shape(ELF32_R_TYPE(from->r_info));
    uint32_t symbol = ELF32_R_SYM(from->r_info);
    const Section *target = &reader->out->object.sections.at[section];
    if (!shape) {
        return refuse(reader, "a relocation of unknown kind", table);
    }
    if ((uint64_t)from->r_offset + shape->bytes > (uint64_t)target->len) {
        return refuse(reader, "a relocation outside its section", table);
    }
    if (symbol >= reader->symbol_count || (shape->bits > 0 && reader->symbol[symbol] < 0)) {
        return refuse(reader, "a relocation with a symbol that is not in tile memory", table);
    }
    if (shape->bits > 0) {
        *vec_push(&reader->out->object.relocs, reader->keep) =
            (Reloc){.section = section,
                    .offset = from->r_offset,
                    .kind = (RelocKind)ELF32_R_TYPE(from->r_info),
                    .symbol = reader->symbol[symbol],
                    .addend = from->r_addend};
    }
    return true;
}

static bool read_relocs(Reader *reader)
{
    for (size_t i = 1; i < (size_t)reader->section_count; i++) {
        const Elf32_Shdr *header = elf32_getshdr(elf_getscn(reader->elf, i));
        Table table;
        if (header->sh_type != SHT_RELA || reader->out->is_program) {
            continue;
        }
        if ((isize)header->sh_info >= reader->section_count || header->sh_link != reader->symtab ||
            reader->symtab == 0) {
            return refuse(reader, "expected relocations of a section with the symbol table", i);
        }
        int32_t section = reader->section[header->sh_info];
        if (section < 0) {
            continue; /* of debugging information */
        }
        if (!read_table(reader, i, sizeof(Elf32_Rela), &table)) {
            return false;
        }
        for (isize at = 0; at < table.len; at += (isize)sizeof(Elf32_Rela)) {
            Elf32_Rela from;
            memcpy(&from, table.at + at, sizeof from);
            if (!read_reloc(reader, &from, section, i)) {
                return false;
            }
        }
    }
    return true;
}

bool elf_is(Str bytes)
{
    return str_starts(bytes, (Str){ELFMAG, SELFMAG});
}

bool elf_read(Str name, Str bytes, Arena *keep, Arena scratch, ElfFile *out, Error *err)
{
    *out = (ElfFile){.object = {.file = str_copy(name, keep)}};
    Reader reader = {.out = out, .keep = keep, .scratch = scratch, .err = err};
    (void)snprintf(reader.where, sizeof reader.where, "%.*s", STR_ARG(name));
    if (!check_header(bytes, reader.where, &out->is_program, err)) {
        return false;
    }
    if (bytes.len > ELF_FILE_BYTES_MAX || elf_version(EV_CURRENT) == EV_NONE) {
        return error_set(err, ERROR_INPUT, reader.where, "expected an ELF file of at most %d bytes",
                         ELF_FILE_BYTES_MAX);
    }
    /* libelf wants an aligned image that it may write to. */
    char *image = arena_alloc(&reader.scratch, bytes.len, 16);
    memcpy(image, bytes.at, (size_t)bytes.len);
    reader.elf = elf_memory(image, (size_t)bytes.len);
    bool is_good = reader.elf && elf_kind(reader.elf) == ELF_K_ELF && elf32_getehdr(reader.elf);
    if (!is_good) {
        error_set(err, ERROR_INPUT, reader.where, "broken ELF file: %s", elf_errmsg(-1));
    }
    is_good = is_good && read_sections(&reader) && read_symbols(&reader) && read_relocs(&reader);
    if (reader.elf) {
        elf_end(reader.elf);
    }
    return is_good;
}
