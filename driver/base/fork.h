/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Devices in the child of a fork. The child has a copy of the library's memory as it was at some moment, and none of
 * its threads: locks may be held for ever, and nothing would ever end. So every call that would lock or wait fails
 * there first (-ENODEV), and what the parent's device had open is closed, so that files, pipes and connections end with
 * the parent. A device that the child opens is like any other.
 *
 * A handler of pthread_atfork tells the child, and not a comparison of process ids, which would cost a system call in
 * each call.
 */
#ifndef TERN_BASE_FORK_H
#define TERN_BASE_FORK_H

#include <stdbool.h>

#include "base/list.h"

/** Part of a device. */
struct tern_fork {
    struct tern_list node;
    bool inherited; /**< This process is a child of the one that opened it; constant from the fork on. */
    void (*in_child)(struct tern_fork *f); /**< Closes what is open; only what a signal handler may do as well. */
};

/** From now on a fork leaves its mark on the device. -ENOMEM. */
int tern_fork_watch(struct tern_fork *f, void (*in_child)(struct tern_fork *f));
/** Of one that is watched. */
void tern_fork_forget(struct tern_fork *f);
/** 0, or -ENODEV with its sentence: this process was forked from the one that opened the device. Needs no lock. */
int tern_fork_check(const struct tern_fork *f);
/** No fork happens in between: for lists that the child looks through, and descriptors in them. Nothing is taken under
 *  it. */
void tern_fork_lock(void);
void tern_fork_unlock(void);

#endif
