/* Expressions: C operators over numbers, half literals, symbols, numeric labels and `.` (isa/assembler.md 2).
 *
 * Constants fold while parsing; what holds a symbol stays a tree until its value is asked for. A difference of two labels of
 * one section is a number, a label plus a number stays relocatable.
 */
#include "asm/parts.h"
#include "base/bits.h"

static int32_t add_node(Asm *as, Node node, isize first)
{
    if (as->nodes.len - first >= EXPRESSION_NODES_MAX) {
        fail_at(as, node.column, "expected an expression of at most %d parts",
                EXPRESSION_NODES_MAX);
        return -1;
    }
    if (as->nodes.len >= NODES_MAX) {
        fail_at(as, node.column, "expected at most %d parts in all expressions", NODES_MAX);
        return -1;
    }
    *vec_push(&as->nodes, &as->scratch) = node;
    return (int32_t)(as->nodes.len - 1);
}

/* Result of an operator over numbers; division by zero and shifts out of range are errors. */
static bool combine(Asm *as, const Node *node, int64_t a, int64_t b, int64_t *out)
{
    uint64_t x = (uint64_t)a, y = (uint64_t)b;
    switch (node->op) {
    case '+':
        *out = (int64_t)(x + y);
        break;
    case '-':
        *out = (int64_t)(x - y);
        break;
    case '*':
        *out = (int64_t)(x * y);
        break;
    case '&':
        *out = a & b;
        break;
    case '|':
        *out = a | b;
        break;
    case '^':
        *out = a ^ b;
        break;
    case '<':
        *out = a < b;
        break;
    case '>':
        *out = a > b;
        break;
    case NODE_LE:
        *out = a <= b;
        break;
    case NODE_GE:
        *out = a >= b;
        break;
    case NODE_EQ:
        *out = a == b;
        break;
    case NODE_NE:
        *out = a != b;
        break;
    case NODE_AND:
        *out = a && b;
        break;
    case NODE_OR:
        *out = a || b;
        break;
    case NODE_NEGATE:
        *out = (int64_t)(0 - x);
        break;
    case NODE_NOT:
        *out = !a;
        break;
    case '~':
        *out = ~a;
        break;
    case '/':
    case '%':
        if (b == 0) {
            return fail_at(as, node->column, "division by zero");
        }
        if (b == -1) {
            *out = node->op == '/' ? (int64_t)(0 - x) : 0;
        } else {
            *out = node->op == '/' ? a / b : a % b;
        }
        break;
    case NODE_SHL:
    case NODE_SHR:
        if (b < 0 || b > 63) {
            return fail_at(as, node->column, "expected a shift of 0..63, not %lld", (long long)b);
        }
        *out = node->op == NODE_SHL ? (int64_t)(x << b) : a >> b;
        break;
    default:
        return fail_at(as, node->column, "unknown operator");
    }
    return true;
}

typedef struct Parse {
    Asm *as;
    Cursor *cursor;
    isize first; /* node of the expression */
    int depth;
} Parse;

static int32_t parse_binary(Parse *parse, int level);

static int32_t fail_here(Parse *parse, const char *expected)
{
    fail_at(parse->as, cursor_column(parse->cursor), "expected %s", expected);
    return -1;
}

static int32_t parse_number(Parse *parse)
{
    Cursor *cursor = parse->cursor;
    Str text = cursor->text;
    isize begin = cursor->at, end = begin;
    Node node = {.op = NODE_NUMBER, .column = cursor_column(cursor)};
    double real;
    isize real_len = float_literal(cursor, &real);
    if (real_len > 0 && begin + real_len < text.len && text.at[begin + real_len] == 'h') {
        cursor->at += real_len + 1;
        node.number = half_of(real);
        return add_node(parse->as, node, parse->first);
    }
    int base = 10;
    char second = begin + 1 < text.len ? text.at[begin + 1] : 0,
         third = begin + 2 < text.len ? text.at[begin + 2] : 0;
    if (text.at[begin] == '0' && (second == 'x' || second == 'X')) {
        base = 16;
        end += 2;
    } else if (text.at[begin] == '0' && (second == 'b' || second == 'B') &&
               (third == '0' || third == '1')) {
        base = 2;
        end += 2;
    }
    isize digits = end;
    uint64_t value = 0;
    for (; end < text.len; end++) {
        char c = text.at[end];
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : 99;
        if (digit >= base) {
            break;
        }
        if (value > (UINT64_MAX - (uint64_t)digit) / (uint64_t)base) {
            return fail_here(parse, "a number of at most 64 bits");
        }
        value = value * (uint64_t)base + (uint64_t)digit;
    }
    char after = end < text.len ? text.at[end] : 0;
    char beyond = end + 1 < text.len ? text.at[end + 1] : 0;
    if (base == 10 && (after == 'b' || after == 'f') && !is_name_char(beyond)) {
        node.op = NODE_SYMBOL;
        node.left = symbol_numeric(parse->as, str_slice(text, begin, end), after == 'f');
        cursor->at = end + 1;
        return node.left < 0 ? -1 : add_node(parse->as, node, parse->first);
    }
    if (end == digits || is_name_char(after)) {
        return fail_here(parse, "a number");
    }
    cursor->at = end;
    node.number = (int64_t)value;
    return add_node(parse->as, node, parse->first);
}

