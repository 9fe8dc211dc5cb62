/* SPDX-License-Identifier: Apache-2.0 */
/** Allocations: made and mapped in one call, read and written by physical address, freed by retire.c. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "os/job/job.h"
#include "os/mem/mem.h"

#define COPY_BYTES_MAX (4u << 20) /* bytes copied before the hal lock is released, about a millisecond */

void tern_allocation_free(struct tern_allocation *a)
{
    for (uint32_t e = 0; e < TERN_ENGINES_MAX; e++) {
        free(a->flush[e]);
    }
    free(a->unmap);
    free(a->unseen);
    tern_memory_drop(a);
    free(a);
}

static bool is_sparse(const struct tern_allocation *a)
{
    return a->flags & TERN_MEM_SPARSE;
}

static int take_range(struct tern_allocation *a, uint32_t address)
{
    struct tern_vaspace *va = &a->proc->va;
    if (address) {
        a->va = address / TERN_PAGE;
        return tern_vaspace_take_at(va, a->va, a->pages, a);
    }
    int r = -ENOSPC;
    enum tern_place place = a->internal && !a->low ? TERN_PLACE_HIGH : TERN_PLACE_LOW;
    if (a->pages >= TERN_PAGES_LARGE) {
        r = tern_vaspace_take(va, a->pages, TERN_PAGES_LARGE, place, a, &a->va);
    }
    return r == -ENOSPC ? tern_vaspace_take(va, a->pages, 1, place, a, &a->va) : r;
}

/** Makes the jobs of the free: one clears the entries and flushes one engine, the others flush the other engines. */
static int make_jobs(struct tern_allocation *a, const struct tern_paging *unmap)
{
    struct tern_paging flush = {0};
    tern_paging_flush(&flush, a->proc->root, a->va, a->pages);
    int r = tern_paging_error(&flush);
    a->unmap = r ? NULL : tern_job_create(unmap->words, unmap->size, "unmap");
    for (uint32_t e = 0; !r && e < a->proc->dev->kmd.engines; e++) {
        a->flush[e] = tern_job_create(flush.words, flush.size, "flush");
        r = a->flush[e] ? 0 : -ENOMEM;
    }
    tern_paging_free(&flush);
    return r || !a->unmap ? -ENOMEM : 0;
}

/** Maps a new memory as absent. The memory reads zero, and its blocks get pages when they are used. -ENOSPC: there
 *  are not even pages for tables. */
static int make_absent(struct tern_allocation *a, struct tern_paging *map, struct tern_paging *unmap,
                       struct tern_new_tables *tables)
{
    for (uint32_t i = 0; i < a->mem->block_count; i++) {
        a->mem->blocks[i].on_host = true;
    }
    tern_paging_free(map);
    tern_paging_free(unmap);
    return tern_map_resident(a, map, unmap, tables);
}

static void all_resident(struct tern_memory *m)
{
    for (uint32_t i = 0; i < m->block_count; i++) {
        tern_residency_set(&m->blocks[i], true);
    }
}

static void free_jobs(struct tern_allocation *a)
{
    free(a->unmap);
    a->unmap = NULL;
    for (uint32_t e = 0; e < TERN_ENGINES_MAX; e++) {
        free(a->flush[e]);
        a->flush[e] = NULL;
    }
}

/**
 * Makes a memory for an allocation that has addresses: takes pages and tables, and writes the entries. On failure
 * nothing is taken, except after -EIO: the process is in error then, and the pages are never given to others. If a
 * reset of all engines caused the -EIO, the engines have forgotten all translations, and the pages are given back; the
 * tables are freed with the process.
 */
