/* The supervisor: issue times, launches, coefficient loads, syncs. tile-timing.md 3; isa/semantics.md 3, 4.4; registers.md 4.2.
 *
 * Issue time = first cycle that is not earlier than the end of the previous instruction's shadow, than the readiness of every
 * source register, and that lies in a slot no worker owns. Workers run to their exits inside run and runall, each with its own issue
 * times; the supervisor then goes on in the slots that the model says were free. It must not look at what running workers write:
 * a program that does is wrong on the hardware too, and found by the check `race` (watch.c).
 */
#include "machine/exec.h"
#include "machine/workbench.h"

static const Cycles NO_LIMIT = INT64_MAX;

/* First cycle >= `from` in a slot that the supervisor may use. */
static Cycles free_slot(const TileState *tile, Cycles from)
{
    Cycles best = NO_LIMIT;
    for (int slot = 0; slot < CHIP_WORKERS; slot++) {
        Cycles at = from > tile->slot_free[slot] ? from : tile->slot_free[slot];
        Cycles shift = (slot - at) % CHIP_WORKERS;
        at += shift < 0 ? shift + CHIP_WORKERS : shift;
        best = at < best ? at : best;
    }
    return best;
}

static Cycles all_slots_free(const TileState *tile)
{
    Cycles last = 0;
    for (int slot = 0; slot < CHIP_WORKERS; slot++) {
        last = tile->slot_free[slot] > last ? tile->slot_free[slot] : last;
    }
    return last;
}

/* When the last source register is there (before 0: no sources), and which one that is. */
static inline Cycles sources_ready(const TileState *tile, const TileTiming *timing, const Op *op,
                                   int *last)
{
    Cycles latest = -1;
    Cycles early =
        (op->flags & OP_CONDITIONAL) != 0 ? timing->sup_result - timing->sup_result_branch : 0;
    for (uint32_t read = op->m_read; read != 0; read &= read - 1) {
        Cycles ready = tile->m_ready[__builtin_ctz(read)] - early;
        if (ready > latest) {
            latest = ready;
            *last = __builtin_ctz(read);
        }
    }
    return latest;
}

static Cycles issue_time(const TileState *tile, const TileTiming *timing, const Op *op)
{
    int last;
    Cycles issue = tile->cycle, ready = sources_ready(tile, timing, op, &last);
    issue = ready > issue ? ready : issue;
    bool is_local_sync = op->code == INSN_sync_mmmn_zi && op->imm == FLAG_TEXCH_SYNCZONE_LOCAL;
    Cycles all_free = all_slots_free(tile);
    if (all_free <= issue) {
        return issue;
    }
    return is_local_sync ? all_free : free_slot(tile, issue);
}

static bool is_worker_active(const TileState *tile, Cycles cycle)
{
    return all_slots_free(tile) > cycle;
}

/* registers.md 4.2: two bits a context, supervisor first; 1 = active. Exceptions end a run, so no other state is seen. */
static uint32_t context_states(const TileState *tile, Cycles cycle)
{
    uint32_t states = 1;
    for (int i = 0; i < CHIP_WORKERS; i++) {
        states |= (uint32_t)(tile->slot_free[i] > cycle) << (2 * (i + 1));
    }
    return states;
}

/* True for a register that turns a breakpoint of the debug hardware on. */
static bool sets_breakpoint(int csr, uint32_t value)
{
    return ((csr == CSR_DBG_IBRK0_CTL || csr == CSR_DBG_DBRK0_CTL) && value != 0) ||
           (csr == CSR_DBG_ECSR && (value & 1u << 5) != 0); /* BOS: break on sync */
}

static bool get_csr(Exec *x, const Op *op)
{
    const TileState *tile = x->tile;
    uint32_t value;
    switch (op->imm) {
    case CSR_PC:
        value = x->pc;
        break;
    case CSR_TILE_ID:
        value = tile->id.id;
        break;
    case CSR_SCOUNT_L:
    case CSR_SCOUNT_U:
        if (!EXEC_ASSUME(x, SUPERVISOR_COUNTER, "get of 0x%x", (unsigned)op->imm)) {
            return false;
        }
        value = (uint32_t)(x->cycle >> (op->imm == CSR_SCOUNT_U ? 32 : 0));
        break;
    case CSR_CTXT_STS:
        value = context_states(tile, x->cycle);
        break;
    case CSR_CR: /* acts on ones that are written; what it reads is not documented */
    case CSR_DBG_ECLR:
    case CSR_ANS_DCOUNT:
    case CSR_EXCHANGE_CTL:
        if (!EXEC_ASSUME(x, CSR_UNKNOWN, "get of 0x%x", (unsigned)op->imm)) {
            return false;
        }
        value = op->imm == CSR_CR || op->imm == CSR_DBG_ECLR ? 0 : tile->csr[op->imm];
        break;
    default:
        if (csr_name(op->imm, CONTEXT_SUPERVISOR).len == 0) {
            return EXEC_FAULT(x, "INVALID_CSR", "get of 0x%x by the supervisor", (unsigned)op->imm);
        }
        value = tile->csr[op->imm];
        break;
    }
    x->m[op->r[0]] = value;
    x->m[15] = 0;
    *x->m_poison &= (uint16_t)~op->m_write;
    return true;
}

