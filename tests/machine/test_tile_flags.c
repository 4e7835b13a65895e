/* Enumerators are decoded through the table that the code was assembled with (decisions.md A9): one program that uses every family of
 * unpublished values leaves the same state under two tables, in the same cycles, and means nothing under the wrong one. */
#include "tile_rig.h"

/* Every replaceable value moves: 5v + 7 is one to one and has no fixed point modulo a power of two. */
static IsaFlags moved_flags(void)
{
    IsaFlags flags = isa_flags_default();
    for (int id = 0; id < FLAG_ID_COUNT; id++) {
        const FlagSymbol *symbol = flag_symbol((FlagId)id);
        if (!symbol->is_documented) {
            flags.value[id] = (5 * symbol->value + 7) % (1u << symbol->bits);
        }
    }
    Error err = {0};
    CHECK_OK(isa_flags_check(&flags, &err), err);
    return flags;
}

static const char program[] = "setzi $a6, 8\n"
                              "uput $FP_CLR, $a6\n"
                              "setzi $a0, 0x13c00\n"
                              "setzi $a1, 0x24000\n"
                              "setzi $m0, 0x60000\n"
                              ".macro amp phase\n"
                              "f16v4hihov4amp $a2:3, $a0:1, $a0:1, TAMP_F16V4_E4_P\\phase\n"
                              "st64step $a2:3, $mzero, $m0+=, 1\n"
                              "f16v4sisoamp $a2:3, $a0:1, $azeros, TAMP_F16V4_E2_P\\phase\n"
                              "st64step $a2:3, $mzero, $m0+=, 1\n"
                              "f32sisov2amp $a2:3, $azero, $a0:1, TAMP_F32_E4_P\\phase\n"
                              "st64step $a2:3, $mzero, $m0+=, 1\n"
                              "f16v4hihoslic $a2, $a0:1, $a0, TSLIC_F16V4_1x4_W\\phase\n"
                              "st32step $a2, $mzero, $m0+=, 2\n"
                              "f16v4sisoslic $a2:3, $a0:1, $azeros, TSLIC_F16V4_1x3_W\\phase\n"
                              "st64step $a2:3, $mzero, $m0+=, 1\n"
                              ".endm\n"
                              "amp 0\namp 1\namp 2\namp 3\namp 1\n"
                              "f16v4istacc $a2:3, $a0:1, $azeros, TISTACC_P0\n"
                              "f16v4istacc $a2:3, $azeros, $a0:1, TISTACC_P1\n"
                              "f16v4stacc $a2:3, TSTACC_P0\n"
                              "st64step $a2:3, $mzero, $m0+=, 1\n"
                              "f16v4stacc $a2:3, TSTACC_P1\n"
                              "st64step $a2:3, $mzero, $m0+=, 1\n"
                              "f32v2gina $a2:3, $a0:1, TGINA_SET1_EVEN\n"
                              "st64step $a2:3, $mzero, $m0+=, 1\n"
                              "f32v2gina $a2:3, $azeros, TGINA_SET1_ODD\n"
                              "st64step $a2:3, $mzero, $m0+=, 1\n"
                              "f32v2gina $a2:3, $azeros, TGINA_SET0_ODD\n"
                              "st64step $a2:3, $mzero, $m0+=, 1\n"
                              "exitz $mzero\n";

/* Loads all coefficients, then runs the program. */
static Rig *run(const IsaFlags *code_flags, const IsaFlags *machine_flags)
{
    Rig *rig = rig_create();
    uint32_t words[128];
    for (uint32_t i = 0; i < 128; i++) {
        words[i] = 0x34003000 + i * 0x00080004; /* small halves, all different */
    }
    rig_words(rig, RIG_DATA, words, 128);
    Writer text = writer_buffer(&rig->arena);
    write_fmt(&text, "setzi $m0, 0x%x\nput $CCCSLOAD, $m0\n", RIG_DATA);
    for (int i = 0; i < 64; i++) {
        write_fmt(&text, "ld64putcs %d\n", i);
    }
    write_fmt(&text, "%s%c", RIG_LAUNCH, 0);
    rig->shared.flags = code_flags;
    rig_code(rig, RIG_SUPERVISOR, true, writer_text(&text).at);
    rig_code(rig, RIG_WORKER, false, program);
    rig->shared.flags = machine_flags;
    rig_run(rig);
    return rig;
}

static void same_meaning(void)
{
    IsaFlags moved = moved_flags();
    Rig *ours = run(NULL, NULL), *theirs = run(&moved, &moved);
    CHECK_EQ_INT(ours->tile.stop, TILE_STOP_SYNC_HOST);
    CHECK_EQ_INT(theirs->tile.stop, TILE_STOP_SYNC_HOST);
    CHECK_EQ_INT(ours->tile.cycle, theirs->tile.cycle);
    int defined = 0, differ = 0;
    for (uint32_t i = 0; i < 64; i++) {
        uint32_t address = RIG_DATA2 + 4 * i;
        CHECK_EQ_INT(rig_word(ours, address), rig_word(theirs, address));
        CHECK_EQ_INT(rig_is_poison(ours, address), rig_is_poison(theirs, address));
        defined += !rig_is_poison(ours, address) && rig_word(ours, address) != 0;
    }
    CHECK(defined >= 16);
    for (int w = 0; w < CHIP_WORKERS; w++) {
        const WorkerState *a = &ours->tile.worker[w], *b = &theirs->tile.worker[w];
        CHECK(memcmp(a->acc, b->acc, sizeof a->acc) == 0 && a->acc_poison == b->acc_poison);
    }
    for (uint32_t i = 0; i < sizeof program / 4; i++) {
        differ += rig_word(ours, RIG_WORKER + 4 * i) != rig_word(theirs, RIG_WORKER + 4 * i);
    }
    CHECK_EQ_INT(differ, 5 * 5 + 2 + 2 + 2); /* the instructions with a replaced symbol */
    rig_destroy(ours);
    rig_destroy(theirs);
}

static void wrong_table(void)
{
    IsaFlags moved = moved_flags();
    Rig *rig = run(NULL, &moved);
    CHECK_EQ_INT(rig->tile.stop, TILE_STOP_FAULT);
    CHECK_CSTR(rig->tile.fault.name, "AMP_PHASE");
    rig_destroy(rig);
}

/* Two runs that agree say nothing about what the instructions do: not counted in docs/isa-coverage.md. */
static void count_no_forms(void)
{
    CHECK(unsetenv("ISA_FORMS_FILE") == 0);
}

TEST_MAIN(count_no_forms, same_meaning, wrong_table)
