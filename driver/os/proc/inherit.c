/* SPDX-License-Identifier: Apache-2.0 */
/** Devices in the child of a fork (inherit.h). */
#include "os/proc/inherit.h"

#include <errno.h>

#include "base/error.h"
#include "os/observe/observer.h"
#include "os/proc/completion.h"
#include "os/os.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int registered; /* of once: 0 or an errno */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* nothing is taken under it */
static struct tern_list open_devices = {&open_devices, &open_devices};

static void before(void)
{
    pthread_mutex_lock(&lock);
}

static void after(void)
{
    pthread_mutex_unlock(&lock);
}

/** Only what a signal handler may do as well: the parent may have had many threads. */
static void in_child(void)
{
    TERN_LIST_EACH(node, &open_devices)
    {
        struct tern_device *dev = TERN_LIST_ENTRY(node, struct tern_device, opened);
        if (!dev->inherited) {
            dev->inherited = true;
            tern_observer_inherited(dev);
            tern_completion_inherited(dev);
        }
    }
    pthread_mutex_unlock(&lock);
}

static void watch_forks(void)
{
    registered = pthread_atfork(before, after, in_child);
}

int tern_inherit_watch(struct tern_device *dev)
{
    pthread_once(&once, watch_forks);
    if (registered) {
        return tern_error_memory("the handlers of fork");
    }
    pthread_mutex_lock(&lock);
    tern_list_append(&open_devices, &dev->opened);
    pthread_mutex_unlock(&lock);
    return 0;
}

void tern_inherit_forget(struct tern_device *dev)
{
    pthread_mutex_lock(&lock);
    tern_list_remove(&dev->opened);
    pthread_mutex_unlock(&lock);
}

void tern_inherit_lock(void)
{
    before();
}

void tern_inherit_unlock(void)
{
    after();
}

bool tern_os_device_inherited(const struct tern_device *dev)
{
    return dev->inherited;
}

int tern_inherit_check(const struct tern_device *dev)
{
    return dev->inherited ? tern_error(-ENODEV, "this process was forked from the one that opened the device, which "
                                                "stayed there: open a device after the fork")
                          : 0;
}
