/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Completion queues (tern.h), for devices of this process and for clients of ternd. The memory of an entry is reserved
 * when work is submitted, so that the report of its end cannot fail. The descriptor is an eventfd, which is not 0
 * exactly while there are entries.
 *
 * Locks. The device's lock guards a queue and its entries, except where a comment says otherwise. Creation, destruction
 * and take acquire it; put and drop require it.
 */
#ifndef TERN_BASE_COMPLETIONS_H
#define TERN_BASE_COMPLETIONS_H

#include <pthread.h>

#include "base/list.h"
#include "tern/tern.h"

struct tern_api;

struct tern_completion_queue {
    const struct tern_api *api; /**< Constant, as are `dev`, `lock` and `fd`. */
    struct tern_list node; /**< Node of the device's list of queues; changed with tern_fork_lock held as well. */
    struct tern_device *dev;
    pthread_mutex_t *lock; /**< The device's lock. */
    struct tern_list entries;
    uint32_t users;        /**< Number of contexts that use the queue. */
    int fd;                /**< The eventfd. */
};

struct tern_completion_entry {
    struct tern_list node;
    uint64_t process; /**< Number of the process. A pointer would not do: the process may end before the take. */
    struct tern_completion told;
};

/** Makes a queue of the device and puts it into the device's list `queues`. -ENOMEM; errors of eventfd. */
int tern_completions_create(const struct tern_api *api, struct tern_device *dev, pthread_mutex_t *lock,
                            struct tern_list *queues, struct tern_completion_queue **out);
/** Destroys a queue and its entries. -EBUSY: contexts use it. */
int tern_completions_destroy(struct tern_completion_queue *q);
/** As tern_completion_queue_take. */
int tern_completions_take(struct tern_completion_queue *q, struct tern_completion *out, uint32_t max);

/** Allocates an entry for a later completion of the process with this number. NULL: out of memory. */
struct tern_completion_entry *tern_completion_reserve(uint64_t process);
/** Puts an entry, which is in no list, into the queue. The queue owns it from then on. */
void tern_completions_put(struct tern_completion_queue *q, struct tern_completion_entry *e,
                          const struct tern_completion *told);
/** Frees the entries of the process in all queues. */
void tern_completions_drop(const struct tern_list *queues, uint64_t process);
/** Closes the descriptors in the child of a fork. Async-signal-safe. */
void tern_completions_inherited(const struct tern_list *queues);

#endif
