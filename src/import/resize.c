/* Resizing 8-bit RGB by PIL's rule (product.md 7), bit for bit.
 *
 * Two passes, horizontal first, each rounding to bytes. An output pixel is a weighted mean of the input pixels
 * under a kernel whose support grows with the reduction factor; weights are normalised in double and rounded to
 * 22 fractional bits; the accumulator starts at one half. A pass that changes nothing is left out. Nearest
 * neighbour steps by repeated addition, as PIL does, which decides ties.
 */
#include "import/parts.h"
#include <math.h>
#include <string.h>

enum { FRACTION_BITS = 22, CHANNELS = 3 };
enum { RESAMPLE_NEAREST = 0, RESAMPLE_LANCZOS = 1, RESAMPLE_BILINEAR = 2, RESAMPLE_BICUBIC = 3 };
static const double PI = 3.14159265358979323846;

/* Weights of every output position of one pass. */
typedef struct ResizeWeights {
    int32_t taps_max;
    int32_t *begin, *count; /* input range of output position i */
    int32_t *weight;        /* [i * taps_max + tap] */
} ResizeWeights;

static double triangle(double x)
{
    x = fabs(x);
    return x < 1.0 ? 1.0 - x : 0.0;
}

/* Cubic convolution with a = -0.5. */
static double cubic(double x)
{
    const double a = -0.5;
    x = fabs(x);
    if (x < 1.0) {
        return ((a + 2.0) * x - (a + 3.0)) * x * x + 1;
    }
    return x < 2.0 ? (((x - 5) * x + 8) * x - 4) * a : 0.0;
}

static double sinc(double x)
{
    return x == 0.0 ? 1.0 : sin(x * PI) / (x * PI);
}

static double lanczos(double x)
{
    return -3.0 <= x && x < 3.0 ? sinc(x) * sinc(x / 3) : 0.0;
}

typedef struct Filter {
    double (*at)(double x);
    double support;
} Filter;

static const Filter filters[4] = {
    [RESAMPLE_LANCZOS] = {lanczos, 3.0},
    [RESAMPLE_BILINEAR] = {triangle, 1.0},
    [RESAMPLE_BICUBIC] = {cubic, 2.0},
};

static int32_t taps_max_of(Filter filter, int32_t in, int32_t out)
{
    double scale = (double)in / (double)out;
    return (int32_t)ceil(filter.support * (scale < 1.0 ? 1.0 : scale)) * 2 + 1;
}

static ResizeWeights build_kernel(Filter filter, int32_t in, int32_t out, Arena *arena)
{
    double scale = (double)in / (double)out;
    double filter_scale = scale < 1.0 ? 1.0 : scale;
    double support = filter.support * filter_scale, step = 1.0 / filter_scale;
    ResizeWeights kernel = {.taps_max = taps_max_of(filter, in, out),
                            .begin = arena_array(arena, int32_t, out),
                            .count = arena_array(arena, int32_t, out)};
    kernel.weight = arena_array(arena, int32_t, (isize)out * kernel.taps_max);
    double *exact = arena_array(arena, double, kernel.taps_max);
    for (int32_t i = 0; i < out; i++) {
        double center = (i + 0.5) * scale, total = 0.0;
        int32_t begin = (int32_t)(center - support + 0.5), end = (int32_t)(center + support + 0.5);
        begin = begin < 0 ? 0 : begin;
        end = end > in ? in : end;
        ASSERT(end - begin <= kernel.taps_max);
        for (int32_t k = 0; k < end - begin; k++) {
            exact[k] = filter.at((k + begin - center + 0.5) * step);
            total += exact[k];
        }
        for (int32_t k = 0; k < end - begin; k++) {
            double weight = (total != 0.0 ? exact[k] / total : exact[k]) * (1 << FRACTION_BITS);
            kernel.weight[(isize)i * kernel.taps_max + k] =
                (int32_t)(weight < 0.0 ? weight - 0.5 : weight + 0.5);
        }
        kernel.begin[i] = begin;
        kernel.count[i] = end - begin;
    }
    return kernel;
}

