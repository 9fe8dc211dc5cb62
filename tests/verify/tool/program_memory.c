/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Patterns of addresses over the lanes of a warp, for coalescing, caches and TLB. Loads are from a read-only table or
 * from zero pages. Stores go to words that one work-item has alone, which share lines and pages.
 */
#include "program.h"

#define REPLACE 8u /* addresses of item_replace that are in registers at a time */

/** A load of 1 << size bytes, signed or unsigned. */
static uint32_t load(struct code *c, uint32_t size, uint32_t imm, uint32_t base)
{
    return asm_i(0x03, size == 2 ? 2 : size + 4 * rng_below(c->r, 2), any_dest(c), base, imm);
}

/** x7 = an offset in the table, a multiple of 1 << size. */
static void table_offset(struct code *c, uint32_t size)
{
    static const uint16_t strides[] = {4, 8, 12, 28, 60, 64, 68, 128, 252, 260, 1020, 1092};
    static const char *const names[] = {"unit stride", "stride", "gather", "broadcast", "reversed"};
    uint32_t kind = rng_below(c->r, COUNT(names)), stride = 1u << size;
    switch (kind) {
    case 1:
        stride = strides[rng_below(c->r, COUNT(strides))];
        break;
    case 3:
        stride = 0;
        break;
    case 4:
        stride = 0u - stride;
        break;
    default:
        break;
    }
    code_say(c, "%s %d, ", names[kind], (int32_t)stride);
    if (kind == 2) {
        emit(c, asm_srli(X7, any_value(c), 32 - TABLE_LOG2));
    } else {
        emit_li(c, X8, stride);
        emit(c, asm_mul(X7, X9, X8));
        if (rng_one_in(c->r, 2)) {
            emit_li(c, X8, rng_below(c->r, 1u << TABLE_LOG2));
            emit(c, asm_add(X7, X7, X8));
        }
        emit(c, asm_slli(X7, X7, 32 - TABLE_LOG2));
        emit(c, asm_srli(X7, X7, 32 - TABLE_LOG2));
    }
    emit(c, asm_andi(X7, X7, 0u - (1u << size)));
}

/** Loads from the read-only table or from zero pages that cross lines and pages, by lane. */
void item_load(struct code *c)
{
    uint32_t size = rng_below(c->r, 3), zero = rng_one_in(c->r, 4), n = 1 + rng_below(c->r, 3);
    code_say(c, "load %u bytes %u times, ", 1u << size, n);
    table_offset(c, size);
    code_say(c, "from %s", zero ? "zero pages" : "the table");
    emit_li(c, X8, c->plan->va[zero ? REGION_ZERO : REGION_TABLE]);
    emit(c, asm_add(X7, X7, X8));
    emit(c, load(c, size, 0, X7));
    while (--n) { /* the table has a page more than the offsets reach */
        uint32_t next = rng_below(c->r, 0x7ff) & ~((1u << size) - 1);
        emit(c, load(c, size, next, X7));
        if (rng_one_in(c->r, 2)) {
            plain_integer(c);
        }
    }
}

/** Loads from pages that a register selects: as many translations as there are lanes. */
void item_wide(struct code *c)
{
    uint32_t n = 1 + rng_below(c->r, 4), log2 = c->plan->physical ? TABLE_LOG2 : WIDE_LOG2;
    code_say(c, "%u loads from anywhere in %u pages", n, 1u << (log2 - 12));
    for (; n; n--) {
        uint32_t size = rng_below(c->r, 3);
        emit_li(c, X8, rng_next(c->r) | 1u);
        emit(c, rng_one_in(c->r, 2) ? asm_mul(X7, X9, X8) : asm_mul(X7, any_value(c), X8));
        emit(c, asm_srli(X7, X7, 32 - log2));
        emit(c, asm_andi(X7, X7, 0u - (1u << size)));
        emit_li(c, X8, c->plan->va[REGION_WIDE]);
        emit(c, asm_add(X7, X7, X8));
        emit(c, load(c, size, 0, X7));
    }
}

/** Memory instructions in a row to the work-item's own memory, which must not overtake each other. */
void item_burst(struct code *c)
{
    uint32_t n = 4 + rng_below(c->r, 10);
    code_say(c, "%u memory instructions in a row", n);
    for (; n; n--) {
        rng_one_in(c->r, 4) ? plain_atomic(c, SP) : plain_memory(c);
    }
}