static int32_t parse_symbol(Parse *parse)
{
    Asm *as = parse->as;
    Node node = {.op = NODE_NUMBER, .column = cursor_column(parse->cursor)};
    Str name = cursor_name(parse->cursor);
    if (str_equal(name, S("."))) {
        node.op = NODE_SYMBOL;
        node.left = symbol_here(as);
        return add_node(as, node, parse->first);
    }
    if (str_equal(name, S("infh"))) {
        node.number = 0x7c00;
        return add_node(as, node, parse->first);
    }
    int flag = flag_find(name);
    if (flag >= 0 && symbol_find(as, name) < 0) {
        node.number = isa_flag_value(as->flags, (FlagId)flag);
        return add_node(as, node, parse->first);
    }
    int32_t symbol = symbol_need(as, name);
    const Symbol *known = &as->object->symbols.at[symbol];
    if (known->section == SYMBOL_ABSOLUTE) {
        node.number = (int32_t)known->value;
        /* Values of .set are kept with all their bits in a node. */
        if (as->symbol_state.at[symbol].node > 0) {
            node.number = as->nodes.at[as->symbol_state.at[symbol].node - 1].number;
        }
        return add_node(as, node, parse->first);
    }
    node.op = NODE_SYMBOL;
    node.left = symbol;
    return add_node(as, node, parse->first);
}

/* `@abs19@s2` and its relatives behind a symbol (isa/assembler.md 3). */
static int32_t parse_modifier(Parse *parse, int32_t symbol)
{
    static const struct {
        const char *text;
        RelocKind kind;
    } modifiers[] = {{"@abs18@s2", RELOC_18_S2},
                     {"@abs19@s2", RELOC_19_S2},
                     {"@relative@16@s2", RELOC_RELATIVE_16_S2},
                     {"@relative@16@s3", RELOC_RELATIVE_16_S3},
                     {"@relative@16@s4", RELOC_RELATIVE_16_S4},
                     {"@relative@16@s5", RELOC_RELATIVE_16_S5}};
    Cursor *cursor = parse->cursor;
    isize end = cursor->at;
    while (end < cursor->text.len &&
           (cursor->text.at[end] == '@' || is_name_char(cursor->text.at[end]))) {
        end++;
    }
    Str text = str_slice(cursor->text, cursor->at, end);
    for (size_t i = 0; i < sizeof modifiers / sizeof *modifiers; i++) {
        if (str_equal(text, str_of(modifiers[i].text))) {
            Node node = {.op = NODE_MODIFIED,
                         .column = cursor_column(cursor),
                         .left = symbol,
                         .right = -1,
                         .number = modifiers[i].kind};
            cursor->at = end;
            return add_node(parse->as, node, parse->first);
        }
    }
    return fail_here(parse, "@abs18@s2, @abs19@s2 or @relative@16@s2 .. @s5 behind a symbol");
}

static bool is_half_literal(const Cursor *cursor)
{
    double real;
    isize len = float_literal(cursor, &real);
    if (len > 0) {
        return cursor->at + len < cursor->text.len && cursor->text.at[cursor->at + len] == 'h';
    }
    Cursor peek = *cursor;
    return str_equal(cursor_name(&peek), S("infh"));
}

