/* Writing through libelf, which lays out the file; it writes to a descriptor, so an anonymous file in memory stands between.
 *
 * The architecture variant in e_flags is published nowhere; it is written as 0.
 */
#include "chip/memory.h"
#include "elf/elf.h"
#include "elf/parts.h"
#include <libelf.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Names of a string table, NUL between them. */
typedef struct Names {
    Writer text;
} Names;

/* A file being written. Section numbers of ELF: 0 none, then as they are added. */
typedef struct File {
    Elf *elf;
    Arena *arena;
    Names section_names;
    bool is_bad;
} File;

static Names names_begin(Arena *arena)
{
    Names names = {writer_buffer(arena)};
    write_str(&names.text, (Str){"", 1});
    return names;
}

static uint32_t names_add(Names *names, Str name)
{
    uint32_t at = (uint32_t)names->text.len;
    write_str(&names->text, name);
    write_str(&names->text, (Str){"", 1});
    return at;
}

/* A section with `count` items of `type` at `at`; returns its header to be completed, NULL when libelf refuses. */
static Elf32_Shdr *add_section(File *file, Str name, uint32_t type, Elf_Type data_type,
                               const void *at, isize bytes, uint32_t align)
{
    Elf_Scn *section = elf_newscn(file->elf);
    Elf_Data *data = section ? elf_newdata(section) : NULL;
    Elf32_Shdr *header = data ? elf32_getshdr(section) : NULL;
    if (!header) {
        file->is_bad = true;
        return NULL;
    }
    *data = (Elf_Data){.d_buf = type == SHT_NOBITS ? NULL : (void *)(uintptr_t)at,
                       .d_type = data_type,
                       .d_size = (size_t)bytes,
                       .d_align = align,
                       .d_version = EV_CURRENT};
    header->sh_name = names_add(&file->section_names, name);
    header->sh_type = type;
    header->sh_addralign = align;
    return header;
}

static Elf32_Shdr *add_contents(File *file, const Section *section, const void *at)
{
    bool is_empty = section->flags & SECTION_NOBITS;
    Elf32_Shdr *header = add_section(file, section->name, is_empty ? SHT_NOBITS : SHT_PROGBITS,
                                     ELF_T_BYTE, at, section->len, section->align);
    if (header) {
        header->sh_flags = section->flags & (SECTION_WRITE | SECTION_ALLOC | SECTION_CODE);
    }
    return header;
}

/* The symbol table and its names; `local_count` symbols are local. Its number is `number`, that of the names one more. */
static void add_symbols(File *file, const Elf32_Sym *symbols, isize count, isize local_count,
                        const Names *names, uint32_t number)
{
    Elf32_Shdr *header = add_section(file, S(".symtab"), SHT_SYMTAB, ELF_T_SYM, symbols,
                                     count * (isize)sizeof *symbols, 4);
    if (header) {
        header->sh_entsize = sizeof *symbols;
        header->sh_info = (uint32_t)local_count;
        header->sh_link = number + 1;
    }
    add_section(file, S(".strtab"), SHT_STRTAB, ELF_T_BYTE, names->text.at, names->text.len, 1);
}

static bool file_open(File *file, uint16_t type, uint32_t entry, Arena *arena, int *fd, Error *err)
{
    *file = (File){.arena = arena, .section_names = names_begin(arena)};
    *fd = -1;
    if (elf_version(EV_CURRENT) == EV_NONE) {
        return error_set(err, ERROR_INPUT, NULL, "libelf does not know this version of ELF");
    }
    *fd = memfd_create("tessera", MFD_CLOEXEC);
    file->elf = *fd >= 0 ? elf_begin(*fd, ELF_C_WRITE, NULL) : NULL;
    Elf32_Ehdr *header = file->elf ? elf32_newehdr(file->elf) : NULL;
    if (!header) {
        return error_set(err, ERROR_INPUT, NULL, "cannot begin an ELF file: %s", elf_errmsg(-1));
    }
    header->e_ident[EI_DATA] = ELFDATA2LSB;
    header->e_ident[EI_OSABI] = OSABI_STANDALONE;
    header->e_machine = MACHINE_COLOSSUS;
    header->e_type = type;
    header->e_version = EV_CURRENT;
    header->e_entry = entry;
    return true;
}

