/* SPDX-License-Identifier: Apache-2.0 */
/** The local size of an NDRange. */
#ifndef RT_GROUP_H
#define RT_GROUP_H

#include <stdbool.h>
#include <stdint.h>

/**
 * Chooses a local size if the application gives none. The target is about 64 work-items: four such groups fill a 16x16
 * engine, and the last groups of a range end at about the same time. Order of preference: whole warps in x; a divisor
 * of the global size; else smaller groups at the edge, or with `uniform` any divisor, because OpenCL C 1.x computes
 * positions from get_local_size. lanes: of a warp; max: largest number of work-items of a group. No size of `global` is
 * 0.
 */
void rt_group_choose(uint32_t lanes, uint32_t max, unsigned dims, bool uniform, const uint32_t global[3],
                     uint32_t local[3]);

/** Number of groups of `size` work-items that n work-items make; the last one may be smaller. */
static inline uint32_t rt_group_count(uint32_t n, uint32_t size)
{
    return n / size + (n % size != 0);
}

#endif
