/* Text in, statements out: comments, files and includes, macro bodies and repeats (isa/assembler.md 2 and 2.1).
 *
 * Comments are blanked out when a text enters, so that nothing later needs to know them. A repeat re-reads its body instead
 * of copying it; macro bodies are copied with their arguments put in. What hostile text can make us produce is bounded by
 * FRAMES_MAX and EXPANSION_BYTES_MAX.
 */
#include "asm/parts.h"
#include "base/bits.h"
#include "base/file.h"

bool asm_find_file(void *context, Str name, Str *text, Error *err)
{
    AsmFolders *folders = context;
    bool is_absolute = str_starts(name, S("/"));
    Str path = str_format(folders->arena, "%.*s%.*s", is_absolute ? 0 : (int)folders->own.len,
                          folders->own.at, STR_ARG(name));
    if (file_read(path.at, ASM_TEXT_BYTES_MAX, folders->arena, text, err)) {
        return true;
    }
    for (int i = 0; i < folders->other_count && !is_absolute; i++) {
        Error ignored = {0};
        path = str_format(folders->arena, "%s/%.*s", folders->other[i], STR_ARG(name));
        if (file_read(path.at, ASM_TEXT_BYTES_MAX, folders->arena, text, &ignored)) {
            return true;
        }
    }
    return false;
}

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

/* `# 12 "file" ...` at the start of a line, as the C preprocessor leaves it: the next line is line 12 of that file. */
static bool parse_line_marker(Str text, isize at, uint32_t *line, Str *file)
{
    isize end = str_find(text, '\n', at);
    Cursor cursor = {str_slice(text, at, end < 0 ? text.len : end), 0, 1};
    int64_t number;
    if (!cursor_take(&cursor, '#')) {
        return false;
    }
    cursor_skip(&cursor);
    isize digits = cursor.at;
    while (cursor.at < cursor.text.len && cursor.text.at[cursor.at] >= '0' &&
           cursor.text.at[cursor.at] <= '9') {
        cursor.at++;
    }
    bool is_number = str_to_int(str_slice(cursor.text, digits, cursor.at), &number);
    if (!is_number || number < 0 || number > INT32_MAX || !cursor_take(&cursor, '"')) {
        return false;
    }
    isize quote = str_find(cursor.text, '"', cursor.at);
    *line = (uint32_t)number;
    *file = str_slice(cursor.text, cursor.at, quote < 0 ? cursor.text.len : quote);
    return quote >= 0;
}

/* Names from markers outlive the text. */
static void set_file(Asm *as, Frame *frame, Str file)
{
    if (!str_equal(frame->file, file)) {
        frame->file = str_copy(file, as->keep);
    }
}

