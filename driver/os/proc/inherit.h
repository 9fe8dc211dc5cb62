/* SPDX-License-Identifier: Apache-2.0 */
/** Devices of this process in the child of a fork (base/fork.h). */
#ifndef TERN_OS_INHERIT_H
#define TERN_OS_INHERIT_H

struct tern_device;

/** Makes each fork mark the device in the child (tern_fork_watch). -ENOMEM. */
int tern_inherit_watch(struct tern_device *dev);
/** 0, or -ENODEV with a sentence: this process was forked from the one that opened the device. Needs no lock. */
int tern_inherit_check(const struct tern_device *dev);

#endif
