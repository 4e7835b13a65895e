/* The run loop: barriers, phases, host stops, deadlocks, loading, poison. Programs are raw supervisor words (exchange.md 4). */
#include "isa/isa.h"
#include "machine/machine.h"
#include "test.h"
#include <unistd.h>

enum {
    ENTRY = SRAM_IMAGE_BASE,
    ROW = 0x4e000,
    FROM = 0x80000,
    TO = 0x90000,
    SYNC = 0x41800000,
    SANS = 0x40c00000,
    NOP = 0x19e00000,
    RETURN = 0x43a00000,
    PROGRAM_WORDS = 64,
};

typedef struct Program {
    uint32_t word[PROGRAM_WORDS];
    uint32_t len;
} Program;

static void put(Program *program, uint32_t word)
{
    CHECK(program->len < PROGRAM_WORDS);
    program->word[program->len++] = word;
}

/* setzi m8, value; put csr, m8 */
static void put_csr(Program *program, uint32_t csr, uint32_t value)
{
    put(program, 0x19800000u | value);
    put(program, 0x43808000u | csr);
}

static uint32_t here(const Program *program)
{
    return ENTRY + 4 * program->len;
}

static void put_branch(Program *program, uint32_t address)
{
    put(program, 0x40800000u | address / 4); /* bri */
}

static Program start_up(void)
{
    Program program = {0};
    put_csr(&program, CSR_INCOMING_MUX, FABRIC_NEUTRAL);
    put_csr(&program, CSR_OUTGOING_BASE, 0);
    put_csr(&program, CSR_INCOMING_BASE, 0);
    put_csr(&program, CSR_INCOMING_DCOUNT, 1);
    return program;
}

/* Input barrier, one phase with the row at ROW, output barrier, again. */
static Program active_program(void)
{
    Program program = start_up();
    uint32_t loop = here(&program);
    put(&program, SYNC | 7);
    put_csr(&program, CSR_INCOMING_DCOUNT, 1);
    put(&program, SYNC | 3);
    put(&program, 0x18a00000u | ROW / 4);
    put(&program, SYNC | 7);
    put_branch(&program, loop);
    return program;
}

static Program passive_program(void)
{
    Program program = start_up();
    uint32_t loop = here(&program);
    put(&program, SYNC | 7);
    put(&program, SANS | 0);
    put(&program, SYNC | 1);
    put(&program, SYNC | 7);
    put_branch(&program, loop);
    return program;
}

static void load(Machine *machine, PhysTile tile, const Program *program)
{
    machine_load_tile(machine, tile, ENTRY, program->word, 4 * program->len, ENTRY);
}

/* One message of `words` words s -> d that starts at event 100; returns the receiver's row end. */
static Event load_rows(Machine *machine, PhysTile s, PhysTile d, uint32_t words)
{
    Event src = 100 + time_to_mux(s, d) + 1, pointer = src + 52 + 2 * phys_row(d);
    CHECK(words <= 40 && src > 0);
    const uint32_t send[] = {0x40a00000 + 99,
                             0x78000000 | (words - 1) << 21 | FROM / 4 << 3 | SCTL_BOTH, RETURN};
    const uint32_t receive[] = {0x64000000u | (uint32_t)(src - 1) << 14 | s.id,
                                0x64000000u | (words - 1) << 14 | FABRIC_NEUTRAL,
                                0x40a00000u | (uint32_t)(pointer - src - (Event)words - 2),
                                0x60000000u | TO / 4,
                                0x40a00000u | (words + 5 - 1),
                                RETURN};
    machine_load_tile(machine, s, ROW, send, sizeof send, 0);
    machine_load_tile(machine, d, ROW, receive, sizeof receive, 0);
    return pointer + (Event)words + 5;
}

static void fill(Machine *machine, PhysTile tile, uint32_t words, uint32_t value)
{
    for (uint32_t i = 0; i < words; i++) {
        uint32_t word = value + i;
        machine_write(machine, tile, FROM + 4 * i, &word, 4);
    }
}

static void expect(const Machine *machine, PhysTile tile, uint32_t words, uint32_t value)
{
    for (uint32_t i = 0; i < words; i++) {
        uint32_t word, poison_at;
        CHECK(machine_read(machine, tile, TO + 4 * i, &word, 4, &poison_at));
        CHECK_EQ_INT(word, value + i);
    }
}

