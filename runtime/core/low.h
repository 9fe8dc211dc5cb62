/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Host memory below 4 GiB, at addresses that a device with 32-bit addresses can use as well. A sorted array has the
 * ranges that were taken here. Other mappings of the process below 4 GiB (a program that is not position-independent, a
 * sanitizer's shadow, memory of MAP_32BIT) are found when a range is mapped, because MAP_FIXED_NOREPLACE refuses it.
 * Alternative dropped: reading /proc/self/maps, whose cost grows with the mappings of the program, and which would not
 * save that refusal.
 *
 * Ranges are taken at the highest free address. The program's data segment and the driver's buffers grow at the other
 * end, and the device needs few page tables. Locks: none; the caller serialises.
 */
#ifndef RT_LOW_H
#define RT_LOW_H

#include <stddef.h>
#include <stdint.h>

#define RT_LOW_PAGE 4096u
#define RT_LOW_FIRST 0x00010000u /**< Lowest address that the driver gives and Linux maps. */
/** First address that is not used; programs begin a megabyte above (loaded.h). */
#define RT_LOW_END 0xcff00000u
#define RT_LOW_STEP 0x00100000u  /**< Bytes to skip below an address that is in use. */

struct rt_low_range {
    uint32_t first, count; /**< First page and number of pages. */
    void *owner;
};

struct rt_low {
    struct rt_low_range *range;
    size_t n, capacity;
    /** Page from which on addresses were found in use by others, and are tried again only if nothing else is free;
     *  0: none were found. */
    uint32_t top;
};

/** Maps `size` > 0 bytes of zeros, readable and writable, that end at or below `below`. The range is aligned to
 *  pages, or to 4 MiB if it is as large, so that the device can use superpages. -ENOSPC: no such range is free;
 *  -ENOMEM: the host refuses. */
int rt_low_take(struct rt_low *low, uint64_t size, uint32_t below, void *owner, uint32_t *address);
/** Unmaps a range of rt_low_take. */
void rt_low_give(struct rt_low *low, uint32_t address);
/** Owner of the range that contains the address; NULL: none does. */
void *rt_low_find(const struct rt_low *low, const void *address);

#endif
