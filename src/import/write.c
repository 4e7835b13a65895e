/* Writing safetensors (safetensors.md 8): the same tensors give the same bytes.
 *
 * Metadata first, then tensors by descending element width, then by name; compact separators; the header padded
 * with blanks to a multiple of 8; data in the same order without gaps. The data pass through one buffer, so that
 * large fixtures need no memory of their own.
 */
#include "import/parts.h"
#include <string.h>

enum { CHUNK_ELEMS = 1 << 20 };

typedef struct WriteRow {
    const TensorData *tensor;
    isize index; /* in the caller's list */
} WriteRow;

static int compare_rows(const void *a, const void *b, const void *context)
{
    (void)context;
    const TensorData *x = ((const WriteRow *)a)->tensor, *y = ((const WriteRow *)b)->tensor;
    int widths = dtype_bytes(y->dtype) - dtype_bytes(x->dtype);
    return widths != 0 ? widths : str_compare(x->name, y->name);
}

static const char *stored_name(DType dtype)
{
    return dtype == DTYPE_F32 ? "F32" : dtype == DTYPE_F16 ? "F16" : "BF16";
}

static Str build_header(const WriteRow *rows, isize count, Arena *arena)
{
    Writer writer = writer_buffer(arena);
    write_str(&writer, S("{\"__metadata__\":{\"format\":\"pt\"}"));
    uint64_t at = 0;
    for (isize i = 0; i < count; i++) {
        const TensorData *tensor = rows[i].tensor;
        uint64_t bytes =
            (uint64_t)shape_elems(&tensor->shape) * (uint64_t)dtype_bytes(tensor->dtype);
        write_str(&writer, S(","));
        write_json_str(&writer, tensor->name);
        write_fmt(&writer, ":{\"dtype\":\"%s\",\"shape\":[", stored_name(tensor->dtype));
        for (int d = 0; d < tensor->shape.rank; d++) {
            write_fmt(&writer, "%s%lld", d > 0 ? "," : "", (long long)tensor->shape.dim[d]);
        }
        write_fmt(&writer, "],\"data_offsets\":[%llu,%llu]}", (unsigned long long)at,
                  (unsigned long long)(at + bytes));
        at += bytes;
    }
    write_str(&writer, S("}"));
    while (writer_text(&writer).len % 8 != 0) {
        write_str(&writer, S(" "));
    }
    return writer_text(&writer);
}

static bool write_rows(FileOut *file, const WriteRow *rows, isize count, TensorFill fill,
                       void *context, void *buffer, Error *err)
{
    for (isize i = 0; i < count; i++) {
        const TensorData *tensor = rows[i].tensor;
        int64_t elems = shape_elems(&tensor->shape);
        for (int64_t done = 0; done < elems; done += CHUNK_ELEMS) {
            int64_t part = min_i64(CHUNK_ELEMS, elems - done);
            fill(context, rows[i].index, done, part, buffer);
            if (!file_append(file, buffer, part * dtype_bytes(tensor->dtype), err)) {
                return false;
            }
        }
    }
    return true;
}

static void fill_from_memory(void *context, isize index, int64_t begin, int64_t count, void *out)
{
    const TensorData *tensor = (const TensorData *)context + index;
    int64_t bytes = dtype_bytes(tensor->dtype);
    memcpy(out, (const uint8_t *)tensor->at + begin * bytes, (size_t)(count * bytes));
}

bool safetensors_write_filled(const char *path, const TensorData *tensors, isize count,
                              TensorFill fill, void *context, Arena scratch, Error *err)
{
    WriteRow *rows = arena_array(&scratch, WriteRow, count);
    for (isize i = 0; i < count; i++) {
        ASSERT(dtype_is_float(tensors[i].dtype));
        rows[i] = (WriteRow){&tensors[i], i};
    }
    sort_stable(rows, count, sizeof(WriteRow), compare_rows, NULL, scratch);
    for (isize i = 1; i < count; i++) {
        ASSERT(!str_equal(rows[i - 1].tensor->name, rows[i].tensor->name));
    }
    void *buffer = arena_alloc(&scratch, (isize)CHUNK_ELEMS * 4, 64);
    Str header = build_header(rows, count, &scratch);
    ASSERT(header.len <= HEADER_BYTES_FORMAT);
    uint8_t length[8];
    for (int i = 0; i < 8; i++) {
        length[i] = (uint8_t)((uint64_t)header.len >> (8 * i));
    }
    FileOut file;
    if (!file_begin(&file, path, err)) {
        return false;
    }
    if (!file_append(&file, length, 8, err) || !file_append(&file, header.at, header.len, err) ||
        !write_rows(&file, rows, count, fill, context, buffer, err)) {
        file_abandon(&file);
        return false;
    }
    return file_commit(&file, err);
}

bool safetensors_write(const char *path, const TensorData *tensors, isize count, Arena scratch,
                       Error *err)
{
    return safetensors_write_filled(path, tensors, count, fill_from_memory,
                                    (void *)(uintptr_t)tensors, scratch, err);
}
