/* Pictures: decoding by content, then the preprocessing of the checkpoint (models.md 1.7, decisions.md C).
 *
 * Decoders see only what passed the size limits, and any complaint of theirs, a truncated file included, is one
 * error. Arithmetic after the resize is that of the reference processor: pixel times factor in double, rounded to
 * FP32, then (x - mean) / std in FP32.
 */
#include "import/parts.h"
#include <spng.h>
#include <string.h>
#include <turbojpeg.h>

typedef struct Picture {
    const char *where;
    bool is_rgb; /* refuse anything that would need a conversion */
    uint8_t *rgb;
    int32_t width, height;
} Picture;

static bool check_size(Picture *picture, uint64_t width, uint64_t height, Error *err)
{
    if (width < 1 || height < 1 || width > IMAGE_SIDE_MAX || height > IMAGE_SIDE_MAX ||
        width * height > IMAGE_PIXELS_MAX) {
        return error_set(err, ERROR_INPUT, picture->where,
                         "picture of %llu x %llu; at most %d a side and %d in all are accepted",
                         (unsigned long long)width, (unsigned long long)height, IMAGE_SIDE_MAX,
                         IMAGE_PIXELS_MAX);
    }
    picture->width = (int32_t)width;
    picture->height = (int32_t)height;
    return true;
}

static bool make_room(Picture *picture, Arena *keep, Error *err)
{
    isize bytes = (isize)picture->width * picture->height * 3;
    if (arena_room(keep) < bytes + 64) {
        return error_set(err, ERROR_INPUT, picture->where,
                         "picture of %d x %d: more than the memory set aside for it",
                         picture->width, picture->height);
    }
    picture->rgb = arena_alloc(keep, bytes, 64);
    return true;
}

static bool refuse_conversion(const Picture *picture, Error *err)
{
    return error_set(err, ERROR_INPUT, picture->where,
                     "picture is not stored as RGB, and do_convert_rgb is false");
}

static bool decode_jpeg(tjhandle decoder, Str bytes, Picture *picture, Arena *keep, Error *err)
{
    const unsigned char *at = (const unsigned char *)bytes.at;
    unsigned long len = (unsigned long)bytes.len;
    int width = 0, height = 0, subsampling = 0, colorspace = 0;
    if (tjDecompressHeader3(decoder, at, len, &width, &height, &subsampling, &colorspace) != 0) {
        return error_set(err, ERROR_INPUT, picture->where, "broken JPEG: %s",
                         tjGetErrorStr2(decoder));
    }
    if (width < 1 || height < 1) { /* the library accepts tables without a picture */
        return error_set(err, ERROR_INPUT, picture->where, "broken JPEG: no picture in it");
    }
    if (!check_size(picture, (uint64_t)width, (uint64_t)height, err)) {
        return false;
    }
    if (colorspace == TJCS_CMYK || colorspace == TJCS_YCCK) {
        return error_set(err, ERROR_INPUT, picture->where,
                         "JPEG in CMYK colours is not supported (RGB and grey are)");
    }
    if (picture->is_rgb && colorspace == TJCS_GRAY) {
        return refuse_conversion(picture, err);
    }
    if (!make_room(picture, keep, err)) {
        return false;
    }
    /* The limit of 500 scans changes no pixel; it stops progressive files made to take hours. */
    if (tjDecompress2(decoder, at, len, picture->rgb, width, 0, height, TJPF_RGB,
                      TJFLAG_LIMITSCANS) != 0) {
        return error_set(err, ERROR_INPUT, picture->where, "broken JPEG: %s",
                         tjGetErrorStr2(decoder));
    }
    return true;
}

static bool fail_png(const Picture *picture, int status, Error *err)
{
    return error_set(err, ERROR_INPUT, picture->where, "broken PNG: %s", spng_strerror(status));
}

static bool decode_png(spng_ctx *decoder, Str bytes, Picture *picture, Arena *keep, Error *err)
{
    enum { CHUNK_BYTES_MAX = 64 << 20 };
    struct spng_ihdr header;
    int status = spng_set_png_buffer(decoder, bytes.at, (size_t)bytes.len);
    if (status == 0) {
        status = spng_set_chunk_limits(decoder, CHUNK_BYTES_MAX, CHUNK_BYTES_MAX);
    }
    if (status == 0) {
        status = spng_get_ihdr(decoder, &header);
    }
    if (status != 0) {
        return fail_png(picture, status, err);
    }
    if (!check_size(picture, header.width, header.height, err)) {
        return false;
    }
    if (header.bit_depth == 16 && header.color_type == SPNG_COLOR_TYPE_GRAYSCALE) {
        return error_set(err, ERROR_INPUT, picture->where,
                         "grey PNG of 16 bits is not supported: there is no agreed reduction to 8 "
                         "bits (convert it to 8 bits)");
    }
    if (picture->is_rgb && header.color_type != SPNG_COLOR_TYPE_TRUECOLOR) {
        return refuse_conversion(picture, err);
    }
    size_t out_bytes;
    status = spng_decoded_image_size(decoder, SPNG_FMT_RGB8, &out_bytes);
    if (status != 0) {
        return fail_png(picture, status, err);
    }
    ASSERT(out_bytes == (size_t)picture->width * (size_t)picture->height * 3);
    if (!make_room(picture, keep, err)) {
        return false;
    }
    /* No flags: alpha is dropped, neither blended nor used, and no gamma is applied. */
    status = spng_decode_image(decoder, picture->rgb, out_bytes, SPNG_FMT_RGB8, 0);
    return status == 0 || fail_png(picture, status, err);
}

