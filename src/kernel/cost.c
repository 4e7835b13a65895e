/* Cycles of one call, from its `call` to the instruction behind it, launch included.
 *
 * Forms follow from the code (issues of the busiest worker, one issue = six cycles; tile-timing.md 2.1); constants are calibrated
 * on the machine model and held to it by tests/kernel/test_cost.c. Setting up $m0 and patching the argument table belong to
 * the caller. Addresses are unknown here, so gemm_f16 is priced with 64-bit coefficient loads, the slower case; coefficients
 * that lie in region 1 save 32 cycles a panel.
 */
#include "base/bits.h"
#include "kernel/catalogue.h"

enum {
    WORKERS = 6,
    ISSUE = 6,
    PANEL = 16,
    QUAD = 4,
    BARRIER = 39,
};

/* Units of work of the busiest worker when unit u goes to worker u mod 6. */
static int64_t share_of(int64_t units)
{
    return div_up(units, WORKERS);
}

/* kernels.md 2.3: period per panel = 6 I + W + o, I = issues of a worker with n rows. o = waiting for the slot of the last worker
 * and loop bookkeeping, which hides behind the longer workers when the rows do not divide by six. */
static Cycles cost_gemm(const KernelCall *call)
{
    enum { LOADS = 64 };
    static const int OVERHEAD[WORKERS] = {20, 8, 11, 12, 12, 13}; /* rows mod 6 */
    int64_t n = share_of(call->rows), panels = div_up(call->inner, PANEL);
    int64_t groups = div_up(call->cols, PANEL);
    int64_t issues = n == 1 ? 13 : n == 2 ? 19 : 4 * n + 12;
    int64_t period = ISSUE * issues + LOADS + OVERHEAD[call->rows % WORKERS];
    int64_t group = (n == 2 ? 24 : 18) + (call->rows % WORKERS == 0 ? 9 : 0);
    int64_t start = n == 1 ? 236 : n == 2 ? 261 : 267;
    return start + groups * panels * period + (groups - 1) * group;
}

static Cycles cost_bias(const KernelCall *call)
{
    int64_t units = share_of(call->cols / QUAD);
    return 103 + units * (84 + 2 * ISSUE * (call->rows - 1));
}

static Cycles cost_add(const KernelCall *call)
{
    return 159 + 3 * ISSUE * share_of(call->rows * call->cols / QUAD);
}

static Cycles cost_gelu(const KernelCall *call)
{
    int64_t n = share_of(call->rows * call->cols / QUAD);
    return n == 1 ? 267 : 351 + 9 * ISSUE * (n - 2);
}

/* A round: four launches; 4 + 20 + 28 issues a panel, and one issue per segment, twice, for adding up the partial sums. */
static Cycles layernorm_round(int64_t panels, int64_t segments)
{
    return 458 + 2 * ISSUE * segments + 52 * ISSUE * div_up(panels, segments);
}

int64_t layernorm_segments(int64_t rows, int64_t panels)
{
    static const int CHOICES[] = {1, 2, 3, 6};
    int64_t best = 1, last = (rows - 1) % WORKERS + 1;
    for (int i = 1; i < 4 && CHOICES[i] <= panels && CHOICES[i] * last <= WORKERS; i++) {
        if (layernorm_round(panels, CHOICES[i]) < layernorm_round(panels, best)) {
            best = CHOICES[i];
        }
    }
    return best;
}

/* All rounds but the last give every worker a whole row; the last one starts from the argument table again. */
static Cycles cost_layernorm(const KernelCall *call)
{
    int64_t panels = call->cols / PANEL, rounds = share_of(call->rows);
    return 264 + (rounds > 1 ? 117 : 0) + (rounds - 1) * layernorm_round(panels, 1) +
           layernorm_round(panels, layernorm_segments(call->rows, panels));
}

static Cycles cost_softmax(const KernelCall *call)
{
    static const int LAST_QUAD[QUAD] = {0, 186, 156, 144}; /* by its number of keys */
    int64_t keys = call->inner, whole = keys / PANEL, quads = keys % PANEL / QUAD;
    int64_t zero_quads = call->cols / QUAD - div_up(keys, QUAD), zero_panels = zero_quads / QUAD;
    int64_t row =
        138 + 26 * ISSUE * whole + 9 * ISSUE * quads + LAST_QUAD[keys % QUAD] + ISSUE * zero_quads;
    int64_t tail = zero_panels == 0 ? 0 : keys % PANEL == 0 ? 18 : 36;
    return 262 + share_of(call->rows) * (row + tail);
}

static Cycles cost_normalise(const KernelCall *call)
{
    return 158 + share_of(call->rows) * (68 + 8 * ISSUE * (call->cols / PANEL));
}

static Cycles cost_transpose(const KernelCall *call)
{
    int64_t units = share_of(call->rows * call->cols / (PANEL * QUAD));
    return 103 + 378 * units;
}

static Cycles cost_reduce(const KernelCall *call)
{
    int64_t octets = share_of(call->rows * call->cols / (2 * QUAD));
    return 165 + octets * (66 + 2 * ISSUE * (call->inner - 1));
}

/* rows = runs, cols = words of a run; the kernels' own rule decides how runs are divided. */
static Cycles cost_plain(const KernelCall *call, int64_t issues_per_word, int64_t whole,
                         int64_t parts, int64_t per_run)
{
    bool is_whole = call->cols < 8 * call->rows;
    int64_t runs = is_whole ? share_of(call->rows) : call->rows;
    int64_t words = is_whole ? call->cols : share_of(call->cols);
    return (is_whole ? whole : parts) + runs * (per_run + ISSUE * issues_per_word * words);
}

Cycles kernel_cost(const KernelCall *call)
{
    switch (call->kernel) {
    case KERNEL_gemm_f16:
        return cost_gemm(call);
    case KERNEL_bias_f16:
        return cost_bias(call);
    case KERNEL_add_f16:
        return cost_add(call);
    case KERNEL_gelu_f16:
        return cost_gelu(call);
    case KERNEL_layernorm_f16:
        return cost_layernorm(call);
    case KERNEL_softmax_f16:
        return cost_softmax(call);
    case KERNEL_normalise_f16:
        return cost_normalise(call);
    case KERNEL_transpose_f16:
        return cost_transpose(call);
    case KERNEL_reduce_f16:
        return cost_reduce(call);
    case KERNEL_copy64:
        return cost_plain(call, 2, 187, 197, 42);
    case KERNEL_fill64:
        return cost_plain(call, 1, 159, 183, 24);
    case KERNEL_barrier:
    case KERNEL_none:
    case KERNEL_COUNT:
        break;
    }
    ASSERT(call->kernel == KERNEL_barrier);
    return BARRIER;
}
