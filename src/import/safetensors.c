/* Opening a safetensors file and reading tensors out of it (safetensors.md 6).
 *
 * Data come by pread into own memory: a mapped file that is truncated under us would kill the process. Sums are
 * compared by subtraction on 64 bits. Nothing in the file is aligned, so 16-bit elements are assembled from
 * bytes. NaN and infinity are legal data and pass through.
 */
#include "import/parts.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK_ELEMS = 16384 };

/* Converts `count` stored elements to FP32. */
static void convert(DType dtype, const uint8_t *from, int64_t count, float *to)
{
    for (int64_t i = 0; i < count; i++) {
        uint16_t bits = (uint16_t)(from[2 * i] | from[2 * i + 1] << 8);
        to[i] = dtype == DTYPE_F16 ? f32_of_f16(bits) : f32_of_bf16(bits);
    }
}

static bool source_find(void *context, Str name, TensorInfo *out)
{
    const SafeTensor *tensor = checkpoint_find(context, name);
    if (tensor == NULL) {
        return false;
    }
    *out = (TensorInfo){.name = tensor->name, .dtype = tensor->dtype, .shape = tensor->shape};
    return true;
}

static bool fail_tensor(const Checkpoint *checkpoint, Str name, const char *what, Error *err)
{
    char room[1024];
    Arena small = arena_create((isize)sizeof room);
    error_set(err, ERROR_INPUT, checkpoint->path.at, "tensor \"%.*s\": %s",
              STR_ARG(str_shown(name, &small)), what);
    arena_destroy(&small);
    return false;
}

static bool source_read(void *context, Str name, float *out, Error *err)
{
    const Checkpoint *checkpoint = context;
    const SafeTensor *tensor = checkpoint_find(checkpoint, name);
    if (tensor == NULL) {
        return fail_tensor(checkpoint, name, "is missing", err);
    }
    if (!dtype_is_float(tensor->dtype)) {
        return fail_tensor(checkpoint, name,
                           "is stored in a type that cannot be converted (F32, "
                           "F16 and BF16 can)",
                           err);
    }
    const char *where = checkpoint->path.at;
    uint64_t at = checkpoint->data_at + tensor->begin;
    if (tensor->dtype == DTYPE_F32) {
        return read_exactly(checkpoint->fd, out, tensor->end - tensor->begin, at, where, err);
    }
    int64_t elems = shape_elems(&tensor->shape);
    for (int64_t done = 0; done < elems; done += CHUNK_ELEMS) {
        uint8_t stored[2 * CHUNK_ELEMS];
        int64_t count = min_i64(CHUNK_ELEMS, elems - done);
        if (!read_exactly(checkpoint->fd, stored, 2 * (uint64_t)count, at + 2 * (uint64_t)done,
                          where, err)) {
            return false;
        }
        convert(tensor->dtype, stored, count, out + done);
    }
    return true;
}

static bool open_file(Checkpoint *checkpoint, const char *path, Arena *keep, Arena scratch,
                      Error *err)
{
    struct stat info;
    if (fstat(checkpoint->fd, &info) != 0) {
        return error_set(err, ERROR_INPUT, path, "cannot be examined: %s", strerror(errno));
    }
    if (!S_ISREG(info.st_mode)) {
        return error_set(err, ERROR_INPUT, path, "not a regular file");
    }
    uint64_t file_bytes = (uint64_t)info.st_size, header = 0;
    uint8_t prefix[8] = {0};
    if (file_bytes >= 8) {
        if (!read_exactly(checkpoint->fd, prefix, 8, 0, path, err)) {
            return false;
        }
        for (int i = 7; i >= 0; i--) {
            header = header << 8 | prefix[i];
        }
    }
    /* A header that is too long is judged by safetensors_parse; its text is not needed for that. */
    uint64_t text_bytes = file_bytes < 8 ? file_bytes : 8;
    if (header <= HEADER_BYTES_MAX && file_bytes >= 8 && header <= file_bytes - 8) {
        text_bytes += header;
    }
    if (arena_room(&scratch) < (isize)text_bytes + 64) {
        return error_set(err, ERROR_INPUT, path,
                         "header of %llu bytes: more than the memory set "
                         "aside for it",
                         (unsigned long long)header);
    }
    char *text = arena_alloc(&scratch, (isize)text_bytes, 1);
    if (!read_exactly(checkpoint->fd, text, text_bytes, 0, path, err)) {
        return false;
    }
    Checkpoint parsed;
    if (!safetensors_parse((Str){text, (isize)text_bytes}, file_bytes, keep, scratch, &parsed,
                           err)) {
        return error_context(err, "%s", path);
    }
    parsed.fd = checkpoint->fd;
    parsed.path = str_copy(str_of(path), keep);
    *checkpoint = parsed;
    return true;
}

bool read_exactly(int fd, void *at, uint64_t len, uint64_t file_at, const char *where, Error *err)
{
    uint8_t *to = at;
    if (file_at > INT64_MAX || len > INT64_MAX - file_at) {
        return error_set(err, ERROR_INPUT, where, "position beyond what this system can read");
    }
    while (len > 0) {
        size_t part = len < (uint64_t)1 << 30 ? (size_t)len : (size_t)1 << 30;
        ssize_t got = pread(fd, to, part, (off_t)file_at);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return error_set(err, ERROR_INPUT, where, "cannot be read: %s", strerror(errno));
        }
        if (got == 0) {
            return error_set(err, ERROR_INPUT, where, "ends at byte %llu, which it did not before",
                             (unsigned long long)file_at);
        }
        to += got;
        len -= (uint64_t)got;
        file_at += (uint64_t)got;
    }
    return true;
}

const SafeTensor *checkpoint_find(const Checkpoint *checkpoint, Str name)
{
    isize low = 0, high = checkpoint->tensors.len;
    while (low < high) {
        isize middle = low + (high - low) / 2;
        int order = str_compare(checkpoint->tensors.at[middle].name, name);
        if (order == 0) {
            return &checkpoint->tensors.at[middle];
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}

bool safetensors_open(const char *path, Arena *keep, Arena scratch, Checkpoint *out, Error *err)
{
    Checkpoint checkpoint = {.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    *out = (Checkpoint){.fd = -1};
    if (checkpoint.fd < 0) {
        return error_set(err, ERROR_INPUT, path, "cannot be opened: %s", strerror(errno));
    }
    if (!open_file(&checkpoint, path, keep, scratch, err)) {
        (void)close(checkpoint.fd);
        return false;
    }
    *out = checkpoint;
    return true;
}

void checkpoint_close(Checkpoint *checkpoint)
{
    if (checkpoint->fd >= 0) {
        (void)close(checkpoint->fd);
    }
    *checkpoint = (Checkpoint){.fd = -1};
}

TensorSource checkpoint_source(Checkpoint *checkpoint)
{
    return (TensorSource){.context = checkpoint, .find = source_find, .read = source_read};
}