static int map_new(struct tern_allocation *a, bool movable)
{
    struct tern_paging in = {0}, out = {0};
    struct tern_new_tables tables = {0};
    struct tern_device *dev = a->proc->dev;
    const bool sparse = is_sparse(a);
    int r = tern_memory_make(a, movable);
    if (!r) {
        a->mem->sparse = sparse;
        r = sparse ? tern_pager_start(dev) : tern_map_prepare(a, &in, &out, &tables);
    }
    const bool absent = !r ? sparse : r == -ENOSPC && !sparse && movable && tern_pager_start(dev) == 0;
    r = absent ? make_absent(a, &in, &out, &tables) : r;
    if (r) {
        goto end;
    }
    const uint32_t resets = dev->tdr.adapter_resets;
    r = make_jobs(a, &out);
    a->proc->partition->making++;
    if (r == 0) {
        r = tern_paging_run(a->proc, &in, "map");
    }
    a->proc->partition->making--;
    if (!r && !absent) {
        all_resident(a->mem);
    } else if (r && r != -EIO) {
        tern_memory_give(a->mem, false);
        tern_map_undo(a->proc, &tables);
    } else if (r) {
        a->failed = resets == dev->tdr.adapter_resets;
    }
end:
    tern_paging_free(&in);
    tern_paging_free(&out);
    return r;
}

/** Maps a memory that exists; m->moving keeps its blocks where they are meanwhile. -EIO: its pages are never given
 *  to others. */
static int map_shared(struct tern_allocation *a, struct tern_memory *m)
{
    struct tern_paging in = {0}, out = {0};
    struct tern_new_tables tables = {0};
    struct tern_device *dev = a->proc->dev;
    tern_memory_join(m, a);
    m->moving = true;
    int r = tern_share_watch(m);
    if (r == 0) {
        r = tern_map_resident(a, &in, &out, &tables);
    }
    if (!r) {
        const uint32_t resets = dev->tdr.adapter_resets;
        r = make_jobs(a, &out);
        a->proc->partition->making++;
        if (r == 0) {
            r = tern_paging_run(a->proc, &in, "import");
        }
        a->proc->partition->making--;
        if (r && r != -EIO) {
            tern_map_undo(a->proc, &tables);
        }
        a->failed = r == -EIO && resets == dev->tdr.adapter_resets;
    }
    tern_paging_free(&in);
    tern_paging_free(&out);
    return r;
}

/** Takes addresses for another mapping of a memory, so that each of its blocks lies in one aligned 4 MiB there as
 *  well. */
static int take_range_for(struct tern_allocation *a, const struct tern_memory *m, uint32_t address)
{
    struct tern_vaspace *va = &a->proc->va;
    uint32_t align = 1;
    if (address) {
        const uint32_t first = address / TERN_PAGE, last = first + m->pages - 1;
        const bool fits = m->block_count == 1 ? first / TERN_PAGES_SPAN == last / TERN_PAGES_SPAN
                                              : first % TERN_PAGES_SPAN == m->offset;
        return fits ? take_range(a, address)
                    : tern_error(-EINVAL, "address 0x%08x: this memory can lie only %s", address, m->block_count == 1 ?
                                 "within an aligned 4 MiB" : "where it lies to a multiple of 4 MiB as it was made");
    }
    if (m->block_count > 1) {
        return tern_vaspace_take_offset(va, m->pages, TERN_PAGES_SPAN, m->offset, a, &a->va);
    }
    while (align < m->pages) {
        align *= 2;
    }
    return tern_vaspace_take(va, m->pages, align, TERN_PLACE_LOW, a, &a->va);
}

/** Ends `moving`, and begins the frees that it delayed. */
static void moved(struct tern_memory *m)
{
    struct tern_device *dev = m->dev;
    m->moving = false;
    TERN_LIST_EACH(node, &dev->processes)
    {
        tern_retire_look(TERN_LIST_ENTRY(node, struct tern_process, node));
    }
    pthread_cond_broadcast(&dev->changed);
}

