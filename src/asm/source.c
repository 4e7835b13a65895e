/* Text in, statements out: comments, files and includes, macro bodies and repeats (isa/assembler.md 2 and 2.1).
 *
 * Comments are blanked out when a text enters, so that nothing later needs to know them. A repeat re-reads its body instead
 * of copying it; macro bodies are copied with their arguments put in. What hostile text can make us produce is bounded by
 * FRAMES_MAX and EXPANSION_BYTES_MAX.
 */
#include "asm/parts.h"
#include "base/bits.h"

/* `#if` and its kind would change what is assembled; taken as a comment they would vanish without a word. */
static bool is_preprocessor_line(Str text, isize at)
{
    static const char *const names[] = {"if",    "ifdef",   "ifndef", "else", "elif",
                                        "endif", "include", "define", "undef"};
    isize end = at + 1;
    while (end < text.len && is_name_char(text.at[end])) {
        end++;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (str_equal(str_slice(text, at + 1, end), str_of(names[i]))) {
            return true;
        }
    }
    return false;
}

/* A copy of the text with comments as blanks. Newlines stay, so lines and columns do too. */
static bool blank_comments(Asm *as, Str file, Str text, Str *out)
{
    Str copy = str_copy(text, &as->scratch);
    char *at = arena_array(&as->scratch, char, text.len + 1);
    memcpy(at, text.at, (size_t)text.len);
    bool is_line_start = true;
    char quote = 0;
    uint32_t line = 1;
    for (isize i = 0; i < copy.len; i++) {
        char c = copy.at[i], next = i + 1 < copy.len ? copy.at[i + 1] : 0;
        if (c == '\n') {
            is_line_start = true;
            quote = 0;
            line++;
        } else if (quote) {
            if (c == '\\' && next != '\n') {
                i++;
            } else if (c == quote) {
                quote = 0;
            }
        } else if (c == '#' && is_line_start && is_preprocessor_line(copy, i)) {
            as->here = (Place){.file = file, .line = line};
            return fail_at(as, 1,
                           "expected text without preprocessor lines; use .if, .set, .include");
        } else if ((c == '/' && next == '/') || (c == '#' && is_line_start)) {
            for (; i < copy.len && copy.at[i] != '\n'; i++) {
                at[i] = ' ';
            }
            i--;
        } else if (c == '/' && next == '*') {
            isize begin = i;
            as->here = (Place){.file = file, .line = line};
            for (i += 2;
                 i < copy.len && !(copy.at[i] == '/' && copy.at[i - 1] == '*' && i > begin + 2);
                 i++) {
                line += copy.at[i] == '\n';
            }
            if (i >= copy.len) {
                return fail_at(as, 1, "expected */ to end the comment that begins here");
            }
            for (isize j = begin; j <= i; j++) {
                at[j] = at[j] == '\n' ? '\n' : ' ';
            }
        } else {
            quote = c == '"' ? c : 0;
            is_line_start = is_line_start && (c == ' ' || c == '\t' || c == '\r');
            if (c == '\r') {
                at[i] = ' ';
            }
        }
    }
    *out = (Str){at, text.len};
    return true;
}

static bool push_frame(Asm *as, Frame frame, uint32_t column)
{
    if (as->frame_count >= FRAMES_MAX) {
        return fail_at(as, column, "expected at most %d nested files, macros and repeats",
                       FRAMES_MAX);
    }
    frame.outer_line = as->frame_count == 0 ? 0 : as->here.outer_line;
    frame.line = frame.first_line;
    frame.condition_count = as->condition_count;
    as->frame[as->frame_count++] = frame;
    return true;
}

static bool count_expansion(Asm *as, isize bytes)
{
    as->expanded_bytes += bytes + 16;
    if (as->expanded_bytes > EXPANSION_BYTES_MAX) {
        return fail_at(as, as->here.column, "macros and repeats produce more than %d bytes of text",
                       EXPANSION_BYTES_MAX);
    }
    return true;
}

/* First word of the line that begins at `at`. */
static Str first_word(Str text, isize at)
{
    Cursor cursor = {text, at, 1};
    return cursor_name(&cursor);
}

/* Everything from the line behind the current one to the line that starts with `close`; moves the frame behind that. */
static bool take_body(Asm *as, const char *open, const char *close, Str *body, uint32_t *first_line)
{
    Frame *frame = &as->frame[as->frame_count - 1];
    isize at = str_find(frame->text, '\n', frame->at);
    at = at < 0 ? frame->text.len : at + 1;
    isize begin = at;
    uint32_t line = frame->line + 1;
    *first_line = line;
    int depth = 1;
    while (at < frame->text.len) {
        Str word = first_word(frame->text, at);
        isize end = str_find(frame->text, '\n', at);
        end = end < 0 ? frame->text.len : end;
        if (str_equal(word, str_of(open))) {
            depth++;
        } else if (str_equal(word, str_of(close)) && --depth == 0) {
            *body = str_slice(frame->text, begin, at);
            frame->at = end;
            frame->line = line;
            frame->line_start = at;
            return true;
        }
        at = min_i64(end + 1, frame->text.len);
        line++;
    }
    return fail_at(as, as->here.column, "expected %s to end this %s", close, open);
}

