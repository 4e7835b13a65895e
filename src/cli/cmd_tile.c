/* `tessera tile`: one kernel on one tile of the machine model, with memory images, cycles and trace (docs/tile.md). */
#include "cli/cli.h"
#include "debug/debug.h"
#include <stdio.h>
#include <unistd.h>

enum { ITEMS_MAX = 256, CYCLES_DEFAULT = 10000000 };
static const int64_t CYCLES_MAX = (int64_t)1 << 40;

/* Options of one kind in the order given; areas of all kinds stay in one order, since later ones win. */
typedef struct Texts {
    const char *at[ITEMS_MAX];
    int kind[ITEMS_MAX];
    int count;
} Texts;

typedef struct TileFlags {
    Texts paths, defines, areas, registers, dumps, breaks;
    const char *entry, *vertex;
    int64_t base, guard, max_cycles;
    const char *isa_flags;
    uint32_t checks;
    bool is_worker, is_unknown_assumed, is_traced, is_stepped, is_explained, is_annotated, is_json;
} TileFlags;

enum {
    FLAG_BASE,
    FLAG_DEFINE,
    FLAG_ENTRY,
    FLAG_MODE,
    FLAG_VERTEX,
    FLAG_FILL,
    FLAG_LOAD,
    FLAG_WORDS,
    FLAG_GUARD,
    FLAG_SET,
    FLAG_DUMP,
    FLAG_TRACE,
    FLAG_STEP,
    FLAG_BREAK,
    FLAG_EXPLAIN,
    FLAG_ANNOTATE,
    FLAG_MAX_CYCLES,
    FLAG_CHECK,
    FLAG_UNKNOWN,
    FLAG_ISA_FLAGS,
    FLAG_JSON,
};

static const Flag flags[] = {
    [FLAG_BASE] = {"--base", "ADDR", "address of the code (default 0x4c010)"},
    [FLAG_DEFINE] = {"-D", "NAME=VALUE", "set a symbol before assembling; without =VALUE it is 1"},
    [FLAG_ENTRY] = {"--entry", "PLACE", "start (default: the global named as the file, else ADDR)"},
    [FLAG_MODE] = {"--mode", "MODE", "supervisor (default) or worker: what the entry is code of"},
    [FLAG_VERTEX] = {"--vertex", "PLACE", "$VERTEX_BASE, with --mode worker (default 0x4c000)"},
    [FLAG_FILL] = {"--fill", "PLACE,BYTES,P",
                   "P: random:SEED (halves in -1..1), random32:SEED, bits:SEED, nan, nan16,\n"
                   "                             zero, pattern:HEX, guard"},
    [FLAG_LOAD] = {"--load", "FILE@PLACE",
                   "bytes of a file, or floats of a .npy (,f16: as halves)"},
    [FLAG_WORDS] = {"--words", "PLACE,V,V...",
                    "words: integers, symbols, f32:X, f16:X (both halves)"},
    [FLAG_GUARD] = {"--guard", "BYTES", "guards in front of and behind everything set above"},
    [FLAG_SET] = {"--set", "REG=V",
                  "$m0.., $a0.., CSR; worker.REG, worker2.REG, supervisor.REG choose contexts"},
    [FLAG_DUMP] = {"--dump", "PLACE,BYTES[,F]", "F: hex, u32, f32, f16 or file:PATH (raw)"},
    [FLAG_TRACE] = {"--trace", NULL, "every issue with the values it wrote, by cycle"},
    [FLAG_STEP] = {"--step", NULL,
                   "commands from standard input: step, continue, regs, mem, break"},
    [FLAG_BREAK] = {"--break", "WHERE", "SYMBOL, ADDR, cycle:N or write:PLACE[,BYTES]: stop there"},
    [FLAG_EXPLAIN] = {"--explain", NULL, "where every cycle of every context went"},
    [FLAG_ANNOTATE] = {"--annotate", NULL, "the source with issues and cycles of each line"},
    [FLAG_MAX_CYCLES] = {"--max-cycles", "N",
                         "give up after N simulated cycles (default 10000000)"},
    [FLAG_CHECK] = {"--check", "LIST", checks_help},
    [FLAG_UNKNOWN] = {"--unknown", "MODE", CLI_UNKNOWN_HELP},
    [FLAG_ISA_FLAGS] = {"--isa-flags", "F",
                        "values of TAMP_, TSLIC_ ... symbols, as a vendor's header has them"},
    [FLAG_JSON] = {"--json", NULL, "the end of the run and --explain as JSON"},
};