/* CR acts on ones: clear LC, set LC, zero the coefficients. */
static bool put_control(Exec *x, uint32_t value)
{
    TileState *tile = x->tile;
    if ((value & 1) != 0) {
        tile->csr[CSR_SSR] &= ~1u;
    }
    if ((value & 2) != 0) {
        tile->csr[CSR_SSR] |= 1u;
    }
    if ((value & 4) != 0) {
        if (is_worker_active(tile, x->cycle)) {
            return EXEC_FAULT(x, "WORKERS_ACTIVE",
                              "coefficients are cleared under running workers");
        }
        memset(tile->cwei, 0, sizeof tile->cwei);
        memset(tile->cwei_stale, 0xff, sizeof tile->cwei_stale);
        tile->cwei_poison = 0;
    }
    return true;
}

static bool put_csr(Exec *x, const Op *op)
{
    TileState *tile = x->tile;
    uint32_t value = x->m[op->r[1]];
    switch (op->imm) {
    case CSR_CR:
        return put_control(x, value);
    case CSR_FP_ICTL:
        tile->csr[CSR_FP_ICTL] = value;
        return fp_control_check(x, value);
    case CSR_WORKER0_BASE:
    case CSR_WORKER1_BASE:
    case CSR_WORKER2_BASE:
    case CSR_WORKER3_BASE:
    case CSR_WORKER4_BASE:
    case CSR_WORKER5_BASE: {
        int number = op->imm - CSR_WORKER0_BASE;
        if (tile->slot_free[number] > x->cycle) {
            return EXEC_FAULT(x, "WORKERS_ACTIVE", "put to WORKER%d_BASE", number);
        }
        tile->csr[op->imm] = value & ADDRESS_MASK;
        return true;
    }
    case CSR_CCCSLOAD:
        tile->csr[op->imm] = value & ADDRESS_MASK;
        return true;
    case CSR_DBG_DATA:
    case CSR_FP_INFMT:
    case CSR_FP_ISCL:
    case CSR_INCOMING_MUX:
    case CSR_INCOMING_MUXPAIR:
    case CSR_INCOMING_DELTA:
    case CSR_INCOMING_FORMAT:
    case CSR_INCOMING_BASE:
    case CSR_INCOMING_DCOUNT:
    case CSR_OUTGOING_BASE:
    case CSR_OUTGOING_DELTA:
        tile->csr[op->imm] = value;
        return true;
    case CSR_PC:
    case CSR_SSR:
    case CSR_TILE_ID:
    case CSR_SCOUNT_L:
    case CSR_SCOUNT_U:
    case CSR_CTXT_STS:
    case CSR_DBG_BRK_ID:
        return EXEC_FAULT(x, "CSR_READ_ONLY", "put to 0x%x by the supervisor", (unsigned)op->imm);
    case CSR_DBG_ECLR: /* no context is ever stopped by an exception and goes on */
        return true;
    case CSR_DBG_CTL:
    case CSR_DBG_ECSR:
    case CSR_DBG_IBRK0_CTL:
    case CSR_DBG_IBRK0_PC:
    case CSR_DBG_IBRK0_VERT:
    case CSR_DBG_DBRK0_CTL:
    case CSR_DBG_DBRK0_BASE:
    case CSR_DBG_DBRK0_SIDA:
        if (sets_breakpoint(op->imm, value) &&
            !EXEC_ASSUME(x, CSR_UNKNOWN, "put of 0x%x to 0x%x turns a breakpoint on", value,
                         (unsigned)op->imm)) {
            return false;
        }
        tile->csr[op->imm] = value;
        return true;
    default:
        if (csr_name(op->imm, CONTEXT_SUPERVISOR).len == 0) {
            return EXEC_FAULT(x, "INVALID_CSR", "put to 0x%x by the supervisor", (unsigned)op->imm);
        }
        if (!EXEC_ASSUME(x, CSR_UNKNOWN, "put to 0x%x by the supervisor", (unsigned)op->imm)) {
            return false;
        }
        tile->csr[op->imm] = value;
        return true;
    }
}