static int map(struct tern_allocation *a, const struct tern_allocation_want *want, bool movable)
{
    struct tern_device *dev = a->proc->dev;
    struct tern_memory *m = want->memory;
    tern_assert_held(&dev->lock);
    while (m && m->moving) {
        pthread_cond_wait(&dev->changed, &dev->lock);
    }
    int r = want->handle ? tern_share_find(a->proc, want->handle, a->flags, &m) : 0;
    if (r == 0 && !m && movable && !is_sparse(a) && !tern_residency_may_commit(a->proc, a->pages)) {
        r = -ENOSPC;
    }
    if (!r && m) {
        a->pages = m->pages;
        r = take_range_for(a, m, want->address);
    } else if (!r) {
        r = take_range(a, want->address);
    }
    if (r) {
        return r;
    }
    r = m ? map_shared(a, m) : map_new(a, movable);
    if (r) {
        tern_vaspace_give(&a->proc->va, a->va);
        free_jobs(a);
        if (a->mem) {
            tern_memory_leave(a);
        }
    }
    if (m) {
        moved(m);
    }
    if (r) {
        tern_memory_drop(a);
    }
    return r;
}

static int explain(int r, const struct tern_allocation *a, uint32_t address)
{
    const struct tern_partition *part = a->proc->partition;
    char host[80];
    switch (r) {
    case -EEXIST:
        return tern_error(r, "process '%s': %u pages at 0x%08x overlap another allocation", a->proc->name,
                          a->pages, address);
    case -ENOSPC:
        if (is_sparse(a)) {
            return tern_error(r, "process '%s': its address space has no room for %" PRIu64 " KiB, or device memory "
                              "none for their tables", a->proc->name, tern_pages_kib(a->pages));
        }
        const uint64_t all = part == &a->proc->dev->partition ? a->proc->dev->kmd.mem_pages : part->count;
        snprintf(host, sizeof host, " and %" PRIu64 " KiB of the host for what is evicted,",
                 tern_pages_kib(tern_residency_left(part)));
        return tern_error(r, "process '%s': %" PRIu64 " KiB of device memory do not fit: %" PRIu64 " of %" PRIu64
                          " KiB are free,%s or the address space is full", a->proc->name, tern_pages_kib(a->pages),
                          tern_pages_kib(tern_pages_free_count(part->pages)), tern_pages_kib(all),
                          part->host ? host : "");
    case -ENOMEM:
        return tern_error_memory("an allocation");
    default:
        return r;
    }
}

/** True: every allocation that overlaps the range is being freed, by a free that the call may wait for. */
static bool will_be_free(const struct tern_allocation *a, uint32_t address, const struct tern_frees *frees)
{
    const struct tern_vaspace *va = &a->proc->va;
    const uint32_t first = address / TERN_PAGE;
    for (uint32_t i = 0; i < va->n; i++) {
        const struct tern_range *r = &va->range[i];
        if (r->first < first + a->pages && first < r->first + r->count && !tern_frees_has(frees, r->owner)) {
            return false;
        }
    }
    return true;
}

/** Waits for a free of memory or addresses, if that can help. Requires dev->lock, which is released meanwhile. */
static bool wait_for_space(const struct tern_allocation *a, uint32_t address, int r, const struct tern_frees *frees)
{
    tern_assert_held(&a->proc->dev->lock);
    const uint32_t first = address ? address / TERN_PAGE : TERN_VA_FIRST;
    return a->pages <= TERN_VA_END - first && (r == -ENOSPC || will_be_free(a, address, frees)) &&
           tern_frees_wait(frees, r == -ENOSPC && !is_sparse(a) ? a->pages : 0);
}

/** Evicts a block if device memory lacks pages that must be resident: pages of unmovable memory, or tables. Tables
 *  are needed for absent pages as well. False: nothing was evicted. */
static bool evict_for(const struct tern_allocation *a, bool movable)
{
    const uint32_t regions = a->pages / TERN_PAGES_SPAN;
    const uint32_t least = is_sparse(a)                      ? 4
                           : a->imported                     ? regions + 4
                           : !movable                        ? a->pages + 4
                           : a->proc->dev->kmd.page_requests ? regions + 2
                                                             : 0;
    return tern_pages_free_count(a->proc->partition->pages) < least && tern_pager_make_room(a->proc, least) == 0;
}

