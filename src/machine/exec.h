/* What the interpreters of one tile share: decoded instructions, the context that executes them, memory access.
 *
 * A word is decoded once into an Op that carries the register masks which poison, bundle and supervisor timing rules
 * need, so that executing it looks nothing up. Executors return false when they raised a fault.
 * Private to the room. Semantics: isa/semantics.md.
 */
#pragma once
#include "machine/math.h"
#include "machine/tile.h"
#include "machine/watch.h"

enum {
    CODE_PAGE_BYTES = 1024,
    CODE_PAGE_WORDS = CODE_PAGE_BYTES / 4,
    CODE_PAGES = (SRAM_REGION1 - SRAM_BASE) / CODE_PAGE_BYTES,
    OP_IMMEDIATE = 16, /* register number that stands for Op.imm */
    ADDRESS_MASK = 0x1fffff,
};

/* How an Op is dispatched. */
typedef enum OpClass {
    CLASS_UNDECODED,
    CLASS_FAULT,  /* decoding found a rule broken: imm is the row of faults.def */
    CLASS_ALU,    /* integer, main lane */
    CLASS_MEMORY, /* one access: Op.memory says which */
    CLASS_PACE,   /* packed pointers */
    CLASS_BRANCH,
    CLASS_CSR, /* get, put */
    CLASS_REPEAT,
    CLASS_EXIT,
    CLASS_SYSTEM, /* supervisor: run, runall, sync, sans, coefficient loads, exchange */
    CLASS_TRAP,
    CLASS_AUX, /* aux lane, results depend on registers only */
    CLASS_ACC, /* aux lane with accumulators, TAS, PRNG or CSRs; looks after poison itself */
} OpClass;

enum {
    OP_BUNDLE = 1,       /* main half of a bundle; the aux half follows */
    OP_AUX = 2,          /* aux lane */
    OP_REPEATABLE = 4,   /* bundle without control or system instruction */
    OP_SLOW = 8,         /* costs more than one issue: op_issues */
    OP_CONDITIONAL = 16, /* branch that tests its register */
    OP_SECOND = 64,      /* aux half of a bundle: not an entry point */
    OP_WIDE = 32,        /* aux: the result is a pair */
    OP_AMP = 128,        /* main half of a bundle whose aux half exec_amp_run takes */
};

/* Points that decoding passes over with `--unknown=assume`. */
typedef enum OpAssumption { ASSUME_REGISTER = 1, ASSUME_STEP = 2 } OpAssumption;

typedef enum Broadcast { BROADCAST_NONE, BROADCAST_LOW, BROADCAST_HIGH, BROADCAST_WORD } Broadcast;

/* What a memory form moves and how it finds its address. */
typedef enum MemoryMove {
    MOVE_ZERO,
    MOVE_SIGN,
    MOVE_AUX,
    MOVE_SPREAD,
    MOVE_STORE_M,
    MOVE_STORE_A
} MemoryMove;
typedef enum MemoryMode { MODE_OFFSET, MODE_STEP, MODE_MAIN_OFFSET, MODE_MAIN_STEP } MemoryMode;
typedef struct MemoryForm {
    uint8_t bytes, move, mode; /* bytes 0: no memory form */
} MemoryForm;

struct Exec;
struct Op;
/* Executes one instruction; false when it raised a fault or stops the tile. */
typedef bool (*Executor)(struct Exec *x, const struct Op *op);

typedef struct Op {
    Executor run;
    uint16_t code; /* InsnCode */
    uint8_t kind, flags;
    uint8_t
        r[5]; /* register operands by assembler position; OP_IMMEDIATE where the immediate stands */
    uint8_t broadcast;
    uint8_t result,
        result_count; /* aux: registers committed behind the instruction; count 0 = discarded */
    int32_t imm, imm2;
    MemoryForm memory;
    uint16_t m_read, m_hard,
        m_write;             /* main registers; m_hard = must be defined (addresses, conditions) */
    uint8_t a_read, a_write; /* aux registers 0..7 */
    uint8_t a_lane[2];       /* those that result register 0, 1 depends on */
    uint8_t assumptions;     /* bits of OpAssumption: op->run notes them and goes on */
} Op;

typedef struct CodePage {
    Op op[CODE_PAGE_WORDS];
    struct CodePage *next; /* of the reuse list */
    bool is_shared;        /* belongs to the pool: read-only */
} CodePage;