static bool starts_with(Str bytes, const char *magic, isize len, isize at)
{
    return bytes.len >= at + len && memcmp(bytes.at + at, magic, (size_t)len) == 0;
}

/* Pixels to the floats that the graph reads. */
static void convert(const uint8_t *rgb, int64_t pixels, const ImageSettings *settings, float *out)
{
    float table[3][256];
    for (int c = 0; c < 3; c++) {
        for (int v = 0; v < 256; v++) {
            float x = settings->do_rescale ? (float)(v * settings->rescale_factor) : (float)v;
            table[c][v] = settings->do_normalize
                              ? (x - (float)settings->mean[c]) / (float)settings->std[c]
                              : x;
        }
    }
    for (int64_t i = 0; i < pixels; i++) {
        for (int c = 0; c < 3; c++) {
            out[i * 3 + c] = table[c][rgb[i * 3 + c]];
        }
    }
}

bool image_decode(Str bytes, const char *where, bool is_rgb, Arena *keep, uint8_t **rgb,
                  int32_t *width, int32_t *height, Error *err)
{
    Picture picture = {.where = where, .is_rgb = is_rgb};
    bool ok;
    if (starts_with(bytes, "\xff\xd8\xff", 3, 0)) {
        tjhandle decoder = tjInitDecompress();
        ASSERT(decoder != NULL);
        ok = decode_jpeg(decoder, bytes, &picture, keep, err);
        (void)tjDestroy(decoder);
    } else if (starts_with(bytes, "\x89PNG\r\n\x1a\n", 8, 0)) {
        spng_ctx *decoder = spng_ctx_new(0);
        ASSERT(decoder != NULL);
        ok = decode_png(decoder, bytes, &picture, keep, err);
        spng_ctx_free(decoder);
    } else if (starts_with(bytes, "RIFF", 4, 0) && starts_with(bytes, "WEBP", 4, 8)) {
        return error_set(err, ERROR_INPUT, where,
                         "WebP pictures are not supported by this version (JPEG and PNG are)");
    } else {
        return error_set(err, ERROR_INPUT, where, "neither a JPEG nor a PNG picture");
    }
    *rgb = picture.rgb;
    *width = picture.width;
    *height = picture.height;
    return ok;
}

bool image_prepare(const char *path, const ImageSettings *settings, Arena *keep, Arena scratch,
                   float **out, Error *err)
{
    Str bytes;
    isize room = arena_room(&scratch) / 2;
    uint8_t *rgb;
    int32_t width, height;
    if (!file_read(path, room < IMAGE_FILE_MAX ? room : IMAGE_FILE_MAX, &scratch, &bytes, err) ||
        !image_decode(bytes, path, !settings->do_convert_rgb, &scratch, &rgb, &width, &height,
                      err)) {
        return false;
    }
    if (settings->do_resize) {
        /* The result needs an arena apart from the scratch of the resize. */
        isize out_bytes = (isize)settings->width * settings->height * 3 + 128;
        if (arena_room(&scratch) < out_bytes + 256) {
            return error_set(err, ERROR_INPUT, path, "more than the memory set aside for it");
        }
        Arena result = arena_split(&scratch, out_bytes);
        uint8_t *resized;
        if (!image_resize(rgb, width, height, settings->width, settings->height, settings->resample,
                          &result, scratch, &resized, err)) {
            return error_context(err, "%s", path);
        }
        rgb = resized;
    } else if (width != settings->width || height != settings->height) {
        return error_set(err, ERROR_INPUT, path,
                         "picture of %d x %d, expected %d x %d because do_resize is false", width,
                         height, settings->width, settings->height);
    }
    int64_t pixels = (int64_t)settings->width * settings->height;
    if (arena_room(keep) < pixels * 12 + 64) {
        return error_set(err, ERROR_INPUT, path, "more than the memory set aside for it");
    }
    *out = arena_array(keep, float, pixels * 3);
    convert(rgb, pixels, settings, *out);
    return true;
}
