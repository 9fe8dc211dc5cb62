/* SPDX-License-Identifier: Apache-2.0 */
/** Memory of a device as the driver accounts for it, and where an allocation lies in it. */
#ifndef SUPPORT_DEVICE_MEMORY_H
#define SUPPORT_DEVICE_MEMORY_H

#include "os/mem/mem.h"

/** Returns the number of free pages of the device's default partition. */
uint32_t free_pages(struct tern_device *device);
/** Checks that the device has so many free pages, no process, no committed memory and no exported memory. */
void expect_no_memory(struct tern_device *device, uint32_t pages);

/** Returns the physical address of a byte of an allocation. *contiguous: bytes from there on that are contiguous. */
uint64_t physical_of(const struct tern_allocation *a, uint64_t offset, uint64_t *contiguous);

/** Single pages of a device that are taken, with gaps between them, so that arriving memory lies elsewhere and in
 * pieces. */
struct taken {
    struct tern_run run[4096];
    uint32_t n;
};

/** Takes at most so many single pages. */
void pages_scatter(struct tern_device *d, struct taken *t, uint32_t most);
/** Gives the taken pages back. */
void pages_give_back(struct tern_device *d, struct taken *t);

#endif
