/* The machine executes the package and nothing else: one changed word of a kernel, of an exchange row or of the entry branch
 * changes the result or faults. */
#include "rig.h"

typedef struct Flip {
    const char *what;
    uint32_t address; /* on the flipped tile */
    uint32_t mask;
} Flip;

/* Changes one word in the image of one tile; the image's bytes are copied first, since tiles may share them. */
static void flip_word(Rig *rig, PhysTile tile, uint32_t address, uint32_t mask)
{
    const TileImage *image = &rig->r.package.tiles.at[tile.id];
    for (int32_t s = image->segment_first; s < image->segment_first + image->segment_count; s++) {
        Segment *segment = &rig->r.package.segments.at[s];
        if (address < segment->address || address + 4 > segment->address + segment->bytes)
            continue;
        uint8_t *copy = arena_alloc(&rig->keep, segment->bytes, 16);
        memcpy(copy, segment->at, segment->bytes);
        uint32_t word;
        memcpy(&word, copy + (address - segment->address), 4);
        word ^= mask;
        memcpy(copy + (address - segment->address), &word, 4);
        segment->at = copy;
        return;
    }
    test_true_(false, "address in the image", __FILE__, __LINE__);
}

/* True when the run faults or gives other bits than `good`. */
static bool is_noticed(Rig *rig, const float *image, const float *good)
{
    Session *session = rig_session(rig, 2, 0);
    if (session == NULL)
        return true;
    float **outputs = rig_output_buffers(rig);
    RunResult result;
    bool ok = rig_run(rig, session, image, outputs, &result);
    bool same =
        ok && memcmp(good, outputs[0], (size_t)rig->model.config.width * sizeof(float)) == 0;
    if (!ok)
        printf("  %s\n", rig->err.message);
    session_close(session);
    rig->err = (Error){0};
    return !same;
}

int main(void)
{
    Rig rig;
    rig_open(&rig, "siglip-tiny", 1);
    rig_plan(&rig, 64);
    rig_finish(&rig, 2);
    float *image = rig_image(&rig, 1), **good = rig_output_buffers(&rig);
    RunResult result;
    Session *session = rig_session(&rig, 2, 0);
    RIG_CHECK(&rig, session != NULL && rig_run(&rig, session, image, good, &result));
    session_close(session);
    CHECK(!is_noticed(&rig, image, good[0])); /* unchanged: same bits */

    const Package *package = &rig.r.package;
    PhysTile tile = phys_of((Tile){0});
    uint32_t gemm = 0, rows = 0;
    for (isize i = 0; i < package->symbols.len; i++)
        if (str_equal(package->symbols.at[i].name, S("gemm_f16")))
            gemm = package->symbols.at[i].address;
    CHECK(gemm != 0);
    rows = (SRAM_IMAGE_BASE + 0x10 + rig.library.code_bytes + 7) &
           ~7u; /* rows lie behind the kernels */

    const Segment saved = package->segments.at[package->tiles.at[tile.id].segment_first];
    Flip flips[] = {
        {"entry branch", SRAM_IMAGE_BASE, 1u << 12},
        {"entry branch register", SRAM_IMAGE_BASE + 4, 1u << 20},
        {"kernel, first word", gemm, 1u << 2},
        {"kernel, fifth word", gemm + 16, 1u << 20},
        {"row, first word", rows, 1u << 0},
        {"row, second word", rows + 4, 1u << 3},
        {"row, opcode", rows, 1u << 29},
    };
    for (size_t i = 0; i < sizeof flips / sizeof *flips; i++) {
        printf("%s at 0x%x\n", flips[i].what, flips[i].address);
        flip_word(&rig, tile, flips[i].address, flips[i].mask);
        CHECK(is_noticed(&rig, image, good[0]));
        rig.r.package.segments.at[package->tiles.at[tile.id].segment_first] = saved;
    }
    CHECK(!is_noticed(&rig, image, good[0]));
    rig_close(&rig);
    return 0;
}