static void must_stop(Machine *machine, MachineStop stop)
{
    MachineStop got = machine_run(machine, 100000);
    if (got != stop) {
        const Fault *fault = machine_fault(machine);
        fprintf(stderr, "stopped with %d, expected %d: %s %s\n", got, stop,
                fault->name != NULL ? fault->name : "", fault->detail);
        exit(1);
    }
}

static const PhysTile sender = {53}, receiver = {63}, bystander = {700};

static Machine *small_machine(Cycles phase_cycles)
{
    MachineOptions options = {
        .threads = 1, .phase_cycles = phase_cycles, .absent_tiles_answer = true};
    Machine *machine = machine_create(&options);
    Program active = active_program(), passive = passive_program();
    load(machine, sender, &active);
    load(machine, receiver, &active);
    load(machine, bystander, &passive);
    return machine;
}

static void runs_phases(void)
{
    Cycles arrival[2];
    for (int i = 0; i < 2; i++) {
        Machine *machine = small_machine(i == 0 ? 327 : 1327);
        Event row_end = load_rows(machine, sender, receiver, 7);
        must_stop(machine, MACHINE_STOP_HOST);
        CHECK_EQ_INT(machine_counters(machine).phases, 0);
        for (uint32_t call = 0; call < 3; call++) {
            fill(machine, sender, 7, 1000 * call);
            must_stop(machine, MACHINE_STOP_HOST); /* output barrier */
            expect(machine, receiver, 7, 1000 * call);
            MachineCounters counters = machine_counters(machine);
            CHECK_EQ_INT(counters.phases, 1);
            CHECK_EQ_INT(counters.exchanged_words, 7 * (call + 1));
            /* Rows start together: the tiles reach the next sync as far apart as their rows end. */
            CHECK_EQ_INT(machine_tile_cycles(machine, receiver) -
                             machine_tile_cycles(machine, sender),
                         row_end - 107);
            CHECK_EQ_INT(machine_tile_cycles(machine, sender) -
                             machine_tile_cycles(machine, bystander),
                         107);
            CHECK_EQ_INT(counters.host_arrival, machine_tile_cycles(machine, receiver));
            arrival[i] = counters.host_arrival - counters.host_release;
            must_stop(machine, MACHINE_STOP_HOST); /* input barrier */
            CHECK_EQ_INT(machine_counters(machine).phases, 0);
            CHECK_EQ_INT(machine_counters(machine).host_release,
                         align_up(counters.host_arrival, CHIP_WORKERS));
        }
        machine_destroy(machine);
    }
    CHECK_EQ_INT(arrival[1] - arrival[0], 1000);
    /* The constant, the row, and at least the words in front of the barrier. */
    CHECK(arrival[0] > 327 + 107 + 3 && arrival[0] < 327 + 300 + 200);
}

static void faults_in_a_row(void)
{
    Machine *machine = small_machine(0);
    (void)load_rows(machine, sender, receiver, 7);
    uint32_t word = 0x78000000 | 6u << 21 | FROM / 4 << 3 | SCTL_DIR1; /* needs direction 2 */
    machine_load_tile(machine, sender, ROW + 4, &word, 4, 0);
    must_stop(machine, MACHINE_STOP_HOST);
    must_stop(machine, MACHINE_STOP_FAULT);
    CHECK_CSTR(machine_fault(machine)->name, "DIRECTION");
    CHECK_EQ_INT(machine_fault(machine)->tile.id, receiver.id);
    must_stop(machine, MACHINE_STOP_FAULT); /* and stays there */
    machine_destroy(machine);
}

