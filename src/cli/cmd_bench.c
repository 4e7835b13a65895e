/* `tessera bench KIND`: the project's own measurements. A kind is one file cmd_bench_*.c; here is what they share. Kinds of
 * product.md 4 that are not here come with what they measure.
 */
#include "cli/bench.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* --- arguments ------------------------------------------------------------------------------------------ */

bool bench_exclude(const char *one, const char *other, Error *err)
{
    return one == NULL || other == NULL ||
           error_set(err, ERROR_INPUT, NULL, "options %s and %s exclude each other", one, other);
}

static bool take_form(BenchArgs *args, OutputForm form, Error *err)
{
    if (args->form != FORM_TABLE && args->form != form) {
        return bench_exclude("--json", "--markdown", err);
    }
    args->form = form;
    return true;
}

bool bench_take(BenchArgs *args, int flag, const char *value, Error *err)
{
    switch (flag) {
    case BENCH_JSON:
        return take_form(args, FORM_JSON, err);
    case BENCH_MARKDOWN:
        return take_form(args, FORM_MARKDOWN, err);
    case BENCH_LIST:
        args->is_listed = true;
        return true;
    case BENCH_THREADS:
        return cli_int("-j", value, 1, 1024, &args->threads, err);
    case BENCH_QUIET:
        args->is_quiet = true;
        return true;
    default:
        ASSERT(flag < 0);
        if (args->item_count == BENCH_ITEMS_MAX) {
            return error_set(err, ERROR_INPUT, NULL, "expected at most %d problems",
                             BENCH_ITEMS_MAX);
        }
        args->items[args->item_count++] = value;
        return true;
    }
}

bool bench_check_args(const BenchArgs *args, const char *text, Error *err)
{
    const char *list = args->is_listed ? "--list" : NULL;
    const char *forms[] = {
        [FORM_TABLE] = NULL, [FORM_JSON] = "--json", [FORM_MARKDOWN] = "--markdown"};
    if (!bench_exclude(list, text, err) ||
        !bench_exclude(list != NULL ? list : text, forms[args->form], err)) {
        return false;
    }
    return !args->is_listed || args->item_count == 0 ||
           error_set(err, ERROR_INPUT, NULL, "option --list: expected no problem, found %s",
                     args->items[0]);
}

/* --- problems ------------------------------------------------------------------------------------------- */

static Str corpus_name(const CorpusFile *file)
{
    Str name = str_of(file->name);
    return str_cut(&name, '.');
}

static const char *generated_name(const BenchCorpus *corpus, int index)
{
    return corpus->generated == NULL ? NULL : corpus->generated(index);
}

void bench_print_list(Writer *out, const BenchCorpus *corpus)
{
    for (int i = 0; i < *corpus->count; i++) {
        write_fmt(out, "%.*s\n", STR_ARG(corpus_name(&corpus->files[i])));
    }
    for (int i = 0; generated_name(corpus, i) != NULL; i++) {
        write_fmt(out, "%s\n", generated_name(corpus, i));
    }
}

int bench_item_count(const BenchArgs *args, const BenchCorpus *corpus)
{
    int generated = 0;
    while (generated_name(corpus, generated) != NULL) {
        generated++;
    }
    return args->item_count > 0 ? args->item_count : *corpus->count + generated;
}

const char *bench_item(const BenchArgs *args, const BenchCorpus *corpus, int index, Arena *arena)
{
    if (args->item_count == 0 && index >= *corpus->count) {
        return generated_name(corpus, index - *corpus->count);
    }
    return args->item_count > 0
               ? args->items[index]
               : str_format(arena, "%.*s", STR_ARG(corpus_name(&corpus->files[index]))).at;
}

const CorpusFile *bench_find(const BenchCorpus *corpus, const char *item)
{
    for (int i = 0; i < *corpus->count; i++) {
        if (str_equal(str_of(item), corpus_name(&corpus->files[i]))) {
            return &corpus->files[i];
        }
    }
    return NULL;
}

bool bench_read(const BenchCorpus *corpus, const char *item, isize bytes_max, Arena *keep, Str *out,
                Error *err)
{
    const CorpusFile *file = bench_find(corpus, item);
    if (file != NULL) {
        *out = (Str){file->text, file->length};
        return true;
    }
    if (str_folder_len(str_of(item)) == 0 && access(item, F_OK) != 0) {
        return error_set(err, ERROR_INPUT, item, "no file, and no problem of the corpus (--list)");
    }
    return file_read(item, bytes_max, keep, out, err);
}

Str bench_name(const char *item, const char *ending, Arena *arena)
{
    Str path = str_of(item);
    Str name = str_slice(path, str_folder_len(path), path.len);
    bool is_ended = str_ends(name, str_of(ending));
    return str_shown(str_slice(name, 0, name.len - (is_ended ? str_of(ending).len : 0)), arena);
}

void bench_write_cell(Writer *out, Str name)
{
    write_str(out, S("| "));
    for (isize i = 0; i < name.len; i++) {
        write_str(out, name.at[i] == '|' ? S("\\") : S(""));
        write_str(out, str_slice(name, i, i + 1));
    }
}

void bench_say(const BenchArgs *args, int index, int count, Str name, const char *what)
{
    if (!args->is_quiet) {
        fprintf(stderr, "%d/%d %.*s: %s\n", index + 1, count, STR_ARG(name), what);
    }
}

/* --- the command ---------------------------------------------------------------------------------------- */

typedef struct Kind {
    const char *name;
    int (*run)(int argc, char **argv); /* NULL: not in this version */
    const char *about;
} Kind;

static const Kind kinds[] = {
    {"exchange", bench_exchange, "exchange phases: bounds, schedules, rows"},
    {"place", bench_place, "placement problems: addresses or a proof, each checked"},
    {"machine", NULL, NULL},
    {"kernels", NULL, NULL},
    {"compile", NULL, NULL},
};
enum { KIND_COUNT = sizeof kinds / sizeof *kinds };

static void print_kinds(void)
{
    puts("usage: tessera bench KIND [PROBLEM...] [OPTIONS]\n\nThe project's own measurements.\n");
    for (int i = 0; i < KIND_COUNT; i++) {
        if (kinds[i].run != NULL) {
            printf("  %-9s %s\n", kinds[i].name, kinds[i].about);
        }
    }
    puts("\n`tessera bench KIND --help` describes a kind.");
}

int cmd_bench(int argc, char **argv)
{
    static const char expected[] = "exchange or place";
    const char *name = argc > 1 ? argv[1] : "";
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        print_kinds();
        return 0;
    }
    Error err = {0};
    for (int i = 0; i < KIND_COUNT; i++) {
        char command[32]; /* as --help and messages call it */
        if (strcmp(name, kinds[i].name) == 0 && kinds[i].run != NULL) {
            (void)snprintf(command, sizeof command, "bench %s", name);
            argv[1] = command;
            return kinds[i].run(argc - 1, argv + 1);
        }
        if (strcmp(name, kinds[i].name) == 0) {
            error_set(&err, ERROR_INPUT, NULL, "bench %s is not in this version; expected %s", name,
                      expected);
        }
    }
    error_set(&err, ERROR_INPUT, NULL, "bench: expected %s, found %s (see tessera bench --help)",
              expected, argc > 1 ? name : "nothing");
    return cli_fail(&err);
}
