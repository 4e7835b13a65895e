/* One check per kernel: random data of one shape, the call, an independent oracle in double. Empty complaint = right. */
#pragma once
#include "rig.h"

typedef struct Extents {
    int rows, inner, cols; /* inner: K, keys, parts or runs as the kernel needs */
} Extents;

static inline double draw(uint64_t seed, int64_t index, double size)
{
    return round_half(size * random_normal(seed, (uint64_t)index));
}

static inline void fill_normal(const Rig *rig, int buffer, uint64_t seed, double size)
{
    const Shard *s = &rig->buffer[buffer].shard;
    for (int r = 0; r < s->alloc_rows; r++) {
        for (int c = 0; c < s->alloc_cols; c++) {
            rig_set(rig, buffer, r, c, draw(seed, r * 4096 + c, size));
        }
    }
}

static inline bool expect(Rig *rig, int r, int c, double got, double want, double within)
{
    if (!(fabs(got - want) <= within) || isnan(want)) {
        rig_fail(rig, "row %d, column %d: %.9g, expected %.9g within %.3g", r, c, got, want,
                 within);
    }
    return rig->complaint[0] == 0;
}

/* Result of the AMP path (decisions.md A7): four exact products and the accumulator in double, rounded to f32; f16 after every
 * panel of K = 16. Bit-exact. `region`: where b lies; it decides between 64-bit and 128-bit loads. */
static inline bool check_gemm(Rig *rig, Extents s, bool is_keys, int region, uint64_t seed,
                              KernelCall *call)
{
    rig_begin(rig);
    int a = rig_operand(rig, DTYPE_F16, ORDER_AMP_LEFT, s.rows, s.inner, s.inner, 1, true, false);
    int b = is_keys ? rig_operand(rig, DTYPE_F16, ORDER_KEYS_RIGHT, s.cols, s.inner, s.inner,
                                  region, true, false)
                    : rig_operand(rig, DTYPE_F16, ORDER_AMP_RIGHT, s.inner, s.cols, s.cols, region,
                                  true, false);
    int c = rig_operand(rig, DTYPE_F16, ORDER_AMP_LEFT, s.rows, s.cols, s.cols, 1, false, true);
    fill_normal(rig, a, seed, 1);
    fill_normal(rig, b, seed + 1, 0.25);
    if (!rig_kernel(rig, KERNEL_gemm_f16, (int[]){a, b, c}, 3, NULL, 0, call)) {
        return false;
    }
    for (int i = 0; i < s.rows; i++) {
        for (int j = 0; j < s.cols; j++) {
            double partial = 0;
            for (int panel = 0; panel < s.inner; panel += 16) {
                float sum = (float)partial;
                for (int k = panel; k < panel + 16; k += 4) {
                    double wide = (double)sum;
                    for (int e = k; e < k + 4; e++) {
                        wide += rig_get(rig, a, i, e) *
                                (is_keys ? rig_get(rig, b, j, e) : rig_get(rig, b, e, j));
                    }
                    sum = (float)wide;
                }
                partial = round_half((double)sum);
            }
            if (!expect(rig, i, j, rig_get(rig, c, i, j), partial, 0)) {
                return false;
            }
        }
    }
    return true;
}

static inline bool check_bias(Rig *rig, Extents s, uint64_t seed, KernelCall *call)
{
    rig_begin(rig);
    int x = rig_operand(rig, DTYPE_F16, ORDER_AMP_LEFT, s.rows, s.cols, s.cols, 1, true, true);
    int bias = rig_operand(rig, DTYPE_F16, ORDER_ROW_MAJOR, 1, s.cols, s.cols, 1, true, false);
    fill_normal(rig, x, seed, 1);
    fill_normal(rig, bias, seed + 1, 1);
    if (!rig_kernel(rig, KERNEL_bias_f16, (int[]){x, bias}, 2, NULL, 0, call)) {
        return false;
    }
    for (int r = 0; r < s.rows; r++) {
        for (int c = 0; c < s.cols; c++) {
            double want = round_half(draw(seed, r * 4096 + c, 1) + draw(seed + 1, c, 1));
            if (!expect(rig, r, c, rig_get(rig, x, r, c), want, 0)) {
                return false;
            }
        }
    }
    return true;
}

