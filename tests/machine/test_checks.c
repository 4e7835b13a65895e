/* Which checks are on: their names, and what happens without those that hardware makes too (docs/machine.md). */
#include "tile_rig.h"

static const char *set_of(const char *text)
{
    static char names[256];
    uint32_t checks = 0;
    Error err = {0};
    CHECK_OK(checks_parse(str_of(text), &checks, &err), err);
    CHECK((checks & CHECK_BOUNDS) != 0);
    Writer writer = {.fd = -1, .at = names, .cap = sizeof names - 1};
    checks_print(&writer, checks);
    names[writer.len] = 0;
    return names;
}

static void names(void)
{
    CHECK_CSTR(set_of("default"), "poison,alignment,conflict"); /* as cli's help says */
    CHECK_CSTR(set_of("none"), "none");
    CHECK_CSTR(set_of("conflict,poison"), "poison,conflict");
    CHECK_CSTR(set_of("-poison"), "alignment,conflict");
    CHECK_CSTR(set_of("all,-alignment,-conflict,+conflict"), set_of("all,-alignment"));
    uint32_t checks;
    Error err = {0};
    CHECK_ERROR(checks_parse(S("poison,soup"), &checks, &err), err, ERROR_INPUT,
                "\"soup\" is no check; expected a list of poison, alignment");
    err = (Error){0};
    CHECK_ERROR(checks_parse(S("poison,,conflict"), &checks, &err), err, ERROR_INPUT, "no check");
    err = (Error){0};
    CHECK_ERROR(checks_parse(S(""), &checks, &err), err, ERROR_INPUT, "no check");
}

static Rig *rig_without(uint32_t checks)
{
    Rig *rig = rig_create();
    rig->shared.checks &= ~checks;
    uint32_t words[4] = {0x11111111, 0x22222222, 0x33333333, 0x44444444};
    rig_words(rig, RIG_DATA, words, 4);
    return rig;
}

/* The low bits of an address are ignored; a pointer that is stepped keeps them. */
static void alignment_off(void)
{
    Rig *rig = rig_without(CHECK_ALIGNMENT);
    rig_worker_ok(rig, "setzi $m0, 0x58003\nld64step $a0:1, $mzero, $m0+=, 1\n"
                       "ld32 $m1, $m0, $mzero, 0\nsetzi $m2, 0x80003\n"
                       "st64 $a0:1, $m2, $mzero, 0\nst32 $m1, $m2, $mzero, 2\n"
                       "st32 $m0, $m2, $mzero, 3\nexitz $mzero\n");
    CHECK_EQ_INT(rig_word(rig, 0x80000), 0x11111111);
    CHECK_EQ_INT(rig_word(rig, 0x80004), 0x22222222);
    CHECK_EQ_INT(rig_word(rig, 0x80008), 0x33333333);
    CHECK_EQ_INT(rig_word(rig, 0x8000c), 0x5800b);
    rig_destroy(rig);
    rig = rig_without(CHECK_ALIGNMENT);
    rig_worker_ok(rig, "setzi $m0, 0x58001\nsetzi $m1, 0x80004\ntapack $m2:3, $m0, $m1, $m1\n"
                       "ld2x64pace $a0:1, $a2:3, $m2:3+=, $mzero, 0\n"
                       "st64pace $a0:1, $m2:3+=, $mzero, 0\n"
                       "st64pace $a0:1, $m2:3+=, $mzero, 0\nexitz $mzero\n");
    CHECK_EQ_INT(rig_word(rig, 0x8000c), 0x22222222);
    rig_destroy(rig);
    /* SRAM still ends where it ends */
    rig = rig_without(CHECK_ALL);
    CHECK_EQ_INT(rig_worker(rig, "setzi $m0, 0x4bffd\nld32 $m1, $m0, $mzero, 0\nexitz $mzero\n"),
                 TILE_STOP_FAULT);
    CHECK_CSTR(rig->tile.fault.name, "INVALID_ADDR");
    CHECK_EQ_INT(rig->tile.fault.address, 0x4bffd);
    rig_destroy(rig);
}

/* Both accesses happen, the store first. */
static void conflict_off(void)
{
    Rig *rig = rig_without(CHECK_CONFLICT);
    rig_worker_ok(rig, "setzi $m0, 0x58000\nsetzi $m1, 0x58008\ntapack $m2:3, $m0, $m0, $m1\n"
                       "ld64 $a4:5, $m1, $mzero, 0\n"
                       "ldst64pace $a0:1, $a4:5, $m2:3+=, $mzero, 0\nsetzi $m4, 0x80000\n"
                       "st64 $a0:1, $m4, $mzero, 0\nexitz $mzero\n");
    CHECK_EQ_INT(rig_word(rig, 0x80004), 0x22222222);
    CHECK_EQ_INT(rig_word(rig, 0x5800c), 0x44444444);
    rig_destroy(rig);
    rig = rig_without(CHECK_CONFLICT);
    rig_worker_ok(rig, "setzi $m0, 0x4c800\nst32 $m0, $m0, $mzero, 0\nexitz $mzero\n");
    CHECK_EQ_INT(rig_word(rig, 0x4c800), 0x4c800);
    rig_destroy(rig);
}

TEST_MAIN(names, alignment_off, conflict_off)
