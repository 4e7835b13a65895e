/* Main lane without memory: integer arithmetic, permutations, branches, repeats, exits; both contexts share it.
 * isa/semantics.md 2 and 3. Poison (decisions.md A6): an integer result is undefined when a source is; conditions and
 * addresses must be defined (Op.m_hard).
 */
#include "machine/exec.h"

static uint32_t source(const Exec *x, const Op *op, int i)
{
    return op->r[i] == OP_IMMEDIATE ? (uint32_t)op->imm : x->m[op->r[i]];
}

/* Bits below the top that equal it, counted from the top: 0..31. */
static uint32_t count_sign_bits(uint32_t a)
{
    uint32_t different = (a ^ (uint32_t)((int32_t)a >> 31)) << 1 | 1;
    return (uint32_t)__builtin_clz(different);
}

static uint32_t reverse_in_bytes(uint32_t a)
{
    a = (a >> 1 & 0x55555555) | (a & 0x55555555) << 1;
    a = (a >> 2 & 0x33333333) | (a & 0x33333333) << 2;
    return (a >> 4 & 0x0f0f0f0f) | (a & 0x0f0f0f0f) << 4;
}

static void set_poison(Exec *x, uint16_t registers, bool is_poison)
{
    *x->m_poison = (uint16_t)((*x->m_poison & ~registers) | (is_poison ? registers : 0));
}

static void set_register(Exec *x, uint8_t r, uint32_t value)
{
    x->m[r] = value;
    x->m[15] = 0;
}

/* semantics.md 4.1: three 21-bit addresses in a pair. */
static void pack_addresses(Exec *x, const Op *op)
{
    uint32_t a0 = x->m[op->r[1]], a1 = x->m[op->r[2]], a2 = x->m[op->r[3]];
    set_register(x, op->r[0], (a0 & ADDRESS_MASK) | (a2 & 0x7ff) << 21);
    set_register(x, (uint8_t)(op->r[0] + 1), (a1 & ADDRESS_MASK) | (a2 >> 11 & 0x3ff) << 21);
}

/* `movz d, v, c`: d = v when c is not zero (semantics.md 2). */
static bool conditional_move(Exec *x, const Op *op)
{
    uint16_t poison = *x->m_poison, d = op->m_write;
    bool is_unknown = (poison >> op->r[2] & 1) != 0;
    if (is_unknown) {
        set_poison(x, d, true);
    }
    if (x->m[op->r[2]] != 0) {
        set_register(x, op->r[0], x->m[op->r[1]]);
        set_poison(x, d, is_unknown || (poison >> op->r[1] & 1) != 0);
    }
    return true;
}

/* Shifts by 32 and more are undocumented; the assumption is that every bit goes out. */
static bool shift_far(Exec *x, uint32_t amount)
{
    return EXEC_ASSUME(x, SHIFT_AMOUNT, "shift by %u", amount);
}

