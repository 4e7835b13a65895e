/* Loads and stores: one access (offset and step forms), packed pointers (pace forms). isa/semantics.md 4, tile-timing.md 5.2.
 *
 * Loading an undefined word is legal and makes the register undefined; storing an undefined register makes the word
 * undefined (decisions.md A6). Addresses are checked before anything changes.
 */
#include "machine/exec_pace.h"

bool exec_fault_at(Exec *x, const char *name, uint32_t address, uint32_t bytes)
{
    if (range_in_sram(address, bytes)) {
        (void)EXEC_FAULT(x, name, "%u bytes at 0x%x", bytes, address);
    } else {
        (void)EXEC_FAULT(x, name, "%u bytes at 0x%x, outside 0x%x..0x%x", bytes, address, SRAM_BASE,
                         SRAM_END);
    }
    x->tile->fault.address = address;
    return false;
}

uint32_t access_refused(Exec *x, uint32_t address, uint32_t bytes)
{
    if (!range_in_sram(address, bytes)) {
        (void)exec_fault_at(x, "INVALID_ADDR", address, bytes);
        return 0;
    }
    if ((x->shared->checks & CHECK_ALIGNMENT) == 0) {
        return address & ~(bytes - 1);
    }
    (void)exec_fault_at(x, "MISALIGNED", address, bytes);
    return 0;
}

bool code_element_store(Exec *x, uint32_t address)
{
    if ((x->shared->checks & CHECK_CONFLICT) == 0) {
        return true;
    }
    (void)EXEC_FAULT(x, "CODE_ELEMENT", "store to 0x%x while the supervisor is at 0x%x", address,
                     x->tile->pc);
    x->tile->fault.address = address;
    return false;
}

static inline void load_main(Exec *x, uint32_t address, const Op *op, MemoryForm form)
{
    uint32_t value = 0;
    watch_loaded(x, address, 1, watch_main(op->r[0]));
    memcpy(&value, sram_at(x, address), form.bytes);
    if (form.move == MOVE_SIGN) {
        value = (uint32_t)sign_extend(value, 8 * form.bytes);
    }
    x->m[op->r[0]] = value;
    x->m[15] = 0;
    uint16_t poison =
        (uint16_t)(poison_of(x, address & ~3u, 1) ? op->m_write & (1u << op->r[0]) : 0);
    *x->m_poison = (uint16_t)((*x->m_poison & ~(1u << op->r[0])) | poison);
}

static uint32_t offset_of(const Exec *x, const Op *op, int i)
{
    return op->r[i] == OP_IMMEDIATE ? (uint32_t)op->imm : x->m[op->r[i]];
}

/* One access with its pointer update. Inlined with a constant form for the frequent ones. */
static inline __attribute__((always_inline)) bool access_as(Exec *x, const Op *op, MemoryForm form)
{
    uint32_t *m = x->m, bytes = form.bytes, address, updated = OP_IMMEDIATE, moved = 0;
    switch (form.mode) {
    case MODE_OFFSET:
        address = m[op->r[1]] + m[op->r[2]] + offset_of(x, op, 3) * bytes;
        break;
    case MODE_STEP:
        address = m[op->r[1]] + m[op->r[2]];
        updated = op->r[2];
        moved = m[updated] + offset_of(x, op, 3) * bytes;
        break;
    case MODE_MAIN_OFFSET:
        address = m[op->r[1]] + m[op->r[2]] * bytes;
        break;
    default:
        address = m[op->r[1]];
        updated = op->r[1];
        moved = address + m[op->r[2]] * bytes;
        break;
    }
    address &= ADDRESS_MASK;
    if (!access_check(x, &address, bytes)) {
        return false;
    }
    uint32_t first = op->r[0];
    switch (form.move) {
    case MOVE_AUX:
        if (bytes == 16 && address < SRAM_REGION1) {
            return exec_fault_at(x, "INVALID_REGION", address, bytes);
        }
        load_aux(x, address, first, bytes / 4);
        break;
    case MOVE_SPREAD:
        load_spread(x, address, first, bytes);
        break;
    case MOVE_STORE_A:
        if (!store_words(x, address, &x->worker->a[first], bytes / 4,
                         (uint32_t)x->worker->a_poison >> first & ((1u << (bytes / 4)) - 1))) {
            return false;
        }
        break;
    case MOVE_STORE_M:
        if (!store_words(x, address, &m[first], 1, (uint32_t)*x->m_poison >> first & 1)) {
            return false;
        }
        break;
    default:
        load_main(x, address, op, form);
        break;
    }
    if (updated != OP_IMMEDIATE) {
        m[updated] = moved;
        m[15] = 0;
    }
    return true;
}

