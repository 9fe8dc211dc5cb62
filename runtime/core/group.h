/* SPDX-License-Identifier: Apache-2.0 */
/** The shape of an NDRange in work-groups. */
#ifndef RT_GROUP_H
#define RT_GROUP_H

#include <stdbool.h>
#include <stdint.h>

/**
 * Chooses a local size where the application leaves it to us: about 64 work-items, since four such groups fill a 16x16
 * engine and even out at the end of the range; whole warps in x; a divisor of the global size when there is a good one,
 * else groups at the edge are smaller, or, if uniform, some divisor of any size: OpenCL C 1.x reckons positions from
 * get_local_size. lanes: of a warp; max: work-items of a group. global: at least 1 each.
 */
void rt_group_choose(uint32_t lanes, uint32_t max, unsigned dims, bool uniform, const uint32_t global[3],
                     uint32_t local[3]);

#endif