static void deadlocks(void)
{
    Machine *machine = small_machine(0);
    Program stray = start_up();
    put(&stray, SYNC | 7);
    put(&stray, SYNC | 7); /* skips the phase */
    load(machine, bystander, &stray);
    (void)load_rows(machine, sender, receiver, 7);
    must_stop(machine, MACHINE_STOP_HOST);
    must_stop(machine, MACHINE_STOP_FAULT);
    const Fault *fault = machine_fault(machine);
    CHECK_EQ_INT(fault->category, FAULT_DEADLOCK);
    CHECK_EQ_INT(fault->tile.id, bystander.id);
    CHECK(test_contains_(fault->detail, "sync 3: 2, at sync 1: 0, at sync 7: 1,"));
    char text[100];
    snprintf(text, sizeof text, "the internal barrier misses tile %u (pc 0x%x, waits at sync 7)",
             (unsigned)bystander.id, fault->pc);
    CHECK(test_contains_(fault->detail, text));
    CHECK(!test_contains_(fault->detail, "tile 53 ") && !test_contains_(fault->detail, "more"));
    machine_destroy(machine);

    MachineOptions options = {.threads = 1};
    machine = machine_create(&options);
    Program active = active_program();
    load(machine, sender, &active);
    must_stop(machine,
              MACHINE_STOP_HOST); /* tiles without an image take no part in host barriers */
    must_stop(machine, MACHINE_STOP_FAULT);
    CHECK_EQ_INT(machine_fault(machine)->category, FAULT_DEADLOCK);
    const char *detail = machine_fault(machine)->detail;
    CHECK(test_contains_(detail, "sync 3: 1, at sync 1: 0, at sync 7: 0, no image: 1471;"));
    CHECK(test_contains_(detail, "misses tile 0 (pc 0x0, no image), tile 1 (pc 0x0, no image)"));
    CHECK(test_contains_(detail, " and 1468 more"));
    machine_destroy(machine);

    /* One tile at sync 3, the others at the host's barrier. */
    machine = small_machine(0);
    load(machine, bystander, &stray);
    load(machine, receiver, &stray);
    (void)load_rows(machine, sender, sender, 7);
    must_stop(machine, MACHINE_STOP_HOST);
    must_stop(machine, MACHINE_STOP_FAULT);
    CHECK_EQ_INT(machine_fault(machine)->tile.id, sender.id);
    CHECK(test_contains_(machine_fault(machine)->detail, "the host barrier misses tile 53 (pc 0x"));
    CHECK(test_contains_(machine_fault(machine)->detail, "waits at sync 3)"));
    machine_destroy(machine);
}

/* One phase; then `runall` of a worker that only exits when `calls`, and a trap. */
static Program trapping_program(bool calls)
{
    Program program = start_up();
    put(&program, SYNC | 7);
    put(&program, SYNC | 3);
    put(&program, 0x18a00000u | ROW / 4);
    if (calls) {
        put(&program, 0x19800000u | (ENTRY + 0x400)); /* setzi m8 */
        put(&program, isa_word(INSN_runall_mmmn_zi, 8, 15, 0, 0));
        put(&program, SYNC | 2);
    }
    put(&program, 0x41801000u);
    return program;
}

/* X22, and a tile that is no part of an exchange may trap. */
static void traps(void)
{
    for (int calls = 0; calls < 2; calls++) {
        Machine *machine = small_machine(0);
        Program program = trapping_program(calls != 0);
        uint32_t leave = isa_word(INSN_exitz_mmmn, 15, 0, 0, 0);
        load(machine, receiver, &program);
        machine_load_tile(machine, receiver, ENTRY + 0x400, &leave, sizeof leave, 0);
        (void)load_rows(machine, sender, receiver, 7);
        must_stop(machine, MACHINE_STOP_HOST);
        fill(machine, sender, 7, 1);
        must_stop(machine, MACHINE_STOP_FAULT);
        CHECK_CSTR(machine_fault(machine)->name, calls != 0 ? "TRAP" : "TRAP_LOST");
        CHECK_EQ_INT(machine_fault(machine)->tile.id, receiver.id);
        machine_destroy(machine);
    }
}

/* Two phases. There is no exit barrier: each tile goes on when its own row ends, and the next barrier waits for the last of them. Who
 * takes no part in the first phase may take part in the second. */
static void rows_end_one_by_one(void)
{
    Cycles clocks[2][4];
    for (int by_words = 0; by_words < 2; by_words++) {
        MachineOptions options = {
            .threads = 2, .absent_tiles_answer = true, .fabric_words = by_words != 0};
        Machine *machine = machine_create(&options);
        Program active = start_up(), late = start_up();
        put(&active, SYNC | 7);
        put(&active, SYNC | 3);
        put(&active, 0x18a00000u | ROW / 4);
        put(&active, SYNC | 3);
        put(&active, SYNC | 7);
        put(&late, SYNC | 7);
        put(&late, SANS | 0);
        put(&late, SYNC | 1);
        put(&late, SYNC | 3); /* no call: a barrier and nothing more */
        put(&late, SYNC | 7);
        load(machine, sender, &active);
        load(machine, receiver, &active);
        load(machine, bystander, &late);
        Event end = load_rows(machine, sender, receiver, 7);
        must_stop(machine, MACHINE_STOP_HOST);
        fill(machine, sender, 7, 33);
        must_stop(machine, MACHINE_STOP_HOST);
        expect(machine, receiver, 7, 33);
        MachineCounters counters = machine_counters(machine);
        CHECK_EQ_INT(counters.phases, 2);
        /* All leave the second barrier together, behind the receiver, whose row is the longest. */
        CHECK_EQ_INT(machine_tile_cycles(machine, sender), machine_tile_cycles(machine, receiver));
        CHECK_EQ_INT(machine_tile_cycles(machine, sender), machine_tile_cycles(machine, bystander));
        CHECK(counters.host_arrival - counters.host_release > 2 * PHASE_COST_DEFAULT + end);
        clocks[by_words][0] = machine_tile_cycles(machine, sender);
        clocks[by_words][1] = machine_tile_cycles(machine, receiver);
        clocks[by_words][2] = machine_tile_cycles(machine, bystander);
        clocks[by_words][3] = counters.exchanged_words;
        machine_destroy(machine);
    }
    CHECK(memcmp(clocks[0], clocks[1], sizeof clocks[0]) == 0);
}

