/* Output of `tessera bench place`: table, Markdown, JSON, text form (docs/place.md). */
#include "cli/bench_place.h"

enum { NAME_COLUMNS = 18, INDICES_A_LINE = 8 };

/* --- sums ----------------------------------------------------------------------------------------------- */

typedef struct PlaceSum {
    int64_t outcomes[PLACE_GAVE_UP + 1];
    int64_t problems, requests, peak_bytes, available_bytes, nodes;
    double solve_seconds, check_seconds;
} PlaceSum;

static PlaceSum sum_of(const PlaceRun *run, isize first, isize count)
{
    PlaceSum sum = {.problems = count};
    for (isize i = first; i < first + count; i++) {
        const PlaceRecord *record = &run->records[i];
        sum.outcomes[record->verdict.outcome]++;
        sum.requests += run->problems.at[i].requests.len;
        sum.peak_bytes += record->verdict.live_peak_bytes;
        sum.available_bytes += record->verdict.available_bytes;
        sum.nodes += record->verdict.nodes;
        sum.solve_seconds += record->solve_seconds;
        sum.check_seconds += record->check_seconds;
    }
    return sum;
}

static PlaceSum total_of(const PlaceRun *run)
{
    PlaceSum sum = sum_of(run, 0, run->problems.len);
    for (isize i = 0; i < run->items.len; i++) {
        sum.solve_seconds += run->items.at[i].solve_seconds;
        sum.check_seconds += run->items.at[i].check_seconds;
    }
    return sum;
}

static void print_total(Writer *out, const PlaceRun *run)
{
    PlaceSum sum = total_of(run);
    write_fmt(out,
              "all: %lld problem%s, %lld placed, %lld impossible, %lld gave up; %lld request%s, "
              "%lld search nodes;\n  solved in %.2f s, checked in %.2f s of host time; at most "
              "%lld MiB of host memory\n",
              (long long)sum.problems, sum.problems == 1 ? "" : "s",
              (long long)sum.outcomes[PLACE_PLACED], (long long)sum.outcomes[PLACE_IMPOSSIBLE],
              (long long)sum.outcomes[PLACE_GAVE_UP], (long long)sum.requests,
              sum.requests == 1 ? "" : "s", (long long)sum.nodes, sum.solve_seconds,
              sum.check_seconds, (long long)(cli_peak_bytes() >> 20));
}

/* --- lines of a table ----------------------------------------------------------------------------------- */

typedef struct PlaceLine {
    Str name, verdict;
    Str reason;    /* lines that say why not; empty when placed */
    isize problem; /* that is to be explained; -1: none */
    PlaceSum sum;
} PlaceLine;
VEC(PlaceLine);

static Str problem_name(const PlaceRun *run, isize problem, Arena *arena)
{
    const PlaceItem *item = &run->items.at[run->records[problem].item];
    return item->count == 1
               ? item->name
               : str_format(arena, "%.*s/%td", STR_ARG(item->name), problem - item->first);
}

static Str verdict_of(const PlaceVerdict *verdict, Arena *arena)
{
    if (verdict->outcome == PLACE_PLACED && verdict->broken_weight > 0) {
        return str_format(arena, "placed, breaks weight %lld", (long long)verdict->broken_weight);
    }
    if (verdict->outcome != PLACE_IMPOSSIBLE) {
        return verdict->outcome == PLACE_PLACED ? S("placed") : S("gave up");
    }
    int32_t count = verdict->certificate.count;
    return verdict->certificate.proof == PROOF_PEAK
               ? S("impossible (peak)")
               : str_format(arena, "impossible (%d request%s)", count, count == 1 ? "" : "s");
}

/* What a peak counts; every request is outside a window that is not there. */
static const char *kind_of(const PlaceProblem *problem, const PlaceCertificate *certificate)
{
    static const char *const kinds[2][2] = {
        {"", ", outside the window"},
        {", interleaved", ", interleaved outside the window"},
    };
    bool has_window = false;
    for (int32_t i = 0; i < problem->range_count; i++) {
        has_window = has_window || problem->ranges[i].is_window;
    }
    return kinds[certificate->is_interleaved][certificate->is_windowless && has_window];
}