static int32_t parse_unary(Parse *parse)
{
    Cursor *cursor = parse->cursor;
    if (cursor_is_end(cursor)) {
        return fail_here(parse, "an expression");
    }
    if (++parse->depth > EXPRESSION_DEPTH_MAX) {
        return fail_here(parse, "less nesting in the expression");
    }
    char c = cursor->text.at[cursor->at];
    int32_t result;
    if (c == '-' || c == '~' || c == '+' || c == '!') {
        Node node = {.op = c == '-'   ? NODE_NEGATE
                           : c == '!' ? NODE_NOT
                                      : (uint8_t)c,
                     .column = cursor_column(cursor)};
        cursor->at++;
        cursor_skip(cursor);
        bool is_half = c == '-' && is_half_literal(cursor);
        result = parse_unary(parse);
        if (result >= 0 && c != '+') {
            Node *inner = &parse->as->nodes.at[result];
            if (is_half) {
                inner->number ^= 0x8000;
            } else if (inner->op == NODE_NUMBER) {
                result = combine(parse->as, &node, inner->number, 0, &inner->number) ? result : -1;
            } else {
                node.left = result;
                node.right = -1;
                result = add_node(parse->as, node, parse->first);
            }
        }
    } else if (c == '(') {
        cursor->at++;
        result = parse_binary(parse, 0);
        if (result >= 0 && !cursor_take(cursor, ')')) {
            result = fail_here(parse, ")");
        }
    } else if (c >= '0' && c <= '9') {
        result = parse_number(parse);
    } else if (is_name_start(c)) {
        double real;
        isize len = c == '.' ? float_literal(cursor, &real) : 0;
        result = len > 0 ? parse_number(parse) : parse_symbol(parse);
        if (len == 0 && result >= 0 && cursor->at < cursor->text.len &&
            cursor->text.at[cursor->at] == '@') {
            result = parse_modifier(parse, result);
        }
    } else {
        result = fail_here(parse, "a number, a symbol or (");
    }
    parse->depth--;
    return result;
}

/* Operator of exactly this level at the cursor, as a node op; 0 when there is none. */
static uint8_t take_operator(Cursor *cursor, int level)
{
    static const struct {
        const char *text;
        uint8_t op;
        int level;
    } operators[] = {{"||", NODE_OR, 0}, {"&&", NODE_AND, 1}, {"==", NODE_EQ, 5},
                     {"!=", NODE_NE, 5}, {"<<", NODE_SHL, 7}, {">>", NODE_SHR, 7},
                     {"<=", NODE_LE, 6}, {">=", NODE_GE, 6},  {"|", '|', 2},
                     {"^", '^', 3},      {"&", '&', 4},       {"<", '<', 6},
                     {">", '>', 6},      {"+", '+', 8},       {"-", '-', 8},
                     {"*", '*', 9},      {"/", '/', 9},       {"%", '%', 9}};
    cursor_skip(cursor);
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        if (str_starts(str_slice(cursor->text, cursor->at, cursor->text.len),
                       str_of(operators[i].text))) {
            if (operators[i].level != level) {
                return 0;
            }
            cursor->at += (isize)strlen(operators[i].text);
            return operators[i].op;
        }
    }
    return 0;
}

static int32_t parse_binary(Parse *parse, int level)
{
    if (level == 10) {
        return parse_unary(parse);
    }
    int32_t left = parse_binary(parse, level + 1);
    while (left >= 0) {
        cursor_skip(parse->cursor);
        Node node = {.column = cursor_column(parse->cursor)};
        node.op = take_operator(parse->cursor, level);
        if (!node.op) {
            break;
        }
        int32_t right = parse_binary(parse, level + 1);
        if (right < 0) {
            return -1;
        }
        Node *a = &parse->as->nodes.at[left], *b = &parse->as->nodes.at[right];
        if (a->op == NODE_NUMBER && b->op == NODE_NUMBER) {
            if (!combine(parse->as, &node, a->number, b->number, &a->number)) {
                return -1;
            }
        } else {
            node.left = left;
            node.right = right;
            left = add_node(parse->as, node, parse->first);
        }
    }
    return left;
}

static bool symbol_value(Asm *as, const Node *node, bool is_final, Value *value)
{
    SymbolState *state = &as->symbol_state.at[node->left];
    const Symbol *symbol = &as->object->symbols.at[node->left];
    state->is_referenced = true;
    if (state->node > 0) {
        if (state->is_visiting) {
            return fail_at(as, node->column, "%.*s is defined by itself", STR_ARG(symbol->name));
        }
        state->is_visiting = true;
        bool is_known = expression_value(as, state->node - 1, is_final, value);
        as->symbol_state.at[node->left].is_visiting = false;
        return is_known;
    }
    if (symbol->section == SYMBOL_ABSOLUTE) {
        *value = (Value){.symbol = -1, .number = (int32_t)symbol->value};
        return true;
    }
    if (symbol->section == SYMBOL_UNDEFINED && !is_final) {
        return false;
    }
    *value = (Value){.symbol = node->left};
    return true;
}

int32_t expression_parse(Asm *as, Cursor *cursor)
{
    Parse parse = {as, cursor, as->nodes.len, 0};
    return parse_binary(&parse, 0);
}

int32_t expression_number(Asm *as, int64_t number)
{
    *vec_push(&as->nodes, &as->scratch) =
        (Node){.op = NODE_NUMBER, .column = as->here.column, .number = number};
    return (int32_t)(as->nodes.len - 1);
}

int32_t expression_negate(Asm *as, int32_t node)
{
    Node negate = {
        .op = NODE_NEGATE, .column = as->nodes.at[node].column, .left = node, .right = -1};
    *vec_push(&as->nodes, &as->scratch) = negate;
    return (int32_t)(as->nodes.len - 1);
}

