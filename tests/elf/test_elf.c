/* Object files: what is written is read again, hostile files are refused in one line, text of a file assembles to the same. */
#include "elf/elf.h"
#include "test.h"

static const char *const text =
    ".supervisor\n.globl main, table\n.type main, @function\n.section .text.main, \"ax\"\n"
    "main: call $lr, helper\nsetzi $m1, .Lt + 4\nrun $m0, $m1, vertex\nbri 1f\n1: br $lr\n"
    ".size main, .-main\n.set size, 12\n"
    ".section .rodata, \"a\"\n.byte 1\n.balign 16\n.Lt: .long 1, main, far@abs18@s2\ntable: .short "
    "vertex@relative@16@s2, "
    "2\n.quad table - 8\n.type table, @object\n.size table, size\n"
    ".section .bss, \"aw\", @nobits\nbuffer: .space 24\n"
    ".section .note, \"\"\n.long 9, main\n";

static Object assemble(const char *source, Arena *keep, Arena scratch)
{
    Object object;
    Error err = {0};
    CHECK_OK(asm_assemble(S("t.s"), str_of(source), NULL, keep, scratch, &object, &err), err);
    return object;
}

static int32_t section_named(const Object *object, Str name)
{
    for (isize i = 0; i < object->sections.len; i++) {
        if (str_equal(object->sections.at[i].name, name)) {
            return (int32_t)i;
        }
    }
    return -1;
}

static const Symbol *symbol_named(const Object *object, Str name)
{
    for (isize i = 0; i < object->symbols.len; i++) {
        if (str_equal(object->symbols.at[i].name, name)) {
            return &object->symbols.at[i];
        }
    }
    return NULL;
}

/* The loaded sections, named symbols and relocations of `a` are in `b`. A relocation may name its section instead of a label. */
static void check_same(const Object *a, const Object *b)
{
    int64_t relocs = 0;
    for (isize i = 0; i < a->sections.len; i++) {
        const Section *x = &a->sections.at[i];
        if (x->flags & SECTION_ALLOC) {
            int32_t s = section_named(b, x->name);
            CHECK(s >= 0);
            const Section *y = &b->sections.at[s];
            CHECK_EQ_INT(y->len, x->len);
            CHECK_EQ_INT(y->flags, x->flags);
            CHECK_EQ_INT(y->align, x->align);
            CHECK(x->len == 0 || memcmp(x->at, y->at, (size_t)x->len) == 0);
        }
    }
    for (isize i = 0; i < a->symbols.len; i++) {
        const Symbol *x = &a->symbols.at[i], *y = symbol_named(b, x->name);
        if (x->name.at[0] != '.' && str_find(x->name, '#', 0) < 0) {
            CHECK(y != NULL);
            CHECK_EQ_INT(y->value, x->value);
            CHECK_EQ_INT(y->bytes, x->bytes);
            CHECK_EQ_INT(y->kind, x->kind);
            CHECK_EQ_INT(y->section < 0 ? y->section : 0, x->section < 0 ? x->section : 0);
        }
    }
    for (isize i = 0; i < a->relocs.len; i++) {
        const Reloc *x = &a->relocs.at[i];
        const Symbol *p = &a->symbols.at[x->symbol];
        bool is_loaded = a->sections.at[x->section].flags & SECTION_ALLOC, is_found = !is_loaded;
        relocs += is_loaded;
        for (isize k = 0; k < b->relocs.len && !is_found; k++) {
            const Reloc *y = &b->relocs.at[k];
            const Symbol *q = &b->symbols.at[y->symbol];
            bool is_same_place =
                y->offset == x->offset && y->kind == x->kind &&
                str_equal(a->sections.at[x->section].name, b->sections.at[y->section].name);
            bool is_same_target =
                p->section >= 0
                    ? q->section >= 0 &&
                          str_equal(a->sections.at[p->section].name,
                                    b->sections.at[q->section].name) &&
                          p->value + (uint32_t)x->addend == q->value + (uint32_t)y->addend
                    : str_equal(p->name, q->name) && x->addend == y->addend;
            is_found = is_same_place && is_same_target;
        }
        CHECK(is_found);
    }
    CHECK_EQ_INT(b->relocs.len, relocs);
}