/* The names of the sections, the last of them. */
static void file_add_names(File *file)
{
    Elf32_Shdr *header = add_section(file, S(".shstrtab"), SHT_STRTAB, ELF_T_BYTE, NULL, 0, 1);
    Elf32_Ehdr *elf_header = elf32_getehdr(file->elf);
    size_t count = 0;
    if (!header || elf_getshdrnum(file->elf, &count) != 0) {
        file->is_bad = true;
        return;
    }
    Elf_Scn *section = elf_getscn(file->elf, count - 1);
    Elf_Data *data = elf_getdata(section, NULL);
    data->d_buf = file->section_names.text.at;
    data->d_size = (size_t)file->section_names.text.len;
    elf_header->e_shstrndx = (uint16_t)elf_ndxscn(section);
}

static bool file_finish(File *file, int fd, Arena *keep, Str *out, Error *err)
{
    int64_t bytes = file->is_bad ? -1 : elf_update(file->elf, ELF_C_WRITE);
    if (bytes < 0) {
        return error_set(err, ERROR_INPUT, NULL, "cannot write an ELF file: %s", elf_errmsg(-1));
    }
    char *at = arena_alloc(keep, (isize)bytes + 1, 16);
    for (int64_t done = 0; done < bytes;) {
        ssize_t got = pread(fd, at + done, (size_t)(bytes - done), done);
        if (got <= 0) {
            return error_set(err, ERROR_INPUT, NULL, "cannot read an ELF file back from memory");
        }
        done += got;
    }
    *out = (Str){at, (isize)bytes};
    return true;
}

static void file_close(File *file, int fd)
{
    if (file->elf) {
        elf_end(file->elf);
    }
    if (fd >= 0) {
        close(fd);
    }
}

/* Labels of one text only: their addresses are written through the symbol of their section. */
static uint8_t info_of(const Symbol *symbol, bool is_global)
{
    uint8_t type = symbol->kind == SYMBOL_FUNCTION ? STT_FUNC
                   : symbol->kind == SYMBOL_OBJECT ? STT_OBJECT
                                                   : STT_NOTYPE;
    return (uint8_t)ELF32_ST_INFO(is_global ? STB_GLOBAL : STB_LOCAL, type);
}

/* Symbols of an object file: one a section, named local ones, then globals and what is not defined here. number[i]: of symbol
 * i in the file, 0 for hidden ones. */
static isize object_symbols(const Object *object, Names *names, Elf32_Sym *out, uint32_t *number,
                            isize *local_count, Arena scratch)
{
    bool *is_used = arena_array(&scratch, bool, object->symbols.len + 1);
    isize count = 1;
    for (isize s = 0; s < object->sections.len; s++) {
        out[count++] = (Elf32_Sym){.st_info = ELF32_ST_INFO(STB_LOCAL, STT_SECTION),
                                   .st_shndx = (uint16_t)(s + 1)};
    }
    for (isize r = 0; r < object->relocs.len; r++) {
        is_used[object->relocs.at[r].symbol] = true;
    }
    for (int pass = 0; pass < 2; pass++) {
        for (isize i = 0; i < object->symbols.len; i++) {
            const Symbol *symbol = &object->symbols.at[i];
            bool is_defined = symbol->section != SYMBOL_UNDEFINED;
            bool is_global = symbol->is_global || !is_defined;
            bool is_wanted =
                !symbol_is_hidden(symbol) && (is_defined || symbol->is_global || is_used[i]);
            if (is_global != pass || !is_wanted) {
                continue;
            }
            number[i] = (uint32_t)count;
            out[count++] = (Elf32_Sym){.st_name = names_add(names, symbol->name),
                                       .st_value = is_defined ? symbol->value : 0,
                                       .st_size = symbol->bytes,
                                       .st_info = info_of(symbol, is_global),
                                       .st_shndx = !is_defined ? SHN_UNDEF
                                                   : symbol->section == SYMBOL_ABSOLUTE
                                                       ? SHN_ABS
                                                       : (uint16_t)(symbol->section + 1)};
        }
        *local_count = pass == 0 ? count : *local_count;
    }
    return count;
}

