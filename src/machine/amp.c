/* Coefficients and operands of AMP and SLIC as numbers. isa/semantics.md 10; registers.md 4.4, 4.5. */
#include "machine/amp.h"
#include <stdlib.h>

enum { CACHE_LINE = 64 };

AmpCache *amp_cache_create(void)
{
    size_t bytes = (sizeof(AmpCache) + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
    AmpCache *cache = aligned_alloc(CACHE_LINE, bytes);
    ASSERT(cache);
    memset(cache, 0, bytes);
    return cache;
}

void amp_cache_destroy(AmpCache *cache)
{
    free(cache);
}

AmpForm amp_form(uint16_t code)
{
    switch (code) {
    case INSN_f16v4hihov4amp_aaan_ef:
    case INSN_f16v4hihov4slic_aaan_ef:
        return (AmpForm){SOURCE_F16, true, true, 2};
    case INSN_f16v4hihoamp_aaan_ef:
    case INSN_f16v4hihoslic_aaan_ef:
        return (AmpForm){SOURCE_F16, true, true, 1};
    case INSN_f16v4sihoamp_aaan_ef:
    case INSN_f16v4sihoslic_aaan_ef:
        return (AmpForm){SOURCE_F16, false, true, 1};
    case INSN_f8v8hihov4amp_aaan_ef:
    case INSN_f8v8hihov4slic_aaan_ef:
        return (AmpForm){SOURCE_F8, true, true, 2};
    case INSN_f32sisoamp_aaan_ef:
    case INSN_f32sisoslic_aaan_ef:
        return (AmpForm){SOURCE_F32, false, false, 1};
    case INSN_f32sisov2amp_aaan_ef:
    case INSN_f32sisov2slic_aaan_ef:
        return (AmpForm){SOURCE_F32, false, false, 2};
    default:
        return (AmpForm){SOURCE_F16, false, false, 1};
    }
}

static void decode_one(TileState *tile, AmpSource source, int k, const double *f8)
{
    uint64_t bits = tile->cwei[k];
    int row = k >> 2, phase = k & 3;
    if (source == SOURCE_F16) {
        F4 v = floats_of_halves((uint32_t)bits, (uint32_t)(bits >> 32));
        for (int e = 0; e < 4; e++) {
            tile->weights->f16[phase][e][row] = (double)v[e];
        }
    } else if (source == SOURCE_F8) {
        for (int e = 0; e < 8; e++) {
            tile->weights->f8[phase][e][row] = f8[bits >> (8 * e) & 0xff];
        }
    } else {
        for (int i = 0; i < 2; i++) {
            uint32_t word = flush_f32((uint32_t)(bits >> (32 * i)));
            tile->weights->f32[2 * phase + i][0][row] = (double)f32_of_bits(word);
        }
    }
}

void amp_decode(TileState *tile, AmpSource source, bool is_f143)
{
    if (source == SOURCE_F8 && tile->weights->is_f143 != is_f143) {
        tile->weights->is_f143 = is_f143;
        tile->cwei_stale[SOURCE_F8] = ~(uint64_t)0;
    }
    const double *f8 = source == SOURCE_F8 ? math_f8_table(is_f143, 0) : NULL;
    for (uint64_t stale = tile->cwei_stale[source]; stale != 0; stale &= stale - 1) {
        decode_one(tile, source, __builtin_ctzll(stale), f8);
    }
    tile->cwei_stale[source] = 0;
}

uint32_t amp_undefined_rows(const TileState *tile, AmpSource source, int phase)
{
    uint32_t rows = 0;
    int column = source == SOURCE_F32 ? phase / 2 : phase;
    for (int n = 0; n < AMP_ROWS; n++) {
        rows |= (uint32_t)(tile->cwei_poison >> (4 * n + column) & 1) << n;
    }
    return rows;
}

void amp_activations(Exec *x, const Op *op, AmpSource source, double v[AMP_ELEMENTS_MAX])
{
    const WorkerState *w = x->worker;
    const uint32_t *a = &w->a[op->r[1]];
    if (source == SOURCE_F32) {
        v[0] = (double)f32_of_bits(flush_f32(a[0]));
        return;
    }
    if (source == SOURCE_F16) {
        F4 halves = floats_of_halves(a[0], a[1]);
        for (int e = 0; e < 4; e++) {
            v[e] = (double)halves[e];
        }
        return;
    }
    const double *value = amp_f8_values(x);
    for (int e = 0; e < 8; e++) {
        v[e] = value[byte(a[e / 4], e % 4)];
    }
}

bool amp_is_activation_undefined(const Exec *x, const Op *op, AmpSource source)
{
    uint32_t registers = source == SOURCE_F32 ? 1 : 3;
    return (x->worker->a_poison >> op->r[1] & registers) != 0;
}

static bool is_finite(double v)
{
    return v - v == 0.0;
}

float amp_row(float sum, const double *v, AmpWeights weight, int row, int elements, uint32_t *flags)
{
    double dot = v[0] * weight[0][row];
    bool are_finite = is_finite((double)sum) && is_finite(v[0]) && is_finite(weight[0][row]);
    for (int e = 1; e < elements; e++) {
        dot += v[e] * weight[e][row];
        are_finite = are_finite && is_finite(v[e]) && is_finite(weight[e][row]);
    }
    return f32_of_bits(f32_result((float)(dot + (double)sum), are_finite, flags));
}
