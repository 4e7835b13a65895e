/* Text form of an exchange problem and its schedule: one object a line, name=value (style.md 8).
 *
 *   exchange row_bytes_max=65536 row_range=0x4c000..0x5c000
 *   phase transfers=2 horizon=130 bound=121
 *   transfer source=12 address=0x80000 words=64 start=31 to=14@0x80000,66@0x90000
 *   row tile=12 words=4 end=95
 *
 * Tiles are physical. A transfer belongs to the last phase above it. The parts of a schedule (horizon, bound, start, row
 * lines) are printed when there is one, and checked for form but not kept by the parser.
 */
#include "exchange/exchange.h"
#include <stdio.h>

static void print_transfer(Writer *writer, const ExchangeProblem *problem, const Schedule *schedule,
                           int32_t index)
{
    const ExchangeTransfer *t = &problem->transfers.at[index];
    write_fmt(writer, "transfer source=%d address=0x%x words=%u", t->source.id, t->address,
              t->words);
    if (schedule != NULL) {
        write_fmt(writer, " start=%d", schedule->messages.at[index].start);
    }
    for (int32_t i = 0; i < t->receiver_count; i++) {
        const ExchangeReceiver *to = &problem->receivers.at[t->receiver_first + i];
        write_fmt(writer, "%s%d@0x%x", i == 0 ? " to=" : ",", to->tile.id, to->address);
    }
    write_str(writer, S("\n"));
}

void exchange_print(Writer *writer, const ExchangeProblem *problem, const Schedule *schedule)
{
    write_fmt(writer, "exchange row_bytes_max=%u row_range=0x%x..0x%x\n", problem->row_bytes_max,
              problem->row_range.begin, problem->row_range.end);
    isize row = 0;
    for (isize i = 0; i < problem->phases.len; i++) {
        const ExchangePhase *phase = &problem->phases.at[i];
        write_fmt(writer, "phase transfers=%d", phase->transfer_count);
        if (schedule != NULL) {
            write_fmt(writer, " horizon=%d bound=%d", schedule->horizon[i],
                      schedule->bounds[i].chosen.events);
        }
        write_str(writer, S("\n"));
        for (int32_t k = 0; k < phase->transfer_count; k++) {
            print_transfer(writer, problem, schedule, phase->transfer_first + k);
        }
        for (; schedule != NULL && row < schedule->rows.len && schedule->rows.at[row].phase == i;
             row++) {
            const Row *at = &schedule->rows.at[row];
            write_fmt(writer, "row tile=%d words=%d end=%d\n", at->tile.id, at->word_count,
                      at->end);
        }
    }
}

typedef struct Parser {
    int line;
    Error *err;
} Parser;

static bool refuse(const Parser *parser, const char *expected)
{
    char where[32];
    (void)snprintf(where, sizeof where, "line %d", parser->line);
    return error_set(parser->err, ERROR_INPUT, where, "expected %s", expected);
}

static bool parse_number(const Parser *parser, Str text, int64_t max, const char *name,
                         int64_t *out)
{
    if (!str_to_int(text, out) || *out < 0 || *out > max) {
        char expected[96];
        (void)snprintf(expected, sizeof expected, "%s=number in 0..%lld", name, (long long)max);
        return refuse(parser, expected);
    }
    return true;
}

/* Cuts the next `name=value` off the line and gives the number. */
static bool parse_field(const Parser *parser, Str *line, const char *name, int64_t max,
                        int64_t *out)
{
    Str item = str_cut(line, ' '), key = str_cut(&item, '=');
    if (!str_equal(key, str_of(name))) {
        char expected[64];
        (void)snprintf(expected, sizeof expected, "%s=number", name);
        return refuse(parser, expected);
    }
    return parse_number(parser, item, max, name, out);
}

/* A field of the schedule: may be absent. */
static bool parse_optional(const Parser *parser, Str *line, const char *name)
{
    int64_t ignored;
    Str rest = *line, item = str_cut(&rest, ' '), key = str_cut(&item, '=');
    return !str_equal(key, str_of(name)) || parse_field(parser, line, name, INT32_MAX, &ignored);
}

