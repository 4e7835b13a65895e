/* Random numbers and random masks of a worker. isa/semantics.md 8.3. Everything takes one step of the generator.
 *
 * Choices of ours (docs/machine.md): element i of a mask takes bits 16 i .. 16 i + 15 of the step. How Gaussian numbers are made
 * is not documented: `--unknown=assume` sums twelve 5-bit fields, subtracts 186 and divides by 32, as the reference of the
 * vendor (declared inexact) does; the second number takes its fields from the step times an odd constant.
 */
#include "machine/exec.h"

static void out_random(Exec *x, uint32_t lo, uint32_t hi)
{
    x->out[0] = lo;
    x->out[1] = hi;
    x->out_poison = x->worker->prng_undefined ? 3 : 0;
}

static bool uniform(Exec *x, const Op *op)
{
    (void)op;
    uint64_t step = exec_random(x->worker);
    out_random(x, (uint32_t)step, (uint32_t)(step >> 32));
    return true;
}

static float gaussian_of(uint64_t step)
{
    int sum = -186;
    for (int i = 0; i < 12; i++) {
        sum += (int)(step >> (5 * i) & 31);
    }
    return (float)sum / 32.0f;
}

static bool gaussian(Exec *x, const Op *op, float v[2])
{
    if (!EXEC_ASSUME(x, GAUSSIAN, "%s", isa_form((InsnCode)op->code)->mnemonic)) {
        return false;
    }
    uint64_t step = exec_random(x->worker);
    v[0] = gaussian_of(step);
    v[1] = gaussian_of(step * 0x9e3779b97f4a7c15u);
    return true;
}

static bool gaussian_floats(Exec *x, const Op *op)
{
    float v[2];
    if (!gaussian(x, op, v)) {
        return false;
    }
    out_random(x, bits_of_f32(v[0]), bits_of_f32(v[1]));
    return true;
}

/* Multiples of 1/32 below 8: exact in f16. */
static bool gaussian_halves(Exec *x, const Op *op)
{
    float v[2];
    if (!gaussian(x, op, v)) {
        return false;
    }
    out_random(x, math_f16_of_f64((double)v[0]) | (uint32_t)math_f16_of_f64((double)v[1]) << 16, 0);
    return true;
}

/* Elements of `bits` bits: kept with probability p[15:0] / 65536, or all when p[16] is set; else zero. */
static bool mask(Exec *x, const Op *op, int bits)
{
    WorkerState *w = x->worker;
    uint64_t step = exec_random(w), value = w->a[op->r[1]] | (uint64_t)w->a[op->r[1] + 1] << 32;
    uint32_t p = w->a[op->r[2]];
    uint64_t element = ((uint64_t)1 << bits) - 1;
    bool is_copy = (p >> 16 & 1) != 0;
    for (int i = 0; i < 64 / bits && !is_copy; i++) {
        bool is_kept = (step >> (16 * i) & 0xffff) < (p & 0xffff);
        value &= is_kept ? ~(uint64_t)0 : ~(element << (bits * i));
    }
    bool is_random = w->prng_undefined != 0 && !is_copy;
    uint32_t undefined = (uint32_t)w->a_poison >> op->r[1] & 3;
    x->out[0] = (uint32_t)value;
    x->out[1] = (uint32_t)(value >> 32);
    x->out_poison = is_random || (w->a_poison >> op->r[2] & 1) != 0 ? 3 : (uint8_t)undefined;
    return true;
}

static bool mask_floats(Exec *x, const Op *op)
{
    return mask(x, op, 32);
}

static bool mask_halves(Exec *x, const Op *op)
{
    return mask(x, op, 16);
}

Executor exec_random_find(InsnCode code)
{
    switch (code) {
    case INSN_f32v2grand_aaan:
        return gaussian_floats;
    case INSN_f16v2grand_aaan:
        return gaussian_halves;
    case INSN_f32v2rmask_aaan:
        return mask_floats;
    case INSN_f16v4rmask_aaan:
        return mask_halves;
    default:
        return uniform;
    }
}