static bool value_of_node(Asm *as, int32_t index, bool is_final, Value *value)
{
    Node node = as->nodes.at[index];
    if (node.op == NODE_NUMBER) {
        *value = (Value){.symbol = -1, .number = node.number};
        return true;
    }
    if (node.op == NODE_SYMBOL) {
        return symbol_value(as, &node, is_final, value);
    }
    Value a, b = {.symbol = -1};
    if (!expression_value(as, node.left, is_final, &a) ||
        (node.right >= 0 && !expression_value(as, node.right, is_final, &b))) {
        return false;
    }
    if (node.op == NODE_MODIFIED && a.kind == RELOC_NONE) {
        *value = (Value){a.symbol, a.number, (RelocKind)node.number};
        return true;
    }
    if (node.op == '+' && (a.symbol < 0 || b.symbol < 0) && !(a.kind && b.kind)) {
        *value =
            (Value){a.symbol < 0 ? b.symbol : a.symbol,
                    (int64_t)((uint64_t)a.number + (uint64_t)b.number), a.kind ? a.kind : b.kind};
        return true;
    }
    if (node.op == '-' && b.symbol < 0 && b.kind == RELOC_NONE) {
        *value = (Value){a.symbol, (int64_t)((uint64_t)a.number - (uint64_t)b.number), a.kind};
        return true;
    }
    if (a.kind || b.kind) {
        return fail_at(as, node.column, "expected only + or - and a number with a modified symbol");
    }
    value->kind = RELOC_NONE;
    if (a.symbol >= 0 && b.symbol >= 0) {
        const Symbol *x = &as->object->symbols.at[a.symbol], *y = &as->object->symbols.at[b.symbol];
        bool is_comparison =
            node.op == '<' || node.op == '>' || (node.op >= NODE_LE && node.op <= NODE_NE);
        if (x->section == y->section && x->section >= 0 && (node.op == '-' || is_comparison)) {
            as->symbol_state.at[a.symbol].is_read = true;
            as->symbol_state.at[b.symbol].is_read = true;
            value->symbol = -1;
            return combine(as, &node, (int64_t)((uint64_t)a.number + x->value),
                           (int64_t)((uint64_t)b.number + y->value), &value->number);
        }
        const Symbol *which = x->section == SYMBOL_UNDEFINED ? x : y;
        if (which->section == SYMBOL_UNDEFINED) {
            return fail_at(as, node.column, "%.*s is undefined", STR_ARG(which->name));
        }
        return fail_at(as, node.column,
                       "expected numbers, or a difference of two labels of one section");
    }
    if (a.symbol >= 0 || b.symbol >= 0) {
        int32_t which = a.symbol >= 0 ? a.symbol : b.symbol;
        const Symbol *symbol = &as->object->symbols.at[which];
        return fail_at(as, node.column,
                       symbol->section == SYMBOL_UNDEFINED
                           ? "%.*s is undefined"
                           : "the address %.*s is not a number yet; expected only + or - with it",
                       STR_ARG(symbol->name));
    }
    value->symbol = -1;
    return combine(as, &node, a.number, b.number, &value->number);
}

bool expression_value(Asm *as, int32_t index, bool is_final, Value *value)
{
    if (as->evaluation_depth >= EVALUATION_DEPTH_MAX ||
        ++as->evaluation_steps > EVALUATION_STEPS_MAX) {
        return fail_at(as, as->nodes.at[index].column,
                       "expected expressions that depend on fewer others");
    }
    as->evaluation_depth++;
    bool is_known = value_of_node(as, index, is_final, value);
    as->evaluation_depth--;
    return is_known;
}

bool expression_field(Asm *as, const Value *value, uint32_t column, int64_t *number)
{
    *number = value->number;
    if (value->kind == RELOC_NONE) {
        return true;
    }
    uint64_t field;
    const char *expected;
    if (!reloc_field(value->kind, value->number, &field, &expected)) {
        return fail_at(as, column, "0x%llx %s", (unsigned long long)value->number, expected);
    }
    *number = (int64_t)field;
    return true;
}

bool expression_now(Asm *as, Cursor *cursor, const char *what, int64_t *number)
{
    cursor_skip(cursor);
    uint32_t column = cursor_column(cursor);
    int32_t node = expression_parse(as, cursor);
    Value value;
    if (node < 0) {
        return false;
    }
    if (!expression_value(as, node, false, &value)) {
        return as->err->code != ERROR_NONE
                   ? false
                   : fail_at(as, column, "expected %s that is known at this point of the text",
                             what);
    }
    if (value.symbol >= 0) {
        return fail_at(as, column, "expected %s, not an address", what);
    }
    return expression_field(as, &value, column, number);
}
