/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers that cannot open: what work-item args[1] does differs from the others of its group; args[2] says what. */
#include "tern_kernel.h"

/* barriers in the order of their addresses, which no compiler merges */
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
    case 0: /* has ended */
        if (other) {
            EXIT();
        }
        BARRIER_AT("rest");
        break;
    case 1: /* waits at a barrier before */
        if (other) {
            BARRIER_AT("one");
            out[i] = 10;
        }
        BARRIER_AT("rest");
        break;
    case 2: /* waits at a barrier behind, late: 100 loads */
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
    case 3: /* ends when the others wait already */
        if (other) {
            for (u32 k = 0; k < 100; k++) {
                out[i] += k;
            }
            EXIT();
        }
        BARRIER_AT("rest");
        break;
    case 4: /* the others have ended */
        if (!other) {
            EXIT();
        }
        BARRIER_AT("one");
        break;
    case 5: /* everybody ends, nobody waits */
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
