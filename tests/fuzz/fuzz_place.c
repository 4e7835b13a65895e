/* Hostile placement problems, CSV where the text begins like one: read, printed and read again they are the same; small ones get an
 * answer, which the checks accept (libFuzzer target; `make fuzz`).
 */
#include "fuzz/fuzz.h"
#include "place/place.h"

static void check_answer(const PlaceProblem *problem, Arena *keep, Arena scratch)
{
    PlaceSolution solution;
    PlaceVerdict verdict;
    Error err = {0};
    PlaceOptions options = {.nodes_max = 1000};
    place_problem_solve(problem, &options, keep, scratch, &solution, &verdict);
    if (verdict.outcome == PLACE_PLACED) {
        FUZZ_CHECK(place_problem_check(problem, &solution, scratch, &err));
    } else if (verdict.outcome == PLACE_IMPOSSIBLE) {
        FUZZ_CHECK(place_certificate_check(problem, &verdict.certificate, &err));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    enum { SMALL_REQUESTS = 40 };
    Arena keep, scratch;
    fuzz_arenas(&keep, &scratch);
    Str text = {(const char *)data, (isize)bytes};
    PlaceProblemVec problems = {0}, again;
    Error err = {0};
    bool is_csv = str_starts(text, S("id,"));
    if (is_csv ? !place_csv_parse(text, 1000, &keep, scratch, vec_push(&problems, &keep), &err)
               : !place_problem_parse(text, &keep, &problems, &err)) {
        FUZZ_CHECK(err.code == ERROR_INPUT && err.message[0] != 0);
        return 0;
    }
    Writer first = writer_buffer(&keep), second = writer_buffer(&keep);
    for (isize i = 0; i < problems.len; i++) {
        place_problem_print(&first, &problems.at[i], NULL);
    }
    FUZZ_CHECK(place_problem_parse(writer_text(&first), &keep, &again, &err));
    FUZZ_CHECK(again.len == problems.len);
    for (isize i = 0; i < problems.len; i++) {
        place_problem_print(&second, &again.at[i], NULL);
        if (problems.at[i].requests.len <= SMALL_REQUESTS) {
            check_answer(&problems.at[i], &keep, scratch);
        }
    }
    FUZZ_CHECK(str_equal(writer_text(&first), writer_text(&second)));
    return 0;
}
