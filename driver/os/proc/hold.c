/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Stops all processes of a device at a given device time: at a cycle, or when a certain buffer begins. The device
 * thread suspends them, so that no cycle passes between that time and the requests to stop. The thread that waits for
 * `reached` then saves the processes and releases them.
 *
 * Locks. dev->lock is held in all functions, and guards all fields.
 */
#include <string.h>

#include "os/proc/proc.h"

void tern_hold_submitted(struct tern_device *dev, struct tern_context *c, struct tern_job *job)
{
    tern_assert_held(&dev->lock);
    struct tern_hold *h = &dev->hold;
    if (h->label && job->label && strcmp(h->label, job->label) == 0 && ++h->seen == h->launch) {
        job->alone = c->sched.alone = true;
    }
}

void tern_hold_begins(struct tern_device *dev, const struct tern_chunk *chunk)
{
    tern_assert_held(&dev->lock);
    chunk->job->alone = chunk->context->alone = false;
    dev->hold.at = dev->sched.now + dev->hold.after;
}

uint64_t tern_hold_left(const struct tern_device *dev, uint64_t now)
{
    tern_assert_held(&dev->lock);
    const uint64_t at = dev->hold.at;
    const bool never = at == TERN_HOLD_NEVER || tern_list_empty(&dev->processes);
    return never ? UINT64_MAX : at > now ? at - now : 0;
}

void tern_hold_look(struct tern_device *dev)
{
    tern_assert_held(&dev->lock);
    struct tern_hold *h = &dev->hold;
    const uint64_t now = atomic_load(&dev->now);
    if (tern_hold_left(dev, now)) {
        return;
    }
    TERN_LIST_EACH(node, &dev->processes)
    {
        struct tern_process *proc = TERN_LIST_ENTRY(node, struct tern_process, node);
        proc->held = proc->ready && !proc->suspended && !proc->killed;
        if (proc->held) {
            tern_suspend_begin(proc);
        }
    }
    h->at = TERN_HOLD_NEVER;
    h->label = NULL;
    h->reached = true;
    h->time = now;
    pthread_cond_broadcast(&dev->changed);
}

void tern_hold_release(struct tern_device *dev)
{
    tern_assert_held(&dev->lock);
    TERN_LIST_EACH(node, &dev->processes)
    {
        struct tern_process *proc = TERN_LIST_ENTRY(node, struct tern_process, node);
        if (proc->held) {
            tern_suspend_end(proc);
        }
    }
}
