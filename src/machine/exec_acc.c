/* Aux lane with state: accumulators, TAS, random numbers, worker CSRs. isa/semantics.md 8.3, 9; registers.md 4.3.
 *
 * Accumulator AACC[2n] is acc[n] and AACC[2n + 1] is acc[16 + n] (tile.h). Sums are evaluated in double in the order written
 * here and rounded once to f32 (decisions.md A7); every accumulator carries its own poison bit.
 */
#include "machine/exec.h"

enum { SOURCES_MAX = 8 };

static const char *mnemonic_of(const Op *op)
{
    return isa_form((InsnCode)op->code)->mnemonic;
}

static bool finish(Exec *x, const Op *op, uint32_t flags)
{
    return flags == 0 || fp_raise(x, flags, mnemonic_of(op));
}

/* A source of up to four registers as numbers. */
typedef struct Vector {
    double at[SOURCES_MAX];
    bool is_poison[SOURCES_MAX];
} Vector;

static Vector halves_of(const Exec *x, uint8_t first, int registers)
{
    Vector v = {0};
    const WorkerState *w = x->worker;
    for (int r = 0; r < registers; r += 2) {
        F4 f = floats_of_halves(w->a[first + r], r + 1 < registers ? w->a[first + r + 1] : 0);
        for (int i = 0; i < 4; i++) {
            v.at[2 * r + i] = (double)f[i];
            v.is_poison[2 * r + i] = (w->a_poison >> (first + r + i / 2) & 1) != 0;
        }
    }
    return v;
}

static Vector floats_of(const Exec *x, uint8_t first, int registers)
{
    Vector v = {0};
    const WorkerState *w = x->worker;
    for (int i = 0; i < registers; i++) {
        v.at[i] = (double)f32_of_bits(flush_f32(w->a[first + i]));
        v.is_poison[i] = (w->a_poison >> (first + i) & 1) != 0;
    }
    return v;
}

static bool is_finite(double v)
{
    return v - v == 0.0;
}

/* acc[n] becomes `v`; an infinity made of finite sources is an overflow. Nothing is registered for undefined values. */
static void set_acc(Exec *x, int n, double v, bool is_finite_source, bool is_poison,
                    uint32_t *flags)
{
    uint32_t own = 0;
    x->worker->acc[n] = f32_of_bits(f32_result((float)v, is_finite_source, &own));
    if (is_poison) {
        x->worker->acc_poison |= 1u << n;
    } else {
        x->worker->acc_poison &= ~(1u << n);
        *flags |= own;
    }
}

static void add_acc(Exec *x, int n, double v, bool is_poison, uint32_t *flags)
{
    double old = (double)x->worker->acc[n];
    set_acc(x, n, old + v, is_finite(old) && is_finite(v),
            is_poison || (x->worker->acc_poison >> n & 1) != 0, flags);
}

typedef enum AccumulateHow { ACCUMULATE, ACCUMULATE_SQUARE, ACCUMULATE_ABSOLUTE } AccumulateHow;

static double term_of(double v, AccumulateHow how)
{
    if (how == ACCUMULATE_SQUARE) {
        return v * v;
    }
    return how == ACCUMULATE_ABSOLUTE && v < 0.0 ? -v : v;
}

static bool accumulate(Exec *x, const Op *op, Vector v, int count, AccumulateHow how)
{
    uint32_t flags = 0;
    for (int i = 0; i < count; i++) {
        add_acc(x, i, term_of(v.at[i], how), v.is_poison[i], &flags);
    }
    return finish(x, op, flags);
}

/* acc[0..count-1] += terms without poison and with finite, normal results; false when that is not so, and nothing changed. */
static inline bool accumulate_plain(WorkerState *w, F4 low, F4 high, int count, AccumulateHow how)
{
    float next[SOURCES_MAX];
    for (int i = 0; i < count; i++) {
        double v = (double)(i < 4 ? low[i] : high[i - 4]);
        next[i] = (float)((double)w->acc[i] + term_of(v, how));
    }
    I4 odd = math_odd(next);
    if (count == 8) {
        odd |= math_odd(next + 4);
    }
    if (mask_any(odd)) {
        return false;
    }
    memcpy(w->acc, next, (size_t)count * sizeof next[0]);
    return true;
}

