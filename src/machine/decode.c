/* Words to Ops: the class and executor of an instruction, the registers that it reads and writes, and all rules that depend on the
 * words alone: bundles (isa/semantics.md 1.2), registers without a value (registers.md 2, 3), equal destinations.
 */
#include "machine/exec.h"

static const char *const fault_names[FAULT_ROWS] = {
#define FAULT(name, category, text) [ROW_##name] = #name,
#include "machine/faults.def"
#undef FAULT
};

/* isa/semantics.md 4. `$bytes` is also the scale of offsets and strides. */
static const MemoryForm memory_forms[INSN_COUNT] = {
    [INSN_ld32_mmmn] = {4, MOVE_ZERO, MODE_OFFSET},
    [INSN_ld32_mmmn_zi] = {4, MOVE_ZERO, MODE_OFFSET},
    [INSN_ld32step_mmmn] = {4, MOVE_ZERO, MODE_STEP},
    [INSN_ld32step_mmmn_si] = {4, MOVE_ZERO, MODE_STEP},
    [INSN_ldz16_mmmn] = {2, MOVE_ZERO, MODE_OFFSET},
    [INSN_ldz16_mmmn_zi] = {2, MOVE_ZERO, MODE_OFFSET},
    [INSN_ldz16step_mmmn] = {2, MOVE_ZERO, MODE_STEP},
    [INSN_ldz16step_mmmn_si] = {2, MOVE_ZERO, MODE_STEP},
    [INSN_lds16_mmmn] = {2, MOVE_SIGN, MODE_OFFSET},
    [INSN_lds16_mmmn_zi] = {2, MOVE_SIGN, MODE_OFFSET},
    [INSN_lds16step_mmmn] = {2, MOVE_SIGN, MODE_STEP},
    [INSN_lds16step_mmmn_si] = {2, MOVE_SIGN, MODE_STEP},
    [INSN_ldz8_mmmn] = {1, MOVE_ZERO, MODE_OFFSET},
    [INSN_ldz8_mmmn_zi] = {1, MOVE_ZERO, MODE_OFFSET},
    [INSN_ldz8step_mmmn] = {1, MOVE_ZERO, MODE_STEP},
    [INSN_ldz8step_mmmn_si] = {1, MOVE_ZERO, MODE_STEP},
    [INSN_lds8_mmmn] = {1, MOVE_SIGN, MODE_OFFSET},
    [INSN_lds8_mmmn_zi] = {1, MOVE_SIGN, MODE_OFFSET},
    [INSN_lds8step_mmmn] = {1, MOVE_SIGN, MODE_STEP},
    [INSN_lds8step_mmmn_si] = {1, MOVE_SIGN, MODE_STEP},
    [INSN_ld32_mman] = {4, MOVE_AUX, MODE_OFFSET},
    [INSN_ld32_mman_zi] = {4, MOVE_AUX, MODE_OFFSET},
    [INSN_ld32step_mmbn] = {4, MOVE_AUX, MODE_STEP},
    [INSN_ld32step_mmbn_si] = {4, MOVE_AUX, MODE_STEP},
    [INSN_ld64_mman] = {8, MOVE_AUX, MODE_OFFSET},
    [INSN_ld64_mman_zi] = {8, MOVE_AUX, MODE_OFFSET},
    [INSN_ld64step_mmbn] = {8, MOVE_AUX, MODE_STEP},
    [INSN_ld64step_mmbn_si] = {8, MOVE_AUX, MODE_STEP},
    [INSN_ld128_mman] = {16, MOVE_AUX, MODE_OFFSET},
    [INSN_ld128_mman_zi] = {16, MOVE_AUX, MODE_OFFSET},
    [INSN_ld128step_mmbn] = {16, MOVE_AUX, MODE_STEP},
    [INSN_ld128step_mmbn_si] = {16, MOVE_AUX, MODE_STEP},
    [INSN_ldb16_mman] = {2, MOVE_SPREAD, MODE_OFFSET},
    [INSN_ldb16_mman_zi] = {2, MOVE_SPREAD, MODE_OFFSET},
    [INSN_ldb16step_mmbn] = {2, MOVE_SPREAD, MODE_STEP},
    [INSN_ldb16step_mmbn_si] = {2, MOVE_SPREAD, MODE_STEP},
    [INSN_ldb8_mman] = {1, MOVE_SPREAD, MODE_OFFSET},
    [INSN_ldb8_mman_zi] = {1, MOVE_SPREAD, MODE_OFFSET},
    [INSN_ldb8step_mmbn] = {1, MOVE_SPREAD, MODE_STEP},
    [INSN_ldb8step_mmbn_si] = {1, MOVE_SPREAD, MODE_STEP},
    [INSN_st32_mbmn] = {4, MOVE_STORE_A, MODE_OFFSET},
    [INSN_st32_mbmn_zi] = {4, MOVE_STORE_A, MODE_OFFSET},
    [INSN_st32_mmmn_zi] = {4, MOVE_STORE_M, MODE_OFFSET},
    [INSN_st32step_mbmn] = {4, MOVE_STORE_A, MODE_STEP},
    [INSN_st32step_mbmn_si] = {4, MOVE_STORE_A, MODE_STEP},
    [INSN_st32step_mmmn_si] = {4, MOVE_STORE_M, MODE_STEP},
    [INSN_st64_mbmn] = {8, MOVE_STORE_A, MODE_OFFSET},
    [INSN_st64_mbmn_zi] = {8, MOVE_STORE_A, MODE_OFFSET},
    [INSN_st64step_mbmn] = {8, MOVE_STORE_A, MODE_STEP},
    [INSN_st64step_mbmn_si] = {8, MOVE_STORE_A, MODE_STEP},
    [INSN_stm32_mmmn] = {4, MOVE_STORE_M, MODE_MAIN_OFFSET},
    [INSN_stm32step_mmmn] = {4, MOVE_STORE_M, MODE_MAIN_STEP},
};

