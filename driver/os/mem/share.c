/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Export and import of memory by handles. A handle is 128 random bits. Any process that has it may import the memory;
 * it ends with the allocation that was exported. Alternative dropped: file descriptors. A descriptor cannot pass
 * through every connection of two programs, and is no better guarded once passed (docs/decisions/sharing.md).
 *
 * A look-up compares all bytes of all handles in a bucket, so that its time does not tell how many bytes of a guess are
 * right.
 *
 * Locks: functions require dev->lock, unless a comment says otherwise.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/error.h"
#include "os/mem/mem.h"

struct export {
    struct tern_list node; /* node of dev->exports[handle[0]] */
    struct tern_list own;  /* node of a->exports */
    struct tern_allocation *a;
    uint32_t access;
    uint8_t handle[TERN_HANDLE_BYTES];
};

void tern_share_init(struct tern_device *dev)
{
    for (uint32_t i = 0; i < TERN_EXPORT_BUCKETS; i++) {
        tern_list_init(&dev->exports[i]);
    }
}

/** The flags with those that they imply: write implies read. */
static uint32_t access_of(uint32_t flags)
{
    return flags & TERN_MEM_WRITE ? flags | TERN_MEM_READ : flags;
}

static const struct export *look_up(const struct tern_device *dev, const uint8_t *handle)
{
    const struct tern_list *bucket = &dev->exports[handle[0]];
    const struct export *found = NULL;
    TERN_LIST_EACH(node, bucket)
    {
        const struct export *e = TERN_LIST_ENTRY(node, struct export, node);
        unsigned differ = 0;
        for (int i = 0; i < TERN_HANDLE_BYTES; i++) {
            differ |= (unsigned)(e->handle[i] ^ handle[i]);
        }
        found = differ ? found : e;
    }
    return found;
}

int tern_share_find(const struct tern_process *proc, const uint8_t *handle, uint32_t flags, struct tern_memory **out)
{
    struct tern_device *dev = proc->dev;
    tern_assert_held(&dev->lock);
    const struct export *e;
    while ((e = look_up(dev, handle)) && e->a->mem->moving) {
        pthread_cond_wait(&dev->changed, &dev->lock);
    }
    if (!e) {
        return tern_error(-ENOENT, "no memory is exported by this handle");
    }
    if (access_of(flags) & ~e->access) {
        return tern_error(-EACCES, "the handle does not grant flags 0x%x: import with fewer, or export with these",
                          flags);
    }
    /* pages are evicted and counted by partition, so another partition's process cannot map them */
    if (e->a->mem->partition != proc->partition) {
        return tern_error(-EXDEV, "the memory belongs to partition '%s', and the process to '%s': only processes of "
                          "one partition share memory", e->a->mem->partition->name, proc->partition->name);
    }
    *out = e->a->mem;
    return 0;
}

int tern_share_watch(struct tern_memory *m)
{
    tern_assert_held(&m->dev->lock);
    const uint32_t words = (m->pages + 31) / 32;
    TERN_LIST_EACH(node, &m->mappings)
    {
        struct tern_allocation *a = TERN_LIST_ENTRY(node, struct tern_allocation, mapping);
        if (!a->unseen) {
            a->unseen = calloc(words, sizeof *a->unseen);
            if (!a->unseen) {
                return -ENOMEM;
            }
            if (a->imported) { /* no write before the import has been reported to this mapping */
                memset(a->unseen, 0xff, words * sizeof *a->unseen);
            }
        }
    }
    return 0;
}

void tern_share_written(const struct tern_allocation *a, uint32_t page, uint32_t count, uint32_t at,
                        const uint32_t *bits)
{
    tern_assert_held(&a->proc->dev->lock);
    TERN_LIST_EACH(node, &a->mem->mappings)
    {
        struct tern_allocation *other = TERN_LIST_ENTRY(node, struct tern_allocation, mapping);
        for (uint32_t i = 0; other != a && other->unseen && i < count; i++) {
            const uint32_t bit = bits[(at + i) / 32] >> (at + i) % 32 & 1u;
            other->unseen[(page + i) / 32] |= bit << (page + i) % 32;
        }
    }
}

static void end(struct export *e)
{
    tern_list_remove(&e->node);
    tern_list_remove(&e->own);
    free(e);
}

uint32_t tern_share_count(const struct tern_allocation *a)
{
    tern_assert_held(&a->proc->dev->lock);
    uint32_t n = 0;
    TERN_LIST_EACH(node, &a->exports)
    {
        n++;
    }
    return n;
}

