/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers: a tree sum in local memory; a barrier that the odd work-items of a warp reach later than the even ones; and
 * work-items that end early, after the last barrier. */
#include "tern_kernel.h"

KERNEL(const u32 *args)
{
    u32 l = LOCAL_ID, n = LOCAL_SIZE;
    volatile u32 *local = LOCAL_MEMORY;
    local[l] = ((const u32 *)args[0])[GLOBAL_X];
    BARRIER();
    for (u32 step = 1; step < n; step *= 2) {
        u32 other = l + step < n && l % (2 * step) == 0 ? local[l + step] : 0;
        BARRIER();
        local[l] += other;
        BARRIER();
    }
    if (l == 0) {
        ((u32 *)args[1])[GROUP_ID] = local[0];
    }
    /* the odd work-items diverge from the even ones */
    if (l & 1u) {
        for (u32 k = 0; k < 5; k++) {
            local[l] += l;
        }
    } else {
        local[l] = 2 * l;
    }
    BARRIER();
    u32 v = local[(l + 1) % n];
    BARRIER();
    if (l % 4 == 3) {
        EXIT();
    }
    ((u32 *)args[2])[GLOBAL_X] = v;
    EXIT();
}
