/* Integer formulas: a recursive-descent reader and an evaluator over its nodes. All arithmetic is exact in 64 bits or refused.
 *
 *   a || b, a && b, a == b, != < <= > >=, a ^ b (exclusive or), a + b, a - b, a * b, a / b, a % b, -a, !a, (a), names, numbers
 *   min(a,b) max(a,b) choose(c,a,b) part(x,n,p) first(i,n,p) draw(n,a,...) take(tile,area,bytes) L(x)
 *
 * Division rounds down and a % b has the sign of b, so that both go on through zero.
 */
#include "exchange/formula.h"
#include <stdio.h>

typedef enum FormulaOp {
    FORMULA_NUMBER,
    FORMULA_NAME,
    FORMULA_OR,
    FORMULA_AND,
    FORMULA_EQUAL,
    FORMULA_DIFFERS,
    FORMULA_LESS,
    FORMULA_LESS_EQUAL,
    FORMULA_GREATER,
    FORMULA_GREATER_EQUAL,
    FORMULA_XOR,
    FORMULA_ADD,
    FORMULA_SUBTRACT,
    FORMULA_MULTIPLY,
    FORMULA_DIVIDE,
    FORMULA_REMAINDER,
    FORMULA_NEGATE,
    FORMULA_NOT,
    FORMULA_MIN,
    FORMULA_MAX,
    FORMULA_CHOOSE,
    FORMULA_PART,
    FORMULA_FIRST,
    FORMULA_DRAW,
    FORMULA_TAKE,
    FORMULA_LOGICAL,
} FormulaOp;

typedef struct Operator {
    const char *sign;
    int level; /* binds weaker the lower */
    FormulaOp op;
} Operator;

static const Operator operators[] = {
    {"||", 0, FORMULA_OR},      {"&&", 1, FORMULA_AND},        {"==", 2, FORMULA_EQUAL},
    {"!=", 2, FORMULA_DIFFERS}, {"<=", 2, FORMULA_LESS_EQUAL}, {">=", 2, FORMULA_GREATER_EQUAL},
    {"<", 2, FORMULA_LESS},     {">", 2, FORMULA_GREATER},     {"^", 3, FORMULA_XOR},
    {"+", 4, FORMULA_ADD},      {"-", 4, FORMULA_SUBTRACT},    {"*", 5, FORMULA_MULTIPLY},
    {"/", 5, FORMULA_DIVIDE},   {"%", 5, FORMULA_REMAINDER},
};
enum { OPERATOR_COUNT = sizeof operators / sizeof *operators, LEVEL_UNARY = 6 };

typedef struct Function {
    const char *name;
    int least, most; /* arguments */
    FormulaOp op;
} Function;

static const Function functions[] = {
    {"min", 2, 2, FORMULA_MIN},   {"max", 2, 2, FORMULA_MAX},     {"choose", 3, 3, FORMULA_CHOOSE},
    {"part", 3, 3, FORMULA_PART}, {"first", 3, 3, FORMULA_FIRST}, {"draw", 2, 8, FORMULA_DRAW},
    {"take", 3, 3, FORMULA_TAKE}, {"L", 1, 1, FORMULA_LOGICAL},
};
enum { FUNCTION_COUNT = sizeof functions / sizeof *functions };

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Moves over spaces, and over line breaks behind a backslash. */
static void skip_space(Lexer *lexer)
{
    for (; lexer->at < lexer->text.len; lexer->at++) {
        char c = lexer->text.at[lexer->at];
        if (c == '\n') {
            lexer->line++;
        } else if (c != ' ' && c != '\t' && c != '\r' && c != '\\') {
            return;
        }
    }
}

