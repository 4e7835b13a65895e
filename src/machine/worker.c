/* One worker from launch to exit. isa/semantics.md 1.2, 3.1; tile-timing.md 2.
 *
 * A worker sees no latencies: it issues one word or bundle every six clocks in its own slot. In a bundle the aux half is
 * computed first into Exec.out, the main half runs against the old registers, then the aux result is committed: both halves
 * read the state from before the bundle. Workers of one launch run one after another, which is exact as long as they do not
 * talk to each other through memory, and nothing in the tile could order such a talk.
 */
#include "machine/exec.h"
#include "machine/workbench.h"

static void commit(WorkerState *w, const Exec *x, const Op *op)
{
    if (op->result_count == 0) {
        return;
    }
    uint32_t r = op->result, mask = 1u << r, poison = x->out_poison & 1u;
    w->a[r] = x->out[0];
    if (op->result_count == 2) {
        w->a[r + 1] = x->out[1];
        mask = 3u << r;
        poison = x->out_poison & 3u;
    }
    if (__builtin_expect((w->a_poison | poison) != 0, 0)) {
        w->a_poison = (uint16_t)((w->a_poison & ~mask) | poison << r);
    }
}

static inline bool run_aux(Exec *x, const Op *op)
{
    uint32_t poison = x->worker->a_poison;
    x->out_poison = 0;
    if (__builtin_expect(poison != 0, 0)) {
        x->out_poison = (uint8_t)(((poison & op->a_lane[0]) != 0 ? 1 : 0) |
                                  ((poison & op->a_lane[1]) != 0 ? 2 : 0));
    }
    return op->run(x, op);
}

static inline bool run_main(Exec *x, const Op *op)
{
    if (__builtin_expect((*x->m_poison & op->m_hard) != 0, 0)) {
        return exec_poison_fault(x, op);
    }
    return op->run(x, op);
}

/* Lower CSRs of a worker: registers.md 4.1, 4.3. */
static bool get_csr(Exec *x, const Op *op, uint32_t *value)
{
    const WorkerState *w = x->worker;
    switch (op->imm) {
    case CSR_PC:
        *value = x->pc;
        return true;
    case CSR_DBG_DATA:
        *value = w->dbg_data;
        return true;
    case CSR_DBG_BRK_ID:
        *value = w->dbg_brk_id;
        return true;
    case CSR_WSR:
        *value = (uint32_t)x->context;
        return true;
    case CSR_VERTEX_BASE:
        *value = w->vertex_base;
        return true;
    case CSR_WORKER_BASE:
        *value = w->worker_base;
        return true;
    case CSR_REPEAT_COUNT:
        *value = w->rpt_count;
        return true;
    case CSR_REPEAT_FIRST:
        *value = w->rpt_first;
        return true;
    case CSR_REPEAT_END:
        *value = w->rpt_end;
        return true;
    case CSR_COUNT_L:
        *value = (uint32_t)x->cycle;
        return true;
    case CSR_COUNT_U:
        *value = (uint32_t)(x->cycle >> 32);
        return true;
    default:
        return EXEC_FAULT(x, "INVALID_CSR", "get of 0x%x by a worker", (unsigned)op->imm);
    }
}

bool worker_csr(Exec *x, const Op *op)
{
    if (op->code == INSN_get_mmmn_zi) {
        uint32_t value;
        if (!get_csr(x, op, &value)) {
            return false;
        }
        x->m[op->r[0]] = value;
        x->m[15] = 0;
        *x->m_poison &= (uint16_t)~op->m_write;
        return true;
    }
    if (op->imm == CSR_DBG_DATA) {
        x->worker->dbg_data = x->m[op->r[1]];
        return true;
    }
    bool is_known = csr_name(op->imm, CONTEXT_WORKER).len != 0;
    return EXEC_FAULT(x, is_known ? "CSR_READ_ONLY" : "INVALID_CSR", "put to 0x%x by a worker",
                      (unsigned)op->imm);
}

static bool repeat_fault(Exec *x)
{
    return EXEC_FAULT(x, "REPEAT_BODY", "repeat body 0x%x..0x%x", x->worker->rpt_first,
                      x->worker->rpt_end);
}

