/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The scheduler's operations on a device: writes chunks to where their engine fetches them, and calls the kmd. Called
 * while the scheduler runs, with dev->hal_lock and dev->lock held; no function blocks or lets device time pass.
 *
 * A chunk that resumes from its save area needs the same buffer at the same address, so its slot of the arena is not
 * written; the resumption itself invalidates the caches.
 */
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "os/device/device.h"
#include "os/device/tdr.h"
#include "os/mem/mem.h"
#include "os/observe/observe.h"
#include "os/proc/proc.h"

#define PREFIX TERN_CHUNK_PREFIX

static void assert_both(const struct tern_device *dev)
{
    tern_assert_held(&dev->hal_lock);
    tern_assert_held(&dev->lock);
}

static int prepare(struct tern_device *dev, uint32_t engine, const struct tern_chunk *s, struct tern_hw_entry *entry)
{
    const uint8_t *packets = (const uint8_t *)s->job->packets + s->start;
    *entry = (struct tern_hw_entry){.fence = s->id, .size = s->size, .resume = s->resume, .null = s->job->null};
    if (s->context->process->system) {
        entry->buffer = ((uint64_t)engine * tern_system_pages(dev) + s->slot * TERN_SLOT_PAGES) * TERN_PAGE;
        entry->save = tern_system_save(dev, engine);
        entry->paging = true;
        const struct tern_iovec all = {entry->buffer, packets, s->size};
        return s->resume ? 0 : tern_device_write(dev, &all, 1);
    }
    struct tern_context *c = TERN_CONTEXT_OF(s->context);
    const int r = s->resume ? 0 : tern_chunk_write(s);
    entry->buffer = c->arena->va * (uint64_t)TERN_PAGE + (uint64_t)s->slot * TERN_SLOT_PAGES * TERN_PAGE;
    entry->size += PREFIX;
    entry->root = c->proc->root;
    entry->context = c->id;
    entry->save = c->save[0].page;
    return r;
}

static int op_submit(void *user, uint32_t engine, const struct tern_chunk *chunk)
{
    struct tern_device *dev = user;
    assert_both(dev);
    struct tern_hw_entry entry;
    int r = prepare(dev, engine, chunk, &entry);
    if (r) {
        return r;
    }
    if (chunk->job->alone) {
        tern_hold_begins(dev, chunk);
    }
    r = tern_kmd_submit(&dev->kmd, engine, &entry);
    return r == -EAGAIN ? tern_error(r, "engine %u does not take a buffer, though there should be room", engine) : r;
}

/** The chunk in the engine's HW queue with this fence id; NULL: there is none. */
static const struct tern_chunk *inflight(const struct tern_device *dev, uint32_t engine, uint64_t id)
{
    const struct tern_sched_engine *e = &dev->sched.engine[engine];
    for (uint32_t i = 0; i < e->n; i++) {
        if (e->inflight[i].id == id) {
            return &e->inflight[i];
        }
    }
    return NULL;
}

/** Converts a byte offset in the engine's buffer to one in the chunk. */
static uint32_t without_prefix(const struct tern_chunk *s, uint32_t offset)
{
    return !s || s->context->process->system || offset < PREFIX ? offset : offset - PREFIX;
}

static int op_poll(void *user, uint32_t engine, struct tern_sched_indication *out)
{
    struct tern_device *dev = user;
    assert_both(dev);
    struct tern_indication ind;
    int r = tern_kmd_poll(&dev->kmd, engine, &ind);
    if (r <= 0) {
        return r;
    }
    *out = (struct tern_sched_indication){
        .kind = TERN_SCHED_COMPLETED, .fence = ind.fence, .last_completed = ind.last_completed, .begin = ind.begin,
        .end = ind.end};
    switch (ind.kind) {
    case TERN_KMD_FAULTED:
        ind.offset = without_prefix(inflight(dev, engine, ind.fence), ind.offset);
        out->kind = TERN_SCHED_FAULTED;
        out->fault = ind;
        break;
    case TERN_KMD_PREEMPTED:
        out->kind = TERN_SCHED_PREEMPTED;
        out->preempted.fence = ind.cut;
        out->preempted.offset = without_prefix(inflight(dev, engine, ind.cut), ind.offset);
        out->preempted.began = ind.began;
        break;
    case TERN_KMD_RETURNED:
        ind.offset = without_prefix(inflight(dev, engine, ind.fence), ind.offset);
        out->kind = TERN_SCHED_RETURNED;
        out->preempted.offset = ind.offset;
        out->preempted.began = ind.began;
        out->fault = ind;
        break;
    default:
        break;
    }
    return 1;
}

