/* Bundles with wide AMP steps, one after another, as a matrix kernel has them: running sums and queue stay in vector registers,
 * packed pointers unpacked. The state behind a run is that of worker.c's plain loop, bundle by bundle: whatever is out of the
 * ordinary (a fault, poison, a store into code, a number that exec_amp_step treats) leaves the fast path before it changes a thing.
 *
 * Needs AVX-512; other hosts run the bundles one by one.
 */
#include "machine/amp_avx512.h"

/* A part of SRAM in which nothing out of the ordinary happens to a pointer: defined words of one element or pair of elements,
 * and for stores no code. */
typedef struct Window {
    uint32_t first, span; /* addresses first .. first + span */
} Window;

/* Pointers of one register pair and their strides (isa/semantics.md 4.2), while the bundles of a run use them. Pointers 0 and 1 load,
 * pointer 2 stores. */
typedef struct Pace {
    uint32_t address[3];
    uint32_t stride[4];
    Window window[3];
    uint8_t pair, stride_register; /* NO_REGISTER: not unpacked */
    bool is_close[3];              /* pairs of pointers 0-1, 0-2, 1-2 that may meet in an element */
} Pace;

enum { NO_REGISTER = 0xff, WINDOW_BYTES = 1024 };
static const Window NO_WINDOW = {1, 0}; /* no aligned address */

/* False when a register is undefined. */
static bool open_pace(Exec *x, const Op *op, int pair, Pace *pace)
{
    if ((*x->m_poison & op->m_hard) != 0) {
        return false;
    }
    const uint32_t *m = &x->m[op->r[pair]];
    uint64_t atoms = (uint64_t)x->m[op->r[pair + 1]] << 10 | 1;
    *pace = (Pace){.address = {m[0] & ADDRESS_MASK, m[1] & ADDRESS_MASK,
                               (m[0] >> 21 & 0x7ff) | (m[1] >> 21 & 0x3ff) << 11},
                   .window = {NO_WINDOW, NO_WINDOW, NO_WINDOW},
                   .pair = op->r[pair],
                   .stride_register = op->r[pair + 1]};
    for (int i = 0; i < 4; i++) {
        pace->stride[i] = (uint32_t)sign_extend((uint32_t)(atoms >> (10 * i)) & 0x3ff, 10) * 8;
    }
    return true;
}

static void close_pace(Exec *x, Pace *pace)
{
    if (pace->pair != NO_REGISTER) {
        uint32_t *m = &x->m[pace->pair], a2 = pace->address[2];
        m[0] = pace->address[0] | (a2 & 0x7ff) << 21;
        m[1] = pace->address[1] | (a2 >> 11 & 0x3ff) << 21 | (m[1] & 0x80000000u);
        pace->pair = pace->stride_register = NO_REGISTER;
    }
}

/* Number of an element or pair of elements; no window crosses one. */
static uint32_t bank_of(uint32_t address)
{
    return address < SRAM_REGION1 ? (address - SRAM_BASE) / ELEMENT_BYTES
                                  : 0x100 + (address - SRAM_REGION1) / (2 * ELEMENT_BYTES);
}

/* The largest defined block around an address, of 1024, 256 or 32 bytes. */
static Window window_at(const Exec *x, uint32_t address, bool is_store)
{
    uint32_t offset = address - SRAM_BASE, bytes = WINDOW_BYTES;
    if (offset > SRAM_BYTES - 8 || address % 8 != 0 || (is_store && address < SRAM_REGION1)) {
        return NO_WINDOW;
    }
    const uint8_t *poison = (const uint8_t *)x->poison; /* one bit a word */
    if (poison) {
        uint64_t bits[WINDOW_BYTES / 256];
        memcpy(bits, poison + offset / WINDOW_BYTES * (WINDOW_BYTES / 32), sizeof bits);
        if ((bits[0] | bits[1] | bits[2] | bits[3]) != 0) {
            bytes = bits[offset % WINDOW_BYTES / 256] == 0 ? 256 : 32;
        }
        if (bytes == 32 && poison[offset / 32] != 0) {
            return NO_WINDOW;
        }
    }
    return (Window){address - offset % bytes, bytes - 8};
}

static inline bool is_inside(const Pace *pace, int i)
{
    return pace->address[i] - pace->window[i].first <= pace->window[i].span;
}

/* Finds the windows of the pointers that left theirs; false when one is not ordinary. */
static bool renew_windows(const Exec *x, Pace *pace, bool has_first, bool has_second, bool is_store)
{
    const bool is_used[3] = {has_first, has_second, is_store};
    for (int i = 0; i < 3; i++) {
        if (is_used[i] && !is_inside(pace, i)) {
            pace->window[i] = window_at(x, pace->address[i], i == 2);
            if (!is_inside(pace, i)) {
                return false;
            }
        }
    }
    static const uint8_t pairs[3][2] = {{0, 1}, {0, 2}, {1, 2}};
    for (int i = 0; i < 3; i++) {
        pace->is_close[i] =
            bank_of(pace->window[pairs[i][0]].first) == bank_of(pace->window[pairs[i][1]].first);
    }
    return true;
}

