/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers: a tree sum in local memory; barriers in divergent code, with early exits, and with work-items that end. */
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
    /* the same barrier reached from two places */
    if (l & 1u) {
        BARRIER();
        local[l] = l;
    } else {
        local[l] = 2 * l;
        BARRIER();
    }
    BARRIER();
    if (l % 4 == 3) {
        EXIT(); /* who has ended need not wait */
    }
    u32 v = local[(l + 1) % n];
    BARRIER();
    ((u32 *)args[2])[GLOBAL_X] = v;
    EXIT();
}
