/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The address space of a case: Sv32 tables in the scene's memory. Pages are scattered, so that no two neighbours in one
 * address space are neighbours in the other, or they are 4 MiB pages. Physical memory is allocated upwards for pages
 * and downwards for 4 MiB pages.
 */
#include <errno.h>
#include <stdlib.h>

#include "program.h"

#define BIG (PAGE * 1024u)
#define MOST_ABSENT 24u    /* pages: each request is a stop */
#define REGION_ABSENT 6u   /* pages of one region, so that a large one leaves some for the others */

struct area {
    uint32_t va, pages;
    uint32_t *page;      /* physical page numbers, by page of the region */
};

struct space {
    struct scene *scene;
    const struct plan *plan;
    struct rng random;
    struct rng absent;   /* selects absent pages */
    uint32_t absents;
    int error;           /* first error of scene_absent */
    uint32_t next, top;  /* pages [next, top) are free */
    uint32_t root;
    uint32_t table[1024];
    struct area area[REGIONS];
};

uint32_t space_pages(struct space *a, uint32_t pages)
{
    uint32_t first = a->next;
    a->next += pages;
    return first;
}

int space_make(struct scene *s, const struct plan *p, struct space **out)
{
    struct space *a = calloc(1, sizeof *a);
    if (!a) {
        return -ENOMEM;
    }
    a->scene = s;
    a->plan = p;
    a->random = rng_of(p->seed, 1ull << 33);
    a->absent = rng_of(p->seed, (1ull << 33) + 1);
    a->next = p->physical ? (p->va[REGION_CODE] + p->bytes[REGION_CODE]) / PAGE : 1 + rng_below(&a->random, 64);
    a->top = 7 * 1024; /* below all pairs */
    a->root = space_pages(a, 1);
    for (uint32_t i = 0; i < REGIONS; i++) {
        a->area[i].va = p->va[i];
    }
    *out = a;
    return 0;
}

void space_free(struct space *a)
{
    for (uint32_t i = 0; a && i < REGIONS; i++) {
        free(a->area[i].page);
    }
    free(a);
}

uint32_t space_root(const struct space *a)
{
    return a->root;
}

static uint32_t pte(uint32_t page, uint32_t flags)
{
    return page << TERN_PTE_PPN_SHIFT | TERN_PTE_VALID_MASK | flags;
}

static void put_pte(struct space *a, uint32_t table, uint32_t index, uint32_t value)
{
    scene_put(a->scene, (uint64_t)table * PAGE + index * 4u, &value, 4);
}

/** Writes the entry of a page, which may be absent at first. before: absent pages before those of its region. */
static void put_page(struct space *a, uint32_t region, uint32_t before, uint32_t table, uint32_t index, uint32_t value)
{
    const uint32_t one_in = a->plan->absent;
    const uint32_t most = before + REGION_ABSENT < MOST_ABSENT ? before + REGION_ABSENT : MOST_ABSENT;
    if (one_in && region != REGION_BUFFER && a->absents < most && rng_one_in(&a->absent, one_in)) {
        int r = scene_absent(a->scene, (uint64_t)table * PAGE + index * 4u, value);
        a->error = a->error ? a->error : r;
        a->absents++;
    } else {
        put_pte(a, table, index, value);
    }
}

/** Returns the second-level table that translates va. */
static uint32_t table_of(struct space *a, uint32_t va)
{
    uint32_t *t = &a->table[va / BIG];
    if (!*t) {
        *t = space_pages(a, 1);
        put_pte(a, a->root, va / BIG, pte(*t, 0));
    }
    return *t;
}

static void enter(struct space *a, uint32_t region, uint32_t flags)
{
    const struct area *r = &a->area[region];
    const uint32_t before = a->absents;
    bool big = a->plan->big[region];
    for (uint32_t i = 0; i < r->pages; i++) {
        uint32_t va = r->va + i * PAGE;
        if (!big) {
            put_page(a, region, before, table_of(a, va), va / PAGE % 1024, pte(r->page[i], flags));
        } else if (i == 0 || va % BIG == 0) {
            put_page(a, region, before, a->root, va / BIG, pte(r->page[i] & ~1023u, flags));
        }
    }
}

/** Chooses the physical pages of a region: equal to its addresses in physical cases; contiguous for code and 4 MiB
 * pages; else in any order with gaps. */
