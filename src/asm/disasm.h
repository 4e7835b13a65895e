/* Private to asm: words to text, for raw bytes (disasm.c) and for objects (print.c). */
#pragma once
#include "asm/asm.h"

typedef struct Code {
    const uint8_t *at;
    isize end;     /* of the piece being printed: nothing reaches over it */
    uint32_t base; /* address of at[0] */
    InsnContext context;
    const IsaFlags *flags; /* values of flag symbols; NULL: ours */
    bool is_data;          /* no instructions */
} Code;

/* What else the line of the bytes [begin, end) says. */
typedef struct CodeNotes {
    void *context;
    void (*print)(void *context, Writer *writer, isize begin, isize end);
} CodeNotes;

/* Lines of the bytes [begin, end); `notes` may be NULL. */
void code_print(Writer *writer, Code *code, isize begin, isize end, bool plain,
                const CodeNotes *notes);
/* What plain text begins with. */
void code_print_mode(Writer *writer, InsnContext context);
