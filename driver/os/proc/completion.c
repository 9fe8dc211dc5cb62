/* SPDX-License-Identifier: Apache-2.0 */
/** Completion queues (base/completions.h) of devices of this process. In the child of a fork each call returns
 *  -ENODEV. */
#include <errno.h>

#include "base/completions.h"
#include "os/proc/proc.h"
#include "os/state/state.h"

int tern_os_completion_queue_create(struct tern_device *dev, struct tern_completion_queue **out)
{
    return tern_device_check_fork(dev)
        ? -ENODEV
        : tern_completions_create(dev->api, dev, &dev->lock, &dev->completion_queues, out);
}

int tern_os_completion_queue_destroy(struct tern_completion_queue *q)
{
    return tern_device_check_fork(q->dev) ? -ENODEV : tern_completions_destroy(q);
}

int tern_os_completion_queue_fd(const struct tern_completion_queue *q)
{
    return tern_device_check_fork(q->dev) ? -ENODEV : q->fd;
}

int tern_os_completion_queue_take(struct tern_completion_queue *q, struct tern_completion *out, uint32_t max)
{
    return tern_device_check_fork(q->dev) ? -ENODEV : tern_completions_take(q, out, max);
}
