/* Any words: decoding and encoding are inverse in each lane and context, and plain text assembles to the same bytes. The first
 * byte chooses the context and the base. */
#include "asm/asm.h"
#include "fuzz/fuzz.h"
#include <string.h>

static void check_word(uint32_t word, uint32_t next, InsnLane lane, InsnContext context)
{
    Insn insn = isa_decode(word, next, lane, context);
    if (insn.code != INSN_NONE) {
        uint32_t again[2] = {0, 0};
        Error err = {0};
        FUZZ_CHECK(isa_encode((InsnCode)insn.code, insn.operand, insn.is_coissued, again, &err));
        FUZZ_CHECK(again[0] == word);
        FUZZ_CHECK(isa_form((InsnCode)insn.code)->words == 1 || again[1] == next);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    if (bytes < 1) {
        return 0;
    }
    InsnContext context = data[0] & 1 ? CONTEXT_WORKER : CONTEXT_SUPERVISOR;
    uint32_t base = data[0] & 2 ? 0x4c014 : 0x4c010;
    const uint8_t *code = data + 1;
    isize len = (isize)bytes - 1;
    for (isize at = 0; at + 8 <= len; at += 4) {
        uint32_t word[2];
        memcpy(word, code + at, 8);
        for (int choice = 0; choice < 4; choice++) {
            check_word(word[0], word[1], choice & 1 ? LANE_AUX : LANE_MAIN,
                       choice & 2 ? CONTEXT_WORKER : CONTEXT_SUPERVISOR);
        }
    }
    Arena keep, scratch;
    fuzz_arenas(&keep, &scratch);
    Writer text = writer_buffer(&keep);
    asm_disassemble(&text, code, len, base, context, true, NULL);
    Object object;
    Resolved resolved;
    Error err = {0};
    bool is_good =
        asm_assemble(S("fuzz.s"), writer_text(&text), NULL, &keep, scratch, &object, &err) &&
        object_resolve(&object, 1, base, &keep, scratch, &resolved, &err);
    if (!is_good) {
        fprintf(stderr, "%s: %s\n", err.where, err.message);
    }
    FUZZ_CHECK(is_good && resolved.len >= len);
    /* In front of a section that holds bundles the base may have left a gap. */
    FUZZ_CHECK(len == 0 || memcmp(resolved.at + (resolved.len - len), code, (size_t)len) == 0);
    return 0;
}
