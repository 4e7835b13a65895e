/* Loads into aux registers and the paced accesses of isa/semantics.md 4.2, inline: exec_memory.c runs them one by one
 * (exec_amp_run.c has its own, which leave what is out of the ordinary to these). Private to the room.
 */
#pragma once
#include "machine/exec.h"

/* Two accesses meet in one element: false and a fault. With the check off true: both happen, the store first. */
bool access_conflict(Exec *x, const Op *op, uint32_t a, uint32_t b);

static inline void watch_loaded(Exec *x, uint32_t address, uint32_t words, uint32_t reg)
{
    if (__builtin_expect(x->watch != NULL, 0)) {
        watch_load(x, address & ~3u, words, reg);
    }
}

/* Main registers: $m12 and up are no storage. */
static inline uint32_t watch_main(uint32_t r)
{
    return r < 12 ? r : WATCH_NOWHERE;
}

/* Writes `count` words to aux registers `first`...; registers from 8 on take nothing. */
static inline void load_aux(Exec *x, uint32_t address, uint32_t first, uint32_t count)
{
    WorkerState *w = x->worker;
    watch_loaded(x, address, count, first < 8 ? WATCH_AUX + first : WATCH_NOWHERE);
    if (first >= 8) {
        return;
    }
    memcpy(&w->a[first], sram_at(x, address), 4 * (size_t)count);
    unsigned poison = poison_of(x, address, count);
    if (__builtin_expect((w->a_poison | poison) != 0, 0)) {
        uint32_t mask = (1u << count) - 1;
        w->a_poison = (uint16_t)((w->a_poison & ~(mask << first)) | poison << first);
    }
}

/* One half in both halves, one byte in all four. */
static inline void load_spread(Exec *x, uint32_t address, uint32_t r, uint32_t bytes)
{
    uint32_t value = 0;
    watch_loaded(x, address, 1, r < 8 ? WATCH_AUX + r : WATCH_NOWHERE);
    if (r >= 8) {
        return;
    }
    memcpy(&value, sram_at(x, address), bytes);
    x->worker->a[r] = bytes == 2 ? value * 0x10001u : value * 0x1010101u;
    x->worker->a_poison =
        (uint16_t)((x->worker->a_poison & ~(1u << r)) | poison_of(x, address & ~3u, 1) << r);
}

/* Bytes that a pointer moves by: semantics.md 4.2. */
static inline uint32_t stride_of(uint32_t strides, uint32_t selector)
{
    uint64_t atoms = (uint64_t)strides << 10 | 1; /* selector 0: one atom */
    return (uint32_t)sign_extend((uint32_t)(atoms >> (10 * selector)) & 0x3ff, 10) * 8;
}

typedef struct Pointers {
    uint32_t address[3];
} Pointers;

static inline Pointers unpack(const uint32_t *m)
{
    return (Pointers){{m[0] & ADDRESS_MASK, m[1] & ADDRESS_MASK,
                       (m[0] >> 21 & 0x7ff) | (m[1] >> 21 & 0x3ff) << 11}};
}

/* Bit 31 of the second register is unused and kept. */
static inline void repack(uint32_t *m, Pointers p)
{
    m[0] = (p.address[0] & ADDRESS_MASK) | (p.address[2] & 0x7ff) << 21;
    m[1] =
        (p.address[1] & ADDRESS_MASK) | (p.address[2] >> 11 & 0x3ff) << 21 | (m[1] & 0x80000000u);
}

static inline __attribute__((always_inline)) bool two_loads(Exec *x, const Op *op)
{
    uint32_t second_bytes = op->code == INSN_ld2x64pace_mmbn_ef    ? 8
                            : op->code == INSN_ld64a32pace_mmbn_ef ? 4
                                                                   : 2;
    Pointers p = unpack(&x->m[op->r[2]]);
    uint32_t strides = x->m[op->r[3]], a0 = p.address[0], a1 = p.address[1];
    if (!access_check(x, &a0, 8) || !access_check(x, &a1, second_bytes)) {
        return false;
    }
    if (same_element(a0, a1) && !access_conflict(x, op, a0, a1)) {
        return false;
    }
    load_aux(x, a0, op->r[0], 2);
    if (second_bytes == 2) {
        load_spread(x, a1, op->r[1], 2);
    } else {
        load_aux(x, a1, op->r[1], second_bytes / 4);
    }
    p.address[0] += stride_of(strides, op->imm & 3);
    p.address[1] += stride_of(strides, op->imm >> 2 & 3);
    repack(&x->m[op->r[2]], p);
    return true;
}

/* Store and loads see the registers before the instruction, so the store comes first; it cannot hit a loaded address because
 * the elements differ. */
static inline __attribute__((always_inline)) bool loads_and_store(Exec *x, const Op *op,
                                                                  int load_count)
{
    WorkerState *w = x->worker;
    Pointers p = unpack(&x->m[op->r[2]]);
    uint32_t strides = x->m[op->r[3]], a0 = p.address[0], a1 = p.address[1], a2 = p.address[2];
    if (!access_check(x, &a0, 8) || (load_count == 2 && !access_check(x, &a1, 8)) ||
        !access_check(x, &a2, 8)) {
        return false;
    }
    if (same_element(a0, a2) && !access_conflict(x, op, a0, a2)) {
        return false;
    }
    if (load_count == 2 && (same_element(a0, a1) || same_element(a1, a2)) &&
        !access_conflict(x, op, a1, same_element(a0, a1) ? a0 : a2)) {
        return false;
    }
    if (!store_words(x, a2, &w->a[op->r[1]], 2, (uint32_t)w->a_poison >> op->r[1] & 3)) {
        return false;
    }
    uint32_t selectors = (uint32_t)op->imm;
    load_aux(x, a0, op->r[0], 2);
    p.address[0] += stride_of(strides, selectors & 3);
    if (load_count == 2) {
        load_aux(x, a1, op->r[0] + 2u, 2);
        p.address[1] += stride_of(strides, selectors >> 2 & 3);
        selectors >>= 2;
    }
    p.address[2] += stride_of(strides, selectors >> 2 & 3);
    repack(&x->m[op->r[2]], p);
    return true;
}

static inline __attribute__((always_inline)) bool paced_store(Exec *x, const Op *op)
{
    WorkerState *w = x->worker;
    Pointers p = unpack(&x->m[op->r[1]]);
    uint32_t address = p.address[2];
    if (!access_check(x, &address, 8) ||
        !store_words(x, address, &w->a[op->r[0]], 2, (uint32_t)w->a_poison >> op->r[0] & 3)) {
        return false;
    }
    p.address[2] += stride_of(x->m[op->r[2]], op->imm & 3);
    repack(&x->m[op->r[1]], p);
    return true;
}
