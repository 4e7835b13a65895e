/* Text form of an exchange problem and its schedule: one object a line, name=value (style.md 8; docs/exchange.md).
 *
 *   exchange row_bytes_max=65536 row_range=0x4c000..0x5c000
 *   name 7 the MLP's first product
 *   move 1 first=0 step=3072 count=27
 *   move 2 offsets=0,3072,9216,...
 *   phase transfers=2 iterations=27 horizon=130 bound=121
 *   transfer source=12 address=0x80000 words=64 move=1 start=31 width=64 provenance=7.0.0 to=14@0x80000
 *   message word=0 words=32 start=31 width=32
 *   row tile=12 words=4 end=95 move=1 patches=1
 *   patch word=2 move=1
 *
 * Tiles are physical. A transfer belongs to the last phase above it. The parts of a schedule (horizon, bound, start, width;
 * message lines for a transfer that is cut; row and patch lines) are printed when there is one, and checked for form but not
 * kept by the parser. A provenance is three ids (operation.value.reason) of the name lines. Lines that begin with for, let or if generate transfers (generate.c); what is printed is what they gave.
 */
#include "exchange/text.h"
#include <stdarg.h>
#include <stdio.h>

/* --- printing ------------------------------------------------------------------------------------------ */

static void print_provenance(Writer *writer, Provenance p)
{
    if (p.operation != 0 || p.value != 0 || p.reason != 0) {
        write_fmt(writer, " provenance=%u.%u.%u", p.operation, p.value, p.reason);
    }
}

/* Names may come from a model file: what would break the line is replaced. */
static void print_names(Writer *writer, const NameTable *names)
{
    for (isize i = 1; names != NULL && i < names->names.len; i++) {
        Str name = str_trim(names->names.at[i]);
        if (name.len > 0) {
            write_fmt(writer, "name %td ", i);
            for (isize k = 0; k < name.len; k++) {
                char c = name.at[k];
                bool is_joint = c == '\\' && k == name.len - 1;
                write_str(writer, is_joint || (c >= 0 && c < 32) ? S("?") : (Str){&name.at[k], 1});
            }
            write_str(writer, S("\n"));
        }
    }
}

static bool is_uniform(const ExchangeProblem *problem, int32_t move)
{
    const int32_t count = problem->moves.at[move].count;
    int64_t first = move_offset(problem, move, 0), step = 0;
    for (int32_t i = 1; i < count; i++) {
        int64_t offset = move_offset(problem, move, i);
        step = i == 1 ? offset - first : step;
        if (offset != first + i * step) {
            return false;
        }
    }
    return count > 2;
}

static void print_move(Writer *writer, const ExchangeProblem *problem, int32_t move)
{
    const int32_t count = problem->moves.at[move].count;
    if (is_uniform(problem, move)) {
        int32_t first = move_offset(problem, move, 0);
        write_fmt(writer, "move %d first=%d step=%lld count=%d\n", move, first,
                  (long long)move_offset(problem, move, 1) - first, count);
        return;
    }
    write_fmt(writer, "move %d offsets=", move);
    for (int32_t i = 0; i < count; i++) {
        write_fmt(writer, "%s%d", i == 0 ? "" : ",", move_offset(problem, move, i));
    }
    write_str(writer, S("\n"));
}

