/* One simulated tile that runs one kernel call: code, argument table, guarded buffers, a small supervisor program.
 *
 * Every call starts hostile: worker registers and accumulators hold NaNs and huge numbers, undefined or (every second call)
 * defined (pitfall N21), buffers that the kernel only writes are undefined, everything around a buffer is a guard of NaN patterns (pitfalls N2, N11). After the call
 * the guards and the read-only operands must be unchanged and every output word defined. A violation is an answer
 * (Rig.complaint), not an exit, so that test_planted.c can demand one. All checks of the machine are on; a call may access its
 * operands and the argument table.
 */
#pragma once
#include "asm/asm.h"
#include "base/bits.h"
#include "kernel/kernel.h"
#include "machine/machine.h"
#include "test.h"
#include <math.h>
#include <stdarg.h>

enum {
    RIG_CODE = 0x4c010,
    RIG_PROGRAM = 0x50000, /* an element of its own, as code must have */
    RIG_TABLE = 0x54000,   /* 32 words */
    RIG_POISON = 0x54400,  /* undefined words */
    RIG_REGION0 = 0x58000,
    RIG_GROUP = 0x8000, /* exchange group of region 1; a multiple of one of region 0 */
    RIG_GUARD = 96,     /* bytes on either side of a buffer */
    RIG_BUFFERS_MAX = 8,
    RIG_TWINS_MAX = 4,
};
static const MachineOptions RIG_TWINS[RIG_TWINS_MAX] = {
    {.threads = 1}, /* vectors of this processor, runs of matrix instructions */
    {.threads = 1, .vectors = VECTORS_AVX2},
    {.threads = 1, .vectors = VECTORS_PORTABLE},
    {.threads = 1, .vectors = VECTORS_PORTABLE, .is_interleaved = true},
};
static const uint32_t RIG_NAN = 0x7d01fd01; /* two signalling f16 NaNs; as f32 1e37 */

typedef struct RigBuffer {
    uint32_t address, bytes;
    uint8_t *data; /* what the kernel finds; after the call what it left */
    bool is_input, is_output;
    Layout layout;
    Shard shard;
} RigBuffer;

typedef struct Rig {
    Arena keep, scratch, call; /* call: emptied by rig_begin */
    uint8_t *call_start;
    Machine *machine; /* with every check on */
    Machine *
        twin[RIG_TWINS_MAX]; /* the other ways to run the same; must agree in every bit and cycle */
    const Object *objects;
    int object_count;
    Resolved code;
    uint32_t go; /* address of the call */
    int buffer_count;
    RigBuffer buffer[RIG_BUFFERS_MAX];
    uint32_t next[2];        /* free address per region */
    Cycles empty_cycles;     /* of a round that calls nothing */
    Cycles cycles;           /* of the last call: from the call to the instruction behind it */
    bool is_garbage_defined; /* alternates: undefined values, or defined NaNs and huge numbers */
    char complaint[600];     /* empty: all well */
} Rig;