static inline void move(Pace *pace, int i, uint32_t selector)
{
    pace->address[i] = (pace->address[i] + pace->stride[selector & 3]) & ADDRESS_MASK;
}

static inline void load_pair(WorkerState *w, const uint8_t *sram, uint32_t address, uint32_t r)
{
    if (r < 8) {
        memcpy(&w->a[r], sram + (address - SRAM_BASE), 8);
    }
}

/* One paced access with nothing out of the ordinary; false, and nothing changed, otherwise. */
static inline __attribute__((always_inline)) bool
access_paced(Exec *x, const Op *op, Pace *pace, int loads, bool is_store, uint8_t *sram)
{
    WorkerState *w = x->worker;
    int pair = loads == 0 ? 1 : 2;
    if (__builtin_expect(pace->pair != op->r[pair] || pace->stride_register != op->r[pair + 1],
                         0)) {
        close_pace(x, pace);
        if (!open_pace(x, op, pair, pace)) {
            return false;
        }
    }
    if (__builtin_expect((loads >= 1 && !is_inside(pace, 0)) ||
                             (loads == 2 && !is_inside(pace, 1)) ||
                             (is_store && !is_inside(pace, 2)),
                         0) &&
        !renew_windows(x, pace, loads >= 1, loads == 2, is_store)) {
        return false;
    }
    uint32_t a0 = pace->address[0], a1 = pace->address[1], a2 = pace->address[2];
    if ((loads == 2 && pace->is_close[0] && same_element(a0, a1)) ||
        (loads >= 1 && is_store && pace->is_close[1] && same_element(a0, a2)) ||
        (loads == 2 && is_store && pace->is_close[2] && same_element(a1, a2))) {
        return false;
    }
    uint32_t selectors = (uint32_t)op->imm;
    if (is_store) {
        memcpy(sram + (a2 - SRAM_BASE), &w->a[op->r[loads == 0 ? 0 : 1]], 8);
        move(pace, 2, selectors >> (2 * loads));
    }
    if (loads >= 1) {
        load_pair(w, sram, a0, op->r[0]);
        move(pace, 0, selectors);
    }
    if (loads == 2) {
        load_pair(w, sram, a1, is_store ? op->r[0] + 2u : op->r[1]);
        move(pace, 1, selectors >> 2);
    }
    return true;
}

/* The main half of a bundle on the fast path; false: take op->run. */
static inline __attribute__((always_inline)) bool run_main_fast(Exec *x, const Op *op, Pace *pace,
                                                                uint8_t *sram)
{
    switch (op->code) {
    case INSN_ld2x64pace_mmbn_ef:
        return access_paced(x, op, pace, 2, false, sram);
    case INSN_ldst64pace_mbbn_ef:
        return access_paced(x, op, pace, 1, true, sram);
    case INSN_ld2xst64pace_mbbn_ef:
        return access_paced(x, op, pace, 2, true, sram);
    case INSN_st64pace_mbmn_ef:
        return access_paced(x, op, pace, 0, true, sram);
    case INSN_setzi_mmmn_zi: /* nop */
        return op->r[0] == 14 && op->imm == 0;
    default:
        return false;
    }
}

static bool run_main_plain(Exec *x, const Op *op)
{
    return (*x->m_poison & op->m_hard) != 0 ? exec_poison_fault(x, op) : op->run(x, op);
}

/* Where a repeat body begins and ends among the instructions of a page; outside it when the body does. */
typedef struct Body {
    const Op *first, *end;
} Body;

static Body body_of(const WorkerState *w, const CodePage *page, uint32_t page_address)
{
    uint32_t first = w->rpt_first - page_address, end = w->rpt_end - page_address;
    bool is_inside = w->rpt_count != 0 && first < CODE_PAGE_BYTES && end <= CODE_PAGE_BYTES;
    return is_inside ? (Body){page->op + first / 4, page->op + end / 4} : (Body){NULL, NULL};
}

/* First bundle from `op` on that a run of this instruction does not take. */
static const Op *end_of_run(const Op *op, const Op *page_end, uint16_t code)
{
    while (op < page_end && (op->flags & OP_AMP) != 0 && op[1].code == code) {
        op += 2;
    }
    return op;
}

