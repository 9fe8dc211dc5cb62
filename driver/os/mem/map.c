/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Page-table entries of blocks. A block is mapped by a superpage if its 4 MiB of addresses and of memory coincide, else
 * by one pte_update for each run of small pages. One pte_update clears the entries of a block.
 *
 * Second-level tables stay until the process ends. Therefore an entry of the first level never changes between pointer
 * and superpage while an engine may have cached it, and a flush when a block is unmapped suffices.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "os/mem/mem.h"

#define PTE_STEP (1u << TERN_PTE_PPN_SHIFT)

static uint32_t pte(uint32_t page, uint32_t flags)
{
    uint32_t read = flags & (TERN_MEM_READ | TERN_MEM_WRITE) ? TERN_PTE_READ_MASK : 0;
    uint32_t write = flags & TERN_MEM_WRITE ? TERN_PTE_WRITE_MASK : 0;
    uint32_t exec = flags & TERN_MEM_EXEC ? TERN_PTE_EXEC_MASK : 0;
    return page << TERN_PTE_PPN_SHIFT | read | write | exec | TERN_PTE_VALID_MASK;
}

/** Makes the second-level table of 4 MiB of addresses, if there is none: scrubs its page if it is dirty, and enters
 *  it in the first-level table. -ENOSPC, -ENOMEM. */
static int table(struct tern_process *proc, uint32_t region, struct tern_paging *map, struct tern_new_tables *tables)
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
    tables->made[region / 32] |= 1u << region % 32;
    tables->dirty[region / 32] |= (uint32_t)run.dirty << region % 32;
    return 0;
}

/** True: a superpage can map the block in some process. */
static bool may_be_large(const struct tern_block *b)
{
    bool may = false;
    TERN_LIST_EACH(node, &b->m->mappings)
    {
        const struct tern_allocation *a = TERN_LIST_ENTRY(node, struct tern_allocation, mapping);
        may = may || !a->proc->tables[(a->va + b->first) / TERN_PAGES_SPAN];
    }
    return may && b->pages == TERN_PAGES_SPAN;
}

int tern_map_take(struct tern_block *b, struct tern_paging *scrub)
{
    tern_assert_held(&b->m->dev->lock);
    struct tern_pages *pages = b->m->partition->pages;
    struct tern_run run;
    int r = 0;
    for (uint32_t done = 0; !r && done < b->pages; done += run.count) {
        r = !done && may_be_large(b) ? tern_pages_take_large(pages, &run) : -ENOSPC;
        r = r ? tern_pages_take(pages, b->pages - done, &run) : 0;
        if (r) {
            break;
        }
        r = tern_block_add(b, &run);
        if (r) {
            tern_pages_give(pages, &run);
        } else if (run.dirty && !b->host) {
            tern_paging_scrub(scrub, run.page, run.count);
        }
    }
    tern_residency_count(b, 1);
    if (r == 0) {
        r = tern_paging_error(scrub);
    }
    if (r) {
        tern_block_give(b, false);
    }
    return r;
}

int tern_map_enter(struct tern_allocation *a, const struct tern_block *b, struct tern_paging *map,
                   struct tern_paging *unmap, struct tern_new_tables *tables)
{
    tern_assert_held(&a->proc->dev->lock);
    struct tern_process *proc = a->proc;
    const uint32_t va = a->va + b->first, region = va / TERN_PAGES_SPAN;
    if (b->runs[0].count == TERN_PAGES_SPAN && !proc->tables[region]) {
        tern_paging_entries(map, proc->root, region, 1, pte(b->runs[0].page, a->flags), 0);
    } else {
        const int r = table(proc, region, map, tables);
        for (uint32_t i = 0; !r && i < b->run_count; i++) {
            tern_paging_entries(map, proc->tables[region], (va + b->at[i]) % TERN_PAGES_SPAN, b->runs[i].count,
                                pte(b->runs[i].page, a->flags), PTE_STEP);
        }
        if (r) {
            return r;
        }
    }
    tern_map_clear(a, b, unmap);
    const int r = tern_paging_error(map);
    return r ? r : tern_paging_error(unmap);
}