void lexer_next(Lexer *lexer)
{
    skip_space(lexer);
    const char *at = lexer->text.at;
    isize begin = lexer->at, end = begin, len = lexer->text.len;
    lexer->kind = TOKEN_END;
    if (begin < len && is_digit(at[begin])) {
        while (end < len && (is_digit(at[end]) || is_letter(at[end]))) {
            end++;
        }
        lexer->kind = str_to_int(str_slice(lexer->text, begin, end), &lexer->number) ? TOKEN_NUMBER
                                                                                     : TOKEN_BAD;
    } else if (begin < len && is_letter(at[begin])) {
        while (end < len && (is_digit(at[end]) || is_letter(at[end]))) {
            end++;
        }
        lexer->kind = TOKEN_NAME;
    } else if (begin < len) {
        static const char *const doubles[] = {"||", "&&", "==", "!=", "<=", ">="};
        end++;
        for (size_t i = 0; i < sizeof doubles / sizeof *doubles; i++) {
            if (str_starts(str_slice(lexer->text, begin, len), str_of(doubles[i]))) {
                end = begin + 2;
            }
        }
        lexer->kind = TOKEN_SIGN;
    }
    lexer->token = str_slice(lexer->text, begin, end);
    lexer->at = end;
}

Lexer lexer_start(Str text, int line, Error *err)
{
    Lexer lexer = {.text = text, .line = line, .err = err};
    lexer_next(&lexer);
    return lexer;
}

bool lexer_take(Lexer *lexer, Str token)
{
    if (lexer->kind == TOKEN_END || lexer->kind == TOKEN_NUMBER ||
        !str_equal(lexer->token, token)) {
        return false;
    }
    lexer_next(lexer);
    return true;
}

bool lexer_refuse(const Lexer *lexer, const char *expected)
{
    char where[32];
    (void)snprintf(where, sizeof where, "line %d", lexer->line);
    isize len = lexer->token.len < 40 ? lexer->token.len : 40;
    if (lexer->kind == TOKEN_END) {
        return error_set(lexer->err, ERROR_INPUT, where, "expected %s, found the end of the line",
                         expected);
    }
    return error_set(lexer->err, ERROR_INPUT, where, "expected %s, found `%.*s`", expected,
                     (int)len, lexer->token.at);
}

/* --- reading ------------------------------------------------------------------------------------------- */

static int32_t add_node(Formulas *formulas, FormulaOp op, int64_t value)
{
    if (formulas->nodes.len == 0) {
        *vec_push(&formulas->nodes, formulas->arena) = (FormulaNode){0};
    }
    *vec_push(&formulas->nodes, formulas->arena) = (FormulaNode){.op = (uint8_t)op, .value = value};
    return (int32_t)formulas->nodes.len - 1;
}

/* A node over a list of operands. A long chain is as deep as nested parentheses, for the evaluator. */
static bool add_operator(Formulas *formulas, Lexer *lexer, FormulaOp op, int32_t first,
                         int32_t *out)
{
    uint8_t depth = 0;
    for (int32_t i = first; i != 0; i = formulas->nodes.at[i].next) {
        depth = formulas->nodes.at[i].depth > depth ? formulas->nodes.at[i].depth : depth;
    }
    if (depth == FORMULA_DEPTH_MAX || formulas->nodes.len > FORMULA_NODES_MAX) {
        return lexer_refuse(lexer, "a shorter formula");
    }
    *out = add_node(formulas, op, 0);
    formulas->nodes.at[*out].first = first;
    formulas->nodes.at[*out].depth = (uint8_t)(depth + 1);
    return true;
}

static bool parse_level(Formulas *formulas, Lexer *lexer, int level, int depth, int32_t *out);

static bool is_keyword(Str name)
{
    return str_equal(name, S("for")) || str_equal(name, S("let")) || str_equal(name, S("if")) ||
           str_equal(name, S("transfer"));
}

static const Function *find_function(Str name)
{
    for (int i = 0; i < FUNCTION_COUNT; i++) {
        if (str_equal(name, str_of(functions[i].name))) {
            return &functions[i];
        }
    }
    return NULL;
}

static int find_name(const Formulas *formulas, Str name)
{
    for (int i = formulas->name_count; i-- > 0;) {
        if (str_equal(name, formulas->names[i])) {
            return i;
        }
    }
    return -1;
}

