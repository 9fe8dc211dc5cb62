/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Completion queues (tern.h). An entry is made when work is submitted, so that telling its end cannot fail; it is in
 * the queue from then until it is taken. The descriptor is an eventfd that is not 0 exactly while there are entries.
 * All but creation with dev->lock held.
 */
#ifndef TERN_OS_COMPLETION_H
#define TERN_OS_COMPLETION_H

#include "os/os.h"

struct tern_completion_queue {
    const struct tern_api *api;
    struct tern_list node; /**< In dev->completion_queues; under the lock of inherit.c, too. */
    struct tern_device *dev;
    struct tern_list entries;
    uint32_t users;        /**< Contexts. */
    int fd;
};

struct tern_completion_entry;

/** Memory for a completion that is to come, or NULL: there is none. */
struct tern_completion_entry *tern_completion_reserve(const struct tern_context *c);
/** Puts it into the context's queue, which then owns it. */
void tern_completion_put(struct tern_context *c, struct tern_completion_entry *entry,
                         const struct tern_completion *completion);
/** Drops what the queues have of the process. */
void tern_completion_drop(const struct tern_process *proc);
/** In the child of a fork: does what a signal handler may do. */
void tern_completion_inherited(struct tern_device *dev);

#endif
