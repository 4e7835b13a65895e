/* One step of the f16 AMP forms: swap, shift the queue, multiply. isa/semantics.md 10.1, 10.2; tile-timing.md 4.
 *
 * acc[n] is the running sum of row n and acc[16 + n] its place in the queue (tile.h), so that a step is straight vector code
 * over 16 rows. Arithmetic (decisions.md A7): the four products of a dot are exact in double; their sum, in the order of the
 * elements, plus the accumulator is rounded once to f32. Partials and sums flush f32 subnormals.
 */
#include "machine/exec.h"

enum { ROWS = 16, QUEUE = 16, SET_ROWS = 8 };

typedef struct AmpForm {
    bool is_half_in, is_half_out;
    int sets;
} AmpForm;

static AmpForm form_of(uint16_t code)
{
    switch (code) {
    case INSN_f16v4hihov4amp_aaan_ef:
        return (AmpForm){true, true, 2};
    case INSN_f16v4hihoamp_aaan_ef:
        return (AmpForm){true, true, 1};
    case INSN_f16v4sihoamp_aaan_ef:
        return (AmpForm){false, true, 1};
    default:
        return (AmpForm){false, false, 1};
    }
}

/* Exchanges running sums and queue of the rows in use. */
static inline void swap_rows(WorkerState *w, int set, int rows)
{
    float *sum = &w->acc[SET_ROWS * set], *queue = &w->acc[QUEUE + SET_ROWS * set], kept[SET_ROWS];
    size_t bytes = (size_t)rows * sizeof *sum;
    memcpy(kept, sum, bytes);
    memcpy(sum, queue, bytes);
    memcpy(queue, kept, bytes);
    if (w->acc_poison) {
        uint32_t mask = ((1u << rows) - 1) << (SET_ROWS * set);
        uint32_t low = w->acc_poison & mask, high = w->acc_poison >> QUEUE & mask;
        w->acc_poison = (w->acc_poison & ~(mask | mask << QUEUE)) | high | low << QUEUE;
    }
}

/* Drops the head of the queue (already read) and appends a partial pair. */
static inline void push_partial(WorkerState *w, int set, int rows, uint64_t partial,
                                uint32_t poison)
{
    int first = QUEUE + SET_ROWS * set;
    float *queue = &w->acc[first];
    for (int i = 0; i < rows - 2; i += 2) { /* pair by pair, as they were stored */
        uint64_t pair;
        memcpy(&pair, &queue[i + 2], sizeof pair);
        memcpy(&queue[i], &pair, sizeof pair);
    }
    memcpy(&queue[rows - 2], &partial, sizeof partial);
    if (w->acc_poison | poison) {
        uint32_t mask = (1u << rows) - 1, old = w->acc_poison >> first & mask;
        uint32_t now = old >> 2 | poison << (rows - 2);
        w->acc_poison = (w->acc_poison & ~(mask << first)) | now << first;
    }
}

/* Sums that are infinite, NaN or subnormal; `rows` is a bit mask. */
static uint32_t settle_sums(Exec *x, const float *old, float *next, F4 activation,
                            const double (*weight)[ROWS], uint32_t rows)
{
    uint32_t flags = 0;
    for (int n = 0; n < ROWS; n++) {
        bool is_finite_source = is_finite_f32(bits_of_f32(old[n]));
        for (int e = 0; e < 4; e++) {
            double w = weight[e][n];
            is_finite_source =
                is_finite_source && w - w == 0.0 && is_finite_f32(bits_of_f32(activation[e]));
        }
        uint32_t own = 0;
        next[n] = f32_of_bits(f32_result(next[n], is_finite_source, &own));
        bool is_counted = (rows & ~x->worker->acc_poison) >> n & 1;
        flags |= is_counted ? own : 0;
    }
    return flags;
}

