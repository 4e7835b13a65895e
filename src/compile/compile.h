/* compile: the straight line for one plan. Stage order, checks, dumps, timing.
 * takes: Graph, KernelLibrary, options      gives: Package, or a stage's verdict
 * uses: base tensor graph kernel plan lower place exchange emit package
 * never: retries, or knows how a stage works
 */
#pragma once
#include "base/base.h"
#include "emit/emit.h"
#include "exchange/exchange.h"
#include "graph/graph.h"
#include "kernel/kernel.h"
#include "lower/lower.h"
#include "package/package.h"
#include "place/place.h"
#include "plan/plan.h"

typedef enum Stage {
#define STAGE(name, text, has_text) STAGE_##name,
#include "compile/stages.def"
#undef STAGE
    STAGE_COUNT
} Stage;

typedef struct CompileOptions {
    int32_t tiles;                 /* 0: all */
    int32_t rows_per_tile;         /* 0: chosen */
    int threads;                   /* 0: all cores */
    int32_t exchange_stream_words; /* 0: no waves (exchange.h) */
    bool is_exchange_compact;
    uint32_t dump; /* bit per Stage: write its text to dump_to */
    Writer *dump_to;
    Stage stop_after; /* STAGE_PACKAGE: everything */
    int dump_tile;    /* physical tile whose code is dumped */
    Writer *progress; /* one line a stage; NULL: silent */
} CompileOptions;

typedef struct CompileResult {
    Plan plan;
    Work work;
    Placement placement;
    PlaceVerdict place_verdict; /* why not, when its outcome is not PLACE_PLACED */
    ExchangeProblem problem;
    Schedule schedule;
    Package package;                  /* filled when the last stage ran */
    Cycles scheduled_exchange_cycles; /* sum of horizons over all executed phases of a call */
    int64_t bound_exchange_cycles;    /* the same for the lower bounds */
    double seconds[STAGE_COUNT];
} CompileResult;

Str stage_name(Stage stage);
/* False when unknown. */
bool stage_find(Str name, Stage *out);
/* It can be dumped, and compilation can stop behind it. */
bool stage_has_text(Stage stage);
bool compile_plan(const Graph *graph, const KernelLibrary *library, const CompileOptions *options,
                  Arena *keep, Arena scratch, CompileResult *out, Error *err);
