/* SPDX-License-Identifier: Apache-2.0 */
/** Memories and their blocks: device pages, and bytes on the host (state/memory.h). */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "os/mem/mem.h"

int tern_memory_make(struct tern_allocation *a, bool movable)
{
    tern_assert_held(&a->proc->dev->lock);
    const uint32_t count = (a->va + a->pages - 1) / TERN_PAGES_SPAN - a->va / TERN_PAGES_SPAN + 1;
    struct tern_memory *m = calloc(1, sizeof *m);
    struct tern_block *blocks = calloc(count, sizeof *blocks);
    if (!m || !blocks) {
        free(m);
        free(blocks);
        return -ENOMEM;
    }
    *m = (struct tern_memory){.dev = a->proc->dev, .partition = a->proc->partition, .pages = a->pages,
                              .offset = a->va % TERN_PAGES_SPAN, .blocks = blocks, .block_count = count,
                              .movable = movable,
                              .number = ++a->proc->dev->next_memory};
    tern_list_init(&m->mappings);
    tern_list_init(&m->by_use);
    tern_list_init(&m->here);
    tern_list_init(&m->away);
    for (uint32_t i = 0, first = 0; i < count; i++) {
        struct tern_block *b = &blocks[i];
        const uint32_t room = TERN_PAGES_SPAN - (a->va + first) % TERN_PAGES_SPAN, left = a->pages - first;
        *b = (struct tern_block){.m = m, .first = first, .pages = left < room ? left : room};
        tern_list_append(&m->away, &b->node);
        first += b->pages;
    }
    tern_memory_join(m, a);
    return 0;
}

void tern_memory_join(struct tern_memory *m, struct tern_allocation *a)
{
    tern_assert_held(&m->dev->lock);
    a->mem = m;
    m->refs++;
    m->mapping_count++;
    tern_list_append(&m->mappings, &a->mapping);
}

void tern_memory_leave(struct tern_allocation *a)
{
    tern_assert_held(&a->proc->dev->lock);
    struct tern_memory *m = a->mem;
    tern_list_remove(&a->mapping);
    m->failed = m->failed || a->failed;
    if (--m->mapping_count == 0 && (!m->failed || m->dev->lost)) {
        tern_memory_give(m, true);
    }
    if (m->failed) {
        tern_list_remove(&m->by_use);
    }
}

void tern_memory_drop(struct tern_allocation *a)
{
    struct tern_memory *m = a->mem;
    a->mem = NULL;
    if (m) {
        tern_assert_held(&m->dev->lock);
        tern_memory_release(m);
    }
}

void tern_memory_release(struct tern_memory *m)
{
    tern_assert_held(&m->dev->lock);
    if (--m->refs) {
        return;
    }
    for (uint32_t i = 0; i < m->block_count; i++) {
        free(m->blocks[i].runs);
        free(m->blocks[i].at);
        free(m->blocks[i].host);
        free(m->blocks[i].written);
    }
    free(m->blocks);
    free(m);
}

int tern_block_add(struct tern_block *b, const struct tern_run *run)
{
    tern_assert_held(&b->m->dev->lock);
    const struct tern_run *last = b->run_count ? &b->runs[b->run_count - 1] : NULL;
    if (b->run_count == b->run_capacity) {
        const uint32_t capacity = b->run_capacity ? b->run_capacity * 4 : 1;
        struct tern_run *runs = realloc(b->runs, capacity * sizeof *runs);
        if (!runs) {
            return -ENOMEM;
        }
        last = last ? &runs[b->run_count - 1] : NULL;
        b->runs = runs;
        uint32_t *ats = realloc(b->at, capacity * sizeof *ats);
        if (!ats) {
            return -ENOMEM;
        }
        b->at = ats;
        b->run_capacity = capacity;
    }
    b->at[b->run_count] = last ? b->at[b->run_count - 1] + last->count : 0;
    b->runs[b->run_count++] = *run;
    return 0;
}

void tern_block_give(struct tern_block *b, bool dirty)
{
    tern_assert_held(&b->m->dev->lock);
    tern_residency_count(b, -1);
    for (uint32_t i = 0; i < b->run_count; i++) {
        b->runs[i].dirty = b->runs[i].dirty || dirty;
        tern_pages_give(b->m->partition->pages, &b->runs[i]);
    }
    b->run_count = 0;
}