/* Rows whose coefficients of this phase are undefined. */
static uint32_t poisoned_rows(const TileState *tile, int phase)
{
    uint32_t rows = 0;
    for (int n = 0; n < ROWS; n++) {
        rows |= (uint32_t)(tile->cwei_poison >> (4 * n + phase) & 1) << n;
    }
    return rows;
}

typedef double D4 __attribute__((vector_size(32)));

/* next[n] = sum[n] + dot(x, weight of row n) for `count` rows; true when a result is infinite, NaN or subnormal. Inlined
 * into a version for any x86-64 and one with wider registers: the same operations, so the same bits. */
static inline __attribute__((always_inline)) bool multiply_as(float *next, const float *sum,
                                                              const double x[4],
                                                              const double (*weight)[ROWS],
                                                              int count)
{
    D4 x0 = {x[0], x[0], x[0], x[0]}, x1 = {x[1], x[1], x[1], x[1]};
    D4 x2 = {x[2], x[2], x[2], x[2]}, x3 = {x[3], x[3], x[3], x[3]};
    I4 odd = {0};
    for (int n = 0; n + 4 <= count; n += 4) {
        D4 w0, w1, w2, w3;
        F4 old;
        memcpy(&w0, &weight[0][n], sizeof w0);
        memcpy(&w1, &weight[1][n], sizeof w1);
        memcpy(&w2, &weight[2][n], sizeof w2);
        memcpy(&w3, &weight[3][n], sizeof w3);
        memcpy(&old, &sum[n], sizeof old);
        D4 dot = ((x0 * w0 + x1 * w1) + x2 * w2) + x3 * w3;
        F4 result = __builtin_convertvector(dot + __builtin_convertvector(old, D4), F4);
        memcpy(&next[n], &result, sizeof result);
        odd |= math_odd((const float *)&result);
    }
    if (count == 2) {
        for (int n = 0; n < 2; n++) {
            double dot = ((x[0] * weight[0][n] + x[1] * weight[1][n]) + x[2] * weight[2][n]) +
                         x[3] * weight[3][n];
            next[n] = (float)(dot + (double)sum[n]);
        }
        odd |= math_odd((const float[4]){next[0], next[1]});
    }
    return mask_any(odd);
}

static inline __attribute__((always_inline)) void
read_partials(const Exec *x, const Op *op, AmpForm form, uint64_t partial[2], uint32_t poison[2])
{
    const WorkerState *w = x->worker;
    const uint32_t *a = &w->a[op->r[2]];
    uint32_t low = w->a_poison >> op->r[2] & 1, high = w->a_poison >> (op->r[2] + 1) & 1;
    if (form.is_half_in) {
        F4 v = floats_of_halves(a[0], form.sets == 2 ? a[1] : 0);
        partial[0] = ((W2)v)[0];
        partial[1] = ((W2)v)[1];
        poison[0] = low ? 3 : 0;
        poison[1] = high && form.sets == 2 ? 3 : 0;
    } else {
        partial[0] = flush_f32(a[0]) | (uint64_t)flush_f32(a[1]) << 32;
        partial[1] = 0;
        poison[0] = low | high << 1;
        poison[1] = 0;
    }
}

/* The finished pairs, as the form delivers them. */
static inline __attribute__((always_inline)) void
deliver(Exec *x, AmpForm form, const uint64_t out[2], uint32_t poison, uint32_t *flags)
{
    if (!form.is_half_out) {
        x->out[0] = (uint32_t)out[0];
        x->out[1] = (uint32_t)(out[0] >> 32);
        x->out_poison = (uint8_t)(poison & 3);
        return;
    }
    F4 v = (F4)(W2){out[0], out[1]};
    x->out_poison = 0;
    if (__builtin_expect(poison != 0, 0)) {
        for (int i = 0; i < 4; i++) {
            v[i] = (poison >> i & 1) != 0 ? 0.0f : v[i];
        }
        x->out_poison = (uint8_t)(((poison & 3) != 0 ? 1 : 0) | ((poison & 12) != 0 ? 2 : 0));
    }
    uint64_t both = exec_round_halves(x, v, flags);
    x->out[0] = (uint32_t)both;
    x->out[1] = (uint32_t)(both >> 32);
}