/* `message` is the transfer's first one and moves on to the next transfer's. */
static void print_transfer(Writer *writer, const ExchangeProblem *problem, const Schedule *schedule,
                           int32_t index, isize *message)
{
    const ExchangeTransfer *t = &problem->transfers.at[index];
    isize first = *message;
    write_fmt(writer, "transfer source=%d address=0x%x words=%u", t->source.id, t->address,
              t->words);
    if (t->move != 0) {
        write_fmt(writer, " move=%d", t->move);
    }
    while (schedule != NULL && *message < schedule->messages.len &&
           schedule->messages.at[*message].transfer == index) {
        (*message)++;
    }
    if (*message - first == 1) {
        const ExchangeMessage *m = &schedule->messages.at[first];
        write_fmt(writer, " start=%d%s", m->start, m->is_paired ? " width=64" : "");
    }
    print_provenance(writer, t->provenance);
    for (int32_t i = 0; i < t->receiver_count; i++) {
        const ExchangeReceiver *to = &problem->receivers.at[t->receiver_first + i];
        write_fmt(writer, "%s%d@0x%x", i == 0 ? " to=" : ",", to->tile.id, to->address);
    }
    write_str(writer, S("\n"));
    for (isize i = first; *message - first > 1 && i < *message; i++) {
        const ExchangeMessage *m = &schedule->messages.at[i];
        write_fmt(writer, "message word=%u words=%u start=%d%s\n", m->word_first, m->words,
                  m->start, m->is_paired ? " width=64" : "");
    }
}

static void print_row(Writer *writer, const Schedule *schedule, const Row *row)
{
    write_fmt(writer, "row tile=%d words=%d end=%d", row->tile.id, row->word_count, row->end);
    if (row->move != 0) {
        write_fmt(writer, " move=%d", row->move);
    }
    if (row->patch_count != 0) {
        write_fmt(writer, " patches=%d", row->patch_count);
    }
    write_str(writer, S("\n"));
    for (int32_t i = row->patch_first; i < row->patch_first + row->patch_count; i++) {
        const RowPatch *patch = &schedule->patches.at[i];
        write_fmt(writer, "patch word=%d move=%d\n", patch->word, patch->move);
    }
}

/* Tiles with equal events on one line. */
static void print_later(Writer *writer, const ExchangeProblem *problem, const ExchangePhase *phase)
{
    if (phase->later_count == 0) {
        return;
    }
    const ExchangeLater *later = &problem->later.at[phase->later_first];
    bool is_printed[CHIP_TILES] = {false};
    for (int32_t i = 0; i < phase->later_count; i++) {
        if (is_printed[i]) {
            continue;
        }
        write_fmt(writer, "later events=%d tiles=%d", later[i].events, later[i].tile.id);
        for (int32_t k = i + 1; k < phase->later_count; k++) {
            if (later[k].events == later[i].events) {
                write_fmt(writer, ",%d", later[k].tile.id);
                is_printed[k] = true;
            }
        }
        write_str(writer, S("\n"));
    }
}

void exchange_print(Writer *writer, const ExchangeProblem *problem, const Schedule *schedule)
{
    write_fmt(writer, "exchange row_bytes_max=%u row_range=0x%x..0x%x\n", problem->row_bytes_max,
              problem->row_range.begin, problem->row_range.end);
    print_names(writer, problem->names);
    for (int32_t i = 1; i < problem->moves.len; i++) {
        print_move(writer, problem, i);
    }
    isize row = 0, message = 0;
    for (isize i = 0; i < problem->phases.len; i++) {
        const ExchangePhase *phase = &problem->phases.at[i];
        write_fmt(writer, "phase transfers=%d", phase->transfer_count);
        if (phase->iterations > 1) {
            write_fmt(writer, " iterations=%d", phase->iterations);
        }
        if (schedule != NULL) {
            write_fmt(writer, " horizon=%d bound=%d", schedule->horizon[i],
                      schedule->bounds[i].chosen.events);
        }
        print_provenance(writer, phase->provenance);
        write_str(writer, S("\n"));
        print_later(writer, problem, phase);
        for (int32_t k = 0; k < phase->transfer_count; k++) {
            print_transfer(writer, problem, schedule, phase->transfer_first + k, &message);
        }
        for (; schedule != NULL && row < schedule->rows.len && schedule->rows.at[row].phase == i;
             row++) {
            print_row(writer, schedule, &schedule->rows.at[row]);
        }
    }
}

/* --- fields -------------------------------------------------------------------------------------------- */

