/* SPDX-License-Identifier: Apache-2.0 */
/**
 * From an allocation to page-table entries. Superpages wherever 4 MiB of address and memory line up, else runs of small
 * pages, one pte_update for each.
 *
 * Second-level tables stay until the process ends: then an entry of the first level never changes from pointer to
 * superpage or back under an engine that may have cached it, and only the flush at unmapping is needed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "os/os.h"

#define PTE_STEP (1u << TERN_PTE_PPN_SHIFT)

static uint32_t pte(uint32_t page, uint32_t flags)
{
    uint32_t read = flags & (TERN_MEM_READ | TERN_MEM_WRITE) ? TERN_PTE_READ_MASK : 0;
    uint32_t write = flags & TERN_MEM_WRITE ? TERN_PTE_WRITE_MASK : 0;
    uint32_t exec = flags & TERN_MEM_EXEC ? TERN_PTE_EXEC_MASK : 0;
    return page << TERN_PTE_PPN_SHIFT | read | write | exec | TERN_PTE_VALID_MASK;
}

static int add_run(struct tern_allocation *a, const struct tern_run *run, uint32_t at)
{
    if (a->run_count == a->run_capacity) {
        uint32_t capacity = a->run_capacity ? a->run_capacity * 2 : 4;
        struct tern_run *runs = realloc(a->runs, capacity * sizeof *runs);
        if (!runs) {
            return -ENOMEM;
        }
        a->runs = runs;
        uint32_t *ats = realloc(a->at, capacity * sizeof *ats);
        if (!ats) {
            return -ENOMEM;
        }
        a->at = ats;
        a->run_capacity = capacity;
    }
    a->runs[a->run_count] = *run;
    a->at[a->run_count++] = at;
    return 0;
}

/** The second-level table of a region; a new one is scrubbed if need be and hung into the root. */
static int table(struct tern_process *proc, uint32_t region, struct tern_paging *map, uint32_t *new_tables)
{
    struct tern_run run;
    if (proc->tables[region]) {
        return 0;
    }
    int r = tern_pages_take(proc->partition->pages, 1, &run);
    if (r) {
        return r;
    }
    if (run.dirty) {
        tern_paging_scrub(map, run.page, 1);
    }
    tern_paging_entries(map, proc->root, region, 1, run.page << TERN_PTE_PPN_SHIFT | TERN_PTE_VALID_MASK, 0);
    proc->tables[region] = run.page;
    new_tables[region / 32] |= 1u << region % 32;
    if (run.dirty) {
        new_tables[TERN_PAGES_LARGE / 32 + region / 32] |= 1u << region % 32;
    }
    return 0;
}

/** Takes the next run of pages, at virtual page va, and records its entries. *count: pages done. */
static int step(struct tern_allocation *a, uint32_t done, struct tern_paging *map, struct tern_paging *unmap,
                uint32_t *new_tables, uint32_t *count)
{
    struct tern_process *proc = a->proc;
    uint32_t va = a->va + done, region = va / TERN_PAGES_LARGE, index = va % TERN_PAGES_LARGE;
    uint32_t left = a->pages - done, room = TERN_PAGES_LARGE - index;
    struct tern_run run;
    bool large = index == 0 && left >= TERN_PAGES_LARGE && !proc->tables[region] &&
                 tern_pages_take_large(proc->partition->pages, &run) == 0;
    int r = large ? 0 : table(proc, region, map, new_tables);
    if (!large && !r) {
        r = tern_pages_take(proc->partition->pages, left < room ? left : room, &run);
    }
    if (r) {
        return r;
    }
    r = add_run(a, &run, done);
    if (r) {
        tern_pages_give(proc->partition->pages, &run);
        return r;
    }
    if (run.dirty && !a->host) {
        tern_paging_scrub(map, run.page, run.count);
    }
    uint32_t in = large ? proc->root : proc->tables[region], first = large ? region : index, n = large ? 1 : run.count;
    tern_paging_entries(map, in, first, n, pte(run.page, a->flags), large ? 0 : PTE_STEP);
    tern_paging_entries(unmap, in, first, n, 0, 0);
    *count = run.count;
    return 0;
}

int tern_map_prepare(struct tern_allocation *a, struct tern_paging *map, struct tern_paging *unmap,
                     uint32_t *new_tables)
{
    int r = 0;
    memset(new_tables, 0, 2 * TERN_PAGES_LARGE / 8);
    for (uint32_t done = 0, n = 0; !r && done < a->pages; done += n) {
        r = step(a, done, map, unmap, new_tables, &n);
    }
    tern_residency_count(a, a->run_count ? 1 : 0);
    tern_paging_flush(unmap, a->proc->root, a->va, a->pages);
    r = r ? r : tern_paging_error(map);
    r = r ? r : tern_paging_error(unmap);
    if (r) {
        tern_map_undo(a, new_tables);
    }
    return r;
}

void tern_map_undo(struct tern_allocation *a, const uint32_t *new_tables)
{
    tern_residency_count(a, a->run_count ? -1 : 0);
    for (uint32_t i = 0; i < a->run_count; i++) {
        tern_pages_give(a->proc->partition->pages, &a->runs[i]);
    }
    a->run_count = 0;
    for (uint32_t i = 0; i < TERN_PAGES_LARGE; i++) {
        if (new_tables[i / 32] >> i % 32 & 1) {
            struct tern_run run = {a->proc->tables[i], 1, new_tables[TERN_PAGES_LARGE / 32 + i / 32] >> i % 32 & 1};
            tern_pages_give(a->proc->partition->pages, &run);
            a->proc->tables[i] = 0;
        }
    }
}

void tern_map_give_pages(struct tern_allocation *a)
{
    tern_residency_count(a, a->run_count ? -1 : 0);
    for (uint32_t i = 0; i < a->run_count; i++) {
        a->runs[i].dirty = true;
        tern_pages_give(a->proc->partition->pages, &a->runs[i]);
    }
    a->run_count = 0;
}