int tern_allocation_make(struct tern_process *proc, const struct tern_allocation_want *want,
                         struct tern_allocation **out)
{
    if (tern_device_check_fork(proc->dev)) {
        return -ENODEV;
    }
    struct tern_device *dev = proc->dev;
    const bool movable = !want->internal && !want->stays && proc->partition->host;
    uint64_t pages = want->size / TERN_PAGE + (want->size % TERN_PAGE != 0);
    struct tern_allocation *a = calloc(1, sizeof *a);
    if (!a) {
        return tern_error_memory("an allocation");
    }
    a->api = dev->api;
    a->proc = proc;
    a->flags = want->flags;
    a->internal = want->internal;
    a->low = want->low;
    a->born = UINT64_MAX; /* the allocation is not complete */
    a->imported = want->handle || want->memory;
    a->pages = pages > TERN_VA_END ? TERN_VA_END : (uint32_t)pages;
    tern_list_init(&a->node);
    tern_list_init(&a->mapping);
    tern_list_init(&a->exports);
    pthread_mutex_lock(&dev->lock);
    const struct tern_frees frees = tern_frees_now(proc);
    int r = tern_process_enter(proc);
    if (r) {
        pthread_mutex_unlock(&dev->lock);
        tern_allocation_free(a);
        return r;
    }
    do {
        r = tern_process_check(proc);
        if (r == 0) {
            r = map(a, want, movable);
        }
    } while (((r == -ENOSPC || r == -EEXIST) && wait_for_space(a, want->address, r, &frees)) ||
             (r == -ENOSPC && evict_for(a, movable)));
    if (r) {
        r = explain(r, a, want->address);
        if (r == -EIO) { /* the tables may be wrong, so no more work may use them */
            struct tern_fault f = {.code = TERN_FAULT_DEVICE};
            snprintf(f.message, sizeof f.message, "process '%.40s': %.160s", proc->name, tern_last_error());
            tern_process_fail(proc, &f);
        }
        tern_allocation_free(a);
    } else {
        tern_residency_add(a);
        a->counted = !want->internal;
        proc->children += a->counted;
        tern_list_append(&proc->allocations, &a->node);
        *out = a;
    }
    if (dev->pager.started) { /* the pager waits for allocations that are being mapped */
        pthread_cond_broadcast(&dev->changed);
    }
    tern_process_leave(proc);
    pthread_mutex_unlock(&dev->lock);
    return r;
}

int tern_allocation_check(uint32_t flags, uint32_t address)
{
    const uint32_t known = TERN_MEM_READ | TERN_MEM_WRITE | TERN_MEM_EXEC;
    if (!flags || flags & ~known) {
        return tern_error(-EINVAL, "allocation flags 0x%x: some of read, write, exec are needed, and nothing else",
                          flags);
    }
    if (address % TERN_PAGE ||
        (address && (address / TERN_PAGE < TERN_VA_FIRST || address / TERN_PAGE >= TERN_VA_END))) {
        return tern_error(-EINVAL, "address 0x%08x is not a multiple of 4096 in [0x%x000, 0x%x000)", address,
                          TERN_VA_FIRST, TERN_VA_END);
    }
    return 0;
}

static int check_sparse(const struct tern_process *proc)
{
    return !proc->dev->kmd.page_requests ? tern_error(-ENOTSUP, "sparse memory needs a device with page requests")
           : !proc->partition->host ? tern_error(-ENOTSUP, "sparse memory needs host memory for what is evicted (key "
                                                 "host), and there is none")
                                    : 0;
}

int tern_os_allocation_create(struct tern_process *proc, uint64_t size, uint32_t flags, uint32_t address,
                              struct tern_allocation **out)
{
    int r = size ? tern_allocation_check(flags & ~TERN_MEM_SPARSE, address)
                 : tern_error(-EINVAL, "an allocation of 0 bytes: the size must be at least 1");
    if (r == 0 && (flags & TERN_MEM_SPARSE)) {
        r = check_sparse(proc);
    }
    const struct tern_allocation_want want = {.size = size, .flags = flags, .address = address};
    return r ? r : tern_allocation_make(proc, &want, out);
}

