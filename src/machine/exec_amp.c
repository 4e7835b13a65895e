/* One step of the AMP forms: swap, shift the queue, multiply. isa/semantics.md 10.1 to 10.3; tile-timing.md 4.
 *
 * A plain version does every form; the frequent ones (sixteen rows, four engines) have vector versions in exec_amp_wide.c with the
 * same bits, which come here whenever something is undefined, infinite, subnormal or rounded specially.
 */
#include "machine/amp.h"

/* Exchanges running sums and queue of the rows in use. */
static void swap_rows(WorkerState *w, int set, int rows)
{
    float *sum = &w->acc[AMP_SET_ROWS * set], *queue = &w->acc[AMP_QUEUE + AMP_SET_ROWS * set];
    for (int n = 0; n < rows; n++) {
        uint32_t kept = bits_of_f32(sum[n]);
        sum[n] = queue[n];
        queue[n] = f32_of_bits(kept);
    }
    uint32_t mask = ((1u << rows) - 1) << (AMP_SET_ROWS * set);
    uint32_t low = w->acc_poison & mask, high = w->acc_poison >> AMP_QUEUE & mask;
    w->acc_poison = (w->acc_poison & ~(mask | mask << AMP_QUEUE)) | high | low << AMP_QUEUE;
}

/* Drops the head of the queue (already read) and appends a partial pair. */
static void push_partial(WorkerState *w, int set, int rows, uint64_t partial, uint32_t poison)
{
    int first = AMP_QUEUE + AMP_SET_ROWS * set;
    float *queue = &w->acc[first];
    memmove(queue, queue + 2, (size_t)(rows - 2) * sizeof *queue);
    memcpy(&queue[rows - 2], &partial, sizeof partial);
    uint32_t mask = (1u << rows) - 1, old = w->acc_poison >> first & mask;
    uint32_t now = old >> 2 | poison << (rows - 2);
    w->acc_poison = (w->acc_poison & ~(mask << first)) | now << first;
}

/* Queue head of a set, with its poison (two bits). */
static uint64_t head_of(const WorkerState *w, int set, uint32_t *poison)
{
    uint64_t pair;
    int head = AMP_QUEUE + AMP_SET_ROWS * set;
    memcpy(&pair, &w->acc[head], sizeof pair);
    *poison = w->acc_poison >> head & 3;
    return pair;
}

/* The rows of the sets in use: acc += dot. */
static uint32_t multiply(Exec *x, const Op *op, AmpForm form, int phase, int rows)
{
    WorkerState *w = x->worker;
    uint32_t flags = 0, used = (1u << rows) - 1;
    used |= form.sets == 2 ? used << AMP_SET_ROWS : 0;
    AmpWeights weight = amp_weights(x, form.source, phase);
    double v[AMP_ELEMENTS_MAX];
    amp_activations(x, op, form.source, v);
    if (amp_is_activation_undefined(x, op, form.source)) {
        w->acc_poison |= used;
    }
    w->acc_poison |= amp_undefined_rows(x->tile, form.source, phase) & used;
    for (uint32_t left = used; left != 0; left &= left - 1) {
        int n = __builtin_ctz(left);
        uint32_t own = 0;
        w->acc[n] = amp_row(w->acc[n], v, weight, n, amp_elements(form.source), &own);
        flags |= (w->acc_poison >> n & 1) != 0 ? 0 : own;
    }
    return flags;
}

/* Sets whose queue moves in this phase: all; the f32 forms take two phases a pair, one for each set (10.3). */
static bool queue_moves(AmpForm form, int set, int phase)
{
    return form.source != SOURCE_F32 || phase % 2 == set;
}

bool exec_amp_step(Exec *x, const Op *op)
{
    WorkerState *w = x->worker;
    AmpForm form = amp_form(op->code);
    int engines = op->imm >> 3, phase = op->imm & 7, rows = AMP_SET_ROWS >> engines;
    if (engines > 2 || phase > (form.source == SOURCE_F32 ? 7 : 3)) {
        return EXEC_FAULT(x, "AMP_PHASE", "%s with flag %d", isa_form((InsnCode)op->code)->mnemonic,
                          op->imm);
    }
    x->tile->amp_instructions++;
    uint64_t partial[2], out[2] = {0}; /* pairs of f32 */
    uint32_t partial_poison[2], out_poison = 0, flags = 0;
    amp_partials(x, op, form, partial, partial_poison);
    bool has_result = false;
    for (int set = 0; set < form.sets; set++) {
        if (phase == 0) {
            swap_rows(w, set, rows);
        }
        if (!queue_moves(form, set, phase)) {
            continue;
        }
        /* An f32 form has one result pair whatever the set. */
        int place = form.source == SOURCE_F32 ? 0 : set;
        uint32_t poison;
        out[place] = head_of(w, set, &poison);
        out_poison |= poison << (2 * place);
        push_partial(w, set, rows, partial[place], partial_poison[place]);
        has_result = true;
    }
    amp_deliver(x, form, out, out_poison, &flags);
    if (!has_result) {
        x->out_poison = x->poison ? 3 : 0; /* odd phases of f32sisoamp: undocumented */
    }
    flags |= multiply(x, op, form, phase, rows);
    if (form.source == SOURCE_F32) {
        amp_destroy_tas(x);
    }
    return flags == 0 || fp_raise(x, flags, isa_form((InsnCode)op->code)->mnemonic);
}

Executor exec_amp_find(InsnCode code, int flag, MachineVectors vectors)
{
    bool is_wide = code == INSN_f16v4hihov4amp_aaan_ef || code == INSN_f8v8hihov4amp_aaan_ef;
    return is_wide && flag >= 0 && flag <= 3 ? exec_amp_wide_find(code, vectors) : exec_amp_step;
}
