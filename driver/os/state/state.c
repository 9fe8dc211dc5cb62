/* SPDX-License-Identifier: Apache-2.0 */
/** Device time, wake-ups of the device thread, loss of a device, and errors of processes (state.h). */
#include <errno.h>
#include <stdio.h>

#include "base/error.h"
#include "os/state/state.h"

/* ---------------------------------------------------------------- memory, time */

int tern_device_read(struct tern_device *dev, uint64_t address, void *data, size_t size)
{
    tern_assert_held(&dev->hal_lock);
    return tern_kmd_read(&dev->kmd, address, data, size);
}

int tern_device_write(struct tern_device *dev, const struct tern_iovec *pieces, size_t n)
{
    tern_assert_held(&dev->hal_lock);
    return tern_kmd_write(&dev->kmd, pieces, n);
}

uint64_t tern_os_device_time(struct tern_device *dev)
{
    if (dev->fork.inherited) {
        return atomic_load(&dev->now);
    }
    uint64_t now;
    tern_ticket_lock(&dev->hal_lock);
    int r = tern_kmd_time(&dev->kmd, &now);
    tern_ticket_unlock(&dev->hal_lock);
    if (r) {
        return atomic_load(&dev->now); /* the next call that uses the device reports the loss */
    }
    tern_device_saw(dev, now);
    return now;
}

uint64_t tern_os_device_time_seen(const struct tern_device *dev)
{
    return atomic_load(&dev->now);
}

/* --------------------------------------------------------------- the device */

int tern_device_check_fork(const struct tern_device *dev)
{
    return tern_fork_check(&dev->fork);
}

void tern_device_wake(struct tern_device *dev)
{
    tern_assert_held(&dev->lock);
    if (dev->waiting) {
        tern_kmd_wake(&dev->kmd);
    }
}

void tern_device_note(struct tern_device *dev)
{
    tern_assert_held(&dev->lock);
    dev->kick = true;
    dev->progress++;
    tern_device_wake(dev);
    if (dev->fence_waiters) {
        pthread_cond_broadcast(&dev->changed);
    }
}

void tern_device_kick(struct tern_device *dev)
{
    tern_assert_held(&dev->lock);
    tern_device_note(dev);
    pthread_cond_signal(&dev->wake);
}

void tern_device_lose(struct tern_device *dev, const char *why)
{
    tern_assert_held(&dev->lock);
    if (dev->lost) {
        return;
    }
    dev->lost = true;
    snprintf(dev->lost_why, sizeof dev->lost_why, "the device is lost: %.170s", why);
    tern_sched_abort_all(&dev->sched);
    TERN_LIST_EACH(node, &dev->processes)
    {
        struct tern_process *p = TERN_LIST_ENTRY(node, struct tern_process, node);
        struct tern_fault f = {.code = TERN_FAULT_DEVICE};
        snprintf(f.message, sizeof f.message, "process '%.40s': %.190s", p->name, dev->lost_why);
        tern_process_fail(p, &f);
    }
    pthread_cond_broadcast(&dev->changed);
    tern_device_kick(dev);
}

/* ----------------------------------------------------------------- processes */

void tern_process_fail(struct tern_process *proc, const struct tern_fault *fault)
{
    tern_assert_held(&proc->dev->lock);
    if (!proc->sched.error) {
        proc->fault = *fault;
        proc->sched.error = true;
        tern_sched_abort(&proc->dev->sched, &proc->sched);
        tern_device_kick(proc->dev);
    }
}

int tern_process_check(struct tern_process *proc)
{
    tern_assert_held(&proc->dev->lock);
    if (proc->dev->lost) {
        return tern_error(-EIO, "%s", proc->dev->lost_why);
    }
    return proc->sched.error ? tern_error(-EIO, "the process is in error: %s", proc->fault.message) : 0;
}

int tern_process_enter(struct tern_process *proc)
{
    tern_assert_held(&proc->dev->lock);
    const int r = tern_process_check(proc);
    proc->making += !r;
    return r;
}

void tern_process_leave(struct tern_process *proc)
{
    tern_assert_held(&proc->dev->lock);
    if (--proc->making == 0 && proc->killed) {
        pthread_cond_broadcast(&proc->dev->changed);
    }
}