bool text_refuse(const ProblemText *text, const char *format, ...)
{
    char where[32], message[256];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    (void)snprintf(where, sizeof where, "line %d", text->line);
    return error_set(text->err, ERROR_INPUT, where, "%s", message);
}

static bool parse_number(const ProblemText *text, Str digits, int64_t min, int64_t max,
                         const char *name, int64_t *out)
{
    return (str_to_int(digits, out) && *out >= min && *out <= max) ||
           text_refuse(text, "expected %s=number in %lld..%lld, found `%.*s`", name, (long long)min,
                       (long long)max, (int)min_i64(digits.len, 40), digits.at);
}

/* Is `name=` the next field of the line? */
static bool is_next(Str line, const char *name)
{
    return str_take(&line, str_of(name)) && line.len > 0 && line.at[0] == '=';
}

/* Cuts the next `name=value` off the line. */
static bool cut_field(const ProblemText *text, Str *line, const char *name, Str *value)
{
    if (!is_next(*line, name)) {
        Str item = str_cut(line, ' ');
        return item.len == 0 ? text_refuse(text, "expected %s=, found the end of the line", name)
                             : text_refuse(text, "expected %s=, found `%.*s`", name,
                                           (int)min_i64(item.len, 40), item.at);
    }
    *value = str_cut(line, ' ');
    (void)str_cut(value, '=');
    *line = str_trim(*line);
    return true;
}

static bool parse_field(const ProblemText *text, Str *line, const char *name, int64_t min,
                        int64_t max, int64_t *out)
{
    Str value;
    return cut_field(text, line, name, &value) && parse_number(text, value, min, max, name, out);
}

/* A field that may be absent; *out stays as it is then. */
static bool parse_optional(const ProblemText *text, Str *line, const char *name, int64_t min,
                           int64_t max, int64_t *out)
{
    return !is_next(*line, name) || parse_field(text, line, name, min, max, out);
}

static bool parse_provenance(const ProblemText *text, Str *line, Provenance *out)
{
    int64_t operation, value, reason;
    Str ids;
    if (!is_next(*line, "provenance")) {
        return true;
    }
    if (!cut_field(text, line, "provenance", &ids)) {
        return false;
    }
    Str first = str_cut(&ids, '.'), second = str_cut(&ids, '.');
    if (!parse_number(text, first, 0, UINT32_MAX, "provenance operation", &operation) ||
        !parse_number(text, second, 0, UINT32_MAX, "provenance value", &value) ||
        !parse_number(text, ids, 0, UINT32_MAX, "provenance reason", &reason)) {
        return false;
    }
    *out = (Provenance){(uint32_t)operation, (uint32_t)value, (uint32_t)reason};
    return true;
}

static bool parse_end(const ProblemText *text, Str line)
{
    return line.len == 0 || text_refuse(text, "expected the end of the line, found `%.*s`",
                                        (int)min_i64(line.len, 40), line.at);
}

/* --- lines --------------------------------------------------------------------------------------------- */

static bool parse_head(ProblemText *text, Str line)
{
    int64_t bytes, begin, end;
    Str range;
    if (!parse_field(text, &line, "row_bytes_max", 0, UINT32_MAX, &bytes) ||
        !cut_field(text, &line, "row_range", &range)) {
        return false;
    }
    isize dots = str_find(range, '.', 0);
    if (dots < 0 || !str_starts(str_slice(range, dots, range.len), S(".."))) {
        return text_refuse(text, "expected row_range=begin..end");
    }
    if (!parse_number(text, str_slice(range, 0, dots), 0, SRAM_END, "row_range", &begin) ||
        !parse_number(text, str_slice(range, dots + 2, range.len), 0, SRAM_END, "row_range",
                      &end)) {
        return false;
    }
    text->out->row_bytes_max = (uint32_t)bytes;
    text->out->row_range = (AddrRange){(uint32_t)begin, (uint32_t)end};
    return parse_end(text, line);
}