void tern_memory_give(struct tern_memory *m, bool dirty)
{
    tern_assert_held(&m->dev->lock);
    for (uint32_t i = 0; i < m->block_count; i++) {
        tern_block_give(&m->blocks[i], dirty);
    }
}

uint64_t tern_block_physical(const struct tern_block *b, uint64_t offset, uint64_t *contiguous)
{
    tern_assert_either(&b->m->dev->lock, &b->m->dev->hal_lock);
    uint32_t page = (uint32_t)(offset / TERN_PAGE), low = 0, high = b->run_count;
    while (high - low > 1) {
        uint32_t mid = low + (high - low) / 2;
        if (b->at[mid] <= page) {
            low = mid;
        } else {
            high = mid;
        }
    }
    uint64_t within = offset - (uint64_t)b->at[low] * TERN_PAGE;
    *contiguous = (uint64_t)b->runs[low].count * TERN_PAGE - within;
    return (uint64_t)b->runs[low].page * TERN_PAGE + within;
}

uint64_t tern_allocation_physical(const struct tern_allocation *a, uint64_t offset, uint64_t *contiguous)
{
    const struct tern_block *b = tern_block_of(a, (uint32_t)(offset / TERN_PAGE));
    return tern_block_physical(b, offset - (uint64_t)b->first * TERN_PAGE, contiguous);
}

/* ---------------------------------------------------------------- on the host */

void tern_block_host_set(struct tern_block *b, uint8_t *host)
{
    tern_assert_held(&b->m->dev->hal_lock);
    tern_assert_held(&b->m->dev->lock);
    free(b->host);
    b->host = host;
}

int tern_block_host_make(struct tern_block *b)
{
    struct tern_device *dev = b->m->dev;
    tern_assert_held(&dev->hal_lock);
    uint32_t *const written = b->written ? b->written : calloc((b->pages + 31) / 32, sizeof *written);
    uint8_t *const host = b->host || !written ? b->host : calloc(b->pages, TERN_PAGE);
    b->written = written;
    if (host != b->host) {
        pthread_mutex_lock(&dev->lock);
        tern_block_host_set(b, host);
        pthread_mutex_unlock(&dev->lock);
    }
    return written && host ? 0 : tern_error(-ENOMEM, "the host has no memory for %" PRIu64 " KiB of device memory that "
                                            "is to be evicted", tern_pages_kib(b->pages));
}

void tern_block_host_read(const struct tern_block *b, uint64_t offset, void *data, uint64_t size)
{
    tern_assert_held(&b->m->dev->hal_lock);
    if (b->host) {
        memcpy(data, b->host + offset, size);
    } else {
        memset(data, 0, size);
    }
}

int tern_block_host_write(struct tern_block *b, uint64_t offset, const void *data, uint64_t size)
{
    tern_assert_held(&b->m->dev->hal_lock);
    const int r = tern_block_host_make(b);
    if (!r) {
        b->changes++;
        memcpy(b->host + offset, data, size);
        for (uint64_t p = offset / TERN_PAGE; p <= (offset + size - 1) / TERN_PAGE; p++) {
            b->written[p / 32] |= 1u << p % 32;
        }
    }
    return r;
}

/** Commits a block of sparse memory that the host is about to write. Requires dev->hal_lock; takes dev->lock. */
static int commit(struct tern_block *b)
{
    tern_assert_held(&b->m->dev->hal_lock);
    struct tern_device *dev = b->m->dev;
    pthread_mutex_lock(&dev->lock);
    const int r = tern_sparse_commit(b);
    pthread_mutex_unlock(&dev->lock);
    return r;
}

int tern_block_transfer(struct tern_block *b, bool write, uint64_t offset, uint8_t *data, uint64_t size, uint64_t *n)
{
    tern_assert_held(&b->m->dev->hal_lock);
    struct tern_device *dev = b->m->dev;
    int r = 0;
    if (b->on_host) {
        *n = (uint64_t)b->pages * TERN_PAGE - offset;
        *n = *n < size ? *n : size;
        if (write) {
            r = b->m->sparse ? commit(b) : 0;
            if (r == 0) {
                r = tern_block_host_write(b, offset, data, *n);
            }
        } else {
            tern_block_host_read(b, offset, data, *n);
        }
        return r;
    }
    const uint64_t pa = tern_block_physical(b, offset, n);
    *n = *n < size ? *n : size;
    return write ? tern_device_write(dev, &(struct tern_iovec){pa, data, *n}, 1) : tern_device_read(dev, pa, data, *n);
}
