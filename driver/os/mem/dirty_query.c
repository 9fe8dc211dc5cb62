/* SPDX-License-Identifier: Apache-2.0 */
/** The allocations of a process and their dirty pages, for migration and checkpoints. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/sized.h"
#include "os/mem/mem.h"

#define QUERY_BITS_MAX 8192u /* dirty bits of one query */

/** True: the allocation is complete and was not destroyed. */
static bool counts(const struct tern_allocation *a)
{
    return !a->asked && !tern_list_empty(&a->node);
}

int tern_os_process_allocations(struct tern_process *proc, struct tern_allocation_info *out, uint32_t max)
{
    if (tern_device_check_fork(proc->dev)) {
        return -ENODEV;
    }
    const uint32_t stride = max ? out->size : 0;
    uint32_t n = 0;
    pthread_mutex_lock(&proc->dev->lock);
    int r = proc->killed ? tern_process_check(proc) : 0;
    for (uint32_t i = 0; !r && i < proc->va.n; i++) {
        const struct tern_allocation *a = proc->va.range[i].owner;
        if (!counts(a)) {
            continue;
        }
        if (n < max) {
            const struct tern_allocation_info info = {
                .address = a->va * TERN_PAGE, .bytes = tern_os_allocation_size(a), .flags = a->flags,
                .driver = a->internal,
                .shared = a->mem && a->mem->mapping_count > 1};
            r = tern_sized_give_at(out, stride, n, &info, sizeof info);
        }
        n++;
    }
    pthread_mutex_unlock(&proc->dev->lock);
    return r ? r : (int)n;
}

int tern_dirty_query(struct tern_device *dev, uint64_t address, uint32_t pages, bool clear, uint32_t at, uint32_t *bits)
{
    tern_assert_held(&dev->hal_lock);
    uint8_t got[QUERY_BITS_MAX / 8];
    const uint64_t unit = 1ull << dev->kmd.dirty_page_log2;
    const uint64_t most = QUERY_BITS_MAX * unit / TERN_PAGE > 1 ? QUERY_BITS_MAX * unit / TERN_PAGE - 1 : 1;
    int r = 0;
    for (uint32_t n; !r && pages; pages -= n, at += n, address += (uint64_t)n * TERN_PAGE) {
        n = pages < most ? pages : (uint32_t)most;
        const uint64_t first = address / unit, last = (address + (uint64_t)n * TERN_PAGE - 1) / unit;
        const struct tern_basis_part part = {0, first * unit, (last - first + 1) * unit};
        r = tern_basis_query(&dev->kmd, dev->dirty_basis, &part, clear, got, 0);
        for (uint64_t u = first; !r && u <= last; u++) {
            for (uint64_t p = u * unit < address ? address : u * unit; p < (u + 1) * unit && p < address +
                 (uint64_t)n * TERN_PAGE; p += TERN_PAGE - p % TERN_PAGE) {
                const uint32_t i = at + (uint32_t)((p - address) / TERN_PAGE);
                bits[i / 32] |= ((uint32_t)got[(u - first) / 8] >> (u - first) % 8 & 1u) << i % 32;
            }
        }
    }
    return r;
}

/** Adds the dirty bits that the host has of pages, of evicted blocks or of writes that were reported to other
 *  mappings only. */
static void add_written(uint32_t *written, uint32_t page, uint32_t pages, bool clear, uint32_t at, uint32_t *bits)
{
    for (uint32_t i = 0; written && i < pages; i++) {
        uint32_t *const word = &written[(page + i) / 32], bit = 1u << (page + i) % 32;
        bits[(at + i) / 32] |= *word & bit ? 1u << (at + i) % 32 : 0;
        *word &= clear ? ~bit : UINT32_MAX;
    }
}

/** A range of pages and its place. */
struct place {
    struct tern_allocation *a;
    uint32_t page, pages; /* counted from the start of the allocation */
    uint64_t physical;    /* physical address; 0: on the host */
};