bool formula_name(Formulas *formulas, Lexer *lexer, int *slot)
{
    if (lexer->kind != TOKEN_NAME || is_keyword(lexer->token) || find_function(lexer->token) ||
        find_name(formulas, lexer->token) >= 0) {
        return lexer_refuse(lexer, "a new name");
    }
    if (formulas->name_count == FORMULA_NAMES_MAX) {
        return lexer_refuse(lexer, "at most 64 names in scope");
    }
    *slot = formulas->name_count++;
    formulas->names[*slot] = lexer->token;
    formulas->values[*slot] = 0;
    lexer_next(lexer);
    return true;
}

static bool parse_arguments(Formulas *formulas, Lexer *lexer, const Function *function, int depth,
                            int32_t *out)
{
    if (!lexer_take(lexer, S("("))) {
        return lexer_refuse(lexer, "(");
    }
    int32_t first = 0, last = 0;
    int count = 0;
    do {
        int32_t argument;
        if (count == function->most) {
            char expected[64];
            (void)snprintf(expected, sizeof expected, "at most %d arguments of %s", function->most,
                           function->name);
            return lexer_refuse(lexer, expected);
        }
        if (!parse_level(formulas, lexer, 0, depth + 1, &argument)) {
            return false;
        }
        if (count++ == 0) {
            first = argument;
        } else {
            formulas->nodes.at[last].next = argument;
        }
        last = argument;
    } while (lexer_take(lexer, S(",")));
    if (count < function->least) {
        char expected[64];
        (void)snprintf(expected, sizeof expected, "%d arguments of %s", function->least,
                       function->name);
        return lexer_refuse(lexer, expected);
    }
    return (lexer_take(lexer, S(")")) || lexer_refuse(lexer, ")")) &&
           add_operator(formulas, lexer, function->op, first, out);
}

static bool parse_operand(Formulas *formulas, Lexer *lexer, int depth, int32_t *out)
{
    if (lexer->kind == TOKEN_NUMBER) {
        *out = add_node(formulas, FORMULA_NUMBER, lexer->number);
        lexer_next(lexer);
        return true;
    }
    if (lexer_take(lexer, S("("))) {
        return parse_level(formulas, lexer, 0, depth + 1, out) &&
               (lexer_take(lexer, S(")")) || lexer_refuse(lexer, ")"));
    }
    bool is_minus = lexer->kind == TOKEN_SIGN && str_equal(lexer->token, S("-"));
    if (is_minus || (lexer->kind == TOKEN_SIGN && str_equal(lexer->token, S("!")))) {
        int32_t operand;
        lexer_next(lexer);
        return parse_level(formulas, lexer, LEVEL_UNARY, depth + 1, &operand) &&
               add_operator(formulas, lexer, is_minus ? FORMULA_NEGATE : FORMULA_NOT, operand, out);
    }
    if (lexer->kind != TOKEN_NAME) {
        return lexer_refuse(lexer, "a number, a name or (");
    }
    const Function *function = find_function(lexer->token);
    if (function != NULL) {
        lexer_next(lexer);
        return parse_arguments(formulas, lexer, function, depth, out);
    }
    int slot = find_name(formulas, lexer->token);
    if (slot < 0) {
        return lexer_refuse(lexer, "a name that a let or for has set, or a function");
    }
    *out = add_node(formulas, FORMULA_NAME, slot);
    lexer_next(lexer);
    return true;
}

static const Operator *find_operator(const Lexer *lexer, int level)
{
    for (int i = 0; i < OPERATOR_COUNT && lexer->kind == TOKEN_SIGN; i++) {
        if (operators[i].level == level && str_equal(lexer->token, str_of(operators[i].sign))) {
            return &operators[i];
        }
    }
    return NULL;
}

