/* Planted faults of one kernel, each through the whole compiler: the text of the fault names check, tile, worker, kernel, source line
 * and address, for any number of threads. Without a plant the whole network passes all checks and computes the same. */
#include "kernel/embedded.h"
#include "rig.h"

typedef struct Plant {
    const char *file, *find,
        *put;       /* the only occurrence; put marks the line of the fault with HERE, or */
    const char *at; /* the text that begins the line */
    uint32_t checks;
    const char *expected[4];
} Plant;

#define HERE " // here"
static const uint32_t CODE_ONLY = CHECK_ALL & ~(uint32_t)CHECK_CONFLICT;

#define OWN "add_f16.s", "        brz     $m5, .Lexit\n"
#define BEHIND(text) "        brz     $m5, .Lexit\n" text "\n"
#define READY "add_f16.s", "        add     $m3, $m3, $m6\n"

static const Plant PLANTS[] = {
    /* every worker writes the quads of worker 0 */
    {READY,
     "",
     "        st64step $a4:5",
     CHECK_RACE,
     {"selected check: RACE", "worker 1,", "writes 0x", "the other access: worker 0, pc 0x"}},
    /* worker 1 writes what all have read */
    {READY,
     "        ld32 $m9, $m3, $mzero, 2\n add $m9, $m9, 1\n add $m3, $m3, $m6\n",
     "        st64step $a4:5",
     CHECK_RACE,
     {"selected check: RACE", "worker 1,", "which worker 0 read", "(add_f16.s:17)"}},
    /* worker 1 reads what worker 0 has written: the load is named */
    {"add_f16.s",
     "        st64    $a4:5, $m3, $mzero, 0\n",
     "        st64    $a4:5, $m3, $mzero, 0\n argument $m3, 2\n"
     " ld32 $m9, $m3, $mzero, 0" HERE "\n mov $m9, $m9\n",
     NULL,
     CHECK_RACE,
     {"selected check: RACE", "worker 1,", "reads 0x", "which worker 0 wrote"}},
    {"launch.inc",
     "        sync    2\n",
     "ld32 $m2, $m0, $mzero, 2\n st32 $m2, $m2, $mzero, 0\n sync 2\n",
     "        launch  add_f16",
     CHECK_RACE,
     {"selected check: RACE", "supervisor,", "writes 0x", "which worker 0 wrote"}},
    {OWN,
     BEHIND("ld32 $m9, $m11, $mzero, 0" HERE),
     NULL,
     CHECK_POISON,
     {"undefined value: POISON_ADDRESS", "worker 0,", "$m11, which is undefined", ""}},
    {OWN,
     BEHIND("setzi $m9, .Lexit\n st32 $m9, $m9, $mzero, 0" HERE),
     NULL,
     CODE_ONLY,
     {"selected check: CODE_WRITE", "worker 0,", "address 0x4c", ""}},
    {READY,
     "add $m3, $m3, $m6\n tapack $m6:7, $m1, $m1, $m1\n"
     "ld2x64pace $a0:1, $a2:3, $m6:7+=, $mzero, 0" HERE "\n",
     NULL,
     CHECK_DEFAULT,
     {"illegal: CONFLICT", "worker 0,", "address 0x", "in element"}},
    {READY,
     "add $m3, $m3, $m6\n add $m1, $m1, 4\n ld64 $a0:1, $m1, $mzero, 0" HERE "\n",
     NULL,
     CHECK_DEFAULT,
     {"illegal: MISALIGNED", "worker 0,", "address 0x", "8 bytes at 0x"}},
    {OWN,
     BEHIND("setzi $m9, 0x80000\n br $m9" HERE),
     NULL,
     CHECK_DEFAULT,
     {"illegal: INVALID_PC", "worker 0,", "address 0x80000", ""}},
    {OWN,
     BEHIND("setzi $m9, .Lodd + 4\n br $m9\n .p2align 3\n.Lodd: { nop ; fnop }" HERE),
     NULL,
     CHECK_DEFAULT,
     {"illegal: MISALIGNED_BUNDLE", "worker 0,", "", ""}},
    /* worker 0 leaves its slot to the supervisor early */
    {"launch.inc",
     "        runall  $m1, $m0, 0\n        sync    2\n        br      $m10\n        .worker\n"
     ".Lworker:\n",
     "runall $m1, $m0, 0\n runall $m1, $m0, 0\n sync 2\n br $m10\n .worker\n.Lworker: get $m9, "
     "$WSR\n and $m9, $m9, 7\n brz $m9, .Lexit\n",
     "        launch  add_f16",
     CHECK_DEFAULT,
     {"illegal: WORKERS_ACTIVE", "supervisor,", "", ""}},
    /* `rpt $m5, 3` with one bundle more than there is, which the assembler refuses */
    {"add_f16.s",
     "        {\n        rpt     $m5, 2\n        fnop\n        }\n",
     "        .p2align 3\n .long 0xc350a003, 0x9ad00000\n",
     "        f16v4add $a4:5, $a0:1, $a2:3\n        st64",
     CHECK_DEFAULT,
     {"illegal: REPEAT_BODY", "worker 0,", "", ""}},
    {"add_f16.s",
     "        st64    $a4:5, $m3, $mzero, 0\n",
     "        st64    $a4:5, $m3, $mzero, 6" HERE "\n",
     NULL,
     CHECK_BUFFERS,
     {"selected check: OUTSIDE_BUFFERS", "worker ", "stores to 0x", ""}},
    {"add_f16.s",
     "        st64    $a4:5, $m3, $mzero, 0\n",
     "        st64    $a4:5, $m3, $mzero, 0\n st64 $a4:5, $m2, $mzero, 0" HERE "\n",
     NULL,
     CHECK_BUFFERS,
     {"selected check: OUTSIDE_BUFFERS", "worker ", "stores to 0x", ""}},
    {READY,
     "add $m3, $m3, $m6\n setzi $m9, 0x88000\n ld32 $m9, $m9, $mzero, 0" HERE "\n",
     NULL,
     CHECK_BUFFERS,
     {"selected check: OUTSIDE_BUFFERS", "worker 0,", "loads 0x88000", "address 0x88000"}},
};