/** Each work-item writes and reads back a word in the item's part of the scatter region, in a permuted order. */
void item_scatter(struct code *c)
{
    const struct kernel_plan *k = c->kernel;
    uint32_t factor = rng_one_in(c->r, 3) ? 1 : 2 * rng_below(c->r, 64) + 1, size, mask = (1u << k->records_log2) - 1;
    code_say(c, "scatter to word (%u * item) mod %u and read back", factor, mask + 1);
    emit_li(c, X7, factor);
    emit(c, asm_mul(X7, X7, X9));
    emit_li(c, X8, mask);
    emit(c, asm_r(0x33, 7, 0, X7, X7, X8));
    emit_li(c, X8, kernel_va(c->plan, c->index, KERNEL_SCATTER) + ((c->item - k->first_item) << (k->records_log2 + 2)));
    emit(c, asm_shadd(2, X7, X7, X8));
    for (uint32_t n = 1 + rng_below(c->r, 3); n; n--) {
        size = rng_below(c->r, 3);
        emit(c, asm_s(size, any_source(c), rng_below(c->r, 4) & ~((1u << size) - 1), X7));
        if (rng_one_in(c->r, 3)) {
            plain_integer(c);
        }
        if (rng_one_in(c->r, 8)) {
            emit(c, ASM_FENCE);
        }
        size = rng_below(c->r, 3);
        emit(c, load(c, size, rng_below(c->r, 4) & ~((1u << size) - 1), X7));
    }
}

/** Bytes from one address of a work-item's scratch to its next one in the alias region, and how many there are; *delta:
 *  from its own address to the first of them. */
static uint32_t aliases(const struct code *c, uint32_t *copies, uint32_t *delta)
{
    const uint32_t *bytes = &c->plan->bytes[FIRST_REGION + c->index * KERNEL_REGIONS];
    uint32_t apart = (bytes[KERNEL_DATA] + PAGE - 1) / PAGE * PAGE;
    *copies = c->plan->physical ? 1 : bytes[KERNEL_ALIAS] / apart;
    *delta = kernel_va(c->plan, c->index, KERNEL_ALIAS) - kernel_va(c->plan, c->index, KERNEL_DATA);
    return apart;
}

/** Scratch memory by a second virtual address. Caches by virtual address would need the fences; memory is the same.
 *  There are many such addresses, so that the access is mostly the first one to its page and waits for its page-table
 *  entry. A store by the first address, whose entry is known, follows it. */
void item_alias(struct code *c)
{
    uint32_t copies, delta, apart = aliases(c, &copies, &delta);
    code_say(c, "store and load by two addresses of one page");
    for (uint32_t n = 1 + rng_below(c->r, 3); n; n--) {
        emit_li(c, X7, delta + apart * (copies > 1 ? rng_below(c->r, copies) : 0));
        emit(c, asm_add(X7, X7, X4));
        uint32_t at = rng_below(c->r, SCRATCH) & ~3u;
        bool forth = rng_one_in(c->r, 2);
        emit(c, load(c, 2, at, forth ? X7 : X4));
        emit(c, asm_sw(any_source(c), at, forth ? X4 : X7));
        emit(c, ASM_FENCE);
        emit(c, load(c, 2, at, forth ? X7 : X4));
    }
    emit(c, ASM_FENCE);
}

/** Loads from more pages than a TLB has entries, and between them stores to scratch by its many addresses. A store
 *  waits for the walks before it, though the entry of its own page is known: these replace it meanwhile. The loads are
 *  from the table alone, because caches by virtual address do not see the stores. */
