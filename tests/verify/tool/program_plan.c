/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The plan of a case, made before any item is drawn: the number of kernels, their ranges, the layout of the address
 * space, and the item that faults. A case runs some hundred warp instructions, sometimes some thousand.
 */
#include <string.h>

#include "program.h"

#define PLAN_STREAM (1ull << 32)
#define PAGES_STREAM (PLAN_STREAM + 1)
#define SPIN_STREAM (PLAN_STREAM + 2)
#define SLOT (2u * PAGE * 1024u)  /* bytes of addresses for a region: two entries of the first level */
#define PAIR_PAGES 0x3c00u         /* page numbers that, with one bit changed, are in the upper 3/4 of memory */
#define SLOTS 446u                /* number of slots below the windows; the first and the last are not used */
#define GATE_STREAM (PLAN_STREAM + 3)

static uint32_t ceil_div(uint32_t a, uint32_t b)
{
    return (a + b - 1) / b;
}

/** Splits n into `dims` factors, each at least 1, whose product is about n. */
static void factors(struct rng *r, uint32_t n, uint32_t dims, uint32_t out[3])
{
    out[0] = out[1] = out[2] = 1;
    for (uint32_t d = 0; d < dims; d++) {
        out[d] = d == dims - 1 ? n : 1 + rng_below(r, least(n, d ? 4 : n));
        n /= out[d];
        n = n ? n : 1;
    }
}

/** Returns the number of work-items of a group: one or two, part of a warp, a few warps, or the maximum. Cases with
 *  stops have mostly several warps, so that a stop finds some work-items of a group ended and others not. */
static uint32_t group_size(struct rng *r, const struct geometry *g, bool stopped)
{
    uint32_t most = g->lanes * g->warps, kind = rng_below(r, 8);
    switch (stopped ? kind / 2 + 4 : kind) {
    case 0:
        return 1 + rng_below(r, 2);
    case 1:
    case 2:
    case 3:
        return 1 + rng_below(r, g->lanes);
    case 4:
    case 5:
        return least(most, 1 + rng_below(r, 3 * g->lanes));
    case 6:
        return least(most, g->lanes * (1 + rng_below(r, 3)));
    default:
        return rng_one_in(r, 4) ? most : 1 + rng_below(r, most);
    }
}

static void plan_range(struct rng *r, const struct geometry *g, bool small, bool stopped, struct kernel_plan *k)
{
    struct tern_pkt_dispatch *p = &k->packet;
    uint32_t local[3], groups[3], edge[3], offset[3], dims = 1 + least(2, rng_below(r, 4));
    factors(r, small ? 1 + rng_below(r, g->lanes) : group_size(r, g, stopped), dims, local);
    k->full = local[0] * local[1] * local[2];
    p->group_warps = ceil_div(k->full, g->lanes);
    uint32_t many = k->full <= g->lanes && rng_one_in(r, 24) ? 24 : least(5, 1 + 4 / p->group_warps);
    factors(r, 1 + rng_below(r, small ? 2 : many), dims, groups);
    k->records = groups[0] * groups[1] * groups[2] * k->full;
    while (1u << k->records_log2 < k->records) {
        k->records_log2++;
    }
    for (uint32_t d = 0; d < 3; d++) {
        edge[d] = rng_one_in(r, 2) ? local[d] : 1 + rng_below(r, local[d]);
        offset[d] = d < dims && rng_one_in(r, 2) ? corner_value(r) : 0;
    }
    p->work_dim = dims;
    p->local_x = local[0];
    p->local_y = local[1];
    p->local_z = local[2];
    p->groups_x = groups[0];
    p->groups_y = groups[1];
    p->groups_z = groups[2];
    p->edge_x = edge[0];
    p->edge_y = edge[1];
    p->edge_z = edge[2];
    p->global_x = (groups[0] - 1) * local[0] + edge[0];
    p->global_y = (groups[1] - 1) * local[1] + edge[1];
    p->global_z = (groups[2] - 1) * local[2] + edge[2];
    p->offset_x = offset[0];
    p->offset_y = offset[1];
    p->offset_z = offset[2];
}

