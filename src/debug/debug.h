/* debug: one kernel on one tile. Assembles and places it, fills memory, records a run, and shows the record.
 * takes: assembly files, what to fill and set      gives: a Record of every issue; trace, tables, listing as text
 * uses: base chip isa tensor asm import machine
 * never: influences how the machine runs
 *
 * The machine runs the workers of a launch one after another. Everything here works on the finished record in the order of
 * cycles: stepping moves a TileView through it.
 */
#pragma once
#include "asm/asm.h"
#include "base/base.h"
#include "machine/machine.h"

/* --- target.c: the code under test */

/* Kernel texts linked at an address, with a launcher behind them. */
typedef struct Target {
    Object *object; /* one per file, then the launcher */
    Str *text;      /* sources */
    uint32_t *line_count;
    int count;
    Resolved code, launcher;
    uint32_t entry; /* of the launcher */
    AsmDefineSpan defines;
    const IsaFlags *flags; /* values of flag symbols; NULL: ours */
} Target;

typedef struct TargetOptions {
    const char *const *paths;
    int path_count;
    AsmDefineSpan defines;
    const IsaFlags *flags; /* NULL: ours */
    int64_t base;
    const char *entry;  /* place; NULL: the global named as the first file, else the base */
    const char *vertex; /* place, vertex base of the workers; NULL: start of SRAM */
    bool is_worker;     /* the entry is code of the workers, not of the supervisor */
} TargetOptions;

bool target_build(const TargetOptions *options, Arena *keep, Arena scratch, Target *out,
                  Error *err);
/* ADDRESS, or SYMBOL, either with +OFFSET or -OFFSET. The result is unchecked but fits 32 bits. */
bool target_place(const Target *target, Str text, uint32_t *address, Error *err);
/* The symbol at or before an address of code; empty when there is none. */
Str target_symbol(const Target *target, uint32_t address, uint32_t *offset);
/* Source line that made the code at an address: number of the object and of the line; false outside the code. */
bool target_line(const Target *target, uint32_t address, int *object, uint32_t *line);
/* Tells the workbench which words are code. */
void target_mark_code(const Target *target, Workbench *bench);
/* Text of line `line` of a source, without its newline. */
Str target_line_text(const Target *target, int object, uint32_t line);

/* --- areas.c: memory images */

typedef enum AreaKind { AREA_FILL, AREA_LOAD, AREA_WORDS } AreaKind;
typedef struct Area {
    AreaKind kind;
    uint32_t address, bytes;
    bool is_guard;
    const uint32_t *word; /* bytes / 4 */
    const char *path;     /* of a load */
} Area;
VEC(Area);

/* `PLACE,BYTES,PATTERN` (fill), `FILE@PLACE[,f16]` (load) or `PLACE,VALUE,VALUE...` (words). The range is inside SRAM. */
bool area_parse(AreaKind kind, Str text, const Target *target, Arena *keep, Area *out, Error *err);
/* Adds guard areas of `bytes` in front of and behind every area that is none, where no other area and no code lies. */
void areas_add_guards(AreaVec *areas, const Target *target, uint32_t bytes, Arena *keep,
                      Arena scratch);
/* False when an area meets the code. */
bool areas_write(const AreaVec *areas, const Target *target, Workbench *bench, Error *err);
/* `[CONTEXT.]REGISTER=VALUE`; VALUE: integer, place, f32:X or f16:X. */
bool register_set(Str text, const Target *target, bool is_worker, Workbench *bench, Error *err);

/* --- record.c: what happened */

/* One issue; see TileIssue. */
typedef struct Moment {
    Cycles cycle, next, allowed, ready,
        launch; /* launch: of a worker's first issue, the `runall` */
    uint32_t pc, word[2], store_address, store_word[2];
    uint32_t value; /* first of the written values in Record.values: $m in order, then $a */
    uint16_t m_written, m_undefined;
    uint8_t a_written, a_undefined;
    uint8_t words, rotations, store_bytes, store_undefined;
    int8_t context, ready_register;
    bool is_first, is_exit, is_refused, is_jump;
} Moment;
VEC(Moment);
typedef uint32_t Word32;
VEC(Word32);

typedef struct Record {
    MomentVec moments; /* by cycle, once record_run returned */
    Word32Vec values;
    bool is_full; /* more issues than it holds */
    WorkbenchStop stop;
    WorkbenchCounters counters;
    /* while it is made */
    Workbench *bench;
    Arena *keep;
    isize first_pending; /* issues since the last one of the supervisor */
} Record;