static bool access_any(Exec *x, const Op *op)
{
    return access_as(x, op, op->memory);
}

static bool load64_step(Exec *x, const Op *op)
{
    return access_as(x, op, (MemoryForm){8, MOVE_AUX, MODE_STEP});
}

static bool load64_offset(Exec *x, const Op *op)
{
    return access_as(x, op, (MemoryForm){8, MOVE_AUX, MODE_OFFSET});
}

static bool load128_step(Exec *x, const Op *op)
{
    return access_as(x, op, (MemoryForm){16, MOVE_AUX, MODE_STEP});
}

static bool store64_step(Exec *x, const Op *op)
{
    return access_as(x, op, (MemoryForm){8, MOVE_STORE_A, MODE_STEP});
}

static bool store64_offset(Exec *x, const Op *op)
{
    return access_as(x, op, (MemoryForm){8, MOVE_STORE_A, MODE_OFFSET});
}

/* Two accesses meet in one element: false and a fault. With the check off both happen, the store first. */
bool access_conflict(Exec *x, const Op *op, uint32_t a, uint32_t b)
{
    if ((x->shared->checks & CHECK_CONFLICT) == 0) {
        return true;
    }
    (void)EXEC_FAULT(x, "CONFLICT", "%s accesses 0x%x and 0x%x in element %d",
                     isa_form((InsnCode)op->code)->mnemonic, a, b, element_of(a).id);
    x->tile->fault.address = b;
    return false;
}

/* --- sparse loads (isa/semantics.md 4.3): offsets come from a list, one element ahead of the data */

static void set_main(Exec *x, uint8_t r, uint32_t value)
{
    x->m[r] = value;
    x->m[15] = 0;
}

/* `bytes` at an offset list pointer into register r, with its poison. */
static void load_delta(Exec *x, uint32_t address, uint8_t r, uint32_t bytes)
{
    uint32_t value = 0;
    watch_loaded(x, address, 1, watch_main(r));
    memcpy(&value, sram_at(x, address), bytes);
    set_main(x, r, value);
    uint16_t bit = (uint16_t)(1u << r & 0x0fff);
    uint16_t poison = poison_of(x, address & ~3u, 1) ? bit : 0;
    *x->m_poison = (uint16_t)((*x->m_poison & ~bit) | poison);
}

/* d, p++, base, delta@: data at base + delta, the next delta at p. */
static bool load_indexed(Exec *x, const Op *op)
{
    bool is_paired = op->code == INSN_ldd16v2a32_mmbn;
    uint32_t delta = x->m[op->r[3]], p = x->m[op->r[1]] & ADDRESS_MASK,
             delta_bytes = is_paired ? 4 : 2;
    uint32_t data_bytes = op->code == INSN_ldd16a64_mmbn   ? 8
                          : op->code == INSN_ldd16b16_mmbn ? 2
                                                           : 4;
    uint32_t address = (x->m[op->r[2]] + (is_paired ? delta >> 16 : delta & 0xffff)) & ADDRESS_MASK;
    uint32_t list = p;
    if (!access_check(x, &address, data_bytes) || !access_check(x, &list, delta_bytes)) {
        return false;
    }
    if (same_element(address, list) && !access_conflict(x, op, address, list)) {
        return false;
    }
    if (data_bytes == 2) {
        load_spread(x, address, op->r[0], 2);
    } else {
        load_aux(x, address, op->r[0], data_bytes / 4);
    }
    load_delta(x, list, op->r[3], delta_bytes);
    set_main(x, op->r[1], p + delta_bytes);
    return true;
}

