/* Text form of plain problems, and of a whole placement (style.md 8): one object a line, name=value (docs/place.md).
 *
 *   place tile=5 limit=0xe8000 name=siglip-tiny
 *   range begin=0x5c000 end=0x80000 element=16384
 *   range begin=0x80000 end=0xe7bb0 element=32768 interleaved=1
 *   request bytes=1024 tail=56 align=32 interleaved=1 first=0 last=7 name=blocks.mlp.up
 *   separate a=0 b=3
 *
 * A line's numbers may be left out where the form has a value for that, else they stand in the order of the form. The name
 * is the rest of the line. Requests are numbered from 0 in the order of their lines.
 */
#include "place/tile.h"
#include <stdio.h>
#include <string.h>

enum { REQUIRED = -1 };

typedef struct Field {
    const char *name;
    int64_t otherwise, min, max; /* otherwise: value when left out, or REQUIRED */
    bool is_hex;
} Field;

enum { FIELDS_MAX = 12, PROBLEMS_MAX = 10000 };

typedef enum Form {
    FORM_PLACE = 0,
    FORM_RANGE,
    FORM_REQUEST,
    FORM_SEPARATE,
    FORM_WISH,
    FORM_DONATE,
    FORM_COUNT
} Form;

enum { PLACE_TILE, PLACE_LIMIT };
enum { RANGE_BEGIN, RANGE_END, RANGE_ELEMENT, RANGE_INTERLEAVED, RANGE_WINDOW };
enum {
    REQUEST_BYTES,
    REQUEST_TAIL,
    REQUEST_ALIGN,
    REQUEST_INTERLEAVED,
    REQUEST_WINDOW,
    REQUEST_FIRST,
    REQUEST_LAST,
    REQUEST_COUNT,
    REQUEST_STRIDE0,
    REQUEST_STRIDE1,
    REQUEST_AT
};
enum { PAIR_A, PAIR_B, PAIR_WEIGHT };
enum { DONATE_FROM, DONATE_TO, DONATE_OFFSET };

static const struct {
    const char *word;
    bool has_name;
    Field fields[FIELDS_MAX];
} forms[FORM_COUNT] = {
    [FORM_PLACE] = {"place",
                    true,
                    {{"tile", CHIP_TILES, 0, CHIP_TILES - 1, false},
                     {"limit", UINT32_MAX, 1, UINT32_MAX, true}}},
    [FORM_RANGE] = {"range",
                    false,
                    {{"begin", REQUIRED, 0, UINT32_MAX, true},
                     {"end", REQUIRED, 0, UINT32_MAX, true},
                     {"element", 0, 1, 1 << 30, false},
                     {"interleaved", 0, 0, 1, false},
                     {"window", 0, 0, 1, false}}},
    [FORM_REQUEST] = {"request",
                      true,
                      {{"bytes", REQUIRED, 1, INT32_MAX, false},
                       {"tail", 0, 0, INT32_MAX, false},
                       {"align", 1, 1, PLACE_ALIGN_MAX, false},
                       {"interleaved", 0, 0, 1, false},
                       {"window", 0, 0, 1, false},
                       {"first", REQUIRED, 0, INT32_MAX, false},
                       {"last", REQUIRED, 0, INT32_MAX, false},
                       {"count", 1, 1, INT32_MAX, false},
                       {"stride", 0, 1, INT32_MAX, false},
                       {"interleaved_stride", 0, 1, INT32_MAX, false},
                       {"address", PLACE_NOWHERE, 0, UINT32_MAX - 1, true}}},
    [FORM_SEPARATE] = {"separate",
                       false,
                       {{"a", REQUIRED, 0, PLACE_REQUESTS_MAX, false},
                        {"b", REQUIRED, 0, PLACE_REQUESTS_MAX, false}}},
    [FORM_WISH] = {"wish",
                   false,
                   {{"a", REQUIRED, 0, PLACE_REQUESTS_MAX, false},
                    {"b", REQUIRED, 0, PLACE_REQUESTS_MAX, false},
                    {"weight", 1, 1, 1000 * 1000, false}}},
    [FORM_DONATE] = {"donate",
                     false,
                     {{"from", REQUIRED, 0, PLACE_REQUESTS_MAX, false},
                      {"to", REQUIRED, 0, PLACE_REQUESTS_MAX, false},
                      {"offset", 0, 0, INT32_MAX, false}}},
};

/* --- printing ------------------------------------------------------------------------------------------------------- */

