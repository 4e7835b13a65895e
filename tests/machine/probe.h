/* A worker program of one worker, written piece by piece, for tests of the semantics of single instructions. `$m0` holds RIG_DATA,
 * `$m1` RIG_DATA2 and `$m7` the place of the next result; results are read by number. */
#pragma once
#include "tile_rig.h"
#include <stdarg.h>

typedef struct Probe {
    Rig *rig;
    Writer worker, supervisor;
    int stored; /* words */
} Probe;

static inline void probe_say(Probe *probe, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static inline void probe_tell(Probe *probe, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A line of the worker. */
static inline void probe_say(Probe *probe, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    write_vfmt(&probe->worker, format, arguments);
    va_end(arguments);
    write_str(&probe->worker, S("\n"));
}

/* A line of the supervisor, before the launch. */
static inline void probe_tell(Probe *probe, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    write_vfmt(&probe->supervisor, format, arguments);
    va_end(arguments);
    write_str(&probe->supervisor, S("\n"));
}

static inline Probe probe_open(void)
{
    Rig *rig = rig_create();
    Probe probe = {rig, writer_buffer(&rig->arena), writer_buffer(&rig->arena), 0};
    probe_say(&probe, "setzi $m0, 0x58000\nsetzi $m1, 0x60000\nsetzi $m7, 0x90000");
    return probe;
}

/* As probe_open; undocumented points follow docs/machine.md. */
static inline Probe probe_assume(void)
{
    Probe probe = probe_open();
    probe.rig->shared.is_unknown_assumed = true;
    return probe;
}

static inline void probe_close(Probe *probe)
{
    rig_destroy(probe->rig);
}

/* `name` = an aux register or the MRF (m) register; without effect on others. */
static inline void probe_set(Probe *probe, const char *name, uint32_t value)
{
    probe_say(probe, "setzi %s, 0x%x\nor %s, %s, 0x%x", name, value & 0xfffff, name, name,
              value & 0xfff00000);
}

/* Upper CSR, through $a7. */
static inline void probe_uput(Probe *probe, const char *csr, uint32_t value)
{
    probe_set(probe, "$a7", value);
    probe_say(probe, "uput %s, $a7", csr);
}

/* Stores a register ("$a4", "$m2": one word) or a pair ("$a4:5"); gives the number of its first word. */
static inline int probe_store(Probe *probe, const char *name)
{
    int first = probe->stored;
    bool is_pair = strchr(name, ':') != NULL;
    if (is_pair && first % 2) {
        probe_say(probe, "add $m7, $m7, 4");
        first = ++probe->stored;
    }
    probe_say(probe, "%s %s, $mzero, $m7+=, 1", is_pair ? "st64step" : "st32step", name);
    probe->stored += is_pair ? 2 : 1;
    return first;
}

/* Coefficients CWEI[k], through RIG_WIDE. */
static inline void probe_weights(Probe *probe, const uint64_t weights[64])
{
    rig_words(probe->rig, RIG_WIDE, (const uint32_t *)(const void *)weights, 128);
    probe_tell(probe, "setzi $m0, 0x80000\nput $CCCSLOAD, $m0");
    for (int k = 0; k < 64; k++) {
        probe_tell(probe, "ld64putcs %d", k);
    }
}

/* Launches the worker `launches` times, each time at its beginning. */
static inline TileStop probe_launch(Probe *probe, int launches)
{
    probe_say(probe, "exitz $mzero");
    probe_tell(probe, "setzi $m0, 0x50000");
    for (int i = 0; i < launches; i++) {
        probe_tell(probe, "run $m0, $mzero, 0\nsync 2");
    }
    probe_tell(probe, "sync 7");
    rig_code(probe->rig, RIG_SUPERVISOR, true,
             str_format(&probe->rig->arena, "%.*s", STR_ARG(writer_text(&probe->supervisor))).at);
    rig_code(probe->rig, RIG_WORKER, false,
             str_format(&probe->rig->arena, "%.*s", STR_ARG(writer_text(&probe->worker))).at);
    return tile_run(&probe->rig->tile, &probe->rig->shared, 100000000);
}

/* The program must reach its end. */
static inline void probe_run(Probe *probe)
{
    TileStop stop = probe_launch(probe, 1);
    if (stop != TILE_STOP_SYNC_HOST) {
        const Fault *fault = &probe->rig->tile.fault;
        fprintf(stderr, "stop %d: %s at 0x%x (context %d): %s\n%.*s\n", (int)stop,
                fault->name ? fault->name : "-", fault->pc, fault->context, fault->detail,
                STR_ARG(writer_text(&probe->worker)));
        exit(1);
    }
}

/* The program must stop with the named fault. */
static inline void probe_expect(Probe *probe, const char *name)
{
    TileStop stop = probe_launch(probe, 1);
    const char *seen = probe->rig->tile.fault.name ? probe->rig->tile.fault.name : "none";
    if (stop != TILE_STOP_FAULT || strcmp(seen, name) != 0) {
        fprintf(stderr, "expected %s, got %s (stop %d): %s\n%.*s\n", name, seen, (int)stop,
                probe->rig->tile.fault.detail, STR_ARG(writer_text(&probe->worker)));
        exit(1);
    }
}

static inline uint32_t probe_word(Probe *probe, int number)
{
    return rig_word(probe->rig, RIG_RESULT + 4 * (uint32_t)number);
}

static inline bool probe_is_poison(Probe *probe, int number)
{
    return rig_is_poison(probe->rig, RIG_RESULT + 4 * (uint32_t)number);
}

static inline uint32_t probe_half(Probe *probe, int number, int half)
{
    return probe_word(probe, number) >> (16 * half) & 0xffff;
}
