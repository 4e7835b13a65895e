/* Why a tile does not fit (compiler-design.md 11.3): the named request is only the last one that found no place, so the
 * evidence is what is alive at the peak, how much there is, and whether that alone proves that nothing can fit.
 */
#include "place/tile.h"

enum { LARGEST_SHOWN = 8, SUBSET_SHOWN = 4, HOLES_SHOWN = 8 };

typedef struct Change {
    int32_t step;
    int64_t bytes;
} Change;

static int compare_changes(const void *a, const void *b, const void *context)
{
    (void)context;
    const Change *left = a, *right = b;
    if (left->step != right->step) {
        return left->step < right->step ? -1 : 1;
    }
    return 0;
}

/* A sequence takes at least this much, wherever it may lie. */
static int64_t least_extent(const PlaceProblem *problem, const PlaceRequest *r)
{
    int64_t least = INT64_MAX;
    for (int32_t k = 0; k < problem->range_count; k++) {
        if (place_may_use(r, &problem->ranges[k])) {
            least = min_i64(least, place_extent(r, problem->ranges[k].is_interleaved));
        }
    }
    return least < INT64_MAX ? least : r->bytes;
}

static bool counts(const PlaceRequest *r, bool is_interleaved, bool is_windowless)
{
    return (r->is_interleaved || !is_interleaved) && (!r->may_use_window || !is_windowless);
}

int64_t live_peak_of(const PlaceProblem *problem, bool is_interleaved, bool is_windowless,
                     int32_t *step, Arena scratch)
{
    Change *changes =
        arena_array(&scratch, Change, 2 * (problem->requests.len + problem->donations.len));
    isize count = 0;
    for (isize i = 0; i < problem->requests.len; i++) {
        const PlaceRequest *request = &problem->requests.at[i];
        if (counts(request, is_interleaved, is_windowless)) {
            int64_t extent = least_extent(problem, request);
            changes[count++] = (Change){request->first, extent};
            changes[count++] = (Change){request->last, -extent};
        }
    }
    for (isize i = 0; i < problem->donations.len; i++) { /* what both may have in common */
        const PlaceDonation *d = &problem->donations.at[i];
        const PlaceRequest *from = &problem->requests.at[d->from],
                           *to = &problem->requests.at[d->to];
        int64_t bytes = min_i64((int64_t)from->bytes - d->offset, to->bytes);
        int32_t first = from->first > to->first ? from->first : to->first;
        int32_t last = from->last < to->last ? from->last : to->last;
        if (bytes > 0 && first < last && counts(from, is_interleaved, is_windowless) &&
            counts(to, is_interleaved, is_windowless)) {
            changes[count++] = (Change){first, -bytes};
            changes[count++] = (Change){last, bytes};
        }
    }
    sort_stable(changes, count, sizeof *changes, compare_changes, NULL, scratch);
    int64_t live = 0, peak = 0;
    *step = 0;
    for (isize i = 0; i < count; i++) {
        live += changes[i].bytes;
        bool is_last = i + 1 == count || changes[i + 1].step != changes[i].step;
        if (is_last && live > peak) {
            peak = live;
            *step = changes[i].step;
        }
    }
    return peak;
}

Str buffer_name(const Work *work, int32_t buffer, Arena *arena)
{
    if (buffer == 0) {
        return S("argument tables");
    }
    const Buffer *b = &work->buffers.at[buffer];
    if (work->plan != NULL && b->value > 0 && b->value < work->plan->values.len) {
        Str name = work->plan->values.at[b->value].name;
        return str_format(arena, "%.*s (buffer %d)", STR_ARG(name), buffer);
    }
    return str_format(arena, "buffer %d", buffer);
}

/* Names of the requests of a subset, as many as a line takes. */
static void print_subset(Writer *writer, const PlaceProblem *problem,
                         const PlaceCertificate *certificate)
{
    for (int i = 0; i < certificate->count && i < SUBSET_SHOWN; i++) {
        const PlaceRequest *r = &problem->requests.at[certificate->requests[i]];
        write_fmt(writer, "%s%.*s (%lld bytes)", i > 0 ? ", " : "", STR_ARG(r->name),
                  (long long)place_extent(r, r->is_interleaved));
    }
    if (certificate->count > SUBSET_SHOWN) {
        write_fmt(writer, " and %d more", certificate->count - SUBSET_SHOWN);
    }
}