/** Sets all entries of a block to the same value. */
static void set_all(const struct tern_allocation *a, const struct tern_block *b, struct tern_paging *p, uint32_t entry)
{
    const struct tern_process *proc = a->proc;
    const uint32_t va = a->va + b->first, region = va / TERN_PAGES_SPAN;
    if (proc->tables[region]) {
        tern_paging_entries(p, proc->tables[region], va % TERN_PAGES_SPAN, b->pages, entry, 0);
    } else {
        tern_paging_entries(p, proc->root, region, 1, entry, 0);
    }
}

void tern_map_clear(const struct tern_allocation *a, const struct tern_block *b, struct tern_paging *unmap)
{
    tern_assert_held(&a->proc->dev->lock);
    set_all(a, b, unmap, 0);
}

void tern_map_leave(const struct tern_allocation *a, const struct tern_block *b, struct tern_paging *unmap)
{
    tern_assert_held(&a->proc->dev->lock);
    set_all(a, b, unmap, a->proc->dev->kmd.page_requests ? TERN_PTE_ABSENT_MASK : 0);
}

/** Records that a new mapping of a block is absent, and in `unmap` one packet line that undoes it. */
static int enter_absent(const struct tern_allocation *a, const struct tern_block *b, struct tern_paging *map,
                        struct tern_paging *unmap, struct tern_new_tables *tables)
{
    const uint32_t region = (a->va + b->first) / TERN_PAGES_SPAN;
    if (!a->proc->dev->kmd.page_requests) { /* tern_map_retire_line replaces this line when the block is mapped */
        tern_paging_nop(unmap);
        return 0;
    }
    const int r = b->pages < TERN_PAGES_SPAN ? table(a->proc, region, map, tables) : 0;
    tern_map_leave(a, b, map);
    tern_map_clear(a, b, unmap);
    return r;
}

void tern_map_retire_line(struct tern_allocation *a, const struct tern_block *b, const struct tern_paging *unmap)
{
    tern_assert_held(&a->proc->dev->lock);
    memcpy(a->unmap->packets + (b - b->m->blocks) * (TERN_PKT_LINE_BYTES / 4), unmap->words, TERN_PKT_LINE_BYTES);
}

int tern_map_prepare(struct tern_allocation *a, struct tern_paging *map, struct tern_paging *unmap,
                     struct tern_new_tables *tables)
{
    tern_assert_held(&a->proc->dev->lock);
    int r = 0;
    for (uint32_t i = 0; !r && i < a->mem->block_count; i++) {
        r = tern_map_take(&a->mem->blocks[i], map);
        if (r == 0) {
            r = tern_map_enter(a, &a->mem->blocks[i], map, unmap, tables);
        }
    }
    tern_paging_flush(unmap, a->proc->root, a->va, a->pages);
    if (r == 0) {
        r = tern_paging_error(unmap);
    }
    if (r) {
        tern_memory_give(a->mem, false);
        tern_map_undo(a->proc, tables);
    }
    return r;
}

int tern_map_resident(struct tern_allocation *a, struct tern_paging *map, struct tern_paging *unmap,
                      struct tern_new_tables *tables)
{
    tern_assert_held(&a->proc->dev->lock);
    int r = 0;
    for (uint32_t i = 0; !r && i < a->mem->block_count; i++) {
        const struct tern_block *b = &a->mem->blocks[i];
        if (b->resident) {
            r = tern_map_enter(a, b, map, unmap, tables);
        } else {
            r = enter_absent(a, b, map, unmap, tables);
        }
    }
    tern_paging_flush(unmap, a->proc->root, a->va, a->pages);
    if (r == 0) {
        r = tern_paging_error(unmap);
    }
    if (r) {
        tern_map_undo(a->proc, tables);
    }
    return r;
}

void tern_map_undo(struct tern_process *proc, const struct tern_new_tables *tables)
{
    tern_assert_held(&proc->dev->lock);
    for (uint32_t region = 0; region < TERN_PAGES_SPAN; region++) {
        if (proc->tables[region] && tables->made[region / 32] >> region % 32 & 1) {
            struct tern_run run = {proc->tables[region], 1, tables->dirty[region / 32] >> region % 32 & 1};
            tern_pages_give(proc->partition->pages, &run);
            proc->tables[region] = 0;
        }
    }
}
