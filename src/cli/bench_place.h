/* Private to cli: what `tessera bench place` has solved, and how it is shown. */
#pragma once
#include "cli/bench.h"
#include "place/place.h"

typedef struct PlaceFlags {
    BenchArgs args;
    int64_t nodes_max, capacity; /* 0: not given */
    bool is_printed, is_minimum, is_explained;
} PlaceFlags;

/* A file, a problem of the corpus or a set of generated ones. */
typedef struct PlaceItem {
    Str name;
    isize first, count; /* its problems */
    bool is_generated;
    bool has_witness;  /* no proof of the contrary is looked for */
    int64_t nodes_max; /* when nothing else is asked for; 0: the solver's */
    isize distinct;    /* of a set: problems that differ in more than tile and names */
    double generate_seconds, solve_seconds, check_seconds; /* of a set: of the clock on the wall */
} PlaceItem;
VEC(PlaceItem);

/* Generated problems, and more than have a line each, are solved together and shown as one line. */
enum { PLACE_LISTED_MAX = 20 };
static inline bool bench_place_is_set(const PlaceItem *item)
{
    return item->is_generated || item->count > PLACE_LISTED_MAX;
}

/* One problem with its answer. */
typedef struct PlaceRecord {
    int item;
    PlaceVerdict verdict;
    PlaceSolution solution;
    bool has_minimum;
    PlaceMinimum minimum;
    double minimum_seconds;
    double solve_seconds, check_seconds; /* 0 in a set */
    const Error *failure;                /* of the check; NULL: none */
} PlaceRecord;

typedef struct PlaceRun {
    const PlaceFlags *flags;
    PlaceItemVec items;
    PlaceProblemVec problems;
    PlaceRecord *records; /* one per problem */
} PlaceRun;

extern const BenchCorpus place_corpus;
/* Everything that was asked for, before anything is solved. */
bool bench_place_read(PlaceRun *run, const PlaceFlags *f, Arena *keep, Arena scratch, Error *err);

/* One line a problem, or one line a set. */
void bench_place_table(Writer *out, const PlaceRun *run, Arena scratch);
void bench_place_markdown(Writer *out, const PlaceRun *run, Arena scratch);
/* Every problem, also of sets. */
void bench_place_json(Writer *out, const PlaceRun *run, Arena scratch);
/* The problems in their text form, with addresses where placed, each behind a comment with its verdict. */
void bench_place_text(Writer *out, const PlaceRun *run, Arena scratch);
