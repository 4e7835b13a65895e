/* Pitfall N2: every data word that neither a parameter, an input nor an argument table holds is a NaN before the run, and the result
 * does not change by a bit. Planted: without the zero fills of holes the same NaNs reach the result, or a fault says so. */
#include "rig.h"

enum { NAN_HALVES = 0x7e007e00, DATA_WORDS = SRAM_WORDS };

static void mark(bool *kept, uint32_t address, uint32_t bytes)
{
    for (uint32_t a = address; a < address + bytes; a += 4)
        kept[(a - SRAM_BASE) / 4] = true;
}

/* Images of the used tiles get NaN segments over everything that the compiler calls data and nobody uploads. */
static void add_nans(Rig *rig)
{
    Package *package = &rig->r.package;
    const Work *work = &rig->r.work;
    SegmentVec segments = {0};
    uint32_t *nans = arena_array(&rig->keep, uint32_t, DATA_WORDS);
    for (int i = 0; i < DATA_WORDS; i++)
        nans[i] = NAN_HALVES;
    for (isize i = 0; i < package->tiles.len; i++) {
        TileImage *image = &package->tiles.at[i];
        int32_t first = (int32_t)segments.len;
        for (int32_t s = 0; s < image->segment_count; s++)
            *vec_push(&segments, &rig->keep) = package->segments.at[image->segment_first + s];
        Tile tile = tile_of(image->tile);
        if (tile.id < work->tiles) {
            Arena scratch = rig->scratch;
            bool *kept = arena_array(&scratch, bool, DATA_WORDS);
            mark(kept, SRAM_BASE, work->support_bytes);
            mark(kept, SRAM_IMAGE_END & ~3u, SRAM_END - (SRAM_IMAGE_END & ~3u));
            mark(kept, rig->r.placement.descriptor[tile.id], work->descriptor_bytes_max);
            for (isize b = 1; b < work->buffers.len; b++) {
                const Buffer *buffer = &work->buffers.at[b];
                if (buffer->tile.id != tile.id ||
                    (buffer->role != BUFFER_PARAMETER && buffer->role != BUFFER_INPUT))
                    continue;
                for (int32_t k = 0; k < buffer->iterations; k++)
                    mark(kept,
                         rig->r.placement.address[b] + (uint32_t)k * rig->r.placement.stride[b],
                         buffer->bytes);
            }
            for (uint32_t w = 0, n; w < DATA_WORDS; w += n) {
                for (n = 1; w + n < DATA_WORDS && kept[w + n] == kept[w]; n++) {
                }
                if (kept[w])
                    continue;
                *vec_push(&segments, &rig->keep) =
                    (Segment){SRAM_BASE + w * 4, n * 4, (const uint8_t *)nans, n * 4,
                              SEGMENT_READ | SEGMENT_WRITE};
            }
        }
        image->segment_first = first;
        image->segment_count = (int32_t)segments.len - first;
        for (isize a = first; a < segments.len; a++) /* ascending addresses */
            for (isize b = a; b > first && segments.at[b].address < segments.at[b - 1].address;
                 b--) {
                Segment swap = segments.at[b];
                segments.at[b] = segments.at[b - 1];
                segments.at[b - 1] = swap;
            }
    }
    package->segments = segments;
    RIG_CHECK(rig, package_check(package, rig->scratch, &rig->err));
}

static void run_first(Rig *rig, const float *image, float **outputs)
{
    RunResult result;
    Session *session = rig_session(rig, 2, 0);
    RIG_CHECK(rig, session != NULL && rig_run(rig, session, image, outputs, &result));
    session_close(session);
}

int main(void)
{
    Rig rig;
    rig_open(&rig, "siglip-tiny", 0);
    rig_plan(&rig, 64);
    rig_finish(&rig, 2);
    float *image = rig_image(&rig, 3), **good = rig_output_buffers(&rig);
    float **have = rig_output_buffers(&rig);
    size_t bytes = (size_t)rig.model.config.width * sizeof(float);
    run_first(&rig, image, good);
    add_nans(&rig);
    run_first(&rig, image, have);
    CHECK(memcmp(good[0], have[0], bytes) == 0);

    /* Planted: no hole is filled. */
    int fills = 0;
    for (isize c = 0; c < rig.r.work.calls.len; c++) {
        WorkCall *call = &rig.r.work.calls.at[c];
        if (call->kernel != KERNEL_fill64)
            continue;
        call->kernel = KERNEL_barrier;
        fills++;
    }
    CHECK(fills > 0);
    EmitInfo info = {S("rig"), S("0"), S("test"), 2};
    RIG_CHECK(&rig, emit_package(&rig.r.work, &rig.r.placement, &rig.r.schedule, &rig.library,
                                 &info, &rig.keep, rig.scratch, &rig.r.package, &rig.err));
    add_nans(&rig);
    RunResult result;
    Session *session = rig_session(&rig, 2, 0);
    RIG_CHECK(&rig, session != NULL);
    bool ok = rig_run(&rig, session, image, have, &result);
    CHECK(!ok || memcmp(good[0], have[0], bytes) != 0);
    printf("without fills: %s\n", ok ? "other bits" : rig.err.message);
    session_close(session);
    rig_close(&rig);
    return 0;
}