static OpClass main_class(InsnCode code)
{
    if (memory_forms[code].bytes) {
        return CLASS_MEMORY;
    }
    switch (code) {
    case INSN_ld2x64pace_mmbn_ef:
    case INSN_ld64a32pace_mmbn_ef:
    case INSN_ld64b16pace_mmbn_ef:
    case INSN_ldst64pace_mbbn_ef:
    case INSN_ld2xst64pace_mbbn_ef:
    case INSN_st64pace_mbmn_ef:
    case INSN_ld64a32_mmbn:
    case INSN_ldb16b16_mmbn:
    case INSN_ldd16a32_mmbn:
    case INSN_ldd16a64_mmbn:
    case INSN_ldd16b16_mmbn:
    case INSN_ldd16v2a32_mmbn:
        return CLASS_PACE;
    case INSN_br_mmmn:
    case INSN_bri_mmmn_zi:
    case INSN_brneg_mmmn_zi:
    case INSN_brnz_mmmn_zi:
    case INSN_brnzdec_mmmn_zi:
    case INSN_brpos_mmmn_zi:
    case INSN_brz_mmmn_zi:
    case INSN_call_mmmn_zi:
        return CLASS_BRANCH;
    case INSN_get_mmmn_zi:
    case INSN_put_mmmn_zi:
        return CLASS_CSR;
    case INSN_rpt_mmmn_zi:
    case INSN_rpt_mmmn_zi_zi:
        return CLASS_REPEAT;
    case INSN_exitneg_mmmn:
    case INSN_exitnz_mmmn:
    case INSN_exitpos_mmmn:
    case INSN_exitz_mmmn:
        return CLASS_EXIT;
    case INSN_trap_mmmn_zi:
        return CLASS_TRAP;
    case INSN_run_mmmn_zi:
    case INSN_runall_mmmn_zi:
    case INSN_sync_mmmn_zi:
    case INSN_sans_mmmn_zi:
    case INSN_ld64putcs_mmmn_zi:
    case INSN_ld128putcs_mmmn_zi:
    case INSN_delay_mmmn_zi:
    case INSN_delaypic_x:
    case INSN_delayxpic_x:
    case INSN_send_mmmn_zi:
    case INSN_sendoff_x:
    case INSN_sendpic_x:
    case INSN_sendpicp_x:
        return CLASS_SYSTEM;
    default:
        return CLASS_ALU;
    }
}