/* Decoded pages of region 0, per context (0 workers, 1 supervisor); NULL = not decoded since the last store. */
typedef struct CodeCache {
    CodePage *page[2][CODE_PAGES];
    CodePage *unused;
    bool is_decoded[CODE_PAGES];  /* in any context: what a store has to look at */
    bool has_changed[CODE_PAGES]; /* decoded and written since: not worth sharing */
} CodeCache;

/* One context while it executes. Pointers into TileState, valid during one tile_run. */
typedef struct Exec {
    Cycles limit; /* no instruction is issued later */
    TileState *tile;
    const TileShared *shared;
    WorkerState *worker; /* NULL: supervisor */
    uint32_t *m;
    uint16_t *m_poison;
    uint32_t *poison;    /* bitmap of SRAM, NULL when poison is not tracked */
    struct Watch *watch; /* NULL: no check of every access is on */
    int context;
    uint32_t pc, next_pc;
    Cycles cycle;            /* issue of the current instruction */
    const double *f8_values; /* of the activations (amp.h), NULL: look it up */
    uint32_t out[2];         /* result of an aux instruction, committed behind the bundle */
    uint8_t out_poison;      /* bit i: out[i] */
    bool is_branch_taken;
    bool is_exited;
} Exec;

#define EXEC_FAULT(x, name, ...)                                                                   \
    (tile_fault((x)->tile, name, (x)->context, (x)->pc, (x)->cycle, __VA_ARGS__), false)

/* Rows of faults.def by number, for Op.imm and TileState.assumed. */
enum {
#define FAULT(name, category, text) ROW_##name,
#include "machine/faults.def"
#undef FAULT
    FAULT_ROWS
};

/* A point that nobody documented and for which docs/machine.md has an assumption: true with `--unknown=assume` (and notes that it
 * was needed), a fault otherwise. */
