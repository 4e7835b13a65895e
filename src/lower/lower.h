/* lower: expands a Plan into per-tile work: buffers, kernel calls, exchange phases, loops, bindings. Chooses nothing.
 * takes: Plan (with resolved layouts)      gives: Work
 * uses: base chip tensor layout kernel plan
 * never: chooses a grid, a kernel or an address; sees the Graph
 *
 * Work is the record that every back-end room consumes; it is plain data and has a text form, so that place, exchange and
 * emit can be run alone from a file. Tiles are logical. Time is the index of a step in Work.steps: lifetimes are half-open
 * step ranges (decisions.md B).
 */
#pragma once
#include "base/base.h"
#include "chip/chip.h"
#include "kernel/kernel.h"
#include "layout/layout.h"
#include "plan/plan.h"
#include "tensor/tensor.h"

typedef enum BufferRole {
    BUFFER_TEMPORARY = 0,
    BUFFER_INPUT,     /* written by the host at the input barrier: lives from step 0 */
    BUFFER_OUTPUT,    /* read by the host at the output barrier: lives to the end */
    BUFFER_PARAMETER, /* uploaded once: lives for ever; bytes = iterations * stride */
    BUFFER_CARRIED,   /* loop-carried state: lives over the whole loop */
} BufferRole;

typedef struct Buffer {
    Tile tile;
    BufferRole role;
    uint32_t bytes; /* payload, multiple of 8; of one iteration for iterated parameters */
    uint32_t
        tail_bytes; /* readable bytes that must exist behind the payload (kernel read-ahead); contents never used */
    uint32_t align;      /* power of two, >= 8 */
    bool is_interleaved; /* must lie in region 1 */
    int32_t
        iterations; /* > 1: sequence, one member per loop iteration, `stride` apart (set by place) */
    int32_t
        block; /* != 0: member of the tile's iteration block of loop `block` (its params move together) */
    int32_t first, last;  /* lifetime [first, last) in steps; parameters [0, step count) */
    int32_t value, shard; /* PlanValue and shard index in its layout */
} Buffer;
VEC(Buffer);

/* Two buffers of one tile that must not touch a common exchange group (chip/memory.h) when both are alive. */
typedef struct Separation {
    int32_t buffer_a, buffer_b;
} Separation;
VEC(Separation);

/* An argument word of a kernel call: an address (buffer + offset) or a plain value. */
typedef struct KernelArg {
    int32_t buffer; /* 0: `value` is the word itself */
    uint32_t value; /* byte offset in the buffer, or the word */
} KernelArg;
VEC(KernelArg);

typedef struct WorkCall {
    Tile tile;
    uint16_t kernel; /* KernelId */
    int32_t arg_first, arg_count;
    Cycles estimated_cycles; /* kernel_cost */
    Provenance provenance;
} WorkCall;
VEC(WorkCall);

typedef struct Receiver {
    Tile tile;
    int32_t buffer;
    uint32_t offset; /* bytes */
} Receiver;
VEC(Receiver);

/* The same bytes from one tile to one or more other tiles. Never to itself: local moves are copy-kernel calls. */
typedef struct Transfer {
    Tile tile;
    int32_t buffer;
    uint32_t offset; /* bytes */
    uint32_t words;  /* 1..4148 */
    int32_t receiver_first, receiver_count;
    Provenance provenance;
} Transfer;
VEC(Transfer);

typedef enum WorkStepKind {
    WORK_CALLS = 0,
    WORK_PHASE,
    WORK_LOOP_BEGIN,
    WORK_LOOP_END
} WorkStepKind;

/* One step of all tiles. Calls of one step on one tile run in list order; different tiles are independent. */
typedef struct WorkStep {
    WorkStepKind kind;
    int32_t first, count; /* calls (sorted by tile), or transfers */
    int32_t repeats;      /* times a call: iterations inside the loop and at its ends, else 1 */
    int32_t partner;      /* index of the matching begin/end */
    Provenance provenance;
} WorkStep;
VEC(WorkStep);

typedef struct Work {
    const Plan *plan;  /* values (layouts, packings, names) and budgets; never edited */
    int32_t tiles;     /* tiles in use: logical 0..tiles-1 */
    BufferVec buffers; /* index 0 unused */
    SeparationVec separations;
    KernelArgVec args;
    WorkCallVec calls;
    TransferVec transfers;
    ReceiverVec receivers;
    WorkStepVec steps;
    int32_t *buffer_of; /* buffer index of (value, shard): buffer_of[value_first[value] + shard] */
    int32_t *value_first;
    uint32_t
        support_bytes; /* per tile, from SRAM_BASE: code, rows, whole elements (plan's grant) */
    uint32_t
        descriptor_bytes_max; /* upper bound of argument tables on any tile, placed by place as buffer-like data */
} Work;

bool lower_plan(const Plan *plan, Arena *keep, Arena scratch, Work *out, Error *err);
/* Invariants: indices, ranges inside buffers, lifetimes cover uses, transfers whole words, receivers unique and remote,
 * argument tables inside descriptor_bytes_max.
 * What is read before it was written is plan_check's and, word by word, the machine's. */
bool work_check(const Work *work, Error *err);
/* Line-oriented text: parse(print(w)) prints the same and gives the same package. */
void work_print(Writer *writer, const Work *work);
/* The plan gives values, layouts, packings and names. ERROR_INPUT with the line; work_check says the rest. */
bool work_parse(Str text, const Plan *plan, Arena *keep, Arena scratch, Work *out, Error *err);