/* The relocations of each section that has some. */
static void add_relocs(File *file, const Object *object, const uint32_t *number, uint32_t symtab)
{
    isize sections = object->sections.len;
    isize *start = arena_array(file->arena, isize, sections + 2);
    Elf32_Rela *all = arena_array(file->arena, Elf32_Rela, object->relocs.len + 1);
    for (isize r = 0; r < object->relocs.len; r++) {
        start[object->relocs.at[r].section + 2]++;
    }
    for (isize s = 0; s < sections; s++) {
        start[s + 2] += start[s + 1];
    }
    for (isize r = 0; r < object->relocs.len; r++) {
        const Reloc *reloc = &object->relocs.at[r];
        const Symbol *symbol = &object->symbols.at[reloc->symbol];
        uint32_t target = number[reloc->symbol];
        int32_t addend = reloc->addend;
        if (target == 0) { /* hidden, so defined in a section: that section's symbol */
            target = (uint32_t)symbol->section + 1;
            addend = (int32_t)((uint32_t)addend + symbol->value);
        }
        all[start[reloc->section + 1]++] =
            (Elf32_Rela){reloc->offset, ELF32_R_INFO(target, (uint32_t)reloc->kind), addend};
    }
    for (isize s = 0; s < sections; s++) {
        isize count = start[s + 1] - start[s];
        Str name = str_format(file->arena, ".rela%.*s", STR_ARG(object->sections.at[s].name));
        Elf32_Shdr *header = count > 0 ? add_section(file, name, SHT_RELA, ELF_T_RELA,
                                                     all + start[s], count * (isize)sizeof *all, 4)
                                       : NULL;
        if (header) {
            header->sh_entsize = sizeof *all;
            header->sh_info = (uint32_t)s + 1;
            header->sh_link = symtab;
        }
    }
}

bool elf_write_object(const Object *object, Arena *keep, Arena scratch, Str *out, Error *err)
{
    File file;
    int fd;
    bool is_good = file_open(&file, ET_REL, 0, &scratch, &fd, err);
    if (is_good) {
        isize count = object->symbols.len + object->sections.len + 1, local_count = 0;
        Elf32_Sym *symbols = arena_array(&scratch, Elf32_Sym, count);
        uint32_t *number = arena_array(&scratch, uint32_t, object->symbols.len + 1);
        Names names = names_begin(&scratch);
        count = object_symbols(object, &names, symbols, number, &local_count, scratch);
        for (isize s = 0; s < object->sections.len; s++) {
            add_contents(&file, &object->sections.at[s], object->sections.at[s].at);
        }
        uint32_t symtab = (uint32_t)object->sections.len + 1;
        add_symbols(&file, symbols, count, local_count, &names, symtab);
        add_relocs(&file, object, number, symtab);
        file_add_names(&file);
        is_good = file_finish(&file, fd, keep, out, err);
    }
    file_close(&file, fd);
    return is_good;
}

static bool check_region(const Object *object, const Section *section, uint32_t address, Error *err)
{
    bool is_code = section->flags & SECTION_CODE;
    uint64_t end = is_code ? SRAM_REGION1 : SRAM_END;
    if (address >= SRAM_BASE && address + (uint64_t)section->len <= end) {
        return true;
    }
    char where[256];
    (void)snprintf(where, sizeof where, "%.*s", STR_ARG(object->file));
    return error_set(err, ERROR_INPUT, where,
                     "section %.*s is 0x%x..0x%llx, expected %s within 0x%x..0x%llx",
                     STR_ARG(section->name), address, (long long)address + (long long)section->len,
                     is_code ? "code" : "data", SRAM_BASE, (unsigned long long)end);
}