bool supervisor_csr(Exec *x, const Op *op)
{
    return op->code == INSN_get_mmmn_zi ? get_csr(x, op) : put_csr(x, op);
}

static void set_coefficients(TileState *tile, int k, const uint32_t word[2], unsigned poison)
{
    uint64_t bit = (uint64_t)1 << k;
    tile->cwei[k] = word[0] | (uint64_t)word[1] << 32;
    for (size_t i = 0; i < sizeof tile->cwei_stale / sizeof *tile->cwei_stale; i++) {
        tile->cwei_stale[i] |= bit;
    }
    tile->cwei_poison = poison ? tile->cwei_poison | bit : tile->cwei_poison & ~bit;
}

/* semantics.md 4.4: CWEI[k] (and k + 1) from CCCSLOAD, which moves on. */
static bool load_coefficients(Exec *x, const Op *op)
{
    TileState *tile = x->tile;
    bool is_wide = op->code == INSN_ld128putcs_mmmn_zi;
    uint32_t pointer = tile->csr[CSR_CCCSLOAD], address = pointer, bytes = is_wide ? 16 : 8;
    int k = op->imm;
    if (is_worker_active(tile, x->cycle)) {
        return EXEC_FAULT(x, "WORKERS_ACTIVE", "coefficient %d is loaded under running workers", k);
    }
    if (k > 63 || (is_wide && k % 2 != 0)) {
        return EXEC_FAULT(x, "INVALID_CCCS", "coefficient %d", k);
    }
    if (!access_check(x, &address, bytes)) {
        return false;
    }
    if (is_wide && address < SRAM_REGION1) {
        return exec_fault_at(x, "INVALID_REGION", address, bytes);
    }
    if (x->watch) {
        watch_load(x, address, bytes / 4, WATCH_NOWHERE);
    }
    for (uint32_t i = 0; i < bytes / 8; i++) {
        uint32_t word[2];
        memcpy(word, sram_at(x, address + 8 * i), 8);
        set_coefficients(tile, k + (int)i, word, poison_of(x, address + 8 * i, 2));
    }
    tile->csr[CSR_CCCSLOAD] = (pointer + bytes) & ADDRESS_MASK;
    return true;
}

/* State at launch: registers.md 1, 4.3. Registers, accumulators and random numbers stay. */
static bool prepare_worker(Exec *x, int number, uint32_t entry, uint32_t base)
{
    TileState *tile = x->tile;
    WorkerState *w = &tile->worker[number];
    const TileTiming *timing = &x->shared->timing;
    if (entry % 4 != 0 || base % 4 != 0 || entry < SRAM_BASE || entry >= SRAM_REGION1) {
        return EXEC_FAULT(x, "LAUNCH_ADDRESS", "worker %d: entry 0x%x, vertex base 0x%x", number,
                          entry, base);
    }
    w->pc = entry;
    w->vertex_base = w->m[13] = base;
    w->worker_base = w->m[12] = tile->csr[CSR_WORKER0_BASE + number];
    w->m[14] = w->m[15] = 0;
    w->m_poison &= 0x0fff;
    memset(&w->a[8], 0, 8 * sizeof w->a[0]);
    w->a_poison &= 0x00ff;
    w->tas_poison = x->poison != NULL;
    w->fp_sts = 0;
    w->fp_ctl = tile->csr[CSR_FP_ICTL];
    w->fp_nfmt = tile->csr[CSR_FP_INFMT];
    w->fp_scl = tile->csr[CSR_FP_ISCL];
    w->rpt_count = 0;
    Cycles earliest = x->cycle + timing->runall_start, shift = (number - earliest) % CHIP_WORKERS;
    w->start_cycle = earliest + (shift < 0 ? shift + CHIP_WORKERS : shift);
    return true;
}

/* Behind the exit. */
static void finish_worker(Exec *x, int number)
{
    TileState *tile = x->tile;
    const WorkerState *w = &tile->worker[number];
    tile->slot_free[number] = w->end_cycle + x->shared->timing.worker_slot_return;
    if (!w->exit_status) {
        tile->csr[CSR_SSR] &= ~1u; /* LC: AND of the exit statuses */
    }
}