static void limits(void)
{
    MachineOptions options = {.threads = 1, .absent_tiles_answer = true};
    Machine *machine = machine_create(&options);
    Program program = {0};
    put_branch(&program, ENTRY);
    load(machine, sender, &program);
    CHECK_EQ_INT(machine_run(machine, 5000), MACHINE_STOP_LIMIT);
    Cycles first = machine_tile_cycles(machine, sender);
    CHECK(first >= 5000 && first < 5100);
    CHECK_EQ_INT(machine_run(machine, 9000), MACHINE_STOP_LIMIT);
    CHECK(machine_tile_cycles(machine, sender) >= 9000);
    CHECK(machine_counters(machine).instructions > 0);
    machine_destroy(machine);
}

static void memory(void)
{
    MachineOptions options = {.threads = 1};
    Machine *machine = machine_create(&options);
    uint8_t out[256], in[257];
    uint32_t poison_at = 0;
    for (size_t i = 0; i < sizeof in; i++) {
        in[i] = (uint8_t)(7 * i + 1);
    }
    CHECK(!machine_read(machine, sender, TO, out, 4, &poison_at)); /* power-on */
    CHECK_EQ_INT(poison_at, TO);
    machine_write(machine, sender, TO, in + 1, 256); /* any host alignment */
    CHECK(machine_read(machine, sender, TO, out, 256, &poison_at));
    CHECK(memcmp(out, in + 1, 256) == 0);
    CHECK(!machine_read(machine, sender, TO + 4, out, 256, &poison_at));
    CHECK_EQ_INT(poison_at, TO + 256);
    machine_poison(machine, sender, TO + 132, 8, 0x7fc00001);
    CHECK(!machine_read(machine, sender, TO, out, 256, &poison_at));
    CHECK_EQ_INT(poison_at, TO + 132);
    uint32_t word;
    memcpy(&word, out + 136, 4);
    CHECK_EQ_INT(word, 0x7fc00001);
    CHECK(machine_read(machine, sender, TO, out, 132, &poison_at));
    CHECK(machine_read(machine, sender, TO + 140, out, 116, &poison_at));
    machine_destroy(machine);
}

static int64_t resident_bytes(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    long long total = 0, resident = 0;
    CHECK(file != NULL && fscanf(file, "%lld %lld", &total, &resident) == 2);
    CHECK(fclose(file) == 0);
    return resident * sysconf(_SC_PAGESIZE);
}