/* Sections with their addresses; number[s]: of the section in the file, 0 when it is not there. */
static bool add_program_sections(File *file, const Object *objects, int object_count,
                                 const Resolved *resolved, uint32_t *number, uint32_t *count,
                                 Error *err)
{
    int s = 0;
    for (int o = 0; o < object_count; o++) {
        for (isize i = 0; i < objects[o].sections.len; i++, s++) {
            const Section *section = &objects[o].sections.at[i];
            uint32_t address = resolved->section_address[s];
            if (!resolved->is_kept[s] || section->len == 0) {
                continue;
            }
            if (!check_region(&objects[o], section, address, err)) {
                return false;
            }
            Elf32_Shdr *header =
                add_contents(file, section, resolved->at + (address - resolved->base));
            if (header) {
                header->sh_addr = address;
            }
            if (*count + 1 >= SHN_LORESERVE) {
                return error_set(err, ERROR_INPUT, NULL, "expected fewer than %d sections",
                                 SHN_LORESERVE);
            }
            number[s] = ++*count;
        }
    }
    return true;
}

static void add_segments(File *file, uint32_t count)
{
    Elf32_Phdr *segments = count > 0 ? elf32_newphdr(file->elf, count) : NULL;
    if (file->is_bad || (!segments && count > 0) || elf_update(file->elf, ELF_C_NULL) < 0) {
        file->is_bad = true;
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        const Elf32_Shdr *header = elf32_getshdr(elf_getscn(file->elf, i + 1));
        uint32_t align =
            header->sh_addralign < SEGMENT_ALIGN_MAX ? header->sh_addralign : SEGMENT_ALIGN_MAX;
        segments[i] = (Elf32_Phdr){
            .p_type = PT_LOAD,
            .p_offset = header->sh_offset,
            .p_vaddr = header->sh_addr,
            .p_paddr = header->sh_addr,
            .p_filesz = header->sh_type == SHT_NOBITS ? 0 : header->sh_size,
            .p_memsz = header->sh_size,
            .p_flags = PF_R | (header->sh_flags & SHF_WRITE ? PF_W : 0) |
                       (header->sh_flags & SHF_EXECINSTR ? PF_X : 0),
            .p_align = align,
        };
    }
}

bool elf_write_program(const Object *objects, int object_count, const Resolved *resolved,
                       Arena *keep, Arena scratch, Str *out, Error *err)
{
    File file;
    int fd;
    isize section_count = 0, symbol_count = 1;
    for (int o = 0; o < object_count; o++) {
        section_count += objects[o].sections.len;
        symbol_count += objects[o].symbols.len;
    }
    uint32_t *number = arena_array(&scratch, uint32_t, section_count + 1), kept = 0;
    bool is_good = file_open(&file, ET_EXEC, resolved->entry, &scratch, &fd, err) &&
                   add_program_sections(&file, objects, object_count, resolved, number, &kept, err);
    if (is_good) {
        Elf32_Sym *symbols = arena_array(&scratch, Elf32_Sym, symbol_count);
        Names names = names_begin(&scratch);
        isize count = 1, local_count = 1;
        for (int pass = 0; pass < 2; pass++) {
            isize first = 0;
            for (int o = 0; o < object_count; first += objects[o++].sections.len) {
                for (isize i = 0; i < objects[o].symbols.len; i++) {
                    const Symbol *symbol = &objects[o].symbols.at[i];
                    isize s = first + symbol->section;
                    bool is_absolute = symbol->section == SYMBOL_ABSOLUTE;
                    if (symbol->is_global != pass || symbol_is_hidden(symbol) ||
                        !(is_absolute || (symbol->section >= 0 && number[s] > 0))) {
                        continue;
                    }
                    symbols[count++] =
                        (Elf32_Sym){.st_name = names_add(&names, symbol->name),
                                    .st_value = symbol->value +
                                                (is_absolute ? 0 : resolved->section_address[s]),
                                    .st_size = symbol->bytes,
                                    .st_info = info_of(symbol, symbol->is_global),
                                    .st_shndx = is_absolute ? SHN_ABS : (uint16_t)number[s]};
                }
            }
            local_count = pass == 0 ? count : local_count;
        }
        add_symbols(&file, symbols, count, local_count, &names, kept + 1);
        file_add_names(&file);
        add_segments(&file, kept);
        is_good = file_finish(&file, fd, keep, out, err);
    }
    file_close(&file, fd);
    return is_good;
}
