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

/* Halves; FP8 numbers of which both sides are F143, whose sums are exact in any order; other FP8. */
typedef enum WideKind { WIDE_HALVES, WIDE_F143, WIDE_F8 } WideKind;

/* What does not change during a launch. */
typedef struct WideNumbers {
    const double *f8_values; /* by code, times 2^FP_SCL */
    __m128 f16_limit;        /* magnitudes from here on are no f16 */
    __m128 f32_magnitude;    /* mask */
    __m256i
        shift[2]; /* permutations of the queue of each set: one place on, its partial pair behind */
    __m512i element[4]; /* WIDE_HALVES: spreads element e */
} WideNumbers;

/* Running sums and queue of the two sets in registers. */
typedef struct WideSums {
    __m256 sum[2], queue[2];
} WideSums;

/* Keeps a constant in its register: the compiler would make it again in every step. */
#define WIDE_PIN(v) __asm__("" : "+v"(v))

AVX512_INLINE WideNumbers wide_numbers(Exec *x, WideKind kind)
{
    WideNumbers numbers = {
        .f8_values = kind != WIDE_HALVES ? amp_f8_values(x) : NULL,
        .f16_limit = _mm_set1_ps(65520.0f),
        .f32_magnitude = _mm_castsi128_ps(_mm_set1_epi32(0x7fffffff)),
        .shift = {_mm256_setr_epi32(2, 3, 4, 5, 6, 7, 8, 9),
                  _mm256_setr_epi32(2, 3, 4, 5, 6, 7, 10, 11)},
    };
    for (int e = 0; e < (kind == WIDE_HALVES ? 4 : 0); e++) {
        numbers.element[e] = _mm512_set1_epi64(e);
        WIDE_PIN(numbers.element[e]);
    }
    WIDE_PIN(numbers.shift[0]);
    WIDE_PIN(numbers.shift[1]);
    WIDE_PIN(numbers.f16_limit);
    WIDE_PIN(numbers.f32_magnitude);
    return numbers;
}

AVX512_INLINE WideSums wide_load(const WorkerState *w)
{
    const float *acc = w->acc;
    return (WideSums){
        {_mm256_loadu_ps(acc), _mm256_loadu_ps(acc + AMP_SET_ROWS)},
        {_mm256_loadu_ps(acc + AMP_QUEUE), _mm256_loadu_ps(acc + AMP_QUEUE + AMP_SET_ROWS)}};
}

AVX512_INLINE void wide_store(WorkerState *w, WideSums s)
{
    for (int set = 0; set < 2; set++) {
        _mm256_storeu_ps(&w->acc[AMP_SET_ROWS * set], s.sum[set]);
        _mm256_storeu_ps(&w->acc[AMP_QUEUE + AMP_SET_ROWS * set], s.queue[set]);
    }
}

/* Weights of sixteen rows: times a number, or that added to a dot product of low and high rows. */
typedef struct WideDot {
    __m512d low, high;
} WideDot;

AVX512_INLINE WideDot wide_begin(__m512d v, const double *weight, int e)
{
    return (WideDot){_mm512_mul_pd(v, _mm512_load_pd(weight + AMP_ROWS * e)),
                     _mm512_mul_pd(v, _mm512_load_pd(weight + AMP_ROWS * e + 8))};
}

AVX512_INLINE WideDot wide_add(WideDot dot, __m512d v, const double *weight, int e)
{
    return (WideDot){_mm512_fmadd_pd(v, _mm512_load_pd(weight + AMP_ROWS * e), dot.low),
                     _mm512_fmadd_pd(v, _mm512_load_pd(weight + AMP_ROWS * e + 8), dot.high)};
}

AVX512_INLINE __m512d wide_f8(const WideNumbers *numbers, uint64_t codes, int e)
{
    return _mm512_set1_pd(numbers->f8_values[codes >> (8 * e) & 0xff]);
}

AVX512_INLINE WideDot wide_dot_f8(uint64_t codes, const WideNumbers *numbers, const double *weight)
{
    WideDot dot = wide_begin(wide_f8(numbers, codes, 0), weight, 0);
    for (int e = 1; e < 8; e++) {
        dot = wide_add(dot, wide_f8(numbers, codes, e), weight, e);
    }
    return dot;
}

