/* SPDX-License-Identifier: Apache-2.0 */
/** Suspending a process (P8). The scheduler suspends each of its contexts, and those that are made meanwhile. */
#include <errno.h>

#include "base/error.h"
#include "os/proc/proc.h"

static bool on_engines(const struct tern_process *proc)
{
    TERN_LIST_EACH(node, &proc->contexts)
    {
        const struct tern_context *c = TERN_LIST_ENTRY(node, struct tern_context, node);
        if (!tern_sched_context_suspended(&c->sched, c->sched.suspend_fence)) {
            return true;
        }
    }
    return false;
}

void tern_suspend_new(struct tern_context *c)
{
    tern_assert_held(&c->proc->dev->lock);
    if (c->proc->suspended) {
        tern_sched_context_suspend(&c->proc->dev->sched, &c->sched);
    }
}

void tern_suspend_begin(struct tern_process *proc)
{
    tern_assert_held(&proc->dev->lock);
    proc->suspended = true;
    TERN_LIST_EACH(node, &proc->contexts)
    {
        tern_suspend_new(TERN_LIST_ENTRY(node, struct tern_context, node));
    }
    tern_device_kick(proc->dev);
}

void tern_suspend_end(struct tern_process *proc)
{
    tern_assert_held(&proc->dev->lock);
    proc->suspended = proc->held = false;
    TERN_LIST_EACH(node, &proc->contexts)
    {
        struct tern_context *c = TERN_LIST_ENTRY(node, struct tern_context, node);
        tern_sched_context_resume(&proc->dev->sched, &c->sched, c->sched.suspend_fence);
    }
    tern_device_kick(proc->dev);
}

static int check(struct tern_process *proc)
{
    return proc->killed || proc->dev->lost ? tern_process_check(proc) : 0;
}

int tern_os_process_suspend(struct tern_process *proc)
{
    struct tern_device *dev = proc->dev;
    if (tern_device_check_fork(dev)) {
        return -ENODEV;
    }
    pthread_mutex_lock(&dev->lock);
    int r = check(proc);
    if (!r && !proc->suspended) {
        tern_suspend_begin(proc);
    }
    proc->making++; /* a kill of the process waits for this call */
    while (!r && proc->suspended && on_engines(proc)) {
        dev->frees_waiters++;
        pthread_cond_wait(&dev->changed, &dev->lock);
        dev->frees_waiters--;
        r = check(proc);
    }
    tern_process_leave(proc);
    pthread_mutex_unlock(&dev->lock);
    return r;
}

int tern_os_process_resume(struct tern_process *proc)
{
    struct tern_device *dev = proc->dev;
    if (tern_device_check_fork(dev)) {
        return -ENODEV;
    }
    pthread_mutex_lock(&dev->lock);
    const int r = check(proc);
    if (!r && proc->suspended) {
        tern_suspend_end(proc);
    }
    pthread_mutex_unlock(&dev->lock);
    return r;
}
