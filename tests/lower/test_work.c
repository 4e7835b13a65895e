/* work_check refuses planted faults of siglip-tiny's Work, each by its pitfall or rule. */
#include "../e2e/rig.h"

static void expect_refused(const Rig *rig, const char *text)
{
    Error err = {0};
    CHECK(!work_check(&rig->r.work, &err));
    printf("%s\n", err.message);
    CHECK(strstr(err.message, text) != NULL);
}

int main(void)
{
    Rig rig;
    rig_open(&rig, "siglip-tiny", 0);
    rig_plan(&rig, 64);
    rig_finish(&rig, 1);
    Work *w = &rig.r.work;
    Transfer *t = &w->transfers.at[0];
    Transfer saved = *t;
    t->offset += 2;
    expect_refused(&rig, "N10");
    *t = saved;
    t->words = 0;
    expect_refused(&rig, "N10");
    *t = saved;
    Receiver receiver = w->receivers.at[t->receiver_first];
    for (isize b = 1; b < w->buffers.len; b++)
        if (w->buffers.at[b].tile.id == t->tile.id && w->buffers.at[b].first == 0 &&
            w->buffers.at[b].bytes >= t->words * 4 && w->buffers.at[b].last == w->steps.len)
            w->receivers.at[t->receiver_first] = (Receiver){t->tile, (int32_t)b, 0};
    expect_refused(&rig, "X13");
    w->receivers.at[t->receiver_first] = receiver;

    for (isize b = 1; b < w->buffers.len; b++) {
        if (w->buffers.at[b].role != BUFFER_PARAMETER)
            continue;
        w->buffers.at[b].last--;
        expect_refused(&rig, "N15");
        w->buffers.at[b].last++;
        break;
    }
    WorkCall *call = &w->calls.at[w->steps.at[0].kind == WORK_CALLS ? w->steps.at[0].first : 0];
    Tile tile = call->tile;
    call->tile = (Tile){(uint16_t)((tile.id + 1) % 64)};
    expect_refused(&rig, "another tile");
    call->tile = tile;
    w->descriptor_bytes_max -= 8;
    expect_refused(&rig, "argument tables");
    w->descriptor_bytes_max += 8;
    Error err = {0};
    CHECK(work_check(w, &err));
    rig_close(&rig);
    return 0;
}