/* One argument up to a comma outside quotes and parentheses; quotes around a whole argument are dropped. */
static Str take_argument(Cursor *cursor, bool is_rest)
{
    cursor_skip(cursor);
    isize begin = cursor->at;
    int depth = 0;
    bool in_quotes = false;
    for (; cursor->at < cursor->text.len; cursor->at++) {
        char c = cursor->text.at[cursor->at];
        in_quotes = in_quotes != (c == '"');
        if (!in_quotes) {
            depth += c == '(' ? 1 : c == ')' ? -1 : 0;
            if (c == ',' && depth <= 0 && !is_rest) {
                break;
            }
        }
    }
    Str text = str_trim(str_slice(cursor->text, begin, cursor->at));
    if (!is_rest && text.len >= 2 && text.at[0] == '"' && str_find(text, '"', 1) == text.len - 1) {
        text = str_slice(text, 1, text.len - 1);
    }
    return text;
}

/* Copies the body with \name, \@ and \() put in. */
static bool expand_body(Asm *as, const Macro *macro, const Str *value, Str *out)
{
    Writer writer = writer_buffer(&as->scratch);
    isize budget = EXPANSION_BYTES_MAX - as->expanded_bytes;
    for (isize i = 0; i < macro->body.len && writer.len <= budget;) {
        isize slash = str_find(macro->body, '\\', i);
        slash = slash < 0 ? macro->body.len : slash;
        write_str(&writer, str_slice(macro->body, i, slash));
        i = slash + 1;
        if (i >= macro->body.len) {
            break;
        }
        char c = macro->body.at[i];
        if (c == '@') {
            write_fmt(&writer, "%u", as->macro_use_count);
            i++;
        } else if (c == '(' && i + 1 < macro->body.len && macro->body.at[i + 1] == ')') {
            i += 2;
        } else {
            isize end = i;
            while (end < macro->body.len && (is_name_char(macro->body.at[end])) &&
                   macro->body.at[end] != '.' && macro->body.at[end] != '$') {
                end++;
            }
            Str name = str_slice(macro->body, i, end);
            bool is_found = false;
            for (int p = 0; p < macro->parameter_count && !is_found; p++) {
                if (str_equal(macro->parameter[p].name, name)) {
                    write_str(&writer, value[p]);
                    is_found = true;
                }
            }
            if (!is_found) {
                write_str(&writer, S("\\")); /* of an inner macro, or an error there */
                write_str(&writer, name);
            }
            i = end;
        }
    }
    *out = writer_text(&writer);
    return count_expansion(as, out->len);
}

bool source_push(Asm *as, Str file, Str text)
{
    if (text.len > SOURCE_BYTES_MAX) {
        as->here = (Place){.file = file, .line = 1};
        return fail_at(as, 1, "expected a source text of at most %d bytes", SOURCE_BYTES_MAX);
    }
    Frame frame = {.file = file, .first_line = 1};
    Place here = as->here;
    if (!blank_comments(as, file, text, &frame.text)) {
        return false;
    }
    as->here = here;
    return push_frame(as, frame, as->here.column) &&
           (as->frame_count == 1 || count_expansion(as, text.len));
}

bool source_push_macro(Asm *as, Macro *macro, Cursor *arguments)
{
    Str value[MACRO_PARAMETERS_MAX];
    bool is_given[MACRO_PARAMETERS_MAX] = {false};
    for (int p = 0; p < macro->parameter_count; p++) {
        value[p] = macro->parameter[p].value;
    }
    int next = 0;
    while (!cursor_is_end(arguments)) {
        uint32_t column = cursor_column(arguments);
        int p = next;
        /* name=value */
        Cursor peek = *arguments;
        Str name = cursor_name(&peek);
        bool is_named = false;
        if (name.len > 0 && cursor_take(&peek, '=') &&
            !(peek.at < peek.text.len && peek.text.at[peek.at] == '=')) {
            for (int i = 0; i < macro->parameter_count && !is_named; i++) {
                if (str_equal(macro->parameter[i].name, name)) {
                    is_named = true;
                    p = i;
                    *arguments = peek;
                }
            }
        }
        if (p >= macro->parameter_count) {
            return fail_at(as, column, "macro %.*s expects %d arguments", STR_ARG(macro->name),
                           macro->parameter_count);
        }
        Str text = take_argument(arguments, macro->parameter[p].is_rest);
        if (text.len > 0) {
            value[p] = text;
            is_given[p] = true;
        }
        next = p + 1;
        if (!cursor_take(arguments, ',')) {
            break;
        }
    }
    for (int p = 0; p < macro->parameter_count; p++) {
        if (macro->parameter[p].is_required && !is_given[p]) {
            return fail_at(as, as->here.column, "macro %.*s expects a value for %.*s",
                           STR_ARG(macro->name), STR_ARG(macro->parameter[p].name));
        }
    }
    Frame frame = {.file = macro->file, .macro = macro->name, .first_line = macro->line};
    if (!expand_body(as, macro, value, &frame.text)) {
        return false;
    }
    as->macro_use_count++;
    return push_frame(as, frame, as->here.column);
}

