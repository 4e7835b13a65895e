/* Any text: assembles or is refused with messages; a good object can be linked, printed, written as a file and read again. */
#include "elf/elf.h"
#include "fuzz/fuzz.h"

enum { PRINTED_BYTES_MAX = 1 << 14 };

static void use_object(const Object *object, Arena keep, Arena scratch)
{
    Resolved resolved;
    Error err = {0};
    if (object_resolve(object, 1, 0x4c010, &keep, scratch, &resolved, &err)) {
        Writer writer = writer_buffer(&keep);
        isize len = resolved.len < PRINTED_BYTES_MAX ? resolved.len : PRINTED_BYTES_MAX;
        asm_disassemble(&writer, resolved.at, len, resolved.base, CONTEXT_WORKER, false, NULL);
    }
    Str bytes;
    ElfFile file;
    Error file_err = {0};
    FUZZ_CHECK(elf_write_object(object, &keep, scratch, &bytes, &file_err));
    /* Names that are too long, and what is in no section of the tile, are written but not read. */
    (void)elf_read(S("fuzz.o"), bytes, &keep, scratch, &file, &file_err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    Arena keep, scratch;
    Object object;
    Error err = {0};
    AsmOptions options = {.has_listing = bytes % 2};
    fuzz_arenas(&keep, &scratch);
    Str text = {(const char *)data, (isize)bytes};
    if (asm_assemble(S("fuzz.s"), text, &options, &keep, scratch, &object, &err)) {
        use_object(&object, keep, scratch);
    } else {
        FUZZ_CHECK(err.code == ERROR_INPUT && err.message[0] != 0 && object.messages.len > 0);
    }
    Writer writer = writer_buffer(&keep);
    for (isize i = 0; i < object.messages.len; i++) {
        asm_print_message(&writer, &object.messages.at[i]);
    }
    return 0;
}
