/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Clients of ternd in the child of a fork: as os/proc/inherit.h says of devices of the process itself. What the child
 * would keep open are connections, whose end tells ternd that the parent has died; the shared memory is not in it.
 */
#include <errno.h>
#include <unistd.h>

#include "base/error.h"
#include "client/client.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int registered; /* of once: 0 or an errno */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct tern_list open_devices = {&open_devices, &open_devices};

void tern_client_fork_lock(void)
{
    pthread_mutex_lock(&lock);
}

void tern_client_fork_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

/** Only what a signal handler may do as well. */
static void in_child(void)
{
    TERN_LIST_EACH(node, &open_devices)
    {
        struct tern_device *dev = TERN_LIST_ENTRY(node, struct tern_device, opened);
        if (dev->inherited) {
            continue;
        }
        dev->inherited = true;
        close(dev->session);
        for (uint32_t i = 0; i < TERN_WIRE_CONNECTIONS_MAX; i++) {
            if (dev->connection[i]) {
                close(dev->connection[i]->fd);
            }
        }
        TERN_LIST_EACH(at, &dev->queues)
        {
            close(TERN_LIST_ENTRY(at, struct tern_completion_queue, node)->fd);
        }
    }
    pthread_mutex_unlock(&lock);
}

static void watch_forks(void)
{
    registered = pthread_atfork(tern_client_fork_lock, tern_client_fork_unlock, in_child);
}

int tern_client_watch(struct tern_device *dev)
{
    pthread_once(&once, watch_forks);
    if (registered) {
        return tern_error_memory("the handlers of fork");
    }
    tern_client_fork_lock();
    tern_list_append(&open_devices, &dev->opened);
    tern_client_fork_unlock();
    return 0;
}

void tern_client_forget(struct tern_device *dev)
{
    tern_client_fork_lock();
    tern_list_remove(&dev->opened);
    tern_client_fork_unlock();
}