static void written_and_read(void)
{
    Arena keep = arena_create(1 << 27), scratch = arena_split(&keep, 1 << 26);
    Object object = assemble(text, &keep, scratch);
    Str bytes, again;
    ElfFile file;
    Error err = {0};
    CHECK_OK(elf_write_object(&object, &keep, scratch, &bytes, &err), err);
    CHECK_OK(elf_write_object(&object, &keep, scratch, &again, &err), err);
    CHECK_STR(again, bytes);
    CHECK_OK(elf_read(S("t.o"), bytes, &keep, scratch, &file, &err), err);
    CHECK(!file.is_program);
    check_same(&object, &file.object);
    CHECK_EQ_INT(symbol_named(&file.object, S("main"))->bytes, 20);
    CHECK(symbol_named(&file.object, S("1#1")) == NULL);
    /* both link to the same bytes */
    Object objects[2] = {
        object, assemble(".globl helper, vertex, far\n.set helper, 0x4c800\n.set vertex, 0x4d000\n"
                         ".set far, 0x5a5a8\n",
                         &keep, scratch)};
    Resolved one, two;
    CHECK_OK(object_resolve(objects, 2, 0x4c010, &keep, scratch, &one, &err), err);
    objects[0] = file.object;
    CHECK_OK(object_resolve(objects, 2, 0x4c010, &keep, scratch, &two, &err), err);
    CHECK_STR(((Str){(char *)two.at, two.len}), ((Str){(char *)one.at, one.len}));
    /* the text of the file is the same object */
    Writer writer = writer_buffer(&keep);
    object_print(&writer, &file.object, NULL, CONTEXT_SUPERVISOR, true, NULL, scratch);
    write_str(&writer, (Str){"", 1});
    object = assemble(writer_text(&writer).at, &keep, scratch);
    check_same(&file.object, &object);
    arena_destroy(&keep);
}

static void program(void)
{
    Arena keep = arena_create(1 << 27), scratch = arena_split(&keep, 1 << 26);
    Object object = assemble(".worker\n.globl f\nnop\nf: exitz $mzero\n.data\nd: .long f\n.section "
                             ".text.x\n.globl x\nx: nop\n",
                             &keep, scratch);
    LinkOptions options = {.base = 0x4c010, .entry = S("f")};
    Resolved resolved;
    ElfFile file;
    Str bytes;
    Error err = {0};
    CHECK_OK(object_link(&object, 1, &options, &keep, scratch, &resolved, &err), err);
    CHECK_OK(elf_write_program(&object, 1, &resolved, &keep, scratch, &bytes, &err), err);
    CHECK_OK(elf_read(S("p"), bytes, &keep, scratch, &file, &err), err);
    CHECK(file.is_program);
    CHECK_EQ_INT(file.object.sections.len, 3);
    CHECK_EQ_INT(file.section_address[1], 0x4c018);
    CHECK(memcmp(file.object.sections.at[1].at, &(uint32_t){0x4c014}, 4) == 0);
    CHECK_EQ_INT(symbol_named(&file.object, S("f"))->value, 4);
    /* code has to lie in the executable part, everything in the tile's memory */
    options.base = 0x7fff8;
    CHECK_OK(object_link(&object, 1, &options, &keep, scratch, &resolved, &err), err);
    CHECK_ERROR(elf_write_program(&object, 1, &resolved, &keep, scratch, &bytes, &err), err,
                ERROR_INPUT, ".text.x is 0x80004..0x80008, expected code within 0x4c000..0x80000");
    options.base = 0;
    CHECK_OK(object_link(&object, 1, &options, &keep, scratch, &resolved, &err), err);
    CHECK_ERROR(elf_write_program(&object, 1, &resolved, &keep, scratch, &bytes, &err), err,
                ERROR_INPUT, "within");
    arena_destroy(&keep);
}