static OpClass aux_class(InsnCode code)
{
    switch (code) {
    case INSN_f16v2cmac_aaan:
    case INSN_f16v4cmac_aaan:
    case INSN_f16v2gina_aaan_zi:
    case INSN_f32v2gina_aaan_zi:
    case INSN_f16v4absacc_aaan:
    case INSN_f16v4acc_aaan:
    case INSN_f16v4gacc_aaan:
    case INSN_f16v4mix_aaan:
    case INSN_f16v8absacc_aaan:
    case INSN_f16v8acc_aaan:
    case INSN_f16v8sqacc_aaan:
    case INSN_f32mac_aaan:
    case INSN_f32v2mac_aaan:
    case INSN_f32v2aop_aaan_ef:
    case INSN_f32v2axpy_aaan:
    case INSN_f32v4absacc_aaan:
    case INSN_f32v4acc_aaan:
    case INSN_f32v4sqacc_aaan:
    case INSN_f16v4hihoamp_aaan_ef:
    case INSN_f16v4hihov4amp_aaan_ef:
    case INSN_f16v4sihoamp_aaan_ef:
    case INSN_f16v4sisoamp_aaan_ef:
    case INSN_uget_aaan_zi:
    case INSN_uput_aaan_zi:
    case INSN_urand32_aaan:
    case INSN_urand64_aaan:
    case INSN_f8v8hihov4amp_aaan_ef:
    case INSN_f8v8hihov4slic_aaan_ef:
    case INSN_f16v4hihoslic_aaan_ef:
    case INSN_f16v4hihov4slic_aaan_ef:
    case INSN_f16v4sihoslic_aaan_ef:
    case INSN_f16v4sisoslic_aaan_ef:
    case INSN_f32sisoslic_aaan_ef:
    case INSN_f32sisov2slic_aaan_ef:
    case INSN_f32sisoamp_aaan_ef:
    case INSN_f32sisov2amp_aaan_ef:
    case INSN_f16v4istacc_aaan_ef:
    case INSN_f16v4stacc_aaan_ef:
    case INSN_f16v4rmask_aaan:
    case INSN_f32v2rmask_aaan:
    case INSN_f16v2grand_aaan:
    case INSN_f32v2grand_aaan:
        return CLASS_ACC;
    default:
        return CLASS_AUX;
    }
}

/* Operand 0 is a destination unless the form only reads or stores. */
static bool has_destination(const InsnForm *form, InsnCode code)
{
    if ((form->flags & INSN_STORE) != 0 && (form->flags & INSN_LOAD) == 0) {
        return false;
    }
    switch (code) {
    case INSN_br_mmmn:
    case INSN_brneg_mmmn_zi:
    case INSN_brnz_mmmn_zi:
    case INSN_brpos_mmmn_zi:
    case INSN_brz_mmmn_zi:
    case INSN_exitneg_mmmn:
    case INSN_exitnz_mmmn:
    case INSN_exitpos_mmmn:
    case INSN_exitz_mmmn:
    case INSN_rpt_mmmn_zi:
    case INSN_run_mmmn_zi:
    case INSN_runall_mmmn_zi:
    case INSN_f16v2cmac_aaan:
    case INSN_f16v4cmac_aaan:
    case INSN_f16v4absacc_aaan:
    case INSN_f16v4acc_aaan:
    case INSN_f16v8absacc_aaan:
    case INSN_f16v8acc_aaan:
    case INSN_f16v8sqacc_aaan:
    case INSN_f32mac_aaan:
    case INSN_f32v2mac_aaan:
    case INSN_f32v2aop_aaan_ef:
    case INSN_f32v4absacc_aaan:
    case INSN_f32v4acc_aaan:
    case INSN_f32v4sqacc_aaan:
        return false;
    default:
        return true;
    }
}

static bool has_second_destination(InsnCode code)
{
    return code == INSN_ld2x64pace_mmbn_ef || code == INSN_ld64a32pace_mmbn_ef ||
           code == INSN_ld64b16pace_mmbn_ef;
}

static bool is_slow(InsnCode code)
{
    switch (code) {
    case INSN_f16v2sigm_aaan:
    case INSN_f32exp_aaan:
    case INSN_f32exp2_aaan:
    case INSN_f32oox_aaan:
    case INSN_f32oorx_aaan:
    case INSN_f32div_aaan:
    case INSN_f32sqrt_aaan:
    case INSN_f32tanh_aaan:
    case INSN_f32sigm_aaan:
    case INSN_f32ln_aaan:
    case INSN_f32log2_aaan:
        return true;
    default:
        return false;
    }
}