/* Garbage everywhere; then, behind a host barrier, the call. */
static const char rig_program[] = ".supervisor\n"
                                  "start: ldconst $m1, 0x100007\n"
                                  " put $FP_ICTL, $m1\n"
                                  " put $FP_INFMT, $mzero\n"
                                  " put $FP_ISCL, $mzero\n"
                                  " setzi $m6, 66\n"
                                  " setzi $m7, 77\n"
                                  "round: sync 7\n"
                                  " setzi $m1, dirty\n"
                                  " setzi $m0, 0x54000\n"
                                  " runall $m1, $m0, 0\n"
                                  " sync 2\n"
                                  " setzi $m5, 0x54400\n"
                                  " ld32 $m1, $m5, $mzero, 0\n"
                                  " ld32 $m2, $m5, $mzero, 0\n"
                                  " ld32 $m3, $m5, $mzero, 0\n"
                                  " ld32 $m4, $m5, $mzero, 0\n"
                                  " ld32 $m8, $m5, $mzero, 0\n"
                                  " ld32 $m9, $m5, $mzero, 0\n"
                                  " ld32 $m5, $m5, $mzero, 0\n"
                                  " sync 7\n"
                                  "go: call $m10, nothing\n" /* rig_aim */
                                  " bri round\n"
                                  "nothing: br $m10\n"
                                  ".worker\n"
                                  "dirty: setzi $m0, 0x54400\n"
                                  " zero $a0\n"
                                  " uput $FP_CTL, $a0\n"
                                  " ldconst $a0, 0x7fa00001\n"
                                  " uput $TAS, $a0\n"
                                  " ld64 $a0:1, $m0, $mzero, 0\n"
                                  " ld64 $a2:3, $m0, $mzero, 0\n"
                                  " ld64 $a4:5, $m0, $mzero, 0\n"
                                  " ld64 $a6:7, $m0, $mzero, 0\n"
                                  ".rept 2\n"
                                  " f16v4hihov4amp $a4:5, $azeros, $a0:1, TAMP_F16V4_E4_P0\n"
                                  " f16v4hihov4amp $a4:5, $azeros, $a0:1, TAMP_F16V4_E4_P1\n"
                                  " f16v4hihov4amp $a4:5, $azeros, $a0:1, TAMP_F16V4_E4_P2\n"
                                  " f16v4hihov4amp $a4:5, $azeros, $a0:1, TAMP_F16V4_E4_P3\n"
                                  ".endr\n"
                                  ".rept 4\n"
                                  " f32v2gina $azeros, $a0:1, 0\n"
                                  ".endr\n"
                                  " ld32 $m1, $m0, $mzero, 0\n"
                                  " ld32 $m2, $m0, $mzero, 0\n"
                                  " ld32 $m3, $m0, $mzero, 0\n"
                                  " ld32 $m4, $m0, $mzero, 0\n"
                                  " ld32 $m5, $m0, $mzero, 0\n"
                                  " ld32 $m6, $m0, $mzero, 0\n"
                                  " ld32 $m7, $m0, $mzero, 0\n"
                                  " ld32 $m8, $m0, $mzero, 0\n"
                                  " ld32 $m9, $m0, $mzero, 0\n"
                                  " ld32 $m10, $m0, $mzero, 0\n"
                                  " ld32 $m11, $m0, $mzero, 0\n"
                                  " ld32 $m0, $m0, $mzero, 0\n"
                                  " exitz $mzero\n"
                                  ".globl nothing, go\n";

__attribute__((format(printf, 2, 3))) static inline void rig_fail(Rig *rig, const char *format, ...)
{
    if (rig->complaint[0] == 0) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(rig->complaint, sizeof rig->complaint, format, arguments);
        va_end(arguments);
    }
}

static inline PhysTile rig_tile(void)
{
    return (PhysTile){0};
}

/* --- numbers ------------------------------------------------------------------------------------------------------ */

/* Nearest f16, ties to even, of a double: one rounding. Overflow gives infinity. */
static inline double round_half(double x)
{
    if (x == 0 || isnan(x) || isinf(x)) {
        return x;
    }
    int exponent;
    frexp(x, &exponent);
    int unit = exponent - 11 < -24 ? -24 : exponent - 11;
    double r = ldexp(nearbyint(ldexp(x, -unit)), unit);
    return fabs(r) > 65504 ? copysign(INFINITY, x) : r;
}

/* Spacing of f16 numbers around x. */
static inline double half_ulp(double x)
{
    int exponent;
    frexp(x, &exponent);
    return ldexp(1, x == 0 || exponent - 11 < -24 ? -24 : exponent - 11);
}

/* --- buffers ------------------------------------------------------------------------------------------------------ */

static inline int rig_bytes(Rig *rig, uint32_t bytes, int region, bool is_input, bool is_output)
{
    ASSERT(rig->buffer_count < RIG_BUFFERS_MAX);
    RigBuffer *b = &rig->buffer[rig->buffer_count];
    *b = (RigBuffer){.address = rig->next[region] + 128,
                     .bytes = bytes,
                     .data = arena_alloc(&rig->call, bytes + 8, 8),
                     .is_input = is_input,
                     .is_output = is_output};
    uint32_t groups = (128 + bytes + RIG_GUARD + RIG_GROUP - 1) / RIG_GROUP;
    rig->next[region] += groups * RIG_GROUP;
    ASSERT(rig->next[region] <= (region ? SRAM_END : SRAM_REGION1));
    return rig->buffer_count++;
}

/* An operand of whole-allocation extents rows x cols; `logical_cols` of them belong to the box. */
static inline int rig_operand(Rig *rig, DType dtype, Order order, int rows, int cols,
                              int logical_cols, int region, bool is_input, bool is_output)
{
    int index =
        rig_bytes(rig, (uint32_t)(rows * cols * dtype_bytes(dtype)), region, is_input, is_output);
    RigBuffer *b = &rig->buffer[index];
    b->layout = (Layout){.dtype = dtype, .order = order, .rows = rows, .cols = logical_cols};
    b->shard =
        (Shard){.box = region_of(0, rows, 0, logical_cols), .alloc_rows = rows, .alloc_cols = cols};
    return index;
}