/* Offsets of fields in the file header and in section headers (ELF32). */
enum {
    E_CLASS = 4,
    E_OSABI = 7,
    E_TYPE = 16,
    E_MACHINE = 18,
    E_SHOFF = 32,
    E_SHNUM = 48,
    E_SHSTRNDX = 50,
    SH_BYTES = 40,
    SH_NAME = 0,
    SH_TYPE = 4,
    SH_OFFSET = 16,
    SH_SIZE = 20,
    SH_LINK = 24,
    SH_INFO = 28,
    SH_ALIGN = 32,
    SH_ENTSIZE = 36
};

static uint32_t get32(const char *at)
{
    uint32_t value;
    memcpy(&value, at, 4);
    return value;
}

typedef struct Change {
    int section; /* -1: the file header; else of this index in the file */
    int field;   /* or -1: field 0 of ... the section's contents at `inner` */
    int inner;
    uint32_t value;
    int bytes;
    const char *part;
} Change;

/* The file of `text`: 1 .text, 2 .text.main, 3 .rodata, 4 .bss, 5 .note, 6 .symtab, 7 .strtab, 8 .rela.text.main,
 * 9 .rela.rodata, 10 .rela.note, 11 .shstrtab. */
static const Change changes[] = {
    {-1, 0, 0, 0x12345678, 4, "expected an ELF file"},
    {-1, E_CLASS, 0, 2, 1, "32-bit"},
    {-1, E_OSABI, 0, 0, 1, "OSABI"},
    {-1, E_MACHINE, 0, 62, 2, "machine 248"},
    {-1, E_TYPE, 0, 3, 2, "relocatable"},
    {-1, E_SHOFF, 0, 0x7ffffff0, 4, ""},
    {-1, E_SHOFF, 0, 0x101, 4, "multiple of 4"},
    {-1, E_SHNUM, 0, 0xfeff, 2, ""},
    {-1, E_SHSTRNDX, 0, 200, 2, ""},
    {-1, E_SHSTRNDX, 0, 1, 2, "string table"},
    {2, SH_NAME, 0, 0xffffff, 4, "name"},
    {2, SH_TYPE, 0, 9, 4, "RELA"},
    {2, SH_TYPE, 0, 2, 4, "plain contents"},
    {2, SH_TYPE, 0, 0x12345, 4, "plain contents"},
    {2, SH_OFFSET, 0, 0x7fffffff, 4, "not in the file"},
    {2, SH_SIZE, 0, 0x40000000, 4, "1 MiB"},
    {2, SH_ALIGN, 0, 3, 4, "alignment"},
    {2, SH_ALIGN, 0, 0x80000000, 4, "alignment"},
    {4, SH_SIZE, 0, 0xffffffff, 4, "1 MiB"},
    {6, SH_LINK, 0, 6, 4, "string table"},
    {6, SH_LINK, 0, 0xffff, 4, "string table"},
    {6, SH_ENTSIZE, 0, 0, 4, "entries"},
    {6, SH_SIZE, 0, 17, 4, "entries"},
    {8, SH_LINK, 0, 7, 4, "symbol table"},
    {8, SH_INFO, 0, 0xffffffff, 4, "symbol table"},
    {8, SH_INFO, 0, 8, 4, NULL}, /* of a section that is not loaded: left out */
    {8, SH_ENTSIZE, 0, 8, 4, "entries"},
    {8, -1, 0, 0x1000, 4, "outside its section"},
    {8, -1, 0, 0xffffffff, 4, "outside its section"},
    {8, -1, 4, 0xffffff08, 4, "symbol"},
    {8, -1, 4, 0x00000808, 4, NULL},
    {8, -1, 4, 0x0000080a, 4, "unknown kind"},
    {8, -1, 4, 0x000000ff, 4, "unknown kind"},
    {6, -1, 16 * 7 + 14, 0x700, 2, "does not exist"},
    {6, -1, 16 * 7 + 14, 0xfff2, 2, "does not exist"},
    {6, -1, 16 * 7 + 12, 0x20, 1, "weak"},
    {6, -1, 16 * 7, 0xfffffff, 4, "name"},
    {6, -1, 16 * 2 + 4, 0xffff, 4, "outside its section"},
};

