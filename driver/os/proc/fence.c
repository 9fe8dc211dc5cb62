/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Monitored fences (S3): each is a value in a page of its own.
 *
 * No wake-up is lost. A waiter sleeps only if dev->progress has not changed since before it read the value. All events
 * that may end a wait change dev->progress:
 *   - an engine writes the value, which happens while device time passes. After the last write of an engine, the
 *     scheduler runs once more and finds the engine idle;
 *   - the host writes the value, and kicks the device thread;
 *   - the process goes into error, in a run of the scheduler.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/wait.h"
#include "os/mem/mem.h"
#include "os/proc/proc.h"

int tern_os_fence_create(struct tern_process *proc, uint64_t initial, struct tern_fence **out)
{
    struct tern_fence *f = calloc(1, sizeof *f);
    if (!f) {
        return tern_error_memory("a fence");
    }
    f->api = proc->dev->api;
    const struct tern_allocation_want page = {
        .size = sizeof initial, .flags = TERN_MEM_READ | TERN_MEM_WRITE, .stays = true};
    int r = tern_allocation_make(proc, &page, &f->page);
    if (r) {
        free(f);
        return r;
    }
    pthread_mutex_lock(&proc->dev->lock);
    tern_list_append(&proc->fences, &f->node);
    pthread_mutex_unlock(&proc->dev->lock);
    r = initial ? tern_os_fence_signal(f, initial) : 0;
    if (r) {
        tern_os_fence_destroy(f);
        return r;
    }
    *out = f;
    return 0;
}

void tern_os_fence_destroy(struct tern_fence *f)
{
    if (!f->page->proc->dev->fork.inherited) {
        struct tern_device *dev = f->page->proc->dev;
        pthread_mutex_lock(&dev->lock);
        tern_list_remove(&f->node);
        pthread_mutex_unlock(&dev->lock);
        tern_os_allocation_destroy(f->page);
        free(f);
    }
}

uint32_t tern_os_fence_address(const struct tern_fence *f)
{
    return tern_os_allocation_address(f->page);
}

int tern_os_fence_value(struct tern_fence *f, uint64_t *value)
{
    return tern_os_allocation_read(f->page, 0, value, sizeof *value);
}

int tern_os_fence_signal(struct tern_fence *f, uint64_t value)
{
    return tern_os_allocation_write(f->page, 0, &value, sizeof value);
}

int tern_os_fence_wait(struct tern_fence *f, uint64_t value, int64_t timeout_ms)
{
    if (tern_device_check_fork(f->page->proc->dev)) {
        return -ENODEV;
    }
    struct tern_process *proc = f->page->proc;
    struct tern_device *dev = proc->dev;
    struct timespec until = tern_deadline(timeout_ms);
    int r = 0;
    pthread_mutex_lock(&dev->lock);
    dev->fence_waiters++;
    tern_device_wake(dev); /* with a waiter, the device thread checks more often */
    while (!r) {
        uint64_t before = dev->progress, now = 0;
        int error = tern_process_check(proc);
        pthread_mutex_unlock(&dev->lock);
        r = tern_os_fence_value(f, &now);
        pthread_mutex_lock(&dev->lock);
        if (r || now >= value) {
            break;
        }
        r = error ? tern_process_check(proc) : 0;
        while (!r && before == dev->progress) {
            r = tern_wait_changed(&dev->changed, &dev->lock, timeout_ms, &until);
        }
    }
    dev->fence_waiters--;
    pthread_mutex_unlock(&dev->lock);
    return r == -ETIMEDOUT ? tern_error(r, "the fence has not reached %" PRIu64 " after %lld ms", value,
                                        (long long)timeout_ms)
                           : r;
}