/* Fields with another value than the one for left out. */
static void print_line(Writer *writer, Form form, const int64_t *values, Str name)
{
    write_str(writer, str_of(forms[form].word));
    for (const Field *field = forms[form].fields; field->name != NULL; field++, values++) {
        if (*values != field->otherwise) {
            write_fmt(writer, field->is_hex ? " %s=0x%llx" : " %s=%lld", field->name,
                      (long long)*values);
        }
    }
    if (name.len > 0) {
        write_fmt(writer, " name=%.*s", STR_ARG(name));
    }
    write_str(writer, S("\n"));
}

void place_problem_print(Writer *writer, const PlaceProblem *problem, const PlaceSolution *solution)
{
    int64_t head[] = {problem->tile < 0 ? CHIP_TILES : problem->tile, problem->limit};
    print_line(writer, FORM_PLACE, head, problem->name);
    for (int32_t i = 0; i < problem->range_count; i++) {
        const PlaceRange *r = &problem->ranges[i];
        int64_t v[] = {r->begin, r->end, r->element_bytes, r->is_interleaved, r->is_window};
        print_line(writer, FORM_RANGE, v, S(""));
    }
    for (isize i = 0; i < problem->requests.len; i++) {
        const PlaceRequest *r = &problem->requests.at[i];
        int64_t v[] = {r->bytes,
                       r->tail_bytes,
                       r->align,
                       r->is_interleaved,
                       r->may_use_window,
                       r->first,
                       r->last,
                       r->count,
                       r->stride[0],
                       r->stride[1],
                       solution != NULL ? solution->address[i] : r->address};
        print_line(writer, FORM_REQUEST, v, r->name);
    }
    for (isize i = 0; i < problem->pairs.len; i++) {
        int64_t v[] = {problem->pairs.at[i].a, problem->pairs.at[i].b};
        print_line(writer, FORM_SEPARATE, v, S(""));
    }
    for (isize i = 0; i < problem->wishes.len; i++) {
        const PlaceWish *w = &problem->wishes.at[i];
        print_line(writer, FORM_WISH, (int64_t[]){w->a, w->b, w->weight}, S(""));
    }
    for (isize i = 0; i < problem->donations.len; i++) {
        const PlaceDonation *d = &problem->donations.at[i];
        print_line(writer, FORM_DONATE, (int64_t[]){d->from, d->to, d->offset}, S(""));
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

/* --- reading -------------------------------------------------------------------------------------------------------- */

typedef struct Reader {
    char where[32]; /* line of the input */
    int line;
    int64_t values[FIELDS_MAX];
    Str name; /* of the line */
    Arena *keep;
    Error *err;
} Reader;

static bool refuse(Reader *reader, const char *what)
{
    return error_set(reader->err, ERROR_INPUT, reader->where, "%s", what);
}

/* `where` is a field of the line, by its place in the form. */
static bool refuse_field(Reader *reader, Form form, int where, const char *what)
{
    const Field *field = &forms[form].fields[where];
    return error_set(reader->err, ERROR_INPUT, reader->where,
                     field->is_hex ? "expected %s, found %s=0x%llx" : "expected %s, found %s=%lld",
                     what, field->name, (long long)reader->values[where]);
}

/* Decimal or 0x, without sign. */
static bool read_number(Str text, int64_t *out)
{
    bool is_plain = text.len > 0 && text.at[0] >= '0' && text.at[0] <= '9' &&
                    (text.len < 2 || text.at[1] != 'X');
    return is_plain && str_to_int(text, out);
}

/* The rest of a line does not go on as the form does. */
static bool refuse_rest(Reader *reader, Form form, Str rest, Str expected)
{
    Str item = rest, key = str_cut(&item, '=');
    char order[256] = "";
    bool is_known = false;
    for (const Field *field = forms[form].fields; field->name != NULL; field++) {
        size_t len = strlen(order);
        is_known = is_known || str_equal(key, str_of(field->name));
        (void)snprintf(order + len, sizeof order - len, " %s", field->name);
    }
    if (is_known) {
        return error_set(reader->err, ERROR_INPUT, reader->where,
                         "expected %.*s: \"%.*s\" stands twice or not in this order:%s",
                         STR_ARG(expected), STR_ARG(key), order);
    }
    return error_set(reader->err, ERROR_INPUT, reader->where, "expected %.*s, found \"%.*s\"",
                     STR_ARG(expected), STR_ARG(str_shown(rest, reader->keep)));
}

static bool read_fields(Reader *reader, Form form, Str line)
{
    int64_t *value = reader->values;
    for (const Field *field = forms[form].fields; field->name != NULL; field++, value++) {
        Str rest = line, item = str_cut(&rest, ' '), key = str_cut(&item, '=');
        *value = field->otherwise;
        if (!str_equal(key, str_of(field->name))) {
            if (field->otherwise != REQUIRED) {
                continue;
            }
            char expected[64];
            (void)snprintf(expected, sizeof expected, "%s=number", field->name);
            return refuse_rest(reader, form, line, str_of(expected));
        }
        if (!read_number(item, value) || *value < field->min || *value > field->max) {
            return error_set(reader->err, ERROR_INPUT, reader->where,
                             "expected %s=number in %lld..%lld, found \"%.*s\"", field->name,
                             (long long)field->min, (long long)field->max,
                             STR_ARG(str_shown(item, reader->keep)));
        }
        line = rest;
    }
    reader->name = S("");
    if (forms[form].has_name && str_starts(line, S("name="))) {
        (void)str_cut(&line, '=');
        reader->name = line;
        return true;
    }
    return line.len == 0 || refuse_rest(reader, form, line, S("the end of the line"));
}

static bool is_power_of_two(uint32_t value)
{
    return (value & (value - 1)) == 0;
}

static bool add_range(Reader *reader, PlaceProblem *out)
{
    const int64_t *v = reader->values;
    const PlaceRange *before = out->range_count > 0 ? &out->ranges[out->range_count - 1] : NULL;
    PlaceRange range = {.begin = (uint32_t)v[RANGE_BEGIN],
                        .end = (uint32_t)v[RANGE_END],
                        .element_bytes = (uint32_t)v[RANGE_ELEMENT],
                        .is_interleaved = v[RANGE_INTERLEAVED] == 1,
                        .is_window = v[RANGE_WINDOW] == 1};
    if (out->requests.len > 0) {
        return refuse(reader, "expected ranges before requests, found a range behind one");
    }
    if (out->range_count == PLACE_RANGES_MAX) {
        return refuse(reader, "expected at most 16 ranges, found another");
    }
    if (range.begin > range.end) {
        return refuse_field(reader, FORM_RANGE, RANGE_END, "begin <= end");
    }
    if (range.end > out->limit) {
        return error_set(reader->err, ERROR_INPUT, reader->where,
                         "expected an end up to limit=0x%x of the line place, found end=0x%x",
                         out->limit, range.end);
    }
    if (!is_power_of_two(range.element_bytes)) {
        return refuse_field(reader, FORM_RANGE, RANGE_ELEMENT, "a power of two");
    }
    if (before != NULL && before->end > range.begin) {
        return refuse_field(reader, FORM_RANGE, RANGE_BEGIN, "a range behind the one before it");
    }
    if (before != NULL && before->element_bytes != 0 &&
        before->element_bytes != range.element_bytes && range.begin % before->element_bytes != 0) {
        return refuse_field(reader, FORM_RANGE, RANGE_BEGIN,
                            "another element size to begin where an element ends");
    }
    out->ranges[out->range_count++] = range;
    return true;
}

/* Strides of a sequence, and none of others. */
static bool check_stride(Reader *reader, const PlaceRequest *request, int i)
{
    int where = i == 1 ? REQUEST_STRIDE1 : REQUEST_STRIDE0;
    uint32_t stride = request->stride[i];
    if ((request->count > 1) != (stride > 0)) {
        return request->count > 1
                   ? refuse_field(reader, FORM_REQUEST, REQUEST_COUNT,
                                  "both stride and interleaved_stride when count > 1")
                   : refuse_field(reader, FORM_REQUEST, where, "no strides without count > 1");
    }
    if (stride > 0 && stride < request->bytes) {
        return refuse_field(reader, FORM_REQUEST, where, "strides of at least bytes");
    }
    if (stride % request->align != 0) {
        return refuse_field(reader, FORM_REQUEST, where, "strides that are multiples of align");
    }
    return place_extent(request, i == 1) + request->tail_bytes <= UINT32_MAX ||
           refuse_field(reader, FORM_REQUEST, REQUEST_BYTES,
                        "less than 4 GiB of all members and the tail");
}

static bool add_request(Reader *reader, Arena *keep, PlaceProblem *out)
{
    const int64_t *v = reader->values;
    PlaceRequest request = {.bytes = (uint32_t)v[REQUEST_BYTES],
                            .tail_bytes = (uint32_t)v[REQUEST_TAIL],
                            .align = (uint32_t)v[REQUEST_ALIGN],
                            .first = (int32_t)v[REQUEST_FIRST],
                            .last = (int32_t)v[REQUEST_LAST],
                            .count = (int32_t)v[REQUEST_COUNT],
                            .stride = {(uint32_t)v[REQUEST_STRIDE0], (uint32_t)v[REQUEST_STRIDE1]},
                            .address = (uint32_t)v[REQUEST_AT],
                            .is_interleaved = v[REQUEST_INTERLEAVED] == 1,
                            .may_use_window = v[REQUEST_WINDOW] == 1,
                            .name = str_copy(reader->name, keep)};
    if (!is_power_of_two(request.align)) {
        return refuse_field(reader, FORM_REQUEST, REQUEST_ALIGN, "a power of two");
    }
    if (request.first >= request.last) {
        return refuse_field(reader, FORM_REQUEST, REQUEST_LAST, "first < last");
    }
    if (!check_stride(reader, &request, 0) || !check_stride(reader, &request, 1)) {
        return false;
    }
    if (out->requests.len == PLACE_REQUESTS_MAX) {
        return refuse(reader, "expected at most 50,000 requests, found another");
    }
    *vec_push(&out->requests, keep) = request;
    return true;
}

/* Two different requests that exist. */
static bool take_pair(Reader *reader, const PlaceProblem *out)
{
    const int64_t *v = reader->values;
    return (v[0] < out->requests.len && v[1] < out->requests.len && v[0] != v[1]) ||
           error_set(reader->err, ERROR_INPUT, reader->where,
                     "expected two different requests of the lines before, found %lld and %lld",
                     (long long)v[0], (long long)v[1]);
}

static bool add_object(Reader *reader, Form form, Arena *keep, PlaceProblem *out)
{
    const int64_t *v = reader->values;
    switch (form) {
    case FORM_RANGE:
        return add_range(reader, out);
    case FORM_REQUEST:
        return add_request(reader, keep, out);
    case FORM_SEPARATE:
        if (take_pair(reader, out)) {
            *vec_push(&out->pairs, keep) = (PlacePair){(int32_t)v[PAIR_A], (int32_t)v[PAIR_B]};
            return true;
        }
        return false;
    case FORM_WISH:
        if (take_pair(reader, out)) {
            *vec_push(&out->wishes, keep) =
                (PlaceWish){(int32_t)v[PAIR_A], (int32_t)v[PAIR_B], (int32_t)v[PAIR_WEIGHT]};
            return true;
        }
        return false;
    default:
        if (!take_pair(reader, out)) {
            return false;
        }
        if (out->requests.at[v[DONATE_FROM]].count > 1 ||
            out->requests.at[v[DONATE_TO]].count > 1) {
            return refuse(reader, "expected no sequence (count > 1) to be donated, found one");
        }
        *vec_push(&out->donations, keep) = (PlaceDonation){
            (int32_t)v[DONATE_FROM], (int32_t)v[DONATE_TO], (uint32_t)v[DONATE_OFFSET]};
        return true;
    }
}

static bool read_line(Reader *reader, Str line, Arena *keep, PlaceProblemVec *out)
{
    Str word = str_cut(&line, ' ');
    Form form = 0;
    while (form < FORM_COUNT && !str_equal(word, str_of(forms[form].word))) {
        form++;
    }
    if (form == FORM_COUNT || (form != FORM_PLACE && out->len == 0)) {
        return error_set(reader->err, ERROR_INPUT, reader->where,
                         "expected place, then range, request, separate, wish or donate, found "
                         "\"%.*s\"",
                         STR_ARG(str_shown(word, reader->keep)));
    }
    if (!read_fields(reader, form, line)) {
        return false;
    }
    if (form != FORM_PLACE) {
        return add_object(reader, form, keep, &out->at[out->len - 1]);
    }
    if (out->len == PROBLEMS_MAX) {
        return refuse(reader, "expected at most 10,000 problems, found another");
    }
    int64_t tile = reader->values[PLACE_TILE];
    *vec_push(out, keep) = (PlaceProblem){.tile = tile == CHIP_TILES ? -1 : (int32_t)tile,
                                          .limit = (uint32_t)reader->values[PLACE_LIMIT],
                                          .name = str_copy(reader->name, keep)};
    return true;
}

bool place_problem_parse(Str text, Arena *keep, PlaceProblemVec *out, Error *err)
{
    Reader reader = {.keep = keep, .err = err};
    *out = (PlaceProblemVec){0};
    while (text.len > 0) {
        isize left = text.len;
        Str whole = str_cut(&text, '\n'), line = str_trim(whole);
        (void)snprintf(reader.where, sizeof reader.where, "line %d", ++reader.line);
        if (!str_is_printable(whole)) {
            return refuse(&reader, "expected printable text (no control characters)");
        }
        if (line.len > 0 && line.at[0] != '#' && !read_line(&reader, line, keep, out)) {
            return false;
        }
        if (left == whole.len) {
            return refuse(&reader, "expected a newline at the end: is the file whole?");
        }
    }
    return out->len > 0 || error_set(err, ERROR_INPUT, NULL, "expected a line `place`");
}