static void plan_kernel(struct rng *r, const struct geometry *g, bool small, bool stopped, struct kernel_plan *k)
{
    struct tern_pkt_dispatch *p = &k->packet;
    plan_range(r, g, small, stopped, k);
    k->engine = rng_one_in(r, 3) && g->engines > 1;
    k->own_buffer = rng_one_in(r, 2);
    k->local = !rng_one_in(r, 4);
    k->barriers = rng_one_in(r, 2);
    k->exits = !k->barriers && rng_one_in(r, 2);
    k->area_at = k->full * AREA;
    p->group_slots = 1 + rng_below(r, g->warps / p->group_warps);
    if (k->local) {
        uint32_t need = ceil_div(k->area_at + (SHARED_WORDS + SAME_WORDS + k->full) * 4, LINE) * LINE;
        p->group_slots = least(p->group_slots, g->local_bytes / need);
        p->local_bytes = rng_one_in(r, 4) ? g->local_bytes / p->group_slots / LINE * LINE : need;
    }
    p->stack_log2 = 6 + rng_below(r, 8);
    while (p->stack_log2 > 6 && g->lanes * g->warps << p->stack_log2 > 1u << 20) {
        p->stack_log2--;
    }
    p->user0 = rng_next(r);
    p->user1 = rng_next(r);
}

/** Plans one group of as many work-items as the device holds. All run at once, and may wait for each other. */
static void plan_spin(const struct geometry *g, struct kernel_plan *k)
{
    struct tern_pkt_dispatch *p = &k->packet;
    k->full = k->records = g->lanes * g->warps;
    for (k->records_log2 = 0; 1u << k->records_log2 < k->records;) {
        k->records_log2++;
    }
    p->work_dim = 1;
    p->global_x = p->local_x = p->edge_x = k->full;
    p->global_y = p->local_y = p->edge_y = p->global_z = p->local_z = p->edge_z = 1;
    p->groups_x = p->groups_y = p->groups_z = 1;
    p->offset_x = p->offset_y = p->offset_z = 0;
    p->group_warps = g->warps;
    p->group_slots = 1;
    k->area_at = k->full * AREA;
    p->local_bytes = k->local ? ceil_div(k->area_at + (SHARED_WORDS + SAME_WORDS + k->full) * 4, LINE) * LINE : 0;
    k->barriers = k->spins = true;
    k->exits = false;
}

static void plan_sizes(struct plan *p)
{
    const uint32_t table = (1u << TABLE_LOG2) + PAGE; /* loads reach a page beyond their index */
    p->bytes[REGION_CODE] = MAX_CODE * 4;
    p->bytes[REGION_BUFFER] = p->bytes[REGION_SHARED] = p->bytes[REGION_READONLY] = PAGE;
    p->bytes[REGION_TABLE] = p->bytes[REGION_ZERO] = table;
    p->bytes[REGION_POOL] = p->items * POOL;
    for (uint32_t i = 0; i < p->kernels; i++) {
        const struct kernel_plan *k = &p->kernel[i];
        uint32_t *bytes = &p->bytes[FIRST_REGION + i * KERNEL_REGIONS];
        bytes[KERNEL_DATA] = (k->records + 1) * RECORD;
        bytes[KERNEL_SCATTER] = k->items << (k->records_log2 + 2);
        bytes[KERNEL_EXCHANGE] = GROUP_LINES(k->records) + k->records / k->full * LINE;
        bytes[KERNEL_LOCK] = PAGE;
        bytes[KERNEL_STACK] = p->g.lanes * p->g.warps << k->packet.stack_log2;
    }
}

