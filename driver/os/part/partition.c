/* SPDX-License-Identifier: Apache-2.0 */
/** Partitions as objects: names, lists, and the calls of the API (partition.h). ranges.c moves memory between them. */
#include "os/part/part.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/name.h"
#include "base/sized.h"
#include "os/observe/observe.h"
#include "os/part/ranges.h"

static void init(struct tern_partition *p, const char *name)
{
    memset(p->name, 0, sizeof p->name);
    memcpy(p->name, name, strlen(name));
    tern_list_init(&p->node);
    tern_list_init(&p->processes);
    tern_list_init(&p->shared);
    tern_list_init(&p->retiring);
    tern_list_init(&p->absent);
    tern_list_init(&p->reclaim_requests);
}

static void free_memory(struct tern_partition *p)
{
    if (p->pages) {
        tern_pages_destroy(p->pages);
    }
    free(p->ranges);
}

/** Frees a partition that is in no list. dev->lock is held, unless it has never been in one. */
static void free_partition(struct tern_partition *p)
{
    free_memory(p);
    free(p->sched);
    free(p);
}

int tern_partition_begin(struct tern_device *dev, uint32_t first, uint32_t end, bool clean)
{
    struct tern_partition *p = &dev->partition;
    init(p, TERN_PARTITION_DEFAULT);
    p->ranges = malloc(sizeof *p->ranges);
    if (!p->ranges || tern_pages_create(end, first, clean, &p->pages)) {
        return -ENOMEM;
    }
    p->ranges[0] = (struct tern_run){.page = first, .count = end - first};
    p->range_count = p->range_room = 1;
    p->count = end - first;
    p->sched = &dev->sched.main;
    tern_list_append(&dev->partitions, &p->node);
    return 0;
}

void tern_partition_end(struct tern_device *dev)
{
    while (!tern_list_empty(&dev->partitions)) {
        struct tern_partition *p = TERN_LIST_ENTRY(dev->partitions.next, struct tern_partition, node);
        tern_list_remove(&p->node);
        if (p != &dev->partition) {
            free_partition(p);
        }
    }
    free_memory(&dev->partition);
}

struct tern_partition *tern_partition_find(struct tern_device *dev, const char *name)
{
    TERN_LIST_EACH(node, &dev->partitions)
    {
        struct tern_partition *p = TERN_LIST_ENTRY(node, struct tern_partition, node);
        if (!strcmp(p->name, name && *name ? name : TERN_PARTITION_DEFAULT)) {
            return p;
        }
    }
    tern_error(-ENOENT, "the device has no partition '%.60s'", name);
    return NULL;
}

void tern_partition_join(struct tern_partition *p, struct tern_process *proc)
{
    proc->partition = p;
    tern_list_append(&p->processes, &proc->member);
    p->process_count++;
}

void tern_partition_leave(struct tern_process *proc)
{
    tern_list_remove(&proc->member);
    proc->partition->process_count--;
}

/* --------------------------------------------------------------------- calls */

/** Converts bytes to pages. -EINVAL, with a sentence: no whole pages, or too few or too many for a partition. */
static int pages_of(uint64_t bytes, const char *what, uint32_t least, uint32_t *out)
{
    if (bytes % TERN_PAGE || bytes / TERN_PAGE < least || bytes / TERN_PAGE > UINT32_MAX >> 1) {
        return tern_error(-EINVAL, "%s of %" PRIu64 " bytes: a multiple of %u, at least %" PRIu64, what, bytes,
                          (unsigned)TERN_PAGE, (uint64_t)least * TERN_PAGE);
    }
    *out = (uint32_t)(bytes / TERN_PAGE);
    return 0;
}

static int check_share(uint32_t share)
{
    return share && share <= TERN_WEIGHT_MAX ? 0 : tern_error(-EINVAL, "the share %u of a partition: 1 to %u", share,
                                                              TERN_WEIGHT_MAX);
}

/** Host pages of a partition with `pages` pages: those of `bytes`, or as many per page as the default partition has. */
static int host_of(const struct tern_device *dev, uint64_t bytes, uint32_t pages, uint32_t *out)
{
    const struct tern_partition *from = &dev->partition;
    if (bytes != TERN_PARTITION_HOST) {
        return pages_of(bytes, "host memory", 0, out);
    }
    *out = from->count ? (uint32_t)((uint64_t)from->host * pages / from->count) : 0;
    return 0;
}

/** Finds a partition that a call is to change, which must not have processes. */
static int find_empty(struct tern_device *dev, const char *name, struct tern_partition **out)
{
    struct tern_partition *p = tern_partition_find(dev, name);
    if (!p) {
        return -ENOENT;
    }
    if (p == &dev->partition) {
        return tern_error(-EINVAL, "the partition '%s' has what others do not have: it cannot be changed by itself",
                          p->name);
    }
    if (p->process_count) {
        return tern_error(-EBUSY, "the partition '%s' has %u process%s", p->name, p->process_count,
                          p->process_count == 1 ? "" : "es");
    }
    *out = p;
    return 0;
}

