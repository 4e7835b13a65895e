/* The CSV of google/minimalloc as a plain problem: requests of one range [0, capacity), without elements (docs/place.md).
 *
 *   id,lower,upper,size
 *   b1,0,3,4
 *
 * A lifetime is half-open. Nothing is guessed: quotes, carriage returns and a last line without its end are refused, as a file
 * that was cut off would otherwise be another problem.
 */
#include "place/place.h"
#include <stdio.h>

enum { FIELD_ID = 0, FIELD_LOWER, FIELD_UPPER, FIELD_SIZE, FIELD_COUNT };

static const struct {
    const char *name;
    int64_t min, max;
} fields[FIELD_COUNT] = {[FIELD_ID] = {"id", 0, 0},
                         [FIELD_LOWER] = {"lower", 0, INT32_MAX},
                         [FIELD_UPPER] = {"upper", 0, INT32_MAX},
                         [FIELD_SIZE] = {"size", 1, INT32_MAX}};

typedef struct Reader {
    char where[32]; /* line of the input */
    int line;
    StrMap lines; /* of ids */
    Arena *keep, *scratch;
    Error *err;
} Reader;

static bool refuse(Reader *reader, const char *what, Str found)
{
    return error_set(reader->err, ERROR_INPUT, reader->where, "expected %s, found \"%.*s\"", what,
                     STR_ARG(str_shown(found, reader->scratch)));
}

static bool is_decimal(Str text)
{
    for (isize i = 0; i < text.len; i++) {
        if (text.at[i] < '0' || text.at[i] > '9') {
            return false;
        }
    }
    return text.len > 0;
}

static bool read_number(Reader *reader, int field, Str text, int64_t *out)
{
    if (is_decimal(text) && str_to_int(text, out) && *out >= fields[field].min &&
        *out <= fields[field].max) {
        return true;
    }
    Str range = str_format(reader->scratch, "%s in %lld..%lld", fields[field].name,
                           (long long)fields[field].min, (long long)fields[field].max);
    return refuse(reader, range.at, text);
}

/* A name that was not there before. */
static bool read_id(Reader *reader, Str id)
{
    if (id.len == 0 || str_trim(id).len != id.len) { /* the text form could not keep them */
        return refuse(reader, "an id without spaces around it", id);
    }
    uint32_t *line = str_map_put(&reader->lines, id, reader->scratch);
    if (*line > 0) {
        return error_set(reader->err, ERROR_INPUT, reader->where, "id \"%.*s\" is also in line %u",
                         STR_ARG(str_shown(id, reader->scratch)), *line);
    }
    *line = (uint32_t)reader->line;
    return true;
}

static bool read_request(Reader *reader, Str line, PlaceRequestVec *out)
{
    Str rest = line, id = str_cut(&rest, ',');
    int64_t values[FIELD_COUNT];
    int commas = 0;
    for (isize i = 0; i < line.len; i++) {
        commas += line.at[i] == ',';
    }
    if (commas != FIELD_COUNT - 1) {
        return refuse(reader, "four fields id,lower,upper,size", line);
    }
    for (int i = FIELD_LOWER; i < FIELD_COUNT; i++) {
        if (!read_number(reader, i, str_cut(&rest, ','), &values[i])) {
            return false;
        }
    }
    if (values[FIELD_LOWER] >= values[FIELD_UPPER]) {
        return refuse(reader, "lower < upper", line);
    }
    if (out->len == PLACE_REQUESTS_MAX) {
        return error_set(reader->err, ERROR_INPUT, reader->where, "too many requests (%d)",
                         PLACE_REQUESTS_MAX);
    }
    if (!read_id(reader, id)) {
        return false;
    }
    *vec_push(out, reader->keep) = (PlaceRequest){.bytes = (uint32_t)values[FIELD_SIZE],
                                                  .align = 1,
                                                  .first = (int32_t)values[FIELD_LOWER],
                                                  .last = (int32_t)values[FIELD_UPPER],
                                                  .count = 1,
                                                  .address = PLACE_NOWHERE,
                                                  .name = str_copy(id, reader->keep)};
    return true;
}

/* Cuts the next line, which ends (an empty text is an empty line) and holds nothing but printable bytes and no quote. */
static bool next_line(Reader *reader, Str *text, Str *line)
{
    (void)snprintf(reader->where, sizeof reader->where, "line %d", ++reader->line);
    bool is_ended = text->len == 0 || str_find(*text, '\n', 0) >= 0;
    *line = str_cut(text, '\n');
    if (!str_is_printable(*line)) {
        return refuse(reader, "printable text up to a newline", *line);
    }
    if (str_find(*line, '"', 0) >= 0) {
        return refuse(reader, "fields without quotes", *line);
    }
    return is_ended ||
           refuse(reader, "a newline behind the last line (is the file cut off?)", *line);
}

bool place_csv_parse(Str text, uint32_t capacity, Arena *keep, Arena scratch, PlaceProblem *out,
                     Error *err)
{
    static const char header[] = "id,lower,upper,size";
    Reader reader = {.keep = keep, .scratch = &scratch, .err = err};
    Str line;
    *out = (PlaceProblem){
        .tile = -1, .ranges = {{.begin = 0, .end = capacity}}, .range_count = 1, .limit = capacity};
    if (!next_line(&reader, &text, &line)) {
        return false;
    }
    if (!str_equal(line, str_of(header))) {
        return refuse(&reader, "the header id,lower,upper,size", line);
    }
    while (text.len > 0) {
        if (!next_line(&reader, &text, &line) || !read_request(&reader, line, &out->requests)) {
            return false;
        }
    }
    return true;
}