static inline __attribute__((always_inline)) bool
accumulate_halves(Exec *x, const Op *op, int registers, AccumulateHow how)
{
    WorkerState *w = x->worker;
    const uint32_t *a = &w->a[op->r[0]];
    if (((w->a_poison & op->a_read) | (w->acc_poison & 0xff)) == 0) {
        F4 low = floats_of_halves(a[0], a[1]);
        F4 high = registers == 4 ? floats_of_halves(a[2], a[3]) : low;
        if (accumulate_plain(w, low, high, 2 * registers, how)) {
            return true;
        }
    }
    return accumulate(x, op, halves_of(x, op->r[0], registers), 2 * registers, how);
}

static inline __attribute__((always_inline)) bool accumulate_floats(Exec *x, const Op *op,
                                                                    AccumulateHow how)
{
    WorkerState *w = x->worker;
    if (((w->a_poison & op->a_read) | (w->acc_poison & 0xff)) == 0) {
        U4 bits;
        memcpy(&bits, &w->a[op->r[0]], sizeof bits);
        I4 is_small = (I4)((bits & F32_INF) == 0);
        F4 v = (F4)choose(is_small, bits & 0x80000000, bits);
        if (accumulate_plain(w, v, v, 4, how)) {
            return true;
        }
    }
    return accumulate(x, op, floats_of(x, op->r[0], 4), 4, how);
}

static bool f16v8acc(Exec *x, const Op *op)
{
    return accumulate_halves(x, op, 4, ACCUMULATE);
}

static bool f16v8sqacc(Exec *x, const Op *op)
{
    return accumulate_halves(x, op, 4, ACCUMULATE_SQUARE);
}

static bool f16v8absacc(Exec *x, const Op *op)
{
    return accumulate_halves(x, op, 4, ACCUMULATE_ABSOLUTE);
}

static bool f16v4acc(Exec *x, const Op *op)
{
    return accumulate_halves(x, op, 2, ACCUMULATE);
}

static bool f16v4absacc(Exec *x, const Op *op)
{
    return accumulate_halves(x, op, 2, ACCUMULATE_ABSOLUTE);
}

static bool f32v4acc(Exec *x, const Op *op)
{
    return accumulate_floats(x, op, ACCUMULATE);
}

static bool f32v4sqacc(Exec *x, const Op *op)
{
    return accumulate_floats(x, op, ACCUMULATE_SQUARE);
}

static bool f32v4absacc(Exec *x, const Op *op)
{
    return accumulate_floats(x, op, ACCUMULATE_ABSOLUTE);
}

/* Sums of `width` neighbouring products into one accumulator each. */
static bool multiply(Exec *x, const Op *op, Vector a, Vector b, int count, int width)
{
    uint32_t flags = 0;
    for (int i = 0; i < count; i++) {
        double sum = 0.0;
        bool is_poison = false;
        for (int k = width * i; k < width * (i + 1); k++) {
            sum += a.at[k] * b.at[k];
            is_poison = is_poison || a.is_poison[k] || b.is_poison[k];
        }
        add_acc(x, i, sum, is_poison, &flags);
    }
    return finish(x, op, flags);
}

static bool outer_product(Exec *x, const Op *op)
{
    uint32_t flags = 0;
    Vector a = floats_of(x, op->r[0], 2), b = floats_of(x, op->r[1], 2);
    if (op->imm != 0) {
        return EXEC_FAULT(x, "AOP_FLAG", "f32v2aop with flag %d", op->imm);
    }
    for (int i = 0; i < 4; i++) {
        add_acc(x, i, a.at[i % 2] * b.at[i / 2], a.is_poison[i % 2] || b.is_poison[i / 2], &flags);
    }
    return finish(x, op, flags);
}

