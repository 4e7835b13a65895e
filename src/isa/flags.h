/* Values of the flag symbols (TAMP_F16V4_E4_P0, TSTACC_P0, TEXCH_SYNCZONE_LOCAL ...): isa/flags.def, or a user's file.
 *
 * The numbers of the AMP, SLIC, stacc, istacc and set-1 gina symbols are published nowhere, so ours are unverified (decisions.md A9)
 * and replaceable: whoever turns symbols into words, or words into meanings, takes an IsaFlags. Code that only needs the
 * meaning (executors) uses the constants FLAG_* of isa.h and never sees another value.
 */
#pragma once
#include "base/error.h"
#include "base/str.h"

/* FLAG_FAMILY_AMP_F16 ...: one space of values; FLAG_FAMILY_NONE: values without names. */
typedef enum FlagFamily {
    FLAG_FAMILY_NONE = 0,
#define FLAG_FAMILY(family, enumeration, bits, mnemonics) FLAG_FAMILY_##family,
#include "isa/flags.def"
#undef FLAG_FAMILY
    FLAG_FAMILY_COUNT
} FlagFamily;

/* One value per symbol, in the order of the table. */
typedef enum FlagId {
#define FLAG(name, value, family, source) FLAG_ID_##name,
#include "isa/flags.def"
#undef FLAG
    FLAG_ID_COUNT
} FlagId;

typedef struct FlagSymbol {
    Str name;
    uint32_t value; /* the documented one, or ours */
    uint8_t bits;   /* of the operand */
    uint8_t family; /* FlagFamily */
    bool is_documented;
} FlagSymbol;

/* Every function takes NULL for the table of flags.def. */
typedef struct IsaFlags {
    uint32_t value[FLAG_ID_COUNT];
    bool is_given[FLAG_ID_COUNT]; /* by the user's file */
    Str source;                   /* name of that file, without its directory; empty: none */
} IsaFlags;

IsaFlags isa_flags_default(void);
/* Lines `NAME VALUE`, `NAME = VALUE` (a comma may follow) or `#define NAME VALUE`; comments of C, and lines that begin with another
 * #. Other names are skipped, so that the lines of a vendor's header can be given as they are; *ignored counts those that begin
 * like ours (TAMP_ ...), *ignored_name is the first. Symbols that the text does not name keep our value. ERROR_INPUT names the
 * line, or the two symbols that meet. `path` is for messages and the source. */
bool isa_flags_parse(Str path, Str text, Arena *keep, Arena scratch, IsaFlags *out, int *ignored,
                     Str *ignored_name, Error *err);
/* Values fit their operands, documented ones are as documented, no two symbols of a family share one. */
bool isa_flags_check(const IsaFlags *flags, Error *err);
/* Every symbol without a documented value has been given. */
bool isa_flags_verified(const IsaFlags *flags);
uint32_t isa_flag_value(const IsaFlags *flags, FlagId id);
bool isa_flag_is_given(const IsaFlags *flags, FlagId id);
Str isa_flags_source(const IsaFlags *flags);
/* -1 when unknown. */
int flag_find(Str name);
const FlagSymbol *flag_symbol(FlagId id);
/* Of an operand `enum:enumeration` of an instruction. */
FlagFamily flag_family_of(const char *enumeration, const char *mnemonic);
/* The symbol that `value` stands for in a family; -1 when there is none. */
int flag_of_value(const IsaFlags *flags, FlagFamily family, uint32_t value);
/* The constant FLAG_* of that symbol. A value without symbol becomes one that no symbol of flags.def has (itself if possible). */
uint32_t flag_canonical(const IsaFlags *flags, FlagFamily family, uint32_t value);