/* All 1472 images, two active tiles; costs little memory; fault text knows the package's names. */
static void loads_a_package(void)
{
    Arena arena = arena_create(16 << 20);
    Program active = active_program(), passive = passive_program();
    Package package = {0};
    for (uint16_t i = 0; i < CHIP_TILES; i++) {
        bool is_active = i == sender.id || i == receiver.id;
        const Program *program = is_active ? &active : &passive;
        const void *bytes = program->word;
        *vec_push(&package.tiles, &arena) =
            (TileImage){{i}, ENTRY, (int32_t)package.segments.len, is_active ? 2 : 1};
        *vec_push(&package.segments, &arena) =
            (Segment){ENTRY, 4 * program->len, bytes, 4 * program->len, SEGMENT_EXECUTE};
        if (is_active) {
            *vec_push(&package.segments, &arena) =
                (Segment){FROM, 64, bytes, 6, SEGMENT_READ | SEGMENT_WRITE};
        }
    }
    *vec_push(&package.symbols, &arena) = (DebugSymbol){S("start"), ENTRY};
    *vec_push(&package.symbols, &arena) = (DebugSymbol){S("phase.row"), ROW};
    *vec_push(&package.regions, &arena) = (DebugRegion){receiver, ROW, 64, 1, 0, 0, S("rows")};
    int64_t before = resident_bytes();
    MachineOptions options = {.threads = 2};
    Machine *machine = machine_create(&options);
    Error err = {0};
    CHECK_OK(machine_load(machine, &package, &err), err);
    /* Data, then zeros up to the segment's memory size. */
    uint32_t words[17], poison_at;
    CHECK(machine_read(machine, sender, FROM, words, 64, &poison_at));
    CHECK_EQ_INT(words[0], active.word[0]);
    CHECK_EQ_INT(words[1], active.word[1] & 0xffff);
    CHECK_EQ_INT(words[2], 0);
    CHECK(!machine_read(machine, sender, FROM, words, 4 * 17, &poison_at));
    (void)load_rows(machine, sender, receiver, 7);
    must_stop(machine, MACHINE_STOP_HOST);
    fill(machine, sender, 7, 77);
    must_stop(machine, MACHINE_STOP_HOST);
    expect(machine, receiver, 7, 77);
    CHECK(resident_bytes() - before < 150 << 20);
    must_stop(machine, MACHINE_STOP_HOST);
    uint32_t word = 0x40a00000;
    machine_load_tile(machine, receiver, ROW + 16, &word, 4, 0); /* row ends too early */
    must_stop(machine, MACHINE_STOP_FAULT);
    Writer writer = writer_buffer(&arena);
    fault_print(&writer, machine_fault(machine), &package);
    write_str(&writer, (Str){"", 1});
    CHECK(test_contains_(writer.at, "illegal: ROW_SHORT"));
    CHECK(test_contains_(writer.at, "tile 63 (logical 1471), supervisor"));
    CHECK(test_contains_(writer.at, "= phase.row + 0x14 in rows"));
    machine_destroy(machine);

    IsaFlags flags = isa_flags_default();
    flags.value[FLAG_ID_TISTACC_P1] = FLAG_TISTACC_P0;
    package.isa_flags = &flags;
    machine = machine_create(&options);
    CHECK_ERROR(machine_load(machine, &package, &err), err, ERROR_INPUT,
                "TISTACC_P0 and TISTACC_P1 have the same value");
    machine_destroy(machine);
    arena_destroy(&arena);
}

/* 300 pairs of tiles exchange at once; one thread and two give the same clocks and memory. */
static void threads_do_not_matter(void)
{
    enum { PAIRS = 300 };
    Machine *machine[2];
    for (int j = 0; j < 2; j++) {
        MachineOptions options = {.threads = j + 1, .absent_tiles_answer = true};
        machine[j] = machine_create(&options);
        Program active = active_program();
        for (uint32_t i = 0; i < PAIRS; i++) {
            PhysTile s = phys_of((Tile){(uint16_t)(2 * i)});
            PhysTile d = phys_of((Tile){(uint16_t)(2 * i + 801)});
            load(machine[j], s, &active);
            load(machine[j], d, &active);
            (void)load_rows(machine[j], s, d, 1 + i % 40);
        }
        must_stop(machine[j], MACHINE_STOP_HOST);
        for (uint32_t i = 0; i < PAIRS; i++) {
            fill(machine[j], phys_of((Tile){(uint16_t)(2 * i)}), 1 + i % 40, i << 8);
        }
        must_stop(machine[j], MACHINE_STOP_HOST);
        for (uint32_t i = 0; i < PAIRS; i++) {
            expect(machine[j], phys_of((Tile){(uint16_t)(2 * i + 801)}), 1 + i % 40, i << 8);
        }
    }
    for (uint16_t i = 0; i < CHIP_TILES; i++) {
        CHECK_EQ_INT(machine_tile_cycles(machine[0], (PhysTile){i}),
                     machine_tile_cycles(machine[1], (PhysTile){i}));
    }
    MachineCounters a = machine_counters(machine[0]), b = machine_counters(machine[1]);
    CHECK(memcmp(&a, &b, sizeof a) == 0);
    machine_destroy(machine[0]);
    machine_destroy(machine[1]);
}

TEST_MAIN(runs_phases, faults_in_a_row, deadlocks, traps, rows_end_one_by_one, limits, memory,
          loads_a_package, threads_do_not_matter)