static uint8_t poison_pair(uint32_t poison, int first)
{
    return (uint8_t)(poison >> first & 3);
}

/* acc[first..first+3] as halves in out; conditions of undefined registers are dropped. */
static void out_halves(Exec *x, const float *acc, uint32_t poison, int count, uint32_t *flags)
{
    F4 v = {0};
    for (int i = 0; i < count; i++) {
        v[i] = (poison >> i & 1) != 0 ? 0.0f : acc[i];
    }
    uint64_t both = exec_round_halves(x, v, flags);
    x->out[0] = (uint32_t)both;
    x->out[1] = (uint32_t)(both >> 32);
    x->out_poison =
        (uint8_t)(((poison & 3) != 0 ? 1 : 0) | (count == 4 && (poison & 12) != 0 ? 2 : 0));
}

static void out_floats(Exec *x, const float *acc, uint32_t poison)
{
    x->out[0] = bits_of_f32(acc[0]);
    x->out[1] = bits_of_f32(acc[1]);
    x->out_poison = (uint8_t)(poison & 3);
}

/* d = old AACC[0], AACC[2]; then TAS * x + y. */
static bool scale_and_add(Exec *x, const Op *op)
{
    WorkerState *w = x->worker;
    uint32_t flags = 0;
    Vector a = floats_of(x, op->r[1], 2), b = floats_of(x, op->r[2], 2);
    double scale = (double)f32_of_bits(flush_f32(w->tas));
    out_floats(x, w->acc, w->acc_poison);
    for (int i = 0; i < 2; i++) {
        bool is_poison = w->tas_poison || a.is_poison[i] || b.is_poison[i];
        bool are_finite = is_finite(scale) && is_finite(a.at[i]) && is_finite(b.at[i]);
        set_acc(x, i, scale * a.at[i] + b.at[i], are_finite, is_poison, &flags);
    }
    return finish(x, op, flags);
}

/* d = old AACC[0, 2, 4, 6] as halves; then a * x + b * y, a and b the low and high half of TAS. */
static bool mix(Exec *x, const Op *op)
{
    WorkerState *w = x->worker;
    uint32_t flags = 0;
    F4 scales = floats_of_halves(w->tas, 0);
    double sa = (double)scales[0], sb = (double)scales[1];
    Vector a = halves_of(x, op->r[1], 2), b = halves_of(x, op->r[2], 2);
    out_halves(x, w->acc, w->acc_poison, 4, &flags);
    for (int i = 0; i < 4; i++) {
        bool is_poison = w->tas_poison || a.is_poison[i] || b.is_poison[i];
        bool are_finite =
            is_finite(sa) && is_finite(sb) && is_finite(a.at[i]) && is_finite(b.at[i]);
        set_acc(x, i, sa * a.at[i] + sb * b.at[i], are_finite, is_poison, &flags);
    }
    return finish(x, op, flags);
}

/* Reads the head of a chain of eight accumulators, shifts by two, writes the sources behind (semantics.md 9.3). */
static bool read_and_shift(Exec *x, const Op *op, bool is_half)
{
    WorkerState *w = x->worker;
    uint32_t flags = 0;
    static const uint8_t chains[4] = {
        0, 16, 8, 24}; /* set 0 even, odd; set 1 even, odd (isa/flags.def, unverified) */
    if (op->imm < 0 || op->imm > 3) {
        return EXEC_FAULT(x, "GINA_FLAG", "%s with flag %d", mnemonic_of(op), op->imm);
    }
    int first = chains[op->imm];
    float *acc = &w->acc[first];
    uint32_t poison = w->acc_poison >> first & 0xff, source_poison;
    float tail[2];
    if (is_half) {
        out_halves(x, acc, poison, 2, &flags);
        Vector s = halves_of(x, op->r[1], 1);
        tail[0] = (float)s.at[0];
        tail[1] = (float)s.at[1];
        source_poison = s.is_poison[0] ? 3 : 0;
    } else {
        out_floats(x, acc, poison);
        tail[0] = f32_of_bits(flush_f32(w->a[op->r[1]]));
        tail[1] = f32_of_bits(flush_f32(w->a[op->r[1] + 1]));
        source_poison = poison_pair(w->a_poison, op->r[1]);
    }
    memmove(acc, acc + 2, 6 * sizeof *acc);
    acc[6] = tail[0];
    acc[7] = tail[1];
    poison = poison >> 2 | source_poison << 6;
    w->acc_poison = (w->acc_poison & ~(0xffu << first)) | poison << first;
    return finish(x, op, flags);
}

