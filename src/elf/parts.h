/* Private to elf: the numbers of the Colossus format (isa/assembler.md 3) that <elf.h> does not have. */
#pragma once

enum {
    MACHINE_COLOSSUS = 248,
    OSABI_STANDALONE = 255,
    SEGMENT_ALIGN_MAX = 4, /* the page size used for linking */
};