static bool parse_level(Formulas *formulas, Lexer *lexer, int level, int depth, int32_t *out)
{
    if (depth > FORMULA_DEPTH_MAX || formulas->nodes.len > FORMULA_NODES_MAX) {
        return lexer_refuse(lexer, "a shorter formula");
    }
    if (level == LEVEL_UNARY) {
        return parse_operand(formulas, lexer, depth, out);
    }
    if (!parse_level(formulas, lexer, level + 1, depth, out)) {
        return false;
    }
    for (const Operator *found; (found = find_operator(lexer, level)) != NULL;) {
        int32_t right;
        lexer_next(lexer);
        if (!parse_level(formulas, lexer, level + 1, depth, &right)) {
            return false;
        }
        formulas->nodes.at[*out].next = right;
        if (!add_operator(formulas, lexer, found->op, *out, out)) {
            return false;
        }
    }
    return true;
}

bool formula_parse(Formulas *formulas, Lexer *lexer, int32_t *out)
{
    return parse_level(formulas, lexer, 0, 0, out);
}

/* --- evaluating ---------------------------------------------------------------------------------------- */

static bool fail(Error *err, const char *what)
{
    return error_set(err, ERROR_INPUT, NULL, "%s", what);
}

bool formula_step(Formulas *formulas, Error *err)
{
    if (++formulas->steps > FORMULA_STEPS_MAX) {
        return fail(err, "expected formulas that are done after 200 million steps");
    }
    return true;
}