void verdict_print(Writer *writer, const PlaceProblem *problem, const PlaceVerdict *verdict)
{
    const PlaceRequest *request = &problem->requests.at[verdict->request];
    const PlaceCertificate *certificate = &verdict->certificate;
    long long peak = verdict->live_peak_bytes, available = verdict->available_bytes,
              bytes = place_extent(request, request->is_interleaved);
    if (certificate->proof == PROOF_PEAK) {
        write_fmt(writer,
                  "tile L%d does not fit: %lld bytes%s are alive in step %d, %lld are available: "
                  "short by %lld bytes (proven)",
                  verdict->tile.id, peak, certificate->is_interleaved ? " interleaved" : "",
                  verdict->peak_step, available, (long long)verdict->short_bytes);
    } else if (certificate->proof == PROOF_SUBSET && certificate->count == 1) {
        write_fmt(writer,
                  "tile L%d does not fit: %.*s needs %lld bytes in one piece, short by %lld bytes "
                  "of its region (proven)",
                  verdict->tile.id, STR_ARG(request->name), bytes, (long long)verdict->short_bytes);
    } else if (certificate->proof == PROOF_SUBSET) {
        write_fmt(writer, "tile L%d does not fit: %d buffers alone have no placement (proven): ",
                  verdict->tile.id, certificate->count);
        print_subset(writer, problem, certificate);
    } else {
        write_fmt(writer,
                  "gave up on tile L%d (not proven impossible): no place for %.*s, %lld bytes%s, "
                  "steps %d..%d; largest hole %u; at most %lld bytes alive (step %d) of %lld",
                  verdict->tile.id, STR_ARG(request->name), bytes,
                  request->is_interleaved ? " interleaved" : "", request->first, request->last - 1,
                  verdict->largest_hole, peak, verdict->peak_step, available);
    }
}

/* --- the whole explanation ------------------------------------------------------------------------------------------ */

typedef struct Explanation {
    const PlaceVerdict *verdict;
    Str operation;        /* in the fullest step; may be empty */
    PlaceProblem problem; /* every request has a name */
    PlaceRelaxationVec relaxations;
    SortKey *alive; /* in the fullest step, largest first */
    isize alive_count;
    PlaceHoles holes; /* none when the peak alone is the reason */
} Explanation;

static bool has_holes(const PlaceVerdict *verdict)
{
    return verdict->certificate.proof != PROOF_PEAK && verdict->request >= 0;
}

isize rank_alive(const PlaceProblem *problem, int32_t step, SortKey *out, Arena scratch)
{
    isize count = 0;
    for (int32_t i = 0; i < problem->requests.len; i++) {
        const PlaceRequest *r = &problem->requests.at[i];
        if (r->first <= step && step < r->last) {
            out[count++] = (SortKey){~(uint64_t)place_extent(r, r->is_interleaved), (uint32_t)i};
        }
    }
    sort_keys(out, count, scratch);
    return count;
}

/* Those without a name are called after their number. */
static PlaceProblem with_names(const PlaceProblem *problem, Arena *arena)
{
    PlaceProblem named = problem_copy_requests(problem, arena);
    for (isize i = 0; i < named.requests.len; i++) {
        PlaceRequest *r = &named.requests.at[i];
        r->name = r->name.len > 0 ? r->name : str_format(arena, "request %td", i);
    }
    return named;
}

static Explanation explanation_of(const PlaceProblem *problem, const PlaceVerdict *verdict,
                                  Str operation, Arena *keep, Arena scratch)
{
    Explanation e = {
        .verdict = verdict, .operation = operation, .problem = with_names(problem, keep)};
    place_relax(&e.problem, verdict, keep, scratch, &e.relaxations);
    e.alive = arena_array(keep, SortKey, e.problem.requests.len);
    e.alive_count = rank_alive(&e.problem, verdict->peak_step, e.alive, scratch);
    if (has_holes(verdict)) {
        holes_find(&e.problem, verdict->request, keep, scratch, &e.holes);
    }
    return e;
}