static bool add_offset(ProblemText *text, int64_t offset)
{
    ExchangeProblem *out = text->out;
    if (offset < -(int64_t)SRAM_BYTES || offset > SRAM_BYTES || offset % 4 != 0) {
        return text_refuse(text, "X14: expected an offset in whole words inside SRAM, found %lld",
                           (long long)offset);
    }
    if (out->offsets.len == TEXT_OFFSETS_MAX) {
        return text_refuse(text, "expected at most %d offsets of moves", TEXT_OFFSETS_MAX);
    }
    OffsetSpan *span = &text->spans.at[text->spans.len - 1];
    span->least = (int32_t)min_i64(span->least, offset);
    span->largest = (int32_t)max_i64(span->largest, offset);
    *vec_push(&out->offsets, text->keep) = (ExchangeOffset)offset;
    out->moves.at[out->moves.len - 1].count++;
    return true;
}

static bool parse_move(ProblemText *text, Str line)
{
    ExchangeProblem *out = text->out;
    int64_t index, first, step, count;
    if (out->moves.len == 0) {
        *vec_push(&out->moves, text->keep) = (ExchangeMove){0};
        *vec_push(&text->spans, text->keep) = (OffsetSpan){0};
    }
    Str number = str_cut(&line, ' ');
    if (!str_to_int(number, &index) || index != out->moves.len) {
        return text_refuse(text, "expected move %td, found `%.*s`", out->moves.len,
                           (int)min_i64(number.len, 40), number.at);
    }
    *vec_push(&out->moves, text->keep) = (ExchangeMove){(int32_t)out->offsets.len, 0};
    *vec_push(&text->spans, text->keep) = (OffsetSpan){INT32_MAX, INT32_MIN};
    if (is_next(line, "first")) {
        if (!parse_field(text, &line, "first", -(int64_t)SRAM_BYTES, SRAM_BYTES, &first) ||
            !parse_field(text, &line, "step", -(int64_t)SRAM_BYTES, SRAM_BYTES, &step) ||
            !parse_field(text, &line, "count", 1, SRAM_WORDS, &count)) {
            return false;
        }
        for (int64_t i = 0; i < count; i++) {
            if (!add_offset(text, first + i * step)) {
                return false;
            }
        }
        return parse_end(text, line);
    }
    Str list;
    if (!cut_field(text, &line, "offsets", &list) || !parse_end(text, line)) {
        return false;
    }
    for (bool is_last = false; !is_last;) {
        int64_t offset;
        is_last = str_find(list, ',', 0) < 0;
        if (!parse_number(text, str_cut(&list, ','), -(int64_t)SRAM_BYTES, SRAM_BYTES, "offset",
                          &offset) ||
            !add_offset(text, offset)) {
            return false;
        }
    }
    return true;
}

/* Transfers of the last phase against its own count. */
static bool close_phase(const ProblemText *text)
{
    const ExchangePhaseVec *phases = &text->out->phases;
    if (phases->len > 0 && text->expected >= 0 &&
        phases->at[phases->len - 1].transfer_count != text->expected) {
        return text_refuse(text,
                           "expected as many transfers as the phase says (%lld), found %d above",
                           (long long)text->expected, phases->at[phases->len - 1].transfer_count);
    }
    return true;
}

static int by_tile(const void *a, const void *b, const void *context)
{
    (void)context;
    return ((const ExchangeLater *)a)->tile.id - ((const ExchangeLater *)b)->tile.id;
}

