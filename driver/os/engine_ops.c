/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The scheduler's operations on a real device: puts a slice where its engine can fetch it, and asks the kmd.
 * Called by the device thread with dev->lock held; takes the turn.
 *
 * Each slice of a process begins with a barrier, so that an engine forgets what its caches hold from before: the host and
 * other engines may have written meanwhile.
 */
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "os/os.h"

#define SLOT_BYTES (TERN_SLOT_PAGES * TERN_PAGE)
#define PREFIX TERN_PKT_LINE_BYTES

static int write_through(struct tern_context *c, uint64_t offset, const void *data, size_t size)
{
    const uint8_t *from = data;
    int r = 0;
    while (!r && size) {
        uint64_t n, pa = tern_allocation_physical(c->arena, offset, &n);
        n = n < size ? n : size;
        r = tern_device_mem_turn(c->proc->dev, true, pa, (void *)(uintptr_t)from, n);
        from += n;
        offset += n;
        size -= n;
    }
    return r;
}

static int place(struct tern_device *dev, uint32_t engine, const struct tern_slice *s, struct tern_hw_entry *entry)
{
    const uint8_t *packets = (const uint8_t *)s->job->packets + s->start;
    *entry = (struct tern_hw_entry){.fence = s->id, .size = s->size};
    if (s->context->process->system) {
        uint64_t base = (uint64_t)engine * tern_system_pages(dev) * TERN_PAGE;
        entry->buffer = base + s->slot * SLOT_BYTES;
        entry->save = tern_system_save(dev, engine);
        entry->paging = true;
        return tern_device_mem_turn(dev, true, entry->buffer, (void *)(uintptr_t)packets, s->size);
    }
    struct tern_context *c = TERN_CONTEXT_OF(s->context);
    uint64_t offset = (uint64_t)s->slot * SLOT_BYTES;
    uint32_t barrier[16];
    int r = tern_pkt_barrier_pack(&(struct tern_pkt_barrier){0}, barrier);
    r = r ? r : write_through(c, offset, barrier, PREFIX);
    r = r ? r : write_through(c, offset + PREFIX, packets, s->size);
    entry->buffer = c->arena->va * (uint64_t)TERN_PAGE + offset;
    entry->size += PREFIX;
    entry->root = c->proc->root;
    entry->context = c->id;
    entry->save = c->save.page;
    return r;
}

static int op_submit(void *user, uint32_t engine, const struct tern_slice *slice)
{
    struct tern_device *dev = user;
    struct tern_hw_entry entry;
    int r = place(dev, engine, slice, &entry);
    if (r) {
        return r;
    }
    tern_turn_take(&dev->turn);
    r = tern_kmd_submit(&dev->kmd, engine, &entry);
    tern_turn_give(&dev->turn);
    return r ? tern_error(r, "engine %u does not take a buffer: %s", engine, strerror(-r)) : 0;
}

static int op_poll(void *user, uint32_t engine, struct tern_indication *out)
{
    struct tern_device *dev = user;
    struct tern_indication ind;
    tern_turn_take(&dev->turn);
    int r = tern_kmd_poll(&dev->kmd, engine, &ind);
    tern_turn_give(&dev->turn);
    if (r < 0) {
        return tern_error(r, "indications of engine %u cannot be read: %s", engine, strerror(-r));
    }
    if (r) {
        bool system = dev->sched.engine[engine].inflight[0].context->process->system;
        ind.offset -= system || ind.offset < PREFIX ? 0 : PREFIX;
        *out = ind;
    }
    return r;
}

static int op_preempt(void *user, uint32_t engine)
{
    struct tern_device *dev = user;
    tern_turn_take(&dev->turn);
    int r = tern_kmd_preempt(&dev->kmd, engine);
    tern_turn_give(&dev->turn);
    return r ? tern_error(r, "engine %u cannot be asked to stop: %s", engine, strerror(-r)) : 0;
}

static int op_reset(void *user, uint32_t engine)
{
    struct tern_device *dev = user;
    tern_turn_take(&dev->turn);
    int r = tern_kmd_reset(&dev->kmd, engine);
    tern_turn_give(&dev->turn);
    return r ? tern_error(r, "the reset of engine %u failed: %s", engine, strerror(-r)) : 0;
}

static int op_time(void *user, uint64_t *now)
{
    struct tern_device *dev = user;
    tern_turn_take(&dev->turn);
    int r = tern_kmd_time(&dev->kmd, now);
    tern_turn_give(&dev->turn);
    return r ? tern_error(r, "the time cannot be read: %s", strerror(-r)) : 0;
}

/** What cannot be judged here (a malformed packet, an address that is not mapped) is left to the engine, which faults. */
static int op_satisfied(void *user, const struct tern_sched_context *context, const uint32_t *packet)
{
    struct tern_device *dev = user;
    struct tern_pkt_fence_wait wait;
    if (context->process->system || tern_pkt_fence_wait_unpack(&wait, packet) || wait.address_hi || wait.address_lo % 8) {
        return 1;
    }
    const struct tern_process *proc = TERN_PROCESS_OF(context->process);
    uint32_t page = wait.address_lo / TERN_PAGE;
    const struct tern_range *range = tern_vaspace_find(&proc->va, page);
    const struct tern_allocation *a = range && page - range->first < range->count ? range->owner : NULL;
    if (!a || !a->run_count || !(a->flags & (TERN_MEM_READ | TERN_MEM_WRITE))) {
        return 1;
    }
    uint64_t value, n, pa = tern_allocation_physical(a, wait.address_lo - (uint64_t)a->va * TERN_PAGE, &n);
    int r = tern_device_mem_turn(dev, false, pa, &value, sizeof value);
    return r ? r : value >= (wait.value_lo | (uint64_t)wait.value_hi << 32);
}

static void op_fault(void *user, uint32_t engine, struct tern_job *job, const struct tern_indication *ind)
{
    struct tern_device *dev = user;
    if (!job->context->process->system) {
        struct tern_process *proc = TERN_PROCESS_OF(job->context->process);
        tern_fault_describe(proc, engine, job, ind, dev->sched.timeout, &proc->fault);
    }
}

const struct tern_sched_ops tern_engine_ops = {
    .submit = op_submit,
    .poll = op_poll,
    .preempt = op_preempt,
    .reset = op_reset,
    .time = op_time,
    .satisfied = op_satisfied,
    .fault = op_fault,
};