/* Inlined with constant form and rows for the frequent step. */
static inline __attribute__((always_inline)) bool step(Exec *x, const Op *op, AmpForm form,
                                                       int engines)
{
    WorkerState *w = x->worker;
    int phase = op->imm & 7, rows = SET_ROWS >> engines;
    if (__builtin_expect(engines > 2 || phase > 3, 0)) {
        return EXEC_FAULT(x, "AMP_PHASE", "%s with flag %d", isa_form((InsnCode)op->code)->mnemonic,
                          op->imm);
    }
    x->tile->amp_instructions++;
    uint64_t partial[2], out[2] = {0}; /* pairs of f32 */
    uint32_t partial_poison[2], out_poison = 0, flags = 0, used = 0;
    read_partials(x, op, form, partial, partial_poison);
    for (int set = 0; set < form.sets; set++) {
        if (phase == 0) {
            swap_rows(w, set, rows);
        }
        int head = QUEUE + SET_ROWS * set;
        memcpy(&out[set], &w->acc[head], sizeof out[set]);
        out_poison |= (w->acc_poison >> head & 3) << (2 * set);
        push_partial(w, set, rows, partial[set], partial_poison[set]);
        used |= ((1u << rows) - 1) << (SET_ROWS * set);
    }
    deliver(x, form, out, out_poison, &flags);

    const uint32_t *a = &w->a[op->r[1]];
    F4 activation = floats_of_halves(a[0], a[1]);
    const double(*weight)[ROWS] = (const double(*)[ROWS])x->tile->cwei_f16[phase];
    if ((w->a_poison >> op->r[1] & 3) != 0) {
        w->acc_poison |= used;
    }
    if (x->tile->cwei_poison) {
        w->acc_poison |= poisoned_rows(x->tile, phase) & used;
    }
    const double factor[4] = {(double)activation[0], (double)activation[1], (double)activation[2],
                              (double)activation[3]};
    float next[ROWS];
    bool is_odd = false;
    if (used == 0xffff) {
        is_odd = multiply_as(next, w->acc, factor, weight, ROWS);
    } else {
        memcpy(next, w->acc, sizeof next);
        for (int set = 0; set < form.sets; set++) {
            int first = SET_ROWS * set;
            const double(*rows_of_set)[ROWS] = (const double(*)[ROWS]) & weight[0][first];
            is_odd = multiply_as(next + first, w->acc + first, factor, rows_of_set, rows) || is_odd;
        }
    }
    if (__builtin_expect(is_odd, 0)) {
        flags |= settle_sums(x, w->acc, next, activation, weight, used);
    }
    for (int n = 0; n < ROWS; n += 4) { /* in the pieces that multiply_as stored and reads */
        F4 four;
        memcpy(&four, &next[n], sizeof four);
        memcpy(&w->acc[n], &four, sizeof four);
    }
    return flags == 0 || fp_raise(x, flags, isa_form((InsnCode)op->code)->mnemonic);
}

static bool step_any(Exec *x, const Op *op)
{
    return step(x, op, form_of(op->code), op->imm >> 3);
}

static bool step_wide(Exec *x, const Op *op)
{
    return step(x, op, (AmpForm){true, true, 2}, 0);
}

__attribute__((target("avx2"))) static bool step_wide_avx2(Exec *x, const Op *op)
{
    return step(x, op, (AmpForm){true, true, 2}, 0);
}

Executor exec_amp_find(InsnCode code, int flag)
{
    if (code != INSN_f16v4hihov4amp_aaan_ef || flag >> 3 != 0) {
        return step_any;
    }
    return __builtin_cpu_supports("avx2") ? step_wide_avx2 : step_wide;
}
