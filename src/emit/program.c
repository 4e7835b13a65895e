/* The supervisor program of one tile (decisions.md A3, A4; exchange.md 10.3).
 *
 *   start: neutral mux, zero bases, FP control     call:  sync 7 | steps | sync 7 | again
 *   kernel call: $m0 = argument table; words that move with the loop are stored first (pitfall N17); call
 *   phase, active: sync 2; DCOUNT = 1; sync 3; call row      phase, passive: sans 0; sync 1
 *
 * $m6 is the byte offset of the current iteration inside the tile's parameter block, $m7 the loop counter.
 */
#include "emit/program.h"

enum { M_TABLE = 0, M_WORK = 1, M_OFFSET = 6, M_COUNT = 7, M_SETUP = 8, M_LINK = 10, M_ZERO = 15 };
/* FP_ICTL: INV, DIV0, OFLO traps on; round to nearest even; ESR off; NANOO on (decisions.md A7; registers.md 4.3). */
static const uint32_t FP_CONTROL_LOW = 0x7, FP_CONTROL_NANOO = 1u << 20;

typedef struct Assembler {
    RowWordVec *words;
    Arena *arena;
    uint32_t base;
} Assembler;

static void put_word(Assembler *a, uint32_t word)
{
    *vec_push(a->words, a->arena) = word;
}
static uint32_t here(const Assembler *a)
{
    return a->base + (uint32_t)a->words->len * 4;
}

static void put_setzi(Assembler *a, uint32_t reg, uint32_t value)
{
    put_word(a, isa_word(INSN_setzi_mmmn_zi, reg, value, 0, 0));
}

static void put_csr(Assembler *a, Csr csr, uint32_t reg)
{
    put_word(a, isa_word(INSN_put_mmmn_zi, (uint32_t)csr, reg, 0, 0));
}
static void put_sync(Assembler *a, uint32_t zone)
{
    put_word(a, isa_word(INSN_sync_mmmn_zi, zone, 0, 0, 0));
}
static void put_call(Assembler *a, uint32_t address)
{
    put_word(a, isa_word(INSN_call_mmmn_zi, M_LINK, address, 0, 0));
}

static void put_start(Assembler *a)
{
    put_setzi(a, M_SETUP, FABRIC_NEUTRAL);
    put_csr(a, CSR_INCOMING_MUX, M_SETUP);
    put_csr(a, CSR_INCOMING_BASE, M_ZERO);
    put_csr(a, CSR_OUTGOING_BASE, M_ZERO);
    put_setzi(a, M_SETUP, FP_CONTROL_LOW);
    put_word(a, isa_word(INSN_or_mmmn_iz, M_SETUP, M_SETUP, FP_CONTROL_NANOO, 0));
    put_csr(a, CSR_FP_ICTL, M_SETUP);
    put_csr(a, CSR_FP_INFMT, M_ZERO);
    put_csr(a, CSR_FP_ISCL, M_ZERO);
}

static void put_kernel_call(Assembler *a, const Work *work, const Placement *placement,
                            const SupportMap *map, const WorkCall *call, uint32_t table_at,
                            RowWordVec *tables, Arena *arena)
{
    uint32_t table = table_at + (uint32_t)tables->len * 4;
    put_setzi(a, M_TABLE, table);
    for (int32_t i = 0; i < call->arg_count; i++) {
        KernelArg arg = work->args.at[call->arg_first + i];
        uint32_t word = arg.buffer ? placement->address[arg.buffer] + arg.value : arg.value;
        *vec_push(tables, arena) = word;
        if (arg.buffer == 0 || work->buffers.at[arg.buffer].block == 0)
            continue;
        put_setzi(a, M_WORK, word);
        put_word(a, isa_word(INSN_add_mmmn, M_WORK, M_WORK, M_OFFSET, 0));
        put_word(a, isa_word(INSN_st32_mmmn_zi, M_WORK, M_TABLE, M_ZERO, (uint32_t)i));
    }
    if (call->arg_count % 2 != 0)
        *vec_push(tables, arena) = 0;
    put_call(a, map->entry_of[call->kernel]);
}

static void put_phase(Assembler *a, uint32_t row_address)
{
    if (row_address == 0) {
        put_word(a, isa_word(INSN_sans_mmmn_zi, 0, 0, 0, 0));
        put_sync(a, SYNC_ANS);
        return;
    }
    put_sync(a, SYNC_LOCAL);
    put_setzi(a, M_SETUP, 1);
    put_csr(a, CSR_INCOMING_DCOUNT, M_SETUP);
    put_sync(a, SYNC_INTERNAL);
    put_call(a, row_address);
}

void program_build(const Work *work, const Placement *placement, const SupportMap *map,
                   const TileWork *tile, RowWordVec *words, RowWordVec *tables, Arena *arena)
{
    Assembler a = {words, arena, map->program};
    put_start(&a);
    uint32_t again = here(&a), loop = 0;
    put_sync(&a, SYNC_HOST);
    int32_t phase = 0;
    for (int32_t s = 0; s < work->steps.len; s++) {
        const WorkStep *step = &work->steps.at[s];
        switch (step->kind) {
        case WORK_CALLS:
            if (!tile->is_used)
                break;
            for (int32_t c = tile->call_first[s]; c < tile->call_end[s]; c++) {
                put_kernel_call(&a, work, placement, map, &work->calls.at[c],
                                placement->descriptor[tile->tile.id], tables, arena);
                tile->call_return[c] = here(&a);
            }
            break;
        case WORK_PHASE:
            put_phase(&a, tile->is_used ? tile->row_address[phase] : 0);
            phase++;
            break;
        case WORK_LOOP_BEGIN:
            put_setzi(&a, M_OFFSET, 0);
            put_setzi(&a, M_COUNT, (uint32_t)step->repeats - 1);
            loop = here(&a);
            break;
        case WORK_LOOP_END:
            put_setzi(&a, M_WORK, tile->is_used ? placement->block_stride[tile->tile.id] : 0);
            put_word(&a, isa_word(INSN_add_mmmn, M_OFFSET, M_OFFSET, M_WORK, 0));
            put_word(&a, isa_word(INSN_brnzdec_mmmn_zi, M_COUNT, loop, 0, 0));
            break;
        }
    }
    put_sync(&a, SYNC_HOST);
    put_word(&a, isa_word(INSN_bri_mmmn_zi, again, 0, 0, 0));
}
