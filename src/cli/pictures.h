/* What run and verify share: an opened package, its weights, pictures as input tensors, a session. */
#pragma once
#include "base/base.h"
#include "import/import.h"
#include "package/package.h"
#include "runtime/runtime.h"

typedef struct Setup {
    Arena keep, scratch;
    Package package;
    Model model;
    Session *session;
    const Binding *output; /* the first output binding */
    int64_t output_elems;
    double open_seconds, upload_seconds;
} Setup;

/* Opens package and checkpoint, checks that they belong together, uploads the weights. */
bool setup_open(Setup *setup, const char *package, const char *weights, int threads, bool is_quiet,
                Error *err);
void setup_close(Setup *setup);
/* Picture, .npy ([H, W, 3] float) or generated test picture `#N` as the tensor "image". */
bool setup_image(Setup *setup, const char *path, float **image, Error *err);
/* One call. */
bool setup_run(Setup *setup, const float *image, float *output, RunResult *result, Error *err);
/* "simulated 123 cycles in 4 exchange phases, 0.1 ms at 1.5 GHz". */
void print_cycles(Writer *writer, const RunResult *result, double clock_hz);
/* Index of the largest value. */
int64_t largest(const float *at, int64_t count);
