/* What emit refuses: support of a tile that does not fit the grant with the fetch-ahead behind it (exchange.md 9: X10, X11). */
#include "../e2e/rig.h"

static Rig rig;

static bool emits(Error *err)
{
    CompileResult *r = &rig.r;
    Arena keep = rig.keep;
    EmitInfo info = {S("rig"), S("0"), S("test"), 1};
    Package package = {0};
    return emit_package(&r->work, &r->placement, &r->schedule, &rig.library, &info, &keep,
                        rig.scratch, &package, err);
}

/* Rows grow by delays until they reach the end of the grant: legal for `exchange` alone, which knows a budget only. */
static void refuses_rows_beyond_the_grant(void)
{
    Schedule *schedule = &rig.r.schedule;
    Row *row = &schedule->rows.at[0];
    int32_t first = (int32_t)align_up(schedule->words.len, 2);
    while (schedule->words.len < first + (int32_t)rig.r.work.support_bytes / 4) {
        *vec_push(&schedule->words, &rig.keep) = 0x40a00000;
    }
    Error err = {0};
    CHECK_OK(emits(&err), err);
    Row held = *row;
    row->word_first = first;
    row->word_count = (int32_t)rig.r.work.support_bytes / 4;
    CHECK_ERROR(emits(&err), err, ERROR_NO, "the support grant is over by");
    *row = held;
    err = (Error){0};
    CHECK_OK(emits(&err), err);
}

static void setup(void)
{
    rig_open(&rig, "siglip-tiny", 1);
    rig_plan(&rig, 64);
    rig_finish(&rig, 1);
}

static void close_rig(void)
{
    rig_close(&rig);
}

TEST_MAIN(setup, refuses_rows_beyond_the_grant, close_rig)
