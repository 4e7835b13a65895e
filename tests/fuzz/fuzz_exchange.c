/* Hostile problem files: read, printed and read again they are the same; small ones get bounds and a schedule, which the checker
 * accepts, or a refusal, with the options that the length of the file stands for (libFuzzer target; `make fuzz`). Long loops are legal and only slow here: decimals of more than two digits are
 * skipped where there is a loop.
 */
#include "exchange/exchange.h"
#include "fuzz/fuzz.h"

static bool is_quick(Str text)
{
    bool has_loop = false, has_number = false;
    int digits = 0;
    for (isize i = 0; i < text.len; i++) {
        bool is_digit = text.at[i] >= '0' && text.at[i] <= '9';
        digits = is_digit ? digits + 1 : 0;
        has_number = has_number || digits > 2;
        has_loop = has_loop || str_starts(str_slice(text, i, text.len), S("for"));
        if (str_starts(str_slice(text, i, text.len), S("0x"))) {
            i += 2;
            while (i < text.len && ((text.at[i] >= '0' && text.at[i] <= '9') ||
                                    (text.at[i] >= 'a' && text.at[i] <= 'f'))) {
                i++;
            }
            digits = 0;
        }
    }
    return !has_loop || !has_number;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    enum { SMALL_TRANSFERS = 40, SMALL_WORDS = 4000 };
    Arena keep, scratch;
    fuzz_arenas(&keep, &scratch);
    ExchangeProblem problem, again;
    Error err = {0};
    Str text = {(const char *)data, (isize)bytes};
    Str head = S("exchange row_bytes_max=65536 row_range=0x4c000..0x5c000\n");
    if (!is_quick(str_starts(text, head) ? str_slice(text, head.len, text.len) : text)) {
        return 0;
    }
    if (!exchange_parse(text, &keep, &problem, &err)) {
        FUZZ_CHECK(err.code == ERROR_INPUT && err.where[0] != 0 && err.message[0] != 0);
        return 0;
    }
    if (problem.transfers.len > 10000 || problem.receivers.len > 100000 ||
        problem.offsets.len > 100000) {
        return 0;
    }
    Writer first = writer_buffer(&keep), second = writer_buffer(&keep);
    exchange_print(&first, &problem, NULL);
    FUZZ_CHECK(exchange_parse(writer_text(&first), &keep, &again, &err));
    exchange_print(&second, &again, NULL);
    FUZZ_CHECK(str_equal(writer_text(&first), writer_text(&second)));
    ExchangeBounds *bounds = arena_array(&keep, ExchangeBounds, problem.phases.len + 1);
    exchange_bounds(&problem, NULL, 1, scratch, bounds);
    int64_t words = 0;
    for (isize i = 0; i < problem.transfers.len; i++) {
        words += problem.transfers.at[i].words;
    }
    if (problem.transfers.len > SMALL_TRANSFERS || words > SMALL_WORDS ||
        problem.phases.len > SMALL_TRANSFERS) {
        return 0;
    }
    Schedule schedule;
    static const int32_t stream_words[] = {0, 0, 1, 7};
    ExchangeOptions options = {.threads = 1,
                               .is_compact = bytes % 2 != 0,
                               .stream_words = stream_words[bytes / 2 % 4],
                               .width = (ExchangeWidth)(bytes / 8 % 3)};
    if (exchange_solve(&problem, &options, &keep, scratch, &schedule, &err)) {
        FUZZ_CHECK(exchange_check(&problem, &schedule, 1, scratch, &err));
    } else {
        FUZZ_CHECK(err.code == ERROR_INPUT || err.code == ERROR_NO);
    }
    return 0;
}