/* The problem of the verdict's tile; returns what the tile does in its fullest step. */
static Str extract_failed(const Work *work, const PlaceVerdict *verdict, Arena *keep, Arena scratch,
                          PlaceProblem *out)
{
    place_extract(work, verdict->tile, keep, scratch, out);
    bool is_known = work->plan != NULL && verdict->peak_step < work->steps.len;
    return is_known ? provenance_text(&work->plan->names,
                                      work->steps.at[verdict->peak_step].provenance, keep)
                    : S("");
}

static void print_bound(Writer *writer, const PlaceProblem *problem, int32_t request)
{
    write_str(writer, request < 0 ? S("an end of the range") : problem->requests.at[request].name);
}

static void print_hole(Writer *writer, const PlaceProblem *problem, const PlaceHole *hole)
{
    static const char *const reasons[] = {
        [EXCLUDED_ELEMENT] = "an element in common with ",
        [EXCLUDED_INTERLEAVED] = "not interleaved",
        [EXCLUDED_WINDOW] = "the window of the host",
        [EXCLUDED_BOUNDARY] = "on both sides of a boundary",
        [EXCLUDED_ALIGNMENT] = "too short behind its first aligned address",
        [EXCLUDED_LIMIT] = "what is read behind its end would leave memory",
        [EXCLUDED_ADDRESS] = "its given address is elsewhere",
    };
    write_fmt(writer, "  0x%x..0x%x, %u bytes: %s", hole->begin, hole->end, hole->end - hole->begin,
              reasons[hole->why]);
    for (int i = 0; i < hole->partner_count; i++) {
        write_str(writer, i > 0 ? S(", ") : S(""));
        write_str(writer, problem->requests.at[hole->partners[i]].name);
    }
    write_str(writer, S("\n"));
}

static void print_holes(Writer *writer, const PlaceProblem *problem, int32_t request,
                        const PlaceHoles *holes)
{
    const PlaceRequest *r = &problem->requests.at[request];
    const PlaceHole *largest = &holes->largest;
    write_fmt(writer, "first fit has no place for %.*s, %lld bytes%s, steps %d..%d:\n  ",
              STR_ARG(r->name), (long long)place_extent(r, r->is_interleaved),
              r->is_interleaved ? " interleaved" : "", r->first, r->last - 1);
    if (holes->large.len == 0 && largest->begin == largest->end) {
        write_str(writer, S("nothing is free then\n"));
        return;
    }
    if (holes->large.len == 0) {
        write_fmt(writer, "the largest hole, 0x%x..0x%x, has %u bytes, between ", largest->begin,
                  largest->end, largest->end - largest->begin);
        print_bound(writer, problem, largest->below);
        write_str(writer, S(" and "));
        print_bound(writer, problem, largest->above);
        write_str(writer, S("\n"));
        return;
    }
    write_str(writer, S("it may not lie in the holes that are large enough\n"));
    for (isize i = 0; i < holes->large.len && i < HOLES_SHOWN; i++) {
        print_hole(writer, problem, &holes->large.at[i]);
    }
    if (holes->large.len > HOLES_SHOWN) {
        write_fmt(writer, "  and %td more\n", holes->large.len - HOLES_SHOWN);
    }
}

static void print_relaxation(Writer *writer, const PlaceProblem *problem, const PlaceRelaxation *r)
{
    Str a = problem->requests.at[r->a].name, b = problem->requests.at[r->b].name;
    switch (r->kind) {
    case RELAX_LIFETIME:
        write_fmt(writer, "%.*s alive only in steps %d..%d", STR_ARG(a), r->first, r->last - 1);
        break;
    case RELAX_SEPARATION:
        write_fmt(writer, "%.*s and %.*s in one memory element", STR_ARG(a), STR_ARG(b));
        break;
    case RELAX_SUPPORT:
        write_fmt(writer, "at most %lld bytes less for code and exchange rows",
                  (long long)r->bytes);
        break;
    case RELAX_BYTES:
        write_fmt(writer, "at most %lld bytes more memory", (long long)r->bytes);
        break;
    }
}

static void print_request(Writer *writer, const PlaceRequest *r)
{
    write_fmt(writer, "%9lld bytes%s, steps %d..%d: %.*s\n",
              (long long)place_extent(r, r->is_interleaved),
              r->is_interleaved ? " interleaved" : "", r->first, r->last - 1, STR_ARG(r->name));
}