uint32_t tern_share_get(const struct tern_allocation *a, uint32_t i, uint8_t handle[TERN_HANDLE_BYTES])
{
    tern_assert_held(&a->proc->dev->lock);
    const struct tern_list *node = a->exports.next;
    for (; i; i--) {
        node = node->next;
    }
    const struct export *e = TERN_LIST_ENTRY(node, struct export, own);
    memcpy(handle, e->handle, TERN_HANDLE_BYTES);
    return e->access;
}

int tern_share_restore(struct tern_allocation *a, uint32_t access, const uint8_t handle[TERN_HANDLE_BYTES])
{
    tern_assert_held(&a->proc->dev->lock);
    struct tern_device *dev = a->proc->dev;
    if (look_up(dev, handle)) {
        return tern_error(-EEXIST, "the allocation at 0x%08x was exported by a handle that names other memory here",
                          a->va * TERN_PAGE);
    }
    struct export *e = calloc(1, sizeof *e);
    if (!e) {
        return tern_error_memory("a handle");
    }
    e->a = a;
    e->access = access;
    memcpy(e->handle, handle, TERN_HANDLE_BYTES);
    tern_list_append(&dev->exports[handle[0]], &e->node);
    tern_list_append(&a->exports, &e->own);
    return 0;
}

void tern_share_end(struct tern_allocation *a)
{
    tern_assert_held(&a->proc->dev->lock);
    while (!tern_list_empty(&a->exports)) {
        end(TERN_LIST_ENTRY(a->exports.next, struct export, own));
    }
}

/* --------------------------------------------------------------------- calls */

static const uint32_t known = TERN_MEM_READ | TERN_MEM_WRITE | TERN_MEM_EXEC;

/** The handle of the allocation with exactly this access, or NULL. */
static struct export *exported(const struct tern_allocation *a, uint32_t access)
{
    TERN_LIST_EACH(node, &a->exports)
    {
        struct export *e = TERN_LIST_ENTRY(node, struct export, own);
        if (e->access == access) {
            return e;
        }
    }
    return NULL;
}

/** Returns the handle of the allocation in `handle`. Takes *made, and sets it to NULL, if the allocation had none;
 *  else *made stays the caller's. Requires dev->lock. */
static int export(struct tern_allocation *a, uint32_t access, struct export **made, uint8_t *handle)
{
    tern_assert_held(&a->proc->dev->lock);
    struct tern_device *dev = a->proc->dev;
    const struct export *e = exported(a, access);
    int r = tern_process_check(a->proc);
    if (!r && a->imported) {
        r = tern_error(-EACCES, "the allocation at 0x%08x was imported: only the one that made the memory is exported",
                       a->va * TERN_PAGE);
    } else if (!r && a->mem->sparse) {
        r = tern_error(-ENOTSUP, "the allocation at 0x%08x is sparse, and sparse memory cannot be exported",
                       a->va * TERN_PAGE);
    } else if (!r && access & ~access_of(a->flags)) {
        r = tern_error(-EACCES, "the allocation at 0x%08x has flags 0x%x, and cannot be exported with more",
                       a->va * TERN_PAGE, a->flags);
    } else if (!r && !e) {
        (*made)->a = a;
        (*made)->access = access;
        tern_list_append(&dev->exports[(*made)->handle[0]], &(*made)->node);
        tern_list_append(&a->exports, &(*made)->own);
        e = *made;
        *made = NULL;
    }
    if (!r) {
        memcpy(handle, e->handle, TERN_HANDLE_BYTES);
    }
    return r;
}

int tern_os_allocation_export(struct tern_allocation *a, uint32_t flags, uint8_t handle[TERN_HANDLE_BYTES])
{
    struct tern_device *dev = a->proc->dev;
    if (tern_device_check_fork(dev)) {
        return -ENODEV;
    }
    if (!flags || flags & ~known) {
        return tern_error(-EINVAL, "export flags 0x%x: some of read, write, exec are needed, and nothing else", flags);
    }
    struct export *e = calloc(1, sizeof *e);
    if (!e) {
        return tern_error_memory("a handle");
    }
    ssize_t n;
    do {
        n = getrandom(e->handle, sizeof e->handle, 0);
    } while (n < 0 && errno == EINTR);
    int r = n == sizeof e->handle ? 0 : tern_error(-EIO, "the system has no random numbers for a handle");
    if (!r) {
        pthread_mutex_lock(&dev->lock);
        r = export(a, access_of(flags), &e, handle);
        pthread_mutex_unlock(&dev->lock);
    }
    free(e);
    return r;
}

int tern_os_allocation_import(struct tern_process *proc, const uint8_t handle[TERN_HANDLE_BYTES], uint32_t flags,
                              uint32_t address, struct tern_allocation **out)
{
    const int r = tern_allocation_check(flags, address);
    const struct tern_allocation_want want = {.flags = flags, .address = address, .handle = handle};
    return r ? r : tern_allocation_make(proc, &want, out);
}