static bool upper_get(Exec *x, const Op *op)
{
    WorkerState *w = x->worker;
    int csr = 0x100 + op->imm;
    x->out_poison = 0;
    switch (csr) {
    case CSR_FP_STS:
        x->out[0] = w->fp_sts;
        return true;
    case CSR_FP_CLR:
    case CSR_PRNG_SEED:
        x->out[0] = 0;
        return true;
    case CSR_FP_CTL:
        x->out[0] = w->fp_ctl;
        return true;
    case CSR_PRNG_0_0:
    case CSR_PRNG_0_1:
    case CSR_PRNG_1_0:
    case CSR_PRNG_1_1: {
        int i = csr - CSR_PRNG_0_0;
        x->out[0] = (uint32_t)(w->prng[i / 2] >> (32 * (i % 2)));
        x->out_poison = w->prng_undefined >> i & 1;
        return true;
    }
    case CSR_TAS:
        x->out[0] = w->tas;
        x->out_poison = w->tas_poison;
        return true;
    case CSR_FP_NFMT:
        x->out[0] = w->fp_nfmt;
        return true;
    case CSR_FP_SCL:
        x->out[0] = w->fp_scl;
        return true;
    default:
        return EXEC_FAULT(x, "INVALID_CSR", "uget of 0x%x", csr);
    }
}

static void set_prng(WorkerState *w, int i, uint32_t value)
{
    int shift = 32 * (i % 2);
    w->prng[i / 2] = (w->prng[i / 2] & ~((uint64_t)0xffffffff << shift)) | (uint64_t)value << shift;
    w->prng_undefined &= (uint8_t) ~(1u << i);
}

static bool upper_put(Exec *x, const Op *op)
{
    WorkerState *w = x->worker;
    int csr = 0x100 + op->imm;
    uint32_t value = w->a[op->r[1]];
    bool is_poison = (w->a_poison >> op->r[1] & 1) != 0;
    if (is_poison && csr != CSR_TAS) {
        return EXEC_FAULT(x, "POISON_CSR", "uput of $a%d, which is undefined, to 0x%x", op->r[1],
                          csr);
    }
    switch (csr) {
    case CSR_FP_CLR:
        w->fp_sts &= ~(value & FP_CONDITIONS);
        if ((value & FP_ZAACC) != 0) {
            memset(w->acc, 0, sizeof w->acc);
            w->acc_poison = 0;
        }
        return true;
    case CSR_FP_CTL:
        w->fp_ctl = value;
        return fp_control_check(x, value);
    case CSR_PRNG_0_0:
    case CSR_PRNG_0_1:
    case CSR_PRNG_1_0:
    case CSR_PRNG_1_1:
        set_prng(w, csr - CSR_PRNG_0_0, value);
        return true;
    case CSR_PRNG_SEED:
        set_prng(w, 0, value);
        set_prng(w, 1, ~value);
        set_prng(w, 2, value << 13 | ~value >> 19);
        set_prng(w, 3, ~value << 13 | value >> 19);
        return true;
    case CSR_TAS:
        w->tas = value;
        w->tas_poison = is_poison;
        return true;
    case CSR_FP_NFMT:
        w->fp_nfmt = value;
        x->f8_values = NULL;
        return true;
    case CSR_FP_SCL:
        w->fp_scl = value;
        x->f8_values = NULL;
        return true;
    case CSR_FP_STS:
        return EXEC_FAULT(x, "CSR_READ_ONLY", "uput to FP_STS");
    default:
        return EXEC_FAULT(x, "INVALID_CSR", "uput to 0x%x", csr);
    }
}