/* q, p++, base, delta: q[2:3] from p, q[1] from base + delta[15:0], q[0] stays. */
static bool load_pair_and_indexed(Exec *x, const Op *op)
{
    uint32_t p = x->m[op->r[1]] & ADDRESS_MASK;
    uint32_t address = (x->m[op->r[2]] + (x->m[op->r[3]] & 0xffff)) & ADDRESS_MASK;
    uint32_t pair = p;
    if (!access_check(x, &pair, 8) || !access_check(x, &address, 4)) {
        return false;
    }
    if (same_element(address, pair) && !access_conflict(x, op, address, pair)) {
        return false;
    }
    load_aux(x, pair, op->r[0] + 2u, 2);
    load_aux(x, address, op->r[0] + 1u, 1);
    set_main(x, op->r[1], p + 8);
    return true;
}

/* ap, base, d++, mini>>: two spread halves at the two offsets in d, which move on: one by 2, the other by the lowest four bits
 * of `mini`. Which is which is not documented and does not matter when the four bits say 2. */
static bool load_two_spread(Exec *x, const Op *op)
{
    uint32_t base = x->m[op->r[1]], d = x->m[op->r[2]], mini = x->m[op->r[3]];
    uint32_t a0 = (base + (d & 0xffff)) & ADDRESS_MASK, a1 = (base + (d >> 16)) & ADDRESS_MASK;
    if (!access_check(x, &a0, 2) || !access_check(x, &a1, 2)) {
        return false;
    }
    if (same_element(a0, a1) && !access_conflict(x, op, a0, a1)) {
        return false;
    }
    if ((mini & 15) != 2 &&
        !EXEC_ASSUME(x, SPARSE_DELTA, "offsets move by 2 and by %u", mini & 15)) {
        return false;
    }
    load_spread(x, a0, op->r[0], 2);
    load_spread(x, a1, op->r[0] + 1u, 2);
    set_main(x, op->r[2], ((d + 2) & 0xffff) | ((d >> 16) + (mini & 15)) << 16);
    set_main(x, op->r[3], mini >> 4);
    return true;
}

static bool load_two(Exec *x, const Op *op)
{
    return two_loads(x, op);
}

static bool store_paced(Exec *x, const Op *op)
{
    return paced_store(x, op);
}

static bool load_and_store(Exec *x, const Op *op)
{
    return loads_and_store(x, op, 1);
}

static bool two_loads_and_store(Exec *x, const Op *op)
{
    return loads_and_store(x, op, 2);
}

Executor exec_memory_find(InsnCode code, MemoryForm form)
{
    switch (code) {
    case INSN_ldst64pace_mbbn_ef:
        return load_and_store;
    case INSN_ld2xst64pace_mbbn_ef:
        return two_loads_and_store;
    case INSN_st64pace_mbmn_ef:
        return store_paced;
    case INSN_ld2x64pace_mmbn_ef:
    case INSN_ld64a32pace_mmbn_ef:
    case INSN_ld64b16pace_mmbn_ef:
        return load_two;
    case INSN_ldd16a32_mmbn:
    case INSN_ldd16a64_mmbn:
    case INSN_ldd16b16_mmbn:
    case INSN_ldd16v2a32_mmbn:
        return load_indexed;
    case INSN_ld64a32_mmbn:
        return load_pair_and_indexed;
    case INSN_ldb16b16_mmbn:
        return load_two_spread;
    default:
        break;
    }
    bool is_step = form.mode == MODE_STEP;
    if (form.move == MOVE_AUX && form.bytes == 8) {
        return is_step ? load64_step : load64_offset;
    }
    if (form.move == MOVE_AUX && form.bytes == 16 && is_step) {
        return load128_step;
    }
    if (form.move == MOVE_STORE_A && form.bytes == 8) {
        return is_step ? store64_step : store64_offset;
    }
    return access_any;
}
