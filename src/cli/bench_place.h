/* Private to cli: what `tessera bench place` has solved, and how it is shown. */
#pragma once
#include "cli/bench.h"
#include "place/place.h"

/* A file or a problem of the corpus. */
typedef struct PlaceItem {
    Str name;
    isize first, count; /* its problems */
} PlaceItem;
VEC(PlaceItem);

/* One problem with its answer. */
typedef struct PlaceRecord {
    int item;
    PlaceVerdict verdict;
    PlaceSolution solution; /* kept for --print only */
    double solve_seconds, check_seconds;
    const Error *failure; /* of the check; NULL: none */
} PlaceRecord;

typedef struct PlaceRun {
    PlaceItemVec items;
    PlaceProblemVec problems;
    PlaceRecord *records; /* one per problem */
} PlaceRun;

/* One line a problem, or one line a file that holds many. */
void bench_place_table(Writer *out, const PlaceRun *run, Arena scratch);
void bench_place_markdown(Writer *out, const PlaceRun *run, Arena scratch);
/* Every problem, also of files that hold many. */
void bench_place_json(Writer *out, const PlaceRun *run, Arena scratch);
/* The problems in their text form, with addresses where placed, each behind a comment with its verdict. */
void bench_place_text(Writer *out, const PlaceRun *run, Arena scratch);
