/* One worker from launch to exit. isa/semantics.md 1.2, 3.1; tile-timing.md 2.
 *
 * A worker sees no latencies: it issues one word or bundle every six clocks in its own slot. In a bundle the aux half is
 * computed first into Exec.out, the main half runs against the old registers, then the aux result is committed: both halves
 * read the state from before the bundle. Workers of one launch run one after another, which is exact as long as they do not
 * talk to each other through memory, and nothing in the tile could order such a talk.
 */
#include "machine/exec.h"

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
    w->a_poison = (uint16_t)((w->a_poison & ~mask) | poison << r);
}

static inline bool run_aux(Exec *x, const Op *op)
{
    return op->class == CLASS_AUX ? exec_aux(x, op) : exec_acc(x, op);
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

/* Decodes at pc or faults. */
static const Op *fetch(Exec *x, uint32_t pc)
{
    if (pc - SRAM_BASE >= SRAM_REGION1 - SRAM_BASE || pc % 4 != 0) {
        tile_fault(x->tile, "INVALID_PC", x->context, pc, x->cycle, "worker at 0x%x", pc);
        return NULL;
    }
    return code_decode(x->tile, x->shared, false, pc);
}

bool worker_run(TileState *tile, const TileShared *shared, int number, Cycles limit)
{
    WorkerState *w = &tile->worker[number];
    const CodeCache *code = tile->code;
    const bool is_traced = shared->trace && tile->id.id == shared->trace_tile;
    const int rotation = shared->timing.worker_rotation;
    Exec x = {.tile = tile,
              .shared = shared,
              .worker = w,
              .m = w->m,
              .m_poison = &w->m_poison,
              .poison = shared->poison_off ? NULL : tile->poison,
              .context = number,
              .next_pc = w->pc,
              .cycle = w->start_cycle};
    for (;;) {
        uint32_t pc = x.pc = x.next_pc;
        const Op *op = code_find(code, false, pc);
        if (!op && !(op = fetch(&x, pc))) {
            return false;
        }
        if (__builtin_expect(is_traced, 0)) {
            exec_trace(&x);
        }
        tile->instructions++;
        int issues = 1;
        if ((op->flags & OP_BUNDLE) != 0) {
            const Op *aux = op + 1;
            if (w->rpt_count != 0 && (op->flags & OP_REPEATABLE) == 0) {
                return repeat_fault(&x);
            }
            x.next_pc = pc + 8;
            if ((aux->flags & OP_SLOW) != 0) {
                issues = op_issues(&shared->timing, aux);
            }
            if (!run_aux(&x, aux) || !exec_main(&x, op)) {
                return false;
            }
            commit(w, &x, aux);
        } else {
            if (w->rpt_count != 0) {
                return repeat_fault(&x);
            }
            x.next_pc = pc + 4;
            if ((op->flags & OP_AUX) != 0) {
                issues = (op->flags & OP_SLOW) != 0 ? op_issues(&shared->timing, op) : 1;
                if (!run_aux(&x, op)) {
                    return false;
                }
                commit(w, &x, op);
            } else if (!exec_main(&x, op)) {
                return false;
            }
            if (x.is_exited) {
                break;
            }
        }
        if (w->rpt_count != 0 && x.next_pc == w->rpt_end && --w->rpt_count != 0) {
            x.next_pc = w->rpt_first;
        }
        x.cycle += issues * rotation;
        if (__builtin_expect(x.cycle > limit, 0)) {
            tile->stop = TILE_STOP_LIMIT;
            return false;
        }
    }
    w->pc = x.pc;
    w->end_cycle = x.cycle;
    return true;
}
