/* Placement of a whole Work: iteration blocks, argument tables, parameters (N15), all tiles in parallel, verdicts. */
#include "place/place.h"
#include "test.h"

static Arena keep, scratch, other;

enum { STEPS = 40, SUPPORT_BYTES = 4 * ELEMENT_BYTES, DESCRIPTORS = 3000 };

static Work empty_work(int tiles, Arena *arena)
{
    Work work = {
        .tiles = tiles, .support_bytes = SUPPORT_BYTES, .descriptor_bytes_max = DESCRIPTORS};
    *vec_push(&work.buffers, arena) = (Buffer){0};
    for (int i = 0; i < STEPS; i++) {
        *vec_push(&work.steps, arena) = (WorkStep){0};
    }
    return work;
}

static int32_t add(Work *work, Arena *arena, Buffer buffer)
{
    *vec_push(&work->buffers, arena) = buffer;
    return (int32_t)work->buffers.len - 1;
}

/* A tile as lowering makes them: a few inputs and outputs, resident parameters, a block of per-layer parameters, many
 * temporaries, some separated. */
static Work random_work(uint64_t seed, int tiles, Arena *arena)
{
    Work work = empty_work(tiles, arena);
    uint64_t n = 0;
    for (int tile = 0; tile < tiles; tile++) {
        Tile id = {(uint16_t)tile};
        for (int i = 0; i < 5; i++) {
            bool is_interleaved = random_below(seed, n++, 3) == 0;
            uint32_t bytes = 8 + 8 * (uint32_t)random_below(seed, n++, 200);
            add(&work, arena,
                (Buffer){.tile = id,
                         .role = BUFFER_PARAMETER,
                         .bytes = bytes,
                         .tail_bytes = 56,
                         .align = 8u << random_below(seed, n++, 4),
                         .is_interleaved = is_interleaved,
                         .iterations = 9,
                         .block = 1,
                         .last = STEPS});
        }
        add(&work, arena,
            (Buffer){
                .tile = id, .role = BUFFER_PARAMETER, .bytes = 20000, .align = 32, .last = STEPS});
        add(&work, arena,
            (Buffer){.tile = id, .role = BUFFER_INPUT, .bytes = 1000, .align = 8, .last = 4});
        add(&work, arena,
            (Buffer){.tile = id,
                     .role = BUFFER_OUTPUT,
                     .bytes = 1000,
                     .align = 8,
                     .first = 30,
                     .last = STEPS});
        int32_t last = 0;
        for (int i = 0; i < 60; i++) {
            int32_t first = (int32_t)random_below(seed, n++, STEPS - 4);
            bool is_interleaved = random_below(seed, n++, 4) == 0;
            uint32_t bytes = 8 + 8 * (uint32_t)random_below(seed, n++, 1200);
            int32_t buffer = add(&work, arena,
                                 (Buffer){.tile = id,
                                          .bytes = bytes,
                                          .tail_bytes = 8 * (uint32_t)(i % 8),
                                          .align = 32,
                                          .is_interleaved = is_interleaved,
                                          .first = first,
                                          .last = first + 1 + (int32_t)random_below(seed, n++, 4)});
            if (i % 6 == 1) {
                *vec_push(&work.separations, arena) = (Separation){buffer, last};
            }
            last = buffer;
        }
    }
    return work;
}

static Placement solve(const Work *work, int threads, Arena *arena)
{
    Placement placement;
    PlaceVerdict verdict;
    Error err = {0};
    CHECK_OK(place_solve(work, threads, arena, scratch, &placement, &verdict, &err), err);
    CHECK_OK(place_check(work, &placement, scratch, &err), err);
    return placement;
}

static void places_random_work(void)
{
    uint64_t seed = test_seed(1);
    for (uint64_t round = 0; round < 5; round++) {
        Arena arena = keep;
        Work work = random_work(seed + round, 50, &arena);
        (void)solve(&work, 1, &arena);
    }
}

static void is_the_same_for_any_thread_count(void)
{
    Arena arena = keep;
    Work work = random_work(test_seed(2), CHIP_TILES, &arena);
    Placement one = solve(&work, 1, &arena), two = solve(&work, 2, &arena);
    CHECK(memcmp(one.address, two.address, (size_t)work.buffers.len * sizeof *one.address) == 0);
    CHECK(memcmp(one.stride, two.stride, (size_t)work.buffers.len * sizeof *one.stride) == 0);
    CHECK(memcmp(one.descriptor, two.descriptor, CHIP_TILES * sizeof *one.descriptor) == 0);
    CHECK(memcmp(one.block, two.block, CHIP_TILES * sizeof *one.block) == 0);
    CHECK(memcmp(one.used_bytes, two.used_bytes, CHIP_TILES * sizeof *one.used_bytes) == 0);
}

