/* NumPy .npy, format 1.0: magic, version, 16-bit header length, a Python dictionary, data.
 *
 * Only what our tools exchange: little-endian f4 in C order. The dictionary is read key by key in any order, and
 * the file must end exactly where the shape says.
 */
#include "import/parts.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PREFIX_BYTES = 10, ALIGN_BYTES = 64 };
static const char magic[] = "\x93NUMPY\x01"; /* followed by the minor version, 0 */

typedef struct NpyCursor {
    Str rest;
} NpyCursor;

static bool may_take(NpyCursor *cursor, Str text)
{
    while (cursor->rest.len > 0 && (cursor->rest.at[0] == ' ' || cursor->rest.at[0] == '\n')) {
        cursor->rest = str_slice(cursor->rest, 1, cursor->rest.len);
    }
    if (!str_starts(cursor->rest, text)) {
        return false;
    }
    cursor->rest = str_slice(cursor->rest, text.len, cursor->rest.len);
    return true;
}

static bool take_dimension(NpyCursor *cursor, int64_t *out)
{
    (void)may_take(cursor, S(""));
    isize len = 0;
    while (len < cursor->rest.len && cursor->rest.at[len] >= '0' && cursor->rest.at[len] <= '9') {
        len++;
    }
    Str digits = str_slice(cursor->rest, 0, len);
    cursor->rest = str_slice(cursor->rest, len, cursor->rest.len);
    return str_to_int(digits, out) && *out <= (int64_t)1 << 48;
}

/* A tuple: "()", "(3,)", "(3, 4)". */
static bool take_shape(NpyCursor *cursor, Shape *shape)
{
    *shape = (Shape){0};
    if (!may_take(cursor, S("("))) {
        return false;
    }
    while (!may_take(cursor, S(")"))) {
        if (shape->rank == SHAPE_RANK_MAX || !take_dimension(cursor, &shape->dim[shape->rank])) {
            return false;
        }
        shape->rank++;
        if (!may_take(cursor, S(","))) {
            return shape->rank > 1 && may_take(cursor, S(")"));
        }
    }
    return true;
}

/* NULL, or what is wrong. */
static const char *parse_header(Str text, Shape *shape)
{
    static const char malformed[] = "malformed header dictionary";
    NpyCursor cursor = {text};
    bool has_type = false, has_order = false, has_shape = false;
    if (!may_take(&cursor, S("{"))) {
        return malformed;
    }
    while (!may_take(&cursor, S("}"))) {
        if (!has_type && may_take(&cursor, S("'descr':"))) {
            has_type = true;
            if (!may_take(&cursor, S("'<f4'"))) {
                return "element type is not little-endian float32 ('<f4')";
            }
        } else if (!has_order && may_take(&cursor, S("'fortran_order':"))) {
            has_order = true;
            if (!may_take(&cursor, S("False"))) {
                return "arrays in Fortran order are not supported";
            }
        } else if (!has_shape && may_take(&cursor, S("'shape':"))) {
            has_shape = true;
            if (!take_shape(&cursor, shape)) {
                return "malformed shape, or more than 8 dimensions";
            }
        } else {
            return malformed;
        }
        if (!may_take(&cursor, S(","))) {
            if (!may_take(&cursor, S("}"))) {
                return malformed;
            }
            break;
        }
    }
    (void)may_take(&cursor, S(""));
    return has_type && has_order && has_shape && cursor.rest.len == 0 ? NULL : malformed;
}

static bool read_open(int fd, const char *path, Arena *keep, float **at, Shape *shape, Error *err)
{
    struct stat info;
    uint8_t prefix[PREFIX_BYTES];
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        return error_set(err, ERROR_INPUT, path, "not a regular file");
    }
    uint64_t file_bytes = (uint64_t)info.st_size;
    if (file_bytes < PREFIX_BYTES) {
        return error_set(err, ERROR_INPUT, path, "not an .npy file: only %llu bytes",
                         (unsigned long long)file_bytes);
    }
    if (!read_exactly(fd, prefix, PREFIX_BYTES, 0, path, err)) {
        return false;
    }
    if (memcmp(prefix, magic, 8) != 0) {
        return error_set(err, ERROR_INPUT, path, "not an .npy file of format 1.0");
    }
    char text[65536];
    uint64_t header = (uint64_t)prefix[8] | (uint64_t)prefix[9] << 8;
    if (header > file_bytes - PREFIX_BYTES) {
        return error_set(err, ERROR_INPUT, path, "its header of %llu bytes ends behind the file",
                         (unsigned long long)header);
    }
    if (!read_exactly(fd, text, header, PREFIX_BYTES, path, err)) {
        return false;
    }
    const char *wrong = parse_header((Str){text, (isize)header}, shape);
    if (wrong != NULL) {
        return error_set(err, ERROR_INPUT, path, "%s", wrong);
    }
    uint64_t bytes = 4, have = file_bytes - PREFIX_BYTES - header;
    for (int i = 0; i < shape->rank; i++) {
        if (__builtin_mul_overflow(bytes, (uint64_t)shape->dim[i], &bytes)) {
            return error_set(err, ERROR_INPUT, path, "the number of elements overflows");
        }
    }
    if (bytes != have) {
        return error_set(err, ERROR_INPUT, path, "its shape needs %llu bytes of data, found %llu",
                         (unsigned long long)bytes, (unsigned long long)have);
    }
    if ((uint64_t)arena_room(keep) < bytes + ALIGN_BYTES) {
        return error_set(err, ERROR_INPUT, path,
                         "%llu bytes of data: more than the memory set "
                         "aside for it",
                         (unsigned long long)bytes);
    }
    *at = arena_alloc(keep, (isize)bytes, ALIGN_BYTES);
    return read_exactly(fd, *at, bytes, PREFIX_BYTES + header, path, err);
}

bool npy_write(const char *path, const float *at, const Shape *shape, Arena scratch, Error *err)
{
    Writer writer = writer_buffer(&scratch);
    write_str(&writer, S("{'descr': '<f4', 'fortran_order': False, 'shape': ("));
    for (int i = 0; i < shape->rank; i++) {
        write_fmt(&writer, "%s%lld", i > 0 ? ", " : "", (long long)shape->dim[i]);
    }
    write_str(&writer, shape->rank == 1 ? S(",), }") : S("), }"));
    while ((PREFIX_BYTES + writer_text(&writer).len + 1) % ALIGN_BYTES != 0) {
        write_str(&writer, S(" "));
    }
    write_str(&writer, S("\n"));
    Str header = writer_text(&writer);
    uint8_t prefix[PREFIX_BYTES] = {0};
    memcpy(prefix, magic, 8);
    prefix[8] = (uint8_t)(header.len & 0xff);
    prefix[9] = (uint8_t)(header.len >> 8);
    FileOut file;
    if (!file_begin(&file, path, err)) {
        return false;
    }
    if (!file_append(&file, prefix, PREFIX_BYTES, err) ||
        !file_append(&file, header.at, header.len, err) ||
        !file_append(&file, at, (isize)shape_elems(shape) * 4, err)) {
        file_abandon(&file);
        return false;
    }
    return file_commit(&file, err);
}

bool npy_read(const char *path, Arena *keep, float **at, Shape *shape, Error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return error_set(err, ERROR_INPUT, path, "cannot be opened: %s", strerror(errno));
    }
    bool ok = read_open(fd, path, keep, at, shape, err);
    (void)close(fd);
    return ok;
}