static int op_preempt(void *user, uint32_t engine, uint64_t fence, uint32_t granularity)
{
    struct tern_device *dev = user;
    assert_both(dev);
    int r = tern_kmd_preempt(&dev->kmd, engine, fence, granularity);
    return r == -EBUSY ? tern_error(r, "engine %u is asked to stop before it has answered", engine) : r;
}

static int op_reset(void *user, uint32_t engine, bool begin, uint64_t *last_aborted)
{
    struct tern_device *dev = user;
    assert_both(dev);
    return tern_kmd_reset(&dev->kmd, engine, begin, last_aborted);
}

static int op_idle(void *user, uint32_t engine)
{
    struct tern_device *dev = user;
    assert_both(dev);
    struct tern_kmd_status s;
    int r = tern_kmd_status(&dev->kmd, engine, &s);
    return r ? r : !s.queued && !s.busy;
}

static uint32_t op_dependent(void *user, uint32_t engine)
{
    const struct tern_device *dev = user;
    assert_both(dev);
    return tern_kmd_dependent(&dev->kmd, engine);
}

static int op_time(void *user, uint64_t *now)
{
    struct tern_device *dev = user;
    assert_both(dev);
    return tern_kmd_time(&dev->kmd, now);
}

/** Reads the value of a fence. A value that cannot be read here (misaligned, not mapped, not readable) is left to
 *  the engine, which faults. */
static int op_fence_value(void *user, const struct tern_sched_context *context, uint32_t address, uint64_t *value)
{
    struct tern_device *dev = user;
    assert_both(dev);
    if (context->process->system || address % 8) {
        return 0;
    }
    const struct tern_process *proc = TERN_PROCESS_OF(context->process);
    const struct tern_allocation *a = tern_allocation_at(proc, address / TERN_PAGE);
    const struct tern_block *b = a && a->mem ? tern_block_of(a, address / TERN_PAGE - a->va) : NULL;
    if (!b || (!b->run_count && !b->on_host) || !(a->flags & (TERN_MEM_READ | TERN_MEM_WRITE))) {
        return 0;
    }
    const uint64_t offset = address - (uint64_t)(a->va + b->first) * TERN_PAGE;
    uint64_t n;
    int r = 0;
    if (b->on_host) {
        tern_block_host_read(b, offset, value, sizeof *value);
    } else {
        r = tern_device_read(dev, tern_block_physical(b, offset, &n), value, sizeof *value);
    }
    return r ? r : 1;
}

static bool op_resident(void *user, struct tern_sched_context *context, struct tern_job *job)
{
    (void)user;
    return tern_residency_ready(TERN_CONTEXT_OF(context), job);
}

static bool op_page(void *user, struct tern_sched_context *context, struct tern_job *job,
                    const struct tern_indication *ind)
{
    (void)user;
    return tern_demand_request(TERN_CONTEXT_OF(context), job, ind->va);
}

/** True: kernels of the context may access absent pages, and so be returned by the engine. */
static bool op_returns(void *user, const struct tern_sched_context *context)
{
    const struct tern_device *dev = user;
    assert_both(dev);
    return dev->kmd.page_requests && TERN_PROCESS_OF(context->process)->absent != 0;
}

static void op_fault(void *user, uint32_t engine, struct tern_job *job, const struct tern_indication *ind)
{
    struct tern_device *dev = user;
    assert_both(dev);
    if (job->context->process->system) {
        return;
    }
    struct tern_process *proc = TERN_PROCESS_OF(job->context->process);
    if (ind) {
        tern_fault_describe(proc, job, ind, &proc->fault);
    } else {
        tern_tdr_blame(dev, engine, proc, job);
    }
}

const struct tern_sched_ops tern_engine_ops = {
    .submit = op_submit,
    .preempt = op_preempt,
    .poll = op_poll,
    .reset = op_reset,
    .idle = op_idle,
    .dependent = op_dependent,
    .time = op_time,
    .fence_value = op_fence_value,
    .fault = op_fault,
    .stuck = tern_tdr_stuck,
    .event = tern_observer_event,
    .resident = op_resident,
    .page = op_page,
    .returns = op_returns,
};
