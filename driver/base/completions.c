/* SPDX-License-Identifier: Apache-2.0 */
#include "base/completions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fork.h"
#include "base/lock.h"
#include "base/sized.h"

int tern_completions_create(const struct tern_api *api, struct tern_device *dev, pthread_mutex_t *lock,
                            struct tern_list *queues, struct tern_completion_queue **out)
{
    struct tern_completion_queue *q = calloc(1, sizeof *q);
    if (!q) {
        return tern_error_memory("a completion queue");
    }
    q->api = api;
    q->dev = dev;
    q->lock = lock;
    tern_list_init(&q->entries);
    pthread_mutex_lock(lock);
    tern_fork_lock();
    q->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    const int r = q->fd < 0 ? -errno : 0;
    if (!r) {
        tern_list_append(queues, &q->node);
    }
    tern_fork_unlock();
    pthread_mutex_unlock(lock);
    if (r) {
        free(q);
        return tern_error(r, "the descriptor of a completion queue cannot be made: %s", strerror(-r));
    }
    *out = q;
    return 0;
}

/** Sets the descriptor after the first entry was put (any), or resets it after the last one was taken. */
static void show(const struct tern_completion_queue *q, bool any)
{
    uint64_t n = 1;
    const ssize_t done = any ? write(q->fd, &n, sizeof n) : read(q->fd, &n, sizeof n);
    (void)done; /* neither can fail: the count is at most 1, and is not read while it is 0 */
}

static void drop(struct tern_completion_entry *e)
{
    tern_list_remove(&e->node);
    free(e);
}

int tern_completions_destroy(struct tern_completion_queue *q)
{
    pthread_mutex_t *lock = q->lock;
    pthread_mutex_lock(lock);
    if (q->users) {
        const int r = tern_error(-EBUSY, "the completion queue is used by %u context%s: destroy them first", q->users,
                                 q->users == 1 ? "" : "s");
        pthread_mutex_unlock(lock);
        return r;
    }
    tern_fork_lock();
    tern_list_remove(&q->node);
    close(q->fd);
    tern_fork_unlock();
    pthread_mutex_unlock(lock);
    while (!tern_list_empty(&q->entries)) {
        drop(TERN_LIST_ENTRY(q->entries.next, struct tern_completion_entry, node));
    }
    free(q);
    return 0;
}

int tern_completions_take(struct tern_completion_queue *q, struct tern_completion *out, uint32_t max)
{
    const uint32_t stride = max ? out->size : 0;
    uint32_t n = 0;
    int r = 0;
    pthread_mutex_lock(q->lock);
    const bool any = !tern_list_empty(&q->entries);
    while (!r && n < max && n < INT32_MAX && !tern_list_empty(&q->entries)) {
        struct tern_completion_entry *e = TERN_LIST_ENTRY(q->entries.next, struct tern_completion_entry, node);
        r = tern_sized_give_at(out, stride, n, &e->told, sizeof e->told);
        if (!r) {
            drop(e);
            n++;
        }
    }
    if (any && tern_list_empty(&q->entries)) {
        show(q, false);
    }
    pthread_mutex_unlock(q->lock);
    return r ? r : (int)n;
}

struct tern_completion_entry *tern_completion_reserve(uint64_t process)
{
    struct tern_completion_entry *e = calloc(1, sizeof *e);
    if (e) {
        tern_list_init(&e->node);
        e->process = process;
    }
    return e;
}

void tern_completions_put(struct tern_completion_queue *q, struct tern_completion_entry *e,
                          const struct tern_completion *told)
{
    tern_assert_held(q->lock);
    const bool first = tern_list_empty(&q->entries);
    e->told = *told;
    tern_list_append(&q->entries, &e->node);
    if (first) {
        show(q, true);
    }
}

void tern_completions_drop(const struct tern_list *queues, uint64_t process)
{
    TERN_LIST_EACH(at, queues)
    {
        struct tern_completion_queue *q = TERN_LIST_ENTRY(at, struct tern_completion_queue, node);
        tern_assert_held(q->lock);
        const bool any = !tern_list_empty(&q->entries);
        for (struct tern_list *node = q->entries.next, *next; node != &q->entries; node = next) {
            struct tern_completion_entry *e = TERN_LIST_ENTRY(node, struct tern_completion_entry, node);
            next = node->next;
            if (e->process == process) {
                drop(e);
            }
        }
        if (any && tern_list_empty(&q->entries)) {
            show(q, false);
        }
    }
}

void tern_completions_inherited(const struct tern_list *queues)
{
    TERN_LIST_EACH(at, queues)
    {
        close(TERN_LIST_ENTRY(at, struct tern_completion_queue, node)->fd);
    }
}