static bool integer(Exec *x, const Op *op)
{
    uint32_t a = source(x, op, 1), b = source(x, op, 2), d;
    bool is_poison = (*x->m_poison & op->m_read) != 0;
    switch (op->code) {
    case INSN_setzi_mmmn_zi:
        d = a;
        break;
    case INSN_add_mmmn:
    case INSN_add_mmmn_si:
    case INSN_add_mmmn_zi:
        d = a + b;
        break;
    case INSN_sub_mmmn:
    case INSN_sub_mmmn_si:
    case INSN_sub_mmmn_zi:
        d = a - b;
        break;
    case INSN_mul_mmmn:
    case INSN_mul_mmmn_si:
        d = a * b;
        break;
    case INSN_and_mmmn:
    case INSN_and_mmmn_zi:
        d = a & b;
        break;
    case INSN_andc_mmmn:
    case INSN_andc_mmmn_zi:
        d = a & ~b;
        break;
    case INSN_or_mmmn:
    case INSN_or_mmmn_zi:
    case INSN_or_mmmn_iz:
        d = a | b;
        break;
    case INSN_xor_mmmn:
        d = a ^ b;
        break;
    case INSN_xnor_mmmn:
        d = ~(a ^ b);
        break;
    case INSN_shl_mmmn:
    case INSN_shl_mmmn_zi:
        if (b > 31 && !shift_far(x, b)) {
            return false;
        }
        d = b > 31 ? 0 : a << b;
        break;
    case INSN_shr_mmmn:
    case INSN_shr_mmmn_zi:
        if (b > 31 && !shift_far(x, b)) {
            return false;
        }
        d = b > 31 ? 0 : a >> b;
        break;
    case INSN_shrs_mmmn:
    case INSN_shrs_mmmn_zi:
        if (b > 31 && !shift_far(x, b)) {
            return false;
        }
        d = (uint32_t)((int32_t)a >> (b > 31 ? 31 : b));
        break;
    case INSN_cmpeq_mmmn:
    case INSN_cmpeq_mmmn_si:
    case INSN_cmpeq_mmmn_zi:
        d = a == b;
        break;
    case INSN_cmpne_mmmn:
        d = a != b;
        break;
    case INSN_cmpslt_mmmn:
    case INSN_cmpslt_mmmn_si:
        d = (int32_t)a < (int32_t)b;
        break;
    case INSN_cmpult_mmmn:
    case INSN_cmpult_mmmn_zi:
        d = a < b;
        break;
    case INSN_max_mmmn:
    case INSN_max_mmmn_si:
    case INSN_max_mmmn_zi:
        d = (int32_t)a > (int32_t)b ? a : b;
        break;
    case INSN_min_mmmn:
    case INSN_min_mmmn_si:
    case INSN_min_mmmn_zi:
        d = (int32_t)a < (int32_t)b ? a : b;
        break;
    case INSN_abs_mmmn:
        d = (int32_t)a < 0 ? 0 - a : a;
        break;
    case INSN_clz_mmmn:
        d = a == 0 ? 32 : (uint32_t)__builtin_clz(a);
        break;
    case INSN_cms_mmmn:
        d = count_sign_bits(a);
        break;
    case INSN_popc_mmmn:
        d = (uint32_t)__builtin_popcount(a);
        break;
    case INSN_bitrev8_mmmn:
        d = reverse_in_bytes(a);
        break;
    case INSN_movz_mmmn:
        return conditional_move(x, op);
#define PERMUTE(name, result)                                                                      \
    case INSN_##name##_mmmn:                                                                       \
        d = result;                                                                                \
        break;
#include "machine/permute.def"
#undef PERMUTE
    case INSN_tapack_mmmn:
        pack_addresses(x, op);
        set_poison(x, op->m_write, is_poison);
        return true;
    case INSN_atom_mamn:
        d = x->worker->a[op->r[1]];
        is_poison = (x->worker->a_poison & op->a_read) != 0;
        break;
    default:
        return EXEC_FAULT(x, "UNMODELLED", "%s", isa_form((InsnCode)op->code)->mnemonic);
    }
    set_register(x, op->r[0], d);
    set_poison(x, op->m_write, is_poison);
    return true;
}

static bool branch(Exec *x, const Op *op)
{
    uint32_t value = x->m[op->r[0]], target = (uint32_t)op->imm;
    bool is_taken;
    switch (op->code) {
    case INSN_br_mmmn:
        target = value;
        is_taken = true;
        break;
    case INSN_bri_mmmn_zi:
        is_taken = true;
        break;
    case INSN_brz_mmmn_zi:
        is_taken = value == 0;
        break;
    case INSN_brnz_mmmn_zi:
        is_taken = value != 0;
        break;
    case INSN_brneg_mmmn_zi:
        is_taken = value >> 31 != 0;
        break;
    case INSN_brpos_mmmn_zi:
        is_taken = value >> 31 == 0;
        break;
    case INSN_brnzdec_mmmn_zi:
        is_taken = value != 0;
        if (is_taken) {
            set_register(x, op->r[0], value - 1);
        }
        break;
    default: /* call: bit 19 of the immediate is ignored (semantics.md 3) */
        target &= ADDRESS_MASK;
        set_register(x, op->r[0], x->next_pc);
        set_poison(x, op->m_write, false);
        x->tile->call_return = x->worker ? x->tile->call_return : x->next_pc;
        is_taken = true;
        break;
    }
    x->is_branch_taken = is_taken;
    x->next_pc = is_taken ? target : x->next_pc;
    return true;
}