/* The entries of a phase lie together: its lines stand before the next phase. */
static bool parse_later(ProblemText *text, Str line)
{
    ExchangeProblem *out = text->out;
    ExchangePhase *phase = &out->phases.at[out->phases.len - 1];
    int64_t events, tile;
    Str list;
    if (!parse_field(text, &line, "events", 1, EXCHANGE_LATER_MAX, &events) ||
        !cut_field(text, &line, "tiles", &list) || !parse_end(text, line)) {
        return false;
    }
    do {
        if (!parse_number(text, str_cut(&list, ','), 0, CHIP_TILES - 1, "tile", &tile)) {
            return false;
        }
        for (int32_t i = 0; i < phase->later_count; i++) {
            if (out->later.at[phase->later_first + i].tile.id == tile) {
                return text_refuse(text, "expected every tile once, found tile %lld twice",
                                   (long long)tile);
            }
        }
        *vec_push(&out->later, text->keep) = (ExchangeLater){{(uint16_t)tile}, (Event)events};
        phase->later_count++;
    } while (list.len > 0);
    sort_stable(out->later.at + phase->later_first, phase->later_count, sizeof(ExchangeLater),
                by_tile, NULL, *text->keep);
    return true;
}

static bool parse_phase(ProblemText *text, Str line)
{
    int64_t iterations = 0, ignored;
    ExchangePhase phase = {.transfer_first = (int32_t)text->out->transfers.len,
                           .later_first = (int32_t)text->out->later.len};
    if (!close_phase(text)) {
        return false;
    }
    text->expected = -1;
    if (!parse_optional(text, &line, "transfers", 0, INT32_MAX, &text->expected) ||
        !parse_optional(text, &line, "iterations", 1, INT32_MAX, &iterations) ||
        !parse_optional(text, &line, "horizon", 0, INT32_MAX, &ignored) ||
        !parse_optional(text, &line, "bound", 0, INT32_MAX, &ignored) ||
        !parse_provenance(text, &line, &phase.provenance)) {
        return false;
    }
    if (text->out->phases.len == TEXT_PHASES_MAX) {
        return text_refuse(text, "expected at most %d phases", TEXT_PHASES_MAX);
    }
    phase.iterations = (int32_t)iterations;
    *vec_push(&text->out->phases, text->keep) = phase;
    return parse_end(text, line);
}

bool text_add_receiver(ProblemText *text, int64_t tile, int64_t address)
{
    ExchangeProblem *out = text->out;
    if (tile < 0 || tile >= CHIP_TILES) {
        return text_refuse(text, "expected a receiving tile in 0..%d, found %lld", CHIP_TILES - 1,
                           (long long)tile);
    }
    if (address < 0 || address > UINT32_MAX || address % 4 != 0) {
        return text_refuse(text,
                           "X14: expected a destination address in whole words (a multiple of 4), "
                           "found 0x%llx",
                           (unsigned long long)address);
    }
    if (out->receivers.len == TEXT_RECEIVERS_MAX) {
        return text_refuse(text, "expected at most %d receivers", TEXT_RECEIVERS_MAX);
    }
    int32_t transfer = (int32_t)out->transfers.len + 1;
    if (text->seen[tile] == transfer) {
        return text_refuse(text, "X13: expected every receiver once, found tile %lld twice",
                           (long long)tile);
    }
    text->seen[tile] = transfer;
    *vec_push(&out->receivers, text->keep) =
        (ExchangeReceiver){{(uint16_t)tile}, (uint32_t)address};
    return true;
}

/* Every range that the transfer touches lies in SRAM (X14). */
static bool check_ranges(const ProblemText *text, const TransferText *from)
{
    const ExchangeReceiverVec *receivers = &text->out->receivers;
    OffsetSpan span = from->move != 0 ? text->spans.at[from->move] : (OffsetSpan){0};
    int64_t first = from->address + span.least, end = from->address + span.largest + from->bytes;
    if (first < SRAM_BASE || end > SRAM_END) {
        return text_refuse(text, "X14: expected a source inside 0x%x..0x%x, found 0x%llx..0x%llx",
                           SRAM_BASE, SRAM_END, (long long)first, (long long)end);
    }
    for (isize i = from->receiver_first; i < receivers->len; i++) {
        const uint32_t address = receivers->at[i].address;
        if (!range_in_sram(address, (uint32_t)from->bytes)) {
            return text_refuse(text,
                               "X14: expected a destination inside 0x%x..0x%x, found 0x%x..0x%llx",
                               SRAM_BASE, SRAM_END, address, (long long)address + from->bytes);
        }
    }
    return true;
}