static int registers_of(OperandKind kind)
{
    switch (kind) {
    case OPERAND_MR:
    case OPERAND_AR:
        return 1;
    case OPERAND_MRP:
    case OPERAND_ARP:
        return 2;
    case OPERAND_ARQ:
        return 4;
    default:
        return 0;
    }
}

static bool is_main(OperandKind kind)
{
    return kind == OPERAND_MR || kind == OPERAND_MRP;
}

static Op fault_op(int row, uint16_t code)
{
    return (Op){
        .kind = CLASS_FAULT, .code = code, .imm = row, .run = exec_main_find(CLASS_FAULT, false)};
}

static Executor executor_of(const TileShared *shared, OpClass kind, InsnCode code, int flag,
                            bool is_supervisor)
{
    switch (kind) {
    case CLASS_MEMORY:
    case CLASS_PACE:
        return exec_memory_find(code, memory_forms[code]);
    case CLASS_AUX:
        return exec_aux_find(code);
    case CLASS_ACC:
        return exec_acc_find(code, flag, shared->vectors);
    case CLASS_SYSTEM:
        return supervisor_find(code);
    default:
        return exec_main_find(kind, is_supervisor);
    }
}

/* Enters one register operand into the masks. Returns a row of faults.def, or -1. registers.md 2, 3: $m12, $m13 are read-only views
 * that only workers have, $m14 reads an implementation-defined value; $a8..$a13 are no storage, $a13 takes discarded writes. */
static int add_register(Op *op, const InsnOperand *operand, uint32_t first, bool is_written,
                        bool is_supervisor)
{
    int count = registers_of(operand->kind);
    bool is_read = !is_written || operand->is_updated;
    is_written = is_written || operand->is_updated;
    uint32_t mask = ((1u << count) - 1) << first;
    if (is_main(operand->kind)) {
        uint32_t no_value = is_supervisor ? 0x7000 : 0x4000;
        if (is_written && (mask & 0x3000) != 0) {
            return ROW_REGISTER_READ_ONLY;
        }
        if (is_read && (mask & no_value) != 0) {
            return ROW_REGISTER_UNKNOWN;
        }
        op->m_read |= (uint16_t)(is_read ? mask & 0x3fff : 0);
        op->m_write |= (uint16_t)(is_written ? mask & 0x0fff : 0);
        return -1;
    }
    bool is_zero_quad = count == 4 && first == 12;
    if (is_read && !is_zero_quad && (mask & 0x3f00) != 0) {
        return ROW_REGISTER_UNKNOWN;
    }
    if (is_written && !is_zero_quad && (mask & 0x1f00) != 0) {
        return ROW_REGISTER_UNKNOWN;
    }
    op->a_read |= (uint8_t)(is_read ? mask : 0);
    op->a_write |= (uint8_t)(is_written ? mask : 0);
    return -1;
}

/* Which sources decide result register `lane`. Element-wise forms: register `lane` of every source (a single register stands for
 * all lanes); forms that mix registers are listed. */
static uint8_t lane_sources(const Op *op, const InsnForm *form, int lane)
{
    const uint8_t *r = op->r;
    switch (op->code) {
    case INSN_f16v2tof32_aaan:
    case INSN_f32v2tof16_aaan:
    case INSN_f16v4maxc_aaan:
    case INSN_f16v4class_aaan:
    case INSN_f32v2class_aaan:
        return op->a_read;
    case INSN_f32v4tof16_aaan:
    case INSN_f16v8tof8_aaan:
        return (uint8_t)(3u << (r[1] + 2 * lane));
    case INSN_roll32_aaan: /* a1, b0 */
        return (uint8_t)(1u << (lane == 0 ? r[1] + 1 : r[2]));
    case INSN_sort4x32lo_aaan: /* a0, b0 */
        return (uint8_t)(1u << (lane == 0 ? r[1] : r[2]));
    case INSN_sort4x32hi_aaan: /* a1, b1 */
        return (uint8_t)(1u << (lane == 0 ? r[1] + 1 : r[2] + 1));
    default:
        break;
    }
    uint32_t mask = 0;
    for (int i = 1; i < form->operand_count; i++) {
        int count = registers_of(form->operand[i].kind);
        if (count == 1) {
            mask |= 1u << r[i];
        } else if (count == 2) {
            bool is_limit =
                i == 2 && (op->code == INSN_f32v2clamp_aaan || op->code == INSN_f32clamp_aaan);
            mask |= is_limit ? 3u << r[i] : 1u << (r[i] + lane);
        }
    }
    return (uint8_t)mask;
}

