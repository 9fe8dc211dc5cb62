/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers that not all work-items of a group reach. Work-item args[1] differs from the others as args[2] selects. */
#include "tern_kernel.h"

/* A barrier that the compiler neither merges with another one nor moves. */
#define BARRIER_AT(place) __asm__ volatile("nop # " place "\n .insn i 0x0b, 0, x0, x0, 0" ::: "memory")

KERNEL(const u32 *args)
{
    u32 i = GLOBAL_X;
    volatile u32 *out = (volatile u32 *)args[0];
    _Bool other = i == args[1];
    for (u32 k = 0; k < 3; k++) {
        BARRIER_AT("all");
        out[i] = k;
    }
    switch (args[2]) {
    case 0: /* this work-item has ended before the others wait */
        if (other) {
            EXIT();
        }
        BARRIER_AT("rest");
        break;
    case 1: /* it waits at a barrier before that of the others */
        if (other) {
            BARRIER_AT("one");
            out[i] = 10;
        }
        BARRIER_AT("rest");
        break;
    case 2: /* it waits at a barrier behind that of the others, and reaches it after 100 loads */
        if (other) {
            for (u32 k = 0; k < 100; k++) {
                out[i] += k;
            }
            BARRIER_AT("one");
        } else {
            BARRIER_AT("rest");
            out[i] = 20;
        }
        break;
    case 3: /* it ends while the others wait */
        if (other) {
            for (u32 k = 0; k < 100; k++) {
                out[i] += k;
            }
            EXIT();
        }
        BARRIER_AT("rest");
        break;
    case 4: /* it waits after the others have ended */
        if (!other) {
            EXIT();
        }
        BARRIER_AT("one");
        break;
    case 5: /* it ends before the others, and no work-item waits */
        if (other) {
            EXIT();
        }
        out[i] = 30;
        break;
    default:
        break;
    }
    out[i] += 40;
    EXIT();
}
