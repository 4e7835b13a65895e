/* Random programs: words that match random forms, in and out of bundles, with registers that hold addresses and anything else.
 * Whatever they do ends in a stop of the tile with a named fault, a sync or the cycle limit, never outside its memory (run it under
 * sanitizers as well; RANDOM_PROGRAMS sets their number). */
#include "tile_rig.h"
#include <stdlib.h>

enum { WORDS = 48, LAUNCH_WORDS = 5, LIMIT_CYCLES = 3000 };

typedef struct Source {
    uint64_t seed, next;
} Source;

static uint32_t draw(Source *s, uint32_t bound)
{
    return (uint32_t)random_below(s->seed, s->next++, bound);
}

/* A word of a random form of the context; all other bits random. */
static uint32_t random_word(Source *s, InsnContext context, InsnLane lane, bool is_coissued)
{
    for (;;) {
        const InsnForm *form = isa_form((InsnCode)(1 + draw(s, INSN_COUNT - 1)));
        if ((form->context != CONTEXT_BOTH && form->context != context) ||
            (is_coissued && (!form->may_coissue || form->lane != lane))) {
            continue;
        }
        uint32_t word = form->match | ((uint32_t)random_u64(s->seed, s->next++) & ~form->mask);
        return form->may_coissue ? (word & 0x7fffffff) | (is_coissued ? 1u << 31 : 0) : word;
    }
}

static int random_program(Source *s, InsnContext context, uint32_t *words)
{
    int count = 0;
    while (count < WORDS) {
        if (draw(s, 50) == 0) {
            words[count++] = (uint32_t)random_u64(s->seed, s->next++); /* anything */
        } else if (context == CONTEXT_WORKER && count % 2 == 0 && draw(s, 2) == 0) {
            words[count++] = random_word(s, context, LANE_MAIN, true);
            words[count++] = random_word(s, context, LANE_AUX, true);
        } else {
            words[count++] = random_word(s, context, LANE_MAIN, false);
        }
    }
    return count;
}

static void set_registers(Rig *rig, Source *s)
{
    static const uint32_t places[] = {RIG_DATA,   RIG_DATA2, RIG_WIDE,
                                      RIG_RESULT, SRAM_BASE, SRAM_END};
    for (int context = -1; context < CHIP_WORKERS; context++) {
        uint32_t *m = context < 0 ? rig->tile.m : rig->tile.worker[context].m;
        for (int r = 0; r < 12; r++) {
            uint32_t any = (uint32_t)random_u64(s->seed, s->next++);
            m[r] = draw(s, 3) == 0
                       ? any
                       : (draw(s, 4) == 0 ? any % 32 : places[draw(s, 6)] + any % 64 * 4);
        }
    }
    rig->tile.m_poison = draw(s, 4) == 0 ? (uint16_t)draw(s, 4096) : 0;
}

static void random_programs(void)
{
    const char *asked = getenv("RANDOM_PROGRAMS");
    long programs = asked ? strtol(asked, NULL, 10) : 100000;
    Source s = {test_seed(7), 0};
    int64_t instructions = 0;
    int faults = 0, others = 0;
    Rig *rig = rig_create();
    rig_code(rig, RIG_SUPERVISOR, true, RIG_LAUNCH);
    uint32_t launch[LAUNCH_WORDS];
    for (uint32_t k = 0; k < LAUNCH_WORDS; k++) {
        launch[k] = rig_word(rig, RIG_SUPERVISOR + 4 * k);
    }
    for (long i = 0; i < programs; i++) {
        if (i % 500 == 0) { /* else a tile that earlier programs have used */
            rig_destroy(rig);
            rig = rig_create();
        }
        tile_reset(&rig->tile, RIG_SUPERVISOR);
        uint32_t words[WORDS + 2];
        for (int k = 0; k < WORDS; k++) {
            words[k] =
                (uint32_t)random_u64(s.seed, s.next++) & 0x3fff3fff; /* mostly plain halves */
        }
        rig_words(rig, RIG_DATA, words, WORDS);
        rig_words(rig, RIG_WIDE, words, WORDS);
        bool is_worker = draw(&s, 3) != 0;
        rig_words(rig, RIG_SUPERVISOR, launch, LAUNCH_WORDS);
        set_registers(rig, &s);
        if (is_worker) {
            rig_words(rig, RIG_WORKER, words, random_program(&s, CONTEXT_WORKER, words));
        } else {
            rig_words(rig, RIG_SUPERVISOR, words, random_program(&s, CONTEXT_SUPERVISOR, words));
        }
        TileStop stop = tile_run(&rig->tile, &rig->shared, LIMIT_CYCLES);
        CHECK((stop == TILE_STOP_FAULT) == (rig->tile.fault.name != NULL));
        faults += stop == TILE_STOP_FAULT;
        others += stop != TILE_STOP_FAULT;
        instructions += rig->tile.instructions;
        rig->tile.instructions = 0;
    }
    rig_destroy(rig);
    printf("%ld programs, %lld instructions, %d faults\n", programs, (long long)instructions,
           faults);
    CHECK(programs == 0 || (faults > 0 && others > 0 && instructions > programs));
}

TEST_MAIN(random_programs)