static Broadcast broadcast_of(const InsnForm *form)
{
    for (int i = 0; i < form->operand_count; i++) {
        const char *text = form->operand[i].broadcast;
        if (text[0] == 'B') {
            return text[1] == 'L'   ? BROADCAST_LOW
                   : text[1] == 'U' ? BROADCAST_HIGH
                                    : BROADCAST_WORD;
        }
    }
    return BROADCAST_NONE;
}

/* Two operands that an instruction updates in one main register (sparse loads). */
static bool updates_twice(const Op *op, const InsnForm *form)
{
    uint32_t seen = 0;
    for (int i = 0; i < form->operand_count; i++) {
        if (form->operand[i].is_updated && form->operand[i].kind == OPERAND_MR) {
            uint32_t bit = 1u << op->r[i] & 0x0fff;
            if ((seen & bit) != 0) {
                return true;
            }
            seen |= bit;
        }
    }
    return false;
}

/* With `--unknown=assume` a register without a documented value reads as zero: the register, pair or quad of zeros of its file. */
static uint32_t zero_register(OperandKind kind)
{
    return kind == OPERAND_ARQ ? 12 : registers_of(kind) == 2 ? 14 : 15;
}

/* Runs an instruction that needs an assumption, and notes it: the words of a page are decoded whether they run or not. */
static bool run_assumed(Exec *x, const Op *op)
{
    uint64_t rows = 0;
    rows |= (op->assumptions & ASSUME_REGISTER) != 0 ? (uint64_t)1 << ROW_REGISTER_UNKNOWN : 0;
    rows |= (op->assumptions & ASSUME_STEP) != 0 ? (uint64_t)1 << ROW_STEP_DESTINATION : 0;
    x->tile->assumed |= rows;
    return executor_of(x->shared, (OpClass)op->kind, (InsnCode)op->code, op->imm, !x->worker)(x,
                                                                                              op);
}