static inline uint16_t *rig_half(const Rig *rig, int buffer, int r, int c)
{
    const RigBuffer *b = &rig->buffer[buffer];
    int64_t i = order_index(b->layout.order, b->shard.alloc_rows, b->shard.alloc_cols, r, c);
    ASSERT(i >= 0 && 2 * i + 2 <= b->bytes);
    return (uint16_t *)(void *)b->data + i;
}

static inline void rig_set(const Rig *rig, int buffer, int r, int c, double value)
{
    *rig_half(rig, buffer, r, c) = f16_of_f32((float)round_half(value));
}

static inline double rig_get(const Rig *rig, int buffer, int r, int c)
{
    return (double)f32_of_f16(*rig_half(rig, buffer, r, c));
}

/* --- machine ------------------------------------------------------------------------------------------------------ */

static inline uint32_t rig_entry(const Rig *rig, Str name)
{
    uint32_t address = 0;
    ASSERT(object_find(rig->objects, rig->object_count, &rig->code, name, &address));
    return address;
}

static inline void rig_begin(Rig *rig)
{
    rig->call.at = rig->call_start;
    rig->buffer_count = 0;
    rig->next[0] = RIG_REGION0;
    rig->next[1] = SRAM_REGION1;
    rig->complaint[0] = 0;
}

/* Into the machine and its twins. */
static inline void rig_put(Rig *rig, uint32_t address, const void *bytes, uint32_t len)
{
    machine_write(rig->machine, rig_tile(), address, bytes, len);
    for (int i = 0; i < RIG_TWINS_MAX; i++) {
        machine_write(rig->twin[i], rig_tile(), address, bytes, len);
    }
}

static inline void rig_put_poison(Rig *rig, uint32_t address, uint32_t len, uint32_t pattern)
{
    machine_poison(rig->machine, rig_tile(), address, len, pattern);
    for (int i = 0; i < RIG_TWINS_MAX; i++) {
        machine_poison(rig->twin[i], rig_tile(), address, len, pattern);
    }
}

/* One round of every twin: same cycles, same words, the same of them undefined. */
static inline void rig_compare_twins(Rig *rig)
{
    enum { BLOCK = 4096 };
    static uint8_t expected[BLOCK], seen[BLOCK];
    for (int i = 0; i < RIG_TWINS_MAX; i++) {
        CHECK_EQ_INT(machine_run(rig->twin[i], 0), MACHINE_STOP_HOST);
        CHECK_EQ_INT(machine_run(rig->twin[i], 20000000), MACHINE_STOP_HOST);
        MachineCounters counters = machine_counters(rig->twin[i]);
        CHECK_EQ_INT(counters.host_arrival - counters.host_release, rig->cycles);
        for (uint32_t at = SRAM_BASE; at < SRAM_END; at += BLOCK) {
            uint32_t first[2] = {0};
            bool is_defined =
                machine_read(rig->machine, rig_tile(), at, expected, BLOCK, &first[0]);
            CHECK_EQ_INT(machine_read(rig->twin[i], rig_tile(), at, seen, BLOCK, &first[1]),
                         is_defined);
            CHECK_EQ_INT(first[0], first[1]);
            CHECK(memcmp(expected, seen, BLOCK) == 0);
        }
    }
}

/* NaNs that tell which buffer they belong to. */
static inline uint32_t rig_guard(int buffer)
{
    return RIG_NAN + (uint32_t)buffer * 0x20002;
}

static inline void rig_write(Rig *rig)
{
    uint32_t garbage[] = {RIG_NAN, RIG_NAN};
    rig_put_poison(rig, RIG_POISON, sizeof garbage, RIG_NAN);
    if (rig->is_garbage_defined) {
        rig_put(rig, RIG_POISON, garbage, sizeof garbage);
    }
    for (int i = 0; i < rig->buffer_count; i++) {
        const RigBuffer *b = &rig->buffer[i];
        uint32_t guard[(RIG_GUARD + 8) / 4], bytes = (b->bytes + 3) & ~3u;
        for (size_t g = 0; g < sizeof guard / 4; g++) {
            guard[g] = rig_guard(i);
        }
        rig_put(rig, b->address - RIG_GUARD, guard, RIG_GUARD);
        rig_put(rig, b->address + bytes, guard, RIG_GUARD);
        if (b->is_input) {
            rig_put(rig, b->address, b->data, bytes);
        } else {
            rig_put_poison(rig, b->address, bytes, RIG_NAN);
        }
    }
}

