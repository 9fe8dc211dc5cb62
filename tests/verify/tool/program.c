/* SPDX-License-Identifier: Apache-2.0 */
/** Builds a case of kind PROGRAM from its plan: code, data, page tables, buffers. program.h lists its parts. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "program.h"

#define DATA_STREAM (1ull << 34)
#define RIGHTS_R TERN_PTE_READ_MASK
#define RIGHTS_RW (TERN_PTE_READ_MASK | TERN_PTE_WRITE_MASK)

uint32_t program_items(uint64_t seed, const struct geometry *g)
{
    struct plan p;
    plan_make(seed, g, &p);
    return p.items;
}

static uint32_t kernel_of(const struct plan *p, uint32_t item)
{
    uint32_t k = 0;
    while (item >= p->kernel[k].first_item + p->kernel[k].items) {
        k++;
    }
    return k;
}

void program_item_text(uint64_t seed, const struct geometry *g, uint32_t item, char *out, size_t size)
{
    struct plan p;
    uint32_t pool[POOL / 4] = {0}, *word = malloc(MAX_CODE * sizeof *word);
    plan_make(seed, g, &p);
    uint32_t k = kernel_of(&p, item);
    const struct tern_pkt_dispatch *d = &p.kernel[k].packet;
    snprintf(out, size, "kernel %u (%ux%ux%u in groups of %ux%ux%u): ", k, d->global_x, d->global_y, d->global_z,
             d->local_x, d->local_y, d->local_z);
    if (!word) {
        return;
    }
    struct code c = {.word = word, .va = p.va[REGION_CODE], .plan = &p, .kernel = &p.kernel[k], .index = k,
                     .pool = pool, .text = out, .text_size = size};
    item_emit(&c, item);
    free(word);
}

/** Generates all kernels, one behind the other, with words between them that are never run. */
static void build_code(const struct test_case *tc, struct plan *p, struct code *c, uint32_t *pools)
{
    struct rng r = rng_of(p->seed, DATA_STREAM);
    for (uint32_t k = 0; k < p->kernels; k++) {
        for (uint32_t gap = rng_below(&r, 40); gap; gap--) {
            emit(c, rng_next(&r));
        }
        c->kernel = &p->kernel[k];
        c->index = k;
        p->kernel[k].packet.entry = c->va + 4 * c->n;
        kernel_begin(c);
        for (uint32_t i = p->kernel[k].first_item; i < p->kernel[k].first_item + p->kernel[k].items; i++) {
            c->pool = pools + i * (POOL / 4);
            if (tc->keep[i]) {
                item_emit(c, i);
            }
            if (tc->keep[i] && i == p->kernel[k].gate_item) {
                p->kernel[k].awaited = c->awaited;
            } else if (i == p->kernel[k].gate_item) {
                p->kernel[k].gate_item = UINT32_MAX;
            }
        }
        kernel_end(c);
    }
}

/** Fills a region with random values, mostly corner values. */
static void fill(struct space *a, struct rng *r, uint32_t region, uint32_t bytes)
{
    for (uint32_t at = 0; at < bytes; at += 4) {
        uint32_t v = corner_value(r);
        space_put(a, region, at, &v, 4);
    }
}

/** Maps the regions of kernel k. The memory that it writes is open if it faults. */
static int map_kernel(struct space *a, const struct plan *p, uint32_t k, bool faults, struct rng *r)
{
    uint32_t region = FIRST_REGION + k * KERNEL_REGIONS;
    int open = faults ? (int)OPEN_FAULTED : -1, result = 0;
    for (uint32_t i = 0; i < KERNEL_REGIONS && !result; i++) {
        result = i == KERNEL_ALIAS ? space_alias(a, region + i, p->bytes[region + (p->physical ? KERNEL_DATA : i)],
                                                 region + KERNEL_DATA, RIGHTS_RW)
                                   : space_map(a, region + i, p->bytes[region + i], RIGHTS_RW,
                                               i == KERNEL_STACK ? (int)OPEN_STACK : open);
    }
    if (!result) {
        fill(a, r, region + KERNEL_DATA, p->bytes[region + KERNEL_DATA]);
    }
    return result;
}

