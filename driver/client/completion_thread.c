/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Completions. One thread at a time takes them out of the ring, in its order. A thread that waits for a fence takes
 * them itself if no other thread does, and sleeps on a futex in the shared memory: the end of a dispatch then wakes
 * only the thread that waits for it. If no thread waits, the library's thread takes completions, and sleeps on the
 * session's connection. Callbacks that may not run in any thread run in the library's thread only. That thread also
 * notices that ternd is gone; then all work that has not ended ends as aborted.
 *
 * Locks: functions require dev->lock, unless a comment says otherwise.
 */
#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>

#include "client/client.h"
#include "wire/futex.h"
#include "wire/ring.h"
#include "wire/socket.h"

/** Ends a submission: calls the callback or fills the queue, then wakes waiting threads. Releases dev->lock during
 *  the callback. */
static TERN_LOCK_HANDED void end(struct tern_context *c, const struct tern_completion *told)
{
    struct tern_device *dev = c->proc->dev;
    tern_assert_held(&dev->lock);
    if (told->result != TERN_COMPLETED) {
        atomic_store(&c->proc->error, true);
        c->first_bad = c->first_bad ? c->first_bad : told->fence;
    }
    if (c->completions) {
        tern_client_tell(c, told);
    } else if (c->completed) {
        pthread_mutex_unlock(&dev->lock);
        c->completed(c->user, told);
        pthread_mutex_lock(&dev->lock);
    }
    c->ended = told->fence; /* another thread may free the context once the lock is released */
    pthread_cond_broadcast(&dev->changed);
}

/** Takes the oldest completion. Called by the thread that takes completions. any: the caller is not the library's
 *  thread. False: there is none, or its callback must run in the library's thread. */
static bool take(struct tern_device *dev, bool any)
{
    tern_assert_held(&dev->lock);
    struct tern_wire_ring *r = &dev->shared->completions;
    if (atomic_load_explicit(&r->tail, memory_order_acquire) == dev->head) {
        return false;
    }
    const struct tern_wire_completion e = dev->completions[dev->head % TERN_WIRE_COMPLETIONS];
    struct tern_context *c = (struct tern_context *)(uintptr_t)e.cookie;
    if (any && c->completed && !c->any_thread) {
        return false;
    }
    atomic_store(&r->head, ++dev->head);
    if (atomic_load(&dev->shared->backlog)) {
        atomic_store(&dev->shared->backlog, 0);
        tern_socket_wake(dev->session);
    }
    const struct tern_completion told = {
        .size = sizeof told, .engine = e.engine, .fence = e.fence, .result = (enum tern_result)e.result,
        .submitted = e.submitted, .begin = e.begin, .end = e.end, .user = c->user};
    dev->queued -= e.cost;
    end(c, &told);
    return true;
}

static void take_begin(struct tern_device *dev)
{
    tern_assert_held(&dev->lock);
    dev->taking = true;
    dev->taker = pthread_self();
}

/** Stops taking completions. False: more have come, and another thread must take them. */
static bool take_end(struct tern_device *dev)
{
    tern_assert_held(&dev->lock);
    dev->taking = false;
    pthread_cond_broadcast(&dev->changed); /* a waiting thread may take completions next */
    return tern_ring_sleeps(&dev->shared->completions, dev->head, TERN_WIRE_MESSAGE);
}

TERN_LOCK_HANDED int tern_client_take(struct tern_context *c, uint64_t fence, const struct timespec *until)
{
    struct tern_device *dev = c->proc->dev;
    tern_assert_held(&dev->lock);
    int r = 0;
    struct tern_wire_ring *ring = &dev->shared->completions;
    take_begin(dev);
    while (c->ended < fence && take(dev, true)) {
    }
    if (c->ended < fence && tern_ring_sleeps(ring, dev->head, TERN_WIRE_FUTEX) && !atomic_load(&dev->gone)) {
        pthread_mutex_unlock(&dev->lock);
        r = tern_futex_sleep(&ring->sleeping, TERN_WIRE_FUTEX, until);
        pthread_mutex_lock(&dev->lock);
        while (c->ended < fence && take(dev, true)) {
        }
    }
    if (!take_end(dev)) {
        eventfd_write(dev->nudge, 1);
        if (r == 0) {
            r = -EAGAIN;
        }
    }
    return c->ended < fence ? r : 0;
}

bool tern_client_in_callback(struct tern_device *dev)
{
    pthread_mutex_lock(&dev->lock);
    const bool in = dev->taking && pthread_equal(pthread_self(), dev->taker);
    pthread_mutex_unlock(&dev->lock);
    return in;
}

/** A context with unfinished work, or NULL. */
static struct tern_context *find_unfinished(struct tern_device *dev)
{
    tern_assert_held(&dev->lock);
    TERN_LIST_EACH(node, &dev->processes)
    {
        struct tern_process *p = TERN_LIST_ENTRY(node, struct tern_process, node);
        TERN_LIST_EACH(at, &p->contexts)
        {
            struct tern_context *c = TERN_LIST_ENTRY(at, struct tern_context, node);
            if (c->ended != c->submitted) {
                return c;
            }
        }
    }
    return NULL;
}

/** Ends all work as aborted, because ternd is gone. Takes dev->submit and dev->lock. */
static void abort_all(struct tern_device *dev)
{
    pthread_mutex_lock(&dev->submit); /* waits for submissions under way */
    pthread_mutex_lock(&dev->lock);
    atomic_store(&dev->gone, true);
    pthread_mutex_unlock(&dev->submit);
    while (dev->taking) {
        atomic_store(&dev->shared->completions.sleeping, TERN_WIRE_AWAKE);
        tern_futex_wake(&dev->shared->completions.sleeping);
        pthread_cond_wait(&dev->changed, &dev->lock);
    }
    take_begin(dev);
    while (take(dev, false)) {
    }
    TERN_LIST_EACH(node, &dev->processes)
    {
        atomic_store(&TERN_LIST_ENTRY(node, struct tern_process, node)->error, true);
    }
    for (struct tern_context *c; (c = find_unfinished(dev));) {
        const struct tern_completion told = {
            .size = sizeof told, .fence = c->ended + 1, .result = TERN_ABORTED, .user = c->user};
        end(c, &told);
    }
    take_end(dev);
    pthread_mutex_unlock(&dev->lock);
}

void *tern_client_pump(void *user)
{
    struct tern_device *dev = user;
    bool there = true;
    while (there) {
        bool all = true;
        pthread_mutex_lock(&dev->lock);
        if (!dev->taking) {
            take_begin(dev);
            while (take(dev, false)) {
            }
            all = take_end(dev);
        }
        pthread_mutex_unlock(&dev->lock);
        if (all) {
            there = tern_socket_sleep_or(dev->session, dev->nudge);
        }
    }
    abort_all(dev);
    return NULL;
}