static inline void rig_read(Rig *rig)
{
    for (int i = 0; i < rig->buffer_count; i++) {
        RigBuffer *b = &rig->buffer[i];
        uint32_t poison = 0, bytes = (b->bytes + 3) & ~3u, guard[2][RIG_GUARD / 4];
        uint8_t *now = arena_alloc(&rig->call, bytes + 8, 8);
        if (!machine_read(rig->machine, rig_tile(), b->address, now, bytes, &poison)) {
            rig_fail(rig, "buffer %d: offset 0x%x is undefined after the call", i,
                     poison - b->address);
        }
        if (!machine_read(rig->machine, rig_tile(), b->address - RIG_GUARD, guard[0], RIG_GUARD,
                          &poison) ||
            !machine_read(rig->machine, rig_tile(), b->address + bytes, guard[1], RIG_GUARD,
                          &poison)) {
            rig_fail(rig, "buffer %d: undefined value stored into a guard", i);
        }
        for (int g = 0; g < RIG_GUARD / 4; g++) {
            if (guard[0][g] != rig_guard(i) || guard[1][g] != rig_guard(i)) {
                rig_fail(rig, "buffer %d: guard word %d overwritten", i, g);
            }
        }
        if (!b->is_output && memcmp(now, b->data, bytes) != 0) {
            rig_fail(rig, "buffer %d: a read-only operand was changed", i);
        }
        b->data = now;
    }
}

static inline MachineStop rig_round(Rig *rig)
{
    MachineStop stop = machine_run(rig->machine, 0);
    if (stop == MACHINE_STOP_HOST) {
        stop = machine_run(rig->machine, 20000000);
    }
    if (stop != MACHINE_STOP_HOST) {
        const Fault *f = machine_fault(rig->machine);
        rig_fail(rig, "%s at pc 0x%x (context %d, cycle %lld): %s",
                 stop == MACHINE_STOP_FAULT ? f->name : "no end", f->pc, f->context,
                 (long long)f->cycle, f->detail);
    }
    MachineCounters counters = machine_counters(rig->machine);
    rig->cycles = counters.host_arrival - counters.host_release;
    if (stop == MACHINE_STOP_HOST) {
        rig_compare_twins(rig);
    }
    return stop;
}

/* The next round calls the code at `entry`. */
static inline void rig_aim(Rig *rig, uint32_t entry)
{
    uint32_t word = isa_word(INSN_call_mmmn_zi, 10, entry, 0, 0);
    rig_put(rig, rig->go, &word, 4);
}

/* Tells the machine what the call may access. */
static inline void rig_describe(Rig *rig, const KernelCall *call, const int *operand)
{
    static const char *const names[RIG_BUFFERS_MAX] = {"0", "1", "2", "3", "4", "5", "6", "7"};
    const Kernel *kernel = kernel_of(call->kernel);
    Package package = {0};
    Arena *arena = &rig->call;
    for (int i = 0; i < kernel->operand_count; i++) {
        const RigBuffer *b = &rig->buffer[operand[i]];
        const KernelOperandSpec *spec = &kernel->operand[i];
        Str name = str_of(names[operand[i]]);
        *vec_push(&package.regions, arena) =
            (DebugRegion){rig_tile(), b->address, b->bytes, 1, 0, spec->tail_bytes, name};
        *vec_push(&package.buffer_uses, arena) = (BufferUse){name, spec->is_written};
    }
    *vec_push(&package.regions, arena) =
        (DebugRegion){rig_tile(), RIG_TABLE, 128, 1, 0, 0, S("table")};
    *vec_push(&package.buffer_uses, arena) = (BufferUse){S("table"), false};
    *vec_push(&package.call_uses, arena) = (CallUses){0, (int32_t)package.buffer_uses.len};
    *vec_push(&package.calls, arena) = (CallRecord){rig->go + 4, rig_tile(), 0};
    machine_describe(rig->machine, &package);
}

static inline void rig_drop_machines(Rig *rig)
{
    machine_destroy(rig->machine);
    for (int i = 0; i < RIG_TWINS_MAX; i++) {
        machine_destroy(rig->twin[i]);
    }
}