static bool add_text(Texts *texts, const char *value, int kind, Error *err)
{
    if (texts->count == ITEMS_MAX) {
        return error_set(err, ERROR_INPUT, NULL, "expected at most %d files or options of one kind",
                         ITEMS_MAX);
    }
    texts->kind[texts->count] = kind;
    texts->at[texts->count++] = value;
    return true;
}

static bool take_choice(const char *flag, const char *value, const char *no, const char *yes,
                        bool *out, Error *err)
{
    *out = str_equal(str_of(value), str_of(yes));
    return *out || str_equal(str_of(value), str_of(no)) ||
           error_set(err, ERROR_INPUT, NULL, "option %s: expected %s or %s, found %s", flag, no,
                     yes, value);
}

static bool take(void *context, int flag, const char *value, Error *err)
{
    TileFlags *f = context;
    switch (flag) {
    case FLAG_BASE:
        return cli_int("--base", value, 0, UINT32_MAX, &f->base, err);
    case FLAG_DEFINE:
        return add_text(&f->defines, value, flag, err);
    case FLAG_ENTRY:
        f->entry = value;
        return true;
    case FLAG_MODE:
        return take_choice("--mode", value, "supervisor", "worker", &f->is_worker, err);
    case FLAG_VERTEX:
        f->vertex = value;
        return true;
    case FLAG_FILL:
    case FLAG_LOAD:
    case FLAG_WORDS:
        return add_text(&f->areas, value, flag, err);
    case FLAG_GUARD:
        return cli_int("--guard", value, 4, SRAM_BYTES, &f->guard, err) &&
               (f->guard % 4 == 0 ||
                error_set(err, ERROR_INPUT, NULL, "option --guard: expected a multiple of 4"));
    case FLAG_SET:
        return add_text(&f->registers, value, flag, err);
    case FLAG_DUMP:
        return add_text(&f->dumps, value, flag, err);
    case FLAG_TRACE:
        f->is_traced = true;
        return true;
    case FLAG_STEP:
        f->is_stepped = true;
        return true;
    case FLAG_BREAK:
        return add_text(&f->breaks, value, flag, err);
    case FLAG_EXPLAIN:
        f->is_explained = true;
        return true;
    case FLAG_ANNOTATE:
        f->is_annotated = true;
        return true;
    case FLAG_JSON:
        f->is_json = true;
        return true;
    case FLAG_MAX_CYCLES:
        return cli_int("--max-cycles", value, 1, CYCLES_MAX, &f->max_cycles, err);
    case FLAG_CHECK:
        return cli_checks("--check", value, &f->checks, err);
    case FLAG_UNKNOWN:
        return cli_unknown("--unknown", value, &f->is_unknown_assumed, err);
    case FLAG_ISA_FLAGS:
        f->isa_flags = value;
        return true;
    default:
        return add_text(&f->paths, value, flag, err);
    }
}

/* Everything a run needs, made before it starts: a mistake in an option is found before any work. */
typedef struct Job {
    const TileFlags *flags;
    Target target;
    AreaVec areas;
    Dump dump[ITEMS_MAX];
    BreakpointVec breaks;
    Workbench *bench;
    Arena keep, scratch;
    IsaFlags isa_flags;
} Job;

static bool parse_defines(Job *job, AsmDefineSpan *out, Error *err)
{
    const Texts *texts = &job->flags->defines;
    *out = (AsmDefineSpan){arena_array(&job->keep, AsmDefine, texts->count + 1), texts->count};
    for (int i = 0; i < texts->count; i++) {
        if (!cli_define(texts->at[i], &out->at[i], err)) {
            return false;
        }
    }
    return true;
}

static bool parse_areas(Job *job, Error *err)
{
    const Texts *texts = &job->flags->areas;
    for (int i = 0; i < texts->count; i++) {
        AreaKind kind = texts->kind[i] == FLAG_FILL   ? AREA_FILL
                        : texts->kind[i] == FLAG_LOAD ? AREA_LOAD
                                                      : AREA_WORDS;
        Area *area = vec_push(&job->areas, &job->keep);
        if (!area_parse(kind, str_of(texts->at[i]), &job->target, &job->keep, area, err)) {
            return error_context(err, "option %s %s", flags[texts->kind[i]].name, texts->at[i]);
        }
    }
    if (job->flags->guard > 0) {
        areas_add_guards(&job->areas, &job->target, (uint32_t)job->flags->guard, &job->keep,
                         job->scratch);
    }
    return true;
}

