/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The thread that takes completions: it tells them, in the order of the ring, and learns when ternd is gone. Then all
 * that has not ended ends as aborted.
 */
#include <string.h>

#include "client/client.h"
#include "wire/ring.h"
#include "wire/socket.h"

/** A submission has ended: callback or queue, then the threads that wait. */
static void end(struct tern_context *c, const struct tern_completion *told)
{
    struct tern_device *dev = c->proc->dev;
    if (told->result != TERN_COMPLETED) {
        atomic_store(&c->proc->error, true);
    }
    pthread_mutex_lock(&dev->lock);
    if (told->result != TERN_COMPLETED && !c->first_bad) {
        c->first_bad = told->fence;
    }
    if (c->completions) {
        tern_client_tell(c, told);
    } else if (c->completed) {
        pthread_mutex_unlock(&dev->lock);
        c->completed(c->user, told);
        pthread_mutex_lock(&dev->lock);
    }
    c->ended = told->fence; /* from here on another thread may free it */
    pthread_cond_broadcast(&dev->changed);
    pthread_mutex_unlock(&dev->lock);
}

static void take(struct tern_device *dev, uint64_t *head)
{
    struct tern_wire_ring *r = &dev->shared->completions;
    while (atomic_load_explicit(&r->tail, memory_order_acquire) != *head) {
        struct tern_wire_completion e = dev->completions[*head % TERN_WIRE_COMPLETIONS];
        atomic_store(&r->head, ++*head);
        if (atomic_load(&dev->shared->backlog)) {
            atomic_store(&dev->shared->backlog, 0);
            tern_socket_wake(dev->session);
        }
        struct tern_context *c = (struct tern_context *)(uintptr_t)e.cookie;
        const struct tern_completion told = {
            .size = sizeof told, .engine = e.engine, .fence = e.fence, .result = (enum tern_result)e.result,
            .submitted = e.submitted, .begin = e.begin, .end = e.end, .user = c->user};
        pthread_mutex_lock(&dev->lock);
        dev->queued -= e.cost;
        pthread_mutex_unlock(&dev->lock);
        end(c, &told);
    }
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

static void abort_all(struct tern_device *dev)
{
    pthread_mutex_lock(&dev->submit); /* no thread is about to add to it */
    pthread_mutex_lock(&dev->lock);
    atomic_store(&dev->gone, true);
    TERN_LIST_EACH(node, &dev->processes)
    {
        atomic_store(&TERN_LIST_ENTRY(node, struct tern_process, node)->error, true);
    }
    pthread_cond_broadcast(&dev->changed);
    pthread_mutex_unlock(&dev->submit);
    for (struct tern_context *c; (c = find_unfinished(dev));) {
        const struct tern_completion told = {
            .size = sizeof told, .fence = c->ended + 1, .result = TERN_ABORTED, .user = c->user};
        pthread_mutex_unlock(&dev->lock);
        end(c, &told);
        pthread_mutex_lock(&dev->lock);
    }
    pthread_mutex_unlock(&dev->lock);
}

void *tern_client_pump(void *user)
{
    struct tern_device *dev = user;
    uint64_t head = 0;
    bool there = true;
    while (there) {
        take(dev, &head);
        if (tern_ring_sleeps(&dev->shared->completions, head)) {
            there = tern_socket_sleep(dev->session);
        }
    }
    take(dev, &head);
    abort_all(dev);
    return NULL;
}