/* Also counts what moving sources read: every rule about memory is looked at for every iteration. */
static bool check_move(ProblemText *text, int64_t move)
{
    const ExchangeProblem *out = text->out;
    int32_t iterations = out->phases.at[out->phases.len - 1].iterations;
    iterations = iterations == 0 ? 1 : iterations;
    if (move < 0 || (move != 0 && move >= out->moves.len)) {
        return text_refuse(text, "expected a move that a line above gives, found %lld",
                           (long long)move);
    }
    if (move == 0) {
        return true;
    }
    if (out->moves.at[move].count != iterations) {
        return text_refuse(text,
                           "expected a move with as many offsets as the phase has iterations "
                           "(%d), found %d",
                           iterations, out->moves.at[move].count);
    }
    text->moving_reads += iterations;
    return text->moving_reads <= TEXT_MOVING_READS_MAX ||
           text_refuse(text, "expected moving sources that read at most %d times in all iterations",
                       TEXT_MOVING_READS_MAX);
}

bool text_add_transfer(ProblemText *text, const TransferText *from)
{
    ExchangeProblem *out = text->out;
    int32_t count = (int32_t)out->receivers.len - from->receiver_first;
    if (from->source < 0 || from->source >= CHIP_TILES) {
        return text_refuse(text, "expected a source tile in 0..%d, found %lld", CHIP_TILES - 1,
                           (long long)from->source);
    }
    if (from->address < 0 || from->address > UINT32_MAX || from->address % 4 != 0) {
        return text_refuse(text,
                           "X14: expected a source address in whole words (a multiple of 4), found "
                           "0x%llx",
                           (unsigned long long)from->address);
    }
    if (from->bytes % 4 != 0) {
        return text_refuse(text,
                           "X14: expected whole words (a multiple of 4 bytes), found %lld bytes: "
                           "sub-word spans need a merge copy",
                           (long long)from->bytes);
    }
    if (from->bytes < 4 || from->bytes > 4 * FABRIC_MESSAGE_WORDS_MAX) {
        return text_refuse(text, "X14: expected 1..%d words, found %lld", FABRIC_MESSAGE_WORDS_MAX,
                           (long long)from->bytes / 4);
    }
    if (count == 0) {
        return text_refuse(text, "X13: expected a receiver, found none");
    }
    if (count == 1 && out->receivers.at[from->receiver_first].tile.id == from->source) {
        return text_refuse(text,
                           "X13: expected a receiver that is not the sender: a copy within "
                           "tile %lld is no exchange",
                           (long long)from->source);
    }
    if (out->transfers.len == TEXT_TRANSFERS_MAX) {
        return text_refuse(text, "expected at most %d transfers", TEXT_TRANSFERS_MAX);
    }
    if (!check_move(text, from->move) || !check_ranges(text, from)) {
        return false;
    }
    *vec_push(&out->transfers, text->keep) =
        (ExchangeTransfer){.source = {(uint16_t)from->source},
                           .address = (uint32_t)from->address,
                           .words = (uint32_t)(from->bytes / 4),
                           .receiver_first = from->receiver_first,
                           .receiver_count = count,
                           .move = (int32_t)from->move,
                           .provenance = from->provenance};
    out->phases.at[out->phases.len - 1].transfer_count++;
    return true;
}

static bool parse_receivers(ProblemText *text, Str list)
{
    for (bool is_last = list.len == 0; !is_last;) {
        is_last = str_find(list, ',', 0) < 0;
        Str item = str_cut(&list, ','), tile_text = item;
        int64_t tile, address;
        if (str_find(item, '@', 0) < 0) {
            return text_refuse(text, "expected to=tile@address,..., found `%.*s`",
                               (int)min_i64(item.len, 40), item.at);
        }
        tile_text = str_cut(&item, '@');
        if (!parse_number(text, tile_text, 0, CHIP_TILES - 1, "tile", &tile) ||
            !parse_number(text, item, 0, UINT32_MAX, "address", &address) ||
            !text_add_receiver(text, tile, address)) {
            return false;
        }
    }
    return true;
}