static void hostile(void)
{
    Arena keep = arena_create(1 << 27), scratch = arena_split(&keep, 1 << 26);
    Object object = assemble(text, &keep, scratch);
    Str bytes;
    ElfFile file;
    Error err = {0};
    CHECK_OK(elf_write_object(&object, &keep, scratch, &bytes, &err), err);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        Arena trial = scratch;
        const Change *change = &changes[i];
        char *at = arena_alloc(&trial, bytes.len, 16);
        memcpy(at, bytes.at, (size_t)bytes.len);
        isize where = change->field;
        if (change->section >= 0) {
            where = (isize)get32(at + E_SHOFF) + SH_BYTES * change->section + where;
        }
        if (change->field < 0) {
            where = (isize)get32(at + where + 1 + SH_OFFSET) + change->inner;
        }
        memcpy(at + where, &change->value, (size_t)change->bytes);
        err = (Error){0};
        Arena held = keep;
        bool is_good = elf_read(S("t.o"), (Str){at, bytes.len}, &held, trial, &file, &err);
        if (is_good != !change->part || (change->part && !strstr(err.message, change->part))) {
            fprintf(stderr, "change %zu: %d: %s\n", i, is_good, err.message);
        }
        CHECK(is_good == !change->part);
        CHECK(is_good || (err.code == ERROR_INPUT && strstr(err.message, change->part)));
    }
    for (isize len = 0; len < bytes.len; len++) { /* cut off anywhere */
        Arena held = keep;
        err = (Error){0};
        CHECK(!elf_read(S("t.o"), (Str){bytes.at, len}, &held, scratch, &file, &err));
        CHECK_EQ_INT(err.code, ERROR_INPUT);
    }
    arena_destroy(&keep);
}

/* Random bytes over good files: refused, or something that can be linked and printed. */
static void random_changes(void)
{
    Arena keep = arena_create(1 << 28), scratch = arena_split(&keep, 1 << 27);
    uint64_t seed = test_seed(8128), next = 0;
    Object object = assemble(text, &keep, scratch);
    Str bytes;
    Error err = {0};
    CHECK_OK(elf_write_object(&object, &keep, scratch, &bytes, &err), err);
    double until = time_seconds() + 2;
    for (int i = 0; i < 4000 && time_seconds() < until; i++) {
        Arena trial = scratch, held = keep;
        char *at = arena_alloc(&trial, bytes.len, 16);
        memcpy(at, bytes.at, (size_t)bytes.len);
        for (int c = 0; c <= i % 3; c++) {
            uint64_t where = random_below(seed, next++, (uint64_t)bytes.len);
            uint64_t value = random_u64(seed, next++);
            at[where] = (char)(value % 3 ? value >> 8 & 15 : value >> 8);
        }
        ElfFile file;
        Resolved resolved;
        err = (Error){0};
        if (elf_read(S("t.o"), (Str){at, bytes.len}, &held, trial, &file, &err)) {
            Writer writer = writer_buffer(&held);
            object_print(&writer, &file.object, file.section_address, CONTEXT_WORKER, i % 2, NULL,
                         trial);
            object_resolve(&file.object, 1, 0x4c010, &held, trial, &resolved, &err);
        }
        CHECK(err.code == ERROR_NONE || (err.code == ERROR_INPUT && err.message[0]));
    }
    arena_destroy(&keep);
}

TEST_MAIN(written_and_read, program, hostile, random_changes)
