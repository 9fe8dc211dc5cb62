/* SPDX-License-Identifier: Apache-2.0 */
/** Opening and closing of a device, and queries about it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/children.h"
#include "base/completions.h"
#include "base/error.h"
#include "base/sized.h"
#include "migration/state/migrate.h"
#include "os/device/device.h"
#include "os/job/job.h"
#include "os/mem/mem.h"
#include "os/observe/observe.h"
#include "os/part/part.h"

#define TIMEOUT_KERNEL_CYCLES (1ull << 31)
#define TIMEOUT_SIMULATOR_CYCLES (1ull << 23)

int tern_os_device_counters(struct tern_device *dev, uint32_t engine, struct tern_engine_counters *out)
{
    if (tern_device_check_fork(dev)) {
        return -ENODEV;
    }
    struct tern_engine_counters c = {0};
    if (engine >= dev->kmd.engines) {
        return tern_error(-EINVAL, "engine %u of %u", engine, dev->kmd.engines);
    }
    tern_ticket_lock(&dev->hal_lock);
    int r = tern_kmd_counters(&dev->kmd, engine, &c);
    tern_ticket_unlock(&dev->hal_lock);
    pthread_mutex_lock(&dev->lock);
    if (r) {
        tern_device_lose(dev, tern_last_error());
        r = tern_error(-EIO, "%s", dev->lost_why);
        pthread_mutex_unlock(&dev->lock);
        return r;
    }
    c.buffers = dev->completed_on[engine];
    pthread_mutex_unlock(&dev->lock);
    return tern_sized_give(out, &c, sizeof c);
}

bool tern_os_device_inherited(const struct tern_device *dev)
{
    return dev->fork.inherited;
}

int tern_os_device_query(const struct tern_device *dev, struct tern_device_info *out)
{
    return tern_sized_give(out, &dev->info, sizeof dev->info);
}

/* ---------------------------------------------------------------- opening, closing */

/** Fills in how much memory the partition's processes can have. */
static void fill_room(const struct tern_device *dev, const struct tern_partition *p, struct tern_device_info *out)
{
    const uint64_t space = TERN_VA_END - TERN_VA_FIRST;
    uint64_t pages = p->count, whole = p == &dev->partition ? dev->kmd.mem_pages : p->count;
    /* tables, arenas and save areas of a typical process */
    const uint64_t tables = pages / TERN_PAGES_LARGE + 16 + 2 * dev->kmd.save_pages;
    pages = pages > tables ? pages - tables : 0;
    const uint64_t all = pages + p->host;
    TERN_LIST_EACH(node, &dev->partitions)
    {
        const struct tern_partition *other = TERN_LIST_ENTRY(node, struct tern_partition, node);
        whole -= p == &dev->partition && other != p ? other->count : 0;
    }
    out->memory_bytes = whole * TERN_PAGE;
    out->allocatable_bytes = (all < space - 64 ? all : space - 64) * TERN_PAGE;
    out->resident_bytes = (pages < space - 64 ? pages : space - 64) * TERN_PAGE;
}

int tern_os_device_query_in(struct tern_device *dev, const char *partition, struct tern_device_info *out)
{
    struct tern_device_info info = dev->info;
    pthread_mutex_lock(&dev->lock);
    const struct tern_partition *p = tern_partition_find(dev, partition);
    if (p) {
        fill_room(dev, p, &info);
    }
    pthread_mutex_unlock(&dev->lock);
    return p ? tern_sized_give(out, &info, sizeof info) : -ENOENT;
}

static void fill_info(struct tern_device *dev)
{
    const struct tern_kmd *k = &dev->kmd;
    struct tern_kmd_about about;
    tern_kmd_about(k, &about);
    dev->info = (struct tern_device_info){
        .version = k->version,
        .engines = k->engines,
        .lanes = k->lanes,
        .warps = k->warps,
        .local_bytes = k->local_bytes,
        .clock_hz = k->clock_hz,
        .dirty_page_bytes = k->dirty_page_log2 < 32 ? 1u << k->dirty_page_log2 : 1u << 31,
        .single_use = k->single_use,
        .granularity = k->granularity,
        .executors = k->executors,
        .page_requests = k->page_requests,
        .ports = k->ports,
        .memory_latency = about.latency,
        .memory_bandwidth = about.bandwidth,
        .memory_reads = about.reads,
        .memory_writes = about.writes,
        .memory_refresh = about.refresh,
        .memory_refresh_cycles = about.refresh_cycles,
        .memory_stall = about.stall,
    };
    fill_room(dev, &dev->partition, &dev->info);
    snprintf(dev->info.memory, sizeof dev->info.memory, "%s", about.memory);
    snprintf(dev->info.backend, sizeof dev->info.backend, "%s", about.backend);
    snprintf(dev->info.config, sizeof dev->info.config, "%s", about.config);
}

