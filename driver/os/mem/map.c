/* SPDX-License-Identifier: Apache-2.0 */
/**
 * From blocks to page-table entries. A superpage wherever 4 MiB of address and memory line up, else runs of small
 * pages, one pte_update for each. Entries are cleared by one pte_update a block.
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

/** The second-level table of a region; a new one is scrubbed if need be and hung into the root. */
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

/** Takes the next run of small pages, at page `done` of the block, and records its entries. *count: pages done. */
static int take_small(struct tern_block *b, uint32_t done, struct tern_paging *map, uint32_t *count)
{
    const struct tern_allocation *a = b->a;
    struct tern_pages *pages = a->proc->partition->pages;
    const uint32_t va = a->va + b->first + done;
    struct tern_run run;
    int r = tern_pages_take(pages, b->pages - done, &run);
    if (r) {
        return r;
    }
    r = tern_block_add(b, &run);
    if (r) {
        tern_pages_give(pages, &run);
        return r;
    }
    if (run.dirty && !b->host) {
        tern_paging_scrub(map, run.page, run.count);
    }
    tern_paging_entries(map, a->proc->tables[va / TERN_PAGES_SPAN], va % TERN_PAGES_SPAN, run.count,
                        pte(run.page, a->flags), PTE_STEP);
    *count = run.count;
    return 0;
}

/** A superpage, if it can be one. -ENOSPC: it cannot. */
static int take_large(struct tern_block *b, struct tern_paging *map)
{
    const struct tern_allocation *a = b->a;
    struct tern_process *proc = a->proc;
    const uint32_t region = (a->va + b->first) / TERN_PAGES_SPAN;
    struct tern_run run;
    int r = b->pages < TERN_PAGES_SPAN || proc->tables[region] ? -ENOSPC
                                                               : tern_pages_take_large(proc->partition->pages, &run);
    if (r) {
        return r;
    }
    r = tern_block_add(b, &run);
    if (r) {
        tern_pages_give(proc->partition->pages, &run);
        return r;
    }
    if (run.dirty && !b->host) {
        tern_paging_scrub(map, run.page, run.count);
    }
    tern_paging_entries(map, proc->root, region, 1, pte(run.page, a->flags), 0);
    return 0;
}

/** All entries of a block. */
static void set_all(const struct tern_block *b, struct tern_paging *p, uint32_t entry)
{
    const struct tern_process *proc = b->a->proc;
    const uint32_t va = b->a->va + b->first, region = va / TERN_PAGES_SPAN;
    if (proc->tables[region]) {
        tern_paging_entries(p, proc->tables[region], va % TERN_PAGES_SPAN, b->pages, entry, 0);
    } else {
        tern_paging_entries(p, proc->root, region, 1, entry, 0);
    }
}

void tern_map_clear(const struct tern_block *b, struct tern_paging *unmap)
{
    set_all(b, unmap, 0);
}

void tern_map_leave(const struct tern_block *b, struct tern_paging *unmap)
{
    set_all(b, unmap, b->a->proc->dev->kmd.page_requests ? TERN_PTE_ABSENT_MASK : 0);
}

int tern_map_absent(struct tern_block *b, struct tern_paging *map, struct tern_paging *unmap,
                    struct tern_new_tables *tables)
{
    const uint32_t region = (b->a->va + b->first) / TERN_PAGES_SPAN;
    const int r = b->pages < TERN_PAGES_SPAN ? table(b->a->proc, region, map, tables) : 0;
    tern_map_leave(b, map);
    tern_map_clear(b, unmap);
    return r;
}

void tern_map_retire_line(struct tern_block *b, const struct tern_paging *unmap)
{
    memcpy(b->a->unmap->packets + (b - b->a->blocks) * (TERN_PKT_LINE_BYTES / 4), unmap->words, TERN_PKT_LINE_BYTES);
}

int tern_map_block(struct tern_block *b, struct tern_paging *map, struct tern_paging *unmap,
                   struct tern_new_tables *tables)
{
    int r = take_large(b, map);
    if (r == -ENOSPC) {
        r = table(b->a->proc, (b->a->va + b->first) / TERN_PAGES_SPAN, map, tables);
        for (uint32_t done = 0, n = 0; !r && done < b->pages; done += n) {
            r = take_small(b, done, map, &n);
        }
    }
    tern_map_clear(b, unmap);
    tern_residency_count(b, 1);
    r = r ? r : tern_paging_error(map);
    r = r ? r : tern_paging_error(unmap);
    if (r) {
        tern_map_undo_block(b, tables);
    }
    return r;
}

int tern_map_prepare(struct tern_allocation *a, struct tern_paging *map, struct tern_paging *unmap,
                     struct tern_new_tables *tables)
{
    int r = 0;
    for (uint32_t i = 0; !r && i < a->block_count; i++) {
        r = tern_map_block(&a->blocks[i], map, unmap, tables);
    }
    tern_paging_flush(unmap, a->proc->root, a->va, a->pages);
    r = r ? r : tern_paging_error(unmap);
    if (r) {
        tern_map_undo(a, tables);
    }
    return r;
}

static void give(struct tern_block *b, bool dirty)
{
    tern_residency_count(b, -1);
    tern_block_give(b, dirty);
}

static void undo_table(struct tern_process *proc, uint32_t region, const struct tern_new_tables *tables)
{
    if (proc->tables[region] && tables->made[region / 32] >> region % 32 & 1) {
        struct tern_run run = {proc->tables[region], 1, tables->dirty[region / 32] >> region % 32 & 1};
        tern_pages_give(proc->partition->pages, &run);
        proc->tables[region] = 0;
    }
}

void tern_map_undo_block(struct tern_block *b, const struct tern_new_tables *tables)
{
    give(b, false);
    undo_table(b->a->proc, (b->a->va + b->first) / TERN_PAGES_SPAN, tables);
}

void tern_map_undo(struct tern_allocation *a, const struct tern_new_tables *tables)
{
    for (uint32_t i = 0; i < a->block_count; i++) {
        tern_map_undo_block(&a->blocks[i], tables);
    }
}

void tern_map_give_pages(struct tern_allocation *a)
{
    for (uint32_t i = 0; i < a->block_count; i++) {
        give(&a->blocks[i], true);
    }
}