static bool repeat(Exec *x, const Op *op)
{
    bool is_register = op->code == INSN_rpt_mmmn_zi;
    uint32_t count = is_register ? x->m[op->r[0]] : (uint32_t)op->imm;
    uint32_t body = 8 * ((uint32_t)(is_register ? op->imm : op->imm2) + 1);
    if (count > 0xffff && !EXEC_ASSUME(x, REPEAT_COUNT, "rpt with count %u", count)) {
        return false;
    }
    count &= 0xffff;
    if (x->next_pc % 8 != 0) {
        return EXEC_FAULT(x, "REPEAT_ALIGNMENT", "body at 0x%x", x->next_pc);
    }
    if (count == 0) {
        x->next_pc += body;
        return true;
    }
    x->worker->rpt_count = count;
    x->worker->rpt_first = x->next_pc;
    x->worker->rpt_end = x->next_pc + body;
    return true;
}

static bool leave(Exec *x, const Op *op)
{
    uint32_t value = x->m[op->r[0]];
    bool status;
    switch (op->code) {
    case INSN_exitz_mmmn:
        status = value == 0;
        break;
    case INSN_exitnz_mmmn:
        status = value != 0;
        break;
    case INSN_exitneg_mmmn:
        status = value >> 31 != 0;
        break;
    default:
        status = value >> 31 == 0;
        break;
    }
    x->worker->exit_status = status;
    x->is_exited = true;
    return true;
}

bool exec_poison_fault(Exec *x, const Op *op)
{
    const char *name = "POISON_BRANCH";
    if (op->kind == CLASS_MEMORY || op->kind == CLASS_PACE) {
        name = "POISON_ADDRESS";
    } else if (op->kind == CLASS_CSR) {
        name = "POISON_CSR";
    } else if (op->kind == CLASS_SYSTEM) {
        name = "POISON_LAUNCH";
    }
    (void)EXEC_FAULT(x, name, "%s uses $m%d, which is undefined",
                     isa_form((InsnCode)op->code)->mnemonic,
                     __builtin_ctz((unsigned)(*x->m_poison & op->m_hard)));
    x->tile->fault.address = x->watch ? watch_undefined_from(x->watch) : 0;
    return false;
}

static bool decode_fault(Exec *x, const Op *op)
{
    if (op->code != INSN_NONE) {
        return EXEC_FAULT(x, fault_name(op->imm), "%s", isa_form((InsnCode)op->code)->mnemonic);
    }
    uint32_t word;
    memcpy(&word, sram_at(x, x->pc), 4);
    return EXEC_FAULT(x, fault_name(op->imm), "word 0x%08x", word);
}

/* X22: has no worker been launched since the last row ended? */
static bool is_behind_exchange(const TileState *tile)
{
    bool is_behind = tile->exchange_end > 0;
    for (int i = 0; i < CHIP_WORKERS; i++) {
        is_behind = is_behind && tile->worker[i].start_cycle < tile->exchange_end;
    }
    return is_behind;
}

static bool trap(Exec *x, const Op *op)
{
    if (x->worker == NULL && is_behind_exchange(x->tile)) {
        return EXEC_FAULT(x, "TRAP_LOST",
                          "trap %d, and no worker call since the row that ended at %lld", op->imm,
                          (long long)x->tile->exchange_end);
    }
    return EXEC_FAULT(x, "TRAP", "trap %d", op->imm);
}

Executor exec_main_find(OpClass kind, bool is_supervisor)
{
    switch (kind) {
    case CLASS_ALU:
        return integer;
    case CLASS_BRANCH:
        return branch;
    case CLASS_REPEAT:
        return repeat;
    case CLASS_EXIT:
        return leave;
    case CLASS_CSR:
        return is_supervisor ? supervisor_csr : worker_csr;
    case CLASS_TRAP:
        return trap;
    default:
        return decode_fault;
    }
}
