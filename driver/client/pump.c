/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Completions are taken out of the ring and told in its order by one thread at a time. One that waits for a fence does
 * so while it waits, if no other thread does, and sleeps on a futex of the shared memory: then the end of a dispatch
 * wakes the thread that wants to know it, and no other. If none waits, the library's thread does, which sleeps on the
 * session's connection. That thread alone calls callbacks that may not be called by just any thread. It learns, too,
 * when ternd is gone; then all that has not ended ends as aborted.
 */
#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>

#include "client/client.h"
#include "wire/futex.h"
#include "wire/ring.h"
#include "wire/socket.h"

/** A submission has ended: callback or queue, then the threads that wait. With dev->lock held, but in the callback. */
static void end(struct tern_context *c, const struct tern_completion *told)
{
    struct tern_device *dev = c->proc->dev;
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
    c->ended = told->fence; /* once the lock is released another thread may free it */
    pthread_cond_broadcast(&dev->changed);
}

/** Takes the oldest, as the thread that takes, with dev->lock held. any: this may be any thread. false: there is none,
 *  or its callback wants the library's thread. */
static bool take(struct tern_device *dev, bool any)
{
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
    dev->taking = true;
    dev->taker = pthread_self();
}

/** false: there is more, which another thread must take. */
static bool take_end(struct tern_device *dev)
{
    dev->taking = false;
    pthread_cond_broadcast(&dev->changed); /* one that waits may be next */
    return tern_ring_sleeps(&dev->shared->completions, dev->head, TERN_WIRE_MESSAGE);
}

int tern_client_take(struct tern_context *c, uint64_t fence, const struct timespec *until)
{
    struct tern_device *dev = c->proc->dev;
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
        r = r ? r : -EAGAIN;
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

/** A context with work that will never be told, with dev->lock held. */
static struct tern_context *find_unfinished(struct tern_device *dev)
{
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

/** ternd is gone. */
static void abort_all(struct tern_device *dev)
{
    pthread_mutex_lock(&dev->submit); /* no thread is about to add to it */
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