bool fp_control_check(Exec *x, uint32_t value)
{
    if ((value & FP_RND) == 0) {
        return true;
    }
    uint32_t mode = value / (FP_RND & ~(FP_RND - 1)) & 7;
    return mode > FLAG_TROUND_NEAREST_AWAY ? EXEC_FAULT(x, "ROUND_MODE", "FP_CTL = 0x%x", value)
                                           : EXEC_ASSUME(x, ROUNDING_MODE, "FP_CTL = 0x%x", value);
}

static bool f32mac(Exec *x, const Op *op)
{
    return multiply(x, op, floats_of(x, op->r[0], 1), floats_of(x, op->r[1], 1), 1, 1);
}

static bool f32v2mac(Exec *x, const Op *op)
{
    return multiply(x, op, floats_of(x, op->r[0], 2), floats_of(x, op->r[1], 2), 2, 1);
}

static bool f16v2cmac(Exec *x, const Op *op)
{
    return multiply(x, op, halves_of(x, op->r[0], 1), halves_of(x, op->r[1], 1), 1, 2);
}

static bool f16v4cmac(Exec *x, const Op *op)
{
    return multiply(x, op, halves_of(x, op->r[0], 2), halves_of(x, op->r[1], 2), 2, 2);
}

static bool f16v2gina(Exec *x, const Op *op)
{
    return read_and_shift(x, op, true);
}

static bool f32v2gina(Exec *x, const Op *op)
{
    return read_and_shift(x, op, false);
}

static bool f16v4gacc(Exec *x, const Op *op)
{
    uint32_t flags = 0;
    out_halves(x, x->worker->acc, x->worker->acc_poison, 4, &flags);
    return finish(x, op, flags);
}

static uint32_t acc_bits(const WorkerState *w, int n)
{
    return bits_of_f32(w->acc[n]);
}

/* The pair of accumulators first, first + 1 (numbers of tile.h) as raw bits. */
static void out_raw(Exec *x, int first)
{
    const WorkerState *w = x->worker;
    x->out[0] = acc_bits(w, first);
    x->out[1] = acc_bits(w, first + 1);
    x->out_poison = poison_pair(w->acc_poison, first);
}

/* Transposition of 4 x 4 halves (semantics.md 9.3). An accumulator carries two halves as raw bits: after the rows of a block went
 * in, AACC[0, 2] hold column 0, AACC[8, 10] column 1, AACC[4, 6] column 2 and AACC[12, 14] column 3. `stacc` returns column 0 (P0)
 * or 1 (P1) and moves column 2 or 3 to the odd accumulators behind it (AACC[1, 3] or AACC[9, 11]), where the next `istacc` of
 * the same flag fetches it while it takes two rows in: P0 rows 0 and 1, P1 rows 2 and 3. */
static bool insert_and_transpose(Exec *x, const Op *op)
{
    WorkerState *w = x->worker;
    if (op->imm != FLAG_TISTACC_P0 && op->imm != FLAG_TISTACC_P1) {
        return EXEC_FAULT(x, "STACC_FLAG", "f16v4istacc with flag %d", op->imm);
    }
    int second = op->imm == FLAG_TISTACC_P1;
    out_raw(x, 16 + 4 * second);
    const uint32_t *a = &w->a[op->r[1]], *b = &w->a[op->r[2]];
    for (int column = 0; column < 4; column++) {
        static const uint8_t accumulator[4] = {0, 4, 2, 6}; /* AACC[0, 8, 4, 12] */
        int n = accumulator[column] + second, word = column / 2;
        uint32_t both = half(a[word], column % 2) | half(b[word], column % 2) << 16;
        uint32_t undefined =
            (w->a_poison >> (op->r[1] + word) | w->a_poison >> (op->r[2] + word)) & 1;
        w->acc[n] = f32_of_bits(both);
        w->acc_poison = (w->acc_poison & ~(1u << n)) | undefined << n;
    }
    return true;
}

