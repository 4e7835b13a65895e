/* Transfers by formula (docs/exchange.md): loops, names and conditions in front of one transfer whose fields are formulas.
 *
 *   let rows = 729
 *   for r < rows for m < 36 let i = part(r / 2, 365, 9): transfer source=L(r) address=0x64000 + 32 * m words=8 \
 *       to=for j < 27: L(i * 162 + m / 6 * 27 + j)@0x80000 + 32 * (m % 6)
 *
 * Without clauses it is one transfer. A receiver is `tile@address`, with clauses and a colon in front of it if there are several of a kind. Transfers and receivers
 * come in the order of the loops, the last loop fastest.
 */
#include "exchange/text.h"
#include <stdio.h>
#include <string.h>

typedef enum ClauseKind { CLAUSE_FOR, CLAUSE_LET, CLAUSE_IF } ClauseKind;

typedef struct Clause {
    ClauseKind kind;
    int slot;
    int32_t formula;
} Clause;

enum { CLAUSES_MAX = 32, RECEIVERS_MAX = 32 };

/* Clauses are one after the other in `clauses`: first the transfer's, then each receiver's. */
typedef struct ReceiverForm {
    int clause_first, clause_end;
    int32_t tile, address;
} ReceiverForm;

typedef struct Generator {
    ProblemText *text;
    Clause clauses[CLAUSES_MAX];
    int clause_count, transfer_clauses;
    int32_t source, address, words, bytes, move; /* formulas; 0: not given */
    ReceiverForm receivers[RECEIVERS_MAX];
    int receiver_count;
} Generator;

/* --- reading ------------------------------------------------------------------------------------------- */

static bool parse_clause(Generator *g, Lexer *lexer, ClauseKind kind)
{
    Formulas *formulas = &g->text->formulas;
    if (g->clause_count == CLAUSES_MAX) {
        return lexer_refuse(lexer, "at most 32 clauses");
    }
    Clause *clause = &g->clauses[g->clause_count++];
    *clause = (Clause){.kind = kind};
    if (kind == CLAUSE_IF) {
        return formula_parse(formulas, lexer, &clause->formula);
    }
    /* The name is in scope behind its own formula only. */
    if (!formula_name(formulas, lexer, &clause->slot)) {
        return false;
    }
    Str name = formulas->names[clause->slot];
    formulas->names[clause->slot] = S("");
    const char *sign = kind == CLAUSE_FOR ? "<" : "=";
    if (!lexer_take(lexer, str_of(sign))) {
        return lexer_refuse(lexer, sign);
    }
    bool is_good = formula_parse(formulas, lexer, &clause->formula);
    formulas->names[clause->slot] = name;
    return is_good;
}

static bool parse_clauses(Generator *g, Lexer *lexer)
{
    for (;;) {
        ClauseKind kind;
        if (lexer_take(lexer, S("for"))) {
            kind = CLAUSE_FOR;
        } else if (lexer_take(lexer, S("let"))) {
            kind = CLAUSE_LET;
        } else if (lexer_take(lexer, S("if"))) {
            kind = CLAUSE_IF;
        } else {
            return true;
        }
        if (!parse_clause(g, lexer, kind)) {
            return false;
        }
    }
}

static bool parse_receiver(Generator *g, Lexer *lexer)
{
    Formulas *formulas = &g->text->formulas;
    int names = formulas->name_count;
    if (g->receiver_count == RECEIVERS_MAX) {
        return lexer_refuse(lexer, "at most 32 forms of receivers");
    }
    ReceiverForm *form = &g->receivers[g->receiver_count++];
    form->clause_first = g->clause_count;
    if (!parse_clauses(g, lexer)) {
        return false;
    }
    form->clause_end = g->clause_count;
    if (form->clause_end > form->clause_first && !lexer_take(lexer, S(":"))) {
        return lexer_refuse(lexer, "for, let, if or :");
    }
    if (!formula_parse(formulas, lexer, &form->tile)) {
        return false;
    }
    if (!lexer_take(lexer, S("@"))) {
        return lexer_refuse(lexer, "@ between tile and address");
    }
    bool is_good = formula_parse(formulas, lexer, &form->address);
    formulas->name_count = names;
    return is_good;
}

/* Takes `NAME=`; a name alone is left where it is. */
static bool take_field(Lexer *lexer, const char *name)
{
    Lexer ahead = *lexer;
    if (lexer_take(&ahead, str_of(name)) && lexer_take(&ahead, S("="))) {
        *lexer = ahead;
        return true;
    }
    return false;
}

static bool parse_field(Generator *g, Lexer *lexer, const char *name, int32_t *formula)
{
    char expected[32];
    (void)snprintf(expected, sizeof expected, "%s=formula", name);
    return take_field(lexer, name) ? formula_parse(&g->text->formulas, lexer, formula)
                                   : lexer_refuse(lexer, expected);
}

