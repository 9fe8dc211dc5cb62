/* SPDX-License-Identifier: Apache-2.0 */
/** Moves memory between the default partition and others. All functions are called with dev->lock held. */
#ifndef TERN_OS_RANGES_H
#define TERN_OS_RANGES_H

#include <stdint.h>

struct tern_device;
struct tern_partition;

/** Moves free pages, and pages of the host, from the default partition to p, in runs as long as possible. -ENOSPC,
 *  -ENOMEM: nothing was moved. */
int tern_ranges_grow(struct tern_device *dev, struct tern_partition *p, uint32_t pages, uint32_t host);
/** Moves free pages of p, and pages of the host, back. -EBUSY: p has fewer free pages; -ENOMEM. */
int tern_ranges_shrink(struct tern_device *dev, struct tern_partition *p, uint32_t pages, uint32_t host);

#endif