/* Op of a decoded instruction, without the rules of bundles. */
static Op build_op(const TileShared *shared, const Insn *insn, bool is_supervisor)
{
    InsnCode code = (InsnCode)insn->code;
    const InsnForm *form = isa_form(code);
    bool is_aux = form->lane == LANE_AUX;
    OpClass kind = is_aux ? aux_class(code) : main_class(code);
    Op op = {.code = insn->code, .kind = (uint8_t)kind, .memory = memory_forms[code]};
    op.broadcast = (uint8_t)broadcast_of(form);
    op.flags = (uint8_t)((is_aux ? OP_AUX : 0) | (is_slow(code) ? OP_SLOW : 0));
    op.flags |= form->operand[0].kind == OPERAND_ARP ? OP_WIDE : 0;
    int immediates = 0;
    for (int i = 0; i < form->operand_count; i++) {
        const InsnOperand *operand = &form->operand[i];
        uint32_t value = insn->operand[i];
        if (registers_of(operand->kind) == 0) {
            /* Executors see the constants FLAG_*, whatever numbers the code has for them. */
            value = flag_canonical(shared->flags, (FlagFamily)operand->family, value);
            *(immediates++ ? &op.imm2 : &op.imm) = (int32_t)value;
            if (i < 5) {
                op.r[i] = OP_IMMEDIATE;
            }
        } else {
            ASSERT(i < 5);
            op.r[i] = (uint8_t)value;
        }
    }
    for (int i = 0; i < form->operand_count; i++) {
        const InsnOperand *operand = &form->operand[i];
        if (registers_of(operand->kind) == 0) {
            continue;
        }
        bool is_written =
            (i == 0 && has_destination(form, code)) || (i == 1 && has_second_destination(code));
        bool is_idle_stride = kind == CLASS_PACE && op.imm == 0 && operand->kind == OPERAND_MR &&
                              form->operand[form->operand_count - 1].kind == OPERAND_ENUM;
        if (is_idle_stride) {
            continue; /* every pointer moves by one atom: the stride register is not looked at */
        }
        int row = add_register(&op, operand, insn->operand[i], is_written && !operand->is_updated,
                               is_supervisor);
        if (row == ROW_REGISTER_UNKNOWN && shared->is_unknown_assumed) {
            op.assumptions |= ASSUME_REGISTER;
            if (!is_written) {
                op.r[i] = (uint8_t)zero_register(operand->kind);
                continue;
            }
            row = -1; /* nothing is written: registers without storage take nothing */
        }
        if (row >= 0) {
            return fault_op(row, insn->code);
        }
        bool is_data = i == 0 && kind == CLASS_MEMORY;
        if (kind != CLASS_ALU && !is_data && is_main(operand->kind) &&
            (!is_written || operand->is_updated)) {
            op.m_hard |= (uint16_t)(((1u << registers_of(operand->kind)) - 1) << insn->operand[i]);
        }
        if (is_aux && is_written) {
            op.result = (uint8_t)insn->operand[i];
            op.result_count = insn->operand[i] < 8 ? (uint8_t)registers_of(operand->kind) : 0;
        }
    }
    op.run = executor_of(shared, kind, code, op.imm, is_supervisor);
    op.flags |= kind == CLASS_BRANCH && op.m_read != 0 && code != INSN_br_mmmn ? OP_CONDITIONAL : 0;
    if (kind == CLASS_AUX) {
        op.a_lane[0] = lane_sources(&op, form, 0);
        op.a_lane[1] = op.result_count > 1 ? lane_sources(&op, form, 1) : 0;
    }
    /* isa/semantics.md 4: the result is unknown when the delta register is the destination. */
    if (kind == CLASS_MEMORY && op.memory.mode == MODE_STEP && op.memory.move <= MOVE_SIGN &&
        op.r[0] == op.r[2] && op.r[0] < 12) {
        if (!shared->is_unknown_assumed) {
            return fault_op(ROW_STEP_DESTINATION, insn->code);
        }
        op.assumptions |= ASSUME_STEP;
    }
    if (updates_twice(&op, form)) {
        return fault_op(ROW_EQUAL_DESTINATIONS, insn->code);
    }
    /* isa/semantics.md 4.2: two destinations must differ, also when both are $azeros. */
    if (has_second_destination(code)) {
        uint32_t first = 3u << op.r[0], second = (code == INSN_ld2x64pace_mmbn_ef ? 3u : 1u)
                                                 << op.r[1];
        if ((first & second) != 0) {
            return fault_op(ROW_EQUAL_DESTINATIONS, insn->code);
        }
    }
    op.run = op.assumptions != 0 ? run_assumed : op.run;
    return op;
}

static uint32_t word_at(const TileState *tile, uint32_t address)
{
    uint32_t word;
    memcpy(&word, tile->sram + (address - SRAM_BASE), 4);
    return word;
}

static bool is_poisoned(const TileState *tile, const TileShared *shared, uint32_t address)
{
    uint32_t index = (address - SRAM_BASE) / 4;
    return (shared->checks & CHECK_POISON) != 0 && tile->poison &&
           (tile->poison[index / 32] >> (index % 32) & 1) != 0;
}

static Op decode_supervisor(const TileState *tile, const TileShared *shared, uint32_t address)
{
    uint32_t word = word_at(tile, address);
    uint32_t next = address + 4 < SRAM_REGION1 ? word_at(tile, address + 4) : 0;
    if (is_poisoned(tile, shared, address)) {
        return fault_op(ROW_POISON_CODE, 0);
    }
    Insn insn = isa_decode(word, next, LANE_MAIN, CONTEXT_SUPERVISOR);
    return insn.code == INSN_NONE ? fault_op(ROW_ILLEGAL_WORD, 0) : build_op(shared, &insn, true);
}

