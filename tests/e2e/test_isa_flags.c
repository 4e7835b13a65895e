/* Nothing but the table depends on the values of AMP, SLIC, stacc and gina symbols (decisions.md A9): a network compiled with all of
 * them moved gives the same bits in the same cycles from other words, and a package whose table is not that of its words fails
 * by name. */
#include "rig.h"

static void compile(Rig *rig, const IsaFlags *flags)
{
    rig_open(rig, "siglip-tiny", 0);
    RIG_CHECK(rig, library_load(flags, &rig->keep, rig->scratch, &rig->library, &rig->err));
    rig_plan(rig, 64);
    rig_finish(rig, 2);
}

/* Every replaceable value moves: 5v + 7 is one to one and has no fixed point modulo a power of two. */
static IsaFlags moved_flags(void)
{
    IsaFlags flags = isa_flags_default();
    for (int id = 0; id < FLAG_ID_COUNT; id++) {
        const FlagSymbol *symbol = flag_symbol((FlagId)id);
        if (!symbol->is_documented && symbol->family != FLAG_FAMILY_GINA) {
            flags.value[id] = (5 * symbol->value + 7) % (1u << symbol->bits);
        }
        flags.is_given[id] = !symbol->is_documented;
    }
    flags.value[FLAG_ID_TGINA_SET1_EVEN] = FLAG_TGINA_SET1_ODD;
    flags.value[FLAG_ID_TGINA_SET1_ODD] = FLAG_TGINA_SET1_EVEN;
    flags.source = S("moved.h");
    return flags;
}

static uint32_t word_of(const Segment *segment, uint32_t i)
{
    uint32_t word;
    memcpy(&word, segment->at + 4 * i, 4);
    return word;
}

/* In the code of tile 0: words differ exactly where an AMP instruction stands. */
static void check_words(const Package *a, const Package *b)
{
    const Segment *one = &a->segments.at[a->tiles.at[0].segment_first];
    const Segment *other = &b->segments.at[b->tiles.at[0].segment_first];
    uint32_t kernels_end = 0, amp_words = 0;
    for (isize i = 0; i < a->symbols.len; i++) {
        if (str_equal(a->symbols.at[i].name, S("rows_and_program"))) {
            kernels_end = a->symbols.at[i].address;
        }
    }
    CHECK(one->address < kernels_end && kernels_end - one->address <= one->bytes);
    CHECK_EQ_INT(one->bytes, other->bytes);
    for (uint32_t i = 0; i < one->bytes / 4; i++) {
        uint32_t x = word_of(one, i), y = word_of(other, i);
        Insn insn = isa_decode(x, 0, LANE_AUX, CONTEXT_WORKER);
        bool is_amp =
            4 * i < kernels_end - one->address && insn.code == INSN_f16v4hihov4amp_aaan_ef;
        CHECK_EQ_INT(x != y, is_amp);
        amp_words += is_amp;
    }
    CHECK(amp_words >= 16);
}

int main(void)
{
    IsaFlags moved = moved_flags();
    Rig ours, theirs;
    compile(&ours, NULL);
    compile(&theirs, &moved);
    CHECK(ours.r.package.tiles.len == CHIP_TILES);
    check_words(&ours.r.package, &theirs.r.package);

    float *image = rig_image(&ours, 1), **expected = rig_output_buffers(&ours),
          **output = rig_output_buffers(&theirs);
    size_t bytes = (size_t)ours.model.config.width * sizeof(float);
    RunResult first, second;
    Session *session = rig_session(&ours, 2, 0);
    RIG_CHECK(&ours, session != NULL && rig_run(&ours, session, image, expected, &first));
    session_close(session);
    session = rig_session(&theirs, 2, 0);
    RIG_CHECK(&theirs, session != NULL && rig_run(&theirs, session, image, output, &second));
    session_close(session);
    CHECK(memcmp(expected[0], output[0], bytes) == 0);
    CHECK_EQ_INT(first.simulated_cycles, second.simulated_cycles);

    /* The words of P1 have no symbol any more. */
    IsaFlags broken = moved;
    broken.value[FLAG_ID_TAMP_F16V4_E4_P1] = 0;
    theirs.r.package.isa_flags = &broken;
    session = rig_session(&theirs, 2, 0);
    RIG_CHECK(&theirs, session != NULL);
    CHECK(!rig_run(&theirs, session, image, output, &second));
    session_close(session);
    CHECK_EQ_INT(theirs.err.code, ERROR_FAULT);
    CHECK(test_contains_(theirs.err.message, "AMP_PHASE"));

    broken.value[FLAG_ID_TAMP_F16V4_E4_P1] = broken.value[FLAG_ID_TAMP_F16V4_E4_P0];
    theirs.err = (Error){0};
    session = rig_session(&theirs, 2, 0);
    CHECK(session == NULL && theirs.err.code == ERROR_INPUT);
    CHECK(test_contains_(theirs.err.message, "TAMP_F16V4_E4_P0 and TAMP_F16V4_E4_P1"));
    rig_close(&ours);
    rig_close(&theirs);
    return 0;
}