/* Decodes at pc or faults; x->pc is still the instruction that leads there. */
static const Op *fetch(Exec *x, uint32_t pc)
{
    if (pc - SRAM_BASE >= SRAM_REGION1 - SRAM_BASE || pc % 4 != 0) {
        (void)EXEC_FAULT(x, "INVALID_PC", "the next instruction would be at 0x%x", pc);
        x->tile->fault.address = pc;
        return NULL;
    }
    return code_decode(x->tile, x->shared, false, pc);
}

/* The decoded bundles of a repeat body that lies in one page and holds nothing forbidden; NULL otherwise. */
static const Op *plain_body(const Exec *x, const CodePage **page, uint32_t *page_number)
{
    const WorkerState *w = x->worker;
    const CodeCache *code = x->tile->code;
    uint32_t first = w->rpt_first - SRAM_BASE, last = w->rpt_end - 8 - SRAM_BASE;
    if (last >= SRAM_REGION1 - SRAM_BASE || first / CODE_PAGE_BYTES != last / CODE_PAGE_BYTES) {
        return NULL;
    }
    *page_number = first / CODE_PAGE_BYTES;
    *page = code->page[0][*page_number];
    if (!*page) {
        return NULL;
    }
    const Op *body = &(*page)->op[first / 4 % CODE_PAGE_WORDS],
             *end = body + (last - first) / 4 + 2;
    for (const Op *op = body; op < end; op += 2) {
        if ((op->flags & OP_REPEATABLE) == 0) {
            return NULL;
        }
    }
    return body;
}

/* Passes of a repeat body without looking at pc, since nothing in it can branch. Leaves w->rpt_count and next_pc as the slow path
 * expects them when the body's page changes under it, or behind the last pass. False: fault or limit. */
static bool run_repeat(Exec *x, const Op *body, const CodePage *page, uint32_t page_number)
{
    WorkerState *w = x->worker;
    CodePage *const *current = &x->tile->code->page[0][page_number];
    const TileTiming *timing = &x->shared->timing;
    const Cycles rotation = timing->worker_rotation;
    const uint32_t first = w->rpt_first, end = w->rpt_end;
    int64_t issued = 0;
    bool is_good = true;
    while (is_good && w->rpt_count != 0) {
        const Op *op = body;
        uint32_t pc = first;
        for (; pc != end; pc += 8, op += 2) {
            const Op *aux = op + 1;
            if (*current != page) {
                break;
            }
            x->pc = pc;
            issued++;
            if (!run_aux(x, aux) || !run_main(x, op)) {
                is_good = false;
                break;
            }
            commit(w, x, aux);
            x->cycle += (aux->flags & OP_SLOW) != 0 ? rotation * op_issues(timing, aux) : rotation;
            if (x->cycle > x->limit) {
                x->tile->stop = TILE_STOP_LIMIT;
                is_good = false;
                break;
            }
        }
        if (pc != end) {
            x->next_pc = pc;
            break;
        }
        w->rpt_count--;
        x->next_pc = w->rpt_count ? first : end;
    }
    x->tile->instructions += issued;
    return is_good;
}

/* One word or bundle at x->pc, decoded as `op`. */
static inline bool run_one(Exec *x, const Op *op)
{
    WorkerState *w = x->worker;
    const TileTiming *timing = &x->shared->timing;
    const Op *aux = (op->flags & OP_BUNDLE) != 0 ? op + 1 : (op->flags & OP_AUX) != 0 ? op : NULL;
    const Op *main = aux == op ? NULL : op;
    if ((op->flags & OP_SECOND) != 0) {
        return EXEC_FAULT(x, "MISALIGNED_BUNDLE", "entered at its second word");
    }
    if (w->rpt_count != 0 && (op->flags & OP_REPEATABLE) == 0) {
        return repeat_fault(x);
    }
    x->next_pc = x->pc + ((op->flags & OP_BUNDLE) != 0 ? 8 : 4);
    if (aux && !run_aux(x, aux)) {
        return false;
    }
    if (main && !run_main(x, main)) {
        return false;
    }
    int issues = 1;
    if (aux) {
        commit(w, x, aux);
        issues = (aux->flags & OP_SLOW) != 0 ? op_issues(timing, aux) : 1;
    }
    if (x->is_exited) {
        return true;
    }
    if (w->rpt_count != 0 && x->next_pc == w->rpt_end && --w->rpt_count != 0) {
        x->next_pc = w->rpt_first;
    }
    x->cycle += issues * timing->worker_rotation;
    return true;
}

