/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Completion queues (tern.h), the same for a device of this process and for a client of ternd. An entry is made when
 * work is submitted, so that telling its end cannot fail; it is in the queue from then until it is taken. The
 * descriptor is an eventfd that is not 0 exactly while there are entries.
 * All but creation, destruction and take with the device's lock held.
 */
#ifndef TERN_BASE_COMPLETIONS_H
#define TERN_BASE_COMPLETIONS_H

#include <pthread.h>

#include "base/list.h"
#include "tern/tern.h"

struct tern_api;

struct tern_completion_queue {
    const struct tern_api *api;
    struct tern_list node; /**< In the device's list of queues; under tern_fork_lock, too. */
    struct tern_device *dev;
    pthread_mutex_t *lock; /**< The device's. */
    struct tern_list entries;
    uint32_t users;        /**< Contexts. */
    int fd;
};

struct tern_completion_entry {
    struct tern_list node;
    uint64_t process; /**< Its number, because it may end before this is taken. */
    struct tern_completion told;
};

/** A queue of the device, in its list `queues`. -ENOMEM; errors of eventfd. */
int tern_completions_create(const struct tern_api *api, struct tern_device *dev, pthread_mutex_t *lock,
                            struct tern_list *queues, struct tern_completion_queue **out);
/** -EBUSY: it has users. */
int tern_completions_destroy(struct tern_completion_queue *q);
/** As tern_completion_queue_take. */
int tern_completions_take(struct tern_completion_queue *q, struct tern_completion *out, uint32_t max);

/** Memory for a completion that is to come, of the process with this number; or NULL: there is none. */
struct tern_completion_entry *tern_completion_reserve(uint64_t process);
/** Puts it, in no list by now, into the queue, which then owns it. */
void tern_completions_put(struct tern_completion_queue *q, struct tern_completion_entry *e,
                          const struct tern_completion *told);
/** Drops what the queues have of the process. */
void tern_completions_drop(const struct tern_list *queues, uint64_t process);
/** In the child of a fork: does what a signal handler may do. */
void tern_completions_inherited(const struct tern_list *queues);

#endif
