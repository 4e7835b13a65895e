/* What run and verify share: an opened package, its weights, pictures as input tensors, a session. */
#pragma once
#include "base/base.h"
#include "import/import.h"
#include "package/package.h"
#include "runtime/runtime.h"

enum { IMAGES_MAX = 4096 };
static const int64_t MAX_CYCLES = (int64_t)1 << 40; /* of option --max-cycles */

typedef struct Setup {
    Arena keep, scratch;
    Package package;
    Model model;
    Session *session;
    const Binding *output; /* the only output binding */
    int64_t output_elems;
    double open_seconds, upload_seconds;
} Setup;

typedef struct SetupOptions {
    const char *package, *weights;
    int threads;       /* 0: all cores */
    Cycles cycles_max; /* of a call; 0: CALL_CYCLES_MAX */
    uint32_t checks;   /* of the machine; 0: CHECK_DEFAULT */
    bool is_unknown_assumed;
    bool is_quiet;
} SetupOptions;

/* Opens package and checkpoint, checks that they belong together, uploads the weights. Close it in any case. */
bool setup_open(Setup *setup, const SetupOptions *options, Error *err);
void setup_close(Setup *setup);
/* Picture, .npy ([H, W, 3] float) or generated test picture `#N` as the tensor "image". */
bool setup_image(Setup *setup, const char *path, float **image, Error *err);
/* All pictures can be read: asked before the first is run, so that no work is lost. */
bool setup_check_images(Setup *setup, const char *const *paths, int count, Error *err);
/* One call. */
bool setup_run(Setup *setup, const float *image, float *output, RunResult *result, Error *err);
/* "simulated 123 cycles in 4 exchange phases, 0.1 ms at 1.5 GHz". */
void print_cycles(Writer *writer, const RunResult *result, double clock_hz);
/* Index of the largest value. */
int64_t largest(const float *at, int64_t count);
