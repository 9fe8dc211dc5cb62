/* SPDX-License-Identifier: Apache-2.0 */
/** Run-time library: where work-items begin whose frames are in local memory (runtime/compiler/compiler.h). */
#include "spec.h"

#define TEXT(x) #x
#define NUMBER(x) TEXT(x)

void __tern_frames(void);

/** sp = the end of the first frame + number in the group * distance of frames. No register has a value yet but a0, the
 *  argument block. */
__attribute__((naked, used, section(".entry.frames"), aligned(64))) void __tern_frames(void)
{
    __asm__("csrr t0, " NUMBER(TERN_CSR_THREAD) "\n"
            "lw t1, -16(a0)\n"
            "lw t2, -12(a0)\n"
            "lw t3, -8(a0)\n"
            "lw t4, -4(a0)\n"
            "and t0, t0, t1\n"
            "mul t0, t0, t2\n"
            "add sp, t0, t3\n"
            "jr t4\n");
}
