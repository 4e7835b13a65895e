/* Why a tile does not fit (compiler-design.md 11.3): the named request is only the last one that found no place, so the
 * evidence is what is alive at the peak, how much there is, and whether that alone proves that nothing can fit.
 */
#include "place/tile.h"

enum { LARGEST_SHOWN = 8, SUBSET_SHOWN = 4, EXPLAIN_ARENA_BYTES = 64 << 20 };

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
                  request->is_interleaved ? " interleaved" : "", request->first, request->last,
                  verdict->largest_hole, peak, verdict->peak_step, available);
    }
}

static int compare_bytes(const void *a, const void *b, const void *context)
{
    const PlaceProblem *problem = context;
    uint32_t left = problem->requests.at[*(const int32_t *)a].bytes;
    uint32_t right = problem->requests.at[*(const int32_t *)b].bytes;
    return (left < right) - (left > right);
}

void place_explain(Writer *writer, const Work *work, const PlaceVerdict *verdict)
{
    Arena arena = arena_create(EXPLAIN_ARENA_BYTES),
          scratch = arena_split(&arena, EXPLAIN_ARENA_BYTES / 2);
    PlaceProblem problem;
    place_extract(work, verdict->tile, &arena, scratch, &problem);
    verdict_print(writer, &problem, verdict);
    write_fmt(writer, "\nlargest alive in step %d:\n", verdict->peak_step);
    int32_t *alive = arena_array(&arena, int32_t, problem.requests.len), count = 0;
    for (int32_t i = 0; i < problem.requests.len; i++) {
        const PlaceRequest *request = &problem.requests.at[i];
        if (request->first <= verdict->peak_step && verdict->peak_step < request->last) {
            alive[count++] = i;
        }
    }
    sort_stable(alive, count, sizeof *alive, compare_bytes, &problem, scratch);
    for (int32_t i = 0; i < count && i < LARGEST_SHOWN; i++) {
        const PlaceRequest *request = &problem.requests.at[alive[i]];
        write_fmt(writer, "%9u bytes%s, steps %d..%d: %.*s\n", request->bytes,
                  request->is_interleaved ? " interleaved" : "", request->first, request->last,
                  STR_ARG(request->name));
    }
    if (count > LARGEST_SHOWN) {
        write_fmt(writer, "          and %d more\n", count - LARGEST_SHOWN);
    }
    arena_destroy(&arena);
}
