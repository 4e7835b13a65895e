/* Private to cli: what the kinds of `tessera bench` have in common. */
#pragma once
#include "cli/cli.h"
#include "cli/corpus.h"

enum { BENCH_ITEMS_MAX = 1024 };

typedef enum OutputForm { FORM_TABLE = 0, FORM_JSON, FORM_MARKDOWN } OutputForm;

/* Options and arguments of every kind. */
typedef struct BenchArgs {
    const char *items[BENCH_ITEMS_MAX];
    int item_count;
    int64_t threads;
    OutputForm form;
    bool is_quiet, is_listed;
} BenchArgs;

/* They stand first in the flags of a kind: `BENCH_FLAGS, [FLAG_BOUNDS] = ...`. */
enum { BENCH_JSON, BENCH_MARKDOWN, BENCH_LIST, BENCH_THREADS, BENCH_QUIET, BENCH_FLAG_COUNT };
#define BENCH_FLAGS                                                                                \
    [BENCH_JSON] = {"--json", NULL, "the table as JSON"},                                          \
    [BENCH_MARKDOWN] = {"--markdown", NULL, "the table as Markdown"},                              \
    [BENCH_LIST] = {"--list", NULL, "names that PROBLEM may be"},                                  \
    [BENCH_THREADS] = {"-j", "N", "threads (default: all cores)"},                                 \
    [BENCH_QUIET] = {"-q", NULL, "no progress"}

/* Problems by name, their file's up to its first dot; behind them what is generated. */
typedef struct BenchCorpus {
    const CorpusFile *files;
    const int *count;
    const char *(*generated)(int index); /* its name; NULL: none is left, or there are none */
} BenchCorpus;

int bench_exchange(int argc, char **argv);
int bench_place(int argc, char **argv);

/* Takes flags of BENCH_FLAGS and arguments (-1). */
bool bench_take(BenchArgs *args, int flag, const char *value, Error *err);
/* Two options of which only one may be given; NULL for one that is not. */
bool bench_exclude(const char *one, const char *other, Error *err);
/* What prints `text` (an option, or NULL) instead of a table has no form; --list has no problems. */
bool bench_check_args(const BenchArgs *args, const char *text, Error *err);

void bench_print_list(Writer *out, const BenchCorpus *corpus);
/* The given problems, or the whole corpus. */
int bench_item_count(const BenchArgs *args, const BenchCorpus *corpus);
const char *bench_item(const BenchArgs *args, const BenchCorpus *corpus, int index, Arena *arena);
/* By the bare name: with a folder or an ending it is somebody's file. NULL when it is not of the corpus. */
const CorpusFile *bench_find(const BenchCorpus *corpus, const char *item);
/* Text of a problem of the corpus or of a file. */
bool bench_read(const BenchCorpus *corpus, const char *item, isize bytes_max, Arena *keep, Str *out,
                Error *err);
/* The printable name of a problem: its file's without folder and ending. */
Str bench_name(const char *item, const char *ending, Arena *arena);
/* The same as the first cell of a line of a Markdown table. */
void bench_write_cell(Writer *out, Str name);
/* One line of progress, of item `index` (from 0) of `count`. */
void bench_say(const BenchArgs *args, int index, int count, Str name, const char *what);
