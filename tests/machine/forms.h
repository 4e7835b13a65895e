/* Which instruction forms the tests of this folder execute: measured, for docs/isa-coverage.md. With ISA_FORMS_FILE set, every form
 * of a program that a rig loads is appended to that file, one line each: `form`, or `form faults` when the program must fault. */
#pragma once
#include "isa/isa.h"
#include <stdio.h>
#include <stdlib.h>

static inline void forms_note(Insn insn, bool must_fault)
{
    static bool seen[2][INSN_COUNT];
    const char *path = getenv("ISA_FORMS_FILE");
    if (path == NULL || insn.code == INSN_NONE || seen[must_fault][insn.code]) {
        return;
    }
    seen[must_fault][insn.code] = true;
    FILE *file = fopen(path, "a");
    if (file == NULL ||
        fprintf(file, "%s%s\n", isa_form((InsnCode)insn.code)->form, must_fault ? " faults" : "") <
            0 ||
        fclose(file) != 0) {
        perror(path);
        exit(1);
    }
}

/* Notes the forms of `count` words of code; bundles begin at multiples of eight bytes. */
static inline void forms_note_words(const uint32_t *words, int count, InsnContext context,
                                    bool must_fault)
{
    for (int i = 0; i < count; i++) {
        bool is_bundle = context == CONTEXT_WORKER && words[i] >> 31 != 0 && i + 1 < count;
        Insn insn = isa_decode(words[i], i + 1 < count ? words[i + 1] : 0, LANE_MAIN, context);
        forms_note(insn, must_fault);
        if (is_bundle) {
            forms_note(isa_decode(words[i + 1], 0, LANE_AUX, context), must_fault);
        }
        i += is_bundle || (insn.code != INSN_NONE && isa_form((InsnCode)insn.code)->words == 2);
    }
}
