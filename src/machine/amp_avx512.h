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
    __m512d f143_scale;      /* WIDE_F143: 2^FP_SCL and what wide_f143 leaves out */
    __m128i f143_nan, f143_sign, f143_rest;
    __m128 f16_limit;     /* magnitudes from here on are no f16 */
    __m128 f32_magnitude; /* mask */
    __m256i
        shift[2]; /* permutations of the queue of each set: one place on, its partial pair behind */
    __m512i element[8]; /* spreads element e of eight doubles */
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
        .f8_values = kind == WIDE_F8 ? amp_f8_values(x) : NULL,
        .f16_limit = _mm_set1_ps(65520.0f),
        .f32_magnitude = _mm_castsi128_ps(_mm_set1_epi32(0x7fffffff)),
        .shift = {_mm256_setr_epi32(2, 3, 4, 5, 6, 7, 8, 9),
                  _mm256_setr_epi32(2, 3, 4, 5, 6, 7, 10, 11)},
    };
    for (int e = 0; e < (kind == WIDE_F143 ? 8 : kind == WIDE_HALVES ? 4 : 0); e++) {
        numbers.element[e] = _mm512_set1_epi64(e);
        WIDE_PIN(numbers.element[e]);
    }
    WIDE_PIN(numbers.shift[0]);
    WIDE_PIN(numbers.shift[1]);
    WIDE_PIN(numbers.f16_limit);
    WIDE_PIN(numbers.f32_magnitude);
    if (kind == WIDE_F143) {
        /* code 0x08 is 2^-7 (F143), and 2^-14 as an f16 with the same fields */
        numbers.f143_scale = _mm512_set1_pd(amp_f8_values(x)[0x08] * 0x1p14);
        numbers.f143_nan = _mm_set1_epi8((char)F8_NAN);
        numbers.f143_sign = _mm_set1_epi16((short)0x8000);
        numbers.f143_rest = _mm_set1_epi16(0x3f80);
        WIDE_PIN(numbers.f143_nan);
        WIDE_PIN(numbers.f143_sign);
        WIDE_PIN(numbers.f143_rest);
    }
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

/* Eight F143 codes as doubles, 2^-7 times their value; the NaN is not seen. The fields moved up are an f16. */
AVX512_INLINE __m512d wide_f143(__m128i codes, const WideNumbers *numbers)
{
    __m128i words = _mm_cvtepu8_epi16(codes);
    __m128i sign = _mm_and_si128(_mm_slli_epi16(words, 8), numbers->f143_sign);
    __m128i rest = _mm_and_si128(_mm_slli_epi16(words, 7), numbers->f143_rest);
    __m256 halves = _mm256_cvtph_ps(_mm_or_si128(sign, rest));
    return _mm512_cvtps_pd(halves);
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

AVX512_INLINE __m512d wide_element(__m512d all, const WideNumbers *numbers, int e)
{
    return _mm512_permutexvar_pd(numbers->element[e], all);
}

/* Sums of F143 products are exact in double whatever the order (36 bits a product): two chains. */
AVX512_INLINE WideDot wide_dot_f143(__m512d all, const WideNumbers *numbers, const double *weight)
{
    WideDot even = wide_begin(wide_element(all, numbers, 0), weight, 0),
            odd = wide_begin(wide_element(all, numbers, 1), weight, 1);
    for (int e = 2; e < 8; e += 2) {
        even = wide_add(even, wide_element(all, numbers, e), weight, e);
        odd = wide_add(odd, wide_element(all, numbers, e + 1), weight, e + 1);
    }
    return (WideDot){_mm512_add_pd(even.low, odd.low), _mm512_add_pd(even.high, odd.high)};
}

/* One step on `sums`; false, and nothing changed, when a number is one that only the plain version treats. */
AVX512_INLINE bool wide_step(const WorkerState *w, const Op *op, WideKind kind,
                             const double *weight, const WideNumbers *numbers, WideSums *sums,
                             uint64_t *out)
{
    const uint32_t *a = &w->a[op->r[1]];
    WideDot dot;
    __mmask16 odd = 0;
    if (kind == WIDE_F8) {
        uint64_t codes = amp_pair(a);
        dot = wide_begin(_mm512_set1_pd(numbers->f8_values[codes & 0xff]), weight, 0);
        for (int e = 1; e < 8; e++) {
            __m512d v = _mm512_set1_pd(numbers->f8_values[codes >> (8 * e) & 0xff]);
            dot = wide_add(dot, v, weight, e);
        }
    } else if (kind == WIDE_F143) {
        __m128i codes = _mm_loadl_epi64((const __m128i *)(const void *)a);
        odd = _mm_cmpeq_epi8_mask(codes, numbers->f143_nan);
        dot = wide_dot_f143(wide_f143(codes, numbers), numbers, weight);
    } else {
        __m128 halves = _mm_cvtph_ps(_mm_loadl_epi64((const __m128i *)(const void *)a));
        __m512d all = _mm512_castpd256_pd512(_mm256_cvtps_pd(halves));
        dot = wide_begin(wide_element(all, numbers, 0), weight, 0);
        for (int e = 1; e < 4; e++) {
            dot = wide_add(dot, wide_element(all, numbers, e), weight, e);
        }
    }
    WideSums old = *sums;
    if ((op->imm & 7) == 0) {
        old = (WideSums){{sums->queue[0], sums->queue[1]}, {sums->sum[0], sums->sum[1]}};
    }
    __m512d low = _mm512_cvtps_pd(old.sum[0]), high = _mm512_cvtps_pd(old.sum[1]);
    if (kind == WIDE_F143) { /* a product with a power of two is exact */
        low = _mm512_fmadd_pd(dot.low, numbers->f143_scale, low);
        high = _mm512_fmadd_pd(dot.high, numbers->f143_scale, high);
    } else {
        low = _mm512_add_pd(dot.low, low);
        high = _mm512_add_pd(dot.high, high);
    }
    __m256 next[2] = {_mm512_cvtpd_ps(low), _mm512_cvtpd_ps(high)};
    __m128 finished =
        _mm_movelh_ps(_mm256_castps256_ps128(old.queue[0]), _mm256_castps256_ps128(old.queue[1]));
    enum { NAN_INFINITE_SUBNORMAL = 0x01 | 0x08 | 0x10 | 0x20 | 0x80 };
    __m128 magnitude = _mm_and_ps(numbers->f32_magnitude, finished);
    odd |= _mm_cmp_ps_mask(magnitude, numbers->f16_limit, _CMP_NLT_UQ);
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
