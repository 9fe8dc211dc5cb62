/* SPDX-License-Identifier: Apache-2.0 */
/** Choosing a local size (group.h). */
#include "runtime/core/group.h"

#define GOOD 64u /* target number of work-items of a group */

/** The largest divisor of n that is at most `limit`. */
static uint32_t divisor(uint32_t n, uint32_t limit)
{
    uint32_t d = n < limit ? n : limit;
    while (n % d != 0) {
        d--;
    }
    return d;
}

/** Chooses x: a multiple of the warp size that divides n, 64 first, then the nearest above, then below. If there is
 *  none: with `uniform` the largest divisor, else 64, so that the last group is smaller. */
static uint32_t choose_x(uint32_t lanes, uint32_t max, bool uniform, uint32_t n)
{
    const uint32_t target = GOOD < lanes ? lanes : GOOD, good = target < max ? target : max;
    if (n <= good) {
        return n;
    }
    for (uint32_t d = good; d <= max; d += lanes) {
        if (n % d == 0) {
            return d;
        }
    }
    for (uint32_t d = good - lanes; d >= lanes && d < good; d -= lanes) {
        if (n % d == 0) {
            return d;
        }
    }
    return uniform ? divisor(n, max) : good;
}

void rt_group_choose(uint32_t lanes, uint32_t max, unsigned dims, bool uniform, const uint32_t global[3],
                     uint32_t local[3])
{
    const uint32_t good = GOOD < max ? GOOD : max;
    local[0] = choose_x(lanes, max, uniform, global[0]);
    local[1] = 1;
    local[2] = 1;
    for (unsigned i = 1; i < dims; i++) {
        const uint32_t so_far = local[0] * local[1];
        if (so_far < GOOD) {
            local[i] = divisor(global[i], good / so_far);
        }
    }
}
