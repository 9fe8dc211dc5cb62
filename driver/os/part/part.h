/* SPDX-License-Identifier: Apache-2.0 */
/** Partitions of a device (state/partition.h). Functions require dev->lock, unless a comment says otherwise. */
#ifndef TERN_OS_PART_PART_H
#define TERN_OS_PART_PART_H

#include "os/state/state.h"

/** Makes the default partition, with pages [first, end) of the device. clean: the pages read zero. -ENOMEM. */
int tern_partition_begin(struct tern_device *dev, uint32_t first, uint32_t end, bool clean);
void tern_partition_end(struct tern_device *dev);
/** The partition with this name; a NULL or empty name stands for the default one. NULL, with a sentence: there is
 *  none. */
struct tern_partition *tern_partition_find(struct tern_device *dev, const char *name);
/** Add a process to the partition, and remove it. */
void tern_partition_join(struct tern_partition *p, struct tern_process *proc);
void tern_partition_leave(struct tern_process *proc);

#endif