static bool parse_head(const Parser *parser, Str line, ExchangeProblem *out)
{
    int64_t bytes, begin, end;
    if (!parse_field(parser, &line, "row_bytes_max", UINT32_MAX, &bytes)) {
        return false;
    }
    Str item = line, key = str_cut(&item, '=');
    isize dots = str_find(item, '.', 0);
    if (!str_equal(key, S("row_range")) || dots < 0 ||
        !str_starts(str_slice(item, dots, item.len), S(".."))) {
        return refuse(parser, "row_range=begin..end");
    }
    if (!parse_number(parser, str_slice(item, 0, dots), SRAM_END, "row_range", &begin) ||
        !parse_number(parser, str_slice(item, dots + 2, item.len), SRAM_END, "row_range", &end)) {
        return false;
    }
    out->row_bytes_max = (uint32_t)bytes;
    out->row_range = (AddrRange){(uint32_t)begin, (uint32_t)end};
    return true;
}

static bool parse_transfer(const Parser *parser, Str line, Arena *keep, ExchangeProblem *out)
{
    int64_t source, address, words;
    if (!parse_field(parser, &line, "source", CHIP_TILES - 1, &source) ||
        !parse_field(parser, &line, "address", UINT32_MAX, &address) ||
        !parse_field(parser, &line, "words", UINT32_MAX, &words) ||
        !parse_optional(parser, &line, "start")) {
        return false;
    }
    if (!str_starts(line, S("to="))) {
        return refuse(parser, "to=tile@address,...");
    }
    ExchangeTransfer t = {.source = {(uint16_t)source},
                          .address = (uint32_t)address,
                          .words = (uint32_t)words,
                          .receiver_first = (int32_t)out->receivers.len};
    Str list = str_slice(line, 3, line.len);
    while (list.len > 0) {
        Str item = str_cut(&list, ','), tile_text = str_cut(&item, '@');
        int64_t tile;
        if (!parse_number(parser, tile_text, CHIP_TILES - 1, "tile", &tile) ||
            !parse_number(parser, item, UINT32_MAX, "address", &address)) {
            return false;
        }
        *vec_push(&out->receivers, keep) = (ExchangeReceiver){{(uint16_t)tile}, (uint32_t)address};
        t.receiver_count++;
    }
    out->phases.at[out->phases.len - 1].transfer_count++;
    *vec_push(&out->transfers, keep) = t;
    return true;
}

/* Transfers of the last phase against its own count. */
static bool close_phase(const Parser *parser, const ExchangeProblem *out, int64_t expected)
{
    if (out->phases.len > 0 && out->phases.at[out->phases.len - 1].transfer_count != expected) {
        return refuse(parser, "as many transfer lines as the phase says");
    }
    return true;
}

bool exchange_parse(Str text, Arena *keep, ExchangeProblem *out, Error *err)
{
    Parser parser = {.err = err};
    *out = (ExchangeProblem){0};
    int64_t expected = 0, ignored;
    bool has_head = false;
    while (text.len > 0) {
        Str line = str_trim(str_cut(&text, '\n'));
        parser.line++;
        if (line.len == 0 || line.at[0] == '#') {
            continue;
        }
        Str word = str_cut(&line, ' ');
        bool ok = false;
        if (!has_head) {
            ok = str_equal(word, S("exchange")) ? parse_head(&parser, line, out)
                                                : refuse(&parser, "`exchange` as the first line");
            has_head = true;
        } else if (str_equal(word, S("phase"))) {
            ok = close_phase(&parser, out, expected) &&
                 parse_field(&parser, &line, "transfers", INT32_MAX, &expected) &&
                 parse_optional(&parser, &line, "horizon") &&
                 parse_optional(&parser, &line, "bound");
            *vec_push(&out->phases, keep) =
                (ExchangePhase){.transfer_first = (int32_t)out->transfers.len};
        } else if (str_equal(word, S("transfer"))) {
            ok = out->phases.len > 0 ? parse_transfer(&parser, line, keep, out)
                                     : refuse(&parser, "a phase line before the first transfer");
        } else if (str_equal(word, S("row"))) {
            ok = parse_field(&parser, &line, "tile", CHIP_TILES - 1, &ignored) &&
                 parse_field(&parser, &line, "words", INT32_MAX, &ignored) &&
                 parse_field(&parser, &line, "end", INT32_MAX, &ignored);
        } else {
            ok = refuse(&parser, "exchange, phase, transfer or row");
        }
        if (!ok) {
            return false;
        }
    }
    return has_head ? close_phase(&parser, out, expected)
                    : refuse(&parser, "`exchange` as the first line");
}
