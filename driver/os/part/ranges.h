/* SPDX-License-Identifier: Apache-2.0 */
/** Memory of partitions: how it goes from the default one to another, and back. With dev->lock held. */
#ifndef TERN_OS_RANGES_H
#define TERN_OS_RANGES_H

#include <stdint.h>

struct tern_device;
struct tern_partition;

/** Takes so many free pages, and pages of the host, from the default partition, in runs as long as there are. -ENOSPC,
 *  -ENOMEM: nothing is taken. */
int tern_ranges_grow(struct tern_device *dev, struct tern_partition *p, uint32_t pages, uint32_t host);
/** Gives so many free ones back. -EBUSY: not so many are free; -ENOMEM. */
int tern_ranges_shrink(struct tern_device *dev, struct tern_partition *p, uint32_t pages, uint32_t host);

#endif
