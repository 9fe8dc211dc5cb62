/* SPDX-License-Identifier: Apache-2.0 */
/** Checks before an object is destroyed. Objects are destroyed after their children: -EBUSY, with a sentence, if some
 *  are left, else 0. */
#ifndef TERN_BASE_CHILDREN_H
#define TERN_BASE_CHILDREN_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

static inline int tern_children_of_process(const char *name, uint32_t left)
{
    return left ? tern_error(-EBUSY, "process '%s' has %u contexts, allocations or fences left: destroy them first",
                             name, left)
                : 0;
}

static inline int tern_children_of_device(bool queues, uint32_t processes)
{
    if (queues) {
        return tern_error(-EBUSY, "the device has completion queues left: destroy them first");
    }
    return processes ? tern_error(-EBUSY, "the device has %u process%s left: destroy them first", processes,
                                  processes == 1 ? "" : "es")
                     : 0;
}

#endif