/* An F143 product is a multiple of 2^-20 below 2^16 (times the scale), so sums of eight are exact in double: two chains. */
AVX512_INLINE WideDot wide_dot_f143(uint64_t codes, const WideNumbers *numbers,
                                    const double *weight)
{
    WideDot even = wide_begin(wide_f8(numbers, codes, 0), weight, 0),
            uneven = wide_begin(wide_f8(numbers, codes, 1), weight, 1);
    for (int e = 2; e < 8; e += 2) {
        even = wide_add(even, wide_f8(numbers, codes, e), weight, e);
        uneven = wide_add(uneven, wide_f8(numbers, codes, e + 1), weight, e + 1);
    }
    return (WideDot){_mm512_add_pd(even.low, uneven.low), _mm512_add_pd(even.high, uneven.high)};
}

AVX512_INLINE WideDot wide_dot_halves(__m128i halves, const WideNumbers *numbers,
                                      const double *weight)
{
    __m512d all = _mm512_castpd256_pd512(_mm256_cvtps_pd(_mm_cvtph_ps(halves)));
    WideDot dot = wide_begin(_mm512_permutexvar_pd(numbers->element[0], all), weight, 0);
    for (int e = 1; e < 4; e++) {
        dot = wide_add(dot, _mm512_permutexvar_pd(numbers->element[e], all), weight, e);
    }
    return dot;
}

/* One step on `sums`; false, and nothing changed, when a number is one that only the plain version treats. */
AVX512_INLINE bool wide_step(const WorkerState *w, const Op *op, WideKind kind,
                             const double *weight, const WideNumbers *numbers, WideSums *sums,
                             uint64_t *out)
{
    const uint32_t *a = &w->a[op->r[1]];
    WideDot dot =
        kind == WIDE_F143 ? wide_dot_f143(amp_pair(a), numbers, weight)
        : kind == WIDE_F8
            ? wide_dot_f8(amp_pair(a), numbers, weight)
            : wide_dot_halves(_mm_loadl_epi64((const __m128i *)(const void *)a), numbers, weight);
    WideSums old = *sums;
    if ((op->imm & 7) == 0) {
        old = (WideSums){{sums->queue[0], sums->queue[1]}, {sums->sum[0], sums->sum[1]}};
    }
    __m512d low = _mm512_add_pd(dot.low, _mm512_cvtps_pd(old.sum[0])),
            high = _mm512_add_pd(dot.high, _mm512_cvtps_pd(old.sum[1]));
    __m256 next[2] = {_mm512_cvtpd_ps(low), _mm512_cvtpd_ps(high)};
    __m128 finished =
        _mm_movelh_ps(_mm256_castps256_ps128(old.queue[0]), _mm256_castps256_ps128(old.queue[1]));
    enum { NAN_INFINITE_SUBNORMAL = 0x01 | 0x08 | 0x10 | 0x20 | 0x80 };
    __m128 magnitude = _mm_and_ps(numbers->f32_magnitude, finished);
    __mmask8 odd = _mm_cmp_ps_mask(magnitude, numbers->f16_limit, _CMP_NLT_UQ);
    odd |= _mm256_fpclass_ps_mask(next[0], NAN_INFINITE_SUBNORMAL);
    odd |= _mm256_fpclass_ps_mask(next[1], NAN_INFINITE_SUBNORMAL);
    if (__builtin_expect(odd != 0, 0)) {
        return false;
    }
    __m256 partial = _mm256_castps128_ps256(
        _mm_cvtph_ps(_mm_loadl_epi64((const __m128i *)(const void *)&w->a[op->r[2]])));
    for (int set = 0; set < 2; set++) {
        sums->sum[set] = next[set];
        sums->queue[set] = _mm256_permutex2var_ps(old.queue[set], numbers->shift[set], partial);
    }
    *out = (uint64_t)_mm_cvtsi128_si64(
        _mm_cvtps_ph(finished, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
    return true;
}