/* Members of 40, 24 and 8 bytes aligned to 8, 32 and 16: offsets 0, 64 and 96, stride 128. */
static void packs_iteration_blocks(void)
{
    Arena arena = keep;
    Work work = empty_work(2, &arena);
    static const uint32_t bytes[] = {40, 24, 8}, align[] = {8, 32, 16}, offset[] = {0, 64, 96};
    int32_t buffer[3];
    for (int i = 0; i < 3; i++) {
        buffer[i] = add(&work, &arena,
                        (Buffer){.tile = {1},
                                 .role = BUFFER_PARAMETER,
                                 .bytes = bytes[i],
                                 .align = align[i],
                                 .is_interleaved = i == 1,
                                 .iterations = 27,
                                 .block = 3,
                                 .last = STEPS});
    }
    Placement placement = solve(&work, 1, &arena);
    CHECK_EQ_INT(placement.block[0], 0);
    CHECK_EQ_INT(placement.block_stride[1], 128);
    CHECK(placement.block[1] >= SRAM_REGION1); /* one interleaved member takes all of them there */
    for (int i = 0; i < 3; i++) {
        CHECK_EQ_INT(placement.address[buffer[i]], placement.block[1] + offset[i]);
        CHECK_EQ_INT(placement.stride[buffer[i]], 128);
    }
    CHECK_EQ_INT(placement.used_bytes[1], 27 * 128 + DESCRIPTORS);
    CHECK_EQ_INT(placement.used_bytes[0], DESCRIPTORS);
    CHECK_EQ_INT(placement.descriptor[0] % 64, 0);
    CHECK(placement.descriptor[0] >= SRAM_BASE + SUPPORT_BYTES);
}

/* A parameter is read again by the next call, so nothing may use its bytes after its last use (N15). */
static void parameters_overlap_nothing(void)
{
    Arena arena = keep;
    Work work = empty_work(1, &arena);
    int32_t parameter =
        add(&work, &arena, (Buffer){.role = BUFFER_PARAMETER, .bytes = 64, .align = 8, .last = 3});
    int32_t temporary =
        add(&work, &arena, (Buffer){.bytes = 64, .align = 8, .first = 10, .last = 12});
    Placement placement = solve(&work, 1, &arena);
    placement.address[temporary] = placement.address[parameter] + 32;
    Error err;
    CHECK_ERROR(place_check(&work, &placement, scratch, &err), err, ERROR_NO, "N15");
}