/** Makes entries that no access may pass: absent ones, and those malformed in the ways of pte.yaml. */
static int map_traps(struct space *a, const struct plan *p, struct rng *r)
{
    const uint32_t v = TERN_PTE_VALID_MASK, rd = TERN_PTE_READ_MASK, w = TERN_PTE_WRITE_MASK, x = TERN_PTE_EXEC_MASK;
    const uint32_t page = space_pages(a, 1) << TERN_PTE_PPN_SHIFT, z = TERN_PTE_ZERO_MASK;
    const uint32_t beyond = (uint32_t)(p->g.mem_bytes / PAGE) << TERN_PTE_PPN_SHIFT;
    const uint32_t big = 1024u << TERN_PTE_PPN_SHIFT;
    const uint32_t reserved = 1u << (uint32_t[]){4, 5, 6, 7, 9}[rng_below(r, 5)];
    const uint32_t first[] = {
        big | 1u << TERN_PTE_PPN_SHIFT | v | rd | w | x, page | v | reserved, big | v | rd | w | x | reserved,
        big | v | w, big | v | w | x, big | v | rd | z, page | v | z, beyond | v, beyond | v | rd | w | x};
    const uint32_t second[] = {page | v, page | v | w, page | v | w | x, page | v | rd | reserved, page | v | rd | z,
                               page | v | rd | w | x | reserved, page | v | z};
    uint32_t absent = rng_next(r) & ~v; /* with or without the absent bit: the scene has no page for it */
    int result = space_entry(a, REGION_HOLE, false, rng_one_in(r, 2) ? absent : 0);
    if (result == 0) {
        result = space_entry(a, REGION_BAD_FIRST, true, first[rng_below(r, sizeof first / sizeof *first)]);
    }
    if (result == 0) {
        result = space_entry(a, REGION_BAD_SECOND, false, second[rng_below(r, sizeof second / sizeof *second)]);
    }
    return result ? result : space_entry(a, REGION_BLACK, false,
                                         (beyond + (rng_below(r, 9) << TERN_PTE_PPN_SHIFT)) | v | rd | w | x);
}

static int map_shared(struct space *a, const struct plan *p, const struct code *c, const uint32_t *pools, bool faults,
                      struct rng *r)
{
    const struct {
        uint32_t region, rights;
    } maps[] = {{REGION_CODE, TERN_PTE_EXEC_MASK},
                {REGION_BUFFER, RIGHTS_R},
                {REGION_TABLE, RIGHTS_R},
                {REGION_POOL, RIGHTS_R},
                {REGION_ZERO, TERN_PTE_ZERO_MASK | (rng_one_in(r, 2) ? RIGHTS_R : RIGHTS_RW)},
                {REGION_SHARED, RIGHTS_RW},
                {REGION_READONLY, RIGHTS_R | (rng_one_in(r, 2) ? TERN_PTE_EXEC_MASK : 0)}};
    for (uint32_t i = 0; i < sizeof maps / sizeof *maps; i++) {
        uint32_t region = maps[i].region, bytes = region == REGION_CODE ? c->n * 4 : p->bytes[region];
        int result = space_map(a, region, bytes, maps[i].rights,
                               faults && region == REGION_SHARED ? (int)OPEN_FAULTED : -1);
        if (result) {
            return result;
        }
    }
    if (p->bytes[REGION_WIDE]) {
        int result = space_alias(a, REGION_WIDE, p->bytes[REGION_WIDE], REGION_TABLE, RIGHTS_R);
        if (result) {
            return result;
        }
    }
    space_put(a, REGION_CODE, 0, c->word, c->n * 4);
    space_put(a, REGION_POOL, 0, pools, p->bytes[REGION_POOL]);
    fill(a, r, REGION_TABLE, p->bytes[REGION_TABLE]);
    fill(a, r, REGION_SHARED, 2 * SHARED_WORDS * 4);
    return 0;
}