int tern_os_partition_create_for(struct tern_device *dev, const struct tern_partition_desc *desc, uint32_t owner)
{
    struct tern_partition_desc d;
    uint32_t pages = 0, host = 0;
    if (tern_device_check_fork(dev)) {
        return -ENODEV;
    }
    int r = tern_sized_take(&d, sizeof d, desc);
    if (r == 0) {
        r = tern_name_check(d.name, sizeof d.name);
    }
    if (r == 0) {
        r = pages_of(d.memory_bytes, "a partition", TERN_PARTITION_LEAST, &pages);
    }
    d.share = d.share ? d.share : TERN_WEIGHT_NORMAL;
    if (r == 0) {
        r = check_share(d.share);
    }
    if (r) {
        return r;
    }
    struct tern_partition *p = calloc(1, sizeof *p);
    if (!p) {
        return tern_error_memory("a partition");
    }
    p->sched = calloc(1, sizeof *p->sched);
    if (!p->sched || tern_pages_create(dev->kmd.mem_pages, dev->kmd.mem_pages, false, &p->pages)) {
        free_partition(p);
        return tern_error_memory("a partition");
    }
    init(p, d.name);
    p->owner = owner;
    pthread_mutex_lock(&dev->lock);
    r = dev->lost ? tern_error(-EIO, "%s", dev->lost_why) : host_of(dev, d.host_bytes, pages, &host);
    TERN_LIST_EACH(node, &dev->partitions)
    {
        if (!r && !strcmp(TERN_LIST_ENTRY(node, struct tern_partition, node)->name, p->name)) {
            r = tern_error(-EEXIST, "there is a partition '%s'", p->name);
        }
    }
    if (r == 0) {
        r = tern_ranges_grow(dev, p, pages, host);
    }
    if (!r) {
        tern_list_append(&dev->partitions, &p->node);
        tern_sched_partition_init(&dev->sched, p->sched, d.share);
        tern_observer_changed(dev);
        p = NULL;
    }
    pthread_mutex_unlock(&dev->lock);
    if (p) {
        free_partition(p);
    }
    return r;
}

int tern_os_partition_create(struct tern_device *dev, const struct tern_partition_desc *desc)
{
    return tern_os_partition_create_for(dev, desc, 0);
}

int tern_os_partition_resize(struct tern_device *dev, const char *name, uint64_t memory_bytes)
{
    struct tern_partition *p;
    uint32_t pages = 0, host;
    if (tern_device_check_fork(dev)) {
        return -ENODEV;
    }
    int r = pages_of(memory_bytes, "a partition", TERN_PARTITION_LEAST, &pages);
    if (r) {
        return r;
    }
    pthread_mutex_lock(&dev->lock);
    r = find_empty(dev, name, &p);
    if (!r) { /* host memory per page stays the same */
        host = p->count ? (uint32_t)((uint64_t)p->host * pages / p->count) : p->host;
        r = pages > p->count ? tern_ranges_grow(dev, p, pages - p->count, host - p->host)
                             : tern_ranges_shrink(dev, p, p->count - pages, p->host - host);
        tern_observer_changed(dev);
    }
    pthread_mutex_unlock(&dev->lock);
    return r;
}

int tern_os_partition_set_share(struct tern_device *dev, const char *name, uint32_t share)
{
    if (tern_device_check_fork(dev)) {
        return -ENODEV;
    }
    const int r = check_share(share);
    if (r) {
        return r;
    }
    pthread_mutex_lock(&dev->lock);
    struct tern_partition *p = tern_partition_find(dev, name);
    if (p) {
        tern_sched_partition_set(&dev->sched, p->sched, share);
        tern_observer_changed(dev);
        tern_device_kick(dev);
    }
    pthread_mutex_unlock(&dev->lock);
    return p ? 0 : -ENOENT;
}

int tern_os_partition_destroy(struct tern_device *dev, const char *name)
{
    struct tern_partition *p;
    if (tern_device_check_fork(dev)) {
        return -ENODEV;
    }
    pthread_mutex_lock(&dev->lock);
    int r = find_empty(dev, name, &p);
    if (r == 0) {
        r = tern_ranges_shrink(dev, p, tern_pages_free_count(p->pages), p->host);
    }
    if (!r) {
        tern_list_remove(&p->node);
        tern_sched_partition_fini(p->sched);
        tern_observer_changed(dev);
        free_partition(p);
    }
    pthread_mutex_unlock(&dev->lock);
    return r;
}

static struct tern_partition_info info_of(const struct tern_partition *p)
{
    struct tern_partition_info info = {
        .memory_bytes = (uint64_t)p->count * TERN_PAGE,
        .free_bytes = (uint64_t)tern_pages_free_count(p->pages) * TERN_PAGE,
        .committed_bytes = (uint64_t)p->committed * TERN_PAGE,
        .host_bytes = (uint64_t)p->host * TERN_PAGE,
        .ranges = p->range_count,
        .processes = p->process_count,
        .owner = p->owner,
        .share = p->sched->share,
        .cycles = p->sched->cycles,
    };
    memcpy(info.name, p->name, sizeof info.name);
    return info;
}

int tern_os_partition_list(struct tern_device *dev, struct tern_partition_info *out, uint32_t max)
{
    if (tern_device_check_fork(dev)) {
        return -ENODEV;
    }
    const uint32_t stride = max ? out->size : 0;
    int n = 0, r = 0;
    pthread_mutex_lock(&dev->lock);
    TERN_LIST_EACH(node, &dev->partitions)
    {
        const struct tern_partition_info info = info_of(TERN_LIST_ENTRY(node, struct tern_partition, node));
        if (r == 0 && (uint32_t)n < max) {
            r = tern_sized_give_at(out, stride, (size_t)n, &info, sizeof info);
        }
        n++;
    }
    pthread_mutex_unlock(&dev->lock);
    return r ? r : n;
}