/* start= and width= of a scheduled transfer or message. */
static bool parse_start(const ProblemText *text, Str *line)
{
    int64_t start, width = 32;
    return parse_optional(text, line, "start", 0, INT32_MAX, &start) &&
           parse_optional(text, line, "width", 32, 64, &width) &&
           (width % 32 == 0 || text_refuse(text, "expected width=32 or width=64"));
}

static bool parse_transfer(ProblemText *text, Str line)
{
    TransferText t = {.receiver_first = (int32_t)text->out->receivers.len};
    int64_t words = 0;
    Str list;
    if (!parse_field(text, &line, "source", 0, CHIP_TILES - 1, &t.source) ||
        !parse_field(text, &line, "address", 0, UINT32_MAX, &t.address)) {
        return false;
    }
    if (is_next(line, "bytes") ? !parse_field(text, &line, "bytes", 0, UINT32_MAX, &t.bytes)
                               : !parse_field(text, &line, "words", 0, UINT32_MAX, &words)) {
        return false;
    }
    t.bytes += 4 * words;
    if (!parse_optional(text, &line, "move", 0, INT32_MAX, &t.move) || !parse_start(text, &line) ||
        !parse_provenance(text, &line, &t.provenance)) {
        return false;
    }
    if (!cut_field(text, &line, "to", &list)) {
        return false;
    }
    return parse_end(text, line) && parse_receivers(text, list) && text_add_transfer(text, &t);
}

static bool parse_message(const ProblemText *text, Str line)
{
    int64_t ignored;
    return parse_field(text, &line, "word", 0, FABRIC_MESSAGE_WORDS_MAX, &ignored) &&
           parse_field(text, &line, "words", 1, FABRIC_MESSAGE_WORDS_MAX, &ignored) &&
           parse_start(text, &line) && parse_end(text, line);
}

static bool parse_row(const ProblemText *text, Str line)
{
    int64_t ignored;
    return parse_field(text, &line, "tile", 0, CHIP_TILES - 1, &ignored) &&
           parse_field(text, &line, "words", 0, INT32_MAX, &ignored) &&
           parse_field(text, &line, "end", 0, INT32_MAX, &ignored) &&
           parse_optional(text, &line, "move", 0, INT32_MAX, &ignored) &&
           parse_optional(text, &line, "patches", 0, INT32_MAX, &ignored) && parse_end(text, line);
}

static bool parse_patch(const ProblemText *text, Str line)
{
    int64_t ignored;
    return parse_field(text, &line, "word", 0, INT32_MAX, &ignored) &&
           parse_field(text, &line, "move", 0, INT32_MAX, &ignored) && parse_end(text, line);
}

static bool parse_name(ProblemText *text, Str line)
{
    enum { NAMES_MAX = 1 << 20 };
    int64_t id;
    if (!parse_number(text, str_cut(&line, ' '), 1, NAMES_MAX, "name", &id)) {
        return false;
    }
    if (text->names == NULL) {
        text->names = arena_new(text->keep, NameTable);
        text->out->names = text->names;
    }
    while (text->names->names.len <= id) {
        *vec_push(&text->names->names, text->keep) = S("");
    }
    text->names->names.at[id] = str_copy(str_trim(line), text->keep);
    return true;
}

static bool is_generator(Str word, Str line)
{
    return str_equal(word, S("for")) || str_equal(word, S("let")) || str_equal(word, S("if")) ||
           (str_equal(word, S("transfer")) && str_find(line, '(', 0) >= 0);
}

