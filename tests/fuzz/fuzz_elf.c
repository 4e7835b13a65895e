/* Any object file: refused in one line, or it can be linked, and its plain text assembles to the same sections. An input whose
 * first byte is even is the file itself; otherwise it is a list of changes {16-bit offset, byte} to a good file. */
#include "elf/elf.h"
#include "fuzz/fuzz.h"
#include <string.h>

static const char *const text =
    ".supervisor\n.globl main, table\n.type main, @function\n.section .text.main, \"ax\"\nmain: "
    "call $lr, helper\nsetzi $m1, .Lt + 4\nrun $m0, $m1, vertex\n.size main, .-main\n.section "
    ".rodata, \"a\"\n.byte 1\n.balign 16\n.Lt: .long 1, main, far@abs18@s2\ntable: .quad table - "
    "8\n.section .bss, \"aw\", @nobits\nbuffer: .space 24\n";

static Str good_file(Arena *keep, Arena scratch)
{
    Object object;
    Str bytes;
    Error err = {0};
    FUZZ_CHECK(asm_assemble(S("t.s"), str_of(text), NULL, keep, scratch, &object, &err));
    FUZZ_CHECK(elf_write_object(&object, keep, scratch, &bytes, &err));
    return bytes;
}

static Str changed_file(const uint8_t *data, size_t bytes, Arena *keep, Arena scratch)
{
    Str file = good_file(keep, scratch);
    char *at = arena_alloc(keep, file.len, 16);
    memcpy(at, file.at, (size_t)file.len);
    for (size_t i = 0; i + 3 <= bytes; i += 3) {
        at[(data[i] | data[i + 1] << 8) % file.len] = (char)data[i + 2];
    }
    return (Str){at, file.len};
}

/* The text of the object assembles to sections with the same bytes. */
static void check_text(const Object *object, Arena keep, Arena scratch)
{
    Writer writer = writer_buffer(&keep);
    Object again;
    Error err = {0};
    object_print(&writer, object, NULL, CONTEXT_SUPERVISOR, true, NULL, scratch);
    bool is_good =
        asm_assemble(S("again.s"), writer_text(&writer), NULL, &keep, scratch, &again, &err);
    if (!is_good) {
        fprintf(stderr, "%s: %s\n%.*s", err.where, err.message, STR_ARG(writer_text(&writer)));
    }
    FUZZ_CHECK(is_good);
    /* Those that hold something, in order; the assembler's own .text may come first when the object's lies later. */
    isize filled = 0, found = 0;
    for (isize k = 0; k < object->sections.len; k++) {
        const Section *section = &object->sections.at[k];
        filled += section->len > 0;
        for (isize i = 0; i < again.sections.len && section->len > 0; i++) {
            const Section *other = &again.sections.at[i];
            if (other->len == section->len &&
                memcmp(other->at, section->at, (size_t)other->len) == 0) {
                found++;
                break;
            }
        }
    }
    FUZZ_CHECK(found == filled);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    Arena keep, scratch;
    fuzz_arenas(&keep, &scratch);
    Str file = {(const char *)data, (isize)bytes};
    if (bytes > 0 && data[0] % 2) {
        file = changed_file(data + 1, bytes - 1, &keep, scratch);
    }
    ElfFile elf;
    Error err = {0};
    if (!elf_read(S("fuzz.o"), file, &keep, scratch, &elf, &err)) {
        FUZZ_CHECK(err.code == ERROR_INPUT && err.message[0] != 0);
        return 0;
    }
    Resolved resolved;
    (void)object_resolve(&elf.object, 1, 0x4c010, &keep, scratch, &resolved, &err);
    check_text(&elf.object, keep, scratch);
    return 0;
}
