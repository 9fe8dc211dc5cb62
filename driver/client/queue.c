/* SPDX-License-Identifier: Apache-2.0 */
/** Completion queues of a client: as os/proc/completion.h, filled by the thread of pump.c. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/error.h"
#include "base/sized.h"
#include "client/client.h"

int tern_client_completion_queue_create(struct tern_device *dev, struct tern_completion_queue **out)
{
    int r = tern_client_check(dev);
    if (r) {
        return r;
    }
    struct tern_completion_queue *q = calloc(1, sizeof *q);
    if (!q) {
        return tern_error_memory("a completion queue");
    }
    q->api = &tern_client_api;
    q->dev = dev;
    q->end = &q->first;
    pthread_mutex_lock(&dev->lock);
    tern_client_fork_lock();
    q->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    r = q->fd < 0 ? -errno : 0;
    if (!r) {
        tern_list_append(&dev->queues, &q->node);
    }
    tern_client_fork_unlock();
    pthread_mutex_unlock(&dev->lock);
    if (r) {
        free(q);
        return tern_error(r, "the descriptor of a completion queue cannot be made: %s", strerror(-r));
    }
    *out = q;
    return 0;
}

/** Entries have come, or all have gone: the descriptor says so. */
static void show(const struct tern_completion_queue *q, bool any)
{
    uint64_t n = 1;
    const ssize_t done = any ? write(q->fd, &n, sizeof n) : read(q->fd, &n, sizeof n);
    (void)done; /* neither can fail: it counts to 1 at most, and is not read when it is 0 */
}

static void drop_first(struct tern_completion_queue *q, struct tern_completion_entry **at)
{
    struct tern_completion_entry *e = *at;
    *at = e->next;
    if (q->end == &e->next) {
        q->end = at;
    }
    free(e);
}

int tern_client_completion_queue_destroy(struct tern_completion_queue *q)
{
    struct tern_device *dev = q->dev;
    if (dev->inherited) {
        return tern_client_check(dev);
    }
    pthread_mutex_lock(&dev->lock);
    if (q->users) {
        const int r = tern_error(-EBUSY, "the completion queue is used by %u context%s: destroy them first", q->users,
                                 q->users == 1 ? "" : "s");
        pthread_mutex_unlock(&dev->lock);
        return r;
    }
    tern_client_fork_lock();
    tern_list_remove(&q->node);
    close(q->fd);
    tern_client_fork_unlock();
    pthread_mutex_unlock(&dev->lock);
    while (q->first) {
        drop_first(q, &q->first);
    }
    free(q);
    return 0;
}

int tern_client_completion_queue_fd(const struct tern_completion_queue *q)
{
    return q->dev->inherited ? tern_client_check(q->dev) : q->fd;
}

int tern_client_completion_queue_take(struct tern_completion_queue *q, struct tern_completion *out, uint32_t max)
{
    if (q->dev->inherited) {
        return tern_client_check(q->dev);
    }
    const uint32_t stride = max ? out->size : 0;
    uint32_t n = 0;
    int r = 0;
    pthread_mutex_lock(&q->dev->lock);
    const bool any = q->first != NULL;
    while (!r && n < max && n < INT32_MAX && q->first) {
        r = tern_sized_give_at(out, stride, n, &q->first->told, sizeof q->first->told);
        if (!r) {
            drop_first(q, &q->first);
            n++;
        }
    }
    if (any && !q->first) {
        show(q, false);
    }
    pthread_mutex_unlock(&q->dev->lock);
    return r ? r : (int)n;
}

void tern_client_tell(struct tern_context *c, const struct tern_completion *told)
{
    struct tern_completion_queue *q = c->completions;
    struct tern_completion_entry *e = c->reserved;
    const bool was_empty = !q->first;
    c->reserved = e->next;
    if (!c->reserved) {
        c->reserved_end = &c->reserved;
    }
    e->next = NULL;
    e->process = c->proc->number;
    e->told = *told;
    *q->end = e;
    q->end = &e->next;
    if (was_empty) {
        show(q, true);
    }
}

void tern_client_drop(const struct tern_process *proc)
{
    TERN_LIST_EACH(node, &proc->dev->queues)
    {
        struct tern_completion_queue *q = TERN_LIST_ENTRY(node, struct tern_completion_queue, node);
        const bool any = q->first != NULL;
        for (struct tern_completion_entry **at = &q->first; *at;) {
            if ((*at)->process == proc->number) {
                drop_first(q, at);
            } else {
                at = &(*at)->next;
            }
        }
        if (any && !q->first) {
            show(q, false);
        }
    }
}