/** Places the regions at physical addresses, one behind the other, the code last. */
static void plan_physical(struct rng *r, struct plan *p)
{
    uint32_t page = 1 + rng_below(r, 64);
    for (uint32_t n = 1; n <= REGIONS; n++) {
        uint32_t i = n % REGIONS;
        p->va[i] = page * PAGE;
        page += (p->bytes[i] + PAGE - 1) / PAGE;
    }
    p->va[REGION_WIDE] = p->va[REGION_TABLE];
    p->pair_va = p->pair_page * PAGE;
    for (uint32_t i = 0; i < p->kernels; i++) {
        p->va[FIRST_REGION + i * KERNEL_REGIONS + KERNEL_ALIAS] = kernel_va(p, i, KERNEL_DATA);
    }
}

static void plan_space(struct rng *r, const struct geometry *g, struct plan *p)
{
    static const bool may_be_big[FIRST_REGION] = {[REGION_CODE] = true, [REGION_TABLE] = true, [REGION_ZERO] = true};
    bool used[SLOTS] = {true};
    uint64_t big = g->mem_bytes / (PAGE * 1024u);
    /* The lowest 4 MiB of memory are for small pages, the upper 12 * 4 MiB for the pages of program_pairs.c. */
    uint32_t left = big > 13 ? (uint32_t)big - 13 : 0, va, page;
    p->pair_va = SLOT + rng_below(r, (0x20000000u - SLOT) / PAGE) * PAGE;
    for (uint32_t i = 0; pairs_at(p, i, &va, &page); i++) {
        used[va / SLOT] = true;
    }
    p->bytes[REGION_WIDE] = 1u << WIDE_LOG2;
    for (uint32_t i = 0; i < p->kernels; i++) {
        uint32_t *bytes = &p->bytes[FIRST_REGION + i * KERNEL_REGIONS];
        bytes[KERNEL_ALIAS] = bytes[KERNEL_DATA] > 1u << ALIAS_LOG2 ? bytes[KERNEL_DATA] : 1u << ALIAS_LOG2;
    }
    for (uint32_t i = 0; i < REGIONS; i++) {
        uint32_t slot, kernel_region = i < FIRST_REGION ? KERNEL_REGIONS : (i - FIRST_REGION) % KERNEL_REGIONS;
        do {
            slot = rng_below(r, SLOTS);
        } while (used[slot]);
        used[slot] = true;
        bool may = i < FIRST_REGION ? may_be_big[i] : kernel_region != KERNEL_ALIAS && kernel_region != KERNEL_LOCK;
        p->big[i] = rng_one_in(r, 6) && may && left > 0;
        left -= p->big[i];
        p->va[i] = slot * SLOT + rng_below(r, p->big[i] ? 256 : 1024) * PAGE;
    }
}

/** Returns whether a kernel can have its fault. A barrier fault needs two work-items in a group. Physical addresses
 *  have no access rights. */
static bool fault_possible(const struct plan *p, const struct kernel_plan *k)
{
    const struct tern_pkt_dispatch *d = &k->packet;
    bool rights = k->fault == FAULT_PAGE || k->fault == FAULT_PROTECTION || k->fault == FAULT_MALFORMED;
    if (k->fault == FAULT_BARRIER) {
        return ((d->groups_x > 1 ? d->local_x : d->edge_x) > 1 || (d->groups_y > 1 ? d->local_y : d->edge_y) > 1 ||
                               (d->groups_z > 1 ? d->local_z : d->edge_z) > 1);
    }
    return p->physical ? !rights : k->fault != FAULT_BUS;
}

/** Chooses item and class of a kernel's fault. */
static void plan_fault(struct rng *r, const struct plan *p, struct kernel_plan *k)
{
    k->exits = false; /* the work-item that faults must not exit before */
    k->fault_item = rng_one_in(r, 4) ? k->first_item : k->first_item + rng_below(r, k->items);
    do {
        /* illegal instructions and barrier divergence have more variants than other faults */
        uint32_t kind = rng_below(r, FAULT_CLASSES + 7);
        k->fault = kind < FAULT_CLASSES       ? (enum fault_class)kind
                   : kind < FAULT_CLASSES + 5 ? FAULT_ILLEGAL
                                              : FAULT_BARRIER;
    } while (!fault_possible(p, k));
    k->barriers = k->barriers || k->fault == FAULT_BARRIER;
}

