/* SPDX-License-Identifier: Apache-2.0 */
/* Work-item 5 causes the fault that args[1] selects (cases "fault-..." of cases.c). Other work-items do not fault. */
#include "tern_kernel.h"

KERNEL(const u32 *args)
{
    u32 i = GLOBAL_X;
    volatile u32 *p = (volatile u32 *)args[0];
    if (i == 5) {
        switch (args[1]) {
        case 0:
            __asm__ volatile(".word 0xffffffff");
            break;
        case 1:
            __asm__ volatile("ecall");
            break;
        case 2: /* misaligned */
            p = (volatile u32 *)((u32)p + 2);
            break;
        case 3: /* beyond the group's local memory */
            p = (volatile u32 *)0xe0001000u;
            break;
        case 4: /* beyond the work-item's private memory */
            p = (volatile u32 *)0xf0010000u;
            break;
        case 5: /* no such memory */
            p = (volatile u32 *)0x40000000u;
            break;
        case 6: /* misaligned jump */
            ((void (*)(void))((u32)args | 2u))();
            break;
        case 7: /* frm has a reserved rounding mode */
            __asm__ volatile("csrwi 2, 5\n fadd.s x5, x5, x5, dyn" ::: "x5");
            break;
        case 8: /* read-only CSR */
            __asm__ volatile("csrw cycle, x0");
            break;
        case 9: /* fetch where there is no memory */
            ((void (*)(void))0x40000000u)();
            break;
        case 10: /* unknown CSR */
            __asm__ volatile("csrr x5, 0xcff" ::: "x5");
            break;
        case 11: /* below private memory */
            p = (volatile u32 *)0xefffff00u;
            break;
        default:
            break;
        }
    }
    for (u32 k = 0; k < 20; k++) {
        p[i * 4] += k;
    }
    EXIT();
}