/** Submits the dispatches, alone or several in a buffer, at times with a packet between. */
static int submit(struct scene *s, struct space *a, const struct plan *p, struct rng *r)
{
    uint32_t at = 0;
    for (uint32_t first = 0; first < p->kernels; first++) {
        const uint32_t engine = p->kernel[first].engine;
        uint32_t begin = at, offset[MAX_KERNELS];
        bool in[MAX_KERNELS] = {false};
        bool taken = false;
        for (uint32_t k = 0; k < first; k++) { /* an earlier buffer of its engine includes it */
            taken = p->kernel[k].engine == engine || taken;
        }
        if (taken && !p->kernel[first].own_buffer) {
            continue;
        }
        for (uint32_t k = first;
             k < p->kernels && (k == first || p->kernel[k].engine != engine || !p->kernel[k].own_buffer); k++) {
            uint32_t words[32] = {0}, args[16] = {kernel_va(p, k, KERNEL_DATA)};
            if (p->kernel[k].engine != engine) {
                continue;
            }
            if (rng_one_in(r, 3)) {
                rng_one_in(r, 2) ? tern_pkt_nop_pack(&(struct tern_pkt_nop){0}, words)
                                 : tern_pkt_barrier_pack(&(struct tern_pkt_barrier){0}, words);
                space_put(a, REGION_BUFFER, at, words, LINE);
                at += LINE;
            }
            if (tern_pkt_dispatch_pack(&p->kernel[k].packet, words)) {
                return -EINVAL;
            }
            offset[k] = at - begin;
            in[k] = true;
            space_put(a, REGION_BUFFER, at, words, 2 * LINE);
            space_put(a, REGION_BUFFER, BUFFER_ARGS + k * LINE, args, sizeof args);
            at += 2 * LINE;
        }
        struct submit sub = {.engine = engine, .buffer = p->va[REGION_BUFFER] + begin, .size = at - begin,
                             .root = space_root(a), .fence = first + 1, .context = rng_next(r),
                             .save = space_pages(a, SAVE_PAGES),
                             .flags = p->physical ? TERN_ENGINE_SUB_FLAGS_PAGING_MASK : 0};
        int result = scene_submit(s, &sub);
        for (uint32_t k = first; k < p->kernels && !result; k++) {
            const uint64_t gate = in[k] ? space_physical(a, FIRST_REGION + k * KERNEL_REGIONS + KERNEL_LOCK, GATE) : 0;
            if (in[k] && p->kernel[k].gate_item != UINT32_MAX) {
                result = scene_gate(s, &(struct gate){
                    .submit = s->submits - 1, .offset = offset[k], .physical = gate, .value = 1, .count = gate + 8,
                    .awaited = p->kernel[k].awaited, .granularity = TERN_ENGINE_COMMAND_GRANULARITY_INSTRUCTION});
            }
        }
        if (result) {
            return result;
        }
    }
    return 0;
}

int program_build(const struct test_case *tc, const struct geometry *g, struct scene *out)
{
    struct plan p;
    struct space *a = NULL;
    struct rng r = rng_of(tc->seed, DATA_STREAM + 1);
    uint32_t *word = calloc(MAX_CODE, sizeof *word), *pools = calloc(MAX_ITEMS, POOL);
    int result = -ENOMEM;
    plan_make(tc->seed, g, &p);
    if (!word || !pools || (result = space_make(out, &p, &a))) {
        goto end;
    }
    struct code c = {.word = word, .va = p.va[REGION_CODE], .plan = &p};
    build_code(tc, &p, &c, pools);
    bool fault[MAX_KERNELS], faults = false;
    for (uint32_t k = 0; k < p.kernels; k++) {
        fault[k] = p.kernel[k].fault_item < p.items && tc->keep[p.kernel[k].fault_item];
        faults = faults || fault[k];
    }
    if ((result = map_shared(a, &p, &c, pools, faults, &r)) || (!p.physical && (result = map_traps(a, &p, &r)))) {
        goto end;
    }
    space_pairs(a);
    for (uint32_t k = 0; k < p.kernels; k++) {
        if ((result = map_kernel(a, &p, k, fault[k], &r))) {
            goto end;
        }
    }
    if ((result = space_absent_tables(a)) ||
        ((p.absent || faults) && (result = scene_paging(out, (uint64_t)space_pages(a, 1) * PAGE)))) {
        goto end;
    }
    out->code = space_physical(a, REGION_CODE, 0);
    out->code_bytes = c.n * 4;
    out->code_va = c.va;
    out->limit = CASE_CYCLES;
    out->stop_every = p.stop_every;
    out->roams = g->engines > 1;
    result = submit(out, a, &p, &r);
    if (result == 0) {
        result = scene_foreign(out, g, (uint64_t)space_pages(a, 2) * PAGE);
    }
end:
    space_free(a);
    free(pools);
    free(word);
    return result;
}