/** Pages of host memory for evicted memory. */
static uint32_t host_pages(const struct tern_device *dev)
{
    const uint64_t most = UINT32_MAX - dev->partition.count;
    const uint64_t pages = dev->policy.host == TERN_POLICY_HOST ? 3ull * dev->kmd.mem_pages
                                                                : dev->policy.host / TERN_PAGE;
    return (uint32_t)(pages < most ? pages : most);
}

static int init_locks(struct tern_device *dev)
{
    pthread_condattr_t attr;
    int r = tern_ticket_lock_init(&dev->hal_lock);
    if (r) {
        return r;
    }
    r = pthread_condattr_init(&attr);
    if (r == 0) {
        r = pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    }
    if (r == 0) {
        r = pthread_mutex_init(&dev->lock, NULL);
    }
    if (r == 0) {
        r = pthread_cond_init(&dev->wake, &attr);
    }
    if (r == 0) {
        r = pthread_cond_init(&dev->changed, &attr);
    }
    if (r == 0) {
        r = pthread_cond_init(&dev->pager.wake, NULL);
    }
    dev->pager.look_at = UINT64_MAX;
    pthread_condattr_destroy(&attr);
    return -r;
}

static void free_device(struct tern_device *dev)
{
    pthread_cond_destroy(&dev->pager.wake);
    pthread_cond_destroy(&dev->changed);
    pthread_cond_destroy(&dev->wake);
    pthread_mutex_destroy(&dev->lock);
    tern_ticket_lock_destroy(&dev->hal_lock);
    tern_partition_end(dev);
    tern_bases_free(&dev->kmd);
    free(dev);
}

/** Makes engines forget translations of an earlier owner, and makes their context-save areas valid. */
static int clean_engines(struct tern_device *dev)
{
    struct tern_job *jobs[TERN_ENGINES_MAX] = {0};
    int r = 0;
    for (uint32_t e = 0; !r && e < dev->kmd.engines; e++) {
        jobs[e] = tern_job_clean(dev, e);
        r = jobs[e] ? 0 : tern_error_memory("the first paging buffers");
    }
    pthread_mutex_lock(&dev->lock);
    if (r == 0) {
        r = tern_paging_run_all(dev, jobs);
    }
    pthread_mutex_unlock(&dev->lock);
    for (uint32_t e = 0; e < TERN_ENGINES_MAX; e++) {
        free(jobs[e]);
    }
    return r;
}

/** Cycles in which an engine must answer a request to stop (F2): two seconds, or fewer cycles on a slow simulator. A
 *  device that cannot stop within a kernel gets the time that a kernel takes. */
static uint64_t timeout_cycles(const struct tern_device *dev)
{
    if (dev->policy.timeout) {
        return dev->policy.timeout;
    }
    if (dev->kmd.granularity < TERN_ENGINE_COMMAND_GRANULARITY_INSTRUCTION) {
        return TIMEOUT_KERNEL_CYCLES;
    }
    struct tern_kmd_about about;
    tern_kmd_about(&dev->kmd, &about);
    return about.slow ? TIMEOUT_SIMULATOR_CYCLES : 2ull * dev->kmd.clock_hz;
}

static void init_sched(struct tern_device *dev)
{
    struct tern_sched_config c;
    tern_sched_config_default(&c);
    c.timeout = timeout_cycles(dev);
    c.force_preempt = dev->policy.preempt;
    c.depth = dev->policy.depth ? dev->policy.depth : c.depth;
    for (uint32_t b = 0; b < TERN_BANDS; b++) {
        c.band[b].quantum = dev->policy.quantum ? dev->policy.quantum : c.band[b].quantum;
        c.band[b].grace = dev->policy.grace ? dev->policy.grace : c.band[b].grace;
    }
    tern_sched_init(&dev->sched, &tern_engine_ops, dev, dev->kmd.engines, &c);
    tern_sched_process_init(&dev->sched, &dev->system, true);
    for (uint32_t e = 0; e < dev->kmd.engines; e++) {
        tern_sched_context_init(&dev->sched, &dev->paging[e], &dev->system, (int32_t)e, TERN_BAND_PAGING,
                                TERN_WEIGHT_NORMAL);
    }
}

