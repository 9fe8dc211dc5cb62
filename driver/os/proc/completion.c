/* SPDX-License-Identifier: Apache-2.0 */
/** Completion queues (completion.h). */
#include "os/proc/completion.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/error.h"
#include "base/sized.h"
#include "os/proc/inherit.h"

struct tern_completion_entry {
    struct tern_list node;
    uint32_t process; /* its number, because it may end before this is taken */
    struct tern_completion completion;
};

int tern_os_completion_queue_create(struct tern_device *dev, struct tern_completion_queue **out)
{
    if (tern_inherit_check(dev)) {
        return -ENODEV;
    }
    struct tern_completion_queue *q = calloc(1, sizeof *q);
    if (!q) {
        return tern_error_memory("a completion queue");
    }
    q->api = &tern_os_api;
    q->dev = dev;
    tern_list_init(&q->entries);
    pthread_mutex_lock(&dev->lock);
    tern_inherit_lock();
    q->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    const int r = q->fd < 0 ? -errno : 0;
    if (!r) {
        tern_list_append(&dev->completion_queues, &q->node);
    }
    tern_inherit_unlock();
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

static void drop(struct tern_completion_entry *e)
{
    tern_list_remove(&e->node);
    free(e);
}

int tern_os_completion_queue_destroy(struct tern_completion_queue *q)
{
    if (!q) {
        return 0;
    }
    struct tern_device *dev = q->dev;
    if (tern_inherit_check(dev)) {
        return -ENODEV;
    }
    pthread_mutex_lock(&dev->lock);
    if (q->users) {
        const int r = tern_error(-EBUSY, "the completion queue is used by %u context%s: destroy them first", q->users,
                                 q->users == 1 ? "" : "s");
        pthread_mutex_unlock(&dev->lock);
        return r;
    }
    tern_inherit_lock();
    tern_list_remove(&q->node);
    close(q->fd);
    tern_inherit_unlock();
    pthread_mutex_unlock(&dev->lock);
    while (!tern_list_empty(&q->entries)) {
        drop(TERN_LIST_ENTRY(q->entries.next, struct tern_completion_entry, node));
    }
    free(q);
    return 0;
}

int tern_os_completion_queue_fd(const struct tern_completion_queue *q)
{
    return tern_inherit_check(q->dev) ? -ENODEV : q->fd;
}

int tern_os_completion_queue_take(struct tern_completion_queue *q, struct tern_completion *out, uint32_t max)
{
    if (tern_inherit_check(q->dev)) {
        return -ENODEV;
    }
    const uint32_t stride = max ? out->size : 0;
    uint32_t n = 0;
    int r = 0;
    pthread_mutex_lock(&q->dev->lock);
    const bool any = !tern_list_empty(&q->entries);
    while (!r && n < max && n < INT32_MAX && !tern_list_empty(&q->entries)) {
        struct tern_completion_entry *e = TERN_LIST_ENTRY(q->entries.next, struct tern_completion_entry, node);
        r = tern_sized_give_at(out, stride, n, &e->completion, sizeof e->completion);
        if (!r) {
            drop(e);
            n++;
        }
    }
    if (any && tern_list_empty(&q->entries)) {
        show(q, false);
    }
    pthread_mutex_unlock(&q->dev->lock);
    return r ? r : (int)n;
}

struct tern_completion_entry *tern_completion_reserve(const struct tern_context *c)
{
    struct tern_completion_entry *e = calloc(1, sizeof *e);
    if (e) {
        e->process = c->proc->id;
    }
    return e;
}

void tern_completion_put(struct tern_context *c, struct tern_completion_entry *e,
                         const struct tern_completion *completion)
{
    struct tern_completion_queue *q = c->completions;
    const bool first = tern_list_empty(&q->entries);
    e->completion = *completion;
    tern_list_append(&q->entries, &e->node);
    if (first) {
        show(q, true);
    }
}

void tern_completion_drop(const struct tern_process *proc)
{
    TERN_LIST_EACH(at, &proc->dev->completion_queues)
    {
        struct tern_completion_queue *q = TERN_LIST_ENTRY(at, struct tern_completion_queue, node);
        const bool any = !tern_list_empty(&q->entries);
        for (struct tern_list *node = q->entries.next, *next; node != &q->entries; node = next) {
            struct tern_completion_entry *e = TERN_LIST_ENTRY(node, struct tern_completion_entry, node);
            next = node->next;
            if (e->process == proc->id) {
                drop(e);
            }
        }
        if (any && tern_list_empty(&q->entries)) {
            show(q, false);
        }
    }
}

void tern_completion_inherited(struct tern_device *dev)
{
    TERN_LIST_EACH(at, &dev->completion_queues)
    {
        close(TERN_LIST_ENTRY(at, struct tern_completion_queue, node)->fd);
    }
}
