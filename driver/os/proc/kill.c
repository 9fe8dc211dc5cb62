/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Removes a process from the device at any time. The steps are:
 *   1. The process goes into error, so that nothing new begins and its work ends.
 *   2. Wait until all its buffers have ended and been reported.
 *   3. Wait until the calls that make objects for it have ended.
 *   4. Free its allocations, as those of other processes are (retire.c), and its page tables at last.
 *
 * No copy reaches a page of another process. A copy to or from the process's memory takes the hal lock for each piece,
 * and then sees that the process was killed (allocation.c). Pages become free only after paging buffers, which the
 * scheduler queues with the hal lock held.
 *
 * Contexts, allocations and fences stay as memory of the host, marked as gone, because threads may be about to use
 * them. Their destroy functions free them, or tern_process_destroy frees all at once.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/completions.h"
#include "base/error.h"
#include "os/mem/mem.h"
#include "os/proc/proc.h"

/** True: all work of the process has ended and been reported, and no call makes objects for it. */
static bool at_rest(const struct tern_process *proc)
{
    TERN_LIST_EACH(node, &proc->contexts)
    {
        const struct tern_context *c = TERN_LIST_ENTRY(node, struct tern_context, node);
        if (c->ended != c->submitted) {
            return false;
        }
    }
    return !proc->making;
}

static void take_contexts(struct tern_process *proc)
{
    TERN_LIST_EACH(node, &proc->contexts)
    {
        struct tern_context *c = TERN_LIST_ENTRY(node, struct tern_context, node);
        tern_context_give_pages(c);
    }
}

static void take_allocations(struct tern_process *proc)
{
    while (!tern_list_empty(&proc->allocations)) {
        tern_retire(TERN_LIST_ENTRY(proc->allocations.next, struct tern_allocation, node));
    }
}

int tern_os_process_kill(struct tern_process *proc)
{
    struct tern_device *dev = proc->dev;
    if (tern_device_check_fork(dev)) {
        return -ENODEV;
    }
    if (pthread_equal(pthread_self(), dev->thread)) {
        return tern_error(-EDEADLK, "process '%s' cannot be killed by a callback of its device: it waits for them",
                          proc->name);
    }
    struct tern_fault f = {.code = TERN_FAULT_KILLED};
    snprintf(f.message, sizeof f.message, "process '%.40s': it was killed", proc->name);
    pthread_mutex_lock(&dev->lock);
    const bool first = !proc->killed;
    proc->killed = true;
    tern_process_fail(proc, &f);
    tern_device_kick(dev);
    while (first ? !at_rest(proc) : !proc->gone) {
        pthread_cond_wait(&dev->changed, &dev->lock);
    }
    if (first) {
        take_contexts(proc);
        take_allocations(proc);
        tern_completions_drop(&dev->completion_queues, proc->id);
        tern_process_end(proc);
        proc->gone = true;
        pthread_cond_broadcast(&dev->changed);
    }
    pthread_mutex_unlock(&dev->lock);
    return 0;
}

void tern_process_free_objects(struct tern_process *proc)
{
    tern_assert_held(&proc->dev->lock);
    while (!proc->gone) {
        pthread_cond_wait(&proc->dev->changed, &proc->dev->lock);
    }
    while (!tern_list_empty(&proc->contexts)) {
        tern_context_free(TERN_LIST_ENTRY(proc->contexts.next, struct tern_context, node));
    }
    while (!tern_list_empty(&proc->fences)) {
        struct tern_fence *fence = TERN_LIST_ENTRY(proc->fences.next, struct tern_fence, node);
        tern_list_remove(&fence->node);
        free(fence);
    }
    while (!tern_list_empty(&proc->remains)) {
        struct tern_allocation *a = TERN_LIST_ENTRY(proc->remains.next, struct tern_allocation, node);
        tern_list_remove(&a->node);
        tern_allocation_free(a);
    }
}