static void print_together(Writer *writer, const PlaceProblem *problem,
                           const PlaceCertificate *certificate)
{
    write_fmt(writer, "these %d alone have no placement:\n", certificate->count);
    for (int i = 0; i < certificate->count; i++) {
        print_request(writer, &problem->requests.at[certificate->requests[i]]);
    }
}

void place_problem_explain(Writer *writer, const PlaceProblem *problem, const PlaceVerdict *verdict,
                           Str operation, Arena scratch)
{
    Arena keep = arena_split(&scratch, (scratch.end - scratch.at) / 2);
    Explanation e = explanation_of(problem, verdict, operation, &keep, scratch);
    write_str(writer, S("alive"));
    if (problem->tile >= 0) {
        write_fmt(writer, " on tile L%d", problem->tile);
    }
    write_fmt(writer, " in step %d%s%.*s, of %lld bytes:\n", verdict->peak_step,
              operation.len > 0 ? ", " : "", STR_ARG(operation),
              (long long)verdict->available_bytes);
    int64_t rest = 0;
    for (isize i = 0; i < e.alive_count; i++) {
        const PlaceRequest *r = &e.problem.requests.at[e.alive[i].payload];
        if (i >= LARGEST_SHOWN) {
            rest += place_extent(r, r->is_interleaved);
            continue;
        }
        print_request(writer, r);
    }
    if (e.alive_count > LARGEST_SHOWN) {
        write_fmt(writer, "%9lld bytes in %td more\n", (long long)rest,
                  e.alive_count - LARGEST_SHOWN);
    }
    if (problem->donations.len > 0) {
        write_str(writer, S("of which operations in place may share bytes\n"));
    }
    if (verdict->certificate.count > 1) {
        print_together(writer, &e.problem, &verdict->certificate);
    }
    if (has_holes(verdict)) {
        print_holes(writer, &e.problem, verdict->request, &e.holes);
    }
    if (verdict->outcome == PLACE_GAVE_UP) {
        write_fmt(writer, "nothing is proved: more nodes than %lld may place it as it is\n",
                  (long long)verdict->nodes);
    }
    write_str(writer, e.relaxations.len > 0 ? S("it would fit, each tried alone, with\n")
                                            : S("no small change that was tried makes it fit\n"));
    for (isize i = 0; i < e.relaxations.len; i++) {
        write_str(writer, S("  "));
        print_relaxation(writer, &e.problem, &e.relaxations.at[i]);
        write_str(writer, S("\n"));
    }
}

void place_explain(Writer *writer, const Work *work, const PlaceVerdict *verdict, Arena scratch)
{
    PlaceProblem problem;
    Arena keep = arena_split(&scratch, (scratch.end - scratch.at) / 4);
    Str operation = extract_failed(work, verdict, &keep, scratch, &problem);
    place_problem_explain(writer, &problem, verdict, operation, scratch);
}

static void json_request(Writer *writer, const PlaceProblem *problem, int32_t index)
{
    const PlaceRequest *r = &problem->requests.at[index];
    write_fmt(writer,
              "{\"request\":%d,\"bytes\":%lld,\"first\":%d,\"last\":%d,\"interleaved\":%s,"
              "\"name\":",
              index, (long long)place_extent(r, r->is_interleaved), r->first, r->last,
              r->is_interleaved ? "true" : "false");
    write_json_str(writer, r->name);
    write_str(writer, S("}"));
}

/* null: where a range begins or ends */
static void json_bound(Writer *writer, const PlaceProblem *problem, int32_t request)
{
    if (request < 0) {
        write_str(writer, S("null"));
    } else {
        json_request(writer, problem, request);
    }
}