static int64_t divide_down(int64_t a, int64_t b)
{
    int64_t quotient = a / b;
    return quotient * b != a && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

/* First member of part `i` when n members are dealt to p parts in order, the larger parts first. */
static int64_t first_of_part(int64_t i, int64_t n, int64_t p)
{
    return i * (n / p) + min_i64(i, n % p);
}

static int64_t part_of(int64_t x, int64_t n, int64_t p)
{
    int64_t small = n / p, large = n % p;
    return x < large * (small + 1) ? x / (small + 1) : large + (x - large * (small + 1)) / small;
}

static bool eval_arithmetic(FormulaOp op, int64_t a, int64_t b, int64_t *out, Error *err)
{
    bool is_over = false;
    switch (op) {
    case FORMULA_EQUAL:
        *out = a == b;
        break;
    case FORMULA_DIFFERS:
        *out = a != b;
        break;
    case FORMULA_LESS:
        *out = a < b;
        break;
    case FORMULA_LESS_EQUAL:
        *out = a <= b;
        break;
    case FORMULA_GREATER:
        *out = a > b;
        break;
    case FORMULA_GREATER_EQUAL:
        *out = a >= b;
        break;
    case FORMULA_XOR:
        *out = a ^ b;
        break;
    case FORMULA_MIN:
        *out = min_i64(a, b);
        break;
    case FORMULA_MAX:
        *out = max_i64(a, b);
        break;
    case FORMULA_ADD:
        is_over = __builtin_add_overflow(a, b, out);
        break;
    case FORMULA_SUBTRACT:
        is_over = __builtin_sub_overflow(a, b, out);
        break;
    case FORMULA_MULTIPLY:
        is_over = __builtin_mul_overflow(a, b, out);
        break;
    default: /* FORMULA_DIVIDE, FORMULA_REMAINDER */
        if (b == 0) {
            return fail(err, "expected a divisor that is not 0");
        }
        is_over = a == INT64_MIN && b == -1;
        if (!is_over) {
            *out = op == FORMULA_DIVIDE ? divide_down(a, b) : a - divide_down(a, b) * b;
        }
        break;
    }
    return !is_over || fail(err, "expected numbers within 64 bits");
}

static bool eval_part(FormulaOp op, const int64_t *v, int64_t *out, Error *err)
{
    const int64_t most = INT32_MAX;
    if (v[1] < 0 || v[1] > most || v[2] < 1 || v[2] > most || v[0] < 0 ||
        v[0] > (op == FORMULA_PART ? v[1] - 1 : v[2])) {
        return fail(err, op == FORMULA_PART ? "expected part(x,n,p) with 0 <= x < n and p >= 1"
                                            : "expected first(i,n,p) with 0 <= i <= p and n >= 0");
    }
    *out = op == FORMULA_PART ? part_of(v[0], v[1], v[2]) : first_of_part(v[0], v[1], v[2]);
    return true;
}

static bool eval_take(Formulas *formulas, const int64_t *v, int64_t *out, Error *err)
{
    if (v[0] < 0 || v[0] >= CHIP_TILES || v[1] < 0 || v[1] > UINT32_MAX || v[2] < 0 ||
        v[2] > SRAM_BYTES) {
        return fail(err, "expected take(tile,area,bytes) with a tile, an address and 0..638976");
    }
    uint32_t *used =
        int_map_put(&formulas->taken, (uint64_t)v[0] << 32 | (uint64_t)v[1], formulas->arena);
    *out = v[1] + *used;
    if (*used + v[2] > SRAM_BYTES) {
        return fail(err, "take(tile,area,bytes) has handed out a whole SRAM");
    }
    *used += (uint32_t)v[2];
    return true;
}

static bool eval_node(Formulas *formulas, int32_t node, int64_t *out, Error *err);

/* Functions and unary operators: all operands first. */
static bool eval_call(Formulas *formulas, const FormulaNode *node, int64_t *out, Error *err)
{
    int64_t v[8] = {0};
    int count = 0;
    for (int32_t i = node->first; i != 0; i = formulas->nodes.at[i].next) {
        if (!eval_node(formulas, i, &v[count++], err)) {
            return false;
        }
    }
    switch ((FormulaOp)node->op) {
    case FORMULA_NEGATE:
        return eval_arithmetic(FORMULA_SUBTRACT, 0, v[0], out, err);
    case FORMULA_NOT:
        *out = v[0] == 0;
        return true;
    case FORMULA_PART:
    case FORMULA_FIRST:
        return eval_part((FormulaOp)node->op, v, out, err);
    case FORMULA_TAKE:
        return eval_take(formulas, v, out, err);
    case FORMULA_LOGICAL:
        if (v[0] < 0 || v[0] >= CHIP_TILES) {
            return error_set(err, ERROR_INPUT, NULL, "expected L(0..%d), found L(%lld)",
                             CHIP_TILES - 1, (long long)v[0]);
        }
        *out = phys_of((Tile){(uint16_t)v[0]}).id;
        return true;
    case FORMULA_DRAW: {
        uint64_t state = 0;
        for (int i = 1; i < count; i++) {
            state = random_u64(state, (uint64_t)v[i]);
        }
        if (v[0] < 1) {
            return fail(err, "expected draw(n,...) with n >= 1");
        }
        *out = (int64_t)random_below(state, 0, (uint64_t)v[0]);
        return true;
    }
    default:
        return eval_arithmetic((FormulaOp)node->op, v[0], v[1], out, err);
    }
}

/* Operands that may stay unevaluated. */
static bool eval_lazy(Formulas *formulas, const FormulaNode *node, int64_t *out, Error *err)
{
    int64_t first;
    int32_t second = formulas->nodes.at[node->first].next;
    if (!eval_node(formulas, node->first, &first, err)) {
        return false;
    }
    if (node->op == FORMULA_CHOOSE) {
        return eval_node(formulas, first != 0 ? second : formulas->nodes.at[second].next, out, err);
    }
    if ((first != 0) == (node->op == FORMULA_OR)) {
        *out = first != 0;
        return true;
    }
    bool is_good = eval_node(formulas, second, out, err);
    *out = *out != 0;
    return is_good;
}

static bool eval_node(Formulas *formulas, int32_t index, int64_t *out, Error *err)
{
    const FormulaNode *node = &formulas->nodes.at[index];
    *out = 0;
    if (!formula_step(formulas, err)) {
        return false;
    }
    switch ((FormulaOp)node->op) {
    case FORMULA_NUMBER:
        *out = node->value;
        return true;
    case FORMULA_NAME:
        *out = formulas->values[node->value];
        return true;
    case FORMULA_OR:
    case FORMULA_AND:
    case FORMULA_CHOOSE:
        return eval_lazy(formulas, node, out, err);
    default:
        return eval_call(formulas, node, out, err);
    }
}

bool formula_eval(Formulas *formulas, int32_t formula, int64_t *out, Error *err)
{
    return eval_node(formulas, formula, out, err);
}