static Str reason_of(const PlaceProblem *problem, const PlaceVerdict *verdict, Arena *arena)
{
    const PlaceCertificate *certificate = &verdict->certificate;
    if (verdict->outcome == PLACE_GAVE_UP && verdict->request >= 0) {
        return str_format(
            arena,
            "  no place for request %d (%u bytes); largest hole %u bytes; more --nodes may help\n",
            verdict->request, problem->requests.at[verdict->request].bytes, verdict->largest_hole);
    }
    if (certificate->proof == PROOF_PEAK) {
        return str_format(arena, "  short by %lld bytes in step %d%s\n",
                          (long long)verdict->short_bytes, certificate->step,
                          kind_of(problem, certificate));
    }
    Writer writer = writer_buffer(arena);
    for (int32_t i = 0; i < certificate->count; i++) {
        const char *between = i > 0 && i % INDICES_A_LINE == 0 ? "\n   " : "";
        const char *before =
            certificate->count == 1 ? "  fits nowhere: request" : "  do not fit together: requests";
        write_fmt(&writer, "%s %d", i == 0 ? before : between, certificate->requests[i]);
    }
    write_str(&writer, certificate->count > 0 ? S("\n") : S(""));
    return writer_text(&writer);
}

/* Empty when no minimum was looked for. */
static Str minimum_of(const PlaceRun *run, isize first, isize count, Arena *arena)
{
    isize found = 0, least = 0;
    int64_t fewest = INT64_MAX, most = 0;
    double seconds = 0;
    const PlaceMinimum *minimum = NULL;
    for (isize i = first; i < first + count; i++) {
        const PlaceRecord *record = &run->records[i];
        if (record->has_minimum) {
            minimum = &record->minimum;
            found++;
            least += minimum->end == minimum->proved_end;
            fewest = min_i64(fewest, minimum->spare_bytes);
            most = max_i64(most, minimum->spare_bytes);
            seconds += record->minimum_seconds;
        }
    }
    if (minimum == NULL) {
        return S("");
    }
    if (count > 1) {
        return str_format(
            arena, "  least ends: %td found, %td proved; %lld to %lld bytes to spare; %.2f s\n",
            found, least, (long long)fewest, (long long)most, seconds);
    }
    Str proof = least > 0 ? S("proved") : str_format(arena, "at least %u", minimum->proved_end);
    return str_format(arena, "  least end %u (%.*s), %lld bytes to spare; %lld nodes, %.2f s\n",
                      minimum->end, STR_ARG(proof), (long long)minimum->spare_bytes,
                      (long long)minimum->nodes, seconds);
}

static PlaceLine line_of_problem(const PlaceRun *run, isize problem, Arena *arena)
{
    const PlaceVerdict *verdict = &run->records[problem].verdict;
    return (PlaceLine){.name = problem_name(run, problem, arena),
                       .verdict = verdict_of(verdict, arena),
                       .reason = verdict->outcome == PLACE_PLACED
                                     ? minimum_of(run, problem, 1, arena)
                                     : reason_of(&run->problems.at[problem], verdict, arena),
                       .problem = verdict->outcome == PLACE_PLACED ? -1 : problem,
                       .sum = sum_of(run, problem, 1)};
}

static PlaceLine line_of_item(const PlaceRun *run, const PlaceItem *item, Arena *arena)
{
    PlaceSum sum = sum_of(run, item->first, item->count);
    Str verdict = str_format(arena, "%lld / %lld / %lld", (long long)sum.outcomes[PLACE_PLACED],
                             (long long)sum.outcomes[PLACE_IMPOSSIBLE],
                             (long long)sum.outcomes[PLACE_GAVE_UP]);
    sum.solve_seconds = item->solve_seconds;
    Str generated = item->is_generated
                        ? str_format(arena, "; generated in %.2f s", item->generate_seconds)
                        : S("");
    Str minimum = minimum_of(run, item->first, item->count, arena);
    bool is_unsaid = run->flags->is_explained && sum.outcomes[PLACE_PLACED] < item->count;
    Str reason = str_format(
        arena, "  %lld problems, %lld different%.*s\n%.*s%s", (long long)item->count,
        (long long)item->distinct, STR_ARG(generated), STR_ARG(minimum),
        is_unsaid ? "  not explained: only problems with a line of their own are\n" : "");
    return (PlaceLine){
        .name = item->name, .verdict = verdict, .reason = reason, .problem = -1, .sum = sum};
}