static void json_hole(Writer *writer, const PlaceProblem *problem, const PlaceHole *hole,
                      bool has_why)
{
    static const char *const names[] = {
        [EXCLUDED_ELEMENT] = "element",       [EXCLUDED_INTERLEAVED] = "interleaved",
        [EXCLUDED_WINDOW] = "window",         [EXCLUDED_BOUNDARY] = "boundary",
        [EXCLUDED_ALIGNMENT] = "alignment",   [EXCLUDED_LIMIT] = "limit",
        [EXCLUDED_ADDRESS] = "given address",
    };
    write_fmt(writer, "{\"begin\":%u,\"end\":%u,\"below\":", hole->begin, hole->end);
    json_bound(writer, problem, hole->below);
    write_str(writer, S(",\"above\":"));
    json_bound(writer, problem, hole->above);
    if (has_why) {
        write_fmt(writer, ",\"why\":\"%s\",\"partners\":[", names[hole->why]);
        for (int i = 0; i < hole->partner_count; i++) {
            write_str(writer, i > 0 ? S(",") : S(""));
            json_request(writer, problem, hole->partners[i]);
        }
        write_str(writer, S("]"));
    }
    write_str(writer, S("}"));
}

void place_problem_explain_json(Writer *writer, const PlaceProblem *problem,
                                const PlaceVerdict *verdict, Str operation, Arena scratch)
{
    static const char *const kinds[] = {[RELAX_LIFETIME] = "lifetime",
                                        [RELAX_SEPARATION] = "separation",
                                        [RELAX_SUPPORT] = "support",
                                        [RELAX_BYTES] = "bytes"};
    Arena keep = arena_split(&scratch, (scratch.end - scratch.at) / 2);
    Explanation e = explanation_of(problem, verdict, operation, &keep, scratch);
    const PlaceCertificate *certificate = &verdict->certificate;
    Str tile = problem->tile >= 0 ? str_format(&keep, "%d", problem->tile) : S("null");
    write_fmt(writer,
              "{\"tile\":%.*s,\"verdict\":\"%s\",\"step\":%d,\"available_bytes\":%lld,"
              "\"live_bytes\":%lld,\"short_bytes\":%lld,\"largest_hole_bytes\":%u,"
              "\"operation\":",
              STR_ARG(tile), verdict->outcome == PLACE_IMPOSSIBLE ? "impossible" : "gave up",
              verdict->peak_step, (long long)verdict->available_bytes,
              (long long)verdict->live_peak_bytes, (long long)verdict->short_bytes,
              verdict->largest_hole);
    write_json_str(writer, e.operation);
    write_str(writer, S(",\"failed\":"));
    json_request(writer, &e.problem, verdict->request);
    write_str(writer, S(",\"subset\":["));
    for (int i = 0; i < certificate->count; i++) {
        write_str(writer, i > 0 ? S(",") : S(""));
        json_request(writer, &e.problem, certificate->requests[i]);
    }
    write_str(writer, S("],\"largest_hole\":"));
    if (has_holes(verdict)) {
        json_hole(writer, &e.problem, &e.holes.largest, false);
    } else {
        write_str(writer, S("null"));
    }
    write_str(writer, S(",\"holes\":["));
    for (isize i = 0; i < e.holes.large.len; i++) {
        write_str(writer, i > 0 ? S(",") : S(""));
        json_hole(writer, &e.problem, &e.holes.large.at[i], true);
    }
    write_str(writer, S("],\"alive\":["));
    for (isize i = 0; i < e.alive_count; i++) {
        write_str(writer, i > 0 ? S(",") : S(""));
        json_request(writer, &e.problem, (int32_t)e.alive[i].payload);
    }
    write_str(writer, S("],\"relaxations\":["));
    for (isize i = 0; i < e.relaxations.len; i++) {
        const PlaceRelaxation *r = &e.relaxations.at[i];
        write_fmt(writer,
                  "%s{\"kind\":\"%s\",\"a\":%d,\"b\":%d,\"first\":%d,\"last\":%d,"
                  "\"bytes\":%lld}",
                  i > 0 ? "," : "", kinds[r->kind], r->a, r->b, r->first, r->last,
                  (long long)r->bytes);
    }
    write_str(writer, S("]}"));
}

void place_explain_json(Writer *writer, const Work *work, const PlaceVerdict *verdict,
                        Arena scratch)
{
    PlaceProblem problem;
    Arena keep = arena_split(&scratch, (scratch.end - scratch.at) / 4);
    Str operation = extract_failed(work, verdict, &keep, scratch, &problem);
    place_problem_explain_json(writer, &problem, verdict, operation, scratch);
}