static uint8_t byte_of(int32_t sum)
{
    int32_t value = sum >> FRACTION_BITS;
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

/* One line of `out` pixels; input pixels of the line lie `stride` bytes apart. */
static void resize_line(const ResizeWeights *kernel, const uint8_t *in, isize stride,
                        int32_t out_count, uint8_t *out, isize out_stride)
{
    for (int32_t i = 0; i < out_count; i++) {
        const int32_t *weight = kernel->weight + (isize)i * kernel->taps_max;
        const uint8_t *from = in + kernel->begin[i] * stride;
        int32_t sum[CHANNELS] = {1 << (FRACTION_BITS - 1), 1 << (FRACTION_BITS - 1),
                                 1 << (FRACTION_BITS - 1)};
        for (int32_t k = 0; k < kernel->count[i]; k++) {
            for (int c = 0; c < CHANNELS; c++) {
                sum[c] += from[k * stride + c] * weight[k];
            }
        }
        for (int c = 0; c < CHANNELS; c++) {
            out[i * out_stride + c] = byte_of(sum[c]);
        }
    }
}

/* Input index of every output index. */
static int32_t *nearest_indices(int32_t in, int32_t out, Arena *arena)
{
    int32_t *indices = arena_array(arena, int32_t, out);
    double step = (double)in / (double)out, at = step * 0.5;
    for (int32_t i = 0; i < out; i++) {
        indices[i] = (int32_t)at;
        ASSERT(indices[i] < in);
        at += step;
    }
    return indices;
}

static void resize_nearest(const uint8_t *rgb, int32_t width, int32_t height, int32_t out_width,
                           int32_t out_height, uint8_t *out, Arena scratch)
{
    int32_t *x_of = nearest_indices(width, out_width, &scratch);
    int32_t *y_of = nearest_indices(height, out_height, &scratch);
    for (int32_t y = 0; y < out_height; y++) {
        const uint8_t *row = rgb + (isize)y_of[y] * width * CHANNELS;
        for (int32_t x = 0; x < out_width; x++) {
            for (int c = 0; c < CHANNELS; c++) {
                *out++ = row[x_of[x] * CHANNELS + c];
            }
        }
    }
}

static void resize_filtered(const uint8_t *rgb, int32_t width, int32_t height, int32_t out_width,
                            int32_t out_height, Filter filter, uint8_t *out, Arena scratch)
{
    const uint8_t *middle = rgb;
    isize line = (isize)out_width * CHANNELS;
    if (width != out_width) {
        ResizeWeights kernel = build_kernel(filter, width, out_width, &scratch);
        uint8_t *pass = height == out_height ? out : arena_array(&scratch, uint8_t, height * line);
        for (int32_t y = 0; y < height; y++) {
            resize_line(&kernel, rgb + (isize)y * width * CHANNELS, CHANNELS, out_width,
                        pass + y * line, CHANNELS);
        }
        middle = pass;
    }
    if (height == out_height) {
        if (middle != out) {
            memcpy(out, middle, (size_t)(height * line));
        }
        return;
    }
    ResizeWeights kernel = build_kernel(filter, height, out_height, &scratch);
    for (int32_t x = 0; x < out_width; x++) {
        resize_line(&kernel, middle + (isize)x * CHANNELS, line, out_height,
                    out + (isize)x * CHANNELS, line);
    }
}

bool image_resize(const uint8_t *rgb, int32_t width, int32_t height, int32_t out_width,
                  int32_t out_height, int32_t resample, Arena *keep, Arena scratch, uint8_t **out,
                  Error *err)
{
    ASSERT(resample >= RESAMPLE_NEAREST && resample <= RESAMPLE_BICUBIC);
    ASSERT(out_width >= 1 && out_height >= 1);
    if (width < 1 || height < 1 || width > IMAGE_SIDE_MAX || height > IMAGE_SIDE_MAX) {
        return error_set(err, ERROR_INPUT, NULL, "pictures have 1 to %d pixels a side, not %d x %d",
                         IMAGE_SIDE_MAX, width, height);
    }
    isize out_bytes = (isize)out_width * out_height * CHANNELS;
    isize middle_bytes = (isize)out_width * height * CHANNELS;
    isize weight_bytes = 0;
    if (resample != RESAMPLE_NEAREST) {
        weight_bytes = 4 * ((isize)out_width * taps_max_of(filters[resample], width, out_width) +
                            (isize)out_height * taps_max_of(filters[resample], height, out_height));
    }
    isize needed = middle_bytes + weight_bytes + 32 * ((isize)out_width + out_height) + (1 << 20);
    if (arena_room(keep) < out_bytes + 64 || arena_room(&scratch) < needed) {
        return error_set(err, ERROR_INPUT, NULL,
                         "resizing %d x %d to %d x %d needs more than the memory set aside for it",
                         width, height, out_width, out_height);
    }
    *out = arena_array(keep, uint8_t, out_bytes);
    if (resample == RESAMPLE_NEAREST) {
        resize_nearest(rgb, width, height, out_width, out_height, *out, scratch);
    } else {
        resize_filtered(rgb, width, height, out_width, out_height, filters[resample], *out,
                        scratch);
    }
    return true;
}
