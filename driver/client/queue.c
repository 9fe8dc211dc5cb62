/* SPDX-License-Identifier: Apache-2.0 */
/** Completion queues of a client (base/completions.h), filled by the thread of completion_thread.c. */
#include "base/completions.h"
#include "client/client.h"

int tern_client_completion_queue_create(struct tern_device *dev, struct tern_completion_queue **out)
{
    const int r = tern_client_check(dev);
    return r ? r : tern_completions_create(&tern_client_api, dev, &dev->lock, &dev->queues, out);
}

int tern_client_completion_queue_destroy(struct tern_completion_queue *q)
{
    const int r = tern_fork_check(&q->dev->fork);
    return r ? r : tern_completions_destroy(q);
}

int tern_client_completion_queue_fd(const struct tern_completion_queue *q)
{
    const int r = tern_fork_check(&q->dev->fork);
    return r ? r : q->fd;
}

int tern_client_completion_queue_take(struct tern_completion_queue *q, struct tern_completion *out, uint32_t max)
{
    const int r = tern_fork_check(&q->dev->fork);
    return r ? r : tern_completions_take(q, out, max);
}

void tern_client_tell(struct tern_context *c, const struct tern_completion *told)
{
    tern_assert_held(&c->proc->dev->lock);
    struct tern_completion_entry *e = TERN_LIST_ENTRY(c->reserved.next, struct tern_completion_entry, node);
    tern_list_remove(&e->node);
    tern_completions_put(c->completions, e, told);
}
