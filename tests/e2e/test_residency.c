/* Weights are uploaded once (pitfall N15): A, B, A give bit-identical A; layers with very different weights use their own (N17: a
 * planted stale address changes the result); -j1 and -j2 give the same package, bits and cycles; the phase constant adds per phase. */
#include "rig.h"

static void check_package_bytes(void)
{
    Str bytes[2];
    Rig rig[2];
    for (int i = 0; i < 2; i++) {
        rig_open(&rig[i], "siglip-tiny", 0);
        rig_plan(&rig[i], 64);
        rig_finish(&rig[i], i + 1);
        char path[300];
        snprintf(path, sizeof path, "%s.ipuexe", rig[i].directory);
        RIG_CHECK(&rig[i], package_write(&rig[i].r.package, path, rig[i].scratch, &rig[i].err));
        RIG_CHECK(&rig[i], file_read(path, (isize)1 << 30, &rig[i].keep, &bytes[i], &rig[i].err));
        unlink(path);
    }
    CHECK(bytes[0].len > 0 && str_equal(bytes[0], bytes[1]));
    for (int i = 0; i < 2; i++)
        rig_close(&rig[i]);
}

static void check_calls(void)
{
    Rig rig;
    rig_open(&rig, "siglip-tiny", 0);
    rig_plan(&rig, 64);
    rig_finish(&rig, 2);
    float *a = rig_image(&rig, 1), *b = rig_image(&rig, 2);
    float **first = rig_output_buffers(&rig), **again = rig_output_buffers(&rig),
          **other = rig_output_buffers(&rig);
    size_t bytes = (size_t)rig.model.config.width * sizeof(float);
    RunResult one, two, three, low;
    Session *session = rig_session(&rig, 2, 0);
    RIG_CHECK(&rig, session != NULL);
    RIG_CHECK(&rig, rig_run(&rig, session, a, first, &one));
    RIG_CHECK(&rig, rig_run(&rig, session, b, other, &two));
    RIG_CHECK(&rig, rig_run(&rig, session, a, again, &three));
    CHECK(memcmp(first[0], again[0], bytes) == 0);
    CHECK(memcmp(first[0], other[0], bytes) != 0);
    CHECK(one.simulated_cycles == three.simulated_cycles);
    session_close(session);

    session = rig_session(&rig, 1, 0);
    RIG_CHECK(&rig, session != NULL);
    RIG_CHECK(&rig, rig_run(&rig, session, a, again, &three));
    CHECK(memcmp(first[0], again[0], bytes) == 0);
    CHECK(one.simulated_cycles == three.simulated_cycles && one.phases == three.phases);
    session_close(session);

    session = rig_session(&rig, 2, PHASE_COST_LOW);
    RIG_CHECK(&rig, session != NULL);
    RIG_CHECK(&rig, rig_run(&rig, session, a, again, &low));
    CHECK(memcmp(first[0], again[0], bytes) == 0);
    /* Not exactly linear: a release that falls on another worker slot shifts a phase by up to five cycles. */
    int64_t shift = one.phases * (PHASE_COST_DEFAULT - PHASE_COST_LOW);
    CHECK(llabs(one.simulated_cycles - low.simulated_cycles - shift) <= 6 * one.phases);
    session_close(session);
    rig_close(&rig);
}

/* Planted N17: the step to the next layer's parameters is removed from the loop (stride 0 in every tile's program). */
static void check_planted_stride(void)
{
    Rig rig;
    rig_open(&rig, "siglip-tiny", 0);
    rig_plan(&rig, 64);
    rig_finish(&rig, 2);
    float *image = rig_image(&rig, 1), **good = rig_output_buffers(&rig),
          **bad = rig_output_buffers(&rig);
    RunResult result;
    Session *session = rig_session(&rig, 2, 0);
    RIG_CHECK(&rig, session != NULL && rig_run(&rig, session, image, good, &result));
    session_close(session);

    EmitInfo info = {S("rig"), S("0"), S("test"), 2};
    for (int t = 0; t < 64; t++)
        rig.r.placement.block_stride[t] = 0; /* bindings keep the true per-buffer stride */
    RIG_CHECK(&rig, emit_package(&rig.r.work, &rig.r.placement, &rig.r.schedule, &rig.library,
                                 &info, &rig.keep, rig.scratch, &rig.r.package, &rig.err));
    session = rig_session(&rig, 2, 0);
    RIG_CHECK(&rig, session != NULL && rig_run(&rig, session, image, bad, &result));
    session_close(session);
    Difference d = difference_of(good[0], bad[0], rig.model.config.width);
    CHECK(d.cosine < 0.99);
    rig_close(&rig);
}

int main(void)
{
    check_package_bytes();
    check_calls();
    check_planted_stride();
    return 0;
}