static bool launch(Exec *x, int number, uint32_t entry, uint32_t base)
{
    if (!prepare_worker(x, number, entry, base) ||
        !worker_run(x->tile, x->shared, number, x->limit)) {
        return false;
    }
    finish_worker(x, number);
    return true;
}

/* As launch of each worker, but they issue by turns. */
static bool launch_interleaved(Exec *x, uint32_t entry, uint32_t base, uint32_t step)
{
    for (int number = 0; number < CHIP_WORKERS; number++) {
        if (!prepare_worker(x, number, entry, base + (uint32_t)number * step)) {
            return false;
        }
    }
    if (!workers_run_interleaved(x->tile, x->shared, x->limit)) {
        return false;
    }
    for (int number = 0; number < CHIP_WORKERS; number++) {
        finish_worker(x, number);
    }
    return true;
}

/* `run` takes the lowest-numbered free worker; its own slot is one, since it issues in a free slot. */
static bool launch_one(Exec *x, const Op *op)
{
    uint32_t base = x->m[op->r[1]] + 4 * (uint32_t)op->imm + SRAM_BASE;
    int number = 0;
    while (x->tile->slot_free[number] > x->cycle) {
        number++;
        ASSERT(number < CHIP_WORKERS);
    }
    return launch(x, number, x->m[op->r[0]], base);
}

static bool launch_all(Exec *x, const Op *op)
{
    if (is_worker_active(x->tile, x->cycle)) {
        return EXEC_FAULT(x, "WORKERS_ACTIVE", "runall while a worker is active");
    }
    uint32_t entry = x->m[op->r[0]], base = x->m[op->r[1]], step = 4 * (uint32_t)op->imm;
    if (x->shared->is_interleaved && !x->watch && !x->shared->observer) {
        return launch_interleaved(x, entry, base, step);
    }
    for (int number = 0; number < CHIP_WORKERS; number++) {
        if (!launch(x, number, entry, base + (uint32_t)number * step)) {
            return false;
        }
    }
    return true;
}

/* True when the tile goes on; otherwise tile->stop says why it stops. */
static bool synchronise(Exec *x, const Op *op)
{
    TileState *tile = x->tile;
    switch (op->imm) {
    case FLAG_TEXCH_SYNCZONE_LOCAL:
        return true;
    case FLAG_TEXCH_SYNCZONE_ANS:
        if (!tile->sans_pending) {
            return EXEC_FAULT(x, "ANS_WITHOUT_SANS", "sync 1");
        }
        tile->stop = TILE_STOP_SYNC_ANS;
        break;
    case FLAG_TEXCH_SYNCZONE_INTERNAL:
    case FLAG_TEXCH_SYNCZONE_GS2_HOST:
        if (tile->sans_pending) {
            return EXEC_FAULT(x, "SYNC_WHILE_ANSWERED", "sync %d", op->imm);
        }
        if (is_worker_active(tile, x->cycle)) {
            return EXEC_FAULT(x, "WORKERS_ACTIVE", "%ssync %d",
                              op->imm == FLAG_TEXCH_SYNCZONE_INTERNAL ? "X15: " : "", op->imm);
        }
        tile->stop =
            op->imm == FLAG_TEXCH_SYNCZONE_INTERNAL ? TILE_STOP_SYNC_INTERNAL : TILE_STOP_SYNC_HOST;
        break;
    default:
        return EXEC_FAULT(x, "SYNC_ZONE", "sync %d", op->imm);
    }
    return false;
}

static bool answer(Exec *x, const Op *op)
{
    if (op->imm != 0) {
        return EXEC_FAULT(x, "SANS", "sans %d", op->imm);
    }
    if (x->tile->sans_pending) {
        return EXEC_FAULT(x, "SYNC_WHILE_ANSWERED", "sans 0");
    }
    x->tile->sans_pending = true;
    return true;
}

static bool refuse_exchange(Exec *x, const Op *op)
{
    return EXEC_FAULT(x, "EXCHANGE_OUTSIDE_ROW", "%s", isa_form((InsnCode)op->code)->mnemonic);
}

Executor supervisor_find(InsnCode code)
{
    switch (code) {
    case INSN_ld64putcs_mmmn_zi:
    case INSN_ld128putcs_mmmn_zi:
        return load_coefficients;
    case INSN_runall_mmmn_zi:
        return launch_all;
    case INSN_run_mmmn_zi:
        return launch_one;
    case INSN_sync_mmmn_zi:
        return synchronise;
    case INSN_sans_mmmn_zi:
        return answer;
    default:
        return refuse_exchange;
    }
}