AVX512_INLINE AmpRun run_avx512(Exec *x, const Op *op, WideKind kind)
{
    WorkerState *w = x->worker;
    TileState *tile = x->tile;
    uint8_t *const sram = tile->sram;
    const uint32_t number = (x->pc - SRAM_BASE) / CODE_PAGE_BYTES;
    const uint32_t page_address = SRAM_BASE + number * CODE_PAGE_BYTES;
    CodePage *const *current = &tile->code->page[0][number];
    const CodePage *const page = *current;
    const Op *const page_end = page->op + CODE_PAGE_WORDS;
    const Body body = body_of(w, page, page_address);
    if (w->rpt_count != 0 && body.first == NULL) {
        return AMP_RUN_NONE;
    }
    const uint16_t code = op[1].code;
    const Op *first = op, *end = end_of_run(op, page_end, code);
    const Cycles rotation = x->shared->timing.worker_rotation, begin = x->cycle;
    const AmpSource source = kind == WIDE_HALVES ? SOURCE_F16 : SOURCE_F8;
    const double *const weights = (const double *)amp_weights(x, source, 0);
    const size_t phase_stride = (size_t)amp_elements(source) * AMP_ROWS;
    const WideNumbers numbers = wide_numbers(x, kind);
    WideSums sums = wide_load(w);
    Pace pace = {.pair = NO_REGISTER, .stride_register = NO_REGISTER};
    int64_t issued = 0;
    const int64_t allowed = (x->limit - begin) / rotation; /* the bundle behind passes the limit */
    bool has_poison = w->a_poison != 0;
    AmpRun result = AMP_RUN_DONE;
    const Op *last = op;
    while (op != end) {
        const Op *aux = op + 1;
        uint64_t out;
        if (__builtin_expect(has_poison, 0) && (w->a_poison & aux->a_read) != 0) {
            break;
        }
        if (!wide_step(w, aux, kind, weights + (size_t)(aux->imm & 3) * phase_stride, &numbers,
                       &sums, &out)) {
            break;
        }
        issued++;
        last = op;
        bool is_plain = has_poison || !run_main_fast(x, op, &pace, sram);
        if (__builtin_expect(is_plain, 0)) {
            close_pace(x, &pace);
            x->pc = page_address + 4 * (uint32_t)(op - page->op);
            x->cycle = begin + (issued - 1) * rotation;
            if (!run_main_plain(x, op)) {
                result = AMP_RUN_STOPPED;
                break;
            }
        }
        if (aux->result_count != 0) {
            memcpy(&w->a[aux->result], &out, sizeof out);
        }
        op += 2;
        if (__builtin_expect(is_plain, 0)) {
            uint32_t written = aux->result_count != 0 ? 3u << aux->result : 0;
            w->a_poison &= (uint16_t)~written;
            has_poison = w->a_poison != 0;
            end = *current != page ? op : end;
        }
        if (op == body.end && w->rpt_count != 0 && --w->rpt_count != 0) {
            op = body.first;
            if (__builtin_expect(op < first || *current != page, 0)) {
                first = op;
                end = *current != page ? op : end_of_run(op, page_end, code);
            }
        }
        if (__builtin_expect(issued > allowed, 0)) {
            tile->stop = TILE_STOP_LIMIT;
            result = AMP_RUN_STOPPED;
            break;
        }
    }
    close_pace(x, &pace);
    wide_store(w, sums);
    tile->amp_instructions += issued;
    tile->instructions += issued;
    if (issued > 0) {
        x->pc = page_address + 4 * (uint32_t)(last - page->op);
    }
    if (result == AMP_RUN_DONE || tile->stop == TILE_STOP_LIMIT) {
        x->cycle = begin + issued * rotation;
        x->next_pc = page_address + 4 * (uint32_t)(op - page->op);
    }
    return result == AMP_RUN_DONE && issued == 0 ? AMP_RUN_NONE : result;
}

AVX512 static AmpRun run_halves(Exec *x, const Op *op)
{
    return run_avx512(x, op, WIDE_HALVES);
}

AVX512 static AmpRun run_f143(Exec *x, const Op *op)
{
    return run_avx512(x, op, WIDE_F143);
}

AVX512 static AmpRun run_f8(Exec *x, const Op *op)
{
    return run_avx512(x, op, WIDE_F8);
}

AmpRun exec_amp_run(Exec *x, const Op *op)
{
    if (amp_is_unusual(x, op + 1)) {
        return AMP_RUN_NONE;
    }
    if (op[1].code != INSN_f8v8hihov4amp_aaan_ef) {
        return run_halves(x, op);
    }
    return (x->worker->fp_nfmt & 3) == 3 ? run_f143(x, op) : run_f8(x, op);
}

bool exec_amp_can_run(const Op *aux, MachineVectors vectors)
{
    return vectors == VECTORS_BEST && amp_has_avx512() &&
           (aux->code == INSN_f8v8hihov4amp_aaan_ef || aux->code == INSN_f16v4hihov4amp_aaan_ef) &&
           aux->imm >= 0 && aux->imm <= 3;
}