/** Finds the first pages, at most `pages`, from `address` on that are contiguous; all must lie in one allocation.
 *  Adds the dirty bits that the host has of them. Requires dev->hal_lock; takes dev->lock. */
static int locate(struct tern_process *proc, uint32_t address, uint32_t pages, bool clear, uint32_t at, uint32_t *bits,
                  struct place *out)
{
    tern_assert_held(&proc->dev->hal_lock);
    struct tern_device *dev = proc->dev;
    pthread_mutex_lock(&dev->lock);
    int r = proc->killed || dev->lost ? tern_process_check(proc) : 0;
    struct tern_allocation *a = r ? NULL : tern_allocation_at(proc, address / TERN_PAGE);
    a = a && counts(a) ? a : NULL;
    const uint32_t page = a ? address / TERN_PAGE - a->va : 0;
    if (!r && (!a || pages > a->pages - page)) {
        r = tern_error(-EFAULT, "%u pages at 0x%08x do not lie in one allocation of process '%s'", pages, address,
                       proc->name);
    }
    if (!r) {
        struct tern_block *b = tern_block_of(a, page);
        uint64_t row = (uint64_t)(b->pages - (page - b->first)) * TERN_PAGE;
        *out = (struct place){.a = a, .page = page};
        out->physical = b->on_host ? 0 : tern_block_physical(b, (uint64_t)(page - b->first) * TERN_PAGE, &row);
        out->pages = row / TERN_PAGE < pages ? (uint32_t)(row / TERN_PAGE) : pages;
        add_written(b->written, page - b->first, out->pages, clear, at, bits);
    }
    pthread_mutex_unlock(&dev->lock);
    return r;
}

/** Exchanges dirty bits with other mappings of the memory: adds writes that were cleared for others, and keeps for
 *  others the writes that are cleared now. Requires dev->hal_lock; takes dev->lock. */
static void share(struct tern_process *proc, uint32_t address, const struct place *p, bool clear, uint32_t at,
                  uint32_t *bits)
{
    tern_assert_held(&proc->dev->hal_lock);
    pthread_mutex_lock(&proc->dev->lock);
    /* the allocation may have been freed */
    if (tern_allocation_at(proc, address / TERN_PAGE) == p->a && counts(p->a) && p->a->unseen) {
        if (clear) {
            tern_share_written(p->a, p->page, p->pages, at, bits);
        }
        add_written(p->a->unseen, p->page, p->pages, clear, at, bits);
    }
    pthread_mutex_unlock(&proc->dev->lock);
}

int tern_os_process_dirty(struct tern_process *proc, uint32_t address, uint32_t bytes, bool clear, uint32_t *bits)
{
    struct tern_device *dev = proc->dev;
    if (tern_device_check_fork(dev)) {
        return -ENODEV;
    }
    if (!bytes || address % TERN_PAGE || bytes % TERN_PAGE) {
        return tern_error(-EINVAL, "address 0x%08x and size %u must be multiples of 4096, and the size not 0", address,
                          bytes);
    }
    if (clear && dev->info.dirty_page_bytes > TERN_PAGE) {
        return tern_error(-ENOTSUP, "a dirty bit of this device covers %u bytes: clearing it would hide writes of "
                                    "other processes; ask without clearing", dev->info.dirty_page_bytes);
    }
    const uint32_t pages = bytes / TERN_PAGE;
    int r = 0;
    memset(bits, 0, (pages + 31) / 32 * sizeof *bits);
    tern_ticket_lock(&dev->hal_lock); /* held to the end, because a kill needs it to free pages (kill.c) */
    for (uint32_t at = 0, n; !r && at < pages; at += n) {
        struct place p = {0};
        r = locate(proc, address + at * TERN_PAGE, pages - at, clear, at, bits, &p);
        n = p.pages;
        if (r == 0 && p.physical) {
            r = tern_dirty_query(dev, p.physical, n, clear, at, bits);
        }
        if (!r) {
            share(proc, address + at * TERN_PAGE, &p, clear, at, bits);
        }
    }
    tern_ticket_unlock(&dev->hal_lock);
    return r;
}