#define EXEC_ASSUME(x, name, ...)                                                                  \
    ((x)->shared->is_unknown_assumed ? ((x)->tile->assumed |= (uint64_t)1 << ROW_##name, true)     \
                                     : EXEC_FAULT(x, #name, __VA_ARGS__))

/* --- code.c */
CodeCache *code_create(void);
void code_destroy(CodeCache *code);
/* Decodes the word at `address` (in region 0, multiple of 4) for a context; the Op stays valid until the next call behind a
 * store into its page. */
const Op *code_decode(TileState *tile, const TileShared *shared, bool is_supervisor,
                      uint32_t address);
void code_drop(CodeCache *code, uint32_t page);

/* The decoded instruction at pc, or NULL when code_decode has to look. */
static inline const Op *code_find(const CodeCache *code, bool is_supervisor, uint32_t address)
{
    uint32_t offset = address - SRAM_BASE;
    if (__builtin_expect(offset >= SRAM_REGION1 - SRAM_BASE || (address & 3) != 0, 0)) {
        return NULL;
    }
    const CodePage *page = code->page[is_supervisor][offset / CODE_PAGE_BYTES];
    if (__builtin_expect(page == NULL, 0)) {
        return NULL;
    }
    const Op *op = &page->op[offset / 4 % CODE_PAGE_WORDS];
    return __builtin_expect(op->kind != CLASS_UNDECODED, 1) ? op : NULL;
}

/* A word of region 0 changed. */
static inline void code_touch(CodeCache *code, uint32_t address)
{
    uint32_t page = (address - SRAM_BASE) / CODE_PAGE_BYTES;
    if (__builtin_expect(code->is_decoded[page], 0)) {
        code_drop(code, page);
    }
}
/* --- decode.c */
/* Decodes the word at `address`, and with a bundle its aux half into op[1]. */
void decode_word(const TileState *tile, const TileShared *shared, bool is_supervisor,
                 uint32_t address, Op *op);
/* Name of a row of faults.def by number. */
const char *fault_name(int number);
/* Issues of a multi-issue instruction (OP_SLOW). */
int op_issues(const TileTiming *timing, const Op *op);

/* --- executors: the function of an instruction, chosen when it is decoded. Operands that must be defined are checked before. */
Executor exec_main_find(
    OpClass kind,
    bool is_supervisor); /* CLASS_FAULT, CLASS_ALU, CLASS_BRANCH .. CLASS_EXIT, CLASS_TRAP */
Executor exec_memory_find(InsnCode code, MemoryForm form); /* CLASS_MEMORY, CLASS_PACE */
Executor exec_aux_find(InsnCode code);     /* CLASS_AUX; Exec.out_poison is set before */
Executor exec_convert_find(InsnCode code); /* the part of CLASS_AUX in exec_convert.c */
Executor exec_f8_find(InsnCode code);      /* the part of CLASS_AUX in exec_f8.c */
Executor exec_acc_find(InsnCode code, int flag,
                       MachineVectors vectors); /* CLASS_ACC; flag = Op.imm */
/* Any AMP form, plainly (exec_amp.c). */
bool exec_amp_step(Exec *x, const Op *op);
/* Sixteen rows and four engines of f16v4hihov4amp or f8v8hihov4amp: same bits, for this host's processor. */
Executor exec_amp_wide_find(InsnCode code, MachineVectors vectors);
/* Executes bundles from x->pc, decoded as `op`, as long as they have OP_AMP and ordinary numbers; the state is that of run_one
 * behind each. */
typedef enum AmpRun {
    AMP_RUN_NONE,    /* nothing executed: take the ordinary way */
    AMP_RUN_DONE,    /* x->next_pc says where to go on */
    AMP_RUN_STOPPED, /* fault or limit */
} AmpRun;
AmpRun exec_amp_run(Exec *x, const Op *op);
bool exec_amp_can_run(const Op *aux, MachineVectors vectors);
Executor exec_amp_find(InsnCode code, int flag,
                       MachineVectors vectors); /* the part of CLASS_ACC in exec_amp.c */
Executor exec_slic_find(InsnCode code);         /* the part of CLASS_ACC in exec_slic.c */
Executor exec_random_find(InsnCode code);       /* the part of CLASS_ACC in exec_random.c */
Executor exec_class_find(InsnCode code);        /* the part of CLASS_AUX in exec_class.c */
Executor supervisor_find(InsnCode code);        /* CLASS_SYSTEM */
/* The fault of an instruction that uses an undefined main register where it may not. */
bool exec_poison_fault(Exec *x, const Op *op);
/* Four floats to halves as FP_CTL says, element 0 lowest; collects conditions. */
uint64_t exec_round_halves(const Exec *x, F4 v, uint32_t *flags);
/* The same into Exec.out, with the conditions of `op`. */
bool exec_out_halves(Exec *x, const Op *op, F4 v);
/* Values that are halves already: nothing is rounded and no random number drawn. */
bool exec_out_chosen(Exec *x, const Op *op, F4 v);
/* FP8 format of conversions and classes; false: fault. */
bool exec_f8_format(Exec *x, F8Format *out);
/* maxNum of each lane: a NaN loses against a number. */
F4 exec_maximum(F4 a, F4 b);
/* --- exec_round.c: results under another rounding than to nearest even */

/* True when FP_CTL asks for stochastic rounding or another mode. */
static inline bool is_rounding_special(const WorkerState *w)
{
    return __builtin_expect((w->fp_ctl & (FP_ESR | FP_RND)) != 0, 0);
}
/* FP_CTL.RND: 0 nearest even .. 4 nearest away (semantics.md 6). */
static inline int rounding_mode(const WorkerState *w)
{
    return (int)(w->fp_ctl / (FP_RND & ~(FP_RND - 1)) & 7);
}
static inline uint64_t rotate_left(uint64_t v, int n)
{
    return v << n | v >> (64 - n);
}
/* One step of the generator xoroshiro128aox (semantics.md 8.3); 64 bits. */
uint64_t exec_random(WorkerState *w);
/* Sixteen random bits for element i of a result, when FP_CTL.ESR is set; draws once an instruction. */
typedef struct Dither {
    uint64_t bits;
    bool is_on;
} Dither;
Dither exec_dither(WorkerState *w);
/* |v| in units of the last place kept, rounded to an integer as FP_CTL says; units < 2^24. */
uint32_t exec_round_units(const WorkerState *w, double units, bool is_negative, Dither dither,
                          int element);
/* Four doubles to halves, element 0 lowest. */
uint64_t exec_round_halves_special(WorkerState *w, const double v[4], uint32_t *flags);
/* value + rest to f32 in the mode of FP_CTL; of rest (much smaller) only the sign counts. */
float exec_round_f32(const WorkerState *w, double value, double rest);
/* What a half that does not fit becomes: Inf stays, NaN is quiet, overflow is NaN or the largest value (semantics.md 6). */
uint32_t exec_special_half(uint32_t f32, uint32_t fp_ctl, uint32_t *flags);
/* Faults when a value for FP_CTL asks for what nobody documented. */
bool fp_control_check(Exec *x, uint32_t value);
bool worker_csr(Exec *x, const Op *op);     /* get, put of a worker (worker.c) */
bool supervisor_csr(Exec *x, const Op *op); /* get, put of the supervisor (supervisor.c) */
/* Registers a floating-point condition (bits of FP_STS); faults when FP_CTL enables it. */
bool fp_raise(Exec *x, uint32_t flags, const char *mnemonic);
/* End of an aux instruction; conditions of undefined results are not registered. */
static inline bool exec_finish(Exec *x, const Op *op, uint32_t flags)
{
    if (__builtin_expect(flags == 0 || x->out_poison != 0, 1)) {
        return true;
    }
    return fp_raise(x, flags, isa_form((InsnCode)op->code)->mnemonic);
}
/* Runs worker `w` from its launch to its exit. False: fault or limit. */
bool worker_run(TileState *tile, const TileShared *shared, int w, Cycles limit);
/* All six, issue by issue in the order of cycles. */
bool workers_run_interleaved(TileState *tile, const TileShared *shared, Cycles limit);
/* Prints the instruction at x->pc to the trace file. */
void exec_trace(const Exec *x);

/* --- observe.c: around an instruction, when shared->observer is set */
struct TileIssue;
void observe_begin(const Exec *x, const Op *op, struct TileIssue *issue);
/* `next`: see TileIssue. */
void observe_end(const Exec *x, bool is_good, Cycles next, struct TileIssue *issue);

/* --- memory */

/* True when two accesses meet in one element (tile-timing.md 5.1): 16 KiB blocks in region 0; halves of 32 KiB pairs that
 * alternate with address bit 3 in region 1. Equals chip's element_of on both, without its checks. */
static inline bool same_element(uint32_t a, uint32_t b)
{
    uint32_t mask = a < SRAM_REGION1 ? 0xffffc000u : 0xffff8008u;
    return ((a ^ b) & mask) == 0;
}

static inline uint32_t half(uint32_t word, int i)
{
    return word >> (16 * i) & 0xffff;
}

static inline uint32_t byte(uint32_t word, int i)
{
    return word >> (8 * i) & 0xff;
}

static inline uint32_t bytes(uint32_t b0, uint32_t b1, uint32_t b2, uint32_t b3)
{
    return b0 | b1 << 8 | b2 << 16 | b3 << 24;
}

/* A fault that names the access; false. */
bool exec_fault_at(Exec *x, const char *name, uint32_t address, uint32_t bytes);
/* The address that an access outside SRAM or off its alignment gets: 0 and a fault, or the aligned one when the check is off. */
uint32_t access_refused(Exec *x, uint32_t address, uint32_t bytes);

static inline bool access_check(Exec *x, uint32_t *address, uint32_t bytes)
{
    if (__builtin_expect(*address - SRAM_BASE > SRAM_BYTES - bytes || (*address & (bytes - 1)) != 0,
                         0)) {
        *address = access_refused(x, *address, bytes);
        return *address != 0;
    }
    return true;
}

/* Poison bits of `words` aligned words. */
static inline unsigned poison_of(const Exec *x, uint32_t address, uint32_t words)
{
    if (!x->poison) {
        return 0;
    }
    uint32_t index = (address - SRAM_BASE) / 4;
    return x->poison[index / 32] >> (index % 32) & ((1u << words) - 1);
}

static inline const uint8_t *sram_at(const Exec *x, uint32_t address)
{
    return x->tile->sram + (address - SRAM_BASE);
}

/* A store into the element of the running supervisor code: false and a fault, unless conflicts are not checked. */
bool code_element_store(Exec *x, uint32_t address);

/* Stores aligned words (1 or 2); the address is checked. Faults for the element of the running supervisor code. */
static inline bool store_words(Exec *x, uint32_t address, const uint32_t *words, uint32_t count,
                               unsigned poison)
{
    if (__builtin_expect(x->watch != NULL, 0) && !watch_store(x, address, count)) {
        return false;
    }
    if (address < SRAM_REGION1) {
        if (((address ^ x->tile->pc) & ~(uint32_t)(ELEMENT_BYTES - 1)) == 0 &&
            !code_element_store(x, address)) {
            return false;
        }
        code_touch(x->tile->code, address);
    }
    memcpy(x->tile->sram + (address - SRAM_BASE), words, 4 * (size_t)count);
    if (x->poison) {
        uint32_t index = (address - SRAM_BASE) / 4, shift = index % 32;
        uint32_t mask = (1u << count) - 1, *at = &x->poison[index / 32];
        if (__builtin_expect(((*at >> shift & mask) | poison) != 0, 0)) {
            *at = (*at & ~(mask << shift)) | (uint32_t)poison << shift;
        }
    }
    return true;
}
