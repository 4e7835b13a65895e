/* runtime: open a package on the machine, upload weights once, run many.
 * takes: Package, TensorSource, inputs     gives: outputs, simulated cycles
 * uses: base tensor layout package machine
 * never: compile, peek into tiles
 *
 * One call = release the input barrier, run to the output barrier (decisions.md A3). SRAM is touched only at barriers and
 * only through the package's bindings.
 */
#pragma once
#include "base/base.h"
#include "machine/machine.h"
#include "package/package.h"
#include "tensor/tensor.h"

typedef struct Session Session;

typedef struct SessionOptions {
    int threads;             /* 0: all cores */
    Cycles phase_cycles;     /* 0: default */
    uint32_t checks;         /* bits of MachineCheck; 0: CHECK_DEFAULT */
    bool is_unknown_assumed; /* as in MachineOptions */
    Cycles cycles_max; /* of one call: a program that takes longer has failed; 0: CALL_CYCLES_MAX */
} SessionOptions;

/* 67 ms at 1.5 GHz; calls of the models that fit take some million cycles. */
enum { CALL_CYCLES_MAX = 100000000 };

/* A named input: at least the elements that the packing reads. */
typedef struct SessionInput {
    Str name;
    const float *at;
    int64_t elems;
} SessionInput;

typedef struct RunResult {
    Cycles
        simulated_cycles; /* from leaving the input barrier to the last arrival at the output barrier */
    int64_t phases;       /* internal exchange phases executed in the call */
    double host_seconds;
    int64_t instructions;
} RunResult;

/* NULL with *err on failure. The package must outlive the session. Runs the start-up code up to the first host barrier. */
Session *session_open(const Package *package, const SessionOptions *options, Error *err);
/* Packs every weight binding from the source into its shards. */
bool session_upload(Session *session, const TensorSource *weights, Arena scratch, Error *err);
/* outputs: one row-major FP32 matrix per output binding, in package order, rows x cols of the binding. ERROR_FAULT with the
 * machine's fault in the message when the program misbehaves; a poisoned or non-finite output is a fault that names it. */
bool session_run(Session *session, const SessionInput *inputs, int input_count,
                 float *const *outputs, Arena scratch, RunResult *result, Error *err);
/* Cost of an internal phase for the calls to come (decisions.md A5); 0: default. */
void session_set_phase_cycles(Session *session, Cycles phase_cycles);
const Fault *session_fault(const Session *session);
MachineCounters session_counters(const Session *session);
/* As machine_print_assumed. */
void session_print_assumed(Writer *writer, const Session *session);
void session_close(Session *session);
