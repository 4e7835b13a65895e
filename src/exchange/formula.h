/* Private to exchange: the integer formulas of generated transfers in a problem file (docs/exchange.md).
 *
 * A formula is read once into nodes and evaluated for every value of the loops around it. Names are slots, in scope from their
 * clause to the end of the line, or of the file. Nothing a file says can make reading it unbounded: depth, names, nodes and
 * evaluated steps have limits.
 */
#pragma once
#include "exchange/exchange.h"

enum {
    FORMULA_DEPTH_MAX = 64,
    FORMULA_NAMES_MAX = 64,
    FORMULA_NODES_MAX = 1 << 16,
    FORMULA_STEPS_MAX = 200 * 1000 * 1000, /* nodes evaluated and loops gone round, per file */
};

typedef struct FormulaNode {
    uint8_t op;
    uint8_t depth;       /* of the operands below, at most FORMULA_DEPTH_MAX */
    int32_t first, next; /* first operand; next operand of the same parent. 0: none */
    int64_t value;       /* number, or slot of a name */
} FormulaNode;
VEC(FormulaNode);

typedef struct Formulas {
    FormulaNodeVec nodes; /* index 0 unused */
    Str names[FORMULA_NAMES_MAX];
    int64_t values[FORMULA_NAMES_MAX];
    int name_count;
    IntMap taken; /* (tile, area) -> bytes handed out by take() */
    int64_t steps;
    Arena *arena;
} Formulas;

typedef enum TokenKind { TOKEN_END = 0, TOKEN_NUMBER, TOKEN_NAME, TOKEN_SIGN, TOKEN_BAD } TokenKind;

/* Reads one line of a file: `token` is the one to be looked at next. A line break behind a backslash counts as a space. */
typedef struct Lexer {
    Str text;
    isize at; /* behind `token` */
    int line; /* of the file, where `token` stands */
    TokenKind kind;
    Str token;
    int64_t number;
    Error *err;
} Lexer;

Lexer lexer_start(Str text, int line, Error *err);
void lexer_next(Lexer *lexer);
/* Takes the token if it is this name or sign. */
bool lexer_take(Lexer *lexer, Str token);
/* `expected ..., found ...` at the token's line. Returns false. */
bool lexer_refuse(const Lexer *lexer, const char *expected);

/* Reads an expression. False after an error. */
bool formula_parse(Formulas *formulas, Lexer *lexer, int32_t *out);
/* Brings a new name into scope. False after an error. */
bool formula_name(Formulas *formulas, Lexer *lexer, int *slot);
/* False with a message that does not say where: the caller knows the line. */
bool formula_eval(Formulas *formulas, int32_t formula, int64_t *out, Error *err);
/* Counts one step; false when the file has used up its steps. */
bool formula_step(Formulas *formulas, Error *err);
