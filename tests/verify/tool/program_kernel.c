/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The parts of a random kernel before and after its items, which are pieces of generated code. At the start a work-item
 * finds its record, the memory in which it leaves its result, and initialises all registers and
 * the memory that plain code uses. At the end it stores all registers and fcsr to the record, so that a comparison of
 * memory is enough.
 */
#include <string.h>

#include "program.h"

/* streams of random numbers, so that these choices do not change those of the items */
#define END_STREAM 0x656e64000000ull
#define REPLACE_STREAM 0x7265706c0000ull
#define REPLACES 16u /* one item in so many is an item_replace, if addresses are virtual */

/** rd = (z * size_y + y) * size_x + x, with x, y, z in the CSRs from `id` on, and the sizes in those from `size` on. */
static void linear(struct code *c, uint32_t rd, uint32_t id, uint32_t size)
{
    if (c->kernel->packet.work_dim == 1) {
        emit(c, asm_csrr(rd, id));
        return;
    }
    emit(c, asm_csrr(rd, id + 2));
    for (uint32_t d = 2; d-- > 0;) {
        emit(c, asm_csrr(X8, size + d));
        emit(c, asm_mul(rd, rd, X8));
        emit(c, asm_csrr(X8, id + d));
        emit(c, asm_add(rd, rd, X8));
    }
}

void kernel_begin(struct code *c)
{
    const struct kernel_plan *k = c->kernel;
    linear(c, X7, TERN_CSR_LOCAL_ID_X, TERN_CSR_LOCAL_SIZE_X);
    linear(c, X9, TERN_CSR_GROUP_ID_X, TERN_CSR_NUM_GROUPS_X);
    emit_li(c, X8, k->full);
    emit(c, asm_mul(X9, X9, X8));
    emit(c, asm_add(X9, X9, X7));
    emit(c, asm_lw(X4, 0, A0)); /* the records, from the arguments */
    emit_li(c, X8, RECORD);
    emit(c, asm_mul(X8, X8, X9));
    emit(c, asm_add(X5, X4, X8));
    emit(c, asm_addi(X4, X5, RECORD_SCRATCH));
    emit(c, asm_sw(X7, RECORD_LID, X5));
    emit(c, asm_csrr(X6, TERN_CSR_LOCAL_SIZE_X));
    for (uint32_t d = 1; d < k->packet.work_dim; d++) {
        emit(c, asm_csrr(X8, TERN_CSR_LOCAL_SIZE_X + d));
        emit(c, asm_mul(X6, X6, X8));
    }
    emit(c, asm_sw(X6, RECORD_SIZE, X5));
    emit(c, asm_addi(SP, SP, 0u - AREA));
    if (k->local) {
        emit_li(c, X3, TERN_WIN_LOCAL_BASE);
        emit_li(c, X8, AREA);
        emit(c, asm_mul(X8, X8, X7));
        emit(c, asm_add(X3, X3, X8));
    } else {
        emit(c, asm_addi(X3, SP, 0));
    }
    for (uint32_t i = FIRST_VALUE; i < 32; i++) {
        emit(c, asm_lw(i, RECORD_VALUES + 4 * (i - FIRST_VALUE), X5));
    }
    emit(c, asm_addi(RA, X0, 0));
    for (uint32_t i = 0; i < AREA / 4; i++) {
        emit(c, asm_sw(16 + i, 4 * i, SP));
        if (k->local) {
            emit(c, asm_sw(10 + i, 4 * i, X3));
        }
    }
}

void kernel_end(struct code *c)
{
    struct rng r = rng_of(c->plan->seed, END_STREAM + c->index);
    for (uint32_t i = 0; i < c->n_exits; i++) {
        code_jump(c, c->exits[i], X0);
    }
    c->n_exits = 0;
    for (uint32_t i = 1; i < 32; i++) {
        emit(c, asm_sw(i, 4 * i, X5));
    }
    emit(c, asm_csrr(X7, TERN_CSR_FCSR));
    emit(c, asm_sw(X7, 0, X5));
    c->r = &r;
    come_late(c);
    emit(c, ASM_EXIT);
}

enum { ALWAYS, IF_BARRIERS, IF_EXITS };

/* The kinds of items. An item is chosen with a probability of its weight. `when`: kernels that may have the item. */
static const struct {
    uint8_t weight, when;
    void (*emit)(struct code *c);
} items[] = {
    {10, ALWAYS, item_straight},      {8, ALWAYS, item_float},         {3, ALWAYS, item_corner},
    {7, ALWAYS, item_classes},        {4, ALWAYS, item_exact},
    {3, ALWAYS, item_csr},            {8, ALWAYS, item_flow},          {8, ALWAYS, item_loop},
    {4, ALWAYS, item_switch},         {5, ALWAYS, item_call},          {3, ALWAYS, item_recursion},
    {3, ALWAYS, item_zigzag},         {1, ALWAYS, item_far},           {2, ALWAYS, item_page_end},
    {7, ALWAYS, item_load},           {3, ALWAYS, item_wide},          {4, ALWAYS, item_burst},
    {6, ALWAYS, item_scatter},        {2, ALWAYS, item_alias},         {2, ALWAYS, item_same},
    {4, ALWAYS, item_shared},         {2, ALWAYS, item_counter},       {2, ALWAYS, item_lock},
    {3, ALWAYS, item_reserve},        {6, ALWAYS, item_pairs},         {3, ALWAYS, item_reserve_pairs},
    {4, ALWAYS, item_crowd},          {8, IF_EXITS, item_exit},        {6, IF_BARRIERS, item_barrier},
    {12, IF_BARRIERS, item_exchange}, {6, IF_BARRIERS, item_histogram},
    {6, IF_BARRIERS, item_reservation_lost},
};

void item_emit(struct code *c, uint32_t item)
{
    uint32_t total = 0, i = 0;
    struct rng r = rng_of(c->plan->seed, item);
    c->item = item;
    c->r = &r;
    c->fresh[0] = any_value(c);
    c->fresh[1] = any_value(c);
    c->last[0] = c->last[1] = c->fresh[0];
    c->pool_va = c->plan->va[REGION_POOL] + item * POOL;
    struct rng replaces = rng_of(c->plan->seed, REPLACE_STREAM + item);
    const bool replace = !c->plan->physical && rng_one_in(&replaces, REPLACES), gate = item == c->kernel->gate_item;
    if ((gate || replace) && item != c->kernel->fault_item) {
        gate ? item_gate(c) : item_replace(c);
        return;
    }
    if (item == c->kernel->fault_item) {
        item_fault(c);
        return;
    }
    if (c->kernel->spins && item == c->kernel->first_item) {
        item_spin(c);
        return;
    }
    if (c->plan->stop_every && rng_one_in(&r, 6)) { /* a stop finds memory instructions in flight */
        item_crowd(c);
        return;
    }
    for (i = 0; i < sizeof items / sizeof *items; i++) {
        total += items[i].weight;
    }
    for (;;) { /* draws until the kernel may have the item */
        uint32_t at = rng_below(&r, total);
        for (i = 0; at >= items[i].weight; i++) {
            at -= items[i].weight;
        }
        if (items[i].when == ALWAYS || (items[i].when == IF_BARRIERS ? c->kernel->barriers : c->kernel->exits)) {
            if (items[i].emit != item_histogram || c->kernel->local) {
                break;
            }
        }
    }
    items[i].emit(c);
}