static Op decode_half(const TileState *tile, const TileShared *shared, uint32_t address,
                      InsnLane lane)
{
    uint32_t word = word_at(tile, address);
    if (is_poisoned(tile, shared, address)) {
        return fault_op(ROW_POISON_CODE, 0);
    }
    Insn insn = isa_decode(word, 0, lane, CONTEXT_WORKER);
    return insn.code == INSN_NONE ? fault_op(ROW_ILLEGAL_WORD, 0) : build_op(shared, &insn, false);
}

/* Decodes a worker word into op[0], and the aux half of a bundle into op[1]. */
static void decode_worker(const TileState *tile, const TileShared *shared, uint32_t address, Op *op)
{
    if (word_at(tile, address) >> 31 == 0) {
        *op = decode_half(tile, shared, address, LANE_MAIN);
        return;
    }
    if (address % 8 != 0) {
        *op = fault_op(ROW_MISALIGNED_BUNDLE, 0);
        return;
    }
    Op main = decode_half(tile, shared, address, LANE_MAIN);
    Op aux = decode_half(tile, shared, address + 4, LANE_AUX);
    if (word_at(tile, address + 4) >> 31 == 0 ||
        (aux.kind != CLASS_FAULT && (aux.flags & OP_AUX) == 0)) {
        *op = fault_op(ROW_ILLEGAL_BUNDLE, 0);
        return;
    }
    if (main.kind == CLASS_FAULT || aux.kind == CLASS_FAULT) {
        *op = main.kind == CLASS_FAULT ? main : aux;
        return;
    }
    /* isa/semantics.md 1.2: two results in one register, or atom of a register that the aux half writes. */
    uint8_t meets = main.code == INSN_atom_mamn ? main.a_read | main.a_write : main.a_write;
    if ((meets & aux.a_write) != 0) {
        *op = fault_op(ROW_EQUAL_DESTINATIONS, main.code);
        return;
    }
    uint8_t forbidden =
        (uint8_t)((isa_form((InsnCode)main.code)->flags | isa_form((InsnCode)aux.code)->flags) &
                  (INSN_CONTROL | INSN_SYSTEM));
    main.flags |= (uint8_t)(OP_BUNDLE | (forbidden ? 0 : OP_REPEATABLE));
    bool is_amp = !forbidden && (main.assumptions | aux.assumptions) == 0 &&
                  exec_amp_can_run(&aux, shared->vectors);
    main.flags |= is_amp ? OP_AMP : 0;
    aux.flags |= OP_SECOND;
    op[0] = main;
    op[1] = aux;
}

_Static_assert(FAULT_ROWS <= 64, "TileState.assumed has one bit a row");

const char *fault_name(int row)
{
    ASSERT(row >= 0 && row < FAULT_ROWS);
    return fault_names[row];
}

void assumed_print(Writer *writer, uint64_t rows)
{
    const char *separator = "";
    for (int row = 0; row < FAULT_ROWS; row++) {
        if ((rows >> row & 1) != 0) {
            write_fmt(writer, "%s%s", separator, fault_names[row]);
            separator = ", ";
        }
    }
}

int op_issues(const TileTiming *timing, const Op *op)
{
    switch (op->code) {
    case INSN_f16v2sigm_aaan:
        return timing->f16v2sigm_issues;
    case INSN_f32exp_aaan:
        return timing->f32exp_issues;
    case INSN_f32exp2_aaan:
        return timing->f32exp2_issues;
    case INSN_f32oox_aaan:
        return timing->f32oox_issues;
    case INSN_f32oorx_aaan:
        return timing->f32oorx_issues;
    case INSN_f32div_aaan:
        return timing->f32div_issues;
    case INSN_f32sqrt_aaan:
        return timing->f32sqrt_issues;
    case INSN_f32tanh_aaan:
        return timing->f32tanh_issues;
    case INSN_f32sigm_aaan:
        return timing->f32sigm_issues;
    case INSN_f32ln_aaan:
        return timing->f32ln_issues;
    case INSN_f32log2_aaan:
        return timing->f32log2_issues;
    default:
        return 1;
    }
}

void decode_word(const TileState *tile, const TileShared *shared, bool is_supervisor,
                 uint32_t address, Op *op)
{
    if (is_supervisor) {
        *op = decode_supervisor(tile, shared, address);
    } else {
        decode_worker(tile, shared, address, op);
    }
}
