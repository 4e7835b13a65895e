/* The wide AMP step (sixteen rows, four engines) in AVX-512, inline for exec_amp_wide.c and exec_amp_run.c. Private to the room.
 *
 * Products of halves and of FP8 numbers are exact in double, so a fused multiply-add rounds as a product and a sum do.
 */
#pragma once
#include "machine/amp.h"
#include <immintrin.h>

#define AVX512 __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,fma,f16c,avx2")))
#define AVX512_INLINE static inline __attribute__((always_inline)) AVX512

bool amp_has_avx512(void);

/* How activations become doubles: halves; F143 by arithmetic; any FP8 by table. */
typedef enum WideKind { WIDE_HALVES, WIDE_F143, WIDE_F8 } WideKind;

/* What does not change during a launch. */
typedef struct WideNumbers {
    const double *f8_values; /* WIDE_F8 */
    __m512d f143_scale;      /* WIDE_F143: 2^FP_SCL and what arithmetic on f16 leaves out */
} WideNumbers;

/* Running sums and queue of sixteen rows in registers. */
typedef struct WideSums {
    __m512 sum, queue;
} WideSums;

AVX512_INLINE WideNumbers wide_numbers(Exec *x, WideKind kind)
{
    WideNumbers numbers = {.f8_values = kind == WIDE_F8 ? amp_f8_values(x) : NULL};
    if (kind == WIDE_F143) {
        /* code 0x08 is 2^-7 (F143), and 2^-14 as an f16 with the same fields */
        numbers.f143_scale = _mm512_set1_pd(amp_f8_values(x)[0x08] * 0x1p14);
    }
    return numbers;
}

AVX512_INLINE WideSums wide_load(const WorkerState *w)
{
    return (WideSums){_mm512_loadu_ps(w->acc), _mm512_loadu_ps(&w->acc[AMP_QUEUE])};
}

AVX512_INLINE void wide_store(WorkerState *w, WideSums s)
{
    _mm512_storeu_ps(w->acc, s.sum);
    _mm512_storeu_ps(&w->acc[AMP_QUEUE], s.queue);
}

/* Eight F143 codes as doubles, scaled; the NaN is not seen. The fields moved up are an f16 that is 2^7 too small. */
AVX512_INLINE __m512d wide_f143(__m128i codes, __m512d scale)
{
    __m128i words = _mm_cvtepu8_epi16(codes);
    __m128i sign = _mm_and_si128(_mm_slli_epi16(words, 8), _mm_set1_epi16((short)0x8000));
    __m128i rest = _mm_and_si128(_mm_slli_epi16(words, 7), _mm_set1_epi16(0x3f80));
    return _mm512_mul_pd(_mm512_cvtps_pd(_mm256_cvtph_ps(_mm_or_si128(sign, rest))), scale);
}

/* low + high rows += element e of v times its weights. */
AVX512_INLINE void wide_add(__m512d v, const double *weight, int e, __m512d *low, __m512d *high)
{
    __m512d w0 = _mm512_load_pd(weight + AMP_ROWS * e),
            w1 = _mm512_load_pd(weight + AMP_ROWS * e + 8);
    *low = e == 0 ? _mm512_mul_pd(v, w0) : _mm512_fmadd_pd(v, w0, *low);
    *high = e == 0 ? _mm512_mul_pd(v, w1) : _mm512_fmadd_pd(v, w1, *high);
}

/* One step on `sums`; false, and nothing changed, when a number is one that only the plain version treats. */
AVX512_INLINE bool wide_step(const WorkerState *w, const Op *op, WideKind kind,
                             const double *weight, const WideNumbers *numbers, WideSums *sums,
                             uint64_t *out)
{
    const uint32_t *a = &w->a[op->r[1]];
    __m512d low, high;
    if (kind == WIDE_F8) {
        uint64_t codes = amp_pair(a);
        for (int e = 0; e < 8; e++) {
            wide_add(_mm512_set1_pd(numbers->f8_values[codes >> (8 * e) & 0xff]), weight, e, &low,
                     &high);
        }
    } else {
        __m128i raw = _mm_loadl_epi64((const __m128i *)(const void *)a);
        __m512d all;
        if (kind == WIDE_F143) {
            if (_mm_movemask_epi8(_mm_cmpeq_epi8(raw, _mm_set1_epi8((char)F8_NAN))) != 0) {
                return false;
            }
            all = wide_f143(raw, numbers->f143_scale);
        } else {
            all = _mm512_castpd256_pd512(_mm256_cvtps_pd(_mm_cvtph_ps(raw)));
        }
        _Alignas(64) double v[8];
        _mm512_store_pd(v, all);
        __asm__ volatile("" : "+m"(v)); /* broadcasts from memory are cheaper than permutations */
        for (int e = 0; e < (kind == WIDE_F143 ? 8 : 4); e++) {
            wide_add(_mm512_set1_pd(v[e]), weight, e, &low, &high);
        }
    }
    bool is_swapped = (op->imm & 7) == 0;
    __m512 sum = is_swapped ? sums->queue : sums->sum, queue = is_swapped ? sums->sum : sums->queue;
    low = _mm512_add_pd(low, _mm512_cvtps_pd(_mm512_castps512_ps256(sum)));
    high = _mm512_add_pd(high, _mm512_cvtps_pd(_mm512_extractf32x8_ps(sum, 1)));
    __m512 next =
        _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(low)), _mm512_cvtpd_ps(high), 1);
    const __m512i heads = _mm512_setr_epi32(0, 1, 8, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    __m128 finished = _mm512_castps512_ps128(_mm512_permutexvar_ps(heads, queue));
    const int nan_infinite_subnormal = 0x01 | 0x08 | 0x10 | 0x20 | 0x80;
    __m128 magnitude = _mm_andnot_ps(_mm_set1_ps(-0.0f), finished);
    __mmask16 odd = _mm512_fpclass_ps_mask(next, nan_infinite_subnormal);
    __mmask8 large = _mm_cmp_ps_mask(magnitude, _mm_set1_ps(65520.0f), _CMP_NLT_UQ);
    if (__builtin_expect((odd | large) != 0, 0)) {
        return false;
    }
    const __m512i shift =
        _mm512_setr_epi32(2, 3, 4, 5, 6, 7, 16, 17, 10, 11, 12, 13, 14, 15, 18, 19);
    __m128 partial = _mm_cvtph_ps(_mm_loadl_epi64((const __m128i *)(const void *)&w->a[op->r[2]]));
    sums->sum = next;
    sums->queue = _mm512_permutex2var_ps(queue, shift, _mm512_castps128_ps512(partial));
    *out = (uint64_t)_mm_cvtsi128_si64(
        _mm_cvtps_ph(finished, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
    return true;
}
