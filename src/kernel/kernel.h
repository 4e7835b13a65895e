/* kernel: the catalogue of tile kernels. Code, contract, binding of arguments, cycle formula.
 * takes: kernels/x.s (embedded)       gives: KernelLibrary; argument words and costs of calls
 * uses: base chip tensor layout asm
 * never: chooses a kernel
 *
 * Calling convention. The tile program sets $m0 = address of the call's argument table (words in data memory) and does
 * `call $m10, <name>`; <name> is supervisor code that launches workers with $mvertex_base = $m0, waits for them with `sync 2`
 * and returns with `br $m10`. It may clobber $m0..$m5, $m8..$m10; $m6 (iteration offset) and $m7 (loop counter) belong to the
 * program. Workers read their arguments from $mvertex_base and may clobber everything of their own context. No kernel keeps state
 * between calls; accumulators are cleared before use (pitfall N21); no kernel writes outside the operands that it declares,
 * none reads a word of padding that it then uses arithmetically (pitfall N2).
 */
#pragma once
#include "asm/asm.h"
#include "base/base.h"
#include "chip/chip.h"
#include "layout/layout.h"
#include "tensor/tensor.h"

/* KERNEL_<name> per row of kernels.def; KERNEL_none = 0. */
typedef enum KernelId {
    KERNEL_none = 0,
#define KERNEL(name, operands, scalars, arguments, separations) KERNEL_##name,
#include "kernel/kernels.def"
#undef KERNEL
    KERNEL_COUNT
} KernelId;

/* Rows of a gemm call: 128 a worker, the jump back over 4n - 1 atoms has ten signed bits (isa/semantics.md 4.2). */
enum { KERNEL_GEMM_ROWS_MAX = 768 };
enum { KERNEL_OPERANDS_MAX = 6, KERNEL_SCALARS_MAX = 4, KERNEL_ARGS_MAX = 12 };

typedef struct KernelOperandSpec {
    Str name;
    bool is_read, is_written;
    DType dtype;
    uint8_t orders;      /* bit per Order that is accepted */
    uint32_t align;      /* bytes */
    uint32_t tail_bytes; /* bytes read past the end and never used */
    bool is_interleaved; /* must lie in region 1 */
    int8_t may_alias;    /* operand index that may be the very same buffer, or -1 */
} KernelOperandSpec;

typedef struct Kernel {
    Str name; /* entry label and file name */
    int operand_count, scalar_count, arg_count;
    KernelOperandSpec operand[KERNEL_OPERANDS_MAX];
    int separation_count;
    uint8_t separation[4][2]; /* operand pairs that must not share an exchange group */
} Kernel;

/* One operand of a call: a shard of a layout. */
typedef struct KernelOperand {
    const Layout *layout;
    const Shard *shard;
} KernelOperand;

/* Argument word: address of operand `operand` (>= 0), or the value itself (operand -1). */
typedef struct KernelWord {
    int32_t operand;
    uint32_t value;
} KernelWord;

typedef struct KernelCall {
    KernelId kernel;
    int arg_count;
    KernelWord arg[KERNEL_ARGS_MAX];
    int64_t rows, cols, inner; /* extents that the cost formula uses */
} KernelCall;

typedef struct KernelLibrary {
    Object *objects;
    int object_count;
    uint32_t code_bytes;   /* all kernels, resolved */
    const IsaFlags *flags; /* that they were assembled with; NULL: ours */
} KernelLibrary;

/* Assembles every embedded kernel with these values of flag symbols (NULL: ours), which live as long as the library. */
bool library_load(const IsaFlags *flags, Arena *keep, Arena scratch, KernelLibrary *out,
                  Error *err);
/* The row of kernels.def, parsed. Never NULL for a valid id. */
const Kernel *kernel_of(KernelId id);
KernelId kernel_find(Str name);
/* The operand whose address is argument word `arg`, or -1. */
int kernel_operand_of(KernelId id, int arg);
/* Checks the operands' orders, types and extents against the contract and makes the argument words. ERROR_INPUT names the
 * kernel, the operand and what was expected. Operands as listed in kernels.def; scalars likewise. */
bool kernel_bind(KernelId id, const KernelOperand *operands, int operand_count,
                 const uint32_t *scalars, int scalar_count, KernelCall *out, Error *err);
/* Plain-memory kernels that lower calls itself: copy of `runs` runs and zero fill of runs; bytes multiple of 8 (copy64, fill64)
 * addresses 8-aligned; strides in bytes. Address words are left as operand 0 (src or dst) and 1 (dst). */
KernelCall kernel_copy(uint32_t run_bytes, uint32_t runs, uint32_t src_stride, uint32_t dst_stride);
KernelCall kernel_fill(uint32_t run_bytes, uint32_t runs, uint32_t stride);
/* Tile cycles of one call, launch included; coefficients calibrated on the machine (test in tests/kernel). */
Cycles kernel_cost(const KernelCall *call);
