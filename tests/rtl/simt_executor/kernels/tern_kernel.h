/* SPDX-License-Identifier: Apache-2.0 */
/** CSRs, instructions and local memory for the kernels of this bench. */
#ifndef TERN_KERNEL_H
#define TERN_KERNEL_H

typedef unsigned int u32;

#define CSR(number)                                                          \
    ({                                                                       \
        u32 v_;                                                              \
        __asm__ volatile("csrr %0, " #number : "=r"(v_));                    \
        v_;                                                                  \
    })
#define LOCAL_ID CSR(0xcc0)
#define GROUP_ID CSR(0xcc3)
#define LOCAL_SIZE CSR(0xcc6)
#define GLOBAL_X CSR(0xcd0)
#define GLOBAL_Y CSR(0xcd1)
#define BARRIER() __asm__ volatile(".insn i 0x0b, 0, x0, x0, 0" ::: "memory")
#define EXIT()                                              \
    do {                                                    \
        __asm__ volatile(".insn i 0x0b, 1, x0, x0, 0");     \
        __builtin_unreachable();                            \
    } while (0)
#define LOCAL_MEMORY ((volatile u32 *)0xe0000000u)
#define KERNEL __attribute__((section(".text.start"), used, noreturn)) void _start

#endif
