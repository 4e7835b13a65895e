/* `tessera bench place`: problems of files, of the corpus bench/place, and generated ones (docs/place.md). */
#include "cli/bench_place.h"

enum { FILE_BYTES_MAX = 1 << 28 };

/* --- generated problems --------------------------------------------------------------------------------- */

typedef enum PlaceKind { KIND_MODEL, KIND_IMPOSSIBLE, KIND_WITNESS } PlaceKind;

/* Problems 0 .. count - 1 of a kind: tiles, or seeds. */
typedef struct PlaceSet {
    const char *name;
    PlaceKind kind;
    int count;
    int64_t nodes_max;         /* 0: the solver's; less where many are given up */
    int slack_permille, peaks; /* of witnesses */
} PlaceSet;

/* Three steps of 100 are full, as on the tiles of `siglip-27` three are within 1 % of the peak; no peaks: all are. */
static const PlaceSet sets[] = {
    {.name = "siglip-27", .kind = KIND_MODEL, .count = CHIP_TILES},
    {.name = "impossible-200", .kind = KIND_IMPOSSIBLE, .count = 200},
    {.name = "witness-20", .kind = KIND_WITNESS, .count = 100, .slack_permille = 20, .peaks = 3},
    {.name = "witness-10", .kind = KIND_WITNESS, .count = 100, .slack_permille = 10, .peaks = 3},
    {.name = "witness-0", .kind = KIND_WITNESS, .count = 20, .nodes_max = 100000, .peaks = 3},
    {.name = "full-10",
     .kind = KIND_WITNESS,
     .count = 20,
     .nodes_max = 100000,
     .slack_permille = 10},
};
enum { SET_COUNT = sizeof sets / sizeof *sets };

static const char *set_name(int index)
{
    return index < SET_COUNT ? sets[index].name : NULL;
}

static const PlaceSet *find_set(const char *item)
{
    for (int i = 0; i < SET_COUNT; i++) {
        if (str_equal(str_of(sets[i].name), str_of(item))) {
            return &sets[i];
        }
    }
    return NULL;
}

static PlaceProblem problem_of(const PlaceSet *set, int index, Arena *keep, Arena scratch)
{
    PlaceProblem problem;
    switch (set->kind) {
    case KIND_MODEL:
        place_generate_model((Tile){(uint16_t)index}, keep, &problem);
        break;
    case KIND_IMPOSSIBLE:
        place_generate_impossible((uint64_t)index, keep, &problem, NULL);
        break;
    case KIND_WITNESS:
        place_generate_witness((uint64_t)index, set->slack_permille, set->peaks, keep, scratch,
                               &problem, NULL);
        break;
    }
    return problem;
}

static void add_set(PlaceRun *run, const PlaceSet *set, Arena *keep, Arena scratch)
{
    PlaceItem *item = vec_push(&run->items, keep);
    double begin = time_seconds();
    *item = (PlaceItem){.name = str_of(set->name),
                        .first = run->problems.len,
                        .count = set->count,
                        .is_generated = true,
                        .nodes_max = set->nodes_max,
                        .has_witness = set->kind == KIND_WITNESS};
    for (int i = 0; i < set->count; i++) {
        PlaceProblem problem = problem_of(set, i, keep, scratch);
        *vec_push(&run->problems, keep) = problem;
    }
    item->generate_seconds = time_seconds() - begin;
}

const BenchCorpus place_corpus = {place_files, &place_file_count, set_name};

/* --- reading -------------------------------------------------------------------------------------------- */

/* What was asked for, or the number between the last two dots of NAME.NUMBER.csv, and how the name ends, with that number. */
static bool capacity_of(const PlaceFlags *f, Str file, uint32_t *out, const char **ending,
                        Error *err)
{
    Str name = str_slice(file, str_folder_len(file), file.len - S(".csv").len), number = name;
    while (str_find(number, '.', 0) >= 0) {
        (void)str_cut(&number, '.');
    }
    int64_t capacity = f->capacity;
    if (capacity == 0 && (number.len == name.len || !str_to_int(number, &capacity))) {
        capacity = 0;
    }
    *out = (uint32_t)capacity;
    *ending = f->capacity == 0 && capacity > 0 ? number.at - 1 : ".csv";
    return (capacity >= 1 && capacity <= UINT32_MAX) ||
           error_set(err, ERROR_INPUT, NULL,
                     "expected a capacity of 1 to %u bytes: --capacity N, or a file name like "
                     "A.1048576.csv",
                     UINT32_MAX);
}

/* Appends the problems of a file or of the corpus. */
static bool read_item(PlaceRun *run, const PlaceFlags *f, const char *item, bool *is_csv,
                      Arena *keep, Arena scratch, Error *err)
{
    Str text;
    if (!bench_read(&place_corpus, item, FILE_BYTES_MAX, &scratch, &text, err)) {
        return false;
    }
    const CorpusFile *known = bench_find(&place_corpus, item);
    Str file = str_of(known != NULL ? known->name : item);
    PlaceItem *out = vec_push(&run->items, keep);
    *out = (PlaceItem){.first = run->problems.len};
    *is_csv = str_ends(file, S(".csv"));
    if (*is_csv) {
        uint32_t capacity;
        const char *ending;
        PlaceProblem problem;
        if (!capacity_of(f, file, &capacity, &ending, err) ||
            !place_csv_parse(text, capacity, keep, scratch, &problem, err)) {
            return error_context(err, "%s", item);
        }
        out->name = bench_name(item, ending, keep);
        problem.name = out->name;
        *vec_push(&run->problems, keep) = problem;
    } else {
        PlaceProblemVec problems;
        if (!place_problem_parse(text, keep, &problems, err)) {
            return error_context(err, "%s", item);
        }
        out->name = bench_name(item, ".place", keep);
        for (isize i = 0; i < problems.len; i++) {
            *vec_push(&run->problems, keep) = problems.at[i];
        }
    }
    out->count = run->problems.len - out->first;
    return true;
}

bool bench_place_read(PlaceRun *run, const PlaceFlags *f, Arena *keep, Arena scratch, Error *err)
{
    bool has_csv = false;
    for (int i = 0; i < bench_item_count(&f->args, &place_corpus); i++) {
        const char *item = bench_item(&f->args, &place_corpus, i, keep);
        const PlaceSet *set = find_set(item);
        bool is_csv = false;
        if (set != NULL) {
            add_set(run, set, keep, scratch);
        } else if (!read_item(run, f, item, &is_csv, keep, scratch, err)) {
            return false;
        }
        has_csv = has_csv || is_csv;
    }
    return has_csv || f->capacity == 0 ||
           error_set(err, ERROR_INPUT, NULL, "option --capacity: no problem is a CSV");
}