static bool transpose(Exec *x, const Op *op)
{
    WorkerState *w = x->worker;
    if (op->imm != FLAG_TSTACC_P0 && op->imm != FLAG_TSTACC_P1) {
        return EXEC_FAULT(x, "STACC_FLAG", "f16v4stacc with flag %d", op->imm);
    }
    int first = op->imm == FLAG_TSTACC_P1 ? 4 : 0;
    out_raw(x, first);
    memcpy(&w->acc[16 + first], &w->acc[first + 2], 2 * sizeof w->acc[0]);
    uint32_t moved = w->acc_poison >> (first + 2) & 3;
    w->acc_poison = (w->acc_poison & ~(3u << (16 + first))) | moved << (16 + first);
    return true;
}

Executor exec_acc_find(InsnCode code, int flag, MachineVectors vectors)
{
    switch (code) {
    case INSN_f16v4hihov4amp_aaan_ef:
    case INSN_f16v4hihoamp_aaan_ef:
    case INSN_f16v4sihoamp_aaan_ef:
    case INSN_f16v4sisoamp_aaan_ef:
    case INSN_f8v8hihov4amp_aaan_ef:
    case INSN_f32sisoamp_aaan_ef:
    case INSN_f32sisov2amp_aaan_ef:
        return exec_amp_find(code, flag, vectors);
    case INSN_f16v4hihoslic_aaan_ef:
    case INSN_f16v4hihov4slic_aaan_ef:
    case INSN_f16v4sihoslic_aaan_ef:
    case INSN_f16v4sisoslic_aaan_ef:
    case INSN_f8v8hihov4slic_aaan_ef:
    case INSN_f32sisoslic_aaan_ef:
    case INSN_f32sisov2slic_aaan_ef:
        return exec_slic_find(code);
    case INSN_f16v4istacc_aaan_ef:
        return insert_and_transpose;
    case INSN_f16v4stacc_aaan_ef:
        return transpose;
    case INSN_f16v8acc_aaan:
        return f16v8acc;
    case INSN_f16v8sqacc_aaan:
        return f16v8sqacc;
    case INSN_f16v8absacc_aaan:
        return f16v8absacc;
    case INSN_f16v4acc_aaan:
        return f16v4acc;
    case INSN_f16v4absacc_aaan:
        return f16v4absacc;
    case INSN_f32v4acc_aaan:
        return f32v4acc;
    case INSN_f32v4sqacc_aaan:
        return f32v4sqacc;
    case INSN_f32v4absacc_aaan:
        return f32v4absacc;
    case INSN_f32mac_aaan:
        return f32mac;
    case INSN_f32v2mac_aaan:
        return f32v2mac;
    case INSN_f16v2cmac_aaan:
        return f16v2cmac;
    case INSN_f16v4cmac_aaan:
        return f16v4cmac;
    case INSN_f32v2aop_aaan_ef:
        return outer_product;
    case INSN_f32v2axpy_aaan:
        return scale_and_add;
    case INSN_f16v4mix_aaan:
        return mix;
    case INSN_f16v2gina_aaan_zi:
        return f16v2gina;
    case INSN_f32v2gina_aaan_zi:
        return f32v2gina;
    case INSN_f16v4gacc_aaan:
        return f16v4gacc;
    case INSN_urand32_aaan:
    case INSN_urand64_aaan:
    case INSN_f16v2grand_aaan:
    case INSN_f32v2grand_aaan:
    case INSN_f16v4rmask_aaan:
    case INSN_f32v2rmask_aaan:
        return exec_random_find(code);
    case INSN_uget_aaan_zi:
        return upper_get;
    default:
        return upper_put;
    }
}