/* run_one with a trace line or an observer. */
static __attribute__((noinline)) bool run_observed(Exec *x, const Op *op, bool is_traced)
{
    if (is_traced) {
        exec_trace(x);
    }
    if (!x->shared->observer) {
        return run_one(x, op);
    }
    TileIssue issue;
    observe_begin(x, op, &issue);
    bool is_good = run_one(x, op);
    observe_end(x, is_good, x->cycle + (x->is_exited ? x->shared->timing.worker_slot_return : 0),
                &issue);
    return is_good;
}

static Exec open_worker(TileState *tile, const TileShared *shared, int number, Cycles limit)
{
    WorkerState *w = &tile->worker[number];
    return (Exec){.limit = limit,
                  .tile = tile,
                  .shared = shared,
                  .worker = w,
                  .m = w->m,
                  .m_poison = &w->m_poison,
                  .poison = (shared->checks & CHECK_POISON) != 0 ? tile->poison : NULL,
                  .watch = tile->watch,
                  .context = number,
                  .next_pc = w->pc,
                  .cycle = w->start_cycle};
}

static void close_worker(const Exec *x)
{
    x->worker->pc = x->pc;
    x->worker->end_cycle = x->cycle;
}

/* Moves to next_pc; NULL: fault. */
static inline const Op *next_op(Exec *x)
{
    uint32_t pc = x->next_pc;
    const Op *op = code_find(x->tile->code, false, pc);
    if (!op && !(op = fetch(x, pc))) {
        return NULL;
    }
    x->pc = pc;
    return op;
}

/* One issue; false: fault or limit. */
static inline bool issue_one(Exec *x, const Op *op, bool is_observed, bool is_traced)
{
    TileState *tile = x->tile;
    tile->instructions++;
    if (__builtin_expect(x->watch != NULL, 0) && !watch_issue(x, op)) {
        return false;
    }
    bool is_good = is_observed ? run_observed(x, op, is_traced) : run_one(x, op);
    if (__builtin_expect(!is_good || (x->watch && tile->stop == TILE_STOP_FAULT), 0)) {
        return false;
    }
    if (__builtin_expect(x->cycle > x->limit, 0)) {
        tile->stop = TILE_STOP_LIMIT;
        return false;
    }
    return true;
}

bool workers_run_interleaved(TileState *tile, const TileShared *shared, Cycles limit)
{
    Exec context[CHIP_WORKERS];
    for (int w = 0; w < CHIP_WORKERS; w++) {
        context[w] = open_worker(tile, shared, w, limit);
    }
    for (;;) {
        Exec *x = NULL;
        for (int w = 0; w < CHIP_WORKERS; w++) {
            if (!context[w].is_exited && (!x || context[w].cycle < x->cycle)) {
                x = &context[w];
            }
        }
        if (!x) {
            return true;
        }
        const Op *op = next_op(x);
        if (!op || !issue_one(x, op, false, false)) {
            return false;
        }
        if (x->is_exited) {
            close_worker(x);
        }
    }
}

bool worker_run(TileState *tile, const TileShared *shared, int number, Cycles limit)
{
    WorkerState *w = &tile->worker[number];
    const bool is_traced = shared->trace && tile->id.id == shared->trace_tile;
    const bool is_observed = is_traced || shared->observer;
    const bool is_plain = !is_observed && !tile->watch; /* nobody looks at single issues */
    Exec x = open_worker(tile, shared, number, limit);
    while (!x.is_exited) {
        const Op *op = next_op(&x);
        if (!op) {
            return false;
        }
        if ((op->flags & OP_AMP) != 0 && is_plain) {
            AmpRun run = exec_amp_run(&x, op);
            if (run == AMP_RUN_STOPPED) {
                return false;
            }
            if (run == AMP_RUN_DONE) {
                continue;
            }
        }
        if (w->rpt_count != 0 && x.pc == w->rpt_first && is_plain) {
            uint32_t page_number;
            const CodePage *page;
            const Op *body = plain_body(&x, &page, &page_number);
            if (body) {
                if (!run_repeat(&x, body, page, page_number)) {
                    return false;
                }
                continue;
            }
        }
        if (!issue_one(&x, op, is_observed, is_traced)) {
            return false;
        }
    }
    close_worker(&x);
    return true;
}
