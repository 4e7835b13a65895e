/* One step of the SLIC forms (slim convolution): a chain of stages a channel. isa/semantics.md 10.4.
 *
 * Channel e of a set runs through the even accumulators AACC[12 + 2e], [8 + 2e], [4 + 2e], [2e] = acc[6 + e] ... acc[e] (tile.h);
 * 1x4 enters at the first, 1x3 at the second. Each step moves every stage on by one and adds the product of the stage's row;
 * weights are those of phase column W.
 *
 * The f32 forms take two instructions a step, for the low and the high word of the weights. How they are told apart, and what
 * the second returns, is not documented: UNKNOWN; `--unknown=assume` uses flag bit 2 for the high word (flags.def), shifts in the
 * first, and takes the second set's partial and result in the second (docs/machine.md).
 */
#include "machine/amp.h"

enum { CHANNELS = 2, GROUP_MASK = 3, HIGH_WORD = 4, WINDOW_SHIFT = 3 };

typedef struct Step {
    AmpForm form;
    AmpWeights weight;
    double v[AMP_ELEMENTS_MAX];
    int stages;
    bool is_activation_undefined, is_shifting;
    uint32_t undefined_rows;
} Step;

/* Moves the chain of one set on and returns what left it. partial and result are pairs of f32. */
static uint64_t advance(Exec *x, const Step *step, int set, uint64_t partial,
                        uint32_t partial_poison, uint32_t *poison, uint32_t *flags)
{
    WorkerState *w = x->worker;
    uint32_t left[CHANNELS];
    *poison = 0;
    for (int e = 0; e < CHANNELS; e++) {
        int tail = AMP_SET_ROWS * set + e; /* the last stage */
        left[e] = bits_of_f32(w->acc[tail]);
        *poison |= (w->acc_poison >> tail & 1) << e;
        for (int s = 0; s < step->stages; s++) {
            int n = tail + CHANNELS * s, source = step->is_shifting ? n + CHANNELS : n;
            bool is_first = s == step->stages - 1;
            float sum = is_first && step->is_shifting ? f32_of_bits((uint32_t)(partial >> (32 * e)))
                                                      : w->acc[source];
            bool is_undefined = is_first && step->is_shifting ? (partial_poison >> e & 1) != 0
                                                              : (w->acc_poison >> source & 1) != 0;
            is_undefined = is_undefined || step->is_activation_undefined ||
                           (step->undefined_rows >> n & 1) != 0;
            uint32_t own = 0;
            w->acc[n] =
                amp_row(sum, step->v, step->weight, n, amp_elements(step->form.source), &own);
            w->acc_poison = (w->acc_poison & ~(1u << n)) | (uint32_t)is_undefined << n;
            *flags |= is_undefined ? 0 : own;
        }
    }
    return left[0] | (uint64_t)left[1] << 32;
}

static bool begin(Exec *x, const Op *op, Step *step)
{
    int window = op->imm >> WINDOW_SHIFT, group = op->imm & GROUP_MASK;
    bool is_high = (op->imm & HIGH_WORD) != 0;
    AmpForm form = amp_form(op->code);
    if (window > 1 || (is_high && form.source != SOURCE_F32)) {
        return EXEC_FAULT(x, "SLIC_FLAG", "%s with flag %d", isa_form((InsnCode)op->code)->mnemonic,
                          op->imm);
    }
    int phase = form.source == SOURCE_F32 ? 2 * group + is_high : group;
    *step = (Step){.form = form,
                   .weight = amp_weights(x, form.source, phase),
                   .stages = 3 + window,
                   .is_activation_undefined = amp_is_activation_undefined(x, op, form.source),
                   .is_shifting = !is_high,
                   .undefined_rows = amp_undefined_rows(x->tile, form.source, phase)};
    amp_activations(x, op, form.source, step->v);
    x->tile->amp_instructions++;
    return true;
}

static bool slic(Exec *x, const Op *op)
{
    Step step;
    if (!begin(x, op, &step)) {
        return false;
    }
    uint64_t partial[2], out[2] = {0};
    uint32_t partial_poison[2], out_poison = 0, flags = 0;
    amp_partials(x, op, step.form, partial, partial_poison);
    for (int set = 0; set < step.form.sets; set++) {
        uint32_t poison;
        out[set] = advance(x, &step, set, partial[set], partial_poison[set], &poison, &flags);
        out_poison |= poison << (2 * set);
    }
    amp_deliver(x, step.form, out, out_poison, &flags);
    return flags == 0 || fp_raise(x, flags, isa_form((InsnCode)op->code)->mnemonic);
}

/* Adds a pair to the first stage of a set; the f32 forms only. */
static void add_partial(WorkerState *w, const Step *step, int set, uint64_t partial,
                        uint32_t poison, uint32_t *flags)
{
    for (int e = 0; e < CHANNELS; e++) {
        int n = AMP_SET_ROWS * set + e + CHANNELS * (step->stages - 1);
        float term = f32_of_bits((uint32_t)(partial >> (32 * e)));
        uint32_t own = 0;
        double sum = (double)w->acc[n] + (double)term;
        w->acc[n] = f32_of_bits(f32_result((float)sum, sum - sum == 0.0, &own));
        w->acc_poison |= (poison >> e & 1) << n;
        *flags |= (w->acc_poison >> n & 1) != 0 ? 0 : own;
    }
}

static bool slic_f32(Exec *x, const Op *op)
{
    Step step;
    if (!EXEC_ASSUME(x, SLIC_F32, "%s with flag %d", isa_form((InsnCode)op->code)->mnemonic,
                     op->imm) ||
        !begin(x, op, &step)) {
        return false;
    }
    WorkerState *w = x->worker;
    int second_result =
        AMP_QUEUE + AMP_SET_ROWS; /* what left set 1, until the second instruction */
    uint64_t partial[2], out[2] = {0};
    uint32_t partial_poison[2], poison[2] = {0}, flags = 0;
    amp_partials(x, op, step.form, partial, partial_poison);
    for (int set = 0; set < step.form.sets; set++) {
        bool is_own = set == 0;
        out[set] = advance(x, &step, set, is_own ? partial[0] : 0, is_own ? partial_poison[0] : 0,
                           &poison[set], &flags);
    }
    if (!step.is_shifting) {
        add_partial(w, &step, step.form.sets - 1, partial[0], partial_poison[0], &flags);
    }
    if (step.form.sets == 1) {
        poison[0] = step.is_shifting || !x->poison ? poison[0] : 3;
    } else if (step.is_shifting) {
        memcpy(&w->acc[second_result], &out[1], sizeof out[1]);
        w->acc_poison = (w->acc_poison & ~(3u << second_result)) | poison[1] << second_result;
    } else {
        memcpy(&out[0], &w->acc[second_result], sizeof out[0]);
        poison[0] = w->acc_poison >> second_result & 3;
    }
    amp_deliver(x, step.form, out, poison[0], &flags);
    amp_destroy_tas(x);
    return flags == 0 || fp_raise(x, flags, isa_form((InsnCode)op->code)->mnemonic);
}

Executor exec_slic_find(InsnCode code)
{
    return amp_form((uint16_t)code).source == SOURCE_F32 ? slic_f32 : slic;
}
