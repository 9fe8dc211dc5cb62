/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Devices in the child of a fork. The child has a copy of the driver's memory as it was at some moment, and none of its
 * threads: locks may be held for ever, and nothing would ever end. So every call that would lock or wait fails there
 * first (-ENODEV), and what the parent's device had open is closed, so that files and pipes end with the parent. A
 * device that the child opens is like any other.
 *
 * Told by a handler of pthread_atfork, and not by comparing process ids, which would cost a system call in each call.
 */
#ifndef TERN_OS_INHERIT_H
#define TERN_OS_INHERIT_H

struct tern_device;

/** From now on a fork leaves its mark on the device. -ENOMEM. */
int tern_inherit_watch(struct tern_device *dev);
void tern_inherit_forget(struct tern_device *dev);
/** 0, or -ENODEV with its sentence: this process was forked from the one that opened the device. Needs no lock. */
int tern_inherit_check(const struct tern_device *dev);
/** No fork happens in between: for lists that the child looks through. Nothing is taken under it. */
void tern_inherit_lock(void);
void tern_inherit_unlock(void);

#endif