/* A copy of the text with comments as blanks. Newlines and line markers stay, so lines and columns do too. */
static bool blank_comments(Asm *as, Str file, Str text, Str *out)
{
    Str copy = text, marker_file;
    char *at = arena_array(&as->scratch, char, text.len + 1);
    uint32_t marker_line;
    if (text.len > 0) {
        memcpy(at, text.at, (size_t)text.len);
    }
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
            return stop_at(as, 1,
                           "expected text without preprocessor lines; use .if, .set, .include, or "
                           "run the C preprocessor (--cpp)");
        } else if (c == '#' && is_line_start && (i == 0 || copy.at[i - 1] == '\n') &&
                   parse_line_marker(copy, i, &marker_line, &marker_file)) {
            while (i + 1 < copy.len && copy.at[i + 1] != '\n') {
                i++;
            }
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
                return stop_at(as, 1, "expected */ to end the comment that begins here");
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

/* Notes the line that begins at `at` for the listing. */
static bool list_line(Asm *as, const Frame *frame, isize at, uint32_t line)
{
    if (!as->has_listing || at >= frame->text.len) {
        return true;
    }
    isize end = str_find(frame->text, '\n', at);
    end = end < 0 ? frame->text.len : end;
    bool is_expanded =
        frame->origin > 0 && !str_equal(as->origins.at[frame->origin].what, S("file"));
    if ((is_expanded && end == at) || frame->text.at[at] == '#') {
        return true; /* an empty line, a line marker */
    }
    if (as->object->listing.len == LISTED_LINES_MAX) {
        return stop_at(as, 1, "expected at most %d lines in a listing", LISTED_LINES_MAX);
    }
    *vec_push(&as->object->listing, as->keep) =
        (ListedLine){.file = frame->file,
                     .text = str_slice(frame->original, at, end),
                     .line = line,
                     .is_expanded = is_expanded};
    as->listed = as->object->listing.len;
    return true;
}

/* What the frame's text comes from, at as->here. */
static int32_t add_origin(Asm *as, Str what, Str name)
{
    if (as->origins.len == 0) {
        *vec_push(&as->origins, &as->scratch) = (Origin){0};
    }
    if (as->origins.len == ORIGINS_MAX) {
        return as->here.origin; /* so many that the bound on expansions ends it soon */
    }
    const Origin *outer = &as->origins.at[as->here.origin];
    bool is_root = as->here.origin == 0;
    Origin origin = {.what = what,
                     .name = name,
                     .file = as->here.file,
                     .line = as->here.line,
                     .outer = as->here.origin,
                     .root_file = is_root ? as->here.file : outer->root_file,
                     .root_line = is_root ? as->here.line : outer->root_line};
    *vec_push(&as->origins, &as->scratch) = origin;
    return (int32_t)as->origins.len - 1;
}

static bool push_frame(Asm *as, Frame frame, uint32_t column)
{
    if (as->frame_count >= FRAMES_MAX) {
        return stop_at(as, column, "expected at most %d nested files, macros and repeats",
                       FRAMES_MAX);
    }
    frame.line = frame.first_line;
    frame.first_file = frame.file;
    frame.condition_count = as->condition_count;
    as->frame[as->frame_count++] = frame;
    return list_line(as, &frame, 0, frame.line);
}

static bool count_expansion(Asm *as, isize bytes)
{
    as->expanded_bytes += bytes + 16;
    if (as->expanded_bytes > EXPANSION_BYTES_MAX) {
        return stop_at(as, as->here.column, "macros and repeats produce more than %d bytes of text",
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

/* Everything from the line behind the current one to the line that starts with `close`; moves the frame behind that. `open2`
 * may be NULL. *body gets text, original, file and first line. */
static bool take_body(Asm *as, const char *open, const char *open2, const char *close, Frame *body)
{
    Frame *frame = &as->frame[as->frame_count - 1];
    isize at = str_find(frame->text, '\n', frame->at);
    at = at < 0 ? frame->text.len : at + 1;
    isize begin = at;
    uint32_t line = frame->line + 1;
    int depth = 1;
    body->first_line = line;
    body->file = frame->file;
    while (at < frame->text.len) {
        Str word = first_word(frame->text, at), file;
        uint32_t marked;
        isize end = str_find(frame->text, '\n', at);
        end = end < 0 ? frame->text.len : end;
        if (!list_line(as, frame, at, line)) {
            return false;
        }
        if (str_equal(word, str_of(open)) || (open2 && str_equal(word, str_of(open2)))) {
            depth++;
        } else if (str_equal(word, str_of(close)) && --depth == 0) {
            body->text = str_slice(frame->text, begin, at);
            body->original = str_slice(frame->original, begin, at);
            frame->at = end;
            frame->line = line;
            frame->line_start = at;
            return true;
        } else if (parse_line_marker(frame->text, at, &marked, &file)) {
            set_file(as, frame, file);
            line = marked - 1;
        }
        at = min_i64(end + 1, frame->text.len);
        line++;
    }
    return stop_at(as, as->here.column, "expected %s to end this %s", close, open);
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
    if (as->has_listing) {
        *out = str_copy(*out, as->keep);
    }
    return count_expansion(as, out->len);
}

bool source_push(Asm *as, Str file, Str text)
{
    Place here = as->here;
    Frame frame = {.file = file, .first_line = 1, .original = text};
    if (as->frame_count > 0) {
        frame.origin = add_origin(as, S("file"), file);
    }
    if (text.len > SOURCE_BYTES_MAX) {
        as->here = (Place){.file = file, .line = 1, .column = 1};
        return stop_at(as, 1, "expected a source text of at most %d bytes", SOURCE_BYTES_MAX);
    }
    if (as->has_listing) {
        frame.original = str_copy(text, as->keep);
    }
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
    Frame frame = {.file = macro->file, .first_line = macro->line};
    if (!expand_body(as, macro, value, &frame.text)) {
        return false;
    }
    frame.original = frame.text;
    frame.origin = add_origin(as, S("macro"), macro->name);
    as->macro_use_count++;
    return push_frame(as, frame, as->here.column);
}

bool source_push_repeat(Asm *as, int64_t count)
{
    Frame frame = {0};
    if (!take_body(as, ".rept", ".irp", ".endr", &frame)) {
        return false;
    }
    if (count <= 0) {
        return true;
    }
    frame.repeat_left = count - 1;
    frame.origin = add_origin(as, S("repeat"), (Str){0});
    return push_frame(as, frame, as->here.column) && count_expansion(as, frame.text.len);
}

bool source_push_values(Asm *as, Cursor *cursor)
{
    Macro macro = {.parameter_count = 1};
    Cursor values = *cursor;
    macro.parameter[0].name = cursor_name(&values);
    bool has_name = macro.parameter[0].name.len > 0;
    Frame frame = {0};
    cursor_take(&values, ',');
    if (!take_body(as, ".rept", ".irp", ".endr", &frame)) {
        return false;
    }
    if (!has_name) {
        return fail_at(as, cursor_column(cursor), "expected the name of a parameter");
    }
    macro.body = frame.text;
    Writer text = writer_buffer(&as->scratch);
    do {
        Str value = take_argument(&values, false), part;
        if (!expand_body(as, &macro, &value, &part)) {
            return false;
        }
        write_str(&text, part);
    } while (cursor_take(&values, ','));
    frame.text = as->has_listing ? str_copy(writer_text(&text), as->keep) : writer_text(&text);
    frame.original = frame.text;
    frame.origin = add_origin(as, S("repeat"), (Str){0});
    return push_frame(as, frame, as->here.column);
}

static bool parse_macro_head(Asm *as, Cursor *cursor, Macro *macro)
{
    macro->name = cursor_name(cursor);
    if (macro->name.len == 0) {
        return fail_at(as, cursor_column(cursor), "expected the name of the macro");
    }
    cursor_take(cursor, ',');
    while (!cursor_is_end(cursor)) {
        if (macro->parameter_count == MACRO_PARAMETERS_MAX) {
            return fail_at(as, cursor_column(cursor), "expected at most %d parameters",
                           MACRO_PARAMETERS_MAX);
        }
        MacroParameter *parameter = &macro->parameter[macro->parameter_count++];
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
    return true;
}

bool source_define_macro(Asm *as, Cursor *cursor)
{
    Macro macro = {0};
    Frame body = {0};
    /* The body is passed over whatever its head is like. */
    bool is_good = parse_macro_head(as, cursor, &macro);
    if (!take_body(as, ".macro", NULL, ".endm", &body) || !is_good) {
        return false;
    }
    macro.body = body.text;
    macro.file = body.file;
    macro.line = body.first_line;
    uint32_t *slot = str_map_put(&as->macro_index, macro.name, &as->scratch);
    if (*slot > 0 && !as->macros.at[*slot - 1].is_purged) {
        return fail_at(as, as->here.column,
                       "macro %.*s is defined already, in line %u; expected .purgem first",
                       STR_ARG(macro.name), as->macros.at[*slot - 1].line - 1);
    }
    if (as->macros.len >= MACROS_MAX) {
        return stop_at(as, as->here.column, "expected at most %d macros", MACROS_MAX);
    }
    *vec_push(&as->macros, &as->scratch) = macro;
    *slot = (uint32_t)as->macros.len;
    return true;
}

/* Goes to the next statement of the frame; false at its end, or after an error. */
static bool skip_to_statement(Asm *as, Frame *frame)
{
    Str text = frame->text;
    while (frame->at < text.len) {
        char c = text.at[frame->at];
        uint32_t marked;
        Str file;
        if (c == '\n') {
            frame->line++;
            frame->at++;
            frame->line_start = frame->at;
            if (!list_line(as, frame, frame->at, frame->line)) {
                return false;
            }
        } else if (c == ' ' || c == '\t' || c == ';') {
            frame->at++;
        } else if (c == '#' && frame->at == frame->line_start &&
                   parse_line_marker(text, frame->at, &marked, &file)) {
            isize end = str_find(text, '\n', frame->at);
            frame->at = end < 0 ? text.len : end;
            frame->line = marked - 1;
            set_file(as, frame, file);
        } else {
            return true;
        }
    }
    return false;
}

/* The whole line of the statement; found once a line, for a line may hold many statements. */
static Str line_text(Frame *frame)
{
    if (frame->line_end <= frame->at || frame->line_end_of != frame->line_start) {
        isize end = str_find(frame->text, '\n', frame->line_start);
        frame->line_end = end < 0 ? frame->text.len : end;
        frame->line_end_of = frame->line_start;
    }
    return str_slice(frame->original, frame->line_start, frame->line_end);
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
        bool is_end = !skip_to_statement(as, frame);
        as->here = (Place){.file = frame->file,
                           .line = frame->line,
                           .column = (uint32_t)(frame->at - frame->line_start) + 1,
                           .origin = frame->origin};
        if (as->err->code != ERROR_NONE) {
            return false;
        }
        if (is_end) {
            bool is_closed = as->condition_count == frame->condition_count;
            as->condition_count = frame->condition_count;
            if (is_closed && frame->repeat_left > 0) {
                frame->repeat_left--;
                frame->at = 0;
                frame->line_start = 0;
                frame->line = frame->first_line;
                frame->file = frame->first_file;
                if (!count_expansion(as, text.len) || !list_line(as, frame, 0, frame->line)) {
                    return false;
                }
            } else {
                as->frame_count--;
            }
            if (!is_closed) {
                return fail_at(as, as->here.column, "expected .endif before the end of this text");
            }
            continue;
        }
        as->here.source = line_text(frame);
        statement->place = as->here;
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