void tern_os_allocation_destroy(struct tern_allocation *a)
{
    if (a->proc->dev->fork.inherited) {
        return;
    }
    struct tern_device *dev = a->proc->dev;
    pthread_mutex_lock(&dev->lock);
    a->proc->children -= a->counted;
    a->counted = false;
    if (a->gone) {
        tern_list_remove(&a->node);
        tern_allocation_free(a);
    } else if (!a->asked) {
        tern_retire(a);
    }
    pthread_mutex_unlock(&dev->lock);
}

uint32_t tern_os_allocation_address(const struct tern_allocation *a)
{
    return a->va * TERN_PAGE;
}

uint64_t tern_os_allocation_size(const struct tern_allocation *a)
{
    return (uint64_t)a->pages * TERN_PAGE;
}

struct tern_allocation *tern_allocation_at(const struct tern_process *proc, uint32_t page)
{
    tern_assert_held(&proc->dev->lock);
    const struct tern_range *r = tern_vaspace_find(&proc->va, page);
    return r && page - r->first < r->count ? r->owner : NULL;
}

static int transfer(struct tern_allocation *a, bool write, uint64_t offset, uint8_t *data, size_t size)
{
    if (tern_device_check_fork(a->proc->dev)) {
        return -ENODEV;
    }
    struct tern_device *dev = a->proc->dev;
    int r = 0;
    if (offset > tern_os_allocation_size(a) || size > tern_os_allocation_size(a) - offset) {
        return tern_error(-EFAULT, "bytes [%" PRIu64 ", +%zu) reach beyond the allocation of %" PRIu64 " bytes at "
                          "0x%08x", offset, size, tern_os_allocation_size(a), tern_os_allocation_address(a));
    }
    if (a->imported && !(a->flags & (write ? TERN_MEM_WRITE : TERN_MEM_READ | TERN_MEM_WRITE))) {
        return tern_error(-EACCES, "the memory at 0x%08x was imported without the right to %s it",
                          tern_os_allocation_address(a), write ? "write" : "read");
    }
    tern_ticket_lock(&dev->hal_lock);
    for (uint64_t held = 0; !r && size;) {
        struct tern_block *b = tern_block_of(a, (uint32_t)(offset / TERN_PAGE));
        uint64_t n;
        if (a->proc->killed) {
            tern_ticket_unlock(&dev->hal_lock);
            return tern_error(-EIO, "the process was killed, and its memory is gone");
        }
        r = tern_block_transfer(b, write, offset - (uint64_t)b->first * TERN_PAGE, data, size, &n);
        offset += n;
        data += n;
        size -= n;
        held += n;
        if (held >= COPY_BYTES_MAX) {
            tern_ticket_unlock(&dev->hal_lock);
            tern_ticket_lock(&dev->hal_lock);
            held = 0;
        }
    }
    tern_ticket_unlock(&dev->hal_lock);
    if (r && r != -ENOMEM && r != -ENOSPC) {
        pthread_mutex_lock(&dev->lock);
        tern_device_lose(dev, tern_last_error());
        pthread_mutex_unlock(&dev->lock);
    }
    return r;
}

int tern_os_allocation_read(struct tern_allocation *a, uint64_t offset, void *data, size_t size)
{
    return transfer(a, false, offset, data, size);
}

int tern_os_allocation_write(struct tern_allocation *a, uint64_t offset, const void *data, size_t size)
{
    struct tern_device *dev = a->proc->dev;
    int r = transfer(a, true, offset, (uint8_t *)(uintptr_t)data, size);
    if (r) {
        return r;
    }
    pthread_mutex_lock(&dev->lock);
    tern_sched_signalled(&dev->sched, &a->proc->sched);
    tern_device_note(dev); /* a context or thread may wait for a value in these bytes (S3) */
    pthread_mutex_unlock(&dev->lock);
    pthread_cond_signal(&dev->wake);
    return r;
}
