/* What AMP and SLIC share: forms, decoded coefficients, partial and result pairs. Private to the room.
 *
 * acc[n] is the running sum of row n and acc[16 + n] its place in the queue (tile.h). Arithmetic (decisions.md A7): the
 * products of one instruction are exact in double; their sum, in double and in the order of the elements, plus the accumulator is
 * rounded once to f32. Partials and sums flush f32 subnormals.
 */
#pragma once
#include "machine/exec.h"

enum { AMP_ROWS = 16, AMP_QUEUE = 16, AMP_SET_ROWS = 8, AMP_ELEMENTS_MAX = 8 };

typedef struct AmpForm {
    AmpSource source;
    bool is_half_in, is_half_out;
    int sets;
} AmpForm;

/* Shape of an AMP or SLIC form (isa/semantics.md 10.2 to 10.4). */
AmpForm amp_form(uint16_t code);

static inline int amp_elements(AmpSource source)
{
    return source == SOURCE_F16 ? 4 : source == SOURCE_F8 ? 8 : 1;
}

/* Weights of one phase: [element][row]. */
typedef const double (*AmpWeights)[AMP_ROWS];

/* The coefficients of a tile as numbers: [phase][element][row]; aligned to cache lines, which vector code reads whole. */
typedef struct AmpCache {
    double f16[4][4][AMP_ROWS];
    double f8[4][8][AMP_ROWS];
    double f32[8][1][AMP_ROWS]; /* two phases a coefficient */
    bool is_f143;               /* how f8 was decoded */
} AmpCache;
AmpCache *amp_cache_create(void);
void amp_cache_destroy(AmpCache *cache);

/* Decodes what was loaded since the last instruction of this source. */
void amp_decode(TileState *tile, AmpSource source, bool is_f143);
/* Weights of a phase (AMP; f32: of half a coefficient), decoded. */
static inline AmpWeights amp_weights(const Exec *x, AmpSource source, int phase)
{
    TileState *tile = x->tile;
    bool is_f143 = (x->worker->fp_nfmt & 1) != 0;
    bool is_other_format = source == SOURCE_F8 && tile->weights->is_f143 != is_f143;
    if (__builtin_expect(tile->cwei_stale[source] != 0 || is_other_format, 0)) {
        amp_decode(tile, source, is_f143);
    }
    switch (source) {
    case SOURCE_F16:
        return (AmpWeights)tile->weights->f16[phase];
    case SOURCE_F8:
        return (AmpWeights)tile->weights->f8[phase];
    default:
        return (AmpWeights)tile->weights->f32[phase];
    }
}
/* Values of the FP8 activations times 2^FP_SCL, by code; found once a launch. */
static inline const double *amp_f8_values(Exec *x)
{
    if (__builtin_expect(x->f8_values == NULL, 0)) {
        const WorkerState *w = x->worker;
        x->f8_values = math_f8_table((w->fp_nfmt & 2) != 0, sign_extend(w->fp_scl & 63, 6));
    }
    return x->f8_values;
}
/* Rows whose coefficient of this phase is undefined; bit n = row n. */
uint32_t amp_undefined_rows(const TileState *tile, AmpSource source, int phase);
/* The activations of an instruction as numbers; x[elements..] is not written. FP8: times 2^FP_SCL. */
void amp_activations(Exec *x, const Op *op, AmpSource source, double v[AMP_ELEMENTS_MAX]);
/* Registers of the activation operand that are undefined. */
bool amp_is_activation_undefined(const Exec *x, const Op *op, AmpSource source);
/* next = sum + dot(v, weight of row) as f32 for one row, with its conditions. */
float amp_row(float sum, const double *v, AmpWeights weight, int row, int elements,
              uint32_t *flags);

/* All that makes an instruction one for the plain version before its numbers are looked at. */
static inline bool amp_is_unusual(const Exec *x, const Op *op)
{
    const WorkerState *w = x->worker;
    return ((w->a_poison & op->a_read) | w->acc_poison) != 0 || x->tile->cwei_poison != 0 ||
           is_rounding_special(w);
}

static inline uint64_t amp_pair(const uint32_t *a)
{
    uint64_t both;
    memcpy(&both, a, sizeof both);
    return both;
}

/* Halves as partial sums: NaNs become quiet. */
static inline F4 amp_partial_halves(uint32_t lo, uint32_t hi)
{
    F4 v = floats_of_halves(lo, hi);
    U4 bits = (U4)v;
    return (F4)(bits | ((U4)((bits & 0x7fffffff) > F32_INF) & 0x00400000));
}

/* Partial pairs of the sets, as f32 bits, and their poison (two bits a pair). */
static inline __attribute__((always_inline)) void
amp_partials(const Exec *x, const Op *op, AmpForm form, uint64_t partial[2], uint32_t poison[2])
{
    const WorkerState *w = x->worker;
    const uint32_t *a = &w->a[op->r[2]];
    uint32_t low = w->a_poison >> op->r[2] & 1, high = w->a_poison >> (op->r[2] + 1) & 1;
    if (form.is_half_in) {
        F4 v = amp_partial_halves(a[0], form.sets == 2 ? a[1] : 0);
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

/* The finished pairs, as the form delivers them; poison: one bit a number. */
static inline __attribute__((always_inline)) void
amp_deliver(Exec *x, AmpForm form, const uint64_t out[2], uint32_t poison, uint32_t *flags)
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

/* The f32 forms use TAS for themselves (isa/semantics.md 10.3). */
static inline void amp_destroy_tas(Exec *x)
{
    x->worker->tas_poison = x->poison != NULL;
}
