/* Compiles a fixture in-process, stage by stage, so that a test can look at or change a record in between. */
#pragma once
#include "compile/compile.h"
#include "import/import.h"
#include "oracle/oracle.h"
#include "runtime/runtime.h"
#include "test.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Rig {
    Arena keep, scratch;
    char directory[256];
    Model model;
    KernelLibrary library;
    CompileResult r;
    Error err;
} Rig;

#define RIG_CHECK(rig, expression)                                                                 \
    do {                                                                                           \
        if (!(expression)) {                                                                       \
            printf("%s:%d: %s: %s: %s\n", __FILE__, __LINE__, #expression, (rig)->err.where,       \
                   (rig)->err.message);                                                            \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static inline void rig_open(Rig *rig, const char *fixture, int32_t layers)
{
    memset(rig, 0, sizeof *rig);
    rig->keep = arena_create((isize)1 << 35);
    rig->scratch = arena_create((isize)1 << 34);
    snprintf(rig->directory, sizeof rig->directory, "%s/rig-%d",
             getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", getpid());
    RIG_CHECK(rig,
              fixture_write(str_of(fixture), rig->directory, 1, 0, rig->scratch, NULL, &rig->err));
    ModelOptions options = {.layers = layers, .want_graph = true};
    RIG_CHECK(rig, model_open(rig->directory, &options, &rig->keep, rig->scratch, &rig->model,
                              &rig->err));
    RIG_CHECK(rig, library_load(NULL, &rig->keep, rig->scratch, &rig->library, &rig->err));
}

static inline void rig_plan(Rig *rig, int32_t tiles)
{
    PlanOptions options = {.tiles = tiles};
    RIG_CHECK(rig, plan_baseline(&rig->model.graph, &options, &rig->keep, rig->scratch,
                                 &rig->r.plan, &rig->err));
    RIG_CHECK(rig, plan_check(&rig->r.plan, rig->scratch, &rig->err));
}

/* Everything behind the Work. */
static inline void rig_back_end(Rig *rig, int threads)
{
    CompileResult *r = &rig->r;
    PlaceVerdict verdict;
    RIG_CHECK(rig, work_check(&r->work, &rig->err));
    RIG_CHECK(rig, place_solve(&r->work, threads, &rig->keep, rig->scratch, &r->placement, &verdict,
                               &rig->err));
    RIG_CHECK(rig, place_check(&r->work, &r->placement, rig->scratch, &rig->err));
    exchange_extract(&r->work, &r->placement, &rig->keep, &r->problem);
    r->problem.row_bytes_max = r->work.support_bytes - emit_fixed_bytes(&rig->library) -
                               emit_program_bytes_max(&r->work, rig->scratch);
    RIG_CHECK(rig, exchange_solve(&r->problem, &(ExchangeOptions){.threads = threads}, &rig->keep,
                                  rig->scratch, &r->schedule, &rig->err));
    RIG_CHECK(rig, exchange_check(&r->problem, &r->schedule, threads, rig->scratch, &rig->err));
    EmitInfo info = {S("rig"), S("0"), S("test"), threads};
    RIG_CHECK(rig, emit_package(&r->work, &r->placement, &r->schedule, &rig->library, &info,
                                &rig->keep, rig->scratch, &r->package, &rig->err));
    RIG_CHECK(rig, package_check(&r->package, rig->scratch, &rig->err));
}

/* Everything behind the plan. */
static inline void rig_finish(Rig *rig, int threads)
{
    RIG_CHECK(rig, lower_plan(&rig->r.plan, &rig->keep, rig->scratch, &rig->r.work, &rig->err));
    rig_back_end(rig, threads);
}

static inline int64_t rig_image_elems(const Rig *rig)
{
    return (int64_t)rig->model.image.height * rig->model.image.width * 3;
}

/* Picture `seed`: standard deviation 0.5 (models.md 5.1). */
static inline float *rig_image(Rig *rig, uint64_t seed)
{
    float *image = arena_array(&rig->keep, float, rig_image_elems(rig));
    for (int64_t i = 0; i < rig_image_elems(rig); i++)
        image[i] = (float)(0.5 * random_normal(seed * 7919, (uint64_t)i));
    return image;
}

static inline Session *rig_session(Rig *rig, int threads, Cycles phase_cycles)
{
    SessionOptions options = {.threads = threads, .phase_cycles = phase_cycles};
    Session *session = session_open(&rig->r.package, &options, &rig->err);
    if (session == NULL)
        return NULL;
    if (!session_upload(session, &rig->model.source, rig->scratch, &rig->err)) {
        session_close(session);
        return NULL;
    }
    return session;
}

static inline int rig_outputs(const Rig *rig)
{
    int count = 0;
    for (isize i = 0; i < rig->r.package.bindings.len; i++)
        count += rig->r.package.bindings.at[i].kind == BINDING_OUTPUT;
    return count;
}

/* One buffer per output binding. */
static inline float **rig_output_buffers(Rig *rig)
{
    float **buffers = arena_array(&rig->keep, float *, rig_outputs(rig));
    for (isize i = 0, n = 0; i < rig->r.package.bindings.len; i++) {
        const Binding *b = &rig->r.package.bindings.at[i];
        if (b->kind == BINDING_OUTPUT)
            buffers[n++] = arena_array(&rig->keep, float, (int64_t)b->rows * b->cols);
    }
    return buffers;
}

static inline bool rig_run(Rig *rig, Session *session, const float *image, float **outputs,
                           RunResult *result)
{
    SessionInput input = {S("image"), image, rig_image_elems(rig)};
    rig->err = (Error){0};
    return session_run(session, &input, 1, outputs, rig->scratch, result, &rig->err);
}

static inline void rig_oracle(Rig *rig, const float *image, OracleRun *run)
{
    OracleInput input = {S("image"), image, rig_image_elems(rig)};
    OracleOptions options = {.threads = 1};
    RIG_CHECK(rig, oracle_run(&rig->model.graph, &rig->model.source, &input, 1, &options,
                              &rig->keep, rig->scratch, run, &rig->err));
}

static inline void rig_close(Rig *rig)
{
    model_close(&rig->model);
    char path[512];
    static const char *const files[] = {"config.json", "preprocessor_config.json",
                                        "model.safetensors"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", rig->directory, files[i]);
        unlink(path);
    }
    rmdir(rig->directory);
    arena_destroy(&rig->keep);
    arena_destroy(&rig->scratch);
}
