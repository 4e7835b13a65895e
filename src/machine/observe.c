/* Telling an observer (workbench.h) of one issue. observe_begin looks at what is known only before the instruction executes,
 * observe_end at what it did. Called only when there is an observer, so that nothing here needs to be fast.
 */
#include "machine/exec.h"
#include "machine/workbench.h"

/* Where a store form will store: the addresses of exec_memory.c, before pointers move. */
static void find_store(const Exec *x, const Op *op, TileIssue *issue)
{
    const uint32_t *m = x->m;
    const MemoryForm form = op->memory;
    int pointers = -1; /* operand that holds packed addresses */
    switch (op->code) {
    case INSN_st64pace_mbmn_ef:
        pointers = 1;
        break;
    case INSN_ldst64pace_mbbn_ef:
    case INSN_ld2xst64pace_mbbn_ef:
        pointers = 2;
        break;
    default:
        break;
    }
    if (pointers >= 0) {
        const uint32_t *packed = &m[op->r[pointers]];
        issue->store_address = (packed[0] >> 21 & 0x7ff) | (packed[1] >> 21 & 0x3ff) << 11;
        issue->store_bytes = 8;
        return;
    }
    if (op->kind != CLASS_MEMORY || (form.move != MOVE_STORE_M && form.move != MOVE_STORE_A)) {
        return;
    }
    uint32_t base = m[op->r[1]], address = base;
    if (form.mode == MODE_OFFSET) {
        uint32_t offset = op->r[3] == OP_IMMEDIATE ? (uint32_t)op->imm : m[op->r[3]];
        address = base + m[op->r[2]] + offset * form.bytes;
    } else if (form.mode == MODE_STEP) {
        address = base + m[op->r[2]];
    } else if (form.mode == MODE_MAIN_OFFSET) {
        address = base + m[op->r[2]] * form.bytes;
    }
    issue->store_address = address & ADDRESS_MASK;
    issue->store_bytes = form.bytes;
}

void observe_begin(const Exec *x, const Op *op, TileIssue *issue)
{
    bool is_bundle = (op->flags & OP_BUNDLE) != 0;
    *issue = (TileIssue){.context = x->context,
                         .cycle = x->cycle,
                         .pc = x->pc,
                         .words = is_bundle || op->code == INSN_sendpicp_x ? 2 : 1,
                         .rotations = 1,
                         .is_first = x->worker && x->cycle == x->worker->start_cycle};
    for (int i = 0; i < 2 && x->pc + 4 * (uint32_t)i < SRAM_END; i++) {
        memcpy(&issue->word[i], sram_at(x, x->pc + 4 * (uint32_t)i), 4);
    }
    issue->m_written = op->m_write;
    issue->a_written = (uint8_t)(op->a_write | (is_bundle ? op[1].a_write : 0));
    find_store(x, op, issue);
}

void observe_end(const Exec *x, bool is_good, Cycles next, TileIssue *issue)
{
    issue->next = next;
    (void)is_good;
    issue->is_refused = x->tile->stop == TILE_STOP_FAULT;
    issue->is_exit = x->is_exited;
    issue->is_jump = x->next_pc != x->pc + 4 * (uint32_t)issue->words;
    issue->m = x->m;
    issue->m_undefined = *x->m_poison & issue->m_written;
    if (x->worker) {
        const int rotation = x->shared->timing.worker_rotation;
        issue->rotations = x->is_exited ? 1 : (int)(next - issue->cycle) / rotation;
        issue->a = x->worker->a;
        issue->a_undefined = (uint8_t)(x->worker->a_poison & issue->a_written);
    }
    if (issue->is_refused) {
        issue->m_written = 0;
        issue->a_written = 0;
        issue->store_bytes = 0;
    }
    x->shared->observer->issue(x->shared->observer->context, issue);
}