void item_replace(struct code *c)
{
    uint32_t copies, delta, apart = aliases(c, &copies, &delta), word = rng_below(c->r, SCRATCH / 4),
        n = 12 + rng_below(c->r, 20), stores = 2 + rng_below(c->r, REPLACE - 3);
    code_say(c, "%u loads from anywhere and stores by %u addresses of one page", n, copies);
    for (uint32_t i = 0; i < REPLACE; i++) { /* registers with addresses, the first ones of scratch */
        uint32_t rd = FIRST_VALUE + i;
        emit_li(c, X8, rng_next(c->r) | 1u);
        emit(c, asm_mul(X7, X9, X8));
        if (i < stores) {
            emit(c, asm_srli(X7, X7, 16));
            emit_li(c, X8, copies);
            emit(c, asm_remu(X7, X7, X8));
            emit_li(c, X8, apart);
            emit(c, asm_mul(X7, X7, X8));
            emit_li(c, X8, delta);
            emit(c, asm_add(X7, X7, X8));
            emit(c, asm_add(rd, X7, X4));
        } else {
            emit(c, asm_srli(X7, X7, 32 - (WIDE_LOG2 - 12)));
            emit(c, asm_slli(X7, X7, 12));
            emit_li(c, X8, c->plan->va[REGION_WIDE]);
            emit(c, asm_add(rd, X7, X8));
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t which = rng_below(c->r, REPLACE), base = FIRST_VALUE + which,
            rd = FIRST_VALUE + REPLACE + i % (32 - FIRST_VALUE - REPLACE);
        if (which < stores) { /* each to a word of its own: nothing orders stores by two addresses */
            emit(c, asm_sw(any_source(c), (word + i) % (SCRATCH / 4) * 4, base));
        } else {
            emit(c, asm_lw(rd, 4 * rng_below(c->r, PAGE / 8), base));
        }
    }
    emit(c, ASM_FENCE);
}

/** One instruction of a crowd, to a word that the work-item has alone. If it swaps, the register holds the value to
 * compare with. */
static void crowd_one(struct code *c, uint32_t kind, uint32_t base, uint32_t at, uint32_t reg)
{
    static const uint8_t amos[] = {AMOADD, AMOSWAP, AMOXOR, AMOOR, AMOAND, AMOMIN, AMOMAX, AMOMINU, AMOMAXU};
    uint32_t size = rng_below(c->r, 3);
    switch (kind) {
    case 0:
        emit(c, asm_addi(X7, base, at));
        emit(c, asm_amo(AMOCAS, rng_below(c->r, 4), reg, any_source(c), X7));
        break;
    case 1:
        emit(c, asm_addi(X7, base, at));
        emit(c, asm_amo(amos[rng_below(c->r, COUNT(amos))], rng_below(c->r, 4), reg, any_source(c), X7));
        break;
    case 2:
        emit(c, asm_s(size, any_source(c), at, base));
        break;
    default:
        emit(c, asm_i(0x03, size == 2 ? 2 : size + 4 * rng_below(c->r, 2), reg, base, at));
        break;
    }
}

/** All work-items run memory instructions of one kind, none of which waits for another: each lane to a line of its own,
 *  or words of one line, where atomics wait for each other. A stop then finds many of them begun and not ended. Swaps
 *  compare with the memory's value or with another. */
void item_crowd(struct code *c)
{
    static const char *const kinds[] = {"compare and swap", "atomic", "store", "load"};
    uint32_t n = 3 + rng_below(c->r, 6), kind = rng_one_in(c->r, 2) ? 0 : rng_below(c->r, 4), at[8], reg[8];
    uint32_t first = rng_below(c->r, 32 - FIRST_VALUE), base = rng_one_in(c->r, 2) ? X4 : X6;
    code_say(c, "%u times %s by everybody%s, none waits for another", n, kinds[kind],
             base == X6 ? " side by side" : "");
    if (base == X6) {
        emit_li(c, X6, kernel_va(c->plan, c->index, KERNEL_SCATTER) +
                           ((c->item - c->kernel->first_item) << (c->kernel->records_log2 + 2)));
        emit(c, asm_shadd(2, X6, X9, X6));
    }
    for (uint32_t i = 0; i < n; i++) {
        at[i] = base == X6 ? 0 : 4 * rng_below(c->r, SCRATCH / 4);
        reg[i] = FIRST_VALUE + (first + i) % (32 - FIRST_VALUE);
        if (kind == 0 && !rng_one_in(c->r, 4)) {
            emit(c, asm_lw(reg[i], at[i], base));
        }
    }
    if (c->kernel->barriers) {
        emit(c, ASM_BARRIER);
    }
    for (uint32_t i = 0; i < n; i++) {
        crowd_one(c, kind, base, at[i], reg[i]);
    }
}
