/* Mistakes and warnings of the assembler: recorded with their place, printed with line and caret.
 *
 * A statement gives at most one message. The same mistake at the same place (a repeat, a macro used often) is said once, and
 * after ASM_MESSAGES_MAX of them the rest of the text is not looked at.
 */
#include "asm/parts.h"
#include <stdarg.h>
#include <stdio.h>

enum { ORIGINS_SHOWN_MAX = 8, SOURCE_SHOWN_BEFORE = 80, SOURCE_SHOWN_BYTES = 120 };

/* Text from outside may not steer a terminal. */
static void write_shown(Writer *writer, Str text)
{
    for (isize i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.at[i];
        write_fmt(writer, c < 0x20 || c == 0x7f ? "\\x%02x" : "%c", c);
    }
}

static Str describe_origin(Asm *as, int32_t origin)
{
    Arena scratch = as->scratch;
    Writer writer = writer_buffer(&scratch);
    for (int shown = 0; origin > 0; shown++) {
        const Origin *from = &as->origins.at[origin];
        if (shown == ORIGINS_SHOWN_MAX) {
            write_str(&writer, S("    ...\n"));
            break;
        }
        write_fmt(&writer, "    in %.*s%s", STR_ARG(from->what), from->name.len > 0 ? " " : "");
        write_shown(&writer, from->name);
        write_str(&writer, S(", from "));
        write_shown(&writer, from->file);
        write_fmt(&writer, ":%u\n", from->line);
        origin = from->outer;
    }
    return str_copy(writer_text(&writer), as->keep);
}

static void record(Asm *as, uint32_t column, bool is_warning, const char *text)
{
    AsmMessage message = {.file = as->here.file,
                          .text = str_of(text),
                          .source = as->here.source,
                          .line = as->here.line,
                          .column = column,
                          .is_warning = is_warning};
    if (message_is_wanted(&as->object->messages, &message)) {
        message.origin = describe_origin(as, as->here.origin);
        message_add(&as->object->messages, message, as->keep);
    }
}

static bool fail_with(Asm *as, uint32_t column, const char *format, va_list arguments)
{
    if (as->err->code != ERROR_NONE) {
        return false;
    }
    char text[512];
    vsnprintf(text, sizeof text, format, arguments);
    error_set(as->err, ERROR_INPUT, NULL, "%s", text);
    record(as, column, false, text);
    as->error_count++;
    return false;
}

static int count_kind(const AsmMessageVec *messages, bool is_warning)
{
    int count = 0;
    for (isize i = 0; i < messages->len; i++) {
        count += messages->at[i].is_warning == is_warning;
    }
    return count;
}

bool message_is_wanted(const AsmMessageVec *messages, const AsmMessage *message)
{
    for (isize i = 0; i < messages->len; i++) {
        const AsmMessage *other = &messages->at[i];
        if (other->is_warning == message->is_warning && other->line == message->line &&
            other->column == message->column && str_equal(other->file, message->file) &&
            str_equal(other->text, message->text)) {
            return false;
        }
    }
    return count_kind(messages, message->is_warning) <= ASM_MESSAGES_MAX;
}

void message_add(AsmMessageVec *messages, AsmMessage message, Arena *keep)
{
    if (!message_is_wanted(messages, &message)) {
        return;
    }
    if (count_kind(messages, message.is_warning) == ASM_MESSAGES_MAX) {
        message = (AsmMessage){.file = message.file,
                               .text = message.is_warning ? S("more warnings") : S("more errors"),
                               .is_warning = message.is_warning};
    }
    message.file = str_copy(message.file, keep);
    message.text = str_copy(message.text, keep);
    message.source = str_copy(message.source, keep);
    *vec_push(messages, keep) = message;
}

bool fail_at(Asm *as, uint32_t column, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fail_with(as, column, format, arguments);
    va_end(arguments);
    return false;
}

bool stop_at(Asm *as, uint32_t column, const char *format, ...)
{
    as->is_over = true;
    va_list arguments;
    va_start(arguments, format);
    fail_with(as, column, format, arguments);
    va_end(arguments);
    return false;
}

bool rule_broken(Asm *as, Rule rule, uint32_t column, const char *format, ...)
{
    if (as->strictness[rule] == RULE_IS_OFF) {
        return true;
    }
    va_list arguments;
    va_start(arguments, format);
    bool is_fine = as->strictness[rule] == RULE_IS_WARNING;
    if (is_fine) {
        char text[512];
        vsnprintf(text, sizeof text, format, arguments);
        record(as, column, true, text);
    } else {
        fail_with(as, column, format, arguments);
    }
    va_end(arguments);
    return is_fine;
}

bool message_error(const AsmMessage *message, Error *err)
{
    char where[256];
    if (message->line > 0) {
        snprintf(where, sizeof where, "%.*s:%u:%u", STR_ARG(message->file), message->line,
                 message->column);
    } else {
        snprintf(where, sizeof where, "%.*s", STR_ARG(message->file));
    }
    return error_set(err, ERROR_INPUT, where, "%.*s", STR_ARG(message->text));
}

void asm_print_message(Writer *writer, const AsmMessage *message)
{
    write_str(writer, S("tessera: "));
    write_shown(writer, message->file);
    if (message->line > 0) {
        write_fmt(writer, ":%u:%u", message->line, message->column);
    }
    write_str(writer, message->is_warning ? S(": warning: ") : S(": "));
    write_shown(writer, message->text);
    write_str(writer, S("\n"));
    /* Of a long line only the part around the caret. */
    isize caret = (isize)message->column - 1;
    if (message->source.len > 0 && caret >= 0 && caret <= message->source.len) {
        isize begin = caret > SOURCE_SHOWN_BEFORE ? caret - SOURCE_SHOWN_BEFORE : 0;
        isize end = begin + SOURCE_SHOWN_BYTES;
        end = end < message->source.len ? end : message->source.len;
        for (int is_marks = 0; is_marks < 2; is_marks++) {
            write_str(writer, S("    "));
            for (isize i = begin; i < (is_marks ? caret : end); i++) {
                char c = message->source.at[i];
                bool is_inner = ((unsigned char)c & 0xc0) == 0x80; /* of a UTF-8 sequence */
                if (c == '\t' || (!is_marks && (unsigned char)c >= 0x20 && c != 0x7f)) {
                    write_str(writer, (Str){&c, 1});
                } else if (!is_inner) {
                    write_str(writer, S(" "));
                }
            }
            write_str(writer, is_marks ? S("^\n") : S("\n"));
        }
    }
    write_str(writer, message->origin);
}
