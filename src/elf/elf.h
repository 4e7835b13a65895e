/* elf: objects and linked programs as Colossus ELF32 files (isa/assembler.md 3).
 * takes: Object, Resolved, bytes of a file    gives: bytes of a file, ElfFile
 * uses: base chip isa asm
 * never: assembles, lays out or relocates
 */
#pragma once
#include "asm/asm.h"

enum { ELF_FILE_BYTES_MAX = 32 << 20 };

/* What a file holds. Sections are those that occupy tile memory (ALLOC), in the order of the file; everything else is left out. */
typedef struct ElfFile {
    Object object;
    bool is_program;           /* linked: no relocations */
    uint32_t *section_address; /* of a program, per section */
} ElfFile;

bool elf_is(Str bytes);
/* Reads a relocatable object or a program. `name` is its file name. ERROR_INPUT for anything that is not one: every number
 * of the file is checked. Linear in the size of the file. */
bool elf_read(Str name, Str bytes, Arena *keep, Arena scratch, ElfFile *out, Error *err);
/* A relocatable object. Local labels (.L, numbers) are not written; relocations with them name their section. */
bool elf_write_object(const Object *object, Arena *keep, Arena scratch, Str *out, Error *err);
/* A program of linked objects: one segment a section. ERROR_INPUT where a section is outside the tile's memory, or code
 * outside its executable part. */
bool elf_write_program(const Object *objects, int object_count, const Resolved *resolved,
                       Arena *keep, Arena scratch, Str *out, Error *err);