static inline bool check_add(Rig *rig, Extents s, Order order, bool in_place, uint64_t seed,
                             KernelCall *call)
{
    rig_begin(rig);
    int a = rig_operand(rig, DTYPE_F16, order, s.rows, s.cols, s.cols, 1, true, in_place);
    int b = rig_operand(rig, DTYPE_F16, order, s.rows, s.cols, s.cols, 1, true, false);
    int dst =
        in_place ? a : rig_operand(rig, DTYPE_F16, order, s.rows, s.cols, s.cols, 1, false, true);
    fill_normal(rig, a, seed, 1);
    fill_normal(rig, b, seed + 1, 1);
    if (!rig_kernel(rig, KERNEL_add_f16, (int[]){a, b, dst}, 3, NULL, 0, call)) {
        return false;
    }
    for (int r = 0; r < s.rows; r++) {
        for (int c = 0; c < s.cols; c++) {
            double want = round_half(draw(seed, r * 4096 + c, 1) + draw(seed + 1, r * 4096 + c, 1));
            if (!expect(rig, r, c, rig_get(rig, dst, r, c), want, 0)) {
                return false;
            }
        }
    }
    return true;
}

static inline double gelu_tanh(double x)
{
    return 0.5 * x * (1 + tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x)));
}

/* Values of the data buffer are given; returns the largest absolute error. Beyond 8 the result is x itself or zero, exactly. */
static inline bool check_gelu_of(Rig *rig, int src, int dst, const uint16_t *x, double *error,
                                 KernelCall *call)
{
    if (!rig_kernel(rig, KERNEL_gelu_f16, (int[]){src, dst}, 2, NULL, 0, call)) {
        return false;
    }
    const uint16_t *y = (const uint16_t *)(const void *)rig->buffer[dst].data;
    for (uint32_t i = 0; i < rig->buffer[dst].bytes / 2; i++) {
        double from = (double)f32_of_f16(x[i]), got = (double)f32_of_f16(y[i]);
        double off = fabs(got - gelu_tanh(from));
        if (fabs(from) >= 8 && got != (from > 0 ? from : 0)) {
            rig_fail(rig, "gelu(%g) = %g", from, got);
        }
        if (fabs(from) < 8) {
            expect(rig, 0, (int)i, got, gelu_tanh(from), 0.003);
            *error = off > *error ? off : *error;
        }
    }
    return rig->complaint[0] == 0;
}

static inline bool check_gelu(Rig *rig, Extents s, bool in_place, double size, uint64_t seed,
                              double *error, KernelCall *call)
{
    rig_begin(rig);
    int src =
        rig_operand(rig, DTYPE_F16, ORDER_AMP_LEFT, s.rows, s.cols, s.cols, 1, true, in_place);
    int dst = in_place ? src
                       : rig_operand(rig, DTYPE_F16, ORDER_AMP_LEFT, s.rows, s.cols, s.cols, 1,
                                     false, true);
    fill_normal(rig, src, seed, size);
    uint16_t *x = arena_alloc(&rig->call, rig->buffer[src].bytes, 8);
    memcpy(x, rig->buffer[src].data, rig->buffer[src].bytes);
    return check_gelu_of(rig, src, dst, x, error, call);
}

/* Mean `centre`, deviation about `size` (0: constant rows). */
static inline bool check_layernorm(Rig *rig, Extents s, double centre, double size, uint64_t seed,
                                   KernelCall *call)
{
    const float eps = 1e-6f;
    rig_begin(rig);
    int src = rig_operand(rig, DTYPE_F16, ORDER_AMP_LEFT, s.rows, s.cols, s.cols, 1, true, false);
    int dst = rig_operand(rig, DTYPE_F16, ORDER_AMP_LEFT, s.rows, s.cols, s.cols, 1, false, true);
    int gamma = rig_operand(rig, DTYPE_F16, ORDER_ROW_MAJOR, 1, s.cols, s.cols, 0, true, false);
    int beta = rig_operand(rig, DTYPE_F16, ORDER_ROW_MAJOR, 1, s.cols, s.cols, 0, true, false);
    for (int r = 0; r < s.rows; r++) {
        for (int c = 0; c < s.cols; c++) {
            rig_set(rig, src, r, c, centre + draw(seed, r * 4096 + c, size));
        }
    }
    fill_normal(rig, gamma, seed + 1, 1);
    fill_normal(rig, beta, seed + 2, 1);
    uint32_t scalar = bits_of_f32(eps);
    if (!rig_kernel(rig, KERNEL_layernorm_f16, (int[]){src, dst, gamma, beta}, 4, &scalar, 1,
                    call)) {
        return false;
    }
    for (int r = 0; r < s.rows; r++) {
        double sum = 0, squares = 0;
        for (int c = 0; c < s.cols; c++) {
            sum += rig_get(rig, src, r, c);
        }
        double mean = sum / s.cols;
        for (int c = 0; c < s.cols; c++) {
            squares += pow(rig_get(rig, src, r, c) - mean, 2);
        }
        double rstd = 1 / sqrt(squares / s.cols + (double)eps);
        for (int c = 0; c < s.cols; c++) {
            double n = (rig_get(rig, src, r, c) - mean) * rstd;
            double g = rig_get(rig, gamma, 0, c), b = rig_get(rig, beta, 0, c), want = n * g + b;
            /* Half units of three f16 roundings, and the f32 error of a mean that is large beside the deviation. */
            double within =
                0.5 * (half_ulp(n) * fabs(g) + half_ulp(n * g) + half_ulp(want)) * 1.01 +
                fabs(g) * fabs(mean) * rstd * 0x1p-21;
            if (!expect(rig, r, c, rig_get(rig, dst, r, c), want, within)) {
                return false;
            }
        }
    }
    return true;
}