/* *has_groups: some line stands for a whole file. */
static PlaceLineVec lines_of(const PlaceRun *run, bool *has_groups, Arena *arena)
{
    PlaceLineVec lines = {0};
    *has_groups = false;
    for (isize i = 0; i < run->items.len; i++) {
        const PlaceItem *item = &run->items.at[i];
        if (bench_place_is_set(item)) {
            *vec_push(&lines, arena) = line_of_item(run, item, arena);
            *has_groups = true;
            continue;
        }
        for (isize k = item->first; k < item->first + item->count; k++) {
            *vec_push(&lines, arena) = line_of_problem(run, k, arena);
        }
    }
    return lines;
}

/* Percent of the bytes that are available. */
static Str slack_of(const PlaceSum *sum, const char *otherwise, Arena *arena)
{
    if (sum->available_bytes == 0) {
        return str_of(otherwise);
    }
    double left = (double)(sum->available_bytes - sum->peak_bytes);
    double percent = 100 * left / (double)sum->available_bytes;
    return str_format(arena, "%.*f", percent > -1000 ? 2 : 0, percent);
}

static Str shortened(Str name, Arena *arena)
{
    enum { PART = (NAME_COLUMNS - 2) / 2 };
    return name.len <= NAME_COLUMNS
               ? name
               : str_format(arena, "%.*s..%.*s", PART, name.at, PART, name.at + name.len - PART);
}

static void print_group_note(Writer *out, bool has_groups)
{
    if (has_groups) {
        write_fmt(
            out,
            "a set, or a file of more than %d: how many are placed / impossible / given up, sums, "
            "wall time\n",
            PLACE_LISTED_MAX);
    }
}

void bench_place_table(Writer *out, const PlaceRun *run, Arena scratch)
{
    bool has_groups;
    PlaceLineVec lines = lines_of(run, &has_groups, &scratch);
    write_fmt(out, "%-18s %8s %10s %10s %7s %-24s %9s %7s\n", "", "", "live peak", "available",
              "slack", "", "search", "host");
    write_fmt(out, "%-18s %8s %10s %10s %7s %-24s %9s %7s\n", "problem", "requests", "bytes",
              "bytes", "%", "verdict", "nodes", "s");
    for (isize i = 0; i < lines.len; i++) {
        const PlaceLine *line = &lines.at[i];
        write_fmt(out, "%-18.*s %8lld %10lld %10lld %7.*s %-24.*s %9lld %7.2f\n",
                  STR_ARG(shortened(line->name, &scratch)), (long long)line->sum.requests,
                  (long long)line->sum.peak_bytes, (long long)line->sum.available_bytes,
                  STR_ARG(slack_of(&line->sum, "-", &scratch)), STR_ARG(line->verdict),
                  (long long)line->sum.nodes, line->sum.solve_seconds);
        write_str(out, line->reason);
        if (run->flags->is_explained && line->problem >= 0) {
            place_problem_explain(out, &run->problems.at[line->problem],
                                  &run->records[line->problem].verdict, S(""), scratch);
        }
    }
    print_group_note(out, has_groups);
    print_total(out, run);
}