static void choose_pages(struct space *a, uint32_t region)
{
    struct area *r = &a->area[region];
    uint32_t shift = r->va % BIG / PAGE, first = r->va / PAGE;
    bool big = a->plan->big[region], row = big || a->plan->physical || region == REGION_CODE;
    if (big) {
        a->top -= (shift + r->pages + 1023) / 1024 * 1024;
        first = a->top + shift;
    } else if (!a->plan->physical && row) {
        first = space_pages(a, r->pages);
    }
    for (uint32_t i = 0; i < r->pages; i++) {
        r->page[i] = row ? first + i : space_pages(a, 1 + rng_below(&a->random, 3));
    }
    for (uint32_t i = r->pages; i > 1 && !row; i--) {
        uint32_t j = rng_below(&a->random, i), page = r->page[j];
        r->page[j] = r->page[i - 1];
        r->page[i - 1] = page;
    }
}

int space_map(struct space *a, uint32_t region, uint32_t bytes, uint32_t rights, int open)
{
    struct area *r = &a->area[region];
    bool zero = rights & TERN_PTE_ZERO_MASK;
    r->pages = (bytes + PAGE - 1) / PAGE;
    r->page = calloc(r->pages, sizeof *r->page);
    if (!r->page) {
        return -ENOMEM;
    }
    if (!zero) {
        choose_pages(a, region);
    }
    if (!a->plan->physical) {
        enter(a, region, rights);
    }
    int result = 0;
    for (uint32_t i = 0, n = 1; i < r->pages && open >= 0 && !result; i += n) {
        for (n = 1; i + n < r->pages && r->page[i + n] == r->page[i] + n;) {
            n++;
        }
        result = scene_open(a->scene, (uint64_t)r->page[i] * PAGE, (uint64_t)n * PAGE, (enum open_reason)open, true);
    }
    return result;
}

int space_alias(struct space *a, uint32_t region, uint32_t bytes, uint32_t other, uint32_t rights)
{
    struct area *r = &a->area[region];
    const struct area *o = &a->area[other];
    r->pages = (bytes + PAGE - 1) / PAGE;
    r->page = malloc(r->pages * sizeof *r->page);
    if (!r->page) {
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < r->pages; i++) {
        r->page[i] = o->page[i % o->pages];
    }
    if (!a->plan->physical) {
        enter(a, region, rights);
    }
    return 0;
}

int space_entry(struct space *a, uint32_t region, bool first, uint32_t entry)
{
    uint32_t va = a->area[region].va;
    if (first) {
        put_pte(a, a->root, va / BIG, entry);
    } else {
        put_pte(a, table_of(a, va), va / PAGE % 1024, entry);
    }
    return 0;
}

void space_put(struct space *a, uint32_t region, uint32_t offset, const void *data, uint32_t bytes)
{
    const uint8_t *from = data;
    while (bytes) {
        uint32_t in = offset % PAGE, n = PAGE - in < bytes ? PAGE - in : bytes;
        scene_put(a->scene, space_physical(a, region, offset), from, n);
        from += n;
        offset += n;
        bytes -= n;
    }
}

void space_pairs(struct space *a)
{
    uint32_t va, page, words[PAGE / 4];
    for (uint32_t i = 0; pairs_at(a->plan, i, &va, &page); i++) {
        if (!a->plan->physical) {
            put_pte(a, table_of(a, va), va / PAGE % 1024,
                    pte(page, TERN_PTE_READ_MASK | TERN_PTE_WRITE_MASK | TERN_PTE_EXEC_MASK));
        } else if ((va ^ a->plan->pair_va) >> 26) {
            continue;
        }
        pairs_fill(a->plan, page, words);
        scene_put(a->scene, (uint64_t)page * PAGE, words, sizeof words);
    }
}

int space_absent_tables(struct space *a)
{
    const uint32_t one_in = a->plan->absent, buffers = a->plan->va[REGION_BUFFER] / BIG;
    for (uint32_t i = 0; one_in && i < 1024; i++) {
        if (a->table[i] && i != buffers && rng_one_in(&a->absent, one_in)) {
            int r = scene_absent(a->scene, (uint64_t)a->root * PAGE + i * 4u, pte(a->table[i], 0));
            a->error = a->error ? a->error : r;
        }
    }
    return a->error;
}

uint64_t space_physical(const struct space *a, uint32_t region, uint32_t offset)
{
    return (uint64_t)a->area[region].page[offset / PAGE] * PAGE + offset % PAGE;
}