/** Plans the kernels and their items: one to three kernels or, if `many`, many small ones, each of which faults in a
 *  buffer of its own. */
static void plan_kernels(struct rng *r, const struct geometry *g, bool many, bool fault, struct plan *p)
{
    uint32_t few = rng_below(r, 10),
        items = few == 0 ? 20 + rng_below(r, 30) : few < 3 ? 1 + rng_below(r, 3) : 2 + rng_below(r, 8);
    /* more kernels, so that one comes after a fault */
    p->kernels = many ? MAX_KERNELS : 1u + rng_one_in(r, fault ? 2 : 3) + rng_one_in(r, 8);
    for (uint32_t i = 0; i < p->kernels; i++) {
        struct kernel_plan *k = &p->kernel[i];
        plan_kernel(r, g, many, p->stop_every, k);
        k->own_buffer = k->own_buffer || many;
        k->fault_item = UINT32_MAX;
        k->first_item = p->items;
        k->items = many ? 1u + rng_one_in(r, 4) : ceil_div(items, p->kernels);
        p->items += k->items;
    }
}

/** Chooses gates. In cases with stops a kernel may have a gate, at which a stop finds some work-items of a group at a
 *  barrier and others not. The gate is in an item of its own, or in a barrier fault. */
static void plan_gates(struct plan *p)
{
    struct rng r = rng_of(p->seed, GATE_STREAM);
    for (uint32_t i = 0; i < p->kernels; i++) {
        struct kernel_plan *k = &p->kernel[i];
        const bool parts = k->fault_item != UINT32_MAX && k->fault == FAULT_BARRIER;
        k->gate_item = UINT32_MAX;
        if (p->stop_every && k->barriers && rng_one_in(&r, 2)) {
            k->gate_item = parts && rng_one_in(&r, 2) ? k->fault_item : k->first_item + rng_below(&r, k->items);
        }
        if (k->gate_item == k->fault_item && !parts) {
            k->gate_item = UINT32_MAX;
        }
    }
}

void plan_make(uint64_t seed, const struct geometry *g, struct plan *p)
{
    struct rng r = rng_of(seed, PLAN_STREAM);
    bool many = rng_one_in(&r, 8), fault = rng_one_in(&r, 5);
    memset(p, 0, sizeof *p);
    p->seed = seed;
    p->g = *g;
    p->stop_every = rng_one_in(&r, 4) ? 50u << rng_below(&r, 9) : 0;
    plan_kernels(&r, g, many, fault, p);
    struct rng spin = rng_of(seed, SPIN_STREAM);
    if (!many && rng_one_in(&spin, 16)) {
        plan_spin(g, &p->kernel[0]);
    }
    plan_sizes(p);
    p->physical = rng_one_in(&r, 12);
    struct rng pages = rng_of(seed, PAGES_STREAM);
    p->absent = !p->physical && rng_one_in(&pages, 3) ? 1 + rng_below(&pages, 9) : 0;
    p->pair_page = PAIR_PAGES + rng_below(&r, 256);
    if (p->physical) {
        plan_physical(&r, p);
    } else {
        plan_space(&r, g, p);
    }
    for (uint32_t i = 0; i < p->kernels; i++) {
        p->kernel[i].packet.stack = kernel_va(p, i, KERNEL_STACK);
        p->kernel[i].packet.args = p->va[REGION_BUFFER] + BUFFER_ARGS + i * LINE;
        if (many) {
            plan_fault(&r, p, &p->kernel[i]);
        }
    }
    if (fault && !many) {
        plan_fault(&r, p, &p->kernel[rng_below(&r, p->kernels)]);
    }
    plan_gates(p);
}