static bool parse_transfer(Generator *g, Lexer *lexer)
{
    if (!parse_field(g, lexer, "source", &g->source) ||
        !parse_field(g, lexer, "address", &g->address)) {
        return false;
    }
    if (take_field(lexer, "bytes")) {
        if (!formula_parse(&g->text->formulas, lexer, &g->bytes)) {
            return false;
        }
    } else if (!parse_field(g, lexer, "words", &g->words)) {
        return false;
    }
    if (take_field(lexer, "move") && !formula_parse(&g->text->formulas, lexer, &g->move)) {
        return false;
    }
    if (!take_field(lexer, "to")) {
        return lexer_refuse(lexer, "to=tile@address,...");
    }
    do {
        if (!parse_receiver(g, lexer)) {
            return false;
        }
    } while (lexer_take(lexer, S(",")));
    return lexer->kind == TOKEN_END || lexer_refuse(lexer, "the end of the line");
}

/* --- running ------------------------------------------------------------------------------------------- */

static bool eval(Generator *g, int32_t formula, int64_t *out)
{
    return formula_eval(&g->text->formulas, formula, out, g->text->err);
}

static bool emit_receiver(Generator *g, const ReceiverForm *form)
{
    int64_t tile, address;
    return eval(g, form->tile, &tile) && eval(g, form->address, &address) &&
           text_add_receiver(g->text, tile, address);
}

static bool emit_transfer(Generator *g);

/* The clauses [at, end), and for everything that they let through a receiver, or a transfer. */
static bool run(Generator *g, int at, int end, const ReceiverForm *receiver)
{
    if (at == end) {
        return receiver != NULL ? emit_receiver(g, receiver) : emit_transfer(g);
    }
    const Clause *clause = &g->clauses[at];
    Formulas *formulas = &g->text->formulas;
    int64_t value;
    if (!eval(g, clause->formula, &value)) {
        return false;
    }
    if (clause->kind == CLAUSE_IF) {
        return value == 0 || run(g, at + 1, end, receiver);
    }
    if (clause->kind == CLAUSE_LET) {
        formulas->values[clause->slot] = value;
        return run(g, at + 1, end, receiver);
    }
    for (int64_t i = 0; i < value; i++) {
        formulas->values[clause->slot] = i;
        if (!formula_step(formulas, g->text->err) || !run(g, at + 1, end, receiver)) {
            return false;
        }
    }
    return true;
}

static bool emit_transfer(Generator *g)
{
    TransferText t = {.receiver_first = (int32_t)g->text->out->receivers.len};
    if (!eval(g, g->source, &t.source) || !eval(g, g->address, &t.address) ||
        !eval(g, g->bytes != 0 ? g->bytes : g->words, &t.bytes) ||
        (g->move != 0 && !eval(g, g->move, &t.move))) {
        return false;
    }
    const int64_t words = t.bytes;
    if (g->bytes == 0 && __builtin_mul_overflow(words, 4, &t.bytes)) {
        return text_refuse(g->text, "X14: expected 1..%d words, found %lld",
                           FABRIC_MESSAGE_WORDS_MAX, (long long)words);
    }
    for (int i = 0; i < g->receiver_count; i++) {
        const ReceiverForm *form = &g->receivers[i];
        if (!run(g, form->clause_first, form->clause_end, form)) {
            return false;
        }
    }
    return text_add_transfer(g->text, &t);
}

/* Where in the loops a mistake is: `at r=3 m=0`. */
static bool say_where(const Generator *g)
{
    const ProblemText *text = g->text;
    if (text->err->where[0] == 0) {
        (void)snprintf(text->err->where, sizeof text->err->where, "line %d", text->line);
    }
    char at[128] = "";
    int len = 0;
    for (int i = 0; i < g->transfer_clauses && len < 80; i++) {
        const Clause *clause = &g->clauses[i];
        if (clause->kind == CLAUSE_FOR) {
            Str name = text->formulas.names[clause->slot];
            len += snprintf(at + len, sizeof at - (size_t)len, "%s%.*s=%lld", len > 0 ? " " : "",
                            (int)min_i64(name.len, 12), name.at,
                            (long long)text->formulas.values[clause->slot]);
        }
    }
    if (len > 0) {
        size_t used = strlen(text->err->message);
        (void)snprintf(text->err->message + used, sizeof text->err->message - used, ", at %s", at);
    }
    return false;
}

bool generate_transfers(ProblemText *text, Str line)
{
    Generator *g = arena_new(text->keep, Generator);
    Formulas *formulas = &text->formulas;
    Lexer lexer = lexer_start(line, text->line, text->err);
    const int names = formulas->name_count;
    g->text = text;
    if (!parse_clauses(g, &lexer)) {
        return false;
    }
    if (lexer.kind == TOKEN_END && g->clause_count == 1 && g->clauses[0].kind == CLAUSE_LET) {
        const Clause *clause = &g->clauses[0];
        return eval(g, clause->formula, &formulas->values[clause->slot]) || say_where(g);
    }
    if (g->clause_count > 0 && !lexer_take(&lexer, S(":"))) {
        return lexer_refuse(&lexer, "for, let, if or :");
    }
    g->transfer_clauses = g->clause_count;
    if (!lexer_take(&lexer, S("transfer"))) {
        return lexer_refuse(&lexer, "transfer");
    }
    if (text->out->phases.len == 0) {
        return text_refuse(text, "expected a phase line before the first transfer");
    }
    if (!parse_transfer(g, &lexer)) {
        return false;
    }
    bool is_good = run(g, 0, g->transfer_clauses, NULL) || say_where(g);
    formulas->name_count = names;
    return is_good;
}
