/* The frequent AMP step, sixteen rows and four engines, in vector code: f16v4hihov4amp and f8v8hihov4amp. Same bits as
 * exec_amp_step on any host; anything undefined, infinite, subnormal or rounded specially is left to it before a state changes.
 *
 * Products of halves and of FP8 numbers are exact in double, so a fused multiply-add rounds as a product and a sum do.
 */
#include "machine/amp_avx512.h"

typedef double D4 __attribute__((vector_size(32)));

/* --- any x86-64, and wider registers of AVX2 */

static inline __attribute__((always_inline)) bool step_generic(Exec *x, const Op *op,
                                                               AmpSource source)
{
    WorkerState *w = x->worker;
    uint64_t partial_halves = amp_pair(&w->a[op->r[2]]);
    if (amp_is_unusual(x, op)) {
        return exec_amp_step(x, op);
    }
    int phase = op->imm & 7;
    const float *sum = phase == 0 ? &w->acc[AMP_QUEUE] : w->acc;
    const float *queue = phase == 0 ? w->acc : &w->acc[AMP_QUEUE];
    double v[AMP_ELEMENTS_MAX];
    amp_activations(x, op, source, v);
    AmpWeights weight = amp_weights(x, source, phase);
    float next[AMP_ROWS];
    I4 odd = {0};
    for (int n = 0; n < AMP_ROWS; n += 4) {
        D4 dot, factor;
        memcpy(&factor, &weight[0][n], sizeof factor);
        dot = factor * v[0];
        for (int e = 1; e < (source == SOURCE_F8 ? 8 : 4); e++) {
            memcpy(&factor, &weight[e][n], sizeof factor);
            dot += factor * v[e];
        }
        F4 old;
        memcpy(&old, &sum[n], sizeof old);
        F4 result = __builtin_convertvector(dot + __builtin_convertvector(old, D4), F4);
        memcpy(&next[n], &result, sizeof result);
        odd |= math_odd((const float *)&result);
    }
    I4 special;
    F4 finished = {queue[0], queue[1], queue[8], queue[9]};
    U4 halves = halves_of_floats(finished, &special);
    if (mask_any(odd | special)) {
        return exec_amp_step(x, op);
    }
    F4 partial = amp_partial_halves((uint32_t)partial_halves, (uint32_t)(partial_halves >> 32));
    float moved[AMP_ROWS];
    for (int set = 0; set < 2; set++) {
        memcpy(&moved[AMP_SET_ROWS * set], &queue[AMP_SET_ROWS * set + 2], 6 * sizeof *queue);
        moved[AMP_SET_ROWS * set + 6] = partial[2 * set];
        moved[AMP_SET_ROWS * set + 7] = partial[2 * set + 1];
    }
    memcpy(w->acc, next, sizeof next);
    memcpy(&w->acc[AMP_QUEUE], moved, sizeof moved);
    H4 narrow = __builtin_convertvector(halves, H4);
    memcpy(x->out, &narrow, sizeof narrow);
    x->out_poison = 0;
    x->tile->amp_instructions++;
    return true;
}

static bool halves_generic(Exec *x, const Op *op)
{
    return step_generic(x, op, SOURCE_F16);
}

static bool f8_generic(Exec *x, const Op *op)
{
    return step_generic(x, op, SOURCE_F8);
}

__attribute__((target("avx2"))) static bool halves_avx2(Exec *x, const Op *op)
{
    return step_generic(x, op, SOURCE_F16);
}

__attribute__((target("avx2"))) static bool f8_avx2(Exec *x, const Op *op)
{
    return step_generic(x, op, SOURCE_F8);
}

/* --- AVX-512 */

static inline __attribute__((always_inline)) AVX512 bool step_avx512(Exec *x, const Op *op,
                                                                     WideKind kind)
{
    WorkerState *w = x->worker;
    if (__builtin_expect(amp_is_unusual(x, op), 0)) {
        return exec_amp_step(x, op);
    }
    AmpSource source = kind == WIDE_HALVES ? SOURCE_F16 : SOURCE_F8;
    const double *weight = (const double *)amp_weights(x, source, op->imm & 7);
    WideNumbers numbers = wide_numbers(x, kind);
    WideSums sums = wide_load(w);
    uint64_t out;
    if (!wide_step(w, op, kind, weight, &numbers, &sums, &out)) {
        return exec_amp_step(x, op);
    }
    wide_store(w, sums);
    memcpy(x->out, &out, sizeof out);
    x->out_poison = 0;
    x->tile->amp_instructions++;
    return true;
}

AVX512 static bool halves_avx512(Exec *x, const Op *op)
{
    return step_avx512(x, op, WIDE_HALVES);
}

AVX512 static bool f8_avx512(Exec *x, const Op *op)
{
    return step_avx512(x, op, WIDE_F8);
}

bool amp_has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
}

Executor exec_amp_wide_find(InsnCode code, MachineVectors vectors)
{
    bool is_f8 = code == INSN_f8v8hihov4amp_aaan_ef;
    if (amp_has_avx512() && vectors == VECTORS_BEST) {
        return is_f8 ? f8_avx512 : halves_avx512;
    }
    if (__builtin_cpu_supports("avx2") && vectors != VECTORS_PORTABLE) {
        return is_f8 ? f8_avx2 : halves_avx2;
    }
    return is_f8 ? f8_generic : halves_generic;
}
