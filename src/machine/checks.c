/* The names of checks: what `--check LIST` says. */
#include "machine/machine.h"

static const struct {
    const char *name;
    uint32_t checks;
} sets[] = {
#define MACHINE_CHECK(name, text, is_default, help) {text, CHECK_##name},
#include "machine/checks.def"
#undef MACHINE_CHECK
    {"all", CHECK_ALL},
    {"default", CHECK_DEFAULT},
    {"none", CHECK_BOUNDS},
};

static bool find_set(Str name, uint32_t *checks)
{
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        if (str_equal(name, str_of(sets[i].name))) {
            *checks = sets[i].checks;
            return true;
        }
    }
    return false;
}

const char checks_help[] =
    "what the machine looks for: a list of "
#define MACHINE_CHECK(name, text, is_default, help) text ", "
#include "machine/checks.def"
#undef MACHINE_CHECK
    "all, none; or changes: +race,-poison (default poison,alignment,conflict)";

bool checks_parse(Str text, uint32_t *checks, Error *err)
{
    Str rest = text;
    bool is_change = text.len > 0 && (text.at[0] == '+' || text.at[0] == '-');
    *checks = is_change ? CHECK_DEFAULT : CHECK_BOUNDS;
    do {
        Str name = str_cut(&rest, ',');
        bool is_off = name.len > 0 && name.at[0] == '-';
        uint32_t set;
        name = is_off || str_starts(name, S("+")) ? str_slice(name, 1, name.len) : name;
        if (!find_set(name, &set)) {
            return error_set(err, ERROR_INPUT, NULL,
                             "\"%.*s\" is no check; expected a list of "
#define MACHINE_CHECK(name, text, is_default, help) text ", "
#include "machine/checks.def"
#undef MACHINE_CHECK
                             "all, default or none, each with + or - to change the list",
                             STR_ARG(name));
        }
        *checks = is_off ? *checks & ~set : *checks | set;
    } while (rest.len > 0);
    *checks |= CHECK_BOUNDS;
    return true;
}

void checks_print(Writer *writer, uint32_t checks)
{
    bool is_first = true;
    for (int i = 0; i < CHECK_ROWS; i++) {
        if ((checks & sets[i].checks) != 0) {
            write_fmt(writer, "%s%s", is_first ? "" : ",", sets[i].name);
            is_first = false;
        }
    }
    write_str(writer, is_first ? S("none") : S(""));
}