static bool check_output(Job *job, const Dump *dump, Error *err)
{
    const Texts *paths = &job->flags->paths;
    const char *input[2 * ITEMS_MAX];
    int count = 0;
    for (int i = 0; i < paths->count; i++) {
        input[count++] = paths->at[i];
    }
    for (isize i = 0; i < job->areas.len; i++) {
        if (job->areas.at[i].path) {
            input[count++] = job->areas.at[i].path;
        }
    }
    return cli_output(str_copy(dump->file, &job->keep).at, input, count, err);
}

static bool parse_outputs(Job *job, Error *err)
{
    const TileFlags *f = job->flags;
    for (int i = 0; i < f->dumps.count; i++) {
        Dump *dump = &job->dump[i];
        if (!dump_parse(str_of(f->dumps.at[i]), &job->target, true, dump, err)) {
            return error_context(err, "option --dump %s", f->dumps.at[i]);
        }
        if (dump->file.len > 0 && !check_output(job, dump, err)) {
            return false;
        }
    }
    for (int i = 0; i < f->breaks.count; i++) {
        Breakpoint *b = vec_push(&job->breaks, &job->keep);
        if (!breakpoint_parse(str_of(f->breaks.at[i]), &job->target, b, err)) {
            return error_context(err, "option --break %s", f->breaks.at[i]);
        }
    }
    return true;
}

/* JSON replaces all text on standard output. */
static bool check_json(const Job *job, Error *err)
{
    const TileFlags *f = job->flags;
    bool has_text = f->is_traced || f->is_stepped || f->is_annotated || f->breaks.count > 0;
    for (int i = 0; i < f->dumps.count; i++) {
        has_text = has_text || job->dump[i].file.len == 0;
    }
    return !f->is_json || !has_text ||
           error_set(err, ERROR_INPUT, NULL,
                     "option --json excludes --trace, --step, --break, --annotate and dumps that "
                     "are not file:PATH");
}

static bool prepare(Job *job, Error *err)
{
    const TileFlags *f = job->flags;
    TargetOptions options = {.paths = f->paths.at,
                             .path_count = f->paths.count,
                             .base = f->base,
                             .entry = f->entry,
                             .vertex = f->vertex,
                             .is_worker = f->is_worker};
    if (f->paths.count == 0) {
        return error_set(err, ERROR_INPUT, NULL, "tile: expected K.s (see tessera tile --help)");
    }
    if (f->vertex && !f->is_worker) {
        return error_set(err, ERROR_INPUT, NULL, "option --vertex needs --mode worker");
    }
    if (f->isa_flags) {
        if (!cli_isa_flags(f->isa_flags, &job->keep, job->scratch, &job->isa_flags, err)) {
            return false;
        }
        options.flags = &job->isa_flags;
    }
    if (!parse_defines(job, &options.defines, err) ||
        !target_build(&options, &job->keep, job->scratch, &job->target, err) ||
        !parse_areas(job, err) || !parse_outputs(job, err) || !check_json(job, err)) {
        return false;
    }
    job->bench = workbench_create(&(WorkbenchOptions){
        .checks = f->checks, .is_unknown_assumed = f->is_unknown_assumed, .flags = options.flags});
    if (!areas_write(&job->areas, &job->target, job->bench, err)) {
        return false;
    }
    for (int i = 0; i < f->registers.count; i++) {
        if (!register_set(str_of(f->registers.at[i]), &job->target, f->is_worker, job->bench,
                          err)) {
            return error_context(err, "option --set %s", f->registers.at[i]);
        }
    }
    return true;
}