static void catches_broken_rules(void)
{
    Arena arena = keep;
    Work work = empty_work(2, &arena);
    int32_t a = add(&work, &arena,
                    (Buffer){.tile = {1}, .bytes = 4096, .align = 32, .first = 0, .last = 10});
    int32_t b = add(&work, &arena,
                    (Buffer){.tile = {1}, .bytes = 4096, .align = 32, .first = 9, .last = 20});
    int32_t c = add(
        &work, &arena,
        (Buffer){
            .tile = {1}, .bytes = 4096, .align = 32, .first = 20, .last = 30, .tail_bytes = 2000});
    int32_t i =
        add(&work, &arena,
            (Buffer){.tile = {1}, .bytes = 4096, .align = 32, .is_interleaved = true, .last = 40});
    int32_t p = add(&work, &arena,
                    (Buffer){.tile = {1},
                             .role = BUFFER_PARAMETER,
                             .bytes = 96,
                             .align = 32,
                             .iterations = 4,
                             .block = 1,
                             .last = STEPS});
    *vec_push(&work.separations, &arena) = (Separation){a, b};
    Placement good = solve(&work, 1, &arena);
    const struct {
        int32_t buffer;
        uint32_t address;
        const char *part;
    } cases[] = {
        {a, good.address[a] + 8, "not aligned"},
        {a, SRAM_BASE + SUPPORT_BYTES - 32, "outside the data range"},
        {b, SRAM_REGION1 - 32, "crosses the boundary"},
        {i, SRAM_REGION1 - 0x8000, "not in region 1"},
        {c, SRAM_IMAGE_END / 32 * 32 - 4096, "read-ahead leaves SRAM"},
        {c, SRAM_IMAGE_END / 32 * 32, "outside the data range"},
        {b, good.address[a] + 4064, "overlaps in space and time"},
        {b, good.address[a] + 4096, "shares a memory element"},
        {p, good.address[p] - 32, "outside the iteration block"},
        {c, good.address[p] + 96, "N15"},
        {c, good.descriptor[1] / 32 * 32, "argument tables"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        uint32_t held = good.address[cases[k].buffer];
        Error err;
        good.address[cases[k].buffer] = cases[k].address;
        CHECK_ERROR(place_check(&work, &good, scratch, &err), err, ERROR_NO, cases[k].part);
        good.address[cases[k].buffer] = held;
    }
    Error err;
    good.stride[p] = 64;
    CHECK_ERROR(place_check(&work, &good, scratch, &err), err, ERROR_NO, "iterations overlap");
    good.stride[p] = 128;
    CHECK_ERROR(place_check(&work, &good, scratch, &err), err, ERROR_NO, "stride differs");
}

static void explains(void)
{
    Arena arena = keep;
    Work work = empty_work(3, &arena);
    for (int i = 0; i < 12; i++) {
        add(&work, &arena,
            (Buffer){.tile = {2}, .bytes = 60000, .align = 8, .first = i, .last = 12});
    }
    Placement placement;
    PlaceVerdict verdict;
    Error err;
    /* 12 * 60000 + 3000 alive in step 11; available: 3 elements short of region 0, and region 1. */
    CHECK_ERROR(place_solve(&work, 1, &arena, scratch, &placement, &verdict, &err), err, ERROR_NO,
                "tile L2 does not fit: 723000 bytes are alive in step 11, 572336 are available: "
                "short by 150664 bytes");
    CHECK_EQ_INT(verdict.outcome, PLACE_IMPOSSIBLE);
    Arena text_arena = other;
    Writer writer = writer_buffer(&text_arena);
    place_explain(&writer, &work, &verdict, scratch);
    Str text = str_copy(writer_text(&writer), &text_arena);
    CHECK(strstr(text.at, "60000 bytes, steps 0..11: buffer 1\n") != NULL);
    CHECK(strstr(text.at, "243000 bytes in 5 more") != NULL);
    writer = writer_buffer(&text_arena);
    place_print(&writer, &work, &placement);
    CHECK(writer_text(&writer).len > 0);
}

/* Three buffers of the last tile do not fit into two regions, though there are bytes enough; the tiles before it are equal. */
static void proves_the_worst_tile(void)
{
    static const uint32_t bytes[] = {80000, 80000, 350000};
    for (int threads = 1; threads <= 2; threads++) {
        Arena arena = keep;
        Work work = empty_work(5, &arena);
        for (uint16_t tile = 0; tile < 5; tile++) {
            for (int i = tile == 4 ? 0 : 1; i < 3; i++) {
                add(&work, &arena,
                    (Buffer){.tile = {tile}, .bytes = bytes[i], .align = 8, .first = 3, .last = 5});
            }
        }
        Placement placement;
        PlaceVerdict verdict;
        Error err;
        CHECK_ERROR(place_solve(&work, threads, &arena, scratch, &placement, &verdict, &err), err,
                    ERROR_NO, "tile L4 does not fit: 3 buffers alone have no placement (proven)");
        CHECK_EQ_INT(verdict.outcome, PLACE_IMPOSSIBLE);
        CHECK_EQ_INT(verdict.certificate.count, 3);
        CHECK_EQ_INT(verdict.tile.id, 4);
        Arena text_arena = other;
        Writer writer = writer_buffer(&text_arena);
        place_explain(&writer, &work, &verdict, scratch);
        place_explain_json(&writer, &work, &verdict, scratch);
        Str text = str_copy(writer_text(&writer), &text_arena);
        CHECK(strstr(text.at,
                     "no place for buffer 10, 80000 bytes, steps 3..4:\n  the largest hole, "
                     "0xd5730..0xe7bb0, has 74880 bytes, between buffer 11 and an end of "
                     "the range\n") != NULL);
        CHECK(strstr(text.at, "\"largest_hole\":{\"begin\":874288,\"end\":949168,\"below\":{"
                              "\"request\":2,") != NULL);
        CHECK(strstr(text.at, "\"above\":null},\"holes\":[]") != NULL);
    }
}

/* 300000 bytes fit only in region 1, whose rest is large enough for the third, but for the element that both touch. */
static void says_what_excludes(void)
{
    static const uint32_t bytes[] = {300000, 140000, 124000};
    Arena arena = keep, text_arena = other;
    Work work = empty_work(1, &arena);
    int32_t buffer[3];
    for (int i = 0; i < 3; i++) {
        buffer[i] =
            add(&work, &arena, (Buffer){.bytes = bytes[i], .align = 8, .first = 3, .last = 5});
    }
    *vec_push(&work.separations, &arena) = (Separation){buffer[0], buffer[2]};
    Placement placement;
    PlaceVerdict verdict;
    Error err;
    CHECK_ERROR(place_solve(&work, 1, &arena, scratch, &placement, &verdict, &err), err, ERROR_NO,
                "no placement (proven)");
    Writer writer = writer_buffer(&text_arena);
    place_explain(&writer, &work, &verdict, scratch);
    place_explain_json(&writer, &work, &verdict, scratch);
    Str text = str_copy(writer_text(&writer), &text_arena);
    CHECK(strstr(text.at,
                 "no place for buffer 3, 124000 bytes, steps 3..4:\n  it may not lie in the "
                 "holes that are large enough\n"
                 "  0xc93e0..0xe7bb0, 124880 bytes: an element in common with buffer 1\n") != NULL);
    CHECK(strstr(text.at, "\"why\":\"element\",\"partners\":[{\"request\":0,\"bytes\":300000,") !=
          NULL);
}

static void setup(void)
{
    keep = arena_create((isize)1 << 29);
    scratch = arena_create((isize)1 << 30);
    other = arena_create((isize)1 << 24);
}

TEST_MAIN(setup, packs_iteration_blocks, parameters_overlap_nothing, catches_broken_rules, explains,
          places_random_work, is_the_same_for_any_thread_count, proves_the_worst_tile,
          says_what_excludes)