/* Masked columns hold signalling NaNs. */
static inline bool check_softmax(Rig *rig, Extents s, int keys, float scale, double size,
                                 bool in_place, uint64_t seed, KernelCall *call)
{
    rig_begin(rig);
    int src =
        rig_operand(rig, DTYPE_F16, ORDER_AMP_LEFT, s.rows, s.cols, s.cols, 1, true, in_place);
    int dst = in_place ? src
                       : rig_operand(rig, DTYPE_F16, ORDER_AMP_LEFT, s.rows, s.cols, s.cols, 1,
                                     false, true);
    int stats = rig_operand(rig, DTYPE_F32, ORDER_ROW_MAJOR, s.rows, 1, 1, 0, false, true);
    fill_normal(rig, src, seed, size);
    for (int r = 0; r < s.rows; r++) {
        for (int c = keys; c < s.cols; c++) {
            *rig_half(rig, src, r, c) = c % 2 ? 0x7d01 : 0xfc00;
        }
    }
    uint32_t scalar[2] = {(uint32_t)keys, bits_of_f32(scale)};
    if (!rig_kernel(rig, KERNEL_softmax_f16, (int[]){src, dst, stats}, 3, scalar, 2, call)) {
        return false;
    }
    for (int r = 0; r < s.rows; r++) {
        double most = -INFINITY, sum = 0;
        for (int c = 0; c < keys; c++) {
            most = fmax(most, draw(seed, r * 4096 + c, size));
        }
        for (int c = 0; c < s.cols; c++) {
            double got = rig_get(rig, dst, r, c);
            double exponent = (double)scale * (draw(seed, r * 4096 + c, size) - most);
            double want = c < keys ? exp(exponent) : 0;
            /* The argument carries the rounding of scale (2^-11 relative at most) and its own (2^-11); then the result's. */
            double within =
                c < keys ? want * (exp(-exponent * 0x1p-10) - 1) + 0.51 * half_ulp(want) : 0;
            if (!expect(rig, r, c, got, want, within)) {
                return false;
            }
            sum += got;
            if (c >= keys && *rig_half(rig, dst, r, c) != 0) {
                rig_fail(rig, "row %d, column %d is masked and not +0", r, c);
            }
        }
        float stat;
        memcpy(&stat, rig->buffer[stats].data + 4 * r, 4);
        if (!expect(rig, r, -1, (double)stat, sum, sum * 0x1p-20)) {
            return false;
        }
    }
    return true;
}

static inline bool check_normalise(Rig *rig, Extents s, uint64_t seed, KernelCall *call)
{
    rig_begin(rig);
    int x = rig_operand(rig, DTYPE_F16, ORDER_AMP_LEFT, s.rows, s.cols, s.cols, 1, true, true);
    int stats = rig_operand(rig, DTYPE_F32, ORDER_ROW_MAJOR, s.rows, 1, 1, 1, true, false);
    fill_normal(rig, x, seed, 10);
    for (int r = 0; r < s.rows; r++) {
        float stat = 1 + (float)(700 * random_unit(seed + 1, (uint64_t)r));
        memcpy(rig->buffer[stats].data + 4 * r, &stat, 4);
    }
    if (!rig_kernel(rig, KERNEL_normalise_f16, (int[]){x, stats}, 2, NULL, 0, call)) {
        return false;
    }
    for (int r = 0; r < s.rows; r++) {
        float stat;
        memcpy(&stat, rig->buffer[stats].data + 4 * r, 4);
        for (int c = 0; c < s.cols; c++) {
            double want = draw(seed, r * 4096 + c, 10) / (double)stat;
            /* One rounding; the reciprocal as hi + lo is good to 2^-24 absolute (the smallest f16). */
            double within = 0.5 * half_ulp(want) + fabs(want * (double)stat) * 0x1p-24;
            if (!expect(rig, r, c, rig_get(rig, x, r, c), want, within)) {
                return false;
            }
        }
    }
    return true;
}