/** Makes the basis of tern_dirty_query, of all device memory. */
static int follow_memory(struct tern_device *dev)
{
    struct tern_dirty_caps caps;
    tern_kmd_dirty_caps(&dev->kmd, &caps);
    const struct tern_basis_range all = {caps.segment[0].address, caps.segment[0].bytes};
    const int r = tern_basis_create(&dev->kmd, &all, 1, &dev->dirty_basis);
    return r ? r : tern_basis_start_late(&dev->kmd, dev->dirty_basis);
}

/** Closes the parent's descriptors in the child of a fork (base/fork.h). */
static void in_child(struct tern_fork *f)
{
    struct tern_device *dev = TERN_LIST_ENTRY(f, struct tern_device, fork);
    tern_observer_inherited(dev);
    tern_completions_inherited(&dev->completion_queues);
}

int tern_device_open_hal(struct tern_hal *hal, const struct tern_policy *policy, struct tern_device **out)
{
    struct tern_device *dev = calloc(1, sizeof *dev);
    if (!dev) {
        return tern_error_memory("a device");
    }
    dev->api = &tern_os_api;
    dev->policy = *policy;
    dev->hold.at = TERN_HOLD_NEVER;
    tern_list_init(&dev->processes);
    tern_list_init(&dev->users);
    tern_list_init(&dev->partitions);
    tern_share_init(dev);
    tern_list_init(&dev->completion_queues);
    int r = init_locks(dev);
    if (r) {
        free(dev);
        return tern_error(r, "locks cannot be made: %s", strerror(-r));
    }
    r = tern_kmd_probe(hal, &dev->kmd);
    if (r) {
        goto fail;
    }
    const uint32_t reserved = tern_reserved_pages(dev);
    dev->kmd.dirty_area = (uint64_t)dev->kmd.engines * tern_system_pages(dev) * TERN_PAGE;
    if (dev->kmd.mem_pages < reserved + 64) {
        r = tern_error(-EINVAL, "the device has %u pages of memory; %u is the least for %u engines", dev->kmd.mem_pages,
                       reserved + 64, dev->kmd.engines);
        goto fail;
    }
    r = follow_memory(dev);
    if (r) {
        goto fail;
    }
    r = tern_partition_begin(dev, reserved, dev->kmd.mem_pages, dev->kmd.mem_clear);
    if (r) {
        r = tern_error_memory("the page allocator");
        goto fail;
    }
    dev->partition.host = host_pages(dev);
    fill_info(dev);
    init_sched(dev);
    tern_observer_open(dev);
    r = tern_device_thread_start(dev);
    if (r) {
        goto fail;
    }
    r = clean_engines(dev);
    if (r == 0) {
        r = tern_autosave_open(dev);
    }
    if (!r) {
        r = tern_fork_watch(&dev->fork, in_child);
        if (r) {
            tern_autosave_close(dev);
        }
    }
    if (r) {
        tern_device_thread_stop(dev);
        goto fail;
    }
    const char *own = secure_getenv("TERN_PARTITION");
    snprintf(dev->own_partition, sizeof dev->own_partition, "%s", own ? own : "");
    *out = dev;
    return 0;
fail:
    tern_observer_close(dev);
    free_device(dev);
    return r;
}

int tern_os_device_open(const char *backend, const char *config, struct tern_device **out)
{
    struct tern_policy policy;
    struct tern_config *device;
    struct tern_hal *hal;
    int r = tern_policy_parse(backend, config, &policy, &device);
    if (r) {
        return r;
    }
    r = tern_kmd_open(device, &hal);
    free(device);
    if (r) {
        return r;
    }
    r = tern_device_open_hal(hal, &policy, out);
    if (r) {
        tern_kmd_close(hal);
    }
    return r;
}

int tern_os_device_close(struct tern_device *dev)
{
    if (tern_device_check_fork(dev)) {
        return -ENODEV;
    }
    pthread_mutex_lock(&dev->lock);
    uint32_t left = dev->process_count;
    const bool queues = !tern_list_empty(&dev->completion_queues);
    pthread_mutex_unlock(&dev->lock);
    const int r = tern_children_of_device(queues, left);
    if (r) {
        return r;
    }
    tern_fork_forget(&dev->fork);
    tern_autosave_close(dev);
    tern_pager_stop(dev);
    tern_device_thread_stop(dev);
    tern_observer_close(dev);
    tern_kmd_close(dev->kmd.hal);
    free_device(dev);
    return 0;
}