static bool write_dumps(const Job *job, const TileView *view, bool is_complete, Writer *out,
                        Error *err)
{
    for (int i = 0; i < job->flags->dumps.count; i++) {
        const Dump *dump = &job->dump[i];
        const uint32_t first = (dump->address - SRAM_BASE) / 4;
        if (dump->file.len == 0) {
            dump_print(out, dump, view);
            continue;
        }
        if (!is_complete) {
            continue;
        }
        Arena scratch = job->scratch;
        int64_t undefined = 0;
        for (uint32_t w = 0; w < dump->bytes / 4; w++) {
            undefined += view->is_undefined[first + w];
        }
        Str bytes = {(const char *)(view->word + first), dump->bytes};
        if (!file_write(str_copy(dump->file, &scratch).at, bytes, err)) {
            return false;
        }
        write_fmt(out, "%.*s: %u bytes of 0x%x, %lld of their words undefined\n",
                  STR_ARG(dump->file), dump->bytes, dump->address, (long long)undefined);
    }
    return true;
}

static void print_summary(Writer *out, const WorkbenchCounters *counters)
{
    write_fmt(out, "%lld simulated cycles, %lld instructions, %lld of them AMP\n",
              (long long)counters->cycles, (long long)counters->instructions,
              (long long)counters->amp_instructions);
    for (int w = 0; w < CHIP_WORKERS; w++) {
        if (counters->end[w] >= 0) {
            write_fmt(out, "worker %d: last launch %lld .. %lld\n", w,
                      (long long)counters->start[w], (long long)counters->end[w]);
        }
    }
}

static void print_json(Writer *out, const Job *job, const Record *record, int64_t guards_changed)
{
    static const char *const stops[] = {[WORKBENCH_STOP_END] = "host sync",
                                        [WORKBENCH_STOP_FAULT] = "fault",
                                        [WORKBENCH_STOP_LIMIT] = "cycle limit"};
    const WorkbenchCounters *counters = &record->counters;
    write_fmt(out,
              "{\n  \"stop\": \"%s\",\n  \"simulated_cycles\": %lld,\n  \"instructions\": %lld,\n"
              "  \"amp_instructions\": %lld,\n  \"guard_words_changed\": %lld,\n  \"workers\": [",
              stops[record->stop], (long long)counters->cycles, (long long)counters->instructions,
              (long long)counters->amp_instructions, (long long)guards_changed);
    for (int w = 0; w < CHIP_WORKERS; w++) {
        write_fmt(out, "%s{\"start\": %lld, \"end\": %lld}", w == 0 ? "" : ", ",
                  (long long)counters->start[w], (long long)counters->end[w]);
    }
    write_str(out, S("]"));
    if (record->stop == WORKBENCH_STOP_FAULT) {
        const Fault *fault = workbench_fault(job->bench);
        write_fmt(
            out,
            ",\n  \"fault\": {\"name\": \"%s\", \"context\": %d, \"cycle\": %lld, \"pc\": %u, "
            "\"address\": %u, \"detail\": ",
            fault->name, fault->context, (long long)fault->cycle, fault->pc, fault->address);
        write_json_str(out, str_of(fault->detail));
        write_str(out, S("}"));
    }
    if (job->flags->is_explained && record->stop == WORKBENCH_STOP_END) {
        Explanation explanation = explain_record(record, job->scratch);
        write_str(out, S(",\n  \"explain\": "));
        explain_json(out, &explanation);
    }
    write_str(out, S("\n}\n"));
}

static void print_tables(Writer *out, const Job *job, const Record *record)
{
    if (!job->flags->is_explained && !job->flags->is_annotated) {
        return;
    }
    Explanation explanation = explain_record(record, job->scratch);
    if (job->flags->is_explained) {
        explain_print(out, &explanation, record, &job->target, job->scratch);
    }
    if (job->flags->is_annotated) {
        annotate_print(out, record, &job->target, &explanation, job->scratch);
    }
}

static bool finish(Job *job, const Record *record, const TileView *view, Writer *out, Error *err)
{
    const bool is_json = job->flags->is_json, is_end = record->stop == WORKBENCH_STOP_END;
    const Fault *fault = workbench_fault(job->bench);
    Writer assumed = writer_buffer(&job->keep);
    workbench_print_assumed(&assumed, job->bench);
    cli_report_assumed(writer_text(&assumed));
    Writer nowhere = writer_file(-1, &job->keep), *text = is_json ? &nowhere : out;
    if (is_end) {
        print_summary(text, &record->counters);
    }
    if (!write_dumps(job, view, is_end, text, err)) {
        return false;
    }
    int64_t changed = guards_check(text, &job->areas, view, record, &job->target);
    if (is_json) {
        print_json(out, job, record, changed);
    } else if (is_end) {
        print_tables(out, job, record);
    } else if (record->stop == WORKBENCH_STOP_FAULT) {
        fault_print(out, fault, NULL);
        fault_explain(out, fault, view, &job->target);
    }
    switch (record->stop) {
    case WORKBENCH_STOP_FAULT:
        return error_set(err, ERROR_FAULT, NULL, "the simulated program faulted: %s", fault->name);
    case WORKBENCH_STOP_LIMIT:
        return error_set(err, ERROR_FAULT, NULL,
                         "no host sync within %lld simulated cycles (--max-cycles)",
                         (long long)job->flags->max_cycles);
    default:
        return changed == 0 ||
               error_set(err, ERROR_NO, NULL, "guard words changed: %lld", (long long)changed);
    }
}