/* Cycles from the issue to the earliest issue of the next instruction. */
static int shadow_of(const TileTiming *timing, const Exec *x, const Op *op)
{
    if (x->is_branch_taken) {
        return timing->sup_branch;
    }
    switch (op->code) {
    case INSN_put_mmmn_zi:
        return timing->sup_put;
    case INSN_sync_mmmn_zi:
        return timing->sync_done;
    case INSN_ld64putcs_mmmn_zi:
    case INSN_ld128putcs_mmmn_zi:
        return timing->putcs;
    default:
        return timing->sup_issue;
    }
}

static void forget_poison(TileState *tile)
{
    tile->m_poison = 0;
    tile->cwei_poison = 0;
    for (int i = 0; i < CHIP_WORKERS; i++) {
        WorkerState *w = &tile->worker[i];
        w->m_poison = w->a_poison = 0;
        w->acc_poison = 0;
        w->tas_poison = false;
        w->prng_undefined = 0;
    }
}

TileStop tile_run(TileState *tile, const TileShared *shared, Cycles limit)
{
    if (tile->stop == TILE_STOP_FAULT) {
        return TILE_STOP_FAULT;
    }
    if (tile->stop == TILE_STOP_SYNC_ANS) {
        tile->sans_pending = false; /* called again: the announced barrier is over */
    }
    if ((shared->checks & CHECK_POISON) == 0) {
        forget_poison(tile);
    }
    tile->stop = TILE_STOP_NONE;
    const TileTiming *timing = &shared->timing;
    const bool is_traced = shared->trace && tile->id.id == shared->trace_tile;
    Exec x = {.limit = limit ? limit : NO_LIMIT,
              .tile = tile,
              .shared = shared,
              .m = tile->m,
              .m_poison = &tile->m_poison,
              .poison = (shared->checks & CHECK_POISON) != 0 ? tile->poison : NULL,
              .watch = tile->watch,
              .context = -1};
    for (uint32_t pc_before = tile->pc;; pc_before = x.pc) {
        x.pc = tile->pc;
        x.next_pc = x.pc + 4;
        x.cycle = tile->cycle;
        const Op *op = code_find(tile->code, true, x.pc);
        if (!op) {
            if (x.pc - SRAM_BASE >= SRAM_REGION1 - SRAM_BASE || x.pc % 4 != 0) {
                tile_fault(tile, "INVALID_PC", -1, pc_before, x.cycle,
                           "the next instruction would be at 0x%x", x.pc);
                tile->fault.address = x.pc;
                return TILE_STOP_FAULT;
            }
            op = code_decode(tile, shared, true, x.pc);
        }
        x.cycle = issue_time(tile, timing, op);
        if (x.cycle > x.limit) {
            return tile->stop = TILE_STOP_LIMIT;
        }
        if (is_traced) {
            exec_trace(&x);
        }
        x.is_branch_taken = false;
        tile->instructions++;
        if (x.watch && !watch_issue(&x, op)) {
            return tile->stop;
        }
        TileIssue issue;
        if (__builtin_expect(shared->observer != NULL, 0)) {
            observe_begin(&x, op, &issue);
            issue.allowed = tile->cycle;
            issue.ready = sources_ready(tile, timing, op, &issue.ready_register);
        }
        bool is_poison = (tile->m_poison & op->m_hard) != 0;
        bool goes_on = is_poison ? exec_poison_fault(&x, op) : op->run(&x, op);
        goes_on = goes_on && !(x.watch && tile->stop == TILE_STOP_FAULT);
        if (__builtin_expect(shared->observer != NULL, 0)) {
            observe_end(&x, goes_on, x.cycle + (goes_on ? shadow_of(timing, &x, op) : 0), &issue);
        }
        if (!goes_on && (tile->stop == TILE_STOP_FAULT || tile->stop == TILE_STOP_LIMIT)) {
            return tile->stop;
        }
        tile->pc = x.next_pc;
        if (!goes_on) {
            tile->cycle = x.cycle; /* arrival at the barrier; the release decides when it goes on */
            return tile->stop;
        }
        for (uint32_t written = op->m_write; written != 0; written &= written - 1) {
            tile->m_ready[__builtin_ctz(written)] = x.cycle + timing->sup_result;
        }
        tile->cycle = x.cycle + shadow_of(timing, &x, op);
    }
}