/* Spaces for other blanks and for the joints of lines; the reader of formulas passes over both by itself. */
static Str spaced(Str line, Arena *arena)
{
    if (str_find(line, '\t', 0) < 0 && str_find(line, '\n', 0) < 0 && !str_ends(line, S("\\"))) {
        return line;
    }
    char *at = arena_array(arena, char, line.len);
    for (isize i = 0; i < line.len; i++) {
        char c = line.at[i];
        at[i] = c >= '\t' && c <= '\r' ? ' ' : c;
        isize joint = i;
        while (c == '\n' && joint > 0 && at[joint] == ' ') {
            joint--;
        }
        if (c == '\n') {
            at[joint] = ' '; /* the backslash */
        }
    }
    if (at[line.len - 1] == '\\') { /* nothing follows */
        at[line.len - 1] = ' ';
    }
    return str_trim((Str){at, line.len});
}

/* `line` as it is in the file, for formulas, and with spaces only. */
static bool parse_line(ProblemText *text, Str line, Str rest)
{
    Str word = str_cut(&rest, ' ');
    rest = str_trim(rest);
    if (str_equal(word, S("exchange"))) {
        return text_refuse(text, "expected `exchange` in the first line only");
    }
    if (is_generator(word, line)) {
        return generate_transfers(text, line);
    }
    if (str_equal(word, S("phase"))) {
        return parse_phase(text, rest);
    }
    if (str_equal(word, S("name"))) {
        return parse_name(text, rest);
    }
    if (str_equal(word, S("move"))) {
        return parse_move(text, rest);
    }
    if (str_equal(word, S("later"))) {
        return text->out->phases.len > 0
                   ? parse_later(text, rest)
                   : text_refuse(text, "expected a phase line before this one");
    }
    if (str_equal(word, S("transfer"))) {
        return text->out->phases.len > 0
                   ? parse_transfer(text, rest)
                   : text_refuse(text, "expected a phase line before the first transfer");
    }
    if (str_equal(word, S("message"))) {
        return parse_message(text, rest);
    }
    if (str_equal(word, S("row"))) {
        return parse_row(text, rest);
    }
    if (str_equal(word, S("patch"))) {
        return parse_patch(text, rest);
    }
    return text_refuse(
        text, "expected name, move, phase, later, transfer or row, or for, let or if; found `%.*s`",
        (int)min_i64(word.len, 40), word.at);
}

/* Cuts a line off, with the lines that a backslash at its end joins to it. Counts the lines in *count. */
static Str cut_line(Str *rest, int *count)
{
    const char *begin = rest->at;
    for (;;) {
        Str line = str_trim(str_cut(rest, '\n'));
        ++*count;
        if (!str_ends(line, S("\\")) || rest->len == 0) {
            return str_trim((Str){begin, line.at + line.len - begin});
        }
    }
}

bool exchange_parse(Str file, Arena *keep, ExchangeProblem *out, Error *err)
{
    ProblemText text = {.err = err, .keep = keep, .out = out, .expected = -1};
    text.formulas.arena = keep;
    text.seen = arena_array(keep, int32_t, CHIP_TILES);
    *out = (ExchangeProblem){0};
    bool has_head = false;
    int lines = 0;
    while (file.len > 0) {
        text.line = lines + 1;
        Str line = cut_line(&file, &lines), plain = spaced(line, keep);
        if (plain.len == 0 || plain.at[0] == '#') {
            continue;
        }
        bool ok = false;
        if (has_head) {
            ok = parse_line(&text, line, plain);
        } else {
            Str word = str_cut(&plain, ' ');
            ok = str_equal(word, S("exchange"))
                     ? parse_head(&text, str_trim(plain))
                     : text_refuse(&text, "expected `exchange` as the first line");
            has_head = true;
        }
        if (!ok) {
            return false;
        }
    }
    text.line = (int)max_i64(lines, 1);
    return has_head ? close_phase(&text)
                    : text_refuse(&text, "expected `exchange` as the first line");
}
