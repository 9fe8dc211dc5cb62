/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Devices in the child of a fork. The child has a copy of the library's memory, but none of its threads: a lock may
 * stay held for ever, and no work would ever end. Therefore each call on a device of the parent that would lock or wait
 * fails with -ENODEV in the child. The descriptors of such a device are closed there, so that files, pipes and
 * connections end with the parent. A device that the child opens is like any other.
 *
 * A handler of pthread_atfork marks the devices. The alternative, to compare process ids, would cost a system call in
 * each call.
 */
#ifndef TERN_BASE_FORK_H
#define TERN_BASE_FORK_H

#include <stdbool.h>

#include "base/list.h"

/** The part of a device that forks concern. */
struct tern_fork {
    struct tern_list node; /**< Node of the list of all devices; guarded by tern_fork_lock. */
    bool inherited; /**< This process is a child of the one that opened the device. Set at the fork only. */
    void (*in_child)(struct tern_fork *f); /**< Closes the device's descriptors. Async-signal-safe. */
};

/** Makes each fork mark the device in the child and call in_child there. -ENOMEM. */
int tern_fork_watch(struct tern_fork *f, void (*in_child)(struct tern_fork *f));
/** Undoes tern_fork_watch. */
void tern_fork_forget(struct tern_fork *f);
/** 0, or -ENODEV with a sentence: this process was forked from the one that opened the device. Needs no lock. */
int tern_fork_check(const struct tern_fork *f);
/** The lock that keeps forks away while it is held. The lists that in_child walks, and the descriptors in them, change
 *  only with it held. No other lock is taken while it is held. */
void tern_fork_lock(void);
void tern_fork_unlock(void);

#endif
