/* The listing with counts. A line has the issues and cycles of all code that it made, and below it, when that is more than one
 * word or bundle (macros, includes, repeats of text), each of them. A supervisor instruction is charged with its waits, its
 * issue and its shadow, a worker's with its rotations or, an exit, with the return of the slot: so that the supervisor's
 * column sums to the run, and the workers' to what they did between first issue and slot return.
 */
#include "debug/debug.h"

enum { CODE_WORDS = (SRAM_REGION1 - SRAM_BASE) / 4, TEXT_COLUMNS = 60 };

typedef struct Count {
    int64_t issues;
    Cycles supervisor, workers; /* the latter summed over the six */
} Count;

/* One word that was issued, in the list of its line. */
typedef struct Issued {
    Count count;
    uint32_t word[2];
    bool is_worker;
    uint32_t next; /* number of the next word of the line; 0: none */
} Issued;

typedef struct SourceLine {
    Count count;
    uint32_t first, last; /* issued words, as number + 1; 0: none */
} SourceLine;

static void add(Count *to, const Count *from)
{
    to->issues += from->issues;
    to->supervisor += from->supervisor;
    to->workers += from->workers;
}

static Issued *count_words(const Record *record, Arena *arena)
{
    Issued *issued = arena_array(arena, Issued, CODE_WORDS);
    for (isize i = 0; i < record->moments.len; i++) {
        const Moment *moment = &record->moments.at[i];
        Issued *at = &issued[(moment->pc - SRAM_BASE) / 4];
        at->is_worker = moment->context >= 0;
        at->word[0] = moment->word[0];
        at->word[1] = moment->word[1];
        at->count.issues++;
        if (at->is_worker) {
            at->count.workers += moment->next - moment->cycle;
        } else {
            at->count.supervisor += moment->next - moment->allowed;
        }
    }
    return issued;
}

/* Per object, an array of its lines from 1 on; line 0 takes what has no source (code that the program wrote). */
static SourceLine **sort_into_lines(const Target *target, Issued *issued, Arena *arena)
{
    SourceLine **lines = arena_array(arena, SourceLine *, target->count);
    for (int o = 0; o < target->count; o++) {
        lines[o] = arena_array(arena, SourceLine, target->line_count[o] + 1);
    }
    for (uint32_t w = 0; w < CODE_WORDS; w++) {
        int object = 0;
        uint32_t line = 0;
        if (issued[w].count.issues == 0) {
            continue;
        }
        if (!target_line(target, SRAM_BASE + 4 * w, &object, &line)) {
            line = 0;
        }
        SourceLine *at = &lines[object][line];
        add(&at->count, &issued[w].count);
        *(at->last ? &issued[at->last - 1].next : &at->first) = w + 1;
        at->last = w + 1;
    }
    return lines;
}

static void print_count(Writer *out, const Count *count)
{
    write_fmt(out, "%9lld %10lld %10lld", (long long)count->issues, (long long)count->supervisor,
              (long long)count->workers);
}

static void print_source(Writer *out, Str text)
{
    isize column = 0;
    for (isize i = 0; i < text.len && column < TEXT_COLUMNS && text.at[i] != '\r'; i++) {
        if (text.at[i] == '\t') {
            int spaces = (int)(8 - column % 8);
            write_fmt(out, "%*s", spaces, "");
            column += spaces;
        } else {
            write_str(out, str_slice(text, i, i + 1));
            column++;
        }
    }
    write_str(out, S("\n"));
}

/* The halves of a bundle below each other. */
static void print_code(Writer *out, const Issued *at, const IsaFlags *flags, Arena scratch)
{
    Writer code = writer_buffer(&scratch);
    isa_print_code(&code, at->word[0], at->word[1],
                   at->is_worker ? CONTEXT_WORKER : CONTEXT_SUPERVISOR, flags);
    Str rest = writer_text(&code), first = str_cut(&rest, ';');
    write_fmt(out, "%.*s\n", STR_ARG(str_trim(first)));
    if (rest.len > 0) {
        write_fmt(out, "%38s  ;%.*s\n", "", STR_ARG(rest));
    }
}

static void print_words(Writer *out, const Issued *issued, const SourceLine *line,
                        const IsaFlags *flags, Arena scratch)
{
    for (uint32_t w = line->first; w != 0; w = issued[w - 1].next) {
        const Issued *at = &issued[w - 1];
        write_str(out, S("      "));
        print_count(out, &at->count);
        write_fmt(out, "  . 0x%05x ", SRAM_BASE + 4 * (w - 1));
        print_code(out, at, flags, scratch);
    }
}

static void print_line(Writer *out, const Issued *issued, const SourceLine *line, uint32_t number,
                       Str text, const IsaFlags *flags, Arena scratch)
{
    write_fmt(out, "%5u", number);
    if (line->first != 0) {
        write_str(out, S(" "));
        print_count(out, &line->count);
    } else if (str_trim(text).len > 0) {
        write_fmt(out, "%32s", "");
    }
    write_str(out, S("  "));
    print_source(out, text);
    if (line->first != line->last) {
        print_words(out, issued, line, flags, scratch);
    }
}

static Cycles workers_busy(const Explanation *explanation)
{
    Cycles busy = 0;
    for (int c = 1; c <= CHIP_WORKERS; c++) {
        const Cycles *at = explanation->cycles[c];
        busy += explanation->total - at[CAUSE_start] - at[CAUSE_slowest] - at[CAUSE_unlaunched];
    }
    return busy;
}

void annotate_print(Writer *out, const Record *record, const Target *target,
                    const Explanation *explanation, Arena scratch)
{
    Issued *issued = count_words(record, &scratch);
    SourceLine **lines = sort_into_lines(target, issued, &scratch);
    Count sum = lines[0][0].count;
    for (int o = 0; o < target->count; o++) {
        write_fmt(out, "%.*s\n line    issues supervisor    workers\n",
                  STR_ARG(target->object[o].file));
        Str rest = target->text[o];
        for (uint32_t number = 1; rest.len > 0; number++) {
            Str text = str_cut(&rest, '\n');
            print_line(out, issued, &lines[o][number], number, text, target->flags, scratch);
            add(&sum, &lines[o][number].count);
        }
    }
    if (lines[0][0].first != 0) {
        print_line(out, issued, &lines[0][0], 0, S("(code without a source line)"), target->flags,
                   scratch);
    }
    ASSERT(sum.issues == record->moments.len);
    ASSERT(sum.supervisor == explanation->total);
    ASSERT(sum.workers == workers_busy(explanation));
    write_str(out, S("  sum "));
    print_count(out, &sum);
    write_str(out, S("  simulated cycles\n"));
}