static bool has_guards(const Job *job)
{
    bool has = false;
    for (isize i = 0; i < job->areas.len; i++) {
        has = has || job->areas.at[i].is_guard;
    }
    return has;
}

static bool run(Job *job, Error *err)
{
    const TileFlags *f = job->flags;
    bool is_replayed = f->is_stepped || f->breaks.count > 0;
    bool is_recorded =
        is_replayed || f->is_traced || f->is_explained || f->is_annotated || has_guards(job);
    Stepper stepper = {.target = &job->target, .breakpoints = job->breaks, .keep = &job->keep};
    if (is_replayed) {
        stepper.view = view_of(job->bench, &job->keep);
    }
    Arena record_arena = arena_create((isize)1 << 36);
    Record record;
    record_run(job->bench, &job->target, f->max_cycles, is_recorded, &record_arena, job->scratch,
               &record);
    Writer out = writer_file(STDOUT_FILENO, &job->keep);
    bool is_good =
        !record.is_full || error_set(err, ERROR_INPUT, NULL,
                                     "more than %lld issues cannot be recorded; lower --max-cycles",
                                     (long long)record.moments.len);
    if (is_good && f->is_traced) {
        for (isize i = 0; i < record.moments.len; i++) {
            moment_print(&out, &record.moments.at[i], true, &record, &job->target);
        }
    }
    stepper.record = &record;
    bool is_stopped = false;
    if (is_good && f->is_stepped) {
        stepper_talk(&stepper, STDIN_FILENO, isatty(STDIN_FILENO), &out);
        is_stopped = stepper.at < record.moments.len;
    } else if (is_good && f->breaks.count > 0) {
        is_stopped = stepper_continue(&stepper, &out);
        if (is_stopped) {
            isize last = stepper.told > stepper.at ? stepper.at : stepper.at - 1;
            view_print(&out, &stepper.view, record.moments.at[last].context);
            is_good = write_dumps(job, &stepper.view, true, &out, err);
        } else {
            write_str(&out, S("no breakpoint was met\n"));
        }
    }
    if (is_good && !is_stopped) {
        TileView view = view_of(job->bench, &job->keep);
        is_good = finish(job, &record, &view, &out, err);
    }
    arena_destroy(&record_arena);
    Error late = {0};
    if (!cli_flush(&out, &late)) {
        *err = is_good ? late : *err;
        return false;
    }
    return is_good;
}

int cmd_tile(int argc, char **argv)
{
    TileFlags f = {.base = SRAM_IMAGE_BASE, .max_cycles = CYCLES_DEFAULT};
    int done;
    if (!cli_parse(
            argc, argv, "K.s [K2.s ...] [OPTIONS]",
            "Assembles kernels, runs them on one tile of the machine model and shows what "
            "happened. "
            "A launcher is put behind\nthe code: `call $m10, ENTRY; sync 7`, or with --mode worker "
            "`runall` of ENTRY on all six workers, `sync 2; sync 7`.\nThe first `sync 7` ends the "
            "run. PLACE: an address or a symbol, with +N or -N. Memory and registers that nothing\n"
            "sets are undefined. docs/tile.md has a worked example.",
            flags, sizeof flags / sizeof *flags, take, &f, &done)) {
        return done;
    }
    Error err = {0};
    Job job = {
        .flags = &f, .keep = arena_create((isize)1 << 32), .scratch = arena_create((isize)1 << 34)};
    bool is_good = prepare(&job, &err) && run(&job, &err);
    workbench_destroy(job.bench);
    arena_destroy(&job.keep);
    arena_destroy(&job.scratch);
    return is_good ? 0 : cli_fail(&err);
}