/* --- the kernel's text, changed ------------------------------------------------------------------------------------ */

typedef struct Texts {
    Arena *arena;
    const Plant *plant;
} Texts;

static bool find_text(void *context, Str name, Str *text, Error *err)
{
    const Texts *texts = context;
    for (int i = 0; i < kernel_file_count; i++) {
        const EmbeddedFile *file = &kernel_files[i];
        if (!str_equal(str_of(file->name), name))
            continue;
        *text = (Str){file->text, file->length};
        if (!str_equal(name, str_of(texts->plant->file)))
            return true;
        const char *hit = strstr(file->text, texts->plant->find);
        CHECK(hit != NULL && strstr(hit + 1, texts->plant->find) == NULL);
        *text = str_format(texts->arena, "%.*s%s%s", (int)(hit - file->text), file->text,
                           texts->plant->put, hit + strlen(texts->plant->find));
        return true;
    }
    return error_set(err, ERROR_INPUT, NULL, "no such kernel file");
}

/* Number of the line of `text` that holds `at`, 0 when none does. */
static int line_of(Str text, const char *at)
{
    const char *hit = strstr(text.at, at);
    int line = 1;
    for (const char *c = text.at; hit != NULL && c < hit; c++)
        line += *c == '\n';
    return hit != NULL ? line : 0;
}

static void plant_in(Rig *rig, const Plant *plant, Str *text)
{
    Texts texts = {&rig->keep, plant};
    AsmIncludes includes = {&texts, find_text};
    Str file = S("add_f16.s");
    RIG_CHECK(rig, find_text(&texts, file, text, &rig->err));
    for (int i = 0; i < rig->library.object_count; i++)
        if (str_equal(rig->library.objects[i].file, file))
            RIG_CHECK(rig,
                      asm_assemble(file, *text, &(AsmOptions){.includes = &includes}, &rig->keep,
                                   rig->scratch, &rig->library.objects[i], &rig->err));
}

/* --- running ------------------------------------------------------------------------------------------------------- */

static bool run_with(Rig *rig, uint32_t checks, int threads, float **outputs, RunResult *result)
{
    SessionOptions options = {.threads = threads, .checks = checks};
    rig->err = (Error){0};
    Session *session = session_open(&rig->r.package, &options, &rig->err);
    RIG_CHECK(rig, session != NULL);
    RIG_CHECK(rig, session_upload(session, &rig->model.source, rig->scratch, &rig->err));
    bool ok = rig_run(rig, session, rig_image(rig, 3), outputs, result);
    session_close(session);
    return ok;
}

static void planted_is_reported(void)
{
    Rig rig;
    rig_open(&rig, "siglip-tiny", 1);
    rig_plan(&rig, 64);
    Arena keep = rig.keep;
    for (size_t i = 0; i < sizeof PLANTS / sizeof *PLANTS; i++) {
        const Plant *plant = &PLANTS[i];
        rig.keep = keep;
        rig.err = (Error){0};
        Str text;
        RIG_CHECK(&rig, library_load(NULL, &rig.keep, rig.scratch, &rig.library, &rig.err));
        plant_in(&rig, plant, &text);
        rig_finish(&rig, 2);
        float **outputs = rig_output_buffers(&rig);
        RunResult result;
        CHECK(!run_with(&rig, plant->checks, 1, outputs, &result));
        CHECK_EQ_INT(rig.err.code, ERROR_FAULT);
        Error alone = rig.err;
        fprintf(stderr, "%s\n", alone.message);
        char line[64];
        snprintf(line, sizeof line, "(add_f16.s:%d)",
                 line_of(text, plant->at != NULL ? plant->at : HERE));
        CHECK(test_contains_(alone.message, line));
        CHECK(test_contains_(alone.message, " = add_f16 + 0x"));
        CHECK(test_contains_(alone.message, "tile "));
        for (int k = 0; k < 4; k++)
            CHECK(test_contains_(alone.message, plant->expected[k]));
        CHECK(!run_with(&rig, plant->checks, 3, outputs, &result));
        CHECK_CSTR(rig.err.message, alone.message);
    }
    rig_close(&rig);
}

static void whole_network_is_clean(void)
{
    Rig rig;
    rig_open(&rig, "siglip-tiny", 0);
    rig_plan(&rig, 64);
    rig_finish(&rig, 2);
    float **plain = rig_output_buffers(&rig), **checked = rig_output_buffers(&rig);
    RunResult result, with_checks;
    RIG_CHECK(&rig, run_with(&rig, CHECK_DEFAULT, 2, plain, &result));
    RIG_CHECK(&rig, run_with(&rig, CHECK_ALL, 2, checked, &with_checks));
    CHECK_EQ_INT(result.simulated_cycles, with_checks.simulated_cycles);
    CHECK_EQ_INT(result.instructions, with_checks.instructions);
    CHECK(memcmp(plain[0], checked[0], (size_t)rig.model.config.width * sizeof(float)) == 0);
    rig_close(&rig);
}

TEST_MAIN(planted_is_reported, whole_network_is_clean)