/* Runs the target; without `is_recorded` no moments are kept. */
void record_run(Workbench *bench, const Target *target, Cycles limit, bool is_recorded, Arena *keep,
                Arena scratch, Record *out);

/* Memory and registers at one point of a record. */
typedef struct TileView {
    uint32_t *word; /* SRAM_WORDS */
    uint8_t *is_undefined;
    uint32_t m[7][16], a[7][16]; /* [context + 1] */
    uint16_t m_undefined[7], a_undefined[7];
} TileView;

TileView view_of(const Workbench *bench, Arena *keep);
void view_apply(TileView *view, const Record *record, const Moment *moment);
/* Prints the ranges of guard areas that hold something else, one line each; returns the number of changed words. `record` names
 * the writers and may be without moments. */
int64_t guards_check(Writer *out, const AreaVec *areas, const TileView *view, const Record *record,
                     const Target *target);

/* --- show.c: text */

typedef enum ShowFormat { SHOW_HEX, SHOW_U32, SHOW_F32, SHOW_F16 } ShowFormat;
bool format_parse(Str text, ShowFormat *out, Error *err);
/* `PLACE,BYTES[,FORMAT]`; with may_be_file also `PLACE,BYTES,file:PATH`. */
typedef struct Dump {
    uint32_t address, bytes;
    ShowFormat format;
    Str file; /* empty: text */
} Dump;
bool dump_parse(Str text, const Target *target, bool may_be_file, Dump *out, Error *err);
void dump_print(Writer *out, const Dump *dump, const TileView *view);
/* One line; with `is_done` what it wrote. */
void moment_print(Writer *out, const Moment *moment, bool is_done, const Record *record,
                  const Target *target);
/* "supervisor" or "worker 3"; "0x4c018 symbol+0x8" (of the symbol at most 20 bytes). */
void context_print(Writer *out, int context);
void pc_print(Writer *out, uint32_t pc, const Target *target);
void view_print(Writer *out, const TileView *view, int context);
/* Where it happened in the source, and the registers that the instruction names. */
void fault_explain(Writer *out, const Fault *fault, const TileView *view, const Target *target);

/* --- step.c: breakpoints and stepping */

typedef struct Breakpoint {
    enum { BREAK_PC, BREAK_CYCLE, BREAK_WRITE } kind;
    uint32_t address, bytes;
    Cycles cycle;
    Str text; /* as given */
} Breakpoint;
VEC(Breakpoint);
bool breakpoint_parse(Str text, const Target *target, Breakpoint *out, Error *err);

typedef struct Stepper {
    const Target *target;
    const Record *record;
    TileView view;
    isize at;   /* moments done */
    isize told; /* 1 + the moment before which it has stopped already */
    BreakpointVec breakpoints;
    Arena *keep;
} Stepper;
/* Goes on to the next breakpoint and says where; false at the end of the record. */
bool stepper_continue(Stepper *stepper, Writer *out);
/* Reads commands from descriptor `fd` until quit or its end, answers on `out`. */
void stepper_talk(Stepper *stepper, int fd, bool is_terminal, Writer *out);

/* --- explain.c, annotate.c: where the cycles went; both need a record that ended at its host sync */

typedef enum Cause {
#define CAUSE(name, text) CAUSE_##name,
#include "debug/causes.def"
#undef CAUSE
    CAUSE_COUNT
} Cause;

/* Cycles by context (0 supervisor, 1 + worker) and cause. Every row of seven sums to `total`. */
typedef struct Explanation {
    Cycles total;
    Cycles cycles[7][CAUSE_COUNT];
    Cycles free_slot_issues; /* of the supervisor, while a worker was running */
} Explanation;
Explanation explain_record(const Record *record, Arena scratch);
/* {"total": N, "causes": [{"cause": "...", "cycles": [supervisor, worker 0 .. 5]}, ...]} */
void explain_json(Writer *out, const Explanation *explanation);
void explain_print(Writer *out, const Explanation *explanation, const Record *record,
                   const Target *target, Arena scratch);
/* Issues and cycles by source line; the sums are those of the explanation (asserted). */
void annotate_print(Writer *out, const Record *record, const Target *target,
                    const Explanation *explanation, Arena scratch);