void bench_place_markdown(Writer *out, const PlaceRun *run, Arena scratch)
{
    bool has_groups;
    PlaceLineVec lines = lines_of(run, &has_groups, &scratch);
    write_str(out, S("| problem | requests | live peak bytes | available bytes | slack % | verdict "
                     "| search nodes | host s |\n|---|---:|---:|---:|---:|---|---:|---:|\n"));
    for (isize i = 0; i < lines.len; i++) {
        const PlaceLine *line = &lines.at[i];
        bench_write_cell(out, line->name);
        write_fmt(out, " | %lld | %lld | %lld | %.*s | %.*s | %lld | %.2f |\n",
                  (long long)line->sum.requests, (long long)line->sum.peak_bytes,
                  (long long)line->sum.available_bytes,
                  STR_ARG(slack_of(&line->sum, "-", &scratch)), STR_ARG(line->verdict),
                  (long long)line->sum.nodes, line->sum.solve_seconds);
    }
    write_str(out, S("\n"));
    for (isize i = 0; i < lines.len; i++) {
        if (lines.at[i].reason.len > 0) {
            write_fmt(out, "%.*s:%.*s", STR_ARG(lines.at[i].name),
                      STR_ARG(str_slice(lines.at[i].reason, 1, lines.at[i].reason.len)));
        }
    }
    print_group_note(out, has_groups);
    print_total(out, run);
}

/* --- JSON ----------------------------------------------------------------------------------------------- */

static const char *const outcome_names[] = {
    [PLACE_PLACED] = "placed", [PLACE_IMPOSSIBLE] = "impossible", [PLACE_GAVE_UP] = "gave up"};

static void print_certificate(Writer *out, const PlaceCertificate *certificate)
{
    if (certificate->proof == PROOF_PEAK) {
        write_fmt(out,
                  ",\"certificate\":{\"proof\":\"peak\",\"step\":%d,\"interleaved\":%s,"
                  "\"windowless\":%s}",
                  certificate->step, certificate->is_interleaved ? "true" : "false",
                  certificate->is_windowless ? "true" : "false");
        return;
    }
    write_str(out, S(",\"certificate\":{\"proof\":\"subset\",\"requests\":["));
    for (int32_t i = 0; i < certificate->count; i++) {
        write_fmt(out, i == 0 ? "%d" : ",%d", certificate->requests[i]);
    }
    write_str(out, S("]}"));
}

static void print_sets_json(Writer *out, const PlaceRun *run)
{
    write_str(out, S("\"sets\":["));
    bool is_first = true;
    for (isize i = 0; i < run->items.len; i++) {
        const PlaceItem *item = &run->items.at[i];
        if (!bench_place_is_set(item)) {
            continue;
        }
        PlaceSum sum = sum_of(run, item->first, item->count);
        write_str(out, is_first ? S("\n{\"name\":") : S(",\n{\"name\":"));
        write_json_str(out, item->name);
        write_fmt(out,
                  ",\"problems\":%lld,\"different\":%lld,\"placed\":%lld,\"impossible\":%lld,"
                  "\"gave_up\":%lld,\"requests\":%lld,\"search_nodes\":%lld,"
                  "\"host_generate_seconds\":%.4f,\"host_solve_seconds\":%.4f,"
                  "\"host_check_seconds\":%.4f}",
                  (long long)sum.problems, (long long)item->distinct,
                  (long long)sum.outcomes[PLACE_PLACED], (long long)sum.outcomes[PLACE_IMPOSSIBLE],
                  (long long)sum.outcomes[PLACE_GAVE_UP], (long long)sum.requests,
                  (long long)sum.nodes, item->generate_seconds, item->solve_seconds,
                  item->check_seconds);
        is_first = false;
    }
    write_str(out, is_first ? S("],") : S("\n],"));
}

