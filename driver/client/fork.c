/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A client of ternd in the child of a fork (base/fork.h). What the child would keep open are connections, whose end
 * tells ternd that the parent has died; the shared memory is not in it.
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
