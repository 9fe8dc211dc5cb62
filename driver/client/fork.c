/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A client of ternd in the child of a fork (base/fork.h). The child closes its connections, because ternd notices the
 * end of a program when all copies of a connection are closed. The shared memory is not mapped in the child.
 */
#include <unistd.h>

#include "base/completions.h"
#include "client/client.h"

static void in_child(struct tern_fork *f)
{
    struct tern_device *dev = TERN_LIST_ENTRY(f, struct tern_device, fork);
    close(dev->session);
    close(dev->nudge);
    for (uint32_t i = 0; i < TERN_WIRE_CONNECTIONS_MAX; i++) {
        if (dev->connection[i]) {
            close(dev->connection[i]->fd);
        }
    }
    tern_completions_inherited(&dev->queues);
}

int tern_client_watch(struct tern_device *dev)
{
    return tern_fork_watch(&dev->fork, in_child);
}