/* (Re)starts the tile: after a fault nothing else would run. */
static inline void rig_start(Rig *rig)
{
    if (rig->machine != NULL) {
        rig_drop_machines(rig);
    }
    FILE *trace = getenv("RIG_TRACE") ? stderr : NULL;
    rig->machine = machine_create(
        &(MachineOptions){.threads = 1, .checks = CHECK_ALL, .trace = trace, .trace_tile = 0});
    Error err = {0};
    Object program;
    Arena keep = arena_split(&rig->scratch, (rig->scratch.end - rig->scratch.at) / 2);
    Resolved code;
    CHECK_OK(asm_assemble(S("rig"), str_of(rig_program), NULL, &keep, rig->scratch, &program, &err),
             err);
    CHECK_OK(object_resolve(&program, 1, RIG_PROGRAM, &keep, rig->scratch, &code, &err), err);
    for (int i = -1; i < RIG_TWINS_MAX; i++) {
        if (i >= 0) {
            rig->twin[i] = machine_create(&RIG_TWINS[i]);
        }
        Machine *machine = i < 0 ? rig->machine : rig->twin[i];
        machine_load_tile(machine, rig_tile(), RIG_CODE, rig->code.at, (uint32_t)rig->code.len, 0);
        machine_load_tile(machine, rig_tile(), RIG_PROGRAM, code.at, (uint32_t)code.len,
                          RIG_PROGRAM);
        CHECK_EQ_INT(machine_run(machine, 0), MACHINE_STOP_HOST);
    }
    uint32_t nothing = 0;
    CHECK(object_find(&program, 1, &code, S("nothing"), &nothing));
    CHECK(object_find(&program, 1, &code, S("go"), &rig->go));
    rig_begin(rig);
    rig_write(rig);
    rig_aim(rig, nothing);
    rig_round(rig);
    CHECK_CSTR(rig->complaint, "");
    rig->empty_cycles = rig->cycles;
}

static inline Rig rig_create(const Object *objects, int object_count)
{
    Rig rig = {.keep = arena_create(1 << 24),
               .scratch = arena_create(1 << 26),
               .call = arena_create(1 << 26)};
    rig.call_start = rig.call.at;
    rig.objects = objects;
    rig.object_count = object_count;
    Error err = {0};
    CHECK_OK(
        object_resolve(objects, object_count, RIG_CODE, &rig.keep, rig.scratch, &rig.code, &err),
        err);
    CHECK(rig.code.len < RIG_PROGRAM - RIG_CODE);
    rig_start(&rig);
    return rig;
}

static inline void rig_destroy(Rig *rig)
{
    rig_drop_machines(rig);
    arena_destroy(&rig->keep);
    arena_destroy(&rig->scratch);
    rig->call.at = rig->call_start;
    arena_destroy(&rig->call);
}

/* All kernels of the library. */
static inline Rig rig_of_library(void)
{
    Arena keep = arena_create(1 << 26), scratch = arena_create(1 << 26);
    KernelLibrary library;
    Error err = {0};
    CHECK_OK(library_load(NULL, &keep, scratch, &library, &err), err);
    return rig_create(library.objects, library.object_count);
}

/* Runs a bound call; `operand[i]` = buffer of operand i. False: see complaint. */
static inline bool rig_call(Rig *rig, const KernelCall *call, const int *operand)
{
    uint32_t table[32] = {0};
    for (int i = 0; i < call->arg_count; i++) {
        const KernelWord *word = &call->arg[i];
        table[i] = word->operand >= 0 ? rig->buffer[operand[word->operand]].address : word->value;
    }
    rig_describe(rig, call, operand);
    rig_aim(rig, rig_entry(rig, kernel_of(call->kernel)->name));
    rig->is_garbage_defined = !rig->is_garbage_defined;
    rig_write(rig);
    rig_put(rig, RIG_TABLE, table, sizeof table);
    if (rig_round(rig) != MACHINE_STOP_HOST) {
        char complaint[sizeof rig->complaint];
        memcpy(complaint, rig->complaint, sizeof complaint);
        rig_start(rig);
        memcpy(rig->complaint, complaint, sizeof complaint);
        return false;
    }
    rig->cycles +=
        12 - rig->empty_cycles; /* the empty round holds a call and a return, 6 cycles each */
    rig_read(rig);
    if (machine_register(rig->machine, rig_tile(), -1, false, 6) != 66 ||
        machine_register(rig->machine, rig_tile(), -1, false, 7) != 77) {
        rig_fail(rig, "$m6 or $m7 of the supervisor changed");
    }
    return rig->complaint[0] == 0;
}

/* Binds and runs. */
static inline bool rig_kernel(Rig *rig, KernelId id, const int *operand, int operand_count,
                              const uint32_t *scalars, int scalar_count, KernelCall *call)
{
    KernelOperand operands[KERNEL_OPERANDS_MAX];
    for (int i = 0; i < operand_count; i++) {
        operands[i] =
            (KernelOperand){&rig->buffer[operand[i]].layout, &rig->buffer[operand[i]].shard};
    }
    Error err = {0};
    CHECK_OK(kernel_bind(id, operands, operand_count, scalars, scalar_count, call, &err), err);
    return rig_call(rig, call, operand);
}