void bench_place_json(Writer *out, const PlaceRun *run, Arena scratch)
{
    write_str(out, S("{\"problems\":["));
    for (isize i = 0; i < run->problems.len; i++) {
        Arena arena = scratch;
        const PlaceVerdict *verdict = &run->records[i].verdict;
        PlaceSum sum = sum_of(run, i, 1);
        write_str(out, i == 0 ? S("\n{\"name\":") : S(",\n{\"name\":"));
        write_json_str(out, problem_name(run, i, &arena));
        write_fmt(out,
                  ",\"requests\":%lld,\"live_peak_bytes\":%lld,\"available_bytes\":%lld,"
                  "\"slack_percent\":%.*s,\"verdict\":\"%s\"",
                  (long long)sum.requests, (long long)sum.peak_bytes,
                  (long long)sum.available_bytes, STR_ARG(slack_of(&sum, "null", &arena)),
                  outcome_names[verdict->outcome]);
        if (verdict->outcome == PLACE_IMPOSSIBLE) {
            print_certificate(out, &verdict->certificate);
        }
        if (verdict->outcome != PLACE_PLACED) {
            write_fmt(out, ",\"short_bytes\":%lld,\"failed_request\":%d,\"largest_hole_bytes\":%u",
                      (long long)verdict->short_bytes, verdict->request, verdict->largest_hole);
        }
        if (verdict->outcome == PLACE_PLACED) {
            write_fmt(out, ",\"broken_weight\":%lld", (long long)verdict->broken_weight);
        }
        write_fmt(out, ",\"search_nodes\":%lld", (long long)sum.nodes);
        if (run->records[i].has_minimum) {
            const PlaceMinimum *minimum = &run->records[i].minimum;
            write_fmt(out,
                      ",\"least_end\":%u,\"proved_end\":%u,\"spare_bytes\":%lld,"
                      "\"minimum_nodes\":%lld,\"host_minimum_seconds\":%.4f",
                      minimum->end, minimum->proved_end, (long long)minimum->spare_bytes,
                      (long long)minimum->nodes, run->records[i].minimum_seconds);
        }
        bool is_alone = !bench_place_is_set(&run->items.at[run->records[i].item]);
        if (run->flags->is_explained && is_alone && verdict->outcome != PLACE_PLACED) {
            write_str(out, S(",\"explanation\":"));
            place_problem_explain_json(out, &run->problems.at[i], verdict, S(""), arena);
        }
        if (is_alone) {
            write_fmt(out, ",\"host_solve_seconds\":%.4f,\"host_check_seconds\":%.4f",
                      sum.solve_seconds, sum.check_seconds);
        }
        write_str(out, S("}"));
    }
    write_str(out, S("\n],"));
    print_sets_json(out, run);
    PlaceSum sum = total_of(run);
    write_fmt(out,
              "\"total\":{\"problems\":%lld,\"placed\":%lld,\"impossible\":%lld,"
              "\"gave_up\":%lld,\"requests\":%lld,\"search_nodes\":%lld,"
              "\"host_solve_seconds\":%.4f,\"host_check_seconds\":%.4f,"
              "\"host_peak_bytes\":%lld}}\n",
              (long long)sum.problems, (long long)sum.outcomes[PLACE_PLACED],
              (long long)sum.outcomes[PLACE_IMPOSSIBLE], (long long)sum.outcomes[PLACE_GAVE_UP],
              (long long)sum.requests, (long long)sum.nodes, sum.solve_seconds, sum.check_seconds,
              (long long)cli_peak_bytes());
}

/* --- text form ------------------------------------------------------------------------------------------ */

void bench_place_text(Writer *out, const PlaceRun *run, Arena scratch)
{
    for (isize i = 0; i < run->problems.len; i++) {
        Arena arena = scratch;
        const PlaceRecord *record = &run->records[i];
        Str name = problem_name(run, i, &arena), verdict = verdict_of(&record->verdict, &arena);
        write_fmt(out, "# %.*s: %.*s\n", STR_ARG(name), STR_ARG(verdict));
        const PlaceProblem *problem = &run->problems.at[i];
        bool is_placed = record->verdict.outcome == PLACE_PLACED;
        Str reason = is_placed ? S("") : reason_of(problem, &record->verdict, &arena);
        while (reason.len > 0) {
            Str line = str_cut(&reason, '\n');
            write_fmt(out, "#%.*s\n", STR_ARG(line));
        }
        place_problem_print(out, problem, is_placed ? &record->solution : NULL);
    }
}
