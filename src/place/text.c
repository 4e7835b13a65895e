/* Text form of one tile's problem, and of a whole placement (style.md 8): one object a line, name=value.
 *
 *   place tile=5
 *   available begin=0x5c000 end=0x80000
 *   available begin=0x80000 end=0xe7bb0
 *   request bytes=1024 tail=56 align=32 interleaved=1 first=0 last=7 name=12
 *   separate a=0 b=3
 *
 * Requests are numbered from 0 in the order of their lines.
 */
#include "place/tile.h"
#include <stdio.h>

void place_problem_print(Writer *writer, const PlaceProblem *problem)
{
    write_fmt(writer, "place tile=%d\n", problem->tile.id);
    for (int i = 0; i < 2; i++) {
        write_fmt(writer, "available begin=0x%x end=0x%x\n", problem->available[i].begin,
                  problem->available[i].end);
    }
    for (isize i = 0; i < problem->requests.len; i++) {
        const PlaceRequest *r = &problem->requests.at[i];
        write_fmt(writer,
                  "request bytes=%u tail=%u align=%u interleaved=%d first=%d last=%d name=%u\n",
                  r->bytes, r->tail_bytes, r->align, r->is_interleaved, r->first, r->last, r->name);
    }
    for (isize i = 0; i < problem->pairs.len; i++) {
        write_fmt(writer, "separate a=%d b=%d\n", problem->pairs.at[i].a, problem->pairs.at[i].b);
    }
}

void place_print(Writer *writer, const Work *work, const Placement *placement)
{
    for (int32_t i = 0; i < work->tiles; i++) {
        write_fmt(writer, "tile=%d used_bytes=%lld descriptor=0x%x block=0x%x block_stride=%u\n", i,
                  (long long)placement->used_bytes[i], placement->descriptor[i],
                  placement->block[i], placement->block_stride[i]);
    }
    for (int32_t i = 1; i < work->buffers.len; i++) {
        const Buffer *b = &work->buffers.at[i];
        write_fmt(writer, "buffer=%d tile=%d address=0x%x bytes=%u stride=%u first=%d last=%d", i,
                  b->tile.id, placement->address[i], b->bytes, placement->stride[i], b->first,
                  b->last);
        if (work->plan != NULL && b->value > 0 && b->value < work->plan->values.len) {
            write_fmt(writer, " value=%.*s", STR_ARG(work->plan->values.at[b->value].name));
        }
        write_str(writer, S("\n"));
    }
}

typedef struct Field {
    const char *name;
    int64_t max;
} Field;

/* Reads `name=number` for every field, in order, and nothing else. */
static bool parse_fields(Str line, int line_number, const Field *fields, int count, int64_t *values,
                         Error *err)
{
    char where[32];
    (void)snprintf(where, sizeof where, "line %d", line_number);
    for (int i = 0; i < count; i++) {
        Str item = str_cut(&line, ' '), key = str_cut(&item, '=');
        if (!str_equal(key, str_of(fields[i].name)) || !str_to_int(item, &values[i]) ||
            values[i] < 0 || values[i] > fields[i].max) {
            return error_set(err, ERROR_INPUT, where, "expected %s=number in 0..%lld",
                             fields[i].name, (long long)fields[i].max);
        }
    }
    return line.len == 0 || error_set(err, ERROR_INPUT, where, "expected the end of the line");
}

static bool parse_request(Str line, int line_number, Arena *keep, PlaceProblem *out, Error *err)
{
    static const Field fields[] = {{"bytes", SRAM_BYTES}, {"tail", SRAM_BYTES}, {"align", 1 << 20},
                                   {"interleaved", 1},    {"first", INT32_MAX}, {"last", INT32_MAX},
                                   {"name", UINT32_MAX}};
    int64_t v[7];
    if (!parse_fields(line, line_number, fields, 7, v, err)) {
        return false;
    }
    if (v[0] == 0 || v[2] == 0 || (v[2] & (v[2] - 1)) != 0 || v[4] >= v[5]) {
        char where[32];
        (void)snprintf(where, sizeof where, "line %d", line_number);
        return error_set(err, ERROR_INPUT, where,
                         "expected bytes > 0, align a power of two and first < last");
    }
    *vec_push(&out->requests, keep) = (PlaceRequest){.bytes = (uint32_t)v[0],
                                                     .tail_bytes = (uint32_t)v[1],
                                                     .align = (uint32_t)v[2],
                                                     .is_interleaved = v[3] == 1,
                                                     .first = (int32_t)v[4],
                                                     .last = (int32_t)v[5],
                                                     .name = (uint32_t)v[6]};
    return true;
}

bool place_problem_parse(Str text, Arena *keep, PlaceProblem *out, Error *err)
{
    static const Field head[] = {{"tile", CHIP_TILES - 1}};
    static const Field range[] = {{"begin", SRAM_END}, {"end", SRAM_END}};
    *out = (PlaceProblem){0};
    int line_number = 0, ranges = 0;
    bool has_head = false;
    int64_t v[2];
    while (text.len > 0) {
        Str line = str_trim(str_cut(&text, '\n'));
        line_number++;
        if (line.len == 0 || line.at[0] == '#') {
            continue;
        }
        Str word = str_cut(&line, ' ');
        bool ok = false;
        if (str_equal(word, S("place")) && !has_head) {
            ok = has_head = parse_fields(line, line_number, head, 1, v, err);
            out->tile.id = ok ? (uint16_t)v[0] : 0;
        } else if (has_head && str_equal(word, S("available")) && ranges < 2) {
            ok = parse_fields(line, line_number, range, 2, v, err);
            if (ok) {
                out->available[ranges++] = (AddrRange){(uint32_t)v[0], (uint32_t)v[1]};
            }
        } else if (has_head && str_equal(word, S("request"))) {
            ok = parse_request(line, line_number, keep, out, err);
        } else if (has_head && str_equal(word, S("separate"))) {
            Field pair[] = {{"a", out->requests.len - 1}, {"b", out->requests.len - 1}};
            ok = parse_fields(line, line_number, pair, 2, v, err);
            if (ok) {
                *vec_push(&out->pairs, keep) = (PlacePair){(int32_t)v[0], (int32_t)v[1]};
            }
        } else {
            char where[32];
            (void)snprintf(where, sizeof where, "line %d", line_number);
            return error_set(
                err, ERROR_INPUT, where,
                "expected place, then two lines of available, then requests and separations");
        }
        if (!ok) {
            return false;
        }
    }
    return (has_head && ranges == 2) ||
           error_set(err, ERROR_INPUT, NULL, "expected a line `place` and two lines `available`");
}