/* Bits, NaNs included, must arrive untouched. */
static inline bool check_transpose(Rig *rig, Extents s, uint64_t seed, KernelCall *call)
{
    rig_begin(rig);
    int src = rig_operand(rig, DTYPE_F16, ORDER_AMP_LEFT, s.rows, s.cols, s.cols, 1, true, false);
    int dst = rig_operand(rig, DTYPE_F16, ORDER_AMP_RIGHT, s.rows, s.cols, s.cols, 0, false, true);
    for (int r = 0; r < s.rows; r++) {
        for (int c = 0; c < s.cols; c++) {
            *rig_half(rig, src, r, c) = (uint16_t)random_u64(seed, (uint64_t)(r * 4096 + c));
        }
    }
    if (!rig_kernel(rig, KERNEL_transpose_f16, (int[]){src, dst}, 2, NULL, 0, call)) {
        return false;
    }
    for (int r = 0; r < s.rows; r++) {
        for (int c = 0; c < s.cols; c++) {
            uint16_t want = (uint16_t)random_u64(seed, (uint64_t)(r * 4096 + c));
            if (*rig_half(rig, dst, r, c) != want) {
                rig_fail(rig, "row %d, column %d: 0x%04x, expected 0x%04x", r, c,
                         *rig_half(rig, dst, r, c), want);
                return false;
            }
        }
    }
    return true;
}

static inline bool check_reduce(Rig *rig, Extents s, uint64_t seed, KernelCall *call)
{
    rig_begin(rig);
    int wide = s.inner * s.cols;
    int src = rig_operand(rig, DTYPE_F16, ORDER_AMP_LEFT, s.rows, wide, wide, 1, true, false);
    int dst = rig_operand(rig, DTYPE_F16, ORDER_AMP_LEFT, s.rows, s.cols, s.cols, 1, false, true);
    fill_normal(rig, src, seed, 30);
    uint32_t parts = (uint32_t)s.inner;
    if (!rig_kernel(rig, KERNEL_reduce_f16, (int[]){src, dst}, 2, &parts, 1, call)) {
        return false;
    }
    for (int r = 0; r < s.rows; r++) {
        for (int c = 0; c < s.cols; c++) {
            float sum = 0;
            for (int p = 0; p < s.inner; p++) {
                sum += (float)draw(seed, r * 4096 + p * s.cols + c, 30);
            }
            if (!expect(rig, r, c, rig_get(rig, dst, r, c), round_half((double)sum), 0)) {
                return false;
            }
        }
    }
    return true;
}

/* `runs` runs of `words` 8-byte words, strides in words >= words; what lies between the runs must stay. */
static inline bool check_copy(Rig *rig, int words, int runs, int src_stride, int dst_stride,
                              uint64_t seed, KernelCall *call)
{
    rig_begin(rig);
    int src = rig_bytes(rig, (uint32_t)((runs - 1) * src_stride + words) * 8, 1, true, false);
    int dst = rig_bytes(rig, (uint32_t)((runs - 1) * dst_stride + words) * 8, 1, true, true);
    for (uint32_t i = 0; i < rig->buffer[src].bytes; i++) {
        rig->buffer[src].data[i] = (uint8_t)random_u64(seed, i);
    }
    *call = kernel_copy((uint32_t)words * 8, (uint32_t)runs, (uint32_t)src_stride * 8,
                        (uint32_t)dst_stride * 8);
    uint8_t *want = arena_alloc(&rig->call, rig->buffer[dst].bytes, 8);
    for (int r = 0; r < runs; r++) {
        memcpy(want + r * dst_stride * 8, rig->buffer[src].data + r * src_stride * 8,
               (size_t)words * 8);
    }
    if (!rig_call(rig, call, (int[]){src, dst})) {
        return false;
    }
    if (memcmp(want, rig->buffer[dst].data, rig->buffer[dst].bytes) != 0) {
        rig_fail(rig, "the copy differs");
    }
    return rig->complaint[0] == 0;
}

static inline bool check_fill(Rig *rig, int words, int runs, int stride, KernelCall *call)
{
    rig_begin(rig);
    int dst = rig_bytes(rig, (uint32_t)((runs - 1) * stride + words) * 8, 1, true, true);
    memset(rig->buffer[dst].data, 0x5a, rig->buffer[dst].bytes);
    *call = kernel_fill((uint32_t)words * 8, (uint32_t)runs, (uint32_t)stride * 8);
    if (!rig_call(rig, call, (int[]){dst})) {
        return false;
    }
    for (uint32_t i = 0; i < rig->buffer[dst].bytes; i++) {
        bool is_hole = (int)(i / 8) % stride >= words;
        if (rig->buffer[dst].data[i] != (is_hole ? 0x5a : 0)) {
            rig_fail(rig, "byte %u is wrong", i);
        }
    }
    return rig->complaint[0] == 0;
}
