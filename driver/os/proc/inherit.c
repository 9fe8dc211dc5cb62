/* SPDX-License-Identifier: Apache-2.0 */
#include "os/proc/inherit.h"

#include "base/completions.h"
#include "os/observe/observer.h"
#include "os/os.h"

static void in_child(struct tern_fork *f)
{
    struct tern_device *dev = TERN_LIST_ENTRY(f, struct tern_device, fork);
    tern_observer_inherited(dev);
    tern_completions_inherited(&dev->completion_queues);
}

int tern_inherit_watch(struct tern_device *dev)
{
    return tern_fork_watch(&dev->fork, in_child);
}

bool tern_os_device_inherited(const struct tern_device *dev)
{
    return dev->fork.inherited;
}

int tern_inherit_check(const struct tern_device *dev)
{
    return tern_fork_check(&dev->fork);
}