bool source_push_repeat(Asm *as, int64_t count)
{
    Frame frame = {.macro = as->frame[as->frame_count - 1].macro, .file = as->here.file};
    if (!take_body(as, ".rept", ".endr", &frame.text, &frame.first_line)) {
        return false;
    }
    if (count <= 0) {
        return true;
    }
    frame.repeat_left = count - 1;
    return push_frame(as, frame, as->here.column) && count_expansion(as, frame.text.len);
}

bool source_define_macro(Asm *as, Cursor *cursor)
{
    Macro macro = {.file = as->here.file};
    macro.name = cursor_name(cursor);
    if (macro.name.len == 0) {
        return fail_at(as, cursor_column(cursor), "expected the name of the macro");
    }
    cursor_take(cursor, ',');
    while (!cursor_is_end(cursor)) {
        if (macro.parameter_count == MACRO_PARAMETERS_MAX) {
            return fail_at(as, cursor_column(cursor), "expected at most %d parameters",
                           MACRO_PARAMETERS_MAX);
        }
        MacroParameter *parameter = &macro.parameter[macro.parameter_count++];
        parameter->name = cursor_name(cursor);
        if (parameter->name.len == 0) {
            return fail_at(as, cursor_column(cursor), "expected the name of a parameter");
        }
        if (cursor_take(cursor, ':')) {
            Str kind = cursor_name(cursor);
            parameter->is_required = str_equal(kind, S("req"));
            parameter->is_rest = str_equal(kind, S("vararg"));
            if (!parameter->is_required && !parameter->is_rest) {
                return fail_at(as, cursor_column(cursor), "expected :req or :vararg");
            }
        }
        if (cursor_take(cursor, '=')) {
            parameter->value = take_argument(cursor, false);
        }
        cursor_take(cursor, ',');
    }
    if (!take_body(as, ".macro", ".endm", &macro.body, &macro.line)) {
        return false;
    }
    uint32_t *slot = str_map_put(&as->macro_index, macro.name, &as->scratch);
    if (*slot > 0 && !as->macros.at[*slot - 1].is_purged) {
        return fail_at(as, as->here.column,
                       "macro %.*s is defined already, in line %u; expected .purgem first",
                       STR_ARG(macro.name), as->macros.at[*slot - 1].line - 1);
    }
    if (as->macros.len >= MACROS_MAX) {
        return fail_at(as, as->here.column, "expected at most %d macros", MACROS_MAX);
    }
    *vec_push(&as->macros, &as->scratch) = macro;
    *slot = (uint32_t)as->macros.len;
    return true;
}

bool source_next(Asm *as, Statement *statement)
{
    for (;;) {
        if (as->frame_count == 0) {
            *statement = (Statement){.kind = STATEMENT_END};
            return true;
        }
        Frame *frame = &as->frame[as->frame_count - 1];
        Str text = frame->text;
        while (frame->at < text.len && strchr(" \t\n;", text.at[frame->at]) && text.at[frame->at]) {
            if (text.at[frame->at] == '\n') {
                frame->line++;
                frame->line_start = frame->at + 1;
            }
            frame->at++;
        }
        as->here = (Place){.file = frame->file,
                           .macro = frame->macro,
                           .line = frame->line,
                           .column = (uint32_t)(frame->at - frame->line_start) + 1,
                           .outer_line = as->frame_count == 1 ? frame->line : frame->outer_line};
        statement->place = as->here;
        if (frame->at >= text.len) {
            if (as->condition_count != frame->condition_count) {
                return fail_at(as, as->here.column, "expected .endif before the end of this text");
            }
            if (frame->repeat_left > 0) {
                frame->repeat_left--;
                frame->at = 0;
                frame->line_start = 0;
                frame->line = frame->first_line;
                if (!count_expansion(as, text.len)) {
                    return false;
                }
            } else {
                as->frame_count--;
            }
            continue;
        }
        isize begin = frame->at;
        if (text.at[begin] == '{' || text.at[begin] == '}') {
            frame->at++;
            statement->kind = text.at[begin] == '{' ? STATEMENT_OPEN : STATEMENT_CLOSE;
            statement->text = str_slice(text, begin, begin + 1);
            return true;
        }
        bool in_quotes = false;
        for (; frame->at < text.len; frame->at++) {
            char c = text.at[frame->at];
            if (c == '\n' || (!in_quotes && (c == ';' || c == '{' || c == '}'))) {
                break;
            }
            in_quotes = in_quotes != (c == '"');
        }
        statement->kind = STATEMENT_TEXT;
        statement->text = str_trim(str_slice(text, begin, frame->at));
        return true;
    }
}
