/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Host memory at addresses that a device of 32-bit addresses can have too. A sorted array of the ranges taken here;
 * what else the host process has below 4 GiB (a program that is not position-independent, a sanitizer's shadow, memory
 * of MAP_32BIT) is met when a range is mapped, since MAP_FIXED_NOREPLACE refuses it. Reading /proc/self/maps instead
 * would cost more with each mapping of the program, and still need that refusal.
 *
 * Ranges are taken from the top, where neither the program's data segment grows nor the driver puts buffers, and the
 * highest gap first: so the device's page tables, which stay, are as few as they can be. No locks: the owner
 * serialises.
 */
#ifndef RT_LOW_H
#define RT_LOW_H

#include <stddef.h>
#include <stdint.h>

#define RT_LOW_PAGE 4096u
#define RT_LOW_FIRST 0x00010000u /**< Lowest address: what the driver gives, and the least that Linux maps. */
#define RT_LOW_END 0xcff00000u   /**< The first beyond: a megabyte more, and programs' images begin (image.h). */
#define RT_LOW_STEP 0x00100000u  /**< How far to go on below what is in the way. */

struct rt_low_range {
    uint32_t first, count; /**< Pages. */
    void *owner;
};

struct rt_low {
    struct rt_low_range *range;
    size_t n, capacity;
    uint32_t top; /**< Pages from here on were found in use by others; looked at again when nothing else is left.
                       0: none were. */
};

/**
 * Maps `size` bytes (1 or more) of zeros, readable and writable, that end at `below` or lower, on a page; on 4 MiB if
 * they are as much, so that the device can have large pages. -ENOSPC: there is no such range; -ENOMEM: the host refuses
 * the memory.
 */
int rt_low_take(struct rt_low *low, uint64_t size, uint32_t below, void *owner, uint32_t *address);
/** Unmaps what rt_low_take gave. */
void rt_low_give(struct rt_low *low, uint32_t address);
/** The owner of the range that holds the address; NULL: there is none. */
void *rt_low_find(const struct rt_low *low, const void *address);

#endif
